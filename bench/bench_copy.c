/* How fast the host copies tensors whose modes change places, against memcpy of the same bytes in the same run, on
 * one core and on all: the 57 cases of the benchmark of TTC and HPTT (Springer et al., arXiv:1603.02297 and
 * 1704.04374), 200 MiB of f32 each. No package in Debian holds a peer.
 *
 * usage: bench_copy [--scale N] [--type DTYPE] [--repetitions N] [--only PERMUTATION]. Prints one JSON object; rates
 * are bytes of the tensor in a second, the best of the repetitions. A wrong element ends it.
 *
 * glibc's memcpy bypasses the caches above a threshold that grows with the last cache; pieces that several threads
 * copy may be below it. GLIBC_TUNABLES=glibc.cpu.x86_non_temporal_threshold=0x400000 makes memcpy as fast as it gets.
 */
#include "tilejit/tilejit.h"

#include <jansson.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { MOST_MODES = 6, MOST_THREADS = 256, SAMPLES = 1 << 20, TEXT_SIZE = 1024 };

/* Mode i of the destination is mode permutation[i] of the source; the first mode of each is contiguous. */
typedef struct {
  const char *permutation;
  int64_t extent[MOST_MODES];
} tensor;

static const tensor tensors[] = {
    {"10", {7264, 7264}},
    {"10", {43408, 1216}},
    {"10", {1216, 43408}},
    {"021", {368, 384, 384}},
    {"021", {2144, 64, 384}},
    {"021", {368, 64, 2307}},
    {"102", {384, 384, 355}},
    {"102", {2320, 384, 59}},
    {"102", {384, 2320, 59}},
    {"210", {384, 355, 384}},
    {"210", {2320, 59, 384}},
    {"210", {384, 59, 2320}},
    {"0321", {80, 96, 75, 96}},
    {"0321", {464, 16, 75, 96}},
    {"0321", {80, 16, 75, 582}},
    {"2130", {96, 75, 96, 75}},
    {"2130", {608, 12, 96, 75}},
    {"2130", {96, 12, 608, 75}},
    {"2031", {96, 75, 96, 75}},
    {"2031", {608, 12, 96, 75}},
    {"2031", {96, 12, 608, 75}},
    {"1032", {96, 96, 75, 75}},
    {"1032", {608, 96, 12, 75}},
    {"1032", {96, 608, 12, 75}},
    {"3210", {96, 75, 75, 96}},
    {"3210", {608, 12, 75, 96}},
    {"3210", {96, 12, 75, 608}},
    {"04213", {32, 48, 28, 28, 48}},
    {"04213", {176, 8, 28, 28, 48}},
    {"04213", {32, 8, 28, 28, 298}},
    {"32140", {48, 28, 28, 48, 28}},
    {"32140", {352, 4, 28, 48, 28}},
    {"32140", {48, 4, 28, 352, 28}},
    {"20413", {48, 28, 48, 28, 28}},
    {"20413", {352, 4, 48, 28, 28}},
    {"20413", {48, 4, 352, 28, 28}},
    {"13042", {48, 48, 28, 28, 28}},
    {"13042", {352, 48, 4, 28, 28}},
    {"13042", {48, 352, 4, 28, 28}},
    {"43210", {48, 28, 28, 28, 48}},
    {"43210", {352, 4, 28, 28, 48}},
    {"43210", {48, 4, 28, 28, 352}},
    {"032541", {16, 32, 15, 32, 15, 15}},
    {"032541", {48, 10, 15, 32, 15, 15}},
    {"032541", {16, 10, 15, 103, 15, 15}},
    {"320514", {32, 15, 15, 32, 15, 15}},
    {"320514", {112, 5, 15, 32, 15, 15}},
    {"320514", {32, 5, 15, 112, 15, 15}},
    {"204153", {32, 15, 32, 15, 15, 15}},
    {"204153", {112, 5, 32, 15, 15, 15}},
    {"204153", {32, 5, 112, 15, 15, 15}},
    {"325104", {32, 15, 15, 32, 15, 15}},
    {"325104", {112, 5, 15, 32, 15, 15}},
    {"325104", {32, 5, 15, 112, 15, 15}},
    {"543210", {32, 15, 15, 15, 15, 32}},
    {"543210", {112, 5, 15, 15, 15, 32}},
    {"543210", {32, 5, 15, 15, 15, 112}},
};

enum { TENSOR_COUNT = sizeof tensors / sizeof *tensors };

typedef struct {
  int64_t scale;
  const char *type;
  size_t element_bytes;
  int repetitions;
  const char *only; /* NULL: all */
} settings;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static _Noreturn void fail(const char *text) {
  fprintf(stderr, "bench_copy: %s\n", text);
  exit(1);
}

