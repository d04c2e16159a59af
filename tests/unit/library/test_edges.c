/* SPDX-License-Identifier: MIT */
/* Copies out of and into views with edges, of which all extents, pads, steps and windows are passed at launch: random
 * images of one to three padded dimensions, windows of them, channels that edges leave alone or none, destinations in
 * any order; of windows that are rows of matrices, some more. Held against loops over the coordinates, with poisoned
 * zones around each buffer; on the host, or on the device that TILEJIT_TEST_DEVICE names. */
#include "tests/unit/support/guarded_array.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { COPIES = 40, WINDOWS = 8, RUNS = 5, DIMENSIONS = 3, MODES = 2 * DIMENSIONS + 2, MOST_ELEMENTS = 60000 };
enum { VECTOR = 16 /* bytes */, TEXT = 4096, NAME = 40 };

/* A dimension of the image: its length, pads, and windows: `taps` of them, `spread` apart, begin `stride` apart. */
typedef struct {
  int64_t length, before, after, taps, spread, count, stride;
} dimension;

typedef struct {
  uint32_t dimensions, element_bytes;
  bool has_windows[DIMENSIONS], has_channels, is_stored; /* into the image */
  uint32_t order[MODES];                                 /* of the other side's modes, smallest stride first */
  int64_t batch[RUNS], channels[RUNS];
  dimension dimension[RUNS][DIMENSIONS];
} edged_copy;

typedef struct {
  tj_context *context;
  tj_device *device;
  char text[TEXT];
  size_t length;
} session;

/* --- choices --- */

/* The modes that the image is seen with: the batch; of each dimension one, or taps and windows; the channels. */
static uint32_t modes_of(const edged_copy *c, int run, int64_t extent[MODES]) {
  uint32_t count = 0;
  extent[count++] = c->batch[run];
  for (uint32_t i = 0; i < c->dimensions; i++) {
    const dimension *d = &c->dimension[run][i];
    if (c->has_windows[i])
      extent[count++] = d->taps;
    extent[count++] = c->has_windows[i] ? d->count : d->length + d->before + d->after;
  }
  if (c->has_channels)
    extent[count++] = c->channels[run];
  return count;
}

static int64_t volume(const edged_copy *c, int run) {
  int64_t extent[MODES], product = 1;
  for (uint32_t i = modes_of(c, run, extent); i-- > 0;)
    product *= extent[i];
  return product;
}

/* Lengths and pads that are multiples of whole vectors, of `vector` elements, as well as others. */
static dimension choose_dimension(random_source *random, int64_t vector) {
  static const int64_t lengths[] = {1, 2, 3, 5, 7, 8, 13, 14, 16, 17, 28, 31, 33, 56};
  dimension d = {.length = vector * lengths[random_below(random, sizeof lengths / sizeof *lengths)],
                 .before = vector * random_below(random, 4),
                 .after = vector * random_below(random, 4),
                 .taps = 1 + random_below(random, 3),
                 .spread = 1 + random_below(random, 2),
                 .stride = 1 + random_below(random, 3)};
  int64_t all = d.length + d.before + d.after;
  while ((d.taps - 1) * d.spread >= all)
    d.taps--;
  d.count = 1 + (all - 1 - (d.taps - 1) * d.spread) / d.stride;
  return d;
}

static void choose_sizes(random_source *random, edged_copy *c, int run) {
  static const int64_t channels[] = {1, 4, 8, 16, 24, 40, 64, 128, 7, 12};
  do {
    c->batch[run] = 1 + random_below(random, 3);
    c->channels[run] = c->has_channels ? channels[random_below(random, sizeof channels / sizeof *channels)] : 1;
    for (uint32_t i = 0; i < c->dimensions; i++) {
      bool has_vectors = !c->has_channels && i + 1 == c->dimensions && random_below(random, 2) == 0;
      c->dimension[run][i] = choose_dimension(random, has_vectors ? VECTOR / c->element_bytes : 1);
    }
  } while (volume(c, run) > MOST_ELEMENTS);
}

