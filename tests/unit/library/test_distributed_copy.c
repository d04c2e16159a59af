/* SPDX-License-Identifier: MIT */
/* Tiles of real kernels on a device: GEMM blocks with and without replication, accumulators, rows of a softmax and
 * what they reduce to; through registers and shuffled, with parameters fixed and passed at launch. Each run is
 * compared bit by bit with the plain copy on the host and, where elements are not converted, with the tables of the
 * oracle; between guard zones.
 *
 * TILEJIT_TEST_DEVICE names the device; without it, it is the host, which takes tiles of either wave size. */
#include "tests/unit/support/guarded_array.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

enum { TEXT = 4096, MOST_SIZES = 3, ARGUMENTS = 2 };

typedef struct {
  const char *name;
  const char *tiles[2]; /* definitions for waves of 64 and of 32 */
  const char *source, *destination;
  const char *from, *to; /* element types */
  const char *body;
  int64_t sizes[MOST_SIZES][2]; /* M and N; ends at {0, 0} */
} tile_case;

#define PARAMETERS "param M in 1..1024, N in 8..1024 multiple 8\n"
#define ROWS "(M,N):(N,1)"
#define COLUMNS "(M,N):(1,M)"
#define FRAMED "transform(packed((M, N)), [pad(M, 1, 2), pad(N, 8, 0)], [[0], [1]], [[0], [1]])"
#define FRAME "packed((M+3, N+8))"
#define THROUGH "copy(s, d, through=D)"
#define MAPPED "copy(s, d, mapping=D)"
#define SHUFFLE "shuffle(s, d, from=D, to=E)"

/* Mappings as one writes them by hand, for any wave: a tile of 32 × 32 that is loaded by rows and stored by columns.
 */
#define TURNED(parts)                                                                                                \
  {                                                                                                                  \
    "let D = mapping(tile=(32,32), load=((8,32),4):((4@1,1@0),1@1), store=((8,32),4):((4@0,1@1),1@0)" parts ")\n",   \
        "let D = mapping(tile=(32,32), load=((8,32),4):((4@1,1@0),1@1), store=((8,32),4):((4@0,1@1),1@0)" parts      \
        ")\n"                                                                                                        \
  }
/* In two passes of 16 columns each. */
#define PARTED(parts)                                                                                                \
  {                                                                                                                  \
    "let D = mapping(load=((4,32),(4,2)):((4@1,1@0),(1@1,16@1)), store=((8,16),(4,2)):((4@0,1@1),(1@0,16@1)), "      \
    "passes=2" parts ")\n",                                                                                          \
        "let D = mapping(load=((4,32),(4,2)):((4@1,1@0),(1@1,16@1)), store=((8,16),(4,2)):((4@0,1@1),(1@0,16@1)), "  \
        "passes=2" parts ")\n"                                                                                       \
  }
#define EVERYWHERE(text)                                                                                             \
  { text "\n", text "\n" }

/* MFMA 32x32x8 and WMMA 16x16x16 operands: lanes by rows, vectors along k; WMMA holds A in both halves of a wave. */
#define A_64                                                                                                         \
  "let D = distribution(hs=[[2,4,32],[2,8]], ps_major=[[1],[2,1]], ps_minor=[[1],[0,2]], ys_major=[1,2], "           \
  "ys_minor=[0,1])\n"
#define A_32                                                                                                         \
  "let D = distribution(rs=[2], hs=[[2,4,16],[16]], ps_major=[[1],[0,1]], ps_minor=[[1],[0,2]], ys_major=[1,2], "    \
  "ys_minor=[0,0])\n"
/* The same in a workgroup of 2 x 2 waves, of which those of one row of waves hold the same A, */
#define A_SHARED_64                                                                                                  \
  "let D = distribution(rs=[2], hs=[[2,2,32],[4,2,8]], ps_major=[[1,0],[2,1]], ps_minor=[[1,0],[1,2]], "             \
  "ys_major=[1,2,2], ys_minor=[0,0,2])\n"
#define A_SHARED_32                                                                                                  \
  "let D = distribution(rs=[2,2], hs=[[2,2,16],[2,16]], ps_major=[[1,0],[0,1]], ps_minor=[[1,0],[1,2]], "            \
  "ys_major=[1,2,2], ys_minor=[0,0,1])\n"
