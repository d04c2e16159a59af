/* SPDX-License-Identifier: MIT */
/* Random copies between strided layouts and views: permuted and nested modes, gaps, modes that run backwards,
 * broadcast sources, elements of 8 to 128 bits; static, and dynamic with sizes that are and are not multiples of
 * vectors. Held against loops over the coordinates; on the host, or on the device that TILEJIT_TEST_DEVICE names. */
#include "tests/unit/support/guarded_array.h"
#include "tests/unit/support/paste_support.h"

#include <stdio.h>

enum { COPIES = 48, MOST_MODES = 6, MOST_ELEMENTS = 6144, RUNS = 3, TEXT = 1024 };

/* A number of a program: its text, and its value for one M and N. */
typedef struct {
  char text[TEXT / 4];
  int64_t value[RUNS];
} number;

typedef struct {
  number stride[MOST_MODES], offset;
} side;

typedef struct {
  const char *name;
  size_t bytes;
} element_type;

typedef struct {
  int64_t size[RUNS][2]; /* M and N */
  uint32_t rank;
  number extent[MOST_MODES];
  side source, destination;
  element_type from, to;
  bool is_view, is_nested;
} random_copy;

/* --- programs --- */

static const int64_t sizes[][2] = {{16, 32}, {64, 8},  {32, 16}, {13, 7}, {33, 1},
                                   {1, 40},  {48, 12}, {17, 31}, {64, 64}};

static const element_type raw_types[] = {{"b8", 1}, {"b16", 2}, {"b32", 4}, {"b64", 8}, {"b128", 16}};
static const element_type integer_types[] = {{"u8", 1}, {"u16", 2}, {"u32", 4}, {"u64", 8}};

static number constant(int64_t value) {
  number n;
  snprintf(n.text, sizeof n.text, "%lld", (long long)value);
  for (int r = 0; r < RUNS; r++)
    n.value[r] = value;
  return n;
}

/* a op b, where op is one of + - *. */
static number combined(const number *a, char op, const number *b) {
  number n;
  int length = snprintf(n.text, sizeof n.text, "(%s)%c(%s)", a->text, op, b->text);
  ck_assert_int_lt(length, (int)sizeof n.text);
  for (int r = 0; r < RUNS; r++)
    n.value[r] = op == '+'   ? a->value[r] + b->value[r]
                 : op == '-' ? a->value[r] - b->value[r]
                             : a->value[r] * b->value[r];
  return n;
}

static number parameter(const random_copy *c, int which) {
  number n;
  snprintf(n.text, sizeof n.text, "%s", which == 0 ? "M" : "N");
  for (int r = 0; r < RUNS; r++)
    n.value[r] = c->size[r][which];
  return n;
}

static int64_t volume(const random_copy *c, int run) {
  int64_t product = 1;
  for (uint32_t i = 0; i < c->rank; i++)
    product *= c->extent[i].value[run];
  return product;
}

static bool is_small(const random_copy *c) {
  for (int r = 0; r < RUNS; r++) {
    if (volume(c, r) > MOST_ELEMENTS)
      return false;
  }
  return true;
}

static void choose_extents(random_source *random, random_copy *c) {
  static const int64_t extents[] = {1, 2, 2, 3, 4, 4, 5, 8, 8, 16, 24};
  c->rank = 1 + random_below(random, MOST_MODES);
  for (uint32_t i = 0; i < c->rank; i++)
    c->extent[i] = constant(extents[random_below(random, sizeof extents / sizeof *extents)]);
  for (int which = 0; which < 2; which++) {
    if (random_below(random, 4) != 0)
      c->extent[random_below(random, c->rank)] = parameter(c, which);
  }
}

/* How far the next mode's elements are apart: the room that this one takes, sometimes more. */
static number next_stride(random_source *random, const number *stride, const number *extent) {
  static const int64_t gaps[] = {0, 0, 0, 0, 1, 3, 4, 16};
  number room = combined(stride, '*', extent), gap = constant(gaps[random_below(random, 8)]);
  return gap.value[0] == 0 ? room : combined(&room, '+', &gap);
}

/* Turns a mode around: its first element is where its last one was, or where it was itself, so that the others are
 * outside of the buffer. */
static void reverse_mode(const random_copy *c, side *s, uint32_t mode, bool stays_inside) {
  number zero = constant(0), one = constant(1);
  number last = combined(&c->extent[mode], '-', &one);
  number way = combined(&last, '*', &s->stride[mode]);
  if (stays_inside)
    s->offset = combined(&s->offset, '+', &way);
  s->stride[mode] = combined(&zero, '-', &s->stride[mode]);
}

