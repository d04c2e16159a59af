/* SPDX-License-Identifier: MIT */
/* What one work-item does: its steps, each where it is valid.
 *
 * An access that is not valid must not happen at all, since its offset may be anywhere: it stands behind a branch.
 * Neighbouring steps with the same predicate share the branch, a gate, and so does between them what computes for
 * them alone; what they load and somebody after the gate needs is the fill where the gate was not entered.
 * Expressions are emitted before the gate. */
#include "lower/access/bounded.h"
#include "lower/access/slot_use.h"
#include "lower/emit/emit_array.h"
#include "lower/kernel/alignment.h"
#include "lower/kernel/arithmetic.h"
#include "lower/kernel/repeats.h"
#include "lower/steps/transpose.h"

#include <string.h>

/* --- conversions --- */

/* From the type of elements in one place to that in another, by the kernel's arithmetic. */
typedef struct {
  tj_dtype from, to;
  const tj_array *value; /* NULL: they are only converted */
} conversion;

/* What is computed of elements as they leave a buffer, or LDS, or enter it; NULL: nothing. Where they leave, it is
 * what all destinations get. */
static const tj_array *computed_at(const tj_emitter *emitter, const tj_access *access, bool loads) {
  const tj_arithmetic *arithmetic = &emitter->kernel->arithmetic;
  if (access->buffer == TJ_LDS || arithmetic->when != (loads ? TJ_COMPUTED_LOADING : TJ_COMPUTED_STORING))
    return NULL;
  return loads ? arithmetic->program->store[0].value : tj_arithmetic_value(emitter->kernel, access->buffer);
}

static conversion conversion_at(const tj_emitter *emitter, const tj_kernel_step *step) {
  tj_dtype dtype = tj_emit_access_dtype(emitter, &step->access);
  tj_dtype carried = tj_slot_dtype(emitter->kernel, step->slot);
  bool loads = step->kind == TJ_STEP_LOAD;
  return (conversion){loads ? dtype : carried, loads ? carried : dtype, computed_at(emitter, &step->access, loads)};
}

/* Whether bits become others on the way. */
static bool is_changed(conversion how) {
  bool is_raw = tj_dtype_class_of(how.from) == TJ_CLASS_BITS || tj_dtype_class_of(how.to) == TJ_CLASS_BITS;
  return how.value != NULL || (how.from != how.to && !is_raw);
}

static LLVMValueRef converted(tj_emitter *emitter, LLVMValueRef vector, uint32_t width, conversion how) {
  if (!is_changed(how))
    return vector;
  LLVMValueRef numbers = tj_emit_numbers(emitter, vector, how.from);
  if (how.value != NULL)
    return tj_emit_number_bits(emitter, tj_emit_arithmetic(emitter, how.value, &numbers, how.to), how.to);
  if (width == 1)
    return tj_emit_number_bits(emitter, tj_emit_converted(emitter, numbers, how.from, how.to), how.to);
  LLVMValueRef result = LLVMGetPoison(LLVMVectorType(tj_emit_number_type(emitter, how.to), width));
  for (uint32_t lane = 0; lane < width; lane++) {
    LLVMValueRef element = tj_emit_element_at(emitter, numbers, width, lane);
    LLVMValueRef number = tj_emit_converted(emitter, element, how.from, how.to);
    result = tj_emit_with_element(emitter, result, number, lane);
  }
  return tj_emit_number_bits(emitter, result, how.to);
}

/* --- accesses --- */

static void emit_prefetch(tj_emitter *emitter, const tj_kernel_step *step) {
  bool is_written = emitter->kernel->buffer[step->access.buffer].is_written;
  tj_emit_prefetch(emitter, tj_emit_address(emitter, &step->access), is_written);
}

static uint32_t bytes_of(const tj_emitter *emitter, const tj_kernel_step *step) {
  return step->width * tj_element_bytes(emitter->kernel, step->access.buffer);
}

/* Whether it mentions the workgroup's number, or what is bound to it. */
static bool is_of_workgroup(const tj_kernel *kernel, const tj_node *node) {
  if (node == NULL || kernel->workgroup == NULL)
    return false;
  uint32_t symbols = kernel->workgroup->symbols;
  for (uint32_t i = 0; i < kernel->binding_count; i++)
    symbols |= kernel->binding[i].is_launched ? 0 : kernel->binding[i].symbol->symbols;
  return (node->symbols & symbols) != 0;
}

/* Whether what is loaded is of the workgroup alone, or of few: caches keep it for those rather than what is stored.
 * What all workgroups load is kept in any case. */
