/* SPDX-License-Identifier: MIT */
/* The search for LDS layouts: candidates in order of what they cost besides cycles, so that the first one that takes
 * as few cycles as the pigeonhole allows is the best. A candidate is given up as soon as it cannot win; where only
 * one without conflicts can, one phase is enough for that, and of candidates by steps, most are never looked at. */
#include "lower/lds/lds_layout.h"

#include "base/number/power.h"
#include "base/text.h"
#include "lower/access/price.h"
#include "lower/lds/lds_cycles.h"

enum {
  MOST_SERIES = 2048,
  MOST_STEPS = 64, /* of a series: no more than there are banks, or bits of an address */
  MOST_GROUPS = 16,
  MOST_RESIDENTS = 8,
  NUMBER_BITS = 24,     /* of layouts, which may be more than 65,536; bytes of LDS have as many */
  MOST_COUNTED = 60000, /* units of classes of phases, */
  FEW_COUNTED = 12000,  /* and where wider instructions were given up */
  CYCLES_ALONE = 1024   /* that a workgroup waits for memory while no other one of its compute unit has work */
};

typedef struct {
  tj_stage_layout layout;
  tj_stage_form *form;
  uint32_t residents; /* workgroups that have LDS at a time, up to as many as are of use */
  uint32_t waiting;   /* cycles in which nobody has work, for want of residents */
  uint64_t order;     /* what besides cycles it costs: fewer residents, then addresses, then bytes; then its number */
} candidate;

/* --- candidates --- */

/* What layouts of one group and one run have in common. */
typedef struct {
  uint32_t groups, within; /* how many there are but for the last, and how many lines that or a single one has */
  uint32_t runs, rest;     /* the same of runs, and their elements */
  uint32_t address_cost;   /* operations that make an address, but for its pitch */
  tj_stage_form *form;     /* once there is a layout */
} layout_kind;

/* By how much a layout differs from the one before it. */
typedef struct {
  uint32_t pitch, group_pitch, number;
  int32_t shift;
} layout_step;

/* Layouts of a kind, each of which costs more than the one before it: more bytes, or a higher number. */
typedef struct {
  layout_kind kind;
  layout_step step;
  uint64_t left; /* a bit for each, the next one the lowest: 0 where it surely has conflicts, and none are wanted */
  uint32_t number;
  candidate next;
} series;

/* Of series, the one whose next layout costs least comes first, and others after those at half their places. */
typedef struct {
  const tj_stage_stream *stream;
  tj_stage_counter *counter;
  bool is_calm;          /* only layouts without conflicts are of use */
  uint32_t lines, along; /* of the tile; along, in whole vectors */
  uint32_t turn;         /* vectors that take each bank once */
  layout_kind kind;      /* at hand */
  series **item;
  uint32_t count, number, tried;
} candidate_list;

static const tj_stage_tile *tile_of(const tj_stage_stream *s) {
  return s->patterns->tile;
}

static bool is_cheap_group(const tj_stage_tile *tile, uint32_t group) {
  if (tj_is_power_of_two(group))
    return true;
  for (uint32_t i = 0; i < tile->group_count; i++) {
    if (tile->group[i] == group)
      return true;
  }
  return false;
}

static uint64_t elements_of(const layout_kind *kind, const tj_stage_layout *layout) {
  uint64_t elements = (uint64_t)kind->groups * layout->group_pitch + (uint64_t)(kind->within - 1) * layout->pitch +
                      (uint64_t)kind->runs * layout->run_pitch + kind->rest;
  uint64_t unit = layout->swizzle.bits > 0 ? 1ull << (layout->swizzle.base + layout->swizzle.bits) : 1;
  return (elements + unit - 1) & -unit;
}

/* Whether units of so many lines end where modes do, or within one that is cut evenly; the last need not be. Lines
 * are made of modes whose extents have these products, first mode first. */
static bool ends_with_modes(uint32_t unit, const uint32_t product[], uint32_t count) {
  uint32_t mode = 0;
  while (mode < count && product[mode] < unit)
    mode++;
  uint32_t before = mode > 0 ? product[mode - 1] : 1;
  return mode >= count || (unit % before == 0 && (mode + 1 == count || product[mode] % unit == 0));
}

