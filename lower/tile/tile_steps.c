/* SPDX-License-Identifier: MIT */
/* Steps of tiles: vectors of each side, the way through LDS, in passes one after the other.
 *
 * Where passes are alike, the sides have the slots of one, and expressions speak of its number. Those in which one
 * part goes into LDS for each that comes out are a loop then, of as many passes a trip as there are parts in LDS, so
 * that each step of the loop has a place there of its own. */
#include "lower/tile/tile_maker.h"

#include "base/number/power.h"
#include "ir/layout/arith.h"
#include "ir/simplify/simplify.h"
#include "lower/access/slot_use.h"
#include "lower/kernel/displace.h"
#include "lower/tile/tile_edge.h"

enum { FETCHED_BYTES = 64 /* of a cache line, as far as what is fetched goes */ };

static tj_kernel_step *add_step(tj_tile_maker *maker, tj_step_kind kind) {
  tj_kernel_step *step = &maker->step[maker->step_count++];
  *step = (tj_kernel_step){.kind = kind};
  return step;
}

/* --- vectors --- */

/* Slots of a side, those from order[begin] to before order[end], and the kernel's number of slot 0. */
typedef struct {
  uint32_t begin, end, first;
  const tj_node *pass; /* in the place of the tiling's; NULL: the slots are those of all passes, */
  int64_t lds;         /* and where their part is in LDS; otherwise from which element on */
} slot_share;

static slot_share all_slots(const tj_side *s) {
  return (slot_share){.end = s->tile->slot_count};
}

/* An access of a share's slots. */
static tj_access in_share(tj_tile_maker *maker, tj_access access, const slot_share *share) {
  tj_graph *graph = maker->graph;
  if (share->pass == NULL)
    return access;
  const tj_node *pass = maker->tiling->pass, *of_share = share->pass;
  const tj_node *part[] = {access.offset, access.valid, access.base != NULL ? access.base : access.offset};
  tj_substitute(graph, &(tj_substitution){&pass, &of_share, 1}, part, 3);
  if (access.buffer == TJ_LDS)
    part[0] = tj_add(graph, part[0], tj_int(graph, share->lds));
  tj_simplify(graph, part, 3, NULL);
  access.offset = part[0];
  access.valid = part[1];
  access.base = access.base != NULL ? part[2] : NULL;
  return access;
}

/* With the constant of its offset as a displacement, where instructions have room for it. */
static tj_access displaced(const tj_tile_maker *maker, tj_access access) {
  tj_displaced parts = tj_displace(maker->graph, access.offset);
  uint32_t limit = access.buffer == TJ_LDS ? UINT32_MAX : maker->target->displacement_limit;
  if (parts.displacement < limit / tj_element_bytes(maker->kernel, access.buffer)) {
    access.offset = parts.rest;
    access.displacement += parts.displacement;
  }
  return access;
}

/* A vector of the slots order[0 … width-1] of a share. */
static tj_kernel_step *add_vector(tj_tile_maker *maker, tj_step_kind kind, tj_access access, const uint32_t order[],
                                  uint32_t width, const slot_share *share) {
  tj_kernel_step *step = add_step(maker, kind);
  step->access = displaced(maker, in_share(maker, access, share));
  step->width = width;
  step->slot = share->first + order[0];
  step->slot_step = width > 1 ? order[1] - order[0] : 1;
  return step;
}

/* Where the element of a slot is in its view, and, unless the whole tile is, in the domain. */
static const tj_node *predicate_of(tj_tile_maker *maker, const tj_side *s, uint32_t slot) {
  tj_graph *graph = maker->graph;
  const tj_tile_element *e = &s->element[slot];
  const tj_node *truth = tj_side_active(graph, s, slot);
  for (uint32_t m = 0; m < tj_tile_modes(maker) && !maker->is_inner; m++) {
    if (tj_tile_has_edge(maker->tiling, m))
      truth = tj_terse_both(graph, truth, tj_less(graph, e->digit[m], maker->tiling->domain->mode[m].extent));
  }
  return tj_terse_both(graph, truth, e->access.valid);
}

