/* SPDX-License-Identifier: MIT */
/* Layouts: CuTe's shape:stride, swizzles, and swizzles composed with layouts.
 *
 * A layout maps a coordinate of its shape to Σ coordinate·stride: to an integer, or with basis strides to a tuple.
 * Coordinates may be integers (colexicographic: first mode fastest), tuples congruent to the shape, or any mixture.
 * Extents are at least 1. All functions have CuTe C++'s semantics on static integers. */
#ifndef TJ_IR_LAYOUT_H
#define TJ_IR_LAYOUT_H

#include "ir/layout/tuple.h"

/* Layouts have fewer coordinates than this, and fewer values from the least to the largest. */
#define TJ_SIZE_LIMIT ((int64_t)1 << 62)

typedef struct {
  const tj_tuple *shape;
  const tj_tuple *stride; /* congruent to shape; leaves are integers or basis elements */
} tj_layout;

/* Sw<bits, base, shift>: XORs the `bits` bits at base + max(shift, 0) into the `bits` bits at base - min(shift, 0).
 */
typedef struct {
  int32_t bits, base, shift;
} tj_swizzle;

/* swizzle o offset o layout: c ↦ swizzle(offset + layout(c)). With a swizzle of 0 bits it is a coordinate tensor:
 * c ↦ offset + layout(c), where the offset may be a tuple. */
typedef struct {
  tj_swizzle swizzle;
  const tj_tuple *offset;
  tj_layout layout;
} tj_composed;

/* TJ2012 where an extent is not surely >= 1. */
void tj_shape_check(tj_graph *graph, const tj_tuple *shape);
/* Checked construction: TJ2011 where not congruent, TJ2012 where an extent is not surely >= 1, TJ2021 where strides
 * have no common codomain, TJ2010 where constants reach TJ_SIZE_LIMIT. */
tj_layout tj_layout_make(tj_graph *graph, const tj_tuple *shape, const tj_tuple *stride);
/* Compact colexicographic strides: layout((2,3)) = (2,3):(1,2). Extents that are the constant 1 have stride 0. */
tj_layout tj_layout_of_shape(tj_graph *graph, const tj_tuple *shape);
/* Those strides, times `first`. */
const tj_tuple *tj_compact_strides(tj_graph *graph, const tj_tuple *shape, const tj_node *first);
tj_swizzle tj_swizzle_make(tj_graph *graph, int64_t bits, int64_t base, int64_t shift);

/* a ∘ b, where that is a swizzle: where both shift alike. */
bool tj_swizzle_compose(tj_swizzle a, tj_swizzle b, tj_swizzle *both);
/* layout ∘ swizzle = swizzled ∘ layout, where there is such a swizzle of the layout's values. */
bool tj_layout_compose_swizzle(tj_graph *graph, tj_layout layout, tj_swizzle swizzle, tj_swizzle *swizzled);
/* The coordinate tensor base + layout; zeros extend the base to the layout's codomain. TJ2021 where they do not add.
 */
tj_composed tj_coord_tensor(tj_graph *graph, const tj_tuple *base, tj_layout layout);
/* Of values that count elements `count` times as wide, or as narrow: `count` a power of two, else TJ2031. */
tj_swizzle tj_swizzle_upcast(tj_graph *graph, tj_swizzle swizzle, int64_t count);
tj_swizzle tj_swizzle_downcast(tj_graph *graph, tj_swizzle swizzle, int64_t count);

bool tj_layout_equal(tj_layout a, tj_layout b);
tj_layout tj_layout_mode(tj_graph *graph, tj_layout layout, uint32_t mode); /* TJ2028 */
/* Modes side by side: (mode0, mode1, …). */
tj_layout tj_layout_concat(tj_graph *graph, const tj_layout modes[], uint32_t count);

/* One mode of leaves, each an extent and a stride: 1:0 where there are none, the leaf where there is one. */
tj_layout tj_layout_of_leaves(tj_graph *graph, const tj_tuple *const extent[], const tj_tuple *const stride[],
                              uint32_t count);

/* Applying. A constant entry of a tuple outside its mode, and a negative constant, are an error TJ2014. An integral
 * coordinate may exceed the size: as in CuTe, it extends the last mode. Structure: TJ2013. The value of a layout with
 * basis strides is a tuple. */
/* A mode on the way down from a whole shape; NULL is the whole. */
typedef struct tj_mode_path {
  const struct tj_mode_path *outer;
  uint32_t mode;
} tj_mode_path;

