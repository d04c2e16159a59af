/* SPDX-License-Identifier: MIT */
/* From a tiling to steps: offsets and predicates of every element, vectors where these show neighbours, LDS between
 * two sides that differ. */
#include "lower/tile/tiling.h"

#include "base/text.h"
#include "ir/index/facts.h"
#include "ir/index/walk.h"
#include "ir/layout/arith.h"
#include "ir/simplify/simplify.h"
#include "ir/value/mapping.h"
#include "lower/kernel/arithmetic.h"
#include "lower/kernel/displace.h"
#include "lower/kernel/kernel_expressions.h"
#include "lower/kernel/repeats.h"
#include "lower/kernel/variant.h"
#include "lower/lds/direct.h"
#include "lower/shape/tile_order.h"
#include "lower/tile/box_side.h"
#include "lower/tile/lds_transit.h"
#include "lower/tile/tile_edge.h"

#include <inttypes.h>

typedef struct {
  tj_graph *graph;
  const tj_tiling *tiling;
  const tj_target *target;
  const tj_kernel *flat;
  tj_kernel *kernel;
  const tj_node **base;       /* of the tile, by mode */
  const tj_node **coordinate; /* symbols of the domain's modes, */
  tj_access *any;             /* and what is there, by operand */
  tj_side *side;              /* by operand */
  tj_staging staging;         /* with `is_staged` */
  tj_boxes *boxes;            /* by pass, with tiling->by_dma */
  tj_boxes taken;             /* with tiling->dma_stores */
  uint32_t *brought;          /* by pass: how many steps bring its part straight into LDS */
  bool is_inner;              /* steps are for tiles that are all inside the domain */
  tj_kernel_step *step;
  uint32_t step_count;
} tile_maker;

static uint32_t mode_count(const tile_maker *maker) {
  return maker->tiling->domain->count;
}

/* --- tiles --- */

/* A symbol for where a tile begins along a mode, of which all expressions are made. */
static const tj_node *bind_base(tile_maker *maker, uint32_t mode, const tj_node *tile) {
  tj_graph *graph = maker->graph;
  const tj_tile_base begin = tj_tile_base_of(graph, maker->tiling, mode, tile);
  if (tj_is_constant(begin.value))
    return begin.value;
  const char *name = tj_string_format(graph->job, "b%" PRIu32, mode);
  const tj_node *symbol = tj_coordinate_among(graph, maker->tiling->shared, name, tj_int(graph, 0),
                                              tj_simplified(graph, begin.last), begin.multiple);
  maker->kernel->binding[maker->kernel->binding_count++] =
      (tj_kernel_binding){.symbol = symbol, .value = begin.value};
  return symbol;
}

/* Where the tile of a workgroup begins. */
static void place_tile(tile_maker *maker) {
  tj_graph *graph = maker->graph;
  uint32_t count = mode_count(maker);
  const tj_node **reach = TJ_NEW_ARRAY(graph->job, const tj_node *, count + 1);
  for (uint32_t m = 0; m < count; m++)
    reach[m] = tj_int(graph, tj_tile_extent(maker->tiling, m));
  const tj_tiles tiles = tj_tiles_of(graph, maker->tiling->domain, reach);
  maker->kernel->count = tj_mul(graph, tiles.count, tj_int(graph, maker->tiling->workgroup_size));
  const tj_node *last = tj_add(graph, tiles.count, tj_int(graph, -1));
  maker->kernel->workgroup = tj_coordinate_among(graph, maker->tiling->shared, "g", tj_int(graph, 0), last, 1);
  maker->kernel->binding = TJ_NEW_ARRAY(graph->job, tj_kernel_binding, count + 1);
  maker->base = TJ_NEW_ARRAY(graph->job, const tj_node *, count + 1);
  const tj_tiling *tiling = maker->tiling;
  const tj_node *const *place =
      tj_mapping_tile(graph, tiling->mapping, tiles.along, tiling->domain->assumed, maker->kernel->workgroup);
  for (uint32_t m = count; m-- > 0;)
    maker->base[m] = bind_base(maker, m, place[m]);
}

