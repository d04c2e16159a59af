/* SPDX-License-Identifier: MIT */
/* tilejit cache: what the cache holds, and emptying it. */
#include "tools/call/command.h"
#include "tools/report/report.h"

#include <inttypes.h>
#include <string.h>

static void print_share(const char *what, uint64_t entries, uint64_t bytes, uint64_t limit) {
  double mib = 1024 * 1024;
  printf("%s: %" PRIu64 " entries, %.1f of %.1f MiB\n", what, entries, (double)bytes / mib, (double)limit / mib);
}

static json_t *stats_json(const tj_cache_stats *stats) {
  return json_pack("{s:s,s:b,s:b,s:s,s:I,s:I,s:I,s:I}", "directory", stats->directory, "off", stats->is_off, "usable",
                   stats->has_disk, "obstacle", stats->obstacle, "entries", (json_int_t)stats->disk_entries, "bytes",
                   (json_int_t)stats->disk_bytes, "limit", (json_int_t)stats->disk_limit, "memory_limit",
                   (json_int_t)stats->memory_limit);
}

static int print_stats(const tj_cache_stats *stats, bool as_json) {
  if (as_json)
    return print_json(stats_json(stats));
  printf("directory: %s\n", stats->directory[0] != '\0' ? stats->directory : "none");
  if (stats->has_disk)
    print_share("on disk", stats->disk_entries, stats->disk_bytes, stats->disk_limit);
  else
    printf("on disk: nothing%s%s\n", stats->obstacle[0] != '\0' ? ": " : "", stats->obstacle);
  printf("in memory, of each process: at most %.1f MiB\n", (double)stats->memory_limit / (1024 * 1024));
  return 0;
}

static int clear(tj_cache *cache, const tj_cache_stats *before, bool as_json) {
  tj_status status = tj_cache_clear(cache);
  tj_cache_stats after = tj_cache_stats_of(cache);
  if (status != TJ_OK)
    return fail_tool(TJ_ERROR_SYSTEM, 6005, "check the folder's permissions", "%s: not all entries could be removed",
                     after.directory);
  if (as_json)
    return print_json(stats_json(&after));
  printf("removed %" PRIu64 " entries, %.1f MiB\n", before->disk_entries, (double)before->disk_bytes / (1024 * 1024));
  return 0;
}

static int run(const arguments *given) {
  bool clears = given->operand_count > 0 && strcmp(given->operand[0], "clear") == 0;
  tj_cache *cache;
  tj_status status = tj_cache_create(NULL, NULL, &cache);
  if (status != TJ_OK)
    return fail_memory();
  tj_cache_stats stats = tj_cache_stats_of(cache);
  bool as_json = option_given(given, "json");
  int result = clears ? clear(cache, &stats, as_json) : print_stats(&stats, as_json);
  tj_cache_destroy(cache);
  return result;
}

static const option options[] = {{0}};

static const char *const actions[] = {"stats", "clear", NULL};

static const operand operands[] = {{"ACTION", VALUE_WORD, "stats (the default) or clear", actions, 0, 1}, {0}};

const command command_cache = {
    "cache",
    "Show or empty the cache of compiled kernels",
    "Compiled kernels are kept in $XDG_CACHE_HOME/tilejit, or ~/.cache/tilejit, or the folder that\n"
    "TILEJIT_CACHE_DIRECTORY names; at most 256 MiB there, and 64 MiB in the memory of each process, or as much as\n"
    "TILEJIT_CACHE_DISK and TILEJIT_CACHE_MEMORY say (512M, 2G, 0 for none). The least recently used make room.\n"
    "Kernels for the host are kept on disk on x86-64 alone; elsewhere each process compiles them once.\n"
    "TILEJIT_CACHE=off turns the cache off. Entries that are damaged, or that another user could have written, are\n"
    "not used. --json prints an object: directory, off, usable, obstacle, entries, bytes, limit, memory_limit.",
    NULL,
    options,
    operands,
    run};
