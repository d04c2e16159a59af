/* SPDX-License-Identifier: MIT */
/* Multipliers, shifts, and the words that hold them. */
#include "base/number/magic.h"

typedef unsigned __int128 wide;

static uint32_t ceil_log2(uint64_t value) {
  uint32_t log = 0;
  while (log < 63 && ((uint64_t)1 << log) < value)
    log++;
  return log;
}

static uint32_t floor_log2(uint64_t value) {
  return 63 - (uint32_t)__builtin_clzll(value);
}

tj_magic tj_magic_31(uint64_t divisor) {
  uint32_t shift = floor_log2(divisor);
  return (tj_magic){(((uint64_t)1 << (32 + shift)) - 1) / divisor, shift};
}

tj_magic tj_magic_32(uint64_t divisor) {
  uint32_t shift = ceil_log2(divisor);
  uint64_t rest = ((uint64_t)1 << shift) - divisor;
  return (tj_magic){(rest << 32) / divisor + 1, shift};
}

tj_magic tj_magic_64(uint64_t divisor) {
  uint32_t shift = ceil_log2(divisor);
  wide rest = ((uint64_t)1 << shift) - divisor;
  return (tj_magic){(uint64_t)((rest << 64) / divisor + 1), shift};
}

/* The multiplier just above 2^shift / divisor, for shifts below 64, divides 0 … high rightly where its excess, which
 * is at least 1, stays below one step. */
static bool is_right(uint64_t divisor, uint64_t high, uint32_t shift, wide *multiplier) {
  uint64_t power = (uint64_t)1 << shift;
  *multiplier = (wide)(power / divisor) + 1;
  wide excess = *multiplier * divisor - power;
  return excess * high < power;
}

/* The least shift whose power is above `high`, as that of every right one is. */
static uint32_t first_shift(uint64_t high) {
  return high == 0 ? 0 : 64 - (uint32_t)__builtin_clzll(high);
}

bool tj_magic_narrow(uint64_t divisor, uint64_t high, tj_magic *magic) {
  for (uint32_t shift = first_shift(high); shift < 32; shift++) {
    wide multiplier;
    if (!is_right(divisor, high, shift, &multiplier))
      continue;
    *magic = (tj_magic){(uint64_t)multiplier, shift};
    return multiplier * high <= UINT32_MAX;
  }
  return false;
}

bool tj_magic_wide(uint64_t divisor, uint64_t high, tj_magic *magic) {
  const uint32_t first = first_shift(high);
  for (uint32_t shift = first > 32 ? first : 32; shift < 64; shift++) {
    wide multiplier;
    if (!is_right(divisor, high, shift, &multiplier))
      continue;
    *magic = (tj_magic){(uint64_t)multiplier, shift};
    return multiplier <= UINT32_MAX;
  }
  return false;
}

/* --- words of the argument block --- */

static uint64_t word_of(tj_magic magic) {
  return magic.multiplier | (uint64_t)magic.shift << 32;
}

static uint64_t word_with_two_shifts(tj_magic magic) {
  uint64_t first = magic.shift > 0 ? 1 : 0;
  return magic.multiplier | first << 32 | (magic.shift - first) << 40;
}

uint64_t tj_derived_word(tj_derived_kind kind, int64_t value) {
  uint64_t divisor = value > 0 ? (uint64_t)value : 1;
  switch (kind) {
  case TJ_DERIVED_VALUE:
    return (uint64_t)value;
  case TJ_DERIVED_MAGIC31:
    return word_of(tj_magic_31(divisor));
  case TJ_DERIVED_MAGIC32:
    return word_with_two_shifts(tj_magic_32(divisor));
  case TJ_DERIVED_MAGIC64:
    return tj_magic_64(divisor).multiplier;
  case TJ_DERIVED_SHIFT64:
    return tj_magic_64(divisor).shift;
  }
  return 0;
}
