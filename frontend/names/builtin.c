/* SPDX-License-Identifier: MIT */
/* The rows of builtin.def and transform.def, and finding one. */
#include "frontend/names/builtin.h"

#include "frontend/names/cute.h"
#include "frontend/names/spelling.h"

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
