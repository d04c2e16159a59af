/* SPDX-License-Identifier: MIT */
/* Small versions of the 57 transpositions, with odd extents and with gaps between runs, of elements of 8 to 128 bits;
 * shapes fixed, and passed at launch. Every byte of both buffers is held against the definition afterwards: elements,
 * gaps, and poisoned guard zones before and behind. On the host, whose kernels work in the caller's memory, pages
 * that nobody may touch begin where a buffer ends, or end where it begins, so that no kernel reads there either;
 * simulated devices stop a kernel that leaves a buffer.
 *
 * Each device takes its share of the types, another one for each case; TILEJIT_TEST_EVERY_TYPE=1 takes them all.
 * TILEJIT_TEST_DEVICE names the device; without it, it is the host. */
#include "bench/transpositions.h"
#include "tests/unit/support/harness.h"
#include "tilejit/tilejit.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TYPES = 5, SKEWS = 3, ELEMENTS = 10000, POISON = 0x5a, FORBIDDEN = 1 << 20 };

static const char *const types[TYPES] = {"b8", "b16", "b32", "b64", "b128"};

/* By skew: none; runs that begin anywhere; runs whose vectors of 16 bytes are not aligned, and less than a line
 * apart. */
static const run_gaps gaps[SKEWS] = {{0, 0}, {1, 0}, {3, 5}};

typedef struct {
  tj_context *context;
  tj_device *device;
  unsigned number; /* of the device: which types are its share */
  bool has_every_type;
} session;

static const char *device_name(void) {
  const char *name = getenv("TILEJIT_TEST_DEVICE");
  return name != NULL ? name : "host";
}

static void stop(const session *s, const char *what) {
  const tj_diagnostic *d = tj_context_diagnostic(s->context);
  ck_abort_msg("%s: %s: TJ%04u: %s", device_name(), what, d->code, d->message);
}

static void open_session(session *s) {
  ck_assert_int_eq(tj_context_create(NULL, &s->context), TJ_OK);
  if (tj_device_open(s->context, device_name(), &s->device) != TJ_OK)
    stop(s, "open");
  s->has_every_type = getenv("TILEJIT_TEST_EVERY_TYPE") != NULL;
  s->number = 0;
  for (const char *c = device_name(); *c != '\0'; c++)
    s->number += (unsigned char)*c;
}

static void close_session(const session *s) {
  tj_device_close(s->device);
  tj_context_destroy(s->context);
}

/* Two types of five for each case, others on other devices. */
static bool is_in_share(const session *s, int index, int type) {
  unsigned turn = (s->number + (unsigned)index + (unsigned)type) % TYPES;
  return s->has_every_type || turn < 2;
}

/* --- shapes --- */

static int64_t below(int64_t extent, int64_t most) {
  return extent <= most ? extent - 1 : most;
}

/* Long runs in both tensors, of which tiles do not cover all, and nearly nothing else. No extent is larger than in
 * full size. */
static transposition long_runs(const transposition *t) {
  transposition result = *t;
  int first = t->permutation[0] - '0', others = 0;
  for (int m = 1; m < transposition_modes(t); m++)
    result.extent[m] = m == first ? below(t->extent[m], 139) : others++ == 0 ? 2 : 1;
  result.extent[0] = below(t->extent[0], first == 0 ? 1111 : 83);
  return result;
}

/* A small version of a case: the first skew is the full size's, halved again and again; the second has odd extents.
 */
static transposition small(int index) {
  transposition t = transposition_halved(&transpositions[index], ELEMENTS);
  for (int m = 0; index % SKEWS == 1 && m < transposition_modes(&t); m++)
    t.extent[m] |= 1;
  return index % SKEWS == 2 ? long_runs(&transpositions[index]) : t;
}

/* --- guarded memory --- */

/* Pages that may be used between two that may not; the buffer lies at their end, or at their beginning. */
typedef struct {
  unsigned char *pages, *data;
  size_t usable, bytes;
} guarded;

static guarded open_guarded(size_t bytes, bool at_end) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE), usable = (bytes + page) / page * page;
  unsigned char *map = mmap(NULL, usable + 2 * FORBIDDEN, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ck_assert(map != MAP_FAILED);
  guarded g = {.pages = map + FORBIDDEN, .usable = usable, .bytes = bytes};
  ck_assert_int_eq(mprotect(g.pages, usable, PROT_READ | PROT_WRITE), 0);
  g.data = at_end ? g.pages + usable - bytes : g.pages;
  memset(g.pages, POISON, usable);
  return g;
}

static void close_guarded(const guarded *g) {
  munmap(g->pages - FORBIDDEN, g->usable + 2 * FORBIDDEN);
}

static void fill(const guarded *g) {
  uint32_t state = 1;
  for (size_t i = 0; i < g->bytes; i++) {
    state = state * 1664525u + 1013904223u;
    g->data[i] = (unsigned char)(state >> 24);
  }
}

static void expect_same(const guarded *found, const guarded *expected, const char *what) {
  size_t i = 0;
  while (i < found->usable && found->pages[i] == expected->pages[i])
    i++;
  if (i < found->usable)
    ck_abort_msg("%s: %s: byte %ld of %zu is %02x, not %02x", device_name(), what,
                 (long)(found->pages + i - found->data), found->bytes, found->pages[i], expected->pages[i]);
}

/* --- one run --- */

