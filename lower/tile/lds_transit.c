/* SPDX-License-Identifier: MIT */
/* From the digits of a tile's slots to rows and columns, to what a wave moves at a time, to a layout in LDS. */
#include "lower/tile/lds_transit.h"

#include "ir/index/eval.h"
#include "ir/index/facts.h"
#include "ir/simplify/simplify.h"
#include "ir/value/mapping.h"
#include "lower/kernel/price.h"
#include "lower/lds/lds_instructions.h"
#include "lower/lds/lds_value.h"

#include <string.h>

typedef struct {
  tj_graph *graph;
  const tj_tiling *tiling;
  const tj_target *target;
  uint32_t element_bytes;
  uint32_t widest;           /* elements of a vector */
  uint32_t passes, rows;     /* rows of each pass */
  const tj_mapping *mapping; /* with a layout in LDS, once there is one */
} stager;

/* Row or column of an element in the tile: the linear coordinate over some of the modes. */
static const tj_node *line_of(stager *st, const tj_node *const digit[], bool columns) {
  tj_graph *graph = st->graph;
  const tj_node *sum = tj_int(graph, 0);
  int64_t scale = 1;
  for (uint32_t m = 0; m < st->tiling->domain->count; m++) {
    if (((st->tiling->columns >> m) & 1) != columns)
      continue;
    sum = tj_add(graph, sum, tj_mul(graph, digit[m], tj_int(graph, scale)));
    scale *= st->tiling->extent[m];
  }
  return sum;
}

static uint32_t line_count(const stager *st, bool columns) {
  int64_t count = 1;
  for (uint32_t m = 0; m < st->tiling->domain->count; m++) {
    if (((st->tiling->columns >> m) & 1) == columns)
      count *= st->tiling->extent[m];
  }
  return (uint32_t)count;
}

/* --- the ways of the two sides --- */

/* Rows and columns of a side's elements, by slot; and the passes in which the rows are in LDS. */
typedef struct {
  const tj_node **row, **column, **pass;
} tile_lines;

/* How a side moves its elements to or from LDS: by its widest runs along a row, in any of its orders. */
typedef struct {
  const tj_side *side;
  bool is_store; /* into LDS */
  tile_lines lines;
  const uint32_t *order;
  uint32_t width;
} passage;

static tile_lines lines_of(stager *st, const tj_tile_side *tile) {
  tj_graph *graph = st->graph;
  uint32_t slots = tile->slot_count;
  const tj_node *const *const *place = tile->digit;
  uint32_t parted = tj_mapping_pass_mode(st->mapping);
  const tj_node *part = tj_int(graph, st->tiling->extent[parted] / st->passes);
  const tj_node **node = TJ_NEW_ARRAY(graph->job, const tj_node *, 3 * (size_t)slots),
                *rows = tj_int(graph, st->rows);
  for (uint32_t slot = 0; slot < slots; slot++) {
    const tj_node *row = line_of(st, place[slot], false);
    node[slot] = st->passes > 1 ? tj_mod(graph, row, rows) : row;
    node[slots + slot] = line_of(st, place[slot], true);
    node[2 * slots + slot] = st->passes > 1 ? tj_div(graph, place[slot][parted], part) : tj_int(graph, 0);
  }
  tj_simplify(graph, node, 3 * (size_t)slots, NULL);
  return (tile_lines){node, node + slots, node + 2 * slots};
}

static bool runs_along_rows(stager *st, const tile_lines *lines, const uint32_t order[], uint32_t slots,
                            uint32_t width) {
  for (uint32_t i = 0; i < slots; i++) {
    uint32_t first = order[i - i % width];
    const tj_node *expected = tj_add(st->graph, lines->column[first], tj_int(st->graph, i % width));
    if (lines->row[order[i]] != lines->row[first] || !tj_facts_divisible(&lines->column[first]->facts, width) ||
        !tj_prove_equal(st->graph, lines->column[order[i]], expected))
      return false;
  }
  return true;
}

static passage find_passage(stager *st, const tj_side *side, bool is_store) {
  const tj_tile_side *tile = side->tile;
  passage way = {side, is_store, lines_of(st, tile), side->order, 1};
  for (uint32_t width = st->widest; width > 1; width /= 2) {
    for (uint32_t i = 0; i < tile->order_count && tile->slot_count % width == 0; i++) {
      if (runs_along_rows(st, &way.lines, tile->order[i], tile->slot_count, width))
        return (passage){side, is_store, way.lines, tile->order[i], width};
    }
  }
  return way;
}

