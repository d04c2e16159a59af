/* SPDX-License-Identifier: MIT */
/* Making, checking and printing mappings. That a side covers its tile once is found by visiting every element. */
#include "ir/value/mapping.h"

#include "ir/index/facts.h"
#include "ir/simplify/simplify.h"
#include "ir/value/predicate.h"

#include <inttypes.h>

/* --- sides as strided digits --- */

enum { INDEX = TJ_MAPPING_INDEX };

typedef struct {
  tj_graph *graph;
  tj_job *job;
  const char *name; /* load or store */
  tj_layout layout;
  tj_mapping_digit *digit; /* those of the item first */
  uint32_t count, item_count;
} reading;

static int64_t need_number(const reading *self, const tj_node *node, const char *what) {
  if (!tj_is_constant(node))
    tj_fail(self->job, TJ_MAPPING, "%s: %s is not a constant", self->name, what);
  return node->value;
}

static void read_step(const reading *self, const tj_tuple *stride, tj_mapping_digit *read) {
  bool is_index = stride->kind == TJ_TUPLE_INTEGER;
  if (!is_index && (stride->kind != TJ_TUPLE_BASIS || stride->count != 1))
    tj_fail(self->job, TJ_MAPPING, "%s: stride %s is neither an integer nor a multiple of 1@mode", self->name,
            tj_tuple_text(self->job, stride));
  read->step = need_number(self, stride->value, "a stride");
  read->mode = is_index ? INDEX : stride->path[0];
  if (read->step < 0)
    tj_fail(self->job, TJ_MAPPING, "%s: stride %s leads out of the tile", self->name,
            tj_tuple_text(self->job, stride));
}

static reading read_side(tj_graph *graph, const char *name, tj_layout layout) {
  reading self = {.graph = graph, .job = graph->job, .name = name, .layout = layout};
  if (!tj_tuple_is_list(layout.shape) || layout.shape->count != 2)
    tj_fail(self.job, TJ_MAPPING, "%s has two modes, (item, slot); %s has %" PRIu32, name,
            tj_layout_text(self.job, layout), tj_tuple_rank(layout.shape));
  const tj_tuple *const *extents = tj_tuple_leaves(graph, layout.shape, &self.count);
  const tj_tuple *const *strides = tj_tuple_leaves(graph, layout.stride, &self.count);
  self.item_count = tj_tuple_leaf_count(layout.shape->item[0]);
  self.digit = TJ_NEW_ARRAY(self.job, tj_mapping_digit, self.count + 1);
  for (uint32_t i = 0; i < self.count; i++) {
    self.digit[i].extent = need_number(&self, extents[i]->value, "an extent");
    read_step(&self, strides[i], &self.digit[i]);
  }
  return self;
}

static bool gives_index(const reading *self) {
  return tj_mapping_gives_index(self->digit, self->count);
}

/* The largest value along a mode, or of the index. */
static int64_t reach_of(const reading *self, uint32_t mode) {
  int64_t reach = 0;
  for (uint32_t i = 0; i < self->count; i++) {
    int64_t most;
    if (self->digit[i].mode == mode &&
        (__builtin_mul_overflow(self->digit[i].extent - 1, self->digit[i].step, &most) ||
         __builtin_add_overflow(reach, most, &reach)))
      return INT64_MAX;
  }
  return reach;
}

static uint32_t modes_of(const reading *self) {
  uint32_t modes = 0;
  for (uint32_t i = 0; i < self->count; i++) {
    if (self->digit[i].mode != INDEX && self->digit[i].mode >= modes)
      modes = self->digit[i].mode + 1;
  }
  return modes;
}

static int64_t size_of(const reading *self, uint32_t begin, uint32_t end, int64_t most, const char *what) {
  int64_t size = 1;
  for (uint32_t i = begin; i < end; i++) {
    if (__builtin_mul_overflow(size, self->digit[i].extent, &size) || size > most)
      tj_fail(self->job, TJ_TILE_SIZE, "%s has more than %" PRId64 " %s", self->name, most, what);
  }
  return size;
}

/* --- tiles --- */

int64_t tj_mapping_extent(const tj_mapping *mapping, uint32_t mode) {
  return mapping->tile->item[mode]->value->value;
}

uint32_t tj_mapping_rank(const tj_mapping *mapping) {
  return mapping->tile->count;
}

static int64_t elements_of(const tj_mapping *mapping) {
  int64_t elements = 1;
  for (uint32_t m = 0; m < tj_mapping_rank(mapping); m++)
    elements *= tj_mapping_extent(mapping, m);
  return elements;
}

