/* SPDX-License-Identifier: MIT */
/* How fast the simplifier is: microseconds for the index expressions of typical kernels, and nodes a second over
 * expressions of 10,000 nodes that are as layouts make them, random, or hard in other ways (large_graphs.h).
 *
 * usage: bench_simplify [ITERATIONS]. Prints one JSON object: medians. Graphs are made anew for each measurement, as
 * they remember what they simplify to; the time is that of tj_simplify alone. */
#include "ir/index/print.h"
#include "ir/index/walk.h"
#include "ir/simplify/simplify.h"
#include "tests/unit/support/large_graphs.h"
#include "timing.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ITERATIONS = 10000, LARGE_NODES = 10000, LARGE_ITERATIONS = 15 };

/* Roots in the graph form, or one of the large graphs. */
typedef struct sample {
  const char *name, *text;
  size_t large;
} sample;

/* --- kernels --- */

static const struct {
  const char *name, *text;
} kernels[] = {
    {"transpose", "param M in 1..32768, N in 1..32768; coordinate n in 0..M*N - 1\n"
                  "root n%M*N + n/M root n%M + n/M*M"},
    {"im2col",
     "coordinate n in 0..36863\n"
     "root n%36/9*1024 + (n/36/32 + n%36%9/3 - 1)*32 + (n/36%32 + n%36%3 - 1)\n"
     "root (0 < n/36/32 + n%36%9/3) & (n/36/32 + n%36%9/3 < 33) & (0 < n/36%32 + n%36%3) & (n/36%32 + n%36%3 < 33)\n"
     "root n/36*36 + n%36"},
    {"merge_unmerge", "coordinate n in 0..119\n"
                      "root (n/15*15 + n%15)/30*30 + (n/15*15 + n%15)/5%6*5 + (n/15*15 + n%15)%5"},
    {"merge_unmerge_symbolic", "param M in 1..4096, N in 1..4096; coordinate i in 0..M - 1, j in 0..N - 1\n"
                               "root (i*N + j)/N*N + (i*N + j)%N root (i*N + j)/N root (i*N + j)%N"},
    {"swizzle",
     "coordinate n in 0..4095\n"
     "root (n/64*64 + n%64) ^ (n/64*64 + n%64)/64%8*8 root (n%64*64 + n/64) ^ ((n%64*64 + n/64) >> 3 & 56)"},
    {"tile_of_workgroup", "coordinate b in 0..63, w in 0..3, l in 0..63, v in 0..7\n"
                          "root (((b*4 + w)*64 + l)*8 + v)/2048*2048 + (((b*4 + w)*64 + l)*8 + v)%2048/512*512 + "
                          "(((b*4 + w)*64 + l)*8 + v)%512"},
};

enum { KERNEL_COUNT = sizeof kernels / sizeof *kernels };

static void read_sample(tj_graph *graph, const sample *s, const tj_node ***roots, size_t *count) {
  tj_source *source = TJ_NEW(graph->job, tj_source);
  *source = tj_source_of(s->name, s->text, strlen(s->text));
  graph->job->source = *source;
  *count = tj_graph_read(graph, source, roots);
}

/* --- measuring --- */

typedef struct {
  const sample *made;
  size_t nodes, nodes_after;
  double microseconds;
} measurement;

static void measure_once(tj_job *job, void *data) {
  measurement *m = data;
  const tj_node **roots;
  size_t count;
  tj_graph *graph;
  if (m->made->text != NULL) {
    graph = tj_graph_create(job);
    read_sample(graph, m->made, &roots, &count);
  } else {
    const large_graph large = make_large_graph(job, m->made->large, LARGE_NODES);
    graph = large.graph;
    roots = large.root;
    count = large.root_count;
  }
  m->nodes = tj_walk_nodes(graph, roots, count).count;
  double begin = now();
  tj_simplify(graph, roots, count, NULL);
  m->microseconds = now() - begin;
  m->nodes_after = tj_walk_nodes(graph, roots, count).count;
}

static json_t *measure(const sample *made, size_t iterations) {
  static double durations[MOST_ITERATIONS];
  measurement m = {.made = made};
  for (size_t i = 0; i < iterations; i++) {
    tj_job job;
    tj_job_init(&job, NULL);
    if (tj_job_run(&job, measure_once, &m) != TJ_OK) {
      fprintf(stderr, "bench_simplify: %s: TJ%04d: %s\n", made->name, (int)job.problem.code, job.problem.message);
      exit(1);
    }
    durations[i] = m.microseconds;
    tj_job_destroy(&job);
  }
  double middle = median(durations, iterations);
  return json_pack("{s:s,s:i,s:i,s:f,s:f}", "name", made->name, "nodes", (int)m.nodes, "nodes_after",
                   (int)m.nodes_after, "microseconds", middle, "nodes_per_second", (double)m.nodes / middle * 1e6);
}

static json_t *measure_large(void) {
  json_t *results = json_array();
  for (size_t i = 0; i < LARGE_GRAPHS; i++) {
    const sample made = {large_graphs[i].name, NULL, i};
    json_array_append_new(results, measure(&made, LARGE_ITERATIONS));
  }
  return results;
}

static json_t *measure_kernels(size_t iterations) {
  json_t *results = json_array();
  for (size_t i = 0; i < KERNEL_COUNT; i++) {
    const sample made = {kernels[i].name, kernels[i].text, 0};
    json_array_append_new(results, measure(&made, iterations));
  }
  return results;
}

int main(int count, char **words) {
  size_t iterations = count > 1 ? strtoul(words[1], NULL, 10) : 1000;
  if (iterations < 1 || iterations > MOST_ITERATIONS) {
    fprintf(stderr, "usage: bench_simplify [ITERATIONS (1 to %d)]\n", MOST_ITERATIONS);
    return 2;
  }
  json_t *report = json_pack("{s:s,s:i,s:o,s:o}", "benchmark", "simplify", "iterations", (int)iterations, "kernels",
                             measure_kernels(iterations), "large", measure_large());
  json_dumpf(report, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(5));
  putchar('\n');
  json_decref(report);
  return 0;
}
