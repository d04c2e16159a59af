/* SPDX-License-Identifier: MIT */
/* Choosing between forms of sums by the instructions that they take.
 *
 * The simplifier's forms are the best to reason with: digits y%d, whose range is known. A machine may do with less:
 * where y/d is there anyway, c*(y%d) + e*(y/d) is c*y + (e - c*d)*(y/d); and where y%d is, c*(y%d) + e*d*(y/d) is
 * e*y + (c - e)*(y%d). A sum that another expression needs serves in a sum that has a multiple of it. Each such move
 * is kept where an estimate says that all expressions together take fewer instructions then; a move that changes
 * nothing may be followed by one that does. Work is bounded by the sizes at the top. */
#include "lower/kernel/final_forms.h"

#include "ir/index/facts.h"
#include "ir/index/linear.h"
#include "ir/simplify/simplify.h"
#include "lower/machine/usage.h"
#include "lower/machine/width.h"

enum { MOST_NODES = 160, MOST_ATTEMPTS = 96, MOST_MOVES_AHEAD = 2 };

/* The expressions under consideration. */
typedef struct {
  tj_graph *graph;
  uint32_t attempts;
  size_t count;
} economy;

/* What moves begin from. */
typedef struct {
  economy *economy;
  tj_graph *graph;
  const tj_node **root; /* replaced once a move is made */
  tj_usage usage, room;
  uint32_t cost; /* that has to become less */
  int ahead;     /* moves that may follow one another before that */
} start;

/* --- moves --- */

static bool may_try(const economy *e) {
  return e->attempts < MOST_ATTEMPTS;
}

/* A node on what its arguments became. */
static const tj_node *made_anew(tj_graph *graph, const tj_used_node *of, const tj_node *const became[]) {
  const tj_node *node = of->node, *args[3] = {NULL, NULL, NULL};
  bool is_same = true;
  for (unsigned k = 0; k < tj_op_arity(node->op); k++) {
    args[k] = became[of->argument[k]];
    is_same = is_same && args[k] == node->arg[k];
  }
  if (is_same)
    return node;
  const tj_node *made = tj_node_make(graph, node->op, args);
  tj_sharpen_facts(made, &node->facts);
  return made;
}

/* The roots with `after` in the place of a node, of which only users, found after it, are made of. */
static const tj_node **substituted(const start *s, uint32_t first, const tj_node *after) {
  const tj_usage *u = &s->usage;
  const tj_node **became = tj_arena_copy(&s->graph->job->arena, u->walk.node, u->walk.count * sizeof *became);
  const tj_node **result = TJ_RAW_ARRAY(s->graph->job, const tj_node *, s->economy->count);
  became[first] = after;
  for (uint32_t i = first + 1; i < u->walk.count; i++)
    became[i] = made_anew(s->graph, &u->of[i], became);
  for (size_t i = 0; i < s->economy->count; i++)
    result[i] = became[u->root[i]];
  return result;
}

/* But for the cost. */
static start start_from(economy *e, const tj_node *roots[], int ahead) {
  start s = {.economy = e, .graph = e->graph, .root = roots, .usage = tj_usage_of(e->graph, roots, e->count)};
  s.room = tj_usage_room(&s.usage);
  s.ahead = ahead;
  return s;
}

static bool improve(start *s);

/* Whether moves that follow one that changed nothing take the cost down. */
static bool gets_there(const start *s, const tj_node *moved[]) {
  start next = start_from(s->economy, moved, s->ahead - 1);
  next.cost = s->cost;
  return improve(&next);
}

/* Whether the roots are better with `after` for a node, or get there; then that is what they become. */
static bool try_move(start *s, uint32_t number, const tj_node *after) {
  economy *e = s->economy;
  if (after == NULL || after == s->usage.walk.node[number] || !may_try(e))
    return false;
  e->attempts++;
  tj_sharpen_facts(after, &s->usage.walk.node[number]->facts);
  const uint32_t cost = tj_usage_cost_with(&s->usage, &s->room, number, after);
  if (cost > s->cost || (cost == s->cost && s->ahead == 1))
    return false;
  const tj_node **moved = substituted(s, number, after);
  const bool is_better = cost < s->cost || gets_there(s, moved);
  for (size_t i = 0; i < e->count && is_better; i++)
    s->root[i] = moved[i];
  return is_better;
}

/* The sum with a term replaced: form - term + factor * one + other_factor * other; NULL where that fails. */
static const tj_node *with_terms(tj_graph *graph, const tj_linear *form, uint32_t place, const tj_node *one,
                                 int64_t factor, const tj_node *other, int64_t other_factor) {
  tj_sum sum = tj_sum_of(0);
  tj_sum_add(&sum, form, 1);
  tj_sum_add_term(&sum, &form->term[place], -1);
  tj_sum_add(&sum, tj_linear_of(graph, one), factor);
  tj_sum_add(&sum, tj_linear_of(graph, other), other_factor);
  return sum.failed ? NULL : tj_sum_node(graph, &sum);
}

