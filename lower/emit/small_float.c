/* SPDX-License-Identifier: MIT */
/* Floats of up to 8 bits, which LLVM has no types for, to f32 and back: one of them, or vectors, as the recipes of
 * ir/array/array_recipe.h say. Beyond the largest finite number, infinities included, it is that number. */
#include "lower/emit/emit_array.h"

/* --- one way and the other --- */

static LLVMValueRef read_float(tj_emitter *emitter, const tj_float_form *form, LLVMValueRef codes) {
  LLVMValueRef code = LLVMBuildZExt(emitter->builder, codes, tj_emit_like(codes, emitter->i32), "");
  tj_emit_machine m = tj_emit_machine_of(emitter, TJ_DTYPE_f32, code);
  return (LLVMValueRef)(void *)tj_float_recipe(&m.machine, form, (tj_term)(void *)code);
}

static LLVMValueRef write_float(tj_emitter *emitter, const tj_float_form *form, LLVMValueRef values) {
  tj_emit_machine m = tj_emit_machine_of(emitter, TJ_DTYPE_f32, values);
  tj_term code = tj_float_code_recipe(&m.machine, form, false, (tj_term)(void *)values);
  return LLVMBuildTrunc(emitter->builder, (LLVMValueRef)(void *)code, tj_emit_like(values, emitter->i8), "");
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
  LLVMTypeRef argument = LLVMTypeOf(from), type = LLVMFunctionType(tj_emit_like(from, to), &argument, 1, false);
  const char *name =
      tj_string_format(emitter->job, "%s.%s.%u", tj_dtype_name(dtype), way, LLVMGetVectorSize(argument));
  LLVMValueRef function = LLVMGetNamedFunction(emitter->module, name);
  if (function == NULL)
    function = make_function(emitter, name, type, convert, &form);
  return LLVMBuildCall2(emitter->builder, type, function, &from, 1, "");
}

/* --- numbers and their bits --- */

static LLVMValueRef cast(tj_emitter *emitter, LLVMValueRef value, LLVMTypeRef type) {
  bool is_cast = LLVMGetInstructionOpcode(value) == LLVMBitCast && LLVMTypeOf(LLVMGetOperand(value, 0)) == type;
  return is_cast ? LLVMGetOperand(value, 0) : LLVMBuildBitCast(emitter->builder, value, type, "");
}

LLVMTypeRef tj_emit_number_type(tj_emitter *emitter, tj_dtype dtype) {
  return tj_dtype_is_small_float(dtype) ? emitter->f32 : tj_emit_dtype(emitter, dtype);
}

LLVMValueRef tj_emit_numbers(tj_emitter *emitter, LLVMValueRef bits, tj_dtype dtype) {
  if (tj_emit_reads_float8(emitter, dtype))
    return tj_emit_read_float8(emitter, bits, dtype);
  if (tj_dtype_is_small_float(dtype))
    return converted(emitter, read_float, dtype, bits, emitter->f32, "read");
  return cast(emitter, bits, tj_emit_like(bits, tj_emit_dtype(emitter, dtype)));
}

LLVMValueRef tj_emit_number_bits(tj_emitter *emitter, LLVMValueRef numbers, tj_dtype dtype) {
  if (tj_emit_writes_float8(emitter, dtype))
    return tj_emit_write_float8(emitter, numbers, dtype);
  if (tj_dtype_is_small_float(dtype))
    return converted(emitter, write_float, dtype, numbers, emitter->i8, "written");
  LLVMTypeRef raw = tj_emit_dtype(emitter, tj_dtype_raw(dtype));
  return cast(emitter, numbers, tj_emit_like(numbers, raw));
}
