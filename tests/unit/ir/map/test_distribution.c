/* SPDX-License-Identifier: MIT */
/* Tile distributions: random encodings against the oracle, operations against what they mean, (thread, value) layouts
 * there and back, bad encodings by their codes. */
#include "ir/index/eval.h"
#include "ir/map/distribution.h"
#include "ir/simplify/simplify.h"
#include "ir/view/bridge.h"
#include "tests/unit/support/random_views.h"
#include "tests/unit/support/vector_support.h"

/* --- random distributions --- */

enum { MOST_X = 3, MOST_DIGITS = 3, MOST_P = 3, SAMPLES = 48 };

/* A distribution in the making: digits, then owners for them in random order. */
typedef struct {
  view_source *random;
  int64_t length[MOST_X + 1][MOST_DIGITS];
  tj_lengths rh[MOST_X + 1];
  tj_rh dimension[(MOST_X + 1) * MOST_DIGITS];
  uint32_t dimension_count, x_count;
  tj_rh owned[MOST_P][(MOST_X + 1) * MOST_DIGITS];
  tj_partition p[MOST_P];
  tj_rh y[(MOST_X + 1) * MOST_DIGITS];
} encoding;

static void choose_digits(encoding *self, int64_t least) {
  self->x_count = (uint32_t)random_between(self->random, 1, MOST_X);
  for (uint32_t major = 0; major <= self->x_count; major++) {
    uint32_t count = (uint32_t)random_between(self->random, 0, major == 0 ? 1 : MOST_DIGITS);
    for (uint32_t minor = 0; minor < count; minor++) {
      self->length[major][minor] = random_between(self->random, least, 3);
      self->dimension[self->dimension_count++] = (tj_rh){major, minor};
    }
    self->rh[major] = (tj_lengths){self->length[major], count};
  }
}

/* Lengths of at least `least`. */
static const tj_distribution *random_distribution(view_source *random, int64_t least) {
  encoding self = {.random = random};
  uint32_t order[(MOST_X + 1) * MOST_DIGITS], y_count = 0;
  choose_digits(&self, least);
  shuffle_numbers(random, order, self.dimension_count);
  uint32_t p_count = (uint32_t)random_between(random, 1, MOST_P);
  for (uint32_t p = 0; p < p_count; p++)
    self.p[p].dimension = self.owned[p];
  for (uint32_t i = 0; i < self.dimension_count; i++) {
    tj_rh dimension = self.dimension[order[i]];
    uint32_t p = (uint32_t)random_between(random, 0, p_count);
    if (p == p_count && dimension.major != 0)
      self.y[y_count++] = dimension;
    else
      self.owned[p % p_count][self.p[p % p_count].count++] = dimension;
  }
  return tj_distribution_make(random->graph, self.rh, self.x_count, self.p, p_count, self.y, y_count);
}

static int64_t product(const int64_t lengths[], uint32_t count) {
  int64_t all = 1;
  for (uint32_t i = 0; i < count; i++)
    all *= lengths[i];
  return all;
}

/* A random coordinate (p…, y…). */
static void random_coordinate(view_source *random, const tj_distribution *d, int64_t coordinate[]) {
  for (uint32_t i = 0; i < d->p_count; i++)
    coordinate[i] = random_between(random, 0, d->p_length[i] - 1);
  for (uint32_t i = 0; i < d->y_count; i++)
    coordinate[d->p_count + i] = random_between(random, 0, d->y_length[i] - 1);
}

static void expect_same(const int64_t actual[], const int64_t expected[], uint32_t count, const char *what) {
  for (uint32_t i = 0; i < count; i++)
    ck_assert_msg(actual[i] == expected[i], "%s: x%u is %lld, not %lld", what, i, (long long)actual[i],
                  (long long)expected[i]);
}

/* Runs a check on many seeds, each in a job of its own. */
static void for_seeds(unsigned count, void (*check)(reader *, const void *)) {
  for (uint64_t seed = 1; seed <= count; seed++) {
    uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15);
    run_row(check, &state, (tj_problem_code)0);
  }
}

/* --- maps --- */

