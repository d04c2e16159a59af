/* SPDX-License-Identifier: MIT */
/* The oracle of maps: values of layouts, swizzles, transforms, views and adaptors at one coordinate, by definition.
 *
 * Slow and plain: no index expressions, no table of transforms, nothing shared with the code that it checks but the
 * data structures. Integers are checked; division and modulo round to minus infinity. */
#include "ir/layout/algebra.h"
#include "ir/map/map.h"

#include <string.h>

/* --- checked integers --- */

static _Noreturn void fail_overflow(tj_job *job) {
  tj_fail(job, TJ_INTEGER_OVERFLOW, "a value of the map does not fit in 64 bits");
}

static int64_t add(tj_job *job, int64_t a, int64_t b) {
  int64_t sum;
  if (__builtin_add_overflow(a, b, &sum))
    fail_overflow(job);
  return sum;
}

static int64_t multiply(tj_job *job, int64_t a, int64_t b) {
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product))
    fail_overflow(job);
  return product;
}

/* For b >= 1. */
static int64_t floor_divide(int64_t a, int64_t b) {
  return a / b - (a % b < 0);
}

static int64_t floor_modulo(int64_t a, int64_t b) {
  int64_t rest = a % b;
  return rest < 0 ? rest + b : rest;
}

static int64_t value_of(tj_job *job, const tj_node *node) {
  if (!tj_is_constant(node))
    tj_fail(job, TJ_DOMAIN_NOT_CONSTANT, "the map depends on parameters");
  return node->value;
}

/* --- layouts --- */

/* A layout's value at a coordinate, mode by mode: `path` selects the component of the codomain. */
typedef struct {
  tj_job *job;
  const tj_tuple *const *stride;
  const int64_t *coordinate;
  uint32_t count;
  int64_t *value;
  uint32_t value_count;
  uint32_t path[TJ_MAX_TUPLE_DEPTH];
} evaluation;

static uint32_t path_length(const tj_tuple *stride) {
  return stride->kind == TJ_TUPLE_BASIS ? stride->count : 0;
}

/* The stride lies in the component path[0 … level-1], or below it. */
static bool lies_in(const evaluation *self, const tj_tuple *stride, uint32_t level) {
  if (path_length(stride) < level)
    return false;
  return level == 0 || memcmp(stride->path, self->path, level * sizeof *self->path) == 0;
}

/* 1 + the greatest mode of the codomain below path[0 … level-1]; 0 where that is an integer. */
static uint32_t component_count(const evaluation *self, uint32_t level) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < self->count; i++) {
    bool below = lies_in(self, self->stride[i], level) && path_length(self->stride[i]) > level;
    if (below && self->stride[i]->path[level] >= count)
      count = self->stride[i]->path[level] + 1;
  }
  return count;
}

static int64_t sum_component(evaluation *self, uint32_t level) {
  int64_t sum = 0;
  for (uint32_t i = 0; i < self->count; i++)
    if (lies_in(self, self->stride[i], level) && path_length(self->stride[i]) == level)
      sum =
          add(self->job, sum, multiply(self->job, self->coordinate[i], value_of(self->job, self->stride[i]->value)));
  return sum;
}

static void evaluate_component(evaluation *self, uint32_t level) {
  uint32_t count = component_count(self, level);
  if (count == 0) {
    self->value[self->value_count++] = sum_component(self, level);
    return;
  }
  for (uint32_t mode = 0; mode < count; mode++) {
    self->path[level] = mode;
    evaluate_component(self, level + 1);
  }
}

uint32_t tj_oracle_layout(tj_graph *graph, tj_layout layout, const int64_t coordinate[], int64_t values[]) {
  tj_arena_mark mark = tj_arena_here(&graph->job->arena);
  evaluation self;
  self.job = graph->job;
  self.stride = tj_tuple_leaves(graph, layout.stride, &self.count);
  self.coordinate = coordinate;
  self.value = values;
  self.value_count = 0;
  evaluate_component(&self, 0);
  tj_arena_reset(&graph->job->arena, mark);
  return self.value_count;
}

static int64_t apply_swizzle(tj_job *job, tj_swizzle swizzle, int64_t value) {
  if (value < 0)
    tj_fail(job, TJ_NEGATIVE_BITS, "a swizzle of a negative integer");
  for (int32_t bit = 0; bit < swizzle.bits; bit++) {
    int32_t from = swizzle.base + bit + (swizzle.shift > 0 ? swizzle.shift : 0);
    int32_t to = swizzle.base + bit - (swizzle.shift < 0 ? swizzle.shift : 0);
    bool set = (value >> from & 1) != 0;
    value ^= (int64_t)set << to;
  }
  return value;
}

