/* SPDX-License-Identifier: MIT */
/* Rows of several workgroups.
 *
 * Each workgroup reduces a piece of a row, and its first work-item stores the results to memory of the launch's; the
 * kernel behind takes those of all pieces of its row from there, in the order in which columns are taken. So a
 * program whose reductions have n levels is n kernels that each reduce one, and one that stores, which takes pieces
 * again where it stores elements of them, or else whole rows. Nothing depends on which workgroup comes first. */
#ifndef TJ_LOWER_ARRAY_SPLIT_H
#define TJ_LOWER_ARRAY_SPLIT_H

#include "lower/rows/array_steps.h"

/* The kernel with such memory, as its last buffer. */
tj_kernel *tj_array_with_scratch(tj_graph *graph, const tj_kernel *kernel, const tj_target *target);

/* Stores what the piece's reductions of a level come to. */
void tj_array_store_pieces(tj_array_maker *maker, uint32_t level);

/* The pieces whose results a lane takes, and whether each of them is there. */
typedef struct {
  uint32_t count;
  const tj_node **column, **is_there;
} tj_array_pieces;

tj_array_pieces tj_array_pieces_of(const tj_array_maker *maker);
/* Loads the pieces' results of a reduction. Returns the first slot. */
uint32_t tj_array_load_pieces(tj_array_maker *maker, const tj_array *reduction, const tj_array_pieces *pieces);

#endif
