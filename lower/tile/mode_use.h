/* SPDX-License-Identifier: MIT */
/* What an expression does with the coordinate along a mode: what a constant in the coordinate adds to it. It is the
 * same wherever the rest of the coordinate may be, where the expression is linear along the mode; or as all values
 * show, as of quotients and remainders that the constant does not carry over. */
#ifndef TJ_LOWER_MODE_USE_H
#define TJ_LOWER_MODE_USE_H

#include "ir/index/linear.h"

typedef struct {
  uint32_t mode;
  bool is_linear;
  int64_t factor;       /* if it is linear */
  const int64_t *value; /* otherwise: of its terms with the coordinate, where that is 0 … reach-1; NULL: unknown */
  uint32_t reach;
} tj_mode_use;

/* The use of a symbol, the coordinate along a mode, by a simplified expression, where it may be 0 … most. */
tj_mode_use tj_mode_use_of(tj_graph *graph, const tj_node *any, const tj_node *symbol, uint32_t mode, int64_t most);

/* Whether the constant of a coordinate adds the same to the expression wherever its rest may be, and how much. */
bool tj_mode_adds(const tj_mode_use *use, tj_parted_sum at, int64_t *added);

#endif
