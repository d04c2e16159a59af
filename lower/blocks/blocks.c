/* SPDX-License-Identifier: MIT */
/* From mappings to steps, on the host.
 *
 * A block is what a work-item moves in vector registers: its slots, of which neighbours in the source are loaded
 * together, and neighbours in the destination stored, turned around in between. What is stored goes straight to the
 * destination, or is put together in LDS first, from which whole runs go, one for each work-item. Further
 * destinations take the same vectors straight from registers. Rows are runs from the source; how many of them a tile
 * has may be the launch's to say, and where a tile begins is computed once for all of it. Where stores bypass the
 * caches, the tile that follows is fetched meanwhile, in the order of the source, neighbouring lines together; of
 * rows, also the lines of the destination at their ends, what is left of which has to be read first. */
#include "lower/blocks/blocks.h"

#include "base/number/power.h"
#include "ir/index/facts.h"
#include "ir/simplify/simplify.h"
#include "ir/value/value.h"
#include "lower/blocks/rows.h"
#include "lower/kernel/kernel_expressions.h"
#include "lower/kernel/variant.h"
#include "lower/shape/tile_order.h"

#include <string.h>

enum { MOST_VECTORS = 512 /* of a block: code moves them without a loop */ };

typedef struct {
  tj_mapping_digits items, slots;
  int64_t size[TJ_BLOCK_MOST_MODES]; /* of an item's box, by mode */
} side_digits;

typedef struct {
  const tj_block_map *map;
  const tj_mapping *mapping;
  tj_graph *graph;
  side_digits load, store;
  tj_mapping_digits columns; /* the slots of a block in the order in which they are stored */
  tj_rows rows;
  uint32_t cut;          /* the mode of rows, whose last tile ends where it does; UINT32_MAX: tiles begin earlier */
  const tj_node **reach; /* of the tile, by mode */
  tj_tiles tiles;
  const tj_node *workgroup, *item;
  const tj_node *items;                         /* of a workgroup */
  const tj_node *const *corner, *const *within; /* where the tile begins, and within it a work-item's block, */
  const tj_node **origin;                       /* and that in the domain */
} host_tile;

/* Where the elements of work-items are, on one side: in a buffer, or in LDS. */
typedef struct {
  tj_access first;
  const tj_node *stride[TJ_BLOCK_MOST_MODES];
} places;

/* --- digits --- */

/* False: some are the tile's index, repeat elements, or are too many. */
static bool read_digits(const tj_mapping_digit digit[], uint32_t count, tj_mapping_digits *list) {
  list->count = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (digit[i].extent == 1)
      continue;
    if (digit[i].mode == TJ_MAPPING_INDEX || digit[i].step == 0 || list->count == TJ_MAPPING_MOST_DIGITS)
      return false;
    list->digit[list->count++] = digit[i];
  }
  return true;
}

static bool is_same(const tj_mapping_digit *a, const tj_mapping_digit *b) {
  return a->extent == b->extent && a->step == b->step && a->mode == b->mode;
}

static bool are_same(const tj_mapping_digits *a, const tj_mapping_digits *b) {
  bool same = a->count == b->count;
  for (uint32_t i = 0; i < a->count && same; i++)
    same = is_same(&a->digit[i], &b->digit[i]);
  return same;
}

/* Reads a side whose items have boxes of the tile, each one, numbered along one mode after the other. */
static bool read_side(const host_tile *t, const tj_mapping_side *side, side_digits *list) {
  int64_t boxes[TJ_BLOCK_MOST_MODES];
  bool is_box = side->as == NULL && read_digits(side->digit, side->item_digits, &list->items) &&
                read_digits(side->digit + side->item_digits, side->digit_count - side->item_digits, &list->slots);
  for (uint32_t m = 0; m < t->map->domain->count; m++)
    list->size[m] = 1;
  for (uint32_t i = 0; is_box && i < list->slots.count; i++) {
    const tj_mapping_digit *d = &list->slots.digit[i];
    is_box = d->step == list->size[d->mode];
    list->size[d->mode] *= d->extent;
  }
  for (uint32_t m = 0; m < t->map->domain->count; m++)
    boxes[m] = tj_divided_up(tj_mapping_extent(t->mapping, m), list->size[m]);
  for (uint32_t i = 0; is_box && i < list->items.count; i++) {
    const tj_mapping_digit *d = &list->items.digit[i];
    is_box = d->step == list->size[d->mode] && d->extent == boxes[d->mode];
    boxes[d->mode] = 1;
  }
  for (uint32_t m = 0; m < t->map->domain->count; m++)
    is_box = is_box && boxes[m] == 1 && list->size[m] <= tj_mapping_extent(t->mapping, m);
  return is_box;
}

