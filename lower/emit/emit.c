/* SPDX-License-Identifier: MIT */
/* Attributes, blocks and integers: the part of the vocabulary that knows nothing of index expressions. */
#include "lower/emit/emit.h"

#include <string.h>

/* --- attributes --- */

void tj_emit_flag_attribute(tj_emitter *emitter, LLVMValueRef function, LLVMAttributeIndex index, const char *name,
                            uint64_t value) {
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  LLVMAddAttributeAtIndex(function, index, LLVMCreateEnumAttribute(emitter->context, kind, value));
}

void tj_emit_function_flag(tj_emitter *emitter, LLVMValueRef function, const char *name) {
  tj_emit_flag_attribute(emitter, function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, name, 0);
}

static void add_text(tj_emitter *emitter, LLVMValueRef function, LLVMAttributeIndex index, const char *name,
                     const char *value) {
  LLVMAddAttributeAtIndex(
      function, index,
      LLVMCreateStringAttribute(emitter->context, name, (unsigned)strlen(name), value, (unsigned)strlen(value)));
}

void tj_emit_text_attribute(tj_emitter *emitter, LLVMValueRef function, const char *name, const char *value) {
  add_text(emitter, function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, name, value);
}

void tj_emit_argument_attribute(tj_emitter *emitter, LLVMValueRef function, LLVMAttributeIndex index,
                                const char *name) {
  add_text(emitter, function, index, name, "");
}

void tj_emit_range_attribute(tj_emitter *emitter, LLVMValueRef function, LLVMAttributeIndex index, unsigned bits,
                             uint64_t low, uint64_t end) {
  unsigned kind = LLVMGetEnumAttributeKindForName("range", 5);
  LLVMAddAttributeAtIndex(function, index,
                          LLVMCreateConstantRangeAttribute(emitter->context, kind, bits, &low, &end));
}

/* low … end-1, modulo 2^bits. */
typedef struct {
  uint64_t low, end;
} integer_range;

static integer_range range_of(const tj_facts *facts, unsigned bits) {
  uint64_t mask = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
  return (integer_range){(uint64_t)facts->low & mask, ((uint64_t)facts->high + 1) & mask};
}

/* Where every integer of the type is in the range, there is nothing to say. */
void tj_emit_facts_attribute(tj_emitter *emitter, LLVMValueRef function, LLVMAttributeIndex index, unsigned bits,
                             const tj_facts *facts) {
  integer_range range = range_of(facts, bits);
  if (range.low != range.end)
    tj_emit_range_attribute(emitter, function, index, bits, range.low, range.end);
}

static void add_type(tj_emitter *emitter, LLVMValueRef function, LLVMAttributeIndex index, const char *name,
                     LLVMTypeRef type) {
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  LLVMAddAttributeAtIndex(function, index, LLVMCreateTypeAttribute(emitter->context, kind, type));
}

void tj_emit_memory_attribute(tj_emitter *emitter, LLVMValueRef function, LLVMAttributeIndex index,
                              LLVMTypeRef memory) {
  add_type(emitter, function, index, "byref", memory);
}

void tj_emit_value_attribute(tj_emitter *emitter, LLVMValueRef function, LLVMAttributeIndex index,
                             LLVMTypeRef value) {
  add_type(emitter, function, index, "byval", value);
}

void tj_emit_metadata(tj_emitter *emitter, LLVMValueRef instruction, const char *name, LLVMMetadataRef parts[],
                      unsigned count) {
  LLVMMetadataRef node = LLVMMDNodeInContext2(emitter->context, parts, count);
  LLVMSetMetadata(instruction, LLVMGetMDKindIDInContext(emitter->context, name, (unsigned)strlen(name)),
                  LLVMMetadataAsValue(emitter->context, node));
}

void tj_emit_known_load(tj_emitter *emitter, LLVMValueRef load, const tj_facts *facts) {
  LLVMTypeRef type = LLVMTypeOf(load);
  integer_range range = facts != NULL ? range_of(facts, LLVMGetIntTypeWidth(type)) : (integer_range){0, 0};
  LLVMMetadataRef ends[] = {LLVMValueAsMetadata(LLVMConstInt(type, range.low, false)),
                            LLVMValueAsMetadata(LLVMConstInt(type, range.end, false))};
  if (range.low != range.end)
    tj_emit_metadata(emitter, load, "range", ends, 2);
  tj_emit_metadata(emitter, load, "noundef", NULL, 0);
}

