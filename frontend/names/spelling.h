/* SPDX-License-Identifier: MIT */
/* Names that are not defined: what their writer may have meant. */
#ifndef TJ_FRONTEND_SPELLING_H
#define TJ_FRONTEND_SPELLING_H

#include "base/job.h"

#include <stdbool.h>

/* Whether `word` is one of `words`, which spaces separate. */
bool tj_has_word(const char *words, const char *word);

/* What to write instead of a name: its name here where CuTe or CK Tile has it, or the function whose name is nearest.
 * NULL where nothing is known of it. */
const char *tj_advice_on_name(tj_job *job, const char *name);

/* TJ2001 at the job's place, with that advice. */
_Noreturn void tj_fail_unknown_function(tj_job *job, const char *name);
_Noreturn void tj_fail_unknown_name(tj_job *job, const char *name);

#endif
