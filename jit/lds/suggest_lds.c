/* SPDX-License-Identifier: MIT */
/* From what threads hold to the accesses of the search, in layouts whose rows, or whose columns, lie side by side;
 * and from what it finds to values, which are counted as any layout is. */
#include "jit/lds/suggest_lds.h"

#include "base/integer.h"
#include "ir/index/facts.h"
#include "ir/index/substitute.h"
#include "ir/simplify/simplify.h"
#include "lower/lds/lds_value.h"

#include <string.h>

enum { WIDEST = 16, MOST_ACCESSES = 1 << 12 };

typedef struct {
  const tj_lds_check *check;
  tj_job *job;
  int64_t extent[2]; /* of the tile: rows, columns */
  uint32_t limit;
  tj_thread_values store, load;
  tj_stage_access *access; /* memory for the accesses of a direction */
  uint32_t *line;          /* their rows and columns */
  uint32_t access_count;
  uint32_t narrowest; /* elements that matrix instructions need side by side */
  tj_suggestions found;
  int64_t least; /* cycles: no layout takes fewer */
} suggesting;

/* --- the tile --- */

static void widen(const tj_thread_values *held, int64_t extent[2]) {
  for (int64_t n = 0; n < held->threads * held->values && held->components == 2; n++) {
    for (uint32_t i = 0; i < 2; i++)
      extent[i] = held->coordinate[2 * n + i] >= extent[i] ? held->coordinate[2 * n + i] + 1 : extent[i];
  }
}

static void widen_to(const tj_value *value, int64_t extent[2]) {
  if (value == NULL || value->kind != TJ_VALUE_DISTRIBUTION || value->distribution->x_count != 2)
    return;
  for (uint32_t i = 0; i < 2; i++) {
    int64_t length = value->distribution->x_length[i];
    extent[i] = length > extent[i] ? length : extent[i];
  }
}

static void find_tile(suggesting *s, const int64_t tile[2]) {
  const tj_lds_check *check = s->check;
  memcpy(s->extent, tile, sizeof s->extent);
  if (tile[0] == 0) {
    widen_to(check->store, s->extent);
    widen_to(check->load, s->extent);
    widen(&s->store, s->extent);
    widen(&s->load, s->extent);
  }
  if (s->extent[0] == 0) {
    tj_note(s->job, "say --tile (M,N), or give layouts onto coordinates in the tile");
    tj_fail(s->job, TJ_COORDINATE_STRUCTURE, "the tile's two extents do not follow from who stores and loads it");
  }
  for (uint32_t i = 0; i < 2; i++) {
    if (s->extent[i] < 1 || s->extent[i] > TJ_STAGE_MOST_EXTENT)
      tj_fail(s->job, TJ_TILE_SIZE, "a tile's extents are from 1 to %d", TJ_STAGE_MOST_EXTENT);
  }
}

static const tj_value *layout_of(const suggesting *s, int64_t row_stride, int64_t column_stride) {
  tj_graph *graph = s->check->graph;
  const tj_tuple *shape[] = {tj_tuple_constant(graph, s->extent[0]), tj_tuple_constant(graph, s->extent[1])};
  const tj_tuple *stride[] = {tj_tuple_constant(graph, row_stride), tj_tuple_constant(graph, column_stride)};
  return tj_value_of_layout(graph, (tj_layout){tj_tuple_list(graph, shape, 2), tj_tuple_list(graph, stride, 2)});
}

/* --- accesses --- */

/* Rows, or columns, so far apart that vectors are aligned wherever they begin at multiples of their length. */
static int64_t pitch_of(const suggesting *s, tj_stage_direction direction) {
  int64_t widest = s->check->element_bytes < WIDEST ? WIDEST / s->check->element_bytes : 1;
  int64_t along = s->extent[direction == TJ_STAGE_ROW ? 1 : 0];
  return (along + widest - 1) / widest * widest;
}

