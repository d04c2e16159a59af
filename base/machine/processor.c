/* SPDX-License-Identifier: MIT */
/* Looking up processors. */
#include "base/machine/processor.h"

#include "base/machine/target_id.h"

#include <string.h>

enum { NO_FEATURES = 0, SRAMECC = 1 << TJ_TARGET_SRAMECC, XNACK = 1 << TJ_TARGET_XNACK };

enum { HOST_LINE_BYTES = 64, NVIDIA_LINE_BYTES = 128, NVIDIA_SECTOR_BYTES = 32 };

#define COMPUTE_UNIT(name, ...) static const tj_compute_unit unit_##name = {__VA_ARGS__};
#include "base/machine/processor.def"

#define PROCESSOR(mach, name, major, minor, stepping, registers, features, lds_kib, line, banks, unit, f8)           \
  {mach,         name,                                                                                               \
   major,        minor,                                                                                              \
   stepping,     TJ_REGISTERS_##registers,                                                                           \
   features,     (lds_kib)*1024,                                                                                     \
   line,         &tj_bank_models[TJ_BANKS_##banks],                                                                  \
   &unit_##unit, TJ_FLOATS8_##f8},
const tj_processor tj_processors[] = {
#include "base/machine/processor.def"
};

static const struct {
  const char *name;
  uint32_t units;
} simulated[] = {
#define SIMULATED(name, units) {name, units},
#include "base/machine/processor.def"
};

const size_t tj_processor_count = sizeof tj_processors / sizeof *tj_processors;

const tj_processor *tj_processor_by_mach(uint32_t mach) {
  for (size_t i = 0; i < tj_processor_count; i++)
    if (tj_processors[i].mach == mach)
      return &tj_processors[i];
  return NULL;
}

const tj_processor *tj_processor_by_name(const char *name) {
  for (size_t i = 0; i < tj_processor_count; i++)
    if (strcmp(tj_processors[i].name, name) == 0)
      return &tj_processors[i];
  return NULL;
}

uint32_t tj_simulated_units(const tj_processor *processor) {
  for (size_t i = 0; i < sizeof simulated / sizeof simulated[0]; i++)
    if (strcmp(simulated[i].name, processor->name) == 0)
      return simulated[i].units;
  return 0;
}

uint32_t tj_processor_wave_size(const tj_processor *processor) {
  return processor->major >= 10 ? 32 : 64;
}

uint32_t tj_processor_vgpr_granule(const tj_processor *processor, uint32_t wave_size) {
  switch (processor->registers) {
  case TJ_REGISTERS_UNIFIED:
    return 8;
  case TJ_REGISTERS_LARGE:
    return 16;
  case TJ_REGISTERS_SEPARATE:
    break;
  }
  return wave_size == 32 ? 8 : 4;
}

uint32_t tj_workgroups_in_lds(const tj_compute_unit *unit, uint32_t bytes) {
  const uint64_t needed = (uint64_t)bytes + unit->lds_reserved, granule = unit->lds_granule;
  return needed > 0 ? (uint32_t)(unit->lds_bytes / ((needed + granule - 1) / granule * granule)) : UINT32_MAX;
}

const tj_multiprocessor tj_multiprocessors[] = {
#define MULTIPROCESSOR(name, capability, block, banks, unit, cache)                                                  \
  {name,                                                                                                             \
   {TJ_MAKER_NVIDIA, capability, 32, (block)*1024, &tj_bank_models[TJ_BANKS_##banks], &unit_##unit},                 \
   (cache)*1024},
#include "base/machine/processor.def"
};

const size_t tj_multiprocessor_count = sizeof tj_multiprocessors / sizeof *tj_multiprocessors;

/* Whether a text is the name of a multiprocessor, perhaps with the letter of features of its own. */
static bool names(const char *text, const char *name) {
  size_t length = strlen(name);
  return strncmp(text, name, length) == 0 &&
         (text[length] == '\0' || strcmp(text + length, "a") == 0 || strcmp(text + length, "f") == 0);
}

const tj_compute_unit *tj_compute_unit_of(const char *name) {
  const tj_processor *processor = tj_processor_by_name(name);
  if (processor != NULL)
    return processor->unit;
  for (size_t i = 0; i < tj_multiprocessor_count; i++)
    if (names(name, tj_multiprocessors[i].name))
      return tj_multiprocessors[i].memory.unit;
  return NULL;
}

bool tj_shared_memory_of(const char *name, tj_shared_memory *memory) {
  const tj_processor *processor = tj_processor_by_name(name);
  if (processor != NULL) {
    *memory = (tj_shared_memory){TJ_MAKER_AMD,
                                 processor->major * 10u + processor->minor,
                                 tj_processor_wave_size(processor),
                                 processor->lds_bytes,
                                 processor->banks,
                                 processor->unit};
    return true;
  }
  for (size_t i = 0; i < tj_multiprocessor_count; i++) {
    if (names(name, tj_multiprocessors[i].name)) {
      *memory = tj_multiprocessors[i].memory;
      return true;
    }
  }
  return false;
}

uint32_t tj_cache_line_bytes(const char *name) {
  const tj_processor *processor = tj_processor_by_name(name);
  tj_shared_memory memory;
  if (processor != NULL)
    return processor->line_bytes;
  return tj_shared_memory_of(name, &memory) ? NVIDIA_LINE_BYTES : HOST_LINE_BYTES;
}

uint32_t tj_sector_bytes(const char *name) {
  tj_shared_memory memory;
  return tj_shared_memory_of(name, &memory) && memory.maker == TJ_MAKER_NVIDIA ? NVIDIA_SECTOR_BYTES : 0;
}
