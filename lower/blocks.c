/* Choosing blocks and their order.
 *
 * A block is as many cache lines of the source as a register file holds. Where source and destination are contiguous
 * along the same mode, it is a few vectors that stay as they are; otherwise rows along the source's mode, which are
 * stored as columns along the destination's. Workgroups take tiles of blocks in the order of the source, so that what
 * follows can be fetched ahead. The tile is so large that both sides see more than one line in a row, and so small
 * that few pages are in use at a time.
 *
 * What is not worth caching bypasses the caches, which only pays line by line. Columns that fill lines go straight
 * from registers; other tiles are put together in LDS first, in the order of the destination, which gets them in runs
 * as long as there are.
 *
 * That a row is contiguous, and how far rows are from one another, is shown with symbols for both, once for all. */
#include "lower/blocks.h"

#include "ir/facts.h"
#include "ir/simplify.h"
#include "lower/faster.h"
#include "lower/transpose.h"

enum {
  MOST_MODES = 16,
  LINE_BYTES = 64,         /* of a cache line, as far as the order of things goes */
  MOST_BLOCK_BYTES = 1024, /* of a block that turns around */
  MOST_ROWS = 32,          /* of it: more would be in too many pages */
  FREE_VECTORS = 4,        /* of a block that does not turn, along a mode whose extent is not known, */
  MOST_VECTORS = 8,        /* and at most */
  STREAM_ALIGNMENT = 16,   /* bytes: of vectors that are streamed from registers */
  STREAM_BYTES = 4 << 20,  /* of a destination that is not worth caching */
  STAGED_BYTES = 128 * 1024
};

/* Bytes that a tile has side by side, at least: on the source's side, and on the destination's. */
typedef struct {
  int64_t loaded, stored;
} runs;

static const runs turned_runs = {256, 128}, straight_runs = {1024, 1024};
static const runs staged_runs = {256, 256}, staged_byte_runs = {128, 512};
static const int64_t LARGEST_EXTENT = (int64_t)1 << 48;

/* How a tile lies in LDS: in the destination's order. Its first modes there make a run, the rest number the runs. */
typedef struct {
  uint32_t modes; /* of a run */
  int64_t run;    /* elements */
  int64_t pitch;  /* from one to the next */
  int64_t runs;
  int64_t stride[MOST_MODES]; /* by mode */
} staging;