/* Whether groups of lines, and runs of columns, are of the tile's modes. */
static bool are_by_mode(const candidate_list *list, uint32_t group, uint32_t run) {
  const tj_stage_tile *tile = tile_of(list->stream);
  bool by_row = list->stream->direction == TJ_STAGE_ROW;
  return ends_with_modes(group, by_row ? tile->group : tile->run, by_row ? tile->group_count : tile->run_count) &&
         (run == 0 || ends_with_modes(run, tile->run, tile->run_count));
}

/* Operations of addresses: constants come out of sums, but not out of swizzles. */
static uint32_t address_cost_of(const tj_stage_tile *tile, uint32_t group, uint32_t run, bool is_swizzled) {
  uint32_t cost = group == 1 ? 0 : is_cheap_group(tile, group) ? 2 : 8;
  return cost + (run > 0 ? 2 : 0) + (is_swizzled ? 6 : 0);
}

/* Turns to layouts of a group and a run, 0 for whole lines; false where they are not of the tile's modes. */
static bool turn_to(candidate_list *list, uint32_t group, uint32_t run, bool is_swizzled) {
  list->kind = (layout_kind){.groups = (list->lines - 1) / group,
                             .within = group < list->lines ? group : list->lines,
                             .runs = run > 0 ? list->along / run - 1 : 0,
                             .rest = run > 0 ? run : list->along,
                             .address_cost = address_cost_of(tile_of(list->stream), group, run, is_swizzled)};
  return are_by_mode(list, group, run);
}

/* Cycles in which nobody has work, where each workgroup takes so many bytes. */
static uint32_t waiting_with(const tj_stage_tile *tile, uint64_t bytes) {
  return 2 * bytes > tile->shared ? CYCLES_ALONE : 0;
}

static bool tries(const tj_stage_tile *tile, unsigned form) {
  return (tile->without & form) == 0;
}

/* Whether an engine writes a layout: lines one after the other, with gaps alone that its pads make, after so many
 * bytes each. */
static bool writes_in_order(const tj_dma_engine *engine, const candidate_list *list, const tj_stage_layout *layout) {
  uint32_t bytes = tile_of(list->stream)->element_bytes, interval = layout->group * list->along * bytes,
           step = layout->group_pitch * bytes;
  bool is_in_order = layout->swizzle.bits == 0 && layout->run == 0 && step >= interval &&
                     (layout->group == 1 || layout->pitch == list->along);
  return is_in_order && (step == interval || tj_dma_can_pad(engine, interval, step - interval));
}

enum { SWIZZLED_BYTES = 16 }; /* that swizzles of tensor maps leave together; they look at bits 3 further on */

/* Whether it writes one whose lines it swizzles, in boxes of as many columns as the swizzle has room for. */
static bool writes_swizzled(const tj_dma_engine *engine, const candidate_list *list, const tj_stage_layout *layout) {
  uint32_t bytes = tile_of(list->stream)->element_bytes, row = layout->run != 0 ? layout->run : list->along;
  const tj_swizzle swizzle = layout->swizzle;
  return engine->most_swizzle != 0 && swizzle.bits > 0 && swizzle.shift == 3 && layout->group == 1 &&
         layout->pitch == row && (layout->run == 0 || layout->run_pitch == list->lines * row) &&
         bytes << swizzle.base == SWIZZLED_BYTES && row == 1u << (swizzle.base + swizzle.bits) &&
         row * bytes <= engine->most_swizzle;
}

static bool writes(const tj_dma_engine *engine, const candidate_list *list, const tj_stage_layout *layout) {
  return writes_in_order(engine, list, layout) || writes_swizzled(engine, list, layout);
}

/* --- series --- */

static uint64_t order_of(const layout_kind *kind, const candidate *c, uint32_t number) {
  uint32_t address_cost = kind->address_cost + (tj_is_power_of_two(c->layout.pitch) ? 1 : 2);
  return (uint64_t)(MOST_RESIDENTS - c->residents) << 56 | (uint64_t)address_cost << 48 |
         (uint64_t)c->layout.bytes << NUMBER_BITS | number;
}

/* Whether the next layout of a series is tried, which then is a candidate. Pitches that are powers of two cost less
 * than those before them, so that they are no part of a series of pitches. */