/* As far as the side reaches. */
static const tj_tuple *reached_tile(const reading *self) {
  const tj_tuple *extent[TJ_MAX_DIMENSIONS];
  uint32_t modes = modes_of(self);
  if (gives_index(self) || modes == 0)
    tj_fail(self->job, TJ_MAPPING, "tile= is missing: %s gives an index, of which no shape can be seen", self->name);
  for (uint32_t m = 0; m < modes && m < TJ_MAX_DIMENSIONS; m++)
    extent[m] = tj_tuple_constant(self->graph, reach_of(self, m) + 1);
  return tj_tuple_list(self->graph, extent, modes < TJ_MAX_DIMENSIONS ? modes : TJ_MAX_DIMENSIONS);
}

static const tj_tuple *as_list(tj_graph *graph, const tj_tuple *tile) {
  return tj_tuple_is_list(tile) ? tile : tj_tuple_list(graph, &tile, 1);
}

static void check_tile(tj_job *job, const tj_tuple *tile) {
  int64_t elements = 1;
  if (tile->count == 0 || tile->count > TJ_MAX_DIMENSIONS)
    tj_fail(job, TJ_MAPPING, "a tile has 1 to %d modes, not %" PRIu32, TJ_MAX_DIMENSIONS, tile->count);
  for (uint32_t m = 0; m < tile->count; m++) {
    const tj_tuple *extent = tile->item[m];
    if (extent->kind != TJ_TUPLE_INTEGER || !tj_is_constant(extent->value) || extent->value->value < 1)
      tj_fail(job, TJ_MAPPING, "extent %s of the tile is not a positive constant", tj_tuple_text(job, extent));
    if (__builtin_mul_overflow(elements, extent->value->value, &elements) || elements > TJ_MAPPING_MOST_ELEMENTS)
      tj_fail(job, TJ_TILE_SIZE, "a tile of %s has more than %d elements", tj_tuple_text(job, tile),
              TJ_MAPPING_MOST_ELEMENTS);
  }
}

/* --- domains --- */

/* Each leaf steps through one mode of the operands; which, and whether it is all of it, only they can tell. */
void tj_mapping_check_domain(tj_graph *graph, const tj_layout *domain, uint32_t rank) {
  uint32_t count;
  const tj_tuple *const *extent = tj_tuple_leaves(graph, domain->shape, &count);
  const tj_tuple *const *stride = tj_tuple_leaves(graph, domain->stride, &count);
  if (tj_tuple_rank(domain->shape) != rank)
    tj_fail(graph->job, TJ_MAPPING, "domain has %" PRIu32 " modes, the tile %" PRIu32, tj_tuple_rank(domain->shape),
            rank);
  for (uint32_t i = 0; i < count; i++) {
    bool is_step = stride[i]->kind == TJ_TUPLE_BASIS && tj_is_int(stride[i]->value, 1);
    if (!is_step && !tj_is_int(extent[i]->value, 1))
      tj_fail(graph->job, TJ_MAPPING, "domain: stride %s is not 1@mode", tj_tuple_text(graph->job, stride[i]));
  }
}

/* --- every element once --- */

static void check_reach(const reading *self, const tj_mapping *mapping) {
  bool is_index = gives_index(self);
  if (is_index && modes_of(self) > 0)
    tj_fail(self->job, TJ_MAPPING, "%s has integer strides beside basis elements", self->name);
  if (is_index && reach_of(self, INDEX) >= elements_of(mapping))
    tj_fail(self->job, TJ_MAPPING_COVER, "%s reaches index %" PRId64 " of a tile of %" PRId64 " elements", self->name,
            reach_of(self, INDEX), elements_of(mapping));
  for (uint32_t m = 0; m < modes_of(self); m++) {
    if (m >= tj_mapping_rank(mapping))
      tj_fail(self->job, TJ_MAPPING_COVER, "%s has strides along mode %" PRIu32 "; the tile has %" PRIu32 " mode%s",
              self->name, m, tj_mapping_rank(mapping), tj_mapping_rank(mapping) == 1 ? "" : "s");
    if (reach_of(self, m) >= tj_mapping_extent(mapping, m))
      tj_fail(self->job, TJ_MAPPING_COVER,
              "%s reaches coordinate %" PRId64 " of mode %" PRIu32 ", where the tile has %" PRId64, self->name,
              reach_of(self, m), m, tj_mapping_extent(mapping, m));
  }
}

