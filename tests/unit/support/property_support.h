/* SPDX-License-Identifier: MIT */
/* What property tests of the layout algebra share: random layouts, running an operation on many of them, and values
 * and structures read from the data alone.
 *
 * Everything here that a check relies on is worked out from definitions, without the functions under test: leaves are
 * walked, coordinates split and values summed by hand. */
#ifndef TJ_TESTS_PROPERTY_SUPPORT_H
#define TJ_TESTS_PROPERTY_SUPPORT_H

#include "tests/unit/support/layout_support.h"

enum { MOST_MODES = 6, MOST_LEAVES = 64, SWIZZLE_BITS = 9 };

#define NO_CODE ((tj_problem_code)0)

/* The case at hand. Inputs and results of an operation; those that are not used are NULL. */
typedef struct {
  tj_graph *graph;
  tj_job *job;
  uint64_t state;
  tj_layout a, b, result, second, form[4];
  const tj_tuple *tuple, *other, *answer, *offset;
  const tj_tiler *tiler;
  const tj_node *node;
  tj_swizzle swizzle, other_swizzle, swizzle_result;
  const tj_f2 *map, *other_map, *map_result;
  tj_composed composed, other_composed;
  int64_t number, count;
  uint32_t begin, end;
  bool flag;
  tj_problem_code refusal; /* what the inputs must be refused with; NO_CODE: it is left to the operation */
  const void *row;         /* what the property is about, where several are of one kind */
} property_case;

/* An operation and what it promises. */
typedef struct {
  const char *name;
  void (*prepare)(property_case *self); /* makes random inputs */
  void (*operate)(property_case *self); /* may fail with one of `refusals` */
  void (*check)(property_case *self);   /* of what `operate` gave */
  unsigned cases, least_accepted;
  tj_problem_code refusals[6];
} property;

/* --- saying what failed --- */

static inline void say_layout(tj_text *text, const char *name, tj_layout layout) {
  if (layout.shape == NULL)
    return;
  tj_text_format(text, " %s=", name);
  tj_layout_print(text, layout);
}

static inline void say_tuple(tj_text *text, const char *name, const tj_tuple *tuple) {
  if (tuple == NULL)
    return;
  tj_text_format(text, " %s=", name);
  tj_tuple_print(text, tuple);
}

static inline const char *describe(const property_case *self) {
  tj_text text = tj_text_begin(self->job);
  say_layout(&text, "a", self->a);
  say_layout(&text, "b", self->b);
  say_tuple(&text, "tuple", self->tuple);
  say_tuple(&text, "other", self->other);
  say_layout(&text, "result", self->result);
  say_layout(&text, "second", self->second);
  say_tuple(&text, "answer", self->answer);
  say_tuple(&text, "offset", self->offset);
  tj_text_format(&text, " number=%lld count=%lld begin=%u end=%u ", (long long)self->number, (long long)self->count,
                 self->begin, self->end);
  tj_swizzle_print(&text, self->swizzle);
  tj_swizzle_print(&text, self->other_swizzle);
  return text.data;
}

