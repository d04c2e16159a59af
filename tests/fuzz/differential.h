/* SPDX-License-Identifier: MIT */
/* Random programs against the evaluator: a program is refused, or its kernel does on the host and on a simulated GPU
 * what the evaluator of its values says, and touches nothing else. Included by one file of a fuzz target. */
#ifndef TJ_TESTS_DIFFERENTIAL_H
#define TJ_TESTS_DIFFERENTIAL_H

#include "base/number/dtype.h"
#include "frontend/sema/sema.h"
#include "frontend/text/parser.h"
#include "ir/map/map.h"
#include "tests/fuzz/random_program.h"
#include "tests/unit/support/conversion_support.h"

#include <stdlib.h>

enum { MOST_ARGUMENTS = 3, GUARD = 64, POISON = 0x5a, LARGEST_BUFFER = 1 << 22, NOBODY = -1, FILL = -2 };

/* --- finds --- */

static const char *current = ""; /* the program that is tried */

static _Noreturn void report(const char *what, const char *detail) {
  fprintf(stderr, "%s: %s\n%s", what, detail, current);
  abort();
}

/* --- the evaluator --- */

/* A layout or a view at its coordinates. */
typedef struct {
  tj_graph *graph;
  const tj_value *value;
  int64_t length[TJ_MAX_DIMENSIONS];
  uint32_t rank;
  bool is_row_major;
} map;

typedef struct {
  int64_t offset;
  bool is_valid;
} place;

static map map_of(tj_graph *graph, const tj_value *value) {
  map m = {.graph = graph, .value = value, .is_row_major = value->kind == TJ_VALUE_VIEW};
  const tj_tuple *extents = m.is_row_major ? tj_view_lengths(graph, value->view) : tj_value_layout(value)->shape;
  const tj_tuple *const *leaves = tj_tuple_leaves(graph, extents, &m.rank);
  for (uint32_t i = 0; i < m.rank; i++)
    m.length[i] = leaves[i]->value->value;
  return m;
}

static place place_at(const map *m, const int64_t coordinate[]) {
  place at = {0, true};
  if (m->is_row_major)
    at.offset = tj_oracle_view(m->graph, m->value->view, coordinate, &at.is_valid);
  else if (m->value->kind == TJ_VALUE_COMPOSED)
    tj_oracle_composed(m->graph, m->value->composed, coordinate, &at.offset);
  else
    tj_oracle_layout(m->graph, m->value->layout, coordinate, &at.offset);
  return at;
}

static int64_t count_of(const map *m) {
  int64_t product = 1;
  for (uint32_t i = 0; i < m->rank; i++)
    product *= m->length[i];
  return product;
}

/* The coordinate of a linear one, in the map's own order. */
static void coordinate_of(const map *m, int64_t linear, int64_t coordinate[]) {
  for (uint32_t k = 0; k < m->rank; k++) {
    uint32_t i = m->is_row_major ? m->rank - 1 - k : k;
    coordinate[i] = linear % m->length[i];
    linear /= m->length[i];
  }
}

/* --- arrays --- */

/* The memory of one argument, between poisoned zones; and what it was before the run. */
typedef struct {
  tj_dtype dtype;
  size_t bytes; /* of an element */
  int64_t count;
  unsigned char *all, *data, *before;
} array;

/* What a run of the program on one device takes and leaves. */
typedef struct {
  const random_program *program;
  array array[MOST_ARGUMENTS];
  size_t array_count;
} trial;

static void free_arrays(trial *t) {
  for (size_t i = 0; i < t->array_count; i++) {
    free(t->array[i].all);
    free(t->array[i].before);
  }
}

static void make_array(array *a, const tj_argument *argument) {
  random_source random = {(uint64_t)argument->element_count};
  size_t size = (size_t)argument->element_count * argument->element_bytes;
  *a = (array){.bytes = argument->element_bytes, .count = argument->element_count};
  if (!tj_dtype_find(argument->dtype, &a->dtype))
    report("an argument", argument->name);
  a->all = malloc(size + 2 * GUARD);
  a->before = malloc(size + 1);
  if (a->all == NULL || a->before == NULL)
    report("no memory for", argument->name);
  memset(a->all, POISON, size + 2 * GUARD);
  a->data = a->all + GUARD;
  bool is_index = argument->name[0] == 'i';
  for (int64_t i = 0; i < a->count; i++) {
    uint64_t bits[2] = {is_index ? (uint64_t)(random_between(&random, -2, 40)) : random_next(&random), 7};
    memcpy(a->data + (size_t)i * a->bytes, bits, a->bytes);
  }
  memcpy(a->before, a->data, size);
}

