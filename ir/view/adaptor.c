/* SPDX-License-Identifier: MIT */
/* Adaptors: stages, chaining, evaluation, text. */
#include "ir/view/adaptor.h"

#include "ir/layout/arith.h"

/* --- stages --- */

/* A stage in progress: which dimensions below are taken, and the length of each new one. */
typedef struct {
  tj_graph *graph;
  uint32_t below_rank, rank;
  const tj_node **below_length; /* an entry is NULL where any length is accepted, and is then written */
  bool *consumed;
  bool *made;
  const tj_node **length;
} stage_builder;

static uint32_t checked_rank(tj_graph *graph, uint64_t total) {
  if (total > TJ_MAX_DIMENSIONS)
    tj_fail(graph->job, TJ_WORK_LIMIT, "an adaptor of more than %d dimensions", TJ_MAX_DIMENSIONS);
  return (uint32_t)total;
}

static void check_counts(stage_builder *self, const tj_view_step *step) {
  const tj_transform *transform = step->transform;
  if (step->lower_count != transform->lower_count || step->upper_count != transform->upper_count)
    tj_fail(self->graph->job, TJ_TRANSFORM_ARITY, "%s has %u lower and %u upper dimensions, and is given %u and %u",
            tj_transform_name(transform->kind), transform->lower_count, transform->upper_count, step->lower_count,
            step->upper_count);
}

