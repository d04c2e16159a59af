/* SPDX-License-Identifier: MIT */
/* Examples: values of a kernel's parameters with which a launch takes a given one of its variants. */
#ifndef TJ_JIT_EXAMPLE_H
#define TJ_JIT_EXAMPLE_H

#include "launch/image/launch_plan.h"

enum { TJ_EXAMPLE_ELEMENTS = 1 << 17, TJ_EXAMPLE_NUMBER = 1 /* that launches bring, a float */ };

/* Values for all parameters of the plan, by number, in the job's arena: those that are given, and for the others the
 * largest power of two, the same for all and brought into each one's range, with which the buffers have no more than
 * TJ_EXAMPLE_ELEMENTS elements together; of some parameters one less, or one of them large and the others small,
 * where only that leads to the variant. Numbers of the launch are TJ_EXAMPLE_NUMBER. NULL where none were found.
 * TJ2025, TJ2026 where what is given is no parameter's, or it may not be that. */
const int64_t *tj_example_of(tj_job *job, const tj_launch_plan *plan, uint32_t variant,
                             const tj_parameter_value given[], size_t given_count);

/* Whether a launch with values for all parameters is refused, since they make a race, and then which, in words. */
tj_race_verdict tj_race_at(tj_job *job, const tj_launch_plan *plan, const tj_parameter_value given[],
                           size_t given_count, const char **text);

/* Fails with TJ2026 where the plan has no parameter of that name, with TJ2025 where it is no number of the launch. */
void tj_require_number(tj_job *job, const tj_launch_plan *plan, const char *name);

#endif
