/* SPDX-License-Identifier: MIT */
/* Index expressions as formulas of Z3, over its integers.
 *
 * A node becomes a term of the same value: quotients and remainders round to minus infinity where Z3's follow Euclid,
 * so that those by negative divisors are taken of the negated operands; shifts are products and quotients by powers
 * of two; bitwise operations come down to the conjunction, which is a sum of digits where one operand's bits are
 * known, and of single bits elsewhere. Only there facts of nodes are used (which bits an operand can have, whether a
 * divisor is positive); of symbols, the declared bounds and multiples are asserted. Everything else is left to Z3.
 *
 * Nothing here fails the job while Z3 holds memory: what the arena gives is taken before. Z3 reports its errors to a
 * handler that ignores them; a term that could not be made is NULL, and so is every term made of it. */
#include "ir/value/equivalence_smt.h"

#ifndef TILEJIT_HAVE_Z3

bool tj_smt_available(void) {
  return false;
}

tj_smt_answer tj_smt_compare(tj_graph *graph, const tj_node *left, const tj_node *right,
                             const tj_node *const symbol[], uint32_t symbol_count, int64_t value[],
                             const char **why_not) {
  (void)graph, (void)left, (void)right, (void)symbol, (void)symbol_count, (void)value;
  *why_not = "this build has no SMT solver";
  return TJ_SMT_UNDECIDED;
}

#else

#include "base/text.h"
#include "ir/index/facts.h"
#include "ir/index/linear.h"
#include "ir/index/walk.h"
#include "ir/value/z3_library.h"

#include <string.h>

/* Steps of the solver, about a second's; the time is for what does not count steps, and far beyond. */
#define STEP_LIMIT "2000000"
enum { TIME_LIMIT = 20000, MOST_NODES = 4000, DEEPEST = 1000 };

/* One question. `value` and `truth` hold terms by node id, NULL where not made yet. */
typedef struct {
  Z3_context z3;
  Z3_sort integer;
  Z3_solver solver;
  Z3_func_decl quotient; /* by divisors that are not constant: nonlinear arithmetic, with what assert_quotient says */
  tj_walk walk;
  const tj_node **guess; /* what a quotient may be, by node id of the quotient or remainder, or NULL */
  Z3_ast *value, *truth;
  bool is_beyond; /* something cannot be said in formulas */
} question;

/* --- guesses --- */

static void add_term(tj_sum *sum, const tj_term *term) {
  if (term->degree == 0)
    tj_sum_add_constant(sum, term->coefficient);
  else
    tj_sum_add_term(sum, term, 1);
}

/* X%P is X - P*(X/P), of which the divisor may divide more. */
static const tj_node *unfolded(tj_graph *graph, const tj_term *term, const tj_term *divisor) {
  const tj_node *atom = term->atom[0];
  tj_term by, whole;
  if (term->degree != 1 || term->coefficient != 1 || atom->op != TJ_OP_MOD ||
      !tj_linear_single(tj_linear_of(graph, atom->arg[1]), &by) || !tj_term_divide(&by, divisor, &whole))
    return NULL;
  const tj_node *quotient = tj_node_make(graph, TJ_OP_DIV, atom->arg);
  return tj_sub(graph, atom->arg[0], tj_mul(graph, atom->arg[1], quotient));
}

/* The sum of the dividend's terms that the divisor divides, divided. */
static void add_quotients(tj_graph *graph, tj_sum *sum, const tj_node *dividend, const tj_term *divisor, int depth) {
  const tj_linear *form = tj_linear_of(graph, dividend);
  for (uint32_t i = 0; i < form->count; i++) {
    tj_term quotient;
    const tj_node *more = depth > 0 ? unfolded(graph, &form->term[i], divisor) : NULL;
    if (tj_term_divide(&form->term[i], divisor, &quotient))
      add_term(sum, &quotient);
    else if (more != NULL)
      add_quotients(graph, sum, more, divisor, depth - 1);
  }
}

