/* Properties of layout algebra on random layouts: what each operation promises, checked value by value. Values come
 * from a plain evaluation here or from the oracle, never from the code under test. */
#include "tests/unit/layout_support.h"

enum { CASES = 11500, MOST_MODES = 6 };

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

static bool has_powers_of_two(const flat_layout *flat) {
  int64_t odd = 0;
  for (uint32_t i = 0; i < flat->count; i++)
    odd |= (flat->extent[i] & (flat->extent[i] - 1)) | (flat->stride[i] & (flat->stride[i] - 1));
  return odd == 0;
}

/* The first mode is the layout at the tile. Where extents divide each other, the tiles cover a
 * layout of one mode. */
static void check_divide(property_case *self) {
  flat_layout a = flatten(self->texts, self->a), b = flatten(self->texts, self->b);
  flat_layout tile = flatten(self->texts, tj_layout_mode(self->texts->graph, self->result, 0));
  ck_assert_int_eq(tile.size, b.size);
  if (has_powers_of_two(&b) && !tj_tuple_is_list(tj_layout_coalesce(self->texts->graph, self->a).shape))
    ck_assert_msg(flatten(self->texts, self->result).size >= a.size, "%s", self->what);
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

/* --- the forms of divides and products --- */

static tj_layout mode(property_case *self, tj_layout layout, uint32_t i) {
  return tj_layout_mode(self->texts->graph, layout, i);
}

static void expect_same(const property_case *self, tj_layout a, tj_layout b) {
  tj_job *job = self->texts->graph->job;
  ck_assert_msg(tj_layout_equal(a, b), "%s: %s, not %s", self->what, tj_layout_text(job, a), tj_layout_text(job, b));
}

/* A layout of two modes and a tile of two extents. */
static void prepare_forms(property_case *self) {
  tj_graph *graph = self->texts->graph;
  tj_layout modes[] = {random_layout(self->texts, &self->state, 2), random_layout(self->texts, &self->state, 2)};
  const tj_tuple *extents[] = {tj_tuple_constant(graph, random_extent(&self->state)),
                               tj_tuple_constant(graph, random_extent(&self->state))};
  self->a = tj_layout_concat(graph, modes, 2);
  self->b = tj_layout_of_shape(graph, tj_tuple_list(graph, extents, 2));
  say(self, "forms");
}

static void operate_zipped(property_case *self) {
  tj_graph *graph = self->texts->graph;
  self->result = tj_layout_divide(graph, self->a, tj_tiler_of_tuple(graph, self->b.shape), TJ_TILED_ZIPPED);
}

/* Zipped gathers tiles and rests of the logical divide; tiled and flat spread them; coordinates of the tile and of
 * the rest lead to the same elements. */
static void check_forms(property_case *self) {
  tj_graph *graph = self->texts->graph;
  const tj_tiler *tiler = tj_tiler_of_tuple(graph, self->b.shape);
  tj_layout logical = tj_layout_divide(graph, self->a, tiler, TJ_TILED_LOGICAL);
  tj_layout tiled = tj_layout_divide(graph, self->a, tiler, TJ_TILED_TILED);
  tj_layout flat = tj_layout_divide(graph, self->a, tiler, TJ_TILED_FLAT);
  tj_layout tile = mode(self, self->result, 0), rest = mode(self, self->result, 1);
  expect_same(self, mode(self, tiled, 0), tile);
  for (uint32_t i = 0; i < 2; i++) {
    expect_same(self, mode(self, tile, i), mode(self, mode(self, logical, i), 0));
    expect_same(self, mode(self, rest, i), mode(self, mode(self, logical, i), 1));
    expect_same(self, mode(self, tiled, 1 + i), mode(self, rest, i));
    expect_same(self, mode(self, flat, i), mode(self, tile, i));
    expect_same(self, mode(self, flat, 2 + i), mode(self, rest, i));
  }
}

static tj_layout random_list(property_case *self) {
  tj_layout layout = tj_layout_flatten(self->texts->graph, random_layout(self->texts, &self->state, 2));
  return tj_tuple_is_list(layout.shape) ? layout : tj_layout_concat(self->texts->graph, &layout, 1);
}

static void prepare_blocks(property_case *self) {
  self->a = random_list(self);
  self->b = random_list(self);
  say(self, "blocks");
}

static void operate_blocked(property_case *self) {
  self->result = tj_layout_blocked_product(self->texts->graph, self->a, self->b);
}

/* Raked swaps what blocked pairs, and both are the logical product of block and tiler, mode by mode. */
static void check_blocked(property_case *self) {
  tj_graph *graph = self->texts->graph;
  tj_layout raked = tj_layout_raked_product(graph, self->a, self->b);
  flat_layout a = flatten(self->texts, self->a), b = flatten(self->texts, self->b);
  flat_layout all = flatten(self->texts, self->result);
  uint32_t rank = tj_tuple_rank(self->result.shape), block_rank = tj_tuple_rank(self->a.shape);
  for (uint32_t i = 0; i < rank; i++) {
    tj_layout pair = mode(self, self->result, i), swapped = mode(self, raked, i);
    expect_same(self, mode(self, pair, 0), mode(self, swapped, 1));
    expect_same(self, mode(self, pair, 1), mode(self, swapped, 0));
    if (i < block_rank)
      expect_same(self, mode(self, pair, 0), mode(self, self->a, i));
  }
  ck_assert_int_eq(all.size, a.size * b.size);
  if (all_different(&a) && all_different(&b))
    ck_assert_msg(all_different(&all), "%s: %s", self->what, tj_layout_text(graph->job, self->result));
}

START_TEST(forms) {
  property divide = {prepare_forms,
                     operate_zipped,
                     check_forms,
                     {TJ_COMPOSITION_STRIDE, TJ_COMPOSITION_SHAPE, TJ_COMPOSITION_OVERLAP, TJ_NOT_INJECTIVE},
                     CASES / 4};
  property product = {prepare_blocks,
                      operate_blocked,
                      check_blocked,
                      {TJ_COMPOSITION_STRIDE, TJ_COMPOSITION_SHAPE, TJ_COMPOSITION_OVERLAP, TJ_NOT_INJECTIVE},
                      CASES / 4};
  run_property(&divide);
  run_property(&product);
}
END_TEST

/* --- complement below a target --- */

static void prepare_target(property_case *self) {
  tj_graph *graph = self->texts->graph;
  self->a = random_layout(self->texts, &self->state, 3);
  self->b = tj_layout_of_shape(graph, tj_tuple_constant(graph, 1 + random_below(&self->state, 300)));
  say(self, "complement");
}

static void operate_complement_to(property_case *self) {
  self->result = tj_layout_complement(self->texts->graph, self->a, self->b.shape);
}

/* Layout and complement together reach no element twice, and where strides divide each other all below the target. */
static void check_complement_to(property_case *self) {
  flat_layout result = flatten(self->texts, self->result);
  tj_layout filtered = tj_layout_filter(self->texts->graph, self->a);
  flat_layout layout = flatten(self->texts, filtered);
  if (has_powers_of_two(&layout))
    ck_assert_msg(layout.size * result.size >= self->b.shape->value->value, "%s", self->what);
  check_complement(self);
}

/* --- filters --- */

static void operate_filter(property_case *self) {
  self->result = tj_layout_filter(self->texts->graph, self->a);
}

static int64_t *sorted_values(const flat_layout *flat) {
  int64_t *values = malloc((size_t)flat->size * sizeof *values);
  for (int64_t i = 0; i < flat->size; i++)
    values[i] = value_at(flat, i);
  qsort(values, (size_t)flat->size, sizeof *values, compare_values);
  return values;
}

/* Each value appears once for each coordinate of the modes of stride 0 that are gone. */
static void check_filter(property_case *self) {
  flat_layout a = flatten(self->texts, self->a), result = flatten(self->texts, self->result);
  int64_t *all = sorted_values(&a), *kept = sorted_values(&result), times = a.size / result.size;
  for (int64_t i = 0; i < a.size; i++)
    ck_assert_msg(all[i] == kept[i / times], "%s", self->what);
  for (uint32_t i = 0; i < result.count; i++)
    ck_assert_msg(result.size == 1 || (result.stride[i] != 0 && result.extent[i] != 1), "%s", self->what);
  free(all);
  free(kept);
}

/* --- orders --- */

static void operate_like(property_case *self) {
  self->result = tj_layout_like(self->texts->graph, self->a);
}

static bool has_equal_strides(const flat_layout *flat) {
  for (uint32_t i = 0; i < flat->count; i++)
    for (uint32_t k = 0; k < i; k++)
      if (flat->stride[i] == flat->stride[k] && flat->stride[i] != 0)
        return true;
  return false;
}

/* In the order of the layout it is like; and compact, where that has an order. */
static void check_like(property_case *self) {
  tj_graph *graph = self->texts->graph;
  flat_layout a = flatten(self->texts, self->a), result = flatten(self->texts, self->result);
  tj_layout inverse = tj_layout_right_inverse(graph, self->result);
  flat_layout filtered = flatten(self->texts, tj_layout_filter_zeros(graph, self->a));
  ck_assert_msg(tj_layout_size(graph, inverse)->value == filtered.size || has_equal_strides(&a), "%s: %s", self->what,
                tj_layout_text(graph->job, self->result));
  for (uint32_t i = 0; i < a.count; i++)
    for (uint32_t k = 0; k < a.count; k++)
      ck_assert_msg(a.stride[i] >= a.stride[k] || filtered.extent[i] == 1 || filtered.extent[k] == 1 ||
                        result.stride[i] < result.stride[k],
                    "%s: %s", self->what, tj_layout_text(graph->job, self->result));
}

/* --- casts --- */

static void operate_cast(property_case *self) {
  tj_graph *graph = self->texts->graph;
  self->result = tj_layout_upcast(graph, tj_layout_downcast(graph, self->a, 4), 4);
}

static void check_cast(property_case *self) {
  expect_same(self, self->result, self->a);
  tj_graph *graph = self->texts->graph;
  expect_same(self, tj_layout_recast(graph, self->a, 32, 8), tj_layout_downcast(graph, self->a, 4));
  flat_layout a = flatten(self->texts, self->a);
  flat_layout down = flatten(self->texts, tj_layout_downcast(graph, self->a, 4));
  for (uint32_t i = 0; i < a.count; i++)
    ck_assert_msg(a.stride[i] == 1 ? down.extent[i] == 4 * a.extent[i] && down.stride[i] == 1
                                   : down.extent[i] == a.extent[i] && down.stride[i] == 4 * a.stride[i],
                  "%s", self->what);
}

/* --- what two layouts have in common --- */

static void operate_common(property_case *self) {
  self->result = tj_layout_max_common(self->texts->graph, self->a, self->b);
}

static void check_common(property_case *self) {
  tj_graph *graph = self->texts->graph;
  flat_layout a = flatten(self->texts, self->a), b = flatten(self->texts, self->b);
  flat_layout result = flatten(self->texts, self->result);
  for (int64_t i = 0; i < result.size; i++) {
    int64_t at = value_at(&result, i);
    ck_assert_msg(value_at(&a, at) == i && value_at(&b, at) == i, "%s", self->what);
  }
  ck_assert(tj_is_int(tj_layout_max_common_vector(graph, self->a, self->b), result.size));
}

START_TEST(other_operations) {
  static const tj_problem_code none = (tj_problem_code)0;
  property target = {prepare_target, operate_complement_to, check_complement_to, {TJ_NOT_INJECTIVE}, CASES / 2};
  property filter = {prepare_one, operate_filter, check_filter, {none}, CASES};
  property like = {prepare_one, operate_like, check_like, {none}, CASES};
  property casts = {prepare_one, operate_cast, check_cast, {TJ_NOT_DIVISIBLE}, CASES / 2};
  property common = {prepare_two,
                     operate_common,
                     check_common,
                     {TJ_COMPOSITION_STRIDE, TJ_COMPOSITION_SHAPE, TJ_COMPOSITION_OVERLAP},
                     CASES / 2};
  run_property(&target);
  run_property(&filter);
  run_property(&like);
  run_property(&casts);
  run_property(&common);
}
END_TEST

/* --- slices and modes --- */

static void operate_group(property_case *self) {
  tj_graph *graph = self->texts->graph;
  uint32_t rank = tj_tuple_rank(self->a.shape), begin = random_below(&self->state, rank + 1);
  self->result = tj_layout_group(graph, self->a, begin, begin + random_below(&self->state, rank - begin + 1));
}

/* Grouping and flattening keep the map; taking modes apart and putting them together gives the layout back. */
static void check_group(property_case *self) {
  tj_graph *graph = self->texts->graph;
  tj_layout flat = tj_layout_flatten(graph, self->a);
  expect_same(self, tj_layout_unflatten(graph, flat, self->a.shape), self->a);
  if (!tj_tuple_is_list(self->a.shape))
    return;
  expect_same(self, tj_layout_flatten(graph, self->result), flat);
  uint32_t rank = self->a.shape->count, cut = random_below(&self->state, rank);
  tj_layout all = tj_layout_take(graph, self->a, 0, cut);
  for (uint32_t i = cut; i < rank; i++)
    all = tj_layout_append(graph, all, mode(self, self->a, i), 0);
  expect_same(self, all, self->a);
  for (uint32_t i = cut; i-- > 0;)
    all = tj_layout_prepend(graph, tj_layout_take(graph, self->a, i + 1, rank), mode(self, self->a, i), 0);
  expect_same(self, all, self->a);
  expect_same(self, tj_layout_replace(graph, self->a, cut, mode(self, self->a, cut)), self->a);
}

/* Fixes some modes at random coordinates. */
static const tj_tuple *random_slice(property_case *self, const tj_tuple **fixed) {
  tj_graph *graph = self->texts->graph;
  uint32_t rank = tj_tuple_rank(self->a.shape);
  const tj_tuple *slice[64], *at[64];
  for (uint32_t i = 0; i < rank; i++) {
    int64_t size = tj_tuple_product(graph, tj_tuple_mode(self->a.shape, i))->value;
    at[i] = tj_tuple_constant(graph, (int64_t)random_below(&self->state, (uint32_t)size));
    slice[i] = random_below(&self->state, 2) == 0 ? tj_tuple_any(graph) : at[i];
  }
  *fixed = tj_tuple_list(graph, at, rank);
  return tj_tuple_list(graph, slice, rank);
}

/* layout(c) = offset + kept(the entries of c that stand against underscores). */
static void check_slice(property_case *self) {
  tj_graph *graph = self->texts->graph;
  if (!tj_tuple_is_list(self->a.shape))
    return;
  const tj_tuple *whole, *offset, *slice = random_slice(self, &whole);
  tj_layout kept = tj_layout_slice(graph, self->a, slice, &offset);
  const tj_tuple *entries = tj_tuple_keep(graph, slice, whole, false);
  int64_t expected = tj_layout_apply(graph, self->a, whole)->value->value;
  int64_t actual = tj_layout_apply(graph, kept, entries)->value->value + offset->value->value;
  ck_assert_msg(actual == expected, "%s by %s", self->what, tj_tuple_text(graph->job, slice));
  tj_layout diced = tj_layout_dice(graph, slice, self->a);
  ck_assert_uint_eq(tj_tuple_rank(diced.shape) + tj_tuple_rank(kept.shape), self->a.shape->count);
}

START_TEST(modes) {
  property group = {prepare_one, operate_group, check_group, {(tj_problem_code)0}, CASES};
  property slice = {prepare_one, operate_nothing, check_slice, {(tj_problem_code)0}, CASES};
  run_property(&group);
  run_property(&slice);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {composition, coalescing, complements,      inverses, tilings,
                                application, forms,      other_operations, modes};
  return run_suite(suite_of("algebra_properties", tests, sizeof tests / sizeof *tests));
}
