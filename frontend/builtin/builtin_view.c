/* SPDX-License-Identifier: MIT */
/* CK Tile's functions: transforms, views, and evaluating them. */
#include "frontend/sema/call.h"

#include "ir/layout/algebra.h"
#include "ir/map/map.h"

#include <inttypes.h>
#include <string.h>

/* --- transforms --- */

static const tj_value *make_transform(tj_call *call, tj_transform_kind kind) {
  const tj_tuple **args = TJ_NEW_ARRAY(call->job, const tj_tuple *, call->count);
  for (uint32_t i = 0; i < call->count; i++)
    args[i] = tj_arg_tuple(call, i);
  return tj_value_of_transform(call->graph, tj_transform_make(call->graph, kind, args, call->count));
}

const tj_value *tj_builtin_transform_by_name(tj_call *call) {
  static const char *const names[] = {
#define TRANSFORM(name, text, ...) text,
#include "ir/view/transform.def"
#undef TRANSFORM
  };
  tj_transform_kind kind = 0;
  while (strcmp(names[kind], call->builtin->name) != 0)
    kind++;
  return make_transform(call, kind);
}

static void check_rank(tj_call *call, uint32_t got, uint32_t needed) {
  if (got != needed)
    tj_fail(call->job, TJ_TRANSFORM_ARITY, "the transform takes %" PRIu32 " ind%s here, not %" PRIu32, needed,
            needed == 1 ? "ex" : "ices", got);
}

/* The indices of a transform's coordinate: tuples of any nesting of rank `count`, or an integer for one. */
static const tj_node *const *indices(tj_call *call, uint32_t count) {
  const tj_tuple *coordinate = tj_args_as_coordinate(call, 1);
  uint32_t rank = tj_tuple_is_list(coordinate) ? coordinate->count : 1;
  check_rank(call, rank, count);
  const tj_node **nodes = TJ_NEW_ARRAY(call->job, const tj_node *, count + 1);
  for (uint32_t i = 0; i < count; i++) {
    const tj_value *index = tj_value_of_tuple(call->graph, tj_tuple_mode(coordinate, i));
    nodes[i] = tj_need_node(call->graph, index, "an index");
  }
  return nodes;
}

/* One index as an integer, others as a tuple. */
static const tj_value *coordinate_value(tj_call *call, const tj_node *const nodes[], uint32_t count) {
  if (count == 1)
    return tj_value_of_node(call->graph, nodes[0]);
  return tj_value_of_tuple(call->graph, tj_tuple_integers(call->graph, nodes, count));
}

const tj_value *tj_builtin_lower(tj_call *call) {
  const tj_transform *transform = tj_arg_transform(call, 0);
  const tj_node **lower = TJ_NEW_ARRAY(call->job, const tj_node *, transform->lower_count);
  tj_transform_lower(call->graph, transform, indices(call, transform->upper_count), lower);
  return coordinate_value(call, lower, transform->lower_count);
}

const tj_value *tj_builtin_upper(tj_call *call) {
  const tj_transform *transform = tj_arg_transform(call, 0);
  const tj_node **upper = TJ_NEW_ARRAY(call->job, const tj_node *, transform->upper_count);
  tj_transform_upper(call->graph, transform, indices(call, transform->lower_count), upper);
  return coordinate_value(call, upper, transform->upper_count);
}

static const tj_value *adaptor_valid(tj_call *call, const tj_adaptor *adaptor) {
  const tj_node *lower[TJ_MAX_DIMENSIONS], *valid;
  const tj_node *const *upper =
      tj_need_indices(call->graph, tj_args_as_coordinate(call, 1), adaptor->rank, "adaptor");
  tj_adaptor_lower(call->graph, adaptor, upper, lower, &valid);
  return tj_value_of_node(call->graph, valid);
}

