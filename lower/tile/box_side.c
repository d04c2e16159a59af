/* SPDX-License-Identifier: MIT */
/* What a copy's source or destination is to the planner of boxes: a layout that has its elements from coordinate 0
 * on, as far as they are valid. That the strides which guide mappings are those of its offsets is proved, not
 * believed. */
#include "lower/tile/box_side.h"

#include "base/text.h"
#include "ir/index/facts.h"
#include "ir/index/substitute.h"
#include "ir/layout/leaves.h"
#include "ir/simplify/simplify.h"
#include "ir/value/value.h"
#include "lower/dma/encode.h"
#include "lower/kernel/arithmetic.h"
#include "lower/lds/direct.h"
#include "lower/tile/tile_edge.h"

#include <inttypes.h>

typedef struct {
  tj_graph *graph;
  const tj_box_problem *problem;
  uint32_t rank;
  const tj_node *first;             /* the element at coordinate 0 */
  const tj_node **length;           /* of the modes of the domain */
  const tj_node **extent, **stride; /* and what is valid of them */
} tensor;

/* --- operands as layouts --- */

/* Ends a mode where a truth does: `coordinate < end`. */
static bool end_mode(tensor *t, const tj_node *truth) {
  for (uint32_t m = 0; m < t->rank && truth->op == TJ_OP_LESS; m++) {
    const tj_node *end = truth->arg[1];
    if (truth->arg[0] != t->problem->coordinate[m] || !tj_is_constant(end) || end->value < 1)
      continue;
    t->extent[m] = tj_simplified(t->graph, tj_min(t->graph, t->extent[m], end));
    return true;
  }
  return false;
}

/* Whether what is valid ends along modes, and that is all. */
static bool end_modes(tensor *t, const tj_node *truth) {
  if (truth == NULL || (tj_is_constant(truth) && truth->value != 0))
    return true;
  if (truth->op == TJ_OP_AND)
    return end_modes(t, truth->arg[0]) && end_modes(t, truth->arg[1]);
  return end_mode(t, truth);
}

static const char *obstacle_of_operand(tensor *t) {
  const uint32_t operand = t->problem->is_stored ? TJ_OPERAND_DESTINATION : TJ_OPERAND_SOURCE;
  const char *name = t->problem->is_stored ? "destination" : "source";
  bool has_strides = true;
  for (uint32_t m = 0; m < t->rank; m++) {
    t->length[m] = t->extent[m] = t->problem->domain->mode[m].extent;
    t->stride[m] = tj_domain_stride(t->problem->domain, operand, m);
    has_strides = has_strides && t->stride[m] != NULL;
  }
  if (!end_modes(t, t->problem->any.valid))
    return tj_string_format(
        t->graph->job, "elements that are not in the %s are not behind its end along a mode of the domain", name);
  t->first = !has_strides ? NULL
                          : tj_domain_origin(t->graph, t->problem->domain, operand, UINT64_MAX,
                                             t->problem->coordinate, t->problem->any.offset);
  return t->first != NULL
             ? NULL
             : tj_string_format(t->graph->job, "the %s does not step evenly along the modes of the domain", name);
}

/* --- instructions --- */

/* Bytes from the buffer's address to the tensor's. */
static const tj_node *address_of(const tensor *t) {
  return tj_simplified(t->graph, tj_mul(t->graph, t->first, tj_int(t->graph, t->problem->element_bytes)));
}

static void write_words(const tensor *t, const tj_dma_plan *plan, uint32_t number, tj_boxes *boxes) {
  tj_graph *graph = t->graph;
  const tj_dma_place place = {.tile = t->problem->base,
                              .number = tj_int(graph, number),
                              .address = address_of(t),
                              .lds = tj_int(graph, t->problem->lds)};
  tj_dma_instruction made = tj_dma_instruction_of(graph, plan, &place);
  const tj_node **word = TJ_NEW_ARRAY(graph->job, const tj_node *, boxes->word_count);
  for (uint32_t i = 0; i < boxes->word_count; i++)
    word[i] = boxes->map == NULL ? made.dword[i] : i < boxes->map->rank ? made.coordinate[i] : made.lds;
  tj_simplify(graph, word, boxes->word_count, NULL);
  boxes->word[number] = word;
}

/* --- tensor maps --- */

