/* SPDX-License-Identifier: MIT */
/* tj_check_lds: a question about LDS, its texts as one program. */
#include "base/machine/target_id.h"
#include "base/number/dtype.h"
#include "frontend/text/ast.h"
#include "ir/index/print.h"
#include "jit/compile/expressions.h"
#include "jit/compile/pipeline.h"
#include "jit/inspect/check_lds.h"
#include "jit/inspect/report_findings.h"
#include "launch/api/context.h"

#define DEFAULT_DTYPE "f32"
#define DEFAULT_TARGET "gfx942"

typedef struct {
  const tj_lds_question *question;
  tj_text text;
  bool holds;
} asking;

static void find_element(tj_job *job, const tj_lds_question *question, tj_lds_check *check) {
  tj_dtype dtype;
  check->dtype = question->dtype != NULL ? question->dtype : DEFAULT_DTYPE;
  if (!tj_dtype_find(check->dtype, &dtype))
    tj_fail(job, TJ_UNKNOWN_DTYPE, "there is no element type '%s'", check->dtype);
  check->element_bytes = tj_dtype_bits(dtype) / 8;
}

static void find_memory(tj_job *job, const tj_lds_question *question, tj_lds_check *check) {
  tj_target_id id;
  tj_target_reason reason;
  check->target = question->target != NULL ? question->target : DEFAULT_TARGET;
  if (!tj_target_id_parse(check->target, &id, &reason) || !tj_shared_memory_of(id.processor, &check->memory)) {
    tj_note(job, "targets with LDS are gfx90a, gfx942, …, and sm_75 to sm_121");
    tj_fail(job, TJ_UNKNOWN_TARGET, "%s is no target with LDS", check->target);
  }
}

static void evaluate(tj_job *job, const tj_lds_question *question, tj_lds_check *check) {
  tj_named_text text[TJ_MOST_EXPRESSIONS] = {{"lds", question->lds}};
  uint32_t count = 1, store = 0, load = 0;
  if (question->store != NULL)
    text[store = count++] = (tj_named_text){"store", question->store};
  if (question->load != NULL)
    text[load = count++] = (tj_named_text){"load", question->load};
  tj_join_expressions(job, question->declarations, text, count, "to check");
  check->graph = tj_graph_create(job);
  tj_evaluated all = tj_pipeline_evaluate(check->graph, NULL, question->fixed, question->fixed_count);
  const tj_value *const *value = all.values->value->item;
  const tj_ast *const *ast = all.ast->value->item;
  check->lds = value[0];
  check->store = store > 0 ? value[store] : NULL;
  check->load = load > 0 ? value[load] : NULL;
  check->lds_span = ast[0]->span;
  check->store_span = ast[store]->span;
  check->load_span = ast[load]->span;
}

static void answer(tj_job *job, void *data) {
  asking *a = data;
  tj_lds_check check = {0};
  find_element(job, a->question, &check);
  find_memory(job, a->question, &check);
  evaluate(job, a->question, &check);
  tj_text title = tj_text_begin(job);
  tj_value_print(&title, tj_value_simplified(check.graph, check.lds));
  tj_sections sections = {.job = job};
  tj_check_lds_of(&check, &tj_sections_add(&sections, 0, title.data)->findings);
  a->holds = tj_sections_judge(&sections, a->question->require, a->question->require_count);
  a->text = tj_text_begin(job);
  tj_sections_report(&sections, a->question->form, a->holds, &a->text);
}

tj_status tj_check_lds(tj_context *context, const tj_lds_question *question, int *holds, tj_blob *text) {
  tj_job job;
  tj_job_init(&job, &context->allocator);
  asking a = {.question = question};
  tj_status status = tj_context_run(context, &job, answer, &a);
  if (status == TJ_OK)
    status = tj_context_blob(context, a.text.data, a.text.length, text);
  if (status == TJ_OK)
    *holds = a.holds;
  tj_job_destroy(&job);
  return status;
}
