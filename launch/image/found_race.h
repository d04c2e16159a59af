/* SPDX-License-Identifier: MIT */
/* Races that only the values of parameters show. */
#ifndef TJ_LAUNCH_FOUND_RACE_H
#define TJ_LAUNCH_FOUND_RACE_H

#include "launch/image/launch_plan.h"

/* What the values of the plan's steps decide, and where there is a race, which coordinates store to one element, in
 * words. A plan without a question about races has none. */
tj_race_verdict tj_launch_race_found(tj_job *job, const tj_launch_plan *plan, const tj_launch_value result[],
                                     const char **text);

#endif
