/* SPDX-License-Identifier: MIT */
/* The tables of subcommands, options and operands, and the words of a call parsed by them. */
#include "tools/call/command.h"

#include "tools/report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- tables --- */

static const char *const value_rows[][2] = {
    {NULL, NULL},
#define VALUE(id, name, description) {name, description},
#include "tools/call/value.def"
#undef VALUE
};

const char *value_name(value_kind kind) {
  return value_rows[kind][0];
}

const char *value_description(value_kind kind) {
  return value_rows[kind][1];
}

#define COMMAND(name) extern const command command_##name;
#include "tools/call/commands.def"
#undef COMMAND

const command *const commands[] = {
#define COMMAND(name) &command_##name,
#include "tools/call/commands.def"
#undef COMMAND
};

const size_t command_count = sizeof commands / sizeof *commands;

const command *find_command(const char *name) {
  for (size_t i = 0; i < command_count; i++) {
    if (strcmp(commands[i]->name, name) == 0)
      return commands[i];
  }
  return NULL;
}

static const option common_options[] = {
    {"json", VALUE_NONE, NULL, "print JSON; errors too, as one object on standard error", NULL, false},
    {"help", VALUE_NONE, NULL, "show this help", NULL, false},
    {0}};

void each_option(const command *of, bool (*visit)(const option *o, void *data), void *data) {
  const option *const tables[] = {of->options, of->input, common_options};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
    for (const option *o = tables[i]; o != NULL && o->name != NULL; o++) {
      if (!visit(o, data))
        return;
    }
  }
}

const char *option_dashes(const option *o) {
  return strlen(o->name) == 1 ? "-" : "--";
}

/* --- what was given --- */

const char *option_value(const arguments *given, const char *name) {
  const char *value = NULL;
  for (size_t i = 0; i < given->option_count; i++) {
    if (strcmp(given->option[i].name, name) == 0)
      value = given->option[i].value;
  }
  return value;
}

bool option_given(const arguments *given, const char *name) {
  for (size_t i = 0; i < given->option_count; i++) {
    if (strcmp(given->option[i].name, name) == 0)
      return true;
  }
  return false;
}

/* --- parsing --- */

typedef struct {
  const char *word; /* as given: --name, --name=value, -n */
  const option *found;
} option_search;

static bool is_other_option(const option *o, void *data) {
  option_search *search = data;
  const char *dashes = option_dashes(o), *name = search->word + strlen(dashes);
  size_t length = strcspn(name, "=");
  bool matches = strncmp(search->word, dashes, strlen(dashes)) == 0 && strlen(o->name) == length &&
                 memcmp(o->name, name, length) == 0;
  if (matches)
    search->found = o;
  return !matches;
}

const option *find_option(const command *of, const char *word) {
  option_search search = {.word = word};
  each_option(of, is_other_option, &search);
  return search.found;
}

bool looks_like_option(const char *word) {
  return word[0] == '-' && word[1] != '\0' && !(word[1] >= '0' && word[1] <= '9') && word[1] != '(';
}

/* "a, b or c" */
static void join_words(const char *const *words, char *text, size_t size) {
  size_t used = 0;
  text[0] = '\0';
  for (size_t i = 0; words[i] != NULL && used < size; i++) {
    const char *before = i == 0 ? "" : words[i + 1] == NULL ? " or " : ", ";
    used += (size_t)snprintf(text + used, size - used, "%s%s", before, words[i]);
  }
}

/* False after printing which words there are. `what` is the option or the command. */
static bool check_word(const char *what, const char *const *words, const char *given) {
  for (size_t i = 0; words[i] != NULL; i++) {
    if (strcmp(words[i], given) == 0)
      return true;
  }
  char list[256];
  join_words(words, list, sizeof list);
  fail_usage("%s takes %s, not '%s'", what, list, given);
  return false;
}

static bool check_value(const option *o, const char *value) {
  char what[64];
  snprintf(what, sizeof what, "%s%s", option_dashes(o), o->name);
  return o->kind != VALUE_WORD || check_word(what, o->words, value);
}

static bool take_option(const command *of, char **words, int count, int *at, arguments *given) {
  const char *word = words[*at], *equals = strchr(word, '=');
  const option *o = find_option(of, word);
  if (o == NULL) {
    fail_usage("%s has no option %s; see tilejit %s --help", of->name, word, of->name);
    return false;
  }
  const char *value = NULL;
  if (o->kind != VALUE_NONE) {
    value = equals != NULL ? equals + 1 : *at + 1 < count ? words[++*at] : NULL;
    if (value == NULL) {
      fail_usage("%s%s needs a value: %s", option_dashes(o), o->name, o->value);
      return false;
    }
  } else if (equals != NULL) {
    fail_usage("%s%s takes no value", option_dashes(o), o->name);
    return false;
  }
  if (value != NULL && !check_value(o, value))
    return false;
  given->option[given->option_count++] = (struct given_option){o->name, value, o->kind, o->help};
  return true;
}

