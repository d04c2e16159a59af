/* SPDX-License-Identifier: MIT */
/* Libraries by where this code is itself. */
#include "base/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The linker knows a program by the word that started it, which is no path from here where the program has changed
 * its folder. */
static bool find_own_file(char *path, size_t size) {
  Dl_info info;
  void *here;
  void (*self)(const char *, const char *, char *) = tj_library_find;
  memcpy(&here, &self, sizeof here);
  bool is_path = dladdr(here, &info) != 0 && info.dli_fname != NULL && strchr(info.dli_fname, '/') != NULL;
  char *resolved = is_path ? realpath(info.dli_fname, NULL) : NULL;
  if (resolved == NULL)
    resolved = realpath("/proc/self/exe", NULL);
  bool is_found = resolved != NULL && strlen(resolved) < size;
  if (is_found)
    memcpy(path, resolved, strlen(resolved) + 1);
  free(resolved);
  return is_found;
}

/* Whether the file is in BASE/FOLDER; then `path` is its path. */
static bool is_in(const char *base, const char *folder, const char *file, char path[TJ_LIBRARY_PATH_SIZE]) {
  int length = snprintf(path, TJ_LIBRARY_PATH_SIZE, "%s%s/%s", base, folder, file);
  return length > 0 && length < TJ_LIBRARY_PATH_SIZE && access(path, R_OK) == 0;
}

void tj_library_find(const char *file, const char *folder, char path[TJ_LIBRARY_PATH_SIZE]) {
  static const char *const folders[] = {"", "/..", "/" TILEJIT_LIBRARIES_NEARBY,
                                        "/" TILEJIT_LIBRARIES_NEARBY "/tilejit"};
  char own[TJ_LIBRARY_PATH_SIZE];
  bool has_own = find_own_file(own, sizeof own);
  if (has_own)
    *strrchr(own, '/') = '\0';
  for (size_t i = 0; has_own && i < sizeof folders / sizeof folders[0]; i++) {
    if (is_in(own, folders[i], file, path))
      return;
  }
  if (!is_in(folder != NULL ? folder : TILEJIT_LIBRARY_FOLDER, "", file, path))
    snprintf(path, TJ_LIBRARY_PATH_SIZE, "%s", file);
}

tj_library_function tj_library_function_of(void *handle, const char *name) {
  void *symbol = dlsym(handle, name);
  tj_library_function found;
  memcpy(&found, &symbol, sizeof found);
  return found;
}

bool tj_library_load_once(tj_library_once *once, bool (*load)(char message[TJ_LIBRARY_MESSAGE_SIZE]),
                          char message[TJ_LIBRARY_MESSAGE_SIZE]) {
  if (atomic_load_explicit(&once->is_open, memory_order_acquire))
    return true;
  pthread_mutex_lock(&once->lock);
  bool is_open = atomic_load_explicit(&once->is_open, memory_order_relaxed) || load(message);
  atomic_store_explicit(&once->is_open, is_open, memory_order_release);
  pthread_mutex_unlock(&once->lock);
  return is_open;
}
