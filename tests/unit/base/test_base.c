/* SPDX-License-Identifier: MIT */
/* Arenas, jobs, text and source locations. */
#include "base/machine/cache_line.h"
#include "base/machine/processor.h"
#include "base/source.h"
#include "base/text.h"
#include "tests/unit/support/harness.h"

#include <stdlib.h>
#include <string.h>

static void fill_arena(tj_job *job, void *data) {
  (void)data;
  tj_arena_mark mark = tj_arena_here(&job->arena);
  for (size_t size = 1; size < 100000; size = size * 3 + 1) {
    unsigned char *block = tj_arena_alloc(&job->arena, 1, size);
    ck_assert_uint_eq((uintptr_t)block % 16, 0);
    for (size_t i = 0; i < size; i++)
      ck_assert_uint_eq(block[i], 0);
    memset(block, 0xff, size);
  }
  tj_arena_reset(&job->arena, mark);
  ck_assert_uint_eq(job->arena.total, 0);
  unsigned char *again = tj_arena_alloc(&job->arena, 1, 100);
  ck_assert_uint_eq(again[99], 0);
}

START_TEST(arena_zeroes_and_aligns) {
  tj_job job;
  tj_job_init(&job, NULL);
  expect_success(&job, fill_arena, NULL);
  tj_job_destroy(&job);
}
END_TEST

/* Blocks that are out. */
static void *count_block(void *user, size_t size) {
  ++*(int *)user;
  return malloc(size);
}

static void uncount_block(void *user, void *block) {
  --*(int *)user;
  free(block);
}

enum { SMALL = 1 << 10, LARGE = 1 << 20, TOO_LARGE = 1 << 24 };

static void fill(tj_job *job, void *data) {
  const size_t *bytes = data;
  for (size_t done = 0; done < *bytes; done += SMALL)
    memset(tj_arena_alloc(&job->arena, 1, SMALL), 0xff, SMALL);
}

static void fill_at_once(tj_job *job, void *data) {
  const size_t *bytes = data;
  tj_arena_alloc(&job->arena, 1, *bytes);
}

START_TEST(memory_is_left_to_the_next_arena) {
  int out = 0;
  const tj_allocator counted = {count_block, uncount_block, &out};
  tj_arena_chunk *left = NULL;
  size_t sizes[] = {SMALL, LARGE, SMALL, LARGE};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    tj_job job;
    tj_job_init(&job, &counted);
    tj_arena_begin_with(&job.arena, left);
    const int before = out;
    expect_success(&job, fill, &sizes[i]);
    ck_assert_msg(i < 2 ? out > before : out <= before + 1, "job %zu", i);
    left = tj_arena_end(&job.arena, NULL);
    ck_assert_int_eq(out, left != NULL);
    ck_assert_int_eq(left != NULL, i > 0);
  }
  tj_job job;
  tj_job_init(&job, &counted);
  expect_success(&job, fill_at_once, &(size_t){TOO_LARGE});
  ck_assert_ptr_eq(tj_arena_end(&job.arena, left), left);
  ck_assert_int_eq(out, 1);
  tj_arena_begin_with(&job.arena, left);
  tj_job_destroy(&job);
  ck_assert_int_eq(out, 0);
}
END_TEST

static void allocate_too_much(tj_job *job, void *data) {
  (void)data;
  tj_arena_alloc(&job->arena, SIZE_MAX / 2, 16);
}

static void exceed_limit(tj_job *job, void *data) {
  (void)data;
  for (;;)
    tj_arena_alloc(&job->arena, 1, 1000);
}

static void *refuse(void *user, size_t size) {
  (void)user, (void)size;
  return NULL;
}

static void release_nothing(void *user, void *block) {
  (void)user, (void)block;
}

START_TEST(memory_runs_out) {
  tj_job job;
  tj_job_init(&job, NULL);
  expect_failure(&job, TJ_OUT_OF_MEMORY, allocate_too_much, NULL);
  job.arena.limit = 100000;
  expect_failure(&job, TJ_MEMORY_LIMIT, exceed_limit, NULL);
  tj_job_destroy(&job);

  tj_job_init(&job, &(tj_allocator){refuse, release_nothing, NULL});
  expect_failure(&job, TJ_OUT_OF_MEMORY, exceed_limit, NULL);
  ck_assert_int_eq(job.status, TJ_ERROR_MEMORY);
  tj_job_destroy(&job);
}
END_TEST

