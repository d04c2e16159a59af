/* SPDX-License-Identifier: MIT */
/* The mapping that --stop-after tiled prints, pasted into its program, gives the same code, byte for byte; where
 * there is none to print, the reason is what it has to be. A row for each family of kernels; nothing is passed over.
 */
#include "tests/unit/support/paste_support.h"

#define L "let L = ((8,32),4):((4@1,1@0),1@1)\n"
#define S "let S = ((8,32),4):((4@0,1@1),1@0)\n"
#define D                                                                                                            \
  "let D = distribution(hs=[[2, 4, 8], [8, 8]], ps_major=[[1], [1, 2]], ps_minor=[[1], [2, 0]], ys_major=[1, 2], "   \
  "ys_minor=[0, 1])\n"
#define TURN(rest) "kernel k(src: f32 @ (64,60):(64,1), dst: f32 @ (64,60):(1,64)) = copy(src, dst" rest ")"

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
    {"through a distribution",
     D "kernel k(src: f16 @ (128,128):(128,1), dst: f16 @ (128,128):(128,1)) = copy(src, dst, through=D)",
     {NULL, NULL}},
    {"shuffled",
     D "kernel k(src: f16 @ (128,128):(128,1), dst: f16 @ (128,128):(1,128)) = shuffle(src, dst, from=D, to=D)",
     {NULL, NULL}},
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

int main(void) {
  return run_suite(suite_of_cases("printed mappings", families_paste_back, sizeof rows / sizeof *rows));
}