static bool is_tried(const candidate_list *list, series *s) {
  const tj_stage_tile *tile = tile_of(list->stream);
  candidate *c = &s->next;
  const uint64_t elements = elements_of(&s->kind, &c->layout), bytes = elements * tile->element_bytes;
  const bool has_gaps = elements != (uint64_t)list->lines * list->along;
  if (bytes > tile->limit || (tile->is_packed && has_gaps) ||
      (s->step.pitch > 0 && tj_is_power_of_two(c->layout.pitch)) ||
      (tile->writer != NULL && !writes(tile->writer, list, &c->layout)))
    return false;
  const uint32_t residents = tile->shared / (uint32_t)bytes;
  c->layout.bytes = (uint32_t)bytes;
  c->residents = residents < MOST_RESIDENTS ? residents : MOST_RESIDENTS;
  c->waiting = waiting_with(tile, bytes);
  c->order = order_of(&s->kind, c, s->number);
  return true;
}

static void step_on(series *s) {
  s->left >>= 1;
  s->number += s->step.number;
  s->next.layout.pitch += s->step.pitch;
  s->next.layout.group_pitch += s->step.group_pitch;
  s->next.layout.swizzle.shift += s->step.shift;
}

/* Steps on to a layout that is tried; false where there is none. */
static bool find_tried(const candidate_list *list, series *s) {
  while (s->left != 0 && ((s->left & 1) == 0 || !is_tried(list, s)))
    step_on(s);
  return s->left != 0;
}

/* Those of a series that may be without conflicts. */
static uint64_t calm_steps(const candidate_list *list, const series *s) {
  tj_stage_layout next = s->next.layout;
  next.pitch += s->step.pitch;
  next.group_pitch += s->step.group_pitch;
  return tj_stage_calm_steps(list->counter, s->next.form, &s->next.layout, &next);
}

/* Adds up to MOST_STEPS layouts. */
static void add_some(candidate_list *list, const tj_stage_layout *first, layout_step step, uint32_t number,
                     uint32_t count) {
  series s = {list->kind, step, count > 0 ? UINT64_MAX >> (MOST_STEPS - count) : 0, number, {.layout = *first}};
  s.next.layout.direction = list->stream->direction;
  s.next.layout.vector = list->stream->vector;
  if (list->kind.form == NULL)
    list->kind.form = tj_stage_form_of(list->counter, &s.next.layout);
  s.next.form = list->kind.form;
  if (list->is_calm && first->swizzle.bits == 0)
    s.left &= calm_steps(list, &s);
  if (list->count == MOST_SERIES || !find_tried(list, &s))
    return;
  list->item[list->count++] = tj_arena_copy(&list->stream->job->arena, &s, sizeof s);
}

/* Adds layouts from a first one on, by a step. */
static void add_series(candidate_list *list, tj_stage_layout layout, layout_step step, uint32_t number,
                       uint32_t count) {
  add_some(list, &layout, step, number, count);
  for (uint32_t i = 0; i < count && step.pitch > 0; i++) {
    if (tj_is_power_of_two(layout.pitch))
      add_some(list, &layout, (layout_step){0}, number + i * step.number, 1);
    layout.pitch += step.pitch;
    layout.group_pitch += step.group_pitch;
  }
}

/* Adds layouts behind all others. */
static void append_series(candidate_list *list, tj_stage_layout layout, layout_step step, uint32_t count) {
  step.number = 1;
  add_series(list, layout, step, list->number, count);
  list->number += count;
}

/* Takes the series at a place, of which those after it are in order, to where it is in order. */
static void sink(candidate_list *list, uint32_t place) {
  series *const sunk = list->item[place];
  for (uint32_t after = 2 * place + 1; after < list->count; after = 2 * place + 1) {
    if (after + 1 < list->count && list->item[after + 1]->next.order < list->item[after]->next.order)
      after++;
    if (list->item[after]->next.order > sunk->next.order)
      break;
    list->item[place] = list->item[after];
    place = after;
  }
  list->item[place] = sunk;
}

static void put_in_order(candidate_list *list) {
  for (uint32_t place = list->count / 2; place-- > 0;)
    sink(list, place);
}

