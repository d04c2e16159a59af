/* SPDX-License-Identifier: MIT */
/* Moves and chains: CK Tile's own moves, cursors against the oracle on random views, what follows a place against
 * cursors, chains against the composition of what they chain. */
#include "ir/index/eval.h"
#include "ir/view/advance.h"
#include "ir/view/move.h"
#include "tests/unit/support/random_views.h"
#include "tests/unit/support/vector_support.h"

/* --- CK's moves --- */

static void nodes_of_json(reader *self, const json_t *array, const tj_node *nodes[]) {
  for (size_t i = 0; i < json_array_size(array); i++)
    nodes[i] = tj_int(self->graph, json_integer_value(json_array_get(array, i)));
}

static void check_place(reader *self, const json_t *row, const tj_cursor *cursor, const json_t *offset,
                        const json_t *valid) {
  const tj_node *actual = tj_cursor_offset(self->graph, cursor);
  if (!json_is_null(offset))
    ck_assert_msg(tj_is_int(actual, json_integer_value(offset)), "%s: offset %lld, not %lld", name_of(row),
                  (long long)actual->value, (long long)json_integer_value(offset));
  ck_assert_msg(tj_is_int(tj_cursor_valid(self->graph, cursor), json_integer_value(valid)), "%s: valid",
                name_of(row));
}

static void check_move(reader *self, const void *data) {
  const json_t *row = data;
  const tj_view *view = view_of_json(self, row);
  const tj_node *start[TJ_MAX_DIMENSIONS], *step[TJ_MAX_DIMENSIONS];
  nodes_of_json(self, json_object_get(row, "start"), start);
  nodes_of_json(self, json_object_get(row, "step"), step);
  tj_cursor cursor = tj_cursor_at(self->graph, view, start);
  check_place(self, row, &cursor, json_object_get(row, "start_offset"), json_object_get(row, "start_valid"));
  const json_t *offsets = json_object_get(row, "offsets"), *valid = json_object_get(row, "valid");
  ck_assert_int_eq(json_integer_value(json_object_get(row, "count")), (json_int_t)json_array_size(offsets));
  for (size_t i = 0; i < json_array_size(offsets); i++) {
    tj_cursor_move(self->graph, &cursor, step);
    check_place(self, row, &cursor, json_array_get(offsets, i), json_array_get(valid, i));
  }
}

START_TEST(moves_of_ck) {
  ck_assert_uint_eq(check_rows("move", check_move), 39);
}
END_TEST

/* --- random moves --- */

enum { WALKS = 20000, STEPS = 8 };

static void check_walk(reader *self, const void *data) {
  view_source random = {self->graph, *(const uint64_t *)data};
  const tj_view *view = random_view(&random);
  const tj_node *start[TJ_MAX_DIMENSIONS], *step[TJ_MAX_DIMENSIONS];
  int64_t coordinate[TJ_MAX_DIMENSIONS];
  for (uint32_t i = 0; i < view->rank; i++) {
    coordinate[i] = random_between(&random, -3, 9);
    start[i] = tj_int(self->graph, coordinate[i]);
    step[i] = tj_int(self->graph, random_between(&random, -2, 2));
  }
  tj_cursor cursor = tj_cursor_at(self->graph, view, start);
  for (int n = 0; n < STEPS; n++) {
    tj_cursor_move(self->graph, &cursor, step);
    for (uint32_t i = 0; i < view->rank; i++)
      coordinate[i] += step[i]->value;
    bool valid;
    int64_t offset = tj_oracle_view(self->graph, view, coordinate, &valid);
    ck_assert_msg(tj_is_int(tj_cursor_offset(self->graph, &cursor), offset), "offset of walk %llu",
                  (unsigned long long)*(const uint64_t *)data);
    ck_assert_msg(tj_is_int(tj_cursor_valid(self->graph, &cursor), valid), "validity of walk %llu",
                  (unsigned long long)*(const uint64_t *)data);
  }
}

