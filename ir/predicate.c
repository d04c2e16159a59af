/* Injectivity, surjectivity and equality of maps: from structure where it decides, or over F2, else by enumeration.
 */
#include "ir/predicate.h"

#include "ir/arith.h"
#include "ir/simplify.h"
#include "ir/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { ENUMERATION_LIMIT = 1 << 24 };

/* --- the structure of layouts --- */

/* The modes of an integer layout that have more than one coordinate, strides made positive, modes of stride 0 left
 * out but counted. */
typedef struct {
  const tj_node **extent, **stride;
  uint32_t count;
  bool repeats; /* some mode of stride 0 has several coordinates */
} mode_set;

/* False where the layout has basis strides, or where it is not known whether an extent is 1 or a stride is 0. */
static bool collect_modes(tj_graph *graph, tj_layout layout, mode_set *set) {
  uint32_t count;
  const tj_tuple *const *extents = tj_tuple_leaves(graph, layout.shape, &count);
  const tj_tuple *const *strides = tj_tuple_leaves(graph, layout.stride, &count);
  const tj_node *zero = tj_int(graph, 0), *one = tj_int(graph, 1);
  *set = (mode_set){.extent = TJ_NEW_ARRAY(graph->job, const tj_node *, count + 1),
                    .stride = TJ_NEW_ARRAY(graph->job, const tj_node *, count + 1)};
  for (uint32_t i = 0; i < count; i++) {
    if (strides[i]->kind != TJ_TUPLE_INTEGER)
      return false;
    tj_decision single = tj_decide_equal(graph, extents[i]->value, one);
    tj_decision still = tj_decide_equal(graph, strides[i]->value, zero);
    if (single == TJ_YES)
      continue;
    if (still == TJ_UNKNOWN || (still == TJ_YES && single == TJ_UNKNOWN))
      return false;
    if (still == TJ_YES) {
      set->repeats = true;
      continue;
    }
    set->extent[set->count] = extents[i]->value;
    set->stride[set->count++] = tj_absolute(graph, strides[i]->value);
  }
  return true;
}

static void swap_modes(mode_set *set, uint32_t a, uint32_t b) {
  const tj_node *extent = set->extent[a], *stride = set->stride[a];
  set->extent[a] = set->extent[b];
  set->stride[a] = set->stride[b];
  set->extent[b] = extent;
  set->stride[b] = stride;
}

/* Sorts by stride; false where the order of two strides is not known. */
static bool sort_modes(tj_graph *graph, mode_set *set) {
  for (uint32_t i = 1; i < set->count; i++) {
    for (uint32_t k = i; k > 0; k--) {
      if (tj_decide_less_equal(graph, set->stride[k - 1], set->stride[k]) == TJ_YES)
        break;
      if (tj_decide_less_equal(graph, set->stride[k], set->stride[k - 1]) != TJ_YES)
        return false;
      swap_modes(set, k - 1, k);
    }
  }
  return true;
}

/* Whether each stride is surely larger than everything that smaller ones reach together: then values are distinct. */
static bool modes_nest(tj_graph *graph, const mode_set *set) {
  const tj_node *reach = tj_int(graph, 0), *one = tj_int(graph, 1);
  for (uint32_t i = 0; i < set->count; i++) {
    if (tj_decide_less(graph, reach, set->stride[i]) != TJ_YES)
      return false;
    const tj_node *steps = tj_terse_sub(graph, set->extent[i], one);
    reach = tj_simplified(graph, tj_terse_add(graph, reach, tj_terse_mul(graph, steps, set->stride[i])));
  }
  return true;
}

/* What structure alone says of an integer layout. `distinct`: of its values without the modes of stride 0. */
typedef struct {
  bool is_known;
  bool repeats;
  const tj_node *distinct_count; /* where is_known */
} structure;

static structure structure_of(tj_graph *graph, tj_layout layout) {
  mode_set set;
  if (!collect_modes(graph, layout, &set) || !sort_modes(graph, &set) || !modes_nest(graph, &set))
    return (structure){.is_known = false};
  structure known = {.is_known = true, .repeats = set.repeats, .distinct_count = tj_int(graph, 1)};
  for (uint32_t i = 0; i < set.count; i++)
    known.distinct_count = tj_terse_mul(graph, known.distinct_count, set.extent[i]);
  return known;
}

/* --- enumeration --- */

/* The values of a map's valid coordinates, sorted. */
typedef struct {
  uint32_t width; /* integers of a value */
  int64_t *value;
  size_t count;
  int64_t *high;    /* the largest of each component */
  bool is_negative; /* some component of some value */
} image;

static int compare_values(const void *a, const void *b, void *width) {
  const int64_t *x = a, *y = b;
  for (uint32_t i = 0; i < *(const uint32_t *)width; i++) {
    if (x[i] != y[i])
      return x[i] < y[i] ? -1 : 1;
  }
  return 0;
}

