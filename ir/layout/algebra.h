/* SPDX-License-Identifier: MIT */
/* The rest of CuTe's layout algebra: everything that layout.h does not declare.
 *
 * Semantics, structure of results included, are CuTe C++'s on static integers. Extents and strides may be symbolic
 * wherever the facts decide what an operation has to know; otherwise it fails with TJ2015.
 *
 *   algebra.c          coalescing, composition
 *   algebra_modes.c    modes side by side: group, take, append …; filters; compact strides by order
 *   algebra_inverse.c  complement, inverses, null space, common vectors
 *   algebra_tile.c     divides, products, tilers
 *   algebra_cast.c     upcast, downcast, recast; division of shapes */
#ifndef TJ_IR_ALGEBRA_H
#define TJ_IR_ALGEBRA_H

#include "ir/layout/layout.h"

/* --- tilers --- */

typedef enum {
  TJ_TILER_EXTENT, /* n: the layout n:1 */
  TJ_TILER_LAYOUT,
  TJ_TILER_ANY,  /* _: leaves its mode alone */
  TJ_TILER_MODES /* by mode */
} tj_tiler_kind;

/* What tiles a layout: a layout, or for each of the first modes a tiler of its own. Lives in the graph's job. */
typedef struct tj_tiler tj_tiler;
struct tj_tiler {
  tj_tiler_kind kind;
  uint32_t count;              /* MODES */
  const tj_node *extent;       /* EXTENT */
  tj_layout layout;            /* LAYOUT */
  const tj_tiler *const *item; /* MODES */
};

/* A tuple such as (2,(4,_)) as a tiler by mode; an integer as an extent. */
const tj_tiler *tj_tiler_of_tuple(tj_graph *graph, const tj_tuple *tuple);
const tj_tiler *tj_tiler_of_layout(tj_graph *graph, tj_layout layout);
const tj_tiler *tj_tiler_of_modes(tj_graph *graph, const tj_tiler *const items[], uint32_t count);
/* The tilers by mode that stand against integers of a projection such as (1,_,1): TJ2027 where it does not fit. */
const tj_tiler *tj_tiler_dice(tj_graph *graph, const tj_tuple *projection, const tj_tiler *tiler);

/* --- composition --- */

/* The structure of a layout's codomain, with zeros as leaves. */
const tj_tuple *tj_layout_coprofile(tj_graph *graph, tj_layout layout);

/* composition(layout, tiler): by mode, and modes that the tiler does not have are dropped. */
tj_layout tj_layout_compose_tiler(tj_graph *graph, tj_layout layout, const tj_tiler *tiler);

/* (layout ∘ tile, layout ∘ rest) of integer layouts, where `rest` steps over tiles: as in CuTe's divides, it covers a
 * left-hand mode that tiles do not divide by whole tiles, the last one beyond the mode's end. */
tj_layout tj_layout_compose_tiles(tj_graph *graph, tj_layout layout, tj_layout tile, tj_layout rest);

/* --- modes --- */

tj_layout tj_layout_unflatten(tj_graph *graph, tj_layout layout, const tj_tuple *profile);
tj_layout tj_layout_take(tj_graph *graph, tj_layout layout, uint32_t begin, uint32_t end);
tj_layout tj_layout_select(tj_graph *graph, tj_layout layout, const uint32_t modes[], uint32_t count);
tj_layout tj_layout_group(tj_graph *graph, tj_layout layout, uint32_t begin, uint32_t end);
tj_layout tj_layout_replace(tj_graph *graph, tj_layout layout, uint32_t mode, tj_layout with);
/* Up to `rank` modes by repeating x at the end or the beginning; rank 0: one more than before. */
tj_layout tj_layout_append(tj_graph *graph, tj_layout layout, tj_layout x, uint32_t rank);
tj_layout tj_layout_prepend(tj_graph *graph, tj_layout layout, tj_layout x, uint32_t rank);
/* ((a0,b0),(a1,b1),…) of two layouts of equal rank. */
tj_layout tj_layout_zip(tj_graph *graph, tj_layout a, tj_layout b);
/* The modes that stand against integers of a coordinate; and the items of a tuple, or those that stand against _. */
const tj_tuple *tj_tuple_dice(tj_graph *graph, const tj_tuple *coordinate, const tj_tuple *tuple);
const tj_tuple *tj_tuple_slice(tj_graph *graph, const tj_tuple *coordinate, const tj_tuple *tuple);
tj_layout tj_layout_dice(tj_graph *graph, const tj_tuple *coordinate, tj_layout layout);

/* Modes of stride 0 get the extent 1; and then coalesced. */
tj_layout tj_layout_filter_zeros(tj_graph *graph, tj_layout layout);
tj_layout tj_layout_filter(tj_graph *graph, tj_layout layout);
tj_layout tj_layout_filter_by(tj_graph *graph, tj_layout layout, const tj_tuple *profile);

const tj_tuple *tj_compact_row_major(tj_graph *graph, const tj_tuple *shape);
/* Compact strides in the order of the constants in `order`, least first. TJ2011 where it does not fit the shape. */
const tj_tuple *tj_compact_order(tj_graph *graph, const tj_tuple *shape, const tj_tuple *order);
tj_layout tj_layout_ordered(tj_graph *graph, const tj_tuple *shape, const tj_tuple *order);
tj_layout tj_layout_like(tj_graph *graph, tj_layout layout);
/* The same, but that the first mode is compact, leaf after leaf, and comes first; of a shape that is not constant,
 * all modes are. As in CuTe, the second of two is a mode of one. */
