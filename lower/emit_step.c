/* What one work-item does: its steps, each where it is valid.
 *
 * An access that is not valid must not happen at all, since its offset may be anywhere: it stands behind a branch.
 * Neighbouring steps with the same predicate share the branch, a gate; what they load and somebody after the gate
 * needs is the fill where the gate was not entered. Expressions are emitted before the gate. */
#include "lower/emit.h"

/* --- vectors and slots --- */

static LLVMTypeRef vector_type(tj_emitter *emitter, tj_dtype dtype, uint32_t width) {
  LLVMTypeRef element = tj_emit_dtype(emitter, dtype);
  return width == 1 ? element : LLVMVectorType(element, width);
}

static LLVMValueRef element_at(tj_emitter *emitter, LLVMValueRef vector, uint32_t width, uint32_t lane) {
  if (width == 1)
    return vector;
  return LLVMBuildExtractElement(emitter->builder, vector, LLVMConstInt(emitter->i32, lane, false), "");
}

static LLVMValueRef with_element(tj_emitter *emitter, LLVMValueRef vector, LLVMValueRef element, uint32_t lane) {
  return LLVMBuildInsertElement(emitter->builder, vector, element, LLVMConstInt(emitter->i32, lane, false), "");
}

static LLVMValueRef converted(tj_emitter *emitter, LLVMValueRef vector, uint32_t width, tj_dtype from, tj_dtype to) {
  if (from == to || width == 1)
    return tj_emit_convert(emitter, vector, from, to);
  LLVMValueRef result = LLVMGetPoison(vector_type(emitter, to, width));
  for (uint32_t lane = 0; lane < width; lane++) {
    LLVMValueRef element = tj_emit_convert(emitter, element_at(emitter, vector, width, lane), from, to);
    result = with_element(emitter, result, element, lane);
  }
  return result;
}

static void set_slots(tj_emitter *emitter, const tj_kernel_step *step, LLVMValueRef vector) {
  for (uint32_t lane = 0; lane < step->width; lane++)
    emitter->slot[step->slot + lane * step->slot_step] = (tj_slot_value){vector, step->width, lane};
}

/* Whether the step's slots are one loaded vector, in its order. */
static bool is_whole_vector(const tj_emitter *emitter, const tj_kernel_step *step) {
  const tj_slot_value *first = &emitter->slot[step->slot];
  for (uint32_t lane = 0; lane < step->width; lane++) {
    const tj_slot_value *slot = &emitter->slot[step->slot + lane * step->slot_step];
    if (slot->value != first->value || slot->width != step->width || slot->lane != lane)
      return false;
  }
  return true;
}

static LLVMValueRef gathered(tj_emitter *emitter, const tj_kernel_step *step) {
  if (is_whole_vector(emitter, step))
    return emitter->slot[step->slot].value;
  LLVMValueRef vector =
      step->width == 1 ? NULL : LLVMGetPoison(vector_type(emitter, emitter->kernel->carried, step->width));
  for (uint32_t lane = 0; lane < step->width; lane++) {
    const tj_slot_value *slot = &emitter->slot[step->slot + lane * step->slot_step];
    LLVMValueRef element = element_at(emitter, slot->value, slot->width, slot->lane);
    vector = step->width == 1 ? element : with_element(emitter, vector, element, lane);
  }
  return vector;
}

/* --- accesses --- */

static tj_dtype dtype_of(const tj_emitter *emitter, const tj_access *access) {
  const tj_kernel *kernel = emitter->kernel;
  return access->buffer == TJ_LDS ? kernel->carried : kernel->buffer[access->buffer].dtype;
}

static unsigned log2_of(uint32_t power) {
  return (unsigned)__builtin_ctz(power);
}

/* Where the byte offset fits in 32 bits, it is computed there: machines add it to a base for nothing. */
static LLVMValueRef emit_address(tj_emitter *emitter, const tj_access *access) {
  bool is_lds = access->buffer == TJ_LDS;
  LLVMValueRef base = is_lds ? emitter->lds : emitter->buffer[access->buffer];
  tj_dtype dtype = dtype_of(emitter, access);
  uint32_t bytes = tj_dtype_bits(dtype) / 8;
  LLVMTypeRef type = tj_emit_dtype(emitter, dtype);
  const tj_facts *facts = &access->offset->facts;
  bool is_small = facts->low >= 0 && facts->high <= (int64_t)(UINT32_MAX / bytes);
  tj_width width = tj_width_of(&access->offset, 1);
  if (!is_small)
    width = (tj_width){64, true, facts->low >= 0};
  LLVMValueRef offset = tj_emit_operand(emitter, access->offset, width);
  if (is_small && (is_lds || emitter->target->has_32_bit_offsets)) {
    offset = LLVMBuildShl(emitter->builder, offset, LLVMConstInt(emitter->i32, log2_of(bytes), false), "");
    tj_emit_no_wrap(offset, (tj_width){32, false, true});
    type = emitter->i8;
  }
  if (!is_lds)
    offset = facts->low < 0 ? offset : tj_emit_extended(emitter, offset, emitter->i64);
  return LLVMBuildInBoundsGEP2(emitter->builder, type, base, &offset, 1, "");
}