static void check_guards(const array *a) {
  for (size_t i = 0; i < GUARD; i++) {
    if (a->all[i] != POISON || a->data[(size_t)a->count * a->bytes + i] != POISON)
      report("a byte has changed", "beside a buffer");
  }
}

static element element_of_array(const array *a, const unsigned char *data, int64_t index) {
  element value = {{0}};
  memcpy(value.byte, data + (size_t)index * a->bytes, a->bytes);
  return value;
}

/* --- expectations --- */

/* Where each element of the destination comes from. */
typedef struct {
  trial *trial;
  tj_graph *graph;
  const tj_kernel_definition *kernel;
  const array *source, *destination;
  int64_t *origin; /* an element of the source, an offset, FILL or NOBODY */
  bool is_race;    /* one element has two */
} expectation;

static bool is_inside(const array *a, place at) {
  return at.is_valid && at.offset >= 0 && at.offset < a->count;
}

static void expect_at(expectation *e, place to, int64_t origin) {
  if (!is_inside(e->destination, to))
    return;
  int64_t *known = &e->origin[to.offset];
  e->is_race = e->is_race || (*known != NOBODY && *known != origin);
  *known = origin;
}

/* The coordinate of the operand in which an index is looked up; false where there is none. */
static bool look_up(const expectation *e, const map *indexed, const map *indices, int64_t coordinate[]) {
  uint32_t dimension = e->kernel->indexed_dimension;
  const array *a = &e->trial->array[e->kernel->indices];
  int64_t of_index[TJ_MAX_DIMENSIONS];
  coordinate_of(indices, coordinate[dimension], of_index);
  place at = place_at(indices, of_index);
  if (!is_inside(a, at))
    return false;
  element found = element_of_array(a, a->before, at.offset);
  long double value = read_number(found, a->dtype);
  if (value < 0 || value >= (long double)indexed->length[dimension])
    return false;
  coordinate[dimension] = (int64_t)value;
  return true;
}

/* Sums come from several elements, and nothing is expected of them. */
static void expect_scatter(expectation *e) {
  const tj_kernel_argument *argument = e->kernel->argument;
  map source = map_of(e->graph, argument[e->kernel->source].view);
  map destination = map_of(e->graph, argument[e->kernel->destination].view);
  map indices = map_of(e->graph, argument[e->kernel->indices].view);
  e->is_race = e->kernel->scatter == TJ_SCATTER_ADDS;
  for (int64_t n = 0; n < count_of(&source); n++) {
    int64_t coordinate[TJ_MAX_DIMENSIONS];
    coordinate_of(&source, n, coordinate);
    place from = place_at(&source, coordinate);
    if (look_up(e, &destination, &indices, coordinate))
      expect_at(e, place_at(&destination, coordinate), is_inside(e->source, from) ? from.offset : FILL);
  }
}

static void expect_copy(expectation *e) {
  if (e->kernel->scatter != TJ_SCATTER_NONE) {
    expect_scatter(e);
    return;
  }
  const tj_kernel_argument *argument = e->kernel->argument;
  map source = map_of(e->graph, argument[e->kernel->source].view);
  map destination = map_of(e->graph, argument[e->kernel->destination].view);
  bool has_gather = e->kernel->indices != TJ_NO_ARGUMENT;
  map indices = has_gather ? map_of(e->graph, argument[e->kernel->indices].view) : source;
  for (int64_t n = count_of(&destination) - 1; n >= 0; n--) {
    int64_t coordinate[TJ_MAX_DIMENSIONS];
    coordinate_of(&destination, n, coordinate);
    place to = place_at(&destination, coordinate);
    bool is_known = !has_gather || look_up(e, &source, &indices, coordinate);
    place from = is_known ? place_at(&source, coordinate) : (place){0, false};
    expect_at(e, to, is_inside(e->source, from) ? from.offset : FILL);
  }
}