static void check_length(stage_builder *self, const tj_transform *transform, uint32_t i, uint32_t dimension) {
  const tj_node *expected = transform->lower_length[i], *actual = self->below_length[dimension];
  if (expected == NULL || actual == NULL)
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

static void consume(stage_builder *self, const tj_view_step *step) {
  for (uint32_t i = 0; i < step->lower_count; i++) {
    uint32_t dimension = step->lower[i];
    if (dimension >= self->below_rank)
      tj_fail(self->graph->job, TJ_DIMENSION_CONSUMED, "dimension %u of an adaptor of %u dimensions", dimension,
              self->below_rank);
    if (self->consumed[dimension])
      tj_fail(self->graph->job, TJ_DIMENSION_CONSUMED, "dimension %u is consumed more than once", dimension);
    self->consumed[dimension] = true;
    check_length(self, step->transform, i, dimension);
    if (self->below_length[dimension] == NULL)
      self->below_length[dimension] = step->transform->lower_length[i];
  }
}

static void produce(stage_builder *self, const tj_view_step *step) {
  for (uint32_t i = 0; i < step->upper_count; i++) {
    uint32_t dimension = step->upper[i];
    if (dimension >= self->rank)
      tj_fail(self->graph->job, TJ_UPPER_DIMENSIONS, "upper dimension %u of %u", dimension, self->rank);
    if (self->made[dimension])
      tj_fail(self->graph->job, TJ_UPPER_DIMENSIONS, "upper dimension %u is made more than once", dimension);
    self->made[dimension] = true;
    self->length[dimension] = step->transform->upper_length[i];
  }
}

/* Consumes and produces by every step; fills in the parts of `adaptor` that one stage determines. */
static void build_stage(stage_builder *self, tj_adaptor *adaptor, const tj_view_step steps[], uint32_t count) {
  tj_graph *graph = self->graph;
  tj_spend(graph->job, (uint64_t)self->below_rank + self->rank + count + 1);
  self->consumed = TJ_NEW_ARRAY(graph->job, bool, self->below_rank);
  self->made = TJ_NEW_ARRAY(graph->job, bool, self->rank);
  self->length = TJ_NEW_ARRAY(graph->job, const tj_node *, self->rank);
  for (uint32_t i = 0; i < count; i++) {
    check_counts(self, &steps[i]);
    consume(self, &steps[i]);
    produce(self, &steps[i]);
  }
  for (uint32_t i = 0; i < self->below_rank; i++)
    if (!self->consumed[i])
      tj_fail(graph->job, TJ_DIMENSION_CONSUMED, "dimension %u is consumed by no transform", i);
  adaptor->rank = self->rank;
  adaptor->length = self->length;
  adaptor->step = tj_view_steps_copy(graph, steps, count);
  adaptor->step_count = count;
}

static stage_builder new_stage(tj_graph *graph, const tj_view_step steps[], uint32_t count, uint64_t *lower_total) {
  uint64_t upper_total = 0;
  *lower_total = 0;
  for (uint32_t i = 0; i < count; i++) {
    *lower_total += steps[i].lower_count;
    upper_total += steps[i].upper_count;
  }
  return (stage_builder){.graph = graph, .rank = checked_rank(graph, upper_total)};
}

const tj_adaptor *tj_adaptor_make(tj_graph *graph, const tj_view_step steps[], uint32_t count) {
  uint64_t lower_total;
  stage_builder self = new_stage(graph, steps, count, &lower_total);
  self.below_rank = checked_rank(graph, lower_total);
  self.below_length = TJ_NEW_ARRAY(graph->job, const tj_node *, self.below_rank);
  tj_adaptor *adaptor = TJ_NEW(graph->job, tj_adaptor);
  build_stage(&self, adaptor, steps, count);
  adaptor->bottom_rank = self.below_rank;
  adaptor->bottom_length = self.below_length;
  adaptor->stage_count = 1;
  return adaptor;
}

const tj_adaptor *tj_adaptor_of_transform(tj_graph *graph, const tj_transform *transform) {
  uint32_t numbers[TJ_MAX_DIMENSIONS];
  for (uint32_t i = 0; i < TJ_MAX_DIMENSIONS; i++)
    numbers[i] = i;
  tj_view_step step = {transform, numbers, numbers, transform->lower_count, transform->upper_count};
  return tj_adaptor_make(graph, &step, 1);
}

const tj_adaptor *tj_adaptor_transform(tj_graph *graph, const tj_adaptor *below, const tj_view_step steps[],
                                       uint32_t count) {
  uint64_t lower_total;
  stage_builder self = new_stage(graph, steps, count, &lower_total);
  self.below_rank = below->rank;
  self.below_length = tj_arena_copy(&graph->job->arena, below->length, below->rank * sizeof *below->length);
  tj_adaptor *adaptor = TJ_NEW(graph->job, tj_adaptor);
  build_stage(&self, adaptor, steps, count);
  adaptor->bottom_rank = below->bottom_rank;
  adaptor->bottom_length = below->bottom_length;
  adaptor->below = below;
  adaptor->stage_count = below->stage_count + 1;
  return adaptor;
}

/* The stages of an adaptor, bottom up. */
static const tj_adaptor **stages_of(tj_job *job, const tj_adaptor *adaptor) {
  uint32_t count = adaptor->stage_count;
  const tj_adaptor **stages = TJ_NEW_ARRAY(job, const tj_adaptor *, count);
  for (uint32_t i = count; i-- > 0; adaptor = adaptor->below)
    stages[i] = adaptor;
  return stages;
}

/* --- chains --- */

static void check_stages(tj_graph *graph, uint32_t lower, uint32_t upper) {
  if (lower + upper > TJ_MAX_STAGES)
    tj_fail(graph->job, TJ_WORK_LIMIT, "a chain of more than %d stages", TJ_MAX_STAGES);
}

static void check_chain(tj_graph *graph, const tj_adaptor *upper, const tj_node *const lengths[], uint32_t rank) {
  if (upper->bottom_rank != rank)
    tj_fail(graph->job, TJ_CHAIN_MISMATCH, "the upper one has %u bottom dimensions, the lower one %u dimensions",
            upper->bottom_rank, rank);
  for (uint32_t i = 0; i < rank; i++) {
    const tj_node *expected = upper->bottom_length[i];
    if (expected == NULL)
      continue;
    tj_decision agree = tj_decide_equal(graph, expected, lengths[i]);
    if (agree == TJ_NO)
      tj_fail(graph->job, TJ_CHAIN_MISMATCH, "bottom dimension %u has length %s, the dimension that it meets %s", i,
              tj_describe(graph, expected), tj_describe(graph, lengths[i]));
    if (agree == TJ_UNKNOWN)
      tj_fail_needs(graph, "chain", expected, "==", lengths[i]);
  }
}

const tj_adaptor *tj_adaptor_chain(tj_graph *graph, const tj_adaptor *lower, const tj_adaptor *upper) {
  check_chain(graph, upper, lower->length, lower->rank);
  check_stages(graph, lower->stage_count, upper->stage_count);
  const tj_adaptor **stages = stages_of(graph->job, upper);
  for (uint32_t i = 0; i < upper->stage_count; i++)
    lower = tj_adaptor_transform(graph, lower, stages[i]->step, stages[i]->step_count);
  return lower;
}

const tj_view *tj_view_chain(tj_graph *graph, const tj_view *lower, const tj_adaptor *upper) {
  const tj_tuple *lengths = tj_view_lengths(graph, lower);
  const tj_node **nodes = TJ_NEW_ARRAY(graph->job, const tj_node *, lower->rank);
  for (uint32_t i = 0; i < lower->rank; i++)
    nodes[i] = lengths->item[i]->value;
  check_chain(graph, upper, nodes, lower->rank);
  check_stages(graph, lower->stage_count, upper->stage_count);
  const tj_adaptor **stages = stages_of(graph->job, upper);
  for (uint32_t i = 0; i < upper->stage_count; i++)
    lower = tj_view_transform(graph, lower, stages[i]->step, stages[i]->step_count);
  return lower;
}

static const tj_transform *transform_of(tj_graph *graph, tj_transform_kind kind, const tj_node *a, const tj_node *b,
                                        const tj_node *c) {
  const tj_tuple *args[3] = {tj_tuple_integer(graph, a), tj_tuple_integer(graph, b)};
  if (c != NULL)
    args[2] = tj_tuple_integer(graph, c);
  return tj_transform_make(graph, kind, args, c != NULL ? 3 : 2);
}

/* The bottom stage of a view that does not reach over its whole buffer: the part from `offset` on. */
static const tj_adaptor *part_of_buffer(tj_graph *graph, const tj_view *view, const tj_node *length) {
  const tj_node *end = tj_terse_add(graph, view->offset, view->space_size);
  if (length == NULL)
    return tj_adaptor_of_transform(graph,
                                   transform_of(graph, TJ_TRANSFORM_OFFSET, view->space_size, view->offset, NULL));
  tj_decision fits = tj_decide_less_equal(graph, end, length);
  if (fits == TJ_NO)
    tj_fail(graph->job, TJ_CHAIN_MISMATCH, "the upper view needs a buffer of %s elements, the dimension has %s",
            tj_describe(graph, end), tj_describe(graph, length));
  if (fits == TJ_UNKNOWN)
    tj_fail_needs(graph, "chain", end, "<=", length);
  return tj_adaptor_of_transform(graph, transform_of(graph, TJ_TRANSFORM_SLICE, length, view->offset, end));
}

/* The whole of a stage that is the view's base: an embed or an unmerge. */
static const tj_adaptor *base_stage(tj_graph *graph, const tj_view *view, const tj_node *length) {
  const tj_adaptor *base = tj_adaptor_of_transform(graph, view->stage[0].transform);
  bool whole = length == NULL || tj_surely_equal(graph, length, view->space_size);
  if (tj_is_int(view->offset, 0) && whole)
    return base;
  const tj_adaptor *part = part_of_buffer(graph, view, length);
  return tj_adaptor_transform(graph, part, base->step, base->step_count);
}

const tj_adaptor *tj_adaptor_of_view(tj_graph *graph, const tj_view *view, const tj_node *length) {
  uint32_t count = 0;
  for (const tj_view *v = view; v->below != NULL; v = v->below)
    count++;
  const tj_view **views = TJ_NEW_ARRAY(graph->job, const tj_view *, count + 1);
  for (uint32_t i = count + 1; i-- > 0; view = view->below)
    views[i] = view;
  const tj_adaptor *adaptor = base_stage(graph, views[0], length);
  for (uint32_t i = 1; i <= count; i++)
    adaptor = tj_adaptor_transform(graph, adaptor, views[i]->step, views[i]->step_count);
  return adaptor;
}

/* --- evaluation --- */

const tj_tuple *tj_adaptor_lengths(tj_graph *graph, const tj_adaptor *adaptor) {
  return tj_tuple_integers(graph, adaptor->length, adaptor->rank);
}

static void lower_step(tj_graph *graph, const tj_view_step *step, const tj_node *const from[], const tj_node *to[],
                       const tj_node **valid) {
  const tj_node *upper[TJ_MAX_DIMENSIONS], *lower[TJ_MAX_DIMENSIONS];
  for (uint32_t i = 0; i < step->upper_count; i++)
    upper[i] = from[step->upper[i]];
  tj_transform_lower(graph, step->transform, upper, lower);
  for (uint32_t i = 0; i < step->lower_count; i++)
    to[step->lower[i]] = lower[i];
  *valid = tj_terse_both(graph, *valid, tj_transform_valid(graph, step->transform, upper));
}

void tj_adaptor_lower(tj_graph *graph, const tj_adaptor *adaptor, const tj_node *const upper[],
                      const tj_node *lower[], const tj_node **valid) {
  const tj_node *from[TJ_MAX_DIMENSIONS] = {NULL}, *to[TJ_MAX_DIMENSIONS] = {NULL};
  for (uint32_t i = 0; i < adaptor->rank; i++)
    from[i] = upper[i];
  *valid = tj_int(graph, 1);
  for (const tj_adaptor *stage = adaptor; stage != NULL; stage = stage->below) {
    uint32_t rank = stage->below != NULL ? stage->below->rank : stage->bottom_rank;
    tj_spend(graph->job, (uint64_t)rank + stage->rank + stage->step_count);
    for (uint32_t i = 0; i < stage->step_count; i++)
      lower_step(graph, &stage->step[i], from, to, valid);
    for (uint32_t i = 0; i < rank; i++)
      from[i] = to[i];
  }
  for (uint32_t i = 0; i < adaptor->bottom_rank; i++)
    lower[i] = from[i];
}

/* --- text --- */

void tj_adaptor_print(tj_text *text, const tj_adaptor *adaptor) {
  const tj_adaptor **stages = stages_of(text->job, adaptor);
  for (uint32_t i = 1; i < adaptor->stage_count; i++)
    tj_text_string(text, "transform(");
  tj_text_string(text, "adaptor(");
  tj_view_steps_print(text, stages[0]->step, stages[0]->step_count);
  for (uint32_t i = 1; i < adaptor->stage_count; i++) {
    tj_text_string(text, ", ");
    tj_view_steps_print(text, stages[i]->step, stages[i]->step_count);
  }
}
