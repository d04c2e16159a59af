/* SPDX-License-Identifier: MIT */
/* Parts: the digits that a view's merge takes a dimension apart into, the leaves of a layout's mode. Both sides go
 * through their parts of a mode, fastest first, and take off what both have left. */
#include "lower/kernel/domain_parts.h"

#include "ir/index/facts.h"
#include "ir/layout/algebra.h"
#include "ir/layout/arith.h"
#include "ir/simplify/simplify.h"

enum { MOST_LEAVES = 16, SIDES = 2 };

typedef struct {
  const tj_node *extent, *stride;
} mode_part;

/* Of one mode, fastest first. */
typedef struct {
  mode_part *part;
  uint32_t count;
} part_list;

const tj_node *tj_integer_stride(const tj_tuple *stride) {
  return stride->kind == TJ_TUPLE_INTEGER ? stride->value : NULL;
}

/* --- modes as they are written --- */

/* The stride at which a mode begins to step; NULL for a basis element. */
static const tj_node *first_stride(tj_layout layout) {
  if (!tj_tuple_is_list(layout.shape))
    return tj_integer_stride(layout.stride);
  for (uint32_t i = 0; i < layout.shape->count; i++) {
    const tj_tuple *shape = layout.shape->item[i];
    bool is_single = !tj_tuple_is_list(shape) && tj_is_int(shape->value, 1);
    if (!is_single)
      return first_stride((tj_layout){shape, layout.stride->item[i]});
  }
  return NULL;
}

/* How far the first step along a dimension of a view moves; NULL where that is no expression of parameters. */
static const tj_node *first_step(tj_graph *graph, const tj_view *view, uint32_t dimension) {
  const tj_node **index = TJ_NEW_ARRAY(graph->job, const tj_node *, view->rank);
  const tj_node *offset[2];
  if (tj_is_int(view->hidden_length[view->visible[dimension]], 1))
    return NULL;
  for (uint32_t k = 0; k < view->rank; k++)
    index[k] = tj_int(graph, 0);
  for (int64_t at = 0; at < 2; at++) {
    index[dimension] = tj_int(graph, at);
    offset[at] = tj_view_offset(graph, view, index);
  }
  return tj_simplified(graph, tj_sub(graph, offset[1], offset[0]));
}

tj_layout tj_operand_layout(const tj_operand *operand) {
  return operand->value->kind == TJ_VALUE_LAYOUT ? operand->value->layout : operand->value->composed->layout;
}

static tj_layout mode_of(const tj_operand *operand, uint32_t mode) {
  tj_layout layout = tj_operand_layout(operand);
  return (tj_layout){tj_tuple_mode(layout.shape, mode), tj_tuple_mode(layout.stride, mode)};
}

static part_list whole_mode(tj_graph *graph, const tj_operand *operand, uint32_t mode) {
  part_list list = {TJ_NEW(graph->job, mode_part), 1};
  list.part[0].extent = operand->extent[mode];
  list.part[0].stride =
      operand->view != NULL ? first_step(graph, operand->view, mode) : first_stride(mode_of(operand, mode));
  return list;
}

/* --- modes in parts --- */

static part_list parts_of_layout(tj_graph *graph, tj_layout mode) {
  part_list list;
  const tj_tuple *const *extent = tj_tuple_leaves(graph, mode.shape, &list.count);
  const tj_tuple *const *stride = tj_tuple_leaves(graph, mode.stride, &list.count);
  list.part = TJ_NEW_ARRAY(graph->job, mode_part, list.count + 1);
  for (uint32_t i = 0; i < list.count; i++)
    list.part[i] = (mode_part){extent[i]->value, tj_integer_stride(stride[i])};
  return list;
}

/* Of `count` dimensions from `first` on, the last of which is the fastest. */
static part_list parts_of_view(tj_graph *graph, const tj_view *view, uint32_t first, uint32_t count) {
  part_list list = {TJ_NEW_ARRAY(graph->job, mode_part, count + 1), count};
  for (uint32_t i = 0; i < count; i++) {
    uint32_t dimension = first + count - 1 - i;
    list.part[i] = (mode_part){view->hidden_length[view->visible[dimension]], first_step(graph, view, dimension)};
  }
  return list;
}

/* All modes of an operand: NULL where it has too many parts. */
static const part_list *all_parts(tj_graph *graph, const tj_operand *operand) {
  part_list *lists = TJ_NEW_ARRAY(graph->job, part_list, operand->rank + 1);
  uint32_t parts[TJ_MAX_DIMENSIONS], first = 0;
  bool all[TJ_MAX_DIMENSIONS];
  if (operand->rank > MOST_LEAVES)
    return NULL;
  for (uint32_t m = 0; m < operand->rank; m++)
    all[m] = true;
  const tj_view *view = operand->view != NULL ? tj_view_below_merges(graph, operand->view, all, parts) : NULL;
  if (operand->view != NULL && view == NULL)
    return NULL;
  for (uint32_t m = 0; m < operand->rank; m++) {
    lists[m] =
        view != NULL ? parts_of_view(graph, view, first, parts[m]) : parts_of_layout(graph, mode_of(operand, m));
    first += lists[m].count;
  }
  return first <= MOST_LEAVES ? lists : NULL;
}

