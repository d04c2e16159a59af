/* SPDX-License-Identifier: MIT */
/* Coordinate transforms: one table, a row for each transform, and the functions that its rows name.
 *
 * A row makes a transform from its arguments, maps indices down and up, and says where an upper index is valid and
 * how long vectors along the upper dimensions may be. Views put transforms together (view.c). */
#include "ir/view/transform.h"

#include "base/integer.h"
#include "ir/layout/arith.h"
#include "ir/layout/lookup.h"

#include <inttypes.h>
#include <string.h>

/* What a row's function works on. */
typedef struct {
  tj_graph *graph;
  const tj_transform *transform;
} context;

typedef struct {
  const char *name, *form;
  tj_stage_kind stage;
  tj_transform_reach reach;
  tj_transform_images images;
  /* Fills lengths and amounts in from the flattened arguments. */
  void (*make)(tj_graph *graph, tj_transform *transform, const tj_node *const number[], uint32_t count);
  void (*lower)(context self, const tj_node *const upper[], const tj_node *lower[]);
  void (*upper)(context self, const tj_node *const lower[], const tj_node *upper[]);   /* NULL: no inverse */
  const tj_node *(*valid)(context self, const tj_node *upper);                         /* NULL: always */
  void (*vectors)(context self, const int64_t lower[], int64_t upper[], bool strides); /* NULL: unknown */
} transform_row;

static const transform_row *row_of(tj_transform_kind kind);

const char *tj_transform_name(tj_transform_kind kind) {
  return row_of(kind)->name;
}

const char *tj_transform_form(tj_transform_kind kind) {
  return row_of(kind)->form;
}

tj_stage_kind tj_transform_stage(tj_transform_kind kind) {
  return row_of(kind)->stage;
}

tj_transform_reach tj_transform_reach_of(tj_transform_kind kind) {
  return row_of(kind)->reach;
}

tj_transform_images tj_transform_images_of(tj_transform_kind kind) {
  return row_of(kind)->images;
}

static const tj_node *amount(context self, uint32_t i) {
  return self.transform->amount[i];
}

/* --- making --- */

static const tj_node *const *copy_nodes(tj_graph *graph, const tj_node *const nodes[], uint32_t count) {
  return count == 0 ? NULL : tj_arena_copy(&graph->job->arena, nodes, count * sizeof(*nodes));
}

static void set_lower(tj_graph *graph, tj_transform *transform, const tj_node *const lengths[], uint32_t count) {
  transform->lower_length = copy_nodes(graph, lengths, count);
  transform->lower_count = count;
}

static void set_upper(tj_graph *graph, tj_transform *transform, const tj_node *const lengths[], uint32_t count) {
  transform->upper_length = copy_nodes(graph, lengths, count);
  transform->upper_count = count;
}

static void set_amounts(tj_graph *graph, tj_transform *transform, const tj_node *const amounts[], uint32_t count) {
  transform->amount = copy_nodes(graph, amounts, count);
  transform->amount_count = count;
}

static void set_one_to_one(tj_graph *graph, tj_transform *transform, const tj_node *lower, const tj_node *upper) {
  set_lower(graph, transform, &lower, 1);
  set_upper(graph, transform, &upper, 1);
}

static _Noreturn void fail_form(tj_graph *graph, const tj_transform *transform, const char *reason) {
  tj_note(graph->job, "the form is %s", tj_transform_form(transform->kind));
  tj_fail(graph->job, TJ_TRANSFORM_ARGUMENT, "%s: %s", tj_transform_name(transform->kind), reason);
}

static const char *counted(tj_job *job, uint32_t count, const char *what) {
  return tj_string_format(job, "%" PRIu32 " %s%s", count, what, count == 1 ? "" : "s");
}

static void check_count(tj_graph *graph, const tj_transform *transform, uint32_t count, uint32_t expected) {
  if (count != expected)
    fail_form(
        graph, transform,
        tj_string_format(graph->job, "%s instead of %" PRIu32, counted(graph->job, count, "integer"), expected));
}