static const tj_box_map *map_of(const tensor *t, const tj_dma_plan *plan) {
  tj_graph *graph = t->graph;
  uint32_t unit_of_lds = plan->engine->lds_unit;
  const tj_node *unit = tj_int(graph, plan->unit_bytes);
  tj_box_map *map = TJ_NEW(graph->job, tj_box_map);
  *map = (tj_box_map){.buffer = t->problem->buffer,
                      .element_bytes = plan->unit_bytes,
                      .rank = plan->rank,
                      .swizzle = plan->swizzle,
                      .alignment = plan->engine->stride_unit,
                      .offset = tj_simplified(graph, tj_add(graph, address_of(t), tj_mul(graph, plan->base, unit))),
                      .barrier =
                          ((uint32_t)tj_dma_lds_bytes(graph, plan) + unit_of_lds - 1) / unit_of_lds * unit_of_lds};
  for (uint32_t d = 0; d < plan->rank; d++) {
    map->extent[d] = tj_simplified(graph, plan->dimension[d].extent);
    map->box[d] = (uint32_t)plan->dimension[d].box;
    if (d > 0)
      map->stride[d - 1] = tj_simplified(graph, tj_mul(graph, plan->dimension[d].stride, unit));
  }
  return map;
}

/* What instructions of a tensor map could not be given. */
static const char *obstacle_of_map(const tensor *t, const tj_boxes *boxes) {
  if (!tj_facts_divisible(&boxes->map->offset->facts, boxes->map->alignment))
    return tj_string_format(t->graph->job,
                            "the source's first element is not known to lie a multiple of %" PRIu32
                            " bytes behind its address",
                            boxes->map->alignment);
  for (uint32_t i = 0; i < boxes->count; i++) {
    for (uint32_t k = 0; k < boxes->word_count; k++) {
      const tj_facts *facts = &boxes->word[i][k]->facts;
      if (facts->low < INT32_MIN || facts->high > INT32_MAX)
        return "coordinates of boxes are not known to fit in 32 bits";
    }
  }
  return NULL;
}

/* The first `length` coordinates of a mode that has more of them. False where these are none of its own. */
static bool shorten_mode(tj_graph *graph, tj_layout mode, int64_t length, tj_layout *shorter) {
  tj_leaves leaves = {.count = 0};
  uint32_t count;
  const tj_tuple *const *extent = tj_tuple_leaves(graph, mode.shape, &count);
  const tj_tuple *const *stride = tj_tuple_leaves(graph, mode.stride, &count);
  for (uint32_t i = 0; i < count && length > 1; i++) {
    int64_t size = extent[i]->value->value, taken = size < length ? size : length;
    if (length % taken != 0 || leaves.count == TJ_MOST_LEAVES)
      return false;
    tj_leaves_put(&leaves, tj_tuple_constant(graph, taken), stride[i]);
    length /= taken;
  }
  *shorter = tj_leaves_mode(graph, &leaves);
  return true;
}

/* The layout in LDS of the tile, or its part, alone: modes of a mapping's may be longer. NULL where what is left of
 * one is none. */
static const tj_value *lds_of_part(tj_graph *graph, const tj_mapping *mapping) {
  const tj_value *lds = mapping->lds;
  if (lds == NULL || !tj_mapping_lds_is_by_mode(graph, mapping))
    return lds;
  const tj_layout *layout = tj_value_layout(lds);
  uint32_t rank = tj_mapping_rank(mapping);
  const tj_tuple **shape = TJ_NEW_ARRAY(graph->job, const tj_tuple *, rank);
  const tj_tuple **stride = TJ_NEW_ARRAY(graph->job, const tj_tuple *, rank);
  for (uint32_t m = 0; m < rank; m++) {
    tj_layout mode = {tj_tuple_mode(layout->shape, m), tj_tuple_mode(layout->stride, m)};
    int64_t length = tj_mapping_part_extent(mapping, m);
    if (tj_layout_size(graph, mode)->value > length && !shorten_mode(graph, mode, length, &mode))
      return NULL;
    shape[m] = mode.shape;
    stride[m] = mode.stride;
  }
  const tj_layout part = {tj_tuple_list(graph, shape, rank), tj_tuple_list(graph, stride, rank)};
  return lds->kind == TJ_VALUE_COMPOSED
             ? tj_value_of_parts(graph, lds->composed->swizzle, lds->composed->offset, part)
             : tj_value_of_layout(graph, part);
}

