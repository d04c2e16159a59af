/* SPDX-License-Identifier: MIT */
/* Uses of coordinates: from linear forms, or from the values of all terms that have the coordinate and no other
 * symbol. */
#include "lower/tile/mode_use.h"

#include "ir/index/values.h"

enum { MOST_VALUES = 1024, MOST_ATOMS = 8 /* of all terms, and as many terms */ };

/* The terms of an expression that have a coordinate. */
typedef struct {
  const tj_node *symbol;
  const tj_term *term[MOST_ATOMS];
  const tj_node *atom[MOST_ATOMS];
  uint32_t terms, atoms;
  bool are_too_many;
} mode_terms;

static bool term_mentions(const tj_term *term, const tj_node *symbol) {
  bool is_any = false;
  for (uint32_t i = 0; i < term->degree; i++)
    is_any = is_any || tj_may_mention(term->atom[i], symbol);
  return is_any;
}

static void add_term(mode_terms *t, const tj_term *term) {
  t->are_too_many = t->are_too_many || t->terms == MOST_ATOMS || t->atoms + term->degree > MOST_ATOMS;
  if (t->are_too_many)
    return;
  t->term[t->terms++] = term;
  for (uint32_t i = 0; i < term->degree; i++)
    t->atom[t->atoms++] = term->atom[i];
}

/* --- values --- */

/* Adds up terms where the coordinate is `at`, from the values of their atoms; false where that overflows. */
static bool sum_of_terms(const mode_terms *t, const int64_t *atom, uint32_t reach, uint32_t at, int64_t *sum) {
  bool is_held = true;
  *sum = 0;
  for (uint32_t i = 0; i < t->terms; i++) {
    int64_t product = t->term[i]->coefficient;
    for (uint32_t k = 0; k < t->term[i]->degree; k++, atom += reach)
      is_held = is_held && !__builtin_mul_overflow(product, atom[at], &product);
    is_held = is_held && !__builtin_add_overflow(*sum, product, sum);
  }
  return is_held;
}

/* NULL where other symbols are in the terms, or values do not fit. */
static const int64_t *values_of(tj_graph *graph, const mode_terms *t, uint32_t reach) {
  const int64_t *atom = tj_values_along(graph, t->atom, t->atoms, t->symbol, reach);
  int64_t *value = tj_arena_raw(&graph->job->arena, reach, sizeof *value);
  bool is_known = atom != NULL;
  for (uint32_t at = 0; at < reach && is_known; at++)
    is_known = sum_of_terms(t, atom, reach, at, &value[at]);
  return is_known ? value : NULL;
}

/* --- uses --- */

tj_mode_use tj_mode_use_of(tj_graph *graph, const tj_node *any, const tj_node *symbol, uint32_t mode, int64_t most) {
  const tj_linear *form = tj_linear_of(graph, any);
  tj_mode_use use = {.mode = mode, .is_linear = true};
  mode_terms t = {.symbol = symbol};
  for (uint32_t i = 0; i < form->count; i++) {
    const tj_term *term = &form->term[i];
    if (!term_mentions(term, symbol))
      continue;
    const bool is_alone = term->degree == 1 && term->atom[0] == symbol;
    use.factor = is_alone ? term->coefficient : use.factor;
    use.is_linear = use.is_linear && is_alone;
    add_term(&t, term);
  }
  if (use.is_linear || t.are_too_many || most < 0 || most >= MOST_VALUES)
    return use;
  use.reach = (uint32_t)most + 1;
  use.value = values_of(graph, &t, use.reach);
  return use;
}

/* Whether a step from each value that the rest may have is as far. */
static bool steps_evenly(const tj_mode_use *use, const tj_facts *rest, uint32_t step, int64_t *added) {
  const int64_t *value = use->value, next = rest->low % rest->modulus == rest->residue ? rest->modulus : 1;
  int64_t at = rest->low, distance;
  if (__builtin_sub_overflow(value[at + step], value[at], added))
    return false;
  while (rest->high - at >= next) {
    at += next;
    if (__builtin_sub_overflow(value[at + step], value[at], &distance) || distance != *added)
      return false;
  }
  return true;
}

bool tj_mode_adds(const tj_mode_use *use, tj_parted_sum at, int64_t *added) {
  const tj_facts *rest = &at.rest->facts;
  *added = 0;
  if (use->is_linear)
    return !__builtin_mul_overflow(at.constant, use->factor, added);
  if (at.constant == 0)
    return true;
  return use->value != NULL && at.constant > 0 && at.constant < use->reach && rest->low >= 0 &&
         rest->high < use->reach - at.constant && steps_evenly(use, rest, (uint32_t)at.constant, added);
}
