/* SPDX-License-Identifier: MIT */
/* What a plan is made of: see dma.h. */
#ifndef TJ_LOWER_DMA_AXES_H
#define TJ_LOWER_DMA_AXES_H

#include "lower/dma/dma.h"

/* Positions along a mode, or a digit of one, that lie one stride apart. Strides, here and in LDS, are in units of the
 * engine: an element, or half of one of 16 bytes. */
typedef struct {
  uint32_t mode;                /* TJ_DMA_NO_MODE: the units of an element */
  const tj_node *length;        /* positions that coordinates have */
  const tj_node *begin, *valid; /* the first that is in the tensor, and how many are */
  const tj_node *stride;
  int64_t tile;      /* positions of a tile */
  int64_t box;       /* how many of them a box may have: it divides `tile` */
  int64_t lds;       /* stride in LDS, where that is wanted */
  bool may_overrun;  /* some tile has positions that are not in the tensor */
  bool may_straddle; /* and some that are */
  bool is_padded;    /* it has positions before the tensor, or behind it */
} tj_dma_axis;

/* Parts of an axis's tile beyond its box: `count` of them, `step` positions apart. */
typedef struct {
  uint32_t axis;
  int64_t step, count, lds;
} tj_dma_part;

typedef struct {
  uint32_t unit_bytes, units; /* of an element */
  const tj_node *base;        /* of the tensor's first element, in units */
  tj_dma_axis axis[TJ_DMA_MOST_AXES];
  uint32_t axis_count;
  tj_dma_part part[TJ_DMA_MOST_REPEATS];
  uint32_t part_count;
  uint32_t rank; /* modes of the tensor */
  const int64_t *tile;
  bool has_lds, cuts_rows;
  uint32_t swizzle;     /* bytes of its rows; 0: none */
  const char *obstacle; /* why there are no axes; NULL: there are */
} tj_dma_axes;

/* Where it `cuts_rows`, contiguous axes that tiles overrun come in two, so that no box overruns the inner one.
 * Fails for what is malformed: TJ2005 and TJ2013 for what is no tensor, tile or layout in LDS, TJ3018 for a view that
 * is no layout, TJ4016 for a tile that is too large. */
tj_dma_axes tj_dma_axes_of(const tj_dma_request *request, bool cuts_rows);

/* Whether rows of so many positions of an axis, of which tiles have several, are in each tile as long as one another:
 * whole, or as much of them as is in the tensor, or wholly outside. */
bool tj_dma_rows_are_alike(tj_graph *graph, const tj_dma_axis *axis, int64_t row);

/* Sets an obstacle where there is none yet. */
void tj_dma_refuse(tj_job *job, const char **obstacle, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
