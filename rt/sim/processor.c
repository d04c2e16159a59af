/* SPDX-License-Identifier: MIT */
/* Processors: the table and its look-ups. */
#include "rt/sim/processor.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

const tj_sim_processor tj_sim_processors[] = {
#define PROCESSOR(name, machine, generation, lanes, units, lds_kib, ecc, unified)                                    \
  {#name, machine, generation, lanes, units, (lds_kib)*1024, ecc, unified},
#include "rt/sim/processor.def"
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

const tj_sim_processor *tj_sim_processor_named(const char *text) {
  size_t length = 0;
  while (isalnum((unsigned char)text[length]))
    length++;
  for (size_t i = 0; i < tj_sim_processor_count; i++) {
    const char *name = tj_sim_processors[i].name;
    if (strlen(name) == length && memcmp(name, text, length) == 0)
      return &tj_sim_processors[i];
  }
  return NULL;
}

bool tj_sim_has_packed_ids(const tj_sim_processor *processor) {
  return processor->generation != 10;
}

void tj_sim_target_id(const tj_sim_processor *processor, char *text, size_t size) {
  snprintf(text, size, "%s%s", processor->name, processor->has_memory_ecc ? ":sramecc+:xnack-" : "");
}
