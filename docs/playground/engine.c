/* SPDX-License-Identifier: MIT */
/* What is asked, with which options, of which function of the public header. */
#include "docs/playground/engine.h"

#include "tilejit/tilejit.h"
#include "tools/report/note.h"

#include <emscripten/emscripten.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* OPTION(name): what pages may set, called as the command's options where it has them. */
#define OPTIONS(OPTION)                                                                                              \
  OPTION(program) /* what is asked about; of questions about several expressions, what those see */                  \
  OPTION(set)     /* parameters that are fixed: "M=64, N=32" */                                                      \
  OPTION(other)   /* prove: what the program's value is compared with */                                             \
  OPTION(lds)     /* conflicts: the layout; store, load: who stores and loads the tile; tile: "M,N" */               \
  OPTION(store)                                                                                                      \
  OPTION(load)                                                                                                       \
  OPTION(tile)                                                                                                       \
  OPTION(dma) /* tensor DMA: the tensor; tile and lds are its, too; at: which tile */                                \
  OPTION(at)                                                                                                         \
  OPTION(target)                                                                                                     \
  OPTION(dtype)                                                                                                      \
  OPTION(tv) /* check: the value is a (thread, value) layout */                                                      \
  OPTION(as) /* value, picture, simplification, tensor DMA, function, kernel: which form */                          \
  OPTION(color)                                                                                                      \
  OPTION(prove)    /* simplification: with a proof */                                                                \
  OPTION(function) /* its name */                                                                                    \
  OPTION(walk)                                                                                                       \
  OPTION(json) /* check, conflicts, suggestions, proofs: as JSON */

#define AS_MEMBER(name) char *name;
typedef struct {
  OPTIONS(AS_MEMBER)
} options;

#define AS_ROW(name) {#name, offsetof(options, name)},
static const struct {
  const char *name;
  size_t offset;
} option_rows[] = {OPTIONS(AS_ROW)};

enum { MOST_FIXED = 64 };

static struct {
  options given;
  char *fixed_names; /* a copy of what `set` says, with zeros behind the names */
  tj_parameter_value fixed[MOST_FIXED];
  size_t fixed_count;
  tj_context *context;
  tj_blob text;
  int holds; /* checks: what must hold does; proofs: equal */
  char *diagnostic;
} engine;

/* A word and what it stands for, in tables that end in NULL. Other words, and none, stand for what the first one
 * does. */
typedef struct {
  const char *word;
  int number;
} choice;

static int chosen(const choice choices[], const char *word) {
  for (const choice *c = choices; word != NULL && c->word != NULL; c++) {
    if (strcmp(c->word, word) == 0)
      return c->number;
  }
  return choices[0].number;
}

static tj_check_form report_form(void) {
  return engine.given.json != NULL ? TJ_CHECK_JSON : TJ_CHECK_TEXT;
}

/* "M,N", in parentheses or not; {0, 0} where it is neither given nor that. */
static void read_tile(int64_t tile[2]) {
  long long m = 0, n = 0;
  const char *text = engine.given.tile != NULL ? engine.given.tile : "";
  if (sscanf(text, " ( %lld , %lld", &m, &n) != 2 && sscanf(text, " %lld , %lld", &m, &n) != 2)
    m = n = 0;
  tile[0] = m;
  tile[1] = n;
}

/* Finds the pairs of `set`, up to the first that is none. */
static void read_fixed(void) {
  engine.fixed_count = 0;
  free(engine.fixed_names);
  engine.fixed_names = strdup(engine.given.set != NULL ? engine.given.set : "");
  char *at = engine.fixed_names;
  while (at != NULL && engine.fixed_count < MOST_FIXED) {
    char *name = at + strspn(at, " ,\t"), *equals = strchr(name, '='), *end = equals;
    if (equals == NULL)
      break;
    long long value = strtoll(equals + 1, &end, 10);
    if (end == equals + 1)
      break;
    name[strcspn(name, " =")] = '\0';
    engine.fixed[engine.fixed_count++] = (tj_parameter_value){name, value};
    at = end;
  }
}