static void evaluate_map(const tj_map *map, uint32_t first_symbol, const int64_t coordinate[], uint32_t rank,
                         tj_graph *simplified_in, int64_t x[]) {
  int64_t values[256] = {0};
  const tj_node *roots[TJ_MAX_DIMENSIONS];
  memcpy(values + first_symbol, coordinate, rank * sizeof *values);
  tj_bindings bindings = {values, NULL, first_symbol + rank};
  for (uint32_t i = 0; i < map->output->count; i++) {
    roots[i] = map->output->item[i]->value;
    if (simplified_in != NULL)
      roots[i] = tj_simplified(simplified_in, roots[i]);
  }
  ck_assert_int_eq(tj_eval_nodes(roots, map->output->count, &bindings, x), TJ_EVAL_OK);
}

static void check_maps(reader *self, const void *data) {
  view_source random = {self->graph, *(const uint64_t *)data};
  const tj_distribution *d = random_distribution(&random, 1);
  const tj_adaptor *adaptor = tj_distribution_adaptor(self->graph, d);
  uint32_t first_symbol = self->graph->symbol_count, rank = d->p_count + d->y_count;
  tj_map map = tj_map_of_distribution(self->graph, d);
  for (int n = 0; n < SAMPLES; n++) {
    int64_t coordinate[TJ_MAX_DIMENSIONS], expected[TJ_MAX_DIMENSIONS], x[TJ_MAX_DIMENSIONS];
    bool valid;
    random_coordinate(&random, d, coordinate);
    tj_oracle_distribution(self->graph, d, coordinate, expected);
    tj_oracle_adaptor(self->graph, adaptor, coordinate, x, &valid);
    expect_same(x, expected, d->x_count, "the adaptor");
    ck_assert(valid);
    evaluate_map(&map, first_symbol, coordinate, rank, NULL, x);
    expect_same(x, expected, d->x_count, "index expressions");
    evaluate_map(&map, first_symbol, coordinate, rank, self->graph, x);
    expect_same(x, expected, d->x_count, "simplified index expressions");
  }
}

START_TEST(maps_agree_with_the_oracle) {
  for_seeds(1000, check_maps);
}
END_TEST

/* --- (thread, value) layouts --- */

static void check_there_and_back(reader *self, const void *data) {
  view_source random = {self->graph, *(const uint64_t *)data};
  const tj_distribution *d = random_distribution(&random, 1);
  const tj_tuple *tile = constants_tuple(self->graph, d->x_length, d->x_count);
  tj_layout tv = tj_distribution_tv_layout(self->graph, d);
  const tj_distribution *back = tj_distribution_of_tv(self->graph, tv, tile);
  ck_assert_uint_eq(back->p_count, d->p_count);
  ck_assert_uint_eq(back->y_count, d->y_count);
  expect_same(back->p_length, d->p_length, d->p_count, "P lengths");
  expect_same(back->y_length, d->y_length, d->y_count, "Y lengths");
  for (int n = 0; n < SAMPLES; n++) {
    int64_t coordinate[TJ_MAX_DIMENSIONS], expected[TJ_MAX_DIMENSIONS], x[TJ_MAX_DIMENSIONS];
    random_coordinate(&random, d, coordinate);
    tj_oracle_distribution(self->graph, d, coordinate, expected);
    tj_oracle_distribution(self->graph, back, coordinate, x);
    expect_same(x, expected, d->x_count, "there and back");
  }
  tj_layout again = tj_distribution_tv_layout(self->graph, back);
  ck_assert_msg(tj_layout_equal(again, tv), "%s, not %s", tj_layout_text(self->graph->job, again),
                tj_layout_text(self->graph->job, tv));
}

START_TEST(tv_layouts_lead_back) {
  for_seeds(2000, check_there_and_back);
}
END_TEST

