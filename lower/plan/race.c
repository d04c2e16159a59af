/* SPDX-License-Identifier: MIT */
/* Races of kernels: what strides show, what small domains show, and what is left to the launch. */
#include "lower/plan/race.h"

#include "ir/index/eval.h"
#include "ir/simplify/simplify.h"
#include "ir/value/map_image.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COORDINATES = 1 << 16, MOST_KEYS = 2 + 2 * TJ_RACE_SOURCES };

typedef struct {
  tj_graph *graph;
  const tj_race_map *map;
  const tj_tuple *const *extent; /* by leaf */
  uint32_t rank;
  const char *name; /* of the destination */
} judging;

const tj_node *const *tj_race_coordinates(tj_graph *graph, const tj_tuple *domain) {
  uint32_t rank;
  const tj_tuple *const *extent = tj_tuple_leaves(graph, domain, &rank);
  const tj_node **at = TJ_NEW_ARRAY(graph->job, const tj_node *, rank + 1);
  for (uint32_t i = 0; i < rank; i++)
    at[i] = tj_coordinate(graph, "c", extent[i]->value);
  return at;
}

/* A swizzle exchanges elements one to one. */
tj_operand tj_race_operand(tj_graph *graph, const tj_operand *operand) {
  tj_operand plain = *operand;
  if (operand->value->kind == TJ_VALUE_COMPOSED)
    plain.value = tj_value_of_layout(graph, operand->value->composed->layout);
  return plain;
}

bool tj_race_is_apart(tj_graph *graph, const tj_operand *destination) {
  return tj_map_image_by_structure(graph, destination->value).is_injective == TJ_YES;
}

tj_decision tj_race_is_apart_by_values(tj_graph *graph, const tj_operand *operand) {
  tj_map_image image = tj_map_image_by_structure(graph, operand->value);
  if (image.is_injective == TJ_UNKNOWN)
    image = tj_map_image_of(graph, operand->value);
  return image.is_injective;
}

uint32_t tj_race_nodes(const tj_race *race, const tj_node *node[TJ_RACE_NODES]) {
  uint32_t count = 0;
  if (race == NULL)
    return 0;
  if (race->base != NULL)
    node[count++] = race->base;
  for (uint32_t i = 0; i < race->modes; i++) {
    for (uint32_t side = 0; side <= race->sources; side++) {
      node[count++] = race->side[i][side].begin;
      node[count++] = race->side[i][side].end;
      node[count++] = race->side[i][side].stride;
    }
  }
  return count;
}

/* --- races that are shown --- */

static const tj_tuple *coordinate_of(const judging *j, const int64_t at[]) {
  const tj_tuple **leaf = TJ_NEW_ARRAY(j->graph->job, const tj_tuple *, j->rank + 1);
  for (uint32_t i = 0; i < j->rank; i++)
    leaf[i] = tj_tuple_constant(j->graph, at[i]);
  return tj_tuple_from_leaves(j->graph, j->map->domain, leaf);
}

static _Noreturn void fail(const judging *j, const tj_tuple *first, const tj_tuple *second, const char *element) {
  tj_job *job = j->graph->job;
  tj_fail(job, TJ_DESTINATION_RACE, "coordinates %s and %s of '%s' are %s, and have different sources",
          tj_tuple_text(job, first), tj_tuple_text(job, second), j->name, element);
}

/* The element of the destination at a constant coordinate. */
static const char *element_at(const judging *j, const int64_t at[]) {
  int64_t *value = TJ_NEW_ARRAY(j->graph->job, int64_t, j->graph->symbol_count + 1), element;
  for (uint32_t i = 0; i < j->rank; i++)
    value[j->map->at[i]->symbol->index] = at[i];
  tj_bindings bindings = {value, NULL, j->graph->symbol_count};
  tj_eval_status status = tj_eval_nodes(&j->map->element, 1, &bindings, &element);
  if (status == TJ_EVAL_NO_MEMORY)
    tj_fail_out_of_memory(j->graph->job);
  if (status != TJ_EVAL_OK)
    return "one element";
  return tj_string_format(j->graph->job, "both element %" PRId64, element);
}

static _Noreturn void fail_at(const judging *j, const int64_t first[], const int64_t second[]) {
  fail(j, coordinate_of(j, first), coordinate_of(j, second), element_at(j, first));
}

/* --- strides --- */