static void expect(tj_context *context, tj_status status) {
  if (status != TJ_OK)
    fail(tj_context_diagnostic(context)->message);
}

/* --- tensors --- */

static int mode_count(const tensor *t) {
  return (int)strlen(t->permutation);
}

static int64_t size_of(const tensor *t) {
  int64_t size = 1;
  for (int m = 0; m < mode_count(t); m++)
    size *= t->extent[m];
  return size;
}

/* A tensor of about 1/scale of the elements: the longest modes are halved. */
static tensor scaled(const tensor *t, int64_t scale) {
  tensor result = *t;
  int64_t wanted = size_of(t) / scale;
  while (size_of(&result) > wanted) {
    int longest = 0;
    for (int m = 1; m < mode_count(t); m++)
      longest = result.extent[m] > result.extent[longest] ? m : longest;
    if (result.extent[longest] == 1)
      break;
    result.extent[longest] /= 2;
  }
  return result;
}

/* The steps of the source's modes in both tensors. */
static void find_strides(const tensor *t, int64_t source[MOST_MODES], int64_t destination[MOST_MODES]) {
  int64_t from = 1, to = 1;
  for (int m = 0; m < mode_count(t); m++) {
    int mode = t->permutation[m] - '0';
    source[m] = from;
    from *= t->extent[m];
    destination[mode] = to;
    to *= t->extent[mode];
  }
}

static size_t write_tuple(char *text, size_t size, const int64_t value[], int count) {
  size_t at = 0;
  for (int m = 0; m < count; m++)
    at += (size_t)snprintf(text + at, size - at, "%s%lld", m > 0 ? "," : "", (long long)value[m]);
  return at;
}

static void write_program(char text[TEXT_SIZE], const tensor *t, const char *type) {
  int64_t source[MOST_MODES], destination[MOST_MODES];
  char shape[128], from[128], to[128];
  find_strides(t, source, destination);
  write_tuple(shape, sizeof shape, t->extent, mode_count(t));
  write_tuple(from, sizeof from, source, mode_count(t));
  write_tuple(to, sizeof to, destination, mode_count(t));
  snprintf(text, TEXT_SIZE, "kernel transpose(src: %s @ (%s):(%s), dst: %s @ (%s):(%s)) = copy(src, dst)", type,
           shape, from, type, shape, to);
}

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

static void fill(arrays *a) {
  uint64_t state = 1;
  for (size_t i = 0; i < a->bytes; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    a->source[i] = (unsigned char)(state >> 56);
  }
}

/* Compares elements, all of a small tensor, with those that a loop over coordinates finds. */
static void verify(const tensor *t, const arrays *a, size_t element_bytes) {
  int64_t source[MOST_MODES], destination[MOST_MODES], size = size_of(t);
  int64_t step = size / SAMPLES > 0 ? size / SAMPLES | 1 : 1;
  find_strides(t, source, destination);
  for (int64_t at = 0; at < size; at += step) {
    int64_t rest = at, to = 0;
    for (int m = 0; m < mode_count(t); m++) {
      to += rest % t->extent[m] * destination[m];
      rest /= t->extent[m];
    }
    if (memcmp(a->source + (size_t)at * element_bytes, a->destination + (size_t)to * element_bytes, element_bytes) !=
        0)
      fail("a wrong element");
  }
}

/* --- memcpy --- */

/* Threads take chunks in turn, as those of the host device do. */
typedef struct {
  const arrays *a;
  atomic_size_t next;
} shared_copy;

static void *copy_chunks(void *data) {
  const size_t chunk = (size_t)8 << 20;
  shared_copy *copy = data;
  for (;;) {
    size_t begin = atomic_fetch_add(&copy->next, chunk), bytes = copy->a->bytes;
    if (begin >= bytes)
      return NULL;
    memcpy(copy->a->destination + begin, copy->a->source + begin, bytes - begin < chunk ? bytes - begin : chunk);
  }
}

/* Seconds of a memcpy of everything, whole by one thread, and by several in chunks. */
static double time_memcpy(const arrays *a, int threads) {
  pthread_t thread[MOST_THREADS];
  shared_copy copy = {.a = a};
  double begin = now();
  for (int i = 1; i < threads; i++) {
    if (pthread_create(&thread[i], NULL, copy_chunks, &copy) != 0)
      fail("no thread");
  }
  if (threads == 1)
    memcpy(a->destination, a->source, a->bytes);
  else
    copy_chunks(&copy);
  for (int i = 1; i < threads; i++)
    pthread_join(thread[i], NULL);
  return now() - begin;
}