/* Without digits of length 1, and with at most one R, the very encoding comes back. */
static void check_same_encoding(reader *self, const void *data) {
  view_source random = {self->graph, *(const uint64_t *)data};
  const tj_distribution *d = random_distribution(&random, 2);
  const tj_tuple *tile = constants_tuple(self->graph, d->x_length, d->x_count);
  const tj_distribution *back = tj_distribution_of_tv(self->graph, tj_distribution_tv_layout(self->graph, d), tile);
  tj_text text = tj_text_begin(self->graph->job);
  tj_distribution_print(&text, d);
  tj_text_string(&text, " came back as ");
  tj_distribution_print(&text, back);
  ck_assert_msg(tj_distribution_equal(d, back), "%s", text.data);
}

START_TEST(encodings_come_back) {
  for_seeds(2000, check_same_encoding);
}
END_TEST

START_TEST(different_distributions_differ) {
  tj_job job;
  tj_job_init(&job, NULL);
  tj_graph *graph = tj_graph_create(&job);
  const int64_t two[] = {2, 2}, other[] = {2, 3};
  const tj_rh first[] = {{1, 0}}, second[] = {{1, 1}};
  const tj_lengths rh[] = {{NULL, 0}, {two, 2}}, other_rh[] = {{NULL, 0}, {other, 2}};
  const tj_partition p[] = {{first, 1}}, other_p[] = {{second, 1}};
  const tj_distribution *d = tj_distribution_make(graph, rh, 1, p, 1, second, 1);
  ck_assert(tj_distribution_equal(d, tj_distribution_make(graph, rh, 1, p, 1, second, 1)));
  ck_assert(!tj_distribution_equal(d, tj_distribution_make(graph, rh, 1, other_p, 1, first, 1)));
  ck_assert(!tj_distribution_equal(d, tj_distribution_make(graph, other_rh, 1, p, 1, second, 1)));
  tj_job_destroy(&job);
}
END_TEST

typedef struct {
  const char *guards, *tv, *tile, *expected;
} tv_row;

static void check_tv_row(reader *self, const void *data) {
  const tv_row *row = data;
  tj_text text = tj_text_begin(self->graph->job);
  tj_distribution_print(&text,
                        tj_distribution_of_tv(self->graph, read_layout(self, row->tv), read_tuple(self, row->tile)));
  expect_text(text.data, row->expected, row->guards);
}

