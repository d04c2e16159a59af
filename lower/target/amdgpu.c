/* SPDX-License-Identifier: MIT */
/* The AMDGPU family: its processors, and kernels in the form that the HSA ABI gives them.
 *
 * A kernel has the calling convention amdgpu_kernel; its arguments are the argument block of kernel.h, and it needs
 * no hidden ones. */
#include "lower/machine/family.h"
#include "lower/steps/steps.h"
#include "lower/target/amdgpu_passes.h"

#include "base/machine/processor.h"
#include "base/machine/target_id.h"

#include <string.h>

enum {
  GLOBAL_ADDRESS_SPACE = 1,
  RESOURCE_ADDRESS_SPACE = 8,
  WORKGROUP_LIMIT = 1024,
  SLOT_BYTES = 256,
  TILE_BYTES = 1024 * SLOT_BYTES,
  GROUP_OF_ROWS = 256
};

/* So that four workgroups of a compute unit load while others reduce, as has to be on an H100 (docs/benchmarks.md):
 * with half as many, code is short, but a row of 8192 columns takes 1024 work-items, of which a compute unit has two
 * workgroups. */
enum { ROW_COLUMNS = 16 };

/* The first generation with v_maximum_f32. */
enum { HAS_EXTREMES = 12 };

/* The minor number of gfx950, of gfx9 the only one whose loads from LDS transpose, and that has v_maximum3_f32. */
enum { TRANSPOSES_LDS = 5 };

/* Of global accesses: signed numbers of 13 bits, of gfx10 12, from gfx12 on 24. */
static uint32_t displacement_limit(const tj_processor *processor) {
  uint32_t bits = processor->major >= 12 ? 24 : processor->major == 10 ? 12 : 13;
  return UINT32_C(1) << (bits - 1);
}

/* On offsets of descriptors, this gives the code of -O3 but for 0.2 % of the instructions, in a quarter of its time.
 */
static const char passes[] = "function(instcombine<no-verify-fixpoint>,simplifycfg)";

/* --- target IDs --- */

static void list(tj_text *text) {
  for (size_t i = 0; i < tj_processor_count; i++)
    tj_text_format(text, "%s\twaves of %u work-items, %u KiB of LDS\n", tj_processors[i].name,
                   tj_processor_wave_size(&tj_processors[i]), tj_processors[i].lds_bytes / 1024);
}

static bool claims(const char *text) {
  return strncmp(text, "gfx", 3) == 0;
}

static const tj_processor *find_processor(tj_job *job, const char *name) {
  const tj_processor *processor = tj_processor_by_name(name);
  if (processor == NULL)
    tj_fail(job, TJ_UNKNOWN_TARGET, "unknown processor %s", name);
  return processor;
}

/* The oldest that LLVM writes, so that every runtime loads it: kernels use nothing that later ones have. Code for
 * generic processors, which says how old it is, has the first that can. */
static uint32_t code_object_version(const tj_processor *processor) {
  return strstr(processor->name, "-generic") != NULL ? 6 : 4;
}

static void check_features(tj_job *job, const tj_processor *processor, const tj_target_id *id) {
  for (unsigned i = 0; i < TJ_TARGET_FEATURE_COUNT; i++) {
    if (id->feature[i] != TJ_FEATURE_ANY && (processor->features >> i & 1) == 0)
      tj_fail(job, TJ_UNKNOWN_FEATURE, "%s does not have the feature %s", processor->name,
              tj_target_feature_name((tj_target_feature)i));
  }
}

/* Of gfx9, gfx908, gfx90a and those from gfx940 on; of the others, those from gfx11 on. */
static bool adds_floats(const tj_processor *processor) {
  enum { GFX908 = 0x8, GFX90A = 0xa };
  bool is_matrix_core = processor->minor >= 4 || processor->stepping == GFX908 || processor->stepping == GFX90A;
  return processor->major >= 11 || (processor->major == 9 && is_matrix_core);
}

/* Of gfx9, gfx950; and those from gfx1250 on. */
static bool rounds_to_bfloat(const tj_processor *processor) {
  return processor->minor >= 5 && (processor->major == 9 || processor->major == 12);
}

/* Those from gfx1250 on. */
static bool has_signed_offsets(const tj_processor *processor) {
  return processor->major == 12 && processor->minor >= 5;
}

/* Of gfx9, gfx90a and those from gfx940 on. */
static bool has_fast_doubles(const tj_processor *processor) {
  enum { GFX90A = 0xa };
  return processor->major == 9 && (processor->minor >= 4 || (processor->minor == 0 && processor->stepping == GFX90A));
}

/* gfx90a and gfx940 to gfx942. Kernels of gfx950, which packs them, too, wait more often for what was computed last.
 */
