/* SPDX-License-Identifier: MIT */
/* Kernel descriptors: the 64 bytes that tell the hardware how to start a kernel's waves. */
#ifndef TJ_OBJECT_KERNEL_DESCRIPTOR_H
#define TJ_OBJECT_KERNEL_DESCRIPTOR_H

#include "base/bytes.h"
#include "base/machine/processor.h"

enum { TJ_KERNEL_DESCRIPTOR_SIZE = 64 };

/* The raw words, and what they say on the code object's processor. Fields that the processor does not have are 0. */
typedef struct {
  uint32_t group_segment_bytes;   /* fixed LDS of a workgroup */
  uint32_t private_segment_bytes; /* fixed scratch of a work-item */
  uint32_t kernarg_bytes;
  int64_t entry_offset; /* from the descriptor to the code */
  uint32_t rsrc1, rsrc2, rsrc3;
  uint16_t properties;
  uint16_t kernarg_preload;

  uint32_t wave_size;              /* 32 or 64 */
  uint32_t vgprs;                  /* allocated to a wave; with UNIFIED registers, AGPRs among them */
  uint32_t accum_offset;           /* UNIFIED registers: the first AGPR among them */
  uint32_t sgprs;                  /* allocated to a wave, VCC and the like among them; 128 from gfx10 on */
  uint32_t user_sgprs;             /* set up before the wave starts, in the order of the has_… fields below */
  uint32_t workitem_id_dimensions; /* 1 … 3: the work-item ids that are set up in VGPRs */
  uint32_t kernarg_preload_length; /* dwords of the argument block that are set up in user SGPRs */
  uint32_t kernarg_preload_offset; /* the first of them, in dwords */
  uint32_t instruction_prefetch;   /* gfx11 and later: in units of 128 bytes */

  uint8_t float_round_32, float_round_16_64;   /* 0 nearest even, 1 up, 2 down, 3 to zero */
  uint8_t float_denorm_32, float_denorm_16_64; /* bit 0: keep in sources, bit 1: keep in results */

  bool has_private_segment_buffer; /* 4 SGPRs */
  bool has_dispatch_pointer;       /* 2 */
  bool has_queue_pointer;          /* 2 */
  bool has_kernarg_pointer;        /* 2 */
  bool has_dispatch_id;            /* 2 */
  bool has_flat_scratch_init;      /* 2 */
  bool has_private_segment_size;   /* 1 */
  bool has_workgroup_id[3];        /* in SGPRs after the user SGPRs; from gfx12 on always, in TTMP registers */
  bool has_workgroup_info;
  bool has_private_segment; /* scratch is set up */

  bool uses_dynamic_stack;
  bool has_dx10_clamp, has_ieee_mode; /* before gfx12 */
  bool has_fp16_overflow;             /* gfx9 and later: results are clamped, not infinite */
  bool is_workgroup_processor_mode;   /* gfx10 and later: a workgroup's waves run on both compute units */
  bool is_memory_ordered;             /* gfx10 and later */
  bool has_forward_progress;          /* gfx10 and later */
  bool is_threadgroup_split;          /* UNIFIED registers */
} tj_kernel_descriptor;

/* Decodes TJ_KERNEL_DESCRIPTOR_SIZE bytes. Returns NULL, or what they have that no processor accepts. */
const char *tj_kernel_descriptor_decode(tj_bytes bytes, const tj_processor *processor,
                                        tj_kernel_descriptor *descriptor);

#endif
