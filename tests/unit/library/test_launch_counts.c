/* SPDX-License-Identifier: MIT */
/* What copies of merged and padded views cost on a simulated GPU, with their parameters fixed and with all of them
 * passed at launch, held against limits: instructions, and cache lines, of launches to those of fixed ones. Both move
 * the same bytes. Counts, no time: they are the same on every machine. A limit is to be lowered whenever a mapping
 * gets better. */
#include "tests/unit/support/library_support.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum { PARAMETERS = 24, ARGUMENTS = 2 };

typedef struct {
  const char *name, *text;
  tj_parameter_value parameter[PARAMETERS]; /* up to one without a name */
  struct {
    double fixed_lines;     /* of fixed parameters, to the least */
    uint64_t fixed, passed; /* instructions of VALU and SALU and branches, of fixed and of passed parameters */
    uint64_t valu;          /* of passed ones */
    uint64_t branches;      /* of fixed ones */
    double lines;           /* of passed ones, to fixed ones */
    uint64_t gated_fixed, gated_passed; /* instructions where branches mask accesses, of which resources leave 0.7 at
                                           most; 0: nothing is masked */
  } most;
} row;

#define BLOCKS "param n in 1..4096, k in 1..1024\n"
#define BLOCK_SOURCE "src: b8 @ packed((n*16, k*64))"

#define PADS "param M in 1..4096, N in 1..4096, p in 0..64, q in 0..64\n"
#define PADDED_TURN                                                                                                  \
  "let padded = transform(packed((M,N)), [pad(M,p,q), pad(N,p,q)], [[0],[1]], [[0],[1]])\n"                          \
  "kernel k(src: f16 @ padded, dst: f16 @ (M+p+q,N+p+q):(1,M+p+q)) = copy(src, dst)"

#define WINDOWS                                                                                                      \
  "param G in 1..8, N in 1..64, H in 1..512, W in 1..512, C in 8..1024 multiple 8, Y in 1..7, X in 1..7, "           \
  "Ho in 1..512, Wo in 1..512, sN in 1..268435456 multiple 8, sH in 1..1048576 multiple 8, "                         \
  "sW in 8..8192 multiple 8, sG in 0..1024 multiple 8, sy in 1..4, sx in 1..4, dy in 1..4, dx in 1..4, "             \
  "py in 0..6, px in 0..6, qy in 0..6, qx in 0..6\n"                                                                 \
  "let image = strided((G,N,H,W,C), (sG,sN,sH,sW,1))\n"                                                              \
  "let padded = transform(image, [pass_through(G), pass_through(N), pad(H,py,qy), pad(W,px,qx), pass_through(C)], "  \
  "[[0],[1],[2],[3],[4]], [[0],[1],[2],[3],[4]])\n"                                                                  \
  "let windows = transform(padded, [pass_through(G), pass_through(N), embed((Y,Ho),(dy,sy)), "                       \
  "embed((X,Wo),(dx,sx)), "                                                                                          \
  "pass_through(C)], [[0],[1],[2],[3],[4]], [[0],[1],[2,3],[4,5],[6]])\n"                                            \
  "let rows = transform(windows, [pass_through(G), merge(N,Ho,Wo), merge(Y,X,C)], [[0],[1,3,5],[2,4,6]], "           \
  "[[0],[1],[2]])\n"

/* Of a window of taps × taps pixels, `apart` from one another, at each pixel, or at each second one, of so many
 * images, which are square, with pads of `edge`: `size` pixels, `out` windows. */
#define TAPS(count, size, channels, step, out, taps, apart, edge)                                                    \
  {                                                                                                                  \
    {"G", 1}, {"N", count}, {"H", size}, {"W", size}, {"C", channels}, {"Y", taps}, {"X", taps}, {"Ho", out},        \
        {"Wo", out}, {"sN", (size) * (size) * (channels)}, {"sH", (size) * (channels)}, {"sW", channels}, {"sG", 0}, \
        {"sy", step}, {"sx", step}, {"dy", apart}, {"dx", apart}, {"py", edge}, {"px", edge}, {"qy", edge}, {        \
      "qx", edge                                                                                                     \
    }                                                                                                                \
  }
#define PIXELS(count, size, channels, step, out) TAPS(count, size, channels, step, out, 3, 1, 1)
#define COLUMNS WINDOWS "kernel k(src: f16 @ rows, dst: f16 @ packed((G,N*Ho*Wo,Y*X*C))) = copy(src, dst)"

