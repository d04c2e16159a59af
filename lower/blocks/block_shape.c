/* SPDX-License-Identifier: MIT */
/* Choosing blocks and tiles. */
#include "lower/blocks/block_shape.h"

#include "base/number/parts.h"
#include "base/number/power.h"
#include "ir/index/facts.h"

enum {
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
  int64_t loaded, stored;
} runs;

static const runs turned_runs = {256, 128}, straight_runs = {1024, 1024};
static const runs staged_runs = {256, 192}, longer_runs = {256, 256}, staged_byte_runs = {128, 512};
static const runs cut_runs = {64, 2048}; /* of columns that begin and end within lines: few of them */
static const int64_t LARGEST_EXTENT = (int64_t)1 << 48;

/* --- modes --- */

const tj_node *tj_block_stride(const tj_block_map *map, uint32_t mode, bool of_source) {
  return tj_mode_stride(&map->domain->mode[mode], of_source);
}

const tj_node *tj_block_extent(const tj_block_map *map, uint32_t mode) {
  return map->domain->mode[mode].extent;
}

static int64_t least_extent(const tj_block_map *map, uint32_t mode) {
  return tj_block_extent(map, mode)->facts.low;
}

static int64_t greatest_extent(const tj_block_map *map, uint32_t mode) {
  return tj_block_extent(map, mode)->facts.high;
}

bool tj_block_is_even(const tj_block_map *map) {
  for (uint32_t m = 0; m < map->domain->count; m++) {
    bool is_sized = least_extent(map, m) > 0 && least_extent(map, m) <= LARGEST_EXTENT;
    if (!is_sized || tj_block_stride(map, m, true) == NULL || tj_block_stride(map, m, false) == NULL)
      return false;
  }
  return true;
}

/* --- elements --- */

int64_t tj_block_bytes(const tj_block_map *map, bool is_load) {
  return tj_element_bytes(map->flat, tj_flat_buffer(map->flat, is_load ? TJ_OPERAND_SOURCE : TJ_OPERAND_DESTINATION));
}

int64_t tj_block_element_bytes(const tj_block_map *map) {
  int64_t loaded = tj_block_bytes(map, true), stored = tj_block_bytes(map, false);
  return tj_greatest(loaded, stored);
}

int64_t tj_block_lanes(const tj_block_map *map) {
  return map->target->block_bytes / tj_block_element_bytes(map);
}

int64_t tj_block_columns(const tj_block_map *map) {
  return TJ_PERMUTED_BYTES * 8 / tj_dtype_bits(map->flat->carried);
}

int64_t tj_block_rows(const tj_block_map *map) {
  return tj_least(tj_block_lanes(map), MOST_ROWS);
}

/* --- blocks --- */

bool tj_block_is_turned(const tj_block_map *map) {
  return map->by_source[0] != map->by_destination[0];
}

/* Of `wanted` … `most` pieces of a mode, as many as cover the least beyond its end. */
static int64_t best_count(int64_t extent, int64_t piece, int64_t wanted, int64_t most) {
  int64_t best = wanted, least = INT64_MAX;
  for (int64_t count = wanted; count <= most && count <= tj_divided_up(extent, piece); count++) {
    int64_t cover = tj_covered(tj_divided_up(extent, piece), count);
    best = cover < least ? count : best;
    least = tj_least(cover, least);
  }
  return best;
}

bool tj_block_is_fixed(const tj_block_map *map, uint32_t mode) {
  return least_extent(map, mode) == greatest_extent(map, mode);
}

bool tj_block_has_rows(const tj_block_map *map) {
  int64_t extent = tj_block_extent(map, map->by_source[0])->facts.high;
  return map->by_source[0] == map->by_destination[0] &&
         (!tj_domain_is_known(map->domain) || extent >= TJ_BLOCK_ROW_BYTES / tj_block_element_bytes(map));
}

/* The greatest divisor of a mode's count of pieces that is at most MOST_VECTORS. */
static int64_t common_count(const tj_block_map *map, uint32_t mode, int64_t piece) {
  int64_t pieces = greatest_extent(map, mode) / piece;
  if (greatest_extent(map, mode) % piece != 0)
    return 1;
  int64_t count = MOST_VECTORS;
  while (pieces % count != 0)
    count--;
  return count;
}

/* Of `most` elements of a mode, and fewer, by one at a time or halved: as many as cover the least beyond its end,
 * where pieces cost what `more` elements would. */
static int64_t best_piece(const tj_block_map *map, uint32_t mode, int64_t most, int64_t more, bool halves) {
  int64_t best = most, least = INT64_MAX, extent = greatest_extent(map, mode);
  for (int64_t size = most; size > 0 && tj_block_is_fixed(map, mode); size = halves ? size / 2 : size - 1) {
    int64_t cost = tj_divided_up(extent, size) * (size + more);
    best = cost < least ? size : best;
    least = tj_least(cost, least);
  }
  return best;
}

