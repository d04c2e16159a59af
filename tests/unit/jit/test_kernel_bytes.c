/* SPDX-License-Identifier: MIT */
/* Kernels as bytes: what is written, read and written again is the same; and bytes that something has changed are
 * refused, or are a kernel that can be lowered. */
#include "jit/kernel/kernel_bytes.h"

#include "jit/compile/pipeline.h"
#include "launch/image/machine.h"
#include "launch/image/serial.h"
#include "tests/unit/support/harness.h"
#include "tests/unit/support/lowered_bytes.h"

#include <stdlib.h>
#include <string.h>

#define SHAPE "param M in 1..1048576, N in 32..131072 multiple 32; "
#define TURN "kernel k(src: f32 @ (M,N):(N,1), dst: f32 @ (M,N):(1,M)) = copy(src, dst)"
#define TURNED_BYTES "kernel k(src: u8 @ (96,75):(75,1), dst: u8 @ (96,75):(1,96)) = copy(src, dst)"
#define PADDED                                                                                                       \
  "let p = transform(packed((5,9)), [pad(5,1,1), pad(9,2,0)], [[0],[1]], [[0],[1]]); "                               \
  "kernel k(src: f32 @ p, dst: f32 @ packed((7,11))) = copy(src, dst)"

static const struct {
  const char *target, *text;
} rows[] = {
    {"gfx942", SHAPE TURN},
    {"gfx1201", SHAPE TURN},
    {"sm_90", SHAPE TURN},
    {"x86-64-v3", SHAPE TURN},
    {"gfx950", TURNED_BYTES},
    {"gfx942", TURNED_BYTES},
    {"x86-64-v3", TURNED_BYTES},
    {"x86-64-v3", "param M in 1..100, N in 1..1000; kernel k(src: b8 @ (10,M,N,12):(1,10,120,120000), "
                  "dst: b8 @ (10,M,N,12):(1,120000,120,10)) = copy(src, dst)"},
    {"gfx942", PADDED},
    {"x86-64-v3", PADDED},
    {"gfx950", "kernel k(src: f32 @ (1024,512):(512,1), dst: f32 @ (1024,512):(1,1024)) = copy(src, dst)"},
    {"gfx942", "kernel k(src: f32 @ (16,64):(64,1), dst: f32 @ (16,64):(1,16)) = "
               "copy(src, dst, mapping=mapping(load=((16,16),4):((4@1,1@0),1@1), "
               "store=((4,64),4):((4@0,1@1),1@0)))"},
    {"gfx942", "kernel k(src: f32 @ (3,44):(44,1), dst: f32 @ (3,44):(1,3)) = copy(src, dst, mapping=mapping(tile=("
               "3,44), load=(22,(2,3)):(2@1,(1@1,1@0)), store=((3,22),2):((1@0,1@1),22@1), lds=(3,44):(1,3)))"},
    {"gfx1250", "kernel k(s: f16 @ (100,84):(84,1), d: f16 @ (100,84):(1,100)) = copy(s, d, mapping=mapping(tile=("
                "64,64), store=((16,16),(4,4)):((4@0,1@1),(1@0,16@1)), lds=(64,64):(72,1), dma=1))"},
    {"gfx1250", "kernel k(s: f16 @ (100,84):(84,1), d: f16 @ (100,84):(1,100)) = copy(s, d, mapping=mapping(tile=("
                "64,64), load=((16,16),(4,4)):((4@1,1@0),(1@1,16@0)), lds=(64,64):(1,64), dma_store=1))"},
    {"gfx942", "kernel k(src: f16 @ (512,64):(64,1), idx: i32 @ 128:1, dst: f16 @ (128,64):(64,1)) = "
               "copy(src, dst, gather=[idx, 0])"},
    {"x86-64-v3", SHAPE "kernel k(src: f32 @ (M,N):(N,1), i: i32 @ N:1, dst: f32 @ (M,512):(512,1)) = "
                        "{ dst = src - max(abs(src), 1), scatter=[i, 1] }"},
    {"x86-64-v3", SHAPE "kernel k(src: f32 @ (M,N):(N,1), i: i32 @ N:1, dst: f32 @ (1,512):(512,1)) = "
                        "{ dst = sum(src, 0), scatter=[i, 1] }"},
    {"x86-64-v3", "kernel k(src: f16 @ (17,256):(256,1), i: u16 @ 17:1, dst: i8 @ (5,256):(256,1)) = "
                  "{ dst = src * 2, scatter=i }"},
    {"x86-64-v3",
     "kernel k(b: f32 @ (1,7):(0,1), x: f16 @ (5,7):(7,1), s: f32 @ (5,1):(1,0), y: f16 @ (5,7):(1,5)) = "
     "{ y = (x + b) * s }, mapping=mapping(tile=(8,8), load=(8,8):(1@1,1@0), store=(8,8):(1@0,1@1))"},
    {"gfx942", "kernel k(x: f32 @ (300,1):(1,1), s: f32 @ (300,1):(1,1)) = { s = sum(x, 1) }"},
    {"sm_90", "kernel k(src: f16 @ (200,136):(136,1), dst: f16 @ (200,136):(1,200)) = copy(src, dst, "
              "mapping=mapping(tile=(64,64), store=((8,8),(8,8)):((8@0,8@1),(1@0,1@1)), dma=1))"},
    {"gfx942", SHAPE "kernel k(x: bf16 @ (M, N):(N, 1), y: bf16 @ (M, N):(N, 1)) = { "
                     "let e = exp(x - max(x, 1)); y = e / sum(e, 1) }"},
    {"x86-64-v3", SHAPE "kernel k(x: f32 @ (M, N):(N, 1), y: f32 @ (M, N):(N, 1)) = { y = x / sum(x, 1) }"},
    {"gfx942", SHAPE "kernel k(x: bf16 @ (M, N):(N, 1), s: f32, q: f8e4m3fn @ (M, N):(N, 1), "
                     "t: f8e4m3fn @ (M, N):(1, M)) = { q = x * s; t = x * s }"},
    {"gfx942", SHAPE "kernel k(x: bf16 @ (M, N):(N, 1), s: f32 @ (1, 1):(0, 0), a: f16 @ (1, 1):(1, 1), "
                     "q: f8e4m3fn @ (M, N):(N, 1), t: f8e4m3fn @ (M, N):(1, M)) = { q = x / s; t = x * s + a }"},
    {"sm_90", SHAPE "kernel k(x: f32 @ (M, N):(N, 1), r: f32 @ (M, N):(N, 1), y: f32 @ (M, N):(1, M)) = { "
                    "y = x + r * 2 }"},
    {"gfx942", "kernel k(x: f32 @ (1, 1000000):(1000000, 1), s: f32 @ (1, 1):(1, 1)) = { s = sum(x) }"},
};

