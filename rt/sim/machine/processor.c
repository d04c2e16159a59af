/* SPDX-License-Identifier: MIT */
/* Simulated processors and their target IDs. */
#include "rt/sim/machine/processor.h"

static const tj_processor *if_simulated(const tj_processor *processor) {
  return processor != NULL && tj_simulated_units(processor) > 0 ? processor : NULL;
}

const tj_processor *tj_sim_processor_named(const char *name) {
  return if_simulated(tj_processor_by_name(name));
}

bool tj_sim_has_packed_ids(const tj_processor *processor) {
  return processor->major != 10;
}

static bool is_from(const tj_processor *processor, uint32_t major, uint32_t minor) {
  return processor->major > major || (processor->major == major && processor->minor >= minor);
}

bool tj_sim_has_signed_offsets(const tj_processor *processor) {
  return is_from(processor, 12, 5);
}

bool tj_sim_has_clusters(const tj_processor *processor) {
  return is_from(processor, 12, 5);
}

bool tj_sim_agent_target(const char *text, const tj_processor **processor, tj_target_id *target) {
  static const tj_feature usual[TJ_TARGET_FEATURE_COUNT] = {
      [TJ_TARGET_SRAMECC] = TJ_FEATURE_ON, [TJ_TARGET_XNACK] = TJ_FEATURE_OFF};
  tj_target_reason reason;
  if (!tj_target_id_parse(text, target, &reason))
    return false;
  *processor = tj_sim_processor_named(target->processor);
  if (*processor == NULL)
    return false;
  for (unsigned i = 0; i < TJ_TARGET_FEATURE_COUNT; i++) {
    bool has_it = ((*processor)->features >> i & 1) != 0;
    if (target->feature[i] != TJ_FEATURE_ANY && !has_it)
      return false;
    if (target->feature[i] == TJ_FEATURE_ANY)
      target->feature[i] = has_it ? usual[i] : TJ_FEATURE_UNSUPPORTED;
  }
  return true;
}
