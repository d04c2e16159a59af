/* SPDX-License-Identifier: MIT */
/* The NVPTX family: NVIDIA's processors, and kernels as entries of PTX.
 *
 * What LLVM makes is the text of PTX, in the oldest version that knows the processor; the device's driver, or ptxas,
 * makes machine code of it. A kernel has a parameter for each word of the argument block of kernel.h, and one for its
 * tensor map. Shared memory that is more than code may lay out itself has no size there: the launch gives it. */
#include "lower/machine/family.h"
#include "lower/steps/steps.h"

#include "base/integer.h"
#include "base/machine/processor.h"
#include "base/machine/target_id.h"
#include "lower/kernel/arithmetic.h"

#include <string.h>

enum { GLOBAL_ADDRESS_SPACE = 1, WORKGROUP_LIMIT = 1024, STATIC_LDS_BYTES = 48 * 1024 };

/* The least processors that have max.NaN, that round to bf16, and that convert floats of 8 bits in the PTX that is
 * written for them: for sm_89, only PTX 8.1 does. */
enum { HAS_EXTREMES = 80, ROUNDS_TO_BFLOAT = 80, CONVERTS_FLOAT8 = 90 };

/* The least processor whose PTX has kept loads. On an H100, transpositions are 2 % faster with them, whether the
 * source has been read just before or not. */
enum { KEEPS_LOADS = 90 };

/* Workgroups of few rows end soon, and make room for the next. */
enum { GROUP_OF_ROWS = 64 };

/* Work-items that are resident where much is computed, for which each has 64 registers. */
enum { RESIDENT_ITEMS = 1024 };

/* A work-item of a long row keeps as much of it as one of a short row. Workgroups of 512 work-items, which half as
 * many columns of such rows take, leave many registers of a multiprocessor to nobody. */
enum { ROW_COLUMNS = 32, LONG_ROW = 8192 };

/* As measured on an H100 with 2,700 mappings of transpositions: of tiles that are the same but for how many
 * work-items share them, those with two slots of 16 bytes each are 0.6 to 1.5 % faster than those with three, and 0.4
 * to 3.6 % faster than those with one. */
enum { SLOT_BYTES = 32, SLOT_LIMIT = 64, TILE_BYTES = 48 * 1024 };

/* Offsets of machine code have 24 bits, one of them the sign. */
enum { DISPLACEMENT_LIMIT = 1 << 23 };

/* Of an instruction that brings a box: its place, the tensor map and the barrier; then the box's coordinates. */
enum { BOX_OPERANDS = 3, MOST_OPERANDS = BOX_OPERANDS + TJ_TENSOR_MAP_DIMENSIONS };

/* The processor whose oldest PTX has no instructions for boxes, and the next that has. */
enum { LACKS_BOXES = 90 };
static const char boxes_feature[] = "+ptx80";

/* As for AMDGPU; what LLVM does to addresses for this target is part of its code generation. */
static const char passes[] = "function(instcombine<no-verify-fixpoint>,simplifycfg)";

static const char *const idle_passes[] = {
#define IDLE_PASS(name) name,
#define GPU_IDLE_PASS(name) name,
#define NVPTX_IDLE_PASS(name) name,
#include "lower/target/idle_pass.def"
    NULL};

static void list(tj_text *text) {
  for (size_t i = 0; i < tj_multiprocessor_count; i++)
    tj_text_format(text, "%s\twarps of %u threads, %u KiB of shared memory\n", tj_multiprocessors[i].name,
                   tj_multiprocessors[i].memory.lanes, tj_multiprocessors[i].memory.group_bytes / 1024);
}

static bool claims(const char *text) {
  return strncmp(text, "sm_", 3) == 0;
}

static const tj_multiprocessor *find_processor(tj_job *job, const tj_target_id *id) {
  for (size_t i = 0; i < tj_multiprocessor_count; i++)
    if (strcmp(tj_multiprocessors[i].name, id->processor) == 0)
      return &tj_multiprocessors[i];
  tj_fail(job, TJ_UNKNOWN_TARGET, "unknown processor %s", id->processor);
}

