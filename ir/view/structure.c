/* SPDX-License-Identifier: MIT */
/* Structural simplification: from a view to nodes, the engine that applies rules, and from nodes to stages. */
#include "ir/index/print.h"
#include "ir/layout/arith.h"
#include "ir/view/move.h"
#include "ir/view/structure_graph.h"

#include <inttypes.h>
#include <string.h>

/* --- the graph --- */

static void *grown(tj_graph *graph, void *array, uint32_t count, uint32_t *capacity, size_t size) {
  if (count < *capacity)
    return array;
  *capacity = *capacity == 0 ? 32 : 2 * *capacity;
  char *larger = tj_arena_alloc(&graph->job->arena, *capacity, size);
  if (count > 0)
    memcpy(larger, array, count * size);
  return larger;
}

uint32_t tj_structure_add_node(tj_structure *self, tj_stage_kind kind) {
  self->node = grown(self->graph, self->node, self->node_count, &self->node_capacity, sizeof(tj_structure_node *));
  tj_structure_node *node = TJ_NEW(self->graph->job, tj_structure_node);
  node->kind = kind;
  self->node[self->node_count] = node;
  return self->node_count++;
}

uint32_t tj_structure_add_dimension(tj_structure *self, const tj_node *length, const tj_node *index) {
  self->dimension = grown(self->graph, self->dimension, self->dimension_count, &self->dimension_capacity,
                          sizeof(tj_structure_dimension));
  self->dimension[self->dimension_count] = (tj_structure_dimension){length, index, TJ_NO_NODE, TJ_NO_NODE};
  return self->dimension_count++;
}

void tj_structure_lower(tj_structure *self, uint32_t number, uint32_t dimension) {
  tj_structure_node *node = self->node[number];
  node->lower[node->lower_count++] = dimension;
  self->dimension[dimension].made_by = number;
}

void tj_structure_upper(tj_structure *self, uint32_t number, uint32_t dimension, const tj_node *factor) {
  tj_structure_node *node = self->node[number];
  if (factor != NULL)
    node->number[node->upper_count] = factor;
  node->upper[node->upper_count++] = dimension;
  self->dimension[dimension].used_by = number;
}

/* --- from a view --- */

/* An affine transform's lower index where upper index `i` is 1 and the others are 0; all of them, where there is none
 * of that number. */
static const tj_node *lower_of_unit(tj_graph *graph, const tj_transform *transform, uint32_t i) {
  const tj_node *upper[TJ_MAX_DIMENSIONS], *lower;
  for (uint32_t k = 0; k < transform->upper_count; k++)
    upper[k] = tj_int(graph, k == i ? 1 : 0);
  tj_transform_lower(graph, transform, upper, &lower);
  return lower;
}

static const tj_node *constant_of(tj_graph *graph, const tj_transform *transform) {
  return lower_of_unit(graph, transform, transform->upper_count);
}

static const tj_node *factor_of(tj_graph *graph, const tj_transform *transform, uint32_t i) {
  return tj_terse_sub(graph, lower_of_unit(graph, transform, i), constant_of(graph, transform));
}

static void add_stage(tj_structure *self, const tj_stage *stage) {
  const tj_transform *transform = stage->transform;
  tj_stage_kind kind = tj_transform_stage(transform->kind);
  uint32_t number = tj_structure_add_node(self, kind);
  tj_structure_node *node = self->node[number];
  node->transform = transform;
  for (uint32_t i = 0; i < transform->lower_count; i++) {
    tj_structure_lower(self, number, stage->lower_id[i]);
    if (kind == TJ_STAGE_MERGE)
      node->number[i] = transform->lower_length[i];
  }
  for (uint32_t i = 0; i < transform->upper_count; i++)
    tj_structure_upper(self, number, stage->upper_id[i],
                       kind == TJ_STAGE_AFFINE ? factor_of(self->graph, transform, i) : NULL);
  if (kind == TJ_STAGE_AFFINE)
    node->constant = constant_of(self->graph, transform);
}

