/* SPDX-License-Identifier: MIT */
/* Copies whose tiles an engine brings into LDS, mappings with dma=1, on a simulated gfx1250: against loops over
 * coordinates. Tiles at edges, sources that are padded at their ends, layouts in LDS of every order, with pads and
 * without, shapes that only the launch knows; random ones, of which some have no plan. */
#include "tests/unit/support/library_support.h"
#include "tests/unit/support/random_nodes.h"
#include "tests/unit/support/suite.h"

#include <stdio.h>

enum { MOST_MODES = 3, TEXT = 2048, RANDOM_TILES = 60, POISON = 0x5a };

/* The source has `valid` elements along each mode; the copy goes on to `extent`, by zeros. The destination is column
 * by column. */
typedef struct {
  const char *what, *type;
  size_t bytes;
  uint32_t rank;
  int64_t extent[MOST_MODES], valid[MOST_MODES], stride[MOST_MODES];
  const char *mapping; /* NULL: it is chosen */
  bool is_dynamic;     /* a matrix by rows, whose shape is passed */
} box_case;

#define STORE "store=((16,16),(4,4)):((4@0,1@1),(1@0,16@1)), "
#define CUBE "tile=(8,16,32), store=((8,16),(32)):((1@0,1@1),(1@2)), "

static const box_case cases[] = {
    {"rows with pads",
     "f32",
     4,
     2,
     {128, 64},
     {128, 64},
     {64, 1},
     "tile=(64,64), " STORE "lds=(64,64):(65,1)",
     false},
    {"tiles at edges",
     "f32",
     4,
     2,
     {100, 84},
     {100, 84},
     {84, 1},
     "tile=(64,64), " STORE "lds=(64,64):(68,1)",
     false},
    {"columns in LDS",
     "f32",
     4,
     2,
     {100, 84},
     {100, 84},
     {84, 1},
     "tile=(64,64), " STORE "lds=(64,64):(1,68)",
     false},
    {"rows that lie apart",
     "f32",
     4,
     2,
     {70, 40},
     {70, 40},
     {200, 1},
     "tile=(64,64), " STORE "lds=(64,64):(64,1)",
     false},
    {"every other element",
     "f32",
     4,
     2,
     {64, 40},
     {64, 40},
     {200, 2},
     "tile=(64,64), " STORE "lds=(64,64):(65,1)",
     false},
    {"halves", "f16", 2, 2, {130, 96}, {130, 96}, {96, 1}, "tile=(64,64), " STORE "lds=(64,64):(72,1)", false},
    {"bytes", "u8", 1, 2, {130, 97}, {130, 97}, {97, 1}, "tile=(64,64), " STORE "lds=(64,64):(68,1)", false},
    {"elements of 8 bytes",
     "u64",
     8,
     2,
     {50, 70},
     {50, 70},
     {70, 1},
     "tile=(32,32), store=((8,32),(4)):((4@0,1@1),(1@0)), lds=(32,32):(33,1)",
     false},
    {"elements of 16 bytes",
     "b128",
     16,
     2,
     {50, 70},
     {50, 70},
     {70, 1},
     "tile=(16,16), store=((16,16),(1)):((1@0,1@1),(0)), lds=(16,16):(16,1)",
     false},
    {"three modes", "f32", 4, 3, {20, 36, 50}, {20, 36, 50}, {1800, 50, 1}, CUBE "lds=(8,16,32):(512,32,1)", false},
    {"three modes, another first in LDS",
     "f32",
     4,
     3,
     {20, 36, 50},
     {20, 36, 50},
     {1800, 50, 1},
     CUBE "lds=(8,16,32):(1,264,8)",
     false},
    {"rows that repeat, gathered with pads between them",
     "f32",
     4,
     3,
     {20, 36, 50},
     {20, 36, 50},
     {50, 0, 1},
     CUBE "lds=(8,16,32):(528,33,1)",
     false},
    {"a mode in two parts in LDS",
     "f32",
     4,
     2,
     {64, 64},
     {64, 64},
     {64, 1},
     "tile=(64,64), " STORE "lds=((2,32),64):((1,128),2)",
     false},
    {"several instructions",
     "f32",
     4,
     2,
     {100, 64},
     {100, 64},
     {64, 1},
     "tile=(64,64), " STORE "lds=((4,16),64):((1100,65),1)",
     false},
    {"one mode", "f32", 4, 1, {1000}, {1000}, {1}, "tile=(256), store=(64,4):(4@0,1@0), lds=(256,):(1,)", false},
    {"less than a wave", "f32", 4, 1, {90}, {90}, {1}, "tile=(32), store=(8,4):(4@0,1@0), lds=(32,):(1,)", false},
    {"rows behind the end",
     "f32",
     4,
     2,
     {64, 64},
     {62, 64},
     {64, 1},
     "tile=(64,64), " STORE "lds=(64,64):(65,1)",
     false},
    {"tiles behind both ends",
     "f32",
     4,
     2,
     {256, 128},
     {90, 70},
     {70, 1},
     "tile=(64,64), " STORE "lds=(64,64):(65,1)",
     false},
    {"a layout that is chosen",
     "f32",
     4,
     2,
     {100, 84},
     {100, 84},
     {84, 1},
     "tile=(64,64), store=((16,16),(4,4)):((4@0,1@1),(1@0,16@1))",
     false},
    {"one without gaps",
     "f32",
     4,
     2,
     {100, 84},
     {100, 84},
     {84, 1},
     "tile=(64,48), store=((16,12),(4,4)):((4@0,4@1),(1@0,1@1))",
     false},
    {"a shape that is passed",
     "f32",
     4,
     2,
     {100, 777},
     {100, 777},
     {777, 1},
     "tile=(64,64), " STORE "lds=(64,64):(68,1)",
     true},
    {"one that is a single tile",
     "u16",
     2,
     2,
     {3, 5},
     {3, 5},
     {5, 1},
     "tile=(64,64), " STORE "lds=(64,64):(66,1)",
     true},
    {"rows that end within vectors, chosen", "f32", 4, 2, {512, 64}, {500, 61}, {61, 1}, NULL, false},
    {"bytes that end within tiles, chosen", "u8", 1, 2, {256, 128}, {200, 100}, {100, 1}, NULL, false},
};

