/* SPDX-License-Identifier: MIT */
/* Properties of the algebra's arithmetic with parameters, on random expressions: what is built has its value, and
 * what is decided holds, wherever the parameters are bound to numbers; what ranges and multiples decide is decided.
 */
#include "ir/index/eval.h"
#include "ir/layout/arith.h"
#include "tests/unit/support/property_support.h"

enum { CASES = 5000, PARAMETERS = 5, BINDINGS = 12, MOST_RESULTS = 8 };

static const struct {
  const char *name;
  int64_t low, high, multiple;
} parameters[PARAMETERS] = {{"P", 1, 6, 1}, {"Q", 4, 12, 4}, {"R", 8, 24, 8}, {"S", 0, 5, 1}, {"T", -4, 4, 1}};

/* --- expressions --- */

/* All parameters, in the order that bindings have them. */
static void declare_all(property_case *self, const tj_node *symbol[]) {
  for (uint32_t i = 0; i < PARAMETERS; i++)
    symbol[i] =
        tj_symbol_create(self->graph, parameters[i].name, TJ_SYMBOL_PARAMETER, tj_int(self->graph, parameters[i].low),
                         tj_int(self->graph, parameters[i].high), parameters[i].multiple);
}

static const tj_node *random_expression(property_case *self, const tj_node *const symbol[], uint32_t levels) {
  static const int64_t numbers[] = {0, 1, 2, 3, 4, 8, -1, -2};
  uint32_t choice = random_below(&self->state, levels == 0 ? 3 : 6);
  if (choice == 0)
    return tj_int(self->graph, numbers[random_below(&self->state, sizeof numbers / sizeof *numbers)]);
  if (choice < 3)
    return symbol[random_below(&self->state, PARAMETERS)];
  const tj_node *a = random_expression(self, symbol, levels - 1), *b = random_expression(self, symbol, levels - 1);
  if (tj_is_int(a, 0) || tj_is_int(b, 0))
    return a;
  return choice == 3 ? tj_mul(self->graph, a, b) : tj_add(self->graph, a, b);
}

static const tj_node *random_positive(property_case *self, const tj_node *const symbol[]) {
  static const int64_t numbers[] = {1, 1, 2, 3, 4, 8};
  if (random_below(&self->state, 2) == 0)
    return tj_int(self->graph, numbers[random_below(&self->state, sizeof numbers / sizeof *numbers)]);
  const tj_node *a = symbol[random_below(&self->state, 3)], *b = symbol[random_below(&self->state, 3)];
  return random_below(&self->state, 3) == 0 ? tj_mul(self->graph, a, b) : a;
}

/* Two expressions as `tuple` and `other`. */
static void set_operands(property_case *self, const tj_node *a, const tj_node *b) {
  self->tuple = tj_tuple_integer(self->graph, a);
  self->other = tj_tuple_integer(self->graph, b);
}

static void prepare_any(property_case *self) {
  const tj_node *symbol[PARAMETERS];
  declare_all(self, symbol);
  set_operands(self, random_expression(self, symbol, 2), random_expression(self, symbol, 2));
  self->number = random_below(&self->state, 10);
}

static void prepare_quotient(property_case *self) {
  const tj_node *symbol[PARAMETERS];
  declare_all(self, symbol);
  set_operands(self, random_expression(self, symbol, 2), random_positive(self, symbol));
}

static void set_results(property_case *self, const tj_node *const results[], uint32_t count) {
  const tj_tuple *items[MOST_RESULTS];
  for (uint32_t i = 0; i < count; i++)
    items[i] = tj_tuple_integer(self->graph, results[i]);
  self->answer = tj_tuple_list(self->graph, items, count);
}

/* --- values --- */

typedef struct {
  int64_t a, b, result[MOST_RESULTS];
} bound_values;

/* Operands and results where the parameters are random numbers of theirs. */
static bound_values bind(property_case *self) {
  const tj_node *roots[MOST_RESULTS + 2] = {self->tuple->value, self->other->value};
  uint32_t count = self->answer == NULL ? 0 : self->answer->count;
  for (uint32_t i = 0; i < count; i++)
    roots[i + 2] = self->answer->item[i]->value;
  int64_t number[PARAMETERS], value[MOST_RESULTS + 2];
  for (uint32_t i = 0; i < PARAMETERS; i++) {
    int64_t steps = (parameters[i].high - parameters[i].low) / parameters[i].multiple + 1;
    number[i] = parameters[i].low + parameters[i].multiple * (int64_t)random_below(&self->state, (uint32_t)steps);
  }
  tj_bindings bindings = {number, NULL, PARAMETERS};
  EXPECT(self, tj_eval_nodes(roots, count + 2, &bindings, value) == TJ_EVAL_OK);
  bound_values bound = {.a = value[0], .b = value[1]};
  memcpy(bound.result, value + 2, count * sizeof *value);
  return bound;
}

