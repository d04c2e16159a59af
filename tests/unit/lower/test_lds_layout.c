/* SPDX-License-Identifier: MIT */
/* The search for LDS layouts: known best layouts, and properties of whatever it chooses for random accesses. */
#include "base/text.h"
#include "ir/simplify/simplify.h"
#include "lower/access/price.h"
#include "lower/lds/lds_cycles.h"
#include "lower/lds/lds_value.h"
#include "tests/unit/support/harness.h"

#include <string.h>

enum { LANES = TJ_BANK_LANES, MOST_ACCESSES = 32, LDS = 65536 };

/* Accesses under construction, with the arrays that they borrow. */
typedef struct {
  tj_stage_access access[MOST_ACCESSES];
  uint32_t row[MOST_ACCESSES][LANES], column[MOST_ACCESSES][LANES];
  uint32_t count;
} accesses;

/* A wave moves the whole tile, or its first MOST_ACCESSES pieces: vectors of `elements` along `direction`, one lane
 * beside the next in that direction where `walks_along`, otherwise across it. */
static void cover(accesses *all, uint32_t rows, uint32_t columns, bool is_store, tj_stage_direction direction,
                  uint32_t elements, uint32_t lanes, bool walks_along, uint32_t instructions) {
  uint32_t vectors = (direction == TJ_STAGE_ROW ? columns : rows) / elements;
  uint32_t lines = direction == TJ_STAGE_ROW ? rows : columns;
  for (uint32_t i = 0; i < instructions; i++, all->count++) {
    uint32_t n = all->count;
    for (uint32_t lane = 0; lane < lanes; lane++) {
      uint32_t piece = i * lanes + lane;
      uint32_t along = (walks_along ? piece % vectors : piece / lines) * elements;
      uint32_t line = walks_along ? piece / vectors : piece % lines;
      all->row[n][lane] = direction == TJ_STAGE_ROW ? line : along;
      all->column[n][lane] = direction == TJ_STAGE_ROW ? along : line;
    }
    uint64_t active = lanes == 64 ? UINT64_MAX : UINT32_MAX;
    all->access[n] = (tj_stage_access){is_store, direction, elements, active, all->row[n], all->column[n], 0, 0};
  }
}

/* --- known layouts --- */

typedef struct {
  tj_stage_direction direction;
  uint32_t elements;
  bool walks_along;
  uint32_t instructions;
} side;

typedef struct {
  const char *processor;
  uint32_t lanes, element_bytes, rows, columns;
  side store, load;
  uint32_t bytes;
  const char *reason;
} known_row;

#define ROW TJ_STAGE_ROW
#define COLUMN TJ_STAGE_COLUMN

static const known_row known[] = {
    /* the transposition of words */
    {"gfx942",
     64,
     4,
     32,
     32,
     {ROW, 1, true, 16},
     {COLUMN, 1, true, 16},
     4220,
     "rows padded by 1 to 33 elements: 64 cycles, free of conflicts; plain would take 1056"},
    /* rows that are no power of two */
    {"gfx942",
     64,
     4,
     64,
     48,
     {ROW, 1, true, 8},
     {COLUMN, 1, true, 8},
     12412,
     "rows 48 elements apart in groups of 2, 97 apart: 32 cycles, free of conflicts; plain would take 272"},
    /* stores down rows that lie 24 words apart: every fourth row meets the same banks, whatever is swizzled */
    {"gfx1100",
     32,
     4,
     16,
     24,
     {ROW, 4, false, 3},
     {COLUMN, 2, false, 1},
     1776,
     "rows padded by 4 to 28 elements: 14 cycles, free of conflicts; plain would take 28"},
    /* halves of matrix operands: rows of 64 halves, 8 a lane, loaded down the rows */
    {"gfx942",
     64,
     2,
     64,
     64,
     {ROW, 8, true, 4},
     {ROW, 8, false, 4},
     8192,
     "Sw<3,3,3>: 64 cycles, free of conflicts; plain would take 288"},
    {"gfx1100",
     32,
     2,
     64,
     64,
     {ROW, 8, true, 4},
     {ROW, 8, false, 4},
     8192,
     "Sw<3,3,3>: 32 cycles, free of conflicts; plain would take 144"},
    /* nothing to do */
    {"gfx942", 64, 4, 32, 64, {ROW, 1, true, 4}, {ROW, 1, true, 4}, 8192, "plain: 16 cycles, free of conflicts"},
    /* columns side by side, so that each store of 4 words is 4 stores, in as many cycles */
    {"gfx942",
     64,
     4,
     64,
     64,
     {ROW, 4, true, 4},
     {COLUMN, 1, true, 16},
     16384,
     "Sw<4,1,7>: 64 cycles, free of conflicts; plain would take 544"},
    /* vectors of 8 halves along rows and along columns: one side is split into single halves */
    {"gfx942",
     64,
     2,
     64,
     64,
     {ROW, 8, true, 8},
     {COLUMN, 8, true, 8},
     8192,
     "Sw<3,3,6>: 192 cycles, free of conflicts; plain would take 1088"},
    /* vectors of 4 words both ways: 16 rows of two columns meet the 8 banks that vectors along rows leave to each */
    {"gfx942",
     64,
     4,
     64,
     64,
     {ROW, 4, true, 4},
     {COLUMN, 4, true, 4},
     16384,
     "Sw<3,2,6>: 96 cycles, 64 without conflicts; plain would take 544; vectors of 16 bytes "
     "need as many, and no layout of narrower ones that was tried does better"},
};

