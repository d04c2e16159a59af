/* SPDX-License-Identifier: MIT */
/* Printing the tables of subcommands, as help and as JSON. */
#include "tools/help/help.h"

#include "tools/report/report.h"

#include <stdarg.h>
#include <string.h>

enum { HEAD_WIDTH = 22, MOST_COLUMNS = 100, MOST_USAGE = 1024 };

/* --- usage --- */

typedef struct {
  char text[MOST_USAGE];
  size_t length;
} usage_text;

static void __attribute__((format(printf, 2, 3))) add(usage_text *usage, const char *format, ...) {
  va_list list;
  va_start(list, format);
  int length = vsnprintf(usage->text + usage->length, sizeof usage->text - usage->length, format, list);
  va_end(list);
  usage->length += length > 0 ? (size_t)length : 0;
  if (usage->length >= sizeof usage->text)
    usage->length = sizeof usage->text - 1;
}

static bool add_option(const option *o, void *data) {
  const char *space = o->value != NULL ? " " : "", *value = o->value != NULL ? o->value : "";
  add(data, " [%s%s%s%s]%s", option_dashes(o), o->name, space, value, o->repeats ? "…" : "");
  return true;
}

/* eval [--table] [-f FILE] … [EXPR] */
static usage_text usage_of(const command *of) {
  usage_text usage = {.length = 0};
  add(&usage, "%s", of->name);
  each_option(of, add_option, &usage);
  for (const operand *o = of->operands; o->name != NULL; o++)
    add(&usage, o->least > 0 ? " %s%s" : " [%s]%s", o->name, o->most == MANY_OPERANDS ? "…" : "");
  return usage;
}

/* Breaks lines between words in brackets. */
static void print_usage(const command *of, FILE *out) {
  static const char head[] = "usage: tilejit ";
  usage_text usage = usage_of(of);
  size_t column = sizeof head - 1;
  fputs(head, out);
  for (const char *at = usage.text; *at != '\0';) {
    const char *next = strstr(at + 1, " [");
    size_t length = next != NULL ? (size_t)(next - at) : strlen(at);
    bool breaks = column + length > MOST_COLUMNS;
    if (breaks)
      fprintf(out, "\n%*s", (int)sizeof head + 1, "");
    fprintf(out, "%.*s", (int)(length - (breaks ? 1 : 0)), at + (breaks ? 1 : 0));
    column = (breaks ? sizeof head : column) + length;
    at += length;
  }
  fputc('\n', out);
}

/* --- help --- */

static bool print_option(const option *o, void *data) {
  char head[64];
  snprintf(head, sizeof head, "%s%s%s%s", option_dashes(o), o->name, o->value != NULL ? " " : "",
           o->value != NULL ? o->value : "");
  fprintf(data, "  %-*s %s\n", HEAD_WIDTH, head, o->help);
  return true;
}

void print_command_help(const command *of, FILE *out) {
  print_usage(of, out);
  fprintf(out, "\n%s.\n", of->summary);
  if (of->details[0] != '\0')
    fprintf(out, "\n%s\n", of->details);
  if (of->operands[0].name != NULL)
    fprintf(out, "\noperands:\n");
  for (const operand *o = of->operands; o->name != NULL; o++)
    fprintf(out, "  %-*s %s\n", HEAD_WIDTH, o->name, o->help);
  fprintf(out, "\noptions:\n");
  each_option(of, print_option, out);
}

int help_command(const command *of, bool as_json) {
  if (as_json)
    return print_json(command_json(of));
  print_command_help(of, stdout);
  return 0;
}

