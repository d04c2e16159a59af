/* SPDX-License-Identifier: MIT */
/* Tiles whose rows go through LDS in several passes: steps against their definition, and machine code on simulated
 * GPUs against the copy's; with tiles at edges, whose masked loads are stored in passes that come later. */
#include "frontend/sema/sema.h"
#include "frontend/text/parser.h"
#include "ir/value/mapping.h"
#include "ir/value/value.h"
#include "lower/kernel/kernel_expressions.h"
#include "lower/lds/lds_layout.h"
#include "lower/plan/plan.h"
#include "lower/tile/tiling.h"
#include "tests/unit/support/gpu_support.h"
#include "tests/unit/support/kernel_interpreter.h"

enum { ROWS = 64, COLUMNS = 32, ITEMS = 64, SLOTS = ROWS * COLUMNS / ITEMS, VECTOR = 4, MODES = 2 };

/* A transposition by tiles of 64 rows, which are neighbours in the source, and 32 columns. */
typedef struct {
  const char *what;
  uint32_t passes, ahead; /* parts that are in LDS besides the one whose turn it is */
  bool is_by_slot;        /* the slot tells in which pass an element goes; or the work-item does */
  const char *type;
  uint32_t rows, columns; /* of the tensors */
} passes_case;

static const passes_case cases[] = {
    {"one pass", 1, 0, false, "f32", 128, 64},
    {"two passes of some work-items", 2, 0, false, "f32", 128, 64},
    {"four passes of some work-items", 4, 0, false, "f32", 128, 96},
    {"two passes of some slots", 2, 0, true, "f32", 64, 64},
    {"four passes of some slots", 4, 0, true, "f32", 128, 32},
    {"masks", 2, 0, false, "f32", 100, 52},
    {"masks, by slot", 4, 0, true, "f32", 100, 52},
    {"halves", 4, 0, true, "f16", 128, 64},
    {"two passes, both at a time", 2, 1, false, "f32", 128, 64},
    {"four passes, two at a time", 4, 1, true, "f32", 128, 64},
    {"four passes of some work-items, three at a time", 4, 2, false, "f32", 128, 96},
    {"masks, two at a time", 4, 1, true, "f32", 100, 52},
    {"halves, with masks, both at a time", 2, 1, false, "f16", 100, 52},
    {"halves, with masks", 2, 0, false, "f16", 100, 52},
};

enum { CASES = sizeof cases / sizeof cases[0] };

/* --- tilings --- */

typedef struct {
  tj_graph *graph;
  const tj_node *item;
  uint32_t row, column; /* modes */
} tiling_maker;

static const tj_node *number(const tiling_maker *make, uint32_t n) {
  return tj_int(make->graph, n);
}

/* scale * (item / by % count) + beyond */
static const tj_node *digit(const tiling_maker *make, uint32_t by, uint32_t count, uint32_t scale, uint32_t beyond) {
  const tj_node *of_item =
      tj_mod(make->graph, tj_div(make->graph, make->item, number(make, by)), number(make, count));
  return tj_add(make->graph, tj_mul(make->graph, of_item, number(make, scale)), number(make, beyond));
}

/* Vectors along the rows; eight of them a work-item. */
static void load_slot(const tiling_maker *make, bool is_by_slot, uint32_t slot, const tj_node *at[MODES]) {
  uint32_t vector = slot / VECTOR, within = slot % VECTOR;
  if (is_by_slot) {
    at[make->row] = digit(make, 1, 4, VECTOR, vector / 2 * 16 + within);
    at[make->column] = digit(make, 4, 16, 1, vector % 2 * 16);
  } else {
    at[make->row] = digit(make, 1, 16, VECTOR, within);
    at[make->column] = digit(make, 16, 4, 1, vector * 4);
  }
}

/* Vectors along the columns; eight rows at a time. */
static void store_slot(const tiling_maker *make, uint32_t slot, const tj_node *at[MODES]) {
  at[make->row] = digit(make, 8, 8, 1, slot / VECTOR * 8);
  at[make->column] = digit(make, 1, 8, VECTOR, slot % VECTOR);
}

