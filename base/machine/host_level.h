/* SPDX-License-Identifier: MIT */
/* Levels of processors: what code for hosts is compiled for when it is to run on others than this one. */
#ifndef TJ_BASE_HOST_LEVEL_H
#define TJ_BASE_HOST_LEVEL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
  const char *name;
  uint32_t register_bytes; /* of a vector register */
} tj_host_level;

/* The number of the level of that name, larger for those that have more; -1: there is none. */
int tj_host_level_find(const char *name);
/* NULL beyond the last one. */
const tj_host_level *tj_host_level_at(int number);

/* Whether this processor has a level. */
bool tj_host_has(int number);

#endif
