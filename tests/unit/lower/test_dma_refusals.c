/* SPDX-License-Identifier: MIT */
/* Refusals of tensor DMA: where a plan takes several instructions for a tile, or there is none, no single instruction
 * does either. Small tiles against every box, every clamped extent, pad and iteration of a descriptor, and every
 * base, stride and extent of a tensor map, by formulas of their own. Engines have two dimensions here, so that all
 * can be tried. */
#include "tests/unit/support/dma_cases.h"

enum { CASES = 1000, MOST_ELEMENTS = 24, MOST_TILES = 24 };

/* What a tile has to have, in order of LDS. */
typedef struct {
  int64_t count, place[MOST_ELEMENTS], address[MOST_ELEMENTS];
} wanted_tile;

typedef struct {
  wanted_tile tile[MOST_TILES];
  uint32_t tile_count;
  int64_t lowest, highest; /* addresses */
} wanted_tiles;

static wanted_tile in_order(const lds_image *image) {
  wanted_tile w = {.count = 0};
  for (int64_t i = 0; i < MOST_LDS_ELEMENTS; i++) {
    if (image->at[i] == LDS_NOTHING)
      continue;
    w.place[w.count] = i;
    w.address[w.count++] = image->at[i] == LDS_FILL ? LDS_FILL : image->at[i] / image->unit_bytes;
  }
  return w;
}

static wanted_tiles want_all(const dma_case *c) {
  static lds_image image;
  wanted_tiles all = {.lowest = INT64_MAX, .highest = -1};
  int64_t grid[4], at[4] = {0};
  grid_of(c, grid);
  do {
    int64_t origin[4];
    for (uint32_t m = 0; m < c->rank; m++)
      origin[m] = at[m] * c->tile[m];
    want_tile(c, c->request.lds, origin, c->request.element_bytes, &image);
    wanted_tile w = in_order(&image);
    for (int64_t i = 0; i < w.count; i++) {
      if (w.address[i] == LDS_FILL)
        continue;
      all.lowest = w.address[i] < all.lowest ? w.address[i] : all.lowest;
      all.highest = w.address[i] > all.highest ? w.address[i] : all.highest;
    }
    all.tile[all.tile_count++] = w;
  } while (advance(at, grid, c->rank));
  return all;
}

/* --- descriptors --- */

enum { UNKNOWN = -1 };

/* A box of rows and iterations; what is clamped; a pad after each interval of elements; steps in memory. */
typedef struct {
  int64_t row, rows, times, valid, valid_rows, interval, pad, stride, step;
} shape_of_descriptor;

static bool places_agree(const shape_of_descriptor *s, const wanted_tile *w) {
  int64_t step = s->times > 1 ? w->place[s->row * s->rows] - w->place[0] : 0;
  for (int64_t n = 0; n < w->count; n++) {
    int64_t in_box = n % (s->row * s->rows);
    int64_t pads = s->interval == 0 ? 0 : in_box / s->interval * s->pad;
    if (w->place[n] != w->place[0] + n / (s->row * s->rows) * step + in_box + pads)
      return false;
  }
  return true;
}

static bool is_step(int64_t *known, int64_t step, int64_t least) {
  bool agrees = step >= least && (*known == UNKNOWN || *known == step);
  *known = agrees ? step : *known;
  return agrees;
}

/* Whether addresses are those of some base, and of strides as far as elements decide them. */
static bool addresses_agree(shape_of_descriptor *s, const wanted_tile *w) {
  int64_t base = w->address[0];
  bool is_empty = s->valid == 0 || s->valid_rows == 0;
  if (!is_empty && base < 0)
    return false;
  if (!is_empty && s->valid_rows > 1 && !is_step(&s->stride, w->address[s->row] - base, 1))
    return false;
  if (!is_empty && s->times > 1 && !is_step(&s->step, w->address[s->row * s->rows] - base, 0))
    return false;
  for (int64_t n = 0; n < w->count; n++) {
    int64_t x = n % s->row, y = n / s->row % s->rows, times = n / (s->row * s->rows);
    bool is_inside = x < s->valid && y < s->valid_rows;
    if (w->address[n] != (is_inside ? base + x + y * s->stride + times * s->step : LDS_FILL))
      return false;
  }
  return true;
}

static bool some_clamp_serves(shape_of_descriptor *s, const wanted_tile *w) {
  for (s->valid = 0; s->valid <= s->row; s->valid++) {
    for (s->valid_rows = 0; s->valid_rows <= s->rows; s->valid_rows++) {
      shape_of_descriptor tried = *s;
      if (!addresses_agree(&tried, w))
        continue;
      s->stride = tried.stride;
      s->step = tried.step;
      return true;
    }
  }
  return false;
}

