/* SPDX-License-Identifier: MIT */
/* tilejit simplify: the index arithmetic of a map, simplified, with the reason for every step. */
#include "tools/input/input.h"
#include "tools/report/report.h"

static tj_status simplify(tj_context *context, tj_program *program, void *data, int *exit) {
  const arguments *given = data;
  tj_simplify_form form = option_given(given, "json")    ? TJ_SIMPLIFY_JSON
                          : option_given(given, "trace") ? TJ_SIMPLIFY_TRACE
                                                         : TJ_SIMPLIFY_TEXT;
  tj_blob output;
  int proved = 1;
  tj_status done = option_given(given, "prove") ? tj_program_simplify_proved(program, form, &proved, &output)
                                                : tj_program_simplify(program, form, &output);
  if (done != TJ_OK)
    return done;
  *exit = write_blob(context, &output);
  if (*exit == 0 && !proved)
    *exit = TJ_ERROR_INPUT;
  return TJ_OK;
}

static int run(const arguments *given) {
  return with_program(given, simplify, (void *)given);
}

static const option options[] = {
    {"trace", VALUE_NONE, NULL, "print every rewrite: rule, before, after, why it was allowed", NULL, false},
    {"prove", VALUE_NONE, NULL, "prove that each result equals what it replaces, and say how", NULL, false},
    {0}};

static const operand operands[] = {EXPRESSION_OPERAND, {0}};

const command command_simplify = {
    "simplify",
    "Simplify the index arithmetic of an expression or a map",
    "--json prints text and operation counts before and after, and the rules used.\n\n"
    "--prove does not rest on the rules: it tries every case where there are at most 2^24, and otherwise asks Z3,\n"
    "where tilejit was built with it. Exit status: 1 where a result is not proved.",
    expression_input,
    options,
    operands,
    run};
