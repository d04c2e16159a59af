/* SPDX-License-Identifier: MIT */
/* Text to tokens, one at a time. */
#ifndef TJ_FRONTEND_LEXER_H
#define TJ_FRONTEND_LEXER_H

#include "base/job.h"
#include "frontend/text/token.h"

#include <stdbool.h>

enum { TJ_MAX_SOURCE = 16 * 1024 * 1024 };

typedef struct {
  tj_job *job;
  const char *text; /* borrowed from the job's source */
  uint32_t length;
  uint32_t position;   /* of the next byte to read */
  bool is_after_value; /* the last token may end a value */
} tj_lexer;

/* Starts on job->source. Fails with TJ7006 when it is longer than TJ_MAX_SOURCE, and with TJ1005 when it is not
 * UTF-8 or has a zero byte. A byte order mark at the start is skipped. */
tj_lexer tj_lexer_begin(tj_job *job);

/* The next token; END, again and again, at the end. Fails with TJ1001 and TJ1002. */
tj_token tj_lexer_next(tj_lexer *lexer);

/* Whether the text is one of the reserved words. */
bool tj_is_reserved(const char *name);

#endif
