/* SPDX-License-Identifier: MIT */
/* Division by multiplication: the multiplier and the shift that replace a division by an integer.
 *
 * For dividends n < 2^w and divisors d >= 1, with l = ceil(log2 d), m = floor(2^w (2^l - d) / d) + 1 and
 * t = mulhi(n, m), floor(n / d) = (t + n) >> l (Granlund and Montgomery, "Division by Invariant Integers using
 * Multiplication"). The sum stays below 2^w where n < 2^(w-1); elsewhere the same is computed as
 * (((n - t) >> min(l, 1)) + t) >> max(l - 1, 0). Constant divisors, whose dividends have known bounds, mostly do with
 * less. */
#ifndef TJ_LOWER_MAGIC_H
#define TJ_LOWER_MAGIC_H

#include "ir/index/graph.h"

typedef struct {
  uint64_t multiplier;
  uint32_t shift;
} tj_magic;

/* m and l for w = 32, 1 <= divisor < 2^32. */
tj_magic tj_magic_32(uint64_t divisor);
/* m and l for w = 64, 1 <= divisor < 2^63. */
tj_magic tj_magic_64(uint64_t divisor);

/* For dividends 0 … high in 32 bits and a constant divisor >= 1: floor(n / d) = (n * multiplier) >> shift, where the
 * product fits in 32 bits. False where there is no such multiplier. */
bool tj_magic_narrow(uint64_t divisor, uint64_t high, tj_magic *magic);
/* The same, where the product may take 64 bits, and shift >= 32; high < 2^32. */
bool tj_magic_wide(uint64_t divisor, uint64_t high, tj_magic *magic);

/* For how many bits of dividends a DIV or MOD by an expression needs magic numbers: 31, 32, 64 (which is to say 63),
 * or 0 where none serve. */
unsigned tj_magic_bits(const tj_node *division);

#endif
