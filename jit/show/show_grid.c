/* SPDX-License-Identifier: MIT */
/* Grids of maps: which modes are rows, columns and panels, what stands in each cell and on the margins.
 *
 * Values come from the table, that is from the oracle. Layouts have mode 0 as rows and mode 1 as columns, row-major
 * maps their last two dimensions; other modes make panels. A single mode is a row, broken into several when long. */
#include "jit/show/show.h"

#include <inttypes.h>

enum { LONGEST_ROW = 32, BROKEN_ROW = TJ_SHOW_BROKEN_ROW, CYCLE = 8, NO_MODE = UINT32_MAX };

/* A top-level mode of the domain. */
typedef struct {
  const tj_tuple *shape;
  uint32_t first_leaf, leaf_count;
  int64_t size;
} grid_mode;

typedef struct {
  tj_job *job;
  tj_table table;
  grid_mode *mode;
  uint32_t mode_count;
  uint32_t row_mode, column_mode;   /* NO_MODE: the axis has one position */
  uint32_t first_other, last_other; /* the modes of panels: first_other … last_other - 1 */
  uint32_t rows, columns;
} grid;

void tj_show_check_size(tj_job *job, const tj_tuple *shape, int64_t size) {
  if (size <= TJ_SHOW_CELL_LIMIT)
    return;
  tj_note(job, "a picture has at most %d cells: slice the map, or take eval --table", TJ_SHOW_CELL_LIMIT);
  tj_fail(job, TJ_TABLE_LIMIT, "the domain %s has more than %d coordinates", tj_tuple_text(job, shape),
          TJ_SHOW_CELL_LIMIT);
}

const char *tj_number_text(tj_job *job, int64_t number) {
  return tj_string_format(job, "%" PRId64, number);
}

static const int64_t *add_coordinate(tj_text *text, const tj_tuple *structure, const int64_t leaves[]) {
  if (!tj_tuple_is_list(structure)) {
    tj_text_integer(text, *leaves);
    return leaves + 1;
  }
  tj_text_char(text, '(');
  for (uint32_t i = 0; i < structure->count; i++) {
    if (i > 0)
      tj_text_char(text, ',');
    leaves = add_coordinate(text, structure->item[i], leaves);
  }
  tj_text_char(text, ')');
  return leaves;
}

const char *tj_coordinate_text(tj_job *job, const tj_tuple *structure, const int64_t leaves[]) {
  if (!tj_tuple_is_list(structure))
    return tj_number_text(job, *leaves);
  tj_text text = tj_text_begin(job);
  add_coordinate(&text, structure, leaves);
  return text.data;
}

/* --- modes --- */

static void find_modes(grid *g) {
  const tj_tuple *domain = g->table.domain;
  uint32_t first_leaf = 0;
  g->mode_count = tj_tuple_rank(domain);
  g->mode = TJ_NEW_ARRAY(g->job, grid_mode, g->mode_count + 1);
  for (uint32_t i = 0; i < g->mode_count; i++) {
    grid_mode *mode = &g->mode[i];
    mode->shape = tj_tuple_mode(domain, i);
    mode->first_leaf = first_leaf;
    mode->leaf_count = tj_tuple_leaf_count(mode->shape);
    mode->size = 1;
    for (uint32_t k = 0; k < mode->leaf_count; k++)
      mode->size *= g->table.extent[first_leaf + k];
    first_leaf += mode->leaf_count;
  }
}

static void assign_axes(grid *g) {
  g->row_mode = g->column_mode = NO_MODE;
  if (g->mode_count == 1)
    g->column_mode = 0;
  if (g->mode_count >= 2) {
    g->row_mode = g->table.row_major ? g->mode_count - 2 : 0;
    g->column_mode = g->row_mode + 1;
    g->first_other = g->table.row_major ? 0 : 2;
    g->last_other = g->first_other + g->mode_count - 2;
  }
  g->rows = g->row_mode != NO_MODE ? (uint32_t)g->mode[g->row_mode].size : 1;
  g->columns = g->column_mode != NO_MODE ? (uint32_t)g->mode[g->column_mode].size : 1;
}