static bool is_to_be_kept(const tj_emitter *emitter, const tj_kernel_step *step) {
  const tj_access *access = &step->access;
  uint32_t bytes = access->buffer == TJ_LDS ? 0 : bytes_of(emitter, step);
  return emitter->target->has_kept_loads && (bytes == 4 || bytes == 8 || bytes == 16) &&
         tj_step_alignment(emitter->kernel, step) >= bytes && !emitter->kernel->buffer[access->buffer].is_written &&
         (is_of_workgroup(emitter->kernel, access->base) || is_of_workgroup(emitter->kernel, access->offset));
}

static LLVMValueRef emit_plain_load(tj_emitter *emitter, const tj_kernel_step *step, LLVMTypeRef type) {
  if (is_to_be_kept(emitter, step)) {
    LLVMValueRef words = emitter->target->family->emit_kept_load(emitter, tj_emit_address(emitter, &step->access),
                                                                 bytes_of(emitter, step) / 4);
    return LLVMBuildBitCast(emitter->builder, words, type, "");
  }
  LLVMValueRef vector = LLVMBuildLoad2(emitter->builder, type, tj_emit_address(emitter, &step->access), "element");
  LLVMSetAlignment(vector, tj_step_alignment(emitter->kernel, step));
  tj_emit_lds_scope(emitter, step, vector);
  return vector;
}

static void emit_transposing_load(tj_emitter *emitter, const tj_kernel_step *step) {
  LLVMValueRef address = tj_emit_address(emitter, &step->access);
  unsigned bits = tj_dtype_bits(emitter->kernel->carried);
  tj_emit_give_slots(emitter, step, emitter->target->family->emit_transposing_load(emitter, address, bits));
}

/* What a load has brought, and where that was emitted. */
struct tj_loaded {
  const tj_kernel_step *step;
  LLVMValueRef vector;
  LLVMBasicBlockRef block;
  const struct tj_loaded *next;
};

static bool is_read_alone(const tj_emitter *emitter, const tj_access *access) {
  return access->buffer != TJ_LDS && !emitter->kernel->buffer[access->buffer].is_written;
}

/* What a load of the same phase and block has brought of a buffer that nobody writes, as prices count it
 * (lower/access/memory_access.c); NULL: none has been there. */
static LLVMValueRef find_loaded(const tj_emitter *emitter, const tj_kernel_step *step) {
  LLVMBasicBlockRef block = LLVMGetInsertBlock(emitter->builder);
  const struct tj_loaded *each = is_read_alone(emitter, &step->access) ? emitter->steps->loaded : NULL;
  while (each != NULL && (each->block != block || !tj_is_same_access(each->step, step)))
    each = each->next;
  return each != NULL ? each->vector : NULL;
}

static void keep_loaded(tj_emitter *emitter, const tj_kernel_step *step, LLVMValueRef vector) {
  struct tj_loaded *loaded = TJ_NEW(emitter->job, struct tj_loaded);
  *loaded = (struct tj_loaded){step, vector, LLVMGetInsertBlock(emitter->builder), emitter->steps->loaded};
  emitter->steps->loaded = loaded;
}

static void emit_load(tj_emitter *emitter, const tj_kernel_step *step) {
  if (step->transposes) {
    emit_transposing_load(emitter, step);
    return;
  }
  LLVMValueRef loaded = find_loaded(emitter, step);
  if (loaded != NULL) {
    tj_emit_give_slots(emitter, step, loaded);
    return;
  }
  LLVMTypeRef type = tj_emit_vector_type(emitter, tj_emit_access_dtype(emitter, &step->access), step->width);
  LLVMValueRef vector = step->access.is_bounded
                            ? tj_emit_bounded_load(emitter, &step->access, type, bytes_of(emitter, step))
                            : emit_plain_load(emitter, step, type);
  keep_loaded(emitter, step, vector);
  tj_emit_give_slots(emitter, step, vector);
}

/* What was loaded becomes what slots carry. */
static void emit_conversion(tj_emitter *emitter, const tj_kernel_step *step) {
  LLVMValueRef vector = emitter->steps->slot[step->slot].value;
  tj_emit_give_slots(emitter, step, converted(emitter, vector, step->width, conversion_at(emitter, step)));
}

static bool is_changing_load(const tj_emitter *emitter, const tj_kernel_step *step) {
  return step->kind == TJ_STEP_LOAD && !step->transposes && is_changed(conversion_at(emitter, step));
}

/* Bytes of registers in which what a work-item of a GPU has loaded waits to be converted: more where workgroups are
 * small, which all have to have theirs at once. */
static uint32_t most_waiting(const tj_emitter *emitter) {
  enum { MOST_BYTES = 512, MOST_OF_WORKGROUP = 256 * 1024 };
  if (emitter->target->wave_size == 1)
    return UINT32_MAX;
  const uint32_t share = MOST_OF_WORKGROUP / emitter->kernel->workgroup_size;
  return share < MOST_BYTES ? share : MOST_BYTES;
}

