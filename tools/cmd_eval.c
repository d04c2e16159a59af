/* SPDX-License-Identifier: MIT */
/* tilejit eval: the value of an expression, or the table of a map. */
#include "command.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static tj_status value_as_json(tj_context *context, tj_program *program, tj_blob *output) {
  tj_blob text;
  tj_status status = tj_program_value(program, &text);
  if (status != TJ_OK)
    return status;
  json_t *object = json_pack("{s:s}", "value", text.data);
  output->data = object != NULL ? json_dumps(object, JSON_COMPACT) : NULL;
  output->size = output->data != NULL ? strlen(output->data) : 0;
  json_decref(object);
  tj_blob_release(context, &text);
  return output->data != NULL ? TJ_OK : TJ_ERROR_MEMORY;
}

/* Prints the program's value, table or both as the options ask. */
static tj_status print_value(tj_context *context, const arguments *given, tj_program *program) {
  bool json = option_given(given, "json"), table = option_given(given, "table");
  tj_blob output;
  tj_status status;
  if (json && !table) {
    status = value_as_json(context, program, &output);
    if (status == TJ_OK) {
      puts(output.data);
      free(output.data);
    }
    return status;
  }
  status = table ? tj_program_table(program, json ? TJ_TABLE_OBJECT : TJ_TABLE_VALUES, &output)
                 : tj_program_value(program, &output);
  if (status == TJ_OK) {
    puts(output.data);
    tj_blob_release(context, &output);
  }
  return status;
}

static int evaluate_one(tj_context *context, const arguments *given, const program_text *text) {
  tj_program *program;
  int status = create_program(context, given, text, &program);
  if (status != 0)
    return status;
  tj_status printed = print_value(context, given, program);
  if (printed != TJ_OK)
    status = fail_library(context, printed);
  tj_program_destroy(program);
  return status;
}

/* One line of a batch: what fails prints its error in the value's place. */
static int evaluate_line(tj_context *context, const arguments *given, const parameter_list *fixed, const char *path,
                         const char *line) {
  program_text text;
  int loaded = load_program_text(path, line, &text);
  if (loaded != 0)
    return loaded;
  tj_program *program = NULL;
  tj_status status =
      tj_program_create(context, "<line>", text.text, text.length, fixed->value, fixed->count, &program);
  if (status == TJ_OK)
    status = print_value(context, given, program);
  if (status != TJ_OK) {
    const tj_diagnostic *diagnostic = tj_context_diagnostic(context);
    printf("error: TJ%04u: %s\n", diagnostic->code, diagnostic->message);
  }
  tj_program_destroy(program);
  free(text.text);
  return exit_status(status);
}

static int evaluate_lines(tj_context *context, const arguments *given, const char *path) {
  parameter_list fixed;
  int worst = parse_parameters(given, "set", &fixed);
  char *line = NULL;
  size_t capacity = 0;
  ssize_t length;
  while (worst != TJ_ERROR_USAGE && (length = getline(&line, &capacity, stdin)) >= 0) {
    if (length > 0 && line[length - 1] == '\n')
      line[length - 1] = '\0';
    int status = evaluate_line(context, given, &fixed, path, line);
    worst = status > worst ? status : worst;
  }
  free(line);
  free_parameters(&fixed);
  return worst;
}

static int run(const arguments *given) {
  const char *path = option_value(given, "f");
  if (given->operand_count > 1)
    return fail_usage("eval takes one expression; quote it");
  if (given->operand_count == 0 && path == NULL)
    return fail_usage("eval needs an expression, - or -f FILE; see tilejit eval --help");
  tj_context *context = open_context();
  if (context == NULL)
    return TJ_ERROR_SYSTEM;
  const char *expression = given->operand_count == 1 ? given->operand[0] : NULL;
  int status;
  if (expression != NULL && strcmp(expression, "-") == 0) {
    status = evaluate_lines(context, given, path);
  } else {
    program_text text;
    status = load_program_text(path, expression, &text);
    if (status == 0) {
      status = evaluate_one(context, given, &text);
      free(text.text);
    }
  }
  tj_context_destroy(context);
  return status;
}

static const option options[] = {{"table", NULL, "print the map's values over its whole domain, as JSON"},
                                 {"json", NULL, "print JSON; with --table also lengths and validity"},
                                 {"f", "FILE", "read a program; its definitions are visible to EXPR"},
                                 {"set", "P=V", "fix a parameter"},
                                 {NULL, NULL, NULL}};

const command command_eval = {
    "eval",
    "Print the value of an expression in canonical text",
    "[--table] [--json] [--set P=V]… [-f FILE] [EXPR | -]",
    "EXPR may be a whole program whose last item is a bare expression after a ';'. With -, each line of standard\n"
    "input is one; each gives one line of output, and what fails prints its error there.\n\n"
    "A table runs over the domain with the first mode fastest for layouts, the last for views and transforms.",
    options,
    run};
