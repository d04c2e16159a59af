/* SPDX-License-Identifier: MIT */
/* Flexible tiles: which copies have them, what of their domain the launch measures and demands, and which kernels
 * there are of each. */
#include "lower/flexible/flexible.h"

#include "base/integer.h"
#include "base/machine/processor.h"
#include "ir/index/facts.h"
#include "ir/layout/arith.h"
#include "ir/simplify/simplify.h"
#include "lower/flexible/flexible_maker.h"
#include "lower/kernel/variant.h"

#include <inttypes.h>

enum { MOST_STEPS = 256, LEAST_ALIGNMENT = 4 /* bytes, of vectors that are aligned at all */ };

/* --- domains --- */

static bool depends_on_parameters(const tj_domain *domain) {
  for (uint32_t m = 0; m < domain->count; m++) {
    const tj_mode *mode = &domain->mode[m];
    if (!tj_is_constant(mode->extent) || !tj_is_constant(mode->source_stride) ||
        !tj_is_constant(mode->destination_stride))
      return true;
  }
  return false;
}

static bool has_strides(const tj_domain *domain) {
  for (uint32_t m = 0; m < domain->count; m++) {
    for (uint32_t i = 0; i < TJ_OPERAND_OTHERS + domain->other_count; i++) {
      if (tj_domain_stride(domain, i, m) == NULL)
        return false;
    }
  }
  return true;
}

static tj_access access_of(tj_flexible *f, uint32_t side, const tj_node *const digit[]) {
  return tj_domain_at(f->graph, f->domain, side, tj_flexible_buffer(f, side), digit);
}

const tj_node *tj_flexible_stride(const tj_flexible *f, uint32_t mode, uint32_t side) {
  return tj_domain_stride(f->domain, side, mode);
}

/* Whether an offset at these digits is the origin and the sum of digits times strides. */
static bool is_sum(tj_flexible *f, uint32_t side, const tj_node *offset, const tj_node *origin,
                   const tj_node *const digit[]) {
  tj_graph *graph = f->graph;
  const tj_node *sum = origin;
  for (uint32_t m = 0; m < f->domain->count; m++)
    sum = tj_terse_add(graph, sum, tj_terse_mul(graph, digit[m], tj_flexible_stride(f, m, side)));
  offset = tj_simplified(graph, offset);
  sum = tj_simplified(graph, sum);
  return offset == sum || tj_prove_equal(graph, offset, sum);
}

/* The same of all elements, as far as they are valid, which bounds tell. */
static bool is_strided(tj_flexible *f, uint32_t side, const tj_node **origin) {
  tj_graph *graph = f->graph;
  const tj_node *digit[TJ_FLEXIBLE_MODES], *none[TJ_FLEXIBLE_MODES];
  for (uint32_t m = 0; m < f->domain->count; m++) {
    digit[m] = tj_coordinate(graph, "i", f->domain->mode[m].extent);
    none[m] = tj_int(graph, 0);
  }
  *origin = tj_simplified(graph, access_of(f, side, none).offset);
  if (side >= TJ_FLEXIBLE_FURTHER)
    return f->domain->other[side - TJ_FLEXIBLE_FURTHER].value->kind == TJ_VALUE_LAYOUT;
  if (tj_domain_has_own_strides(f->graph, f->domain, side == TJ_FLEXIBLE_SOURCE))
    return true;
  tj_access access = access_of(f, side, digit);
  return is_sum(f, side, access.offset, *origin, digit) && tj_flexible_bound(f, side, access.valid, digit);
}

/* The closest mode of a side that is not among `taken`. */
static uint32_t closest_mode(const tj_flexible *f, uint64_t taken, uint32_t side) {
  const uint32_t *order = f->order[side];
  uint32_t i = 0;
  while (i < f->domain->count && (taken >> order[i] & 1) != 0)
    i++;
  return i < f->domain->count ? order[i] : TJ_FLEXIBLE_NONE;
}

uint32_t tj_flexible_take_closest(const tj_flexible *f, uint64_t *taken, uint32_t side) {
  uint32_t mode = closest_mode(f, *taken, side);
  *taken |= tj_flexible_bit(mode);
  return mode;
}

static bool is_contiguous(const tj_flexible *f, uint32_t mode, uint32_t side) {
  return tj_is_int(tj_flexible_stride(f, mode, side), 1);
}

