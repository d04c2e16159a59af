/* SPDX-License-Identifier: MIT */
/* Columns of a lane in its row, and where their elements are. */
#ifndef TJ_LOWER_ARRAY_ELEMENTS_H
#define TJ_LOWER_ARRAY_ELEMENTS_H

#include "lower/rows/array_steps.h"
#include "lower/tile/slot_values.h"

/* The elements of a buffer in some of a lane's columns, and whether they are there. */
typedef struct {
  uint32_t buffer, count;
  const tj_node *base, **valid;
  tj_parted_sum *offset;
  bool adds; /* stores add to what is there */
} tj_array_elements;

/* Column `number` of the lane's in a region; and truth, whether it is there. */
const tj_node *tj_array_column_of(const tj_array_maker *maker, const tj_array_region *region, uint32_t number);
const tj_node *tj_array_column_is_there(const tj_array_maker *maker, const tj_array_region *region, uint32_t number);
/* How many neighbouring columns are there together. */
uint32_t tj_array_even_width(const tj_array_maker *maker, const tj_array_region *region);

/* An expression of the space's symbols in the lane's row, and a column. */
const tj_node *tj_array_placed(const tj_array_maker *maker, const tj_node *node, const tj_node *row,
                               const tj_node *column);

/* Truth, whether an element of column `number` is there: its row and column are, and two more truths hold. */
const tj_node *tj_array_valid_at(const tj_array_maker *maker, const tj_array_region *region, uint32_t number,
                                 const tj_node *valid, const tj_node *extra);

/* Elements of an argument in so many of a lane's columns. `extra`: truth in the space's symbols, which must hold,
 * too. `found`: by column, the argument's indices; NULL: it has none. */
tj_array_elements tj_array_elements_of(const tj_array_maker *maker, const tj_array_region *region, uint32_t argument,
                                       uint32_t count, const tj_node *extra, const tj_node *const found[]);

#endif
