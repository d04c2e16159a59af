/* SPDX-License-Identifier: MIT */
/* The places of all lanes and slots, in numbers. */
#include "lower/lds/direct.h"

#include "base/number/power.h"
#include "base/text.h"
#include "ir/value/mapping_held.h"
#include "ir/value/value.h"

#include <inttypes.h>
#include <stdlib.h>

/* --- leaves --- */

const tj_lds_leaf *tj_lds_leaves(tj_graph *graph, const tj_mapping *mapping, uint32_t *count) {
  const tj_layout *layout = tj_value_layout(mapping->lds);
  tj_lds_leaf *leaf = TJ_NEW_ARRAY(graph->job, tj_lds_leaf, tj_tuple_leaf_count(layout->shape) + 1);
  *count = 0;
  if (!tj_mapping_lds_is_by_mode(graph, mapping))
    return NULL;
  for (uint32_t m = 0; m < tj_mapping_rank(mapping); m++) {
    uint32_t leaves;
    const tj_tuple *const *extent = tj_tuple_leaves(graph, layout->shape->item[m], &leaves);
    const tj_tuple *const *stride = tj_tuple_leaves(graph, layout->stride->item[m], &leaves);
    int64_t step = 1;
    for (uint32_t i = 0; i < leaves; i++) {
      if (extent[i]->value->value > 1)
        leaf[(*count)++] = (tj_lds_leaf){m, extent[i]->value->value, step, stride[i]->value->value};
      step *= extent[i]->value->value;
    }
  }
  return leaf;
}

/* --- places --- */

typedef struct {
  tj_graph *graph;
  const tj_mapping *mapping;
  const tj_direct_form *form;
  tj_held held;
  int64_t **place; /* by mode, then by coordinate: what it adds to the element of LDS, before the swizzle */
  int64_t *of_item, *of_slot; /* what work-items and slots add along modes that are one step throughout; */
  const tj_held_sum *bent[TJ_MAX_DIMENSIONS]; /* the others, */
  const int64_t *bent_place[TJ_MAX_DIMENSIONS];
  uint32_t bent_count; /* of which sums have to be looked up */
} prover;

static void find_places(prover *p, const tj_lds_leaf leaf[], uint32_t count) {
  uint32_t rank = tj_mapping_rank(p->mapping);
  p->place = TJ_NEW_ARRAY(p->graph->job, int64_t *, rank);
  for (uint32_t m = 0; m < rank; m++)
    p->place[m] = TJ_NEW_ARRAY(p->graph->job, int64_t, (size_t)tj_mapping_extent(p->mapping, m));
  for (uint32_t i = 0; i < count; i++) {
    for (int64_t c = 0; c < tj_mapping_extent(p->mapping, leaf[i].mode); c++)
      p->place[leaf[i].mode][c] +=
          c % tj_mapping_part_extent(p->mapping, leaf[i].mode) / leaf[i].step % leaf[i].extent * leaf[i].stride;
  }
  uint32_t parted = tj_mapping_pass_mode(p->mapping), parts = tj_mapping_lds_parts(p->mapping, p->mapping->passes);
  int64_t part = tj_mapping_part_extent(p->mapping, parted), pitch = tj_mapping_lds_pitch(p->graph, p->mapping);
  for (int64_t c = 0; c < tj_mapping_extent(p->mapping, parted); c++)
    p->place[parted][c] += c / part % parts * pitch;
}

static bool is_even(const int64_t place[], int64_t extent) {
  bool is_same = place[0] == 0;
  for (int64_t c = 1; c < extent && is_same; c++)
    is_same = place[c] == c * place[1];
  return is_same;
}

/* What is added along a mode whose places are multiples of the first. */
static void add_even(const int64_t of[], uint32_t count, int64_t step, int64_t sum[]) {
  for (uint32_t i = 0; i < count; i++)
    sum[i] += of[i] * step;
}

static void find_sums(prover *p) {
  p->of_item = TJ_NEW_ARRAY(p->graph->job, int64_t, p->held.work_items + 1);
  p->of_slot = TJ_NEW_ARRAY(p->graph->job, int64_t, p->held.slots + 1);
  for (uint32_t m = 0; m < p->held.rank && !p->held.gives_index; m++) {
    const int64_t extent = tj_mapping_extent(p->mapping, m), step = extent > 1 ? p->place[m][1] : 0;
    const tj_held_sum *sum = &p->held.place[m];
    if (is_even(p->place[m], extent)) {
      add_even(sum->of_item, p->held.work_items, step, p->of_item);
      add_even(sum->of_slot, p->held.slots, step, p->of_slot);
      continue;
    }
    p->bent[p->bent_count] = sum;
    p->bent_place[p->bent_count++] = p->place[m];
  }
}

