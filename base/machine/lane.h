/* SPDX-License-Identifier: MIT */
/* What lanes of a wave can read of one another, and at which price: the rows of lane.def. Immutable; any thread may
 * ask. */
#ifndef TJ_BASE_LANE_H
#define TJ_BASE_LANE_H

#include "base/machine/processor.h"

enum { TJ_LANE_BITS = 6 };

/* Which lane each lane reads: the XOR of the offset and of the bases of the bits of its number. */
typedef struct {
  uint8_t basis[TJ_LANE_BITS];
  uint8_t offset;
} tj_lane_map;

typedef enum {
#define LANE_MOVE(name, ...) TJ_LANE_##name,
#include "base/machine/lane.def"
  TJ_LANE_MOVE_COUNT
} tj_lane_move;

/* An instruction, and what it is to do. */
typedef struct {
  tj_lane_move move;
  tj_lane_map map;
} tj_lane_step;

/* One instruction after the other. */
typedef struct {
  tj_lane_step step[2];
  uint32_t count; /* 0: each lane reads itself */
  uint32_t price;
} tj_lane_way;

/* The lane `distance` away, and the same for every lane. */
tj_lane_map tj_lane_xor(uint32_t distance);
uint32_t tj_lane_read(const tj_lane_map *map, uint32_t lane);
bool tj_lane_maps_equal(const tj_lane_map *a, const tj_lane_map *b);

/* The cheapest way of a processor's waves; false where there is none. */
bool tj_lane_find_way(const tj_shared_memory *processor, const tj_lane_map *map, tj_lane_way *way);

/* The first of the cheapest instructions that reach a lane in whose number the bit is another, whichever the bits
 * below it are; false where none does. */
bool tj_lane_find_across(const tj_shared_memory *processor, uint32_t bit, tj_lane_step *step);

/* What it costs to have registers of two change places along a bit by one instruction; 0: none does. */
uint32_t tj_lane_swap_price(const tj_shared_memory *processor, uint32_t bit);

/* As documents call it; that of the swap along a bit, NULL where there is none. */
const char *tj_lane_move_name(tj_lane_move move);
const char *tj_lane_swap_name(uint32_t bit);

#endif
