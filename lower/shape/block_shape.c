/* SPDX-License-Identifier: MIT */
/* The search: of each length that a block or a tile has along a mode, candidates are priced by what they cover, and
 * the first of those that cost least is taken. How long runs are to be, and how much of a cache a tile may take, was
 * measured. */
#include "lower/shape/block_shape.h"

#include "base/number/parts.h"
#include "base/number/power.h"

enum {
  ROW_BYTES = 512,            /* of a row that is copied by itself, where all extents are known */
  MOST_BLOCK_BYTES = 2048,    /* of a block that turns around */
  MOST_ROWS = 32,             /* of it: more would be in too many pages */
  MOST_VECTORS = 8,           /* of a block that does not turn */
  TURNED_BYTES = 16 * 1024,   /* of a tile of blocks that turn around and stay in the first cache, */
  STREAMED_BYTES = 64 * 1024, /* or in the second one, as their columns go past it */
  STREAMED_COLUMN = 64,       /* elements of such columns */
  STAGED_BYTES = 128 * 1024
};

/* Bytes that a tile has side by side, at least: on the source's side, and on the destination's. */
typedef struct {
  int64_t bytes[TJ_SIDES];
} runs;

static const runs turned_runs = {{256, 128}}, straight_runs = {{1024, 1024}};
static const runs staged_runs = {{256, 192}}, longer_runs = {{256, 256}}, staged_byte_runs = {{128, 512}};
static const runs cut_runs = {{64, 2048}}; /* of columns that begin and end within lines: few of them */

/* --- elements --- */

int64_t tj_block_lanes(const tj_shape_problem *problem) {
  return problem->register_bytes / problem->moved_bytes;
}

int64_t tj_block_columns(const tj_shape_problem *problem) {
  return TJ_PERMUTED_BYTES / problem->carried_bytes;
}

int64_t tj_block_rows(const tj_shape_problem *problem) {
  return tj_least(tj_block_lanes(problem), MOST_ROWS);
}

static bool is_fixed(const tj_shape_problem *problem, uint32_t mode) {
  return tj_shape_is_fixed(&problem->mode[mode]);
}

bool tj_block_has_rows(const tj_shape_problem *problem) {
  bool is_known = true;
  for (uint32_t m = 0; m < problem->count; m++)
    is_known = is_known && is_fixed(problem, m);
  int64_t extent = problem->mode[problem->order[TJ_SOURCE][0]].extent;
  return !tj_shape_turns(problem) && (!is_known || extent >= ROW_BYTES / problem->moved_bytes);
}

/* --- lengths --- */

/* Candidates: from the first length to the last, by one up or down, or halved. */
typedef struct {
  int64_t first, last;
  bool is_halved;
} lengths;

static int64_t next_of(const lengths *all, int64_t length) {
  if (all->is_halved)
    return length / 2;
  return all->first < all->last ? length + 1 : length - 1;
}

/* Of such lengths, the first that costs least: all pieces of an extent, of which each costs what `more` elements
 * would beside its own. */
static int64_t cheapest(int64_t extent, lengths all, int64_t more) {
  int64_t best = all.first, least = INT64_MAX, end = next_of(&all, all.last);
  for (int64_t length = all.first; length != end && length > 0; length = next_of(&all, length)) {
    int64_t cost = tj_divided_up(extent, length) * (length + more);
    best = cost < least ? length : best;
    least = tj_least(cost, least);
  }
  return best;
}

/* --- blocks --- */

/* The greatest divisor of a mode's count of pieces that is at most MOST_VECTORS; 1 where launches differ in it. */
static int64_t common_count(const tj_shape_problem *problem, uint32_t mode, int64_t piece) {
  int64_t extent = problem->mode[mode].extent;
  bool is_even = is_fixed(problem, mode) && extent % piece == 0;
  return is_even ? cheapest(extent / piece, (lengths){MOST_VECTORS, 1, false}, 0) : 1;
}

/* Rows of a block that does not turn. */
static int64_t best_depth(const tj_shape_problem *problem, uint32_t mode) {
  int64_t extent = problem->mode[mode].extent, common = common_count(problem, mode, 1);
  if (common > 2 || !is_fixed(problem, mode))
    return common > 2 ? common : 1;
  return cheapest(extent, (lengths){tj_least(MOST_VECTORS, extent), 1, false}, 1);
}

/* Vectors in a row, or, where the mode has an odd number of them, from several rows. */
static void choose_straight(const tj_shape_problem *problem, tj_block_shape *shape) {
  uint32_t first = problem->order[TJ_DESTINATION][0];
  shape->along = shape->across = first;
  shape->panels = 1;
  shape->width = tj_least(tj_block_lanes(problem), tj_power_within(problem->mode[first].least));
  shape->step = shape->width;
  shape->depth = common_count(problem, first, shape->width);
  if (shape->depth <= 2 && problem->count > 1) {
    shape->across = problem->order[TJ_DESTINATION][1];
    shape->step = 1;
    shape->depth = best_depth(problem, shape->across);
  }
}