/* Whether a slot's element goes through LDS in a pass. */
static const tj_node *is_moved(stager *st, const passage *way, uint32_t slot, uint32_t pass) {
  tj_graph *graph = st->graph;
  const tj_node *is_in_pass = tj_equal(graph, way->lines.pass[slot], tj_int(graph, pass));
  return tj_simplified(graph, tj_and(graph, tj_side_active(graph, way->side, slot), is_in_pass));
}

/* Whether the slots of each share are those of one pass, in the orders in which they are moved. */
static bool is_shared_out(const stager *st, const passage *way) {
  uint32_t slots = way->side->tile->slot_count, share = slots / st->passes;
  for (uint32_t i = 0; i < slots; i++) {
    if (!tj_is_int(way->lines.pass[i], i / share) || way->order[i] / share != i / share ||
        way->side->order[i] / share != i / share)
      return false;
  }
  return slots % st->passes == 0 && share % way->width == 0 && share % way->side->width == 0;
}

static uint32_t vectors_of(const passage *way) {
  return way->side->tile->slot_count / way->width;
}

/* --- what waves do --- */

/* Accesses under construction, of all waves; the rows and columns of each, one after the other. */
typedef struct {
  tj_stage_access *access;
  uint32_t *lines;
  uint32_t count;
} access_list;

enum { LINES = 2 * TJ_BANK_LANES }; /* of an access */

enum { ACTIVE, ROW, COLUMN, ROOTS }; /* expressions of an access */

static uint32_t waves_of(const stager *st) {
  return (st->tiling->workgroup_size + st->target->wave_size - 1) / st->target->wave_size;
}

/* How often a side moves its slots. */
static uint32_t rounds_of(const stager *st, const passage *way) {
  return way->is_store ? st->passes : 1;
}

/* The first slots of a side's vectors, as accesses of each wave that still lack their lanes; and their expressions.
 */
static const tj_node **begin_accesses(stager *st, const passage *way, access_list *list) {
  uint32_t vectors = vectors_of(way), all = vectors * rounds_of(st, way), waves = waves_of(st);
  const tj_node **root = TJ_NEW_ARRAY(st->graph->job, const tj_node *, ROOTS *(size_t)all);
  for (uint32_t i = 0; i < all; i++) {
    uint32_t slot = way->order[i % vectors * way->width];
    root[ROOTS * i + ACTIVE] =
        way->is_store ? is_moved(st, way, slot, i / vectors) : tj_side_active(st->graph, way->side, slot);
    root[ROOTS * i + ROW] = way->lines.row[slot];
    root[ROOTS * i + COLUMN] = way->lines.column[slot];
  }
  for (uint32_t i = 0; i < all * waves; i++, list->count++) {
    const uint32_t *row = list->lines + LINES * (size_t)list->count, *column = row + TJ_BANK_LANES;
    list->access[list->count] = (tj_stage_access){way->is_store, TJ_STAGE_ROW, way->width, 0, row, column};
  }
  return root;
}

/* Enters a work-item's elements, of which values tell, into the accesses of its wave. */
static void enter_item(const stager *st, uint32_t item, const int64_t values[], uint32_t vectors, access_list *list,
                       uint32_t first) {
  uint32_t wave = item / st->target->wave_size, lane = item % st->target->wave_size;
  for (uint32_t i = 0; i < vectors; i++) {
    const int64_t *of_vector = values + ROOTS * (size_t)i;
    uint32_t at = first + i * waves_of(st) + wave;
    if (of_vector[ACTIVE] == 0)
      continue;
    list->access[at].active |= 1ull << lane;
    list->lines[LINES * (size_t)at + lane] = (uint32_t)of_vector[ROW];
    list->lines[LINES * (size_t)at + TJ_BANK_LANES + lane] = (uint32_t)of_vector[COLUMN];
  }
}

/* Room for an evaluation: the symbols' values, and the roots'. */
typedef struct {
  int64_t *symbol, *root;
} room;

static tj_eval_status enter_items(const stager *st, tj_evaluator *evaluator, room values, uint32_t vectors,
                                  access_list *list, uint32_t first) {
  tj_bindings bindings = {.value = values.symbol, .count = st->graph->symbol_count};
  tj_eval_status status = TJ_EVAL_OK;
  for (uint32_t item = 0; item < st->tiling->workgroup_size && status == TJ_EVAL_OK; item++) {
    values.symbol[st->tiling->item->symbol->index] = item;
    status = tj_evaluator_run(evaluator, &bindings, values.root);
    if (status == TJ_EVAL_OK)
      enter_item(st, item, values.root, vectors, list, first);
  }
  return status;
}

