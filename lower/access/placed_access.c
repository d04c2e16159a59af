/* SPDX-License-Identifier: MIT */
/* The lanes of an access put into cache lines, or into phases of LDS; or held against lanes that have been. */
#include "lower/access/placed_access.h"

#include "base/machine/cache_line.h"
#include "base/number/power.h"

/* --- places --- */

/* Numbers that are less than this from 0 have sums, and addresses, and so have those that are as far again. */
enum { NEAR_BITS = 55 };

static bool is_near(int64_t number) {
  return ((uint64_t)number + (1ull << NEAR_BITS)) >> (NEAR_BITS + 1) == 0;
}

/* The addresses of elements by lane; false where some numbers are far, so that a sum may have wrapped around. */
static bool find_addresses(const tj_access_values *values, int64_t address[]) {
  const uint64_t beyond = (uint64_t)values->beyond, middle = 1ull << NEAR_BITS;
  const unsigned shift = tj_log2(values->bytes);
  uint64_t far = 0;
  for (uint32_t lane = 0; lane < values->lanes; lane++) {
    const uint64_t offset = (uint64_t)values->offset[lane];
    far |= offset + middle;
    address[lane] = (int64_t)((offset + beyond) << shift);
  }
  for (uint32_t lane = 0; lane < values->lanes && values->base != NULL; lane++) {
    const uint64_t base = (uint64_t)values->base[lane];
    far |= base + middle;
    address[lane] = (int64_t)((uint64_t)address[lane] + (base << shift));
  }
  return far >> (NEAR_BITS + 1) == 0 && is_near(values->beyond);
}

/* Whether all lanes that make an access have an address. */
static bool have_addresses(const tj_access_values *values, uint64_t active) {
  int64_t number;
  bool have = true;
  for (uint64_t left = active; left != 0; left &= left - 1) {
    const int lane = __builtin_ctzll(left);
    const int64_t base = values->base != NULL ? values->base[lane] : 0;
    have = have && !__builtin_add_overflow(base, values->offset[lane], &number) &&
           !__builtin_add_overflow(number, values->beyond, &number) &&
           !__builtin_mul_overflow(number, (int64_t)values->bytes, &number);
  }
  return have;
}

/* The lanes that make an access. */
static uint64_t active_of(const tj_access_values *values) {
  uint64_t active = 0;
  if (values->valid == NULL && values->lanes > 0)
    return UINT64_MAX >> (TJ_BANK_LANES - values->lanes);
  for (uint32_t lane = 0; lane < values->lanes; lane++)
    active |= (uint64_t)(values->valid[lane] != 0) << lane;
  return active;
}

bool tj_place_access(tj_placed_access *placed, const tj_access_values *values) {
  placed->at.active = active_of(values);
  placed->is_near = find_addresses(values, placed->at.address);
  return placed->is_near || have_addresses(values, placed->at.active);
}

bool tj_move_access(tj_placed_access *placed, int64_t bytes) {
  if (!placed->is_near || !is_near(bytes) || !is_near(placed->far + bytes))
    return false;
  placed->far += bytes;
  return true;
}

/* --- counts --- */

static void count_lines(const tj_price_machine *machine, uint32_t bytes, const tj_lane_places *at, tj_cost *cost) {
  uint64_t address[TJ_BANK_LANES];
  uint32_t lanes = 0;
  for (uint64_t left = at->active; left != 0; left &= left - 1)
    address[lanes++] = (uint64_t)at->address[__builtin_ctzll(left)];
  tj_line_count lines = tj_count_lines(address, lanes, bytes, machine->line_bytes);
  cost->lines += (int64_t)lines.touched;
  cost->least_lines += (int64_t)lines.least;
  if (machine->sector_bytes == 0)
    return;
  tj_line_count sectors = tj_count_lines(address, lanes, bytes, machine->sector_bytes);
  cost->sectors += (int64_t)sectors.touched;
  cost->runs += (int64_t)sectors.runs;
  cost->least_sectors += (int64_t)sectors.least;
}

static void count_cycles(const tj_price_machine *machine, const tj_access_price *price, const tj_lane_places *at,
                         tj_cost *cost) {
  uint32_t address[TJ_BANK_LANES];
  for (uint32_t lane = 0; lane < TJ_BANK_LANES; lane++)
    address[lane] = (uint32_t)at->address[lane];
  cost->cycles += tj_bank_cycles(machine->bank, price->is_store, price->bytes, address, at->active);
  cost->least_cycles += tj_bank_ideal(machine->bank, price->is_store, price->bytes, at->active);
}

tj_cost tj_count_access(const tj_price_machine *machine, const tj_access_price *price, uint32_t bytes,
                        const tj_lane_places *at) {
  tj_cost cost = {.instructions = price->is_direct && price->buffer == TJ_LDS ? 0 : 1};
  if (price->is_scalar)
    return cost;
  if (price->buffer != TJ_LDS)
    count_lines(machine, bytes, at, &cost);
  else if (machine->bank != NULL)
    count_cycles(machine, price, at, &cost);
  return cost;
}

static bool counts_the_same(const tj_price_machine *machine, const tj_access_price *price, int64_t far) {
  return far % (price->buffer != TJ_LDS ? (int64_t)machine->line_bytes : TJ_BANK_BYTES) == 0;
}

bool tj_moves_as_counted(const tj_price_machine *machine, const tj_access_price *price,
                         const tj_placed_access *placed) {
  return counts_the_same(machine, price, placed->far);
}

bool tj_is_as_counted(const tj_price_machine *machine, const tj_access_price *price, const tj_placed_access *placed,
                      const tj_placed_access *other, int64_t *far) {
  const tj_lane_places *at = &placed->at, *counted = &other->counted;
  if (at->active == 0 || at->active != counted->active)
    return false;
  const uint32_t first = (uint32_t)__builtin_ctzll(at->active);
  *far = (int64_t)((uint64_t)at->address[first] - (uint64_t)counted->address[first]);
  if (!counts_the_same(machine, price, *far))
    return false;
  for (uint64_t left = at->active; left != 0; left &= left - 1) {
    const int lane = __builtin_ctzll(left);
    if ((uint64_t)at->address[lane] - (uint64_t)counted->address[lane] != (uint64_t)*far)
      return false;
  }
  return true;
}
