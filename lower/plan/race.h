/* SPDX-License-Identifier: MIT */
/* Races of kernels: destinations of which two coordinates are one element, and get it from different sources.
 *
 * Such a kernel is refused, unless its definition says that it is meant. Where parameters decide, what is left of the
 * question is an expression for each number of base/number/race.h, and the launch answers it. Neither refuses what is
 * not shown to be a race. */
#ifndef TJ_LOWER_RACE_H
#define TJ_LOWER_RACE_H

#include "base/number/race.h"
#include "ir/layout/arith.h"
#include "lower/kernel/kernel.h"
#include "lower/kernel/operand.h"

typedef struct {
  const tj_node *begin, *end, *stride;
} tj_race_term;

/* Numbers that parameters decide, as those of tj_race_strides. */
typedef struct tj_race {
  uint32_t destination; /* which buffer is written */
  const char *form;     /* a coordinate, with _ for each mode: ((_,_),_) */
  const tj_node *base;  /* the element at coordinate 0; NULL: elements are not told */
  uint32_t modes, sources;
  tj_race_term side[TJ_RACE_MODES][TJ_RACE_SIDES];
} tj_race;

enum { TJ_RACE_NODES = 1 + 3 * TJ_RACE_MODES * TJ_RACE_SIDES };

/* The expressions of a race, which may be NULL: at most TJ_RACE_NODES. Returns how many. */
uint32_t tj_race_nodes(const tj_race *race, const tj_node *node[TJ_RACE_NODES]);

/* Where the coordinates of a kernel take their elements from. */
typedef struct {
  const tj_tuple *domain;   /* extents, in the structure in which coordinates are named */
  const tj_node *const *at; /* a symbol for each leaf */
  bool row_major;           /* the last leaf is the fastest */
  tj_access destination;    /* without what only exchanges elements: a swizzle */
  const tj_node *element;   /* of the destination, with it */
  tj_access
      source[TJ_RACE_SOURCES]; /* all of which make the source; values of `offset` that are equal are the same */
  uint32_t sources;
} tj_race_map;

/* Symbols for the leaves of a domain. */
const tj_node *const *tj_race_coordinates(tj_graph *graph, const tj_tuple *domain);

/* An operand as far as it tells elements apart. */
tj_operand tj_race_operand(tj_graph *graph, const tj_operand *operand);

/* Whether no two coordinates of an operand are surely one element, by its structure, which needs no map. */
bool tj_race_is_apart(tj_graph *graph, const tj_operand *destination);

/* The same, else by all its values where they are constant and few; TJ_NO where two are shown to be one. */
tj_decision tj_race_is_apart_by_values(tj_graph *graph, const tj_operand *operand);

/* TJ4010 where there is a race. Otherwise sets what the kernel says about races. `name` is the destination's. */
void tj_race_judge(tj_graph *graph, tj_kernel *kernel, const tj_race_map *map, const char *name,
                   uint32_t destination);

#endif
