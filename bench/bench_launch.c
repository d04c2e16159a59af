/* SPDX-License-Identifier: MIT */
/* What a launch costs that is small: the transposition of 16 x 16 floats, 1 KiB, on the host, where arrays are bound
 * by their addresses each time. Built with libtilejit, and as bench_launch_runtime with libtilejit-runtime; the code
 * is of one bundle. bench_python.py compares calls from Python with it.
 *
 * usage: bench_launch [ITERATIONS]. Prints one JSON object: of batches of 100 launches, the median and the least time
 * of a launch, in microseconds. */
#include "small.h"
#include "tilejit/runtime.h"
#include "timing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 100, MOST_BATCHES = 10000, EXTENT = 16 };

static _Noreturn void stop(const char *why) {
  fprintf(stderr, "bench_launch: %s\n", why);
  exit(3);
}

static void check(tj_context *context, tj_status status) {
  if (status == TJ_OK)
    return;
  const tj_diagnostic *diagnostic = tj_context_diagnostic(context);
  stop(diagnostic != NULL ? diagnostic->message : "out of memory");
}

/* Microseconds of a launch, the mean of a batch. */
static double run_batch(tj_context *context, tj_launch *launch, tj_device *device, float *from, float *to) {
  const size_t bytes = EXTENT * EXTENT * sizeof *from;
  double begin = now();
  for (int i = 0; i < BATCH; i++) {
    check(context, tj_launch_bind_pointer(launch, "src", from, bytes));
    check(context, tj_launch_bind_pointer(launch, "dst", to, bytes));
    check(context, tj_launch_run(launch, device));
  }
  return (now() - begin) / BATCH;
}

int main(int argc, char **argv) {
  static double times[MOST_BATCHES];
  static float from[EXTENT * EXTENT], to[EXTENT * EXTENT];
  long iterations = argc > 1 ? strtol(argv[1], NULL, 10) : 20000, batches = iterations / BATCH;
  if (batches < 1 || batches > MOST_BATCHES)
    stop("ITERATIONS is 100 to 1000000");
  tj_context *context;
  tj_device *device;
  tj_bundle *bundle;
  tj_code *code;
  tj_launch *launch;
  if (tj_context_create(NULL, &context) != TJ_OK)
    stop("out of memory");
  check(context, tj_device_open(context, "host", &device));
  check(context, tj_bundle_open(context, small, small_size, &bundle));
  check(context, tj_bundle_code(bundle, "transpose", tj_device_target(device), &code));
  check(context, tj_launch_create(context, code, &launch));
  check(context, tj_launch_set_parameter(launch, "M", EXTENT));
  check(context, tj_launch_set_parameter(launch, "N", EXTENT));
  for (long i = 0; i < batches; i++)
    times[i] = run_batch(context, launch, device, from, to);
  double middle = median(times, (size_t)batches);
  printf("{\"median_us\":%.3f,\"least_us\":%.3f}\n", middle, times[0]);
  tj_launch_destroy(launch);
  tj_code_destroy(code);
  tj_bundle_destroy(bundle);
  tj_device_close(device);
  tj_context_destroy(context);
  return 0;
}
