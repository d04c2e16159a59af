/* SPDX-License-Identifier: MIT */
/* How fast the 57 transpositions of transpositions.h are on a GPU: as a part of the rate at which the device copies
 * memory, in the same run and by the same clock, with fixed shapes and with shapes that the launch brings.
 *
 * Times are the device's, of launches one behind another: ten in a round, the best of five rounds. What a kernel has
 * stored is compared with what it had to, element by element, by this host, which knows nothing of the compiler.
 *
 * Prints one JSON object, or with --table lines to read. A kernel that does not run, and a wrong element, end it.
 * With
 * --list nothing runs: each case has the texts of its kernels, for programs that time them in other ways. */
#include "failing.h"
#include "timing.h"
#include "transpositions.h"

#include <tilejit/tilejit.h>

#include <jansson.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WARM_UPS = 3, ROUNDS = 5, LAUNCHES = 10, MOST_THREADS = 64 };

static const char usage[] =
    "usage: bench_gpu [--device cuda:0] [--types f32,f16] [--case PERMUTATION]\n"
    "                 [--every 3] [--elements N] [--form static|dynamic|both] [--table] [--unchecked]\n"
    "                 [--list]\n";

typedef struct {
  const char *device, *only; /* only: NULL for all */
  measured measured;
  int step;         /* every such case */
  int64_t elements; /* at most so many; 0: the whole size */
  bool is_table, is_unchecked, is_list;
} settings;

typedef struct {
  const settings *settings;
  tj_context *context;
  tj_device *device;
  tj_buffer *source, *destination;
  char *given, *made; /* the source's elements, and what a kernel has stored */
  size_t bytes;       /* of each */
  const char *type;
  size_t element_bytes;
  double copy; /* bytes a nanosecond, read and written ones */
} bench;

/* --- times --- */

/* Starts the work once. */
typedef tj_fence *(*start_function)(const bench *b, void *data);

static uint64_t end_of(const bench *b, tj_fence *fence) {
  uint64_t nanoseconds;
  expect(b->context, tj_fence_wait(fence, &nanoseconds));
  tj_fence_destroy(fence);
  return nanoseconds;
}

/* Nanoseconds of one launch, in the mean of a round. */
static double time_round(const bench *b, start_function start, void *data, int launches) {
  tj_fence *fence[LAUNCHES];
  uint64_t sum = 0;
  for (int i = 0; i < launches; i++)
    fence[i] = start(b, data);
  for (int i = 0; i < launches; i++)
    sum += end_of(b, fence[i]);
  return (double)sum / launches;
}

static double best_time(const bench *b, start_function start, void *data) {
  double best = INFINITY;
  time_round(b, start, data, WARM_UPS);
  for (int i = 0; i < ROUNDS; i++)
    best = fmin(best, time_round(b, start, data, LAUNCHES));
  return best;
}

static tj_fence *start_copy(const bench *b, void *data) {
  tj_fence *fence;
  expect(b->context, tj_buffer_submit_copy(b->destination, 0, b->source, 0, *(const size_t *)data, &fence));
  return fence;
}

static tj_fence *start_launch(const bench *b, void *data) {
  tj_fence *fence;
  expect(b->context, tj_launch_submit(data, b->device, &fence));
  return fence;
}

/* --- checking --- */

/* A thread's part of the source's elements. */
typedef struct {
  const bench *bench;
  const transposition *t;
  int64_t begin, end, wrong;
} part;

/* Compares elements of the source's first mode, which lie in steps in the destination. */
static int64_t count_wrong(const bench *b, element_places at, int64_t step, int64_t count) {
  int64_t wrong = 0;
  size_t bytes = b->element_bytes;
  for (int64_t i = 0; i < count; i++) {
    const char *given = b->given + (size_t)(at.source + i) * bytes;
    const char *made = b->made + (size_t)(at.destination + i * step) * bytes;
    wrong += memcmp(given, made, bytes) != 0;
  }
  return wrong;
}

static void *check_part(void *data) {
  part *p = data;
  int64_t run = p->t->extent[0], source[TRANSPOSITION_MODES], destination[TRANSPOSITION_MODES];
  transposition_strides(p->t, NULL, source, destination);
  for (int64_t i = p->begin; i < p->end; i++)
    p->wrong += count_wrong(p->bench, transposition_places(p->t, NULL, i * run), destination[0], run);
  return NULL;
}