void tj_flexible_set_first(tj_flexible *f, uint32_t loaded, uint32_t stored) {
  f->turns = loaded != stored;
  for (uint32_t i = 0; i < TJ_TILE_AXES; i++)
    f->axis[i].mode = TJ_FLEXIBLE_NONE;
  f->axis[TJ_TILE_LOADED].mode = loaded;
  if (f->turns)
    f->axis[TJ_TILE_STORED].mode = stored;
}

static bool have_neighbours(const tj_flexible *f) {
  return is_contiguous(f, tj_flexible_first(f, TJ_FLEXIBLE_SOURCE), TJ_FLEXIBLE_SOURCE) &&
         is_contiguous(f, tj_flexible_first(f, TJ_FLEXIBLE_DESTINATION), TJ_FLEXIBLE_DESTINATION);
}

/* The first two modes of either side; further ones, in the destination's order, of tiles that do not turn around. */
static void choose_modes(tj_flexible *f) {
  tj_flexible_set_first(f, closest_mode(f, 0, TJ_FLEXIBLE_SOURCE), closest_mode(f, 0, TJ_FLEXIBLE_DESTINATION));
  uint64_t taken = 0;
  for (uint32_t i = 0; i < TJ_TILE_AXES; i++)
    taken |= tj_flexible_bit(f->axis[i].mode);
  f->axis[TJ_TILE_NEXT_LOADED].mode = tj_flexible_take_closest(f, &taken, TJ_FLEXIBLE_SOURCE);
  f->axis[TJ_TILE_NEXT_STORED].mode = tj_flexible_take_closest(f, &taken, TJ_FLEXIBLE_DESTINATION);
  for (uint32_t i = TJ_TILE_OTHER; i < TJ_TILE_AXES && !f->turns; i++)
    f->axis[i].mode = tj_flexible_take_closest(f, &taken, TJ_FLEXIBLE_DESTINATION);
}

/* Vectors of either side are as long as the other's, or of tiles that turn around not much longer. */
static void choose_widths(tj_flexible *f, bool is_single) {
  uint32_t *width = f->width, times = f->turns ? 2 : 1;
  for (uint32_t side = 0; side < TJ_FLEXIBLE_SIDES && f->given == NULL; side++)
    width[side] = is_single ? 1 : f->target->vector_bytes / tj_element_bytes(f->kernel, tj_flexible_buffer(f, side));
  width[TJ_FLEXIBLE_SOURCE] = tj_fewer(width[TJ_FLEXIBLE_SOURCE], times * width[TJ_FLEXIBLE_DESTINATION]);
  width[TJ_FLEXIBLE_DESTINATION] = tj_fewer(width[TJ_FLEXIBLE_DESTINATION], times * width[TJ_FLEXIBLE_SOURCE]);
}

static bool is_masked(const tj_kernel *flat) {
  return !tj_is_int(tj_flat_load(flat)->access.valid, 1) || !tj_is_int(tj_flat_store(flat)->access.valid, 1);
}

/* Whether waves have too few lanes for vectors that make whole cache lines of both sides. */
static bool has_small_waves(const tj_target *target) {
  uint32_t in_line = tj_cache_line_bytes(target->processor) / target->vector_bytes;
  return tj_flexible_lanes(target) < in_line * in_line;
}

static bool are_layouts(const tj_domain *domain) {
  return domain->source->value->kind == TJ_VALUE_LAYOUT && domain->destination->value->kind == TJ_VALUE_LAYOUT;
}

/* Whether the sides are layouts, or where waves are small views without masks, that have neighbours along the same
 * mode, and go on along different ones. */
static bool may_stage(const tj_flexible *f) {
  uint64_t first = tj_flexible_bit(f->axis[TJ_TILE_LOADED].mode);
  return !f->turns && f->axis[TJ_TILE_NEXT_STORED].mode != TJ_FLEXIBLE_NONE &&
         (are_layouts(f->domain) || (has_small_waves(f->target) && !is_masked(f->flat))) &&
         (f->given != NULL || closest_mode(f, first, TJ_FLEXIBLE_DESTINATION) != f->axis[TJ_TILE_NEXT_LOADED].mode);
}

/* Whether a mapping stores what it has not loaded. */
static bool stages(tj_graph *graph, const tj_mapping *given) {
  tj_mapping straight = *given;
  straight.store = straight.load;
  return !tj_mapping_is_same(graph, given, &straight);
}

/* What is further goes with the destination; but destinations that have neighbours as the source does take what is
 * loaded. */
