/* SPDX-License-Identifier: MIT */
/* What the subcommands of tilejit share: their tables of options and operands, and what was given.
 *
 * How to add a subcommand: a file tools/commands/NAME.c that defines `const command command_NAME`, a line in
 * commands.def, a line in CMakeLists.txt, golden tests. Help, usage errors, completions and manual pages come from
 * the tables. */
#ifndef TILEJIT_TOOLS_COMMAND_H
#define TILEJIT_TOOLS_COMMAND_H

#include "tilejit/tilejit.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum {
  VALUE_NONE, /* a flag */
#define VALUE(id, name, description) VALUE_##id,
#include "tools/call/value.def"
#undef VALUE
  VALUE_COUNT
} value_kind;

/* The name and the description of a kind's row; NULL for VALUE_NONE. */
const char *value_name(value_kind kind);
const char *value_description(value_kind kind);

/* One option: --name, or -name where it is one letter. */
typedef struct {
  const char *name;
  value_kind kind;
  const char *value; /* what its value is called in help; NULL: a flag */
  const char *help; /* "with --lds: …", "with --store or --load: …": an error without; "without --dma: …": one with */
  const char *const *words; /* of VALUE_WORD: what it may be; ends in NULL */
  bool repeats;
} option;

enum { MANY_OPERANDS = UINT16_MAX };

/* Operands of one meaning. Tables of options and of operands end in a row without a name. */
typedef struct {
  const char *name; /* as help calls it: FILE */
  value_kind kind;
  const char *help;
  const char *const *words;
  unsigned least, most; /* MANY_OPERANDS: any number */
} operand;

/* The options and operands of one call, in the order given. */
typedef struct {
  const struct command *command;
  struct given_option {
    const char *name;
    const char *value;
    value_kind kind; /* of its row, */
    const char *help;
  } * option;
  size_t option_count;
  const char **operand;
  size_t operand_count;
} arguments;

typedef struct command {
  const char *name;
  const char *summary;   /* one line */
  const char *details;   /* paragraphs for --help; may be "" */
  const option *input;   /* the options of its input (see input.h); NULL: it takes none */
  const option *options; /* its own */
  const operand *operands;
  int (*run)(const arguments *given); /* the exit status */
} command;

/* Every subcommand, in the order of help. */
extern const command *const commands[];
extern const size_t command_count;

/* NULL where there is none of that name. */
const command *find_command(const char *name);

/* The options of a command, in the order of help: calls `visit` for its own, those of its input, and those that every
 * command has, until it returns false. */
void each_option(const command *of, bool (*visit)(const option *o, void *data), void *data);

const char *option_dashes(const option *o);

/* The option that a word gives, as in --name, --name=value and -n; NULL: the command has none such. */
const option *find_option(const command *of, const char *word);
/* Whether a word is an option, right or wrong: it begins with '-', and is neither "-" nor a negative number. */
bool looks_like_option(const char *word);

/* The last value of an option; NULL where it was not given. */
const char *option_value(const arguments *given, const char *name);
bool option_given(const arguments *given, const char *name);

/* Parses the words after the subcommand. Returns 0, or the exit status after printing what is wrong with them. */
int arguments_parse(const command *of, int count, char **words, arguments *given);
void arguments_free(arguments *given);

#endif
