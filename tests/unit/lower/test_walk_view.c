/* SPDX-License-Identifier: MIT */
/* Walks: what a loop carries through a view, trip by trip, against the oracle for maps at start + trip * step; that
 * what is carried keeps what its symbol promises; that trips have no divisions. Loops are taken by the oracle for
 * index expressions, and as machine code of the host. */
#include "ir/view/move.h"
#include "ir/view/structure.h"
#include "lower/kernel/kernel_expressions.h"
#include "lower/kernel/kernel_nodes.h"
#include "lower/plan/plan.h"
#include "lower/plan/walk_view.h"
#include "tests/unit/support/kernel_support.h"
#include "tests/unit/support/random_views.h"
#include "tests/unit/support/vector_support.h"

enum { WALKS = 6000, MACHINE_WALKS = 60, MOST_TRIPS = 9, MOST_STARTS = 24, MOST_SYMBOLS = 1024 };

enum { OFFSET, VALID, VALUES };

/* Where a walk leads: the view as it is walked, the same view in constants for the oracle, and numbers. */
typedef struct {
  uint64_t seed;
  const tj_view *view, *constant;
  int64_t box[TJ_MAX_DIMENSIONS], step[TJ_MAX_DIMENSIONS], trips;
  bool is_structured; /* what is invalid may lie anywhere */
} path;

typedef struct {
  tj_kernel kernel;
  tj_kernel_buffer buffer;
  tj_kernel_step step[2];
} walking;

static const tj_node **constants(tj_graph *graph, const int64_t values[], uint32_t count) {
  const tj_node **nodes = TJ_NEW_ARRAY(graph->job, const tj_node *, count + 1);
  for (uint32_t i = 0; i < count; i++)
    nodes[i] = tj_int(graph, values[i]);
  return nodes;
}

static int64_t starts_of(const path *of) {
  int64_t starts = 1;
  for (uint32_t i = 0; i < of->view->rank; i++)
    starts *= of->box[i];
  return starts;
}

static const tj_node *const *place_of(tj_graph *graph, const path *of, const tj_node *index) {
  const tj_node **place = TJ_NEW_ARRAY(graph->job, const tj_node *, of->view->rank + 1);
  for (uint32_t i = of->view->rank; i-- > 0;) {
    place[i] = i > 0 ? tj_mod(graph, index, tj_int(graph, of->box[i])) : index;
    index = tj_div(graph, index, tj_int(graph, of->box[i]));
  }
  return place;
}

static tj_kernel_step value_step(const tj_node *value) {
  return (tj_kernel_step){.kind = TJ_STEP_VALUE, .value = value, .width = 1, .slot_step = 1};
}

/* A kernel whose work-items take a walk each. It stores offsets, -1 where they are not valid, or else has the raw
 * offset and the predicate as the values of two steps. */
static walking *make_walking(tj_graph *graph, const path *of, bool stores) {
  walking *made = TJ_NEW(graph->job, walking);
  tj_kernel *kernel = &made->kernel;
  const tj_node *starts = tj_int(graph, starts_of(of)), *trips = tj_int(graph, of->trips);
  *kernel = (tj_kernel){.name = "walk",
                        .buffer = &made->buffer,
                        .buffer_count = 1,
                        .index = tj_coordinate(graph, "n", starts),
                        .count = starts,
                        .workgroup_size = 64,
                        .loop = tj_loop_make(graph, trips),
                        .step = made->step,
                        .step_count = 2,
                        .slot_count = 1,
                        .carried = TJ_DTYPE_i64};
  made->buffer = (tj_kernel_buffer){.name = "dst", .dtype = TJ_DTYPE_i64, .is_written = true};
  made->buffer.element_count = tj_mul(graph, starts, trips);
  tj_view_walk walk = {of->view, place_of(graph, of, kernel->index), constants(graph, of->box, of->view->rank),
                       constants(graph, of->step, of->view->rank)};
  tj_walked place = tj_walk_view(graph, kernel->loop, &walk);
  tj_access store = {.offset = tj_add(graph, tj_mul(graph, kernel->index, trips), kernel->loop->counter),
                     .valid = tj_int(graph, 1)};
  const tj_node *stored = tj_select(graph, place.valid, place.offset, tj_int(graph, -1));
  made->step[OFFSET] = value_step(stores ? stored : place.offset);
  made->step[VALID] = value_step(place.valid);
  if (stores)
    made->step[1] = (tj_kernel_step){.kind = TJ_STEP_STORE, .access = store, .width = 1, .slot_step = 1};
  tj_kernel_simplify(graph, kernel, NULL);
  return made;
}

