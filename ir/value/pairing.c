/* SPDX-License-Identifier: MIT */
/* What has to be equal for two values to be: a layout by its index, a layout and a view mode by mode, maps of one
 * domain at one's coordinates. */
#include "ir/value/pairing.h"

#include "ir/index/facts.h"
#include "ir/index/print.h"
#include "ir/index/substitute.h"
#include "ir/simplify/simplify.h"
#include "ir/value/equivalence.h"

#include <inttypes.h>

/* --- the expressions of a value --- */

/* What a value is at its inputs. `domain` is NULL for integers and tuples. */
typedef struct {
  const tj_tuple *domain, *input, *output;
  const tj_node *valid; /* NULL: always */
} expression;

/* A tuple of one as its element. */
static const tj_tuple *element_of(tj_graph *graph, const tj_tuple *output) {
  output = tj_tuple_expand_basis(graph, output);
  while (tj_tuple_is_list(output) && output->count == 1)
    output = output->item[0];
  return output;
}

static expression expression_of(tj_graph *graph, const tj_value *value) {
  if (value->kind == TJ_VALUE_TUPLE)
    return (expression){.output = element_of(graph, value->tuple)};
  tj_map map = tj_map_of_value(graph, value);
  return (expression){map.domain, map.input, map.output, map.valid};
}

/* --- one map at the inputs of another --- */

/* Replaces the symbols `from` by `to` in all roots. */
static void substitute_all(tj_graph *graph, const tj_tuple *from, const tj_tuple *to, const tj_node *roots[],
                           uint32_t root_count) {
  uint32_t count;
  const tj_tuple *const *old = tj_tuple_leaves(graph, from, &count);
  const tj_tuple *const *new = tj_tuple_leaves(graph, to, &count);
  const tj_node **symbol = TJ_NEW_ARRAY(graph->job, const tj_node *, (size_t)count + 1);
  const tj_node **value = TJ_NEW_ARRAY(graph->job, const tj_node *, (size_t)count + 1);
  for (uint32_t i = 0; i < count; i++) {
    symbol[i] = old[i]->value;
    value[i] = new[i]->value;
  }
  tj_substitute(graph, &(tj_substitution){symbol, value, count}, roots, root_count);
}

/* --- pairing --- */

static uint32_t leaves_of(tj_graph *graph, const tj_tuple *tuple, const tj_node **nodes) {
  uint32_t count;
  const tj_tuple *const *leaves = tj_tuple_leaves(graph, tj_tuple_expand_basis(graph, tuple), &count);
  for (uint32_t i = 0; i < count; i++) {
    if (leaves[i]->kind != TJ_TUPLE_INTEGER)
      tj_fail(graph->job, TJ_WRONG_TYPE, "only integers can be equal, not %s", tj_tuple_text(graph->job, leaves[i]));
    nodes[i] = leaves[i]->value;
  }
  return count;
}

/* Values count only where they are valid, which both must be at the same coordinates. */
static void guard_by_validity(tj_graph *graph, tj_pairing *pairs, const tj_node *left, const tj_node *right) {
  const tj_node *zero = tj_int(graph, 0), *always = tj_int(graph, 1);
  if (left == NULL && right == NULL)
    return;
  left = left != NULL ? left : always;
  right = right != NULL ? right : always;
  for (uint32_t i = 0; i < pairs->count; i++) {
    pairs->left[i] = tj_select(graph, left, pairs->left[i], zero);
    pairs->right[i] = tj_select(graph, left, pairs->right[i], zero);
  }
  pairs->left[pairs->count] = left;
  pairs->right[pairs->count++] = right;
  pairs->has_validity = true;
}

/* Says what differs, where that is not a case. */
static bool differ(tj_pairing *pairs, const char *why) {
  pairs->why = why;
  return false;
}

static const char *structure_text(tj_graph *graph, const tj_tuple *output) {
  uint32_t rank = tj_tuple_rank(output);
  return tj_tuple_is_list(output)
             ? tj_string_format(graph->job, "of %" PRIu32 " component%s", rank, rank == 1 ? "" : "s")
             : "integers";
}

/* False where the structures differ. */
static bool pair(tj_graph *graph, const expression *a, const expression *b, tj_pairing *pairs) {
  const tj_tuple *left = tj_tuple_expand_basis(graph, a->output), *right = tj_tuple_expand_basis(graph, b->output);
  if (!tj_tuple_congruent(left, right))
    return differ(pairs,
                  tj_tuple_rank(left) == tj_tuple_rank(right) && tj_tuple_is_list(left) == tj_tuple_is_list(right)
                      ? "values of another structure"
                      : tj_string_format(graph->job, "values %s and %s", structure_text(graph, left),
                                         structure_text(graph, right)));
  uint32_t most = tj_tuple_leaf_count(left) + 1;
  pairs->left = TJ_NEW_ARRAY(graph->job, const tj_node *, most);
  pairs->right = TJ_NEW_ARRAY(graph->job, const tj_node *, most);
  pairs->count = leaves_of(graph, a->output, pairs->left);
  leaves_of(graph, b->output, pairs->right);
  const tj_node *valid = b->valid;
  if (b->input != NULL) {
    substitute_all(graph, b->input, a->input, pairs->right, pairs->count);
    if (valid != NULL)
      substitute_all(graph, b->input, a->input, &valid, 1);
  }
  guard_by_validity(graph, pairs, a->valid, valid);
  return true;
}