/* --- answers about the program --- */

enum { CANONICAL = -1, TABLE = -2, TABLE_OBJECT = -3 };

static tj_status answer_value(tj_program *program) {
  static const choice forms[] = {{"value", CANONICAL},
                                 {"table", TABLE},
                                 {"table-object", TABLE_OBJECT},
#define LANGUAGE(word, number) {word, number},
#include "tools/call/word.def"
                                 {NULL, 0}};
  int form = chosen(forms, engine.given.as);
  if (form == CANONICAL)
    return tj_program_value(program, &engine.text);
  if (form == TABLE || form == TABLE_OBJECT)
    return tj_program_table(program, form == TABLE ? TJ_TABLE_VALUES : TJ_TABLE_OBJECT, &engine.text);
  return tj_program_foreign_text(program, (tj_text_form)form, &engine.text);
}

static tj_status answer_simplify(tj_program *program) {
  static const choice forms[] = {
      {"trace", TJ_SIMPLIFY_TRACE}, {"text", TJ_SIMPLIFY_TEXT}, {"json", TJ_SIMPLIFY_JSON}, {NULL, 0}};
  tj_simplify_form form = (tj_simplify_form)chosen(forms, engine.given.as);
  return engine.given.prove != NULL ? tj_program_simplify_proved(program, form, &engine.holds, &engine.text)
                                    : tj_program_simplify(program, form, &engine.text);
}

static tj_show_form picture_form(void) {
  static const choice forms[] = {
#define PICTURE(word, number) {word, number},
#include "tools/call/word.def"
      {NULL, 0}};
  return (tj_show_form)chosen(forms, engine.given.as);
}

static tj_status answer_show(tj_program *program) {
  static const choice colours[] = {{"", TJ_SHOW_COLOUR_DEFAULT},
#define COLOUR(word, number) {word, number},
#include "tools/call/word.def"
                                   {NULL, 0}};
  tj_show_options options = {.form = picture_form(), .colour = (tj_show_colour)chosen(colours, engine.given.color)};
  read_tile(options.tile);
  return tj_program_show(program, &options, &engine.text);
}

static tj_status answer_check(tj_program *program) {
  const tj_check_options options = {.target = engine.given.target,
                                    .dtype = engine.given.dtype,
                                    .is_threads = engine.given.tv != NULL,
                                    .form = report_form()};
  return tj_program_check(program, &options, &engine.holds, &engine.text);
}

static tj_status answer_global(tj_program *program) {
  return tj_program_suggest(program, engine.given.dtype, report_form(), &engine.text);
}

static tj_status answer_function(tj_program *program) {
  static const choice forms[] = {{"c", TJ_FUNCTION_C}, {"header", TJ_FUNCTION_HEADER}, {NULL, 0}};
  const tj_function_options options = {.name = engine.given.function, .walk = engine.given.walk};
  return tj_program_function(program, &options, (tj_function_form)chosen(forms, engine.given.as), &engine.text);
}

static tj_status answer_kernel(tj_program *program) {
  static const choice stages[] = {{"tiled", TJ_EMIT_TILED},           {"ast", TJ_EMIT_AST},
                                  {"values", TJ_EMIT_VALUES},         {"index", TJ_EMIT_INDEX},
                                  {"simplified", TJ_EMIT_SIMPLIFIED}, {NULL, 0}};
  const tj_compile_options options = {.target = engine.given.target};
  return tj_program_emit(program, &options, (tj_emit)chosen(stages, engine.given.as), &engine.text);
}

/* --- answers about several expressions --- */

static tj_lds_question lds_question(void) {
  tj_lds_question question = {.declarations = engine.given.program,
                              .lds = engine.given.lds,
                              .store = engine.given.store,
                              .load = engine.given.load,
                              .target = engine.given.target,
                              .dtype = engine.given.dtype,
                              .fixed = engine.fixed,
                              .fixed_count = engine.fixed_count,
                              .form = report_form()};
  read_tile(question.tile);
  return question;
}