enum { CASES = sizeof cases / sizeof *cases };

/* --- programs --- */

static size_t write_list(char *text, size_t at, const int64_t value[], uint32_t count, const char *end) {
  for (uint32_t m = 0; m < count; m++)
    at += (size_t)snprintf(text + at, TEXT - at, "%s%lld", m > 0 ? "," : "(", (long long)value[m]);
  return at + (size_t)snprintf(text + at, TEXT - at, "%s%s", count == 1 ? "," : "", end);
}

static void column_strides(const box_case *c, int64_t stride[MOST_MODES]) {
  stride[0] = 1;
  for (uint32_t m = 1; m < c->rank; m++)
    stride[m] = stride[m - 1] * c->extent[m - 1];
}

/* Padded where it ends before the copy does; then it is packed. */
static size_t write_source(char *text, size_t at, const box_case *c) {
  if (memcmp(c->extent, c->valid, sizeof c->extent) == 0) {
    at = write_list(text, at, c->extent, c->rank, "):");
    return write_list(text, at, c->stride, c->rank, ")");
  }
  return at + (size_t)snprintf(text + at, TEXT - at,
                               "transform(packed((%lld,%lld)), [right_pad(%lld,%lld), right_pad(%lld,%lld)], "
                               "[[0],[1]], [[0],[1]])",
                               (long long)c->valid[0], (long long)c->valid[1], (long long)c->valid[0],
                               (long long)(c->extent[0] - c->valid[0]), (long long)c->valid[1],
                               (long long)(c->extent[1] - c->valid[1]));
}

