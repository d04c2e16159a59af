/* SPDX-License-Identifier: MIT */
/* The cache on disk: a folder of entries, one file each, named by the digest of the key.
 *
 * An entry is trusted only where the file is this user's and nobody else can write it, its checksum is right, and it
 * holds the very key that is asked for; so is the folder. What is damaged is removed. Entries are written under a
 * name of their own and then renamed, so that readers see whole entries or none, whoever else writes, and wherever
 * writing stops. Whatever goes wrong is a lost entry, never an error.
 *
 *     <32 hexadecimal digits>.text      what a program's text compiles to: plan and machine code
 *     <32 hexadecimal digits>.kernel    what a simplified kernel compiles to: machine code
 *     <32 hexadecimal digits>.part      of machine code whose variants wait for launches: one that has been compiled
 *     <32 hexadecimal digits>.linked    what a device's driver has made of a kernel's PTX: machine code
 *     .new-…                            an entry that is being written
 *     .written                          its size in bytes is how many KiB the folder may hold: those that the last
 *                                       sweep has found, and those written since, by any process
 *
 * A sweep removes the least recently used entries. The time of use is the file's modification time, renewed at most
 * once a minute. It happens when `.written` says that the limit is exceeded, or when there is none.
 *
 * Thread safety: any thread, any function; and any number of processes. */
#ifndef TJ_JIT_CACHE_DISK_H
#define TJ_JIT_CACHE_DISK_H

#include "jit/cache/cache_memory.h"
#include "launch/image/entry.h"

typedef struct {
  tj_allocator allocator;
  int folder;           /* a descriptor; -1: there is no cache on disk */
  const char *obstacle; /* why not; static; "" */
  uint64_t limit;       /* bytes */
  atomic_uint_fast64_t next_name;
  atomic_uint_fast64_t damaged, failures, evictions; /* entries removed, entries not written, entries swept */
} tj_cache_disk;

/* Opens the folder at `path`, made with mode 0700 where it is missing, as are its parents. NULL: none is
 * known. */
void tj_cache_disk_open(tj_cache_disk *disk, const tj_allocator *allocator, const char *path, uint64_t limit);
void tj_cache_disk_close(tj_cache_disk *disk);

/* The payload of an entry, in a block that the caller releases with disk->allocator; NULL where there is none. */
typedef struct {
  void *block;
  tj_bytes payload; /* in the block */
} tj_disk_entry;

tj_disk_entry tj_cache_disk_find(tj_cache_disk *disk, tj_entry_kind kind, const tj_cache_key *key);

/* Writes an entry, in the place of an older one of the same key. False where there is none then. */
bool tj_cache_disk_keep(tj_cache_disk *disk, tj_entry_kind kind, const tj_cache_key *key, tj_bytes payload);

/* Removes an entry whose payload makes no sense. */
void tj_cache_disk_reject(tj_cache_disk *disk, tj_entry_kind kind, const tj_cache_key *key);

/* Counts what is there now. */
void tj_cache_disk_measure(tj_cache_disk *disk, uint64_t *entries, uint64_t *bytes);

/* Removes all entries, those being written included. False where one could not be removed. */
bool tj_cache_disk_clear(tj_cache_disk *disk);

#endif