/* Of the address, as far as the offset's facts show, and no more than the access has use for. */
static unsigned alignment_of(const tj_emitter *emitter, const tj_kernel_step *step) {
  uint32_t bytes = tj_dtype_bits(dtype_of(emitter, &step->access)) / 8, elements = 1;
  while (elements < step->width && tj_facts_divisible(&step->access.offset->facts, 2 * (int64_t)elements))
    elements *= 2;
  return bytes * elements;
}

static void emit_load(tj_emitter *emitter, const tj_kernel_step *step) {
  const tj_kernel *kernel = emitter->kernel;
  tj_dtype from = dtype_of(emitter, &step->access);
  LLVMTypeRef type = vector_type(emitter, from, step->width);
  LLVMValueRef vector = LLVMBuildLoad2(emitter->builder, type, emit_address(emitter, &step->access), "element");
  LLVMSetAlignment(vector, alignment_of(emitter, step));
  set_slots(emitter, step, converted(emitter, vector, step->width, from, kernel->carried));
}

static void emit_store(tj_emitter *emitter, const tj_kernel_step *step) {
  LLVMValueRef vector = gathered(emitter, step);
  vector = converted(emitter, vector, step->width, emitter->kernel->carried, dtype_of(emitter, &step->access));
  LLVMValueRef store = LLVMBuildStore(emitter->builder, vector, emit_address(emitter, &step->access));
  LLVMSetAlignment(store, alignment_of(emitter, step));
}

/* The value of an expression as an element of the carried type: its low bits, or the nearest float. */
static void emit_value(tj_emitter *emitter, const tj_kernel_step *step) {
  tj_dtype to = emitter->kernel->carried;
  tj_width width = tj_width_of(&step->value, 1);
  LLVMValueRef value = tj_emit_operand(emitter, step->value, width);
  if (tj_dtype_class_of(to) == TJ_CLASS_BITS) {
    value = LLVMBuildIntCast2(emitter->builder, value, tj_emit_dtype(emitter, to), width.is_signed, "");
  } else {
    tj_dtype narrow = width.is_signed ? TJ_DTYPE_i32 : TJ_DTYPE_u32;
    value = tj_emit_convert(emitter, value, width.bits == 32 ? narrow : TJ_DTYPE_i64, to);
  }
  set_slots(emitter, step, value);
}

/* --- gates --- */

static LLVMValueRef fill_of(tj_emitter *emitter, const tj_kernel_step *load) {
  const tj_kernel *kernel = emitter->kernel;
  tj_dtype from = dtype_of(emitter, &load->access);
  LLVMValueRef element =
      tj_emit_convert(emitter, tj_emit_element(emitter, kernel->fill, from), from, kernel->carried);
  if (load->width == 1)
    return element;
  LLVMValueRef vector = LLVMGetPoison(vector_type(emitter, kernel->carried, load->width));
  for (uint32_t lane = 0; lane < load->width; lane++)
    vector = with_element(emitter, vector, element, lane);
  return vector;
}

/* After a gate, loaded slots are the fill on the way around it; stores before the gate's end have taken theirs. */
static void merge_slots(tj_emitter *emitter, const tj_kernel_step *load, LLVMBasicBlockRef inside,
                        LLVMBasicBlockRef before, LLVMValueRef fill) {
  LLVMValueRef vector = emitter->slot[load->slot].value;
  LLVMValueRef merged = LLVMBuildPhi(emitter->builder, LLVMTypeOf(vector), "element");
  LLVMAddIncoming(merged, &vector, &inside, 1);
  LLVMAddIncoming(merged, &fill, &before, 1);
  set_slots(emitter, load, merged);
}

static bool shares_slots(const tj_kernel_step *load, const tj_kernel_step *store) {
  for (uint32_t i = 0; i < store->width; i++) {
    for (uint32_t k = 0; k < load->width; k++) {
      if (store->slot + i * store->slot_step == load->slot + k * load->slot_step)
        return true;
    }
  }
  return false;
}