typedef struct {
  const transposition *shape;
  const run_gaps *gaps;
  const char *type;
  bool is_dynamic, at_end;
} single_run;

static void define(const single_run *r, const guarded *source, const guarded *destination) {
  size_t element = bytes_of_type(r->type);
  for (int64_t i = 0; i < transposition_size(r->shape); i++) {
    element_places p = transposition_places(r->shape, r->gaps, i);
    memcpy(destination->data + (size_t)p.destination * element, source->data + (size_t)p.source * element, element);
  }
}

static void set_extents(const session *s, const single_run *r, tj_launch *launch) {
  for (int m = 0; r->is_dynamic && m < transposition_modes(r->shape); m++) {
    char name[16];
    snprintf(name, sizeof name, "D%d", m);
    if (tj_launch_set_parameter(launch, name, r->shape->extent[m]) != TJ_OK)
      stop(s, name);
  }
}

static size_t argument_bytes(const session *s, tj_launch *launch, size_t index) {
  const tj_argument *argument;
  if (tj_launch_argument(launch, index, &argument) != TJ_OK)
    stop(s, "argument");
  return argument->element_bytes * (size_t)argument->element_count;
}

static void launch_guarded(const session *s, const single_run *r, tj_launch *launch, const char *what) {
  size_t from = argument_bytes(s, launch, 0), to = argument_bytes(s, launch, 1);
  guarded source = open_guarded(from, r->at_end), destination = open_guarded(to, r->at_end);
  guarded untouched = open_guarded(from, r->at_end), expected = open_guarded(to, r->at_end);
  fill(&source);
  fill(&untouched);
  define(r, &source, &expected);
  if (tj_launch_bind(launch, "src", source.data, from) != TJ_OK ||
      tj_launch_bind(launch, "dst", destination.data, to) != TJ_OK || tj_launch_run(launch, s->device) != TJ_OK)
    stop(s, what);
  expect_same(&source, &untouched, what);
  expect_same(&destination, &expected, what);
  close_guarded(&source);
  close_guarded(&destination);
  close_guarded(&untouched);
  close_guarded(&expected);
}

static void run(const session *s, const single_run *r, const tj_code *code) {
  tj_launch *launch;
  char shape[SHAPE_TEXT], what[2 * SHAPE_TEXT];
  transposition_write_shape(shape, r->shape);
  snprintf(what, sizeof what, "%s of %s (%s), %s", r->shape->permutation, r->type, shape,
           r->is_dynamic ? "dynamic" : "static");
  if (tj_launch_create(s->context, code, &launch) != TJ_OK)
    stop(s, what);
  set_extents(s, r, launch);
  launch_guarded(s, r, launch, what);
  tj_launch_destroy(launch);
}

static tj_code *compile(const session *s, const char *text) {
  tj_code *code;
  tj_compile_options options = {"transpose", tj_device_target(s->device)};
  if (tj_code_compile_text(s->context, "transpose", text, strlen(text), NULL, 0, &options, &code) != TJ_OK)
    stop(s, text);
  return code;
}

/* --- tests --- */

static void check_fixed(const session *s, int index, const char *type) {
  char text[TRANSPOSITION_TEXT];
  transposition t = small(index);
  single_run r = {.shape = &t, .gaps = &gaps[index % SKEWS], .type = type};
  transposition_write(text, &t, r.gaps, type);
  tj_code *code = compile(s, text);
  for (int at_end = 0; at_end < 2; at_end++) {
    r.at_end = at_end != 0;
    run(s, &r, code);
  }
  tj_code_destroy(code);
}

START_TEST(fixed_shapes) {
  session s;
  open_session(&s);
  for (int i = 0; i < TRANSPOSITION_COUNT; i++) {
    for (int type = 0; type < TYPES; type++) {
      if (is_in_share(&s, i, type))
        check_fixed(&s, i, types[type]);
    }
  }
  close_session(&s);
}
END_TEST

/* One kernel for all skews of a permutation, with the gaps of one of them. */
static void check_dynamic(const session *s, int first, int type) {
  char text[TRANSPOSITION_TEXT];
  single_run r = {.gaps = &gaps[(first / SKEWS + type) % SKEWS], .type = types[type], .is_dynamic = true};
  transposition largest = transpositions[first];
  for (int skew = 1; skew < SKEWS; skew++) {
    for (int m = 0; m < transposition_modes(&largest); m++) {
      int64_t extent = transpositions[first + skew].extent[m];
      largest.extent[m] = extent > largest.extent[m] ? extent : largest.extent[m];
    }
  }
  transposition_write_dynamic(text, &largest, r.gaps, r.type, 0);
  tj_code *code = compile(s, text);
  for (int skew = 0; skew < SKEWS; skew++) {
    transposition t = small(first + skew);
    r.shape = &t;
    r.at_end = (skew + type) % 2 == 0;
    run(s, &r, code);
  }
  tj_code_destroy(code);
}

START_TEST(shapes_at_launch) {
  session s;
  open_session(&s);
  for (int first = 0; first < TRANSPOSITION_COUNT; first += SKEWS) {
    for (int type = 0; type < TYPES; type++) {
      if (is_in_share(&s, first / SKEWS, type))
        check_dynamic(&s, first, type);
    }
  }
  close_session(&s);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {fixed_shapes, shapes_at_launch};
  return run_suite(suite_of("transposes", tests, sizeof tests / sizeof tests[0]));
}
