/* SPDX-License-Identifier: MIT */
/* Proving two texts equal: one program of the items of both, whose value is the pair of their expressions. */
#include "ir/index/print.h"
#include "ir/value/equivalence.h"
#include "jit/compile/expressions.h"
#include "jit/compile/pipeline.h"
#include "jit/inspect/report_proof.h"
#include "launch/api/context.h"

#include <inttypes.h>

typedef struct {
  const char *declarations, *a, *b;
  const tj_parameter_value *fixed;
  size_t fixed_count;
  tj_proof_form form;
  bool equal;
  tj_text text;
} proof;

static void write_json(proof *p, const tj_equivalence *found) {
  tj_text line = tj_text_begin(p->text.job);
  tj_json json = tj_json_begin(&p->text);
  tj_verdict_print(found, &line);
  tj_json_open(&json, '{');
  tj_json_key(&json, "equal");
  tj_json_boolean(&json, p->equal);
  tj_json_member(&json, "text", line.data);
  tj_verdict_write(found, &json);
  tj_json_close(&json, '}');
  tj_text_char(&p->text, '\n');
}

static void write_verdict(proof *p, const tj_equivalence *found) {
  if (found->verdict == TJ_UNDECIDED)
    tj_fail(p->text.job, TJ_UNDECIDED_EQUALITY, "neither the rules nor %" PRIu64 " cases decide it; %s",
            found->case_count, found->why_not);
  if (p->form == TJ_PROOF_JSON) {
    write_json(p, found);
    return;
  }
  tj_verdict_print(found, &p->text);
  tj_text_char(&p->text, '\n');
}

static void prove(tj_job *job, void *data) {
  proof *p = data;
  tj_join_expressions(job, p->declarations,
                      (tj_named_text[]){{"the first expression", p->a}, {"the second expression", p->b}}, 2,
                      "to compare");
  tj_graph *graph = tj_graph_create(job);
  const tj_value *both = tj_pipeline_evaluate(graph, NULL, p->fixed, p->fixed_count).values->value;
  tj_equivalence found = tj_equivalence_of(graph, both->item[0], both->item[1]);
  p->text = tj_text_begin(job);
  p->equal = tj_is_equal(found.verdict);
  write_verdict(p, &found);
}

tj_status tj_prove(tj_context *context, const char *declarations, const char *a, const char *b,
                   const tj_parameter_value fixed[], size_t fixed_count, tj_proof_form form, int *equal,
                   tj_blob *text) {
  tj_job job;
  tj_job_init(&job, &context->allocator);
  proof p = {.declarations = declarations, .a = a, .b = b, .fixed = fixed, .fixed_count = fixed_count, .form = form};
  tj_status status = tj_context_run(context, &job, prove, &p);
  if (status == TJ_OK)
    status = tj_context_blob(context, p.text.data, p.text.length, text);
  if (status == TJ_OK)
    *equal = p.equal;
  tj_job_destroy(&job);
  return status;
}
