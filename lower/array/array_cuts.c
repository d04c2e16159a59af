/* SPDX-License-Identifier: MIT */
/* Comparisons in masks, solved for the column. */
#include "lower/array/array_cuts.h"

#include "ir/index/substitute.h"
#include "ir/index/walk.h"
#include "ir/simplify/simplify.h"

const tj_node *tj_array_at_column(const tj_array_space *space, const tj_node *node, const tj_node *column) {
  const tj_node *from[] = {space->column};
  tj_substitute(space->graph, &(tj_substitution){from, &column, 1}, &node, 1);
  return tj_simplified(space->graph, node);
}

/* Whether an expression is of parameters alone: neither of the row nor of what an index says. */
static bool is_of_parameters(tj_graph *graph, const tj_node *node) {
  tj_walk walk = tj_walk_briefly(graph, &node, 1);
  uint32_t i = 0;
  while (i < walk.count && (walk.node[i]->op != TJ_OP_SYMBOL || walk.node[i]->symbol->kind == TJ_SYMBOL_PARAMETER))
    i++;
  return i == walk.count;
}

/* The first column, or the first one beyond, for which a < b; NULL: it depends on more than the column, or not as the
 * column itself does. */
static const tj_node *cut_of(const tj_array_space *space, const tj_node *less) {
  tj_graph *graph = space->graph;
  const tj_node *zero = tj_int(graph, 0), *one = tj_int(graph, 1);
  const tj_node *above = tj_sub(graph, less->arg[1], less->arg[0]);
  const tj_node *first = tj_array_at_column(space, above, zero), *second = tj_array_at_column(space, above, one);
  const tj_node *slope = tj_simplified(graph, tj_sub(graph, second, first));
  if (!is_of_parameters(graph, first) || (!tj_is_int(slope, 1) && !tj_is_int(slope, -1)))
    return NULL;
  const tj_node *line = tj_add(graph, first, tj_mul(graph, slope, space->column));
  if (!tj_is_int(tj_simplified(graph, tj_sub(graph, above, line)), 0))
    return NULL;
  return tj_is_int(slope, -1) ? first : tj_simplified(graph, tj_sub(graph, one, first));
}

static bool is_before(tj_graph *graph, const tj_node *a, const tj_node *b) {
  return tj_simplified(graph, tj_sub(graph, b, a))->facts.low >= 1;
}

/* Puts a cut where it belongs. */
static bool add_cut(tj_graph *graph, tj_array_cuts *cuts, const tj_node *cut) {
  uint32_t place = cuts->count;
  for (uint32_t i = 0; i < cuts->count; i++) {
    if (cuts->at[i] == cut)
      return true;
  }
  while (place > 0 && is_before(graph, cut, cuts->at[place - 1]))
    place--;
  bool is_ordered = place == 0 || is_before(graph, cuts->at[place - 1], cut);
  if (!is_ordered || cuts->count == sizeof cuts->at / sizeof *cuts->at)
    return false;
  for (uint32_t i = cuts->count++; i > place; i--)
    cuts->at[i] = cuts->at[i - 1];
  cuts->at[place] = cut;
  return true;
}

/* The cuts of a mask. */
static bool add_cuts(const tj_array_space *space, tj_array_cuts *cuts, const tj_node *valid) {
  tj_graph *graph = space->graph;
  tj_walk walk = tj_walk_nodes(graph, &valid, 1);
  for (uint32_t i = 0; i < walk.count; i++) {
    const tj_node *cut = walk.node[i]->op == TJ_OP_LESS ? cut_of(space, walk.node[i]) : NULL;
    bool is_within = cut != NULL && cut->facts.low >= 1 && is_before(graph, cut, space->columns.size);
    if (is_within && !add_cut(graph, cuts, cut))
      return false;
  }
  return true;
}

const tj_array_cuts *tj_array_find_cuts(const tj_array_space *space) {
  tj_array_cuts *cuts = TJ_NEW(space->graph->job, tj_array_cuts);
  for (uint32_t i = 0; i < space->argument_count; i++) {
    if (space->is_array[i] && !add_cuts(space, cuts, space->access[i].valid))
      return NULL;
  }
  return cuts->count > 0 ? cuts : NULL;
}

const tj_node *tj_array_part(tj_graph *graph, const tj_node *begin, const tj_node *behind) {
  const tj_node *last = tj_simplified(graph, tj_sub(graph, behind, tj_int(graph, 1)));
  return tj_symbol_create(graph, "j", TJ_SYMBOL_COORDINATE, begin, last, 1);
}

const tj_node *tj_array_between_cuts(const tj_array_space *space, const tj_node *part, const tj_node *truth) {
  const tj_node *column = space->column;
  if (part == NULL)
    return truth;
  truth = tj_array_at_column(space, truth, part);
  tj_substitute(space->graph, &(tj_substitution){&part, &column, 1}, &truth, 1);
  return truth;
}
