/* SPDX-License-Identifier: MIT */
/* The value of each operation by its definition in op.def, on checked integers. */
#include "base/number/op.h"

#include "base/integer.h"

static tj_eval_status checked(bool overflow) {
  return overflow ? TJ_EVAL_OVERFLOW : TJ_EVAL_OK;
}

static tj_eval_status quotient(int64_t a, int64_t b, int64_t *value) {
  if (b == 0)
    return TJ_EVAL_DIVISION_BY_ZERO;
  if (b == -1)
    return checked(__builtin_sub_overflow((int64_t)0, a, value));
  *value = tj_floor_div(a, b);
  return TJ_EVAL_OK;
}

static tj_eval_status remainder_of(int64_t a, int64_t b, int64_t *value) {
  if (b == 0)
    return TJ_EVAL_DIVISION_BY_ZERO;
  *value = b == -1 ? 0 : tj_floor_mod(a, b);
  return TJ_EVAL_OK;
}

static tj_eval_status bitwise(tj_op op, int64_t a, int64_t b, int64_t *value) {
  if (a < 0 || b < 0)
    return TJ_EVAL_DIVISION_BY_ZERO;
  *value = op == TJ_OP_AND ? a & b : op == TJ_OP_OR ? a | b : a ^ b;
  return TJ_EVAL_OK;
}

static tj_eval_status shifted(tj_op op, int64_t a, int64_t b, int64_t *value) {
  if (b < 0 || b > 62)
    return TJ_EVAL_DIVISION_BY_ZERO;
  int64_t power = (int64_t)1 << b;
  if (op == TJ_OP_SHL)
    return checked(__builtin_mul_overflow(a, power, value));
  *value = tj_floor_div(a, power);
  return TJ_EVAL_OK;
}

static tj_eval_status selected(const int64_t args[], int64_t *value) {
  if (args[0] != 0 && args[0] != 1)
    return TJ_EVAL_DIVISION_BY_ZERO;
  *value = args[0] == 1 ? args[1] : args[2];
  return TJ_EVAL_OK;
}

tj_eval_status tj_eval_operation(tj_op op, const int64_t args[], int64_t *value) {
  switch (op) {
  case TJ_OP_ADD:
    return checked(__builtin_add_overflow(args[0], args[1], value));
  case TJ_OP_MUL:
    return checked(__builtin_mul_overflow(args[0], args[1], value));
  case TJ_OP_DIV:
    return quotient(args[0], args[1], value);
  case TJ_OP_MOD:
    return remainder_of(args[0], args[1], value);
  case TJ_OP_MIN:
    *value = args[0] < args[1] ? args[0] : args[1];
    return TJ_EVAL_OK;
  case TJ_OP_MAX:
    *value = args[0] > args[1] ? args[0] : args[1];
    return TJ_EVAL_OK;
  case TJ_OP_AND:
  case TJ_OP_OR:
  case TJ_OP_XOR:
    return bitwise(op, args[0], args[1], value);
  case TJ_OP_SHL:
  case TJ_OP_SHR:
    return shifted(op, args[0], args[1], value);
  case TJ_OP_LESS:
    *value = args[0] < args[1];
    return TJ_EVAL_OK;
  case TJ_OP_EQUAL:
    *value = args[0] == args[1];
    return TJ_EVAL_OK;
  case TJ_OP_SELECT:
    return selected(args, value);
  case TJ_OP_CONSTANT:
  case TJ_OP_SYMBOL:
  case TJ_OP_COUNT:
    break;
  }
  return TJ_EVAL_UNBOUND;
}

void tj_fail_eval(tj_job *job, tj_eval_status status) {
  switch (status) {
  case TJ_EVAL_DIVISION_BY_ZERO:
    tj_fail(job, TJ_DIVISION_BY_ZERO,
            "an operand is outside its operation's domain: a divisor of 0, a shift "
            "outside 0 to 62, or bits of a negative integer");
  case TJ_EVAL_UNBOUND:
    tj_fail(job, TJ_MISSING_PARAMETER, "a parameter has no value");
  case TJ_EVAL_NO_MEMORY:
    tj_fail_out_of_memory(job);
  case TJ_EVAL_OVERFLOW:
  case TJ_EVAL_OK:
    break;
  }
  tj_fail(job, TJ_INTEGER_OVERFLOW, "the value of an integer expression does not fit in 64 bits");
}
