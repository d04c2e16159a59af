/* SPDX-License-Identifier: MIT */
/* The functions of the language, as a table.
 *
 * How to add a function: a row in builtin.def and tj_builtin_NAME in the builtin_*.c of its group; a golden test.
 * docs/language.md's tables are generated from the rows, tj_language_function describes one, and a test evaluates
 * their examples. */
#ifndef TJ_FRONTEND_BUILTIN_H
#define TJ_FRONTEND_BUILTIN_H

#include <stddef.h>
#include <stdint.h>

struct tj_call; /* frontend/sema/call.h */
struct tj_value;

typedef const struct tj_value *(*tj_builtin_function)(struct tj_call *call);

/* Columns of builtin.def. Lists of names are separated by spaces. */
typedef struct {
  const char *name;
  const char *group;           /* its title */
  const char *form;            /* as documentation writes a call */
  const char *named;           /* optional named arguments */
  const char *doc;             /* what it gives */
  const char *example, *value; /* a call, and the canonical text of what it gives */
  const char *cute, *ck;       /* what CuTe and CK Tile call it */
  uint32_t least, most;        /* how many positional arguments */
  tj_builtin_function function;
} tj_builtin;

enum { TJ_ANY_COUNT = 65536 };

const tj_builtin *tj_builtin_find(const char *name);
/* The first builtin that CuTe or CK Tile calls so. */
const tj_builtin *tj_builtin_called(const char *name);
/* Builtin `index`, in the order of documents; NULL beyond the last one. */
const tj_builtin *tj_builtin_at(size_t index);

/* The same of words that only kernels' bodies and array statements have (word.def, ir/array/array_function.def), in a
 * row's terms: without an example, and without what makes a value of them. */
const tj_builtin *tj_word_find(const char *name);
const tj_builtin *tj_word_at(size_t index);

/* Makes the transform that the called function's name says. */
const struct tj_value *tj_builtin_transform_by_name(struct tj_call *call);

#define BUILTIN(name, group, form, least, most, named, doc, example, value, cute, ck)                                \
  const struct tj_value *tj_builtin_##name(struct tj_call *call);
#include "frontend/names/builtin.def"

#endif
