/* SPDX-License-Identifier: MIT */
/* Looking up diag.def by code. */
#include "base/diag.h"

#include <stddef.h>

typedef struct {
  tj_problem_code code;
  const char *title, *note;
} row;

static const row rows[] = {
#define DIAG(number, name, title, note) {TJ_##name, title, note},
#include "base/diag.def"
#undef DIAG
};

static const row *find_row(tj_problem_code code) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (rows[i].code == code)
      return &rows[i];
  }
  return NULL;
}

const char *tj_code_title(tj_problem_code code) {
  const row *found = find_row(code);
  return found != NULL ? found->title : NULL;
}

const char *tj_code_note(tj_problem_code code) {
  const row *found = find_row(code);
  return found != NULL ? found->note : NULL;
}