void print_overview(FILE *out) {
  fputs("usage: tilejit COMMAND [options] …\n\n"
        "A JIT compiler for tensor layouts and coordinate transforms.\n\ncommands:\n",
        out);
  for (size_t i = 0; i < command_count; i++)
    fprintf(out, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
  fputs("\ntilejit help COMMAND tells more. Exit status: 0 done; 1 the input is wrong; 2 usage; 3 the device or the "
        "system failed; 130 interrupted.\n",
        out);
}

/* --- JSON --- */

static json_t *words_json(const char *const *words) {
  json_t *list = words != NULL ? json_array() : json_null();
  for (size_t i = 0; words != NULL && words[i] != NULL; i++)
    add_item(&list, json_string(words[i]));
  return list;
}

static bool append_option(const option *o, void *list) {
  add_item(list, json_pack("{s:s,s:s,s:s?,s:s?,s:s,s:o,s:b}", "name", o->name, "dashes", option_dashes(o), "value",
                           o->value, "kind", value_name(o->kind), "help", o->help, "words", words_json(o->words),
                           "repeats", o->repeats));
  return true;
}

static json_t *operand_json(const operand *o) {
  return json_pack("{s:s,s:s,s:s,s:o,s:i,s:i}", "name", o->name, "kind", value_name(o->kind), "help", o->help,
                   "words", words_json(o->words), "least", (int)o->least, "most", (int)o->most);
}

json_t *command_json(const command *of) {
  json_t *options = json_array(), *operands = json_array();
  each_option(of, append_option, &options);
  for (const operand *o = of->operands; o->name != NULL; o++)
    add_item(&operands, operand_json(o));
  return json_pack("{s:s,s:s,s:s,s:s,s:o,s:o}", "name", of->name, "summary", of->summary, "usage", usage_of(of).text,
                   "details", of->details, "operands", operands, "options", options);
}

static json_t *kinds_json(void) {
  json_t *kinds = json_array();
  for (value_kind kind = VALUE_NONE + 1; kind < VALUE_COUNT; kind++)
    add_item(&kinds, json_pack("{s:s,s:s}", "name", value_name(kind), "description", value_description(kind)));
  return kinds;
}

/* The names of the language's functions: what stands before the tab in each line. */
static json_t *functions_json(tj_context *context) {
  tj_blob text;
  if (tj_language_functions(context, TJ_LANGUAGE_TEXT, &text) != TJ_OK)
    return NULL;
  json_t *names = json_array();
  for (const char *line = text.data; *line != '\0'; line += strcspn(line, "\n") + 1)
    add_item(&names, json_stringn(line, strcspn(line, "\t")));
  tj_blob_release(context, &text);
  return names;
}

json_t *all_json(tj_context *context) {
  json_t *list = json_array();
  for (size_t i = 0; i < command_count; i++)
    add_item(&list, command_json(commands[i]));
  return json_pack("{s:o,s:o,s:o}", "commands", list, "kinds", kinds_json(), "functions", functions_json(context));
}

/* --- names that are nearly right --- */

enum { LONGEST_WORD = 16, FAR = 3 };

static unsigned least(unsigned a, unsigned b) {
  return a < b ? a : b;
}

/* How many letters are to be put in, left out, changed or exchanged with the next one; FAR for long words. */
static unsigned distance(const char *a, const char *b) {
  size_t m = strlen(a), n = strlen(b);
  unsigned d[LONGEST_WORD + 1][LONGEST_WORD + 1];
  if (m > LONGEST_WORD || n > LONGEST_WORD)
    return FAR;
  for (unsigned i = 0; i <= m; i++) {
    for (unsigned k = 0; k <= n; k++) {
      d[i][k] = i + k;
      if (i == 0 || k == 0)
        continue;
      d[i][k] = least(least(d[i - 1][k], d[i][k - 1]) + 1, d[i - 1][k - 1] + (a[i - 1] != b[k - 1]));
      if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
        d[i][k] = least(d[i][k], d[i - 2][k - 2] + 1);
    }
  }
  return d[m][n];
}

const command *nearest_command(const char *word) {
  const command *nearest = NULL;
  unsigned shortest = FAR;
  for (size_t i = 0; i < command_count; i++) {
    unsigned length = distance(word, commands[i]->name);
    if (length < shortest && length < strlen(commands[i]->name)) {
      shortest = length;
      nearest = commands[i];
    }
  }
  return nearest;
}
