/* SPDX-License-Identifier: MIT */
/* How fast kernels of arrays are: the bytes that have to move, each input and each output once, over time, as a part
 * of what copying as many bytes takes in the same run: on a GPU by the device's own copy, on the host by memcpy on
 * all its threads. There, oneDNN does the same, or nearly, in the same run.
 *
 * Times are the device's, of launches one behind another: ten in a round, the best of five rounds; on the host the
 * best of fifty launches, and of as many copies. Some rows of each
 * kernel's results are compared with what plain loops over doubles give (array_programs.c).
 *
 * Prints one JSON object, or with --table lines to read; with --list what bench_arrays_torch.py needs, without a
 * device. A kernel that does not run, and a wrong element, end it. */
#include "array_programs.h"
#include "failing.h"
#include "host_copy.h"
#include "row_peers.h"
#include "timing.h"

#include <tilejit/tilejit.h>

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARM_UPS = 2, ROUNDS = 5, LAUNCHES = 10, HOST_ROUNDS = ROUNDS * LAUNCHES, CHECKED_ROWS = 5 };

static const char usage[] = "usage: bench_arrays [--device host|cuda:0] [--type f32|bf16] [--shape 4096x4096]\n"
                            "                    [--form static|dynamic|both] [--only NAME] [--table|--list]\n";

typedef struct {
  const char *device, *type, *form, *only; /* NULL: the device's usual one; all */
  int64_t rows, columns;                   /* 0: the device's usual shapes */
  bool is_table, is_list;
} settings;

typedef struct {
  const settings *settings;
  tj_context *context;
  tj_device *device;
  tj_device_properties properties;
  const char *type;
  int64_t rows, columns;
  tj_buffer *buffer[MOST_ARGUMENTS];
  char *held[MOST_ARGUMENTS]; /* what is in it */
} bench;

static void *allocate(size_t bytes) {
  void *data = calloc(1, bytes);
  if (data == NULL)
    fail("out of memory");
  return data;
}

static bool is_host(const bench *b) {
  return strcmp(b->settings->device, "host") == 0;
}

/* --- times --- */

static double end_of(const bench *b, tj_fence *fence) {
  uint64_t nanoseconds;
  expect(b->context, tj_fence_wait(fence, &nanoseconds));
  tj_fence_destroy(fence);
  return (double)nanoseconds;
}

/* Starts `count` launches, or where that is NULL copies of so many bytes. Nanoseconds of one. */
static double time_round(const bench *b, tj_launch *launch, size_t bytes, int count) {
  tj_fence *fence[LAUNCHES];
  double sum = 0;
  for (int i = 0; i < count; i++)
    expect(b->context, launch != NULL ? tj_launch_submit(launch, b->device, &fence[i])
                                      : tj_buffer_submit_copy(b->buffer[1], 0, b->buffer[0], 0, bytes, &fence[i]));
  for (int i = 0; i < count; i++)
    sum += end_of(b, fence[i]);
  return sum / count;
}

static double best_time(const bench *b, tj_launch *launch, size_t bytes) {
  double best = INFINITY;
  time_round(b, launch, bytes, WARM_UPS);
  for (int i = 0; i < (is_host(b) ? HOST_ROUNDS : ROUNDS); i++)
    best = fmin(best, time_round(b, launch, bytes, is_host(b) ? 1 : LAUNCHES));
  return best;
}

static double best_memcpy(const bench *b, size_t bytes) {
  double best = INFINITY;
  for (int i = 0; i < HOST_ROUNDS; i++) {
    double seconds = time_memcpy(tj_buffer_address(b->buffer[1]), tj_buffer_address(b->buffer[0]), bytes,
                                 (int)b->properties.parallelism);
    if (seconds < 0)
      fail("no thread");
    best = fmin(best, 1e9 * seconds);
  }
  return best;
}

/* Bytes a nanosecond, read and written ones, of a copy that moves so many in all. */
static double copy_rate(bench *b, size_t moved) {
  size_t bytes = moved / 2;
  for (int i = 0; i < 2; i++)
    expect(b->context, tj_buffer_create(b->context, b->device, bytes, &b->buffer[i]));
  void *data = allocate(bytes);
  expect(b->context, tj_buffer_write(b->buffer[0], 0, data, bytes));
  expect(b->context, tj_buffer_write(b->buffer[1], 0, data, bytes));
  free(data);
  double time = is_host(b) ? best_memcpy(b, bytes) : best_time(b, NULL, bytes);
  for (int i = 0; i < 2; i++)
    tj_buffer_destroy(b->buffer[i]);
  return 2 * (double)bytes / time;
}

