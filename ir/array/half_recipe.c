/* SPDX-License-Identifier: MIT */
/* Numbers of 4 bits, two to a byte: unsigned and signed integers, and floats of two bits of exponent and one of
 * fraction, whose bits in the right places of a wider float are their size, but for a power of two. What is packed is
 * rounded to the nearest, ties to even, and saturates; NaN becomes 0, as -0 does where that is no code. */
#include "ir/array/array_recipe.h"

typedef tj_array_machine machine;

static tj_term integer(const machine *m, uint64_t value) {
  return m->integer(m, value);
}

static tj_term real(const machine *m, double value) {
  return m->real(m, value);
}

static tj_term unary(const machine *m, tj_array_operation operation, tj_term x) {
  return m->apply(m, operation, (tj_term[]){x});
}

static tj_term binary(const machine *m, tj_array_operation operation, tj_term x, tj_term y) {
  return m->apply(m, operation, (tj_term[]){x, y});
}

static tj_term choose(const machine *m, tj_term truth, tj_term x, tj_term y) {
  return m->apply(m, TJ_OPERATION_CHOOSE, (tj_term[]){truth, x, y});
}

/* --- from bytes --- */

tj_term tj_code_of_half_recipe(const machine *m, tj_term byte, tj_term half) {
  tj_term is_upper = binary(m, TJ_OPERATION_NE, half, real(m, 0));
  return choose(m, is_upper, binary(m, TJ_OPERATION_SHIFT_RIGHT, byte, integer(m, 4)), byte);
}

static tj_term float_of(const machine *m, tj_term code) {
  unsigned fraction = m->is_double ? 51 : 22, sign = m->is_double ? 60 : 28;
  tj_term size = binary(m, TJ_OPERATION_AND, code, integer(m, 7)), side = integer(m, 8);
  size = binary(m, TJ_OPERATION_SHIFT_LEFT, size, integer(m, fraction));
  side = binary(m, TJ_OPERATION_SHIFT_LEFT, binary(m, TJ_OPERATION_AND, code, side), integer(m, sign));
  tj_term number = unary(m, TJ_OPERATION_OF_BITS, binary(m, TJ_OPERATION_OR, size, side));
  return binary(m, TJ_OPERATION_MUL, number, real(m, m->is_double ? 0x1p1022 : 0x1p126));
}

static tj_term number_of(const machine *m, tj_array_op op, tj_term code) {
  if (op == TJ_ARRAY_f4e2m1)
    return float_of(m, code);
  if (op == TJ_ARRAY_u4)
    return unary(m, TJ_OPERATION_OF_UNSIGNED, binary(m, TJ_OPERATION_AND, code, integer(m, 15)));
  tj_term unused = integer(m, m->is_double ? 60 : 28);
  tj_term place = binary(m, TJ_OPERATION_SHIFT_LEFT, code, unused);
  return unary(m, TJ_OPERATION_OF_SIGNED, binary(m, TJ_OPERATION_SIGNED_SHIFT, place, unused));
}

/* --- to bytes --- */

static tj_term is_less(const machine *m, tj_term x, tj_term y) {
  return binary(m, TJ_OPERATION_LT, x, y);
}

static tj_term is_at_least(const machine *m, tj_term x, double least) {
  return binary(m, TJ_OPERATION_GE, x, real(m, least));
}

static tj_term plus_where(const machine *m, tj_term truth, tj_term x, double more) {
  return choose(m, truth, binary(m, TJ_OPERATION_ADD, x, real(m, more)), x);
}

static tj_term within(const machine *m, tj_term x, double low, double high) {
  x = choose(m, is_less(m, x, real(m, low)), real(m, low), x);
  return choose(m, is_less(m, real(m, high), x), real(m, high), x);
}

static tj_term code_of_integer(const machine *m, tj_term x, bool is_signed) {
  x = unary(m, TJ_OPERATION_ROUND, within(m, x, is_signed ? -8 : 0, is_signed ? 7 : 15));
  return is_signed ? plus_where(m, is_less(m, x, real(m, 0)), x, 16) : x;
}

/* Below 2 steps are of 1/2, below 4 of 1, from there on of 2. */
static tj_term code_of_float(const machine *m, tj_term x) {
  tj_term size = within(m, unary(m, TJ_OPERATION_ABS, x), 0, 6);
  tj_term is_middle = is_at_least(m, size, 2), is_large = is_at_least(m, size, 4);
  tj_term scale = choose(m, is_middle, real(m, 1), real(m, 2));
  scale = choose(m, is_large, real(m, 0.5), scale);
  tj_term code = unary(m, TJ_OPERATION_ROUND, binary(m, TJ_OPERATION_MUL, size, scale));
  code = plus_where(m, is_large, plus_where(m, is_middle, code, 2), 2);
  tj_term side = binary(m, TJ_OPERATION_COPYSIGN, real(m, 1), x);
  return plus_where(m, is_less(m, side, real(m, 0)), code, 8);
}

static tj_term code_of(const machine *m, tj_array_op op, tj_term x) {
  tj_term code = op == TJ_ARRAY_pack_f4e2m1 ? code_of_float(m, x) : code_of_integer(m, x, op == TJ_ARRAY_pack_i4);
  return choose(m, binary(m, TJ_OPERATION_ORDERED, x, x), code, real(m, 0));
}

static tj_term byte_of(const machine *m, tj_array_op op, const tj_term argument[]) {
  tj_term low = code_of(m, op, argument[0]), high = code_of(m, op, argument[1]);
  tj_term upper = binary(m, TJ_OPERATION_MUL, high, real(m, 16));
  return unary(m, TJ_OPERATION_ABS, binary(m, TJ_OPERATION_ADD, upper, low));
}

tj_term tj_half_recipe(const machine *m, tj_array_op op, const tj_term argument[]) {
  switch (op) {
  case TJ_ARRAY_u4:
  case TJ_ARRAY_i4:
  case TJ_ARRAY_f4e2m1:
    return number_of(m, op, argument[0]);
  case TJ_ARRAY_pack_u4:
  case TJ_ARRAY_pack_i4:
  case TJ_ARRAY_pack_f4e2m1:
    return byte_of(m, op, argument);
  default:
    return argument[0];
  }
}
