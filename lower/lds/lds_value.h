/* SPDX-License-Identifier: MIT */
/* What the search for LDS layouts finds, as a value of the language. */
#ifndef TJ_LOWER_LDS_VALUE_H
#define TJ_LOWER_LDS_VALUE_H

#include "ir/value/value.h"
#include "lower/lds/lds_layout.h"

/* From the coordinate in a tile of such modes to the element: rows are made of the modes that are no columns, columns
 * of the others, in an order of all modes; NULL: first mode first. Where groups or runs end beyond a mode, the
 * layout's is longer. */
const tj_value *tj_stage_value(tj_graph *graph, const tj_stage_layout *layout, const int64_t extent[],
                               const bool is_column[], const uint32_t order[], uint32_t rank);

#endif
