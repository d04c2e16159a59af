/* SPDX-License-Identifier: MIT */
/* Faster kernels: those that do what a kernel does with wider vectors or fewer masks, where the launch's parameters
 * allow them. */
#ifndef TJ_LOWER_VARIANT_H
#define TJ_LOWER_VARIANT_H

#include "ir/index/substitute.h"
#include "lower/kernel/domain.h"
#include "lower/kernel/kernel.h"

/* What a parameter, a symbol that stands for one, or an expression of them has to be: a multiple of `multiple`, at
 * least `low`, and at most `high`. */
typedef struct {
  const tj_node *node;
  int64_t multiple, low, high; /* high: INT64_MAX for any */
} tj_demand;

/* No demands: nothing is to be gained, or no parameters would do. */
typedef struct {
  const tj_demand *demand;
  uint32_t count;
} tj_demands;

/* What vectors of `multiple` elements demand of the parameters of the domain's modes, and what tiles of these extents
 * demand that are not to be masked; tile NULL: nothing. */
tj_demands tj_find_demands(tj_graph *graph, const tj_domain *domain, int64_t multiple, const int64_t tile[]);

/* The demands with one more, which is first, and stands for what they had of its node. */
tj_demands tj_demands_with(tj_graph *graph, const tj_demands *demands, tj_demand more);

/* What makes a size, a parameter or a sum of some, at most `most`, and each of its terms a multiple. */
tj_demands tj_demands_of_size(tj_graph *graph, const tj_node *size, int64_t multiple, int64_t most);

/* The demands of a size, of which it has to be at least `least` besides. */
tj_demands tj_demands_from(tj_graph *graph, const tj_demands *demands, const tj_node *size, int64_t least);

/* Whether each parameter's range has a value that meets the demands. */
bool tj_can_be_met(const tj_demands *demands);
/* Whether all values do, as far as facts show. */
bool tj_are_met(const tj_demands *demands);

/* Symbols that meet the demands, in the place of those that may not; in the place of an expression, one that is as
 * large wherever the demands are met, and shows that they are. */
tj_substitution tj_assume(tj_graph *graph, const tj_demands *demands);

/* Truth, of the symbols that the demands are made of: whether they are met. */
const tj_node *tj_demands_condition(tj_graph *graph, const tj_demands *demands);

/* The domain in terms of symbols that meet the demands. */
const tj_domain *tj_assumed_domain(tj_graph *graph, const tj_domain *domain, const tj_demands *demands);

/* The kernel's parameters in those terms. */
const tj_node *const *tj_assumed_parameters(tj_graph *graph, const tj_kernel *kernel, const tj_substitution *assumed);

/* A kernel that does what a flat one does by steps that are still to be made, in terms of what is assumed. */
tj_kernel *tj_kernel_in_place_of(tj_graph *graph, const tj_kernel *flat, const tj_substitution *assumed);

/* The narrowest of a kernel's accesses of a buffer. */
uint32_t tj_narrowest_access(const tj_kernel *kernel, uint32_t buffer);

/* Whether all accesses to a buffer are wider in `a` than one in `b`. */
bool tj_has_wider_accesses(const tj_kernel *a, const tj_kernel *b);

/* Whether the kernel can be compiled: its arithmetic is not too much, and known to fit in 64 bits. Tile by tile, some
 * parts of an expression may be larger than all of it ever is. */
bool tj_kernel_fits(tj_graph *graph, const tj_kernel *kernel);

/* Offers, for the kernel and each of its faster ones whose vectors facts show to be aligned in their buffers, one
 * that relies on buffers that are aligned as well: for targets that take vectors at whole ones alone. */
void tj_offer_aligned(tj_graph *graph, tj_kernel *kernel);

/* Makes `faster`, whose name gets this suffix, what the launch takes in the place of `kernel` where the demands are
 * met. */
void tj_offer_faster(tj_graph *graph, tj_kernel *kernel, tj_kernel *faster, const tj_demands *demands,
                     const char *suffix);

#endif
