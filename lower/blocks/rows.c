/* SPDX-License-Identifier: MIT */
/* Copying row by row.
 *
 * A row is what both sides have side by side: the mode along which they are contiguous, or a piece of it. A workgroup
 * copies a tile of rows, some that follow each other in the destination by some that do in the source, so that short
 * rows fill cache lines and pages on both sides; each is one work-item's run. How many rows make a tile depends on
 * how long they are, which the launch may be the first to know; and where a tile begins is computed once for all of
 * it. The last tile of a mode ends where the mode does. Tiles are copied in the order of the source, and with each
 * row, the same row of the tile that follows is fetched.
 *
 * What is not worth caching bypasses the caches where rows are long: what is left of lines at their ends has to be
 * read first. */
#include "lower/blocks/rows.h"

#include "ir/index/facts.h"
#include "ir/layout/leaves.h"
#include "ir/simplify/simplify.h"
#include "lower/blocks/block_mapping.h"
#include "lower/kernel/domain.h"
#include "lower/kernel/kernel_expressions.h"
#include "lower/kernel/variant.h"

enum {
  PIECE_BYTES = 4096,  /* of a row, at most */
  STORED_BYTES = 256,  /* of rows that follow each other in the destination, about; */
  LOADED_BYTES = 8192, /* and in the source, where lines that follow each other come by themselves */
  MOST_ROWS = 32,      /* of these */
  LONG_BYTES = 256,    /* of rows that are streamed */
  LINE_BYTES = 64,
  BOX_MODES = 3 /* along which a tile has rows: two of the destination, one of the source */
};

/* A mode along which a tile has rows; so many of them. */
typedef struct {
  uint32_t mode;
  const tj_node *length;
  const tj_node *at; /* of the work-item, within the tile */
} row_mode;

typedef struct {
  const tj_block_map *map;
  const tj_mapping *mapping; /* that says the tile */
  tj_graph *graph;
  uint32_t along; /* the mode of the row */
  row_mode box[TJ_BLOCK_MOST_MODES];
  uint32_t box_count;
  int64_t piece; /* elements of a row, at most */
  tj_tiles tiles;
  const tj_node *workgroup, *item;
  const tj_node *rows; /* of the tile */
} row_map;

static const tj_node *int_of(const row_map *m, int64_t value) {
  return tj_int(m->graph, value);
}

static const tj_node *extent_of(const row_map *m, uint32_t mode) {
  return tj_block_extent(m->map, mode);
}

/* Parts that a total of at least 1 is cut into: in a form that shows that there is one. */
static const tj_node *parts(const row_map *m, const tj_node *all, const tj_node *part) {
  tj_graph *graph = m->graph;
  const tj_node *one = int_of(m, 1);
  return tj_add(graph, tj_div(graph, tj_sub(graph, all, one), part), one);
}

/* --- tiles --- */

static int64_t elements_of(const row_map *m, int64_t bytes) {
  return bytes / tj_block_element_bytes(m->map);
}

/* Pieces of a row that is known are as long as each other, up to a line. */
static int64_t piece_of(const row_map *m, int64_t most) {
  const tj_facts *extent = &extent_of(m, m->along)->facts;
  int64_t line = elements_of(m, LINE_BYTES);
  if (!tj_block_is_fixed(m->map, m->along))
    return most;
  if (extent->high <= most)
    return extent->high;
  int64_t balanced = tj_divided_up(extent->high, tj_divided_up(extent->high, most));
  return tj_divided_up(balanced, line) * line;
}

static const row_mode *find_in_box(const row_map *m, uint32_t mode) {
  for (uint32_t i = 0; i < m->box_count; i++) {
    if (m->box[i].mode == mode)
      return &m->box[i];
  }
  return NULL;
}

/* Adds rows along a mode, as many as make up a run together with what it has; returns what it has then. */
static const tj_node *add_mode(row_map *m, uint32_t mode, const tj_node *have, int64_t bytes) {
  tj_graph *graph = m->graph;
  const tj_node *wanted = parts(m, int_of(m, elements_of(m, bytes)), have);
  const tj_node *length = tj_min(graph, tj_min(graph, wanted, extent_of(m, mode)), int_of(m, MOST_ROWS));
  m->box[m->box_count++] = (row_mode){.mode = mode, .length = tj_simplified(graph, length)};
  return tj_mul(graph, have, length);
}

