/* SPDX-License-Identifier: MIT */
/* Flexible tiles compute offsets in 32 bits: whatever strides the launch brings, a tile that reaches farther on
 * either side is left to the kernel that moves one element at a time. */
#include "ir/index/eval.h"
#include "lower/kernel/launched_tile.h"
#include "lower/mapping/mapping.h"
#include "tests/unit/support/harness.h"
#include "tests/unit/support/plan_support.h"

#include <string.h>

enum { PARAMETERS = 3 };

typedef struct {
  const char *text;
  int64_t value[PARAMETERS]; /* of M, N and S */
  bool is_served;
} row;

#define FAR "param M in 1..65536, N in 1..65536, S in 1..4294967295\n"
#define LOADED(type) FAR "kernel k(s: " type " @ (M,N):(S,1), d: " type " @ (M,N):(1,M)) = copy(s, d)"
#define STORED(type) FAR "kernel k(s: " type " @ (M,N):(N,1), d: " type " @ (M,N):(1,S)) = copy(s, d)"
#define STRAIGHT(type) FAR "kernel k(s: " type " @ (M,N):(N,1), d: " type " @ (M,N):(S,1)) = copy(s, d)"

static const row rows[] = {
    {LOADED("f32"), {1000, 1000, 1000}, true},      {LOADED("f32"), {1000, 1000, 1 << 20}, true},
    {LOADED("f32"), {1000, 1000, 1 << 27}, false},  {LOADED("f32"), {1000, 1000, UINT32_MAX}, false},
    {STORED("f32"), {1000, 1000, 1000}, true},      {STORED("f32"), {1000, 1000, 1 << 20}, true},
    {STORED("f32"), {1000, 1000, 1 << 27}, false},  {STORED("f32"), {1000, 1000, UINT32_MAX}, false},
    {STORED("b8"), {1000, 1000, 1 << 22}, true},    {STORED("b8"), {1000, 1000, 1 << 29}, false},
    {STORED("b128"), {1000, 1000, 1 << 25}, false}, {STRAIGHT("f32"), {1000, 1000, 1000}, true},
    {STRAIGHT("f32"), {1000, 3, 1 << 27}, false},   {STRAIGHT("f32"), {1000, 3, UINT32_MAX}, false},
};

static void check_row(tj_job *job, void *data) {
  static const char *const names[PARAMETERS] = {"M", "N", "S"};
  const row *r = data;
  tj_graph *graph = tj_graph_create(job);
  const tj_kernel *kernel = tj_map_copy(graph, planned_kernel(graph, r->text), tj_target_parse(job, "gfx942"));
  ck_assert_ptr_nonnull(kernel->faster);
  int64_t *symbols = TJ_NEW_ARRAY(job, int64_t, graph->symbol_count), value = 0;
  for (uint32_t i = 0; i < kernel->parameter_count; i++) {
    const tj_symbol *symbol = kernel->parameter[i]->symbol;
    for (uint32_t p = 0; p < PARAMETERS; p++)
      symbols[symbol->index] = strcmp(symbol->name, names[p]) == 0 ? r->value[p] : symbols[symbol->index];
  }
  tj_bindings bindings = {.value = symbols, .count = graph->symbol_count};
  ck_assert_int_eq(tj_choose_launched(kernel->faster, &bindings, symbols), TJ_EVAL_OK);
  ck_assert_int_eq(tj_eval_nodes(&kernel->condition, 1, &bindings, &value), TJ_EVAL_OK);
  ck_assert_msg((value != 0) == r->is_served, "%s: M=%ld N=%ld S=%ld", r->text, (long)r->value[0], (long)r->value[1],
                (long)r->value[2]);
}

START_TEST(tiles_that_reach_too_far_are_not_served) {
  tj_job job;
  tj_job_init(&job, NULL);
  expect_success(&job, check_row, (void *)(uintptr_t)&rows[_i]);
  tj_job_destroy(&job);
}
END_TEST

int main(void) {
  return run_suite(
      suite_of_cases("flexible_reach", tiles_that_reach_too_far_are_not_served, (int)(sizeof rows / sizeof rows[0])));
}
