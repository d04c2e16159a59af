/* SPDX-License-Identifier: MIT */
/* Layout algebra with parameters: random layouts of symbolic extents and strides, operated on as they are and with
 * the parameters' values bound afterwards, against the same layouts of numbers from the start. */
#include "ir/index/eval.h"
#include "ir/layout/arith.h"
#include "tests/unit/support/layout_support.h"

enum { CASES = 4000, BINDINGS = 3, MOST_MODES = 3, PARAMETERS = 3, MOST_POINTS = 400 };

static const struct {
  const char *name;
  int64_t low, high, multiple;
} parameters[PARAMETERS] = {{"P", 1, 6, 1}, {"Q", 4, 12, 4}, {"R", 8, 24, 8}};

/* An extent: a number, or parameter -1 - code. */
static const int32_t extent_codes[] = {2, 3, 4, 8, 16, -1, -2, -2, -3, -3};

/* A layout to be made with parameters or with numbers: compact strides in some order, now and then with a gap, or
 * with a stride of its own. */
typedef struct {
  uint32_t count;
  int32_t extent[MOST_MODES];
  uint32_t order[MOST_MODES];
  int64_t gap[MOST_MODES];
  int32_t stride[MOST_MODES]; /* as an extent; 0 where it is compact */
} recipe;

/* Parameters as symbols, or as numbers. */
typedef struct {
  reader *self;
  const tj_node *parameter[PARAMETERS];
} setting;

static recipe random_recipe(uint64_t *state, bool own_strides) {
  recipe made = {.count = 1 + random_below(state, MOST_MODES)};
  for (uint32_t i = 0; i < made.count; i++) {
    made.extent[i] = extent_codes[random_below(state, sizeof extent_codes / sizeof *extent_codes)];
    made.gap[i] = random_below(state, 6) == 0 ? 2 : 1;
    uint32_t k = random_below(state, i + 1);
    made.order[i] = made.order[k];
    made.order[k] = i;
    if (own_strides && random_below(state, 16) == 0)
      made.stride[i] = extent_codes[random_below(state, sizeof extent_codes / sizeof *extent_codes)];
  }
  return made;
}

/* A layout of small numbers, for the right-hand side. */
static recipe random_tile(uint64_t *state) {
  recipe made = {.count = 1 + random_below(state, 2)};
  for (uint32_t i = 0; i < made.count; i++) {
    made.extent[i] = 1 << random_below(state, 4);
    made.gap[i] = random_below(state, 4) == 0 ? 2 : 1;
    made.order[i] = i;
  }
  return made;
}

static const tj_node *extent_of(const setting *at, int32_t code) {
  return code < 0 ? at->parameter[-1 - code] : tj_int(at->self->graph, code);
}

static tj_layout make(const setting *at, const recipe *from) {
  tj_graph *graph = at->self->graph;
  const tj_tuple *shape[MOST_MODES], *stride[MOST_MODES];
  const tj_node *next = tj_int(graph, 1);
  for (uint32_t k = 0; k < from->count; k++) {
    uint32_t i = from->order[k];
    const tj_node *extent = extent_of(at, from->extent[i]);
    shape[i] = tj_tuple_integer(graph, extent);
    stride[i] = tj_tuple_integer(graph, from->stride[i] == 0 ? next : extent_of(at, from->stride[i]));
    next = tj_terse_mul(graph, tj_terse_mul(graph, next, extent), tj_int(graph, from->gap[i]));
  }
  return tj_layout_make(graph, tj_tuple_list(graph, shape, from->count), tj_tuple_list(graph, stride, from->count));
}

/* --- operations --- */

typedef tj_layout (*operation)(const setting *at, tj_layout a, tj_layout b);

static tj_layout coalesce(const setting *at, tj_layout a, tj_layout b) {
  (void)b;
  return tj_layout_coalesce(at->self->graph, a);
}

static tj_layout compose(const setting *at, tj_layout a, tj_layout b) {
  return tj_layout_compose(at->self->graph, a, b);
}

static tj_layout divide(const setting *at, tj_layout a, tj_layout b) {
  return tj_layout_divide(at->self->graph, a, tj_tiler_of_layout(at->self->graph, b), TJ_TILED_LOGICAL);
}

/* By mode, with as many extents of the tile as there are modes. */
static tj_layout divide_modes(const setting *at, tj_layout a, tj_layout b) {
  tj_graph *graph = at->self->graph;
  uint32_t count = a.shape->count < b.shape->count ? a.shape->count : b.shape->count;
  const tj_tuple *extents = tj_tuple_list(graph, b.shape->item, count);
  return tj_layout_divide(graph, a, tj_tiler_of_tuple(graph, extents), TJ_TILED_ZIPPED);
}

