/* SPDX-License-Identifier: MIT */
/* What Emscripten's C library does not have, for pages: shared libraries, files and settings, of which there are
 * none, and sorting with a context. A page has one thread. */
#include "docs/playground/absent.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <sys/mman.h>

void *dlopen(const char *file, int flags) {
  (void)file;
  (void)flags;
  return NULL;
}

/* In the place of dlerror, by the linker's --wrap. */
char *__wrap_dlerror(void) {
  static char reason[] = "a page opens no shared libraries";
  return reason;
}

void *dlsym(void *restrict handle, const char *restrict name) {
  (void)handle;
  (void)name;
  return NULL;
}

int dladdr(const void *address, Dl_info *info) {
  (void)address;
  (void)info;
  return 0;
}

int dl_iterate_phdr(int (*visit)(struct dl_phdr_info *info, size_t size, void *data), void *data) {
  (void)visit;
  (void)data;
  return 0;
}

int memfd_create(const char *name, unsigned flags) {
  (void)name;
  (void)flags;
  errno = ENOSYS;
  return -1;
}

char *secure_getenv(const char *name) {
  (void)name;
  return NULL;
}

static struct {
  tj_comparison compare;
  void *context;
} sorting;

static int compare_in_context(const void *a, const void *b) {
  return sorting.compare(a, b, sorting.context);
}

void qsort_r(void *base, size_t count, size_t size, tj_comparison compare, void *context) {
  sorting.compare = compare;
  sorting.context = context;
  qsort(base, count, size, compare_in_context);
}
