/* SPDX-License-Identifier: MIT */
/* Coordinate transforms: CK Tile's, as one table (transform.def).
 *
 * A transform maps an upper coordinate (nearer the user) to a lower one (nearer memory): one index for each of its
 * dimensions. Some have an inverse, and a predicate that says whether an upper coordinate maps to a real lower one.
 */
#ifndef TJ_IR_TRANSFORM_H
#define TJ_IR_TRANSFORM_H

#include "ir/layout/tuple.h"

typedef enum {
#define TRANSFORM(name, ...) TJ_TRANSFORM_##name,
#include "ir/view/transform.def"
#undef TRANSFORM
  TJ_TRANSFORM_COUNT
} tj_transform_kind;

enum { TJ_MAX_DIMENSIONS = 64 };

/* What a transform is among the stages of a view. Of all but merges and others, the lower index changes by the same
 * for a step of the upper ones wherever they are. */
typedef enum {
  TJ_STAGE_AFFINE, /* lower = constant + Σ upper · factor */
  TJ_STAGE_MERGE,  /* lowers = digits of upper, of the lower lengths */
  TJ_STAGE_PAD,    /* lower = upper - constant, with a predicate */
  TJ_STAGE_UNUSED, /* upper dimensions that change nothing */
  TJ_STAGE_OTHER
} tj_stage_kind;

/* The columns of transform.def. */
typedef enum { TJ_REACH_INSIDE, TJ_REACH_ANYWHERE } tj_transform_reach;
typedef enum { TJ_IMAGES_APART, TJ_IMAGES_BY_STRIDES, TJ_IMAGES_TOGETHER } tj_transform_images;

typedef struct tj_transform {
  tj_transform_kind kind;
  uint32_t lower_count, upper_count;
  const tj_node *const *lower_length; /* lower_count; an entry is NULL where any length is accepted */
  const tj_node *const *upper_length; /* upper_count */
  const tj_node *const *amount;       /* the numbers that are no lengths: pad's a and b, embed's coefficients … */
  uint32_t amount_count;
  const tj_tuple *const *argument; /* as tj_transform_print writes them */
  uint32_t argument_count;
} tj_transform;

const char *tj_transform_name(tj_transform_kind kind); /* "merge" */
const char *tj_transform_form(tj_transform_kind kind); /* "merge(L0, L1, …)" */

tj_stage_kind tj_transform_stage(tj_transform_kind kind);
tj_transform_reach tj_transform_reach_of(tj_transform_kind kind);
tj_transform_images tj_transform_images_of(tj_transform_kind kind);

/* Builds a transform from its arguments as written: merge(4,5), merge((4,5)), embed((2,3),(12,1)), xor(4,8).
 * TJ3001 where they make no sense. */
const tj_transform *tj_transform_make(tj_graph *graph, tj_transform_kind kind, const tj_tuple *const args[],
                                      uint32_t count);

/* upper → lower: writes lower_count nodes. No range checks: as raw as CK's; but digits and remainders of negative
 * indices round to minus infinity. */
void tj_transform_lower(tj_graph *graph, const tj_transform *transform, const tj_node *const upper[],
                        const tj_node *lower[]);
/* lower → upper: writes upper_count nodes; TJ3002 where there is no inverse. Where the result is constant, also where
 * it lies outside the upper lengths or does not map back to the lower index. */
void tj_transform_upper(tj_graph *graph, const tj_transform *transform, const tj_node *const lower[],
                        const tj_node *upper[]);
/* The predicate on an upper coordinate; the constant 1 where always. */
const tj_node *tj_transform_valid(tj_graph *graph, const tj_transform *transform, const tj_node *const upper[]);

/* Safe vector lengths of the upper dimensions from those of the lower ones; -1 is unknown. Integers only. */
void tj_transform_vectors(tj_graph *graph, const tj_transform *transform, const int64_t lower_length[],
                          const int64_t lower_stride[], int64_t upper_length[], int64_t upper_stride[]);

void tj_transform_print(tj_text *text, const tj_transform *transform); /* merge(4,5) */

#endif
