/* SPDX-License-Identifier: MIT */
/* The rows of cost.def by name. Immutable; any thread may read them. */
#ifndef TJ_BASE_COST_H
#define TJ_BASE_COST_H

typedef struct {
#define LINES(name, value, what) double name;
#include "base/number/cost.def"
} tj_line_costs;

typedef struct {
#define PART(name, value, what) double name;
#include "base/number/cost.def"
} tj_cost_parts;

extern const tj_line_costs tj_cost_in_lines;
extern const tj_cost_parts tj_parts_of_cost;

enum {
#define INSTRUCTIONS(name, value, what) TJ_INSTRUCTIONS_OF_##name = (value),
#define CYCLES(name, value, what) TJ_CYCLES_OF_##name = (value),
#define GAIN(name, parts, what) TJ_GAIN_OF_##name = (parts),
#define LOSS(name, parts, what) TJ_LOSS_OF_##name = (parts),
#include "base/number/cost.def"
};

#endif
