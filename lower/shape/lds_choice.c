/* SPDX-License-Identifier: MIT */
/* From what work-items hold to rows and columns, to what a wave moves at a time, to a layout in LDS. */
#include "lower/shape/lds_choice.h"

#include "base/number/power.h"
#include "ir/value/mapping_held.h"
#include "lower/access/price.h"
#include "lower/lds/lds_pattern.h"
#include "lower/lds/lds_value.h"
#include "lower/shape/slot_order.h"

typedef struct {
  tj_graph *graph;
  tj_job *job;
  const tj_lds_problem *problem;
  uint32_t rank;
  uint32_t rows, columns; /* of a pass */
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

/* The row in the whole tile, and the column, of an element, or what an item or a slot adds to them. */
typedef struct {
  uint32_t row, column;
} line_pair;

/* How a side moves its elements to or from LDS: by its widest runs along a row, in any of its orders. */
typedef struct {
  tj_held held;
  bool is_store;                      /* into LDS */
  const line_pair *of_item, *of_slot; /* NULL of sides that give an index, which do not add up to lines */
  uint32_t first, last;               /* of_item's rows: the least and the greatest */
  uint32_t column;                    /* of the first item, */
  uint32_t column_bits;               /* and those that differ in how far the others are from it */
  const uint32_t *const *orders;
  uint32_t order_count;
  const uint32_t *order; /* the one that is taken, */
  uint32_t width;        /* and how many neighbours move together */
} passage;

static line_pair lines_at(const chooser *c, const int64_t place[]) {
  int64_t line[2] = {0, 0}, scale[2] = {1, 1};
  for (uint32_t i = 0; i < c->rank; i++) {
    uint32_t m = mode_at(c, i);
    unsigned kind = c->problem->columns >> m & 1;
    line[kind] += place[m] * scale[kind];
    scale[kind] *= tj_mapping_extent(c->problem->mapping, m);
  }
  return (line_pair){(uint32_t)line[0], (uint32_t)line[1]};
}

static const line_pair *parts_of(const chooser *c, const tj_held *held, bool of_items, uint32_t count) {
  line_pair *part = TJ_NEW_ARRAY(c->job, line_pair, count);
  int64_t place[TJ_MAX_DIMENSIONS];
  for (uint32_t i = 0; i < count; i++) {
    for (uint32_t m = 0; m < c->rank; m++)
      place[m] = of_items ? held->place[m].of_item[i] : held->place[m].of_slot[i];
    part[i] = lines_at(c, place);
  }
  return part;
}

static line_pair lines_of(const chooser *c, const passage *way, uint32_t item, uint32_t slot) {
  int64_t place[TJ_MAX_DIMENSIONS];
  if (way->of_item != NULL)
    return (line_pair){way->of_item[item].row + way->of_slot[slot].row,
                       way->of_item[item].column + way->of_slot[slot].column};
  tj_held_at(&way->held, item, slot, place);
  return lines_at(c, place);
}

static void add_lines(const chooser *c, passage *way) {
  way->of_item = parts_of(c, &way->held, true, way->held.work_items);
  way->of_slot = parts_of(c, &way->held, false, way->held.slots);
  way->column = way->of_item[0].column;
  way->first = UINT32_MAX;
  for (uint32_t i = 0; i < way->held.work_items; i++) {
    if (!way->held.is_holder[i])
      continue;
    way->column_bits |= way->of_item[i].column - way->column;
    way->first = way->of_item[i].row < way->first ? way->of_item[i].row : way->first;
    way->last = way->of_item[i].row > way->last ? way->of_item[i].row : way->last;
  }
}

static passage passage_of(const chooser *c, const tj_held *held, bool is_store) {
  const tj_mapping *mapping = c->problem->mapping;
  passage way = {.held = *held, .is_store = is_store};
  way.orders = tj_slot_orders(c->graph, is_store ? &mapping->load : &mapping->store, &way.order_count);
  if (!held->gives_index)
    add_lines(c, &way);
  return way;
}

/* --- runs --- */

/* Whether a slot's elements are those `distance` further along their rows than another's, whoever holds them. */
static bool follows(const chooser *c, const passage *way, uint32_t first, uint32_t slot, uint32_t distance) {
  bool is_next = way->of_item == NULL || (way->of_slot[first].row == way->of_slot[slot].row &&
                                          way->of_slot[first].column + distance == way->of_slot[slot].column);
  for (uint32_t i = 0; i < way->held.work_items && way->of_item == NULL && is_next; i++) {
    line_pair a = lines_of(c, way, i, first), b = lines_of(c, way, i, slot);
    is_next = a.row == b.row && a.column + distance == b.column;
  }
  return is_next && tj_held_together(&way->held, first, slot);
}

static bool begins_at_multiples(const chooser *c, const passage *way, uint32_t slot, uint32_t width) {
  uint32_t bits = way->of_item != NULL ? way->column_bits | (way->column + way->of_slot[slot].column) : 0;
  for (uint32_t i = 0; i < way->held.work_items && way->of_item == NULL; i++)
    bits |= lines_of(c, way, i, slot).column;
  return bits % width == 0;
}

static bool runs_along_rows(const chooser *c, const passage *way, const uint32_t order[], uint32_t width) {
  for (uint32_t i = 0; i < way->held.slots; i++) {
    uint32_t first = order[i - i % width];
    if (i % width == 0 ? !begins_at_multiples(c, way, first, width) : !follows(c, way, first, order[i], i % width))
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
      if (!runs_along_rows(c, way, way->orders[i], width))
        continue;
      way->order = way->orders[i];
      way->width = width;
      return;
    }
  }
}