static void expect_walk(expectation *e, const map *view) {
  const tj_path *walk = e->kernel->walk;
  map starts = *view;
  for (uint32_t i = 0; i < view->rank; i++)
    starts.length[i] = walk->start_lengths[i]->value;
  for (int64_t n = 0; n < count_of(&starts); n++) {
    int64_t at[TJ_MAX_DIMENSIONS];
    coordinate_of(&starts, n, at);
    for (int64_t k = 0; k < walk->trips->value; k++) {
      place found = place_at(view, at);
      expect_at(e, (place){n * walk->trips->value + k, true}, found.is_valid ? found.offset : NOBODY);
      for (uint32_t i = 0; i < view->rank; i++)
        at[i] += walk->step[i]->value;
    }
  }
}

static void expect_offsets(expectation *e) {
  map view = map_of(e->graph, e->kernel->map);
  if (e->kernel->walk != NULL) {
    expect_walk(e, &view);
    return;
  }
  for (int64_t n = 0; n < count_of(&view); n++) {
    int64_t coordinate[TJ_MAX_DIMENSIONS];
    coordinate_of(&view, n, coordinate);
    place found = place_at(&view, coordinate);
    expect_at(e, (place){n, true}, found.is_valid ? found.offset : NOBODY);
  }
}

/* --- comparison --- */

/* The fill is an element of the source, whose type it is rounded to before it is converted. */
static bool is_fill(const expectation *e, element found) {
  const int64_t fill = e->kernel->fill;
  element rounded = element_of((uint64_t)fill);
  const bool is_rounded = is_float(e->source->dtype);
  if (is_rounded)
    memcpy(rounded.byte, &(double){(double)round_float(fill, e->source->dtype)}, sizeof(double));
  return converts_to(rounded, is_rounded ? TJ_DTYPE_f64 : TJ_DTYPE_i64, found, e->destination->dtype);
}

static bool is_expected(const expectation *e, int64_t i) {
  const array *a = e->destination;
  element found = element_of_array(a, a->data, i);
  int64_t origin = e->origin[i];
  if (e->kernel->body == TJ_BODY_OFFSETS)
    return converts_to(element_of((uint64_t)origin), TJ_DTYPE_i64, found, a->dtype);
  if (origin == NOBODY)
    return memcmp(found.byte, a->before + (size_t)i * a->bytes, a->bytes) == 0;
  if (origin == FILL)
    return is_fill(e, found);
  return converts_to(element_of_array(e->source, e->source->before, origin), e->source->dtype, found, a->dtype);
}

static void compare(const expectation *e, const char *device) {
  for (int64_t i = 0; i < e->destination->count; i++) {
    char detail[128];
    snprintf(detail, sizeof detail, "element %lld of the destination, which is to come from %lld", (long long)i,
             (long long)e->origin[i]);
    if (!is_expected(e, i))
      report(device, detail);
  }
}

typedef struct {
  trial *trial;
  const char *device;
} comparison;

static void compare_with_evaluator(tj_job *job, void *data) {
  comparison *c = data;
  tj_parameter_value fixed[] = {{"M", c->trial->program->m}, {"N", c->trial->program->n}};
  expectation e = {.trial = c->trial, .graph = tj_graph_create(job)};
  e.kernel = tj_evaluate(e.graph, tj_parse(job), fixed, 2)->kernel;
  e.destination = &c->trial->array[e.kernel->destination];
  e.source = &c->trial->array[e.kernel->body == TJ_BODY_COPY ? e.kernel->source : 0];
  e.origin = TJ_NEW_ARRAY(job, int64_t, e.destination->count + 1);
  for (int64_t i = 0; i < e.destination->count; i++)
    e.origin[i] = NOBODY;
  if (e.kernel->body == TJ_BODY_COPY)
    expect_copy(&e);
  else
    expect_offsets(&e);
  if (!e.is_race)
    compare(&e, c->device);
}

static void check_result(trial *t, const char *device) {
  tj_job job;
  tj_job_init(&job, NULL);
  job.source = tj_source_of("fuzz", t->program->text, t->program->length);
  comparison c = {t, device};
  if (tj_job_run(&job, compare_with_evaluator, &c) != TJ_OK)
    report("the evaluator fails", job.problem.message);
  for (size_t i = 0; i < t->array_count; i++)
    check_guards(&t->array[i]);
  tj_job_destroy(&job);
}

