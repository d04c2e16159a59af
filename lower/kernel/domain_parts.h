/* SPDX-License-Identifier: MIT */
/* The leaves that the top-level modes of two operands have in common, whatever these are. */
#ifndef TJ_LOWER_DOMAIN_PARTS_H
#define TJ_LOWER_DOMAIN_PARTS_H

#include "lower/kernel/domain.h"

/* An operand that is a layout, or a composed one: that layout. */
tj_layout tj_operand_layout(const tj_operand *operand);
/* NULL: it is no integer. */
const tj_node *tj_integer_stride(const tj_tuple *stride);

typedef struct {
  const tj_node *extent;
  const tj_node *stride[2]; /* of source and destination; NULL: unknown */
} tj_common_leaf;

typedef struct {
  const tj_tuple *profile; /* a mode for each top-level one */
  const tj_domain_side *side;
  const tj_common_leaf *leaf;
} tj_domain_parts;

/* A leaf for each top-level mode: TJ4003 where these do not agree. In parts: what the mode is merged from, or a list
 * of, on both sides, where facts show that the factors of one divide those of the other. */
tj_domain_parts tj_domain_parts_of(tj_graph *graph, const tj_operand *source, const tj_operand *destination,
                                   bool in_parts);

/* The coordinate of an operand on that side. */
const tj_tuple *tj_domain_side_coordinate(tj_graph *graph, const tj_domain_side *side, const tj_operand *operand,
                                          const tj_node *const leaf_extent[], const tj_node *const leaf[]);

#endif
