/* SPDX-License-Identifier: MIT */
/* AMDGPU processors: the rows of processor.def. Immutable; any thread may read them. */
#ifndef TJ_JIT_PROCESSOR_H
#define TJ_JIT_PROCESSOR_H

#include <stdint.h>

/* How a processor has its vector registers; processor.def explains each. */
typedef enum { TJ_REGISTERS_SEPARATE, TJ_REGISTERS_UNIFIED, TJ_REGISTERS_LARGE } tj_register_file;

typedef struct {
  uint32_t mach;    /* EF_AMDGPU_MACH of an ELF header's e_flags */
  const char *name; /* as LLVM calls it: gfx942, gfx11-generic */
  uint8_t major;    /* the generation: 6 … 12 */
  uint8_t minor;
  uint8_t stepping;
  tj_register_file registers;
} tj_processor;

/* The processor with that EF_AMDGPU_MACH, or that name; NULL when there is none. */
const tj_processor *tj_processor_by_mach(uint32_t mach);
const tj_processor *tj_processor_by_name(const char *name);

/* VGPRs come to a wave in multiples of this. */
uint32_t tj_processor_vgpr_granule(const tj_processor *processor, uint32_t wave_size);

#endif
