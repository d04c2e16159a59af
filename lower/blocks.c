/* Choosing blocks and their order.
 *
 * A block is as many cache lines of the source as a register file holds. Where source and destination are contiguous
 * along the same mode, it is a few vectors that stay as they are; otherwise rows along the source's mode, which are
 * stored as columns along the destination's. Work-items of a workgroup take the blocks of a tile in the order of the
 * destination; workgroups take tiles in the order of the source, so that what follows can be fetched ahead. The tile
 * is so large that both sides see more than one line in a row, and so small that few pages are in use at a time.
 *
 * That a row is contiguous, and how far rows are from one another, is shown with symbols for both, once for all. */
#include "lower/blocks.h"

#include "ir/facts.h"
#include "ir/simplify.h"
#include "lower/faster.h"

enum {
  MOST_MODES = 16,
  LINE_BYTES = 64,
  MOST_COLUMNS = 16,      /* of a block that turns around: as many vectors are being made at a time */
  MOST_VECTORS = 8,       /* of a block that does not */
  TURNED_RUN_BYTES = 128, /* what a tile has side by side on either side, at least: two lines come together */
  STRAIGHT_RUN_BYTES = 1024,
  STREAM_BYTES = 4 << 20 /* of a destination that is not worth caching */
};

static const int64_t LARGEST_EXTENT = (int64_t)1 << 48;

typedef struct {
  tj_graph *graph;
  const tj_kernel *flat;
  const tj_domain *domain;
  const tj_target *target;
  uint32_t by_source[MOST_MODES], by_destination[MOST_MODES]; /* modes, smallest stride first */
  uint32_t along, across;                                     /* of the rows of a block */
  int64_t width, depth;                                       /* elements of a row; rows */
  int64_t step;                                               /* coordinates from one row to the next */
  int64_t size[MOST_MODES];                                   /* of a block */
  int64_t blocks[MOST_MODES];                                 /* of a tile */
  int64_t work_items;
  const tj_node *workgroup, *item, *tiles;
  const tj_node **origin; /* the first coordinate of a work-item's block, by mode */
} mapping;

/* --- modes --- */

static const tj_node *stride_on(const mapping *map, uint32_t mode, bool of_source) {
  const tj_mode *m = &map->domain->mode[mode];
  return of_source ? m->source_stride : m->destination_stride;
}

static bool is_closer(const mapping *map, uint32_t a, uint32_t b, bool of_source) {
  const tj_node *left = stride_on(map, a, of_source), *right = stride_on(map, b, of_source);
  if (tj_is_int(left, 0) || tj_is_int(right, 0))
    return !tj_is_int(left, 0);
  return tj_prove_less_equal(map->graph, left, right) && !tj_prove_less_equal(map->graph, right, left);
}

static void sort_modes(const mapping *map, uint32_t order[], bool of_source) {
  for (uint32_t i = 0; i < map->domain->count; i++) {
    uint32_t at = i;
    for (; at > 0 && is_closer(map, i, order[at - 1], of_source); at--)
      order[at] = order[at - 1];
    order[at] = i;
  }
}

static const tj_node *extent_of(const mapping *map, uint32_t mode) {
  return map->domain->mode[mode].extent;
}

static int64_t least_extent(const mapping *map, uint32_t mode) {
  return extent_of(map, mode)->facts.low;
}

static int64_t greatest_extent(const mapping *map, uint32_t mode) {
  return extent_of(map, mode)->facts.high;
}

/* Whether both sides step through modes of so many coordinates evenly. */
static bool is_even(const mapping *map) {
  for (uint32_t m = 0; m < map->domain->count; m++) {
    bool is_sized = least_extent(map, m) > 0 && least_extent(map, m) <= LARGEST_EXTENT;
    if (!is_sized || stride_on(map, m, true) == NULL || stride_on(map, m, false) == NULL)
      return false;
  }
  return true;
}

static bool is_contiguous(const mapping *map) {
  return tj_is_int(stride_on(map, map->by_source[0], true), 1) &&
         tj_is_int(stride_on(map, map->by_destination[0], false), 1);
}

/* --- blocks --- */

static int64_t power_within(int64_t most, int64_t extent) {
  while (most > 1 && most > extent)
    most /= 2;
  return most;
}

static int64_t pieces_of(int64_t extent, int64_t piece) {
  return (extent + piece - 1) / piece;
}

/* Of `wanted` … `most` pieces of a mode, as many as cover the least beyond its end. */
static int64_t best_count(int64_t extent, int64_t piece, int64_t wanted, int64_t most) {
  int64_t best = wanted, least = INT64_MAX;
  for (int64_t count = wanted; count <= most && count <= pieces_of(extent, piece); count++) {
    int64_t cover = pieces_of(pieces_of(extent, piece), count) * count;
    if (cover < least) {
      best = count;
      least = cover;
    }
  }
  return best;
}