/* Of transforms whose arguments are two tuples, or an integer and a tuple. */
static void check_pair(tj_graph *graph, const tj_transform *transform, const char *what) {
  uint32_t count = transform->argument_count;
  if (count != 2)
    fail_form(graph, transform,
              tj_string_format(graph->job, "%s instead of two, %s", counted(graph->job, count, "argument"), what));
}

/* `number` is the argument's place among the integers of the call. */
static void check_at_least(tj_graph *graph, const tj_transform *transform, const tj_node *value, int64_t least,
                           const char *what, uint32_t number) {
  switch (tj_decide_at_least(graph, value, least)) {
  case TJ_YES:
    return;
  case TJ_NO:
    tj_note(graph->job, "the form is %s", tj_transform_form(transform->kind));
    tj_fail(graph->job, TJ_TRANSFORM_ARGUMENT, "%s: integer %" PRIu32 ", the %s, is %s, less than %" PRId64,
            tj_transform_name(transform->kind), number + 1, what, tj_describe(graph, value), least);
  default:
    tj_fail_needs(graph, tj_transform_name(transform->kind), value, ">=", tj_int(graph, least));
  }
}

static void check_lengths(tj_graph *graph, const tj_transform *transform, const tj_node *const lengths[],
                          uint32_t count) {
  if (count == 0)
    fail_form(graph, transform, "no lengths");
  if (count > TJ_MAX_DIMENSIONS)
    tj_fail(graph->job, TJ_WORK_LIMIT, "%s: more than %d dimensions", tj_transform_name(transform->kind),
            TJ_MAX_DIMENSIONS);
  for (uint32_t i = 0; i < count; i++)
    check_at_least(graph, transform, lengths[i], 1, "length", i);
}

static void make_pass_through(tj_graph *graph, tj_transform *transform, const tj_node *const number[],
                              uint32_t count) {
  check_count(graph, transform, count, 1);
  check_lengths(graph, transform, number, 1);
  set_one_to_one(graph, transform, number[0], number[0]);
}

/* pad, left_pad and right_pad: L and one or two amounts. */
static void make_pad(tj_graph *graph, tj_transform *transform, const tj_node *const number[], uint32_t count) {
  uint32_t amounts = transform->kind == TJ_TRANSFORM_PAD ? 2 : 1;
  check_count(graph, transform, count, 1 + amounts);
  check_lengths(graph, transform, number, 1);
  const tj_node *length = number[0];
  for (uint32_t i = 0; i < amounts; i++) {
    check_at_least(graph, transform, number[1 + i], 0, "amount", 1 + i);
    length = tj_terse_add(graph, length, number[1 + i]);
  }
  set_one_to_one(graph, transform, number[0], length);
  set_amounts(graph, transform, number + 1, amounts);
}

static const tj_node *product_of(tj_graph *graph, const tj_node *const lengths[], uint32_t count) {
  const tj_node *product = tj_int(graph, 1);
  for (uint32_t i = 0; i < count; i++)
    product = tj_terse_mul(graph, product, lengths[i]);
  return product;
}

static void make_merge(tj_graph *graph, tj_transform *transform, const tj_node *const number[], uint32_t count) {
  check_lengths(graph, transform, number, count);
  const tj_node *product = product_of(graph, number, count);
  set_lower(graph, transform, number, count);
  set_upper(graph, transform, &product, 1);
}

static void make_unmerge(tj_graph *graph, tj_transform *transform, const tj_node *const number[], uint32_t count) {
  check_lengths(graph, transform, number, count);
  const tj_node *product = product_of(graph, number, count);
  set_lower(graph, transform, &product, 1);
  set_upper(graph, transform, number, count);
}

static void set_any_lower(tj_graph *graph, tj_transform *transform) {
  const tj_node *any = NULL;
  set_lower(graph, transform, &any, 1);
}