/* As ck_assert, but it costs nothing where the condition holds, and says what the case was. */
#define EXPECT(self, condition)                                                                                      \
  do {                                                                                                               \
    if (!(condition))                                                                                                \
      ck_abort_msg("%s:%s", #condition, describe(self));                                                             \
  } while (0)

/* --- running --- */

typedef struct {
  const property *tested;
  property_case at;
  unsigned accepted;
} property_run;

static inline void operate_case(tj_job *job, void *data) {
  (void)job;
  property_run *run = data;
  run->tested->operate(&run->at);
}

static inline bool may_refuse(const property *tested, tj_problem_code code) {
  for (size_t i = 0; i < sizeof tested->refusals / sizeof *tested->refusals; i++)
    if (tested->refusals[i] == code)
      return true;
  return false;
}

static inline void run_case(property_run *run) {
  property_case *at = &run->at;
  *at = (property_case){.graph = tj_graph_create(at->job), .job = at->job, .state = at->state, .row = at->row};
  run->tested->prepare(at);
  if (tj_job_run(at->job, operate_case, run) == TJ_OK) {
    if (at->refusal != NO_CODE)
      ck_abort_msg("%s: TJ%04d was expected:%s", run->tested->name, (int)at->refusal, describe(at));
    run->tested->check(at);
    run->accepted++;
    return;
  }
  tj_problem_code code = at->job->problem.code;
  if (at->refusal != NO_CODE ? code != at->refusal : !may_refuse(run->tested, code))
    ck_abort_msg("%s: TJ%04d: %s:%s", run->tested->name, (int)code, at->job->problem.message, describe(at));
}

/* One arena for all cases, given back after each. */
static inline void run_cases(tj_job *job, void *data) {
  enum { ROOM = 1 << 20 };
  property_run *run = data;
  run->at.job = job;
  tj_arena_alloc(&job->arena, 1, ROOM);
  const tj_arena_mark begin = {job->arena.chunk, 0};
  for (unsigned i = 0; i < run->tested->cases; i++) {
    run_case(run);
    tj_arena_reset(&job->arena, begin);
  }
}

static inline void run_property_of(const property *tested, const void *row) {
  property_run run = {.tested = tested, .at = {.state = UINT64_C(0x9e3779b97f4a7c15), .row = row}};
  tj_job job;
  tj_job_init(&job, NULL);
  job.fuel = UINT64_C(1) << 60;
  expect_success(&job, run_cases, &run);
  tj_job_destroy(&job);
  if (run.accepted < tested->least_accepted)
    ck_abort_msg("%s: only %u of %u cases were accepted", tested->name, run.accepted, tested->cases);
}

static inline void run_property(const property *tested) {
  run_property_of(tested, NULL);
}

#define RUN_PROPERTIES(table)                                                                                        \
  for (size_t property_number = 0; property_number < sizeof(table) / sizeof *(table); property_number++)             \
  run_property(&(table)[property_number])

static inline void operate_nothing(property_case *self) {
  (void)self;
}

/* --- structure, by hand --- */

/* The leaves of a tuple, from `next` on; returns the end. */
static inline const tj_tuple **walk_leaves(const tj_tuple *tuple, const tj_tuple **next) {
  if (tuple->kind != TJ_TUPLE_LIST) {
    *next = tuple;
    return next + 1;
  }
  for (uint32_t i = 0; i < tuple->count; i++)
    next = walk_leaves(tuple->item[i], next);
  return next;
}

static inline uint32_t count_leaves(const tj_tuple *tuple) {
  const tj_tuple *leaves[1024];
  return (uint32_t)(walk_leaves(tuple, leaves) - leaves);
}

static inline bool is_list(const tj_tuple *tuple) {
  return tuple->kind == TJ_TUPLE_LIST;
}

static inline bool same_structure(const tj_tuple *a, const tj_tuple *b) {
  if (!is_list(a) || !is_list(b))
    return is_list(a) == is_list(b);
  bool same = a->count == b->count;
  for (uint32_t i = 0; same && i < a->count; i++)
    same = same_structure(a->item[i], b->item[i]);
  return same;
}

/* The same structure, kinds, integers and paths. */
static inline bool same_tuple(const tj_tuple *a, const tj_tuple *b) {
  if (a->kind != b->kind)
    return false;
  if (a->kind == TJ_TUPLE_ANY)
    return true;
  if (a->kind != TJ_TUPLE_LIST)
    return a->value->value == b->value->value &&
           (a->kind == TJ_TUPLE_INTEGER ||
            (a->count == b->count && memcmp(a->path, b->path, a->count * sizeof *a->path) == 0));
  bool same = a->count == b->count;
  for (uint32_t i = 0; same && i < a->count; i++)
    same = same_tuple(a->item[i], b->item[i]);
  return same;
}

static inline bool same_layout(tj_layout a, tj_layout b) {
  return same_tuple(a.shape, b.shape) && same_tuple(a.stride, b.stride);
}

static inline uint32_t rank_of(const tj_tuple *tuple) {
  return is_list(tuple) ? tuple->count : 1;
}

static inline const tj_tuple *item_of(const tj_tuple *tuple, uint32_t i) {
  return is_list(tuple) ? tuple->item[i] : tuple;
}

static inline tj_layout mode_of(tj_layout layout, uint32_t i) {
  return (tj_layout){item_of(layout.shape, i), item_of(layout.stride, i)};
}

static inline const tj_tuple *integer(const property_case *self, int64_t value) {
  return tj_tuple_integer(self->graph, tj_int(self->graph, value));
}

static inline tj_layout side_by_side(const property_case *self, const tj_layout modes[], uint32_t count) {
  const tj_tuple *shape[MOST_LEAVES] = {NULL}, *stride[MOST_LEAVES] = {NULL};
  for (uint32_t i = 0; i < count; i++) {
    shape[i] = modes[i].shape;
    stride[i] = modes[i].stride;
  }
  return (tj_layout){tj_tuple_list(self->graph, shape, count), tj_tuple_list(self->graph, stride, count)};
}

static inline tj_layout pair_of(const property_case *self, tj_layout a, tj_layout b) {
  return side_by_side(self, (const tj_layout[]){a, b}, 2);
}

static inline tj_layout mode_of_integers(const property_case *self, int64_t extent, int64_t stride) {
  return (tj_layout){integer(self, extent), integer(self, stride)};
}

/* --- values, by hand --- */

/* A layout of constants and integer strides, flat. */
typedef struct {
  int64_t extent[MOST_LEAVES], stride[MOST_LEAVES];
  uint32_t count;
  int64_t size;
} flat_layout;

static inline flat_layout flatten(tj_layout layout) {
  flat_layout flat = {.size = 1};
  const tj_tuple *extents[MOST_LEAVES], *strides[MOST_LEAVES];
  flat.count = (uint32_t)(walk_leaves(layout.shape, extents) - extents);
  if (walk_leaves(layout.stride, strides) - strides != flat.count)
    ck_abort_msg("extents and strides of different number");
  for (uint32_t i = 0; i < flat.count; i++) {
    flat.extent[i] = extents[i]->value->value;
    flat.stride[i] = strides[i]->value->value;
    flat.size *= flat.extent[i];
    if (flat.extent[i] < 1)
      ck_abort_msg("an extent of %lld", (long long)flat.extent[i]);
  }
  return flat;
}

static inline int64_t product_of(const tj_tuple *tuple) {
  const tj_tuple *leaves[MOST_LEAVES];
  int64_t product = 1;
  for (const tj_tuple **end = walk_leaves(tuple, leaves), **at = leaves; at < end; at++)
    product *= (*at)->value->value;
  return product;
}

/* The value at an integral coordinate; the last mode goes on. */
static inline int64_t value_at(const flat_layout *flat, int64_t index) {
  int64_t sum = 0;
  for (uint32_t i = 0; i < flat->count; i++) {
    bool last = i + 1 == flat->count;
    sum += (last ? index : index % flat->extent[i]) * flat->stride[i];
    index /= flat->extent[i];
  }
  return sum;
}

/* The value at any coordinate: integers run through what they stand against, and underscores stand for 0. */
static inline int64_t value_of(tj_layout layout, const tj_tuple *coordinate) {
  if (coordinate->kind == TJ_TUPLE_ANY)
    return 0;
  if (!is_list(coordinate)) {
    flat_layout flat = flatten(layout);
    return value_at(&flat, coordinate->value->value);
  }
  int64_t sum = 0;
  for (uint32_t i = 0; i < coordinate->count; i++)
    sum += value_of(mode_of(layout, i), coordinate->item[i]);
  return sum;
}

static inline int compare_values(const void *a, const void *b) {
  int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
  return (left > right) - (left < right);
}

/* All values in order; in the job's arena. */
static inline int64_t *sorted_values(const property_case *self, const flat_layout *flat) {
  int64_t *values = TJ_NEW_ARRAY(self->job, int64_t, flat->size);
  for (int64_t i = 0; i < flat->size; i++)
    values[i] = value_at(flat, i);
  qsort(values, (size_t)flat->size, sizeof *values, compare_values);
  return values;
}

static inline bool all_different(const property_case *self, const flat_layout *flat) {
  const int64_t *values = sorted_values(self, flat);
  for (int64_t i = 1; i < flat->size; i++)
    if (values[i] == values[i - 1])
      return false;
  return true;
}

/* All extents and strides are powers of two, or 0. */
static inline bool has_powers_of_two(const flat_layout *flat) {
  int64_t odd = 0;
  for (uint32_t i = 0; i < flat->count; i++)
    odd |= (flat->extent[i] & (flat->extent[i] - 1)) | (flat->stride[i] & (flat->stride[i] - 1));
  return odd == 0;
}

/* As few modes as possible, with the same values within the size: a single mode 1:0 where there is one coordinate. */
static inline flat_layout coalesced(const flat_layout *flat) {
  flat_layout made = {.size = flat->size};
  for (uint32_t i = 0; i < flat->count; i++) {
    uint32_t last = made.count - 1;
    if (flat->extent[i] == 1)
      continue;
    if (made.count > 0 && made.extent[last] * made.stride[last] == flat->stride[i]) {
      made.extent[last] *= flat->extent[i];
      continue;
    }
    made.extent[made.count] = flat->extent[i];
    made.stride[made.count++] = flat->stride[i];
  }
  if (made.count == 0)
    made.extent[made.count++] = 1;
  return made;
}

/* A swizzle's value by definition: bit by bit. */
static inline int64_t swizzled(tj_swizzle swizzle, int64_t value) {
  int64_t result = value;
  for (int32_t i = 0; i < swizzle.bits; i++) {
    int32_t from = swizzle.base + i + (swizzle.shift > 0 ? swizzle.shift : 0);
    int32_t to = swizzle.base + i - (swizzle.shift < 0 ? swizzle.shift : 0);
    result ^= (value >> from & 1) << to;
  }
  return result;
}

/* --- random inputs --- */

static inline int64_t random_extent(uint64_t *state) {
  static const int64_t extents[] = {1, 2, 2, 2, 3, 4, 4, 5, 6, 8};
  return extents[random_below(state, sizeof extents / sizeof *extents)];
}

static inline int64_t random_power(uint64_t *state, uint32_t most_bits) {
  return INT64_C(1) << random_below(state, most_bits + 1);
}

/* A permutation of 0 … count-1. */
static inline void random_order(uint64_t *state, uint32_t order[], uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    uint32_t k = random_below(state, i + 1);
    order[i] = i;
    order[i] = order[k];
    order[k] = i;
  }
}

