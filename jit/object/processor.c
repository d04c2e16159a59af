/* SPDX-License-Identifier: MIT */
/* Looking up processors. */
#include "jit/object/processor.h"

#include <stddef.h>
#include <string.h>

static const tj_processor processors[] = {
#define PROCESSOR(mach, name, major, minor, stepping, registers)                                                     \
  {mach, name, major, minor, stepping, TJ_REGISTERS_##registers},
#include "jit/object/processor.def"
#undef PROCESSOR
};

enum { PROCESSOR_COUNT = sizeof processors / sizeof *processors };

const tj_processor *tj_processor_by_mach(uint32_t mach) {
  for (size_t i = 0; i < PROCESSOR_COUNT; i++)
    if (processors[i].mach == mach)
      return &processors[i];
  return NULL;
}

const tj_processor *tj_processor_by_name(const char *name) {
  for (size_t i = 0; i < PROCESSOR_COUNT; i++)
    if (strcmp(processors[i].name, name) == 0)
      return &processors[i];
  return NULL;
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
