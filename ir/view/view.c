/* SPDX-License-Identifier: MIT */
/* Views: bases, stages of transforms, offsets, validity and vectors. */
#include "ir/view/view.h"

#include "ir/index/facts.h"
#include "ir/index/print.h"
#include "ir/layout/arith.h"

#include <inttypes.h>
#include <string.h>

/* --- bases --- */

static tj_view *copy_view(tj_graph *graph, const tj_view *view) {
  return tj_arena_copy(&graph->job->arena, view, sizeof *view);
}

/* The integers of a flat tuple of `count` (0: any number of) integers, each at least `least`. */
static const tj_node *const *flat_integers(tj_graph *graph, const tj_tuple *tuple, const char *what, int64_t least,
                                           uint32_t *count) {
  const tj_tuple *const *leaves = tj_tuple_leaves(graph, tuple, count);
  const tj_node **integers = TJ_NEW_ARRAY(graph->job, const tj_node *, *count);
  bool flat = tuple->depth <= 1 && *count >= 1 && *count <= TJ_MAX_DIMENSIONS;
  for (uint32_t i = 0; i < *count; i++) {
    integers[i] = leaves[i]->value;
    flat = flat && leaves[i]->kind == TJ_TUPLE_INTEGER;
  }
  if (!flat)
    tj_fail(graph->job, TJ_VIEW_ARGUMENT, "%s %s: not a list of 1 to %d integers", what,
            tj_tuple_text(graph->job, tuple), TJ_MAX_DIMENSIONS);
  for (uint32_t i = 0; i < *count; i++) {
    tj_decision enough = tj_decide_at_least(graph, integers[i], least);
    if (enough == TJ_NO)
      tj_fail(graph->job, TJ_VIEW_ARGUMENT, "%s %s: %s is less than %" PRId64, what, tj_tuple_text(graph->job, tuple),
              tj_describe(graph, integers[i]), least);
    if (enough == TJ_UNKNOWN)
      tj_fail_needs(graph, what, integers[i], ">=", tj_int(graph, least));
  }
  return integers;
}

/* How many elements lie between the first and the last, both counted. */
static const tj_node *span_of_embed(tj_graph *graph, const tj_transform *embed) {
  const tj_node *span = tj_int(graph, 1);
  for (uint32_t i = 0; i < embed->upper_count; i++) {
    const tj_node *last = tj_terse_add(graph, embed->upper_length[i], tj_int(graph, -1));
    span = tj_terse_add(graph, span, tj_terse_mul(graph, last, embed->amount[i]));
  }
  return span;
}

static const uint32_t *count_from(tj_graph *graph, uint32_t first, uint32_t count) {
  uint32_t *numbers = TJ_NEW_ARRAY(graph->job, uint32_t, count);
  for (uint32_t i = 0; i < count; i++)
    numbers[i] = first + i;
  return numbers;
}

static const int64_t *guarantee(tj_graph *graph, uint32_t hidden_count, int64_t last) {
  int64_t *guaranteed = TJ_NEW_ARRAY(graph->job, int64_t, hidden_count);
  for (uint32_t i = 0; i < hidden_count; i++)
    guaranteed[i] = -1;
  guaranteed[hidden_count - 1] = last;
  return guaranteed;
}

static void check_vector(tj_graph *graph, int64_t length, int64_t stride) {
  if (length < 1 && length != -1)
    tj_fail(graph->job, TJ_VIEW_ARGUMENT, "a vector of length %" PRId64, length);
  if (stride < 0 && stride != -1)
    tj_fail(graph->job, TJ_VIEW_ARGUMENT, "a vector of stride %" PRId64, stride);
}

