/* SPDX-License-Identifier: MIT */
/* Choosing between forms of sums by the instructions that they take.
 *
 * The simplifier's forms are the best to reason with: digits y%d, whose range is known. A machine may do with less:
 * where y/d is there anyway, c*(y%d) + e*(y/d) is c*y + (e - c*d)*(y/d); and where y%d is, c*(y%d) + e*d*(y/d) is
 * e*y + (c - e)*(y%d). A sum that another expression needs serves in a sum that has a multiple of it. Each such move
 * is kept where an estimate says that all expressions together take fewer instructions then; a move that changes
 * nothing may be followed by one that does. Work is bounded by the sizes at the top. */
#include "lower/kernel/final_forms.h"

#include "base/number/magic.h"
#include "base/number/power.h"
#include "ir/index/cost.h"
#include "ir/index/facts.h"
#include "ir/index/linear.h"
#include "ir/index/walk.h"
#include "ir/simplify/simplify.h"
#include "lower/machine/width.h"

enum { MOST_NODES = 160, MOST_ATTEMPTS = 96, MOST_MOVES_AHEAD = 2 };

/* The expressions under consideration. */
typedef struct {
  tj_graph *graph;
  uint32_t attempts;
  size_t count;
} economy;

/* --- a walk, and who uses its nodes --- */

typedef struct {
  tj_walk walk;
  uint32_t (*argument)[3]; /* positions, by that of the node */
  uint32_t *root;          /* positions */
  uint32_t *uses;          /* by position: operands and roots */
  uint32_t *sum_uses;      /* how many of them are operands of sums */
  uint32_t *quotient;      /* positions of all that are by a constant, at least 1 */
  uint32_t quotients;
} usage;

static bool is_among(const usage *u, const tj_node *node) {
  return tj_walk_find(&u->walk, node) != TJ_NO_POSITION;
}

/* Of a quotient or a remainder. */
static bool is_by_constant(const tj_node *quotient) {
  return tj_is_constant(quotient->arg[1]) && quotient->arg[1]->value >= 1;
}

static void count_arguments(usage *u, uint32_t user) {
  const tj_node *node = u->walk.node[user];
  for (unsigned k = 0; k < tj_op_arity(node->op); k++) {
    uint32_t position = tj_walk_place(&u->walk, node->arg[k]);
    u->argument[user][k] = position;
    u->uses[position]++;
    u->sum_uses[position] += node->op == TJ_OP_ADD;
  }
  if (node->op == TJ_OP_DIV && is_by_constant(node))
    u->quotient[u->quotients++] = user;
}

/* Of a graph's last walk, from these roots. */
static usage usage_of(tj_graph *graph, tj_walk walk, const tj_node *const roots[], size_t count) {
  usage u = {.walk = walk,
             .argument = tj_arena_alloc(&graph->job->arena, walk.count + 1, sizeof *u.argument),
             .root = TJ_NEW_ARRAY(graph->job, uint32_t, count + 1),
             .uses = TJ_NEW_ARRAY(graph->job, uint32_t, walk.count + 1),
             .sum_uses = TJ_NEW_ARRAY(graph->job, uint32_t, walk.count + 1),
             .quotient = TJ_NEW_ARRAY(graph->job, uint32_t, walk.count + 1)};
  for (size_t i = 0; i < count; i++) {
    u.root[i] = tj_walk_place(&walk, roots[i]);
    u.uses[u.root[i]]++;
  }
  for (uint32_t i = 0; i < walk.count; i++)
    count_arguments(&u, i);
  return u;
}

/* --- the estimate --- */

/* Whether it only serves one sum, and is computed as part of it. */
static bool is_part_of_sum(const usage *u, uint32_t position) {
  return u->uses[position] == 1 && u->sum_uses[position] == 1;
}

/* What a sum is made of, where its own sums are taken apart. */
typedef struct {
  uint32_t products, others;
} parts;

/* Whether it is shifted and then subtracted, which no instruction does at once: where its factor is none of the
 * integers that any operand may be. */
static bool is_shifted_off(const tj_node *product) {
  enum { LEAST_OPERAND = -16 };
  const tj_node *factor = product->arg[1];
  return tj_is_constant(factor) && factor->value < LEAST_OPERAND && factor->value > INT64_MIN &&
         tj_is_power_of_two(-factor->value);
}

