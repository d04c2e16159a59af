/* SPDX-License-Identifier: MIT */
/* Files of the programs that launch kernels without the compiler: whole ones, or the program ends. */
#ifndef TJ_TESTS_CLIENT_FILES_H
#define TJ_TESTS_CLIENT_FILES_H

#include <stdio.h>
#include <stdlib.h>

typedef struct {
  char *data;
  size_t size;
} bytes;

/* Prints what went wrong on a line of standard error. */
static inline _Noreturn void fail(const char *what) {
  fprintf(stderr, "%s\n", what);
  exit(1);
}

/* To be freed. */
static inline bytes read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  bytes read = {0};
  if (file == NULL || fseek(file, 0, SEEK_END) != 0)
    fail(path);
  read.size = (size_t)ftell(file);
  read.data = malloc(read.size + 1);
  rewind(file);
  if (read.data == NULL || fread(read.data, 1, read.size, file) != read.size)
    fail(path);
  fclose(file);
  return read;
}

static inline void write_file(const char *path, bytes written) {
  FILE *file = fopen(path, "wb");
  if (file == NULL || fwrite(written.data, 1, written.size, file) != written.size || fclose(file) != 0)
    fail(path);
}

#endif
