/* SPDX-License-Identifier: MIT */
/* The search for a copy's tile, from its modes in numbers to a kernel.
 *
 * The shape of a tile is chosen in numbers (tile_shape.h): where both sides are contiguous along the same mode, the
 * work-items may load and store the same elements and keep them in registers; otherwise, or where their runs would be
 * short, the tile turns around in LDS. */
#ifndef TJ_LOWER_TILE_SEARCH_H
#define TJ_LOWER_TILE_SEARCH_H

#include "lower/kernel/domain.h"
#include "lower/kernel/kernel.h"
#include "lower/machine/target.h"
#include "lower/shape/tile_shape.h"
#include "lower/tile/coordinates.h"

typedef struct {
  tj_graph *graph;
  const tj_domain *domain;
  const tj_target *target;
  const tj_kernel *flat;
  const tj_layout *layout; /* that gives the domain, in what is not assumed */
  uint64_t fuel;           /* of the job when the search began: what was spent before is not the search's */
  tj_coordinates *shared;  /* by the candidates of the search */
  uint32_t made;           /* kernels, so far */
  bool is_calm;            /* only kernels without conflicts in LDS are wanted, */
  double dearest;          /* or those whose conflicts cost less than this; 0: they may cost anything */
  tj_shape_problem problem;
  tj_tile_shape shape;
  tj_side_name lies_as; /* in LDS: in the order of whose modes */
  bool by_dma;          /* with shape.is_direct: an engine loads */
} tj_tile_search;

/* The kernel of the best tile; NULL where none fits, or a tile is not worth its code. Work-items take neighbours only
 * where the vectors of these are as wide as they were meant to be. */
tj_kernel *tj_search_tiles(tj_tile_search *search);

/* The kernel of search->shape, straight into LDS where that is as good; NULL where it does not fit, or is too dear.
 */
tj_kernel *tj_search_shape(tj_tile_search *search);

#endif
