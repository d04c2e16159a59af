/* SPDX-License-Identifier: MIT */
/* Occupancy: how many waves of a kernel a SIMD holds at once, and by what that is limited. */
#ifndef TJ_JIT_OCCUPANCY_H
#define TJ_JIT_OCCUPANCY_H

#include "base/machine/processor.h"
#include "jit/isa/stats.h"

typedef struct {
  uint32_t waves;         /* of a SIMD */
  const char *limited_by; /* "vector registers", "scalar registers", "LDS", "workgroups"; "waves": nothing else */
  uint32_t workgroups;    /* of a compute unit, whose SIMDs share them */
} tj_occupancy;

tj_occupancy tj_occupancy_of(const tj_compute_unit *unit, const tj_isa_stats *stats, uint32_t workgroup_size);

#endif
