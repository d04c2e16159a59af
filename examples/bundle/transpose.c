/* SPDX-License-Identifier: MIT */
/* Transposes a matrix and restores it, by kernels that were compiled when this program was built.
 *
 * usage: transpose ROWS COLUMNS [DEVICE [BUNDLE]]. The bundle is the one inside of the program, or a file. */
#include "column_offset.h"
#include "kernels.h"
#include "row_offset.h"

#include <stdio.h>
#include <stdlib.h>
#include <tilejit/runtime.h>

static tj_context *context;

static void check(tj_status status) {
  char text[1024] = "out of memory\n";
  if (status == TJ_OK)
    return;
  if (tj_context_diagnostic(context) != NULL)
    tj_diagnostic_format(tj_context_diagnostic(context), 0, text, sizeof text);
  fputs(text, stderr);
  exit(1);
}

static tj_bundle *open_bundle(const char *path) {
  tj_bundle *bundle;
  check(path != NULL ? tj_bundle_open_file(context, path, &bundle)
                     : tj_bundle_open(context, kernels, kernels_size, &bundle));
  return bundle;
}

/* Runs the kernel of that name, from one buffer to another. */
static void run(tj_bundle *bundle, tj_device *device, const char *kernel, const int sizes[2], tj_buffer *from,
                tj_buffer *to) {
  tj_code *code;
  tj_launch *launch;
  check(tj_bundle_code(bundle, kernel, tj_device_target(device), &code));
  check(tj_launch_create(context, code, &launch));
  check(tj_launch_set_parameter(launch, "M", sizes[0]));
  check(tj_launch_set_parameter(launch, "N", sizes[1]));
  check(tj_launch_bind_buffer(launch, "src", from));
  check(tj_launch_bind_buffer(launch, "dst", to));
  check(tj_launch_run(launch, device));
  tj_launch_destroy(launch);
  tj_code_destroy(code);
}

/* Elements that are not where the layouts put them: element (i, j) of the matrix holds its number. */
static size_t count_wrong(const float *transposed, const float *restored, const int sizes[2]) {
  size_t wrong = 0;
  for (int i = 0; i < sizes[0]; i++) {
    for (int j = 0; j < sizes[1]; j++) {
      float value = (float)(i * sizes[1] + j);
      wrong += transposed[column_offset(i, j, sizes[0], sizes[1])] != value;
      wrong += restored[row_offset(i, j, sizes[0], sizes[1])] != value;
    }
  }
  return wrong;
}

int main(int argc, char **argv) {
  const int sizes[2] = {argc > 2 ? atoi(argv[1]) : 0, argc > 2 ? atoi(argv[2]) : 0};
  if (sizes[0] < 1 || sizes[1] < 1 || sizes[0] > 4096 || sizes[1] > 4096) {
    fputs("usage: transpose ROWS COLUMNS [DEVICE [BUNDLE]], at most 4096 each\n", stderr);
    return 2;
  }
  size_t count = (size_t)sizes[0] * (size_t)sizes[1], bytes = count * sizeof(float);
  float *matrix = malloc(bytes), *transposed = malloc(bytes);
  if (matrix == NULL || transposed == NULL || tj_context_create(NULL, &context) != TJ_OK)
    return 3;
  for (size_t i = 0; i < count; i++)
    matrix[i] = (float)i;

  tj_device *device;
  tj_buffer *from, *to;
  check(tj_device_open(context, argc > 3 ? argv[3] : "host", &device));
  tj_bundle *bundle = open_bundle(argc > 4 ? argv[4] : NULL);
  check(tj_buffer_create(context, device, bytes, &from));
  check(tj_buffer_create(context, device, bytes, &to));
  check(tj_buffer_write(from, 0, matrix, bytes));
  run(bundle, device, "transpose", sizes, from, to);
  check(tj_buffer_read(to, 0, transposed, bytes));
  run(bundle, device, "restore", sizes, to, from);
  check(tj_buffer_read(from, 0, matrix, bytes));
  size_t wrong = count_wrong(transposed, matrix, sizes);
  printf("%d x %d on %s: %zu of %zu elements wrong\n", sizes[0], sizes[1], argc > 3 ? argv[3] : "host", wrong,
         2 * count);

  tj_buffer_destroy(from);
  tj_buffer_destroy(to);
  tj_bundle_destroy(bundle);
  tj_device_close(device);
  tj_context_destroy(context);
  free(matrix);
  free(transposed);
  return wrong == 0 ? 0 : 1;
}
