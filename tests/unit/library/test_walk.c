/* SPDX-License-Identifier: MIT */
/* Walks of kernels on a device: what offsets(dst, V, step=…, count=…, starts=…) stores against V's offsets one by one
 * on the host. Parameters fixed, and passed at launch.
 *
 * TILEJIT_TEST_DEVICE names the device; without it, it is the host. */
#include "tests/unit/support/library_support.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { TEXT = 4096, MOST_PARAMETERS = 4, MOST_RANK = 3 };

/* Numbers are for the values of the parameters; the texts say the same with their names. */
typedef struct {
  const char *name;
  const char *program; /* parameters, and the view V */
  const char *lengths; /* of V, from outside to inside */
  const char *step, *count, *starts;
  tj_parameter_value parameter[MOST_PARAMETERS];
  int64_t length[MOST_RANK], by[MOST_RANK], trips, box[MOST_RANK];
} walk_case;

#define CONVOLUTION                                                                                                  \
  "let I = packed((N, H, W, C))\n"                                                                                   \
  "let P = transform(I, [pass_through(N), pad(H, 1, 1), pad(W, 1, 1), pass_through(C)], [[0], [1], [2], [3]], "      \
  "[[0], [1], [2], [3]])\n"                                                                                          \
  "let K = transform(P, [pass_through(N), embed((3, H), (1, 1)), embed((2, W), (1, 1)), pass_through(C)], "          \
  "[[0], [1], [2], [3]], [[0], [1, 2], [3, 4], [5]])\n"                                                              \
  "let V = transform(K, [merge(N, H, W), merge(3, 2, C)], [[0, 2, 4], [1, 3, 5]], [[0], [1]])\n"

static const walk_case cases[] = {
    {"along K of a convolution",
     "param N in 1..64, H in 1..64, W in 1..64, C in 1..64\n" CONVOLUTION,
     "N*H*W, 6*C",
     "(0, 4)",
     "9",
     "N*H*W, 4",
     {{"N", 2}, {"H", 5}, {"W", 3}, {"C", 6}},
     {30, 36},
     {0, 4},
     9,
     {30, 4}},
    {"beyond K, and back along M",
     "param N in 1..64, H in 1..64, W in 1..64, C in 1..64\n" CONVOLUTION,
     "N*H*W, 6*C",
     "(-1, 7)",
     "8",
     "N*H*W, 3",
     {{"N", 1}, {"H", 4}, {"W", 4}, {"C", 7}},
     {16, 42},
     {-1, 7},
     8,
     {16, 3}},
    {"tiles as many as a parameter says, steps as long",
     "param M in 1..256, S in 1..64, T in 1..64\n"
     "let V = transform(packed((8, 4, M)), [pass_through(8), merge(4, M)], [[0], [1, 2]], [[0], [1]])\n",
     "8, 4*M",
     "(1, S)",
     "T",
     "8, S",
     {{"M", 37}, {"S", 11}, {"T", 14}},
     {8, 148},
     {1, 11},
     14,
     {8, 11}},
    {"through a swizzle and a modulo",
     "param M in 1..64\n"
     "let A = transform(packed((M, 64)), [xor(M, 64)], [[0, 1]], [[0, 1]])\n"
     "let V = transform(A, [pass_through(M), modulo(64, 200)], [[0], [1]], [[0], [1]])\n",
     "M, 200",
     "(1, 24)",
     "9",
     "M, 8",
     {{"M", 16}},
     {16, 200},
     {1, 24},
     9,
     {16, 8}},
    {"digits of digits",
     "param M in 1..64\n"
     "let A = transform(strided((3, 5, 4), (40 * M, 8, 1)), [merge(3, 5, 4)], [[0, 1, 2]], [[0]])\n"
     "let B = transform(A, [pad(60, 3, 9)], [[0]], [[0]])\n"
     "let V = transform(B, [unmerge(6, 12)], [[0]], [[0, 1]])\n",
     "6, 12",
     "(2, -5)",
     "5",
     "6, 12",
     {{"M", 3}},
     {6, 12},
     {2, -5},
     5,
     {6, 12}},
};

enum { CASE_COUNT = sizeof cases / sizeof cases[0] };

typedef struct {
  const walk_case *of;
  tj_context *context;
  tj_device *host, *device;
} session;

