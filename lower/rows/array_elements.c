/* SPDX-License-Identifier: MIT */
/* Columns of a lane in its row, and where their elements are in memory or in LDS. */
#include "lower/rows/array_elements.h"

#include "ir/index/facts.h"
#include "ir/index/substitute.h"
#include "ir/index/walk.h"
#include "ir/layout/arith.h"
#include "ir/simplify/simplify.h"
#include "lower/array/array_cuts.h"
#include "lower/array/array_staged.h"

/* --- columns --- */

/* How far one of a lane's columns is from its first. */
static const tj_node *distance_of(const tj_array_maker *maker, uint32_t number) {
  tj_graph *graph = maker->graph;
  const tj_array_shape *shape = &maker->shape;
  uint32_t repeat = number / shape->width, place = number % shape->width;
  if (shape->apart == NULL)
    return tj_int(graph, (int64_t)repeat * shape->lanes * shape->width + place);
  return tj_terse_add(graph, tj_terse_mul(graph, shape->apart, tj_int(graph, repeat)), tj_int(graph, place));
}

const tj_node *tj_array_column_of(const tj_array_maker *maker, const tj_array_region *region, uint32_t number) {
  tj_graph *graph = maker->graph;
  const tj_array_shape *shape = &maker->shape;
  const tj_node *own = tj_terse_mul(graph, maker->lane, tj_int(graph, shape->width));
  const tj_node *column = tj_terse_add(graph, region->start, tj_terse_add(graph, own, distance_of(maker, number)));
  return region->has_ends
             ? tj_select(graph, tj_less(graph, column, maker->head), column, tj_terse_add(graph, column, maker->gap))
             : column;
}

const tj_node *tj_array_placed(const tj_array_maker *maker, const tj_node *node, const tj_node *row,
                               const tj_node *column) {
  const tj_node *from[] = {maker->space->row, maker->space->column}, *to[] = {row, column};
  tj_substitute(maker->graph, &(tj_substitution){from, to, 2}, &node, 1);
  return node;
}

uint32_t tj_array_even_width(const tj_array_maker *maker, const tj_array_region *region) {
  uint32_t width = maker->shape.width;
  while (region->end != NULL && !region->has_vectors && width > 1 &&
         !(tj_facts_divisible(&region->end->facts, width) && tj_facts_divisible(&region->start->facts, width)))
    width /= 2;
  return width;
}

const tj_node *tj_array_column_is_there(const tj_array_maker *maker, const tj_array_region *region, uint32_t number) {
  if (region->end == NULL)
    return tj_int(maker->graph, 1);
  number -= number % tj_array_even_width(maker, region);
  number = maker->shape.apart != NULL ? number % maker->shape.width : number;
  return tj_simplified(maker->graph, tj_less(maker->graph, tj_array_column_of(maker, region, number), region->end));
}

/* Whether a column is in the row where the one before it is. */
static bool share_mask(const tj_array_maker *maker, const tj_array_region *region, uint32_t number) {
  return region->end == NULL || number % tj_array_even_width(maker, region) != 0;
}

/* --- elements --- */

const tj_node *tj_array_valid_at(const tj_array_maker *maker, const tj_array_region *region, uint32_t number,
                                 const tj_node *valid, const tj_node *extra) {
  tj_graph *graph = maker->graph;
  const tj_node *there = tj_array_column_is_there(maker, region, number);
  return tj_terse_both(graph, tj_terse_both(graph, maker->row_is_there, there), tj_terse_both(graph, extra, valid));
}

static bool depends_on_workgroup(const tj_array_maker *maker, const tj_node *node) {
  tj_walk walk = tj_walk_briefly(maker->graph, &node, 1);
  for (uint32_t i = 0; i < walk.count; i++) {
    if (walk.node[i] == maker->base_row || walk.node[i] == maker->base_column)
      return true;
  }
  return false;
}