/* --- elements --- */

/* Whether an element of the tile is beyond the domain in every tile. */
static bool is_nowhere(const tile_maker *maker, const tj_node *const digit[]) {
  for (uint32_t m = 0; m < mode_count(maker); m++) {
    if (digit[m]->facts.low >= maker->tiling->domain->mode[m].extent->facts.high)
      return true;
  }
  return false;
}

static uint32_t operand_count(const tile_maker *maker) {
  return TJ_OPERAND_OTHERS + maker->tiling->domain->other_count;
}

/* Whether a further destination takes elements as they are loaded, before they turn around. */
static bool is_straight(const tile_maker *maker, uint32_t operand) {
  bool turns = maker->tiling->is_staged || maker->tiling->exchange != NULL;
  return turns && operand >= TJ_OPERAND_OTHERS && !tj_is_source(maker->kernel, operand) &&
         tj_domain_other_is_straight(maker->tiling->domain, operand - TJ_OPERAND_OTHERS);
}

/* Whether an operand has the slots of the load side. */
static bool is_loaded(const tile_maker *maker, uint32_t operand) {
  return operand == TJ_OPERAND_SOURCE || is_straight(maker, operand);
}

static const tj_tile_side *tile_of(const tile_maker *maker, uint32_t operand) {
  return is_loaded(maker, operand) ? &maker->tiling->load : &maker->tiling->store;
}

/* What is at any coordinate of the domain: simplified before tiles take coordinates apart, where modes of several
 * leaves are still whole. Coordinates beyond the domain, where nothing moves, may have other offsets than views say.
 */
static void find_accesses(tile_maker *maker) {
  tj_graph *graph = maker->graph;
  const tj_tiling *tiling = maker->tiling;
  maker->coordinate = tj_coordinates_of_domain(graph, tiling->shared, tiling->domain);
  maker->any = TJ_NEW_ARRAY(graph->job, tj_access, operand_count(maker));
  for (uint32_t i = 0; i < operand_count(maker); i++) {
    tj_access *any = &maker->any[i];
    *any = tj_domain_at(graph, tiling->domain, i, tj_flat_buffer(maker->flat, i), maker->coordinate);
    any->offset = tj_simplified(graph, any->offset);
    any->valid = tj_simplified(graph, any->valid);
  }
}

/* What `any` is at digits. */
static tj_access access_at(tile_maker *maker, const tj_access *any, const tj_node *const digit[]) {
  const tj_substitution placed = {maker->coordinate, (const tj_node **)digit, mode_count(maker)};
  tj_access access = *any;
  const tj_node *part[] = {access.offset, access.valid};
  tj_substitute(maker->graph, &placed, part, 2);
  access.offset = part[0];
  access.valid = part[1];
  return access;
}

static void make_elements(tile_maker *maker, tj_side *s, const tj_tile_side *tile, const tj_access *any) {
  tj_graph *graph = maker->graph;
  const tj_access nowhere = {.buffer = any->buffer, .offset = tj_int(graph, 0), .valid = tj_int(graph, 0)};
  size_t modes = mode_count(maker), count = tile->slot_count * modes;
  const tj_node **digits = TJ_NEW_ARRAY(graph->job, const tj_node *, count + 1);
  for (size_t i = 0; i < count; i++)
    digits[i] = tj_tile_coordinate(graph, maker->tiling, (uint32_t)(i % modes), maker->base[i % modes],
                                   tile->digit[i / modes][i % modes]);
  tj_simplify(graph, digits, count, NULL);
  s->tile = tile;
  s->edges = tj_tile_edges(maker->tiling);
  s->element = TJ_NEW_ARRAY(graph->job, tj_tile_element, tile->slot_count);
  for (uint32_t slot = 0; slot < tile->slot_count; slot++) {
    const tj_node **digit = digits + slot * modes;
    s->element[slot].digit = digit;
    s->element[slot].access = is_nowhere(maker, digit) ? nowhere : access_at(maker, any, digit);
  }
}

