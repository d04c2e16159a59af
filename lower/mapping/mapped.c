/* SPDX-License-Identifier: MIT */
/* From mappings to tilings: the element of every slot as an expression of the work-item, the ways in which slots may
 * be put in a row, and who of several holders passes an element on. tiling.c finds out which accesses are vectors. */
#include "lower/mapping/mapped.h"

#include "ir/index/facts.h"
#include "ir/value/mapping_held.h"
#include "lower/flexible/flexible.h"
#include "lower/kernel/variant.h"
#include "lower/lanes/exchange.h"
#include "lower/lds/direct.h"
#include "lower/lds/lds_layout.h"
#include "lower/mapping/flat_mapping.h"
#include "lower/mapping/host_mapping.h"
#include "lower/mapping/mapping.h"
#include "lower/shape/lds_choice.h"
#include "lower/shape/slot_order.h"
#include "lower/tile/box_side.h"
#include "lower/tile/direct_side.h"
#include "lower/tile/gather_vectors.h"
#include "lower/tile/held_side.h"
#include "lower/tile/tiling.h"
#include "lower/tile/transposed_side.h"

#include <inttypes.h>
#include <string.h>

/* --- what fits --- */

const tj_mapped *tj_mapped_make(tj_graph *graph, const tj_kernel_definition *definition, const tj_domain *domain) {
  tj_mapped *made = TJ_NEW(graph->job, tj_mapped);
  *made = (tj_mapped){.mapping = definition->mapping,
                      .domain = domain,
                      .is_given = true,
                      .load_span = definition->load_span,
                      .store_span = definition->store_span};
  uint32_t rank = tj_mapping_rank(made->mapping);
  if (domain != NULL && rank != domain->count)
    tj_fail_at(graph->job, made->load_span, TJ_DISTRIBUTION_RANK,
               "the tile has %" PRIu32 " dimension%s, the views have %" PRIu32, rank, rank == 1 ? "" : "s",
               domain->count);
  return made;
}

static void check_side(tj_graph *graph, const tj_mapping_side *side, const tj_target *target, tj_span span) {
  tj_job *job = graph->job;
  uint32_t items = tj_mapping_work_items(graph, side);
  if (side->lanes > 0 && target->wave_size > 1 && side->lanes != target->wave_size)
    tj_fail_at(job, span, TJ_PARTITION,
               "the last P, the lane, has length %" PRIu32 "; a wave of %s has %" PRIu32 " lanes", side->lanes,
               target->name, target->wave_size);
  if (items > target->workgroup_limit)
    tj_fail_at(job, span, TJ_TILE_SIZE,
               "the tile is shared out among %" PRIu32 " work-items; a workgroup of %s has at most %" PRIu32, items,
               target->name, target->workgroup_limit);
}

/* --- sides --- */

/* A mapping on its way to a tiling. */
typedef struct {
  tj_graph *graph;
  const tj_kernel *flat;
  const tj_mapped *mapped;
  const tj_mapping *mapping; /* what that says, */
  const tj_mapping *held;    /* and whose slots work-items hold: where passes are a loop, that of one of them */
  const tj_target *target;
  bool is_given;
  uint32_t bytes; /* of an element on its way through LDS */
  tj_holding load, store;
  tj_tiling tiling;
} tiler;

static tj_tile_side make_side(const tiler *t, const tj_holding *held, bool leaves_out) {
  return tj_tile_side_held(t->graph, t->held, held, leaves_out);
}

/* --- passes --- */

