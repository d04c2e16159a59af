/* SPDX-License-Identifier: MIT */
/* From a place of a walk to the next one, by sums of digits with carries. */
#include "ir/view/advance.h"

#include "ir/index/facts.h"
#include "ir/index/walk.h"
#include "ir/layout/arith.h"
#include "ir/simplify/simplify.h"
#include "ir/view/move.h"

/* --- reach --- */

const tj_node *const *tj_view_reach(tj_graph *graph, const tj_view *view, const tj_node *const box[],
                                    const tj_node *const step[], const tj_node *counter) {
  const tj_node **at = TJ_NEW_ARRAY(graph->job, const tj_node *, (size_t)view->rank + 1);
  for (uint32_t i = 0; i < view->rank; i++)
    at[i] = tj_terse_add(graph, tj_coordinate(graph, "start", box[i]), tj_terse_mul(graph, counter, step[i]));
  tj_cursor cursor = tj_cursor_at(graph, view, at);
  for (uint32_t i = 0; i < view->hidden_count; i++)
    cursor.index[i] = tj_simplified(graph, cursor.index[i]);
  return cursor.index;
}

/* Of which its reach is known, and a length that it is less than; NULL: none. */
static const tj_node *symbol_of(tj_graph *graph, const char *name, const tj_node *reach, const tj_node *length) {
  const tj_facts *facts = &reach->facts;
  const tj_node *low = facts->low != INT64_MIN ? tj_int(graph, facts->low) : NULL;
  const tj_node *high = facts->high != INT64_MAX ? tj_int(graph, facts->high) : NULL;
  if (length != NULL && !(tj_is_constant(length) && facts->high < length->value))
    high = tj_simplified(graph, tj_sub(graph, length, tj_int(graph, 1)));
  return tj_symbol_create(graph, name, TJ_SYMBOL_COORDINATE, low, high, facts->residue == 0 ? facts->modulus : 1);
}

const tj_node *tj_hidden_symbol(tj_graph *graph, const tj_view *view, uint32_t id, const char *name,
                                const tj_node *reach) {
  const tj_node *length = id != 0 ? view->hidden_length[id] : NULL;
  return symbol_of(graph, name, reach, length != NULL && tj_prove_less(graph, reach, length) ? length : NULL);
}

/* --- digits --- */

/* All arrays by hidden dimension. */
typedef struct {
  tj_graph *graph;
  const tj_view *view;
  const tj_node *const *reach;
  const tj_node **now, **next;
} advance;

/* A mixed-radix number whose last digit is the fastest. */
typedef struct {
  const tj_node *length[TJ_MAX_DIMENSIONS]; /* [0]: where that is known to be a limit, else NULL */
  const tj_node *digit[TJ_MAX_DIMENSIONS];
  uint32_t count;
} number;

/* The length of the first digit, where the number that has the reach is less than the product of all. */
static const tj_node *first_length(tj_graph *graph, const tj_transform *merge, const tj_node *reach) {
  const tj_node *product = tj_int(graph, 1);
  for (uint32_t i = 0; i < merge->lower_count; i++)
    product = tj_terse_mul(graph, product, merge->lower_length[i]);
  return tj_prove_less(graph, reach, tj_simplified(graph, product)) ? merge->lower_length[0] : NULL;
}

/* Symbols for the digits of what a merge takes apart. */
static number number_of_merge(advance *a, const tj_stage *stage) {
  const tj_transform *merge = stage->transform;
  number of = {.count = merge->lower_count};
  for (uint32_t d = 0; d < of.count; d++) {
    of.length[d] = d > 0 ? merge->lower_length[d] : first_length(a->graph, merge, a->reach[stage->upper_id[0]]);
    of.digit[d] = symbol_of(a->graph, "digit", a->reach[stage->lower_id[d]], of.length[d]);
  }
  return of;
}

/* The same of a modulo: the last digit is what it gives. */
static number number_of_modulo(advance *a, const tj_stage *stage) {
  const tj_node *length = stage->transform->amount[0];
  return (number){.length = {NULL, length},
                  .digit = {tj_symbol_create(a->graph, "times", TJ_SYMBOL_COORDINATE, NULL, NULL, 1),
                            symbol_of(a->graph, "rest", a->reach[stage->lower_id[0]], length)},
                  .count = 2};
}

