/* SPDX-License-Identifier: MIT */
/* The rules of structural simplification, one function each.
 *
 * A rule must keep the value of dimension 0 for every coordinate in the visible dimensions, and the conjunction of
 * the pads' predicates. It may rely on a range of a hidden index only where the facts of its expression show that
 * range. Every rule makes less of something: nodes, digits of merges, or what stands below a merge; so the engine
 * ends.
 *
 * How to add a rule: a function here, with a row in the table at the end, which is in the order of trial; a case in
 * tests/unit/ir/view/test_structure.c. */
#include "ir/layout/arith.h"
#include "ir/view/structure_graph.h"

/* --- small steps --- */

static tj_structure_node *user_of(tj_structure *self, uint32_t dimension) {
  uint32_t node = self->dimension[dimension].used_by;
  return node == TJ_NO_NODE ? NULL : self->node[node];
}

static tj_structure_node *maker_of(tj_structure *self, uint32_t dimension) {
  uint32_t node = self->dimension[dimension].made_by;
  return node == TJ_NO_NODE ? NULL : self->node[node];
}

static const tj_node *zero(tj_structure *self) {
  return tj_int(self->graph, 0);
}

static bool is_below(tj_structure *self, const tj_node *value, const tj_node *bound) {
  return tj_decide_less(self->graph, value, bound) == TJ_YES;
}

static bool is_not_negative(tj_structure *self, const tj_node *value) {
  return tj_decide_less_equal(self->graph, zero(self), value) == TJ_YES;
}

static bool lies_within(tj_structure *self, const tj_node *value, const tj_node *bound) {
  return is_not_negative(self, value) && is_below(self, value, bound);
}

static bool is_always_zero(tj_structure *self, uint32_t dimension) {
  const tj_facts *facts = &self->dimension[dimension].index->facts;
  return facts->low == 0 && facts->high == 0;
}

static bool divides(tj_structure *self, const tj_node *divisor, const tj_node *value) {
  if (tj_decide_less(self->graph, zero(self), divisor) != TJ_YES)
    return false;
  return tj_decide_divides(self->graph, divisor, value) == TJ_YES;
}

static uint32_t place_of(const uint32_t dimensions[], uint32_t count, uint32_t dimension) {
  uint32_t place = 0;
  while (place < count && dimensions[place] != dimension)
    place++;
  return place;
}

static void kill(tj_structure_node *node) {
  node->dead = true;
}

/* Whoever used `old` uses `new`, which nobody else uses any more. */
static void put_in_place(tj_structure *self, uint32_t old, uint32_t new) {
  uint32_t user = self->dimension[old].used_by;
  tj_structure_node *node = self->node[user];
  node->upper[place_of(node->upper, node->upper_count, old)] = new;
  self->dimension[new].used_by = user;
  self->dimension[old].used_by = TJ_NO_NODE;
}

static void remove_upper(tj_structure_node *node, uint32_t place) {
  for (uint32_t i = place; i + 1 < node->upper_count; i++) {
    node->upper[i] = node->upper[i + 1];
    node->number[i] = node->number[i + 1];
  }
  node->upper_count--;
}

/* As tj_structure_upper, but at a place among the terms of a sum. */
static void insert_upper(tj_structure *self, uint32_t number, uint32_t place, uint32_t dimension,
                         const tj_node *factor) {
  tj_structure_upper(self, number, dimension, factor);
  tj_structure_node *node = self->node[number];
  for (uint32_t i = node->upper_count - 1; i > place; i--) {
    node->upper[i] = node->upper[i - 1];
    node->number[i] = node->number[i - 1];
  }
  node->upper[place] = dimension;
  node->number[place] = factor;
}

static void remove_lower(tj_structure_node *node, uint32_t place) {
  for (uint32_t i = place; i + 1 < node->lower_count; i++) {
    node->lower[i] = node->lower[i + 1];
    node->number[i] = node->number[i + 1];
  }
  node->lower_count--;
}

/* A visible dimension that nothing needs. */
static void leave_unused(tj_structure *self, uint32_t dimension) {
  uint32_t node = tj_structure_add_node(self, TJ_STAGE_UNUSED);
  tj_structure_upper(self, node, dimension, NULL);
}

static uint32_t make_affine(tj_structure *self, uint32_t lower, const tj_node *constant) {
  uint32_t node = tj_structure_add_node(self, TJ_STAGE_AFFINE);
  self->node[node]->constant = constant;
  tj_structure_lower(self, node, lower);
  return node;
}

