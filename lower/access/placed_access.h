/* SPDX-License-Identifier: MIT */
/* An access of a wave: where its lanes make it, and what it counts there: its cache lines, or its cycles of LDS. What
 * surely counts the same is counted once. */
#ifndef TJ_LOWER_PLACED_ACCESS_H
#define TJ_LOWER_PLACED_ACCESS_H

#include "lower/access/price.h"

/* Numbers of elements by lane, of which a lane's is the sum, and whether the lane makes the access. */
typedef struct {
  const int64_t *base; /* NULL: 0 */
  const int64_t *offset;
  const int64_t *valid; /* NULL: all lanes do */
  int64_t beyond;
  uint32_t lanes;
  uint32_t bytes; /* of an element: a power of two */
} tj_access_values;

/* Where lanes make an access. */
typedef struct {
  uint64_t active; /* those that do */
  int64_t address[TJ_BANK_LANES];
} tj_lane_places;

typedef struct {
  tj_lane_places at;
  bool is_near;           /* where all sums have a number */
  tj_lane_places counted; /* where it was when last it was counted; 0 active lanes: it was not */
  tj_cost cost;
  int64_t far; /* bytes that lanes are behind where they were counted, where all of them are equally far */
} tj_placed_access;

/* Places an access; false where an address has no number. */
bool tj_place_access(tj_placed_access *placed, const tj_access_values *values);

/* Moves an access by so many bytes in all lanes, which stay where `at` has them; false where some may have no
 * address: then it has to be placed. */
bool tj_move_access(tj_placed_access *placed, int64_t bytes);

/* Whether what has been moved counts the same as before: it is by whole lines further on; or by words of LDS, with
 * which all banks change places alike. */
bool tj_moves_as_counted(const tj_price_machine *machine, const tj_access_price *price,
                         const tj_placed_access *placed);

/* Whether an access counts as one of the same price was counted, from which all lanes are equally far: how far. */
bool tj_is_as_counted(const tj_price_machine *machine, const tj_access_price *price, const tj_placed_access *placed,
                      const tj_placed_access *other, int64_t *far);

/* The cost of an access that has this price, by lanes of so many bytes each. */
tj_cost tj_count_access(const tj_price_machine *machine, const tj_access_price *price, uint32_t bytes,
                        const tj_lane_places *at);

#endif
