/* SPDX-License-Identifier: MIT */
/* Tables: the values of a map coordinate by coordinate, by the oracle that knows only definitions.
 *
 * What both `eval --table` and `show` read: neither sees index expressions. */
#ifndef TJ_IR_TABLE_H
#define TJ_IR_TABLE_H

#include "base/text.h"
#include "ir/value/value.h"

typedef struct {
  tj_graph *graph;
  const tj_value *value;
  const tj_tuple *domain; /* extents, all constant */
  const tj_tuple *output; /* the codomain's structure */
  bool row_major;         /* the last mode is fastest, otherwise the first */
  bool has_validity;
  uint32_t rank;       /* leaves of the domain */
  int64_t *extent;     /* of the domain's leaves */
  int64_t *coordinate; /* where the table stands, by leaf: starts at zeros, may be set */
  int64_t *result;     /* what tj_table_evaluate wrote: leaves of the codomain */
  uint32_t result_count;
  int64_t size; /* of the domain */
} tj_table;

/* The table of a map that is constant and has at most `limit` coordinates: TJ2024, TJ2023, TJ7005. */
tj_table tj_table_open(tj_graph *graph, const tj_value *value, int64_t limit);

/* Writes the values at table->coordinate to table->result; returns whether they are valid. Takes fuel. */
bool tj_table_evaluate(tj_table *table);

/* Steps to the next coordinate in the map's own order; after the last comes the first. */
void tj_table_advance(tj_table *table);

/* Prints values as JSON in the structure of the codomain: an integer, or arrays. Returns what follows them. */
const int64_t *tj_table_print(tj_text *text, const tj_tuple *structure, const int64_t values[]);

#endif