static tj_layout multiply(const setting *at, tj_layout a, tj_layout b) {
  return tj_layout_multiply(at->self->graph, a, tj_tiler_of_layout(at->self->graph, b), TJ_TILED_LOGICAL);
}

static tj_layout multiply_blocks(const setting *at, tj_layout a, tj_layout b) {
  return tj_layout_blocked_product(at->self->graph, a, b);
}

static tj_layout complement(const setting *at, tj_layout a, tj_layout b) {
  (void)b;
  return tj_layout_complement(at->self->graph, a, NULL);
}

/* As wide as the layout's cosize times a number. */
static tj_layout complement_to(const setting *at, tj_layout a, tj_layout b) {
  tj_graph *graph = at->self->graph;
  const tj_node *size = tj_terse_mul(graph, tj_layout_cosize(graph, a), tj_layout_size(graph, b));
  return tj_layout_complement(graph, a, tj_tuple_integer(graph, size));
}

static tj_layout upcast(const setting *at, tj_layout a, tj_layout b) {
  (void)b;
  return tj_layout_upcast(at->self->graph, a, 4);
}

/* b in a's shape, copies in the order of a's modes backwards. */
static tj_layout tile_to_shape(const setting *at, tj_layout a, tj_layout b) {
  tj_graph *graph = at->self->graph;
  const tj_tuple *order[MOST_MODES];
  for (uint32_t i = 0; i < a.shape->count; i++)
    order[i] = tj_tuple_constant(graph, -(int64_t)i);
  return tj_tile_to_shape(graph, b, a.shape, tj_tuple_list(graph, order, a.shape->count));
}

static tj_layout like(const setting *at, tj_layout a, tj_layout b) {
  (void)b;
  return tj_layout_like(at->self->graph, a);
}

static tj_layout right_inverse(const setting *at, tj_layout a, tj_layout b) {
  (void)b;
  return tj_layout_right_inverse(at->self->graph, a);
}

static tj_layout left_inverse(const setting *at, tj_layout a, tj_layout b) {
  (void)b;
  return tj_layout_left_inverse(at->self->graph, a);
}

/* --- evaluation --- */

/* A layout of numbers, flat. */
typedef struct {
  int64_t extent[64], stride[64], size;
  uint32_t count;
} flat_layout;

static void bind_leaves(const tj_tuple *const leaves[], uint32_t count, const tj_bindings *bindings,
                        int64_t values[]) {
  for (uint32_t i = 0; i < count; i++)
    ck_assert_int_eq(tj_eval_nodes(&leaves[i]->value, 1, bindings, &values[i]), TJ_EVAL_OK);
}

static flat_layout bind(reader *self, tj_layout layout, const tj_bindings *bindings) {
  flat_layout flat = {.size = 1};
  const tj_tuple *const *extents = tj_tuple_leaves(self->graph, layout.shape, &flat.count);
  ck_assert_uint_le(flat.count, 64);
  bind_leaves(extents, flat.count, bindings, flat.extent);
  bind_leaves(tj_tuple_leaves(self->graph, layout.stride, NULL), flat.count, bindings, flat.stride);
  for (uint32_t i = 0; i < flat.count; i++)
    flat.size *= flat.extent[i];
  return flat;
}

static int64_t value_at(const flat_layout *flat, int64_t index) {
  int64_t sum = 0;
  for (uint32_t i = 0; i < flat->count; i++) {
    sum += index % flat->extent[i] * flat->stride[i];
    index /= flat->extent[i];
  }
  return sum;
}

/* --- cases --- */

typedef struct {
  operation operate;
  const setting *at;
  const recipe *a, *b;
  tj_layout result;
} attempt;

static void run_attempt(tj_job *job, void *data) {
  (void)job;
  attempt *tried = data;
  tried->result = tried->operate(tried->at, make(tried->at, tried->a), make(tried->at, tried->b));
}

typedef struct {
  operation operate;
  bool may_be_shorter; /* with parameters, the result may stop where facts do */
  bool own_strides;    /* not for products and inverses, where modes that overlap are refused in numbers only */
  uint64_t state;
  unsigned accepted, undecided;
} property;

static const char *describe(reader *self, const attempt *tried) {
  tj_text text = tj_text_begin(self->graph->job);
  tj_layout_print(&text, make(tried->at, tried->a));
  tj_text_string(&text, " and ");
  tj_layout_print(&text, make(tried->at, tried->b));
  return text.data;
}