/* Passes over the layout that costs least. */
static void pass_over(candidate_list *list) {
  series *first = list->item[0];
  step_on(first);
  if (!find_tried(list, first))
    list->item[0] = list->item[--list->count];
  if (list->count > 0)
    sink(list, 0);
}

/* --- candidates --- */

/* Lines one after the other. */
static void add_plain(candidate_list *list) {
  turn_to(list, 1, 0, false);
  append_series(list, (tj_stage_layout){.group = 1, .pitch = list->along, .group_pitch = list->along},
                (layout_step){0}, 1);
}

/* The same with up to a turn of the banks between them. */
static void add_paddings(candidate_list *list) {
  uint32_t vector = list->stream->vector, padded = list->along + vector;
  turn_to(list, 1, 0, false);
  append_series(list, (tj_stage_layout){.group = 1, .pitch = padded, .group_pitch = padded},
                (layout_step){.pitch = vector, .group_pitch = vector}, list->turn - 1);
}

/* Swizzles of a layout that leave vectors whole and reach no further than the banks. */
static void add_swizzles_of(candidate_list *list, tj_stage_layout layout) {
  if (!turn_to(list, layout.group, 0, true))
    return;
  uint32_t first = tj_log2(list->stream->vector), top = first + tj_log2(list->turn),
           most = tj_log2(list->lines * list->along);
  for (uint32_t bits = 1; first + bits <= top; bits++) {
    for (uint32_t base = first; base + bits <= top && base + bits <= most; base++) {
      layout.swizzle = (tj_swizzle){(int32_t)bits, (int32_t)base, (int32_t)bits};
      append_series(list, layout, (layout_step){.shift = 1}, most - base - bits + 1);
    }
  }
}

/* Those of an engine that swizzles the lines of its boxes, which lie one behind the other. */
static void add_boxes(candidate_list *list) {
  const tj_stage_tile *tile = tile_of(list->stream);
  for (uint32_t bytes = 2 * SWIZZLED_BYTES; bytes <= tile->writer->most_swizzle; bytes *= 2) {
    uint32_t row = bytes / tile->element_bytes, base = tj_log2(SWIZZLED_BYTES / tile->element_bytes);
    tj_stage_layout layout = {.group = 1, .pitch = row, .group_pitch = row};
    if (list->along % row != 0 || tile->element_bytes > SWIZZLED_BYTES)
      continue;
    if (row < list->along) {
      layout.run = row;
      layout.run_pitch = list->lines * row;
    }
    layout.swizzle = (tj_swizzle){(int32_t)(tj_log2(row) - base), (int32_t)base, 3};
    if (turn_to(list, 1, layout.run, true))
      append_series(list, layout, (layout_step){0}, 1);
  }
}

/* Lines in their order; or, where gaps are not allowed, those of groups far from each other, too. */
static void add_swizzles(candidate_list *list) {
  enum { MOST_GROUP = 16 };
  add_swizzles_of(list, (tj_stage_layout){.group = 1, .pitch = list->along, .group_pitch = list->along});
  for (uint32_t group = 2; tile_of(list->stream)->is_packed && group <= MOST_GROUP && list->lines % group == 0;
       group *= 2)
    add_swizzles_of(
        list,
        (tj_stage_layout){.group = group, .pitch = list->lines / group * list->along, .group_pitch = list->along});
}

/* Groups one after the other, or interleaved; with what is between lines, and between groups. */
static void add_groups_of(candidate_list *list, uint32_t group) {
  uint32_t vector = list->stream->vector, groups = (list->lines + group - 1) / group;
  if (!turn_to(list, group, 0, false))
    return;
  for (uint32_t between = 0; between < list->turn; between = between == 0 ? 1 : 2 * between) {
    uint32_t near = list->along + between * vector;
    add_series(list, (tj_stage_layout){.group = group, .pitch = near, .group_pitch = group * near},
               (layout_step){.group_pitch = vector, .number = 2}, list->number, list->turn);
    add_series(list, (tj_stage_layout){.group = group, .pitch = groups * near, .group_pitch = near},
               (layout_step){.pitch = vector, .number = 2}, list->number + 1, list->turn);
    list->number += 2 * list->turn;
  }
}

