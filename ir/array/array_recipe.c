/* SPDX-License-Identifier: MIT */
/* The functions of array_function.def, as polynomials where machines do not round them right. */
#include "ir/array/array_recipe.h"

#include <math.h>

typedef tj_array_machine machine;

#define POLYNOMIAL(name, ...) static const double name[] = {__VA_ARGS__};
#include "ir/array/array_polynomial.def"
#undef POLYNOMIAL

typedef struct {
  const double *coefficient;
  unsigned count;
} polynomial;

#define CHOOSE(m, name)                                                                                              \
  ((m)->is_double ? (polynomial){name##_double, sizeof name##_double / sizeof *name##_double}                        \
                  : (polynomial){name##_single, sizeof name##_single / sizeof *name##_single})

uint32_t tj_operation_arity(tj_array_operation operation) {
  static const uint8_t arity[] = {
#define OPERATION(name, kind, arity, ...) [TJ_OPERATION_##name] = arity,
#include "ir/array/array_operation.def"
#undef OPERATION
  };
  return arity[operation];
}

/* --- words --- */

static tj_term real(const machine *m, double value) {
  return m->real(m, value);
}

static tj_term either(const machine *m, double single, double twice) {
  return real(m, m->is_double ? twice : single);
}

static tj_term integer(const machine *m, int64_t value) {
  return m->integer(m, (uint64_t)value);
}

static unsigned fraction_bits(const machine *m) {
  return m->is_double ? 52 : 23;
}

static tj_term fma_of(const machine *m, tj_term x, tj_term y, tj_term z) {
  return m->apply(m, TJ_OPERATION_FMA, (tj_term[]){x, y, z});
}

static tj_term add(const machine *m, tj_term x, tj_term y) {
  return tj_apply_two(m, TJ_OPERATION_ADD, x, y);
}

static tj_term subtract(const machine *m, tj_term x, tj_term y) {
  return tj_apply_two(m, TJ_OPERATION_SUB, x, y);
}

static tj_term multiply(const machine *m, tj_term x, tj_term y) {
  return tj_apply_two(m, TJ_OPERATION_MUL, x, y);
}

static tj_term divide(const machine *m, tj_term x, tj_term y) {
  return tj_apply_two(m, TJ_OPERATION_DIV, x, y);
}

static tj_term absolute(const machine *m, tj_term x) {
  return tj_apply_one(m, TJ_OPERATION_ABS, x);
}

static tj_term bits_of(const machine *m, tj_term x) {
  return tj_apply_one(m, TJ_OPERATION_BITS, x);
}

static tj_term number_of(const machine *m, tj_term bits) {
  return tj_apply_one(m, TJ_OPERATION_OF_BITS, bits);
}

static bool has_extremes(const machine *m) {
  return m->has_extremes && !m->is_double;
}

/* x, but no more than `most`; NaN stays. */
static tj_term at_most(const machine *m, tj_term x, tj_term most) {
  if (has_extremes(m))
    return tj_apply_two(m, TJ_OPERATION_MINIMUM, x, most);
  return tj_chosen(m, tj_apply_two(m, TJ_OPERATION_GT, x, most), most, x);
}

static tj_term at_least(const machine *m, tj_term x, tj_term least) {
  if (has_extremes(m))
    return tj_apply_two(m, TJ_OPERATION_MAXIMUM, x, least);
  return tj_chosen(m, tj_apply_two(m, TJ_OPERATION_LT, x, least), least, x);
}

/* A polynomial's value times a power of two, whose product with a coefficient is exact. */
static tj_term evaluated_times(const machine *m, polynomial of, double power, tj_term x) {
  tj_term sum = real(m, power * of.coefficient[of.count - 1]);
  for (unsigned i = of.count - 1; i-- > 0;)
    sum = fma_of(m, sum, x, real(m, power * of.coefficient[i]));
  return sum;
}

static tj_term evaluated(const machine *m, polynomial of, tj_term x) {
  return evaluated_times(m, of, 1, x);
}

/* --- exponentials --- */

/* 1.5 * 2^fraction_bits: what is added to it is rounded to an integer, which its bits then hold. */
static tj_term rounder(const machine *m) {
  return either(m, 0x1.8p23, 0x1.8p52);
}

/* p * 2^n, where n is what was rounded in `rounded`: at once, or in two steps, of which only the second may round. */
static tj_term scaled(const machine *m, tj_term p, tj_term rounded) {
  tj_term n = tj_apply_two(m, TJ_OPERATION_INTEGER_SUB, bits_of(m, rounded), bits_of(m, rounder(m)));
  if (m->has_scaling)
    return tj_apply_two(m, TJ_OPERATION_SCALE, p, n);
  tj_term half = tj_apply_two(m, TJ_OPERATION_SIGNED_SHIFT, n, integer(m, 1)),
          rest = tj_apply_two(m, TJ_OPERATION_INTEGER_SUB, n, half);
  tj_term bias = integer(m, m->is_double ? 1023 : 127), shift = integer(m, fraction_bits(m));
  tj_term first =
      tj_apply_two(m, TJ_OPERATION_SHIFT_LEFT, tj_apply_two(m, TJ_OPERATION_INTEGER_ADD, half, bias), shift);
  tj_term second =
      tj_apply_two(m, TJ_OPERATION_SHIFT_LEFT, tj_apply_two(m, TJ_OPERATION_INTEGER_ADD, rest, bias), shift);
  return multiply(m, multiply(m, p, number_of(m, first)), number_of(m, second));
}

/* Where n is not positive: p has 2^-K as a factor, so that 2^(n + K) is a number like others, whose exponent, bias
 * and all, is what is in `rounded`; and only the product rounds. */
static tj_term scaled_down(const machine *m, tj_term p, tj_term rounded) {
  tj_term power = tj_apply_two(m, TJ_OPERATION_SHIFT_LEFT, bits_of(m, rounded), integer(m, fraction_bits(m)));
  return multiply(m, p, number_of(m, power));
}

/* `is_low`: x is not positive. */
static tj_term make_exp(const machine *m, tj_term x, bool is_low) {
  const double lowered = m->is_double ? 0x1p-64 : 0x1p-32, unit = is_low ? lowered : 1;
  tj_term shift = is_low ? either(m, 0x1.8p23 + 127 + 32, 0x1.8p52 + 1023 + 64) : rounder(m);
  x = at_least(m, is_low ? x : at_most(m, x, either(m, 89, 710)), either(m, -104, -746));
  tj_term rounded = fma_of(m, x, real(m, 0x1.71547652b82fep+0), shift);
  tj_term n = subtract(m, rounded, shift);
  tj_term r = fma_of(m, n, either(m, -0x1.62e430p-1, -0x1.62e42fefa39efp-1), x);
  r = fma_of(m, n, either(m, 0x1.05c610p-29, -0x1.abc9e3b39803fp-56), r);
  tj_term slope = fma_of(m, r, evaluated_times(m, CHOOSE(m, exp), unit, r), real(m, unit));
  tj_term power = fma_of(m, r, slope, real(m, unit));
  return is_low ? scaled_down(m, power, rounded) : scaled(m, power, rounded);
}

/* `is_whole`: x is an integer, whose rest is 0, or an infinity or NaN. */
static tj_term make_exp2(const machine *m, tj_term x, bool is_whole) {
  x = at_least(m, at_most(m, x, either(m, 129, 1025)), either(m, -151, -1076));
  tj_term rounded = add(m, x, rounder(m));
  tj_term r = subtract(m, x, subtract(m, rounded, rounder(m))), one = real(m, 1);
  return scaled(m, is_whole ? add(m, r, one) : fma_of(m, r, evaluated(m, CHOOSE(m, exp2), r), one), rounded);
}

/* --- logarithms --- */

/* x = 2^exponent * (1 + rest), -1/3 <= rest < 1/3, of a positive x. */
typedef struct {
  tj_term exponent, rest;
} parts;

static parts parts_of(const machine *m, tj_term x) {
  tj_term is_small = tj_apply_two(m, TJ_OPERATION_LT, x, either(m, 0x1p-126, 0x1p-1022));
  x = tj_chosen(m, is_small, multiply(m, x, either(m, 0x1p24, 0x1p54)), x);
  tj_term bits = bits_of(m, x), third = bits_of(m, real(m, 2.0 / 3)), shift = integer(m, fraction_bits(m));
  tj_term exponent =
      tj_apply_two(m, TJ_OPERATION_SIGNED_SHIFT, tj_apply_two(m, TJ_OPERATION_INTEGER_SUB, bits, third), shift);
  tj_term fraction = number_of(
      m, tj_apply_two(m, TJ_OPERATION_INTEGER_SUB, bits, tj_apply_two(m, TJ_OPERATION_SHIFT_LEFT, exponent, shift)));
  exponent = tj_apply_one(m, TJ_OPERATION_OF_SIGNED, exponent);
  exponent = add(m, exponent, tj_chosen(m, is_small, either(m, -24, -54), real(m, 0)));
  return (parts){exponent, subtract(m, fraction, real(m, 1))};
}

/* The logarithm that was found for a positive finite x, or what it is of another. */
static tj_term any_logarithm(const machine *m, tj_term x, tj_term found) {
  found = tj_chosen(m, tj_apply_two(m, TJ_OPERATION_EQ, x, real(m, INFINITY)), x, found);
  found = tj_chosen(m, tj_apply_two(m, TJ_OPERATION_EQ, x, real(m, 0)), real(m, -INFINITY), found);
  return tj_chosen(m, tj_apply_two(m, TJ_OPERATION_NOT_GE, x, real(m, 0)), real(m, NAN), found);
}

static tj_term make_log(const machine *m, tj_term x) {
  parts p = parts_of(m, x);
  tj_term low = multiply(m, p.exponent, either(m, -0x1.05c610p-29, 0x1.abc9e3b39803fp-56));
  tj_term tail = fma_of(m, multiply(m, p.rest, p.rest), evaluated(m, CHOOSE(m, log), p.rest), low);
  tj_term found = fma_of(m, p.exponent, either(m, 0x1.62e430p-1, 0x1.62e42fefa39efp-1), add(m, p.rest, tail));
  return any_logarithm(m, x, found);
}

static tj_term make_log2(const machine *m, tj_term x) {
  parts p = parts_of(m, x);
  tj_term high = either(m, 0x1.715476p+0, 0x1.71547652b82fep+0);
  tj_term low = either(m, 0x1.4ae0c0p-26, 0x1.777d0ffda0d24p-56);
  tj_term tail = multiply(m, multiply(m, p.rest, p.rest), evaluated(m, CHOOSE(m, log), p.rest));
  tail = fma_of(m, tail, high, multiply(m, p.rest, low));
  return any_logarithm(m, x, add(m, p.exponent, fma_of(m, p.rest, high, tail)));
}

/* Nothing is rounded, nor is a number just below a power of two taken for it. */
static tj_term make_exponent(const machine *m, tj_term x) {
  tj_term is_small = tj_apply_two(m, TJ_OPERATION_LT, x, either(m, 0x1p-126, 0x1p-1022));
  tj_term normal = tj_chosen(m, is_small, multiply(m, x, either(m, 0x1p24, 0x1p54)), x);
  tj_term code = tj_apply_two(m, TJ_OPERATION_SHIFT_RIGHT, bits_of(m, normal), integer(m, fraction_bits(m)));
  code = tj_apply_one(m, TJ_OPERATION_OF_SIGNED, code);
  tj_term bias = tj_chosen(m, is_small, either(m, -127 - 24, -1023 - 54), either(m, -127, -1023));
  return any_logarithm(m, x, add(m, code, bias));
}

/* --- what is made of exponentials --- */

static tj_term with_sign_of(const machine *m, tj_term value, tj_term x) {
  return tj_apply_two(m, TJ_OPERATION_COPYSIGN, value, x);
}

static tj_term make_tanh(const machine *m, tj_term x) {
  tj_term size = absolute(m, x), square = multiply(m, size, size), one = real(m, 1);
  tj_term small = fma_of(m, multiply(m, size, square), evaluated(m, CHOOSE(m, tanh), square), size);
  tj_term power = make_exp(m, add(m, size, size), false);
  tj_term large = subtract(m, one, divide(m, real(m, 2), add(m, power, one)));
  return with_sign_of(m, tj_chosen(m, tj_apply_two(m, TJ_OPERATION_LT, size, real(m, 0.625)), small, large), x);
}

static tj_term make_sigmoid(const machine *m, tj_term x) {
  tj_term power = make_exp(m, tj_apply_one(m, TJ_OPERATION_NEG, absolute(m, x)), true), one = real(m, 1);
  tj_term upper = tj_chosen(m, tj_apply_two(m, TJ_OPERATION_LT, x, real(m, 0)), power, one);
  return divide(m, upper, add(m, one, power));
}

static tj_term make_erf(const machine *m, tj_term x) {
  tj_term size = absolute(m, x), one = real(m, 1);
  tj_term small = fma_of(m, size, evaluated(m, CHOOSE(m, erf), multiply(m, size, size)), size);
  tj_term from_two = subtract(m, at_most(m, size, either(m, 4, 6)), real(m, 2));
  tj_term large = subtract(m, one, make_exp(m, evaluated(m, CHOOSE(m, erfc), from_two), false));
  return with_sign_of(m, tj_chosen(m, tj_apply_two(m, TJ_OPERATION_LT, size, one), small, large), x);
}

/* --- all --- */

static tj_term truth_of(const machine *m, tj_array_operation how, const tj_term argument[]) {
  return tj_chosen(m, m->apply(m, how, argument), real(m, 1), real(m, 0));
}

tj_term tj_whole_exp2_recipe(const machine *m, tj_term x) {
  return make_exp2(m, x, true);
}

tj_term tj_array_recipe(const machine *m, tj_array_op op, const tj_term argument[]) {
  tj_term x = argument[0];
  switch (op) {
  case TJ_ARRAY_FMA:
    return m->apply(m, TJ_OPERATION_FMA, argument);
  case TJ_ARRAY_EXPONENT:
    return make_exponent(m, x);
  case TJ_ARRAY_LOW_EXP:
    return make_exp(m, x, true);
  case TJ_ARRAY_add:
    return m->apply(m, TJ_OPERATION_ADD, argument);
  case TJ_ARRAY_sub:
    return m->apply(m, TJ_OPERATION_SUB, argument);
  case TJ_ARRAY_mul:
    return m->apply(m, TJ_OPERATION_MUL, argument);
  case TJ_ARRAY_div:
    return m->apply(m, TJ_OPERATION_DIV, argument);
  case TJ_ARRAY_neg:
    return m->apply(m, TJ_OPERATION_NEG, argument);
  case TJ_ARRAY_abs:
    return m->apply(m, TJ_OPERATION_ABS, argument);
  case TJ_ARRAY_min:
    return m->apply(m, TJ_OPERATION_MINIMUM, argument);
  case TJ_ARRAY_max:
    return m->apply(m, TJ_OPERATION_MAXIMUM, argument);
  case TJ_ARRAY_floor:
    return m->apply(m, TJ_OPERATION_FLOOR, argument);
  case TJ_ARRAY_round:
    return m->apply(m, TJ_OPERATION_ROUND, argument);
  case TJ_ARRAY_lt:
    return truth_of(m, TJ_OPERATION_LT, argument);
  case TJ_ARRAY_le:
    return truth_of(m, TJ_OPERATION_LE, argument);
  case TJ_ARRAY_gt:
    return truth_of(m, TJ_OPERATION_GT, argument);
  case TJ_ARRAY_ge:
    return truth_of(m, TJ_OPERATION_GE, argument);
  case TJ_ARRAY_eq:
    return truth_of(m, TJ_OPERATION_EQ, argument);
  case TJ_ARRAY_ne:
    return truth_of(m, TJ_OPERATION_NE, argument);
  case TJ_ARRAY_select:
    return tj_chosen(m, tj_apply_two(m, TJ_OPERATION_NE, x, real(m, 0)), argument[1], argument[2]);
  case TJ_ARRAY_sqrt:
    return m->apply(m, TJ_OPERATION_SQRT, argument);
  case TJ_ARRAY_rsqrt:
    return divide(m, real(m, 1), tj_apply_one(m, TJ_OPERATION_SQRT, x));
  case TJ_ARRAY_exp:
    return make_exp(m, x, false);
  case TJ_ARRAY_exp2:
    return make_exp2(m, x, false);
  case TJ_ARRAY_log:
    return make_log(m, x);
  case TJ_ARRAY_log2:
    return make_log2(m, x);
  case TJ_ARRAY_tanh:
    return make_tanh(m, x);
  case TJ_ARRAY_sigmoid:
    return make_sigmoid(m, x);
  case TJ_ARRAY_erf:
    return make_erf(m, x);
  default:
    return tj_half_recipe(m, op, argument);
  }
}