/* Where the element of a slot is in its box, by mode. */
static void slot_place(const tj_mapping_digits *slots, int64_t slot, int64_t at[TJ_BLOCK_MOST_MODES]) {
  memset(at, 0, TJ_BLOCK_MOST_MODES * sizeof *at);
  for (uint32_t i = 0; i < slots->count; i++) {
    at[slots->digit[i].mode] += slot % slots->digit[i].extent * slots->digit[i].step;
    slot /= slots->digit[i].extent;
  }
}

/* The slot that an element of the box is in. */
static uint32_t slot_at(const tj_mapping_digits *slots, const int64_t at[]) {
  int64_t slot = 0, unit = 1;
  for (uint32_t i = 0; i < slots->count; i++) {
    const tj_mapping_digit *d = &slots->digit[i];
    slot += at[d->mode] / d->step % d->extent * unit;
    unit *= d->extent;
  }
  return (uint32_t)slot;
}

/* The slots with those along a mode first. */
static tj_mapping_digits begun_along(const tj_mapping_digits *slots, uint32_t mode) {
  tj_mapping_digits list = {.count = 0};
  for (int first = 1; first >= 0; first--) {
    for (uint32_t i = 0; i < slots->count; i++) {
      if ((slots->digit[i].mode == mode) == first)
        list.digit[list.count++] = slots->digit[i];
    }
  }
  return list;
}

/* Whether the first digits of slots are neighbours on a side. */
static bool are_neighbours(const places *side, const tj_mapping_digits *slots, uint32_t count) {
  bool is_next = count <= slots->count;
  int64_t have = 1;
  for (uint32_t i = 0; i < count && is_next; i++) {
    const tj_mapping_digit *d = &slots->digit[i];
    is_next = have % d->step == 0 && tj_is_int(side->stride[d->mode], have / d->step);
    have *= d->extent;
  }
  return is_next;
}

/* How many slots move together. */
static int64_t vector_of(const places *side, const tj_mapping_digits *slots) {
  return are_neighbours(side, slots, 1) ? slots->digit[0].extent : 1;
}

/* --- tiles --- */

static const tj_node *take_digit(tj_graph *graph, const tj_node **rest, const tj_node *count) {
  const tj_node *digit = tj_mod(graph, *rest, count);
  *rest = tj_div(graph, *rest, count);
  return digit;
}

/* The tile of a workgroup along each mode: in the order of the mapping, or of the source. */
static const tj_node *const *tile_of(const host_tile *t, const tj_node *workgroup) {
  const tj_block_map *map = t->map;
  uint32_t count = map->domain->count;
  if (!t->mapping->is_launched)
    return tj_mapping_tile(t->graph, t->mapping, t->tiles.along, map->domain->assumed, workgroup);
  const tj_node **tile = TJ_NEW_ARRAY(t->graph->job, const tj_node *, count);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t mode = map->by_source[i];
    tile[mode] = i + 1 == count ? workgroup : take_digit(t->graph, &workgroup, t->tiles.along[mode]);
  }
  return tile;
}

/* The first coordinates of a tile. */
static const tj_node *const *corner_of(const host_tile *t, const tj_node *workgroup) {
  const tj_node **corner = TJ_NEW_ARRAY(t->graph->job, const tj_node *, t->map->domain->count);
  const tj_node *const *tile = tile_of(t, workgroup);
  for (uint32_t m = 0; m < t->map->domain->count; m++)
    corner[m] = m == t->cut ? tj_mul(t->graph, tile[m], t->reach[m])
                            : tj_tile_begin(t->graph, tj_block_extent(t->map, m), t->reach[m], tile[m]);
  return corner;
}

static void place_tiles(host_tile *t) {
  t->tiles = tj_tiles_of(t->graph, t->map->domain, t->reach);
  t->workgroup = tj_coordinate(t->graph, "g", t->tiles.count);
  t->corner = corner_of(t, t->workgroup);
  t->item = tj_coordinate(t->graph, "t", t->items);
}

/* Whether what is beyond the domain along a mode begins earlier, as whole tiles. */
static bool is_moved_back(const host_tile *t, uint32_t mode) {
  const tj_facts *extent = &tj_block_extent(t->map, mode)->facts;
  int64_t reach = tj_mapping_extent(t->mapping, mode);
  return extent->low >= reach && (tj_facts_divisible(extent, reach) || tj_mapping_overlap(t->mapping, mode) == reach);
}

