/* SPDX-License-Identifier: MIT */
/* Blocks and tiles of copies on the host: which rows turn around in registers, how far a tile reaches, how it lies in
 * LDS. Numbers in, numbers out: what is chosen here is never wrong, only more or less fast. */
#ifndef TJ_LOWER_BLOCK_SHAPE_H
#define TJ_LOWER_BLOCK_SHAPE_H

#include "lower/shape/shape_problem.h"

enum { TJ_BLOCK_LINE_BYTES = 64 /* of a cache line, as far as the order of things goes */ };

/* How a tile lies in LDS: in the destination's order. Its first modes there make a run, others number the runs. */
typedef struct {
  uint32_t modes; /* of a run */
  int64_t run;    /* elements */
  int64_t runs;
  int64_t stride[TJ_SHAPE_MOST_MODES]; /* by mode */
} tj_block_staging;

/* A tile goes through LDS, or is stored past the caches, or both. */
typedef struct {
  uint32_t along, across;             /* of the rows of a block */
  int64_t width, depth;               /* elements of a row; rows */
  int64_t panels;                     /* that turn around: rows side by side */
  int64_t step;                       /* coordinates from one row to the next */
  int64_t size[TJ_SHAPE_MOST_MODES];  /* of a block */
  int64_t reach[TJ_SHAPE_MOST_MODES]; /* of the tile */
  bool is_staged, is_streamed;
  tj_block_staging stage;
} tj_block_shape;

/* Elements of a vector register. */
int64_t tj_block_lanes(const tj_shape_problem *problem);
/* Elements of a row that turns around, in the type that does. */
int64_t tj_block_columns(const tj_shape_problem *problem);
/* Rows that turn around together. */
int64_t tj_block_rows(const tj_shape_problem *problem);
/* Whether both sides have neighbours along the same mode, and blocks would not be better: these are, of few columns
 * whose count is known. */
bool tj_block_has_rows(const tj_shape_problem *problem);

/* Blocks in a tile along a mode, of which the last may reach beyond it. */
int64_t tj_block_count(const tj_block_shape *shape, uint32_t mode);

/* The best block, which is the same in every tile. */
tj_block_shape tj_choose_block(const tj_shape_problem *problem);
/* A tile of blocks that are stored from registers, past the caches or not. */
void tj_choose_block_tile(const tj_shape_problem *problem, bool is_streamed, tj_block_shape *shape);
/* One with long runs on both sides that goes through LDS, past the caches; false where there is none that fits. */
bool tj_choose_staged_tile(const tj_shape_problem *problem, tj_block_shape *shape);

#endif