/* --- what both have in common --- */

/* The leaves of one mode. */
typedef struct {
  tj_common_leaf leaf[2 * MOST_LEAVES];
  uint32_t count;
  uint32_t leaves[SIDES][MOST_LEAVES]; /* of each part */
} meeting;

/* Where a side is. */
typedef struct {
  const part_list *list;
  uint32_t at;
  const tj_node *rest, *stride; /* of the part */
} place;

static void begin_part(place *p) {
  p->rest = p->at < p->list->count ? p->list->part[p->at].extent : NULL;
  p->stride = p->at < p->list->count ? p->list->part[p->at].stride : NULL;
}

static void skip_single_parts(place *p) {
  while (p->rest != NULL && tj_is_int(p->rest, 1)) {
    p->at++;
    begin_part(p);
  }
}

static bool divides(tj_graph *graph, const tj_node *divisor, const tj_node *node) {
  return tj_is_int(tj_simplified(graph, tj_mod(graph, node, divisor)), 0);
}

/* The rest of one side that divides that of the other; NULL: neither. */
static const tj_node *common_factor(tj_graph *graph, const place at[SIDES]) {
  if (tj_surely_equal(graph, at[0].rest, at[1].rest) || divides(graph, at[0].rest, at[1].rest))
    return at[0].rest;
  return divides(graph, at[1].rest, at[0].rest) ? at[1].rest : NULL;
}

static void take_off(tj_graph *graph, place *p, const tj_node *factor) {
  if (tj_surely_equal(graph, p->rest, factor)) {
    p->at++;
    begin_part(p);
    return;
  }
  p->rest = tj_simplified(graph, tj_div(graph, p->rest, factor));
  p->stride = p->stride != NULL ? tj_simplified(graph, tj_mul(graph, p->stride, factor)) : NULL;
}

/* False where the sides have no common parts. */
static bool meet(tj_graph *graph, const part_list *source, const part_list *destination, meeting *m) {
  place at[SIDES] = {{.list = source}, {.list = destination}};
  *m = (meeting){.count = 0};
  begin_part(&at[0]);
  begin_part(&at[1]);
  while (m->count < 2 * MOST_LEAVES) {
    skip_single_parts(&at[0]);
    skip_single_parts(&at[1]);
    if (at[0].rest == NULL || at[1].rest == NULL)
      return at[0].rest == at[1].rest && m->count > 0;
    const tj_node *factor = common_factor(graph, at);
    if (factor == NULL)
      return false;
    m->leaf[m->count++] = (tj_common_leaf){factor, {at[0].stride, at[1].stride}};
    for (int s = 0; s < SIDES; s++) {
      m->leaves[s][at[s].at]++;
      take_off(graph, &at[s], factor);
    }
  }
  return false;
}

/* --- domains --- */

typedef struct {
  tj_graph *graph;
  const tj_operand *operand[SIDES];
  bool *is_parted;
  tj_domain_side *side;
  uint32_t *parts[SIDES], *leaves[SIDES];
  uint32_t part_count[SIDES];
  tj_common_leaf *leaf;
  uint32_t leaf_count;
  const tj_tuple **item;
} parting;

static void check_modes(tj_graph *graph, const tj_operand *source, const tj_operand *destination) {
  if (source->rank != destination->rank)
    tj_fail_domains(graph, source, destination);
  for (uint32_t m = 0; m < source->rank; m++) {
    if (!tj_surely_equal(graph, source->extent[m], destination->extent[m]))
      tj_fail_domains(graph, source, destination);
  }
}

static void add_mode(parting *p, const meeting *m, const uint32_t parts[SIDES]) {
  const tj_tuple **extent = TJ_NEW_ARRAY(p->graph->job, const tj_tuple *, m->count);
  uint32_t mode = 0;
  for (uint32_t i = 0; i < m->count; i++) {
    p->leaf[p->leaf_count++] = m->leaf[i];
    extent[i] = tj_tuple_integer(p->graph, m->leaf[i].extent);
  }
  while (p->item[mode] != NULL)
    mode++;
  p->item[mode] = m->count == 1 ? extent[0] : tj_tuple_list(p->graph, extent, m->count);
  p->is_parted[mode] = parts[0] > 1 || parts[1] > 1;
  for (int s = 0; s < SIDES; s++) {
    p->parts[s][mode] = parts[s];
    for (uint32_t k = 0; k < parts[s]; k++)
      p->leaves[s][p->part_count[s]++] = m->leaves[s][k];
  }
}