static void random_path(view_source *random, path *to) {
  to->seed = random->state;
  to->constant = random_view(random);
  to->is_structured = random_between(random, 0, 1) == 0;
  to->view = to->is_structured ? tj_view_structured(random->graph, to->constant, NULL) : to->constant;
  to->trips = random_between(random, 1, MOST_TRIPS);
  int64_t reach = random_between(random, 0, 1) == 0 ? 2 : 40, starts = 1;
  for (uint32_t i = 0; i < to->view->rank; i++) {
    to->box[i] = random_between(random, 1, 4);
    to->box[i] = starts * to->box[i] <= MOST_STARTS ? to->box[i] : 1;
    starts *= to->box[i];
    to->step[i] = random_between(random, 0, 2) == 0 ? 0 : random_between(random, -reach, reach);
  }
}

/* --- the oracle --- */

static int64_t expected_at(tj_graph *graph, const path *of, int64_t start, int64_t trip, bool *valid) {
  int64_t coordinate[TJ_MAX_DIMENSIONS];
  coordinate_of((uint64_t)start, of->box, of->view->rank, coordinate);
  for (uint32_t i = 0; i < of->view->rank; i++)
    coordinate[i] += trip * of->step[i];
  return tj_oracle_view(graph, of->constant, coordinate, valid);
}

/* A loop, taken by the oracle for index expressions. */
typedef struct {
  const tj_loop *loop;
  tj_evaluator *initial, *next, *values;
  int64_t symbol[MOST_SYMBOLS];
} taken;

static tj_evaluator *evaluator_of(const tj_loop *loop, bool is_first) {
  const tj_node *nodes[TJ_MOST_CARRIED + 1];
  tj_evaluator *made;
  for (uint32_t i = 0; i < loop->carried_count; i++)
    nodes[i] = is_first ? loop->carried[i].initial : loop->carried[i].next;
  ck_assert_int_eq(tj_evaluator_create(nodes, loop->carried_count, &made), TJ_EVAL_OK);
  return made;
}

static void take(taken *self, tj_evaluator *evaluator, int64_t values[]) {
  tj_bindings bindings = {.value = self->symbol, .count = MOST_SYMBOLS};
  ck_assert_int_eq(tj_evaluator_run(evaluator, &bindings, values), TJ_EVAL_OK);
}

static void take_carried(taken *self, tj_evaluator *evaluator) {
  int64_t values[TJ_MOST_CARRIED + 1];
  take(self, evaluator, values);
  for (uint32_t i = 0; i < self->loop->carried_count; i++)
    self->symbol[self->loop->carried[i].symbol->symbol->index] = values[i];
}

/* Whoever uses a symbol relies on its bounds. */
static void check_promises(const taken *self, const path *of) {
  tj_bindings bindings = {.value = self->symbol, .count = MOST_SYMBOLS};
  for (uint32_t i = 0; i < self->loop->carried_count; i++) {
    const tj_node *symbol = self->loop->carried[i].symbol;
    int64_t value = self->symbol[symbol->symbol->index], high = value;
    if (symbol->symbol->high != NULL)
      ck_assert_int_eq(tj_eval_nodes(&symbol->symbol->high, 1, &bindings, &high), TJ_EVAL_OK);
    bool holds = value >= symbol->facts.low && value <= symbol->facts.high && value <= high &&
                 value % symbol->symbol->multiple == 0;
    ck_assert_msg(holds, "walk %llu: %s is %lld", (unsigned long long)of->seed, symbol->symbol->name,
                  (long long)value);
  }
}

