/* SPDX-License-Identifier: MIT */
/* Blocks and tiles of copies on the host, in numbers: which rows turn around in registers, how far a tile reaches,
 * how it lies in LDS. */
#ifndef TJ_LOWER_BLOCK_SHAPE_H
#define TJ_LOWER_BLOCK_SHAPE_H

#include "ir/value/mapping.h"
#include "lower/kernel/domain.h"
#include "lower/kernel/kernel.h"
#include "lower/machine/target.h"

enum {
  TJ_BLOCK_MOST_MODES = 16,
  TJ_BLOCK_LINE_BYTES = 64,       /* of a cache line, as far as the order of things goes */
  TJ_BLOCK_ROW_BYTES = 512,       /* of a row that is copied by itself, where all extents are known */
  TJ_BLOCK_STREAM_ALIGNMENT = 16, /* bytes: of vectors that are streamed from registers */
  TJ_BLOCK_STREAM_BYTES = 4 << 20 /* of a destination that is not worth caching */
};

/* How a tile lies in LDS: in the destination's order. Its first modes there make a run, others number the runs. */
typedef struct {
  uint32_t modes; /* of a run */
  int64_t run;    /* elements */
  int64_t runs;
  int64_t stride[TJ_BLOCK_MOST_MODES]; /* by mode */
} tj_block_staging;

typedef struct {
  tj_graph *graph;
  const tj_kernel *flat;
  const tj_domain *domain;
  const tj_target *target;
  bool is_large;    /* the destination is assumed to be */
  bool is_anywhere; /* the destination may begin at any element: no vector of it can be streamed as it is */
  bool is_of_lines; /* or there is no kernel: columns have whole lines */
  int64_t least;    /* rows and columns that will do; 0: as many as there should be */
  uint32_t by_source[TJ_BLOCK_MOST_MODES], by_destination[TJ_BLOCK_MOST_MODES]; /* modes, smallest stride first */
  uint32_t along, across;                                                       /* of the rows of a block */
  int64_t width, depth;                                                         /* elements of a row; rows */
  int64_t panels;                      /* that turn around: rows side by side */
  int64_t step;                        /* coordinates from one row to the next */
  int64_t size[TJ_BLOCK_MOST_MODES];   /* of a block */
  int64_t blocks[TJ_BLOCK_MOST_MODES]; /* of a tile */
  int64_t reach[TJ_BLOCK_MOST_MODES];  /* of the tile */
  bool is_whole;                       /* lines of the destination can be stored from registers */
  bool is_staged, is_streamed;
  tj_block_staging stage;
} tj_block_map;

/* How far a side steps along a mode; NULL: not known, or not evenly. */
const tj_node *tj_block_stride(const tj_block_map *map, uint32_t mode, bool of_source);
const tj_node *tj_block_extent(const tj_block_map *map, uint32_t mode);
/* Whether both sides step through modes of so many coordinates evenly. */
bool tj_block_is_even(const tj_block_map *map);
/* Of an element in its buffer. */
int64_t tj_block_bytes(const tj_block_map *map, bool is_load);
/* Of an element, in the wider of the two types. */
int64_t tj_block_element_bytes(const tj_block_map *map);
/* Elements of a vector register. */
int64_t tj_block_lanes(const tj_block_map *map);
/* Elements of a row that turns around, in the type that does. */
int64_t tj_block_columns(const tj_block_map *map);
/* Rows that turn around together. */
int64_t tj_block_rows(const tj_block_map *map);
/* Whether the sides have neighbours along different modes: what is loaded as rows is stored as columns. */
bool tj_block_is_turned(const tj_block_map *map);
/* Whether a mode has as many coordinates in every launch. */
bool tj_block_is_fixed(const tj_block_map *map, uint32_t mode);
/* Whether both sides have neighbours along the same mode, and blocks would not be better: these are, of few columns
 * whose count is known. */
bool tj_block_has_rows(const tj_block_map *map);
void tj_block_choose(tj_block_map *map, int64_t lanes);
void tj_block_choose_tile(tj_block_map *map);
/* Whether vectors of the destination, of so many elements, are aligned well enough, and never overlap: then lines are
 * stored as a whole. */
bool tj_block_has_whole_vectors(const tj_block_map *map, int64_t width);
/* A tile with long runs on both sides; false where there is none that fits. */
bool tj_block_choose_staged_tile(tj_block_map *map);

#endif