/* --- arguments --- */

static const char *type_of(const bench *b, const array_argument *a) {
  return a->type[0] == '*' ? b->type : a->type;
}

static size_t bytes_of(const bench *b, const array_argument *a) {
  int64_t elements = array_row_elements(a->form, b->columns) * (a->form == OF_ALL_ROWS ? 1 : b->rows);
  return (size_t)elements * array_type_bytes(type_of(b, a));
}

static size_t bytes_that_move(const bench *b, const array_program *p) {
  size_t bytes = 0;
  for (const array_argument *a = p->argument; a->name != NULL; a++)
    bytes += bytes_of(b, a);
  return bytes;
}

/* Numbers of usual size, no two rows alike. */
static void fill(char *data, const char *type, size_t bytes) {
  uint64_t state = 0x9e3779b97f4a7c15;
  size_t width = array_type_bytes(type);
  for (size_t at = 0; at < bytes; at += width) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    array_store(type, data + at, (double)(int64_t)(state >> 32) * 0x1p-29 - 4);
  }
}

static void open_arguments(bench *b, const array_program *p) {
  for (int i = 0; p->argument[i].name != NULL; i++) {
    size_t bytes = bytes_of(b, &p->argument[i]);
    b->held[i] = allocate(bytes);
    if (p->argument[i].is_output)
      memset(b->held[i], 0x5a, bytes);
    else
      fill(b->held[i], type_of(b, &p->argument[i]), bytes);
    expect(b->context, tj_buffer_create(b->context, b->device, bytes, &b->buffer[i]));
    expect(b->context, tj_buffer_write(b->buffer[i], 0, b->held[i], bytes));
  }
}

static void close_arguments(bench *b, const array_program *p) {
  for (int i = 0; p->argument[i].name != NULL; i++) {
    free(b->held[i]);
    tj_buffer_destroy(b->buffer[i]);
  }
}

/* --- checking --- */

static const char *element_at(const bench *b, int argument, const array_argument *a, int64_t row, int64_t column) {
  int64_t elements = array_row_elements(a->form, b->columns), at = row * elements + column;
  if (a->form == TURNED)
    at = column * b->rows + row;
  return b->held[argument] + (size_t)(a->form == OF_ALL_ROWS ? column : at) * array_type_bytes(type_of(b, a));
}

static void check_row(const bench *b, const array_program *p, const array_row expected, int64_t row) {
  for (int i = 0; p->argument[i].name != NULL; i++) {
    const array_argument *a = &p->argument[i];
    for (int64_t j = 0; !a->is_output && j < array_row_elements(a->form, b->columns); j++)
      expected[i][j] = array_number(type_of(b, a), element_at(b, i, a, row, j));
  }
  p->expect(expected, b->columns);
  for (int i = 0; p->argument[i].name != NULL; i++) {
    const array_argument *a = &p->argument[i];
    for (int64_t j = 0; a->is_output && j < array_row_elements(a->form, b->columns); j++) {
      double found = array_number(type_of(b, a), element_at(b, i, a, row, j)), wanted = expected[i][j];
      if (fabs(found - wanted) <= array_tolerance(type_of(b, a), wanted))
        continue;
      fprintf(stderr, "%s: row %lld, column %lld of %s is %g, not %g\n", p->name, (long long)row, (long long)j,
              a->name, found, wanted);
      fail("a wrong element");
    }
  }
}

static void check(bench *b, const array_program *p) {
  array_row expected;
  for (int i = 0; p->argument[i].name != NULL; i++) {
    expect(b->context, tj_buffer_read(b->buffer[i], 0, b->held[i], bytes_of(b, &p->argument[i])));
    expected[i] = allocate((size_t)b->columns * sizeof(double));
  }
  for (int i = 0; i < CHECKED_ROWS; i++)
    check_row(b, p, expected, (b->rows - 1) * i / (CHECKED_ROWS - 1));
  for (int i = 0; p->argument[i].name != NULL; i++)
    free(expected[i]);
}

/* --- one kernel --- */

static tj_code *compile(const bench *b, const array_program *p, bool is_dynamic, double *milliseconds) {
  char text[PROGRAM_TEXT];
  tj_code *code;
  array_program_write(text, p, b->type, b->rows, b->columns, is_dynamic);
  tj_compile_options options = {"k", tj_device_target(b->device)};
  double begin = now();
  expect(b->context, tj_code_compile_text(b->context, p->name, text, strlen(text), NULL, 0, &options, &code));
  *milliseconds = (now() - begin) / 1e3;
  return code;
}