#define COLUMNS_THROUGH                                                                                              \
  WINDOWS                                                                                                            \
  "let D = distribution(rs=[1], hs=[[1],[2,8,4],[2,8,8]], ps_major=[[2,3],[2,3]], ps_minor=[[0,0],[1,1]], "          \
  "ys_major=[1,2,3], ys_minor=[0,2,2])\n"                                                                            \
  "kernel k(src: f16 @ rows, dst: f16 @ packed((G,N*Ho*Wo,Y*X*C))) = copy(src, dst, through=D)"

static const row rows[] = {
    {"a weight preshuffle, merged",
     BLOCKS "let shuffled = transform(packed((n,k,4,16,16)), [merge(n,16), merge(k,4,16)], [[0,3],[1,2,4]], "
            "[[0],[1]])\nkernel k(" BLOCK_SOURCE ", dst: b8 @ shuffled) = copy(src, dst)",
     {{"n", 32}, {"k", 64}},
     {1.0, 19968, 20736, 2816, 0, 1.0, 0, 0}},
    {"its source unmerged",
     BLOCKS
     "let blocks = transform(packed((n*16,k*64)), [unmerge(n,16), unmerge(k,4,16)], [[0],[1]], [[0,3],[1,2,4]])\n"
     "kernel k(src: b8 @ blocks, dst: b8 @ packed((n,k,4,16,16))) = copy(src, dst)",
     {{"n", 32}, {"k", 64}},
     {1.0, 19968, 20736, 2816, 0, 1.0, 0, 0}},
    {"blocks of odd numbers",
     BLOCKS "let shuffled = transform(packed((n,k,4,16,16)), [merge(n,16), merge(k,4,16)], [[0,3],[1,2,4]], "
            "[[0],[1]])\nkernel k(" BLOCK_SOURCE ", dst: b8 @ shuffled) = copy(src, dst)",
     {{"n", 33}, {"k", 31}},
     {1.02, 13728, 10692, 1452, 264, 1.66, 0, 0}},
    {"pixels apart, through a distribution",
     "param H in 1..512, W in 1..512, C in 8..1024 multiple 8\n"
     "let D = distribution(hs=[[2,8,4],[2,8,8]], ps_major=[[1,2],[1,2]], ps_minor=[[0,0],[1,1]], ys_major=[1,2], "
     "ys_minor=[2,2])\n"
     "let rows = transform(strided((H,W,C),(W*C+64,C+8,1)), [pass_through(H), merge(W,C)], [[0],[1,2]], [[0],[1]])\n"
     "kernel k(src: f16 @ rows, dst: f16 @ packed((H,W*C))) = copy(src, dst, through=D)",
     {{"H", 32}, {"W", 32}, {"C", 64}},
     {1.44, 1984, 5440, 2944, 0, 1.0, 0, 0}},
    {"a given mapping, of fewer modes and narrower vectors",
     "param A in 1..1024, B in 1..1024, C in 1..1024\n"
     "kernel k(src: f32 @ (A,B,C):(1,A,A*B), dst: f32 @ (A,B,C):(B*C,C,1)) = copy(src, dst, mapping=mapping("
     "tile=(8*items(0),1,16*items(2)), load=((2,(4,items(0)),items(2)),(2,8)):((1@2,(2@0,8@0),16@2),(1@0,2@2)), "
     "store=((8,items(2),items(0)),(2,8)):((2@2,16@2,8@0),(1@2,1@0)), overlap=1))",
     {{"A", 75}, {"B", 7}, {"C", 130}},
     {1.74, 10164, 11592, 4620, 168, 1.0, 0, 0}},
    {"a padded image, contiguous without its pads",
     "param H in 1..512, W in 1..512, C in 8..1024 multiple 8, p in 0..6\n"
     "let padded = transform(packed((H,W,C)), [pad(H,p,p), pass_through(W), pass_through(C)], [[0],[1],[2]], "
     "[[0],[1],[2]])\nkernel k(src: f16 @ padded, dst: f16 @ packed((H+p+p,W,C))) = copy(src, dst)",
     {{"H", 56}, {"W", 56}, {"C", 64}, {"p", 2}},
     {1.0, 1316, 5056, 224, 0, 1.0, 32928, 13888}},
    {"an image padded on all sides",
     "param H in 1..512, W in 1..512, C in 8..1024 multiple 8, p in 0..6\n"
     "let padded = transform(packed((H,W,C)), [pad(H,p,p), pad(W,p,p), pass_through(C)], [[0],[1],[2]], "
     "[[0],[1],[2]])\nkernel k(src: f16 @ padded, dst: f16 @ packed((H+p+p,W+p+p,C))) = copy(src, dst)",
     {{"H", 56}, {"W", 56}, {"C", 64}, {"p", 2}},
     {1.0, 1740, 5824, 352, 0, 1.0, 4140, 18744}},
    {"rows that are padded to an odd length",
     "param M in 1..4096, N in 1..4096\nlet padded = transform(packed((M,N)), [right_pad(M,7), right_pad(N,5)], "
     "[[0],[1]], [[0],[1]])\nkernel k(src: f32 @ padded, dst: f32 @ packed((M+7,N+5))) = copy(src, dst)",
     {{"M", 1000}, {"N", 777}},
     {1.25, 154000, 166320, 129360, 0, 1.0, 245943, 282864}},
    {"rows that are padded by whole vectors",
     PADS "let padded = transform(packed((M,N)), [pass_through(M), right_pad(N,p)], [[0],[1]], [[0],[1]])\n"
          "kernel k(src: f32 @ padded, dst: f32 @ packed((M,N+p))) = copy(src, dst)",
     {{"M", 256}, {"N", 256}, {"p", 32}, {"q", 0}},
     {1.0, 738, 4312, 1276, 0, 1.16, 0, 0}},
    {"the same kernel, padded by parts of vectors",
     PADS "let padded = transform(packed((M,N)), [pass_through(M), right_pad(N,p)], [[0],[1]], [[0],[1]])\n"
          "kernel k(src: f32 @ padded, dst: f32 @ packed((M,N+p))) = copy(src, dst)",
     {{"M", 256}, {"N", 257}, {"p", 30}, {"q", 0}},
     {1.19, 11232, 19584, 15264, 0, 1.0, 0, 0}},
    {"a matrix that is padded by whole vectors, and transposed",
     PADS PADDED_TURN,
     {{"M", 256}, {"N", 320}, {"p", 16}, {"q", 24}},
     {1.37, 2160, 10472, 4624, 0, 0.89, 0, 0}},
    {"by parts of vectors",
     PADS PADDED_TURN,
     {{"M", 253}, {"N", 317}, {"p", 3}, {"q", 5}},
     {1.53, 4636, 41352, 13288, 160, 2.28, 0, 0}},
    {"bytes that turn around",
     "param M in 1..65536, N in 1..65536\nkernel k(src: u8 @ (M,N):(N,1), dst: u8 @ (M,N):(1,M)) = copy(src, dst)",
     {{"M", 576}, {"N", 528}},
     {1.41, 7047, 7641, 4917, 180, 1.08, 0, 0}},
    {"windows of an image of planes",
     "param H in 1..1024, W in 1..1024\nlet image = packed((4, H, W))\n"
     "let padded = transform(image, [pass_through(4), pad(H, 1, 1), pad(W, 1, 1)], [[0], [1], [2]], [[0], [1], "
     "[2]])\n"
     "let windows = transform(padded, [pass_through(4), embed((3, H), (1, 1)), embed((3, W), (1, 1))], "
     "[[0], [1], [2]], [[0], [1, 2], [3, 4]])\n"
     "let matrix = transform(windows, [merge(H, W), merge(4, 3, 3)], [[2, 4], [0, 1, 3]], [[0], [1]])\n"
     "kernel k(src: f16 @ matrix, dst: f16 @ packed((H * W, 4 * 9))) = copy(src, dst)",
     {{"H", 56}, {"W", 56}},
     {5.98, 26460, 36603, 29988, 0, 1.0, 47628, 70560}},
    {"windows of an image", COLUMNS, PIXELS(1, 56, 64, 1, 56), {1.0, 15120, 72576, 4032, 0, 0.83, 37800, 165984}},
    {"of a smaller one", COLUMNS, PIXELS(1, 28, 64, 1, 28), {1.0, 4032, 18144, 1008, 0, 0.83, 0, 0}},
    {"of more channels", COLUMNS, PIXELS(1, 28, 128, 1, 28), {1.0, 7560, 36288, 2016, 0, 0.93, 0, 0}},
    {"of fewer channels", COLUMNS, PIXELS(1, 28, 32, 1, 28), {1.08, 1664, 9108, 516, 0, 1.02, 0, 0}},
    {"of several images", COLUMNS, PIXELS(4, 14, 64, 1, 14), {1.0, 3200, 18216, 1032, 0, 0.77, 0, 0}},
    {"of several images of few channels", COLUMNS, PIXELS(4, 14, 8, 1, 14), {1.21, 924, 2128, 272, 0, 0.99, 0, 0}},
    {"of few channels", COLUMNS, PIXELS(1, 28, 8, 1, 28), {1.21, 1113, 2104, 264, 0, 0.96, 0, 0}},
    {"of twice as many", COLUMNS, PIXELS(1, 28, 16, 1, 28), {1.21, 2296, 4208, 528, 0, 0.97, 0, 0}},
    {"at each second pixel", COLUMNS, PIXELS(1, 28, 64, 2, 14), {1.0, 752, 4554, 258, 0, 0.88, 0, 0}},
    {"of more channels at each second pixel",
     COLUMNS,
     PIXELS(1, 28, 128, 2, 14),
     {1.0, 1760, 9072, 504, 0, 0.97, 0, 0}},
    {"of channels that are no power of two",
     COLUMNS,
     PIXELS(1, 28, 24, 1, 28),
     {1.21, 1272, 6048, 336, 0, 1.21, 0, 0}},
    {"of many channels", COLUMNS, PIXELS(1, 14, 256, 1, 14), {1.0, 4224, 15939, 903, 0, 1.0, 0, 0}},
    {"of pixels that are apart", COLUMNS, TAPS(1, 28, 64, 1, 28, 3, 2, 2), {1.0, 3717, 18144, 1008, 0, 0.97, 0, 0}},
    {"of a smaller image's single pixels",
     COLUMNS,
     TAPS(1, 28, 64, 1, 28, 1, 1, 0),
     {1.0, 98, 2016, 112, 0, 1.0, 0, 0}},
    {"of single pixels", COLUMNS, TAPS(1, 56, 64, 1, 56, 1, 1, 0), {1.0, 448, 8064, 448, 0, 1.0, 0, 0}},
    {"of many channels at each second pixel",
     COLUMNS,
     PIXELS(1, 14, 256, 2, 7),
     {1.0, 1085, 9108, 516, 0, 1.06, 0, 0}},
    {"of pixels that overlap in memory",
     COLUMNS,
     {{"G", 1},        {"N", 1},   {"H", 28},  {"W", 28},  {"C", 64},
      {"Y", 3},        {"X", 3},   {"Ho", 28}, {"Wo", 28}, {"sN", 28 * 28 * 32},
      {"sH", 28 * 32}, {"sW", 32}, {"sG", 0},  {"sy", 1},  {"sx", 1},
      {"dy", 1},       {"dx", 1},  {"py", 1},  {"px", 1},  {"qy", 1},
      {"qx", 1}},
     {1.08, 3776, 17640, 1152, 0, 0.81, 0, 0}},
    {"of several images, through a distribution",
     COLUMNS_THROUGH,
     PIXELS(4, 14, 64, 1, 14),
     {1.0, 21896, 47696, 30512, 588, 1.0, 0, 0}},
    {"of larger windows", COLUMNS, TAPS(1, 28, 64, 1, 28, 5, 1, 2), {1.0, 11160, 50400, 2800, 0, 1.09, 0, 0}},
    {"of few channels at each second pixel", COLUMNS, PIXELS(1, 28, 8, 2, 14), {1.13, 144, 532, 68, 0, 1.02, 0, 0}},
    {"of twice as many at each second pixel",
     COLUMNS,
     PIXELS(1, 28, 16, 2, 14),
     {1.14, 152, 1052, 132, 0, 1.0, 0, 0}},
    {"of few channels, of pixels that are apart",
     COLUMNS,
     TAPS(1, 28, 8, 1, 28, 3, 2, 2),
     {1.09, 910, 2104, 264, 14, 0.83, 0, 0}},
    {"of few channels, larger ones", COLUMNS, TAPS(1, 28, 8, 1, 28, 5, 1, 2), {1.37, 1232, 6312, 792, 0, 1.1, 0, 0}},
    {"of more channels, of seven pixels",
     COLUMNS,
     TAPS(1, 28, 16, 1, 28, 7, 1, 3),
     {1.26, 6237, 28224, 1568, 0, 0.79, 0, 0}},
    {"of few channels' single pixels", COLUMNS, TAPS(1, 28, 8, 1, 28, 1, 1, 0), {1.0, 14, 522, 34, 0, 1.15, 0, 0}},
    {"of single pixels, each second one", COLUMNS, TAPS(1, 28, 8, 2, 14, 1, 1, 0), {1.66, 24, 261, 17, 0, 1.1, 0, 0}},
};

