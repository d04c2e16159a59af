/* SPDX-License-Identifier: MIT */
/* Adaptors: CK Tile's tensor adaptors. Stages of transforms without a buffer: a map from the coordinates of its top
 * dimensions to those of its bottom dimensions, with a predicate.
 *
 * A view is an adaptor whose one bottom dimension is a buffer's offset; the adaptor of a tile distribution has the
 * tile's dimensions at the bottom and partitions and registers at the top. Adaptors chain: onto each other, and onto
 * views. Each stage is one transform(…), bottom up. */
#ifndef TJ_IR_ADAPTOR_H
#define TJ_IR_ADAPTOR_H

#include "ir/view/view.h"

/* More, and views of more by chaining, fail with TJ7003. */
enum { TJ_MAX_STAGES = 1024 };

typedef struct tj_adaptor tj_adaptor;
struct tj_adaptor {
  uint32_t bottom_rank, rank;
  const tj_node *const *bottom_length; /* an entry is NULL where any length is accepted */
  const tj_node *const *length;        /* of the top dimensions */
  const tj_adaptor *below;             /* what the last stage transforms; NULL for the first stage */
  const tj_view_step *step;            /* the last stage */
  uint32_t step_count;
  uint32_t stage_count;
};

/* A single stage: the lower numbers are the bottom dimensions, each once; errors as of tj_view_transform. */
const tj_adaptor *tj_adaptor_make(tj_graph *graph, const tj_view_step steps[], uint32_t count);
const tj_adaptor *tj_adaptor_of_transform(tj_graph *graph, const tj_transform *transform);
/* One more stage on the top dimensions. */
const tj_adaptor *tj_adaptor_transform(tj_graph *graph, const tj_adaptor *adaptor, const tj_view_step steps[],
                                       uint32_t count);

/* upper on lower: c maps to lower(upper(c)). Each bottom dimension of `upper` is the top dimension of `lower` of the
 * same number: TJ3008 where their numbers or lengths differ. A view's bottom is its buffer, whose length is its
 * element_space_size; a buffer may be longer than that. */
const tj_adaptor *tj_adaptor_chain(tj_graph *graph, const tj_adaptor *lower, const tj_adaptor *upper);
const tj_view *tj_view_chain(tj_graph *graph, const tj_view *lower, const tj_adaptor *upper);
/* A view over a buffer of `length` elements (NULL: of its element_space_size), as an adaptor of one bottom
 * dimension. */
const tj_adaptor *tj_adaptor_of_view(tj_graph *graph, const tj_view *view, const tj_node *length);

const tj_tuple *tj_adaptor_lengths(tj_graph *graph, const tj_adaptor *adaptor); /* a list, always */

/* The bottom coordinate of a top one, without range checks, and the conjunction of the predicates on the way. */
void tj_adaptor_lower(tj_graph *graph, const tj_adaptor *adaptor, const tj_node *const upper[],
                      const tj_node *lower[], const tj_node **valid);

/* Text that parses back: transform(adaptor([unmerge(4,6)], [[0]], [[0,1]]), [merge(6,4)], [[1,0]], [[0]]). */
void tj_adaptor_print(tj_text *text, const tj_adaptor *adaptor);

#endif
