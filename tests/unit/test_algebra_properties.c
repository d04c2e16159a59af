/* Properties of layout algebra on random layouts: what each operation promises, checked value by value. Values come
 * from a plain evaluation here or from the oracle, never from the code under test. */
#include "tests/unit/layout_support.h"

enum { CASES = 6000, MOST_MODES = 6 };

/* A layout of constants, flat: what a test evaluates. */
typedef struct {
  int64_t extent[64], stride[64];
  uint32_t count;
  int64_t size;
} flat_layout;

static flat_layout flatten(reader *self, tj_layout layout) {
  flat_layout flat = {.size = 1};
  const tj_tuple *const *extents = tj_tuple_leaves(self->graph, layout.shape, &flat.count);
  const tj_tuple *const *strides = tj_tuple_leaves(self->graph, layout.stride, NULL);
  ck_assert_uint_le(flat.count, 64);
  for (uint32_t i = 0; i < flat.count; i++) {
    flat.extent[i] = extents[i]->value->value;
    flat.stride[i] = strides[i]->value->value;
    flat.size *= flat.extent[i];
  }
  return flat;
}

/* The value at an integral coordinate; the last mode goes on. */
static int64_t value_at(const flat_layout *flat, int64_t index) {
  int64_t sum = 0;
  for (uint32_t i = 0; i < flat->count; i++) {
    bool last = i + 1 == flat->count;
    sum += (last ? index : index % flat->extent[i]) * flat->stride[i];
    index /= flat->extent[i];
  }
  return sum;
}

/* --- random layouts --- */

static int64_t random_extent(uint64_t *state) {
  static const int64_t extents[] = {1, 2, 2, 2, 3, 4, 4, 5, 6, 8};
  return extents[random_below(state, sizeof extents / sizeof *extents)];
}

/* Compact strides in random order, with now and then a 0 or anything. */
static void random_strides(uint64_t *state, const int64_t extent[], int64_t stride[], uint32_t count) {
  bool done[MOST_MODES] = {false};
  int64_t next = 1;
  for (uint32_t n = 0; n < count; n++) {
    uint32_t i = random_below(state, count);
    while (done[i])
      i = (i + 1) % count;
    done[i] = true;
    stride[i] = next;
    next *= extent[i] * (random_below(state, 8) == 0 ? 2 : 1);
    if (random_below(state, 12) == 0)
      stride[i] = random_below(state, 3) == 0 ? (int64_t)random_below(state, 20) : 0;
  }
}

/* A structure over leaves from `next` on: random tuples of one or two levels. */
static const tj_tuple *random_structure(reader *self, uint64_t *state, const tj_tuple *const leaves[],
                                        uint32_t count) {
  const tj_tuple *items[MOST_MODES];
  uint32_t item_count = 0;
  if (count == 1 && random_below(state, 3) != 0)
    return leaves[0];
  for (uint32_t i = 0; i < count;) {
    uint32_t length = 1 + random_below(state, 3);
    length = length < count - i ? length : count - i;
    bool nest = length > 1 || random_below(state, 6) == 0;
    items[item_count++] = nest ? tj_tuple_list(self->graph, leaves + i, length) : leaves[i];
    i += length;
  }
  return tj_tuple_list(self->graph, items, item_count);
}

static tj_layout random_layout(reader *self, uint64_t *state, uint32_t most_modes) {
  uint32_t count = 1 + random_below(state, most_modes);
  int64_t extent[MOST_MODES], stride[MOST_MODES];
  const tj_tuple *shape[MOST_MODES], *strides[MOST_MODES];
  for (uint32_t i = 0; i < count; i++)
    extent[i] = random_extent(state);
  random_strides(state, extent, stride, count);
  for (uint32_t i = 0; i < count; i++) {
    shape[i] = tj_tuple_constant(self->graph, extent[i]);
    strides[i] = tj_tuple_constant(self->graph, stride[i]);
  }
  const tj_tuple *structure = random_structure(self, state, shape, count);
  return tj_layout_make(self->graph, structure, tj_tuple_from_leaves(self->graph, structure, strides));
}

/* --- running cases --- */

/* The case at hand. */
typedef struct {
  reader *texts;
  uint64_t state;
  tj_layout a, b, result;
  char what[512];
} property_case;

