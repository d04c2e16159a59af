/* SPDX-License-Identifier: MIT */
/* The sides of tiles that an engine moves: it brings them into LDS, or takes them out of it. The source or the
 * destination as a tensor of the domain's modes, and what the instructions of the planner's boxes (lower/dma/dma.h)
 * are given for any tile. */
#ifndef TJ_LOWER_BOX_SIDE_H
#define TJ_LOWER_BOX_SIDE_H

#include "ir/value/mapping.h"
#include "lower/kernel/domain.h"
#include "lower/kernel/kernel.h"
#include "lower/machine/target.h"
#include "lower/shape/lds_choice.h"
#include "lower/tile/tiling.h"

enum { TJ_MOST_BOXES = 64 };

typedef struct {
  const tj_domain *domain;
  const tj_mapping *mapping;
  const tj_target *target;
  const tj_node *const *coordinate; /* symbols of the domain's modes, */
  bool is_stored;                   /* out of LDS, to the destination */
  tj_access any;                    /* what of source or destination is at the coordinates */
  const tj_node *const *base;       /* by mode, where the tile begins, or its part of a pass, */
  uint32_t lds;                     /* and from which byte of LDS on that is there */
  uint32_t buffer, element_bytes;
} tj_box_problem;

/* Instructions that move a tile, or its part: word[number][…], with the buffer at address 0. Of a tensor map they are
 * the coordinates of the box, and its place in LDS. */
typedef struct {
  const tj_node **word[TJ_MOST_BOXES];
  uint32_t count, word_count;
  const tj_box_map *map; /* NULL: words are descriptors */
} tj_boxes;

/* A tile on its way to steps. */
typedef struct {
  const tj_tiling *tiling;
  const tj_target *target;
  const tj_kernel *flat;
  const tj_node *const *base, *const *coordinate; /* where the tile begins, and symbols, by mode of the domain; */
  const tj_access *any;                           /* by operand, what is there */
} tj_box_tile;

/* Why no boxes load the tile, as a clause; NULL: boxes[pass] do, or where passes are alike those by buffer. What of
 * the tile is not in the source is zeros then.
 */
const char *tj_boxes_that_load(tj_graph *graph, const tj_box_tile *tile, tj_boxes boxes[]);

/* Why none store it; NULL: `boxes` do. What of the tile is not in the destination goes nowhere. */
const char *tj_boxes_that_store(tj_graph *graph, const tj_box_tile *tile, tj_boxes *boxes);

/* Chooses where the tile of a mapping lies in LDS, along the source's neighbours: with what the engine may leave
 * between rows, or, `is_packed`, without, as tensor maps have it. False where it does not fit there. */
bool tj_choose_box_lds(tj_graph *graph, const tj_box_problem *problem, bool is_packed, tj_lds_choice *chosen);

#endif
