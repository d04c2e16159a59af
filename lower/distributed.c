/* SPDX-License-Identifier: MIT */
/* From distributions to tilings: the element of every slot as an expression of the work-item, the ways in which slots
 * may be put in a row, and who of several holders stores. tiling.c finds out which accesses are vectors. */
#include "lower/distributed.h"

#include "ir/simplify.h"
#include "lower/faster.h"
#include "lower/stage.h"
#include "lower/tiling.h"

#include <inttypes.h>

enum { MOST_WORK_ITEMS = 65536, MOST_SLOTS = 256 };

/* --- what fits --- */

static void check_partitions(tj_job *job, const tj_distribution *d) {
  if (d->p_count != 1 && d->p_count != 2)
    tj_fail(job, TJ_PARTITION,
            "the distribution has %" PRIu32 " Ps; a kernel's has one, the lane, or two, wave and lane", d->p_count);
}

static void check_rank(tj_job *job, const tj_distribution *d, const tj_domain *domain) {
  if (d->x_count != domain->count)
    tj_fail(job, TJ_DISTRIBUTION_RANK, "the distribution's tile has %" PRIu32 " dimension%s, the views have %" PRIu32,
            d->x_count, d->x_count == 1 ? "" : "s", domain->count);
}

const tj_distributed *tj_distributed_make(tj_graph *graph, const tj_kernel_definition *definition,
                                          const tj_domain *domain) {
  tj_distributed *made = TJ_NEW(graph->job, tj_distributed);
  *made = (tj_distributed){definition->from, definition->to, definition->from_span, definition->to_span};
  graph->job->here = made->load_span;
  check_rank(graph->job, made->load, domain);
  check_partitions(graph->job, made->load);
  graph->job->here = made->store_span;
  check_partitions(graph->job, made->store);
  return made;
}

static int64_t product_of(const int64_t length[], uint32_t count) {
  int64_t product = 1;
  for (uint32_t i = 0; i < count; i++)
    product *= length[i];
  return product;
}

/* The last P is the lane. */
static void check_wave(tj_job *job, const tj_distribution *d, const tj_target *target) {
  int64_t lanes = d->p_length[d->p_count - 1];
  if (target->wave_size > 1 && lanes != target->wave_size)
    tj_fail(job, TJ_PARTITION, "P%" PRIu32 ", the lane, has length %" PRId64 "; a wave of %s has %" PRIu32 " lanes",
            d->p_count - 1, lanes, target->name, target->wave_size);
}

static void check_size(tj_job *job, const tj_distribution *d, const tj_target *target) {
  int64_t items = product_of(d->p_length, d->p_count), slots = product_of(d->y_length, d->y_count);
  int64_t limit = target->workgroup_limit < MOST_WORK_ITEMS ? target->workgroup_limit : MOST_WORK_ITEMS;
  if (items > limit)
    tj_fail(job, TJ_TILE_SIZE,
            "the tile is shared out among %" PRId64 " threads; a workgroup of %s has at most %" PRId64, items,
            target->name, limit);
  if (slots > MOST_SLOTS)
    tj_fail(job, TJ_TILE_SIZE, "each thread holds %" PRId64 " elements of the tile, more than %d", slots, MOST_SLOTS);
}

static void check_fits(tj_job *job, const tj_distributed *d, const tj_target *target) {
  job->here = d->load_span;
  check_wave(job, d->load, target);
  check_size(job, d->load, target);
  job->here = d->store_span;
  check_wave(job, d->store, target);
  check_size(job, d->store, target);
}

/* --- threads --- */

/* A distribution as work-items hold it. */
typedef struct {
  tj_graph *graph;
  const tj_distribution *distribution;
  const tj_node **partition; /* the index in each P, expressions of the work-item */
  uint32_t slot_count;
} holding;

/* The digits of the work-item's number, row-major over the Ps. */
static holding new_holding(tj_graph *graph, const tj_distribution *d, const tj_node *item) {
  holding held = {.graph = graph, .distribution = d};
  held.slot_count = (uint32_t)product_of(d->y_length, d->y_count);
  held.partition = TJ_NEW_ARRAY(graph->job, const tj_node *, d->p_count);
  for (uint32_t p = d->p_count; p-- > 0;) {
    const tj_node *length = tj_int(graph, d->p_length[p]);
    held.partition[p] = p > 0 ? tj_mod(graph, item, length) : item;
    item = tj_div(graph, item, length);
  }
  return held;
}

