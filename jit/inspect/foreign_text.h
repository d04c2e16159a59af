/* SPDX-License-Identifier: MIT */
/* Values as text of other languages: CuTe's C++, CuTe's Python DSL, CK Tile's C++. */
#ifndef TJ_JIT_FOREIGN_TEXT_H
#define TJ_JIT_FOREIGN_TEXT_H

#include "base/text.h"
#include "ir/value/value.h"

/* Writes an expression that makes the value; parameters are variables of their names. TJ2005 where the language has
 * none, with the reason. */
void tj_foreign_text(tj_graph *graph, const tj_value *value, tj_text_form form, tj_text *text);

#endif