/* The canonical text, which has none of the features of AMD's processors. */
static const char *name_of(tj_job *job, const tj_target_id *id) {
  char text[TJ_TARGET_ID_SIZE];
  for (unsigned i = 0; i < TJ_TARGET_FEATURE_COUNT; i++)
    if (id->feature[i] != TJ_FEATURE_ANY)
      tj_fail(job, TJ_UNKNOWN_FEATURE, "%s has no feature %s", id->processor, tj_target_feature_name(i));
  tj_target_id_write(id, text);
  return tj_string_copy(job, text, strlen(text));
}

/* Of the second cache, but for an eighth, which is left to what is stored and to what rows have in common. */
static uint32_t cache_of_work_item(const tj_multiprocessor *found) {
  const tj_compute_unit *unit = found->memory.unit;
  return found->cache_bytes / 8 * 7 / (unit->waves * unit->simds * found->memory.lanes);
}

/* A wave, where as many are resident as their registers let be: softmax of 1024 columns comes to 0.97 of a copy in
 * the place of 0.95. What takes fewer registers comes to 0.8. */
static uint32_t group_of_costly_rows(const tj_multiprocessor *found) {
  const uint32_t lanes = found->memory.lanes;
  return found->memory.unit->workgroups >= RESIDENT_ITEMS / lanes ? lanes : GROUP_OF_ROWS;
}

static tj_target parse(tj_job *job, const char *text) {
  tj_target_id id;
  tj_target_reason reason;
  if (!tj_target_id_parse(text, &id, &reason))
    tj_fail(job, reason.code, "%s", reason.text);
  const tj_multiprocessor *found = find_processor(job, &id);
  return (tj_target){
      .family = &tj_family_nvptx,
      .name = name_of(job, &id),
      .triple = "nvptx64-nvidia-cuda",
      .processor = found->name,
      .features = "",
      .map_features = found->memory.generation == LACKS_BOXES ? boxes_feature : NULL,
      .passes = passes,
      .idle_passes = {.always = idle_passes, .in_whole = NULL},
      .object = id.is_cubin ? TJ_OBJECT_CUBIN : TJ_OBJECT_PTX,
      .wave_size = found->memory.lanes,
      .lds_bytes = found->memory.group_bytes,
      .static_lds_bytes = STATIC_LDS_BYTES,
      .workgroup_limit = WORKGROUP_LIMIT,
      .keeps_slots = true,
      .slot_bytes = SLOT_BYTES,
      .slot_limit = SLOT_LIMIT,
      .tile_bytes = TILE_BYTES,
      .group_of_rows = GROUP_OF_ROWS,
      .group_of_costly_rows = group_of_costly_rows(found),
      .row_columns = ROW_COLUMNS,
      .long_row = LONG_ROW,
      .cache_bytes = cache_of_work_item(found),
      .follows_destination = true,
      .vector_bytes = 16,
      .global_address_space = GLOBAL_ADDRESS_SPACE,
      .displacement_limit = DISPLACEMENT_LIMIT,
      .needs_aligned_vectors = true,
      .has_division = true,
      .has_extremes = found->memory.generation >= HAS_EXTREMES,
      .has_kept_loads = found->memory.generation >= KEEPS_LOADS,
      .has_float_sums = true,
      .has_bfloat_arithmetic = found->memory.generation >= ROUNDS_TO_BFLOAT,
      .has_bfloat_rounding = found->memory.generation >= ROUNDS_TO_BFLOAT,
      .saturates_float8 = true,
      .floats8 = found->memory.generation >= CONVERTS_FLOAT8 ? TJ_FLOATS8_OCP : TJ_FLOATS8_NONE,
  };
}

/* Identifiers of PTX have neither dots nor colons, and are no names of instructions. */
static const char *symbol(tj_job *job, const char *name) {
  tj_text made = tj_text_begin(job);
  tj_text_string(&made, "tilejit_");
  for (; *name != '\0'; name++)
    tj_text_char(&made, *name == '.' || *name == ':' ? '$' : *name);
  return made.data;
}

static const char *register_of(unsigned bits, bool varies) {
  (void)varies;
  return bits == 16 ? "h" : bits == 32 ? "r" : "l";
}

/* --- floats of 8 bits --- */

static const char *float8_name(tj_dtype dtype) {
  return tj_dtype_form(dtype).exponent == 4 ? "e4m3x2" : "e5m2x2";
}