/* Adds a layout's values, of the structure `codomain`, to an offset that has all their components. */
static void add_offset(tj_job *job, const tj_tuple *offset, const tj_tuple *codomain, const int64_t **inner,
                       int64_t **values) {
  if (!tj_tuple_is_list(offset)) {
    *(*values)++ = add(job, value_of(job, offset->value), codomain == NULL ? 0 : *(*inner)++);
    return;
  }
  bool has_modes = codomain != NULL && tj_tuple_is_list(codomain);
  for (uint32_t i = 0; i < offset->count; i++) {
    const tj_tuple *component = has_modes && i < codomain->count ? codomain->item[i] : NULL;
    add_offset(job, offset->item[i], component, inner, values);
  }
}

void tj_oracle_composed(tj_graph *graph, const tj_composed *composed, const int64_t coordinate[], int64_t values[]) {
  tj_arena_mark mark = tj_arena_here(&graph->job->arena);
  const tj_tuple *codomain = tj_layout_coprofile(graph, composed->layout);
  int64_t *inner = TJ_NEW_ARRAY(graph->job, int64_t, codomain->leaf_count + 1);
  tj_oracle_layout(graph, composed->layout, coordinate, inner);
  const int64_t *next = inner;
  int64_t *end = values;
  add_offset(graph->job, composed->offset, codomain, &next, &end);
  if (composed->swizzle.bits != 0)
    values[0] = apply_swizzle(graph->job, composed->swizzle, values[0]);
  tj_arena_reset(&graph->job->arena, mark);
}

/* --- transforms --- */

static void evaluate_merge(tj_job *job, const tj_transform *transform, int64_t index, int64_t lower[]) {
  for (uint32_t i = transform->lower_count; i-- > 0;) {
    int64_t length = value_of(job, transform->lower_length[i]);
    lower[i] = i == 0 ? index : floor_modulo(index, length);
    index = floor_divide(index, length);
  }
}

static int64_t evaluate_unmerge(tj_job *job, const tj_transform *transform, const int64_t upper[]) {
  int64_t index = 0;
  for (uint32_t i = 0; i < transform->upper_count; i++)
    index = add(job, multiply(job, index, value_of(job, transform->upper_length[i])), upper[i]);
  return index;
}

static int64_t evaluate_embed(tj_job *job, const tj_transform *transform, const int64_t upper[]) {
  int64_t index = 0;
  for (uint32_t i = 0; i < transform->upper_count; i++)
    index = add(job, index, multiply(job, upper[i], value_of(job, transform->amount[i])));
  return index;
}

/* pad, left_pad, right_pad: the lower index is upper - before, valid within the lower length where that side pads. */
static int64_t evaluate_pad(tj_job *job, const tj_transform *transform, int64_t upper, bool *valid) {
  bool left = transform->kind != TJ_TRANSFORM_RIGHT_PAD, right = transform->kind != TJ_TRANSFORM_LEFT_PAD;
  int64_t before = left ? value_of(job, transform->amount[0]) : 0;
  int64_t lower = add(job, upper, -before);
  if (left && lower < 0)
    *valid = false;
  if (right && lower >= value_of(job, transform->lower_length[0]))
    *valid = false;
  return lower;
}