/* The side with slots that have other numbers. */
static tj_tile_side renumbered(tj_job *job, const tj_tile_side *side, const uint32_t number[]) {
  uint32_t slots = side->slot_count;
  tj_tile_side made = *side;
  const tj_node *const **digit = TJ_NEW_ARRAY(job, const tj_node *const *, slots);
  const tj_node **active = TJ_NEW_ARRAY(job, const tj_node *, slots);
  const uint32_t **orders = TJ_NEW_ARRAY(job, const uint32_t *, side->order_count);
  for (uint32_t i = 0; i < slots; i++) {
    digit[number[i]] = side->digit[i];
    active[number[i]] = side->active[i];
  }
  for (uint32_t k = 0; k < side->order_count; k++) {
    uint32_t *order = TJ_NEW_ARRAY(job, uint32_t, slots);
    for (uint32_t i = 0; i < slots; i++)
      order[i] = number[side->order[k][i]];
    orders[k] = order;
  }
  made.digit = digit;
  made.active = active;
  made.order = orders;
  return made;
}

/* The pass of each slot of the store side; NULL where one is in a pass for some work-items and in another for others,
 * which is TJ4020 where it is the definition's fault. */
static const uint32_t *passes_of(const tiler *t) {
  const tj_tile_side *side = &t->tiling.store;
  const tj_node *const *number =
      tj_passes_of_slots(t->graph, t->mapping, t->tiling.passes, side->digit, side->slot_count);
  uint32_t *pass = TJ_NEW_ARRAY(t->graph->job, uint32_t, side->slot_count);
  for (uint32_t slot = 0; slot < side->slot_count; slot++) {
    if (!tj_is_constant(number[slot]) && t->is_given)
      tj_fail_at(t->graph->job, t->mapped->store_span, TJ_MAPPING,
                 "slot %" PRIu32 " of store is in one pass for some items, in another for others", slot);
    if (!tj_is_constant(number[slot]))
      return NULL;
    pass[slot] = (uint32_t)number[slot]->value;
  }
  return pass;
}

/* The side with its slots numbered by passes, of which each has as many. */
static tj_tile_side in_passes(tj_job *job, const tj_tile_side *side, const uint32_t pass[], uint32_t passes) {
  uint32_t slots = side->slot_count, *number = TJ_NEW_ARRAY(job, uint32_t, slots);
  const uint32_t *sorted = tj_slots_by_pass(job, tj_slots_as_they_are(job, slots), pass, slots, passes);
  const uint32_t **orders = TJ_NEW_ARRAY(job, const uint32_t *, side->order_count);
  tj_tile_side parted = *side;
  for (uint32_t i = 0; i < slots; i++)
    number[sorted[i]] = i;
  for (uint32_t k = 0; k < side->order_count; k++)
    orders[k] = tj_slots_by_pass(job, side->order[k], pass, slots, passes);
  parted.order = orders;
  return renumbered(job, &parted, number);
}

/* Sorts the store side by passes, where it has the slots of all. Machines whose work-items do not keep their slots
 * take all passes at once. False where passes have not as many slots each, or a slot is in several. */
static bool set_passes(tiler *t) {
  tj_job *job = t->graph->job;
  tj_tiling *tiling = &t->tiling;
  tiling->passes = t->target->keeps_slots ? t->mapping->passes : 1;
  if (tiling->pass != NULL)
    return true;
  const uint32_t *pass = tiling->passes > 1 ? passes_of(t) : NULL;
  if (pass == NULL || !tj_passes_are_equal(job, pass, tiling->store.slot_count, tiling->passes))
    return tiling->passes == 1;
  tiling->store = in_passes(job, &tiling->store, pass, tiling->passes);
  return true;
}

/* --- from one side to the other --- */

/* For each slot of `store` the slot of `load` that holds the same element in the same work-item. NULL where some has
 * none, or the numbers of slots differ. */
static const uint32_t *match_slots(tj_graph *graph, const tj_tile_side *load, const tj_tile_side *store,
                                   uint32_t rank) {
  uint32_t count = load->slot_count;
  if (count != store->slot_count)
    return NULL;
  tj_spend(graph->job, (uint64_t)count * count);
  uint32_t *match = TJ_NEW_ARRAY(graph->job, uint32_t, count);
  bool *taken = TJ_NEW_ARRAY(graph->job, bool, count);
  for (uint32_t slot = 0; slot < count; slot++) {
    uint32_t i = 0;
    while (i < count && (taken[i] || memcmp(load->digit[i], store->digit[slot], rank * sizeof **load->digit) != 0))
      i++;
    if (i == count)
      return NULL;
    taken[i] = true;
    match[slot] = i;
  }
  return match;
}