/* An instruction that computes a register from others. LLVM has intrinsics for these, but only from PTX 8.1 on. */
static LLVMValueRef emit_instruction(tj_emitter *emitter, const char *text, const char *constraints,
                                     LLVMTypeRef result, LLVMValueRef operands[], unsigned count) {
  LLVMTypeRef types[] = {LLVMTypeOf(operands[0]), LLVMTypeOf(operands[count - 1])};
  LLVMTypeRef type = LLVMFunctionType(result, types, count, false);
  LLVMValueRef instruction = LLVMGetInlineAsm(type, text, strlen(text), constraints, strlen(constraints), false,
                                              false, LLVMInlineAsmDialectATT, false);
  return LLVMBuildCall2(emitter->builder, type, instruction, operands, count, "");
}

static LLVMValueRef read_float8(tj_emitter *emitter, LLVMValueRef word, bool is_upper, tj_dtype dtype) {
  const char *text = tj_string_format(emitter->job, "cvt.rn.f16x2.%s $0, $1;", float8_name(dtype));
  LLVMValueRef shift = LLVMConstInt(emitter->i32, 16, false);
  LLVMValueRef low = is_upper ? LLVMBuildLShr(emitter->builder, word, shift, "") : word;
  LLVMValueRef codes = LLVMBuildTrunc(emitter->builder, low, emitter->i16, "");
  LLVMValueRef halves = emit_instruction(emitter, text, "=r,h", emitter->i32, &codes, 1);
  halves = LLVMBuildBitCast(emitter->builder, halves, LLVMVectorType(emitter->f16, 2), "");
  return LLVMBuildFPExt(emitter->builder, halves, LLVMVectorType(emitter->f32, 2), "");
}

/* satfinite: beyond the largest number, infinities included, it is that number; NaN is NaN. */
static LLVMValueRef write_float8(tj_emitter *emitter, LLVMValueRef word, bool is_upper, LLVMValueRef low,
                                 LLVMValueRef high, tj_dtype dtype) {
  const char *text = tj_string_format(emitter->job, "cvt.rn.satfinite.%s.f32 $0, $1, $2;", float8_name(dtype));
  LLVMValueRef operands[] = {high, low}, place = LLVMConstInt(emitter->i32, is_upper, false);
  LLVMValueRef codes = emit_instruction(emitter, text, "=h,f,f", emitter->i16, operands, 2);
  LLVMTypeRef halves = LLVMVectorType(emitter->i16, 2);
  LLVMValueRef old = LLVMBuildBitCast(emitter->builder, word, halves, "");
  return LLVMBuildBitCast(emitter->builder, LLVMBuildInsertElement(emitter->builder, old, codes, place, ""),
                          emitter->i32, "");
}

/* --- lanes --- */

static LLVMValueRef emit_shuffle(tj_emitter *emitter, const char *name, LLVMValueRef word, LLVMValueRef which) {
  LLVMValueRef all = tj_emit_int(emitter, 32, -1), last = tj_emit_int(emitter, 32, emitter->target->wave_size - 1);
  LLVMValueRef arguments[] = {all, word, which, last};
  return tj_emit_intrinsic(emitter, name, NULL, 0, arguments, 4);
}

static LLVMValueRef emit_across(tj_emitter *emitter, LLVMValueRef word, uint32_t distance) {
  return emit_shuffle(emitter, "llvm.nvvm.shfl.sync.bfly.i32", word, tj_emit_int(emitter, 32, distance));
}

static LLVMValueRef emit_lanes(tj_emitter *emitter, LLVMValueRef word, const tj_lane_step *step) {
  if (step->move == TJ_LANE_BUTTERFLY)
    return emit_across(emitter, word, step->map.offset);
  return emit_shuffle(emitter, "llvm.nvvm.shfl.sync.idx.i32", word, tj_emit_lane_read(emitter, &step->map));
}

/* --- memory --- */

/* Loads that L2 evicts last, with the rest of 256 bytes. LLVM has no word for either. What has an order is not moved
 * over barriers. */
