/* SPDX-License-Identifier: MIT */
/* The digits of all work-items and slots, and what they add up to. */
#include "ir/value/mapping_held.h"

#include "ir/value/value.h"

#include <string.h>

/* --- sums of digits --- */

/* What a digit adds: so much for each value, but no more than `most`. */
typedef struct {
  uint32_t digit;
  int64_t scale, most;
} addend;

typedef struct {
  tj_graph *graph;
  const tj_mapping *mapping;
  const tj_mapping_side *side;
  const int64_t *item; /* values of the first digit by work-item, then of the next */
  const int64_t *slot; /* the same by slot */
  bool leaves_out;
  tj_held held;
  tj_held_sum *place, *bound;
} holder;

static int64_t added(const addend *part, int64_t value) {
  return value * part->scale < part->most ? value * part->scale : part->most;
}

static void add_part(const addend *part, const int64_t value[], uint32_t count, int64_t sum[]) {
  for (uint32_t k = 0; k < count; k++)
    sum[k] += added(part, value[k]);
}

static tj_held_sum sum_of(const holder *h, const addend part[], uint32_t count, int64_t limit) {
  uint32_t items = h->held.work_items, slots = h->side->slots, item_digits = h->side->item_digits;
  int64_t *of_item = TJ_NEW_ARRAY(h->graph->job, int64_t, items),
          *of_slot = TJ_NEW_ARRAY(h->graph->job, int64_t, slots);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t digit = part[i].digit;
    if (digit < item_digits)
      add_part(&part[i], h->item + (size_t)digit * items, items, of_item);
    else
      add_part(&part[i], h->slot + (size_t)(digit - item_digits) * slots, slots, of_slot);
  }
  return (tj_held_sum){of_item, of_slot, limit};
}

/* --- coordinates --- */

/* Digits found[0 …] lead to before a limit: as is_before says it of expressions. */
static void add_bound(holder *h, const uint32_t found[], uint32_t count, int64_t limit) {
  const tj_mapping_digit *digit = h->side->digit;
  addend *part = TJ_NEW_ARRAY(h->graph->job, addend, count);
  uint32_t used = 1;
  while (used < count && limit % digit[found[used - 1]].step != 0)
    used++;
  int64_t unit = digit[found[used - 1]].step;
  for (uint32_t i = 0; i < used; i++)
    part[i] = (addend){found[i], digit[found[i]].step / unit, INT64_MAX};
  h->bound[h->held.bound_count++] = sum_of(h, part, used, (limit + unit - 1) / unit);
}

static void add_mode(holder *h, uint32_t mode) {
  tj_job *job = h->graph->job;
  const tj_mapping_side *side = h->side;
  uint32_t *found = TJ_NEW_ARRAY(job, uint32_t, side->digit_count + 1);
  uint32_t count = tj_mapping_digits_along(side->digit, side->digit_count, mode, found);
  addend *part = TJ_NEW_ARRAY(job, addend, count + 1);
  int64_t limit = tj_mapping_extent(h->mapping, mode);
  for (uint32_t i = 0; i < count; i++) {
    const tj_mapping_digit *d = &side->digit[found[i]];
    bool reaches_beyond = d->extent * d->step > limit;
    h->held.reaches_beyond |= reaches_beyond;
    part[i] = (addend){found[i], d->step, reaches_beyond && !h->leaves_out ? limit - d->step : INT64_MAX};
    if (reaches_beyond && h->leaves_out)
      add_bound(h, found + i, count - i, limit);
    limit = d->step;
  }
  h->place[mode] = sum_of(h, part, count, INT64_MAX);
}

static void add_index(holder *h) {
  addend *part = TJ_NEW_ARRAY(h->graph->job, addend, h->side->digit_count + 1);
  for (uint32_t i = 0; i < h->side->digit_count; i++)
    part[i] = (addend){i, h->side->digit[i].step, INT64_MAX};
  h->held.gives_index = true;
  h->place[0] = sum_of(h, part, h->side->digit_count, INT64_MAX);
}

/* --- digits --- */

/* The digit that takes what is left: the last one that has several coordinates. */
static uint32_t last_of(const tj_mapping_digit digit[], uint32_t count) {
  uint32_t last = 0;
  for (uint32_t i = 0; i < count; i++)
    last = digit[i].extent > 1 ? i : last;
  return last;
}

