/* SPDX-License-Identifier: MIT */
/* tilejit simplify: the index arithmetic of a map, simplified, with the reason for every step. */
#include "command.h"

#include <stdlib.h>

static int simplify(tj_context *context, const arguments *given, const program_text *text) {
  tj_program *program;
  int status = create_program(context, given, text, &program);
  if (status != 0)
    return status;
  tj_simplify_form form = option_given(given, "json")    ? TJ_SIMPLIFY_JSON
                          : option_given(given, "trace") ? TJ_SIMPLIFY_TRACE
                                                         : TJ_SIMPLIFY_TEXT;
  tj_blob output;
  int proved = 1;
  tj_status done = option_given(given, "prove") ? tj_program_simplify_proved(program, form, &proved, &output)
                                                : tj_program_simplify(program, form, &output);
  if (done == TJ_OK) {
    status = write_output(NULL, output.data, output.size);
    if (status == 0 && !proved)
      status = TJ_ERROR_INPUT;
    tj_blob_release(context, &output);
  } else {
    status = fail_library(context, done);
  }
  tj_program_destroy(program);
  return status;
}

static int run(const arguments *given) {
  const char *path = option_value(given, "f");
  if (given->operand_count > 1 || (given->operand_count == 0 && path == NULL))
    return fail_usage("simplify takes one expression or -f FILE; see tilejit simplify --help");
  tj_context *context = open_context();
  if (context == NULL)
    return TJ_ERROR_SYSTEM;
  program_text text;
  int status = load_program_text(path, given->operand_count == 1 ? given->operand[0] : NULL, &text);
  if (status == 0) {
    status = simplify(context, given, &text);
    free(text.text);
  }
  tj_context_destroy(context);
  return status;
}

static const option options[] = {{"trace", NULL, "print every rewrite: rule, before, after, why it was allowed"},
                                 {"json", NULL, "print JSON: text and operation counts before and after, rules used"},
                                 {"prove", NULL, "prove that each result equals what it replaces, and say how"},
                                 {"f", "FILE", "read a program; its definitions are visible to EXPR"},
                                 {"set", "P=V", "fix a parameter"},
                                 {NULL, NULL, NULL}};

const command command_simplify = {
    "simplify",
    "Simplify the index arithmetic of an expression or a map",
    "[--trace] [--json] [--prove] [--set P=V]… EXPR | -f FILE",
    "--prove does not rest on the rules: it tries every case where there are at most\n"
    "2^24, and otherwise asks Z3, where tilejit was built with it. Exit status: 1 where\n"
    "a result is not proved.",
    options,
    run};