static bool set_side(const judging *j, const tj_access *access, tj_race *race, uint32_t side, const tj_node **base) {
  const tj_node *stride[TJ_RACE_MODES];
  const tj_tuple **leaf = TJ_NEW_ARRAY(j->graph->job, const tj_tuple *, j->rank + 1);
  for (uint32_t i = 0; i < j->rank; i++)
    leaf[i] = tj_tuple_integer(j->graph, j->map->at[i]);
  tj_map map = {.domain = j->map->domain,
                .input = tj_tuple_from_leaves(j->graph, j->map->domain, leaf),
                .output = tj_tuple_integer(j->graph, access->offset),
                .valid = access->valid};
  tj_box box;
  if (!tj_map_as_strides(j->graph, &map, stride, base, &box))
    return false;
  for (uint32_t i = 0; i < j->rank; i++)
    race->side[i][side] = (tj_race_term){box.begin[i], box.end[i], tj_simplified(j->graph, stride[i])};
  return true;
}

/* NULL where the destination, or a source, is no sum of strides over a box. */
static tj_race *race_of_strides(const judging *j) {
  const tj_node *base;
  tj_race *race = TJ_NEW(j->graph->job, tj_race);
  race->modes = j->rank;
  race->sources = j->map->sources;
  if (j->rank > TJ_RACE_MODES || !set_side(j, &j->map->destination, race, 0, &race->base))
    return NULL;
  race->base = j->map->element == j->map->destination.offset ? tj_simplified(j->graph, race->base) : NULL;
  for (uint32_t i = 0; i < j->map->sources; i++) {
    if (!set_side(j, &j->map->source[i], race, 1 + i, &base))
      return NULL;
  }
  race->form = tj_tuple_text(j->graph->job, tj_tuple_repeat_like(j->graph, j->map->domain, tj_tuple_any(j->graph)));
  return race;
}

static bool is_whole(const tj_race *race, uint32_t mode, uint32_t side) {
  return race->side[mode][side].begin == race->side[mode][0].begin &&
         race->side[mode][side].end == race->side[mode][0].end;
}

/* Whether a mode moves neither side: all its coordinates mean the same. */
static bool is_idle(const tj_race *race, uint32_t mode) {
  bool is_idle = tj_is_int(race->side[mode][0].stride, 0);
  for (uint32_t side = 1; side <= race->sources; side++)
    is_idle = is_idle && tj_is_int(race->side[mode][side].stride, 0) && is_whole(race, mode, side);
  return is_idle;
}

/* Whether what is left without idle modes keeps all coordinates apart. */
static bool is_surely_apart(const judging *j, const tj_race *race) {
  const tj_tuple *extent[TJ_RACE_MODES], *stride[TJ_RACE_MODES];
  uint32_t count = 0;
  for (uint32_t i = 0; i < race->modes; i++) {
    const tj_race_term *to = &race->side[i][0];
    if (is_idle(race, i))
      continue;
    extent[count] = tj_tuple_integer(j->graph, tj_simplified(j->graph, tj_terse_sub(j->graph, to->end, to->begin)));
    stride[count++] = tj_tuple_integer(j->graph, to->stride);
  }
  tj_layout layout = {tj_tuple_list(j->graph, extent, count), tj_tuple_list(j->graph, stride, count)};
  return count == 0 ||
         tj_map_image_by_structure(j->graph, tj_value_of_layout(j->graph, layout)).is_injective == TJ_YES;
}

static bool surely_has(const judging *j, const tj_race_term *side, int64_t coordinates) {
  const tj_node *begin = tj_terse_add(j->graph, side->begin, tj_int(j->graph, coordinates));
  return tj_decide_less_equal(j->graph, begin, side->end) == TJ_YES;
}

/* Whether all sides surely have coordinates along all modes, and one source is valid throughout and surely moves with
 * this one, which does not move the destination. */
static bool surely_races(const judging *j, const tj_race *race, uint32_t mode) {
  const tj_node *zero = tj_int(j->graph, 0);
  bool races = tj_is_int(race->side[mode][0].stride, 0) && surely_has(j, &race->side[mode][0], 2);
  for (uint32_t i = 0; i < race->modes && races; i++)
    races = surely_has(j, &race->side[i][0], 1) && is_whole(race, i, 1);
  return races && tj_decide_equal(j->graph, race->side[mode][1].stride, zero) == TJ_NO;
}

