/* SPDX-License-Identifier: MIT */
/* Launch plans: what is made of a kernel, evaluated against the oracle; as bytes and back; and bytes that are no
 * plan. */
#include "jit/launch_plan.h"
#include "jit/serial.h"
#include "kernel_support.h"

#include <stdio.h>

/* M in 1..1000 multiple of 4 by name, N >= M; count = M * (N / 3), a division by N, extents {M, N - M}. */
static const tj_launch_plan *make_plan(tj_graph *graph, hand_kernel **made_kernel) {
  hand_kernel *made = make_kernel(graph, tj_int(graph, 64), TJ_DTYPE_i64);
  const tj_node *m = tj_symbol_create(graph, "M", TJ_SYMBOL_PARAMETER, tj_int(graph, 4), tj_int(graph, 1000), 4);
  made->parameter[made->kernel.parameter_count++] = m;
  const tj_node *n = add_parameter(graph, made, "N", m, tj_int(graph, 100000));
  const tj_node *count = tj_mul(graph, m, tj_div(graph, n, tj_int(graph, 3)));
  const tj_node **extent = TJ_NEW_ARRAY(graph->job, const tj_node *, 2);
  extent[0] = m;
  extent[1] = tj_sub(graph, n, m);
  made->buffer[0].extent = extent;
  made->buffer[0].rank = 2;
  made->buffer[0].is_row_major = true;
  made->buffer[0].element_count = tj_add(graph, count, tj_int(graph, 1));
  made->kernel.index = tj_coordinate(graph, "n", count);
  made->kernel.count = count;
  made->step[0].value = tj_div(graph, made->kernel.index, n);
  made->step[1].access.offset = made->kernel.index;
  tj_kernel_derive(graph, &made->kernel);
  tj_parameter *parameter = TJ_NEW_ARRAY(graph->job, tj_parameter, 4);
  parameter[0] = (tj_parameter){"fixed", tj_int(graph, 5)};
  parameter[1] = (tj_parameter){"N", n};
  parameter[2] = (tj_parameter){"unused", tj_symbol_create(graph, "unused", TJ_SYMBOL_PARAMETER, NULL, NULL, 1)};
  parameter[3] = (tj_parameter){"M", m};
  tj_program_values values = {.parameter = parameter, .parameter_count = 4};
  *made_kernel = made;
  return tj_launch_plan_make(graph, &values, &made->kernel, tj_target_parse(graph->job, "gfx942"));
}

static tj_bytes written(tj_job *job, const tj_launch_plan *plan) {
  tj_text text = tj_text_begin(job);
  tj_launch_plan_write(&text, plan);
  return (tj_bytes){text.data, text.length};
}

static const tj_launch_plan *read_back(tj_job *job, tj_bytes bytes) {
  tj_reader reader = {.bytes = bytes};
  return tj_launch_plan_read(job, &reader);
}

/* --- what a plan says --- */

static void check_value(const tj_launch_value *values, tj_expression expression, const tj_node *node,
                        const symbol_values *symbols) {
  ck_assert_int_eq(values[expression].status, TJ_EVAL_OK);
  ck_assert_int_eq(values[expression].value, evaluate(node, symbols));
}

static void check_values(tj_job *job, const hand_kernel *made, const tj_launch_plan *plan, int64_t m, int64_t n) {
  tj_launch_value *values = TJ_NEW_ARRAY(job, tj_launch_value, plan->step_count);
  symbol_values symbols = {.count = 64};
  symbols.value[made->kernel.parameter[0]->symbol->index] = m;
  symbols.value[made->kernel.parameter[1]->symbol->index] = n;
  tj_launch_plan_evaluate(plan, (int64_t[]){m, n, 0, 0}, (bool[]){true, true, false, false}, values);
  check_value(values, plan->variant[0].count, made->kernel.count, &symbols);
  check_value(values, plan->buffer[0].element_count, made->buffer[0].element_count, &symbols);
  for (uint32_t i = 0; i < 2; i++)
    check_value(values, plan->buffer[0].extent[i], made->buffer[0].extent[i], &symbols);
  for (uint32_t i = 0; i < made->kernel.derived_count; i++)
    check_value(values, plan->word[3 + i].of, made->kernel.derived[i].node, &symbols);
}

