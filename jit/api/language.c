/* SPDX-License-Identifier: MIT */
/* The public library's descriptions of the language's functions: the rows of builtin.def and transform.def as text
 * and as JSON; and the lists of element types and of targets. */
#include "jit/compile/context.h"

#include "frontend/builtin.h"
#include "frontend/spelling.h"
#include "lower/machine/dtype.h"
#include "lower/machine/target.h"

#include <string.h>

/* --- lists of names, which spaces separate --- */

/* Writes the names with what stands between them; each is written by `write`. */
static void write_names(tj_text *text, const char *names, const char *between,
                        void (*write)(tj_text *text, const char *name)) {
  for (size_t length; *names != '\0'; names += length + (names[length] == ' ')) {
    length = strcspn(names, " ");
    write(text, tj_string_copy(text->job, names, length));
    if (names[length] == ' ')
      tj_text_string(text, between);
  }
}

/* --- text --- */

static void write_line(tj_text *text, const char *about, const char *names) {
  if (names[0] == '\0')
    return;
  tj_text_format(text, "%-9s", about);
  write_names(text, names, ", ", tj_text_string);
  tj_text_char(text, '\n');
}

static void write_function(tj_text *text, const tj_builtin *f) {
  tj_text_format(text, "%s\n    %s\n\n", f->form, f->doc);
  tj_text_format(text, "example  %s\n         gives %s\n", f->example, f->value);
  write_line(text, "named", f->named);
  write_line(text, "CuTe", f->cute);
  write_line(text, "CK Tile", f->ck);
}

/* --- JSON --- */

static void write_member(tj_text *text, const char *key, const char *value) {
  tj_text_format(text, ",\"%s\":", key);
  tj_text_json(text, value);
}

static void write_array(tj_text *text, const char *key, const char *names) {
  tj_text_format(text, ",\"%s\":[", key);
  write_names(text, names, ",", tj_text_json);
  tj_text_char(text, ']');
}

static void write_object(tj_text *text, const tj_builtin *f) {
  tj_text_string(text, "{\"name\":");
  tj_text_json(text, f->name);
  write_member(text, "group", f->group);
  write_member(text, "form", f->form);
  write_array(text, "named", f->named);
  write_member(text, "meaning", f->doc);
  write_member(text, "example", f->example);
  write_member(text, "value", f->value);
  write_array(text, "cute", f->cute);
  write_array(text, "ck", f->ck);
  tj_text_char(text, '}');
}

/* --- one function --- */

typedef struct {
  const char *name; /* NULL: every function */
  tj_language_form form;
} question;

static const tj_builtin *function_called(tj_job *job, const char *name) {
  const tj_builtin *found = tj_builtin_find(name);
  if (found == NULL)
    found = tj_builtin_called(name);
  if (found == NULL)
    tj_fail_unknown_function(job, name);
  return found;
}

static void describe_function(tj_text *text, const void *data) {
  const question *asked = data;
  const tj_builtin *function = function_called(text->job, asked->name);
  if (asked->form == TJ_LANGUAGE_JSON) {
    write_object(text, function);
    tj_text_char(text, '\n');
  } else {
    write_function(text, function);
  }
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
  bool json = ((const question *)data)->form == TJ_LANGUAGE_JSON;
  const tj_builtin *function;
  tj_text_string(text, json ? "[" : "");
  for (size_t i = 0; (function = tj_builtin_at(i)) != NULL; i++) {
    if (is_told(i))
      continue;
    if (json) {
      tj_text_string(text, i > 0 ? "," : "");
      write_object(text, function);
    } else {
      tj_text_format(text, "%s\t%s\n", function->name, function->doc);
    }
  }
  tj_text_string(text, json ? "]\n" : "");
}

tj_status tj_language_functions(tj_context *context, tj_language_form form, tj_blob *text) {
  return tj_context_write(context, list_functions, &(question){NULL, form}, text);
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
