/* SPDX-License-Identifier: MIT */
/* Diagnostics: what is wrong, where, and what would make it right.
 *
 * Codes live in diag.def, one row each, and are permanent. A message is formatted where the error is found; the
 * note that goes with it comes from the code's row, unless the place knows better (tj_note). */
#ifndef TJ_BASE_DIAG_H
#define TJ_BASE_DIAG_H

#include "base/source.h"

typedef enum {
#define DIAG(number, name, title, note) TJ_##name = number,
#include "base/diag.def"
#undef DIAG
} tj_problem_code;

/* One reported problem. Strings live in the job's arena or are static. `number` is the digits of TJnnnn. */
typedef struct {
  tj_problem_code code;
  tj_span span; /* TJ_NOWHERE when it has no place in the source */
  const char *message;
  const char *note; /* what would make it right; never NULL */
} tj_problem;

/* The row of a code: title and note. NULL for a number that is no code. */
const char *tj_code_title(tj_problem_code code);
const char *tj_code_note(tj_problem_code code);

#endif