static void make_tile(const known_row *k, accesses *all, tj_stage_tile *tile) {
  all->count = 0;
  cover(all, k->rows, k->columns, true, k->store.direction, k->store.elements, k->lanes, k->store.walks_along,
        k->store.instructions);
  cover(all, k->rows, k->columns, false, k->load.direction, k->load.elements, k->lanes, k->load.walks_along,
        k->load.instructions);
  *tile = (tj_stage_tile){k->element_bytes,
                          k->rows,
                          k->columns,
                          all->access,
                          all->count,
                          LDS,
                          LDS,
                          NULL,
                          0,
                          NULL,
                          0,
                          0,
                          0,
                          false,
                          0,
                          NULL,
                          false,
                          0,
                          tj_line_costs_of(false)};
}

static void search_known(tj_job *job, void *data) {
  const known_row *k = data;
  accesses all;
  tj_stage_tile tile;
  tj_stage_choice choice;
  make_tile(k, &all, &tile);
  ck_assert(tj_stage_search(job, tj_bank_model_of(k->processor), &tile, &choice));
  ck_assert_str_eq(choice.reason, k->reason);
  ck_assert_uint_eq(choice.layout.bytes, k->bytes);
}

static void run(void (*body)(tj_job *, void *), const void *data) {
  tj_job job;
  tj_job_init(&job, NULL);
  expect_success(&job, body, (void *)(uintptr_t)data);
  tj_job_destroy(&job);
}

START_TEST(known_layouts) {
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
    run(search_known, &known[i]);
}
END_TEST

/* Where conflicts are too dear, what a search without limit has that is free of them, and nothing else; in vectors
 * that are not too narrow for it. */
static void search_without_conflicts(tj_job *job, void *data) {
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    accesses all;
    tj_stage_tile tile;
    tj_stage_choice choice;
    (void)data;
    make_tile(&known[i], &all, &tile);
    tile.is_calm = i % 2 == 0;
    tile.dearest = tile.is_calm ? 0 : 0.1;
    bool is_found = tj_stage_search(job, tj_bank_model_of(known[i].processor), &tile, &choice);
    ck_assert_msg(is_found == (strstr(known[i].reason, "free of conflicts") != NULL), "%s", known[i].reason);
    if (!is_found)
      continue;
    ck_assert_str_eq(choice.reason, known[i].reason);
    ck_assert_uint_eq(choice.store_cycles + choice.load_cycles, choice.store_ideal + choice.load_ideal);
  }
}

START_TEST(conflicts_may_be_too_dear) {
  run(search_without_conflicts, NULL);
}
END_TEST

static void search_small_lds(tj_job *job, void *data) {
  accesses all;
  tj_stage_tile tile;
  tj_stage_choice choice;
  make_tile(data, &all, &tile);
  tile.limit = known[2].bytes - 1;
  ck_assert(tj_stage_search(job, tj_bank_model_of("gfx1100"), &tile, &choice));
  ck_assert_uint_le(choice.layout.bytes, tile.limit);
  tile.limit = 16 * 24 * 4 - 1;
  ck_assert(!tj_stage_search(job, tj_bank_model_of("gfx1100"), &tile, &choice));
}

