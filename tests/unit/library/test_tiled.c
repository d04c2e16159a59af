/* SPDX-License-Identifier: MIT */
/* The mapping that --stop-after tiled prints, pasted into its program, gives the same code, byte for byte; where
 * there is none to print, the reason is what it has to be. A row for each family of kernels; nothing is passed over.
 */
#include "bench/transpositions.h"
#include "tests/unit/support/paste_support.h"

#define L "let L = ((8,32),4):((4@1,1@0),1@1)\n"
#define S "let S = ((8,32),4):((4@0,1@1),1@0)\n"
#define D                                                                                                            \
  "let D = distribution(hs=[[2, 4, 8], [8, 8]], ps_major=[[1], [1, 2]], ps_minor=[[1], [2, 0]], ys_major=[1, 2], "   \
  "ys_minor=[0, 1])\n"
#define TURN(rest) "kernel k(src: f32 @ (64,60):(64,1), dst: f32 @ (64,60):(1,64)) = copy(src, dst" rest ")"

#define MATRICES "param M in 1..65536, N in 1..65536\n"
#define WINDOWS                                                                                                      \
  "param N in 1..64, H in 3..512, W in 1..512, C in 8..1024 multiple 8, sy in 1..4, dx in 1..4, py in 0..6\n"        \
  "let image = transform(packed((N,H,W,C)), [pass_through(N), pad(H,py,py), pad(W,1,1), pass_through(C)], "          \
  "[[0],[1],[2],[3]], [[0],[1],[2],[3]])\n"                                                                          \
  "let windows = transform(image, [pass_through(N), embed((3,(H-3)/sy+1),(1,sy)), embed((3,W),(dx,1)), "             \
  "pass_through(C)], [[0],[1],[2],[3]], [[0],[1,2],[3,4],[5]])\n"                                                    \
  "let rows = transform(windows, [merge(N,(H-3)/sy+1,W), merge(3,3,C)], [[0,2,4],[1,3,5]], [[0],[1]])\n"

static const char *const targets[] = {"gfx942", "host"};
enum { TARGETS = sizeof targets / sizeof *targets };

/* The reason that is expected on each target, or the beginning of it; NULL: a mapping is. */
typedef struct {
  const char *family, *text, *reason[TARGETS];
} row;

