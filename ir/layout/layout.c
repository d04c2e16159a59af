/* SPDX-License-Identifier: MIT */
/* Layouts: construction, application, slicing, sizes and text. Their algebra is in algebra*.c. */
#include "ir/layout/layout.h"

#include "ir/layout/arith.h"

#include <inttypes.h>

bool tj_layout_equal(tj_layout a, tj_layout b) {
  return tj_tuple_equal(a.shape, b.shape) && tj_tuple_equal(a.stride, b.stride);
}

/* --- construction --- */

static void check_extent(tj_graph *graph, const tj_tuple *extent) {
  if (extent->kind != TJ_TUPLE_INTEGER)
    tj_fail(graph->job, TJ_WRONG_TYPE, "an extent is an integer, not %s", tj_tuple_text(graph->job, extent));
  if (tj_decide_at_least(graph, extent->value, 1) == TJ_YES)
    return;
  const char *text = tj_describe(graph, extent->value);
  if (tj_is_constant(extent->value))
    tj_fail(graph->job, TJ_BAD_SHAPE, "extent %s is not positive", text);
  tj_fail(graph->job, TJ_BAD_SHAPE, "extent %s is not known to be positive", text);
}

void tj_shape_check(tj_graph *graph, const tj_tuple *shape) {
  uint32_t count;
  const tj_tuple *const *extents = tj_tuple_leaves(graph, shape, &count);
  for (uint32_t i = 0; i < count; i++)
    check_extent(graph, extents[i]);
}

/* Strides that are basis elements must add up. */
static void check_codomain(tj_graph *graph, const tj_tuple *const strides[], uint32_t count) {
  bool has_basis = false;
  for (uint32_t i = 0; i < count; i++) {
    if (strides[i]->kind == TJ_TUPLE_ANY)
      tj_fail(graph->job, TJ_WRONG_TYPE, "a stride is an integer or a basis element, not _");
    has_basis = has_basis || strides[i]->kind == TJ_TUPLE_BASIS;
  }
  const tj_tuple *sum = tj_tuple_constant(graph, 0);
  for (uint32_t i = 0; has_basis && i < count; i++)
    sum = tj_tuple_add(graph, sum, strides[i]);
}

/* Fails where the constant extents and strides alone give TJ_SIZE_LIMIT coordinates or values: sums and products of
 * sizes then stay within 64 bits. */
static void check_size(tj_graph *graph, const tj_tuple *shape, const tj_tuple *stride) {
  uint32_t count;
  const tj_tuple *const *extents = tj_tuple_leaves(graph, shape, &count);
  const tj_tuple *const *strides = tj_tuple_leaves(graph, stride, &count);
  int64_t size = 1, reach = 0;
  bool overflows = false;
  for (uint32_t i = 0; i < count && !overflows; i++) {
    if (!tj_is_constant(extents[i]->value))
      continue;
    int64_t extent = extents[i]->value->value, step = 0;
    overflows = __builtin_mul_overflow(size, extent, &size) || size >= TJ_SIZE_LIMIT;
    if (strides[i]->kind == TJ_TUPLE_INTEGER && tj_is_constant(strides[i]->value))
      overflows |= __builtin_mul_overflow(strides[i]->value->value, extent - 1, &step);
    overflows |= step <= -TJ_SIZE_LIMIT || __builtin_add_overflow(reach, step < 0 ? -step : step, &reach) ||
                 reach >= TJ_SIZE_LIMIT;
  }
  if (overflows)
    tj_fail(graph->job, TJ_INTEGER_OVERFLOW, "the layout %s:%s has 2^62 or more coordinates or values",
            tj_tuple_text(graph->job, shape), tj_tuple_text(graph->job, stride));
}

static void need_congruent(tj_graph *graph, const tj_tuple *shape, const tj_tuple *stride) {
  if (tj_tuple_congruent(shape, stride))
    return;
  if (tj_tuple_rank(shape) == tj_tuple_rank(stride) && tj_tuple_rank(shape) == 1)
    tj_note(graph->job, "give both the same nesting; a tuple of one is written (4), or (M+1,) around an operator");
  tj_fail(graph->job, TJ_NOT_CONGRUENT, "shape %s and stride %s are not congruent", tj_tuple_text(graph->job, shape),
          tj_tuple_text(graph->job, stride));
}

