/* SPDX-License-Identifier: MIT */
/* How long an operation of layout algebra takes in the library: composition, divides, products, complement, inverses
 * of typical layouts, in one warm process.
 *
 * usage: bench_algebra [ITERATIONS]. Prints one JSON object: nanoseconds per operation, the median of batches. */
#include "ir/layout/algebra.h"
#include "ir/layout/f2.h"
#include "timing.h"

#include <stdio.h>
#include <stdlib.h>

enum { BATCHES = 21, MOST_ITERATIONS = 1000000 };

typedef struct {
  int64_t extent[4], stride[4];
  uint32_t count;
} numbers;

/* The layouts at hand. */
typedef struct {
  tj_graph *graph;
  tj_layout row_major, column_major, tile, block, copies, swizzle_atom, symbolic;
  const tj_tiler *extents;
} inputs;

static tj_layout make(tj_graph *graph, numbers from) {
  const tj_tuple *shape[4], *stride[4];
  for (uint32_t i = 0; i < from.count; i++) {
    shape[i] = tj_tuple_constant(graph, from.extent[i]);
    stride[i] = tj_tuple_constant(graph, from.stride[i]);
  }
  return tj_layout_make(graph, tj_tuple_list(graph, shape, from.count), tj_tuple_list(graph, stride, from.count));
}

static tj_layout make_symbolic(tj_graph *graph) {
  const tj_node *low = tj_int(graph, 64), *high = tj_int(graph, 65536);
  const tj_tuple *m = tj_tuple_integer(graph, tj_symbol_create(graph, "M", TJ_SYMBOL_PARAMETER, low, high, 64));
  const tj_tuple *n = tj_tuple_integer(graph, tj_symbol_create(graph, "N", TJ_SYMBOL_PARAMETER, low, high, 64));
  const tj_tuple *shape[] = {m, n}, *stride[] = {n, tj_tuple_constant(graph, 1)};
  return tj_layout_make(graph, tj_tuple_list(graph, shape, 2), tj_tuple_list(graph, stride, 2));
}

static inputs make_inputs(tj_graph *graph) {
  const tj_tuple *extents[] = {tj_tuple_constant(graph, 64), tj_tuple_constant(graph, 32)};
  return (inputs){.graph = graph,
                  .row_major = make(graph, (numbers){{1024, 512}, {512, 1}, 2}),
                  .column_major = make(graph, (numbers){{1024, 512}, {1, 1024}, 2}),
                  .tile = make(graph, (numbers){{32, 8}, {1, 128}, 2}),
                  .block = make(graph, (numbers){{8, 8}, {8, 1}, 2}),
                  .copies = make(graph, (numbers){{16, 4}, {1, 16}, 2}),
                  .swizzle_atom = make(graph, (numbers){{8, 2, 4, 16}, {64, 32, 8, 512}, 4}),
                  .symbolic = make_symbolic(graph),
                  .extents = tj_tiler_of_tuple(graph, tj_tuple_list(graph, extents, 2))};
}

/* --- operations --- */

typedef void (*operation)(const inputs *in);

static void coalesce(const inputs *in) {
  tj_layout_coalesce(in->graph, in->swizzle_atom);
}

static void compose(const inputs *in) {
  tj_layout_compose(in->graph, in->column_major, in->tile);
}

static void compose_symbolic(const inputs *in) {
  tj_layout_compose_tiler(in->graph, in->symbolic, in->extents);
}

static void divide(const inputs *in) {
  tj_layout_divide(in->graph, in->row_major, in->extents, TJ_TILED_LOGICAL);
}

static void divide_zipped(const inputs *in) {
  tj_layout_divide(in->graph, in->row_major, in->extents, TJ_TILED_ZIPPED);
}

static void divide_symbolic(const inputs *in) {
  tj_layout_divide(in->graph, in->symbolic, in->extents, TJ_TILED_LOGICAL);
}

static void multiply(const inputs *in) {
  tj_layout_multiply(in->graph, in->block, tj_tiler_of_layout(in->graph, in->copies), TJ_TILED_LOGICAL);
}

static void multiply_blocked(const inputs *in) {
  tj_layout_blocked_product(in->graph, in->block, in->copies);
}

static void complement(const inputs *in) {
  tj_layout_complement(in->graph, in->swizzle_atom, tj_tuple_constant(in->graph, 65536));
}

static void right_inverse(const inputs *in) {
  tj_layout_right_inverse(in->graph, in->row_major);
}

static void left_inverse(const inputs *in) {
  tj_layout_left_inverse(in->graph, in->swizzle_atom);
}

static void right_inverse_symbolic(const inputs *in) {
  tj_layout_right_inverse(in->graph, in->symbolic);
}

static void linear(const inputs *in) {
  const char *obstacle;
  tj_f2_inverse(in->graph, tj_f2_of_layout(in->graph, in->row_major, &obstacle));
}

static const struct {
  const char *name;
  operation run;
} operations[] = {{"coalesce", coalesce},
                  {"composition", compose},
                  {"composition, symbolic", compose_symbolic},
                  {"logical_divide", divide},
                  {"zipped_divide", divide_zipped},
                  {"logical_divide, symbolic", divide_symbolic},
                  {"logical_product", multiply},
                  {"blocked_product", multiply_blocked},
                  {"complement", complement},
                  {"right_inverse", right_inverse},
                  {"right_inverse, symbolic", right_inverse_symbolic},
                  {"left_inverse", left_inverse},
                  {"inverse of linear", linear}};

enum { OPERATION_COUNT = sizeof operations / sizeof *operations };

/* --- timing --- */

typedef struct {
  operation run;
  unsigned iterations;
  double nanoseconds;
} batch;

/* One batch in a job of its own: its graph starts empty, as a program's does. */
static void run_batch(tj_job *job, void *data) {
  batch *self = data;
  job->fuel = UINT64_C(1) << 40;
  inputs in = make_inputs(tj_graph_create(job));
  self->run(&in);
  double begin = now();
  for (unsigned i = 0; i < self->iterations; i++)
    self->run(&in);
  self->nanoseconds = (now() - begin) * 1e3 / self->iterations;
}

static double measure(operation run, unsigned iterations) {
  double times[BATCHES];
  for (int i = 0; i < BATCHES; i++) {
    tj_job job;
    tj_job_init(&job, NULL);
    batch self = {run, iterations, 0};
    if (tj_job_run(&job, run_batch, &self) != TJ_OK) {
      fprintf(stderr, "bench_algebra: TJ%04d: %s\n", (int)job.problem.code, job.problem.message);
      exit(1);
    }
    tj_job_destroy(&job);
    times[i] = self.nanoseconds;
  }
  return median(times, BATCHES);
}

int main(int count, char **words) {
  unsigned long iterations = count > 1 ? strtoul(words[1], NULL, 10) : 1000;
  if (iterations < 1 || iterations > MOST_ITERATIONS) {
    fprintf(stderr, "usage: bench_algebra [ITERATIONS (1 to %d)]\n", MOST_ITERATIONS);
    return 2;
  }
  printf("{\n  \"benchmark\": \"algebra\",\n  \"iterations\": %lu,\n  \"nanoseconds\": {", iterations);
  for (int i = 0; i < OPERATION_COUNT; i++)
    printf("%s\n    \"%s\": %.0f", i == 0 ? "" : ",", operations[i].name,
           measure(operations[i].run, (unsigned)iterations));
  printf("\n  }\n}\n");
  return 0;
}