/* A term c * y%d or c * y/d, with a constant d and y >= 0. */
static bool is_digit(const tj_term *term, tj_op op) {
  const tj_node *atom = term->atom[0];
  return term->degree == 1 && atom->op == op && tj_is_constant(atom->arg[1]) && atom->arg[1]->value > 1 &&
         atom->arg[0]->facts.low >= 0 && term->coefficient > INT32_MIN && term->coefficient < INT32_MAX &&
         atom->arg[1]->value < INT32_MAX;
}

/* Whether factor * y, of y >= 0, takes 64 bits where the sum, and all of it, takes 32: what digits save is less. */
static bool widens(const tj_node *sum, const tj_node *y, int64_t factor) {
  int64_t end;
  if (tj_width_of_operation(sum).bits > 32)
    return false;
  return __builtin_mul_overflow(y->facts.high, factor, &end) ||
         tj_width_of_range(end < 0 ? end : 0, end < 0 ? 0 : end).bits > 32;
}

/* c*(y%d) = c*y - c*d*(y/d), where y/d is there anyway. */
static const tj_node *without_remainder(const start *s, const tj_node *sum, const tj_linear *form, uint32_t place) {
  const tj_term *term = &form->term[place];
  if (!is_digit(term, TJ_OP_MOD) || widens(sum, term->atom[0]->arg[0], term->coefficient))
    return NULL;
  const tj_node *remainder = term->atom[0],
                *quotient = tj_simplified(s->graph, tj_node_make(s->graph, TJ_OP_DIV, remainder->arg));
  if (!tj_usage_has(&s->usage, quotient))
    return NULL;
  return with_terms(s->graph, form, place, remainder->arg[0], term->coefficient, quotient,
                    -term->coefficient * remainder->arg[1]->value);
}

/* e*d*(y/d) = e*y - e*(y%d), where y%d is there anyway. */
static const tj_node *without_quotient(const start *s, const tj_node *sum, const tj_linear *form, uint32_t place) {
  const tj_term *term = &form->term[place];
  if (!is_digit(term, TJ_OP_DIV) || term->coefficient % term->atom[0]->arg[1]->value != 0)
    return NULL;
  const tj_node *remainder = tj_simplified(s->graph, tj_node_make(s->graph, TJ_OP_MOD, term->atom[0]->arg));
  int64_t factor = term->coefficient / term->atom[0]->arg[1]->value;
  if (widens(sum, term->atom[0]->arg[0], factor) || !tj_usage_has(&s->usage, remainder))
    return NULL;
  return with_terms(s->graph, form, place, term->atom[0]->arg[0], factor, remainder, -factor);
}

/* k*part + rest, where part's terms times k are among the sum's; but k is positive for a single term and a constant.
 * NULL where they are not. */
static const tj_node *with_part(tj_graph *graph, const tj_node *sum, const tj_node *part) {
  if ((part->symbols & ~sum->symbols) != 0 || sum->arg[0] == part || sum->arg[1] == part)
    return NULL;
  const tj_linear *whole = tj_linear_of(graph, sum), *form = tj_linear_of(graph, part);
  const bool is_shifted_term = form->count == 1 && form->constant != 0;
  if (part == sum || part->id > sum->id || (form->count < 2 && !is_shifted_term) || form->count > whole->count)
    return NULL;
  for (uint32_t i = 0; i < whole->count; i++) {
    tj_term scale;
    if (!tj_term_divide(&whole->term[i], &form->term[0], &scale) || scale.degree != 0 ||
        (is_shifted_term && scale.coefficient < 0))
      continue;
    tj_sum rest = tj_sum_of(0);
    tj_sum_add(&rest, whole, 1);
    tj_sum_add(&rest, form, -scale.coefficient);
    if (rest.failed || rest.count + form->count != whole->count)
      return NULL;
    const tj_node *factor[3] = {part, tj_int(graph, scale.coefficient), NULL};
    const tj_node *product = scale.coefficient == 1 ? part : tj_node_make(graph, TJ_OP_MUL, factor);
    const tj_node *terms[3] = {product, tj_sum_node(graph, &rest), NULL};
    return tj_is_int(terms[1], 0) ? product : tj_node_make(graph, TJ_OP_ADD, terms);
  }
  return NULL;
}

static bool try_digits(start *s, uint32_t number) {
  const tj_node *sum = s->usage.walk.node[number];
  const tj_linear *form = tj_linear_of(s->graph, sum);
  for (uint32_t i = 0; i < form->count && may_try(s->economy); i++) {
    if (try_move(s, number, without_remainder(s, sum, form, i)) ||
        try_move(s, number, without_quotient(s, sum, form, i)))
      return true;
  }
  return false;
}

/* Whether sums are constants apart, and so many are that moves which change nothing end before what they have in
 * common is of no more use. */