static void choose_sides(tj_flexible *f) {
  for (uint32_t form = 0; form < tj_flexible_sides(f); form++) {
    bool is_straight = form >= TJ_FLEXIBLE_FURTHER && !tj_flexible_is_source(f, form) && f->turns &&
                       is_contiguous(f, f->axis[TJ_TILE_LOADED].mode, form);
    f->form[form].side = form == TJ_FLEXIBLE_SOURCE || is_straight ? TJ_FLEXIBLE_SOURCE : TJ_FLEXIBLE_DESTINATION;
  }
}

/* Modes of windows are short, and tiles need more of them; where nothing is bounded, there are none. */
static void leave_windows_out(tj_flexible *f) {
  for (uint32_t i = TJ_TILE_OTHER + 1; i < TJ_TILE_AXES; i++)
    f->axis[i].mode = TJ_FLEXIBLE_NONE;
}

/* --- kernels --- */

static tj_measure measured_stride(tj_flexible *f, const char *name, const tj_node *stride, const tj_node *extent) {
  tj_graph *graph = f->graph;
  tj_flexible_demand_between(f, stride, 0, TJ_FLEXIBLE_MOST_STRIDE);
  const tj_node *launch = tj_flexible_at_least(graph, tj_flexible_at_most(graph, stride, TJ_FLEXIBLE_MOST_STRIDE), 0);
  tj_flexible_demand_between(f, tj_terse_mul(graph, extent, launch), 0, TJ_FLEXIBLE_MOST_OFFSET);
  return tj_flexible_measure(f, name, launch, 0, TJ_FLEXIBLE_MOST_STRIDE, 1);
}

static void measure_modes(tj_flexible *f) {
  tj_graph *graph = f->graph;
  for (uint32_t m = 0; m < f->domain->count; m++) {
    const tj_mode *mode = &f->domain->mode[m];
    tj_flexible_demand_between(f, mode->extent, 1, TJ_FLEXIBLE_MOST_EXTENT);
    const tj_node *extent =
        tj_flexible_at_least(graph, tj_flexible_at_most(graph, mode->extent, TJ_FLEXIBLE_MOST_EXTENT), 1);
    f->mode[m].whole = 1;
    f->mode[m].extent = tj_flexible_measure(f, "extent", extent, 1, TJ_FLEXIBLE_MOST_EXTENT, 1);
    for (uint32_t side = 0; side < tj_flexible_sides(f); side++)
      f->mode[m].stride[side] = measured_stride(f, "step", tj_flexible_stride(f, m, side), extent);
  }
}

/* Where a predicate masks what is before the buffer, the domain may begin there. */
static tj_measure measured_origin(tj_flexible *f, uint32_t side, const tj_node *origin) {
  tj_graph *graph = f->graph;
  int64_t least = 0;
  for (uint32_t i = TJ_FLEXIBLE_BOUNDS; i < f->form_count; i++)
    least = f->form[i].side == side ? -TJ_FLEXIBLE_MOST_OFFSET : least;
  tj_flexible_demand_between(f, origin, least, TJ_FLEXIBLE_MOST_OFFSET);
  const tj_node *launch =
      tj_flexible_at_least(graph, tj_flexible_at_most(graph, origin, TJ_FLEXIBLE_MOST_OFFSET), least);
  return tj_flexible_measure(f, "origin", launch, least, TJ_FLEXIBLE_MOST_OFFSET, 1);
}

/* What makes all vectors of a side begin at multiples: tiles, and the vectors in them, begin at multiples along its
 * first mode where this is as long as one. */
static void demand_multiples(tj_flexible *f, uint32_t side, const tj_node *origin) {
  uint32_t first = tj_flexible_first(f, f->form[side].side);
  if (!tj_is_int(tj_flexible_stride(f, first, side), 1))
    return;
  tj_flexible_demand_multiple(f, f->domain->mode[first].extent, f->multiple[side]);
  tj_flexible_demand_multiple(f, origin, f->multiple[side]);
  for (uint32_t m = 0; m < f->domain->count; m++) {
    if (m != first)
      tj_flexible_demand_multiple(f, tj_flexible_stride(f, m, side), f->multiple[side]);
  }
}

/* What a flexible kernel is asked to be. */
typedef struct {
  const tj_mapping *given; /* NULL: any */
  uint32_t bytes;          /* the alignment of vectors; 0: any */
  tj_flexible_way way;
} wanted;