static void burn(tj_job *job, void *data) {
  (void)data;
  for (;;)
    tj_spend(job, 1000);
}

static void fail_with_note(tj_job *job, void *data) {
  const int *stride = data;
  tj_note(job, "a stride of %d would do", 4);
  tj_fail_at(job, (tj_span){3, 5}, TJ_COMPOSITION_STRIDE, "stride %d", *stride);
}

START_TEST(failures_are_described) {
  tj_job job;
  tj_job_init(&job, NULL);
  expect_failure(&job, TJ_WORK_LIMIT, burn, NULL);
  int stride = 3;
  expect_failure(&job, TJ_COMPOSITION_STRIDE, fail_with_note, &stride);
  ck_assert_str_eq(job.problem.message, "stride 3");
  ck_assert_str_eq(job.problem.note, "a stride of 4 would do");
  ck_assert_uint_eq(job.problem.span.begin, 3);
  tj_job_destroy(&job);
}
END_TEST

static void nest(tj_job *job, void *data) {
  int stride = 7;
  ck_assert_int_eq(tj_job_run(job, fail_with_note, &stride), TJ_ERROR_INPUT);
  *(int *)data = 1;
}

START_TEST(an_inner_failure_ends_at_the_inner_run) {
  tj_job job;
  tj_job_init(&job, NULL);
  int went_on = 0;
  expect_success(&job, nest, &went_on);
  ck_assert_int_eq(went_on, 1);
  tj_job_destroy(&job);
}
END_TEST

static void write_text(tj_job *job, void *data) {
  (void)data;
  tj_text text = tj_text_begin(job);
  for (int i = 0; i < 1000; i++)
    tj_text_format(&text, "%d,", i % 10);
  tj_text_integer(&text, INT64_MIN);
  ck_assert_uint_eq(text.length, 2020);
  ck_assert_str_eq(text.data + 2000, "-9223372036854775808");
}

/* What is written in place ends like what is added, wherever the room for it ends. */
static void write_in_place(tj_job *job, void *data) {
  (void)data;
  for (size_t length = 0; length < 200; length++) {
    tj_text text = tj_text_begin(job);
    tj_text_add(&text, "begin", 5);
    memset(tj_text_room(&text, length + 7), 'x', length);
    tj_text_end(&text, length);
    ck_assert_uint_eq(text.length, 5 + length);
    ck_assert_uint_eq(strlen(text.data), 5 + length);
    ck_assert_int_eq(memcmp(text.data, "begin", 5), 0);
    ck_assert(text.length + 7 < text.capacity);
  }
}

START_TEST(text_grows) {
  tj_job job;
  tj_job_init(&job, NULL);
  expect_success(&job, write_text, NULL);
  expect_success(&job, write_in_place, NULL);
  tj_job_destroy(&job);
}
END_TEST

START_TEST(offsets_become_lines_and_columns) {
  static const struct {
    uint32_t offset, line, column;
    const char *text;
  } cases[] = {{0, 1, 1, "ab"}, {1, 1, 2, "ab"}, {2, 1, 3, "ab"}, {3, 2, 1, ""}, {4, 3, 1, "c"}, {99, 3, 2, "c"}};
  tj_source source = tj_source_of("t", "ab\n\nc", 5);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tj_location location = tj_source_locate(&source, cases[i].offset);
    ck_assert_uint_eq(location.line, cases[i].line);
    ck_assert_uint_eq(location.column, cases[i].column);
    ck_assert_uint_eq(location.length, strlen(cases[i].text));
    ck_assert_int_eq(memcmp(location.text, cases[i].text, location.length), 0);
  }
}
END_TEST

START_TEST(offsets_of_joined_texts_are_found_in_their_own) {
  static const struct {
    uint32_t offset;
    const char *name;
    uint32_t line, column;
    const char *text;
  } cases[] = {{0, "first", 1, 1, "ab"},  {3, "first", 2, 1, "c"},   {4, "first", 2, 2, "c"},
               {5, "first", 2, 2, "c"},   {6, "second", 2, 2, "yz"}, {7, "second", 2, 3, "yz"},
               {99, "second", 2, 3, "yz"}};
  /* "ab\nc" whole, ";;" in between, and of "x\nyz" what begins at z */
  const tj_source_piece pieces[] = {{0, 4, tj_source_of("first", "ab\nc", 4), 0},
                                    {6, 7, tj_source_of("second", "x\nyz", 4), 3}};
  const tj_source source = {"joined", "ab\nc;;z", 7, pieces, 2};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tj_location location = tj_source_locate(&source, cases[i].offset);
    ck_assert_str_eq(location.name, cases[i].name);
    ck_assert_uint_eq(location.line, cases[i].line);
    ck_assert_uint_eq(location.column, cases[i].column);
    ck_assert_uint_eq(location.length, strlen(cases[i].text));
    ck_assert_int_eq(memcmp(location.text, cases[i].text, location.length), 0);
  }
}
END_TEST

