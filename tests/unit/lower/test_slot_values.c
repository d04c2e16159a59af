/* SPDX-License-Identifier: MIT */
/* Expressions at the coordinates of slots: their values are those at the coordinates' values, constants come out
 * where the expression is linear, and numbers that do not fit stay out of them. */
#include "ir/index/eval.h"
#include "ir/simplify/simplify.h"
#include "lower/tile/slot_values.h"
#include "tests/unit/support/harness.h"
#include "tests/unit/support/random_nodes.h"

enum { CASES = 250, MODES = 2, MOST_SLOTS = 12, ITEMS = 24, REACH = 16 };

typedef struct {
  random_source source;
  tj_graph *graph;
  const tj_node *item, *coordinate[MODES];
  const tj_node *digit[MOST_SLOTS][MODES];
  const tj_node *const *digits[MOST_SLOTS];
  uint32_t slots;
} session;

static const tj_node *number(session *s, uint32_t below) {
  return tj_int(s->graph, 1 + (int64_t)random_below(&s->source, below));
}

/* A digit of the work-item's number and a constant, in the order in which sums have them. */
static void make_digits(session *s) {
  const tj_node *part[MODES] = {tj_mod(s->graph, s->item, number(s, 7)), tj_div(s->graph, s->item, number(s, 7))};
  s->slots = 1 + random_below(&s->source, MOST_SLOTS);
  for (uint32_t slot = 0; slot < s->slots; slot++) {
    for (uint32_t m = 0; m < MODES; m++) {
      const tj_node *own = random_below(&s->source, 8) == 0 ? tj_int(s->graph, 0) : part[m];
      s->digit[slot][m] =
          tj_simplified(s->graph, tj_add(s->graph, own, tj_int(s->graph, random_below(&s->source, REACH))));
    }
    s->digits[slot] = s->digit[slot];
  }
}

/* A coordinate as it is, or as views have it: parts of it, or several together. */
static const tj_node *random_atom(session *s) {
  tj_graph *graph = s->graph;
  const tj_node *a = s->coordinate[random_below(&s->source, MODES)],
                *b = s->coordinate[random_below(&s->source, MODES)];
  switch (random_below(&s->source, 6)) {
  case 0:
    return tj_mod(graph, a, number(s, 9));
  case 1:
    return tj_div(graph, a, number(s, 9));
  case 2:
    return tj_mul(graph, a, b);
  case 3:
    return tj_xor(graph, a, b);
  default:
    return a;
  }
}

static const tj_node *random_sum(session *s) {
  const tj_node *sum = tj_int(s->graph, random_between(&s->source, -20, 20));
  for (uint32_t i = random_below(&s->source, 4); i < 4; i++)
    sum =
        tj_add(s->graph, sum, tj_mul(s->graph, random_atom(s), tj_int(s->graph, random_between(&s->source, -9, 99))));
  return tj_simplified(s->graph, sum);
}

static void begin(session *s, tj_job *job) {
  s->graph = tj_graph_create(job);
  s->item = tj_coordinate(s->graph, "t", tj_int(s->graph, ITEMS));
  for (uint32_t m = 0; m < MODES; m++)
    s->coordinate[m] = tj_coordinate(s->graph, "c", tj_int(s->graph, ITEMS + REACH));
}

static tj_slot_digits digits_of(const session *s) {
  return (tj_slot_digits){s->coordinate, MODES, s->digits, s->slots};
}

/* Symbols in the order in which they were made: the work-item, then the coordinates. */
static int64_t value_at(const tj_node *node, int64_t item, const int64_t coordinate[MODES]) {
  const int64_t symbol[1 + MODES] = {item, coordinate[0], coordinate[1]};
  int64_t value = 0;
  ck_assert_int_eq(tj_eval_nodes(&node, 1, &(tj_bindings){symbol, NULL, 1 + MODES}, &value), TJ_EVAL_OK);
  return value;
}

static void check_case(tj_job *job, void *data) {
  static const int64_t nowhere[MODES] = {0, 0};
  session *s = data;
  begin(s, job);
  make_digits(s);
  const tj_node *any = random_sum(s);
  const tj_slot_digits at = digits_of(s);
  const tj_node *const *value = tj_at_slots(s->graph, &at, any);
  for (uint32_t slot = 0; slot < s->slots; slot++) {
    for (int64_t t = 0; t < ITEMS; t++) {
      const int64_t place[MODES] = {value_at(s->digit[slot][0], t, nowhere), value_at(s->digit[slot][1], t, nowhere)};
      ck_assert_int_eq(value_at(value[slot], t, nowhere), value_at(any, t, place));
    }
  }
}

static void check_cases(void (*check)(tj_job *job, void *data), uint64_t seed, uint32_t count) {
  session s = {.source = random_begin(seed)};
  for (uint32_t i = 0; i < count; i++) {
    tj_job job;
    tj_job_init(&job, NULL);
    expect_success(&job, check, &s);
    tj_job_destroy(&job);
  }
}