static bool packs_floats(const tj_processor *processor) {
  return has_fast_doubles(processor) && !rounds_to_bfloat(processor);
}

/* The features as LLVM lists them: +sramecc,-xnack. */
static const char *list_features(tj_job *job, const tj_target_id *id) {
  tj_text list = tj_text_begin(job);
  for (unsigned i = 0; i < TJ_TARGET_FEATURE_COUNT; i++) {
    if (id->feature[i] != TJ_FEATURE_ANY)
      tj_text_format(&list, "%s%c%s", list.length > 0 ? "," : "", id->feature[i] == TJ_FEATURE_ON ? '+' : '-',
                     tj_target_feature_name((tj_target_feature)i));
  }
  return list.data;
}

static const char *canonical_name(tj_job *job, const tj_target_id *id) {
  char name[TJ_TARGET_ID_SIZE];
  tj_target_id_write(id, name);
  return tj_string_copy(job, name, strlen(name));
}

static tj_target parse(tj_job *job, const char *text) {
  tj_target_id id;
  tj_target_reason reason;
  bool is_read = tj_target_id_parse(text, &id, &reason);
  if (!is_read && reason.code == TJ_UNKNOWN_TARGET)
    tj_fail(job, reason.code, "%s", reason.text);
  const tj_processor *found = find_processor(job, id.processor);
  if (!is_read)
    tj_fail(job, reason.code, "%s", reason.text);
  check_features(job, found, &id);
  return (tj_target){
      .family = &tj_family_amdgpu,
      .name = canonical_name(job, &id),
      .triple = "amdgcn-amd-amdhsa",
      .processor = found->name,
      .features = list_features(job, &id),
      .passes = passes,
      .idle_passes = tj_amdgpu_idle_passes,
      .object = TJ_OBJECT_CODE_OBJECT,
      .code_object_version = code_object_version(found),
      .wave_size = tj_processor_wave_size(found),
      .lds_bytes = found->lds_bytes,
      .static_lds_bytes = found->lds_bytes,
      .workgroup_limit = WORKGROUP_LIMIT,
      .keeps_slots = true,
      .slot_bytes = SLOT_BYTES,
      .slot_limit = SLOT_BYTES,
      .tile_bytes = TILE_BYTES,
      .group_of_rows = GROUP_OF_ROWS,
      .group_of_costly_rows = GROUP_OF_ROWS,
      .row_columns = ROW_COLUMNS,
      .vector_bytes = 16,
      .global_address_space = GLOBAL_ADDRESS_SPACE,
      .displacement_limit = displacement_limit(found),
      .packs_words = true,
      .has_lds_at_zero = true,
      .has_register_banks = found->registers == TJ_REGISTERS_LARGE,
      .has_plain_atomic_stores = true,
      .has_32_bit_offsets = true,
      .has_signed_offsets = has_signed_offsets(found),
      .direct = tj_direct_loads_of(found->major, found->minor),
      .transposes_lds = found->major == 9 && found->minor == TRANSPOSES_LDS,
      .has_unaligned_vectors = true,
      .has_cheap_small_product = true,
      .has_extremes = found->major >= HAS_EXTREMES || (found->major == 9 && found->minor == TRANSPOSES_LDS),
      .has_fast_doubles = has_fast_doubles(found),
      .float_lanes = packs_floats(found) ? 2 : 0,
      .has_float_scaling = true,
      .has_float_sums = adds_floats(found),
      .has_bfloat_rounding = rounds_to_bfloat(found),
      .has_short_sums = true,
      .has_bfloat_sums = found->major == 12 && rounds_to_bfloat(found),
      .takes_sums_for_signs = true,
      .keeps_nans = true,
      .resource = tj_buffer_resource_of(found->major, found->minor),
      .floats8 = found->floats8,
  };
}

static const char *symbol(tj_job *job, const char *name) {
  (void)job;
  return name;
}

static const char *register_of(unsigned bits, bool varies) {
  (void)bits;
  return varies ? "v" : "s";
}

/* --- floats of 8 bits --- */

static const char *float8_name(tj_dtype dtype) {
  return tj_dtype_form(dtype).exponent == 4 ? "fp8" : "bf8";
}

static LLVMValueRef read_float8(tj_emitter *emitter, LLVMValueRef word, bool is_upper, tj_dtype dtype) {
  const char *name = tj_string_format(emitter->job, "llvm.amdgcn.cvt.pk.f32.%s", float8_name(dtype));
  LLVMValueRef arguments[] = {word, LLVMConstInt(emitter->i1, is_upper, false)};
  return tj_emit_intrinsic(emitter, name, NULL, 0, arguments, 2);
}

