/* SPDX-License-Identifier: MIT */
/* The rows of cute.def, and finding them. */
#include "frontend/names/cute.h"

#include "frontend/names/spelling.h"

#include <string.h>

typedef struct {
  tj_builtin call;
  uint32_t types; /* how many template arguments that are types come first */
} cute_type;

typedef struct {
  const char *name;
  uint32_t after; /* how many arguments stand before the template's */
} cute_function;

static const char group[] = "CuTe's C++ text";

static const cute_type types[] = {
#define CUTE_TYPE(name, least, most, types, function, doc, example, value)                                           \
  {{#name, group, #name "<…>", "", doc, example, value, "", "", least, most, function}, types},
#include "frontend/names/cute.def"
};

static const tj_builtin calls[] = {
#define CUTE_CALL(name, least, most, function, doc, example, value)                                                  \
  {#name, group, #name "(…)", "", doc, example, value, "", "", least, most, function},
#include "frontend/names/cute.def"
};

static const cute_function functions[] = {
#define CUTE_FUNCTION(name, after, example, value) {#name, after},
#include "frontend/names/cute.def"
};

typedef struct {
  const char *function, *keyword;
  uint32_t position;
} cute_keyword;

static const cute_keyword keywords[] = {
#define CUTE_KEYWORD(name, keyword, position, example, value) {#name, #keyword, position},
#include "frontend/names/cute.def"
};

static const struct {
  const char *name;
  tj_cute_atom of;
} atoms[] = {
#define CUTE_ATOM(name, of, example, value) {#name, TJ_CUTE_ATOM_##of},
#include "frontend/names/cute.def"
};

tj_cute_atom tj_cute_atom_of(const char *name) {
  for (size_t i = 0; i < sizeof atoms / sizeof *atoms; i++)
    if (strcmp(atoms[i].name, name) == 0)
      return atoms[i].of;
  return TJ_CUTE_NO_ATOM;
}

static const struct {
  const char *name;
  uint32_t bits;
} elements[] = {
#define CUTE_ELEMENT(name, bits) {#name, bits},
#include "frontend/names/cute.def"
};

uint32_t tj_cute_element_bits(const char *name) {
  for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
    if (strcmp(elements[i].name, name) == 0)
      return elements[i].bits;
  return 0;
}

static const cute_type *find_type(const char *name) {
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (strcmp(types[i].call.name, name) == 0)
      return &types[i];
  return NULL;
}

static const cute_function *find_function(const char *name) {
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    if (strcmp(functions[i].name, name) == 0)
      return &functions[i];
  return NULL;
}

const tj_builtin *tj_cute_type(const char *name) {
  const cute_type *type = find_type(name);
  return type != NULL ? &type->call : NULL;
}

uint32_t tj_cute_arguments_before(const char *function) {
  return find_function(function)->after;
}

uint32_t tj_cute_position(const char *function, const char *keyword) {
  for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
    if (strcmp(keywords[i].function, function) == 0 && strcmp(keywords[i].keyword, keyword) == 0)
      return keywords[i].position;
  return 0;
}

bool tj_cute_has(const tj_builtin *function) {
  return function->group == group;
}

const tj_builtin *tj_cute_call(const char *name) {
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    if (strcmp(calls[i].name, name) == 0)
      return &calls[i];
  return NULL;
}

bool tj_cute_is_function(const char *name) {
  return find_function(name) != NULL;
}

bool tj_cute_has_template(const char *name) {
  return find_type(name) != NULL || find_function(name) != NULL || tj_cute_atom_of(name) != TJ_CUTE_NO_ATOM;
}

uint32_t tj_cute_type_count(const char *name) {
  const cute_type *type = find_type(name);
  return type != NULL ? type->types : 0;
}

tj_cute_word tj_cute_word_of(const char *name) {
  static const struct {
    const char *names;
    tj_cute_word word;
  } rows[] = {
      {"X Underscore None", TJ_CUTE_WHOLE},
      {"LayoutLeft GenColMajor", TJ_CUTE_COLUMN_MAJOR},
      {"LayoutRight GenRowMajor", TJ_CUTE_ROW_MAJOR},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (tj_has_word(rows[i].names, name))
      return rows[i].word;
  return TJ_CUTE_NO_WORD;
}