START_TEST(layouts_fit_into_lds) {
  run(search_small_lds, &known[2]);
}
END_TEST

/* Only paddings are free of conflicts, and with them two tiles are more than what a compute unit has: a second
 * workgroup counts for more than conflicts. Where there is room for two, or none anyhow, it does not matter. */
static const struct {
  uint32_t shared, bytes, cycles;
} residents[] = {{2 * 1536, 1536, 16}, {2 * 1776, 1776, 14}, {2 * 1536 - 1, 1776, 14}};

static void search_residents(tj_job *job, void *data) {
  for (size_t i = 0; i < sizeof residents / sizeof residents[0]; i++) {
    accesses all;
    tj_stage_tile tile;
    tj_stage_choice choice;
    make_tile(data, &all, &tile);
    tile.shared = residents[i].shared;
    ck_assert(tj_stage_search(job, tj_bank_model_of("gfx1100"), &tile, &choice));
    ck_assert_uint_eq(choice.layout.bytes, residents[i].bytes);
    ck_assert_uint_eq(choice.store_cycles + choice.load_cycles, residents[i].cycles);
  }
}

START_TEST(a_second_workgroup_has_room) {
  run(search_residents, &known[2]);
}
END_TEST

/* Every eighth half of a row, where eight halves stay together: 32 words of a phase share 8 banks. Where four do,
 * they share 16, and that is worth an instruction more. */
static void search_strided(tj_job *job, void *data) {
  (void)data;
  accesses all = {.count = 0};
  tj_stage_choice choice;
  cover(&all, 2, 512, true, ROW, 8, 64, true, 1);
  cover(&all, 2, 512, false, ROW, 1, 64, true, 1);
  for (uint32_t lane = 0; lane < LANES; lane++)
    all.column[1][lane] = lane * 8;
  tj_stage_tile tile = {2, 2, 512, all.access, all.count, LDS,  LDS,   NULL, 0,   NULL,
                        0, 0, 0,   false,      0,         NULL, false, 0,    NULL};
  ck_assert(tj_stage_search(job, tj_bank_model_of("gfx942"), &tile, &choice));
  ck_assert_uint_eq(choice.layout.direction, ROW);
  ck_assert_uint_eq(choice.layout.vector, 4);
  ck_assert_uint_eq(choice.store_cycles, 8);
  ck_assert_uint_eq(choice.load_cycles, 4);
  const tj_bank_model *model = tj_bank_model_of("gfx942");
  tj_stage_patterns patterns = tj_stage_patterns_of(job, &tile);
  ck_assert_uint_eq(tj_stage_stream_make(job, model, &patterns, ROW, 8).least, 8 + 8);
  ck_assert_uint_eq(tj_stage_stream_make(job, model, &patterns, ROW, 4).least, 8 + 4);
  ck_assert_uint_eq(tj_stage_stream_make(job, model, &patterns, ROW, 2).least, 8 + 2);
}

START_TEST(words_at_one_place_of_vectors) {
  run(search_strided, NULL);
}
END_TEST

/* --- properties --- */

typedef struct {
  tj_job *job;
  tj_graph *graph;
  const tj_bank_model *model;
  const tj_stage_tile *tile;
  uint64_t state;
} random_search;

static uint32_t below(random_search *r, uint32_t limit) {
  r->state = r->state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(r->state >> 33) % limit;
}

/* The element that (row, column) is, as the fields of a layout are defined. */
static uint32_t offset_at(const tj_stage_layout *layout, uint32_t row, uint32_t column) {
  bool by_row = layout->direction == ROW;
  uint32_t line = by_row ? row : column, along = by_row ? column : row;
  uint32_t at = line / layout->group * layout->group_pitch + line % layout->group * layout->pitch;
  at += layout->run == 0 ? along : along / layout->run * layout->run_pitch + along % layout->run;
  uint32_t mask = (1u << layout->swizzle.bits) - 1;
  return at ^ (at >> layout->swizzle.shift & mask << layout->swizzle.base);
}

