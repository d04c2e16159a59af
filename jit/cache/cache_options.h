/* SPDX-License-Identifier: MIT */
/* What a cache is to be: options, then the environment, then defaults. */
#ifndef TJ_JIT_CACHE_OPTIONS_H
#define TJ_JIT_CACHE_OPTIONS_H

#include "tilejit/tilejit.h"

#include <stdbool.h>

typedef struct {
  bool is_off;
  uint64_t memory_limit, disk_limit; /* bytes; 0: none of it */
} tj_cache_settings;

/* `options` may be NULL. `path` gets the folder, "" where there is to be none. */
tj_cache_settings tj_cache_settings_of(const tj_cache_options *options, char *path, size_t size);

#endif
