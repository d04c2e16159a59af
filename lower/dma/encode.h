/* SPDX-License-Identifier: MIT */
/* Instructions of a plan: where their boxes begin, and the fields that they are given, as index expressions of the
 * tile's place, which are constants where that is. */
#ifndef TJ_LOWER_DMA_ENCODE_H
#define TJ_LOWER_DMA_ENCODE_H

#include "base/dma/decode.h"
#include "lower/dma/dma.h"

/* Of which instruction of which tile, and where: constants or symbols. */
typedef struct {
  const tj_node *const *tile; /* the first coordinate, of as many entries as the tensor has modes: multiples of the
                                 tile's extents, inside the tensor */
  const tj_node *number;      /* of the instruction; 0 <= number < instructions */
  const tj_node *address;     /* of the tensor's buffer */
  const tj_node *lds;         /* where the tile begins in LDS, in bytes */
} tj_dma_place;

typedef struct {
  const tj_node *coordinate[TJ_DMA_MOST_PLACES];     /* where the box begins, in the plan's dimensions */
  const tj_node *lds;                                /* and in LDS, in bytes */
  const tj_node *dword[TJ_TENSOR_DESCRIPTOR_DWORDS]; /* of a descriptor; all 0 for a tensor map */
} tj_dma_instruction;

tj_dma_instruction tj_dma_instruction_of(tj_graph *graph, const tj_dma_plan *plan, const tj_dma_place *place);

/* Dwords of the groups that instructions need: 12, or 20; 0 of a tensor map. */
uint32_t tj_dma_dwords(const tj_dma_plan *plan);

/* Whether no parameter decides extents, strides or steps. */
bool tj_dma_is_constant(const tj_dma_plan *plan);

/* The tensor map of a tensor at an address; of a constant plan of tensor maps. */
tj_tensor_map tj_dma_tensor_map(const tj_dma_plan *plan, uint64_t address);

#endif
