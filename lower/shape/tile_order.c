/* SPDX-License-Identifier: MIT */
/* Orders of tiles as layouts, of the modes that have several. What a sequence of modes is worth are the pages of
 * memory that the tiles at work have at one time, found in numbers. */
#include "lower/shape/tile_order.h"

#include "base/number/power.h"
#include "ir/index/facts.h"
#include "ir/layout/leaves.h"
#include "ir/simplify/simplify.h"

#include <math.h>

static const tj_node *divided_up(tj_graph *graph, const tj_node *extent, const tj_node *reach) {
  return tj_div(graph, tj_add(graph, extent, tj_sub(graph, reach, tj_int(graph, 1))), reach);
}

/* In a form that shows that there is one at least. */
const tj_node *tj_tiles_along(tj_graph *graph, const tj_domain *domain, uint32_t mode, const tj_node *reach) {
  const tj_node *extent = domain->mode[mode].extent, *one = tj_int(graph, 1);
  if (tj_is_constant(reach))
    return tj_simplified(graph, divided_up(graph, extent, reach));
  return tj_add(graph, tj_div(graph, tj_sub(graph, extent, one), reach), one);
}

tj_tiles tj_tiles_of(tj_graph *graph, const tj_domain *domain, const tj_node *const reach[]) {
  tj_tiles tiles = {TJ_NEW_ARRAY(graph->job, const tj_node *, domain->count + 1), tj_int(graph, 1)};
  for (uint32_t m = 0; m < domain->count; m++) {
    tiles.along[m] = tj_tiles_along(graph, domain, m, reach[m]);
    tiles.count = tj_mul(graph, tiles.count, tiles.along[m]);
  }
  tiles.count = tj_simplified(graph, tiles.count);
  return tiles;
}

const tj_node *tj_tile_begin(tj_graph *graph, const tj_node *extent, const tj_node *reach, const tj_node *number) {
  const tj_node *begin = tj_mul(graph, number, reach);
  bool is_even = tj_is_constant(reach) && tj_facts_divisible(&extent->facts, reach->value);
  return is_even ? begin : tj_min(graph, begin, tj_sub(graph, extent, reach));
}

const tj_node *tj_next_tile(tj_graph *graph, const tj_tiles *tiles, const tj_node *workgroup) {
  const tj_node *one = tj_int(graph, 1);
  return tj_min(graph, tj_add(graph, workgroup, one), tj_sub(graph, tiles->count, one));
}

/* An expression is kept as it is: what kernels assume of it takes its place. */
static const tj_node *ordered_tiles(tj_graph *graph, const tj_domain *domain, uint32_t mode, int64_t reach) {
  const tj_node *extent = domain->mode[mode].extent, *room = tj_int(graph, reach);
  bool is_kept = extent->op != TJ_OP_SYMBOL && !tj_facts_divisible(&extent->facts, reach);
  return is_kept ? divided_up(graph, extent, room) : tj_tiles_along(graph, domain, mode, room);
}

const tj_layout *tj_order_of_tiles(tj_graph *graph, const tj_domain *domain, const int64_t reach[],
                                   const uint32_t sequence[]) {
  tj_leaves tiled = {.count = 0};
  tj_layout *order = TJ_NEW(graph->job, tj_layout);
  uint32_t before = UINT32_MAX;
  bool descends = true;
  for (uint32_t i = 0; i < domain->count; i++) {
    uint32_t mode = sequence[i];
    const tj_node *tiles = ordered_tiles(graph, domain, mode, reach[mode]);
    if (tj_is_int(tj_simplified(graph, tiles), 1))
      continue;
    descends = descends && mode < before;
    before = mode;
    tj_leaves_put(&tiled, tj_tuple_integer(graph, tiles), tj_tuple_basis(graph, tj_int(graph, 1), &mode, 1));
  }
  *order = tj_leaves_mode(graph, &tiled);
  return descends ? NULL : order;
}

/* --- sequences --- */

/* As measured on an H100 over orders of 57 transpositions of four types, docs/benchmarks.md: workgroups at one time;
 * the bytes between which memory changes its page; what a page costs that is stored to, of one that is loaded from.
 */
enum { TILES_AT_ONCE = 528, PAGE_BYTES = 4096 };
static const double COST_OF_STORED_PAGE = 0.35;

typedef struct {
  tj_graph *graph;
  const tj_kernel *flat;
  const tj_domain *domain;
  const int64_t *reach;
} tiled_copy;

static int64_t extent_of(const tiled_copy *copy, uint32_t mode) {
  return copy->domain->mode[mode].extent->value;
}

