/* SPDX-License-Identifier: MIT */
/* Entries on disk: opening the folder, finding, writing, trusting. */
#include "jit/cache/cache_disk.h"

#include "base/clock.h"
#include "base/file.h"
#include "jit/cache/cache_sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LARGEST_ENTRY = 64 * 1024 * 1024, RENEWAL_SECONDS = 60 };

#define ENTRY(kind, suffix) [TJ_ENTRY_##kind] = suffix,
static const char *const suffixes[] = {TJ_FOLDER_ENTRIES(ENTRY)};
#undef ENTRY

static void count(atomic_uint_fast64_t *counter, uint64_t by) {
  atomic_fetch_add_explicit(counter, by, memory_order_relaxed);
}

/* --- the folder --- */

static void make_folders(char *path) {
  for (char *at = path + 1; *at != '\0'; at++) {
    if (*at != '/')
      continue;
    *at = '\0';
    mkdir(path, 0700);
    *at = '/';
  }
  mkdir(path, 0700);
}

/* Whether only this user can have written what the status is of. */
static bool is_ours(const struct stat *status) {
  return status->st_uid == geteuid() && (status->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static int open_folder(const char *path, const char **obstacle) {
  struct stat status;
  int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) {
    *obstacle = "the folder can be neither opened nor made";
    return -1;
  }
  if (fstat(folder, &status) == 0 && is_ours(&status))
    return folder;
  *obstacle = "the folder belongs to another user, or others can write to it";
  close(folder);
  return -1;
}

void tj_cache_disk_open(tj_cache_disk *disk, const tj_allocator *allocator, const char *path, uint64_t limit) {
  *disk = (tj_cache_disk){.allocator = *allocator, .folder = -1, .obstacle = "", .limit = limit};
  if (path == NULL || limit == 0) {
    disk->obstacle = limit == 0 ? "the disk's limit is 0" : "no folder is named, or its path is too long";
    return;
  }
  size_t size = strlen(path) + 1;
  char *copy = allocator->allocate(allocator->user, size);
  if (copy == NULL) {
    disk->obstacle = "there was no memory left";
    return;
  }
  memcpy(copy, path, size);
  make_folders(copy);
  allocator->release(allocator->user, copy);
  disk->folder = open_folder(path, &disk->obstacle);
}

void tj_cache_disk_close(tj_cache_disk *disk) {
  if (disk->folder >= 0)
    close(disk->folder);
  disk->folder = -1;
}

static void name_entry(char name[TJ_ENTRY_NAME_SIZE], tj_entry_kind kind, const tj_cache_key *key) {
  static const char digits[] = "0123456789abcdef";
  for (size_t i = 0; i < TJ_DIGEST_BYTES; i++) {
    name[2 * i] = digits[key->digest.byte[i] >> 4];
    name[2 * i + 1] = digits[key->digest.byte[i] & 15];
  }
  snprintf(name + 2 * TJ_DIGEST_BYTES, TJ_ENTRY_NAME_SIZE - 2 * TJ_DIGEST_BYTES, ".%s", suffixes[kind]);
}

/* --- reading --- */

static bool is_trusted(const struct stat *status) {
  return S_ISREG(status->st_mode) && is_ours(status) && status->st_size >= 0 && status->st_size <= LARGEST_ENTRY;
}

static void renew(int file, const struct stat *status) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (status->st_mtim.tv_sec + RENEWAL_SECONDS < now.tv_sec)
    futimens(file, NULL);
}

typedef enum { READ_FOUND, READ_NOTHING, READ_DAMAGED } read_result;

/* Reads an open file into entry->block; what is found of another key is nothing. */
static read_result read_entry(const tj_cache_disk *disk, int file, tj_entry_kind kind, const tj_cache_key *key,
                              tj_disk_entry *entry) {
  struct stat status;
  if (fstat(file, &status) != 0 || !is_trusted(&status))
    return READ_DAMAGED;
  size_t size = (size_t)status.st_size;
  entry->block = disk->allocator.allocate(disk->allocator.user, size + 1);
  if (entry->block == NULL)
    return READ_NOTHING;
  tj_entry found;
  if (!tj_file_read(file, entry->block, size) ||
      tj_entry_read((tj_bytes){entry->block, size}, kind, &found) != TJ_ENTRY_WHOLE)
    return READ_DAMAGED;
  if (found.key.size != key->bytes.size || memcmp(found.key.data, key->bytes.data, found.key.size) != 0)
    return READ_NOTHING;
  entry->payload = found.payload;
  renew(file, &status);
  return READ_FOUND;
}