static void add_access(suggesting *s, const tj_lds_plan *plan, const tj_lds_step *step, int64_t wave,
                       tj_stage_direction direction) {
  tj_lds_request request = tj_lds_request_of(plan, step, wave);
  if (request.active == 0)
    return;
  if (s->access_count == MOST_ACCESSES)
    tj_fail(s->job, TJ_TILE_SIZE, "more than %d instructions of waves store and load the tile", MOST_ACCESSES);
  uint32_t *row = s->line + (size_t)s->access_count * 2 * TJ_BANK_LANES, *column = row + TJ_BANK_LANES;
  int64_t pitch = pitch_of(s, direction);
  for (uint64_t left = request.active; left != 0; left &= left - 1) {
    int lane = __builtin_ctzll(left);
    uint32_t line = (uint32_t)(request.element[lane] / pitch), along = (uint32_t)(request.element[lane] % pitch);
    row[lane] = direction == TJ_STAGE_ROW ? line : along;
    column[lane] = direction == TJ_STAGE_ROW ? along : line;
  }
  uint32_t elements = step->is->bytes / s->check->element_bytes;
  s->access[s->access_count++] =
      (tj_stage_access){step->is->is_store, direction, elements, request.active, row, column, 0, 0};
  if (step->is->lanes > 1 && elements > s->narrowest)
    s->narrowest = elements;
}

/* The tile with rows, or columns, as far apart as accesses of the search have them. */
static tj_tile_map plain_tile(const suggesting *s, tj_stage_direction direction) {
  int64_t pitch = pitch_of(s, direction);
  return tj_tile_map_of(s->check->graph, direction == TJ_STAGE_ROW ? layout_of(s, pitch, 1) : layout_of(s, 1, pitch));
}

static void add_side(suggesting *s, const tj_thread_values *held, bool is_store, tj_stage_direction direction,
                     tj_tile_map *tile) {
  const tj_lds_check *check = s->check;
  s->job->here = is_store ? check->store_span : check->load_span;
  const int64_t *place = tj_thread_places(tile, held);
  tj_lds_plan plan = tj_lds_plan_of(check->graph, &check->memory, is_store, check->element_bytes, held, place);
  for (int64_t wave = 0; wave < tj_lds_wave_count(&plan); wave++) {
    for (uint32_t i = 0; i < plan.step_count; i++)
      add_access(s, &plan, &plan.step[i], wave, direction);
  }
}

/* --- addresses --- */

/* The digits of a thread, or of a value, in the leaves first … end-1 of a domain. */
static void set_digits(tj_graph *graph, const tj_tuple *const extent[], uint32_t first, uint32_t end, bool row_major,
                       const tj_node *number, const tj_node *digit[]) {
  for (uint32_t i = 0; i < end - first; i++) {
    uint32_t leaf = row_major ? end - 1 - i : first + i;
    digit[leaf] = tj_mod(graph, number, extent[leaf]->value);
    number = tj_div(graph, number, extent[leaf]->value);
  }
}

/* What a side holds, as expressions of the leaves of its domain: those of a thread first, then those of a value. */
typedef struct {
  const tj_node **input, **output;
  const tj_tuple *const *extent;
  uint32_t inputs, outputs, threads;
  bool row_major;
} held_map;

static const tj_node **nodes_of(tj_graph *graph, const tj_tuple *tuple, uint32_t *count) {
  const tj_tuple *const *leaf = tj_tuple_leaves(graph, tuple, count);
  const tj_node **node = TJ_NEW_ARRAY(graph->job, const tj_node *, *count + 1);
  for (uint32_t i = 0; i < *count; i++)
    node[i] = leaf[i]->value;
  return node;
}

static held_map held_map_of(tj_graph *graph, const tj_value *side) {
  tj_map map = tj_map_of_value(graph, side);
  held_map of = {.row_major = side->kind == TJ_VALUE_DISTRIBUTION};
  of.extent = tj_tuple_leaves(graph, map.domain, &of.inputs);
  of.input = nodes_of(graph, map.input, &of.inputs);
  of.output = nodes_of(graph, map.output, &of.outputs);
  of.threads = of.row_major ? side->distribution->p_count : tj_tuple_leaf_count(tj_tuple_mode(map.domain, 0));
  return of;
}