/* Whether an expression depends on where the tile is. */
static bool depends_on_tile(const tile_maker *maker, const tj_node *node) {
  tj_walk walk = tj_walk_briefly(maker->graph, &node, 1);
  for (uint32_t i = 0; i < walk.count; i++) {
    for (uint32_t k = 0; k < maker->kernel->binding_count; k++) {
      if (walk.node[i] == maker->kernel->binding[k].symbol)
        return true;
    }
  }
  return false;
}

enum { MOST_BYTES = 16 }; /* of an element */

static bool fits_32_bits(const tj_node *offset) {
  return offset->facts.low >= 0 && offset->facts.high <= UINT32_MAX / MOST_BYTES;
}

/* Whether machines add every offset to an address for nothing as it is. */
static bool are_small(const tj_side *s) {
  for (uint32_t slot = 0; slot < s->tile->slot_count; slot++) {
    if (!fits_32_bits(s->element[slot].access.offset))
      return false;
  }
  return true;
}

/* Whether what is left of the offsets without the base is small, and does not depend on the tile. */
static bool is_shareable(tile_maker *maker, const tj_node *const rest[], uint32_t slots) {
  for (uint32_t slot = 0; slot < slots; slot++) {
    if (!fits_32_bits(rest[slot]) || depends_on_tile(maker, rest[slot]))
      return false;
  }
  return true;
}

/* Takes the base, which all elements of a tile share, out of their offsets, where these are large and it comes out.
 */
static void share_base(tile_maker *maker, tj_side *s, const tj_node *base) {
  tj_graph *graph = maker->graph;
  uint32_t slots = s->tile->slot_count;
  const tj_node **rest = TJ_NEW_ARRAY(graph->job, const tj_node *, slots);
  if (are_small(s))
    return;
  base = tj_simplified(graph, base);
  for (uint32_t slot = 0; slot < slots; slot++)
    rest[slot] = tj_sub(graph, s->element[slot].access.offset, base);
  tj_simplify(graph, rest, slots, NULL);
  if (!is_shareable(maker, rest, slots))
    return;
  for (uint32_t slot = 0; slot < slots; slot++) {
    s->element[slot].access.base = base;
    s->element[slot].access.offset = rest[slot];
  }
}

static void simplify_side(tile_maker *maker, tj_side *s, const tj_node *base) {
  uint32_t slots = s->tile->slot_count;
  const tj_node **root = TJ_NEW_ARRAY(maker->graph->job, const tj_node *, 2 * (size_t)slots);
  for (uint32_t slot = 0; slot < slots; slot++) {
    root[slot] = s->element[slot].access.offset;
    root[slots + slot] = s->element[slot].access.valid;
  }
  tj_simplify(maker->graph, root, 2 * (size_t)slots, NULL);
  for (uint32_t slot = 0; slot < slots; slot++) {
    s->element[slot].access.offset = root[slot];
    s->element[slot].access.valid = root[slots + slot];
  }
  share_base(maker, s, base);
}

static uint32_t bytes_of(const tile_maker *maker, uint32_t buffer) {
  return tj_dtype_bits(buffer == TJ_LDS ? maker->kernel->carried : maker->kernel->buffer[buffer].dtype) / 8;
}

static void make_side(tile_maker *maker, uint32_t operand) {
  tj_side *s = &maker->side[operand];
  const tj_access *any = &maker->any[operand];
  make_elements(maker, s, tile_of(maker, operand), any);
  simplify_side(maker, s, access_at(maker, any, maker->base).offset);
}

/* How wide vectors of an operand may be, which stay in the passes that their slots go in: what goes straight into
 * LDS, as wide as its places have been found to be. */
static uint32_t widest_of(const tile_maker *maker, uint32_t operand) {
  bool is_direct = operand == TJ_OPERAND_SOURCE && maker->tiling->direct > 0;
  uint32_t widest = tj_target_widest(maker->target, bytes_of(maker, tj_flat_buffer(maker->flat, operand)));
  uint32_t slots = tile_of(maker, operand)->slot_count / (is_loaded(maker, operand) ? 1 : maker->tiling->passes);
  widest = is_direct ? maker->tiling->direct : widest;
  while (slots % widest != 0)
    widest /= 2;
  return widest;
}