/* Takes the digit off of numbers. */
static void take_digit(int64_t extent, int64_t number[], uint32_t numbers, int64_t value[]) {
  for (uint32_t k = 0; k < numbers; k++) {
    int64_t quotient = number[k] / extent;
    value[k] = number[k] - quotient * extent;
    number[k] = quotient;
  }
}

/* Values of digits digit[0 … count-1]: of the first one by number, then of the next. Numbers are used up. */
static int64_t *take_digits(tj_job *job, const tj_mapping_digit digit[], uint32_t count, int64_t number[],
                            uint32_t numbers) {
  uint32_t last = last_of(digit, count);
  int64_t *value = TJ_RAW_ARRAY(job, int64_t, (size_t)count * numbers + 1);
  for (uint32_t i = 0; i < count; i++) {
    int64_t *of_digit = value + (size_t)i * numbers;
    if (digit[i].extent <= 1)
      memset(of_digit, 0, numbers * sizeof *of_digit);
    else if (i < last)
      take_digit(digit[i].extent, number, numbers, of_digit);
    else
      memcpy(of_digit, number, numbers * sizeof *number);
  }
  return value;
}

static int64_t apply_f2(const tj_f2 *map, int64_t number) {
  int64_t result = number >> map->bit_count << map->bit_count;
  for (uint32_t bit = 0; bit < map->bit_count; bit++)
    result ^= (number >> bit & 1) != 0 ? (int64_t)map->basis[bit] : 0;
  return result;
}

/* The layout as digits that step by constants: it exchanges numbers. */
static const tj_mapping_digit *digits_of_layout(tj_graph *graph, tj_layout layout, uint32_t *count) {
  const tj_tuple *const *extent = tj_tuple_leaves(graph, layout.shape, count);
  const tj_tuple *const *stride = tj_tuple_leaves(graph, layout.stride, count);
  tj_mapping_digit *digit = TJ_NEW_ARRAY(graph->job, tj_mapping_digit, *count);
  for (uint32_t i = 0; i < *count; i++)
    digit[i] = (tj_mapping_digit){extent[i]->value->value, stride[i]->value->value, 0};
  return digit;
}

static void apply_layout(tj_graph *graph, tj_layout layout, int64_t item[], uint32_t work_items) {
  uint32_t count;
  const tj_mapping_digit *digit = digits_of_layout(graph, layout, &count);
  const int64_t *value = take_digits(graph->job, digit, count, item, work_items);
  memset(item, 0, work_items * sizeof *item);
  for (uint32_t i = 0; i < count; i++)
    add_part(&(addend){i, digit[i].step, INT64_MAX}, value + (size_t)i * work_items, work_items, item);
}

static int64_t *numbers_below(tj_job *job, uint32_t count) {
  int64_t *number = tj_arena_raw(&job->arena, count, sizeof *number);
  for (uint32_t i = 0; i < count; i++)
    number[i] = i;
  return number;
}

/* The items that work-items are: as tj_mapping_item says. */
static int64_t *items_of(tj_graph *graph, const tj_value *as, uint32_t work_items) {
  int64_t *item = numbers_below(graph->job, work_items);
  if (as == NULL)
    return item;
  if (as->kind == TJ_VALUE_LAYOUT) {
    apply_layout(graph, as->layout, item, work_items);
    return item;
  }
  const tj_f2 *map = as->kind == TJ_VALUE_SWIZZLE ? tj_f2_of_swizzle(graph, as->swizzle) : as->linear;
  for (uint32_t i = 0; i < work_items; i++)
    item[i] = apply_f2(map, i);
  return item;
}

/* Has those be no longer first of whose digits one that repeats elements is not 0. */
static void strike_repeated(const tj_mapping_digit digit[], uint32_t count, const int64_t value[], bool is_first[],
                            uint32_t numbers) {
  for (uint32_t i = 0; i < count; i++) {
    for (uint32_t k = 0; k < numbers && digit[i].step == 0 && digit[i].extent > 1; k++)
      is_first[k] = is_first[k] && value[(size_t)i * numbers + k] % digit[i].extent == 0;
  }
}