static void choose_tile(row_map *m) {
  const tj_block_map *map = m->map;
  const tj_node *row = extent_of(m, m->along), *have = row;
  m->piece = piece_of(m, elements_of(m, PIECE_BYTES));
  for (uint32_t i = 1; i < map->domain->count && i < BOX_MODES; i++)
    have = add_mode(m, map->by_destination[i], have, STORED_BYTES);
  if (map->domain->count > 1 && find_in_box(m, map->by_source[1]) == NULL)
    add_mode(m, map->by_source[1], row, LOADED_BYTES);
}

/* How far a tile reaches along a mode. */
static const tj_node *reach_of(const row_map *m, uint32_t mode) {
  const row_mode *rows = find_in_box(m, mode);
  return mode == m->along ? int_of(m, m->piece) : rows != NULL ? rows->length : int_of(m, 1);
}

/* Whether the launch computes how many rows a tile has. A row alone, in pieces that are cut, has nothing to compute.
 */
static bool is_launched(const row_map *m) {
  bool is_known = tj_block_is_fixed(m->map, m->along);
  for (uint32_t i = 0; i < m->box_count; i++)
    is_known = is_known && tj_is_constant(m->box[i].length);
  return m->box_count > 0 && !is_known;
}

/* An item for each row of the tile: so many along each mode, or as many as the launch chooses. */
static tj_layout layout_of(const row_map *m) {
  tj_graph *graph = m->graph;
  tj_leaves items = {.count = 0}, slots = {.count = 0};
  for (uint32_t i = 0; i < m->box_count; i++) {
    const row_mode *rows = &m->box[i];
    const tj_node *symbol = tj_mapping_share(graph, TJ_MAPPING_ITEMS, rows->mode);
    if (is_launched(m) || !tj_is_int(rows->length, 1))
      tj_leaves_put(&items, tj_tuple_integer(graph, tj_is_constant(rows->length) ? rows->length : symbol),
                    tj_tuple_basis(graph, int_of(m, 1), &rows->mode, 1));
  }
  if (is_launched(m) || m->piece > 1)
    tj_leaves_put(&slots, tj_tuple_constant(graph, m->piece), tj_tuple_basis(graph, int_of(m, 1), &m->along, 1));
  return tj_leaves_pair(graph, &items, &slots);
}

static tj_mapping *launched_tile(const row_map *m) {
  tj_graph *graph = m->graph;
  const tj_domain *domain = m->map->domain;
  const tj_tuple **tile = TJ_NEW_ARRAY(graph->job, const tj_tuple *, domain->count);
  tj_mapping *mapping = TJ_NEW(graph->job, tj_mapping);
  for (uint32_t mode = 0; mode < domain->count; mode++) {
    const row_mode *rows = find_in_box(m, mode);
    bool is_chosen = rows != NULL && !tj_is_constant(rows->length);
    tile[mode] =
        tj_tuple_integer(graph, is_chosen ? tj_mapping_share(graph, TJ_MAPPING_ITEMS, mode) : reach_of(m, mode));
  }
  *mapping = (tj_mapping){.is_launched = true,
                          .domain = tj_domain_layout(graph, domain),
                          .tile = tj_tuple_list(graph, tile, domain->count),
                          .passes = 1};
  mapping->load.layout = layout_of(m);
  return mapping;
}

static tj_mapping *known_tile(const row_map *m) {
  tj_block_map tile = *m->map;
  for (uint32_t mode = 0; mode < tile.domain->count; mode++) {
    tile.reach[mode] = reach_of(m, mode)->value;
    tile.size[mode] = 1;
  }
  tj_mapping *mapping = tj_mapping_of_tile(&tile, m->along);
  mapping->load = tj_mapping_side_of(m->graph, layout_of(m), NULL);
  return mapping;
}

static const tj_mapping *mapping_of(const row_map *m, bool streams) {
  tj_mapping *mapping = is_launched(m) ? launched_tile(m) : known_tile(m);
  mapping->store = mapping->load;
  mapping->streams = streams;
  return mapping;
}

/* --- places --- */

/* Takes the number of one of so many tiles out of *rest. */
static const tj_node *take_number(const row_map *m, const tj_node **rest, const tj_node *count) {
  const tj_node *number = tj_mod(m->graph, *rest, count);
  *rest = tj_div(m->graph, *rest, count);
  return number;
}

/* Where tile `number` of a mode begins. The last piece of a row is shorter than others. */
static const tj_node *origin_of(const row_map *m, uint32_t mode, const tj_node *number) {
  const tj_node *reach = reach_of(m, mode);
  return mode == m->along ? tj_mul(m->graph, number, reach)
                          : tj_tile_begin(m->graph, extent_of(m, mode), reach, number);
}

