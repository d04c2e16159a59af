/* SPDX-License-Identifier: MIT */
/* Errors, as text or as JSON, and the exit statuses that go with them. */
#include "tools/report/report.h"

#include "tools/report/note.h"
#include "tools/report/progress.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static report_form chosen_form;

void report_as(report_form form) {
  chosen_form = form;
}

bool has_colour(FILE *stream) {
  const char *no_colour = getenv("NO_COLOR");
  return isatty(fileno(stream)) && (no_colour == NULL || no_colour[0] == '\0');
}

int exit_status(tj_status status) {
  switch (status) {
  case TJ_ERROR_MEMORY:
    return TJ_ERROR_SYSTEM;
  case TJ_ERROR_CANCELLED:
    return EXIT_INTERRUPTED;
  default:
    return (int)status;
  }
}

/* --- JSON --- */

void add_item(json_t **array, json_t *item) {
  if (json_array_append_new(*array, item) == 0)
    return;
  json_decref(*array);
  *array = NULL;
}

void add_member(json_t **object, const char *key, json_t *value) {
  if (json_object_set_new(*object, key, value) == 0)
    return;
  json_decref(*object);
  *object = NULL;
}

/* jansson takes UTF-8 alone: what is none in a source line, which may be the error, becomes '?'. */
static json_t *text_json(const char *text) {
  json_t *exact = json_string(text);
  if (exact != NULL)
    return exact;
  size_t length = 0;
  char *ascii = malloc(strlen(text) + 1);
  for (; ascii != NULL && text[length] != '\0'; length++)
    ascii[length] = (unsigned char)text[length] < 0x80 ? text[length] : '?';
  json_t *value = ascii != NULL ? json_stringn(ascii, length) : NULL;
  free(ascii);
  return value;
}

static json_t *place_json(const tj_diagnostic *d) {
  if (d->line == 0)
    return json_null();
  return json_pack("{s:o,s:I,s:I,s:[I,I],s:o}", "file", text_json(d->file), "line", (json_int_t)d->line, "column",
                   (json_int_t)d->column, "span", (json_int_t)d->column, (json_int_t)d->column + d->length, "text",
                   text_json(d->source_line));
}

static const note_word words[] = {{"tj_program_create", "--set P=V"},
                                  {"tj_launch_set_parameter", "--arg P=V"},
                                  {"tj_launch_set_number", "--arg P=V"},
                                  {"tj_device_list", "tilejit devices"},
                                  {"tj_program_show", "tilejit show"},
                                  {NULL, NULL}};

static json_t *problem_json(const char *code, const char *message, const char *note, json_t *place) {
  return json_pack("{s:s,s:o,s:o,s:o}", "code", code, "message", text_json(message), "note", text_json(note), "place",
                   place);
}

json_t *diagnostic_json(const tj_diagnostic *diagnostic) {
  char code[16], note[NOTE_SIZE];
  snprintf(code, sizeof code, "TJ%04u", diagnostic->code);
  return problem_json(code, diagnostic->message, note_in_words(diagnostic->note, words, note),
                      place_json(diagnostic));
}

/* A value's text, malloc'd; NULL where there is no memory. (json_dumps then leaves keys out.) */
static char *json_text(const json_t *value, size_t *size) {
  const size_t flags = JSON_COMPACT | JSON_ENCODE_ANY;
  *size = value != NULL ? json_dumpb(value, NULL, 0, flags) : 0;
  char *text = *size > 0 ? malloc(*size) : NULL;
  if (text != NULL && json_dumpb(value, text, *size, flags) == *size)
    return text;
  free(text);
  return NULL;
}

/* Whether there was memory for it. */
static bool dump(json_t *value, FILE *out) {
  size_t size;
  char *text = json_text(value, &size);
  clear_progress();
  if (text != NULL) {
    fwrite(text, 1, size, out);
    fputc('\n', out);
  }
  free(text);
  json_decref(value);
  return text != NULL;
}

int print_json(json_t *value) {
  return dump(value, stdout) ? 0 : fail_memory();
}

/* --- errors --- */

int fail_usage(const char *format, ...) {
  char message[1024];
  va_list list;
  va_start(list, format);
  vsnprintf(message, sizeof message, format, list);
  va_end(list);
  if (chosen_form == REPORT_NOTHING)
    return TJ_ERROR_USAGE;
  if (chosen_form == REPORT_TEXT ||
      !dump(problem_json("usage", message, "tilejit COMMAND --help tells the form", json_null()), stderr))
    fprintf(stderr, "tilejit: %s\n", message);
  return TJ_ERROR_USAGE;
}

static void print_text(const tj_diagnostic *given) {
  char note[NOTE_SIZE];
  tj_diagnostic here = *given;
  here.note = note_in_words(given->note, words, note);
  const tj_diagnostic *diagnostic = &here;
  clear_progress();
  bool colour = has_colour(stderr);
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

void print_diagnostic(const tj_diagnostic *diagnostic) {
  if (chosen_form == REPORT_NOTHING)
    return;
  if (chosen_form == REPORT_TEXT || !dump(diagnostic_json(diagnostic), stderr))
    print_text(diagnostic);
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

int fail_memory(void) {
  return fail_tool(TJ_ERROR_SYSTEM, 7001, "free memory", "out of memory");
}

int fail_interrupted(void) {
  return fail_tool(EXIT_INTERRUPTED, 7007, "nothing was written", "interrupted");
}

int fail_library(tj_context *context, tj_status status) {
  const tj_diagnostic *diagnostic = tj_context_diagnostic(context);
  if (diagnostic != NULL)
    print_diagnostic(diagnostic);
  return exit_status(status);
}
