/* SPDX-License-Identifier: MIT */
/* Rows of host_level.def, and what this processor says of them. */
#include "base/machine/host_level.h"

#include <stddef.h>
#include <string.h>

static const tj_host_level levels[] = {
#define HOST_LEVEL(name, register_bytes) {name, register_bytes},
#include "base/machine/host_level.def"
#undef HOST_LEVEL
};

enum { COUNT = sizeof levels / sizeof levels[0] };

const tj_host_level *tj_host_level_at(int number) {
  return number >= 0 && number < COUNT ? &levels[number] : NULL;
}

int tj_host_level_find(const char *name) {
  int number = COUNT - 1;
  while (number >= 0 && strcmp(levels[number].name, name) != 0)
    number--;
  return number;
}

#ifdef __x86_64__
bool tj_host_has(int number) {
  const bool has[] = {
#define HOST_LEVEL(name, register_bytes) __builtin_cpu_supports(name) != 0,
#include "base/machine/host_level.def"
#undef HOST_LEVEL
  };
  return number >= 0 && number < COUNT && has[number];
}
#else
bool tj_host_has(int number) {
  (void)number;
  return false;
}
#endif