static const tj_node *guess_of(tj_graph *graph, const tj_node *node) {
  enum { UNFOLDED = 4 };
  tj_term divisor;
  if ((node->op != TJ_OP_DIV && node->op != TJ_OP_MOD) || tj_is_constant(node->arg[1]) ||
      !tj_linear_single(tj_linear_of(graph, node->arg[1]), &divisor))
    return NULL;
  tj_sum sum = tj_sum_of(0);
  add_quotients(graph, &sum, node->arg[0], &divisor, UNFOLDED);
  return tj_sum_node(graph, &sum);
}

/* The nodes to make formulas of: those of the pair, and of guesses at its quotients. */
static void collect(tj_graph *graph, question *q, const tj_node *const pair[2]) {
  const tj_walk walk = tj_walk_with_bounds(graph, pair, 2);
  const tj_node **guess = TJ_NEW_ARRAY(graph->job, const tj_node *, walk.count),
                **root = TJ_NEW_ARRAY(graph->job, const tj_node *, walk.count + 2);
  uint32_t count = 0;
  root[count++] = pair[0];
  root[count++] = pair[1];
  for (uint32_t i = 0; i < walk.count && walk.count <= MOST_NODES; i++) {
    guess[i] = guess_of(graph, walk.node[i]);
    if (guess[i] != NULL)
      root[count++] = guess[i];
  }
  q->walk = tj_walk_with_bounds(graph, root, count);
  q->guess = TJ_NEW_ARRAY(graph->job, const tj_node *, graph->node_count);
  q->value = TJ_NEW_ARRAY(graph->job, Z3_ast, graph->node_count);
  q->truth = TJ_NEW_ARRAY(graph->job, Z3_ast, graph->node_count);
  for (uint32_t i = 0; i < walk.count; i++)
    q->guess[walk.node[i]->id] = guess[i];
}

/* --- terms --- */

typedef Z3_ast (*binary_maker)(Z3_context, Z3_ast, Z3_ast);
typedef Z3_ast (*list_maker)(Z3_context, unsigned, Z3_ast const[]);

static Z3_ast number(question *q, int64_t value) {
  return Z3_mk_int64(q->z3, value, q->integer);
}

static Z3_ast power_of_two(question *q, unsigned exponent) {
  return Z3_mk_unsigned_int64(q->z3, (uint64_t)1 << exponent, q->integer);
}

static Z3_ast binary(question *q, binary_maker make, Z3_ast a, Z3_ast b) {
  return a == NULL || b == NULL ? NULL : make(q->z3, a, b);
}

static Z3_ast list(question *q, list_maker make, Z3_ast a, Z3_ast b) {
  return a == NULL || b == NULL ? NULL : make(q->z3, 2, (Z3_ast[]){a, b});
}

static Z3_ast negated(question *q, Z3_ast a) {
  return a == NULL ? NULL : Z3_mk_unary_minus(q->z3, a);
}

static Z3_ast not(question * q, Z3_ast a) {
  return a == NULL ? NULL : Z3_mk_not(q->z3, a);
}

static Z3_ast choice(question *q, Z3_ast condition, Z3_ast then, Z3_ast otherwise) {
  return condition == NULL || then == NULL || otherwise == NULL ? NULL : Z3_mk_ite(q->z3, condition, then, otherwise);
}

static Z3_ast value_of(const question *q, const tj_node *node) {
  return q->value[node->id];
}

static Z3_ast truth_of(question *q, const tj_node *node) {
  if (q->truth[node->id] == NULL)
    q->truth[node->id] = not(q, binary(q, Z3_mk_eq, value_of(q, node), number(q, 0)));
  return q->truth[node->id];
}

/* --- quotients and remainders --- */

static bool assert_that(question *q, Z3_ast formula) {
  if (formula == NULL)
    return false;
  Z3_solver_assert(q->z3, q->solver, formula);
  return Z3_get_error_code(q->z3) == Z3_OK;
}

/* floor(a / b) for b > 0. */
static Z3_ast quotient_by_positive(question *q, const tj_node *by, Z3_ast a, Z3_ast b) {
  if (a == NULL || b == NULL)
    return NULL;
  return tj_is_constant(by) ? Z3_mk_div(q->z3, a, b) : Z3_mk_app(q->z3, q->quotient, 2, (Z3_ast[]){a, b});
}

