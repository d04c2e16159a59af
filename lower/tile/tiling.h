/* SPDX-License-Identifier: MIT */
/* Tiled kernels: each workgroup moves one tile of a copy's domain, through the slots of its work-items.
 *
 * Tiles cover the domain, those of the last mode first. At the domain's edges, elements of a tile that would be
 * beyond it are masked; or, where the tiling allows and the domain is surely large enough, the tile is moved back
 * inside, and some elements are moved twice. A tiling says which elements each work-item loads and which it stores.
 * Where these are not the same, they go through LDS in between. Nothing in a tiling is believed but strides, which
 * who makes it has proved: that elements are neighbours, so that a vector can move them, is otherwise shown by the
 * simplified offsets of the kernel itself. */
#ifndef TJ_LOWER_TILING_H
#define TJ_LOWER_TILING_H

#include "ir/value/mapping.h"
#include "lower/kernel/domain.h"
#include "lower/kernel/kernel.h"
#include "lower/machine/target.h"
#include "lower/tile/coordinates.h"

/* What work-items hold on one side: digit[slot][mode], within the tile, expressions of the work-item's symbol. */
typedef struct {
  uint32_t slot_count;
  const tj_node *const *const *digit;
  const tj_mapping_side *strided; /* has the slots' digits, along whose modes offsets surely are sums of these and
                                     strides, in the order of its digits; no element is beyond the domain. Slot 0
                                     alone is in `digit` and `active` then. NULL: every slot is */
  const tj_node *const *active;   /* by slot, truths: whether the slot holds anything; NULL: all do */
  const uint32_t *const *order; /* ways to put the slots in a row so that vectors may move neighbours; the first that
                                   gives the widest ones is taken */
  uint32_t order_count;
} tj_tile_side;

typedef struct {
  const tj_domain *domain;
  const tj_node *item; /* symbol: 0 … workgroup_size-1 */
  uint32_t workgroup_size;
  tj_tile_side load, store; /* not staged: the slots of both hold the same elements */
  bool is_staged;
  const struct tj_exchange *exchange; /* between the lanes of waves, of which the sides then hold different elements;
                                         NULL: there is none */
  const tj_tile_side *asked; /* staged: what work-items ask LDS for by loads that transpose, to have what they store,
                                in slots of the same numbers; NULL: there are no such loads */
  uint32_t direct; /* staged: elements that work-items load straight into LDS at a time, at most; 0: they go through
                      slots */
  const tj_tile_side *placed; /* with `direct`: whose slots are where those of `load` would be in LDS without the
                                 layout's swizzle; NULL: where it says */
  bool by_dma;                /* staged: an engine brings into LDS what `load` has */
  bool dma_stores;            /* staged: an engine takes out of LDS what `store` has */
  bool has_runs;              /* staged: `store` has the first one of what work-items store, neighbours in LDS and in
                                 the destination, which go there without slots */
  bool is_given;              /* by the kernel's definition: what is direct, or by dma, and cannot be is TJ4020 */
  uint32_t passes; /* staged: parts in which the rows go through LDS one after the other, a divisor of how many there
                      are; the slots of the store side are in equal shares, by pass. More than one only
                      where the target's work-items keep their slots */
  const tj_node *pass; /* staged, not by slots: symbol 0 … passes-1. Passes are alike: the sides have the slots of
                          one, as they are in the first, and others are further along the mode of passes by parts of
                          the tile; they go in a loop. NULL: the sides have those of all passes */
  const struct tj_mapping *mapping;     /* what it is made of: tiles, what of them is moved back inside, their order,
                                           and where a part of them is in LDS */
  const struct tj_stage_choice *choice; /* of that place; NULL: it was given */
  tj_coordinates *shared;               /* with other candidates: symbols; NULL: none */
  bool is_draft; /* of a candidate that is made once more if it is taken: expressions need no last form */
} tj_tiling;

/* How many trips a loop of a mapping's passes has, where they are alike; 0: there is none that would make the steps
 * half as many. */
uint32_t tj_trips_of_passes(const struct tj_mapping *mapping);

/* The tiled kernel that does what the flat one does, simplified. NULL where its LDS does not fit into the target's,
 * or where it cannot go in the passes that the tiling wants. */
tj_kernel *tj_tile_kernel(tj_graph *graph, const tj_kernel *flat, const tj_tiling *tiling, const tj_target *target);

#endif
