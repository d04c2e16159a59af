/* SPDX-License-Identifier: MIT */
/* Plans of tensor DMA: random tiles of random tensors, each instruction decoded element by element and compared with
 * what the definitions of tensor and layout say. */
#include "tests/unit/support/dma_cases.h"

enum { CASES = 1000, SLICE = 50 };

/* An engine's share of cases must have plans, and some must not. */
typedef struct {
  const char *processor;
  uint64_t seed;
  int planned, several, padded, iterated, swizzled, refused;
} tally;

static void count_plan(tally *t, const tj_dma_plan *plan) {
  t->planned += plan->obstacle == NULL;
  t->refused += plan->obstacle != NULL;
  if (plan->obstacle != NULL)
    return;
  t->several += plan->instructions > 1;
  t->padded += plan->pad != 0;
  t->iterated += plan->iterated != TJ_DMA_NO_REPEAT;
  t->swizzled += plan->swizzle != 0;
}

static void run_case(tj_job *job, void *data) {
  tally *t = data;
  job->fuel = UINT64_MAX;
  view_source from = {tj_graph_create(job), t->seed};
  const tj_dma_engine *engine = tj_dma_engine_of(t->processor);
  uint32_t element_bytes = 1u << random_between(&from, 0, 4);
  bool is_map = engine->kind == TJ_DMA_TENSOR_MAP;
  dma_spread spread = {12, 1024, 3, 3, is_map ? (element_bytes < 16 ? 16 / element_bytes : 1) : 4, true, true};
  dma_case c = random_case(&from, engine, &spread, element_bytes);
  int64_t grid[4];
  while (grid_of(&c, grid) > MOST_GRID)
    c = random_case(&from, engine, &spread, element_bytes);
  int64_t kind = random_between(&from, 0, 2);
  if (kind > 0)
    c.request.lds = random_lds(&from, &c, &spread, is_map && kind == 2);
  tj_dma_plan plan = tj_dma_plan_of(&c.request);
  count_plan(t, &plan);
  if (plan.obstacle == NULL)
    check_plan(&c, &plan, t->seed);
}

static tally run_cases(const char *processor) {
  tally t = {.processor = processor};
  for (uint64_t i = 0; i < CASES; i++) {
    tj_job job;
    tj_job_init(&job, NULL);
    t.seed = 0x9e3779b97f4a7c15u * (i + 1);
    expect_success(&job, run_case, &t);
    tj_job_destroy(&job);
  }
  return t;
}

START_TEST(descriptors_agree) {
  tally t = run_cases("gfx1250");
  ck_assert_int_ge(t.planned, CASES * 3 / 4);
  ck_assert_int_ge(t.several, CASES / 20);
  ck_assert_int_ge(t.padded, CASES / 100);
  ck_assert_int_ge(t.iterated, CASES / 20);
}
END_TEST

START_TEST(tensor_maps_agree) {
  tally t = run_cases("sm_90");
  ck_assert_int_ge(t.planned, CASES / 5);
  ck_assert_int_ge(t.swizzled, CASES / 50);
  ck_assert_int_ge(t.refused, CASES / 10);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {descriptors_agree, tensor_maps_agree};
  return run_suite(suite_of("dma", tests, sizeof tests / sizeof *tests));
}
