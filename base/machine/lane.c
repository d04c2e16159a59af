/* SPDX-License-Identifier: MIT */
/* Maps of lanes against the rows of lane.def: by one instruction, or by one after four lanes have changed places. */
#include "base/machine/lane.h"

#include <string.h>

typedef struct {
  tj_maker maker;
  uint32_t first, last; /* generations */
  uint32_t free_bits, changed, changeable;
  uint32_t price;
  const char *name;
} move_row;

static const move_row moves[] = {
#define LANE_MOVE(name, maker, first, last, free, changed, changeable, price, text)                                  \
  {TJ_MAKER_##maker, first, last, free, changed, changeable, price, text},
#include "base/machine/lane.def"
};

typedef struct {
  tj_maker maker;
  uint32_t first, last, bit, price;
  const char *name;
} swap_row;

static const swap_row swaps[] = {
#define LANE_SWAP(name, maker, first, last, bit, price, text) {TJ_MAKER_##maker, first, last, bit, price, text},
#include "base/machine/lane.def"
};

enum { SWAPS = sizeof swaps / sizeof *swaps };

/* --- maps --- */

tj_lane_map tj_lane_xor(uint32_t distance) {
  tj_lane_map map = {.offset = (uint8_t)distance};
  for (uint32_t bit = 0; bit < TJ_LANE_BITS; bit++)
    map.basis[bit] = (uint8_t)(1u << bit);
  return map;
}

uint32_t tj_lane_read(const tj_lane_map *map, uint32_t lane) {
  uint32_t read = map->offset;
  for (uint32_t bit = 0; bit < TJ_LANE_BITS; bit++)
    read ^= (lane >> bit & 1) != 0 ? map->basis[bit] : 0;
  return read;
}

bool tj_lane_maps_equal(const tj_lane_map *a, const tj_lane_map *b) {
  return memcmp(a, b, sizeof *a) == 0;
}

static bool is_xor(const tj_lane_map *map) {
  tj_lane_map same = tj_lane_xor(map->offset);
  return tj_lane_maps_equal(map, &same);
}

/* --- rows --- */

static bool has_row(const tj_shared_memory *processor, tj_maker maker, uint32_t first, uint32_t last) {
  return processor->maker == maker && first <= processor->generation && processor->generation <= last;
}

/* Whether the map stays in groups of free lanes, and beyond them changes what the instruction does. */
static bool serves(const move_row *row, const tj_lane_map *map) {
  uint32_t beyond = ~((1u << row->free_bits) - 1);
  for (uint32_t bit = 0; bit < TJ_LANE_BITS; bit++) {
    uint32_t wanted = bit < row->free_bits ? 0 : 1u << bit;
    if (bit < row->free_bits ? (map->basis[bit] & beyond) != 0 : map->basis[bit] != wanted)
      return false;
  }
  uint32_t changed = map->offset & beyond;
  return (changed & row->changed) == row->changed && (changed & ~(row->changed | row->changeable)) == 0;
}

static const move_row *find_move(const tj_shared_memory *processor, const tj_lane_map *map) {
  const move_row *found = NULL;
  for (uint32_t i = 0; i < TJ_LANE_MOVE_COUNT; i++) {
    const move_row *row = &moves[i];
    if (has_row(processor, row->maker, row->first, row->last) && serves(row, map) &&
        (found == NULL || row->price < found->price))
      found = row;
  }
  return found;
}

static tj_lane_step step_of(const move_row *row, const tj_lane_map *map) {
  return (tj_lane_step){(tj_lane_move)(row - moves), *map};
}

/* --- ways --- */

/* By two instructions, of which the second one stays within four lanes. */
static void find_pair(const tj_shared_memory *processor, uint32_t distance, tj_lane_way *way) {
  enum { QUAD = 4 };
  for (uint32_t within = 1; within < QUAD; within++) {
    tj_lane_map far = tj_lane_xor(distance ^ within), near = tj_lane_xor(within);
    const move_row *first = find_move(processor, &far), *second = find_move(processor, &near);
    if (first != NULL && second != NULL && (way->count == 0 || first->price + second->price < way->price))
      *way = (tj_lane_way){{step_of(first, &far), step_of(second, &near)}, 2, first->price + second->price};
  }
}

bool tj_lane_find_way(const tj_shared_memory *processor, const tj_lane_map *map, tj_lane_way *way) {
  const move_row *row = find_move(processor, map);
  *way = (tj_lane_way){.count = 0};
  if (is_xor(map) && map->offset == 0)
    return true;
  if (row != NULL)
    *way = (tj_lane_way){{step_of(row, map)}, 1, row->price};
  if (is_xor(map))
    find_pair(processor, map->offset, way);
  return way->count > 0;
}

bool tj_lane_find_across(const tj_shared_memory *processor, uint32_t bit, tj_lane_step *step) {
  const move_row *found = NULL;
  for (uint32_t i = 0; i < TJ_LANE_MOVE_COUNT; i++) {
    for (uint32_t distance = 1u << bit; distance < 2u << bit; distance++) {
      tj_lane_map map = tj_lane_xor(distance);
      if (!has_row(processor, moves[i].maker, moves[i].first, moves[i].last) || !serves(&moves[i], &map) ||
          (found != NULL && found->price <= moves[i].price))
        continue;
      found = &moves[i];
      *step = step_of(found, &map);
    }
  }
  return found != NULL;
}

uint32_t tj_lane_swap_price(const tj_shared_memory *processor, uint32_t bit) {
  for (uint32_t i = 0; i < SWAPS; i++) {
    if (swaps[i].bit == bit && has_row(processor, swaps[i].maker, swaps[i].first, swaps[i].last))
      return swaps[i].price;
  }
  return 0;
}

const char *tj_lane_move_name(tj_lane_move move) {
  return moves[move].name;
}

const char *tj_lane_swap_name(uint32_t bit) {
  for (uint32_t i = 0; i < SWAPS; i++) {
    if (swaps[i].bit == bit)
      return swaps[i].name;
  }
  return NULL;
}
