/* SPDX-License-Identifier: MIT */
/* Prices of kernels that are small enough to count by hand, on gfx942: lines of 128 bytes, waves of 64 lanes, LDS
 * that serves 32 words a cycle. And steps that repeat others. */
#include "frontend/sema/sema.h"
#include "frontend/text/parser.h"
#include "lower/access/price.h"
#include "lower/kernel/kernel_expressions.h"
#include "lower/kernel/repeats.h"
#include "lower/lds/lds_layout.h"
#include "lower/mapping/mapped.h"
#include "lower/mapping/mapping.h"
#include "lower/plan/plan.h"
#include "tests/unit/support/harness.h"

#include <string.h>

enum { ALL = 1 << 20, PARAMETERS = 1 };

typedef struct {
  const char *text;
  int64_t parameter[PARAMETERS];
  int64_t most; /* accesses to count */
  tj_cost memory, lds;
  int64_t workgroups, counted;
} row;

#define COPY(source, destination) "kernel k(s: f32 @ " source ", d: f32 @ " destination ") = copy(s, d)"
/* A tile of 32 × 32 by a workgroup of 64, row by row into LDS and column by column out of it. */
#define TURN(lds)                                                                                                    \
  "kernel k(s: f32 @ (32,32):(32,1), d: f32 @ (32,32):(1,32)) = copy(s, d, mapping=mapping("                         \
  "load=((32,2),16):((1@1,1@0),2@0), store=((32,2),16):((1@0,1@1),2@1), lds=" lds "))"

static const row rows[] = {
    {COPY("64:1", "64:1"), {0}, ALL, {2, 4, 4, 0, 0, 0, 0, 0}, {0}, 1, 1},
    {COPY("64:32", "64:1"), {0}, ALL, {2, 66, 4, 0, 0, 0, 0, 0}, {0}, 1, 1},
    {COPY("strided((64), (1), offset=1)", "64:1"), {0}, ALL, {2, 5, 4, 0, 0, 0, 0, 0}, {0}, 1, 1},
    {COPY("64:0", "64:1"), {0}, ALL, {1, 2, 2, 0, 0, 0, 0, 0}, {0}, 1, 1}, /* one word for all lanes */
    {COPY("(2,32):(1,0)", "(2,32):(1,2)"), {0}, ALL, {2, 3, 3, 0, 0, 0, 0, 0}, {0}, 1, 1}, /* two words, each once */
    {"param N in 1..1000 " COPY("N:1", "N:1"), {100}, ALL, {4, 8, 8, 0, 0, 0, 0, 0}, {0}, 1, 1},
    {"param N in 1..1000 " COPY("N:1", "N:1"), {513}, ALL, {18, 34, 34, 0, 0, 0, 0, 0}, {0}, 3, 3},
    {"param N in 1..1000000 " COPY("N:1", "N:1"), {256000}, 1 << 13, {80, 160, 160, 0, 0, 0, 0, 0}, {0}, 1000, 10},
    {COPY("transform(packed((32)), [right_pad(32,32)], [[0]], [[0]])", "64:1"),
     {0},
     ALL,
     {2, 3, 3, 0, 0, 0, 0, 0},
     {0},
     1,
     1},
    {"kernel k(s: f32 @ 64:2, i: i32 @ 64:1, d: f32 @ 64:1) = copy(s, d, gather=i)",
     {0},
     ALL,
     {3, 8, 6, 0, 0, 0, 0, 0},
     {0},
     1,
     1},
    {"kernel k(d: i32 @ packed((64,3))) = offsets(d, packed((64,3)), step=(0,1), count=3, starts=(64,1))",
     {0},
     ALL,
     {3, 18, 6, 0, 0, 0, 0, 0},
     {0},
     1,
     1},
    {TURN("(32,32):(32,1)"), {0}, ALL, {32, 64, 64, 0, 0, 0, 0, 0}, {32, 0, 0, 16 * 2 + 16 * 64, 64, 0, 0, 0}, 1, 1},
    {TURN("(32,32):(33,1)"), {0}, ALL, {32, 64, 64, 0, 0, 0, 0, 0}, {32, 0, 0, 64, 64, 0, 0, 0}, 1, 1},
};

