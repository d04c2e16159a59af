/* SPDX-License-Identifier: MIT */
/* Flexible tiles that stay in registers, of which work-items tell apart one bounded sum alone.
 *
 * What masks a vector is a comparison for each bounded sum and slot, where every mode has work-items and slots. Here
 * the sum with the smallest step is that of work-items, and slots do not change it: all have one comparison. Slots
 * are coordinates of one mode of the other sums, along which there are no work-items: what is compared is the same
 * for all of these, and machines hold it against the bounds of resources by the scalar that instructions skip. So
 * there are twice as many slots, which share what a work-item computes, and those beyond the domain are masked like
 * this, too.
 *
 * Where that leaves out modes of the sums of rows, along which the destination has long runs, another way has
 * work-items along all modes of bounded sums but that of rows: those mask rows, too, as far as the end of a resource
 * does not. */
#include "lower/flexible/flexible_straight.h"

enum { ROWS = 2 * TJ_STRAIGHT_SLOTS };

/* Modes, by bit, that work-items do not go along, which have fewer digits to tell apart then; the one of these that
 * slots do. */
typedef struct {
  uint64_t without_items;
  uint32_t rows;
} scalar_modes;

/* --- modes --- */

static uint64_t modes_of(const tj_flexible *f, uint32_t form) {
  uint64_t modes = 0;
  for (uint32_t m = 0; m < f->domain->count; m++)
    modes |= tj_is_int(f->mode[m].stride[form].launch, 0) ? 0 : tj_flexible_bit(m);
  return modes;
}

/* How close its closest mode is, of the modes of the form's side. */
static uint32_t rank_of(const tj_flexible *f, uint32_t form) {
  const uint32_t *order = f->order[f->form[form].side];
  uint32_t rank = 0;
  while (rank < f->domain->count && (modes_of(f, form) >> order[rank] & 1) == 0)
    rank++;
  return rank;
}

/* Of several sums the modes of the closest one, which is left to work-items, as is one of the mode of vectors; 0:
 * there is only one other. */
static uint64_t modes_of_items(const tj_flexible *f) {
  uint32_t kept = TJ_FLEXIBLE_BOUNDS;
  for (uint32_t form = TJ_FLEXIBLE_BOUNDS; form < f->form_count; form++)
    kept = rank_of(f, form) < rank_of(f, kept) ? form : kept;
  bool is_left = f->form_count > TJ_FLEXIBLE_BOUNDS + 1 ||
                 (modes_of(f, kept) & tj_flexible_bit(tj_flexible_first(f, TJ_FLEXIBLE_SOURCE))) != 0;
  return is_left ? modes_of(f, kept) : 0;
}

/* Those of the other sums. */
static uint64_t modes_of_scalars(const tj_flexible *f) {
  uint64_t modes = 0;
  for (uint32_t form = TJ_FLEXIBLE_BOUNDS; form < f->form_count; form++)
    modes |= modes_of(f, form);
  return modes & ~modes_of_items(f);
}

/* The longest, as far as its extent is known, and of these the closest to the destination. */
static uint32_t longest_of(const tj_flexible *f, uint64_t modes) {
  uint64_t taken = ~modes;
  uint32_t longest = tj_flexible_take_closest(f, &taken, TJ_FLEXIBLE_DESTINATION);
  while ((~taken & modes) != 0) {
    uint32_t next = tj_flexible_take_closest(f, &taken, TJ_FLEXIBLE_DESTINATION);
    bool is_longer = f->domain->mode[next].extent->facts.high > f->domain->mode[longest].extent->facts.high;
    longest = is_longer ? next : longest;
  }
  return longest;
}

/* Beside one sum's modes, or those of all but the mode of rows, work-items go along the first one. */
static scalar_modes split_modes(const tj_flexible *f, tj_flexible_way way) {
  uint64_t scalars = modes_of_scalars(f), items = modes_of_items(f),
           first = tj_flexible_bit(f->axis[TJ_TILE_LOADED].mode);
  uint32_t rows = longest_of(f, scalars);
  if (way == TJ_FLEXIBLE_LANES)
    return (scalar_modes){~(items | scalars | first) | tj_flexible_bit(rows), rows};
  return (scalar_modes){items == 0 ? scalars : ~(items | first), rows};
}

/* --- whether there are some --- */

static bool has_scalars(const tj_flexible *f) {
  const tj_buffer_resource *resource = f->target->resource;
  return resource != NULL && resource->counts_scalar && f->kernel->fill == 0 && f->form_count > TJ_FLEXIBLE_BOUNDS &&
         modes_of_scalars(f) != 0;
}

static bool has_along(const tj_flexible *f, const tj_tuple *strides, uint32_t mode) {
  uint32_t count;
  const tj_tuple *const *stride = tj_tuple_leaves(f->graph, strides, &count);
  bool has = false;
  for (uint32_t i = 0; i < count; i++)
    has = has || (stride[i]->kind == TJ_TUPLE_BASIS && stride[i]->path[0] == mode);
  return has;
}