/* A view of one stage: `transform` is an embed or an unmerge of the buffer. */
static tj_view *new_base(tj_graph *graph, tj_base_kind base, const tj_transform *transform, const tj_node *offset,
                         int64_t vector_length, int64_t vector_stride) {
  check_vector(graph, vector_length, vector_stride);
  uint32_t rank = transform->upper_count;
  const tj_node **lengths = TJ_NEW_ARRAY(graph->job, const tj_node *, rank + 1);
  lengths[0] = transform->kind == TJ_TRANSFORM_EMBED ? span_of_embed(graph, transform) : transform->lower_length[0];
  memcpy(lengths + 1, transform->upper_length, rank * sizeof *lengths);
  const uint32_t *ids = count_from(graph, 0, rank + 1);
  tj_stage stage = {transform, ids, ids + 1};
  tj_view view = {.stage_count = 1, .hidden_count = rank + 1, .rank = rank, .base = base};
  view.stage = tj_arena_copy(&graph->job->arena, &stage, sizeof stage);
  view.hidden_length = lengths;
  view.visible = ids + 1;
  view.offset = offset != NULL ? offset : tj_int(graph, 0);
  view.space_size = lengths[0];
  view.guaranteed_length = guarantee(graph, rank + 1, vector_length);
  view.guaranteed_stride = guarantee(graph, rank + 1, vector_stride);
  return copy_view(graph, &view);
}

static const tj_transform *embed_of(tj_graph *graph, const tj_node *const lengths[], const tj_node *const strides[],
                                    uint32_t rank) {
  const tj_tuple *arguments[] = {tj_tuple_integers(graph, lengths, rank), tj_tuple_integers(graph, strides, rank)};
  return tj_transform_make(graph, TJ_TRANSFORM_EMBED, arguments, 2);
}

const tj_view *tj_view_strided(tj_graph *graph, const tj_tuple *lengths, const tj_tuple *strides,
                               const tj_node *offset, int64_t vector_length, int64_t vector_stride) {
  uint32_t rank, stride_count;
  const tj_node *const *length = flat_integers(graph, lengths, "lengths", 1, &rank);
  const tj_tuple *const *stride = tj_tuple_leaves(graph, strides, &stride_count);
  const tj_node **coefficients = TJ_NEW_ARRAY(graph->job, const tj_node *, stride_count);
  bool match = strides->depth <= 1 && stride_count == rank;
  for (uint32_t i = 0; match && i < rank; i++) {
    coefficients[i] = stride[i]->value;
    match = stride[i]->kind == TJ_TUPLE_INTEGER;
  }
  if (!match)
    tj_fail(graph->job, TJ_VIEW_ARGUMENT, "strides %s do not match lengths %s", tj_tuple_text(graph->job, strides),
            tj_tuple_text(graph->job, lengths));
  const tj_transform *embed = embed_of(graph, length, coefficients, rank);
  return new_base(graph, TJ_BASE_STRIDED, embed, offset, vector_length, vector_stride);
}

const tj_view *tj_view_packed(tj_graph *graph, const tj_tuple *lengths, const tj_node *offset, int64_t vector_length,
                              int64_t vector_stride) {
  uint32_t rank;
  flat_integers(graph, lengths, "lengths", 1, &rank);
  if (vector_stride != 1 && vector_stride != -1)
    tj_fail(graph->job, TJ_VIEW_ARGUMENT, "a vector of stride %" PRId64 " in a packed view", vector_stride);
  const tj_transform *unmerge = tj_transform_make(graph, TJ_TRANSFORM_UNMERGE, &lengths, 1);
  return new_base(graph, TJ_BASE_PACKED, unmerge, offset, vector_length, 1);
}

const tj_view *tj_view_aligned(tj_graph *graph, const tj_tuple *lengths, const tj_node *alignment,
                               const tj_node *offset, int64_t vector_length, int64_t vector_stride) {
  uint32_t rank, one;
  const tj_node *const *length = flat_integers(graph, lengths, "lengths", 1, &rank);
  flat_integers(graph, tj_tuple_integer(graph, alignment), "alignment", 1, &one);
  const tj_node **strides = TJ_NEW_ARRAY(graph->job, const tj_node *, rank);
  const tj_node *rows = tj_ceil_div(graph, length[rank - 1], alignment);
  const tj_node *stride = tj_terse_mul(graph, rows, alignment);
  strides[rank - 1] = tj_int(graph, 1);
  for (uint32_t i = rank - 1; i-- > 0;) {
    strides[i] = stride;
    stride = tj_terse_mul(graph, stride, length[i]);
  }
  const tj_transform *embed = embed_of(graph, length, strides, rank);
  tj_view *view = new_base(graph, TJ_BASE_ALIGNED, embed, offset, vector_length, vector_stride);
  view->alignment = alignment;
  return view;
}

