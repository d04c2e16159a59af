/* SPDX-License-Identifier: MIT */
/* The state in which hardware hands a wave to a kernel; tables of LLVM's "User Guide for AMDGPU Backend". What the
 * ABI leaves open counts as unwritten (undefined.h). */
#include "rt/sim/load/start.h"

enum { PRELOAD_SKIP = 256 };

/* --- scalar registers --- */

/* The next scalar register to be set up. */
typedef struct {
  tj_sim_wave *wave;
  uint32_t next;
} scalars;

static void put_scalar(tj_sim_wave *wave, uint32_t index, uint32_t word) {
  wave->scalar[index] = word;
  tj_sim_define_scalar(wave, index);
}

static void put_word(scalars *s, uint32_t word) {
  if (s->next < TJ_SIM_VCC)
    put_scalar(s->wave, s->next, word);
  s->next++;
}

static void put_pair(scalars *s, bool is_enabled, uint64_t value) {
  if (!is_enabled)
    return;
  put_word(s, (uint32_t)value);
  put_word(s, (uint32_t)(value >> 32));
}

/* The resource of scratch memory: lanes' words interleaved, all offsets from the wave's start. */
static void put_private_buffer(scalars *s) {
  put_word(s, 0);
  put_word(s, 1u << 31);
  put_word(s, UINT32_MAX);
  put_word(s, 0);
}

/* Words of the argument block that the kernel wants in registers. */
static void put_preloaded(scalars *s, const tj_sim_launch *launch) {
  const tj_kernel_descriptor *d = &launch->kernel->code->descriptor;
  for (uint32_t i = 0; i < d->kernarg_preload_length; i++) {
    uint32_t offset = 4 * (d->kernarg_preload_offset + i), word = 0;
    if (offset + 4 <= d->kernarg_bytes && launch->arguments != NULL)
      memcpy(&word, (const unsigned char *)launch->arguments + offset, 4);
    put_word(s, word);
  }
}

static void put_user_registers(scalars *s, const tj_sim_launch *launch) {
  const tj_kernel_descriptor *d = &launch->kernel->code->descriptor;
  if (d->has_private_segment_buffer)
    put_private_buffer(s);
  put_pair(s, d->has_dispatch_pointer, launch->packet);
  put_pair(s, d->has_queue_pointer, launch->queue);
  put_pair(s, d->has_kernarg_pointer, (uint64_t)(uintptr_t)launch->arguments);
  put_pair(s, d->has_dispatch_id, 0);
  put_pair(s, d->has_flat_scratch_init, 0);
  if (d->has_private_segment_size)
    put_word(s, d->private_segment_bytes);
  put_preloaded(s, launch);
}

static void put_system_registers(scalars *s, const tj_sim_launch *launch, const uint32_t at[3]) {
  const tj_kernel_descriptor *d = &launch->kernel->code->descriptor;
  if (launch->processor->major >= 12) {
    put_scalar(s->wave, TJ_SIM_TTMP + 9, at[0]);
    if (tj_sim_has_clusters(launch->processor))
      put_scalar(s->wave, TJ_SIM_TTMP + 6, 0);
    put_scalar(s->wave, TJ_SIM_TTMP + 7, (at[1] & 0xffff) | at[2] << 16);
    return;
  }
  s->next = d->user_sgprs;
  for (unsigned i = 0; i < 3; i++) {
    if (d->has_workgroup_id[i])
      put_word(s, at[i]);
  }
  if (d->has_workgroup_info)
    put_word(s, 0);
  if (d->has_private_segment)
    put_word(s, 0);
}

/* --- vector registers --- */

static void put_vector(tj_sim_wave *wave, unsigned index, uint32_t lane, uint32_t value) {
  wave->vector[index][lane] = value;
  tj_sim_define_vector(wave, index, 1ull << lane);
}

static void put_ids(tj_sim_wave *wave, const tj_sim_launch *launch, uint32_t lane, const uint32_t id[3]) {
  uint32_t wanted = launch->kernel->code->descriptor.workitem_id_dimensions;
  if (tj_sim_has_packed_ids(launch->processor)) {
    put_vector(wave, 0, lane, id[0] | id[1] << 10 | id[2] << 20);
    return;
  }
  for (unsigned i = 0; i < wanted && i < 3 && i < wave->vector_count; i++)
    put_vector(wave, i, lane, id[i]);
}

void tj_sim_start_wave(tj_sim_wave *wave, const tj_sim_launch *launch, const uint32_t at[3], const uint32_t size[3],
                       uint32_t number) {
  const tj_kernel_descriptor *d = &launch->kernel->code->descriptor;
  tj_sim_forget_registers(wave);
  wave->state = TJ_SIM_RUNNING;
  wave->next = 0;
  memset(&wave->loads, 0, sizeof wave->loads);
  scalars s = {wave, 0};
  put_user_registers(&s, launch);
  put_system_registers(&s, launch, at);
  uint64_t exec = 0;
  uint32_t total = size[0] * size[1] * size[2];
  for (uint32_t lane = 0; lane < wave->lanes && number * wave->lanes + lane < total; lane++) {
    uint32_t item = number * wave->lanes + lane;
    uint32_t id[3] = {item % size[0], item / size[0] % size[1], item / size[0] / size[1]};
    put_ids(wave, launch, lane, id);
    exec |= 1ull << lane;
  }
  tj_sim_set_exec(wave, exec);
  if (d->kernarg_preload_length > 0 && launch->kernel->program->size > PRELOAD_SKIP)
    wave->next = launch->kernel->program->index[PRELOAD_SKIP / 4];
}
