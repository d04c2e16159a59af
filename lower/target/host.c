/* SPDX-License-Identifier: MIT */
/* The host family: this CPU or a level of CPUs, and kernels as loops.
 *
 * A kernel NAME becomes two functions: tilejit_NAME(arguments, workgroup_begin, workgroup_end), which takes the
 * argument block apart, and a local one that does the work, whose pointers have the attributes that let LLVM
 * vectorise. Work-items are iterations of one loop over all workgroups from begin to end. */
#include "base/machine/host_cpu.h"
#include "base/machine/host_level.h"
#include "lower/machine/family.h"
#include "lower/steps/steps.h"

#include <string.h>

/* --- the CPU --- */

/* On the stack. As much as any GPU in wide use has, so that tiles that fit there run here. */
enum { LDS_BYTES = 160 * 1024, SLOT_BYTES = 256, TILE_BYTES = 1024 * SLOT_BYTES };

/* Registers of x86 that are so wide come with AVX-512, which scales by powers of two. */
enum { AVX512_BYTES = 64 };

/* Vectorises, which is most of the time; the rest of -O2 takes three times as long and finds nothing on loops that
 * are written as these are. */
static const char passes[] = "function(instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(licm),loop-vectorize,"
                             "instcombine<no-verify-fixpoint>,simplifycfg)";

static const char *const idle_passes[] = {
#define IDLE_PASS(name) name,
#define HOST_IDLE_PASS(name) name,
#include "lower/target/idle_pass.def"
    NULL};

/* Levels are those of one architecture. */
static bool has_levels(void) {
  return strncmp(TILEJIT_HOST_TRIPLE, "x86_64", 6) == 0;
}

static void list(tj_text *text) {
  const tj_host_level *level;
  tj_text_string(text, "host\tthis CPU\n");
  for (int i = 0; has_levels() && (level = tj_host_level_at(i)) != NULL; i++)
    tj_text_format(text, "%s\tCPUs that have this level\n", level->name);
}

static bool claims(const char *text) {
  return strncmp(text, "host", 4) == 0 || tj_host_level_find(text) >= 0;
}

static tj_target target_of(const char *name, const char *processor, const char *features, uint32_t block_bytes) {
  return (tj_target){
      .family = &tj_family_host,
      .name = name,
      .triple = TILEJIT_HOST_TRIPLE,
      .processor = processor,
      .features = features,
      .passes = passes,
      .idle_passes = {.always = idle_passes, .in_whole = NULL},
      .object = TJ_OBJECT_HOST,
      .has_float_sums = true,
      .keeps_nans = true,
      .wave_size = 1,
      .lds_bytes = LDS_BYTES,
      .static_lds_bytes = LDS_BYTES,
      .displacement_limit = UINT32_MAX,
      .workgroup_limit = UINT32_MAX,
      .slot_bytes = SLOT_BYTES,
      .slot_limit = SLOT_BYTES,
      .tile_bytes = TILE_BYTES,
      .vector_bytes = 16,
      .block_bytes = block_bytes,
      .has_division = true,
      .has_float_scaling = has_levels() && block_bytes == AVX512_BYTES,
      .has_vector_permutations = true,
  };
}

/* The name of a level is what LLVM calls such a processor. */
static tj_target parse(tj_job *job, const char *text) {
  const tj_host_level *level = tj_host_level_at(tj_host_level_find(text));
  if (strncmp(text, "host:", 5) == 0)
    tj_fail(job, TJ_UNKNOWN_FEATURE, "the host target has no features, so not %s", text + 5);
  if (level == NULL ? strcmp(text, "host") != 0 : !has_levels())
    tj_fail(job, TJ_UNKNOWN_TARGET, "unknown target %s", text);
  if (level != NULL)
    return target_of(level->name, level->name, "", level->register_bytes);
  char cpu[TJ_HOST_CPU_SIZE];
  tj_host_cpu_describe(cpu);
  return target_of("host", TJ_THIS_CPU, tj_string_copy(job, cpu, strlen(cpu)), tj_host_cpu_register_bytes());
}

