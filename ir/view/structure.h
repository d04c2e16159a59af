/* SPDX-License-Identifier: MIT */
/* Structural simplification: a view's graph of transforms, made smaller before it becomes index expressions.
 *
 * Stages turn into four kinds of nodes (affine sums, merges, pads, others) that rewrite each other: sums into sums,
 * merges against sums (whatever the factorisations that they come from), pads and merges into their like, xor against
 * xor; what is fixed is folded, what is contiguous becomes one. Each rule keeps the offset (also where it is not
 * valid) and the validity of every coordinate whose indices lie in the visible dimensions, negative hidden indices
 * included; where a rule needs a hidden index to lie in a range, the facts of its index expression decide.
 *
 *   structure.c        from a view to nodes and back; the engine
 *   structure_rules.c  the rules */
#ifndef TJ_IR_STRUCTURE_H
#define TJ_IR_STRUCTURE_H

#include "ir/view/view.h"

/* What happened, in order. */
typedef struct {
  const char *rule;  /* "merge_of_sum" */
  const char *where; /* the node that it was about: "merge(4,6)" */
} tj_structure_event;

typedef struct {
  const tj_structure_event *event;
  uint32_t count;
} tj_structure_trace;

/* The same map by fewer, simpler stages. The result evaluates as any view does (tj_view_offset, tj_view_valid,
 * tj_map_of_view, cursors); its stages are no longer those of transform(…), so that it does not print as an
 * expression; tj_structure_print writes it. Its visible dimensions and its element_space_size are those of the view.
 */
const tj_view *tj_view_structured(tj_graph *graph, const tj_view *view, tj_structure_trace *trace);

/* One line for each stage, bottom up: h0 = embed((4,6),(6,1)) of h1, h2. */
void tj_structure_print(tj_text *text, const tj_view *view);

#endif