/* A xor of a negative index has no meaning on index expressions (TJ2018): such a walk is left out. */
static void run_walk(void (*check)(reader *, const void *), uint64_t seed, unsigned *refused) {
  tj_job job;
  tj_job_init(&job, NULL);
  row_call call = {check, &seed};
  if (tj_job_run(&job, run_row_body, &call) != TJ_OK) {
    ck_assert_msg(job.problem.code == TJ_NEGATIVE_BITS, "walk %llu: %s", (unsigned long long)seed,
                  job.problem.message);
    ++*refused;
  }
  tj_job_destroy(&job);
}

START_TEST(cursors_agree_with_the_oracle) {
  unsigned refused = 0;
  for (uint64_t seed = 1; seed <= WALKS; seed++)
    run_walk(check_walk, seed * UINT64_C(0x9e3779b97f4a7c15), &refused);
  ck_assert_uint_lt(refused, WALKS / 4);
}
END_TEST

/* --- what follows a place --- */

enum { BOX = 12 };

/* Symbols that stand for hidden indices, with the values of those at a cursor. */
static void bind_indices(const tj_node *const now[], const tj_cursor *at, int64_t value[], bool bound[]) {
  for (uint32_t id = 0; id < at->view->hidden_count; id++) {
    if (now[id]->op == TJ_OP_SYMBOL) {
      value[now[id]->symbol->index] = at->index[id]->value;
      bound[now[id]->symbol->index] = true;
    }
  }
}

/* Every index that depends on nothing but those. */
static unsigned compare_indices(const tj_cursor *at, const tj_node *const index[], const tj_bindings *bindings) {
  unsigned compared = 0;
  for (uint32_t id = 0; id < at->view->hidden_count; id++) {
    int64_t value;
    if (tj_eval_nodes(&index[id], 1, bindings, &value) != TJ_EVAL_OK)
      continue;
    ck_assert_int_eq(value, at->index[id]->value);
    compared++;
  }
  return compared;
}

static void check_advance(reader *self, const void *data) {
  view_source random = {self->graph, *(const uint64_t *)data};
  const tj_view *view = random_view(&random);
  const tj_node *at[TJ_MAX_DIMENSIONS], *after[TJ_MAX_DIMENSIONS], *box[TJ_MAX_DIMENSIONS], *step[TJ_MAX_DIMENSIONS];
  int64_t places = random_between(&random, 1, STEPS), place = random_between(&random, 0, places - 1);
  for (uint32_t i = 0; i < view->rank; i++) {
    int64_t by = random_between(&random, -4, 9), from = random_between(&random, 0, BOX - 1) + place * by;
    box[i] = tj_int(self->graph, BOX);
    step[i] = tj_int(self->graph, by);
    at[i] = tj_int(self->graph, from);
    after[i] = tj_int(self->graph, from + by);
  }
  const tj_node *counter = tj_coordinate(self->graph, "steps", tj_int(self->graph, places));
  const tj_node *const *reach = tj_view_reach(self->graph, view, box, step, counter);
  tj_advance of = tj_view_advance(self->graph, view, reach, step);
  tj_cursor here = tj_cursor_at(self->graph, view, at), there = tj_cursor_at(self->graph, view, after);
  int64_t *value = TJ_NEW_ARRAY(self->graph->job, int64_t, self->graph->symbol_count + 1);
  bool *bound = TJ_NEW_ARRAY(self->graph->job, bool, self->graph->symbol_count + 1);
  bind_indices(of.now, &here, value, bound);
  const tj_bindings bindings = {value, bound, self->graph->symbol_count};
  ck_assert_uint_gt(compare_indices(&here, of.now, &bindings), 0);
  ck_assert_uint_gt(compare_indices(&there, of.next, &bindings), 0);
}

START_TEST(what_follows_a_place_is_the_next_one) {
  unsigned refused = 0;
  for (uint64_t seed = 1; seed <= WALKS; seed++)
    run_walk(check_advance, seed * UINT64_C(0x9e3779b97f4a7c15), &refused);
  ck_assert_uint_lt(refused, WALKS / 4);
}
END_TEST