static const char *symbol(tj_job *job, const char *name) {
  return tj_string_format(job, "tilejit_%s", name);
}

/* --- kernels --- */

/* The work-items of a kernel: the first, and the one after the last. */
typedef struct {
  LLVMValueRef first, end;
} item_range;

static LLVMValueRef first_of_workgroup(tj_emitter *emitter, LLVMValueRef workgroup) {
  LLVMValueRef size = LLVMConstInt(emitter->i64, emitter->kernel->workgroup_size, false);
  return LLVMBuildNUWMul(emitter->builder, workgroup, size, "");
}

static item_range emit_range(tj_emitter *emitter, tj_width width) {
  LLVMValueRef first = first_of_workgroup(emitter, emitter->steps->extra[0]);
  LLVMValueRef end = first_of_workgroup(emitter, emitter->steps->extra[1]);
  LLVMValueRef count = tj_emit_operand(emitter, emitter->kernel->count, (tj_width){64, true, true});
  first = tj_emit_binary_intrinsic(emitter, "llvm.umin", first, count);
  end = tj_emit_binary_intrinsic(emitter, "llvm.umin", end, count);
  if (width.bits == 64)
    return (item_range){first, end};
  return (item_range){LLVMBuildTrunc(emitter->builder, first, emitter->i32, "first"),
                      LLVMBuildTrunc(emitter->builder, end, emitter->i32, "end")};
}

/* --- loops that LLVM would get wrong --- */

/* A remainder by a power of two, of what is another one for each work-item. */
static bool is_wrapping(const tj_kernel_nodes *nodes, uint32_t position) {
  const tj_node *node = nodes->walk.node[position];
  bool is_mask = node->op == TJ_OP_AND && (tj_is_constant(node->arg[0]) || tj_is_constant(node->arg[1]));
  bool is_remainder =
      node->op == TJ_OP_MOD && tj_is_constant(node->arg[1]) && (node->arg[1]->value & (node->arg[1]->value - 1)) == 0;
  return (is_mask || is_remainder) && nodes->level[position] >= TJ_LEVEL_ITEM;
}

static void mark_places(const tj_kernel_nodes *nodes, const tj_kernel_step step[], uint32_t count, bool mark[]) {
  for (uint32_t i = 0; i < count; i++) {
    tj_kernel_nodes_mark(nodes, step[i].access.offset, mark);
    tj_kernel_nodes_mark(nodes, step[i].access.base, mark);
  }
}

/* Whether places in memory depend on such remainders. Where something is added to one in 32 bits and the sum is
 * extended to 64, LLVM 22 vectorises the loop as if the remainder went on instead of beginning again. */
static bool has_wrapping_places(tj_emitter *emitter) {
  const tj_kernel *kernel = emitter->kernel;
  const tj_kernel_nodes *nodes = &emitter->nodes;
  bool *mark = TJ_NEW_ARRAY(emitter->job, bool, nodes->walk.count + 1);
  mark_places(nodes, kernel->step, kernel->step_count, mark);
  mark_places(nodes, kernel->inner_step, kernel->inner != NULL ? kernel->inner_step_count : 0, mark);
  tj_kernel_nodes_spread(nodes, mark);
  for (uint32_t i = 0; i < nodes->walk.count; i++) {
    if (mark[i] && is_wrapping(nodes, i))
      return true;
  }
  return false;
}

/* A loop from `first` to before `end`, of which the body follows. */
typedef struct {
  LLVMBasicBlockRef before, body;
  LLVMValueRef first, end, index;
  tj_width width;
} counted_loop;

static counted_loop begin_loop(tj_emitter *emitter, item_range range, tj_width width, const char *name) {
  LLVMBuilderRef builder = emitter->builder;
  counted_loop loop = {.first = range.first, .end = range.end, .width = width};
  loop.before = LLVMGetInsertBlock(builder);
  loop.body = tj_emit_block(emitter, name);
  LLVMBuildBr(builder, loop.body);
  LLVMPositionBuilderAtEnd(builder, loop.body);
  loop.index = LLVMBuildPhi(builder, tj_emit_int_type(emitter, width.bits), "index");
  return loop;
}

