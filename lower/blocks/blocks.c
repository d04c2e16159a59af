/* SPDX-License-Identifier: MIT */
/* From blocks to steps, on the host.
 *
 * A block is what a work-item moves in vector registers: a few vectors that stay as they are, or rows along the
 * source's first mode, which are stored as columns along the destination's. Columns go straight to the destination,
 * or are put together in LDS first, from which whole runs go, one for each work-item. Further destinations take the
 * same rows, or the same columns, straight from registers. Where stores bypass the caches, the tile that follows is
 * fetched meanwhile, in the order of the source, neighbouring lines together.
 */
#include "lower/blocks/blocks.h"

#include "ir/index/facts.h"
#include "ir/simplify/simplify.h"
#include "lower/kernel/variant.h"

#include <string.h>

/* --- coordinates --- */

/* Numbers tiles in the order of the mapping. */
static void place_tiles(tj_block_map *map) {
  tj_graph *graph = map->graph;
  uint32_t count = map->domain->count;
  const tj_node **reach = TJ_NEW_ARRAY(graph->job, const tj_node *, count);
  for (uint32_t m = 0; m < count; m++)
    reach[m] = tj_int(graph, map->reach[m]);
  map->tiles = tj_tiles_of(graph, map->domain, reach);
  map->workgroup = tj_coordinate(graph, "g", map->tiles.count);
  const tj_node *const *at = tj_mapping_tile(graph, map->mapping, map->tiles.along, map->assumed, map->workgroup);
  for (uint32_t m = 0; m < count; m++)
    map->corner[m] = tj_tile_begin(graph, tj_block_extent(map, m), reach[m], at[m]);
}

/* The last block of a tile ends where the tile does. */
static int64_t first_in_tile(const tj_block_map *map, uint32_t mode, int64_t at) {
  int64_t last = map->reach[mode] - map->size[mode];
  return at * map->size[mode] < last ? at * map->size[mode] : last;
}

/* Those who move blocks, or runs. */
static int64_t workgroup_size(const tj_block_map *map) {
  const tj_mapping *mapping = map->mapping;
  return mapping->load.items > mapping->store.items ? mapping->load.items : mapping->store.items;
}

static const tj_node *const *digits_of_item(const tj_block_map *map, const tj_mapping_side *side) {
  return tj_mapping_item_digits(map->graph, side, map->item, false);
}

/* Where in its tile a work-item begins, by mode; those who are no items of the side, beyond it. */
static const tj_node *const *begin_of_item(const tj_block_map *map, const tj_mapping_side *side) {
  return tj_mapping_at(map->graph, map->mapping, side, digits_of_item(map, side), 0, false).digit;
}

/* Truth, whether a work-item is an item of the side. */
static const tj_node *is_item(const tj_block_map *map, const tj_mapping_side *side) {
  tj_graph *graph = map->graph;
  return side->items == workgroup_size(map)
             ? tj_int(graph, 1)
             : tj_simplified(graph, tj_less(graph, map->item, tj_int(graph, side->items)));
}

static void place_blocks(tj_block_map *map) {
  tj_graph *graph = map->graph;
  map->item = tj_coordinate(graph, "t", tj_int(graph, workgroup_size(map)));
  map->within = begin_of_item(map, &map->mapping->load);
  for (uint32_t m = 0; m < map->domain->count; m++)
    map->origin[m] = tj_add(graph, map->corner[m], map->within[m]);
  tj_simplify(graph, map->origin, map->domain->count, NULL);
}

/* --- accesses --- */

/* The accesses of a block on one side: rows `distance` apart, each of neighbours. */
typedef struct {
  tj_access first;
  const tj_node *distance;
} row_access;

/* Whose rows: an operand's, as they are loaded, or as they are stored. */
typedef struct {
  uint32_t operand;
  bool is_load;
} block_side;

static const block_side loading = {TJ_OPERAND_SOURCE, true}, storing = {TJ_OPERAND_DESTINATION, false};

static block_side further_side(const tj_block_map *map, uint32_t number) {
  return (block_side){TJ_OPERAND_OTHERS + number, tj_domain_other_is_straight(map->domain, number)};
}

static tj_access element_at(const tj_block_map *map, block_side side, const tj_node *const digit[]) {
  return tj_domain_at(map->graph, map->domain, side.operand, tj_flat_buffer(map->flat, side.operand), digit);
}

static const tj_node *stride_of(const tj_block_map *map, block_side side, uint32_t mode) {
  const tj_node *stride = tj_domain_stride(map->domain, side.operand, mode);
  tj_substitute(map->graph, map->assumed, &stride, 1);
  return tj_simplified(map->graph, stride);
}