static tj_launch *open_launch(const bench *b, const array_program *p, tj_code *code, bool is_dynamic) {
  tj_launch *launch;
  expect(b->context, tj_launch_create(b->context, code, &launch));
  if (is_dynamic) {
    expect(b->context, tj_launch_set_parameter(launch, "M", b->rows));
    expect(b->context, tj_launch_set_parameter(launch, "N", b->columns));
  }
  if (p->number != NULL)
    expect(b->context, tj_launch_set_number(launch, p->number, p->value));
  for (int i = 0; p->argument[i].name != NULL; i++)
    expect(b->context, tj_launch_bind_buffer(launch, p->argument[i].name, b->buffer[i]));
  return launch;
}

static json_t *measure_form(bench *b, const array_program *p, bool is_dynamic, double copy) {
  double milliseconds;
  open_arguments(b, p);
  tj_code *code = compile(b, p, is_dynamic, &milliseconds);
  tj_launch *launch = open_launch(b, p, code, is_dynamic);
  time_round(b, launch, 0, 1);
  check(b, p);
  double time = best_time(b, launch, 0), part = (double)bytes_that_move(b, p) / time / copy;
  tj_launch_destroy(launch);
  tj_code_destroy(code);
  close_arguments(b, p);
  if (b->settings->is_table)
    printf("%-22s %-4s %lldx%lld %-7s %9.1f us %6.3f of copy, compile %6.1f ms\n", p->name, b->type,
           (long long)b->rows, (long long)b->columns, is_dynamic ? "dynamic" : "static", time / 1e3, part,
           milliseconds);
  return json_pack("{s:f,s:f,s:f}", "microseconds", time / 1e3, "part_of_copy", part, "compile_milliseconds",
                   milliseconds);
}

/* oneDNN on the same shape of f32; NULL: it has nothing like the program. */
static json_t *measure_peer(bench *b, const array_program *p, double copy) {
  size_t bytes = (size_t)(b->rows * b->columns) * array_type_bytes(b->type);
  if (!is_host(b) || strcmp(b->type, "f32") != 0)
    return NULL;
  char *source = allocate(bytes), *destination = allocate(bytes);
  fill(source, b->type, bytes);
  row_peer *peer = row_peer_open(p->name, b->rows, b->columns, source, destination, (int)b->properties.parallelism);
  double best = INFINITY;
  for (int i = 0; peer != NULL && i < WARM_UPS + HOST_ROUNDS; i++) {
    double begin = now();
    row_peer_run(peer);
    best = fmin(best, 1e3 * (now() - begin));
  }
  json_t *result = NULL;
  if (peer != NULL) {
    double part = 2 * (double)bytes / best / copy;
    result = json_pack("{s:s,s:f,s:f}", "primitive", row_peer_name(peer), "microseconds", best / 1e3, "part_of_copy",
                       part);
    if (b->settings->is_table)
      printf("%-22s oneDNN: %s %9.1f us %6.3f of copy\n", p->name, row_peer_name(peer), best / 1e3, part);
    row_peer_close(peer);
  }
  free(source);
  free(destination);
  return result;
}

static json_t *measure_program(bench *b, const array_program *p) {
  const char *form = b->settings->form;
  size_t bytes = bytes_that_move(b, p);
  double copy = copy_rate(b, bytes);
  json_t *object =
      json_pack("{s:s,s:s,s:I,s:I,s:I,s:f}", "program", p->name, "type", b->type, "rows", (json_int_t)b->rows,
                "columns", (json_int_t)b->columns, "bytes", (json_int_t)bytes, "copy_gigabytes_per_second", copy);
  if (strcmp(form, "dynamic") != 0)
    json_object_set_new(object, "static", measure_form(b, p, false, copy));
  if (strcmp(form, "static") != 0)
    json_object_set_new(object, "dynamic", measure_form(b, p, true, copy));
  json_t *peer = measure_peer(b, p, copy);
  if (peer != NULL)
    json_object_set_new(object, "onednn", peer);
  return object;
}

static bool is_wanted(const settings *s, const array_program *p) {
  return s->only == NULL || strcmp(s->only, p->name) == 0;
}

static void measure_programs(bench *b, json_t *cases) {
  for (size_t i = 0; i < array_program_count; i++) {
    if (is_wanted(b->settings, &array_programs[i]))
      json_array_append_new(cases, measure_program(b, &array_programs[i]));
  }
}

/* --- lists --- */

static json_t *list_argument(const bench *b, const array_argument *a) {
  static const char *const forms[] = {
      [EACH] = "each", [TURNED] = "turned", [OF_ROW] = "row", [OF_GROUP] = "group", [OF_ALL_ROWS] = "all rows"};
  return json_pack("{s:s,s:s,s:s,s:b}", "name", a->name, "type", type_of(b, a), "form", forms[a->form], "is_output",
                   a->is_output);
}

