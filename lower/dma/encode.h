/* SPDX-License-Identifier: MIT */
/* Instructions of a plan whose extents and strides are constants. */
#ifndef TJ_LOWER_DMA_ENCODE_H
#define TJ_LOWER_DMA_ENCODE_H

#include "lower/dma/decode.h"
#include "lower/dma/dma.h"

/* An instruction of a tile: where its box begins, in the plan's dimensions, and in LDS in bytes. */
typedef struct {
  int64_t coordinate[TJ_DMA_MOST_PLACES];
  int64_t lds;
} tj_dma_issue;

bool tj_dma_is_constant(const tj_dma_plan *plan);

/* The `number`-th instruction of the tile that begins at a coordinate of the tensor, of as many entries as it has
 * modes: multiples of the tile's extents, inside the tensor. The plan is constant. */
tj_dma_issue tj_dma_issue_of(const tj_dma_plan *plan, const int64_t tile[], int64_t number);

/* The bits of a descriptor, of a tensor at an address and of a tile at a place in LDS; of a plan of descriptors. */
void tj_dma_encode(const tj_dma_plan *plan, const tj_dma_issue *issue, uint64_t address, uint32_t lds,
                   uint32_t dword[TJ_TENSOR_DESCRIPTOR_DWORDS]);

/* Dwords of the groups that the instruction needs: 12, or 20. */
uint32_t tj_dma_dwords(const tj_dma_plan *plan);

/* The tensor map of a tensor at an address; of a plan of tensor maps. */
tj_tensor_map tj_dma_tensor_map(const tj_dma_plan *plan, uint64_t address);

#endif