/* Takes out of large offsets what the workgroup's elements share, where it comes out. */
static void share_base(const tj_array_maker *maker, tj_array_elements *list, const tj_node *first) {
  tj_graph *graph = maker->graph;
  if (tj_are_small(list->offset, list->count) || maker->target == NULL)
    return;
  const tj_node *base = tj_simplified(graph, first);
  tj_parted_sum *rest = tj_parts_minus(graph, list->offset, list->count, base);
  for (uint32_t i = 0; i < list->count; i++) {
    if ((i == 0 || rest[i].rest != rest[i - 1].rest) && depends_on_workgroup(maker, rest[i].rest))
      return;
  }
  if (!tj_are_small(rest, list->count))
    return;
  list->base = base;
  list->offset = rest;
}

/* An expression with what was found in the place of the argument's index; NULL: it has none. */
static const tj_node *with_index(const tj_array_maker *maker, const tj_array_lookup *lookup, const tj_node *found,
                                 const tj_node *node) {
  const tj_node *from[] = {lookup->found}, *to[] = {found};
  if (found != NULL)
    tj_substitute(maker->graph, &(tj_substitution){from, to, 1}, &node, 1);
  return node;
}

enum { ROW, COLUMN, INDEX, PARTS /* of the place of an element */ };

/* Column `number` of a lane's, simplified; its first is. */
static const tj_node *column_at(const tj_array_maker *maker, const tj_array_region *region, const tj_node *first,
                                uint32_t number) {
  const tj_node *distance = distance_of(maker, number);
  return tj_is_constant(distance) ? tj_simple_plus(maker->graph, first, distance->value)
                                  : tj_simplified(maker->graph, tj_array_column_of(maker, region, number));
}

/* What an argument has in LDS; NULL: nothing. */
static const tj_array_stage *stage_of(const tj_array_maker *maker, uint32_t argument) {
  bool is_staged = maker->stage != NULL && maker->stage[argument].step != NULL;
  return is_staged ? &maker->stage[argument] : NULL;
}

/* By column: the row, the column and, where the argument has them, its indices in the places of their symbols. */
static tj_slot_digits places_of(const tj_array_maker *maker, const tj_array_region *region, uint32_t count,
                                const tj_node *row, const tj_node *index, const tj_node *const found[]) {
  tj_graph *graph = maker->graph;
  const tj_node **symbol = TJ_NEW_ARRAY(graph->job, const tj_node *, PARTS),
                **place = TJ_NEW_ARRAY(graph->job, const tj_node *, PARTS *(size_t)count + 1);
  const tj_node *const **places = TJ_NEW_ARRAY(graph->job, const tj_node *const *, count + 1);
  const tj_node *first = tj_simplified(graph, tj_array_column_of(maker, region, 0));
  symbol[ROW] = maker->space->row;
  symbol[COLUMN] = maker->space->column;
  symbol[INDEX] = index;
  for (uint32_t i = 0; i < count; i++) {
    const tj_node **own = place + PARTS * (size_t)i;
    own[ROW] = row;
    own[COLUMN] = column_at(maker, region, first, i);
    own[INDEX] = found != NULL ? found[i] : NULL;
    places[i] = own;
  }
  return (tj_slot_digits){symbol, index != NULL && found != NULL ? PARTS : INDEX, places, count};
}

/* Whether a region's vectors of an argument begin as the row's do. */
static bool lies_alike(const tj_array_maker *maker, const tj_array_region *region, uint32_t argument) {
  return region->line != NULL && maker->space->beyond[argument] != NULL;
}

/* The element, of arguments that lie alike, that the first vector of a row begins with. */
static const tj_node *first_vector(const tj_array_maker *maker, const tj_node *row) {
  tj_graph *graph = maker->graph;
  const tj_node *line = tj_int(graph, maker->shape.begins);
  const tj_node *begin = tj_array_placed(maker, maker->space->begin, row, tj_int(graph, 0));
  return tj_simplified(graph, tj_mul(graph, tj_ceil_div(graph, begin, line), line));
}