static void choose_vectors(tile_maker *maker, uint32_t operand) {
  tj_side_choose_vectors(maker->graph, maker->tiling->domain, &maker->side[operand], widest_of(maker, operand),
                         maker->target->has_unaligned_vectors ? TJ_ANYWHERE : TJ_ALIGNED);
}

/* --- steps --- */

static tj_kernel_step *add_step(tile_maker *maker, tj_step_kind kind) {
  tj_kernel_step *step = &maker->step[maker->step_count++];
  *step = (tj_kernel_step){.kind = kind};
  return step;
}

/* With the constant of its offset as a displacement, where instructions have room for it. */
static tj_access displaced(const tile_maker *maker, tj_access access) {
  tj_displaced parts = tj_displace(maker->graph, access.offset);
  uint32_t limit = access.buffer == TJ_LDS ? UINT32_MAX : maker->target->displacement_limit;
  if (parts.displacement < limit / bytes_of(maker, access.buffer)) {
    access.offset = parts.rest;
    access.displacement = parts.displacement;
  }
  return access;
}

/* A vector of the slots order[0 … width-1], which the kernel numbers from `first` on. */
static tj_kernel_step *add_vector(tile_maker *maker, tj_step_kind kind, tj_access access, const uint32_t order[],
                                  uint32_t width, uint32_t first) {
  tj_kernel_step *step = add_step(maker, kind);
  step->access = displaced(maker, access);
  step->width = width;
  step->slot = first + order[0];
  step->slot_step = width > 1 ? order[1] - order[0] : 1;
  return step;
}

/* Where the element of a slot is in its view, and, unless the whole tile is, in the domain. */
static const tj_node *predicate_of(tile_maker *maker, const tj_side *s, uint32_t slot) {
  tj_graph *graph = maker->graph;
  const tj_tile_element *e = &s->element[slot];
  const tj_node *truth = tj_side_active(graph, s, slot);
  for (uint32_t m = 0; m < mode_count(maker) && !maker->is_inner; m++) {
    if (tj_tile_has_edge(maker->tiling, m))
      truth = tj_terse_both(graph, truth, tj_less(graph, e->digit[m], maker->tiling->domain->mode[m].extent));
  }
  return tj_terse_both(graph, truth, e->access.valid);
}

/* Slots of a side, those from order[begin] to before order[end], and the kernel's number of slot 0. */
typedef struct {
  uint32_t begin, end, first;
} slot_share;

static slot_share all_slots(const tj_side *s) {
  return (slot_share){0, s->tile->slot_count, 0};
}

static void add_side(tile_maker *maker, const tj_side *s, tj_step_kind kind, slot_share share) {
  for (uint32_t i = share.begin; i < share.end; i += s->width) {
    tj_access access = s->element[s->order[i]].access;
    access.valid = predicate_of(maker, s, s->order[i]);
    add_vector(maker, kind, access, s->order + i, s->width, share.first);
  }
}

/* --- staging --- */

/* Leaves out what no work-item moves. */
static void add_staged(tile_maker *maker, const tj_side *s, tj_step_kind kind, slot_share share) {
  for (uint32_t i = share.begin; i < share.end; i += s->width) {
    tj_access access = s->element[s->order[i]].access;
    if (!tj_is_int(access.valid, 0))
      add_vector(maker, kind, access, s->order + i, s->width, share.first);
  }
}

/* Whether nothing of the tile waits in registers for its way through LDS. */
static bool goes_straight(const tj_tiling *tiling) {
  return tiling->direct > 0 || tiling->by_dma;
}

/* Where in LDS the part of a pass is, among those that are there at a time. */
static uint32_t buffer_of_pass(const tile_maker *maker, uint32_t pass) {
  return pass % tj_mapping_lds_parts(maker->tiling->mapping, maker->tiling->passes);
}

