/* SPDX-License-Identifier: MIT */
/* Entries on disk: opening the folder, finding, writing, trusting.
 *
 * A file is a header, the key, the payload:
 *
 *      0  "tilejit\n"        8  version      12  kind
 *     16  size of the key   24  size of the payload
 *     32  checksum of bytes 0 … 31, the key and the payload
 *     48  the key, the payload */
#include "jit/cache/cache_disk.h"

#include "base/clock.h"
#include "jit/cache/cache_sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEADER_BYTES = 48, CHECKSUM_AT = 32, LARGEST_ENTRY = 64 * 1024 * 1024, RENEWAL_SECONDS = 60 };

static const char magic[8] = {'t', 'i', 'l', 'e', 'j', 'i', 't', '\n'};
static const char *const suffix[TJ_ENTRY_KIND_COUNT] = {"text", "kernel"};

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
  if (path == NULL || limit == 0)
    return;
  size_t size = strlen(path) + 1;
  char *copy = allocator->allocate(allocator->user, size);
  if (copy == NULL)
    return;
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
  snprintf(name + 2 * TJ_DIGEST_BYTES, TJ_ENTRY_NAME_SIZE - 2 * TJ_DIGEST_BYTES, ".%s", suffix[kind]);
}

/* --- reading --- */

static bool read_all(int file, char *to, size_t size) {
  while (size > 0) {
    ssize_t got = read(file, to, size);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return false;
    to += got;
    size -= (size_t)got;
  }
  return true;
}

static tj_digest checksum_of(tj_bytes header, tj_bytes key, tj_bytes payload) {
  tj_digesting digesting = tj_digest_begin();
  tj_digest_add(&digesting, tj_bytes_slice(header, 0, CHECKSUM_AT));
  tj_digest_add(&digesting, key);
  tj_digest_add(&digesting, payload);
  return tj_digest_end(&digesting);
}

/* Key and payload of a file of a kind; false where it is damaged. */
static bool take_apart(tj_bytes file, tj_entry_kind kind, tj_bytes *key, tj_bytes *payload) {
  if (file.size < HEADER_BYTES || memcmp(file.data, magic, sizeof magic) != 0)
    return false;
  uint64_t key_size = tj_bytes_u64(file, 16), payload_size = tj_bytes_u64(file, 24), rest = file.size - HEADER_BYTES;
  if (tj_bytes_u32(file, 8) != TJ_ENTRY_VERSION || tj_bytes_u32(file, 12) != (uint32_t)kind || key_size > rest ||
      payload_size != rest - key_size)
    return false;
  *key = tj_bytes_slice(file, HEADER_BYTES, key_size);
  *payload = tj_bytes_slice(file, HEADER_BYTES + key_size, payload_size);
  tj_digest checksum = checksum_of(file, *key, *payload);
  return memcmp(checksum.byte, (const char *)file.data + CHECKSUM_AT, TJ_DIGEST_BYTES) == 0;
}

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
  tj_bytes found;
  if (!read_all(file, entry->block, size) ||
      !take_apart((tj_bytes){entry->block, size}, kind, &found, &entry->payload))
    return READ_DAMAGED;
  if (found.size != key->bytes.size || memcmp(found.data, key->bytes.data, found.size) != 0)
    return READ_NOTHING;
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
  unlinkat(disk->folder, name, 0);
  count(&disk->damaged, 1);
}

/* --- writing --- */

static bool write_all(int file, tj_bytes bytes) {
  const char *from = bytes.data;
  for (size_t left = bytes.size; left > 0;) {
    ssize_t put = write(file, from, left);
    if (put < 0 && errno == EINTR)
      continue;
    if (put <= 0)
      return false;
    from += put;
    left -= (size_t)put;
  }
  return true;
}

static void put_integer(unsigned char *to, uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; i++)
    to[i] = (unsigned char)(value >> (8 * i));
}

static bool write_entry(int file, tj_entry_kind kind, tj_bytes key, tj_bytes payload) {
  unsigned char header[HEADER_BYTES];
  memcpy(header, magic, sizeof magic);
  put_integer(header + 8, TJ_ENTRY_VERSION, 4);
  put_integer(header + 12, (uint64_t)kind, 4);
  put_integer(header + 16, key.size, 8);
  put_integer(header + 24, payload.size, 8);
  tj_digest checksum = checksum_of((tj_bytes){header, sizeof header}, key, payload);
  memcpy(header + CHECKSUM_AT, checksum.byte, TJ_DIGEST_BYTES);
  return write_all(file, (tj_bytes){header, sizeof header}) && write_all(file, key) && write_all(file, payload);
}

/* Writes under a name that nobody else has, then renames. */
static bool write_file(tj_cache_disk *disk, const char *name, tj_entry_kind kind, tj_bytes key, tj_bytes payload) {
  char fresh[TJ_ENTRY_NAME_SIZE];
  snprintf(fresh, sizeof fresh, ".new-%lx-%llx-%llx", (unsigned long)getpid(), (unsigned long long)tj_nanoseconds(),
           (unsigned long long)atomic_fetch_add_explicit(&disk->next_name, 1, memory_order_relaxed));
  int file = openat(disk->folder, fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0)
    return false;
  bool is_written = write_entry(file, kind, key, payload);
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

void tj_cache_disk_keep(tj_cache_disk *disk, tj_entry_kind kind, const tj_cache_key *key, tj_bytes payload) {
  char name[TJ_ENTRY_NAME_SIZE];
  uint64_t size = (uint64_t)HEADER_BYTES + key->bytes.size + payload.size;
  if (disk->folder < 0)
    return;
  name_entry(name, kind, key);
  bool is_kept = size <= LARGEST_ENTRY && size <= disk->limit && tj_cache_size_is_allowed(size) &&
                 write_file(disk, name, kind, key->bytes, payload);
  if (!is_kept)
    count(&disk->failures, 1);
  else if (tj_cache_note_written(disk->folder, size, disk->limit))
    sweep(disk);
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
