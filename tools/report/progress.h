/* SPDX-License-Identifier: MIT */
/* Long work: its progress on a terminal, and its end at Ctrl-C.
 *
 * Work that takes longer than a second shows how far it is in a line of standard error, where that is a terminal; the
 * line is gone once there is something to say. The first Ctrl-C asks the library to end its work; nothing is written
 * any more, and the exit status is 130. The second ends the process as it would without this. */
#ifndef TILEJIT_TOOLS_PROGRESS_H
#define TILEJIT_TOOLS_PROGRESS_H

#include "tilejit/tilejit.h"

#include <stdbool.h>

enum { EXIT_INTERRUPTED = 130 };

/* Watches over the work that is done with a context. */
void watch_progress(tj_context *context);

/* Whether there was a Ctrl-C. */
bool is_interrupted(void);

/* Removes the line, for what is printed next. */
void clear_progress(void);

#endif
