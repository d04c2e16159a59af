/* SPDX-License-Identifier: MIT */
/* The processors that can be simulated, rows of base/machine/processor.def, and how their generations differ where
 * instructions do not say it. */
#ifndef TJ_RT_SIM_PROCESSOR_H
#define TJ_RT_SIM_PROCESSOR_H

#include "base/machine/processor.h"
#include "base/machine/target_id.h"

/* By name; NULL for a processor that is not simulated. */
const tj_processor *tj_sim_processor_named(const char *name);

/* gfx90a and gfx11 on: one register has all three work-item ids, 10 bits each. */
bool tj_sim_has_packed_ids(const tj_processor *processor);

/* gfx1250: the register of an offset beside a scalar base is signed. */
bool tj_sim_has_signed_offsets(const tj_processor *processor);

/* gfx1250: workgroups may run in clusters, of which a wave is told. */
bool tj_sim_has_clusters(const tj_processor *processor);

/* The target ID of an agent that is asked for by one: the features that it leaves out are sramecc+ and xnack-, where
 * the processor has them. False where the processor is not simulated, or does not have a feature. */
bool tj_sim_agent_target(const char *text, const tj_processor **processor, tj_target_id *target);

#endif