static bool shape_serves(shape_of_descriptor s, const wanted_tiles *all) {
  s.stride = s.step = UNKNOWN;
  for (uint32_t i = 0; i < all->tile_count; i++) {
    if (!places_agree(&s, &all->tile[i]) || !some_clamp_serves(&s, &all->tile[i]))
      return false;
  }
  return true;
}

/* Whether `serves` with some pad, or none. */
static bool some_pad_serves(shape_of_descriptor s, const wanted_tiles *all, int64_t element_bytes,
                            bool (*serves)(shape_of_descriptor, const wanted_tiles *)) {
  if (serves(s, all))
    return true;
  for (int64_t dwords = 2; s.times == 1 && dwords <= 256; dwords *= 2) {
    for (int64_t pad = 1; pad <= 128; pad++) {
      s.interval = dwords * 4 / element_bytes;
      s.pad = pad * 4 / element_bytes;
      if (dwords * 4 % element_bytes == 0 && pad * 4 % element_bytes == 0 && s.row * element_bytes % 4 == 0 &&
          serves(s, all))
        return true;
    }
  }
  return false;
}

/* Descriptors of all tiles have one shape and the same strides; where they begin and what is clamped is each its own.
 */
static bool descriptors_serve(const wanted_tiles *all, int64_t element_bytes) {
  int64_t count = all->tile[0].count;
  for (int64_t row = 1; row <= count; row++) {
    for (int64_t rows = 1; rows <= count / row; rows++) {
      shape_of_descriptor s = {.row = row, .rows = rows, .times = count / (row * rows)};
      if (s.times * row * rows == count && some_pad_serves(s, all, element_bytes, shape_serves))
        return true;
    }
  }
  return false;
}

/* --- gathers --- */

/* Rows of LDS, each of which is a run of memory and fills behind it, as long as that of all others, or all fills:
 * their indices count elements, and one is behind the tensor. */
static bool rows_agree(const wanted_tile *w, int64_t row, int64_t valid) {
  for (int64_t n = 0; n < w->count; n++) {
    int64_t first = w->address[n - n % row], x = n % row;
    bool is_filled = first == LDS_FILL || x >= valid;
    if (w->address[n] != (is_filled ? LDS_FILL : first + x))
      return false;
  }
  return true;
}

static bool some_row_serves(const wanted_tile *w, int64_t row) {
  for (int64_t valid = 0; valid <= row; valid++) {
    if (rows_agree(w, row, valid))
      return true;
  }
  return false;
}

static bool gather_serves(shape_of_descriptor s, const wanted_tiles *all) {
  for (uint32_t i = 0; i < all->tile_count; i++) {
    if (!places_agree(&s, &all->tile[i]) || !some_row_serves(&all->tile[i], s.row))
      return false;
  }
  return true;
}

static bool some_gather_serves(const wanted_tiles *all, int64_t element_bytes) {
  int64_t count = all->tile[0].count;
  for (int64_t row = 1; row <= count; row++) {
    shape_of_descriptor s = {.row = row, .rows = count / row, .times = 1};
    if (count % row == 0 && s.rows <= TJ_DMA_MOST_ROWS && some_pad_serves(s, all, element_bytes, gather_serves))
      return true;
  }
  return false;
}

/* --- tensor maps --- */

typedef struct {
  int64_t unit;                            /* of where boxes begin in a row */
  int64_t base, extent[2], stride, box[2]; /* elements */
} small_map;

static bool box_agrees(const small_map *m, const wanted_tile *w, int64_t x, int64_t y) {
  if (x % m->unit != 0)
    return false;
  for (int64_t n = 0; n < w->count; n++) {
    int64_t along = x + n % m->box[0], row = y + n / m->box[0];
    bool is_inside = along >= 0 && along < m->extent[0] && row >= 0 && row < m->extent[1];
    if (w->address[n] != (is_inside ? m->base + along + row * m->stride : LDS_FILL))
      return false;
  }
  return true;
}

/* Whether some coordinates are this tile's: those that bring its first element that is no fill to its address. */
static bool some_box_serves(const small_map *m, const wanted_tile *w) {
  int64_t n = 0;
  while (n < w->count && w->address[n] == LDS_FILL)
    n++;
  if (n == w->count)
    return true;
  for (int64_t row = 0; row < m->extent[1]; row++) {
    int64_t along = w->address[n] - m->base - row * m->stride;
    if (along >= 0 && along < m->extent[0] && box_agrees(m, w, along - n % m->box[0], row - n / m->box[0]))
      return true;
  }
  return false;
}

