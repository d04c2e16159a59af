/* SPDX-License-Identifier: MIT */
#include "base/number/cost.h"

const tj_line_costs tj_cost_in_lines = {
#define LINES(name, value, what) .name = (value),
#include "base/number/cost.def"
};

const tj_cost_parts tj_parts_of_cost = {
#define PART(name, value, what) .name = (value),
#include "base/number/cost.def"
};