static bool is_fixed(const mapping *map, uint32_t mode) {
  return least_extent(map, mode) == greatest_extent(map, mode);
}

/* The greatest divisor of a mode's count of pieces that is at most MOST_VECTORS; 1 where the count is not known. */
static int64_t common_count(const mapping *map, uint32_t mode, int64_t piece) {
  int64_t pieces = greatest_extent(map, mode) / piece;
  if (!is_fixed(map, mode) || greatest_extent(map, mode) % piece != 0)
    return 1;
  int64_t count = MOST_VECTORS;
  while (pieces % count != 0)
    count--;
  return count;
}

/* Vectors in a row, or, where the mode has an odd number of them, from several rows. */
static void choose_straight(mapping *map, int64_t lanes) {
  uint32_t first = map->by_destination[0];
  map->along = map->across = first;
  map->width = power_within(lanes, least_extent(map, first));
  map->step = map->width;
  map->depth = common_count(map, first, map->width);
  if (map->depth <= 2 && map->domain->count > 1) {
    map->across = map->by_destination[1];
    map->step = 1;
    map->depth = common_count(map, map->across, 1);
  }
}

static void choose_turned(mapping *map, int64_t lanes) {
  map->along = map->by_source[0];
  map->across = map->by_destination[0];
  map->width = power_within(lanes < MOST_COLUMNS ? lanes : MOST_COLUMNS, least_extent(map, map->along));
  map->depth = power_within(lanes, least_extent(map, map->across));
  map->step = 1;
}

static void choose_block(mapping *map, int64_t lanes) {
  if (map->by_source[0] == map->by_destination[0])
    choose_straight(map, lanes);
  else
    choose_turned(map, lanes);
  for (uint32_t m = 0; m < map->domain->count; m++)
    map->size[m] = 1;
  map->size[map->along] = map->width;
  map->size[map->across] = map->step * map->depth;
}

/* --- tiles --- */

static void widen(mapping *map, uint32_t mode, int64_t wanted) {
  int64_t size = map->size[mode], count = pieces_of(wanted, size);
  bool fixed = is_fixed(map, mode);
  int64_t most = fixed ? pieces_of(greatest_extent(map, mode), size) : least_extent(map, mode) / size;
  if (count <= map->blocks[mode])
    return;
  if (count >= most)
    count = most;
  else if (fixed)
    count = best_count(greatest_extent(map, mode), size, count, 3 * count);
  map->blocks[mode] = count;
}

/* How far the tile reaches along a mode. */
static int64_t reach_of(const mapping *map, uint32_t mode) {
  int64_t reached = map->size[mode] * map->blocks[mode];
  return reached < greatest_extent(map, mode) ? reached : greatest_extent(map, mode);
}

/* Lets the tile reach along modes in this order, until it has `run` elements side by side. */
static void reach(mapping *map, const uint32_t order[], bool of_source, int64_t run) {
  int64_t have = 1;
  for (uint32_t i = 0; i < map->domain->count && have < run; i++) {
    uint32_t mode = order[i];
    if (!tj_is_int(stride_on(map, mode, of_source), have))
      return;
    widen(map, mode, (run + have - 1) / have);
    have *= reach_of(map, mode);
    if (have < greatest_extent(map, mode))
      return;
  }
}

static void choose_tile(mapping *map, int64_t bytes) {
  int64_t run = (map->along == map->by_destination[0] ? STRAIGHT_RUN_BYTES : TURNED_RUN_BYTES) / bytes;
  for (uint32_t m = 0; m < map->domain->count; m++)
    map->blocks[m] = 1;
  reach(map, map->by_destination, false, run);
  reach(map, map->by_source, true, run);
  map->work_items = 1;
  for (uint32_t m = 0; m < map->domain->count; m++)
    map->work_items *= map->blocks[m];
}

/* --- coordinates --- */

/* The last tile of a mode ends where the mode does. */
static const tj_node *tile_origin(const mapping *map, uint32_t mode, const tj_node *at) {
  tj_graph *graph = map->graph;
  const tj_node *size = tj_int(graph, reach_of(map, mode)), *origin = tj_mul(graph, at, size);
  if (tj_facts_divisible(&extent_of(map, mode)->facts, reach_of(map, mode)))
    return origin;
  return tj_min(graph, origin, tj_sub(graph, extent_of(map, mode), size));
}

static const tj_node *tiles_along(const mapping *map, uint32_t mode) {
  tj_graph *graph = map->graph;
  int64_t size = reach_of(map, mode);
  const tj_node *reached = tj_add(graph, extent_of(map, mode), tj_int(graph, size - 1));
  return tj_simplified(graph, tj_div(graph, reached, tj_int(graph, size)));
}

