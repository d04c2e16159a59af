/* SPDX-License-Identifier: MIT */
/* Random kernels on the host against the oracle: every index expression is lowered as it would be in a kernel, and
 * run at many points, for several values of the parameters. */
#include "tests/unit/support/random_kernel.h"

enum { KERNELS = 300, LAUNCHES = 4 };

typedef struct {
  random_source source;
  uint32_t derive;
  compiled compiled;
  tj_host_code *code;
} session;

static void run_one(tj_job *job, void *data) {
  session *run = data;
  tj_graph *graph = tj_graph_create(job);
  hand_kernel *made = make_random_kernel(&run->source, graph);
  if (run->derive)
    tj_kernel_derive(graph, &made->kernel);
  run->code = load_kernel(graph, &run->compiled, &made->kernel);
  for (uint32_t i = 0; i < LAUNCHES; i++) {
    symbol_values values = random_values(&run->source, &made->kernel);
    int64_t found[EXPRESSIONS * POINTS];
    memset(found, 0x5a, sizeof found);
    run_kernel(run->code, &made->kernel, (void *[]){found}, &values);
    compare(&made->kernel, found, values);
  }
}

/* Guards every operation's lowering: widths, signs, flags, divisions by constants, by magic numbers, by anything. */
START_TEST(test_random_expressions) {
  session run = {.source = random_begin(20261121)};
  for (uint32_t i = 0; i < KERNELS; i++) {
    tj_job job;
    tj_job_init(&job, NULL);
    run.derive = i % 2;
    expect_success(&job, run_one, &run);
    tj_host_code_unload(run.code);
    tj_job_destroy(&job);
  }
  dispose_compiled(&run.compiled);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {test_random_expressions};
  return run_suite(suite_of("random kernels", tests, sizeof tests / sizeof tests[0]));
}
