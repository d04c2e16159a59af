/* SPDX-License-Identifier: MIT */
#include "lower/target/amdgpu_passes.h"

#include "base/machine/processor.h"
#include "ir/array/array.h"
#include "lower/kernel/arithmetic.h"

/* --- lists --- */

static const char *const idle_passes[] = {
#define IDLE_PASS(name) name,
#define GPU_IDLE_PASS(name) name,
#define AMDGPU_IDLE_PASS(name) name,
#include "lower/target/idle_pass.def"
    NULL};

static const char *const idle_passes_in_whole[] = {
#define AMDGPU_IDLE_PASS_IN_WHOLE(name) name,
#include "lower/target/idle_pass.def"
    NULL};

static const char *const idle_passes_in_fixed[] = {
#define AMDGPU_IDLE_PASS_IN_FIXED(name) name,
#include "lower/target/idle_pass.def"
    NULL};

#define AMDGPU_IDLE_IN_MOVES(name) "," name
static const char idle_in_moves[] =
#include "lower/target/idle_pass.def"
    ;

#define AMDGPU_IDLE_IN_MOVES(name) "," name
#define AMDGPU_IDLE_IN_WIDE_MOVES(name) "," name
static const char idle_in_wide_moves[] =
#include "lower/target/idle_pass.def"
    ;

#define AMDGPU_IDLE_IN_MOVES(name) "," name
#define AMDGPU_IDLE_IN_WIDE_MOVES(name) "," name
#define AMDGPU_IDLE_IN_PLAIN_MOVES(name) "," name
static const char idle_in_plain_moves[] =
#include "lower/target/idle_pass.def"
    ;

#define AMDGPU_IDLE_IN_REDUCTIONS(name) "," name
static const char idle_in_reductions[] =
#include "lower/target/idle_pass.def"
    ;

#define AMDGPU_IDLE_IN_REDUCTIONS(name) "," name
#define AMDGPU_IDLE_AT_LENGTH(name) "," name
static const char idle_at_length[] =
#include "lower/target/idle_pass.def"
    ;

const tj_idle_passes tj_amdgpu_idle_passes = {
    .always = idle_passes, .in_whole = idle_passes_in_whole, .in_fixed = idle_passes_in_fixed};

/* --- kernels --- */

static bool is_move(const tj_kernel_step *step) {
  return (step->kind == TJ_STEP_LOAD || step->kind == TJ_STEP_STORE || step->kind == TJ_STEP_BARRIER) && !step->adds;
}

/* Whether elements are stored as they are loaded, by all workgroups alike: the scheduler also brings a branch among
 * scalars behind what it asks for, which takes an instruction less. */
static bool moves_alike(const tj_kernel *kernel) {
  bool do_all = tj_kernel_only_moves(kernel) && kernel->inner == NULL;
  for (uint32_t i = 0; i < kernel->step_count && do_all; i++)
    do_all = is_move(&kernel->step[i]);
  return do_all;
}

/* Whether elements are no bytes and turn around in LDS, so that what is computed on their way is little beside them.
 */
static bool is_wide(const tj_kernel *kernel) {
  enum { HALF_BITS = 16 };
  return tj_dtype_bits(kernel->carried) >= HALF_BITS && tj_kernel_has_step(kernel, TJ_STEP_BARRIER);
}

enum { WORD_BITS = 32 };

/* Whether elements fill registers, and no offset is selected by a mask. */
static bool is_plain(const tj_kernel *kernel) {
  bool are_all = tj_dtype_bits(kernel->carried) >= WORD_BITS;
  for (uint32_t i = 0; i < kernel->step_count && are_all; i++)
    are_all = !kernel->step[i].access.is_bounded;
  return are_all;
}

/* Whether elements are loaded one by one that fill no register. */
static bool has_single_parts(const tj_kernel *kernel) {
  const unsigned bits = tj_dtype_bits(kernel->carried);
  uint32_t i = 0;
  while (i < kernel->step_count &&
         (kernel->step[i].kind != TJ_STEP_LOAD || kernel->step[i].width * bits >= WORD_BITS))
    i++;
  return i < kernel->step_count;
}

/* Whether rows become single numbers on the way. */
static bool reduces(const tj_kernel *kernel) {
  uint32_t i = 0;
  while (i < kernel->step_count &&
         (kernel->step[i].kind != TJ_STEP_COMPUTE || kernel->step[i].compute->combine == TJ_ARRAY_OP_COUNT))
    i++;
  return i < kernel->step_count;
}

/* Whether rows are reduced of what takes many instructions, in numbers that fill registers or are their upper halves:
 * by processors that take two at once, but have no instructions for bf16, of which GlobalISel knows none. */
static bool reduces_at_length(const tj_target *target, const tj_kernel *kernel) {
  const tj_array_program *program = tj_kernel_program(kernel);
  bool are_whole = reduces(kernel) && target->float_lanes > 0 && !target->has_bfloat_rounding, is_long = false;
  for (uint32_t i = 0; i < kernel->buffer_count && are_whole; i++)
    are_whole = kernel->buffer[i].dtype == TJ_DTYPE_f32 || kernel->buffer[i].dtype == TJ_DTYPE_bf16;
  for (uint32_t i = 0; are_whole && i < program->count; i++)
    is_long = is_long || tj_array_op_is_costly(program->array[i]->op);
  return is_long;
}

/* From gfx10 on, loads side by side are a clause, and from gfx11 on, instructions that are independent are issued in
 * pairs, and others say for what they wait: there an order is to be looked for in any kernel. */
static bool has_order(const tj_target *target) {
  enum { HAS_CLAUSES = 10 };
  return tj_processor_by_name(target->processor)->major >= HAS_CLAUSES;
}

const char *tj_amdgpu_idle_in(const tj_target *target, const tj_kernel *kernel, bool is_selected_whole) {
  if (has_order(target))
    return NULL;
  if (reduces(kernel))
    return is_selected_whole ? idle_at_length : idle_in_reductions;
  if (!moves_alike(kernel))
    return NULL;
  if (is_plain(kernel))
    return idle_in_plain_moves;
  return is_wide(kernel) ? idle_in_wide_moves : idle_in_moves;
}

/* Where GlobalISel takes less time, its instructions are as few, and right: it puts halves that come one by one
 * together by two, has too few registers for bytes, joins no product of halves with a sum, and takes masked scalars
 * for what all lanes have, those included that have not loaded it. */
bool tj_amdgpu_selects_whole(const tj_target *target, const tj_kernel *kernel, const tj_kernel_nodes *nodes) {
  const bool moves = moves_alike(kernel) && is_wide(kernel) && !has_single_parts(kernel);
  return !has_order(target) && (moves || reduces_at_length(target, kernel)) &&
         !tj_kernel_nodes_have_masked_scalars(nodes, kernel->step, kernel->step_count);
}

bool tj_amdgpu_is_fixed(const tj_kernel *kernel) {
  return kernel->parameter_count == 0 && kernel->derived_count == 0 && moves_alike(kernel);
}
