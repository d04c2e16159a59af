/* SPDX-License-Identifier: MIT */
/* Launch plans: what is made of a kernel, evaluated against the oracle; as bytes and back; and bytes that are no
 * plan. */
#include "jit/compile/launch_plan_make.h"
#include "launch/image/image.h"
#include "launch/image/launch_plan.h"
#include "launch/image/serial.h"
#include "lower/kernel/launched_tile.h"
#include "lower/plan/race.h"
#include "tests/unit/support/kernel_support.h"

#include <stdio.h>

/* (M, N):(N - 2, 1), from (M, N):(N, 1). */
static const tj_race *make_race(tj_graph *graph, const tj_node *m, const tj_node *n) {
  tj_race *race = TJ_NEW(graph->job, tj_race);
  const tj_node *zero = tj_int(graph, 0), *one = tj_int(graph, 1);
  *race = (tj_race){.form = "(_,_)", .base = one, .modes = 2, .sources = 1};
  race->side[0][0] = (tj_race_term){zero, m, tj_sub(graph, n, tj_int(graph, 2))};
  race->side[1][0] = (tj_race_term){zero, n, one};
  race->side[0][1] = (tj_race_term){zero, m, n};
  race->side[1][1] = (tj_race_term){zero, n, one};
  return race;
}

/* A tile of (M, N):(N, 1), which becomes (M, N):(1, M), in registers. */
static const tj_launched_tile *make_tile(tj_graph *graph, const tj_node *m, const tj_node *n) {
  tj_launched_tile *made = TJ_NEW(graph->job, tj_launched_tile);
  const tj_node *const input[] = {m, n, n, tj_int(graph, 1), tj_int(graph, 1), m};
  tj_tile_choice least, most;
  made->tile = (tj_tile){.axis = {1, 0, 0, TJ_TILE_NONE, TJ_TILE_NONE, TJ_TILE_NONE},
                         .kind = TJ_TILE_STRAIGHT,
                         .modes = 2,
                         .loaded_bytes = 4,
                         .stored_bytes = 4,
                         .line_bytes = 128,
                         .vector_bytes = 16,
                         .lanes = 64,
                         .loaded = 4,
                         .stored = 4,
                         .most = 256,
                         .slots = 8,
                         .vectors = 1,
                         .parts = 1,
                         .passes = 1,
                         .together = 1};
  for (uint32_t i = 0; i < TJ_TILE_WORDS; i++)
    ck_assert(tj_tile_allows(i, made->tile.word[i]));
  for (uint32_t i = 0; i < TJ_TILE_INPUTS; i++) {
    uint32_t mode = i % TJ_TILE_MODES;
    made->input[i] = mode < 2 ? input[i / TJ_TILE_MODES * 2 + mode] : tj_int(graph, 0);
  }
  tj_tile_limits(&made->tile, &least, &most);
  for (uint32_t i = 0; i < TJ_TILE_NUMBERS; i++)
    made->number[i] = tj_symbol_create(graph, "chosen", TJ_SYMBOL_COORDINATE, tj_int(graph, least.number[i]),
                                       tj_int(graph, most.number[i]), 1);
  return made;
}

/* M in 1..1000 multiple of 4 by name, N >= M, a multiple of M / 4; count = M * (N / 3), a division by N, extents {M,
 * N - M}; as many elements as that and what a tile has of items and slots. */
