/* SPDX-License-Identifier: MIT */
/* The loop of a work-item: what its trips share before it, what it carries as phis, its steps once.
 *
 * What is carried may leave its range after the last trip, when nobody looks at it any more: its bits are cut off
 * there. The loop runs at least once, so that the test stands at its end. */
#include "lower/steps/steps.h"

/* --- ends of loops --- */

/* Loops are told apart by metadata that refer to themselves. */
static void forbid_vectors(tj_emitter *emitter, LLVMValueRef branch) {
  static const char name[] = "llvm.loop.vectorize.enable";
  LLVMMetadataRef setting[] = {LLVMMDStringInContext2(emitter->context, name, sizeof name - 1),
                               LLVMValueAsMetadata(LLVMConstInt(emitter->i1, 0, false))};
  LLVMMetadataRef itself = LLVMTemporaryMDNode(emitter->context, NULL, 0);
  LLVMMetadataRef parts[] = {itself, LLVMMDNodeInContext2(emitter->context, setting, 2)};
  LLVMMetadataRef loop = LLVMMDNodeInContext2(emitter->context, parts, 2);
  LLVMMetadataReplaceAllUsesWith(itself, loop);
  LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(emitter->context, "llvm.loop", 9),
                  LLVMMetadataAsValue(emitter->context, loop));
}

void tj_emit_loop_end(tj_emitter *emitter, LLVMValueRef goes_on, LLVMBasicBlockRef body, LLVMBasicBlockRef done) {
  LLVMValueRef branch = LLVMBuildCondBr(emitter->builder, goes_on, body, done);
  if (emitter->steps->keeps_loops)
    forbid_vectors(emitter, branch);
}

/* --- work-items --- */

void tj_emit_begin_item(tj_emitter *emitter, const tj_node *symbol, LLVMValueRef value) {
  tj_emit_forget_origins(emitter);
  tj_emit_begin_item_nodes(emitter, symbol, value);
}

typedef struct {
  LLVMBasicBlockRef before, body;
  LLVMValueRef counter, trips;
  LLVMValueRef *phi; /* of what is carried, by number */
  tj_width width;    /* of the counter */
} trip_loop;

static void emit_initial(tj_emitter *emitter, const tj_loop *loop, trip_loop *trip, LLVMValueRef initial[]) {
  trip->width = tj_width_of(&loop->trips, 1);
  trip->trips = tj_emit_operand(emitter, loop->trips, trip->width);
  for (uint32_t i = 0; i < loop->carried_count; i++) {
    const tj_carried *carried = &loop->carried[i];
    initial[i] = tj_emit_operand(emitter, carried->initial, tj_width_of(&carried->symbol, 1));
  }
}

static LLVMValueRef emit_phi(tj_emitter *emitter, LLVMValueRef initial, LLVMBasicBlockRef before, const char *name) {
  LLVMValueRef phi = LLVMBuildPhi(emitter->builder, LLVMTypeOf(initial), name);
  LLVMAddIncoming(phi, &initial, &before, 1);
  return phi;
}

static trip_loop begin_trips(tj_emitter *emitter, const tj_loop *loop) {
  trip_loop trip = {.phi = TJ_NEW_ARRAY(emitter->job, LLVMValueRef, loop->carried_count + 1)};
  emit_initial(emitter, loop, &trip, trip.phi);
  trip.before = LLVMGetInsertBlock(emitter->builder);
  trip.body = tj_emit_block(emitter, "trip");
  LLVMBuildBr(emitter->builder, trip.body);
  LLVMPositionBuilderAtEnd(emitter->builder, trip.body);
  trip.counter = emit_phi(emitter, tj_emit_int(emitter, trip.width.bits, 0), trip.before, "counter");
  for (uint32_t i = 0; i < loop->carried_count; i++)
    trip.phi[i] = emit_phi(emitter, trip.phi[i], trip.before, loop->carried[i].symbol->symbol->name);
  tj_emit_carried(emitter, loop->counter, trip.counter);
  for (uint32_t i = 0; i < loop->carried_count; i++)
    tj_emit_carried(emitter, loop->carried[i].symbol, trip.phi[i]);
  return trip;
}

static void emit_nodes_of_next(tj_emitter *emitter, const tj_loop *loop) {
  bool *mark = TJ_NEW_ARRAY(emitter->job, bool, emitter->nodes.walk.count);
  for (uint32_t i = 0; i < loop->carried_count; i++)
    tj_kernel_nodes_mark(&emitter->nodes, loop->carried[i].next, mark);
  tj_kernel_nodes_spread(&emitter->nodes, mark);
  tj_emit_marked_nodes(emitter, mark);
}

static void end_trips(tj_emitter *emitter, const tj_loop *loop, const trip_loop *trip) {
  LLVMBasicBlockRef done = tj_emit_block(emitter, "walked");
  LLVMValueRef *next = TJ_NEW_ARRAY(emitter->job, LLVMValueRef, loop->carried_count + 1);
  emit_nodes_of_next(emitter, loop);
  for (uint32_t i = 0; i < loop->carried_count; i++)
    next[i] = tj_emit_operand(emitter, loop->carried[i].next, tj_width_of(&loop->carried[i].symbol, 1));
  LLVMValueRef count = LLVMBuildAdd(emitter->builder, trip->counter, tj_emit_int(emitter, trip->width.bits, 1), "");
  tj_emit_no_wrap(count, trip->width);
  LLVMValueRef goes_on = LLVMBuildICmp(emitter->builder, LLVMIntULT, count, trip->trips, "");
  LLVMBasicBlockRef latch = LLVMGetInsertBlock(emitter->builder);
  tj_emit_loop_end(emitter, goes_on, trip->body, done);
  LLVMAddIncoming(trip->counter, &count, &latch, 1);
  for (uint32_t i = 0; i < loop->carried_count; i++)
    LLVMAddIncoming(trip->phi[i], &next[i], &latch, 1);
  LLVMPositionBuilderAtEnd(emitter->builder, done);
}