static int64_t place_of_index(const prover *p, uint32_t item, uint32_t slot) {
  int64_t at[TJ_MAX_DIMENSIONS], place = 0;
  tj_held_at(&p->held, item, slot, at);
  for (uint32_t m = 0; m < p->held.rank; m++)
    place += p->place[m][at[m]];
  return place;
}

static int64_t place_of(const prover *p, uint32_t item, uint32_t slot) {
  if (p->held.gives_index)
    return place_of_index(p, item, slot);
  int64_t place = p->of_item[item] + p->of_slot[slot];
  for (uint32_t i = 0; i < p->bent_count; i++)
    place += p->bent_place[i][p->bent[i]->of_item[item] + p->bent[i]->of_slot[slot]];
  return place;
}

/* --- obstacles --- */

const char *tj_direct_obstacle_of_elements(const tj_kernel *kernel) {
  bool are_others = kernel->arithmetic.when == TJ_COMPUTED_LOADING ||
                    kernel->buffer[tj_flat_buffer(kernel, TJ_OPERAND_SOURCE)].dtype != kernel->carried;
  return are_others ? "elements become others before they are in LDS" : NULL;
}

const char *tj_direct_obstacle_of_loads(const tj_kernel *kernel, const tj_node *valid) {
  const char *obstacle = tj_direct_obstacle_of_elements(kernel);
  if (obstacle == NULL && !tj_is_always(valid))
    return "some elements are not in the source, and the fill comes from registers";
  return obstacle;
}

/* A swizzle that only moves vectors, within units of which the layout has whole ones. */
static const char *obstacle_of_swizzle(const prover *p) {
  tj_swizzle swizzle = tj_mapping_lds_swizzle(p->mapping);
  int64_t elements = 1, unit = (int64_t)1 << (swizzle.bits + swizzle.base);
  for (uint32_t m = 0; m < tj_mapping_rank(p->mapping); m++)
    elements *= tj_mapping_part_extent(p->mapping, m);
  if (p->mapping->lds->kind == TJ_VALUE_COMPOSED && !tj_is_int(p->mapping->lds->composed->offset->value, 0))
    return "lds begins beyond 0";
  if (swizzle.bits == 0)
    return NULL;
  if (swizzle.shift < 0 || (uint32_t)1 << swizzle.base < p->form->vector)
    return tj_string_format(p->graph->job,
                            "the swizzle of lds parts the %" PRIu32 " elements that a work-item loads at a time",
                            p->form->vector);
  bool is_compact = tj_mapping_lds_elements(p->graph, p->mapping) == elements && elements % unit == 0;
  return is_compact ? NULL : "lds has gaps, which its swizzle moves among the elements";
}

/* Whether the elements of a vector are there for the same work-items. */
static bool are_together(const prover *p, uint32_t slot) {
  bool are = true;
  for (uint32_t k = 1; k < p->form->vector; k++)
    are = are && tj_held_together(&p->held, slot, slot + k);
  return are;
}

/* Whether they lie side by side from `place` on. */
static bool is_vector(const prover *p, uint32_t item, uint32_t slot, int64_t place) {
  for (uint32_t k = 1; k < p->form->vector; k++) {
    if (place_of(p, item, slot + k) != place + k)
      return false;
  }
  return place % p->form->vector == 0;
}

/* What of a wave's lanes is not where the instruction would bring it. */
static const char *obstacle_of_wave(const prover *p, uint32_t first, uint32_t slot, bool is_together) {
  uint32_t end = first + p->form->lanes < p->form->work_items ? first + p->form->lanes : p->form->work_items;
  uint32_t before = end;
  int64_t place_before = 0;
  for (uint32_t item = first; item < end; item++) {
    if (!tj_held_has(&p->held, item, slot))
      continue;
    int64_t place = place_of(p, item, slot), distance = place - place_before;
    if (!is_together || !is_vector(p, item, slot, place))
      return tj_string_format(
          p->graph->job, "the %" PRIu32 " elements from slot %" PRIu32 " of load on are no aligned neighbours in LDS",
          p->form->vector, slot);
    if (before < end && distance != (int64_t)(item - before) * p->form->vector)
      return tj_string_format(p->graph->job,
                              "slot %" PRIu32 " of work-items %" PRIu32 " and %" PRIu32 " of a wave is %" PRId64
                              " elements apart in LDS, not %" PRIu32,
                              slot, before, item, distance, (item - before) * p->form->vector);
    before = item;
    place_before = place;
  }
  return NULL;
}

/* Whether a slot's elements are those of the first one by as much further on in LDS, whole vectors, for all
 * work-items: nothing is in its way that is not in that of the first. */