/* Where a thread's value lies: an expression of the thread. */
static const tj_node *offset_of(tj_graph *graph, const held_map *side, const tj_value *lds, const tj_node *thread,
                                uint32_t value) {
  const tj_node **to = TJ_NEW_ARRAY(graph->job, const tj_node *, side->inputs + 1);
  const tj_node **root = tj_arena_copy(&graph->job->arena, side->output, (side->outputs + 1) * sizeof *root);
  const tj_tuple **entry = TJ_NEW_ARRAY(graph->job, const tj_tuple *, side->outputs + 1);
  set_digits(graph, side->extent, 0, side->threads, side->row_major, thread, to);
  set_digits(graph, side->extent, side->threads, side->inputs, side->row_major, tj_int(graph, value), to);
  tj_substitute(graph, &(tj_substitution){side->input, to, side->inputs}, root, side->outputs);
  for (uint32_t i = 0; i < side->outputs; i++)
    entry[i] = tj_tuple_integer(graph, root[i]);
  const tj_tuple *at =
      tj_value_at(graph, lds, side->outputs == 1 ? entry[0] : tj_tuple_list(graph, entry, side->outputs));
  return tj_simplified(graph, at->value);
}

static const tj_node *without_constant(const tj_node *sum) {
  return sum->op == TJ_OP_ADD && tj_is_constant(sum->arg[1]) ? sum->arg[0] : sum;
}

/* Constants that are added last are part of the instruction. -1 where lanes have other lanes' addresses. */
static int64_t count_operations(const tj_lds_check *check, const tj_value *side, const tj_value *lds,
                                const tj_lds_plan *plan) {
  tj_graph *graph = check->graph;
  const held_map held = held_map_of(graph, side);
  const tj_node *thread = tj_coordinate(graph, "t", tj_int(graph, plan->held->threads));
  const tj_node **root = TJ_NEW_ARRAY(graph->job, const tj_node *, plan->step_count + 1);
  for (uint32_t i = 0; i < plan->step_count; i++) {
    if (plan->step[i].is->lanes > 1)
      return -1;
    root[i] = without_constant(offset_of(graph, &held, lds, thread, plan->order[plan->step[i].first]));
  }
  tj_op_counts counts = tj_count_ops(graph, root, plan->step_count);
  return (int64_t)counts.div + counts.mod + counts.mul + counts.add + counts.bit + counts.select;
}

/* --- suggestions --- */

static tj_suggested_side count_side(const tj_lds_check *check, const tj_value *side, const tj_thread_values *held,
                                    bool is_store, tj_tile_map *tile) {
  if (side == NULL)
    return (tj_suggested_side){0};
  const int64_t *place = tj_thread_places(tile, held);
  tj_lds_plan plan = tj_lds_plan_of(check->graph, &check->memory, is_store, check->element_bytes, held, place);
  tj_suggested_side of = {.instruction = plan.step[0].is->name, .kinds = 1, .cost = tj_lds_count(check, &plan)};
  for (uint32_t i = 1; i < plan.step_count; i++)
    of.kinds += plan.step[i].is != plan.step[i - 1].is ? 1 : 0;
  of.operations = count_operations(check, side, check->lds, &plan);
  return of;
}

static bool is_known(const suggesting *s, const tj_value *value) {
  for (uint32_t i = 0; i < s->found.count; i++) {
    tj_text a = tj_text_begin(s->job), b = tj_text_begin(s->job);
    tj_value_print(&a, s->found.of[i].layout);
    tj_value_print(&b, value);
    if (strcmp(a.data, b.data) == 0)
      return true;
  }
  return false;
}

/* Keeps the list in order; of equal ones, the first that was found is first. */
static void insert(suggesting *s, tj_suggestion one) {
  uint32_t at = s->found.count < TJ_MOST_SUGGESTIONS ? s->found.count : TJ_MOST_SUGGESTIONS;
  while (at > 0 && s->found.of[at - 1].cost > one.cost) {
    if (at < TJ_MOST_SUGGESTIONS)
      s->found.of[at] = s->found.of[at - 1];
    at--;
  }
  if (at == TJ_MOST_SUGGESTIONS)
    return;
  s->found.of[at] = one;
  s->found.count += s->found.count < TJ_MOST_SUGGESTIONS ? 1 : 0;
}

static uint32_t workgroups_of(const tj_compute_unit *unit, uint32_t bytes) {
  const uint32_t count = tj_workgroups_in_lds(unit, bytes);
  return unit->workgroups > 0 ? tj_fewer(count, unit->workgroups) : count;
}