static tj_kernel *kernel_of(tj_graph *graph, const tj_target *target, const char *text) {
  graph->job->source = tj_source_of("test", text, strlen(text));
  const tj_program_values *values = tj_evaluate(graph, tj_parse(graph->job), NULL, 0);
  tj_kernel *kernel = tj_plan_kernel(graph, values, &values->kernel[0]);
  tj_kernel_simplify(graph, kernel, NULL);
  return kernel->mapped != NULL ? tj_map_as_given(graph, kernel, target) : kernel;
}

static void expect_cost(const char *text, const char *of, const tj_cost *found, const tj_cost *expected) {
  ck_assert_msg(memcmp(found, expected, sizeof *found) == 0,
                "%s: %s: %ld instructions, %ld lines of %ld, %ld cycles of %ld", text, of, (long)found->instructions,
                (long)found->lines, (long)found->least_lines, (long)found->cycles, (long)found->least_cycles);
}

static void check_row(tj_job *job, void *data) {
  const row *r = data;
  tj_graph *graph = tj_graph_create(job);
  const tj_target *target = tj_target_parse(job, "gfx942");
  tj_price_machine machine = tj_price_machine_of(target);
  tj_price price = tj_price_kernel(graph, kernel_of(graph, target, r->text), &machine, r->parameter, r->most);
  tj_cost memory = tj_price_of_memory(&price), lds = tj_price_of_lds(&price);
  ck_assert_int_eq(price.status, TJ_EVAL_OK);
  expect_cost(r->text, "memory", &memory, &r->memory);
  expect_cost(r->text, "LDS", &lds, &r->lds);
  ck_assert_int_eq(price.workgroups, r->workgroups);
  ck_assert_int_eq(price.counted_workgroups, r->counted);
  ck_assert(tj_price_is_whole(&price) == (r->workgroups == r->counted));
}

START_TEST(prices_are_those_counted_by_hand) {
  tj_job job;
  tj_job_init(&job, NULL);
  expect_success(&job, check_row, (void *)(uintptr_t)&rows[_i]);
  tj_job_destroy(&job);
}
END_TEST

/* --- one number --- */

/* In hundredths of cache lines: lines, and a tenth of those that idle lanes could have moved; two tenths of a vector
 * for each work-item; of LDS a fiftieth of what its instructions could have moved, conflicts, and room. */
static const struct {
  const char *text;
  long hundredths;
} sums[] = {
    {COPY("64:1", "64:1"), 400 + 120 + 640},
    {COPY("64:32", "64:1"), 6600 + 120 + 640},
    {TURN("(32,32):(33,1)"), 6400 + 1920 + 160 + 512 + 0 + 16},
    {TURN("(32,32):(32,1)"), 6400 + 1920 + 160 + 512 + 64 * (20 + 20 * 992 / 64) + 16},
};

static void check_sum(tj_job *job, void *data) {
  size_t i = *(const size_t *)data;
  tj_graph *graph = tj_graph_create(job);
  const tj_target *target = tj_target_parse(job, "gfx942");
  tj_price_machine machine = tj_price_machine_of(target);
  tj_price price = tj_price_kernel(graph, kernel_of(graph, target, sums[i].text), &machine, NULL, ALL);
  long found = (long)(100 * tj_price_in_lines(&price, &machine));
  ck_assert_msg(found == sums[i].hundredths, "%s: %ld", sums[i].text, found);
}

START_TEST(prices_are_numbers) {
  for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++) {
    tj_job job;
    tj_job_init(&job, NULL);
    expect_success(&job, check_sum, &i);
    tj_job_destroy(&job);
  }
}
END_TEST

/* --- repeats --- */

