/* SPDX-License-Identifier: MIT */
/* From options to a question about LDS. */
#include "tools/lds.h"

#include "tools/import.h"
#include "tools/input.h"
#include "tools/report.h"

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

static int ask_in(tj_context *context, const char *file, tj_lds_question *question, lds_asker ask) {
  int status = 0;
  import_files(context, file);
  tj_status asked = ask(context, question, &status);
  return asked == TJ_OK ? status : fail_library(context, asked);
}

static int ask_with(const arguments *given, const input *from, tj_lds_question *question, lds_asker ask) {
  parameter_list fixed;
  int status = parse_parameters(given, "set", &fixed);
  question->fixed = fixed.value;
  question->fixed_count = fixed.count;
  tj_context *context = status == 0 ? open_context() : NULL;
  if (status == 0)
    status = context != NULL ? ask_in(context, from->file, question, ask) : TJ_ERROR_SYSTEM;
  tj_context_destroy(context);
  free_parameters(&fixed);
  return status;
}

int with_lds_question(const arguments *given, tj_lds_question *question, lds_asker ask) {
  question->lds = option_value(given, "lds");
  question->store = option_value(given, "store");
  question->load = option_value(given, "load");
  question->target = option_value(given, "target");
  question->dtype = option_value(given, "dtype");
  question->form = option_given(given, "json") ? TJ_CHECK_JSON : TJ_CHECK_TEXT;
  input from;
  program_text program;
  int status = sort_input(given, 1, &from);
  if (status == 0)
    status = load_program_text(&from, &program);
  if (status != 0)
    return status;
  char *declarations = join_texts(&program);
  free(program.file);
  question->declarations = declarations;
  status = declarations != NULL ? ask_with(given, &from, question, ask) : fail_memory();
  free(declarations);
  return status;
}
