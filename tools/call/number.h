/* SPDX-License-Identifier: MIT */
/* Numbers in the words of a call. */
#ifndef TILEJIT_TOOLS_NUMBER_H
#define TILEJIT_TOOLS_NUMBER_H

#include "tools/call/command.h"

/* A positive number at the beginning of a text, which is moved behind it. */
bool parse_number(const char **text, int64_t *number);

/* The two extents that --tile gives as (M,N), M,N or MxN; where it is not given, nothing changes. Returns 0, or the
 * exit status after printing what is wrong. */
int parse_tile(const arguments *given, int64_t tile[2]);

#endif