typedef struct {
  tj_graph *graph;
  const tj_kernel *flat;
  const tj_domain *domain; /* in terms of what is assumed */
  const tj_target *target;
  const tj_substitution *assumed;
  bool is_large;                                              /* the destination is assumed to be */
  uint32_t by_source[MOST_MODES], by_destination[MOST_MODES]; /* modes, smallest stride first */
  uint32_t along, across;                                     /* of the rows of a block */
  int64_t width, depth;                                       /* elements of a row; rows */
  int64_t panels;                                             /* that turn around: rows side by side, */
  int64_t step;                                               /* coordinates from one row to the next */
  int64_t size[MOST_MODES];                                   /* of a block */
  int64_t blocks[MOST_MODES];                                 /* of a tile */
  int64_t work_items;
  const tj_node *workgroup, *item, *tiles;
  const tj_node **corner; /* the first coordinate of the tile, by mode, */
  const tj_node **within; /* of a work-item's block within it, */
  const tj_node **origin; /* and of that block */
  bool is_staged;
  staging stage;
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

/* --- elements --- */

static const tj_kernel_step *flat_step(const mapping *map, bool is_load) {
  return &map->flat->step[is_load ? 0 : 1];
}

static tj_dtype dtype_of(const mapping *map, bool is_load) {
  return map->flat->buffer[flat_step(map, is_load)->access.buffer].dtype;
}

static int64_t bytes_of(const mapping *map, bool is_load) {
  return tj_dtype_bits(dtype_of(map, is_load)) / 8;
}

/* Of an element, in the wider of the two types. */
static int64_t element_bytes(const mapping *map) {
  int64_t loaded = bytes_of(map, true), stored = bytes_of(map, false);
  return loaded > stored ? loaded : stored;
}

/* Elements of a vector register. */
static int64_t lanes_of(const mapping *map) {
  return map->target->block_bytes / element_bytes(map);
}

/* Elements of a row that turns around. */
static int64_t columns_of(const mapping *map) {
  return TJ_PERMUTED_BYTES / element_bytes(map);
}

/* Rows that turn around together. */
static int64_t rows_of(const mapping *map) {
  return lanes_of(map) < MOST_ROWS ? lanes_of(map) : MOST_ROWS;
}

/* --- blocks --- */

static bool is_turned(const mapping *map) {
  return map->along != map->by_destination[0];
}

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

/* The greatest divisor of a mode's count of pieces that is at most MOST_VECTORS; where it is not known, a few. */
static int64_t common_count(const mapping *map, uint32_t mode, int64_t piece) {
  int64_t pieces = greatest_extent(map, mode) / piece;
  if (!is_fixed(map, mode))
    return least_extent(map, mode) / piece < FREE_VECTORS ? 1 : FREE_VECTORS;
  if (greatest_extent(map, mode) % piece != 0)
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
  map->panels = 1;
  map->width = power_within(lanes, least_extent(map, first));
  map->step = map->width;
  map->depth = common_count(map, first, map->width);
  if (map->depth <= 2 && map->domain->count > 1) {
    map->across = map->by_destination[1];
    map->step = 1;
    map->depth = common_count(map, map->across, 1);
  }
}

/* Rows of columns that turn around by themselves, side by side up to a cache line. */
static void choose_turned(mapping *map) {
  map->along = map->by_source[0];
  map->across = map->by_destination[0];
  map->width = power_within(columns_of(map), least_extent(map, map->along));
  map->depth = power_within(rows_of(map), least_extent(map, map->across));
  map->step = 1;
  int64_t most = MOST_BLOCK_BYTES / (map->width * map->depth * element_bytes(map));
  int64_t line = LINE_BYTES / (map->width * element_bytes(map));
  map->panels = power_within(most < line ? most : line, least_extent(map, map->along) / map->width);
}

static void choose_block(mapping *map, int64_t lanes) {
  if (map->by_source[0] == map->by_destination[0])
    choose_straight(map, lanes);
  else
    choose_turned(map);
  for (uint32_t m = 0; m < map->domain->count; m++)
    map->size[m] = 1;
  map->size[map->along] = map->width * map->panels;
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
    count = best_count(greatest_extent(map, mode), size, count, map->is_staged ? count + count / 2 + 1 : 3 * count);
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
    if (reach_of(map, mode) < greatest_extent(map, mode))
      return;
  }
}

static void reach_both(mapping *map, int64_t loaded, int64_t stored) {
  for (uint32_t m = 0; m < map->domain->count; m++)
    map->blocks[m] = 1;
  reach(map, map->by_destination, false, stored);
  reach(map, map->by_source, true, loaded);
}

static void choose_tile(mapping *map) {
  const runs *wanted = is_turned(map) ? &turned_runs : &straight_runs;
  reach_both(map, wanted->loaded / element_bytes(map), wanted->stored / element_bytes(map));
}

/* --- tiles in LDS --- */

static bool is_whole(const mapping *map, uint32_t mode) {
  return is_fixed(map, mode) && reach_of(map, mode) == greatest_extent(map, mode);
}

/* How many of the destination's first modes the tile has in one run. */
static uint32_t modes_of_run(const mapping *map) {
  int64_t have = 1;
  for (uint32_t i = 0; i < map->domain->count; i++) {
    uint32_t mode = map->by_destination[i];
    if (!tj_is_int(stride_on(map, mode, false), have))
      return i;
    if (!is_whole(map, mode))
      return i + 1;
    have *= reach_of(map, mode);
  }
  return map->domain->count;
}