static void add_group(const candidate_list *list, uint32_t group, uint32_t groups[], uint32_t *count) {
  for (uint32_t i = 0; i < *count; i++) {
    if (groups[i] == group)
      return;
  }
  if (group > 1 && group < list->lines && *count < MOST_GROUPS)
    groups[(*count)++] = group;
}

/* How far apart the lines are that lanes beside each other want. */
static void add_steps(const candidate_list *list, const tj_stage_phase *phase, uint32_t groups[], uint32_t *count) {
  for (uint32_t i = 1; i < phase->units; i++) {
    uint32_t step = phase->unit[i].line - phase->unit[i - 1].line;
    add_group(list, step < -step ? step : -step, groups, count);
  }
}

static void add_groups(candidate_list *list) {
  const tj_stage_stream *s = list->stream;
  uint32_t groups[MOST_GROUPS], count = 0;
  for (uint32_t power = 2; power <= 16; power *= 2)
    add_group(list, power, groups, &count);
  for (uint32_t i = 0; i < tile_of(s)->group_count && s->direction == TJ_STAGE_ROW; i++)
    add_group(list, tile_of(s)->group[i], groups, &count);
  for (uint32_t i = 0; i < s->phase_count; i++)
    add_steps(list, &s->phase[i], groups, &count);
  for (uint32_t i = 0; i < count; i++)
    add_groups_of(list, groups[i]);
}

/* Lines of runs, with what is between them; in groups one after the other. */
static void add_runs_of(candidate_list *list, uint32_t run, uint32_t group) {
  uint32_t vector = list->stream->vector;
  if (!turn_to(list, group, run, false))
    return;
  for (uint32_t between = 1; between < list->turn; between++) {
    uint32_t run_pitch = run + between * vector, pitch = list->along / run * run_pitch;
    append_series(
        list,
        (tj_stage_layout){
            .group = group, .pitch = pitch, .group_pitch = group * pitch, .run = run, .run_pitch = run_pitch},
        (layout_step){.pitch = group == 1 ? vector : 0, .group_pitch = vector}, list->turn);
  }
}

/* Where units of a line that are far from each other are wanted at once, and the first modes of columns divide it. */
static void add_runs(candidate_list *list) {
  enum { MOST_TURN = 16, MOST_GROUP = 8 };
  const tj_stage_tile *tile = tile_of(list->stream);
  if (list->turn > MOST_TURN || list->stream->direction != TJ_STAGE_ROW || list->along != tile->columns)
    return;
  for (uint32_t i = 0; i < tile->run_count; i++) {
    bool divides = tile->run[i] < list->along && list->along % tile->run[i] == 0;
    for (uint32_t group = 1; group <= MOST_GROUP && divides && tile->run[i] % list->stream->vector == 0; group *= 2)
      add_runs_of(list, tile->run[i], group);
  }
}

/* In memory that lists for other streams have used. */
static candidate_list new_list(tj_stage_counter *counter, series *item[]) {
  const tj_stage_stream *s = counter->stream;
  const tj_stage_tile *tile = tile_of(s);
  bool by_row = s->direction == TJ_STAGE_ROW;
  return (candidate_list){.stream = s,
                          .counter = counter,
                          .lines = by_row ? tile->rows : tile->columns,
                          .along = (uint32_t)tj_rounded_up(by_row ? tile->columns : tile->rows, s->vector),
                          .turn = s->model->banks * TJ_BANK_BYTES / (s->vector * tile->element_bytes),
                          .item = item};
}

/* --- the choice --- */

/* What was found for one stream, or for several. */
typedef struct {
  const tj_stage_stream *stream; /* NULL: nothing */
  tj_stage_counter *counter;
  candidate best;
  candidate plain;
  uint32_t cycles;
  uint32_t most;    /* cycles beyond which nothing is wanted */
  uint32_t counted; /* at most, of each list */
} outcome;

/* The cycles that a layout has to take less than, to be better than what was found. */
static uint32_t cycles_to_beat(const outcome *o, const candidate *next) {
  uint32_t found = o->cycles + o->best.waiting;
  if (o->stream == NULL)
    return o->most;
  return found > next->waiting ? found - next->waiting : 0;
}

