/* SPDX-License-Identifier: MIT */
/* The arithmetic of copies: what elements become, where on their way, and which numbers of the launch that takes. */
#ifndef TJ_LOWER_ARITHMETIC_H
#define TJ_LOWER_ARITHMETIC_H

#include "ir/array/array.h"
#include "ir/value/value.h"
#include "lower/kernel/kernel.h"

/* The type of elements in registers and in LDS: the narrower one of both buffers', where one destination takes all
 * that there is to take, or all take the same; otherwise the source's. */
tj_dtype tj_arithmetic_carried(const tj_kernel_definition *definition, const tj_kernel *kernel);

/* What the definition says of a copy between the kernel's buffers, whose carried type is known: its statement, or its
 * scale and bias. TJ4004 where elements are raw bits, TJ4017 where the arithmetic's type does not hold scale or bias.
 */
tj_arithmetic tj_arithmetic_make(tj_graph *graph, const tj_kernel_definition *definition, const tj_kernel *kernel);

/* Its statements, or the one that its scale and bias are, between elements of two types; NULL: it has neither. */
const tj_array_program *tj_arithmetic_program(tj_graph *graph, const tj_kernel_definition *definition, tj_dtype from,
                                              tj_dtype to);

/* What is stored in a buffer; NULL where elements are only converted. */
const tj_array *tj_arithmetic_value(const tj_kernel *kernel, uint32_t buffer);

/* Gives each source of a copy so many slots, with the types of what they hold. */
void tj_set_source_slots(tj_graph *graph, tj_kernel *kernel, uint32_t slots);

/* The program of a kernel, whether it is a copy or not; NULL: it has none. */
const tj_array_program *tj_kernel_program(const tj_kernel *kernel);
/* Whether elements are neither computed nor converted, nor looked up by those of another type. */
bool tj_kernel_only_moves(const tj_kernel *kernel);

/* The expression that an INTEGER of a copy's program is, in the kernel's own parameters. */
const tj_node *tj_arithmetic_integer(tj_graph *graph, const tj_kernel *kernel, const tj_array *array);
/* Those of all: as many as are returned, at most as many as the program has arrays. */
uint32_t tj_arithmetic_integers(tj_graph *graph, const tj_kernel *kernel, const tj_node *integer[]);

#endif
