/* SPDX-License-Identifier: MIT */
/* Operations on integers: the rows of op.def, of which index expressions and the expressions of launches are made,
 * and the value of each.
 *
 * How to add an operation: see op.def. */
#ifndef TJ_BASE_OP_H
#define TJ_BASE_OP_H

#include "base/job.h"

typedef enum {
#define OP(name, arity, text, kind, doc) TJ_OP_##name,
#include "base/number/op.def"
#undef OP
  TJ_OP_COUNT
} tj_op;

static inline unsigned tj_op_arity(tj_op op) {
  static const unsigned char arities[] = {
#define OP(name, arity, text, kind, doc) arity,
#include "base/number/op.def"
#undef OP
  };
  return arities[op];
}

typedef enum {
  TJ_EVAL_OK,
  TJ_EVAL_OVERFLOW,         /* a value does not fit in 64 bits */
  TJ_EVAL_DIVISION_BY_ZERO, /* or another operand outside an operation's domain */
  TJ_EVAL_UNBOUND,          /* a symbol without a value */
  TJ_EVAL_NO_MEMORY
} tj_eval_status;

/* One operation on integers, as op.def defines it. */
tj_eval_status tj_eval_operation(tj_op op, const int64_t args[], int64_t *value);

/* Fails the job with the diagnostic of a status that is not TJ_EVAL_OK. */
_Noreturn void tj_fail_eval(tj_job *job, tj_eval_status status);

#endif