/* What the result with parameters is at numbers, against the result of numbers. */
static void check_binding(property *self, const attempt *symbolic, reader *texts, uint32_t first_symbol) {
  int64_t value[64] = {0};
  setting numbers = {texts, {NULL}};
  for (uint32_t i = 0; i < PARAMETERS; i++) {
    int64_t steps = (parameters[i].high - parameters[i].low) / parameters[i].multiple + 1;
    int64_t chosen =
        parameters[i].low + parameters[i].multiple * (int64_t)random_below(&self->state, (uint32_t)steps);
    value[first_symbol + i] = chosen;
    numbers.parameter[i] = tj_int(texts->graph, chosen);
  }
  tj_bindings bindings = {value, NULL, first_symbol + PARAMETERS};
  attempt fixed = {symbolic->operate, &numbers, symbolic->a, symbolic->b, {NULL, NULL}};
  tj_status status = tj_job_run(texts->graph->job, run_attempt, &fixed);
  ck_assert_msg(status == TJ_OK, "%s, but with numbers %s: TJ%04d", describe(texts, symbolic),
                describe(texts, &fixed), (int)texts->graph->job->problem.code);
  flat_layout bound = bind(texts, symbolic->result, &bindings), expected = bind(texts, fixed.result, &bindings);
  ck_assert_msg(self->may_be_shorter ? bound.size <= expected.size : bound.size == expected.size,
                "%s: %s, but with numbers %s: %s", describe(texts, symbolic),
                tj_layout_text(texts->graph->job, symbolic->result), describe(texts, &fixed),
                tj_layout_text(texts->graph->job, fixed.result));
  int64_t step = 1 + bound.size / MOST_POINTS;
  for (int64_t i = 0; i < bound.size; i += step)
    ck_assert_msg(value_at(&bound, i) == value_at(&expected, i), "%s: %s, but with numbers %s: %s",
                  describe(texts, symbolic), tj_layout_text(texts->graph->job, symbolic->result),
                  describe(texts, &fixed), tj_layout_text(texts->graph->job, fixed.result));
}

static void check_message(const tj_job *job) {
  if (job->problem.code == TJ_NEEDS_FACT)
    ck_assert_msg(strstr(job->problem.message, "needs ") != NULL, "%s", job->problem.message);
}

static void run_case(reader *texts, const void *data) {
  property *self = *(property *const *)data;
  tj_graph *graph = texts->graph;
  uint32_t first_symbol = graph->symbol_count;
  setting symbols = {texts, {NULL}};
  for (uint32_t i = 0; i < PARAMETERS; i++)
    symbols.parameter[i] =
        declare(texts, parameters[i].name, parameters[i].low, parameters[i].high, parameters[i].multiple);
  recipe a = random_recipe(&self->state, self->own_strides), b = random_tile(&self->state);
  attempt symbolic = {self->operate, &symbols, &a, &b, {NULL, NULL}};
  if (tj_job_run(graph->job, run_attempt, &symbolic) != TJ_OK) {
    self->undecided += graph->job->problem.code == TJ_NEEDS_FACT;
    check_message(graph->job);
    return;
  }
  self->accepted++;
  for (uint32_t i = 0; i < BINDINGS; i++)
    check_binding(self, &symbolic, texts, first_symbol);
}

static void run_property(operation operate, bool compact, unsigned least_accepted) {
  bool may_be_shorter = operate == right_inverse;
  property self = {operate, may_be_shorter, !compact, UINT64_C(0x9e3779b97f4a7c15), 0, 0}, *data = &self;
  for (unsigned i = 0; i < CASES; i++)
    run_row(run_case, &data, (tj_problem_code)0);
  ck_assert_msg(self.accepted >= least_accepted, "only %u of %d cases were accepted, %u undecided", self.accepted,
                CASES, self.undecided);
}

#define PROPERTY_TEST(name, compact, least_accepted)                                                                 \
  START_TEST(test_##name) {                                                                                          \
    run_property(name, compact, least_accepted);                                                                     \
  }                                                                                                                  \
  END_TEST

PROPERTY_TEST(coalesce, false, CASES)
PROPERTY_TEST(compose, false, 3400)
PROPERTY_TEST(divide, false, 3100)
PROPERTY_TEST(divide_modes, false, CASES)
PROPERTY_TEST(multiply, true, 3900)
PROPERTY_TEST(multiply_blocks, true, 3900)
PROPERTY_TEST(complement, false, 3550)
PROPERTY_TEST(complement_to, false, 3550)
PROPERTY_TEST(upcast, false, 3350)
PROPERTY_TEST(tile_to_shape, true, 1500)
PROPERTY_TEST(like, true, 2300)
PROPERTY_TEST(right_inverse, true, CASES)
PROPERTY_TEST(left_inverse, true, 3850)

int main(void) {
  const TTest *const tests[] = {
      test_coalesce,     test_compose,       test_divide, test_divide_modes,  test_multiply, test_multiply_blocks,
      test_complement,   test_complement_to, test_upcast, test_tile_to_shape, test_like,     test_right_inverse,
      test_left_inverse,
  };
  return run_suite(suite_of("algebra_symbolic", tests, sizeof tests / sizeof *tests));
}
