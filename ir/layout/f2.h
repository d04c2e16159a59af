/* SPDX-License-Identifier: MIT */
/* Linear maps over F2: what layouts of powers of two and swizzles are to the bits of coordinates and values.
 *
 * A map is linear over F2 where the value at c is the XOR of the values at the powers of two that make up c: of its
 * bases. Input bits are those of the domain's leaves in order, low bits first, which are also the bits of the linear,
 * colexicographic coordinate. Values are integers or tuples of integers, below 2^63. */
#ifndef TJ_IR_F2_H
#define TJ_IR_F2_H

#include "ir/layout/layout.h"

enum { TJ_MAX_F2_BITS = 62 };

typedef struct {
  const tj_tuple *domain;   /* extents: powers of two */
  const tj_tuple *codomain; /* the structure of values, with zeros as leaves */
  uint32_t bit_count;       /* input bits */
  uint32_t component_count; /* leaves of the codomain */
  const uint64_t *basis;    /* the value of input bit b: basis[b * component_count …] */
  bool extends;             /* the domain is all integers, and bits from bit_count on stay what they are */
} tj_f2;

/* The map with these bases. Where it extends, the domain is one integer. */
const tj_f2 *tj_f2_make(tj_graph *graph, const tj_tuple *domain, const tj_tuple *codomain, const uint64_t basis[],
                        bool extends);
const tj_f2 *tj_f2_of_swizzle(tj_graph *graph, tj_swizzle swizzle);
/* NULL where the layout is no linear map; *obstacle says why. */
const tj_f2 *tj_f2_of_layout(tj_graph *graph, tj_layout layout, const char **obstacle);
const tj_f2 *tj_f2_of_composed(tj_graph *graph, const tj_composed *composed, const char **obstacle);

/* The layout that has these values, perhaps swizzled or with offset 0; else NULL, and *obstacle says why not. */
const tj_composed *tj_layout_of_f2(tj_graph *graph, const tj_f2 *map, const char **obstacle);

/* The same map of linear coordinates: its domain is one integer. */
const tj_f2 *tj_f2_by_index(tj_graph *graph, const tj_f2 *map);

bool tj_f2_equal(const tj_f2 *a, const tj_f2 *b);

/* a ∘ b; NULL where b's values are no coordinates of a. */
const tj_f2 *tj_f2_compose(tj_graph *graph, const tj_f2 *a, const tj_f2 *b, const char **obstacle);
/* The map without its integers beyond 2^bits, where it extends: NULL where it takes others below. */
const tj_f2 *tj_f2_restrict(tj_graph *graph, const tj_f2 *map, uint32_t bits);

uint32_t tj_f2_rank(tj_graph *graph, const tj_f2 *map);
/* Injective onto the coordinates that have the value 0: their basis. */
const tj_f2 *tj_f2_kernel(tj_graph *graph, const tj_f2 *map);
/* map(R(i)) = i for all i whose bits, from bit 0 on, the map reaches; in each component of the codomain. */
const tj_f2 *tj_f2_right_inverse(tj_graph *graph, const tj_f2 *map);
/* R(map(i)) = i. TJ2030 where the map is not injective. */
const tj_f2 *tj_f2_left_inverse(tj_graph *graph, const tj_f2 *map);
/* Both: TJ2030 where the map is not bijective onto the smallest box of powers of two that holds its values. */
const tj_f2 *tj_f2_inverse(tj_graph *graph, const tj_f2 *map);

/* How many bits the values of a component have. */
uint32_t tj_f2_value_bits(const tj_f2 *map, uint32_t component);
/* The largest value of a component. */
uint64_t tj_f2_largest(tj_graph *graph, const tj_f2 *map, uint32_t component);

/* Coordinates as tj_layout_apply takes them, but none beyond the domain: TJ2014. */
const tj_tuple *tj_f2_apply(tj_graph *graph, const tj_f2 *map, const tj_tuple *coordinate);
/* The value at the leaves of a coordinate, bit by bit. */
void tj_f2_evaluate(tj_graph *graph, const tj_f2 *map, const int64_t coordinate[], int64_t values[]);

/* linear([[1, 2], [8, 4]]): for each mode of the domain a list of its bases, with _ at the end where it extends. */
void tj_f2_print(tj_text *text, const tj_f2 *map);

#endif