/* --- runs --- */

static const struct {
  const char *name;
  uint32_t wave;
} simulated[] = {{"sim:gfx942", 64}, {"sim:gfx1100", 32}, {"sim:gfx90a", 64},
                 {"sim:gfx950", 64}, {"sim:gfx1030", 32}, {"sim:gfx1201", 32}};

enum { SIMULATED = sizeof simulated / sizeof simulated[0] };

static tj_context *context;
static tj_device *device[1 + SIMULATED];

static void close_all(void) {
  for (size_t i = 0; i <= SIMULATED; i++)
    tj_device_close(device[i]);
  tj_context_destroy(context);
}

static const char *problem(void) {
  static char text[512];
  const tj_diagnostic *d = tj_context_diagnostic(context);
  snprintf(text, sizeof text, "TJ%04u: %s", d != NULL ? d->code : 0, d != NULL ? d->message : "");
  return text;
}

static tj_device *device_of(size_t which) {
  if (context == NULL) {
    if (tj_context_create(NULL, &context) != TJ_OK)
      abort();
    tj_context_set_cache(context, NULL);
    atexit(close_all);
  }
  const char *name = which == 0 ? "host" : simulated[which - 1].name;
  if (device[which] == NULL && tj_device_open(context, name, &device[which]) != TJ_OK)
    report(name, problem());
  return device[which];
}

/* The compiler may refuse a program, but not fail. */
static tj_code *compile(const random_program *p, const tj_device *on) {
  tj_parameter_value fixed[] = {{"M", p->m}, {"N", p->n}};
  tj_compile_options options = {.target = tj_device_target(on)};
  tj_code *code;
  if (tj_code_compile_text(context, "fuzz", p->text, p->length, fixed, p->is_dynamic ? 0 : 2, &options, &code) ==
      TJ_OK)
    return code;
  unsigned code_of_problem = tj_context_diagnostic(context)->code;
  if (code_of_problem / 1000 == 1 || code_of_problem == TJ_CODEGEN || code_of_problem == TJ_LINK ||
      code_of_problem == TJ_INTERNAL)
    report("compilation", problem());
  return NULL;
}

static void expect(tj_status status) {
  if (status != TJ_OK)
    report("launch", problem());
}

/* False where one is larger than what is worth the time. */
static bool bind_arrays(trial *t, tj_launch *launch, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const tj_argument *argument;
    expect(tj_launch_argument(launch, i, &argument));
    if (argument->element_count > LARGEST_BUFFER / (int64_t)argument->element_bytes)
      return false;
    array *a = &t->array[t->array_count++];
    make_array(a, argument);
    expect(tj_launch_bind(launch, argument->name, a->data, (size_t)a->count * a->bytes));
  }
  return true;
}

/* What a launch may say: these parameters make the kernel a race, or the variant that it takes, which is compiled
 * only then, is too much. */
static bool is_refusal(unsigned code) {
  return code == TJ_DESTINATION_RACE || code == TJ_WORK_LIMIT;
}

static bool is_run(tj_launch *launch, tj_device *on) {
  tj_status status = tj_launch_run(launch, on);
  if (status != TJ_OK && is_refusal(tj_context_diagnostic(context)->code))
    return false;
  expect(status);
  return true;
}

/* Runs the program on the host, 0, or on a simulated GPU, from 1 on. */
static void try_on(const random_program *p, size_t which) {
  current = p->text;
  tj_device *on = device_of(which);
  tj_code *code = compile(p, on);
  if (code == NULL)
    return;
  trial t = {.program = p};
  tj_launch *launch;
  expect(tj_launch_create(context, code, &launch));
  if (p->is_dynamic) {
    expect(tj_launch_set_parameter(launch, "M", p->m));
    expect(tj_launch_set_parameter(launch, "N", p->n));
  }
  if (bind_arrays(&t, launch, tj_code_argument_count(code)) && is_run(launch, on))
    check_result(&t, which == 0 ? "host" : simulated[which - 1].name);
  free_arrays(&t);
  tj_launch_destroy(launch);
  tj_code_destroy(code);
}

#endif
