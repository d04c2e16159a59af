/* How fast the simplifier is: microseconds for the index expressions of typical kernels, nodes a second over many of
 * them in one graph, and milliseconds for expressions of 10,000 nodes that are as layouts make them, random, or deep.
 *
 * usage: bench_simplify [ITERATIONS]. Prints one JSON object: medians. Graphs are made anew for each measurement, as
 * they remember what they simplify to; the time is that of tj_simplify alone. */
#include "ir/print.h"
#include "ir/simplify.h"
#include "ir/walk.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_ITERATIONS = 10000, LARGE_NODES = 10000, LARGE_ITERATIONS = 15 };

/* Roots of a graph, and how to make them: from `text`, or by `make`. */
typedef struct sample {
  const char *name, *text;
  void (*make)(tj_graph *graph, const tj_node ***roots, size_t *count);
} sample;

/* --- kernels --- */

static const sample kernels[] = {
    {"transpose",
     "param M in 1..32768, N in 1..32768; coordinate n in 0..M*N - 1\n"
     "root n%M*N + n/M root n%M + n/M*M",
     NULL},
    {"im2col",
     "coordinate n in 0..36863\n"
     "root n%36/9*1024 + (n/36/32 + n%36%9/3 - 1)*32 + (n/36%32 + n%36%3 - 1)\n"
     "root (0 < n/36/32 + n%36%9/3) & (n/36/32 + n%36%9/3 < 33) & (0 < n/36%32 + n%36%3) & (n/36%32 + n%36%3 < 33)\n"
     "root n/36*36 + n%36",
     NULL},
    {"merge_unmerge",
     "coordinate n in 0..119\n"
     "root (n/15*15 + n%15)/30*30 + (n/15*15 + n%15)/5%6*5 + (n/15*15 + n%15)%5",
     NULL},
    {"merge_unmerge_symbolic",
     "param M in 1..4096, N in 1..4096; coordinate i in 0..M - 1, j in 0..N - 1\n"
     "root (i*N + j)/N*N + (i*N + j)%N root (i*N + j)/N root (i*N + j)%N",
     NULL},
    {"swizzle",
     "coordinate n in 0..4095\n"
     "root (n/64*64 + n%64) ^ (n/64*64 + n%64)/64%8*8 root (n%64*64 + n/64) ^ ((n%64*64 + n/64) >> 3 & 56)",
     NULL},
    {"tile_of_workgroup",
     "coordinate b in 0..63, w in 0..3, l in 0..63, v in 0..7\n"
     "root (((b*4 + w)*64 + l)*8 + v)/2048*2048 + (((b*4 + w)*64 + l)*8 + v)%2048/512*512 + "
     "(((b*4 + w)*64 + l)*8 + v)%512",
     NULL},
};

enum { KERNEL_COUNT = sizeof kernels / sizeof *kernels };

static void read_sample(tj_graph *graph, const sample *s, const tj_node ***roots, size_t *count) {
  tj_source *source = TJ_NEW(graph->job, tj_source);
  *source = (tj_source){s->name, s->text, strlen(s->text)};
  graph->job->source = *source;
  *count = tj_graph_read(graph, source, roots);
}

/* --- large expressions --- */

static uint32_t next_random(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(*state >> 33);
}

/* Coordinates of their own extents, merged and taken apart, until there are enough nodes. */
static void make_layouts(tj_graph *graph, const tj_node ***roots, size_t *count) {
  uint64_t state = 1;
  *roots = TJ_NEW_ARRAY(graph->job, const tj_node *, LARGE_NODES);
  for (*count = 0; graph->node_count < LARGE_NODES;) {
    const tj_node *outer = tj_int(graph, 2 + next_random(&state) % 30),
                  *inner = tj_int(graph, 2 + next_random(&state) % 30);
    const tj_node *i = tj_coordinate(graph, "i", outer), *j = tj_coordinate(graph, "j", inner);
    const tj_node *merged = tj_add(graph, tj_mul(graph, i, inner), j),
                  *by = tj_int(graph, 2 + next_random(&state) % 30);
    const tj_node *high = tj_div(graph, merged, by), *low = tj_mod(graph, merged, by);
    (*roots)[(*count)++] = tj_add(graph, tj_mul(graph, high, by), low);
    (*roots)[(*count)++] =
        tj_add(graph, tj_mul(graph, tj_div(graph, merged, inner), inner), tj_mod(graph, low, inner));
  }
}