static void add_side(tj_tile_maker *maker, const tj_side *s, tj_step_kind kind, slot_share share) {
  for (uint32_t i = share.begin; i < share.end; i += s->width) {
    tj_access access = tj_element_access(maker->graph, &s->element[s->order[i]]);
    access.valid = predicate_of(maker, s, s->order[i]);
    add_vector(maker, kind, access, s->order + i, s->width, &share);
  }
}

/* Leaves out what no work-item moves. */
static void add_staged(tj_tile_maker *maker, const tj_side *s, tj_step_kind kind, slot_share share) {
  for (uint32_t i = share.begin; i < share.end; i += s->width) {
    tj_access access = tj_element_access(maker->graph, &s->element[s->order[i]]);
    if (!tj_is_int(access.valid, 0))
      add_vector(maker, kind, access, s->order + i, s->width, &share);
  }
}

/* Further sources, in the slots after those of the first. */
static void add_others(tj_tile_maker *maker, slot_share share) {
  for (uint32_t i = TJ_OPERAND_OTHERS; i < tj_tile_operands(maker) && tj_is_source(maker->kernel, i); i++) {
    share.first += tj_source_slots(maker->kernel);
    add_side(maker, &maker->side[i], TJ_STEP_LOAD, share);
  }
}

/* Whether what a destination takes waits in the caches for what is beside it: where others turn elements around for
 * whole lines, it takes them as they were loaded. */
static bool is_kept(const tj_tile_maker *maker, uint32_t operand) {
  return maker->kernel->is_streamed && operand >= TJ_OPERAND_OTHERS &&
         tj_domain_other_is_straight(maker->tiling->domain, operand - TJ_OPERAND_OTHERS);
}

/* Stores to all destinations that take elements as they are now. */
static void add_destinations(tj_tile_maker *maker, bool are_straight, slot_share share) {
  for (uint32_t i = TJ_OPERAND_DESTINATION; i < tj_tile_operands(maker); i++) {
    uint32_t first = maker->step_count;
    if (!tj_is_source(maker->kernel, i) && tj_tile_is_straight(maker, i) == are_straight)
      add_side(maker, &maker->side[i], TJ_STEP_STORE, share);
    for (; first < maker->step_count; first++)
      maker->step[first].is_kept = is_kept(maker, i);
  }
}

/* --- parts --- */

/* Which of the parts that are in LDS at a time is that of a pass. */
static uint32_t buffer_of(const tj_tile_maker *maker, uint32_t pass) {
  return pass % tj_tile_parts(maker);
}

/* The slots of a side in a pass: in loops, that of the first trip. */
static slot_share share_of(tj_tile_maker *maker, uint32_t pass, uint32_t slots) {
  tj_graph *graph = maker->graph;
  const tj_tiling *tiling = maker->tiling;
  uint32_t size = slots / tj_tile_shares(tiling), begin = pass % tj_tile_shares(tiling) * size;
  slot_share share = {.begin = begin, .end = begin + size};
  if (tiling->pass == NULL)
    return share;
  const tj_node *number = tj_int(graph, pass), *parts = tj_int(graph, tj_tile_parts(maker));
  if (maker->trip != NULL)
    number = tj_simplified(graph, tj_add(graph, tj_mul(graph, maker->trip, parts), number));
  share.pass = number;
  share.lds = buffer_of(maker, pass) * tj_mapping_lds_pitch(graph, tiling->mapping);
  return share;
}

/* What of the store side goes in one pass. While others wait to go, its slots are not theirs; and those of the pass
 * before are free again. Numbers below zero wrap around. */
static slot_share stored_in(tj_tile_maker *maker, uint32_t pass) {
  const tj_tiling *tiling = maker->tiling;
  slot_share share = share_of(maker, pass, tiling->store.slot_count);
  bool waits = tiling->passes > 1 && !tj_tile_goes_straight(tiling);
  share.first = (waits ? tiling->load.slot_count : 0) - share.begin;
  return share;
}

