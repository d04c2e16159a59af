/* SPDX-License-Identifier: MIT */
/* Fields from numbers of a plan. */
#include "lower/dma/encode.h"

#include "ir/layout/layout.h"

#include <string.h>

enum { GROUP1 = 4 * 32, GROUP2 = 12 * 32, GROUP3 = 16 * 32 };

bool tj_dma_is_constant(const tj_dma_plan *plan) {
  bool is_constant = tj_is_constant(plan->base);
  for (uint32_t d = 0; d < plan->dimension_count; d++)
    is_constant =
        is_constant && tj_is_constant(plan->dimension[d].extent) && tj_is_constant(plan->dimension[d].stride);
  for (uint32_t i = 0; i < plan->repeat_count; i++)
    is_constant = is_constant && tj_is_constant(plan->repeat[i].step);
  return is_constant;
}

/* Adds what a coordinate along a mode, or a part of one, is in the dimensions, and leaves what is of parts behind it.
 * The last leaf takes all that is left: tiles may begin behind the tensor. */
static void add_coordinate(const tj_tuple *extent, const tj_tuple *factor, bool is_last, int64_t *coordinate,
                           int64_t place[]) {
  if (tj_tuple_is_list(extent)) {
    for (uint32_t i = 0; i < extent->count; i++)
      add_coordinate(extent->item[i], factor->item[i], is_last && i + 1 == extent->count, coordinate, place);
    return;
  }
  int64_t length = extent->value->value, digit = is_last ? *coordinate : *coordinate % length;
  *coordinate /= length;
  if (factor->kind == TJ_TUPLE_BASIS)
    place[factor->path[0]] += digit * factor->value->value;
}

tj_dma_issue tj_dma_issue_of(const tj_dma_plan *plan, const int64_t tile[], int64_t number) {
  const tj_layout modes = plan->coordinates->layout;
  tj_dma_issue issue = {.lds = 0};
  for (uint32_t d = 0; d < plan->dimension_count; d++)
    issue.coordinate[d] = tj_tuple_mode(plan->coordinates->offset, d)->value->value;
  for (uint32_t m = 0; m < tj_tuple_rank(modes.shape); m++) {
    int64_t left = tile[m];
    add_coordinate(tj_tuple_mode(modes.shape, m), tj_tuple_mode(modes.stride, m), true, &left, issue.coordinate);
  }
  for (uint32_t i = 0; i < plan->repeat_count; i++) {
    const tj_dma_repeat *repeat = &plan->repeat[i];
    if (i == plan->iterated)
      continue;
    int64_t times = number % repeat->count;
    number /= repeat->count;
    issue.coordinate[repeat->dimension] += times * repeat->step->value;
    issue.lds += times * repeat->lds * plan->unit_bytes;
  }
  return issue;
}

/* --- descriptors --- */

static void put(uint32_t dword[], unsigned first, unsigned count, uint64_t value) {
  for (unsigned i = 0; i < count; i++)
    dword[(first + i) / 32] |= (uint32_t)(value >> i & 1) << (first + i) % 32;
}

/* What is left of a dimension, at most the box. */
static int64_t valid_of(const tj_dma_plan *plan, const tj_dma_issue *issue, uint32_t d) {
  const tj_dma_dimension *of = &plan->dimension[d];
  int64_t first = issue->coordinate[d], left = of->extent->value - first;
  if (!of->may_overrun)
    return of->box;
  return first < 0 || left < 0 ? 0 : left < of->box ? left : of->box;
}

static bool is_empty(const tj_dma_plan *plan, const tj_dma_issue *issue) {
  for (uint32_t d = 0; d < plan->dimension_count; d++) {
    if (valid_of(plan, issue, d) == 0)
      return true;
  }
  return false;
}

/* Of a box without elements, the tensor's own. */
static uint64_t address_of(const tj_dma_plan *plan, const tj_dma_issue *issue, uint64_t address) {
  uint64_t units = (uint64_t)plan->base->value;
  for (uint32_t d = 0; d < plan->dimension_count && !is_empty(plan, issue); d++)
    units += (uint64_t)issue->coordinate[d] * (uint64_t)plan->dimension[d].stride->value;
  return address + units * plan->unit_bytes;
}

