/* SPDX-License-Identifier: MIT */
/* Compiling a kernel by the options of a call. */
#include "tools/input/kernel.h"

#include "tools/report/report.h"

#include <stdlib.h>
#include <string.h>

static int check(const kernel *opened, tj_status status) {
  return status == TJ_OK ? 0 : fail_library(opened->context, status);
}

/* A single text is not even parsed where the cache knows it. */
static tj_status compile_pieces(kernel *opened, const program_text *text, const parameter_list *fixed,
                                const tj_compile_options *options) {
  const tj_program_piece *only = text->piece;
  if (text->count == 1)
    return tj_code_compile_text(opened->context, only->name, only->text, only->length, fixed->value, fixed->count,
                                options, &opened->code);
  tj_program *program;
  tj_status status =
      tj_program_create_of(opened->context, text->piece, text->count, fixed->value, fixed->count, &program);
  if (status != TJ_OK)
    return status;
  status = tj_code_compile(program, options, &opened->code);
  tj_program_destroy(program);
  return status;
}

static int compile(const arguments *given, const program_text *text, const char *target, kernel *opened) {
  tj_compile_options options = {option_value(given, "kernel"), target};
  parameter_list fixed;
  int status = parse_parameters(given, "set", &fixed);
  if (status == 0)
    status = check(opened, compile_pieces(opened, text, &fixed, &options));
  free_parameters(&fixed);
  return status;
}

static int pass_parameter(const kernel *opened, const char *word) {
  passed_value passed;
  int status = parse_passed(word, &passed);
  if (status != 0)
    return status;
  status = check(opened, passed.is_integer ? tj_launch_set_parameter(opened->launch, passed.name, passed.integer)
                                           : tj_launch_set_number(opened->launch, passed.name, passed.number));
  free(passed.name);
  return status;
}

static int pass_parameters(const arguments *given, const kernel *opened) {
  int status = 0;
  for (size_t i = 0; status == 0 && i < given->option_count; i++) {
    if (strcmp(given->option[i].name, "arg") == 0)
      status = pass_parameter(opened, given->option[i].value);
  }
  return status;
}

int open_kernel(const arguments *given, const program_text *text, const char *target, tj_context *context,
                kernel *opened) {
  *opened = (kernel){.context = context};
  int status = compile(given, text, target, opened);
  if (status == 0)
    status = check(opened, tj_launch_create(context, opened->code, &opened->launch));
  return status == 0 ? pass_parameters(given, opened) : status;
}

void close_kernel(kernel *opened) {
  tj_launch_destroy(opened->launch);
  tj_code_destroy(opened->code);
}