/* --- stages --- */

/* A transform(…) in progress: which visible dimensions are taken, and the hidden dimension of each new one. */
typedef struct {
  tj_graph *graph;
  const tj_view *below;
  bool *consumed;
  uint32_t *visible; /* by new dimension; NOT_MADE until a step makes it */
  uint32_t rank;     /* of the new view */
} stage_builder;

enum { NOT_MADE = UINT32_MAX };

static void check_step_counts(stage_builder *self, const tj_view_step *step) {
  const tj_transform *transform = step->transform;
  if (step->lower_count == transform->lower_count && step->upper_count == transform->upper_count)
    return;
  tj_fail(self->graph->job, TJ_TRANSFORM_ARITY, "%s has %u lower and %u upper dimensions, and is given %u and %u",
          tj_transform_name(transform->kind), transform->lower_count, transform->upper_count, step->lower_count,
          step->upper_count);
}

static void check_length(stage_builder *self, const tj_transform *transform, uint32_t i, uint32_t dimension) {
  const tj_node *expected = transform->lower_length[i];
  const tj_node *actual = self->below->hidden_length[self->below->visible[dimension]];
  if (expected == NULL)
    return;
  switch (tj_decide_equal(self->graph, expected, actual)) {
  case TJ_YES:
    return;
  case TJ_NO:
    tj_fail(self->graph->job, TJ_DIMENSION_LENGTH, "%s takes a dimension of length %s, dimension %u has length %s",
            tj_transform_name(transform->kind), tj_describe(self->graph, expected), dimension,
            tj_describe(self->graph, actual));
  default:
    tj_fail_needs(self->graph, tj_transform_name(transform->kind), expected, "==", actual);
  }
}

static void consume(stage_builder *self, const tj_view_step *step, uint32_t *lower_id) {
  for (uint32_t i = 0; i < step->lower_count; i++) {
    uint32_t dimension = step->lower[i];
    if (dimension >= self->below->rank)
      tj_fail(self->graph->job, TJ_DIMENSION_CONSUMED, "dimension %u of a view of %u dimensions", dimension,
              self->below->rank);
    if (self->consumed[dimension])
      tj_fail(self->graph->job, TJ_DIMENSION_CONSUMED, "dimension %u is consumed more than once", dimension);
    self->consumed[dimension] = true;
    check_length(self, step->transform, i, dimension);
    lower_id[i] = self->below->visible[dimension];
  }
}

static void produce(stage_builder *self, const tj_view_step *step, uint32_t first_id) {
  for (uint32_t i = 0; i < step->upper_count; i++) {
    uint32_t dimension = step->upper[i];
    if (dimension >= self->rank)
      tj_fail(self->graph->job, TJ_UPPER_DIMENSIONS, "upper dimension %u of %u", dimension, self->rank);
    if (self->visible[dimension] != NOT_MADE)
      tj_fail(self->graph->job, TJ_UPPER_DIMENSIONS, "upper dimension %u is made more than once", dimension);
    self->visible[dimension] = first_id + i;
  }
}

static void check_all_consumed(stage_builder *self) {
  for (uint32_t i = 0; i < self->below->rank; i++)
    if (!self->consumed[i])
      tj_fail(self->graph->job, TJ_DIMENSION_CONSUMED, "dimension %u is consumed by no transform", i);
}

/* Grows a copy of an array by `more` entries. */
static void *grow(tj_graph *graph, const void *array, size_t count, size_t more, size_t size) {
  char *grown = tj_arena_alloc(&graph->job->arena, count + more, size);
  memcpy(grown, array, count * size);
  return grown;
}