tj_layout tj_layout_make(tj_graph *graph, const tj_tuple *shape, const tj_tuple *stride) {
  need_congruent(graph, shape, stride);
  tj_shape_check(graph, shape);
  check_codomain(graph, tj_tuple_leaves(graph, stride, NULL), stride->leaf_count);
  check_size(graph, shape, stride);
  return (tj_layout){shape, stride};
}

/* The compact colexicographic strides of a shape, starting with *next, which becomes *next times the size. */
static const tj_tuple *compact_strides(tj_graph *graph, const tj_tuple *shape, const tj_node **next) {
  if (!tj_tuple_is_list(shape)) {
    const tj_node *stride = *next, *extent = tj_tuple_product(graph, shape);
    *next = tj_terse_mul(graph, stride, extent);
    return tj_is_int(extent, 1) ? tj_tuple_constant(graph, 0) : tj_tuple_integer(graph, stride);
  }
  const tj_tuple **items = TJ_NEW_ARRAY(graph->job, const tj_tuple *, shape->count);
  for (uint32_t i = 0; i < shape->count; i++)
    items[i] = compact_strides(graph, shape->item[i], next);
  return tj_tuple_list(graph, items, shape->count);
}

const tj_tuple *tj_compact_strides(tj_graph *graph, const tj_tuple *shape, const tj_node *first) {
  return compact_strides(graph, shape, &first);
}

tj_layout tj_layout_of_shape(tj_graph *graph, const tj_tuple *shape) {
  tj_shape_check(graph, shape);
  return (tj_layout){shape, tj_compact_strides(graph, shape, tj_int(graph, 1))};
}

tj_layout tj_layout_mode(tj_graph *graph, tj_layout layout, uint32_t mode) {
  uint32_t rank = tj_tuple_rank(layout.shape);
  if (mode >= rank)
    tj_fail(graph->job, TJ_RANK, "mode %u of a layout of rank %u", mode, rank);
  return (tj_layout){tj_tuple_mode(layout.shape, mode), tj_tuple_mode(layout.stride, mode)};
}

tj_layout tj_layout_concat(tj_graph *graph, const tj_layout modes[], uint32_t count) {
  const tj_tuple **shapes = TJ_NEW_ARRAY(graph->job, const tj_tuple *, count);
  const tj_tuple **strides = TJ_NEW_ARRAY(graph->job, const tj_tuple *, count);
  for (uint32_t i = 0; i < count; i++) {
    shapes[i] = modes[i].shape;
    strides[i] = modes[i].stride;
  }
  return (tj_layout){tj_tuple_list(graph, shapes, count), tj_tuple_list(graph, strides, count)};
}

tj_layout tj_layout_of_leaves(tj_graph *graph, const tj_tuple *const extent[], const tj_tuple *const stride[],
                              uint32_t count) {
  if (count == 0)
    return (tj_layout){tj_tuple_constant(graph, 1), tj_tuple_constant(graph, 0)};
  if (count == 1)
    return (tj_layout){extent[0], stride[0]};
  return (tj_layout){tj_tuple_list(graph, extent, count), tj_tuple_list(graph, stride, count)};
}

tj_layout tj_layout_flatten(tj_graph *graph, tj_layout layout) {
  return (tj_layout){tj_tuple_flatten(graph, layout.shape), tj_tuple_flatten(graph, layout.stride)};
}

/* --- coordinates --- */

/* The colexicographic digits of an index: digit k is (index / (e0 … e(k-1))) mod ek, but the last is not reduced. */
static void split_index(tj_graph *graph, const tj_node *index, const tj_tuple *const extents[], uint32_t count,
                        const tj_node *digits[]) {
  for (uint32_t i = 0; i < count; i++) {
    const tj_node *extent = tj_tuple_product(graph, extents[i]);
    bool last = i + 1 == count;
    digits[i] = last ? index : tj_terse_mod(graph, index, extent);
    if (!last)
      index = tj_terse_div(graph, index, extent);
  }
}

static const tj_tuple *apply_index(tj_graph *graph, const tj_node *index, const tj_tuple *shape,
                                   const tj_tuple *stride) {
  uint32_t count;
  const tj_tuple *const *extents = tj_tuple_leaves(graph, shape, &count);
  const tj_tuple *const *strides = tj_tuple_leaves(graph, stride, NULL);
  const tj_node **digits = TJ_NEW_ARRAY(graph->job, const tj_node *, count);
  split_index(graph, index, extents, count, digits);
  const tj_tuple *sum = tj_tuple_constant(graph, 0);
  for (uint32_t i = 0; i < count; i++)
    sum = tj_tuple_add(graph, sum, tj_tuple_scale(graph, digits[i], strides[i]));
  return sum;
}