/* Whether a mapping says how its tile goes through LDS. */
static bool asks_for_lds(const tj_mapping *mapping) {
  return mapping->lds != NULL || mapping->passes > 1;
}

/* Elements that stay with their work-items stay in registers, and are loaded by those who store them, unless LDS is
 * asked for. There, each has one place, into which one slot puts it, as those of sums of coordinates do anyhow. */
static void choose_way(tiler *t) {
  tj_tiling *tiling = &t->tiling;
  const uint32_t *match =
      asks_for_lds(t->mapping) ? NULL : match_slots(t->graph, &tiling->load, &tiling->store, tiling->domain->count);
  tiling->is_staged = match == NULL;
  if (tiling->is_staged) {
    if (!tj_mapping_adds_up(t->graph, t->held, t->load.side))
      tiling->load = make_side(t, &t->load, true);
    return;
  }
  tiling->store = renumbered(t->graph->job, &tiling->store, match);
  tiling->load.active = tiling->store.active;
}

/* --- LDS --- */

/* How many neighbours along a mode a work-item has in its slots from the first one on. */
static int64_t run_along(tj_graph *graph, const tj_tile_side *side, uint32_t rank, uint32_t mode, int64_t most) {
  int64_t run = 1;
  bool goes_on = true;
  while (run < most && goes_on) {
    goes_on = false;
    for (uint32_t slot = 1; slot < side->slot_count && !goes_on; slot++) {
      goes_on = true;
      for (uint32_t m = 0; m < rank && goes_on; m++) {
        const tj_node *wanted = tj_add(graph, side->digit[0][m], tj_int(graph, m == mode ? run : 0));
        goes_on = tj_prove_equal(graph, side->digit[slot][m], wanted);
      }
    }
    run += goes_on;
  }
  return run;
}

/* The mode whose elements should lie side by side in LDS: with the fewest accesses, or else the last. Passes part the
 * last mode. */
static uint64_t best_columns(tj_graph *graph, const tj_tiling *tiling, int64_t widest) {
  uint32_t rank = tiling->domain->count, parted = tj_mapping_pass_mode(tiling->mapping);
  int64_t fewest = INT64_MAX;
  uint64_t columns = 0;
  for (uint32_t m = rank; m-- > 0;) {
    if (m == parted && tiling->passes > 1)
      continue;
    int64_t accesses = tiling->load.slot_count / run_along(graph, &tiling->load, rank, m, widest) +
                       tiling->store.slot_count / run_along(graph, &tiling->store, rank, m, widest);
    if (accesses < fewest)
      columns = (uint64_t)1 << m;
    fewest = accesses < fewest ? accesses : fewest;
  }
  return columns;
}

/* TJ4016 where a tile whose place in LDS is to be chosen cannot fit there. */
static void check_lds(const tiler *t, uint64_t in_columns) {
  int64_t columns = 1, rows = 1;
  for (uint32_t i = 0; i < t->tiling.domain->count; i++)
    *((in_columns >> i & 1) != 0 ? &columns : &rows) *= tj_mapping_extent(t->mapping, i);
  int64_t bytes = rows / t->tiling.passes * columns * t->bytes;
  if (bytes > t->target->lds_bytes)
    tj_fail_at(t->graph->job, t->mapped->store_span, TJ_TILE_SIZE,
               "the tile takes %" PRId64 " bytes of LDS to shuffle; a workgroup of %s has %" PRIu32, bytes,
               t->target->name, t->target->lds_bytes);
  if (columns > TJ_STAGE_MOST_EXTENT || rows > TJ_STAGE_MOST_EXTENT)
    tj_fail_at(t->graph->job, t->mapped->store_span, TJ_TILE_SIZE,
               "a tile that is shuffled through LDS has at most %d rows and columns", TJ_STAGE_MOST_EXTENT);
}