/* How far one step of each mode is in the tile's index. */
static int64_t index_step(const tj_mapping *mapping, uint32_t mode) {
  int64_t step = 1;
  for (uint32_t m = 0; m < mode && mode != INDEX; m++)
    step *= tj_mapping_extent(mapping, m);
  return step;
}

/* Holders in order: digits that do not repeat elements, each with its steps in the tile's index and in the number of
 * the holder. */
typedef struct {
  int64_t extent, step, holder;
} counter;

static uint32_t list_counters(const reading *self, const tj_mapping *mapping, counter all[]) {
  uint32_t count = 0;
  int64_t holder = 1;
  for (uint32_t i = 0; i < self->count; i++) {
    const tj_mapping_digit *d = &self->digit[i];
    if (d->extent > 1 && d->step > 0)
      all[count++] = (counter){d->extent, d->step * index_step(mapping, d->mode), holder};
    holder *= d->extent;
  }
  return count;
}

static const char *place_text(const reading *self, const tj_mapping *mapping, int64_t index) {
  const tj_tuple *place[TJ_MAX_DIMENSIONS];
  for (uint32_t m = 0; m < tj_mapping_rank(mapping); m++) {
    place[m] = tj_tuple_constant(self->graph, index % tj_mapping_extent(mapping, m));
    index /= tj_mapping_extent(mapping, m);
  }
  return tj_tuple_text(self->job, tj_tuple_list(self->graph, place, tj_mapping_rank(mapping)));
}

_Noreturn static void fail_twice(const reading *self, const tj_mapping *mapping, const tj_mapping_side *side,
                                 int64_t index, int64_t first, int64_t second) {
  tj_fail(self->job, TJ_MAPPING_COVER,
          "%s: element %s of the tile is held twice, by item %" PRId64 " in slot %" PRId64 " and by item %" PRId64
          " in slot %" PRId64,
          self->name, place_text(self, mapping, index), first % side->items, first / side->items,
          second % side->items, second / side->items);
}

/* A place among the holders: the values of all counters, and what they add up to. */
typedef struct {
  const counter *counter;
  int64_t *at;
  uint32_t count;
  int64_t index, holder;
} holder_walk;

/* False: that was the last holder. */
static bool go_on(holder_walk *walk) {
  for (uint32_t i = 0; i < walk->count; i++) {
    const counter *c = &walk->counter[i];
    int64_t steps = walk->at[i] + 1 < c->extent ? 1 : -walk->at[i];
    walk->at[i] += steps;
    walk->index += steps * c->step;
    walk->holder += steps * c->holder;
    if (steps == 1)
      return true;
  }
  return false;
}

static void check_cover(const reading *self, const tj_mapping *mapping, const tj_mapping_side *side) {
  int64_t elements = elements_of(mapping), held = 0, first = 0;
  uint32_t *owner = TJ_NEW_ARRAY(self->job, uint32_t, (size_t)elements);
  counter *all = TJ_NEW_ARRAY(self->job, counter, self->count + 1);
  holder_walk walk = {.counter = all,
                      .at = TJ_NEW_ARRAY(self->job, int64_t, self->count + 1),
                      .count = list_counters(self, mapping, all)};
  tj_spend(self->job, (uint64_t)elements);
  do {
    if (owner[walk.index] != 0)
      fail_twice(self, mapping, side, walk.index, owner[walk.index] - 1, walk.holder);
    owner[walk.index] = (uint32_t)walk.holder + 1;
    held++;
  } while (go_on(&walk));
  if (held == elements)
    return;
  while (owner[first] != 0)
    first++;
  tj_fail(self->job, TJ_MAPPING_COVER, "%s: nobody holds element %s of the tile", self->name,
          place_text(self, mapping, first));
}

/* --- mixed radix --- */

/* Whether each digit along a mode goes on to where the next larger one steps, the largest to the end of the tile; or,
 * where something may be moved back inside, so far that it may begin earlier. */
static bool fills_mode_of_tile(const reading *self, const tj_mapping *mapping, uint32_t mode, uint32_t found[]) {
  uint32_t count = tj_mapping_digits_along(self->digit, self->count, mode, found);
  int64_t limit = tj_mapping_extent(mapping, mode), reach;
  for (uint32_t i = 0; i < count; i++) {
    const tj_mapping_digit *d = &self->digit[found[i]];
    if (__builtin_mul_overflow(d->extent, d->step, &reach) || reach < limit || reach - d->step >= limit ||
        (reach > limit && tj_mapping_overlap(mapping, mode) == 0))
      return false;
    limit = d->step;
  }
  return limit == 1;
}