tj_flexible_way tj_flexible_way_of_given(const tj_flexible *f) {
  if (!has_scalars(f))
    return TJ_FLEXIBLE_VECTORS;
  const tj_tuple *items = f->given->load.layout.stride->item[0];
  const scalar_modes modes = split_modes(f, TJ_FLEXIBLE_SCALARS);
  tj_flexible_way way = TJ_FLEXIBLE_SCALARS;
  for (uint32_t m = 0; m < f->domain->count; m++) {
    if ((modes.without_items >> m & 1) != 0 && has_along(f, items, m))
      way = TJ_FLEXIBLE_LANES;
  }
  bool has_rows = tj_flexible_axis_of(f, modes.rows) < TJ_TILE_AXES && !has_along(f, items, modes.rows);
  return has_rows ? way : TJ_FLEXIBLE_VECTORS;
}

static bool may_tell_by_offsets(tj_flexible *f) {
  const scalar_modes modes = split_modes(f, TJ_FLEXIBLE_OFFSETS);
  bool may = false;
  for (uint32_t form = TJ_FLEXIBLE_BOUNDS; form < f->form_count; form++)
    may = may || tj_flexible_has_pitch(f, form, modes.without_items);
  return may;
}

bool tj_flexible_may_have_scalars(tj_flexible *f, tj_flexible_way way) {
  if (!has_scalars(f) || (way == TJ_FLEXIBLE_OFFSETS && !may_tell_by_offsets(f)))
    return false;
  uint64_t scalars = modes_of_scalars(f);
  return way != TJ_FLEXIBLE_LANES || scalars != tj_flexible_bit(longest_of(f, scalars));
}

/* --- the shape --- */

/* Modes without items and slots are none of the tile's; that of slots comes last, as mappings have it. */
static void leave_out(tj_flexible *f, const scalar_modes *modes) {
  uint32_t count = TJ_TILE_NEXT_LOADED;
  for (uint32_t i = TJ_TILE_NEXT_LOADED; i < TJ_TILE_AXES; i++) {
    uint32_t mode = f->axis[i].mode;
    if ((modes->without_items & tj_flexible_bit(mode)) == 0 && mode != TJ_FLEXIBLE_NONE)
      f->axis[count++].mode = mode;
  }
  f->axis[count++].mode = modes->rows;
  while (count < TJ_TILE_AXES)
    f->axis[count++].mode = TJ_FLEXIBLE_NONE;
}

/* Axes, by bit, of these modes, but for that of rows. */
static uint32_t axes_among(const tj_flexible *f, uint64_t modes, uint32_t rows) {
  uint32_t axes = 0;
  for (uint32_t i = 0; i < TJ_TILE_AXES; i++) {
    bool is_among = f->axis[i].mode != TJ_FLEXIBLE_NONE && (modes >> f->axis[i].mode & 1) != 0;
    axes |= is_among && i != rows ? 1u << i : 0;
  }
  return axes;
}

static void tell_by_offsets(tj_flexible *f, uint64_t without_items) {
  for (uint32_t form = TJ_FLEXIBLE_BOUNDS; form + 1 < f->form_count; form++)
    tj_flexible_tell_by_offsets(f, form, without_items);
}

/* Of bounds that rows go on with. */
static void end_by_offsets(tj_flexible *f, const scalar_modes *modes) {
  for (uint32_t form = TJ_FLEXIBLE_BOUNDS; form + 1 < f->form_count; form++) {
    if ((modes_of(f, form) & tj_flexible_bit(modes->rows)) != 0)
      tj_flexible_end_by_offsets(f, form, modes->without_items);
  }
}

void *tj_flexible_scalar_shape(tj_flexible *f, tj_flexible_way way) {
  scalar_modes modes = split_modes(f, way), of_scalars = split_modes(f, TJ_FLEXIBLE_SCALARS);
  if (tj_flexible_axis_of(f, modes.rows) == TJ_TILE_AXES)
    f->axis[TJ_TILE_AXES - 1].mode = modes.rows;
  leave_out(f, &modes);
  uint32_t rows = tj_flexible_axis_of(f, modes.rows);
  tj_flexible_cut(f, modes.rows);
  tj_tile tile = {.kind = TJ_TILE_ROWS, .slots = ROWS, .rows = rows};
  if (way == TJ_FLEXIBLE_LANES) {
    f->has_small_steps = true;
    tile.kind = TJ_TILE_MASKED_ROWS;
    tile.without = axes_among(f, of_scalars.without_items, rows);
  }
  tj_flexible_demand(f, tj_straight_choose(f, tile));
  f->axis[rows].has_slots = true;
  tj_straight_map(f);
  if (way == TJ_FLEXIBLE_OFFSETS)
    tell_by_offsets(f, modes.without_items);
  tj_flexible_place_tiles(f);
  if (way == TJ_FLEXIBLE_LANES)
    end_by_offsets(f, &modes);
  tj_flexible_mask_rows(f, modes.rows, modes.without_items, ROWS);
  return f;
}
