/* SPDX-License-Identifier: MIT */
#include "base/number/cost.h"

const tj_line_costs *tj_line_costs_of(bool has_sectors) {
  static const tj_line_costs of_lines = {
#define LINES(name, lines, sectors, what) .name = (lines),
#include "base/number/cost.def"
  };
  static const tj_line_costs of_sectors = {
#define LINES(name, lines, sectors, what) .name = (sectors),
#include "base/number/cost.def"
  };
  return has_sectors ? &of_sectors : &of_lines;
}