/* Whether the side holds the tile by digits of a mixed radix, mode by mode: then it holds all of it. */
static bool is_mixed_radix(const reading *self, const tj_mapping *mapping) {
  uint32_t *found = TJ_NEW_ARRAY(self->job, uint32_t, self->count + 1);
  bool fills = !gives_index(self) && modes_of(self) <= tj_mapping_rank(mapping);
  for (uint32_t m = 0; m < tj_mapping_rank(mapping) && fills; m++)
    fills = fills_mode_of_tile(self, mapping, m, found);
  return fills;
}

/* --- the numbers of items --- */

/* Layouts say no more than where so many go. */
static bool reaches_items(tj_graph *graph, const tj_mapping_side *side) {
  int64_t block = tj_mapping_block(graph, side->as);
  return block > 0 && block <= TJ_MAPPING_MOST_ITEMS && (side->as->kind != TJ_VALUE_LAYOUT || block >= side->items);
}

static void check_as(const reading *self, const tj_mapping_side *side, const char *name) {
  if (side->as != NULL && !reaches_items(self->graph, side))
    tj_fail(self->job, TJ_MAPPING,
            "%s is not a map of at least %" PRIu32
            " numbers of items onto themselves: a layout, a swizzle or linear([…, _])",
            name, side->items);
}

/* --- sides --- */

static tj_mapping_side side_of(const reading *self, const tj_value *as) {
  return (tj_mapping_side){.layout = self->layout,
                           .digit = self->digit,
                           .digit_count = self->count,
                           .item_digits = self->item_count,
                           .as = as};
}

tj_mapping *tj_mapping_of_tile(tj_graph *graph, const tj_layout *domain, const tj_tuple *tile) {
  tj_mapping *mapping = TJ_NEW(graph->job, tj_mapping);
  *mapping = (tj_mapping){.domain = domain, .tile = tile, .passes = 1};
  return mapping;
}

bool tj_mapping_skips_registers(const tj_mapping *mapping) {
  return mapping->is_direct || mapping->by_dma || mapping->dma_stores;
}

bool tj_mapping_is_plain(const tj_mapping *mapping) {
  return !mapping->is_launched && !mapping->is_open && mapping->lds == NULL && mapping->passes == 1 &&
         mapping->overlap == NULL && mapping->order == NULL && !mapping->streams &&
         !tj_mapping_skips_registers(mapping);
}

tj_mapping_side tj_mapping_side_of(tj_graph *graph, tj_layout layout, const tj_value *as) {
  reading self = read_side(graph, "load", layout);
  tj_mapping_side side = side_of(&self, as);
  side.items = side.slots = 1;
  for (uint32_t i = 0; i < self.count; i++)
    *(i < self.item_count ? &side.items : &side.slots) *= (uint32_t)self.digit[i].extent;
  return side;
}

void tj_mapping_add_digit(tj_mapping_digits *digits, int64_t extent, int64_t step, uint32_t mode) {
  if (extent <= 1)
    return;
  if (digits->count < TJ_MAPPING_MOST_DIGITS)
    digits->digit[digits->count++] = (tj_mapping_digit){extent, step, mode};
  else
    digits->lacks_some = true;
}

static tj_leaves leaves_of(tj_graph *graph, const tj_mapping_digits *digits) {
  tj_leaves leaves = {.count = 0};
  for (uint32_t i = 0; i < digits->count; i++) {
    const tj_mapping_digit *d = &digits->digit[i];
    bool is_index = d->step == 0 || d->mode == INDEX;
    tj_leaves_put(&leaves, tj_tuple_constant(graph, d->extent),
                  is_index ? tj_tuple_constant(graph, d->step)
                           : tj_tuple_basis(graph, tj_int(graph, d->step), &d->mode, 1));
  }
  return leaves;
}

tj_layout tj_mapping_mode_of_digits(tj_graph *graph, const tj_mapping_digits *digits) {
  tj_leaves leaves = leaves_of(graph, digits);
  return tj_leaves_mode(graph, &leaves);
}