void tj_emit_streamed(tj_emitter *emitter, LLVMValueRef store) {
  LLVMMetadataRef one = LLVMValueAsMetadata(LLVMConstInt(emitter->i32, 1, false));
  tj_emit_metadata(emitter, store, "nontemporal", &one, 1);
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

/* --- intrinsics --- */

enum { MOST_OVERLOADS = 2 };

/* An intrinsic that is declared: LLVM finds its name and its type by tables, for as long as it takes to emit some
 * instructions. */
struct tj_intrinsic {
  const char *name;
  LLVMTypeRef overload[MOST_OVERLOADS]; /* NULL after the last one */
  LLVMTypeRef type;
  LLVMValueRef callee;
  struct tj_intrinsic *next;
};

static bool is_intrinsic(const struct tj_intrinsic *known, const char *name, const LLVMTypeRef overload[]) {
  bool is_same = known->name == name || strcmp(known->name, name) == 0;
  for (unsigned i = 0; i < MOST_OVERLOADS && is_same; i++)
    is_same = known->overload[i] == overload[i];
  return is_same;
}

static const struct tj_intrinsic *declare_intrinsic(tj_emitter *emitter, const char *name, LLVMTypeRef overload[],
                                                    unsigned count) {
  struct tj_intrinsic *made = TJ_NEW(emitter->job, struct tj_intrinsic);
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  *made = (struct tj_intrinsic){.name = name,
                                .type = LLVMIntrinsicGetType(emitter->context, id, overload, count),
                                .callee = LLVMGetIntrinsicDeclaration(emitter->module, id, overload, count),
                                .next = emitter->intrinsic};
  memcpy(made->overload, overload, sizeof made->overload);
  return emitter->intrinsic = made;
}

LLVMValueRef tj_emit_intrinsic(tj_emitter *emitter, const char *name, LLVMTypeRef overloads[],
                               unsigned overload_count, LLVMValueRef arguments[], unsigned argument_count) {
  LLVMTypeRef overload[MOST_OVERLOADS] = {NULL};
  for (unsigned i = 0; i < overload_count; i++)
    overload[i] = overloads[i];
  const struct tj_intrinsic *known = emitter->intrinsic;
  while (known != NULL && !is_intrinsic(known, name, overload))
    known = known->next;
  if (known == NULL)
    known = declare_intrinsic(emitter, name, overload, overload_count);
  return LLVMBuildCall2(emitter->builder, known->type, known->callee, arguments, argument_count, "");
}

/* --- blocks --- */

LLVMBasicBlockRef tj_emit_block(tj_emitter *emitter, const char *name) {
  return LLVMAppendBasicBlockInContext(emitter->context, emitter->function, name);
}

/* --- integers --- */

LLVMTypeRef tj_emit_int_type(const tj_emitter *emitter, unsigned bits) {
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

/* By llvm.expect, which only the branches that LLVM's pass of that name looks at would make something of. */
LLVMValueRef tj_emit_opaque(tj_emitter *emitter, LLVMValueRef value) {
  if (LLVMIsAInstruction(value) == NULL)
    return value;
  LLVMTypeRef overload[] = {LLVMTypeOf(value)};
  LLVMValueRef arguments[] = {value, LLVMConstNull(overload[0])};
  return tj_emit_intrinsic(emitter, "llvm.expect", overload, 1, arguments, 2);
}

LLVMValueRef tj_emit_extended(tj_emitter *emitter, LLVMValueRef value, LLVMTypeRef type) {
  if (LLVMTypeOf(value) == type)
    return value;
  return LLVMBuildZExt(emitter->builder, value, type, "");
}

LLVMValueRef tj_emit_typed_intrinsic(tj_emitter *emitter, const char *name, LLVMValueRef arguments[],
                                     unsigned argument_count) {
  LLVMTypeRef overload[] = {LLVMTypeOf(arguments[0])};
  return tj_emit_intrinsic(emitter, name, overload, 1, arguments, argument_count);
}

LLVMValueRef tj_emit_binary_intrinsic(tj_emitter *emitter, const char *name, LLVMValueRef a, LLVMValueRef b) {
  return tj_emit_typed_intrinsic(emitter, name, (LLVMValueRef[]){a, b}, 2);
}