static tj_access access_at(const tj_block_map *map, block_side side, const tj_node *const digit[]) {
  tj_access access = element_at(map, side, digit);
  const tj_node *parts[] = {access.offset, access.valid};
  tj_substitute(map->graph, map->assumed, parts, 2);
  return (tj_access){.buffer = access.buffer, .offset = parts[0], .valid = parts[1]};
}

/* How one side cuts a block into rows: `width` elements along a mode, `depth` times. */
typedef struct {
  uint32_t along, across;
  int64_t width, depth, step;
} row_form;

static row_form form_of(const tj_block_map *map, block_side side) {
  if (side.is_load || map->along == map->by_destination[0])
    return (row_form){map->along, map->across, map->width * map->panels, map->depth, map->step};
  return (row_form){map->across, map->along, map->depth, map->width * map->panels, 1};
}

static bool find_rows(const tj_block_map *map, block_side side, row_access *rows) {
  tj_graph *graph = map->graph;
  row_form form = form_of(map, side);
  const tj_node *stride = stride_of(map, side, form.across);
  rows->distance = tj_simplified(graph, tj_mul(graph, stride, tj_int(graph, form.step)));
  uint64_t modes = (uint64_t)1 << form.along | (uint64_t)1 << form.across;
  if (!tj_is_int(stride_of(map, side, form.along), 1) ||
      !tj_domain_is_even(graph, map->domain, side.operand, modes, map->assumed))
    return false;
  rows->first = access_at(map, side, map->origin);
  rows->first.offset = tj_simplified(graph, rows->first.offset);
  rows->first.valid = is_item(map, &map->mapping->load);
  return true;
}

/* The same rows of the tile after this one. */
static row_access rows_ahead(const tj_block_map *map, const row_access *rows) {
  tj_graph *graph = map->graph;
  const tj_node *next = tj_next_tile(graph, &map->tiles, map->workgroup);
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

typedef struct {
  tj_kernel_step *step;
  uint32_t count;
} step_list;

static step_list new_steps(const tj_block_map *map, size_t most) {
  return (step_list){TJ_NEW_ARRAY(map->graph->job, tj_kernel_step, most), 0};
}

static tj_kernel_step *add_step(step_list *steps, tj_step_kind kind, tj_access access) {
  tj_kernel_step *step = &steps->step[steps->count++];
  *step = (tj_kernel_step){.kind = kind, .access = access, .width = 1, .slot_step = 1};
  return step;
}

static uint32_t slot_of(const tj_block_map *map, int64_t panel, int64_t row) {
  return (uint32_t)((panel * map->depth + row) * map->width);
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
    if (!is_next || all->blocks * map->blocks[mode] > map->depth)
      break;
    place = tj_add(graph, place, tj_mul(graph, at[mode], tj_int(graph, all->blocks)));
    all->blocks *= map->blocks[mode];
    have *= tj_block_extent(map, mode)->facts.high;
  }
  return place;
}

/* The number of a work-item's block in its tile, by mode. */
static const tj_node **numbers_of_block(const tj_block_map *map) {
  const tj_mapping_side *load = &map->mapping->load;
  const tj_node *const *digit = digits_of_item(map, load);
  const tj_node **number = TJ_NEW_ARRAY(map->graph->job, const tj_node *, map->domain->count);
  for (uint32_t m = 0; m < map->domain->count; m++)
    number[m] = tj_int(map->graph, 0);
  for (uint32_t i = 0; i < load->item_digits; i++) {
    if (load->digit[i].extent > 1)
      number[load->digit[i].mode] = digit[i];
  }
  return number;
}