/* The symbols stand for coordinates within the visible dimensions. */
static tj_structure structure_of(tj_graph *graph, const tj_view *view) {
  tj_structure self = {.graph = graph};
  const tj_node *coordinate[TJ_MAX_DIMENSIONS];
  for (uint32_t i = 0; i < view->rank; i++)
    coordinate[i] = tj_coordinate(graph, "index", view->hidden_length[view->visible[i]]);
  tj_cursor cursor = tj_cursor_at(graph, view, coordinate);
  for (uint32_t i = 0; i < view->hidden_count; i++)
    tj_structure_add_dimension(&self, view->hidden_length[i], cursor.index[i]);
  for (uint32_t s = 0; s < view->stage_count; s++)
    add_stage(&self, &view->stage[s]);
  return self;
}

/* --- the engine --- */

static void print_lengths(tj_text *text, const char *name, const tj_node *const numbers[], uint32_t count) {
  tj_text_format(text, "%s(", name);
  for (uint32_t i = 0; i < count; i++) {
    tj_text_string(text, i > 0 ? "," : "");
    tj_node_print(text, numbers[i]);
  }
  tj_text_char(text, ')');
}

static const char *describe(tj_structure *self, const tj_structure_node *node) {
  tj_text text = tj_text_begin(self->graph->job);
  switch (node->kind) {
  case TJ_STAGE_AFFINE:
    print_lengths(&text, "sum", node->number, node->upper_count);
    if (!tj_is_int(node->constant, 0)) {
      tj_text_string(&text, " + ");
      tj_node_print(&text, node->constant);
    }
    break;
  case TJ_STAGE_MERGE:
    print_lengths(&text, "merge", node->number, node->lower_count);
    break;
  case TJ_STAGE_PAD:
  case TJ_STAGE_OTHER:
    tj_transform_print(&text, node->transform);
    break;
  case TJ_STAGE_UNUSED:
    tj_text_string(&text, "insert");
    break;
  }
  return text.data;
}

/* Events, as they happen; `event` is NULL where nobody asked. */
typedef struct {
  tj_graph *graph;
  bool wanted;
  tj_structure_event *event;
  uint32_t count, capacity;
} recorder;

static void record(recorder *self, const char *rule, const char *where) {
  self->event = grown(self->graph, self->event, self->count, &self->capacity, sizeof *self->event);
  self->event[self->count++] = (tj_structure_event){rule, where};
}

static bool apply_rule(tj_structure *self, const tj_structure_rule *rule, recorder *events) {
  for (uint32_t n = 0; n < self->node_count; n++) {
    tj_structure_node *node = self->node[n];
    if (node->dead || node->kind != rule->kind)
      continue;
    tj_spend(self->graph->job, 1 + node->lower_count + node->upper_count);
    const char *where = events->wanted ? describe(self, node) : NULL;
    if (!rule->apply(self, n))
      continue;
    if (events->wanted)
      record(events, rule->name, where);
    return true;
  }
  return false;
}

/* Earlier rules first, to a fixpoint. */
static void apply_rules(tj_structure *self, recorder *events) {
  for (uint32_t r = 0; r < tj_structure_rule_count;)
    r = apply_rule(self, &tj_structure_rules[r], events) ? 0 : r + 1;
}

/* --- to stages --- */

typedef struct {
  tj_structure *from;
  tj_graph *graph;
  tj_view *view;
  tj_stage *stage;
  uint32_t stage_count, stage_capacity;
  const tj_node **length;
  uint32_t length_count, length_capacity;
  uint32_t *id; /* the hidden dimension of each dimension; TJ_NO_NODE while it has none */
} emission;

static uint32_t new_hidden(emission *self, const tj_node *length) {
  self->length =
      grown(self->graph, self->length, self->length_count, &self->length_capacity, sizeof(const tj_node *));
  self->length[self->length_count] = length;
  return self->length_count++;
}