static void count_parts(const usage *u, uint32_t sum, parts *all) {
  for (unsigned i = 0; i < 2; i++) {
    uint32_t position = u->argument[sum][i];
    const tj_op op = u->walk.node[position]->op;
    bool is_part = is_part_of_sum(u, position);
    if (is_part && op == TJ_OP_ADD)
      count_parts(u, position, all);
    else if (is_part && op == TJ_OP_MUL)
      all->products += is_shifted_off(u->walk.node[position]) ? 2 : 1;
    else
      all->others++;
  }
}

/* Each product adds what there is so far (v_mad, v_lshl_add); the rest comes two at a time (v_add3). */
static uint32_t cost_of_sum(const usage *u, uint32_t position) {
  parts all = {0, 0};
  count_parts(u, position, &all);
  return all.products + all.others / 2;
}

/* Whether another quotient of the same value has the multiplication that this one needs. */
static bool shares_product(const usage *u, const tj_node *node) {
  for (uint32_t i = 0; i < u->quotients; i++) {
    const tj_node *other = u->walk.node[u->quotient[i]];
    if (other->arg[0] != node->arg[0] || other->id >= node->id)
      continue;
    int64_t large = node->arg[1]->value, small = other->arg[1]->value;
    if (small > large) {
      large = other->arg[1]->value;
      small = node->arg[1]->value;
    }
    if (large % small == 0 && ((large / small) & (large / small - 1)) == 0)
      return true;
  }
  return false;
}

static uint32_t cost_of_quotient(const usage *u, uint32_t position) {
  enum { NARROW = 2, WIDE = 5, VARIABLE = 20 };
  const tj_node *node = u->walk.node[position];
  tj_magic magic;
  if (!is_by_constant(node))
    return VARIABLE;
  if (tj_exponent_of(node->arg[1]) >= 0 || shares_product(u, node))
    return 1;
  bool is_narrow = node->arg[0]->facts.low >= 0 &&
                   tj_magic_narrow((uint64_t)node->arg[1]->value, (uint64_t)node->arg[0]->facts.high, &magic);
  return is_narrow ? NARROW : WIDE;
}

static const tj_node *quotient_of(tj_graph *graph, const tj_node *remainder) {
  return tj_simplified(graph, tj_node_make(graph, TJ_OP_DIV, remainder->arg));
}

/* Whether a walk in any order has the quotient of a remainder by a constant. */
static bool has_quotient(tj_graph *graph, const usage *u, const tj_node *remainder) {
  const tj_node *quotient = quotient_of(graph, remainder);
  bool is_listed = quotient->op == TJ_OP_DIV && is_by_constant(quotient);
  for (uint32_t i = 0; i < (is_listed ? u->quotients : u->walk.count); i++) {
    if (u->walk.node[is_listed ? u->quotient[i] : i] == quotient)
      return true;
  }
  return false;
}

/* A remainder takes one instruction once the quotient is there; by a power of two, it takes the quotient below it
 * along (v_bfe). */
static uint32_t cost_of_remainder(tj_graph *graph, const usage *u, uint32_t position) {
  enum { FROM_NOTHING = 3, VARIABLE = 21 };
  const tj_node *node = u->walk.node[position];
  if (tj_exponent_of(node->arg[1]) >= 0) {
    uint32_t below = u->argument[position][0];
    bool is_field = node->arg[0]->op == TJ_OP_DIV && tj_exponent_of(node->arg[0]->arg[1]) >= 0 && u->uses[below] == 1;
    return is_field ? 0 : 1;
  }
  if (!is_by_constant(node))
    return VARIABLE;
  return has_quotient(graph, u, node) ? 1 : FROM_NOTHING;
}

static uint32_t cost_of_node(tj_graph *graph, const usage *u, uint32_t position) {
  const tj_node *node = u->walk.node[position];
  switch (node->op) {
  case TJ_OP_CONSTANT:
  case TJ_OP_SYMBOL:
    return 0;
  case TJ_OP_ADD:
    return is_part_of_sum(u, position) ? 0 : cost_of_sum(u, position);
  case TJ_OP_MUL:
    return is_part_of_sum(u, position) ? 0 : 1;
  case TJ_OP_DIV:
    return cost_of_quotient(u, position);
  case TJ_OP_MOD:
    return cost_of_remainder(graph, u, position);
  case TJ_OP_AND:
  case TJ_OP_OR:
    return node->facts.high <= 1 ? 0 : 1;
  default:
    return 1;
  }
}