static void take_items(holder *h) {
  const tj_mapping_side *side = h->side;
  tj_job *job = h->graph->job;
  uint32_t work_items = h->held.work_items;
  int64_t *item = items_of(h->graph, side->as, work_items);
  bool *is_holder = TJ_NEW_ARRAY(job, bool, work_items);
  bool has_layout = side->as != NULL && side->as->kind == TJ_VALUE_LAYOUT;
  int64_t known = has_layout ? tj_mapping_block(h->graph, side->as) : work_items;
  for (uint32_t i = 0; i < work_items; i++)
    is_holder[i] = i < known && item[i] < side->items;
  h->item = take_digits(job, side->digit, side->item_digits, item, work_items);
  strike_repeated(side->digit, side->item_digits, h->item, is_holder, work_items);
  h->held.is_holder = is_holder;
}

static void take_slots(holder *h) {
  const tj_mapping_side *side = h->side;
  tj_job *job = h->graph->job;
  const tj_mapping_digit *digit = side->digit + side->item_digits;
  uint32_t digits = side->digit_count - side->item_digits;
  bool *first = TJ_NEW_ARRAY(job, bool, side->slots);
  memset(first, true, side->slots);
  h->slot = take_digits(job, digit, digits, numbers_below(job, side->slots), side->slots);
  strike_repeated(digit, digits, h->slot, first, side->slots);
  h->held.is_first = first;
}

/* --- sides --- */

tj_held tj_mapping_held(tj_graph *graph, const tj_mapping *mapping, const tj_mapping_side *side, uint32_t work_items,
                        bool leaves_out) {
  uint32_t rank = tj_mapping_rank(mapping);
  holder h = {.graph = graph, .mapping = mapping, .side = side, .leaves_out = leaves_out};
  h.held = (tj_held){.mapping = mapping, .rank = rank, .work_items = work_items, .slots = side->slots};
  h.held.place = h.place = TJ_NEW_ARRAY(graph->job, tj_held_sum, rank);
  h.held.bound = h.bound = TJ_NEW_ARRAY(graph->job, tj_held_sum, side->digit_count + 1);
  take_items(&h);
  take_slots(&h);
  if (tj_mapping_gives_index(side->digit, side->digit_count)) {
    add_index(&h);
    return h.held;
  }
  for (uint32_t m = 0; m < rank; m++)
    add_mode(&h, m);
  return h.held;
}

static int64_t value_of(const tj_held_sum *sum, uint32_t work_item, uint32_t slot) {
  return sum->of_item[work_item] + sum->of_slot[slot];
}

void tj_held_at(const tj_held *held, uint32_t work_item, uint32_t slot, int64_t place[]) {
  for (uint32_t m = 0; m < held->rank && !held->gives_index; m++)
    place[m] = value_of(&held->place[m], work_item, slot);
  if (!held->gives_index)
    return;
  int64_t index = value_of(&held->place[0], work_item, slot);
  for (uint32_t m = 0; m < held->rank; m++) {
    int64_t extent = tj_mapping_extent(held->mapping, m);
    place[m] = m + 1 < held->rank ? index % extent : index;
    index /= extent;
  }
}

/* --- comparison --- */

/* Whether a slot holds the same element on both sides, whatever the work-item: where the items' parts are equal. */
static bool is_same_slot(const tj_held *a, uint32_t slot, const tj_held *b, uint32_t other, uint32_t sums) {
  for (uint32_t m = 0; m < sums; m++) {
    if (a->place[m].of_slot[slot] != b->place[m].of_slot[other])
      return false;
  }
  return true;
}

bool tj_held_alike(tj_job *job, const tj_held *a, const tj_held *b) {
  uint32_t sums = a->gives_index ? 1 : tj_mapping_rank(a->mapping), count = a->slots;
  bool *taken = TJ_NEW_ARRAY(job, bool, count), is_same = a->slots == b->slots && a->gives_index == b->gives_index;
  for (uint32_t m = 0; m < sums && is_same; m++)
    is_same = memcmp(a->place[m].of_item, b->place[m].of_item, a->work_items * sizeof(int64_t)) == 0;
  for (uint32_t slot = 0; slot < count && is_same; slot++) {
    uint32_t other = 0;
    while (other < count && (taken[other] || !is_same_slot(a, slot, b, other, sums)))
      other++;
    is_same = other < count;
    taken[is_same ? other : 0] = true;
  }
  return is_same;
}
