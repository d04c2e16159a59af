/* SPDX-License-Identifier: MIT */
/* The folder of the cache on disk as a whole: its size, its sweeps. */
#ifndef TJ_JIT_CACHE_SWEEP_H
#define TJ_JIT_CACHE_SWEEP_H

#include "base/job.h"

#include <stdbool.h>
#include <stdint.h>

enum { TJ_ENTRY_NAME_SIZE = 48 };

/* The kinds of entries that the folder has: ENTRY(kind, what stands behind the dot of its files' names). */
#define TJ_FOLDER_ENTRIES(ENTRY)                                                                                     \
  ENTRY(TEXT, "text") ENTRY(KERNEL, "kernel") ENTRY(PART, "part") ENTRY(LINKED, "linked")

/* What is in a folder. */
typedef struct {
  uint64_t entries, bytes;
  uint64_t removed; /* entries that a sweep has removed */
  bool is_complete; /* all could be looked at, and all that was to be removed could be */
} tj_folder_count;

/* Counts the entries of a folder. Where they have more than `most` bytes, removes the least recently used ones until
 * `rest` bytes are left. Removes also what has been left unwritten for ten minutes, or with most = 0 at all. Other
 * files are left alone. Sizes are rounded up to whole KiB. */
tj_folder_count tj_cache_sweep(int folder, const tj_allocator *allocator, uint64_t most, uint64_t rest);

/* Notes that an entry of so many bytes has been written. True where it is time for a sweep. */
bool tj_cache_note_written(int folder, uint64_t bytes, uint64_t limit);

/* Notes how many bytes a sweep has left. */
void tj_cache_note_swept(int folder, uint64_t bytes);

/* Whether a file that grows to this size may be written without a signal to the process. */
bool tj_cache_size_is_allowed(uint64_t bytes);

#endif