static json_t *list_program(const bench *b, const array_program *p) {
  char fixed[PROGRAM_TEXT], dynamic[PROGRAM_TEXT];
  array_program_write(fixed, p, b->type, b->rows, b->columns, false);
  array_program_write(dynamic, p, b->type, b->rows, b->columns, true);
  json_t *arguments = json_array(), *numbers = json_object();
  for (const array_argument *a = p->argument; a->name != NULL; a++)
    json_array_append_new(arguments, list_argument(b, a));
  if (p->number != NULL)
    json_object_set_new(numbers, p->number, json_real(p->value));
  return json_pack("{s:s,s:I,s:I,s:I,s:s,s:s,s:o,s:o}", "program", p->name, "rows", (json_int_t)b->rows, "columns",
                   (json_int_t)b->columns, "bytes", (json_int_t)bytes_that_move(b, p), "static", fixed, "dynamic",
                   dynamic, "arguments", arguments, "numbers", numbers);
}

static void list_programs(bench *b, json_t *cases) {
  for (size_t i = 0; i < array_program_count; i++) {
    if (is_wanted(b->settings, &array_programs[i]))
      json_array_append_new(cases, list_program(b, &array_programs[i]));
  }
}

/* --- shapes --- */

static void at_shape(bench *b, json_t *cases, int64_t rows, int64_t columns) {
  b->rows = rows;
  b->columns = columns;
  if (b->settings->is_list)
    list_programs(b, cases);
  else
    measure_programs(b, cases);
}

static void at_shapes(bench *b, json_t *cases) {
  if (b->settings->rows > 0) {
    at_shape(b, cases, b->settings->rows, b->settings->columns);
  } else if (is_host(b)) {
    at_shape(b, cases, 4096, 4096);
  } else {
    at_shape(b, cases, 32768, 8192);
    at_shape(b, cases, 32768, 1024);
  }
}

static json_t *list(const settings *s) {
  bench b = {.settings = s, .type = s->type != NULL ? s->type : "bf16"};
  json_t *cases = json_array();
  at_shapes(&b, cases);
  return json_pack("{s:s,s:s,s:o}", "benchmark", "arrays", "type", b.type, "cases", cases);
}

static json_t *measure(const settings *s) {
  bench b = {.settings = s};
  if (tj_context_create(NULL, &b.context) != TJ_OK)
    fail("out of memory");
  tj_context_set_cache(b.context, NULL);
  expect(b.context, tj_device_open(b.context, s->device, &b.device));
  b.properties = tj_device_properties_of(b.device);
  b.type = s->type != NULL ? s->type : is_host(&b) ? "f32" : "bf16";
  json_t *cases = json_array();
  json_t *report = json_pack("{s:s,s:s,s:s,s:s,s:o}", "benchmark", "arrays", "device", s->device, "description",
                             b.properties.description, "target", b.properties.target, "cases", cases);
  if (s->is_table)
    printf("%s: %s, %s\n", s->device, b.properties.description, b.properties.target);
  at_shapes(&b, cases);
  tj_device_close(b.device);
  tj_context_destroy(b.context);
  return report;
}

/* --- the command line --- */

static bool parse_shape(const char *text, settings *s) {
  char *end;
  s->rows = strtoll(text, &end, 10);
  s->columns = *end == 'x' ? strtoll(end + 1, &end, 10) : 0;
  return s->rows > 0 && s->columns > 0 && *end == '\0';
}

static bool parse_option(const char *name, const char *value, settings *s) {
  const char **text = strcmp(name, "--device") == 0 ? &s->device
                      : strcmp(name, "--type") == 0 ? &s->type
                      : strcmp(name, "--form") == 0 ? &s->form
                      : strcmp(name, "--only") == 0 ? &s->only
                                                    : NULL;
  if (text != NULL)
    *text = value;
  return text != NULL || (strcmp(name, "--shape") == 0 && parse_shape(value, s));
}

static bool parse(int count, char **words, settings *s) {
  for (int i = 1; i < count; i++) {
    if (strcmp(words[i], "--table") == 0)
      s->is_table = true;
    else if (strcmp(words[i], "--list") == 0)
      s->is_list = true;
    else if (i + 1 == count || !parse_option(words[i], words[i + 1], s))
      return false;
    else
      i++;
  }
  return s->type == NULL || strcmp(s->type, "f32") == 0 || strcmp(s->type, "bf16") == 0;
}

int main(int count, char **words) {
  settings s = {.device = "host", .form = "both"};
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
