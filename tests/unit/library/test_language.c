/* SPDX-License-Identifier: MIT */
/* What the library tells of the language's functions: every row of the tables, whose examples are evaluated, and the
 * names of CuTe and CK Tile; and of element types and targets, each of which is used. */
#include "tests/unit/support/library_support.h"

#include <jansson.h>
#include <stdbool.h>

static json_t *functions_of(tj_context *context) {
  tj_blob text;
  expect_ok(context, tj_language_functions(context, TJ_LANGUAGE_JSON, &text), "every function");
  json_t *functions = json_loads(text.data, 0, NULL);
  ck_assert_ptr_nonnull(functions);
  tj_blob_release(context, &text);
  return functions;
}

static const char *member(const json_t *function, const char *key) {
  const char *value = json_string_value(json_object_get(function, key));
  ck_assert_msg(value != NULL && value[0] != '\0', "no %s", key);
  return value;
}

static void expect_value(tj_context *context, const char *expression, const char *expected) {
  tj_program *program = NULL;
  tj_blob value;
  expect_ok(context, tj_program_create(context, "example", expression, strlen(expression), NULL, 0, &program),
            expression);
  expect_ok(context, tj_program_value(program, &value), expression);
  ck_assert_msg(strcmp(value.data, expected) == 0, "%s is %s, not %s", expression, value.data, expected);
  tj_blob_release(context, &value);
  tj_program_destroy(program);
}

/* Whether the function's name stands in a text as a call. */
static bool is_called_in(const char *name, const char *text) {
  size_t length = strlen(name);
  for (const char *at = text; (at = strstr(at, name)) != NULL; at += length) {
    if (at[length] == '(')
      return true;
  }
  return false;
}

START_TEST(examples_have_the_values_of_their_rows) {
  tj_context *context = new_context(NULL);
  json_t *functions = functions_of(context), *function;
  size_t index;
  ck_assert_uint_ge(json_array_size(functions), 100);
  json_array_foreach(functions, index, function) {
    const char *name = member(function, "name"), *example = member(function, "example");
    ck_assert_msg(is_called_in(name, member(function, "form")), "the form of %s does not call it", name);
    ck_assert_msg(is_called_in(name, example), "the example of %s does not call it: %s", name, example);
    ck_assert_msg(strlen(member(function, "meaning")) > 5 && strlen(member(function, "group")) > 4, "%s", name);
    expect_value(context, example, member(function, "value"));
  }
  json_decref(functions);
  tj_context_destroy(context);
}
END_TEST

/* One function, asked by a name: that the text has, and that a list of the object has. */
static void expect_function(tj_context *context, const char *asked, const char *name) {
  tj_blob text, object;
  expect_ok(context, tj_language_function(context, asked, TJ_LANGUAGE_TEXT, &text), asked);
  expect_ok(context, tj_language_function(context, asked, TJ_LANGUAGE_JSON, &object), asked);
  json_t *function = json_loads(object.data, 0, NULL);
  ck_assert_msg(strstr(text.data, asked) != NULL, "%s is not in %s", asked, text.data);
  ck_assert_msg(strcmp(member(function, "name"), name) == 0, "%s is %s, not %s", asked, member(function, "name"),
                name);
  ck_assert_ptr_nonnull(strstr(text.data, member(function, "form")));
  ck_assert_ptr_nonnull(strstr(text.data, member(function, "example")));
  json_decref(function);
  tj_blob_release(context, &object);
  tj_blob_release(context, &text);
}

START_TEST(functions_are_found_by_each_of_their_names) {
  static const char *const rows[][2] = {
      {"coalesce", "coalesce"},
      {"make_layout", "make_layout"},
      {"Layout", "layout"},
      {"front", "get"},
      {"group_modes", "group"},
      {"recast_layout", "recast"},
      {"make_merge_transform", "merge"},
      {"make_merge_transform_v3_division_mod", "merge"},
      {"make_unmerge_transform", "unmerge"},
      {"make_naive_tensor_descriptor", "strided"},
      {"make_naive_tensor_descriptor_packed", "packed"},
      {"transform_tensor_descriptor", "transform"},
      {"chain_tensor_adaptors", "chain"},
      {"tile_distribution_encoding", "distribution"},
      {"slice", "slice"},
  };
  tj_context *context = new_context(NULL);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    expect_function(context, rows[i][0], rows[i][1]);
  tj_context_destroy(context);
}
END_TEST