typedef struct {
  /* Sets up random inputs; then `operate`, which may fail with one of `refusals`; then `check`. */
  void (*prepare)(property_case *self);
  void (*operate)(property_case *self);
  void (*check)(property_case *self);
  tj_problem_code refusals[4];
  unsigned least_accepted; /* of CASES */
} property;

static void say(property_case *self, const char *name) {
  tj_text text = tj_text_begin(self->texts->graph->job);
  tj_text_format(&text, "%s %s", name, tj_layout_text(text.job, self->a));
  if (self->b.shape != NULL)
    tj_text_format(&text, " %s", tj_layout_text(text.job, self->b));
  strncpy(self->what, text.data, sizeof self->what - 1);
}

typedef struct {
  const property *tested;
  property_case *at;
  unsigned accepted;
} property_run;

static void operate(tj_job *job, void *data) {
  (void)job;
  property_run *run = data;
  run->tested->operate(run->at);
}

static bool is_refusal(const property *tested, tj_problem_code code) {
  for (size_t i = 0; i < 4; i++)
    if (tested->refusals[i] == code)
      return true;
  return false;
}

static void run_case(reader *texts, const void *data) {
  property_run *run = *(property_run *const *)data;
  tj_job *job = texts->graph->job;
  run->at->texts = texts;
  run->tested->prepare(run->at);
  if (tj_job_run(job, operate, run) == TJ_OK) {
    run->tested->check(run->at);
    run->accepted++;
    return;
  }
  ck_assert_msg(is_refusal(run->tested, job->problem.code), "%s: TJ%04d: %s", run->at->what, (int)job->problem.code,
                job->problem.message);
}

static void run_property(const property *tested) {
  property_case at = {.state = UINT64_C(0x9e3779b97f4a7c15)};
  property_run run = {tested, &at, 0}, *data = &run;
  for (unsigned i = 0; i < CASES; i++)
    run_row(run_case, &data, (tj_problem_code)0);
  ck_assert_msg(run.accepted >= tested->least_accepted, "only %u of %d cases were accepted", run.accepted, CASES);
}

/* --- composition --- */

static void prepare_two(property_case *self) {
  self->a = random_layout(self->texts, &self->state, 4);
  self->b = random_layout(self->texts, &self->state, 3);
  say(self, "composition");
}

static void operate_compose(property_case *self) {
  self->result = tj_layout_compose(self->texts->graph, self->a, self->b);
}

/* R(c) = A(B(c)), and R's shape refines B's. */
static void check_compose(property_case *self) {
  flat_layout a = flatten(self->texts, self->a), b = flatten(self->texts, self->b);
  flat_layout result = flatten(self->texts, self->result);
  ck_assert_msg(tj_tuple_compatible(self->texts->graph, self->b.shape, self->result.shape), "%s: shape %s",
                self->what, tj_tuple_text(self->texts->graph->job, self->result.shape));
  for (int64_t c = 0; c < b.size; c++)
    ck_assert_msg(value_at(&result, c) == value_at(&a, value_at(&b, c)), "%s at %lld: %s", self->what, (long long)c,
                  tj_layout_text(self->texts->graph->job, self->result));
}

START_TEST(composition) {
  property self = {prepare_two,
                   operate_compose,
                   check_compose,
                   {TJ_COMPOSITION_STRIDE, TJ_COMPOSITION_SHAPE, TJ_COMPOSITION_OVERLAP},
                   CASES / 3};
  run_property(&self);
}
END_TEST

/* --- coalescing --- */

static void prepare_one(property_case *self) {
  self->a = random_layout(self->texts, &self->state, MOST_MODES);
  say(self, "layout");
}

static void operate_coalesce(property_case *self) {
  self->result = tj_layout_coalesce(self->texts->graph, self->a);
}

static void check_coalesce(property_case *self) {
  flat_layout a = flatten(self->texts, self->a), result = flatten(self->texts, self->result);
  ck_assert_uint_le(self->result.shape->depth, 1);
  ck_assert_int_eq(a.size, result.size);
  for (int64_t i = 0; i < a.size; i++)
    ck_assert_msg(value_at(&a, i) == value_at(&result, i), "%s", self->what);
  for (uint32_t i = 0; i + 1 < result.count; i++)
    ck_assert_msg(result.extent[i] * result.stride[i] != result.stride[i + 1], "%s", self->what);
  ck_assert(tj_layout_equal(tj_layout_coalesce(self->texts->graph, self->result), self->result));
}

