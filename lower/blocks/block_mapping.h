/* SPDX-License-Identifier: MIT */
/* Blocks of copies on the host, and the mappings that say them. */
#ifndef TJ_LOWER_BLOCK_MAPPING_H
#define TJ_LOWER_BLOCK_MAPPING_H

#include "lower/blocks/block_shape.h"

/* The mapping of blocks and tiles that were chosen: load and store of the same items, who turn their blocks around;
 * or, staged, a store of an item for each run, and the place of runs in LDS. */
const tj_mapping *tj_block_mapping(const tj_block_map *map);

/* The mapping of rows that are copied as they are: an item for each row of a box of `count` modes, so long along
 * each, and pieces of rows along another one. */
typedef struct {
  uint32_t along, count;
  int64_t piece;
  const uint32_t *mode;
  const int64_t *length;
} tj_row_box;

const tj_mapping *tj_row_mapping(const tj_block_map *map, const tj_row_box *box, bool streams);

/* The blocks that a mapping says, in the place of those of the map. False: it says none. */
bool tj_block_read(tj_block_map *map, const tj_mapping *mapping);

/* The rows that a mapping says; box->mode and box->length have room for all modes. False: it says none. */
bool tj_row_read(const tj_block_map *map, const tj_mapping *mapping, uint32_t mode[], int64_t length[],
                 tj_row_box *box);

#endif