static int64_t check_all(const bench *b, const transposition *t) {
  pthread_t thread[MOST_THREADS];
  part parts[MOST_THREADS];
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  int count = cores < 1 ? 1 : cores > MOST_THREADS ? MOST_THREADS : (int)cores;
  int64_t runs = transposition_size(t) / t->extent[0], wrong = 0;
  for (int i = 0; i < count; i++) {
    parts[i] = (part){b, t, runs * i / count, runs * (i + 1) / count, 0};
    if (pthread_create(&thread[i], NULL, check_part, &parts[i]) != 0)
      fail("no thread");
  }
  for (int i = 0; i < count; i++) {
    pthread_join(thread[i], NULL);
    wrong += parts[i].wrong;
  }
  return wrong;
}

static size_t size_of(const bench *b, const transposition *t) {
  return (size_t)transposition_size(t) * b->element_bytes;
}

static void check(bench *b, const transposition *t) {
  char problem[SHAPE_TEXT + 64], shape[SHAPE_TEXT];
  if (b->settings->is_unchecked)
    return;
  expect(b->context, tj_buffer_read(b->destination, 0, b->made, size_of(b, t)));
  int64_t wrong = check_all(b, t);
  transposition_write_shape(shape, t);
  snprintf(problem, sizeof problem, "%s of %s: %lld wrong elements", t->permutation, shape, (long long)wrong);
  if (wrong != 0)
    fail(problem);
}

/* Nothing of an earlier kernel is left to be taken for this one's. */
static void clear(bench *b, const transposition *t) {
  if (b->settings->is_unchecked)
    return;
  memset(b->made, 0x5a, size_of(b, t));
  expect(b->context, tj_buffer_write(b->destination, 0, b->made, size_of(b, t)));
}

/* --- one kernel --- */

typedef struct {
  double nanoseconds, part;                         /* of a launch; of the copy's rate */
  double compile_milliseconds, driver_milliseconds; /* text to code; the first launch, less a later one */
} figures;

static void set_extents(const bench *b, tj_launch *launch, const transposition *t) {
  for (int m = 0; m < transposition_modes(t); m++) {
    const char name[] = {'D', (char)('0' + m), '\0'};
    expect(b->context, tj_launch_set_parameter(launch, name, t->extent[m]));
  }
}

static void write_kernel(char text[TRANSPOSITION_TEXT], const bench *b, const transposition *t, bool is_dynamic) {
  if (is_dynamic)
    transposition_write_dynamic(text, t, NULL, b->type, 0);
  else
    transposition_write(text, t, NULL, b->type);
}

static tj_code *compile(const bench *b, const transposition *t, bool is_dynamic, double *milliseconds) {
  char text[TRANSPOSITION_TEXT];
  tj_code *code;
  write_kernel(text, b, t, is_dynamic);
  tj_compile_options options = {"transpose", tj_device_target(b->device)};
  double begin = now();
  expect(b->context, tj_code_compile_text(b->context, "transpose", text, strlen(text), NULL, 0, &options, &code));
  *milliseconds = (now() - begin) / 1e3;
  return code;
}

static figures measure_kernel(bench *b, const transposition *t, bool is_dynamic) {
  figures f;
  tj_launch *launch;
  tj_code *code = compile(b, t, is_dynamic, &f.compile_milliseconds);
  expect(b->context, tj_launch_create(b->context, code, &launch));
  if (is_dynamic)
    set_extents(b, launch, t);
  expect(b->context, tj_launch_bind_buffer(launch, "src", b->source));
  expect(b->context, tj_launch_bind_buffer(launch, "dst", b->destination));
  clear(b, t);
  double begin = now();
  end_of(b, start_launch(b, launch));
  double middle = now();
  end_of(b, start_launch(b, launch));
  f.driver_milliseconds = (2 * middle - begin - now()) / 1e3;
  check(b, t);
  f.nanoseconds = best_time(b, start_launch, launch);
  f.part = 2 * (double)size_of(b, t) / f.nanoseconds / b->copy;
  tj_launch_destroy(launch);
  tj_code_destroy(code);
  return f;
}

/* --- cases --- */

typedef struct {
  double logarithms, least, compile, driver, most_compile;
  int cases;
} summary;

static void add(summary *s, const figures *f) {
  s->least = s->cases == 0 ? f->part : fmin(s->least, f->part);
  s->logarithms += log(f->part);
  s->compile += f->compile_milliseconds;
  s->most_compile = fmax(s->most_compile, f->compile_milliseconds);
  s->driver += f->driver_milliseconds;
  s->cases++;
}

static json_t *figures_object(const figures *f) {
  return json_pack("{s:f,s:f,s:f,s:f}", "microseconds", f->nanoseconds / 1e3, "part_of_copy", f->part,
                   "compile_milliseconds", f->compile_milliseconds, "driver_milliseconds", f->driver_milliseconds);
}

