/* SPDX-License-Identifier: MIT */
/* The layout in LDS of a tile whose elements change hands there: chosen from its mapping alone, in numbers, before
 * anything is made of expressions. */
#ifndef TJ_LOWER_LDS_CHOICE_H
#define TJ_LOWER_LDS_CHOICE_H

#include "ir/value/mapping.h"
#include "lower/lds/lds_layout.h"
#include "lower/machine/target.h"

typedef struct {
  const tj_mapping *mapping;
  const tj_target *target;
  uint32_t work_items;    /* of a workgroup */
  uint32_t element_bytes; /* of what goes through LDS */
  uint32_t passes;        /* that it takes on the target */
  const uint32_t *order;  /* modes: rows, and columns, are numbered by those that come first; NULL: as they are */
  uint64_t columns;       /* modes, by bit, whose elements may lie side by side in LDS first; the others are rows */
  bool is_direct;         /* what is loaded goes straight there, in whole vectors along rows */
  bool is_brought;        /* by an engine, along rows: no stores are counted, and only what it writes is tried */
  bool is_packed;         /* what is direct lies as the places in LDS do: without gaps; and so what is brought */
  bool may_stay;          /* out of LDS, where each work-item stores what it has loaded */
  bool is_calm;           /* as of a tj_stage_tile */
  double dearest;         /* as there */
} tj_lds_problem;

typedef struct {
  const tj_mapping *mapping;     /* with the layout in LDS; where all passes are there at once, in one */
  const tj_stage_choice *choice; /* NULL: elements stay with their work-items */
} tj_lds_choice;

/* False where the tile does not fit into the target's LDS, where all layouts there are too dear, or where slots of
 * the store side are not in equal shares of the passes. */
bool tj_choose_lds(tj_graph *graph, const tj_lds_problem *problem, tj_lds_choice *chosen);

#endif