/* --- sums --- */

/* A sum into the sum below it: embed of embed, offsets, slices, pass_through, freeze. */
static bool sum_into_sum(tj_structure *self, uint32_t number) {
  tj_graph *graph = self->graph;
  tj_structure_node *above = self->node[number], *below = user_of(self, above->lower[0]);
  if (below == NULL || below->kind != TJ_STAGE_AFFINE || below->upper_count + above->upper_count > TJ_MAX_DIMENSIONS)
    return false;
  uint32_t user = self->dimension[above->lower[0]].used_by;
  uint32_t place = place_of(below->upper, below->upper_count, above->lower[0]);
  const tj_node *factor = below->number[place];
  remove_upper(below, place);
  below->constant = tj_terse_add(graph, below->constant, tj_terse_mul(graph, factor, above->constant));
  for (uint32_t i = 0; i < above->upper_count; i++)
    insert_upper(self, user, place + i, above->upper[i], tj_terse_mul(graph, factor, above->number[i]));
  kill(above);
  return true;
}

/* A sum of one term with nothing to it, above anything else: pass_through. */
static bool pass_through(tj_structure *self, uint32_t number) {
  tj_structure_node *node = self->node[number];
  bool plain = node->upper_count == 1 && tj_is_int(node->number[0], 1) && tj_is_int(node->constant, 0);
  if (!plain || user_of(self, node->lower[0]) == NULL)
    return false;
  put_in_place(self, node->lower[0], node->upper[0]);
  kill(node);
  return true;
}

/* A visible dimension that adds nothing: of length 1, or times 0. */
static bool term_of_nothing(tj_structure *self, uint32_t number) {
  tj_structure_node *node = self->node[number];
  for (uint32_t i = 0; i < node->upper_count; i++) {
    uint32_t dimension = node->upper[i];
    bool is_visible = self->dimension[dimension].made_by == TJ_NO_NODE;
    if (!is_visible || !(is_always_zero(self, dimension) || tj_is_int(node->number[i], 0)))
      continue;
    remove_upper(node, i);
    leave_unused(self, dimension);
    return true;
  }
  return false;
}

/* --- pads --- */

static bool pads_low(const tj_structure_node *node) {
  return node->transform->kind != TJ_TRANSFORM_RIGHT_PAD;
}

static bool pads_high(const tj_structure_node *node) {
  return node->transform->kind != TJ_TRANSFORM_LEFT_PAD;
}

static const tj_node *pad_before(tj_structure *self, const tj_structure_node *node) {
  return pads_low(node) ? node->transform->amount[0] : zero(self);
}

/* A pad whose predicate always holds: an offset. */
static bool pad_always_valid(tj_structure *self, uint32_t number) {
  tj_structure_node *node = self->node[number];
  const tj_node *before = pad_before(self, node);
  const tj_node *lower = tj_terse_sub(self->graph, self->dimension[node->upper[0]].index, before);
  if (pads_low(node) && !is_not_negative(self, lower))
    return false;
  if (pads_high(node) && !is_below(self, lower, node->transform->lower_length[0]))
    return false;
  node->kind = TJ_STAGE_AFFINE;
  node->constant = tj_terse_sub(self->graph, zero(self), before);
  node->number[0] = tj_int(self->graph, 1);
  return true;
}

static const tj_transform *pad_of(tj_structure *self, const tj_node *length, const tj_node *before,
                                  const tj_node *after) {
  const tj_tuple *args[] = {tj_tuple_integer(self->graph, length), tj_tuple_integer(self->graph, before),
                            tj_tuple_integer(self->graph, after)};
  return tj_transform_make(self->graph, TJ_TRANSFORM_PAD, args, 3);
}

/* A pad on a pad, both on both sides: one pad of both amounts. What the upper one refuses, the lower one refuses too,
 * unless slices have cut away its end. */