/* The fewest cycles of a stream whose conflicts are too dear. */
static uint32_t cycles_too_dear(const tj_stage_stream *s) {
  const tj_stage_tile *tile = tile_of(s);
  const uint32_t ideal = s->store_ideal + s->load_ideal;
  if (tile->is_calm)
    return ideal + 1;
  if (tile->dearest == 0)
    return UINT32_MAX;
  double cycles = tj_cycles_that_cost(tile->costs, tile->dearest, ideal);
  return cycles > UINT32_MAX ? UINT32_MAX : (uint32_t)cycles;
}

/* Cycles under a candidate; `most` or more once it is sure that they are not fewer. */
static uint32_t cycles_below(const candidate_list *list, const candidate *c, uint32_t most) {
  if (!list->is_calm)
    return tj_stage_cycles_below(list->counter, c->form, &c->layout, most);
  return tj_stage_is_calm(list->counter, c->form, &c->layout) ? list->stream->least : most;
}

/* Candidates come in order of cost, so only fewer cycles win. Where so many have been counted that it takes long, the
 * best so far has to do; those that are looked for conflicts alone are quickly told. */
static void try_all(candidate_list *list, outcome *o) {
  const tj_stage_stream *s = list->stream;
  const uint64_t limit = *list->counter->counted + o->counted;
  o->stream = NULL;
  for (put_in_order(list); list->count > 0; pass_over(list)) {
    const candidate *next = &list->item[0]->next;
    const uint32_t most = cycles_to_beat(o, next);
    const bool is_bounded = !list->is_calm && (o->stream != NULL || o->most < UINT32_MAX);
    if (most <= s->least || (is_bounded && *list->counter->counted > limit))
      return;
    list->tried++;
    uint32_t cycles = cycles_below(list, next, most);
    if (cycles < most) {
      o->best = *next;
      o->cycles = cycles;
      o->stream = s;
      o->counter = list->counter;
    }
  }
}

/* Whether nothing else could be as good as a padding of single lines is. */
static bool is_enough(const outcome *o, uint32_t most_residents) {
  return o->stream != NULL && o->cycles == o->stream->least && o->best.residents == most_residents;
}

/* What a second list has that is better. */
static void try_more(candidate_list *list, outcome *o) {
  outcome more = *o;
  try_all(list, &more);
  uint32_t most = cycles_to_beat(o, &more.best);
  if (more.stream != NULL && (more.cycles < most || (more.cycles == most && more.best.order < o->best.order)))
    *o = more;
  list->count = list->number = 0;
}

/* The best of all streams. */
typedef struct {
  outcome best;
  uint32_t least, ideal; /* cycles: fewer are impossible; without conflicts */
  uint32_t enough;       /* what the best costs at most; of streams whose layouts were too dear, the least of those */
  uint32_t tried;
  uint64_t counted;
  series **item; /* memory for lists */
} search;

static outcome search_stream(tj_stage_stream *s, tj_stage_counter *counter, search *all) {
  candidate_list list = new_list(counter, all->item);
  bool is_likely = all->best.stream != NULL || all->enough == UINT32_MAX;
  outcome o = {.stream = NULL, .most = UINT32_MAX, .counted = is_likely ? MOST_COUNTED : FEW_COUNTED};
  add_plain(&list);
  o.most = cycles_too_dear(s);
  if (list.count == 0 || o.most <= s->least)
    return o;
  o.plain = list.item[0]->next;
  list.is_calm = o.most == s->least + 1;
  if (tries(tile_of(s), TJ_STAGE_PADDINGS))
    add_paddings(&list);
  uint32_t most_residents = o.plain.residents;
  try_more(&list, &o);
  if (!is_enough(&o, most_residents)) {
    tj_stage_find_places(s);
    if (tile_of(s)->writer != NULL)
      add_boxes(&list);
    else if (tries(tile_of(s), TJ_STAGE_SWIZZLES))
      add_swizzles(&list);
    if (tries(tile_of(s), TJ_STAGE_GROUPS))
      add_groups(&list);
    try_more(&list, &o);
  }
  if (tries(tile_of(s), TJ_STAGE_GROUPS) && (o.stream == NULL || o.cycles > s->least)) {
    add_runs(&list);
    try_more(&list, &o);
  }
  all->tried += list.tried;
  return o;
}

