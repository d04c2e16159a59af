/* SPDX-License-Identifier: MIT */
/* What engines for boxes of tensors can do: the rows of engine.def. Immutable; any thread may read them. */
#ifndef TJ_BASE_DMA_ENGINE_H
#define TJ_BASE_DMA_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TJ_DMA_DIMENSIONS = 5 };

typedef enum {
  TJ_DMA_DESCRIPTOR, /* AMD's: each box has a descriptor of its own, which begins at its first element */
  TJ_DMA_TENSOR_MAP  /* NVIDIA's: a tensor has one map, and instructions give the coordinates of boxes */
} tj_dma_kind;

typedef struct {
  const char *processor; /* as LLVM names it */
  tj_dma_kind kind;
  uint32_t dimensions; /* at most */
  int64_t most_extent; /* of a dimension; 0: any, as descriptors hold what is left of it in the box */
  int64_t most_box;    /* of a dimension */
  int64_t stride_end;  /* strides are less: in elements of descriptors, in bytes of tensor maps */
  uint32_t
      stride_unit; /* strides, the tensor's address, and where boxes begin in a row are multiples of so many bytes */
  uint32_t row_unit;   /* the bytes of a box along dimension 0 are a multiple of it */
  uint32_t lds_unit;   /* and so is its place in LDS */
  uint32_t store_unit; /* bytes of a row that stores write at once: some of them may lie behind it */
  uint32_t least_interval, most_interval, most_pad; /* of pads in LDS, in dwords; zeros: none */
  uint32_t most_iterations, iterated_dimensions;    /* zeros: no descriptor iterates */
  uint32_t most_rows;                               /* that a descriptor gathers by indices of 16 bits; 0: none */
  uint32_t most_swizzle;                            /* bytes; 0: none */
} tj_dma_engine;

/* NULL where the processor has none. A letter may follow NVIDIA's names, as in sm_90a. */
const tj_dma_engine *tj_dma_engine_of(const char *processor);

/* Whether an engine leaves pads of so many bytes in LDS, each behind an interval of so many that it writes. */
bool tj_dma_can_pad(const tj_dma_engine *engine, int64_t interval, int64_t pad);

extern const tj_dma_engine tj_dma_engines[];
extern const size_t tj_dma_engine_count;

#endif