static bool pad_into_pad(tj_structure *self, uint32_t number) {
  tj_structure_node *above = self->node[number], *below = user_of(self, above->lower[0]);
  bool both = below != NULL && below->kind == TJ_STAGE_PAD && above->transform->kind == TJ_TRANSFORM_PAD &&
              below->transform->kind == TJ_TRANSFORM_PAD;
  if (!both)
    return false;
  const tj_node *reach = tj_terse_add(self->graph, below->transform->lower_length[0], below->transform->amount[0]);
  if (tj_decide_less_equal(self->graph, reach, above->transform->lower_length[0]) != TJ_YES)
    return false;
  const tj_node *before = tj_terse_add(self->graph, above->transform->amount[0], below->transform->amount[0]);
  const tj_node *after = tj_terse_add(self->graph, above->transform->amount[1], below->transform->amount[1]);
  below->transform = pad_of(self, below->transform->lower_length[0], before, after);
  put_in_place(self, above->lower[0], above->upper[0]);
  kill(above);
  return true;
}

/* An offset on a pad that it does not exceed: a smaller pad. */
static bool offset_into_pad(tj_structure *self, uint32_t number) {
  tj_structure_node *above = self->node[number], *below = user_of(self, above->lower[0]);
  bool is_offset = above->upper_count == 1 && tj_is_int(above->number[0], 1);
  if (!is_offset || below == NULL || below->kind != TJ_STAGE_PAD || below->transform->kind != TJ_TRANSFORM_PAD)
    return false;
  const tj_node *before = tj_terse_sub(self->graph, below->transform->amount[0], above->constant);
  if (!is_not_negative(self, before))
    return false;
  below->transform = pad_of(self, below->transform->lower_length[0], before, zero(self));
  put_in_place(self, above->lower[0], above->upper[0]);
  kill(above);
  return true;
}

/* --- merges --- */

/* A merge of one dimension is that dimension. */
static bool merge_of_one(tj_structure *self, uint32_t number) {
  tj_structure_node *node = self->node[number];
  if (node->lower_count != 1)
    return false;
  node->kind = TJ_STAGE_AFFINE;
  node->constant = zero(self);
  node->number[0] = tj_int(self->graph, 1);
  return true;
}

static const tj_node *product_of(tj_structure *self, const tj_node *const lengths[], uint32_t count) {
  const tj_node *product = tj_int(self->graph, 1);
  for (uint32_t i = 0; i < count; i++)
    product = tj_terse_mul(self->graph, product, lengths[i]);
  return product;
}

/* A digit that is merged on: its digits stand in its place. They must multiply to its length, but for the first. */
static bool merge_into_merge(tj_structure *self, uint32_t number) {
  tj_structure_node *below = self->node[number], *above = maker_of(self, below->upper[0]);
  if (above == NULL || above->kind != TJ_STAGE_MERGE || above->lower_count + below->lower_count > TJ_MAX_DIMENSIONS)
    return false;
  uint32_t place = place_of(above->lower, above->lower_count, below->upper[0]);
  const tj_node *length = product_of(self, below->number, below->lower_count);
  if (place > 0 && !tj_surely_equal(self->graph, above->number[place], length))
    return false;
  tj_structure_node flat = *above;
  flat.lower_count = 0;
  for (uint32_t i = 0; i < above->lower_count; i++) {
    const tj_structure_node *from = i == place ? below : above;
    uint32_t first = i == place ? 0 : i, count = i == place ? below->lower_count : 1;
    for (uint32_t k = first; k < first + count; k++) {
      flat.number[flat.lower_count] = from->number[k];
      flat.lower[flat.lower_count++] = from->lower[k];
    }
  }
  for (uint32_t i = 0; i < below->lower_count; i++)
    self->dimension[below->lower[i]].made_by = self->dimension[below->upper[0]].made_by;
  *above = flat;
  kill(below);
  return true;
}

/* Two neighbouring digits whose strides in the sum below are contiguous: one digit. */
static bool contiguous_digits(tj_structure *self, uint32_t number) {
  tj_graph *graph = self->graph;
  tj_structure_node *node = self->node[number];
  for (uint32_t i = 0; i + 1 < node->lower_count; i++) {
    uint32_t high = node->lower[i], low = node->lower[i + 1];
    uint32_t user = self->dimension[low].used_by;
    if (user == TJ_NO_NODE || user != self->dimension[high].used_by || self->node[user]->kind != TJ_STAGE_AFFINE)
      continue;
    tj_structure_node *sum = self->node[user];
    const tj_node *stride = sum->number[place_of(sum->upper, sum->upper_count, low)];
    const tj_node *high_stride = sum->number[place_of(sum->upper, sum->upper_count, high)];
    if (!tj_surely_equal(graph, high_stride, tj_terse_mul(graph, stride, node->number[i + 1])))
      continue;
    const tj_node *length = tj_terse_mul(graph, node->number[i], node->number[i + 1]);
    const tj_node *index = tj_terse_add(graph, tj_terse_mul(graph, self->dimension[high].index, node->number[i + 1]),
                                        self->dimension[low].index);
    uint32_t joined = tj_structure_add_dimension(self, length, index);
    remove_upper(sum, place_of(sum->upper, sum->upper_count, low));
    uint32_t place = place_of(sum->upper, sum->upper_count, high);
    remove_upper(sum, place);
    insert_upper(self, user, place, joined, stride);
    remove_lower(node, i + 1);
    node->number[i] = length;
    node->lower[i] = joined;
    self->dimension[joined].made_by = number;
    return true;
  }
  return false;
}