/* The instructions make NaN, or infinity, of what is beyond the largest number, unless the mode FP16_OVFL is set,
 * which changes f16 as well. */
static LLVMValueRef write_float8(tj_emitter *emitter, LLVMValueRef word, bool is_upper, LLVMValueRef low,
                                 LLVMValueRef high, tj_dtype dtype) {
  const char *name = tj_string_format(emitter->job, "llvm.amdgcn.cvt.pk.%s.f32", float8_name(dtype));
  LLVMValueRef arguments[] = {low, high, word, LLVMConstInt(emitter->i1, is_upper, false)};
  return tj_emit_intrinsic(emitter, name, NULL, 0, arguments, 4);
}

/* --- lanes --- */

enum { ROW = 16, HALF_ROW = 8, QUAD = 4, LANES_OF_PERMUTATION = 32 };

/* Lane i of four, or of a row, reads lane map(i) of it: `bits` for each. */
static uint64_t selector(const tj_lane_map *map, uint32_t lanes, uint32_t bits) {
  uint64_t selected = 0;
  for (uint32_t lane = 0; lane < lanes; lane++)
    selected |= (uint64_t)(tj_lane_read(map, lane) & (lanes - 1)) << lane * bits;
  return selected;
}

static LLVMValueRef emit_dpp(tj_emitter *emitter, LLVMValueRef word, uint32_t control) {
  enum { ALL_ROWS = 15, ALL_BANKS = 15 };
  LLVMTypeRef overload[] = {emitter->i32};
  LLVMValueRef arguments[] = {LLVMGetPoison(emitter->i32),         word,
                              tj_emit_int(emitter, 32, control),   tj_emit_int(emitter, 32, ALL_ROWS),
                              tj_emit_int(emitter, 32, ALL_BANKS), LLVMConstInt(emitter->i1, true, false)};
  return tj_emit_intrinsic(emitter, "llvm.amdgcn.update.dpp", overload, 1, arguments, 6);
}

static LLVMValueRef emit_row(tj_emitter *emitter, LLVMValueRef word, const tj_lane_map *map, const char *name) {
  LLVMTypeRef overload[] = {emitter->i32};
  LLVMValueRef no = LLVMConstInt(emitter->i1, false, false);
  uint64_t lanes = selector(map, ROW, 4);
  LLVMValueRef arguments[] = {LLVMGetPoison(emitter->i32),
                              word,
                              tj_emit_int(emitter, 32, (int32_t)(uint32_t)lanes),
                              tj_emit_int(emitter, 32, (int32_t)(lanes >> 32)),
                              no,
                              no};
  return tj_emit_intrinsic(emitter, name, overload, 1, arguments, 6);
}

static LLVMValueRef emit_swizzle(tj_emitter *emitter, LLVMValueRef word, uint32_t distance) {
  enum { XOR = 10 };
  LLVMValueRef pattern[] = {word, tj_emit_int(emitter, 32, distance << XOR | (LANES_OF_PERMUTATION - 1))};
  return tj_emit_intrinsic(emitter, "llvm.amdgcn.ds.swizzle", NULL, 0, pattern, 2);
}

static LLVMValueRef emit_permutation(tj_emitter *emitter, LLVMValueRef word, const tj_lane_map *map) {
  enum { LOG_BYTES = 2 };
  LLVMValueRef address =
      LLVMBuildShl(emitter->builder, tj_emit_lane_read(emitter, map), tj_emit_int(emitter, 32, LOG_BYTES), "");
  LLVMValueRef arguments[] = {address, word};
  return tj_emit_intrinsic(emitter, "llvm.amdgcn.ds.bpermute", NULL, 0, arguments, 2);
}

static LLVMValueRef emit_lanes(tj_emitter *emitter, LLVMValueRef word, const tj_lane_step *step) {
  enum { MIRROR_ROW = 0x140, MIRROR_HALF_ROW = 0x141, ROTATE_ROW = 0x120, XMASK_ROW = 0x160 };
  switch (step->move) {
  case TJ_LANE_QUAD:
    return emit_dpp(emitter, word, (uint32_t)selector(&step->map, QUAD, 2));
  case TJ_LANE_HALF_MIRROR:
    return emit_dpp(emitter, word, MIRROR_HALF_ROW);
  case TJ_LANE_MIRROR:
    return emit_dpp(emitter, word, MIRROR_ROW);
  case TJ_LANE_ROTATION:
    return emit_dpp(emitter, word, ROTATE_ROW | HALF_ROW);
  case TJ_LANE_XMASK:
    return emit_dpp(emitter, word, XMASK_ROW | step->map.offset);
  case TJ_LANE_ROW:
    return emit_row(emitter, word, &step->map, "llvm.amdgcn.permlane16");
  case TJ_LANE_CROSSED_ROW:
    return emit_row(emitter, word, &step->map, "llvm.amdgcn.permlanex16");
  case TJ_LANE_SWIZZLE:
    return emit_swizzle(emitter, word, step->map.offset);
  default:
    return emit_permutation(emitter, word, &step->map);
  }
}

