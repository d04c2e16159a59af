/* SPDX-License-Identifier: MIT */
/* Targets: which family a text belongs to. What the families have in common; the rest is theirs. */
#include "lower/machine/target.h"

#include "lower/machine/family.h"

#include <stddef.h>

static const tj_target_family *const families[] = {
#define TARGET(name, description) &tj_family_##name,
#include "lower/machine/target.def"
#undef TARGET
};

void tj_target_list_all(tj_text *text) {
  for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
    families[i]->list(text);
}

const tj_target *tj_target_parse(tj_job *job, const char *text) {
  if (text == NULL)
    tj_fail(job, TJ_UNKNOWN_TARGET, "a target is missing");
  for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
    if (families[i]->claims(text)) {
      tj_target *target = TJ_NEW(job, tj_target);
      *target = families[i]->parse(job, text);
      return target;
    }
  }
  tj_fail(job, TJ_UNKNOWN_TARGET, "unknown target %s", text);
}

const char *tj_target_symbol(tj_job *job, const tj_target *target, const char *name) {
  return target->family->symbol(job, name);
}