static uint32_t total_upper(tj_graph *graph, const tj_view_step steps[], uint32_t count) {
  uint64_t total = 0;
  for (uint32_t i = 0; i < count; i++)
    total += steps[i].upper_count;
  if (total > TJ_MAX_DIMENSIONS)
    tj_fail(graph->job, TJ_WORK_LIMIT, "a view of more than %d dimensions", TJ_MAX_DIMENSIONS);
  return (uint32_t)total;
}

static const uint32_t *copy_numbers(tj_graph *graph, const uint32_t numbers[], uint32_t count) {
  return count == 0 ? NULL : tj_arena_copy(&graph->job->arena, numbers, count * sizeof *numbers);
}

const tj_view_step *tj_view_steps_copy(tj_graph *graph, const tj_view_step steps[], uint32_t count) {
  tj_view_step *copies = TJ_NEW_ARRAY(graph->job, tj_view_step, count);
  for (uint32_t i = 0; i < count; i++) {
    copies[i] = steps[i];
    copies[i].lower = copy_numbers(graph, steps[i].lower, steps[i].lower_count);
    copies[i].upper = copy_numbers(graph, steps[i].upper, steps[i].upper_count);
  }
  return copies;
}

static const int64_t *grow_guarantee(tj_graph *graph, const int64_t *guaranteed, uint32_t count, uint32_t more) {
  int64_t *grown = grow(graph, guaranteed, count, more, sizeof *grown);
  for (uint32_t i = 0; i < more; i++)
    grown[count + i] = -1;
  return grown;
}

static void add_stages(stage_builder *self, tj_view *view, const tj_view_step steps[], uint32_t count) {
  tj_graph *graph = self->graph;
  const tj_view *below = self->below;
  tj_stage *stages = grow(graph, below->stage, below->stage_count, count, sizeof *stages);
  const tj_node **lengths = grow(graph, below->hidden_length, below->hidden_count, self->rank, sizeof *lengths);
  uint32_t next_id = below->hidden_count;
  for (uint32_t i = 0; i < count; i++) {
    const tj_transform *transform = steps[i].transform;
    check_step_counts(self, &steps[i]);
    uint32_t *lower_id = TJ_NEW_ARRAY(graph->job, uint32_t, transform->lower_count);
    consume(self, &steps[i], lower_id);
    produce(self, &steps[i], next_id);
    stages[below->stage_count + i] =
        (tj_stage){transform, lower_id, count_from(graph, next_id, transform->upper_count)};
    for (uint32_t k = 0; k < transform->upper_count; k++)
      lengths[next_id++] = transform->upper_length[k];
  }
  view->stage = stages;
  view->hidden_length = lengths;
}

const tj_view *tj_view_transform(tj_graph *graph, const tj_view *below, const tj_view_step steps[], uint32_t count) {
  tj_spend(graph->job, (uint64_t)below->hidden_count + below->stage_count + count);
  stage_builder self = {graph, below, TJ_NEW_ARRAY(graph->job, bool, below->rank), NULL,
                        total_upper(graph, steps, count)};
  uint32_t *visible = self.visible = TJ_NEW_ARRAY(graph->job, uint32_t, self.rank);
  for (uint32_t i = 0; i < self.rank; i++)
    visible[i] = NOT_MADE;
  tj_view *view = copy_view(graph, below);
  add_stages(&self, view, steps, count);
  check_all_consumed(&self);
  view->stage_count += count;
  view->hidden_count += self.rank;
  view->rank = self.rank;
  view->visible = visible;
  view->guaranteed_length = grow_guarantee(graph, below->guaranteed_length, below->hidden_count, self.rank);
  view->guaranteed_stride = grow_guarantee(graph, below->guaranteed_stride, below->hidden_count, self.rank);
  view->below = below;
  view->step = tj_view_steps_copy(graph, steps, count);
  view->step_count = count;
  return view;
}

/* --- below merges --- */

