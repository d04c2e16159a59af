/* SPDX-License-Identifier: MIT */
/* Blocks and tiles of the host that are chosen for random problems: that they fit, that no other number of rows
 * costs less, how long their runs are and whether their places in LDS differ, by counting elements one by one. */
#include "lower/shape/block_shape.h"

#include "tests/unit/support/harness.h"
#include "tests/unit/support/random_source.h"

#include <stdlib.h>
#include <string.h>

enum {
  ROUNDS = 3000,
  MOST_MODES = 4,
  LINE = 64,
  MOST_PLACES = 1 << 20,
  BLOCK_BYTES = 2048,
  TURNED_BYTES = 16384,
  STREAMED_BYTES = 65536,
  STAGED_BYTES = 131072
};

/* --- random problems --- */

typedef struct {
  tj_shape_problem problem;
  int64_t stride[TJ_SIDES][MOST_MODES];
  bool is_known; /* launches do not differ */
} random_problem;

/* The side's tensor is dense, or padded after its first mode. */
static void lay_out(random_source *random, random_problem *r, tj_side_name side) {
  tj_shape_problem *p = &r->problem;
  int64_t stride = 1, padding = random_below(random, 3) == 0 ? random_below(random, 9) : 0;
  for (uint32_t i = 0; i < p->count; i++) {
    uint32_t mode = p->order[side][i];
    r->stride[side][mode] = stride;
    p->mode[mode].step[side] = (tj_run_step){p->bytes[side], i != 1 || padding == 0};
    stride = stride * p->mode[mode].extent + (i == 0 ? padding : 0);
  }
}

static random_problem make_problem(random_source *random) {
  static const int64_t extents[] = {2, 3, 5, 8, 12, 15, 16, 17, 32, 48, 64, 75, 96, 100, 299, 1000};
  random_problem r = {.is_known = random_below(random, 4) > 0};
  tj_shape_problem *p = &r.problem;
  int64_t bytes = (int64_t)1 << random_below(random, 5);
  p->count = 1 + random_below(random, MOST_MODES);
  p->register_bytes = (int64_t)16 << random_below(random, 3);
  p->bytes[TJ_SOURCE] = p->bytes[TJ_DESTINATION] = p->moved_bytes = p->carried_bytes = bytes;
  for (uint32_t m = 0; m < p->count; m++) {
    int64_t extent = extents[random_below(random, sizeof extents / sizeof *extents)];
    int64_t least = r.is_known ? extent : 1 + random_below(random, (uint32_t)extent);
    p->mode[m] = (tj_shape_mode){.least = least, .extent = extent};
  }
  for (tj_side_name side = TJ_SOURCE; side < TJ_SIDES; side++) {
    random_order(random, p->order[side], p->count);
    lay_out(random, &r, side);
  }
  return r;
}

/* --- blocks --- */

/* What all blocks of a mode cost that have so many of its coordinates, and `more` beside each. */
static int64_t cost_of(int64_t extent, int64_t size, int64_t more) {
  return (extent + size - 1) / size * (size + more);
}

static void check_block(const random_problem *r, const tj_block_shape *block) {
  const tj_shape_problem *p = &r->problem;
  int64_t volume = p->moved_bytes;
  for (uint32_t m = 0; m < p->count; m++) {
    ck_assert_int_ge(block->size[m], 1);
    ck_assert_int_le(block->size[m], p->mode[m].least);
    volume *= block->size[m];
  }
  ck_assert_int_eq(block->width & (block->width - 1), 0);
  ck_assert_int_le(volume, tj_shape_turns(p) ? BLOCK_BYTES : 8 * p->register_bytes);
  if (!tj_shape_turns(p) || !r->is_known)
    return;
  int64_t extent = p->mode[block->across].extent, cost = cost_of(extent, block->depth, 4);
  for (int64_t size = 1; size <= extent && size <= tj_block_rows(p); size *= 2)
    ck_assert(size > block->depth ? cost_of(extent, size, 4) > cost : cost_of(extent, size, 4) >= cost);
}

START_TEST(blocks_fit) {
  random_source random = random_begin(1);
  for (int round = 0; round < ROUNDS; round++) {
    random_problem r = make_problem(&random);
    tj_block_shape block = tj_choose_block(&r.problem);
    check_block(&r, &block);
  }
}
END_TEST

/* --- tiles --- */

static int64_t volume_of(const random_problem *r, const int64_t extent[]) {
  int64_t volume = 1;
  for (uint32_t m = 0; m < r->problem.count; m++)
    volume *= extent[m];
  return volume;
}

static int64_t place_of(const random_problem *r, const int64_t extent[], const int64_t stride[], int64_t number) {
  int64_t place = 0;
  for (uint32_t m = 0; m < r->problem.count; number /= extent[m++])
    place += number % extent[m] * stride[m];
  return place;
}