static void choose_strides(random_source *random, const random_copy *c, side *s, bool is_source) {
  uint32_t order[MOST_MODES];
  random_order(random, order, c->rank);
  number stride = constant(random_below(random, 8) == 0 ? 2 : 1);
  s->offset = constant(c->is_view && random_below(random, 3) == 0 ? random_below(random, 9) : 0);
  for (uint32_t i = 0; i < c->rank; i++) {
    bool is_broadcast = is_source && random_below(random, 10) == 0;
    s->stride[order[i]] = is_broadcast ? constant(0) : stride;
    if (!is_broadcast)
      stride = next_stride(random, &stride, &c->extent[order[i]]);
  }
  for (uint32_t i = 0; c->is_view && i < c->rank; i++) {
    if (random_below(random, 6) == 0)
      reverse_mode(c, s, i, random_below(random, 4) != 0);
  }
}

static void choose_types(random_source *random, random_copy *c) {
  bool converts = random_below(random, 5) == 0;
  c->from = c->to = raw_types[random_below(random, 5)];
  if (converts) {
    c->from = integer_types[random_below(random, 4)];
    c->to = integer_types[random_below(random, 4)];
  }
}

static random_copy choose_copy(random_source *random) {
  random_copy c;
  do {
    memset(&c, 0, sizeof c);
    for (int r = 0; r < RUNS; r++)
      memcpy(c.size[r], sizes[random_below(random, sizeof sizes / sizeof *sizes)], sizeof c.size[r]);
    choose_extents(random, &c);
  } while (!is_small(&c));
  c.is_view = random_below(random, 2) == 0;
  c.is_nested = !c.is_view && c.rank > 2 && random_below(random, 3) == 0;
  choose_strides(random, &c, &c.source, true);
  choose_strides(random, &c, &c.destination, false);
  choose_types(random, &c);
  return c;
}

/* --- texts --- */

/* A tuple of numbers; nested: the second and the third are a tuple of their own. */
static void write_tuple(const random_copy *c, const number numbers[], char text[TEXT]) {
  size_t length = (size_t)snprintf(text, TEXT, "(");
  for (uint32_t i = 0; i < c->rank; i++) {
    bool opens = c->is_nested && i == 1, closes = c->is_nested && i == 2;
    length += (size_t)snprintf(text + length, TEXT - length, "%s%s%s%s", i == 0 ? "" : ",", opens ? "(" : "",
                               numbers[i].text, closes ? ")" : "");
    ck_assert_uint_lt(length, TEXT - 2);
  }
  snprintf(text + length, TEXT - length, ")");
}

static void write_side(const random_copy *c, const side *s, char text[3 * TEXT]) {
  char extents[TEXT], strides[TEXT];
  write_tuple(c, c->extent, extents);
  write_tuple(c, s->stride, strides);
  if (c->is_view)
    snprintf(text, 3 * TEXT, "strided(%s, %s, offset=%s)", extents, strides, s->offset.text);
  else
    snprintf(text, 3 * TEXT, "%s:%s", extents, strides);
}

static void write_program(const random_copy *c, char text[8 * TEXT]) {
  char source[3 * TEXT], destination[3 * TEXT];
  write_side(c, &c->source, source);
  write_side(c, &c->destination, destination);
  snprintf(text, 8 * TEXT, "param M in 1..64, N in 1..64\nkernel k(s: %s @ %s,\n d: %s @ %s) = copy(s, d)",
           c->from.name, source, c->to.name, destination);
}

/* --- runs --- */

typedef struct {
  tj_context *context;
  tj_device *device;
  const char *text;
} session;

static int64_t offset_at(const random_copy *c, const side *s, int run, const int64_t coordinate[]) {
  int64_t offset = s->offset.value[run];
  for (uint32_t i = 0; i < c->rank; i++)
    offset += coordinate[i] * s->stride[i].value[run];
  return offset;
}

static void next_coordinate(const random_copy *c, int run, int64_t coordinate[]) {
  for (uint32_t i = 0; i < c->rank && ++coordinate[i] == c->extent[i].value[run]; i++)
    coordinate[i] = 0;
}

static bool is_inside(int64_t offset, size_t bytes, const guarded_array *array) {
  return offset >= 0 && ((size_t)offset + 1) * bytes <= array->size;
}

/* What the destination must be: zeros for elements outside of the source, and nothing outside of itself. Elements are
 * raw or unsigned, and little-endian. */
