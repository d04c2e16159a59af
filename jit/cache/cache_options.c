/* SPDX-License-Identifier: MIT */
/* The cache's settings, from options and environment.
 *
 * The environment is not asked in programs that run with more rights than their user's (secure_getenv). */
#include "jit/cache/cache_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MIB = 1024 * 1024, DEFAULT_MEMORY_MIB = 64, DEFAULT_DISK_MIB = 256 };

static const char *environment(const char *name) {
  const char *value = secure_getenv(name);
  return value != NULL && value[0] != '\0' ? value : NULL;
}

/* A number of bytes with K, M or G after it; `otherwise` for anything else. */
static uint64_t parse_bytes(const char *text, uint64_t otherwise) {
  if (text == NULL || text[0] < '0' || text[0] > '9')
    return otherwise;
  char *end;
  errno = 0;
  uint64_t value = strtoull(text, &end, 10);
  unsigned shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
  bool is_number = errno == 0 && end[shift > 0] == '\0' && value <= UINT64_MAX >> shift;
  return is_number ? value << shift : otherwise;
}

static uint64_t limit_of(uint64_t option, const char *variable, uint64_t otherwise) {
  if (option != 0)
    return option == TJ_CACHE_NONE ? 0 : option;
  return parse_bytes(environment(variable), otherwise);
}

/* A folder of the environment, which must be an absolute path. */
static bool place_under(char *path, size_t size, const char *variable, const char *below) {
  const char *base = environment(variable);
  if (base == NULL || base[0] != '/')
    return false;
  int length = snprintf(path, size, "%s%s", base, below);
  return length > 0 && (size_t)length < size;
}

static void choose_folder(const char *option, char *path, size_t size) {
  bool is_placed = false;
  if (option != NULL)
    is_placed = (size_t)snprintf(path, size, "%s", option) < size;
  else
    is_placed = place_under(path, size, "TILEJIT_CACHE_DIRECTORY", "") ||
                place_under(path, size, "XDG_CACHE_HOME", "/tilejit") ||
                place_under(path, size, "HOME", "/.cache/tilejit");
  if (!is_placed)
    path[0] = '\0';
}

tj_cache_settings tj_cache_settings_of(const tj_cache_options *options, char *path, size_t size) {
  static const tj_cache_options none;
  const tj_cache_options *given = options != NULL ? options : &none;
  const char *mode = environment("TILEJIT_CACHE");
  choose_folder(given->directory, path, size);
  return (tj_cache_settings){
      .is_off = mode != NULL && strcmp(mode, "off") == 0,
      .memory_limit = limit_of(given->memory_bytes, "TILEJIT_CACHE_MEMORY", (uint64_t)DEFAULT_MEMORY_MIB * MIB),
      .disk_limit = limit_of(given->disk_bytes, "TILEJIT_CACHE_DISK", (uint64_t)DEFAULT_DISK_MIB * MIB),
  };
}
