/* SPDX-License-Identifier: MIT */
/* A launch with values that make a race does not happen. */
#include "launch/api/launch.h"
#include "launch/image/found_race.h"

void tj_launch_check_races(tj_launch *launch) {
  const char *text;
  if (launch->is_race_free)
    return;
  if (tj_launch_race_found(&launch->job, tj_plan_of(launch), launch->result, &text) == TJ_RACE_FOUND)
    tj_fail(&launch->job, TJ_DESTINATION_RACE, "%s", text);
  launch->is_race_free = true;
}