/* Windows may overlap, and what they overlap in cannot be stored twice. */
static edged_copy choose_copy(random_source *random) {
  static const uint32_t bytes[] = {1, 2, 2, 4, 8};
  edged_copy c = {.dimensions = 1 + random_below(random, DIMENSIONS),
                  .element_bytes = bytes[random_below(random, 5)]};
  c.is_stored = random_below(random, 4) == 0;
  c.has_channels = random_below(random, 5) > 1;
  for (uint32_t i = 0; i < c.dimensions; i++)
    c.has_windows[i] = !c.is_stored && random_below(random, 2) == 0;
  for (int run = 0; run < RUNS; run++)
    choose_sizes(random, &c, run);
  int64_t extent[MODES];
  uint32_t count = modes_of(&c, 0, extent);
  for (uint32_t i = 0; i < count; i++)
    c.order[i] = count - 1 - i;
  if (random_below(random, 3) == 0)
    random_order(random, c.order, count);
  return c;
}

/* Rows of a matrix are the windows at an image's pixels, of few channels: where tiles mask rows. */
static edged_copy choose_windows(random_source *random) {
  static const uint32_t order[] = {5, 3, 1, 4, 2, 0}; /* channels, taps, pixels, batch */
  edged_copy c = {.dimensions = 2, .element_bytes = 2, .has_windows = {true, true}, .has_channels = true};
  memcpy(c.order, order, sizeof order);
  for (int run = 0; run < RUNS; run++) {
    do {
      c.batch[run] = 1 + random_below(random, 2);
      c.channels[run] = 8 + 8 * random_below(random, 3);
      for (uint32_t i = 0; i < c.dimensions; i++)
        c.dimension[run][i] = choose_dimension(random, 1);
    } while (volume(&c, run) > MOST_ELEMENTS);
  }
  return c;
}

/* --- programs --- */

#define WRITE(s, ...) ((s)->length += (size_t)snprintf((s)->text + (s)->length, TEXT - (s)->length, __VA_ARGS__))

static void write_parameters(session *s, const edged_copy *c) {
  WRITE(s, "param N in 1..8, C in 1..256\n");
  for (uint32_t i = 0; i < c->dimensions; i++)
    WRITE(s,
          "param H%u in 1..1024, P%u in 0..64, Q%u in 0..64, T%u in 1..7, D%u in 1..4, O%u in 1..1200, S%u in 1..4\n",
          i, i, i, i, i, i, i);
}

static void write_lists(session *s, const edged_copy *c, bool are_split) {
  WRITE(s, "[[0]");
  uint32_t next = 1;
  for (uint32_t i = 0; i < c->dimensions; i++, next++) {
    if (are_split && c->has_windows[i])
      WRITE(s, ",[%u,%u]", next, next + 1);
    else
      WRITE(s, ",[%u]", next);
    next += are_split && c->has_windows[i];
  }
  if (c->has_channels)
    WRITE(s, ",[%u]", next);
  WRITE(s, "]");
}

static void write_image(session *s, const edged_copy *c) {
  WRITE(s, "let image = transform(packed((N");
  for (uint32_t i = 0; i < c->dimensions; i++)
    WRITE(s, ",H%u", i);
  WRITE(s, c->has_channels ? ",C)), [pass_through(N)" : ")), [pass_through(N)");
  for (uint32_t i = 0; i < c->dimensions; i++)
    WRITE(s, ", pad(H%u,P%u,Q%u)", i, i, i);
  WRITE(s, c->has_channels ? ", pass_through(C)], " : "], ");
  write_lists(s, c, false);
  WRITE(s, ", ");
  write_lists(s, c, false);
  WRITE(s, ")\nlet seen = transform(image, [pass_through(N)");
  for (uint32_t i = 0; i < c->dimensions; i++) {
    if (c->has_windows[i])
      WRITE(s, ", embed((T%u,O%u),(D%u,S%u))", i, i, i, i);
    else
      WRITE(s, ", pass_through(H%u+P%u+Q%u)", i, i, i);
  }
  WRITE(s, c->has_channels ? ", pass_through(C)], " : "], ");
  write_lists(s, c, false);
  WRITE(s, ", ");
  write_lists(s, c, true);
  WRITE(s, ")\n");
}

