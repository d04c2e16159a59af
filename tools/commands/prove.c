/* SPDX-License-Identifier: MIT */
/* tilejit prove: two values are equal, or here is where they are not. */
#include "tools/import.h"
#include "tools/input.h"
#include "tools/report.h"

#include <stdlib.h>

static int prove(tj_context *context, const arguments *given, const input *from, const char *declarations) {
  int equal;
  tj_blob text;
  parameter_list fixed;
  int status = parse_parameters(given, "set", &fixed);
  if (status == 0) {
    tj_proof_form form = option_given(given, "json") ? TJ_PROOF_JSON : TJ_PROOF_TEXT;
    tj_status proved = tj_prove(context, declarations, from->expression[0], from->expression[1], fixed.value,
                                fixed.count, form, &equal, &text);
    status = proved != TJ_OK ? fail_library(context, proved) : write_blob(context, NULL, &text);
    if (proved == TJ_OK && status == 0 && !equal)
      status = TJ_ERROR_INPUT;
  }
  free_parameters(&fixed);
  return status;
}

static int run(const arguments *given) {
  input from;
  int status = input_of(given, 2, &from);
  if (status != 0)
    return status;
  if (from.expression_count != 2)
    return fail_usage("prove takes two expressions; see tilejit prove --help");
  char *declarations = NULL;
  size_t size;
  status = from.file != NULL ? read_file(from.file, &declarations, &size) : 0;
  if (status != 0)
    return status;
  tj_context *context = open_context();
  if (context != NULL)
    import_files(context, from.file);
  status = context != NULL ? prove(context, given, &from, declarations) : TJ_ERROR_SYSTEM;
  tj_context_destroy(context);
  free(declarations);
  return status;
}

static const option options[] = {{0}};

static const operand operands[] = {
    {"A", VALUE_EXPRESSION, "an expression; - and what ends in .tile is a FILE", NULL, 0, 1},
    {"B", VALUE_EXPRESSION, "another; FILE may stand beside both", NULL, 0, 2},
    {0}};

const command command_prove = {
    "prove",
    "Prove two values equal for all parameters and coordinates, or find where they differ",
    "Each may be a program that ends in an expression; items that both have as the same text count once; what FILE\n"
    "defines both see. Proved by the simplifier's rules, by trying every case where there are at most 2^24, or by "
    "Z3,\n"
    "where tilejit was built with it. A counterexample comes with both values, and is the first one: parameters in "
    "the\n"
    "order of declaration, then coordinates, each from its least value on. --json prints an object: equal, text, "
    "verdict,\n"
    "and cases, counterexample and values, or why. Exit status: 0 equal; 1 different, or not decided.",
    comparison_input,
    options,
    operands,
    run};
