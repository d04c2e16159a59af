/* SPDX-License-Identifier: MIT */
/* Choosing blocks and their order.
 *
 * A block is as many cache lines of the source as a register file holds. Where source and destination are contiguous
 * along the same mode, it is a few vectors that stay as they are; otherwise rows along the source's mode, which are
 * stored as columns along the destination's. Workgroups take tiles of blocks in the order of the source, so that what
 * follows can be fetched ahead. The tile is so large that both sides see more than one line in a row, and so small
 * that few pages are in use at a time.
 *
 * What is not worth caching bypasses the caches, which only pays line by line, and more where neighbouring lines
 * follow each other. Columns that fill lines go straight from registers, those of blocks that are stacked a few lines
 * at a time; other tiles are put together in LDS first, in the order of the destination, which gets them in runs as
 * long as there are. The tile that follows is fetched in the order of the source, neighbouring lines together.
 *
 * Shapes that are known at launch only have kernels for sizes from a small block on, from a whole one on, and for
 * large destinations whose columns have whole lines. Vectors that are streamed as they are have to be aligned, so
 * what does that has another kernel beside it, for destinations that begin elsewhere.
 *
 * That a row is contiguous, and how far rows are from one another, is shown with symbols for both, once for all. */
#include "lower/mapping/blocks.h"

#include "ir/index/facts.h"
#include "ir/simplify/simplify.h"
#include "lower/kernel/alignment.h"
#include "lower/kernel/variant.h"
#include "lower/mapping/block_shape.h"
#include "lower/mapping/rows.h"

#include <string.h>

/* --- coordinates --- */

/* The last tile of a mode ends where the mode does. */
static const tj_node *tile_origin(const tj_block_map *map, uint32_t mode, const tj_node *at) {
  tj_graph *graph = map->graph;
  const tj_node *size = tj_int(graph, tj_block_reach(map, mode)), *origin = tj_mul(graph, at, size);
  if (tj_facts_divisible(&tj_block_extent(map, mode)->facts, tj_block_reach(map, mode)))
    return origin;
  return tj_min(graph, origin, tj_sub(graph, tj_block_extent(map, mode), size));
}

static const tj_node *tiles_along(const tj_block_map *map, uint32_t mode) {
  tj_graph *graph = map->graph;
  int64_t size = tj_block_reach(map, mode);
  const tj_node *reached = tj_add(graph, tj_block_extent(map, mode), tj_int(graph, size - 1));
  return tj_simplified(graph, tj_div(graph, reached, tj_int(graph, size)));
}