/* Loads that follow each other first, so that they are on their way together, on GPUs as many as have registers; then
 * one vector after the other: LLVM, which puts instructions in the order that it takes for the best, takes more time
 * for each the more there are. */
static uint32_t emit_changing_loads(tj_emitter *emitter, const tj_kernel_step step[], uint32_t most) {
  const uint32_t most_bytes = most_waiting(emitter);
  uint32_t count = 0, bytes = 0;
  for (; count < most && bytes < most_bytes && is_changing_load(emitter, &step[count]); count++) {
    emit_load(emitter, &step[count]);
    bytes += step[count].width * tj_element_bytes(emitter->kernel, step[count].access.buffer);
  }
  for (uint32_t i = 0; i < count; i++) {
    if (i > 0 && emitter->target->family->emit_boundary != NULL)
      emitter->target->family->emit_boundary(emitter);
    emit_conversion(emitter, &step[i]);
  }
  return count;
}

enum { STREAMED_BYTES = 16 /* of a store that may bypass the caches, at least */ };

/* What a store makes of the slots of several sources. */
static LLVMValueRef joined(tj_emitter *emitter, const tj_kernel_step *step) {
  const tj_arithmetic *arithmetic = &emitter->kernel->arithmetic;
  tj_dtype to = tj_emit_access_dtype(emitter, &step->access);
  LLVMValueRef *numbers = TJ_NEW_ARRAY(emitter->job, LLVMValueRef, arithmetic->count);
  tj_kernel_step of = *step;
  for (uint32_t i = 0; i < arithmetic->count; i++, of.slot += arithmetic->slots)
    numbers[i] = tj_emit_numbers(emitter, tj_emit_step_slots(emitter, &of), tj_slot_dtype(emitter->kernel, of.slot));
  const tj_array *value = tj_arithmetic_value(emitter->kernel, step->access.buffer);
  return tj_emit_number_bits(emitter, tj_emit_arithmetic(emitter, value, numbers, to), to);
}

/* Puts the sum of an f32 and what is in memory there until nobody else has changed that meanwhile. */
static void emit_sum_by_exchange(tj_emitter *emitter, LLVMValueRef address, LLVMValueRef number, unsigned scope) {
  LLVMBuilderRef builder = emitter->builder;
  LLVMValueRef first = LLVMBuildLoad2(builder, emitter->i32, address, "before");
  LLVMBasicBlockRef before = LLVMGetInsertBlock(builder), again = tj_emit_block(emitter, "again"),
                    done = tj_emit_block(emitter, "added");
  LLVMBuildBr(builder, again);
  LLVMPositionBuilderAtEnd(builder, again);
  LLVMValueRef old = LLVMBuildPhi(builder, emitter->i32, "old");
  LLVMValueRef sum = LLVMBuildFAdd(builder, LLVMBuildBitCast(builder, old, emitter->f32, ""), number, "");
  LLVMValueRef exchanged =
      LLVMBuildAtomicCmpXchgSyncScope(builder, address, old, LLVMBuildBitCast(builder, sum, emitter->i32, ""),
                                      LLVMAtomicOrderingMonotonic, LLVMAtomicOrderingMonotonic, scope);
  LLVMValueRef found = LLVMBuildExtractValue(builder, exchanged, 0, "");
  LLVMAddIncoming(old, &first, &before, 1);
  LLVMAddIncoming(old, &found, &again, 1);
  LLVMBuildCondBr(builder, LLVMBuildExtractValue(builder, exchanged, 1, ""), done, again);
  LLVMPositionBuilderAtEnd(builder, done);
}

/* Adds an element to what is in memory, at once with other work-items. */
static void emit_sum(tj_emitter *emitter, const tj_kernel_step *step, LLVMValueRef bits) {
  tj_dtype dtype = tj_emit_access_dtype(emitter, &step->access);
  const char *name = emitter->target->family->device_scope;
  unsigned scope = LLVMGetSyncScopeID(emitter->context, name, strlen(name));
  bool is_float = tj_dtype_class_of(dtype) == TJ_CLASS_FLOAT;
  LLVMValueRef number = tj_emit_numbers(emitter, bits, dtype), address = tj_emit_address(emitter, &step->access);
  if (is_float && !emitter->target->has_float_sums)
    emit_sum_by_exchange(emitter, address, number, scope);
  else
    LLVMBuildAtomicRMWSyncScope(emitter->builder, is_float ? LLVMAtomicRMWBinOpFAdd : LLVMAtomicRMWBinOpAdd, address,
                                number, LLVMAtomicOrderingMonotonic, scope);
}

/* So that stores may happen in any order, LLVM compares each to LDS with those before it, by all that it knows of
 * their addresses, which takes more time than anything else about them. Atomic ones it leaves as they come; of less
 * than a word, they are not from the upper half of a register, which others take as it is. */
