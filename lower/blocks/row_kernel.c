/* SPDX-License-Identifier: MIT */
/* Kernels of rows: runs from the source, one for each work-item.
 *
 * How many rows a tile has may be the launch's to say, and where a tile begins is computed once for all of it. Where
 * stores bypass the caches, the tile that follows is fetched meanwhile, and also the lines of the destination at the
 * ends of its rows, what is left of which has to be read first. */
#include "ir/index/facts.h"
#include "ir/simplify/simplify.h"
#include "lower/blocks/blocks.h"
#include "lower/blocks/rows.h"
#include "lower/kernel/kernel_expressions.h"
#include "lower/kernel/variant.h"
#include "lower/shape/tile_order.h"

typedef struct {
  const tj_block_copy *copy;
  const tj_mapping *mapping;
  tj_graph *graph;
  tj_rows rows;
  uint32_t along;        /* the mode of rows, whose last tile ends where it does; others begin earlier */
  const tj_node **reach; /* of the tile, by mode */
  tj_tiles tiles;
  const tj_node *workgroup, *item;
  const tj_node *items; /* of a workgroup */
} row_tile;

/* --- tiles --- */

static const tj_node *take_digit(tj_graph *graph, const tj_node **rest, const tj_node *count) {
  const tj_node *digit = tj_mod(graph, *rest, count);
  *rest = tj_div(graph, *rest, count);
  return digit;
}

/* The tile of a workgroup along each mode: in the order of the mapping, or of the source. */
static const tj_node *const *tile_of(const row_tile *t, const tj_node *workgroup) {
  const tj_block_copy *copy = t->copy;
  uint32_t count = copy->domain->count;
  if (!t->mapping->is_launched)
    return tj_mapping_tile(t->graph, t->mapping, t->tiles.along, copy->domain->assumed, workgroup);
  const tj_node **tile = TJ_NEW_ARRAY(t->graph->job, const tj_node *, count);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t mode = copy->problem.order[TJ_SOURCE][i];
    tile[mode] = i + 1 == count ? workgroup : take_digit(t->graph, &workgroup, t->tiles.along[mode]);
  }
  tj_bound_digit(t->graph, workgroup, t->tiles.along[copy->problem.order[TJ_SOURCE][count - 1]]);
  return tile;
}

/* The first coordinates of a tile. */
static const tj_node *const *corner_of(const row_tile *t, const tj_node *workgroup) {
  const tj_node **corner = TJ_NEW_ARRAY(t->graph->job, const tj_node *, t->copy->domain->count);
  const tj_node *const *tile = tile_of(t, workgroup);
  for (uint32_t m = 0; m < t->copy->domain->count; m++)
    corner[m] = m == t->along ? tj_mul(t->graph, tile[m], t->reach[m])
                              : tj_tile_begin(t->graph, tj_block_extent(t->copy, m), t->reach[m], tile[m]);
  tj_domain_bound_digits(t->graph, t->copy->domain, corner);
  return corner;
}

static void place_tiles(row_tile *t) {
  tj_graph *graph = t->graph;
  t->reach = TJ_NEW_ARRAY(graph->job, const tj_node *, t->copy->domain->count);
  t->items = tj_int(graph, 1);
  for (uint32_t m = 0; m < t->copy->domain->count; m++)
    t->reach[m] = tj_row_reach(t->copy, &t->rows, m);
  for (uint32_t i = 0; i < t->rows.count; i++)
    t->items = tj_mul(graph, t->items, t->rows.box[i].length);
  t->items = tj_simplified(graph, t->items);
  t->tiles = tj_tiles_of(graph, t->copy->domain, t->reach);
  t->workgroup = tj_coordinate(graph, "g", t->tiles.count);
  t->item = tj_coordinate(graph, "t", t->items);
}

/* --- rows --- */

/* Reads the rows that a mapping says: the items are those of the box, the slots are a row, or a piece of one, which
 * is cut to what there is. */
static bool read_rows(row_tile *t) {
  const tj_mapping_side *side = &t->mapping->load;
  uint32_t along = t->along;
  t->rows.piece = tj_mapping_extent(t->mapping, along);
  bool is_row = t->mapping->lds == NULL && side->slots == t->rows.piece &&
                (tj_facts_divisible(&tj_block_extent(t->copy, along)->facts, t->rows.piece) ||
                 tj_mapping_overlap(t->mapping, along) == 0);
  for (uint32_t i = 0; i < side->digit_count && is_row; i++) {
    const tj_mapping_digit *d = &side->digit[i];
    if (d->extent == 1)
      continue;
    is_row = d->step == 1 && d->extent == tj_mapping_extent(t->mapping, d->mode) &&
             (i < side->item_digits) == (d->mode != along);
    if (is_row && i < side->item_digits) {
      t->rows.box[t->rows.count++] = (tj_row_mode){d->mode, tj_int(t->graph, d->extent)};
      t->rows.modes |= (uint64_t)1 << d->mode;
      is_row = tj_block_is_moved_back(t->copy, t->mapping, d->mode);
    }
  }
  return is_row;
}

