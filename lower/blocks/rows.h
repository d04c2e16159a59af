/* SPDX-License-Identifier: MIT */
/* Rows: the mapping for CPUs of copies whose sides are contiguous along the same mode. */
#ifndef TJ_LOWER_ROWS_H
#define TJ_LOWER_ROWS_H

#include "lower/blocks/blocks.h"

/* A mode along which a tile has rows; so many of them. */
typedef struct {
  uint32_t mode;
  const tj_node *length;
} tj_row_mode;

typedef struct {
  tj_row_mode box[TJ_SHAPE_MOST_MODES];
  uint32_t count;
  uint64_t modes; /* of the box, by bit */
  int64_t piece;  /* elements of a row, at most */
} tj_rows;

/* The rows of a tile of a flat copy, whose modes are sorted: as many as the launch chooses, where it alone knows how
 * long they are. */
tj_rows tj_rows_of(const tj_block_copy *copy);

/* How far they reach along a mode, in what the launch knows. */
const tj_node *tj_row_reach(const tj_block_copy *copy, const tj_rows *rows, uint32_t mode);

/* The mapping that copies these, each as a run. */
const tj_mapping *tj_row_mapping(const tj_block_copy *copy, bool streams);

/* Truth, whether rows should bypass the caches. */
const tj_node *tj_rows_are_streamed(const tj_block_copy *copy);

#endif