/* Numbers tiles in the order of the source. */
static void place_tiles(mapping *map) {
  tj_graph *graph = map->graph;
  uint32_t count = map->domain->count;
  const tj_node **along = TJ_NEW_ARRAY(graph->job, const tj_node *, count);
  const tj_node *all = tj_int(graph, 1);
  for (uint32_t i = 0; i < count; i++) {
    along[i] = tiles_along(map, map->by_source[i]);
    all = tj_mul(graph, all, along[i]);
  }
  map->tiles = tj_simplified(graph, all);
  map->workgroup = tj_coordinate(graph, "g", map->tiles);
  const tj_node *rest = map->workgroup;
  for (uint32_t i = 0; i < count; i++) {
    bool is_last = i + 1 == count;
    const tj_node *at = is_last ? rest : tj_mod(graph, rest, along[i]);
    if (!is_last)
      rest = tj_div(graph, rest, along[i]);
    map->origin[map->by_source[i]] = tile_origin(map, map->by_source[i], at);
  }
}

/* The last block of a tile ends where the tile does. */
static const tj_node *block_origin(const mapping *map, uint32_t mode, const tj_node *at) {
  tj_graph *graph = map->graph;
  int64_t last = reach_of(map, mode) - map->size[mode];
  const tj_node *origin = tj_mul(graph, at, tj_int(graph, map->size[mode]));
  return last % map->size[mode] == 0 ? origin : tj_min(graph, origin, tj_int(graph, last));
}

/* Numbers the blocks of a tile in the order of the destination. */
static void place_blocks(mapping *map) {
  tj_graph *graph = map->graph;
  int64_t left = map->work_items;
  map->item = tj_coordinate(graph, "t", tj_int(graph, map->work_items));
  const tj_node *rest = map->item;
  for (uint32_t i = 0; i < map->domain->count; i++) {
    uint32_t mode = map->by_destination[i];
    const tj_node *blocks = tj_int(graph, map->blocks[mode]);
    left /= map->blocks[mode];
    const tj_node *at = left == 1 ? rest : tj_mod(graph, rest, blocks);
    rest = left == 1 ? tj_int(graph, 0) : tj_div(graph, rest, blocks);
    map->origin[mode] = tj_add(graph, map->origin[mode], block_origin(map, mode, at));
  }
  tj_simplify(graph, map->origin, map->domain->count, NULL);
}

/* --- accesses --- */

/* The accesses of a block on one side: rows `distance` apart, each of neighbours. */
typedef struct {
  tj_access first;
  const tj_node *distance;
} row_access;

static const tj_kernel_step *flat_step(const mapping *map, bool is_load) {
  return &map->flat->step[is_load ? 0 : 1];
}

static tj_access access_at(const mapping *map, bool is_load, const tj_node *const digit[]) {
  uint32_t buffer = flat_step(map, is_load)->access.buffer;
  return is_load ? tj_domain_source(map->graph, map->domain, buffer, digit)
                 : tj_domain_destination(map->graph, map->domain, buffer, digit);
}

/* How one side cuts a block into rows: `width` elements along a mode, `depth` times. */
typedef struct {
  uint32_t along, across;
  int64_t width, depth, step;
} row_form;

static row_form form_of(const mapping *map, bool is_load) {
  if (is_load || map->along == map->by_destination[0])
    return (row_form){map->along, map->across, map->width, map->depth, map->step};
  return (row_form){map->across, map->along, map->depth, map->width, 1};
}

/* Where any element of the block is, in symbols for its row and its place there. */
static tj_access general_access(const mapping *map, bool is_load, const row_form *form, const tj_node *row,
                                const tj_node *lane) {
  tj_graph *graph = map->graph;
  const tj_node **digit = TJ_NEW_ARRAY(graph->job, const tj_node *, map->domain->count);
  for (uint32_t m = 0; m < map->domain->count; m++)
    digit[m] = map->origin[m];
  digit[form->along] = tj_add(graph, digit[form->along], lane);
  digit[form->across] = tj_add(graph, digit[form->across], tj_mul(graph, row, tj_int(graph, form->step)));
  tj_simplify(graph, digit, map->domain->count, NULL);
  return access_at(map, is_load, digit);
}

