/* SPDX-License-Identifier: MIT */
/* Random views for property tests: a base, and stages of random transforms on it.
 *
 * Every transform that has a form of constants takes part. Lengths stay small enough that a test can visit every
 * coordinate. */
#ifndef TJ_TESTS_RANDOM_VIEWS_H
#define TJ_TESTS_RANDOM_VIEWS_H

#include "ir/view/view.h"
#include "tests/unit/support/layout_support.h"

enum { MOST_RANDOM_DIMENSIONS = 8 };

typedef struct {
  tj_graph *graph;
  uint64_t state;
} view_source;

/* From low to high, both included. */
static inline int64_t random_between(view_source *self, int64_t low, int64_t high) {
  return low + (int64_t)random_below(&self->state, (uint32_t)(high - low + 1));
}

static inline const tj_tuple *constants_tuple(tj_graph *graph, const int64_t values[], uint32_t count) {
  const tj_tuple *items[TJ_MAX_DIMENSIONS];
  for (uint32_t i = 0; i < count; i++)
    items[i] = tj_tuple_constant(graph, values[i]);
  return tj_tuple_list(graph, items, count);
}

static inline const tj_view *random_base(view_source *self) {
  int64_t lengths[4], strides[4];
  uint32_t rank = (uint32_t)random_between(self, 1, 4);
  for (uint32_t i = 0; i < rank; i++) {
    lengths[i] = random_between(self, 1, 6);
    strides[i] = random_between(self, 0, 12);
  }
  const tj_tuple *shape = constants_tuple(self->graph, lengths, rank);
  const tj_node *offset = random_between(self, 0, 3) == 0 ? tj_int(self->graph, random_between(self, 0, 9)) : NULL;
  switch (random_between(self, 0, 2)) {
  case 0:
    return tj_view_strided(self->graph, shape, constants_tuple(self->graph, strides, rank), offset, -1, -1);
  case 1:
    return tj_view_packed(self->graph, shape, offset, -1, -1);
  default:
    return tj_view_aligned(self->graph, shape, tj_int(self->graph, random_between(self, 1, 8)), offset, -1, -1);
  }
}

/* A stage in progress. Dimensions are taken in the order of `order`. */
typedef struct {
  view_source *random;
  const int64_t *length;
  uint32_t order[TJ_MAX_DIMENSIONS], upper_order[TJ_MAX_DIMENSIONS];
  uint32_t rank, taken, made;
  tj_view_step step[TJ_MAX_DIMENSIONS];
  uint32_t step_count;
} random_stage;

static inline void shuffle_numbers(view_source *self, uint32_t numbers[], uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    numbers[i] = i;
  for (uint32_t i = count; i > 1; i--) {
    uint32_t j = (uint32_t)random_between(self, 0, i - 1), kept = numbers[i - 1];
    numbers[i - 1] = numbers[j];
    numbers[j] = kept;
  }
}

static inline void add_random_step(random_stage *stage, tj_transform_kind kind, const tj_tuple *const args[],
                                   uint32_t count) {
  const tj_transform *transform = tj_transform_make(stage->random->graph, kind, args, count);
  tj_view_step *step = &stage->step[stage->step_count++];
  *step = (tj_view_step){transform, stage->order + stage->taken, stage->upper_order + stage->made,
                         transform->lower_count, transform->upper_count};
  stage->taken += transform->lower_count;
  stage->made += transform->upper_count;
}

static inline void add_numeric_step(random_stage *stage, tj_transform_kind kind, const int64_t numbers[],
                                    uint32_t count) {
  const tj_tuple *args[4];
  for (uint32_t i = 0; i < count; i++)
    args[i] = tj_tuple_constant(stage->random->graph, numbers[i]);
  add_random_step(stage, kind, args, count);
}

/* A divisor of n. */
static inline int64_t random_divisor(view_source *self, int64_t n) {
  int64_t divisor = random_between(self, 1, n);
  while (n % divisor != 0)
    divisor--;
  return divisor;
}

static inline void add_unmerge(random_stage *stage, int64_t length) {
  int64_t first = random_divisor(stage->random, length), second = random_divisor(stage->random, length / first);
  int64_t factors[] = {first, second, length / first / second};
  add_numeric_step(stage, TJ_TRANSFORM_UNMERGE, factors, 3);
}

static inline void add_embed(random_stage *stage) {
  int64_t lengths[2], coefficients[2];
  for (int i = 0; i < 2; i++) {
    lengths[i] = random_between(stage->random, 1, 4);
    coefficients[i] = random_between(stage->random, 0, 3);
  }
  const tj_tuple *args[] = {constants_tuple(stage->random->graph, lengths, 2),
                            constants_tuple(stage->random->graph, coefficients, 2)};
  add_random_step(stage, TJ_TRANSFORM_EMBED, args, 2);
}