/* How far the elements of a vector reach along a mode, from the first one on; -1: nobody knows. */
static int64_t reach_along(tj_tile_maker *maker, const tj_side *s, const uint32_t order[], uint32_t width,
                           uint32_t mode) {
  tj_graph *graph = maker->graph;
  int64_t reach = 0;
  for (uint32_t k = 1; k < width && reach >= 0; k++) {
    const tj_node *own = s->element[order[k]].digit[mode], *first = s->element[order[0]].digit[mode];
    const tj_node *distance = tj_simplified(graph, tj_sub(graph, own, first));
    int64_t far = tj_is_constant(distance) && distance->value >= 0 ? distance->value : -1;
    reach = far < 0 || far > reach ? far : reach;
  }
  return reach;
}

/* The coordinate of a vector that is inside the domain: where it would be beyond, that of the last one there. NULL
 * where there is none for sure. */
static const tj_node *const *coordinate_inside(tj_tile_maker *maker, const tj_side *s, const uint32_t order[],
                                               uint32_t width) {
  tj_graph *graph = maker->graph;
  const tj_mode *mode = maker->tiling->domain->mode;
  const tj_node **inside = TJ_NEW_ARRAY(graph->job, const tj_node *, tj_tile_modes(maker) + 1);
  for (uint32_t m = 0; m < tj_tile_modes(maker); m++) {
    inside[m] = s->element[order[0]].digit[m];
    if (!tj_tile_has_edge(maker->tiling, m))
      continue;
    int64_t reach = reach_along(maker, s, order, width, m);
    if (reach < 0 || mode[m].extent->facts.low <= reach)
      return NULL;
    const tj_node *last = tj_add(graph, mode[m].extent, tj_int(graph, -1 - reach));
    inside[m] = tj_min(graph, inside[m], last);
  }
  return inside;
}

/* Where a vector that goes straight into LDS comes from. What of the tile is beyond the domain is another element of
 * it, which nobody stores: so all of LDS is written, without branches. Otherwise it is masked. */
static tj_access brought_from(tj_tile_maker *maker, const tj_side *s, const uint32_t order[], uint32_t width) {
  tj_graph *graph = maker->graph;
  tj_access access = tj_element_access(graph, &s->element[order[0]]);
  access.valid = predicate_of(maker, s, order[0]);
  const tj_node *const *inside = maker->is_inner ? NULL : coordinate_inside(maker, s, order, width);
  if (inside == NULL || tj_is_always(access.valid))
    return access;
  access.offset = tj_tile_access_at(maker, &maker->any[TJ_OPERAND_SOURCE], inside).offset;
  if (access.base != NULL)
    access.offset = tj_sub(graph, access.offset, access.base);
  access.offset = tj_simplified(graph, access.offset);
  access.valid = tj_side_active(graph, s, order[0]);
  return access;
}

/* What goes straight into LDS: where passes are alike, by as many steps in each. */
static void add_direct(tj_tile_maker *maker, uint32_t pass) {
  const tj_side *from = &maker->side[TJ_OPERAND_SOURCE],
                *to = &maker->staging.in[pass % tj_tile_shares(maker->tiling)];
  slot_share share = share_of(maker, pass, from->tile->slot_count);
  for (uint32_t i = 0; i < from->tile->slot_count; i += to->width) {
    tj_access access = tj_element_access(maker->graph, &to->element[from->order[i]]),
              source = brought_from(maker, from, from->order + i, to->width);
    access.valid = tj_terse_both(maker->graph, access.valid, source.valid);
    if (tj_is_int(access.valid, 0))
      continue;
    tj_kernel_step *step = add_vector(maker, TJ_STEP_DIRECT, access, from->order + i, to->width, &share);
    step->from = displaced(maker, in_share(maker, source, &share));
    step->number = buffer_of(maker, pass);
  }
}