/* The element that a region of such vectors begins with. */
static const tj_node *first_of_vectors(const tj_array_maker *maker, const tj_array_region *region, uint32_t argument,
                                       const tj_node *row) {
  tj_graph *graph = maker->graph;
  const tj_node *first = tj_terse_add(graph, first_vector(maker, row), region->line);
  return tj_terse_add(graph, first, maker->space->beyond[argument]);
}

/* By column, where its element is. */
static tj_parted_sum *offsets_of(const tj_array_maker *maker, const tj_array_region *region, uint32_t argument,
                                 const tj_slot_digits *at) {
  tj_graph *graph = maker->graph;
  if (!lies_alike(maker, region, argument))
    return tj_parts_at_slots(graph, at, maker->space->access[argument].offset);
  tj_array_region elements = *region;
  elements.start = tj_simplified(graph, first_of_vectors(maker, region, argument, maker->row));
  const tj_slot_digits of_vectors = places_of(maker, &elements, at->slots, maker->row, NULL, NULL);
  return tj_parts_at_slots(graph, &of_vectors, maker->space->column);
}

/* Where the element of the workgroup's first row is that a region begins with. */
static const tj_node *first_of_workgroup(const tj_array_maker *maker, const tj_array_region *region,
                                         uint32_t argument) {
  const tj_array_lookup *lookup = &maker->space->lookup[argument];
  const tj_node *none = lookup->found != NULL ? tj_int(maker->graph, 0) : NULL;
  if (lies_alike(maker, region, argument))
    return first_of_vectors(maker, region, argument, maker->base_row);
  const tj_node *offset = with_index(maker, lookup, none, maker->space->access[argument].offset);
  return tj_array_placed(maker, offset, maker->base_row, region->start);
}

/* Elements of rows that are counted from the workgroup's first one on, where these lie in LDS. */
static void put_into_lds(tj_graph *graph, tj_array_elements *list, const tj_array_stage *stage) {
  const tj_node *begin = tj_add(graph, stage->skew, tj_int(graph, stage->place));
  list->buffer = TJ_LDS;
  list->offset = tj_parts_minus(graph, list->offset, list->count, tj_sub(graph, tj_int(graph, 0), begin));
}

tj_array_elements tj_array_elements_of(const tj_array_maker *maker, const tj_array_region *region, uint32_t argument,
                                       uint32_t count, const tj_node *extra, const tj_node *const found[]) {
  tj_graph *graph = maker->graph;
  const tj_access *access = &maker->space->access[argument];
  const tj_array_lookup *lookup = &maker->space->lookup[argument];
  tj_array_elements list = {.buffer = access->buffer, .count = count};
  const tj_array_stage *stage = stage_of(maker, argument);
  const tj_node *row = stage != NULL ? maker->own_row : maker->row;
  const tj_slot_digits at = places_of(maker, region, count, row, lookup->found, found);
  const tj_node *valid = tj_array_between_cuts(maker->space, region->part, access->valid);
  const tj_node *const *are_valid = tj_at_slots(graph, &at, valid), *const *extras = tj_at_slots(graph, &at, extra);
  list.offset = offsets_of(maker, region, argument, &at);
  list.valid = TJ_NEW_ARRAY(graph->job, const tj_node *, count + 1);
  for (uint32_t i = 0; i < count; i++)
    list.valid[i] =
        i > 0 && share_mask(maker, region, i) && are_valid[i] == are_valid[i - 1] && extras[i] == extras[i - 1]
            ? list.valid[i - 1]
            : tj_array_valid_at(maker, region, i, are_valid[i], extras[i]);
  tj_simplify(graph, list.valid, count, NULL);
  if (stage != NULL) {
    put_into_lds(graph, &list, stage);
    return list;
  }
  share_base(maker, &list, first_of_workgroup(maker, region, argument));
  return list;
}
