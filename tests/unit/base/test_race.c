/* SPDX-License-Identifier: MIT */
/* Races among strides, against all pairs of coordinates. */
#include "base/number/race.h"
#include "tests/unit/support/suite.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { MOST_COORDINATES = 4096 };

/* --- all pairs --- */

static bool is_inside(const tj_race_strides *s, const int64_t at[], uint32_t side) {
  for (uint32_t mode = 0; mode < s->modes; mode++) {
    const tj_race_side *of = &s->side[mode][side];
    if (at[mode] < of->begin || at[mode] >= of->end)
      return false;
  }
  return true;
}

static int64_t element(const tj_race_strides *s, const int64_t at[], uint32_t side) {
  int64_t sum = 0;
  for (uint32_t mode = 0; mode < s->modes; mode++)
    sum += at[mode] * s->side[mode][side].stride;
  return sum;
}

static bool same_source(const tj_race_strides *s, const int64_t a[], const int64_t b[], uint32_t side) {
  bool first = is_inside(s, a, side), second = is_inside(s, b, side);
  return first == second && (!first || element(s, a, side) == element(s, b, side));
}

/* By the definition. */
static bool is_race(const tj_race_strides *s, const int64_t a[], const int64_t b[]) {
  if (!is_inside(s, a, 0) || !is_inside(s, b, 0) || element(s, a, 0) != element(s, b, 0))
    return false;
  for (uint32_t source = 1; source <= s->sources; source++) {
    if (!same_source(s, a, b, source))
      return true;
  }
  return false;
}

static uint32_t list_coordinates(const tj_race_strides *s, int64_t at[][TJ_RACE_MODES]) {
  uint32_t count = 1;
  memset(at[0], 0, sizeof at[0]);
  for (uint32_t mode = 0; mode < s->modes; mode++) {
    const tj_race_side *to = &s->side[mode][0];
    uint32_t before = count;
    count = 0;
    static int64_t longer[MOST_COORDINATES][TJ_RACE_MODES];
    for (uint32_t i = 0; i < before; i++) {
      for (int64_t c = to->begin; c < to->end; c++) {
        ck_assert_uint_lt(count, MOST_COORDINATES);
        memcpy(longer[count], at[i], sizeof at[i]);
        longer[count++][mode] = c;
      }
    }
    memcpy(at, longer, count * sizeof *longer);
  }
  return count;
}

static bool has_race(const tj_race_strides *s) {
  static int64_t at[MOST_COORDINATES][TJ_RACE_MODES];
  uint32_t count = list_coordinates(s, at);
  for (uint32_t i = 0; i < count; i++) {
    for (uint32_t k = 0; k < i; k++) {
      if (is_race(s, at[i], at[k]))
        return true;
    }
  }
  return false;
}

/* --- against the decision --- */

static void describe(const tj_race_strides *s) {
  for (uint32_t mode = 0; mode < s->modes; mode++) {
    for (uint32_t side = 0; side <= s->sources; side++)
      printf("mode %u side %u: %" PRId64 " to %" PRId64 " by %" PRId64 "\n", mode, side, s->side[mode][side].begin,
             s->side[mode][side].end, s->side[mode][side].stride);
  }
}

static tj_race_verdict check(const tj_race_strides *s) {
  int64_t first[TJ_RACE_MODES], second[TJ_RACE_MODES];
  tj_race_verdict verdict = tj_race_decide(s, first, second);
  bool is_right = verdict == TJ_RACE_UNDECIDED || (verdict == TJ_RACE_FOUND) == has_race(s);
  is_right = is_right && (verdict != TJ_RACE_FOUND || is_race(s, first, second));
  if (!is_right)
    describe(s);
  ck_assert(is_right);
  return verdict;
}

static int64_t random_between(int64_t low, int64_t high) {
  return low + rand() % (high - low + 1);
}

