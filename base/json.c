/* SPDX-License-Identifier: MIT */
/* Writing JSON. */
#include "base/json.h"

tj_json tj_json_begin(tj_text *text) {
  return (tj_json){.text = text};
}

static void separate(tj_json *json) {
  if (json->is_behind_item)
    tj_text_char(json->text, ',');
  json->is_behind_item = true;
}

void tj_json_open(tj_json *json, char bracket) {
  separate(json);
  tj_text_char(json->text, bracket);
  json->is_behind_item = false;
}

void tj_json_close(tj_json *json, char bracket) {
  tj_text_char(json->text, bracket);
  json->is_behind_item = true;
}

void tj_json_key(tj_json *json, const char *key) {
  tj_json_string(json, key);
  tj_text_char(json->text, ':');
  json->is_behind_item = false;
}

void tj_json_string(tj_json *json, const char *value) {
  separate(json);
  if (value != NULL)
    tj_text_json(json->text, value);
  else
    tj_text_string(json->text, "null");
}

void tj_json_integer(tj_json *json, int64_t value) {
  separate(json);
  tj_text_integer(json->text, value);
}

void tj_json_boolean(tj_json *json, bool value) {
  separate(json);
  tj_text_string(json->text, value ? "true" : "false");
}

tj_text *tj_json_value(tj_json *json) {
  separate(json);
  return json->text;
}

void tj_json_line(tj_json *json) {
  tj_text_string(json->text, json->is_behind_item ? ",\n" : "\n");
  json->is_behind_item = false;
}

void tj_json_member(tj_json *json, const char *key, const char *value) {
  tj_json_key(json, key);
  tj_json_string(json, value);
}

void tj_json_number(tj_json *json, const char *key, int64_t value) {
  tj_json_key(json, key);
  tj_json_integer(json, value);
}
