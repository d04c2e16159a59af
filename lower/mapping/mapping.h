/* SPDX-License-Identifier: MIT */
/* Mapping: how a copy's elements are shared out among workgroups, work-items and slots. */
#ifndef TJ_LOWER_MAPPING_H
#define TJ_LOWER_MAPPING_H

#include "lower/kernel/domain.h"
#include "lower/kernel/kernel.h"
#include "lower/machine/target.h"

/* The tiled kernel that moves what a flat copy moves with wider accesses: through registers where source and
 * destination have neighbours along the same mode, through LDS where they do not. The flat kernel itself, where no
 * access would be wider than one element. */
tj_kernel *tj_map_copy(tj_graph *graph, tj_kernel *flat, const tj_target *target);

/* The whole of the open mapping of flat->mapped: of the copy over that domain, what is chosen for the tile. TJ4016
 * and TJ4020 say why nothing can be chosen. */
const struct tj_mapping *tj_complete_mapping(tj_graph *graph, const tj_kernel *flat, const tj_domain *domain,
                                             const tj_target *target);

/* Mappings of a flat copy without parameters, up to `most`, that are worth pricing: those of the shapes that
 * tj_map_copy chooses from, with their layouts in LDS, and that of the flat kernel. 0: it copies nothing. */
uint32_t tj_list_candidates(tj_graph *graph, tj_kernel *flat, const tj_target *target,
                            const struct tj_mapping *candidate[], uint32_t most);

#endif
