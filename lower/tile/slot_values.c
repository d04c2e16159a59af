/* SPDX-License-Identifier: MIT */
/* Slots by what an expression has to be simplified for: along modes where constants of coordinates add the same
 * everywhere, that is the coordinates without these. */
#include "lower/tile/slot_values.h"

#include "base/number/keys.h"
#include "ir/index/linear.h"
#include "ir/index/substitute.h"
#include "ir/simplify/simplify.h"
#include "lower/tile/mode_use.h"

/* --- constants --- */

tj_parted_sum tj_part_value(tj_graph *graph, const tj_node *simple) {
  return tj_is_constant(simple) ? (tj_parted_sum){tj_int(graph, 0), simple->value} : tj_part_sum(simple);
}

bool tj_is_plainly_beyond(tj_parted_sum value, tj_parted_sum other, int64_t distance) {
  int64_t apart;
  return value.rest == other.rest && !__builtin_sub_overflow(value.constant, other.constant, &apart) &&
         apart == distance;
}

static bool is_small(tj_parted_sum offset) {
  enum { MOST_BYTES = 16 /* of an element */ };
  const tj_facts *rest = &offset.rest->facts;
  return (__int128)rest->low + offset.constant >= 0 &&
         (__int128)rest->high + offset.constant <= UINT32_MAX / MOST_BYTES;
}

bool tj_are_small(const tj_parted_sum offset[], uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (!is_small(offset[i]))
      return false;
  }
  return true;
}

/* Constants lead where all terms are negative, which what is not below 0 has not. */
const tj_node *tj_simple_plus(tj_graph *graph, const tj_node *simple, int64_t constant) {
  const tj_parted_sum sum = tj_part_value(graph, simple);
  int64_t end;
  if (constant == 0)
    return simple;
  if (__builtin_add_overflow(sum.constant, constant, &end) || sum.rest->facts.low < 0)
    return tj_simplified(graph, tj_add(graph, simple, tj_int(graph, constant)));
  return end == 0 ? sum.rest : tj_add(graph, sum.rest, tj_int(graph, end));
}

const tj_node *tj_whole_value(tj_graph *graph, tj_parted_sum part) {
  return tj_simple_plus(graph, part.rest, part.constant);
}

/* --- coordinates --- */

/* An expression at slots. */
typedef struct {
  tj_graph *graph;
  const tj_slot_digits *at;
  const tj_node *any;
  tj_mode_use *use;
  uint32_t used;         /* modes */
  const tj_node **base;  /* by slot and used mode: the coordinate for which the expression is simplified */
  int64_t *displacement; /* by slot: what comes to it */
} evaluation;

static int64_t most_along(const tj_slot_digits *at, uint32_t mode) {
  int64_t most = 0;
  for (uint32_t slot = 0; slot < at->slots; slot++)
    most = at->digit[slot][mode]->facts.high > most ? at->digit[slot][mode]->facts.high : most;
  return most;
}

/* Takes constants out of the coordinates along a used mode; false where a displacement overflows. */
static bool displace_along(const evaluation *e, uint32_t number) {
  const tj_mode_use *use = &e->use[number];
  const tj_node *known = NULL, *base = NULL;
  int64_t added = 0;
  bool is_held = true;
  for (uint32_t slot = 0; slot < e->at->slots && is_held; slot++) {
    const tj_node *digit = e->at->digit[slot][use->mode];
    const tj_parted_sum parts = tj_part_value(e->graph, digit);
    if (digit != known) {
      const bool comes_out = tj_mode_adds(use, parts, &added);
      base = comes_out ? parts.rest : digit;
      added = comes_out ? added : 0;
      known = digit;
    }
    e->base[slot * e->used + number] = base;
    is_held = !__builtin_add_overflow(e->displacement[slot], added, &e->displacement[slot]);
  }
  return is_held;
}

/* Leaves all coordinates as they are. */
static void place(const evaluation *e) {
  for (uint32_t slot = 0; slot < e->at->slots; slot++) {
    e->displacement[slot] = 0;
    for (uint32_t i = 0; i < e->used; i++)
      e->base[slot * e->used + i] = e->at->digit[slot][e->use[i].mode];
  }
}

/* Constants stay where they are if some are too large to come out. */
static void displace(const evaluation *e) {
  bool is_held = true;
  for (uint32_t i = 0; i < e->used && is_held; i++)
    is_held = displace_along(e, i);
  if (!is_held)
    place(e);
}

static evaluation evaluation_of(tj_graph *graph, const tj_slot_digits *at, const tj_node *any) {
  evaluation e = {graph, at, any, TJ_RAW_ARRAY(graph->job, tj_mode_use, at->modes + 1), 0, NULL, NULL};
  for (uint32_t m = 0; m < at->modes; m++) {
    if (tj_may_mention(any, at->symbol[m]))
      e.use[e.used++] = tj_mode_use_of(graph, any, at->symbol[m], m, most_along(at, m));
  }
  e.base = TJ_RAW_ARRAY(graph->job, const tj_node *, (size_t)at->slots *e.used + 1);
  e.displacement = TJ_NEW_ARRAY(graph->job, int64_t, at->slots + 1);
  displace(&e);
  return e;
}

/* --- slots --- */

static bool is_as_before(const evaluation *e, uint32_t slot) {
  const tj_node **base = e->base + (size_t)slot * e->used;
  bool is_same = slot > 0;
  for (uint32_t i = 0; i < e->used && is_same; i++)
    is_same = base[i] == (base - e->used)[i];
  return is_same;
}