/* Narrow vectors take more instructions, each of which takes a cycle to be issued. */
static uint32_t cost_of(const outcome *o) {
  return o->cycles + o->best.waiting + o->stream->count;
}

/* Whether b is to be preferred to a. */
static bool is_better(const outcome *a, const outcome *b) {
  if (a->stream == NULL || b->stream == NULL)
    return a->stream == NULL && b->stream != NULL;
  uint32_t of_a = cost_of(a), of_b = cost_of(b);
  return of_a != of_b ? of_b < of_a : a->best.order > b->best.order;
}

/* Cycles in which nobody has work even where the tile has no gaps. */
static uint32_t least_waiting(const tj_stage_tile *tile) {
  return waiting_with(tile, (uint64_t)tile->rows * tile->columns * tile->element_bytes);
}

/* What a stream that was given up costs: more than was looked for, by a part that nobody has counted. */
static uint32_t cost_beyond(const outcome *o, const tj_stage_stream *s) {
  enum { PARTS_MORE = 16 };
  uint64_t cycles = o->most > s->least ? o->most : s->least;
  uint64_t cost = (cycles + s->count) * (PARTS_MORE + 1) / PARTS_MORE + least_waiting(tile_of(s));
  return cost < UINT32_MAX ? (uint32_t)cost : UINT32_MAX;
}

/* Takes what was found for a stream. Where that is nothing, narrower instructions have to be better than what was too
 * dear. */
static void take(search *all, const outcome *o, const tj_stage_stream *s) {
  uint32_t cost = o->stream != NULL ? cost_of(o) : cost_beyond(o, s);
  if (is_better(&all->best, o) && cost <= all->enough)
    all->best = *o;
  all->enough = cost < all->enough ? cost : all->enough;
}

/* Instructions of a direction and a width. The wide ones that come first need no more cycles than others could. */
static void search_vector(tj_job *job, const tj_bank_model *model, const tj_stage_patterns *patterns,
                          tj_stage_direction direction, uint32_t vector, search *all) {
  const tj_stage_tile *tile = patterns->tile;
  uint32_t count = tj_stage_instructions(patterns, direction, vector);
  if (all->enough < UINT32_MAX && all->ideal + least_waiting(tile) + count >= all->enough) {
    all->least = all->ideal < all->least ? all->ideal : all->least;
    return;
  }
  tj_stage_stream *s = TJ_NEW(job, tj_stage_stream);
  *s = tj_stage_stream_make(job, model, patterns, direction, vector);
  uint32_t ideal = s->store_ideal + s->load_ideal;
  all->ideal = ideal < all->ideal ? ideal : all->ideal;
  all->least = s->least < all->least ? s->least : all->least;
  tj_stage_counter *counter = TJ_NEW(job, tj_stage_counter);
  *counter = (tj_stage_counter){.stream = s, .counted = &all->counted};
  outcome o = search_stream(s, counter, all);
  take(all, &o, s);
}

/* Streams count into `all`, which therefore stays where it is. */
static void search_all(tj_job *job, const tj_bank_model *model, const tj_stage_patterns *patterns, search *all) {
  const tj_stage_tile *tile = patterns->tile;
  static const tj_stage_direction directions[] = {TJ_STAGE_ROW, TJ_STAGE_COLUMN};
  *all = (search){.least = UINT32_MAX,
                  .ideal = UINT32_MAX,
                  .enough = UINT32_MAX,
                  .item = tj_arena_raw(&job->arena, MOST_SERIES, sizeof(series *))};
  uint32_t narrowest = tj_stage_narrowest(tile);
  narrowest = tile->narrowest > narrowest ? tile->narrowest : narrowest;
  for (unsigned d = 0; d < 2; d++) {
    bool is_asked = tile->directions == 0 || (tile->directions >> directions[d] & 1) != 0;
    for (uint32_t v = tj_stage_widest(patterns, directions[d]); is_asked && v >= narrowest && v > 0; v /= 2)
      search_vector(job, model, patterns, directions[d], v, all);
  }
}

/* --- what is said of it --- */

