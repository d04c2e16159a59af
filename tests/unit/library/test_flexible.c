/* SPDX-License-Identifier: MIT */
/* Copies whose extents, and some strides, are passed at launch: random permutations of one to six modes, with gaps
 * and with elements of all widths, at extents that are longer and shorter than vectors and tiles; and transpositions
 * by given mappings, with vectors of all widths, and with vectors that go through LDS whole. Held against loops over
 * the coordinates, with poisoned zones around each buffer; on the host, where the launch chooses no items, or on the
 * device that TILEJIT_TEST_DEVICE names. */
#include "tests/unit/support/guarded_array.h"

#include <stdio.h>
#include <string.h>

enum { COPIES = 18, MOST_MODES = 6, MOST_ELEMENTS = 40000, RUNS = 4, TEXT = 2048 };

typedef struct {
  uint32_t order[MOST_MODES]; /* of the modes, smallest stride first */
  int64_t gap[MOST_MODES];    /* what lies between the elements of a mode and those of the next, in its extents */
} side;

typedef struct {
  uint32_t rank;
  int64_t extent[RUNS][MOST_MODES];
  bool is_fixed[MOST_MODES]; /* the extent of the first run is part of the program, in all runs */
  side source, destination;
  const char *from, *to;
  size_t from_bytes, to_bytes;
} flexible_copy;

typedef struct {
  tj_context *context;
  tj_device *device;
  char text[TEXT];
} session;

/* --- choices --- */

static void choose_side(random_source *random, const flexible_copy *c, side *s, bool is_sorted) {
  for (uint32_t i = 0; i < c->rank; i++)
    s->order[i] = i;
  if (!is_sorted)
    random_order(random, s->order, c->rank);
  bool has_gaps = random_below(random, 3) == 0;
  for (uint32_t i = 0; i < c->rank; i++)
    s->gap[i] = has_gaps && random_below(random, 3) == 0 ? 1 + random_below(random, 3) : 0;
}

static int64_t volume(const flexible_copy *c, int run) {
  int64_t product = 1;
  for (uint32_t i = 0; i < c->rank; i++)
    product *= c->extent[run][i];
  return product;
}

static void choose_extents(random_source *random, flexible_copy *c, int run) {
  static const int64_t extents[] = {1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 28, 31, 32, 48, 64, 75, 96, 100, 130, 257};
  do {
    for (uint32_t i = 0; i < c->rank; i++) {
      bool is_kept = run > 0 && c->is_fixed[i];
      c->extent[run][i] = is_kept ? c->extent[0][i] : extents[random_below(random, sizeof extents / sizeof *extents)];
    }
  } while (volume(c, run) > MOST_ELEMENTS);
}

static const struct {
  const char *from, *to;
  size_t from_bytes, to_bytes;
} types[] = {{"b8", "b8", 1, 1},   {"b16", "b16", 2, 2},     {"b32", "b32", 4, 4},
             {"b64", "b64", 8, 8}, {"b128", "b128", 16, 16}, {"u8", "u32", 1, 4},
             {"u32", "u16", 4, 2}, {"u64", "u8", 8, 1},      {"u8", "u64", 1, 8}};

enum { TYPES = sizeof types / sizeof *types };

/* Each in turn. */
static void choose_types(int number, flexible_copy *c) {
  size_t which = (size_t)number % TYPES;
  c->from = types[which].from;
  c->to = types[which].to;
  c->from_bytes = types[which].from_bytes;
  c->to_bytes = types[which].to_bytes;
}

static flexible_copy choose_copy(random_source *random, int number) {
  flexible_copy c = {.rank = 1 + random_below(random, MOST_MODES)};
  for (uint32_t i = 0; i < c.rank; i++)
    c.is_fixed[i] = i > 0 && random_below(random, 6) == 0;
  for (int run = 0; run < RUNS; run++)
    choose_extents(random, &c, run);
  choose_side(random, &c, &c.source, random_below(random, 2) == 0);
  choose_side(random, &c, &c.destination, random_below(random, 8) == 0);
  choose_types(number, &c);
  return c;
}

