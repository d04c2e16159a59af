/* SPDX-License-Identifier: MIT */
/* Options, files, and errors of the subcommands. */
#include "command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- options --- */

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

static const option *find_option(const command *of, const char *name, size_t length) {
  for (const option *o = of->options; o->name != NULL; o++) {
    if (strlen(o->name) == length && memcmp(o->name, name, length) == 0)
      return o;
  }
  return NULL;
}

static const char *dashes(const option *o) {
  return strlen(o->name) == 1 ? "-" : "--";
}

/* A word that begins with '-' and is neither "-", nor a negative number. */
static bool looks_like_option(const char *word) {
  return word[0] == '-' && word[1] != '\0' && !(word[1] >= '0' && word[1] <= '9') && word[1] != '(';
}

static bool take_option(const command *of, char **words, int count, int *at, arguments *given) {
  const char *word = words[*at];
  const char *name = word + (word[1] == '-' ? 2 : 1);
  const char *equals = strchr(name, '=');
  const option *o = find_option(of, name, equals != NULL ? (size_t)(equals - name) : strlen(name));
  bool dashes_match = o != NULL && (strlen(o->name) == 1) == (word[1] != '-');
  if (!dashes_match) {
    fail_usage("%s has no option %s; see tilejit %s --help", of->name, word, of->name);
    return false;
  }
  const char *value = NULL;
  if (o->value != NULL) {
    value = equals != NULL ? equals + 1 : *at + 1 < count ? words[++*at] : NULL;
    if (value == NULL) {
      fail_usage("%s%s needs a value: %s", dashes(o), o->name, o->value);
      return false;
    }
  } else if (equals != NULL) {
    fail_usage("%s%s takes no value", dashes(o), o->name);
    return false;
  }
  given->option[given->option_count++] = (struct given_option){o->name, value};
  return true;
}

bool arguments_parse(const command *of, int count, char **words, arguments *given) {
  *given = (arguments){.option = calloc((size_t)count + 1, sizeof *given->option),
                       .operand = calloc((size_t)count + 1, sizeof *given->operand)};
  if (given->option == NULL || given->operand == NULL) {
    fail_tool(TJ_ERROR_SYSTEM, 7001, "free memory", "out of memory");
    return false;
  }
  bool only_operands = false;
  for (int i = 0; i < count; i++) {
    if (!only_operands && strcmp(words[i], "--") == 0)
      only_operands = true;
    else if (only_operands || !looks_like_option(words[i]))
      given->operand[given->operand_count++] = words[i];
    else if (!take_option(of, words, count, &i, given))
      return false;
  }
  return true;
}

void arguments_free(arguments *given) {
  free(given->option);
  free(given->operand);
}

void command_print_help(const command *of, FILE *out) {
  fprintf(out, "usage: tilejit %s %s\n\n%s.\n", of->name, of->form, of->summary);
  if (of->details[0] != '\0')
    fprintf(out, "\n%s\n", of->details);
  fprintf(out, "\noptions:\n");
  for (const option *o = of->options; o->name != NULL; o++) {
    char head[64];
    snprintf(head, sizeof head, "%s%s%s%s", dashes(o), o->name, o->value != NULL ? " " : "",
             o->value != NULL ? o->value : "");
    fprintf(out, "  %-22s %s\n", head, o->help);
  }
  fprintf(out, "  %-22s %s\n", "--help", "show this help");
}

/* --- errors --- */

static bool error_colour(void) {
  const char *no_colour = getenv("NO_COLOR");
  return isatty(STDERR_FILENO) && (no_colour == NULL || no_colour[0] == '\0');
}

int exit_status(tj_status status) {
  return status == TJ_ERROR_MEMORY ? TJ_ERROR_SYSTEM : (int)status;
}

int fail_usage(const char *format, ...) {
  va_list list;
  va_start(list, format);
  fputs("tilejit: ", stderr);
  vfprintf(stderr, format, list);
  fputc('\n', stderr);
  va_end(list);
  return TJ_ERROR_USAGE;
}

static void print_diagnostic(const tj_diagnostic *diagnostic) {
  bool colour = error_colour();
  size_t length = tj_diagnostic_format(diagnostic, colour, NULL, 0);
  char *text = malloc(length + 1);
  if (text == NULL) {
    fprintf(stderr, "tilejit: error: TJ%04u: %s\n", diagnostic->code, diagnostic->message);
    return;
  }
  tj_diagnostic_format(diagnostic, colour, text, length + 1);
  fputs(text, stderr);
  free(text);
}

int fail_tool(int status, unsigned code, const char *note, const char *format, ...) {
  char message[512];
  va_list list;
  va_start(list, format);
  vsnprintf(message, sizeof message, format, list);
  va_end(list);
  print_diagnostic(&(tj_diagnostic){.status = (tj_status)status,
                                    .code = code,
                                    .file = "tilejit",
                                    .message = message,
                                    .note = note,
                                    .source_line = ""});
  return status;
}

int fail_library(tj_context *context, tj_status status) {
  const tj_diagnostic *diagnostic = tj_context_diagnostic(context);
  if (diagnostic != NULL)
    print_diagnostic(diagnostic);
  return exit_status(status);
}

tj_context *open_context(void) {
  tj_context *context;
  if (tj_context_create(NULL, &context) == TJ_OK)
    return context;
  fail_tool(TJ_ERROR_SYSTEM, 7001, "free memory", "out of memory");
  return NULL;
}

/* --- files --- */

enum { FILE_STEP = 64 * 1024 };

static int fail_read(const char *path, int error) {
  return fail_tool(TJ_ERROR_INPUT, 6004, "check the path and its permissions", "cannot read %s: %s", path,
                   strerror(error));
}