/* --- accesses --- */

static tj_access access_at(const host_tile *t, uint32_t operand, const tj_node *const digit[]) {
  return tj_domain_at(t->graph, t->map->domain, operand, tj_flat_buffer(t->map->flat, operand), digit);
}

/* Truth, whether a work-item is an item of the side. */
static const tj_node *is_item(const host_tile *t, const tj_mapping_side *side) {
  return t->items->value == side->items
             ? tj_int(t->graph, 1)
             : tj_simplified(t->graph, tj_less(t->graph, t->item, tj_int(t->graph, side->items)));
}

/* Where in its tile a work-item begins, by mode; those who are no items of the side, beyond it. */
static const tj_node *const *begin_of_item(const host_tile *t, const tj_mapping_side *side) {
  const tj_node *const *digit = tj_mapping_item_digits(t->graph, side, t->item, false);
  return tj_mapping_at(t->graph, t->mapping, side, digit, 0, false).digit;
}

/* How an operand steps; false where it does not surely do so along the modes of slots. */
static bool find_strides(const host_tile *t, uint32_t operand, const tj_mapping_digits *slots, places *side) {
  uint64_t modes = 0;
  for (uint32_t i = 0; i < slots->count; i++)
    modes |= (uint64_t)1 << slots->digit[i].mode;
  for (uint32_t m = 0; m < t->map->domain->count; m++) {
    side->stride[m] = tj_domain_stride(t->map->domain, operand, m);
    tj_substitute(t->graph, t->map->domain->assumed, &side->stride[m], 1);
    side->stride[m] = tj_simplified(t->graph, side->stride[m]);
  }
  return tj_domain_is_even(t->graph, t->map->domain, operand, modes);
}

/* The block's place in a buffer. */
static bool find_block(const host_tile *t, uint32_t operand, const tj_mapping_digits *slots, places *side) {
  if (!find_strides(t, operand, slots, side))
    return false;
  side->first = access_at(t, operand, t->origin);
  side->first.offset = tj_simplified(t->graph, side->first.offset);
  side->first.valid = is_item(t, &t->mapping->load);
  return true;
}

/* The element of a place in the block. */
static tj_access element_at(const host_tile *t, const places *side, const int64_t at[]) {
  tj_graph *graph = t->graph;
  tj_access access = side->first;
  const tj_node *base = tj_int(graph, 0);
  for (uint32_t m = 0; m < t->map->domain->count; m++) {
    if (at[m] > 0 && tj_is_constant(side->stride[m]) && side->stride[m]->value >= 0)
      access.displacement += at[m] * side->stride[m]->value;
    else if (at[m] > 0)
      base = tj_add(graph, base, tj_mul(graph, side->stride[m], tj_int(graph, at[m])));
  }
  if (!tj_is_int(base, 0))
    access.base = tj_simplified(graph, base);
  return access;
}

/* --- steps --- */

typedef struct {
  tj_kernel_step *step;
  uint32_t count;
} step_list;

static step_list new_steps(const host_tile *t, size_t most) {
  return (step_list){TJ_NEW_ARRAY(t->graph->job, tj_kernel_step, most), 0};
}

static tj_kernel_step *add_step(step_list *steps, tj_step_kind kind, tj_access access) {
  tj_kernel_step *step = &steps->step[steps->count++];
  *step = (tj_kernel_step){.kind = kind, .access = access, .width = 1, .slot_step = 1};
  return step;
}

/* Moves the vector that begins with number `first` of slots in some order. */
static tj_kernel_step *add_vector(const host_tile *t, step_list *steps, tj_step_kind kind, const places *side,
                                  const tj_mapping_digits *slots, int64_t first) {
  int64_t at[TJ_BLOCK_MOST_MODES], next[TJ_BLOCK_MOST_MODES];
  slot_place(slots, first, at);
  tj_kernel_step *step = add_step(steps, kind, element_at(t, side, at));
  step->width = (uint32_t)vector_of(side, slots);
  step->slot = slot_at(&t->load.slots, at);
  slot_place(slots, first + 1, next);
  step->slot_step = step->width > 1 ? slot_at(&t->load.slots, next) - step->slot : 1;
  return step;
}

/* --- fetching ahead --- */