/* Rows of a block that does not turn. */
static int64_t best_depth(const tj_block_map *map, uint32_t mode) {
  int64_t most = tj_least(MOST_VECTORS, greatest_extent(map, mode));
  return tj_block_is_fixed(map, mode) ? best_piece(map, mode, most, 1, false) : 1;
}

/* Vectors in a row, or, where the mode has an odd number of them, from several rows. */
static void choose_straight(tj_block_map *map, int64_t lanes) {
  uint32_t first = map->by_destination[0];
  map->along = map->across = first;
  map->panels = 1;
  map->width = tj_least(lanes, tj_power_within(least_extent(map, first)));
  map->step = map->width;
  map->depth = common_count(map, first, map->width);
  if (map->depth <= 2 && map->domain->count > 1) {
    map->across = map->by_destination[1];
    map->step = 1;
    map->depth = common_count(map, map->across, 1);
    map->depth = map->depth > 2 ? map->depth : best_depth(map, map->across);
  }
}

/* Rows of columns that turn around by themselves, side by side up to a cache line. */
static void choose_turned(tj_block_map *map) {
  map->along = map->by_source[0];
  map->across = map->by_destination[0];
  map->width = tj_least(tj_block_columns(map), tj_power_within(least_extent(map, map->along)));
  map->depth = tj_least(tj_block_rows(map), tj_power_within(least_extent(map, map->across)));
  map->depth = best_piece(map, map->across, map->depth, 4, true);
  map->step = 1;
  int64_t most = MOST_BLOCK_BYTES / (map->width * map->depth * tj_block_element_bytes(map));
  int64_t line = TJ_BLOCK_LINE_BYTES / (map->width * tj_block_element_bytes(map));
  most = tj_least(tj_least(most, line), tj_power_within(least_extent(map, map->along) / map->width));
  map->panels = tj_quotient(best_piece(map, map->along, map->width * most, 2, true), map->width);
}

void tj_block_choose(tj_block_map *map, int64_t lanes) {
  if (map->by_source[0] == map->by_destination[0])
    choose_straight(map, lanes);
  else
    choose_turned(map);
  for (uint32_t m = 0; m < map->domain->count; m++)
    map->size[m] = 1;
  map->size[map->along] = map->width * map->panels;
  map->size[map->across] = map->step * map->depth;
}

bool tj_block_has_whole_vectors(const tj_block_map *map, int64_t width) {
  uint32_t first = map->by_destination[0];
  int64_t aligned = TJ_BLOCK_STREAM_ALIGNMENT / tj_block_bytes(map, false);
  for (uint32_t m = 0; m < map->domain->count; m++) {
    if (m != first && !tj_facts_divisible(&tj_block_stride(map, m, false)->facts, aligned))
      return false;
  }
  return width == tj_block_lanes(map) && tj_facts_divisible(&tj_block_extent(map, first)->facts, width);
}

/* --- tiles --- */

/* How far the blocks of a tile reach along a mode. */
static int64_t reach_of(const tj_block_map *map, uint32_t mode) {
  return tj_least(map->size[mode] * map->blocks[mode], greatest_extent(map, mode));
}

static void widen(tj_block_map *map, uint32_t mode, int64_t wanted) {
  int64_t size = map->size[mode], count = tj_divided_up(wanted, size);
  bool fixed = tj_block_is_fixed(map, mode);
  int64_t most = fixed ? tj_divided_up(greatest_extent(map, mode), size) : least_extent(map, mode) / size;
  if (count <= map->blocks[mode])
    return;
  if (count >= most)
    count = most;
  else if (fixed)
    count = best_count(greatest_extent(map, mode), size, count, map->is_staged ? count + count / 2 + 1 : 3 * count);
  map->blocks[mode] = count;
  map->reach[mode] = reach_of(map, mode);
}

/* Whether the tile that follows goes on where this one ends in the source, which has lines as a whole until then. */
static bool goes_on_next(const tj_block_map *map, int64_t have) {
  return map->is_staged && tj_block_is_turned(map) && have * tj_block_bytes(map, true) >= TJ_BLOCK_LINE_BYTES;
}

/* Lets the tile reach along modes in this order, until it has `run` elements side by side. */
static void reach(tj_block_map *map, const uint32_t order[], bool of_source, int64_t run) {
  int64_t have = 1;
  for (uint32_t i = 0; i < map->domain->count && have < run; i++) {
    uint32_t mode = order[i];
    if (!tj_is_int(tj_block_stride(map, mode, of_source), have) || (of_source && goes_on_next(map, have)))
      return;
    widen(map, mode, (run + have - 1) / have);
    have *= map->reach[mode];
    if (map->reach[mode] < greatest_extent(map, mode))
      return;
  }
}

static void reach_both(tj_block_map *map, int64_t loaded, int64_t stored) {
  for (uint32_t m = 0; m < map->domain->count; m++) {
    map->blocks[m] = 1;
    map->reach[m] = reach_of(map, m);
  }
  reach(map, map->by_destination, false, stored);
  reach(map, map->by_source, true, loaded);
}

