/* SPDX-License-Identifier: MIT */
/* From mappings with numbers of the launch to accesses: a work-item's number becomes the digits of its side's layout,
 * groups of leaves first as one; digits become places along the modes, and these offsets. What slots add is the same
 * for all work-items, and the launch computes it. Digits that would lead beyond the tile, or to where the next larger
 * one begins, begin earlier. */
#include "ir/index/facts.h"
#include "ir/layout/arith.h"
#include "ir/simplify/simplify.h"
#include "lower/flexible/flexible_maker.h"

/* --- numbers of the launch --- */

static const tj_flexible_share *share_of(const tj_flexible *f, const tj_node *symbol) {
  uint32_t i = 0;
  while (f->share[i].symbol != symbol)
    i++;
  return &f->share[i];
}

static tj_measure measured(tj_flexible *f, const tj_flexible_share *share) {
  return tj_flexible_measure(f, share->log != NULL ? "slots" : "items", share->launch, 1, share->most, 1);
}

const tj_node *tj_flexible_launched(tj_flexible *f, const tj_node *node) {
  if (tj_is_constant(node))
    return node;
  if (node->op == TJ_OP_SYMBOL)
    return share_of(f, node)->launch;
  return tj_terse_mul(f->graph, tj_flexible_launched(f, node->arg[0]), tj_flexible_launched(f, node->arg[1]));
}

/* The same as work-items have it. */
static const tj_node *name_of(tj_flexible *f, const tj_node *node) {
  if (tj_is_constant(node))
    return node;
  if (node->op == TJ_OP_SYMBOL)
    return measured(f, share_of(f, node)).name;
  return tj_terse_mul(f->graph, name_of(f, node->arg[0]), name_of(f, node->arg[1]));
}

/* --- digits --- */

static bool is_items(const tj_flexible *f, const tj_node *extent) {
  return !tj_is_constant(extent) && share_of(f, extent)->log == NULL;
}

/* Items take no more steps than there are of whole ones, and what is whole is everywhere: these begin nowhere
 * earlier. */
static const tj_node *last_of(const tj_flexible_hold *hold, const tj_flexible_digit *digit) {
  tj_flexible *f = hold->f;
  tj_graph *graph = f->graph;
  const tj_flexible_mode *mode = &f->mode[digit->mode];
  const tj_node *end = tj_simplified(graph, tj_mul(graph, digit->step, digit->extent)), *limit = mode->length;
  bool has_whole_steps =
      tj_is_constant(digit->step) && tj_facts_divisible(&mode->extent.launch->facts, digit->step->value);
  if ((tj_is_constant(end) && end->value <= mode->whole) || (is_items(f, digit->extent) && has_whole_steps))
    return NULL;
  for (uint32_t i = 0; i < hold->count; i++) {
    const tj_flexible_digit *next = &hold->digit[i];
    if (next->mode == digit->mode && tj_simplified(graph, next->step) == end)
      limit = tj_min(graph, limit, tj_flexible_launched(f, next->step));
  }
  return tj_flexible_at_least(graph, tj_terse_sub(graph, limit, tj_flexible_launched(f, digit->step)), 0);
}

static void read_digits(tj_flexible_hold *hold, const tj_tuple *shape, const tj_tuple *strides) {
  uint32_t count;
  const tj_tuple *const *extent = tj_tuple_leaves(hold->f->graph, shape, &count);
  const tj_tuple *const *stride = tj_tuple_leaves(hold->f->graph, strides, &count);
  for (uint32_t i = 0; i < count; i++) {
    if (stride[i]->kind == TJ_TUPLE_BASIS)
      hold->digit[hold->count++] =
          (tj_flexible_digit){.extent = extent[i]->value, .step = stride[i]->value, .mode = stride[i]->path[0]};
  }
}

/* --- work-items --- */

/* What a part of the items comes to. */
static tj_flexible_share size_of(tj_flexible *f, const tj_tuple *part) {
  tj_graph *graph = f->graph;
  tj_flexible_share size = {.launch = tj_int(graph, 1), .most = f->items};
  for (uint32_t i = 0; i < f->share_count; i++) {
    if (f->share[i].group == part)
      return f->share[i];
  }
  if (!tj_tuple_is_list(part))
    return tj_is_constant(part->value) ? (tj_flexible_share){.launch = part->value, .most = part->value->value}
                                       : *share_of(f, part->value);
  for (uint32_t i = 0; i < part->count; i++)
    size.launch = tj_terse_mul(graph, size.launch, size_of(f, part->item[i]).launch);
  size.launch = tj_flexible_at_most(graph, size.launch, f->items);
  return size;
}

