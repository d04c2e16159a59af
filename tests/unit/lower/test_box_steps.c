/* SPDX-License-Identifier: MIT */
/* Tiles that NVIDIA's TMA brings: the steps of their kernels, whose boxes come as the decoder of tensor maps says,
 * against the copy's definition; where the barrier lies, and what it waits for. */
#include "frontend/sema/sema.h"
#include "frontend/text/parser.h"
#include "lower/kernel/kernel_expressions.h"
#include "lower/mapping/mapped.h"
#include "lower/plan/plan.h"
#include "tests/unit/support/box_cases.h"
#include "tests/unit/support/kernel_interpreter.h"

/* `has_plan` is what comes of it. */
typedef struct {
  const box_case *c;
  bool has_plan;
} box_run;

static tj_kernel *make_boxes(tj_graph *graph, const box_case *c) {
  char *text = TJ_NEW_ARRAY(graph->job, char, BOX_TEXT);
  box_write_program(text, c, "dma=1", true);
  graph->job->source = tj_source_of("test", text, strlen(text));
  const tj_program_values *values = tj_evaluate(graph, tj_parse(graph->job), NULL, 0);
  tj_kernel *flat = tj_plan_kernel(graph, values, &values->kernel[0]);
  tj_kernel_simplify(graph, flat, NULL);
  tj_kernel *kernel = tj_map_as_given(graph, flat, tj_target_parse(graph->job, "sm_90"));
  ck_assert_msg(tj_kernel_has_step(kernel, TJ_STEP_BOX) && kernel->map != NULL, "%s", text);
  return kernel;
}

/* The barrier lies in LDS, behind what boxes have there. */
static void check_barrier(const tj_kernel *kernel) {
  enum { BARRIER_BYTES = 8 };
  ck_assert_uint_eq(kernel->map->barrier % BARRIER_BYTES, 0);
  ck_assert_uint_le(kernel->map->barrier + BARRIER_BYTES, tj_kernel_lds_bytes(kernel));
}

static void check_elements(const box_case *c, const interpreter *run) {
  int64_t at[MOST_MODES] = {0};
  do {
    box_element e = box_element_at(c, at);
    ck_assert_msg(run->buffer[1].value[e.destination] == (e.is_there ? e.source + 1 : 0), "%s: element (%ld,%ld,%ld)",
                  c->what, (long)at[0], (long)at[1], (long)at[2]);
  } while (box_next(c, at));
}

/* Parameters are the case's extents, in their order. */
static void take_boxes(tj_job *job, void *data) {
  box_run *boxes = data;
  tj_graph *graph = tj_graph_create(job);
  tj_kernel *kernel = make_boxes(graph, boxes->c);
  int64_t *symbol = TJ_NEW_ARRAY(job, int64_t, graph->symbol_count);
  interpreter run;
  for (uint32_t i = 0; i < kernel->parameter_count; i++)
    symbol[kernel->parameter[i]->symbol->index] =
        boxes->c->extent[kernel->parameter[i]->symbol->name[0] == 'M' ? 0 : 1];
  check_barrier(kernel);
  open_interpreter(&run, kernel, boxes->c->what, symbol, graph->symbol_count);
  interpret(&run);
  check_elements(boxes->c, &run);
  close_interpreter(&run);
  boxes->has_plan = true;
}

static void run_boxes(box_run *run) {
  tj_job job;
  tj_job_init(&job, NULL);
  tj_status status = tj_job_run(&job, take_boxes, run);
  ck_assert_msg(status == TJ_OK || job.problem.code == TJ_MAPPING, "%s: TJ%04d: %s", run->c->what,
                (int)job.problem.code, job.problem.message);
  tj_job_destroy(&job);
}

START_TEST(boxes_bring_tiles) {
  box_run run = {&map_cases[_i], false};
  run_boxes(&run);
  ck_assert_msg(run.has_plan, "%s: there is no plan", run.c->what);
}
END_TEST

START_TEST(random_boxes_bring_tiles) {
  random_source random = random_begin(1);
  int planned = 0;
  for (int i = 0; i < RANDOM_TILES; i++) {
    char mapping[BOX_TEXT];
    box_case c = random_box(&random, true, mapping);
    box_run run = {&c, false};
    run_boxes(&run);
    planned += run.has_plan;
  }
  ck_assert_int_ge(planned, RANDOM_TILES / 2);
}
END_TEST

int main(void) {
  Suite *suite = suite_of_cases("box steps", boxes_bring_tiles, MAP_CASES);
  TCase *tcase = tcase_create("random");
  tcase_set_timeout(tcase, SUITE_SECONDS);
  tcase_add_test(tcase, random_boxes_bring_tiles);
  suite_add_tcase(suite, tcase);
  return run_suite(suite);
}