static void check_place(tj_graph *graph, const path *of, int64_t start, int64_t trip, const int64_t values[]) {
  bool valid;
  int64_t offset = expected_at(graph, of, start, trip, &valid);
  ck_assert_msg(values[VALID] == valid, "walk %llu, start %lld, trip %lld: validity", (unsigned long long)of->seed,
                (long long)start, (long long)trip);
  ck_assert_msg((of->is_structured && !valid) || values[OFFSET] == offset,
                "walk %llu, start %lld, trip %lld: offset %lld, not %lld", (unsigned long long)of->seed,
                (long long)start, (long long)trip, (long long)values[OFFSET], (long long)offset);
}

static void check_starts(tj_graph *graph, const path *of, const tj_kernel *kernel, taken *self) {
  int64_t values[VALUES];
  for (int64_t start = 0; start < starts_of(of); start++) {
    self->symbol[kernel->index->symbol->index] = start;
    take_carried(self, self->initial);
    for (int64_t trip = 0; trip < of->trips; trip++) {
      self->symbol[self->loop->counter->symbol->index] = trip;
      check_promises(self, of);
      take(self, self->values, values);
      check_place(graph, of, start, trip, values);
      take_carried(self, self->next);
    }
  }
}

/* `parameters`: the values of symbols other than the kernel's own. */
static void check_path(tj_graph *graph, const path *of, const tj_kernel *kernel, const int64_t parameters[],
                       uint32_t parameter_count) {
  taken self = {.loop = kernel->loop};
  const tj_node *values[] = {kernel->step[OFFSET].value, kernel->step[VALID].value};
  ck_assert_uint_le(graph->symbol_count, MOST_SYMBOLS);
  for (uint32_t i = 0; i < parameter_count; i++)
    self.symbol[i] = parameters[i];
  self.initial = evaluator_of(kernel->loop, true);
  self.next = evaluator_of(kernel->loop, false);
  ck_assert_int_eq(tj_evaluator_create(values, VALUES, &self.values), TJ_EVAL_OK);
  check_starts(graph, of, kernel, &self);
  tj_evaluator_destroy(self.initial);
  tj_evaluator_destroy(self.next);
  tj_evaluator_destroy(self.values);
}

/* --- what trips are made of --- */

/* Operations of some kinds that are computed on every trip. */
static uint32_t on_trips(tj_graph *graph, const tj_kernel *kernel, const tj_op ops[], uint32_t op_count) {
  tj_kernel_nodes nodes = tj_kernel_nodes_of(graph, kernel, 1);
  uint32_t count = 0;
  for (uint32_t i = 0; i < nodes.walk.count; i++) {
    for (uint32_t k = 0; k < op_count && nodes.level[i] == TJ_LEVEL_TRIP; k++)
      count += nodes.walk.node[i]->op == ops[k];
  }
  return count;
}

static uint32_t divisions(tj_graph *graph, const tj_kernel *kernel) {
  return on_trips(graph, kernel, (const tj_op[]){TJ_OP_DIV, TJ_OP_MOD}, 2);
}

static uint32_t products(tj_graph *graph, const tj_kernel *kernel) {
  return on_trips(graph, kernel, (const tj_op[]){TJ_OP_MUL}, 1);
}

/* Whether all changes are surely known before the loop: nothing is behind a xor, a cyclic_shift or an indexing, and
 * no digits are made of digits. */
static bool has_known_changes(const tj_view *view) {
  uint32_t digital = 0;
  for (uint32_t s = 0; s < view->stage_count; s++) {
    tj_transform_kind kind = view->stage[s].transform->kind;
    bool is_digital = kind == TJ_TRANSFORM_MERGE || kind == TJ_TRANSFORM_MODULO;
    digital += is_digital;
    if (!is_digital && !tj_transform_is_linear(kind))
      return false;
  }
  return digital <= 1;
}

/* --- random walks --- */

typedef struct {
  uint64_t seed;
  uint32_t refused, walked;
} random_walks;

static void check_random(tj_job *job, void *data) {
  random_walks *walks = data;
  view_source random = {tj_graph_create(job), walks->seed};
  path of;
  random_path(&random, &of);
  const walking *made = make_walking(random.graph, &of, false);
  check_path(random.graph, &of, &made->kernel, NULL, 0);
  ck_assert_msg(!has_known_changes(of.view) || divisions(random.graph, &made->kernel) == 0, "walk %llu divides",
                (unsigned long long)of.seed);
  walks->walked++;
}