static bool map_serves(const small_map *m, const wanted_tiles *all) {
  for (uint32_t i = 0; i < all->tile_count; i++) {
    if (!some_box_serves(m, &all->tile[i]))
      return false;
  }
  return true;
}

static bool is_compact(const wanted_tile *w) {
  return w->place[0] == 0 && w->place[w->count - 1] == w->count - 1;
}

/* `unit`: elements of 16 bytes. Extents and strides beyond all addresses are as good as those that reach them. */
static bool some_map_serves(const wanted_tiles *all, int64_t unit) {
  int64_t count = all->tile[0].count, span = all->highest + 2 * unit;
  if (!is_compact(&all->tile[0]))
    return false;
  if (all->highest < 0)
    return count % unit == 0;
  small_map m = {.unit = unit};
  for (m.box[0] = unit; m.box[0] <= count; m.box[0] += unit) {
    m.box[1] = count / m.box[0];
    if (m.box[0] * m.box[1] != count)
      continue;
    for (m.base = all->lowest / unit * unit; m.base >= 0; m.base -= unit) {
      for (m.stride = unit; m.stride <= span; m.stride += unit) {
        for (m.extent[0] = 1; m.extent[0] <= span; m.extent[0]++) {
          for (m.extent[1] = 1; m.extent[1] <= span / m.stride + 1; m.extent[1]++) {
            if (map_serves(&m, all))
              return true;
          }
        }
      }
    }
  }
  return false;
}

/* --- cases --- */

typedef struct {
  const char *processor;
  uint64_t seed;
  dma_spread spread;
  uint32_t element_bytes;
  int compared, refused;
} refusals;

static void run_case(tj_job *job, void *data) {
  refusals *r = data;
  job->fuel = UINT64_MAX;
  view_source from = {tj_graph_create(job), r->seed};
  tj_dma_engine engine = *tj_dma_engine_of(r->processor);
  engine.dimensions = 2;
  if (engine.iterated_dimensions > 0)
    engine.iterated_dimensions = 2;
  dma_case c = random_case(&from, &engine, &r->spread, r->element_bytes);
  int64_t grid[4];
  while (grid_of(&c, grid) > MOST_TILES)
    c = random_case(&from, &engine, &r->spread, r->element_bytes);
  c.request.lds = random_lds(&from, &c, &r->spread, false);
  tj_dma_plan plan = tj_dma_plan_of(&c.request);
  wanted_tiles all = want_all(&c);
  r->compared++;
  if (plan.obstacle == NULL && plan.instructions == 1)
    return;
  r->refused++;
  bool is_map = engine.kind == TJ_DMA_TENSOR_MAP;
  bool has_axes = plan.engine != NULL, serves;
  if (is_map)
    serves = some_map_serves(&all, 16 / r->element_bytes);
  else
    serves = descriptors_serve(&all, r->element_bytes) || (has_axes && some_gather_serves(&all, r->element_bytes));
  ck_assert_msg(!serves, "%s: one instruction does it, but: %s, %d instructions", say_case(&c, r->seed),
                plan.obstacle != NULL ? plan.obstacle : "a plan", (int)plan.instructions);
}

static void run_cases(refusals r) {
  for (uint64_t i = 0; i < CASES; i++) {
    tj_job job;
    tj_job_init(&job, NULL);
    r.seed = 0x9e3779b97f4a7c15u * (i + 1);
    expect_success(&job, run_case, &r);
    tj_job_destroy(&job);
  }
  ck_assert_int_ge(r.refused, CASES / 10);
  ck_assert_int_ge(r.compared - r.refused, CASES / 10);
}

START_TEST(no_descriptor_serves) {
  run_cases((refusals){.processor = "gfx1250", .spread = {6, MOST_ELEMENTS, 3, 2, 2}, .element_bytes = 4});
}
END_TEST

START_TEST(no_tensor_map_serves) {
  run_cases((refusals){.processor = "sm_90", .spread = {4, MOST_ELEMENTS, 2, 2, 2}, .element_bytes = 8});
}
END_TEST

int main(void) {
  const TTest *const tests[] = {no_descriptor_serves, no_tensor_map_serves};
  return run_suite(suite_of("dma refusals", tests, sizeof tests / sizeof *tests));
}