const tj_value *tj_builtin_valid(tj_call *call) {
  if (call->arg[0]->kind == TJ_VALUE_ADAPTOR)
    return adaptor_valid(call, call->arg[0]->adaptor);
  if (call->arg[0]->kind == TJ_VALUE_VIEW) {
    const tj_view *view = call->arg[0]->view;
    const tj_node *const *coordinate = tj_view_coordinate(call->graph, view, tj_args_as_coordinate(call, 1));
    return tj_value_of_node(call->graph, tj_view_valid(call->graph, view, coordinate, true));
  }
  const tj_transform *transform = tj_arg_transform(call, 0);
  return tj_value_of_node(call->graph,
                          tj_transform_valid(call->graph, transform, indices(call, transform->upper_count)));
}

/* --- views --- */

typedef struct {
  const tj_node *offset;
  int64_t vector_length, vector_stride;
} view_options;

static view_options options_of(tj_call *call) {
  view_options options = {NULL, -1, -1};
  const tj_value *offset = tj_arg_named(call, "offset");
  if (offset != NULL)
    options.offset = tj_need_node(call->graph, offset, "offset");
  const tj_value *vector = tj_arg_named(call, "vector");
  if (vector == NULL)
    return options;
  const tj_tuple *pair = tj_need_tuple(call->graph, vector, "vector");
  if (!tj_tuple_is_list(pair) || pair->count != 2)
    tj_fail(call->job, TJ_VIEW_ARGUMENT, "vector is a pair (length, stride)");
  options.vector_length =
      tj_need_constant(call->graph, tj_value_of_tuple(call->graph, pair->item[0]), "a vector's length");
  options.vector_stride =
      tj_need_constant(call->graph, tj_value_of_tuple(call->graph, pair->item[1]), "a vector's stride");
  return options;
}

static const tj_value *take_part(const tj_call *call, const char *name, tj_span *span) {
  const tj_binding *given = tj_arg_binding(call, name);
  if (given == NULL)
    return NULL;
  *span = given->span;
  return given->value;
}

const tj_value *tj_builtin_walk(tj_call *call) {
  tj_walk_parts parts = {.map = call->arg[0], .map_span = call->span[0]};
  parts.step = take_part(call, "step", &parts.step_span);
  parts.count = take_part(call, "count", &parts.count_span);
  parts.starts = take_part(call, "starts", &parts.starts_span);
  if (parts.step == NULL)
    tj_fail(call->job, TJ_WRONG_ARITY, "walk needs step=…");
  return tj_value_of_walk(call->graph, tj_walk_of(call->scope, &parts));
}

const tj_value *tj_builtin_strided(tj_call *call) {
  view_options options = options_of(call);
  return tj_value_of_view(call->graph, tj_view_strided(call->graph, tj_arg_tuple(call, 0), tj_arg_tuple(call, 1),
                                                       options.offset, options.vector_length, options.vector_stride));
}

const tj_value *tj_builtin_packed(tj_call *call) {
  view_options options = options_of(call);
  return tj_value_of_view(call->graph, tj_view_packed(call->graph, tj_arg_tuple(call, 0), options.offset,
                                                      options.vector_length, options.vector_stride));
}

const tj_value *tj_builtin_aligned(tj_call *call) {
  view_options options = options_of(call);
  return tj_value_of_view(call->graph, tj_view_aligned(call->graph, tj_arg_tuple(call, 0), tj_arg_node(call, 1),
                                                       options.offset, options.vector_length, options.vector_stride));
}

/* [[0,1],[2]]: the list `outer` must have `count` items, each a list of dimension numbers. */
static const uint32_t *dimensions(tj_call *call, const tj_value *list, uint32_t *count) {
  if (list->kind != TJ_VALUE_LIST)
    tj_fail_type(call->job, list, "the dimensions of a transform", "a list in brackets");
  if (list->count > TJ_MAX_DIMENSIONS)
    tj_fail(call->job, TJ_UPPER_DIMENSIONS, "a transform has at most %d dimensions", TJ_MAX_DIMENSIONS);
  uint32_t *numbers = TJ_NEW_ARRAY(call->job, uint32_t, list->count);
  for (uint32_t i = 0; i < list->count; i++) {
    int64_t number = tj_need_constant(call->graph, list->item[i], "a dimension number");
    if (number < 0 || number >= TJ_MAX_DIMENSIONS)
      tj_fail(call->job, TJ_UPPER_DIMENSIONS, "dimension number %" PRId64 " is not 0 to %d", number,
              TJ_MAX_DIMENSIONS - 1);
    numbers[i] = (uint32_t)number;
  }
  *count = list->count;
  return numbers;
}