/* Lines between runs are odd in number, so that columns of a tile spread over the cache. */
static int64_t pitch_of(const mapping *map, int64_t run) {
  int64_t lines = pieces_of(run * bytes_of(map, false), LINE_BYTES) | 1;
  return lines * LINE_BYTES / bytes_of(map, false);
}

static void lay_out(mapping *map) {
  staging *stage = &map->stage;
  *stage = (staging){.modes = modes_of_run(map), .run = 1, .runs = 1};
  for (uint32_t i = 0; i < map->domain->count; i++) {
    uint32_t mode = map->by_destination[i];
    if (i == stage->modes)
      stage->pitch = pitch_of(map, stage->run);
    stage->stride[mode] = i < stage->modes ? stage->run : stage->pitch * stage->runs;
    *(i < stage->modes ? &stage->run : &stage->runs) *= reach_of(map, mode);
  }
  if (stage->modes == map->domain->count)
    stage->pitch = pitch_of(map, stage->run);
}

/* With room for a vector that begins with the last one. */
static int64_t staged_elements(const mapping *map) {
  return map->stage.pitch * map->stage.runs + map->target->block_bytes / bytes_of(map, false);
}

static const runs *wanted_runs(const mapping *map) {
  return !is_turned(map) ? &straight_runs : element_bytes(map) == 1 ? &staged_byte_runs : &staged_runs;
}

/* A tile with long runs on both sides, as far as it fits. */
static void choose_staged_tile(mapping *map) {
  const runs *wanted = wanted_runs(map);
  int64_t loaded = wanted->loaded / bytes_of(map, true), stored = wanted->stored / bytes_of(map, false);
  int64_t most = STAGED_BYTES / bytes_of(map, false);
  reach_both(map, loaded, stored);
  lay_out(map);
  while (staged_elements(map) > most && loaded + stored > 2) {
    *(loaded >= stored ? &loaded : &stored) /= 2;
    reach_both(map, loaded, stored);
    lay_out(map);
  }
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
    map->corner[map->by_source[i]] = tile_origin(map, map->by_source[i], at);
  }
}

/* The last block of a tile ends where the tile does. */
static const tj_node *block_origin(const mapping *map, uint32_t mode, const tj_node *at) {
  tj_graph *graph = map->graph;
  int64_t last = reach_of(map, mode) - map->size[mode];
  const tj_node *origin = tj_mul(graph, at, tj_int(graph, map->size[mode]));
  return last % map->size[mode] == 0 ? origin : tj_min(graph, origin, tj_int(graph, last));
}

/* Numbers the blocks of a tile in the order of the destination, or of the source where the tile is staged. */
static void place_blocks(mapping *map) {
  tj_graph *graph = map->graph;
  map->work_items = 1;
  for (uint32_t m = 0; m < map->domain->count; m++)
    map->work_items *= map->blocks[m];
  int64_t left = map->work_items;
  map->item = tj_coordinate(graph, "t", tj_int(graph, map->work_items));
  const tj_node *rest = map->item;
  for (uint32_t i = 0; i < map->domain->count; i++) {
    uint32_t mode = map->is_staged ? map->by_source[i] : map->by_destination[i];
    const tj_node *blocks = tj_int(graph, map->blocks[mode]);
    left /= map->blocks[mode];
    const tj_node *at = left == 1 ? rest : tj_mod(graph, rest, blocks);
    rest = left == 1 ? tj_int(graph, 0) : tj_div(graph, rest, blocks);
    map->within[mode] = block_origin(map, mode, at);
    map->origin[mode] = tj_add(graph, map->corner[mode], map->within[mode]);
  }
  tj_simplify(graph, map->origin, map->domain->count, NULL);
}

/* --- accesses --- */

/* The accesses of a block on one side: rows `distance` apart, each of neighbours. */
typedef struct {
  tj_access first;
  const tj_node *distance;
} row_access;