static bool check_operands(const arguments *given) {
  const command *of = given->command;
  size_t least = 0, most = 0;
  for (const operand *o = of->operands; o->name != NULL; o++) {
    least += o->least;
    most += o->most;
    for (size_t i = most - o->most; o->kind == VALUE_WORD && i < most && i < given->operand_count; i++) {
      if (!check_word(of->name, o->words, given->operand[i]))
        return false;
    }
  }
  if (given->operand_count > most)
    fail_usage("%s takes '%s' as one operand too many; see tilejit %s --help", of->name, given->operand[most],
               of->name);
  else if (given->operand_count < least)
    fail_usage("%s needs %s; see tilejit %s --help", of->name, of->operands[0].name, of->name);
  return least <= given->operand_count && given->operand_count <= most;
}

/* Whether one of the options was given that the words before a colon name. */
static bool is_any_given(const arguments *given, const char *words, size_t length) {
  for (size_t i = 0; i < given->option_count; i++) {
    const char *name = given->option[i].name;
    for (const char *at = strstr(words, "--"); at != NULL && at < words + length; at = strstr(at + 2, "--")) {
      if (strcspn(at + 2, " :") == strlen(name) && strncmp(at + 2, name, strlen(name)) == 0)
        return true;
    }
  }
  return false;
}

static bool begins_with(const char *text, const char *with) {
  return strncmp(text, with, strlen(with)) == 0;
}

/* What was given without the options that its help says it goes with, or with those that it goes without, would do
 * nothing. */
static bool check_company(const arguments *given) {
  for (size_t i = 0; i < given->option_count; i++) {
    const char *help = given->option[i].help;
    size_t length = strcspn(help, ":");
    bool needs = begins_with(help, "with --"), avoids = begins_with(help, "without --");
    bool is_told = (needs || avoids) && help[length] != '\0';
    if (!is_told || is_any_given(given, help, length) == needs)
      continue;
    fail_usage("--%s goes %.*s; see tilejit %s --help", given->option[i].name, (int)length, help,
               given->command->name);
    return false;
  }
  return true;
}

/* Whether the values of an option are NAME=VALUE. */
static bool has_names(const struct given_option *o) {
  return o->kind == VALUE_PARAMETER || o->kind == VALUE_ARRAY || o->kind == VALUE_ADDRESS;
}

/* Whether another option gives the same name a value. */
static bool gives_the_same(const struct given_option *o, const struct given_option *other) {
  size_t length = strcspn(o->value, "=");
  return strcmp(o->name, other->name) == 0 && strcspn(other->value, "=") == length &&
         strncmp(o->value, other->value, length) == 0;
}

/* Of two values of one name, one would do nothing. */
static bool check_names(const arguments *given) {
  for (size_t i = 0; i < given->option_count; i++) {
    const struct given_option *o = &given->option[i];
    for (size_t k = 0; has_names(o) && k < i; k++) {
      if (!gives_the_same(o, &given->option[k]))
        continue;
      fail_usage("--%s %s: %.*s is given twice", o->name, o->value, (int)strcspn(o->value, "="), o->value);
      return false;
    }
  }
  return true;
}

int arguments_parse(const command *of, int count, char **words, arguments *given) {
  *given = (arguments){.command = of,
                       .option = calloc((size_t)count + 1, sizeof *given->option),
                       .operand = calloc((size_t)count + 1, sizeof *given->operand)};
  if (given->option == NULL || given->operand == NULL)
    return fail_memory();
  bool only_operands = false;
  for (int i = 0; i < count; i++) {
    if (!only_operands && strcmp(words[i], "--") == 0)
      only_operands = true;
    else if (only_operands || !looks_like_option(words[i]))
      given->operand[given->operand_count++] = words[i];
    else if (!take_option(of, words, count, &i, given))
      return TJ_ERROR_USAGE;
  }
  bool is_right =
      option_given(given, "help") || (check_operands(given) && check_company(given) && check_names(given));
  return is_right ? 0 : TJ_ERROR_USAGE;
}

void arguments_free(arguments *given) {
  free(given->option);
  free(given->operand);
}
