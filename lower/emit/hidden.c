/* SPDX-License-Identifier: MIT */
/* Numbers of which LLVM knows nothing: for some that it knows, the instructions that it selects are wrong. */
#include "lower/emit/emit.h"

#include <string.h>

/* An integer behind an empty piece of assembly. */
static LLVMValueRef hidden(tj_job *job, LLVMBuilderRef builder, const tj_target *target, LLVMValueRef bits,
                           bool varies) {
  LLVMTypeRef integer = LLVMTypeOf(bits), type = LLVMFunctionType(integer, &integer, 1, false);
  const char *name = target->family->register_of(LLVMGetIntTypeWidth(integer), varies);
  const char *constraints = tj_string_format(job, "=%s,0", name);
  LLVMValueRef nothing =
      LLVMGetInlineAsm(type, "", 0, constraints, strlen(constraints), false, false, LLVMInlineAsmDialectATT, false);
  return LLVMBuildCall2(builder, type, nothing, &bits, 1, "");
}

LLVMValueRef tj_emit_hidden(tj_emitter *emitter, LLVMValueRef bits, tj_dtype dtype) {
  const bool varies = LLVMIsAInstruction(bits) != NULL;
  LLVMValueRef number = hidden(emitter->job, emitter->builder, emitter->target, bits, varies);
  return LLVMBuildBitCast(emitter->builder, number, tj_emit_dtype(emitter, dtype), "");
}

/* --- in a module --- */

typedef struct {
  tj_job *job;
  const tj_target *target;
  LLVMContextRef context;
  LLVMBuilderRef builder;
  unsigned product_and_sum; /* the intrinsic */
} hider;

/* --- zeros of sums --- */

static LLVMValueRef hidden_zero(const hider *h, LLVMTypeRef type) {
  const unsigned bits = LLVMGetTypeKind(type) == LLVMDoubleTypeKind ? 64 : 32;
  LLVMValueRef zero = LLVMConstNull(LLVMIntTypeInContext(h->context, bits));
  return LLVMBuildBitCast(h->builder, hidden(h->job, h->builder, h->target, zero, false), type, "");
}

static bool is_zero(LLVMValueRef value) {
  return LLVMIsConstant(value) && LLVMIsNull(value);
}

/* A constant vector whose zeros are hidden. */
static LLVMValueRef without_zeros(const hider *h, LLVMValueRef vector) {
  LLVMTypeRef type = LLVMTypeOf(vector), word = LLVMInt32TypeInContext(h->context);
  LLVMValueRef result = vector, zero = NULL;
  for (unsigned i = 0; i < LLVMGetVectorSize(type); i++) {
    if (!is_zero(LLVMGetAggregateElement(vector, i)))
      continue;
    zero = zero != NULL ? zero : hidden_zero(h, LLVMGetElementType(type));
    result = LLVMBuildInsertElement(h->builder, result, zero, LLVMConstInt(word, i, false), "");
  }
  return result;
}

static bool is_of_floats(LLVMTypeRef type) {
  return LLVMGetTypeKind(type) == LLVMFloatTypeKind || LLVMGetTypeKind(type) == LLVMDoubleTypeKind;
}

static void hide_zeros_of(const hider *h, LLVMValueRef instruction, unsigned place) {
  LLVMValueRef value = LLVMGetOperand(instruction, place);
  if (!LLVMIsConstant(value))
    return;
  LLVMTypeRef type = LLVMTypeOf(value);
  LLVMPositionBuilderBefore(h->builder, instruction);
  if (LLVMGetTypeKind(type) == LLVMVectorTypeKind && is_of_floats(LLVMGetElementType(type)))
    LLVMSetOperand(instruction, place, without_zeros(h, value));
  else if (is_of_floats(type) && LLVMIsNull(value))
    LLVMSetOperand(instruction, place, hidden_zero(h, type));
}

static void hide_zeros(const hider *h, LLVMValueRef instruction) {
  switch (LLVMGetInstructionOpcode(instruction)) {
  case LLVMFAdd:
    hide_zeros_of(h, instruction, 0);
    hide_zeros_of(h, instruction, 1);
    break;
  case LLVMFSub:
    hide_zeros_of(h, instruction, 0);
    break;
  case LLVMCall:
    /* Of a constant factor, which may be a sign, it is a sum. */
    if (LLVMGetIntrinsicID(LLVMGetCalledValue(instruction)) == h->product_and_sum &&
        (LLVMIsConstant(LLVMGetOperand(instruction, 0)) || LLVMIsConstant(LLVMGetOperand(instruction, 1))))
      hide_zeros_of(h, instruction, 2);
    break;
  default:
    break;
  }
}

