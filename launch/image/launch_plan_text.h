/* SPDX-License-Identifier: MIT */
/* Launch plans in words: what a word of the argument block is. */
#ifndef TJ_LAUNCH_LAUNCH_PLAN_TEXT_H
#define TJ_LAUNCH_LAUNCH_PLAN_TEXT_H

#include "base/text.h"
#include "launch/image/launch_plan.h"

/* The name of a word: of the buffer, of the parameter, or of what is computed of parameters: `(M + 63) / 64`, and
 * `magic31(N)` for a derived word that is not the value itself. Of long expressions there is only what they are made
 * of: `value(M, N)`. In the job's arena, or the plan's own. */
const char *tj_launch_word_name(tj_job *job, const tj_launch_plan *plan, const tj_launch_word *word);

#endif