static void write_program(char text[TEXT], const box_case *c) {
  int64_t stride[MOST_MODES];
  if (c->is_dynamic) {
    snprintf(text, TEXT,
             "param M in 1..65536, N in 1..65536 kernel k(s: %s @ (M,N):(N,1), d: %s @ (M,N):(1,M)) = "
             "copy(s, d, mapping=mapping(%s, dma=1))",
             c->type, c->type, c->mapping);
    return;
  }
  column_strides(c, stride);
  size_t at = (size_t)snprintf(text, TEXT, "kernel k(s: %s @ ", c->type);
  at = write_source(text, at, c);
  at += (size_t)snprintf(text + at, TEXT - at, ", d: %s @ ", c->type);
  at = write_list(text, at, c->extent, c->rank, "):");
  at = write_list(text, at, stride, c->rank, ")");
  if (c->mapping == NULL)
    snprintf(text + at, TEXT - at, ") = copy(s, d)");
  else
    snprintf(text + at, TEXT - at, ") = copy(s, d, mapping=mapping(%s, dma=1))", c->mapping);
}

/* --- runs --- */

typedef struct {
  uint8_t *data;
  size_t size;
} array;

/* Exactly what the kernel wants: the simulator knows where memory ends. */
static array bind(tj_context *context, tj_launch *launch, const char *name, int64_t elements, size_t bytes) {
  array a = {.size = (size_t)elements * bytes};
  a.data = malloc(a.size);
  for (size_t i = 0; i < a.size; i++)
    a.data[i] = name[0] == 's' ? (uint8_t)(1 + (i * 7 + i / 251) % 255) : POISON;
  expect_ok(context, tj_launch_bind(launch, name, a.data, a.size), name);
  return a;
}

static int64_t reach(const box_case *c, const int64_t extent[], const int64_t stride[]) {
  int64_t last = 0;
  for (uint32_t m = 0; m < c->rank; m++)
    last += (extent[m] - 1) * stride[m];
  return last + 1;
}

static bool next(const box_case *c, int64_t at[MOST_MODES]) {
  for (uint32_t m = 0; m < c->rank; m++) {
    if (++at[m] < c->extent[m])
      return true;
    at[m] = 0;
  }
  return false;
}

static void check_elements(const box_case *c, const array *source, const array *destination, const char *text) {
  int64_t at[MOST_MODES] = {0}, stride[MOST_MODES] = {0};
  uint8_t zeros[16] = {0};
  column_strides(c, stride);
  do {
    int64_t from = 0, to = 0;
    bool is_there = true;
    for (uint32_t m = 0; m < c->rank; m++) {
      from += at[m] * c->stride[m];
      to += at[m] * stride[m];
      is_there = is_there && at[m] < c->valid[m];
    }
    const uint8_t *expected = is_there ? source->data + (size_t)from * c->bytes : zeros;
    ck_assert_msg(memcmp(destination->data + (size_t)to * c->bytes, expected, c->bytes) == 0,
                  "%s: element (%ld,%ld,%ld)\n%s", c->what, (long)at[0], (long)at[1], (long)at[2], text);
  } while (next(c, at));
}

/* Nothing comes through registers. */
static void check_code(tj_context *context, const tj_code *code, const char *text) {
  size_t size;
  tj_blob assembly;
  const void *bytes = tj_code_bytes(code, &size);
  expect_ok(context, tj_code_disassemble(context, bytes, size, 0, &assembly), text);
  ck_assert_msg(strstr(assembly.data, "tensor_load_to_lds") != NULL && strstr(assembly.data, "global_load") == NULL &&
                    strstr(assembly.data, "ds_store") == NULL,
                "%s\n%s", text, assembly.data);
  tj_blob_release(context, &assembly);
}

static void run_code(tj_context *context, tj_device *device, const box_case *c, const tj_code *code,
                     const char *text) {
  int64_t stride[MOST_MODES];
  tj_launch *launch;
  column_strides(c, stride);
  expect_ok(context, tj_launch_create(context, code, &launch), text);
  for (int m = 0; m < 2 && c->is_dynamic; m++)
    expect_ok(context, tj_launch_set_parameter(launch, m == 0 ? "M" : "N", c->extent[m]), text);
  array source = bind(context, launch, "s", reach(c, c->valid, c->stride), c->bytes),
        destination = bind(context, launch, "d", reach(c, c->extent, stride), c->bytes);
  expect_ok(context, tj_launch_run(launch, device), text);
  check_elements(c, &source, &destination, text);
  tj_launch_destroy(launch);
  free(source.data);
  free(destination.data);
}

