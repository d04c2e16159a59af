/* SPDX-License-Identifier: MIT */
/* Runs: elements side by side that become others side by side, however many there are.
 *
 * Vectors go one after the other; what is left at the end goes by a mask where the machine has masks of bytes. A
 * store that bypasses the caches has to be aligned, and pays where it fills a whole line: so a run that is streamed
 * is cut where the destination's vectors begin, and what comes before the first of them, and after the last, is
 * stored like anything else. */
#include "lower/steps/steps.h"

/* A run in bytes. */
typedef struct {
  LLVMValueRef to, from, ahead; /* pointers; ahead may be NULL */
  LLVMTypeRef vector;           /* bytes of a register */
  uint32_t line;                /* how many */
  bool is_streamed;
} byte_run;

enum { MASKED_BYTES = 64 /* registers of so many bytes have masks of bytes */ };

static byte_run in_bytes(const tj_emitter *emitter, const tj_run *run, bool is_streamed) {
  uint32_t line = emitter->target->block_bytes;
  return (byte_run){run->to, run->from, run->ahead, LLVMVectorType(emitter->i8, line), line, is_streamed};
}

static LLVMValueRef int_of(const tj_emitter *emitter, uint64_t value) {
  return LLVMConstInt(emitter->i64, value, false);
}

static LLVMValueRef bytes_of(tj_emitter *emitter, const tj_run *run) {
  return LLVMBuildNUWMul(emitter->builder, run->count, int_of(emitter, run->to_bytes), "bytes");
}

static LLVMValueRef address_in(tj_emitter *emitter, LLVMValueRef base, LLVMValueRef offset) {
  return LLVMBuildInBoundsGEP2(emitter->builder, emitter->i8, base, &offset, 1, "");
}

/* --- fetching --- */

void tj_emit_prefetch(tj_emitter *emitter, LLVMValueRef address, bool to_write) {
  enum { SECOND_CACHE = 2, DATA = 1 };
  LLVMValueRef arguments[] = {address, LLVMConstInt(emitter->i32, to_write, false),
                              LLVMConstInt(emitter->i32, SECOND_CACHE, false),
                              LLVMConstInt(emitter->i32, DATA, false)};
  tj_emit_intrinsic(emitter, "llvm.prefetch", &emitter->pointer, 1, arguments, 4);
}

/* The run to come may be shorter. */
static void fetch_ahead(tj_emitter *emitter, const byte_run *r, LLVMValueRef at) {
  if (r->ahead != NULL)
    tj_emit_prefetch(emitter, LLVMBuildGEP2(emitter->builder, emitter->i8, r->ahead, &at, 1, ""), false);
}

/* --- parts of a vector --- */

static void copy_masked(tj_emitter *emitter, const byte_run *r, LLVMValueRef at, LLVMValueRef count) {
  LLVMBuilderRef builder = emitter->builder;
  LLVMValueRef all = LLVMConstAllOnes(emitter->i64), unused = int_of(emitter, MASKED_BYTES);
  LLVMValueRef bits = LLVMBuildLShr(builder, all, LLVMBuildSub(builder, unused, count, ""), "");
  LLVMValueRef mask = LLVMBuildBitCast(builder, bits, LLVMVectorType(emitter->i1, r->line), "mask");
  LLVMTypeRef overloads[] = {r->vector, emitter->pointer};
  LLVMValueRef loading[] = {address_in(emitter, r->from, at), mask, LLVMGetPoison(r->vector)};
  LLVMValueRef part = tj_emit_intrinsic(emitter, "llvm.masked.load", overloads, 2, loading, 3);
  LLVMValueRef storing[] = {part, address_in(emitter, r->to, at), mask};
  tj_emit_intrinsic(emitter, "llvm.masked.store", overloads, 2, storing, 3);
}

