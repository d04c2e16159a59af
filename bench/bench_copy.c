/* SPDX-License-Identifier: MIT */
/* How fast the host copies tensors whose modes change places, against memcpy of the same bytes in the same run, on
 * one core and on all, and against the libraries of peers.h: the 57 cases of transpositions.h in full size.
 *
 * usage: bench_copy [--scale N] [--type DTYPE] [--form static|dynamic] [--repetitions N] [--only PERMUTATION]. Prints
 * one JSON object; rates are bytes of the tensor in a second, the best of the repetitions. A wrong element ends it.
 *
 * glibc's memcpy bypasses the caches above a threshold that grows with the last cache; pieces that several threads
 * copy may be below it. GLIBC_TUNABLES=glibc.cpu.x86_non_temporal_threshold=0x400000 makes memcpy as fast as it gets.
 */
#include "failing.h"
#include "host_copy.h"
#include "peers.h"
#include "tilejit/tilejit.h"
#include "timing.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SAMPLES = 1 << 20 };

typedef struct {
  int64_t scale;
  const char *type;
  size_t element_bytes;
  bool is_dynamic; /* extents are passed at launch */
  int repetitions;
  const char *only; /* NULL: all */
} settings;

/* --- memory --- */

typedef struct {
  unsigned char *source, *destination;
  size_t bytes;
} arrays;

/* Memory as the host device's own buffers: large pages where the system has them. */
static unsigned char *allocate(size_t bytes) {
  const size_t large = (size_t)2 << 20;
  void *block = aligned_alloc(large, (bytes + large - 1) / large * large);
  if (block == NULL)
    fail("out of memory");
  madvise(block, bytes, MADV_HUGEPAGE);
  memset(block, 0, bytes);
  return block;
}

/* Random bits, but no NaN: libraries may change the bits of those. */
static void fill(arrays *a, size_t element_bytes) {
  uint64_t state = 1;
  for (size_t i = 0; i < a->bytes; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    a->source[i] = (unsigned char)(state >> 56) & (i % element_bytes == element_bytes - 1 ? 0xbf : 0xff);
  }
}

/* Compares elements, all of a small tensor, with those that a loop over coordinates finds. */
static void verify(const transposition *t, const arrays *a, size_t element_bytes, const char *who) {
  int64_t size = transposition_size(t), step = size / SAMPLES > 0 ? size / SAMPLES | 1 : 1;
  for (int64_t at = 0; at < size; at += step) {
    element_places p = transposition_places(t, NULL, at);
    if (memcmp(a->source + (size_t)p.source * element_bytes, a->destination + (size_t)p.destination * element_bytes,
               element_bytes) != 0) {
      char text[64];
      snprintf(text, sizeof text, "%s: a wrong element", who);
      fail(text);
    }
  }
}

/* Seconds of a memcpy of everything. */
static double copy_time(const arrays *a, int threads) {
  double seconds = time_memcpy(a->destination, a->source, a->bytes, threads);
  if (seconds < 0)
    fail("no thread");
  return seconds;
}

/* --- ours --- */

/* The host, by one thread or by all. */
typedef struct {
  const char *name;
  int threads;
  tj_device *device;
  double logarithms;                         /* of ratios, summed */
  double peer_logarithms[MOST_PEERS];        /* of our rates to a peer's, */
  double peer_memcpy_logarithms[MOST_PEERS]; /* and of a peer's rates to memcpy's, over */
  int peer_cases[MOST_PEERS];                /* the cases that the peer has */
} team;

enum { TEAM_COUNT = 2 };

static void open_team(tj_context *context, team *t, const char *name, int threads) {
  char text[16];
  snprintf(text, sizeof text, "%d", threads);
  setenv("TILEJIT_HOST_THREADS", text, 1);
  *t = (team){.name = name, .threads = threads};
  expect(context, tj_device_open(context, "host", &t->device));
}

static double time_launch(tj_context *context, tj_launch *launch, tj_device *device) {
  expect(context, tj_launch_run(launch, device));
  return (double)tj_launch_nanoseconds(launch) / 1e9;
}

