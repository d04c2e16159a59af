/* SPDX-License-Identifier: MIT */
/* Floats of up to 8 bits, which LLVM has no types for, to f32 and back: one of them, or vectors.
 *
 * f32 holds every value of theirs, so reading one is exact, and writing one rounds once, to the nearest, ties to
 * even. Beyond the largest finite number, infinities included, it is that number (the saturating mode of OFP8); NaN
 * stays NaN. All follows from the row of dtype.def, without tables in memory and without subnormal f32 on the way,
 * which some machines are slow with, but that 2^-127, the least of e8m0, is one. */
#include "lower/emit/emit.h"

enum {
  MANTISSA = 23, /* of f32 */
  BIAS = 127,
  INFINITE = 0x7f800000, /* the codes of infinity, */
  NAN_CODE = 0x7fc00000, /* of a NaN, */
  LEAST_POWER = 1 << 22  /* and of 2^-127 */
};

/* --- integers and floats, alone or in vectors --- */

/* The type of `element` in the shape of `like`. */
static LLVMTypeRef shaped(LLVMValueRef like, LLVMTypeRef element) {
  LLVMTypeRef type = LLVMTypeOf(like);
  return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMVectorType(element, LLVMGetVectorSize(type)) : element;
}

/* A 32-bit number in the shape of `like`. */
static LLVMValueRef number(tj_emitter *emitter, LLVMValueRef like, uint32_t bits) {
  LLVMTypeRef type = LLVMTypeOf(like);
  LLVMValueRef one = LLVMConstInt(emitter->i32, bits, false);
  if (LLVMGetTypeKind(type) != LLVMVectorTypeKind)
    return one;
  unsigned size = LLVMGetVectorSize(type);
  tj_arena_mark mark = tj_arena_here(&emitter->job->arena);
  LLVMValueRef *all = TJ_NEW_ARRAY(emitter->job, LLVMValueRef, size);
  for (unsigned i = 0; i < size; i++)
    all[i] = one;
  LLVMValueRef vector = LLVMConstVector(all, size);
  tj_arena_reset(&emitter->job->arena, mark);
  return vector;
}

static LLVMValueRef as_bits(tj_emitter *emitter, LLVMValueRef value) {
  return LLVMBuildBitCast(emitter->builder, value, shaped(value, emitter->i32), "");
}

static LLVMValueRef as_float(tj_emitter *emitter, LLVMValueRef value) {
  return LLVMBuildBitCast(emitter->builder, value, shaped(value, emitter->f32), "");
}

static LLVMValueRef plus(tj_emitter *emitter, LLVMValueRef value, uint32_t addend) {
  return LLVMBuildAdd(emitter->builder, value, number(emitter, value, addend), "");
}

static LLVMValueRef masked(tj_emitter *emitter, LLVMValueRef value, uint32_t mask) {
  return LLVMBuildAnd(emitter->builder, value, number(emitter, value, mask), "");
}

static LLVMValueRef shifted_left(tj_emitter *emitter, LLVMValueRef value, uint32_t bits) {
  return LLVMBuildShl(emitter->builder, value, number(emitter, value, bits), "");
}

static LLVMValueRef shifted_right(tj_emitter *emitter, LLVMValueRef value, uint32_t bits) {
  return LLVMBuildLShr(emitter->builder, value, number(emitter, value, bits), "");
}

static LLVMValueRef joined(tj_emitter *emitter, LLVMValueRef a, LLVMValueRef b) {
  return LLVMBuildOr(emitter->builder, a, b, "");
}

static LLVMValueRef compared(tj_emitter *emitter, LLVMIntPredicate predicate, LLVMValueRef value, uint32_t with) {
  return LLVMBuildICmp(emitter->builder, predicate, value, number(emitter, value, with), "");
}