static void operate_sums(property_case *self) {
  tj_graph *graph = self->graph;
  const tj_node *a = self->tuple->value, *b = self->other->value;
  const tj_node *results[] = {tj_terse_add(graph, a, b),
                              tj_terse_sub(graph, a, b),
                              tj_terse_mul(graph, a, b),
                              tj_terse_sub(graph, tj_terse_add(graph, a, b), b),
                              tj_terse_sub(graph, tj_terse_add(graph, a, b), a),
                              tj_absolute(graph, a)};
  set_results(self, results, sizeof results / sizeof *results);
}

static void check_sums(property_case *self) {
  for (uint32_t n = 0; n < BINDINGS; n++) {
    bound_values at = bind(self);
    EXPECT(self, at.result[0] == at.a + at.b && at.result[1] == at.a - at.b && at.result[2] == at.a * at.b);
    EXPECT(self, at.result[3] == at.a && at.result[4] == at.b && at.result[5] == llabs(at.a));
  }
}

static int64_t floor_of(int64_t a, int64_t b) {
  int64_t rest = ((a % b) + b) % b;
  return (a - rest) / b;
}

/* Quotients and remainders, and products divided by their factors. */
static void operate_quotients(property_case *self) {
  tj_graph *graph = self->graph;
  const tj_node *a = self->tuple->value, *b = self->other->value, *eight = tj_int(graph, 8);
  const tj_node *results[] = {tj_terse_div(graph, a, b),
                              tj_terse_mod(graph, a, b),
                              tj_ceil_div(graph, a, b),
                              tj_exact_div(graph, tj_mul(graph, a, b), b),
                              tj_exact_div(graph, tj_mul(graph, b, a), b),
                              tj_exact_div(graph, tj_mul(graph, a, eight), tj_int(graph, 4)),
                              tj_exact_div(graph, tj_mul(graph, eight, a), tj_int(graph, 2))};
  set_results(self, results, sizeof results / sizeof *results);
}

static void check_quotients(property_case *self) {
  for (uint32_t n = 0; n < BINDINGS; n++) {
    bound_values at = bind(self);
    EXPECT(self, at.result[0] == floor_of(at.a, at.b) && at.result[1] == at.a - at.b * floor_of(at.a, at.b));
    EXPECT(self, at.result[2] == floor_of(at.a + at.b - 1, at.b) && at.result[3] == at.a && at.result[4] == at.a);
    EXPECT(self, at.result[5] == 2 * at.a && at.result[6] == 4 * at.a);
  }
}

/* Neutral operands leave an expression as it is. */
static void check_terse(property_case *self) {
  tj_graph *graph = self->graph;
  const tj_node *a = self->tuple->value, *b = self->other->value, *zero = tj_int(graph, 0), *one = tj_int(graph, 1);
  EXPECT(self, tj_terse_add(graph, a, zero) == a && tj_terse_add(graph, zero, a) == a);
  EXPECT(self, tj_terse_sub(graph, a, zero) == a && tj_terse_sub(graph, a, a) == zero);
  EXPECT(self, tj_terse_mul(graph, a, one) == a && tj_terse_mul(graph, one, a) == a);
  EXPECT(self, tj_terse_mul(graph, a, zero) == zero && tj_terse_mul(graph, zero, a) == zero);
  EXPECT(self, tj_terse_div(graph, a, one) == a && tj_terse_div(graph, zero, b) == zero);
  EXPECT(self, tj_terse_mod(graph, a, one) == zero && tj_terse_mod(graph, zero, b) == zero);
  EXPECT(self,
         tj_exact_div(graph, a, one) == a && tj_ceil_div(graph, a, one) == a && tj_exact_div(graph, b, b) == one);
  const tj_node *sum = tj_add(graph, a, b);
  EXPECT(self, sum->op != TJ_OP_ADD || (tj_terse_sub(graph, sum, a) == b && tj_terse_sub(graph, sum, b) == a));
}

/* Truths, of which either may be the constant 1. */
static void prepare_truths(property_case *self) {
  const tj_node *symbol[PARAMETERS], *truth[2];
  declare_all(self, symbol);
  for (uint32_t i = 0; i < 2; i++)
    truth[i] = random_below(&self->state, 4) == 0
                   ? tj_int(self->graph, 1)
                   : tj_less(self->graph, symbol[random_below(&self->state, PARAMETERS)], tj_int(self->graph, 3));
  set_operands(self, truth[0], truth[1]);
}

static void operate_truths(property_case *self) {
  const tj_node *both = tj_terse_both(self->graph, self->tuple->value, self->other->value);
  set_results(self, &both, 1);
}