typedef struct {
  uint64_t valu, instructions, branches, lines, least_lines;
  unsigned char *result;
  size_t bytes;
} counts;

static uint64_t counted(const tj_launch *launch, const char *wanted) {
  for (size_t i = 0; i < tj_launch_counter_count(launch); i++) {
    const char *name;
    uint64_t value = tj_launch_counter(launch, i, &name);
    if (strcmp(name, wanted) == 0)
      return value;
  }
  ck_abort_msg("there is no counter %s", wanted);
}

/* The source holds bytes that tell neighbours apart; the destination, which comes last, nothing. */
static void bind_arrays(tj_context *context, tj_launch *launch, unsigned char *data[ARGUMENTS], size_t *last_bytes) {
  for (size_t i = 0; i < ARGUMENTS; i++) {
    const tj_argument *argument;
    expect_ok(context, tj_launch_argument(launch, i, &argument), "argument");
    *last_bytes = (size_t)argument->element_count * argument->element_bytes;
    data[i] = calloc(1, *last_bytes);
    for (size_t k = 0; i == 0 && k < *last_bytes; k++)
      data[i][k] = (unsigned char)(k * 7 + k / 251);
    expect_ok(context, tj_launch_bind(launch, argument->name, data[i], *last_bytes), argument->name);
  }
}