/* A power of two that the launch chooses. */
static tj_flexible_digits split_by_slots(tj_flexible *f, const tj_node *number, const tj_flexible_share *slots) {
  tj_graph *graph = f->graph;
  int64_t most_log = __builtin_ctzll((unsigned long long)slots->most);
  tj_measure shift = tj_flexible_measure(f, "log", slots->log, 0, most_log, 1);
  tj_measure mask =
      tj_flexible_measure(f, "mask", tj_sub(graph, slots->launch, tj_int(graph, 1)), 0, slots->most - 1, 1);
  return (tj_flexible_digits){.quotient = tj_shr(graph, number, shift.name),
                              .remainder = tj_and(graph, number, mask.name)};
}

static tj_flexible_digits split_part(tj_flexible *f, const tj_node *number, const tj_tuple *part) {
  tj_graph *graph = f->graph;
  tj_flexible_share size = size_of(f, part);
  if (tj_is_constant(size.launch) && !tj_tuple_is_list(part) && tj_is_constant(part->value))
    return (tj_flexible_digits){.quotient = tj_terse_div(graph, number, size.launch),
                                .remainder = tj_terse_mod(graph, number, size.launch)};
  if (size.log != NULL && !tj_is_constant(size.launch))
    return split_by_slots(f, number, &size);
  return tj_flexible_split(f, number, measured(f, &size), size.most);
}

/* Gives the parts of the item, from digit *next on, their numbers. */
static void number_part(tj_flexible_hold *hold, const tj_tuple *part, const tj_node *number, uint32_t *next) {
  hold->part[hold->part_count].shape = part;
  hold->part[hold->part_count++].number = number;
  if (!tj_tuple_is_list(part)) {
    hold->digit[(*next)++].number = number;
    return;
  }
  for (uint32_t i = 0; i < part->count; i++) {
    tj_flexible_digits digits = {.quotient = number, .remainder = number};
    if (i + 1 < part->count)
      digits = split_part(hold->f, number, part->item[i]);
    if (!tj_tuple_is_list(part->item[i])) {
      hold->digit[*next].whole = number;
      hold->digit[*next].split = digits;
    }
    number_part(hold, part->item[i], digits.remainder, next);
    number = digits.quotient;
  }
}

static bool begins_with_constant(const tj_tuple *items) {
  return tj_tuple_is_list(items) && !tj_tuple_is_list(items->item[0]) && tj_is_constant(items->item[0]->value);
}

/* Work-items beyond the last item do nothing: whole groups of those that a constant leaf has. */
static void gate_items(tj_flexible *f, const tj_tuple *items, const tj_node *number) {
  tj_graph *graph = f->graph;
  const tj_node *count = tj_int(graph, 1);
  int64_t most = f->items;
  bool skips = begins_with_constant(items);
  if (skips) {
    number = tj_terse_div(graph, number, items->item[0]->value);
    most /= items->item[0]->value->value;
  }
  for (uint32_t i = skips; tj_tuple_is_list(items) && i < items->count; i++)
    count = tj_terse_mul(graph, count, size_of(f, items->item[i]).launch);
  if (!tj_tuple_is_list(items))
    count = size_of(f, items).launch;
  tj_flexible_gate(f, number, tj_flexible_at_most(graph, count, most), most);
}

/* What a work-item is on a side. */
static const tj_node *item_of(const tj_flexible *f, uint32_t side) {
  bool is_other = side == TJ_FLEXIBLE_DESTINATION && f->stored_as != NULL;
  tj_mapping_side stored = {.as = f->stored_as};
  return is_other ? tj_mapping_item(f->graph, &stored, f->kernel->item) : f->kernel->item;
}

const tj_node *tj_flexible_number(const tj_flexible_hold *hold, const tj_tuple *part) {
  uint32_t i = 0;
  while (i < hold->part_count && hold->part[i].shape != part)
    i++;
  return i < hold->part_count ? hold->part[i].number : tj_int(hold->f->graph, 0);
}

/* --- places --- */

/* Where a work-item is along a mode, in elements; NULL: it has no digits there. */
static const tj_node *place_along(const tj_flexible_hold *hold, uint32_t mode) {
  tj_flexible *f = hold->f;
  const tj_node *place = NULL;
  for (uint32_t i = hold->item_count; i-- > 0;) {
    const tj_flexible_digit *d = &hold->digit[i];
    if (d->mode != mode)
      continue;
    const tj_node *part = tj_terse_mul(f->graph, d->number, name_of(f, d->step));
    if (d->last != NULL)
      part = tj_flexible_least(f, part, tj_flexible_measure(f, "last", d->last, 0, INT32_MAX, 1));
    place = place == NULL ? part : tj_terse_add(f->graph, place, part);
  }
  return place;
}