static tj_access access_at(const mapping *map, bool is_load, const tj_node *const digit[]) {
  uint32_t buffer = flat_step(map, is_load)->access.buffer;
  tj_access access = is_load ? tj_domain_source(map->graph, map->domain, buffer, digit)
                             : tj_domain_destination(map->graph, map->domain, buffer, digit);
  const tj_node *parts[] = {access.offset, access.valid};
  tj_substitute(map->graph, map->assumed, parts, 2);
  return (tj_access){.buffer = access.buffer, .offset = parts[0], .valid = parts[1]};
}

/* How one side cuts a block into rows: `width` elements along a mode, `depth` times. */
typedef struct {
  uint32_t along, across;
  int64_t width, depth, step;
} row_form;

static row_form form_of(const mapping *map, bool is_load) {
  if (is_load || map->along == map->by_destination[0])
    return (row_form){map->along, map->across, map->width * map->panels, map->depth, map->step};
  return (row_form){map->across, map->along, map->depth, map->width * map->panels, 1};
}

/* Any block of the domain, by symbols: the first coordinate along each mode. */
static const tj_node *const *any_origin(const mapping *map) {
  tj_graph *graph = map->graph;
  const tj_node **origin = TJ_NEW_ARRAY(graph->job, const tj_node *, map->domain->count);
  for (uint32_t m = 0; m < map->domain->count; m++) {
    const tj_node *last = tj_sub(graph, extent_of(map, m), tj_int(graph, map->size[m] - 1));
    origin[m] = tj_coordinate(graph, "origin", tj_simplified(graph, last));
  }
  return origin;
}

/* Any element of a block. */
static tj_access any_access(const mapping *map, bool is_load, const row_form *form, const tj_node *const origin[],
                            const tj_node *row, const tj_node *lane) {
  tj_graph *graph = map->graph;
  const tj_node **digit = TJ_NEW_ARRAY(graph->job, const tj_node *, map->domain->count);
  for (uint32_t m = 0; m < map->domain->count; m++)
    digit[m] = origin[m];
  digit[form->along] = tj_add(graph, digit[form->along], lane);
  digit[form->across] = tj_add(graph, digit[form->across], tj_mul(graph, row, tj_int(graph, form->step)));
  tj_simplify(graph, digit, map->domain->count, NULL);
  return access_at(map, is_load, digit);
}

/* Whether the rows of all blocks are what the mapping takes them for. */
static bool are_rows(const mapping *map, bool is_load, const row_form *form, const tj_node *distance) {
  tj_graph *graph = map->graph;
  const tj_node *row = tj_coordinate(graph, "row", tj_int(graph, form->depth));
  const tj_node *lane = tj_coordinate(graph, "lane", tj_int(graph, form->width));
  const tj_node *const *origin = any_origin(map);
  tj_access any = any_access(map, is_load, form, origin, row, lane);
  const tj_node *first = access_at(map, is_load, origin).offset;
  const tj_node *expected = tj_add(graph, first, tj_add(graph, lane, tj_mul(graph, row, distance)));
  const tj_node *node[] = {any.offset, any.valid, expected};
  tj_simplify(graph, node, 3, NULL);
  return tj_is_int(node[1], 1) && tj_prove_equal(graph, node[0], node[2]);
}

static bool find_rows(const mapping *map, bool is_load, row_access *rows) {
  tj_graph *graph = map->graph;
  row_form form = form_of(map, is_load);
  const tj_node *stride = stride_on(map, form.across, is_load);
  rows->distance = tj_simplified(graph, tj_mul(graph, stride, tj_int(graph, form.step)));
  if (!are_rows(map, is_load, &form, rows->distance))
    return false;
  rows->first = access_at(map, is_load, map->origin);
  rows->first.offset = tj_simplified(graph, rows->first.offset);
  rows->first.valid = tj_int(graph, 1);
  return true;
}