/* The numbers are the lengths, then as many coefficients. */
static void make_embed(tj_graph *graph, tj_transform *transform, const tj_node *const number[], uint32_t count) {
  const tj_tuple *const *argument = transform->argument;
  check_pair(graph, transform, "lengths and coefficients");
  if (argument[0]->leaf_count != argument[1]->leaf_count)
    fail_form(graph, transform,
              tj_string_format(graph->job, "argument 2, %s, has %s for %s", tj_tuple_text(graph->job, argument[1]),
                               counted(graph->job, argument[1]->leaf_count, "coefficient"),
                               counted(graph->job, argument[0]->leaf_count, "length")));
  check_lengths(graph, transform, number, count / 2);
  set_any_lower(graph, transform);
  set_upper(graph, transform, number, count / 2);
  set_amounts(graph, transform, number + count / 2, count / 2);
}

static void make_replicate(tj_graph *graph, tj_transform *transform, const tj_node *const number[], uint32_t count) {
  check_lengths(graph, transform, number, count);
  set_upper(graph, transform, number, count);
}

static void make_offset(tj_graph *graph, tj_transform *transform, const tj_node *const number[], uint32_t count) {
  check_count(graph, transform, count, 2);
  check_lengths(graph, transform, number, 1);
  set_any_lower(graph, transform);
  set_upper(graph, transform, number, 1);
  set_amounts(graph, transform, number + 1, 1);
}

static void make_slice(tj_graph *graph, tj_transform *transform, const tj_node *const number[], uint32_t count) {
  check_count(graph, transform, count, 3);
  check_lengths(graph, transform, number, 1);
  check_at_least(graph, transform, number[1], 0, "begin", 1);
  const tj_node *length = tj_terse_sub(graph, number[2], number[1]);
  check_at_least(graph, transform, length, 1, "end less the begin", 2);
  tj_decision fits = tj_decide_less_equal(graph, number[2], number[0]);
  if (fits == TJ_UNKNOWN)
    tj_fail_needs(graph, "slice", number[2], "<=", number[0]);
  if (fits == TJ_NO)
    tj_fail(graph->job, TJ_TRANSFORM_ARGUMENT, "slice: end %s is beyond length %s", tj_describe(graph, number[2]),
            tj_describe(graph, number[0]));
  set_one_to_one(graph, transform, number[0], length);
  set_amounts(graph, transform, number + 1, 1);
}

static void make_modulo(tj_graph *graph, tj_transform *transform, const tj_node *const number[], uint32_t count) {
  check_count(graph, transform, count, 2);
  check_lengths(graph, transform, number, 2);
  set_any_lower(graph, transform);
  set_upper(graph, transform, number + 1, 1);
  set_amounts(graph, transform, number, 1);
}

static void make_two_to_two(tj_graph *graph, tj_transform *transform, const tj_node *const number[], uint32_t count) {
  check_count(graph, transform, count, 2);
  check_lengths(graph, transform, number, 2);
  set_lower(graph, transform, number, 2);
  set_upper(graph, transform, number, 2);
}

static void make_freeze(tj_graph *graph, tj_transform *transform, const tj_node *const number[], uint32_t count) {
  check_count(graph, transform, count, 1);
  check_at_least(graph, transform, number[0], 0, "index", 0);
  set_any_lower(graph, transform);
  set_amounts(graph, transform, number, 1);
}

static void make_insert(tj_graph *graph, tj_transform *transform, const tj_node *const number[], uint32_t count) {
  check_count(graph, transform, count, 1);
  check_lengths(graph, transform, number, 1);
  set_upper(graph, transform, number, 1);
}

enum { MOST_ENTRIES = 4096 };

static void make_indexing(tj_graph *graph, tj_transform *transform, const tj_node *const number[], uint32_t count) {
  check_pair(graph, transform, "a length and a table");
  if (transform->argument[0]->leaf_count != 1)
    fail_form(graph, transform,
              tj_string_format(graph->job, "argument 1, %s, is no length",
                               tj_tuple_text(graph->job, transform->argument[0])));
  check_lengths(graph, transform, number, 1);
  if (count - 1 > MOST_ENTRIES)
    tj_fail(graph->job, TJ_WORK_LIMIT, "indexing: more than %d entries", MOST_ENTRIES);
  if (!tj_is_int(number[0], (int64_t)count - 1))
    tj_fail(graph->job, TJ_TRANSFORM_ARGUMENT, "indexing: the length is %s, the table has %" PRIu32 " entries",
            tj_describe(graph, number[0]), count - 1);
  for (uint32_t i = 1; i < count; i++)
    check_at_least(graph, transform, number[i], 0, "entry", i);
  set_any_lower(graph, transform);
  set_upper(graph, transform, number, 1);
  set_amounts(graph, transform, number + 1, count - 1);
}