/* The index of a slot in a Y: slots are row-major over the Ys, as ys_to_d is. */
static int64_t index_in(const tj_distribution *d, uint32_t slot, uint32_t y) {
  return slot / product_of(d->y_length + y + 1, d->y_count - y - 1) % d->y_length[y];
}

/* --- elements --- */

/* The tile coordinates of every slot's element, by slot, then by dimension. */
static const tj_node *const *const *digits_of(const holding *held) {
  tj_graph *graph = held->graph;
  const tj_distribution *d = held->distribution;
  const tj_adaptor *adaptor = tj_distribution_adaptor(graph, d);
  const tj_node **all = TJ_NEW_ARRAY(graph->job, const tj_node *, (size_t)held->slot_count * d->x_count + 1);
  const tj_node *const **digit = TJ_NEW_ARRAY(graph->job, const tj_node *const *, held->slot_count);
  const tj_node *upper[TJ_MAX_DIMENSIONS], *valid;
  for (uint32_t p = 0; p < d->p_count; p++)
    upper[p] = held->partition[p];
  for (uint32_t slot = 0; slot < held->slot_count; slot++) {
    for (uint32_t y = 0; y < d->y_count; y++)
      upper[d->p_count + y] = tj_int(graph, index_in(d, slot, y));
    tj_adaptor_lower(graph, adaptor, upper, all + (size_t)slot * d->x_count, &valid);
    digit[slot] = all + (size_t)slot * d->x_count;
  }
  tj_simplify(graph, all, held->slot_count * d->x_count, NULL);
  return digit;
}

/* --- replication --- */

/* Whether a work-item is the first of those that hold the same elements because Ps list Rs. */
static const tj_node *is_first_holder(const holding *held) {
  tj_graph *graph = held->graph;
  const tj_distribution *d = held->distribution;
  const tj_node *truth = tj_int(graph, 1), *zero = tj_int(graph, 0);
  for (uint32_t p = 0; p < d->p_count; p++) {
    for (uint32_t r = 0; r < d->rh[0].count; r++) {
      int64_t step = tj_distribution_p_over_r(d, p, r);
      if (step == 0)
        continue;
      const tj_node *digit = tj_div(graph, held->partition[p], tj_int(graph, step));
      digit = tj_mod(graph, digit, tj_int(graph, d->rh[0].length[r]));
      truth = tj_and(graph, truth, tj_equal(graph, digit, zero));
    }
  }
  return tj_simplified(graph, truth);
}

/* Whether a slot is the first of those of a work-item that hold the same element because Ys are Rs. */
static bool is_first_slot(const tj_distribution *d, uint32_t slot) {
  for (uint32_t y = 0; y < d->y_count; y++) {
    if (d->y[y].major == 0 && index_in(d, slot, y) > 0)
      return false;
  }
  return true;
}

/* By slot: whether its element is this slot's to pass on. */
static const tj_node *const *responsibility(const holding *held) {
  const tj_node **active = TJ_NEW_ARRAY(held->graph->job, const tj_node *, held->slot_count);
  const tj_node *first = is_first_holder(held), *never = tj_int(held->graph, 0);
  for (uint32_t slot = 0; slot < held->slot_count; slot++)
    active[slot] = is_first_slot(held->distribution, slot) ? first : never;
  return active;
}

/* --- orders --- */

/* The slots with one Y as the innermost, the others as they are. */
static const uint32_t *order_along(const holding *held, uint32_t y) {
  const tj_distribution *d = held->distribution;
  uint32_t *order = TJ_NEW_ARRAY(held->graph->job, uint32_t, held->slot_count);
  uint32_t length = (uint32_t)d->y_length[y];
  uint32_t step = (uint32_t)product_of(d->y_length + y + 1, d->y_count - y - 1);
  for (uint32_t i = 0; i < held->slot_count; i++) {
    uint32_t outer = i / length;
    order[i] = outer / step * step * length + i % length * step + outer % step;
  }
  return order;
}

