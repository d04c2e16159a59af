/* SPDX-License-Identifier: MIT */
/* Kernels on simulated GPUs, from LLVM IR to dispatch: random expressions against the oracle, conversions against C,
 * masks between guards. What the machine does differently from the host shows here: 24-bit products, 32-bit offsets,
 * kernel arguments, rounding of floats. */
#include "tests/unit/support/conversion_support.h"
#include "tests/unit/support/gpu_support.h"

#include <stdio.h>

/* --- random expressions --- */

enum { KERNELS = 40, LAUNCHES = 3 };

static void run_random(tj_job *job, void *data) {
  gpu *run = data;
  tj_graph *graph = tj_graph_create(job);
  hand_kernel *made = make_random_kernel(&run->source, graph);
  if (run->derive)
    tj_kernel_derive(graph, &made->kernel);
  load_on_gpu(graph, run, &made->kernel);
  for (uint32_t i = 0; i < LAUNCHES; i++) {
    symbol_values values = random_values(&run->source, &made->kernel);
    int64_t found[EXPRESSIONS * POINTS];
    memset(found, 0x5a, sizeof found);
    run_on_gpu(run, &made->kernel, (host_bytes[]){{found, sizeof found}}, &values);
    compare(&made->kernel, found, values);
  }
}

START_TEST(test_random_expressions) {
  gpu run;
  open_gpu(&run, simulated[_i], 20261121 + (uint64_t)_i);
  for (uint32_t i = 0; i < KERNELS; i++) {
    run.derive = i % 2;
    in_job(&run, run_random);
  }
  close_gpu(&run);
}
END_TEST

/* --- dividends of 32 bits --- */

enum { DIVIDENDS = 64 };

static const int64_t dividend = UINT32_MAX - 4;

/* dst[n] = dividend / max(n, 1): in 32 bits the dividend begins with as many ones as a negative number near 0. */
static void run_dividend(tj_job *job, void *data) {
  gpu *run = data;
  tj_graph *graph = tj_graph_create(job);
  hand_kernel *made = make_kernel(graph, tj_int(graph, DIVIDENDS), TJ_DTYPE_i64);
  const tj_node *divisor = tj_max(graph, made->kernel.index, tj_int(graph, 1));
  made->step[0].value = tj_div(graph, tj_int(graph, dividend), divisor);
  load_on_gpu(graph, run, &made->kernel);
  int64_t found[DIVIDENDS];
  symbol_values none = {.count = 64};
  run_on_gpu(run, &made->kernel, (host_bytes[]){{found, sizeof found}}, &none);
  for (int64_t n = 0; n < DIVIDENDS; n++)
    ck_assert_int_eq(found[n], dividend / (n > 1 ? n : 1));
}

START_TEST(test_dividends) {
  gpu run;
  open_gpu(&run, simulated[_i], 1);
  in_job(&run, run_dividend);
  close_gpu(&run);
}
END_TEST

/* --- conversions --- */

enum { ELEMENTS = 2048 };

static void run_conversion(tj_job *job, void *data) {
  gpu *run = data;
  tj_graph *graph = tj_graph_create(job);
  hand_kernel *made = make_kernel(graph, tj_int(graph, ELEMENTS), run->to);
  make_copy(graph, made, run->from);
  load_on_gpu(graph, run, &made->kernel);
  unsigned char *from = make_elements(&run->source, run->from, ELEMENTS);
  unsigned char *to = calloc(ELEMENTS, tj_dtype_bits(run->to) / 8);
  host_bytes bytes[] = {{to, (size_t)ELEMENTS * tj_dtype_bits(run->to) / 8},
                        {from, (size_t)ELEMENTS * tj_dtype_bits(run->from) / 8}};
  symbol_values none = {.count = 64};
  run_on_gpu(run, &made->kernel, bytes, &none);
  for (uint32_t i = 0; i < ELEMENTS; i++) {
    element source = element_at(from, run->from, i), found = element_at(to, run->to, i);
    ck_assert_msg(converts_to(source, run->from, found, run->to), "%s: %s 0x%llx became %s 0x%llx", run->target,
                  tj_dtype_name(run->from), (unsigned long long)bits_of(source, TJ_DTYPE_b64), tj_dtype_name(run->to),
                  (unsigned long long)bits_of(found, TJ_DTYPE_b64));
  }
  free(from);
  free(to);
}

START_TEST(test_conversions) {
  gpu run;
  open_gpu(&run, simulated[_i], 7 + (uint64_t)_i);
  for (unsigned from = 0; from < TJ_DTYPE_COUNT; from++) {
    for (unsigned to = 0; to < TJ_DTYPE_COUNT; to++) {
      run.from = (tj_dtype)from;
      run.to = (tj_dtype)to;
      if (tj_dtype_converts(run.from, run.to))
        in_job(&run, run_conversion);
    }
  }
  close_gpu(&run);
}
END_TEST

/* --- masks --- */

enum { INSIDE = 700, OUTSIDE = 1000, SHIFT = 150 };

/* dst[n] = src[n - SHIFT], or the fill, for 0 <= n < OUTSIDE; only every n that is no multiple of 3. */
static void run_mask(tj_job *job, void *data) {
  gpu *run = data;
  tj_graph *graph = tj_graph_create(job);
  hand_kernel *made = make_kernel(graph, tj_int(graph, OUTSIDE), TJ_DTYPE_i16);
  make_copy(graph, made, TJ_DTYPE_i16);
  const tj_node *offset = tj_sub(graph, made->kernel.index, tj_int(graph, SHIFT)), *zero = tj_int(graph, 0);
  made->step[0].access.offset = offset;
  made->step[0].access.valid =
      tj_and(graph, tj_less_equal(graph, zero, offset), tj_less(graph, offset, tj_int(graph, INSIDE)));
  made->step[1].access.valid =
      tj_not(graph, tj_equal(graph, tj_mod(graph, made->kernel.index, tj_int(graph, 3)), zero));
  made->kernel.fill = -9;
  load_on_gpu(graph, run, &made->kernel);
  int16_t from[INSIDE], to[OUTSIDE];
  for (int i = 0; i < INSIDE; i++)
    from[i] = (int16_t)(i + 1);
  memset(to, 0x77, sizeof to);
  symbol_values none = {.count = 64};
  run_on_gpu(run, &made->kernel, (host_bytes[]){{to, sizeof to}, {from, sizeof from}}, &none);
  for (int n = 0; n < OUTSIDE; n++) {
    int loaded = n >= SHIFT && n < SHIFT + INSIDE ? n - SHIFT + 1 : -9;
    ck_assert_int_eq(to[n], n % 3 == 0 ? 0x7777 : loaded);
  }
}

/* The simulator checks bounds: a masked load that happens all the same ends the dispatch. */
START_TEST(test_masks) {
  gpu run;
  open_gpu(&run, simulated[_i], 1);
  in_job(&run, run_mask);
  close_gpu(&run);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("gpu kernels");
  TCase *cases = tcase_create("gpu kernels");
  tcase_set_timeout(cases, 500);
  tcase_add_loop_test(cases, test_masks, 0, SIMULATED_COUNT);
  tcase_add_loop_test(cases, test_random_expressions, 0, SIMULATED_COUNT);
  tcase_add_loop_test(cases, test_dividends, 0, SIMULATED_COUNT);
  tcase_add_loop_test(cases, test_conversions, 0, SIMULATED_COUNT);
  suite_add_tcase(suite, cases);
  return run_suite(suite);
}
