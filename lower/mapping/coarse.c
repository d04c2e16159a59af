/* SPDX-License-Identifier: MIT */
/* Tiles of one mode, that of a flat copy's linear coordinate.
 *
 * Slots are a workgroup apart. Where that is a multiple of what an element's number is divided by, a work-item's
 * slots have the remainder in common, and quotients that differ by constants; so workgroups of several sizes are
 * priced. */
#include "lower/mapping/coarse.h"

#include "base/integer.h"
#include "base/text.h"
#include "ir/simplify/simplify.h"
#include "lower/kernel/domain.h"
#include "lower/kernel/kernel_nodes.h"
#include "lower/kernel/variant.h"
#include "lower/machine/usage.h"
#include "lower/mapping/flat_mapping.h"
#include "lower/mapping/mapped.h"

enum { SLOTS = 4, MOST_WORKGROUPS = 4 };

static bool is_masked(const tj_kernel_step *step) {
  return !tj_is_constant(step->access.valid);
}

static int64_t tile_of(const tj_kernel *flat) {
  return (int64_t)flat->workgroup_size * SLOTS;
}

/* Whether there is one source, some elements are masked, and the last tile can be moved back inside: to mask what is
 * beyond would take each element as much as is gained. */
static bool is_worth_it(const tj_kernel *flat, const tj_target *target) {
  bool is_copy = flat->step_count == 2 && tj_flat_load(flat)->kind == TJ_STEP_LOAD && flat->loop == NULL &&
                 flat->domain != NULL && flat->domain->linear_of == NULL;
  return is_copy && flat->count->facts.high >= tile_of(flat) && target->resource != NULL &&
         (is_masked(tj_flat_load(flat)) || is_masked(tj_flat_store(flat)));
}

/* Work-items first, then slots. */
static const tj_mapping *mapping_of(tj_graph *graph, const tj_kernel *flat) {
  tj_mapping *mapping = tj_mapping_in_order(graph, flat, SLOTS, 1, flat->workgroup_size);
  int64_t *overlap = TJ_NEW(graph->job, int64_t);
  *overlap = tile_of(flat);
  mapping->overlap = overlap;
  return mapping;
}

/* The domain of the linear coordinate. */
static const tj_domain *linear_domain(tj_graph *graph, const tj_kernel *flat) {
  const tj_domain *of = flat->domain;
  if (flat->elements == NULL)
    return of;
  tj_domain *domain = TJ_NEW(graph->job, tj_domain);
  *domain =
      tj_domain_as_given(graph, &(tj_sides){of->source, of->destination, of->other, of->other_count}, flat->elements);
  return domain;
}

/* The domain with a name for how many elements there are, of which it is known that they are a tile at least. */
static const tj_domain *long_domain(tj_graph *graph, const tj_domain *of, int64_t least) {
  tj_domain *domain = TJ_NEW(graph->job, tj_domain);
  tj_mode *mode = TJ_NEW(graph->job, tj_mode);
  *domain = *of;
  *mode = of->mode[0];
  mode->extent = tj_symbol_create(graph, "elements", TJ_SYMBOL_COORDINATE, tj_int(graph, least),
                                  tj_int(graph, mode->extent->facts.high), 1);
  domain->mode = mode;
  return domain;
}

static tj_kernel *tiled(tj_graph *graph, const tj_kernel *flat, const tj_domain *domain, const tj_target *target) {
  tj_mapped mapped = {.domain = domain, .mapping = mapping_of(graph, flat)};
  tj_kernel *kernel = tj_tile_as_mapped(graph, flat, &mapped, target);
  return kernel != NULL && tj_kernel_fits(graph, kernel) ? kernel : NULL;
}

/* The name that tiles have for their domain's extent stands for what the launch has. */
static void bind_extent(tj_graph *graph, tj_kernel *kernel, const tj_node *name, const tj_node *extent) {
  tj_kernel_binding *binding = TJ_NEW_ARRAY(graph->job, tj_kernel_binding, kernel->binding_count + 1);
  const tj_substitution launched = {&name, &extent, 1};
  binding[0] = (tj_kernel_binding){name, extent, true};
  for (uint32_t i = 0; i < kernel->binding_count; i++)
    binding[1 + i] = kernel->binding[i];
  kernel->binding = binding;
  kernel->binding_count++;
  tj_substitute(graph, &launched, &kernel->count, 1);
}

/* --- workgroups --- */

/* The sizes that are worth a try, the flat kernel's first. */
typedef struct {
  uint32_t size[MOST_WORKGROUPS], count;
} workgroups;

