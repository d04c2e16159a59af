/* SPDX-License-Identifier: MIT */
/* Questions about LDS: tj_check_lds and tj_suggest_lds_layouts, their texts as one program. */
#include "base/machine/target_id.h"
#include "base/number/dtype.h"
#include "frontend/text/ast.h"
#include "ir/index/print.h"
#include "jit/compile/expressions.h"
#include "jit/compile/pipeline.h"
#include "jit/inspect/report_findings.h"
#include "jit/lds/check_lds.h"
#include "jit/lds/report_suggest.h"
#include "launch/api/context.h"

#define DEFAULT_DTYPE "f32"
#define DEFAULT_TARGET "gfx942"

/* A question, and what is made of it in a job. */
typedef struct asking {
  const tj_lds_question *question;
  void (*answer)(tj_job *job, struct asking *a);
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

/* The texts that are given, as one program; each list has an entry for each. */
static void evaluate(tj_job *job, const tj_lds_question *question, tj_lds_check *check) {
  const struct {
    tj_named_text text;
    const tj_value **value;
    tj_span *span;
  } all[TJ_MOST_EXPRESSIONS] = {{{"lds", question->lds}, &check->lds, &check->lds_span},
                                {{"store", question->store}, &check->store, &check->store_span},
                                {{"load", question->load}, &check->load, &check->load_span}};
  tj_named_text text[TJ_MOST_EXPRESSIONS];
  uint32_t count = 0;
  for (uint32_t i = 0; i < TJ_MOST_EXPRESSIONS; i++) {
    if (all[i].text.text != NULL)
      text[count++] = all[i].text;
  }
  tj_join_expressions(job, question->declarations, text, count, "to evaluate");
  check->graph = tj_graph_create(job);
  tj_evaluated of = tj_pipeline_evaluate(check->graph, NULL, question->fixed, question->fixed_count);
  for (uint32_t i = 0, n = 0; i < TJ_MOST_EXPRESSIONS; i++) {
    if (all[i].text.text == NULL)
      continue;
    *all[i].value = of.values->value->item[n];
    *all[i].span = of.ast->value->item[n++]->span;
  }
}

static tj_lds_check check_of(tj_job *job, const tj_lds_question *question) {
  tj_lds_check check = {.lds_span = TJ_NOWHERE, .store_span = TJ_NOWHERE, .load_span = TJ_NOWHERE};
  find_element(job, question, &check);
  find_memory(job, question, &check);
  evaluate(job, question, &check);
  return check;
}

static void answer_check(tj_job *job, asking *a) {
  tj_lds_check check = check_of(job, a->question);
  tj_text title = tj_text_begin(job);
  tj_value_print(&title, tj_value_simplified(check.graph, check.lds));
  tj_sections sections = {.job = job};
  tj_check_lds_of(&check, &tj_sections_add(&sections, 0, title.data)->findings);
  a->holds = tj_sections_judge(&sections, a->question->require, a->question->require_count);
  tj_sections_report(&sections, a->question->form, a->holds, &a->text);
}

static void answer_suggest(tj_job *job, asking *a) {
  tj_lds_check check = check_of(job, a->question);
  tj_suggestions found = tj_suggest_lds(&check, a->question->bytes, a->question->tile);
  tj_suggestions_report(&check, &found, a->question->form, &a->text);
}

static void answer(tj_job *job, void *data) {
  asking *a = data;
  a->text = tj_text_begin(job);
  a->answer(job, a);
}

static tj_status ask(tj_context *context, asking *a, tj_blob *text) {
  tj_job job;
  tj_job_init(&job, &context->allocator);
  tj_status status = tj_context_run(context, &job, answer, a);
  if (status == TJ_OK)
    status = tj_context_blob(context, a->text.data, a->text.length, text);
  tj_job_destroy(&job);
  return status;
}

tj_status tj_check_lds(tj_context *context, const tj_lds_question *question, int *holds, tj_blob *text) {
  asking a = {.question = question, .answer = answer_check};
  tj_status status = ask(context, &a, text);
  if (status == TJ_OK)
    *holds = a.holds;
  return status;
}

tj_status tj_suggest_lds_layouts(tj_context *context, const tj_lds_question *question, tj_blob *text) {
  asking a = {.question = question, .answer = answer_suggest};
  return ask(context, &a, text);
}