static tj_tile_side make_side(const tiling_maker *make, const passes_case *c, bool is_load) {
  tj_job *job = make->graph->job;
  const tj_node *const **digits = TJ_NEW_ARRAY(job, const tj_node *const *, SLOTS);
  uint32_t *order = TJ_NEW_ARRAY(job, uint32_t, SLOTS);
  const uint32_t **orders = TJ_NEW_ARRAY(job, const uint32_t *, 1);
  for (uint32_t slot = 0; slot < SLOTS; slot++) {
    const tj_node **at = TJ_NEW_ARRAY(job, const tj_node *, MODES);
    if (is_load)
      load_slot(make, c->is_by_slot, slot, at);
    else
      store_slot(make, slot, at);
    tj_simplify(make->graph, at, MODES, NULL);
    digits[slot] = at;
    order[slot] = slot;
  }
  orders[0] = order;
  return (tj_tile_side){.slot_count = SLOTS, .digit = digits, .order = orders, .order_count = 1};
}

/* Rows of a pass, a vector apart. */
static const tj_value *rows_in_lds(const tiling_maker *make, uint32_t passes) {
  const tj_tuple *extent[MODES], *stride[MODES];
  extent[make->row] = tj_tuple_constant(make->graph, ROWS / passes);
  stride[make->row] = tj_tuple_constant(make->graph, COLUMNS + VECTOR);
  extent[make->column] = tj_tuple_constant(make->graph, COLUMNS);
  stride[make->column] = tj_tuple_constant(make->graph, 1);
  return tj_value_of_layout(
      make->graph, (tj_layout){tj_tuple_list(make->graph, extent, MODES), tj_tuple_list(make->graph, stride, MODES)});
}

static tj_kernel *make_tiled(tj_graph *graph, const passes_case *c, const char *target) {
  char *text = TJ_NEW_ARRAY(graph->job, char, 256);
  snprintf(text, 256, "kernel k(s: %s @ (%u,%u):(1,%u), d: %s @ (%u,%u):(%u,1)) = copy(s, d)", c->type, c->rows,
           c->columns, c->rows, c->type, c->rows, c->columns, c->columns);
  graph->job->source = tj_source_of("test", text, strlen(text));
  const tj_program_values *values = tj_evaluate(graph, tj_parse(graph->job), NULL, 0);
  tj_kernel *flat = tj_plan_kernel(graph, values, &values->kernel[0]);
  tj_kernel_simplify(graph, flat, NULL);
  ck_assert_uint_eq(flat->domain->count, MODES);
  uint32_t row = tj_is_int(flat->domain->mode[0].source_stride, 1) ? 0 : 1;
  tiling_maker make = {graph, tj_coordinate(graph, "t", tj_int(graph, ITEMS)), row, 1 - row};
  const tj_tuple *tile[MODES];
  tile[make.row] = tj_tuple_constant(graph, ROWS);
  tile[make.column] = tj_tuple_constant(graph, COLUMNS);
  tj_mapping mapping = {.tile = tj_tuple_list(graph, tile, MODES),
                        .passes = c->passes,
                        .ahead = c->ahead,
                        .lds = rows_in_lds(&make, c->passes)};
  tj_tiling tiling = {.domain = flat->domain,
                      .item = make.item,
                      .workgroup_size = ITEMS,
                      .load = make_side(&make, c, true),
                      .store = make_side(&make, c, false),
                      .is_staged = true,
                      .passes = c->passes,
                      .mapping = tj_arena_copy(&graph->job->arena, &mapping, sizeof mapping)};
  return tj_tile_kernel(graph, flat, &tiling, tj_target_parse(graph->job, target));
}

/* --- steps --- */

static uint32_t count_steps(const tj_kernel *kernel, tj_step_kind kind, bool of_lds) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < kernel->step_count; i++) {
    const tj_kernel_step *step = &kernel->step[i];
    count += step->kind == kind && (kind == TJ_STEP_BARRIER || (step->access.buffer == TJ_LDS) == of_lds);
  }
  return count;
}

static void interpret_case(tj_job *job, void *data) {
  const passes_case *c = data;
  tj_graph *graph = tj_graph_create(job);
  tj_kernel *kernel = make_tiled(graph, c, "gfx942");
  ck_assert_ptr_nonnull(kernel);
  ck_assert_uint_eq(count_steps(kernel, TJ_STEP_BARRIER, false), c->ahead > 0 ? c->passes : 2 * c->passes - 1);
  ck_assert_uint_eq(count_steps(kernel, TJ_STEP_LOAD, false), SLOTS / VECTOR);
  uint32_t bytes = kernel->stage->layout.bytes / (c->ahead + 1) * c->passes,
           type_bytes = strcmp(c->type, "f32") == 0 ? 4 : 2;
  ck_assert_uint_ge(bytes, ROWS * COLUMNS * type_bytes);
  ck_assert_uint_le(bytes, ROWS * COLUMNS * type_bytes * 3 / 2);
  int64_t *symbol = TJ_NEW_ARRAY(job, int64_t, graph->symbol_count);
  interpreter run;
  open_interpreter(&run, kernel, c->what, symbol, graph->symbol_count);
  run.keeps_slots = true;
  run.has_unaligned = true;
  interpret(&run);
  for (uint32_t i = 0; i < c->rows * c->columns; i++)
    ck_assert_int_eq(run.buffer[1].value[i], i / c->columns + i % c->columns * c->rows + 1);
  close_interpreter(&run);
}