static const char *const way_name[] = {
    [TJ_FLEXIBLE_VECTORS] = "vectors", [TJ_FLEXIBLE_ELEMENTS] = "elements", [TJ_FLEXIBLE_STAGED] = "staged",
    [TJ_FLEXIBLE_SCALARS] = "scalars", [TJ_FLEXIBLE_OFFSETS] = "offsets",   [TJ_FLEXIBLE_LANES] = "lanes"};

static tj_kernel *new_kernel(tj_flexible *f, const tj_kernel *flat, const wanted *w) {
  tj_graph *graph = f->graph;
  tj_kernel *kernel = TJ_NEW(graph->job, tj_kernel);
  *kernel = *flat;
  const char *form = way_name[w->way];
  kernel->name = w->bytes == 0 ? tj_string_format(graph->job, "%s.%s", flat->name, form)
                               : tj_string_format(graph->job, "%s.%s.%" PRIu32, flat->name, form, w->bytes);
  kernel->is_aligned = w->bytes > 0;
  kernel->faster = NULL;
  kernel->index = NULL;
  kernel->workgroup = tj_coordinate(graph, "g", tj_int(graph, TJ_FLEXIBLE_MOST_WORKGROUPS));
  kernel->step_count = 0;
  return kernel;
}

void tj_flexible_set_items(tj_flexible *f, uint32_t items) {
  f->items = items;
  f->kernel->item = tj_coordinate(f->graph, "t", tj_int(f->graph, items));
  f->kernel->workgroup_size = items;
}

static void add_steps(tj_flexible *f, void (*add)(void *shape), void *shape) {
  size_t slots = f->kernel->slot_count, further = f->domain->other_count * slots;
  f->kernel->step = TJ_NEW_ARRAY(f->graph->job, tj_kernel_step, MOST_STEPS + slots + further);
  f->kernel->step_count = 0;
  add(shape);
}

/* Tiles where all bounds hold have steps of their own. */
static void add_all_steps(tj_flexible *f, void (*add)(void *shape), void *shape) {
  tj_kernel *kernel = f->kernel;
  const tj_node *inner = tj_flexible_is_inner(f);
  f->is_inner = true;
  add_steps(f, add, shape);
  if (tj_is_constant(inner))
    return;
  kernel->inner = inner;
  kernel->inner_step = kernel->step;
  kernel->inner_step_count = kernel->step_count;
  f->is_inner = false;
  add_steps(f, add, shape);
}

static uint32_t multiple_of(const tj_flexible *f, uint32_t buffer, uint32_t bytes) {
  uint32_t element = tj_element_bytes(f->kernel, buffer);
  return bytes > element ? bytes / element : 1;
}

/* Vectors of what is further begin where those of its side do. */
static void set_multiples(tj_flexible *f, uint32_t bytes) {
  for (uint32_t form = 0; form < tj_flexible_sides(f); form++) {
    uint32_t own = multiple_of(f, tj_flexible_buffer(f, form), bytes), with = f->multiple[f->form[form].side];
    f->multiple[form] = form >= TJ_FLEXIBLE_FURTHER && own > with ? with : own;
  }
}

static void begin(tj_flexible *f, const wanted *w) {
  f->source = tj_flat_load(f->flat)->access.buffer;
  f->destination = tj_flat_store(f->flat)->access.buffer;
  f->kernel = new_kernel(f, f->flat, w);
  tj_flexible_set_items(f, TJ_FLEXIBLE_ITEMS);
  tj_domain_sort(f->graph, f->domain, true, f->order[TJ_FLEXIBLE_SOURCE]);
  tj_domain_sort(f->graph, f->domain, false, f->order[TJ_FLEXIBLE_DESTINATION]);
  if (f->given != NULL)
    tj_flexible_read_given(f);
  else
    choose_modes(f);
  choose_widths(f, w->way == TJ_FLEXIBLE_ELEMENTS);
}

/* False where an operand is no sum of digits and strides. */
static bool measure_operands(tj_flexible *f, const wanted *w, const tj_node *origin[]) {
  choose_sides(f);
  set_multiples(f, w->bytes);
  measure_modes(f);
  for (uint32_t side = 0; side < tj_flexible_sides(f); side++) {
    if (!is_strided(f, side, &origin[side]))
      return false;
    demand_multiples(f, side, origin[side]);
  }
  return true;
}

