/* The rest of CuTe's layout algebra: everything that layout.h does not declare.
 *
 * Semantics, structure of results included, are CuTe C++'s on static integers. Extents and strides may be symbolic
 * wherever the facts decide what an operation has to know; otherwise it fails with TJ2015. */
#ifndef TJ_IR_ALGEBRA_H
#define TJ_IR_ALGEBRA_H

#include "ir/layout.h"

/* The structure of a layout's codomain, with zeros as leaves. */
const tj_tuple *tj_layout_coprofile(tj_graph *graph, tj_layout layout);

#endif