tj_mapping_side tj_mapping_side_of_digits(tj_graph *graph, const tj_mapping_digits *items,
                                          const tj_mapping_digits *slots, const tj_value *as) {
  if (items->lacks_some || slots->lacks_some)
    return (tj_mapping_side){.items = 0, .slots = 0};
  tj_leaves item = leaves_of(graph, items), slot = leaves_of(graph, slots);
  return tj_mapping_side_of(graph, tj_leaves_pair(graph, &item, &slot), as);
}

static tj_mapping_side make_side(const reading *self, const tj_mapping *mapping, const tj_value *as,
                                 const char *as_name) {
  tj_mapping_side side = side_of(self, as);
  side.items = (uint32_t)size_of(self, 0, self->item_count, TJ_MAPPING_MOST_ITEMS, "items");
  side.slots = (uint32_t)size_of(self, self->item_count, self->count, TJ_MAPPING_MOST_ELEMENTS, "slots");
  check_as(self, &side, as_name);
  if (is_mixed_radix(self, mapping))
    return side;
  check_reach(self, mapping);
  check_cover(self, mapping, &side);
  return side;
}

/* --- the other parts --- */

/* What is moved back inside, by mode. */
static const int64_t *read_overlap(tj_graph *graph, const tj_mapping *mapping, const tj_tuple *given) {
  uint32_t rank = tj_mapping_rank(mapping);
  int64_t *overlap = TJ_NEW_ARRAY(graph->job, int64_t, rank);
  if (given == NULL || (given->kind == TJ_TUPLE_INTEGER && tj_is_int(given->value, 0)))
    return NULL;
  bool is_whole = given->kind == TJ_TUPLE_INTEGER && tj_is_int(given->value, 1);
  if (!is_whole && (!tj_tuple_is_list(given) || given->count != rank))
    tj_fail(graph->job, TJ_MAPPING, "overlap is 0, 1, or has an integer for each of the %" PRIu32 " modes", rank);
  for (uint32_t m = 0; m < rank; m++) {
    const tj_tuple *piece = is_whole ? mapping->tile->item[m] : given->item[m];
    if (piece->kind != TJ_TUPLE_INTEGER || !tj_is_constant(piece->value) || piece->value->value < 0 ||
        (piece->value->value > 0 && tj_mapping_extent(mapping, m) % piece->value->value != 0))
      tj_fail(graph->job, TJ_MAPPING, "overlap: %s is neither 0 nor a divisor of the tile's %" PRId64,
              tj_tuple_text(graph->job, piece), tj_mapping_extent(mapping, m));
    overlap[m] = piece->value->value;
  }
  return overlap;
}

int64_t tj_mapping_overlap(const tj_mapping *mapping, uint32_t mode) {
  return mapping->overlap != NULL ? mapping->overlap[mode] : 0;
}

uint32_t tj_mapping_pass_mode(const tj_mapping *mapping) {
  uint32_t mode = tj_mapping_rank(mapping) - 1;
  while (mode > 0 && tj_mapping_extent(mapping, mode) == 1)
    mode--;
  return mode;
}

static void check_passes(tj_job *job, const tj_mapping *mapping, int64_t passes) {
  uint32_t mode = tj_mapping_pass_mode(mapping);
  if (passes < 1 || tj_mapping_extent(mapping, mode) % passes != 0)
    tj_fail(job, TJ_MAPPING, "a tile of %s does not go in %" PRId64 " equal passes along its last mode",
            tj_tuple_text(job, mapping->tile), passes);
  if (passes > 1 && mode == 0)
    tj_fail(job, TJ_MAPPING, "passes go along the last mode of a tile of two modes or more");
}

static void check_buffers(tj_job *job, int64_t buffers, int64_t passes) {
  if (buffers < 1 || buffers > passes)
    tj_fail(job, TJ_MAPPING,
            "buffers: of a tile that goes through LDS in %" PRId64 " pass%s, 1 to %" PRId64
            " parts are there at a time, not %" PRId64,
            passes, passes == 1 ? "" : "es", passes, buffers);
}

static int64_t part_size(const tj_tuple *part) {
  int64_t size = 1;
  for (uint32_t m = 0; m < part->count; m++)
    size *= part->item[m]->value->value;
  return size;
}

int64_t tj_mapping_part_extent(const tj_mapping *mapping, uint32_t mode) {
  return tj_mapping_extent(mapping, mode) / (mode == tj_mapping_pass_mode(mapping) ? mapping->passes : 1);
}