/* --- offsets --- */

static bool is_a(LLVMValueRef value, LLVMOpcode opcode) {
  return LLVMIsAInstruction(value) != NULL && LLVMGetInstructionOpcode(value) == opcode;
}

/* What takes the place of an instruction, behind it. */
static void replace(LLVMValueRef instruction, LLVMValueRef by, LLVMValueRef made_of_it) {
  LLVMReplaceAllUsesWith(instruction, by);
  LLVMSetOperand(made_of_it, 0, instruction);
}

static LLVMValueRef without_constants(LLVMValueRef sum) {
  while ((is_a(sum, LLVMOr) || is_a(sum, LLVMAdd)) && LLVMIsConstant(LLVMGetOperand(sum, 1)))
    sum = LLVMGetOperand(sum, 0);
  return sum;
}

/* Of a sum that is extended, a shift that bits may leave. */
static void hide_shift(const hider *h, LLVMValueRef extension) {
  LLVMValueRef shift = without_constants(LLVMGetOperand(extension, 0));
  if (!is_a(shift, LLVMShl) || (is_a(extension, LLVMSExt) ? LLVMGetNSW(shift) : LLVMGetNUW(shift)))
    return;
  LLVMPositionBuilderBefore(h->builder, LLVMGetNextInstruction(shift));
  LLVMValueRef number = hidden(h->job, h->builder, h->target, shift, true);
  replace(shift, number, number);
}

/* That the upper half of a number is 0. */
static void hide_upper_half(const hider *h, LLVMValueRef extension) {
  LLVMTypeRef wide = LLVMTypeOf(extension), half = LLVMTypeOf(LLVMGetOperand(extension, 0));
  LLVMPositionBuilderBefore(h->builder, LLVMGetNextInstruction(extension));
  LLVMValueRef zero = hidden(h->job, h->builder, h->target, LLVMConstNull(half), false);
  LLVMValueRef upper = LLVMBuildShl(h->builder, LLVMBuildZExt(h->builder, zero, wide, ""),
                                    LLVMConstInt(wide, LLVMGetIntTypeWidth(half), false), "");
  LLVMValueRef number = LLVMBuildOr(h->builder, extension, upper, "");
  replace(extension, number, number);
}

enum { MOST_SUMS = 8 };

/* What is added to an address: sums, and shifts, of 64 bits are looked into as deeply as `left` says. */
static void hide_in_offset(const hider *h, LLVMValueRef offset, unsigned left) {
  if (left > 0 && (is_a(offset, LLVMAdd) || is_a(offset, LLVMOr) || is_a(offset, LLVMShl))) {
    hide_in_offset(h, LLVMGetOperand(offset, 0), left - 1);
    hide_in_offset(h, LLVMGetOperand(offset, 1), left - 1);
  } else if (is_a(offset, LLVMZExt) && !LLVMGetNNeg(offset)) {
    hide_upper_half(h, offset);
  } else if (is_a(offset, LLVMZExt) || is_a(offset, LLVMSExt)) {
    hide_shift(h, offset);
  }
}

/* --- all --- */

static void hide_in(const hider *h, LLVMValueRef instruction) {
  if (h->target->takes_sums_for_signs)
    hide_zeros(h, instruction);
  if (h->target->has_signed_offsets && is_a(instruction, LLVMGetElementPtr))
    hide_in_offset(h, LLVMGetOperand(instruction, 1), MOST_SUMS);
}

static void hide_in_function(const hider *h, LLVMValueRef function) {
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block)) {
    LLVMValueRef instruction = LLVMGetFirstInstruction(block);
    for (; instruction != NULL; instruction = LLVMGetNextInstruction(instruction))
      hide_in(h, instruction);
  }
}

void tj_module_hide(tj_job *job, tj_module *module, const tj_target *target) {
  if (!target->takes_sums_for_signs && !target->has_signed_offsets)
    return;
  const char product_and_sum[] = "llvm.fma";
  const hider h = {job, target, module->context, module->builder,
                   LLVMLookupIntrinsicID(product_and_sum, sizeof product_and_sum - 1)};
  LLVMValueRef function = LLVMGetFirstFunction(module->module);
  for (; function != NULL; function = LLVMGetNextFunction(function))
    hide_in_function(&h, function);
}