/* What a work-item fetches of the tile after this one, in the order of the source: of the rows that run through
 * `blocks` blocks side by side, some from end to end, as neighbouring lines are faster to get than lines of several
 * rows. */
typedef struct {
  places row;
  tj_mapping_digits slots; /* whose rows they are, of which one begins each `step` */
  int64_t count, step;
  uint32_t modes; /* the source's first, along which the blocks are */
  int64_t blocks;
} fetched;

static int64_t blocks_along(const host_tile *t, uint32_t mode) {
  return tj_divided_up(tj_mapping_extent(t->mapping, mode), t->load.size[mode]);
}

/* Finds the blocks side by side, and where the one that has the work-item's number is among them. */
static const tj_node *find_neighbours(const host_tile *t, fetched *all, const tj_node *const at[]) {
  const tj_node *place = tj_int(t->graph, 0);
  uint32_t across = t->map->by_destination[0];
  int64_t have = 1;
  for (; all->modes < t->map->domain->count; all->modes++) {
    uint32_t mode = t->map->by_source[all->modes];
    bool is_next = mode != across && tj_is_int(tj_block_stride(t->map, mode, true), have);
    if (!is_next || all->blocks * blocks_along(t, mode) > t->load.size[across])
      break;
    place = tj_add(t->graph, place, tj_mul(t->graph, at[mode], tj_int(t->graph, all->blocks)));
    all->blocks *= blocks_along(t, mode);
    have *= tj_block_extent(t->map, mode)->facts.high;
  }
  return place;
}

/* The number of a work-item's block in its tile, by mode. */
static const tj_node **numbers_of_block(const host_tile *t) {
  const tj_mapping_side *load = &t->mapping->load;
  const tj_node *const *digit = tj_mapping_item_digits(t->graph, load, t->item, false);
  const tj_node **number = TJ_NEW_ARRAY(t->graph->job, const tj_node *, t->map->domain->count);
  for (uint32_t m = 0; m < t->map->domain->count; m++)
    number[m] = tj_int(t->graph, 0);
  for (uint32_t i = 0; i < load->item_digits; i++) {
    if (load->digit[i].extent > 1)
      number[load->digit[i].mode] = digit[i];
  }
  return number;
}

static fetched rows_to_fetch(const host_tile *t, const places *loaded) {
  tj_graph *graph = t->graph;
  const tj_node **digit = numbers_of_block(t), *first = tj_int(graph, 0),
                *next = tj_next_tile(graph, &t->tiles, t->workgroup);
  const tj_substitution ahead = {(const tj_node *[]){t->workgroup}, (const tj_node *[]){next}, 1};
  uint32_t across = t->map->by_destination[0];
  fetched all = {*loaded, t->load.slots, t->mapping->load.slots, vector_of(loaded, &t->load.slots), .blocks = 1};
  if (tj_block_is_turned(t->map)) {
    const tj_node *place = find_neighbours(t, &all, digit);
    int64_t depth = t->load.size[across], rows = tj_divided_up(depth, all.blocks);
    first = tj_min(graph, tj_mul(graph, place, tj_int(graph, rows)), tj_int(graph, depth - rows));
    all.slots = (tj_mapping_digits){.digit = {{rows, all.step = 1, across}}, .count = 1};
    all.count = rows;
  }
  for (uint32_t i = 0; i < t->map->domain->count; i++) {
    uint32_t mode = t->map->by_source[i];
    digit[mode] = tj_add(graph, t->corner[mode], i < all.modes ? tj_int(graph, 0) : t->within[mode]);
  }
  digit[across] = tj_add(graph, digit[across], first);
  all.row.first.offset = tj_simplified(graph, access_at(t, TJ_OPERAND_SOURCE, digit).offset);
  tj_substitute(graph, &ahead, &all.row.first.offset, 1);
  return all;
}

/* From the first of the blocks side by side to another: the last block of a tile ends where the tile does. */
static int64_t distance_of(const host_tile *t, const fetched *all, int64_t block) {
  int64_t distance = 0;
  for (uint32_t i = 0; i < all->modes; i++) {
    uint32_t mode = t->map->by_source[i];
    int64_t size = t->load.size[mode], last = tj_mapping_extent(t->mapping, mode) - size;
    int64_t begin = block % blocks_along(t, mode) * size;
    distance += (begin < last ? begin : last) * tj_block_stride(t->map, mode, true)->value;
    block /= blocks_along(t, mode);
  }
  return distance;
}