static void emit_swap(tj_emitter *emitter, LLVMValueRef word[2], uint32_t bit) {
  LLVMValueRef no = LLVMConstInt(emitter->i1, false, false), arguments[] = {word[0], word[1], no, no};
  const char *name = tj_string_format(emitter->job, "llvm.amdgcn.permlane%u.swap", 1u << bit);
  LLVMValueRef both = tj_emit_intrinsic(emitter, name, NULL, 0, arguments, 4);
  word[0] = LLVMBuildExtractValue(emitter->builder, both, 0, "");
  word[1] = LLVMBuildExtractValue(emitter->builder, both, 1, "");
}

static LLVMValueRef emit_lane(tj_emitter *emitter, LLVMValueRef word, uint32_t lane) {
  LLVMTypeRef overload[] = {emitter->i32};
  LLVMValueRef arguments[] = {word, tj_emit_int(emitter, 32, lane)};
  return tj_emit_intrinsic(emitter, "llvm.amdgcn.readlane", overload, 1, arguments, 2);
}

/* Of each half of a wave of 64 lanes, any lane has what all have. */
static LLVMValueRef emit_other_half(tj_emitter *emitter, LLVMValueRef word) {
  enum { HALF = 2 * ROW };
  LLVMValueRef counted[] = {tj_emit_int(emitter, 32, -1), tj_emit_int(emitter, 32, 0)};
  LLVMValueRef number = tj_emit_intrinsic(emitter, "llvm.amdgcn.mbcnt.lo", NULL, 0, counted, 2);
  LLVMValueRef is_last = LLVMBuildICmp(emitter->builder, LLVMIntEQ, number, tj_emit_int(emitter, 32, HALF), "");
  return LLVMBuildSelect(emitter->builder, is_last, emit_lane(emitter, word, 0), emit_lane(emitter, word, HALF), "");
}

static LLVMValueRef emit_across(tj_emitter *emitter, LLVMValueRef word, uint32_t distance) {
  tj_lane_step step;
  tj_shared_memory processor;
  if (distance > ROW || !tj_shared_memory_of(emitter->target->processor, &processor) ||
      !tj_lane_find_across(&processor, (uint32_t)__builtin_ctz(distance), &step))
    return emit_other_half(emitter, word);
  return emit_lanes(emitter, word, &step);
}

/* --- the larger --- */

/* Stands at the function's beginning. */
static LLVMValueRef infinity(tj_emitter *emitter) {
  enum { INFINITE = 0x7f800000 };
  if (emitter->infinity != NULL)
    return emitter->infinity;
  LLVMBasicBlockRef here = LLVMGetInsertBlock(emitter->builder);
  LLVMValueRef first = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(emitter->function));
  if (first != NULL)
    LLVMPositionBuilderBefore(emitter->builder, first);
  emitter->infinity = tj_emit_hidden(emitter, tj_emit_int(emitter, 32, INFINITE), TJ_DTYPE_f32);
  LLVMPositionBuilderAtEnd(emitter->builder, here);
  return emitter->infinity;
}

/* The middle one with infinity. Of maxima that leave NaN out, and of an infinity that it knows, LLVM makes what
 * quiets NaNs first, by an instruction for each operand. */
static LLVMValueRef emit_larger(tj_emitter *emitter, LLVMValueRef a, LLVMValueRef b) {
  LLVMTypeRef overload[] = {emitter->f32};
  LLVMValueRef arguments[] = {a, b, infinity(emitter)};
  return tj_emit_intrinsic(emitter, "llvm.amdgcn.fmed3", overload, 1, arguments, 3);
}

/* --- resources --- */

static LLVMValueRef emit_resource(tj_emitter *emitter, LLVMValueRef address, LLVMValueRef bytes) {
  LLVMTypeRef resource = LLVMPointerTypeInContext(emitter->context, RESOURCE_ADDRESS_SPACE);
  LLVMTypeRef overloads[] = {resource, LLVMTypeOf(address)};
  LLVMValueRef arguments[] = {address, LLVMConstInt(emitter->i16, 0, false),
                              LLVMBuildZExt(emitter->builder, bytes, emitter->i64, ""),
                              tj_emit_int(emitter, 32, emitter->target->resource->word3)};
  return tj_emit_intrinsic(emitter, "llvm.amdgcn.make.buffer.rsrc", overloads, 2, arguments, 4);
}

