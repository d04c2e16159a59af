/* SPDX-License-Identifier: MIT */
/* Copies that look an index of their source, or of their destination, up in another buffer. */
#ifndef TJ_LOWER_GATHER_H
#define TJ_LOWER_GATHER_H

#include "lower/plan/race.h"

/* The three steps of a work-item: it loads an index, an element of the source, and stores that; the index says which
 * element of the source, or where in the destination it goes. TJ4001 where the indices are no integers, TJ4003 where
 * source, indices and destination do not agree. */
tj_kernel_step *tj_gather_steps(tj_graph *graph, const tj_kernel *kernel, const tj_kernel_definition *definition,
                                const tj_operand operands[]);

enum { TJ_GATHER_STEPS = 3 };

/* The linear coordinate of its work-items → modes of the operand that is not indexed, as the domain of a mapping;
 * NULL: there is one mode. TJ4024 where the definition's mapping has another domain. */
const tj_layout *tj_gather_elements(tj_graph *graph, const tj_kernel *kernel, const tj_kernel_definition *definition,
                                    const tj_operand operands[]);

/* The same, as far as races go: sources are the index that is looked up, and the element that index 0 stands for. */
tj_race_map tj_gather_race_map(tj_graph *graph, const tj_kernel *kernel, const tj_kernel_definition *definition,
                               const tj_operand operands[]);

/* TJ4001 where indices are no integers, or scatter_add adds to what is not added to. `name` is what the kernel calls
 * the indices. */
void tj_check_indices(tj_graph *graph, const char *name, const tj_kernel_buffer *indices);
void tj_check_sum(tj_graph *graph, const tj_kernel_buffer *destination);

/* TJ4010 where two coordinates of indices are one element. `note`: what to do about it; NULL: what the code says. */
void tj_check_indices_apart(tj_graph *graph, const tj_kernel_argument *argument, const tj_operand *indices,
                            const char *note);

#endif
