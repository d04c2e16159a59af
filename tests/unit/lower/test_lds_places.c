/* SPDX-License-Identifier: MIT */
/* Places in LDS: for every work-item those that the swizzle has of the plain ones, and one expression for all that
 * are constants apart. */
#include "ir/index/eval.h"
#include "ir/simplify/simplify.h"
#include "lower/tile/lds_places.h"
#include "tests/unit/support/harness.h"
#include "tests/unit/support/random_nodes.h"

enum { CASES = 400, MOST_PLACES = 24, MOST_ITEMS = 150, MOST_TERMS = 3 };

typedef struct {
  random_source source;
  tj_graph *graph;
  const tj_node *item, *pass;
  uint32_t items, count;
  const tj_node *node[MOST_PLACES]; /* plain */
  tj_parted_sum place[MOST_PLACES]; /* the same in parts */
  tj_swizzle swizzle;
} session;

static const tj_node *number(session *s, uint32_t below) {
  return tj_int(s->graph, 1 + (int64_t)random_below(&s->source, below));
}

/* A digit of the work-item's number, as layouts of groups have it: with a constant, in parts. */
static const tj_node *random_digit(session *s) {
  tj_graph *graph = s->graph;
  const tj_node *part = tj_div(graph, s->item, number(s, 12)),
                *moved = tj_add(graph, part, tj_int(graph, random_below(&s->source, 8)));
  const tj_node *digit =
      random_below(&s->source, 2) == 0 ? tj_mod(graph, moved, number(s, 16)) : tj_div(graph, moved, number(s, 4));
  return tj_mul(graph, digit, number(s, 80));
}

static void make_places(session *s, bool has_pass) {
  tj_graph *graph = s->graph;
  const tj_node *own[] = {random_digit(s), random_digit(s)};
  s->count = 1 + random_below(&s->source, MOST_PLACES);
  for (uint32_t i = 0; i < s->count; i++) {
    const tj_node *sum = tj_int(graph, (int64_t)random_below(&s->source, 6) * 32);
    for (uint32_t k = random_below(&s->source, MOST_TERMS); k < MOST_TERMS; k++)
      sum = tj_add(graph, sum, random_below(&s->source, 6) == 0 ? random_digit(s) : own[random_below(&s->source, 2)]);
    if (has_pass && i % 2 == 0)
      sum = tj_add(graph, sum, s->pass);
    s->node[i] = tj_simplified(graph, sum);
    s->place[i] = tj_part_value(graph, s->node[i]);
  }
}

static void begin(session *s, tj_job *job) {
  s->graph = tj_graph_create(job);
  s->items = 1 + random_below(&s->source, MOST_ITEMS);
  s->item = tj_coordinate(s->graph, "t", tj_int(s->graph, s->items));
  s->pass = tj_coordinate(s->graph, "p", tj_int(s->graph, 5));
  s->swizzle = (tj_swizzle){0, 0, 0};
  if (random_below(&s->source, 4) != 0)
    s->swizzle = (tj_swizzle){1 + (int32_t)random_below(&s->source, 3), (int32_t)random_below(&s->source, 3),
                              3 + (int32_t)random_below(&s->source, 3)};
}

/* Symbols in the order in which they were made. */
static int64_t value_at(const tj_node *node, int64_t item, int64_t pass) {
  const int64_t symbol[] = {item, pass};
  int64_t value = 0;
  ck_assert_int_eq(tj_eval_nodes(&node, 1, &(tj_bindings){symbol, NULL, 2}, &value), TJ_EVAL_OK);
  return value;
}

static bool are_apart(const session *s, const int64_t a[], const int64_t b[]) {
  bool are = true;
  for (uint32_t t = 1; t < s->items; t++)
    are = are && a[t] - b[t] == a[0] - b[0];
  return are;
}

/* By definition: bits of a field, moved, into others. */
static int64_t swizzled(tj_swizzle swizzle, int64_t value) {
  for (int32_t bit = 0; bit < swizzle.bits; bit++)
    value ^= (value >> (swizzle.base + swizzle.shift + bit) & 1) << (swizzle.base + bit);
  return value;
}

static void check_case(tj_job *job, void *data) {
  static int64_t value[MOST_PLACES][MOST_ITEMS];
  session *s = data;
  begin(s, job);
  const bool has_pass = random_below(&s->source, 5) == 0;
  make_places(s, has_pass);
  const tj_parted_sum *found = tj_places_in_lds(s->graph, s->swizzle, s->place, s->count, s->item, s->items);
  for (uint32_t i = 0; i < s->count; i++) {
    for (uint32_t t = 0; t < s->items; t++) {
      value[i][t] = value_at(found[i].rest, t, 3) + found[i].constant;
      ck_assert_int_eq(value[i][t], swizzled(s->swizzle, value_at(s->node[i], t, 3)));
    }
    for (uint32_t k = 0; k < i && !has_pass; k++)
      ck_assert_int_eq(found[k].rest == found[i].rest, are_apart(s, value[k], value[i]));
  }
}

START_TEST(places_of_all_work_items) {
  session s = {.source = random_begin(77)};
  for (uint32_t i = 0; i < CASES; i++) {
    tj_job job;
    tj_job_init(&job, NULL);
    expect_success(&job, check_case, &s);
    tj_job_destroy(&job);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("lds_places");
  TCase *cases = tcase_create("lds_places");
  tcase_set_timeout(cases, 100);
  tcase_add_test(cases, places_of_all_work_items);
  suite_add_tcase(suite, cases);
  return run_suite(suite);
}
