/* Choosing tiles.
 *
 * A tile is so large that both sides see runs of many neighbours: along the first modes of the destination, and along
 * the first modes of the source. Where both begin with the same mode, the work-items load and store the same elements
 * and keep them in registers; otherwise the tile turns around in LDS. Work-items take the elements of a tile in the
 * order of the side's strides, a vector each at a time. */
#include "lower/mapping.h"

#include "ir/facts.h"
#include "ir/simplify.h"
#include "lower/blocks.h"
#include "lower/faster.h"
#include "lower/tiling.h"

enum {
  WORKGROUP_SIZE = 256,
  LOADS_IN_FLIGHT = 4, /* vectors of a work-item */
  LINE_BYTES = 128,    /* of a cache line */
  LONG_RUN = 512,      /* bytes side by side, where they do not begin with a line */
  LDS_TILE_BYTES = 32 * 1024,
  MOST_SLOTS = 64,
  MOST_MODES = 16
};

typedef struct {
  tj_graph *graph;
  const tj_domain *domain;
  const tj_target *target;
  const tj_kernel *flat;
  const tj_substitution *assumed;
  uint32_t most_loaded, most_stored;                          /* elements of a vector */
  uint32_t by_source[MOST_MODES], by_destination[MOST_MODES]; /* modes, smallest stride first */
  int64_t extent[MOST_MODES];                                 /* of the tile */
  uint32_t element_bytes;                                     /* of the wider buffer */
} mapping;

/* --- modes by side --- */

static const tj_node *stride_on(const mapping *map, uint32_t mode, bool of_source) {
  const tj_mode *m = &map->domain->mode[mode];
  return of_source ? m->source_stride : m->destination_stride;
}

/* Whether a side steps less far along mode a than along mode b, or at least never farther, as far as is known.
 * Strides of 0 repeat elements: they come last.
 */
static bool is_closer(const mapping *map, uint32_t a, uint32_t b, bool of_source) {
  const tj_node *left = stride_on(map, a, of_source), *right = stride_on(map, b, of_source);
  if (left == NULL || tj_is_int(left, 0))
    return false;
  if (right == NULL || tj_is_int(right, 0))
    return true;
  return tj_prove_less_equal(map->graph, left, right) && !tj_prove_less_equal(map->graph, right, left);
}

static void sort_modes(const mapping *map, uint32_t order[], bool of_source) {
  for (uint32_t i = 0; i < map->domain->count; i++) {
    uint32_t at = i;
    for (; at > 0 && is_closer(map, i, order[at - 1], of_source); at--)
      order[at] = order[at - 1];
    order[at] = i;
  }
}

/* --- extents --- */

/* The most coordinates that a mode may have. */
static int64_t most_along(const mapping *map, uint32_t mode) {
  return map->domain->mode[mode].extent->facts.high;
}