/* Shows that the rows are what the mapping takes them for; false where it does not come out. */
static bool find_rows(const mapping *map, bool is_load, row_access *rows) {
  tj_graph *graph = map->graph;
  row_form form = form_of(map, is_load);
  const tj_node *row = tj_coordinate(graph, "row", tj_int(graph, form.depth));
  const tj_node *lane = tj_coordinate(graph, "lane", tj_int(graph, form.width));
  tj_access any = general_access(map, is_load, &form, row, lane);
  rows->first = access_at(map, is_load, map->origin);
  rows->distance =
      tj_simplified(graph, tj_mul(graph, stride_on(map, form.across, is_load), tj_int(graph, form.step)));
  const tj_node *expected =
      tj_add(graph, rows->first.offset, tj_add(graph, lane, tj_mul(graph, row, rows->distance)));
  const tj_node *node[] = {any.offset, any.valid, expected, rows->first.offset};
  tj_simplify(graph, node, 4, NULL);
  rows->first.offset = node[3];
  rows->first.valid = node[1];
  return tj_is_int(node[1], 1) && tj_prove_equal(graph, node[0], node[2]);
}

/* --- steps --- */

static tj_access nth_row(const mapping *map, const row_access *rows, int64_t row) {
  tj_access access = rows->first;
  if (tj_is_constant(rows->distance) && rows->distance->value >= 0)
    access.displacement = row * rows->distance->value;
  else
    access.base = tj_simplified(map->graph, tj_mul(map->graph, rows->distance, tj_int(map->graph, row)));
  return access;
}

static void add_rows(const mapping *map, tj_kernel *kernel, bool is_load, const row_access *rows) {
  row_form form = form_of(map, is_load);
  bool is_turned = !is_load && map->along != map->by_destination[0];
  for (int64_t row = 0; row < form.depth; row++) {
    tj_kernel_step *step = &kernel->step[kernel->step_count++];
    *step = (tj_kernel_step){.kind = is_load ? TJ_STEP_LOAD : TJ_STEP_STORE, .access = nth_row(map, rows, row)};
    step->width = (uint32_t)form.width;
    step->slot = (uint32_t)(is_turned ? row : row * form.width);
    step->slot_step = (uint32_t)(is_turned ? map->width : 1);
  }
}

/* --- kernels --- */

static uint32_t bytes_of(const mapping *map, bool is_load) {
  return tj_dtype_bits(map->flat->buffer[flat_step(map, is_load)->access.buffer].dtype) / 8;
}

/* Whether the destination is so large that nothing of it would be in a cache when it is read again. */
static bool is_streamed(const mapping *map) {
  const tj_node *elements = map->flat->buffer[flat_step(map, false)->access.buffer].element_count;
  return elements->facts.low >= STREAM_BYTES / bytes_of(map, false);
}

/* How far ahead of a load the tile after the next one begins. */
static uint32_t prefetch_distance(const mapping *map) {
  uint32_t first = map->by_source[0];
  return (uint32_t)reach_of(map, first);
}

static tj_kernel *make_kernel(const mapping *map, const row_access *loaded, const row_access *stored) {
  tj_graph *graph = map->graph;
  tj_kernel *kernel = TJ_NEW(graph->job, tj_kernel);
  *kernel = *map->flat;
  kernel->index = NULL;
  kernel->workgroup = map->workgroup;
  kernel->item = map->item;
  kernel->workgroup_size = (uint32_t)map->work_items;
  kernel->count = tj_simplified(graph, tj_mul(graph, map->tiles, tj_int(graph, map->work_items)));
  kernel->slot_count = (uint32_t)(map->width * map->depth);
  kernel->step = TJ_NEW_ARRAY(graph->job, tj_kernel_step, (size_t)(map->width + 2 * map->depth));
  kernel->step_count = 0;
  kernel->is_streamed = is_streamed(map);
  kernel->prefetch = kernel->is_streamed ? prefetch_distance(map) : 0;
  add_rows(map, kernel, true, loaded);
  add_rows(map, kernel, false, stored);
  return tj_kernel_fits(graph, kernel) ? kernel : NULL;
}

tj_kernel *tj_map_blocks(tj_graph *graph, const tj_kernel *flat, const tj_target *target) {
  mapping map = {.graph = graph, .flat = flat, .domain = flat->domain, .target = target};
  if (map.domain == NULL || map.domain->count == 0 || map.domain->count > MOST_MODES || !is_even(&map))
    return NULL;
  sort_modes(&map, map.by_source, true);
  sort_modes(&map, map.by_destination, false);
  uint32_t loaded = bytes_of(&map, true), stored = bytes_of(&map, false), bytes = loaded > stored ? loaded : stored;
  if (!is_contiguous(&map) || bytes >= 16)
    return NULL;
  choose_block(&map, target->block_bytes / bytes);
  choose_tile(&map, bytes);
  if (map.width < 2 && map.depth < 2)
    return NULL;
  map.origin = TJ_NEW_ARRAY(graph->job, const tj_node *, map.domain->count);
  place_tiles(&map);
  place_blocks(&map);
  row_access load_rows, store_rows;
  if (!find_rows(&map, true, &load_rows) || !find_rows(&map, false, &store_rows))
    return NULL;
  return make_kernel(&map, &load_rows, &store_rows);
}