/* What goes straight into LDS, where the source has it. */
static void add_direct(tile_maker *maker, uint32_t pass) {
  const tj_side *from = &maker->side[TJ_OPERAND_SOURCE], *to = &maker->staging.in[pass];
  for (uint32_t i = 0; i < from->tile->slot_count; i += to->width) {
    uint32_t slot = from->order[i];
    tj_access access = to->element[slot].access;
    access.valid = tj_terse_both(maker->graph, access.valid, predicate_of(maker, from, slot));
    if (tj_is_int(access.valid, 0))
      continue;
    tj_kernel_step *step = add_vector(maker, TJ_STEP_DIRECT, access, from->order + i, to->width, 0);
    step->from = displaced(maker, from->element[slot].access);
    step->number = buffer_of_pass(maker, pass);
  }
}

/* What an engine brings into LDS, or takes out of it. */
static void add_boxes(tile_maker *maker, const tj_boxes *boxes, bool is_taken) {
  uint32_t operand = is_taken ? TJ_OPERAND_DESTINATION : TJ_OPERAND_SOURCE;
  for (uint32_t i = 0; i < boxes->count; i++) {
    tj_kernel_step *step = add_step(maker, TJ_STEP_BOX);
    step->access.buffer = tj_flat_buffer(maker->flat, operand);
    step->is_taken = is_taken;
    step->word_count = boxes->word_count;
    step->word = tj_arena_copy(&maker->graph->job->arena, boxes->word[i], step->word_count * sizeof *step->word);
    step->number = i;
  }
}

/* Loads that transpose give slots what their store side has. */
static void add_fetched(tile_maker *maker, uint32_t buffer, slot_share share) {
  uint32_t first = maker->step_count;
  add_staged(maker, &maker->staging.out, TJ_STEP_LOAD, share);
  for (uint32_t i = first; i < maker->step_count; i++) {
    maker->step[i].transposes = maker->staging.transposes;
    maker->step[i].number = buffer;
  }
}

/* What of the store side goes in one pass. While others wait to go, its slots are not theirs; and those of the pass
 * before are free again. Numbers below zero wrap around. */
static slot_share share_of_pass(const tile_maker *maker, uint32_t pass) {
  uint32_t passes = maker->tiling->passes, size = maker->tiling->store.slot_count / passes;
  uint32_t first = passes > 1 && !goes_straight(maker->tiling) ? maker->tiling->load.slot_count : 0;
  return (slot_share){pass * size, (pass + 1) * size, first - pass * size};
}

/* Further sources, in the slots after those of the first. */
static void add_others(tile_maker *maker, slot_share share) {
  for (uint32_t i = TJ_OPERAND_OTHERS; i < operand_count(maker) && tj_is_source(maker->kernel, i); i++) {
    share.first += tj_source_slots(maker->kernel);
    add_side(maker, &maker->side[i], TJ_STEP_LOAD, share);
  }
}

/* Stores to all destinations that take elements as they are now. */
static void add_destinations(tile_maker *maker, bool are_straight, slot_share share) {
  for (uint32_t i = TJ_OPERAND_DESTINATION; i < operand_count(maker); i++) {
    if (!tj_is_source(maker->kernel, i) && is_straight(maker, i) == are_straight)
      add_side(maker, &maker->side[i], TJ_STEP_STORE, share);
  }
}

/* Puts the part of a pass into LDS. */
static void add_part(tile_maker *maker, uint32_t pass) {
  uint32_t first = maker->step_count;
  if (maker->tiling->by_dma)
    add_boxes(maker, &maker->boxes[pass], false);
  else if (maker->tiling->direct > 0)
    add_direct(maker, pass);
  else
    add_staged(maker, &maker->staging.in[pass], TJ_STEP_STORE, all_slots(&maker->side[TJ_OPERAND_SOURCE]));
  maker->brought[pass] = goes_straight(maker->tiling) ? maker->step_count - first : 0;
}

/* Takes it out of LDS and to the destinations. */
static void take_part(tile_maker *maker, uint32_t pass) {
  if (maker->tiling->dma_stores) {
    add_boxes(maker, &maker->taken, true);
    return;
  }
  add_fetched(maker, buffer_of_pass(maker, pass), share_of_pass(maker, pass));
  add_destinations(maker, false, share_of_pass(maker, pass));
}