START_TEST(coalescing) {
  property self = {prepare_one, operate_coalesce, check_coalesce, {(tj_problem_code)0}, CASES};
  run_property(&self);
}
END_TEST

/* --- complement --- */

static int compare_values(const void *a, const void *b) {
  int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
  return (left > right) - (left < right);
}

static bool all_different(const flat_layout *flat) {
  int64_t *values = malloc((size_t)flat->size * sizeof *values);
  for (int64_t i = 0; i < flat->size; i++)
    values[i] = value_at(flat, i);
  qsort(values, (size_t)flat->size, sizeof *values, compare_values);
  bool different = true;
  for (int64_t i = 1; i < flat->size; i++)
    different = different && values[i] != values[i - 1];
  free(values);
  return different;
}

static void operate_complement(property_case *self) {
  self->result = tj_layout_complement(self->texts->graph, self->a, NULL);
}

/* The complement increases, and together with the layout reaches no element twice. */
static void check_complement(property_case *self) {
  tj_graph *graph = self->texts->graph;
  flat_layout result = flatten(self->texts, self->result);
  for (int64_t i = 1; i < result.size; i++)
    ck_assert_msg(value_at(&result, i) > value_at(&result, i - 1), "%s", self->what);
  tj_layout filtered = tj_layout_filter(graph, self->a);
  flat_layout layout = flatten(self->texts, filtered);
  if (!all_different(&layout))
    return;
  flat_layout both = flatten(self->texts, tj_layout_concat(graph, (tj_layout[]){filtered, self->result}, 2));
  ck_assert_msg(all_different(&both), "%s: %s", self->what, tj_layout_text(graph->job, self->result));
}

START_TEST(complements) {
  property self = {prepare_one, operate_complement, check_complement, {TJ_NOT_INJECTIVE}, CASES / 2};
  run_property(&self);
}
END_TEST

/* --- inverses --- */

static void operate_right_inverse(property_case *self) {
  self->result = tj_layout_right_inverse(self->texts->graph, self->a);
}

static void check_right_inverse(property_case *self) {
  flat_layout a = flatten(self->texts, self->a), result = flatten(self->texts, self->result);
  for (int64_t i = 0; i < result.size; i++)
    ck_assert_msg(value_at(&a, value_at(&result, i)) == i, "%s", self->what);
}

static void operate_left_inverse(property_case *self) {
  self->result = tj_layout_left_inverse(self->texts->graph, self->a);
}

static void check_left_inverse(property_case *self) {
  flat_layout a = flatten(self->texts, self->a), result = flatten(self->texts, self->result);
  if (!all_different(&a))
    return;
  for (int64_t i = 0; i < a.size; i++)
    ck_assert_msg(value_at(&result, value_at(&a, i)) == i, "%s: %s", self->what,
                  tj_layout_text(self->texts->graph->job, self->result));
}

static void operate_nullspace(property_case *self) {
  self->result = tj_layout_nullspace(self->texts->graph, self->a);
}

static void check_nullspace(property_case *self) {
  flat_layout a = flatten(self->texts, self->a), result = flatten(self->texts, self->result);
  for (int64_t i = 0; i < result.size; i++)
    ck_assert_msg(value_at(&a, value_at(&result, i)) == 0, "%s", self->what);
}

START_TEST(inverses) {
  property right = {prepare_one, operate_right_inverse, check_right_inverse, {(tj_problem_code)0}, CASES};
  property left = {prepare_one, operate_left_inverse, check_left_inverse, {TJ_NOT_INJECTIVE}, CASES / 2};
  property null = {prepare_one, operate_nullspace, check_nullspace, {(tj_problem_code)0}, CASES};
  run_property(&right);
  run_property(&left);
  run_property(&null);
}
END_TEST

/* --- divides and products --- */

static void prepare_tiling(property_case *self) {
  self->a = random_layout(self->texts, &self->state, 3);
  self->b = random_layout(self->texts, &self->state, 2);
  say(self, "tiling");
}