/* How many neighbours one instruction of an access moves. */
static uint32_t vector_of(const random_search *r, const tj_stage_layout *layout, const tj_stage_access *access) {
  uint32_t bits = access->elements | 16 / r->tile->element_bytes;
  for (uint32_t lane = 0; lane < LANES; lane++) {
    if ((access->active >> lane & 1) != 0)
      bits |= access->direction == ROW ? access->column[lane] : access->row[lane];
  }
  uint32_t aligned = access->direction == layout->direction ? bits & -bits : 1;
  return aligned < layout->vector ? aligned : layout->vector;
}

/* The same by the value that mappings have. */
static const tj_node *value_at(random_search *r, const tj_stage_layout *layout, uint32_t row, uint32_t column) {
  static const bool is_column[] = {false, true};
  const int64_t extent[] = {r->tile->rows, r->tile->columns};
  const tj_tuple *place[] = {tj_tuple_constant(r->graph, row), tj_tuple_constant(r->graph, column)};
  const tj_tuple *at = tj_tuple_list(r->graph, place, 2);
  const tj_value *value = tj_stage_value(r->graph, layout, extent, is_column, NULL, 2);
  const tj_tuple *offset = value->kind == TJ_VALUE_COMPOSED ? tj_composed_apply(r->graph, value->composed, at)
                                                            : tj_layout_apply(r->graph, value->layout, at);
  return tj_simplified(r->graph, offset->value);
}

/* Every element at a place of its own, vectors together and aligned; as number and value alike. */
static void check_layout(random_search *r, const tj_stage_layout *layout) {
  const tj_stage_tile *tile = r->tile;
  uint32_t places = layout->bytes / tile->element_bytes;
  uint8_t *taken = TJ_NEW_ARRAY(r->job, uint8_t, places);
  for (uint32_t row = 0; row < tile->rows; row++) {
    for (uint32_t column = 0; column < tile->columns; column++) {
      uint32_t at = offset_at(layout, row, column);
      ck_assert_uint_lt(at, places);
      ck_assert_uint_eq(taken[at]++, 0);
      bool by_row = layout->direction == ROW;
      uint32_t rest = (by_row ? column : row) % layout->vector;
      uint32_t first = offset_at(layout, by_row ? row : row - rest, by_row ? column - rest : column);
      ck_assert_uint_eq(first % layout->vector, 0);
      ck_assert_uint_eq(at, first + rest);
    }
  }
  for (unsigned i = 0; i < 8; i++) {
    uint32_t row = below(r, tile->rows), column = below(r, tile->columns);
    uint32_t at = offset_at(layout, row, column);
    ck_assert(tj_is_int(value_at(r, layout, row, column), at));
  }
}

/* Cycles of stores, or of loads, as a plain count. */
static uint32_t count_cycles(const random_search *r, const tj_stage_layout *layout, bool is_store,
                             uint32_t *instructions) {
  uint32_t cycles = 0;
  for (uint32_t i = 0; i < r->tile->access_count; i++) {
    const tj_stage_access *access = &r->tile->access[i];
    uint32_t vector = vector_of(r, layout, access);
    ck_assert_uint_eq(access->elements % vector, 0);
    ck_assert(vector == 1 || (access->direction == layout->direction && vector <= layout->vector));
    for (uint32_t step = 0; access->is_store == is_store && step < access->elements; step += vector) {
      uint32_t address[LANES];
      for (uint32_t lane = 0; lane < LANES; lane++) {
        uint32_t row = access->row[lane], column = access->column[lane];
        *(access->direction == ROW ? &column : &row) += step;
        address[lane] = offset_at(layout, row, column) * r->tile->element_bytes;
      }
      cycles += tj_bank_cycles(r->model, is_store, vector * r->tile->element_bytes, address, access->active);
      ++*instructions;
    }
  }
  return cycles;
}