/* A view on its way to one of the dimensions that merges take. */
typedef struct {
  tj_graph *graph;
  const tj_view *view;
  bool *is_removed; /* by stage */
  uint32_t visible[TJ_MAX_DIMENSIONS];
  uint32_t rank;
} unmerging;

/* The merge, or passing through, that makes a hidden dimension; the view has stage_count stages: there is none. */
static uint32_t merge_that_makes(const unmerging *u, uint32_t id, bool is_wanted) {
  tj_spend(u->graph->job, u->view->stage_count);
  for (uint32_t s = 1; s < u->view->stage_count; s++) {
    const tj_stage *stage = &u->view->stage[s];
    tj_transform_kind kind = stage->transform->kind;
    bool is_merge = kind == TJ_TRANSFORM_MERGE && is_wanted;
    if ((is_merge || kind == TJ_TRANSFORM_PASS_THROUGH) && stage->upper_id[0] == id)
      return s;
  }
  return u->view->stage_count;
}

/* False where there would be too many dimensions. Of one whose merges are not wanted, what it passes through goes. */
static bool show_below(unmerging *u, uint32_t id, bool is_wanted) {
  uint32_t waiting[TJ_MAX_DIMENSIONS] = {id}, count = 1;
  while (count > 0) {
    id = waiting[--count];
    uint32_t number = merge_that_makes(u, id, is_wanted);
    if (number == u->view->stage_count) {
      if (u->rank == TJ_MAX_DIMENSIONS)
        return false;
      u->visible[u->rank++] = id;
      continue;
    }
    const tj_stage *stage = &u->view->stage[number];
    uint32_t lower_count = stage->transform->lower_count;
    if (count + lower_count > TJ_MAX_DIMENSIONS)
      return false;
    for (uint32_t i = lower_count; i-- > 0;)
      waiting[count++] = stage->lower_id[i];
    u->is_removed[number] = true;
  }
  return true;
}

static tj_view *unmerged_view(const unmerging *u) {
  tj_view *view = copy_view(u->graph, u->view);
  tj_stage *kept = TJ_NEW_ARRAY(u->graph->job, tj_stage, view->stage_count);
  view->stage_count = 0;
  for (uint32_t s = 0; s < u->view->stage_count; s++) {
    if (!u->is_removed[s])
      kept[view->stage_count++] = u->view->stage[s];
  }
  view->stage = kept;
  view->rank = u->rank;
  view->visible = tj_arena_copy(&u->graph->job->arena, u->visible, u->rank * sizeof *u->visible);
  return view;
}

const tj_view *tj_view_below_merges(tj_graph *graph, const tj_view *view, const bool wanted[], uint32_t parts[]) {
  unmerging u = {.graph = graph, .view = view, .is_removed = TJ_NEW_ARRAY(graph->job, bool, view->stage_count)};
  for (uint32_t i = 0; i < view->rank; i++) {
    uint32_t first = u.rank;
    if (!show_below(&u, view->visible[i], wanted[i]))
      return NULL;
    parts[i] = u.rank - first;
  }
  return unmerged_view(&u);
}

const tj_tuple *tj_view_lengths(tj_graph *graph, const tj_view *view) {
  const tj_node **lengths = TJ_NEW_ARRAY(graph->job, const tj_node *, view->rank);
  for (uint32_t i = 0; i < view->rank; i++)
    lengths[i] = view->hidden_length[view->visible[i]];
  return tj_tuple_integers(graph, lengths, view->rank);
}

const tj_node *tj_view_allocation_size(tj_graph *graph, const tj_view *view) {
  const tj_transform *base = view->stage[0].transform;
  if (base->kind == TJ_TRANSFORM_UNMERGE)
    return view->space_size;
  return tj_terse_mul(graph, base->upper_length[0], base->amount[0]);
}