const tj_tuple *tj_mapping_part(tj_graph *graph, const tj_mapping *mapping) {
  int64_t extent[TJ_MAX_DIMENSIONS];
  for (uint32_t m = 0; m < tj_mapping_rank(mapping); m++)
    extent[m] = tj_mapping_part_extent(mapping, m);
  return tj_tuple_constants(graph, extent, tj_mapping_rank(mapping));
}

/* Whether a layout has a mode for each of the tile's, at least as long. */
static bool is_by_mode(tj_graph *graph, const tj_tuple *part, const tj_tuple *shape) {
  bool reaches = tj_tuple_is_list(shape) && shape->count == part->count;
  for (uint32_t m = 0; m < part->count && reaches; m++)
    reaches = tj_tuple_product(graph, shape->item[m])->value >= part->item[m]->value->value;
  return reaches;
}

bool tj_mapping_lds_is_by_mode(tj_graph *graph, const tj_mapping *mapping) {
  return is_by_mode(graph, tj_mapping_part(graph, mapping), tj_value_layout(mapping->lds)->shape);
}

/* An offset leads into LDS, and all of it is a number of bytes that machines have. */
static void check_lds_reach(tj_graph *graph, const tj_mapping *mapping) {
  const tj_tuple *offset = mapping->lds->kind == TJ_VALUE_COMPOSED ? mapping->lds->composed->offset : NULL;
  if (offset != NULL &&
      (offset->kind != TJ_TUPLE_INTEGER || !tj_is_constant(offset->value) || offset->value->value < 0))
    tj_fail(graph->job, TJ_MAPPING_LDS, "lds: offset %s is not a constant that is not negative",
            tj_tuple_text(graph->job, offset));
  if ((offset != NULL && offset->value->value > TJ_MAPPING_MOST_LDS) ||
      tj_mapping_lds_elements(graph, mapping) > TJ_MAPPING_MOST_LDS)
    tj_fail(graph->job, TJ_TILE_SIZE, "lds takes more than %d elements", TJ_MAPPING_MOST_LDS);
}

static void check_lds(tj_graph *graph, const tj_mapping *mapping) {
  const tj_layout *layout = tj_value_layout(mapping->lds);
  const tj_tuple *part = tj_mapping_part(graph, mapping);
  uint32_t count;
  const tj_tuple *const *stride = tj_tuple_leaves(graph, layout->stride, &count);
  for (uint32_t i = 0; i < count; i++) {
    if (stride[i]->kind != TJ_TUPLE_INTEGER || !tj_is_constant(stride[i]->value) || stride[i]->value->value < 0)
      tj_fail(graph->job, TJ_MAPPING_LDS, "lds: stride %s is not a constant that is not negative",
              tj_tuple_text(graph->job, stride[i]));
  }
  if (!tj_is_constant(tj_layout_size(graph, *layout)) ||
      (!is_by_mode(graph, part, layout->shape) && !tj_is_int(tj_layout_size(graph, *layout), part_size(part))))
    tj_fail(graph->job, TJ_MAPPING_LDS, "lds has the shape %s; the tile, in one pass, %s",
            tj_tuple_text(graph->job, layout->shape), tj_tuple_text(graph->job, part));
  if (!tj_is_injective(graph, mapping->lds))
    tj_fail(graph->job, TJ_MAPPING_LDS, "lds gives two elements of the tile one place");
  check_lds_reach(graph, mapping);
}

const tj_node *tj_mapping_lds_at(tj_graph *graph, const tj_mapping *mapping, const tj_node *const within[]) {
  const tj_tuple *part = tj_mapping_part(graph, mapping), *coordinate = tj_tuple_integers(graph, within, part->count);
  const tj_layout *layout = tj_value_layout(mapping->lds);
  if (!is_by_mode(graph, part, layout->shape))
    coordinate = tj_crd2idx(graph, coordinate, part, NULL);
  const tj_node *element = tj_layout_apply(graph, *layout, coordinate)->value;
  return mapping->lds->kind == TJ_VALUE_COMPOSED ? tj_add(graph, mapping->lds->composed->offset->value, element)
                                                 : element;
}

tj_swizzle tj_mapping_lds_swizzle(const tj_mapping *mapping) {
  return mapping->lds->kind == TJ_VALUE_COMPOSED ? mapping->lds->composed->swizzle : (tj_swizzle){.bits = 0};
}

