/* SPDX-License-Identifier: MIT */
/* Several texts that are programs ending in an expression, as one program whose value is the list of these. */
#ifndef TJ_JIT_EXPRESSIONS_H
#define TJ_JIT_EXPRESSIONS_H

#include "base/job.h"

typedef struct {
  const char *name, *text;
} tj_named_text;

enum { TJ_MOST_EXPRESSIONS = 4 };

/* Makes the job's source of them: the items of all, those of several that are the same text once, then the list. What
 * the declarations (may be NULL) end in is passed over. TJ2022 where a text has no expression `purpose`: "to
 * compare".
 */
void tj_join_expressions(tj_job *job, const char *declarations, const tj_named_text text[], uint32_t count,
                         const char *purpose);

#endif