static bool is_better_atomic(const tj_emitter *emitter, const tj_kernel_step *step) {
  enum { LEAST_ATOMIC_BYTES = 4, MOST_ATOMIC_BYTES = 8 };
  uint32_t bytes = bytes_of(emitter, step);
  return step->access.buffer == TJ_LDS && step->width == 1 && bytes >= LEAST_ATOMIC_BYTES &&
         bytes <= MOST_ATOMIC_BYTES && emitter->target->has_plain_atomic_stores;
}

static void emit_store(tj_emitter *emitter, const tj_kernel_step *step) {
  bool joins = emitter->kernel->arithmetic.slots > 0 && step->access.buffer != TJ_LDS;
  tj_emit_transposed(emitter, step);
  LLVMValueRef vector =
      joins ? joined(emitter, step)
            : converted(emitter, tj_emit_step_slots(emitter, step), step->width, conversion_at(emitter, step));
  if (step->adds) {
    emit_sum(emitter, step, vector);
    return;
  }
  uint32_t alignment = tj_step_alignment(emitter->kernel, step);
  bool is_streamed = tj_step_is_streamed(emitter->kernel, step) && alignment >= STREAMED_BYTES;
  if (step->access.is_bounded) {
    tj_emit_bounded_store(emitter, &step->access, vector, bytes_of(emitter, step), is_streamed);
    return;
  }
  LLVMValueRef store = LLVMBuildStore(emitter->builder, vector, tj_emit_address(emitter, &step->access));
  LLVMSetAlignment(store, alignment);
  if (is_better_atomic(emitter, step))
    LLVMSetOrdering(store, LLVMAtomicOrderingUnordered);
  if (is_streamed)
    tj_emit_streamed(emitter, store);
}

/* Elements of a run that are converted on their way. */
static void emit_run_part(tj_emitter *emitter, const tj_run_part *part, void *data) {
  const tj_kernel_step *step = data;
  tj_dtype from = tj_emit_access_dtype(emitter, &step->from), to = tj_emit_access_dtype(emitter, &step->access);
  tj_dtype carried = emitter->kernel->carried;
  conversion loading = {from, carried, computed_at(emitter, &step->from, true)};
  conversion storing = {carried, to, computed_at(emitter, &step->access, false)};
  LLVMTypeRef type = tj_emit_vector_type(emitter, from, part->width);
  LLVMValueRef elements = LLVMBuildLoad2(emitter->builder, type, part->from, "elements");
  LLVMSetAlignment(elements, tj_dtype_bits(from) / 8);
  elements = converted(emitter, converted(emitter, elements, part->width, loading), part->width, storing);
  LLVMValueRef store = LLVMBuildStore(emitter->builder, elements, part->to);
  LLVMSetAlignment(store, tj_dtype_bits(to) / 8 * (part->is_streamed ? part->width : 1));
  if (part->is_streamed)
    tj_emit_streamed(emitter, store);
}

/* As many elements as registers hold of the widest type on their way. */
static uint32_t run_width(const tj_emitter *emitter, const tj_run *run) {
  enum { ARITHMETIC_BYTES = 4 };
  uint32_t bytes = run->from_bytes > run->to_bytes ? run->from_bytes : run->to_bytes;
  return emitter->target->block_bytes / (bytes > ARITHMETIC_BYTES ? bytes : ARITHMETIC_BYTES);
}

/* Whether elements become others on their way. */
static bool is_converted(const tj_emitter *emitter, const tj_kernel_step *step) {
  const tj_kernel *kernel = emitter->kernel;
  return tj_emit_access_dtype(emitter, &step->from) != kernel->carried ||
         tj_emit_access_dtype(emitter, &step->access) != kernel->carried ||
         computed_at(emitter, &step->from, true) != NULL || computed_at(emitter, &step->access, false) != NULL;
}

static void emit_run(tj_emitter *emitter, const tj_kernel_step *step) {
  tj_run run = {.to = tj_emit_address(emitter, &step->access),
                .from = tj_emit_address(emitter, &step->from),
                .ahead = step->ahead.offset != NULL ? tj_emit_address(emitter, &step->ahead) : NULL,
                .count = tj_emit_operand(emitter, step->limit, (tj_width){64, true, true}),
                .from_bytes = tj_dtype_bits(tj_emit_access_dtype(emitter, &step->from)) / 8,
                .to_bytes = tj_dtype_bits(tj_emit_access_dtype(emitter, &step->access)) / 8};
  if (is_converted(emitter, step))
    tj_emit_parts_of_run(emitter, &run, run_width(emitter, &run),
                         emitter->kernel->is_streamed && step->access.buffer != TJ_LDS, emit_run_part, (void *)step);
  else if (emitter->kernel->is_streamed && step->access.buffer != TJ_LDS)
    tj_emit_stream(emitter, &run);
  else
    tj_emit_run(emitter, &run);
}