static void check_choice(random_search *r, const tj_stage_choice *choice) {
  uint32_t instructions = 0;
  uint32_t stores = count_cycles(r, &choice->layout, true, &instructions);
  uint32_t loads = count_cycles(r, &choice->layout, false, &instructions);
  ck_assert_uint_eq(stores, choice->store_cycles);
  ck_assert_uint_eq(loads, choice->load_cycles);
  ck_assert_uint_eq(instructions, choice->instructions);
  ck_assert_uint_le(choice->least_cycles, stores + loads);
  ck_assert_uint_le(stores + loads, choice->plain_cycles);
  for (uint32_t padding = choice->layout.vector; padding < 64; padding += choice->layout.vector) {
    tj_stage_layout padded = choice->layout;
    uint32_t width = padded.direction == ROW ? r->tile->columns : r->tile->rows;
    padded.pitch = padded.group_pitch = (width + padded.vector - 1) / padded.vector * padded.vector + padding;
    padded.group = 1;
    padded.swizzle = (tj_swizzle){0, 0, 0};
    padded.run = 0;
    uint32_t cycles = count_cycles(r, &padded, true, &instructions) + count_cycles(r, &padded, false, &instructions);
    ck_assert_uint_ge(cycles, choice->least_cycles);
    ck_assert(cycles >= stores + loads || padding >= r->model->banks * 4 / r->tile->element_bytes);
  }
}

static void random_side(random_search *r, accesses *all, bool is_store, uint32_t lanes) {
  static const uint32_t lengths[] = {1, 2, 3, 4, 8};
  uint32_t rows = r->tile->rows, columns = r->tile->columns;
  tj_stage_direction direction = below(r, 2) == 0 ? ROW : COLUMN;
  uint32_t elements = lengths[below(r, 5)], extent = direction == ROW ? columns : rows;
  elements = extent % elements == 0 ? elements : 1;
  uint32_t most = rows * columns / elements / lanes;
  if (most > 0)
    cover(all, rows, columns, is_store, direction, elements, lanes, below(r, 2) == 0,
          1 + below(r, most > 4 ? 4 : most));
}

/* What is searched for layouts without conflicts has none; and there are some where one of the widest vectors, which
 * come first, is known. */
static void check_calm(random_search *r, const tj_stage_choice *known_choice) {
  tj_stage_tile tile = *r->tile;
  tj_stage_choice choice;
  tile.is_calm = true;
  const tj_stage_patterns patterns = tj_stage_patterns_of(r->job, &tile);
  const bool is_widest = known_choice->layout.vector == tj_stage_widest(&patterns, ROW);
  const bool is_calm =
      known_choice->store_cycles + known_choice->load_cycles == known_choice->store_ideal + known_choice->load_ideal;
  const bool is_found = tj_stage_search(r->job, r->model, &tile, &choice);
  ck_assert(is_found || !is_calm || !is_widest);
  if (!is_found)
    return;
  check_layout(r, &choice.layout);
  check_choice(r, &choice);
  ck_assert_uint_eq(choice.store_cycles + choice.load_cycles, choice.store_ideal + choice.load_ideal);
}

static void search_random(tj_job *job, void *data) {
  static const char *const processors[] = {"gfx942", "gfx950", "gfx1100"};
  static const uint32_t extents[] = {8, 12, 16, 24, 32, 33, 40, 64};
  uint64_t seed = *(const uint64_t *)data;
  random_search r = {.job = job, .graph = tj_graph_create(job), .state = seed};
  uint32_t processor = below(&r, 3), lanes = processor == 2 ? 32 : 64;
  accesses all = {.count = 0};
  tj_stage_tile tile = {1u << below(&r, 5),
                        extents[below(&r, 8)],
                        extents[below(&r, 8)],
                        all.access,
                        0,
                        2 * LDS,
                        2 * LDS,
                        NULL,
                        0,
                        NULL,
                        0,
                        0,
                        0,
                        false,
                        0,
                        NULL,
                        false,
                        0,
                        NULL};
  r.tile = &tile;
  r.model = tj_bank_model_of(processors[processor]);
  random_side(&r, &all, true, lanes);
  random_side(&r, &all, false, lanes);
  uint32_t halves[] = {(tile.columns + 3) / 4, (tile.columns + 1) / 2};
  tile.run = halves;
  tile.run_count = 2;
  tile.access_count = all.count;
  tj_stage_choice choice;
  ck_assert(tj_stage_search(job, r.model, &tile, &choice));
  check_layout(&r, &choice.layout);
  check_choice(&r, &choice);
  check_calm(&r, &choice);
  tile.costs = tj_line_costs_of(below(&r, 2) == 0);
  tile.dearest = tj_cost_of_conflicts(tile.costs, choice.store_cycles + choice.load_cycles,
                                      choice.store_ideal + choice.load_ideal);
  if (tile.dearest > 0 && tj_stage_search(job, r.model, &tile, &choice))
    ck_assert_double_lt(tj_cost_of_conflicts(tile.costs, choice.store_cycles + choice.load_cycles,
                                             choice.store_ideal + choice.load_ideal),
                        tile.dearest);
}