static Z3_ast remainder_by_positive(question *q, const tj_node *by, Z3_ast a, Z3_ast b) {
  if (tj_is_constant(by))
    return binary(q, Z3_mk_mod, a, b);
  return list(q, Z3_mk_sub, a, list(q, Z3_mk_mul, b, quotient_by_positive(q, by, a, b)));
}

/* Where b > 0, the remainder is in 0 … b - 1. */
static bool assert_quotient(question *q, const tj_node *by, Z3_ast a, Z3_ast b) {
  if (tj_is_constant(by))
    return true;
  Z3_ast rest = remainder_by_positive(q, by, a, b), zero = number(q, 0);
  Z3_ast in_range = list(q, Z3_mk_and, binary(q, Z3_mk_ge, rest, zero), binary(q, Z3_mk_lt, rest, b));
  return assert_that(q, binary(q, Z3_mk_implies, binary(q, Z3_mk_gt, b, zero), in_range));
}

/* floor(a / b), or what remains of a; for b < 0 the quotient of -a by -b, and the negated remainder. */
static Z3_ast divided(question *q, const tj_node *node) {
  const bool is_quotient = node->op == TJ_OP_DIV;
  const tj_node *by = node->arg[1];
  Z3_ast a = value_of(q, node->arg[0]), b = value_of(q, by), minus_a = negated(q, a), minus_b = negated(q, b);
  Z3_ast (*divide)(question *, const tj_node *, Z3_ast, Z3_ast) =
      is_quotient ? quotient_by_positive : remainder_by_positive;
  Z3_ast positive = NULL, negative = NULL;
  if (by->facts.high > 0 && assert_quotient(q, by, a, b))
    positive = divide(q, by, a, b);
  if (by->facts.low < 0 && assert_quotient(q, by, minus_a, minus_b))
    negative = is_quotient ? divide(q, by, minus_a, minus_b) : negated(q, divide(q, by, minus_a, minus_b));
  if (by->facts.low > 0 || by->facts.high < 0)
    return by->facts.low > 0 ? positive : negative;
  return choice(q, binary(q, Z3_mk_gt, b, number(q, 0)), positive, negative);
}

/* --- bits --- */

/* Bits `from` … from + count - 1 of a, in their place. */
static Z3_ast digit(question *q, Z3_ast a, unsigned from, unsigned count) {
  Z3_ast weight = power_of_two(q, from), end = power_of_two(q, count);
  Z3_ast shifted = from == 0 ? a : binary(q, Z3_mk_div, a, weight);
  Z3_ast low = binary(q, Z3_mk_mod, shifted, end);
  return from == 0 ? low : list(q, Z3_mk_mul, low, weight);
}

/* The bits of a under a constant mask: one digit for each run of ones. */
static Z3_ast masked(question *q, Z3_ast a, uint64_t mask) {
  Z3_ast sum = number(q, 0);
  while (mask != 0) {
    unsigned from = (unsigned)__builtin_ctzll(mask);
    unsigned count = (unsigned)__builtin_ctzll(~(mask >> from));
    sum = list(q, Z3_mk_add, sum, digit(q, a, from, count));
    mask &= ~((((uint64_t)1 << count) - 1) << from);
  }
  return sum;
}

static Z3_ast common_bit(question *q, Z3_ast a, Z3_ast b, unsigned at) {
  Z3_ast weight = power_of_two(q, at);
  Z3_ast of_a = binary(q, Z3_mk_eq, digit(q, a, at, 1), weight);
  Z3_ast of_b = binary(q, Z3_mk_eq, digit(q, b, at, 1), weight);
  return choice(q, list(q, Z3_mk_and, of_a, of_b), weight, number(q, 0));
}

/* The bits that a value may have; all where it has no bound. */
static uint64_t possible_bits(const tj_facts *facts) {
  if (facts->high == INT64_MAX)
    return UINT64_MAX;
  uint64_t filled = facts->high <= 0 ? 0 : UINT64_MAX >> __builtin_clzll((unsigned long long)facts->high);
  return filled & ~facts->zeros;
}