/* The value of an expression as an element of the carried type: its low bits, or the nearest float. */
static void emit_value(tj_emitter *emitter, const tj_kernel_step *step) {
  tj_dtype to = tj_slot_dtype(emitter->kernel, step->slot);
  tj_width width = tj_width_of(&step->value, 1);
  LLVMValueRef value = tj_emit_operand(emitter, step->value, width);
  if (tj_dtype_class_of(to) == TJ_CLASS_BITS) {
    value = LLVMBuildIntCast2(emitter->builder, value, tj_emit_raw_type(emitter, to), width.is_signed, "");
  } else {
    tj_dtype narrow = width.is_signed ? TJ_DTYPE_i32 : TJ_DTYPE_u32;
    value = tj_emit_converted(emitter, value, width.bits == 32 ? narrow : TJ_DTYPE_i64, to);
    value = tj_emit_number_bits(emitter, value, to);
  }
  tj_emit_give_slots(emitter, step, value);
}

/* --- looking up --- */

/* The element as an integer of 64 bits; those beyond 2^63 are as good as negative ones. */
static LLVMValueRef emit_integer(tj_emitter *emitter, const tj_kernel_step *step) {
  tj_dtype dtype = tj_emit_access_dtype(emitter, &step->access);
  LLVMValueRef element = LLVMBuildLoad2(emitter->builder, tj_emit_raw_type(emitter, dtype),
                                        tj_emit_address(emitter, &step->access), "index");
  LLVMSetAlignment(element, tj_step_alignment(emitter->kernel, step));
  return LLVMBuildIntCast2(emitter->builder, element, emitter->i64, tj_dtype_class_of(dtype) == TJ_CLASS_SIGNED, "");
}

/* The element, or the limit where it is none of the integers below that. */
static LLVMValueRef emit_limited(tj_emitter *emitter, const tj_kernel_step *step, LLVMValueRef limit) {
  LLVMValueRef element = emit_integer(emitter, step);
  LLVMValueRef is_below = LLVMBuildICmp(emitter->builder, LLVMIntULT, element, limit, "");
  return LLVMBuildSelect(emitter->builder, is_below, element, limit, "");
}

static LLVMValueRef emit_gated_lookup(tj_emitter *emitter, const tj_kernel_step *step, LLVMValueRef limit) {
  tj_emit_origin(emitter, &step->access);
  LLVMValueRef valid = tj_emit_truth(emitter, step->access.valid);
  LLVMBasicBlockRef before = LLVMGetInsertBlock(emitter->builder);
  LLVMBasicBlockRef inside = tj_emit_block(emitter, "lookup"), after = tj_emit_block(emitter, "found");
  LLVMBuildCondBr(emitter->builder, valid, inside, after);
  LLVMPositionBuilderAtEnd(emitter->builder, inside);
  tj_emit_keep_branch(emitter, step, 1);
  LLVMValueRef element = emit_limited(emitter, step, limit);
  LLVMBuildBr(emitter->builder, after);
  LLVMPositionBuilderAtEnd(emitter->builder, after);
  LLVMValueRef found = LLVMBuildPhi(emitter->builder, emitter->i64, "index");
  LLVMAddIncoming(found, &element, &inside, 1);
  LLVMAddIncoming(found, &limit, &before, 1);
  return found;
}

static void emit_lookup(tj_emitter *emitter, const tj_kernel_step *step) {
  LLVMValueRef limit = tj_emit_operand(emitter, step->limit, (tj_width){64, true, true});
  LLVMValueRef found =
      tj_is_always(step->access.valid) ? emit_limited(emitter, step, limit) : emit_gated_lookup(emitter, step, limit);
  tj_width width = tj_width_of(&step->value, 1);
  if (width.bits == 32)
    found = LLVMBuildTrunc(emitter->builder, found, emitter->i32, "");
  tj_emit_looked_up(emitter, step->value, found);
}

/* --- gates --- */

static LLVMValueRef fill_of(tj_emitter *emitter, const tj_kernel_step *load, bool is_used) {
  const tj_kernel *kernel = emitter->kernel;
  conversion how = conversion_at(emitter, load);
  if (!is_used)
    return LLVMGetPoison(load->width == 1 ? tj_emit_raw_type(emitter, how.to)
                                          : tj_emit_vector_type(emitter, how.to, load->width));
  LLVMValueRef element = converted(emitter, tj_emit_element(emitter, kernel->fill, how.from), 1, how);
  if (load->width == 1)
    return element;
  LLVMValueRef vector = LLVMGetPoison(tj_emit_vector_type(emitter, how.to, load->width));
  for (uint32_t lane = 0; lane < load->width; lane++)
    vector = tj_emit_with_element(emitter, vector, element, lane);
  return vector;
}