static const row rows[] = {
    /* one element a work-item, in the order of the destination */
    {"flat, modes of another shape",
     "kernel k(src: f32 @ ((4,8),16):((1,7),64), dst: f32 @ (32,16):(19,640)) = copy(src, dst)",
     {NULL, NULL}},
    {"flat, converting and scaling",
     "kernel k(src: i16 @ (30,7):(9,280), dst: f32 @ (30,7):(7,211)) = copy(src, dst, scale=0.5, bias=3)",
     {NULL, NULL}},
    {"flat, one element", "kernel k(src: f16 @ (1,1):(1,1), dst: f16 @ (1,1):(7,1)) = copy(src, dst)", {NULL, NULL}},
    {"flat, one mode", "kernel k(src: f16 @ 100:3, dst: f16 @ 100:5) = copy(src, dst)", {NULL, NULL}},
    {"flat, views with padding",
     "kernel k(src: f32 @ transform(packed((7,5)), [pad(7,1,2), pass_through(5)], [[0],[1]], [[0],[1]]), "
     "dst: f32 @ strided((10,5),(9,2))) = copy(src, dst, fill=7)",
     {NULL, NULL}},
    {"gather, rows",
     "kernel k(src: f16 @ (512,64):(64,1), idx: i32 @ 128:1, dst: f16 @ (128,64):(64,1)) = copy(src, dst, "
     "gather=[idx, 0])",
     {NULL, NULL}},
    {"gather, columns of nested modes",
     "kernel k(src: f16 @ (512,(8,8)):(64,(1,8)), idx: i32 @ 128:1, dst: f16 @ (128,(8,8)):(1,(128,1024))) = "
     "copy(src, dst, gather=[idx, 0])",
     {NULL, NULL}},
    /* mappings that are given */
    {"given, through LDS", L S TURN(", mapping=mapping(load=L, store=S, lds=(32,32):(33,1))"), {NULL, NULL}},
    {"given, LDS to be chosen", L S TURN(", mapping=mapping(load=L, store=S)"), {NULL, NULL}},
    {"given, moved back inside", L TURN(", mapping=mapping(load=L, overlap=1)"), {NULL, NULL}},
    {"given, modes turned around",
     L S TURN(", mapping=mapping(domain=(60,64):(1@1,1@0), load=L, store=S)"),
     {NULL, NULL}},
    {"given, modes taken together",
     "kernel k(src: f32 @ (8,6,10):(60,1,6), dst: f32 @ (8,6,10):(1,8,48)) = copy(src, dst, mapping=mapping("
     "domain=(8,(6,10)):(1@0,(1@1,1@2)), load=(64,4):(1@1,1@0)))",
     {NULL, NULL}},
    {"given, in an order of its own",
     L TURN(", mapping=mapping(tile=(32,32), load=L, order=(2,2):(1@0,1@1))"),
     {NULL, NULL}},
    {"given, beyond a table of which bits are taken",
     "kernel k(src: b8 @ transform(transform(packed((12,64)), [xor(64,12)], [[1,0]], [[0,1]]), "
     "[indexing(8, (1,6,10,11,2,3,4,9)), pass_through(64)], [[1],[0]], [[0],[1]]), dst: b8 @ (8,64):(1,8)) = "
     "copy(src, dst, mapping=mapping(tile=(32,32), load=((8,32),4):((4@1,1@0),1@1), "
     "store=((8,32),4):((4@0,1@1),1@0)))",
     {NULL, NULL}},
    {"through a distribution",
     D "kernel k(src: f16 @ (128,128):(128,1), dst: f16 @ (128,128):(128,1)) = copy(src, dst, through=D)",
     {NULL, NULL}},
    {"shuffled",
     D "kernel k(src: f16 @ (128,128):(128,1), dst: f16 @ (128,128):(1,128)) = shuffle(src, dst, from=D, to=D)",
     {NULL, NULL}},
    /* tiles that the compiler chooses */
    {"in registers", "kernel k(src: f32 @ (64,60):(60,1), dst: f32 @ (64,60):(64,1)) = copy(src, dst)", {NULL, NULL}},
    {"turned in LDS",
     "kernel k(src: f32 @ (608,608):(608,1), dst: f32 @ (608,608):(1,608)) = copy(src, dst)",
     {NULL, NULL}},
    {"ragged modes",
     "kernel k(src: f16 @ (98,75,3):(225,3,1), dst: f16 @ (98,75,3):(1,98,7350)) = copy(src, dst)",
     {NULL, NULL}},
    {"equal swizzles",
     "kernel k(src: f32 @ Sw<3,2,3> o 0 o (32,32):(32,1), dst: f32 @ Sw<3,2,3> o 0 o (32,32):(32,1)) = copy(src, "
     "dst)",
     {NULL, NULL}},
    {"into a swizzled tensor",
     "kernel k(src: f16 @ (64,64):(64,1), dst: f16 @ Sw<3,3,3> o 0 o (64,64):(64,1)) = copy(src, dst)",
     {NULL, NULL}},
    {"from a swizzled tensor, turned",
     "kernel k(src: f16 @ Sw<3,3,3> o 0 o (64,64):(64,1), dst: f16 @ (64,64):(1,64)) = copy(src, dst)",
     {NULL, NULL}},
    {"im2col",
     "let image = transform(packed((2,18,18,8)), [pass_through(2), embed((3,16),(1,1)), embed((3,16),(1,1)), "
     "pass_through(8)], [[0],[1],[2],[3]], [[0],[1,2],[3,4],[5]])\n"
     "let columns = transform(image, [merge(2,16,16), merge(3,3,8)], [[0,2,4],[1,3,5]], [[0],[1]])\n"
     "kernel k(src: f16 @ columns, dst: f16 @ packed((512,72))) = copy(src, dst)",
     {NULL, NULL}},
    {"preshuffle",
     "let shuffled = transform(packed((8,2,4,16,16)), [merge(8,16), merge(2,4,16)], [[0,3],[1,2,4]], [[0],[1]])\n"
     "kernel k(src: b8 @ packed((128,128)), dst: b8 @ shuffled) = copy(src, dst)",
     {NULL, NULL}},
    {"a statement",
     "kernel k(src: f16 @ (608,96):(96,1), a: f32, dst: f8e4m3fn @ (608,96):(1,608)) = { dst = maximum(src * a, 0) }",
     {NULL, NULL}},
    {"a statement of several sources",
     "kernel k(src: f16 @ (512,96):(96,1), b: f32 @ (512,96):(1,512), w: f16 @ (1,96):(0,1), "
     "dst: f16 @ (512,96):(1,512)) = { dst = src * w + b }",
     {NULL, "none: "}},
    {"a statement, in rows",
     "kernel k(src: f16 @ (60,96):(96,1), dst: f32 @ (60,96):(96,1)) = { dst = exp(src) }",
     {NULL, NULL}},
    /* rows of arrays, which no mapping shares out on the host */
    {"rows",
     "kernel k(src: f16 @ (60,96):(96,1), dst: f16 @ (60,96):(96,1)) = { dst = src / sum(src, 1) }",
     {NULL, "none: "}},
    {"rows in loops",
     "kernel k(src: f32 @ (300,40000):(40000,1), dst: f32 @ (300,40000):(40000,1)) = { dst = exp(src - max(src, 1)) "
     "}",
     {NULL, "none: "}},
    {"columns, of several modes",
     "kernel k(src: f32 @ (10,6,96):(576,96,1), dst: f32 @ (1,6,96):(0,96,1)) = { dst = sum(src, 0) }",
     {NULL, "none: "}},
    {"one row", "kernel k(src: f32 @ 1000:1, dst: f32 @ 1000:1) = { dst = src - mean(src) }", {NULL, "none: "}},
    {"elements by their places",
     "kernel k(src: f32 @ (60,96):(96,1), dst: f32 @ (60,96):(96,1)) = { dst = src * index(1) }",
     {NULL, "none: "}},
    {"rows that are gathered",
     "kernel k(t: f16 @ (500,96):(96,1), i: i32 @ 60:1, dst: f16 @ (60,96):(96,1)) = { dst = gather(t, i) }",
     {NULL, "none: "}},
    /* what no mapping says */
    {"offsets",
     "kernel k(dst: i32 @ 64:1) = offsets(dst, (8,8):(9,1))",
     {"none: work-items compute", "none: work-items compute"}},
};