static size_t parameter_count(const row *r) {
  size_t count = 0;
  while (r->parameter[count].name != NULL)
    count++;
  return count;
}

static counts counts_of(tj_context *context, const tj_device *device, const row *r, bool is_fixed) {
  counts c = {0};
  unsigned char *data[ARGUMENTS];
  tj_launch *launch;
  tj_code *code = compile_for(context, device, r->text, r->parameter, is_fixed ? parameter_count(r) : 0);
  expect_ok(context, tj_launch_create(context, code, &launch), r->name);
  for (size_t i = 0; !is_fixed && i < parameter_count(r); i++)
    expect_ok(context, tj_launch_set_parameter(launch, r->parameter[i].name, r->parameter[i].value), r->name);
  bind_arrays(context, launch, data, &c.bytes);
  expect_ok(context, tj_launch_run(launch, (tj_device *)device), r->name);
  c.valu = counted(launch, "valu");
  c.branches = counted(launch, "branch");
  c.instructions = c.valu + counted(launch, "salu") + c.branches;
  c.lines = counted(launch, "load_lines") + counted(launch, "store_lines");
  c.least_lines = counted(launch, "least_load_lines") + counted(launch, "least_store_lines");
  c.result = data[ARGUMENTS - 1];
  free(data[0]);
  tj_launch_destroy(launch);
  tj_code_destroy(code);
  return c;
}

