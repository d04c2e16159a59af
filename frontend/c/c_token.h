/* SPDX-License-Identifier: MIT */
/* Text in C to tokens, one at a time: names, integers, marks. Comments, and lines of the preprocessor, are space. */
#ifndef TJ_FRONTEND_C_TOKEN_H
#define TJ_FRONTEND_C_TOKEN_H

#include "base/job.h"

typedef enum { TJ_C_END, TJ_C_NAME, TJ_C_INTEGER, TJ_C_STRING, TJ_C_MARK } tj_c_token_kind;

typedef struct {
  tj_c_token_kind kind;
  tj_span span;
  uint32_t mark;             /* MARK: its bytes, the first lowest */
  int64_t integer;           /* INTEGER */
  bool is_unsigned, is_long; /* by its suffix */
  bool is_decimal;
} tj_c_token;

#define TJ_C_MARK1(a) ((uint32_t)(a))
#define TJ_C_MARK2(a, b) ((uint32_t)(a) | (uint32_t)(b) << 8)
#define TJ_C_MARK3(a, b, c) (TJ_C_MARK2(a, b) | (uint32_t)(c) << 16)

/* The token that begins at a byte of the job's source or after the space there. TJ1006 where none does. */
tj_c_token tj_c_token_at(tj_job *job, uint32_t position);

/* Whether the token is this name. */
bool tj_c_is_name(const tj_job *job, const tj_c_token *token, const char *name);

#endif