static void check_plan(tj_job *job, const hand_kernel *made, const tj_launch_plan *plan) {
  static const char *const names[] = {"M", "N", "fixed", "unused"};
  ck_assert_str_eq(plan->kernel, "k");
  ck_assert_uint_eq(plan->parameter_count, 4);
  ck_assert_uint_eq(plan->passed_count, 2);
  for (uint32_t i = 0; i < 4; i++) {
    ck_assert_str_eq(plan->parameter[i].name, names[i]);
    ck_assert_int_eq(plan->parameter[i].is_fixed, i == 2);
  }
  ck_assert_int_eq(plan->parameter[0].multiple, 4);
  ck_assert_uint_eq(plan->step[plan->parameter[1].low].op, TJ_OP_SYMBOL);
  ck_assert_uint_eq(plan->buffer_count, 1);
  ck_assert(plan->buffer[0].is_row_major && plan->buffer[0].is_written && !plan->buffer[0].is_read);
  ck_assert_uint_gt(made->kernel.derived_count, 0);
  ck_assert_uint_eq(plan->word_count, 3 + made->kernel.derived_count);
  ck_assert_uint_eq(tj_launch_argument_bytes(plan), tj_kernel_argument_bytes(&made->kernel));
  ck_assert_uint_eq(plan->variant_count, 1);
  ck_assert_str_eq(plan->variant[0].symbol, "k");
  ck_assert_uint_eq(plan->variant[0].workgroup_size, 64);
  check_values(job, made, plan, 4, 9);
  check_values(job, made, plan, 1000, 99999);
}

static void make_and_read_back(tj_job *job, void *data) {
  (void)data;
  hand_kernel *made;
  const tj_launch_plan *plan = make_plan(tj_graph_create(job), &made);
  check_plan(job, made, plan);
  tj_bytes bytes = written(job, plan);
  const tj_launch_plan *again = read_back(job, bytes);
  ck_assert_ptr_nonnull(again);
  check_plan(job, made, again);
  tj_bytes twice = written(job, again);
  ck_assert_uint_eq(twice.size, bytes.size);
  ck_assert_mem_eq(twice.data, bytes.data, bytes.size);
}

static void evaluate_in_part(tj_job *job, void *data) {
  (void)data;
  hand_kernel *made;
  const tj_launch_plan *plan = make_plan(tj_graph_create(job), &made);
  tj_launch_value *values = TJ_NEW_ARRAY(job, tj_launch_value, plan->step_count);
  tj_launch_plan_evaluate(plan, (int64_t[]){8, 9, 0, 0}, (bool[]){true, false, false, false}, values);
  ck_assert_int_eq(values[plan->buffer[0].extent[0]].value, 8);
  ck_assert_int_eq(values[plan->buffer[0].extent[1]].status, TJ_EVAL_UNBOUND);
  tj_launch_plan_evaluate(plan, (int64_t[]){INT64_MAX, INT64_MAX, 0, 0}, (bool[]){true, true, false, false}, values);
  ck_assert_int_eq(values[plan->variant[0].count].status, TJ_EVAL_OVERFLOW);
  ck_assert_int_eq(values[plan->buffer[0].extent[1]].status, TJ_EVAL_OK);
}

/* --- bytes that are no plan --- */

/* Reads a copy of exactly that size, so that sanitizers see every access beyond it; uses what it gets. */
static bool reads(tj_job *job, const unsigned char *bytes, size_t size) {
  unsigned char *copy = malloc(size + 1);
  ck_assert_ptr_nonnull(copy);
  memcpy(copy, bytes, size);
  unsigned char *exact = realloc(copy, size > 0 ? size : 1);
  const tj_launch_plan *plan = read_back(job, (tj_bytes){exact, size});
  if (plan != NULL) {
    tj_launch_value *values = TJ_NEW_ARRAY(job, tj_launch_value, plan->step_count + 1);
    int64_t *parameter = TJ_NEW_ARRAY(job, int64_t, plan->parameter_count + 1);
    bool *bound = TJ_NEW_ARRAY(job, bool, plan->parameter_count + 1);
    tj_launch_plan_evaluate(plan, parameter, bound, values);
    ck_assert_uint_ge(plan->variant_count, 1);
    for (uint32_t i = 0; i < plan->variant_count; i++)
      ck_assert(plan->variant[i].count < plan->step_count && strlen(plan->variant[i].symbol) < size);
  }
  free(exact);
  return plan != NULL;
}

