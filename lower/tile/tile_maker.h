/* SPDX-License-Identifier: MIT */
/* A tiled kernel while it is made: what tiling.c finds out of its tiles, and tile_steps.c makes steps of. */
#ifndef TJ_LOWER_TILE_MAKER_H
#define TJ_LOWER_TILE_MAKER_H

#include "ir/value/mapping.h"
#include "lower/kernel/arithmetic.h"
#include "lower/shape/tile_order.h"
#include "lower/tile/box_side.h"
#include "lower/tile/lds_transit.h"

typedef struct {
  tj_graph *graph;
  const tj_tiling *tiling;
  const tj_target *target;
  const tj_kernel *flat;
  tj_kernel *kernel;
  tj_tiles tiles;
  const tj_node **base;       /* of the tile, by mode */
  const tj_node **coordinate; /* symbols of the domain's modes, */
  tj_access *any;             /* and what is there, by operand */
  tj_side *side;              /* by operand */
  tj_staging staging;         /* with `is_staged` */
  tj_boxes *boxes;            /* with tiling->by_dma: by pass; where passes are alike, by buffer */
  tj_boxes taken;             /* with tiling->dma_stores */
  const tj_node *trip;        /* symbol of the loop that the step at hand is in; NULL: it is in none */
  uint32_t *brought;          /* by pass: how many steps bring its part straight into LDS */
  bool is_inner;              /* steps are for tiles that are all inside the domain */
  tj_kernel_step *step;
  uint32_t step_count;
} tj_tile_maker;

static inline uint32_t tj_tile_modes(const tj_tile_maker *maker) {
  return maker->tiling->domain->count;
}

static inline uint32_t tj_tile_operands(const tj_tile_maker *maker) {
  return TJ_OPERAND_OTHERS + maker->tiling->domain->other_count;
}

/* How many parts of the tile are in LDS at a time. */
static inline uint32_t tj_tile_parts(const tj_tile_maker *maker) {
  return tj_mapping_lds_parts(maker->tiling->mapping, maker->tiling->passes);
}

/* Of how many passes the sides have slots, in equal shares. */
static inline uint32_t tj_tile_shares(const tj_tiling *tiling) {
  return tiling->pass != NULL ? 1 : tiling->passes;
}

/* Whether nothing of the tile waits in registers for its way through LDS. */
static inline bool tj_tile_goes_straight(const tj_tiling *tiling) {
  return tiling->direct > 0 || tiling->by_dma;
}

/* Whether a further destination takes elements as they are loaded, before they turn around. */
bool tj_tile_is_straight(const tj_tile_maker *maker, uint32_t operand);

/* What `any`, an operand's access, is at a coordinate of the domain. */
tj_access tj_tile_access_at(tj_tile_maker *maker, const tj_access *any, const tj_node *const digit[]);

/* Makes the steps of all that is known of the tile. */
void tj_tile_make_steps(tj_tile_maker *maker);

#endif