/* and those of one column the same B. */
#define B_SHARED_64                                                                                                  \
  "let D = distribution(rs=[2], hs=[[2,2,32],[4,2,8]], ps_major=[[0,1],[2,1]], ps_minor=[[0,1],[1,2]], "             \
  "ys_major=[1,2,2], ys_minor=[0,0,2])\n"
#define B_SHARED_32                                                                                                  \
  "let D = distribution(rs=[2,2], hs=[[2,2,16],[2,16]], ps_major=[[0,1],[0,1]], ps_minor=[[0,1],[1,2]], "            \
  "ys_major=[1,2,2], ys_minor=[0,0,1])\n"
/* Accumulators of 2 x 2 waves. */
#define C_64                                                                                                         \
  "let D = distribution(hs=[[1,2,4,2,4],[1,2,32]], ps_major=[[1,2],[1,2]], ps_minor=[[1,1],[3,2]], "                 \
  "ys_major=[1,2,1,1], ys_minor=[0,0,2,4])\n"
#define C_32                                                                                                         \
  "let D = distribution(hs=[[2,2,8,2],[2,2,16]], ps_major=[[1,2],[1,2]], ps_minor=[[1,1],[3,2]], "                   \
  "ys_major=[1,2,1], ys_minor=[0,0,2])\n"
#define C_OUT_64 "let E = block_raked((64,64), 256, 8)\n"
#define C_OUT_32 "let E = block_raked((64,64), 128, 8, wave=32)\n"
/* A wave a row, vectors of 4. */
#define SOFTMAX_64                                                                                                   \
  "let S = distribution(hs=[[2,4],[2,64,4]], ps_major=[[1],[2]], ps_minor=[[1],[1]], ys_major=[1,2,2], "             \
  "ys_minor=[0,0,2])\n"
#define SOFTMAX_32                                                                                                   \
  "let S = distribution(hs=[[2,4],[2,32,4]], ps_major=[[1],[2]], ps_minor=[[1],[1]], ys_major=[1,2,2], "             \
  "ys_minor=[0,0,2])\n"
/* Lanes of which four lie in a row, and begin again where vectors of the host go on. */
#define ROW_64 "let D = distribution(hs=[[16],[4]], ps_major=[[1,2]], ps_minor=[[0,0]], ys_major=[], ys_minor=[])\n"
#define ROW_32 "let D = distribution(hs=[[8],[4]], ps_major=[[1,2]], ps_minor=[[0,0]], ys_major=[], ys_minor=[])\n"
#define ONE_WAVE_64                                                                                                  \
  "let D = distribution(hs=[[3],[2,16,2],[4,4]], ps_major=[[2,3]], ps_minor=[[1,0]], ys_major=[1,2,2,3], "           \
  "ys_minor=[0,0,2,1])\n"
#define ONE_WAVE_32                                                                                                  \
  "let D = distribution(hs=[[3],[2,8,2],[4,4]], ps_major=[[2,3]], ps_minor=[[1,0]], ys_major=[1,2,2,3], "            \
  "ys_minor=[0,0,2,1])\n"
/* From digits of one side that are replicated to digits of the other that are not: threads hold more on one side. */
#define SPREAD_64                                                                                                    \
  "let D = distribution(rs=[2], hs=[[8,2,4],[8]], ps_major=[[0,1,1]], ps_minor=[[0,0,2]], ys_major=[2,1], "          \
  "ys_minor=[0,1])\n"                                                                                                \
  "let E = distribution(hs=[[8,8],[8]], ps_major=[[1,2]], ps_minor=[[0,0]], ys_major=[1], ys_minor=[1])\n"
#define SPREAD_32                                                                                                    \
  "let D = distribution(rs=[4], hs=[[8,8],[8]], ps_major=[[0,1]], ps_minor=[[0,0]], ys_major=[1,2], "                \
  "ys_minor=[1,0])\n"                                                                                                \
  "let E = distribution(rs=[2], hs=[[8,2,4],[8]], ps_major=[[1,1,0]], ps_minor=[[0,1,0]], ys_major=[2,1], "          \
  "ys_minor=[0,2])\n"

