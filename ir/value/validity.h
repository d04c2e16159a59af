/* SPDX-License-Identifier: MIT */
/* Where a map is valid: the coordinates at which a view, a transform or an adaptor is not, as boxes.
 *
 * Where the predicate compares each dimension with bounds of its own, the boxes come from these, symbolic or not;
 * otherwise from the values of the predicate over the dimensions that it depends on, which must then be constant. */
#ifndef TJ_IR_VALIDITY_H
#define TJ_IR_VALIDITY_H

#include "ir/value/value.h"

enum { TJ_MOST_BOXES = 64 };

/* The coordinates c with begin[i] <= c[i] < end[i], by leaf of the domain. */
typedef struct {
  const tj_node **begin, **end;
  uint32_t rank;
} tj_box;

/* Disjoint boxes; where there are more than TJ_MOST_BOXES, these are the first. */
typedef struct {
  const tj_node *count; /* of invalid coordinates */
  const tj_box *box;
  uint32_t box_count;
  bool is_complete; /* the boxes are all */
  const tj_tuple *domain;
} tj_invalid_set;

/* Whether the valid coordinates are surely one box, which may be the whole domain; then gives it. */
bool tj_valid_box(tj_graph *graph, const tj_map *map, tj_box *box);

/* TJ2015 where it depends on a parameter how many boxes there are, TJ7005 where too many coordinates would have to be
 * tried. */
tj_invalid_set tj_invalid_set_of(tj_graph *graph, const tj_map *map);

/* A corner in the structure of the domain. */
const tj_tuple *tj_box_corner(tj_graph *graph, const tj_tuple *domain, const tj_node *const corner[]);

#endif