/* A xor of a negative index has no meaning on index expressions (TJ2018): such a walk is left out. */
static void run_random(random_walks *walks, void (*body)(tj_job *, void *)) {
  tj_job job;
  tj_job_init(&job, NULL);
  if (tj_job_run(&job, body, walks) != TJ_OK) {
    ck_assert_msg(job.problem.code == TJ_NEGATIVE_BITS, "walk %llu: %s", (unsigned long long)walks->seed,
                  job.problem.message);
    walks->refused++;
  }
  tj_job_destroy(&job);
}

START_TEST(walks_agree_with_the_oracle) {
  random_walks walks = {0};
  for (uint64_t i = 1; i <= WALKS; i++) {
    walks.seed = i * UINT64_C(0x9e3779b97f4a7c15);
    run_random(&walks, check_random);
  }
  ck_assert_uint_lt(walks.refused, WALKS / 4);
  ck_assert_uint_gt(walks.walked, WALKS / 2);
}
END_TEST

/* --- random walks as machine code --- */

static void run_machine(tj_job *job, void *data) {
  random_walks *walks = data;
  view_source random = {tj_graph_create(job), walks->seed};
  path of;
  compiled result = {0};
  int64_t found[MOST_STARTS * MOST_TRIPS];
  symbol_values none = {.count = 64};
  random_path(&random, &of);
  const walking *made = make_walking(random.graph, &of, true);
  tj_host_code *code = load_kernel(random.graph, &result, &made->kernel);
  run_kernel(code, &made->kernel, (void *[]){found}, &none);
  for (int64_t i = 0; i < starts_of(&of) * of.trips; i++) {
    bool valid;
    int64_t offset = expected_at(random.graph, &of, i / of.trips, i % of.trips, &valid);
    ck_assert_msg(found[i] == (valid ? offset : -1), "walk %llu: element %lld is %lld", (unsigned long long)of.seed,
                  (long long)i, (long long)found[i]);
  }
  tj_host_code_unload(code);
  dispose_compiled(&result);
  walks->walked++;
}

START_TEST(machines_walk_as_the_oracle) {
  random_walks walks = {0};
  for (uint64_t i = 1; i <= MACHINE_WALKS; i++) {
    walks.seed = i * UINT64_C(0xd1342543de82ef95);
    run_random(&walks, run_machine);
  }
  ck_assert_uint_gt(walks.walked, MACHINE_WALKS / 2);
}
END_TEST

/* --- walks of parameters --- */

enum { N, H, W, C, Y, X, EXTENTS };

static const tj_tuple *tuple_of(tj_graph *graph, const tj_node *const nodes[], uint32_t count) {
  const tj_tuple *items[TJ_MAX_DIMENSIONS];
  for (uint32_t i = 0; i < count; i++)
    items[i] = tj_tuple_integer(graph, nodes[i]);
  return tj_tuple_list(graph, items, count);
}

static const tj_transform *transform_of(tj_graph *graph, tj_transform_kind kind, const tj_node *const nodes[],
                                        uint32_t count) {
  const tj_tuple *args[TJ_MAX_DIMENSIONS];
  for (uint32_t i = 0; i < count; i++)
    args[i] = tj_tuple_integer(graph, nodes[i]);
  return tj_transform_make(graph, kind, args, count);
}

static const tj_transform *window_of(tj_graph *graph, const tj_node *window, const tj_node *extent) {
  const tj_tuple *args[] = {tuple_of(graph, (const tj_node *[]){window, extent}, 2),
                            tuple_of(graph, (const tj_node *[]){tj_int(graph, 2), tj_int(graph, 1)}, 2)};
  return tj_transform_make(graph, TJ_TRANSFORM_EMBED, args, 2);
}