/* Layouts whose modes are longer than the tile's are left out. */
static void suggest(suggesting *s, const tj_stage_choice *choice) {
  const tj_value *value = tj_stage_value(s->check->graph, &choice->layout, s->extent, (bool[]){false, true}, NULL, 2);
  const tj_node *size = tj_layout_size(s->check->graph, *tj_value_layout(value));
  if (!tj_is_int(size, s->extent[0] * s->extent[1]) || is_known(s, value))
    return;
  tj_lds_check check = *s->check;
  tj_tile_map tile = tj_tile_map_of(check.graph, value);
  check.lds = value;
  tj_suggestion one = {.layout = value,
                       .store = count_side(&check, check.store, &s->store, true, &tile),
                       .load = count_side(&check, check.load, &s->load, false, &tile),
                       .bytes = choice->layout.bytes,
                       .workgroups = workgroups_of(check.memory.unit, choice->layout.bytes)};
  one.cost = one.store.cost.cycles + one.load.cost.cycles + one.store.cost.instructions + one.load.cost.instructions +
             choice->waiting;
  insert(s, one);
}

/* The best layout of a direction that is of some of the forms. */
static void search(suggesting *s, tj_stage_direction direction, unsigned without) {
  const tj_stage_tile tile = {.element_bytes = s->check->element_bytes,
                              .rows = (uint32_t)s->extent[0],
                              .columns = (uint32_t)s->extent[1],
                              .access = s->access,
                              .access_count = s->access_count,
                              .limit = s->limit,
                              .shared = s->check->memory.unit->lds_bytes,
                              .group = (uint32_t[]){(uint32_t)s->extent[0]},
                              .group_count = 1,
                              .run = (uint32_t[]){(uint32_t)s->extent[1]},
                              .run_count = 1,
                              .directions = 1u << direction,
                              .narrowest = s->narrowest,
                              .without = without};
  tj_stage_choice choice;
  if (!tj_stage_search(s->job, s->check->memory.banks, &tile, &choice))
    return;
  if (without == 0 && choice.least_cycles < s->least)
    s->least = choice.least_cycles;
  s->found.tried += choice.tried;
  suggest(s, &choice);
}

static void search_direction(suggesting *s, tj_stage_direction direction) {
  static const unsigned withouts[] = {0, TJ_STAGE_PADDINGS | TJ_STAGE_GROUPS, TJ_STAGE_SWIZZLES | TJ_STAGE_GROUPS};
  tj_tile_map tile = plain_tile(s, direction);
  s->access_count = s->narrowest = 0;
  if (s->check->store != NULL)
    add_side(s, &s->store, true, direction, &tile);
  if (s->check->load != NULL)
    add_side(s, &s->load, false, direction, &tile);
  for (size_t i = 0; i < sizeof withouts / sizeof withouts[0]; i++)
    search(s, direction, withouts[i]);
}

tj_suggestions tj_suggest_lds(const tj_lds_check *check, uint32_t limit, const int64_t tile[2]) {
  tj_job *job = check->graph->job;
  suggesting s = {.check = check, .job = job, .limit = check->memory.group_bytes, .least = INT64_MAX};
  if (limit > 0 && limit < s.limit)
    s.limit = limit;
  job->here = check->store_span;
  if (check->store != NULL)
    s.store = tj_thread_values_of(check->graph, check->store);
  job->here = check->load_span;
  if (check->load != NULL)
    s.load = tj_thread_values_of(check->graph, check->load);
  find_tile(&s, tile);
  s.access = TJ_NEW_ARRAY(job, tj_stage_access, MOST_ACCESSES);
  s.line = TJ_NEW_ARRAY(job, uint32_t, (size_t)MOST_ACCESSES * 2 * TJ_BANK_LANES);
  search_direction(&s, TJ_STAGE_ROW);
  search_direction(&s, TJ_STAGE_COLUMN);
  job->here = TJ_NOWHERE;
  if (s.found.count == 0)
    tj_fail(job, TJ_TILE_SIZE, "no layout of the tile fits into %u bytes", s.limit);
  for (uint32_t i = 0; i < s.found.count; i++)
    s.found.of[i].is_least = s.found.of[i].store.cost.cycles + s.found.of[i].load.cost.cycles <= s.least;
  s.found.rows = s.extent[0];
  s.found.columns = s.extent[1];
  return s.found;
}