/* Copies 1 … line-1 bytes, or none, from `at` on. */
static void copy_part(tj_emitter *emitter, const byte_run *r, LLVMValueRef at, LLVMValueRef count) {
  LLVMBuilderRef builder = emitter->builder;
  LLVMBasicBlockRef part = tj_emit_block(emitter, "part"), after = tj_emit_block(emitter, "whole");
  LLVMValueRef has_any = LLVMBuildICmp(builder, LLVMIntNE, count, int_of(emitter, 0), "");
  LLVMBuildCondBr(builder, has_any, part, after);
  LLVMPositionBuilderAtEnd(builder, part);
  fetch_ahead(emitter, r, at);
  if (r->line == MASKED_BYTES)
    copy_masked(emitter, r, at, count);
  else
    LLVMBuildMemCpy(builder, address_in(emitter, r->to, at), 1, address_in(emitter, r->from, at), 1, count);
  LLVMBuildBr(builder, after);
  LLVMPositionBuilderAtEnd(builder, after);
}

/* --- whole vectors --- */

static void copy_vector(tj_emitter *emitter, const byte_run *r, LLVMValueRef at) {
  fetch_ahead(emitter, r, at);
  LLVMValueRef vector = LLVMBuildLoad2(emitter->builder, r->vector, address_in(emitter, r->from, at), "vector");
  LLVMSetAlignment(vector, 1);
  LLVMValueRef store = LLVMBuildStore(emitter->builder, vector, address_in(emitter, r->to, at));
  LLVMSetAlignment(store, r->is_streamed ? r->line : 1);
  if (r->is_streamed)
    tj_emit_streamed(emitter, store);
}

/* A loop whose number goes from `begin` by `step` to before `end`, unless they are one. */
typedef struct {
  LLVMValueRef begin, end, at;
  uint64_t step;
  LLVMBasicBlockRef before, body, after;
} counted;

static counted begin_loop(tj_emitter *emitter, LLVMValueRef begin, LLVMValueRef end, uint64_t step) {
  LLVMBuilderRef builder = emitter->builder;
  counted loop = {.begin = begin, .end = end, .step = step, .before = LLVMGetInsertBlock(builder)};
  loop.body = tj_emit_block(emitter, "run");
  loop.after = tj_emit_block(emitter, "ran");
  LLVMBuildCondBr(builder, LLVMBuildICmp(builder, LLVMIntULT, begin, end, ""), loop.body, loop.after);
  LLVMPositionBuilderAtEnd(builder, loop.body);
  loop.at = LLVMBuildPhi(builder, emitter->i64, "at");
  return loop;
}

static void end_loop(tj_emitter *emitter, const counted *loop) {
  LLVMBuilderRef builder = emitter->builder;
  LLVMBasicBlockRef last = LLVMGetInsertBlock(builder);
  LLVMValueRef next = LLVMBuildNUWAdd(builder, loop->at, int_of(emitter, loop->step), "");
  LLVMBuildCondBr(builder, LLVMBuildICmp(builder, LLVMIntULT, next, loop->end, ""), loop->body, loop->after);
  LLVMAddIncoming(loop->at, (LLVMValueRef[]){loop->begin, next}, (LLVMBasicBlockRef[]){loop->before, last}, 2);
  LLVMPositionBuilderAtEnd(builder, loop->after);
}

static void copy_vectors(tj_emitter *emitter, const byte_run *r, LLVMValueRef begin, LLVMValueRef end) {
  counted loop = begin_loop(emitter, begin, end, r->line);
  copy_vector(emitter, r, loop.at);
  end_loop(emitter, &loop);
}

/* --- runs --- */

void tj_emit_run(tj_emitter *emitter, const tj_run *run) {
  byte_run r = in_bytes(emitter, run, false);
  LLVMValueRef all = bytes_of(emitter, run), within = int_of(emitter, r.line - 1);
  LLVMValueRef tail = LLVMBuildAnd(emitter->builder, all, within, "tail");
  LLVMValueRef end = LLVMBuildSub(emitter->builder, all, tail, "end");
  copy_vectors(emitter, &r, int_of(emitter, 0), end);
  copy_part(emitter, &r, end, tail);
}