/* The same rows of the tile after this one. */
static row_access rows_ahead(const mapping *map, const row_access *rows) {
  tj_graph *graph = map->graph;
  const tj_node *one = tj_int(graph, 1);
  const tj_node *next = tj_min(graph, tj_add(graph, map->workgroup, one), tj_sub(graph, map->tiles, one));
  tj_substitution substitution = {(const tj_node *[]){map->workgroup}, (const tj_node *[]){next}, 1};
  row_access ahead = *rows;
  tj_substitute(graph, &substitution, &ahead.first.offset, 1);
  return ahead;
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

static tj_kernel_step *add_step(tj_kernel *kernel, tj_step_kind kind, tj_access access) {
  tj_kernel_step *step = &kernel->step[kernel->step_count++];
  *step = (tj_kernel_step){.kind = kind, .access = access, .width = 1, .slot_step = 1};
  return step;
}

static void add_prefetches(const mapping *map, tj_kernel *kernel, const row_access *rows) {
  for (int64_t row = 0; row < map->depth; row++)
    add_step(kernel, TJ_STEP_PREFETCH, nth_row(map, rows, row));
}

/* Loads the block's rows, panel by panel. */
static void add_loads(const mapping *map, tj_kernel *kernel, const row_access *rows) {
  for (int64_t i = 0; i < map->panels * map->depth; i++) {
    tj_access access = nth_row(map, rows, i % map->depth);
    access.displacement += i / map->depth * map->width;
    tj_kernel_step *step = add_step(kernel, TJ_STEP_LOAD, access);
    step->width = (uint32_t)map->width;
    step->slot = (uint32_t)(i * map->width);
  }
}

/* Stores the rows as they are, or the columns of what has been loaded. */
static void add_stores(const mapping *map, tj_kernel *kernel, const row_access *rows) {
  row_form form = form_of(map, false);
  for (int64_t row = 0; row < form.depth; row++) {
    tj_kernel_step *step = add_step(kernel, TJ_STEP_STORE, nth_row(map, rows, row));
    int64_t panel = row / map->width * map->width * map->depth;
    step->width = (uint32_t)form.width;
    step->slot = (uint32_t)(is_turned(map) ? panel + row % map->width : row * form.width);
    step->slot_step = (uint32_t)(is_turned(map) ? map->width : 1);
  }
}

/* --- staging --- */

/* The block's place in LDS. */
static row_access staged_rows(const mapping *map) {
  tj_graph *graph = map->graph;
  row_form form = form_of(map, false);
  const tj_node *offset = tj_int(graph, 0);
  for (uint32_t m = 0; m < map->domain->count; m++)
    offset = tj_add(graph, offset, tj_mul(graph, map->within[m], tj_int(graph, map->stage.stride[m])));
  const tj_node *distance = tj_int(graph, map->stage.stride[form.across] * form.step);
  tj_access first = {.buffer = TJ_LDS, .offset = tj_simplified(graph, offset), .valid = tj_int(graph, 1)};
  return (row_access){first, distance};
}

/* Element `lane` of a run of the tile at `corner`. */
static tj_access run_access(const mapping *map, const tj_node *const corner[], const tj_node *number,
                            const tj_node *lane) {
  tj_graph *graph = map->graph;
  uint32_t count = map->domain->count, modes = map->stage.modes;
  const tj_node **digit = TJ_NEW_ARRAY(graph->job, const tj_node *, count);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t mode = map->by_destination[i];
    const tj_node **rest = i < modes ? &lane : &number, *reached = tj_int(graph, reach_of(map, mode));
    bool is_last = i + 1 == modes || i + 1 == count;
    digit[mode] = tj_add(graph, corner[mode], is_last ? *rest : tj_mod(graph, *rest, reached));
    *rest = tj_div(graph, *rest, reached);
  }
  tj_simplify(graph, digit, count, NULL);
  return access_at(map, false, digit);
}

/* Any tile of the domain, by symbols. */
static const tj_node *const *any_corner(const mapping *map) {
  tj_graph *graph = map->graph;
  const tj_node **corner = TJ_NEW_ARRAY(graph->job, const tj_node *, map->domain->count);
  for (uint32_t m = 0; m < map->domain->count; m++) {
    const tj_node *last = tj_sub(graph, extent_of(map, m), tj_int(graph, reach_of(map, m) - 1));
    corner[m] = is_whole(map, m) ? tj_int(graph, 0) : tj_coordinate(graph, "corner", tj_simplified(graph, last));
  }
  return corner;
}