/* Whether a step of begin … end-1 stores what `load` gave. */
static bool is_stored_later(const tj_kernel *kernel, const tj_kernel_step *load, uint32_t begin, uint32_t end) {
  for (uint32_t i = begin; i < end; i++) {
    if (kernel->step[i].kind == TJ_STEP_STORE && shares_slots(load, &kernel->step[i]))
      return true;
  }
  return false;
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
  case TJ_STEP_BARRIER:
    break;
  }
}

static void emit_each(tj_emitter *emitter, uint32_t begin, uint32_t end) {
  for (uint32_t i = begin; i < end; i++)
    emit_step(emitter, &emitter->kernel->step[i]);
}

/* Steps begin … end-1, which are valid together, of a phase that ends at `phase_end`. */
static void emit_gated(tj_emitter *emitter, const tj_node *valid, uint32_t begin, uint32_t end, uint32_t phase_end) {
  const tj_kernel_step *step = emitter->kernel->step;
  LLVMValueRef *fill = TJ_NEW_ARRAY(emitter->job, LLVMValueRef, end - begin);
  for (uint32_t i = begin; i < end; i++) {
    if (step[i].kind == TJ_STEP_LOAD && is_stored_later(emitter->kernel, &step[i], end, phase_end))
      fill[i - begin] = fill_of(emitter, &step[i]);
  }
  LLVMBasicBlockRef before = LLVMGetInsertBlock(emitter->builder);
  LLVMBasicBlockRef inside = tj_emit_block(emitter, "valid"), after = tj_emit_block(emitter, "after");
  LLVMBuildCondBr(emitter->builder, tj_emit_truth(emitter, valid), inside, after);
  LLVMPositionBuilderAtEnd(emitter->builder, inside);
  emit_each(emitter, begin, end);
  inside = LLVMGetInsertBlock(emitter->builder);
  LLVMBuildBr(emitter->builder, after);
  LLVMPositionBuilderAtEnd(emitter->builder, after);
  for (uint32_t i = begin; i < end; i++) {
    if (fill[i - begin] != NULL)
      merge_slots(emitter, &step[i], inside, before, fill[i - begin]);
  }
}

/* --- phases --- */

static const tj_node *predicate_of(const tj_kernel_step *step) {
  return step->kind == TJ_STEP_VALUE ? NULL : step->access.valid;
}

static bool is_always(const tj_node *valid) {
  return valid == NULL || (tj_is_constant(valid) && valid->value != 0);
}

/* Whether two steps may stand behind one branch. */
static bool have_one_gate(const tj_kernel_step *a, const tj_kernel_step *b) {
  return predicate_of(a) == predicate_of(b) || (is_always(predicate_of(a)) && is_always(predicate_of(b)));
}

static void emit_nodes_of(tj_emitter *emitter, uint32_t begin, uint32_t end) {
  bool *mark = TJ_NEW_ARRAY(emitter->job, bool, emitter->nodes.walk.count);
  for (uint32_t i = begin; i < end; i++) {
    const tj_kernel_step *step = &emitter->kernel->step[i];
    tj_kernel_nodes_mark(&emitter->nodes, step->value, mark);
    tj_kernel_nodes_mark(&emitter->nodes, step->access.valid, mark);
    tj_kernel_nodes_mark(&emitter->nodes, step->access.offset, mark);
  }
  tj_kernel_nodes_spread(&emitter->nodes, mark);
  tj_emit_marked_nodes(emitter, mark);
}

/* Of steps that are never valid, loads still give the fill. */
static void emit_fills(tj_emitter *emitter, uint32_t begin, uint32_t end) {
  for (uint32_t i = begin; i < end; i++) {
    const tj_kernel_step *step = &emitter->kernel->step[i];
    if (step->kind == TJ_STEP_LOAD)
      set_slots(emitter, step, fill_of(emitter, step));
  }
}

uint32_t tj_emit_phase_end(const tj_kernel *kernel, uint32_t begin) {
  uint32_t end = begin;
  while (end < kernel->step_count && kernel->step[end].kind != TJ_STEP_BARRIER)
    end++;
  return end;
}

void tj_emit_steps(tj_emitter *emitter, uint32_t begin, uint32_t end) {
  const tj_kernel_step *step = emitter->kernel->step;
  for (uint32_t first = begin, last; first < end; first = last) {
    last = first + 1;
    while (last < end && have_one_gate(&step[first], &step[last]))
      last++;
    emit_nodes_of(emitter, first, last);
    if (is_always(predicate_of(&step[first])))
      emit_each(emitter, first, last);
    else if (tj_is_int(predicate_of(&step[first]), 0))
      emit_fills(emitter, first, last);
    else
      emit_gated(emitter, predicate_of(&step[first]), first, last, end);
  }
}