static void describe_layout(tj_text *text, const tj_stage_layout *layout, const tj_stage_layout *plain) {
  const char *lines = layout->direction == TJ_STAGE_ROW ? "rows" : "columns";
  if (layout->swizzle.bits > 0)
    tj_swizzle_print(text, layout->swizzle);
  if (layout->swizzle.bits > 0 && layout->group > 1)
    tj_text_string(text, " of ");
  if (layout->group > 1)
    tj_text_format(text, "%s %u elements apart in groups of %u, %u apart", lines, layout->pitch, layout->group,
                   layout->group_pitch);
  else if (layout->swizzle.bits > 0)
    return;
  else if (layout->run > 0)
    tj_text_format(text, "%s %u elements apart", lines, layout->pitch);
  else if (layout->pitch > plain->pitch)
    tj_text_format(text, "%s padded by %u to %u elements", lines, layout->pitch - plain->pitch, layout->pitch);
  else
    tj_text_string(text, "plain");
  if (layout->run > 0)
    tj_text_format(text, ", of runs of %u elements %u apart", layout->run, layout->run_pitch);
}

/* What is said of conflicts that remain: that such vectors cannot do without them, or that nothing was found. */
static void describe_conflicts(tj_text *text, const search *all, uint32_t ideal) {
  const outcome *o = &all->best;
  if (o->cycles == ideal)
    return;
  if (o->cycles == o->stream->least)
    tj_text_format(text,
                   "; vectors of %u bytes need as many, and no layout of narrower ones that was tried does better",
                   o->stream->vector * tile_of(o->stream)->element_bytes);
  else
    tj_text_format(text, "; the best of %u layouts, with room for %u workgroup%s; at least %u are needed", all->tried,
                   o->best.residents, o->best.residents == 1 ? "" : "s", all->least);
}

static const char *give_reason(tj_job *job, const search *all, const tj_stage_choice *choice) {
  tj_text text = tj_text_begin(job);
  uint32_t ideal = choice->store_ideal + choice->load_ideal;
  describe_layout(&text, &all->best.best.layout, &all->best.plain.layout);
  if (all->best.cycles == ideal)
    tj_text_format(&text, ": %u cycles, free of conflicts", ideal);
  else
    tj_text_format(&text, ": %u cycles, %u without conflicts", all->best.cycles, ideal);
  if (choice->plain_cycles > all->best.cycles)
    tj_text_format(&text, "; plain would take %u", choice->plain_cycles);
  describe_conflicts(&text, all, ideal);
  return text.data;
}

bool tj_stage_search(tj_job *job, const tj_bank_model *model, const tj_stage_tile *tile, tj_stage_choice *choice) {
  tj_stage_patterns patterns = tj_stage_patterns_of(job, tile);
  search all;
  search_all(job, model, &patterns, &all);
  const tj_stage_stream *s = all.best.stream;
  if (s == NULL)
    return false;
  *choice = (tj_stage_choice){.layout = all.best.best.layout,
                              .instructions = s->count,
                              .store_ideal = s->store_ideal,
                              .load_ideal = s->load_ideal,
                              .least_cycles = all.least,
                              .waiting = all.best.best.waiting,
                              .tried = all.tried};
  const candidate *plain = &all.best.plain, *best = &all.best.best;
  choice->plain_cycles = tj_stage_cycles_below(all.best.counter, plain->form, &plain->layout, UINT32_MAX);
  tj_stage_cycles_by_side(all.best.counter, best->form, &best->layout, &choice->store_cycles, &choice->load_cycles);
  choice->reason = give_reason(job, &all, choice);
  return true;
}

void tj_stage_add_direct(tj_job *job, const tj_stage_direct *direct, tj_stage_choice *choice) {
  uint32_t cycles = 0;
  for (uint32_t first = 0; first < direct->items && direct->model != NULL; first += direct->wave_size) {
    uint32_t left = direct->items - first, lanes = left < direct->wave_size ? left : direct->wave_size;
    uint64_t active = UINT64_MAX >> (TJ_BANK_LANES - lanes);
    cycles += direct->vectors * tj_bank_ideal(direct->model, true, direct->bytes, active);
  }
  choice->store_cycles += cycles;
  choice->store_ideal += cycles;
  choice->plain_cycles += cycles;
  choice->least_cycles += cycles;
  choice->reason = tj_string_format(job, "%s; straight into LDS, %u cycles more", choice->reason, cycles);
}
