/* SPDX-License-Identifier: MIT */
/* Atoms of the library, side by side: A, B and C of a matrix instruction, B above C and A left of it, as CuTe's
 * print_latex lays them out; what a copy instruction reads and what it writes. */
#include "jit/show/show.h"

enum { ROWS, COLUMNS };

static bool is_layout(const tj_value *value) {
  return tj_value_layout(value) != NULL;
}

static const tj_value *item_of(const tj_value *atom, uint32_t number) {
  return atom->item[number];
}

/* Whether the items from number `first` on are layouts. */
static bool are_layouts(const tj_value *atom, uint32_t first) {
  for (uint32_t i = first; i < atom->count; i++) {
    if (!is_layout(item_of(atom, i)))
      return false;
  }
  return true;
}

static bool is_mma(const tj_value *value) {
  return value->kind == TJ_VALUE_LIST && value->count == 5 && item_of(value, 0)->kind == TJ_VALUE_TUPLE &&
         tj_tuple_is_list(item_of(value, 0)->tuple) && are_layouts(value, 1);
}

static bool is_copy(const tj_value *value) {
  return value->kind == TJ_VALUE_LIST && value->count == 4 && are_layouts(value, 0);
}

bool tj_show_is_atom(const tj_value *value) {
  return is_mma(value) || is_copy(value);
}

/* Rows become columns. */
static void transpose(tj_job *job, tj_panel *panel) {
  uint32_t rows = panel->row.count, columns = panel->column.count;
  tj_cell *cell = TJ_NEW_ARRAY(job, tj_cell, (size_t)rows * columns + TJ_SHOW_BROKEN_ROW);
  for (uint32_t i = 0; i < rows; i++) {
    for (uint32_t k = 0; k < columns; k++)
      cell[(size_t)k * rows + i] = panel->cell[(size_t)i * columns + k];
  }
  tj_path_place *path = TJ_NEW_ARRAY(job, tj_path_place, panel->path_count + 1);
  for (uint32_t i = 0; i < panel->path_count; i++)
    path[i] = (tj_path_place){panel->path[i].column, panel->path[i].row, panel->path[i].value};
  tj_axis row = panel->row;
  panel->cell = cell;
  panel->path = path;
  panel->row = panel->column;
  panel->column = row;
}

/* One operand's panel, with what the picture says of all. */
static tj_panel panel_of(const tj_show_request *request, const tj_value *layout, int64_t rows, int64_t columns,
                         const char *caption, tj_picture *picture) {
  tj_show_options options = *request->options;
  options.tile[ROWS] = rows;
  options.tile[COLUMNS] = columns;
  tj_show_threads(&(tj_show_request){request->graph, layout, &options}, picture);
  tj_panel panel = *picture->panel;
  panel.caption = caption;
  return panel;
}

static int64_t extent_of(tj_graph *graph, const tj_tuple *shape, uint32_t mode) {
  return tj_constant_value(graph, tj_tuple_product(graph, tj_tuple_mode(shape, mode)),
                           "an extent of the instruction");
}

static void show_mma(const tj_show_request *request, tj_picture *picture) {
  tj_graph *graph = request->graph;
  const tj_value *atom = request->value;
  const tj_tuple *shape = item_of(atom, 0)->tuple;
  if (tj_tuple_rank(shape) != 3)
    tj_fail(graph->job, TJ_WRONG_TYPE, "operands are drawn of instructions of one product, (M,N,K), not of %s",
            tj_tuple_text(graph->job, shape));
  int64_t m = extent_of(graph, shape, 0), n = extent_of(graph, shape, 1), k = extent_of(graph, shape, 2);
  tj_panel *panel = TJ_NEW_ARRAY(graph->job, tj_panel, 3);
  panel[0] = panel_of(request, item_of(atom, 2), m, k, "A: M down, K across", picture);
  panel[1] = panel_of(request, item_of(atom, 3), n, k, "B: K down, N across", picture);
  panel[2] = panel_of(request, item_of(atom, 4), m, n, "C: M down, N across", picture);
  transpose(graph->job, &panel[1]);
  picture->panel = panel;
  picture->panel_count = 3;
  picture->is_product = true;
  picture->note = tj_string_format(graph->job, "(thread, value) of A, B and C of an instruction %s",
                                   tj_tuple_text(graph->job, shape));
}

static void show_copy(const tj_show_request *request, tj_picture *picture) {
  tj_graph *graph = request->graph;
  const tj_value *source = item_of(request->value, 1), *destination = item_of(request->value, 2);
  const tj_layout *read = tj_value_layout(source);
  int64_t values = tj_tuple_rank(read->shape) == 2 ? extent_of(graph, read->shape, 1) : 1;
  int64_t elements = tj_constant_value(graph, tj_layout_cosize(graph, *read), "what the instruction reads");
  if (elements % values != 0)
    values = 1;
  tj_panel *panel = TJ_NEW_ARRAY(graph->job, tj_panel, 2);
  panel[0] = panel_of(request, source, values, elements / values, "S: what is read", picture);
  panel[1] = panel_of(request, destination, values, elements / values, "D: what is written", picture);
  for (uint32_t i = 0; i < 2; i++)
    transpose(graph->job, &panel[i]);
  picture->panel = panel;
  picture->panel_count = 2;
  picture->note = "(thread, value) of what a copy reads and writes, in the order of its elements";
}

void tj_show_atom(const tj_show_request *request, tj_picture *picture) {
  if (is_mma(request->value))
    show_mma(request, picture);
  else
    show_copy(request, picture);
}
