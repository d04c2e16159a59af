/* SPDX-License-Identifier: MIT */
/* Any bytes: they evaluate or are refused; the canonical text of a value without parameters evaluates to a value of
 * the same text. */
#include "frontend/sema/sema.h"
#include "frontend/text/parser.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FUEL = 2 * 1000 * 1000, MEMORY = 64 * 1024 * 1024 };

/* The canonical text of the source's value; NULL where there is none, or it depends on parameters. */
static const char *evaluate(tj_job *job) {
  tj_graph *graph = tj_graph_create(job);
  const tj_program_values *values = tj_evaluate(graph, tj_parse(job), NULL, 0);
  if (values->value == NULL)
    return NULL;
  tj_text text = tj_text_begin(job);
  tj_value_print(&text, tj_value_simplified(graph, values->value));
  return values->parameter_count == 0 ? text.data : NULL;
}

static void evaluate_twice(tj_job *job, void *data) {
  const char **text = data;
  *text = evaluate(job);
  if (*text == NULL)
    return;
  job->source = tj_source_of("printed", *text, strlen(*text));
  if (strcmp(evaluate(job), *text) != 0)
    abort();
}

static bool is_limit(const tj_job *job) {
  return job->problem.code / 1000 == 7;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tj_job job;
  tj_job_init(&job, NULL);
  job.fuel = FUEL;
  job.arena.limit = MEMORY;
  job.source = tj_source_of("fuzz", (const char *)data, size);
  const char *text = NULL;
  tj_status status = tj_job_run(&job, evaluate_twice, &text);
  if (status != TJ_OK && text != NULL && !is_limit(&job))
    abort();
  tj_job_destroy(&job);
  return 0;
}
