/* SPDX-License-Identifier: MIT */
/* Tiles of launches, chosen for known parameters: for prices and for tests. */
#ifndef TJ_LOWER_LAUNCHED_TILE_H
#define TJ_LOWER_LAUNCHED_TILE_H

#include "ir/index/eval.h"
#include "lower/kernel/kernel.h"

/* Gives the symbols of what is chosen their values, by index, which are 0 where the status is not TJ_EVAL_OK. A
 * kernel without such a tile has none. */
tj_eval_status tj_choose_launched(const tj_kernel *kernel, const tj_bindings *bindings, int64_t symbol[]);

#endif
