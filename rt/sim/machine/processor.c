/* SPDX-License-Identifier: MIT */
/* Processors: the table and its look-ups. */
#include "rt/sim/machine/processor.h"

#include <string.h>

const tj_sim_processor tj_sim_processors[] = {
#define PROCESSOR(name, machine, generation, lanes, units, lds_kib, ecc, unified)                                    \
  {#name, machine, generation, lanes, units, (lds_kib)*1024, ecc, unified},
#include "rt/sim/machine/processor.def"
#undef PROCESSOR
};

const size_t tj_sim_processor_count = sizeof tj_sim_processors / sizeof tj_sim_processors[0];

const tj_sim_processor *tj_sim_processor_of(uint32_t machine) {
  for (size_t i = 0; i < tj_sim_processor_count; i++) {
    if (tj_sim_processors[i].machine == machine)
      return &tj_sim_processors[i];
  }
  return NULL;
}

const tj_sim_processor *tj_sim_processor_named(const char *name) {
  for (size_t i = 0; i < tj_sim_processor_count; i++) {
    if (strcmp(tj_sim_processors[i].name, name) == 0)
      return &tj_sim_processors[i];
  }
  return NULL;
}

bool tj_sim_has_packed_ids(const tj_sim_processor *processor) {
  return processor->generation != 10;
}

bool tj_sim_agent_target(const char *text, const tj_sim_processor **processor, tj_target_id *target) {
  static const tj_feature usual[TJ_TARGET_FEATURE_COUNT] = {
      [TJ_TARGET_SRAMECC] = TJ_FEATURE_ON, [TJ_TARGET_XNACK] = TJ_FEATURE_OFF};
  tj_target_reason reason;
  if (!tj_target_id_parse(text, target, &reason))
    return false;
  *processor = tj_sim_processor_named(target->processor);
  if (*processor == NULL)
    return false;
  for (unsigned i = 0; i < TJ_TARGET_FEATURE_COUNT; i++) {
    if (target->feature[i] != TJ_FEATURE_ANY && !(*processor)->has_features)
      return false;
    if (target->feature[i] == TJ_FEATURE_ANY)
      target->feature[i] = (*processor)->has_features ? usual[i] : TJ_FEATURE_UNSUPPORTED;
  }
  return true;
}
