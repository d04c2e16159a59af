/* SPDX-License-Identifier: MIT */
/* What the tests of layouts share: reading CuTe text, and a job with a graph for each row of a table.
 *
 * The reader takes integers, names of symbols (declare), basis elements, underscores and tuples, without spaces. It
 * trusts its input: a row that does not read is a failed check. */
#ifndef TJ_TESTS_LAYOUT_SUPPORT_H
#define TJ_TESTS_LAYOUT_SUPPORT_H

#include "ir/index/print.h"
#include "ir/layout/algebra.h"
#include "ir/map/map.h"
#include "tests/unit/support/harness.h"

#include <ctype.h>
#include <string.h>

enum { MAX_DECLARED = 16 };

/* The symbols that texts may name. */
typedef struct {
  tj_graph *graph;
  const char *name[MAX_DECLARED];
  const tj_node *node[MAX_DECLARED];
  uint32_t count;
} reader;

static inline const tj_node *declare(reader *self, const char *name, int64_t low, int64_t high, int64_t multiple) {
  tj_graph *graph = self->graph;
  const tj_node *symbol =
      tj_symbol_create(graph, name, TJ_SYMBOL_PARAMETER, tj_int(graph, low), tj_int(graph, high), multiple);
  self->name[self->count] = name;
  self->node[self->count++] = symbol;
  return symbol;
}

static inline const tj_node *read_atom(reader *self, const char **text) {
  if (isdigit((unsigned char)**text) || **text == '-') {
    char *end;
    long long value = strtoll(*text, &end, 10);
    *text = end;
    return tj_int(self->graph, value);
  }
  for (uint32_t i = 0; i < self->count; i++) {
    size_t length = strlen(self->name[i]);
    if (strncmp(*text, self->name[i], length) == 0 && !isalnum((unsigned char)(*text)[length])) {
      *text += length;
      return self->node[i];
    }
  }
  ck_abort_msg("cannot read %s", *text);
}

static inline const tj_tuple *read_part(reader *self, const char **text) {
  const tj_tuple *items[64];
  uint32_t count = 0;
  if (**text == '_') {
    ++*text;
    return tj_tuple_any(self->graph);
  }
  if (**text != '(') {
    const tj_tuple *leaf = tj_tuple_integer(self->graph, read_atom(self, text));
    while (**text == '@') {
      ++*text;
      leaf = tj_tuple_at(self->graph, leaf, (uint32_t)read_atom(self, text)->value);
    }
    return leaf;
  }
  for (++*text; **text != ')'; *text += **text == ',')
    items[count++] = read_part(self, text);
  ++*text;
  return tj_tuple_list(self->graph, items, count);
}

static inline const tj_tuple *read_tuple(reader *self, const char *text) {
  const tj_tuple *tuple = read_part(self, &text);
  ck_assert_msg(*text == '\0', "cannot read %s", text);
  return tuple;
}

static inline tj_layout read_layout_part(reader *self, const char **text) {
  const tj_tuple *shape = read_part(self, text);
  ck_assert_msg(**text == ':', "cannot read %s", *text);
  ++*text;
  return tj_layout_make(self->graph, shape, read_part(self, text));
}

static inline tj_layout read_layout(reader *self, const char *text) {
  tj_layout layout = read_layout_part(self, &text);
  ck_assert_msg(*text == '\0', "cannot read %s", text);
  return layout;
}

/* "merge(4,5)" as a transform: a name, then arguments as a tuple. */
static inline const tj_transform *read_transform_part(reader *self, const char **rest) {
  const char *text = *rest;
  size_t length = strcspn(text, "(");
  *rest += length;
  const tj_tuple *arguments = read_part(self, rest);
  for (int kind = 0; kind < TJ_TRANSFORM_COUNT; kind++) {
    const char *name = tj_transform_name((tj_transform_kind)kind);
    if (strlen(name) == length && strncmp(name, text, length) == 0)
      return tj_transform_make(self->graph, (tj_transform_kind)kind, arguments->item, arguments->count);
  }
  ck_abort_msg("cannot read %s", text);
}

static inline const tj_transform *read_transform(reader *self, const char *text) {
  const tj_transform *transform = read_transform_part(self, &text);
  ck_assert_msg(*text == '\0', "cannot read %s", text);
  return transform;
}

static inline const tj_node *read_node(reader *self, const char *text) {
  return read_tuple(self, text)->value;
}

/* A reader on a new graph of the job, with the symbols that rows use:
 * M, N in 1..65536; K in 64..4096 multiple 64; i in 0..9; j in 0..23; n in -8..8. */
static inline reader reader_of(tj_job *job) {
  reader self = {.graph = tj_graph_create(job)};
  declare(&self, "M", 1, 65536, 1);
  declare(&self, "N", 1, 65536, 1);
  declare(&self, "K", 64, 4096, 64);
  declare(&self, "i", 0, 9, 1);
  declare(&self, "j", 0, 23, 1);
  declare(&self, "n", -8, 8, 1);
  return self;
}

/* One row's work; the rows of a test may put their own data behind `data`. */
typedef struct {
  void (*body)(reader *self, const void *row);
  const void *row;
} row_call;

static inline void run_row_body(tj_job *job, void *data) {
  row_call *call = data;
  reader self = reader_of(job);
  call->body(&self, call->row);
}

/* Runs one row in a job of its own; `code` 0: it must succeed, else it must fail with that code. */
static inline void run_row(void (*body)(reader *, const void *), const void *row, tj_problem_code code) {
  tj_job job;
  tj_job_init(&job, NULL);
  job.fuel = UINT64_C(1) << 40;
  row_call call = {body, row};
  if (code == 0)
    expect_success(&job, run_row_body, &call);
  else
    expect_failure(&job, code, run_row_body, &call);
  tj_job_destroy(&job);
}

static inline void expect_text(const char *actual, const char *expected, const char *guards) {
  ck_assert_msg(strcmp(actual, expected) == 0, "%s: %s, not %s", guards, actual, expected);
}

/* A row that computes a text, or fails: `expected` is the text, or the code as in "TJ2021". */
typedef struct {
  const char *guards;
  const char *args[4];
  const char *expected;
} text_row;

static inline void run_text_row(void (*body)(reader *, const void *), const text_row *row) {
  const char *expected = row->expected;
  bool fails = strncmp(expected, "TJ", 2) == 0 && isdigit((unsigned char)expected[2]);
  run_row(body, row, fails ? (tj_problem_code)atoi(expected + 2) : (tj_problem_code)0);
}

#define RUN_TEXT_ROWS(rows, body)                                                                                    \
  for (size_t row_number = 0; row_number < sizeof(rows) / sizeof *(rows); row_number++)                              \
  run_text_row(body, &(rows)[row_number])

/* Pseudo-random numbers for property tests: the same in every run. */
static inline uint64_t next_random(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

static inline uint32_t random_below(uint64_t *state, uint32_t bound) {
  return (uint32_t)(next_random(state) >> 33) % bound;
}

#endif