/* --- programs --- */

static void write_extent(const flexible_copy *c, uint32_t mode, char text[32]) {
  if (c->is_fixed[mode])
    snprintf(text, 32, "%lld", (long long)c->extent[0][mode]);
  else
    snprintf(text, 32, "D%u", mode);
}

static size_t write_shape(const flexible_copy *c, char *text) {
  size_t length = (size_t)sprintf(text, "(");
  for (uint32_t i = 0; i < c->rank; i++) {
    char extent[32];
    write_extent(c, i, extent);
    length += (size_t)sprintf(text + length, "%s%s", i == 0 ? "" : ",", extent);
  }
  return length + (size_t)sprintf(text + length, ")");
}

/* The stride of a mode: the product of the extents, and gaps, of those before it. */
static size_t write_stride(const flexible_copy *c, const side *s, uint32_t mode, char *text) {
  size_t length = (size_t)sprintf(text, "1");
  for (uint32_t i = 0; s->order[i] != mode; i++) {
    char extent[32];
    write_extent(c, s->order[i], extent);
    length += (size_t)sprintf(text + length, "*(%s+%lld)", extent, (long long)s->gap[s->order[i]]);
  }
  return length;
}

static size_t write_side(const flexible_copy *c, const side *s, char *text) {
  size_t length = write_shape(c, text);
  length += (size_t)sprintf(text + length, ":(");
  for (uint32_t i = 0; i < c->rank; i++) {
    length += (size_t)sprintf(text + length, i == 0 ? "" : ",");
    length += write_stride(c, s, i, text + length);
  }
  return length + (size_t)sprintf(text + length, ")");
}

/* `mapping`: what of the copy's arguments gives one, or nothing. */
static void write_program(const flexible_copy *c, const char *mapping, char text[TEXT]) {
  size_t length = 0;
  for (uint32_t i = 0; i < c->rank; i++) {
    if (!c->is_fixed[i])
      length += (size_t)sprintf(text + length, "param D%u in 1..260\n", i);
  }
  length += (size_t)sprintf(text + length, "kernel k(s: %s @ ", c->from);
  length += write_side(c, &c->source, text + length);
  length += (size_t)sprintf(text + length, ",\n d: %s @ ", c->to);
  length += write_side(c, &c->destination, text + length);
  length += (size_t)snprintf(text + length, TEXT - length, ") = copy(s, d%s)\n", mapping);
  ck_assert_uint_lt(length, TEXT);
}

/* --- runs --- */

static void find_strides(const flexible_copy *c, const side *s, int run, int64_t stride[MOST_MODES]) {
  int64_t next = 1;
  for (uint32_t i = 0; i < c->rank; i++) {
    stride[s->order[i]] = next;
    next *= c->extent[run][s->order[i]] + s->gap[s->order[i]];
  }
}

/* What the destination must be. Elements are raw or unsigned, and little-endian. */
static void copy_by_loops(const flexible_copy *c, int run, const guarded_array *from, const guarded_array *to) {
  int64_t coordinate[MOST_MODES] = {0}, source[MOST_MODES], destination[MOST_MODES];
  size_t common = c->from_bytes < c->to_bytes ? c->from_bytes : c->to_bytes;
  find_strides(c, &c->source, run, source);
  find_strides(c, &c->destination, run, destination);
  for (int64_t n = volume(c, run); n > 0; n--) {
    size_t at = 0, to_at = 0;
    for (uint32_t i = 0; i < c->rank; i++) {
      at += (size_t)(coordinate[i] * source[i]);
      to_at += (size_t)(coordinate[i] * destination[i]);
    }
    ck_assert_uint_le((at + 1) * c->from_bytes, from->size);
    ck_assert_uint_le((to_at + 1) * c->to_bytes, to->size);
    memset(to->data + to_at * c->to_bytes, 0, c->to_bytes);
    memcpy(to->data + to_at * c->to_bytes, from->data + at * c->from_bytes, common);
    for (uint32_t i = 0; i < c->rank && ++coordinate[i] == c->extent[run][i]; i++)
      coordinate[i] = 0;
  }
}