/* Whether a layout in LDS fits there. TJ4016 where that is the definition's fault. */
static bool fits_given_lds(const tiler *t) {
  int64_t bytes = tj_mapping_lds_size(t->graph, t->mapping, t->tiling.passes) * t->bytes;
  if (t->is_given && bytes > t->target->lds_bytes)
    tj_fail_at(t->graph->job, t->mapped->load_span, TJ_TILE_SIZE,
               "lds takes %" PRId64 " bytes; a workgroup of %s has %" PRIu32, bytes, t->target->name,
               t->target->lds_bytes);
  return bytes <= t->target->lds_bytes;
}

/* --- flat kernels --- */

/* Without tiles. TJ4020 where work-items are to gather elements that are no neighbours. */
static tj_kernel *keep_flat(tj_graph *graph, const tj_kernel *flat, const tj_target *target, uint32_t slots) {
  const tj_mapped *mapped = flat->mapped;
  tj_kernel *kernel = TJ_NEW(graph->job, tj_kernel);
  const tj_kernel *kept = slots > 1 ? tj_gather_in_vectors(graph, flat, target, slots) : flat;
  if (kept == NULL)
    tj_fail_at(graph->job, mapped->load_span, TJ_MAPPING,
               "the %" PRIu32 " elements of a work-item are not surely neighbours that one index finds", slots);
  *kernel = *kept;
  kernel->workgroup_size = mapped->mapping->load.items;
  kernel->mapping = mapped->mapping;
  return kernel;
}

/* --- loads that transpose --- */

/* What work-items ask LDS for, vector by vector; NULL where that is not all of what they store, or the last wave is
 * not whole, of which all lanes have to ask. */
static const tj_tile_side *asked_of(const tiler *t) {
  tj_graph *graph = t->graph;
  const tj_mapping_side *store = &t->mapping->store;
  tj_mapping_side *side = TJ_NEW(graph->job, tj_mapping_side);
  tj_tile_side *made = TJ_NEW(graph->job, tj_tile_side);
  const uint32_t **order = TJ_NEW(graph->job, const uint32_t *);
  uint32_t items = tj_mapping_work_items(graph, store);
  if (store->items != items || items != t->tiling.workgroup_size || items % t->target->wave_size != 0 ||
      !tj_transposed_side(graph, store, t->bytes, side) ||
      tj_mapping_held(graph, t->mapping, store, items, false).reaches_beyond)
    return NULL;
  tj_holding held = tj_hold(graph, t->mapping, side, t->tiling.item);
  *made = make_side(t, &held, false);
  *order = tj_slots_as_they_are(graph->job, side->slots);
  made->order = order;
  made->order_count = 1;
  return made;
}

/* --- the way --- */

/* Cycles of all waves. */
static uint64_t cost_of(const tj_stage_choice *choice) {
  return (uint64_t)choice->store_cycles + choice->load_cycles + choice->instructions + choice->waiting;
}

/* Chooses where the tile is in LDS for loads that transpose, where that costs less than what is chosen. */
static void choose_transposed(const tiler *t, const tj_lds_problem *problem, tj_lds_choice *chosen) {
  tj_tiling asked = t->tiling;
  tj_mapping *mapping = TJ_NEW(t->graph->job, tj_mapping), *made = TJ_NEW(t->graph->job, tj_mapping);
  tj_lds_problem other = *problem;
  tj_lds_choice found;
  *mapping = *t->mapping;
  if (asked.asked == NULL || !tj_transposed_side(t->graph, &t->mapping->store, t->bytes, &mapping->store))
    return;
  asked.store = *asked.asked;
  other.mapping = mapping;
  other.columns = best_columns(t->graph, &asked, 16 / t->bytes);
  if (!tj_choose_lds(t->graph, &other, &found) || cost_of(found.choice) >= cost_of(chosen->choice))
    return;
  *made = *found.mapping;
  made->store = t->mapping->store;
  *chosen = (tj_lds_choice){made, found.choice};
}

