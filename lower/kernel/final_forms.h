/* SPDX-License-Identifier: MIT */
/* The last word on a kernel's expressions: forms that take fewer instructions, whatever they look like. */
#ifndef TJ_LOWER_FINAL_FORMS_H
#define TJ_LOWER_FINAL_FORMS_H

#include "ir/index/graph.h"

/* Replaces simplified roots[0 … count-1] by expressions of the same values that take fewer instructions, as far as an
 * estimate tells and few attempts find any. Simplification would undo that: call it after. */
void tj_economize(tj_graph *graph, const tj_node *roots[], size_t count);

#endif