static LLVMValueRef emit_bounded_load(tj_emitter *emitter, const tj_bounded_place *place, LLVMTypeRef type) {
  LLVMValueRef arguments[] = {place->resource, place->offset, place->scalar, tj_emit_int(emitter, 32, 0)};
  return tj_emit_intrinsic(emitter, "llvm.amdgcn.raw.ptr.buffer.load", &type, 1, arguments, 4);
}

static void emit_bounded_store(tj_emitter *emitter, const tj_bounded_place *place, LLVMValueRef value,
                               bool is_streamed) {
  uint32_t policy = is_streamed ? emitter->target->resource->streamed : 0;
  LLVMValueRef arguments[] = {value, place->resource, place->offset, place->scalar, tj_emit_int(emitter, 32, policy)};
  tj_emit_typed_intrinsic(emitter, "llvm.amdgcn.raw.ptr.buffer.store", arguments, 5);
}

static LLVMValueRef emit_transposing_load(tj_emitter *emitter, LLVMValueRef pointer, unsigned bits) {
  enum { LOADED_BITS = 64 };
  LLVMTypeRef halves = LLVMVectorType(emitter->i16, 4), words = LLVMVectorType(emitter->i32, 2);
  LLVMTypeRef overload[] = {bits == 16 ? halves : words};
  LLVMValueRef loaded = tj_emit_intrinsic(
      emitter, bits == 16 ? "llvm.amdgcn.ds.read.tr16.b64" : "llvm.amdgcn.ds.read.tr8.b64", overload, 1, &pointer, 1);
  return LLVMBuildBitCast(emitter->builder, loaded,
                          LLVMVectorType(bits == 16 ? emitter->i16 : emitter->i8, LOADED_BITS / bits), "");
}

/* --- once for a wave --- */

static LLVMValueRef emit_uniform(tj_emitter *emitter, LLVMValueRef value) {
  LLVMTypeRef overload[] = {emitter->i32};
  return tj_emit_intrinsic(emitter, "llvm.amdgcn.readfirstlane", overload, 1, &value, 1);
}

/* --- straight into LDS --- */

/* Of whichever lane is active, the wave's first work-item is that of its own number without the lane's. */
static LLVMValueRef emit_first_of_wave(tj_emitter *emitter, LLVMValueRef address, uint32_t bytes) {
  LLVMBuilderRef builder = emitter->builder;
  LLVMValueRef item = tj_emit_intrinsic(emitter, "llvm.amdgcn.workitem.id.x", NULL, 0, NULL, 0);
  LLVMValueRef lane = LLVMBuildAnd(builder, item, tj_emit_int(emitter, 32, emitter->target->wave_size - 1), "");
  LLVMValueRef beyond = LLVMBuildMul(builder, lane, tj_emit_int(emitter, 32, bytes), "");
  LLVMValueRef place = LLVMBuildPtrToInt(builder, address, emitter->i32, "");
  LLVMValueRef first = emit_uniform(emitter, LLVMBuildSub(builder, place, beyond, ""));
  return LLVMBuildIntToPtr(builder, first, LLVMTypeOf(address), "");
}

static LLVMValueRef emit_direct_load_of_wave(tj_emitter *emitter, LLVMValueRef from, LLVMValueRef to,
                                             uint32_t bytes) {
  LLVMValueRef none = tj_emit_int(emitter, 32, 0),
               arguments[] = {from, to, tj_emit_int(emitter, 32, bytes), none, none};
  return tj_emit_intrinsic(emitter, "llvm.amdgcn.global.load.lds", NULL, 0, arguments, 5);
}

static LLVMValueRef emit_direct_load_of_lane(tj_emitter *emitter, LLVMValueRef from, LLVMValueRef to,
                                             uint32_t bytes) {
  LLVMValueRef none = tj_emit_int(emitter, 32, 0), arguments[] = {from, to, none, none};
  const char *name = tj_string_format(emitter->job, "llvm.amdgcn.global.load.async.to.lds.b%u", 8 * bytes);
  return tj_emit_intrinsic(emitter, name, NULL, 0, arguments, 4);
}

static LLVMValueRef emit_direct_load(tj_emitter *emitter, LLVMValueRef from, LLVMValueRef to, uint32_t bytes) {
  if (emitter->target->direct->is_by_lane)
    return emit_direct_load_of_lane(emitter, from, to, bytes);
  return emit_direct_load_of_wave(emitter, from, to, bytes);
}

/* --- boxes --- */