START_TEST(processors_have_cache_lines) {
  static const struct {
    const char *processor;
    uint32_t bytes;
  } cases[] = {{"gfx90a", 64},   {"gfx942", 128},        {"gfx950", 128},  {"gfx9-4-generic", 128}, {"gfx906", 64},
               {"gfx1030", 128}, {"gfx11-generic", 128}, {"gfx1201", 128}, {"gfx803", 64},          {"znver4", 64}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    ck_assert_msg(tj_cache_line_bytes(cases[i].processor) == cases[i].bytes, "%s", cases[i].processor);
}
END_TEST

/* Ascending or not, lanes touch the same lines. */
START_TEST(lines_are_counted_in_any_order) {
  static const struct {
    uint64_t first, step, repeats; /* of addresses, by lane; lanes with the same one */
    uint64_t bytes;
    uint64_t touched, runs, least; /* of 64 bytes */
  } cases[] = {
      {0, 4, 1, 4, 4, 1, 4},    {60, 4, 1, 4, 5, 1, 4},     {0, 16, 1, 16, 16, 1, 16}, {8, 16, 1, 16, 17, 1, 16},
      {0, 64, 1, 4, 64, 1, 4},  {62, 64, 1, 4, 65, 1, 4},   {0, 0, 1, 4, 1, 1, 1},     {0, 4, 2, 4, 2, 1, 2},
      {56, 4, 1, 16, 6, 1, 16}, {0, 4096, 1, 8, 64, 64, 8}, {63, 1, 1, 2, 2, 1, 2},    {0, 128, 2, 64, 32, 32, 32},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint64_t ascending[TJ_LINE_LANES], turned[TJ_LINE_LANES];
    for (uint32_t lane = 0; lane < TJ_LINE_LANES; lane++) {
      ascending[lane] = cases[i].first + lane / cases[i].repeats * cases[i].step;
      turned[TJ_LINE_LANES - 1 - lane] = ascending[lane];
    }
    tj_line_count counts[] = {tj_count_lines(ascending, TJ_LINE_LANES, cases[i].bytes, 64),
                              tj_count_lines(turned, TJ_LINE_LANES, cases[i].bytes, 64)};
    for (int k = 0; k < 2; k++)
      ck_assert_msg(counts[k].touched == cases[i].touched && counts[k].runs == cases[i].runs &&
                        counts[k].least == cases[i].least,
                    "case %zu: %d of %d lines, %d runs", i, (int)counts[k].touched, (int)counts[k].least,
                    (int)counts[k].runs);
  }
}
END_TEST

START_TEST(every_code_has_title_and_note) {
  static const tj_problem_code codes[] = {
#define DIAG(number, name, title, note) TJ_##name,
#include "base/diag.def"
#undef DIAG
  };
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
    ck_assert_uint_gt(strlen(tj_code_title(codes[i])), 0);
    ck_assert_uint_gt(strlen(tj_code_note(codes[i])), 0);
    ck_assert_msg(i == 0 || codes[i] > codes[i - 1], "TJ%04d is out of order", (int)codes[i]);
  }
  ck_assert_ptr_null(tj_code_title((tj_problem_code)9999));
}
END_TEST

int main(void) {
  const TTest *const tests[] = {arena_zeroes_and_aligns,
                                memory_is_left_to_the_next_arena,
                                memory_runs_out,
                                failures_are_described,
                                an_inner_failure_ends_at_the_inner_run,
                                text_grows,
                                offsets_become_lines_and_columns,
                                offsets_of_joined_texts_are_found_in_their_own,
                                every_code_has_title_and_note,
                                lines_are_counted_in_any_order,
                                processors_have_cache_lines};
  return run_suite(suite_of("base", tests, sizeof tests / sizeof *tests));
}
