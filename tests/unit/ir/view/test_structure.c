/* SPDX-License-Identifier: MIT */
/* Structural simplification: random chains of transforms against the oracle, before and after, by stages and by index
 * expressions, negative hidden indices and validity included; each rule on the smallest view that it is for. */
#include "ir/index/eval.h"
#include "ir/view/structure.h"
#include "tests/unit/support/random_views.h"

/* --- random chains --- */

enum { CHAINS = 100000, COORDINATES = 12 };

static void lengths_of(const tj_view *view, int64_t lengths[]) {
  for (uint32_t i = 0; i < view->rank; i++)
    lengths[i] = view->hidden_length[view->visible[i]]->value;
}

static void random_place(view_source *random, const int64_t lengths[], uint32_t rank, int64_t coordinate[]) {
  for (uint32_t i = 0; i < rank; i++)
    coordinate[i] = random_between(random, 0, lengths[i] - 1);
}

typedef struct {
  uint64_t seed;
  uint32_t before, after; /* stages, summed over all chains */
} chains;

static const char *describe_both(tj_graph *graph, const tj_view *view, const tj_view *structured) {
  tj_text text = tj_text_begin(graph->job);
  tj_view_print(&text, view);
  tj_text_string(&text, "\nas\n");
  tj_structure_print(&text, structured);
  return text.data;
}

/* Index expressions of the structured view at a coordinate. */
static void evaluate(const tj_map *map, uint32_t first_symbol, const int64_t coordinate[], uint32_t rank,
                     int64_t *offset, bool *valid) {
  int64_t symbols[256] = {0}, values[2] = {0, 1};
  memcpy(symbols + first_symbol, coordinate, rank * sizeof *symbols);
  tj_bindings bindings = {symbols, NULL, first_symbol + rank};
  const tj_node *roots[] = {map->output->value, map->valid};
  ck_assert_int_eq(tj_eval_nodes(roots, map->valid == NULL ? 1 : 2, &bindings, values), TJ_EVAL_OK);
  *offset = values[0];
  *valid = values[1] != 0;
}

static void check_chain(reader *self, const void *data) {
  chains *all = (chains *)(uintptr_t)data;
  view_source random = {self->graph, all->seed * UINT64_C(0x9e3779b97f4a7c15)};
  const tj_view *view = random_view(&random);
  const tj_view *structured = tj_view_structured(self->graph, view, NULL);
  uint32_t first_symbol = self->graph->symbol_count;
  tj_map map = tj_map_of_view(self->graph, structured);
  all->before += view->stage_count;
  all->after += structured->stage_count;
  int64_t lengths[TJ_MAX_DIMENSIONS], coordinate[TJ_MAX_DIMENSIONS];
  lengths_of(view, lengths);
  for (int n = 0; n < COORDINATES; n++) {
    bool valid, actual_valid;
    random_place(&random, lengths, view->rank, coordinate);
    int64_t expected = tj_oracle_view(self->graph, view, coordinate, &valid);
    int64_t actual = tj_oracle_view(self->graph, structured, coordinate, &actual_valid);
    ck_assert_msg(actual == expected && actual_valid == valid, "chain %llu: %lld, not %lld\n%s",
                  (unsigned long long)all->seed, (long long)actual, (long long)expected,
                  describe_both(self->graph, view, structured));
    evaluate(&map, first_symbol, coordinate, view->rank, &actual, &actual_valid);
    ck_assert_msg(actual == expected && actual_valid == valid, "index expressions of chain %llu",
                  (unsigned long long)all->seed);
  }
}

/* A xor of what may be negative has no index expression (TJ2018): such a chain is left out. */
static void run_chain(chains *all, unsigned *refused) {
  tj_job job;
  tj_job_init(&job, NULL);
  row_call call = {check_chain, all};
  if (tj_job_run(&job, run_row_body, &call) != TJ_OK) {
    ck_assert_msg(job.problem.code == TJ_NEGATIVE_BITS, "chain %llu: %s", (unsigned long long)all->seed,
                  job.problem.message);
    ++*refused;
  }
  tj_job_destroy(&job);
}

START_TEST(chains_keep_their_meaning) {
  chains all = {0};
  unsigned refused = 0;
  for (all.seed = 1; all.seed <= CHAINS + refused; all.seed++)
    run_chain(&all, &refused);
  ck_assert_uint_lt(refused, CHAINS / 4);
  ck_assert_uint_lt(all.after, all.before / 5 * 4);
}
END_TEST

/* --- each rule --- */

