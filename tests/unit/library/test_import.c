/* SPDX-License-Identifier: MIT */
/* Imports through the public header: a reader that finds texts in a table, and what programs see of them. */
#include "tests/unit/support/library_support.h"

#include <stdio.h>

enum { IMPORT = 2040, CYCLE = 2041, UNKNOWN_NAME = 2001, UNEXPECTED = 1003, SOURCE_LIMIT = 7006, TOO_MANY = 7008 };

typedef struct {
  const char *name, *text;
} shelf_text;

static const shelf_text shelf[] = {
    {"two", "let two = 2"},
    {"double", "import \"two\" let double(x) = x * two; kernel k(d: i32 @ 4:1) = offsets(d, 4:1); 99"},
    {"size", "let size = 3; let two = 22"},
    {"rows", "let rows(L) = size(L)"},
    {"param", "param M in 1..64"},
    {"ring", "import \"gnir\" let r = 1"},
    {"gnir", "import \"ring\" let g = 1"},
    {"itself", "import \"itself\""},
    {"wrong", "let a = 1\nlet b = (1,2"},
    {"late", "let late = 1 / (2 - two_of_late); let two_of_late = 2"},
    {"zero", "let part(x) = 1 / x"},
};

/* How often a reader was asked, and by whom last. */
typedef struct {
  int calls;
  char importer[32];
} journal;

static tj_status read_shelf(void *user, const char *importer, const char *path, tj_import *import) {
  journal *j = user;
  j->calls++;
  snprintf(j->importer, sizeof j->importer, "%s", importer);
  if (strcmp(path, "silent") == 0)
    return TJ_ERROR_INPUT;
  if (strcmp(path, "nothing") == 0)
    return TJ_OK;
  for (size_t i = 0; i < sizeof shelf / sizeof *shelf; i++) {
    if (strcmp(shelf[i].name, path) == 0)
      return tj_import_give(import, path, shelf[i].text, strlen(shelf[i].text));
  }
  return tj_import_refuse(import, "not on the shelf");
}

/* Texts without an end: "1" imports "2", and so on. */
static tj_status read_numbers(void *user, const char *importer, const char *path, tj_import *import) {
  char text[64];
  (void)user;
  (void)importer;
  snprintf(text, sizeof text, "import \"%d\"", atoi(path) + 1);
  return tj_import_give(import, path, text, strlen(text));
}

/* Texts of the size that a text may have. */
static tj_status read_large(void *user, const char *importer, const char *path, tj_import *import) {
  (void)importer;
  return tj_import_give(import, path, user, strlen(user));
}

static tj_status evaluate(tj_context *context, const char *text, tj_blob *value) {
  tj_program *program;
  tj_status status = tj_program_create(context, "main", text, strlen(text), NULL, 0, &program);
  if (status == TJ_OK) {
    status = tj_program_value(program, value);
    tj_program_destroy(program);
  }
  return status;
}

/* A program with its value, or with the code of its failure, a part of its message or note, and the place. */
typedef struct {
  const char *text, *value;
  unsigned code;
  const char *says, *file;
  unsigned line, column;
} row;

static void check_failure(tj_context *context, tj_status status, const row *r) {
  ck_assert_msg(failure_of(context, status) == r->code, "%s", r->text);
  const tj_diagnostic *d = tj_context_diagnostic(context);
  ck_assert_msg(strstr(d->message, r->says) != NULL || strstr(d->note, r->says) != NULL, "%s: %s; %s", r->text,
                d->message, d->note);
  if (r->file != NULL) {
    ck_assert_str_eq(d->file, r->file);
    ck_assert_uint_eq(d->line, r->line);
    ck_assert_uint_eq(d->column, r->column);
  }
}

static void check_row(tj_context *context, const row *r) {
  tj_blob value;
  tj_status status = evaluate(context, r->text, &value);
  if (r->code != 0) {
    check_failure(context, status, r);
    return;
  }
  expect_ok(context, status, r->text);
  ck_assert_str_eq(value.data, r->value);
  tj_blob_release(context, &value);
}

START_TEST(programs_see_what_they_import) {
  static const row rows[] = {
      {"import \"two\"; two", .value = "2"},
      {"two import \"two\"", .code = UNEXPECTED, .says = "a bare expression comes last"},
      {"let A = two import \"two\" A", .code = UNEXPECTED, .says = "put a ;"},
      {"let A = two import \"two\"; A", .value = "2"},
      {"import \"double\"; double(two)", .value = "4"},
      {"import \"two\" import \"two\" import \"double\"; double(4)", .value = "8"},
      {"import \"two\" let two = 5; two", .value = "5"},
      /* Each text has names of its own: size hides the function for who imports it, and for nobody else. */
      {"import \"size\" import \"double\"; [double(1), size]", .value = "[2, 3]"},
      {"import \"size\" import \"rows\"; rows(4:1)", .value = "4"},
      {"import \"rows\" let size = 9; rows(4:1) + size", .value = "13"},
      {"import \"size\" import \"two\"; two", .value = "2"},
      {"import \"two\" import \"size\"; two", .value = "22"},
      {"import \"param\"; M * 2", .value = "M*2"},
      {"import \"late\"; 1", .value = "1"},
      {"import \"late\"; late", .code = UNKNOWN_NAME, .says = "two_of_late", .file = "late", .line = 1, .column = 21},
      {"import \"two\"; four", .code = UNKNOWN_NAME, .says = "four"},
      {"import \"ring\"; r", .code = CYCLE, .says = "imports itself", .file = "gnir", .line = 1, .column = 8},
      {"import \"itself\"; 1", .code = CYCLE, .says = "'itself'", .file = "itself", .line = 1, .column = 8},
      {"let c = 1;\nimport \"wrong\"; c", .code = 1004, .says = "imported at main:2:1", .file = "wrong", .line = 2,
       .column = 13},
      {"import \"zero\"; 1 +\npart(0)", .code = 2009, .says = "in 'part', called at main:2:1", .file = "zero",
       .line = 1, .column = 15},
      {"import \"none\"; 1", .code = IMPORT, .says = "not on the shelf", .file = "main", .line = 1, .column = 8},
      {"import \"silent\"; 1", .code = IMPORT, .says = "cannot import \"silent\""},
      {"import \"nothing\"; 1", .code = IMPORT, .says = "cannot import \"nothing\""},
  };
  tj_context *context = new_context(NULL);
  journal j = {0};
  tj_context_set_reader(context, read_shelf, &j);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    check_row(context, &rows[i]);
  tj_context_destroy(context);
}
END_TEST