/* The im2col matrix (N·H·W, Y·X·C) of an image (N, H, W, C) with a padding of 1, windows of Y·X, dilation 2. */
static const tj_view *convolution(tj_graph *graph, const tj_node *const e[EXTENTS]) {
  static const uint32_t id[] = {0, 1, 2, 3, 4, 5}, rows[] = {0, 2, 4}, columns[] = {1, 3, 5};
  const tj_node *one = tj_int(graph, 1);
  tj_view_step pads[] = {
      {transform_of(graph, TJ_TRANSFORM_PASS_THROUGH, &e[N], 1), id, id, 1, 1},
      {transform_of(graph, TJ_TRANSFORM_PAD, (const tj_node *[]){e[H], one, one}, 3), id + 1, id + 1, 1, 1},
      {transform_of(graph, TJ_TRANSFORM_PAD, (const tj_node *[]){e[W], one, one}, 3), id + 2, id + 2, 1, 1},
      {transform_of(graph, TJ_TRANSFORM_PASS_THROUGH, &e[C], 1), id + 3, id + 3, 1, 1},
  };
  tj_view_step windows[] = {
      pads[0],
      {window_of(graph, e[Y], e[H]), id + 1, id + 1, 1, 2},
      {window_of(graph, e[X], e[W]), id + 2, id + 3, 1, 2},
      {pads[3].transform, id + 3, id + 5, 1, 1},
  };
  tj_view_step merges[] = {
      {transform_of(graph, TJ_TRANSFORM_MERGE, (const tj_node *[]){e[N], e[H], e[W]}, 3), rows, id, 3, 1},
      {transform_of(graph, TJ_TRANSFORM_MERGE, (const tj_node *[]){e[Y], e[X], e[C]}, 3), columns, id + 1, 3, 1},
  };
  const tj_view *view = tj_view_packed(graph, tuple_of(graph, e, 4), NULL, -1, -1);
  view = tj_view_transform(graph, view, pads, 4);
  view = tj_view_transform(graph, view, windows, 4);
  return tj_view_transform(graph, view, merges, 2);
}

typedef struct {
  int64_t extent[EXTENTS], step[2], trips;
} convolution_row;

static const convolution_row convolutions[] = {
    {{2, 3, 5, 8, 3, 3}, {0, 4}, 18},  {{1, 4, 4, 6, 2, 3}, {0, 5}, 9},  {{2, 3, 3, 1, 3, 1}, {0, 1}, 5},
    {{1, 5, 2, 3, 1, 1}, {1, 0}, 12},  {{2, 2, 3, 4, 2, 2}, {1, 1}, 9},  {{1, 4, 4, 6, 2, 3}, {0, -5}, 4},
    {{2, 3, 5, 8, 3, 3}, {-1, 7}, 18}, {{1, 1, 1, 1, 1, 1}, {0, 32}, 3}, {{2, 3, 5, 8, 3, 3}, {7, 100}, 6},
};

static void check_convolution(tj_job *job, void *data) {
  const convolution_row *row = data;
  reader self = {.graph = tj_graph_create(job)};
  static const char *const names[EXTENTS] = {"N", "H", "W", "C", "Y", "X"};
  const tj_node *extent[EXTENTS];
  for (uint32_t i = 0; i < EXTENTS; i++)
    extent[i] = declare(&self, names[i], 1, 512, 1);
  path of = {.trips = row->trips, .box = {4, 5}, .step = {row->step[0], row->step[1]}};
  of.constant = convolution(self.graph, constants(self.graph, row->extent, EXTENTS));
  for (int is_structured = 0; is_structured < 2; is_structured++) {
    of.is_structured = is_structured;
    of.view = convolution(self.graph, extent);
    of.view = is_structured ? tj_view_structured(self.graph, of.view, NULL) : of.view;
    const walking *made = make_walking(self.graph, &of, false);
    check_path(self.graph, &of, &made->kernel, row->extent, EXTENTS);
    ck_assert_uint_eq(divisions(self.graph, &made->kernel), 0);
    ck_assert_uint_eq(products(self.graph, &made->kernel), 0);
  }
}

START_TEST(walks_through_convolutions) {
  tj_job job;
  tj_job_init(&job, NULL);
  convolution_row row = convolutions[_i];
  expect_success(&job, check_convolution, &row);
  tj_job_destroy(&job);
}
END_TEST

/* --- digits of digits --- */

/* What 18900 is split into, and merged from again in the opposite order, one after the other. */
static const int64_t splits[][5] = {{7, 9, 10, 30}, {5, 7, 6, 90}, {27, 10, 70}, {2, 3, 5, 7, 90}, {3, 6300}};

enum { SPLITS = sizeof splits / sizeof splits[0], SPLIT_SIZE = 18900 };