/* A swizzle moves values within whole units of the bits that it changes. */
int64_t tj_mapping_lds_elements(tj_graph *graph, const tj_mapping *mapping) {
  int64_t elements = tj_layout_cosize(graph, *tj_value_layout(mapping->lds))->value;
  if (mapping->lds->kind != TJ_VALUE_COMPOSED)
    return elements;
  tj_swizzle swizzle = mapping->lds->composed->swizzle;
  int64_t unit = (int64_t)1 << (swizzle.bits + swizzle.base - (swizzle.shift < 0 ? swizzle.shift : 0));
  elements += mapping->lds->composed->offset->value->value;
  return swizzle.bits == 0 ? elements : (elements + unit - 1) / unit * unit;
}

/* Vectors of a part are aligned as those of the first one are. */
int64_t tj_mapping_lds_pitch(tj_graph *graph, const tj_mapping *mapping) {
  enum { WIDEST = 16 /* elements of a vector, at most */ };
  return (tj_mapping_lds_elements(graph, mapping) + WIDEST - 1) / WIDEST * WIDEST;
}

uint32_t tj_mapping_lds_parts(const tj_mapping *mapping, uint32_t passes) {
  return passes == mapping->passes ? mapping->ahead + 1 : mapping->passes;
}

int64_t tj_mapping_lds_size(tj_graph *graph, const tj_mapping *mapping, uint32_t passes) {
  return (tj_mapping_lds_parts(mapping, passes) - 1) * tj_mapping_lds_pitch(graph, mapping) +
         tj_mapping_lds_elements(graph, mapping);
}

/* The ways into LDS, and out of it, that are not through registers. */
static void check_ways(tj_job *job, const tj_mapping *mapping) {
  if (mapping->is_direct && mapping->by_dma)
    tj_fail(job, TJ_MAPPING, "dma: by direct=1, work-items would load what an engine brings");
  if (mapping->is_direct && mapping->lds == NULL)
    tj_fail(job, TJ_MAPPING, "direct: lds= is missing, which says where load's elements go");
  if (mapping->dma_stores && mapping->lds == NULL)
    tj_fail(job, TJ_MAPPING, "dma_store: lds= is missing, which says where the engine finds the tile");
  if (mapping->dma_stores && mapping->passes > 1)
    tj_fail(job, TJ_MAPPING, "dma_store: the engine takes all of a tile out of LDS, not in passes");
}

static void check_open(tj_job *job, const tj_mapping_parts *parts) {
  bool has_more = parts->lds != NULL || parts->load_as != NULL || parts->store_as != NULL || parts->order != NULL ||
                  parts->overlap != NULL || parts->passes != 1 || parts->buffers != 1 || parts->streams ||
                  parts->is_direct || parts->by_dma || parts->dma_stores;
  if (parts->tile == NULL)
    tj_fail(job, TJ_MAPPING, "load=, store= and tile= are all missing");
  if (has_more)
    tj_fail(job, TJ_MAPPING,
            "load= and store= are both missing: they are chosen for domain= and tile= alone, and with them all else");
}

/* A tile, for which the rest is to be chosen. */
static const tj_mapping *make_open(tj_graph *graph, const tj_mapping_parts *parts) {
  check_open(graph->job, parts);
  tj_mapping *mapping = tj_mapping_of_tile(graph, parts->domain, as_list(graph, parts->tile));
  check_tile(graph->job, mapping->tile);
  if (mapping->domain != NULL)
    tj_mapping_check_domain(graph, mapping->domain, mapping->tile->count);
  mapping->is_open = true;
  return mapping;
}

const tj_mapping *tj_mapping_make(tj_graph *graph, const tj_mapping_parts *parts) {
  if (tj_mapping_is_launched(graph, parts))
    return tj_mapping_make_launched(graph, parts);
  if (parts->load == NULL && parts->store == NULL)
    return make_open(graph, parts);
  tj_mapping *mapping = TJ_NEW(graph->job, tj_mapping);
  reading load =
      read_side(graph, parts->load != NULL ? "load" : "store", *(parts->load != NULL ? parts->load : parts->store));
  reading store =
      read_side(graph, parts->store != NULL ? "store" : "load", *(parts->store != NULL ? parts->store : parts->load));
  mapping->tile =
      as_list(graph, parts->tile != NULL ? parts->tile : reached_tile(gives_index(&load) ? &store : &load));
  check_tile(graph->job, mapping->tile);
  mapping->domain = parts->domain;
  if (mapping->domain != NULL)
    tj_mapping_check_domain(graph, mapping->domain, mapping->tile->count);
  mapping->overlap = read_overlap(graph, mapping, parts->overlap);
  check_passes(graph->job, mapping, parts->passes);
  check_buffers(graph->job, parts->buffers, parts->passes);
  mapping->load = make_side(&load, mapping, parts->load_as, "load_as");
  mapping->store = make_side(&store, mapping, parts->store_as, "store_as");
  mapping->passes = (uint32_t)parts->passes;
  mapping->ahead = (uint32_t)parts->buffers - 1;
  mapping->lds = parts->lds;
  if (mapping->lds != NULL)
    check_lds(graph, mapping);
  mapping->order = parts->order;
  mapping->streams = parts->streams;
  mapping->is_direct = parts->is_direct;
  mapping->by_dma = parts->by_dma;
  mapping->dma_stores = parts->dma_stores;
  check_ways(graph->job, mapping);
  return mapping;
}