static fetched rows_to_fetch(const tj_block_map *map, const row_access *loaded) {
  tj_graph *graph = map->graph;
  const tj_node **digit = numbers_of_block(map);
  const tj_node *first = tj_int(graph, 0);
  fetched all = {.row = *loaded, .rows = map->depth, .blocks = 1};
  if (tj_block_is_turned(map)) {
    const tj_node *place = find_neighbours(map, &all, digit);
    all.rows = tj_divided_up(map->depth, all.blocks);
    first = tj_min(graph, tj_mul(graph, place, tj_int(graph, all.rows)), tj_int(graph, map->depth - all.rows));
  }
  for (uint32_t i = 0; i < map->domain->count; i++) {
    uint32_t mode = map->by_source[i];
    const tj_node *within = i < all.modes ? tj_int(graph, 0) : map->within[mode];
    digit[mode] = tj_add(graph, map->corner[mode], within);
  }
  digit[map->across] = tj_add(graph, digit[map->across], first);
  all.row.first.offset = tj_simplified(graph, access_at(map, loading, digit).offset);
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

/* Whether a block begins in the line of the one before it. */
static bool is_in_same_line(const tj_block_map *map, const fetched *all, int64_t block) {
  int64_t line = TJ_BLOCK_LINE_BYTES / tj_block_bytes(map, true);
  return block > 0 && distance_of(map, all, block) / line == distance_of(map, all, block - 1) / line;
}

static step_list make_prefetches(const tj_block_map *map, const row_access *loaded) {
  fetched all = rows_to_fetch(map, loaded);
  step_list fetches = new_steps(map, (size_t)(all.rows * all.blocks));
  for (int64_t i = 0; i < all.rows * all.blocks; i++) {
    tj_access access = nth_row(map, &all.row, i / all.blocks);
    access.displacement += distance_of(map, &all, i % all.blocks);
    if (!is_in_same_line(map, &all, i % all.blocks))
      add_step(&fetches, TJ_STEP_PREFETCH, access);
  }
  return fetches;
}

static tj_kernel_step *add_row(const tj_block_map *map, step_list *steps, tj_step_kind kind, const row_access *rows,
                               int64_t panel, int64_t row) {
  tj_access access = nth_row(map, rows, row);
  access.displacement += panel * map->width;
  tj_kernel_step *step = add_step(steps, kind, access);
  step->width = (uint32_t)map->width;
  step->slot = slot_of(map, panel, row);
  return step;
}

static void add_columns(const tj_block_map *map, step_list *steps, const row_access *rows, int64_t panel) {
  for (int64_t column = 0; column < map->width; column++) {
    tj_kernel_step *step = add_step(steps, TJ_STEP_STORE, nth_row(map, rows, panel * map->width + column));
    step->width = (uint32_t)map->depth;
    step->slot = slot_of(map, panel, 0) + (uint32_t)column;
    step->slot_step = (uint32_t)map->width;
  }
}

/* All rows of a block. */
typedef struct {
  row_access loaded, stored;
  row_access *further; /* by further destination */
} block_rows;

/* A panel's rows are loaded and stored as they are. Those of further destinations need not fill lines: they wait in
 * the caches for what is beside them. */
static void add_panel_rows(const tj_block_map *map, step_list *steps, const block_rows *rows, int64_t panel) {
  for (int64_t row = 0; row < map->depth; row++) {
    add_row(map, steps, TJ_STEP_LOAD, &rows->loaded, panel, row);
    for (uint32_t i = 0; i < map->domain->other_count; i++) {
      if (further_side(map, i).is_load)
        add_row(map, steps, TJ_STEP_STORE, &rows->further[i], panel, row)->is_kept = true;
    }
  }
  for (int64_t row = 0; row < map->depth && !tj_block_is_turned(map); row++)
    add_row(map, steps, TJ_STEP_STORE, &rows->stored, panel, row);
}

/* Then, turned around, as columns. */
static void add_panel(const tj_block_map *map, step_list *steps, const block_rows *rows, int64_t panel) {
  add_panel_rows(map, steps, rows, panel);
  if (tj_block_is_turned(map))
    add_columns(map, steps, &rows->stored, panel);
  for (uint32_t i = 0; i < map->domain->other_count; i++) {
    if (!further_side(map, i).is_load)
      add_columns(map, steps, &rows->further[i], panel);
  }
}

/* --- staging --- */

/* The block's place in LDS. */
static row_access staged_rows(const tj_block_map *map) {
  tj_graph *graph = map->graph;
  row_form form = form_of(map, storing);
  const tj_node *offset = tj_mapping_lds_at(graph, map->mapping, map->within);
  const tj_node *distance = tj_int(graph, map->stage.stride[form.across] * form.step);
  tj_access first = {
      .buffer = TJ_LDS, .offset = tj_simplified(graph, offset), .valid = is_item(map, &map->mapping->load)};
  return (row_access){first, distance};
}

/* Whether the runs of all tiles are as the mapping was read: its modes step as strides say. */
static bool are_runs(const tj_block_map *map) {
  uint64_t modes = 0;
  for (uint32_t i = 0; i < map->stage.modes; i++)
    modes |= (uint64_t)1 << map->by_destination[i];
  return tj_domain_is_even(map->graph, map->domain, TJ_OPERAND_DESTINATION, modes, map->assumed);
}

/* Work-items store a run each. */
static void add_run(const tj_block_map *map, step_list *steps) {
  tj_graph *graph = map->graph;
  const tj_node *const *within = begin_of_item(map, &map->mapping->store);
  const tj_node **place = TJ_NEW_ARRAY(graph->job, const tj_node *, map->domain->count);
  const tj_node *from = tj_mapping_lds_at(graph, map->mapping, within);
  for (uint32_t m = 0; m < map->domain->count; m++)
    place[m] = tj_add(graph, map->corner[m], within[m]);
  tj_simplify(graph, place, map->domain->count, NULL);
  tj_access to = access_at(map, storing, place);
  const tj_node *offset[] = {to.offset, from};
  tj_simplify(graph, offset, 2, NULL);
  to = (tj_access){.buffer = to.buffer, .offset = offset[0], .valid = is_item(map, &map->mapping->store)};
  tj_kernel_step *step = add_step(steps, TJ_STEP_RUN, to);
  step->from = (tj_access){.buffer = TJ_LDS, .offset = offset[1]};
  step->limit = tj_int(graph, map->stage.run);
  step->width = (uint32_t)map->stage.run;
}

/* --- kernels --- */

/* With room for a vector that begins with the last one. */
static int64_t lds_elements(const tj_block_map *map) {
  return tj_mapping_lds_elements(map->graph, map->mapping) + map->target->block_bytes / tj_block_bytes(map, false);
}

static void add_all(step_list *all, const tj_kernel_step step[], uint32_t count) {
  if (count > 0)
    memcpy(all->step + all->count, step, count * sizeof *step);
  all->count += count;
}

/* The tile that follows is fetched while this one moves; where it goes by way of LDS, half of it on the way in. */
static step_list all_steps(const tj_block_map *map, const block_rows *rows) {
  int64_t sides = 2 + map->domain->other_count, moves = sides * map->panels * (map->depth + map->width);
  step_list fetches = {NULL, 0};
  if (map->is_streamed || map->is_staged)
    fetches = make_prefetches(map, &rows->loaded);
  uint32_t early = map->is_staged ? fetches.count / 2 : fetches.count;
  step_list all = new_steps(map, (size_t)moves + fetches.count + 2);
  add_all(&all, fetches.step, early);
  for (int64_t panel = 0; panel < map->panels; panel++)
    add_panel(map, &all, rows, panel);
  if (map->is_staged) {
    add_step(&all, TJ_STEP_BARRIER, (tj_access){0});
    add_run(map, &all);
    add_all(&all, fetches.step + early, fetches.count - early);
  }
  return all;
}

static tj_kernel *make_kernel(const tj_block_map *map, const block_rows *rows) {
  tj_graph *graph = map->graph;
  tj_kernel *kernel = tj_kernel_in_place_of(graph, map->flat, map->assumed);
  kernel->workgroup = map->workgroup;
  kernel->item = map->item;
  kernel->workgroup_size = (uint32_t)workgroup_size(map);
  kernel->count = tj_simplified(graph, tj_mul(graph, map->tiles.count, tj_int(graph, workgroup_size(map))));
  kernel->slot_count = slot_of(map, map->panels, 0);
  step_list steps = all_steps(map, rows);
  kernel->step = steps.step;
  kernel->step_count = steps.count;
  kernel->lds_elements = map->is_staged ? (uint32_t)lds_elements(map) : 0;
  kernel->is_streamed = map->is_streamed;
  kernel->mapping = map->mapping;
  return tj_kernel_fits(graph, kernel) ? kernel : NULL;
}

/* False where a further destination has neither the rows nor the columns. */
static bool find_further(const tj_block_map *map, block_rows *rows) {
  rows->further = TJ_NEW_ARRAY(map->graph->job, row_access, map->domain->other_count + 1);
  for (uint32_t i = 0; i < map->domain->other_count; i++) {
    if (!find_rows(map, further_side(map, i), &rows->further[i]))
      return false;
  }
  return true;
}

static void place(tj_block_map *map) {
  map->corner = TJ_NEW_ARRAY(map->graph->job, const tj_node *, map->domain->count);
  map->origin = TJ_NEW_ARRAY(map->graph->job, const tj_node *, map->domain->count);
  place_tiles(map);
  place_blocks(map);
}

tj_kernel *tj_block_kernel(tj_block_map *map) {
  bool fits = !map->is_staged || lds_elements(map) * tj_block_bytes(map, false) <= map->target->lds_bytes;
  if (!fits || (map->is_staged && !are_runs(map)))
    return NULL;
  place(map);
  block_rows rows = {.stored = map->is_staged ? staged_rows(map) : (row_access){.distance = NULL}};
  if (!find_rows(map, loading, &rows.loaded) || (!map->is_staged && !find_rows(map, storing, &rows.stored)) ||
      !find_further(map, &rows))
    return NULL;
  return make_kernel(map, &rows);
}
