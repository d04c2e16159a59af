/* SPDX-License-Identifier: MIT */
/* What the subcommands of tilejit share: their table, options, and the ways to end.
 *
 * How to add a subcommand: a file cmd_NAME.c that defines `const command command_NAME`, a line in main.c's table, a
 * line in CMakeLists.txt, golden tests. */
#ifndef TILEJIT_TOOLS_COMMAND_H
#define TILEJIT_TOOLS_COMMAND_H

#include "tilejit/tilejit.h"

#include <stdbool.h>
#include <stdio.h>

/* One option: --name, or -name where it is one letter. */
typedef struct {
  const char *name;
  const char *value; /* what its value is called in help; NULL: a flag */
  const char *help;
} option;

/* The options and operands of one call, in the order given. */
typedef struct {
  struct given_option {
    const char *name;
    const char *value;
  } * option;
  size_t option_count;
  const char **operand;
  size_t operand_count;
} arguments;

typedef struct {
  const char *name;
  const char *summary;                /* one line */
  const char *form;                   /* what follows the name */
  const char *details;                /* paragraphs for --help; may be "" */
  const option *options;              /* ends in {NULL, NULL, NULL} */
  int (*run)(const arguments *given); /* the exit status */
} command;

/* The last value of an option; NULL where it was not given. */
const char *option_value(const arguments *given, const char *name);
bool option_given(const arguments *given, const char *name);

/* Parses the words after the subcommand. False after printing what is wrong with them. */
bool arguments_parse(const command *of, int count, char **words, arguments *given);
void arguments_free(arguments *given);
void command_print_help(const command *of, FILE *out);

/* Prints a usage error and returns 2. */
int fail_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints an error of the tool itself, as the library's are printed, and returns its exit status. */
int fail_tool(int status, unsigned code, const char *note, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Prints the context's diagnostic and returns the exit status for `status`. */
int fail_library(tj_context *context, tj_status status);
int exit_status(tj_status status);

/* What a subcommand without operands does: prints a text that the library gives. */
int print_library_text(const arguments *given, tj_status (*text_of)(tj_context *context, tj_blob *text));

/* A context, or NULL after printing why not. */
tj_context *open_context(void);

/* The program text that -f, -e and operands ask for; freed by the caller. `name` is what diagnostics call it. */
typedef struct {
  char *text;
  size_t length;
  const char *name;
} program_text;

/* A whole file; "-" is standard input. Returns 0, or the exit status after printing why not. */
int read_file(const char *path, char **data, size_t *size);
int write_file(const char *path, const void *data, size_t size);
/* Both with an optional path: NULL is standard output. */
int write_output(const char *path, const void *data, size_t size);

/* Loads the program of a FILE (may be NULL) followed by an expression (may be NULL). */
int load_program_text(const char *path, const char *expression, program_text *program);

/* The parameters given with an option of the form NAME=INTEGER. Freed by the caller, values and all. */
typedef struct {
  tj_parameter_value *value;
  size_t count;
} parameter_list;

int parse_parameters(const arguments *given, const char *name, parameter_list *list);
void free_parameters(parameter_list *list);

/* NAME=PATH split; `name` is malloc'd. False where there is no '='. */
bool split_assignment(const char *word, char **name, const char **value);

/* A program from text and the --set options. */
int create_program(tj_context *context, const arguments *given, const program_text *text, tj_program **program);

#endif
