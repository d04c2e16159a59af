/* SPDX-License-Identifier: MIT */
/* Files that programs import.
 *
 * "x.tile" stands relative to the importing file; of an expression and of standard input, to the current folder. A
 * name without ".tile" is a library, NAME.tile, in the first of these folders that has it: those of TILEJIT_PATH,
 * with ':' between them; then share/tilejit beside the folder of the command. */
#ifndef TILEJIT_TOOLS_IMPORT_H
#define TILEJIT_TOOLS_IMPORT_H

#include "tilejit/tilejit.h"

/* Has programs of a context import files. `program`, which may be NULL and is kept, is the path of what tj_prove gets
 * as declarations. */
void import_files(tj_context *context, const char *program);

#endif