static void emit_stage(emission *self, const tj_transform *transform, const uint32_t lower[],
                       const uint32_t upper[]) {
  self->stage = grown(self->graph, self->stage, self->stage_count, &self->stage_capacity, sizeof *self->stage);
  tj_arena *arena = &self->graph->job->arena;
  tj_stage stage = {transform, NULL, NULL};
  if (transform->lower_count > 0)
    stage.lower_id = tj_arena_copy(arena, lower, transform->lower_count * sizeof *lower);
  if (transform->upper_count > 0)
    stage.upper_id = tj_arena_copy(arena, upper, transform->upper_count * sizeof *upper);
  self->stage[self->stage_count++] = stage;
}

static const tj_transform *make(emission *self, tj_transform_kind kind, const tj_node *const first[],
                                const tj_node *const second[], uint32_t count) {
  const tj_tuple *args[] = {tj_tuple_integers(self->graph, first, count),
                            second != NULL ? tj_tuple_integers(self->graph, second, count) : NULL};
  return tj_transform_make(self->graph, kind, args, second != NULL ? 2 : 1);
}

/* The lengths of a node's upper dimensions. */
static void lengths_of(emission *self, const tj_structure_node *node, const tj_node *lengths[]) {
  for (uint32_t i = 0; i < node->upper_count; i++)
    lengths[i] = self->from->dimension[node->upper[i]].length;
}

/* The sum of a node's terms, without its constant, into a hidden dimension. */
static void emit_terms(emission *self, const tj_structure_node *node, uint32_t lower, const uint32_t upper[]) {
  const tj_node *lengths[TJ_MAX_DIMENSIONS], *zero = tj_int(self->graph, 0);
  lengths_of(self, node, lengths);
  if (node->upper_count == 0)
    emit_stage(self, make(self, TJ_TRANSFORM_FREEZE, &zero, NULL, 1), &lower, NULL);
  else
    emit_stage(self, make(self, TJ_TRANSFORM_EMBED, lengths, node->number, node->upper_count), &lower, upper);
}

/* The buffer's own constant goes to the view's offset. */
static void emit_affine(emission *self, const tj_structure_node *node, const uint32_t upper[]) {
  uint32_t lower = self->id[node->lower[0]];
  const tj_node *length = self->from->dimension[node->lower[0]].length;
  if (lower == 0)
    self->view->offset = tj_terse_add(self->graph, self->view->offset, node->constant);
  if (lower == 0 || tj_is_int(node->constant, 0)) {
    emit_terms(self, node, lower, upper);
    return;
  }
  const tj_node *numbers[] = {length, node->constant};
  const tj_transform *offset = tj_transform_make(
      self->graph, TJ_TRANSFORM_OFFSET,
      (const tj_tuple *[]){tj_tuple_integer(self->graph, numbers[0]), tj_tuple_integer(self->graph, numbers[1])}, 2);
  bool is_offset = node->upper_count == 1 && tj_is_int(node->number[0], 1);
  uint32_t between = is_offset ? upper[0] : new_hidden(self, length);
  emit_stage(self, offset, &lower, &between);
  if (!is_offset)
    emit_terms(self, node, between, upper);
}

static void emit_node(emission *self, const tj_structure_node *node) {
  uint32_t lower[TJ_MAX_DIMENSIONS], upper[TJ_MAX_DIMENSIONS];
  const tj_node *lengths[TJ_MAX_DIMENSIONS];
  for (uint32_t i = 0; i < node->lower_count; i++)
    lower[i] = self->id[node->lower[i]];
  for (uint32_t i = 0; i < node->upper_count; i++)
    upper[i] = self->id[node->upper[i]] = new_hidden(self, self->from->dimension[node->upper[i]].length);
  switch (node->kind) {
  case TJ_STAGE_AFFINE:
    emit_affine(self, node, upper);
    return;
  case TJ_STAGE_MERGE:
    emit_stage(self, make(self, TJ_TRANSFORM_MERGE, node->number, NULL, node->lower_count), lower, upper);
    return;
  case TJ_STAGE_UNUSED:
    lengths_of(self, node, lengths);
    emit_stage(self, make(self, TJ_TRANSFORM_REPLICATE, lengths, NULL, node->upper_count), lower, upper);
    return;
  case TJ_STAGE_PAD:
  case TJ_STAGE_OTHER:
    emit_stage(self, node->transform, lower, upper);
    return;
  }
}

