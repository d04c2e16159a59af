/* SPDX-License-Identifier: MIT */
/* Tiles of copies whose shapes a launch chooses: how many items and slots there are along each axis.
 *
 * Integers alone, so that compilation prices a tile as launches choose it. A tile is a box of a few modes of the
 * domain, its axes: the mode along which the source has neighbours, the next one of the source, the next one of the
 * destination; then others, or, of tiles that turn around, the one along which the destination has neighbours.
 * Candidates are priced by the cache lines that the runs of either side touch, and by how much of the tiles is empty.
 *
 * How to add a kind: an enumerator, its case in tj_tile_limits and tj_tile_choose. */
#ifndef TJ_BASE_TILE_H
#define TJ_BASE_TILE_H

#include <stdbool.h>
#include <stdint.h>

enum {
  TJ_TILE_MODES = 8,
  TJ_TILE_AXES = 6,
  TJ_TILE_SIDES = 2,            /* source, destination */
  TJ_TILE_NONE = TJ_TILE_MODES, /* the mode of an axis that there is not */
  TJ_TILE_ITEMS = 256           /* of a workgroup, but for some that turn around */
};

typedef enum {
  TJ_TILE_STRAIGHT,    /* vectors stay in registers */
  TJ_TILE_ROWS,        /* the same, and slots are rows along one axis, which scalars mask */
  TJ_TILE_MASKED_ROWS, /* the same, of which work-items mask some */
  TJ_TILE_STAGED,      /* vectors go through LDS whole */
  TJ_TILE_TURNED,      /* elements turn around in LDS */
  TJ_TILE_KINDS
} tj_tile_kind;

/* By number: the source's first mode, its next, the destination's next; further modes of tiles that do not turn
 * around, or the destination's first one. */
enum { TJ_TILE_LOADED, TJ_TILE_NEXT_LOADED, TJ_TILE_NEXT_STORED, TJ_TILE_OTHER, TJ_TILE_STORED = TJ_TILE_OTHER };

enum {
  TJ_TILE_FOLLOWING = 3, /* axes that may follow the destination's first one */
  TJ_TILE_WORDS = TJ_TILE_AXES + TJ_TILE_FOLLOWING
#define NUMBER(name, least, most, what) +1
#include "base/number/tile.def"
};

/* What compilation knows. The same as a list, for those who write, read and compare it. */
typedef union {
  struct {
    uint32_t axis[TJ_TILE_AXES];
    uint32_t after[TJ_TILE_FOLLOWING]; /* axes, as they follow in the destination; TJ_TILE_FOLLOWING: no more */
#define NUMBER(name, least, most, what) uint32_t name;
#include "base/number/tile.def"
  };
  uint32_t word[TJ_TILE_WORDS];
} tj_tile;

/* What the launch brings, of each mode; anything is clamped to what domains have. */
enum { TJ_TILE_INPUTS = (1 + TJ_TILE_SIDES) * TJ_TILE_MODES };
typedef union {
  struct {
    int64_t extent[TJ_TILE_MODES], stride[TJ_TILE_SIDES][TJ_TILE_MODES]; /* in elements */
  };
  int64_t input[TJ_TILE_INPUTS];
} tj_tile_domain;

/* What is chosen. */
enum { TJ_TILE_NUMBERS = 2 * TJ_TILE_AXES + 1 };
typedef union {
  struct {
    int64_t items[TJ_TILE_AXES], log[TJ_TILE_AXES]; /* along each axis; the logarithm of slots, or of passes */
    int64_t is_worth; /* truth: the tile is possible, and better than the one that stays in registers */
  };
  int64_t number[TJ_TILE_NUMBERS];
} tj_tile_choice;

/* Whether word `number` of a tile may be this. */
bool tj_tile_allows(uint32_t number, uint32_t word);

/* Between what each number of the choice lies, whatever the launch brings. */
void tj_tile_limits(const tj_tile *tile, tj_tile_choice *least, tj_tile_choice *most);

/* For words that tj_tile_allows: within the limits, with no more items along an axis than its extent. Nothing
 * overflows, and its time is bounded. */
tj_tile_choice tj_tile_choose(const tj_tile *tile, const tj_tile_domain *domain);

#endif