static const tj_node *random_operation(tj_graph *graph, uint64_t *state, const tj_node *base, const tj_node *a,
                                       const tj_node *b) {
  const tj_node *by = tj_int(graph, 2 + next_random(state) % 62);
  switch (next_random(state) % 7) {
  case 0:
  case 1:
    return tj_add(graph, tj_div(graph, a, by), tj_mul(graph, base, by));
  case 2:
  case 3:
    return tj_mod(graph, a, by);
  case 4:
    return tj_min(graph, a, b);
  case 5:
    return tj_select(graph, tj_less(graph, a, by), a, b);
  default:
    return tj_add(graph, tj_mod(graph, a, tj_int(graph, 1 << 20)), tj_mod(graph, b, by));
  }
}

/* One expression over random operations on what was made lately; all of it stays in use. */
static void make_random(tj_graph *graph, const tj_node ***roots, size_t *count) {
  enum { RECENT = 16 };
  uint64_t state = 2;
  const tj_node *base[RECENT], *recent[RECENT], *all = tj_int(graph, 0);
  for (int i = 0; i < RECENT; i++)
    base[i] = recent[i] = tj_coordinate(graph, "i", tj_int(graph, 1000 + (int64_t)i * 77));
  while (graph->node_count < LARGE_NODES) {
    const uint32_t at = next_random(&state) % RECENT;
    const tj_node *made = random_operation(graph, &state, base[next_random(&state) % RECENT], recent[at],
                                           recent[next_random(&state) % RECENT]);
    all = tj_add(graph, all, tj_mod(graph, recent[at], tj_int(graph, 7)));
    recent[at] = made;
  }
  *roots = TJ_NEW(graph->job, const tj_node *);
  (*roots)[0] = all;
  *count = 1;
}

/* A quotient and remainder of each other, thousands deep. */
static void make_deep(tj_graph *graph, const tj_node ***roots, size_t *count) {
  const tj_node *node = tj_coordinate(graph, "i", tj_int(graph, INT64_C(1) << 40));
  const tj_node *j = tj_coordinate(graph, "j", tj_int(graph, 12));
  for (int64_t i = 0; graph->node_count < LARGE_NODES; i++) {
    const tj_node *sum = tj_add(graph, tj_mul(graph, node, tj_int(graph, 3 + i % 5)), j);
    node = tj_mod(graph, tj_div(graph, sum, tj_int(graph, 2 + i % 3)), tj_int(graph, (INT64_C(1) << 40) + i));
  }
  *roots = TJ_NEW(graph->job, const tj_node *);
  (*roots)[0] = node;
  *count = 1;
}

static const sample large[] = {
    {"layouts", NULL, make_layouts}, {"random", NULL, make_random}, {"deep", NULL, make_deep}};

enum { LARGE_COUNT = sizeof large / sizeof *large };

/* --- measuring --- */

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double values[], size_t count) {
  qsort(values, count, sizeof *values, compare);
  return values[count / 2];
}

typedef struct {
  const sample *made;
  size_t nodes, nodes_after;
  double microseconds;
} measurement;

static void measure_once(tj_job *job, void *data) {
  measurement *m = data;
  const tj_node **roots;
  size_t count;
  tj_graph *graph = tj_graph_create(job);
  if (m->made->text != NULL)
    read_sample(graph, m->made, &roots, &count);
  else
    m->made->make(graph, &roots, &count);
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

static json_t *measure_all(const sample samples[], size_t count, size_t iterations) {
  json_t *results = json_array();
  for (size_t i = 0; i < count; i++)
    json_array_append_new(results, measure(&samples[i], iterations));
  return results;
}

int main(int count, char **words) {
  size_t iterations = count > 1 ? strtoul(words[1], NULL, 10) : 1000;
  if (iterations < 1 || iterations > MOST_ITERATIONS) {
    fprintf(stderr, "usage: bench_simplify [ITERATIONS (1 to %d)]\n", MOST_ITERATIONS);
    return 2;
  }
  json_t *report = json_pack("{s:s,s:i,s:o,s:o}", "benchmark", "simplify", "iterations", (int)iterations, "kernels",
                             measure_all(kernels, KERNEL_COUNT, iterations), "large",
                             measure_all(large, LARGE_COUNT, LARGE_ITERATIONS));
  json_dumpf(report, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(5));
  putchar('\n');
  json_decref(report);
  return 0;
}