static image enumerate(tj_graph *graph, const tj_value *map) {
  tj_table table = tj_table_open(graph, map, ENUMERATION_LIMIT);
  image all = {.width = table.result_count};
  all.value = TJ_NEW_ARRAY(graph->job, int64_t, (size_t)table.size * all.width + 1);
  all.high = TJ_NEW_ARRAY(graph->job, int64_t, all.width + 1);
  for (int64_t n = 0; n < table.size; n++, tj_table_advance(&table)) {
    if (!tj_table_evaluate(&table))
      continue;
    memcpy(all.value + all.count++ * all.width, table.result, all.width * sizeof *table.result);
    for (uint32_t i = 0; i < all.width; i++) {
      all.high[i] = table.result[i] > all.high[i] ? table.result[i] : all.high[i];
      all.is_negative |= table.result[i] < 0;
    }
  }
  if (all.width > 0)
    qsort_r(all.value, all.count, all.width * sizeof *all.value, compare_values, &all.width);
  return all;
}

static size_t distinct_values(const image *all) {
  size_t distinct = all->count > 0;
  for (size_t i = 1; i < all->count; i++) {
    const int64_t *value = all->value + i * all->width;
    distinct += memcmp(value, value - all->width, all->width * sizeof *value) != 0;
  }
  return distinct;
}

/* --- linear maps --- */

/* A map that is linear over F2 by its structure; else NULL. */
static const tj_f2 *linear_inside(tj_graph *graph, const tj_value *map) {
  const char *obstacle;
  bool has_structure = map->kind == TJ_VALUE_LAYOUT || map->kind == TJ_VALUE_COMPOSED ||
                       map->kind == TJ_VALUE_LINEAR || map->kind == TJ_VALUE_SWIZZLE;
  return has_structure ? tj_f2_of_value(graph, map, &obstacle) : NULL;
}

/* Whether the values, of which there are 2^rank, fill the box of the largest of each component. */
static bool linear_is_surjective(tj_graph *graph, const tj_f2 *map) {
  uint64_t space = 1;
  if (map->extends)
    return tj_f2_rank(graph, map) == map->bit_count;
  for (uint32_t i = 0; i < map->component_count; i++)
    if (__builtin_mul_overflow(space, tj_f2_largest(graph, map, i) + 1, &space))
      return false;
  return space == UINT64_C(1) << tj_f2_rank(graph, map);
}

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

/* Swizzles exchange values one to one: the layout inside decides. */
bool tj_is_injective(tj_graph *graph, const tj_value *map) {
  const tj_layout *layout = tj_value_layout(map);
  if (layout != NULL) {
    structure known = structure_of(graph, *layout);
    if (known.is_known)
      return !known.repeats;
  }
  const tj_f2 *linear = linear_inside(graph, map);
  if (linear != NULL)
    return tj_f2_rank(graph, linear) == linear->bit_count;
  image all = enumerate(graph, map);
  return distinct_values(&all) == all.count;
}

/* How many elements the map's own space has, given the values that it takes; saturates. */
static uint64_t space_of(tj_graph *graph, const tj_value *map, const image *all) {
  if (map->kind == TJ_VALUE_VIEW)
    return (uint64_t)tj_constant_value(graph, map->view->space_size, "a view's space");
  uint64_t space = 1;
  for (uint32_t i = 0; i < all->width; i++) {
    uint64_t length = (uint64_t)all->high[i] + 1;
    bool has_length = map->kind == TJ_VALUE_TRANSFORM && map->transform->lower_length[i] != NULL;
    if (has_length)
      length = (uint64_t)tj_constant_value(graph, map->transform->lower_length[i], "a lower length");
    if (__builtin_mul_overflow(space, length, &space))
      return UINT64_MAX;
  }
  return space;
}

bool tj_is_surjective(tj_graph *graph, const tj_value *map) {
  if (map->kind == TJ_VALUE_LAYOUT) {
    structure known = structure_of(graph, map->layout);
    if (known.is_known) {
      tj_decision full = tj_decide_equal(graph, known.distinct_count, tj_layout_cosize(graph, map->layout));
      if (full != TJ_UNKNOWN)
        return full == TJ_YES;
    }
  }
  const tj_f2 *linear = linear_inside(graph, map);
  if (linear != NULL)
    return linear_is_surjective(graph, linear);
  image all = enumerate(graph, map);
  return !all.is_negative && distinct_values(&all) == space_of(graph, map, &all);
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
  const tj_f2 *left_linear = linear_inside(graph, a);
  const tj_f2 *right_linear = left_linear == NULL ? NULL : linear_inside(graph, b);
  if (right_linear != NULL)
    return linear_maps_equal(graph, left_linear, right_linear, difference);
  if (tj_value_layout(a) != NULL && tj_value_layout(b) != NULL)
    return layouts_equal(graph, a, b, difference);
  tj_map left = tj_map_of_value(graph, a), right = tj_map_of_value(graph, b);
  if (left.row_major != right.row_major || !tj_tuple_equal(left.domain, right.domain))
    return false;
  return equal_by_enumeration(graph, a, b, difference);
}
