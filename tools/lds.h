/* SPDX-License-Identifier: MIT */
/* Questions about LDS, as check --lds and suggest ask them: expressions of options, which see what FILE and -e
 * define.
 */
#ifndef TILEJIT_TOOLS_LDS_H
#define TILEJIT_TOOLS_LDS_H

#include "tools/command.h"

/* Asks the library. A status that is not TJ_OK is reported by the caller; otherwise `exit` may get an exit status
 * other than 0. */
typedef tj_status (*lds_asker)(tj_context *context, tj_lds_question *question, int *exit);

/* Fills in what --lds, --store, --load, --target, --dtype, --set and --json say, and asks. Returns the exit status.
 */
int with_lds_question(const arguments *given, tj_lds_question *question, lds_asker ask);

#endif