/* What an engine brings into LDS, or takes out of it. */
static void add_boxes(tj_tile_maker *maker, const tj_boxes *boxes, const tj_node *pass, bool is_taken) {
  tj_graph *graph = maker->graph;
  const tj_node *of_tiling = maker->tiling->pass;
  uint32_t operand = is_taken ? TJ_OPERAND_DESTINATION : TJ_OPERAND_SOURCE;
  for (uint32_t i = 0; i < boxes->count; i++) {
    tj_kernel_step *step = add_step(maker, TJ_STEP_BOX);
    step->access.buffer = tj_flat_buffer(maker->flat, operand);
    step->is_taken = is_taken;
    step->word_count = boxes->word_count;
    step->word = tj_arena_copy(&graph->job->arena, boxes->word[i], step->word_count * sizeof *step->word);
    step->number = i;
    if (pass == NULL)
      continue;
    tj_substitute(graph, &(tj_substitution){&of_tiling, &pass, 1}, step->word, step->word_count);
    tj_simplify(graph, step->word, step->word_count, NULL);
  }
}

/* Of a pass: where passes are alike, those with its buffer. */
static const tj_boxes *boxes_of(const tj_tile_maker *maker, uint32_t pass) {
  return &maker->boxes[maker->tiling->pass != NULL ? buffer_of(maker, pass) : pass];
}

/* Has those of the last steps that are valid together follow each other: they have one branch, where two would have
 * LLVM make what stands between them twice, once for those who take both and once for the others. */
static void join_valid(tj_tile_maker *maker, uint32_t first) {
  tj_kernel_step *step = maker->step + first;
  uint32_t count = maker->step_count - first, joined = 0;
  tj_kernel_step *before = tj_arena_copy(&maker->graph->job->arena, step, count * sizeof *step);
  bool *is_joined = TJ_NEW_ARRAY(maker->graph->job, bool, count + 1);
  for (uint32_t i = 0; i < count; i++) {
    for (uint32_t k = is_joined[i] ? count : i; k < count; k++) {
      if (before[k].access.valid != before[i].access.valid)
        continue;
      step[joined++] = before[k];
      is_joined[k] = true;
    }
  }
}

/* Puts the part of a pass into LDS. */
static void add_part(tj_tile_maker *maker, uint32_t pass) {
  uint32_t first = maker->step_count;
  if (maker->tiling->by_dma)
    add_boxes(maker, boxes_of(maker, pass), share_of(maker, pass, 0).pass, false);
  else if (maker->tiling->direct > 0)
    add_direct(maker, pass);
  else
    add_staged(maker, &maker->staging.in[pass], TJ_STEP_STORE, all_slots(&maker->side[TJ_OPERAND_SOURCE]));
  if (!maker->tiling->by_dma)
    join_valid(maker, first);
  maker->brought[pass] = tj_tile_goes_straight(maker->tiling) ? maker->step_count - first : 0;
}

/* Loads that transpose give slots what their store side has. */
static void add_fetched(tj_tile_maker *maker, uint32_t pass) {
  uint32_t first = maker->step_count;
  add_staged(maker, &maker->staging.out, TJ_STEP_LOAD, stored_in(maker, pass));
  for (uint32_t i = first; i < maker->step_count; i++) {
    maker->step[i].transposes = maker->staging.transposes;
    maker->step[i].number = buffer_of(maker, pass);
  }
}

/* What a work-item stores, straight out of LDS. */
static void add_run(tj_tile_maker *maker) {
  const tj_side *to = &maker->side[TJ_OPERAND_DESTINATION];
  tj_kernel_step *step = add_step(maker, TJ_STEP_RUN);
  step->access = to->element[0].access;
  step->access.valid = predicate_of(maker, to, 0);
  step->from = maker->staging.out.element[0].access;
  step->width = to->tile->strided->slots;
  step->slot_step = 1;
  step->limit = tj_int(maker->graph, step->width);
}

/* Takes it out of LDS and to the destinations. */
static void take_part(tj_tile_maker *maker, uint32_t pass) {
  if (maker->tiling->dma_stores) {
    add_boxes(maker, &maker->taken, NULL, true);
    return;
  }
  if (maker->tiling->has_runs) {
    add_run(maker);
    return;
  }
  add_fetched(maker, pass);
  add_destinations(maker, false, stored_in(maker, pass));
}