/* Whether it may be too large for any integer: no move may lead there. */
static bool is_unbounded(const tj_node *node) {
  return (node->op == TJ_OP_ADD || node->op == TJ_OP_MUL) && !tj_facts_bounded(&node->facts);
}

uint32_t tj_instructions_of(tj_graph *graph, const tj_node *const roots[], size_t count) {
  enum { WIDE = 4, UNBOUNDED = 10000 };
  tj_walk walk = tj_walk_briefly(graph, roots, count);
  walk.node = tj_arena_copy(&graph->job->arena, walk.node, walk.count * sizeof *walk.node);
  usage u = usage_of(graph, walk, roots, count);
  uint32_t cost = 0;
  for (uint32_t i = 0; i < u.walk.count; i++) {
    const tj_node *node = u.walk.node[i];
    bool is_wide = tj_op_arity(node->op) > 0 && tj_width_of_operation(node).bits == 64;
    cost += is_unbounded(node) ? UNBOUNDED : 0;
    cost += (is_wide ? WIDE : 1) * cost_of_node(graph, &u, i) + (is_wide ? WIDE : 0);
  }
  tj_spend(graph->job, u.walk.count);
  return cost;
}

/* --- moves --- */

static bool may_try(const economy *e) {
  return e->attempts < MOST_ATTEMPTS;
}

/* The node at a position on what its arguments became. */
static const tj_node *made_anew(tj_graph *graph, const usage *u, const tj_node *const became[], uint32_t position) {
  const tj_node *node = u->walk.node[position], *args[3] = {NULL, NULL, NULL};
  bool is_same = true;
  for (unsigned k = 0; k < tj_op_arity(node->op); k++) {
    args[k] = became[u->argument[position][k]];
    is_same = is_same && args[k] == node->arg[k];
  }
  if (is_same)
    return node;
  const tj_node *made = tj_node_make(graph, node->op, args);
  tj_sharpen_facts(made, &node->facts);
  return made;
}

/* The roots with `after` in the place of the node at a position, of which only users, found after it, are made of. */
static const tj_node **substituted(const economy *e, const usage *u, uint32_t first, const tj_node *after) {
  const tj_node **became = tj_arena_copy(&e->graph->job->arena, u->walk.node, u->walk.count * sizeof *became);
  const tj_node **result = TJ_NEW_ARRAY(e->graph->job, const tj_node *, e->count);
  tj_sharpen_facts(after, &became[first]->facts);
  became[first] = after;
  for (uint32_t i = first + 1; i < u->walk.count; i++)
    became[i] = made_anew(e->graph, u, became, i);
  for (size_t i = 0; i < e->count; i++)
    result[i] = became[u->root[i]];
  return result;
}

static bool improve(economy *e, const tj_node *roots[], uint32_t cost, int ahead);

/* Whether the roots are better with `after` for the node at a position, or get there; then that is what they become.
 */