/* Whether the runs of all tiles are contiguous. */
static bool are_runs(const mapping *map) {
  tj_graph *graph = map->graph;
  const tj_node *number = tj_coordinate(graph, "run", tj_int(graph, map->stage.runs));
  const tj_node *lane = tj_coordinate(graph, "lane", tj_int(graph, map->stage.run));
  const tj_node *const *corner = any_corner(map);
  tj_access any = run_access(map, corner, number, lane);
  const tj_node *first = run_access(map, corner, number, tj_int(graph, 0)).offset;
  const tj_node *node[] = {any.offset, any.valid, tj_add(graph, first, lane)};
  tj_simplify(graph, node, 3, NULL);
  return tj_is_int(node[1], 1) && tj_prove_equal(graph, node[0], node[2]);
}

static int64_t streams_of_item(const mapping *map) {
  return pieces_of(map->stage.runs, map->work_items);
}

/* The first element of the run that a work-item takes in turn `i`, valid where there is one. */
static tj_access nth_run(const mapping *map, const tj_node *number) {
  tj_graph *graph = map->graph;
  tj_access access = run_access(map, map->corner, number, tj_int(graph, 0));
  const tj_node *node[] = {access.offset, tj_less(graph, number, tj_int(graph, map->stage.runs))};
  tj_simplify(graph, node, 2, NULL);
  return (tj_access){.buffer = access.buffer, .offset = node[0], .valid = node[1]};
}

static const tj_node *number_of_run(const mapping *map, int64_t i) {
  return tj_add(map->graph, map->item, tj_int(map->graph, i * map->work_items));
}

/* Work-items take the runs in turn. */
static void add_streams(const mapping *map, tj_kernel *kernel) {
  tj_graph *graph = map->graph;
  add_step(kernel, TJ_STEP_BARRIER, (tj_access){0});
  for (int64_t i = 0; i < streams_of_item(map); i++) {
    const tj_node *number = number_of_run(map, i);
    tj_kernel_step *step = add_step(kernel, TJ_STEP_STREAM, nth_run(map, number));
    step->value = tj_simplified(graph, tj_mul(graph, number, tj_int(graph, map->stage.pitch)));
    step->width = (uint32_t)map->stage.run;
  }
}

/* --- kernels --- */

static const tj_node *stored_elements(const mapping *map) {
  return map->flat->buffer[flat_step(map, false)->access.buffer].element_count;
}

/* Whether the destination is so large that nothing of it would be in a cache when it is read again. */
static bool is_streamed(const mapping *map) {
  return map->is_large || stored_elements(map)->facts.low >= STREAM_BYTES / bytes_of(map, false);
}

static const tj_node *const *assumed_parameters(const mapping *map) {
  uint32_t count = map->flat->parameter_count;
  const tj_node **parameter = TJ_NEW_ARRAY(map->graph->job, const tj_node *, count + 1);
  for (uint32_t i = 0; i < count; i++)
    parameter[i] = map->flat->parameter[i];
  tj_substitute(map->graph, map->assumed, parameter, count);
  return parameter;
}

/* What comes next is fetched while stores are on their way: loads and stores overlap. */
static void add_steps(const mapping *map, tj_kernel *kernel, const row_access *loaded, const row_access *stored) {
  row_access ahead = rows_ahead(map, loaded);
  if (kernel->is_streamed && !map->is_staged)
    add_prefetches(map, kernel, &ahead);
  add_loads(map, kernel, loaded);
  add_stores(map, kernel, stored);
  if (map->is_staged) {
    add_streams(map, kernel);
    add_prefetches(map, kernel, &ahead);
    kernel->lds_elements = (uint32_t)staged_elements(map);
  }
}

static size_t most_steps(const mapping *map) {
  int64_t moved = (map->panels + 1) * map->depth, stored = map->panels * map->width + map->depth;
  return (size_t)(moved + stored + (map->is_staged ? 1 + streams_of_item(map) : 0));
}