/* What a load gives behind a gate, and on the way around it. */
typedef struct {
  LLVMValueRef loaded, fill;
  LLVMBasicBlockRef inside, before;
} gated;

/* After a gate, loaded slots are the fill on the way around it; stores before the gate's end have taken theirs. */
static void merge_slots(tj_emitter *emitter, const tj_kernel_step *load, gated values) {
  LLVMValueRef merged = LLVMBuildPhi(emitter->builder, LLVMTypeOf(values.loaded), "element");
  LLVMAddIncoming(merged, &values.loaded, &values.inside, 1);
  LLVMAddIncoming(merged, &values.fill, &values.before, 1);
  tj_emit_give_slots(emitter, load, merged);
}

static void emit_step(tj_emitter *emitter, const tj_kernel_step *step) {
  switch (step->kind) {
  case TJ_STEP_VALUE:
    emit_value(emitter, step);
    break;
  case TJ_STEP_LOAD:
    emit_load(emitter, step);
    break;
  case TJ_STEP_STORE:
    emit_store(emitter, step);
    break;
  case TJ_STEP_LOOKUP:
    emit_lookup(emitter, step);
    break;
  case TJ_STEP_RUN:
    emit_run(emitter, step);
    break;
  case TJ_STEP_DIRECT:
    tj_emit_direct(emitter, step);
    break;
  case TJ_STEP_PREFETCH:
    emit_prefetch(emitter, step);
    break;
  case TJ_STEP_COMPUTE:
    tj_emit_give_slots(emitter, step, tj_emit_computed(emitter, step));
    break;
  case TJ_STEP_BOX:
    tj_emit_box(emitter, step);
    break;
  case TJ_STEP_EXCHANGE:
    tj_emit_exchange(emitter, step);
    break;
  case TJ_STEP_LOOP:
    tj_emit_begin_trips(emitter, step);
    break;
  case TJ_STEP_AGAIN:
    tj_emit_end_trips(emitter);
    break;
  case TJ_STEP_BARRIER:
    break;
  }
}

/* Emits a step, or several loads. Returns how many. */
static uint32_t emit_some(tj_emitter *emitter, const tj_kernel_step step[], uint32_t count) {
  uint32_t loads = emit_changing_loads(emitter, step, count);
  if (loads > 0)
    return loads;
  emit_step(emitter, step);
  return 1;
}

/* Loads straight into LDS come before what stands behind them: barriers count on that. */
static void emit_each(tj_emitter *emitter, const tj_kernel_step step[], uint32_t count) {
  for (uint32_t i = 0; i < count;) {
    if (i > 0 && step[i - 1].kind == TJ_STEP_DIRECT && step[i].kind != TJ_STEP_DIRECT)
      emitter->target->family->emit_boundary(emitter);
    i += emit_some(emitter, &step[i], count - i);
  }
}

/* Emits steps behind a gate; returns what each load gave. Slots are then what they were before: stores may have
 * turned them around, in a place that does not come before others. */
static LLVMValueRef *emit_inside(tj_emitter *emitter, const tj_kernel_step step[], uint32_t count) {
  LLVMValueRef *loaded = TJ_NEW_ARRAY(emitter->job, LLVMValueRef, count);
  size_t slots = emitter->kernel->slot_count * sizeof *emitter->steps->slot;
  tj_slot_value *before = tj_arena_copy(&emitter->job->arena, emitter->steps->slot, slots);
  for (uint32_t i = 0; i < count;) {
    for (uint32_t last = i + emit_some(emitter, &step[i], count - i); i < last; i++)
      loaded[i] = step[i].kind == TJ_STEP_LOAD ? emitter->steps->slot[step[i].slot].value : NULL;
  }
  memcpy(emitter->steps->slot, before, slots);
  return loaded;
}

/* What accesses behind a gate share with others stands before it. */
static void emit_origins_of(tj_emitter *emitter, const tj_kernel_step step[], uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (tj_step_has_access(&step[i]))
      tj_emit_origin(emitter, &step[i].access);
    if (tj_step_has_two_places(&step[i]))
      tj_emit_origin(emitter, &step[i].from);
  }
}

static bool give_slots_of(const tj_kernel *kernel, const tj_kernel_step *store, const tj_kernel_step step[],
                          uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (tj_gives_slots(&step[i]) && tj_shares_slots(kernel, &step[i], store))
      return true;
  }
  return false;
}

/* What stores behind a gate turn around, and vectors of words for LDS, stand before it, so that they are there for
 * other gates. */
