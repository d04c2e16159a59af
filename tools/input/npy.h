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

/* The array that a file's bytes hold, but for its data, which are array->size bytes from `data_begin` on. NULL, or
 * why there is none: npy_no_memory, or what is wrong with it. */
extern const char npy_no_memory[];
const char *npy_parse(const char *file, size_t size, npy_array *array, size_t *data_begin);
/* The bytes of the file that holds an array, malloc'd; NULL where there is no memory. */
char *npy_format(const npy_array *array, size_t *size);
/* Brings an array into C order; false where there is no memory. */
bool npy_make_c_order(npy_array *array);
void npy_free(npy_array *array);

/* The same from and to files. Both return 0, or the exit status after printing why not. (npy_file.c) */
int npy_read(const char *path, npy_array *array);
int npy_write(const char *path, const npy_array *array);

#endif
