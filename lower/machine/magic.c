/* SPDX-License-Identifier: MIT */
/* Multipliers and shifts. */
#include "lower/machine/magic.h"

#include "lower/machine/width.h"

typedef unsigned __int128 wide;

static uint32_t ceil_log2(uint64_t value) {
  uint32_t log = 0;
  while (log < 63 && ((uint64_t)1 << log) < value)
    log++;
  return log;
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

/* The multiplier just above 2^shift / divisor divides 0 … high rightly where its excess stays below one step. */
static bool is_right(uint64_t divisor, uint64_t high, uint32_t shift, wide *multiplier) {
  wide power = (wide)1 << shift;
  *multiplier = power / divisor + 1;
  wide excess = *multiplier * divisor - power;
  return excess * high < power;
}

bool tj_magic_narrow(uint64_t divisor, uint64_t high, tj_magic *magic) {
  for (uint32_t shift = 0; shift < 32; shift++) {
    wide multiplier;
    if (!is_right(divisor, high, shift, &multiplier))
      continue;
    *magic = (tj_magic){(uint64_t)multiplier, shift};
    return multiplier * high <= UINT32_MAX;
  }
  return false;
}

bool tj_magic_wide(uint64_t divisor, uint64_t high, tj_magic *magic) {
  for (uint32_t shift = 32; shift < 64; shift++) {
    wide multiplier;
    if (!is_right(divisor, high, shift, &multiplier))
      continue;
    *magic = (tj_magic){(uint64_t)multiplier, shift};
    return multiplier <= UINT32_MAX;
  }
  return false;
}

unsigned tj_magic_bits(const tj_node *division) {
  const tj_facts *dividend = &division->arg[0]->facts, *divisor = &division->arg[1]->facts;
  if (divisor->low < 1)
    return 0;
  if (tj_width_of_operation(division).bits == 64)
    return 64;
  return dividend->high <= INT32_MAX && divisor->high <= (int64_t)1 << 31 ? 31 : 32;
}