static void pass_extents(session *s, const flexible_copy *c, int run, tj_launch *launch) {
  for (uint32_t i = 0; i < c->rank; i++) {
    char name[] = {'D', (char)('0' + i), '\0'};
    if (!c->is_fixed[i] && tj_launch_set_parameter(launch, name, c->extent[run][i]) != TJ_OK)
      fail_with(s->context, s->text);
  }
}

static void check_run(session *s, const flexible_copy *c, int run, tj_code *code) {
  random_source random = {1 + (uint64_t)run};
  tj_launch *launch;
  if (tj_launch_create(s->context, code, &launch) != TJ_OK)
    fail_with(s->context, s->text);
  pass_extents(s, c, run, launch);
  guarded_array from = bind_random(s->context, launch, 0, s->text, &random);
  guarded_array to = bind_random(s->context, launch, 1, s->text, &random), expected = copy_guarded(&to);
  if (tj_launch_run(launch, s->device) != TJ_OK)
    fail_with(s->context, s->text);
  copy_by_loops(c, run, &from, &expected);
  for (size_t i = 0; i < to.size; i++)
    ck_assert_msg(to.data[i] == expected.data[i], "run %d (%lld, %lld, …): byte %zu is %02x, not %02x\n%s", run,
                  (long long)c->extent[run][0], (long long)c->extent[run][1], i, to.data[i], expected.data[i],
                  s->text);
  tj_launch_destroy(launch);
  release_guarded(&from, s->text);
  release_guarded(&to, s->text);
  release_guarded(&expected, s->text);
}

/* --- cases --- */

static const char *device_name(void) {
  return getenv("TILEJIT_TEST_DEVICE") != NULL ? getenv("TILEJIT_TEST_DEVICE") : "host";
}

static void open_session(session *s) {
  *s = (session){.context = NULL};
  ck_assert_int_eq(tj_context_create(NULL, &s->context), TJ_OK);
  if (tj_device_open(s->context, device_name(), &s->device) != TJ_OK)
    fail_with(s->context, s->text);
}

static void close_session(const session *s) {
  tj_device_close(s->device);
  tj_context_destroy(s->context);
}

/* NULL: compilation failed. */
static tj_code *compile(session *s) {
  tj_program *program;
  tj_code *code;
  if (tj_program_create(s->context, "flexible", s->text, strlen(s->text), NULL, 0, &program) != TJ_OK)
    fail_with(s->context, s->text);
  tj_compile_options options = {"k", tj_device_target(s->device)};
  tj_status status = tj_code_compile(program, &options, &code);
  tj_program_destroy(program);
  return status == TJ_OK ? code : NULL;
}

static void check_runs(session *s, const flexible_copy *c) {
  tj_code *code = compile(s);
  if (code == NULL)
    fail_with(s->context, s->text);
  for (int run = 0; run < RUNS; run++)
    check_run(s, c, run, code);
  tj_code_destroy(code);
}

START_TEST(copies_agree_with_loops) {
  random_source random = random_begin(1000 + (uint64_t)_i);
  flexible_copy c = choose_copy(&random, _i);
  session s;
  open_session(&s);
  write_program(&c, "", s.text);
  check_runs(&s, &c);
  close_session(&s);
}
END_TEST