static LLVMValueRef emit_kept_load(tj_emitter *emitter, LLVMValueRef address, uint32_t words) {
  enum { EVICT_LAST_HIGH = 0x14f00000 /* of a cache policy, all of whose accesses are evicted last */ };
  static const char *const forms[] = {
      [1] = "b32 $0, [$1], $2;", [2] = "v2.b32 {$0, $1}, [$2], $3;", [4] = "v4.b32 {$0, $1, $2, $3}, [$4], $5;"};
  static const char *const constraints[] = {[1] = "=r,l,l", [2] = "=r,=r,l,l", [4] = "=r,=r,=r,=r,l,l"};
  LLVMTypeRef results[] = {emitter->i32, emitter->i32, emitter->i32, emitter->i32};
  LLVMTypeRef result = words == 1 ? emitter->i32 : LLVMStructTypeInContext(emitter->context, results, words, false);
  LLVMTypeRef type = LLVMFunctionType(result, (LLVMTypeRef[]){emitter->i64, emitter->i64}, 2, false);
  const char *text =
      tj_string_format(emitter->job, "ld.global.nc.L1::evict_last.L2::cache_hint.L2::256B.%s", forms[words]);
  LLVMValueRef load = LLVMGetInlineAsm(type, text, strlen(text), constraints[words], strlen(constraints[words]), true,
                                       false, LLVMInlineAsmDialectATT, false);
  LLVMValueRef operands[] = {LLVMBuildPtrToInt(emitter->builder, address, emitter->i64, ""),
                             LLVMConstInt(emitter->i64, (uint64_t)EVICT_LAST_HIGH << 32, false)};
  LLVMValueRef loaded = LLVMBuildCall2(emitter->builder, type, load, operands, 2, "");
  LLVMValueRef vector = words == 1 ? loaded : LLVMGetPoison(LLVMVectorType(emitter->i32, words));
  for (uint32_t i = 0; i < words && words > 1; i++)
    vector = LLVMBuildInsertElement(emitter->builder, vector, LLVMBuildExtractValue(emitter->builder, loaded, i, ""),
                                    LLVMConstInt(emitter->i32, i, false), "");
  return vector;
}

/* --- kernels --- */

/* llvm.nvvm.read.ptx.sreg.`name`() whose result is below `limit`; 0: any. */
static LLVMValueRef emit_special(tj_emitter *emitter, const char *name, uint64_t limit) {
  LLVMValueRef value = tj_emit_intrinsic(emitter, tj_string_format(emitter->job, "llvm.nvvm.read.ptx.sreg.%s", name),
                                         NULL, 0, NULL, 0);
  if (limit != 0 && limit <= INT32_MAX)
    tj_emit_call_range(emitter, value, 32, 0, limit);
  return value;
}

static LLVMValueRef emit_workgroup(tj_emitter *emitter, uint64_t limit) {
  return emit_special(emitter, "ctaid.x", limit);
}

static LLVMValueRef emit_item(tj_emitter *emitter) {
  return emit_special(emitter, "tid.x", emitter->kernel->workgroup_size);
}

/* --- boxes --- */

/* An instruction that reads and writes memory, of integers. */
static void emit_action(tj_emitter *emitter, const char *text, const char *constraints, LLVMValueRef operands[],
                        unsigned count) {
  LLVMTypeRef types[MOST_OPERANDS];
  for (unsigned i = 0; i < count; i++)
    types[i] = LLVMTypeOf(operands[i]);
  LLVMTypeRef type = LLVMFunctionType(emitter->nothing, types, count, false);
  LLVMValueRef instruction = LLVMGetInlineAsm(type, text, strlen(text), constraints, strlen(constraints), true, false,
                                              LLVMInlineAsmDialectATT, false);
  LLVMBuildCall2(emitter->builder, type, instruction, operands, count, "");
}

static LLVMValueRef lds_address(tj_emitter *emitter, LLVMValueRef offset) {
  LLVMValueRef base = LLVMBuildPtrToInt(emitter->builder, emitter->steps->lds, emitter->i32, "");
  return LLVMBuildAdd(emitter->builder, base, offset, "");
}

static LLVMValueRef box_barrier(tj_emitter *emitter) {
  return lds_address(emitter, LLVMConstInt(emitter->i32, emitter->kernel->map->barrier, false));
}

/* One thread gives all boxes, as it sees the barrier that it has made. */
static LLVMValueRef emit_issues(tj_emitter *emitter, uint32_t number) {
  (void)number;
  LLVMValueRef item = emit_item(emitter);
  return LLVMBuildICmp(emitter->builder, LLVMIntEQ, item, tj_emit_int(emitter, 32, 0), "");
}