/* Whether both sides surely step evenly along rows, and from one to the next. */
static bool are_even(const row_tile *t) {
  uint64_t modes = t->rows.modes | (uint64_t)1 << t->along;
  return tj_domain_is_even(t->graph, t->copy->domain, TJ_OPERAND_SOURCE, modes) &&
         tj_domain_is_even(t->graph, t->copy->domain, TJ_OPERAND_DESTINATION, modes);
}

/* Elements of each row of a workgroup. */
static const tj_node *length_of(const row_tile *t, const tj_node *const corner[]) {
  const tj_node *rest = tj_sub(t->graph, tj_block_extent(t->copy, t->along), corner[t->along]);
  return tj_min(t->graph, t->reach[t->along], rest);
}

/* The row of a work-item in a tile. */
static tj_access row_of(const row_tile *t, uint32_t operand, const tj_node *const corner[]) {
  tj_graph *graph = t->graph;
  const tj_block_copy *copy = t->copy;
  tj_access access = tj_domain_at(graph, copy->domain, operand, tj_flat_buffer(copy->flat, operand), corner);
  const tj_node *rest = t->item;
  access.base = access.offset;
  access.offset = tj_int(graph, 0);
  for (uint32_t i = 0; i < t->rows.count; i++) {
    const tj_row_mode *rows = &t->rows.box[i];
    const tj_node *at = i + 1 == t->rows.count ? rest : take_digit(graph, &rest, rows->length);
    const tj_node *stride = tj_domain_stride(copy->domain, operand, rows->mode);
    tj_substitute(graph, copy->domain->assumed, &stride, 1);
    access.offset = tj_add(graph, access.offset, tj_mul(graph, at, tj_simplified(graph, stride)));
  }
  access.valid = tj_int(graph, 1);
  return access;
}

/* --- steps --- */

static tj_kernel_step *add_step(tj_kernel *kernel, tj_step_kind kind, tj_access access) {
  tj_kernel_step *step = &kernel->step[kernel->step_count++];
  *step = (tj_kernel_step){.kind = kind, .access = access, .width = 1, .slot_step = 1};
  return step;
}

/* Fetches the lines at the ends of the row that the next workgroup stores, of which this one leaves a part. */
static void add_ends(const row_tile *t, const tj_node *const next[], tj_kernel *kernel) {
  tj_graph *graph = t->graph;
  const tj_node *end[] = {tj_int(graph, 0), tj_sub(graph, length_of(t, next), tj_int(graph, 1))};
  for (int i = 0; i < 2; i++) {
    tj_access access = row_of(t, TJ_OPERAND_DESTINATION, next);
    access.offset = tj_add(graph, access.offset, end[i]);
    add_step(kernel, TJ_STEP_PREFETCH, access);
  }
}

static void add_rows(const row_tile *t, tj_kernel *kernel) {
  const tj_node *const *corner = corner_of(t, t->workgroup), *const *next = corner_of(
                                                                 t, tj_next_tile(t->graph, &t->tiles, t->workgroup));
  int64_t most = tj_block_extent(t->copy, t->along)->facts.high;
  if (t->mapping->streams)
    add_ends(t, next, kernel);
  tj_kernel_step *step = add_step(kernel, TJ_STEP_RUN, row_of(t, TJ_OPERAND_DESTINATION, corner));
  step->from = row_of(t, TJ_OPERAND_SOURCE, corner);
  step->ahead = row_of(t, TJ_OPERAND_SOURCE, next);
  step->limit = length_of(t, corner);
  step->width = (uint32_t)(most < t->rows.piece ? most : t->rows.piece);
}

static tj_kernel *new_kernel(const row_tile *t) {
  tj_graph *graph = t->graph;
  tj_kernel *kernel = tj_kernel_in_place_of(graph, t->copy->flat, t->copy->domain->assumed);
  kernel->workgroup = t->workgroup;
  kernel->item = t->item;
  kernel->items = tj_is_constant(t->items) ? NULL : t->items;
  kernel->workgroup_size = (uint32_t)t->items->facts.high;
  kernel->count = tj_simplified(graph, tj_mul(graph, t->tiles.count, tj_int(graph, kernel->workgroup_size)));
  kernel->step = TJ_NEW_ARRAY(graph->job, tj_kernel_step, 3);
  kernel->is_streamed = t->mapping->streams;
  kernel->mapping = t->mapping;
  return kernel;
}

tj_kernel *tj_row_kernel(const tj_block_copy *copy, const tj_mapping *mapping) {
  row_tile t = {.copy = copy, .mapping = mapping, .graph = copy->graph, .along = copy->problem.order[TJ_SOURCE][0]};
  if (copy->domain->other_count > 0 || tj_shape_turns(&copy->problem))
    return NULL;
  if (mapping->is_launched)
    t.rows = tj_rows_of(copy);
  if ((!mapping->is_launched && !read_rows(&t)) || !are_even(&t))
    return NULL;
  place_tiles(&t);
  tj_kernel *kernel = new_kernel(&t);
  add_rows(&t, kernel);
  tj_kernel_simplify(t.graph, kernel, NULL);
  return tj_kernel_fits(t.graph, kernel) ? kernel : NULL;
}