/* TJ2014: the entry of a coordinate is outside `shape`, the mode of `whole` that the path leads to. */
_Noreturn void tj_fail_coordinate(tj_graph *graph, const tj_node *entry, const tj_tuple *shape, const tj_tuple *whole,
                                  const tj_mode_path *path);

const tj_tuple *tj_layout_apply(tj_graph *graph, tj_layout layout, const tj_tuple *coordinate);
const tj_node *tj_swizzle_apply(tj_graph *graph, tj_swizzle swizzle, const tj_node *value);

/* The bits that a swizzle reads (Y). */
static inline uint64_t tj_swizzle_source(tj_swizzle swizzle) {
  const int32_t first = swizzle.base + (swizzle.shift > 0 ? swizzle.shift : 0);
  return ((UINT64_C(1) << swizzle.bits) - 1) << first;
}

/* A swizzle of a number. */
static inline int64_t tj_swizzle_at(tj_swizzle swizzle, int64_t value) {
  const uint64_t field = (uint64_t)value & tj_swizzle_source(swizzle);
  return (int64_t)((uint64_t)value ^ (swizzle.shift >= 0 ? field >> swizzle.shift : field << -swizzle.shift));
}

const tj_tuple *tj_composed_apply(tj_graph *graph, const tj_composed *composed, const tj_tuple *coordinate);

/* Slicing by a coordinate with underscores: the kept modes, and the offset of the fixed ones. `(i,_)` keeps modes
 * whole, structure as CuTe's slice: (2,3):(3,1) by (1,_) is (3):(1) with offset 3. */
tj_layout tj_layout_slice(tj_graph *graph, tj_layout layout, const tj_tuple *coordinate, const tj_tuple **offset);
bool tj_tuple_has_any(const tj_tuple *coordinate);
/* The entries of `tuple` that stand against underscores of `coordinate`; with `dice`, against anything else. The
 * structures must agree down to the coordinate's leaves. */
const tj_tuple *tj_tuple_keep(tj_graph *graph, const tj_tuple *coordinate, const tj_tuple *tuple, bool dice);

const tj_node *tj_layout_size(tj_graph *graph, tj_layout layout);
/* 1 + Σ (extent - 1)·|stride|, by component of the codomain; and the product of these. */
const tj_tuple *tj_layout_coshape(tj_graph *graph, tj_layout layout);
const tj_node *tj_layout_cosize(tj_graph *graph, tj_layout layout);

tj_layout tj_layout_flatten(tj_graph *graph, tj_layout layout);
/* The same map on integral coordinates within the size, with as few modes as possible: an integer mode, or flat. */
tj_layout tj_layout_coalesce(tj_graph *graph, tj_layout layout);
/* By mode: coalesces where the profile has a leaf, keeps its structure elsewhere. TJ2028 for too many modes. */
tj_layout tj_layout_coalesce_by(tj_graph *graph, tj_layout layout, const tj_tuple *profile);

/* R = a ∘ b: R(c) = a(b(c)) for every c of b's domain, R's shape compatible with b's. Inadmissible: TJ2003, TJ2004,
 * TJ2029 with the numbers; undecided by facts: TJ2015. */
tj_layout tj_layout_compose(tj_graph *graph, tj_layout a, tj_layout b);

/* Σ coordinate·stride, no range checks; stride NULL: colexicographic. */
const tj_tuple *tj_crd2idx(tj_graph *graph, const tj_tuple *coordinate, const tj_tuple *shape,
                           const tj_tuple *stride);
/* (index / stride) mod extent, mode by mode, and 0 where the extent is the constant 1. stride NULL: colexicographic,
 * where the last mode takes what is left. */
const tj_tuple *tj_idx2crd(tj_graph *graph, const tj_tuple *index, const tj_tuple *shape, const tj_tuple *stride);

void tj_layout_print(tj_text *text, tj_layout layout); /* (3,2):(2,3) */
const char *tj_layout_text(tj_job *job, tj_layout layout);
void tj_swizzle_print(tj_text *text, tj_swizzle swizzle); /* Sw<3,4,3> */
/* Sw<3,4,3> o 0 o (8,64):(64,1), or coord_tensor((0,0),(8,64):(1@0,1@1)) */
void tj_composed_print(tj_text *text, const tj_composed *composed);

#endif
