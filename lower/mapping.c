/* Choosing tiles.
 *
 * A tile is so large that both sides see runs of many neighbours: along the first modes of the destination, and along
 * the first modes of the source. Where both begin with the same mode, the work-items load and store the same elements
 * and keep them in registers; otherwise the tile turns around in LDS. Work-items take the elements of a tile in the
 * order of the side's strides, a vector each at a time. */
#include "lower/mapping.h"

#include "ir/facts.h"
#include "ir/simplify.h"
#include "lower/faster.h"
#include "lower/tiling.h"

enum {
  WORKGROUP_SIZE = 256,
  LOADS_IN_FLIGHT = 4, /* vectors of a work-item */
  LINE_BYTES = 128,    /* what one load should have side by side */
  MOST_MODES = 64
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

/* How far a tile reaches along a mode that should have `wanted` coordinates of it or more. */
static int64_t cut_of(const mapping *map, uint32_t mode, int64_t wanted, int64_t vector) {
  const tj_node *extent = map->domain->mode[mode].extent;
  int64_t multiple = wanted % vector == 0 ? vector : 1;
  if (!tj_is_constant(extent))
    return most_along(map, mode) < wanted ? most_along(map, mode) : wanted;
  return extent->value <= wanted + wanted / 2 ? extent->value : best_cut(extent->value, wanted, multiple);
}

/* Lets the tile reach along modes in this order, until it has `run` elements of them. */
static void reach(mapping *map, const uint32_t order[], int64_t run, int64_t vector) {
  int64_t have = 1;
  for (uint32_t i = 0; i < map->domain->count && have < run; i++) {
    int64_t *extent = &map->extent[order[i]];
    int64_t wanted = (run + have - 1) / have;
    if (*extent < wanted)
      *extent = cut_of(map, order[i], wanted, i == 0 ? vector : 1);
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

/* A piece of a mode: a digit of `extent` values that each move `scale` coordinates along it. */
typedef struct {
  uint32_t mode;
  int64_t extent, scale;
} piece;

enum { MOST_PIECES = MOST_MODES + 2 };

/* How a side shares a tile out: a slot is an element of a block, which lies `width` far along one mode and `depth`
 * far along another; a work-item takes blocks in turn, numbered by pieces, first fastest. */
typedef struct {
  uint32_t along, across;
  int64_t width, depth;
  piece piece[MOST_PIECES];
  uint32_t count;
} sharing;

static void add_piece(sharing *share, uint32_t mode, int64_t extent, int64_t scale) {
  if (extent > 1)
    share->piece[share->count++] = (piece){mode, extent, scale};
}

/* How many coordinates of the mode one block covers. */
static int64_t block_extent(const sharing *share, uint32_t mode) {
  return mode == share->along ? share->width : mode == share->across ? share->depth : 1;
}

/* Blocks along `order`; with `run` > 0, no more than that many neighbours along the first mode before those along
 * share->across. */
static void add_pieces(const mapping *map, sharing *share, const uint32_t order[], int64_t run) {
  uint32_t first = order[0];
  int64_t blocks = map->extent[first] / block_extent(share, first);
  bool is_split = run > 0 && blocks > run && blocks % run == 0 && share->across != first;
  int64_t near = is_split ? run : blocks;
  add_piece(share, first, near, block_extent(share, first));
  if (share->across != first)
    add_piece(share, share->across, map->extent[share->across] / share->depth, share->depth);
  add_piece(share, first, blocks / near, block_extent(share, first) * near);
  for (uint32_t i = 1; i < map->domain->count; i++) {
    if (order[i] != share->across)
      add_piece(share, order[i], map->extent[order[i]], 1);
  }
}

static int64_t block_volume(const sharing *share) {
  return share->width * share->depth;
}

/* The digits within the tile of element (along, across) of a block. */
static const tj_node *const *block_digits(const mapping *map, const sharing *share, const tj_node *block,
                                          int64_t along, int64_t across) {
  tj_graph *graph = map->graph;
  const tj_node **digit = TJ_NEW_ARRAY(graph->job, const tj_node *, map->domain->count + 1);
  for (uint32_t m = 0; m < map->domain->count; m++)
    digit[m] = tj_int(graph, (m == share->along ? along : 0) + (m == share->across && share->depth > 1 ? across : 0));
  for (uint32_t i = 0; i < share->count; i++) {
    const piece *p = &share->piece[i];
    bool is_last = i + 1 == share->count;
    const tj_node *at = is_last ? block : tj_mod(graph, block, tj_int(graph, p->extent));
    if (!is_last)
      block = tj_div(graph, block, tj_int(graph, p->extent));
    digit[p->mode] = tj_add(graph, tj_mul(graph, at, tj_int(graph, p->scale)), digit[p->mode]);
  }
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
  return (tj_tile_side){slots, digit, active, orders, share->depth > 1 ? 2 : 1};
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

/* The widest vector up to `most` that divides the tile's extent along a mode. */
static int64_t vector_width(const mapping *map, int64_t most, uint32_t mode) {
  int64_t width = most;
  while (width > 1 && map->extent[mode] % width != 0)
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

static tj_kernel *in_registers(mapping *map) {
  uint32_t first = map->by_destination[0];
  int64_t most = map->most_loaded > map->most_stored ? map->most_loaded : map->most_stored;
  sharing share = {.along = first, .across = first, .width = vector_width(map, most, first), .depth = 1};
  add_pieces(map, &share, map->by_destination, 0);
  tj_tiling tiling = new_tiling(map);
  tiling.load = tiling.store = make_side(map, tiling.item, &share, slots_of(map, &share));
  return tj_tile_kernel(map->graph, map->flat, &tiling, map->target);
}

/* The first modes of the destination, which the tile covers before any other: they lie side by side in LDS. */
static uint64_t column_modes(const mapping *map) {
  uint64_t columns = 0;
  for (uint32_t i = 0; i < map->domain->count; i++) {
    uint32_t mode = map->by_destination[i];
    if (mode == map->by_source[0])
      break;
    columns |= (uint64_t)1 << mode;
  }
  return columns;
}

/* Neighbours that a tile should have on each side, in elements of so many bytes. */
static int64_t run_of(uint32_t bytes) {
  return bytes == 1 ? 128 : bytes <= 4 ? 64 : 32;
}

/* How deep a block of loads goes along the destination's first mode, so that it can be stored to LDS by vectors. */
static int64_t block_depth(const mapping *map, int64_t width, uint32_t mode) {
  int64_t depth = vector_width(map, widest_of(map->target, tj_dtype_bits(map->flat->carried) / 8), mode);
  while (depth > 1 && depth * width * WORKGROUP_SIZE > tile_volume(map))
    depth /= 2;
  return depth;
}

static tj_kernel *through_lds(mapping *map) {
  uint32_t source = buffer_bytes(map, true), near_source = map->by_source[0],
           near_destination = map->by_destination[0];
  sharing load = {
      .along = near_source, .across = near_destination, .width = vector_width(map, map->most_loaded, near_source)};
  load.depth = block_depth(map, load.width, near_destination);
  add_pieces(map, &load, map->by_source, LINE_BYTES / (source * load.width));
  sharing store = {.along = near_destination,
                   .across = near_destination,
                   .width = vector_width(map, map->most_stored, near_destination),
                   .depth = 1};
  add_pieces(map, &store, map->by_destination, 0);
  tj_tiling tiling = new_tiling(map);
  tiling.load = make_side(map, tiling.item, &load, slots_of(map, &load));
  tiling.store = make_side(map, tiling.item, &store, slots_of(map, &store));
  tiling.is_staged = true;
  tiling.columns = column_modes(map);
  return tj_tile_kernel(map->graph, map->flat, &tiling, map->target);
}

/* --- widths --- */

static bool turns_around(const mapping *map) {
  uint32_t near_source = map->by_source[0], near_destination = map->by_destination[0];
  return near_source != near_destination && is_contiguous(map, near_source, true) &&
         is_contiguous(map, near_destination, false);
}

static void choose_extents(mapping *map) {
  int64_t source = widest_of(map->target, buffer_bytes(map, true));
  int64_t destination = widest_of(map->target, buffer_bytes(map, false));
  for (uint32_t m = 0; m < map->domain->count; m++)
    map->extent[m] = 1;
  if (turns_around(map)) {
    uint32_t loaded = buffer_bytes(map, true), stored = buffer_bytes(map, false);
    int64_t run = run_of(loaded > stored ? loaded : stored);
    reach(map, map->by_destination, run, destination);
    reach(map, map->by_source, run, source);
  } else {
    int64_t most = source > destination ? source : destination;
    reach(map, map->by_destination, WORKGROUP_SIZE * LOADS_IN_FLIGHT * most, most);
  }
}

static tj_kernel *map_once(mapping *map) {
  tj_kernel *kernel = turns_around(map) ? through_lds(map) : in_registers(map);
  return kernel != NULL && tj_kernel_fits(map->graph, kernel) ? kernel : NULL;
}

/* Lanes take neighbours only where the vectors between them are as wide as they were meant to be: maps again for
 * those that turned out. NULL where the tile does not fit. */
static tj_kernel *map_with_widths(mapping *map) {
  map->most_loaded = widest_of(map->target, buffer_bytes(map, true));
  map->most_stored = widest_of(map->target, buffer_bytes(map, false));
  tj_kernel *kernel = map_once(map);
  while (kernel != NULL) {
    uint32_t loaded = tj_narrowest_access(kernel, TJ_STEP_LOAD), stored = tj_narrowest_access(kernel, TJ_STEP_STORE);
    if (loaded >= map->most_loaded && stored >= map->most_stored)
      break;
    map->most_loaded = loaded < map->most_loaded ? loaded : map->most_loaded;
    map->most_stored = stored < map->most_stored ? stored : map->most_stored;
    kernel = map_once(map);
  }
  return kernel;
}

/* --- copies --- */

static bool is_mappable(const mapping *map) {
  return is_contiguous(map, map->by_destination[0], false) || is_contiguous(map, map->by_source[0], true);
}

static bool is_vectored(const tj_kernel *kernel) {
  return tj_narrowest_access(kernel, TJ_STEP_LOAD) > 1 || tj_narrowest_access(kernel, TJ_STEP_STORE) > 1;
}

/* A kernel for parameters that meet the demands, in front of those that are there. Returns the new first. */
static tj_kernel *add_variant(mapping *map, tj_kernel *last, const tj_demands *demands, const char *suffix) {
  tj_substitution assumed = tj_assume(map->graph, demands);
  map->assumed = &assumed;
  map->domain = tj_assumed_domain(map->graph, map->flat->domain, &assumed);
  tj_kernel *faster = map_with_widths(map);
  if (faster == NULL || (!is_vectored(faster) && !turns_around(map)))
    return last;
  tj_offer_faster(map->graph, last, faster, demands,
                  tj_string_format(map->graph->job, "%s.%s", map->flat->name, suffix));
  return faster;
}

static int64_t widest_vector(const mapping *map) {
  uint32_t loaded = widest_of(map->target, buffer_bytes(map, true));
  uint32_t stored = widest_of(map->target, buffer_bytes(map, false));
  return loaded > stored ? loaded : stored;
}

/* Without assumptions: tiles where these are worth it. */
static tj_kernel *map_anyway(mapping *map) {
  tj_kernel *mapped = map_with_widths(map);
  return mapped != NULL && (is_vectored(mapped) || turns_around(map)) ? mapped : (tj_kernel *)map->flat;
}

tj_kernel *tj_map_copy(tj_graph *graph, tj_kernel *flat, const tj_target *target) {
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
  tj_kernel *general = of_tiles.count == 0 ? map_anyway(&map) : flat, *last = general;
  if (of_tiles.count > 0 && turns_around(&map))
    last = add_variant(&map, last, &of_tiles, "tiles");
  if (of_vectors.count > 0)
    add_variant(&map, last, &of_vectors, "vectors");
  return general;
}