/* Leaves accesses out that no lane makes. From then on, others are not where their lines are. */
static void drop_empty(access_list *list) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < list->count; i++) {
    if (list->access[i].active != 0)
      list->access[count++] = list->access[i];
  }
  list->count = count;
}

/* Nothing fails while the evaluator lives. */
static void add_accesses(stager *st, const passage *way, access_list *list) {
  tj_job *job = st->graph->job;
  uint32_t vectors = vectors_of(way) * rounds_of(st, way), first = list->count;
  const tj_node **root = begin_accesses(st, way, list);
  room values = {TJ_NEW_ARRAY(job, int64_t, st->graph->symbol_count),
                 TJ_NEW_ARRAY(job, int64_t, ROOTS * (size_t)vectors)};
  tj_evaluator *evaluator;
  if (tj_evaluator_create(root, ROOTS * (size_t)vectors, &evaluator) != TJ_EVAL_OK)
    tj_fail_out_of_memory(job);
  uint64_t nodes = tj_evaluator_node_count(evaluator);
  tj_eval_status status = enter_items(st, evaluator, values, vectors, list, first);
  tj_evaluator_destroy(evaluator);
  tj_spend(job, st->tiling->workgroup_size * nodes);
  if (status != TJ_EVAL_OK)
    tj_fail_eval(job, status);
}

/* --- layouts --- */

