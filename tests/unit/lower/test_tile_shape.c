/* SPDX-License-Identifier: MIT */
/* Tiles that are chosen for random problems: what they promise of lines against lines that are counted one by one,
 * that they fit, and that their work-items take every element: none twice where they share LDS. And
 * grids, which tell where phases of LDS are whole. */
#include "lower/shape/tile_mapping.h"

#include "ir/index/eval.h"
#include "tests/unit/support/harness.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 400, MOST_MODES = 5, MOST_PLACES = 1 << 18, LINE = 128 };

static uint64_t state = 0x9e3779b97f4a7c15u;

static int64_t random_below(int64_t limit) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (int64_t)(state % (uint64_t)limit);
}

/* --- random problems: dense tensors in two orders --- */

typedef struct {
  tj_shape_problem problem;
  int64_t stride[TJ_SIDES][MOST_MODES];
} random_problem;

static int64_t random_extent(void) {
  static const int64_t usual[] = {2, 3, 5, 7, 8, 15, 16, 28, 32, 48, 64, 75, 96, 128, 299, 1000};
  return usual[random_below((int64_t)(sizeof usual / sizeof *usual))];
}

static void shuffle(uint32_t order[], uint32_t count) {
  for (uint32_t i = count; i-- > 1;) {
    uint32_t other = (uint32_t)random_below(i + 1), last = order[i];
    order[i] = order[other];
    order[other] = last;
  }
}

/* The side's tensor is dense, or padded after its first mode. */
static void lay_out(random_problem *r, tj_side_name side) {
  tj_shape_problem *p = &r->problem;
  int64_t stride = 1, padding = random_below(3) == 0 ? random_below(9) : 0;
  for (uint32_t i = 0; i < p->count; i++) {
    uint32_t mode = p->order[side][i];
    int64_t bytes = stride * p->bytes[side], grain = bytes & -bytes;
    r->stride[side][mode] = stride;
    p->mode[mode].step[side] = (tj_run_step){grain < LINE ? grain : LINE, i != 1 || padding == 0};
    stride = stride * p->mode[mode].extent + (i == 0 ? padding : 0);
  }
}

static random_problem make_problem(void) {
  random_problem r = {.problem = {.count = 1 + (uint32_t)random_below(MOST_MODES),
                                  .slot_bytes = 256,
                                  .slot_limit = 256,
                                  .tile_bytes = 256 * 1024,
                                  .lds_bytes = 61440,
                                  .lds_phase = (int64_t)8 << random_below(2),
                                  .line_bytes = LINE,
                                  .wave_size = 64,
                                  .workgroup_limit = 1024,
                                  .may_stage = true,
                                  .may_pass = true}};
  tj_shape_problem *p = &r.problem;
  int64_t bytes = (int64_t)1 << random_below(5);
  p->sector_bytes = random_below(2) == 0 ? 0 : LINE / 4;
  p->costs = tj_line_costs_of(p->sector_bytes > 0);
  p->bytes[TJ_SOURCE] = p->bytes[TJ_DESTINATION] = p->carried_bytes = bytes;
  p->width[TJ_SOURCE] = p->width[TJ_DESTINATION] = 16 / bytes;
  for (uint32_t m = 0; m < p->count; m++) {
    int64_t extent = random_extent();
    p->mode[m] = (tj_shape_mode){.least = extent, .extent = extent};
    p->order[TJ_SOURCE][m] = p->order[TJ_DESTINATION][m] = m;
  }
  shuffle(p->order[TJ_SOURCE], p->count);
  shuffle(p->order[TJ_DESTINATION], p->count);
  lay_out(&r, TJ_SOURCE);
  lay_out(&r, TJ_DESTINATION);
  return r;
}

/* --- grids --- */

START_TEST(grids_reach_every_value) {
  for (int round = 0; round < 20000; round++) {
    int64_t count[4], most = 64 * (1 + random_below(16));
    uint32_t digits = 1 + (uint32_t)random_below(4);
    for (uint32_t i = 0; i < digits; i++)
      count[i] = 1 + random_below(300);
    tj_lane_grid grid;
    tj_lane_grid_make(count, digits, most, 8, &grid);
    ck_assert_int_le(grid.lanes, most);
    for (uint32_t i = 0; i < digits; i++) {
      const tj_grid_digit *d = &grid.digit[i];
      ck_assert_int_eq(tj_grid_digit_start(d, 0), 0);
      ck_assert_int_eq(tj_grid_digit_start(d, d->slots - 1) + d->lanes, d->count);
      for (int64_t slot = 1; slot < d->slots; slot++)
        ck_assert_int_le(tj_grid_digit_start(d, slot), tj_grid_digit_start(d, slot - 1) + d->lanes);
    }
    double use = tj_lane_grid_use(&grid, most);
    ck_assert(use > 0 && use <= 1);
  }
}
END_TEST