static tj_dma_plan plan_of(const tensor *t, const tj_dma_engine *engine) {
  tj_graph *graph = t->graph;
  const tj_value *lds = lds_of_part(graph, t->problem->mapping);
  if (lds == NULL && t->problem->mapping->lds != NULL)
    return (tj_dma_plan){
        .obstacle = "lds has a mode that is longer than the tile, and is no layout of what the tile has of it"};
  tj_layout layout = tj_layout_make(graph, tj_tuple_integers(graph, t->extent, t->rank),
                                    tj_tuple_integers(graph, t->stride, t->rank));
  const tj_dma_request request = {.graph = graph,
                                  .engine = engine,
                                  .element_bytes = t->problem->element_bytes,
                                  .tensor = tj_value_of_layout(graph, layout),
                                  .length = t->length,
                                  .tile = tj_value_of_tuple(graph, tj_mapping_part(graph, t->problem->mapping)),
                                  .lds = lds,
                                  .parts = t->problem->mapping->passes,
                                  .parted = tj_mapping_pass_mode(t->problem->mapping),
                                  .tensor_span = graph->job->here,
                                  .tile_span = graph->job->here,
                                  .lds_span = graph->job->here};
  return tj_dma_plan_of(&request);
}

/* Why no boxes move the tile, or its part; NULL: they do. */
static const char *find_boxes(tj_graph *graph, const tj_box_problem *problem, tj_boxes *boxes) {
  const tj_dma_engine *engine = tj_dma_engine_of(problem->target->processor);
  uint32_t rank = problem->domain->count;
  tensor t = {graph,
              problem,
              rank,
              .length = TJ_NEW_ARRAY(graph->job, const tj_node *, rank + 1),
              .extent = TJ_NEW_ARRAY(graph->job, const tj_node *, rank + 1),
              .stride = TJ_NEW_ARRAY(graph->job, const tj_node *, rank + 1)};
  if (engine == NULL || problem->target->family->emit_box == NULL)
    return tj_string_format(graph->job, "kernels of %s have no engine that brings tiles into LDS",
                            problem->target->name);
  if (problem->is_stored && engine->kind == TJ_DMA_TENSOR_MAP)
    return tj_string_format(graph->job, "kernels of %s take no tiles out of LDS by tensor maps",
                            problem->target->name);
  const char *obstacle = obstacle_of_operand(&t);
  if (obstacle != NULL)
    return obstacle;
  tj_dma_plan plan = plan_of(&t, engine);
  if (plan.obstacle != NULL)
    return plan.obstacle;
  if (problem->is_stored && plan.store_obstacle != NULL)
    return plan.store_obstacle;
  if (plan.instructions > TJ_MOST_BOXES)
    return tj_string_format(graph->job, "a tile takes %" PRId64 " instructions, more than %d", plan.instructions,
                            TJ_MOST_BOXES);
  boxes->count = (uint32_t)plan.instructions;
  boxes->map = engine->kind == TJ_DMA_TENSOR_MAP ? map_of(&t, &plan) : NULL;
  boxes->word_count = boxes->map != NULL ? plan.rank + 1 : tj_dma_dwords(&plan);
  for (uint32_t i = 0; i < boxes->count; i++)
    write_words(&t, &plan, i, boxes);
  return boxes->map != NULL ? obstacle_of_map(&t, boxes) : NULL;
}

/* --- tiles --- */

/* What an engine is asked for: the tile, or its part of a pass, of the source, or of the destination. */
static tj_box_problem problem_of(tj_graph *graph, const tj_box_tile *tile, const tj_node *const base[], uint32_t pass,
                                 bool is_stored) {
  const tj_tiling *tiling = tile->tiling;
  uint32_t operand = is_stored ? TJ_OPERAND_DESTINATION : TJ_OPERAND_SOURCE;
  uint32_t bytes = tj_element_bytes(tile->flat, TJ_LDS);
  uint32_t place = pass % tj_mapping_lds_parts(tiling->mapping, tiling->passes);
  return (tj_box_problem){.domain = tiling->domain,
                          .mapping = tiling->mapping,
                          .target = tile->target,
                          .coordinate = tile->coordinate,
                          .is_stored = is_stored,
                          .any = tile->any[operand],
                          .base = base,
                          .lds = place * (uint32_t)tj_mapping_lds_pitch(graph, tiling->mapping) * bytes,
                          .buffer = tj_flat_buffer(tile->flat, operand),
                          .element_bytes = bytes};
}