static void fail_where_surely(const judging *j, const tj_race *race) {
  const tj_tuple *first[TJ_RACE_MODES], *second[TJ_RACE_MODES];
  for (uint32_t mode = 0; mode < race->modes; mode++) {
    if (!surely_races(j, race, mode))
      continue;
    for (uint32_t i = 0; i < race->modes; i++)
      first[i] = second[i] = tj_tuple_integer(j->graph, race->side[i][0].begin);
    second[mode] = tj_tuple_integer(j->graph, tj_terse_add(j->graph, first[mode]->value, tj_int(j->graph, 1)));
    fail(j, tj_tuple_from_leaves(j->graph, j->map->domain, first),
         tj_tuple_from_leaves(j->graph, j->map->domain, second), "one element");
  }
}

static bool constant_side(const tj_race_term *term, tj_race_side *side) {
  *side = (tj_race_side){term->begin->value, term->end->value, term->stride->value};
  return tj_is_constant(term->begin) && tj_is_constant(term->end) && tj_is_constant(term->stride);
}

/* False where parameters decide. */
static bool constant_strides(const tj_race *race, tj_race_strides *strides) {
  strides->modes = race->modes;
  strides->sources = race->sources;
  for (uint32_t i = 0; i < race->modes; i++) {
    for (uint32_t side = 0; side <= race->sources; side++) {
      if (!constant_side(&race->side[i][side], &strides->side[i][side]))
        return false;
    }
  }
  return true;
}

static tj_races judge_constant(const judging *j, const tj_race_strides *strides) {
  int64_t first[TJ_RACE_MODES], second[TJ_RACE_MODES];
  tj_race_verdict verdict = tj_race_decide(strides, first, second);
  if (verdict == TJ_RACE_FOUND)
    fail_at(j, first, second);
  return verdict == TJ_RACE_NONE ? TJ_RACES_NONE : TJ_RACES_UNDECIDED;
}

static tj_races judge_strides(const judging *j, tj_kernel *kernel, tj_race *race, uint32_t destination) {
  tj_race_strides *strides = TJ_NEW(j->graph->job, tj_race_strides);
  if (constant_strides(race, strides))
    return judge_constant(j, strides);
  if (is_surely_apart(j, race))
    return TJ_RACES_NONE;
  fail_where_surely(j, race);
  race->destination = destination;
  kernel->race = race;
  return TJ_RACES_AT_LAUNCH;
}

/* --- small domains --- */

/* What each valid coordinate stores: the element, the coordinate's number, then for each source whether it is valid,
 * and its element. */
typedef struct {
  int64_t key[MOST_KEYS];
} row;

typedef struct {
  const judging *j;
  const tj_node *root[MOST_KEYS];
  uint32_t root_count;
  int64_t size;   /* of the domain */
  int64_t *value; /* of symbols */
  bool *bound;
  row *row;
  size_t count;
} listing;

static int compare_rows(const void *a, const void *b) {
  const row *x = a, *y = b;
  if (x->key[0] != y->key[0])
    return x->key[0] < y->key[0] ? -1 : 1;
  return (x->key[1] > y->key[1]) - (x->key[1] < y->key[1]);
}

static bool same_source(const row *a, const row *b) {
  return memcmp(a->key + 2, b->key + 2, (MOST_KEYS - 2) * sizeof *a->key) == 0;
}

static void coordinate_at(const judging *j, int64_t number, int64_t at[]) {
  for (uint32_t i = 0; i < j->rank; i++) {
    uint32_t leaf = j->map->row_major ? j->rank - 1 - i : i;
    at[leaf] = number % j->extent[leaf]->value->value;
    number /= j->extent[leaf]->value->value;
  }
}

/* The number of coordinates; 0 where that is not constant, or too large. */
static int64_t domain_size(const judging *j) {
  int64_t size = 1;
  for (uint32_t i = 0; i < j->rank; i++) {
    const tj_node *extent = j->extent[i]->value;
    if (!tj_is_constant(extent) || __builtin_mul_overflow(size, extent->value, &size) || size > MOST_COORDINATES)
      return 0;
  }
  return size;
}