/* Each Y that may give vectors as the innermost: the last first, with which slots are as they are. */
static void set_orders(const holding *held, tj_tile_side *side) {
  const tj_distribution *d = held->distribution;
  const uint32_t **order = TJ_NEW_ARRAY(held->graph->job, const uint32_t *, d->y_count + 1);
  static const uint32_t single[] = {0};
  for (uint32_t y = d->y_count; y-- > 0;) {
    if (d->y_length[y] > 1)
      order[side->order_count++] = order_along(held, y);
  }
  if (side->order_count == 0)
    order[side->order_count++] = single;
  side->order = order;
}

static tj_tile_side make_side(const holding *held) {
  tj_tile_side side = {.slot_count = held->slot_count, .digit = digits_of(held), .active = responsibility(held)};
  set_orders(held, &side);
  return side;
}

/* --- from one distribution to another --- */

static bool same_element(const tj_node *const a[], const tj_node *const b[], uint32_t rank) {
  for (uint32_t i = 0; i < rank; i++) {
    if (a[i] != b[i])
      return false;
  }
  return true;
}

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
    while (i < count && (taken[i] || !same_element(load->digit[i], store->digit[slot], rank)))
      i++;
    if (i == count)
      return NULL;
    taken[i] = true;
    match[slot] = i;
  }
  return match;
}

/* The store side in the numbers that slots have on the load side. */
static tj_tile_side renumbered(tj_graph *graph, const tj_tile_side *load, const tj_tile_side *store,
                               const uint32_t match[]) {
  uint32_t count = store->slot_count;
  const tj_node **active = TJ_NEW_ARRAY(graph->job, const tj_node *, count);
  const uint32_t **orders = TJ_NEW_ARRAY(graph->job, const uint32_t *, store->order_count);
  for (uint32_t slot = 0; slot < count; slot++)
    active[match[slot]] = store->active[slot];
  for (uint32_t k = 0; k < store->order_count; k++) {
    uint32_t *order = TJ_NEW_ARRAY(graph->job, uint32_t, count);
    for (uint32_t i = 0; i < count; i++)
      order[i] = match[store->order[k][i]];
    orders[k] = order;
  }
  return (tj_tile_side){.slot_count = count,
                        .digit = load->digit,
                        .active = active,
                        .order = orders,
                        .order_count = store->order_count};
}

/* Elements that stay with their work-items stay in registers, and are loaded by all who hold them. */
static void choose_way(tj_graph *graph, tj_tiling *tiling) {
  const uint32_t *match = match_slots(graph, &tiling->load, &tiling->store, tiling->domain->count);
  tiling->is_staged = match == NULL;
  if (match == NULL)
    return;
  tiling->store = renumbered(graph, &tiling->load, &tiling->store, match);
  tiling->load.active = NULL;
}

/* How many neighbours along a dimension a work-item holds: the lowest digit, where that is a Y. */
static int64_t run_along(const tj_distribution *d, uint32_t dimension, int64_t most) {
  const tj_lengths *h = &d->rh[dimension + 1];
  uint32_t minor = h->count;
  while (minor > 0 && h->length[minor - 1] == 1)
    minor--;
  if (minor == 0 || tj_distribution_owner_y(d, (tj_rh){dimension + 1, minor - 1}) < 0)
    return 1;
  return h->length[minor - 1] < most ? h->length[minor - 1] : most;
}

/* The dimension whose elements should lie side by side in LDS: with the fewest accesses, or else the last. */
static uint64_t best_columns(const tj_distribution *from, const tj_distribution *to, int64_t widest) {
  int64_t loads = product_of(from->y_length, from->y_count), stores = product_of(to->y_length, to->y_count);
  int64_t fewest = INT64_MAX;
  uint64_t columns = 0;
  for (uint32_t i = from->x_count; i-- > 0;) {
    int64_t accesses = loads / run_along(from, i, widest) + stores / run_along(to, i, widest);
    if (accesses < fewest)
      columns = (uint64_t)1 << i;
    fewest = accesses < fewest ? accesses : fewest;
  }
  return columns;
}