/* Stands at the index-th coordinate of a mode, colexicographically. */
static void set_mode(grid *g, uint32_t mode, int64_t index) {
  if (mode == NO_MODE)
    return;
  const grid_mode *m = &g->mode[mode];
  for (uint32_t i = m->first_leaf; i < m->first_leaf + m->leaf_count; i++) {
    g->table.coordinate[i] = index % g->table.extent[i];
    index /= g->table.extent[i];
  }
}

/* --- axes --- */

tj_axis tj_axis_of_numbers(tj_job *job, uint32_t count) {
  tj_axis axis = {.count = count, .label = TJ_NEW_ARRAY(job, const char *, count + 1)};
  for (uint32_t i = 0; i < count; i++)
    axis.label[i] = tj_number_text(job, i);
  return axis;
}

bool tj_row_is_long(int64_t count) {
  return count > LONGEST_ROW;
}

void tj_break_row(tj_job *job, uint32_t count, tj_panel *panel) {
  uint32_t rows = (count + BROKEN_ROW - 1) / BROKEN_ROW;
  panel->row = tj_axis_of_numbers(job, rows);
  panel->column = tj_axis_of_numbers(job, BROKEN_ROW);
  for (uint32_t row = 0; row < rows; row++)
    panel->row.label[row] = tj_number_text(job, (int64_t)row * BROKEN_ROW);
  for (uint32_t column = 0; column < BROKEN_ROW; column++)
    panel->column.label[column] = tj_string_format(job, "+%u", column);
}

uint32_t tj_last_row_count(const tj_panel *panel) {
  uint32_t count = panel->column.count;
  const tj_cell *row = &panel->cell[(size_t)(panel->row.count - 1) * count];
  while (count > 0 && row[count - 1].state == TJ_CELL_ABSENT)
    count--;
  return count;
}

/* How many positions belong together: the size of the mode's first submode of more than one position. */
static uint32_t group_of(const grid *g, const grid_mode *mode) {
  for (uint32_t i = 0; i < mode->leaf_count; i++) {
    int64_t extent = g->table.extent[mode->first_leaf + i];
    if (extent > 1)
      return extent < mode->size ? (uint32_t)extent : 0;
  }
  return 0;
}

static tj_axis axis_of(grid *g, uint32_t mode, uint32_t count) {
  tj_axis axis = tj_axis_of_numbers(g->job, count);
  if (mode == NO_MODE)
    axis.label[0] = "";
  if (mode == NO_MODE || g->mode[mode].leaf_count < 2)
    return axis;
  axis.group = group_of(g, &g->mode[mode]);
  axis.detail = TJ_NEW_ARRAY(g->job, const char *, count + 1);
  for (uint32_t i = 0; i < count; i++) {
    set_mode(g, mode, i);
    axis.detail[i] = tj_coordinate_text(g->job, g->mode[mode].shape, &g->table.coordinate[g->mode[mode].first_leaf]);
  }
  set_mode(g, mode, 0);
  return axis;
}

/* --- cells --- */

/* A copy that may be read even where there are none: the table's arrays are longer by one. */
static const int64_t *copy_leaves(grid *g, const int64_t leaves[], uint32_t count) {
  return tj_arena_copy(&g->job->arena, leaves, (count + 1) * sizeof *leaves);
}

static void fill_cell(grid *g, tj_cell *cell) {
  bool valid = tj_table_evaluate(&g->table);
  cell->state = valid ? TJ_CELL_VALID : TJ_CELL_INVALID;
  cell->fill = 0xffffff;
  cell->coordinate = copy_leaves(g, g->table.coordinate, g->table.rank);
  cell->value = copy_leaves(g, g->table.result, g->table.result_count);
  cell->line[0] = tj_coordinate_text(g->job, g->table.output, g->table.result);
}

/* The panel at the current coordinate of the other modes. */
static void fill_panel(grid *g, tj_panel *panel) {
  panel->row = axis_of(g, g->row_mode, g->rows);
  panel->column = axis_of(g, g->column_mode, g->columns);
  panel->cell = TJ_NEW_ARRAY(g->job, tj_cell, (size_t)g->rows * g->columns);
  for (uint32_t row = 0; row < g->rows; row++) {
    for (uint32_t column = 0; column < g->columns; column++) {
      set_mode(g, g->row_mode, row);
      set_mode(g, g->column_mode, column);
      fill_cell(g, &panel->cell[(size_t)row * g->columns + column]);
    }
  }
}

