/* SPDX-License-Identifier: MIT */
/* From options to questions. */
#include "tools/input/question.h"

#include "tools/input/import.h"
#include "tools/input/input.h"
#include "tools/report/report.h"

#include <stdio.h>
#include <stdlib.h>

/* What FILE and -e define, to be freed; NULL where there is no memory. */
static char *join_texts(const program_text *program) {
  size_t length = 1;
  for (size_t i = 0; i < program->count; i++)
    length += program->piece[i].length + 3;
  char *text = calloc(length, 1);
  size_t used = 0;
  for (size_t i = 0; i < program->count && text != NULL; i++)
    used += (size_t)snprintf(text + used, length - used, "%s%.*s", i > 0 ? "\n;\n" : "",
                             (int)program->piece[i].length, program->piece[i].text);
  return text;
}

static int ask_in(tj_context *context, const char *file, const question_setting *question, asker ask, void *data) {
  int status = 0;
  import_files(context, file);
  tj_status asked = ask(context, question, data, &status);
  return asked == TJ_OK ? status : fail_library(context, asked);
}

static int ask_with(const arguments *given, const input *from, question_setting *question, asker ask, void *data) {
  parameter_list fixed;
  int status = parse_parameters(given, "set", &fixed);
  question->fixed = fixed.value;
  question->fixed_count = fixed.count;
  tj_context *context = status == 0 ? open_context() : NULL;
  if (status == 0)
    status = context != NULL ? ask_in(context, from->file, question, ask, data) : TJ_ERROR_SYSTEM;
  tj_context_destroy(context);
  free_parameters(&fixed);
  return status;
}

static int with_question(const arguments *given, asker ask, void *data) {
  question_setting question = {.form = option_given(given, "json") ? TJ_CHECK_JSON : TJ_CHECK_TEXT};
  input from;
  program_text program;
  int status = sort_input(given, 1, &from);
  if (status == 0)
    status = load_program_text(&from, &program);
  if (status != 0)
    return status;
  char *declarations = join_texts(&program);
  free(program.file);
  question.declarations = declarations;
  status = declarations != NULL ? ask_with(given, &from, &question, ask, data) : fail_memory();
  free(declarations);
  return status;
}

/* --- LDS --- */

typedef struct {
  tj_lds_question *asked;
  lds_asker ask;
  void *data;
} lds_question;

static tj_status ask_lds(tj_context *context, const question_setting *question, void *data, int *exit) {
  const lds_question *of = data;
  of->asked->declarations = question->declarations;
  of->asked->fixed = question->fixed;
  of->asked->fixed_count = question->fixed_count;
  of->asked->form = question->form;
  return of->ask(context, of->asked, of->data, exit);
}

int with_lds_question(const arguments *given, tj_lds_question *question, lds_asker ask, void *data) {
  question->lds = option_value(given, "lds");
  question->store = option_value(given, "store");
  question->load = option_value(given, "load");
  question->target = option_value(given, "target");
  question->dtype = option_value(given, "dtype");
  return with_question(given, ask_lds, &(lds_question){question, ask, data});
}

/* --- tensor DMA --- */

static tj_status ask_dma(tj_context *context, const question_setting *question, void *data, int *exit) {
  const arguments *given = data;
  const tj_dma_question asked = {.declarations = question->declarations,
                                 .tensor = option_value(given, "dma"),
                                 .tile = option_value(given, "tile"),
                                 .lds = option_value(given, "lds"),
                                 .at = option_value(given, "at"),
                                 .target = option_value(given, "target"),
                                 .dtype = option_value(given, "dtype"),
                                 .fixed = question->fixed,
                                 .fixed_count = question->fixed_count,
                                 .form = question->form,
                                 .as_program = option_given(given, "program"),
                                 .function = option_value(given, "function")};
  tj_blob report;
  int holds;
  tj_status done = tj_check_dma(context, &asked, &holds, &report);
  if (done != TJ_OK)
    return done;
  bool is_program = asked.as_program || asked.function != NULL;
  if (!holds || !is_program)
    return report_check(context, &report, holds, exit);
  *exit = write_made(context, given, json_object(), &report);
  return TJ_OK;
}

int check_dma(const arguments *given) {
  if (option_value(given, "tile") == NULL || option_value(given, "target") == NULL)
    return fail_usage("check --dma takes --tile and --target; see tilejit check --help");
  if (option_given(given, "store") || option_given(given, "load"))
    return fail_usage("--store and --load go without --dma; see tilejit check --help");
  return with_question(given, ask_dma, (void *)given);
}

tj_status report_check(tj_context *context, tj_blob *report, int holds, int *exit) {
  *exit = write_blob(context, report);
  if (*exit == 0 && !holds)
    *exit = TJ_ERROR_INPUT;
  return TJ_OK;
}
