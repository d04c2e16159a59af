/* SPDX-License-Identifier: MIT */
/* Copies whose tiles travel as tile distributions say: static distributed tensors.
 *
 * The tile is as large as the distribution's tile dimensions, and each workgroup moves one. With one P it is the
 * lane, with two they are wave and lane: work-item t of a workgroup is row-major over the Ps. Each holds the elements
 * of its Ys in slots, at ys_to_d. What is replicated is loaded by all who hold it, and stored by the one whose index
 * in every R is 0. A distribution maps what is left of Ps and Ys onto the tile one to one, so that no element is
 * stored twice. */
#ifndef TJ_LOWER_DISTRIBUTED_H
#define TJ_LOWER_DISTRIBUTED_H

#include "lower/domain.h"
#include "lower/kernel.h"
#include "lower/target.h"

/* How tiles are loaded, and how they are stored; the same: they stay in registers. */
typedef struct tj_distributed {
  const tj_distribution *load, *store;
  tj_span load_span, store_span; /* to blame */
} tj_distributed;

/* What a definition says, for a domain of dimensions. TJ4013 where the tile has another rank, TJ4015 where the Ps are
 * neither one nor two. */
const tj_distributed *tj_distributed_make(tj_graph *graph, const tj_kernel_definition *definition,
                                          const tj_domain *domain);

/* The tiled kernel that moves what flat kernel->distributed says. TJ4015 where the Ps do not fit the target's waves,
 * TJ4016 where the tile does not fit in a workgroup. */
tj_kernel *tj_map_distributed(tj_graph *graph, const tj_kernel *flat, const tj_target *target);

#endif