void tj_emit_item(tj_emitter *emitter) {
  const tj_kernel *kernel = emitter->kernel;
  tj_phase all = {kernel->step, kernel->step_count, 0};
  if (kernel->loop == NULL) {
    tj_emit_steps(emitter, all);
    return;
  }
  tj_emit_item_nodes(emitter);
  trip_loop trip = begin_trips(emitter, kernel->loop);
  tj_emit_steps(emitter, all);
  end_trips(emitter, kernel->loop, &trip);
}

/* --- loops among steps --- */

struct tj_trips {
  const tj_kernel_step *step;
  LLVMBasicBlockRef before, body, after;
  LLVMValueRef counter, limit;
  tj_width width;
  LLVMValueRef *initial, *carried; /* slots that go from trip to trip, in vectors of slot_step */
  uint32_t count;
  bool is_guarded; /* there may be no trip */
};

static LLVMValueRef carried_slots(tj_emitter *emitter, const tj_kernel_step *step, uint32_t number) {
  return tj_emit_slots(emitter, step->slot + number * step->slot_step, step->slot_step);
}

static void set_carried_slots(tj_emitter *emitter, const tj_kernel_step *step, uint32_t number, LLVMValueRef vector) {
  tj_emit_set_slots(emitter, step->slot + number * step->slot_step, step->slot_step, vector);
}

/* What does not change from trip to trip is emitted before the first; places are emitted anew in the loop, which may
 * not be taken. */
void tj_emit_begin_trips(tj_emitter *emitter, const tj_kernel_step *step) {
  struct tj_trips *trips = emitter->steps->trips = TJ_NEW(emitter->job, struct tj_trips);
  *trips = (struct tj_trips){.step = step, .count = step->width / step->slot_step};
  trips->initial = TJ_NEW_ARRAY(emitter->job, LLVMValueRef, trips->count + 1);
  trips->carried = TJ_NEW_ARRAY(emitter->job, LLVMValueRef, trips->count + 1);
  trips->width = tj_width_of(&step->limit, 1);
  trips->is_guarded = step->limit->facts.low < 1;
  tj_emit_item_nodes(emitter);
  tj_emit_forget_origins(emitter);
  trips->limit = tj_emit_operand(emitter, step->limit, trips->width);
  for (uint32_t i = 0; i < trips->count; i++)
    trips->initial[i] = carried_slots(emitter, step, i);
  trips->before = LLVMGetInsertBlock(emitter->builder);
  trips->body = tj_emit_block(emitter, "trips");
  trips->after = tj_emit_block(emitter, "all_trips");
  LLVMValueRef none = tj_emit_int(emitter, trips->width.bits, 0);
  if (trips->is_guarded)
    LLVMBuildCondBr(emitter->builder, LLVMBuildICmp(emitter->builder, LLVMIntNE, trips->limit, none, ""), trips->body,
                    trips->after);
  else
    LLVMBuildBr(emitter->builder, trips->body);
  LLVMPositionBuilderAtEnd(emitter->builder, trips->body);
  trips->counter = emit_phi(emitter, none, trips->before, "trip");
  for (uint32_t i = 0; i < trips->count; i++)
    trips->carried[i] = emit_phi(emitter, trips->initial[i], trips->before, "carried");
  tj_emit_carried(emitter, step->value, trips->counter);
  for (uint32_t i = 0; i < trips->count; i++)
    set_carried_slots(emitter, step, i, trips->carried[i]);
}

static void set_slots_after(tj_emitter *emitter, const struct tj_trips *trips, LLVMValueRef last[],
                            LLVMBasicBlockRef latch) {
  for (uint32_t i = 0; i < trips->count; i++) {
    LLVMValueRef value = last[i];
    if (trips->is_guarded) {
      value = emit_phi(emitter, trips->initial[i], trips->before, "reduced");
      LLVMAddIncoming(value, &last[i], &latch, 1);
    }
    set_carried_slots(emitter, trips->step, i, value);
  }
}

void tj_emit_end_trips(tj_emitter *emitter) {
  const struct tj_trips *trips = emitter->steps->trips;
  LLVMValueRef *last = TJ_NEW_ARRAY(emitter->job, LLVMValueRef, trips->count + 1);
  for (uint32_t i = 0; i < trips->count; i++)
    last[i] = carried_slots(emitter, trips->step, i);
  LLVMValueRef one = tj_emit_int(emitter, trips->width.bits, 1);
  LLVMValueRef next = LLVMBuildAdd(emitter->builder, trips->counter, one, "");
  tj_emit_no_wrap(next, trips->width);
  LLVMValueRef goes_on = LLVMBuildICmp(emitter->builder, LLVMIntULT, next, trips->limit, "");
  LLVMBasicBlockRef latch = LLVMGetInsertBlock(emitter->builder);
  tj_emit_loop_end(emitter, goes_on, trips->body, trips->after);
  LLVMAddIncoming(trips->counter, &next, &latch, 1);
  for (uint32_t i = 0; i < trips->count; i++)
    LLVMAddIncoming(trips->carried[i], &last[i], &latch, 1);
  LLVMPositionBuilderAtEnd(emitter->builder, trips->after);
  set_slots_after(emitter, trips, last, latch);
  tj_emit_forget_origins(emitter);
  emitter->level = TJ_LEVEL_ITEM;
  emitter->steps->trips = NULL;
}
