/* Functions, attributes, integers: the part of the vocabulary that knows nothing of index expressions. */
#include "lower/emit.h"

#include <string.h>

/* --- functions --- */

static LLVMTypeRef function_type(tj_emitter *emitter, unsigned extra) {
  const tj_kernel *kernel = emitter->kernel;
  unsigned count = tj_kernel_argument_bytes(kernel) / 8 + extra;
  LLVMTypeRef *types = TJ_NEW_ARRAY(emitter->job, LLVMTypeRef, count);
  for (unsigned i = 0; i < count; i++)
    types[i] = i < kernel->buffer_count ? emitter->pointer : emitter->i64;
  return LLVMFunctionType(emitter->nothing, types, count, false);
}

static void describe_buffer(tj_emitter *emitter, LLVMValueRef function, uint32_t buffer) {
  const tj_kernel_buffer *described = &emitter->kernel->buffer[buffer];
  LLVMAttributeIndex index = buffer + 1;
  tj_emit_flag_attribute(emitter, function, index, "noalias", 0);
  tj_emit_flag_attribute(emitter, function, index, "noundef", 0);
  tj_emit_flag_attribute(emitter, function, index, "captures", 0);
  tj_emit_flag_attribute(emitter, function, index, "align", tj_dtype_bits(described->dtype) / 8);
  if (!described->is_written)
    tj_emit_flag_attribute(emitter, function, index, described->is_read ? "readonly" : "readnone", 0);
  else if (!described->is_read)
    tj_emit_flag_attribute(emitter, function, index, "writeonly", 0);
}

/* The attribute range(low, high + 1) of an i64, unless every i64 is in it. */
static void describe_parameter(tj_emitter *emitter, LLVMValueRef function, uint32_t parameter) {
  const tj_facts *facts = &emitter->kernel->parameter[parameter]->facts;
  LLVMAttributeIndex index = emitter->kernel->buffer_count + parameter + 1;
  tj_emit_flag_attribute(emitter, function, index, "noundef", 0);
  uint64_t low = (uint64_t)facts->low, end = (uint64_t)facts->high + 1;
  if (low == end)
    return;
  unsigned kind = LLVMGetEnumAttributeKindForName("range", 5);
  LLVMAddAttributeAtIndex(function, index, LLVMCreateConstantRangeAttribute(emitter->context, kind, 64, &low, &end));
}

/* Names `count` arguments from `first` on, and returns them. */
static LLVMValueRef *take_arguments(tj_emitter *emitter, LLVMValueRef function, unsigned first, unsigned count) {
  LLVMValueRef *arguments = TJ_NEW_ARRAY(emitter->job, LLVMValueRef, count);
  for (unsigned i = 0; i < count; i++)
    arguments[i] = LLVMGetParam(function, first + i);
  return arguments;
}

static void name_value(LLVMValueRef value, const char *name) {
  LLVMSetValueName2(value, name, strlen(name));
}

LLVMValueRef tj_emit_function(tj_emitter *emitter, const char *name, unsigned extra) {
  const tj_kernel *kernel = emitter->kernel;
  LLVMValueRef function = LLVMAddFunction(emitter->module, name, function_type(emitter, extra));
  tj_emit_function_flag(emitter, function, "nounwind");
  tj_emit_function_flag(emitter, function, "mustprogress");
  tj_emit_function_flag(emitter, function, "willreturn");
  unsigned next = 0;
  emitter->buffer = take_arguments(emitter, function, next, kernel->buffer_count);
  emitter->parameter = take_arguments(emitter, function, next += kernel->buffer_count, kernel->parameter_count);
  emitter->derived = take_arguments(emitter, function, next += kernel->parameter_count, kernel->derived_count);
  emitter->extra = take_arguments(emitter, function, next += kernel->derived_count, extra);
  for (uint32_t i = 0; i < kernel->buffer_count; i++) {
    describe_buffer(emitter, function, i);
    name_value(emitter->buffer[i], kernel->buffer[i].name);
  }
  for (uint32_t i = 0; i < kernel->parameter_count; i++) {
    describe_parameter(emitter, function, i);
    name_value(emitter->parameter[i], kernel->parameter[i]->symbol->name);
  }
  emitter->function = function;
  emitter->entry = tj_emit_block(emitter, "entry");
  LLVMPositionBuilderAtEnd(emitter->builder, emitter->entry);
  return function;
}

