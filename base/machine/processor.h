/* SPDX-License-Identifier: MIT */
/* AMDGPU processors, and NVIDIA's: the rows of processor.def, for the compiler, for readers of code objects, for
 * checks and for the simulator. Immutable; any thread may read them. */
#ifndef TJ_BASE_PROCESSOR_H
#define TJ_BASE_PROCESSOR_H

#include "base/machine/bank.h"

#include <stddef.h>
#include <stdint.h>

/* How a processor has its vector registers; processor.def explains each. */
typedef enum { TJ_REGISTERS_SEPARATE, TJ_REGISTERS_UNIFIED, TJ_REGISTERS_LARGE } tj_register_file;

/* The floats of 8 bits that its conversions know. */
typedef enum { TJ_FLOATS8_NONE, TJ_FLOATS8_OCP, TJ_FLOATS8_FNUZ } tj_floats8;

/* What limits the waves of a SIMD. */
typedef struct {
  uint32_t vgprs, vgpr_granule, waves; /* of a SIMD */
  uint32_t sgprs, sgpr_granule;        /* of a SIMD; 0: they limit nothing */
  uint32_t simds, lds_bytes;           /* the SIMDs that share so much LDS */
  uint32_t workgroups;                 /* at most so many share it; 0: any number */
  uint32_t lds_granule, lds_reserved;  /* LDS is allotted by so many bytes, and so many more for each workgroup */
} tj_compute_unit;

typedef struct {
  uint32_t mach;    /* EF_AMDGPU_MACH of an ELF header's e_flags */
  const char *name; /* as LLVM calls it: gfx942, gfx11-generic */
  uint8_t major;    /* the generation: 6 … 12 */
  uint8_t minor;
  uint8_t stepping;
  tj_register_file registers;
  unsigned features;   /* 1 << TJ_TARGET_…: those that target IDs may have on or off */
  uint32_t lds_bytes;  /* of a workgroup */
  uint32_t line_bytes; /* of a cache line of vector memory */
  const tj_bank_model *banks;
  const tj_compute_unit *unit;
  tj_floats8 floats8;
} tj_processor;

extern const tj_processor tj_processors[];
extern const size_t tj_processor_count;

/* The processor with that EF_AMDGPU_MACH, or that name; NULL when there is none. */
const tj_processor *tj_processor_by_mach(uint32_t mach);
const tj_processor *tj_processor_by_name(const char *name);

/* Compute units of the simulated device; 0 where the processor is not simulated. */
uint32_t tj_simulated_units(const tj_processor *processor);

/* Work-items of a wave: what LLVM takes, and what hardware takes where kernels do not choose. From gfx10 on, they may
 * choose 64. */
uint32_t tj_processor_wave_size(const tj_processor *processor);

/* VGPRs come to a wave in multiples of this. */
uint32_t tj_processor_vgpr_granule(const tj_processor *processor, uint32_t wave_size);

/* How many workgroups of so many bytes of LDS share a compute unit's. */
uint32_t tj_workgroups_in_lds(const tj_compute_unit *unit, uint32_t bytes);

/* Who makes processors, as far as their LDS differs. */
typedef enum { TJ_MAKER_AMD, TJ_MAKER_NVIDIA } tj_maker;

/* The LDS of AMD's processors, the shared memory of NVIDIA's. */
typedef struct {
  tj_maker maker;
  uint32_t generation;  /* 94 of gfx942, 103 of gfx1030, 90 of sm_90 */
  uint32_t lanes;       /* of a wave */
  uint32_t group_bytes; /* that a workgroup may have */
  const tj_bank_model *banks;
  const tj_compute_unit *unit; /* whose LDS its workgroups share */
} tj_shared_memory;

/* NVIDIA's processors, as LLVM names them. */
typedef struct {
  const char *name; /* sm_90 */
  tj_shared_memory memory;
  uint32_t cache_bytes; /* its share of the second cache, which all have in common */
} tj_multiprocessor;

extern const tj_multiprocessor tj_multiprocessors[];
extern const size_t tj_multiprocessor_count;

/* Of a processor as LLVM names it; a letter may follow NVIDIA's, as in sm_90a. False where it names neither AMD's nor
 * NVIDIA's. */
bool tj_shared_memory_of(const char *processor, tj_shared_memory *memory);

/* What limits the waves of a processor as LLVM names it; NULL where it names neither AMD's nor NVIDIA's. */
const tj_compute_unit *tj_compute_unit_of(const char *processor);

/* Bytes of a cache line of a processor as LLVM names it, of a host's (znver4) too. */
uint32_t tj_cache_line_bytes(const char *processor);

/* Bytes of the sectors that NVIDIA's lines have, of which memory moves those that are touched; 0: lines move whole.
 */
uint32_t tj_sector_bytes(const char *processor);

#endif
