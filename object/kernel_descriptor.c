/* SPDX-License-Identifier: MIT */
/* Decoding kernel descriptors, by the tables of LLVM's "User Guide for AMDGPU Backend". */
#include "object/kernel_descriptor.h"

/* Byte offsets of the descriptor's fields. */
enum {
  GROUP_SEGMENT = 0,
  PRIVATE_SEGMENT = 4,
  KERNARG = 8,
  RESERVED_12 = 12,
  ENTRY = 16,
  RSRC3 = 44,
  RSRC1 = 48,
  RSRC2 = 52,
  PROPERTIES = 56,
  PRELOAD = 58
};

enum { FIRST_GENERATION_WITH_WAVE32 = 10, FIRST_GENERATION_WITHOUT_SGPR_GRANULES = 10, ALL_SGPRS = 128 };

static uint32_t field(uint32_t word, unsigned shift, unsigned width) {
  return word >> shift & ((1u << width) - 1);
}

static bool flag(uint32_t word, unsigned shift) {
  return (word >> shift & 1) != 0;
}

static uint32_t allocated_sgprs(const tj_processor *processor, uint32_t rsrc1) {
  uint32_t granules = field(rsrc1, 6, 4);
  if (processor->major >= FIRST_GENERATION_WITHOUT_SGPR_GRANULES)
    return ALL_SGPRS;
  return processor->major == 9 ? (granules / 2 + 1) * 16 : (granules + 1) * 8;
}

static void read_words(tj_bytes bytes, tj_kernel_descriptor *to) {
  to->group_segment_bytes = tj_bytes_u32(bytes, GROUP_SEGMENT);
  to->private_segment_bytes = tj_bytes_u32(bytes, PRIVATE_SEGMENT);
  to->kernarg_bytes = tj_bytes_u32(bytes, KERNARG);
  to->entry_offset = (int64_t)tj_bytes_u64(bytes, ENTRY);
  to->rsrc1 = tj_bytes_u32(bytes, RSRC1);
  to->rsrc2 = tj_bytes_u32(bytes, RSRC2);
  to->rsrc3 = tj_bytes_u32(bytes, RSRC3);
  to->properties = tj_bytes_u16(bytes, PROPERTIES);
  to->kernarg_preload = tj_bytes_u16(bytes, PRELOAD);
}

static void decode_properties(const tj_processor *processor, tj_kernel_descriptor *to) {
  uint32_t word = to->properties;
  to->has_private_segment_buffer = flag(word, 0);
  to->has_dispatch_pointer = flag(word, 1);
  to->has_queue_pointer = flag(word, 2);
  to->has_kernarg_pointer = flag(word, 3);
  to->has_dispatch_id = flag(word, 4);
  to->has_flat_scratch_init = flag(word, 5);
  to->has_private_segment_size = flag(word, 6);
  to->wave_size = processor->major >= FIRST_GENERATION_WITH_WAVE32 && flag(word, 10) ? 32 : 64;
  to->uses_dynamic_stack = flag(word, 11);
  to->kernarg_preload_length = field(to->kernarg_preload, 0, 7);
  to->kernarg_preload_offset = field(to->kernarg_preload, 7, 9);
}

static void decode_rsrc1(const tj_processor *processor, tj_kernel_descriptor *to) {
  uint32_t word = to->rsrc1;
  to->vgprs = (field(word, 0, 6) + 1) * tj_processor_vgpr_granule(processor, to->wave_size);
  to->sgprs = allocated_sgprs(processor, word);
  to->float_round_32 = (uint8_t)field(word, 12, 2);
  to->float_round_16_64 = (uint8_t)field(word, 14, 2);
  to->float_denorm_32 = (uint8_t)field(word, 16, 2);
  to->float_denorm_16_64 = (uint8_t)field(word, 18, 2);
  to->has_dx10_clamp = processor->major < 12 && flag(word, 21);
  to->has_ieee_mode = processor->major < 12 && flag(word, 23);
  to->has_fp16_overflow = processor->major >= 9 && flag(word, 26);
  to->is_workgroup_processor_mode = processor->major >= 10 && flag(word, 29);
  to->is_memory_ordered = processor->major >= 10 && flag(word, 30);
  to->has_forward_progress = processor->major >= 10 && flag(word, 31);
}

static void decode_rsrc2(const tj_processor *processor, tj_kernel_descriptor *to) {
  uint32_t word = to->rsrc2;
  to->has_private_segment = flag(word, 0);
  to->user_sgprs = field(word, 1, processor->registers == TJ_REGISTERS_LARGE ? 6 : 5);
  for (unsigned i = 0; i < 3; i++)
    to->has_workgroup_id[i] = flag(word, 7 + i);
  to->has_workgroup_info = flag(word, 10);
  to->workitem_id_dimensions = field(word, 11, 2) + 1;
}

static void decode_rsrc3(const tj_processor *processor, tj_kernel_descriptor *to) {
  uint32_t word = to->rsrc3;
  if (processor->registers == TJ_REGISTERS_UNIFIED) {
    to->accum_offset = (field(word, 0, 6) + 1) * 4;
    to->is_threadgroup_split = flag(word, 16);
  }
  if (processor->major >= 11)
    to->instruction_prefetch = field(word, 4, processor->major == 11 ? 6 : 8);
}

const char *tj_kernel_descriptor_decode(tj_bytes bytes, const tj_processor *processor,
                                        tj_kernel_descriptor *descriptor) {
  *descriptor = (tj_kernel_descriptor){0};
  read_words(bytes, descriptor);
  decode_properties(processor, descriptor);
  decode_rsrc1(processor, descriptor);
  decode_rsrc2(processor, descriptor);
  decode_rsrc3(processor, descriptor);
  if (tj_bytes_u32(bytes, RESERVED_12) != 0)
    return "reserved bytes are not zero";
  if (descriptor->workitem_id_dimensions > 3)
    return "it asks for four work-item ids";
  if (descriptor->accum_offset > descriptor->vgprs)
    return "its AGPRs begin after its last register";
  return NULL;
}
