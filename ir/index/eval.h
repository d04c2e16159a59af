/* SPDX-License-Identifier: MIT */
/* The oracle for index expressions: evaluates a node by the definition of its operations, with checked integers. */
#ifndef TJ_IR_EVAL_H
#define TJ_IR_EVAL_H

#include "ir/index/graph.h"

/* The values of a graph's symbols, by symbol index. A symbol is bound when index < count and bound[index]. */
typedef struct {
  const int64_t *value;
  const bool *bound; /* NULL: all are */
  uint32_t count;
} tj_bindings;

/* Evaluates roots under the bindings, into values. Reads the graph only, so that several threads may evaluate one
 * graph at once; scratch memory comes from malloc and is given back. */
tj_eval_status tj_eval_nodes(const tj_node *const roots[], size_t count, const tj_bindings *bindings,
                             int64_t values[]);

/* Roots prepared for evaluation at many points. It borrows the nodes and owns its memory. One evaluator is used by
 * one thread at a time. */
typedef struct tj_evaluator tj_evaluator;

/* TJ_EVAL_OK or TJ_EVAL_NO_MEMORY; gives an evaluator that tj_evaluator_destroy gives back. */
tj_eval_status tj_evaluator_create(const tj_node *const roots[], size_t count, tj_evaluator **evaluator);
void tj_evaluator_destroy(tj_evaluator *evaluator);
/* As tj_eval_nodes. After success, and up to the next run, tj_evaluator_node and tj_evaluator_value give every node
 * that the roots are made of with its value, arguments before users. */
tj_eval_status tj_evaluator_run(tj_evaluator *evaluator, const tj_bindings *bindings, int64_t values[]);

/* The same at several points at once, lanes, which differ in the values of some symbols, and in nothing else. Where
 * it does not succeed, it does not say in which lane. Only what is not known from the run before is worked out.
 * tj_evaluator_value then says nothing. */
enum { TJ_EVAL_LANES = 64 };

typedef struct {
  uint32_t symbol; /* its index */
  int64_t value[TJ_EVAL_LANES];
} tj_lane_values;

tj_eval_status tj_evaluator_run_lanes(tj_evaluator *evaluator, const tj_bindings *bindings,
                                      const tj_lane_values given[], uint32_t given_count, uint32_t lanes);

/* After success: a root's values by lane, which stay where they are. */
const int64_t *tj_evaluator_lanes(const tj_evaluator *evaluator, size_t root);

/* Whether it is known that a root is as much greater in all lanes than it was after the run of lanes before, and by
 * how much. */
bool tj_evaluator_moved(const tj_evaluator *evaluator, size_t root, int64_t *distance);

size_t tj_evaluator_node_count(const tj_evaluator *evaluator);
const tj_node *tj_evaluator_node(const tj_evaluator *evaluator, size_t index);
int64_t tj_evaluator_value(const tj_evaluator *evaluator, size_t index);

#endif
