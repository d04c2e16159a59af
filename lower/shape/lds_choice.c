/* SPDX-License-Identifier: MIT */
/* From what work-items hold to rows and columns, to what a wave moves at a time, to a layout in LDS. */
#include "lower/shape/lds_choice.h"

#include "base/number/power.h"
#include "ir/value/mapping_held.h"
#include "lower/access/price.h"
#include "lower/lds/lds_pattern.h"
#include "lower/lds/lds_value.h"
#include "lower/shape/slot_order.h"

#include <string.h>

/* The row in the whole tile, and the column. */
typedef struct {
  uint32_t row, column;
} line_pair;

typedef struct {
  tj_graph *graph;
  tj_job *job;
  const tj_lds_problem *problem;
  uint32_t rank;
  uint32_t rows, columns;            /* of a pass */
  uint32_t waves, parts;             /* whose accesses are listed: of the vectors of a side, one of so many parts */
  line_pair step[TJ_MAX_DIMENSIONS]; /* by mode, to its next element: along rows, or along columns */
} chooser;

static uint32_t mode_at(const chooser *c, uint32_t number) {
  return c->problem->order != NULL ? c->problem->order[number] : number;
}

static int64_t line_count(const chooser *c, bool columns) {
  int64_t count = 1;
  for (uint32_t m = 0; m < c->rank; m++)
    count *= (c->problem->columns >> m & 1) == columns ? tj_mapping_extent(c->problem->mapping, m) : 1;
  return count;
}

/* --- sides --- */

/* Rows and columns by work-item: of what they have in a slot, or in any, up to what the slot adds. */
typedef struct {
  uint32_t *row, *column;
  uint32_t first, last; /* rows of holders: the least and the greatest */
  uint32_t column_bits; /* that differ in how far the columns of holders are from that of the first */
} item_lines;

typedef struct {
  const item_lines *item;
  line_pair added;
} slot_lines;

/* How a side moves its elements to or from LDS: by its widest runs along a row, in any of its orders. */
typedef struct {
  tj_held held;
  bool is_store; /* into LDS */
  const slot_lines *slot;
  const uint32_t *const *orders;
  uint32_t order_count;
  const uint32_t *order; /* the one that is taken, */
  uint32_t width;        /* and how many neighbours move together */
} passage;

static void find_steps(chooser *c) {
  line_pair next = {1, 1};
  for (uint32_t i = 0; i < c->rank; i++) {
    uint32_t m = mode_at(c, i), extent = (uint32_t)tj_mapping_extent(c->problem->mapping, m);
    bool is_column = (c->problem->columns >> m & 1) != 0;
    c->step[m] = is_column ? (line_pair){0, next.column} : (line_pair){next.row, 0};
    *(is_column ? &next.column : &next.row) *= extent;
  }
}

static line_pair lines_at(const chooser *c, const int64_t place[]) {
  line_pair line = {0, 0};
  for (uint32_t m = 0; m < c->rank; m++) {
    line.row += (uint32_t)place[m] * c->step[m].row;
    line.column += (uint32_t)place[m] * c->step[m].column;
  }
  return line;
}

static line_pair lines_added(const chooser *c, const tj_held *held, uint32_t slot) {
  int64_t place[TJ_MAX_DIMENSIONS];
  for (uint32_t m = 0; m < c->rank; m++)
    place[m] = held->gives_index ? 0 : held->place[m].of_slot[slot];
  return lines_at(c, place);
}

/* What items have in a slot of a side that gives an index, which does not add up to lines. */
static void find_lines(const chooser *c, const tj_held *held, uint32_t slot, item_lines *lines) {
  int64_t place[TJ_MAX_DIMENSIONS];
  for (uint32_t i = 0; i < held->work_items; i++) {
    tj_held_at(held, i, slot, place);
    const line_pair at = lines_at(c, place);
    lines->row[i] = at.row;
    lines->column[i] = at.column;
  }
}

/* What items add to all slots along a mode. */
static void add_lines(const chooser *c, const tj_held *held, uint32_t mode, item_lines *lines) {
  const int64_t *place = held->place[mode].of_item;
  const line_pair step = c->step[mode];
  uint32_t *line = step.row != 0 ? lines->row : lines->column;
  for (uint32_t i = 0; i < held->work_items; i++)
    line[i] += (uint32_t)place[i] * (step.row + step.column);
}