/* A table of runs: up, down and level. */
static inline void add_indexing(random_stage *stage, int64_t length) {
  int64_t entries[12], count = random_between(stage->random, 1, 12), step = 0;
  for (int64_t i = 0; i < count; i++) {
    if (random_between(stage->random, 0, 2) == 0)
      step = random_between(stage->random, -2, 2);
    int64_t next = i == 0 ? random_between(stage->random, 0, length - 1) : entries[i - 1] + step;
    entries[i] = next < 0 || next >= length ? random_between(stage->random, 0, length - 1) : next;
  }
  const tj_tuple *args[] = {tj_tuple_constant(stage->random->graph, count),
                            constants_tuple(stage->random->graph, entries, (uint32_t)count)};
  add_random_step(stage, TJ_TRANSFORM_INDEXING, args, 2);
}

static inline void add_step_of_one(random_stage *stage, int64_t length) {
  view_source *random = stage->random;
  int64_t begin = random_between(random, 0, length - 1);
  int64_t args[] = {length, random_between(random, 0, 3), random_between(random, 0, 3)};
  int64_t slice[] = {length, begin, random_between(random, begin + 1, length)};
  int64_t modulo[] = {length, random_between(random, 1, 2 * length)};
  switch (random_between(random, 0, 11)) {
  case 0:
    add_numeric_step(stage, TJ_TRANSFORM_PAD, args, 3);
    return;
  case 1:
    add_numeric_step(stage, TJ_TRANSFORM_LEFT_PAD, args, 2);
    return;
  case 2:
    add_numeric_step(stage, TJ_TRANSFORM_RIGHT_PAD, args, 2);
    return;
  case 3:
    add_numeric_step(stage, TJ_TRANSFORM_SLICE, slice, 3);
    return;
  case 4:
    args[1] -= random_between(random, 0, 1) * 4;
    add_numeric_step(stage, TJ_TRANSFORM_OFFSET, args, 2);
    return;
  case 5:
    add_numeric_step(stage, TJ_TRANSFORM_MODULO, modulo, 2);
    return;
  case 6:
    add_numeric_step(stage, TJ_TRANSFORM_FREEZE, &begin, 1);
    return;
  case 7:
    add_embed(stage);
    return;
  case 10:
    add_indexing(stage, length);
    return;
  case 8:
  case 9:
    add_unmerge(stage, length);
    return;
  default:
    add_numeric_step(stage, TJ_TRANSFORM_PASS_THROUGH, &length, 1);
    return;
  }
}

static inline void add_step_of_two(random_stage *stage, const int64_t lengths[]) {
  static const tj_transform_kind kinds[] = {TJ_TRANSFORM_MERGE, TJ_TRANSFORM_MERGE, TJ_TRANSFORM_MERGE,
                                            TJ_TRANSFORM_XOR, TJ_TRANSFORM_CYCLIC_SHIFT};
  add_numeric_step(stage, kinds[random_between(stage->random, 0, 4)], lengths, 2);
}

static inline void add_steps(random_stage *stage) {
  while (stage->taken < stage->rank) {
    int64_t lengths[] = {stage->length[stage->order[stage->taken]], 0};
    bool pair = stage->taken + 1 < stage->rank && random_between(stage->random, 0, 1) == 0;
    if (pair)
      lengths[1] = stage->length[stage->order[stage->taken + 1]];
    if (pair)
      add_step_of_two(stage, lengths);
    else
      add_step_of_one(stage, lengths[0]);
  }
  int64_t length = random_between(stage->random, 1, 3);
  if (random_between(stage->random, 0, 5) == 0)
    add_numeric_step(stage, TJ_TRANSFORM_INSERT, &length, 1);
}

/* One more stage, or the same view where the result would have too many dimensions. */
static inline const tj_view *random_stage_on(view_source *self, const tj_view *view) {
  int64_t lengths[TJ_MAX_DIMENSIONS];
  random_stage stage = {.random = self, .length = lengths, .rank = view->rank};
  for (uint32_t i = 0; i < view->rank; i++)
    lengths[i] = view->hidden_length[view->visible[i]]->value;
  shuffle_numbers(self, stage.order, view->rank);
  add_steps(&stage);
  if (stage.made > MOST_RANDOM_DIMENSIONS)
    return view;
  shuffle_numbers(self, stage.upper_order, stage.made);
  return tj_view_transform(self->graph, view, stage.step, stage.step_count);
}

static inline const tj_view *random_view(view_source *self) {
  const tj_view *view = random_base(self);
  for (int64_t stages = random_between(self, 0, 4); stages > 0; stages--)
    view = random_stage_on(self, view);
  return view;
}

/* The number of coordinates. */
static inline int64_t view_size(const tj_view *view) {
  int64_t size = 1;
  for (uint32_t i = 0; i < view->rank; i++)
    size *= view->hidden_length[view->visible[i]]->value;
  return size;
}

#endif
