/* SPDX-License-Identifier: MIT */
/* What each thread holds of a tile, as numbers: a (thread, value) layout or a distribution, evaluated; and where that
 * lies in memory. Lists live in the graph's job. */
#ifndef TJ_JIT_THREAD_VALUES_H
#define TJ_JIT_THREAD_VALUES_H

#include "ir/value/table.h"

/* No element: a coordinate that is not valid. */
#define TJ_NO_PLACE INT64_MIN

typedef struct {
  int64_t threads, values;   /* of each thread */
  uint32_t components;       /* of a coordinate in the tile */
  const int64_t *coordinate; /* of value v of thread t: coordinate[(t * values + v) * components + i] */
} tj_thread_values;

/* Of a distribution, or of a layout, swizzled or linear map whose first mode is the thread: what it is of the others
 * is the value, its first mode fastest. TJ2005 for other values, TJ7005 where there are too many. */
tj_thread_values tj_thread_values_of(tj_graph *graph, const tj_value *value);

/* A map from a tile's coordinate to an element, which is evaluated where it is first asked for. */
typedef struct {
  tj_table table;
  int64_t *element; /* by colexicographic index */
  bool *is_known;
} tj_tile_map;

/* TJ2005 where the map has several integers for a coordinate, TJ7005 where its domain is too large. */
tj_tile_map tj_tile_map_of(tj_graph *graph, const tj_value *map);

/* The element of value v of thread t: place[t * values + v], or TJ_NO_PLACE. A coordinate of one component is the
 * tile's colexicographic index; otherwise components are indices in the modes of the map's domain, or in its leaves.
 * TJ2013 and TJ2014 where a coordinate is none of the map's. */
const int64_t *tj_thread_places(tj_tile_map *tile, const tj_thread_values *held);

/* Whether the values order[0 … count-1] of every thread lie side by side, the first at a multiple of `count`, or are
 * none of them there. */
bool tj_threads_hold_run(const tj_thread_values *held, const int64_t place[], const uint32_t order[], uint32_t count);

#endif