/* The barrier waits for that thread, and for the bytes of all boxes. */
static void begin_boxes(tj_emitter *emitter) {
  uint32_t bytes = tj_kernel_boxes(emitter->kernel, false) * tj_box_bytes(emitter->kernel->map);
  LLVMValueRef operands[] = {box_barrier(emitter), LLVMConstInt(emitter->i32, bytes, false)};
  emit_action(emitter,
              "mbarrier.init.shared::cta.b64 [$0], 1;\n\t"
              "fence.proxy.async.shared::cta;\n\t"
              "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;",
              "r,r,~{memory}", operands, 2);
}

static void emit_box(tj_emitter *emitter, const tj_kernel_step *step, LLVMValueRef word[]) {
  uint32_t rank = step->word_count - 1;
  LLVMValueRef operands[MOST_OPERANDS] = {lds_address(emitter, word[rank]),
                                          LLVMBuildPtrToInt(emitter->builder, emitter->steps->map, emitter->i64, ""),
                                          box_barrier(emitter)};
  tj_text coordinates = tj_text_begin(emitter->job), constraints = tj_text_begin(emitter->job);
  tj_text_string(&constraints, "r,l,r");
  for (uint32_t d = 0; d < rank; d++) {
    operands[BOX_OPERANDS + d] = word[d];
    tj_text_format(&coordinates, "%s$%u", d > 0 ? ", " : "", BOX_OPERANDS + d);
    tj_text_string(&constraints, ",r");
  }
  tj_text_string(&constraints, ",~{memory}");
  if (step->number == 0)
    begin_boxes(emitter);
  const char *text = tj_string_format(emitter->job,
                                      "cp.async.bulk.tensor.%ud.shared::cluster.global.mbarrier::complete_tx::bytes "
                                      "[$0], [$1, {%s}], [$2];",
                                      rank, coordinates.data);
  emit_action(emitter, text, constraints.data, operands, BOX_OPERANDS + rank);
}

/* Waits until all boxes are there, as everybody sees then; the barrier has been made. */
static void await_boxes(tj_emitter *emitter) {
  LLVMValueRef barrier = box_barrier(emitter);
  emit_action(emitter,
              "{\n\t.reg .pred done;\n"
              "AWAIT:\n\t"
              "mbarrier.try_wait.parity.shared::cta.b64 done, [$0], 0;\n\t"
              "@!done bra AWAIT;\n\t}",
              "r,~{memory}", &barrier, 1);
}

/* --- all of it --- */

static void emit_barrier(tj_emitter *emitter, tj_phase before) {
  (void)before;
  LLVMValueRef number = LLVMConstInt(emitter->i32, 0, false);
  tj_emit_intrinsic(emitter, "llvm.nvvm.barrier.cta.sync.aligned.all", NULL, 0, &number, 1);
  if (tj_kernel_has_step(emitter->kernel, TJ_STEP_BOX))
    await_boxes(emitter);
}

/* Whether it computes numbers that fit a register each, and converts floats of 8 bits by instructions for it. */
static bool computes_in_words(const tj_kernel *kernel, const tj_target *target) {
  const tj_array_program *program = tj_kernel_program(kernel);
  for (uint32_t i = 0; i < kernel->buffer_count; i++)
    if (target->floats8 == TJ_FLOATS8_NONE && tj_dtype_is_small_float(kernel->buffer[i].dtype))
      return false;
  for (uint32_t i = 0; program != NULL && i < program->count; i++)
    if (program->array[i]->dtype == TJ_DTYPE_f64 && program->array[i]->op != TJ_ARRAY_NUMBER)
      return false;
  return program != NULL;
}

/* That a work-item loads from buffers, or of boxes from LDS; all of which it may have to keep. */
static uint32_t loaded_elements(const tj_kernel *kernel) {
  bool has_boxes = tj_kernel_has_step(kernel, TJ_STEP_BOX);
  uint32_t count = 0;
  for (uint32_t i = 0; i < kernel->step_count; i++)
    if (kernel->step[i].kind == TJ_STEP_LOAD && (kernel->step[i].access.buffer == TJ_LDS) == has_boxes)
      count += kernel->step[i].width;
  return count;
}

/* How many workgroups a multiprocessor has room for, if each work-item has registers for all that it moves at once.
 * Left to itself, ptxas takes these away for the sake of more workgroups, so that loads wait for one another; and the
 * linker of the driver takes more than workgroups of many work-items can have. */
