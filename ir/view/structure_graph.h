/* SPDX-License-Identifier: MIT */
/* What structure.c and its rules share: the graph of nodes.
 *
 * A dimension is made by one node from below's point of view: the node of which it is a lower dimension computes it
 * from its upper ones. Each dimension has one such node, or is visible; and one node that uses it, or is the buffer
 * (dimension 0). Nodes and dimensions are never removed: dead nodes are marked. */
#ifndef TJ_IR_STRUCTURE_GRAPH_H
#define TJ_IR_STRUCTURE_GRAPH_H

#include "ir/view/structure.h"

enum { TJ_NO_NODE = UINT32_MAX };

typedef struct {
  tj_stage_kind kind;
  bool dead;
  uint32_t lower_count, upper_count;
  uint32_t lower[TJ_MAX_DIMENSIONS], upper[TJ_MAX_DIMENSIONS];
  const tj_node *number[TJ_MAX_DIMENSIONS]; /* AFFINE: by upper; MERGE: by lower */
  const tj_node *constant;                  /* AFFINE */
  const tj_transform *transform;            /* PAD, OTHER */
} tj_structure_node;

typedef struct {
  const tj_node *length;
  const tj_node *index; /* as an expression of the visible coordinates: its facts are what rules ask */
  uint32_t made_by;     /* the node of which this is a lower dimension, or TJ_NO_NODE */
  uint32_t used_by;     /* the node of which this is an upper dimension, or TJ_NO_NODE */
} tj_structure_dimension;

typedef struct {
  tj_graph *graph;
  tj_structure_node **node;
  uint32_t node_count, node_capacity;
  tj_structure_dimension *dimension;
  uint32_t dimension_count, dimension_capacity;
} tj_structure;

/* Growing. A new node has no dimensions. Pointers to nodes stay good. */
uint32_t tj_structure_add_node(tj_structure *self, tj_stage_kind kind);
uint32_t tj_structure_add_dimension(tj_structure *self, const tj_node *length, const tj_node *index);
/* Appends a dimension to a node. */
void tj_structure_lower(tj_structure *self, uint32_t node, uint32_t dimension);
void tj_structure_upper(tj_structure *self, uint32_t node, uint32_t dimension, const tj_node *number);

/* A rule looks at one live node, and returns whether it changed the graph. */
typedef bool (*tj_structure_apply)(tj_structure *self, uint32_t node);

typedef struct {
  const char *name;
  tj_stage_kind kind; /* of the nodes it looks at */
  tj_structure_apply apply;
} tj_structure_rule;

extern const tj_structure_rule tj_structure_rules[];
extern const uint32_t tj_structure_rule_count;

#endif