/* Whether a block begins in the line of the one before it. */
static bool is_in_same_line(const host_tile *t, const fetched *all, int64_t block) {
  int64_t line = TJ_BLOCK_LINE_BYTES / tj_block_bytes(t->map, true);
  return block > 0 && distance_of(t, all, block) / line == distance_of(t, all, block - 1) / line;
}

static step_list make_prefetches(const host_tile *t, const places *loaded) {
  fetched all = rows_to_fetch(t, loaded);
  step_list fetches = new_steps(t, (size_t)(all.count / all.step * all.blocks));
  int64_t at[TJ_BLOCK_MOST_MODES];
  for (int64_t slot = 0; slot < all.count; slot += all.step) {
    slot_place(&all.slots, slot, at);
    for (int64_t block = 0; block < all.blocks; block++) {
      tj_access access = element_at(t, &all.row, at);
      access.displacement += distance_of(t, &all, block);
      if (!is_in_same_line(t, &all, block))
        add_step(&fetches, TJ_STEP_PREFETCH, access);
    }
  }
  return fetches;
}

/* --- by way of LDS --- */

/* How a layout in LDS steps; false where it does not step along modes. */
static bool find_lds_strides(const host_tile *t, places *side) {
  const tj_value *lds = t->mapping->lds;
  const tj_tuple *stride = tj_value_layout(lds)->stride;
  bool is_flat = lds->kind == TJ_VALUE_LAYOUT && tj_tuple_is_list(stride) && stride->count == t->map->domain->count;
  for (uint32_t m = 0; m < t->map->domain->count && is_flat; m++) {
    is_flat = stride->item[m]->kind == TJ_TUPLE_INTEGER;
    side->stride[m] = stride->item[m]->value;
  }
  return is_flat;
}

/* Finds the block's place in LDS; false where what is stored from there are not whole runs. */
static bool find_staged_block(const host_tile *t, places *side) {
  const tj_mapping_digits *run = &t->store.slots;
  places destination;
  side->first = (tj_access){.buffer = TJ_LDS,
                            .offset = tj_simplified(t->graph, tj_mapping_lds_at(t->graph, t->mapping, t->within)),
                            .valid = is_item(t, &t->mapping->load)};
  return find_lds_strides(t, side) && find_strides(t, TJ_OPERAND_DESTINATION, run, &destination) &&
         are_neighbours(&destination, run, run->count) && are_neighbours(side, run, run->count);
}

/* Work-items store a run each. */
static void add_run(const host_tile *t, step_list *steps) {
  tj_graph *graph = t->graph;
  const tj_node *const *within = begin_of_item(t, &t->mapping->store);
  const tj_node **place = TJ_NEW_ARRAY(graph->job, const tj_node *, t->map->domain->count);
  const tj_node *from = tj_mapping_lds_at(graph, t->mapping, within);
  for (uint32_t m = 0; m < t->map->domain->count; m++)
    place[m] = tj_add(graph, t->corner[m], within[m]);
  tj_simplify(graph, place, t->map->domain->count, NULL);
  tj_access to = access_at(t, TJ_OPERAND_DESTINATION, place);
  const tj_node *offset[] = {to.offset, from};
  tj_simplify(graph, offset, 2, NULL);
  to = (tj_access){.buffer = to.buffer, .offset = offset[0], .valid = is_item(t, &t->mapping->store)};
  tj_kernel_step *step = add_step(steps, TJ_STEP_RUN, to);
  step->from = (tj_access){.buffer = TJ_LDS, .offset = offset[1]};
  step->width = (uint32_t)t->mapping->store.slots;
  step->limit = tj_int(graph, step->width);
}

/* With room for a vector that begins with the last one. */
static int64_t lds_elements(const host_tile *t) {
  return t->mapping->lds == NULL ? 0
                                 : tj_mapping_lds_elements(t->graph, t->mapping) +
                                       t->map->target->block_bytes / tj_block_bytes(t->map, false);
}

/* --- blocks --- */

typedef struct {
  places loaded, stored;
  places *further; /* by further destination */
} block_places;

/* Whole parts of a block follow each other, where what is loaded last is stored last. */
static int64_t parts_of(const host_tile *t) {
  const tj_mapping_digits *loaded = &t->load.slots;
  uint32_t last = loaded->count - 1;
  bool has_parts = tj_block_is_turned(t->map) && loaded->count > 1 && loaded->count == t->columns.count &&
                   is_same(&loaded->digit[last], &t->columns.digit[last]);
  return has_parts ? loaded->digit[last].extent : 1;
}