/* --- counted cycles --- */

/* A layout of any form that puts no two elements in one place. */
static tj_stage_layout random_layout(random_search *r, tj_stage_direction direction, uint32_t vector) {
  uint32_t lines = direction == ROW ? r->tile->rows : r->tile->columns,
           along = direction == ROW ? r->tile->columns : r->tile->rows, units = (along + vector - 1) / vector;
  tj_stage_layout layout = {.direction = direction, .vector = vector, .group = 1 + below(r, lines)};
  layout.pitch = units * vector + below(r, 5) * vector;
  if (below(r, 3) == 0) {
    layout.run = (1 + below(r, units)) * vector;
    layout.run_pitch = layout.run + below(r, 3) * vector;
    layout.pitch = (along + layout.run - 1) / layout.run * layout.run_pitch + below(r, 5) * vector;
  }
  layout.group_pitch = layout.group * layout.pitch + below(r, 5) * vector;
  if (layout.run == 0 && below(r, 3) == 0) {
    int32_t bits = 1 + (int32_t)below(r, 3), base = __builtin_ctz(vector) + (int32_t)below(r, 3);
    layout.swizzle = (tj_swizzle){bits, base, bits + (int32_t)below(r, 4)};
  }
  return layout;
}

/* Of layouts that follow a first one by a step, those that surely have conflicts have them. */
static void check_steps(random_search *r, tj_stage_counter *counter, const tj_stage_layout *first) {
  const uint32_t vector = counter->stream->vector, pitch = below(r, 3) * vector, group_pitch = below(r, 4) * vector;
  tj_stage_layout layout = *first, next = *first;
  next.pitch += pitch;
  next.group_pitch += group_pitch;
  tj_stage_form *form = tj_stage_form_of(counter, first);
  const uint64_t calm = tj_stage_calm_steps(counter, form, first, &next);
  for (unsigned step = 0; step < 64; step++) {
    if ((calm >> step & 1) == 0)
      ck_assert_uint_gt(tj_stage_cycles_below(counter, form, &layout, UINT32_MAX), counter->stream->least);
    layout.pitch += pitch;
    layout.group_pitch += group_pitch;
  }
}

/* Random layouts of whose forms some come again: classes that are found once hold for all of them. */
static void count_random(tj_job *job, void *data) {
  static const uint32_t extents[] = {8, 12, 24, 33, 40};
  random_search r = {.job = job, .graph = tj_graph_create(job), .state = *(const uint64_t *)data};
  r.model = tj_bank_model_of(below(&r, 2) == 0 ? "gfx942" : "gfx1100");
  accesses all = {.count = 0};
  tj_stage_tile tile = {.element_bytes = 1u << below(&r, 4),
                        .rows = extents[below(&r, 5)],
                        .columns = extents[below(&r, 5)],
                        .access = all.access};
  r.tile = &tile;
  random_side(&r, &all, true, LANES / 2);
  random_side(&r, &all, false, LANES / 2);
  tile.access_count = all.count;
  const tj_stage_patterns patterns = tj_stage_patterns_of(job, &tile);
  const tj_stage_direction direction = below(&r, 2) == 0 ? ROW : COLUMN;
  const uint32_t vector = tj_stage_widest(&patterns, direction);
  tj_stage_stream stream = tj_stage_stream_make(job, r.model, &patterns, direction, vector);
  uint64_t counted = 0;
  tj_stage_counter counter = {.stream = &stream, .counted = &counted};
  tj_stage_find_places(&stream);
  for (unsigned i = 0; i < 16; i++) {
    const tj_stage_layout layout = random_layout(&r, direction, vector);
    tj_stage_form *form = tj_stage_form_of(&counter, &layout);
    uint32_t instructions = 0, store, load, all_cycles = tj_stage_cycles_below(&counter, form, &layout, UINT32_MAX);
    tj_stage_cycles_by_side(&counter, form, &layout, &store, &load);
    ck_assert_uint_eq(store, count_cycles(&r, &layout, true, &instructions));
    ck_assert_uint_eq(load, count_cycles(&r, &layout, false, &instructions));
    ck_assert_uint_eq(all_cycles, store + load);
    ck_assert_uint_eq(stream.count, instructions);
    ck_assert_uint_le(stream.least, all_cycles);
    ck_assert(tj_stage_is_calm(&counter, form, &layout) == (all_cycles == stream.least));
    if (layout.swizzle.bits == 0 && stream.least == stream.store_ideal + stream.load_ideal)
      check_steps(&r, &counter, &layout);
  }
}