static const tj_launch_plan *make_plan(tj_graph *graph, hand_kernel **made_kernel) {
  hand_kernel *made = make_kernel(graph, tj_int(graph, 64), TJ_DTYPE_i64);
  static const int64_t few[] = {4, 12, 1000};
  const tj_node *m = tj_symbol_declare(graph, (tj_symbol){.name = "M",
                                                          .kind = TJ_SYMBOL_PARAMETER,
                                                          .low = tj_int(graph, 4),
                                                          .high = tj_int(graph, 1000),
                                                          .multiple = 4,
                                                          .choice = few,
                                                          .choice_count = 3});
  made->parameter[made->kernel.parameter_count++] = m;
  const tj_node *n = tj_symbol_declare(graph, (tj_symbol){.name = "N",
                                                          .kind = TJ_SYMBOL_PARAMETER,
                                                          .low = m,
                                                          .high = tj_int(graph, 100000),
                                                          .multiple = 1,
                                                          .divisor = tj_div(graph, m, tj_int(graph, 4))});
  made->parameter[made->kernel.parameter_count++] = n;
  const tj_node *count = tj_mul(graph, m, tj_div(graph, n, tj_int(graph, 3)));
  const tj_node **extent = TJ_NEW_ARRAY(graph->job, const tj_node *, 2);
  extent[0] = m;
  extent[1] = tj_sub(graph, n, m);
  made->buffer[0].extent = extent;
  made->buffer[0].rank = 2;
  made->buffer[0].is_row_major = true;
  made->kernel.launched = make_tile(graph, m, n);
  const tj_node *const *number = made->kernel.launched->number;
  const tj_node *tile = tj_add(graph, tj_mul(graph, number[0], number[1]), number[TJ_TILE_AXES]);
  made->buffer[0].element_count = tj_add(graph, count, tj_add(graph, tile, tj_int(graph, 1)));
  made->kernel.index = tj_coordinate(graph, "n", count);
  made->kernel.count = count;
  made->step[0].value = tj_div(graph, made->kernel.index, n);
  made->step[1].access.offset = made->kernel.index;
  made->kernel.race = make_race(graph, m, n);
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
  tj_bindings bindings = {.value = symbols.value, .count = 64};
  ck_assert_int_eq(tj_choose_launched(&made->kernel, &bindings, symbols.value), TJ_EVAL_OK);
  tj_launch_plan_evaluate(plan, (int64_t[]){m, n, 0, 0}, (bool[]){true, true, false, false}, values);
  check_value(values, plan->variant[0].count, made->kernel.count, &symbols);
  check_value(values, plan->buffer[0].element_count, made->buffer[0].element_count, &symbols);
  for (uint32_t i = 0; i < 2; i++)
    check_value(values, plan->buffer[0].extent[i], made->buffer[0].extent[i], &symbols);
  for (uint32_t i = 0; i < made->kernel.derived_count; i++)
    check_value(values, plan->word[3 + i].of, made->kernel.derived[i].node, &symbols);
}