/* The tile of a workgroup along each mode: in the order of the mapping, or of the source. */
static const tj_node *const *tile_of(const row_map *m, const tj_node *workgroup) {
  const tj_block_map *map = m->map;
  uint32_t count = map->domain->count;
  if (!m->mapping->is_launched)
    return tj_mapping_tile(m->graph, m->mapping, m->tiles.along, map->assumed, workgroup);
  const tj_node **tile = TJ_NEW_ARRAY(m->graph->job, const tj_node *, count);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t mode = map->by_source[i];
    tile[mode] = i + 1 == count ? workgroup : take_number(m, &workgroup, m->tiles.along[mode]);
  }
  return tile;
}

/* The first coordinates of a tile. */
static const tj_node **corner_of(const row_map *m, const tj_node *workgroup) {
  const tj_node **corner = TJ_NEW_ARRAY(m->graph->job, const tj_node *, m->map->domain->count);
  const tj_node *const *tile = tile_of(m, workgroup);
  for (uint32_t mode = 0; mode < m->map->domain->count; mode++)
    corner[mode] = origin_of(m, mode, tile[mode]);
  return corner;
}

static void place(row_map *m) {
  tj_graph *graph = m->graph;
  const tj_node **reach = TJ_NEW_ARRAY(graph->job, const tj_node *, m->map->domain->count);
  m->rows = int_of(m, 1);
  for (uint32_t mode = 0; mode < m->map->domain->count; mode++)
    reach[mode] = reach_of(m, mode);
  m->tiles = tj_tiles_of(graph, m->map->domain, reach);
  for (uint32_t i = 0; i < m->box_count; i++)
    m->rows = tj_mul(graph, m->rows, m->box[i].length);
  m->rows = tj_simplified(graph, m->rows);
  m->workgroup = tj_coordinate(graph, "g", m->tiles.count);
  m->item = tj_coordinate(graph, "t", m->rows);
  const tj_node *rest = m->item;
  for (uint32_t i = 0; i < m->box_count; i++)
    m->box[i].at = i + 1 == m->box_count ? rest : take_number(m, &rest, m->box[i].length);
}

/* --- accesses --- */

static tj_access access_at(const row_map *m, bool is_load, const tj_node *const digit[]) {
  uint32_t operand = is_load ? TJ_OPERAND_SOURCE : TJ_OPERAND_DESTINATION;
  return tj_domain_at(m->graph, m->map->domain, operand, tj_flat_buffer(m->map->flat, operand), digit);
}

/* Whether all rows of a side are contiguous and valid, and as far apart as its strides say. */
static bool are_rows(const row_map *m, uint32_t operand) {
  uint64_t modes = (uint64_t)1 << m->along;
  for (uint32_t i = 0; i < m->box_count; i++)
    modes |= (uint64_t)1 << m->box[i].mode;
  return tj_domain_is_even(m->graph, m->map->domain, operand, modes, NULL);
}

/* Elements of each row of a workgroup. */
static const tj_node *length_of(const row_map *m, const tj_node *workgroup) {
  tj_graph *graph = m->graph;
  const tj_node *begin = corner_of(m, workgroup)[m->along];
  return tj_min(graph, int_of(m, m->piece), tj_sub(graph, extent_of(m, m->along), begin));
}

/* The row of a work-item in the tile of a workgroup. */
static tj_access row_of(const row_map *m, bool is_load, const tj_node *workgroup) {
  tj_graph *graph = m->graph;
  tj_access access = access_at(m, is_load, corner_of(m, workgroup));
  access.base = access.offset;
  access.offset = int_of(m, 0);
  for (uint32_t i = 0; i < m->box_count; i++) {
    const tj_node *stride = tj_block_stride(m->map, m->box[i].mode, is_load);
    access.offset = tj_add(graph, access.offset, tj_mul(graph, m->box[i].at, stride));
  }
  access.valid = int_of(m, 1);
  return access;
}

/* --- steps --- */

/* Fetches the lines at the ends of the row that the next workgroup stores, of which this one leaves a part. */
static void add_ends(const row_map *m, tj_kernel *kernel) {
  tj_graph *graph = m->graph;
  const tj_node *next = tj_next_tile(m->graph, &m->tiles, m->workgroup);
  const tj_node *end[] = {int_of(m, 0), tj_sub(graph, length_of(m, next), int_of(m, 1))};
  for (int i = 0; i < 2; i++) {
    tj_access access = row_of(m, false, next);
    access.offset = tj_add(graph, access.offset, end[i]);
    kernel->step[kernel->step_count++] =
        (tj_kernel_step){.kind = TJ_STEP_PREFETCH, .access = access, .width = 1, .slot_step = 1};
  }
}