/* Chooses where the tile is in LDS. */
static bool choose_lds(tiler *t) {
  tj_tiling *tiling = &t->tiling;
  tj_lds_problem problem = {.mapping = t->mapping,
                            .target = t->target,
                            .work_items = tiling->workgroup_size,
                            .element_bytes = t->bytes,
                            .passes = tiling->passes,
                            .columns = best_columns(t->graph, tiling, 16 / t->bytes)};
  tj_lds_choice chosen;
  if (t->is_given)
    check_lds(t, problem.columns);
  if (!tj_choose_lds(t->graph, &problem, &chosen))
    return false;
  choose_transposed(t, &problem, &chosen);
  tiling->mapping = chosen.mapping;
  tiling->choice = chosen.choice;
  return true;
}

/* The way through LDS; false where there is none. */
static bool set_stage(tiler *t) {
  return set_passes(t) && (t->mapping->lds != NULL ? fits_given_lds(t) : choose_lds(t));
}

/* The choice with what it would cost without LDS. */
static const tj_stage_choice *beside_exchange(tj_graph *graph, const tj_stage_choice *choice,
                                              const tj_exchange *exchange) {
  tj_stage_choice *made = TJ_NEW(graph->job, tj_stage_choice);
  *made = *choice;
  made->price = exchange->lds_price;
  made->lanes_price = exchange->price;
  return made;
}

/* The way of a tile whose elements change hands: between lanes where they stay in their waves and that costs less, or
 * else through LDS; false where there is none. */
static bool set_way(tiler *t) {
  tj_tiling *tiling = &t->tiling;
  const tj_exchange_problem problem = {t->mapping, t->target, tiling->workgroup_size, t->bytes};
  tj_exchange *exchange = asks_for_lds(t->mapping) ? NULL : tj_exchange_make(t->graph, &problem);
  bool is_cheaper = exchange != NULL && exchange->price <= exchange->lds_price;
  t->is_given = t->is_given && exchange == NULL;
  if (!is_cheaper && set_stage(t)) {
    if (exchange == NULL || tiling->choice == NULL)
      return true;
    exchange->lds_price = tj_exchange_price_of_lds(exchange, &problem, tiling->choice);
    is_cheaper = exchange->price <= exchange->lds_price;
    tiling->choice = beside_exchange(t->graph, tiling->choice, exchange);
    if (!is_cheaper)
      return true;
  }
  tiling->mapping = t->mapping;
  tiling->choice = NULL;
  tiling->exchange = exchange;
  tiling->is_staged = false;
  return exchange != NULL;
}

/* --- straight into LDS --- */

/* Has work-items load what goes straight into LDS; false where they cannot, which is TJ4020 where the definition
 * wants it. */
static bool set_direct(tiler *t) {
  tj_tiling *tiling = &t->tiling;
  tj_tile_side *placed = TJ_NEW(t->graph->job, tj_tile_side);
  tj_direct_form form = {.work_items = tiling->workgroup_size};
  const char *obstacle = tj_direct_find(t->graph, t->held, t->target, t->bytes, &form);
  if (obstacle != NULL && t->is_given)
    tj_fail_at(t->graph->job, t->mapped->load_span, TJ_MAPPING, "direct: %s", obstacle);
  if (obstacle != NULL)
    return false;
  bool is_by_lane = t->target->direct->is_by_lane;
  *placed = make_side(t, &t->load, true);
  tiling->is_staged = true;
  tiling->direct = form.vector;
  tiling->placed = is_by_lane ? NULL : placed;
  tiling->load = is_by_lane ? *placed : tj_direct_side(t->graph, t->held, placed, form.vector);
  return true;
}