START_TEST(steps_of_passes) {
  tj_job job;
  tj_job_init(&job, NULL);
  expect_success(&job, interpret_case, (void *)(uintptr_t)&cases[_i]);
  tj_job_destroy(&job);
}
END_TEST

/* --- machine code --- */

typedef struct {
  gpu run;
  const passes_case *c;
} case_on_gpu;

static uint64_t number_at(const void *data, uint32_t bytes, uint32_t i) {
  uint64_t value = 0;
  memcpy(&value, (const char *)data + (size_t)i * bytes, bytes);
  return value;
}

static void launch_case(tj_job *job, void *data) {
  case_on_gpu *on = data;
  const passes_case *c = on->c;
  tj_graph *graph = tj_graph_create(job);
  tj_kernel *kernel = make_tiled(graph, c, on->run.target);
  load_on_gpu(graph, &on->run, kernel);
  uint32_t count = c->rows * c->columns, bytes = tj_dtype_bits(kernel->carried) / 8;
  uint8_t *source = TJ_NEW_ARRAY(job, uint8_t, (size_t)count * bytes);
  uint8_t *destination = TJ_NEW_ARRAY(job, uint8_t, (size_t)count * bytes);
  for (uint64_t i = 0; i < count; i++)
    memcpy(source + i * bytes, &i, bytes);
  symbol_values values = {0};
  run_on_gpu(&on->run, kernel, (host_bytes[]){{source, (size_t)count * bytes}, {destination, (size_t)count * bytes}},
             &values);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t from = i / c->columns + i % c->columns * c->rows;
    ck_assert_msg(number_at(destination, bytes, i) == number_at(source, bytes, from), "%s on %s: element %u", c->what,
                  on->run.target, i);
  }
}

START_TEST(passes_on_gpus) {
  case_on_gpu on = {.c = NULL};
  open_gpu(&on.run, simulated[_i], 1);
  for (uint32_t i = 0; i < CASES; i++) {
    tj_job job;
    on.c = &cases[i];
    tj_job_init(&job, NULL);
    expect_success(&job, launch_case, &on);
    tj_rt_unload(on.run.device, on.run.loaded);
    tj_job_destroy(&job);
  }
  close_gpu(&on.run);
}
END_TEST

/* --- what cannot be --- */

static void refuse_on_host(tj_job *job, void *data) {
  (void)data;
  tj_graph *graph = tj_graph_create(job);
  ck_assert_ptr_null(make_tiled(graph, &cases[1], "host"));
  ck_assert_ptr_nonnull(make_tiled(graph, &cases[0], "host"));
}

/* Three passes of 64 rows, and passes whose rows the store side has in no share. */
static void refuse_uneven(tj_job *job, void *data) {
  (void)data;
  static const passes_case uneven = {"three", 3, 0, false, "f32", 128, 64},
                           many = {"16", 16, 0, false, "f32", 128, 64};
  tj_graph *graph = tj_graph_create(job);
  ck_assert_ptr_null(make_tiled(graph, &uneven, "gfx942"));
  ck_assert_ptr_null(make_tiled(graph, &many, "gfx942"));
}

START_TEST(refusals) {
  tj_job job;
  tj_job_init(&job, NULL);
  expect_success(&job, refuse_on_host, NULL);
  expect_success(&job, refuse_uneven, NULL);
  tj_job_destroy(&job);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("passes");
  TCase *tcase = tcase_create("passes");
  tcase_set_timeout(tcase, 300);
  tcase_add_loop_test(tcase, steps_of_passes, 0, CASES);
  tcase_add_loop_test(tcase, passes_on_gpus, 0, SIMULATED_COUNT);
  tcase_add_test(tcase, refusals);
  suite_add_tcase(suite, tcase);
  return run_suite(suite);
}