/* Instructions of the engine look at no lane, so that waves branch around them as a whole. */
static LLVMValueRef emit_issues(tj_emitter *emitter, uint32_t number) {
  LLVMBuilderRef builder = emitter->builder;
  uint32_t lanes = emitter->target->wave_size, size = emitter->kernel->workgroup_size;
  LLVMValueRef item = tj_emit_intrinsic(emitter, "llvm.amdgcn.workitem.id.x", NULL, 0, NULL, 0);
  LLVMValueRef wave = LLVMBuildLShr(builder, item, tj_emit_int(emitter, 32, __builtin_ctz(lanes)), "");
  wave = emit_uniform(emitter, wave);
  return LLVMBuildICmp(builder, LLVMIntEQ, wave, tj_emit_int(emitter, 32, number % ((size + lanes - 1) / lanes)), "");
}

/* Words first … first + count - 1 as a vector; beyond the last one zeros. */
static LLVMValueRef group_of(tj_emitter *emitter, LLVMValueRef const word[], uint32_t words, uint32_t first,
                             uint32_t count) {
  LLVMValueRef group = LLVMConstNull(LLVMVectorType(emitter->i32, count));
  for (uint32_t i = 0; i < count && first + i < words; i++)
    group = LLVMBuildInsertElement(emitter->builder, group, word[first + i], tj_emit_int(emitter, 32, i), "");
  return group;
}

/* Words 2 and 3 have the address, above which they go on. */
static void add_address(tj_emitter *emitter, LLVMValueRef address, LLVMValueRef word[]) {
  LLVMBuilderRef builder = emitter->builder;
  LLVMValueRef bits = tj_emit_int(emitter, 64, 32), high = LLVMBuildZExt(builder, word[3], emitter->i64, ""),
               both = LLVMBuildOr(builder, LLVMBuildShl(builder, high, bits, ""),
                                  LLVMBuildZExt(builder, word[2], emitter->i64, ""), "");
  both = LLVMBuildAdd(builder, both, LLVMBuildPtrToInt(builder, address, emitter->i64, ""), "");
  word[2] = LLVMBuildTrunc(builder, both, emitter->i32, "");
  word[3] = LLVMBuildTrunc(builder, LLVMBuildLShr(builder, both, bits, ""), emitter->i32, "");
}

static void emit_wait(tj_emitter *emitter, const char *name, LLVMTypeRef type, uint64_t counts) {
  LLVMValueRef left = LLVMConstInt(type, counts, false);
  tj_emit_intrinsic(emitter, name, NULL, 0, &left, 1);
}

/* A tensor descriptor, in groups of 4, 8, 4 and 4 words. */
static void emit_box(tj_emitter *emitter, const tj_kernel_step *step, LLVMValueRef word[]) {
  uint32_t count = step->word_count;
  add_address(emitter, emitter->steps->buffer[step->access.buffer], word);
  LLVMValueRef none = tj_emit_int(emitter, 32, 0), first = group_of(emitter, word, count, 0, 4),
               second = group_of(emitter, word, count, 4, 8), third = group_of(emitter, word, count, 12, 4),
               fourth = group_of(emitter, word, count, 16, 4);
  const char *name = step->is_taken ? "llvm.amdgcn.tensor.store.from.lds" : "llvm.amdgcn.tensor.load.to.lds";
  if (count > 12)
    tj_emit_intrinsic(emitter, name, NULL, 0, (LLVMValueRef[]){first, second, third, fourth, none}, 5);
  else
    tj_emit_intrinsic(emitter, tj_string_format(emitter->job, "%s.d2", name), NULL, 0,
                      (LLVMValueRef[]){first, second, none}, 3);
  if (step->is_taken)
    emit_wait(emitter, "llvm.amdgcn.s.wait.tensorcnt", emitter->i16, 0);
}

/* --- kernels --- */

/* Function attributes that have no value: hidden arguments and registers that kernels do without. Of all that LLVM
 * knows, those that change code: the others follow from these, and from the workgroup's size. */
static const char *const flags[] = {
    "amdgpu-no-cluster-id-y", "amdgpu-no-cluster-id-z",      "amdgpu-no-dispatch-id",
    "amdgpu-no-dispatch-ptr", "amdgpu-no-flat-scratch-init", "amdgpu-no-implicitarg-ptr",
    "amdgpu-no-queue-ptr",    "amdgpu-no-workgroup-id-y",    "amdgpu-no-workgroup-id-z",
};

/* Where registers of matrices may be had, what waits for its store is copied to them and back. */
#define NO_MATRIX_REGISTERS "0"

static bool loads_nothing(const tj_kernel *kernel) {
  return !tj_kernel_has_step(kernel, TJ_STEP_LOAD) && !tj_kernel_has_step(kernel, TJ_STEP_DIRECT) &&
         !tj_kernel_has_step(kernel, TJ_STEP_BOX);
}

