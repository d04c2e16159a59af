/* SPDX-License-Identifier: MIT */
/* Classes of swizzled places that are constants apart, by their values for all work-items. */
#include "lower/tile/lds_swizzle.h"

#include "base/number/keys.h"
#include "ir/index/cost.h"
#include "ir/index/eval.h"
#include "ir/simplify/simplify.h"

#include <string.h>

typedef struct {
  tj_graph *graph;
  tj_swizzle swizzle;
  const tj_parted_sum *place;
  uint32_t count;
  const tj_node *item;
  uint32_t items;
  const tj_node **rest; /* of places, each once */
  uint32_t rests;
  uint32_t *number; /* by place, of its rest */
  int64_t *value;   /* of the first rest by work-item, then of the next */
} swizzler;

/* Places that are constants apart. */
typedef struct {
  uint32_t first;    /* the one that begins first, */
  int64_t begin;     /* for work-item 0 */
  int64_t *distance; /* from there, by work-item */
} place_class;

/* --- values --- */

static void list_rests(swizzler *s) {
  tj_keys rests = tj_keys_make(s->graph->job);
  s->rest = TJ_NEW_ARRAY(s->graph->job, const tj_node *, s->count + 1);
  s->number = TJ_NEW_ARRAY(s->graph->job, uint32_t, s->count + 1);
  for (uint32_t i = 0; i < s->count; i++) {
    s->number[i] = tj_key_number(&rests, tj_key_mix(0, s->place[i].rest->id));
    s->rest[s->number[i]] = s->place[i].rest;
  }
  s->rests = rests.count;
}

/* Of work-items first … , up to the last one, as many as there are lanes. */
static bool find_some(const swizzler *s, tj_evaluator *evaluator, const tj_bindings *none, uint32_t first) {
  tj_lane_values given = {.symbol = s->item->symbol->index};
  const uint32_t left = s->items - first, lanes = left < TJ_EVAL_LANES ? left : TJ_EVAL_LANES;
  for (uint32_t lane = 0; lane < lanes; lane++)
    given.value[lane] = first + lane;
  if (tj_evaluator_run_lanes(evaluator, none, &given, 1, lanes) != TJ_EVAL_OK)
    return false;
  for (uint32_t i = 0; i < s->rests; i++)
    memcpy(s->value + (size_t)i * s->items + first, tj_evaluator_lanes(evaluator, i), lanes * sizeof *s->value);
  return true;
}

/* False where they depend on more than the work-item. */
static bool find_values(swizzler *s) {
  tj_job *job = s->graph->job;
  const tj_bindings none = {TJ_NEW_ARRAY(job, int64_t, s->graph->symbol_count + 1),
                            TJ_NEW_ARRAY(job, bool, s->graph->symbol_count + 1), s->graph->symbol_count};
  tj_evaluator *evaluator;
  s->value = tj_arena_raw(&job->arena, (size_t)s->rests * s->items, sizeof *s->value);
  tj_spend(job, (uint64_t)(s->rests + s->count) * s->items);
  if (tj_evaluator_create(s->rest, s->rests, &evaluator) != TJ_EVAL_OK)
    tj_fail_out_of_memory(job);
  bool is_known = true;
  for (uint32_t first = 0; first < s->items && is_known; first += TJ_EVAL_LANES)
    is_known = find_some(s, evaluator, &none, first);
  tj_evaluator_destroy(evaluator);
  return is_known;
}

/* --- classes --- */

static int64_t begin_of(const swizzler *s, uint32_t number) {
  return tj_swizzle_at(s->swizzle, s->value[(size_t)s->number[number] * s->items] + s->place[number].constant);
}

/* By work-item, how far a swizzled place is from that of work-item 0; a number for all of it. */
static uint64_t find_distances(const swizzler *s, uint32_t number, int64_t distance[]) {
  const int64_t *value = s->value + (size_t)s->number[number] * s->items, begin = begin_of(s, number);
  uint64_t key = 0;
  for (uint32_t i = 0; i < s->items; i++) {
    distance[i] = tj_swizzle_at(s->swizzle, value[i] + s->place[number].constant) - begin;
    key = tj_key_mix(key, (uint64_t)distance[i]);
  }
  return key;
}

