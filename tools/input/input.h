/* SPDX-License-Identifier: MIT */
/* What a subcommand works on, said in one way by all of them: [FILE] [-e EXPR].
 *
 * FILE is a program, - standard input, and -f FILE the same. EXPR is evaluated after what FILE defines; an expression
 * that FILE ends in is passed over then. Operands:
 * - of commands that take programs (compile, run, check), FILE;
 * - of commands that take expressions (eval, simplify, show, prove), EXPR, but for - and what ends in .tile, which no
 *   expression does: these are FILE. */
#ifndef TILEJIT_TOOLS_INPUT_H
#define TILEJIT_TOOLS_INPUT_H

#include "tools/call/command.h"

#include <jansson.h>

enum { MOST_EXPRESSIONS = 2 };

typedef struct {
  const char *file; /* NULL: none; "-": standard input */
  const char *expression[MOST_EXPRESSIONS];
  unsigned expression_count;
} input;

/* The tables' rows: -f and -e, and --set; and -f alone. */
extern const option program_input[], expression_input[], comparison_input[], code_input[];

/* The words that say what a subcommand takes, for its help. */
#define PROGRAM_OPERAND                                                                                              \
  { "FILE", VALUE_FILE, "a program; - is standard input", NULL, 0, 1 }
#define EXPRESSION_OPERAND                                                                                           \
  { "EXPR", VALUE_EXPRESSION, "an expression; - and what ends in .tile is a FILE", NULL, 0, 2 }

/* Whether an operand of a command that takes programs or expressions is a FILE. */
bool is_file_operand(const command *of, const char *word);

/* Sorts out operands, -f and -e: at most one FILE, at most `most` expressions. Returns 0, or the exit status after
 * printing what is wrong. */
int sort_input(const arguments *given, unsigned most, input *found);

/* The same where there has to be something. */
int input_of(const arguments *given, unsigned most, input *found);

/* A context, or NULL after printing why not. */
tj_context *open_context(void);

/* A whole file; "-" is standard input. Returns 0, or the exit status after printing why not. Programs and code are
 * not longer than LONGEST_FILE, so that files without an end are not read for ever; arrays may be. */
enum { LONGEST_FILE = 1 << 29 };
int read_file(const char *path, char **data, size_t *size);
int read_array_file(const char *path, char **data, size_t *size);
int write_file(const char *path, const void *data, size_t size);
/* With an optional path: NULL is standard output. */
int write_output(const char *path, const void *data, size_t size);
/* The path that -o gives; NULL where that is standard output. */
const char *output_path(const arguments *given);

/* The texts of an input: its FILE, then its first expression; and one of an option. */
typedef struct {
  tj_program_piece piece[3];
  size_t count;
  char *file; /* owned: what the FILE holds; NULL: there is none */
} program_text;

#define EXPRESSION_NAME "<expression>"

int load_program_text(const input *from, program_text *program);

/* The parameters given with an option of the form NAME=INTEGER. Freed by the caller, values and all. */
typedef struct {
  tj_parameter_value *value;
  size_t count;
} parameter_list;

/* Whether a text is an integer, as C writes it. */
bool parse_integer(const char *text, int64_t *value);
int parse_parameters(const arguments *given, const char *name, parameter_list *list);
void free_parameters(parameter_list *list);

/* What --arg passes to a launch: NAME=NUMBER, an integer or a decimal number. `name` is malloc'd. */
typedef struct {
  char *name;
  bool is_integer;
  int64_t integer;
  double number;
} passed_value;

/* Returns 0, or the exit status after printing what is wrong. */
int parse_passed(const char *word, passed_value *passed);

/* What a subcommand does with the texts of its input; gives the exit status. */
typedef int (*text_work)(const arguments *given, const program_text *text, void *data);

/* Does it. Returns the exit status. */
int with_text(const arguments *given, text_work work, void *data);

/* What a subcommand does with its program. A status of the library that is not TJ_OK is reported by the caller;
 * otherwise `exit` may get an exit status other than 0. */
typedef tj_status (*program_work)(tj_context *context, tj_program *program, void *data, int *exit);

/* Does it with the program that the input of a call and --set make. Returns the exit status. */
int with_program(const arguments *given, program_work work, void *data);

/* The same with an input that has been sorted out: its FILE, and its first expression. */
int with_program_of(const arguments *given, const input *from, program_work work, void *data);

/* The same with an expression that stands after the input, which may be empty. */
int with_program_and(const arguments *given, const char *expression, program_work work, void *data);

/* Writes a blob to standard output, and releases it. */
int write_blob(tj_context *context, tj_blob *blob);

/* Writes what was made where -o says, and releases it. With --json, standard output gets an object instead: `told`,
 * which is taken over, with a member "text", or of what goes to a file "bytes" and "output". */
int write_made(tj_context *context, const arguments *given, json_t *told, tj_blob *made);

#endif
