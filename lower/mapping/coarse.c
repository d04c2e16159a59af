/* SPDX-License-Identifier: MIT */
/* Tiles of one mode, that of a flat copy's linear coordinate. */
#include "lower/mapping/coarse.h"

#include "lower/kernel/domain.h"
#include "lower/kernel/variant.h"
#include "lower/mapping/flat_mapping.h"
#include "lower/mapping/mapped.h"

enum { SLOTS = 4 };

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
  bool is_known = tj_is_constant(flat->count) && flat->count->value >= tile_of(flat);
  return is_copy && is_known && target->resource != NULL &&
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

tj_kernel *tj_map_coarsely(tj_graph *graph, const tj_kernel *flat, const tj_target *target) {
  static const tj_substitution nothing;
  if (!is_worth_it(flat, target))
    return NULL;
  tj_mapped mapped = {.domain = linear_domain(graph, flat), .mapping = mapping_of(graph, flat)};
  if (mapped.domain->count != 1)
    return NULL;
  tj_kernel *kernel = tj_tile_as_mapped(graph, flat, &mapped, &nothing, target);
  return kernel != NULL && tj_kernel_fits(graph, kernel) ? kernel : NULL;
}