/* A part of a block is loaded, and stored as it is or turned around. What further destinations take as it is need not
 * fill lines: it waits in the caches for what is beside it. */
static void add_part(const host_tile *t, step_list *steps, const block_places *all, int64_t first, int64_t end) {
  const tj_mapping_digits *loaded = &t->load.slots;
  for (int64_t slot = first; slot < end; slot += vector_of(&all->loaded, loaded)) {
    add_vector(t, steps, TJ_STEP_LOAD, &all->loaded, loaded, slot);
    for (uint32_t i = 0; i < t->map->domain->other_count; i++) {
      if (tj_domain_other_is_straight(t->map->domain, i))
        add_vector(t, steps, TJ_STEP_STORE, &all->further[i], loaded, slot)->is_kept = true;
    }
  }
  for (int64_t slot = first; slot < end; slot += vector_of(&all->stored, &t->columns))
    add_vector(t, steps, TJ_STEP_STORE, &all->stored, &t->columns, slot);
  for (uint32_t i = 0; i < t->map->domain->other_count; i++) {
    int64_t width = vector_of(&all->further[i], &t->columns);
    for (int64_t slot = first; slot < end && !tj_domain_other_is_straight(t->map->domain, i); slot += width)
      add_vector(t, steps, TJ_STEP_STORE, &all->further[i], &t->columns, slot);
  }
}

static bool is_register(int64_t elements) {
  return tj_is_power_of_two(elements) && elements <= TJ_BLOCK_MOST_LANES;
}

/* Finds where the elements of blocks are. False where their slots are no vectors, or too many; or where vectors that
 * bypass the caches, as far as they go straight from registers, are not surely whole. */
static bool find_block_places(const host_tile *t, block_places *all) {
  const tj_mapping_digits *loaded = &t->load.slots;
  uint32_t others = t->map->domain->other_count;
  if (!find_block(t, TJ_OPERAND_SOURCE, loaded, &all->loaded) ||
      !(t->mapping->lds != NULL ? find_staged_block(t, &all->stored)
                                : find_block(t, TJ_OPERAND_DESTINATION, &t->columns, &all->stored)))
    return false;
  all->further = TJ_NEW_ARRAY(t->graph->job, places, others + 1);
  for (uint32_t i = 0; i < others; i++) {
    const tj_mapping_digits *slots = tj_domain_other_is_straight(t->map->domain, i) ? loaded : &t->columns;
    if (!find_block(t, TJ_OPERAND_OTHERS + i, slots, &all->further[i]) || !are_neighbours(&all->further[i], slots, 1))
      return false;
  }
  int64_t load = vector_of(&all->loaded, loaded), store = vector_of(&all->stored, &t->columns);
  int64_t slots = t->mapping->load.slots;
  return is_register(load) && is_register(store) && slots / load <= MOST_VECTORS &&
         (slots == 1 || load > 1 || store > 1) &&
         (!t->mapping->streams || t->mapping->lds != NULL || tj_block_has_whole_vectors(t->map, store));
}

/* --- kernels --- */

static tj_kernel *new_kernel(const host_tile *t, const step_list *steps) {
  tj_graph *graph = t->graph;
  tj_kernel *kernel = tj_kernel_in_place_of(graph, t->map->flat, t->map->domain->assumed);
  kernel->workgroup = t->workgroup;
  kernel->item = t->item;
  kernel->items = tj_is_constant(t->items) ? NULL : t->items;
  kernel->workgroup_size = (uint32_t)t->items->facts.high;
  kernel->count = tj_simplified(graph, tj_mul(graph, t->tiles.count, tj_int(graph, kernel->workgroup_size)));
  kernel->step = steps->step;
  kernel->step_count = steps->count;
  kernel->is_streamed = t->mapping->streams;
  kernel->mapping = t->mapping;
  return kernel;
}

static void add_fetches(step_list *all, const step_list *fetches, uint32_t begin, uint32_t end) {
  for (uint32_t i = begin; i < end; i++)
    all->step[all->count++] = fetches->step[i];
}