static const tile_case cases[] = {
    {"thread raked",
     {"let D = thread_raked((64,64), 256, 8)\n", "let D = thread_raked((64,64), 256, 8, wave=32)\n"},
     ROWS,
     ROWS,
     "f16",
     "f16",
     THROUGH,
     {{128, 64}, {100, 72}, {1, 8}}},
    {"block raked, into a frame",
     {"let D = block_raked((64,64), 256, 8)\n", "let D = block_raked((64,64), 256, 8, wave=32)\n"},
     FRAME,
     FRAMED,
     "b16",
     "b16",
     THROUGH,
     {{61, 56}, {100, 72}}},
    {"warp raked, out of a frame",
     {"let D = warp_raked((64,64), 256, 8)\n", "let D = warp_raked((64,64), 256, 8, wave=32)\n"},
     FRAMED,
     FRAME,
     "i16",
     "i16",
     "copy(s, d, through=D, fill=-7)",
     {{61, 56}, {100, 72}}},
    {"A", {A_64, A_32}, ROWS, ROWS, "f16", "f16", THROUGH, {{256, 32}, {300, 24}, {31, 8}}},
    {"A by columns", {A_64, A_32}, COLUMNS, ROWS, "f16", "f16", THROUGH, {{256, 32}, {45, 40}}},
    {"A, converted", {A_64, A_32}, ROWS, ROWS, "f32", "bf16", THROUGH, {{256, 32}, {45, 40}}},
    {"A, shared", {A_SHARED_64, A_SHARED_32}, ROWS, ROWS, "f16", "f16", THROUGH, {{128, 64}, {130, 72}}},
    {"B, shared", {B_SHARED_64, B_SHARED_32}, ROWS, ROWS, "f16", "f32", THROUGH, {{128, 64}, {77, 8}}},
    {"a row for all rows", {ROW_64, ROW_32}, "(M,N):(0,1)", COLUMNS, "f64", "f64", THROUGH, {{32, 24}, {9, 40}}},
    {"C by columns", {C_64, C_32}, COLUMNS, COLUMNS, "f32", "f16", THROUGH, {{64, 64}, {36, 72}}},
    {"C to rows", {C_64 C_OUT_64, C_32 C_OUT_32}, COLUMNS, ROWS, "f32", "f16", SHUFFLE, {{64, 64}, {36, 72}}},
    {"C to rows of the same",
     {C_64 C_OUT_64, C_32 C_OUT_32},
     ROWS,
     ROWS,
     "f32",
     "f32",
     SHUFFLE,
     {{64, 128}, {36, 72}}},
    {"rows to C",
     {C_64 C_OUT_64, C_32 C_OUT_32},
     FRAMED,
     FRAME,
     "f16",
     "f16",
     "shuffle(s, d, from=E, to=D, fill=3)",
     {{61, 56}, {70, 16}}},
    {"A to A",
     {A_SHARED_64, A_SHARED_32},
     ROWS,
     ROWS,
     "f16",
     "f16",
     "shuffle(s, d, from=D, to=D)",
     {{128, 64}, {130, 72}}},
    {"A, shared, to B, shared",
     {A_SHARED_64 "let E = distribution(rs=[2], hs=[[2,2,32],[4,2,8]], ps_major=[[0,1],[2,1]], "
                  "ps_minor=[[0,1],[1,2]], ys_major=[1,2,2], ys_minor=[0,0,2])\n",
      A_SHARED_32 "let E = distribution(rs=[2,2], hs=[[2,2,16],[2,16]], ps_major=[[0,1],[0,1]], "
                  "ps_minor=[[0,1],[1,2]], ys_major=[1,2,2], ys_minor=[0,0,1])\n"},
     ROWS,
     ROWS,
     "f16",
     "f16",
     SHUFFLE,
     {{128, 64}, {130, 72}}},
    {"rows of a softmax",
     {SOFTMAX_64 "let D = S\n", SOFTMAX_32 "let D = S\n"},
     ROWS,
     ROWS,
     "f16",
     "f32",
     THROUGH,
     {{16, 512}, {13, 600}}},
    {"sums of the rows, in every lane",
     {SOFTMAX_64 "let D = reduce_distribution(S, [1])\n", SOFTMAX_32 "let D = reduce_distribution(S, [1])\n"},
     "M:1",
     "M:1",
     "f32",
     "f32",
     THROUGH,
     {{16, 8}, {13, 8}}},
    {"three dimensions, one wave",
     {ONE_WAVE_64, ONE_WAVE_32},
     "packed((5,M,N))",
     "aligned((5,M,N), 16)",
     "u8",
     "i32",
     THROUGH,
     {{64, 16}, {50, 40}}},
    {"turned", TURNED(""), ROWS, COLUMNS, "f32", "f32", MAPPED, {{64, 64}, {45, 40}}},
    {"turned in padded LDS",
     TURNED(", lds=(32,32):(33,1)"),
     ROWS,
     COLUMNS,
     "f32",
     "f32",
     MAPPED,
     {{64, 64}, {45, 40}}},
    {"turned in swizzled LDS",
     TURNED(", lds=Sw<3,2,3> o 0 o (32,32):(32,1)"),
     ROWS,
     COLUMNS,
     "f32",
     "f16",
     MAPPED,
     {{64, 64}, {45, 40}}},
    {"turned, the last tiles moved back",
     TURNED(", overlap=1"),
     ROWS,
     COLUMNS,
     "f16",
     "f16",
     MAPPED,
     {{70, 40}, {20, 48}}},
    {"turned in passes", PARTED(""), ROWS, COLUMNS, "f32", "f32", MAPPED, {{64, 64}, {45, 40}}},
    {"turned in passes, padded",
     PARTED(", lds=(32,16):(17,1)"),
     ROWS,
     COLUMNS,
     "b16",
     "b16",
     MAPPED,
     {{64, 64}, {45, 40}}},
    {"turned in passes, by the index in LDS",
     PARTED(", lds=Sw<2,2,3> o 64 o 512:1"),
     FRAMED,
     FRAME,
     "f32",
     "f32",
     MAPPED,
     {{61, 56}, {45, 40}}},
    {"raked, onto the index of the tile",
     EVERYWHERE("let D = mapping(tile=(64,32), load=((4,64),8):((512,1),64))"),
     ROWS,
     ROWS,
     "f16",
     "f16",
     MAPPED,
     {{128, 64}, {77, 40}}},
    {"stored by fewer than load, who hold more",
     EVERYWHERE("let D = mapping(load=((4,32),4):((4@1,1@0),1@1), store=(32,16):(1@0,1@1))"),
     ROWS,
     COLUMNS,
     "i8",
     "i8",
     MAPPED,
     {{64, 64}, {45, 40}}},
    {"loaded by fewer than store, in an order of their own",
     EVERYWHERE("let D = mapping(tile=(8,96), load=(96,8):(1@1,1@0), store=((8,16),6):((1@0,6@1),1@1), "
                "load_as=(4,24):(24,1))"),
     ROWS,
     COLUMNS,
     "f32",
     "f32",
     MAPPED,
     {{64, 96}, {45, 104}}},
    {"held by two, and in two slots",
     EVERYWHERE("let D = mapping(load=((4,16,2),(4,2)):((4@1,1@0,0),(1@1,0)), store=((16,4),4):((1@0,4@1),1@1))"),
     ROWS,
     COLUMNS,
     "f32",
     "f32",
     MAPPED,
     {{64, 64}, {45, 40}}},
    {"stored by slots that repeat each other, from one",
     EVERYWHERE("let D = mapping(tile=(8,8), load=(64,1):(1,0), store=(64,2):(1,0))"),
     ROWS,
     ROWS,
     "f64",
     "f64",
     MAPPED,
     {{64, 64}, {45, 40}}},
    {"with those who load it, but in LDS and in passes",
     EVERYWHERE(
         "let D = mapping(load=((4,32),(4,2)):((4@1,1@0),(1@1,16@1)), lds=(32,16):(17,1), passes=2, buffers=2)"),
     ROWS,
     ROWS,
     "f16",
     "f32",
     MAPPED,
     {{64, 64}, {45, 40}}},
    {"tiles in an order of their own",
     EVERYWHERE("let D = mapping(load=((8,8),4):((4@1,1@0),1@1), order=((M+7)/8,(N+31)/32):(1@0,1@1))"),
     ROWS,
     ROWS,
     "f32",
     "f32",
     MAPPED,
     {{64, 64}, {45, 40}}},
    {"tiles in blocks of two by two",
     EVERYWHERE("let D = mapping(load=((8,8),4):((4@1,1@0),1@1), order=((2,2),(4,3)):((1@0,1@1),(2@0,2@1)))"),
     "transform(packed((64, 192)), [slice(64, 0, 64), slice(192, 0, 192)], [[0], [1]], [[0], [1]])",
     "packed((64, 192))",
     "f32",
     "f32",
     MAPPED,
     {{64, 8}}},
    {"elements of 16 bytes", {SPREAD_64, NULL}, ROWS, COLUMNS, "b128", "b128", SHUFFLE, {{64, 8}, {50, 24}}},
    {"from four holders to two", {NULL, SPREAD_32}, ROWS, COLUMNS, "i8", "i8", SHUFFLE, {{64, 8}, {50, 24}}},
};