/* The kernel whose tile lies where an engine can bring it: with gaps between rows, unless that takes more boxes. */
static tj_kernel *tile_where_engines_can(const tiler *t) {
  const tj_box_problem problem = {
      .domain = t->tiling.domain, .mapping = t->mapping, .target = t->target, .element_bytes = t->bytes};
  tj_kernel *kernel[2] = {NULL, NULL};
  for (int packed = 0; packed < 2; packed++) {
    tj_tiling tried = t->tiling;
    tj_lds_choice chosen;
    if (!tj_choose_box_lds(t->graph, &problem, packed, &chosen))
      continue;
    tried.mapping = chosen.mapping;
    tried.choice = chosen.choice;
    tried.is_given = t->is_given && packed;
    kernel[packed] = tj_tile_kernel(t->graph, t->flat, &tried, t->target);
  }
  bool has_gaps = kernel[0] != NULL &&
                  (kernel[1] == NULL || tj_kernel_boxes(kernel[0], false) <= tj_kernel_boxes(kernel[1], false));
  return kernel[has_gaps ? 0 : 1];
}

/* Finds who loads the tile, and how its elements come to those who store them; false where there is no way. An engine
 * brings it into LDS without anybody who loads, or takes it out without anybody who stores. */
static bool set_load(tiler *t) {
  tj_tiling *tiling = &t->tiling;
  tiling->by_dma = t->mapping->by_dma;
  tiling->dma_stores = t->mapping->dma_stores;
  tiling->is_given = t->is_given;
  tiling->is_staged = true;
  if (tiling->by_dma)
    tiling->load = tiling->store;
  else if (t->mapping->is_direct)
    return set_direct(t);
  else
    choose_way(t);
  tiling->is_staged = tiling->is_staged || tiling->dma_stores;
  return true;
}

uint32_t tj_mapped_work_items(tj_graph *graph, const tj_mapping *mapping) {
  uint32_t loaders = tj_mapping_work_items(graph, &mapping->load),
           storers = tj_mapping_work_items(graph, &mapping->store);
  return loaders > storers ? loaders : storers;
}

/* The mapping of one pass for them all, where what goes straight into LDS does so in a loop; otherwise the mapping
 * itself. */
static const tj_mapping *held_mapping(tj_graph *graph, const tj_mapping *mapping, const tj_target *target) {
  bool loops = (mapping->is_direct || mapping->by_dma) && mapping->lds != NULL && target->keeps_slots &&
               tj_trips_of_passes(mapping) > 0;
  const tj_mapping *of_pass = loops ? tj_mapping_of_pass(graph, mapping) : NULL;
  return of_pass != NULL ? of_pass : mapping;
}

tj_kernel *tj_tile_as_mapped(tj_graph *graph, const tj_kernel *flat, const tj_mapped *mapped,
                             const tj_target *target) {
  const tj_mapping *mapping = mapped->mapping, *held = held_mapping(graph, mapping, target);
  uint32_t items = tj_mapped_work_items(graph, mapping);
  const tj_node *zero = tj_int(graph, 0), *last = tj_int(graph, mapping->passes - 1);
  const tj_node *item = tj_coordinate_among(graph, mapped->shared, "t", zero, tj_int(graph, items - 1), 1);
  tiler t = {
      .graph = graph,
      .flat = flat,
      .mapped = mapped,
      .mapping = mapping,
      .held = held,
      .target = target,
      .is_given = mapped->is_given,
      .bytes = tj_element_bytes(flat, TJ_LDS),
      .load = tj_hold(graph, held, &held->load, item),
      .store = tj_hold(graph, held, &held->store, item),
      .tiling = {.domain = mapped->domain,
                 .item = item,
                 .workgroup_size = items,
                 .passes = 1,
                 .pass = held != mapping ? tj_coordinate_among(graph, mapped->shared, "p", zero, last, 1) : NULL,
                 .mapping = mapping,
                 .choice = mapped->choice,
                 .shared = mapped->shared,
                 .is_draft = mapped->is_draft}};
  t.tiling.load = make_side(&t, &t.load, false);
  t.tiling.store = make_side(&t, &t.store, false);
  if (!set_load(&t))
    return NULL;
  if (t.tiling.by_dma && mapping->lds == NULL && mapping->passes == 1)
    return tile_where_engines_can(&t);
  if (t.tiling.is_staged && target->transposes_lds && mapping->passes == 1)
    t.tiling.asked = asked_of(&t);
  return !t.tiling.is_staged || set_way(&t) ? tj_tile_kernel(graph, flat, &t.tiling, target) : NULL;
}

