/* SPDX-License-Identifier: MIT */
/* Copies on the host that are too large for caches: tensors of three modes of odd extents, turned around or not,
 * static and dynamic, elements of 8 to 128 bits, in destinations with and without gaps, in memory that begins at
 * lines or elsewhere. Every byte is held against loops over the coordinates, those of the gaps and of the zones
 * around the buffer included. */
#include "tests/unit/support/suite.h"
#include "tilejit/tilejit.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MODES = 3, GUARD = 256, TEXT = 1024, POISON = 0x5a, LINE = 64 };

/* Mode `order[i]` of the source is the destination's i-th, whose rows are `gap` elements apart. */
typedef struct {
  const char *guards; /* what it is for */
  const char *type;
  size_t bytes;
  int64_t extent[MODES];
  int order[MODES];
  int64_t gap;
} row;

static const row rows[] = {
    {"bytes, rows of any alignment", "b8", 1, {2003, 3001, 1}, {1, 0, 2}, 0},
    {"bytes, gaps", "b8", 1, {601, 75, 131}, {2, 1, 0}, 3},
    {"bytes, vectors shorter than the block", "b8", 1, {28, 48, 4001}, {1, 0, 2}, 0},
    {"bytes, blocks that take too much arithmetic", "b8", 1, {28, 48, 4001}, {1, 2, 0}, 0},
    {"bytes, few columns", "b8", 1, {5, 401, 2803}, {2, 1, 0}, 0},
    {"bytes, short rows that stay", "b8", 1, {83, 61, 1201}, {0, 2, 1}, 0},
    {"bytes, short rows that stay, gaps", "b8", 1, {83, 61, 1201}, {0, 2, 1}, 1},
    {"16 bits, rows of any alignment", "b16", 2, {1217, 2411, 1}, {1, 0, 2}, 0},
    {"16 bits, runs over two modes", "b16", 2, {352, 28, 311}, {2, 1, 0}, 0},
    {"16 bits, whole vectors", "b16", 2, {96, 64, 512}, {1, 0, 2}, 0},
    {"16 bits, rows that stay, gaps", "b16", 2, {80, 96, 401}, {0, 2, 1}, 5},
    {"32 bits, rows of any alignment", "b32", 4, {1217, 1301, 1}, {1, 0, 2}, 0},
    {"32 bits, whole vectors", "b32", 4, {384, 96, 48}, {1, 0, 2}, 0},
    {"32 bits, two lines of a column at a time", "b32", 4, {96, 32, 347}, {1, 0, 2}, 0},
    {"32 bits, three lines of a column at a time, some twice", "b32", 4, {96, 464, 31}, {1, 0, 2}, 0},
    {"32 bits, four lines of a column, neighbours in two modes", "b32", 4, {48, 28, 800}, {2, 1, 0}, 0},
    {"32 bits, columns of one line", "b32", 4, {96, 16, 689}, {1, 0, 2}, 0},
    {"32 bits, gaps", "b32", 4, {75, 131, 161}, {1, 0, 2}, 7},
    {"64 bits", "b64", 8, {701, 803, 1}, {1, 0, 2}, 0},
    {"64 bits, whole vectors", "b64", 8, {75, 296, 27}, {1, 0, 2}, 0},
    {"64 bits, gaps", "b64", 8, {75, 31, 261}, {2, 1, 0}, 1},
    {"128 bits", "b128", 16, {503, 701, 1}, {1, 0, 2}, 0},
    {"128 bits, whole vectors", "b128", 16, {33, 300, 31}, {1, 0, 2}, 0},
    {"128 bits, rows that stay, gaps", "b128", 16, {33, 101, 103}, {0, 2, 1}, 1},
    {"32 bits, rows that are one", "b32", 4, {1201, 1009, 1}, {0, 1, 2}, 0},
};

/* How a row is compiled, and how far from a line its memory begins: in bytes, and elements. */
typedef struct {
  bool is_dynamic;
  size_t bytes, elements;
} form;

static const form forms[] = {{false, 0, 0},  {false, 0, 1}, {false, 16, 0},
                             {false, 32, 0}, {true, 0, 0},  {true, 0, 1}};

/* --- tensors --- */

typedef struct {
  int64_t source[MODES], destination[MODES];
  int64_t loaded, stored; /* elements of the buffers */
} strides;

static strides strides_of(const row *r) {
  strides s;
  int64_t from = 1, to = 1;
  for (int m = 0; m < MODES; m++) {
    s.source[m] = from;
    from *= r->extent[m];
    s.destination[r->order[m]] = to;
    to = to * r->extent[r->order[m]] + (m == 0 ? r->gap : 0);
  }
  s.loaded = from;
  s.stored = to - r->gap;
  return s;
}

/* The strides as the program writes them: of the modes A, B and C in the order of a side. */
static void write_strides(const int order[], int64_t gap, char text[TEXT]) {
  char stride[MODES][TEXT / 8] = {"1", "1", "1"}, next[TEXT / 8] = "1";
  for (int i = 0; i < MODES; i++) {
    snprintf(stride[order[i]], sizeof stride[0], "%s", next);
    char name = (char)('A' + order[i]);
    if (i == 0 && gap > 0)
      snprintf(next, sizeof next, "%c+%lld", name, (long long)gap);
    else if (i == 0)
      snprintf(next, sizeof next, "%c", name);
    else
      snprintf(next, sizeof next, "(%c+%lld)*%c", (char)('A' + order[0]), (long long)gap, name);
  }
  snprintf(text, TEXT, "(%s,%s,%s)", stride[0], stride[1], stride[2]);
}

