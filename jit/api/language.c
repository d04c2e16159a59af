/* SPDX-License-Identifier: MIT */
/* The public library's descriptions of the language's functions: the rows of builtin.def and transform.def as text
 * and as JSON; of kernels' words; and the lists of element types and of targets. */
#include "launch/api/context.h"

#include "base/json.h"
#include "base/number/dtype.h"
#include "frontend/names/builtin.h"
#include "frontend/names/cute.h"
#include "frontend/names/spelling.h"
#include "lower/machine/target.h"

#include <string.h>

/* --- lists of names, which spaces separate --- */

/* The first of them, and what is left in *names; NULL where there is none. */
static const char *next_name(tj_job *job, const char **names) {
  size_t length = strcspn(*names, " ");
  if (length == 0)
    return NULL;
  const char *name = tj_string_copy(job, *names, length);
  *names += length + ((*names)[length] == ' ');
  return name;
}

/* --- text --- */

static void write_line(tj_text *text, const char *about, const char *names) {
  const char *name = next_name(text->job, &names);
  if (name == NULL)
    return;
  tj_text_format(text, "%-9s%s", about, name);
  while ((name = next_name(text->job, &names)) != NULL)
    tj_text_format(text, ", %s", name);
  tj_text_char(text, '\n');
}

static void write_function(tj_text *text, const tj_builtin *f) {
  tj_text_format(text, "%s\n    %s\n", f->form, f->doc);
  if (f->example[0] != '\0')
    tj_text_format(text, "\nexample  %s\n         gives %s\n", f->example, f->value);
  write_line(text, "named", f->named);
  write_line(text, "CuTe", f->cute);
  write_line(text, "CK Tile", f->ck);
}

/* --- JSON --- */

static void write_names(tj_json *json, const char *key, const char *names) {
  tj_json_key(json, key);
  tj_json_open(json, '[');
  for (const char *name; (name = next_name(json->text->job, &names)) != NULL;)
    tj_json_string(json, name);
  tj_json_close(json, ']');
}

static void write_object(tj_json *json, const tj_builtin *f) {
  tj_json_open(json, '{');
  tj_json_member(json, "name", f->name);
  tj_json_member(json, "group", f->group);
  tj_json_member(json, "form", f->form);
  write_names(json, "named", f->named);
  tj_json_member(json, "meaning", f->doc);
  tj_json_member(json, "example", f->example);
  tj_json_member(json, "value", f->value);
  write_names(json, "cute", f->cute);
  write_names(json, "ck", f->ck);
  tj_json_close(json, '}');
}

/* --- one function --- */

typedef struct {
  const char *name; /* NULL: every function */
  tj_language_form form;
} question;

/* The function of the language that has the name, or is called so elsewhere; then what else C++ text may call. NULL
 * where only kernels have it. */
static const tj_builtin *function_called(tj_job *job, const char *name, const tj_builtin *word) {
  const tj_builtin *found = tj_builtin_find(name), *called = tj_builtin_called(name);
  if (called != NULL && (found == NULL || tj_cute_has(found)))
    found = called;
  const tj_misspelling of = tj_misspelling_of(name);
  if (found == NULL && word == NULL)
    tj_fail_unknown_function(job, &of);
  return found;
}

static void write_word(tj_text *text, const tj_builtin *word, bool is_second) {
  tj_text_format(text, "%s%s\n", is_second ? "\n" : "", word->group);
  write_function(text, word);
}

/* As JSON one object: the function's, where there is one. */
static void describe_function(tj_text *text, const void *data) {
  const question *asked = data;
  const tj_builtin *word = tj_word_find(asked->name);
  const tj_builtin *function = function_called(text->job, asked->name, word);
  if (asked->form == TJ_LANGUAGE_JSON) {
    tj_json json = tj_json_begin(text);
    write_object(&json, function != NULL ? function : word);
    tj_text_char(text, '\n');
    return;
  }
  if (function != NULL)
    write_function(text, function);
  if (word != NULL)
    write_word(text, word, function != NULL);
}

tj_status tj_language_function(tj_context *context, const char *name, tj_language_form form, tj_blob *text) {
  return tj_context_write(context, describe_function, &(question){name, form}, text);
}

/* --- all functions --- */

/* Whether an earlier row has this name: `slice` is CuTe's function, and the transform. */
static bool is_told(size_t index) {
  return tj_builtin_find(tj_builtin_at(index)->name) != tj_builtin_at(index);
}

static void list_functions(tj_text *text, const void *data) {
  bool as_json = ((const question *)data)->form == TJ_LANGUAGE_JSON;
  tj_json json = tj_json_begin(text);
  const tj_builtin *function;
  if (as_json)
    tj_json_open(&json, '[');
  for (size_t i = 0; (function = tj_builtin_at(i)) != NULL; i++) {
    if (is_told(i))
      continue;
    if (as_json)
      write_object(&json, function);
    else
      tj_text_format(text, "%s\t%s\n", function->name, function->doc);
  }
  if (as_json) {
    tj_json_close(&json, ']');
    tj_text_char(text, '\n');
  }
}

tj_status tj_language_functions(tj_context *context, tj_language_form form, tj_blob *text) {
  return tj_context_write(context, list_functions, &(question){NULL, form}, text);
}

static void list_words(tj_text *text, const void *data) {
  const tj_builtin *word;
  (void)data;
  for (size_t i = 0; (word = tj_word_at(i)) != NULL; i++)
    tj_text_format(text, "%s\t%s\n", word->name, word->doc);
}

tj_status tj_language_words(tj_context *context, tj_blob *text) {
  return tj_context_write(context, list_words, NULL, text);
}

/* --- element types and targets --- */

static void list_dtypes(tj_text *text, const void *data) {
  static const char *const classes[] = {[TJ_CLASS_SIGNED] = "signed integer",
                                        [TJ_CLASS_UNSIGNED] = "unsigned integer",
                                        [TJ_CLASS_FLOAT] = "floating point",
                                        [TJ_CLASS_BITS] = "as they are"};
  (void)data;
  for (tj_dtype dtype = 0; dtype < TJ_DTYPE_COUNT; dtype++)
    tj_text_format(text, "%s\t%u bits, %s\n", tj_dtype_name(dtype), tj_dtype_bits(dtype),
                   classes[tj_dtype_class_of(dtype)]);
}

tj_status tj_language_dtypes(tj_context *context, tj_blob *text) {
  return tj_context_write(context, list_dtypes, NULL, text);
}

static void list_targets(tj_text *text, const void *data) {
  (void)data;
  tj_target_list_all(text);
}

tj_status tj_target_list(tj_context *context, tj_blob *text) {
  return tj_context_write(context, list_targets, NULL, text);
}