/* --- passes --- */

/* Waits for the part of a pass, not for those up to before `end`, which are on their way behind it. */
static void add_barrier(tj_tile_maker *maker, uint32_t pass, uint32_t end) {
  uint32_t behind = 0;
  while (++pass < end)
    behind += maker->brought[pass];
  add_step(maker, TJ_STEP_BARRIER)->number = behind;
}

/* Parts go into LDS, out of it and to destinations: as many as LDS has room for before the first barrier, then each
 * where another has been, behind the barrier by which everybody has loaded that. Further sources are loaded before
 * work-items wait for each other, where their slots last so long. Returns which part is to go next; `end` is now. */
static uint32_t add_pass(tj_tile_maker *maker, uint32_t pass, uint32_t end) {
  uint32_t passes = maker->tiling->passes, parts = tj_tile_parts(maker);
  if (pass > 0 && parts == 1)
    add_barrier(maker, pass - 1, end);
  if (maker->target->keeps_slots)
    add_others(maker, stored_in(maker, pass));
  while (end < passes && end < pass + parts && (pass == 0 || parts == 1))
    add_part(maker, end++);
  add_barrier(maker, pass, end);
  if (pass > 0 && parts > 1 && end < passes)
    add_part(maker, end++);
  if (!maker->target->keeps_slots)
    add_others(maker, stored_in(maker, pass));
  take_part(maker, pass);
  return end;
}

uint32_t tj_trips_of_passes(const tj_mapping *mapping) {
  uint32_t parts = mapping->ahead + 1, trips = (mapping->passes - parts) / parts;
  return trips > 1 && mapping->passes <= 2 * (trips - 1) * parts ? trips : 0;
}

static uint32_t trips_of(const tj_tiling *tiling) {
  return tiling->pass != NULL ? tj_trips_of_passes(tiling->mapping) : 0;
}

static void begin_trips(tj_tile_maker *maker, uint32_t trips) {
  tj_graph *graph = maker->graph;
  maker->trip = tj_coordinate_among(graph, maker->tiling->shared, "c", tj_int(graph, 0), tj_int(graph, trips - 1), 1);
  tj_kernel_step *step = add_step(maker, TJ_STEP_LOOP);
  step->value = maker->trip;
  step->limit = tj_int(graph, trips);
  step->slot_step = 1;
}

static void end_trips(tj_tile_maker *maker) {
  maker->trip = NULL;
  add_step(maker, TJ_STEP_AGAIN);
}

/* The first pass has no part to put where one before it has been, and the last ones have none to put there: the
 * others go in trips, of which the first is made. */
static void add_passes(tj_tile_maker *maker) {
  uint32_t passes = maker->tiling->passes, parts = tj_tile_parts(maker), end = 0;
  uint32_t trips = trips_of(maker->tiling);
  add_destinations(maker, true, all_slots(&maker->side[TJ_OPERAND_SOURCE]));
  for (uint32_t pass = 0; pass < passes; pass++) {
    if (pass == 1 && trips > 0)
      begin_trips(maker, trips);
    end = add_pass(maker, pass, end);
    if (pass != parts || trips == 0)
      continue;
    end_trips(maker);
    pass += (trips - 1) * parts;
    for (uint32_t skipped = (trips - 1) * parts; skipped > 0; skipped--, end++)
      maker->brought[end] = maker->brought[end - 1];
  }
}

/* --- fetching ahead --- */

