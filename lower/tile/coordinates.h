/* SPDX-License-Identifier: MIT */
/* Symbols that several candidates for one kernel share: what has been simplified for one of them, the next finds. No
 * expression sees two candidates, so that each symbol means one thing. */
#ifndef TJ_LOWER_COORDINATES_H
#define TJ_LOWER_COORDINATES_H

#include "ir/value/mapping.h"
#include "lower/kernel/domain.h"

/* Begins as {0}; in the job's arena. */
typedef struct {
  const tj_node **symbol;
  uint32_t count, capacity;
} tj_coordinates;

/* A coordinate low <= name <= high, which is a multiple: that of an earlier call with the same of each, where there
 * was one. `shared` NULL: a new one. */
const tj_node *tj_coordinate_among(tj_graph *graph, tj_coordinates *shared, const char *name, const tj_node *low,
                                   const tj_node *high, int64_t multiple);

/* A coordinate of each mode of a domain: any element of it. */
const tj_node **tj_coordinates_of_domain(tj_graph *graph, tj_coordinates *shared, const tj_domain *domain);

/* A coordinate along each mode of a tile that has such a mapping. */
const tj_node **tj_coordinates_of_tile(tj_graph *graph, tj_coordinates *shared, const tj_mapping *mapping);

#endif
