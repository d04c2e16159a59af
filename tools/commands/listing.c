/* SPDX-License-Identifier: MIT */
/* Listings as text and as JSON. */
#include "tools/commands/listing.h"

#include "tools/input/input.h"
#include "tools/report/report.h"

#include <string.h>

/* The columns of a line of `length` bytes; the last takes what is left. */
static json_t *row_json(const listing *list, const char *line, size_t length) {
  json_t *row = json_object();
  for (size_t i = 0; list->names[i] != NULL; i++) {
    const char *end = list->names[i + 1] != NULL ? memchr(line, list->separator, length) : NULL;
    size_t width = end != NULL ? (size_t)(end - line) : length;
    add_member(&row, list->names[i], json_stringn(line, width));
    size_t taken = width < length ? width + 1 : length;
    line += taken;
    length -= taken;
  }
  return row;
}

static json_t *rows_json(const listing *list, const char *text) {
  json_t *rows = json_array();
  while (*text != '\0') {
    size_t length = strcspn(text, "\n");
    add_item(&rows, row_json(list, text, length));
    text += length + (text[length] == '\n');
  }
  return rows;
}

static int print_rows(tj_context *context, const listing *list, tj_blob *text) {
  int status = print_json(rows_json(list, text->data));
  tj_blob_release(context, text);
  return status;
}

int print_listing(const arguments *given, const listing *list) {
  tj_context *context = open_context();
  if (context == NULL)
    return TJ_ERROR_SYSTEM;
  tj_blob text;
  bool as_json = option_given(given, "json"), has_json = list->json_of != NULL;
  tj_status done = as_json && has_json ? list->json_of(context, &text) : list->text_of(context, &text);
  int status = done != TJ_OK          ? fail_library(context, done)
               : as_json && !has_json ? print_rows(context, list, &text)
                                      : write_blob(context, &text);
  tj_context_destroy(context);
  return status;
}
