/* SPDX-License-Identifier: MIT */
/* Parts of a layout, on the grid of its values: the tiles that a tiler divides it into, each in a colour of its own,
 * or what a slice takes. A picture of parts is that of a list: the layout, and a tiler or a coordinate with
 * underscores. */
#include "jit/show/show.h"

#include "frontend/sema/sema.h"
#include "ir/layout/algebra.h"

static bool has_underscore(const tj_tuple *tuple) {
  if (tuple->kind == TJ_TUPLE_ANY)
    return true;
  for (uint32_t i = 0; tj_tuple_is_list(tuple) && i < tuple->count; i++) {
    if (has_underscore(tuple->item[i]))
      return true;
  }
  return false;
}

static bool is_slice(const tj_value *part) {
  return part->kind == TJ_VALUE_TUPLE && has_underscore(part->tuple);
}

bool tj_show_is_part(tj_graph *graph, const tj_value *value) {
  return value->kind == TJ_VALUE_LIST && value->count == 2 && tj_value_layout(value->item[0]) != NULL &&
         (is_slice(value->item[1]) || tj_tiler_of_value(graph, value->item[1]) != NULL);
}

/* The colexicographic index of a coordinate in a shape, of whose leaves it has each; moves both on. */
static int64_t index_in(const tj_tuple *shape, const int64_t **leaves, int64_t *size) {
  if (!tj_tuple_is_list(shape)) {
    *size = shape->value->value;
    return *(*leaves)++;
  }
  int64_t index = 0, all = 1;
  for (uint32_t i = 0; i < shape->count; i++) {
    int64_t extent;
    index += all * index_in(shape->item[i], leaves, &extent);
    all *= extent;
  }
  *size = all;
  return index;
}

/* The index in the whole layout. */
static int64_t index_of(const tj_tuple *shape, const int64_t leaves[]) {
  int64_t size;
  return index_in(shape, &leaves, &size);
}

/* --- tiles --- */

/* The number of the tile that each index is in; -1: none. */
static int64_t *tiles_of(const tj_show_request *request, const tj_tuple *shape, int64_t size) {
  tj_graph *graph = request->graph;
  const tj_tiler *tiler = tj_tiler_of_value(graph, request->value->item[1]);
  tj_layout divided = tj_layout_divide(graph, tj_layout_of_shape(graph, shape), tiler, TJ_TILED_ZIPPED);
  tj_table table = tj_table_to_draw(&(tj_show_request){graph, tj_value_of_layout(graph, divided), request->options});
  uint32_t inner = tj_tuple_leaf_count(tj_tuple_mode(table.domain, 0));
  int64_t *tile = TJ_NEW_ARRAY(graph->job, int64_t, size + 1);
  for (int64_t i = 0; i < size; i++)
    tile[i] = -1;
  for (int64_t i = 0; i < table.size; i++, tj_table_advance(&table)) {
    tj_table_evaluate(&table);
    if (table.result[0] < size)
      tile[table.result[0]] = index_of(tj_tuple_mode(table.domain, 1), table.coordinate + inner);
  }
  return tile;
}

static void colour_tiles(const tj_show_request *request, const tj_tuple *shape, tj_picture *picture) {
  int64_t size = tj_tuple_product(request->graph, shape)->value;
  const int64_t *tile = tiles_of(request, shape, size);
  for (uint32_t i = 0; i < picture->panel_count; i++) {
    const tj_panel *panel = &picture->panel[i];
    for (size_t k = 0; k < (size_t)panel->row.count * panel->column.count; k++) {
      tj_cell *cell = &panel->cell[k];
      int64_t number = cell->state == TJ_CELL_VALID ? tile[index_of(shape, cell->coordinate)] : -1;
      if (number >= 0)
        cell->fill = tj_colour_category(number, number / 8);
    }
  }
  picture->colour = "a hue for each tile modulo 8, in four shades";
}

/* --- slices --- */

/* Whether the coordinate is one that the slice takes; moves the leaves on. TJ2027 where the structures differ. */
static bool takes(tj_job *job, const tj_tuple *slice, const tj_tuple *shape, const int64_t **leaves) {
  int64_t size;
  if (!tj_tuple_is_list(slice)) {
    int64_t index = index_in(shape, leaves, &size);
    return slice->kind == TJ_TUPLE_ANY || slice->value->value == index;
  }
  if (!tj_tuple_is_list(shape) || shape->count != slice->count)
    tj_fail(job, TJ_SLICE_STRUCTURE, "the slice %s of the shape %s", tj_tuple_text(job, slice),
            tj_tuple_text(job, shape));
  bool is_taken = true;
  for (uint32_t i = 0; i < slice->count; i++)
    is_taken = takes(job, slice->item[i], shape->item[i], leaves) && is_taken;
  return is_taken;
}

static void check_slice(tj_graph *graph, const tj_tuple *slice) {
  for (uint32_t i = 0; tj_tuple_is_list(slice) && i < slice->count; i++)
    check_slice(graph, slice->item[i]);
  if (slice->kind == TJ_TUPLE_INTEGER)
    tj_constant_value(graph, slice->value, "a coordinate of the slice");
  else if (slice->kind == TJ_TUPLE_BASIS)
    tj_fail(graph->job, TJ_SLICE_STRUCTURE, "a basis element in a slice");
}

static void mark_slice(const tj_show_request *request, const tj_tuple *shape, tj_picture *picture) {
  tj_job *job = request->graph->job;
  const tj_tuple *slice = request->value->item[1]->tuple;
  check_slice(request->graph, slice);
  for (uint32_t i = 0; i < picture->panel_count; i++) {
    const tj_panel *panel = &picture->panel[i];
    for (size_t k = 0; k < (size_t)panel->row.count * panel->column.count; k++) {
      tj_cell *cell = &panel->cell[k];
      const int64_t *leaves = cell->coordinate;
      if (cell->state == TJ_CELL_VALID && takes(job, slice, shape, &leaves))
        cell->fill = tj_colour_category(1, 0);
    }
  }
  picture->colour = tj_string_format(job, "the slice %s", tj_tuple_text(job, slice));
}

void tj_show_part(const tj_show_request *request, tj_picture *picture) {
  const tj_value *layout = request->value->item[0];
  tj_show_options options = *request->options;
  options.colour = TJ_SHOW_COLOUR_NONE;
  tj_show_grid(&(tj_show_request){request->graph, layout, &options}, picture);
  if (is_slice(request->value->item[1]))
    mark_slice(request, tj_value_layout(layout)->shape, picture);
  else
    colour_tiles(request, tj_value_layout(layout)->shape, picture);
}
