/* SPDX-License-Identifier: MIT */
/* Kernels of GPUs inside: a work-item for each element, or workgroups for tiles, whose work-items meet at barriers.
 * How workgroups and work-items are numbered, and what a barrier is, the family says. */
#include "lower/steps/steps.h"

/* --- how many --- */

/* More workgroups than any launch has, or 0 where the count has no bound. */
static uint64_t workgroup_limit(const tj_emitter *emitter) {
  int64_t count = emitter->kernel->count->facts.high, size = emitter->kernel->workgroup_size;
  return count == INT64_MAX ? 0 : (uint64_t)(count / size + (count % size != 0));
}

/* The linear coordinate runs to the end of the last workgroup, which may be beyond the count. */
static tj_width index_width(const tj_emitter *emitter) {
  int64_t end;
  uint64_t workgroups = workgroup_limit(emitter);
  bool overflows = __builtin_mul_overflow(workgroups, emitter->kernel->workgroup_size, &end);
  if (workgroups == 0 || overflows)
    return (tj_width){64, false, true};
  tj_width width = tj_width_of_range(0, end > 0 ? end - 1 : 0);
  return emitter->kernel->count->facts.high <= UINT32_MAX ? width : (tj_width){64, true, true};
}

/* --- flat kernels --- */

/* The linear coordinate: workgroup id * workgroup size + work-item id. */
static LLVMValueRef emit_index(tj_emitter *emitter, const tj_grid *grid) {
  uint32_t size = emitter->kernel->workgroup_size;
  LLVMValueRef workgroup = grid->emit_workgroup(emitter, workgroup_limit(emitter));
  LLVMValueRef item = grid->emit_item(emitter);
  tj_width width = index_width(emitter);
  LLVMTypeRef type = tj_emit_int_type(emitter, width.bits);
  LLVMValueRef first = LLVMBuildMul(emitter->builder, tj_emit_extended(emitter, workgroup, type),
                                    LLVMConstInt(type, size, false), "first");
  tj_emit_no_wrap(first, width);
  LLVMValueRef index = LLVMBuildAdd(emitter->builder, first, tj_emit_extended(emitter, item, type), "index");
  tj_emit_no_wrap(index, width);
  return index;
}

/* Whether every work-item of every workgroup has an element. */
static bool is_full(const tj_kernel *kernel) {
  return tj_facts_divisible(&kernel->count->facts, kernel->workgroup_size);
}

/* The work-item of one linear coordinate, unless that is beyond the count. */
static void emit_flat(tj_emitter *emitter, const tj_grid *grid) {
  const tj_kernel *kernel = emitter->kernel;
  LLVMValueRef index = emit_index(emitter, grid);
  LLVMBasicBlockRef end = tj_emit_block(emitter, "end");
  if (!is_full(kernel)) {
    LLVMBasicBlockRef body = tj_emit_block(emitter, "body");
    LLVMValueRef count = tj_emit_operand(emitter, kernel->count, index_width(emitter));
    LLVMValueRef inside = LLVMBuildICmp(emitter->builder, LLVMIntULT, index, count, "inside");
    LLVMBuildCondBr(emitter->builder, inside, body, end);
    LLVMPositionBuilderAtEnd(emitter->builder, body);
  }
  tj_emit_begin_item(emitter, kernel->index, index);
  tj_emit_item(emitter);
  LLVMBuildBr(emitter->builder, end);
  LLVMPositionBuilderAtEnd(emitter->builder, end);
}

/* --- tiled kernels --- */

/* Swizzles of boxes look at the bits of addresses below it. */
enum { BOX_ALIGNMENT = 1024 };

/* The workgroup's own elements: as many as they are, or, where the launch lays them out, as many as it says. Where
 * they begin at 0, the family says how many there are. Their name is seen from outside, since what prints PTX
 * remembers others beyond their module. */
static void declare_lds(tj_emitter *emitter) {
  const tj_kernel *kernel = emitter->kernel;
  if (kernel->lds_elements == 0 || emitter->target->has_lds_at_zero)
    return;
  bool is_static = tj_kernel_lds_bytes(kernel) <= emitter->target->static_lds_bytes;
  LLVMTypeRef element = tj_emit_dtype(emitter, tj_dtype_raw(kernel->carried));
  LLVMTypeRef type = LLVMArrayType2(element, is_static ? kernel->lds_elements : 0);
  const char *name = tj_string_format(emitter->job, "%s.lds", kernel->name);
  emitter->steps->lds = LLVMAddGlobalInAddressSpace(
      emitter->module, type, tj_target_symbol(emitter->job, emitter->target, name), TJ_LOCAL_ADDRESS_SPACE);
  LLVMSetAlignment(emitter->steps->lds, kernel->map != NULL ? BOX_ALIGNMENT : 16);
  if (is_static)
    LLVMSetInitializer(emitter->steps->lds, LLVMGetPoison(type));
}