static int64_t product(const int64_t numbers[MOST_RANK]) {
  int64_t all = 1;
  for (int i = 0; i < MOST_RANK; i++)
    all *= numbers[i] != 0 ? numbers[i] : 1;
  return all;
}

/* --- running --- */

static size_t parameter_count(const walk_case *of) {
  size_t count = 0;
  while (count < MOST_PARAMETERS && of->parameter[count].name != NULL)
    count++;
  return count;
}

static void set_parameters(const session *s, tj_launch *launch) {
  for (size_t i = 0; i < parameter_count(s->of); i++) {
    if (tj_launch_set_parameter(launch, s->of->parameter[i].name, s->of->parameter[i].value) != TJ_OK)
      fail_with(s->context, s->of->parameter[i].name);
  }
}

static int64_t *run_on(const session *s, tj_device *device, const char *text, size_t count, bool is_fixed) {
  tj_program *program;
  tj_code *code;
  tj_launch *launch;
  size_t fixed_count = is_fixed ? parameter_count(s->of) : 0;
  tj_compile_options options = {NULL, tj_device_target(device)};
  int64_t *found = malloc(count * sizeof *found);
  memset(found, 0xa5, count * sizeof *found);
  if (tj_program_create(s->context, "test", text, strlen(text), s->of->parameter, fixed_count, &program) != TJ_OK ||
      tj_code_compile(program, &options, &code) != TJ_OK || tj_launch_create(s->context, code, &launch) != TJ_OK)
    fail_with(s->context, text);
  if (!is_fixed)
    set_parameters(s, launch);
  if (tj_launch_bind(launch, "d", found, count * sizeof *found) != TJ_OK || tj_launch_run(launch, device) != TJ_OK)
    fail_with(s->context, text);
  tj_launch_destroy(launch);
  tj_code_destroy(code);
  tj_program_destroy(program);
  return found;
}

/* --- comparing --- */

/* The number of the coordinate that a place has, row-major; -1 outside of the view. */
static int64_t number_of_place(const walk_case *of, int64_t start, int64_t trip) {
  int64_t number = 0, scale = 1;
  for (int i = MOST_RANK; i-- > 0;) {
    if (of->length[i] == 0)
      continue;
    int64_t at = start % of->box[i] + trip * of->by[i];
    start /= of->box[i];
    if (at < 0 || at >= of->length[i])
      return -1;
    number += at * scale;
    scale *= of->length[i];
  }
  return number;
}

static void compare(const walk_case *of, const int64_t *walked, const int64_t *each, bool is_fixed) {
  for (int64_t i = 0; i < product(of->box) * of->trips; i++) {
    int64_t number = number_of_place(of, i / of->trips, i % of->trips);
    int64_t expected = number < 0 ? -1 : each[number];
    ck_assert_msg(walked[i] == expected, "%s, %s: start %ld, trip %ld: %ld, not %ld", of->name,
                  is_fixed ? "fixed" : "passed", (long)(i / of->trips), (long)(i % of->trips), (long)walked[i],
                  (long)expected);
  }
}

START_TEST(walks_store_what_each_coordinate_has) {
  const walk_case *of = &cases[_i];
  char walk[TEXT], each[TEXT];
  session s = {.of = of, .context = new_context(NULL)};
  s.host = open_device(s.context, "host");
  s.device = open_device(s.context, tested_device());
  snprintf(each, TEXT, "%skernel k(d: i64 @ packed((%s))) = offsets(d, V)", of->program, of->lengths);
  snprintf(walk, TEXT, "%skernel k(d: i64 @ packed((%s, %s))) = offsets(d, V, step=%s, count=%s, starts=(%s))",
           of->program, of->starts, of->count, of->step, of->count, of->starts);
  int64_t *expected = run_on(&s, s.host, each, (size_t)product(of->length), true);
  for (int is_fixed = 0; is_fixed < 2; is_fixed++) {
    int64_t *found = run_on(&s, s.device, walk, (size_t)(product(of->box) * of->trips), is_fixed);
    compare(of, found, expected, is_fixed);
    free(found);
  }
  free(expected);
  tj_device_close(s.device);
  tj_device_close(s.host);
  tj_context_destroy(s.context);
}
END_TEST

int main(void) {
  return run_suite(suite_of_cases("walk", walks_store_what_each_coordinate_has, CASE_COUNT));
}