/* False where there is no plan: TJ4020. */
static bool check_case(const box_case *c) {
  enum { NO_PLAN = 4020 };
  char text[TEXT];
  tj_context *context = new_context(NULL);
  tj_device *device = open_device(context, "sim:gfx1250");
  write_program(text, c);
  tj_program *program = new_program(context, text, NULL, 0);
  tj_compile_options options = {.target = tj_device_target(device)};
  tj_code *code = NULL;
  tj_status status = tj_code_compile(program, &options, &code);
  if (status != TJ_OK)
    ck_assert_msg(failure_of(context, status) == NO_PLAN, "%s\n%s", tj_context_diagnostic(context)->message, text);
  else
    check_code(context, code, text);
  if (status == TJ_OK)
    run_code(context, device, c, code, text);
  tj_code_destroy(code);
  tj_program_destroy(program);
  tj_device_close(device);
  tj_context_destroy(context);
  return status == TJ_OK;
}

START_TEST(boxes_are_copied) {
  ck_assert_msg(check_case(&cases[_i]), "%s: there is no plan", cases[_i].what);
}
END_TEST

/* --- random tiles --- */

/* Modes one after the other in some order, perhaps with room between. */
static void choose_strides(random_source *random, uint32_t rank, const int64_t extent[], int64_t stride[]) {
  static const int64_t gaps[] = {0, 0, 0, 1, 2, 4, 8};
  uint32_t order[MOST_MODES];
  int64_t step = 1;
  random_order(random, order, rank);
  for (uint32_t i = 0; i < rank; i++) {
    stride[order[i]] = step;
    step = step * extent[order[i]] + gaps[random_below(random, sizeof gaps / sizeof *gaps)];
  }
}

START_TEST(random_boxes_are_copied) {
  static const struct {
    const char *name;
    size_t bytes;
  } types[] = {{"u8", 1}, {"f16", 2}, {"f32", 4}, {"u64", 8}};
  random_source random = random_begin(1);
  int planned = 0;
  for (int i = 0; i < RANDOM_TILES; i++) {
    uint32_t type = random_below(&random, 4), rank = 1 + random_below(&random, MOST_MODES);
    box_case c = {.what = "random", .type = types[type].name, .bytes = types[type].bytes, .rank = rank};
    int64_t tile[MOST_MODES], lds[MOST_MODES], size = 1;
    char mapping[TEXT];
    for (uint32_t m = 0; m < rank; m++) {
      tile[m] = (int64_t)(rank == 1 ? 64 : 4) << random_below(&random, 3);
      size *= tile[m];
      c.extent[m] = c.valid[m] = 1 + random_below(&random, (uint32_t)(3 * tile[m]));
    }
    choose_strides(&random, rank, c.extent, c.stride);
    choose_strides(&random, rank, tile, lds);
    size_t at = (size_t)snprintf(mapping, sizeof mapping, "tile=");
    at = write_list(mapping, at, tile, rank, ")");
    int64_t items = size < 64 ? size : 64;
    at += (size_t)snprintf(mapping + at, sizeof mapping - at, ", store=(%lld,%lld):(1,%lld), lds=", (long long)items,
                           (long long)(size / items), (long long)items);
    at = write_list(mapping, at, tile, rank, "):");
    write_list(mapping, at, lds, rank, ")");
    c.mapping = mapping;
    planned += check_case(&c);
  }
  ck_assert_int_ge(planned, RANDOM_TILES / 2);
}
END_TEST

int main(void) {
  Suite *suite = suite_of_cases("boxes", boxes_are_copied, CASES);
  TCase *tcase = tcase_create("random");
  tcase_set_timeout(tcase, 300);
  tcase_add_test(tcase, random_boxes_are_copied);
  suite_add_tcase(suite, tcase);
  return run_suite(suite);
}
