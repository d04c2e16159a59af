/* SPDX-License-Identifier: MIT */
#include "launch/image/found_race.h"

#include "base/text.h"

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
static const char *element_text(tj_job *job, const tj_launch_race *race, const tj_launch_value result[],
                                const int64_t at[]) {
  bool is_known = race->base != TJ_NO_EXPRESSION && result[race->base].status == TJ_EVAL_OK;
  int64_t element = is_known ? result[race->base].value : 0, step;
  for (uint32_t i = 0; i < race->modes; i++) {
    int64_t stride = result[race->mode[i].side[0].stride].value;
    is_known =
        is_known && !__builtin_mul_overflow(stride, at[i], &step) && !__builtin_add_overflow(element, step, &element);
  }
  return is_known ? tj_string_format(job, "both element %" PRId64, element) : "one element";
}

tj_race_verdict tj_launch_race_found(tj_job *job, const tj_launch_plan *plan, const tj_launch_value result[],
                                     const char **text) {
  int64_t first[TJ_RACE_MODES], second[TJ_RACE_MODES];
  const tj_launch_race *race = plan->race;
  const tj_race_verdict verdict = race != NULL ? tj_launch_race_decide(race, result, first, second) : TJ_RACE_NONE;
  if (verdict == TJ_RACE_FOUND)
    *text = tj_string_format(job, "coordinates %s and %s of '%s' are %s, and have different sources",
                             coordinate_text(job, race, first), coordinate_text(job, race, second),
                             plan->buffer[race->destination].name, element_text(job, race, result, first));
  return verdict;
}
