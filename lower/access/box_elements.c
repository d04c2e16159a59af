/* SPDX-License-Identifier: MIT */
#include "lower/access/box_elements.h"

/* Nodes where symbols are bound; `status` is the first that is not well. */
typedef struct {
  const tj_bindings *bindings;
  tj_eval_status status;
} evaluation;

static int64_t value_of(evaluation *e, const tj_node *node) {
  int64_t value = 0;
  tj_eval_status status = tj_eval_nodes(&node, 1, e->bindings, &value);
  e->status = e->status == TJ_EVAL_OK ? status : e->status;
  return value;
}

static tj_tensor_map map_of(evaluation *e, const tj_box_map *map) {
  tj_tensor_map made = {.element_bytes = map->element_bytes,
                        .rank = map->rank,
                        .address = (uint64_t)value_of(e, map->offset),
                        .swizzle = map->swizzle};
  for (uint32_t d = 0; d < map->rank; d++) {
    made.extent[d] = (uint64_t)value_of(e, map->extent[d]);
    made.stride[d] = d + 1 < map->rank ? (uint64_t)value_of(e, map->stride[d]) : 0;
    made.box[d] = map->box[d];
    made.element_stride[d] = 1;
  }
  return made;
}

tj_eval_status tj_visit_box(const tj_kernel *kernel, const tj_kernel_step *step, const tj_bindings *bindings,
                            tj_dma_visitor visit, void *data) {
  evaluation e = {bindings, TJ_EVAL_OK};
  uint32_t word[TJ_TENSOR_DESCRIPTOR_DWORDS] = {0};
  int32_t coordinate[TJ_TENSOR_MAP_DIMENSIONS] = {0};
  const tj_box_map *map = kernel->map;
  const tj_tensor_map made = map != NULL ? map_of(&e, map) : (tj_tensor_map){.rank = 0};
  for (uint32_t i = 0; i < step->word_count; i++)
    word[i] = (uint32_t)value_of(&e, step->word[i]);
  for (uint32_t d = 0; d < made.rank; d++)
    coordinate[d] = (int32_t)word[d];
  if (e.status == TJ_EVAL_OK && map == NULL)
    tj_dma_decode_descriptor(word, visit, data);
  else if (e.status == TJ_EVAL_OK)
    tj_dma_decode_map(&made, coordinate, word[made.rank], visit, data);
  return e.status;
}