static int read_stream(FILE *in, const char *path, char **data, size_t *size) {
  char *buffer = NULL;
  size_t capacity = 0, used = 0, got;
  do {
    if (capacity - used < FILE_STEP) {
      capacity = capacity * 2 + FILE_STEP;
      char *larger = realloc(buffer, capacity);
      if (larger == NULL) {
        free(buffer);
        return fail_tool(TJ_ERROR_SYSTEM, 7001, "free memory", "out of memory reading %s", path);
      }
      buffer = larger;
    }
    got = fread(buffer + used, 1, capacity - used - 1, in);
    used += got;
  } while (got > 0);
  if (ferror(in)) {
    int error = errno;
    free(buffer);
    return fail_read(path, error);
  }
  buffer[used] = '\0';
  *data = buffer;
  *size = used;
  return 0;
}

int read_file(const char *path, char **data, size_t *size) {
  if (strcmp(path, "-") == 0)
    return read_stream(stdin, "standard input", data, size);
  FILE *in = fopen(path, "rb");
  if (in == NULL)
    return fail_read(path, errno);
  int status = read_stream(in, path, data, size);
  fclose(in);
  return status;
}

static int fail_write(const char *path, int error) {
  return fail_tool(TJ_ERROR_SYSTEM, 6005, "check the path, its permissions and the free space", "cannot write %s: %s",
                   path, strerror(error));
}

int write_file(const char *path, const void *data, size_t size) {
  FILE *out = fopen(path, "wb");
  if (out == NULL)
    return fail_write(path, errno);
  bool written = fwrite(data, 1, size, out) == size;
  int error = errno;
  if (fclose(out) != 0 && written) {
    written = false;
    error = errno;
  }
  return written ? 0 : fail_write(path, error);
}

int write_output(const char *path, const void *data, size_t size) {
  if (path != NULL && strcmp(path, "-") != 0)
    return write_file(path, data, size);
  if (fwrite(data, 1, size, stdout) != size || fflush(stdout) != 0)
    return fail_write("standard output", errno);
  return 0;
}

/* --- programs --- */

int load_program_text(const char *path, const char *expression, program_text *program) {
  char *file = NULL;
  size_t length = 0;
  *program = (program_text){.name = path != NULL ? path : "<expression>"};
  if (path != NULL) {
    int status = read_file(path, &file, &length);
    if (status != 0)
      return status;
  }
  size_t extra = expression != NULL ? strlen(expression) : 0;
  program->text = malloc(length + extra + 4);
  if (program->text == NULL) {
    free(file);
    return fail_tool(TJ_ERROR_SYSTEM, 7001, "free memory", "out of memory");
  }
  memcpy(program->text, file != NULL ? file : "", length);
  if (file != NULL && expression != NULL) {
    memcpy(program->text + length, "\n;\n", 3);
    length += 3;
  }
  memcpy(program->text + length, expression != NULL ? expression : "", extra);
  program->length = length + extra;
  program->text[program->length] = '\0';
  free(file);
  return 0;
}

bool split_assignment(const char *word, char **name, const char **value) {
  const char *equals = strchr(word, '=');
  if (equals == NULL || equals == word)
    return false;
  *name = strndup(word, (size_t)(equals - word));
  *value = equals + 1;
  return *name != NULL;
}

static bool parse_integer(const char *text, int64_t *value) {
  char *end;
  errno = 0;
  *value = strtoll(text, &end, 0);
  return errno == 0 && end != text && *end == '\0';
}

int parse_parameters(const arguments *given, const char *name, parameter_list *list) {
  *list = (parameter_list){.value = calloc(given->option_count + 1, sizeof *list->value)};
  if (list->value == NULL)
    return fail_tool(TJ_ERROR_SYSTEM, 7001, "free memory", "out of memory");
  for (size_t i = 0; i < given->option_count; i++) {
    if (strcmp(given->option[i].name, name) != 0)
      continue;
    char *parameter;
    const char *text;
    int64_t value;
    if (!split_assignment(given->option[i].value, &parameter, &text))
      return fail_usage("--%s %s: the form is NAME=INTEGER", name, given->option[i].value);
    list->value[list->count++] = (tj_parameter_value){parameter, 0};
    if (!parse_integer(text, &value))
      return fail_usage("--%s %s: '%s' is not an integer", name, given->option[i].value, text);
    list->value[list->count - 1].value = value;
  }
  return 0;
}

void free_parameters(parameter_list *list) {
  for (size_t i = 0; i < list->count; i++)
    free((char *)list->value[i].name);
  free(list->value);
}

int create_program(tj_context *context, const arguments *given, const program_text *text, tj_program **program) {
  parameter_list fixed;
  int status = parse_parameters(given, "set", &fixed);
  if (status == 0) {
    tj_status created =
        tj_program_create(context, text->name, text->text, text->length, fixed.value, fixed.count, program);
    if (created != TJ_OK)
      status = fail_library(context, created);
  }
  free_parameters(&fixed);
  return status;
}

/* --- texts of the library --- */

int print_library_text(const arguments *given, tj_status (*text_of)(tj_context *context, tj_blob *text)) {
  if (given->operand_count != 0)
    return fail_usage("'%s' is one operand too many", given->operand[0]);
  tj_context *context = open_context();
  if (context == NULL)
    return TJ_ERROR_SYSTEM;
  tj_blob text;
  tj_status done = text_of(context, &text);
  int status = done == TJ_OK ? write_output(NULL, text.data, text.size) : fail_library(context, done);
  if (done == TJ_OK)
    tj_blob_release(context, &text);
  tj_context_destroy(context);
  return status;
}
