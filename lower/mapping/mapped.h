/* SPDX-License-Identifier: MIT */
/* Copies with a mapping: from layouts of work-items and slots to tilings.
 *
 * Each workgroup moves one tile. Work-items hold in their slots what load says, and afterwards what store says; where
 * both are the same elements in the same work-items, they stay in registers, otherwise they change hands in LDS. What
 * is repeated is loaded by all who hold it, and passed on by the first. */
#ifndef TJ_LOWER_MAPPED_H
#define TJ_LOWER_MAPPED_H

#include "ir/value/value.h"
#include "lower/kernel/domain.h"
#include "lower/kernel/kernel.h"
#include "lower/machine/target.h"
#include "lower/tile/coordinates.h"

/* A mapping on its way to steps. */
typedef struct tj_mapped {
  const tj_mapping *mapping;
  const tj_domain *domain;              /* from which it cuts tiles; NULL: it is flat */
  const struct tj_stage_choice *choice; /* of where it is in LDS; NULL: that is given, or still to be chosen */
  bool is_given;                        /* by the kernel's definition: what does not fit is an error */
  tj_span load_span, store_span;        /* to blame then for its sides */
  tj_coordinates *shared;               /* with other candidates: symbols; NULL: none */
  bool is_draft;                        /* as of a tiling */
} tj_mapped;

/* What a definition says, for the domain that it speaks of. TJ4013 where the tile has another rank. */
const tj_mapped *tj_mapped_make(tj_graph *graph, const tj_kernel_definition *definition, const tj_domain *domain);

/* How many work-items a workgroup has. */
uint32_t tj_mapped_work_items(tj_graph *graph, const tj_mapping *mapping);

/* The tiled kernel that moves as a mapping says what a flat one moves. NULL where it does not fit in a workgroup of
 * the target, unless it is given. */
tj_kernel *tj_tile_as_mapped(tj_graph *graph, const tj_kernel *flat, const tj_mapped *mapped,
                             const tj_target *target);

/* A kernel that was made so once more, from its mapping alone: whatever was looked for on the way to it, its code is
 * that of the mapping. */
tj_kernel *tj_tile_again(tj_graph *graph, const tj_kernel *flat, const tj_mapped *mapped, const tj_target *target,
                         tj_kernel *found);

/* The kernel that moves what flat kernel->mapped says. TJ4015 where lanes are not those of the target's waves,
 * TJ4016 where the tile does not fit in a workgroup, TJ4020 and TJ4023 where passes or order do not suit it. */
tj_kernel *tj_map_as_given(tj_graph *graph, tj_kernel *flat, const tj_target *target);

#endif