static _Noreturn void fail_structure(tj_graph *graph, const tj_tuple *coordinate, const tj_tuple *shape) {
  tj_fail(graph->job, TJ_COORDINATE_STRUCTURE, "coordinate %s does not fit shape %s",
          tj_tuple_text(graph->job, coordinate), tj_tuple_text(graph->job, shape));
}

static void check_structure(tj_graph *graph, const tj_tuple *coordinate, const tj_tuple *shape) {
  if (!tj_tuple_is_list(shape) || shape->count != coordinate->count)
    fail_structure(graph, coordinate, shape);
}

static const tj_tuple *apply_coordinate(tj_graph *graph, const tj_tuple *coordinate, const tj_tuple *shape,
                                        const tj_tuple *stride) {
  if (coordinate->kind == TJ_TUPLE_ANY)
    return apply_index(graph, tj_int(graph, 0), shape, stride);
  if (!tj_tuple_is_list(coordinate))
    return apply_index(graph, tj_tuple_product(graph, coordinate), shape, stride);
  check_structure(graph, coordinate, shape);
  const tj_tuple *sum = tj_tuple_constant(graph, 0);
  for (uint32_t i = 0; i < coordinate->count; i++)
    sum = tj_tuple_add(graph, sum, apply_coordinate(graph, coordinate->item[i], shape->item[i], stride->item[i]));
  return sum;
}

/* Extents that a coordinate's structure gives to the leaves of `coordinate`: CuTe's product_like. */
static const tj_tuple *shape_like(tj_graph *graph, const tj_tuple *shape, const tj_tuple *coordinate) {
  if (!tj_tuple_is_list(coordinate))
    return tj_tuple_integer(graph, tj_tuple_product(graph, shape));
  check_structure(graph, coordinate, shape);
  const tj_tuple **items = TJ_NEW_ARRAY(graph->job, const tj_tuple *, coordinate->count);
  for (uint32_t i = 0; i < coordinate->count; i++)
    items[i] = shape_like(graph, shape->item[i], coordinate->item[i]);
  return tj_tuple_list(graph, items, coordinate->count);
}

const tj_tuple *tj_crd2idx(tj_graph *graph, const tj_tuple *coordinate, const tj_tuple *shape,
                           const tj_tuple *stride) {
  if (stride == NULL) {
    shape = shape_like(graph, shape, coordinate);
    stride = tj_compact_strides(graph, shape, tj_int(graph, 1));
  }
  need_congruent(graph, shape, stride);
  return apply_coordinate(graph, coordinate, shape, stride);
}

/* idx2crd of one mode. */
static const tj_tuple *digit_of(tj_graph *graph, const tj_tuple *index, const tj_tuple *extent,
                                const tj_tuple *stride) {
  const tj_node *size = tj_tuple_product(graph, extent);
  if (tj_is_int(size, 1))
    return tj_tuple_constant(graph, 0);
  const tj_node *quotient = tj_terse_div(graph, tj_tuple_product(graph, index), tj_tuple_product(graph, stride));
  return tj_tuple_integer(graph, tj_terse_mod(graph, quotient, size));
}

static const tj_tuple *split_by_strides(tj_graph *graph, const tj_tuple *index, const tj_tuple *shape,
                                        const tj_tuple *stride) {
  if (tj_tuple_is_list(index))
    check_structure(graph, index, shape);
  if (!tj_tuple_is_list(shape))
    return digit_of(graph, index, shape, stride);
  const tj_tuple **items = TJ_NEW_ARRAY(graph->job, const tj_tuple *, shape->count);
  for (uint32_t i = 0; i < shape->count; i++)
    items[i] =
        split_by_strides(graph, tj_tuple_is_list(index) ? index->item[i] : index, shape->item[i], stride->item[i]);
  return tj_tuple_list(graph, items, shape->count);
}