START_TEST(cycles_of_random_layouts) {
  for (uint64_t seed = 0; seed < 400; seed++)
    run(count_random, &seed);
}
END_TEST

/* Tiles whose elements do not fill what a swizzle moves about: the last ones go beyond the tile's own bytes. */
static const known_row rounded[] = {
    {"gfx1201",
     32,
     8,
     162,
     12,
     {COLUMN, 2, false, 1},
     {ROW, 2, true, 3},
     15616,
     "Sw<1,3,1>: 18 cycles, 16 without conflicts; plain would take 20; the best of 307 layouts, with room for 4 "
     "workgroups; at least 16 are needed"},
    {"gfx1100",
     32,
     8,
     12,
     162,
     {COLUMN, 2, true, 3},
     {ROW, 2, false, 1},
     15616,
     "Sw<1,3,1>: 18 cycles, 16 without conflicts; plain would take 20; the best of 1256 layouts, with room for "
     "4 workgroups; at least 16 are needed"},
};

static void search_rounded(tj_job *job, void *data) {
  const known_row *k = data;
  accesses all;
  tj_stage_tile tile;
  tj_stage_choice choice;
  search_known(job, data);
  make_tile(k, &all, &tile);
  random_search r = {job, tj_graph_create(job), tj_bank_model_of(k->processor), &tile, 1};
  ck_assert(tj_stage_search(job, r.model, &tile, &choice));
  ck_assert_uint_gt(choice.layout.bytes, k->rows * k->columns * k->element_bytes);
  check_layout(&r, &choice.layout);
}

START_TEST(swizzled_tiles_are_rounded_up) {
  for (size_t i = 0; i < sizeof rounded / sizeof rounded[0]; i++)
    run(search_rounded, &rounded[i]);
}
END_TEST

START_TEST(random_tiles) {
  for (uint64_t seed = 0; seed < 400; seed++)
    run(search_random, &seed);
}
END_TEST

/* Lanes want a vector of each of four runs in six rows: no swizzle keeps six from the two of the next run. */
static void search_runs(tj_job *job, void *data) {
  (void)data;
  enum { RUN = 32, RUNS = 4, ROWS = 6 };
  static const uint32_t run_length[] = {RUN};
  accesses all = {.count = 0};
  cover(&all, ROWS, RUN * RUNS, true, ROW, 4, 64, true, 1);
  cover(&all, ROWS, RUN * RUNS, false, ROW, 4, 64, true, 3);
  for (uint32_t lane = 0; lane < LANES; lane++) {
    all.row[0][lane] = lane % ROWS;
    all.column[0][lane] = lane / ROWS % RUNS * RUN + lane / (ROWS * RUNS) * 4;
  }
  tj_stage_tile tile = {4, ROWS, RUN * RUNS, all.access, all.count, LDS,  LDS,   NULL, 0,   run_length,
                        1, 0,    0,          false,      0,         NULL, false, 0,    NULL};
  random_search r = {job, tj_graph_create(job), tj_bank_model_of("gfx1201"), &tile, 1};
  tj_stage_choice choice;
  ck_assert(tj_stage_search(job, r.model, &tile, &choice));
  ck_assert_str_eq(choice.reason,
                   "rows 172 elements apart, of runs of 32 elements 40 apart: 32 cycles, free of conflicts; "
                   "plain would take 88");
  check_layout(&r, &choice.layout);
}

START_TEST(runs_that_lie_apart) {
  run(search_runs, NULL);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {known_layouts,
                                layouts_fit_into_lds,
                                a_second_workgroup_has_room,
                                words_at_one_place_of_vectors,
                                random_tiles,
                                swizzled_tiles_are_rounded_up,
                                cycles_of_random_layouts,
                                runs_that_lie_apart,
                                conflicts_may_be_too_dear};
  return run_suite(suite_of("stage", tests, sizeof tests / sizeof tests[0]));
}
