/* SPDX-License-Identifier: MIT */
/* Sweeps of the cache's folder, and the file whose size says when the next one is due. */
#include "jit/cache/cache_sweep.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { DIGITS = 32, ABANDONED_SECONDS = 600, KIB = 1024 };

static const char ledger[] = ".written";

/* --- what files are --- */

typedef enum { FILE_OTHER, FILE_ENTRY, FILE_UNWRITTEN } file_kind;

static file_kind kind_of(const char *name) {
  if (strncmp(name, ".new-", 5) == 0)
    return FILE_UNWRITTEN;
  bool has_digest = strspn(name, "0123456789abcdef") == DIGITS;
#define ENTRY(kind, suffix)                                                                                          \
  if (has_digest && strcmp(name + DIGITS, "." suffix) == 0)                                                          \
    return FILE_ENTRY;
  TJ_FOLDER_ENTRIES(ENTRY)
#undef ENTRY
  return FILE_OTHER;
}

typedef struct {
  struct timespec used;
  uint64_t bytes;
  char name[TJ_ENTRY_NAME_SIZE];
} found_file;

/* The files of a folder; owned by whoever sweeps. */
typedef struct {
  const tj_allocator *allocator;
  found_file *file;
  size_t count, capacity;
} listing;

static bool add_file(listing *list, const char *name, const struct stat *status) {
  if (list->count == list->capacity) {
    size_t capacity = list->capacity > 0 ? 2 * list->capacity : 128;
    found_file *larger = list->allocator->allocate(list->allocator->user, capacity * sizeof *larger);
    if (larger == NULL)
      return false;
    if (list->file != NULL) {
      memcpy(larger, list->file, list->count * sizeof *larger);
      list->allocator->release(list->allocator->user, list->file);
    }
    list->file = larger;
    list->capacity = capacity;
  }
  found_file *added = &list->file[list->count++];
  *added = (found_file){.used = status->st_mtim, .bytes = ((uint64_t)status->st_size / KIB + 1) * KIB};
  memcpy(added->name, name, strlen(name) + 1);
  return true;
}

static bool is_abandoned(const struct stat *status) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return status->st_mtim.tv_sec + ABANDONED_SECONDS < now.tv_sec;
}

/* Looks at one file; false where it could not be dealt with. */
static bool look_at(listing *list, int folder, const char *name, uint64_t most) {
  struct stat status;
  file_kind kind = kind_of(name);
  if (kind == FILE_OTHER || fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
    return true;
  if (kind == FILE_UNWRITTEN)
    return (most > 0 && !is_abandoned(&status)) || unlinkat(folder, name, 0) == 0;
  return add_file(list, name, &status);
}

static bool list_files(listing *list, int folder, uint64_t most) {
  int reopened = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *directory = reopened >= 0 ? fdopendir(reopened) : NULL;
  if (directory == NULL) {
    if (reopened >= 0)
      close(reopened);
    return false;
  }
  bool is_complete = true;
  for (struct dirent *entry; (entry = readdir(directory)) != NULL;)
    is_complete = look_at(list, folder, entry->d_name, most) && is_complete;
  closedir(directory);
  return is_complete;
}

/* --- sweeping --- */

static int compare_use(const void *a, const void *b) {
  const struct timespec *x = &((const found_file *)a)->used, *y = &((const found_file *)b)->used;
  if (x->tv_sec != y->tv_sec)
    return x->tv_sec < y->tv_sec ? -1 : 1;
  return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

static void remove_oldest(const listing *list, int folder, uint64_t rest, tj_folder_count *count) {
  for (size_t i = 0; i < list->count && count->bytes > rest; i++) {
    if (unlinkat(folder, list->file[i].name, 0) != 0)
      count->is_complete = false;
    count->bytes -= list->file[i].bytes;
    count->entries--;
    count->removed++;
  }
}

tj_folder_count tj_cache_sweep(int folder, const tj_allocator *allocator, uint64_t most, uint64_t rest) {
  listing list = {.allocator = allocator};
  tj_folder_count count = {.is_complete = list_files(&list, folder, most)};
  for (size_t i = 0; i < list.count; i++)
    count.bytes += list.file[i].bytes;
  count.entries = list.count;
  if (count.bytes > most) {
    qsort(list.file, list.count, sizeof *list.file, compare_use);
    remove_oldest(&list, folder, rest, &count);
  }
  if (list.file != NULL)
    allocator->release(allocator->user, list.file);
  return count;
}

/* --- when to sweep --- */

bool tj_cache_size_is_allowed(uint64_t bytes) {
  struct rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur;
}

static int open_ledger(int folder, bool *is_new) {
  int file = openat(folder, ledger, O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
  *is_new = file < 0;
  return *is_new ? openat(folder, ledger, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600) : file;
}

/* Appending is what several processes can do at once without losing any of it. */
static void append(int file, uint64_t bytes) {
  static const char zeros[4096];
  while (bytes > 0) {
    size_t part = bytes < sizeof zeros ? (size_t)bytes : sizeof zeros;
    if (write(file, zeros, part) != (ssize_t)part)
      return;
    bytes -= part;
  }
}

bool tj_cache_note_written(int folder, uint64_t bytes, uint64_t limit) {
  bool is_new;
  struct stat status;
  int file = open_ledger(folder, &is_new);
  if (file < 0)
    return true;
  uint64_t size = fstat(file, &status) == 0 ? (uint64_t)status.st_size : UINT64_MAX / 2;
  uint64_t kib = bytes / KIB + 1;
  if (size <= limit / KIB && tj_cache_size_is_allowed(size + kib))
    append(file, kib);
  close(file);
  return is_new || size + kib > limit / KIB;
}

void tj_cache_note_swept(int folder, uint64_t bytes) {
  bool is_new;
  uint64_t kib = bytes / KIB;
  int file = open_ledger(folder, &is_new);
  if (file < 0)
    return;
  if (!tj_cache_size_is_allowed(kib) || ftruncate(file, (off_t)kib) != 0)
    unlinkat(folder, ledger, 0);
  close(file);
}
