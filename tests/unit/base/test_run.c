/* SPDX-License-Identifier: MIT */
/* Runs against memory in which they are looked for element by element, and their lines against lines that are counted
 * instruction by instruction. */
#include "base/number/power.h"
#include "base/number/run.h"
#include "tests/unit/support/random_nodes.h"
#include "tests/unit/support/suite.h"

#include <math.h>
#include <stdlib.h>

enum { MODES = 4, LINE = 128, VECTOR = 16, MOST_ELEMENTS = 1 << 13 };

/* --- what they are --- */

/* A tensor of whole tiles, whose modes may be padded. */
typedef struct {
  int64_t extent[MODES], part[MODES], stride[MODES], bytes;
} tensor;

static tensor any_tensor(random_source *random) {
  static const int64_t parts[] = {1, 1, 2, 3, 4, 8};
  tensor t = {.bytes = (int64_t)1 << random_below(random, 5)};
  int64_t stride = 1;
  for (uint32_t m = 0; m < MODES; m++) {
    t.part[m] = parts[random_below(random, 6)];
    t.extent[m] = t.part[m] * (1 + random_below(random, 3));
    t.stride[m] = stride;
    stride *= t.extent[m] + (random_below(random, 4) == 0 ? random_below(random, 9) : 0);
  }
  return t;
}

static tj_run run_of(const tensor *t) {
  tj_run run = tj_run_of_element(t->bytes, LINE);
  for (uint32_t m = 0; m < MODES; m++) {
    bool continues = m == 0 || t->stride[m] == t->stride[m - 1] * t->extent[m - 1];
    const tj_run_step step = {tj_power_in(t->stride[m]) * t->bytes, continues};
    tj_run_along(&run, &step, t->part[m], t->part[m] == t->extent[m]);
  }
  return run;
}

/* The coordinate along a mode that an index has, first mode fastest. */
static int64_t digit(int64_t *index, int64_t extent) {
  int64_t value = *index % extent;
  *index /= extent;
  return value;
}

/* Where element `index` of tile `tile` is; -1: there is no such element. */
static int64_t place_of(const tensor *t, int64_t tile, int64_t index) {
  int64_t place = 0;
  for (uint32_t m = 0; m < MODES; m++)
    place += (digit(&tile, t->extent[m] / t->part[m]) * t->part[m] + digit(&index, t->part[m])) * t->stride[m];
  return tile == 0 && index == 0 ? place : -1;
}

static int ascending(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* What is side by side in a tile is whole runs. The greatest power of two that all of them begin at a multiple of, in
 * bytes up to a line. */
static int64_t check_tile(const tensor *t, const tj_run *run, int64_t tile, int64_t grain) {
  static int64_t place[MOST_ELEMENTS];
  int64_t count = 0, begin = 0;
  while (count < MOST_ELEMENTS && (place[count] = place_of(t, tile, count)) >= 0)
    count++;
  qsort(place, (size_t)count, sizeof *place, ascending);
  for (int64_t i = 1; i <= count; i++) {
    if (i < count && place[i] == place[i - 1] + 1)
      continue;
    ck_assert_int_eq((i - begin) * t->bytes % run->bytes, 0);
    grain = tj_power_in(grain | place[begin] * t->bytes);
    begin = i;
  }
  return grain;
}

START_TEST(runs_are_in_memory) {
  random_source random = {.state = 23};
  int exact = 0, rounds = 2000;
  for (int round = 0; round < rounds; round++) {
    const tensor t = any_tensor(&random);
    const tj_run run = run_of(&t);
    int64_t grain = LINE;
    for (int64_t tile = 0; place_of(&t, tile, 0) >= 0; tile++)
      grain = check_tile(&t, &run, tile, grain);
    ck_assert_int_eq(grain % (run.grain < LINE ? run.grain : LINE), 0);
    exact += grain == run.grain;
  }
  ck_assert_int_gt(exact, rounds * 8 / 10);
}
END_TEST

/* --- their lines --- */

static int64_t lines_between(int64_t begin, int64_t end) {
  return (end - 1) / LINE - begin / LINE + 1;
}

/* Of `runs` runs, one after the other, that begin so far into a line. */
static int64_t count_lines(const tj_run *run, int64_t begin, int64_t lanes, int64_t runs) {
  int64_t vectors = tj_divided_up(run->bytes, VECTOR), lines = 0;
  for (int64_t r = 0; r < runs; r++) {
    for (int64_t v = 0, next; v < vectors; v = next) {
      next = lanes == 0 ? vectors : v + lanes - (r * vectors + v) % lanes;
      next = next < vectors ? next : vectors;
      lines += lines_between(begin + v * VECTOR, begin + (next < vectors ? next * VECTOR : run->bytes));
    }
  }
  return lines;
}

/* The same as tj_run_lines, in lines, over runs that begin everywhere. */
static double counted(const tj_run *run, int64_t lanes) {
  int64_t lines = 0, runs = lanes > 0 ? lanes : 1;
  for (int64_t begin = 0; begin < LINE; begin += run->grain)
    lines += count_lines(run, begin, lanes, runs);
  return (double)(lines * run->grain) / (double)(run->bytes * runs);
}

static tj_run any_run(random_source *random, bool is_of_vectors) {
  int64_t bytes = (1 + random_below(random, 200)) * (is_of_vectors ? VECTOR : 1);
  return (tj_run){.bytes = bytes, .grain = (int64_t)1 << random_below(random, 8)};
}

START_TEST(lines_are_counted) {
  random_source random = {.state = 29};
  for (int round = 0; round < 2000; round++) {
    const tj_run run = any_run(&random, false);
    double lines = (double)tj_run_lines(&run, LINE, VECTOR, 0) / TJ_RUN_PARTS;
    ck_assert(fabs(lines - counted(&run, 0)) <= 1.0 / TJ_RUN_PARTS);
  }
}
END_TEST

/* Where instructions end within a run is spread over lines as runs are; or, where these begin at greater multiples,
 * is taken to be spread evenly: of as many runs as bring all such places, that is a line at most from what is
 * counted. */
START_TEST(cuts_touch_lines_again) {
  random_source random = {.state = 31};
  for (int round = 0; round < 2000; round++) {
    const tj_run run = any_run(&random, true);
    int64_t lanes = round % 2 == 0 ? 32 : 64, vectors = run.bytes / VECTOR;
    int64_t common = tj_power_in(vectors | lanes);
    double lines = (double)tj_run_lines(&run, LINE, VECTOR, lanes) / TJ_RUN_PARTS;
    double a_line = (double)(LINE * common) / (double)(run.bytes * lanes);
    double doubt = run.grain <= common * VECTOR ? 0 : a_line;
    ck_assert(fabs(lines - counted(&run, lanes)) <= doubt + 1.0 / TJ_RUN_PARTS);
  }
}
END_TEST

int main(void) {
  const TTest *const tests[] = {runs_are_in_memory, lines_are_counted, cuts_touch_lines_again};
  return run_suite(suite_of("run", tests, sizeof tests / sizeof *tests));
}