static int64_t bytes_of_tile(const tj_block_map *map) {
  int64_t bytes = tj_block_element_bytes(map);
  for (uint32_t m = 0; m < map->domain->count; m++)
    bytes *= map->size[m] * map->blocks[m];
  return bytes;
}

static runs wanted_directly(const tj_block_map *map) {
  int64_t bytes = tj_block_element_bytes(map);
  if (!tj_block_is_turned(map))
    return straight_runs;
  return map->is_streamed ? (runs){512, STREAMED_COLUMN * bytes} : turned_runs;
}

void tj_block_choose_tile(tj_block_map *map) {
  runs wanted = wanted_directly(map);
  int64_t loaded = wanted.loaded / tj_block_element_bytes(map), stored = wanted.stored / tj_block_element_bytes(map);
  int64_t most = map->is_streamed ? STREAMED_BYTES : TURNED_BYTES;
  reach_both(map, loaded, stored);
  for (; tj_block_is_turned(map) && bytes_of_tile(map) > most && loaded > map->size[map->along]; loaded /= 2)
    reach_both(map, loaded / 2, stored);
}

/* --- tiles in LDS --- */

/* Whether the tile has all of a mode. */
static bool is_whole(const tj_block_map *map, uint32_t mode) {
  return tj_block_is_fixed(map, mode) && map->reach[mode] == greatest_extent(map, mode);
}

/* How many of the destination's first modes the tile has in one run. */
static uint32_t modes_of_run(const tj_block_map *map) {
  int64_t have = 1;
  for (uint32_t i = 0; i < map->domain->count; i++) {
    uint32_t mode = map->by_destination[i];
    if (!tj_is_int(tj_block_stride(map, mode, false), have))
      return i;
    if (!is_whole(map, mode))
      return i + 1;
    have *= map->reach[mode];
  }
  return map->domain->count;
}

/* Lines between runs are odd in number, so that columns of a tile spread over the cache. */
static int64_t pitch_of(const tj_block_map *map, int64_t run) {
  int64_t lines = tj_divided_up(run * tj_block_bytes(map, false), TJ_BLOCK_LINE_BYTES) | 1;
  return lines * TJ_BLOCK_LINE_BYTES / tj_block_bytes(map, false);
}

static void lay_out(tj_block_map *map) {
  tj_block_staging *stage = &map->stage;
  int64_t pitch = 0;
  *stage = (tj_block_staging){.modes = modes_of_run(map), .run = 1, .runs = 1};
  for (uint32_t i = 0; i < map->domain->count; i++) {
    uint32_t mode = map->by_destination[i];
    if (i == stage->modes)
      pitch = pitch_of(map, stage->run);
    stage->stride[mode] = i < stage->modes ? stage->run : pitch * stage->runs;
    *(i < stage->modes ? &stage->run : &stage->runs) *= map->reach[mode];
  }
}

static int64_t staged_elements(const tj_block_map *map) {
  return pitch_of(map, map->stage.run) * map->stage.runs;
}

static void reach_staged(tj_block_map *map, runs wanted) {
  int64_t loaded = wanted.loaded /
                   tj_domain_least_bytes(map->domain, map->flat, tj_flat_buffer(map->flat, TJ_OPERAND_SOURCE), true),
          stored = wanted.stored / tj_block_bytes(map, false);
  int64_t most = STAGED_BYTES / tj_block_bytes(map, false);
  reach_both(map, loaded, stored);
  lay_out(map);
  while (staged_elements(map) > most && loaded + stored > 2) {
    *(loaded >= stored ? &loaded : &stored) /= 2;
    reach_both(map, loaded, stored);
    lay_out(map);
  }
}

static bool has_cut_runs(const tj_block_map *map) {
  return map->stage.modes == 1 && !is_whole(map, map->by_destination[0]);
}

/* Whether runs end where lines do, if they begin there. */
static bool has_runs_of_lines(const tj_block_map *map) {
  return map->stage.run * tj_block_bytes(map, false) % TJ_BLOCK_LINE_BYTES == 0;
}

bool tj_block_choose_staged_tile(tj_block_map *map) {
  bool is_turned = tj_block_is_turned(map), are_bytes = tj_block_element_bytes(map) == 1;
  runs wanted = !is_turned ? longer_runs : are_bytes ? staged_byte_runs : staged_runs;
  reach_staged(map, wanted);
  if (is_turned && !are_bytes && !has_runs_of_lines(map))
    reach_staged(map, longer_runs);
  if (has_cut_runs(map))
    reach_staged(map, cut_runs);
  int64_t bytes = tj_block_bytes(map, false);
  return staged_elements(map) * bytes <= STAGED_BYTES &&
         (!has_cut_runs(map) || map->stage.run * bytes >= cut_runs.stored / 2);
}