static bool is_ready(const emission *self, const tj_structure_node *node) {
  for (uint32_t i = 0; i < node->lower_count; i++)
    if (self->id[node->lower[i]] == TJ_NO_NODE)
      return false;
  return true;
}

/* Bottom up: a node when all its lower dimensions are there. */
static void emit_nodes(emission *self) {
  tj_structure *from = self->from;
  bool *done = TJ_NEW_ARRAY(self->graph->job, bool, from->node_count);
  for (bool progress = true; progress;) {
    progress = false;
    for (uint32_t n = 0; n < from->node_count; n++) {
      tj_spend(self->graph->job, 1);
      if (done[n] || from->node[n]->dead || !is_ready(self, from->node[n]))
        continue;
      emit_node(self, from->node[n]);
      done[n] = progress = true;
    }
  }
}

static const int64_t *unknown(tj_graph *graph, uint32_t count) {
  int64_t *numbers = TJ_NEW_ARRAY(graph->job, int64_t, count);
  for (uint32_t i = 0; i < count; i++)
    numbers[i] = -1;
  return numbers;
}

static const tj_view *view_of(tj_structure *from, const tj_view *view) {
  tj_graph *graph = from->graph;
  emission self = {.from = from, .graph = graph, .view = TJ_NEW(graph->job, tj_view)};
  *self.view = (tj_view){.rank = view->rank, .offset = view->offset, .space_size = view->space_size};
  self.view->base = TJ_BASE_STRIDED;
  self.id = TJ_NEW_ARRAY(graph->job, uint32_t, from->dimension_count);
  for (uint32_t i = 0; i < from->dimension_count; i++)
    self.id[i] = TJ_NO_NODE;
  self.id[0] = new_hidden(&self, view->space_size);
  emit_nodes(&self);
  uint32_t *visible = TJ_NEW_ARRAY(graph->job, uint32_t, view->rank);
  for (uint32_t i = 0; i < view->rank; i++)
    visible[i] = self.id[view->visible[i]];
  self.view->visible = visible;
  self.view->stage = self.stage;
  self.view->stage_count = self.stage_count;
  self.view->hidden_length = self.length;
  self.view->hidden_count = self.length_count;
  self.view->guaranteed_length = unknown(graph, self.length_count);
  self.view->guaranteed_stride = unknown(graph, self.length_count);
  return self.view;
}

const tj_view *tj_view_structured(tj_graph *graph, const tj_view *view, tj_structure_trace *trace) {
  recorder events = {.graph = graph, .wanted = trace != NULL};
  tj_structure self = structure_of(graph, view);
  apply_rules(&self, &events);
  if (trace != NULL)
    *trace = (tj_structure_trace){events.event, events.count};
  return view_of(&self, view);
}

/* --- text --- */

static void print_ids(tj_text *text, const uint32_t ids[], uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    tj_text_format(text, "%sh%" PRIu32, i > 0 ? ", " : "", ids[i]);
}

void tj_structure_print(tj_text *text, const tj_view *view) {
  if (!tj_is_int(view->offset, 0)) {
    tj_text_string(text, "offset ");
    tj_node_print(text, view->offset);
    tj_text_char(text, '\n');
  }
  for (uint32_t s = 0; s < view->stage_count; s++) {
    const tj_stage *stage = &view->stage[s];
    print_ids(text, stage->lower_id, stage->transform->lower_count);
    tj_text_string(text, stage->transform->lower_count > 0 ? " = " : "");
    tj_transform_print(text, stage->transform);
    tj_text_string(text, stage->transform->upper_count > 0 ? " of " : "");
    print_ids(text, stage->upper_id, stage->transform->upper_count);
    tj_text_char(text, '\n');
  }
  tj_text_string(text, "visible ");
  print_ids(text, view->visible, view->rank);
  tj_text_char(text, '\n');
}
