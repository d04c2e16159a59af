/* SPDX-License-Identifier: MIT */
/* tilejit eval: the value of an expression, or the table of a map; of one program, or of each line of many. */
#include "tools/input/input.h"
#include "tools/report/progress.h"
#include "tools/report/report.h"

#include <stdlib.h>
#include <string.h>

static const char *const languages[] = {
#define LANGUAGE(word, form) word,
#include "tools/call/word.def"
    NULL};

static tj_text_form language_of(const char *word) {
  static const tj_text_form forms[] = {
#define LANGUAGE(word, form) form,
#include "tools/call/word.def"
  };
  size_t i = 0;
  while (strcmp(languages[i], word) != 0)
    i++;
  return forms[i];
}

static tj_status value_text(tj_program *program, const arguments *given, tj_blob *output) {
  const char *as = option_value(given, "as");
  if (as != NULL && !option_given(given, "table"))
    return tj_program_foreign_text(program, language_of(as), output);
  if (!option_given(given, "table"))
    return tj_program_value(program, output);
  return tj_program_table(program, option_given(given, "json") ? TJ_TABLE_OBJECT : TJ_TABLE_VALUES, output);
}

static void print_line(const char *text) {
  clear_progress();
  puts(text);
}

/* Prints the program's value, table or both as the options ask. Tables are JSON as they are. */
static tj_status print_value(tj_context *context, tj_program *program, void *data, int *exit) {
  const arguments *given = data;
  tj_blob output;
  tj_status status = value_text(program, given, &output);
  if (status != TJ_OK)
    return status;
  if (option_given(given, "json") && !option_given(given, "table"))
    *exit = print_json(json_pack("{s:s%}", "value", output.data, output.size));
  else
    print_line(output.data);
  tj_blob_release(context, &output);
  return TJ_OK;
}

/* --- lines --- */

typedef struct {
  const arguments *given;
  tj_context *context;
  tj_prelude *prelude;
  parameter_list fixed;
} batch;

/* Prints an error in the value's place. */
static int print_line_error(const batch *lines, tj_status status) {
  const tj_diagnostic *diagnostic = tj_context_diagnostic(lines->context);
  if (option_given(lines->given, "json"))
    print_json(diagnostic_json(diagnostic));
  else
    printf("error: TJ%04u: %s\n", diagnostic->code, diagnostic->message);
  return exit_status(status);
}

/* A line that defines and has no value prints nothing. */
static int evaluate_line(batch *lines, const char *line, size_t length) {
  int exit = 0;
  tj_program *program = NULL;
  tj_status status = tj_program_create_after(lines->prelude, "<line>", line, length, lines->fixed.value,
                                             lines->fixed.count, &program);
  if (status == TJ_OK && (tj_program_has_value(program) || tj_program_item_count(program) == 0))
    status = print_value(lines->context, program, (void *)lines->given, &exit);
  if (status != TJ_OK)
    exit = print_line_error(lines, status);
  tj_program_destroy(program);
  return exit;
}

/* What a FILE defines, all lines see. */
static int evaluate_file(batch *lines, const char *path) {
  char *text;
  size_t length;
  int exit = read_file(path, &text, &length);
  if (exit != 0)
    return exit;
  tj_program *program = NULL;
  tj_status status =
      tj_program_create_after(lines->prelude, path, text, length, lines->fixed.value, lines->fixed.count, &program);
  tj_program_destroy(program);
  free(text);
  return status == TJ_OK ? 0 : fail_library(lines->context, status);
}

/* Nothing but blanks and a comment, which have no zero bytes. */
static bool is_empty(const char *line, size_t length) {
  const char *begin = line + strspn(line, " \t\r\n");
  return strlen(line) == length && (*begin == '\0' || *begin == '#');
}

static int evaluate_lines(batch *lines) {
  char *line = NULL;
  size_t capacity = 0;
  ssize_t length;
  int worst = 0;
  while (!is_interrupted() && (length = getline(&line, &capacity, stdin)) >= 0) {
    if (length > 0 && line[length - 1] == '\n')
      line[--length] = '\0';
    int status = is_empty(line, (size_t)length) ? 0 : evaluate_line(lines, line, (size_t)length);
    worst = status > worst ? status : worst;
  }
  free(line);
  return worst;
}

static int evaluate_batch(batch *lines) {
  const char *path = option_value(lines->given, "f");
  tj_status created = tj_prelude_create(lines->context, &lines->prelude);
  if (created != TJ_OK)
    return fail_library(lines->context, created);
  int status = parse_parameters(lines->given, "set", &lines->fixed);
  if (status == 0 && path != NULL)
    status = evaluate_file(lines, path);
  if (status == 0)
    status = evaluate_lines(lines);
  free_parameters(&lines->fixed);
  tj_prelude_destroy(lines->prelude);
  return status;
}

/* Whether the only operand is -, and no option gives an expression. */
static bool asks_for_lines(const arguments *given) {
  return given->operand_count == 1 && strcmp(given->operand[0], "-") == 0 && !option_given(given, "e");
}

static int run(const arguments *given) {
  if (!asks_for_lines(given))
    return with_program(given, print_value, (void *)given);
  batch lines = {.given = given, .context = open_context()};
  if (lines.context == NULL)
    return TJ_ERROR_SYSTEM;
  int status = evaluate_batch(&lines);
  tj_context_destroy(lines.context);
  return status;
}

static const option options[] = {
    {"as", VALUE_WORD, "LANGUAGE", "the value as an expression of another language: cute, cute-dsl, ck", languages,
     false},
    {"table", VALUE_NONE, NULL, "print the map's values over its whole domain, as JSON", NULL, false},
    {0}};

static const operand operands[] = {EXPRESSION_OPERAND, {0}};

const command command_eval = {"eval",
                              "Print the value of an expression in canonical text",
                              "EXPR may be a whole program whose last item is a bare expression after a ';'. With - "
                              "alone, each line of standard\n"
                              "input is one; each gives one line of output, and what fails prints its error there. "
                              "Blank lines and comments are\n"
                              "passed over. With -f -, all of standard input is one program.\n\n"
                              "With --as, the value is C++ for CuTe or CK Tile, or Python for CuTe's DSL, where "
                              "parameters are variables; what\n"
                              "they cannot say is an error.\n\n"
                              "A table runs over the domain with the first mode fastest for layouts, the last for "
                              "views and transforms. --json\n"
                              "prints an object: value; with --table, lengths, values and valid.",
                              expression_input,
                              options,
                              operands,
                              run};