/* --- bytes of a program --- */

typedef struct {
  int row;
  tj_compilation compilation;
  unsigned random;
  unsigned maps, exchanges; /* that were forged */
} making;

static void compile(tj_job *job, void *data) {
  making *m = data;
  const char *text = rows[m->row].text;
  job->source = tj_source_of("test", text, strlen(text));
  tj_compilation *c = &m->compilation;
  c->graph = tj_graph_create(job);
  c->values = tj_pipeline_evaluate(c->graph, NULL, NULL, 0).values;
  c->options = (tj_compile_options){.target = rows[m->row].target};
  tj_pipeline_compile(c, TJ_EMIT_LLVM);
}

static bool same(tj_bytes a, tj_bytes b) {
  return a.size == b.size && memcmp(a.data, b.data, a.size) == 0;
}

static uint32_t count_of(tj_bytes bytes) {
  return tj_read_u32(&(tj_reader){.bytes = bytes});
}

/* --- whole --- */

static void read_again(tj_job *job, void *data) {
  const making *m = data;
  tj_bytes bytes = m->compilation.bytes;
  const tj_target *target = tj_target_parse(job, rows[m->row].target);
  tj_graph *graph = tj_graph_create(job);
  tj_kernel *all = tj_kernel_read(graph, target, bytes, TJ_ALL_VARIANTS);
  ck_assert_msg(same(tj_kernel_write(graph, all), bytes), "row %d changes on its way", m->row);
  const tj_kernel *each = all;
  for (uint32_t i = count_of(bytes); i-- > 0; each = each->faster) {
    tj_graph *other = tj_graph_create(job);
    tj_kernel *one = tj_kernel_read(other, target, bytes, i);
    ck_assert_str_eq(one->name, each->name);
    ck_assert_ptr_null(one->faster);
    tj_bytes alone = tj_kernel_write(other, one);
    ck_assert(memmem(bytes.data, bytes.size, (const char *)alone.data + 4, alone.size - 4) != NULL);
  }
  ck_assert_ptr_null(each);
}

/* --- changed --- */

static unsigned next(making *m) {
  m->random = m->random * 1664525u + 1013904223u;
  return m->random >> 8;
}

/* Lowers a copy of the bytes, some of them others; says whether it could. */
static bool lower_changed(making *m, size_t size, unsigned changes) {
  unsigned char *copy = malloc(size);
  memcpy(copy, m->compilation.bytes.data, size);
  for (unsigned i = 0; i < changes; i++)
    copy[next(m) % size] ^= (unsigned char)(1u << next(m) % 8);
  bool is_lowered = lower_bytes(rows[m->row].target, (tj_bytes){copy, size});
  free(copy);
  return is_lowered;
}

