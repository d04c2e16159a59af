/* SPDX-License-Identifier: MIT */
/* How a copy is mapped: what there is to tile of it, in numbers, for the search of a tile; the demands that a tile
 * has of extents that the launch brings; and what takes the place of tiles. */
#include "lower/mapping/mapping.h"

#include "base/integer.h"
#include "base/machine/bank.h"
#include "base/machine/processor.h"
#include "ir/index/facts.h"
#include "lower/flexible/flexible.h"
#include "lower/kernel/variant.h"
#include "lower/mapping/coarse.h"
#include "lower/mapping/flat_mapping.h"
#include "lower/mapping/host_mapping.h"
#include "lower/mapping/mapped.h"
#include "lower/mapping/tile_search.h"
#include "lower/tile/gather_vectors.h"

#include <inttypes.h>

/* --- searches --- */

/* Whether vectors may move on both sides, as far as strides tell. */
static bool is_mappable(const tj_tile_search *search) {
  uint32_t loaded = search->problem.order[TJ_SOURCE][0], stored = search->problem.order[TJ_DESTINATION][0];
  return tj_domain_has_neighbours(search->domain, loaded, true) &&
         tj_domain_has_neighbours(search->domain, stored, false) && (search->problem.may_stage || loaded == stored);
}

/* --- copies --- */

/* What the best tile demands of extents that are not known. */
static tj_demands find_demands(tj_tile_search *search) {
  if (tj_domain_is_known(search->domain) || tj_choose_tile_shapes(&search->problem, &search->shape, 1) == 0)
    return (tj_demands){NULL, 0};
  return tj_find_demands(search->graph, search->flat->domain, 1, search->shape.extent);
}

/* Offers a kernel for parameters that meet the demands. */
static void add_faster(const tj_tile_search *search, tj_kernel *general, const tj_demands *demands) {
  tj_tile_search under = *search;
  under.domain = tj_assumed_domain(search->graph, search->flat->domain, demands);
  under.problem = tj_shape_problem_of(search->graph, search->flat, under.domain, search->target);
  tj_kernel *faster = tj_search_tiles(&under);
  if (faster != NULL)
    tj_offer_faster(search->graph, general, faster, demands, "vectors");
}

/* False where no tile is to be looked for. */
static bool begin(tj_tile_search *search, tj_graph *graph, const tj_kernel *flat, const tj_target *target) {
  *search = (tj_tile_search){.graph = graph,
                             .domain = flat->domain,
                             .target = target,
                             .flat = flat,
                             .fuel = graph->job->fuel,
                             .lies_as = TJ_DESTINATION,
                             .shared = TJ_NEW(graph->job, tj_coordinates)};
  if (search->domain == NULL || search->domain->count == 0 || search->domain->count > TJ_SHAPE_MOST_MODES)
    return false;
  search->layout = tj_domain_layout(graph, search->domain);
  search->problem = tj_shape_problem_of(graph, flat, search->domain, target);
  return is_mappable(search);
}

static void join_equals(tj_graph *graph, tj_kernel *flat) {
  if (tj_copies_equals(flat))
    flat->domain = tj_domain_of_equals(graph, flat->domain, flat->count);
}

static tj_kernel *map_gather(tj_graph *graph, tj_kernel *flat, const tj_target *target) {
  tj_kernel *kernel = tj_gather_widest(graph, flat, target);
  if (kernel->faster != NULL)
    kernel->faster->mapping = tj_mapping_of_flat(graph, kernel->faster);
  return kernel;
}

/* The coarse kernel under those that launches of whole vectors take; `flat` where there is none. */
static tj_kernel *map_others_coarsely(tj_graph *graph, tj_kernel *flat, const tj_target *target) {
  tj_kernel *faster = flat->faster;
  const tj_node *condition = flat->condition;
  tj_kernel *general = tj_map_coarsely(graph, flat, target);
  if (general == NULL)
    return flat;
  tj_kernel *coarse = general != flat ? general : flat->faster;
  coarse->faster = faster;
  coarse->condition = condition;
  return general;
}

tj_kernel *tj_map_copy(tj_graph *graph, tj_kernel *flat, const tj_target *target) {
  if (tj_is_gather(flat))
    return map_gather(graph, flat, target);
  join_equals(graph, flat);
  tj_kernel *blocked = target->block_bytes > 0 ? tj_map_on_host(graph, flat, target) : NULL;
  if (blocked != NULL)
    return blocked;
  tj_tile_search search;
  tj_flexible_service service = tj_offer_flexible(graph, flat, target, NULL);
  if (service != TJ_FLEXIBLE_SERVES_NONE)
    return service == TJ_FLEXIBLE_SERVES_MOST ? flat : map_others_coarsely(graph, flat, target);
  if (!begin(&search, graph, flat, target)) {
    tj_kernel *coarse = tj_map_coarsely(graph, flat, target);
    return coarse != NULL ? coarse : flat;
  }
  tj_demands demands = find_demands(&search);
  tj_kernel *tiled = demands.count == 0 ? tj_search_tiles(&search) : NULL;
  if (demands.count > 0)
    add_faster(&search, flat, &demands);
  if (tiled == NULL && flat->faster == NULL)
    tiled = tj_map_coarsely(graph, flat, target);
  return tiled != NULL ? tiled : flat;
}

/* --- given tiles --- */