/* The tile that follows is fetched while this one moves; where it goes by way of LDS, half of it on the way in. */
static step_list block_steps(const host_tile *t, const block_places *block) {
  bool is_staged = t->mapping->lds != NULL, fetches_ahead = t->mapping->streams || is_staged;
  int64_t slots = t->mapping->load.slots, part = slots / parts_of(t);
  step_list fetches = fetches_ahead ? make_prefetches(t, &block->loaded) : (step_list){NULL, 0};
  uint32_t early = is_staged ? fetches.count / 2 : fetches.count;
  step_list all = new_steps(t, (size_t)slots * (2 + t->map->domain->other_count) + fetches.count + 2);
  add_fetches(&all, &fetches, 0, early);
  for (int64_t first = 0; first < slots; first += part)
    add_part(t, &all, block, first, first + part);
  if (is_staged) {
    add_step(&all, TJ_STEP_BARRIER, (tj_access){0});
    add_run(t, &all);
    add_fetches(&all, &fetches, early, fetches.count);
  }
  return all;
}

static void place_blocks(host_tile *t) {
  uint32_t load = t->mapping->load.items, store = t->mapping->store.items;
  t->cut = UINT32_MAX;
  for (uint32_t m = 0; m < t->map->domain->count; m++)
    t->reach[m] = tj_int(t->graph, tj_mapping_extent(t->mapping, m));
  t->items = tj_int(t->graph, load > store ? load : store);
  place_tiles(t);
  t->within = begin_of_item(t, &t->mapping->load);
  t->origin = TJ_NEW_ARRAY(t->graph->job, const tj_node *, t->map->domain->count);
  for (uint32_t m = 0; m < t->map->domain->count; m++)
    t->origin[m] = tj_add(t->graph, t->corner[m], t->within[m]);
  tj_simplify(t->graph, t->origin, t->map->domain->count, NULL);
}

/* Whether items store the boxes that they load, or go by way of LDS; how then they store them. */
static bool choose_columns(host_tile *t) {
  bool is_same = are_same(&t->load.items, &t->store.items);
  for (uint32_t m = 0; m < t->map->domain->count; m++)
    is_same = is_same && t->load.size[m] == t->store.size[m];
  t->columns = t->mapping->lds == NULL ? t->store.slots : begun_along(&t->load.slots, t->map->by_destination[0]);
  return is_same || t->mapping->lds != NULL;
}

static tj_kernel *blocks_as_mapped(host_tile *t) {
  block_places all;
  bool is_read = choose_columns(t);
  for (uint32_t m = 0; m < t->map->domain->count && is_read; m++)
    is_read = is_moved_back(t, m);
  if (!is_read || lds_elements(t) * tj_block_bytes(t->map, false) > t->map->target->lds_bytes)
    return NULL;
  place_blocks(t);
  if (!find_block_places(t, &all))
    return NULL;
  step_list steps = block_steps(t, &all);
  tj_kernel *kernel = new_kernel(t, &steps);
  kernel->slot_count = t->mapping->load.slots;
  kernel->lds_elements = (uint32_t)lds_elements(t);
  return tj_kernel_fits(t->graph, kernel) ? kernel : NULL;
}

/* --- rows --- */

/* The rows of which the launch chooses how many a tile has; or those that a mapping says: the items are those of the
 * box, the slots are a row, or a piece of one, which is cut to what there is. */
static bool read_rows(host_tile *t) {
  uint32_t along = t->cut = t->map->by_source[0];
  t->rows = tj_rows_of(t->map);
  if (t->mapping->is_launched)
    return true;
  bool is_row = t->mapping->lds == NULL && are_same(&t->load.items, &t->store.items) &&
                are_same(&t->load.slots, &t->store.slots) && t->load.slots.count == 1 &&
                t->load.size[along] == tj_mapping_extent(t->mapping, along) &&
                (tj_facts_divisible(&tj_block_extent(t->map, along)->facts, t->load.size[along]) ||
                 tj_mapping_overlap(t->mapping, along) == 0);
  t->rows = (tj_rows){.piece = t->load.size[along]};
  for (uint32_t i = 0; i < t->load.items.count && is_row; i++) {
    uint32_t mode = t->load.items.digit[i].mode;
    t->rows.box[t->rows.count++] = (tj_row_mode){mode, tj_int(t->graph, t->load.items.digit[i].extent)};
    is_row = is_moved_back(t, mode);
  }
  return is_row;
}

/* Elements of each row of a workgroup. */
static const tj_node *length_of(const host_tile *t, const tj_node *const corner[]) {
  const tj_node *rest = tj_sub(t->graph, tj_block_extent(t->map, t->cut), corner[t->cut]);
  return tj_min(t->graph, t->reach[t->cut], rest);
}

