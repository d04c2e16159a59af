/* SPDX-License-Identifier: MIT */
/* The rows of builtin.def and transform.def, and those of word.def and array_function.def; and finding one. */
#include "frontend/names/builtin.h"

#include "frontend/names/cute.h"
#include "frontend/names/spelling.h"

#include <stdbool.h>
#include <string.h>

#define GROUP(name, title) static const char title_of_##name[] = title;
#include "frontend/names/builtin.def"

static const tj_builtin builtins[] = {
#define BUILTIN(name, group, form, least, most, named, doc, example, value, cute, ck)                                \
  {#name, title_of_##group, form, named, doc, example, value, cute, ck, least, most, tj_builtin_##name},
#include "frontend/names/builtin.def"
#define TRANSFORM(name, text, stage, reach, images, form, doc, example, value, cute, ck)                             \
  {text, title_of_TRANSFORM, form, "", doc, example, value, cute, ck, 0, TJ_ANY_COUNT, tj_builtin_transform_by_name},
#include "ir/view/transform.def"
#undef TRANSFORM
};

enum { BUILTIN_COUNT = sizeof builtins / sizeof *builtins };

const tj_builtin *tj_builtin_find(const char *name) {
  for (size_t i = 0; i < BUILTIN_COUNT; i++) {
    if (strcmp(builtins[i].name, name) == 0)
      return &builtins[i];
  }
  return tj_cute_call(name);
}

const tj_builtin *tj_builtin_called(const char *name) {
  for (size_t i = 0; i < BUILTIN_COUNT; i++) {
    if (tj_has_word(builtins[i].cute, name) || tj_has_word(builtins[i].ck, name))
      return &builtins[i];
  }
  return NULL;
}

const tj_builtin *tj_builtin_at(size_t index) {
  return index < BUILTIN_COUNT ? &builtins[index] : NULL;
}

/* --- words of kernels --- */

static const char title_of_BODY[] = "Kernels' bodies", title_of_STATEMENT[] = "Array statements";

#define FORM_OF_1(text) text "(a)"
#define FORM_OF_2(text) text "(a, b)"
#define FORM_OF_3(text) text "(a, b, c)"

/* Operators, which are rows too, are no words. */
static const tj_builtin words[] = {
#define WORD(name, group, form, doc) {#name, title_of_##group, form, "", doc, "", "", "", "", 0, TJ_ANY_COUNT, NULL},
#include "frontend/names/word.def"
#undef WORD
#define ARRAY_FUNCTION(name, text, arity, single, twice, traits, doc)                                                \
  {text,                                                                                                             \
   title_of_STATEMENT,                                                                                               \
   FORM_OF_##arity(text),                                                                                            \
   "",                                                                                                               \
   doc " (error at most " single " ulp, in f64 " twice ")",                                                          \
   "",                                                                                                               \
   "",                                                                                                               \
   "",                                                                                                               \
   "",                                                                                                               \
   arity,                                                                                                            \
   arity,                                                                                                            \
   NULL},
#include "ir/array/array_function.def"
#undef ARRAY_FUNCTION
};

static bool is_operator(const tj_builtin *word) {
  return strchr("+-*/", word->name[0]) != NULL;
}

const tj_builtin *tj_word_at(size_t index) {
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (!is_operator(&words[i]) && index-- == 0)
      return &words[i];
  }
  return NULL;
}

const tj_builtin *tj_word_find(const char *name) {
  const tj_builtin *word;
  for (size_t i = 0; (word = tj_word_at(i)) != NULL; i++) {
    if (strcmp(word->name, name) == 0)
      return word;
  }
  return NULL;
}