/* The number of the workgroup, as wide as its symbol's values. */
static LLVMValueRef emit_workgroup(tj_emitter *emitter, const tj_grid *grid) {
  unsigned bits = tj_width_of(&emitter->kernel->workgroup, 1).bits;
  LLVMValueRef id = grid->emit_workgroup(emitter, workgroup_limit(emitter));
  return tj_emit_extended(emitter, id, tj_emit_int_type(emitter, bits));
}

/* All phases of a tile's steps, and barriers behind them: waves also wait for parts of which nobody stores anything.
 */
static void emit_phases(tj_emitter *emitter, const tj_grid *grid, tj_phase all) {
  for (uint32_t begin = 0; begin < all.count;) {
    tj_phase phase = tj_emit_phase(all.step, begin, all.count);
    tj_emit_steps(emitter, phase);
    begin += phase.count + 1;
    if (begin <= all.count)
      grid->emit_barrier(emitter, (tj_phase){all.step, begin - 1, all.count - begin});
  }
}

static void emit_node(tj_emitter *emitter, const tj_node *node) {
  bool *mark = TJ_NEW_ARRAY(emitter->job, bool, emitter->nodes.walk.count);
  tj_kernel_nodes_mark(&emitter->nodes, node, mark);
  tj_kernel_nodes_spread(&emitter->nodes, mark);
  tj_emit_marked_nodes(emitter, mark);
}

/* A branch around all steps where these demand the same of a work-item; what comes behind it, or NULL. Beside inner
 * tiles there is none: what only tiles at edges need of a workgroup would be computed before it. */
static LLVMBasicBlockRef begin_shared(tj_emitter *emitter) {
  const tj_kernel *kernel = emitter->kernel;
  const tj_node *shared = tj_emit_shared_mask(emitter, kernel->step, kernel->step_count);
  if (shared == NULL || kernel->inner != NULL)
    return NULL;
  emit_node(emitter, shared);
  LLVMBasicBlockRef inside = tj_emit_block(emitter, "part"), after = tj_emit_block(emitter, "after");
  LLVMBuildCondBr(emitter->builder, tj_emit_truth(emitter, shared), inside, after);
  LLVMPositionBuilderAtEnd(emitter->builder, inside);
  emitter->steps->shared_mask = shared;
  return after;
}

static void end_shared(tj_emitter *emitter, LLVMBasicBlockRef after) {
  if (after == NULL)
    return;
  LLVMBuildBr(emitter->builder, after);
  LLVMPositionBuilderAtEnd(emitter->builder, after);
}

static void emit_tiled(tj_emitter *emitter, const tj_grid *grid) {
  const tj_kernel *kernel = emitter->kernel;
  declare_lds(emitter);
  tj_emit_workgroup_nodes(emitter, emit_workgroup(emitter, grid));
  LLVMValueRef item = grid->emit_item(emitter);
  tj_tile_branch branch = tj_emit_begin_inner(emitter);
  tj_emit_begin_item(emitter, kernel->item, item);
  if (kernel->inner != NULL)
    emit_phases(emitter, grid, (tj_phase){kernel->inner_step, kernel->inner_step_count, 0});
  tj_emit_begin_edge(emitter, &branch);
  tj_emit_begin_item(emitter, kernel->item, item);
  LLVMBasicBlockRef after = begin_shared(emitter);
  emit_phases(emitter, grid, (tj_phase){kernel->step, kernel->step_count, 0});
  end_shared(emitter, after);
  tj_emit_end_tile(emitter, &branch);
}

void tj_emit_grid(tj_emitter *emitter, const tj_grid *grid) {
  tj_emit_launch_nodes(emitter);
  tj_emit_arithmetic_numbers(emitter);
  if (emitter->kernel->index != NULL)
    emit_flat(emitter, grid);
  else
    emit_tiled(emitter, grid);
  LLVMBuildRetVoid(emitter->builder);
}