/* The row of a work-item in a tile. */
static tj_access row_of(const host_tile *t, uint32_t operand, const places *side, const tj_node *const corner[]) {
  tj_graph *graph = t->graph;
  tj_access access = access_at(t, operand, corner);
  const tj_node *rest = t->item;
  access.base = access.offset;
  access.offset = tj_int(graph, 0);
  for (uint32_t i = 0; i < t->rows.count; i++) {
    const tj_row_mode *rows = &t->rows.box[i];
    const tj_node *at = i + 1 == t->rows.count ? rest : take_digit(graph, &rest, rows->length);
    access.offset = tj_add(graph, access.offset, tj_mul(graph, at, side->stride[rows->mode]));
  }
  access.valid = tj_int(graph, 1);
  return access;
}

/* Fetches the lines at the ends of the row that the next workgroup stores, of which this one leaves a part. */
static void add_ends(const host_tile *t, const places *stored, const tj_node *const next[], step_list *steps) {
  tj_graph *graph = t->graph;
  const tj_node *end[] = {tj_int(graph, 0), tj_sub(graph, length_of(t, next), tj_int(graph, 1))};
  for (int i = 0; i < 2; i++) {
    tj_access access = row_of(t, TJ_OPERAND_DESTINATION, stored, next);
    access.offset = tj_add(graph, access.offset, end[i]);
    add_step(steps, TJ_STEP_PREFETCH, access);
  }
}

static step_list row_steps(const host_tile *t, const places *loaded, const places *stored) {
  step_list steps = new_steps(t, 3);
  const tj_node *const *next = corner_of(t, tj_next_tile(t->graph, &t->tiles, t->workgroup));
  int64_t most = tj_block_extent(t->map, t->cut)->facts.high;
  if (t->mapping->streams)
    add_ends(t, stored, next, &steps);
  tj_kernel_step *step = add_step(&steps, TJ_STEP_RUN, row_of(t, TJ_OPERAND_DESTINATION, stored, t->corner));
  step->from = row_of(t, TJ_OPERAND_SOURCE, loaded, t->corner);
  step->ahead = row_of(t, TJ_OPERAND_SOURCE, loaded, next);
  step->limit = length_of(t, t->corner);
  step->width = (uint32_t)(most < t->rows.piece ? most : t->rows.piece);
  return steps;
}

static void place_rows(host_tile *t) {
  t->items = tj_int(t->graph, 1);
  for (uint32_t m = 0; m < t->map->domain->count; m++)
    t->reach[m] = tj_int(t->graph, m == t->cut ? t->rows.piece : 1);
  for (uint32_t i = 0; i < t->rows.count; i++) {
    t->reach[t->rows.box[i].mode] = t->rows.box[i].length;
    t->items = tj_mul(t->graph, t->items, t->rows.box[i].length);
  }
  t->items = tj_simplified(t->graph, t->items);
  place_tiles(t);
}

static tj_kernel *rows_as_mapped(host_tile *t) {
  tj_mapping_digits modes = {.digit = {{1, 1, t->map->by_source[0]}}, .count = 1};
  places loaded, stored;
  if (t->map->domain->other_count > 0 || tj_block_is_turned(t->map) || !read_rows(t))
    return NULL;
  for (uint32_t i = 0; i < t->rows.count; i++)
    modes.digit[modes.count++].mode = t->rows.box[i].mode;
  if (!find_strides(t, TJ_OPERAND_SOURCE, &modes, &loaded) ||
      !find_strides(t, TJ_OPERAND_DESTINATION, &modes, &stored))
    return NULL;
  place_rows(t);
  step_list steps = row_steps(t, &loaded, &stored);
  tj_kernel *kernel = new_kernel(t, &steps);
  tj_kernel_simplify(t->graph, kernel, NULL);
  return tj_kernel_fits(t->graph, kernel) ? kernel : NULL;
}

tj_kernel *tj_block_kernel(const tj_block_map *map, const tj_mapping *mapping) {
  host_tile t = {.map = map, .mapping = mapping, .graph = map->graph};
  t.reach = TJ_NEW_ARRAY(map->graph->job, const tj_node *, map->domain->count);
  if (mapping->is_launched)
    return rows_as_mapped(&t);
  if (mapping->passes > 1 || tj_mapping_rank(mapping) != map->domain->count ||
      !read_side(&t, &mapping->load, &t.load) || !read_side(&t, &mapping->store, &t.store))
    return NULL;
  tj_kernel *blocks = blocks_as_mapped(&t);
  return blocks != NULL ? blocks : rows_as_mapped(&t);
}
