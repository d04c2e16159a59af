/* SPDX-License-Identifier: MIT */
/* Sharing out, digit by digit. */
#include "lower/shape/lane_grid.h"

#include "base/number/power.h"

/* The fewest values of a digit that fill whole phases of LDS, where each value is `inner` lanes. */
static int64_t values_of_phase(int64_t phase, int64_t inner) {
  const int64_t power = tj_power_in(inner);
  return power < phase ? phase / power : 1;
}

/* At least so many values, which fill whole phases by themselves, or else with the digits before; the same number
 * where either are too many. */
static int64_t whole_phases(const tj_lane_grid *grid, int64_t values, int64_t most) {
  int64_t alone = tj_rounded_up(values, grid->phase);
  int64_t together = tj_rounded_up(values, values_of_phase(grid->phase, grid->lanes));
  return alone <= most ? alone : together <= most ? together : values;
}

/* The digit that does not fit whole is cut evenly, by whole phases of LDS if that takes no more slots, and no other
 * one after it. Phases of slots that begin elsewhere would cross from row to row where those of other slots do not,
 * and no regular padding serves both. */
static tj_grid_digit share_digit(const tj_lane_grid *grid, int64_t count, int64_t *left) {
  tj_grid_digit digit = {count, count, 1};
  if (count <= *left) {
    *left /= count;
    return digit;
  }
  digit.slots = tj_divided_up(count, *left);
  digit.lanes = whole_phases(grid, tj_divided_up(count, digit.slots), *left < count ? *left : count);
  *left = 1;
  return digit;
}

void tj_lane_grid_make(const int64_t count[], uint32_t digits, int64_t most, int64_t phase, tj_lane_grid *grid) {
  grid->count = digits;
  grid->lanes = grid->slots = 1;
  grid->phase = phase;
  grid->values = 1;
  for (uint32_t i = 0; i < digits; i++) {
    grid->digit[i] = share_digit(grid, count[i], &most);
    grid->lanes *= grid->digit[i].lanes;
    grid->slots *= grid->digit[i].slots;
    grid->values *= (double)count[i];
  }
}

int64_t tj_grid_digit_start(const tj_grid_digit *digit, int64_t slot) {
  int64_t start = slot * digit->lanes, last = digit->count - digit->lanes;
  return start < last ? start : last;
}

/* All slots but the last are as far apart as the first two. */
bool tj_lane_grid_keeps_phases(const tj_lane_grid *grid) {
  int64_t inner = 1;
  for (uint32_t i = 0; i < grid->count; i++) {
    const tj_grid_digit *d = &grid->digit[i];
    int64_t phase = values_of_phase(grid->phase, inner);
    if (d->slots > 1 && (tj_grid_digit_start(d, 1) % phase != 0 || tj_grid_digit_start(d, d->slots - 1) % phase != 0))
      return false;
    inner *= d->count;
  }
  return true;
}

double tj_lane_grid_use(const tj_lane_grid *grid, int64_t work_items) {
  return grid->values / ((double)work_items * (double)grid->slots);
}