/* --- upper to lower, and back --- */

static void copy_first(context self, const tj_node *const from[], const tj_node *to[]) {
  (void)self;
  to[0] = from[0];
}

static void leave_empty(context self, const tj_node *const from[], const tj_node *to[]) {
  (void)self, (void)from, (void)to;
}

static void subtract_amount(context self, const tj_node *const from[], const tj_node *to[]) {
  to[0] = tj_terse_sub(self.graph, from[0], amount(self, 0));
}

static void add_amount(context self, const tj_node *const from[], const tj_node *to[]) {
  to[0] = tj_terse_add(self.graph, from[0], amount(self, 0));
}

/* The digits of a number, the last fastest; the first takes what is left. */
static void split(tj_graph *graph, const tj_node *number, const tj_node *const lengths[], uint32_t count,
                  const tj_node *digits[]) {
  for (uint32_t i = count; i-- > 1;) {
    digits[i] = tj_terse_mod(graph, number, lengths[i]);
    number = tj_terse_div(graph, number, lengths[i]);
  }
  digits[0] = number;
}

static const tj_node *join(tj_graph *graph, const tj_node *const digits[], const tj_node *const lengths[],
                           uint32_t count) {
  const tj_node **weights = TJ_NEW_ARRAY(graph->job, const tj_node *, count);
  const tj_node *weight = tj_int(graph, 1);
  for (uint32_t i = count; i-- > 0;) {
    weights[i] = weight;
    weight = tj_terse_mul(graph, weight, lengths[i]);
  }
  const tj_node *number = tj_int(graph, 0);
  for (uint32_t i = 0; i < count; i++)
    number = tj_terse_add(graph, number, tj_terse_mul(graph, digits[i], weights[i]));
  return number;
}

static void lower_merge(context self, const tj_node *const upper[], const tj_node *lower[]) {
  split(self.graph, upper[0], self.transform->lower_length, self.transform->lower_count, lower);
}

static void upper_merge(context self, const tj_node *const lower[], const tj_node *upper[]) {
  upper[0] = join(self.graph, lower, self.transform->lower_length, self.transform->lower_count);
}

static void lower_unmerge(context self, const tj_node *const upper[], const tj_node *lower[]) {
  lower[0] = join(self.graph, upper, self.transform->upper_length, self.transform->upper_count);
}

static void upper_unmerge(context self, const tj_node *const lower[], const tj_node *upper[]) {
  split(self.graph, lower[0], self.transform->upper_length, self.transform->upper_count, upper);
}

static void lower_embed(context self, const tj_node *const upper[], const tj_node *lower[]) {
  const tj_node *sum = tj_int(self.graph, 0);
  for (uint32_t i = 0; i < self.transform->upper_count; i++)
    sum = tj_terse_add(self.graph, sum, tj_terse_mul(self.graph, upper[i], amount(self, i)));
  lower[0] = sum;
}

static _Noreturn void fail_no_inverse(context self, const char *reason) {
  tj_text text = tj_text_begin(self.graph->job);
  tj_transform_print(&text, self.transform);
  tj_fail(self.graph->job, TJ_NO_INVERSE, "%s has no inverse: %s", text.data, reason);
}

/* The dimension of the largest coefficient among those not `done` and longer than 1; upper_count when there is none.
 */
static uint32_t largest_coefficient(context self, const bool done[]) {
  uint32_t best = self.transform->upper_count;
  for (uint32_t i = 0; i < self.transform->upper_count; i++) {
    if (done[i] || tj_is_int(self.transform->upper_length[i], 1))
      continue;
    if (best == self.transform->upper_count) {
      best = i;
      continue;
    }
    tj_decision less = tj_decide_less(self.graph, amount(self, best), amount(self, i));
    if (less == TJ_UNKNOWN)
      fail_no_inverse(self, "the order of its coefficients is not known");
    best = less == TJ_YES ? i : best;
  }
  return best;
}

