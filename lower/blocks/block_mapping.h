/* SPDX-License-Identifier: MIT */
/* Blocks of copies on the host, and the mappings that say them. */
#ifndef TJ_LOWER_BLOCK_MAPPING_H
#define TJ_LOWER_BLOCK_MAPPING_H

#include "lower/blocks/block_shape.h"

/* The mapping of blocks and tiles that were chosen: load and store of the same items, who turn their blocks around;
 * or, staged, a store of an item for each run, and the place of runs in LDS. */
const tj_mapping *tj_block_mapping(const tj_block_map *map);

/* A mapping of tiles that reach so far, whose sides are not set. What is beyond the domain begins earlier, as whole
 * tiles, but along the mode `masked`; UINT32_MAX: none. */
tj_mapping *tj_mapping_of_tile(const tj_block_map *map, uint32_t masked);

/* The blocks that a mapping says, in the place of those of the map. False: it says none. */
bool tj_block_read(tj_block_map *map, const tj_mapping *mapping);

/* The modes along which a tile has the rows that a mapping says, in the order of its items: all that it has along
 * these; mode[] has room for all. False: it says none. */
bool tj_row_read(const tj_block_map *map, const tj_mapping *mapping, uint32_t mode[], uint32_t *count);

#endif
