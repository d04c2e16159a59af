/* SPDX-License-Identifier: MIT */
/* The load side of tiles that an engine brings into LDS: the source as a tensor of the domain's modes, and what the
 * instructions of the planner's boxes (lower/dma/dma.h) are given for any tile. */
#ifndef TJ_LOWER_BOX_SIDE_H
#define TJ_LOWER_BOX_SIDE_H

#include "ir/value/mapping.h"
#include "lower/kernel/domain.h"
#include "lower/kernel/kernel.h"
#include "lower/machine/target.h"
#include "lower/shape/lds_choice.h"

enum { TJ_MOST_BOXES = 64 };

typedef struct {
  const tj_domain *domain;
  const tj_mapping *mapping;
  const tj_target *target;
  const tj_node *const *coordinate; /* symbols of the domain's modes, */
  tj_access source;                 /* and what is there */
  const tj_node *const *base;       /* by mode, where the tile begins, or its part of a pass, */
  uint32_t lds;                     /* and from which byte of LDS on that is there */
  uint32_t buffer, element_bytes;
} tj_box_problem;

/* Instructions that load a tile, or its part: word[number][…], with the source's buffer at address 0. Of a tensor map they are the
 * coordinates of the box, and its place in LDS. */
typedef struct {
  const tj_node **word[TJ_MOST_BOXES];
  uint32_t count, word_count;
  const tj_box_map *map; /* NULL: words are descriptors */
} tj_boxes;

/* Why no boxes load the tile, or its part, as a clause; NULL: they do. What of the tile is not in the source is zeros then. */
const char *tj_find_boxes(tj_graph *graph, const tj_box_problem *problem, tj_boxes *boxes);

/* Chooses where the tile of a mapping lies in LDS, along the source's neighbours: with what the engine may leave
 * between rows, or, `is_packed`, without, as tensor maps have it. False where it does not fit there. */
bool tj_choose_box_lds(tj_graph *graph, const tj_box_problem *problem, bool is_packed, tj_lds_choice *chosen);

#endif