enum { CASE_COUNT = sizeof cases / sizeof cases[0] };

/* --- programs --- */

typedef struct {
  tj_context *context;
  tj_device *host, *device;
  const tile_case *of;
  tj_parameter_value size[2];
} session;

static tj_program *read_program(const session *s, const char *text, bool is_fixed) {
  return new_program(s->context, text, s->size, is_fixed ? 2 : 0);
}

static void write_kernel(const session *s, char text[TEXT], const char *tiles, const char *body) {
  snprintf(text, TEXT, PARAMETERS "%skernel k(s: %s @ %s, d: %s @ %s) = %s", tiles, s->of->from, s->of->source,
           s->of->to, s->of->destination, body);
}

/* --- arrays between guards --- */

typedef struct {
  guarded_array of[ARGUMENTS];
  size_t element_bytes[ARGUMENTS];
  char dtype[ARGUMENTS][8];
} arrays;

/* The same bytes in each run: halves and floats of every kind are among the sources. */
static void bind(const session *s, tj_launch *launch, arrays *all) {
  random_source random = random_begin(1);
  for (size_t a = 0; a < ARGUMENTS; a++) {
    const tj_argument *argument;
    expect_ok(s->context, tj_launch_argument(launch, a, &argument), s->of->name);
    all->element_bytes[a] = argument->element_bytes;
    snprintf(all->dtype[a], sizeof all->dtype[a], "%s", argument->dtype);
    all->of[a] = argument->is_read ? bind_random(s->context, launch, a, s->of->name, &random)
                                   : bind_guarded(s->context, launch, a, s->of->name);
  }
}

