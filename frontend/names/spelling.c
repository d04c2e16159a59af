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

/* How many insertions, deletions and replacements of a character turn a into b; both at most LONGEST_NAME long. */
static unsigned edit_distance(const char *a, const char *b) {
  unsigned row[LONGEST_NAME + 1];
  size_t width = strlen(b);
  for (size_t j = 0; j <= width; j++)
    row[j] = (unsigned)j;
  for (size_t i = 1; a[i - 1] != '\0'; i++) {
    unsigned diagonal = row[0];
    row[0] = (unsigned)i;
    for (size_t j = 1; j <= width; j++) {
      unsigned replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = tj_fewer(replaced, tj_fewer(row[j], row[j - 1]) + 1);
    }
  }
  return row[width];
}

/* The function whose name is nearest to a misspelt one, or NULL. */
static const char *nearest_function(const char *name) {
  size_t length = strlen(name);
  if (length < 3 || length > LONGEST_NAME)
    return NULL;
  const char *nearest = NULL;
  unsigned best = length < 6 ? 2 : 3;
  const tj_builtin *builtin;
  for (size_t i = 0; (builtin = tj_builtin_at(i)) != NULL; i++) {
    unsigned distance = edit_distance(name, builtin->name);
    if (distance < best) {
      best = distance;
      nearest = builtin->name;
    }
  }
  return nearest;
}

const char *tj_advice_on_name(tj_job *job, const char *name) {
  const char *advice = functions_called(job, name);
  if (advice == NULL)
    advice = advice_on_foreign_name(job, name);
  if (advice != NULL)
    return advice;
  const char *nearest = nearest_function(name);
  return nearest != NULL ? tj_string_format(job, "did you mean '%s'?", nearest) : NULL;
}

static void note_on_name(tj_job *job, const char *name) {
  const char *advice = tj_advice_on_name(job, name);
  if (advice != NULL)
    tj_note(job, "%s", advice);
}

_Noreturn void tj_fail_unknown_function(tj_job *job, const char *name) {
  note_on_name(job, name);
  tj_fail(job, TJ_UNKNOWN_NAME, "there is no function '%s'", name);
}

_Noreturn void tj_fail_unknown_name(tj_job *job, const char *name) {
  note_on_name(job, name);
  tj_fail(job, TJ_UNKNOWN_NAME, "'%s' is not defined", name);
}
