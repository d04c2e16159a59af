/* Faster kernels: those that do what a kernel does with wider vectors, where the launch's parameters allow them. */
#ifndef TJ_LOWER_FASTER_H
#define TJ_LOWER_FASTER_H

#include "ir/substitute.h"
#include "lower/domain.h"
#include "lower/kernel.h"

/* Assumes of every parameter of the domain's modes that vectors of `multiple` elements fit: parameters, and symbols
 * that stand for them and are known to be multiples. */
tj_substitution tj_assume_multiples(tj_graph *graph, const tj_domain *domain, int64_t multiple);

/* The domain in terms of what is assumed. */
const tj_domain *tj_assumed_domain(tj_graph *graph, const tj_domain *domain, const tj_substitution *assumed);

/* The narrowest of a kernel's accesses of a buffer. */
uint32_t tj_narrowest_access(const tj_kernel *kernel, tj_step_kind kind);

/* Whether the kernel's arithmetic is known to fit in 64 bits: tile by tile, some parts of an expression may be larger
 * than all of it ever is. */
bool tj_kernel_fits(tj_graph *graph, const tj_kernel *kernel);

/* Makes `faster` what the launch takes in the place of `kernel` where the parameters are multiples, if its accesses
 * are wider. It may be NULL. */
void tj_offer_faster(tj_graph *graph, tj_kernel *kernel, tj_kernel *faster, const tj_substitution *assumed,
                     int64_t multiple);

#endif