/* What the workgroup after this one loads is fetched, by vectors that begin a line: those from number `begin` on. */
static void add_fetches(tj_tile_maker *maker, uint32_t begin, uint32_t end) {
  tj_graph *graph = maker->graph;
  const tj_side *s = &maker->side[TJ_OPERAND_SOURCE];
  const tj_node *workgroup = maker->kernel->workgroup, *next = tj_next_tile(graph, &maker->tiles, workgroup);
  const tj_node *ahead = tj_access_element(graph, maker->kernel, &(tj_access){.offset = s->element[0].access.offset});
  int64_t line = FETCHED_BYTES / tj_element_bytes(maker->kernel, s->element[0].access.buffer);
  const slot_share all = all_slots(s);
  uint32_t along = 0;
  while (along + 1 < tj_tile_modes(maker) && !tj_domain_has_neighbours(maker->tiling->domain, along, true))
    along++;
  tj_substitute(graph, &(tj_substitution){&workgroup, &next, 1}, &ahead, 1);
  for (uint32_t i = begin * s->width; i < end * s->width; i += s->width) {
    tj_access access = s->element[s->order[i]].access;
    int64_t distance[TJ_MAX_DIMENSIONS] = {0};
    tj_mapping_add_slot(s->tile->strided, s->order[i], distance);
    access.offset = ahead;
    access.valid = predicate_of(maker, s, s->order[i]);
    if (distance[along] % line == 0)
      add_vector(maker, TJ_STEP_PREFETCH, access, s->order + i, 1, &all)->slot = 0;
  }
}

/* How many vectors of the tile that follows are fetched before those of this one are loaded; others behind its
 * stores: half of it where it goes by way of LDS, and all where it would not be in the caches later. */
static uint32_t fetched_early(const tj_tile_maker *maker) {
  const tj_side *s = &maker->side[TJ_OPERAND_SOURCE];
  uint32_t vectors = s->tile->slot_count / s->width;
  return maker->tiling->has_runs ? vectors / 2 : maker->kernel->is_streamed ? vectors : 0;
}

/* --- turns --- */

/* Steps of a tile that stays in registers, as they are put in another order: loads, then stores. */
typedef struct {
  tj_tile_maker *maker;
  const tj_kernel_step *before;
  uint32_t count;
  uint32_t loads; /* of the first steps, those that have been put */
  bool *is_put;
} turn_taker;

/* Registers that a load fills. */
static uint32_t words_of(const tj_tile_maker *maker, const tj_kernel_step *step) {
  enum { WORD = 4 };
  uint32_t bytes = step->width * tj_element_bytes(maker->kernel, step->access.buffer);
  return step->kind == TJ_STEP_LOAD ? (uint32_t)tj_divided_up(bytes, WORD) : 0;
}

static void put_step(turn_taker *t, uint32_t number) {
  t->maker->step[t->maker->step_count++] = t->before[number];
  t->is_put[number] = true;
}

/* Loads what a store takes and is not there yet; returns how many registers that fills. */
static uint32_t put_loads(turn_taker *t, const tj_kernel_step *store) {
  uint32_t words = 0;
  while (t->is_put[t->loads])
    t->loads++;
  for (uint32_t i = t->loads; i < t->count && t->before[i].kind == TJ_STEP_LOAD; i++) {
    if (t->is_put[i] || !tj_shares_slots(t->maker->kernel, &t->before[i], store))
      continue;
    words += words_of(t->maker, &t->before[i]);
    put_step(t, i);
  }
  return words;
}

/* Each turn loads what some stores take, and stores it. */
static void take_turns(turn_taker *t, uint32_t most) {
  uint32_t first = 0, held = 0;
  t->maker->step_count = 0;
  while (first < t->count && t->before[first].kind == TJ_STEP_LOAD)
    first++;
  for (uint32_t i = first; i < t->count; i++) {
    held += put_loads(t, &t->before[i]);
    for (; first <= i && (held >= most || i + 1 == t->count); first++)
      put_step(t, first);
    held = first > i ? 0 : held;
  }
}

/* Work-items that have more of a tile than they have registers for take turns: LLVM, which would have to find out
 * what to hold when, takes seconds for it, and memory. */