static listing new_listing(const judging *j) {
  tj_job *job = j->graph->job;
  listing all = {.j = j, .size = domain_size(j)};
  all.root[all.root_count++] = j->map->destination.offset;
  all.root[all.root_count++] = j->map->destination.valid;
  for (uint32_t i = 0; i < j->map->sources; i++) {
    all.root[all.root_count++] = j->map->source[i].valid;
    all.root[all.root_count++] = j->map->source[i].offset;
  }
  all.value = TJ_NEW_ARRAY(job, int64_t, j->graph->symbol_count + 1);
  all.bound = TJ_NEW_ARRAY(job, bool, j->graph->symbol_count + 1);
  all.row = TJ_NEW_ARRAY(job, row, (size_t)all.size + 1);
  for (uint32_t i = 0; i < j->rank; i++)
    all.bound[j->map->at[i]->symbol->index] = true;
  return all;
}

/* False where an expression has no value: parameters decide it, or it does not fit. */
static bool add_row(listing *all, tj_evaluator *evaluator, int64_t number) {
  const judging *j = all->j;
  tj_bindings bindings = {all->value, all->bound, j->graph->symbol_count};
  int64_t at[TJ_RACE_MODES], key[MOST_KEYS] = {0};
  coordinate_at(j, number, at);
  for (uint32_t i = 0; i < j->rank; i++)
    all->value[j->map->at[i]->symbol->index] = at[i];
  if (tj_evaluator_run(evaluator, &bindings, key) != TJ_EVAL_OK)
    return false;
  if (key[1] == 0)
    return true;
  key[1] = number;
  for (uint32_t i = 2; i < all->root_count; i += 2)
    key[i + 1] = key[i] != 0 ? key[i + 1] : 0;
  memcpy(all->row[all->count++].key, key, sizeof key);
  return true;
}

static bool list_rows(listing *all) {
  tj_evaluator *evaluator;
  tj_spend(all->j->graph->job, (uint64_t)all->size);
  if (tj_evaluator_create(all->root, all->root_count, &evaluator) != TJ_EVAL_OK)
    tj_fail_out_of_memory(all->j->graph->job);
  bool is_listed = true;
  for (int64_t n = 0; n < all->size && is_listed; n++)
    is_listed = add_row(all, evaluator, n);
  tj_evaluator_destroy(evaluator);
  return is_listed;
}

static tj_races judge_values(const judging *j) {
  int64_t first[TJ_RACE_MODES], second[TJ_RACE_MODES];
  if (j->rank > TJ_RACE_MODES || domain_size(j) == 0)
    return TJ_RACES_UNDECIDED;
  listing all = new_listing(j);
  if (!list_rows(&all))
    return TJ_RACES_UNDECIDED;
  qsort(all.row, all.count, sizeof *all.row, compare_rows);
  for (size_t n = 1; n < all.count; n++) {
    const row *before = &all.row[n - 1], *after = &all.row[n];
    if (before->key[0] != after->key[0] || same_source(before, after))
      continue;
    coordinate_at(j, before->key[1], first);
    coordinate_at(j, after->key[1], second);
    fail_at(j, first, second);
  }
  return TJ_RACES_NONE;
}

/* --- judging --- */

static void simplify(tj_graph *graph, tj_race_map *map) {
  const tj_node *root[MOST_KEYS + 1] = {map->element, map->destination.offset, map->destination.valid};
  uint32_t count = 3;
  for (uint32_t i = 0; i < map->sources; i++) {
    root[count++] = map->source[i].offset;
    root[count++] = map->source[i].valid;
  }
  tj_simplify(graph, root, count, NULL);
  map->element = root[0];
  map->destination.offset = root[1];
  map->destination.valid = root[2];
  for (uint32_t i = 0; i < map->sources; i++) {
    map->source[i].offset = root[3 + 2 * i];
    map->source[i].valid = root[4 + 2 * i];
  }
}

/* Whether what is one element of the destination is surely one of the source. */
static bool source_follows(const tj_race_map *map) {
  const tj_node *valid = map->source[0].valid;
  return map->sources == 1 && map->source[0].offset == map->destination.offset &&
         (tj_is_int(valid, 1) || valid == map->destination.valid);
}

void tj_race_judge(tj_graph *graph, tj_kernel *kernel, const tj_race_map *given, const char *name,
                   uint32_t destination) {
  tj_race_map map = *given;
  judging j = {.graph = graph, .map = &map, .name = name};
  j.extent = tj_tuple_leaves(graph, map.domain, &j.rank);
  simplify(graph, &map);
  if (source_follows(&map)) {
    kernel->races = TJ_RACES_NONE;
    return;
  }
  tj_race *race = race_of_strides(&j);
  kernel->races = race != NULL ? judge_strides(&j, kernel, race, destination) : judge_values(&j);
}
