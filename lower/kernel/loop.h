/* SPDX-License-Identifier: MIT */
/* Loops of kernels: making them, and leaving out what nobody needs. */
#ifndef TJ_LOWER_LOOP_H
#define TJ_LOWER_LOOP_H

#include "lower/kernel/kernel.h"

enum { TJ_MOST_CARRIED = 256 };

/* A loop of `trips` trips that carries nothing yet. */
tj_loop *tj_loop_make(tj_graph *graph, const tj_node *trips);

/* Carries one more integer, of which low <= integer <= high; either bound may be NULL: none. It is a multiple of
 * `multiple`. `initial` and `next` are the caller's to set. TJ7003 beyond TJ_MOST_CARRIED. */
tj_carried *tj_loop_carry(tj_graph *graph, tj_loop *loop, const char *name, const tj_node *low, const tj_node *high,
                          int64_t multiple);

/* The same, with what an expression's facts say of it on every trip. */
tj_carried *tj_loop_carry_like(tj_graph *graph, tj_loop *loop, const char *name, const tj_node *like);

/* An expression of the work-item and the counter, or in its place an integer that is carried, where every trip adds
 * the same to it. Simplified. */
const tj_node *tj_loop_reduced(tj_graph *graph, tj_loop *loop, const char *name, const tj_node *node);

/* Whether a node is the loop's counter, or a symbol that it carries. */
bool tj_loop_changes(const tj_loop *loop, const tj_node *node);

/* Carries, as it is, what the steps and what is carried take from `symbols`, the work-item's, and no trip changes:
 * after that neither depends on the symbols but by what is carried. */
void tj_loop_carry_invariants(tj_graph *graph, const tj_kernel *kernel, const tj_node *const symbols[],
                              uint32_t count);

/* Stops carrying what neither the kernel's steps nor anything else that is carried depends on. */
void tj_loop_prune(tj_graph *graph, const tj_kernel *kernel);

#endif