static void find_reach(const tj_held *held, item_lines *lines) {
  for (uint32_t i = 0; i < held->work_items; i++) {
    if (!held->is_holder[i])
      continue;
    lines->column_bits |= lines->column[i] - lines->column[0];
    lines->first = lines->row[i] < lines->first ? lines->row[i] : lines->first;
    lines->last = lines->row[i] > lines->last ? lines->row[i] : lines->last;
  }
}

static const item_lines *lines_of_items(const chooser *c, const tj_held *held, uint32_t slot) {
  uint32_t count = held->work_items;
  item_lines *lines = TJ_NEW(c->job, item_lines);
  *lines =
      (item_lines){TJ_NEW_ARRAY(c->job, uint32_t, count), TJ_NEW_ARRAY(c->job, uint32_t, count), UINT32_MAX, 0, 0};
  if (held->gives_index)
    find_lines(c, held, slot, lines);
  for (uint32_t m = 0; m < c->rank && !held->gives_index; m++)
    add_lines(c, held, m, lines);
  find_reach(held, lines);
  return lines;
}

static passage passage_of(const chooser *c, const tj_held *held, bool is_store) {
  const tj_mapping *mapping = c->problem->mapping;
  slot_lines *slot = TJ_RAW_ARRAY(c->job, slot_lines, held->slots);
  passage way = {.held = *held, .is_store = is_store, .slot = slot};
  way.orders = tj_slot_orders(c->graph, is_store ? &mapping->load : &mapping->store, &way.order_count);
  if (held->gives_index)
    tj_spend(c->job, (uint64_t)held->slots * held->work_items);
  for (uint32_t i = 0; i < held->slots; i++)
    slot[i] = (slot_lines){i == 0 || held->gives_index ? lines_of_items(c, held, i) : slot[0].item,
                           lines_added(c, held, i)};
  return way;
}

/* --- runs --- */

/* Whether a slot's elements are those `distance` further along their rows than another's, whoever holds them. */
static bool follows(const passage *way, uint32_t first, uint32_t slot, uint32_t distance) {
  const slot_lines *a = &way->slot[first], *b = &way->slot[slot];
  uint32_t count = a->item == b->item ? 1 : way->held.work_items;
  bool is_next = tj_held_together(&way->held, first, slot);
  for (uint32_t i = 0; i < count && is_next; i++)
    is_next = a->item->row[i] + a->added.row == b->item->row[i] + b->added.row &&
              a->item->column[i] + a->added.column + distance == b->item->column[i] + b->added.column;
  return is_next;
}

static bool begins_at_multiples(const slot_lines *slot, uint32_t width) {
  return (slot->item->column_bits | (slot->item->column[0] + slot->added.column)) % width == 0;
}

static bool runs_along_rows(const passage *way, const uint32_t order[], uint32_t width) {
  for (uint32_t i = 0; i < way->held.slots; i++) {
    uint32_t first = order[i - i % width];
    if (i % width == 0 ? !begins_at_multiples(&way->slot[first], width) : !follows(way, first, order[i], i % width))
      return false;
  }
  return true;
}

static void find_runs(const chooser *c, passage *way) {
  uint32_t slots = way->held.slots, share = way->is_store ? slots : slots / c->problem->passes;
  way->order = way->orders[0];
  way->width = 1;
  for (uint32_t width = tj_target_widest(c->problem->target, c->problem->element_bytes); width > 1; width /= 2) {
    for (uint32_t i = 0; i < way->order_count && share % width == 0; i++) {
      if (!runs_along_rows(way, way->orders[i], width))
        continue;
      way->order = way->orders[i];
      way->width = width;
      return;
    }
  }
}

/* --- passes --- */

/* The pass of a slot, which is a part of the last rows; `passes` where it is not the same for all work-items. */
static uint32_t pass_of(const chooser *c, const slot_lines *slot) {
  uint32_t first = (slot->item->first + slot->added.row) / c->rows,
           last = (slot->item->last + slot->added.row) / c->rows;
  return first == last ? first : c->problem->passes;
}

/* Puts the slots of the store side in the order of their passes; false where that does not share them out. */
static bool sort_by_pass(const chooser *c, passage *way) {
  uint32_t slots = way->held.slots, *pass = TJ_NEW_ARRAY(c->job, uint32_t, slots);
  const uint32_t **orders = TJ_NEW_ARRAY(c->job, const uint32_t *, way->order_count);
  if (c->problem->passes == 1)
    return true;
  for (uint32_t slot = 0; slot < slots; slot++)
    pass[slot] = pass_of(c, &way->slot[slot]);
  if (!tj_passes_are_equal(c->job, pass, slots, c->problem->passes))
    return false;
  for (uint32_t i = 0; i < way->order_count; i++)
    orders[i] = tj_slots_by_pass(c->job, way->orders[i], pass, slots, c->problem->passes);
  way->orders = orders;
  return true;
}