static void check_list_length(tj_call *call, uint32_t index, uint32_t needed) {
  const tj_value *list = tj_arg_list(call, index);
  if (list->count == needed)
    return;
  call->job->here = call->span[index];
  tj_fail(call->job, TJ_TRANSFORM_ARITY, "%" PRIu32 " transforms need %" PRIu32 " lists of dimensions, not %" PRIu32,
          needed, needed, list->count);
}

const tj_view_step *tj_arg_steps(tj_call *call, uint32_t first, uint32_t *count) {
  const tj_value *transforms = tj_arg_list(call, first);
  const char *what = tj_string_format(call->job, "an item of the list of transforms of %s", call->builtin->name);
  check_list_length(call, first + 1, transforms->count);
  check_list_length(call, first + 2, transforms->count);
  tj_view_step *steps = TJ_NEW_ARRAY(call->job, tj_view_step, transforms->count);
  for (uint32_t i = 0; i < transforms->count; i++) {
    if (transforms->item[i]->kind != TJ_VALUE_TRANSFORM)
      tj_fail_type(call->job, transforms->item[i], what, "a transform");
    steps[i].transform = transforms->item[i]->transform;
    steps[i].lower = dimensions(call, call->arg[first + 1]->item[i], &steps[i].lower_count);
    steps[i].upper = dimensions(call, call->arg[first + 2]->item[i], &steps[i].upper_count);
  }
  *count = transforms->count;
  return steps;
}

const tj_value *tj_builtin_transform(tj_call *call) {
  if (call->arg[0]->kind != TJ_VALUE_VIEW && call->arg[0]->kind != TJ_VALUE_ADAPTOR)
    tj_fail_arg(call, 0, "a view or an adaptor");
  uint32_t count;
  const tj_view_step *steps = tj_arg_steps(call, 1, &count);
  if (call->arg[0]->kind == TJ_VALUE_ADAPTOR)
    return tj_value_of_adaptor(call->graph, tj_adaptor_transform(call->graph, call->arg[0]->adaptor, steps, count));
  return tj_value_of_view(call->graph, tj_view_transform(call->graph, call->arg[0]->view, steps, count));
}

const tj_value *tj_builtin_lengths(tj_call *call) {
  if (call->arg[0]->kind == TJ_VALUE_ADAPTOR)
    return tj_value_of_tuple(call->graph, tj_adaptor_lengths(call->graph, call->arg[0]->adaptor));
  return tj_value_of_tuple(call->graph, tj_view_lengths(call->graph, tj_arg_view(call, 0)));
}

const tj_value *tj_builtin_element_space_size(tj_call *call) {
  return tj_value_of_node(call->graph, tj_arg_view(call, 0)->space_size);
}

static const tj_value *vectors(tj_call *call, bool want_strides) {
  const tj_view *view = tj_arg_view(call, 0);
  int64_t *lengths = TJ_NEW_ARRAY(call->job, int64_t, view->rank);
  int64_t *strides = TJ_NEW_ARRAY(call->job, int64_t, view->rank);
  tj_view_vectors(call->graph, view, lengths, strides);
  return tj_value_of_tuple(call->graph,
                           tj_tuple_constants(call->graph, want_strides ? strides : lengths, view->rank));
}

const tj_value *tj_builtin_vector_lengths(tj_call *call) {
  return vectors(call, false);
}

const tj_value *tj_builtin_vector_strides(tj_call *call) {
  return vectors(call, true);
}

/* --- the two functions named slice --- */

/* slice(L, b, e) is CK's transform of a length; slice(c, layout) is CuTe's. */
const tj_value *tj_builtin_slice(tj_call *call) {
  if (call->count == 3)
    return make_transform(call, TJ_TRANSFORM_SLICE);
  if (call->arg[1]->kind == TJ_VALUE_TUPLE)
    return tj_give_tuple(call, tj_tuple_slice(call->graph, tj_arg_tuple(call, 0), call->arg[1]->tuple));
  return tj_apply_value(call->graph, call->arg[1], call->arg, 1);
}