/* A work-item's part of a form, by its digits: the side's own first mode first. */
static const tj_node *offset_of_digits(const tj_flexible_hold *hold, uint32_t form) {
  tj_flexible *f = hold->f;
  tj_flexible_modes modes = {.mode = {tj_flexible_first(f, hold->side)}, .count = 1};
  tj_flexible_add_mode(&modes, tj_flexible_first(f, TJ_FLEXIBLE_SIDES - 1 - hold->side));
  tj_flexible_add_axes(f, &modes);
  const tj_node *sum = tj_int(f->graph, 0);
  for (uint32_t i = 0; i < modes.count; i++) {
    const tj_node *place = place_along(hold, modes.mode[i]);
    if (place != NULL)
      sum = tj_terse_add(f->graph, sum, tj_flexible_part(f, &f->mode[modes.mode[i]], form, place));
  }
  return sum;
}

/* Of cheap products, which have 24 bits. */
static const int64_t most_factor = (1 << 23) - 1;

/* Numbers of a work-item, each times what the launch has. */
typedef struct {
  const tj_node *number[2 * TJ_FLEXIBLE_LEAVES], *factor[2 * TJ_FLEXIBLE_LEAVES];
  uint32_t count;
} products;

static void add_product(tj_graph *graph, products *all, const tj_node *number, const tj_node *factor) {
  uint32_t i = 0;
  while (i < all->count && all->number[i] != number)
    i++;
  if (i == all->count) {
    all->number[all->count] = number;
    all->factor[all->count++] = factor;
  } else {
    all->factor[i] = tj_terse_add(graph, all->factor[i], factor);
  }
}

/* A digit's part of a form: (whole - quotient * divisor) * stride. A digit that is always 0 has none. */
static void add_digit(const tj_flexible_hold *hold, const tj_flexible_digit *d, uint32_t form, products *all) {
  tj_flexible *f = hold->f;
  tj_graph *graph = f->graph;
  const tj_node *stride = tj_terse_mul(graph, tj_flexible_launched(f, d->step), f->mode[d->mode].stride[form].launch);
  const tj_node *divisor = d->split.divisor.launch, *none = tj_int(graph, 0);
  if (divisor == NULL) {
    add_product(graph, all, d->number, stride);
    return;
  }
  if (!tj_is_constant(stride))
    stride = tj_flexible_choice(graph, tj_equal(graph, divisor, tj_int(graph, 1)), none, stride);
  add_product(graph, all, d->whole, stride);
  add_product(graph, all, d->split.quotient, tj_terse_sub(graph, none, tj_terse_mul(graph, stride, divisor)));
}

/* Steps of a launch, as small as its condition makes sure. */
static void keep_small(tj_flexible *f, products *all) {
  tj_graph *graph = f->graph;
  for (uint32_t i = 0; i < all->count; i++) {
    tj_flexible_demand_between(f, all->factor[i], -most_factor, most_factor);
    all->factor[i] =
        tj_flexible_at_least(graph, tj_flexible_at_most(graph, all->factor[i], most_factor), -most_factor);
  }
}

static products products_of(const tj_flexible_hold *hold, uint32_t form) {
  products all = {.count = 0};
  for (uint32_t i = 0; i < hold->item_count; i++)
    add_digit(hold, &hold->digit[i], form, &all);
  if (hold->f->has_small_steps)
    keep_small(hold->f, &all);
  return all;
}

/* The sum of products by factors that are constants, or of those by others. */
static const tj_node *sum_of(tj_flexible *f, const products *all, bool of_constants) {
  const tj_node *sum = tj_int(f->graph, 0);
  for (uint32_t i = 0; i < all->count; i++) {
    const tj_facts *facts = &all->factor[i]->facts;
    tj_measure factor = tj_flexible_measure(f, "step", all->factor[i], facts->low, facts->high, 1);
    if (tj_is_constant(factor.name) == of_constants)
      sum = tj_terse_add(f->graph, sum, tj_terse_mul(f->graph, all->number[i], factor.name));
  }
  return sum;
}

/* The same by what digits are remainders of, and by their quotients, which takes no remainders. */
static const tj_node *offset_of_quotients(const tj_flexible_hold *hold, uint32_t form) {
  tj_flexible *f = hold->f;
  const products all = products_of(hold, form);
  const tj_node *offset = tj_terse_add(f->graph, sum_of(f, &all, false), sum_of(f, &all, true));
  const tj_facts *facts = &offset_of_digits(hold, form)->facts;
  if (!tj_is_constant(offset))
    tj_sharpen_facts(offset, &(tj_facts){.low = facts->low, .high = facts->high, .modulus = 1});
  return offset;
}