/* Nothing is gained from computing early what no load waits for; it only takes registers. */
static void set_schedule(tj_emitter *emitter, LLVMValueRef function) {
  if (loads_nothing(emitter->kernel))
    tj_emit_text_attribute(emitter, function, "amdgpu-sched-strategy", "iterative-minreg");
}

static void set_passes(tj_emitter *emitter, LLVMValueRef function) {
  const char *idle = tj_amdgpu_idle_in(emitter->target, emitter->kernel, emitter->is_selected_whole);
  if (idle != NULL)
    tj_emit_text_attribute(emitter, function, TJ_IDLE_IN_FUNCTION, idle);
  if (emitter->is_selected_whole)
    tj_emit_text_attribute(emitter, function, TJ_SELECTED_WHOLE, tj_amdgpu_is_fixed(emitter->kernel) ? TJ_FIXED : "");
}

static void set_lds_size(tj_emitter *emitter, LLVMValueRef function) {
  uint32_t bytes = tj_kernel_lds_bytes(emitter->kernel);
  if (bytes > 0)
    tj_emit_text_attribute(emitter, function, "amdgpu-lds-size", tj_string_format(emitter->job, "%u", bytes));
}

static void set_attributes(tj_emitter *emitter, LLVMValueRef function) {
  for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
    tj_emit_text_attribute(emitter, function, flags[i], "");
  const char *size =
      tj_string_format(emitter->job, "%u,%u", emitter->kernel->workgroup_size, emitter->kernel->workgroup_size);
  tj_emit_text_attribute(emitter, function, "amdgpu-flat-work-group-size", size);
  tj_emit_text_attribute(emitter, function, "uniform-work-group-size", "true");
  tj_emit_text_attribute(emitter, function, "amdgpu-agpr-alloc", NO_MATRIX_REGISTERS);
  set_lds_size(emitter, function);
  set_schedule(emitter, function);
  set_passes(emitter, function);
}

static void set_required_size(tj_emitter *emitter, LLVMValueRef function) {
  LLVMMetadataRef sizes[3];
  for (unsigned i = 0; i < 3; i++) {
    uint64_t size = i == 0 ? emitter->kernel->workgroup_size : 1;
    sizes[i] = LLVMValueAsMetadata(LLVMConstInt(emitter->i32, size, false));
  }
  LLVMGlobalSetMetadata(function, LLVMGetMDKindIDInContext(emitter->context, "reqd_work_group_size", 20),
                        LLVMMDNodeInContext2(emitter->context, sizes, 3));
}

/* llvm.amdgcn.`name`() whose result is below `limit`; 0: any. */
static LLVMValueRef emit_id(tj_emitter *emitter, const char *name, uint64_t limit) {
  LLVMValueRef id = tj_emit_intrinsic(emitter, name, NULL, 0, NULL, 0);
  if (limit != 0 && limit <= UINT32_MAX)
    tj_emit_call_range(emitter, id, 32, 0, limit);
  return id;
}

static LLVMValueRef emit_workgroup(tj_emitter *emitter, uint64_t limit) {
  return emit_id(emitter, "llvm.amdgcn.workgroup.id.x", limit);
}

static LLVMValueRef emit_item(tj_emitter *emitter) {
  return emit_id(emitter, "llvm.amdgcn.workitem.id.x", emitter->kernel->workgroup_size);
}

static void emit_fence(tj_emitter *emitter, LLVMAtomicOrdering ordering) {
  unsigned scope = LLVMGetSyncScopeID(emitter->context, "workgroup", 9);
  LLVMBuildFenceSyncScope(emitter->builder, ordering, scope, "");
}

/* The bits of s_waitcnt in gfx9 that wait for all accesses of LDS, and for those of memory until so many are left. */
static uint64_t wait_of_gfx9(uint32_t left) {
  enum { NOTHING_LEFT = 0x0070, LOW = 15, HIGH = 14 };
  return NOTHING_LEFT | (left & LOW) | (uint64_t)(left / (LOW + 1)) << HIGH;
}

/* What goes straight into LDS is there once the wave has waited for it: in order with its stores in gfx9, by counters
 * of their own later. */
static void emit_waits(tj_emitter *emitter, tj_phase before) {
  enum { MOST_LEFT = 62 }; /* 63 would be no wait at all */
  bool is_direct = tj_kernel_has_step(emitter->kernel, TJ_STEP_DIRECT),
       is_counted = emitter->target->direct->is_by_lane;
  uint32_t left = tj_emit_left_at_barrier(emitter, before, !is_counted);
  left = left < MOST_LEFT ? left : MOST_LEFT;
  if (!is_counted) {
    emit_wait(emitter, "llvm.amdgcn.s.waitcnt", emitter->i32, wait_of_gfx9(left));
    return;
  }
  emit_wait(emitter, "llvm.amdgcn.s.wait.dscnt", emitter->i16, 0);
  emit_wait(emitter, is_direct ? "llvm.amdgcn.s.wait.asynccnt" : "llvm.amdgcn.s.wait.tensorcnt", emitter->i16, left);
}