/* Ends a loop whose range is not empty. */
static void end_loop(tj_emitter *emitter, const counted_loop *loop) {
  LLVMBuilderRef builder = emitter->builder;
  LLVMBasicBlockRef done = tj_emit_block(emitter, "done");
  LLVMValueRef next = LLVMBuildAdd(builder, loop->index, tj_emit_int(emitter, loop->width.bits, 1), "next");
  tj_emit_no_wrap(next, loop->width);
  LLVMBasicBlockRef latch = LLVMGetInsertBlock(builder);
  tj_emit_loop_end(emitter, LLVMBuildICmp(builder, LLVMIntULT, next, loop->end, ""), loop->body, done);
  LLVMAddIncoming(loop->index, (LLVMValueRef[]){loop->first, next}, (LLVMBasicBlockRef[]){loop->before, latch}, 2);
  LLVMPositionBuilderAtEnd(builder, done);
}

/* Leaves the function where the range is empty. */
static void return_if_empty(tj_emitter *emitter, item_range range) {
  LLVMBasicBlockRef some = tj_emit_block(emitter, "some"), none = tj_emit_block(emitter, "none");
  LLVMValueRef has_any = LLVMBuildICmp(emitter->builder, LLVMIntULT, range.first, range.end, "");
  LLVMBuildCondBr(emitter->builder, has_any, some, none);
  LLVMPositionBuilderAtEnd(emitter->builder, none);
  LLVMBuildRetVoid(emitter->builder);
  LLVMPositionBuilderAtEnd(emitter->builder, some);
}

static void emit_flat(tj_emitter *emitter) {
  const tj_kernel *kernel = emitter->kernel;
  tj_width width = tj_width_of(&kernel->count, 1);
  item_range range = emit_range(emitter, width);
  return_if_empty(emitter, range);
  counted_loop loop = begin_loop(emitter, range, width, "loop");
  tj_emit_begin_item(emitter, kernel->index, loop.index);
  tj_emit_item(emitter);
  end_loop(emitter, &loop);
}

static void reserve_lds(tj_emitter *emitter) {
  const tj_kernel *kernel = emitter->kernel;
  if (kernel->lds_elements == 0)
    return;
  LLVMTypeRef type = LLVMArrayType2(tj_emit_dtype(emitter, tj_dtype_raw(kernel->carried)), kernel->lds_elements);
  emitter->steps->lds = LLVMBuildAlloca(emitter->builder, type, "lds");
  LLVMSetAlignment(emitter->steps->lds, 64);
}

static void emit_phases(tj_emitter *emitter, const tj_kernel_step steps[], uint32_t count) {
  const tj_kernel *kernel = emitter->kernel;
  tj_width width = tj_width_of_range(0, kernel->workgroup_size);
  LLVMValueRef end = kernel->items != NULL ? tj_emit_operand(emitter, kernel->items, (tj_width){32, true, true})
                                           : LLVMConstInt(emitter->i32, kernel->workgroup_size, false);
  item_range items = {LLVMConstInt(emitter->i32, 0, false), end};
  for (uint32_t begin = 0; begin < count;) {
    tj_phase phase = tj_emit_phase(steps, begin, count);
    counted_loop loop = begin_loop(emitter, items, width, "items");
    tj_emit_begin_item(emitter, kernel->item, loop.index);
    tj_emit_steps(emitter, phase);
    end_loop(emitter, &loop);
    begin += phase.count + 1;
  }
}

static void emit_tile(tj_emitter *emitter) {
  const tj_kernel *kernel = emitter->kernel;
  tj_tile_branch branch = tj_emit_begin_inner(emitter);
  if (kernel->inner != NULL)
    emit_phases(emitter, kernel->inner_step, kernel->inner_step_count);
  tj_emit_begin_edge(emitter, &branch);
  emit_phases(emitter, kernel->step, kernel->step_count);
  tj_emit_end_tile(emitter, &branch);
}

