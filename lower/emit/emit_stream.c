/* SPDX-License-Identifier: MIT */
/* Runs of bytes that leave a tile for good.
 *
 * A store that bypasses the caches has to be aligned, and pays where it fills a whole line. So the run is cut where
 * the destination's vectors begin: what comes before the first of them, and after the last, is stored like anything
 * else, by a mask where the machine has masks of bytes. */
#include "lower/emit/emit.h"

typedef struct {
  LLVMValueRef to, from; /* pointers */
  LLVMTypeRef vector;    /* bytes of a register */
  uint32_t line;         /* how many */
} run;

enum { MASKED_BYTES = 64 /* registers of so many bytes have masks of bytes */ };

static LLVMValueRef address_in(tj_emitter *emitter, LLVMValueRef base, LLVMValueRef offset) {
  return LLVMBuildInBoundsGEP2(emitter->builder, emitter->i8, base, &offset, 1, "");
}

static LLVMValueRef load_vector(tj_emitter *emitter, const run *r, LLVMValueRef at) {
  LLVMValueRef loaded = LLVMBuildLoad2(emitter->builder, r->vector, address_in(emitter, r->from, at), "line");
  LLVMSetAlignment(loaded, 1);
  return loaded;
}

static void store_masked(tj_emitter *emitter, const run *r, LLVMValueRef at, LLVMValueRef count) {
  LLVMBuilderRef builder = emitter->builder;
  LLVMValueRef all = LLVMConstAllOnes(emitter->i64), unused = LLVMConstInt(emitter->i64, 64, false);
  LLVMValueRef bits = LLVMBuildLShr(builder, all, LLVMBuildSub(builder, unused, count, ""), "");
  LLVMValueRef mask = LLVMBuildBitCast(builder, bits, LLVMVectorType(emitter->i1, r->line), "mask");
  LLVMTypeRef overloads[] = {r->vector, emitter->pointer};
  LLVMValueRef arguments[] = {load_vector(emitter, r, at), address_in(emitter, r->to, at), mask};
  tj_emit_intrinsic(emitter, "llvm.masked.store", overloads, 2, arguments, 3);
}

/* Stores 1 … line-1 bytes, or none, from `at` on. */
static void store_part(tj_emitter *emitter, const run *r, LLVMValueRef at, LLVMValueRef count) {
  LLVMBuilderRef builder = emitter->builder;
  LLVMBasicBlockRef part = tj_emit_block(emitter, "part"), after = tj_emit_block(emitter, "whole");
  LLVMValueRef has_any = LLVMBuildICmp(builder, LLVMIntNE, count, LLVMConstInt(emitter->i64, 0, false), "");
  LLVMBuildCondBr(builder, has_any, part, after);
  LLVMPositionBuilderAtEnd(builder, part);
  if (r->line == MASKED_BYTES)
    store_masked(emitter, r, at, count);
  else
    LLVMBuildMemCpy(builder, address_in(emitter, r->to, at), 1, address_in(emitter, r->from, at), 1, count);
  LLVMBuildBr(builder, after);
  LLVMPositionBuilderAtEnd(builder, after);
}

static void store_line(tj_emitter *emitter, const run *r, LLVMValueRef at) {
  LLVMValueRef line = load_vector(emitter, r, at);
  LLVMValueRef store = LLVMBuildStore(emitter->builder, line, address_in(emitter, r->to, at));
  LLVMSetAlignment(store, r->line);
  tj_emit_streamed(emitter, store);
}

/* Stores whole vectors from `begin` to before `end`, if there are any. */
static void store_lines(tj_emitter *emitter, const run *r, LLVMValueRef begin, LLVMValueRef end) {
  LLVMBuilderRef builder = emitter->builder;
  LLVMBasicBlockRef before = LLVMGetInsertBlock(builder);
  LLVMBasicBlockRef body = tj_emit_block(emitter, "stream"), after = tj_emit_block(emitter, "streamed");
  LLVMBuildCondBr(builder, LLVMBuildICmp(builder, LLVMIntULT, begin, end, ""), body, after);
  LLVMPositionBuilderAtEnd(builder, body);
  LLVMValueRef at = LLVMBuildPhi(builder, emitter->i64, "at");
  store_line(emitter, r, at);
  LLVMValueRef next = LLVMBuildNUWAdd(builder, at, LLVMConstInt(emitter->i64, r->line, false), "");
  LLVMBuildCondBr(builder, LLVMBuildICmp(builder, LLVMIntULT, next, end, ""), body, after);
  LLVMAddIncoming(at, (LLVMValueRef[]){begin, next}, (LLVMBasicBlockRef[]){before, body}, 2);
  LLVMPositionBuilderAtEnd(builder, after);
}

void tj_emit_stream(tj_emitter *emitter, LLVMValueRef to, LLVMValueRef from, uint64_t bytes) {
  LLVMBuilderRef builder = emitter->builder;
  uint32_t line = emitter->target->block_bytes;
  run r = {to, from, LLVMVectorType(emitter->i8, line), line};
  LLVMValueRef all = LLVMConstInt(emitter->i64, bytes, false), none = LLVMConstInt(emitter->i64, 0, false);
  LLVMValueRef within = LLVMConstInt(emitter->i64, line - 1, false);
  LLVMValueRef address = LLVMBuildPtrToInt(builder, to, emitter->i64, "");
  LLVMValueRef head = LLVMBuildAnd(builder, LLVMBuildSub(builder, none, address, ""), within, "head");
  head = tj_emit_binary_intrinsic(emitter, "llvm.umin", head, all);
  LLVMValueRef rest = LLVMBuildSub(builder, all, head, "");
  LLVMValueRef tail = LLVMBuildAnd(builder, rest, within, "tail");
  LLVMValueRef end = LLVMBuildSub(builder, all, tail, "");
  store_part(emitter, &r, none, head);
  store_lines(emitter, &r, head, end);
  store_part(emitter, &r, end, tail);
}
