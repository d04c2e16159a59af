/* SPDX-License-Identifier: MIT */
/* Descriptors that gather: rows of one dimension that lie anywhere, by a table of their indices. */
#ifndef TJ_LOWER_DMA_GATHER_H
#define TJ_LOWER_DMA_GATHER_H

#include "lower/dma/dma.h"
#include "lower/dma/lds_order.h"

/* Has the descriptor of a plan whose box is a row do repeats of it that go on in LDS where the last one ends: as many
 * as it has indices for. Leaves plan and order as they are where there are none, or where indices may be too large.
 */
void tj_dma_gather(tj_graph *graph, tj_dma_plan *plan, tj_dma_lds_order *written);

/* Simplified. */
const tj_node *tj_dma_product(tj_graph *graph, const tj_node *a, const tj_node *b);

/* Units from row to row of a repeat that is gathered. */
const tj_node *tj_dma_row_stride(tj_graph *graph, const tj_dma_plan *plan, const tj_dma_repeat *repeat);

/* Whether rows have positions of their own along a dimension, and not all that of the first. */
bool tj_dma_is_gathered(const tj_dma_plan *plan, uint32_t dimension);

/* Units from box to box along a dimension. */
const tj_node *tj_dma_box_stride(tj_graph *graph, const tj_dma_plan *plan, uint32_t dimension);

#endif
