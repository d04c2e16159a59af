/* SPDX-License-Identifier: MIT */
/* Division by multiplication: the multiplier and the shift that replace a division by an integer.
 *
 * For dividends n < 2^w and divisors d >= 1, with l = ceil(log2 d), m = floor(2^w (2^l - d) / d) + 1 and
 * t = mulhi(n, m), floor(n / d) = (t + n) >> l (Granlund and Montgomery, "Division by Invariant Integers using
 * Multiplication"). The sum stays below 2^w where n < 2^(w-1); elsewhere the same is computed as
 * (((n - t) >> min(l, 1)) + t) >> max(l - 1, 0).
 *
 * For dividends n < 2^31, with k = floor(log2 d) and m = floor((2^(32+k) - 1) / d), floor(n / d) =
 * mulhi(n + 1, m) >> k: m d falls short of 2^(32+k) by at least 1 and at most d < 2^(k+1), and so (n + 1) m /
 * 2^(32+k) of (n + 1) / d by less than 1 / d. Neighbours n and n + 1 share the sum, as do divisions of the same
 * dividend.
 *
 * Constant divisors, whose dividends have known bounds, mostly do with less. */
#ifndef TJ_BASE_MAGIC_H
#define TJ_BASE_MAGIC_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
  uint64_t multiplier;
  uint32_t shift;
} tj_magic;

/* m and k for dividends below 2^31, 1 <= divisor < 2^32. */
tj_magic tj_magic_31(uint64_t divisor);
/* m and l for w = 32, 1 <= divisor < 2^32. */
tj_magic tj_magic_32(uint64_t divisor);
/* m and l for w = 64, 1 <= divisor < 2^63. */
tj_magic tj_magic_64(uint64_t divisor);

/* For dividends 0 … high in 32 bits and a constant divisor >= 1: floor(n / d) = (n * multiplier) >> shift, where the
 * product fits in 32 bits. False where there is no such multiplier. */
bool tj_magic_narrow(uint64_t divisor, uint64_t high, tj_magic *magic);
/* The same, where the product may take 64 bits, and shift >= 32; high < 2^32. */
bool tj_magic_wide(uint64_t divisor, uint64_t high, tj_magic *magic);

/* What the launch computes once, so that no work-item has to: a word of the argument block. */
typedef enum {
  TJ_DERIVED_VALUE,   /* the value of an expression of parameters */
  TJ_DERIVED_MAGIC31, /* for dividing 0 … 2^31-1 by it: the multiplier, and the shift from bit 32 on */
  TJ_DERIVED_MAGIC32, /* for dividing 0 … 2^32-1 by it: the multiplier, and two shifts from bits 32 and 40 on */
  TJ_DERIVED_MAGIC64, /* for dividing 0 … 2^63-1 by it: the multiplier; TJ_DERIVED_SHIFT64 is the other half */
  TJ_DERIVED_SHIFT64
} tj_derived_kind;

/* A derived word, for the value of its node under the launch's parameters. */
uint64_t tj_derived_word(tj_derived_kind kind, int64_t value);

#endif