/* Waits for the part of a pass, not for those up to before `end`, which are on their way behind it. */
static void add_barrier(tile_maker *maker, uint32_t pass, uint32_t end) {
  uint32_t behind = 0;
  while (++pass < end)
    behind += maker->brought[pass];
  add_step(maker, TJ_STEP_BARRIER)->number = behind;
}

/* What is straight is stored as it is. Parts go into LDS, out of it and to destinations: as many as LDS has room for
 * before the first barrier, then each where another has been, behind the barrier by which everybody has loaded that.
 * Further sources are loaded before work-items wait for each other, where their slots last so long. */
static void add_passes(tile_maker *maker) {
  uint32_t passes = maker->tiling->passes, end = 0, parts = tj_mapping_lds_parts(maker->tiling->mapping, passes);
  add_destinations(maker, true, all_slots(&maker->side[TJ_OPERAND_SOURCE]));
  for (uint32_t pass = 0; pass < passes; pass++) {
    if (pass > 0 && parts == 1)
      add_barrier(maker, pass - 1, end);
    if (maker->target->keeps_slots)
      add_others(maker, share_of_pass(maker, pass));
    while (end < passes && end < pass + parts && (pass == 0 || parts == 1))
      add_part(maker, end++);
    add_barrier(maker, pass, end);
    if (pass > 0 && parts > 1 && end < passes)
      add_part(maker, end++);
    if (!maker->target->keeps_slots)
      add_others(maker, share_of_pass(maker, pass));
    take_part(maker, pass);
  }
}

enum { BARRIER_BYTES = 16 }; /* as much room as a barrier of any target takes, in whole elements */

/* Finds the way through LDS; false where the tile does not fit there, with the barrier of its boxes. */
static bool plan_stage(tile_maker *maker) {
  uint32_t bytes = bytes_of(maker, TJ_LDS);
  if (!tj_plan_staging(maker->graph, maker->tiling, maker->target, bytes, &maker->side[TJ_OPERAND_SOURCE],
                       &maker->side[TJ_OPERAND_DESTINATION], &maker->staging))
    return false;
  maker->kernel->lds_elements =
      (uint32_t)tj_mapping_lds_size(maker->graph, maker->tiling->mapping, maker->tiling->passes);
  maker->kernel->stage = maker->staging.choice;
  maker->kernel->map = maker->boxes[0].map;
  if (maker->kernel->map != NULL)
    maker->kernel->lds_elements = (maker->kernel->map->barrier + BARRIER_BYTES) / bytes;
  return tj_kernel_lds_bytes(maker->kernel) <= maker->target->lds_bytes;
}

/* --- straight into LDS --- */

static const char stored_too[] = "elements are stored before they are in LDS, too";

static bool has_straight(const tile_maker *maker) {
  bool is_any = false;
  for (uint32_t i = 0; i < operand_count(maker); i++)
    is_any = is_any || is_straight(maker, i);
  return is_any;
}

/* Why work-items do not load elements straight into LDS. */
static const char *obstacle_of_direct(tile_maker *maker) {
  const char *obstacle = tj_direct_obstacle_of_loads(maker->flat, maker->any[TJ_OPERAND_SOURCE].valid);
  return obstacle == NULL && has_straight(maker) ? stored_too : obstacle;
}

static tj_box_tile box_tile_of(const tile_maker *maker) {
  return (tj_box_tile){.tiling = maker->tiling,
                       .target = maker->target,
                       .flat = maker->flat,
                       .base = maker->base,
                       .coordinate = maker->coordinate,
                       .any = maker->any};
}

/* Why no engine brings them there; NULL: maker->boxes do. */
static const char *obstacle_of_dma(tile_maker *maker) {
  const tj_box_tile tile = box_tile_of(maker);
  return has_straight(maker) ? stored_too : tj_boxes_that_load(maker->graph, &tile, maker->boxes);
}

/* Why no engine takes the tile out of LDS; NULL: maker->taken does. */
static const char *obstacle_of_dma_store(tile_maker *maker) {
  const tj_box_tile tile = box_tile_of(maker);
  return tj_boxes_that_store(maker->graph, &tile, &maker->taken);
}