/* By definition: where slots begin among all values, one digit after the other. */
static bool begins_with_phases(const tj_lane_grid *grid) {
  int64_t before = 1;
  for (uint32_t i = 0; i < grid->count; i++) {
    for (int64_t slot = 0; slot < grid->digit[i].slots; slot++) {
      if (tj_grid_digit_start(&grid->digit[i], slot) * before % grid->phase != 0)
        return false;
    }
    before *= grid->digit[i].count;
  }
  return true;
}

START_TEST(grids_tell_whole_phases) {
  int kept = 0, rounds = 20000;
  for (int round = 0; round < rounds; round++) {
    int64_t count[3] = {1 + random_below(30), 1 + random_below(30), 1 + random_below(300)};
    tj_lane_grid grid;
    tj_lane_grid_make(count, 3, 64 * (1 + random_below(16)), (int64_t)8 << random_below(2), &grid);
    ck_assert_int_eq(tj_lane_grid_keeps_phases(&grid), begins_with_phases(&grid));
    kept += tj_lane_grid_keeps_phases(&grid);
  }
  ck_assert(kept > 0 && kept < rounds);
}
END_TEST

/* Lanes of a cut digit are rounded up as far as that takes no more slots. */
static const struct {
  int64_t phase, before, count, work_items, lanes, slots;
  bool keeps_phases;
} cuts[] = {
    {8, 1, 600, 256, 200, 3, true},  /* even as it is */
    {8, 1, 572, 256, 192, 3, false}, /* by phases, but the last slot begins 4 beyond one */
    {8, 16, 19, 256, 16, 2, true},   /* eights, though each value fills phases */
    {8, 12, 112, 320, 24, 5, true},  /* eights */
    {8, 12, 112, 256, 20, 6, true},  /* there is no room for 24, and 19 would begin within phases */
    {8, 12, 113, 256, 20, 6, false}, /* the last slot begins at an odd value */
    {8, 11, 112, 256, 23, 5, false}, /* no number below 24 fills phases */
    {8, 44, 32, 320, 7, 5, false},   /* nor has 8 room */
    {8, 44, 32, 384, 8, 4, true},    /* where it has */
    {16, 16, 19, 256, 16, 2, true},  /* sixteens */
    {16, 12, 112, 256, 20, 6, true}, /* fours, which fill phases */
    {16, 12, 112, 144, 12, 10, true},
};

START_TEST(grids_cut_by_phases) {
  for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
    int64_t count[] = {cuts[i].before, cuts[i].count};
    tj_lane_grid grid;
    tj_lane_grid_make(count, 2, cuts[i].work_items, cuts[i].phase, &grid);
    ck_assert_int_eq(grid.digit[1].lanes, cuts[i].lanes);
    ck_assert_int_eq(grid.digit[1].slots, cuts[i].slots);
    ck_assert_int_eq(tj_lane_grid_keeps_phases(&grid), cuts[i].keeps_phases);
  }
}
END_TEST

/* --- elements --- */

typedef struct {
  const random_problem *random;
  const tj_tile_shape *shape;
  uint8_t *taken; /* by place in the tile's room */
  size_t number;  /* of a row of turns */
} coverage;

static int64_t room_of(const coverage *c) {
  int64_t room = 1;
  for (uint32_t m = 0; m < c->random->problem.count; m++)
    room *= tj_shape_room(c->shape, m);
  return room;
}

/* A side of a mapping, as the expressions of a work-item. */
typedef struct {
  const tj_node *item;
  uint32_t items, slots;
  const tj_mapping_place *place; /* by slot */
  const tj_node **active;
} held_side;

static held_side hold(tj_graph *graph, const coverage *c, tj_side_name name) {
  const tj_mapping *mapping = tj_mapping_of_shape(graph, &c->random->problem, c->shape, NULL, NULL);
  const tj_mapping_side *side = name == TJ_SOURCE ? &mapping->load : &mapping->store;
  held_side held = {.items = tj_mapping_work_items(graph, side), .slots = side->slots};
  tj_mapping_place *place = TJ_NEW_ARRAY(graph->job, tj_mapping_place, held.slots);
  held.active = TJ_NEW_ARRAY(graph->job, const tj_node *, held.slots);
  held.item = tj_coordinate(graph, "t", tj_int(graph, held.items));
  held.place = place;
  const tj_node *item = tj_mapping_item(graph, side, held.item);
  const tj_node *const *digits = tj_mapping_item_digits(graph, side, item, false);
  for (uint32_t slot = 0; slot < held.slots; slot++) {
    place[slot] = tj_mapping_at(graph, mapping, side, digits, slot, c->shape->is_staged && name == TJ_SOURCE);
    held.active[slot] = tj_and(graph, place[slot].is_there, tj_less(graph, item, tj_int(graph, side->items)));
  }
  return held;
}

