/* SPDX-License-Identifier: MIT */
/* Any bytes: they read as an index graph or are refused. What is read prints as text that reads back to the same
 * graph; and simplified, its roots have the same values at the points whose values nodes carry. */
#include "ir/index/print.h"
#include "ir/simplify/simplify.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_same_values(const tj_node *before, const tj_node *after) {
  for (int i = 0; i < TJ_SAMPLE_COUNT; i++)
    if (before->sample[i] != TJ_NO_SAMPLE && after->sample[i] != TJ_NO_SAMPLE &&
        before->sample[i] != after->sample[i])
      abort();
}

static void check_reading_back(tj_graph *graph, const tj_node *const roots[], size_t count) {
  tj_text text = tj_text_begin(graph->job);
  tj_graph_print(&text, graph, roots, count);
  const tj_source printed = tj_source_of("printed", text.data, text.length);
  const tj_node **again;
  graph->job->source = printed;
  if (tj_graph_read(tj_graph_create(graph->job), &printed, &again) != count)
    abort();
  for (size_t i = 0; i < count; i++)
    if (roots[i]->depth != again[i]->depth)
      abort();
}

static void read_and_simplify(tj_job *job, void *data) {
  (void)data;
  tj_graph *graph = tj_graph_create(job);
  const tj_source source = job->source;
  const tj_node **roots;
  const size_t count = tj_graph_read(graph, &source, &roots);
  const tj_node **simple = TJ_NEW_ARRAY(job, const tj_node *, count + 1);
  for (size_t i = 0; i < count; i++)
    simple[i] = roots[i];
  tj_simplify(graph, simple, count, NULL);
  for (size_t i = 0; i < count; i++)
    check_same_values(roots[i], simple[i]);
  check_reading_back(graph, roots, count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tj_job job;
  tj_job_init(&job, NULL);
  job.fuel = 2 * 1000 * 1000;
  job.source = tj_source_of("fuzz", (const char *)data, size);
  tj_status status = tj_job_run(&job, read_and_simplify, NULL);
  const bool limited = job.problem.code == TJ_WORK_LIMIT || job.problem.code == TJ_MEMORY_LIMIT;
  if (status != TJ_OK && job.source.name[0] == 'p' && !limited)
    abort();
  tj_job_destroy(&job);
  return 0;
}
