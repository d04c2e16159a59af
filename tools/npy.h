/* SPDX-License-Identifier: MIT */
/* NumPy's .npy files: an array's element type, shape, and its elements in C order or in Fortran order. */
#ifndef TILEJIT_TOOLS_NPY_H
#define TILEJIT_TOOLS_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NPY_MAX_RANK = 32 };

typedef struct {
  char dtype[16]; /* NumPy's type string, such as <f4 */
  size_t element_bytes;
  size_t rank;
  int64_t shape[NPY_MAX_RANK];
  bool is_fortran; /* the first index is the fastest, not the last */
  char *data;      /* malloc'd: size bytes */
  size_t size;
} npy_array;

/* Both return 0, or the exit status after printing why not. */
int npy_read(const char *path, npy_array *array);
int npy_write(const char *path, const npy_array *array);
/* Brings an array into C order. Returns 0, or the exit status after printing why not. */
int npy_make_c_order(npy_array *array);
void npy_free(npy_array *array);

#endif
