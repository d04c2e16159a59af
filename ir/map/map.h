/* SPDX-License-Identifier: MIT */
/* Maps: what layouts, swizzles, transforms, views and adaptors have in common. A domain, index expressions of its
 * coordinates, and a predicate. */
#ifndef TJ_IR_MAP_H
#define TJ_IR_MAP_H

#include "ir/layout/f2.h"
#include "ir/layout/layout.h"
#include "ir/view/adaptor.h"
#include "ir/view/view.h"

typedef struct {
  const tj_tuple *domain; /* extents */
  bool row_major;         /* how linear coordinates run: last mode fastest (views), or first (layouts) */
  const tj_tuple *input;  /* congruent to domain; leaves are symbols, 0 <= symbol < extent */
  const tj_tuple *output; /* an integer, or a tuple: index expressions of the input symbols */
  const tj_node *valid;   /* truth; NULL: everywhere */
} tj_map;

/* The input symbols are named i0, i1, … in order of the domain's leaves; or i when there is one. The output of a
 * transform with one lower dimension is an integer. */
tj_map tj_map_of_layout(tj_graph *graph, tj_layout layout);
tj_map tj_map_of_composed(tj_graph *graph, const tj_composed *composed);
tj_map tj_map_of_transform(tj_graph *graph, const tj_transform *transform); /* upper → lower */
tj_map tj_map_of_view(tj_graph *graph, const tj_view *view);
tj_map tj_map_of_linear(tj_graph *graph, const tj_f2 *map);           /* TJ2024 where the domain is all integers */
tj_map tj_map_of_adaptor(tj_graph *graph, const tj_adaptor *adaptor); /* top → bottom; the output is a list */

/* The oracle (eval_map.c): values of a map at a coordinate, from the definitions alone, on checked integers, without
 * index expressions. Extents and strides must be constants (TJ2023). Coordinates are the leaves of the domain in
 * order; `values` gets the leaves of the codomain in order, and tj_oracle_layout returns how many. It keeps none of
 * the memory that it takes from the job. */
uint32_t tj_oracle_layout(tj_graph *graph, tj_layout layout, const int64_t coordinate[], int64_t values[]);
void tj_oracle_composed(tj_graph *graph, const tj_composed *composed, const int64_t coordinate[], int64_t values[]);
void tj_oracle_transform(tj_graph *graph, const tj_transform *transform, const int64_t upper[], int64_t lower[],
                         bool *valid);
int64_t tj_oracle_view(tj_graph *graph, const tj_view *view, const int64_t coordinate[], bool *valid);
void tj_oracle_adaptor(tj_graph *graph, const tj_adaptor *adaptor, const int64_t upper[], int64_t lower[],
                       bool *valid);

#endif