static LLVMValueRef selected(tj_emitter *emitter, LLVMValueRef condition, LLVMValueRef yes, LLVMValueRef no) {
  return LLVMBuildSelect(emitter->builder, condition, yes, no, "");
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

/* Codes of the exponent 0 are read as if it were 1, which adds the least normal number. */
static LLVMValueRef read_mantissa(tj_emitter *emitter, const tj_float_form *form, LLVMValueRef code) {
  LLVMValueRef place = shifted_left(emitter, code, MANTISSA - form->mantissa);
  LLVMValueRef normal = plus(emitter, place, rebias(form));
  LLVMValueRef sum = as_float(emitter, plus(emitter, place, least_normal(form)));
  LLVMValueRef addend = as_float(emitter, number(emitter, code, least_normal(form)));
  LLVMValueRef subnormal = as_bits(emitter, LLVMBuildFSub(emitter->builder, sum, addend, ""));
  LLVMValueRef is_subnormal = compared(emitter, LLVMIntULT, code, (uint32_t)1 << form->mantissa);
  return selected(emitter, is_subnormal, subnormal, normal);
}

/* The least number, below f32's normal ones, and NaN have the first bit of f32's fraction. */
static LLVMValueRef read_power(tj_emitter *emitter, const tj_float_form *form, LLVMValueRef code) {
  LLVMValueRef power = plus(emitter, shifted_left(emitter, code, MANTISSA), rebias(form));
  LLVMValueRef next = masked(emitter, plus(emitter, code, 1), tj_float_nan(form) - 1);
  LLVMValueRef is_end = compared(emitter, LLVMIntEQ, next, 0);
  LLVMValueRef fraction = selected(emitter, is_end, number(emitter, code, LEAST_POWER), number(emitter, code, 0));
  return joined(emitter, power, fraction);
}

static LLVMValueRef read_magnitude(tj_emitter *emitter, const tj_float_form *form, LLVMValueRef code) {
  return form->mantissa == 0 ? read_power(emitter, form, code) : read_mantissa(emitter, form, code);
}

/* Infinities and NaNs have the largest exponent there as here. */
static LLVMValueRef with_infinities(tj_emitter *emitter, const tj_float_form *form, LLVMValueRef code,
                                    LLVMValueRef bits) {
  LLVMValueRef is_special = compared(emitter, LLVMIntUGT, code, tj_float_largest(form));
  LLVMValueRef special = joined(emitter, bits, number(emitter, bits, INFINITE));
  return selected(emitter, is_special, special, bits);
}

static LLVMValueRef with_nan(tj_emitter *emitter, const tj_float_form *form, LLVMValueRef code, LLVMValueRef bits) {
  LLVMValueRef is_nan = compared(emitter, LLVMIntEQ, code, tj_float_nan(form));
  return selected(emitter, is_nan, number(emitter, bits, NAN_CODE), bits);
}

/* What comes last is no choice: of such LLVM 22 loses the sign, for AMD's GPUs, where the number is needed as it is
 * and with the other one. */
static LLVMValueRef read_float(tj_emitter *emitter, const tj_float_form *form, LLVMValueRef codes) {
  LLVMValueRef code = LLVMBuildZExt(emitter->builder, codes, shaped(codes, emitter->i32), "");
  LLVMValueRef magnitude = form->is_signed ? masked(emitter, code, sign_of(form) - 1) : code;
  LLVMValueRef bits = read_magnitude(emitter, form, magnitude);
  if (form->specials == TJ_SPECIALS_IEEE)
    bits = with_infinities(emitter, form, magnitude, bits);
  if (form->specials == TJ_SPECIALS_FN && form->mantissa > 0)
    bits = with_nan(emitter, form, magnitude, bits);
  if (form->specials == TJ_SPECIALS_FNUZ)
    bits = with_nan(emitter, form, code, bits);
  if (form->is_signed) {
    LLVMValueRef sign = shifted_left(emitter, masked(emitter, code, sign_of(form)), sign_shift(form));
    bits = joined(emitter, bits, sign);
  }
  return as_float(emitter, bits);
}

/* --- from f32 --- */

/* Adds half a step, less one bit where the code is even already, and cuts off. */
static LLVMValueRef nearest_normal(tj_emitter *emitter, const tj_float_form *form, LLVMValueRef magnitude) {
  uint32_t cut = MANTISSA - form->mantissa, half = (uint32_t)1 << (cut - 1);
  LLVMValueRef is_odd = masked(emitter, shifted_right(emitter, magnitude, cut), 1);
  LLVMValueRef sum = LLVMBuildAdd(emitter->builder, magnitude, is_odd, "");
  return shifted_right(emitter, plus(emitter, sum, half - 1 - rebias(form)), cut);
}

/* The sum with a number of which the last bit is worth the least number of the form is rounded to that by f32 itself;
 * its last bits are the code. */
static LLVMValueRef nearest_subnormal(tj_emitter *emitter, const tj_float_form *form, LLVMValueRef magnitude) {
  uint32_t large = least_normal(form) + ((MANTISSA - form->mantissa) << MANTISSA);
  LLVMValueRef addend = as_float(emitter, number(emitter, magnitude, large));
  LLVMValueRef sum = LLVMBuildFAdd(emitter->builder, as_float(emitter, magnitude), addend, "");
  return plus(emitter, as_bits(emitter, sum), 0 - large);
}

static LLVMValueRef nearest_mantissa(tj_emitter *emitter, const tj_float_form *form, LLVMValueRef magnitude) {
  LLVMValueRef is_subnormal = compared(emitter, LLVMIntULT, magnitude, least_normal(form));
  return selected(emitter, is_subnormal, nearest_subnormal(emitter, form, magnitude),
                  nearest_normal(emitter, form, magnitude));
}

/* Of exponents alone, none is the even one: what is between two is the larger one, as IEEE 754-2019, 4.3.1, has it
 * for one digit. What is less than 1.5 * 2^-127 is the least. */
static LLVMValueRef nearest_power(tj_emitter *emitter, LLVMValueRef magnitude) {
  LLVMValueRef code = shifted_right(emitter, plus(emitter, magnitude, (uint32_t)1 << (MANTISSA - 1)), MANTISSA);
  LLVMValueRef is_least = compared(emitter, LLVMIntULT, magnitude, LEAST_POWER + LEAST_POWER / 2);
  return selected(emitter, is_least, number(emitter, code, 0), code);
}

static LLVMValueRef with_sign(tj_emitter *emitter, const tj_float_form *form, LLVMValueRef bits, LLVMValueRef code) {
  if (!form->is_signed)
    return selected(emitter, compared(emitter, LLVMIntSLT, bits, 0), number(emitter, code, 0), code);
  LLVMValueRef sign = masked(emitter, shifted_right(emitter, bits, sign_shift(form)), sign_of(form));
  LLVMValueRef result = joined(emitter, code, sign);
  if (form->specials != TJ_SPECIALS_FNUZ)
    return result;
  return selected(emitter, compared(emitter, LLVMIntEQ, code, 0), code, result);
}

static LLVMValueRef write_float(tj_emitter *emitter, const tj_float_form *form, LLVMValueRef values) {
  LLVMValueRef bits = as_bits(emitter, values), magnitude = masked(emitter, bits, INT32_MAX);
  LLVMValueRef code =
      form->mantissa == 0 ? nearest_power(emitter, magnitude) : nearest_mantissa(emitter, form, magnitude);
  LLVMValueRef largest = number(emitter, code, tj_float_largest(form));
  code = with_sign(emitter, form, bits, tj_emit_binary_intrinsic(emitter, "llvm.umin", code, largest));
  LLVMValueRef is_nan = compared(emitter, LLVMIntUGT, magnitude, INFINITE);
  code = selected(emitter, is_nan, number(emitter, code, tj_float_nan(form)), code);
  return LLVMBuildTrunc(emitter->builder, code, shaped(values, emitter->i8), "");
}

/* --- where there are many --- */

typedef LLVMValueRef float_conversion(tj_emitter *emitter, const tj_float_form *form, LLVMValueRef from);

/* Whether a conversion of vectors would be written out so often that a call costs less than its code. */
static bool is_called(const tj_emitter *emitter, LLVMValueRef from) {
  enum { MANY_STEPS = 32 };
  return emitter->target->wave_size == 1 && emitter->kernel != NULL && emitter->kernel->step_count > MANY_STEPS &&
         LLVMGetTypeKind(LLVMTypeOf(from)) == LLVMVectorTypeKind;
}

/* A function of the module, of one vector. */
static LLVMValueRef make_function(tj_emitter *emitter, const char *name, LLVMTypeRef type, float_conversion convert,
                                  const tj_float_form *form) {
  LLVMBasicBlockRef before = LLVMGetInsertBlock(emitter->builder);
  LLVMValueRef function = LLVMAddFunction(emitter->module, name, type);
  LLVMSetLinkage(function, LLVMInternalLinkage);
  LLVMPositionBuilderAtEnd(emitter->builder, LLVMAppendBasicBlockInContext(emitter->context, function, "entry"));
  LLVMBuildRet(emitter->builder, convert(emitter, form, LLVMGetParam(function, 0)));
  LLVMPositionBuilderAtEnd(emitter->builder, before);
  return function;
}

static LLVMValueRef converted(tj_emitter *emitter, float_conversion convert, tj_dtype dtype, LLVMValueRef from,
                              LLVMTypeRef to, const char *way) {
  tj_float_form form = tj_dtype_form(dtype);
  if (!is_called(emitter, from))
    return convert(emitter, &form, from);
  LLVMTypeRef argument = LLVMTypeOf(from), type = LLVMFunctionType(shaped(from, to), &argument, 1, false);
  const char *name =
      tj_string_format(emitter->job, "%s.%s.%u", tj_dtype_name(dtype), way, LLVMGetVectorSize(argument));
  LLVMValueRef function = LLVMGetNamedFunction(emitter->module, name);
  if (function == NULL)
    function = make_function(emitter, name, type, convert, &form);
  return LLVMBuildCall2(emitter->builder, type, function, &from, 1, "");
}

/* --- numbers and their bits --- */

LLVMTypeRef tj_emit_number_type(tj_emitter *emitter, tj_dtype dtype) {
  return tj_dtype_is_small_float(dtype) ? emitter->f32 : tj_emit_dtype(emitter, dtype);
}

LLVMValueRef tj_emit_numbers(tj_emitter *emitter, LLVMValueRef bits, tj_dtype dtype) {
  if (tj_emit_reads_float8(emitter, dtype))
    return tj_emit_read_float8(emitter, bits, dtype);
  if (tj_dtype_is_small_float(dtype))
    return converted(emitter, read_float, dtype, bits, emitter->f32, "read");
  return LLVMBuildBitCast(emitter->builder, bits, shaped(bits, tj_emit_dtype(emitter, dtype)), "");
}

LLVMValueRef tj_emit_number_bits(tj_emitter *emitter, LLVMValueRef numbers, tj_dtype dtype) {
  if (tj_emit_writes_float8(emitter, dtype))
    return tj_emit_write_float8(emitter, numbers, dtype);
  if (tj_dtype_is_small_float(dtype))
    return converted(emitter, write_float, dtype, numbers, emitter->i8, "written");
  LLVMTypeRef raw = tj_emit_dtype(emitter, tj_dtype_raw(dtype));
  return LLVMBuildBitCast(emitter->builder, numbers, shaped(numbers, raw), "");
}
