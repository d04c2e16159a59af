/* SPDX-License-Identifier: MIT */
/* Proving two texts equal: one program of the items of both, whose value is the pair of their expressions. And
 * functions in C equal to the value of a program. */
#include "ir/index/print.h"
#include "ir/value/equivalence.h"
#include "jit/compile/expressions.h"
#include "jit/compile/pipeline.h"
#include "jit/compile/program.h"
#include "jit/inspect/prove_function.h"
#include "jit/inspect/report_proof.h"
#include "launch/api/context.h"

#include <inttypes.h>
#include <string.h>

/* What comes out. */
typedef struct {
  tj_proof_form form;
  bool equal;
  tj_text text;
} answer;

static void write_json(answer *to, const tj_equivalence *found) {
  tj_text line = tj_text_begin(to->text.job);
  tj_json json = tj_json_begin(&to->text);
  tj_verdict_print(found, &line);
  tj_json_open(&json, '{');
  tj_json_key(&json, "equal");
  tj_json_boolean(&json, to->equal);
  tj_json_member(&json, "text", line.data);
  tj_verdict_write(found, &json);
  tj_json_close(&json, '}');
  tj_text_char(&to->text, '\n');
}

static void write_answer(tj_job *job, answer *to, const tj_equivalence *found) {
  if (found->verdict == TJ_UNDECIDED)
    tj_fail(job, TJ_UNDECIDED_EQUALITY, "neither the rules nor %" PRIu64 " cases decide it; %s", found->case_count,
            found->why_not);
  to->text = tj_text_begin(job);
  to->equal = tj_is_equal(found->verdict);
  if (to->form == TJ_PROOF_JSON) {
    write_json(to, found);
    return;
  }
  tj_verdict_print(found, &to->text);
  tj_text_char(&to->text, '\n');
}

/* --- two texts --- */

typedef struct {
  const char *declarations, *a, *b;
  const tj_parameter_value *fixed;
  size_t fixed_count;
  answer answer;
} proof;

static void prove(tj_job *job, void *data) {
  proof *p = data;
  tj_join_expressions(job, p->declarations,
                      (tj_named_text[]){{"the first expression", p->a}, {"the second expression", p->b}}, 2,
                      "to compare");
  tj_graph *graph = tj_graph_create(job);
  const tj_value *both = tj_pipeline_evaluate(graph, NULL, p->fixed, p->fixed_count).values->value;
  tj_equivalence found = tj_equivalence_of(graph, both->item[0], both->item[1]);
  write_answer(job, &p->answer, &found);
}

tj_status tj_prove(tj_context *context, const char *declarations, const char *a, const char *b,
                   const tj_parameter_value fixed[], size_t fixed_count, tj_proof_form form, int *equal,
                   tj_blob *text) {
  tj_job job;
  tj_job_init(&job, &context->allocator);
  proof p = {declarations, a, b, fixed, fixed_count, {.form = form}};
  tj_status status = tj_context_run(context, &job, prove, &p);
  if (status == TJ_OK)
    status = tj_context_blob(context, p.answer.text.data, p.answer.text.length, text);
  if (status == TJ_OK)
    *equal = p.answer.equal;
  tj_job_destroy(&job);
  return status;
}

/* --- functions --- */

typedef struct {
  tj_program *program;
  tj_program_piece code;
  const char *name;
  answer answer;
} function_proof;

static void prove_function(tj_job *job, void *data) {
  function_proof *p = data;
  const char *text = tj_string_copy(job, p->code.text, p->code.length);
  tj_source source = tj_source_of(tj_string_copy(job, p->code.name, strlen(p->code.name)), text, p->code.length);
  const tj_c_file *file = tj_c_file_read(p->program->graph, &source);
  tj_equivalence found = tj_prove_function(p->program->graph, p->program->evaluated.values, file, p->name);
  write_answer(job, &p->answer, &found);
}

tj_status tj_program_prove_function(tj_program *program, const tj_program_piece *code, const char *name,
                                    tj_proof_form form, int *equal, tj_blob *text) {
  function_proof p = {program, *code, name, {.form = form}};
  tj_source source = program->job.source;
  tj_status status = tj_context_run(program->context, &program->job, prove_function, &p);
  program->job.source = source;
  if (status == TJ_OK)
    status = tj_context_blob(program->context, p.answer.text.data, p.answer.text.length, text);
  if (status == TJ_OK)
    *equal = p.answer.equal;
  return status;
}