/* --- ours --- */

/* The host, by one thread or by all. */
typedef struct {
  const char *name;
  int threads;
  tj_device *device;
  double logarithms; /* of ratios, summed */
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

static tj_code *compile(tj_context *context, const tensor *t, const char *type, double *milliseconds) {
  char text[TEXT_SIZE];
  tj_program *program;
  tj_code *code;
  write_program(text, t, type);
  double begin = now();
  expect(context, tj_program_create(context, "transpose", text, strlen(text), NULL, 0, &program));
  expect(context, tj_code_compile(program, &(tj_compile_options){"transpose", "host"}, &code));
  *milliseconds = (now() - begin) * 1e3;
  tj_program_destroy(program);
  return code;
}

static json_t *measure_team(tj_context *context, tj_launch *launch, team *t, const tensor *shape, const arrays *a,
                            const settings *s) {
  double ours = INFINITY, theirs = INFINITY;
  for (int i = 0; i < s->repetitions; i++) {
    theirs = fmin(theirs, time_memcpy(a, t->threads));
    memset(a->destination, 0, a->bytes);
    ours = fmin(ours, time_launch(context, launch, t->device));
    if (i == 0)
      verify(shape, a, s->element_bytes);
  }
  double bytes = (double)a->bytes;
  t->logarithms += log(theirs / ours);
  return json_pack("{s:f,s:f,s:f}", "bytes_per_second", bytes / ours, "memcpy_bytes_per_second", bytes / theirs,
                   "ratio", theirs / ours);
}

static json_t *measure(tj_context *context, team teams[TEAM_COUNT], const tensor *t, const settings *s) {
  double milliseconds;
  tj_code *code = compile(context, t, s->type, &milliseconds);
  tj_launch *launch;
  arrays a = {.bytes = (size_t)size_of(t) * s->element_bytes};
  a.source = allocate(a.bytes);
  a.destination = allocate(a.bytes);
  fill(&a);
  expect(context, tj_launch_create(context, code, &launch));
  expect(context, tj_launch_bind(launch, "src", a.source, a.bytes));
  expect(context, tj_launch_bind(launch, "dst", a.destination, a.bytes));
  char shape[128];
  write_tuple(shape, sizeof shape, t->extent, mode_count(t));
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
  for (int i = 0; i < TENSOR_COUNT; i++) {
    tensor t = scaled(&tensors[i], s->scale);
    if (s->only != NULL && strcmp(s->only, t.permutation) != 0)
      continue;
    json_array_append_new(cases, measure(context, teams, &t, s));
    if (isatty(STDERR_FILENO))
      fprintf(stderr, "\r%d of %d", i + 1, (int)TENSOR_COUNT);
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

static void report(const settings *s, const team teams[TEAM_COUNT], json_t *cases) {
  double load[1] = {0};
  getloadavg(load, 1);
  json_t *result = json_pack("{s:s,s:s,s:I,s:i,s:f,s:f,s:s}", "benchmark", "copy", "type", s->type, "scale",
                             (json_int_t)s->scale, "repetitions", s->repetitions, "load", load[0],
                             "mean_compile_milliseconds", mean_compile_time(cases), "peers", "none packaged");
  for (int i = 0; i < TEAM_COUNT; i++) {
    double mean = exp(teams[i].logarithms / fmax(1, (double)json_array_size(cases)));
    json_t *summary = json_pack("{s:i,s:f}", "threads", teams[i].threads, "geometric_mean_ratio", mean);
    json_object_set_new(result, teams[i].name, summary);
  }
  json_object_set_new(result, "cases", cases);
  json_dumpf(result, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(4));
  putchar('\n');
  json_decref(result);
}

static size_t bytes_of_type(const char *type) {
  size_t digits = strcspn(type, "0123456789");
  long bits = strtol(type + digits, NULL, 10);
  return bits == 8 || bits == 16 || bits == 32 || bits == 64 || bits == 128 ? (size_t)bits / 8 : 0;
}

static bool parse(int count, char **words, settings *s) {
  for (int i = 1; i + 1 < count; i += 2) {
    if (strcmp(words[i], "--scale") == 0)
      s->scale = strtol(words[i + 1], NULL, 10);
    else if (strcmp(words[i], "--type") == 0)
      s->type = words[i + 1];
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
    fprintf(stderr, "usage: bench_copy [--scale N] [--type DTYPE] [--repetitions N] [--only PERMUTATION]\n");
    return 2;
  }
  tj_context *context;
  if (tj_context_create(NULL, &context) != TJ_OK)
    return 3;
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  int threads = online < 1 ? 1 : online > MOST_THREADS ? MOST_THREADS : (int)online;
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