tj_disk_entry tj_cache_disk_find(tj_cache_disk *disk, tj_entry_kind kind, const tj_cache_key *key) {
  tj_disk_entry entry = {NULL, {NULL, 0}};
  char name[TJ_ENTRY_NAME_SIZE];
  if (disk->folder < 0)
    return entry;
  name_entry(name, kind, key);
  int file = openat(disk->folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0)
    return entry;
  read_result result = read_entry(disk, file, kind, key, &entry);
  close(file);
  if (result == READ_FOUND)
    return entry;
  if (result == READ_DAMAGED)
    tj_cache_disk_reject(disk, kind, key);
  if (entry.block != NULL)
    disk->allocator.release(disk->allocator.user, entry.block);
  return (tj_disk_entry){NULL, {NULL, 0}};
}

void tj_cache_disk_reject(tj_cache_disk *disk, tj_entry_kind kind, const tj_cache_key *key) {
  char name[TJ_ENTRY_NAME_SIZE];
  name_entry(name, kind, key);
  count(&disk->damaged, unlinkat(disk->folder, name, 0) == 0);
}

/* --- writing --- */

static bool write_entry(int file, tj_entry_kind kind, const tj_entry *entry) {
  unsigned char header[TJ_ENTRY_HEADER_BYTES];
  tj_entry_header(header, kind, entry);
  return tj_file_write(file, (tj_bytes){header, sizeof header}) && tj_file_write(file, entry->key) &&
         tj_file_write(file, entry->payload);
}

/* Writes under a name that nobody else has, then renames. */
static bool write_file(tj_cache_disk *disk, const char *name, tj_entry_kind kind, const tj_entry *entry) {
  char fresh[TJ_ENTRY_NAME_SIZE];
  snprintf(fresh, sizeof fresh, ".new-%lx-%llx-%llx", (unsigned long)getpid(), (unsigned long long)tj_nanoseconds(),
           (unsigned long long)atomic_fetch_add_explicit(&disk->next_name, 1, memory_order_relaxed));
  int file = openat(disk->folder, fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0)
    return false;
  bool is_written = write_entry(file, kind, entry);
  is_written = close(file) == 0 && is_written;
  if (is_written && renameat(disk->folder, fresh, disk->folder, name) == 0)
    return true;
  unlinkat(disk->folder, fresh, 0);
  return false;
}

/* An eighth is left free, so that the next entry does not sweep again. */
static void sweep(tj_cache_disk *disk) {
  tj_folder_count left = tj_cache_sweep(disk->folder, &disk->allocator, disk->limit, disk->limit - disk->limit / 8);
  tj_cache_note_swept(disk->folder, left.bytes);
  count(&disk->evictions, left.removed);
}

bool tj_cache_disk_keep(tj_cache_disk *disk, tj_entry_kind kind, const tj_cache_key *key, tj_bytes payload) {
  char name[TJ_ENTRY_NAME_SIZE];
  uint64_t size = (uint64_t)TJ_ENTRY_HEADER_BYTES + key->bytes.size + payload.size;
  if (disk->folder < 0)
    return false;
  name_entry(name, kind, key);
  bool is_kept = size <= LARGEST_ENTRY && size <= disk->limit && tj_cache_size_is_allowed(size) &&
                 write_file(disk, name, kind, &(tj_entry){key->bytes, payload});
  if (!is_kept)
    count(&disk->failures, 1);
  else if (tj_cache_note_written(disk->folder, size, disk->limit))
    sweep(disk);
  return is_kept;
}

/* --- the whole --- */

void tj_cache_disk_measure(tj_cache_disk *disk, uint64_t *entries, uint64_t *bytes) {
  tj_folder_count now = {0};
  if (disk->folder >= 0)
    now = tj_cache_sweep(disk->folder, &disk->allocator, UINT64_MAX, 0);
  *entries = now.entries;
  *bytes = now.bytes;
}

bool tj_cache_disk_clear(tj_cache_disk *disk) {
  if (disk->folder < 0)
    return true;
  tj_folder_count left = tj_cache_sweep(disk->folder, &disk->allocator, 0, 0);
  tj_cache_note_swept(disk->folder, left.bytes);
  return left.is_complete;
}
