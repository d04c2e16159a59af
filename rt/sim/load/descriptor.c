/* SPDX-License-Identifier: MIT */
/* Kernel descriptors: 64 bytes that tell the hardware how to start waves. */
#include "rt/sim/load/descriptor.h"

/* Byte offsets of the fields. */
enum { GROUP = 0, PRIVATE = 4, KERNARG = 8, RSRC3 = 44, RSRC1 = 48, RSRC2 = 52, PROPERTIES = 56, PRELOAD = 58 };

static uint32_t field(uint32_t word, unsigned shift, unsigned width) {
  return word >> shift & ((1u << width) - 1);
}

static bool flag(uint32_t word, unsigned shift) {
  return (word >> shift & 1) != 0;
}

static void read_user_registers(uint32_t properties, tj_sim_descriptor *to) {
  to->private_buffer = flag(properties, 0);
  to->dispatch_pointer = flag(properties, 1);
  to->queue_pointer = flag(properties, 2);
  to->kernarg_pointer = flag(properties, 3);
  to->dispatch_id = flag(properties, 4);
  to->flat_scratch = flag(properties, 5);
  to->private_size = flag(properties, 6);
}

static void read_system_registers(uint32_t rsrc2, tj_sim_descriptor *to) {
  to->private_offset = flag(rsrc2, 0);
  to->user_scalars = field(rsrc2, 1, 5);
  for (unsigned i = 0; i < 3; i++)
    to->workgroup_id[i] = flag(rsrc2, 7 + i);
  to->workgroup_info = flag(rsrc2, 10);
  to->workitem_ids = field(rsrc2, 11, 2) + 1;
}

static void read_vector_registers(const tj_processor *processor, uint32_t rsrc1, uint32_t rsrc3,
                                  tj_sim_descriptor *to) {
  bool is_unified = processor->registers == TJ_REGISTERS_UNIFIED;
  to->vectors = (field(rsrc1, 0, 6) + 1) * tj_processor_vgpr_granule(processor, to->lanes);
  to->first_accumulator = is_unified ? (field(rsrc3, 0, 6) + 1) * 4 : 0;
}

tj_sim_descriptor tj_sim_descriptor_read(tj_bytes bytes, const tj_processor *processor) {
  uint32_t rsrc1 = tj_bytes_u32(bytes, RSRC1), properties = tj_bytes_u16(bytes, PROPERTIES);
  uint32_t preload = tj_bytes_u16(bytes, PRELOAD);
  tj_sim_descriptor to = {.group_bytes = tj_bytes_u32(bytes, GROUP),
                          .private_bytes = tj_bytes_u32(bytes, PRIVATE),
                          .kernarg_bytes = tj_bytes_u32(bytes, KERNARG),
                          .lanes = processor->major >= 10 && flag(properties, 10) ? 32 : 64,
                          .preload_words = field(preload, 0, 7),
                          .preload_offset = field(preload, 7, 9),
                          .has_odd_float_mode = field(rsrc1, 12, 4) != 0 || field(rsrc1, 16, 4) != 15};
  read_user_registers(properties, &to);
  read_system_registers(tj_bytes_u32(bytes, RSRC2), &to);
  read_vector_registers(processor, rsrc1, tj_bytes_u32(bytes, RSRC3), &to);
  return to;
}
