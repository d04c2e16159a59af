/* SPDX-License-Identifier: MIT */
/* A folder of a test's own, and what is in it. */
#ifndef TJ_TESTS_FOLDER_SUPPORT_H
#define TJ_TESTS_FOLDER_SUPPORT_H

#include <check.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 512 };

static char folder[PATH_SIZE]; /* where it is */

static inline void make_folder(void) {
  snprintf(folder, sizeof folder, "%s/tilejit_cache_XXXXXX", getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp");
  ck_assert_ptr_nonnull(mkdtemp(folder));
}

static inline bool is_file(const char *name) {
  return strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

typedef void (*visitor)(const char *path, void *data);

/* Calls visit for every file whose name ends in `ending`; returns how many there are. */
static inline size_t visit_files(const char *ending, visitor visit, void *data) {
  size_t found = 0;
  DIR *directory = opendir(folder);
  for (struct dirent *entry; directory != NULL && (entry = readdir(directory)) != NULL;) {
    size_t length = strlen(entry->d_name), end = strlen(ending);
    char path[PATH_SIZE + 300];
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    if (!is_file(entry->d_name) || length < end || strcmp(entry->d_name + length - end, ending) != 0)
      continue;
    found++;
    if (visit != NULL)
      visit(path, data);
  }
  if (directory != NULL)
    closedir(directory);
  return found;
}

static inline void remove_file(const char *path, void *data) {
  (void)data;
  unlink(path);
}

static inline void remove_folder(void) {
  visit_files("", remove_file, NULL);
  rmdir(folder);
}

#endif