void tj_oracle_transform(tj_graph *graph, const tj_transform *transform, const int64_t upper[], int64_t lower[],
                         bool *valid) {
  tj_job *job = graph->job;
  *valid = true;
  switch (transform->kind) {
  case TJ_TRANSFORM_PASS_THROUGH:
    lower[0] = upper[0];
    break;
  case TJ_TRANSFORM_PAD:
  case TJ_TRANSFORM_LEFT_PAD:
  case TJ_TRANSFORM_RIGHT_PAD:
    lower[0] = evaluate_pad(job, transform, upper[0], valid);
    break;
  case TJ_TRANSFORM_MERGE:
    evaluate_merge(job, transform, upper[0], lower);
    break;
  case TJ_TRANSFORM_UNMERGE:
    lower[0] = evaluate_unmerge(job, transform, upper);
    break;
  case TJ_TRANSFORM_EMBED:
    lower[0] = evaluate_embed(job, transform, upper);
    break;
  case TJ_TRANSFORM_OFFSET:
  case TJ_TRANSFORM_SLICE:
    lower[0] = add(job, upper[0], value_of(job, transform->amount[0]));
    break;
  case TJ_TRANSFORM_MODULO:
    lower[0] = floor_modulo(upper[0], value_of(job, transform->amount[0]));
    break;
  case TJ_TRANSFORM_XOR:
    lower[0] = upper[0];
    lower[1] = upper[1] ^ floor_modulo(upper[0], value_of(job, transform->upper_length[1]));
    break;
  case TJ_TRANSFORM_CYCLIC_SHIFT:
    lower[0] = upper[0];
    lower[1] = floor_modulo(add(job, upper[1], upper[0]), value_of(job, transform->upper_length[1]));
    break;
  case TJ_TRANSFORM_FREEZE:
    lower[0] = value_of(job, transform->amount[0]);
    break;
  case TJ_TRANSFORM_INDEXING: {
    int64_t last = (int64_t)transform->amount_count - 1, place = upper[0] < 0 ? 0 : upper[0];
    lower[0] = value_of(job, transform->amount[place > last ? last : place]);
    break;
  }
  case TJ_TRANSFORM_REPLICATE:
  case TJ_TRANSFORM_INSERT:
  case TJ_TRANSFORM_COUNT:
    break;
  }
}

/* --- views --- */

static bool top_is_in_range(tj_job *job, const tj_view *view, const int64_t coordinate[]) {
  for (uint32_t i = 0; i < view->rank; i++) {
    int64_t length = value_of(job, view->hidden_length[view->visible[i]]);
    if (coordinate[i] < 0 || coordinate[i] >= length)
      return false;
  }
  return true;
}

int64_t tj_oracle_view(tj_graph *graph, const tj_view *view, const int64_t coordinate[], bool *valid) {
  tj_job *job = graph->job;
  tj_arena_mark mark = tj_arena_here(&job->arena);
  int64_t *index = TJ_NEW_ARRAY(job, int64_t, view->hidden_count);
  int64_t upper[TJ_MAX_DIMENSIONS] = {0}, lower[TJ_MAX_DIMENSIONS];
  *valid = top_is_in_range(job, view, coordinate);
  for (uint32_t i = 0; i < view->rank; i++)
    index[view->visible[i]] = coordinate[i];
  for (uint32_t s = view->stage_count; s-- > 0;) {
    const tj_stage *stage = &view->stage[s];
    bool stage_valid;
    for (uint32_t i = 0; i < stage->transform->upper_count; i++)
      upper[i] = index[stage->upper_id[i]];
    tj_oracle_transform(graph, stage->transform, upper, lower, &stage_valid);
    for (uint32_t i = 0; i < stage->transform->lower_count; i++)
      index[stage->lower_id[i]] = lower[i];
    *valid = *valid && stage_valid;
  }
  int64_t offset = add(job, index[0], value_of(job, view->offset));
  tj_arena_reset(&job->arena, mark);
  return offset;
}

/* --- adaptors --- */

static void evaluate_step(tj_graph *graph, const tj_view_step *step, const int64_t from[], int64_t to[],
                          bool *valid) {
  int64_t upper[TJ_MAX_DIMENSIONS] = {0}, lower[TJ_MAX_DIMENSIONS];
  bool step_valid;
  for (uint32_t i = 0; i < step->upper_count; i++)
    upper[i] = from[step->upper[i]];
  tj_oracle_transform(graph, step->transform, upper, lower, &step_valid);
  for (uint32_t i = 0; i < step->lower_count; i++)
    to[step->lower[i]] = lower[i];
  *valid = *valid && step_valid;
}

void tj_oracle_adaptor(tj_graph *graph, const tj_adaptor *adaptor, const int64_t upper[], int64_t lower[],
                       bool *valid) {
  int64_t from[TJ_MAX_DIMENSIONS] = {0}, to[TJ_MAX_DIMENSIONS] = {0};
  memcpy(from, upper, adaptor->rank * sizeof *from);
  *valid = true;
  for (const tj_adaptor *stage = adaptor; stage != NULL; stage = stage->below) {
    for (uint32_t i = 0; i < stage->step_count; i++)
      evaluate_step(graph, &stage->step[i], from, to, valid);
    memcpy(from, to, sizeof from);
  }
  memcpy(lower, from, adaptor->bottom_rank * sizeof *lower);
}