static void read_damaged(tj_job *job, void *data) {
  (void)data;
  hand_kernel *made;
  tj_bytes bytes = written(job, make_plan(tj_graph_create(job), &made));
  unsigned char *copy = tj_arena_copy(&job->arena, bytes.data, bytes.size);
  ck_assert(reads(job, copy, bytes.size));
  for (size_t size = 0; size < bytes.size; size++)
    ck_assert_msg(!reads(job, copy, size), "the first %zu of %zu bytes are a plan", size, bytes.size);
  static const unsigned char bits[] = {0x01, 0x80, 0xff};
  size_t accepted = 0;
  for (size_t i = 0; i < bytes.size * sizeof bits; i++) {
    copy[i / sizeof bits] ^= bits[i % sizeof bits];
    accepted += reads(job, copy, bytes.size);
    copy[i / sizeof bits] ^= bits[i % sizeof bits];
  }
  ck_assert_uint_lt(accepted, bytes.size * sizeof bits / 2);
}

static void read_integers(tj_job *job, void *data) {
  (void)data;
  tj_text text = tj_text_begin(job);
  tj_write_u8(&text, 200);
  tj_write_u32(&text, 4000000000);
  tj_write_u64(&text, UINT64_MAX - 1);
  tj_write_string(&text, "name");
  tj_write_bytes(&text, (tj_bytes){"", 0});
  tj_reader reader = {.bytes = {text.data, text.length}};
  ck_assert_uint_eq(tj_read_u8(&reader), 200);
  ck_assert_uint_eq(tj_read_u32(&reader), 4000000000);
  ck_assert_uint_eq(tj_read_u64(&reader), UINT64_MAX - 1);
  ck_assert_str_eq(tj_read_string(&reader), "name");
  ck_assert_uint_eq(tj_read_bytes(&reader).size, 0);
  ck_assert(!reader.is_failed);
  ck_assert_uint_eq(tj_read_u8(&reader), 0);
  ck_assert(reader.is_failed);
  tj_reader counts = {.bytes = {"\3\0\0\0abcdef", 10}};
  ck_assert_uint_eq(tj_read_count(&counts, 2), 3);
  tj_reader too_many = {.bytes = {"\3\0\0\0abcde", 9}};
  ck_assert_uint_eq(tj_read_count(&too_many, 2), 0);
  ck_assert(too_many.is_failed);
  tj_reader open = {.bytes = {"\2\0\0\0\0\0\0\0ab", 10}};
  ck_assert_str_eq(tj_read_string(&open), "");
  ck_assert(open.is_failed);
}

#define BODY_TEST(name, body)                                                                                        \
  START_TEST(name) {                                                                                                 \
    tj_job job;                                                                                                      \
    tj_job_init(&job, NULL);                                                                                         \
    expect_success(&job, body, NULL);                                                                                \
    tj_job_destroy(&job);                                                                                            \
  }                                                                                                                  \
  END_TEST

BODY_TEST(plans_say_what_kernels_say, make_and_read_back)
BODY_TEST(expressions_fail_by_themselves, evaluate_in_part)
BODY_TEST(damaged_bytes_are_harmless, read_damaged)
BODY_TEST(integers_and_strings, read_integers)

int main(void) {
  const TTest *tests[] = {plans_say_what_kernels_say, expressions_fail_by_themselves, damaged_bytes_are_harmless,
                          integers_and_strings};
  return run_suite(suite_of("launch_plan", tests, sizeof tests / sizeof *tests));
}
