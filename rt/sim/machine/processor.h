/* SPDX-License-Identifier: MIT */
/* The processors that can be simulated, and how their generations differ where instructions do not say it. */
#ifndef TJ_RT_SIM_PROCESSOR_H
#define TJ_RT_SIM_PROCESSOR_H

#include "base/target_id.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
  const char *name;
  uint32_t machine; /* EF_AMDGPU_MACH of the ELF header's flags */
  uint32_t generation;
  uint32_t lanes; /* of a wave, when the kernel does not choose */
  uint32_t compute_units;
  uint32_t lds_bytes; /* of a workgroup */
  bool has_features;  /* sramecc and xnack: target IDs say which */
  bool has_unified_registers;
} tj_sim_processor;

extern const tj_sim_processor tj_sim_processors[];
extern const size_t tj_sim_processor_count;

/* By the ELF header's flags; NULL for a processor that is not simulated. */
const tj_sim_processor *tj_sim_processor_of(uint32_t machine);

/* By name. */
const tj_sim_processor *tj_sim_processor_named(const char *name);

/* gfx90a and gfx11 on: one register has all three work-item ids, 10 bits each. */
bool tj_sim_has_packed_ids(const tj_sim_processor *processor);

/* The target ID of an agent that is asked for by one: the features that it leaves out are sramecc+ and xnack-, where
 * the processor has them. False where the processor is not simulated, or does not have a feature. */
bool tj_sim_agent_target(const char *text, const tj_sim_processor **processor, tj_target_id *target);

#endif