const tj_node *tj_view_reach_below(tj_graph *graph, const tj_view *view) {
  const tj_transform *base = view->stage[0].transform;
  const tj_node *reach = tj_int(graph, 0), *zero = reach;
  for (uint32_t i = 0; base->kind == TJ_TRANSFORM_EMBED && i < base->upper_count; i++) {
    if (tj_facts_nonnegative(&base->amount[i]->facts))
      continue;
    const tj_node *step = tj_sub(graph, zero, tj_min(graph, base->amount[i], zero));
    const tj_node *last = tj_sub(graph, base->upper_length[i], tj_int(graph, 1));
    reach = tj_add(graph, reach, tj_mul(graph, last, step));
  }
  return reach;
}

/* --- offsets and validity --- */

/* Indices of all hidden dimensions, from the visible ones down to those above stage `lowest`; `valid`, when not NULL,
 * becomes the conjunction of the predicates on the way. */
static const tj_node **hidden_indices(tj_graph *graph, const tj_view *view, const tj_node *const coordinate[],
                                      uint32_t lowest, const tj_node **valid) {
  tj_spend(graph->job, (uint64_t)view->hidden_count + view->stage_count);
  const tj_node **index = TJ_NEW_ARRAY(graph->job, const tj_node *, view->hidden_count);
  const tj_node *upper[TJ_MAX_DIMENSIONS], *lower[TJ_MAX_DIMENSIONS];
  for (uint32_t i = 0; i < view->rank; i++)
    index[view->visible[i]] = coordinate[i];
  for (uint32_t s = view->stage_count; s-- > lowest;) {
    const tj_stage *stage = &view->stage[s];
    for (uint32_t i = 0; i < stage->transform->upper_count; i++)
      upper[i] = index[stage->upper_id[i]];
    tj_transform_lower(graph, stage->transform, upper, lower);
    for (uint32_t i = 0; i < stage->transform->lower_count; i++)
      index[stage->lower_id[i]] = lower[i];
    if (valid != NULL)
      *valid = tj_terse_both(graph, *valid, tj_transform_valid(graph, stage->transform, upper));
  }
  return index;
}

const tj_node *tj_view_offset(tj_graph *graph, const tj_view *view, const tj_node *const coordinate[]) {
  return tj_terse_add(graph, hidden_indices(graph, view, coordinate, 0, NULL)[0], view->offset);
}

/* 0 <= index < length, as far as it is not plain from the facts. */
static const tj_node *within(tj_graph *graph, const tj_node *index, const tj_node *length) {
  const tj_node *inside = tj_int(graph, 1);
  if (!tj_facts_nonnegative(&index->facts))
    inside = tj_less(graph, tj_int(graph, -1), index);
  if (tj_decide_less(graph, index, length) != TJ_YES)
    inside = tj_terse_both(graph, inside, tj_less(graph, index, length));
  return inside;
}

const tj_node *tj_view_valid(tj_graph *graph, const tj_view *view, const tj_node *const coordinate[],
                             bool check_top) {
  const tj_node *valid = tj_int(graph, 1);
  for (uint32_t i = 0; check_top && i < view->rank; i++)
    valid = tj_terse_both(graph, valid, within(graph, coordinate[i], view->hidden_length[view->visible[i]]));
  hidden_indices(graph, view, coordinate, 1, &valid);
  return valid;
}

/* --- vectors --- */

static void gather(const int64_t from[], const uint32_t ids[], uint32_t count, int64_t to[]) {
  for (uint32_t i = 0; i < count; i++)
    to[i] = from[ids[i]];
}

/* What a guarantee says wins over what was inferred. */
static void scatter(const int64_t from[], const uint32_t ids[], uint32_t count, int64_t to[]) {
  for (uint32_t i = 0; i < count; i++)
    if (to[ids[i]] == -1)
      to[ids[i]] = from[i];
}

