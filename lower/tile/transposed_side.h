/* SPDX-License-Identifier: MIT */
/* Sides whose elements LDS transposes on their way to registers: what lanes ask it for, and what they then have. */
#ifndef TJ_LOWER_TRANSPOSED_SIDE_H
#define TJ_LOWER_TRANSPOSED_SIDE_H

#include "ir/value/mapping.h"

enum { TJ_TRANSPOSED_BYTES = 8 /* that a lane loads at a time */ };

/* Of what work-items ask LDS for, so that by transposing loads they have in their slots what the side says: of each
 * vector of slots, which begins at a multiple of its length, elements with the same numbers. False where the side's
 * layout has no such lanes and slots, or more digits than a side may be made of. */
bool tj_transposed_side(tj_graph *graph, const tj_mapping_side *side, uint32_t element_bytes, tj_mapping_side *asked);

#endif
