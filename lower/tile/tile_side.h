/* SPDX-License-Identifier: MIT */
/* One side of a tile's journey: the elements that work-items hold, by slot, and the vectors that move them.
 *
 * Nothing is believed of neighbours: a vector is what simplified offsets show to be one. */
#ifndef TJ_LOWER_TILE_SIDE_H
#define TJ_LOWER_TILE_SIDE_H

#include "lower/tile/tiling.h"

/* An element of the tile in a slot. */
typedef struct {
  tj_access access;            /* as its view has it, edges not looked at */
  const tj_node *const *digit; /* in the domain, by mode */
} tj_tile_element;

typedef struct {
  const tj_tile_side *tile;
  tj_tile_element *element;
  uint64_t edges;        /* modes, by bit, along which elements beyond the domain are masked */
  const uint32_t *order; /* of the slots, in which vectors are */
  uint32_t width;        /* of all vectors */
} tj_side;

/* Whether the machine wants vectors aligned to their size. */
typedef enum { TJ_ALIGNED, TJ_ANYWHERE } tj_alignment;

/* Finds the widest vectors up to `most` elements, a power of two, that the side's slots make in any of the tile's
 * orders; in the first of these. */
void tj_side_choose_vectors(tj_graph *graph, const tj_domain *domain, tj_side *side, uint32_t most,
                            tj_alignment alignment);

/* Whether simplified offsets are one after the other; `width` is a power of two. */
bool tj_are_in_turn(tj_graph *graph, const tj_node *const offset[], uint32_t width);

/* Whether they are, the first aligned to all of them. */
bool tj_are_neighbours(tj_graph *graph, const tj_node *const offset[], uint32_t width);

/* Whether the slot holds anything. */
const tj_node *tj_side_active(tj_graph *graph, const tj_side *side, uint32_t slot);

#endif