static void write_program(const row *r, char text[4 * TEXT]) {
  static const int in_order[MODES] = {0, 1, 2};
  char from[TEXT], to[TEXT];
  write_strides(in_order, 0, from);
  write_strides(r->order, r->gap, to);
  snprintf(text, 4 * TEXT,
           "param A in 1..4096, B in 1..4096, C in 1..4096\n"
           "kernel k(s: %s @ (A,B,C):%s, d: %s @ (A,B,C):%s) = copy(s, d)",
           r->type, from, r->type, to);
}

/* --- runs --- */

typedef struct {
  tj_context *context;
  tj_device *device;
  const row *row;
  const char *text;
} session;

static void expect(const session *s, tj_status status) {
  if (status != TJ_OK)
    ck_abort_msg("%s: %s\n%s", s->row->guards, tj_context_diagnostic(s->context)->message, s->text);
}

static tj_code *compile(const session *s, bool is_dynamic) {
  tj_parameter_value fixed[] = {{"A", s->row->extent[0]}, {"B", s->row->extent[1]}, {"C", s->row->extent[2]}};
  tj_program *program;
  tj_code *code;
  expect(s,
         tj_program_create(s->context, "streams", s->text, strlen(s->text), fixed, is_dynamic ? 0 : MODES, &program));
  expect(s, tj_code_compile(program, &(tj_compile_options){"k", "host"}, &code));
  tj_program_destroy(program);
  return code;
}

static void copy_by_loops(const row *r, const strides *s, const unsigned char *from, unsigned char *to) {
  for (int64_t c = 0; c < r->extent[2]; c++) {
    for (int64_t b = 0; b < r->extent[1]; b++) {
      for (int64_t a = 0; a < r->extent[0]; a++) {
        int64_t source = a * s->source[0] + b * s->source[1] + c * s->source[2];
        int64_t destination = a * s->destination[0] + b * s->destination[1] + c * s->destination[2];
        memcpy(to + (size_t)destination * r->bytes, from + (size_t)source * r->bytes, r->bytes);
      }
    }
  }
}

/* Memory that begins so far from a line, with zones around it. */
typedef struct {
  unsigned char *block, *data;
  size_t bytes;
} zone;

static zone allocate(size_t bytes, size_t from_line) {
  size_t all = bytes + from_line + 2 * GUARD;
  unsigned char *block = aligned_alloc(LINE, (all + LINE - 1) / LINE * LINE);
  memset(block, POISON, all);
  return (zone){block, block + GUARD + from_line, bytes};
}

static void launch(const session *s, tj_code *code, bool is_dynamic, const zone *from, const zone *to) {
  static const char *const names[] = {"A", "B", "C"};
  tj_launch *run;
  expect(s, tj_launch_create(s->context, code, &run));
  for (int m = 0; m < MODES && is_dynamic; m++)
    expect(s, tj_launch_set_parameter(run, names[m], s->row->extent[m]));
  expect(s, tj_launch_bind_pointer(run, "s", from->data, from->bytes));
  expect(s, tj_launch_bind_pointer(run, "d", to->data, to->bytes));
  expect(s, tj_launch_run(run, s->device));
  tj_launch_destroy(run);
}

static void check_form(const session *s, tj_code *code, const form *f) {
  const row *r = s->row;
  strides made = strides_of(r);
  size_t from_line = f->bytes + f->elements * r->bytes;
  zone from = allocate((size_t)made.loaded * r->bytes, from_line);
  zone to = allocate((size_t)made.stored * r->bytes, from_line);
  zone expected = allocate(to.bytes, from_line);
  uint64_t state = 1;
  for (size_t i = 0; i < from.bytes; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    from.data[i] = (unsigned char)(state >> 56);
  }
  copy_by_loops(r, &made, from.data, expected.data);
  launch(s, code, f->is_dynamic, &from, &to);
  size_t i = 0, all = to.bytes + from_line + 2 * GUARD;
  while (i < all && to.block[i] == expected.block[i])
    i++;
  ck_assert_msg(i == all, "%s, %s, %zu bytes from a line: byte %zu of %zu is wrong\n%s", r->guards,
                f->is_dynamic ? "dynamic" : "static", from_line, i - GUARD - from_line, to.bytes, s->text);
  free(from.block);
  free(to.block);
  free(expected.block);
}

START_TEST(large_copies_agree_with_loops) {
  char text[4 * TEXT];
  session s = {.row = &rows[_i], .text = text};
  write_program(s.row, text);
  ck_assert_int_eq(tj_context_create(NULL, &s.context), TJ_OK);
  expect(&s, tj_device_open(s.context, "host", &s.device));
  tj_code *code[] = {compile(&s, false), compile(&s, true)};
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
    check_form(&s, code[forms[i].is_dynamic], &forms[i]);
  tj_code_destroy(code[false]);
  tj_code_destroy(code[true]);
  tj_device_close(s.device);
  tj_context_destroy(s.context);
}
END_TEST

int main(void) {
  return run_suite(suite_of_cases("streams", large_copies_agree_with_loops, sizeof rows / sizeof *rows));
}
