/* SPDX-License-Identifier: MIT */
/* Short floats, to f32 and back.
 *
 * f32 holds every value of theirs, so reading one is exact, and writing one rounds once, to the nearest, ties to
 * even; NaN stays NaN. All follows from the row of dtype.def, without tables in memory and without subnormal f32 on
 * the way, which some machines are slow with, but that some numbers of bf16 and e8m0 are such. */
#include "ir/array/array_recipe.h"

enum {
  MANTISSA = 23, /* of f32 */
  BIAS = 127,
  INFINITE = 0x7f800000, /* the codes of infinity, */
  NAN_CODE = 0x7fc00000, /* of a NaN, */
  LEAST_POWER = 1 << 22  /* and of 2^-127 */
};

typedef tj_array_machine machine;

/* --- words --- */

static tj_term as_bits(const machine *m, tj_term value) {
  return tj_apply_one(m, TJ_OPERATION_BITS, value);
}

static tj_term as_float(const machine *m, tj_term value) {
  return tj_apply_one(m, TJ_OPERATION_OF_BITS, value);
}

static tj_term plus(const machine *m, tj_term value, uint32_t addend) {
  return tj_apply_two(m, TJ_OPERATION_INTEGER_ADD, value, m->integer(m, addend));
}

static tj_term masked(const machine *m, tj_term value, uint32_t mask) {
  return tj_apply_two(m, TJ_OPERATION_AND, value, m->integer(m, mask));
}

static tj_term shifted_left(const machine *m, tj_term value, uint32_t bits) {
  return tj_apply_two(m, TJ_OPERATION_SHIFT_LEFT, value, m->integer(m, bits));
}

static tj_term shifted_right(const machine *m, tj_term value, uint32_t bits) {
  return tj_apply_two(m, TJ_OPERATION_SHIFT_RIGHT, value, m->integer(m, bits));
}

static tj_term joined(const machine *m, tj_term a, tj_term b) {
  return tj_apply_two(m, TJ_OPERATION_OR, a, b);
}

static tj_term is_less(const machine *m, tj_term value, uint32_t than) {
  return tj_apply_two(m, TJ_OPERATION_INTEGER_LT, value, m->integer(m, than));
}

static tj_term is_greater(const machine *m, tj_term value, uint32_t than) {
  return tj_apply_two(m, TJ_OPERATION_INTEGER_GT, value, m->integer(m, than));
}

static tj_term is_equal(const machine *m, tj_term value, uint32_t to) {
  return tj_apply_two(m, TJ_OPERATION_INTEGER_EQ, value, m->integer(m, to));
}

/* --- what follows from the form --- */

/* The code of the sign. */
static uint32_t sign_of(const tj_float_form *form) {
  return form->is_signed ? (uint32_t)1 << (form->exponent + form->mantissa) : 0;
}

/* From the sign's place in a code to that in f32. */
static uint32_t sign_shift(const tj_float_form *form) {
  return 31 - form->exponent - form->mantissa;
}

/* What a code's exponent lacks to f32's. */
static uint32_t rebias(const tj_float_form *form) {
  return (uint32_t)(BIAS - form->bias) << MANTISSA;
}

/* The least normal number, as f32. */
static uint32_t least_normal(const tj_float_form *form) {
  return (uint32_t)(BIAS + 1 - form->bias) << MANTISSA;
}

/* --- to f32 --- */

/* Codes of the exponent 0 are read as if it were 1, which adds the least normal number. Where exponents are biased as
 * those of f32, its subnormal numbers are theirs. */
static tj_term read_mantissa(const machine *m, const tj_float_form *form, tj_term code) {
  tj_term place = shifted_left(m, code, MANTISSA - form->mantissa);
  tj_term normal = plus(m, place, rebias(form));
  if (form->bias == BIAS)
    return normal;
  tj_term sum = as_float(m, plus(m, place, least_normal(form)));
  tj_term addend = as_float(m, m->integer(m, least_normal(form)));
  tj_term subnormal = as_bits(m, tj_apply_two(m, TJ_OPERATION_SUB, sum, addend));
  tj_term is_subnormal = is_less(m, code, (uint32_t)1 << form->mantissa);
  return tj_chosen(m, is_subnormal, subnormal, normal);
}

/* The least number, below f32's normal ones, and NaN have the first bit of f32's fraction. */
static tj_term read_power(const machine *m, const tj_float_form *form, tj_term code) {
  tj_term power = plus(m, shifted_left(m, code, MANTISSA), rebias(form));
  tj_term next = masked(m, plus(m, code, 1), tj_float_nan(form) - 1);
  tj_term is_end = is_equal(m, next, 0);
  tj_term fraction = tj_chosen(m, is_end, m->integer(m, LEAST_POWER), m->integer(m, 0));
  return joined(m, power, fraction);
}

static tj_term read_magnitude(const machine *m, const tj_float_form *form, tj_term code) {
  return form->mantissa == 0 ? read_power(m, form, code) : read_mantissa(m, form, code);
}