static const tj_tuple *split_colexicographically(tj_graph *graph, const tj_tuple *index, const tj_tuple *shape) {
  if (tj_tuple_is_list(index)) {
    check_structure(graph, index, shape);
    const tj_tuple **items = TJ_NEW_ARRAY(graph->job, const tj_tuple *, index->count);
    for (uint32_t i = 0; i < index->count; i++)
      items[i] = split_colexicographically(graph, index->item[i], shape->item[i]);
    return tj_tuple_list(graph, items, index->count);
  }
  uint32_t count;
  const tj_tuple *const *extents = tj_tuple_leaves(graph, shape, &count);
  const tj_node **digits = TJ_NEW_ARRAY(graph->job, const tj_node *, count);
  split_index(graph, tj_tuple_product(graph, index), extents, count, digits);
  const tj_tuple **leaves = TJ_NEW_ARRAY(graph->job, const tj_tuple *, count);
  for (uint32_t i = 0; i < count; i++)
    leaves[i] = tj_tuple_integer(graph, digits[i]);
  return tj_tuple_from_leaves(graph, shape, leaves);
}

const tj_tuple *tj_idx2crd(tj_graph *graph, const tj_tuple *index, const tj_tuple *shape, const tj_tuple *stride) {
  if (stride == NULL)
    return split_colexicographically(graph, index, shape);
  if (tj_tuple_is_list(shape) && stride->kind == TJ_TUPLE_INTEGER)
    stride = tj_compact_strides(graph, shape, stride->value);
  need_congruent(graph, shape, stride);
  return split_by_strides(graph, index, shape, stride);
}

/* --- application --- */

/* "mode 0 of mode 1 of " for the second mode's first. */
static void print_path(tj_text *text, const tj_mode_path *path) {
  for (; path != NULL; path = path->outer)
    tj_text_format(text, "mode %" PRIu32 " of ", path->mode);
}

void tj_fail_coordinate(tj_graph *graph, const tj_node *entry, const tj_tuple *shape, const tj_tuple *whole,
                        const tj_mode_path *path) {
  const tj_node *size = tj_tuple_product(graph, shape);
  tj_text place = tj_text_begin(graph->job);
  print_path(&place, path);
  tj_tuple_print(&place, whole);
  if (path != NULL && tj_is_constant(size))
    tj_note(graph->job, "entries of mode %" PRIu32 " run from 0 to %" PRId64, path->mode, size->value - 1);
  tj_fail(graph->job, TJ_COORDINATE_RANGE, "coordinate %s is outside %s%s%s", tj_describe(graph, entry), place.data,
          path != NULL ? ", whose extent is " : "", path != NULL ? tj_tuple_text(graph->job, shape) : "");
}

static void check_range(tj_graph *graph, const tj_tuple *coordinate, const tj_tuple *shape, const tj_tuple *whole,
                        const tj_mode_path *path) {
  if (tj_tuple_is_list(coordinate)) {
    check_structure(graph, coordinate, shape);
    for (uint32_t i = 0; i < coordinate->count; i++)
      check_range(graph, coordinate->item[i], shape->item[i], whole, &(tj_mode_path){path, i});
    return;
  }
  if (coordinate->kind != TJ_TUPLE_INTEGER || !tj_is_constant(coordinate->value))
    return;
  bool beyond = path != NULL && tj_decide_less(graph, coordinate->value, tj_tuple_product(graph, shape)) == TJ_NO;
  if (coordinate->value->value < 0 || beyond)
    tj_fail_coordinate(graph, coordinate->value, shape, whole, path);
}

const tj_tuple *tj_layout_apply(tj_graph *graph, tj_layout layout, const tj_tuple *coordinate) {
  if (tj_tuple_has_any(coordinate))
    tj_fail(graph->job, TJ_WRONG_TYPE, "coordinate %s has a _ where an integer is needed",
            tj_tuple_text(graph->job, coordinate));
  check_range(graph, coordinate, layout.shape, layout.shape, NULL);
  return apply_coordinate(graph, coordinate, layout.shape, layout.stride);
}

bool tj_tuple_has_any(const tj_tuple *coordinate) {
  if (!tj_tuple_is_list(coordinate))
    return coordinate->kind == TJ_TUPLE_ANY;
  for (uint32_t i = 0; i < coordinate->count; i++)
    if (tj_tuple_has_any(coordinate->item[i]))
      return true;
  return false;
}

/* Appends to `kept` the modes of `tuple` that stand against underscores (against anything else, when `dice`). */
static uint32_t keep_modes(const tj_tuple *coordinate, const tj_tuple *tuple, bool dice, const tj_tuple *kept[]) {
  if (!tj_tuple_is_list(coordinate)) {
    bool keep = (coordinate->kind == TJ_TUPLE_ANY) != dice;
    if (keep)
      kept[0] = tuple;
    return keep;
  }
  uint32_t count = 0;
  for (uint32_t i = 0; i < coordinate->count; i++)
    count += keep_modes(coordinate->item[i], tuple->item[i], dice, kept + count);
  return count;
}

