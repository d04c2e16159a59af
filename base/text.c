/* SPDX-License-Identifier: MIT */
/* Growing text in an arena. */
#include "base/text.h"

#include "base/number/plain_locale.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

tj_text tj_text_begin(tj_job *job) {
  tj_text text = {.job = job, .capacity = 64};
  text.data = tj_arena_raw(&job->arena, text.capacity, 1);
  text.data[0] = '\0';
  return text;
}

void tj_text_grow(tj_text *text, size_t more) {
  size_t needed = text->length + more + 1;
  size_t capacity = text->capacity * 2 > needed ? text->capacity * 2 : needed;
  char *data = tj_arena_raw(&text->job->arena, capacity, 1);
  memcpy(data, text->data, text->length + 1);
  text->data = data;
  text->capacity = capacity;
}

void tj_text_add(tj_text *text, const char *bytes, size_t length) {
  memcpy(tj_text_room(text, length), bytes, length);
  tj_text_end(text, length);
}

void tj_text_string(tj_text *text, const char *string) {
  tj_text_add(text, string, strlen(string));
}

void tj_text_char(tj_text *text, char c) {
  tj_text_add(text, &c, 1);
}

void tj_text_integer(tj_text *text, int64_t value) {
  tj_text_format(text, "%" PRId64, value);
}

void tj_text_json(tj_text *text, const char *string) {
  tj_text_char(text, '"');
  for (const char *c = string; *c != '\0'; c++) {
    if (*c == '"' || *c == '\\')
      tj_text_char(text, '\\');
    if ((unsigned char)*c < ' ')
      tj_text_format(text, "\\u%04x", (unsigned)*c);
    else
      tj_text_char(text, *c);
  }
  tj_text_char(text, '"');
}

void tj_text_format_list(tj_text *text, const char *format, va_list arguments) {
  const tj_plain_locale locale = tj_plain_locale_begin();
  va_list again;
  va_copy(again, arguments);
  int length = vsnprintf(NULL, 0, format, arguments);
  if (length > 0) {
    vsnprintf(tj_text_room(text, (size_t)length), (size_t)length + 1, format, again);
    text->length += (size_t)length;
  }
  va_end(again);
  tj_plain_locale_end(locale);
}

void tj_text_format(tj_text *text, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  tj_text_format_list(text, format, arguments);
  va_end(arguments);
}

const char *tj_string_format(tj_job *job, const char *format, ...) {
  tj_text text = tj_text_begin(job);
  va_list arguments;
  va_start(arguments, format);
  tj_text_format_list(&text, format, arguments);
  va_end(arguments);
  return text.data;
}

const char *tj_string_copy(tj_job *job, const char *bytes, size_t length) {
  char *copy = TJ_NEW_ARRAY(job, char, length + 1);
  if (length != 0)
    memcpy(copy, bytes, length);
  return copy;
}

const char *tj_integers_text(tj_job *job, const int64_t value[], uint32_t count, const char *between) {
  tj_text text = tj_text_begin(job);
  for (uint32_t i = 0; i < count; i++) {
    if (i > 0)
      tj_text_string(&text, between);
    tj_text_integer(&text, value[i]);
  }
  return text.data;
}

const char *tj_place_text(tj_job *job, uint32_t offset) {
  tj_location place = tj_source_locate(&job->source, offset);
  bool several = job->source.piece_count > 1;
  return tj_string_format(job, "%s%s%" PRIu32 ":%" PRIu32, several ? place.name : "", several ? ":" : "", place.line,
                          place.column);
}