static void emit_transposed_of(tj_emitter *emitter, const tj_kernel_step step[], uint32_t count) {
  enum { WORD_BITS = 32 };
  for (uint32_t i = 0; i < count; i++) {
    if (step[i].kind != TJ_STEP_STORE || give_slots_of(emitter->kernel, &step[i], step, count))
      continue;
    tj_emit_transposed(emitter, &step[i]);
    if (step[i].access.buffer == TJ_LDS && tj_dtype_bits(emitter->kernel->carried) >= WORD_BITS)
      tj_emit_give_slots(emitter, &step[i], tj_emit_step_slots(emitter, &step[i]));
  }
}

/* Steps begin … end-1 of a phase, which are valid together. */
static void emit_gated(tj_emitter *emitter, tj_phase phase, uint32_t begin, uint32_t end) {
  const tj_kernel_step *step = phase.step;
  uint32_t left = phase.count + phase.following - end;
  LLVMValueRef *fill = TJ_NEW_ARRAY(emitter->job, LLVMValueRef, end - begin);
  for (uint32_t i = begin; i < end; i++) {
    if (step[i].kind == TJ_STEP_LOAD && tj_is_slot_used(emitter->kernel, &step[i], step + end, left))
      fill[i - begin] = fill_of(emitter, &step[i], tj_is_fill_used(emitter->kernel, &step[i], step + end, left));
  }
  emit_origins_of(emitter, step + begin, end - begin);
  emit_transposed_of(emitter, step + begin, end - begin);
  LLVMValueRef valid = tj_emit_truth(emitter, step[begin].access.valid);
  LLVMBasicBlockRef before = LLVMGetInsertBlock(emitter->builder);
  LLVMBasicBlockRef inside = tj_emit_block(emitter, "valid"), after = tj_emit_block(emitter, "after");
  LLVMBuildCondBr(emitter->builder, valid, inside, after);
  LLVMPositionBuilderAtEnd(emitter->builder, inside);
  tj_emit_keep_branch(emitter, step + begin, end - begin);
  LLVMValueRef *loaded = emit_inside(emitter, step + begin, end - begin);
  inside = LLVMGetInsertBlock(emitter->builder);
  LLVMBuildBr(emitter->builder, after);
  LLVMPositionBuilderAtEnd(emitter->builder, after);
  for (uint32_t i = begin; i < end; i++) {
    if (fill[i - begin] != NULL)
      merge_slots(emitter, &step[i], (gated){loaded[i - begin], fill[i - begin], inside, before});
  }
}

/* --- phases --- */

/* What a step has to be gated by: NULL where it happens always, or where its mask is the resource's. */
static const tj_node *predicate_of(const tj_kernel_step *step) {
  return tj_step_has_access(step) && !step->access.is_bounded ? step->access.valid : NULL;
}

/* Whether what a step needs is not there before those before it have happened. */
static bool begins_alone(const tj_kernel_step *step) {
  return step->kind == TJ_STEP_LOOKUP || step->kind == TJ_STEP_LOOP || step->kind == TJ_STEP_AGAIN;
}

/* Whether two steps may stand behind one branch. What is looked up is looked up before others need it. */
static bool have_one_gate(const tj_kernel_step *a, const tj_kernel_step *b) {
  if (begins_alone(a) || begins_alone(b))
    return false;
  return predicate_of(a) == predicate_of(b) || (tj_is_always(predicate_of(a)) && tj_is_always(predicate_of(b)));
}

/* Resources begin at a part of a base, and scalars add the others. */
static void mark_base(tj_emitter *emitter, const tj_access *access, bool *mark) {
  tj_base_parts base = {.anchor = access->base};
  if (access->is_bounded)
    base = tj_split_base(access->base);
  tj_kernel_nodes_mark(&emitter->nodes, base.anchor, mark);
  for (uint32_t i = 0; i < base.count; i++)
    tj_kernel_nodes_mark(&emitter->nodes, base.part[i], mark);
}

static void emit_nodes_of(tj_emitter *emitter, const tj_kernel_step step[], uint32_t count) {
  bool *mark = TJ_NEW_ARRAY(emitter->job, bool, emitter->nodes.walk.count);
  for (uint32_t i = 0; i < count; i++) {
    tj_kernel_nodes_mark(&emitter->nodes, step[i].value, mark);
    tj_kernel_nodes_mark(&emitter->nodes, step[i].limit, mark);
    tj_kernel_nodes_mark(&emitter->nodes, step[i].access.valid, mark);
    mark_base(emitter, &step[i].access, mark);
    tj_kernel_nodes_mark(&emitter->nodes, step[i].access.offset, mark);
    tj_kernel_nodes_mark(&emitter->nodes, step[i].from.base, mark);
    tj_kernel_nodes_mark(&emitter->nodes, step[i].from.offset, mark);
    tj_kernel_nodes_mark(&emitter->nodes, step[i].ahead.base, mark);
    tj_kernel_nodes_mark(&emitter->nodes, step[i].ahead.offset, mark);
    for (uint32_t k = 0; k < step[i].word_count; k++)
      tj_kernel_nodes_mark(&emitter->nodes, step[i].word[k], mark);
  }
  tj_kernel_nodes_spread(&emitter->nodes, mark);
  tj_emit_marked_nodes(emitter, mark);
}

