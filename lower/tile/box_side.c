/* SPDX-License-Identifier: MIT */
/* What a copy's source is to the planner of boxes: a layout that has the source's elements from coordinate 0 on, as
 * far as they are valid. That the strides which guide mappings are those of its offsets is proved, not believed. */
#include "lower/tile/box_side.h"

#include "base/text.h"
#include "ir/index/facts.h"
#include "ir/index/substitute.h"
#include "ir/simplify/simplify.h"
#include "ir/value/value.h"
#include "lower/dma/encode.h"

#include <inttypes.h>

typedef struct {
  tj_graph *graph;
  const tj_box_problem *problem;
  uint32_t rank;
  const tj_node *first; /* the element at coordinate 0 */
  const tj_node **extent, **stride;
} tensor;

/* --- the source as a layout --- */

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

static const char *obstacle_of_source(tensor *t) {
  bool has_strides = true;
  for (uint32_t m = 0; m < t->rank; m++) {
    t->extent[m] = t->problem->domain->mode[m].extent;
    t->stride[m] = tj_domain_stride(t->problem->domain, TJ_OPERAND_SOURCE, m);
    has_strides = has_strides && t->stride[m] != NULL;
  }
  if (!end_modes(t, t->problem->source.valid))
    return "elements that are not in the source are not behind its end along a mode of the domain";
  t->first = !has_strides ? NULL
                          : tj_domain_origin(t->graph, t->problem->domain, TJ_OPERAND_SOURCE, UINT64_MAX,
                                             t->problem->coordinate, t->problem->source.offset);
  return t->first != NULL ? NULL : "the source does not step evenly along the modes of the domain";
}

static const tj_tuple *list_of(const tensor *t, const tj_node *const node[]) {
  const tj_tuple **item = TJ_NEW_ARRAY(t->graph->job, const tj_tuple *, t->rank);
  for (uint32_t m = 0; m < t->rank; m++)
    item[m] = tj_tuple_integer(t->graph, node[m]);
  return tj_tuple_list(t->graph, item, t->rank);
}

/* --- instructions --- */

static void write_words(const tensor *t, const tj_dma_plan *plan, uint32_t number, tj_boxes *boxes) {
  tj_graph *graph = t->graph;
  const tj_dma_place place = {
      .tile = t->problem->base,
      .number = tj_int(graph, number),
      .address = tj_simplified(graph, tj_mul(graph, t->first, tj_int(graph, t->problem->element_bytes))),
      .lds = tj_int(graph, 0)};
  tj_dma_instruction made = tj_dma_instruction_of(graph, plan, &place);
  boxes->word[number] = TJ_NEW_ARRAY(graph->job, const tj_node *, boxes->word_count);
  for (uint32_t i = 0; i < boxes->word_count; i++)
    boxes->word[number][i] = made.dword[i];
  tj_simplify(graph, boxes->word[number], boxes->word_count, NULL);
}

static tj_dma_plan plan_of(const tensor *t, const tj_dma_engine *engine) {
  tj_graph *graph = t->graph;
  tj_layout layout = tj_layout_make(graph, list_of(t, t->extent), list_of(t, t->stride));
  const tj_dma_request request = {.graph = graph,
                                  .engine = engine,
                                  .element_bytes = t->problem->element_bytes,
                                  .tensor = tj_value_of_layout(graph, layout),
                                  .tile = tj_value_of_tuple(graph, t->problem->mapping->tile),
                                  .lds = t->problem->mapping->lds,
                                  .tensor_span = graph->job->here,
                                  .tile_span = graph->job->here,
                                  .lds_span = graph->job->here};
  return tj_dma_plan_of(&request);
}

const char *tj_find_boxes(tj_graph *graph, const tj_box_problem *problem, tj_boxes *boxes) {
  const tj_dma_engine *engine = tj_dma_engine_of(problem->target->processor);
  uint32_t rank = problem->domain->count;
  tensor t = {graph, problem, rank, .extent = TJ_NEW_ARRAY(graph->job, const tj_node *, rank + 1),
              .stride = TJ_NEW_ARRAY(graph->job, const tj_node *, rank + 1)};
  if (engine == NULL || problem->target->family->emit_box == NULL)
    return tj_string_format(graph->job, "kernels of %s have no engine that brings tiles into LDS",
                            problem->target->name);
  const char *obstacle = obstacle_of_source(&t);
  if (obstacle != NULL)
    return obstacle;
  tj_dma_plan plan = plan_of(&t, engine);
  if (plan.obstacle != NULL)
    return plan.obstacle;
  if (plan.instructions > TJ_MOST_BOXES)
    return tj_string_format(graph->job, "a tile takes %" PRId64 " instructions, more than %d", plan.instructions,
                            TJ_MOST_BOXES);
  boxes->count = (uint32_t)plan.instructions;
  boxes->word_count = tj_dma_dwords(&plan);
  for (uint32_t i = 0; i < boxes->count; i++)
    write_words(&t, &plan, i, boxes);
  return NULL;
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