START_TEST(names_that_are_no_function_are_told) {
  static const char *const rows[][2] = {
      {"hier_unzip", "zipped_divide"},
      {"LayoutRight", "compact_row_major"},
      {"coalese", "did you mean 'coalesce'?"},
      {"no_such_function", "let"},
      {"", "let"},
  };
  tj_context *context = new_context(NULL);
  tj_blob text;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    expect_code(context, tj_language_function(context, rows[i][0], TJ_LANGUAGE_JSON, &text), 2001, rows[i][0]);
    const char *note = tj_context_diagnostic(context)->note;
    ck_assert_msg(strstr(note, rows[i][1]) != NULL, "%s: %s", rows[i][0], note);
  }
  tj_context_destroy(context);
}
END_TEST

START_TEST(the_list_has_a_line_for_each_function) {
  tj_context *context = new_context(NULL);
  json_t *functions = functions_of(context), *function;
  tj_blob list;
  size_t index;
  expect_ok(context, tj_language_functions(context, TJ_LANGUAGE_TEXT, &list), "list");
  const char *line = list.data;
  json_array_foreach(functions, index, function) {
    const char *name = member(function, "name");
    ck_assert_msg(strncmp(line, name, strlen(name)) == 0 && line[strlen(name)] == '\t', "%s: %.40s", name, line);
    line = strchr(line, '\n') + 1;
  }
  ck_assert_str_eq(line, "");
  tj_blob_release(context, &list);
  json_decref(functions);
  tj_context_destroy(context);
}
END_TEST

/* --- element types and targets --- */

typedef tj_status (*list_of_names)(tj_context *context, tj_blob *text);
typedef tj_status (*use_of_name)(tj_context *context, const char *name);

static tj_status check_elements(tj_context *context, const char *dtype) {
  tj_program *program;
  tj_blob text;
  int holds;
  expect_ok(context, tj_program_create(context, "map", "8:1", 3, NULL, 0, &program), "map");
  tj_status status = tj_program_check(program, &(tj_check_options){.dtype = dtype}, &holds, &text);
  if (status == TJ_OK)
    tj_blob_release(context, &text);
  tj_program_destroy(program);
  return status;
}

static tj_status compile_offsets(tj_context *context, const char *target) {
  tj_program *program;
  tj_blob text;
  expect_ok(context, tj_program_create(context, "map", "8:1", 3, NULL, 0, &program), "map");
  tj_status status = tj_program_emit(program, &(tj_compile_options){.target = target}, TJ_EMIT_LLVM, &text);
  if (status == TJ_OK)
    tj_blob_release(context, &text);
  tj_program_destroy(program);
  return status;
}

static tj_status ask_for_word(tj_context *context, const char *word) {
  tj_blob text;
  tj_status status = tj_language_function(context, word, TJ_LANGUAGE_TEXT, &text);
  if (status != TJ_OK)
    return status;
  const char *kernels = strstr(text.data, "Kernels' bodies\n"), *statements = strstr(text.data, "Array statements\n");
  ck_assert_msg(kernels != NULL || statements != NULL, "%s", text.data);
  ck_assert_ptr_nonnull(strstr(kernels != NULL ? kernels : statements, word));
  tj_blob_release(context, &text);
  return status;
}

/* The number of lines NAME, tab, what it is, whose names can all be used. */
static unsigned expect_usable(tj_context *context, list_of_names list, use_of_name use) {
  tj_blob text;
  unsigned count = 0;
  expect_ok(context, list(context, &text), "list");
  for (char *line = text.data, *next; *line != '\0'; line = next, count++) {
    char *tab = strchr(line, '\t'), *end = strchr(line, '\n');
    ck_assert_msg(tab != NULL && end > tab + 1, "%s", line);
    *tab = '\0';
    next = end + 1;
    expect_ok(context, use(context, line), line);
  }
  tj_blob_release(context, &text);
  return count;
}

START_TEST(names_that_are_listed_can_be_used) {
  tj_context *context = new_context(NULL);
  ck_assert_uint_ge(expect_usable(context, tj_language_dtypes, check_elements), 17);
  ck_assert_uint_ge(expect_usable(context, tj_target_list, compile_offsets), 50);
  ck_assert_uint_ge(expect_usable(context, tj_language_words, ask_for_word), 35);
  expect_code(context, check_elements(context, "f17"), 4002, "f17");
  expect_code(context, compile_offsets(context, "gfx9999"), 5001, "gfx9999");
  tj_context_destroy(context);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {examples_have_the_values_of_their_rows, functions_are_found_by_each_of_their_names,
                                names_that_are_no_function_are_told, the_list_has_a_line_for_each_function,
                                names_that_are_listed_can_be_used};
  return run_suite(suite_of("language", tests, sizeof tests / sizeof *tests));
}