START_TEST(texts_are_read_when_they_are_imported) {
  tj_context *context = new_context(NULL);
  journal j = {0};
  check_row(context, &(row){"import \"two\"; two", .code = IMPORT, .says = "tj_context_set_reader"});
  tj_context_set_reader(context, read_shelf, &j);
  check_row(context, &(row){"1 + 1", .value = "2"});
  ck_assert_int_eq(j.calls, 0);
  check_row(context, &(row){"import \"double\"; double(1)", .value = "2"});
  ck_assert_int_eq(j.calls, 2);
  ck_assert_str_eq(j.importer, "double");
  tj_context_set_reader(context, NULL, NULL);
  check_row(context, &(row){"import \"two\"; two", .code = IMPORT, .says = "nobody reads"});
  tj_context_destroy(context);
}
END_TEST

START_TEST(proofs_import) {
  tj_context *context = new_context(NULL);
  journal j = {0};
  int equal = 0;
  tj_blob text;
  tj_context_set_reader(context, read_shelf, &j);
  expect_ok(context,
            tj_prove(context, "import \"double\"; param n in 0..9", "double(n)", "import \"two\"; n * two", NULL, 0,
                     TJ_PROOF_TEXT, &equal, &text),
            "double");
  ck_assert_int_eq(equal, 1);
  tj_blob_release(context, &text);
  tj_context_destroy(context);
}
END_TEST

/* Lines of a session: an import holds for later ones, and one that fails leaves nothing. */
START_TEST(preludes_import) {
  static const row rows[] = {
      {"import \"two\"", .value = NULL},
      {"two", .value = "2"},
      {"import \"ring\"", .code = CYCLE, .says = "ring"},
      {"import \"ring\"", .code = CYCLE, .says = "ring"},
      {"r", .code = UNKNOWN_NAME, .says = "r"},
      {"import \"double\"; double(two)", .value = "4"},
      {"let two = 7", .value = NULL},
      {"double(two)", .value = "14"},
      {"import \"size\"; size", .value = "3"},
      {"import \"rows\"; rows(4:1)", .value = "4"},
      {"import \"none\"", .code = IMPORT, .says = "none"},
      {"double(3)", .value = "6"},
  };
  tj_context *context = new_context(NULL);
  tj_prelude *prelude;
  journal j = {0};
  tj_context_set_reader(context, read_shelf, &j);
  expect_ok(context, tj_prelude_create(context, &prelude), "a prelude");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tj_program *program;
    tj_blob value;
    tj_status status =
        tj_program_create_after(prelude, "line", rows[i].text, strlen(rows[i].text), NULL, 0, &program);
    if (rows[i].code != 0) {
      check_failure(context, status, &rows[i]);
      continue;
    }
    expect_ok(context, status, rows[i].text);
    if (rows[i].value != NULL) {
      expect_ok(context, tj_program_value(program, &value), rows[i].text);
      ck_assert_str_eq(value.data, rows[i].value);
      tj_blob_release(context, &value);
    }
    tj_program_destroy(program);
  }
  tj_prelude_destroy(prelude);
  tj_context_destroy(context);
}
END_TEST

START_TEST(imports_are_bounded) {
  enum { LARGE = 9 * 1024 * 1024 };
  tj_context *context = new_context(NULL);
  tj_context_set_reader(context, read_numbers, NULL);
  check_row(context, &(row){"import \"1\"; 1", .code = TOO_MANY, .says = "'64'"});
  char *large = malloc(LARGE + 1);
  ck_assert_ptr_nonnull(large);
  memset(large, ' ', LARGE);
  large[LARGE] = '\0';
  tj_context_set_reader(context, read_large, large);
  check_row(context, &(row){"import \"a\" import \"a\"; 1", .value = "1"});
  check_row(context, &(row){"import \"a\" import \"b\"; 1", .code = SOURCE_LIMIT, .says = "imported"});
  free(large);
  tj_context_destroy(context);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {programs_see_what_they_import, texts_are_read_when_they_are_imported, proofs_import,
                                preludes_import, imports_are_bounded};
  return run_suite(suite_of("import", tests, sizeof tests / sizeof tests[0]));
}