START_TEST(families_paste_back) {
  const row *r = &rows[_i];
  tj_context *context = new_context(NULL);
  for (size_t t = 0; t < TARGETS; t++) {
    char *reason;
    pasted_program p = {.text = r->text, .kernel = "k", .target = targets[t]};
    bool is_printed = pastes_back(context, &p, t == 0 ? TJ_EMIT_HSACO : TJ_EMIT_LLVM, &reason);
    ck_assert_msg(is_printed == (r->reason[t] == NULL), "%s on %s: %s", r->family, targets[t], reason);
    ck_assert_msg(is_printed || strstr(reason, r->reason[t]) == reason, "%s on %s: %s", r->family, targets[t],
                  reason);
    free(reason);
  }
  tj_context_destroy(context);
}
END_TEST

/* Small forms with the alignments of the full ones. Code objects are compared of some, of all the LLVM IR. */
START_TEST(transpositions_paste_back) {
  static const char *const types[] = {"f32", "f16"};
  enum { ELEMENTS = 300000, EACH = 19 };
  tj_context *context = new_context(NULL);
  for (int i = 0; i < TRANSPOSITION_COUNT; i++) {
    transposition t = transposition_shrunken(&transpositions[i], ELEMENTS);
    char text[TRANSPOSITION_TEXT], *reason;
    transposition_write(text, &t, NULL, types[_i]);
    pasted_program p = {.text = text, .kernel = "transpose", .target = "gfx942"};
    ck_assert_msg(pastes_back(context, &p, i % EACH == 0 ? TJ_EMIT_HSACO : TJ_EMIT_LLVM, &reason), "%s", reason);
  }
  tj_context_destroy(context);
}
END_TEST