static tj_kernel *make_kernel(const mapping *map, const row_access *loaded, const row_access *stored) {
  tj_graph *graph = map->graph;
  tj_kernel *kernel = TJ_NEW(graph->job, tj_kernel);
  *kernel = *map->flat;
  kernel->faster = NULL;
  kernel->condition = NULL;
  kernel->index = NULL;
  kernel->parameter = assumed_parameters(map);
  kernel->workgroup = map->workgroup;
  kernel->item = map->item;
  kernel->workgroup_size = (uint32_t)map->work_items;
  kernel->count = tj_simplified(graph, tj_mul(graph, map->tiles, tj_int(graph, map->work_items)));
  kernel->slot_count = (uint32_t)(map->width * map->panels * map->depth);
  kernel->step = TJ_NEW_ARRAY(graph->job, tj_kernel_step, most_steps(map));
  kernel->step_count = 0;
  kernel->is_streamed = is_streamed(map);
  add_steps(map, kernel, loaded, stored);
  return tj_kernel_fits(graph, kernel) ? kernel : NULL;
}

static bool is_plain(const tj_kernel *flat) {
  return flat->step_count == 2 && flat->step[0].kind == TJ_STEP_LOAD && flat->step[1].kind == TJ_STEP_STORE;
}

static bool sort_all(mapping *map) {
  if (!is_plain(map->flat) || map->domain == NULL || map->domain->count == 0 || map->domain->count > MOST_MODES ||
      !is_even(map))
    return false;
  sort_modes(map, map->by_source, true);
  sort_modes(map, map->by_destination, false);
  return is_contiguous(map);
}

/* Whether a block is smaller than it should be along a mode that may well be longer. */
static bool is_stunted(const mapping *map, uint32_t mode, int64_t size, int64_t wanted) {
  return size < 2 || (!is_fixed(map, mode) && size < wanted);
}

static bool is_worth_it(const mapping *map) {
  int64_t lanes = lanes_of(map);
  if (!is_turned(map))
    return columns_of(map) == 1 || !is_stunted(map, map->along, map->width, lanes);
  return !is_stunted(map, map->along, map->width * map->panels, columns_of(map)) &&
         !is_stunted(map, map->across, map->depth, rows_of(map));
}

/* Whether vectors of the destination are aligned well enough, and never overlap: then lines are stored as a whole. */
static bool has_whole_vectors(const mapping *map) {
  uint32_t first = map->by_destination[0];
  int64_t aligned = STREAM_ALIGNMENT / bytes_of(map, false), width = form_of(map, false).width;
  for (uint32_t m = 0; m < map->domain->count; m++) {
    if (m != first && !tj_facts_divisible(&stride_on(map, m, false)->facts, aligned))
      return false;
  }
  return width == lanes_of(map) && tj_facts_divisible(&extent_of(map, first)->facts, width);
}

/* Whether a destination that is not worth caching takes the elements as they are carried, and would take them better
 * in long runs than from registers. */
static bool is_better_staged(const mapping *map) {
  bool is_raw = map->flat->carried == dtype_of(map, false) && map->flat->scaling.when != TJ_SCALED_STORING;
  return is_streamed(map) && is_raw && (element_bytes(map) >= 8 || !has_whole_vectors(map));
}

static void place(mapping *map) {
  uint32_t count = map->domain->count;
  const tj_node **coordinate = TJ_NEW_ARRAY(map->graph->job, const tj_node *, 3 * (size_t)count);
  map->corner = coordinate;
  map->within = coordinate + count;
  map->origin = coordinate + 2 * count;
  place_tiles(map);
  place_blocks(map);
}

/* By way of LDS, from which whole runs are streamed. */
static tj_kernel *map_staged(mapping *map) {
  map->is_staged = true;
  choose_staged_tile(map);
  bool fits = staged_elements(map) * bytes_of(map, false) <= map->target->lds_bytes;
  if (!fits || !are_runs(map))
    return NULL;
  place(map);
  row_access loaded, stored = staged_rows(map);
  return find_rows(map, true, &loaded) ? make_kernel(map, &loaded, &stored) : NULL;
}