/* Numbers tiles in the order of the source. */
static void place_tiles(tj_block_map *map) {
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
static int64_t first_in_tile(const tj_block_map *map, uint32_t mode, int64_t at) {
  int64_t last = tj_block_reach(map, mode) - map->size[mode];
  return at * map->size[mode] < last ? at * map->size[mode] : last;
}

static const tj_node *block_origin(const tj_block_map *map, uint32_t mode, const tj_node *at) {
  tj_graph *graph = map->graph;
  int64_t last = tj_block_reach(map, mode) - map->size[mode];
  const tj_node *origin = tj_mul(graph, at, tj_int(graph, map->size[mode]));
  return last % map->size[mode] == 0 ? origin : tj_min(graph, origin, tj_int(graph, last));
}

/* The place of a work-item's block among those of the tile, by mode: blocks are numbered in this order of modes. */
static const tj_node **blocks_of_item(const tj_block_map *map, const uint32_t order[]) {
  tj_graph *graph = map->graph;
  const tj_node **at = TJ_NEW_ARRAY(graph->job, const tj_node *, map->domain->count), *rest = map->item;
  int64_t left = map->work_items;
  for (uint32_t i = 0; i < map->domain->count; i++) {
    const tj_node *blocks = tj_int(graph, map->blocks[order[i]]);
    left /= map->blocks[order[i]];
    at[order[i]] = left == 1 ? rest : tj_mod(graph, rest, blocks);
    rest = left == 1 ? tj_int(graph, 0) : tj_div(graph, rest, blocks);
  }
  return at;
}

/* Numbers the blocks of a tile in the order of the destination, or of the source where the tile is staged. */
static void place_blocks(tj_block_map *map) {
  tj_graph *graph = map->graph;
  map->work_items = 1;
  for (uint32_t m = 0; m < map->domain->count; m++)
    map->work_items *= map->blocks[m];
  map->item = tj_coordinate(graph, "t", tj_int(graph, map->work_items));
  const tj_node **at = blocks_of_item(map, map->is_staged ? map->by_source : map->by_destination);
  for (uint32_t m = 0; m < map->domain->count; m++) {
    map->within[m] = block_origin(map, m, at[m]);
    map->origin[m] = tj_add(graph, map->corner[m], map->within[m]);
  }
  tj_simplify(graph, map->origin, map->domain->count, NULL);
}

/* --- accesses --- */

/* The accesses of a block on one side: rows `distance` apart, each of neighbours. */
typedef struct {
  tj_access first;
  const tj_node *distance;
} row_access;

static tj_access access_at(const tj_block_map *map, bool is_load, const tj_node *const digit[]) {
  uint32_t buffer = tj_block_flat_step(map, is_load)->access.buffer;
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

static int64_t rows_of(const tj_block_map *map) {
  return map->depth * map->stacks;
}

static row_form form_of(const tj_block_map *map, bool is_load) {
  if (is_load || map->along == map->by_destination[0])
    return (row_form){map->along, map->across, map->width * map->panels, rows_of(map), map->step};
  return (row_form){map->across, map->along, rows_of(map), map->width * map->panels, 1};
}

/* Any block of the domain, by symbols: the first coordinate along each mode. */
static const tj_node *const *any_origin(const tj_block_map *map) {
  tj_graph *graph = map->graph;
  const tj_node **origin = TJ_NEW_ARRAY(graph->job, const tj_node *, map->domain->count);
  for (uint32_t m = 0; m < map->domain->count; m++) {
    const tj_node *last = tj_sub(graph, tj_block_extent(map, m), tj_int(graph, map->size[m] - 1));
    origin[m] = tj_coordinate(graph, "origin", tj_simplified(graph, last));
  }
  return origin;
}

/* Any element of a block. */
static tj_access any_access(const tj_block_map *map, bool is_load, const row_form *form,
                            const tj_node *const origin[], const tj_node *row, const tj_node *lane) {
  tj_graph *graph = map->graph;
  const tj_node **digit = TJ_NEW_ARRAY(graph->job, const tj_node *, map->domain->count);
  for (uint32_t m = 0; m < map->domain->count; m++)
    digit[m] = origin[m];
  digit[form->along] = tj_add(graph, digit[form->along], lane);
  digit[form->across] = tj_add(graph, digit[form->across], tj_mul(graph, row, tj_int(graph, form->step)));
  tj_simplify(graph, digit, map->domain->count, NULL);
  return access_at(map, is_load, digit);
}

/* Whether the rows of all blocks are what the tj_block_map takes them for. */
static bool are_rows(const tj_block_map *map, bool is_load, const row_form *form, const tj_node *distance) {
  tj_graph *graph = map->graph;
  if (tj_domain_has_own_strides(map->domain, is_load))
    return true;
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

static bool find_rows(const tj_block_map *map, bool is_load, row_access *rows) {
  tj_graph *graph = map->graph;
  row_form form = form_of(map, is_load);
  const tj_node *stride = tj_block_stride(map, form.across, is_load);
  rows->distance = tj_simplified(graph, tj_mul(graph, stride, tj_int(graph, form.step)));
  if (!are_rows(map, is_load, &form, rows->distance))
    return false;
  rows->first = access_at(map, is_load, map->origin);
  rows->first.offset = tj_simplified(graph, rows->first.offset);
  rows->first.valid = tj_int(graph, 1);
  return true;
}

/* The same rows of the tile after this one. */
static row_access rows_ahead(const tj_block_map *map, const row_access *rows) {
  tj_graph *graph = map->graph;
  const tj_node *one = tj_int(graph, 1);
  const tj_node *next = tj_min(graph, tj_add(graph, map->workgroup, one), tj_sub(graph, map->tiles, one));
  tj_substitution substitution = {(const tj_node *[]){map->workgroup}, (const tj_node *[]){next}, 1};
  row_access ahead = *rows;
  tj_substitute(graph, &substitution, &ahead.first.offset, 1);
  return ahead;
}

/* --- steps --- */

static tj_access nth_row(const tj_block_map *map, const row_access *rows, int64_t row) {
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

static uint32_t slot_of(const tj_block_map *map, int64_t panel, int64_t row) {
  return (uint32_t)((panel * rows_of(map) + row) * map->width);
}

/* --- fetching ahead --- */

/* What a work-item fetches of the tile after this one, in the order of the source: of the rows that run through
 * `blocks` blocks side by side, some from end to end, as neighbouring lines are faster to get than lines of several
 * rows. */
typedef struct {
  row_access row;
  uint32_t modes; /* the source's first, along which the blocks are */
  int64_t rows, blocks;
} fetched;

/* Finds the blocks side by side, and where the one that has the work-item's number is among them. */
static const tj_node *find_neighbours(const tj_block_map *map, fetched *all, const tj_node *const at[]) {
  tj_graph *graph = map->graph;
  const tj_node *place = tj_int(graph, 0);
  int64_t have = 1;
  for (; all->modes < map->domain->count; all->modes++) {
    uint32_t mode = map->by_source[all->modes];
    bool is_next = mode != map->across && tj_is_int(tj_block_stride(map, mode, true), have);
    if (!is_next || all->blocks * map->blocks[mode] > rows_of(map))
      break;
    place = tj_add(graph, place, tj_mul(graph, at[mode], tj_int(graph, all->blocks)));
    all->blocks *= map->blocks[mode];
    have *= tj_block_extent(map, mode)->facts.high;
  }
  return place;
}

static fetched rows_to_fetch(const tj_block_map *map, const row_access *loaded) {
  tj_graph *graph = map->graph;
  const tj_node **digit = blocks_of_item(map, map->by_source), *first = tj_int(graph, 0);
  fetched all = {.row = *loaded, .rows = rows_of(map), .blocks = 1};
  if (tj_block_is_turned(map)) {
    const tj_node *place = find_neighbours(map, &all, digit);
    all.rows = tj_block_pieces(rows_of(map), all.blocks);
    first = tj_min(graph, tj_mul(graph, place, tj_int(graph, all.rows)), tj_int(graph, rows_of(map) - all.rows));
  }
  for (uint32_t i = 0; i < map->domain->count; i++) {
    uint32_t mode = map->by_source[i];
    const tj_node *within = i < all.modes ? tj_int(graph, 0) : block_origin(map, mode, digit[mode]);
    digit[mode] = tj_add(graph, map->corner[mode], within);
  }
  digit[map->across] = tj_add(graph, digit[map->across], first);
  all.row.first.offset = tj_simplified(graph, access_at(map, true, digit).offset);
  all.row = rows_ahead(map, &all.row);
  return all;
}

/* From the first of the blocks side by side to another. */
static int64_t distance_of(const tj_block_map *map, const fetched *all, int64_t block) {
  int64_t distance = 0;
  for (uint32_t i = 0; i < all->modes; i++) {
    uint32_t mode = map->by_source[i];
    distance += first_in_tile(map, mode, block % map->blocks[mode]) * tj_block_stride(map, mode, true)->value;
    block /= map->blocks[mode];
  }
  return distance;
}

static void add_prefetches(const tj_block_map *map, tj_kernel *kernel, const row_access *loaded) {
  fetched all = rows_to_fetch(map, loaded);
  for (int64_t i = 0; i < all.rows * all.blocks; i++) {
    tj_access access = nth_row(map, &all.row, i / all.blocks);
    access.displacement += distance_of(map, &all, i % all.blocks);
    add_step(kernel, TJ_STEP_PREFETCH, access);
  }
}

static void add_loads(const tj_block_map *map, tj_kernel *kernel, const row_access *rows, int64_t panel) {
  for (int64_t row = 0; row < rows_of(map); row++) {
    tj_access access = nth_row(map, rows, row);
    access.displacement += panel * map->width;
    tj_kernel_step *step = add_step(kernel, TJ_STEP_LOAD, access);
    step->width = (uint32_t)map->width;
    step->slot = slot_of(map, panel, row);
  }
}

static void add_rows(const tj_block_map *map, tj_kernel *kernel, const row_access *rows) {
  for (int64_t row = 0; row < rows_of(map); row++) {
    tj_kernel_step *step = add_step(kernel, TJ_STEP_STORE, nth_row(map, rows, row));
    step->width = (uint32_t)map->width;
    step->slot = slot_of(map, 0, row);
  }
}

/* Each column of a panel, stack by stack. */
static void add_columns(const tj_block_map *map, tj_kernel *kernel, const row_access *rows, int64_t panel) {
  for (int64_t i = 0; i < map->width * map->stacks; i++) {
    int64_t column = i / map->stacks, row = i % map->stacks * map->depth;
    tj_access access = nth_row(map, rows, panel * map->width + column);
    access.displacement += row;
    tj_kernel_step *step = add_step(kernel, TJ_STEP_STORE, access);
    step->width = (uint32_t)map->depth;
    step->slot = slot_of(map, panel, row) + (uint32_t)column;
    step->slot_step = (uint32_t)map->width;
  }
}

/* A panel's rows are stored as they are, or as columns. */
static void add_panel(const tj_block_map *map, tj_kernel *kernel, const row_access *loaded, const row_access *stored,
                      int64_t panel) {
  add_loads(map, kernel, loaded, panel);
  if (tj_block_is_turned(map))
    add_columns(map, kernel, stored, panel);
  else
    add_rows(map, kernel, stored);
}

/* --- staging --- */

/* The block's place in LDS. */
static row_access staged_rows(const tj_block_map *map) {
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
static tj_access run_access(const tj_block_map *map, const tj_node *const corner[], const tj_node *number,
                            const tj_node *lane) {
  tj_graph *graph = map->graph;
  uint32_t count = map->domain->count, modes = map->stage.modes;
  const tj_node **digit = TJ_NEW_ARRAY(graph->job, const tj_node *, count);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t mode = map->by_destination[i];
    const tj_node **rest = i < modes ? &lane : &number, *reached = tj_int(graph, tj_block_reach(map, mode));
    bool is_last = i + 1 == modes || i + 1 == count;
    digit[mode] = tj_add(graph, corner[mode], is_last ? *rest : tj_mod(graph, *rest, reached));
    *rest = tj_div(graph, *rest, reached);
  }
  tj_simplify(graph, digit, count, NULL);
  return access_at(map, false, digit);
}

/* Any tile of the domain, by symbols. */
static const tj_node *const *any_corner(const tj_block_map *map) {
  tj_graph *graph = map->graph;
  const tj_node **corner = TJ_NEW_ARRAY(graph->job, const tj_node *, map->domain->count);
  for (uint32_t m = 0; m < map->domain->count; m++) {
    const tj_node *last = tj_sub(graph, tj_block_extent(map, m), tj_int(graph, tj_block_reach(map, m) - 1));
    corner[m] =
        tj_block_is_whole(map, m) ? tj_int(graph, 0) : tj_coordinate(graph, "corner", tj_simplified(graph, last));
  }
  return corner;
}

/* Whether the runs of all tiles are contiguous. */
static bool are_runs(const tj_block_map *map) {
  tj_graph *graph = map->graph;
  if (tj_domain_has_own_strides(map->domain, false))
    return true;
  const tj_node *number = tj_coordinate(graph, "run", tj_int(graph, map->stage.runs));
  const tj_node *lane = tj_coordinate(graph, "lane", tj_int(graph, map->stage.run));
  const tj_node *const *corner = any_corner(map);
  tj_access any = run_access(map, corner, number, lane);
  const tj_node *first = run_access(map, corner, number, tj_int(graph, 0)).offset;
  const tj_node *node[] = {any.offset, any.valid, tj_add(graph, first, lane)};
  tj_simplify(graph, node, 3, NULL);
  return tj_is_int(node[1], 1) && tj_prove_equal(graph, node[0], node[2]);
}

static int64_t streams_of_item(const tj_block_map *map) {
  return tj_block_pieces(map->stage.runs, map->work_items);
}

/* The first element of the run that a work-item takes in turn `i`, valid where there is one. */
static tj_access nth_run(const tj_block_map *map, const tj_node *number) {
  tj_graph *graph = map->graph;
  tj_access access = run_access(map, map->corner, number, tj_int(graph, 0));
  const tj_node *node[] = {access.offset, tj_less(graph, number, tj_int(graph, map->stage.runs))};
  tj_simplify(graph, node, 2, NULL);
  return (tj_access){.buffer = access.buffer, .offset = node[0], .valid = node[1]};
}

static const tj_node *number_of_run(const tj_block_map *map, int64_t i) {
  return tj_add(map->graph, map->item, tj_int(map->graph, i * map->work_items));
}

/* Work-items take the runs in turn. */
static void add_streams(const tj_block_map *map, tj_kernel *kernel) {
  tj_graph *graph = map->graph;
  add_step(kernel, TJ_STEP_BARRIER, (tj_access){0});
  for (int64_t i = 0; i < streams_of_item(map); i++) {
    const tj_node *number = number_of_run(map, i);
    tj_kernel_step *step = add_step(kernel, TJ_STEP_RUN, nth_run(map, number));
    const tj_node *place = tj_simplified(graph, tj_mul(graph, number, tj_int(graph, map->stage.pitch)));
    step->from = (tj_access){.buffer = TJ_LDS, .offset = place};
    step->limit = tj_int(graph, map->stage.run);
    step->width = (uint32_t)map->stage.run;
  }
}

/* --- kernels --- */

static const tj_node *stored_elements(const tj_block_map *map) {
  return map->flat->buffer[tj_block_flat_step(map, false)->access.buffer].element_count;
}

/* Elements of a destination so large that nothing of it would be in a cache when it is read again. */
static int64_t least_streamed(const tj_block_map *map) {
  return TJ_BLOCK_STREAM_BYTES / tj_block_bytes(map, false);
}

static bool is_large(const tj_block_map *map) {
  return map->is_large || stored_elements(map)->facts.low >= least_streamed(map);
}

static bool can_be_large(const tj_block_map *map) {
  return stored_elements(map)->facts.high >= least_streamed(map);
}

/* Whether what is stored bypasses the caches. */
static bool is_streamed(const tj_block_map *map) {
  return is_large(map) && (map->is_staged || map->is_whole);
}

/* What comes next is fetched while stores are on their way: loads and stores overlap. */
static void add_steps(const tj_block_map *map, tj_kernel *kernel, const row_access *loaded,
                      const row_access *stored) {
  if (kernel->is_streamed && !map->is_staged)
    add_prefetches(map, kernel, loaded);
  for (int64_t panel = 0; panel < map->panels; panel++)
    add_panel(map, kernel, loaded, stored, panel);
  if (map->is_staged) {
    add_streams(map, kernel);
    add_prefetches(map, kernel, loaded);
    kernel->lds_elements = (uint32_t)tj_block_staged_elements(map);
  }
}

static size_t most_steps(const tj_block_map *map) {
  int64_t moved = map->panels * rows_of(map), stored = map->panels * map->width * map->stacks + rows_of(map);
  int64_t lines = 2 * rows_of(map);
  return (size_t)(moved + stored + lines + (map->is_staged ? 1 + streams_of_item(map) : 0));
}

static tj_kernel *make_kernel(const tj_block_map *map, const row_access *loaded, const row_access *stored) {
  tj_graph *graph = map->graph;
  tj_kernel *kernel = TJ_NEW(graph->job, tj_kernel);
  *kernel = *map->flat;
  kernel->faster = NULL;
  kernel->condition = NULL;
  kernel->index = NULL;
  kernel->parameter = tj_assumed_parameters(graph, map->flat, map->assumed);
  kernel->workgroup = map->workgroup;
  kernel->item = map->item;
  kernel->workgroup_size = (uint32_t)map->work_items;
  kernel->count = tj_simplified(graph, tj_mul(graph, map->tiles, tj_int(graph, map->work_items)));
  kernel->slot_count = slot_of(map, map->panels, 0);
  kernel->step = TJ_NEW_ARRAY(graph->job, tj_kernel_step, most_steps(map));
  kernel->step_count = 0;
  kernel->is_streamed = is_streamed(map);
  add_steps(map, kernel, loaded, stored);
  return tj_kernel_fits(graph, kernel) ? kernel : NULL;
}

static bool is_plain(const tj_kernel *flat) {
  return flat->step_count == 2 && flat->step[0].kind == TJ_STEP_LOAD && flat->step[1].kind == TJ_STEP_STORE;
}

static bool sort_all(tj_block_map *map) {
  if (!is_plain(map->flat) || map->domain == NULL || map->domain->count == 0 ||
      map->domain->count > TJ_BLOCK_MOST_MODES || !tj_block_is_even(map))
    return false;
  tj_block_sort_modes(map, map->by_source, true);
  tj_block_sort_modes(map, map->by_destination, false);
  return tj_block_is_contiguous(map);
}

/* Whether a block is smaller than it should be along a mode that may well be longer. */
static bool is_stunted(const tj_block_map *map, uint32_t mode, int64_t size, int64_t wanted) {
  return size < 2 || (!tj_block_is_fixed(map, mode) && size < wanted);
}

static bool is_worth_it(const tj_block_map *map) {
  int64_t lanes = tj_block_lanes(map);
  if (!tj_block_is_turned(map))
    return tj_block_columns(map) == 1 || !is_stunted(map, map->along, map->width, lanes);
  int64_t columns = tj_block_columns(map);
  return !is_stunted(map, map->along, map->width * map->panels, columns) &&
         !is_stunted(map, map->across, map->depth, map->is_small ? columns : tj_block_rows(map));
}

/* Whether vectors of the destination are aligned well enough, and never overlap: then lines are stored as a whole. */
static bool has_whole_vectors(const tj_block_map *map) {
  uint32_t first = map->by_destination[0];
  int64_t aligned = TJ_BLOCK_STREAM_ALIGNMENT / tj_block_bytes(map, false), width = form_of(map, false).width;
  for (uint32_t m = 0; m < map->domain->count; m++) {
    if (m != first && !tj_facts_divisible(&tj_block_stride(map, m, false)->facts, aligned))
      return false;
  }
  return width == tj_block_lanes(map) && tj_facts_divisible(&tj_block_extent(map, first)->facts, width);
}

/* Whether a destination that is not worth caching takes the elements as they are carried, and would take them better
 * in long runs than from registers. */
static bool is_better_staged(const tj_block_map *map) {
  bool is_raw = map->flat->carried == tj_block_dtype(map, false) && map->flat->scaling.when != TJ_SCALED_STORING;
  return is_large(map) && is_raw && !map->is_whole;
}

static void place(tj_block_map *map) {
  uint32_t count = map->domain->count;
  const tj_node **coordinate = TJ_NEW_ARRAY(map->graph->job, const tj_node *, 3 * (size_t)count);
  map->corner = coordinate;
  map->within = coordinate + count;
  map->origin = coordinate + 2 * count;
  place_tiles(map);
  place_blocks(map);
}

/* By way of LDS, from which runs of whole columns are streamed. */
static tj_kernel *map_staged(tj_block_map *map) {
  map->is_staged = true;
  tj_block_choose_staged_tile(map);
  bool fits = tj_block_staged_elements(map) * tj_block_bytes(map, false) <= map->target->lds_bytes;
  bool is_cut = map->stage.modes == 1 && !tj_block_is_whole(map, map->by_destination[0]);
  if (!fits || is_cut || !are_runs(map))
    return NULL;
  place(map);
  row_access loaded, stored = staged_rows(map);
  return find_rows(map, true, &loaded) ? make_kernel(map, &loaded, &stored) : NULL;
}

/* From registers. */
static tj_kernel *map_directly(tj_block_map *map) {
  map->is_staged = false;
  if (is_streamed(map))
    tj_block_stack(map);
  tj_block_choose_tile(map);
  place(map);
  row_access loaded, stored;
  if (!find_rows(map, true, &loaded) || !find_rows(map, false, &stored))
    return NULL;
  return make_kernel(map, &loaded, &stored);
}

/* NULL where the blocks would be single elements, or are not what they should be, or not of the lines that they are
 * wanted to be of. */
static tj_kernel *map_blocks(tj_block_map *map) {
  if (!sort_all(map))
    return NULL;
  tj_block_choose(map, tj_block_lanes(map));
  if (!is_worth_it(map))
    return NULL;
  map->is_whole = has_whole_vectors(map) && !map->is_anywhere;
  if (map->is_of_lines && !map->is_whole)
    return NULL;
  bool is_better = is_better_staged(map);
  tj_kernel *staged = is_better ? map_staged(map) : NULL;
  return staged != NULL ? staged : map_directly(map);
}

/* --- parameters --- */

/* So many elements of rows and of columns are wanted. */
static const int64_t *wanted_extents(const tj_block_map *map, int64_t row, int64_t column) {
  int64_t *extent = TJ_NEW_ARRAY(map->graph->job, int64_t, map->domain->count);
  for (uint32_t m = 0; m < map->domain->count; m++)
    extent[m] = 1;
  extent[map->by_source[0]] = row;
  extent[map->by_destination[0]] = column;
  return extent;
}

/* The kernel for parameters that meet the demands, offered in the place of `last`; NULL where there is none. */
static tj_kernel *offer(tj_block_map *map, tj_kernel *last, const tj_demands *demands, const char *suffix) {
  tj_graph *graph = map->graph;
  tj_substitution assumed = tj_assume(graph, demands);
  map->assumed = &assumed;
  map->domain = tj_assumed_domain(graph, map->flat->domain, &assumed);
  tj_kernel *faster = map_blocks(map);
  if (faster != NULL)
    tj_offer_faster(graph, last, faster, demands, tj_string_format(graph->job, "%s.%s", map->flat->name, suffix));
  return faster;
}

/* Blocks for shapes that have so many rows and columns, offered in the place of `last`; or that. */
static tj_kernel *offer_blocks(tj_block_map map, tj_kernel *last, const int64_t *wanted, const char *suffix) {
  tj_demands some = tj_find_demands(map.graph, map.flat->domain, 1, wanted);
  tj_kernel *blocks = offer(&map, last, &some, suffix);
  return blocks != NULL ? blocks : last;
}

/* For shapes of the launch: small blocks, and whole ones. */
static tj_kernel *offer_sizes(tj_block_map map, tj_kernel *flat) {
  int64_t columns = tj_block_columns(&map), lanes = tj_block_lanes(&map);
  map.is_small = true;
  tj_kernel *small = offer_blocks(map, flat, wanted_extents(&map, columns, columns), "small");
  map.is_small = false;
  return offer_blocks(map, small, wanted_extents(&map, lanes, lanes), "blocks");
}

/* The same demands, and that columns have whole lines, so that a few at a time can leave. None where their extent is
 * no parameter that can be so. */
static tj_demands demand_lines(const tj_block_map *map, const tj_demands *some) {
  const tj_node *extent = map->flat->domain->mode[map->by_destination[0]].extent;
  tj_demand *demand = TJ_NEW_ARRAY(map->graph->job, tj_demand, some->count + 1);
  uint32_t count = 1;
  if (extent->op != TJ_OP_SYMBOL)
    return (tj_demands){NULL, 0};
  demand[0] = (tj_demand){extent, tj_block_lanes(map), extent->facts.low};
  for (uint32_t i = 0; i < some->count; i++) {
    if (some->demand[i].symbol == extent)
      demand[0].low = some->demand[i].low;
    else
      demand[count++] = some->demand[i];
  }
  tj_demands lines = {demand, count};
  return tj_can_be_met(&lines) ? lines : (tj_demands){NULL, 0};
}

/* Whole lines straight from registers, for large destinations. */
static void offer_lines(tj_block_map map, tj_kernel *blocks) {
  tj_graph *graph = map.graph;
  int64_t lanes = tj_block_lanes(&map);
  const int64_t *wanted = wanted_extents(&map, lanes, TJ_BLOCK_FREE_STACKS * lanes);
  tj_demands some = tj_find_demands(graph, map.flat->domain, 1, wanted), lines = demand_lines(&map, &some);
  map.is_large = map.is_of_lines = true;
  if (!can_be_large(&map) || offer(&map, blocks, lines.count > 0 ? &lines : &some, "lines") == NULL)
    return;
  const tj_node *is_enough = tj_less_equal(graph, tj_int(graph, least_streamed(&map)), stored_elements(&map));
  blocks->condition = tj_simplified(graph, tj_and(graph, blocks->condition, is_enough));
}

/* Whether the kernel relies on where the destination begins. */
static bool is_aligned(const tj_block_map *map, const tj_kernel *kernel) {
  return tj_buffer_alignment(kernel, tj_block_flat_step(map, false)->access.buffer) > tj_block_bytes(map, false);
}

/* Puts a kernel for destinations that begin anywhere before one that relies on where they do. */
static tj_kernel *serve_anywhere(tj_block_map map, tj_kernel *aligned) {
  static const tj_demands nothing;
  map.is_anywhere = true;
  tj_kernel *anywhere = map_blocks(&map);
  if (anywhere != NULL)
    tj_offer_faster(map.graph, anywhere, aligned, &nothing,
                    tj_string_format(map.graph->job, "%s.lines", map.flat->name));
  return anywhere;
}

tj_kernel *tj_map_blocks(tj_graph *graph, tj_kernel *flat, const tj_target *target) {
  static const tj_substitution nothing;
  tj_block_map map = {.graph = graph, .flat = flat, .domain = flat->domain, .target = target, .assumed = &nothing};
  if (!sort_all(&map))
    return NULL;
  if (tj_block_has_rows(&map))
    return tj_map_rows(&map);
  tj_kernel *general = map_blocks(&map), *blocks = general;
  if (general == NULL && map.by_source[0] == map.by_destination[0])
    return tj_map_rows(&map);
  if (general != NULL && is_aligned(&map, general))
    return serve_anywhere(map, general);
  if (general == NULL) {
    general = flat;
    blocks = offer_sizes(map, flat);
  }
  if (blocks == flat)
    return NULL;
  if (!blocks->is_streamed)
    offer_lines(map, blocks);
  return general;
}
