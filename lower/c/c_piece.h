/* SPDX-License-Identifier: MIT */
/* Parts of expressions in C, and where they need parentheses. */
#ifndef TJ_LOWER_C_PIECE_H
#define TJ_LOWER_C_PIECE_H

#include "base/text.h"

/* How tightly C binds; an operand that binds less tightly than its place asks for is put in parentheses. Shifts, bit
 * operations and choices always are, since few know where they bind. */
enum {
  TJ_C_TERNARY,
  TJ_C_EITHER,
  TJ_C_BOTH,
  TJ_C_COMPARISON,
  TJ_C_LOOSE,
  TJ_C_SUM,
  TJ_C_PRODUCT,
  TJ_C_UNARY,
  TJ_C_ATOM
};

typedef struct {
  const char *text; /* NULL: not yet */
  int binding;
} tj_c_piece;

/* The text of a piece in a place that asks for `binding`. */
static inline const char *tj_c_placed(tj_job *job, tj_c_piece piece, int binding) {
  return piece.binding < binding ? tj_string_format(job, "(%s)", piece.text) : piece.text;
}

#endif
