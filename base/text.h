/* SPDX-License-Identifier: MIT */
/* Growing text in an arena: the one way this project builds strings. */
#ifndef TJ_BASE_TEXT_H
#define TJ_BASE_TEXT_H

#include "base/job.h"

#include <stdarg.h>

/* Start with tj_text_begin(job). `data` always ends in a zero byte that `length` does not count. */
typedef struct {
  tj_job *job;
  char *data;
  size_t length;
  size_t capacity;
} tj_text;

tj_text tj_text_begin(tj_job *job);
/* Makes room for `more` bytes behind the text where there is not so much. */
void tj_text_grow(tj_text *text, size_t more);

/* Where the next bytes go, `most` at most, and the zero behind them. */
static inline char *tj_text_room(tj_text *text, size_t most) {
  if (most >= text->capacity - text->length)
    tj_text_grow(text, most);
  return text->data + text->length;
}

/* Ends the text behind so many bytes more, which are in their place. */
static inline void tj_text_end(tj_text *text, size_t length) {
  text->length += length;
  text->data[text->length] = '\0';
}

void tj_text_add(tj_text *text, const char *bytes, size_t length);
void tj_text_string(tj_text *text, const char *string);
void tj_text_char(tj_text *text, char c);
void tj_text_integer(tj_text *text, int64_t value);
/* The string as JSON writes one, in quotes. */
void tj_text_json(tj_text *text, const char *string);
void tj_text_format(tj_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tj_text_format_list(tj_text *text, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));

/* A formatted string in the job's arena. */
const char *tj_string_format(tj_job *job, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Integers with `between` them: "64 or 128". */
const char *tj_integers_text(tj_job *job, const int64_t value[], uint32_t count, const char *between);

/* "3:14", where a byte of the job's source stands; with the name of its text where the source has several. */
const char *tj_place_text(tj_job *job, uint32_t offset);

/* A zero-terminated copy of `length` bytes in the job's arena. */
const char *tj_string_copy(tj_job *job, const char *bytes, size_t length);

#endif
