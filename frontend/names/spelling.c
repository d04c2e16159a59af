/* SPDX-License-Identifier: MIT */
/* Names that are not defined: CuTe's and CK Tile's, from the tables, and misspelt ones. */
#include "frontend/names/spelling.h"

#include "base/integer.h"
#include "base/text.h"
#include "frontend/names/builtin.h"

#include <string.h>

bool tj_has_word(const char *words, const char *word) {
  size_t length = strlen(word);
  for (const char *at = words; length > 0 && (at = strstr(at, word)) != NULL; at += length) {
    bool begins = at == words || at[-1] == ' ';
    bool ends = at[length] == ' ' || at[length] == '\0';
    if (begins && ends)
      return true;
  }
  return false;
}

/* --- names of CuTe and CK Tile --- */

static const char *advice_on_foreign_name(tj_job *job, const char *name) {
  static const struct {
    const char *names, *of, *advice;
  } rows[] = {
#define FOREIGN(names, of, advice) {names, of, advice},
#include "frontend/names/foreign.def"
#undef FOREIGN
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (!tj_has_word(rows[i].names, name))
      continue;
    return rows[i].of[0] != '\0' ? tj_string_format(job, "%s's %s: %s", rows[i].of, name, rows[i].advice)
                                 : rows[i].advice;
  }
  return NULL;
}

/* Every function that is called so elsewhere, as "CuTe's make_layout is layout(…) here"; NULL where none is. */
static const char *functions_called(tj_job *job, const char *name) {
  const char *known = NULL;
  const tj_builtin *builtin;
  for (size_t i = 0; (builtin = tj_builtin_at(i)) != NULL; i++) {
    bool cute = tj_has_word(builtin->cute, name);
    bool hidden = tj_builtin_find(builtin->name) != builtin;
    if (hidden || (!cute && !tj_has_word(builtin->ck, name)))
      continue;
    known = known == NULL ? tj_string_format(job, "%s's %s is %s", cute ? "CuTe" : "CK Tile", name, builtin->form)
                          : tj_string_format(job, "%s, or %s", known, builtin->form);
  }
  return known != NULL ? tj_string_format(job, "%s here", known) : NULL;
}

/* --- misspelt names --- */

enum { LONGEST_NAME = 32 };

/* How many characters have to be inserted, left out or replaced, or change places with the next one, to turn a into
 * b; both at most LONGEST_NAME long. */
static unsigned edit_distance(const char *a, const char *b) {
  unsigned rows[3][LONGEST_NAME + 1], *row = rows[0], *before = rows[1], *last = rows[2];
  size_t width = strlen(b);
  for (size_t j = 0; j <= width; j++)
    row[j] = (unsigned)j;
  for (size_t i = 1; a[i - 1] != '\0'; i++) {
    unsigned *oldest = last;
    last = before;
    before = row;
    row = oldest;
    row[0] = (unsigned)i;
    for (size_t j = 1; j <= width; j++) {
      const bool are_swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      row[j] = tj_fewer(before[j - 1] + (a[i - 1] != b[j - 1]), tj_fewer(before[j], row[j - 1]) + 1);
      row[j] = are_swapped ? tj_fewer(row[j], last[j - 2] + 1) : row[j];
    }
  }
  return row[width];
}

tj_misspelling tj_misspelling_of(const char *name) {
  const size_t length = strlen(name);
  tj_misspelling of = {.name = name};
  if (length >= 3 && length <= LONGEST_NAME)
    of.limit = length < 6 ? 1 : 2;
  return of;
}

void tj_misspelling_try(tj_misspelling *of, const char *known) {
  if (of->limit == 0 || strlen(known) > LONGEST_NAME)
    return;
  const unsigned distance = edit_distance(of->name, known);
  if (distance == 0 || distance > of->limit)
    return;
  of->nearest = known;
  of->limit = distance - 1;
}

static const char did_you_mean[] = "did you mean '%s'?";

void tj_note_nearest(tj_job *job, const tj_misspelling *of) {
  if (of->nearest != NULL)
    tj_note(job, did_you_mean, of->nearest);
}

static const char *nearest_name(tj_misspelling of) {
  const tj_builtin *builtin;
  for (size_t i = 0; (builtin = tj_builtin_at(i)) != NULL; i++)
    tj_misspelling_try(&of, builtin->name);
  return of.nearest;
}

const char *tj_advice_on_name(tj_job *job, const tj_misspelling *of) {
  const char *advice = functions_called(job, of->name);
  if (advice == NULL)
    advice = advice_on_foreign_name(job, of->name);
  if (advice != NULL)
    return advice;
  const char *nearest = nearest_name(*of);
  return nearest != NULL ? tj_string_format(job, did_you_mean, nearest) : NULL;
}

static void note_on_name(tj_job *job, const tj_misspelling *of) {
  const char *advice = tj_advice_on_name(job, of);
  if (advice != NULL)
    tj_note(job, "%s", advice);
}

_Noreturn void tj_fail_unknown_function(tj_job *job, const tj_misspelling *of) {
  note_on_name(job, of);
  tj_fail(job, TJ_UNKNOWN_NAME, "there is no function '%s'", of->name);
}

_Noreturn void tj_fail_unknown_name(tj_job *job, const tj_misspelling *of) {
  note_on_name(job, of);
  tj_fail(job, TJ_UNKNOWN_NAME, "'%s' is not defined", of->name);
}