static tj_status answer_conflicts(void) {
  const tj_lds_question question = lds_question();
  return tj_check_lds(engine.context, &question, &engine.holds, &engine.text);
}

static tj_status answer_banks(void) {
  const tj_lds_question question = lds_question();
  const tj_show_options options = {.form = picture_form()};
  return tj_show_lds(engine.context, &question, &options, &engine.text);
}

static tj_status answer_suggest(void) {
  tj_lds_question question = lds_question();
  question.lds = NULL;
  return tj_suggest_lds_layouts(engine.context, &question, &engine.text);
}

static tj_status answer_dma(void) {
  static const choice forms[] = {{"plan", false}, {"program", true}, {NULL, 0}};
  const tj_dma_question question = {.declarations = engine.given.program,
                                    .tensor = engine.given.dma,
                                    .tile = engine.given.tile,
                                    .lds = engine.given.lds,
                                    .at = engine.given.at,
                                    .target = engine.given.target,
                                    .dtype = engine.given.dtype,
                                    .fixed = engine.fixed,
                                    .fixed_count = engine.fixed_count,
                                    .form = report_form(),
                                    .as_program = chosen(forms, engine.given.as)};
  return tj_check_dma(engine.context, &question, &engine.holds, &engine.text);
}

static tj_status answer_prove(void) {
  return tj_prove(engine.context, NULL, engine.given.program, engine.given.other, engine.fixed, engine.fixed_count,
                  engine.given.json != NULL ? TJ_PROOF_JSON : TJ_PROOF_TEXT, &engine.holds, &engine.text);
}

/* --- answers about the language --- */

static tj_status answer_functions(void) {
  return tj_language_functions(engine.context, TJ_LANGUAGE_JSON, &engine.text);
}

static tj_status answer_targets(void) {
  return tj_target_list(engine.context, &engine.text);
}

static tj_status answer_dtypes(void) {
  return tj_language_dtypes(engine.context, &engine.text);
}

static tj_status answer_version(void) {
  return tj_version_text(engine.context, &engine.text);
}

static const struct {
  const char *name;
  tj_status (*of_program)(tj_program *program);
  tj_status (*of_all)(void);
} answers[] = {{"value", answer_value, NULL},
               {"simplify", answer_simplify, NULL},
               {"show", answer_show, NULL},
               {"check", answer_check, NULL},
               {"global", answer_global, NULL},
               {"function", answer_function, NULL},
               {"kernel", answer_kernel, NULL},
               {"conflicts", NULL, answer_conflicts},
               {"banks", NULL, answer_banks},
               {"suggest", NULL, answer_suggest},
               {"dma", NULL, answer_dma},
               {"prove", NULL, answer_prove},
               {"functions", NULL, answer_functions},
               {"targets", NULL, answer_targets},
               {"dtypes", NULL, answer_dtypes},
               {"version", NULL, answer_version}};

/* --- imports --- */

/* What is installed with the command, to be imported by name, or from one another by file: share/tilejit, which the
 * build has made rows of. */
#define FOLDER "tilejit/"
#define SUFFIX ".tile"

static const struct {
  const char *name; /* tilejit/atoms.tile */
  const char *text;
  size_t length;
} libraries[] = {
#include "libraries.inc"
};

static bool ends_in_suffix(const char *path) {
  size_t length = strlen(path), suffix = strlen(SUFFIX);
  return length > suffix && strcmp(path + length - suffix, SUFFIX) == 0;
}

static tj_status give_library(void *user, const char *importer, const char *path, tj_import *import) {
  char name[256];
  (void)user;
  bool is_file = ends_in_suffix(path), is_inside = strncmp(importer, FOLDER, strlen(FOLDER)) == 0;
  snprintf(name, sizeof name, FOLDER "%s%s", path, is_file ? "" : SUFFIX);
  for (size_t i = 0; i < sizeof libraries / sizeof *libraries && (is_inside || !is_file); i++) {
    if (strcmp(name, libraries[i].name) == 0)
      return tj_import_give(import, name, libraries[i].text, libraries[i].length);
  }
  return tj_import_refuse(import, "a page has no files but the libraries of the command");
}