/* --- what waves do --- */

typedef struct {
  tj_stage_access *access;
  uint32_t count;
} access_list;

static uint32_t waves_of(const chooser *c) {
  uint32_t wave = c->problem->target->wave_size;
  return (c->problem->work_items + wave - 1) / wave;
}

/* How often a side moves its slots. */
static uint32_t rounds_of(const chooser *c, const passage *way) {
  return way->is_store ? c->problem->passes : 1;
}

/* A side's vectors that are listed. */
static uint32_t vectors_of(const chooser *c, const passage *way) {
  return (way->held.slots / way->width + c->parts - 1) / c->parts;
}

static size_t most_accesses(const chooser *c, const passage *way) {
  return (size_t)vectors_of(c, way) * rounds_of(c, way) * c->waves;
}

/* Lanes of a wave that have an element in a slot. */
static uint64_t lanes_with(const chooser *c, const passage *way, uint32_t slot, uint32_t wave) {
  uint32_t lanes = c->problem->target->wave_size, first = wave * lanes, left = way->held.work_items - first;
  uint64_t active = 0;
  for (uint32_t lane = 0; lane < lanes && lane < left; lane++)
    active |= (uint64_t)tj_held_has(&way->held, first + lane, slot) << lane;
  return active;
}

/* By round, those of an access's lanes whose element goes in it. */
static void share_lanes(const chooser *c, const tj_stage_access *access, uint32_t rounds, uint64_t lanes[]) {
  for (uint32_t round = 0; round < rounds; round++)
    lanes[round] = 0;
  for (uint64_t left = access->active; left != 0; left &= left - 1) {
    const uint32_t lane = (uint32_t)__builtin_ctzll(left), round = tj_stage_row(access, lane) / c->rows;
    if (round < rounds)
      lanes[round] |= (uint64_t)1 << lane;
  }
}

/* The first of the vectors up to one whose elements the same work-items have. */
static uint32_t first_together(const passage *way, uint32_t vector) {
  uint32_t i = 0;
  while (!tj_held_together(&way->held, way->order[i * way->width], way->order[vector * way->width]))
    i++;
  return i;
}

/* What waves move in all rounds, by vector, then by wave. The store side is not moved in rounds: its rows are those
 * of the slot's pass. */
static const tj_stage_access *list_vectors(const chooser *c, const passage *way) {
  uint32_t vectors = vectors_of(c, way), waves = c->waves, lanes = c->problem->target->wave_size;
  tj_stage_access *vector = tj_arena_raw(&c->job->arena, (size_t)vectors * waves, sizeof *vector);
  tj_spend(c->job, (uint64_t)vectors * waves);
  for (uint32_t i = 0; i < vectors; i++) {
    uint32_t number = way->order[i * way->width];
    const slot_lines *slot = &way->slot[number];
    uint32_t at_row = slot->added.row - (way->is_store ? 0 : pass_of(c, slot) * c->rows);
    const uint32_t known = first_together(way, i);
    for (uint32_t wave = 0; wave < waves; wave++) {
      const uint64_t active = known < i ? vector[known * waves + wave].active : lanes_with(c, way, number, wave);
      vector[i * waves + wave] = (tj_stage_access){.is_store = way->is_store,
                                                   .direction = TJ_STAGE_ROW,
                                                   .elements = way->width,
                                                   .active = active,
                                                   .row = slot->item->row + wave * lanes,
                                                   .column = slot->item->column + wave * lanes,
                                                   .at_row = at_row,
                                                   .at_column = slot->added.column};
    }
  }
  return vector;
}

/* The first of a wave's accesses up to one whose lanes go in the same rounds: it begins in the same row. */
static uint32_t first_in_rounds(const tj_stage_access access[], uint32_t number, uint32_t waves) {
  uint32_t i = number % waves;
  while (access[i].at_row != access[number].at_row || access[i].row != access[number].row ||
         access[i].active != access[number].active)
    i += waves;
  return i;
}