static bool are_apart(const tj_usage *u, uint32_t sum, uint32_t part) {
  const uint32_t rest = u->of[sum].argument[0];
  return rest == u->of[part].argument[0] && tj_is_constant(u->walk.node[sum]->arg[1]) &&
         tj_is_constant(u->walk.node[part]->arg[1]) && u->of[rest].uses > 1 + MOST_MOVES_AHEAD;
}

static bool is_whole_sum(const tj_usage *u, uint32_t number) {
  return u->walk.node[number]->op == TJ_OP_ADD && !tj_is_part_of_sum(u, number);
}

static bool try_parts(start *s, uint32_t number) {
  const tj_usage *u = &s->usage;
  for (uint32_t i = 0; i < u->walk.count && may_try(s->economy); i++) {
    if (is_whole_sum(u, i) && !are_apart(u, number, i) &&
        try_move(s, number, with_part(s->graph, u->walk.node[number], u->walk.node[i])))
      return true;
  }
  return false;
}

/* Makes the first move that is found to take the cost down. */
static bool improve(start *s) {
  for (uint32_t i = s->usage.walk.count; i-- > 0 && may_try(s->economy);) {
    if (is_whole_sum(&s->usage, i) && (try_digits(s, i) || try_parts(s, i)))
      return true;
  }
  return false;
}

static bool improve_once(economy *e, const tj_node *roots[]) {
  start s = start_from(e, roots, MOST_MOVES_AHEAD);
  s.cost = tj_usage_cost(&s.usage);
  return improve(&s);
}

/* --- roots --- */

/* What a root became whose rest became that, with its constant again; the root where that overflows. */
static const tj_node *put_together(tj_graph *graph, const tj_node *root, const tj_node *became) {
  const tj_parted_sum before = tj_part_sum(root);
  tj_parted_sum after = tj_part_sum(became);
  if (became == before.rest || __builtin_add_overflow(after.constant, before.constant, &after.constant))
    return root;
  const tj_node *sum[3] = {after.rest, tj_int(graph, after.constant), NULL};
  const tj_node *whole = after.constant != 0 ? tj_node_make(graph, TJ_OP_ADD, sum) : after.rest;
  tj_sharpen_facts(whole, &root->facts);
  return whole;
}

/* Roots, each once, and of those that are constants apart only what they have in common: neither another root that is
 * the same nor a constant in the place of another makes a difference between moves. */
typedef struct {
  const tj_node **one;
  size_t count;
  uint32_t *number; /* by root, which of them it is */
  bool *is_parted;  /* by root, whether it is that and a constant */
} distinct_roots;

/* By place of what is left without a constant: whether several roots have that. */
static const bool *find_alike(tj_graph *graph, const tj_walk *walk, const tj_node *const roots[], size_t count) {
  const tj_node **first = TJ_NEW_ARRAY(graph->job, const tj_node *, walk->count + 1);
  bool *are_alike = TJ_NEW_ARRAY(graph->job, bool, walk->count + 1);
  for (size_t i = 0; i < count; i++) {
    const uint32_t place = tj_walk_place(walk, tj_part_sum(roots[i]).rest);
    are_alike[place] |= first[place] != NULL && first[place] != roots[i];
    first[place] = roots[i];
  }
  return are_alike;
}

static distinct_roots distinct(tj_graph *graph, const tj_walk *walk, const tj_node *const roots[], size_t count) {
  distinct_roots all = {.one = TJ_NEW_ARRAY(graph->job, const tj_node *, count + 1),
                        .number = TJ_NEW_ARRAY(graph->job, uint32_t, count + 1),
                        .is_parted = TJ_NEW_ARRAY(graph->job, bool, count + 1)};
  const bool *are_alike = find_alike(graph, walk, roots, count);
  uint32_t *known = TJ_NEW_ARRAY(graph->job, uint32_t, walk->count + 1);
  for (size_t i = 0; i < count; i++) {
    const tj_node *rest = tj_part_sum(roots[i]).rest;
    all.is_parted[i] = are_alike[tj_walk_place(walk, rest)];
    const tj_node *root = all.is_parted[i] ? rest : roots[i];
    uint32_t *of_node = &known[tj_walk_place(walk, root)];
    if (*of_node == 0) {
      all.one[all.count++] = root;
      *of_node = (uint32_t)all.count;
    }
    all.number[i] = *of_node - 1;
  }
  return all;
}

void tj_economize(tj_graph *graph, const tj_node *roots[], size_t count) {
  const tj_walk walk = tj_walk_briefly(graph, roots, count);
  if (walk.count > MOST_NODES)
    return;
  const distinct_roots all = distinct(graph, &walk, roots, count);
  economy e = {.graph = graph, .count = all.count};
  while (may_try(&e) && improve_once(&e, all.one))
    continue;
  for (size_t i = 0; i < count; i++) {
    const tj_node *became = all.one[all.number[i]];
    roots[i] = all.is_parted[i] ? put_together(graph, roots[i], became) : became;
  }
}
