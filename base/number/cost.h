/* SPDX-License-Identifier: MIT */
/* The rows of cost.def by name. Immutable; any thread may read them. */
#ifndef TJ_BASE_COST_H
#define TJ_BASE_COST_H

#include <stdbool.h>

typedef struct {
#define LINES(name, lines, sectors, what) double name;
#include "base/number/cost.def"
} tj_line_costs;

/* Those of machines whose memory moves sectors of lines, or whole lines. */
const tj_line_costs *tj_line_costs_of(bool has_sectors);

enum {
#define INSTRUCTIONS(name, value, what) TJ_INSTRUCTIONS_OF_##name = (value),
#define CYCLES(name, value, what) TJ_CYCLES_OF_##name = (value),
#define GAIN(name, parts, what) TJ_GAIN_OF_##name = (parts),
#define LOSS(name, parts, what) TJ_LOSS_OF_##name = (parts),
#include "base/number/cost.def"
};

#endif
