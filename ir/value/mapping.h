/* SPDX-License-Identifier: MIT */
/* Mappings: how a copy is shared out among workgroups, work-items and what these hold.
 *
 * Tiles of one shape cover the domain of a copy, mode by mode; a workgroup moves one tile. A work-item holds elements
 * of it in slots: `load` and `store` say which, as layouts from (item, slot) to the coordinate in the tile. Where the
 * two differ, elements change work-items in LDS. A mapping is checked when it is made, and so covers its tile once;
 * whether it fits a target is lower/mapping/mapped.h's to say. Mappings are constant, immutable, and live in the
 * graph's job.
 */
#ifndef TJ_IR_MAPPING_H
#define TJ_IR_MAPPING_H

#include "ir/map/distribution.h"

enum {
  TJ_MAPPING_MOST_ITEMS = 65536,
  TJ_MAPPING_MOST_SLOTS = 256,
  TJ_MAPPING_MOST_ELEMENTS = 1 << 20, /* of a tile */
  TJ_MAPPING_MOST_LDS = 1 << 24       /* elements that a part of a tile takes in LDS */
};

/* What work-items hold as they load, or as they store. */
typedef struct {
  tj_layout layout; /* (item, slot) → coordinate in the tile: basis elements of its modes, or the colexicographic
                       index; of rank 2. Modes of stride 0 repeat elements: the first holder passes them on */
  uint32_t items, slots;
  uint32_t lanes; /* of the wave that it is made for; 0: of any */
} tj_mapping_side;

typedef struct tj_mapping {
  const tj_layout *domain; /* the modes that tiles are cut from → coordinates of the operands' own modes, in basis
                              elements of these; NULL: the operands' modes as they are */
  const tj_tuple *tile; /* extents of the tile by mode of the domain: constants, a flat list */
  tj_mapping_side load, store;
  const struct tj_value *lds; /* layout or composed layout, coordinate in the tile, or in a pass's part of it →
                                 element of LDS; NULL: chosen */
  uint32_t passes;            /* equal parts along the tile's last mode that go through LDS one after the other */
  bool overlaps;          /* the last tile along a mode is moved back inside where the mode is surely long enough */
  const tj_layout *order; /* the workgroup's number → coordinate of its tile; NULL: the last mode fastest */
} tj_mapping;

/* What a mapping is made of; NULL for what is not given. */
typedef struct {
  const tj_layout *domain;
  const tj_tuple *tile;
  const tj_layout *load, *store; /* one of them at least; the other is the same */
  const struct tj_value *lds;
  int64_t passes;
  bool overlaps;
  const tj_layout *order;
} tj_mapping_parts;

/* TJ4020 for parts that are missing or of the wrong form, TJ4021 where load or store leave the tile or do not cover
 * it once, TJ4016 for tiles and sides that are too large. */
const tj_mapping *tj_mapping_make(tj_graph *graph, const tj_mapping_parts *parts);

/* Tiles that travel as distributions say: loaded as `from` does, stored as `to` does. TJ4015 where the Ps are neither
 * one, the lane, nor two, wave and lane. */
const tj_mapping *tj_mapping_of_distributions(tj_graph *graph, const tj_distribution *from,
                                              const tj_distribution *to);

int64_t tj_mapping_extent(const tj_mapping *mapping, uint32_t mode);
uint32_t tj_mapping_rank(const tj_mapping *mapping);

/* The coordinate in the tile, by mode, of what a side has at an item and a slot. */
const tj_node *const *tj_mapping_digits(tj_graph *graph, const tj_mapping *mapping, const tj_mapping_side *side,
                                        const tj_node *item, uint32_t slot);

/* The element of LDS, in a part of the tile, that `lds` gives to a coordinate there, by mode. */
const tj_node *tj_mapping_lds_at(tj_graph *graph, const tj_mapping *mapping, const tj_node *const within[]);
/* How many elements of LDS a part of the tile takes. */
int64_t tj_mapping_lds_elements(tj_graph *graph, const tj_mapping *mapping);

/* The tile, by mode, that `order` gives to a workgroup, where there are `tiles` along each mode. TJ4023 where it does
 * not surely reach every tile once. */
const tj_node *const *tj_mapping_tile(tj_graph *graph, const tj_layout *order, const tj_tuple *tiles,
                                      const tj_node *workgroup);

/* mapping(domain=…, tile=(32,128), load=…, store=…, lds=…, passes=1, overlap=0, order=…); parts that are not given are
 * left out. */
void tj_mapping_print(tj_text *text, const tj_mapping *mapping);

#endif