/* Distinct upper coordinates must have distinct values, digit by digit: each coefficient exceeds the largest sum that
 * the smaller ones make. */
static void check_separable(context self, const bool done[], uint32_t dimension) {
  tj_graph *graph = self.graph;
  const tj_node *reach = tj_int(graph, 0);
  for (uint32_t i = 0; i < self.transform->upper_count; i++) {
    if (done[i] || i == dimension)
      continue;
    const tj_node *last = tj_terse_add(graph, self.transform->upper_length[i], tj_int(graph, -1));
    reach = tj_terse_add(graph, reach, tj_terse_mul(graph, last, amount(self, i)));
  }
  if (tj_decide_less(graph, reach, amount(self, dimension)) != TJ_YES)
    fail_no_inverse(self, "several upper indices may have one lower index");
}

static void upper_embed(context self, const tj_node *const lower[], const tj_node *upper[]) {
  tj_graph *graph = self.graph;
  uint32_t count = self.transform->upper_count;
  bool *done = TJ_NEW_ARRAY(graph->job, bool, count);
  const tj_node *rest = lower[0];
  for (uint32_t i = 0; i < count; i++)
    upper[i] = tj_int(graph, 0);
  for (uint32_t i = largest_coefficient(self, done); i < count; i = largest_coefficient(self, done)) {
    check_separable(self, done, i);
    upper[i] = tj_terse_div(graph, rest, amount(self, i));
    rest = tj_terse_mod(graph, rest, amount(self, i));
    done[i] = true;
  }
}

static void lower_modulo(context self, const tj_node *const upper[], const tj_node *lower[]) {
  lower[0] = tj_terse_mod(self.graph, upper[0], amount(self, 0));
}

static void upper_modulo(context self, const tj_node *const lower[], const tj_node *upper[]) {
  if (tj_decide_less_equal(self.graph, self.transform->upper_length[0], amount(self, 0)) != TJ_YES)
    fail_no_inverse(self, "several upper indices may have one lower index");
  upper[0] = lower[0];
}

/* value xor field, 0 <= field < length, where value may be negative: then only its lowest bits take part. */
static const tj_node *xor_low_bits(context self, const tj_node *value, const tj_node *field, const tj_node *length) {
  tj_graph *graph = self.graph;
  if (tj_facts_nonnegative(&value->facts) || !tj_is_constant(length) || length->value > INT64_C(1) << 62)
    return tj_xor(graph, value, field);
  int64_t power = 1;
  while (power < length->value)
    power *= 2;
  const tj_node *modulus = tj_int(graph, power);
  const tj_node *low = tj_xor(graph, tj_terse_mod(graph, value, modulus), field);
  return tj_terse_add(graph, tj_terse_mul(graph, tj_terse_div(graph, value, modulus), modulus), low);
}

/* Its own inverse. */
static void xor_second(context self, const tj_node *const from[], const tj_node *to[]) {
  const tj_node *length = self.transform->upper_length[1];
  to[0] = from[0];
  to[1] = xor_low_bits(self, from[1], tj_terse_mod(self.graph, from[0], length), length);
}

static void lower_freeze(context self, const tj_node *const upper[], const tj_node *lower[]) {
  (void)upper;
  lower[0] = amount(self, 0);
}

static void lower_indexing(context self, const tj_node *const upper[], const tj_node *lower[]) {
  lower[0] = tj_lookup(self.graph, self.transform->amount, self.transform->amount_count, upper[0]);
}

/* Where each index stands in the table; fails where the table is no permutation. */
static const tj_node **inverse_table(context self) {
  uint32_t count = self.transform->amount_count;
  const tj_node **inverse = TJ_NEW_ARRAY(self.graph->job, const tj_node *, count);
  tj_spend(self.graph->job, count);
  for (uint32_t i = 0; i < count; i++) {
    const tj_node *entry = amount(self, i);
    if (!tj_is_constant(entry) || entry->value >= count || inverse[entry->value] != NULL)
      fail_no_inverse(self, "its table is no permutation");
    inverse[entry->value] = tj_int(self.graph, i);
  }
  return inverse;
}