static void operate_divide(property_case *self) {
  const tj_tiler *tiler = tj_tiler_of_layout(self->texts->graph, self->b);
  self->result = tj_layout_divide(self->texts->graph, self->a, tiler, TJ_TILED_LOGICAL);
}

/* The first mode is the layout at the tile. Where sizes divide, the result reaches what the layout reaches. */
static void check_divide(property_case *self) {
  flat_layout a = flatten(self->texts, self->a), b = flatten(self->texts, self->b);
  flat_layout tile = flatten(self->texts, tj_layout_mode(self->texts->graph, self->result, 0));
  ck_assert_int_eq(tile.size, b.size);
  for (int64_t i = 0; i < tile.size; i++)
    ck_assert_msg(value_at(&tile, i) == value_at(&a, value_at(&b, i)), "%s", self->what);
}

static void operate_product(property_case *self) {
  const tj_tiler *tiler = tj_tiler_of_layout(self->texts->graph, self->b);
  self->result = tj_layout_multiply(self->texts->graph, self->a, tiler, TJ_TILED_LOGICAL);
}

/* The block comes first; its copies are disjoint where the block and the tiler are injective. */
static void check_product(property_case *self) {
  flat_layout a = flatten(self->texts, self->a), b = flatten(self->texts, self->b);
  flat_layout result = flatten(self->texts, self->result);
  ck_assert_int_eq(result.size, a.size * b.size);
  for (int64_t i = 0; i < a.size; i++)
    ck_assert_msg(value_at(&result, i) == value_at(&a, i), "%s", self->what);
  if (all_different(&a) && all_different(&b))
    ck_assert_msg(all_different(&result), "%s: %s", self->what,
                  tj_layout_text(self->texts->graph->job, self->result));
}

START_TEST(tilings) {
  property divide = {prepare_tiling,
                     operate_divide,
                     check_divide,
                     {TJ_COMPOSITION_STRIDE, TJ_COMPOSITION_SHAPE, TJ_COMPOSITION_OVERLAP, TJ_NOT_INJECTIVE},
                     CASES / 4};
  property product = {prepare_tiling,
                      operate_product,
                      check_product,
                      {TJ_COMPOSITION_STRIDE, TJ_COMPOSITION_SHAPE, TJ_COMPOSITION_OVERLAP, TJ_NOT_INJECTIVE},
                      CASES / 3};
  run_property(&divide);
  run_property(&product);
}
END_TEST

/* --- application by the oracle --- */

static void prepare_nested(property_case *self) {
  self->a = random_layout(self->texts, &self->state, 4);
  say(self, "application");
}

static void operate_nothing(property_case *self) {
  (void)self;
}

/* By index, by coordinate and by the oracle. */
static void check_application(property_case *self) {
  tj_graph *graph = self->texts->graph;
  flat_layout a = flatten(self->texts, self->a);
  for (int64_t index = 0; index < a.size; index++) {
    const tj_tuple *at = tj_tuple_constant(graph, index);
    const tj_tuple *coordinate = tj_idx2crd(graph, at, self->a.shape, NULL);
    const tj_tuple *const *leaves = tj_tuple_leaves(graph, coordinate, NULL);
    int64_t digits[64], value;
    for (uint32_t i = 0; i < a.count; i++)
      digits[i] = leaves[i]->value->value;
    tj_oracle_layout(graph, self->a, digits, &value);
    ck_assert_msg(value == value_at(&a, index), "%s: the oracle", self->what);
    ck_assert_msg(tj_is_int(tj_layout_apply(graph, self->a, at)->value, value), "%s: index", self->what);
    ck_assert_msg(tj_is_int(tj_layout_apply(graph, self->a, coordinate)->value, value), "%s: coordinate", self->what);
    ck_assert_msg(tj_is_int(tj_crd2idx(graph, coordinate, self->a.shape, NULL)->value, index), "%s: crd2idx",
                  self->what);
  }
}

START_TEST(application) {
  property self = {prepare_nested, operate_nothing, check_application, {(tj_problem_code)0}, CASES};
  run_property(&self);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {composition, coalescing, complements, inverses, tilings, application};
  return run_suite(suite_of("algebra_properties", tests, sizeof tests / sizeof *tests));
}