/* A digit that is always 0: of length 1, or the first where the index does not reach it. */
static bool digit_of_nothing(tj_structure *self, uint32_t number) {
  tj_structure_node *node = self->node[number];
  for (uint32_t i = 0; i < node->lower_count && node->lower_count > 1; i++) {
    bool nothing = i == 0 ? is_always_zero(self, node->lower[0]) : tj_is_int(node->number[i], 1);
    if (!nothing)
      continue;
    uint32_t dimension = node->lower[i];
    remove_lower(node, i);
    make_affine(self, dimension, zero(self));
    return true;
  }
  return false;
}

/* --- merges of sums --- */

enum { HIGH, LOW, CUT };

/* Where a merge's digits part: those before, and those that multiply to `unit`. */
typedef struct {
  tj_structure *self;
  uint32_t sum, merge, place;
  const tj_node *unit;
  int part[TJ_MAX_DIMENSIONS];              /* by term of the sum */
  const tj_node *cut_at[TJ_MAX_DIMENSIONS]; /* CUT: index mod this stays below, index div this goes above */
  const tj_node *high_constant, *low_constant;
  const tj_node *low_index;
} parting;

static bool part_constant(parting *p, const tj_node *constant) {
  tj_graph *graph = p->self->graph;
  p->high_constant = p->low_constant = zero(p->self);
  if (tj_is_int(constant, 0))
    return true;
  if (tj_is_constant(constant) && tj_is_constant(p->unit)) {
    p->high_constant = tj_div(graph, constant, p->unit);
    p->low_constant = tj_mod(graph, constant, p->unit);
    return true;
  }
  if (!divides(p->self, p->unit, constant))
    return false;
  p->high_constant = tj_exact_div(graph, constant, p->unit);
  return true;
}

/* Whether a term is to be cut in two: its stride divides the unit, and its dimension falls into whole parts. */
static bool may_cut(parting *p, uint32_t dimension, const tj_node *stride, const tj_node **at) {
  tj_structure *self = p->self;
  if (!divides(self, stride, p->unit))
    return false;
  *at = tj_exact_div(self->graph, p->unit, stride);
  const tj_node *length = self->dimension[dimension].length;
  return divides(self, *at, length) && is_below(self, *at, length);
}

/* Assigns every term to a part; whether the low part stays below the unit. */
static bool part_terms(parting *p, bool cutting) {
  tj_structure *self = p->self;
  tj_graph *graph = self->graph;
  const tj_structure_node *sum = self->node[p->sum];
  p->low_index = p->low_constant;
  for (uint32_t i = 0; i < sum->upper_count; i++) {
    const tj_node *index = self->dimension[sum->upper[i]].index;
    p->part[i] = LOW;
    if (tj_decide_divides(graph, p->unit, sum->number[i]) == TJ_YES)
      p->part[i] = HIGH;
    else if (cutting && may_cut(p, sum->upper[i], sum->number[i], &p->cut_at[i]))
      p->part[i] = CUT;
    if (p->part[i] == CUT)
      index = tj_terse_mod(graph, index, p->cut_at[i]);
    if (p->part[i] != HIGH)
      p->low_index = tj_terse_add(graph, p->low_index, tj_terse_mul(graph, sum->number[i], index));
  }
  return lies_within(self, p->low_index, p->unit);
}

