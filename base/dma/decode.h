/* SPDX-License-Identifier: MIT */
/* What an engine does with a descriptor, or with a tensor map and coordinates, element by element: an independent
 * statement of what AMD's ISA guide and the CUDA driver's documentation say, and of what an H100 does that they leave
 * open, for simulated GPUs and for tests. It knows nothing of plans. */
#ifndef TJ_BASE_DMA_DECODE_H
#define TJ_BASE_DMA_DECODE_H

#include "tilejit/runtime.h"

#include <stdbool.h>
#include <stdint.h>

enum {
  TJ_TENSOR_DESCRIPTOR_DWORDS = 20, /* groups of 4, 8, 4 and 4 */
  TJ_DMA_MOST_ROWS = 16             /* that a descriptor gathers, by indices of 16 bits; of 32 bits half of them */
};

/* `element_bytes` at `lds` are those at `address`, or zeros where `is_filled`: it lies beyond the tensor. Stores
 * write it to `address` where it `is_stored`, which some beyond a tensor's rows are. */
typedef struct {
  uint64_t address, lds;
  uint32_t element_bytes;
  bool is_filled, is_stored;
} tj_dma_element;

/* False: no more of them. */
typedef bool (*tj_dma_visitor)(const tj_dma_element *element, void *data);

/* tensor_load_to_lds. False for what is no descriptor that a program may give. */
bool tj_dma_decode_descriptor(const uint32_t dword[TJ_TENSOR_DESCRIPTOR_DWORDS], tj_dma_visitor visit, void *data);

/* How many rows a descriptor gathers by their indices, 0 where it does not; and the index of one of them. */
uint32_t tj_dma_gathered_rows(const uint32_t dword[TJ_TENSOR_DESCRIPTOR_DWORDS]);
uint32_t tj_dma_row_index(const uint32_t dword[TJ_TENSOR_DESCRIPTOR_DWORDS], uint32_t row);

/* Whether the driver makes tensor maps of such boxes: of elements of 1, 2, 4 or 8 bytes, at most 256 along each mode,
 * whose rows are multiples of 16 bytes and fit into those of the swizzle. */
bool tj_dma_allows_boxes(uint32_t element_bytes, uint32_t swizzle, const uint32_t box[], uint32_t rank);

/* cp.async.bulk.tensor of a box that begins at `coordinate`, to a place in shared memory; or from there, where
 * tj_dma_can_store. False for what the driver would not make a map of, and for what is no place or no coordinate for
 * the instruction. */
bool tj_dma_decode_map(const tj_tensor_map *map, const int32_t coordinate[], uint64_t lds, tj_dma_visitor visit,
                       void *data);

/* Whether boxes may be stored from `coordinate` on: not before the tensor. */
bool tj_dma_can_store(const tj_tensor_map *map, const int32_t coordinate[]);

#endif