/* Whether two extents are equal for all parameters, by any of the ways; else what they are. */
static bool same_extent(tj_graph *graph, const tj_node *a, const tj_node *b, const char *what, tj_pairing *pairs) {
  if (tj_prove_equal(graph, a, b) || tj_is_equal(tj_equivalence_of_nodes(graph, a, b).verdict))
    return true;
  return differ(pairs, tj_string_format(graph->job, "%s %s and %s", what, tj_node_brief(graph->job, a),
                                        tj_node_brief(graph->job, b)));
}

static bool pair_layouts(tj_graph *graph, const tj_value *a, const tj_value *b, tj_pairing *pairs) {
  const tj_node *size = tj_layout_size(graph, *tj_value_layout(a));
  if (!same_extent(graph, size, tj_layout_size(graph, *tj_value_layout(b)), "sizes", pairs))
    return false;
  const tj_tuple *index = tj_tuple_integer(graph, tj_coordinate(graph, "i", size));
  expression left = {.output = tj_value_at(graph, a, index)}, right = {.output = tj_value_at(graph, b, index)};
  return pair(graph, &left, &right, pairs);
}

static const tj_node *size_of_mode(tj_graph *graph, const tj_tuple *shape, uint32_t mode) {
  return tj_layout_size(graph, tj_layout_of_shape(graph, tj_tuple_mode(shape, mode)));
}

/* A coordinate of a domain as one of a layout of as many modes, of the same sizes: the index of each. */
static const tj_tuple *coordinate_of_modes(tj_graph *graph, const tj_tuple *domain, const tj_tuple *input,
                                           const tj_tuple *shape) {
  uint32_t rank = tj_tuple_rank(shape);
  const tj_tuple **index = TJ_NEW_ARRAY(graph->job, const tj_tuple *, rank + 1);
  for (uint32_t i = 0; i < rank; i++) {
    tj_layout mode = tj_layout_of_shape(graph, tj_tuple_mode(domain, i));
    index[i] = tj_layout_apply(graph, mode, tj_tuple_mode(input, i));
  }
  return tj_tuple_is_list(shape) ? tj_tuple_list(graph, index, rank) : index[0];
}

/* A layout and the map of a view or the like: mode by mode the sizes of dimensions, at the map's coordinates. What
 * has one component is told by views as an integer, by distributions as a tuple of one: both are its element. */
static bool pair_with_layout(tj_graph *graph, const tj_value *layout, const expression *map, bool is_left,
                             tj_pairing *pairs) {
  const tj_layout *of = tj_value_layout(layout);
  uint32_t rank = tj_tuple_rank(of->shape);
  if (rank != tj_tuple_rank(map->domain))
    return differ(pairs, tj_string_format(graph->job, "%" PRIu32 " and %" PRIu32 " dimensions",
                                          is_left ? rank : tj_tuple_rank(map->domain),
                                          is_left ? tj_tuple_rank(map->domain) : rank));
  for (uint32_t i = 0; i < rank; i++) {
    const tj_node *mode = size_of_mode(graph, of->shape, i);
    const tj_node *length = size_of_mode(graph, map->domain, i);
    const char *what = tj_string_format(graph->job, "in dimension %" PRIu32 " lengths", i);
    if (!same_extent(graph, is_left ? mode : length, is_left ? length : mode, what, pairs))
      return false;
  }
  const tj_tuple *coordinate = coordinate_of_modes(graph, map->domain, map->input, of->shape);
  expression at = {map->domain, map->input, element_of(graph, tj_value_at(graph, layout, coordinate)), NULL};
  expression other = {map->domain, map->input, element_of(graph, map->output), map->valid};
  return is_left ? pair(graph, &at, &other, pairs) : pair(graph, &other, &at, pairs);
}

static bool same_domain(tj_graph *graph, const expression *left, const expression *right, tj_pairing *pairs) {
  const tj_tuple *a = left->domain, *b = right->domain;
  if (a == NULL && b == NULL)
    return true;
  if (a == NULL || b == NULL)
    return differ(pairs, a == NULL ? "an integer or a tuple, and a map" : "a map, and an integer or a tuple");
  uint32_t count;
  if (tj_tuple_rank(a) != tj_tuple_rank(b))
    return differ(pairs, tj_string_format(graph->job, "%" PRIu32 " and %" PRIu32 " dimensions", tj_tuple_rank(a),
                                          tj_tuple_rank(b)));
  if (!tj_tuple_congruent(a, b))
    return differ(pairs, tj_string_format(graph->job, "domains %s and %s", tj_tuple_text(graph->job, a),
                                          tj_tuple_text(graph->job, b)));
  const tj_tuple *const *x = tj_tuple_leaves(graph, a, &count), *const *y = tj_tuple_leaves(graph, b, &count);
  for (uint32_t i = 0; i < count; i++) {
    const char *what = tj_string_format(graph->job, "in dimension %" PRIu32 " lengths", i);
    if (!same_extent(graph, x[i]->value, y[i]->value, what, pairs))
      return false;
  }
  return true;
}

bool tj_pair_values(tj_graph *graph, const tj_value *a, const tj_value *b, tj_pairing *pairs) {
  bool is_left = tj_value_layout(a) != NULL, is_right = tj_value_layout(b) != NULL;
  if (is_left && is_right)
    return pair_layouts(graph, a, b, pairs);
  expression left = expression_of(graph, a), right = expression_of(graph, b);
  if (is_left && right.domain != NULL)
    return pair_with_layout(graph, a, &right, true, pairs);
  if (is_right && left.domain != NULL)
    return pair_with_layout(graph, b, &left, false, pairs);
  return same_domain(graph, &left, &right, pairs) && pair(graph, &left, &right, pairs);
}