/* Where a constant stands in the table; -1 where it does not. */
static int64_t find_entry(context self, const tj_node *wanted) {
  int64_t found = -1;
  tj_spend(self.graph->job, self.transform->amount_count);
  for (uint32_t i = 0; i < self.transform->amount_count; i++) {
    tj_decision same = tj_decide_equal(self.graph, amount(self, i), wanted);
    if (same == TJ_UNKNOWN)
      tj_fail_needs(self.graph, "indexing", amount(self, i), "!=", wanted);
    if (same == TJ_YES && found >= 0)
      fail_no_inverse(self, "several upper indices have this lower index");
    if (same == TJ_YES)
      found = i;
  }
  return found;
}

static void upper_indexing(context self, const tj_node *const lower[], const tj_node *upper[]) {
  if (tj_is_constant(lower[0]))
    upper[0] = tj_int(self.graph, find_entry(self, lower[0]));
  else
    upper[0] = tj_lookup(self.graph, inverse_table(self), self.transform->amount_count, lower[0]);
}

static void lower_cyclic_shift(context self, const tj_node *const upper[], const tj_node *lower[]) {
  lower[0] = upper[0];
  lower[1] = tj_terse_mod(self.graph, tj_terse_add(self.graph, upper[1], upper[0]), self.transform->upper_length[1]);
}

static void upper_cyclic_shift(context self, const tj_node *const lower[], const tj_node *upper[]) {
  upper[0] = lower[0];
  upper[1] = tj_terse_mod(self.graph, tj_terse_sub(self.graph, lower[1], lower[0]), self.transform->upper_length[1]);
}

/* --- validity --- */

static const tj_node *at_least(tj_graph *graph, const tj_node *index, const tj_node *least) {
  if (tj_is_int(least, 0) && tj_facts_nonnegative(&index->facts))
    return tj_int(graph, 1);
  return tj_is_constant(least) ? tj_less(graph, tj_int(graph, least->value - 1), index)
                               : tj_less_equal(graph, least, index);
}

static const tj_node *valid_left_pad(context self, const tj_node *upper) {
  return at_least(self.graph, upper, amount(self, 0));
}

static const tj_node *valid_right_pad(context self, const tj_node *upper) {
  return tj_less(self.graph, upper, self.transform->lower_length[0]);
}

static const tj_node *valid_pad(context self, const tj_node *upper) {
  const tj_node *end = tj_terse_add(self.graph, self.transform->lower_length[0], amount(self, 0));
  return tj_terse_both(self.graph, valid_left_pad(self, upper), tj_less(self.graph, upper, end));
}

/* --- safe vector lengths and strides, -1 where unknown --- */

static void vectors_same(context self, const int64_t lower[], int64_t upper[], bool strides) {
  (void)strides;
  memcpy(upper, lower, self.transform->upper_count * sizeof *upper);
}

static void vectors_of_last(context self, const int64_t lower[], int64_t upper[], bool strides) {
  (void)strides;
  upper[0] = lower[self.transform->lower_count - 1];
}

static void vectors_unmerge(context self, const int64_t lower[], int64_t upper[], bool strides) {
  uint32_t last = self.transform->upper_count - 1;
  const tj_node *length = self.transform->upper_length[last];
  if (strides || lower[0] == -1)
    upper[last] = lower[0];
  else if (tj_is_constant(length))
    upper[last] = (int64_t)tj_gcd(tj_magnitude(lower[0]), tj_magnitude(length->value));
}

/* --- the table --- */