/* Of steps that are never valid, loads still give the fill. */
static void emit_fills(tj_emitter *emitter, const tj_kernel_step step[], uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (step[i].kind == TJ_STEP_LOAD)
      tj_emit_give_slots(emitter, &step[i], fill_of(emitter, &step[i], true));
  }
}

tj_phase tj_emit_phase(const tj_kernel_step steps[], uint32_t begin, uint32_t count) {
  uint32_t end = begin;
  while (end < count && steps[end].kind != TJ_STEP_BARRIER)
    end++;
  return (tj_phase){steps + begin, end - begin, count - end};
}

/* Whether a step may stand behind a gate of others: it computes what only they may need. */
static bool is_private(const tj_kernel_step *step) {
  return step->kind == TJ_STEP_VALUE ||
         (step->kind == TJ_STEP_COMPUTE && step->compute->across == 0 && tj_is_always(step->access.valid));
}

/* The end of the gate that begins with a step: behind its last access with that mask before another. */
static uint32_t end_with(const tj_phase *phase, uint32_t first, uint32_t most) {
  const tj_kernel_step *step = phase->step;
  uint32_t end = first + 1;
  for (uint32_t i = end; i < most && (is_private(&step[i]) || have_one_gate(&step[first], &step[i])); i++)
    end = is_private(&step[i]) ? end : i + 1;
  return end;
}

/* The first of a gate's steps that gives what others need, too, though it has not its mask; its end: none does. */
static uint32_t first_needed(const tj_emitter *emitter, const tj_phase *phase, uint32_t first, uint32_t end) {
  const tj_kernel_step *step = phase->step;
  uint32_t left = phase->count + phase->following - end;
  while (first < end &&
         (!is_private(&step[first]) || !tj_is_slot_used(emitter->kernel, &step[first], step + end, left)))
    first++;
  return first;
}

static uint32_t end_of_gate(const tj_emitter *emitter, const tj_phase *phase, uint32_t first) {
  uint32_t end = end_with(phase, first, phase->count), needed;
  while ((needed = first_needed(emitter, phase, first, end)) < end)
    end = end_with(phase, first, needed);
  return end;
}

static uint32_t end_of_open(const tj_phase *phase, uint32_t first) {
  uint32_t end = first + 1;
  while (end < phase->count && have_one_gate(&phase->step[first], &phase->step[end]))
    end++;
  return end;
}

void tj_emit_steps(tj_emitter *emitter, tj_phase phase) {
  const tj_kernel_step *step = phase.step;
  emitter->steps->loaded = NULL;
  for (uint32_t first = 0, last; first < phase.count; first = last) {
    last =
        tj_is_always(predicate_of(&step[first])) ? end_of_open(&phase, first) : end_of_gate(emitter, &phase, first);
    emit_nodes_of(emitter, step + first, last - first);
    if (step[first].kind == TJ_STEP_LOOKUP || tj_is_always(predicate_of(&step[first])))
      emit_each(emitter, step + first, last - first);
    else if (tj_is_int(predicate_of(&step[first]), 0))
      emit_fills(emitter, step + first, last - first);
    else
      emit_gated(emitter, phase, first, last);
  }
}

/* --- tiles --- */

tj_tile_branch tj_emit_begin_inner(tj_emitter *emitter) {
  if (emitter->kernel->inner == NULL)
    return (tj_tile_branch){NULL, NULL};
  LLVMBasicBlockRef inner = tj_emit_block(emitter, "inner");
  tj_tile_branch branch = {tj_emit_block(emitter, "edge"), tj_emit_block(emitter, "end")};
  LLVMBuildCondBr(emitter->builder, tj_emit_truth(emitter, emitter->kernel->inner), inner, branch.edge);
  LLVMPositionBuilderAtEnd(emitter->builder, inner);
  return branch;
}

void tj_emit_begin_edge(tj_emitter *emitter, const tj_tile_branch *branch) {
  if (branch->edge == NULL)
    return;
  LLVMBuildBr(emitter->builder, branch->end);
  LLVMPositionBuilderAtEnd(emitter->builder, branch->edge);
}

void tj_emit_end_tile(tj_emitter *emitter, const tj_tile_branch *branch) {
  if (branch->end == NULL)
    return;
  LLVMBuildBr(emitter->builder, branch->end);
  LLVMPositionBuilderAtEnd(emitter->builder, branch->end);
}