/* --- chains --- */

static void check_chain_of_view(reader *self, const void *data) {
  view_source random = {self->graph, *(const uint64_t *)data};
  const tj_view *upper = random_view(&random);
  int64_t needed = upper->space_size->value + upper->offset->value;
  int64_t length = needed + random_between(&random, 0, 2), stride = random_between(&random, 1, 4);
  const tj_view *lower = tj_view_strided(self->graph, constants_tuple(self->graph, &length, 1),
                                         constants_tuple(self->graph, &stride, 1), tj_int(self->graph, 7), -1, -1);
  const tj_view *chained =
      tj_view_chain(self->graph, lower, tj_adaptor_of_view(self->graph, upper, tj_int(self->graph, length)));
  ck_assert_uint_eq(chained->rank, upper->rank);
  int64_t lengths[TJ_MAX_DIMENSIONS], coordinate[TJ_MAX_DIMENSIONS];
  for (uint32_t i = 0; i < upper->rank; i++)
    lengths[i] = upper->hidden_length[upper->visible[i]]->value;
  for (int64_t n = 0; n < view_size(upper) && n < 64; n++) {
    bool valid, chained_valid;
    coordinate_of((uint64_t)n, lengths, upper->rank, coordinate);
    int64_t offset = tj_oracle_view(self->graph, upper, coordinate, &valid);
    ck_assert_int_eq(tj_oracle_view(self->graph, chained, coordinate, &chained_valid), 7 + stride * offset);
    ck_assert_int_eq(chained_valid, valid);
  }
}

START_TEST(chains_of_views_compose) {
  for (uint64_t seed = 1; seed <= 500; seed++) {
    uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15);
    run_row(check_chain_of_view, &state, (tj_problem_code)0);
  }
}
END_TEST

/* An adaptor of a view's stages, on index expressions, by the oracle, and the view itself. */
static void check_adaptor_of_view(reader *self, const void *data) {
  view_source random = {self->graph, *(const uint64_t *)data};
  const tj_view *view = random_view(&random);
  const tj_adaptor *adaptor = tj_adaptor_of_view(self->graph, view, NULL);
  int64_t lengths[TJ_MAX_DIMENSIONS], coordinate[TJ_MAX_DIMENSIONS], lower;
  for (uint32_t i = 0; i < view->rank; i++)
    lengths[i] = view->hidden_length[view->visible[i]]->value;
  for (int64_t n = 0; n < view_size(view) && n < 64; n++) {
    bool valid, adaptor_valid;
    const tj_node *upper[TJ_MAX_DIMENSIONS], *bottom, *truth;
    coordinate_of((uint64_t)n, lengths, view->rank, coordinate);
    for (uint32_t i = 0; i < view->rank; i++)
      upper[i] = tj_int(self->graph, coordinate[i]);
    int64_t offset = tj_oracle_view(self->graph, view, coordinate, &valid);
    tj_oracle_adaptor(self->graph, adaptor, coordinate, &lower, &adaptor_valid);
    ck_assert_int_eq(lower, offset);
    ck_assert_int_eq(adaptor_valid, valid);
    tj_adaptor_lower(self->graph, adaptor, upper, &bottom, &truth);
    ck_assert(tj_is_int(bottom, offset) && tj_is_int(truth, valid));
  }
}

START_TEST(adaptors_of_views_are_the_views) {
  for (uint64_t seed = 1; seed <= 500; seed++) {
    uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15);
    run_row(check_adaptor_of_view, &state, (tj_problem_code)0);
  }
}
END_TEST

int main(void) {
  const TTest *const tests[] = {moves_of_ck, cursors_agree_with_the_oracle, what_follows_a_place_is_the_next_one,
                                chains_of_views_compose, adaptors_of_views_are_the_views};
  return run_suite(suite_of("move", tests, sizeof tests / sizeof *tests));
}