/* Halves of so many elements of a mode, where it has as many in every launch. */
static int64_t best_piece(const tj_shape_problem *problem, uint32_t mode, int64_t most, int64_t more) {
  return is_fixed(problem, mode) ? cheapest(problem->mode[mode].extent, (lengths){most, 1, true}, more) : most;
}

/* Rows of columns that turn around by themselves, side by side up to a cache line. */
static void choose_turned(const tj_shape_problem *problem, tj_block_shape *shape) {
  shape->along = problem->order[TJ_SOURCE][0];
  shape->across = problem->order[TJ_DESTINATION][0];
  const int64_t loaded = problem->mode[shape->along].least, stored = problem->mode[shape->across].least;
  shape->width = tj_least(tj_block_columns(problem), tj_power_within(loaded));
  shape->depth = best_piece(problem, shape->across, tj_least(tj_block_rows(problem), tj_power_within(stored)), 4);
  shape->step = 1;
  int64_t row = shape->width * problem->moved_bytes, most = MOST_BLOCK_BYTES / (row * shape->depth);
  most = tj_least(tj_least(most, TJ_BLOCK_LINE_BYTES / row), tj_power_within(loaded / shape->width));
  shape->panels = tj_quotient(best_piece(problem, shape->along, shape->width * most, 2), shape->width);
}

tj_block_shape tj_choose_block(const tj_shape_problem *problem) {
  tj_block_shape shape = {.is_staged = false};
  if (tj_shape_turns(problem))
    choose_turned(problem, &shape);
  else
    choose_straight(problem, &shape);
  for (uint32_t m = 0; m < problem->count; m++)
    shape.size[m] = 1;
  shape.size[shape.along] = shape.width * shape.panels;
  shape.size[shape.across] = shape.step * shape.depth;
  return shape;
}

/* --- tiles --- */

int64_t tj_block_count(const tj_block_shape *shape, uint32_t mode) {
  return tj_divided_up(shape->reach[mode], shape->size[mode]);
}

/* Lets the tile have so many elements of a mode: more, where less is beyond the end then, or all that are sure. */
static void widen(const tj_shape_problem *problem, tj_block_shape *shape, uint32_t mode, int64_t wanted) {
  const tj_shape_mode *m = &problem->mode[mode];
  int64_t size = shape->size[mode], count = tj_divided_up(wanted, size);
  int64_t most = is_fixed(problem, mode) ? tj_divided_up(m->extent, size) : m->least / size;
  int64_t last = tj_least(shape->is_staged ? count + count / 2 + 1 : 3 * count, most);
  if (count <= tj_block_count(shape, mode))
    return;
  if (count >= most)
    count = most;
  else if (is_fixed(problem, mode))
    count = cheapest(most, (lengths){count, last, false}, 0);
  shape->reach[mode] = tj_least(size * count, m->extent);
}

/* Whether the tile that follows goes on where this one ends in the source, which has lines as a whole until then. */
static bool goes_on_next(const tj_shape_problem *problem, const tj_block_shape *shape, int64_t have) {
  return shape->is_staged && tj_shape_turns(problem) && have * problem->bytes[TJ_SOURCE] >= TJ_BLOCK_LINE_BYTES;
}

/* Whether the tile has all of a mode. */
static bool is_whole(const tj_shape_problem *problem, const tj_block_shape *shape, uint32_t mode) {
  return is_fixed(problem, mode) && shape->reach[mode] == problem->mode[mode].extent;
}

/* Lets the tile reach along a side's modes, until it has `run` elements side by side. */
static void reach(const tj_shape_problem *problem, tj_block_shape *shape, tj_side_name side, int64_t run) {
  int64_t have = 1;
  for (uint32_t i = 0; i < problem->count && have < run; i++) {
    uint32_t mode = problem->order[side][i];
    if (!problem->mode[mode].step[side].continues || (side == TJ_SOURCE && goes_on_next(problem, shape, have)))
      return;
    widen(problem, shape, mode, tj_divided_up(run, have));
    have *= shape->reach[mode];
    if (!is_whole(problem, shape, mode))
      return;
  }
}

static void reach_both(const tj_shape_problem *problem, tj_block_shape *shape, const int64_t run[]) {
  for (uint32_t m = 0; m < problem->count; m++)
    shape->reach[m] = tj_least(shape->size[m], problem->mode[m].extent);
  reach(problem, shape, TJ_DESTINATION, run[TJ_DESTINATION]);
  reach(problem, shape, TJ_SOURCE, run[TJ_SOURCE]);
}

static int64_t bytes_of_tile(const tj_shape_problem *problem, const tj_block_shape *shape) {
  int64_t bytes = problem->moved_bytes;
  for (uint32_t m = 0; m < problem->count; m++)
    bytes *= tj_block_count(shape, m) * shape->size[m];
  return bytes;
}