/* The mapping of vectors of these widths, as the diagnostic of one that only has them says it. */
static void write_mapping(session *s, const flexible_copy *c, size_t loaded, size_t stored, char text[TEXT]) {
  static const char before[] = "with these modes and vectors: ";
  snprintf(text, TEXT,
           ", mapping=mapping(tile=(%zu*items(0),%zu*items(1)), "
           "load=((items(0),items(1)),(%zu,%zu)):((%zu@0,%zu@1),(1@0,1@1)), "
           "store=((items(1),items(0)),(%zu,%zu)):((%zu@1,%zu@0),(1@1,1@0)), overlap=1)",
           loaded, stored, loaded, stored, loaded, stored, stored, loaded, stored, loaded);
  write_program(c, text, s->text);
  tj_code *code = compile(s);
  tj_code_destroy(code);
  if (code != NULL)
    return;
  const char *note = tj_context_diagnostic(s->context)->note;
  if (note == NULL || strncmp(note, before, strlen(before)) != 0)
    fail_with(s->context, s->text);
  snprintf(text, TEXT, ", mapping=%s", note + strlen(before));
}

START_TEST(transpositions_of_given_widths_agree_with_loops) {
  flexible_copy c = {.rank = 2,
                     .extent = {{130, 75}, {64, 96}, {17, 16}, {31, 257}},
                     .source = {.order = {0, 1}},
                     .destination = {.order = {1, 0}}};
  char mapping[TEXT];
  session s;
  if (strcmp(device_name(), "host") == 0)
    return;
  open_session(&s);
  choose_types(_i, &c);
  for (size_t loaded = 16 / c.from_bytes; loaded > 0; loaded /= 2) {
    for (size_t stored = 16 / c.to_bytes; stored > 0; stored /= 2) {
      write_mapping(&s, &c, loaded, stored, mapping);
      write_program(&c, mapping, s.text);
      check_runs(&s, &c);
    }
  }
  close_session(&s);
}
END_TEST

/* The mapping of vectors of both sides' first mode that go through LDS. */
static void write_staged(size_t width, char text[TEXT]) {
  snprintf(text, TEXT,
           ", mapping=mapping(tile=(%zu*items(0),items(1)*slots(1),slots(2),items(3)*slots(3)), "
           "load=((items(0),slots(1),items(1),items(3)),(%zu,slots(3),slots(2))):"
           "((%zu@0,1@1,slots(1)@1,1@3),(1@0,items(3)@3,1@2)), "
           "store=((items(0),items(3),slots(3),items(1)),(%zu,slots(1),slots(2))):"
           "((%zu@0,1@3,items(3)@3,slots(1)@1),(1@0,1@1,1@2)), overlap=1)",
           width, width, width, width, width);
}

START_TEST(vectors_through_lds_agree_with_loops) {
  static const int64_t vectors[RUNS] = {2, 10, 7, 16};
  flexible_copy c = {.rank = 4,
                     .extent = {{0, 10, 3, 69}, {0, 16, 3, 8}, {1, 5, 2, 24}, {0, 4, 9, 7}},
                     .source = {.order = {0, 1, 2, 3}},
                     .destination = {.order = {0, 3, 2, 1}}};
  char mapping[TEXT];
  session s;
  if (strcmp(device_name(), "host") == 0)
    return;
  open_session(&s);
  choose_types(_i, &c);
  size_t width = 16 / (c.from_bytes > c.to_bytes ? c.from_bytes : c.to_bytes);
  for (int run = 0; run < RUNS; run++)
    c.extent[run][0] += vectors[run] * (int64_t)width;
  write_staged(width, mapping);
  write_program(&c, mapping, s.text);
  check_runs(&s, &c);
  close_session(&s);
}
END_TEST

int main(void) {
  const char *count = getenv("TILEJIT_TEST_COPIES");
  Suite *suite = suite_of_cases("flexible tiles", copies_agree_with_loops, count != NULL ? atoi(count) : COPIES);
  TCase *given = tcase_create("given widths");
  tcase_add_loop_test(given, transpositions_of_given_widths_agree_with_loops, 0, TYPES);
  tcase_add_loop_test(given, vectors_through_lds_agree_with_loops, 0, TYPES);
  suite_add_tcase(suite, given);
  return run_suite(suite);
}
