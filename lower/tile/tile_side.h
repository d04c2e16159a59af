/* SPDX-License-Identifier: MIT */
/* One side of a tile's journey: the elements that work-items hold, by slot, and the vectors that move them.
 *
 * Nothing is believed of neighbours: a vector is what simplified offsets show to be one, or, where offsets are proved
 * to be sums of digits and strides, what these do. */
#ifndef TJ_LOWER_TILE_SIDE_H
#define TJ_LOWER_TILE_SIDE_H

#include "ir/index/linear.h"
#include "lower/tile/tiling.h"

/* An element of the tile in a slot. */
typedef struct {
  tj_access access;            /* as its view has it, edges not looked at; */
  int64_t constant;            /* comes to its offset */
  const tj_node *const *digit; /* in the domain, by mode */
} tj_tile_element;

typedef struct {
  const tj_tile_side *tile;
  tj_tile_element *element;
  uint64_t edges;        /* modes, by bit, along which elements beyond the domain are masked */
  const uint32_t *order; /* of the slots, in which vectors are */
  uint32_t width;        /* of all vectors */
  bool is_run;           /* of a strided side: all slots are neighbours */
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

/* The same of offsets in parts. */
bool tj_parts_are_in_turn(tj_graph *graph, const tj_parted_sum offset[], uint32_t width);
bool tj_parts_are_neighbours(tj_graph *graph, const tj_parted_sum offset[], uint32_t width);

/* The access of an element, whole. */
tj_access tj_element_access(tj_graph *graph, const tj_tile_element *element);

/* The longest vector that a digit of slots may give where strides show it: all of it, as far as that is a register.
 */
uint32_t tj_longest_vector(const tj_mapping_digit *digit);

/* Takes all elements of a side from that of slot 0, by strides of so many modes. */
void tj_side_stride(tj_graph *graph, tj_side *side, tj_tile_element first, const tj_node *const stride[],
                    uint32_t modes);

/* Whether all slots of a side are neighbours by strides of modes. */
bool tj_slots_are_run(const tj_mapping_side *side, const tj_node *const stride[]);

/* Whether the slot holds anything. */
const tj_node *tj_side_active(tj_graph *graph, const tj_side *side, uint32_t slot);

#endif