/* Tiles of which the launch chooses items and slots. */
static const struct {
  const char *family, *text;
} launched[] = {
    {"shapes of the launch, in registers",
     MATRICES "kernel k(src: f32 @ (M,N):(N,1), dst: f32 @ (M,N):(N+8,1)) = copy(src, dst)"},
    {"shapes of the launch, turned",
     MATRICES "kernel k(src: b8 @ (M,N):(N,1), dst: b8 @ (M,N):(1,M)) = copy(src, dst)"},
    {"steps of the launch, known extents",
     MATRICES "kernel k(src: f16 @ (64,96,5):(1,M,M*96), dst: f16 @ (64,96,5):(N,1,N*64)) = copy(src, dst)"},
    {"shapes of the launch, other types",
     MATRICES "kernel k(src: f16 @ (M,N):(N,1), dst: f32 @ (M,N):(1,M)) = copy(src, dst, scale=2)"},
    {"shapes of the launch, a statement",
     MATRICES "kernel k(src: f16 @ (M,N):(N,1), a: f32, dst: f32 @ (M,N):(1,M)) = { dst = tanh(src) * a / N }"},
    {"shapes of the launch, a statement of several sources", MATRICES
     "kernel k(src: f32 @ (M,N):(N,1), b: f16 @ (M,N):(1,M), w: f16 @ (1,N):(0,1), dst: f16 @ (M,N):(1,M)) = "
     "{ dst = src * w + b }"},
    {"shapes of the launch, vectors of one element",
     MATRICES "kernel k(src: b128 @ (M,N,9):(N*9,9,1), dst: b128 @ (M,N,9):(1,M,M*N)) = copy(src, dst)"},
    {"windows of the launch",
     WINDOWS "kernel k(src: f16 @ rows, dst: f16 @ packed((N*((H-3)/sy+1)*W,9*C))) = copy(src, dst)"},
    {"a padded image of the launch",
     "param H in 1..512, W in 1..512, C in 8..64, p in 0..7\n"
     "let v = transform(packed((H,W,C)), [pad(H,p,p), pass_through(W), pass_through(C)], [[0],[1],[2]], "
     "[[0],[1],[2]])\nkernel k(src: f16 @ v, dst: f16 @ packed((H+p+p,W,C))) = copy(src, dst)"},
    {"rows of the launch, padded along vectors",
     MATRICES "let v = transform(packed((M,N)), [pass_through(M), right_pad(N,8)], [[0],[1]], [[0],[1]])\n"
              "kernel k(src: f16 @ v, dst: f16 @ packed((M,N+8))) = copy(src, dst)"},
    {"padded by no whole vectors, and transposed",
     MATRICES "let v = transform(packed((M,N)), [pad(M,1,1), pad(N,1,1)], [[0],[1]], [[0],[1]])\n"
              "kernel k(src: f16 @ v, dst: f16 @ (M+2,N+2):(1,M+2)) = copy(src, dst)"},
    {"preshuffle of the launch",
     "param n in 1..4096, k in 1..1024\n"
     "let shuffled = transform(packed((n,k,4,16,16)), [merge(n,16), merge(k,4,16)], [[0,3],[1,2,4]], [[0],[1]])\n"
     "kernel k(src: b8 @ packed((n*16,k*64)), dst: b8 @ shuffled) = copy(src, dst)"},
};

/* The mapping that is taken last; where a launch takes one of several, for its price or as masks allow, each that the
 * launch chooses. */
static void launched_paste_back(tj_context *context, const pasted_program *p, tj_emit stage) {
  char *reason;
  tj_blob tiled = emitted(context, p, p->text, TJ_EMIT_TILED);
  static const char *const several[] = {".staged", ".scalars", ".elements", ".coarse"};
  bool is_one = true;
  for (size_t i = 0; i < sizeof several / sizeof *several; i++)
    is_one = is_one && strstr(tiled.data, several[i]) == NULL;
  if (is_one)
    ck_assert_msg(pastes_back(context, p, stage, &reason), "%s", reason);
  for (const char *begin = tiled.data, *next; !is_one && begin != NULL; begin = next) {
    char *variant = variant_from(begin, &next);
    if (strstr(variant, "items(") != NULL)
      variant_pastes_back(context, p, variant, false);
    free(variant);
  }
  tj_blob_release(context, &tiled);
}

START_TEST(launched_families_paste_back) {
  static const char *const machines[] = {"gfx942", "gfx1100", "sm_90"};
  tj_context *context = new_context(NULL);
  for (size_t t = 0; t < sizeof machines / sizeof *machines; t++) {
    pasted_program p = {.text = launched[_i].text, .kernel = "k", .target = machines[t]};
    char *mapping = printed_mapping(context, &p);
    ck_assert_msg(strstr(mapping, "items(") != NULL, "%s: %s", launched[_i].family, mapping);
    launched_paste_back(context, &p, t == 0 ? TJ_EMIT_HSACO : TJ_EMIT_LLVM);
    free(mapping);
  }
  tj_context_destroy(context);
}
END_TEST

/* Extents of the launch: of each permutation the first. */
START_TEST(launches_paste_back) {
  static const char *const types[] = {"f32", "f16"};
  enum { HEADROOM = 4, SKEWS = 3 };
  tj_context *context = new_context(NULL);
  for (int i = 0; i < TRANSPOSITION_COUNT; i += SKEWS) {
    char text[TRANSPOSITION_TEXT];
    transposition_write_dynamic(text, &transpositions[i], NULL, types[_i], HEADROOM);
    pasted_program p = {.text = text, .kernel = "transpose", .target = "gfx942"};
    launched_paste_back(context, &p, TJ_EMIT_LLVM);
  }
  tj_context_destroy(context);
}
END_TEST

