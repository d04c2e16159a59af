/* SPDX-License-Identifier: MIT */
/* Numbers of 4 bits, two to a byte: unsigned and signed integers, and floats of two bits of exponent and one of
 * fraction, whose bits in the right places of a wider float are their size, but for a power of two. What is packed is
 * rounded to the nearest, ties to even, and saturates; NaN becomes 0, as -0 does where that is no code. */
#include "ir/array/array_recipe.h"

typedef tj_array_machine machine;

/* --- from bytes --- */

/* The byte, or what is left of it without its lower half. */
static tj_term half_of(const machine *m, tj_term byte, tj_term half) {
  tj_term is_upper = tj_apply_two(m, TJ_OPERATION_NE, half, m->real(m, 0));
  return tj_chosen(m, is_upper, tj_apply_two(m, TJ_OPERATION_SHIFT_RIGHT, byte, m->integer(m, 4)), byte);
}

static tj_term float_of(const machine *m, tj_term code) {
  unsigned fraction = m->is_double ? 51 : 22, sign = m->is_double ? 60 : 28;
  tj_term size = tj_apply_two(m, TJ_OPERATION_AND, code, m->integer(m, 7)), side = m->integer(m, 8);
  size = tj_apply_two(m, TJ_OPERATION_SHIFT_LEFT, size, m->integer(m, fraction));
  side = tj_apply_two(m, TJ_OPERATION_SHIFT_LEFT, tj_apply_two(m, TJ_OPERATION_AND, code, side), m->integer(m, sign));
  tj_term number = tj_apply_one(m, TJ_OPERATION_OF_BITS, tj_apply_two(m, TJ_OPERATION_OR, size, side));
  return tj_apply_two(m, TJ_OPERATION_MUL, number, m->real(m, m->is_double ? 0x1p1022 : 0x1p126));
}

static tj_term number_of(const machine *m, tj_array_op op, tj_term code) {
  if (op == TJ_ARRAY_f4e2m1)
    return float_of(m, code);
  if (op == TJ_ARRAY_u4)
    return tj_apply_one(m, TJ_OPERATION_OF_UNSIGNED, tj_apply_two(m, TJ_OPERATION_AND, code, m->integer(m, 15)));
  tj_term unused = m->integer(m, m->is_double ? 60 : 28);
  tj_term place = tj_apply_two(m, TJ_OPERATION_SHIFT_LEFT, code, unused);
  return tj_apply_one(m, TJ_OPERATION_OF_SIGNED, tj_apply_two(m, TJ_OPERATION_SIGNED_SHIFT, place, unused));
}

/* --- to bytes --- */

static tj_term is_less(const machine *m, tj_term x, tj_term y) {
  return tj_apply_two(m, TJ_OPERATION_LT, x, y);
}

static tj_term is_at_least(const machine *m, tj_term x, double least) {
  return tj_apply_two(m, TJ_OPERATION_GE, x, m->real(m, least));
}

static tj_term plus_where(const machine *m, tj_term truth, tj_term x, double more) {
  return tj_chosen(m, truth, tj_apply_two(m, TJ_OPERATION_ADD, x, m->real(m, more)), x);
}

static tj_term within(const machine *m, tj_term x, double low, double high) {
  x = tj_chosen(m, is_less(m, x, m->real(m, low)), m->real(m, low), x);
  return tj_chosen(m, is_less(m, m->real(m, high), x), m->real(m, high), x);
}

static tj_term code_of_integer(const machine *m, tj_term x, bool is_signed) {
  x = tj_apply_one(m, TJ_OPERATION_ROUND, within(m, x, is_signed ? -8 : 0, is_signed ? 7 : 15));
  return is_signed ? plus_where(m, is_less(m, x, m->real(m, 0)), x, 16) : x;
}

/* Below 2 steps are of 1/2, below 4 of 1, from there on of 2. */
static tj_term code_of_float(const machine *m, tj_term x) {
  tj_term size = within(m, tj_apply_one(m, TJ_OPERATION_ABS, x), 0, 6);
  tj_term is_middle = is_at_least(m, size, 2), is_large = is_at_least(m, size, 4);
  tj_term scale = tj_chosen(m, is_middle, m->real(m, 1), m->real(m, 2));
  scale = tj_chosen(m, is_large, m->real(m, 0.5), scale);
  tj_term code = tj_apply_one(m, TJ_OPERATION_ROUND, tj_apply_two(m, TJ_OPERATION_MUL, size, scale));
  code = plus_where(m, is_large, plus_where(m, is_middle, code, 2), 2);
  tj_term side = tj_apply_two(m, TJ_OPERATION_COPYSIGN, m->real(m, 1), x);
  return plus_where(m, is_less(m, side, m->real(m, 0)), code, 8);
}

static tj_term code_of(const machine *m, tj_array_op op, tj_term x) {
  tj_term code = op == TJ_ARRAY_pack_f4e2m1 ? code_of_float(m, x) : code_of_integer(m, x, op == TJ_ARRAY_pack_i4);
  return tj_chosen(m, tj_apply_two(m, TJ_OPERATION_ORDERED, x, x), code, m->real(m, 0));
}

static tj_term byte_of(const machine *m, tj_array_op op, const tj_term argument[]) {
  tj_term low = code_of(m, op, argument[0]), high = code_of(m, op, argument[1]);
  tj_term upper = tj_apply_two(m, TJ_OPERATION_MUL, high, m->real(m, 16));
  return tj_apply_one(m, TJ_OPERATION_ABS, tj_apply_two(m, TJ_OPERATION_ADD, upper, low));
}

tj_term tj_half_recipe(const machine *m, tj_array_op op, const tj_term argument[]) {
  switch (op) {
  case TJ_ARRAY_u4:
  case TJ_ARRAY_i4:
  case TJ_ARRAY_f4e2m1:
    return number_of(m, op, half_of(m, argument[0], argument[1]));
  case TJ_ARRAY_pack_u4:
  case TJ_ARRAY_pack_i4:
  case TJ_ARRAY_pack_f4e2m1:
    return byte_of(m, op, argument);
  default:
    return argument[0];
  }
}