static bool are_small(const products *all) {
  bool are = true;
  for (uint32_t i = 0; i < all->count; i++)
    are = are && all->factor[i]->facts.low >= -most_factor && all->factor[i]->facts.high <= most_factor;
  return are;
}

/* Whether a work-item needs no remainders: neither for places in LDS, nor for digits that begin earlier; and where
 * all factors are small enough for cheap products. */
static bool goes_by_quotients(const tj_flexible_hold *hold) {
  const tj_flexible *f = hold->f;
  bool goes = f->kernel->lds_elements == 0;
  for (uint32_t i = 0; i < hold->item_count; i++)
    goes = goes && hold->digit[i].last == NULL;
  for (uint32_t form = 0; form < f->form_count && goes; form++) {
    if (tj_flexible_has_form(f, form)) {
      const products all = products_of(hold, form);
      goes = are_small(&all);
    }
  }
  return goes;
}

/* Whether a form is that of source or destination itself, or goes with its accesses. */
static bool is_form_of(const tj_flexible *f, uint32_t form, uint32_t side) {
  bool goes_with = form >= TJ_FLEXIBLE_SIDES && tj_flexible_has_form(f, form) && f->form[form].side == side;
  return form == side || goes_with;
}

/* A work-item's part of all forms of the side. */
static void find_offsets(tj_flexible_hold *hold) {
  bool by_quotients = goes_by_quotients(hold);
  for (uint32_t form = 0; form < hold->f->form_count; form++) {
    if (is_form_of(hold->f, form, hold->side))
      hold->of_item[form] = by_quotients ? offset_of_quotients(hold, form) : offset_of_digits(hold, form);
  }
}

tj_flexible_hold tj_flexible_split_items(tj_flexible *f, uint32_t side) {
  const tj_layout *layout = side == TJ_FLEXIBLE_SOURCE ? &f->mapping->load.layout : &f->mapping->store.layout;
  const tj_tuple *items = layout->shape->item[0];
  tj_flexible_hold hold = {.f = f, .side = side, .width = f->width[side], .item = item_of(f, side)};
  uint32_t next = 0;
  read_digits(&hold, items, layout->stride->item[0]);
  hold.item_count = hold.count;
  read_digits(&hold, layout->shape->item[1], layout->stride->item[1]);
  for (uint32_t i = 0; i < hold.count; i++)
    hold.digit[i].last = last_of(&hold, &hold.digit[i]);
  gate_items(f, items, hold.item);
  number_part(&hold, items, hold.item, &next);
  find_offsets(&hold);
  return hold;
}

/* A number of steps of a form's stride, the same for all work-items. */
static const tj_node *steps_of(tj_flexible *f, const tj_flexible_mode *mode, uint32_t form, int64_t steps) {
  if (steps <= 1)
    return steps == 0 ? tj_int(f->graph, 0) : mode->stride[form].name;
  const tj_node *launch = tj_terse_mul(f->graph, tj_int(f->graph, steps), mode->stride[form].launch);
  return tj_flexible_measure(f, "row", launch, 0, tj_flexible_slot_limit(f, form), 1).name;
}

/* What so many rows of a mode that tiles are cut along add to a form, as far as these are in the tile. */
static const tj_node *rows_beyond(tj_flexible *f, const tj_flexible_mode *mode, uint32_t form, const tj_node *rows) {
  int64_t limit = tj_flexible_slot_limit(f, form);
  tj_measure row = tj_flexible_measure(f, "row", mode->stride[form].launch, 0, limit, 1);
  return tj_flexible_product(f, rows, row.name, limit);
}

/* What vector `number` of the slots adds to a form. */
static const tj_node *offset_of_slot(const tj_flexible_hold *hold, int64_t number, uint32_t form) {
  tj_flexible *f = hold->f;
  tj_graph *graph = f->graph;
  const tj_node *rest = tj_int(graph, number), *moved = tj_int(graph, 0), *fixed = moved;
  for (uint32_t i = hold->item_count + 1; i < hold->count && !tj_is_int(rest, 0); i++) {
    const tj_flexible_digit *d = &hold->digit[i];
    const tj_flexible_mode *mode = &f->mode[d->mode];
    const tj_node *extent = tj_flexible_launched(f, d->extent), *digit = tj_terse_mod(graph, rest, extent);
    rest = tj_terse_div(graph, rest, extent);
    const tj_node *place = tj_terse_mul(graph, digit, tj_flexible_launched(f, d->step));
    if (mode->is_cut)
      fixed = tj_terse_add(graph, fixed, rows_beyond(f, mode, form, place));
    else if (d->last == NULL)
      fixed = tj_terse_add(graph, fixed, steps_of(f, mode, form, place->value));
    else if (!tj_is_int(place, 0))
      moved =
          tj_terse_add(graph, moved, tj_terse_mul(graph, tj_min(graph, place, d->last), mode->stride[form].launch));
  }
  moved = tj_flexible_measure(f, "slot", moved, 0, tj_flexible_slot_limit(f, form), 1).name;
  return tj_terse_add(graph, moved, fixed);
}