static int64_t place_at(const coverage *c, const held_side *side, uint32_t slot, const tj_bindings *bindings) {
  uint32_t modes = c->random->problem.count;
  int64_t place[MOST_MODES], at = 0, scale = 1;
  ck_assert_int_eq(tj_eval_nodes(side->place[slot].digit, modes, bindings, place), TJ_EVAL_OK);
  for (uint32_t m = 0; m < modes; m++) {
    ck_assert(place[m] >= 0 && place[m] < tj_shape_room(c->shape, m));
    at += place[m] * scale;
    scale *= tj_shape_room(c->shape, m);
  }
  return at;
}

static void take_elements(coverage *c, const held_side *side) {
  int64_t values[64] = {0};
  tj_bindings bindings = {.value = values, .count = side->item->symbol->index + 1};
  for (int64_t lane = 0; lane < side->items; lane++) {
    values[side->item->symbol->index] = lane;
    for (uint32_t slot = 0; slot < side->slots; slot++) {
      int64_t is_active;
      ck_assert_int_eq(tj_eval_nodes(&side->active[slot], 1, &bindings, &is_active), TJ_EVAL_OK);
      if (is_active)
        c->taken[place_at(c, side, slot, &bindings)]++;
    }
  }
}

static void check_side(tj_job *job, coverage *c, tj_side_name side) {
  tj_graph *graph = tj_graph_create(job);
  held_side held = hold(graph, c, side);
  int64_t room = room_of(c);
  ck_assert_int_le(room, MOST_PLACES);
  memset(c->taken, 0, (size_t)room);
  take_elements(c, &held);
  for (int64_t place = 0; place < room; place++) {
    ck_assert_int_ge(c->taken[place], 1);
    if (c->shape->is_staged && side == TJ_SOURCE)
      ck_assert_int_eq(c->taken[place], 1);
  }
}

static void check_shape(tj_job *job, void *data) {
  coverage *c = data;
  if (c->shape->is_staged)
    check_side(job, c, TJ_SOURCE);
  check_side(job, c, TJ_DESTINATION);
}

START_TEST(work_items_take_every_element) {
  uint8_t *taken = malloc(MOST_PLACES);
  ck_assert_ptr_nonnull(taken);
  for (int round = 0; round < ROUNDS / 20; round++) {
    random_problem r = make_problem();
    tj_tile_shape shape;
    if (tj_choose_tile_shapes(&r.problem, &shape, 1) == 0 || shape.extent[0] * 4 > MOST_PLACES)
      continue;
    shape.turn = random_below(2) == 0 ? shape.turn : 4;
    tj_job job;
    tj_job_init(&job, NULL);
    coverage c = {&r, &shape, taken, 0};
    expect_success(&job, check_shape, &c);
    tj_job_destroy(&job);
  }
  free(taken);
}
END_TEST

/* Tiles of elements of 16 bits that go through LDS, from the first mode's runs to the last one's: in blocks of 8 × 8,
 * of which LDS serves 16 at a time. */
static const struct {
  int64_t extent[3], work_items;
  int64_t along; /* neighbours in the source that are served together; the others are those of the next columns */
} turns[] = {
    {{128, 3, 64}, 384, 16}, /* runs fill phases */
    {{64, 3, 64}, 192, 8},   /* or halves of them */
    {{32, 11, 32}, 192, 4},  /* or fours */
    {{32, 11, 32}, 256, 4},  /* where some work-items take no part */
    {{48, 4, 64}, 192, 8},   /* runs of two modes fill halves */
    {{48, 3, 64}, 192, 16},  /* nothing does: no column takes turns, and the first phase is of one run */
};

static random_problem problem_of_turns(const int64_t extent[]) {
  random_problem r = {.problem = {.count = 3,
                                  .order = {{0, 1, 2}, {2, 1, 0}},
                                  .bytes = {2, 2},
                                  .carried_bytes = 2,
                                  .width = {8, 8},
                                  .slot_bytes = 256,
                                  .slot_limit = 256,
                                  .tile_bytes = 256 * 1024,
                                  .lds_bytes = 61440,
                                  .lds_phase = 16,
                                  .line_bytes = LINE,
                                  .costs = tj_line_costs_of(false),
                                  .wave_size = 64,
                                  .workgroup_limit = 1024,
                                  .may_stage = true}};
  for (uint32_t m = 0; m < 3; m++)
    r.problem.mode[m] = (tj_shape_mode){.least = extent[m], .extent = extent[m]};
  lay_out(&r, TJ_SOURCE);
  lay_out(&r, TJ_DESTINATION);
  return r;
}