tj_kernel *tj_tile_again(tj_graph *graph, const tj_kernel *flat, const tj_mapped *mapped, const tj_target *target,
                         tj_kernel *found) {
  tj_mapped complete = *mapped;
  complete.mapping = found->mapping;
  tj_kernel *kernel = tj_tile_as_mapped(graph, flat, &complete, target);
  if (kernel == NULL)
    return found;
  kernel->tile = found->tile;
  kernel->stage = found->stage;
  kernel->indirect = found->indirect;
  return kernel;
}

/* The widest vectors that any digit of the slots could give on a buffer. */
static uint32_t widest_of(tj_graph *graph, const tj_kernel *flat, const tj_mapping_side *side, uint32_t buffer,
                          const tj_target *target) {
  uint32_t count, widest = 1, most = tj_target_widest(target, tj_dtype_bits(flat->buffer[buffer].dtype) / 8);
  const tj_tuple *const *extent = tj_tuple_leaves(graph, side->layout.shape->item[1], &count);
  for (uint32_t i = 0; i < count; i++) {
    while (widest < most && extent[i]->value->value % (2 * (int64_t)widest) == 0)
      widest *= 2;
  }
  return widest;
}

/* Adds what the kernel can do faster for parameters that are multiples of its vectors. */
static void add_faster(tj_graph *graph, const tj_kernel *flat, tj_kernel *kernel, const tj_mapped *mapped,
                       const tj_target *target) {
  const tj_mapping *mapping = mapped->mapping;
  uint32_t source = tj_flat_load(flat)->access.buffer, destination = tj_flat_store(flat)->access.buffer;
  uint32_t loaded = widest_of(graph, flat, &mapping->load, source, target);
  uint32_t stored = widest_of(graph, flat, &mapping->store, destination, target);
  uint32_t multiple = loaded > stored ? loaded : stored;
  if (tj_narrowest_access(kernel, source) >= loaded && tj_narrowest_access(kernel, destination) >= stored)
    return;
  tj_demands demands = tj_find_demands(graph, mapped->domain, multiple, NULL);
  if (demands.count == 0)
    return;
  tj_mapped under = *mapped;
  under.domain = tj_assumed_domain(graph, mapped->domain, &demands);
  tj_kernel *faster = tj_tile_as_mapped(graph, flat, &under, target);
  if (faster != NULL && tj_kernel_fits(graph, faster) && tj_has_wider_accesses(faster, kernel))
    tj_offer_faster(graph, kernel, faster, &demands, "vectors");
}

static void check_slots(tj_job *job, const char *name, uint32_t slots, uint32_t passes, tj_span span) {
  if (slots > (uint64_t)TJ_MAPPING_MOST_SLOTS * passes)
    tj_fail_at(job, span, TJ_TILE_SIZE, "%s has more than %u slots", name, TJ_MAPPING_MOST_SLOTS * passes);
}

static void check_stream(tj_job *job, const tj_mapped *mapped, const tj_target *target) {
  if (mapped->mapping->streams)
    tj_fail_at(job, mapped->load_span, TJ_MAPPING,
               target->block_bytes > 0 ? "stream: on %s, what bypasses the caches are runs of the destination, or "
                                         "aligned vectors of blocks; this mapping has neither"
                                       : "stream: stores of %s go through its caches",
               target->name);
}

