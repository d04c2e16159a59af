/* SPDX-License-Identifier: MIT */
/* Views: CK Tile's tensor descriptors. A pipeline of transforms from the buffer up to the visible dimensions.
 *
 * Hidden dimension 0 is the buffer's offset. Each transform consumes hidden dimensions (its lower ids) and makes new
 * ones (its upper ids). Visible dimensions are hidden ids, in the user's order. The first transform is the embed
 * (strided, aligned) or unmerge (packed) of the buffer. Coordinates are row-major: the last dimension is fastest. */
#ifndef TJ_IR_VIEW_H
#define TJ_IR_VIEW_H

#include "ir/view/transform.h"

typedef struct {
  const tj_transform *transform;
  const uint32_t *lower_id; /* hidden dimensions it consumes */
  const uint32_t *upper_id; /* hidden dimensions it makes */
} tj_stage;

/* One transform of transform(V, …) with the visible dimensions it takes and the new dimensions it makes. */
typedef struct {
  const tj_transform *transform;
  const uint32_t *lower, *upper;
  uint32_t lower_count, upper_count;
} tj_view_step;

typedef enum { TJ_BASE_STRIDED, TJ_BASE_PACKED, TJ_BASE_ALIGNED } tj_base_kind;

typedef struct tj_view tj_view;
struct tj_view {
  uint32_t stage_count, hidden_count, rank;
  const tj_stage *stage;               /* bottom up: a stage's lower ids are made by earlier ones */
  const tj_node *const *hidden_length; /* [0] is element_space_size */
  const uint32_t *visible;             /* rank hidden ids */
  const tj_node *offset;               /* added to the buffer offset; does not enter element_space_size */
  const tj_node *space_size;           /* 1 + Σ (length - 1) · stride of the base */
  const int64_t *guaranteed_length;    /* hidden_count entries, -1 unknown; from vector= */
  const int64_t *guaranteed_stride;
  tj_base_kind base;
  const tj_node *alignment; /* of an aligned base */
  const tj_view *below;     /* the view that was transformed, by `step`; NULL for a base */
  const tj_view_step *step;
  uint32_t step_count;
};

/* lengths and strides: lists of the same rank >= 1, or integers. offset NULL: 0. vector_length, vector_stride: -1
 * for unknown; they speak of the last dimension, which in a packed view has stride 1 anyway. Rank is at most
 * TJ_MAX_DIMENSIONS. TJ3007 where lengths and strides make no sense. */
const tj_view *tj_view_strided(tj_graph *graph, const tj_tuple *lengths, const tj_tuple *strides,
                               const tj_node *offset, int64_t vector_length, int64_t vector_stride);
const tj_view *tj_view_packed(tj_graph *graph, const tj_tuple *lengths, const tj_node *offset, int64_t vector_length,
                              int64_t vector_stride);
const tj_view *tj_view_aligned(tj_graph *graph, const tj_tuple *lengths, const tj_node *alignment,
                               const tj_node *offset, int64_t vector_length, int64_t vector_stride);

/* transform(V, [T…], [[lower]…], [[upper]…]): every visible dimension consumed once, lengths equal, upper numbers a
 * permutation: TJ3003 to TJ3006. */
const tj_view *tj_view_transform(tj_graph *graph, const tj_view *view, const tj_view_step steps[], uint32_t count);

/* The view below what passes through, and the merges that make the `wanted` dimensions, by their numbers: in the
 * place of each come the digits that it merges, slowest first, parts[i] of them; 1 where it is no merge, or not
 * wanted. It has no text. NULL where it would have too many dimensions. */
const tj_view *tj_view_below_merges(tj_graph *graph, const tj_view *view, const bool wanted[], uint32_t parts[]);

const tj_tuple *tj_view_lengths(tj_graph *graph, const tj_view *view); /* a list, always */
/* The elements that the base occupies with the padding of its last rows: length0 · stride0. */
const tj_node *tj_view_allocation_size(tj_graph *graph, const tj_view *view);
/* How far dimensions of the base that run backwards reach below the view's offset, which space_size takes off. */
const tj_node *tj_view_reach_below(tj_graph *graph, const tj_view *view);

/* The buffer offset of a coordinate (rank nodes), raw also where invalid, and whether it is valid: every pad's
 * predicate, and 0 <= coordinate < length at the top when `check_top`. As in CK, indices of hidden dimensions are
 * not checked. */
const tj_node *tj_view_offset(tj_graph *graph, const tj_view *view, const tj_node *const coordinate[]);
const tj_node *tj_view_valid(tj_graph *graph, const tj_view *view, const tj_node *const coordinate[], bool check_top);

/* rank entries each; -1 unknown. */
void tj_view_vectors(tj_graph *graph, const tj_view *view, int64_t lengths[], int64_t strides[]);

/* Steps in the job's arena, and what they have lists of. */
const tj_view_step *tj_view_steps_copy(tj_graph *graph, const tj_view_step steps[], uint32_t count);

/* Text that parses back: strided((3,4),(8,1)), transform(packed((4,6)), [merge(4,6)], [[0,1]], [[0]]). */
void tj_view_print(tj_text *text, const tj_view *view);
/* The steps of one stage as the last arguments of a call: [merge(4,6)], [[0,1]], [[0]]). */
void tj_view_steps_print(tj_text *text, const tj_view_step steps[], uint32_t count);

#endif