static const tj_node *value_of(tj_graph *graph, const number *of) {
  const tj_node *value = of->digit[0];
  for (uint32_t d = 1; d < of->count; d++)
    value = tj_terse_add(graph, tj_terse_mul(graph, value, of->length[d]), of->digit[d]);
  return value;
}

/* The digits of the number and an amount: two digits and a carry make another carry of at most 1. */
static number sum_of(tj_graph *graph, const number *of, const tj_node *amount) {
  number sum = *of;
  const tj_node *rest = amount, *carry = tj_int(graph, 0);
  for (uint32_t d = of->count; d-- > 1;) {
    const tj_node *length = of->length[d], *digit = tj_simplified(graph, tj_terse_mod(graph, rest, length));
    rest = tj_simplified(graph, tj_terse_div(graph, rest, length));
    if (tj_is_int(length, 1) || (tj_is_int(digit, 0) && tj_is_int(carry, 0)))
      continue;
    const tj_node *total = tj_terse_add(graph, tj_terse_add(graph, of->digit[d], digit), carry);
    const tj_node *is_within = tj_less(graph, total, length);
    sum.digit[d] = tj_select(graph, is_within, total, tj_terse_sub(graph, total, length));
    carry = tj_not(graph, is_within);
  }
  sum.digit[0] = tj_terse_add(graph, tj_terse_add(graph, of->digit[0], rest), carry);
  return sum;
}

static bool depends_on_parameters_alone(tj_graph *graph, const tj_node *node) {
  tj_walk walk = tj_walk_nodes(graph, &node, 1);
  for (uint32_t i = 0; i < walk.count; i++) {
    if (walk.node[i]->op == TJ_OP_SYMBOL && walk.node[i]->symbol->kind != TJ_SYMBOL_PARAMETER)
      return false;
  }
  return true;
}

/* --- stages --- */

static void take_apart(advance *a, const tj_stage *stage, const tj_node *amount) {
  const bool is_merge = stage->transform->kind == TJ_TRANSFORM_MERGE;
  const uint32_t id = stage->upper_id[0];
  const number now = is_merge ? number_of_merge(a, stage) : number_of_modulo(a, stage);
  const number next = sum_of(a->graph, &now, amount);
  for (uint32_t i = 0; i < stage->transform->lower_count; i++) {
    a->now[stage->lower_id[i]] = now.digit[is_merge ? i : 1];
    a->next[stage->lower_id[i]] = next.digit[is_merge ? i : 1];
  }
  if (a->now[id]->op == TJ_OP_SYMBOL) {
    a->now[id] = value_of(a->graph, &now);
    a->next[id] = tj_terse_add(a->graph, a->now[id], amount);
  }
}

static void advance_stage(advance *a, const tj_stage *stage) {
  const tj_transform_kind kind = stage->transform->kind;
  if (kind == TJ_TRANSFORM_MERGE || kind == TJ_TRANSFORM_MODULO) {
    const uint32_t id = stage->upper_id[0];
    const tj_node *amount = tj_simplified(a->graph, tj_terse_sub(a->graph, a->next[id], a->now[id]));
    if (depends_on_parameters_alone(a->graph, amount)) {
      take_apart(a, stage, amount);
      return;
    }
  }
  tj_stage_lower(a->graph, stage, a->now);
  tj_stage_lower(a->graph, stage, a->next);
}

tj_advance tj_view_advance(tj_graph *graph, const tj_view *view, const tj_node *const reach[],
                           const tj_node *const step[]) {
  advance a = {graph, view, reach, TJ_NEW_ARRAY(graph->job, const tj_node *, view->hidden_count),
               TJ_NEW_ARRAY(graph->job, const tj_node *, view->hidden_count)};
  for (uint32_t i = 0; i < view->rank; i++) {
    const uint32_t id = view->visible[i];
    a.now[id] = tj_is_int(step[i], 0) ? reach[id] : tj_hidden_symbol(graph, view, id, "at", reach[id]);
    a.next[id] = tj_terse_add(graph, a.now[id], step[i]);
  }
  for (uint32_t s = view->stage_count; s-- > 0;)
    advance_stage(&a, &view->stage[s]);
  return (tj_advance){a.now, a.next};
}
