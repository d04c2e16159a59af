/* SPDX-License-Identifier: MIT */
/* Reports of findings: sections of them, whether what must hold does, and all of it as text or JSON. */
#ifndef TJ_JIT_REPORT_FINDINGS_H
#define TJ_JIT_REPORT_FINDINGS_H

#include "base/text.h"
#include "jit/inspect/check.h"

/* One check: of a value, of one kernel, of one of its variants, of a layout in LDS. */
typedef struct {
  const char *title;
  uint32_t subject;                /* sections of one value or kernel have the same number */
  const char *variant, *condition; /* of a kernel with several; NULL: none, no condition */
  const tj_launch_plan *plan;      /* of a kernel */
  const int64_t *parameter;        /* what the costs are of, by number; NULL: none, or none is known */
  bool is_exempt;                  /* nothing is required of its costs */
  tj_findings findings;
} tj_section;

typedef struct {
  tj_job *job;
  tj_section *item;
  uint32_t count, capacity;
} tj_sections;

/* Good until the next. */
tj_section *tj_sections_add(tj_sections *sections, uint32_t subject, const char *title);

/* Whether everything holds that must, and the words that are required of each subject; marks those that must. */
bool tj_sections_judge(tj_sections *sections, const char *const require[], size_t require_count);

void tj_sections_report(const tj_sections *sections, tj_check_form form, bool holds, tj_text *text);

#endif
