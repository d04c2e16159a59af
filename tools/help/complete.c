/* SPDX-License-Identifier: MIT */
/* Completions: reads the line up to its last word by the tables of options and operands, and lists what that word may
 * be. What only the library knows (targets, devices, element types, kernels) is asked of it; where it fails, there
 * are no candidates. */
#include "tools/help/complete.h"

#include "tools/input/input.h"
#include "tools/report/report.h"

#include <stdlib.h>
#include <string.h>

/* The word to be completed. Candidates stand behind its first `head` bytes, which are --name= or nothing. */
typedef struct {
  const char *text;
  size_t head;
} typed_word;

/* What the words before it say. */
typedef struct {
  const command *of;
  const option *awaiting; /* its value comes next; NULL: none does */
  input from;
  size_t operand_count;
  bool only_operands; /* behind -- */
} typed_line;

/* --- candidates --- */

static void offer_part(const typed_word *typed, const char *name, size_t length, const char *about, size_t width) {
  const char *begin = typed->text + typed->head;
  size_t given = strlen(begin);
  if (given > length || memcmp(begin, name, given) != 0)
    return;
  printf("%.*s%.*s", (int)typed->head, typed->text, (int)length, name);
  if (width > 0)
    printf("\t%.*s", (int)width, about);
  putchar('\n');
}

static void offer(const typed_word *typed, const char *name, const char *about) {
  offer_part(typed, name, strlen(name), about, strlen(about));
}

/* A line for each candidate: its name, blanks, what it is. */
static void offer_lines(const typed_word *typed, const char *text) {
  while (*text != '\0') {
    size_t length = strcspn(text, "\n"), name = strcspn(text, " \t\n");
    size_t about = name + strspn(text + name, " \t");
    offer_part(typed, text, name, text + about, length - about);
    text += length + (text[length] == '\n');
  }
}

typedef tj_status (*library_list)(tj_context *context, tj_blob *text);

static void offer_list(const typed_word *typed, library_list list) {
  tj_context *context = open_context();
  tj_blob text;
  if (context != NULL && list(context, &text) == TJ_OK) {
    offer_lines(typed, text.data);
    tj_blob_release(context, &text);
  }
  tj_context_destroy(context);
}

/* --- the kinds of values --- */

typedef void (*value_completer)(const typed_word *typed, const typed_line *line);

static void complete_path(const typed_word *typed, const typed_line *line) {
  (void)typed, (void)line;
  puts(":files");
}

static void complete_array(const typed_word *typed, const typed_line *line) {
  if (strchr(typed->text + typed->head, '=') != NULL)
    complete_path(typed, line);
}

static void complete_target(const typed_word *typed, const typed_line *line) {
  (void)line;
  offer_list(typed, tj_target_list);
}

static void complete_dtype(const typed_word *typed, const typed_line *line) {
  (void)line;
  offer_list(typed, tj_language_dtypes);
}

static tj_status list_devices(tj_context *context, tj_blob *text) {
  return tj_device_list(context, TJ_DEVICES_TEXT, text);
}

static void complete_device(const typed_word *typed, const typed_line *line) {
  (void)line;
  offer_list(typed, list_devices);
}

static void offer_commands(const typed_word *typed) {
  for (size_t i = 0; i < command_count; i++)
    offer(typed, commands[i]->name, commands[i]->summary);
}

static tj_status list_functions(tj_context *context, tj_blob *text) {
  return tj_language_functions(context, TJ_LANGUAGE_TEXT, text);
}

static void complete_topic(const typed_word *typed, const typed_line *line) {
  (void)line;
  offer_commands(typed);
  offer_list(typed, list_functions);
  offer_list(typed, tj_language_words);
}

static void offer_kernels(const typed_word *typed, const program_text *text) {
  tj_context *context = open_context();
  tj_program *program;
  if (context != NULL && tj_program_create_of(context, text->piece, text->count, NULL, 0, &program) == TJ_OK) {
    for (size_t i = 0; i < tj_program_kernel_count(program); i++)
      offer(typed, tj_program_kernel_name(program, i), "");
    tj_program_destroy(program);
  }
  tj_context_destroy(context);
}

/* Standard input is left to the command that will be typed. */
static void complete_kernel(const typed_word *typed, const typed_line *line) {
  program_text text;
  bool is_stream = line->from.file != NULL && strcmp(line->from.file, "-") == 0;
  if (is_stream || load_program_text(&line->from, &text) != 0)
    return;
  offer_kernels(typed, &text);
  free(text.file);
}