static uint32_t name_modes(const edged_copy *c, char name[MODES][NAME]) {
  uint32_t count = 0;
  snprintf(name[count++], NAME, "N");
  for (uint32_t i = 0; i < c->dimensions; i++) {
    if (c->has_windows[i])
      snprintf(name[count++], NAME, "T%u", i);
    if (c->has_windows[i])
      snprintf(name[count++], NAME, "O%u", i);
    else
      snprintf(name[count++], NAME, "(H%u+P%u+Q%u)", i, i, i);
  }
  if (c->has_channels)
    snprintf(name[count++], NAME, "C");
  return count;
}

static void write_other(session *s, const edged_copy *c) {
  char name[MODES][NAME];
  uint32_t count = name_modes(c, name);
  for (uint32_t i = 0; i < count; i++)
    WRITE(s, "%s%s", i == 0 ? "(" : ",", name[i]);
  WRITE(s, "):(");
  for (uint32_t i = 0; i < count; i++) {
    WRITE(s, i == 0 ? "1" : ",1");
    for (uint32_t k = 0; c->order[k] != i; k++)
      WRITE(s, "*%s", name[c->order[k]]);
  }
  WRITE(s, ")");
}

static void write_program(session *s, const edged_copy *c) {
  write_parameters(s, c);
  write_image(s, c);
  WRITE(s, "kernel k(s: b%u @ ", 8 * c->element_bytes);
  if (c->is_stored)
    write_other(s, c);
  else
    WRITE(s, "seen");
  WRITE(s, ", d: b%u @ ", 8 * c->element_bytes);
  if (c->is_stored)
    WRITE(s, "seen");
  else
    write_other(s, c);
  WRITE(s, ") = copy(s, d)\n");
  ck_assert_uint_lt(s->length, TEXT);
}

/* --- runs --- */

/* The image's element at a coordinate of its modes; -1: it is a pad. */
static int64_t element_of(const edged_copy *c, int run, const int64_t coordinate[]) {
  int64_t element = coordinate[0];
  uint32_t mode = 1;
  for (uint32_t i = 0; i < c->dimensions; i++) {
    const dimension *d = &c->dimension[run][i];
    int64_t at = coordinate[mode++];
    if (c->has_windows[i])
      at = at * d->spread + coordinate[mode++] * d->stride;
    at -= d->before;
    if (at < 0 || at >= d->length || element < 0)
      element = -1;
    else
      element = element * d->length + at;
  }
  return element < 0 || !c->has_channels ? element : element * c->channels[run] + coordinate[mode];
}

static void copy_by_loops(const edged_copy *c, int run, const guarded_array *from, const guarded_array *to) {
  int64_t extent[MODES], stride[MODES], coordinate[MODES] = {0}, next = 1;
  uint32_t count = modes_of(c, run, extent);
  for (uint32_t i = 0; i < count; i++) {
    stride[c->order[i]] = next;
    next *= extent[c->order[i]];
  }
  for (int64_t n = volume(c, run); n > 0; n--) {
    int64_t other = 0, element = element_of(c, run, coordinate);
    for (uint32_t i = 0; i < count; i++)
      other += coordinate[i] * stride[i];
    int64_t source = c->is_stored ? other : element, destination = c->is_stored ? element : other;
    if (destination >= 0 && source >= 0)
      memcpy(to->data + destination * c->element_bytes, from->data + source * c->element_bytes, c->element_bytes);
    else if (destination >= 0)
      memset(to->data + destination * c->element_bytes, 0, c->element_bytes);
    for (uint32_t i = 0; i < count && ++coordinate[i] == extent[i]; i++)
      coordinate[i] = 0;
  }
}

