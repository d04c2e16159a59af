/* SPDX-License-Identifier: MIT */
/* Occupancy: how many waves of a kernel a SIMD holds at once, and by what that is limited. */
#ifndef TJ_JIT_OCCUPANCY_H
#define TJ_JIT_OCCUPANCY_H

#include "jit/isa/stats.h"

typedef struct {
  uint32_t vgprs, vgpr_granule, waves; /* of a SIMD */
  uint32_t sgprs, sgpr_granule;        /* of a SIMD; 0: they limit nothing */
  uint32_t simds, lds_bytes;           /* the SIMDs that share so much LDS */
} tj_gpu;

/* The processor as LLVM names it; NULL for none of AMD's. */
const tj_gpu *tj_gpu_of(const char *processor);

typedef struct {
  uint32_t waves;         /* of a SIMD */
  const char *limited_by; /* "vector registers", "scalar registers", "LDS", or "waves": by nothing else */
} tj_occupancy;

tj_occupancy tj_occupancy_of(const tj_gpu *gpu, const tj_isa_stats *stats, uint32_t workgroup_size);

#endif