static Z3_ast conjunction(question *q, const tj_node *node) {
  const tj_node *left = node->arg[0], *right = node->arg[1];
  const uint64_t common = possible_bits(&left->facts) & possible_bits(&right->facts);
  Z3_ast a = value_of(q, left), b = value_of(q, right);
  if (left == right)
    return a;
  q->is_beyond |= common > INT64_MAX;
  if (q->is_beyond)
    return NULL;
  const uint64_t from_a = common & right->facts.ones, from_b = common & left->facts.ones & ~from_a;
  Z3_ast sum = list(q, Z3_mk_add, masked(q, a, from_a), masked(q, b, from_b));
  for (uint64_t rest = common & ~from_a & ~from_b; rest != 0; rest &= rest - 1)
    sum = list(q, Z3_mk_add, sum, common_bit(q, a, b, (unsigned)__builtin_ctzll(rest)));
  return sum;
}

/* a + b - times * (a & b): the disjunction, or the exclusive one. */
static Z3_ast sum_less_common(question *q, const tj_node *node, int64_t times) {
  Z3_ast sum = list(q, Z3_mk_add, value_of(q, node->arg[0]), value_of(q, node->arg[1]));
  return list(q, Z3_mk_sub, sum, list(q, Z3_mk_mul, number(q, times), conjunction(q, node)));
}

/* a * 2^b or floor(a / 2^b), for each b that there can be. */
static Z3_ast shifted(question *q, const tj_node *node) {
  const tj_facts *by = &node->arg[1]->facts;
  Z3_ast a = value_of(q, node->arg[0]), b = value_of(q, node->arg[1]), term = NULL;
  const int64_t low = by->low < 0 ? 0 : by->low, high = by->high > 62 ? 62 : by->high;
  for (int64_t amount = low; amount <= high; amount++) {
    Z3_ast power = power_of_two(q, (unsigned)amount);
    Z3_ast one = node->op == TJ_OP_SHL ? list(q, Z3_mk_mul, a, power) : binary(q, Z3_mk_div, a, power);
    term = amount == low ? one : choice(q, binary(q, Z3_mk_eq, b, number(q, amount)), one, term);
  }
  return term;
}

/* --- nodes --- */

static bool joins_truths(const tj_node *node) {
  return (node->op == TJ_OP_AND || node->op == TJ_OP_OR) && tj_is_truth(node->arg[0]) && tj_is_truth(node->arg[1]);
}

static Z3_ast relation(question *q, const tj_node *node) {
  switch (node->op) {
  case TJ_OP_LESS:
    return binary(q, Z3_mk_lt, value_of(q, node->arg[0]), value_of(q, node->arg[1]));
  case TJ_OP_EQUAL:
    return binary(q, Z3_mk_eq, value_of(q, node->arg[0]), value_of(q, node->arg[1]));
  case TJ_OP_AND:
    return list(q, Z3_mk_and, truth_of(q, node->arg[0]), truth_of(q, node->arg[1]));
  default:
    return list(q, Z3_mk_or, truth_of(q, node->arg[0]), truth_of(q, node->arg[1]));
  }
}

static Z3_ast operation(question *q, const tj_node *node) {
  Z3_ast a = value_of(q, node->arg[0]), b = value_of(q, node->arg[1]);
  switch (node->op) {
  case TJ_OP_ADD:
    return list(q, Z3_mk_add, a, b);
  case TJ_OP_MUL:
    return list(q, Z3_mk_mul, a, b);
  case TJ_OP_DIV:
  case TJ_OP_MOD:
    return divided(q, node);
  case TJ_OP_MIN:
    return choice(q, binary(q, Z3_mk_lt, a, b), a, b);
  case TJ_OP_MAX:
    return choice(q, binary(q, Z3_mk_lt, a, b), b, a);
  case TJ_OP_AND:
    return conjunction(q, node);
  case TJ_OP_OR:
    return sum_less_common(q, node, 1);
  case TJ_OP_XOR:
    return sum_less_common(q, node, 2);
  case TJ_OP_SHL:
  case TJ_OP_SHR:
    return shifted(q, node);
  case TJ_OP_SELECT:
    return choice(q, truth_of(q, node->arg[0]), b, value_of(q, node->arg[2]));
  default:
    return NULL;
  }
}

static Z3_ast variable(question *q) {
  return Z3_mk_fresh_const(q->z3, "x", q->integer);
}