static uint32_t factors_of(const int64_t split[5]) {
  uint32_t count = 0;
  while (count < 5 && split[count] != 0)
    count++;
  return count;
}

static const tj_view *split_again(tj_graph *graph, const tj_view *view, const int64_t split[5]) {
  static const uint32_t forward[] = {0, 1, 2, 3, 4};
  uint32_t backward[5], count = factors_of(split);
  int64_t reversed[5];
  for (uint32_t i = 0; i < count; i++) {
    backward[i] = count - 1 - i;
    reversed[i] = split[count - 1 - i];
  }
  tj_view_step down = {transform_of(graph, TJ_TRANSFORM_UNMERGE, constants(graph, split, count), count), forward,
                       forward, 1, count};
  tj_view_step up = {transform_of(graph, TJ_TRANSFORM_MERGE, constants(graph, reversed, count), count), backward,
                     forward, count, 1};
  return tj_view_transform(graph, tj_view_transform(graph, view, &down, 1), &up, 1);
}

static void check_splits(tj_job *job, void *data) {
  static const int64_t steps[] = {1, 17, -4, 900, 6301};
  tj_graph *graph = tj_graph_create(job);
  const int64_t size = SPLIT_SIZE;
  const tj_view *view = tj_view_packed(graph, constants_tuple(graph, &size, 1), NULL, -1, -1);
  (void)data;
  for (uint32_t i = 0; i < SPLITS; i++) {
    path of = {.seed = i, .trips = 9, .box = {7}, .step = {steps[i]}};
    of.view = of.constant = view = split_again(graph, view, splits[i]);
    check_path(graph, &of, &make_walking(graph, &of, false)->kernel, NULL, 0);
  }
}

enum { MERGES = 5, DIGITS = 6 };

/* Digits of 2, six in each of five dimensions: the offset changes by more amounts than a list of them holds. */
static void check_many_carries(tj_job *job, void *data) {
  tj_graph *graph = tj_graph_create(job);
  int64_t lengths[MERGES * DIGITS], strides[MERGES * DIGITS];
  uint32_t ids[MERGES * DIGITS];
  tj_view_step merges[MERGES];
  path of = {.trips = 9, .box = {2, 1, 3, 1, 1}, .step = {1, 3, 5, 1, 7}};
  (void)data;
  for (uint32_t i = 0; i < MERGES * DIGITS; i++) {
    ids[i] = i;
    lengths[i] = 2;
    strides[i] = 7 * i + 3;
  }
  for (uint32_t i = 0; i < MERGES; i++)
    merges[i] = (tj_view_step){transform_of(graph, TJ_TRANSFORM_MERGE, constants(graph, lengths, DIGITS), DIGITS),
                               ids + DIGITS * i, ids + i, DIGITS, 1};
  const tj_view *base = tj_view_strided(graph, constants_tuple(graph, lengths, MERGES * DIGITS),
                                        constants_tuple(graph, strides, MERGES * DIGITS), NULL, -1, -1);
  of.view = of.constant = tj_view_transform(graph, base, merges, MERGES);
  const walking *made = make_walking(graph, &of, false);
  check_path(graph, &of, &made->kernel, NULL, 0);
  ck_assert_uint_eq(divisions(graph, &made->kernel), 0);
}

START_TEST(walks_with_many_carries) {
  tj_job job;
  tj_job_init(&job, NULL);
  expect_success(&job, check_many_carries, NULL);
  tj_job_destroy(&job);
}
END_TEST

/* Guards merges of indices that change by many amounts: at some point, these have to be given up all together. */
START_TEST(walks_through_digits_of_digits) {
  tj_job job;
  tj_job_init(&job, NULL);
  expect_success(&job, check_splits, NULL);
  tj_job_destroy(&job);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {walks_agree_with_the_oracle, machines_walk_as_the_oracle,
                                walks_through_digits_of_digits, walks_with_many_carries};
  Suite *suite = suite_of("walk view", tests, sizeof tests / sizeof *tests);
  TCase *rows = tcase_create("convolutions");
  tcase_add_loop_test(rows, walks_through_convolutions, 0, sizeof convolutions / sizeof *convolutions);
  suite_add_tcase(suite, rows);
  return run_suite(suite);
}
