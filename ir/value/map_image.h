/* SPDX-License-Identifier: MIT */
/* The image of a map: which elements of its space its values are, and how often. The space of a view is its buffer
 * from the least offset of the base on: the view's, where no dimension runs backwards.
 *
 * Coordinates that are not valid do not count. Structure decides where it can, symbolic or not: of layouts, and of
 * views whose offset is a sum of strides over a box of valid coordinates. Otherwise constant maps of up to 2^24
 * coordinates are enumerated by the oracle; powers of two that are linear are decided over F2. */
#ifndef TJ_IR_MAP_IMAGE_H
#define TJ_IR_MAP_IMAGE_H

#include "ir/layout/arith.h"
#include "ir/value/validity.h"

/* What is not known is TJ_UNKNOWN or NULL. */
typedef struct {
  tj_decision is_injective;     /* no two coordinates have the same value */
  tj_decision is_surjective;    /* every element of the space is a value, and no value lies outside */
  const tj_tuple *collision[2]; /* two coordinates with one value */
  const tj_tuple *gap;          /* an element of the space that is no value */
  const tj_tuple *outside;      /* a valid coordinate whose value lies behind the space, or is negative */
  const tj_node *space;         /* how many elements there are */
  const tj_node *reached;       /* how many of them are values */
  const tj_node *most;          /* how many coordinates share the value that most have */
} tj_map_image;

/* What is known of it, with examples where enumeration finds some. TJ2024 for what is no map. */
tj_map_image tj_map_image_of(tj_graph *graph, const tj_value *map);

/* What a caller must know, by the cheapest way: fails where no way decides it, TJ2023 where the map is not constant,
 * TJ7005 where its domain is too large. */
typedef enum { TJ_IMAGE_INJECTIVE, TJ_IMAGE_SURJECTIVE, TJ_IMAGE_ALL } tj_map_image_need;
tj_map_image tj_map_image_decide(tj_graph *graph, const tj_value *map, tj_map_image_need need);

/* The same by structure alone: much may be unknown. */
tj_map_image tj_map_image_by_structure(tj_graph *graph, const tj_value *map);

/* A map that is linear over F2 by its structure; else NULL. */
const tj_f2 *tj_f2_inside(tj_graph *graph, const tj_value *map);

/* A map of integers as strides over its valid box: its value is base + Σ stride[i] * coordinate i for the coordinates
 * in `box`, which are all that are valid; an entry for each leaf of the domain. False where it is not known to be
 * that.
 */
bool tj_map_as_strides(tj_graph *graph, const tj_map *map, const tj_node *stride[], const tj_node **base,
                       tj_box *box);

/* Whether the indices of hidden dimensions surely stay inside these, wherever the view is valid. */
bool tj_view_stays_inside(tj_graph *graph, const tj_view *view);

/* A view as strides over its valid box: V(c) = first + layout(c - begin) for the coordinates c in `box`, which are
 * all that are valid. False where it is not known to be that. */
bool tj_view_as_strides(tj_graph *graph, const tj_view *view, tj_layout *layout, const tj_node **first, tj_box *box);

#endif