static void check_stage(tj_job *job, const tj_kernel *flat, const tj_tiling *tiling, const tj_target *target) {
  int64_t columns = 1, rows = 1;
  for (uint32_t i = 0; i < tiling->domain->count; i++)
    *((tiling->columns >> i & 1) != 0 ? &columns : &rows) *= tiling->extent[i];
  int64_t bytes = rows * columns * (tj_dtype_bits(flat->carried) / 8);
  if (bytes > target->lds_bytes)
    tj_fail(job, TJ_TILE_SIZE, "the tile takes %" PRId64 " bytes of LDS to shuffle; a workgroup of %s has %" PRIu32,
            bytes, target->name, target->lds_bytes);
  if (columns > TJ_STAGE_MOST_EXTENT || rows > TJ_STAGE_MOST_EXTENT)
    tj_fail(job, TJ_TILE_SIZE, "a tile that is shuffled through LDS has at most %d rows and columns",
            TJ_STAGE_MOST_EXTENT);
}

/* --- kernels --- */

static tj_kernel *tile(tj_graph *graph, const tj_kernel *flat, const tj_domain *domain,
                       const tj_substitution *assumed, const tj_target *target) {
  const tj_distribution *from = flat->distributed->load, *to = flat->distributed->store;
  uint32_t items = (uint32_t)product_of(from->p_length, from->p_count);
  const tj_node *item = tj_coordinate(graph, "t", tj_int(graph, items));
  holding load = new_holding(graph, from, item), store = new_holding(graph, to, item);
  tj_tiling tiling = {.domain = domain,
                      .source = flat->step[0].access.buffer,
                      .destination = flat->step[1].access.buffer,
                      .extent = from->x_length,
                      .item = item,
                      .workgroup_size = items,
                      .load = make_side(&load),
                      .store = make_side(&store),
                      .assumed = assumed,
                      .columns = best_columns(from, to, 16 / (tj_dtype_bits(flat->carried) / 8))};
  choose_way(graph, &tiling);
  if (tiling.is_staged)
    check_stage(graph->job, flat, &tiling, target);
  return tj_tile_kernel(graph, flat, &tiling, target);
}

/* The widest vectors that any Y of a distribution could give on a buffer. */
static uint32_t widest_of(const tj_kernel *flat, const tj_distribution *d, uint32_t buffer, const tj_target *target) {
  uint32_t bytes = tj_dtype_bits(flat->buffer[buffer].dtype) / 8, widest = 1;
  for (uint32_t y = 0; y < d->y_count; y++) {
    while (d->y_length[y] % (2 * (int64_t)widest) == 0)
      widest *= 2;
  }
  while (widest > 1 && widest * bytes > target->vector_bytes)
    widest /= 2;
  return widest;
}

/* Adds what the kernel can do faster for parameters that are multiples of its vectors. */
static void add_faster(tj_graph *graph, const tj_kernel *flat, tj_kernel *kernel, const tj_target *target) {
  uint32_t loaded = widest_of(flat, flat->distributed->load, flat->step[0].access.buffer, target);
  uint32_t stored = widest_of(flat, flat->distributed->store, flat->step[1].access.buffer, target);
  uint32_t multiple = loaded > stored ? loaded : stored;
  if (tj_narrowest_access(kernel, TJ_STEP_LOAD) >= loaded && tj_narrowest_access(kernel, TJ_STEP_STORE) >= stored)
    return;
  tj_demands demands = tj_find_demands(graph, flat->domain, multiple, NULL);
  if (demands.count == 0)
    return;
  tj_substitution assumed = tj_assume(graph, &demands);
  tj_kernel *faster = tile(graph, flat, tj_assumed_domain(graph, flat->domain, &assumed), &assumed, target);
  if (faster != NULL && tj_kernel_fits(graph, faster) && tj_has_wider_accesses(faster, kernel))
    tj_offer_faster(graph, kernel, faster, &demands, tj_string_format(graph->job, "%s.vectors", kernel->name));
}

tj_kernel *tj_map_distributed(tj_graph *graph, const tj_kernel *flat, const tj_target *target) {
  tj_job *job = graph->job;
  check_fits(job, flat->distributed, target);
  tj_kernel *kernel = tile(graph, flat, flat->domain, NULL, target);
  if (kernel == NULL)
    tj_fail(job, TJ_TILE_SIZE, "the tile does not fit in the %" PRIu32 " bytes of LDS of a workgroup of %s",
            target->lds_bytes, target->name);
  add_faster(graph, flat, kernel, target);
  job->here = TJ_NOWHERE;
  return kernel;
}
