/* SPDX-License-Identifier: MIT */
/* Joins the texts, evaluates their list, and shares its items out. */
#include "jit/api/texts.h"

#include "base/number/dtype.h"
#include "frontend/text/ast.h"
#include "jit/compile/pipeline.h"
#include "launch/api/context.h"

const tj_program_values *tj_evaluate_texts(tj_graph *graph, const char *declarations,
                                           const tj_parameter_value fixed[], size_t fixed_count,
                                           const tj_asked_text asked[], uint32_t count) {
  tj_named_text text[TJ_MOST_EXPRESSIONS] = {{NULL, NULL}};
  uint32_t given = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (asked[i].text.text != NULL)
      text[given++] = asked[i].text;
  }
  tj_join_expressions(graph->job, declarations, text, given, "to evaluate");
  tj_evaluated of = tj_pipeline_evaluate(graph, NULL, fixed, fixed_count);
  for (uint32_t i = 0, n = 0; i < count; i++) {
    if (asked[i].text.text == NULL)
      continue;
    *asked[i].value = of.values->value->item[n];
    *asked[i].span = of.ast->value->item[n++]->span;
  }
  return of.values;
}

uint32_t tj_asked_element_bytes(tj_job *job, const char *name) {
  tj_dtype dtype;
  if (!tj_dtype_find(name, &dtype))
    tj_fail(job, TJ_UNKNOWN_DTYPE, "there is no element type '%s'", name);
  return tj_dtype_bits(dtype) / 8;
}

tj_status tj_answer(tj_context *context, void (*answer)(tj_job *job, void *data), void *data, const tj_text *written,
                    tj_blob *text) {
  tj_job job;
  tj_job_init(&job, &context->allocator);
  tj_status status = tj_context_run(context, &job, answer, data);
  if (status == TJ_OK)
    status = tj_context_blob(context, written->data, written->length, text);
  tj_job_destroy(&job);
  return status;
}