static int64_t round_up(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/* Of about `wanted` coordinates, as many as leave the least of the last tile empty. */
static int64_t best_cut(int64_t extent, int64_t wanted, int64_t multiple) {
  int64_t best = wanted, least_cover = INT64_MAX;
  for (int64_t cut = wanted; cut <= 2 * wanted && cut <= extent; cut += multiple) {
    int64_t cover = round_up(extent, cut);
    if (cover < least_cover) {
      best = cut;
      least_cover = cover;
    }
  }
  return best;
}

/* How far a tile reaches along a mode that should have `wanted` coordinates of it or more; a multiple of `unit` where
 * that is no more than wanted. */
static int64_t cut_of(const mapping *map, uint32_t mode, int64_t wanted, int64_t unit) {
  const tj_node *extent = map->domain->mode[mode].extent;
  if (!tj_is_constant(extent))
    return most_along(map, mode) < wanted ? most_along(map, mode) : wanted;
  if (extent->value <= wanted + wanted / 2)
    return extent->value;
  return wanted % unit == 0 ? best_cut(extent->value, wanted, unit) : best_cut(extent->value, wanted, 1);
}

/* Lets the tile reach along modes in this order, until it has `run` elements of them. */
static void reach(mapping *map, const uint32_t order[], int64_t run, int64_t unit) {
  int64_t have = 1;
  for (uint32_t i = 0; i < map->domain->count && have < run; i++) {
    int64_t *extent = &map->extent[order[i]];
    int64_t wanted = (run + have - 1) / have;
    if (*extent < wanted)
      *extent = cut_of(map, order[i], wanted, i == 0 ? unit : 1);
    have *= *extent;
    bool is_whole = *extent >= most_along(map, order[i]);
    if (!is_whole)
      return;
  }
}

static int64_t tile_volume(const mapping *map) {
  int64_t volume = 1;
  for (uint32_t m = 0; m < map->domain->count; m++)
    volume *= map->extent[m];
  return volume;
}

/* --- slots --- */

/* Modes that a side steps through as if they were one, first mode fastest; the tile has all but the last as a whole.
 */
typedef struct {
  uint32_t mode[MOST_MODES];
  uint32_t count;
  int64_t volume; /* within the tile */
} axis;

/* A digit of `extent` values that each move `scale` along an axis. */
typedef struct {
  uint32_t axis;
  int64_t extent, scale;
} piece;

enum { ALONG, ACROSS, MOST_AXES = MOST_MODES + 2, MOST_PIECES = MOST_AXES + 1 };

/* How a side shares a tile out: a slot is an element of a block, which lies `width` far along the axis ALONG and
 * `depth` far along ACROSS; a work-item takes blocks in turn, numbered by pieces, first fastest. */
typedef struct {
  axis axis[MOST_AXES];
  uint32_t axis_count;
  int64_t width, depth;
  piece piece[MOST_PIECES];
  uint32_t count;
} sharing;

static void add_mode(const mapping *map, axis *a, uint32_t mode) {
  a->volume = a->count == 0 ? map->extent[mode] : a->volume * map->extent[mode];
  a->mode[a->count++] = mode;
}

static bool has_mode(const axis *a, uint32_t mode) {
  for (uint32_t i = 0; i < a->count; i++) {
    if (a->mode[i] == mode)
      return true;
  }
  return false;
}

/* Whether `next` goes on where `mode` ends. */
static bool continues(const mapping *map, uint32_t mode, uint32_t next, bool of_source) {
  const tj_node *stride = stride_on(map, mode, of_source), *further = stride_on(map, next, of_source);
  const tj_node *extent = map->domain->mode[mode].extent;
  return tj_is_constant(extent) && map->extent[mode] == extent->value && stride != NULL && further != NULL &&
         tj_prove_equal(map->graph, tj_mul(map->graph, stride, extent), further);
}

/* The first modes of a side that the tile has in one run, up to before `stop`. */
static axis run_of_side(const mapping *map, bool of_source, uint32_t stop) {
  const uint32_t *order = of_source ? map->by_source : map->by_destination;
  axis run = {.count = 0, .volume = 1};
  for (uint32_t i = 0; i < map->domain->count && order[i] != stop; i++) {
    if (i > 0 && (map->extent[order[i]] == 1 || !continues(map, order[i - 1], order[i], of_source)))
      break;
    add_mode(map, &run, order[i]);
  }
  return run;
}

static void add_piece(sharing *share, uint32_t which, int64_t extent, int64_t scale) {
  if (extent > 1)
    share->piece[share->count++] = (piece){which, extent, scale};
}

/* What no axis has yet, in the side's order. */
static void add_other_modes(const mapping *map, sharing *share, bool of_source) {
  const uint32_t *order = of_source ? map->by_source : map->by_destination;
  for (uint32_t i = 0; i < map->domain->count; i++) {
    if (has_mode(&share->axis[ALONG], order[i]) || has_mode(&share->axis[ACROSS], order[i]))
      continue;
    axis *single = &share->axis[share->axis_count++];
    *single = (axis){.count = 0};
    add_mode(map, single, order[i]);
  }
}

/* Numbers the blocks: no more than `near` neighbours along, then those across, then the rest. */
static void number_blocks(sharing *share, int64_t near) {
  int64_t along = share->axis[ALONG].volume / share->width, across = share->axis[ACROSS].volume / share->depth;
  near = near > 0 && along > near && along % near == 0 ? near : along;
  add_piece(share, ALONG, near, share->width);
  add_piece(share, ACROSS, across, share->depth);
  add_piece(share, ALONG, along / near, share->width * near);
  for (uint32_t i = ACROSS + 1; i < share->axis_count; i++)
    add_piece(share, i, share->axis[i].volume, 1);
}

static int64_t block_volume(const sharing *share) {
  return share->width * share->depth;
}

/* The digits of the modes of an axis at `at`. */
static void set_digits(const mapping *map, const axis *a, const tj_node *at, const tj_node *digit[]) {
  tj_graph *graph = map->graph;
  for (uint32_t i = 0; i < a->count; i++) {
    const tj_node *extent = tj_int(graph, map->extent[a->mode[i]]);
    bool is_last = i + 1 == a->count;
    digit[a->mode[i]] = is_last ? at : tj_mod(graph, at, extent);
    if (!is_last)
      at = tj_div(graph, at, extent);
  }
}

/* The digits within the tile of element (along, across) of a block. */
static const tj_node *const *block_digits(const mapping *map, const sharing *share, const tj_node *block,
                                          int64_t along, int64_t across) {
  tj_graph *graph = map->graph;
  const tj_node **digit = TJ_NEW_ARRAY(graph->job, const tj_node *, map->domain->count + 1);
  const tj_node *at[MOST_AXES];
  for (uint32_t i = 0; i < share->axis_count; i++)
    at[i] = tj_int(graph, i == ALONG ? along : i == ACROSS ? across : 0);
  for (uint32_t i = 0; i < share->count; i++) {
    const piece *p = &share->piece[i];
    bool is_last = i + 1 == share->count;
    const tj_node *value = is_last ? block : tj_mod(graph, block, tj_int(graph, p->extent));
    if (!is_last)
      block = tj_div(graph, block, tj_int(graph, p->extent));
    at[p->axis] = tj_add(graph, tj_mul(graph, value, tj_int(graph, p->scale)), at[p->axis]);
  }
  for (uint32_t i = 0; i < share->axis_count; i++)
    set_digits(map, &share->axis[i], at[i], digit);
  return digit;
}

/* Slots by the block, then across, then along it; or, with the last two changed. */
static const uint32_t *slot_order(const mapping *map, const sharing *share, uint32_t slots, bool is_turned) {
  uint32_t *order = TJ_NEW_ARRAY(map->graph->job, uint32_t, slots);
  uint32_t width = (uint32_t)share->width, depth = (uint32_t)share->depth;
  for (uint32_t i = 0; i < slots; i++) {
    uint32_t block = i / (width * depth), within = i % (width * depth);
    order[i] = is_turned ? block * width * depth + within % depth * width + within / depth : i;
  }
  return order;
}

static tj_tile_side make_side(const mapping *map, const tj_node *item, const sharing *share, uint32_t slots) {
  tj_graph *graph = map->graph;
  int64_t volume = block_volume(share), blocks = tile_volume(map) / volume;
  const tj_node *const **digit = TJ_NEW_ARRAY(graph->job, const tj_node *const *, slots);
  const tj_node **active = TJ_NEW_ARRAY(graph->job, const tj_node *, slots);
  const uint32_t **orders = TJ_NEW_ARRAY(graph->job, const uint32_t *, 2);
  for (uint32_t slot = 0; slot < slots; slot++) {
    int64_t first = slot / volume * WORKGROUP_SIZE, within = slot % volume;
    const tj_node *block = tj_add(graph, item, tj_int(graph, first));
    bool is_full = first + WORKGROUP_SIZE <= blocks;
    active[slot] = is_full ? tj_int(graph, 1) : tj_simplified(graph, tj_less(graph, block, tj_int(graph, blocks)));
    digit[slot] = block_digits(map, share, block, within % share->width, within / share->width);
  }
  orders[0] = slot_order(map, share, slots, false);
  orders[1] = slot_order(map, share, slots, true);
  return (tj_tile_side){.slot_count = slots,
                        .digit = digit,
                        .active = active,
                        .order = orders,
                        .order_count = share->depth > 1 ? 2 : 1};
}

/* --- the two ways --- */

static uint32_t buffer_bytes(const mapping *map, bool of_source) {
  const tj_kernel_step *step = &map->flat->step[of_source ? 0 : 1];
  return tj_dtype_bits(map->flat->buffer[step->access.buffer].dtype) / 8;
}

/* Elements of the widest vector of a target's. */
static uint32_t widest_of(const tj_target *target, uint32_t bytes) {
  return bytes < target->vector_bytes ? target->vector_bytes / bytes : 1;
}

/* The widest vector up to `most` that divides an axis. */
static int64_t vector_width(int64_t most, const axis *a) {
  int64_t width = most;
  while (width > 1 && a->volume % width != 0)
    width /= 2;
  return width;
}

static uint32_t slots_of(const mapping *map, const sharing *share) {
  int64_t blocks = tile_volume(map) / block_volume(share);
  return (uint32_t)(round_up(blocks, WORKGROUP_SIZE) / WORKGROUP_SIZE * block_volume(share));
}

static bool is_contiguous(const mapping *map, uint32_t mode, bool of_source) {
  const tj_node *stride = stride_on(map, mode, of_source);
  return stride != NULL && tj_is_int(stride, 1);
}

/* Whether runs along the side's first mode begin with cache lines, as far as is known. */
static bool is_aligned(const mapping *map, bool of_source) {
  uint32_t first = of_source ? map->by_source[0] : map->by_destination[0];
  int64_t line = LINE_BYTES / buffer_bytes(map, of_source);
  for (uint32_t m = 0; m < map->domain->count; m++) {
    const tj_node *stride = stride_on(map, m, of_source);
    if (m != first && (stride == NULL || !tj_facts_divisible(&stride->facts, line)))
      return false;
  }
  return true;
}

static tj_tiling new_tiling(const mapping *map) {
  return (tj_tiling){.domain = map->domain,
                     .source = map->flat->step[0].access.buffer,
                     .destination = map->flat->step[1].access.buffer,
                     .extent = map->extent,
                     .assumed = map->assumed,
                     .may_overlap = true,
                     .item = tj_coordinate(map->graph, "t", tj_int(map->graph, WORKGROUP_SIZE)),
                     .workgroup_size = WORKGROUP_SIZE};
}

enum { NOWHERE = UINT32_MAX };

/* A side on which work-items take vectors one after the other. */
static sharing share_in_order(const mapping *map, bool of_source, int64_t most, uint32_t stop) {
  sharing share = {.axis_count = ACROSS + 1, .depth = 1};
  share.axis[ALONG] = run_of_side(map, of_source, stop);
  share.axis[ACROSS].volume = 1;
  share.width = vector_width(most, &share.axis[ALONG]);
  add_other_modes(map, &share, of_source);
  number_blocks(&share, 0);
  return share;
}

static tj_kernel *in_registers(mapping *map) {
  int64_t most = map->most_loaded > map->most_stored ? map->most_loaded : map->most_stored;
  sharing share = share_in_order(map, false, most, NOWHERE);
  tj_tiling tiling = new_tiling(map);
  tiling.load = tiling.store = make_side(map, tiling.item, &share, slots_of(map, &share));
  return tj_tile_kernel(map->graph, map->flat, &tiling, map->target);
}

/* Where the runs of source and destination part: the first mode of one that is not the other's. */
static uint32_t parting_mode(const mapping *map, bool of_source) {
  uint32_t i = map->by_source[0] == map->by_destination[0] && map->domain->count > 1 ? 1 : 0;
  return of_source ? map->by_source[i] : map->by_destination[i];
}

/* The first modes of the destination, which lie side by side in LDS. */
static uint64_t column_modes(const mapping *map) {
  uint64_t columns = 0;
  for (uint32_t i = 0; i < map->domain->count && map->by_destination[i] != parting_mode(map, true); i++)
    columns |= (uint64_t)1 << map->by_destination[i];
  return columns;
}

/* How deep a block of loads goes along the destination's run, so that it can be stored to LDS by vectors. */
static int64_t block_depth(const mapping *map, int64_t width, const axis *across) {
  int64_t depth = vector_width(widest_of(map->target, tj_dtype_bits(map->flat->carried) / 8), across);
  while (depth > 1 && depth * width * WORKGROUP_SIZE > tile_volume(map))
    depth /= 2;
  return depth;
}

/* Loads along the source's run; where the destination's begins with another mode, by blocks. */
static sharing share_loads(const mapping *map) {
  if (map->by_source[0] == map->by_destination[0])
    return share_in_order(map, true, map->most_loaded, parting_mode(map, false));
  sharing share = {.axis_count = ACROSS + 1};
  share.axis[ALONG] = run_of_side(map, true, parting_mode(map, false));
  share.axis[ACROSS] = run_of_side(map, false, parting_mode(map, true));
  for (uint32_t i = 1; i < share.axis[ACROSS].count; i++) {
    if (has_mode(&share.axis[ALONG], share.axis[ACROSS].mode[i]))
      share.axis[ACROSS] = (axis){{share.axis[ACROSS].mode[0]}, 1, map->extent[share.axis[ACROSS].mode[0]]};
  }
  share.width = vector_width(map->most_loaded, &share.axis[ALONG]);
  share.depth = block_depth(map, share.width, &share.axis[ACROSS]);
  add_other_modes(map, &share, true);
  number_blocks(&share, is_aligned(map, true) ? LINE_BYTES / (buffer_bytes(map, true) * share.width) : 0);
  return share;
}

static tj_kernel *through_lds(mapping *map) {
  sharing load = share_loads(map), store = share_in_order(map, false, map->most_stored, parting_mode(map, true));
  tj_tiling tiling = new_tiling(map);
  tiling.load = make_side(map, tiling.item, &load, slots_of(map, &load));
  tiling.store = make_side(map, tiling.item, &store, slots_of(map, &store));
  tiling.is_staged = true;
  tiling.columns = column_modes(map);
  return tj_tile_kernel(map->graph, map->flat, &tiling, map->target);
}

/* --- widths --- */

/* Whether runs along the first mode alone would be too short on a side where others follow. */
static bool has_short_runs(const mapping *map) {
  const tj_node *extent = map->domain->mode[map->by_source[0]].extent;
  return map->domain->count > 1 && tj_is_constant(extent) && map->by_source[1] != map->by_destination[1] &&
         extent->value * buffer_bytes(map, true) < 2 * LINE_BYTES &&
         extent->value * buffer_bytes(map, false) < 2 * LINE_BYTES;
}

/* Whether the tile has to turn around in LDS for both sides to see long runs. */
static bool turns_around(const mapping *map) {
  return is_contiguous(map, map->by_source[0], true) && is_contiguous(map, map->by_destination[0], false) &&
         (map->by_source[0] != map->by_destination[0] || has_short_runs(map));
}

/* Elements that a tile should have side by side: more where runs begin within cache lines. */
static int64_t wanted_run(const mapping *map, bool of_source) {
  uint32_t bytes = buffer_bytes(map, of_source);
  int64_t least = bytes == 1 ? 128 : bytes <= 4 ? 64 : 32;
  return is_aligned(map, of_source) ? least : least > LONG_RUN / bytes ? least : LONG_RUN / bytes;
}

static void reach_both(mapping *map, int64_t loaded, int64_t stored) {
  for (uint32_t m = 0; m < map->domain->count; m++)
    map->extent[m] = 1;
  reach(map, map->by_destination, stored, LINE_BYTES / buffer_bytes(map, false));
  reach(map, map->by_source, loaded, LINE_BYTES / buffer_bytes(map, true));
}

/* A tile for LDS, as large as wanted, as far as it fits. */
static void choose_staged_extents(mapping *map) {
  int64_t loaded = wanted_run(map, true), stored = wanted_run(map, false);
  int64_t most = LDS_TILE_BYTES / (tj_dtype_bits(map->flat->carried) / 8);
  reach_both(map, loaded, stored);
  while ((tile_volume(map) > most || tile_volume(map) > MOST_SLOTS * WORKGROUP_SIZE) && loaded + stored > 2) {
    if (loaded >= stored)
      loaded /= 2;
    else
      stored /= 2;
    reach_both(map, loaded, stored);
  }
}

static void choose_extents(mapping *map) {
  if (turns_around(map)) {
    choose_staged_extents(map);
    return;
  }
  int64_t source = widest_of(map->target, buffer_bytes(map, true));
  int64_t destination = widest_of(map->target, buffer_bytes(map, false));
  int64_t most = source > destination ? source : destination;
  for (uint32_t m = 0; m < map->domain->count; m++)
    map->extent[m] = 1;
  reach(map, map->by_destination, WORKGROUP_SIZE * LOADS_IN_FLIGHT * most, most);
}

static tj_kernel *map_once(mapping *map) {
  tj_kernel *kernel = turns_around(map) ? through_lds(map) : in_registers(map);
  return kernel != NULL && tj_kernel_fits(map->graph, kernel) ? kernel : NULL;
}

/* Lanes take neighbours only where the vectors between them are as wide as they were meant to be: maps again for
 * those that turned out. NULL where the tile does not fit, or where elements would move one by one in registers. */
static tj_kernel *map_with_widths(mapping *map) {
  map->most_loaded = widest_of(map->target, buffer_bytes(map, true));
  map->most_stored = widest_of(map->target, buffer_bytes(map, false));
  tj_kernel *kernel = map_once(map);
  while (kernel != NULL) {
    uint32_t loaded = tj_narrowest_access(kernel, TJ_STEP_LOAD), stored = tj_narrowest_access(kernel, TJ_STEP_STORE);
    if (loaded >= map->most_loaded && stored >= map->most_stored)
      break;
    if ((loaded == 1 || stored == 1) && !turns_around(map))
      return NULL;
    map->most_loaded = loaded < map->most_loaded ? loaded : map->most_loaded;
    map->most_stored = stored < map->most_stored ? stored : map->most_stored;
    kernel = map_once(map);
  }
  return kernel;
}

/* --- copies --- */

/* Whether vectors may move on both sides, as far as strides tell. */
static bool is_mappable(const mapping *map) {
  uint32_t first = map->by_destination[0];
  return turns_around(map) || (is_contiguous(map, first, true) && is_contiguous(map, first, false));
}

/* Whether vectors move on both sides: what is gained on one alone does not pay for the code. */
static bool is_vectored(const tj_kernel *kernel) {
  return tj_narrowest_access(kernel, TJ_STEP_LOAD) > 1 && tj_narrowest_access(kernel, TJ_STEP_STORE) > 1;
}

/* Whether a tiled kernel is worth its code. */
static bool pays(const mapping *map, const tj_kernel *tiled) {
  return tiled != NULL && (is_vectored(tiled) || turns_around(map));
}

/* Offers a kernel for parameters that meet the demands. */
static void add_faster(mapping *map, tj_kernel *general, const tj_demands *demands) {
  tj_substitution assumed = tj_assume(map->graph, demands);
  mapping under = *map;
  under.assumed = &assumed;
  under.domain = tj_assumed_domain(map->graph, map->flat->domain, &assumed);
  tj_kernel *faster = map_with_widths(&under);
  if (pays(&under, faster))
    tj_offer_faster(map->graph, general, faster, demands,
                    tj_string_format(map->graph->job, "%s.vectors", map->flat->name));
}

static int64_t widest_vector(const mapping *map) {
  uint32_t loaded = widest_of(map->target, buffer_bytes(map, true));
  uint32_t stored = widest_of(map->target, buffer_bytes(map, false));
  return loaded > stored ? loaded : stored;
}

tj_kernel *tj_map_copy(tj_graph *graph, tj_kernel *flat, const tj_target *target) {
  tj_kernel *blocked = target->block_bytes > 0 ? tj_map_blocks(graph, flat, target) : NULL;
  if (blocked != NULL)
    return blocked;
  static const tj_substitution nothing;
  mapping map = {.graph = graph, .domain = flat->domain, .target = target, .flat = flat, .assumed = &nothing};
  if (map.domain == NULL || map.domain->count == 0 || map.domain->count > MOST_MODES)
    return flat;
  sort_modes(&map, map.by_source, true);
  sort_modes(&map, map.by_destination, false);
  if (!is_mappable(&map))
    return flat;
  choose_extents(&map);
  tj_demands of_tiles = tj_find_demands(graph, flat->domain, 1, map.extent);
  tj_demands of_vectors = tj_find_demands(graph, flat->domain, widest_vector(&map), map.extent);
  tj_kernel *tiled = of_tiles.count == 0 ? map_with_widths(&map) : NULL;
  tj_kernel *general = pays(&map, tiled) ? tiled : flat;
  if (of_vectors.count > 0)
    add_faster(&map, general, &of_vectors);
  return general;
}