/* Why the vectors that go straight into LDS do not; NULL: they do. Nobody chooses narrower ones than there could be.
 */
static const char *obstacle_of_width(tile_maker *maker) {
  uint32_t width = maker->staging.in[0].width, bytes = width * bytes_of(maker, TJ_LDS);
  if (width > maker->side[TJ_OPERAND_SOURCE].width || (width < maker->tiling->direct && !maker->tiling->is_given))
    return tj_string_format(maker->graph->job,
                            "the %" PRIu32 " elements that a work-item loads at a time are not surely neighbours in "
                            "the source",
                            maker->tiling->direct);
  if (!tj_direct_has(maker->target->direct, bytes))
    return tj_string_format(maker->graph->job,
                            "work-items have %" PRIu32 " bytes that are surely neighbours in the source and in LDS; "
                            "%s does not load so few",
                            bytes, maker->target->name);
  return NULL;
}

/* Whether a tiling that `is_so` can be, as far as an obstacle tells. TJ4020 where it has to be. */
static bool may_be(tile_maker *maker, bool is_so, const char *what, const char *(*obstacle_of)(tile_maker *maker)) {
  const char *obstacle = is_so ? obstacle_of(maker) : NULL;
  if (obstacle != NULL && maker->tiling->is_given)
    tj_fail(maker->graph->job, TJ_MAPPING, "%s: %s", what, obstacle);
  return obstacle == NULL;
}

/* --- kernels --- */

static uint32_t slots_of(const tj_tiling *tiling) {
  uint32_t loads = goes_straight(tiling) ? 0 : tiling->load.slot_count, stores = tiling->store.slot_count,
           passes = tiling->passes;
  if (passes > 1)
    return loads + stores / passes;
  return loads > stores ? loads : stores;
}

static size_t most_steps(const tile_maker *maker) {
  const tj_tiling *tiling = maker->tiling;
  size_t passes = tiling->passes, boxes = maker->taken.count;
  for (size_t pass = 0; pass < passes; pass++)
    boxes += maker->boxes[pass].count;
  size_t most =
      tiling->load.slot_count > tiling->store.slot_count ? tiling->load.slot_count : tiling->store.slot_count;
  size_t others = tiling->domain->other_count * most;
  return tiling->load.slot_count * (1 + passes) + 2 * (size_t)tiling->store.slot_count + others + 2 * passes + 1 +
         boxes;
}

static tj_kernel *new_kernel(tj_graph *graph, const tj_kernel *flat, const tj_tiling *tiling) {
  tj_kernel *kernel = tj_kernel_in_place_of(graph, flat, tiling->domain->assumed);
  kernel->item = tiling->item;
  kernel->workgroup_size = tiling->workgroup_size;
  tj_set_source_slots(graph, kernel, slots_of(tiling));
  kernel->mapping = tiling->mapping;
  return kernel;
}

/* What is straight is stored before lanes pass on what they have. */
static void add_exchange(tile_maker *maker) {
  add_destinations(maker, true, all_slots(&maker->side[TJ_OPERAND_SOURCE]));
  tj_kernel_step *step = add_step(maker, TJ_STEP_EXCHANGE);
  step->exchange = maker->tiling->exchange;
  step->value = maker->tiling->item;
}

static void add_steps(tile_maker *maker) {
  const slot_share loaded = all_slots(&maker->side[TJ_OPERAND_SOURCE]),
                   stored = all_slots(&maker->side[TJ_OPERAND_DESTINATION]);
  maker->step = TJ_NEW_ARRAY(maker->graph->job, tj_kernel_step, most_steps(maker));
  maker->step_count = 0;
  maker->brought = TJ_NEW_ARRAY(maker->graph->job, uint32_t, maker->tiling->passes);
  if (!goes_straight(maker->tiling))
    add_side(maker, &maker->side[TJ_OPERAND_SOURCE], TJ_STEP_LOAD, loaded);
  if (maker->tiling->exchange != NULL)
    add_exchange(maker);
  if (maker->tiling->is_staged) {
    add_passes(maker);
    return;
  }
  add_others(maker, stored);
  add_destinations(maker, false, stored);
}

