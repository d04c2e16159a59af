/* Sharing out, digit by digit. */
#include "lower/lane_grid.h"

static int64_t divided_up(int64_t value, int64_t by) {
  return (value + by - 1) / by;
}

/* The digit that does not fit whole is cut evenly, by whole phases of LDS if that takes no more slots, and no other
 * one after it. */
static tj_grid_digit share_digit(int64_t count, int64_t *left) {
  tj_grid_digit digit = {count, count, 1};
  if (count <= *left) {
    *left /= count;
    return digit;
  }
  digit.slots = divided_up(count, *left);
  digit.lanes = divided_up(count, digit.slots);
  int64_t even = divided_up(digit.lanes, TJ_GRID_PHASE) * TJ_GRID_PHASE;
  digit.lanes = even <= *left && even <= count ? even : digit.lanes;
  *left = 1;
  return digit;
}

tj_lane_grid tj_lane_grid_make(const int64_t count[], uint32_t digits, int64_t most) {
  tj_lane_grid grid = {.count = digits, .lanes = 1, .slots = 1};
  for (uint32_t i = 0; i < digits; i++) {
    grid.digit[i] = share_digit(count[i], &most);
    grid.lanes *= grid.digit[i].lanes;
    grid.slots *= grid.digit[i].slots;
  }
  return grid;
}

int64_t tj_grid_digit_start(const tj_grid_digit *digit, int64_t slot) {
  int64_t start = slot * digit->lanes, last = digit->count - digit->lanes;
  return start < last ? start : last;
}

double tj_lane_grid_use(const tj_lane_grid *grid, int64_t work_items) {
  double elements = 1;
  for (uint32_t i = 0; i < grid->count; i++)
    elements *= (double)grid->digit[i].count;
  return elements / ((double)work_items * (double)grid->slots);
}