static json_t *summary_object(const summary *s) {
  double cases = fmax(1, s->cases);
  return json_pack("{s:i,s:f,s:f,s:f,s:f,s:f}", "cases", s->cases, "geometric_mean", exp(s->logarithms / cases),
                   "least", s->least, "mean_compile_milliseconds", s->compile / cases, "most_compile_milliseconds",
                   s->most_compile, "mean_driver_milliseconds", s->driver / cases);
}

static void measure_form(bench *b, const transposition *t, const char *form, summary *sum, json_t *object) {
  char shape[SHAPE_TEXT];
  if (!measured_has_form(&b->settings->measured, form))
    return;
  figures f = measure_kernel(b, t, strcmp(form, "dynamic") == 0);
  add(sum, &f);
  json_object_set_new(object, form, figures_object(&f));
  transposition_write_shape(shape, t);
  if (b->settings->is_table)
    printf("%-4s %-7s %-24s %-8s %9.1f us %6.3f of copy, compile %6.1f ms, driver %6.1f ms\n", b->type,
           t->permutation, shape, form, f.nanoseconds / 1e3, f.part, f.compile_milliseconds, f.driver_milliseconds);
}

static void print_summary(const bench *b, const char *form, const summary *s) {
  if (b->settings->is_table && s->cases > 0)
    printf(
        "%s %s: %.3f of copy by geometric mean, least %.3f; compile %.1f ms in the mean, %.1f at most; driver %.1f "
        "ms\n",
        b->type, form, exp(s->logarithms / s->cases), s->least, s->compile / s->cases, s->most_compile,
        s->driver / s->cases);
}

static void list_form(const bench *b, const transposition *t, const char *form, json_t *object) {
  char text[TRANSPOSITION_TEXT];
  if (!measured_has_form(&b->settings->measured, form))
    return;
  write_kernel(text, b, t, strcmp(form, "dynamic") == 0);
  json_object_set_new(object, form, json_string(text));
}

static json_t *case_object(const transposition *t) {
  char shape[SHAPE_TEXT];
  transposition_write_shape(shape, t);
  return json_pack("{s:s,s:s}", "permutation", t->permutation, "shape", shape);
}

/* The next case from *i on that is asked for; false after the last one. */
static bool next_case(const settings *s, int *i, transposition *t) {
  for (; *i < TRANSPOSITION_COUNT; ++*i) {
    *t = transpositions[*i];
    if (*i % s->step == 0 && (s->only == NULL || strcmp(s->only, t->permutation) == 0))
      break;
  }
  if (*i == TRANSPOSITION_COUNT)
    return false;
  ++*i;
  if (s->elements > 0)
    *t = transposition_shrunken(t, s->elements);
  return true;
}

static json_t *list_cases(const bench *b) {
  json_t *cases = json_array();
  transposition t;
  for (int i = 0; next_case(b->settings, &i, &t);) {
    json_t *object = case_object(&t);
    list_form(b, &t, "static", object);
    list_form(b, &t, "dynamic", object);
    json_array_append_new(cases, object);
  }
  return json_pack("{s:o}", "cases", cases);
}

static json_t *measure_cases(bench *b) {
  json_t *cases = json_array();
  summary fixed = {.cases = 0}, dynamic = {.cases = 0};
  transposition t;
  for (int i = 0; next_case(b->settings, &i, &t);) {
    json_t *object = case_object(&t);
    measure_form(b, &t, "static", &fixed, object);
    measure_form(b, &t, "dynamic", &dynamic, object);
    json_array_append_new(cases, object);
  }
  print_summary(b, "static", &fixed);
  print_summary(b, "dynamic", &dynamic);
  return json_pack("{s:f,s:o,s:o,s:o}", "copy_gigabytes_per_second", b->copy, "static", summary_object(&fixed),
                   "dynamic", summary_object(&dynamic), "cases", cases);
}

/* --- types --- */

/* No two neighbours alike, nor any pattern that a wrong stride could hide in. */
static void fill(char *bytes, size_t size) {
  uint64_t state = 0x9e3779b97f4a7c15;
  for (size_t i = 0; i + 8 <= size; i += 8) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    memcpy(bytes + i, &state, 8);
  }
}

static int64_t most_elements(const settings *s) {
  int64_t most = 0;
  for (int i = 0; i < TRANSPOSITION_COUNT; i++) {
    transposition t = transpositions[i];
    if (s->elements > 0)
      t = transposition_shrunken(&t, s->elements);
    most = transposition_size(&t) > most ? transposition_size(&t) : most;
  }
  return most;
}

