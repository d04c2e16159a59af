/* SPDX-License-Identifier: MIT */
/* Mappings of blocks and rows on the host, as one writes them by hand: each is taken as it is meant, whatever is
 * changed of it, and moves every element to where it belongs, wherever the destination begins. */
#include "bench/transpositions.h"
#include "tests/unit/support/guarded_array.h"
#include "tests/unit/support/paste_support.h"

typedef struct {
  const char *name;
  transposition shape;        /* the first mode is the source's contiguous one */
  const char *type, *mapping; /* NULL: lines_past_caches */
  const char *step;           /* that the last variant has */
} row;

#define SQUARE                                                                                                       \
  {                                                                                                                  \
    "10", {                                                                                                          \
      100, 70                                                                                                        \
    }                                                                                                                \
  }
#define LINES                                                                                                        \
  {                                                                                                                  \
    "10", {                                                                                                          \
      64, 96                                                                                                         \
    }                                                                                                                \
  }
#define STRIPES                                                                                                      \
  {                                                                                                                  \
    "021", {                                                                                                         \
      40, 6, 5                                                                                                       \
    }                                                                                                                \
  }

static const row rows[] = {
    {"blocks", SQUARE, "f16",
     "tile=(64,64), load=((4,2),(8,32,2)):((16@0,32@1),(1@0,1@1,8@0)), "
     "store=((4,2),(32,8,2)):((16@0,32@1),(1@1,1@0,8@0)), overlap=1",
     "= slots 0, 8 … 248\n"},
    {"narrower vectors", SQUARE, "f16",
     "tile=(32,32), load=((8,2),(4,16)):((4@0,16@1),(1@0,1@1)), store=((8,2),(16,4)):((4@0,16@1),(1@1,1@0)), "
     "overlap=1",
     "= slots 0, 4 … 60\n"},
    {"blocks that end beyond their tile", SQUARE, "f32",
     "tile=(40,70), load=((3,3),(16,32)):((16@0,32@1),(1@0,1@1)), store=((3,3),(32,16)):((16@0,32@1),(1@1,1@0)), "
     "overlap=1",
     "min(t%3*16,24)"},
    {"tiles in another order", SQUARE, "f32",
     "tile=(16,16), load=(4,(4,16)):(4@0,(1@0,1@1)), store=(4,(16,4)):(4@0,(1@1,1@0)), overlap=1, "
     "order=(5,7):(1@1,1@0)",
     "min(g%5*16,54)"},
    {"runs by way of LDS", SQUARE, "f16",
     "tile=(32,70), load=((2,3),(16,32)):((16@0,32@1),(1@0,1@1)), store=(32,70):(1@0,1@1), lds=(32,70):(96,1), "
     "overlap=1, stream=1",
     "on = from lds[t*96] on"},
    {"parts of runs, not past the caches", SQUARE, "b8",
     "tile=(100,64), load=((7,2),(16,32)):((16@0,32@1),(1@0,1@1)), store=(100,64):(1@0,1@1), lds=(100,64):(64,1), "
     "overlap=1",
     "run        64 elements from dst["},
    {"whole lines past the caches", LINES, "f32", NULL, "prefetch   src["},
    {"rows", STRIPES, "f32", "tile=(40,3,1), load=(3,40):(1@1,1@0), stream=1", "run        40 elements from dst["},
    {"pieces of rows", STRIPES, "f32", "tile=(16,6,2), load=((6,2),16):((1@1,1@2),1@0), overlap=(0,6,2)",
     "run        min(40 - (g/3*16),16) elements from dst["},
    {"vectors of rows", STRIPES, "f32", "tile=(40,2,1), load=((3,2),16):((16@0,1@1),1@0), overlap=1",
     "load       slots 0-15 = src["},
    {"blocks of three modes", STRIPES, "f32", "tile=(40,2,5), load=(5,(8,2,5)):(8@0,(1@0,1@1,1@2))",
     "load       slots 8-15 = src["},
    {"places in LDS by the tile's index", LINES, "f32",
     "tile=(16,32), load=((4,2),(4,16)):((4@0,16@1),(1@0,1@1)), store=(16,32):(1@0,1@1), lds=(32,16):(16,1)",
     "store      dst["},
    {"what is no block", SQUARE, "f32", "tile=(20,10), load=(20,10):(1@0,1@1), store=(20,10):(1@0,1@1)",
     "store      dst["},
};

static bool has_wide_vectors(void) {
#ifdef __x86_64__
  return __builtin_cpu_supports("avx512f");
#else
  return false;
#endif
}

/* Blocks of vectors of 32 bytes, and of 64, where those are. */
static const char *const lines_past_caches[] = {
    "tile=(16,16), load=(1,(4,8,4,2)):(0,(1@0,1@1,4@0,8@1)), store=(1,(8,4,4,2)):(0,(1@1,1@0,4@0,8@1)), stream=1",
    "tile=(16,16), load=(1,(4,16,4)):(0,(1@0,1@1,4@0)), store=(1,(16,4,4)):(0,(1@1,1@0,4@0)), stream=1"};