/* From registers. */
static tj_kernel *map_directly(mapping *map) {
  map->is_staged = false;
  choose_tile(map);
  place(map);
  row_access loaded, stored;
  if (!find_rows(map, true, &loaded) || !find_rows(map, false, &stored))
    return NULL;
  return make_kernel(map, &loaded, &stored);
}

/* NULL where the blocks would be single elements, or are not what they should be. */
static tj_kernel *map_blocks(mapping *map) {
  if (!sort_all(map))
    return NULL;
  choose_block(map, lanes_of(map));
  if (!is_worth_it(map))
    return NULL;
  tj_kernel *staged = is_better_staged(map) ? map_staged(map) : NULL;
  return staged != NULL ? staged : map_directly(map);
}

/* --- parameters --- */

/* How far blocks would reach, `count` of them, if all modes were long enough. */
static const int64_t *wanted_extents(const mapping *map, int64_t count) {
  int64_t *extent = TJ_NEW_ARRAY(map->graph->job, int64_t, map->domain->count);
  bool is_straight = map->by_source[0] == map->by_destination[0];
  for (uint32_t m = 0; m < map->domain->count; m++)
    extent[m] = 1;
  extent[map->by_source[0]] = extent[map->by_destination[0]] = (is_straight ? FREE_VECTORS : count) * lanes_of(map);
  return extent;
}

/* The kernel for parameters that meet the demands, offered in the place of `last`; NULL where there is none. */
static tj_kernel *offer(mapping *map, tj_kernel *last, const tj_demands *demands, const char *suffix) {
  tj_graph *graph = map->graph;
  tj_substitution assumed = tj_assume(graph, demands);
  map->assumed = &assumed;
  map->domain = tj_assumed_domain(graph, map->flat->domain, &assumed);
  tj_kernel *faster = map_blocks(map);
  if (faster != NULL)
    tj_offer_faster(graph, last, faster, demands, tj_string_format(graph->job, "%s.%s", map->flat->name, suffix));
  return faster;
}

/* Blocks for shapes that are not too small. */
static tj_kernel *offer_blocks(mapping map, tj_kernel *flat, const int64_t *wanted) {
  tj_demands some = tj_find_demands(map.graph, flat->domain, 1, wanted);
  return some.count > 0 ? offer(&map, flat, &some, "blocks") : NULL;
}

/* Streams for large ones. */
static void offer_streams(mapping map, tj_kernel *blocks, const int64_t *wanted) {
  tj_graph *graph = map.graph;
  const tj_node *least = tj_int(graph, STREAM_BYTES / bytes_of(&map, false));
  tj_demands some = tj_find_demands(graph, map.flat->domain, 1, wanted);
  map.is_large = true;
  if (stored_elements(&map)->facts.high < least->value || offer(&map, blocks, &some, "streams") == NULL)
    return;
  const tj_node *is_large = tj_less_equal(graph, least, stored_elements(&map));
  blocks->condition = tj_simplified(graph, tj_and(graph, blocks->condition, is_large));
}

tj_kernel *tj_map_blocks(tj_graph *graph, tj_kernel *flat, const tj_target *target) {
  static const tj_substitution nothing;
  mapping map = {.graph = graph, .flat = flat, .domain = flat->domain, .target = target, .assumed = &nothing};
  if (!sort_all(&map))
    return NULL;
  const int64_t *few = wanted_extents(&map, 1), *more = wanted_extents(&map, 2);
  tj_kernel *general = map_blocks(&map), *blocks = general;
  if (general == NULL) {
    general = flat;
    blocks = offer_blocks(map, flat, few);
  }
  if (blocks == NULL)
    return NULL;
  if (!blocks->is_streamed)
    offer_streams(map, blocks, more);
  return general;
}