static void release(const session *s, arrays *all) {
  for (size_t a = 0; a < ARGUMENTS; a++)
    release_guarded(&all->of[a], s->of->name);
}

static arrays run_on(const session *s, tj_device *device, const char *text, bool is_fixed) {
  tj_program *program = read_program(s, text, is_fixed);
  tj_compile_options options = {NULL, tj_device_target(device)};
  tj_code *code;
  tj_launch *launch;
  arrays all;
  if (tj_code_compile(program, &options, &code) != TJ_OK || tj_launch_create(s->context, code, &launch) != TJ_OK)
    fail_with(s->context, text);
  for (size_t i = 0; i < 2 && !is_fixed; i++) {
    tj_status status = tj_launch_set_parameter(launch, s->size[i].name, s->size[i].value);
    ck_assert(status == TJ_OK || strcmp(s->of->source, "M:1") == 0);
  }
  bind(s, launch, &all);
  if (tj_launch_run(launch, device) != TJ_OK)
    fail_with(s->context, text);
  tj_launch_destroy(launch);
  tj_code_destroy(code);
  tj_program_destroy(program);
  return all;
}

/* --- the oracle --- */

static json_t *table_of(const session *s, const char *view) {
  char text[TEXT];
  snprintf(text, TEXT, PARAMETERS "; %s", view);
  tj_program *program = read_program(s, text, true);
  tj_blob blob;
  if (tj_program_table(program, TJ_TABLE_OBJECT, &blob) != TJ_OK)
    fail_with(s->context, text);
  json_t *table = json_loads(blob.data, 0, NULL);
  tj_blob_release(s->context, &blob);
  tj_program_destroy(program);
  return table;
}