/* Strides without gaps, in random order. */
static inline void compact_strides(uint64_t *state, const int64_t extent[], int64_t stride[], uint32_t count) {
  uint32_t order[MOST_LEAVES];
  int64_t next = 1;
  random_order(state, order, count);
  for (uint32_t n = 0; n < count; n++) {
    stride[order[n]] = next;
    next *= extent[order[n]];
  }
}

/* The same with now and then a gap, a 0 or anything. */
static inline void random_strides(uint64_t *state, const int64_t extent[], int64_t stride[], uint32_t count) {
  uint32_t order[MOST_LEAVES];
  int64_t next = 1;
  random_order(state, order, count);
  for (uint32_t n = 0; n < count; n++) {
    uint32_t i = order[n];
    stride[i] = next;
    next *= extent[i] * (random_below(state, 8) == 0 ? 2 : 1);
    if (random_below(state, 12) == 0)
      stride[i] = random_below(state, 3) == 0 ? (int64_t)random_below(state, 20) : 0;
  }
}

/* Leaves in a random structure of up to three levels. */
static inline const tj_tuple *random_structure(tj_graph *graph, uint64_t *state, const tj_tuple *const leaves[],
                                               uint32_t count, uint32_t levels) {
  const tj_tuple *items[MOST_LEAVES];
  uint32_t item_count = 0;
  if (count == 1 && random_below(state, 3) != 0)
    return leaves[0];
  for (uint32_t i = 0; i < count;) {
    uint32_t length = 1 + random_below(state, 3);
    length = length < count - i ? length : count - i;
    bool nest = length > 1 || random_below(state, 6) == 0;
    items[item_count++] = !nest         ? leaves[i]
                          : levels == 0 ? tj_tuple_list(graph, leaves + i, length)
                                        : random_structure(graph, state, leaves + i, length, levels - 1);
    i += nest ? length : 1;
  }
  return tj_tuple_list(graph, items, item_count);
}