/* Leaves out what no lane moves. */
static void add_accesses(const chooser *c, const passage *way, access_list *list) {
  const uint32_t waves = c->waves, vectors = vectors_of(c, way) * waves, rounds = rounds_of(c, way);
  const tj_stage_access *vector = list_vectors(c, way);
  uint64_t *lanes = tj_arena_raw(&c->job->arena, (size_t)vectors * rounds, sizeof *lanes);
  for (uint32_t i = 0; i < vectors && rounds > 1; i++) {
    const uint32_t known = first_in_rounds(vector, i, waves);
    if (known < i)
      memcpy(&lanes[i * rounds], &lanes[known * rounds], rounds * sizeof *lanes);
    else
      share_lanes(c, &vector[i], rounds, &lanes[i * rounds]);
  }
  for (uint32_t round = 0; round < rounds; round++) {
    for (uint32_t i = 0; i < vectors; i++) {
      tj_stage_access access = vector[i];
      access.active = rounds > 1 ? lanes[i * rounds + round] : access.active;
      access.at_row -= round * c->rows;
      if (access.active != 0)
        list->access[list->count++] = access;
    }
  }
}

/* --- layouts --- */

/* On machines without banks, rows one after the other. */
static bool plain_stage(tj_job *job, const tj_stage_tile *tile, tj_stage_choice *choice) {
  tj_stage_patterns patterns = tj_stage_patterns_of(job, tile);
  uint32_t vector = tj_stage_widest(&patterns, TJ_STAGE_ROW), pitch = (uint32_t)tj_rounded_up(tile->columns, vector);
  uint64_t bytes = (uint64_t)tile->rows * pitch * tile->element_bytes;
  *choice = (tj_stage_choice){.layout = {.direction = TJ_STAGE_ROW,
                                         .group = 1,
                                         .pitch = pitch,
                                         .group_pitch = pitch,
                                         .vector = vector,
                                         .bytes = (uint32_t)bytes}};
  return bytes <= tile->limit;
}

/* By how many rows a row is divided for nothing, or a column by how many: those of the first modes. */
static uint32_t list_groups(const chooser *c, bool columns, uint32_t group[]) {
  int64_t lines = 1;
  uint32_t count = 0;
  for (uint32_t i = 0; i < c->rank; i++) {
    uint32_t m = mode_at(c, i);
    int64_t extent = tj_mapping_extent(c->problem->mapping, m);
    if ((c->problem->columns >> m & 1) != columns || extent == 1)
      continue;
    lines *= extent;
    group[count++] = (uint32_t)lines;
  }
  return count;
}

static bool search(const chooser *c, const access_list *list, uint32_t narrowest, tj_stage_choice *choice) {
  const tj_target *target = c->problem->target;
  uint32_t group[TJ_MAX_DIMENSIONS], run[TJ_MAX_DIMENSIONS];
  uint32_t parts = tj_mapping_lds_parts(c->problem->mapping, c->problem->passes);
  const tj_price_machine machine = tj_price_machine_of(target);
  tj_stage_tile tile = {.element_bytes = c->problem->element_bytes,
                        .rows = c->rows,
                        .columns = c->columns,
                        .access = list->access,
                        .access_count = list->count,
                        .limit = target->lds_bytes / parts,
                        .shared = machine.shared_lds / parts,
                        .group = group,
                        .group_count = list_groups(c, false, group),
                        .run = run,
                        .run_count = list_groups(c, true, run),
                        .directions = c->problem->is_direct || c->problem->is_brought ? 1u << TJ_STAGE_ROW : 0,
                        .writer = c->problem->is_brought ? tj_dma_engine_of(target->processor) : NULL,
                        .is_packed = c->problem->is_packed,
                        .narrowest = narrowest,
                        .costs = machine.costs,
                        .is_calm = c->problem->is_calm,
                        .dearest = c->problem->dearest};
  return machine.bank != NULL ? tj_stage_search(c->job, machine.bank, &tile, choice)
                              : plain_stage(c->job, &tile, choice);
}

/* From the coordinate in a part of the tile to the element of LDS. */
static const tj_value *value_of_choice(const chooser *c, const tj_stage_layout *chosen) {
  const tj_mapping *mapping = c->problem->mapping;
  uint32_t parted = tj_mapping_pass_mode(mapping);
  int64_t extent[TJ_MAX_DIMENSIONS];
  bool is_column[TJ_MAX_DIMENSIONS];
  for (uint32_t m = 0; m < c->rank; m++) {
    is_column[m] = (c->problem->columns >> m & 1) != 0;
    extent[m] = tj_mapping_extent(mapping, m) / (m == parted ? c->problem->passes : 1);
  }
  return tj_stage_value(c->graph, chosen, extent, is_column, c->problem->order, c->rank);
}