static json_t *measure_type(bench *b) {
  b->element_bytes = bytes_of_type(b->type);
  b->bytes = ((size_t)most_elements(b->settings) * b->element_bytes + 7) / 8 * 8;
  b->given = malloc(b->bytes);
  b->made = malloc(b->bytes);
  if (b->given == NULL || b->made == NULL)
    fail("out of memory");
  fill(b->given, b->bytes);
  expect(b->context, tj_buffer_create(b->context, b->device, b->bytes, &b->source));
  expect(b->context, tj_buffer_create(b->context, b->device, b->bytes, &b->destination));
  expect(b->context, tj_buffer_write(b->source, 0, b->given, b->bytes));
  b->copy = 2 * (double)b->bytes / best_time(b, start_copy, &b->bytes);
  if (b->settings->is_table)
    printf("%s: the device copies %.1f GB/s, %.1f MiB read and as many written\n", b->type, b->copy,
           (double)b->bytes / (1 << 20));
  json_t *object = measure_cases(b);
  tj_buffer_destroy(b->source);
  tj_buffer_destroy(b->destination);
  free(b->given);
  free(b->made);
  return object;
}

static json_t *measure(const settings *s) {
  bench b = {.settings = s};
  if (tj_context_create(NULL, &b.context) != TJ_OK)
    fail("out of memory");
  tj_context_set_cache(b.context, NULL);
  expect(b.context, tj_device_open(b.context, s->device, &b.device));
  tj_device_properties properties = tj_device_properties_of(b.device);
  json_t *types = json_object();
  json_t *report = json_pack("{s:s,s:s,s:s,s:s,s:i,s:i,s:o}", "benchmark", "gpu", "device", s->device, "description",
                             properties.description, "target", properties.target, "rounds", ROUNDS, "launches",
                             LAUNCHES, "types", types);
  if (s->is_table)
    printf("%s: %s, %s\n", s->device, properties.description, properties.target);
  for (int i = 0; i < s->measured.type_count; i++) {
    b.type = s->measured.type[i];
    json_object_set_new(types, b.type, measure_type(&b));
  }
  tj_device_close(b.device);
  tj_context_destroy(b.context);
  return report;
}

static json_t *list(const settings *s) {
  bench b = {.settings = s};
  json_t *types = json_object();
  for (int i = 0; i < s->measured.type_count; i++) {
    b.type = s->measured.type[i];
    json_object_set_new(types, b.type, list_cases(&b));
  }
  return json_pack("{s:s,s:o}", "benchmark", "gpu", "types", types);
}

/* --- the command line --- */

static bool parse_option(const char *name, char *value, settings *s) {
  if (strcmp(name, "--device") == 0)
    s->device = value;
  else if (strcmp(name, "--case") == 0)
    s->only = value;
  else if (strcmp(name, "--form") == 0)
    s->measured.form = value;
  else if (strcmp(name, "--every") == 0)
    s->step = (int)strtol(value, NULL, 10);
  else if (strcmp(name, "--elements") == 0)
    s->elements = strtoll(value, NULL, 10);
  else
    return strcmp(name, "--types") == 0 && measured_parse_types(&s->measured, value);
  return true;
}

static bool parse(int count, char **words, settings *s) {
  for (int i = 1; i < count; i++) {
    if (strcmp(words[i], "--table") == 0)
      s->is_table = true;
    else if (strcmp(words[i], "--unchecked") == 0)
      s->is_unchecked = true;
    else if (strcmp(words[i], "--list") == 0)
      s->is_list = true;
    else if (i + 1 == count || !parse_option(words[i], words[i + 1], s))
      return false;
    else
      i++;
  }
  return (measured_has_form(&s->measured, "static") || measured_has_form(&s->measured, "dynamic")) &&
         s->elements >= 0 && s->step > 0;
}

int main(int count, char **words) {
  char types[] = "f32,f16";
  settings s = {.device = "cuda:0", .measured = {.form = "both"}, .step = 1};
  measured_parse_types(&s.measured, types);
  if (!parse(count, words, &s)) {
    fputs(usage, stderr);
    return 2;
  }
  setvbuf(stdout, NULL, _IOLBF, 0);
  json_t *report = s.is_list ? list(&s) : measure(&s);
  if (s.is_list || !s.is_table) {
    json_dumpf(report, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(5));
    putchar('\n');
  }
  json_decref(report);
  return 0;
}
