/* SPDX-License-Identifier: MIT */
/* Any bytes, as a .npy file: refused, or an array that lies in the file, and is the same when it is written and read
 * again. */
#include "tools/input/npy.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool is_so) {
  if (!is_so)
    abort();
}

static void require_same(const npy_array *a, const npy_array *b) {
  require(strcmp(a->dtype, b->dtype) == 0 && a->element_bytes == b->element_bytes);
  require(a->size == b->size && a->rank == b->rank && a->is_fortran == b->is_fortran);
  for (size_t i = 0; i < a->rank; i++)
    require(a->shape[i] == b->shape[i]);
}

/* A copy in C order has the first and the last element where they were. */
static void check_order(npy_array array) {
  const char *before = array.data;
  array.data = malloc(array.size + 1);
  require(array.data != NULL);
  memcpy(array.data, before, array.size);
  require(npy_make_c_order(&array) && !array.is_fortran);
  if (array.size > 0) {
    size_t last = array.size - array.element_bytes;
    require(memcmp(array.data, before, array.element_bytes) == 0);
    require(memcmp(array.data + last, before + last, array.element_bytes) == 0);
  }
  npy_free(&array);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  npy_array array, again;
  size_t begin, written;
  if (npy_parse((const char *)data, size, &array, &begin) != NULL)
    return 0;
  require(array.rank <= NPY_MAX_RANK && begin <= size && array.size <= size - begin);
  array.data = (char *)(uintptr_t)data + begin;
  char *file = npy_format(&array, &written);
  require(file != NULL && npy_parse(file, written, &again, &begin) == NULL);
  require_same(&array, &again);
  require(begin + array.size == written && memcmp(file + begin, array.data, array.size) == 0);
  free(file);
  check_order(array);
  return 0;
}
