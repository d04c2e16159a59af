/* SPDX-License-Identifier: MIT */
/* Formatting diagnostics as compilers print them: place, message, source line, caret, note. */
#include "tilejit/runtime.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

typedef struct {
  char *buffer;
  size_t size, length;
  bool colour;
} writer;

static void __attribute__((format(printf, 2, 3))) put(writer *out, const char *format, ...) {
  size_t left = out->length < out->size ? out->size - out->length : 0;
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(left > 0 ? out->buffer + out->length : NULL, left, format, arguments);
  va_end(arguments);
  out->length += length > 0 ? (size_t)length : 0;
}

static const char *paint(const writer *out, const char *code) {
  return out->colour ? code : "";
}

#define RED "\033[1;31m"
#define GREEN "\033[1;32m"
#define BOLD "\033[1m"
#define PLAIN "\033[0m"

/* --- the source line --- */

/* Bytes of the UTF-8 character at `text`; 0 where there is none that a terminal should see. */
static size_t character_length(const char *text) {
  const unsigned char *at = (const unsigned char *)text;
  if (at[0] < 0x80)
    return at[0] >= 0x20 && at[0] != 0x7f;
  size_t length = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : at[0] >= 0xc2 ? 2 : 0;
  for (size_t i = 1; i < length; i++) {
    if ((at[i] & 0xc0) != 0x80)
      return 0;
  }
  return at[0] <= 0xf4 ? length : 0;
}

enum { MOST_SHOWN = 118 };

/* Where to begin showing a long line, so that the column is in sight. */
static size_t window_begin(const tj_diagnostic *diagnostic) {
  size_t column = diagnostic->column - 1;
  if (strlen(diagnostic->source_line) <= MOST_SHOWN || column < MOST_SHOWN / 2)
    return 0;
  size_t begin = column - MOST_SHOWN / 2;
  while (begin > 0 && (diagnostic->source_line[begin] & 0xc0) == 0x80)
    begin--;
  return begin;
}

/* Shows the line from byte `begin` on, and below it blanks up to the column, a caret, and tildes. What is no
 * character is shown as '?'. */
static void put_source(writer *out, const tj_diagnostic *diagnostic) {
  const char *line = diagnostic->source_line;
  size_t caret = diagnostic->column - 1, end = caret + diagnostic->length;
  char below[MOST_SHOWN + 2];
  size_t columns = 0;
  put(out, "  ");
  for (size_t at = window_begin(diagnostic); line[at] != '\0' && columns < MOST_SHOWN; columns++) {
    size_t length = character_length(line + at);
    bool is_tab = line[at] == '\t';
    below[columns] = at < caret ? is_tab ? '\t' : ' ' : at == caret ? '^' : at < end ? '~' : '\0';
    put(out, "%.*s", length == 0 ? 1 : (int)length, length > 0 || is_tab ? line + at : "?");
    at += length == 0 ? 1 : length;
  }
  if (strlen(line) <= caret)
    below[columns++] = '^';
  below[columns] = '\0';
  put(out, "\n  %s%s%s\n", paint(out, GREEN), below, paint(out, PLAIN));
}

size_t tj_diagnostic_format(const tj_diagnostic *diagnostic, int colour, char *buffer, size_t size) {
  writer out = {buffer, size, 0, colour != 0};
  if (diagnostic == NULL) {
    put(&out, "%s", "");
    return 0;
  }
  put(&out, "%s%s", paint(&out, BOLD), diagnostic->file);
  if (diagnostic->line > 0)
    put(&out, ":%u:%u", diagnostic->line, diagnostic->column);
  put(&out, ": %serror:%s TJ%04u: %s\n", paint(&out, RED), paint(&out, PLAIN), diagnostic->code, diagnostic->message);
  bool has_line =
      diagnostic->line > 0 && diagnostic->column >= 1 && diagnostic->column - 1 <= strlen(diagnostic->source_line);
  if (has_line)
    put_source(&out, diagnostic);
  put(&out, "  %snote:%s %s\n", paint(&out, BOLD), paint(&out, PLAIN), diagnostic->note);
  return out.length;
}