static void hold(const row *r, const char *what, uint64_t found, uint64_t against, double limit) {
  double ratio = (double)found / (double)against;
  ck_assert_msg(ratio <= limit, "%s: %s: %llu to %llu, %.3f, at most %.3f", r->name, what, (unsigned long long)found,
                (unsigned long long)against, ratio, limit);
}

static void hold_count(const row *r, const char *what, uint64_t found, uint64_t limit) {
  ck_assert_msg(found <= limit, "%s: %s: %llu, at most %llu", r->name, what, (unsigned long long)found,
                (unsigned long long)limit);
}

START_TEST(launches_keep_to_limits) {
  const row *r = &rows[_i];
  tj_context *context = new_context(NULL);
  tj_device *device = open_device(context, "sim:gfx942");
  counts fixed = counts_of(context, device, r, true), passed = counts_of(context, device, r, false);
  ck_assert_uint_eq(fixed.bytes, passed.bytes);
  ck_assert_mem_eq(fixed.result, passed.result, fixed.bytes);
  hold(r, "lines of fixed parameters, to the least", fixed.lines, fixed.least_lines, r->most.fixed_lines);
  hold(r, "lines of passed parameters, to fixed ones", passed.lines, fixed.lines, r->most.lines);
  hold_count(r, "instructions of fixed parameters", fixed.instructions, r->most.fixed);
  hold_count(r, "instructions of passed parameters", passed.instructions, r->most.passed);
  hold_count(r, "VALU of passed parameters", passed.valu, r->most.valu);
  hold_count(r, "branches of fixed parameters", fixed.branches, r->most.branches);
  if (r->most.gated_fixed > 0)
    hold(r, "instructions of fixed parameters, to those with branches", fixed.instructions, r->most.gated_fixed, 0.7);
  if (r->most.gated_passed > 0)
    hold(r, "instructions of passed ones, to those with branches", passed.instructions, r->most.gated_passed, 0.7);
  free(fixed.result);
  free(passed.result);
  tj_device_close(device);
  tj_context_destroy(context);
}
END_TEST

int main(void) {
  return run_suite(suite_of_cases("launch counts", launches_keep_to_limits, sizeof rows / sizeof *rows));
}