static void emit_tiled(tj_emitter *emitter) {
  item_range workgroups = {emitter->steps->extra[0], emitter->steps->extra[1]};
  reserve_lds(emitter);
  return_if_empty(emitter, workgroups);
  counted_loop loop = begin_loop(emitter, workgroups, (tj_width){64, true, true}, "workgroups");
  unsigned bits = tj_width_of(&emitter->kernel->workgroup, 1).bits;
  LLVMValueRef number = LLVMBuildIntCast2(emitter->builder, loop.index, tj_emit_int_type(emitter, bits), false, "");
  tj_emit_workgroup_nodes(emitter, number);
  emit_tile(emitter);
  end_loop(emitter, &loop);
}

static LLVMValueRef emit_work(tj_emitter *emitter) {
  const tj_kernel *kernel = emitter->kernel;
  LLVMValueRef function =
      tj_emit_function(emitter, tj_string_format(emitter->job, TJ_WORK_FORMAT, kernel->name), 2, TJ_WORDS_PASSED);
  LLVMSetLinkage(function, LLVMInternalLinkage);
  tj_emit_launch_nodes(emitter);
  tj_emit_arithmetic_numbers(emitter);
  emitter->steps->keeps_loops = has_wrapping_places(emitter);
  if (kernel->index != NULL)
    emit_flat(emitter);
  else
    emit_tiled(emitter);
  if (kernel->is_streamed)
    LLVMBuildFence(emitter->builder, LLVMAtomicOrderingSequentiallyConsistent, false, "");
  LLVMBuildRetVoid(emitter->builder);
  return function;
}

/* The word of the argument block that is the argument at `position` of `work`. */
static LLVMValueRef emit_argument(tj_emitter *emitter, LLVMValueRef work, LLVMValueRef block, unsigned position) {
  LLVMValueRef offset = LLVMConstInt(emitter->i64, position, false);
  LLVMValueRef address = LLVMBuildInBoundsGEP2(emitter->builder, emitter->i64, block, &offset, 1, "");
  return LLVMBuildLoad2(emitter->builder, LLVMTypeOf(LLVMGetParam(work, position)), address, "");
}

static void emit_entry(tj_emitter *emitter, LLVMValueRef work) {
  LLVMTypeRef types[] = {emitter->pointer, emitter->i64, emitter->i64};
  LLVMTypeRef type = LLVMFunctionType(emitter->nothing, types, 3, false);
  LLVMValueRef function = LLVMAddFunction(emitter->module, symbol(emitter->job, emitter->kernel->name), type);
  tj_emit_function_flag(emitter, function, "nounwind");
  emitter->function = function;
  LLVMPositionBuilderAtEnd(emitter->builder, tj_emit_block(emitter, "entry"));
  unsigned count = tj_kernel_words(emitter->kernel);
  LLVMValueRef *arguments = TJ_NEW_ARRAY(emitter->job, LLVMValueRef, count + 2);
  for (unsigned i = 0; i < count; i++)
    arguments[i] = emit_argument(emitter, work, LLVMGetParam(function, 0), i);
  arguments[count] = LLVMGetParam(function, 1);
  arguments[count + 1] = LLVMGetParam(function, 2);
  LLVMBuildCall2(emitter->builder, LLVMGlobalGetValueType(work), work, arguments, count + 2, "");
  LLVMBuildRetVoid(emitter->builder);
}

static void emit_kernel(tj_emitter *emitter) {
  emit_entry(emitter, emit_work(emitter));
}

static const char *register_of(unsigned bits, bool varies) {
  (void)varies;
  (void)bits;
  return "r";
}

const tj_target_family tj_family_host = {
    .name = "host",
    .device_scope = "",
    .list = list,
    .claims = claims,
    .parse = parse,
    .symbol = symbol,
    .register_of = register_of,
    .emit_kernel = emit_kernel,
};
