/* The oracle for index expressions: evaluates a node by the definition of its operations, with checked integers. */
#ifndef TJ_IR_EVAL_H
#define TJ_IR_EVAL_H

#include "ir/graph.h"

typedef enum {
  TJ_EVAL_OK,
  TJ_EVAL_OVERFLOW,         /* a value does not fit in 64 bits */
  TJ_EVAL_DIVISION_BY_ZERO, /* or another operand outside an operation's domain */
  TJ_EVAL_UNBOUND,          /* a symbol without a value */
  TJ_EVAL_NO_MEMORY
} tj_eval_status;

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

/* One operation on integers, as op.def defines it. */
tj_eval_status tj_eval_operation(tj_op op, const int64_t args[], int64_t *value);

/* Fails the job with the diagnostic of a status that is not TJ_EVAL_OK. */
_Noreturn void tj_fail_eval(tj_job *job, tj_eval_status status);

#endif