/* All variants that the host has of them; every third, where their extents are parameters. */
START_TEST(host_variants_paste_back) {
  static const char *const types[] = {"f32", "f16"};
  enum { EACH = 3 };
  tj_context *context = new_context(NULL);
  for (int i = 0; i < TRANSPOSITION_COUNT; i++) {
    const transposition *t = &transpositions[i];
    char text[TRANSPOSITION_TEXT];
    pasted_program p = {.text = text, .kernel = "transpose", .target = "host"};
    transposition_write(text, t, NULL, types[_i]);
    ck_assert_int_eq(variants_paste_back(context, &p, false), 0);
    if (i % EACH != 0)
      continue;
    transposition_write_dynamic(text, t, NULL, types[_i], 0);
    ck_assert_int_eq(variants_paste_back(context, &p, true), 0);
  }
  tj_context_destroy(context);
}
END_TEST

/* Rows of which the launch alone knows how many make a tile; one row, of any length. */
START_TEST(rows_of_launches_paste_back) {
  static const char *const texts[] = {
      "param M in 1..4096, N in 1..4096, S in 1..8192\n"
      "kernel k(src: f32 @ (N,M):(1,S), dst: f32 @ (N,M):(1,N)) = copy(src, dst)",
      "param N in 1..16777216\nkernel k(src: f32 @ (N):(1), dst: f32 @ (N):(1)) = copy(src, dst)",
      "param A in 1..512, B in 1..512, C in 1..64\n"
      "kernel k(src: u8 @ (C,A,B):(1,C,A*C), dst: u8 @ (C,A,B):(1,B*C,C)) = copy(src, dst)"};
  tj_context *context = new_context(NULL);
  pasted_program p = {.text = texts[_i], .kernel = "k", .target = "host"};
  ck_assert_int_eq(variants_paste_back(context, &p, true), 0);
  tj_context_destroy(context);
}
END_TEST

/* Whatever a program compiled before it. */
START_TEST(last_of_many_is_as_alone) {
  enum { MANY = 100, TEXT = MANY * 160 };
  static const char last[] =
      "kernel k(src: f16 @ (96,3,96,4):(1152,384,4,1), dst: f16 @ (96,3,96,4):(1,96,1152,288)) "
      "= copy(src, dst)\n";
  char *text = malloc(TEXT);
  size_t length = 0;
  for (int i = 1; i < MANY; i++)
    length += (size_t)snprintf(text + length, TEXT - length,
                               "kernel k%d(src: f16 @ (%d,96):(96,1), dst: f16 @ (%d,96):(1,%d)) = copy(src, dst)\n",
                               i, 90 + i, 90 + i, 90 + i);
  snprintf(text + length, TEXT - length, "%s", last);
  tj_context *context = new_context(NULL);
  tj_program *program = new_program(context, text, NULL, 0);
  for (int i = 1; i < MANY; i += 2) {
    char name[8];
    tj_blob made;
    snprintf(name, sizeof name, "k%d", i);
    tj_compile_options options = {name, "gfx942"};
    expect_ok(context, tj_program_emit(program, &options, TJ_EMIT_TILED, &made), name);
    tj_blob_release(context, &made);
  }
  tj_compile_options options = {"k", "gfx942"};
  tj_blob in_program, alone;
  expect_ok(context, tj_program_emit(program, &options, TJ_EMIT_LLVM, &in_program), "k");
  alone = emitted(context, &(pasted_program){.kernel = "k", .target = "gfx942"}, last, TJ_EMIT_LLVM);
  ck_assert_uint_eq(in_program.size, alone.size);
  ck_assert_mem_eq(in_program.data, alone.data, alone.size);
  tj_blob_release(context, &in_program);
  tj_blob_release(context, &alone);
  tj_program_destroy(program);
  tj_context_destroy(context);
  free(text);
}
END_TEST

int main(void) {
  Suite *suite = suite_of_cases("printed mappings", families_paste_back, sizeof rows / sizeof *rows);
  TCase *more = tcase_create("more");
  tcase_set_timeout(more, 300);
  tcase_add_loop_test(more, transpositions_paste_back, 0, 2);
  tcase_add_loop_test(more, launched_families_paste_back, 0, sizeof launched / sizeof *launched);
  tcase_add_loop_test(more, launches_paste_back, 0, 2);
  tcase_add_loop_test(more, host_variants_paste_back, 0, 2);
  tcase_add_loop_test(more, rows_of_launches_paste_back, 0, 3);
  tcase_add_test(more, last_of_many_is_as_alone);
  suite_add_tcase(suite, more);
  return run_suite(suite);
}