static tj_code *compile(tj_context *context, const transposition *t, const settings *s, double *milliseconds) {
  char text[TRANSPOSITION_TEXT];
  tj_program *program;
  tj_code *code;
  if (s->is_dynamic)
    transposition_write_dynamic(text, t, NULL, s->type, 0);
  else
    transposition_write(text, t, NULL, s->type);
  double begin = now();
  expect(context, tj_program_create(context, "transpose", text, strlen(text), NULL, 0, &program));
  expect(context, tj_code_compile(program, &(tj_compile_options){"transpose", "host"}, &code));
  *milliseconds = (now() - begin) / 1e3;
  tj_program_destroy(program);
  return code;
}

static void pass_extents(tj_context *context, tj_launch *launch, const transposition *t) {
  for (int m = 0; m < transposition_modes(t); m++)
    expect(context, tj_launch_set_parameter(launch, (char[]){'D', (char)('0' + m), '\0'}, t->extent[m]));
}

/* Seconds of the best of some runs of a peer. */
static double time_peer(const peer *p, peer_plan *plan, const transposition *shape, const arrays *a,
                        const settings *s) {
  double best = INFINITY;
  memset(a->destination, 0, a->bytes);
  for (int i = 0; i < s->repetitions; i++) {
    double begin = now();
    p->run(plan);
    best = fmin(best, (now() - begin) / 1e6);
  }
  verify(shape, a, s->element_bytes, p->name);
  return best;
}

/* The peers that have such a transposition and use as many threads. */
static json_t *measure_peers(team *t, const transposition *shape, const arrays *a, const settings *s, double ours,
                             double theirs) {
  json_t *result = json_object();
  for (int i = 0; peers[i].name != NULL; i++) {
    const peer *p = &peers[i];
    peer_plan *plan =
        t->threads > 1 && !p->has_threads ? NULL : p->plan(shape, s->type, a->source, a->destination, t->threads);
    if (plan == NULL)
      continue;
    double seconds = time_peer(p, plan, shape, a, s);
    t->peer_logarithms[i] += log(seconds / ours);
    t->peer_memcpy_logarithms[i] += log(theirs / seconds);
    t->peer_cases[i]++;
    json_object_set_new(result, p->name, json_real((double)a->bytes / seconds));
    p->release(plan);
  }
  return result;
}

static json_t *measure_team(tj_context *context, tj_launch *launch, team *t, const transposition *shape,
                            const arrays *a, const settings *s) {
  double ours = INFINITY, theirs = INFINITY;
  for (int i = 0; i < s->repetitions; i++) {
    theirs = fmin(theirs, copy_time(a, t->threads));
    memset(a->destination, 0, a->bytes);
    ours = fmin(ours, time_launch(context, launch, t->device));
    if (i == 0)
      verify(shape, a, s->element_bytes, "tilejit");
  }
  double bytes = (double)a->bytes;
  t->logarithms += log(theirs / ours);
  return json_pack("{s:f,s:f,s:f,s:o}", "bytes_per_second", bytes / ours, "memcpy_bytes_per_second", bytes / theirs,
                   "ratio", theirs / ours, "peers", measure_peers(t, shape, a, s, ours, theirs));
}

static json_t *measure(tj_context *context, team teams[TEAM_COUNT], const transposition *t, const settings *s) {
  double milliseconds;
  tj_code *code = compile(context, t, s, &milliseconds);
  tj_launch *launch;
  arrays a = {.bytes = (size_t)transposition_size(t) * s->element_bytes};
  a.source = allocate(a.bytes);
  a.destination = allocate(a.bytes);
  fill(&a, s->element_bytes);
  expect(context, tj_launch_create(context, code, &launch));
  if (s->is_dynamic)
    pass_extents(context, launch, t);
  expect(context, tj_launch_bind(launch, "src", a.source, a.bytes));
  expect(context, tj_launch_bind(launch, "dst", a.destination, a.bytes));
  char shape[SHAPE_TEXT];
  transposition_write_shape(shape, t);
  json_t *result =
      json_pack("{s:s,s:s,s:f}", "permutation", t->permutation, "shape", shape, "compile_milliseconds", milliseconds);
  for (int i = 0; i < TEAM_COUNT; i++)
    json_object_set_new(result, teams[i].name, measure_team(context, launch, &teams[i], t, &a, s));
  tj_launch_destroy(launch);
  tj_code_destroy(code);
  free(a.source);
  free(a.destination);
  return result;
}

/* --- the report --- */

