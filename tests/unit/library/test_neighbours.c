/* SPDX-License-Identifier: MIT */
/* Copies on the host of which every size is passed at launch, five and six modes in any order, gaps behind the first
 * one, layouts and merged views: where either side has neighbours, no launch moves one element at a time, and no
 * variant is there that none takes. Held against loops over the coordinates, with poisoned zones around each buffer.
 */
#include "tests/unit/support/guarded_array.h"
#include "tests/unit/support/paste_support.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { COPIES = 40, RUNS = 2, LEAST_MODES = 5, MODES = 6, MOST_ELEMENTS = 20000, PART = 1024, TEXT = 8 * PART };

/* A side's modes in its own order, which is `order`, the source's; and what lies behind each run of the first one. */
typedef struct {
  uint32_t order[MODES];
  int64_t gap;
} side;

typedef struct {
  uint32_t modes, merged; /* of the first modes, a dimension of a view; 0: a layout */
  int64_t extent[RUNS][MODES];
  bool is_known; /* that none is shorter than the shortest launch has it */
  side source, destination;
  const char *type;
} launched_copy;

/* --- choices --- */

static int64_t volume(const launched_copy *c, int run) {
  int64_t product = 1;
  for (uint32_t m = 0; m < c->modes; m++)
    product *= c->extent[run][m];
  return product;
}

static void choose_extents(random_source *random, launched_copy *c, int run) {
  static const int64_t extents[] = {2, 3, 4, 5, 7, 8, 12, 16, 17, 33};
  do {
    for (uint32_t m = 0; m < c->modes; m++)
      c->extent[run][m] = extents[random_below(random, sizeof extents / sizeof *extents)];
  } while (volume(c, run) > MOST_ELEMENTS);
}

/* Any order; or one in which the first mode stays, and the others go around, so that some of them are one. */
static void choose_order(random_source *random, side *s, uint32_t modes) {
  uint32_t turn = random_below(random, modes);
  random_order(random, s->order, modes);
  if (random_below(random, 3) > 0)
    return;
  s->order[0] = 0;
  for (uint32_t i = 1; i < modes; i++)
    s->order[i] = 1 + (i - 1 + turn) % (modes - 1);
}

static launched_copy choose_copy(random_source *random) {
  static const int64_t gaps[] = {0, 0, 1, 3};
  static const char *const types[] = {"b8", "b16", "b32", "b64"};
  launched_copy c = {.modes = LEAST_MODES + random_below(random, MODES - LEAST_MODES + 1)};
  c.type = types[random_below(random, 4)];
  c.merged = random_below(random, 3) == 0 ? 1 + random_below(random, c.modes - 1) : 0;
  c.source.gap = gaps[random_below(random, 4)];
  c.destination.gap = gaps[random_below(random, 4)];
  for (uint32_t m = 0; m < c.modes; m++)
    c.source.order[m] = m;
  choose_order(random, &c.destination, c.modes);
  for (int run = 0; run < RUNS; run++)
    choose_extents(random, &c, run);
  c.is_known = random_below(random, 2) > 0;
  return c;
}

/* --- programs --- */

static int64_t least_extent(const launched_copy *c, uint32_t mode) {
  int64_t least = c->extent[0][mode];
  for (int run = 1; run < RUNS; run++)
    least = c->extent[run][mode] < least ? c->extent[run][mode] : least;
  return c->is_known ? least : 1;
}

/* How far a step along a mode moves a side. */
static void write_stride(char *text, size_t size, const launched_copy *c, const side *s, uint32_t mode) {
  size_t at = (size_t)snprintf(text, size, "1");
  for (uint32_t i = 0; i < c->modes && s->order[i] != mode; i++)
    at +=
        (size_t)snprintf(text + at, size - at, i == 0 && s->gap > 0 ? "*(D%u+%d)" : "*D%u", s->order[i], (int)s->gap);
}

/* Modes, or how far a side steps along them, the last first. */
static void write_list(char *text, const launched_copy *c, const side *strides, uint32_t begin, uint32_t end) {
  size_t at = 0;
  for (uint32_t m = end; m-- > begin;) {
    char part[PART / 4];
    snprintf(part, sizeof part, "D%u", m);
    if (strides != NULL)
      write_stride(part, sizeof part, c, strides, m);
    at += (size_t)snprintf(text + at, PART - at, "%s%s", part, m > begin ? "," : "");
  }
}

/* Dimensions as a list. */
static void write_numbers(char *text, uint32_t begin, uint32_t end) {
  size_t at = (size_t)snprintf(text, PART, "[%u", begin);
  for (uint32_t i = begin + 1; i < end; i++)
    at += (size_t)snprintf(text + at, PART - at, ",%u", i);
  snprintf(text + at, PART - at, "]");
}

static void write_side(char *text, const launched_copy *c, const side *s) {
  char extents[PART], strides[PART], slow[PART], fast[PART], below[2][PART];
  uint32_t rest = c->modes - c->merged;
  write_list(extents, c, NULL, 0, c->modes);
  write_list(strides, c, s, 0, c->modes);
  if (c->merged == 0) {
    snprintf(text, TEXT, "(%s):(%s)", extents, strides);
    return;
  }
  write_list(slow, c, NULL, c->merged, c->modes);
  write_list(fast, c, NULL, 0, c->merged);
  write_numbers(below[0], 0, rest);
  write_numbers(below[1], rest, c->modes);
  snprintf(text, TEXT, "transform(strided((%s),(%s)), [%s(%s), %s(%s)], [%s,%s], [[0],[1]])", extents, strides,
           rest > 1 ? "merge" : "pass_through", slow, c->merged > 1 ? "merge" : "pass_through", fast, below[0],
           below[1]);
}