static const char *mapping_of(const row *r) {
  return r->mapping != NULL ? r->mapping : lines_past_caches[has_wide_vectors()];
}

static void check_elements(const row *r, const guarded_array *source, const guarded_array *destination) {
  size_t element_bytes = bytes_of_type(r->type);
  for (int64_t at = 0; at < transposition_size(&r->shape); at++) {
    element_places p = transposition_places(&r->shape, NULL, at);
    ck_assert_msg(memcmp(source->data + (size_t)p.source * element_bytes,
                         destination->data + (size_t)p.destination * element_bytes, element_bytes) == 0,
                  "%s: element %lld", r->name, (long long)at);
  }
}

/* Runs the code where the destination begins so many bytes after a line. */
static void run_at(tj_context *context, const row *r, tj_code *code, size_t begin) {
  random_source random = random_begin(begin);
  tj_device *device = open_device(context, "host");
  tj_launch *launch;
  expect_ok(context, tj_launch_create(context, code, &launch), r->name);
  guarded_array source = bind_random(context, launch, 0, r->name, &random);
  guarded_array destination = bind_guarded_at(context, launch, 1, begin, r->name);
  expect_ok(context, tj_launch_run(launch, device), r->name);
  check_elements(r, &source, &destination);
  tj_launch_destroy(launch);
  tj_device_close(device);
  release_guarded(&source, r->name);
  release_guarded(&destination, r->name);
}

START_TEST(mappings_are_taken) {
  const row *r = &rows[_i];
  char plain[TRANSPOSITION_TEXT], mapping[TRANSPOSITION_TEXT];
  tj_context *context = new_context(NULL);
  tj_compile_options options = {"transpose", "host"};
  tj_code *code;
  transposition_write(plain, &r->shape, NULL, r->type);
  snprintf(mapping, sizeof mapping, "mapping(%s)", mapping_of(r));
  pasted_program p = {.text = plain, .kernel = "transpose", .target = "host"};
  char *text = with_mapping(&p, mapping);
  tj_blob tiled = emitted(context, &p, text, TJ_EMIT_TILED);
  ck_assert_msg(strstr(tiled.data, r->step) != NULL, "%s: no step has \"%s\" in\n%.1000s", r->name, r->step,
                tiled.data);
  tj_blob_release(context, &tiled);
  tj_program *program = new_program(context, text, NULL, 0);
  expect_ok(context, tj_code_compile(program, &options, &code), text);
  run_at(context, r, code, 0);
  run_at(context, r, code, bytes_of_type(r->type));
  run_at(context, r, code, 48);
  tj_code_destroy(code);
  tj_program_destroy(program);
  tj_context_destroy(context);
  free(text);
}
END_TEST

/* --- extents of the launch --- */

/* A destination that need not begin where a line does, of columns that may be as short as the mapping's: the kernel
 * for others than that is chosen. */
static const char launched[] =
    "param M in 16..4096 multiple 16\n"
    "kernel k(src: b32 @ (M,64):(1,4096), dst: b32 @ (M,64):(1,4112)) = copy(src, dst, mapping=mapping(tile=(16,4), "
    "load=(4,16):(1@1,1@0), store=(4,16):(1@1,1@0), overlap=1, stream=1))";

static void launch_at(tj_context *context, tj_code *code, int64_t extent, size_t begin) {
  random_source random = random_begin(begin);
  tj_device *device = open_device(context, "host");
  tj_launch *launch;
  expect_ok(context, tj_launch_create(context, code, &launch), launched);
  expect_ok(context, tj_launch_set_parameter(launch, "M", extent), launched);
  guarded_array source = bind_random(context, launch, 0, launched, &random);
  guarded_array destination = bind_guarded_at(context, launch, 1, begin, launched);
  expect_ok(context, tj_launch_run(launch, device), launched);
  for (int64_t at = 0; at < 64 * extent; at++)
    ck_assert_mem_eq(destination.data + 4 * (at / extent * 4112 + at % extent),
                     source.data + 4 * (at / extent * 4096 + at % extent), 4);
  tj_launch_destroy(launch);
  tj_device_close(device);
  release_guarded(&source, launched);
  release_guarded(&destination, launched);
}

START_TEST(launches_have_mappings_of_their_own) {
  tj_context *context = new_context(NULL);
  tj_program *program = new_program(context, launched, NULL, 0);
  tj_code *code;
  expect_ok(context, tj_code_compile(program, &(tj_compile_options){"k", "host"}, &code), launched);
  for (int64_t extent = 16; extent <= 80; extent += 64) {
    launch_at(context, code, extent, 0);
    launch_at(context, code, extent, 4);
  }
  tj_code_destroy(code);
  tj_program_destroy(program);
  tj_context_destroy(context);
}
END_TEST

int main(void) {
  Suite *suite = suite_of_cases("mappings of the host", mappings_are_taken, sizeof rows / sizeof *rows);
  TCase *launches = tcase_create("launches");
  tcase_add_test(launches, launches_have_mappings_of_their_own);
  suite_add_tcase(suite, launches);
  return run_suite(suite);
}
