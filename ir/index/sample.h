/* SPDX-License-Identifier: MIT */
/* Values of nodes at a few points of the symbols' domain.
 *
 * A relation that fails at one of the points does not hold, so that proofs need not be tried. The points are: every
 * symbol as low as it may be, every symbol as high, and something in between; where a symbol has no bound, some
 * integer. They satisfy the symbols' facts together, symbolic bounds included. */
#ifndef TJ_IR_SAMPLE_H
#define TJ_IR_SAMPLE_H

#include "ir/index/linear.h"

void tj_sample_constant(int64_t value, int64_t sample[]);
void tj_sample_symbol(const tj_symbol *symbol, int64_t sample[]);
void tj_sample_operation(tj_op op, const tj_node *const args[], int64_t sample[]);

/* Whether the form is negative at one of the points, and so not always >= 0. */
bool tj_sampled_negative(const tj_linear *form);

#endif