typedef struct {
  const char *rule;
  tj_base_kind base;
  const char *lengths, *strides; /* strides of a strided base */
  const char *stages;            /* see read_stages */
  const char *expected;
} rule_row;

/* "merge (4,6) 0,1>0; unmerge (8,3) 0>0,1 | xor (4,8) 0,1>0,1": stages divided by |, transforms by ;. */
static const char *read_numbers(const char *text, uint32_t numbers[], uint32_t *count) {
  for (*count = 0; isdigit((unsigned char)*text); text += *text == ',') {
    char *end;
    numbers[(*count)++] = (uint32_t)strtoul(text, &end, 10);
    text = end;
  }
  return text;
}

static tj_transform_kind kind_of_name(const char *name, size_t length) {
  for (int kind = 0; kind < TJ_TRANSFORM_COUNT; kind++) {
    const char *candidate = tj_transform_name((tj_transform_kind)kind);
    if (strlen(candidate) == length && strncmp(candidate, name, length) == 0)
      return (tj_transform_kind)kind;
  }
  ck_abort_msg("unknown transform %s", name);
}

static const char *read_step(reader *self, const char *text, tj_view_step *step) {
  const tj_tuple *args[4];
  uint32_t count = 0, *lower = TJ_NEW_ARRAY(self->graph->job, uint32_t, 8);
  uint32_t *upper = TJ_NEW_ARRAY(self->graph->job, uint32_t, 8);
  size_t name = strcspn(text, " ");
  tj_transform_kind kind = kind_of_name(text, name);
  for (text += name + 1; *text == '(' || (isdigit((unsigned char)*text) && strcspn(text, " ") < strcspn(text, ">"));
       text += *text == ' ')
    args[count++] = read_part(self, &text);
  text = read_numbers(text, lower, &step->lower_count);
  ck_assert_msg(*text == '>', "cannot read %s", text);
  text = read_numbers(text + 1, upper, &step->upper_count);
  step->lower = lower;
  step->upper = upper;
  step->transform = tj_transform_make(self->graph, kind, args, count);
  return text;
}

static const tj_view *read_stages(reader *self, const tj_view *view, const char *text) {
  tj_view_step step[8];
  uint32_t count = 0;
  while (*text != '\0') {
    text = read_step(self, text, &step[count++]);
    text += strspn(text, " ");
    bool stage_ends = *text != ';';
    text += strspn(text, " |;");
    if (stage_ends) {
      view = tj_view_transform(self->graph, view, step, count);
      count = 0;
    }
  }
  return view;
}

static void check_rule(reader *self, const void *data) {
  const rule_row *row = data;
  const tj_tuple *lengths = read_tuple(self, row->lengths);
  const tj_view *base = row->base == TJ_BASE_PACKED
                            ? tj_view_packed(self->graph, lengths, NULL, -1, -1)
                            : tj_view_strided(self->graph, lengths, read_tuple(self, row->strides), NULL, -1, -1);
  tj_structure_trace trace;
  const tj_view *structured = tj_view_structured(self->graph, read_stages(self, base, row->stages), &trace);
  tj_text text = tj_text_begin(self->graph->job);
  tj_structure_print(&text, structured);
  expect_text(text.data, row->expected, row->rule);
  bool fired = false;
  for (uint32_t i = 0; i < trace.count; i++)
    fired = fired || strcmp(trace.event[i].rule, row->rule) == 0;
  ck_assert_msg(fired, "%s did not fire", row->rule);
}

