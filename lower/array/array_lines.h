/* SPDX-License-Identifier: MIT */
/* Rows that begin anywhere in memory, whose vectors begin where lines do. */
#ifndef TJ_LOWER_ARRAY_LINES_H
#define TJ_LOWER_ARRAY_LINES_H

#include "lower/array/array_shape.h"

/* Finds where rows begin, of as many arguments as lie alike: each has its columns side by side, and rows of it begin
 * where those of the others do, or so many elements further. */
void tj_array_find_begin(tj_array_space *space);

/* Columns of rows, at most, whose vectors may begin apart where these have to be aligned: of rows of several waves,
 * all arguments have to lie alike, since those that do not are loaded element by element, in lanes that are far
 * apart. */
int64_t tj_array_most_begun(const tj_array_space *space, const tj_target *target);

/* Of how many elements, a power of two, vectors of such a shape begin at multiples: as many as lines have, as far as
 * there are lanes for all that is before the first vector and behind the last one. 0: they begin with the row. */
uint32_t tj_array_begins_at(const tj_array_space *space, const tj_kernel *kernel, const tj_target *target,
                            const tj_array_shape *shape);

#endif