/* A single long mode. */
static void fill_broken_panel(grid *g, tj_panel *panel) {
  tj_break_row(g->job, g->columns, panel);
  panel->cell = TJ_NEW_ARRAY(g->job, tj_cell, (size_t)panel->row.count * panel->column.count);
  for (uint32_t index = 0; index < g->columns; index++) {
    set_mode(g, g->column_mode, index);
    fill_cell(g, &panel->cell[index]);
  }
}

/* --- panels --- */

static int64_t count_panels(const grid *g) {
  int64_t count = 1;
  for (uint32_t i = g->first_other; i < g->last_other; i++)
    count *= g->mode[i].size;
  return count;
}

/* Stands at the number-th coordinate of the other modes, and says it as a slice: (_,_,1,0). */
static const char *place_panel(grid *g, int64_t number) {
  uint32_t others = g->last_other - g->first_other;
  int64_t *index = TJ_NEW_ARRAY(g->job, int64_t, others + 1);
  for (uint32_t i = 0; i < others; i++) {
    uint32_t other = g->table.row_major ? others - 1 - i : i;
    index[other] = number % g->mode[g->first_other + other].size;
    number /= g->mode[g->first_other + other].size;
    set_mode(g, g->first_other + other, index[other]);
  }
  tj_text caption = tj_text_begin(g->job);
  for (uint32_t i = 0; i < g->mode_count; i++) {
    tj_text_char(&caption, i == 0 ? '(' : ',');
    if (i == g->row_mode || i == g->column_mode)
      tj_text_char(&caption, '_');
    else
      tj_text_integer(&caption, index[i - g->first_other]);
  }
  tj_text_char(&caption, ')');
  return caption.data;
}

/* --- colours --- */

/* The bits that a swizzle changes decide the colour: 2^count of them from bit `low` on. */
typedef struct {
  uint32_t low;
  int64_t count;
} cycle;

static bool is_swizzled(const tj_value *value) {
  return value->kind == TJ_VALUE_COMPOSED && value->composed->swizzle.bits > 0;
}

static cycle cycle_of(const tj_value *value) {
  if (!is_swizzled(value))
    return (cycle){0, CYCLE};
  tj_swizzle swizzle = value->composed->swizzle;
  int32_t target = swizzle.base - (swizzle.shift < 0 ? swizzle.shift : 0);
  int32_t bits = swizzle.bits < 5 ? swizzle.bits : 5;
  return (cycle){(uint32_t)target, (int64_t)1 << bits};
}

typedef struct {
  int64_t least, greatest;
} key_range;

static key_range range_of_keys(const tj_cell cells[], size_t count) {
  key_range range = {INT64_MAX, INT64_MIN};
  for (size_t i = 0; i < count; i++) {
    if (cells[i].state != TJ_CELL_VALID)
      continue;
    int64_t key = cells[i].value[0];
    range.least = key < range.least ? key : range.least;
    range.greatest = key > range.greatest ? key : range.greatest;
  }
  return range;
}

static size_t cell_count(const tj_panel *panel) {
  return (size_t)panel->row.count * panel->column.count;
}

static key_range range_of_panels(const tj_picture *picture) {
  key_range range = {INT64_MAX, INT64_MIN};
  for (uint32_t i = 0; i < picture->panel_count; i++) {
    key_range one = range_of_keys(picture->panel[i].cell, cell_count(&picture->panel[i]));
    range.least = one.least < range.least ? one.least : range.least;
    range.greatest = one.greatest > range.greatest ? one.greatest : range.greatest;
  }
  return range;
}

static void colour_by_index(tj_job *job, tj_picture *picture, const char *what) {
  key_range range = range_of_panels(picture);
  for (uint32_t i = 0; i < picture->panel_count; i++) {
    tj_cell *cell = picture->panel[i].cell;
    for (size_t k = 0; k < cell_count(&picture->panel[i]); k++)
      if (cell[k].state == TJ_CELL_VALID)
        cell[k].fill = tj_colour_gradient(cell[k].value[0], range.least, range.greatest);
  }
  if (range.least <= range.greatest)
    picture->colour = tj_string_format(job, "%s, from %" PRId64 " (light) to %" PRId64 " (dark)", what, range.least,
                                       range.greatest);
}