START_TEST(rules) {
  static const rule_row rows[] = {
      {"sum_into_sum", TJ_BASE_STRIDED, "(10)", "(3)", "unmerge (2,5) 0>0,1 | pass_through 2 0>0; slice 5 1 4 1>1",
       "offset 3\nh0 = embed((2,3),(15,3)) of h1, h2\nvisible h1, h2\n"},
      {"sum_into_sum", TJ_BASE_PACKED, "(12)", NULL, "embed (3,4) (4,1) 0>0,1 | embed (2,2) (2,1) 0>0,1; freeze 2 1>",
       "offset 2\nh0 = embed((2,2),(8,4)) of h1, h2\nvisible h1, h2\n"},
      {"pass_through", TJ_BASE_PACKED, "(4,8)", NULL, "xor (4,8) 0,1>0,1 | pass_through 8 1>0; pass_through 4 0>1",
       "h0 = embed((4,8),(8,1)) of h1, h2\nh1, h2 = xor(4,8) of h3, h4\nvisible h4, h3\n"},
      {"term_of_nothing", TJ_BASE_PACKED, "(1,6)", NULL, "pass_through 6 1>0; pass_through 1 0>1",
       "h0 = embed((6),(1)) of h1\nreplicate(1) of h2\nvisible h1, h2\n"},
      {"contiguous_digits", TJ_BASE_STRIDED, "(4,6,5)", "(60,10,1)", "merge (4,6,5) 0,1,2>0",
       "h0 = embed((24,5),(10,1)) of h1, h2\nh1, h2 = merge(24,5) of h3\nvisible h3\n"},
      {"merge_of_one", TJ_BASE_PACKED, "(4,6)", NULL, "merge (4,6) 0,1>0",
       "h0 = embed((24),(1)) of h1\nvisible h1\n"},
      {"merge_into_merge", TJ_BASE_STRIDED, "(2,3,5)", "(100,7,1)",
       "merge (3,5) 1,2>1; pass_through 2 0>0 | merge (2,15) 0,1>0",
       "h0 = embed((2,3,5),(100,7,1)) of h1, h2, h3\nh1, h2, h3 = merge(2,3,5) of h4\nvisible h4\n"},
      {"digit_of_nothing", TJ_BASE_STRIDED, "(4,1,6)", "(50,9,1)", "merge (4,1,6) 0,1,2>0",
       "h0 = embed((4,6),(50,1)) of h1, h2\nh1, h2 = merge(4,6) of h3\nvisible h3\n"},
      {"merge_of_sum", TJ_BASE_STRIDED, "(4,6)", "(7,1)", "merge (4,6) 0,1>0 | unmerge (4,6) 0>0,1",
       "h0 = embed((4,6),(7,1)) of h1, h2\nvisible h1, h2\n"},
      {"merge_of_sum", TJ_BASE_STRIDED, "(4,6)", "(7,1)", "merge (4,6) 0,1>0 | unmerge (4,2,3) 0>0,1,2",
       "h0 = embed((4,2,3),(7,3,1)) of h1, h2, h3\nvisible h1, h2, h3\n"},
      {"merge_of_sum", TJ_BASE_STRIDED, "(4,6)", "(7,1)", "merge (4,6) 0,1>0 | unmerge (2,12) 0>0,1",
       "h0 = embed((2,2,6),(14,7,1)) of h1, h2, h3\nh2, h3 = merge(2,6) of h4\nvisible h1, h4\n"},
      {"pad_into_pad", TJ_BASE_PACKED, "(4)", NULL, "pad 4 1 2 0>0 | pad 7 3 1 0>0",
       "h0 = embed((4),(1)) of h1\nh1 = pad(4,4,3) of h2\nvisible h2\n"},
      {"offset_into_pad", TJ_BASE_PACKED, "(4)", NULL, "pad 4 3 1 0>0 | slice 8 2 8 0>0",
       "h0 = embed((4),(1)) of h1\nh1 = pad(4,1,0) of h2\nvisible h2\n"},
      {"pad_always_valid", TJ_BASE_PACKED, "(4)", NULL, "pad 4 2 1 0>0 | slice 7 2 5 0>0",
       "h0 = embed((3),(1)) of h1\nvisible h1\n"},
      {"modulo_of_small", TJ_BASE_PACKED, "(8)", NULL, "modulo 8 6 0>0", "h0 = embed((6),(1)) of h1\nvisible h1\n"},
      {"modulo_of_multiples", TJ_BASE_PACKED, "(4)", NULL, "modulo 4 24 0>0 | unmerge (3,8) 0>0,1",
       "h0 = embed((4),(1)) of h1\nh1 = modulo(4,24) of h2\nreplicate(3) of h3\nvisible h3, h2\n"},
      {"modulo_of_modulo", TJ_BASE_PACKED, "(4)", NULL, "modulo 4 8 0>0 | modulo 8 20 0>0",
       "h0 = embed((4),(1)) of h1\nh1 = modulo(4,8) of h2\nvisible h2\n"},
      {"xor_of_xor", TJ_BASE_PACKED, "(4,8)", NULL, "xor (4,8) 0,1>0,1 | xor (4,8) 0,1>0,1",
       "h0 = embed((4,8),(8,1)) of h1, h2\nvisible h1, h2\n"},
      {"xor_of_nothing", TJ_BASE_PACKED, "(4,1)", NULL, "xor (4,1) 0,1>0,1",
       "h0 = embed((4),(1)) of h1\nreplicate(1) of h2\nvisible h1, h2\n"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    run_row(check_rule, &rows[i], (tj_problem_code)0);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {rules, chains_keep_their_meaning};
  return run_suite(suite_of("structure", tests, sizeof tests / sizeof *tests));
}