/* --- passes --- */

/* The pass of a slot, which is a part of the last rows; `passes` where it is not the same for all work-items. */
static uint32_t pass_of(const chooser *c, const passage *way, uint32_t slot) {
  uint32_t first = way->of_item != NULL ? way->first + way->of_slot[slot].row : UINT32_MAX,
           last = way->of_item != NULL ? way->last + way->of_slot[slot].row : 0;
  for (uint32_t i = 0; i < way->held.work_items && way->of_item == NULL; i++) {
    uint32_t row = lines_of(c, way, i, slot).row;
    first = row < first && way->held.is_holder[i] ? row : first;
    last = row > last && way->held.is_holder[i] ? row : last;
  }
  return first / c->rows == last / c->rows ? first / c->rows : c->problem->passes;
}

/* Puts the slots of the store side in the order of their passes; false where that does not share them out. */
static bool sort_by_pass(const chooser *c, passage *way) {
  uint32_t slots = way->held.slots, *pass = TJ_NEW_ARRAY(c->job, uint32_t, slots);
  const uint32_t **orders = TJ_NEW_ARRAY(c->job, const uint32_t *, way->order_count);
  if (c->problem->passes == 1)
    return true;
  for (uint32_t slot = 0; slot < slots; slot++)
    pass[slot] = pass_of(c, way, slot);
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

/* Where a wave's lanes have an element of a slot: in `row` and `column`, as seen from (at_row, at_column). */
typedef struct {
  const uint32_t *row, *column;
  uint32_t at_row, at_column;
  uint64_t active; /* lanes that have one */
} lane_places;

/* Rows and columns of items, or of what they hold in a slot, by work-item. */
typedef struct {
  uint32_t *row, *column;
} item_lines;

static uint32_t waves_of(const chooser *c) {
  uint32_t wave = c->problem->target->wave_size;
  return (c->problem->work_items + wave - 1) / wave;
}

/* How often a side moves its slots. */
static uint32_t rounds_of(const chooser *c, const passage *way) {
  return way->is_store ? c->problem->passes : 1;
}

static size_t most_accesses(const chooser *c, const passage *way) {
  return (size_t)way->held.slots / way->width * rounds_of(c, way) * waves_of(c);
}

static item_lines new_lines(const chooser *c, const passage *way) {
  uint32_t items = way->held.work_items;
  return (item_lines){TJ_NEW_ARRAY(c->job, uint32_t, items), TJ_NEW_ARRAY(c->job, uint32_t, items)};
}

/* What all slots of a side share, where elements' lines are sums. */
static item_lines lines_of_items(const chooser *c, const passage *way) {
  item_lines lines = new_lines(c, way);
  for (uint32_t i = 0; i < way->held.work_items; i++) {
    lines.row[i] = way->of_item[i].row;
    lines.column[i] = way->of_item[i].column;
  }
  return lines;
}

static item_lines lines_of_slot(const chooser *c, const passage *way, uint32_t slot) {
  item_lines lines = new_lines(c, way);
  tj_spend(c->job, way->held.work_items);
  for (uint32_t i = 0; i < way->held.work_items; i++) {
    line_pair pair = lines_of(c, way, i, slot);
    lines.row[i] = pair.row;
    lines.column[i] = pair.column;
  }
  return lines;
}

/* Lanes of a wave that have an element in a slot. */
static uint64_t lanes_with(const chooser *c, const passage *way, uint32_t slot, uint32_t wave) {
  uint32_t lanes = c->problem->target->wave_size, first = wave * lanes, left = way->held.work_items - first;
  uint64_t active = 0;
  for (uint32_t lane = 0; lane < lanes && lane < left; lane++)
    active |= (uint64_t)tj_held_has(&way->held, first + lane, slot) << lane;
  return active;
}

/* Those of them whose element goes in a round. */
static uint64_t lanes_in_round(const chooser *c, const lane_places *places, uint32_t round) {
  uint64_t active = 0;
  for (uint64_t left = places->active; left != 0; left &= left - 1) {
    uint32_t lane = (uint32_t)__builtin_ctzll(left);
    active |= (uint64_t)((places->row[lane] + places->at_row) / c->rows == round) << lane;
  }
  return active;
}

/* What a wave moves in a round; nothing where no lane does. */
static void add_access(const chooser *c, const passage *way, const lane_places *places, uint32_t round,
                       access_list *list) {
  bool is_parted = way->is_store && c->problem->passes > 1;
  tj_stage_access access = {.is_store = way->is_store,
                            .direction = TJ_STAGE_ROW,
                            .elements = way->width,
                            .active = is_parted ? lanes_in_round(c, places, round) : places->active,
                            .row = places->row,
                            .column = places->column,
                            .at_row = places->at_row - round * c->rows,
                            .at_column = places->at_column};
  if (access.active != 0)
    list->access[list->count++] = access;
}

/* What is added to the rows and columns of a slot's lanes: of a side that is not moved in rounds, into the rows of
 * the slot's pass. */
static line_pair begin_of(const chooser *c, const passage *way, uint32_t slot) {
  line_pair at = way->of_item != NULL ? way->of_slot[slot] : (line_pair){0, 0};
  if (!way->is_store && c->problem->passes > 1)
    at.row -= pass_of(c, way, slot) * c->rows;
  return at;
}

/* By vector, then by wave. */
static const lane_places *list_places(const chooser *c, const passage *way) {
  uint32_t vectors = way->held.slots / way->width, waves = waves_of(c), lanes = c->problem->target->wave_size;
  lane_places *places = TJ_NEW_ARRAY(c->job, lane_places, (size_t)vectors * waves);
  item_lines shared = way->of_item != NULL ? lines_of_items(c, way) : (item_lines){NULL, NULL};
  tj_spend(c->job, (uint64_t)vectors * waves);
  for (uint32_t i = 0; i < vectors; i++) {
    uint32_t slot = way->order[i * way->width];
    line_pair at = begin_of(c, way, slot);
    item_lines lines = way->of_item != NULL ? shared : lines_of_slot(c, way, slot);
    bool is_as_first = i > 0 && tj_held_together(&way->held, way->order[0], slot);
    for (uint32_t wave = 0; wave < waves; wave++)
      places[i * waves + wave] =
          (lane_places){.row = lines.row + wave * lanes,
                        .column = lines.column + wave * lanes,
                        .at_row = at.row,
                        .at_column = at.column,
                        .active = is_as_first ? places[wave].active : lanes_with(c, way, slot, wave)};
  }
  return places;
}

static void add_accesses(const chooser *c, const passage *way, access_list *list) {
  uint32_t vectors = way->held.slots / way->width;
  const lane_places *places = list_places(c, way);
  for (uint32_t round = 0; round < rounds_of(c, way); round++) {
    for (uint32_t i = 0; i < vectors * waves_of(c); i++)
      add_access(c, way, &places[i], round, list);
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
  tj_stage_tile tile = {.element_bytes = c->problem->element_bytes,
                        .rows = c->rows,
                        .columns = c->columns,
                        .access = list->access,
                        .access_count = list->count,
                        .limit = target->lds_bytes / parts,
                        .shared = tj_price_machine_of(target).shared_lds / parts,
                        .group = group,
                        .group_count = list_groups(c, false, group),
                        .run = run,
                        .run_count = list_groups(c, true, run),
                        .directions = c->problem->is_direct || c->problem->is_brought ? 1u << TJ_STAGE_ROW : 0,
                        .writer = c->problem->is_brought ? tj_dma_engine_of(target->processor) : NULL,
                        .is_packed = c->problem->is_packed,
                        .narrowest = narrowest,
                        .dearest = c->problem->dearest};
  const tj_bank_model *model = tj_bank_model_of(target->processor);
  return model != NULL ? tj_stage_search(c->job, model, &tile, choice) : plain_stage(c->job, &tile, choice);
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

static bool choose(const chooser *c, const tj_held *load, const tj_held *store, tj_lds_choice *chosen) {
  tj_stage_choice *choice = TJ_NEW(c->job, tj_stage_choice);
  tj_held once = loaded_once(c, load);
  passage in = passage_of(c, &once, true), out = passage_of(c, store, false);
  if (!sort_by_pass(c, &out))
    return false;
  find_runs(c, &in);
  find_runs(c, &out);
  access_list list = {TJ_NEW_ARRAY(c->job, tj_stage_access, most_accesses(c, &in) + most_accesses(c, &out)), 0};
  if (!c->problem->is_packed && !c->problem->is_brought)
    add_accesses(c, &in, &list);
  add_accesses(c, &out, &list);
  if (!search(c, &list, c->problem->is_direct && !c->problem->is_packed ? in.width : 0, choice))
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
  return choose(&c, &load, &store, chosen);
}