static void colour_by_cycle(tj_job *job, tj_picture *picture, cycle c, const char *what) {
  for (uint32_t i = 0; i < picture->panel_count; i++) {
    tj_cell *cell = picture->panel[i].cell;
    for (size_t k = 0; k < cell_count(&picture->panel[i]); k++) {
      int64_t key = cell[k].state == TJ_CELL_VALID ? cell[k].value[0] >> c.low & (c.count - 1) : 0;
      cell[k].fill = tj_colour_category(key, key / 8);
    }
  }
  picture->colour =
      c.low == 0 ? tj_string_format(job, "%s modulo %" PRId64, what, c.count)
                 : tj_string_format(job, "%s / %" PRId64 " modulo %" PRId64, what, (int64_t)1 << c.low, c.count);
}

static void colour_grid(tj_job *job, const tj_show_request *request, tj_picture *picture) {
  const char *what = tj_tuple_is_list(picture->output) ? "first component" : "index";
  switch (request->options->colour) {
  case TJ_SHOW_COLOUR_DEFAULT:
    if (is_swizzled(request->value))
      colour_by_cycle(job, picture, cycle_of(request->value), what);
    else
      colour_by_index(job, picture, what);
    return;
  case TJ_SHOW_COLOUR_INDEX:
    colour_by_index(job, picture, what);
    return;
  case TJ_SHOW_COLOUR_CYCLE:
    colour_by_cycle(job, picture, cycle_of(request->value), what);
    return;
  case TJ_SHOW_COLOUR_NONE:
    return;
  default:
    tj_fail(job, TJ_WRONG_TYPE, "colour by thread or value needs threads: a tile, or a distribution");
  }
}

/* --- the picture --- */

/* How many coordinates the domain has: 0 where that depends on parameters, INT64_MAX where they are too many. */
static int64_t size_of_domain(tj_graph *graph, const tj_tuple *domain) {
  uint32_t count;
  const tj_tuple *const *leaves = tj_tuple_leaves(graph, domain, &count);
  int64_t size = 1;
  for (uint32_t i = 0; i < count; i++) {
    if (!tj_is_constant(leaves[i]->value))
      return 0;
    if (__builtin_mul_overflow(size, leaves[i]->value->value, &size))
      size = INT64_MAX;
  }
  return size;
}

const char *tj_show_without_grid(const tj_show_request *request) {
  int64_t size = size_of_domain(request->graph, tj_map_of_value(request->graph, request->value).domain);
  return size == 0                   ? "the grid is left out: it depends on parameters"
         : size > TJ_SHOW_CELL_LIMIT ? "the grid is left out: it has more than 65536 cells"
                                     : NULL;
}

tj_table tj_table_to_draw(const tj_show_request *request) {
  tj_map map = tj_map_of_value(request->graph, request->value);
  tj_show_check_size(request->graph->job, map.domain, size_of_domain(request->graph, map.domain));
  return tj_table_open(request->graph, request->value, TJ_SHOW_CELL_LIMIT);
}

static grid open_grid(const tj_show_request *request) {
  grid g = {.job = request->graph->job};
  g.table = tj_table_to_draw(request);
  find_modes(&g);
  assign_axes(&g);
  return g;
}

void tj_show_grid(const tj_show_request *request, tj_picture *picture) {
  grid g = open_grid(request);
  int64_t count = count_panels(&g);
  tj_panel *panel = TJ_NEW_ARRAY(g.job, tj_panel, count);
  if (g.mode_count == 1 && tj_row_is_long(g.columns)) {
    fill_broken_panel(&g, panel);
  } else {
    for (int64_t i = 0; i < count; i++) {
      const char *caption = place_panel(&g, i);
      panel[i].caption = count > 1 || g.mode_count > 2 ? caption : NULL;
      fill_panel(&g, &panel[i]);
    }
  }
  picture->panel = panel;
  picture->panel_count = (uint32_t)count;
  picture->domain = g.table.domain;
  picture->output = g.table.output;
  picture->has_validity = g.table.has_validity;
  colour_grid(g.job, request, picture);
}
