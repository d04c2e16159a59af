/* SPDX-License-Identifier: MIT */
/* Widths: in how many bits an integer operation is computed, from facts. */
#ifndef TJ_LOWER_WIDTH_H
#define TJ_LOWER_WIDTH_H

#include "ir/index/graph.h"

/* How to compute with some integers so that none of them wraps. At 32 bits they all are in the range of signed or of
 * unsigned 32-bit integers; at 64 bits they all are in the range of signed ones. */
typedef struct {
  unsigned bits;    /* 1, 32 or 64; 1 is for truths */
  bool is_signed;   /* all are in the signed range */
  bool is_unsigned; /* all are in the unsigned range, that is, none is negative */
} tj_width;

/* For the integers low … high. */
tj_width tj_width_of_range(int64_t low, int64_t high);

/* For the values of nodes. */
tj_width tj_width_of(const tj_node *const nodes[], size_t count);

/* For an operation, which takes its arguments to its value. Comparisons count their arguments alone, selections their
 * arms and value; shifts by 32 and more take 64 bits. */
tj_width tj_width_of_operation(const tj_node *node);

/* Whether every value among the roots, and on the way to them, surely fits in 64 bits. */
bool tj_widths_fit(tj_graph *graph, const tj_node *const roots[], size_t count);

/* Fails with TJ4006 where they do not. */
void tj_check_widths(tj_graph *graph, const tj_node *const roots[], size_t count);

/* For how many bits of dividends a DIV or MOD by an expression needs magic numbers: 31, 32, 64 (which is to say 63),
 * or 0 where none serve. */
unsigned tj_magic_bits(const tj_node *division);

#endif