static void change(tj_job *job, void *data) {
  (void)job;
  enum { CHANGES = 300 };
  making *m = data;
  size_t size = m->compilation.bytes.size;
  unsigned refused = 0;
  ck_assert(lower_changed(m, size, 0));
  for (unsigned i = 0; i < CHANGES; i++)
    refused += !lower_changed(m, size, 1 + i % 2);
  ck_assert_uint_gt(refused, 0);
  for (unsigned i = 0; i < CHANGES / 10; i++)
    ck_assert(!lower_changed(m, next(m) % size, 0));
}

/* A tensor map whose boxes no driver would take, or whose barrier has no room in LDS. */
static void forge_map(tj_job *job, void *data) {
  making *m = data;
  const char *target = rows[m->row].target;
  tj_graph *graph = tj_graph_create(job);
  tj_kernel *kernel = tj_kernel_read(graph, tj_target_parse(job, target), m->compilation.bytes, TJ_ALL_VARIANTS);
  if (kernel->map == NULL)
    return;
  tj_box_map map = *kernel->map;
  kernel->map = &map;
  ck_assert(lower_bytes(target, tj_kernel_write(graph, kernel)));
#define REFUSED(place, wrong)                                                                                        \
  do {                                                                                                               \
    __typeof__(place) before = (place);                                                                              \
    (place) = (wrong);                                                                                               \
    ck_assert_msg(!lower_bytes(target, tj_kernel_write(graph, kernel)), "%s = %s is lowered", #place, #wrong);       \
    (place) = before;                                                                                                \
  } while (0)
  REFUSED(kernel->lds_elements, 0);
  REFUSED(kernel->lds_elements, 64);
  REFUSED(kernel->lds_elements, UINT32_MAX);
  REFUSED(map.barrier, map.barrier + 4);
  REFUSED(map.barrier, UINT32_MAX - 7);
  REFUSED(map.element_bytes, 3);
  REFUSED(map.box[0], 0);
  REFUSED(map.box[1], 257);
#undef REFUSED
  m->maps++;
}

/* What lanes exchange is an element each. */
static void forge_exchanges(tj_job *job, void *data) {
  making *m = data;
  const char *target = rows[m->row].target;
  tj_graph *graph = tj_graph_create(job);
  tj_kernel *kernel = tj_kernel_read(graph, tj_target_parse(job, target), m->compilation.bytes, TJ_ALL_VARIANTS);
  for (uint32_t i = 0; i < kernel->step_count; i++) {
    tj_kernel_step *step = (tj_kernel_step *)&kernel->step[i];
    if (step->kind != TJ_STEP_COMPUTE || step->compute->across == 0)
      continue;
    step->width = 4;
    ck_assert_msg(!lower_bytes(target, tj_kernel_write(graph, kernel)), "step %u is lowered", i);
    step->width = 1;
    m->exchanges++;
  }
}

/* --- tests --- */

static making with_bytes(int row, void (*body)(tj_job *job, void *data)) {
  tj_job job;
  tj_idle_codegens idle;
  tj_job_init(&job, NULL);
  tj_idle_codegens_init(&idle);
  making m = {.row = row, .random = (unsigned)row, .compilation = {.idle_codegens = &idle}};
  expect_success(&job, compile, &m);
  expect_success(&job, body, &m);
  tj_compilation_dispose(&m.compilation);
  tj_idle_codegens_close(&idle);
  tj_job_destroy(&job);
  return m;
}

START_TEST(kernels_are_what_was_written) {
  with_bytes(_i, read_again);
}
END_TEST

START_TEST(changed_bytes_are_refused_or_lowered) {
  with_bytes(_i, change);
}
END_TEST

enum { ROWS = sizeof rows / sizeof *rows };

START_TEST(forged_maps_are_refused) {
  unsigned maps = 0;
  for (int i = 0; i < ROWS; i++)
    if (strncmp(rows[i].target, "sm_", 3) == 0)
      maps += with_bytes(i, forge_map).maps;
  ck_assert_uint_eq(maps, 1);
}
END_TEST

START_TEST(forged_exchanges_of_vectors_are_refused) {
  unsigned exchanges = 0;
  for (int i = 0; i < ROWS; i++)
    if (strstr(rows[i].text, "sum(") != NULL)
      exchanges += with_bytes(i, forge_exchanges).exchanges;
  ck_assert_uint_gt(exchanges, 0);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("kernel_bytes");
  TCase *tcase = tcase_create("kernel_bytes");
  tcase_set_timeout(tcase, 120);
  tcase_add_loop_test(tcase, kernels_are_what_was_written, 0, ROWS);
  tcase_add_test(tcase, forged_maps_are_refused);
  tcase_add_test(tcase, forged_exchanges_of_vectors_are_refused);
  tcase_add_loop_test(tcase, changed_bytes_are_refused_or_lowered, 0, ROWS);
  suite_add_tcase(suite, tcase);
  return run_suite(suite);
}
