/* SPDX-License-Identifier: MIT */
/* Names that are not defined: what their writer may have meant. */
#ifndef TJ_FRONTEND_SPELLING_H
#define TJ_FRONTEND_SPELLING_H

#include "base/job.h"

#include <stdbool.h>

/* Whether `word` is one of `words`, which spaces separate. */
bool tj_has_word(const char *words, const char *word);

/* A name that is not defined, and the nearest of those that are, as far as they have been tried. */
typedef struct tj_misspelling {
  const char *name, *nearest; /* NULL: none is near */
  unsigned limit;             /* how many characters the next one to be nearest differs in at most */
} tj_misspelling;

tj_misspelling tj_misspelling_of(const char *name);
void tj_misspelling_try(tj_misspelling *of, const char *known);

/* Notes the nearest of those tried, where there is one. */
void tj_note_nearest(tj_job *job, const tj_misspelling *of);

/* What to write instead of a name: its name here where CuTe or CK Tile has it, or the name that is nearest, of those
 * tried or of a function. NULL where nothing is known of it. */
const char *tj_advice_on_name(tj_job *job, const tj_misspelling *of);

/* TJ2001 at the job's place, with that advice. */
_Noreturn void tj_fail_unknown_function(tj_job *job, const tj_misspelling *of);
_Noreturn void tj_fail_unknown_name(tj_job *job, const tj_misspelling *of);

#endif
