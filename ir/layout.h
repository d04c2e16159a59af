/* Layouts: CuTe's shape:stride, swizzles, and swizzles composed with layouts.
 *
 * A layout maps a coordinate of its shape to Σ coordinate·stride: to an integer, or with basis strides to a tuple.
 * Coordinates may be integers (colexicographic: first mode fastest), tuples congruent to the shape, or any mixture.
 * Extents are at least 1. All functions have CuTe C++'s semantics on static integers. */
#ifndef TJ_IR_LAYOUT_H
#define TJ_IR_LAYOUT_H

#include "ir/tuple.h"

typedef struct {
  const tj_tuple *shape;
  const tj_tuple *stride; /* congruent to shape; leaves are integers or basis elements */
} tj_layout;

/* Sw<bits, base, shift>: XORs the `bits` bits at base + max(shift, 0) into the `bits` bits at base - min(shift, 0). */
typedef struct {
  int32_t bits, base, shift;
} tj_swizzle;

/* swizzle o offset o layout: c ↦ swizzle(offset + layout(c)). */
typedef struct {
  tj_swizzle swizzle;
  const tj_tuple *offset;
  tj_layout layout;
} tj_composed;

/* Checked construction: TJ2011 where not congruent, TJ2012 where an extent is not surely >= 1. */
tj_layout tj_layout_make(tj_graph *graph, const tj_tuple *shape, const tj_tuple *stride);
/* Compact colexicographic strides: layout((2,3)) = (2,3):(1,2). */
tj_layout tj_layout_of_shape(tj_graph *graph, const tj_tuple *shape);
tj_swizzle tj_swizzle_make(tj_graph *graph, int64_t bits, int64_t base, int64_t shift);

bool tj_layout_equal(tj_layout a, tj_layout b);
tj_layout tj_layout_mode(tj_graph *graph, tj_layout layout, uint32_t mode); /* TJ2028 */
tj_layout tj_layout_concat(tj_graph *graph, const tj_layout modes[], uint32_t count);

/* Applying. A constant coordinate outside the shape is an error TJ2014 for tuples' entries, except in the last mode
 * reached by an integral coordinate (as in CuTe, where crd2idx extends the last mode). Structure: TJ2013. */
const tj_tuple *tj_layout_apply(tj_graph *graph, tj_layout layout, const tj_tuple *coordinate);
const tj_node *tj_swizzle_apply(tj_graph *graph, tj_swizzle swizzle, const tj_node *value);
const tj_tuple *tj_composed_apply(tj_graph *graph, const tj_composed *composed, const tj_tuple *coordinate);

/* Slicing by a coordinate with underscores: the kept modes, and the offset of the fixed ones. `(i,_)` keeps modes
 * whole, structure as CuTe's slice. */
tj_layout tj_layout_slice(tj_graph *graph, tj_layout layout, const tj_tuple *coordinate, const tj_tuple **offset);
bool tj_tuple_has_any(const tj_tuple *coordinate);

const tj_node *tj_layout_size(tj_graph *graph, tj_layout layout);
const tj_node *tj_layout_cosize(tj_graph *graph, tj_layout layout); /* 1 + the largest value; integer strides */
const tj_tuple *tj_layout_coshape(tj_graph *graph, tj_layout layout); /* of a basis layout, by component */

tj_layout tj_layout_flatten(tj_graph *graph, tj_layout layout);
tj_layout tj_layout_coalesce(tj_graph *graph, tj_layout layout);
/* By mode: coalesces where the profile has a leaf, keeps its structure elsewhere. */
tj_layout tj_layout_coalesce_by(tj_graph *graph, tj_layout layout, const tj_tuple *profile);

/* R = a ∘ b: R(c) = a(b(c)) for every c of b's domain, R's shape compatible with b's. Inadmissible: TJ2003, TJ2004
 * with the numbers; undecided by facts: TJ2015. */
tj_layout tj_layout_compose(tj_graph *graph, tj_layout a, tj_layout b);

const tj_tuple *tj_crd2idx(tj_graph *graph, const tj_tuple *coordinate, const tj_tuple *shape, const tj_tuple *stride);
/* stride NULL: colexicographic. */
const tj_tuple *tj_idx2crd(tj_graph *graph, const tj_tuple *index, const tj_tuple *shape, const tj_tuple *stride);

void tj_layout_print(tj_text *text, tj_layout layout);         /* (3,2):(2,3) */
void tj_swizzle_print(tj_text *text, tj_swizzle swizzle);      /* Sw<3,4,3> */
void tj_composed_print(tj_text *text, const tj_composed *composed); /* Sw<3,4,3> o 0 o (8,64):(64,1) */

#endif