/* Infinities and NaNs have the largest exponent there as here. */
static tj_term with_infinities(const machine *m, const tj_float_form *form, tj_term code, tj_term bits) {
  tj_term is_special = is_greater(m, code, tj_float_largest(form));
  tj_term special = joined(m, bits, m->integer(m, INFINITE));
  return tj_chosen(m, is_special, special, bits);
}

static tj_term with_nan(const machine *m, const tj_float_form *form, tj_term code, tj_term bits) {
  tj_term is_nan = is_equal(m, code, tj_float_nan(form));
  return tj_chosen(m, is_nan, m->integer(m, NAN_CODE), bits);
}

/* What comes last is no choice: of such LLVM 22 loses the sign, for AMD's GPUs, where the number is needed as it is
 * and with the other one. */
tj_term tj_float_recipe(const machine *m, const tj_float_form *form, tj_term code) {
  tj_term magnitude = form->is_signed ? masked(m, code, sign_of(form) - 1) : code;
  tj_term bits = read_magnitude(m, form, magnitude);
  if (form->specials == TJ_SPECIALS_IEEE)
    bits = with_infinities(m, form, magnitude, bits);
  if (form->specials == TJ_SPECIALS_FN && form->mantissa > 0)
    bits = with_nan(m, form, magnitude, bits);
  if (form->specials == TJ_SPECIALS_FNUZ)
    bits = with_nan(m, form, code, bits);
  if (form->is_signed) {
    tj_term sign = shifted_left(m, masked(m, code, sign_of(form)), sign_shift(form));
    bits = joined(m, bits, sign);
  }
  return as_float(m, bits);
}

/* --- from f32 --- */

/* Adds half a step, less one bit where the code is even already, and cuts off. */
static tj_term nearest_normal(const machine *m, const tj_float_form *form, tj_term magnitude) {
  uint32_t cut = MANTISSA - form->mantissa, half = (uint32_t)1 << (cut - 1);
  tj_term is_odd = masked(m, shifted_right(m, magnitude, cut), 1);
  tj_term sum = tj_apply_two(m, TJ_OPERATION_INTEGER_ADD, magnitude, is_odd);
  return shifted_right(m, plus(m, sum, half - 1 - rebias(form)), cut);
}

/* The sum with a number of which the last bit is worth the least number of the form is rounded to that by f32 itself;
 * its last bits are the code. */
static tj_term nearest_subnormal(const machine *m, const tj_float_form *form, tj_term magnitude) {
  uint32_t large = least_normal(form) + ((MANTISSA - form->mantissa) << MANTISSA);
  tj_term addend = as_float(m, m->integer(m, large));
  tj_term sum = tj_apply_two(m, TJ_OPERATION_ADD, as_float(m, magnitude), addend);
  return plus(m, as_bits(m, sum), 0 - large);
}

static tj_term nearest_mantissa(const machine *m, const tj_float_form *form, tj_term magnitude) {
  if (form->bias == BIAS)
    return nearest_normal(m, form, magnitude);
  tj_term is_subnormal = is_less(m, magnitude, least_normal(form));
  return tj_chosen(m, is_subnormal, nearest_subnormal(m, form, magnitude), nearest_normal(m, form, magnitude));
}

/* Of exponents alone, none is the even one: what is between two is the larger one, as IEEE 754-2019, 4.3.1, has it
 * for one digit. What is less than 1.5 * 2^-127 is the least. */
static tj_term nearest_power(const machine *m, tj_term magnitude) {
  tj_term code = shifted_right(m, plus(m, magnitude, (uint32_t)1 << (MANTISSA - 1)), MANTISSA);
  tj_term is_least = is_less(m, magnitude, LEAST_POWER + LEAST_POWER / 2);
  return tj_chosen(m, is_least, m->integer(m, 0), code);
}

static tj_term with_sign(const machine *m, const tj_float_form *form, tj_term bits, tj_term code) {
  if (!form->is_signed)
    return tj_chosen(m, tj_apply_one(m, TJ_OPERATION_INTEGER_NEGATIVE, bits), m->integer(m, 0), code);
  tj_term sign = masked(m, shifted_right(m, bits, sign_shift(form)), sign_of(form));
  tj_term result = joined(m, code, sign);
  if (form->specials != TJ_SPECIALS_FNUZ)
    return result;
  return tj_chosen(m, is_equal(m, code, 0), code, result);
}

tj_term tj_float_code_recipe(const machine *m, const tj_float_form *form, bool has_infinity, tj_term value) {
  tj_term bits = as_bits(m, value), magnitude = masked(m, bits, INT32_MAX);
  tj_term code = form->mantissa == 0 ? nearest_power(m, magnitude) : nearest_mantissa(m, form, magnitude);
  tj_term largest = m->integer(m, tj_float_largest(form) + has_infinity);
  code = with_sign(m, form, bits, tj_apply_two(m, TJ_OPERATION_INTEGER_MIN, code, largest));
  return tj_chosen(m, is_greater(m, magnitude, INFINITE), m->integer(m, tj_float_nan(form)), code);
}