tj_layout tj_layout_fragment_like(tj_graph *graph, tj_layout layout);
tj_layout tj_layout_identity(tj_graph *graph, const tj_tuple *shape);

/* Tuples as shapes. (CuTe's reverse of a layout is the layout itself: to it, a layout is no tuple.) */
const tj_tuple *tj_tuple_reverse(tj_graph *graph, const tj_tuple *tuple);
const tj_tuple *tj_tuple_unflatten(tj_graph *graph, const tj_tuple *flat, const tj_tuple *profile);
const tj_tuple *tj_tuple_product_each(tj_graph *graph, const tj_tuple *shape);

/* --- inverses --- */

/* A layout of the elements below `cotarget` (a size or a shape) that the layout does not reach from 0: TJ2030 where
 * modes overlap. NULL: the layout's own cosize. */
tj_layout tj_layout_complement(tj_graph *graph, tj_layout layout, const tj_tuple *cotarget);
/* layout(R(i)) = i for all i < size(R), the longest such that the modes allow. */
tj_layout tj_layout_right_inverse(tj_graph *graph, tj_layout layout);
/* R(layout(i)) = i, for a layout that is injective. */
tj_layout tj_layout_left_inverse(tj_graph *graph, tj_layout layout);
/* layout(R(i)) = 0 for all i. */
tj_layout tj_layout_nullspace(tj_graph *graph, tj_layout layout);
/* a(R(i)) = b(R(i)) = i: the contiguous elements that correspond in both; and how many these are. */
tj_layout tj_layout_max_common(tj_graph *graph, tj_layout a, tj_layout b);
const tj_node *tj_layout_max_common_vector(tj_graph *graph, tj_layout a, tj_layout b);
/* Of layouts that may be swizzled: as many of these as the swizzles leave side by side, or all where both are one. */
tj_layout tj_composed_max_common(tj_graph *graph, const tj_composed *a, const tj_composed *b);
const tj_node *tj_composed_max_common_vector(tj_graph *graph, const tj_composed *a, const tj_composed *b);
/* A layout of up to `size` coordinates of a shape, spread over its modes so that it divides them. Constants. */
tj_layout tj_domain_distribute(tj_graph *graph, const tj_tuple *shape, const tj_tuple *size);

/* --- tiling --- */

typedef enum { TJ_TILED_LOGICAL, TJ_TILED_ZIPPED, TJ_TILED_TILED, TJ_TILED_FLAT } tj_tiled_form;

/* logical_, zipped_, tiled_ and flat_divide and _product. */
tj_layout tj_layout_divide(tj_graph *graph, tj_layout layout, const tj_tiler *tiler, tj_tiled_form form);
tj_layout tj_layout_multiply(tj_graph *graph, tj_layout block, const tj_tiler *tiler, tj_tiled_form form);
tj_layout tj_layout_blocked_product(tj_graph *graph, tj_layout block, tj_layout tiler);
tj_layout tj_layout_raked_product(tj_graph *graph, tj_layout block, tj_layout tiler);
/* order NULL: colexicographic. TJ2031 where the block does not divide the shape. */
tj_layout tj_tile_to_shape(tj_graph *graph, tj_layout block, const tj_tuple *shape, const tj_tuple *order);
/* The tile at a coordinate, or index, among the tiles; its place is `offset`. */
tj_layout tj_local_tile(tj_graph *graph, tj_layout layout, const tj_tiler *tiler, const tj_tuple *coordinate,
                        const tj_tuple **offset);
/* What the index-th of the threads that `tile` lays out gets of a layout. */
tj_layout tj_local_partition(tj_graph *graph, tj_layout layout, tj_layout tile, const tj_node *index,
                             const tj_tuple **offset);

/* --- element sizes and division --- */

/* Elements `count` times as wide, or as narrow: TJ2031 where that does not divide. */
tj_layout tj_layout_upcast(tj_graph *graph, tj_layout layout, int64_t count);
tj_layout tj_layout_downcast(tj_graph *graph, tj_layout layout, int64_t count);
/* From elements of one number of bits to elements of another. */
tj_layout tj_layout_recast(tj_graph *graph, tj_layout layout, int64_t from_bits, int64_t to_bits);

const tj_tuple *tj_tuple_ceil_div(tj_graph *graph, const tj_tuple *a, const tj_tuple *b);
const tj_tuple *tj_tuple_round_up(tj_graph *graph, const tj_tuple *a, const tj_tuple *b);
const tj_tuple *tj_shape_div(tj_graph *graph, const tj_tuple *a, const tj_tuple *b);
/* The shape of the first `count` coordinates: (3,6,2,8) of 6 is (3,2,1,1). */
const tj_tuple *tj_shape_mod(tj_graph *graph, const tj_tuple *shape, const tj_node *count);
/* Of all integers in both; constants. */
int64_t tj_tuple_gcd(tj_graph *graph, const tj_tuple *a, const tj_tuple *b);

#endif