/* merge(length / at, at) on a dimension: gives its two digits. */
static void cut_dimension(parting *p, uint32_t dimension, const tj_node *at, uint32_t *high, uint32_t *low) {
  tj_structure *self = p->self;
  tj_graph *graph = self->graph;
  const tj_node *length = tj_exact_div(graph, self->dimension[dimension].length, at);
  const tj_node *index = self->dimension[dimension].index;
  uint32_t node = tj_structure_add_node(self, TJ_STAGE_MERGE);
  *high = tj_structure_add_dimension(self, length, tj_terse_div(graph, index, at));
  *low = tj_structure_add_dimension(self, at, tj_terse_mod(graph, index, at));
  tj_structure_upper(self, node, dimension, NULL);
  tj_structure_lower(self, node, *high);
  tj_structure_lower(self, node, *low);
  self->node[node]->number[0] = length;
  self->node[node]->number[1] = at;
}

/* A merge of the digits from `first` on, of a new dimension that a new sum makes: gives the sum. */
static uint32_t merge_part(parting *p, uint32_t first, uint32_t count, const tj_node *index,
                           const tj_node *constant) {
  tj_structure *self = p->self;
  const tj_node *length = tj_int(self->graph, 1);
  uint32_t node = tj_structure_add_node(self, TJ_STAGE_MERGE);
  for (uint32_t i = first; i < first + count; i++) {
    tj_structure_lower(self, node, self->node[p->merge]->lower[i]);
    self->node[node]->number[i - first] = self->node[p->merge]->number[i];
    length = tj_terse_mul(self->graph, length, self->node[p->merge]->number[i]);
  }
  uint32_t whole = tj_structure_add_dimension(self, length, index);
  tj_structure_upper(self, node, whole, NULL);
  return make_affine(self, whole, constant);
}

static void part_merge(parting *p) {
  tj_structure *self = p->self;
  tj_graph *graph = self->graph;
  tj_structure_node *sum = self->node[p->sum], *merge = self->node[p->merge];
  const tj_node *whole = self->dimension[merge->upper[0]].index;
  uint32_t high = merge_part(p, 0, p->place, tj_terse_div(graph, whole, p->unit), p->high_constant);
  uint32_t low = merge_part(p, p->place, merge->lower_count - p->place, p->low_index, p->low_constant);
  for (uint32_t i = 0; i < sum->upper_count; i++) {
    uint32_t above = sum->upper[i], below = above;
    if (p->part[i] == CUT)
      cut_dimension(p, sum->upper[i], p->cut_at[i], &above, &below);
    if (p->part[i] == HIGH)
      tj_structure_upper(self, high, above, tj_exact_div(graph, sum->number[i], p->unit));
    if (p->part[i] == CUT)
      tj_structure_upper(self, high, above, tj_int(graph, 1));
    if (p->part[i] != HIGH)
      tj_structure_upper(self, low, below, sum->number[i]);
  }
  kill(sum);
  kill(merge);
}

/* A merge of a sum falls apart where the sum does: merge against unmerge, embed, offset, whatever their factors. */
static bool merge_of_sum(tj_structure *self, uint32_t number) {
  tj_structure_node *merge = self->node[number], *sum = maker_of(self, merge->upper[0]);
  if (sum == NULL || sum->kind != TJ_STAGE_AFFINE)
    return false;
  for (int cutting = 0; cutting <= 1; cutting++) {
    parting p = {.self = self, .merge = number, .unit = tj_int(self->graph, 1)};
    p.sum = self->dimension[merge->upper[0]].made_by;
    for (p.place = merge->lower_count - 1; p.place > 0; p.place--) {
      p.unit = tj_terse_mul(self->graph, p.unit, merge->number[p.place]);
      if (part_constant(&p, sum->constant) && part_terms(&p, cutting != 0)) {
        part_merge(&p);
        return true;
      }
    }
  }
  return false;
}

/* --- others --- */

static bool is_transform(const tj_structure_node *node, tj_transform_kind kind) {
  return node->kind == TJ_STAGE_OTHER && node->transform->kind == kind;
}

/* A modulo that its index does not reach. */
static bool modulo_of_small(tj_structure *self, uint32_t number) {
  tj_structure_node *node = self->node[number];
  if (!is_transform(node, TJ_TRANSFORM_MODULO) ||
      !lies_within(self, self->dimension[node->upper[0]].index, node->transform->amount[0]))
    return false;
  node->kind = TJ_STAGE_AFFINE;
  node->constant = zero(self);
  node->number[0] = tj_int(self->graph, 1);
  return true;
}

