/* SPDX-License-Identifier: MIT */
/* How long a kernel takes from text to launchable code: compiled, found on disk, found in memory, or of a new text
 * with a known kernel.
 *
 * usage: bench_cache [ITERATIONS [TARGET]]. Uses a folder of its own below $TMPDIR or /tmp, which it removes. Prints
 * one JSON object: medians in microseconds, and how often each fits into the time of a compilation. */
#include "first_launch.h"
#include "timing.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_ITERATIONS = 10000, MOST_COMPILATIONS = 50 };

static const struct {
  const char *name, *text;
} samples[] = {
    {"transpose", "param M in 1..32768, N in 1..32768\n"
                  "kernel transpose(src: f32 @ (M,N):(N,1), dst: f32 @ (M,N):(1,M)) = copy(src, dst)"},
    {"offsets_merge", "let merged = transform(packed((4,6,5)), [merge(4,6,5)], [[0,1,2]], [[0]])\n"
                      "let view = transform(merged, [unmerge(8,15)], [[0]], [[0,1]])\n"
                      "kernel offsets_merge(dst: i32 @ packed((8,15))) = offsets(dst, view)"},
    {"im2col", "let padded = transform(packed((4,32,32)), [pass_through(4), pad(32,1,1), pad(32,1,1)],"
               " [[0],[1],[2]], [[0],[1],[2]])\n"
               "let windows = transform(padded, [pass_through(4), embed((3,32),(1,1)), embed((3,32),(1,1))],"
               " [[0],[1],[2]], [[0],[1,2],[3,4]])\n"
               "let matrix = transform(windows, [merge(32,32), merge(4,3,3)], [[2,4],[0,1,3]], [[0],[1]])\n"
               "kernel im2col(src: f16 @ matrix, dst: f16 @ packed((1024, 36))) = copy(src, dst)"},
};

enum { SAMPLE_COUNT = sizeof samples / sizeof *samples };

static _Noreturn void stop(const char *why) {
  fprintf(stderr, "bench_cache: %s\n", why);
  exit(3);
}

static void check(tj_context *context, tj_status status) {
  if (status == TJ_OK)
    return;
  const tj_diagnostic *diagnostic = tj_context_diagnostic(context);
  stop(diagnostic != NULL ? diagnostic->message : "out of memory");
}

enum { EXTENT = 2000 }; /* of launches, along each parameter */

/* Median microseconds from text to code, which must come from `origin`; where it is compiled, up to what a launch
 * takes of it. With `varies`, each text is a new one. */
static double measure(tj_context *context, int sample, const char *target, size_t iterations, bool varies,
                      tj_code_origin origin) {
  static double duration[MOST_ITERATIONS];
  static size_t variant;
  for (size_t i = 0; i < iterations; i++) {
    char text[2048];
    int length = snprintf(text, sizeof text, "%s", samples[sample].text);
    if (varies)
      length = snprintf(text, sizeof text, "%s # %zu", samples[sample].text, variant++);
    tj_compile_options options = {NULL, target};
    tj_code *code;
    double begin = now();
    tj_status status =
        tj_code_compile_text(context, samples[sample].name, text, (size_t)length, NULL, 0, &options, &code);
    check(context, status);
    if (origin == TJ_CODE_COMPILED)
      check(context, first_launch(context, code, EXTENT, &(tj_code_times){0}));
    duration[i] = now() - begin;
    if (tj_code_origin_of(code) != origin)
      stop("code does not come from where it should");
    tj_code_destroy(code);
  }
  return median(duration, iterations);
}

static void use_cache(tj_context *context, const char *folder, uint64_t memory, uint64_t disk) {
  tj_cache *cache;
  tj_cache_options options = {folder, memory, disk};
  if (tj_cache_create(NULL, &options, &cache) != TJ_OK)
    stop("out of memory");
  if (tj_cache_stats_of(cache).is_off)
    stop("the cache is off");
  tj_context_set_cache(context, cache);
  tj_cache_destroy(cache);
}

static json_t *measure_sample(tj_context *context, int sample, const char *target, const char *folder,
                              size_t iterations) {
  size_t compilations = iterations < MOST_COMPILATIONS ? iterations : MOST_COMPILATIONS;
  tj_context_set_cache(context, NULL);
  double compiled = measure(context, sample, target, compilations, false, TJ_CODE_COMPILED);
  use_cache(context, folder, TJ_CACHE_NONE, 0);
  measure(context, sample, target, 1, false, TJ_CODE_COMPILED);
  double disk = measure(context, sample, target, iterations, false, TJ_CODE_FROM_DISK);
  use_cache(context, folder, 0, 0);
  measure(context, sample, target, 1, false, TJ_CODE_FROM_DISK);
  double memory = measure(context, sample, target, iterations, false, TJ_CODE_FROM_MEMORY);
  use_cache(context, NULL, 0, TJ_CACHE_NONE);
  measure(context, sample, target, 1, false, TJ_CODE_COMPILED);
  double kernel = measure(context, sample, target, iterations, true, TJ_CODE_FROM_KERNEL);
  return json_pack("{s:s,s:{s:f,s:f,s:f,s:f},s:{s:f,s:f,s:f}}", "kernel", samples[sample].name, "microseconds",
                   "compiled", compiled, "kernel", kernel, "disk", disk, "memory", memory, "ratio", "kernel",
                   compiled / kernel, "disk", compiled / disk, "memory", compiled / memory);
}

/* A new folder for entries; its name is kept in `path`. */
static void make_folder(char *path, size_t size) {
  const char *base = getenv("TMPDIR");
  snprintf(path, size, "%s/bench_cache_XXXXXX", base != NULL ? base : "/tmp");
  if (mkdtemp(path) == NULL)
    stop("no temporary folder");
}

static void remove_folder(const char *path) {
  tj_cache *cache;
  if (tj_cache_create(NULL, &(tj_cache_options){path, 0, 0}, &cache) != TJ_OK)
    stop("out of memory");
  tj_cache_clear(cache);
  tj_cache_destroy(cache);
  char ledger[4096];
  snprintf(ledger, sizeof ledger, "%s/.written", path);
  unlink(ledger);
  rmdir(path);
}

int main(int count, char **words) {
  size_t iterations = count > 1 ? strtoul(words[1], NULL, 10) : 1000;
  const char *target = count > 2 ? words[2] : "gfx942";
  if (iterations < 1 || iterations > MOST_ITERATIONS) {
    fprintf(stderr, "usage: bench_cache [ITERATIONS (1 to %d) [TARGET]]\n", MOST_ITERATIONS);
    return 2;
  }
  tj_context *context;
  char folder[1024];
  if (tj_context_create(NULL, &context) != TJ_OK)
    return 3;
  make_folder(folder, sizeof folder);
  json_t *results = json_array();
  for (int i = 0; i < SAMPLE_COUNT; i++)
    json_array_append_new(results, measure_sample(context, i, target, folder, iterations));
  json_t *report = json_pack("{s:s,s:s,s:i,s:o}", "benchmark", "cache", "target", target, "iterations",
                             (int)iterations, "kernels", results);
  json_dumpf(report, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(5));
  putchar('\n');
  json_decref(report);
  tj_context_destroy(context);
  remove_folder(folder);
  return 0;
}