static inline const tj_tuple *structured(const property_case *self, uint64_t state, const int64_t values[],
                                         uint32_t count) {
  const tj_tuple *leaves[MOST_LEAVES];
  for (uint32_t i = 0; i < count; i++)
    leaves[i] = integer(self, values[i]);
  return random_structure(self->graph, &state, leaves, count, 1);
}

/* A layout in a random structure. */
static inline tj_layout layout_of(property_case *self, const int64_t extent[], const int64_t stride[],
                                  uint32_t count) {
  uint64_t structure = next_random(&self->state) | 1;
  return (tj_layout){structured(self, structure, extent, count), structured(self, structure, stride, count)};
}

static inline uint32_t random_extents(property_case *self, int64_t extent[], uint32_t most) {
  uint32_t count = 1 + random_below(&self->state, most);
  for (uint32_t i = 0; i < count; i++)
    extent[i] = random_extent(&self->state);
  return count;
}

static inline tj_layout random_layout(property_case *self, uint32_t most_modes) {
  int64_t extent[MOST_MODES], stride[MOST_MODES];
  uint32_t count = random_extents(self, extent, most_modes);
  random_strides(&self->state, extent, stride, count);
  return layout_of(self, extent, stride, count);
}

/* Onto 0 … size-1. */
static inline tj_layout random_compact(property_case *self, uint32_t most_modes) {
  int64_t extent[MOST_MODES], stride[MOST_MODES];
  uint32_t count = random_extents(self, extent, most_modes);
  compact_strides(&self->state, extent, stride, count);
  return layout_of(self, extent, stride, count);
}

