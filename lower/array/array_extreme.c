/* SPDX-License-Identifier: MIT */
/* Which maxima may leave NaNs out, and which are of what has no sign. */
#include "lower/array/array_extreme.h"

/* Whether a type has all NaNs and infinities: short floats and integers do not. */
static bool has_specials(tj_dtype dtype) {
  return tj_dtype_class_of(dtype) == TJ_CLASS_FLOAT && tj_dtype_bits(dtype) >= 16;
}

/* Whether an array is NaN where what it is made of is. */
static bool keeps_nan(const tj_array *array) {
  return tj_array_op_keeps_nan(array->op) && has_specials(array->dtype);
}

static bool has_one_of(const bool *set, const tj_array *array) {
  for (uint32_t i = 0; i < tj_array_arity(array->op); i++) {
    if (set[array->arg[i]->number])
      return true;
  }
  return false;
}

/* By number: whether all elements of a row are NaN because one of the array's is. */
static const bool *nan_with(tj_graph *graph, const tj_array_program *program, const tj_array *of, uint64_t modes) {
  bool *here = TJ_NEW_ARRAY(graph->job, bool, (size_t)program->count + 1); /* where that element is */
  bool *row = TJ_NEW_ARRAY(graph->job, bool, (size_t)program->count + 1);
  for (uint32_t i = 0; i < program->count; i++) {
    const tj_array *array = program->array[i];
    bool keeps = keeps_nan(array);
    here[i] = array == of || (keeps && has_one_of(here, array));
    row[i] = (keeps && has_one_of(row, array)) ||
             (array->op == TJ_ARRAY_SUM && array->modes == modes && here[array->arg[0]->number]);
  }
  return row;
}

static bool may_leave_nan_out(tj_graph *graph, const tj_array_program *program, const tj_array *largest) {
  const bool *is_nan = nan_with(graph, program, largest->arg[0], largest->modes);
  for (uint32_t i = 0; i < program->store_count; i++) {
    const tj_array *value = program->store[i].value;
    if (tj_array_parts(graph, program, value)[largest->number] && !is_nan[value->number])
      return false;
  }
  return true;
}

static tj_array_op combination(tj_graph *graph, const tj_array_program *program, const tj_array *reduction) {
  switch (reduction->op) {
  case TJ_ARRAY_SUM:
    return TJ_ARRAY_add;
  case TJ_ARRAY_SMALLEST:
    return TJ_ARRAY_min;
  case TJ_ARRAY_LARGEST:
    if (reduction->arg[0]->op == TJ_ARRAY_abs)
      return TJ_ARRAY_FARTHER;
    return may_leave_nan_out(graph, program, reduction) ? TJ_ARRAY_LARGER : TJ_ARRAY_max;
  default:
    return TJ_ARRAY_OP_COUNT;
  }
}

const tj_array_op *tj_array_combinations(tj_graph *graph, const tj_array_program *program) {
  tj_array_op *all = TJ_NEW_ARRAY(graph->job, tj_array_op, (size_t)program->count + 1);
  for (uint32_t i = 0; i < program->count; i++)
    all[i] = combination(graph, program, program->array[i]);
  return all;
}

/* --- columns that are not there --- */

/* By number: whether an array's elements are zeros where those of buffers are. */
static const bool *zeros_with_buffers(tj_graph *graph, const tj_array_space *space) {
  const tj_array_program *program = space->arrays->program;
  uint64_t columns = tj_array_axis_modes(&space->columns);
  bool *is_zero = TJ_NEW_ARRAY(graph->job, bool, (size_t)program->count + 1);
  for (uint32_t i = 0; i < program->count; i++) {
    const tj_array *array = program->array[i];
    bool first = tj_array_arity(array->op) > 0 && is_zero[array->arg[0]->number];
    switch (array->op) {
    case TJ_ARRAY_BUFFER:
      is_zero[i] = (tj_array_varies(space, array) & columns) != 0 && array->dtype != TJ_DTYPE_e8m0;
      break;
    case TJ_ARRAY_neg:
    case TJ_ARRAY_abs:
      is_zero[i] = first;
      break;
    case TJ_ARRAY_add:
    case TJ_ARRAY_sub:
    case TJ_ARRAY_mul:
      is_zero[i] = first && is_zero[array->arg[1]->number];
      break;
    default:
      break;
    }
  }
  return is_zero;
}

bool tj_array_takes_zeros(tj_graph *graph, const tj_array_space *space, const tj_array *reduction) {
  const tj_array *of = reduction->arg[0];
  bool is_square = of->op == TJ_ARRAY_mul && of->arg[0] == of->arg[1], is_size = of->op == TJ_ARRAY_abs;
  bool takes =
      (reduction->op == TJ_ARRAY_SUM && (is_square || is_size)) || (reduction->op == TJ_ARRAY_LARGEST && is_size);
  return takes && space->columns.size->facts.low > 0 && zeros_with_buffers(graph, space)[of->number];
}

/* Whether an array may be -inf where columns are not there: it is a buffer's. */
static bool may_be_lowest(const tj_array_space *space, const tj_array *array) {
  const uint64_t columns = tj_array_axis_modes(&space->columns);
  return array->op == TJ_ARRAY_BUFFER && (tj_array_varies(space, array) & columns) != 0 && has_specials(array->dtype);
}

/* Whether a reduction is max(a), or a sum of f(a - max(a)), f being 0 of -inf, of such an `a`. */
static bool takes_lowest(const tj_array_space *space, const tj_array *reduction) {
  const tj_array *of = reduction->arg[0];
  if (reduction->op == TJ_ARRAY_LARGEST)
    return may_be_lowest(space, of);
  return reduction->op == TJ_ARRAY_SUM && (of->op == TJ_ARRAY_exp || of->op == TJ_ARRAY_exp2) &&
         tj_array_is_below_largest(of->arg[0]) && may_be_lowest(space, of->arg[0]->arg[0]);
}

bool tj_array_takes_lowest(const tj_array_space *space) {
  const tj_array_program *program = space->arrays->program;
  bool takes = false;
  for (uint32_t i = 0; i < program->count; i++) {
    if (!tj_array_is_reduction(program->array[i]->op))
      continue;
    takes = takes_lowest(space, program->array[i]);
    if (!takes)
      return false;
  }
  return takes && space->columns.size->facts.low > 0;
}