static void add_whole_mode(parting *p, uint32_t mode) {
  part_list source = whole_mode(p->graph, p->operand[0], mode),
            destination = whole_mode(p->graph, p->operand[1], mode);
  meeting whole = {.leaf = {{destination.part[0].extent, {source.part[0].stride, destination.part[0].stride}}},
                   .count = 1,
                   .leaves = {{1}, {1}}};
  add_mode(p, &whole, (uint32_t[]){1, 1});
}

static parting begin_parting(tj_graph *graph, const tj_operand *source, const tj_operand *destination) {
  uint32_t rank = destination->rank, most = rank + 2 * MOST_LEAVES;
  parting p = {.graph = graph,
               .operand = {source, destination},
               .is_parted = TJ_NEW_ARRAY(graph->job, bool, rank + 1),
               .side = TJ_NEW_ARRAY(graph->job, tj_domain_side, SIDES),
               .leaf = TJ_NEW_ARRAY(graph->job, tj_common_leaf, most),
               .item = TJ_NEW_ARRAY(graph->job, const tj_tuple *, rank + 1)};
  for (int s = 0; s < SIDES; s++) {
    p.parts[s] = TJ_NEW_ARRAY(graph->job, uint32_t, rank + 1);
    p.leaves[s] = TJ_NEW_ARRAY(graph->job, uint32_t, most);
  }
  return p;
}

static void set_sides(parting *p) {
  for (int s = 0; s < SIDES; s++) {
    const tj_view *view = p->operand[s]->view;
    uint32_t parts[TJ_MAX_DIMENSIONS];
    bool is_parted = false;
    for (uint32_t m = 0; m < p->operand[s]->rank; m++)
      is_parted = is_parted || p->is_parted[m];
    if (view != NULL && is_parted)
      view = tj_view_below_merges(p->graph, view, p->is_parted, parts);
    p->side[s] = (tj_domain_side){view, p->parts[s], p->leaves[s]};
  }
}

tj_domain_parts tj_domain_parts_of(tj_graph *graph, const tj_operand *source, const tj_operand *destination,
                                   bool in_parts) {
  check_modes(graph, source, destination);
  parting p = begin_parting(graph, source, destination);
  const part_list *from = in_parts ? all_parts(graph, source) : NULL,
                  *to = in_parts ? all_parts(graph, destination) : NULL;
  for (uint32_t mode = 0; mode < destination->rank; mode++) {
    meeting m;
    bool may_part = from != NULL && to != NULL && (from[mode].count > 1 || to[mode].count > 1);
    if (may_part && meet(graph, &from[mode], &to[mode], &m))
      add_mode(&p, &m, (uint32_t[]){from[mode].count, to[mode].count});
    else
      add_whole_mode(&p, mode);
  }
  set_sides(&p);
  return (tj_domain_parts){tj_tuple_list(graph, p.item, destination->rank), p.side, p.leaf};
}

/* --- coordinates --- */

/* What leaves, fastest first, are together. */
static const tj_node *together(tj_graph *graph, const tj_node *const extent[], const tj_node *const leaf[],
                               uint32_t count) {
  if (count == 0)
    return tj_int(graph, 0);
  const tj_node *sum = leaf[0], *scale = extent[0];
  for (uint32_t i = 1; i < count; i++) {
    sum = tj_add(graph, sum, tj_mul(graph, leaf[i], scale));
    scale = tj_mul(graph, scale, extent[i]);
  }
  return sum;
}

static const tj_tuple *mode_in_parts(tj_graph *graph, const tj_tuple *shape, const tj_tuple *const part[],
                                     uint32_t count) {
  return tj_tuple_leaf_count(shape) == count ? tj_tuple_from_leaves(graph, shape, part) : part[0];
}

const tj_tuple *tj_domain_side_coordinate(tj_graph *graph, const tj_domain_side *side, const tj_operand *operand,
                                          const tj_node *const leaf_extent[], const tj_node *const leaf[]) {
  uint32_t rank = operand->rank, dimensions = 0, at = 0;
  const tj_tuple **item = TJ_NEW_ARRAY(graph->job, const tj_tuple *, rank + 2 * MOST_LEAVES);
  const uint32_t *leaves = side->leaves;
  for (uint32_t m = 0; m < rank; m++) {
    uint32_t count = side->parts[m];
    const tj_tuple **part = TJ_NEW_ARRAY(graph->job, const tj_tuple *, count);
    for (uint32_t i = 0; i < count; at += *leaves++, i++)
      part[i] = tj_tuple_integer(graph, together(graph, leaf_extent + at, leaf + at, *leaves));
    if (side->view == NULL)
      item[dimensions++] = mode_in_parts(graph, tj_tuple_mode(operand->shape, m), part, count);
    for (uint32_t i = count; i-- > 0 && side->view != NULL;)
      item[dimensions++] = part[i];
  }
  return tj_tuple_is_list(operand->shape) ? tj_tuple_list(graph, item, dimensions) : item[0];
}