/* On machines without banks, rows one after the other. */
static bool plain_stage(const tj_stage_tile *tile, tj_stage_choice *choice) {
  uint32_t vector = tj_stage_widest(tile, TJ_STAGE_ROW), pitch = (tile->columns + vector - 1) / vector * vector;
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
static uint32_t list_groups(const stager *st, bool columns, uint32_t group[]) {
  int64_t rows = 1;
  uint32_t count = 0;
  for (uint32_t m = 0; m < st->tiling->domain->count; m++) {
    if (((st->tiling->columns >> m) & 1) != columns || st->tiling->extent[m] == 1)
      continue;
    rows *= st->tiling->extent[m];
    group[count++] = (uint32_t)rows;
  }
  return count;
}

static bool choose_stage(stager *st, const passage *in, const passage *out, tj_stage_choice *choice) {
  tj_job *job = st->graph->job;
  size_t most = ((size_t)vectors_of(in) * st->passes + vectors_of(out)) * waves_of(st);
  access_list list = {TJ_NEW_ARRAY(job, tj_stage_access, most), TJ_NEW_ARRAY(job, uint32_t, LINES * most), 0};
  uint32_t *group = TJ_NEW_ARRAY(job, uint32_t, st->tiling->domain->count + 1);
  uint32_t *run = TJ_NEW_ARRAY(job, uint32_t, st->tiling->domain->count + 1);
  add_accesses(st, in, &list);
  add_accesses(st, out, &list);
  drop_empty(&list);
  tj_stage_tile tile = {.element_bytes = st->element_bytes,
                        .rows = st->rows,
                        .columns = line_count(st, true),
                        .access = list.access,
                        .access_count = list.count,
                        .limit = st->target->lds_bytes,
                        .shared = tj_price_machine_of(st->target).shared_lds,
                        .group = group,
                        .group_count = list_groups(st, false, group),
                        .run = run,
                        .run_count = list_groups(st, true, run)};
  const tj_bank_model *model = tj_bank_model_of(st->target->processor);
  return model != NULL ? tj_stage_search(job, model, &tile, choice) : plain_stage(&tile, choice);
}

/* --- the layout as a value --- */

/* From the coordinate in a part of the tile to the element of LDS. */
static const tj_value *value_of_choice(stager *st, const tj_stage_layout *chosen) {
  tj_job *job = st->graph->job;
  uint32_t rank = st->tiling->domain->count, parted = tj_mapping_pass_mode(st->mapping);
  int64_t *extent = TJ_NEW_ARRAY(job, int64_t, rank);
  bool *is_column = TJ_NEW_ARRAY(job, bool, rank);
  for (uint32_t m = 0; m < rank; m++) {
    is_column[m] = (st->tiling->columns >> m & 1) != 0;
    extent[m] = st->tiling->extent[m] / (m == parted ? st->passes : 1);
  }
  return tj_stage_value(st->graph, chosen, extent, is_column, rank);
}

/* The mapping with that layout; where all passes are there at once, in one. */
static void complete_mapping(stager *st, tj_stage_choice *choice) {
  tj_mapping *complete = TJ_NEW(st->graph->job, tj_mapping);
  *complete = *st->mapping;
  complete->passes = st->passes;
  complete->lds = value_of_choice(st, &choice->layout);
  choice->layout.bytes = (uint32_t)tj_mapping_lds_elements(st->graph, complete) * st->element_bytes;
  st->mapping = complete;
}

/* --- slots --- */

/* The same slots, as far as they are moved in one pass. */
static tj_side in_pass(stager *st, const passage *way, const tj_side *all, uint32_t pass) {
  tj_side s = *all;
  s.element = TJ_NEW_ARRAY(st->graph->job, tj_tile_element, s.tile->slot_count);
  for (uint32_t slot = 0; slot < s.tile->slot_count; slot++) {
    s.element[slot] = all->element[slot];
    s.element[slot].access.valid = is_moved(st, way, slot, pass);
  }
  return s;
}

/* The element of LDS of a coordinate in the tile: in its part, before the swizzle, and where the part begins. Parts
 * that are there at the same time lie one after the other. */
typedef struct {
  const tj_node *within, *part;
} lds_place;

static lds_place place_in_lds(stager *st, const tj_node *const digit[]) {
  tj_graph *graph = st->graph;
  const tj_mapping *mapping = st->mapping;
  uint32_t rank = tj_mapping_rank(mapping), last = tj_mapping_pass_mode(mapping);
  const tj_node **within = TJ_NEW_ARRAY(graph->job, const tj_node *, rank);
  const tj_node *part = tj_int(graph, tj_mapping_extent(mapping, last) / mapping->passes);
  memcpy(within, digit, rank * sizeof *within);
  within[last] = tj_mod(graph, digit[last], part);
  const tj_node *element = tj_mapping_lds_at(graph, mapping, within);
  if (st->passes == mapping->passes)
    return (lds_place){element, tj_int(graph, 0)};
  const tj_node *elements = tj_int(graph, tj_mapping_lds_elements(graph, mapping));
  return (lds_place){element, tj_mul(graph, tj_div(graph, digit[last], part), elements)};
}

static const tj_node *plain_offset(stager *st, lds_place place) {
  return tj_simplified(st->graph, tj_add(st->graph, place.within, place.part));
}

static const tj_node *swizzled_offset(stager *st, lds_place place) {
  const tj_node *within = tj_swizzle_apply(st->graph, tj_mapping_lds_swizzle(st->mapping), place.within);
  return tj_simplified(st->graph, tj_add(st->graph, within, place.part));
}

/* Moves the elements of vectors to where the swizzle has them: what it leaves together is found from the first. */
static void swizzle_vectors(stager *st, tj_side *s, const lds_place place[]) {
  tj_graph *graph = st->graph;
  for (uint32_t i = 0; i < s->tile->slot_count; i++) {
    uint32_t distance = i % s->width, slot = s->order[i], first = s->order[i - distance];
    const tj_node *offset = distance == 0 ? swizzled_offset(st, place[slot])
                                          : tj_add(graph, s->element[first].access.offset, tj_int(graph, distance));
    s->element[slot].access.offset = tj_simplified(graph, offset);
  }
}

/* A side's slots in LDS, in the widest vectors that the layout shows. */
static tj_side in_lds(stager *st, const passage *way) {
  tj_graph *graph = st->graph;
  tj_side s = {.tile = way->side->tile};
  tj_swizzle swizzle = tj_mapping_lds_swizzle(st->mapping);
  uint32_t widest = st->widest;
  while (swizzle.bits > 0 && widest >> swizzle.base > 1)
    widest /= 2;
  s.element = TJ_NEW_ARRAY(graph->job, tj_tile_element, s.tile->slot_count);
  lds_place *place = TJ_NEW_ARRAY(graph->job, lds_place, s.tile->slot_count);
  for (uint32_t slot = 0; slot < s.tile->slot_count; slot++) {
    place[slot] = place_in_lds(st, s.tile->digit[slot]);
    s.element[slot].access = (tj_access){
        .buffer = TJ_LDS, .offset = plain_offset(st, place[slot]), .valid = tj_side_active(graph, way->side, slot)};
  }
  tj_side_choose_vectors(graph, st->tiling->domain, &s, widest, TJ_ALIGNED);
  if (swizzle.bits > 0)
    swizzle_vectors(st, &s, place);
  return s;
}

/* What is known of a layout in LDS that nobody had to choose. */
static const tj_stage_choice *given_choice(stager *st) {
  const tj_mapping *mapping = st->mapping;
  tj_stage_choice *choice = TJ_NEW(st->graph->job, tj_stage_choice);
  int64_t elements = tj_mapping_lds_elements(st->graph, mapping) * (mapping->passes / st->passes);
  choice->layout.bytes = (uint32_t)elements * st->element_bytes;
  return choice;
}

/* The side's slots, by pass, as far as they are moved in each. */
static tj_side *by_pass(stager *st, const passage *way, const tj_side *all) {
  tj_side *in = TJ_NEW_ARRAY(st->graph->job, tj_side, st->passes);
  for (uint32_t pass = 0; pass < st->passes; pass++)
    in[pass] = in_pass(st, way, all, pass);
  return in;
}

bool tj_plan_staging(tj_graph *graph, const tj_tiling *tiling, const tj_target *target, uint32_t element_bytes,
                     const tj_side *load, const tj_side *store, tj_staging *staging) {
  uint32_t widest = tj_target_widest(target, element_bytes);
  stager st = {graph, tiling, target, element_bytes, widest, tj_tiling_passes(tiling), 0, tiling->mapping};
  st.rows = line_count(&st, false) / st.passes;
  passage in = find_passage(&st, load, true), out = find_passage(&st, store, false);
  const tj_stage_choice *choice;
  if (!is_shared_out(&st, &out))
    return false;
  if (st.mapping->lds == NULL) {
    tj_stage_choice *found = TJ_NEW(graph->job, tj_stage_choice);
    if (!choose_stage(&st, &in, &out, found))
      return false;
    complete_mapping(&st, found);
    choice = found;
  } else {
    choice = given_choice(&st);
  }
  tj_side all = in_lds(&st, &in);
  *staging = (tj_staging){by_pass(&st, &in, &all), in_lds(&st, &out), choice, st.mapping};
  return true;
}

/* --- the order of lanes --- */

enum { GRANULE = 4, GRANULE_BITS = 3, GRANULES = 1 << GRANULE_BITS }; /* lanes that are served together anyhow */

/* The rank of each granule of half a wave among those that wide loads are served with. */
static void rank_granules(const tj_bank_model *model, uint32_t rank[GRANULES]) {
  uint64_t lanes[TJ_BANK_MOST_PHASES];
  uint32_t next = 0;
  tj_bank_phases(model, false, TJ_BANK_BYTES * 4, UINT32_MAX, lanes);
  for (uint32_t phase = 0; phase < TJ_BANK_MOST_PHASES; phase++) {
    for (uint32_t granule = 0; granule < GRANULES; granule++) {
      if ((lanes[phase] >> (granule * GRANULE) & 1) != 0)
        rank[granule] = next++;
    }
  }
}

/* Whether a rank is the exclusive or of those of the granule's bits. */
static bool is_linear(const uint32_t rank[GRANULES]) {
  for (uint32_t granule = 0; granule < GRANULES; granule++) {
    uint32_t sum = 0;
    for (uint32_t bit = 0; bit < GRANULE_BITS; bit++)
      sum ^= (granule >> bit & 1) != 0 ? rank[1u << bit] : 0;
    if (sum != rank[granule])
      return false;
  }
  return true;
}

static bool is_in_order(const uint32_t rank[GRANULES]) {
  for (uint32_t granule = 0; granule < GRANULES; granule++) {
    if (rank[granule] != granule)
      return false;
  }
  return true;
}

const tj_value *tj_staging_order(tj_graph *graph, const tj_target *target) {
  enum { LANE_BITS = 2, BITS = LANE_BITS + GRANULE_BITS };
  const tj_bank_model *model = tj_bank_model_of(target->processor);
  uint32_t rank[GRANULES];
  if (model == NULL)
    return NULL;
  rank_granules(model, rank);
  if (is_in_order(rank) || !is_linear(rank))
    return NULL;
  uint64_t basis[BITS] = {1, 2};
  for (uint32_t bit = 0; bit < GRANULE_BITS; bit++)
    basis[LANE_BITS + bit] = (uint64_t)rank[1u << bit] * GRANULE;
  return tj_value_of_linear(
      graph, tj_f2_make(graph, tj_tuple_constant(graph, 1 << BITS), tj_tuple_constant(graph, 0), basis, true));
}