/* Of the other kinds, nothing is known. */
static const value_completer completers[VALUE_COUNT] = {
    [VALUE_FILE] = complete_path,   [VALUE_CODE_OBJECT] = complete_path, [VALUE_OUTPUT] = complete_path,
    [VALUE_ARRAY] = complete_array, [VALUE_KERNEL] = complete_kernel,    [VALUE_TARGET] = complete_target,
    [VALUE_DTYPE] = complete_dtype, [VALUE_DEVICE] = complete_device,    [VALUE_TOPIC] = complete_topic,
};

static void complete_value(value_kind kind, const char *const *choices, const typed_word *typed,
                           const typed_line *line) {
  for (size_t i = 0; choices != NULL && choices[i] != NULL; i++)
    offer(typed, choices[i], "");
  if (completers[kind] != NULL)
    completers[kind](typed, line);
}

/* --- the words before --- */

static void read_value(typed_line *line, const option *o, const char *value) {
  if (o->kind == VALUE_FILE)
    line->from.file = value;
  else if (o->kind == VALUE_EXPRESSION && line->from.expression_count == 0)
    line->from.expression[line->from.expression_count++] = value;
  line->awaiting = NULL;
}

static void read_option(typed_line *line, const char *word) {
  const option *o = find_option(line->of, word);
  const char *equals = strchr(word, '=');
  if (o == NULL || o->kind == VALUE_NONE)
    return;
  if (equals != NULL)
    read_value(line, o, equals + 1);
  else
    line->awaiting = o;
}

static void read_operand(typed_line *line, const char *word) {
  if (is_file_operand(line->of, word))
    line->from.file = word;
  line->operand_count++;
}

static void read_word(typed_line *line, const char *word) {
  if (line->awaiting != NULL)
    read_value(line, line->awaiting, word);
  else if (!line->only_operands && strcmp(word, "--") == 0)
    line->only_operands = true;
  else if (!line->only_operands && looks_like_option(word))
    read_option(line, word);
  else
    read_operand(line, word);
}

/* --- the last word --- */

static bool offer_option(const option *o, void *typed) {
  char name[64];
  snprintf(name, sizeof name, "%s%s", option_dashes(o), o->name);
  offer(typed, name, o->help);
  return true;
}

/* The row of an operand by its place; NULL where there are fewer. */
static const operand *operand_at(const command *of, size_t place) {
  for (const operand *o = of->operands; o->name != NULL; o++) {
    if (place < o->most)
      return o;
    place -= o->most;
  }
  return NULL;
}

/* Where an expression may stand, a FILE may. */
static void complete_operand(typed_word *typed, const typed_line *line) {
  const operand *o = operand_at(line->of, line->operand_count);
  if (o != NULL)
    complete_value(o->kind == VALUE_EXPRESSION ? VALUE_FILE : o->kind, o->words, typed, line);
  else if (!line->only_operands)
    each_option(line->of, offer_option, typed);
}

static void complete_option(typed_word *typed, const typed_line *line) {
  const char *equals = strchr(typed->text, '=');
  const option *o = equals != NULL ? find_option(line->of, typed->text) : NULL;
  if (equals == NULL) {
    each_option(line->of, offer_option, typed);
  } else if (o != NULL) {
    typed->head = (size_t)(equals + 1 - typed->text);
    complete_value(o->kind, o->words, typed, line);
  }
}

static void complete_last(typed_word *typed, const typed_line *line) {
  if (line->awaiting != NULL)
    complete_value(line->awaiting->kind, line->awaiting->words, typed, line);
  else if (typed->text[0] == '-' && !line->only_operands)
    complete_option(typed, line);
  else
    complete_operand(typed, line);
}

static void complete_command(const typed_word *typed) {
  offer_commands(typed);
  if (typed->text[0] == '-') {
    offer(typed, "--help", find_command("help")->summary);
    offer(typed, "--version", find_command("version")->summary);
  }
}

int complete_line(int count, char **words) {
  if (count < 2 || strcmp(words[0], "--") != 0)
    return fail_usage(COMPLETE_COMMAND " takes -- and the words of a line");
  report_as(REPORT_NOTHING);
  typed_word typed = {.text = words[count - 1]};
  typed_line line = {.of = find_command(words[1])};
  if (count == 2) {
    complete_command(&typed);
  } else if (line.of != NULL) {
    for (int i = 2; i < count - 1; i++)
      read_word(&line, words[i]);
    complete_last(&typed, &line);
  }
  return 0;
}
