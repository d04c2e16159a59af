/* SPDX-License-Identifier: MIT */
/* Loads from memory straight into LDS (base/machine/direct_load.def): which mappings they can serve.
 *
 * Where each lane has a place of its own in LDS, they serve all that vectors do. Other instructions give a wave one
 * place; the bytes of its lanes lie side by side from there on, in the order of the lanes. So the place of what
 * (lane, slot) loads has to be the sum of a number that all lanes share and of the lane's number times what a lane
 * loads. What a swizzle moves within LDS is moved in memory instead: a lane loads what the swizzle brings to its
 * place. That is possible where the layout fills whole units of the swizzle. */
#ifndef TJ_LOWER_LDS_DIRECT_H
#define TJ_LOWER_LDS_DIRECT_H

#include "ir/value/mapping.h"
#include "lower/kernel/kernel.h"
#include "lower/machine/target.h"

/* How a mapping's tile would be loaded. */
typedef struct {
  uint32_t lanes;      /* of a wave */
  uint32_t work_items; /* of a workgroup */
  uint32_t vector;     /* elements that a lane loads at a time, a power of two */
} tj_direct_form;

/* Why a kernel's elements do not go into LDS as they are in the source, whatever their places, as a clause; NULL:
 * they do. Where work-items load them, they are also valid as a truth says. */
const char *tj_direct_obstacle_of_elements(const tj_kernel *kernel);
const char *tj_direct_obstacle_of_loads(const tj_kernel *kernel, const tj_node *valid);

/* Why the lanes of the load side of a mapping that has a layout in LDS do not lie side by side there, as a clause;
 * NULL: they do. */
const char *tj_direct_obstacle(tj_graph *graph, const tj_mapping *mapping, const tj_direct_form *form);

/* The widest way in which a target's work-items could load elements of so many bytes: form->lanes and form->vector,
 * which is the most where lanes have places of their own. What stands in the way of it, as a clause; NULL: nothing.
 */
const char *tj_direct_find(tj_graph *graph, const tj_mapping *mapping, const tj_target *target,
                           uint32_t element_bytes, tj_direct_form *form);

/* The load side whose work-items, `items` of them at most, take what lies in LDS vector by vector in the order of
 * their numbers, as far as they reach; then the next ones. Of 0 items where the layout's first elements are not
 * vectors. */
tj_mapping_side tj_direct_load(tj_graph *graph, const tj_mapping *mapping, uint32_t vector, uint32_t items);

/* A leaf of a layout in LDS: `extent` coordinates of a mode of the tile, `step` apart, lie `stride` apart. */
typedef struct {
  uint32_t mode;
  int64_t extent, step, stride;
} tj_lds_leaf;

/* The leaves of several coordinates, in the order of their modes; NULL where the layout has not a mode for each of
 * the tile's. */
const tj_lds_leaf *tj_lds_leaves(tj_graph *graph, const tj_mapping *mapping, uint32_t *count);

#endif
