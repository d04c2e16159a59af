/* SPDX-License-Identifier: MIT */
/* tilejit prove: two values are equal, or a value and functions in C, or here is where they are not. */
#include "tools/input/import.h"
#include "tools/input/input.h"
#include "tools/report/report.h"

#include <stdlib.h>
#include <string.h>

static tj_proof_form form_of(const arguments *given) {
  return option_given(given, "json") ? TJ_PROOF_JSON : TJ_PROOF_TEXT;
}

/* --- two expressions --- */

static int prove(tj_context *context, const arguments *given, const input *from, const char *declarations) {
  int equal;
  tj_blob text;
  parameter_list fixed;
  int status = parse_parameters(given, "set", &fixed);
  if (status == 0) {
    tj_status proved = tj_prove(context, declarations, from->expression[0], from->expression[1], fixed.value,
                                fixed.count, form_of(given), &equal, &text);
    status = proved != TJ_OK ? fail_library(context, proved) : write_blob(context, &text);
    if (proved == TJ_OK && status == 0 && !equal)
      status = TJ_ERROR_INPUT;
  }
  free_parameters(&fixed);
  return status;
}

static int prove_two(const arguments *given, const input *from) {
  char *declarations = NULL;
  size_t size;
  int status = from->file != NULL ? read_file(from->file, &declarations, &size) : 0;
  if (status != 0)
    return status;
  tj_context *context = open_context();
  if (context != NULL)
    import_files(context, from->file);
  status = context != NULL ? prove(context, given, from, declarations) : TJ_ERROR_SYSTEM;
  tj_context_destroy(context);
  free(declarations);
  return status;
}

/* --- a value and functions in C --- */

/* No expression ends so. */
static bool is_code(const char *word) {
  const char *ending = strrchr(word, '.');
  static const char *const endings[] = {".c", ".h", ".cpp", ".hpp", ".cu", ".cuh", ".hip"};
  for (size_t i = 0; ending != NULL && i < sizeof endings / sizeof *endings; i++) {
    if (strcmp(ending, endings[i]) == 0)
      return true;
  }
  return false;
}

/* Takes the file of C out of the expressions; NULL where there is none. */
static const char *take_code(input *from) {
  for (unsigned i = 0; i < from->expression_count; i++) {
    const char *word = from->expression[i];
    if (!is_code(word))
      continue;
    from->expression[i] = from->expression[--from->expression_count];
    return word;
  }
  return NULL;
}

typedef struct {
  const arguments *given;
  tj_program_piece code;
} function_proof;

static tj_status prove_function(tj_context *context, tj_program *program, void *data, int *exit) {
  const function_proof *p = data;
  int equal;
  tj_blob text;
  tj_status proved = tj_program_prove_function(program, &p->code, option_value(p->given, "function"),
                                               form_of(p->given), &equal, &text);
  if (proved != TJ_OK)
    return proved;
  *exit = write_blob(context, &text);
  if (*exit == 0 && !equal)
    *exit = TJ_ERROR_INPUT;
  return TJ_OK;
}

static int prove_code(const arguments *given, const input *from, const char *path) {
  char *text = NULL;
  size_t size;
  int status = read_file(path, &text, &size);
  if (status != 0)
    return status;
  function_proof p = {given, {path, text, size}};
  status = with_program_of(given, from, prove_function, &p);
  free(text);
  return status;
}

static int run(const arguments *given) {
  input from;
  int status = input_of(given, 2, &from);
  if (status != 0)
    return status;
  const char *code = take_code(&from);
  if (code != NULL)
    return prove_code(given, &from, code);
  if (option_given(given, "function"))
    return fail_usage("--function goes with a file of C; see tilejit prove --help");
  if (from.expression_count != 2)
    return fail_usage("prove takes two expressions, or one and a file of C; see tilejit prove --help");
  return prove_two(given, &from);
}

static const option options[] = {
    {"function", VALUE_NAME, "NAME", "of a file of C: which functions; without it, those that it has", NULL, false},
    {0}};

static const operand operands[] = {
    {"A", VALUE_EXPRESSION, "an expression; - and what ends in .tile is a FILE", NULL, 0, 1},
    {"B", VALUE_EXPRESSION, "another, or a file of C, .c or .h; FILE may stand beside both", NULL, 0, 2},
    {0}};

const command command_prove = {
    "prove",
    "Prove two values, or a value and functions in C, equal everywhere, or find where they differ",
    "Each may be a program that ends in an expression; items that both have as the same text count once; what FILE\n"
    "defines both see. Proved by the simplifier's rules, by trying every case where there are at most 2^24, of all\n"
    "or of one pair of expressions, or by Z3, where tilejit was built with it. A counterexample comes with both\n"
    "values, and is the first one: parameters in the order of declaration, then coordinates, each from its least\n"
    "value on. --json prints an object: equal, text, verdict, and cases, counterexample and values, or why. Exit\n"
    "status: 0 equal; 1 different, or not decided.\n"
    "Functions in C are what compile --function NAME --emit c writes, or a person: NAME of the coordinates, then\n"
    "parameters; NAME_valid; of walks NAME_init, NAME_next, NAME_offset, proved by induction over the steps. The "
    "value\n"
    "may be the one that FILE ends in.",
    comparison_input,
    options,
    operands,
    run};