static void add_way(tj_flexible *f, tj_flexible_way way) {
  if (f->turns)
    add_all_steps(f, tj_flexible_turn_steps, tj_flexible_turn_shape(f));
  else if (way == TJ_FLEXIBLE_STAGED)
    add_all_steps(f, tj_flexible_staged_steps, tj_flexible_staged_shape(f));
  else if (way == TJ_FLEXIBLE_VECTORS)
    add_all_steps(f, tj_flexible_straight_steps, tj_flexible_straight_shape(f));
  else
    add_steps(f, tj_flexible_straight_steps, tj_flexible_scalar_shape(f, way));
}

/* What a given mapping says of the way, before operands are measured. */
static tj_flexible_way way_of_sides(const tj_flexible *f, const wanted *w) {
  bool is_staged = w->way == TJ_FLEXIBLE_VECTORS && w->given != NULL && !f->turns && stages(f->graph, w->given);
  return is_staged ? TJ_FLEXIBLE_STAGED : w->way;
}

/* The same, with what they are bounded by. */
static tj_flexible_way way_of_bounds(const tj_flexible *f, tj_flexible_way way) {
  return way == TJ_FLEXIBLE_VECTORS && f->given != NULL && !f->turns ? tj_flexible_way_of_given(f) : way;
}

/* Whether tiles may go this way, as far as their modes tell. */
static bool may_begin(const tj_flexible *f, tj_flexible_way way) {
  if (way == TJ_FLEXIBLE_STAGED)
    return may_stage(f);
  return way == TJ_FLEXIBLE_VECTORS || f->turns == (way == TJ_FLEXIBLE_ELEMENTS);
}

/* The same, with all operands measured. */
static bool may_go(tj_flexible *f, tj_flexible_way way) {
  bool is_scalar = way == TJ_FLEXIBLE_SCALARS || way == TJ_FLEXIBLE_OFFSETS || way == TJ_FLEXIBLE_LANES;
  bool is_other =
      way == TJ_FLEXIBLE_OFFSETS && f->given != NULL && tj_flexible_way_of_given(f) != TJ_FLEXIBLE_SCALARS;
  return !is_scalar || (!is_other && tj_flexible_may_have_scalars(f, way));
}

typedef struct {
  tj_kernel *kernel; /* NULL: there is none */
  const tj_node *condition;
  bool cuts_vectors; /* bounds are along vectors, which the condition has to keep whole */
} flexible_offer;

/* The kernel that is asked for. */
static flexible_offer make_flexible(tj_graph *graph, const tj_kernel *flat, const tj_target *target,
                                    const wanted *w) {
  const flexible_offer none = {.kernel = NULL};
  const tj_mapping *given = w->given;
  tj_flexible f = {.graph = graph,
                   .target = target,
                   .domain = flat->domain,
                   .given = given,
                   .flat = flat,
                   .condition = tj_int(graph, 1),
                   .gate = tj_int(graph, 1),
                   .form_count = TJ_FLEXIBLE_BOUNDS};
  begin(&f, w);
  tj_flexible_way way = way_of_sides(&f, w);
  const tj_node *origin[TJ_FLEXIBLE_BOUNDS];
  if (!have_neighbours(&f) || !may_begin(&f, way) || !measure_operands(&f, w, origin))
    return none;
  way = way_of_bounds(&f, way);
  if (!may_go(&f, way))
    return none;
  if (f.form_count == TJ_FLEXIBLE_BOUNDS && given == NULL)
    leave_windows_out(&f);
  tj_flexible_set_reaches(&f);
  for (uint32_t side = 0; side < tj_flexible_sides(&f); side++)
    f.form[side].base = measured_origin(&f, side, origin[side]).name;
  add_way(&f, way);
  bool is_none = tj_is_int(f.condition, 0) || !tj_kernel_fits(graph, f.kernel);
  return is_none ? none : (flexible_offer){f.kernel, f.condition, f.cuts_vectors};
}

/* Has a launch take a kernel in the place of `kernel` under its condition; false where it does not fit. */
static bool offers(tj_graph *graph, const tj_kernel *flat, tj_kernel *kernel, const flexible_offer *offer) {
  if (offer->kernel == NULL || !tj_kernel_words_fit(graph, flat, offer->kernel))
    return false;
  offer->kernel->faster = kernel->faster;
  offer->kernel->condition = kernel->condition;
  kernel->faster = offer->kernel;
  kernel->condition = offer->condition;
  return true;
}

/* The kernel that is asked for, which a launch takes in the place of `kernel` under its condition; or else `kernel`.
 */