/* By place, the class; returns how many there are. Places of one number that differ have classes of their own. */
static uint32_t find_classes(const swizzler *s, place_class class[], uint32_t of_place[]) {
  tj_job *job = s->graph->job;
  tj_keys keys = tj_keys_make(job);
  uint32_t *of_key = TJ_NEW_ARRAY(job, uint32_t, s->count + 1), classes = 0;
  int64_t *distance = tj_arena_raw(&job->arena, s->items, sizeof *distance);
  for (uint32_t i = 0; i < s->count; i++) {
    const uint32_t known = keys.count, key = tj_key_number(&keys, find_distances(s, i, distance));
    const int64_t begin = begin_of(s, i);
    place_class *same = &class[of_key[key]];
    if (key == known || memcmp(same->distance, distance, s->items * sizeof *distance) != 0) {
      of_key[key] = classes;
      same = &class[classes++];
      *same = (place_class){i, begin, tj_arena_copy(&job->arena, distance, s->items * sizeof *distance)};
    }
    of_place[i] = (uint32_t)(same - class);
    if (begin < same->begin) {
      same->first = i;
      same->begin = begin;
    }
  }
  return classes;
}

/* --- expressions --- */

static const tj_node *swizzled(const swizzler *s, uint32_t number) {
  const tj_parted_sum place = s->place[number];
  return tj_swizzle_apply(s->graph, s->swizzle, tj_simple_plus(s->graph, place.rest, place.constant));
}

/* Simplifies expressions that share much: each by itself, or all together, whatever takes fewer operations. */
static void simplify_shared(tj_graph *graph, const tj_node *node[], uint32_t count) {
  const tj_node **each = tj_arena_copy(&graph->job->arena, node, count * sizeof *node);
  for (uint32_t i = 0; i < count; i++)
    each[i] = tj_simplified(graph, each[i]);
  tj_simplify(graph, node, count, NULL);
  const tj_op_counts together = tj_count_ops(graph, node, count), apart = tj_count_ops(graph, each, count);
  if (tj_is_costlier(&together, &apart))
    memcpy(node, each, count * sizeof *node);
}

/* Each place is a class of its own. */
static uint32_t tell_apart(const swizzler *s, place_class class[], uint32_t of_place[]) {
  for (uint32_t i = 0; i < s->count; i++) {
    class[i].first = i;
    of_place[i] = i;
  }
  return s->count;
}

const tj_parted_sum *tj_swizzled_places(tj_graph *graph, tj_swizzle swizzle, const tj_parted_sum place[],
                                        uint32_t count, const tj_node *item, uint32_t items) {
  swizzler s = {.graph = graph, .swizzle = swizzle, .place = place, .count = count, .item = item, .items = items};
  place_class *class = TJ_NEW_ARRAY(graph->job, place_class, count + 1);
  uint32_t *of_place = TJ_NEW_ARRAY(graph->job, uint32_t, count + 1);
  tj_parted_sum *result = TJ_NEW_ARRAY(graph->job, tj_parted_sum, count + 1);
  const tj_node **first = TJ_NEW_ARRAY(graph->job, const tj_node *, count + 1);
  list_rests(&s);
  const bool is_known = find_values(&s);
  const uint32_t classes = (is_known ? find_classes : tell_apart)(&s, class, of_place);
  for (uint32_t i = 0; i < classes; i++)
    first[i] = swizzled(&s, class[i].first);
  simplify_shared(graph, first, classes);
  for (uint32_t i = 0; i < count; i++) {
    result[i] = tj_part_value(graph, first[of_place[i]]);
    result[i].constant += is_known ? begin_of(&s, i) - class[of_place[i]].begin : 0;
  }
  return result;
}