/* A number for the coordinates for which the expression is simplified: the same for the same, and for no others,
 * since each key is a number and a node, and no more than 64 bits. */
static uint32_t class_of(const evaluation *e, tj_keys *keys, uint32_t slot) {
  uint32_t number = 0;
  for (uint32_t i = 0; i < e->used; i++)
    number = tj_key_number(keys, tj_key_mix(0, (uint64_t)number << 32 | e->base[slot * e->used + i]->id));
  return number;
}

static const tj_node *at_base(const evaluation *e, uint32_t slot) {
  const tj_node **symbol = TJ_RAW_ARRAY(e->graph->job, const tj_node *, e->used + 1), *value = e->any;
  for (uint32_t i = 0; i < e->used; i++)
    symbol[i] = e->at->symbol[e->use[i].mode];
  tj_substitute(e->graph, &(tj_substitution){symbol, e->base + slot * e->used, e->used}, &value, 1);
  return value;
}

/* What slots have: of expressions that they share, which one, and the constant that comes to it. */
typedef struct {
  const tj_node **base;
  uint32_t count; /* of them */
  uint32_t *number;
  int64_t *displacement;
  uint32_t slots;
} shared_values;

static shared_values values_of(tj_job *job, uint32_t slots, int64_t displacement[]) {
  return (shared_values){TJ_RAW_ARRAY(job, const tj_node *, slots + 1), 0, TJ_RAW_ARRAY(job, uint32_t, slots + 1),
                         displacement, slots};
}

/* By slot. */
static tj_parted_sum *put_together(tj_graph *graph, const shared_values *all) {
  tj_parted_sum *value = TJ_RAW_ARRAY(graph->job, tj_parted_sum, all->slots + 1),
                *base = TJ_RAW_ARRAY(graph->job, tj_parted_sum, all->count + 1);
  tj_simplify(graph, all->base, all->count, NULL);
  for (uint32_t i = 0; i < all->count; i++)
    base[i] = tj_part_value(graph, all->base[i]);
  for (uint32_t slot = 0; slot < all->slots; slot++) {
    const uint32_t number = all->number[slot];
    value[slot] = base[number];
    if (__builtin_add_overflow(base[number].constant, all->displacement[slot], &value[slot].constant))
      value[slot] = tj_part_value(graph, tj_simple_plus(graph, all->base[number], all->displacement[slot]));
  }
  return value;
}

/* As expressions; each is looked for once. */
static const tj_node **joined(tj_graph *graph, const tj_parted_sum part[], uint32_t slots) {
  const tj_node **value = TJ_RAW_ARRAY(graph->job, const tj_node *, slots + 1),
                **known = TJ_NEW_ARRAY(graph->job, const tj_node *, slots + 1);
  tj_keys sums = tj_keys_make(graph->job);
  for (uint32_t slot = 0; slot < slots; slot++) {
    if (slot > 0 && tj_is_plainly_beyond(part[slot], part[slot - 1], 0)) {
      value[slot] = value[slot - 1];
      continue;
    }
    const uint32_t sum =
        tj_key_number(&sums, tj_key_mix(tj_key_mix(0, part[slot].rest->id), (uint64_t)part[slot].constant));
    if (known[sum] == NULL)
      known[sum] = tj_whole_value(graph, part[slot]);
    value[slot] = known[sum];
  }
  return value;
}

/* The expression as it is, where no coordinate is in it. */
static tj_parted_sum *at_all_slots(const evaluation *e) {
  tj_parted_sum *value = TJ_RAW_ARRAY(e->graph->job, tj_parted_sum, e->at->slots + 1);
  for (uint32_t slot = 0; slot < e->at->slots; slot++)
    value[slot] = tj_part_value(e->graph, e->any);
  return value;
}

tj_parted_sum *tj_parts_at_slots(tj_graph *graph, const tj_slot_digits *at, const tj_node *any) {
  tj_job *job = graph->job;
  const evaluation e = evaluation_of(graph, at, any);
  if (e.used == 0)
    return at_all_slots(&e);
  shared_values all = values_of(job, at->slots, e.displacement);
  tj_keys keys = tj_keys_make(job), classes = tj_keys_make(job);
  for (uint32_t slot = 0; slot < at->slots; slot++) {
    all.number[slot] = is_as_before(&e, slot) ? all.number[slot - 1]
                                              : tj_key_number(&classes, tj_key_mix(0, class_of(&e, &keys, slot)));
    if (all.number[slot] == all.count)
      all.base[all.count++] = at_base(&e, slot);
  }
  return put_together(graph, &all);
}

const tj_node **tj_at_slots(tj_graph *graph, const tj_slot_digits *at, const tj_node *any) {
  return joined(graph, tj_parts_at_slots(graph, at, any), at->slots);
}

tj_parted_sum *tj_parts_minus(tj_graph *graph, const tj_parted_sum value[], uint32_t slots, const tj_node *less) {
  shared_values all = values_of(graph->job, slots, TJ_RAW_ARRAY(graph->job, int64_t, slots + 1));
  tj_keys rests = tj_keys_make(graph->job);
  for (uint32_t slot = 0; slot < slots; slot++) {
    all.number[slot] = tj_key_number(&rests, tj_key_mix(0, value[slot].rest->id));
    all.displacement[slot] = value[slot].constant;
    if (all.number[slot] == all.count)
      all.base[all.count++] = tj_sub(graph, value[slot].rest, less);
  }
  return put_together(graph, &all);
}