/* Whether a tile is all inside the domain; NULL: every tile is, without looking. */
static const tj_node *inner_truth(tile_maker *maker) {
  tj_graph *graph = maker->graph;
  const tj_node *truth = NULL;
  for (uint32_t m = 0; m < mode_count(maker); m++) {
    if (!tj_tile_has_edge(maker->tiling, m))
      continue;
    const tj_node *end = tj_add(graph, maker->base[m], tj_int(graph, tj_tile_extent(maker->tiling, m)));
    const tj_node *fits = tj_less_equal(graph, end, maker->tiling->domain->mode[m].extent);
    truth = truth == NULL ? fits : tj_and(graph, truth, fits);
  }
  return truth != NULL ? tj_simplified(graph, truth) : NULL;
}

/* Finds the vectors of an operand where no edge parts neighbours. */
static void widen_inside(tile_maker *maker, uint32_t operand) {
  maker->side[operand].edges = 0;
  if (maker->side[operand].width < widest_of(maker, operand))
    choose_vectors(maker, operand);
}

/* Steps without masks, unless no access moves more than an element: that does not pay for the code. */
static void add_unmasked_steps(tile_maker *maker) {
  tj_side *side = maker->side;
  maker->side = tj_arena_copy(&maker->graph->job->arena, side, operand_count(maker) * sizeof *side);
  for (uint32_t i = 0; i < operand_count(maker); i++)
    widen_inside(maker, i);
  maker->is_inner = true;
  if (maker->side[TJ_OPERAND_SOURCE].width > 1 || maker->side[TJ_OPERAND_DESTINATION].width > 1) {
    add_steps(maker);
    maker->kernel->inner_step = maker->step;
    maker->kernel->inner_step_count = maker->step_count;
  }
  maker->is_inner = false;
  maker->side = side;
}

/* Tiles inside the domain do without masks, unless all tiles are at its edge. */
static void add_inner_steps(tile_maker *maker) {
  tj_kernel *kernel = maker->kernel;
  const tj_node *inner = inner_truth(maker);
  bool has_masks = !maker->tiling->by_dma || !maker->tiling->dma_stores;
  if (inner == NULL || tj_is_constant(inner) || !has_masks)
    return;
  add_unmasked_steps(maker);
  kernel->inner = kernel->inner_step != NULL ? inner : NULL;
}

tj_kernel *tj_tile_kernel(tj_graph *graph, const tj_kernel *flat, const tj_tiling *tiling, const tj_target *target) {
  tile_maker maker = {
      .graph = graph, .tiling = tiling, .target = target, .flat = flat, .kernel = new_kernel(graph, flat, tiling)};
  place_tile(&maker);
  find_accesses(&maker);
  maker.side = TJ_NEW_ARRAY(graph->job, tj_side, operand_count(&maker));
  maker.boxes = TJ_NEW_ARRAY(graph->job, tj_boxes, tiling->passes);
  for (uint32_t i = 0; i < operand_count(&maker); i++)
    make_side(&maker, i);
  for (uint32_t i = 0; i < operand_count(&maker); i++)
    choose_vectors(&maker, i);
  bool is_direct = tiling->direct > 0;
  if (!may_be(&maker, is_direct, "direct", obstacle_of_direct) ||
      !may_be(&maker, tiling->by_dma, "dma", obstacle_of_dma) ||
      !may_be(&maker, tiling->dma_stores, "dma_store", obstacle_of_dma_store) ||
      (tiling->is_staged && ((tiling->passes > 1 && !target->keeps_slots) || !plan_stage(&maker))) ||
      !may_be(&maker, is_direct, "direct", obstacle_of_width))
    return NULL;
  add_inner_steps(&maker);
  add_steps(&maker);
  maker.kernel->step = maker.step;
  maker.kernel->step_count = maker.step_count;
  if (!tiling->is_draft)
    tj_kernel_simplify(graph, maker.kernel, NULL);
  tj_leave_out_repeats(graph, maker.kernel);
  return maker.kernel;
}
