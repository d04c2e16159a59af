/* SPDX-License-Identifier: MIT */
/* What flexible tiles of copies whose sides have neighbours along the same mode have in common, those that stay in
 * registers and those whose vectors go through LDS. */
#ifndef TJ_LOWER_FLEXIBLE_STRAIGHT_H
#define TJ_LOWER_FLEXIBLE_STRAIGHT_H

#include "lower/flexible/flexible_maker.h"

enum { TJ_STRAIGHT_SLOTS = 8 /* vectors of a work-item */ };

/* Lets the launch choose such a tile, of a kind, and sets the lengths of modes; a truth, whether it is worth it. */
const tj_node *tj_straight_choose(tj_flexible *f, tj_tile kind);
/* Makes the mapping of what is chosen. */
void tj_straight_map(tj_flexible *f);

#endif