static Z3_ast term_of(question *q, const tj_node *node) {
  if (node->op == TJ_OP_CONSTANT)
    return number(q, node->value);
  if (node->op == TJ_OP_SYMBOL)
    return variable(q);
  if (node->op != TJ_OP_LESS && node->op != TJ_OP_EQUAL && !joins_truths(node))
    return operation(q, node);
  q->truth[node->id] = relation(q, node);
  return choice(q, q->truth[node->id], number(q, 1), number(q, 0));
}

/* --- the question --- */

static Z3_ast expanded(question *q, Z3_ast a) {
  if (a == NULL)
    return NULL;
  Z3_params how = Z3_mk_params(q->z3);
  Z3_params_inc_ref(q->z3, how);
  Z3_params_set_bool(q->z3, how, Z3_mk_string_symbol(q->z3, "som"), true);
  Z3_ast result = Z3_simplify_ex(q->z3, a, how);
  Z3_params_dec_ref(q->z3, how);
  return result;
}

/* A quotient is what leaves a remainder in 0 … b - 1, and there is one: so it is the guess where that does. */
static bool assert_guess(question *q, const tj_node *node) {
  const tj_node *guess = q->guess[node->id], *by = node->arg[1];
  if (guess == NULL || by->facts.low <= 0)
    return true;
  Z3_ast a = value_of(q, node->arg[0]), b = value_of(q, by), x = value_of(q, guess);
  Z3_ast rest = expanded(q, list(q, Z3_mk_sub, a, list(q, Z3_mk_mul, b, x)));
  Z3_ast in_range = list(q, Z3_mk_and, binary(q, Z3_mk_ge, rest, number(q, 0)), binary(q, Z3_mk_lt, rest, b));
  Z3_ast is_guess = binary(q, Z3_mk_eq, quotient_by_positive(q, by, a, b), x);
  return assert_that(q, binary(q, Z3_mk_implies, in_range, is_guess));
}

static bool assert_multiple(question *q, Z3_ast value, Z3_ast divisor) {
  return assert_that(q, binary(q, Z3_mk_eq, value, list(q, Z3_mk_mul, variable(q), divisor)));
}

/* The value is one of a few. */
static bool assert_choice(question *q, const tj_symbol *symbol, Z3_ast value) {
  Z3_ast one = binary(q, Z3_mk_eq, value, number(q, symbol->choice[0]));
  for (uint32_t i = 1; i < symbol->choice_count; i++)
    one = list(q, Z3_mk_or, one, binary(q, Z3_mk_eq, value, number(q, symbol->choice[i])));
  return assert_that(q, one);
}

static bool assert_symbol(question *q, const tj_node *node) {
  const tj_symbol *symbol = node->symbol;
  Z3_ast value = value_of(q, node);
  if (symbol->choice_count > 0 && !assert_choice(q, symbol, value))
    return false;
  if (symbol->low != NULL && !assert_that(q, binary(q, Z3_mk_ge, value, value_of(q, symbol->low))))
    return false;
  if (symbol->high != NULL && !assert_that(q, binary(q, Z3_mk_le, value, value_of(q, symbol->high))))
    return false;
  return (symbol->divisor == NULL || assert_multiple(q, value, value_of(q, symbol->divisor))) &&
         (symbol->multiple == 1 || assert_multiple(q, value, number(q, symbol->multiple)));
}

static bool assert_all(question *q, const tj_node *left, const tj_node *right) {
  for (uint32_t i = 0; i < q->walk.count; i++) {
    q->value[q->walk.node[i]->id] = term_of(q, q->walk.node[i]);
    if (q->value[q->walk.node[i]->id] == NULL)
      return false;
  }
  for (uint32_t i = 0; i < q->walk.count; i++)
    if (!assert_guess(q, q->walk.node[i]))
      return false;
  for (uint32_t i = 0; i < q->walk.count; i++)
    if (q->walk.node[i]->op == TJ_OP_SYMBOL && !assert_symbol(q, q->walk.node[i]))
      return false;
  return assert_that(q, not(q, binary(q, Z3_mk_eq, value_of(q, left), value_of(q, right))));
}