static uint32_t resident_workgroups(const tj_kernel *kernel, const tj_target *target) {
  enum { OTHER_REGISTERS = 20 };
  const tj_compute_unit *unit = tj_compute_unit_of(target->processor);
  uint32_t bits = tj_dtype_bits(kernel->carried), words = loaded_elements(kernel) * bits / 32;
  uint32_t turned = bits == 8 ? words + words / 4 : 0; /* bytes change places through registers of their own */
  uint32_t others = OTHER_REGISTERS + (kernel->map != NULL && bits == 16 ? words / 4 : 0); /* so do halves of boxes */
  uint32_t registers = words + (turned > others ? turned : others);
  uint32_t waves_of_group = (kernel->workgroup_size + target->wave_size - 1) / target->wave_size;
  uint32_t waves = tj_fewer(unit->waves, unit->vgprs / registers) * unit->simds;
  uint32_t groups = tj_fewer(waves / waves_of_group, unit->workgroups);
  if (kernel->lds_elements > 0)
    groups = tj_fewer(groups, tj_workgroups_in_lds(unit, tj_kernel_lds_bytes(kernel)));
  return groups > 0 ? groups : 1;
}

/* How many workgroups are to be resident; 0: any number. What is computed has 64 registers a work-item: with as many
 * as the linker takes, 80, softmax of rows of 8192 bf16 comes to 0.93 of a copy, with these to 1.01, with 48 to 0.71.
 * Workgroups of which too few were resident have 56, if they load as much as a row takes alone: of 11 waves, 0.65 ->
 * 0.84; with weights, loads wait for one another. */
static uint32_t wanted_workgroups(const tj_kernel *kernel, const tj_target *target) {
  enum { FEW_ITEMS = 896, MOST_ITEMS = 1152, FEW_ELEMENTS = 48 };
  if (tj_kernel_only_moves(kernel))
    return resident_workgroups(kernel, target);
  uint32_t size = kernel->workgroup_size, wanted = RESIDENT_ITEMS / size;
  bool has_room = loaded_elements(kernel) <= FEW_ELEMENTS && (wanted + 1) * size <= MOST_ITEMS;
  if (wanted * size < FEW_ITEMS && has_room)
    wanted++;
  return computes_in_words(kernel, target) ? wanted : 0;
}

static void emit_kernel(tj_emitter *emitter) {
  enum { PTX_KERNEL = 71 /* LLVM's number of the calling convention */ };
  const tj_kernel *kernel = emitter->kernel;
  LLVMValueRef function = tj_emit_function(emitter, symbol(emitter->job, kernel->name), 0, TJ_WORDS_PASSED);
  LLVMSetFunctionCallConv(function, PTX_KERNEL);
  if (kernel->map != NULL)
    tj_emit_argument_attribute(emitter, function, LLVMCountParams(function), "nvvm.grid_constant");
  tj_emit_text_attribute(emitter, function, "nvvm.reqntid",
                         tj_string_format(emitter->job, "%u", kernel->workgroup_size));
  uint32_t wanted = wanted_workgroups(kernel, emitter->target);
  if (wanted > 0)
    tj_emit_text_attribute(emitter, function, "nvvm.minctasm", tj_string_format(emitter->job, "%u", wanted));
  tj_emit_grid(emitter, &(tj_grid){emit_workgroup, emit_item, emit_barrier});
}

static LLVMValueRef emit_bytes(tj_emitter *emitter, LLVMValueRef a, LLVMValueRef b, const uint8_t byte[4]) {
  uint32_t selector = byte[0] | (uint32_t)byte[1] << 4 | (uint32_t)byte[2] << 8 | (uint32_t)byte[3] << 12;
  LLVMValueRef arguments[] = {a, b, LLVMConstInt(emitter->i32, selector, false)};
  return tj_emit_intrinsic(emitter, "llvm.nvvm.prmt", NULL, 0, arguments, 3);
}

const tj_target_family tj_family_nvptx = {
    .name = "nvptx",
    .device_scope = "device",
    .list = list,
    .claims = claims,
    .parse = parse,
    .symbol = symbol,
    .register_of = register_of,
    .emit_kernel = emit_kernel,
    .read_float8 = read_float8,
    .write_float8 = write_float8,
    .emit_across = emit_across,
    .emit_lanes = emit_lanes,
    .emit_issues = emit_issues,
    .emit_box = emit_box,
    .emit_bytes = emit_bytes,
    .emit_kept_load = emit_kept_load,
};