void tj_view_vectors(tj_graph *graph, const tj_view *view, int64_t lengths[], int64_t strides[]) {
  int64_t *length = grow(graph, view->guaranteed_length, view->hidden_count, 0, sizeof *length);
  int64_t *stride = grow(graph, view->guaranteed_stride, view->hidden_count, 0, sizeof *stride);
  int64_t lower_length[TJ_MAX_DIMENSIONS], lower_stride[TJ_MAX_DIMENSIONS];
  int64_t upper_length[TJ_MAX_DIMENSIONS], upper_stride[TJ_MAX_DIMENSIONS];
  for (uint32_t s = 0; s < view->stage_count; s++) {
    const tj_transform *transform = view->stage[s].transform;
    gather(length, view->stage[s].lower_id, transform->lower_count, lower_length);
    gather(stride, view->stage[s].lower_id, transform->lower_count, lower_stride);
    tj_transform_vectors(graph, transform, lower_length, lower_stride, upper_length, upper_stride);
    scatter(upper_length, view->stage[s].upper_id, transform->upper_count, length);
    scatter(upper_stride, view->stage[s].upper_id, transform->upper_count, stride);
  }
  gather(length, view->visible, view->rank, lengths);
  gather(stride, view->visible, view->rank, strides);
}

/* --- text --- */

static void print_base(tj_text *text, const tj_view *view) {
  static const char *const names[] = {"strided(", "packed(", "aligned("};
  const tj_transform *transform = view->stage[0].transform;
  uint32_t rank = transform->upper_count;
  tj_text_string(text, names[view->base]);
  tj_tuple_print_nodes(text, transform->upper_length, rank);
  if (view->base == TJ_BASE_STRIDED) {
    tj_text_char(text, ',');
    tj_tuple_print_nodes(text, transform->amount, rank);
  }
  if (view->base == TJ_BASE_ALIGNED) {
    tj_text_char(text, ',');
    tj_node_print(text, view->alignment);
  }
  if (!tj_is_int(view->offset, 0)) {
    tj_text_string(text, ",offset=");
    tj_node_print(text, view->offset);
  }
  int64_t length = view->guaranteed_length[rank], stride = view->guaranteed_stride[rank];
  bool plain_stride = stride == (view->base == TJ_BASE_PACKED ? 1 : -1);
  if (length != -1 || !plain_stride)
    tj_text_format(text, ",vector=(%" PRId64 ",%" PRId64 ")", length, stride);
  tj_text_char(text, ')');
}

static void print_numbers(tj_text *text, const uint32_t numbers[], uint32_t count) {
  tj_text_char(text, '[');
  for (uint32_t i = 0; i < count; i++)
    tj_text_format(text, i == 0 ? "%u" : ",%u", numbers[i]);
  tj_text_char(text, ']');
}

void tj_view_steps_print(tj_text *text, const tj_view_step steps[], uint32_t count) {
  tj_text_char(text, '[');
  for (uint32_t i = 0; i < count; i++) {
    tj_text_string(text, i == 0 ? "" : ",");
    tj_transform_print(text, steps[i].transform);
  }
  tj_text_string(text, "], [");
  for (uint32_t i = 0; i < count; i++) {
    tj_text_string(text, i == 0 ? "" : ",");
    print_numbers(text, steps[i].lower, steps[i].lower_count);
  }
  tj_text_string(text, "], [");
  for (uint32_t i = 0; i < count; i++) {
    tj_text_string(text, i == 0 ? "" : ",");
    print_numbers(text, steps[i].upper, steps[i].upper_count);
  }
  tj_text_string(text, "])");
}

void tj_view_print(tj_text *text, const tj_view *view) {
  uint32_t depth = 0;
  for (const tj_view *v = view; v->below != NULL; v = v->below)
    depth++;
  const tj_view **chain = TJ_NEW_ARRAY(text->job, const tj_view *, depth + 1);
  for (uint32_t i = 0; i <= depth; i++, view = view->below)
    chain[depth - i] = view;
  for (uint32_t i = 0; i < depth; i++)
    tj_text_string(text, "transform(");
  print_base(text, chain[0]);
  for (uint32_t i = 1; i <= depth; i++) {
    tj_text_string(text, ", ");
    tj_view_steps_print(text, chain[i]->step, chain[i]->step_count);
  }
}