static void write_program(char *text, size_t size, const launched_copy *c) {
  char source[TEXT], destination[TEXT];
  size_t at = (size_t)snprintf(text, size, "param ");
  for (uint32_t m = 0; m < c->modes; m++)
    at += (size_t)snprintf(text + at, size - at, "%sD%u in %d..512", m > 0 ? ", " : "", m, (int)least_extent(c, m));
  write_side(source, c, &c->source);
  write_side(destination, c, &c->destination);
  snprintf(text + at, size - at, "\nkernel k(src: %s @ %s, dst: %s @ %s) = copy(src, dst)", c->type, source, c->type,
           destination);
}

/* --- elements --- */

static int64_t place_of(const launched_copy *c, const side *s, int run, int64_t index) {
  int64_t digit[MODES], place = 0, stride = 1;
  for (uint32_t m = 0; m < c->modes; index /= c->extent[run][m++])
    digit[m] = index % c->extent[run][m];
  for (uint32_t i = 0; i < c->modes; i++) {
    uint32_t m = s->order[i];
    place += digit[m] * stride;
    stride *= c->extent[run][m] + (i == 0 ? s->gap : 0);
  }
  return place;
}

static void check_elements(const launched_copy *c, int run, const guarded_array *source,
                           const guarded_array *destination, const char *text) {
  size_t bytes = source->size / (size_t)source->count;
  guarded_array expected = copy_guarded(destination);
  memset(expected.data, POISON, expected.size);
  for (int64_t at = 0; at < volume(c, run); at++)
    memcpy(expected.data + (size_t)place_of(c, &c->destination, run, at) * bytes,
           source->data + (size_t)place_of(c, &c->source, run, at) * bytes, bytes);
  ck_assert_msg(memcmp(expected.data, destination->data, expected.size) == 0, "launch %d\n%s", run, text);
  release_guarded(&expected, text);
}

/* --- launches --- */

/* Every variant but the first one has a condition: what serves all launches hides those before it. */
static void check_conditions(tj_context *context, const char *text) {
  static const char all[] = "no variant below is taken";
  pasted_program p = {.text = text, .kernel = "k", .target = "host"};
  tj_blob tiled = emitted(context, &p, text, TJ_EMIT_TILED);
  const char *first = strstr(tiled.data, all);
  ck_assert_msg(first == NULL || strstr(first + sizeof all, all) == NULL, "a variant is never taken\n%s", text);
  tj_blob_release(context, &tiled);
}

/* Whether a step of this form is among those of the first kernel. */
static bool has_step(const char *tiled, const char *form) {
  const char *step = strstr(tiled, form), *next = strstr(tiled, "\nkernel k.");
  return step != NULL && (next == NULL || step < next);
}

/* Whether the kernel that serves all launches moves several elements at a time. */
static bool has_neighbours(tj_context *context, const char *text) {
  pasted_program p = {.text = text, .kernel = "k", .target = "host"};
  tj_blob tiled = emitted(context, &p, text, TJ_EMIT_TILED);
  bool has = has_step(tiled.data, "\n    run ") || has_step(tiled.data, "\n    load       slots ");
  tj_blob_release(context, &tiled);
  return has;
}

static void run_copy(tj_context *context, tj_device *device, const launched_copy *c, int run, const tj_code *code,
                     const char *text, random_source *random) {
  tj_launch *launch;
  const tj_recipe *recipe;
  expect_ok(context, tj_launch_create(context, code, &launch), text);
  for (uint32_t m = 0; m < c->modes; m++) {
    char name[16];
    snprintf(name, sizeof name, "D%u", m);
    expect_ok(context, tj_launch_set_parameter(launch, name, c->extent[run][m]), text);
  }
  expect_ok(context, tj_launch_prepare(launch, &recipe), text);
  ck_assert_msg(strcmp(recipe->symbol, "tilejit_k") != 0 || has_neighbours(context, text),
                "launch %d moves one element at a time\n%s", run, text);
  guarded_array source = bind_random(context, launch, 0, text, random);
  guarded_array destination = bind_guarded(context, launch, 1, text);
  expect_ok(context, tj_launch_run(launch, device), text);
  check_elements(c, run, &source, &destination, text);
  tj_launch_destroy(launch);
  release_guarded(&source, text);
  release_guarded(&destination, text);
}

START_TEST(neighbours_move_together) {
  random_source random = random_begin(5);
  tj_context *context = new_context(NULL);
  tj_device *device = open_device(context, "host");
  for (int i = 0; i < COPIES; i++) {
    char text[2 * TEXT + PART];
    launched_copy c = choose_copy(&random);
    write_program(text, sizeof text, &c);
    tj_code *code = compile_for(context, device, text, NULL, 0);
    check_conditions(context, text);
    for (int run = 0; run < RUNS; run++)
      run_copy(context, device, &c, run, code, text, &random);
    tj_code_destroy(code);
  }
  tj_device_close(device);
  tj_context_destroy(context);
}
END_TEST

int main(void) {
  return run_suite(suite_of_cases("neighbours", neighbours_move_together, 1));
}
