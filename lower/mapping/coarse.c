/* SPDX-License-Identifier: MIT */
/* Tiles of one mode, that of a flat copy's linear coordinate. */
#include "lower/mapping/coarse.h"

#include "base/text.h"
#include "ir/simplify/simplify.h"
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
  static const tj_substitution nothing;
  tj_mapped mapped = {.domain = domain, .mapping = mapping_of(graph, flat)};
  tj_kernel *kernel = tj_tile_as_mapped(graph, flat, &mapped, &nothing, target);
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

/* What launches take that have as many elements as a tile. */
static tj_kernel *offered(tj_graph *graph, tj_kernel *flat, const tj_domain *domain, const tj_target *target) {
  const tj_domain *of = long_domain(graph, domain, tile_of(flat));
  tj_kernel *kernel = tiled(graph, flat, of, target);
  if (kernel == NULL)
    return NULL;
  bind_extent(graph, kernel, of->mode[0].extent, flat->count);
  kernel->name = tj_string_format(graph->job, "%s.coarse", flat->name);
  flat->faster = kernel;
  flat->condition = tj_simplified(graph, tj_less_equal(graph, tj_int(graph, tile_of(flat)), flat->count));
  return flat;
}

tj_kernel *tj_map_coarsely(tj_graph *graph, tj_kernel *flat, const tj_target *target) {
  if (!is_worth_it(flat, target))
    return NULL;
  const tj_domain *domain = linear_domain(graph, flat);
  if (domain->count != 1)
    return NULL;
  bool is_long = flat->count->facts.low >= tile_of(flat);
  return is_long ? tiled(graph, flat, domain, target) : offered(graph, flat, domain, target);
}