static void hold_less(tj_tile_maker *maker) {
  enum { MOST_WORDS = 128 };
  const uint32_t count = maker->step_count;
  uint32_t words = 0;
  for (uint32_t i = 0; i < count; i++)
    words += words_of(maker, &maker->step[i]);
  if (words <= MOST_WORDS || maker->target->wave_size == 1)
    return;
  tj_spend(maker->graph->job, (uint64_t)count * count / 2);
  turn_taker t = {.maker = maker,
                  .before = tj_arena_copy(&maker->graph->job->arena, maker->step, count * sizeof *maker->step),
                  .count = count,
                  .is_put = TJ_NEW_ARRAY(maker->graph->job, bool, count + 1)};
  take_turns(&t, MOST_WORDS);
}

/* --- all of them --- */

/* What is straight is stored before lanes pass on what they have. */
static void add_exchange(tj_tile_maker *maker) {
  add_destinations(maker, true, all_slots(&maker->side[TJ_OPERAND_SOURCE]));
  tj_kernel_step *step = add_step(maker, TJ_STEP_EXCHANGE);
  step->exchange = maker->tiling->exchange;
  step->value = maker->tiling->item;
}

/* How many passes have steps of their own, and how many boxes these have. */
static size_t made_passes(const tj_tile_maker *maker, size_t *boxes) {
  const tj_tiling *tiling = maker->tiling;
  uint32_t trips = trips_of(tiling), parts = tj_tile_parts(maker);
  size_t made = tiling->passes - (trips > 0 ? (size_t)(trips - 1) * parts : 0);
  *boxes = maker->taken.count;
  for (size_t pass = 0; pass < made; pass++)
    *boxes += boxes_of(maker, (uint32_t)pass)->count;
  return made;
}

/* The narrowest vectors of slots that may be many. */
static uint32_t narrowest_strided(const tj_tile_maker *maker) {
  uint32_t narrowest = maker->tiling->has_runs ? maker->staging.in[0].width : UINT32_MAX;
  for (uint32_t i = 0; i < tj_tile_operands(maker); i++) {
    const tj_side *s = &maker->side[i];
    narrowest = s->tile->slot_count > 1 && s->width < narrowest ? s->width : narrowest;
  }
  return maker->tiling->load.strided != NULL && maker->tiling->load.slot_count > 1 ? narrowest : 1;
}

static size_t most_steps(const tj_tile_maker *maker) {
  const tj_tiling *tiling = maker->tiling;
  size_t boxes, passes = made_passes(maker, &boxes), shares = tiling->pass != NULL ? passes : 1;
  size_t narrowest = narrowest_strided(maker), fetches = tiling->load.strided != NULL ? 1 : 0;
  size_t loads = tiling->load.slot_count / narrowest, stores = tiling->store.slot_count / narrowest;
  size_t others = tiling->domain->other_count * (loads > stores ? loads : stores);
  return loads * (1 + fetches + passes) + (2 * stores + others) * shares + 2 * passes + 3 + boxes;
}

void tj_tile_make_steps(tj_tile_maker *maker) {
  const tj_side *source = &maker->side[TJ_OPERAND_SOURCE];
  const slot_share stored = all_slots(&maker->side[TJ_OPERAND_DESTINATION]);
  maker->step = TJ_RAW_ARRAY(maker->graph->job, tj_kernel_step, most_steps(maker));
  maker->step_count = 0;
  maker->brought = TJ_NEW_ARRAY(maker->graph->job, uint32_t, maker->tiling->passes);
  bool is_strided = source->tile->strided != NULL;
  uint32_t fetched = is_strided ? fetched_early(maker) : 0;
  if (is_strided)
    add_fetches(maker, 0, fetched);
  if (!tj_tile_goes_straight(maker->tiling))
    add_side(maker, source, TJ_STEP_LOAD, all_slots(source));
  if (maker->tiling->exchange != NULL)
    add_exchange(maker);
  if (!maker->tiling->is_staged) {
    add_others(maker, stored);
    add_destinations(maker, false, stored);
    if (maker->tiling->exchange == NULL && !is_strided)
      hold_less(maker);
    return;
  }
  add_passes(maker);
  if (maker->tiling->has_runs)
    add_fetches(maker, fetched, source->tile->slot_count / source->width);
}