void tj_choose_block_tile(const tj_shape_problem *problem, bool is_streamed, tj_block_shape *shape) {
  const bool turns = tj_shape_turns(problem);
  const int64_t bytes = problem->moved_bytes, most = is_streamed ? STREAMED_BYTES : TURNED_BYTES;
  const runs streamed_runs = {{512, STREAMED_COLUMN * bytes}};
  const runs *wanted = !turns ? &straight_runs : is_streamed ? &streamed_runs : &turned_runs;
  int64_t run[] = {wanted->bytes[TJ_SOURCE] / bytes, wanted->bytes[TJ_DESTINATION] / bytes};
  shape->is_streamed = is_streamed;
  reach_both(problem, shape, run);
  while (turns && bytes_of_tile(problem, shape) > most && run[TJ_SOURCE] > shape->size[shape->along]) {
    run[TJ_SOURCE] /= 2;
    reach_both(problem, shape, run);
  }
}

/* --- tiles in LDS --- */

/* How many of the destination's first modes the tile has in one run. */
static uint32_t modes_of_run(const tj_shape_problem *problem, const tj_block_shape *shape) {
  for (uint32_t i = 0; i < problem->count; i++) {
    uint32_t mode = problem->order[TJ_DESTINATION][i];
    if (!problem->mode[mode].step[TJ_DESTINATION].continues)
      return i;
    if (!is_whole(problem, shape, mode))
      return i + 1;
  }
  return problem->count;
}

/* Lines between runs are odd in number, so that columns of a tile spread over the cache. */
static int64_t pitch_of(const tj_shape_problem *problem, int64_t run) {
  const int64_t bytes = problem->bytes[TJ_DESTINATION];
  return (tj_divided_up(run * bytes, TJ_BLOCK_LINE_BYTES) | 1) * TJ_BLOCK_LINE_BYTES / bytes;
}

static void lay_out(const tj_shape_problem *problem, tj_block_shape *shape) {
  tj_block_staging *stage = &shape->stage;
  int64_t pitch = 0;
  *stage = (tj_block_staging){.modes = modes_of_run(problem, shape), .run = 1, .runs = 1};
  for (uint32_t i = 0; i < problem->count; i++) {
    uint32_t mode = problem->order[TJ_DESTINATION][i];
    if (i == stage->modes)
      pitch = pitch_of(problem, stage->run);
    stage->stride[mode] = i < stage->modes ? stage->run : pitch * stage->runs;
    *(i < stage->modes ? &stage->run : &stage->runs) *= shape->reach[mode];
  }
}

static int64_t staged_bytes(const tj_shape_problem *problem, const tj_block_shape *shape) {
  return pitch_of(problem, shape->stage.run) * shape->stage.runs * problem->bytes[TJ_DESTINATION];
}

static void reach_staged(const tj_shape_problem *problem, tj_block_shape *shape, const runs *wanted) {
  int64_t run[TJ_SIDES];
  for (tj_side_name side = TJ_SOURCE; side < TJ_SIDES; side++)
    run[side] = wanted->bytes[side] / problem->bytes[side];
  reach_both(problem, shape, run);
  lay_out(problem, shape);
  while (staged_bytes(problem, shape) > STAGED_BYTES && run[TJ_SOURCE] + run[TJ_DESTINATION] > 2) {
    run[run[TJ_SOURCE] >= run[TJ_DESTINATION] ? TJ_SOURCE : TJ_DESTINATION] /= 2;
    reach_both(problem, shape, run);
    lay_out(problem, shape);
  }
}

static bool has_cut_runs(const tj_shape_problem *problem, const tj_block_shape *shape) {
  return shape->stage.modes == 1 && !is_whole(problem, shape, problem->order[TJ_DESTINATION][0]);
}

/* Whether runs end where lines do, if they begin there. */
static bool has_runs_of_lines(const tj_shape_problem *problem, const tj_block_shape *shape) {
  return shape->stage.run * problem->bytes[TJ_DESTINATION] % TJ_BLOCK_LINE_BYTES == 0;
}

bool tj_choose_staged_tile(const tj_shape_problem *problem, tj_block_shape *shape) {
  const bool turns = tj_shape_turns(problem), are_bytes = problem->moved_bytes == 1;
  shape->is_staged = shape->is_streamed = true;
  reach_staged(problem, shape, !turns ? &longer_runs : are_bytes ? &staged_byte_runs : &staged_runs);
  if (turns && !are_bytes && !has_runs_of_lines(problem, shape))
    reach_staged(problem, shape, &longer_runs);
  if (has_cut_runs(problem, shape))
    reach_staged(problem, shape, &cut_runs);
  int64_t run = shape->stage.run * problem->bytes[TJ_DESTINATION];
  return staged_bytes(problem, shape) <= STAGED_BYTES &&
         (!has_cut_runs(problem, shape) || run >= cut_runs.bytes[TJ_DESTINATION] / 2);
}
