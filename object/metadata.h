/* SPDX-License-Identifier: MIT */
/* Code object metadata: what the NT_AMDGPU_METADATA note says of each kernel. */
#ifndef TJ_OBJECT_METADATA_H
#define TJ_OBJECT_METADATA_H

#include "base/bytes.h"
#include "base/job.h"

/* An argument. Strings are "" where the metadata has none. */
typedef struct {
  const char *name;
  uint32_t offset; /* in the argument block, bytes */
  uint32_t size;
  const char *value_kind;    /* by_value, global_buffer, hidden_block_count_x … */
  const char *address_space; /* global, local, … */
  bool is_hidden;            /* set up by the dispatcher, not by the kernel's caller */
} tj_metadata_argument;

typedef struct {
  const char *name;
  const char *symbol; /* of the descriptor: name.kd */
  uint32_t kernarg_bytes, kernarg_alignment;
  uint32_t group_segment_bytes, private_segment_bytes; /* of a workgroup, of a work-item */
  uint32_t sgprs, vgprs, agprs;                        /* used, not allocated */
  uint32_t sgpr_spills, vgpr_spills;
  uint32_t wave_size;
  uint32_t max_flat_workgroup_size;
  uint32_t required_workgroup_size[3]; /* 0: not required */
  bool uses_dynamic_stack;
  const tj_metadata_argument *argument;
  uint32_t argument_count;
} tj_kernel_metadata;

typedef struct {
  const char *target; /* amdgcn-amd-amdhsa--gfx90a:xnack-; "" when it does not say */
  const tj_kernel_metadata *kernel;
  uint32_t kernel_count;
} tj_metadata;

/* Reads the note's MessagePack into the job's arena; strings are copied. Fails with TJ5005. */
const tj_metadata *tj_metadata_read(tj_job *job, tj_bytes bytes);

#endif
