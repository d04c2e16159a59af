/* SPDX-License-Identifier: MIT */
/* What lanes ask of loads that transpose, for sides whose digits are bits or not, and of as many digits as a side may
 * be made of, or more. */
#include "lower/tile/transposed_side.h"
#include "tests/unit/support/harness.h"

enum { MODES = 2 };

typedef struct {
  const char *what;
  int64_t lanes[MODES], slots[MODES]; /* extents, along one mode after the other */
  uint32_t bytes;                     /* of an element */
  int64_t step;                       /* of the first slot in what is asked for; 0: there is nothing to ask for */
} row;

static const row rows[] = {
    /* sixteen lanes along mode 0, whose vectors of four are asked for along it */
    {"elements of 2 bytes", {16, 4}, {1, 4}, 2, 1},
    {"elements of 1 byte", {16, 4}, {1, 8}, 1, 1},
    {"words", {16, 4}, {1, 4}, 4, 0},
    {"fewer lanes", {8, 1}, {1, 4}, 2, 0},
    {"lanes that are no power of two", {12, 4}, {1, 4}, 2, 0},
    {"shorter vectors", {16, 4}, {1, 2}, 2, 0},
};

static tj_mapping_digits digits_of(const int64_t extent[]) {
  tj_mapping_digits digits = {.count = 0};
  for (uint32_t m = 0; m < MODES; m++)
    tj_mapping_add_digit(&digits, extent[m], 1, m);
  return digits;
}

static void check_row(tj_job *job, void *data) {
  const row *r = data;
  tj_graph *graph = tj_graph_create(job);
  tj_mapping_digits lanes = digits_of(r->lanes), slots = digits_of(r->slots);
  tj_mapping_side side = tj_mapping_side_of_digits(graph, &lanes, &slots, NULL), asked;
  ck_assert_msg(tj_transposed_side(graph, &side, r->bytes, &asked) == (r->step > 0), "%s", r->what);
  if (r->step == 0)
    return;
  const tj_mapping_digit *first = &asked.digit[asked.item_digits];
  ck_assert_msg(asked.items == side.items && asked.slots == side.slots, "%s", r->what);
  ck_assert_msg(first->mode == 0 && first->step == r->step, "%s: %lld@%u", r->what, (long long)first->step,
                first->mode);
}

START_TEST(sides_are_transposed) {
  tj_job job;
  tj_job_init(&job, NULL);
  expect_success(&job, check_row, (void *)(uintptr_t)&rows[_i]);
  tj_job_destroy(&job);
}
END_TEST

/* A side of so many lanes' digits, and of a vector in slots. */
static tj_mapping_side side_of_lanes(tj_graph *graph, uint32_t count) {
  tj_mapping_digit *digit = TJ_NEW_ARRAY(graph->job, tj_mapping_digit, (size_t)count + 1);
  tj_mapping_side side = {.digit = digit, .digit_count = count + 1, .item_digits = count, .slots = 4};
  for (uint32_t i = 0; i < count; i++)
    digit[i] = (tj_mapping_digit){2, 1, 0};
  digit[count] = (tj_mapping_digit){4, 1, 1};
  return side;
}

/* Digits are never left out: there is a side of all of them, or none. */
static void check_room(tj_job *job, void *data) {
  (void)data;
  tj_graph *graph = tj_graph_create(job);
  tj_mapping_digits many = {.count = 0}, none = {.count = 0};
  tj_mapping_side asked, side = side_of_lanes(graph, TJ_MAPPING_MOST_DIGITS + 5);
  for (uint32_t i = 0; i < TJ_MAPPING_MOST_DIGITS; i++)
    tj_mapping_add_digit(&many, 2, 1, 0);
  ck_assert(!many.lacks_some);
  tj_mapping_add_digit(&many, 1, 1, 0);
  ck_assert(!many.lacks_some);
  tj_mapping_add_digit(&many, 2, 1, 0);
  ck_assert(many.lacks_some && many.count == TJ_MAPPING_MOST_DIGITS);
  ck_assert_uint_eq(tj_mapping_side_of_digits(graph, &many, &none, NULL).items, 0);
  ck_assert_uint_eq(tj_mapping_side_of_digits(graph, &none, &many, NULL).items, 0);
  ck_assert(!tj_transposed_side(graph, &side, 2, &asked));
}

START_TEST(digits_are_never_left_out) {
  tj_job job;
  tj_job_init(&job, NULL);
  expect_success(&job, check_room, NULL);
  tj_job_destroy(&job);
}
END_TEST

int main(void) {
  Suite *suite = suite_of_cases("transposed side", sides_are_transposed, (int)(sizeof rows / sizeof rows[0]));
  TCase *room = tcase_create("room");
  tcase_add_test(room, digits_are_never_left_out);
  suite_add_tcase(suite, room);
  return run_suite(suite);
}