/* How far apart elements are that have a remainder in common; 0: further than `most`, or nothing is divided. */
static int64_t period_of(const tj_node *digit, int64_t most) {
  int64_t period = 0;
  for (; digit->op == TJ_OP_DIV || digit->op == TJ_OP_MOD; digit = digit->arg[0]) {
    const tj_node *by = digit->arg[1];
    int64_t below = period == 0 ? 1 : period;
    if (!tj_is_constant(by) || by->value < 1 || by->value > most / below)
      return 0;
    period = below * by->value;
  }
  return period;
}

/* Adds whole waves of whole periods, in the place of a size that they have all in common with, unless there is one
 * that has all in common with them. */
static void add_workgroup(workgroups *all, int64_t period, const tj_target *target) {
  int64_t waves = period / (int64_t)tj_gcd((uint64_t)period, target->wave_size), size = waves * target->wave_size;
  uint32_t place = all->count;
  for (uint32_t i = 0; i < all->count; i++) {
    if (all->size[i] % size == 0)
      return;
    if (i > 0 && size % all->size[i] == 0)
      place = i;
  }
  if (size > target->workgroup_limit || place == MOST_WORKGROUPS)
    return;
  all->size[place] = (uint32_t)size;
  all->count += place == all->count;
}

static workgroups workgroups_of(tj_graph *graph, const tj_kernel *flat, const tj_target *target) {
  workgroups all = {.size = {flat->workgroup_size}, .count = 1};
  const tj_kernel_nodes nodes = tj_kernel_nodes_of(graph, flat, 1);
  for (uint32_t i = 0; i < nodes.walk.count; i++) {
    int64_t period = period_of(nodes.walk.node[i], target->workgroup_limit);
    if (period > 0)
      add_workgroup(&all, period, target);
  }
  return all;
}

/* What a launch takes, in instructions of a work-item times work-items. */
static double price_of(tj_graph *graph, const tj_kernel *flat, const tj_kernel *kernel) {
  tj_kernel_nodes nodes = tj_kernel_nodes_of(graph, kernel, 1);
  const tj_usage usage = tj_usage_of(graph, nodes.root, nodes.root_count);
  int64_t tile = (int64_t)kernel->workgroup_size * SLOTS, most = flat->count->facts.high;
  int64_t tiles = most / tile + (most % tile > 0);
  uint32_t instructions = tj_usage_cost(&usage) + kernel->step_count;
  return (double)instructions * kernel->workgroup_size * (double)tiles;
}

/* --- what launches take --- */

static bool is_always_long(const tj_kernel *flat) {
  return flat->count->facts.low >= tile_of(flat);
}

/* A kernel for launches that have as many elements as a tile. */
static tj_kernel *tiled_of_long(tj_graph *graph, const tj_kernel *flat, const tj_domain *domain,
                                const tj_target *target) {
  if (is_always_long(flat))
    return tiled(graph, flat, domain, target);
  const tj_domain *of = long_domain(graph, domain, tile_of(flat));
  tj_kernel *kernel = tiled(graph, flat, of, target);
  if (kernel != NULL)
    bind_extent(graph, kernel, of->mode[0].extent, flat->count);
  return kernel;
}

/* The cheapest of the workgroups' kernels, and the flat one with its workgroup; kernel NULL: there is none. The flat
 * one's own is only tried where no other is, since then no slots have anything in common. */
static tj_kernel *cheapest(tj_graph *graph, tj_kernel *flat, const tj_domain *domain, const tj_target *target,
                           tj_kernel *of) {
  workgroups all = workgroups_of(graph, flat, target);
  tj_kernel *best = NULL;
  double least = 0;
  for (uint32_t i = all.count; i-- > 0 && (i > 0 || best == NULL);) {
    tj_kernel sized = *flat;
    sized.workgroup_size = all.size[i];
    if (sized.count->facts.high < tile_of(&sized))
      continue;
    tj_kernel *kernel = tiled_of_long(graph, &sized, domain, target);
    double price = kernel != NULL ? price_of(graph, flat, kernel) : 0;
    if (kernel == NULL || (best != NULL && price >= least))
      continue;
    best = kernel;
    least = price;
    *of = sized;
  }
  return best;
}

tj_kernel *tj_map_coarsely(tj_graph *graph, tj_kernel *flat, const tj_target *target) {
  if (!is_worth_it(flat, target))
    return NULL;
  const tj_domain *domain = linear_domain(graph, flat);
  if (domain->count != 1)
    return NULL;
  tj_kernel of = *flat, *kernel = cheapest(graph, flat, domain, target, &of);
  if (kernel == NULL || is_always_long(&of))
    return kernel;
  kernel->name = tj_string_format(graph->job, "%s.coarse", flat->name);
  flat->faster = kernel;
  flat->condition = tj_simplified(graph, tj_less_equal(graph, tj_int(graph, tile_of(&of)), flat->count));
  return flat;
}