static void check_partitions(tj_job *job, const tj_distribution *d) {
  if (d->p_count != 1 && d->p_count != 2)
    tj_fail(job, TJ_PARTITION,
            "the distribution has %" PRIu32 " Ps; a kernel's has one, the lane, or two, wave and lane", d->p_count);
}

const tj_mapping *tj_mapping_of_distributions(tj_graph *graph, const tj_distribution *from,
                                              const tj_distribution *to) {
  check_partitions(graph->job, from);
  check_partitions(graph->job, to);
  tj_layout load = tj_distribution_tv_layout(graph, from), store = tj_distribution_tv_layout(graph, to);
  tj_mapping_parts parts = {.tile = tj_tuple_constants(graph, from->x_length, from->x_count),
                            .load = &load,
                            .store = &store,
                            .passes = 1,
                            .buffers = 1};
  tj_mapping *mapping = TJ_NEW(graph->job, tj_mapping);
  *mapping = *tj_mapping_make(graph, &parts);
  mapping->load.lanes = (uint32_t)from->p_length[from->p_count - 1];
  mapping->store.lanes = (uint32_t)to->p_length[to->p_count - 1];
  return mapping;
}

/* --- text --- */

static void print_layout(tj_text *text, const char *name, const tj_layout *layout) {
  tj_text_format(text, ", %s=", name);
  tj_layout_print(text, *layout);
}

static void print_value(tj_text *text, const char *name, const tj_value *value) {
  if (value == NULL)
    return;
  tj_text_format(text, ", %s=", name);
  tj_value_print(text, value);
}

static void print_overlap(tj_text *text, const tj_mapping *mapping) {
  bool is_whole = true;
  for (uint32_t m = 0; m < tj_mapping_rank(mapping); m++)
    is_whole = is_whole && mapping->overlap[m] == tj_mapping_extent(mapping, m);
  tj_text_string(text, is_whole ? ", overlap=1" : ", overlap=(");
  for (uint32_t m = 0; m < tj_mapping_rank(mapping) && !is_whole; m++)
    tj_text_format(text, "%s%" PRId64, m > 0 ? "," : "", mapping->overlap[m]);
  tj_text_string(text, is_whole ? "" : ")");
}

void tj_mapping_print(tj_text *text, const tj_mapping *mapping) {
  tj_text_string(text, "mapping(");
  if (mapping->domain != NULL) {
    tj_text_string(text, "domain=");
    tj_layout_print(text, *mapping->domain);
    tj_text_string(text, ", ");
  }
  tj_text_string(text, "tile=");
  tj_tuple_print(text, mapping->tile);
  if (!mapping->is_open) {
    print_layout(text, "load", &mapping->load.layout);
    print_layout(text, "store", &mapping->store.layout);
  }
  print_value(text, "load_as", mapping->load.as);
  print_value(text, "store_as", mapping->store.as);
  print_value(text, "lds", mapping->lds);
  if (mapping->passes > 1)
    tj_text_format(text, ", passes=%" PRIu32, mapping->passes);
  if (mapping->ahead > 0)
    tj_text_format(text, ", buffers=%" PRIu32, mapping->ahead + 1);
  if (mapping->overlap != NULL)
    print_overlap(text, mapping);
  if (mapping->is_launched)
    tj_text_string(text, ", overlap=1");
  if (mapping->order != NULL)
    print_layout(text, "order", mapping->order);
  if (mapping->streams)
    tj_text_string(text, ", stream=1");
  if (mapping->is_direct)
    tj_text_string(text, ", direct=1");
  if (mapping->by_dma)
    tj_text_string(text, ", dma=1");
  if (mapping->dma_stores)
    tj_text_string(text, ", dma_store=1");
  tj_text_char(text, ')');
}