/* Visible dimensions whose strides the modulus divides do not matter. */
static bool modulo_of_multiples(tj_structure *self, uint32_t number) {
  tj_structure_node *node = self->node[number];
  if (!is_transform(node, TJ_TRANSFORM_MODULO))
    return false;
  tj_structure_node *sum = maker_of(self, node->upper[0]);
  for (uint32_t i = 0; sum != NULL && sum->kind == TJ_STAGE_AFFINE && i < sum->upper_count; i++) {
    uint32_t dimension = sum->upper[i];
    bool is_visible = self->dimension[dimension].made_by == TJ_NO_NODE;
    if (!is_visible || !divides(self, node->transform->amount[0], sum->number[i]))
      continue;
    remove_upper(sum, i);
    leave_unused(self, dimension);
    return true;
  }
  return false;
}

/* A modulo of a modulo that it divides. */
static bool modulo_of_modulo(tj_structure *self, uint32_t number) {
  tj_structure_node *below = self->node[number];
  if (!is_transform(below, TJ_TRANSFORM_MODULO))
    return false;
  tj_structure_node *above = maker_of(self, below->upper[0]);
  if (above == NULL || !is_transform(above, TJ_TRANSFORM_MODULO) ||
      !divides(self, below->transform->amount[0], above->transform->amount[0]))
    return false;
  put_in_place(self, below->upper[0], above->upper[0]);
  kill(above);
  return true;
}

static void alias(tj_structure *self, uint32_t lower, uint32_t upper) {
  uint32_t node = make_affine(self, lower, zero(self));
  tj_structure_upper(self, node, upper, tj_int(self->graph, 1));
}

/* xor on the same xor: neither. */
static bool xor_of_xor(tj_structure *self, uint32_t number) {
  tj_structure_node *below = self->node[number];
  if (!is_transform(below, TJ_TRANSFORM_XOR))
    return false;
  uint32_t made_by = self->dimension[below->upper[0]].made_by;
  if (made_by == TJ_NO_NODE || made_by != self->dimension[below->upper[1]].made_by)
    return false;
  tj_structure_node *above = self->node[made_by];
  bool same = is_transform(above, TJ_TRANSFORM_XOR) && above->lower[0] == below->upper[0] &&
              above->lower[1] == below->upper[1] &&
              tj_surely_equal(self->graph, above->transform->upper_length[1], below->transform->upper_length[1]);
  if (!same)
    return false;
  kill(above);
  kill(below);
  for (uint32_t i = 0; i < 2; i++)
    alias(self, below->lower[i], above->upper[i]);
  return true;
}

/* xor by 0: where the first index is 0 modulo the second length. */
static bool xor_of_nothing(tj_structure *self, uint32_t number) {
  tj_structure_node *node = self->node[number];
  if (!is_transform(node, TJ_TRANSFORM_XOR) ||
      !divides(self, node->transform->upper_length[1], self->dimension[node->upper[0]].index))
    return false;
  kill(node);
  for (uint32_t i = 0; i < 2; i++)
    alias(self, node->lower[i], node->upper[i]);
  return true;
}

const tj_structure_rule tj_structure_rules[] = {
    {"sum_into_sum", TJ_STAGE_AFFINE, sum_into_sum},
    {"pass_through", TJ_STAGE_AFFINE, pass_through},
    {"term_of_nothing", TJ_STAGE_AFFINE, term_of_nothing},
    {"pad_always_valid", TJ_STAGE_PAD, pad_always_valid},
    {"pad_into_pad", TJ_STAGE_PAD, pad_into_pad},
    {"offset_into_pad", TJ_STAGE_AFFINE, offset_into_pad},
    {"merge_of_one", TJ_STAGE_MERGE, merge_of_one},
    {"digit_of_nothing", TJ_STAGE_MERGE, digit_of_nothing},
    {"merge_into_merge", TJ_STAGE_MERGE, merge_into_merge},
    {"contiguous_digits", TJ_STAGE_MERGE, contiguous_digits},
    {"modulo_of_small", TJ_STAGE_OTHER, modulo_of_small},
    {"modulo_of_multiples", TJ_STAGE_OTHER, modulo_of_multiples},
    {"modulo_of_modulo", TJ_STAGE_OTHER, modulo_of_modulo},
    {"xor_of_xor", TJ_STAGE_OTHER, xor_of_xor},
    {"xor_of_nothing", TJ_STAGE_OTHER, xor_of_nothing},
    {"merge_of_sum", TJ_STAGE_MERGE, merge_of_sum},
};

const uint32_t tj_structure_rule_count = sizeof tj_structure_rules / sizeof *tj_structure_rules;
