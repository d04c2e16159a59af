/* SPDX-License-Identifier: MIT */
/* Classes of places in LDS that are constants apart, or have bits flipped, by their values for all work-items. */
#include "lower/tile/lds_places.h"

#include "base/number/keys.h"
#include "ir/index/cost.h"
#include "ir/index/values.h"
#include "ir/simplify/simplify.h"

#include <stdlib.h>
#include <string.h>

/* Places that differ by multiples of the period, before the swizzle and behind it. */
typedef struct {
  uint32_t rest; /* number of what they are without constants */
  int64_t constant;
} place_kind;

typedef struct {
  tj_graph *graph;
  tj_swizzle swizzle;
  int64_t period; /* places that are so far apart the swizzle has as far apart */
  const tj_parted_sum *place;
  uint32_t count;
  uint32_t items;
  const tj_node **rest; /* of places, each once */
  uint32_t rests;
  place_kind *kind;
  uint32_t kinds;
  uint32_t *of_place;   /* the number of its kind */
  const int64_t *value; /* of the first rest by work-item, then of the next; NULL: they depend on more */
} placer;

/* Kinds that are constants apart for all work-items. */
typedef struct {
  uint32_t first;          /* of their places, the one that begins first, */
  int64_t begin;           /* for work-item 0 */
  const int64_t *distance; /* from there, by work-item */
  uint32_t like;           /* the class whose places these are but for bits: itself, or another one, */
  int64_t flipped;         /* and which bits, of those that differ between work-items */
} place_class;

/* --- kinds --- */

static int64_t period_of(tj_swizzle swizzle) {
  return swizzle.bits == 0 ? 1 : INT64_C(1) << (swizzle.base + abs(swizzle.shift) + swizzle.bits);
}

static int64_t within_period(const placer *p, int64_t constant) {
  const int64_t rest = constant % p->period;
  return rest < 0 ? rest + p->period : rest;
}

static void list_kinds(placer *p) {
  tj_keys rests = tj_keys_make(p->graph->job), kinds = tj_keys_make(p->graph->job);
  p->rest = TJ_RAW_ARRAY(p->graph->job, const tj_node *, p->count + 1);
  p->kind = TJ_RAW_ARRAY(p->graph->job, place_kind, p->count + 1);
  p->of_place = TJ_RAW_ARRAY(p->graph->job, uint32_t, p->count + 1);
  for (uint32_t i = 0; i < p->count; i++) {
    const tj_parted_sum *place = &p->place[i];
    const place_kind kind = {tj_key_number(&rests, tj_key_mix(0, place->rest->id)),
                             within_period(p, place->constant)};
    p->rest[kind.rest] = place->rest;
    p->of_place[i] = tj_key_number(&kinds, tj_key_mix(tj_key_mix(0, kind.rest), (uint64_t)kind.constant));
    p->kind[p->of_place[i]] = kind;
  }
  p->rests = rests.count;
  p->kinds = kinds.count;
}

/* --- classes --- */

/* Where a place begins for work-item 0. */
static int64_t begin_of(const placer *p, uint32_t number) {
  const int64_t *value = p->value + (size_t)p->kind[p->of_place[number]].rest * p->items;
  return tj_swizzle_at(p->swizzle, *value + p->place[number].constant);
}

/* By work-item, how far places of a kind are from that of work-item 0; a number for all of it. */
static uint64_t find_distances(const placer *p, const place_kind *kind, int64_t distance[]) {
  const int64_t *value = p->value + (size_t)kind->rest * p->items,
                begin = tj_swizzle_at(p->swizzle, value[0] + kind->constant);
  uint64_t key = 0;
  for (uint32_t i = 0; i < p->items; i++) {
    distance[i] = tj_swizzle_at(p->swizzle, value[i] + kind->constant) - begin;
    key = tj_key_mix(key, (uint64_t)distance[i]);
  }
  return key;
}

/* By kind, the class; returns how many there are. Kinds of one number that differ have classes of their own. */
static uint32_t find_classes(const placer *p, place_class class[], uint32_t of_kind[]) {
  tj_job *job = p->graph->job;
  tj_keys keys = tj_keys_make(job);
  uint32_t *of_key = TJ_RAW_ARRAY(job, uint32_t, p->kinds + 1), classes = 0;
  int64_t *distance = tj_arena_raw(&job->arena, p->items, sizeof *distance);
  for (uint32_t i = 0; i < p->kinds; i++) {
    const uint32_t known = keys.count, key = tj_key_number(&keys, find_distances(p, &p->kind[i], distance));
    if (key == known || memcmp(class[of_key[key]].distance, distance, p->items * sizeof *distance) != 0) {
      of_key[key] = classes;
      class[classes++] = (place_class){.begin = INT64_MAX,
                                       .distance = tj_arena_copy(&job->arena, distance, p->items * sizeof *distance)};
    }
    of_kind[i] = of_key[key];
  }
  return classes;
}

/* Finds the first place of each class. */
static void find_first(const placer *p, place_class class[], const uint32_t of_kind[]) {
  for (uint32_t i = 0; i < p->count; i++) {
    place_class *c = &class[of_kind[p->of_place[i]]];
    if (begin_of(p, i) >= c->begin)
      continue;
    c->first = i;
    c->begin = begin_of(p, i);
  }
}

/* Bits in which places of a class differ between work-items; a number for how they do. */
static int64_t bits_of(const placer *p, const place_class *c, uint64_t *key) {
  int64_t bits = 0;
  *key = 0;
  for (uint32_t i = 0; i < p->items; i++) {
    const int64_t differing = (c->begin + c->distance[i]) ^ c->begin;
    bits |= differing;
    *key = tj_key_mix(*key, (uint64_t)differing);
  }
  return bits;
}