/* Where the first element of each work-item of a phase is: in the source's order, in vectors; and by columns. */
static void check_turn(tj_job *job, void *data) {
  const coverage *c = data;
  tj_graph *graph = tj_graph_create(job);
  held_side held = hold(graph, c, TJ_SOURCE);
  int64_t values[64] = {0}, digit[3], along = turns[c->number].along;
  tj_bindings bindings = {.value = values, .count = held.item->symbol->index + 1};
  for (int64_t lane = 0; lane < c->random->problem.lds_phase; lane++) {
    values[held.item->symbol->index] = lane;
    ck_assert_int_eq(tj_eval_nodes(held.place[0].digit, 3, &bindings, digit), TJ_EVAL_OK);
    ck_assert_int_eq((digit[0] + digit[1] * c->shape->extent[0]) / 8, lane % along);
    ck_assert_int_eq(digit[2], lane / along * 8);
  }
}

START_TEST(columns_take_turns) {
  uint8_t *taken = malloc(MOST_PLACES);
  ck_assert_ptr_nonnull(taken);
  for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) {
    const int64_t *extent = turns[i].extent;
    random_problem r = problem_of_turns(extent);
    tj_tile_shape shape = {.extent = {extent[0], extent[1], extent[2]},
                           .unit = {8, 1, 8},
                           .is_staged = true,
                           .depth = 8,
                           .passes = 1,
                           .turn = 4,
                           .work_items = turns[i].work_items};
    coverage c = {&r, &shape, taken, i};
    tj_job job;
    tj_job_init(&job, NULL);
    expect_success(&job, check_turn, &c);
    expect_success(&job, check_shape, &c);
    tj_job_destroy(&job);
  }
  free(taken);
}
END_TEST

/* --- promises --- */

START_TEST(shapes_fit) {
  for (int round = 0; round < ROUNDS; round++) {
    random_problem r = make_problem();
    const tj_shape_problem *p = &r.problem;
    tj_tile_shape shape;
    ck_assert_uint_eq(tj_choose_tile_shapes(p, &shape, 1), 1);
    int64_t room = 1;
    for (uint32_t m = 0; m < p->count; m++) {
      ck_assert(shape.extent[m] >= 1 && shape.extent[m] <= p->mode[m].extent);
      ck_assert_int_le(shape.unit[m], shape.extent[m]);
      room *= tj_shape_room(&shape, m);
    }
    if (shape.is_staged)
      ck_assert_int_le(room / shape.passes * p->carried_bytes, p->lds_bytes);
    else
      ck_assert_int_eq(p->order[TJ_SOURCE][0], p->order[TJ_DESTINATION][0]);
    ck_assert(shape.work_items >= 64 && shape.work_items <= p->workgroup_limit && shape.work_items % 64 == 0);
    ck_assert(shape.lines[TJ_SOURCE] >= 1 - 1e-9 && shape.lines[TJ_DESTINATION] >= 1 - 1e-9);
  }
}
END_TEST

static bool keeps_phases(const tj_shape_problem *problem, const tj_tile_shape *shape) {
  tj_shape_digits digits = tj_shape_digits_of(problem, shape, TJ_DESTINATION);
  tj_lane_grid grid;
  tj_lane_grid_make(digits.count, digits.digits, shape->work_items, problem->lds_phase, &grid);
  return !shape->is_staged || begins_with_phases(&grid);
}

static bool differ_in_work_items(const tj_tile_shape *a, const tj_tile_shape *b) {
  return memcmp(a->extent, b->extent, sizeof a->extent) == 0 && a->is_staged == b->is_staged &&
         a->depth == b->depth && a->passes == b->passes;
}

/* A shape is there again where its best number of work-items does not keep phases, with one that does. */
START_TEST(shapes_are_offered_in_phases) {
  enum { MOST = 16 };
  int again = 0;
  for (int round = 0; round < ROUNDS / 4; round++) {
    random_problem r = make_problem();
    tj_tile_shape shape[MOST];
    uint32_t count = tj_choose_tile_shapes(&r.problem, shape, MOST);
    for (uint32_t i = 0; i < count; i++) {
      uint32_t alike = 0;
      for (uint32_t k = 0; k < i; k++) {
        ck_assert(shape[k].cost <= shape[i].cost);
        if (!differ_in_work_items(&shape[k], &shape[i]))
          continue;
        ck_assert(!keeps_phases(&r.problem, &shape[k]) && keeps_phases(&r.problem, &shape[i]));
        alike++;
      }
      ck_assert_uint_le(alike, 1);
      again += alike > 0;
    }
  }
  ck_assert_int_gt(again, 0);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {grids_reach_every_value,       grids_tell_whole_phases, grids_cut_by_phases,
                                work_items_take_every_element, columns_take_turns,      shapes_fit,
                                shapes_are_offered_in_phases};
  return run_suite(suite_of("tile shape", tests, sizeof tests / sizeof tests[0]));
}