/* What work-items hold in registers, element by element. */
static void check_general(tj_job *job, const tj_mapped *mapped, const tj_target *target) {
  const tj_mapping *mapping = mapped->mapping;
  check_stream(job, mapped, target);
  bool waits = !mapping->is_direct && !mapping->by_dma;
  check_slots(job, "load", mapping->load.slots, waits ? 1 : mapping->passes, mapped->load_span);
  check_slots(job, "store", mapping->store.slots, mapping->passes, mapped->store_span);
}

/* The domain that a mapping speaks of, as one where both maps are. */
static const tj_domain *tiled_domain(tj_graph *graph, const tj_kernel *flat) {
  const tj_domain *domain = flat->mapped->domain;
  return domain->count == 1 && tj_copies_equals(flat) ? tj_domain_of_equals(graph, domain, flat->count) : domain;
}

/* The flat kernel with those whose tiles the launch shapes, or on the host one of rows. */
static tj_kernel *complete_at_launch(tj_graph *graph, const tj_kernel *flat, const tj_target *target) {
  const tj_mapping *given = flat->mapped->mapping;
  tj_kernel *kernel = TJ_NEW(graph->job, tj_kernel), *rows = NULL;
  *kernel = *flat;
  kernel->domain = tiled_domain(graph, flat);
  graph->job->here = flat->mapped->load_span;
  if (target->block_bytes > 0)
    rows = tj_map_launched_on_host(graph, kernel, given, target);
  if (rows == NULL)
    check_stream(graph->job, flat->mapped, target);
  if (rows == NULL && tj_offer_flexible(graph, kernel, target, given) == TJ_FLEXIBLE_SERVES_NONE)
    tj_fail(graph->job, TJ_MAPPING,
            "launches choose items and slots on GPUs, where the modes of both vectors have neighbours and no tile "
            "would be longer than its mode, and on the host those of rows");
  graph->job->here = TJ_NOWHERE;
  return rows != NULL ? rows : kernel;
}

/* The same with what is chosen for its tile. */
static const tj_mapped *completed(tj_graph *graph, const tj_kernel *flat, const tj_target *target) {
  tj_mapped *made = TJ_NEW(graph->job, tj_mapped);
  *made = *flat->mapped;
  graph->job->here = made->load_span;
  made->mapping = tj_complete_mapping(graph, flat, tiled_domain(graph, flat), target);
  graph->job->here = TJ_NOWHERE;
  return made;
}

tj_kernel *tj_map_as_given(tj_graph *graph, tj_kernel *flat, const tj_target *target) {
  tj_job *job = graph->job;
  if (flat->mapped->mapping->is_launched)
    return complete_at_launch(graph, flat, target);
  const tj_mapped *mapped = flat->mapped->mapping->is_open ? completed(graph, flat, target) : flat->mapped;
  check_side(graph, &mapped->mapping->load, target, mapped->load_span);
  check_side(graph, &mapped->mapping->store, target, mapped->store_span);
  uint32_t neighbours = tj_mapping_neighbours(mapped->mapping);
  if (neighbours == 1 || tj_is_gather(flat))
    return keep_flat(graph, flat, target, neighbours);
  tj_mapped tiled = *mapped;
  tiled.domain = tiled_domain(graph, flat);
  job->here = mapped->store_span;
  tj_kernel *blocks = target->block_bytes > 0 ? tj_map_as_given_on_host(graph, flat, &tiled, target) : NULL;
  if (blocks != NULL) {
    job->here = TJ_NOWHERE;
    return blocks;
  }
  check_general(job, mapped, target);
  tj_kernel *kernel = tj_tile_as_mapped(graph, flat, &tiled, target);
  if (kernel == NULL)
    tj_fail(job, TJ_TILE_SIZE, "the tile does not fit in the %" PRIu32 " bytes of LDS of a workgroup of %s",
            target->lds_bytes, target->name);
  if (kernel->mapping != mapped->mapping)
    kernel = tj_tile_again(graph, flat, &tiled, target, kernel);
  add_faster(graph, flat, kernel, &tiled, target);
  job->here = TJ_NOWHERE;
  return kernel;
}