static const transform_row rows[TJ_TRANSFORM_COUNT] = {
#define TRANSFORM(name, text, stage, reach, images, form, ...)                                                       \
  [TJ_TRANSFORM_##name] = {text, form, TJ_STAGE_##stage, TJ_REACH_##reach, TJ_IMAGES_##images, ROW_##name},
#define ROW_PASS_THROUGH make_pass_through, copy_first, copy_first, NULL, vectors_same
#define ROW_PAD make_pad, subtract_amount, add_amount, valid_pad, NULL
#define ROW_LEFT_PAD make_pad, subtract_amount, add_amount, valid_left_pad, vectors_same
#define ROW_RIGHT_PAD make_pad, copy_first, copy_first, valid_right_pad, vectors_same
#define ROW_MERGE make_merge, lower_merge, upper_merge, NULL, vectors_of_last
#define ROW_UNMERGE make_unmerge, lower_unmerge, upper_unmerge, NULL, vectors_unmerge
#define ROW_EMBED make_embed, lower_embed, upper_embed, NULL, NULL
#define ROW_REPLICATE make_replicate, leave_empty, NULL, NULL, NULL
#define ROW_OFFSET make_offset, add_amount, subtract_amount, NULL, NULL
#define ROW_SLICE make_slice, add_amount, subtract_amount, NULL, NULL
#define ROW_MODULO make_modulo, lower_modulo, upper_modulo, NULL, NULL
#define ROW_XOR make_two_to_two, xor_second, xor_second, NULL, vectors_same
#define ROW_FREEZE make_freeze, lower_freeze, leave_empty, NULL, NULL
#define ROW_INSERT make_insert, leave_empty, NULL, NULL, NULL
#define ROW_INDEXING make_indexing, lower_indexing, upper_indexing, NULL, NULL
#define ROW_CYCLIC_SHIFT make_two_to_two, lower_cyclic_shift, upper_cyclic_shift, NULL, NULL
#include "ir/view/transform.def"
#undef TRANSFORM
};

static const transform_row *row_of(tj_transform_kind kind) {
  return &rows[kind];
}

/* --- the interface --- */

static void check_argument(tj_graph *graph, const tj_transform *transform, const tj_tuple *argument, uint32_t index) {
  bool is_flat = argument->depth <= 1;
  for (uint32_t i = 0; is_flat && i < tj_tuple_rank(argument); i++)
    is_flat = tj_tuple_mode(argument, i)->kind == TJ_TUPLE_INTEGER;
  if (!is_flat)
    fail_form(graph, transform,
              tj_string_format(graph->job, "argument %" PRIu32 ", %s, is no integer and no tuple of integers",
                               index + 1, tj_tuple_text(graph->job, argument)));
}

/* The numbers of all arguments in order; each argument is an integer or a flat tuple of integers. */
static const tj_node *const *flatten_arguments(tj_graph *graph, const tj_transform *transform,
                                               const tj_tuple *const args[], uint32_t arg_count, uint32_t *count) {
  const tj_tuple *all = tj_tuple_list(graph, args, arg_count);
  const tj_tuple *const *leaves = tj_tuple_leaves(graph, all, count);
  const tj_node **numbers = TJ_NEW_ARRAY(graph->job, const tj_node *, *count);
  for (uint32_t i = 0; i < arg_count; i++)
    check_argument(graph, transform, args[i], i);
  for (uint32_t i = 0; i < *count; i++)
    numbers[i] = leaves[i]->value;
  return numbers;
}

/* embed keeps its two tuples, indexing its table; all others print their numbers side by side. */
static void set_arguments(tj_graph *graph, tj_transform *transform, const tj_tuple *const args[],
                          uint32_t arg_count) {
  const tj_tuple *all = tj_tuple_list(graph, args, arg_count);
  bool is_indexing = transform->kind == TJ_TRANSFORM_INDEXING;
  if (transform->kind != TJ_TRANSFORM_EMBED && !is_indexing) {
    transform->argument = tj_tuple_leaves(graph, all, &transform->argument_count);
    return;
  }
  const tj_tuple **tuples = TJ_NEW_ARRAY(graph->job, const tj_tuple *, arg_count);
  for (uint32_t i = 0; i < arg_count; i++)
    tuples[i] = tj_tuple_is_list(args[i]) || (is_indexing && i == 0) ? args[i] : tj_tuple_list(graph, &args[i], 1);
  transform->argument = tuples;
  transform->argument_count = arg_count;
}

const tj_transform *tj_transform_make(tj_graph *graph, tj_transform_kind kind, const tj_tuple *const args[],
                                      uint32_t count) {
  tj_transform *transform = TJ_NEW(graph->job, tj_transform);
  transform->kind = kind;
  uint32_t number_count;
  const tj_node *const *numbers = flatten_arguments(graph, transform, args, count, &number_count);
  set_arguments(graph, transform, args, count);
  row_of(kind)->make(graph, transform, numbers, number_count);
  return transform;
}

void tj_transform_lower(tj_graph *graph, const tj_transform *transform, const tj_node *const upper[],
                        const tj_node *lower[]) {
  row_of(transform->kind)->lower((context){graph, transform}, upper, lower);
}

static bool all_constant(const tj_node *const nodes[], uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (!tj_is_constant(nodes[i]))
      return false;
  return true;
}

static bool lies_within(tj_graph *graph, const tj_node *index, const tj_node *length) {
  return index->value >= 0 && tj_decide_less(graph, index, length) != TJ_NO;
}

static bool maps_back(context self, const tj_node *const lower[], const tj_node *const upper[]) {
  const tj_transform *transform = self.transform;
  const tj_node **again = TJ_NEW_ARRAY(self.graph->job, const tj_node *, transform->lower_count);
  tj_transform_lower(self.graph, transform, upper, again);
  for (uint32_t i = 0; i < transform->upper_count; i++)
    if (!lies_within(self.graph, upper[i], transform->upper_length[i]))
      return false;
  for (uint32_t i = 0; i < transform->lower_count; i++)
    if (tj_decide_equal(self.graph, again[i], lower[i]) == TJ_NO)
      return false;
  return true;
}

static _Noreturn void fail_no_upper(context self, const tj_node *const lower[]) {
  tj_text text = tj_text_begin(self.graph->job);
  tj_transform_print(&text, self.transform);
  tj_text_string(&text, ": no upper index has lower index (");
  for (uint32_t i = 0; i < self.transform->lower_count; i++)
    tj_text_format(&text, i == 0 ? "%s" : ",%s", tj_describe(self.graph, lower[i]));
  tj_fail(self.graph->job, TJ_NO_INVERSE, "%s)", text.data);
}

void tj_transform_upper(tj_graph *graph, const tj_transform *transform, const tj_node *const lower[],
                        const tj_node *upper[]) {
  context self = {graph, transform};
  const transform_row *row = row_of(transform->kind);
  if (row->upper == NULL)
    fail_no_inverse(self, "its upper index does not depend on a lower one");
  row->upper(self, lower, upper);
  if (all_constant(lower, transform->lower_count) && all_constant(upper, transform->upper_count) &&
      !maps_back(self, lower, upper))
    fail_no_upper(self, lower);
}

const tj_node *tj_transform_valid(tj_graph *graph, const tj_transform *transform, const tj_node *const upper[]) {
  const transform_row *row = row_of(transform->kind);
  return row->valid == NULL ? tj_int(graph, 1) : row->valid((context){graph, transform}, upper[0]);
}

void tj_transform_vectors(tj_graph *graph, const tj_transform *transform, const int64_t lower_length[],
                          const int64_t lower_stride[], int64_t upper_length[], int64_t upper_stride[]) {
  const transform_row *row = row_of(transform->kind);
  context self = {graph, transform};
  for (uint32_t i = 0; i < transform->upper_count; i++)
    upper_length[i] = upper_stride[i] = -1;
  if (row->vectors == NULL)
    return;
  row->vectors(self, lower_length, upper_length, false);
  row->vectors(self, lower_stride, upper_stride, true);
}

void tj_transform_print(tj_text *text, const tj_transform *transform) {
  tj_text_string(text, tj_transform_name(transform->kind));
  tj_text_char(text, '(');
  for (uint32_t i = 0; i < transform->argument_count; i++) {
    if (i != 0)
      tj_text_char(text, ',');
    tj_tuple_print(text, transform->argument[i]);
  }
  tj_text_char(text, ')');
}