static int64_t tiles_along(const tiled_copy *copy, uint32_t mode) {
  return tj_divided_up(extent_of(copy, mode), copy->reach[mode]);
}

/* How far tiles that follow each other reach along each mode, as many as are at work at one time. */
static void cover(const tiled_copy *copy, const uint32_t sequence[], int64_t covered[]) {
  int64_t left = TILES_AT_ONCE;
  for (uint32_t i = 0; i < copy->domain->count; i++) {
    uint32_t mode = sequence[i];
    int64_t tiles = tiles_along(copy, mode), taken = tiles < left ? tiles : left;
    int64_t whole = extent_of(copy, mode), reached = taken * copy->reach[mode];
    covered[mode] = reached < whole ? reached : whole;
    left = left > tiles ? left / tiles : 1;
  }
}

/* The bytes from one coordinate to the next; 0: not known. */
static double step_of(const tiled_copy *copy, uint32_t operand, uint32_t mode) {
  const tj_node *stride = tj_domain_stride(copy->domain, operand, mode);
  uint32_t bytes = tj_element_bytes(copy->flat, tj_flat_buffer(copy->flat, operand));
  return stride != NULL && tj_is_constant(stride) ? fabs((double)stride->value) * bytes : 0;
}

/* The mode of the next greater step, of those that are not among `taken`. */
static uint32_t next_mode(const double step[], uint32_t count, uint64_t taken) {
  uint32_t next = UINT32_MAX;
  for (uint32_t m = 0; m < count; m++) {
    if ((taken >> m & 1) == 0 && (next == UINT32_MAX || step[m] < step[next]))
      next = m;
  }
  return next;
}

/* Pages that an operand has of what is covered: where coordinates are closer than a page, all between them is. */
static double pages_of(const tiled_copy *copy, uint32_t operand, const int64_t covered[]) {
  uint32_t count = copy->domain->count;
  double *step = TJ_NEW_ARRAY(copy->graph->job, double, count), spans = 1, span = 0;
  uint64_t taken = 0;
  for (uint32_t m = 0; m < count; m++)
    step[m] = step_of(copy, operand, m);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t mode = next_mode(step, count, taken);
    taken |= (uint64_t)1 << mode;
    if (step[mode] <= fmax(span, PAGE_BYTES))
      span += step[mode] * (double)(covered[mode] - 1);
    else
      spans *= (double)covered[mode];
  }
  return spans * (1 + span / PAGE_BYTES);
}

static double cost_of(const tiled_copy *copy, const uint32_t sequence[]) {
  int64_t *covered = TJ_NEW_ARRAY(copy->graph->job, int64_t, copy->domain->count);
  double cost = 0;
  cover(copy, sequence, covered);
  for (uint32_t operand = 0; operand < TJ_OPERAND_OTHERS + copy->domain->other_count; operand++) {
    double cost_of_page = tj_is_source(copy->flat, operand) ? 1 : COST_OF_STORED_PAGE;
    cost += pages_of(copy, operand, covered) * cost_of_page;
  }
  return cost;
}

/* The first mode of a side that has several tiles, then the others in the order of a side. */
static const uint32_t *first_then(const tiled_copy *copy, const uint32_t first[], const uint32_t rest[]) {
  uint32_t *sequence = TJ_NEW_ARRAY(copy->graph->job, uint32_t, copy->domain->count), i = 0, at = 1;
  while (i + 1 < copy->domain->count && tiles_along(copy, first[i]) == 1)
    i++;
  sequence[0] = first[i];
  for (uint32_t k = 0; k < copy->domain->count; k++) {
    if (rest[k] != first[i])
      sequence[at++] = rest[k];
  }
  return sequence;
}

/* Of sequences that cost the same, the one that goes on where stores do: what tiles at one time do not tell of the
 * modes that change last. */
const uint32_t *tj_tile_sequence(tj_graph *graph, const tj_kernel *flat, const tj_domain *domain,
                                 const int64_t reach[], const uint32_t loaded[], const uint32_t stored[]) {
  const tiled_copy copy = {graph, flat, domain, reach};
  if (!tj_domain_is_known(domain))
    return loaded;
  const uint32_t *const sequence[] = {first_then(&copy, loaded, stored), loaded, first_then(&copy, stored, loaded)};
  uint32_t best = 0;
  double least = cost_of(&copy, sequence[0]);
  for (uint32_t i = 1; i < sizeof sequence / sizeof *sequence; i++) {
    double cost = cost_of(&copy, sequence[i]);
    best = cost < least ? i : best;
    least = fmin(cost, least);
  }
  return sequence[best];
}
