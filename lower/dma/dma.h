/* SPDX-License-Identifier: MIT */
/* Tiles of tensors, moved by engines that know boxes: AMD's tensor descriptors, NVIDIA's tensor maps.
 *
 * A map of coordinates to elements of memory, the extents of a tile and, if wanted, a layout of the tile in LDS
 * become a plan, or the reason why there is none:
 *
 *   axes.c       map, tile, layout to axes: runs of positions along a mode, with one stride each
 *   plan.c       axes to a plan: which of them are dimensions of a box, which merge, which repeat the instruction
 *   gather.c     repeats of a row to indices of rows
 *   lds_order.c  where an instruction goes on in LDS
 *   encode.c     a plan and a tile to the bits of a descriptor, or the parameters of a tensor map and coordinates
 *
 * base/dma/decode.c, which knows nothing of these, makes (address, place in LDS, fill) of bits and
 * parameters.
 *
 * A plan serves every tile whose first coordinate is a multiple of the tile's extents. What of a tile lies beyond the
 * tensor, or in its pads, is filled with zeros. */
#ifndef TJ_LOWER_DMA_H
#define TJ_LOWER_DMA_H

#include "base/dma/engine.h"
#include "ir/value/value.h"

enum {
  TJ_DMA_MOST_AXES = 12,
  TJ_DMA_MOST_REPEATS = 2 * TJ_DMA_MOST_AXES,
  TJ_DMA_MOST_PLACES = TJ_DMA_MOST_AXES + 1, /* an axis each, and a row of one element */
  TJ_DMA_NO_MODE = UINT32_MAX,
  TJ_DMA_NO_REPEAT = UINT32_MAX
};

/* What is asked for. */
typedef struct {
  tj_graph *graph;
  const tj_dma_engine *engine;
  uint32_t element_bytes;
  const tj_value *tensor;       /* a layout or a view */
  const tj_value *tile;         /* an extent for each mode */
  const tj_node *const *length; /* by mode, over which positions, from the tensor's first on, tiles lie; NULL: over
                                   its own */
  const tj_value *lds;          /* from the coordinate in the tile to the element; NULL: in the order of memory */
  int64_t parts; /* of a larger tile there are so many such tiles along mode `parted`, some of them perhaps
                    behind the tensor; 0: the tile is all of it */
  uint32_t parted;
  tj_span tensor_span, tile_span, lds_span;
} tj_dma_request;

/* A dimension of what coordinates run over. */
typedef struct {
  const tj_node *extent, *stride; /* in units */
  int64_t box;
  bool may_overrun; /* boxes may reach beyond it */
  bool is_padded;   /* and may begin before it */
} tj_dma_dimension;

/* `count` instructions, or iterations of one, `step` further along a dimension, `lds` units further in LDS. */
typedef struct {
  uint32_t dimension;
  const tj_node *step;
  int64_t count, lds;
  bool may_straddle; /* some are in the tensor where others are not */
  bool is_gathered;  /* rows of a descriptor that gathers, not instructions */
} tj_dma_repeat;

typedef struct {
  const char *obstacle;       /* why there is no plan; NULL: there is, and all else has a meaning */
  const char *store_obstacle; /* why it only loads; NULL: it serves stores from LDS as well */
  const tj_dma_engine *engine;
  uint32_t unit_bytes, units;
  const tj_node *base; /* of the tensor's first element, in units */
  tj_dma_dimension dimension[TJ_DMA_MOST_PLACES];
  uint32_t rank;            /* the first of them are the engine's */
  uint32_t dimension_count; /* along the others boxes have extent 1; they only take part in addresses */
  tj_dma_repeat repeat[TJ_DMA_MOST_REPEATS];
  uint32_t repeat_count;
  uint32_t iterated;              /* the repeat that the descriptor itself does; TJ_DMA_NO_REPEAT: none */
  int64_t instructions;           /* of a tile */
  uint32_t rows;                  /* that a descriptor gathers: so many are the repeats that are gathered; 0: none */
  uint32_t index_bits;            /* of the rows' indices */
  const tj_node *row_step;        /* units that indices count */
  const tj_node *row_end;         /* an index that is no row's, and behind all that are */
  uint32_t parted;                /* the repeat that is parts of a gathered one; TJ_DMA_NO_REPEAT: none is */
  int64_t parted_rows;            /* which has so many rows: the last part may have less than the others */
  uint32_t pad_interval, pad;     /* in LDS, in dwords; zeros: none */
  uint32_t swizzle;               /* bytes of its rows; 0: none */
  const tj_composed *coordinates; /* from the tensor's coordinate to that in the dimensions */
  tj_composed lds;                /* from the coordinate in the tile to the element of LDS */
} tj_dma_plan;

/* The plan with the fewest instructions, then without gathers, without iterations, with the fewest dimensions. */
tj_dma_plan tj_dma_plan_of(const tj_dma_request *request);

/* That a tile takes of LDS, with all of the last row of a swizzle. */
int64_t tj_dma_lds_bytes(tj_graph *graph, const tj_dma_plan *plan);

#endif