/* Two slots that hold one element, and one that nobody stores. */
static void check_repeats(tj_job *job, void *data) {
  (void)data;
  tj_graph *graph = tj_graph_create(job);
  const tj_node *item = tj_coordinate(graph, "t", tj_int(graph, 64)), *always = tj_int(graph, 1);
  tj_access first = {.buffer = 0, .offset = item, .valid = always}, next = first, stored = first, later = first;
  next.displacement = 64;
  stored.buffer = later.buffer = 1;
  later.displacement = 4;
  tj_kernel_step step[] = {
      {.kind = TJ_STEP_LOAD, .access = first, .width = 1, .slot = 0},
      {.kind = TJ_STEP_LOAD, .access = next, .width = 1, .slot = 1},
      {.kind = TJ_STEP_LOAD, .access = next, .width = 2, .slot = 2, .slot_step = 1},
      {.kind = TJ_STEP_STORE, .access = stored, .width = 1, .slot = 0},
      {.kind = TJ_STEP_BARRIER},
      {.kind = TJ_STEP_STORE, .access = stored, .width = 1, .slot = 1},
      {.kind = TJ_STEP_STORE, .access = later, .width = 1, .slot = 3},
  };
  tj_kernel kernel = {.step = step, .step_count = sizeof step / sizeof *step};
  tj_leave_out_repeats(graph, &kernel);
  const uint32_t slots[] = {0, 2, 0, 0, 3, 0, 0};
  ck_assert_uint_eq(kernel.step_count, 5);
  for (uint32_t i = 0; i < kernel.step_count; i++)
    ck_assert_uint_eq(kernel.step[i].slot, slots[i]);
  ck_assert_int_eq(kernel.step[3].kind, TJ_STEP_BARRIER);
}

START_TEST(repeated_stores_are_left_out) {
  tj_job job;
  tj_job_init(&job, NULL);
  expect_success(&job, check_repeats, NULL);
  tj_job_destroy(&job);
}
END_TEST

/* --- passes --- */

/* Tiles that go through LDS in passes, of which waves have parts of several: their cycles there are planned before
 * any kernel is made, and the kernel's accesses have as many. */
static const char *const passing[] = {
    "kernel k(s: f32 @ (32,24):(1,32), d: f32 @ (32,24):(1,32)) = copy(s, d, mapping=mapping(passes=2, "
    "load=((32,3),8):((1@0,8@1),1@1), store=((16,6),(2,4)):((1@0,1@1),(16@0,6@1))))",
    "kernel k(s: u8 @ (7264,7264):(1,7264), d: u8 @ (7264,7264):(7264,1)) = copy(s, d)",
    "kernel k(s: u8 @ (96,75,75,96):(1,96,7200,540000), d: u8 @ (96,75,75,96):(540000,7200,96,1)) = copy(s, d)",
    "kernel k(s: u8 @ (352,48,4,28,28):(1,352,16896,67584,1892352), "
    "d: u8 @ (352,48,4,28,28):(1344,1,13246464,48,473088)) = copy(s, d)",
    "kernel k(s: f16 @ (48,28,48,28,28):(1,48,1344,64512,1806336), "
    "d: f16 @ (48,28,48,28,28):(48,64512,1,1806336,2304)) = copy(s, d)",
};

static void check_passes(tj_job *job, void *data) {
  enum { MOST = 1 << 16 };
  tj_graph *graph = tj_graph_create(job);
  const tj_target *target = tj_target_parse(job, "gfx942");
  const tj_price_machine machine = tj_price_machine_of(target);
  tj_kernel *written = kernel_of(graph, target, data);
  const tj_kernel *kernel = written->mapped != NULL ? written : tj_map_copy(graph, written, target);
  const tj_stage_choice *stage = kernel->stage;
  const tj_price price = tj_price_kernel(graph, kernel, &machine, NULL, MOST);
  const tj_cost lds = tj_price_of_lds(&price);
  ck_assert_int_eq(price.status, TJ_EVAL_OK);
  ck_assert_ptr_nonnull(stage);
  ck_assert_uint_gt(kernel->mapping->passes, 1);
  ck_assert_int_eq(lds.cycles, price.counted_workgroups * (stage->store_cycles + stage->load_cycles));
  ck_assert_int_eq(lds.least_cycles, price.counted_workgroups * (stage->store_ideal + stage->load_ideal));
  ck_assert_int_eq(lds.instructions, price.counted_workgroups * stage->instructions);
}

START_TEST(passes_take_what_is_planned) {
  for (size_t i = 0; i < sizeof passing / sizeof passing[0]; i++) {
    tj_job job;
    tj_job_init(&job, NULL);
    expect_success(&job, check_passes, (void *)(uintptr_t)passing[i]);
    tj_job_destroy(&job);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_of_cases("price", prices_are_those_counted_by_hand, (int)(sizeof rows / sizeof *rows));
  TCase *repeats = tcase_create("repeats");
  tcase_add_test(repeats, repeated_stores_are_left_out);
  tcase_add_test(repeats, prices_are_numbers);
  tcase_add_test(repeats, passes_take_what_is_planned);
  suite_add_tcase(suite, repeats);
  return run_suite(suite);
}