static void copy_by_loops(const session *s, const random_copy *c, int run, const guarded_array *from,
                          const guarded_array *to) {
  int64_t coordinate[MOST_MODES] = {0};
  size_t common = c->from.bytes < c->to.bytes ? c->from.bytes : c->to.bytes;
  for (int64_t n = volume(c, run); n > 0; n--) {
    int64_t source = offset_at(c, &c->source, run, coordinate);
    int64_t destination = offset_at(c, &c->destination, run, coordinate);
    bool is_loaded = is_inside(source, c->from.bytes, from), is_stored = is_inside(destination, c->to.bytes, to);
    ck_assert_msg(c->is_view || (is_loaded && is_stored), "a buffer is too small\n%s", s->text);
    if (is_stored)
      memset(to->data + (size_t)destination * c->to.bytes, 0, c->to.bytes);
    if (is_stored && is_loaded)
      memcpy(to->data + (size_t)destination * c->to.bytes, from->data + (size_t)source * c->from.bytes, common);
    next_coordinate(c, run, coordinate);
  }
}

static void check_run(session *s, const random_copy *c, int run, tj_code *code, bool is_dynamic) {
  random_source random = {1};
  tj_launch *launch;
  if (tj_launch_create(s->context, code, &launch) != TJ_OK)
    fail_with(s->context, s->text);
  for (size_t i = 0; is_dynamic && i < 2; i++) {
    if (tj_launch_set_parameter(launch, i == 0 ? "M" : "N", c->size[run][i]) != TJ_OK)
      fail_with(s->context, s->text);
  }
  guarded_array from = bind_random(s->context, launch, 0, s->text, &random);
  guarded_array to = bind_random(s->context, launch, 1, s->text, &random), expected = copy_guarded(&to);
  if (tj_launch_run(launch, s->device) != TJ_OK)
    fail_with(s->context, s->text);
  copy_by_loops(s, c, run, &from, &expected);
  for (size_t i = 0; i < to.size; i++)
    ck_assert_msg(to.data[i] == expected.data[i], "%s, M=%ld, N=%ld: byte %zu is %02x, not %02x\n%s",
                  is_dynamic ? "passed" : "fixed", (long)c->size[run][0], (long)c->size[run][1], i, to.data[i],
                  expected.data[i], s->text);
  tj_launch_destroy(launch);
  release_guarded(&from, s->text);
  release_guarded(&to, s->text);
  release_guarded(&expected, s->text);
}

static tj_code *compile(session *s, const int64_t *size) {
  tj_parameter_value fixed[] = {{"M", size != NULL ? size[0] : 0}, {"N", size != NULL ? size[1] : 0}};
  tj_program *program;
  tj_code *code;
  if (tj_program_create(s->context, "random", s->text, strlen(s->text), fixed, size != NULL ? 2 : 0, &program) !=
      TJ_OK)
    fail_with(s->context, s->text);
  tj_compile_options options = {"k", tj_device_target(s->device)};
  if (tj_code_compile(program, &options, &code) != TJ_OK)
    fail_with(s->context, s->text);
  tj_program_destroy(program);
  return code;
}

/* The mapping that is printed of the fixed form, pasted into its program, gives the same code; no tile is left to the
 * launch. */
static void check_printed(const session *s, const random_copy *c) {
  tj_parameter_value fixed[] = {{"M", c->size[0][0]}, {"N", c->size[0][1]}};
  pasted_program p = {s->text, fixed, 2, "k", tj_device_target(s->device)};
  char *reason;
  ck_assert_msg(pastes_back(s->context, &p, TJ_EMIT_LLVM, &reason), "%s\n%s", reason, s->text);
  free(reason);
}

START_TEST(copies_agree_with_loops) {
  random_source random = random_begin((uint64_t)_i);
  random_copy c = choose_copy(&random);
  char text[8 * TEXT];
  write_program(&c, text);
  session s = {.text = text, .context = new_context(NULL)};
  s.device = open_device(s.context, tested_device());
  tj_code *dynamic = compile(&s, NULL), *fixed = compile(&s, c.size[0]);
  for (int run = 0; run < RUNS; run++)
    check_run(&s, &c, run, dynamic, true);
  check_run(&s, &c, 0, fixed, false);
  check_printed(&s, &c);
  tj_code_destroy(fixed);
  tj_code_destroy(dynamic);
  tj_device_close(s.device);
  tj_context_destroy(s.context);
}
END_TEST

int main(void) {
  const char *count = getenv("TILEJIT_TEST_COPIES");
  return run_suite(suite_of_cases("random copies", copies_agree_with_loops, count != NULL ? atoi(count) : COPIES));
}
