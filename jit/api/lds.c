/* SPDX-License-Identifier: MIT */
/* Questions about LDS: tj_check_lds and tj_suggest_lds_layouts, their texts as one program. */
#include "base/machine/target_id.h"
#include "jit/api/texts.h"
#include "jit/inspect/report_findings.h"
#include "jit/lds/check_lds.h"
#include "jit/lds/report_suggest.h"
#include "jit/show/show.h"

#define DEFAULT_TARGET "gfx942"

/* A question, and what is made of it in a job. */
typedef struct asking {
  const tj_lds_question *question;
  const tj_show_options *options; /* of a picture */
  void (*answer)(tj_job *job, struct asking *a);
  tj_text text;
  bool holds;
} asking;

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
  const tj_asked_text asked[] = {{{"lds", question->lds}, &check->lds, &check->lds_span},
                                 {{"store", question->store}, &check->store, &check->store_span},
                                 {{"load", question->load}, &check->load, &check->load_span}};
  check->graph = tj_graph_create(job);
  tj_evaluate_texts(check->graph, question->declarations, question->fixed, question->fixed_count, asked,
                    sizeof asked / sizeof *asked);
}

static void need_side(tj_job *job, const tj_lds_question *question) {
  if (question->store == NULL && question->load == NULL)
    tj_fail(job, TJ_NOTHING_TO_EVALUATE, "nobody stores or loads");
}

static tj_lds_check check_of(tj_job *job, const tj_lds_question *question) {
  tj_lds_check check = {.dtype = question->dtype != NULL ? question->dtype : TJ_ASKED_DTYPE,
                        .lds_span = TJ_NOWHERE,
                        .store_span = TJ_NOWHERE,
                        .load_span = TJ_NOWHERE};
  check.element_bytes = tj_asked_element_bytes(job, check.dtype);
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

static void answer_show(tj_job *job, asking *a) {
  need_side(job, a->question);
  tj_lds_check check = check_of(job, a->question);
  tj_show_check_options(job, a->options);
  tj_text title = tj_text_begin(job);
  tj_value_print(&title, tj_value_simplified(check.graph, check.lds));
  tj_picture picture = {.title = title.data};
  tj_show_banks(&check, &picture);
  tj_show_write(&picture, a->options, &a->text);
}

static void answer_suggest(tj_job *job, asking *a) {
  need_side(job, a->question);
  tj_lds_check check = check_of(job, a->question);
  tj_suggestions found = tj_suggest_lds(&check, a->question->bytes, a->question->tile);
  tj_suggestions_report(&check, &found, a->question->form, &a->text);
}

static void answer(tj_job *job, void *data) {
  asking *a = data;
  a->text = tj_text_begin(job);
  a->answer(job, a);
}

tj_status tj_check_lds(tj_context *context, const tj_lds_question *question, int *holds, tj_blob *text) {
  asking a = {.question = question, .answer = answer_check};
  tj_status status = tj_answer(context, answer, &a, &a.text, text);
  if (status == TJ_OK)
    *holds = a.holds;
  return status;
}

tj_status tj_show_lds(tj_context *context, const tj_lds_question *question, const tj_show_options *options,
                      tj_blob *picture) {
  static const tj_show_options text = {.form = TJ_SHOW_TEXT};
  asking a = {.question = question, .options = options != NULL ? options : &text, .answer = answer_show};
  return tj_answer(context, answer, &a, &a.text, picture);
}

tj_status tj_suggest_lds_layouts(tj_context *context, const tj_lds_question *question, tj_blob *text) {
  asking a = {.question = question, .answer = answer_suggest};
  return tj_answer(context, answer, &a, &a.text, text);
}