static void check_truths(property_case *self) {
  const tj_node *a = self->tuple->value, *b = self->other->value, *both = self->answer->item[0]->value;
  EXPECT(self, !tj_is_int(a, 1) || both == b);
  EXPECT(self, (!tj_is_int(b, 1) && a != b) || both == a);
  for (uint32_t n = 0; n < BINDINGS; n++) {
    bound_values at = bind(self);
    EXPECT(self, at.result[0] == (at.a == 1 && at.b == 1));
  }
}

START_TEST(values) {
  static const property properties[] = {
      {"sums", prepare_any, operate_sums, check_sums, CASES, CASES, {NO_CODE}},
      {"quotients", prepare_quotient, operate_quotients, check_quotients, CASES, CASES, {NO_CODE}},
      {"terse", prepare_quotient, operate_nothing, check_terse, CASES, CASES, {NO_CODE}},
      {"truths", prepare_truths, operate_truths, check_truths, CASES, CASES, {NO_CODE}},
  };
  RUN_PROPERTIES(properties);
}
END_TEST

/* --- division of shapes --- */

static void operate_shapes(property_case *self) {
  const tj_node *results[] = {tj_tuple_ceil_div(self->graph, self->tuple, self->other)->value,
                              tj_tuple_round_up(self->graph, self->tuple, self->other)->value,
                              tj_shape_div(self->graph, self->tuple, self->other)->value};
  set_results(self, results, 3);
}

/* Two positive numbers, of which facts may show that one divides the other. */
static void prepare_shapes(property_case *self) {
  const tj_node *symbol[PARAMETERS];
  declare_all(self, symbol);
  const tj_node *a = random_positive(self, symbol), *b = random_positive(self, symbol);
  if (random_below(&self->state, 2) == 0)
    a = tj_mul(self->graph, a, b);
  set_operands(self, a, b);
}

static void check_shapes(property_case *self) {
  for (uint32_t n = 0; n < BINDINGS; n++) {
    bound_values at = bind(self);
    int64_t up = (at.a + at.b - 1) / at.b;
    EXPECT(self, at.result[0] == up && at.result[1] == up * at.b);
    EXPECT(self, at.a % at.b == 0 || at.b % at.a == 0);
    EXPECT(self, at.result[2] == (at.a % at.b == 0 ? at.a / at.b : 1));
  }
}

/* A divisor that may be 0 or less, and for one that cannot be more. */
static void prepare_divisor(property_case *self) {
  const tj_node *symbol[PARAMETERS];
  declare_all(self, symbol);
  bool never = random_below(&self->state, 2) == 0;
  const tj_node *divisor = symbol[3 + random_below(&self->state, 2)];
  if (never)
    divisor = tj_sub(self->graph, divisor, tj_int(self->graph, 5 + random_below(&self->state, 3)));
  set_operands(self, symbol[2], divisor);
  self->number = random_below(&self->state, 3);
  self->refusal = never ? TJ_BAD_SHAPE : TJ_NEEDS_FACT;
}

static void operate_divisor(property_case *self) {
  const tj_tuple *(*const operations[])(tj_graph *, const tj_tuple *,
                                        const tj_tuple *) = {tj_tuple_ceil_div, tj_tuple_round_up, tj_shape_div};
  operations[self->number](self->graph, self->tuple, self->other);
}

START_TEST(division) {
  static const property properties[] = {
      {"shapes", prepare_shapes, operate_shapes, check_shapes, CASES, 3000, {TJ_NEEDS_FACT, TJ_NOT_DIVISIBLE}},
      {"divisors", prepare_divisor, operate_divisor, operate_nothing, 500, 0, {NO_CODE}},
  };
  RUN_PROPERTIES(properties);
}
END_TEST

/* --- decisions --- */

static bool holds(tj_decision decided, bool is) {
  return decided == TJ_UNKNOWN || decided == (is ? TJ_YES : TJ_NO);
}

/* What is decided holds at numbers; of numbers all is decided. */
static void check_decisions(property_case *self) {
  tj_graph *graph = self->graph;
  const tj_node *a = self->tuple->value, *b = self->other->value;
  tj_decision equal = tj_decide_equal(graph, a, b), less = tj_decide_less(graph, a, b),
              less_equal = tj_decide_less_equal(graph, a, b), divides = tj_decide_divides(graph, b, a);
  EXPECT(self, tj_surely_equal(graph, a, b) == (equal == TJ_YES));
  EXPECT(self, !(tj_is_constant(a) && tj_is_constant(b)) ||
                   (equal != TJ_UNKNOWN && less != TJ_UNKNOWN && less_equal != TJ_UNKNOWN && divides != TJ_UNKNOWN));
  for (uint32_t n = 0; n < BINDINGS; n++) {
    bound_values at = bind(self);
    EXPECT(self, holds(equal, at.a == at.b) && holds(less, at.a < at.b) && holds(less_equal, at.a <= at.b));
    EXPECT(self, at.b == 0 || holds(divides, at.a % at.b == 0));
  }
}