/* Modes of their own structure each, compact together. */
static inline tj_layout random_compact_modes(property_case *self, uint32_t rank, uint32_t most_leaves) {
  int64_t extent[MOST_LEAVES], stride[MOST_LEAVES];
  uint32_t first[MOST_MODES + 1] = {0};
  tj_layout modes[MOST_MODES];
  for (uint32_t i = 0; i < rank; i++)
    first[i + 1] = first[i] + random_extents(self, extent + first[i], most_leaves);
  compact_strides(&self->state, extent, stride, first[rank]);
  for (uint32_t i = 0; i < rank; i++)
    modes[i] = layout_of(self, extent + first[i], stride + first[i], first[i + 1] - first[i]);
  return side_by_side(self, modes, rank);
}

static inline const tj_tuple *random_shape(property_case *self, uint32_t most_modes) {
  return random_layout(self, most_modes).shape;
}

static inline tj_swizzle random_swizzle(property_case *self, int32_t most_bits) {
  int32_t bits = (int32_t)random_below(&self->state, 4), base = (int32_t)random_below(&self->state, 4);
  int32_t shift = bits + (int32_t)random_below(&self->state, 3);
  if (bits + base + shift > most_bits)
    return (tj_swizzle){1, 0, -1};
  return (tj_swizzle){bits, base, random_below(&self->state, 2) == 0 ? shift : -shift};
}

/* A layout of powers of two onto different bits, mostly. */
static inline tj_layout random_bit_layout(property_case *self, uint32_t count) {
  int64_t extent[MOST_MODES], stride[MOST_MODES];
  for (uint32_t i = 0; i < count; i++)
    extent[i] = random_power(&self->state, 3);
  compact_strides(&self->state, extent, stride, count);
  if (random_below(&self->state, 6) == 0)
    stride[random_below(&self->state, count)] *= 2;
  if (random_below(&self->state, 12) == 0)
    stride[random_below(&self->state, count)] = 3;
  return layout_of(self, extent, stride, count);
}

/* The layout with the sign of some strides changed. */
static inline tj_layout with_signs(property_case *self, tj_layout layout) {
  const tj_tuple *strides[MOST_LEAVES];
  uint32_t count = (uint32_t)(walk_leaves(layout.stride, strides) - strides);
  for (uint32_t i = 0; i < count; i++)
    if (random_below(&self->state, 2) == 0)
      strides[i] = integer(self, -strides[i]->value->value);
  return (tj_layout){layout.shape, tj_tuple_from_leaves(self->graph, layout.stride, strides)};
}

/* --- inputs that several properties take --- */

static inline void prepare_one(property_case *self) {
  self->a = random_layout(self, MOST_MODES);
}

static inline void prepare_two(property_case *self) {
  self->a = random_layout(self, 4);
  self->b = random_layout(self, 3);
}

static inline void prepare_shape(property_case *self) {
  self->tuple = random_shape(self, 5);
}

static inline void expect_same(const property_case *self, tj_layout a, tj_layout b) {
  if (!same_layout(a, b))
    ck_abort_msg("%s, not %s:%s", tj_layout_text(self->job, a), tj_layout_text(self->job, b), describe(self));
}

static inline void expect_tuple(const property_case *self, const tj_tuple *a, const tj_tuple *b) {
  if (!same_tuple(a, b))
    ck_abort_msg("%s, not %s:%s", tj_tuple_text(self->job, a), tj_tuple_text(self->job, b), describe(self));
}

#endif
