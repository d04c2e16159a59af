/* SPDX-License-Identifier: MIT */
/* Flexible tiles that stay in registers: both sides have neighbours along the same mode.
 *
 * The tile is a box: vectors along the common first mode, and coordinates of the next mode of either side, so that
 * work-items that follow each other find long runs on both sides however short the first mode is. Each of the modes
 * is shared out between work-items and their slots, which the launch does so that little of a tile is empty. */
#include "lower/flexible/flexible_straight.h"
#include "ir/layout/arith.h"
#include "lower/kernel/arithmetic.h"

const tj_node *tj_straight_choose(tj_flexible *f, tj_tile tile) {
  uint32_t width = f->width[TJ_FLEXIBLE_SOURCE];
  tile.most = TJ_FLEXIBLE_ITEMS;
  tile.vectors = tile.parts = tile.passes = tile.together = 1;
  const tj_node *is_worth = tj_flexible_choose(f, tile);
  tj_flexible_need(f, f->axis[TJ_TILE_LOADED].mode, width);
  for (uint32_t i = 0; i < TJ_TILE_AXES; i++) {
    const tj_flexible_axis *a = &f->axis[i];
    const tj_node *units = tj_terse_mul(f->graph, a->items, tj_int(f->graph, i == 0 ? width : 1));
    const tj_node *length = tj_terse_mul(f->graph, units, tj_flexible_power(f->graph, a->log));
    if (a->mode != TJ_FLEXIBLE_NONE && !tj_is_int(length, 1))
      f->mode[a->mode].length =
          f->mode[a->mode].is_cut ? length : tj_min(f->graph, f->mode[a->mode].extent.launch, length);
  }
  tj_set_source_slots(f->graph, f->kernel, tile.slots * width);
  return is_worth;
}

/* Work-items first along the first axis; slots first along the last one. */
void tj_straight_map(tj_flexible *f) {
  const tj_node *items[TJ_TILE_AXES], *step[TJ_TILE_AXES];
  tj_leaves side[2] = {{.count = 0}, {.count = 0}};
  tj_flexible_put_vector(f, &side[1], TJ_FLEXIBLE_SOURCE);
  for (uint32_t i = 0; i < TJ_TILE_AXES; i++) {
    items[i] = tj_flexible_items(f, i);
    step[i] = tj_int(f->graph, i == 0 ? f->width[TJ_FLEXIBLE_SOURCE] : 1);
    tj_flexible_put(f, &side[0], items[i], i, step[i]);
  }
  for (uint32_t i = TJ_TILE_AXES; i-- > 0;)
    tj_flexible_put(f, &side[1], tj_flexible_slots(f, i), i, tj_terse_mul(f->graph, items[i], step[i]));
  tj_flexible_set_mapping(f, side, side);
}

void *tj_flexible_straight_shape(tj_flexible *f) {
  (void)tj_straight_choose(f, (tj_tile){.kind = TJ_TILE_STRAIGHT, .slots = TJ_STRAIGHT_SLOTS});
  tj_straight_map(f);
  tj_flexible_place_tiles(f);
  return f;
}

void tj_flexible_straight_steps(void *shape) {
  tj_flexible *f = shape;
  for (uint32_t side = 0; side < TJ_FLEXIBLE_SIDES; side++) {
    tj_flexible_hold hold = tj_flexible_split_items(f, side);
    tj_flexible_move_some(&hold, 0, f->kernel->launched->tile.slots, 0);
  }
}
