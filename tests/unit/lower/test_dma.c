/* SPDX-License-Identifier: MIT */
/* Plans of tensor DMA: random tiles of random tensors, each instruction decoded element by element and compared with
 * what the definitions of tensor and layout say. */
#include "tests/unit/support/dma_cases.h"

enum { CASES = 1000, SLICE = 50 };

/* An engine's share of cases must have plans, and some must not. */
typedef struct {
  const char *processor;
  uint64_t seed;
  int planned, several, padded, iterated, gathered, swizzled, refused;
} tally;

static void count_plan(tally *t, const tj_dma_plan *plan) {
  t->planned += plan->obstacle == NULL;
  t->refused += plan->obstacle != NULL;
  if (plan->obstacle != NULL)
    return;
  t->several += plan->instructions > 1;
  t->padded += plan->pad != 0;
  t->iterated += plan->iterated != TJ_DMA_NO_REPEAT;
  t->gathered += plan->rows != 0;
  t->swizzled += plan->swizzle != 0;
}

static void run_case(tj_job *job, void *data) {
  tally *t = data;
  job->fuel = UINT64_MAX;
  view_source from = {tj_graph_create(job), t->seed};
  dma_case c = random_small_case(&from, t->processor);
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
  ck_assert_int_ge(t.gathered, CASES / 20);
}
END_TEST

START_TEST(tensor_maps_agree) {
  tally t = run_cases("sm_90");
  ck_assert_int_ge(t.planned, CASES / 5);
  ck_assert_int_ge(t.swizzled, CASES / 50);
  ck_assert_int_ge(t.refused, CASES / 10);
}
END_TEST

/* --- parameters --- */

/* A column-major tensor of such a shape, whose extents are parameters, and its tile. M, N in 1..65536; K in 64..4096
 * multiple 64. */
typedef struct {
  const char *processor, *shape, *lds;
  uint32_t element_bytes;
  int64_t tile[3];
  uint32_t rank, instructions;
} parameter_row;

static const parameter_row parameter_rows[] = {
    {"gfx1250", "(K,M)", NULL, 2, {64, 16}, 2, 1},
    {"gfx1250", "(M,N)", NULL, 4, {16, 8}, 2, 1},
    {"gfx1250", "(M,N)", "(16,8):(1,20)", 4, {16, 8}, 2, 1},
    {"gfx1250", "(M,N)", "(16,8):(9,1)", 4, {16, 8}, 2, 1},  /* rows of one element, a pad after each 8 */
    {"gfx1250", "(M,N)", "(16,6):(7,1)", 4, {16, 6}, 2, 16}, /* no pads after 6 */
    {"gfx1250", "(16,M,K)", NULL, 1, {16, 4, 8}, 3, 1},
    {"gfx1250", "(M,16,N)", NULL, 16, {1, 16, 3}, 3, 1},
    {"sm_90", "(K,M)", NULL, 2, {64, 16}, 2, 1},
    {"sm_90", "(K,M,N)", NULL, 2, {32, 4, 3}, 3, 1},
    {"sm_90", "(K,M)", "Sw<3,3,3> o 0 o (64,16):(1,64)", 2, {64, 16}, 2, 1},
    {"sm_90", "(K,M)", "Sw<2,3,3> o 0 o ((32,2),16):((1,512),32)", 2, {64, 16}, 2, 1},
    {"sm_90", "(16,M,K)", NULL, 1, {16, 4, 8}, 3, 1},
};

static const tj_tuple *shape_at(reader *self, const tj_tuple *shape, const tj_bindings *bindings) {
  const tj_tuple *item[4];
  for (uint32_t m = 0; m < shape->count; m++) {
    int64_t value;
    ck_assert_int_eq(tj_eval_nodes(&shape->item[m]->value, 1, bindings, &value), TJ_EVAL_OK);
    item[m] = tj_tuple_constant(self->graph, value);
  }
  return tj_tuple_list(self->graph, item, shape->count);
}

static void set_parameter(const reader *self, dma_instruction *instruction, const char *name, int64_t value) {
  for (uint32_t i = 0; i < self->count; i++) {
    if (strcmp(self->name[i], name) == 0)
      instruction->value[self->node[i]->symbol->index] = value;
  }
}

static void check_parameters(reader *self, const void *data) {
  const parameter_row *row = data;
  static const int64_t values[][3] = {{1, 1, 64}, {16, 8, 64}, {5, 3, 128}, {17, 9, 64}}; /* M, N, K */
  tj_graph *graph = self->graph;
  graph->job->fuel = UINT64_MAX;
  const tj_tuple *shape = read_tuple(self, row->shape);
  dma_case c = {.graph = graph, .rank = row->rank};
  memcpy(c.tile, row->tile, sizeof row->tile);
  c.request = (tj_dma_request){.graph = graph,
                               .engine = tj_dma_engine_of(row->processor),
                               .element_bytes = row->element_bytes,
                               .tensor = tj_value_of_layout(graph, tj_layout_of_shape(graph, shape)),
                               .tile = tj_value_of_tuple(graph, constants_tuple(graph, row->tile, row->rank)),
                               .lds = read_lds(self, row->lds),
                               .tensor_span = TJ_NOWHERE};
  tj_dma_plan plan = tj_dma_plan_of(&c.request);
  ck_assert_msg(plan.obstacle == NULL, "%s", plan.obstacle);
  ck_assert_int_eq(plan.instructions, row->instructions);
  dma_instruction instruction;
  begin_instruction(&instruction, graph, &plan, shape, row->tile);
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    set_parameter(self, &instruction, "M", values[i][0]);
    set_parameter(self, &instruction, "N", values[i][1]);
    set_parameter(self, &instruction, "K", values[i][2]);
    c.length = shape_at(self, shape, &instruction.bindings);
    c.request.tensor = tj_value_of_layout(graph, tj_layout_of_shape(graph, c.length));
    check_tiles(&c, &instruction, say_case(&c, i));
  }
  tj_evaluator_destroy(instruction.evaluator);
}

START_TEST(parameters_agree) {
  for (size_t i = 0; i < sizeof parameter_rows / sizeof *parameter_rows; i++)
    run_row(check_parameters, &parameter_rows[i], (tj_problem_code)0);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {descriptors_agree, tensor_maps_agree, parameters_agree};
  return run_suite(suite_of("dma", tests, sizeof tests / sizeof *tests));
}
