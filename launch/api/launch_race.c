/* SPDX-License-Identifier: MIT */
/* Races that only the values of parameters show: a launch with them does not happen. */
#include "base/text.h"
#include "launch/api/launch.h"

#include <inttypes.h>

/* A coordinate in the form's structure. */
static const char *coordinate_text(tj_job *job, const tj_launch_race *race, const int64_t at[]) {
  tj_text text = tj_text_begin(job);
  uint32_t mode = 0;
  for (const char *c = race->form; *c != '\0'; c++) {
    if (*c == '_' && mode < race->modes)
      tj_text_integer(&text, at[mode++]);
    else
      tj_text_char(&text, *c);
  }
  return text.data;
}

/* The element of the destination at a coordinate. */
static const char *element_text(const tj_launch *launch, tj_job *job, const tj_launch_race *race,
                                const int64_t at[]) {
  bool is_known = race->base != TJ_NO_EXPRESSION && launch->result[race->base].status == TJ_EVAL_OK;
  int64_t element = is_known ? launch->result[race->base].value : 0, step;
  for (uint32_t i = 0; i < race->modes; i++) {
    int64_t stride = launch->result[race->mode[i].side[0].stride].value;
    is_known =
        is_known && !__builtin_mul_overflow(stride, at[i], &step) && !__builtin_add_overflow(element, step, &element);
  }
  return is_known ? tj_string_format(job, "both element %" PRId64, element) : "one element";
}

void tj_launch_check_races(tj_launch *launch) {
  const tj_launch_plan *plan = tj_plan_of(launch);
  const tj_launch_race *race = plan->race;
  int64_t first[TJ_RACE_MODES], second[TJ_RACE_MODES];
  tj_job *job = &launch->job;
  if (race == NULL || launch->is_race_free)
    return;
  if (tj_launch_race_decide(race, launch->result, first, second) == TJ_RACE_FOUND)
    tj_fail(job, TJ_DESTINATION_RACE, "coordinates %s and %s of '%s' are %s, and have different sources",
            coordinate_text(job, race, first), coordinate_text(job, race, second),
            plan->buffer[race->destination].name, element_text(launch, job, race, first));
  launch->is_race_free = true;
}
