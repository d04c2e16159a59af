/* SPDX-License-Identifier: MIT */
/* The functions of array_function.def.
 *
 * Those that machines round right are their instructions. The others are polynomials with multiply-adds, the same for
 * every target, so that results are, too. Nothing calls a library. Whatever the argument is, no step has an undefined
 * result: NaNs and infinities are carried along, or chosen at the end. */
#include "lower/emit/emit_array.h"

#include <math.h>

/* Numbers of one type, and constants of its format. */
typedef struct {
  tj_emitter *emitter;
  LLVMBuilderRef builder;
  LLVMValueRef like; /* whose shape they have */
  LLVMTypeRef element, integer;
  bool is_double, is_integer;
  unsigned fraction_bits;
} arithmetic;

#define POLYNOMIAL(name, ...) static const double name[] = {__VA_ARGS__};
#include "lower/emit/array_polynomial.def"
#undef POLYNOMIAL

typedef struct {
  const double *coefficient;
  unsigned count;
} polynomial;

#define CHOOSE(a, name)                                                                                              \
  ((a)->is_double ? (polynomial){name##_double, sizeof name##_double / sizeof *name##_double}                        \
                  : (polynomial){name##_single, sizeof name##_single / sizeof *name##_single})

/* --- words --- */

static LLVMValueRef real(const arithmetic *a, double value) {
  return tj_emit_splat(a->like, LLVMConstReal(a->element, value));
}

static LLVMValueRef either(const arithmetic *a, double single, double twice) {
  return real(a, a->is_double ? twice : single);
}

static LLVMValueRef integer(const arithmetic *a, int64_t value) {
  return tj_emit_splat(a->like, LLVMConstInt(a->integer, (uint64_t)value, true));
}

static LLVMValueRef call(const arithmetic *a, const char *name, LLVMValueRef argument[], unsigned count) {
  return tj_emit_typed_intrinsic(a->emitter, name, argument, count);
}

static LLVMValueRef fma_of(const arithmetic *a, LLVMValueRef x, LLVMValueRef y, LLVMValueRef z) {
  return call(a, "llvm.fma", (LLVMValueRef[]){x, y, z}, 3);
}

static LLVMValueRef add(const arithmetic *a, LLVMValueRef x, LLVMValueRef y) {
  return LLVMBuildFAdd(a->builder, x, y, "");
}

static LLVMValueRef subtract(const arithmetic *a, LLVMValueRef x, LLVMValueRef y) {
  return LLVMBuildFSub(a->builder, x, y, "");
}

static LLVMValueRef multiply(const arithmetic *a, LLVMValueRef x, LLVMValueRef y) {
  return LLVMBuildFMul(a->builder, x, y, "");
}

static LLVMValueRef divide(const arithmetic *a, LLVMValueRef x, LLVMValueRef y) {
  return LLVMBuildFDiv(a->builder, x, y, "");
}

static LLVMValueRef compare(const arithmetic *a, LLVMRealPredicate how, LLVMValueRef x, LLVMValueRef y) {
  return LLVMBuildFCmp(a->builder, how, x, y, "");
}

static LLVMValueRef choose(const arithmetic *a, LLVMValueRef truth, LLVMValueRef x, LLVMValueRef y) {
  return LLVMBuildSelect(a->builder, truth, x, y, "");
}

static LLVMValueRef absolute(const arithmetic *a, LLVMValueRef x) {
  return call(a, "llvm.fabs", &x, 1);
}

static LLVMValueRef bits_of(const arithmetic *a, LLVMValueRef x) {
  return LLVMBuildBitCast(a->builder, x, tj_emit_like(a->like, a->integer), "");
}

static LLVMValueRef number_of(const arithmetic *a, LLVMValueRef bits) {
  return LLVMBuildBitCast(a->builder, bits, tj_emit_like(a->like, a->element), "");
}

static bool has_extremes(const arithmetic *a) {
  return a->emitter->target->has_extremes && !a->is_double;
}

/* x, but no more than `most`; NaN stays. */
static LLVMValueRef at_most(const arithmetic *a, LLVMValueRef x, LLVMValueRef most) {
  if (has_extremes(a))
    return call(a, "llvm.minimum", (LLVMValueRef[]){x, most}, 2);
  return choose(a, compare(a, LLVMRealOGT, x, most), most, x);
}

static LLVMValueRef at_least(const arithmetic *a, LLVMValueRef x, LLVMValueRef least) {
  if (has_extremes(a))
    return call(a, "llvm.maximum", (LLVMValueRef[]){x, least}, 2);
  return choose(a, compare(a, LLVMRealOLT, x, least), least, x);
}

static LLVMValueRef evaluated(const arithmetic *a, polynomial of, LLVMValueRef x) {
  LLVMValueRef sum = real(a, of.coefficient[of.count - 1]);
  for (unsigned i = of.count - 1; i-- > 0;)
    sum = fma_of(a, sum, x, real(a, of.coefficient[i]));
  return sum;
}

/* The larger of two that are -infinity or have no sign, NaN where one is: as their bits compare. */
static LLVMValueRef farther(const arithmetic *a, LLVMValueRef argument[]) {
  if (a->emitter->target->has_extremes || a->is_double)
    return call(a, "llvm.maximum", argument, 2);
  LLVMValueRef bits[] = {bits_of(a, argument[0]), bits_of(a, argument[1])};
  return number_of(a, call(a, "llvm.smax", bits, 2));
}

/* The larger of two, where it does not matter whether NaN is left out. */
static LLVMValueRef larger(const arithmetic *a, LLVMValueRef argument[]) {
  LLVMValueRef (*emit_larger)(tj_emitter *, LLVMValueRef, LLVMValueRef) = a->emitter->target->family->emit_larger;
  if (emit_larger == NULL || a->emitter->target->has_extremes || a->is_double)
    return call(a, "llvm.maximum", argument, 2);
  LLVMTypeRef type = LLVMTypeOf(a->like);
  uint32_t width = LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetVectorSize(type) : 1;
  LLVMValueRef all = LLVMGetPoison(type);
  for (uint32_t lane = 0; lane < width; lane++) {
    LLVMValueRef one = tj_emit_element_at(a->emitter, argument[0], width, lane);
    LLVMValueRef other = tj_emit_element_at(a->emitter, argument[1], width, lane);
    all = tj_emit_with_element(a->emitter, all, emit_larger(a->emitter, one, other), lane);
  }
  return all;
}

/* --- exponentials --- */

/* 1.5 * 2^fraction_bits: what is added to it is rounded to an integer, which its bits then hold. */
static LLVMValueRef rounder(const arithmetic *a) {
  return either(a, 0x1.8p23, 0x1.8p52);
}

static LLVMValueRef scaled_at_once(const arithmetic *a, LLVMValueRef p, LLVMValueRef n) {
  LLVMTypeRef word = tj_emit_like(a->like, a->emitter->i32), overload[] = {LLVMTypeOf(p), word};
  LLVMValueRef arguments[] = {p, LLVMBuildTrunc(a->builder, n, word, "")};
  return tj_emit_intrinsic(a->emitter, "llvm.ldexp", overload, 2, arguments, 2);
}

/* p * 2^n, where n is what was rounded in `rounded`: at once, or in two steps, of which only the second may round. */
static LLVMValueRef scaled(const arithmetic *a, LLVMValueRef p, LLVMValueRef rounded) {
  LLVMBuilderRef b = a->builder;
  LLVMValueRef n = LLVMBuildSub(b, bits_of(a, rounded), bits_of(a, rounder(a)), "");
  if (a->emitter->target->has_float_scaling)
    return scaled_at_once(a, p, n);
  LLVMValueRef half = LLVMBuildAShr(b, n, integer(a, 1), ""), rest = LLVMBuildSub(b, n, half, "");
  LLVMValueRef bias = integer(a, a->is_double ? 1023 : 127), shift = integer(a, a->fraction_bits);
  LLVMValueRef first = LLVMBuildShl(b, LLVMBuildAdd(b, half, bias, ""), shift, "");
  LLVMValueRef second = LLVMBuildShl(b, LLVMBuildAdd(b, rest, bias, ""), shift, "");
  return multiply(a, multiply(a, p, number_of(a, first)), number_of(a, second));
}

/* The same where n is not positive, and 2^K times the bias of exponents are in the rounder: 2^(n + K) is a number
 * like others, whose bits are those of the sum, and p times it is exact. */
static LLVMValueRef scaled_down(const arithmetic *a, LLVMValueRef p, LLVMValueRef rounded) {
  LLVMValueRef power = LLVMBuildShl(a->builder, bits_of(a, rounded), integer(a, a->fraction_bits), "");
  return multiply(a, multiply(a, p, number_of(a, power)), either(a, 0x1p-32, 0x1p-64));
}

/* `is_low`: x is not positive. */
static LLVMValueRef emit_exp(const arithmetic *a, LLVMValueRef x, bool is_low) {
  bool is_scaled_down = is_low && !a->emitter->target->has_float_scaling;
  LLVMValueRef shift = is_scaled_down ? either(a, 0x1.8p23 + 127 + 32, 0x1.8p52 + 1023 + 64) : rounder(a);
  x = at_least(a, is_low ? x : at_most(a, x, either(a, 89, 710)), either(a, -104, -746));
  LLVMValueRef rounded = fma_of(a, x, real(a, 0x1.71547652b82fep+0), shift);
  LLVMValueRef n = subtract(a, rounded, shift);
  LLVMValueRef r = fma_of(a, n, either(a, -0x1.62e430p-1, -0x1.62e42fefa39efp-1), x);
  r = fma_of(a, n, either(a, 0x1.05c610p-29, -0x1.abc9e3b39803fp-56), r);
  LLVMValueRef slope = fma_of(a, r, evaluated(a, CHOOSE(a, exp), r), real(a, 1));
  LLVMValueRef power = fma_of(a, r, slope, real(a, 1));
  return is_scaled_down ? scaled_down(a, power, rounded) : scaled(a, power, rounded);
}

/* `is_whole`: x is an integer, whose rest is 0, or an infinity or NaN. */
static LLVMValueRef emit_exp2(const arithmetic *a, LLVMValueRef x, bool is_whole) {
  x = at_least(a, at_most(a, x, either(a, 129, 1025)), either(a, -151, -1076));
  LLVMValueRef rounded = add(a, x, rounder(a));
  LLVMValueRef r = subtract(a, x, subtract(a, rounded, rounder(a))), one = real(a, 1);
  return scaled(a, is_whole ? add(a, r, one) : fma_of(a, r, evaluated(a, CHOOSE(a, exp2), r), one), rounded);
}

/* --- logarithms --- */

/* x = 2^exponent * (1 + rest), -1/3 <= rest < 1/3, of a positive x. */
typedef struct {
  LLVMValueRef exponent, rest;
} parts;

static parts parts_of(const arithmetic *a, LLVMValueRef x) {
  LLVMBuilderRef b = a->builder;
  LLVMValueRef is_small = compare(a, LLVMRealOLT, x, either(a, 0x1p-126, 0x1p-1022));
  x = choose(a, is_small, multiply(a, x, either(a, 0x1p24, 0x1p54)), x);
  LLVMValueRef bits = bits_of(a, x), third = bits_of(a, real(a, 2.0 / 3)), shift = integer(a, a->fraction_bits);
  LLVMValueRef exponent = LLVMBuildAShr(b, LLVMBuildSub(b, bits, third, ""), shift, "");
  LLVMValueRef fraction = number_of(a, LLVMBuildSub(b, bits, LLVMBuildShl(b, exponent, shift, ""), ""));
  exponent = LLVMBuildSIToFP(b, exponent, tj_emit_like(a->like, a->element), "");
  exponent = add(a, exponent, choose(a, is_small, either(a, -24, -54), real(a, 0)));
  return (parts){exponent, subtract(a, fraction, real(a, 1))};
}

/* The logarithm that was found for a positive finite x, or what it is of another. */
static LLVMValueRef any_logarithm(const arithmetic *a, LLVMValueRef x, LLVMValueRef found) {
  found = choose(a, compare(a, LLVMRealOEQ, x, real(a, INFINITY)), x, found);
  found = choose(a, compare(a, LLVMRealOEQ, x, real(a, 0)), real(a, -INFINITY), found);
  return choose(a, compare(a, LLVMRealULT, x, real(a, 0)), real(a, NAN), found);
}

static LLVMValueRef emit_log(const arithmetic *a, LLVMValueRef x) {
  parts p = parts_of(a, x);
  LLVMValueRef low = multiply(a, p.exponent, either(a, -0x1.05c610p-29, 0x1.abc9e3b39803fp-56));
  LLVMValueRef tail = fma_of(a, multiply(a, p.rest, p.rest), evaluated(a, CHOOSE(a, log), p.rest), low);
  LLVMValueRef found = fma_of(a, p.exponent, either(a, 0x1.62e430p-1, 0x1.62e42fefa39efp-1), add(a, p.rest, tail));
  return any_logarithm(a, x, found);
}

static LLVMValueRef emit_log2(const arithmetic *a, LLVMValueRef x) {
  parts p = parts_of(a, x);
  LLVMValueRef high = either(a, 0x1.715476p+0, 0x1.71547652b82fep+0);
  LLVMValueRef low = either(a, 0x1.4ae0c0p-26, 0x1.777d0ffda0d24p-56);
  LLVMValueRef tail = multiply(a, multiply(a, p.rest, p.rest), evaluated(a, CHOOSE(a, log), p.rest));
  tail = fma_of(a, tail, high, multiply(a, p.rest, low));
  return any_logarithm(a, x, add(a, p.exponent, fma_of(a, p.rest, high, tail)));
}

/* Nothing is rounded, nor is a number just below a power of two taken for it. */
static LLVMValueRef emit_exponent(const arithmetic *a, LLVMValueRef x) {
  LLVMValueRef is_small = compare(a, LLVMRealOLT, x, either(a, 0x1p-126, 0x1p-1022));
  LLVMValueRef normal = choose(a, is_small, multiply(a, x, either(a, 0x1p24, 0x1p54)), x);
  LLVMValueRef code = LLVMBuildLShr(a->builder, bits_of(a, normal), integer(a, a->fraction_bits), "");
  code = LLVMBuildSIToFP(a->builder, code, tj_emit_like(a->like, a->element), "");
  LLVMValueRef bias = choose(a, is_small, either(a, -127 - 24, -1023 - 54), either(a, -127, -1023));
  return any_logarithm(a, x, add(a, code, bias));
}

/* --- what is made of exponentials --- */

static LLVMValueRef with_sign_of(const arithmetic *a, LLVMValueRef value, LLVMValueRef x) {
  return call(a, "llvm.copysign", (LLVMValueRef[]){value, x}, 2);
}

static LLVMValueRef emit_tanh(const arithmetic *a, LLVMValueRef x) {
  LLVMValueRef size = absolute(a, x), square = multiply(a, size, size), one = real(a, 1);
  LLVMValueRef small = fma_of(a, multiply(a, size, square), evaluated(a, CHOOSE(a, tanh), square), size);
  LLVMValueRef power = emit_exp(a, add(a, size, size), false);
  LLVMValueRef large = subtract(a, one, divide(a, real(a, 2), add(a, power, one)));
  return with_sign_of(a, choose(a, compare(a, LLVMRealOLT, size, real(a, 0.625)), small, large), x);
}

static LLVMValueRef emit_sigmoid(const arithmetic *a, LLVMValueRef x) {
  LLVMValueRef power = emit_exp(a, LLVMBuildFNeg(a->builder, absolute(a, x), ""), true), one = real(a, 1);
  LLVMValueRef upper = choose(a, compare(a, LLVMRealOLT, x, real(a, 0)), power, one);
  return divide(a, upper, add(a, one, power));
}

static LLVMValueRef emit_erf(const arithmetic *a, LLVMValueRef x) {
  LLVMValueRef size = absolute(a, x), one = real(a, 1);
  LLVMValueRef small = fma_of(a, size, evaluated(a, CHOOSE(a, erf), multiply(a, size, size)), size);
  LLVMValueRef from_two = subtract(a, at_most(a, size, either(a, 4, 6)), real(a, 2));
  LLVMValueRef large = subtract(a, one, emit_exp(a, evaluated(a, CHOOSE(a, erfc), from_two), false));
  return with_sign_of(a, choose(a, compare(a, LLVMRealOLT, size, one), small, large), x);
}

/* --- all --- */

static LLVMValueRef emit_fma(const arithmetic *a, LLVMValueRef argument[]) {
  if (a->is_integer)
    return LLVMBuildAdd(a->builder, LLVMBuildMul(a->builder, argument[0], argument[1], ""), argument[2], "");
  return fma_of(a, argument[0], argument[1], argument[2]);
}

static LLVMValueRef truth_of(const arithmetic *a, LLVMRealPredicate how, LLVMValueRef x, LLVMValueRef y) {
  return choose(a, compare(a, how, x, y), real(a, 1), real(a, 0));
}

static arithmetic arithmetic_of(tj_emitter *emitter, tj_dtype dtype, LLVMValueRef like) {
  bool is_double = dtype == TJ_DTYPE_f64;
  return (arithmetic){.emitter = emitter,
                      .builder = emitter->builder,
                      .like = like,
                      .element = is_double ? emitter->f64 : emitter->f32,
                      .integer = is_double ? emitter->i64 : emitter->i32,
                      .is_double = is_double,
                      .is_integer = tj_dtype_class_of(dtype) != TJ_CLASS_FLOAT,
                      .fraction_bits = is_double ? 52 : 23};
}

LLVMValueRef tj_emit_whole_exp2(tj_emitter *emitter, tj_dtype dtype, LLVMValueRef argument) {
  arithmetic a = arithmetic_of(emitter, dtype, argument);
  return emit_exp2(&a, argument, true);
}

LLVMValueRef tj_emit_low_exp(tj_emitter *emitter, tj_dtype dtype, LLVMValueRef argument) {
  arithmetic a = arithmetic_of(emitter, dtype, argument);
  return emit_exp(&a, argument, true);
}

LLVMValueRef tj_emit_array_function(tj_emitter *emitter, tj_array_op op, tj_dtype dtype, LLVMValueRef argument[]) {
  const arithmetic of = arithmetic_of(emitter, dtype, argument[0]), *a = &of;
  LLVMValueRef x = argument[0];
  switch (op) {
  case TJ_ARRAY_FMA:
    return emit_fma(a, argument);
  case TJ_ARRAY_EXPONENT:
    return emit_exponent(a, x);
  case TJ_ARRAY_LARGER:
    return larger(a, argument);
  case TJ_ARRAY_FARTHER:
    return farther(a, argument);
  case TJ_ARRAY_add:
    return add(a, x, argument[1]);
  case TJ_ARRAY_sub:
    return subtract(a, x, argument[1]);
  case TJ_ARRAY_mul:
    return multiply(a, x, argument[1]);
  case TJ_ARRAY_div:
    return divide(a, x, argument[1]);
  case TJ_ARRAY_neg:
    return LLVMBuildFNeg(a->builder, x, "");
  case TJ_ARRAY_abs:
    return absolute(a, x);
  case TJ_ARRAY_min:
    return call(a, "llvm.minimum", argument, 2);
  case TJ_ARRAY_max:
    return call(a, "llvm.maximum", argument, 2);
  case TJ_ARRAY_floor:
    return call(a, "llvm.floor", argument, 1);
  case TJ_ARRAY_round:
    return call(a, "llvm.roundeven", argument, 1);
  case TJ_ARRAY_lt:
    return truth_of(a, LLVMRealOLT, x, argument[1]);
  case TJ_ARRAY_le:
    return truth_of(a, LLVMRealOLE, x, argument[1]);
  case TJ_ARRAY_gt:
    return truth_of(a, LLVMRealOGT, x, argument[1]);
  case TJ_ARRAY_ge:
    return truth_of(a, LLVMRealOGE, x, argument[1]);
  case TJ_ARRAY_eq:
    return truth_of(a, LLVMRealOEQ, x, argument[1]);
  case TJ_ARRAY_ne:
    return truth_of(a, LLVMRealUNE, x, argument[1]);
  case TJ_ARRAY_select:
    return choose(a, compare(a, LLVMRealUNE, x, real(a, 0)), argument[1], argument[2]);
  case TJ_ARRAY_sqrt:
    return call(a, "llvm.sqrt", argument, 1);
  case TJ_ARRAY_rsqrt:
    return divide(a, real(a, 1), call(a, "llvm.sqrt", argument, 1));
  case TJ_ARRAY_exp:
    return emit_exp(a, x, false);
  case TJ_ARRAY_exp2:
    return emit_exp2(a, x, false);
  case TJ_ARRAY_log:
    return emit_log(a, x);
  case TJ_ARRAY_log2:
    return emit_log2(a, x);
  case TJ_ARRAY_tanh:
    return emit_tanh(a, x);
  case TJ_ARRAY_sigmoid:
    return emit_sigmoid(a, x);
  case TJ_ARRAY_erf:
    return emit_erf(a, x);
  default:
    return x;
  }
}