const tj_tuple *tj_tuple_keep(tj_graph *graph, const tj_tuple *coordinate, const tj_tuple *tuple, bool dice) {
  const tj_tuple **kept = TJ_NEW_ARRAY(graph->job, const tj_tuple *, coordinate->leaf_count);
  uint32_t count = keep_modes(coordinate, tuple, dice, kept);
  bool whole = !tj_tuple_is_list(coordinate) && count == 1;
  return whole ? tuple : tj_tuple_list(graph, kept, count);
}

static void check_slice(tj_graph *graph, const tj_tuple *coordinate, const tj_tuple *shape) {
  if (!tj_tuple_is_list(coordinate))
    return;
  if (!tj_tuple_is_list(shape) || shape->count != coordinate->count)
    tj_fail(graph->job, TJ_SLICE_STRUCTURE, "slice %s does not fit shape %s", tj_tuple_text(graph->job, coordinate),
            tj_tuple_text(graph->job, shape));
  for (uint32_t i = 0; i < coordinate->count; i++)
    check_slice(graph, coordinate->item[i], shape->item[i]);
}

tj_layout tj_layout_slice(tj_graph *graph, tj_layout layout, const tj_tuple *coordinate, const tj_tuple **offset) {
  check_slice(graph, coordinate, layout.shape);
  check_range(graph, coordinate, layout.shape, layout.shape, NULL);
  *offset = apply_coordinate(graph, coordinate, layout.shape, layout.stride);
  return (tj_layout){tj_tuple_keep(graph, coordinate, layout.shape, false),
                     tj_tuple_keep(graph, coordinate, layout.stride, false)};
}

/* --- sizes --- */

const tj_node *tj_layout_size(tj_graph *graph, tj_layout layout) {
  return tj_tuple_product(graph, layout.shape);
}

static const tj_tuple *absolute_leaf(tj_graph *graph, const tj_tuple *leaf) {
  const tj_node *value = tj_absolute(graph, leaf->value);
  return leaf->kind == TJ_TUPLE_BASIS ? tj_tuple_basis(graph, value, leaf->path, leaf->count)
                                      : tj_tuple_integer(graph, value);
}

/* Adds 1 to every leaf. */
static const tj_tuple *increment_leaves(tj_graph *graph, const tj_tuple *tuple) {
  uint32_t count;
  const tj_tuple *const *leaves = tj_tuple_leaves(graph, tuple, &count);
  const tj_tuple **sums = TJ_NEW_ARRAY(graph->job, const tj_tuple *, count);
  for (uint32_t i = 0; i < count; i++)
    sums[i] = tj_tuple_integer(graph, tj_terse_add(graph, leaves[i]->value, tj_int(graph, 1)));
  return tj_tuple_from_leaves(graph, tuple, sums);
}

const tj_tuple *tj_layout_coshape(tj_graph *graph, tj_layout layout) {
  uint32_t count;
  const tj_tuple *const *extents = tj_tuple_leaves(graph, layout.shape, &count);
  const tj_tuple *const *strides = tj_tuple_leaves(graph, layout.stride, NULL);
  const tj_tuple *largest = tj_tuple_constant(graph, 0);
  for (uint32_t i = 0; i < count; i++) {
    const tj_node *last = tj_terse_add(graph, extents[i]->value, tj_int(graph, -1));
    largest = tj_tuple_add(graph, largest, tj_tuple_scale(graph, last, absolute_leaf(graph, strides[i])));
  }
  return increment_leaves(graph, largest);
}

const tj_node *tj_layout_cosize(tj_graph *graph, tj_layout layout) {
  return tj_tuple_product(graph, tj_layout_coshape(graph, layout));
}

/* --- text --- */

void tj_layout_print(tj_text *text, tj_layout layout) {
  tj_tuple_print(text, layout.shape);
  tj_text_char(text, ':');
  tj_tuple_print(text, layout.stride);
}

const char *tj_layout_text(tj_job *job, tj_layout layout) {
  tj_text text = tj_text_begin(job);
  tj_layout_print(&text, layout);
  return text.data;
}