/* Where passes are alike, of any that has the buffer of that one. */
static const char *find_boxes_of_pass(tj_graph *graph, const tj_box_tile *tile, uint32_t pass, tj_boxes *boxes) {
  const tj_mapping *mapping = tile->tiling->mapping;
  const tj_node *number = tile->tiling->pass != NULL ? tile->tiling->pass : tj_int(graph, pass);
  uint32_t parted = tj_mapping_pass_mode(mapping), count = tile->tiling->domain->count;
  const tj_node **base = tj_arena_copy(&graph->job->arena, tile->base, (count + 1) * sizeof *base);
  const tj_node *part = tj_int(graph, tj_mapping_part_extent(mapping, parted));
  const tj_node *first = tj_mul(graph, number, part);
  base[parted] = tj_simplified(graph, tj_add(graph, base[parted], first));
  const tj_box_problem problem = problem_of(graph, tile, base, pass, false);
  const char *obstacle = find_boxes(graph, &problem, boxes);
  bool is_counted = obstacle == NULL && boxes->map != NULL && mapping->passes > 1;
  return is_counted ? "the boxes of a tensor map come all at once, not in passes" : obstacle;
}

/* Why tiles are not where engines find them. */
static const char *obstacle_of_tiles(const tj_tiling *tiling) {
  bool are_moved = false;
  for (uint32_t m = 0; m < tiling->domain->count; m++)
    are_moved = are_moved || tj_tile_piece(tiling, m) > 0;
  return are_moved ? "tiles that are moved back begin anywhere" : NULL;
}

const char *tj_boxes_that_load(tj_graph *graph, const tj_box_tile *tile, tj_boxes boxes[]) {
  const char *obstacle = tj_direct_obstacle_of_elements(tile->flat);
  obstacle = obstacle == NULL ? obstacle_of_tiles(tile->tiling) : obstacle;
  if (obstacle == NULL && tile->flat->fill != 0 && !tj_is_always(tile->any[TJ_OPERAND_SOURCE].valid))
    obstacle = "elements that are not in the source are zeros then, not the fill";
  const tj_tiling *tiling = tile->tiling;
  uint32_t parts = tj_mapping_lds_parts(tiling->mapping, tiling->passes);
  uint32_t count = tiling->pass != NULL ? parts : tiling->passes;
  for (uint32_t pass = 0; pass < count && obstacle == NULL; pass++)
    obstacle = find_boxes_of_pass(graph, tile, pass, &boxes[pass]);
  return obstacle;
}

const char *tj_boxes_that_store(tj_graph *graph, const tj_box_tile *tile, tj_boxes *boxes) {
  const tj_kernel *flat = tile->flat;
  if (tile->tiling->domain->other_count > 0)
    return "further sources and destinations have their elements in registers";
  if (flat->arithmetic.when == TJ_COMPUTED_STORING ||
      flat->buffer[tj_flat_buffer(flat, TJ_OPERAND_DESTINATION)].dtype != flat->carried)
    return "elements become others behind LDS";
  const char *obstacle = obstacle_of_tiles(tile->tiling);
  const tj_box_problem problem = problem_of(graph, tile, tile->base, 0, true);
  return obstacle != NULL ? obstacle : find_boxes(graph, &problem, boxes);
}

/* --- LDS --- */

bool tj_choose_box_lds(tj_graph *graph, const tj_box_problem *problem, bool is_packed, tj_lds_choice *chosen) {
  uint32_t *order = TJ_NEW_ARRAY(graph->job, uint32_t, problem->domain->count + 1);
  tj_domain_sort(graph, problem->domain, true, order);
  const tj_lds_problem where = {.mapping = problem->mapping,
                                .target = problem->target,
                                .work_items = tj_mapping_work_items(graph, &problem->mapping->store),
                                .element_bytes = problem->element_bytes,
                                .passes = 1,
                                .order = order,
                                .columns = (uint64_t)1 << order[0],
                                .is_brought = true,
                                .is_packed = is_packed};
  return tj_choose_lds(graph, &where, chosen);
}