static void pass(session *s, tj_launch *launch, char letter, uint32_t number, int64_t value) {
  char name[] = {letter, (char)('0' + number), '\0'};
  if (tj_launch_set_parameter(launch, name, value) != TJ_OK)
    fail_with(s->context, s->text);
}

static void pass_sizes(session *s, const edged_copy *c, int run, tj_launch *launch) {
  if (tj_launch_set_parameter(launch, "N", c->batch[run]) != TJ_OK ||
      tj_launch_set_parameter(launch, "C", c->channels[run]) != TJ_OK)
    fail_with(s->context, s->text);
  for (uint32_t i = 0; i < c->dimensions; i++) {
    const dimension *d = &c->dimension[run][i];
    const int64_t value[] = {d->length, d->before, d->after, d->taps, d->spread, d->count, d->stride};
    for (uint32_t k = 0; k < sizeof value / sizeof *value; k++)
      pass(s, launch, "HPQTDOS"[k], i, value[k]);
  }
}

static void check_run(session *s, const edged_copy *c, int run, tj_code *code) {
  random_source random = {1 + (uint64_t)run};
  tj_launch *launch;
  if (tj_launch_create(s->context, code, &launch) != TJ_OK)
    fail_with(s->context, s->text);
  pass_sizes(s, c, run, launch);
  guarded_array from = bind_random(s->context, launch, 0, s->text, &random);
  guarded_array to = bind_random(s->context, launch, 1, s->text, &random), expected = copy_guarded(&to);
  if (tj_launch_run(launch, s->device) != TJ_OK)
    fail_with(s->context, s->text);
  copy_by_loops(c, run, &from, &expected);
  for (size_t i = 0; i < to.size; i++)
    ck_assert_msg(to.data[i] == expected.data[i],
                  "run %d (batch %lld, channels %lld): byte %zu is %02x, not %02x\n%s", run, (long long)c->batch[run],
                  (long long)c->channels[run], i, to.data[i], expected.data[i], s->text);
  tj_launch_destroy(launch);
  release_guarded(&from, s->text);
  release_guarded(&to, s->text);
  release_guarded(&expected, s->text);
}

static void check_copy(const edged_copy *c) {
  const char *device = getenv("TILEJIT_TEST_DEVICE");
  session s = {.context = NULL};
  tj_program *program;
  tj_code *code;
  ck_assert_int_eq(tj_context_create(NULL, &s.context), TJ_OK);
  if (tj_device_open(s.context, device != NULL ? device : "host", &s.device) != TJ_OK)
    fail_with(s.context, s.text);
  write_program(&s, c);
  if (tj_program_create(s.context, "edges", s.text, s.length, NULL, 0, &program) != TJ_OK)
    fail_with(s.context, s.text);
  tj_compile_options options = {"k", tj_device_target(s.device)};
  if (tj_code_compile(program, &options, &code) != TJ_OK)
    fail_with(s.context, s.text);
  for (int run = 0; run < RUNS; run++)
    check_run(&s, c, run, code);
  tj_code_destroy(code);
  tj_program_destroy(program);
  tj_device_close(s.device);
  tj_context_destroy(s.context);
}

START_TEST(copies_agree_with_loops) {
  random_source random = random_begin(3000 + (uint64_t)_i);
  edged_copy c = choose_copy(&random);
  check_copy(&c);
}
END_TEST

START_TEST(windows_agree_with_loops) {
  random_source random = random_begin(7000 + (uint64_t)_i);
  edged_copy c = choose_windows(&random);
  check_copy(&c);
}
END_TEST

int main(void) {
  Suite *suite = suite_of_cases("edges", copies_agree_with_loops, COPIES);
  TCase *windows = tcase_create("windows");
  tcase_add_loop_test(windows, windows_agree_with_loops, 0, WINDOWS);
  suite_add_tcase(suite, windows);
  return run_suite(suite);
}
