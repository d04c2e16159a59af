/* SPDX-License-Identifier: MIT */
/* Operands: a kernel's views of its buffers, whether written as layouts, composed layouts or views. */
#ifndef TJ_LOWER_OPERAND_H
#define TJ_LOWER_OPERAND_H

#include "ir/value/value.h"
#include "lower/kernel/kernel.h"

typedef struct {
  const tj_value *value;
  const tj_view *view;          /* NULL: a layout or a composed layout */
  const tj_tuple *shape;        /* the domain */
  uint32_t rank;                /* top-level modes */
  const tj_node *const *extent; /* of each top-level mode */
  const tj_node *size;
  const tj_node *element_count; /* the least buffer that holds every element */
} tj_operand;

/* TJ4001 for a value that has no offsets; TJ4008 where an offset may be negative. */
tj_operand tj_operand_make(tj_graph *graph, const tj_value *value);

/* TJ4008 where a valid coordinate surely reaches outside of the buffer; where that is not sure, accesses are masked.
 */
void tj_operand_check_inside(tj_graph *graph, const tj_operand *operand);

/* A layout whose modes of one element are as long as those of another operand of its rank, and step nowhere; other
 * operands as they are. */
tj_operand tj_operand_repeated(tj_graph *graph, const tj_operand *operand, const tj_operand *whole);

/* The coordinate of a linear one in the operand's own order: colexicographic for layouts, row-major for views. */
const tj_tuple *tj_operand_coordinate(tj_graph *graph, const tj_operand *operand, const tj_node *index);

/* The element at a coordinate, which must lie in the domain: raw offset and the view's own predicate. */
tj_access tj_operand_raw_access(tj_graph *graph, const tj_operand *operand, const tj_tuple *coordinate);
/* The same, its predicate extended so that the offset is inside the buffer wherever it holds. */
tj_access tj_operand_access(tj_graph *graph, const tj_operand *operand, uint32_t buffer, const tj_tuple *coordinate);

/* Whether the operand is plain row-major: the last mode contiguous, each other as far apart as those after it are
 * large, from offset 0 on. */
bool tj_operand_is_row_major(tj_graph *graph, const tj_operand *operand);
/* Column-major: the same with the first mode contiguous. */
bool tj_operand_is_column_major(tj_graph *graph, const tj_operand *operand);

#endif
