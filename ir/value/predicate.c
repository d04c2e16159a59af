/* SPDX-License-Identifier: MIT */
/* Injectivity and surjectivity, which the image of a map decides, and equality of maps: from structure where it
 * decides, or over F2, else by enumeration. */
#include "ir/value/predicate.h"

#include "ir/layout/arith.h"
#include "ir/simplify/simplify.h"
#include "ir/value/map_image.h"
#include "ir/value/table.h"

#include <string.h>

enum { ENUMERATION_LIMIT = 1 << 24 };

/* --- linear maps --- */

static uint32_t first_different_bit(const tj_f2 *a, const tj_f2 *b) {
  uint32_t bit = 0, width = a->component_count;
  while (bit < a->bit_count &&
         memcmp(a->basis + (size_t)bit * width, b->basis + (size_t)bit * width, width * sizeof *a->basis) == 0)
    bit++;
  return bit;
}

/* By linear coordinate: where the values of all bits agree, all values do, and until the first bit that differs. */
static bool linear_maps_equal(tj_graph *graph, const tj_f2 *a, const tj_f2 *b, const tj_tuple **difference) {
  if (a->extends && b->extends) {
    uint32_t bits = a->bit_count > b->bit_count ? a->bit_count : b->bit_count;
    a = tj_f2_restrict(graph, a, bits);
    b = tj_f2_restrict(graph, b, bits);
  }
  if (a->extends != b->extends || a->bit_count != b->bit_count)
    return false;
  bool congruent = tj_tuple_congruent(a->codomain, b->codomain);
  uint32_t bit = congruent ? first_different_bit(a, b) : 0;
  if (congruent && bit == a->bit_count)
    return true;
  const tj_tuple *index = tj_tuple_constant(graph, congruent ? INT64_C(1) << bit : 0);
  *difference = tj_idx2crd(graph, index, a->domain, NULL);
  return false;
}

/* --- injective, surjective --- */

bool tj_is_injective(tj_graph *graph, const tj_value *map) {
  return tj_map_image_decide(graph, map, TJ_IMAGE_INJECTIVE).is_injective == TJ_YES;
}

bool tj_is_surjective(tj_graph *graph, const tj_value *map) {
  return tj_map_image_decide(graph, map, TJ_IMAGE_SURJECTIVE).is_surjective == TJ_YES;
}

/* --- equality --- */

static const tj_tuple *coordinate_of(const tj_table *table) {
  const tj_tuple **leaves = TJ_NEW_ARRAY(table->graph->job, const tj_tuple *, table->rank + 1);
  for (uint32_t i = 0; i < table->rank; i++)
    leaves[i] = tj_tuple_constant(table->graph, table->coordinate[i]);
  return tj_tuple_from_leaves(table->graph, table->domain, leaves);
}

static bool same_value(const tj_table *a, const tj_table *b) {
  return memcmp(a->result, b->result, a->result_count * sizeof *a->result) == 0;
}

static bool equal_by_enumeration(tj_graph *graph, const tj_value *a, const tj_value *b, const tj_tuple **difference) {
  tj_table left = tj_table_open(graph, a, ENUMERATION_LIMIT), right = tj_table_open(graph, b, ENUMERATION_LIMIT);
  bool same_codomain = tj_tuple_congruent(left.output, right.output);
  for (int64_t n = 0; n < left.size; n++, tj_table_advance(&left), tj_table_advance(&right)) {
    bool left_valid = tj_table_evaluate(&left), right_valid = tj_table_evaluate(&right);
    bool equal = left_valid == right_valid && (!left_valid || (same_codomain && same_value(&left, &right)));
    if (equal)
      continue;
    *difference = coordinate_of(&left);
    return false;
  }
  return true;
}

/* Whether two layouts of one size simplify to the same expressions of a linear coordinate. */
static bool same_expressions(tj_graph *graph, const tj_value *a, const tj_value *b, const tj_node *size) {
  const tj_tuple *index = tj_tuple_integer(graph, tj_coordinate(graph, "n", size));
  const tj_value *left = tj_value_simplified(graph, tj_value_of_tuple(graph, tj_value_at(graph, a, index)));
  const tj_value *right = tj_value_simplified(graph, tj_value_of_tuple(graph, tj_value_at(graph, b, index)));
  return tj_tuple_equal(left->tuple, right->tuple);
}

static bool is_constant_tuple(tj_graph *graph, const tj_tuple *tuple) {
  uint32_t count;
  const tj_tuple *const *leaves = tj_tuple_leaves(graph, tuple, &count);
  for (uint32_t i = 0; i < count; i++) {
    if (!tj_is_constant(leaves[i]->value))
      return false;
  }
  return true;
}

static bool layouts_equal(tj_graph *graph, const tj_value *a, const tj_value *b, const tj_tuple **difference) {
  const tj_layout *left = tj_value_layout(a), *right = tj_value_layout(b);
  const tj_node *size = tj_layout_size(graph, *left);
  tj_decision sizes = tj_decide_equal(graph, size, tj_layout_size(graph, *right));
  if (sizes == TJ_NO)
    return false;
  if (sizes == TJ_UNKNOWN)
    tj_fail_needs(graph, "equal", size, "==", tj_layout_size(graph, *right));
  if (same_expressions(graph, a, b, size))
    return true;
  bool constant = is_constant_tuple(graph, left->shape) && is_constant_tuple(graph, left->stride) &&
                  is_constant_tuple(graph, right->shape) && is_constant_tuple(graph, right->stride);
  if (!constant)
    tj_fail(graph->job, TJ_NEEDS_FACT, "equal: the layouts are not known to be equal for all parameters");
  return equal_by_enumeration(graph, a, b, difference);
}

bool tj_maps_equal(tj_graph *graph, const tj_value *a, const tj_value *b, const tj_tuple **difference) {
  *difference = NULL;
  const tj_f2 *left_linear = tj_f2_inside(graph, a);
  const tj_f2 *right_linear = left_linear == NULL ? NULL : tj_f2_inside(graph, b);
  if (right_linear != NULL)
    return linear_maps_equal(graph, left_linear, right_linear, difference);
  if (tj_value_layout(a) != NULL && tj_value_layout(b) != NULL)
    return layouts_equal(graph, a, b, difference);
  tj_map left = tj_map_of_value(graph, a), right = tj_map_of_value(graph, b);
  if (left.row_major != right.row_major || !tj_tuple_equal(left.domain, right.domain))
    return false;
  return equal_by_enumeration(graph, a, b, difference);
}
