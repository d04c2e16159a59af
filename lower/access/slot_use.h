/* SPDX-License-Identifier: MIT */
/* Who needs what a load gives: the steps after it that store its slots, or compute with them. */
#ifndef TJ_LOWER_SLOT_USE_H
#define TJ_LOWER_SLOT_USE_H

#include "lower/kernel/kernel.h"

/* Whether a step's slots are what it makes them: those of a vector, in the order of its elements. */
bool tj_gives_slots(const tj_kernel_step *step);

/* Whether a store has slots of a load. */
bool tj_shares_slots(const tj_kernel *kernel, const tj_kernel_step *load, const tj_kernel_step *store);

/* Whether one of the steps `after` stores what `load` gave, or a part of it, or computes with it. */
bool tj_is_slot_used(const tj_kernel *kernel, const tj_kernel_step *load, const tj_kernel_step after[],
                     uint32_t count);

/* Whether what `load` gives where it is not valid goes anywhere. */
bool tj_is_fill_used(const tj_kernel *kernel, const tj_kernel_step *load, const tj_kernel_step after[],
                     uint32_t count);

#endif