static bool differ_alike(const placer *p, const place_class *a, const place_class *b) {
  bool are = true;
  for (uint32_t i = 0; i < p->items && are; i++)
    are = ((a->begin + a->distance[i]) ^ a->begin) == ((b->begin + b->distance[i]) ^ b->begin);
  return are;
}

/* By class, the first one whose places differ alike. */
static uint32_t *find_alike(const placer *p, const place_class class[], uint32_t classes, int64_t bits[]) {
  tj_keys keys = tj_keys_make(p->graph->job);
  uint32_t *of_key = TJ_RAW_ARRAY(p->graph->job, uint32_t, classes + 1),
           *alike = TJ_RAW_ARRAY(p->graph->job, uint32_t, classes + 1);
  for (uint32_t i = 0; i < classes; i++) {
    uint64_t key;
    bits[i] = bits_of(p, &class[i], &key);
    const uint32_t known = keys.count, number = tj_key_number(&keys, key);
    const bool is_known = number < known;
    alike[i] = is_known && differ_alike(p, &class[of_key[number]], &class[i]) ? of_key[number] : i;
    of_key[number] = is_known ? of_key[number] : i;
  }
  return alike;
}

/* Has classes be others whose bits are flipped: of those that differ alike, the one that begins first but for the
 * bits in which they do. Exclusive ors are linear. */
static void find_flipped(const placer *p, place_class class[], uint32_t classes) {
  int64_t *bits = TJ_RAW_ARRAY(p->graph->job, int64_t, classes + 1);
  uint32_t *first = TJ_NEW_ARRAY(p->graph->job, uint32_t, classes + 1);
  const uint32_t *alike = find_alike(p, class, classes, bits);
  for (uint32_t i = 0; i < classes; i++) {
    uint32_t *of_them = &first[alike[i]];
    if (alike[i] == i || (class[i].begin & ~bits[i]) < (class[*of_them].begin & ~bits[i]))
      *of_them = i;
  }
  for (uint32_t i = 0; i < classes; i++) {
    class[i].like = first[alike[i]];
    class[i].flipped = (class[class[i].like].begin ^ class[i].begin) & bits[i];
  }
}

/* --- expressions --- */

static const tj_node *swizzled(const placer *p, uint32_t number) {
  return tj_swizzle_apply(p->graph, p->swizzle, tj_whole_value(p->graph, p->place[number]));
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

/* One expression for all classes that are alike, and one operation for each other one of them. */
static const tj_node **expressions_of(const placer *p, const place_class class[], uint32_t classes) {
  tj_graph *graph = p->graph;
  const tj_node **expression = TJ_RAW_ARRAY(graph->job, const tj_node *, classes + 1),
                **own = TJ_RAW_ARRAY(graph->job, const tj_node *, classes + 1);
  uint32_t *number = TJ_RAW_ARRAY(graph->job, uint32_t, classes + 1), owners = 0;
  for (uint32_t i = 0; i < classes; i++) {
    if (class[i].like != i)
      continue;
    number[i] = owners;
    own[owners++] = swizzled(p, class[i].first);
  }
  simplify_shared(graph, own, owners);
  for (uint32_t i = 0; i < classes; i++) {
    const tj_node *like = own[number[class[i].like]];
    expression[i] = class[i].flipped == 0 ? like : tj_xor(graph, like, tj_int(graph, class[i].flipped));
  }
  return expression;
}

/* Where an expression is for work-item 0. */
static int64_t begin_of_expression(const place_class class[], uint32_t number) {
  const place_class *c = &class[number];
  return class[c->like].begin ^ c->flipped;
}

/* One expression a class, and constants. */
static void place_by_class(const placer *p, tj_parted_sum result[]) {
  tj_job *job = p->graph->job;
  place_class *class = TJ_RAW_ARRAY(job, place_class, p->kinds + 1);
  uint32_t *of_kind = TJ_RAW_ARRAY(job, uint32_t, p->kinds + 1);
  const uint32_t classes = find_classes(p, class, of_kind);
  find_first(p, class, of_kind);
  find_flipped(p, class, classes);
  const tj_node *const *expression = expressions_of(p, class, classes);
  for (uint32_t i = 0; i < p->count; i++) {
    const uint32_t number = of_kind[p->of_place[i]];
    result[i] = tj_part_value(p->graph, expression[number]);
    result[i].constant += begin_of(p, i) - begin_of_expression(class, number);
  }
}

static void place_each(const placer *p, tj_parted_sum result[]) {
  const tj_node **node = TJ_RAW_ARRAY(p->graph->job, const tj_node *, p->count + 1);
  for (uint32_t i = 0; i < p->count; i++)
    node[i] = swizzled(p, i);
  simplify_shared(p->graph, node, p->count);
  for (uint32_t i = 0; i < p->count; i++)
    result[i] = tj_part_value(p->graph, node[i]);
}

const tj_parted_sum *tj_places_in_lds(tj_graph *graph, tj_swizzle swizzle, const tj_parted_sum place[],
                                      uint32_t count, const tj_node *item, uint32_t items) {
  placer p = {.graph = graph,
              .swizzle = swizzle,
              .period = period_of(swizzle),
              .place = place,
              .count = count,
              .items = items};
  tj_parted_sum *result = TJ_RAW_ARRAY(graph->job, tj_parted_sum, count + 1);
  list_kinds(&p);
  p.value = tj_values_along(graph, p.rest, p.rests, item, items);
  tj_spend(graph->job, (uint64_t)p.kinds * items);
  (p.value != NULL ? place_by_class : place_each)(&p, result);
  return result;
}
