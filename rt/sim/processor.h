/* SPDX-License-Identifier: MIT */
/* The processors that can be simulated, and how their generations differ where instructions do not say it. */
#ifndef TJ_RT_SIM_PROCESSOR_H
#define TJ_RT_SIM_PROCESSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
  const char *name;
  uint32_t machine; /* EF_AMDGPU_MACH of the ELF header's flags */
  uint32_t generation;
  uint32_t lanes; /* of a wave, when the kernel does not choose */
  uint32_t compute_units;
  uint32_t lds_bytes;  /* of a workgroup */
  bool has_memory_ecc; /* target IDs say sramecc and xnack */
  bool has_unified_registers;
} tj_sim_processor;

extern const tj_sim_processor tj_sim_processors[];
extern const size_t tj_sim_processor_count;

/* By the ELF header's flags; NULL for a processor that is not simulated. */
const tj_sim_processor *tj_sim_processor_of(uint32_t machine);

/* By name, which ends at the first character of `text` that is no letter or digit. */
const tj_sim_processor *tj_sim_processor_named(const char *text);

/* gfx90a and gfx11 on: one register has all three work-item ids, 10 bits each. */
bool tj_sim_has_packed_ids(const tj_sim_processor *processor);

/* The processor's whole target ID, as its HSA agent names it: gfx90a:sramecc+:xnack-. */
void tj_sim_target_id(const tj_sim_processor *processor, char *text, size_t size);

#endif