/* The values of a model; false where one does not fit. */
static bool read_model(question *q, const tj_node *const symbol[], uint32_t count, int64_t value[]) {
  Z3_model model = Z3_solver_get_model(q->z3, q->solver);
  if (model == NULL)
    return false;
  for (uint32_t i = 0; i < count; i++) {
    Z3_ast result = NULL;
    if (!Z3_model_eval(q->z3, model, value_of(q, symbol[i]), true, &result) || result == NULL ||
        !Z3_get_numeral_int64(q->z3, result, &value[i]))
      return false;
  }
  return true;
}

static void set_limits(question *q) {
  Z3_params limits = Z3_mk_params(q->z3);
  Z3_params_inc_ref(q->z3, limits);
  Z3_params_set_uint(q->z3, limits, Z3_mk_string_symbol(q->z3, "timeout"), TIME_LIMIT);
  Z3_params_set_bool(q->z3, limits, Z3_mk_string_symbol(q->z3, "ctrl_c"), false);
  Z3_solver_set_params(q->z3, q->solver, limits);
  Z3_params_dec_ref(q->z3, limits);
}

static tj_smt_answer ask(question *q, const tj_node *const pair[2], const tj_node *const symbol[], uint32_t count,
                         int64_t value[], const char **why_not) {
  set_limits(q);
  if (!assert_all(q, pair[0], pair[1])) {
    *why_not = q->is_beyond ? "Z3 is not asked about bits of two integers without bounds" : "Z3 failed";
    return TJ_SMT_UNDECIDED;
  }
  switch (Z3_solver_check(q->z3, q->solver)) {
  case Z3_L_FALSE:
    return TJ_SMT_EQUAL;
  case Z3_L_TRUE:
    if (read_model(q, symbol, count, value))
      return TJ_SMT_DIFFERENT;
    *why_not = "Z3 has a counterexample beyond 64 bits";
    return TJ_SMT_UNDECIDED;
  default:
    *why_not = "Z3 gave up at its limit";
    return TJ_SMT_UNDECIDED;
  }
}

static void ignore_error(Z3_context z3, Z3_error_code code) {
  (void)z3, (void)code;
}

static Z3_context open_context(void) {
  Z3_config config = Z3_mk_config();
  if (config == NULL)
    return NULL;
  Z3_set_param_value(config, "rlimit", STEP_LIMIT);
  Z3_set_param_value(config, "model", "true");
  Z3_context z3 = Z3_mk_context(config);
  Z3_del_config(config);
  if (z3 != NULL)
    Z3_set_error_handler(z3, ignore_error);
  return z3;
}

bool tj_smt_available(void) {
  char message[TJ_LIBRARY_MESSAGE_SIZE];
  return tj_z3_load(message);
}

tj_smt_answer tj_smt_compare(tj_graph *graph, const tj_node *left, const tj_node *right,
                             const tj_node *const symbol[], uint32_t symbol_count, int64_t value[],
                             const char **why_not) {
  const tj_node *pair[2] = {left, right};
  question q = {.z3 = NULL};
  collect(graph, &q, pair);
  char message[TJ_LIBRARY_MESSAGE_SIZE];
  if (!tj_z3_load(message)) {
    *why_not = tj_string_copy(graph->job, message, strlen(message));
    return TJ_SMT_UNDECIDED;
  }
  *why_not = "they are too large for Z3";
  if (q.walk.count > MOST_NODES || left->depth > DEEPEST || right->depth > DEEPEST)
    return TJ_SMT_UNDECIDED;
  *why_not = "Z3 failed";
  q.z3 = open_context();
  if (q.z3 == NULL)
    return TJ_SMT_UNDECIDED;
  q.integer = Z3_mk_int_sort(q.z3);
  q.solver = Z3_mk_solver(q.z3);
  q.quotient =
      Z3_mk_func_decl(q.z3, Z3_mk_string_symbol(q.z3, "quotient"), 2, (Z3_sort[]){q.integer, q.integer}, q.integer);
  tj_smt_answer answer = TJ_SMT_UNDECIDED;
  if (q.solver != NULL && q.quotient != NULL) {
    Z3_solver_inc_ref(q.z3, q.solver);
    answer = ask(&q, pair, symbol, symbol_count, value, why_not);
    Z3_solver_dec_ref(q.z3, q.solver);
  }
  Z3_del_context(q.z3);
  return answer;
}

#endif
