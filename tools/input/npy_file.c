/* SPDX-License-Identifier: MIT */
/* Files of arrays, and what is wrong with them. */
#include "tools/input/input.h"
#include "tools/input/npy.h"
#include "tools/report/report.h"

#include <stdlib.h>
#include <string.h>

int npy_read(const char *path, npy_array *array) {
  *array = (npy_array){.rank = 0};
  char *file;
  size_t size, data_begin;
  int status = read_array_file(path, &file, &size);
  if (status != 0)
    return status;
  const char *why = npy_parse(file, size, array, &data_begin);
  if (why != NULL) {
    free(file);
    if (why == npy_no_memory)
      return fail_memory();
    return fail_tool(TJ_ERROR_INPUT, 6006, "save it with numpy.save as a plain little-endian array", "%s: %s", path,
                     why);
  }
  memmove(file, file + data_begin, array->size);
  array->data = file;
  return 0;
}

int npy_write(const char *path, const npy_array *array) {
  size_t size;
  char *file = npy_format(array, &size);
  if (file == NULL)
    return fail_memory();
  int status = write_file(path, file, size);
  free(file);
  return status;
}
