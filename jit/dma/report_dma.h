/* SPDX-License-Identifier: MIT */
/* Plans of tensor DMA as text and as JSON. */
#ifndef TJ_JIT_REPORT_DMA_H
#define TJ_JIT_REPORT_DMA_H

#include "base/text.h"
#include "lower/dma/dma.h"

/* What a report is about. */
typedef struct {
  const tj_dma_request *request;
  const tj_dma_plan *plan;
  const char *target, *dtype;
  const int64_t *at;             /* where the tile begins whose instructions are told */
  uint32_t rank;                 /* modes of the tensor */
  const tj_parameter *parameter; /* of the program that the tensor is from */
  uint32_t parameter_count;
} tj_dma_report;

/* Whether the engine moves tiles by a map of the tensor. */
static inline bool tj_dma_is_map(const tj_dma_report *report) {
  return report->request->engine->kind == TJ_DMA_TENSOR_MAP;
}

/* The driver's name of a swizzle in rows of so many bytes, 0, 32, 64 or 128: what follows CU_TENSOR_MAP_SWIZZLE_. */
const char *tj_dma_swizzle_name(uint32_t bytes);

void tj_dma_write_report(const tj_dma_report *report, tj_check_form form, tj_text *text);

#endif