/* What all work-items of a workgroup hold, in bytes. */
static int64_t most_held(const tj_shape_problem *problem) {
  int64_t slots = tj_least(problem->slot_limit, problem->slot_bytes / problem->carried_bytes);
  return tj_least(problem->tile_bytes, slots * problem->carried_bytes * problem->workgroup_limit);
}

/* Why there is no shape of a tile. */
_Noreturn static void fail_shape(const tj_tile_search *search, const tj_tuple *tile) {
  tj_job *job = search->graph->job;
  const tj_shape_problem *problem = &search->problem;
  int64_t bytes = problem->carried_bytes;
  for (uint32_t m = 0; m < problem->count; m++)
    bytes *= problem->tile[m];
  if (bytes > most_held(problem))
    tj_fail(job, TJ_TILE_SIZE,
            "a tile of %s takes %" PRId64 " bytes, of which work-items of a workgroup of %s hold at most %" PRId64
            " in registers",
            tj_tuple_text(job, tile), bytes, search->target->name, most_held(problem));
  tj_fail(job, TJ_TILE_SIZE,
          "a tile of %s takes %" PRId64 " bytes, which do not go through the %" PRIu32
          " bytes of LDS of a workgroup of %s in few equal passes",
          tj_tuple_text(job, tile), bytes, search->target->lds_bytes, search->target->name);
}

/* Why there is no mapping of a tile in which no vectors are moved. */
_Noreturn static void fail_vectors(const tj_tile_search *search, const tj_tuple *tile) {
  static const char *const name[] = {"source", "destination"};
  tj_job *job = search->graph->job;
  for (tj_side_name side = TJ_SOURCE; side < TJ_SIDES; side++) {
    uint32_t first = search->problem.order[side][0];
    if (search->problem.tile[first] % 2 != 0)
      tj_fail(job, TJ_MAPPING,
              "load= and store= are missing, which are chosen for vectors: a tile of %s has none of the %s, whose "
              "neighbours are along mode %" PRIu32,
              tj_tuple_text(job, tile), name[side], first);
  }
  tj_fail(job, TJ_MAPPING,
          "load= and store= are missing, which are chosen for vectors: of a tile of %s, the offsets show none",
          tj_tuple_text(job, tile));
}

_Noreturn static void fail_search(const tj_tile_search *search, const tj_tuple *tile) {
  tj_tile_shape shape;
  if (tj_choose_tile_shapes(&search->problem, &shape, 1) == 0)
    fail_shape(search, tile);
  fail_vectors(search, tile);
}

/* What tiles are chosen for: copies on GPUs, of extents that are known. */
static void check_chosen(tj_graph *graph, const tj_domain *domain, const tj_target *target) {
  if (target->block_bytes > 0)
    tj_fail(graph->job, TJ_MAPPING,
            "load= and store= are missing, which are chosen for given tiles on GPUs, not on %s", target->name);
  if (!tj_domain_is_known(domain))
    tj_fail(graph->job, TJ_MAPPING,
            "load= and store= are missing, which are chosen for given tiles where no extent depends on parameters");
}

static const int64_t *extents_of(tj_graph *graph, const tj_mapping *given) {
  uint32_t rank = tj_mapping_rank(given);
  int64_t *extent = TJ_NEW_ARRAY(graph->job, int64_t, rank);
  for (uint32_t m = 0; m < rank; m++)
    extent[m] = tj_mapping_extent(given, m);
  return extent;
}

const tj_mapping *tj_complete_mapping(tj_graph *graph, const tj_kernel *flat, const tj_domain *domain,
                                      const tj_target *target) {
  const tj_mapping *given = flat->mapped->mapping;
  tj_kernel *copy = TJ_NEW(graph->job, tj_kernel);
  *copy = *flat;
  copy->domain = domain;
  check_chosen(graph, domain, target);
  tj_tile_search search;
  if (!begin(&search, graph, copy, target))
    tj_fail(graph->job, TJ_MAPPING,
            "load= and store= are missing, which are chosen for vectors: source and destination have no neighbours "
            "along the domain's modes");
  search.layout = given->domain;
  search.problem.tile = extents_of(graph, given);
  const tj_shape_problem asked = search.problem; /* the search asks for less */
  const tj_kernel *kernel = tj_search_tiles(&search);
  if (kernel != NULL)
    return kernel->mapping;
  search.problem = asked;
  fail_search(&search, given->tile);
}

/* --- candidates --- */

uint32_t tj_list_candidates(tj_graph *graph, tj_kernel *flat, const tj_target *target, const tj_mapping *candidate[],
                            uint32_t most) {
  tj_tile_shape *shape = TJ_NEW_ARRAY(graph->job, tj_tile_shape, most);
  const tj_kernel *whole = tj_is_gather(flat) ? tj_gather_widest(graph, flat, target) : flat;
  const tj_mapping *alone = tj_mapping_of_flat(graph, whole);
  uint32_t shapes = 0, count = 0;
  tj_tile_search search;
  join_equals(graph, flat);
  if (begin(&search, graph, flat, target) && tj_search_tiles(&search) != NULL)
    shapes = tj_choose_tile_shapes(&search.problem, shape, most);
  for (uint32_t i = 0; i < shapes; i++) {
    tj_job_refuel(graph->job);
    search.fuel = graph->job->fuel;
    search.shape = shape[i];
    const tj_kernel *kernel = tj_search_shape(&search);
    if (kernel != NULL)
      candidate[count++] = kernel->mapping;
  }
  if (alone != NULL && count < most)
    candidate[count++] = alone;
  return count;
}