static void emit_boundary(tj_emitter *emitter) {
  LLVMValueRef nothing = LLVMConstInt(emitter->i32, 0, false);
  tj_emit_intrinsic(emitter, "llvm.amdgcn.sched.barrier", NULL, 0, &nothing, 1);
}

/* Where a mode says which bank of vector registers instructions mean, LLVM 22 changes it one instruction too early
 * where waves meet between two that need different ones: it has to be one that has no registers. */
static void emit_meeting(tj_emitter *emitter) {
  bool is_alone = emitter->target->has_register_banks;
  if (is_alone)
    emit_boundary(emitter);
  tj_emit_intrinsic(emitter, "llvm.amdgcn.s.barrier", NULL, 0, NULL, 0);
  if (is_alone)
    emit_boundary(emitter);
}

/* A fence would wait for all that is on its way into LDS, or for stores to memory, which nobody here reads. */
static void emit_barrier(tj_emitter *emitter, tj_phase before) {
  const tj_kernel *kernel = emitter->kernel;
  bool has_waits = tj_kernel_has_step(kernel, TJ_STEP_DIRECT) || tj_kernel_has_step(kernel, TJ_STEP_BOX);
  if (has_waits)
    emit_waits(emitter, before);
  else
    emit_fence(emitter, LLVMAtomicOrderingRelease);
  emit_meeting(emitter);
  if (!has_waits)
    emit_fence(emitter, LLVMAtomicOrderingAcquire);
}

static void emit_kernel(tj_emitter *emitter) {
  const tj_kernel *kernel = emitter->kernel;
  LLVMValueRef function = tj_emit_function(emitter, kernel->name, 0, TJ_WORDS_LOADED);
  LLVMSetFunctionCallConv(function, LLVMAMDGPUKERNELCallConv);
  set_attributes(emitter, function);
  set_required_size(emitter, function);
  if (kernel->faster == NULL)
    tj_emit_module_flag(emitter, "amdhsa_code_object_version", 100 * emitter->target->code_object_version);
  tj_emit_grid(emitter, &(tj_grid){emit_workgroup, emit_item, emit_barrier});
}

static LLVMValueRef emit_small_product(tj_emitter *emitter, LLVMValueRef a, LLVMValueRef b, bool is_signed) {
  LLVMTypeRef overload[] = {emitter->i32};
  LLVMValueRef arguments[] = {a, b};
  return tj_emit_intrinsic(emitter, is_signed ? "llvm.amdgcn.mul.i24" : "llvm.amdgcn.mul.u24", overload, 1, arguments,
                           2);
}

static LLVMValueRef emit_bytes(tj_emitter *emitter, LLVMValueRef a, LLVMValueRef b, const uint8_t byte[4]) {
  uint32_t selector = byte[0] | (uint32_t)byte[1] << 8 | (uint32_t)byte[2] << 16 | (uint32_t)byte[3] << 24;
  LLVMValueRef arguments[] = {b, a, LLVMConstInt(emitter->i32, selector, false)};
  return tj_emit_intrinsic(emitter, "llvm.amdgcn.perm", NULL, 0, arguments, 3);
}

const tj_target_family tj_family_amdgpu = {
    .name = "amdgpu",
    .device_scope = "agent",
    .list = list,
    .claims = claims,
    .parse = parse,
    .symbol = symbol,
    .register_of = register_of,
    .selects_whole = tj_amdgpu_selects_whole,
    .emit_kernel = emit_kernel,
    .read_float8 = read_float8,
    .write_float8 = write_float8,
    .emit_larger = emit_larger,
    .emit_across = emit_across,
    .emit_lanes = emit_lanes,
    .emit_swap = emit_swap,
    .emit_transposing_load = emit_transposing_load,
    .emit_uniform = emit_uniform,
    .emit_first_of_wave = emit_first_of_wave,
    .emit_direct_load = emit_direct_load,
    .emit_issues = emit_issues,
    .emit_box = emit_box,
    .emit_small_product = emit_small_product,
    .emit_bytes = emit_bytes,
    .emit_boundary = emit_boundary,
    .emit_resource = emit_resource,
    .emit_bounded_load = emit_bounded_load,
    .emit_bounded_store = emit_bounded_store,
};