LLVMBasicBlockRef tj_emit_block(tj_emitter *emitter, const char *name) {
  return LLVMAppendBasicBlockInContext(emitter->context, emitter->function, name);
}

/* --- attributes --- */

void tj_emit_flag_attribute(tj_emitter *emitter, LLVMValueRef function, LLVMAttributeIndex index, const char *name,
                            uint64_t value) {
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  LLVMAddAttributeAtIndex(function, index, LLVMCreateEnumAttribute(emitter->context, kind, value));
}

void tj_emit_function_flag(tj_emitter *emitter, LLVMValueRef function, const char *name) {
  tj_emit_flag_attribute(emitter, function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, name, 0);
}

void tj_emit_text_attribute(tj_emitter *emitter, LLVMValueRef function, const char *name, const char *value) {
  LLVMAttributeRef attribute =
      LLVMCreateStringAttribute(emitter->context, name, (unsigned)strlen(name), value, (unsigned)strlen(value));
  LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, attribute);
}

void tj_emit_call_range(tj_emitter *emitter, LLVMValueRef call, unsigned bits, uint64_t low, uint64_t end) {
  unsigned kind = LLVMGetEnumAttributeKindForName("range", 5);
  LLVMAddCallSiteAttribute(call, LLVMAttributeReturnIndex,
                           LLVMCreateConstantRangeAttribute(emitter->context, kind, bits, &low, &end));
}

void tj_emit_module_flag(tj_emitter *emitter, const char *name, uint32_t value) {
  LLVMMetadataRef metadata = LLVMValueAsMetadata(LLVMConstInt(emitter->i32, value, false));
  LLVMAddModuleFlag(emitter->module, LLVMModuleFlagBehaviorError, name, strlen(name), metadata);
}

LLVMValueRef tj_emit_intrinsic(tj_emitter *emitter, const char *name, LLVMTypeRef overloads[],
                               unsigned overload_count, LLVMValueRef arguments[], unsigned argument_count) {
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  LLVMValueRef callee = LLVMGetIntrinsicDeclaration(emitter->module, id, overloads, overload_count);
  LLVMTypeRef type = LLVMIntrinsicGetType(emitter->context, id, overloads, overload_count);
  return LLVMBuildCall2(emitter->builder, type, callee, arguments, argument_count, "");
}

/* --- integers --- */

LLVMTypeRef tj_emit_int_type(tj_emitter *emitter, unsigned bits) {
  return bits == 1 ? emitter->i1 : bits == 32 ? emitter->i32 : emitter->i64;
}

LLVMValueRef tj_emit_int(tj_emitter *emitter, unsigned bits, int64_t value) {
  uint64_t mask = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
  return LLVMConstInt(tj_emit_int_type(emitter, bits), (uint64_t)value & mask, false);
}

/* LLVM's builder folds constants, and then there is no instruction to mark. */
void tj_emit_no_wrap(LLVMValueRef instruction, tj_width width) {
  if (LLVMIsAInstruction(instruction) == NULL)
    return;
  LLVMSetNSW(instruction, width.is_signed);
  LLVMSetNUW(instruction, width.is_unsigned);
}

LLVMValueRef tj_emit_extended(tj_emitter *emitter, LLVMValueRef value, LLVMTypeRef type) {
  if (LLVMTypeOf(value) == type)
    return value;
  return LLVMBuildZExt(emitter->builder, value, type, "");
}

LLVMValueRef tj_emit_binary_intrinsic(tj_emitter *emitter, const char *name, LLVMValueRef a, LLVMValueRef b) {
  LLVMTypeRef overload[] = {LLVMTypeOf(a)};
  LLVMValueRef arguments[] = {a, b};
  return tj_emit_intrinsic(emitter, name, overload, 1, arguments, 2);
}