/* Coordinate (1,0) is element N - 2, and so is (0,N - 2). */
static void check_race(tj_job *job, const tj_launch_plan *plan, int64_t m, int64_t n, tj_race_verdict expected) {
  int64_t first[TJ_RACE_MODES], second[TJ_RACE_MODES];
  tj_launch_value *values = TJ_NEW_ARRAY(job, tj_launch_value, plan->step_count);
  ck_assert_ptr_nonnull(plan->race);
  ck_assert_str_eq(plan->race->form, "(_,_)");
  tj_launch_plan_evaluate(plan, (int64_t[]){m, n, 0, 0}, (bool[]){true, true, false, false}, values);
  ck_assert_int_eq(values[plan->race->base].value, 1);
  ck_assert_int_eq(tj_launch_race_decide(plan->race, values, first, second), expected);
  if (expected != TJ_RACE_FOUND)
    return;
  ck_assert(first[0] == 0 && first[1] == n - 2 && second[0] == 1 && second[1] == 0);
  tj_launch_plan_evaluate(plan, (int64_t[]){m, n, 0, 0}, (bool[]){true, false, false, false}, values);
  ck_assert_int_eq(tj_launch_race_decide(plan->race, values, first, second), TJ_RACE_UNDECIDED);
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
  ck_assert_int_eq(plan->step[plan->parameter[0].multiple].value, 4);
  ck_assert_uint_eq(plan->parameter[0].choice_count, 3);
  ck_assert(tj_launch_parameter_lists(&plan->parameter[0], 12));
  ck_assert(!tj_launch_parameter_lists(&plan->parameter[0], 8));
  ck_assert(tj_launch_parameter_lists(&plan->parameter[1], 8));
  ck_assert_uint_eq(plan->step[plan->parameter[1].multiple].op, TJ_OP_DIV);
  ck_assert_uint_eq(plan->step[plan->parameter[1].low].op, TJ_OP_SYMBOL);
  ck_assert_uint_eq(plan->buffer_count, 1);
  ck_assert(plan->buffer[0].is_row_major && plan->buffer[0].is_written && !plan->buffer[0].is_read);
  ck_assert_uint_gt(made->kernel.derived_count, 0);
  ck_assert_uint_eq(plan->word_count, 3 + made->kernel.derived_count);
  ck_assert_uint_eq(tj_launch_argument_bytes(plan, &plan->variant[0]), tj_kernel_argument_bytes(&made->kernel));
  ck_assert_uint_eq(plan->variant_count, 1);
  ck_assert_str_eq(plan->variant[0].symbol, "k");
  ck_assert_uint_eq(plan->variant[0].workgroup_size, 64);
  ck_assert_uint_eq(plan->variant[0].lds_bytes, 0);
  ck_assert_uint_eq(plan->variant[0].alignment[0], 8);
  check_race(job, plan, 4, 9, TJ_RACE_FOUND);
  check_race(job, plan, 1, 9, TJ_RACE_NONE);
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

static void use_race(const tj_launch_plan *plan, const tj_launch_value *values) {
  int64_t first[TJ_RACE_MODES], second[TJ_RACE_MODES];
  ck_assert(plan->race->destination < plan->buffer_count && plan->race->form != NULL);
  (void)tj_launch_race_decide(plan->race, values, first, second);
}

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
    if (plan->race != NULL)
      use_race(plan, values);
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

/* --- plans that say what cannot be --- */

/* One thing after another that is forged in a plan: none of them is read. */
static void refuse_forged(tj_job *job, void *data) {
  (void)data;
  hand_kernel *made;
  const tj_launch_plan *plan = make_plan(tj_graph_create(job), &made);
  tj_launch_step *step = tj_arena_copy(&job->arena, plan->step, plan->step_count * sizeof *step);
  tj_launch_parameter *parameter =
      tj_arena_copy(&job->arena, plan->parameter, plan->parameter_count * sizeof *parameter);
  tj_launch_buffer *buffer = tj_arena_copy(&job->arena, plan->buffer, plan->buffer_count * sizeof *buffer);
  tj_launch_word *word = tj_arena_copy(&job->arena, plan->word, plan->word_count * sizeof *word);
  tj_launch_variant *variant = tj_arena_copy(&job->arena, plan->variant, plan->variant_count * sizeof *variant);
  tj_launch_race *race = tj_arena_copy(&job->arena, plan->race, sizeof *race);
  tj_launch_race_mode *mode = TJ_NEW_ARRAY(job, tj_launch_race_mode, TJ_RACE_MODES + 1);
  memcpy(mode, race->mode, race->modes * sizeof *mode);
  tj_launch_plan forged = *plan;
  tj_launch_tile *tile = TJ_NEW_ARRAY(job, tj_launch_tile, TJ_LAUNCH_MOST_TILES + 1);
  tile[0] = plan->tile[0];
  race->mode = mode;
  forged.tile = tile;
  forged.step = step;
  forged.parameter = parameter;
  forged.buffer = buffer;
  forged.word = word;
  forged.variant = variant;
  forged.race = race;
  tj_launch_map *map = TJ_NEW(job, tj_launch_map);
  *map = (tj_launch_map){.element_bytes = 2, .rank = 2, .swizzle = 128, .box = {64, 256}};
  variant[0].map = map;
  ck_assert_ptr_nonnull(read_back(job, written(job, &forged)));
  uint32_t binary = 0, symbol = 0, count = plan->step_count;
  for (uint32_t i = 0; i < count; i++) {
    binary = tj_op_arity(step[i].op) == 2 ? i : binary;
    symbol = step[i].op == TJ_OP_SYMBOL ? i : symbol;
  }
#define REFUSED(place, wrong)                                                                                        \
  do {                                                                                                               \
    __typeof__(place) before = (place);                                                                              \
    (place) = (wrong);                                                                                               \
    ck_assert_msg(read_back(job, written(job, &forged)) == NULL, "%s = %s is read", #place, #wrong);                 \
    (place) = before;                                                                                                \
  } while (0)
  REFUSED(step[binary].arg[0], binary);
  REFUSED(step[binary].arg[1], binary);
  REFUSED(step[binary].arg[0], count);
  REFUSED(step[symbol].parameter, plan->parameter_count + TJ_TILE_NUMBERS);
  REFUSED(forged.tile_count, TJ_LAUNCH_MOST_TILES + 1);
  REFUSED(tile[0].tile.kind, TJ_TILE_KINDS);
  REFUSED(tile[0].tile.modes, 0);
  REFUSED(tile[0].tile.axis[2], TJ_TILE_NONE + 1);
  REFUSED(tile[0].input[1], count);
  REFUSED(parameter[0].multiple, count);
  REFUSED(parameter[0].low, count);
  REFUSED(forged.passed_count, plan->parameter_count + 1);
  REFUSED(buffer[0].element_count, count);
  REFUSED(buffer[0].element_count, TJ_NO_EXPRESSION);
  REFUSED(buffer[0].dtype, TJ_DTYPE_COUNT);
  REFUSED(word[0].kind, TJ_WORD_KIND_COUNT);
  REFUSED(word[0].of, plan->buffer_count);
  REFUSED(word[1].of, plan->passed_count);
  REFUSED(word[0].is_upper, true);
  REFUSED(word[3].is_upper, true);
  REFUSED(variant[0].workgroup_size, 0);
  REFUSED(variant[0].count, count);
  REFUSED(variant[0].count, TJ_NO_EXPRESSION);
  REFUSED(variant[0].condition, count);
  REFUSED(variant[0].follows, true);
  REFUSED(variant[0].alignment, (uint32_t[]){0});
  REFUSED(variant[0].alignment, (uint32_t[]){12});
  REFUSED(map->buffer, plan->buffer_count);
  REFUSED(map->element_bytes, 0);
  REFUSED(map->element_bytes, 3);
  REFUSED(map->element_bytes, 16);
  REFUSED(map->swizzle, 16);
  REFUSED(map->swizzle, 64);
  REFUSED(map->box[0], 4);
  REFUSED(map->box[1], 0);
  REFUSED(map->box[1], 257);
  REFUSED(map->offset, count);
  REFUSED(map->extent[1], count);
  REFUSED(map->stride[0], TJ_NO_EXPRESSION);
  REFUSED(forged.variant_count, 0);
  REFUSED(race->modes, TJ_RACE_MODES + 1);
  REFUSED(race->destination, plan->buffer_count);
  REFUSED(race->base, count);
  REFUSED(mode[1].side[1].stride, count);
  REFUSED(mode[0].side[0].end, TJ_NO_EXPRESSION);
#undef REFUSED
}

/* What a tile is chosen by may come after it in a forged plan: then there is no choice. */
static void choose_by_nothing_later(tj_job *job, void *data) {
  (void)data;
  hand_kernel *made;
  const tj_launch_plan *plan = make_plan(tj_graph_create(job), &made);
  tj_launch_value *values = TJ_NEW_ARRAY(job, tj_launch_value, plan->step_count);
  tj_launch_tile tile = plan->tile[0];
  tj_launch_plan forged = *plan;
  forged.tile = &tile;
  tile.input[0] = plan->step_count - 1;
  const tj_launch_plan *again = read_back(job, written(job, &forged));
  ck_assert_ptr_nonnull(again);
  tj_launch_plan_evaluate(again, (int64_t[]){8, 9, 0, 0}, (bool[]){true, true, false, false}, values);
  ck_assert_int_eq(values[plan->buffer[0].element_count].status, TJ_EVAL_UNBOUND);
  ck_assert_int_eq(values[plan->variant[0].count].status, TJ_EVAL_OK);
}

/* Whether a plan of so many kernels is read that are launched one behind the other, and of another one. */
static bool reads_behind(tj_job *job, const tj_launch_plan *plan, uint32_t kernels) {
  tj_launch_variant *variant = TJ_NEW_ARRAY(job, tj_launch_variant, kernels + 1);
  for (uint32_t i = 0; i <= kernels; i++) {
    variant[i] = plan->variant[0];
    variant[i].follows = i + 1 < kernels;
  }
  tj_launch_plan behind = *plan;
  behind.variant = variant;
  behind.variant_count = kernels + 1;
  return read_back(job, written(job, &behind)) != NULL;
}

static void refuse_long_launches(tj_job *job, void *data) {
  (void)data;
  hand_kernel *made;
  const tj_launch_plan *plan = make_plan(tj_graph_create(job), &made);
  for (uint32_t kernels = 1; kernels <= TJ_LAUNCH_MOST_KERNELS; kernels++)
    ck_assert_msg(reads_behind(job, plan, kernels), "%u kernels are not read", kernels);
  ck_assert(!reads_behind(job, plan, TJ_LAUNCH_MOST_KERNELS + 1));
  ck_assert(!reads_behind(job, plan, 100000));
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

/* --- images --- */

/* Bytes may be as long as they were and belong to no plan: of one too short, or cut anywhere. */
static void make_images(tj_job *job, void *data) {
  (void)data;
  hand_kernel *made;
  tj_bytes bytes = written(job, make_plan(tj_graph_create(job), &made));
  tj_machine machine = {.allocator = job->allocator, .references = 1};
  for (size_t size = 0; size <= bytes.size; size++) {
    tj_image *image = tj_image_create(&job->allocator, (tj_bytes){bytes.data, size}, &machine);
    ck_assert_msg((image != NULL) == (size == bytes.size), "%zu of %zu bytes", size, bytes.size);
    tj_image_release(image);
    ck_assert_uint_eq(atomic_load(&machine.references), 1);
  }
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
BODY_TEST(forged_plans_are_refused, refuse_forged)
BODY_TEST(tiles_are_chosen_by_what_comes_before, choose_by_nothing_later)
BODY_TEST(launches_have_few_kernels, refuse_long_launches)
BODY_TEST(integers_and_strings, read_integers)
BODY_TEST(images_need_a_plan, make_images)

int main(void) {
  const TTest *tests[] = {plans_say_what_kernels_say, expressions_fail_by_themselves,
                          damaged_bytes_are_harmless, forged_plans_are_refused,
                          launches_have_few_kernels,  integers_and_strings,
                          images_need_a_plan,         tiles_are_chosen_by_what_comes_before};
  return run_suite(suite_of("launch_plan", tests, sizeof tests / sizeof *tests));
}