static tj_race_strides random_strides(bool has_edges) {
  static const int64_t longest[] = {9, 9, 7, 5, 4};
  tj_race_strides s = {.modes = (uint32_t)random_between(1, 4), .sources = (uint32_t)random_between(1, 2)};
  int64_t widest = random_between(1, 20);
  for (uint32_t mode = 0; mode < s.modes; mode++) {
    int64_t extent = random_between(1, longest[s.modes]);
    for (uint32_t side = 0; side <= s.sources; side++) {
      int64_t begin = has_edges ? random_between(0, 2) : 0, end = extent - (has_edges ? random_between(-1, 2) : 0);
      s.side[mode][side] = (tj_race_side){begin, end, random_between(-widest / 3, widest)};
      if (side > 0 && random_between(0, 2) == 0)
        s.side[mode][side].stride = s.side[mode][0].stride * (1 + (int64_t)side);
    }
  }
  return s;
}

START_TEST(decisions_are_those_of_all_pairs) {
  int count[3] = {0};
  srand(5);
  for (int i = 0; i < 6000; i++) {
    tj_race_strides s = random_strides(i % 2 == 0);
    count[check(&s)]++;
  }
  ck_assert_int_gt(count[TJ_RACE_NONE], 1000);
  ck_assert_int_gt(count[TJ_RACE_FOUND], 1000);
  ck_assert_int_eq(count[TJ_RACE_UNDECIDED], 0);
}
END_TEST

/* --- by hand --- */

static tj_race_verdict verdict_of(uint32_t modes, const int64_t extent[], const int64_t to[], const int64_t from[]) {
  tj_race_strides s = {.modes = modes, .sources = 1};
  int64_t first[TJ_RACE_MODES], second[TJ_RACE_MODES];
  for (uint32_t i = 0; i < modes; i++) {
    s.side[i][0] = (tj_race_side){0, extent[i], to[i]};
    s.side[i][1] = (tj_race_side){0, extent[i], from[i]};
  }
  return tj_race_decide(&s, first, second);
}

START_TEST(large_extents_are_decided) {
  const int64_t large = INT64_C(1) << 30, huge = INT64_C(1) << 60;
  const struct {
    int64_t extent[3], to[3], from[3];
    tj_race_verdict verdict;
  } rows[] = {
      {{large, large, 1}, {large, 1, 0}, {1, large, 0}, TJ_RACE_NONE},
      {{large, large, 1}, {large - 1, 1, 0}, {1, large, 0}, TJ_RACE_FOUND},
      {{large, large, 1}, {large - 1, 1, 0}, {large - 1, 1, 0}, TJ_RACE_NONE},
      {{large, large, large}, {1, 0, 0}, {1, 0, 0}, TJ_RACE_NONE},
      {{large, large, large}, {1, 0, 0}, {1, 0, 1}, TJ_RACE_FOUND},
      {{large, large, 4}, {large + 3, large + 1, 1}, {1, 2, 3}, TJ_RACE_FOUND},
      {{1000, 1000, 2}, {1000003, 1000033, 1}, {1, 2, 3}, TJ_RACE_NONE},
      {{large, large, 7}, {2147483647, 2147483629, 2147483587}, {1, 2, 3}, TJ_RACE_FOUND},
      {{0, large, large}, {0, 0, 0}, {1, 1, 1}, TJ_RACE_NONE},
      {{huge, 2, 1}, {1, 1, 1}, {1, 2, 3}, TJ_RACE_UNDECIDED},
      {{4, 2, 1}, {INT64_MIN, 1, 1}, {1, 2, 3}, TJ_RACE_UNDECIDED},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tj_race_verdict verdict = verdict_of(3, rows[i].extent, rows[i].to, rows[i].from);
    ck_assert_msg(verdict == rows[i].verdict, "row %zu: %d", i, (int)verdict);
  }
}
END_TEST

int main(void) {
  const TTest *const tests[] = {decisions_are_those_of_all_pairs, large_extents_are_decided};
  return run_suite(suite_of("race", tests, sizeof tests / sizeof tests[0]));
}