static bool try_move(economy *e, const tj_node *roots[], const usage *u, uint32_t cost, int ahead, uint32_t position,
                     const tj_node *after) {
  if (after == NULL || after == u->walk.node[position] || !may_try(e))
    return false;
  e->attempts++;
  const tj_node **moved = substituted(e, u, position, after);
  uint32_t cost_after = tj_instructions_of(e->graph, moved, e->count);
  bool is_better = cost_after < cost || (cost_after == cost && ahead > 1 && improve(e, moved, cost, ahead - 1));
  for (size_t i = 0; i < e->count && is_better; i++)
    roots[i] = moved[i];
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
static const tj_node *without_remainder(economy *e, const usage *u, uint32_t sum, const tj_linear *form,
                                        uint32_t place) {
  const tj_term *term = &form->term[place];
  if (!is_digit(term, TJ_OP_MOD) || widens(u->walk.node[sum], term->atom[0]->arg[0], term->coefficient))
    return NULL;
  const tj_node *remainder = term->atom[0], *quotient = quotient_of(e->graph, remainder);
  if (!is_among(u, quotient))
    return NULL;
  return with_terms(e->graph, form, place, remainder->arg[0], term->coefficient, quotient,
                    -term->coefficient * remainder->arg[1]->value);
}

/* e*d*(y/d) = e*y - e*(y%d), where y%d is there anyway. */
static const tj_node *without_quotient(economy *e, const usage *u, uint32_t sum, const tj_linear *form,
                                       uint32_t place) {
  const tj_term *term = &form->term[place];
  if (!is_digit(term, TJ_OP_DIV) || term->coefficient % term->atom[0]->arg[1]->value != 0)
    return NULL;
  const tj_node *remainder = tj_simplified(e->graph, tj_node_make(e->graph, TJ_OP_MOD, term->atom[0]->arg));
  int64_t factor = term->coefficient / term->atom[0]->arg[1]->value;
  if (widens(u->walk.node[sum], term->atom[0]->arg[0], factor))
    return NULL;
  return is_among(u, remainder) ? with_terms(e->graph, form, place, term->atom[0]->arg[0], factor, remainder, -factor)
                                : NULL;
}

/* k*part + rest, where part's terms times k are among the sum's; but k is positive for a single term and a constant.
 * NULL where they are not. */
static const tj_node *with_part(economy *e, const tj_node *sum, const tj_node *part) {
  if ((part->symbols & ~sum->symbols) != 0 || sum->arg[0] == part || sum->arg[1] == part)
    return NULL;
  const tj_linear *whole = tj_linear_of(e->graph, sum), *form = tj_linear_of(e->graph, part);
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
    const tj_node *factor[3] = {part, tj_int(e->graph, scale.coefficient), NULL};
    const tj_node *product = scale.coefficient == 1 ? part : tj_node_make(e->graph, TJ_OP_MUL, factor);
    const tj_node *terms[3] = {product, tj_sum_node(e->graph, &rest), NULL};
    return tj_is_int(terms[1], 0) ? product : tj_node_make(e->graph, TJ_OP_ADD, terms);
  }
  return NULL;
}

static bool try_digits(economy *e, const tj_node *roots[], const usage *u, uint32_t cost, int ahead, uint32_t sum) {
  const tj_linear *form = tj_linear_of(e->graph, u->walk.node[sum]);
  for (uint32_t i = 0; i < form->count && may_try(e); i++) {
    if (try_move(e, roots, u, cost, ahead, sum, without_remainder(e, u, sum, form, i)) ||
        try_move(e, roots, u, cost, ahead, sum, without_quotient(e, u, sum, form, i)))
      return true;
  }
  return false;
}

/* Whether sums are constants apart, and so many are that moves which change nothing end before what they have in
 * common is of no more use. */
static bool are_apart(const usage *u, uint32_t sum, uint32_t part) {
  const uint32_t rest = u->argument[sum][0];
  return rest == u->argument[part][0] && tj_is_constant(u->walk.node[sum]->arg[1]) &&
         tj_is_constant(u->walk.node[part]->arg[1]) && u->uses[rest] > 1 + MOST_MOVES_AHEAD;
}

static bool try_parts(economy *e, const tj_node *roots[], const usage *u, uint32_t cost, int ahead, uint32_t sum) {
  for (uint32_t i = 0; i < u->walk.count && may_try(e); i++) {
    const tj_node *part = u->walk.node[i];
    if (part->op == TJ_OP_ADD && !is_part_of_sum(u, i) && !are_apart(u, sum, i) &&
        try_move(e, roots, u, cost, ahead, sum, with_part(e, u->walk.node[sum], part)))
      return true;
  }
  return false;
}

/* Makes the first move that is found to take the cost below `cost`. */
static bool improve(economy *e, const tj_node *roots[], uint32_t cost, int ahead) {
  usage u = usage_of(e->graph, tj_walk_nodes(e->graph, roots, e->count), roots, e->count);
  for (uint32_t i = u.walk.count; i-- > 0 && may_try(e);) {
    bool is_whole = u.walk.node[i]->op == TJ_OP_ADD && !is_part_of_sum(&u, i);
    if (is_whole && (try_digits(e, roots, &u, cost, ahead, i) || try_parts(e, roots, &u, cost, ahead, i)))
      return true;
  }
  return false;
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
  while (may_try(&e) && improve(&e, all.one, tj_instructions_of(graph, all.one, e.count), MOST_MOVES_AHEAD))
    continue;
  for (size_t i = 0; i < count; i++) {
    const tj_node *became = all.one[all.number[i]];
    roots[i] = all.is_parted[i] ? put_together(graph, roots[i], became) : became;
  }
}