static bool is_as_first(const prover *p, uint32_t slot) {
  const int64_t distance = p->of_slot[slot] - p->of_slot[0];
  bool is_same = slot > 0 && p->bent_count == 0 && !p->held.gives_index && distance % p->form->vector == 0 &&
                 tj_held_together(&p->held, 0, slot);
  for (uint32_t k = 1; k < p->form->vector && is_same; k++)
    is_same = p->of_slot[slot + k] - p->of_slot[k] == distance;
  return is_same;
}

static const char *obstacle_of_places(const prover *p) {
  const char *reason = NULL;
  tj_spend(p->graph->job, (uint64_t)p->held.slots * p->form->work_items);
  for (uint32_t slot = 0; slot < p->held.slots && reason == NULL; slot += p->form->vector) {
    const bool is_together = are_together(p, slot), is_known = is_together && is_as_first(p, slot);
    for (uint32_t first = is_known ? p->form->work_items : 0; first < p->form->work_items && reason == NULL;
         first += p->form->lanes)
      reason = obstacle_of_wave(p, first, slot, is_together);
  }
  return reason;
}

const char *tj_direct_obstacle(tj_graph *graph, const tj_mapping *mapping, const tj_direct_form *form) {
  uint32_t count;
  const tj_lds_leaf *leaf = tj_lds_leaves(graph, mapping, &count);
  if (leaf == NULL)
    return "lds has not a mode for each of the tile's";
  if (mapping->load.slots % form->vector != 0)
    return tj_string_format(graph->job, "the %" PRIu32 " slots of load are not loaded %" PRIu32 " at a time",
                            mapping->load.slots, form->vector);
  prover p = {.graph = graph, .mapping = mapping, .form = form};
  p.held = tj_mapping_held(graph, mapping, &mapping->load, form->work_items, true);
  find_places(&p, leaf, count);
  find_sums(&p);
  const char *reason = obstacle_of_swizzle(&p);
  return reason != NULL ? reason : obstacle_of_places(&p);
}

const char *tj_direct_find(tj_graph *graph, const tj_mapping *mapping, const tj_target *target,
                           uint32_t element_bytes, tj_direct_form *form) {
  uint32_t widest = tj_direct_widest(target->direct, UINT32_MAX);
  const char *first = NULL;
  form->lanes = target->wave_size;
  form->vector = widest / element_bytes;
  if (form->vector == 0)
    return tj_string_format(graph->job, "%s loads no such elements straight into LDS", target->name);
  if (target->direct->is_by_lane)
    return NULL;
  for (uint32_t bytes = widest; bytes >= element_bytes; bytes = tj_direct_widest(target->direct, bytes - 1)) {
    form->vector = bytes / element_bytes;
    const char *obstacle = tj_direct_obstacle(graph, mapping, form);
    if (obstacle == NULL)
      return NULL;
    first = first == NULL ? obstacle : first;
  }
  return first;
}

/* --- sides --- */

static int by_stride(const void *a, const void *b) {
  const tj_lds_leaf *x = a, *y = b;
  return x->stride < y->stride ? -1 : x->stride > y->stride;
}

/* Shares `count` steps of a leaf out: to work-items as long as some are left, and what they do not reach to slots. */
static void share_out(const tj_lds_leaf *leaf, int64_t count, int64_t step, int64_t *left, tj_mapping_digits *items,
                      tj_mapping_digits *slots) {
  int64_t rounds = tj_divided_up(count, *left), taken = tj_divided_up(count, rounds);
  tj_mapping_add_digit(items, taken, step, leaf->mode);
  tj_mapping_add_digit(slots, rounds, taken * step, leaf->mode);
  *left = rounds == 1 ? *left / taken : 1;
}

tj_mapping_side tj_direct_load(tj_graph *graph, const tj_mapping *mapping, uint32_t vector, uint32_t items) {
  uint32_t count;
  const tj_lds_leaf *found = tj_lds_leaves(graph, mapping, &count);
  tj_mapping_digits of_item = {.count = 0}, of_slot = {.count = 0};
  int64_t left = items;
  if (found == NULL || count == 0)
    return (tj_mapping_side){.items = 0};
  tj_lds_leaf *leaf = tj_arena_copy(&graph->job->arena, found, count * sizeof *leaf);
  qsort(leaf, count, sizeof *leaf, by_stride);
  if (leaf[0].stride != 1 || leaf[0].extent % vector != 0)
    return (tj_mapping_side){.items = 0};
  tj_mapping_add_digit(&of_slot, vector, leaf[0].step, leaf[0].mode);
  for (uint32_t i = 0; i < count; i++) {
    int64_t width = i == 0 ? vector : 1;
    share_out(&leaf[i], leaf[i].extent / width, leaf[i].step * width, &left, &of_item, &of_slot);
  }
  return tj_mapping_side_of_digits(graph, &of_item, &of_slot, NULL);
}
