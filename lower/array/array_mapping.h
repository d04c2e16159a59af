/* SPDX-License-Identifier: MIT */
/* Shapes of rows as mappings, and mappings as shapes of rows.
 *
 * The domain has a mode of rows and one of columns, whichever there are. Work-items are the lanes of a row, then
 * rows; slots are neighbouring columns, then those a turn of all lanes further on:
 *
 *     tile=(rows, columns), load=((lanes,rows),(width,repeats)):((width@1,1@0),(1@1,(lanes*width)@1))
 *
 * Rows that go through LDS have lds=(rows,columns):(columns,1), where what the tile has beyond the row takes no
 * place, and slots for further rows, which a work-item takes one after the other.
 *
 * A tile may end beyond the row. Where it is shorter and rows are reduced, they pass by in a loop; elsewhere other
 * workgroups have what is left of them. On the host, of rows that are split, and of columns of a lane that are
 * `apart` otherwise, no mapping says who has what. */
#ifndef TJ_LOWER_ARRAY_MAPPING_H
#define TJ_LOWER_ARRAY_MAPPING_H

#include "lower/array/array_shape.h"

/* The mapping of a shape; NULL: there is none. */
const struct tj_mapping *tj_array_mapping_of(const tj_array_space *space, const tj_array_shape *shape,
                                             const tj_target *target);

/* The shape that kernel->mapped says. TJ4020 where it is none of rows, TJ4016 where workgroups have not so many
 * work-items. */
tj_array_shape tj_array_shape_as_mapped(const tj_array_space *space, const tj_kernel *kernel,
                                        const tj_target *target);

#endif