/* --- what pages call --- */

EMSCRIPTEN_KEEPALIVE int engine_set(const char *name, const char *value) {
  for (size_t i = 0; i < sizeof option_rows / sizeof *option_rows; i++) {
    if (strcmp(option_rows[i].name, name) != 0)
      continue;
    char **given = (char **)((char *)&engine.given + option_rows[i].offset);
    free(*given);
    *given = value != NULL ? strdup(value) : NULL;
    return value == NULL || *given != NULL;
  }
  return 0;
}

static void forget(void) {
  if (engine.context != NULL)
    tj_blob_release(engine.context, &engine.text);
  tj_context_destroy(engine.context);
  free(engine.diagnostic);
  engine.context = NULL;
  engine.text = (tj_blob){NULL, 0};
  engine.diagnostic = NULL;
  engine.holds = 1;
}

static const note_word words[] = {{"tj_program_create", "the field below the program"}, {NULL, NULL}};

enum { NO_LLVM = 5012 };

static void keep_diagnostic(void) {
  char note[NOTE_SIZE];
  if (tj_context_diagnostic(engine.context) == NULL)
    return;
  tj_diagnostic here = *tj_context_diagnostic(engine.context);
  here.note =
      here.code == NO_LLVM ? "what needs machine code is left to the command" : note_in_words(here.note, words, note);
  size_t length = tj_diagnostic_format(&here, 0, NULL, 0);
  engine.diagnostic = malloc(length + 1);
  if (engine.diagnostic != NULL)
    tj_diagnostic_format(&here, 0, engine.diagnostic, length + 1);
}

static tj_status answer_of_program(tj_status (*answer)(tj_program *program)) {
  const char *text = engine.given.program != NULL ? engine.given.program : "";
  tj_program *program = NULL;
  tj_status status = tj_program_create(engine.context, "<expression>", text, strlen(text), engine.fixed,
                                       engine.fixed_count, &program);
  if (status == TJ_OK)
    status = answer(program);
  if (status != TJ_OK)
    keep_diagnostic();
  tj_program_destroy(program);
  return status;
}

static tj_status answer_of_all(tj_status (*answer)(void)) {
  tj_status status = answer();
  if (status != TJ_OK)
    keep_diagnostic();
  return status;
}

EMSCRIPTEN_KEEPALIVE int engine_ask(const char *name) {
  forget();
  if (tj_context_create(NULL, &engine.context) != TJ_OK)
    return TJ_ERROR_MEMORY;
  tj_context_set_cache(engine.context, NULL);
  tj_context_set_reader(engine.context, give_library, NULL);
  read_fixed();
  for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
    if (strcmp(answers[i].name, name) == 0)
      return (int)(answers[i].of_program != NULL ? answer_of_program(answers[i].of_program)
                                                 : answer_of_all(answers[i].of_all));
  }
  return TJ_ERROR_USAGE;
}

EMSCRIPTEN_KEEPALIVE const char *engine_text(void) {
  return engine.text.data;
}

EMSCRIPTEN_KEEPALIVE size_t engine_size(void) {
  return engine.text.size;
}

EMSCRIPTEN_KEEPALIVE int engine_holds(void) {
  return engine.holds;
}

EMSCRIPTEN_KEEPALIVE const char *engine_diagnostic(void) {
  return engine.diagnostic;
}

static tj_diagnostic last_diagnostic(void) {
  const tj_diagnostic *diagnostic = engine.context != NULL ? tj_context_diagnostic(engine.context) : NULL;
  return diagnostic != NULL ? *diagnostic : (tj_diagnostic){.file = ""};
}

EMSCRIPTEN_KEEPALIVE const char *engine_file(void) {
  return last_diagnostic().file;
}

EMSCRIPTEN_KEEPALIVE uint32_t engine_line(void) {
  return last_diagnostic().line;
}

EMSCRIPTEN_KEEPALIVE uint32_t engine_column(void) {
  return last_diagnostic().column;
}

EMSCRIPTEN_KEEPALIVE uint32_t engine_length(void) {
  return last_diagnostic().length;
}