/* A parameter and a number. */
typedef struct {
  uint32_t which;
  int64_t plus, low, high;
} shifted;

static shifted random_shifted(property_case *self) {
  shifted made = {.which = random_below(&self->state, PARAMETERS),
                  .plus = (int64_t)random_below(&self->state, 21) - 10};
  made.low = parameters[made.which].low + made.plus;
  made.high = parameters[made.which].high + made.plus;
  return made;
}

static const tj_node *node_of(const property_case *self, const tj_node *const symbol[], shifted term) {
  return tj_add(self->graph, symbol[term.which], tj_int(self->graph, term.plus));
}

/* Two parameters are less by their ranges or not, and one by the numbers beside it. */
static void check_ranges(property_case *self) {
  const tj_node *symbol[PARAMETERS];
  declare_all(self, symbol);
  shifted a = random_shifted(self), b = random_shifted(self);
  bool same = a.which == b.which;
  tj_decision less = same              ? (a.plus < b.plus ? TJ_YES : TJ_NO)
                     : a.high < b.low  ? TJ_YES
                     : a.low >= b.high ? TJ_NO
                                       : TJ_UNKNOWN;
  tj_decision more = same              ? (b.plus < a.plus ? TJ_YES : TJ_NO)
                     : b.high < a.low  ? TJ_YES
                     : b.low >= a.high ? TJ_NO
                                       : TJ_UNKNOWN;
  const tj_node *left = node_of(self, symbol, a), *right = node_of(self, symbol, b);
  EXPECT(self, tj_decide_less(self->graph, left, right) == less);
  tj_decision at_most = more == TJ_YES ? TJ_NO : more == TJ_NO ? TJ_YES : TJ_UNKNOWN;
  EXPECT(self, tj_decide_less_equal(self->graph, left, right) == at_most);
  tj_decision equal = tj_decide_equal(self->graph, left, right);
  EXPECT(self, (equal == TJ_YES) == (same && a.plus == b.plus));
  EXPECT(self, (less != TJ_YES && more != TJ_YES) || equal == TJ_NO);
}

/* Sums with their terms in another order, and with their numbers apart, are equal. */
static void check_spellings(property_case *self) {
  tj_graph *graph = self->graph;
  const tj_node *a = self->tuple->value, *b = self->other->value;
  const tj_node *number = tj_int(graph, self->number), *rest = tj_int(graph, 5 - self->number);
  const tj_node *left = tj_add(graph, tj_add(graph, a, number), tj_add(graph, b, rest));
  const tj_node *right = tj_add(graph, tj_add(graph, tj_int(graph, 5), b), a);
  EXPECT(self, tj_decide_equal(graph, left, right) == TJ_YES);
  EXPECT(self, tj_decide_equal(graph, left, tj_add(graph, right, tj_int(graph, 1))) == TJ_NO);
}

/* A number divides a multiple of a parameter and a number: always, never, or sometimes. */
static void check_multiples(property_case *self) {
  const tj_node *symbol[PARAMETERS];
  declare_all(self, symbol);
  uint32_t which = random_below(&self->state, PARAMETERS);
  int64_t factor = random_power(&self->state, 2), plus = random_below(&self->state, 9);
  int64_t divisor = 1 + random_below(&self->state, 9), step = factor * parameters[which].multiple;
  const tj_node *value =
      tj_add(self->graph, tj_mul(self->graph, symbol[which], tj_int(self->graph, factor)), tj_int(self->graph, plus));
  tj_decision divides = tj_decide_divides(self->graph, tj_int(self->graph, divisor), value);
  bool always = true, never = true;
  for (int64_t at = parameters[which].low; at <= parameters[which].high; at += parameters[which].multiple) {
    bool is = (at * factor + plus) % divisor == 0;
    always = always && is;
    never = never && !is;
  }
  EXPECT(self, divides == TJ_YES ? always : divides == TJ_NO ? never : step % divisor != 0);
}

START_TEST(decisions) {
  static const property properties[] = {
      {"decisions", prepare_any, operate_nothing, check_decisions, CASES, CASES, {NO_CODE}},
      {"ranges", operate_nothing, operate_nothing, check_ranges, CASES, CASES, {NO_CODE}},
      {"spellings", prepare_any, operate_nothing, check_spellings, CASES, CASES, {NO_CODE}},
      {"multiples", operate_nothing, operate_nothing, check_multiples, CASES, CASES, {NO_CODE}},
  };
  RUN_PROPERTIES(properties);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {values, division, decisions};
  return run_suite(suite_of("algebra_properties_parameters", tests, sizeof tests / sizeof *tests));
}
