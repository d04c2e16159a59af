/* SPDX-License-Identifier: MIT */
/* Suggestions as text and JSON. */
#ifndef TJ_JIT_REPORT_SUGGEST_H
#define TJ_JIT_REPORT_SUGGEST_H

#include "base/text.h"
#include "jit/lds/suggest_lds.h"

void tj_suggestions_report(const tj_lds_check *check, const tj_suggestions *found, tj_check_form form, tj_text *text);

#endif