static tj_lds_choice complete(const chooser *c, tj_stage_choice *choice) {
  tj_mapping *mapping = TJ_NEW(c->job, tj_mapping);
  *mapping = *c->problem->mapping;
  mapping->passes = c->problem->passes;
  mapping->ahead = mapping->passes > 1 ? mapping->ahead : 0;
  mapping->lds = value_of_choice(c, &choice->layout);
  choice->layout.bytes =
      (uint32_t)tj_mapping_lds_size(c->graph, mapping, mapping->passes) * c->problem->element_bytes;
  return (tj_lds_choice){mapping, choice};
}

/* --- the choice --- */

static tj_held held_by(tj_graph *graph, const tj_lds_problem *problem, bool is_load, bool leaves_out) {
  const tj_mapping *mapping = problem->mapping;
  return tj_mapping_held(graph, mapping, is_load ? &mapping->load : &mapping->store, problem->work_items, leaves_out);
}

/* Whether the tile could fit there at all. */
static bool is_small(const chooser *c) {
  return line_count(c, true) <= TJ_STAGE_MOST_EXTENT && line_count(c, false) <= TJ_STAGE_MOST_EXTENT &&
         line_count(c, true) * line_count(c, false) / c->problem->passes * c->problem->element_bytes <=
             c->problem->target->lds_bytes;
}

/* The load side, where elements change hands, has each element once. */
static tj_held loaded_once(const chooser *c, const tj_held *load) {
  return load->reaches_beyond ? held_by(c->graph, c->problem, true, true) : *load;
}

/* The layout for what the chooser lists of both sides. Where there is none, the memory is as it was. */
static bool choose_for(const chooser *c, const passage *in, const passage *out, tj_stage_choice *choice) {
  const tj_arena_mark before = tj_arena_here(&c->job->arena);
  const size_t most = most_accesses(c, in) + most_accesses(c, out);
  access_list list = {tj_arena_raw(&c->job->arena, most, sizeof(tj_stage_access)), 0};
  if (!c->problem->is_packed && !c->problem->is_brought)
    add_accesses(c, in, &list);
  add_accesses(c, out, &list);
  const bool is_found = search(c, &list, c->problem->is_direct && !c->problem->is_packed ? in->width : 0, choice);
  if (!is_found)
    tj_arena_reset(&c->job->arena, before);
  return is_found;
}

/* Whether a layout serves the first few accesses of the first wave without conflicts, as many of either side as it
 * has of all: most mappings that have no such layout have none for these. */
static bool has_calm_sample(const chooser *c, const passage *in, const passage *out) {
  enum { FEW = 2 };
  const tj_arena_mark before = tj_arena_here(&c->job->arena);
  const uint32_t loaded = vectors_of(c, in), stored = vectors_of(c, out), fewer = loaded < stored ? loaded : stored;
  chooser sample = *c;
  sample.waves = 1;
  sample.parts = (fewer + FEW - 1) / FEW;
  tj_stage_choice choice;
  const bool is_found = choose_for(&sample, in, out, &choice);
  tj_arena_reset(&c->job->arena, before);
  return is_found;
}

static bool choose(const chooser *c, const tj_held *load, const tj_held *store, tj_lds_choice *chosen) {
  tj_stage_choice *choice = TJ_NEW(c->job, tj_stage_choice);
  tj_held once = loaded_once(c, load);
  passage in = passage_of(c, &once, true), out = passage_of(c, store, false);
  if (!sort_by_pass(c, &out))
    return false;
  find_runs(c, &in);
  find_runs(c, &out);
  if ((c->problem->is_calm && !has_calm_sample(c, &in, &out)) || !choose_for(c, &in, &out, choice))
    return false;
  *chosen = complete(c, choice);
  return true;
}

bool tj_choose_lds(tj_graph *graph, const tj_lds_problem *problem, tj_lds_choice *chosen) {
  chooser c = {.graph = graph, .job = graph->job, .problem = problem, .rank = tj_mapping_rank(problem->mapping)};
  tj_held load = held_by(graph, problem, true, false), store = held_by(graph, problem, false, false);
  *chosen = (tj_lds_choice){problem->mapping, NULL};
  if (problem->may_stay && tj_held_alike(c.job, &load, &store))
    return true;
  if (!is_small(&c))
    return false;
  c.rows = (uint32_t)line_count(&c, false) / problem->passes;
  c.columns = (uint32_t)line_count(&c, true);
  c.waves = waves_of(&c);
  c.parts = 1;
  find_steps(&c);
  return choose(&c, &load, &store, chosen);
}
