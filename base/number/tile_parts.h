/* SPDX-License-Identifier: MIT */
/* What the kinds of tiles have in common: sums and products that do not overflow, the cache lines that runs touch. */
#ifndef TJ_BASE_TILE_PARTS_H
#define TJ_BASE_TILE_PARTS_H

#include "base/number/parts.h"
#include "base/number/run.h"
#include "base/number/tile.h"

enum { TJ_TILE_LINE_VECTORS = 8 };

/* A tile, and a domain with one more mode, which axes have that there are not: one coordinate. */
typedef struct {
  const tj_tile *tile;
  int64_t extent[TJ_TILE_MODES + 1], stride[TJ_TILE_SIDES][TJ_TILE_MODES + 1];
} tj_tile_case;

/* Of costs: what is too much is INT64_MAX. */
static inline int64_t tj_tile_times(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

static inline int64_t tj_tile_plus(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static inline bool tj_tile_has(const tj_tile_case *c, uint32_t axis) {
  return c->tile->axis[axis] != TJ_TILE_NONE;
}

static inline int64_t tj_tile_extent(const tj_tile_case *c, uint32_t axis) {
  return c->extent[c->tile->axis[axis]];
}

/* A run of a side, as it grows from axis to axis. */
typedef struct {
  tj_run run;
  uint32_t side, modes; /* those that it has seen, by bit */
  int64_t end;          /* of the last one, in elements */
} tj_tile_run;

/* The run of an element, or one with so many coordinates of another axis. */
tj_tile_run tj_tile_run_of(const tj_tile_case *c, uint32_t side);
tj_tile_run tj_tile_run_on(const tj_tile_case *c, tj_tile_run run, uint32_t axis, int64_t length);
/* Its cache lines, as tj_run_lines has them. */
int64_t tj_tile_lines(const tj_tile_case *c, const tj_tile_run *run, int64_t lanes);

/* The tile of a copy whose elements turn around. */
tj_tile_choice tj_tile_choose_turned(const tj_tile_case *c);

#endif