/* Neighbours from the first element of a box on. */
static int64_t run_of(const random_problem *r, const int64_t extent[], const int64_t stride[]) {
  uint8_t *taken = calloc(MOST_PLACES + 1, 1);
  ck_assert_ptr_nonnull(taken);
  int64_t volume = volume_of(r, extent), run = 0;
  for (int64_t i = 0; i < volume; i++) {
    int64_t place = place_of(r, extent, stride, i);
    if (place < MOST_PLACES)
      taken[place] = 1;
  }
  while (taken[run] != 0)
    run++;
  free(taken);
  return run;
}

static void check_reach(const random_problem *r, const tj_block_shape *shape) {
  for (uint32_t m = 0; m < r->problem.count; m++) {
    const tj_shape_mode *mode = &r->problem.mode[m];
    ck_assert_int_ge(shape->reach[m], shape->size[m]);
    ck_assert_int_le(shape->reach[m], mode->least);
    ck_assert(shape->reach[m] == mode->extent || shape->reach[m] % shape->size[m] == 0);
    ck_assert_int_eq(tj_block_count(shape, m), (shape->reach[m] + shape->size[m] - 1) / shape->size[m]);
  }
}

static int64_t whole_run(const random_problem *r, tj_side_name side) {
  int64_t extent[MOST_MODES];
  for (uint32_t m = 0; m < r->problem.count; m++)
    extent[m] = r->problem.mode[m].extent;
  return run_of(r, extent, r->stride[side]);
}

/* Whether the tensor is small enough to be counted. */
static bool is_countable(const random_problem *r) {
  int64_t volume = 1;
  for (uint32_t m = 0; m < r->problem.count; m++)
    volume *= r->problem.mode[m].extent;
  return r->is_known && volume < MOST_PLACES;
}

START_TEST(tiles_have_long_runs) {
  random_source random = random_begin(2);
  for (int round = 0; round < ROUNDS; round++) {
    random_problem r = make_problem(&random);
    const tj_shape_problem *p = &r.problem;
    const bool turns = tj_shape_turns(p), is_streamed = random_below(&random, 2) > 0;
    tj_block_shape shape = tj_choose_block(p);
    tj_choose_block_tile(p, is_streamed, &shape);
    check_reach(&r, &shape);
    ck_assert(shape.is_streamed == is_streamed && !shape.is_staged);
    int64_t wanted = !turns ? 1024 / p->moved_bytes : is_streamed ? 64 : 128 / p->moved_bytes;
    int64_t bytes = volume_of(&r, shape.reach) * p->moved_bytes, most = is_streamed ? STREAMED_BYTES : TURNED_BYTES;
    if (turns && bytes > most)
      ck_assert_int_le(shape.reach[shape.along], 3 * shape.size[shape.along]);
    if (round % 10 != 0 || !is_countable(&r))
      continue;
    int64_t run = run_of(&r, shape.reach, r.stride[TJ_DESTINATION]), all = whole_run(&r, TJ_DESTINATION);
    ck_assert_int_ge(run, wanted < all ? wanted : all);
  }
}
END_TEST

/* --- tiles in LDS --- */

/* No two elements of the tile have one place there. */
static void check_places(const random_problem *r, const tj_block_shape *shape) {
  uint8_t *taken = calloc(STAGED_BYTES, 1);
  ck_assert_ptr_nonnull(taken);
  int64_t volume = volume_of(r, shape->reach);
  for (int64_t i = 0; i < volume; i++) {
    int64_t place = place_of(r, shape->reach, shape->stage.stride, i);
    ck_assert_int_lt(place * r->problem.bytes[TJ_DESTINATION], STAGED_BYTES);
    ck_assert_int_eq(taken[place]++, 0);
  }
  free(taken);
}

START_TEST(staged_tiles_have_runs_of_the_destination) {
  random_source random = random_begin(3);
  int staged = 0;
  for (int round = 0; round < ROUNDS / 4; round++) {
    random_problem r = make_problem(&random);
    tj_block_shape shape = tj_choose_block(&r.problem);
    if (!tj_choose_staged_tile(&r.problem, &shape))
      continue;
    check_reach(&r, &shape);
    check_places(&r, &shape);
    ck_assert(shape.is_staged && shape.is_streamed);
    ck_assert_int_eq(shape.stage.run * shape.stage.runs, volume_of(&r, shape.reach));
    if (r.is_known)
      ck_assert_int_eq(shape.stage.run, run_of(&r, shape.reach, r.stride[TJ_DESTINATION]));
    staged++;
  }
  ck_assert_int_gt(staged, ROUNDS / 8);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {blocks_fit, tiles_have_long_runs, staged_tiles_have_runs_of_the_destination};
  return run_suite(suite_of("block shape", tests, sizeof tests / sizeof tests[0]));
}