static void add_row(const row_map *m, tj_kernel *kernel) {
  tj_kernel_step *step = &kernel->step[kernel->step_count++];
  int64_t most = extent_of(m, m->along)->facts.high;
  *step = (tj_kernel_step){.kind = TJ_STEP_RUN,
                           .access = row_of(m, false, m->workgroup),
                           .from = row_of(m, true, m->workgroup),
                           .ahead = row_of(m, true, tj_next_tile(m->graph, &m->tiles, m->workgroup)),
                           .limit = length_of(m, m->workgroup),
                           .width = (uint32_t)(most < m->piece ? most : m->piece),
                           .slot_step = 1};
}

/* --- kernels --- */

static tj_kernel *make_kernel(row_map *m) {
  tj_graph *graph = m->graph;
  tj_kernel *kernel = tj_kernel_in_place_of(graph, m->map->flat, m->map->assumed);
  kernel->workgroup = m->workgroup;
  kernel->item = m->item;
  kernel->items = tj_is_constant(m->rows) ? NULL : m->rows;
  kernel->workgroup_size = (uint32_t)m->rows->facts.high;
  kernel->count = tj_simplified(graph, tj_mul(graph, m->tiles.count, int_of(m, kernel->workgroup_size)));
  kernel->step = TJ_NEW_ARRAY(graph->job, tj_kernel_step, 3);
  kernel->is_streamed = m->mapping->streams;
  kernel->mapping = m->mapping;
  if (kernel->is_streamed)
    add_ends(m, kernel);
  add_row(m, kernel);
  tj_kernel_simplify(graph, kernel, NULL);
  return tj_kernel_fits(graph, kernel) ? kernel : NULL;
}

/* Truth, whether all rows are whole lines of the destination if one is. */
static const tj_node *are_lines(const row_map *m) {
  tj_graph *graph = m->graph;
  const tj_block_map *map = m->map;
  const tj_node *line = int_of(m, elements_of(m, LINE_BYTES)), *none = int_of(m, 0);
  const tj_node *truth = tj_equal(graph, tj_mod(graph, extent_of(m, m->along), line), none);
  if (map->domain->count == 1)
    return truth;
  const tj_node *distance = tj_block_stride(map, map->by_destination[1], false);
  return tj_and(graph, truth, tj_equal(graph, tj_mod(graph, distance, line), none));
}

static row_map choose(const tj_block_map *map) {
  row_map m = {.map = map, .graph = map->graph, .along = map->by_destination[0]};
  choose_tile(&m);
  return m;
}

/* The rows that a mapping says, or those of which the launch chooses how many a tile has. False: it says none. */
static bool read_rows(const tj_block_map *map, const tj_mapping *mapping, row_map *m) {
  uint32_t mode[TJ_BLOCK_MOST_MODES], count;
  *m = choose(map);
  m->mapping = mapping;
  if (mapping->is_launched)
    return true;
  if (!tj_row_read(map, mapping, mode, &count))
    return false;
  m->piece = tj_mapping_extent(mapping, m->along);
  m->box_count = count;
  for (uint32_t i = 0; i < count; i++)
    m->box[i] = (row_mode){.mode = mode[i], .length = int_of(m, tj_mapping_extent(mapping, mode[i]))};
  return true;
}

const tj_node *tj_rows_are_streamed(const tj_block_map *map) {
  const row_map m = choose(map);
  tj_graph *graph = map->graph;
  const tj_node *elements = map->flat->buffer[tj_flat_buffer(map->flat, TJ_OPERAND_DESTINATION)].element_count;
  const tj_node *is_large = tj_less_equal(graph, int_of(&m, elements_of(&m, TJ_BLOCK_STREAM_BYTES)), elements);
  const tj_node *is_long = tj_less_equal(graph, int_of(&m, elements_of(&m, LONG_BYTES)), extent_of(&m, m.along));
  is_long = tj_or(graph, is_long, are_lines(&m));
  return tj_simplified(graph, tj_and(graph, is_large, is_long));
}

const tj_mapping *tj_row_mapping(const tj_block_map *map, bool streams) {
  const row_map m = choose(map);
  return mapping_of(&m, streams);
}

tj_kernel *tj_rows_as_mapped(const tj_block_map *map, const tj_mapping *mapping) {
  row_map m;
  if (!read_rows(map, mapping, &m) || !are_rows(&m, TJ_OPERAND_SOURCE) || !are_rows(&m, TJ_OPERAND_DESTINATION))
    return NULL;
  place(&m);
  return make_kernel(&m);
}
