/* SPDX-License-Identifier: MIT */
/* Any bytes: they parse or are refused; what parses prints as text that parses back to the same AST, as far as
 * memory and the limit on sources reach. */
#include "frontend/text/parser.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void parse_print_parse(tj_job *job, void *data) {
  (void)data;
  const tj_program_ast *program = tj_parse(job);
  tj_text text = tj_text_begin(job);
  tj_ast_print(&text, program);
  job->source = tj_source_of("printed", text.data, text.length);
  if (!tj_ast_equal(program, tj_parse(job)))
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tj_job job;
  tj_job_init(&job, NULL);
  job.source = tj_source_of("fuzz", (const char *)data, size);
  tj_status status = tj_job_run(&job, parse_print_parse, NULL);
  bool limited = job.problem.code == TJ_MEMORY_LIMIT || job.problem.code == TJ_SOURCE_LIMIT;
  if (status != TJ_OK && job.source.name[0] == 'p' && !limited)
    abort();
  tj_job_destroy(&job);
  return 0;
}