/* An access to what a form is of, `more` beyond its base, of `width` slots from `slot` on. */
static void move(const tj_flexible_hold *hold, uint32_t form, const tj_flexible_place place[], const tj_node *more,
                 uint32_t width, uint32_t slot) {
  tj_flexible *f = hold->f;
  bool is_source = form == TJ_FLEXIBLE_SOURCE || tj_flexible_is_source(f, form);
  const tj_node *base = tj_terse_add(f->graph, f->form[form].base, place[form].of_all);
  tj_access access = {.buffer = tj_flexible_buffer(f, form),
                      .base = tj_terse_add(f->graph, base, more),
                      .offset = place[form].of_item,
                      .valid = f->is_inner ? NULL : tj_flexible_within(f, hold->side, place)};
  tj_flexible_step(f, is_source ? TJ_STEP_LOAD : TJ_STEP_STORE, access, width, slot, 1);
  f->kernel->step[f->kernel->step_count - 1].multiple = f->multiple[form];
}

/* Loads what a vector of the side takes of a further source, or stores what it gives to a further destination: as
 * vectors, where that has neighbours as the side does, or one by one. */
static void move_further(const tj_flexible_hold *hold, uint32_t form, const tj_flexible_place place[],
                         uint32_t slot) {
  tj_flexible *f = hold->f;
  bool is_source = tj_flexible_is_source(f, form);
  uint32_t buffer = tj_flexible_buffer(f, form), first = tj_flexible_first(f, hold->side);
  uint32_t of_source = is_source ? (form - TJ_FLEXIBLE_FURTHER + 1) * tj_source_slots(f->kernel) : 0;
  uint32_t width = tj_target_widest(f->target, tj_element_bytes(f->kernel, buffer));
  bool is_contiguous = tj_is_int(tj_flexible_stride(f, first, form), 1);
  width = !is_contiguous ? 1 : width < hold->width ? width : hold->width;
  for (uint32_t k = 0; k < hold->width; k += width)
    move(hold, form, place, steps_of(f, &f->mode[first], form, k), width, slot + of_source + k);
}

static void find_places(const tj_flexible_hold *hold, uint32_t vector, tj_flexible_place place[]) {
  for (uint32_t form = 0; form < hold->f->form_count; form++) {
    if (is_form_of(hold->f, form, hold->side))
      place[form] = (tj_flexible_place){hold->of_item[form], offset_of_slot(hold, vector, form)};
  }
}

static void move_all_further(const tj_flexible_hold *hold, bool are_sources, const tj_flexible_place place[],
                             uint32_t slot) {
  const tj_flexible *f = hold->f;
  for (uint32_t form = TJ_FLEXIBLE_FURTHER; form < TJ_FLEXIBLE_FURTHER + f->domain->other_count; form++) {
    if (f->form[form].side == hold->side && tj_flexible_is_source(f, form) == are_sources)
      move_further(hold, form, place, slot);
  }
}

void tj_flexible_move_some(const tj_flexible_hold *hold, uint32_t first, uint32_t count, uint32_t slot) {
  tj_flexible *f = hold->f;
  tj_flexible_place *place = TJ_NEW_ARRAY(f->graph->job, tj_flexible_place, (size_t)count * TJ_FLEXIBLE_FORMS);
  for (uint32_t i = 0; i < count; i++) {
    tj_flexible_place *own = &place[(size_t)i * TJ_FLEXIBLE_FORMS];
    f->row = first + i;
    find_places(hold, first + i, own);
    move_all_further(hold, true, own, slot + i * hold->width);
    move(hold, hold->side, own, tj_int(f->graph, 0), hold->width, slot + i * hold->width);
  }
  for (uint32_t i = 0; i < count; i++) {
    f->row = first + i;
    move_all_further(hold, false, &place[(size_t)i * TJ_FLEXIBLE_FORMS], slot + i * hold->width);
  }
}