static bool is_valid(json_t *table, size_t i) {
  json_t *valid = json_object_get(table, "valid");
  return valid == NULL || json_integer_value(json_array_get(valid, i)) == 1;
}

static size_t offset_at(json_t *table, size_t i) {
  return (size_t)json_integer_value(json_array_get(json_object_get(table, "values"), i));
}

/* Every element that has a source on both sides is the source's, bit by bit. */
static void check_tables(const session *s, const arrays *found) {
  json_t *source = table_of(s, s->of->source), *destination = table_of(s, s->of->destination);
  size_t bytes = found->element_bytes[0], count = json_array_size(json_object_get(source, "values"));
  ck_assert_uint_gt(count, 0);
  for (size_t i = 0; i < count; i++) {
    if (!is_valid(source, i) || !is_valid(destination, i))
      continue;
    size_t from = offset_at(source, i) * bytes, to = offset_at(destination, i) * bytes;
    ck_assert_msg(memcmp(found->of[0].data + from, found->of[1].data + to, bytes) == 0, "%s: coordinate %zu",
                  s->of->name, i);
  }
  json_decref(source);
  json_decref(destination);
}

/* --- runs --- */

static void compare(const session *s, const arrays *expected, const arrays *found, const char *how) {
  for (size_t a = 0; a < ARGUMENTS; a++) {
    const guarded_array *wanted = &expected->of[a], *is = &found->of[a];
    ck_assert_uint_eq(wanted->size, is->size);
    size_t bytes = expected->element_bytes[a];
    for (size_t i = 0; i < wanted->size; i += bytes)
      ck_assert_msg(is_same_element(expected->dtype[a], wanted->data + i, is->data + i, bytes),
                    "%s, M=%ld, N=%ld, %s: byte %zu of argument %zu is %02x, not %02x", s->of->name,
                    (long)s->size[0].value, (long)s->size[1].value, how, i, a, is->data[i], wanted->data[i]);
  }
}

/* The body without distributions: a plain copy with the same fill. */
static const char *plain_body(const tile_case *c) {
  return strstr(c->body, "fill=-7") != NULL  ? "copy(s, d, fill=-7)"
         : strstr(c->body, "fill=3") != NULL ? "copy(s, d, fill=3)"
                                             : "copy(s, d)";
}

static void check_size(const session *s, const char *tiles) {
  char plain[TEXT], tiled[TEXT];
  write_kernel(s, plain, tiles, plain_body(s->of));
  write_kernel(s, tiled, tiles, s->of->body);
  arrays expected = run_on(s, s->host, plain, true);
  for (int is_fixed = 0; is_fixed < 2; is_fixed++) {
    arrays found = run_on(s, s->device, tiled, is_fixed);
    compare(s, &expected, &found, is_fixed ? "fixed" : "passed");
    if (strcmp(s->of->from, s->of->to) == 0)
      check_tables(s, &found);
    release(s, &found);
  }
  release(s, &expected);
}

static bool takes_wave(const char *device, int wave) {
  bool has_64 = strncmp(device, "sim:gfx9", 8) == 0;
  return strcmp(device, "host") == 0 || has_64 == (wave == 64);
}

START_TEST(tiles_travel_as_distributions_say) {
  session s = {.of = &cases[_i], .context = new_context(NULL)};
  s.host = open_device(s.context, "host");
  s.device = open_device(s.context, tested_device());
  for (int w = 0; w < 2; w++) {
    for (int i = 0; i < MOST_SIZES && s.of->sizes[i][0] > 0; i++) {
      s.size[0] = (tj_parameter_value){"M", s.of->sizes[i][0]};
      s.size[1] = (tj_parameter_value){"N", s.of->sizes[i][1]};
      if (s.of->tiles[w] != NULL && takes_wave(tested_device(), w == 0 ? 64 : 32))
        check_size(&s, s.of->tiles[w]);
    }
  }
  tj_device_close(s.device);
  tj_device_close(s.host);
  tj_context_destroy(s.context);
}
END_TEST

int main(void) {
  return run_suite(suite_of_cases("distributed copy", tiles_travel_as_distributions_say, CASE_COUNT));
}