void tj_emit_stream(tj_emitter *emitter, const tj_run *run) {
  LLVMBuilderRef builder = emitter->builder;
  byte_run r = in_bytes(emitter, run, true);
  LLVMValueRef all = bytes_of(emitter, run), none = int_of(emitter, 0), within = int_of(emitter, r.line - 1);
  LLVMValueRef address = LLVMBuildPtrToInt(builder, r.to, emitter->i64, "");
  LLVMValueRef head = LLVMBuildAnd(builder, LLVMBuildSub(builder, none, address, ""), within, "head");
  head = tj_emit_binary_intrinsic(emitter, "llvm.umin", head, all);
  LLVMValueRef rest = LLVMBuildSub(builder, all, head, "");
  LLVMValueRef tail = LLVMBuildAnd(builder, rest, within, "tail");
  LLVMValueRef end = LLVMBuildSub(builder, all, tail, "");
  copy_part(emitter, &r, none, head);
  copy_vectors(emitter, &r, head, end);
  copy_part(emitter, &r, end, tail);
}

typedef struct {
  const tj_run *run;
  void (*emit)(tj_emitter *emitter, const tj_run_part *part, void *data);
  void *data;
} part_maker;

/* Elements `begin` to before `end`, so many at a time. */
static void emit_parts(tj_emitter *emitter, const part_maker *maker, LLVMValueRef begin, LLVMValueRef end,
                       uint32_t width, bool is_streamed) {
  const tj_run *run = maker->run;
  counted loop = begin_loop(emitter, begin, end, width);
  LLVMValueRef from = LLVMBuildNUWMul(emitter->builder, loop.at, int_of(emitter, run->from_bytes), "");
  LLVMValueRef to = LLVMBuildNUWMul(emitter->builder, loop.at, int_of(emitter, run->to_bytes), "");
  tj_run_part part = {address_in(emitter, run->to, to), address_in(emitter, run->from, from), width, is_streamed};
  maker->emit(emitter, &part, maker->data);
  end_loop(emitter, &loop);
}

/* How many elements come before the first that is aligned. */
static LLVMValueRef unaligned_elements(tj_emitter *emitter, const tj_run *run, uint32_t width) {
  LLVMBuilderRef builder = emitter->builder;
  LLVMValueRef address = LLVMBuildPtrToInt(builder, run->to, emitter->i64, "");
  LLVMValueRef within = int_of(emitter, (uint64_t)width * run->to_bytes - 1);
  LLVMValueRef bytes = LLVMBuildAnd(builder, LLVMBuildSub(builder, int_of(emitter, 0), address, ""), within, "");
  LLVMValueRef count = LLVMBuildUDiv(builder, bytes, int_of(emitter, run->to_bytes), "head");
  return tj_emit_binary_intrinsic(emitter, "llvm.umin", count, run->count);
}

void tj_emit_parts_of_run(tj_emitter *emitter, const tj_run *run, uint32_t width, bool is_streamed,
                          void (*emit)(tj_emitter *emitter, const tj_run_part *part, void *data), void *data) {
  LLVMBuilderRef builder = emitter->builder;
  part_maker maker = {run, emit, data};
  LLVMValueRef none = int_of(emitter, 0), head = none;
  if (is_streamed) {
    head = unaligned_elements(emitter, run, width);
    emit_parts(emitter, &maker, none, head, 1, false);
  }
  LLVMValueRef rest = LLVMBuildSub(builder, run->count, head, "");
  LLVMValueRef left = LLVMBuildAnd(builder, rest, int_of(emitter, width - 1), "left");
  LLVMValueRef end = LLVMBuildSub(builder, run->count, left, "");
  emit_parts(emitter, &maker, head, end, width, is_streamed);
  emit_parts(emitter, &maker, end, run->count, 1, false);
}
