/* SPDX-License-Identifier: MIT */
/* What the parser says when the text does not follow the grammar. */
#ifndef TJ_FRONTEND_SYNTAX_ERROR_H
#define TJ_FRONTEND_SYNTAX_ERROR_H

#include "base/job.h"
#include "frontend/text/token.h"

/* The tokens around the one that does not fit. */
typedef struct {
  tj_job *job;
  tj_token previous; /* END before the first token */
  tj_token current;  /* the one that does not fit */
  tj_token next;
} tj_token_window;

/* Fails at the current token with TJ1003, or TJ1004 when it is the end: `expected` was expected there. For common
 * mistakes the note says what to write instead, unless tj_note has set one. */
_Noreturn void tj_fail_unexpected(const tj_token_window *window, const char *expected);

#endif