static void put_dimensions(const tj_dma_plan *plan, const tj_dma_issue *issue, uint32_t dword[]) {
  static const struct {
    unsigned valid, tile, stride;
  } field[TJ_DMA_DIMENSIONS] = {{GROUP1 + 48, GROUP1 + 112, 0},
                                {GROUP1 + 80, GROUP1 + 128, GROUP1 + 160},
                                {GROUP2, GROUP1 + 144, GROUP1 + 208},
                                {GROUP2 + 32, GROUP2 + 112, GROUP2 + 64},
                                {GROUP3 + 48, GROUP3 + 80, GROUP3}};
  for (uint32_t d = 0; d < plan->rank; d++) {
    put(dword, field[d].valid, 32, d == 0 && is_empty(plan, issue) ? 0 : (uint64_t)valid_of(plan, issue, d));
    put(dword, field[d].tile, 16, (uint64_t)plan->dimension[d].box);
    if (d > 0)
      put(dword, field[d].stride, 48, (uint64_t)plan->dimension[d].stride->value);
  }
}

/* Iterations need a second dimension: of one row where the box has none. */
static void put_iterations(const tj_dma_plan *plan, uint32_t dword[]) {
  const tj_dma_repeat *repeat = &plan->repeat[plan->iterated];
  uint64_t step = (uint64_t)(repeat->step->value * plan->dimension[repeat->dimension].stride->value);
  put(dword, GROUP1 + 19, 1, 1);
  put(dword, GROUP2 + 32, 32, (uint64_t)repeat->lds);
  put(dword, GROUP2 + 64, 48, step);
  put(dword, GROUP2 + 112, 16, (uint64_t)repeat->count - 1);
  if (plan->rank == 1) {
    put(dword, GROUP1 + 80, 32, 1);
    put(dword, GROUP1 + 128, 16, 1);
    put(dword, GROUP1 + 160, 48, (uint64_t)plan->dimension[0].box);
  }
}

void tj_dma_encode(const tj_dma_plan *plan, const tj_dma_issue *issue, uint64_t address, uint32_t lds,
                   uint32_t dword[TJ_TENSOR_DESCRIPTOR_DWORDS]) {
  memset(dword, 0, TJ_TENSOR_DESCRIPTOR_DWORDS * sizeof *dword);
  put(dword, 0, 2, 1);
  put(dword, 32, 32, lds + (uint64_t)issue->lds);
  put(dword, 64, 57, address_of(plan, issue, address));
  put(dword, 126, 2, 2);
  put(dword, GROUP1 + 16, 2, (uint64_t)__builtin_ctz(plan->unit_bytes));
  put_dimensions(plan, issue, dword);
  if (plan->iterated != TJ_DMA_NO_REPEAT)
    put_iterations(plan, dword);
  if (plan->pad_interval != 0) {
    put(dword, GROUP1 + 20, 1, 1);
    put(dword, GROUP1 + 22, 3, (uint64_t)__builtin_ctz(plan->pad_interval) - 1);
    put(dword, GROUP1 + 25, 7, plan->pad - 1);
  }
}

uint32_t tj_dma_dwords(const tj_dma_plan *plan) {
  return plan->rank > 2 || plan->iterated != TJ_DMA_NO_REPEAT ? 20 : 12;
}

/* --- tensor maps --- */

tj_tensor_map tj_dma_tensor_map(const tj_dma_plan *plan, uint64_t address) {
  tj_tensor_map map = {.element_bytes = plan->unit_bytes, .rank = plan->rank, .swizzle = plan->swizzle};
  map.address = address + (uint64_t)plan->base->value * plan->unit_bytes;
  for (uint32_t d = 0; d < plan->rank; d++) {
    map.extent[d] = (uint64_t)plan->dimension[d].extent->value;
    map.box[d] = (uint32_t)plan->dimension[d].box;
    map.element_stride[d] = 1;
    if (d > 0)
      map.stride[d - 1] = (uint64_t)plan->dimension[d].stride->value * plan->unit_bytes;
  }
  return map;
}
