/* SPDX-License-Identifier: MIT */
/* Where along the columns masks change: between such places they part no vectors. */
#ifndef TJ_LOWER_ARRAY_CUTS_H
#define TJ_LOWER_ARRAY_CUTS_H

#include "lower/array/array_shape.h"

/* The columns before which masks of elements change, whatever the row; NULL where there are none, they are not known
 * to be in one order within the row, or there are too many. */
const tj_array_cuts *tj_array_find_cuts(const tj_array_space *space);

/* An expression of the space's symbols at a column, simplified. */
const tj_node *tj_array_at_column(const tj_array_space *space, const tj_node *node, const tj_node *column);

/* A symbol for a column that knows between which it is: from one on to before another one. */
const tj_node *tj_array_part(tj_graph *graph, const tj_node *begin, const tj_node *behind);

/* Truth in the space's symbols, as it is for columns of which a symbol knows between which cuts they are; NULL: none
 * does. */
const tj_node *tj_array_between_cuts(const tj_array_space *space, const tj_node *part, const tj_node *truth);

#endif