static tj_kernel *offered(tj_graph *graph, const tj_kernel *flat, const tj_target *target, const wanted *w,
                          tj_kernel *kernel) {
  const flexible_offer offer = make_flexible(graph, flat, target, w);
  return offers(graph, flat, kernel, &offer) ? offer.kernel : kernel;
}

/* Offers kernels whose vectors are aligned to parts of themselves, then to the whole. */
static tj_kernel *offer_aligned(tj_graph *graph, const tj_kernel *flat, const tj_target *target, wanted w,
                                tj_kernel *flexible) {
  uint32_t source = tj_element_bytes(flat, tj_flat_load(flat)->access.buffer);
  uint32_t destination = tj_element_bytes(flat, tj_flat_store(flat)->access.buffer);
  for (w.bytes = LEAST_ALIGNMENT; w.bytes <= target->vector_bytes; w.bytes *= 2) {
    if (w.bytes > source || w.bytes > destination)
      flexible = offered(graph, flat, target, &w, flexible);
  }
  return flexible;
}

static bool may_serve(const tj_domain *domain, const tj_target *target) {
  return domain != NULL && domain->other_count <= TJ_FLEXIBLE_BOUNDS - TJ_FLEXIBLE_FURTHER && domain->count > 0 &&
         domain->count <= TJ_FLEXIBLE_MODES && target->wave_size > 1 &&
         target->workgroup_limit >= TJ_FLEXIBLE_ITEMS && has_strides(domain);
}

/* The kernel that is asked for, of the domain, or of one whose modes masks may tell apart, which is the flat kernel's
 * domain then. */
static flexible_offer make_merged(tj_graph *graph, tj_kernel *flat, const tj_target *target, const wanted *w) {
  const tj_domain *merged = flat->domain;
  flexible_offer offer = make_flexible(graph, flat, target, w);
  uint32_t leaves = 0;
  for (uint32_t m = 0; m < merged->count; m++)
    leaves += merged->mode[m].leaf_count;
  if (offer.kernel != NULL || w->given != NULL || leaves == merged->count || !is_masked(flat))
    return offer;
  tj_domain *unmerged = TJ_NEW(graph->job, tj_domain);
  *unmerged = tj_domain_unmerged(graph, merged);
  flat->domain = unmerged;
  if (may_serve(unmerged, target))
    offer = make_flexible(graph, flat, target, w);
  if (offer.kernel == NULL)
    flat->domain = merged;
  return offer;
}

/* Elements that turn around one by one, for launches that masks keep from vectors. */
static flexible_offer make_elements(tj_graph *graph, tj_kernel *flat, const tj_target *target, const wanted *w,
                                    const flexible_offer *vectors) {
  bool may_fail = vectors->kernel == NULL || vectors->cuts_vectors;
  return may_fail && w->given == NULL && is_masked(flat)
             ? make_merged(graph, flat, target, &(wanted){.way = TJ_FLEXIBLE_ELEMENTS})
             : (flexible_offer){.kernel = NULL};
}

tj_flexible_service tj_offer_flexible(tj_graph *graph, tj_kernel *flat, const tj_target *target,
                                      const tj_mapping *given) {
  if (!may_serve(flat->domain, target) || (given == NULL && !depends_on_parameters(flat->domain)))
    return TJ_FLEXIBLE_SERVES_NONE;
  const wanted w = {.given = given};
  const flexible_offer vectors = make_merged(graph, flat, target, &w),
                       elements = make_elements(graph, flat, target, &w, &vectors);
  bool has_vectors = offers(graph, flat, flat, &vectors), has_elements = offers(graph, flat, flat, &elements);
  if (!has_vectors)
    return has_elements ? TJ_FLEXIBLE_SERVES_MOST : TJ_FLEXIBLE_SERVES_NONE;
  tj_kernel *flexible = vectors.kernel;
  if (target->needs_aligned_vectors)
    flexible = offer_aligned(graph, flat, target, w, flexible);
  const uint32_t bytes = target->needs_aligned_vectors ? target->vector_bytes : 0;
  for (tj_flexible_way way = TJ_FLEXIBLE_SCALARS; way < TJ_FLEXIBLE_WAYS; way++) {
    if (given == NULL || way == TJ_FLEXIBLE_OFFSETS)
      flexible = offered(graph, flat, target, &(wanted){.given = given, .bytes = bytes, .way = way}, flexible);
  }
  return vectors.cuts_vectors && !has_elements ? TJ_FLEXIBLE_SERVES_WHOLE_VECTORS : TJ_FLEXIBLE_SERVES_MOST;
}