START_TEST(values_at_slots) {
  check_cases(check_case, 15, CASES);
}
END_TEST

/* Two slots, the second 3 further on along the first mode. */
static void make_two(session *s) {
  s->slots = 2;
  for (uint32_t slot = 0; slot < s->slots; slot++) {
    s->digit[slot][0] = tj_simplified(s->graph, tj_add(s->graph, s->item, tj_int(s->graph, 3 * slot)));
    s->digit[slot][1] = s->item;
    s->digits[slot] = s->digit[slot];
  }
}

/* What is linear along one mode and not along another is the same but for the constant. */
static void check_sharing(tj_job *job, void *data) {
  session *s = data;
  begin(s, job);
  make_two(s);
  tj_graph *graph = s->graph;
  const tj_node *any = tj_add(graph, tj_mul(graph, s->coordinate[0], tj_int(graph, 5)),
                              tj_mod(graph, s->coordinate[1], tj_int(graph, 7)));
  const tj_slot_digits at = digits_of(s);
  const tj_node *const *value = tj_at_slots(graph, &at, tj_simplified(graph, any));
  ck_assert_ptr_eq(value[1], tj_add(graph, value[0], tj_int(graph, 15)));
  const tj_parted_sum *part = tj_parts_at_slots(graph, &at, tj_simplified(graph, any));
  ck_assert(tj_is_plainly_beyond(part[1], part[0], 15));
  ck_assert(!tj_is_plainly_beyond(part[1], part[0], 14));
  ck_assert(!tj_is_plainly_beyond(part[1], tj_part_value(graph, s->item), 15));
}

START_TEST(constants_come_out) {
  check_cases(check_sharing, 1, 1);
}
END_TEST

/* Constants come out of quotients and remainders that they do not carry over, of no others, and not where something
 * else decides. */
static void check_steps(tj_job *job, void *data) {
  session *s = data;
  begin(s, job);
  s->slots = 3;
  tj_graph *graph = s->graph;
  const tj_node *own = tj_mul(graph, tj_mod(graph, s->item, tj_int(graph, 4)), tj_int(graph, 8));
  for (uint32_t slot = 0; slot < s->slots; slot++) {
    s->digit[slot][0] = tj_simplified(graph, tj_add(graph, own, tj_int(graph, 5 * slot)));
    s->digit[slot][1] = s->item;
    s->digits[slot] = s->digit[slot];
  }
  const tj_node *rest = tj_mod(graph, s->coordinate[0], tj_int(graph, 8)),
                *any = tj_add(graph, tj_mul(graph, rest, tj_int(graph, 100)),
                              tj_div(graph, s->coordinate[0], tj_int(graph, 8)));
  const tj_slot_digits at = digits_of(s);
  const tj_parted_sum *value = tj_parts_at_slots(graph, &at, tj_simplified(graph, any));
  ck_assert(tj_is_plainly_beyond(value[1], value[0], 500));
  ck_assert(tj_is_plainly_beyond(value[2], value[0], 201));
  const tj_node *joint = tj_mod(graph, tj_add(graph, s->coordinate[0], s->coordinate[1]), tj_int(graph, 8));
  value = tj_parts_at_slots(graph, &at, tj_simplified(graph, joint));
  for (uint32_t slot = 1; slot < s->slots; slot++)
    ck_assert(!tj_is_plainly_beyond(value[slot], value[0], 5 * slot));
}

START_TEST(constants_step_over_quotients) {
  check_cases(check_steps, 1, 1);
}
END_TEST

/* Constants that overflow where they come out, and not where they are. */
static void check_overflow(tj_job *job, void *data) {
  session *s = data;
  begin(s, job);
  make_two(s);
  tj_graph *graph = s->graph;
  const tj_node *far = tj_int(graph, INT64_MAX / 2 + 1),
                *any = tj_mul(
                    graph, tj_sub(graph, s->coordinate[0], tj_add(graph, s->coordinate[1], tj_int(graph, 2))), far);
  const tj_slot_digits at = digits_of(s);
  const tj_node *const *value = tj_at_slots(graph, &at, any);
  ck_assert_int_eq(value_at(value[1], 5, (const int64_t[MODES]){0, 0}), INT64_MAX / 2 + 1);
}

START_TEST(numbers_that_do_not_fit) {
  check_cases(check_overflow, 1, 1);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("slot_values");
  TCase *cases = tcase_create("slot_values");
  tcase_set_timeout(cases, 100);
  tcase_add_test(cases, values_at_slots);
  tcase_add_test(cases, constants_come_out);
  tcase_add_test(cases, constants_step_over_quotients);
  tcase_add_test(cases, numbers_that_do_not_fit);
  suite_add_tcase(suite, cases);
  return run_suite(suite);
}
