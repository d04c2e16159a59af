/* SPDX-License-Identifier: MIT */
/* Writing JSON: values one after another, each behind its key where an object is open; commas come by themselves. */
#ifndef TJ_BASE_JSON_H
#define TJ_BASE_JSON_H

#include "base/text.h"

typedef struct {
  tj_text *text; /* borrowed: what is written to */
  bool is_behind_item;
} tj_json;

tj_json tj_json_begin(tj_text *text);

/* '{' or '[', and '}' or ']'. */
void tj_json_open(tj_json *json, char bracket);
void tj_json_close(tj_json *json, char bracket);

void tj_json_key(tj_json *json, const char *key);

/* NULL: null. */
void tj_json_string(tj_json *json, const char *value);
void tj_json_integer(tj_json *json, int64_t value);
void tj_json_boolean(tj_json *json, bool value);

/* Begins a value that the caller writes to the text. */
tj_text *tj_json_value(tj_json *json);

/* The next value stands on a line of its own. */
void tj_json_line(tj_json *json);

/* A key and its value. */
void tj_json_member(tj_json *json, const char *key, const char *value);
void tj_json_number(tj_json *json, const char *key, int64_t value);

#endif
