/* SPDX-License-Identifier: MIT */
/* Questions about LDS and about tensor DMA, as check --lds, check --dma and suggest ask them: expressions of options,
 * which see what FILE and -e define. */
#ifndef TILEJIT_TOOLS_QUESTION_H
#define TILEJIT_TOOLS_QUESTION_H

#include "tools/call/command.h"

/* What every question has: from FILE and -e, --set and --json. */
typedef struct {
  const char *declarations;
  const tj_parameter_value *fixed;
  size_t fixed_count;
  tj_check_form form;
} question_setting;

typedef tj_status (*asker)(tj_context *context, const question_setting *question, void *data, int *exit);

/* Asks the library. A status that is not TJ_OK is reported by the caller; otherwise `exit` may get an exit status
 * other than 0. */
typedef tj_status (*lds_asker)(tj_context *context, tj_lds_question *question, void *data, int *exit);

/* Fills in what --lds, --store, --load, --target, --dtype, --set and --json say, and asks. Returns the exit status.
 */
int with_lds_question(const arguments *given, tj_lds_question *question, lds_asker ask, void *data);

/* Asks what --dma, --tile, --lds, --at, --target and --dtype say, and prints the answer. Returns the exit status. */
int check_dma(const arguments *given);

/* Prints a check's report; `exit` gets 1 where something does not hold that must. */
tj_status report_check(tj_context *context, tj_blob *report, int holds, int *exit);

#endif