static json_t *measure_all(tj_context *context, team teams[TEAM_COUNT], const settings *s) {
  json_t *cases = json_array();
  for (int i = 0; i < TRANSPOSITION_COUNT; i++) {
    const transposition *full = &transpositions[i];
    transposition t = transposition_halved(full, transposition_size(full) / s->scale);
    if (s->only != NULL && strcmp(s->only, t.permutation) != 0)
      continue;
    json_array_append_new(cases, measure(context, teams, &t, s));
    if (isatty(STDERR_FILENO))
      fprintf(stderr, "\r%d of %d", i + 1, (int)TRANSPOSITION_COUNT);
  }
  return cases;
}

static double mean_compile_time(const json_t *cases) {
  double sum = 0;
  size_t i;
  json_t *one;
  json_array_foreach(cases, i, one) sum += json_real_value(json_object_get(one, "compile_milliseconds"));
  return json_array_size(cases) > 0 ? sum / (double)json_array_size(cases) : 0;
}

static json_t *summarise_peers(const team *t) {
  json_t *result = json_object();
  for (int i = 0; peers[i].name != NULL; i++) {
    double cases = t->peer_cases[i];
    if (cases > 0)
      json_object_set_new(result, peers[i].name,
                          json_pack("{s:i,s:f,s:f}", "cases", t->peer_cases[i], "geometric_mean_ratio",
                                    exp(t->peer_memcpy_logarithms[i] / cases), "tilejit_to_peer",
                                    exp(t->peer_logarithms[i] / cases)));
  }
  return result;
}

static void report(const settings *s, const team teams[TEAM_COUNT], json_t *cases) {
  double load[1] = {0};
  getloadavg(load, 1);
  json_t *result = json_pack("{s:s,s:s,s:s,s:I,s:i,s:f,s:f}", "benchmark", "copy", "type", s->type, "form",
                             s->is_dynamic ? "dynamic" : "static", "scale", (json_int_t)s->scale, "repetitions",
                             s->repetitions, "load", load[0], "mean_compile_milliseconds", mean_compile_time(cases));
  for (int i = 0; i < TEAM_COUNT; i++) {
    double mean = exp(teams[i].logarithms / fmax(1, (double)json_array_size(cases)));
    json_t *summary = json_pack("{s:i,s:f,s:o}", "threads", teams[i].threads, "geometric_mean_ratio", mean, "peers",
                                summarise_peers(&teams[i]));
    json_object_set_new(result, teams[i].name, summary);
  }
  json_object_set_new(result, "cases", cases);
  json_dumpf(result, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(4));
  putchar('\n');
  json_decref(result);
}

static bool parse(int count, char **words, settings *s) {
  for (int i = 1; i + 1 < count; i += 2) {
    if (strcmp(words[i], "--scale") == 0)
      s->scale = strtol(words[i + 1], NULL, 10);
    else if (strcmp(words[i], "--type") == 0)
      s->type = words[i + 1];
    else if (strcmp(words[i], "--form") == 0 && strcmp(words[i + 1], "dynamic") == 0)
      s->is_dynamic = true;
    else if (strcmp(words[i], "--form") == 0 && strcmp(words[i + 1], "static") == 0)
      s->is_dynamic = false;
    else if (strcmp(words[i], "--repetitions") == 0)
      s->repetitions = (int)strtol(words[i + 1], NULL, 10);
    else if (strcmp(words[i], "--only") == 0)
      s->only = words[i + 1];
    else
      return false;
  }
  s->element_bytes = bytes_of_type(s->type);
  return count % 2 == 1 && s->scale > 0 && s->repetitions > 0 && s->element_bytes > 0;
}

int main(int count, char **words) {
  settings s = {.scale = 1, .type = "f32", .repetitions = 3};
  if (!parse(count, words, &s)) {
    fprintf(stderr, "usage: bench_copy [--scale N] [--type DTYPE] [--form static|dynamic] [--repetitions N] "
                    "[--only PERMUTATION]\n");
    return 2;
  }
  tj_context *context;
  if (tj_context_create(NULL, &context) != TJ_OK)
    return 3;
  tj_context_set_cache(context, NULL);
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  int threads = online < 1 ? 1 : online > MOST_COPY_THREADS ? MOST_COPY_THREADS : (int)online;
  team teams[TEAM_COUNT];
  open_team(context, &teams[0], "one_core", 1);
  open_team(context, &teams[1], "all_cores", threads);
  json_t *cases = measure_all(context, teams, &s);
  report(&s, teams, cases);
  for (int i = 0; i < TEAM_COUNT; i++)
    tj_device_close(teams[i].device);
  tj_context_destroy(context);
  return 0;
}