START_TEST(tv_layouts_of_atoms) {
  static const tv_row rows[] = {
      {"the accumulator of a 16 x 8 matrix instruction", "((4,8),(2,2)):((32,1),(16,8))", "(16,8)",
       "distribution(rs=[], hs=[[2,8],[4,2]], ps_major=[[1,2]], ps_minor=[[1,0]], ys_major=[1,2], ys_minor=[0,1])"},
      {"a mode that runs over two tile dimensions", "(32,4):(1,32)", "(16,8)",
       "distribution(rs=[], hs=[[16],[4,2]], ps_major=[[2,1]], ps_minor=[[1,0]], ys_major=[2], ys_minor=[0])"},
      {"replicated threads", "((4,2),2):((2,0),1)", "(8)",
       "distribution(rs=[2], hs=[[4,2]], ps_major=[[0,1]], ps_minor=[[0,0]], ys_major=[1], ys_minor=[1])"},
      {"one value a thread", "(8,1):(1,0)", "8",
       "distribution(rs=[], hs=[[8]], ps_major=[[1]], ps_minor=[[0]], ys_major=[], ys_minor=[])"},
      {"a tuple for each P", "(((8),(2)),2):(((2),(16)),1)", "(32)",
       "distribution(rs=[], hs=[[2,8,2]], ps_major=[[1],[1]], ps_minor=[[0],[1]], ys_major=[1], ys_minor=[2])"},
      {"a tile dimension of length 1", "(4,2):(2,1)", "(1,8)",
       "distribution(rs=[], hs=[[],[4,2]], ps_major=[[2]], ps_minor=[[0]], ys_major=[2], ys_minor=[1])"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    run_row(check_tv_row, &rows[i], (tj_problem_code)0);
}
END_TEST

/* --- operations --- */

static void check_embedding(reader *self, const void *data) {
  view_source random = {self->graph, *(const uint64_t *)data};
  const tj_distribution *outer = random_distribution(&random, 1), *inner = random_distribution(&random, 1);
  if (outer->x_count != inner->x_count)
    return;
  const tj_distribution *both = tj_distribution_embed(self->graph, outer, inner);
  for (int n = 0; n < SAMPLES; n++) {
    int64_t a[TJ_MAX_DIMENSIONS], b[TJ_MAX_DIMENSIONS], joined[TJ_MAX_DIMENSIONS];
    int64_t x[TJ_MAX_DIMENSIONS], y[TJ_MAX_DIMENSIONS], actual[TJ_MAX_DIMENSIONS];
    random_coordinate(&random, outer, a);
    random_coordinate(&random, inner, b);
    memcpy(joined, a, outer->p_count * sizeof *a);
    memcpy(joined + outer->p_count, b, inner->p_count * sizeof *a);
    memcpy(joined + both->p_count, a + outer->p_count, outer->y_count * sizeof *a);
    memcpy(joined + both->p_count + outer->y_count, b + inner->p_count, inner->y_count * sizeof *a);
    tj_oracle_distribution(self->graph, outer, a, x);
    tj_oracle_distribution(self->graph, inner, b, y);
    tj_oracle_distribution(self->graph, both, joined, actual);
    for (uint32_t i = 0; i < both->x_count; i++)
      x[i] = x[i] * inner->x_length[i] + y[i];
    expect_same(actual, x, both->x_count, "embedding");
  }
}

START_TEST(embedding_nests_tiles) {
  for_seeds(2000, check_embedding);
}
END_TEST

static void check_reduction(reader *self, const void *data) {
  view_source random = {self->graph, *(const uint64_t *)data};
  const tj_distribution *d = random_distribution(&random, 1);
  int64_t dim = random_between(&random, 0, d->x_count - 1);
  const tj_distribution *reduced = tj_distribution_reduce(self->graph, d, &dim, 1);
  ck_assert_uint_eq(reduced->p_count, d->p_count);
  expect_same(reduced->p_length, d->p_length, d->p_count, "P lengths");
  for (int n = 0; n < SAMPLES; n++) {
    int64_t full[TJ_MAX_DIMENSIONS], part[TJ_MAX_DIMENSIONS], x[TJ_MAX_DIMENSIONS], actual[TJ_MAX_DIMENSIONS];
    uint32_t kept = d->p_count;
    random_coordinate(&random, d, full);
    memcpy(part, full, d->p_count * sizeof *full);
    for (uint32_t y = 0; y < d->y_count; y++)
      if (d->y[y].major != dim + 1)
        part[kept++] = full[d->p_count + y];
    ck_assert_uint_eq(kept, reduced->p_count + reduced->y_count);
    tj_oracle_distribution(self->graph, d, full, x);
    memmove(x + dim, x + dim + 1, (d->x_count - (size_t)dim - 1) * sizeof *x);
    tj_oracle_distribution(self->graph, reduced, part, actual);
    expect_same(actual, x, reduced->x_count, "reduction");
  }
}

START_TEST(reduction_forgets_dimensions) {
  for_seeds(1000, check_reduction);
}
END_TEST

/* A slice that may be refused. */
typedef struct {
  const tj_distribution *d, *sliced;
  tj_graph *graph;
  int64_t begins[MOST_X], ends[MOST_X], origin[TJ_MAX_RH];
} slicing;

static void try_slice(tj_job *job, void *data) {
  (void)job;
  slicing *self = data;
  self->sliced = tj_distribution_slice(self->graph, self->d, self->begins, self->ends, self->origin);
}

/* Whether begins … ends is the tile of (p, y) for y in a box of Ys, so that a slice exists. */
static bool is_box(const slicing *self) {
  const tj_distribution *d = self->d;
  int64_t low[TJ_MAX_RH], high[TJ_MAX_RH], lengths[TJ_MAX_DIMENSIONS], coordinate[TJ_MAX_DIMENSIONS];
  int64_t x[TJ_MAX_RH], inside = 0;
  for (uint32_t y = 0; y < d->y_count; y++) {
    low[y] = INT64_MAX;
    high[y] = -1;
  }
  memcpy(lengths, d->p_length, d->p_count * sizeof *lengths);
  memcpy(lengths + d->p_count, d->y_length, d->y_count * sizeof *lengths);
  int64_t size = product(lengths, d->p_count + d->y_count), threads = product(d->p_length, d->p_count);
  for (int64_t n = 0; n < size; n++) {
    coordinate_of((uint64_t)n, lengths, d->p_count + d->y_count, coordinate);
    tj_oracle_distribution(self->graph, d, coordinate, x);
    bool in = true;
    for (uint32_t i = 0; i < d->x_count; i++)
      in = in && x[i] >= self->begins[i] && x[i] < self->ends[i];
    inside += in;
    for (uint32_t y = 0; in && y < d->y_count; y++) {
      int64_t at = coordinate[d->p_count + y];
      low[y] = at < low[y] ? at : low[y];
      high[y] = at > high[y] ? at : high[y];
    }
  }
  int64_t box = threads;
  for (uint32_t y = 0; y < d->y_count; y++)
    box *= high[y] - low[y] + 1;
  return box == inside;
}

static void check_slice(reader *self, const void *data) {
  view_source random = {self->graph, *(const uint64_t *)data};
  slicing slice = {.graph = self->graph, .d = random_distribution(&random, 1)};
  const tj_distribution *d = slice.d;
  for (uint32_t i = 0; i < d->x_count; i++) {
    slice.begins[i] = random_between(&random, 0, d->x_length[i] - 1);
    slice.ends[i] = random_between(&random, slice.begins[i] + 1, d->x_length[i]);
  }
  bool exists = is_box(&slice);
  tj_status status = tj_job_run(self->graph->job, try_slice, &slice);
  ck_assert_msg((status == TJ_OK) == exists, "a slice that %s: %s", exists ? "exists" : "does not exist",
                status == TJ_OK ? "made" : self->graph->job->problem.message);
  if (status != TJ_OK)
    ck_assert_int_eq(self->graph->job->problem.code, TJ_DISTRIBUTION_SLICE);
  for (int n = 0; status == TJ_OK && n < SAMPLES; n++) {
    int64_t part[TJ_MAX_DIMENSIONS], whole[TJ_MAX_DIMENSIONS], x[TJ_MAX_DIMENSIONS], actual[TJ_MAX_DIMENSIONS];
    random_coordinate(&random, slice.sliced, part);
    memcpy(whole, part, sizeof part);
    for (uint32_t y = 0; y < d->y_count; y++)
      whole[d->p_count + y] += slice.origin[y];
    tj_oracle_distribution(self->graph, d, whole, x);
    tj_oracle_distribution(self->graph, slice.sliced, part, actual);
    for (uint32_t i = 0; i < d->x_count; i++)
      actual[i] += slice.begins[i];
    expect_same(actual, x, d->x_count, "slice");
  }
}

START_TEST(slices_are_parts) {
  for_seeds(2000, check_slice);
}
END_TEST

/* Every element of the tile by exactly one (p, y). */
static void check_raked(reader *self, const void *data) {
  (void)data;
  for (int pattern = TJ_RAKED_THREAD; pattern <= TJ_RAKED_BLOCK; pattern++) {
    const tj_distribution *d = tj_distribution_raked(self->graph, (tj_raked)pattern, 64, 64, 256, 8, 64);
    int64_t lengths[] = {d->p_length[0], d->p_length[1], d->y_length[0], d->y_length[1]}, coordinate[4], x[2];
    bool seen[64][64] = {{false}};
    ck_assert_int_eq(product(lengths, 4), 64 * 64);
    for (uint64_t n = 0; n < 64 * 64; n++) {
      coordinate_of(n, lengths, 4, coordinate);
      tj_oracle_distribution(self->graph, d, coordinate, x);
      ck_assert(!seen[x[0]][x[1]]);
      seen[x[0]][x[1]] = true;
    }
  }
}

START_TEST(raked_patterns_cover_the_tile) {
  run_row(check_raked, NULL, (tj_problem_code)0);
}
END_TEST

/* --- layouts as views and back --- */

static unsigned layouts_found;

/* A view that may be no layout. */
typedef struct {
  tj_graph *graph;
  const tj_view *view;
  tj_layout layout;
} flattening;

static void try_layout(tj_job *job, void *data) {
  (void)job;
  flattening *self = data;
  self->layout = tj_layout_of_view(self->graph, self->view);
}

static void check_view(reader *self, const void *data) {
  view_source random = {self->graph, *(const uint64_t *)data};
  flattening f = {.graph = self->graph, .view = random_view(&random)};
  if (tj_job_run(self->graph->job, try_layout, &f) != TJ_OK) {
    ck_assert_msg(self->graph->job->problem.code == TJ_NOT_A_LAYOUT, "%s", self->graph->job->problem.message);
    return;
  }
  layouts_found++;
  tj_text text = tj_text_begin(self->graph->job);
  tj_view_print(&text, f.view);
  ck_assert_uint_eq(tj_tuple_rank(f.layout.shape), f.view->rank);
  const tj_view *back = f.view->rank == 0 ? f.view : tj_view_of_layout(self->graph, f.layout);
  int64_t lengths[TJ_MAX_DIMENSIONS], coordinate[TJ_MAX_DIMENSIONS];
  for (uint32_t i = 0; i < f.view->rank; i++)
    lengths[i] = f.view->hidden_length[f.view->visible[i]]->value;
  for (int64_t n = 0; n < view_size(f.view) && n < 200; n++) {
    bool valid;
    coordinate_of((uint64_t)n, lengths, f.view->rank, coordinate);
    int64_t expected = tj_oracle_view(self->graph, f.view, coordinate, &valid);
    ck_assert(valid);
    const tj_tuple *place = constants_tuple(self->graph, coordinate, f.view->rank);
    place = f.layout.shape->kind == TJ_TUPLE_INTEGER ? place->item[0] : place;
    const tj_tuple *actual = tj_layout_apply(self->graph, f.layout, place);
    ck_assert_msg(tj_is_int(actual->value, expected), "%s is not %s", tj_layout_text(self->graph->job, f.layout),
                  text.data);
    ck_assert_int_eq(tj_oracle_view(self->graph, back, coordinate, &valid), expected);
  }
}

START_TEST(views_that_are_layouts) {
  layouts_found = 0;
  for_seeds(20000, check_view);
  ck_assert_uint_gt(layouts_found, 2000);
}
END_TEST

typedef struct {
  const char *guards, *layout, *expected;
} layout_row;

static void check_layout_row(reader *self, const void *data) {
  const layout_row *row = data;
  const tj_view *view = tj_view_of_layout(self->graph, read_layout(self, row->layout));
  expect_text(tj_layout_text(self->graph->job, tj_layout_of_view(self->graph, view)), row->expected, row->guards);
}

START_TEST(layouts_come_back_coalesced) {
  static const layout_row rows[] = {
      {"flat", "(4,8):(8,1)", "(4,8):(8,1)"},
      {"an integer mode", "24:3", "24:3"},
      {"hierarchical", "((2,4),8):((1,16),2)", "((2,4),8):((1,16),2)"},
      {"a mode that coalesces", "((2,4),8):((1,2),8)", "(8,8):(1,8)"},
      {"negative strides", "(4,2):(-1,4)", "(4,2):(-1,4)"},
      {"parameters", "(M,N):(N,1)", "(M,N):(N,1)"},
      {"nested twice", "((2,(2,2)),3):((1,(8,2)),16)", "((2,2,2),3):((1,8,2),16)"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    run_row(check_layout_row, &rows[i], (tj_problem_code)0);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      maps_agree_with_the_oracle,     tv_layouts_lead_back,       encodings_come_back,
      different_distributions_differ, tv_layouts_of_atoms,        embedding_nests_tiles,
      reduction_forgets_dimensions,   slices_are_parts,           raked_patterns_cover_the_tile,
      views_that_are_layouts,         layouts_come_back_coalesced};
  return run_suite(suite_of("distribution", tests, sizeof tests / sizeof *tests));
}
