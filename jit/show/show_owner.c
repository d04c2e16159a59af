/* SPDX-License-Identifier: MIT */
/* Tiles that threads share: who holds each element, and as which of its values.
 *
 * A (thread, value) layout or a tile distribution is read through its table, once to count the owners of each element
 * and once to write them down. An element may have several owners (data that is replicated) or none. */
#include "jit/show/show.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TILE_DIMENSIONS = TJ_MAX_DIMENSIONS };

/* A tile, the table that shares it out, and how to read an owner and a place from the table. */
typedef struct sharing sharing;
struct sharing {
  tj_job *job;
  const tj_show_request *request;
  tj_table table;
  const tj_tuple *tile; /* a list */
  int64_t length[MOST_TILE_DIMENSIONS];
  uint32_t rank;
  const char *const *field;
  uint32_t field_count;
  uint32_t thread_fields; /* the first ones say who; the last one says which of its values */
  void (*owner)(sharing *self, int64_t fields[]);
  int64_t (*place)(sharing *self); /* row-major over the tile */
  tj_cell *cell;
  int64_t size, lane_count, value_count;
  const int64_t *thread_length; /* of each field of a thread; NULL: it has one */
};

/* --- the tile --- */

static void measure_tile(sharing *self) {
  uint32_t count;
  const tj_tuple *const *leaves = tj_tuple_leaves(self->request->graph, self->tile, &count);
  self->rank = count;
  self->size = 1;
  for (uint32_t i = 0; i < count; i++) {
    self->length[i] = leaves[i]->value->value;
    if (__builtin_mul_overflow(self->size, self->length[i], &self->size))
      self->size = INT64_MAX;
  }
  tj_show_check_size(self->job, self->tile, self->size);
}

static const int64_t *coordinate_of(sharing *self, int64_t place) {
  int64_t *coordinate = TJ_NEW_ARRAY(self->job, int64_t, self->rank + 1);
  for (uint32_t i = self->rank; i-- > 0;) {
    coordinate[i] = place % self->length[i];
    place /= self->length[i];
  }
  return coordinate;
}

/* The row-major place of a coordinate; TJ2014 outside of the tile. */
static int64_t place_of(sharing *self, const int64_t coordinate[]) {
  int64_t place = 0;
  for (uint32_t i = 0; i < self->rank; i++) {
    if (coordinate[i] < 0 || coordinate[i] >= self->length[i])
      tj_fail(self->job, TJ_COORDINATE_RANGE, "a thread holds element %" PRId64 " of mode %u, outside the tile %s",
              coordinate[i], i, tj_tuple_text(self->job, self->tile));
    place = place * self->length[i] + coordinate[i];
  }
  return place;
}

/* --- owners --- */

static void walk_owners(sharing *self, void (*visit)(sharing *self, tj_cell *cell)) {
  for (int64_t n = 0; n < self->table.size; n++) {
    tj_table_evaluate(&self->table);
    visit(self, &self->cell[self->place(self)]);
    tj_table_advance(&self->table);
  }
}

static void count_owner(sharing *self, tj_cell *cell) {
  (void)self;
  cell->owner_count++;
}

static void add_owner(sharing *self, tj_cell *cell) {
  self->owner(self, &cell->owner[(size_t)cell->owner_count++ * self->field_count]);
}

static void gather_owners(sharing *self) {
  self->cell = TJ_NEW_ARRAY(self->job, tj_cell, self->size + TJ_SHOW_BROKEN_ROW);
  walk_owners(self, count_owner);
  for (int64_t i = 0; i < self->size; i++) {
    tj_cell *cell = &self->cell[i];
    cell->state = cell->owner_count > 0 ? TJ_CELL_VALID : TJ_CELL_EMPTY;
    cell->fill = 0xffffff;
    cell->coordinate = coordinate_of(self, i);
    cell->owner = TJ_NEW_ARRAY(self->job, int64_t, (size_t)cell->owner_count * self->field_count + 1);
    cell->owner_count = 0;
  }
  walk_owners(self, add_owner);
}

/* --- labels and colours --- */

/* What the owners of a cell have in one field: its different values where they are few, its bounds otherwise. */
typedef struct {
  int64_t value[4], least, greatest;
  uint32_t count; /* MANY_VALUES + 1 where there are more */
} field_values;

enum { MANY_VALUES = 4 };

static void add_value(field_values *values, int64_t value) {
  values->least = value < values->least ? value : values->least;
  values->greatest = value > values->greatest ? value : values->greatest;
  for (uint32_t i = 0; i < values->count && i < MANY_VALUES; i++)
    if (values->value[i] == value)
      return;
  if (values->count < MANY_VALUES)
    values->value[values->count] = value;
  if (values->count <= MANY_VALUES)
    values->count++;
}

/* "3", "0,8", "0-3", "0,8,16,24", or "0..255". */
static void print_field(const sharing *self, const tj_cell *cell, uint32_t field, tj_text *text) {
  field_values values = {.least = INT64_MAX, .greatest = INT64_MIN};
  for (uint32_t i = 0; i < cell->owner_count; i++)
    add_value(&values, cell->owner[(size_t)i * self->field_count + field]);
  if (values.count > MANY_VALUES) {
    tj_text_format(text, "%" PRId64 "..%" PRId64, values.least, values.greatest);
  } else if (values.count > 2 && values.greatest - values.least + 1 == values.count) {
    tj_text_format(text, "%" PRId64 "-%" PRId64, values.least, values.greatest);
  } else {
    for (uint32_t i = 0; i < values.count; i++)
      tj_text_format(text, "%s%" PRId64, i > 0 ? "," : "", values.value[i]);
  }
}

/* How the fields of a thread are marked: T3; L5; W0 L12; P0 P1 P2 with colons. */
static const char *thread_mark(const sharing *self, uint32_t field) {
  static const char *const pair[] = {"W", " L"};
  if (self->thread_fields == 1)
    return self->field[0][0] == 't' ? "T" : "L";
  if (self->thread_fields == 2)
    return pair[field];
  return field == 0 ? "P" : ":";
}

static const char *thread_label(const sharing *self, const tj_cell *cell) {
  tj_text text = tj_text_begin(self->job);
  for (uint32_t i = 0; i < self->thread_fields; i++) {
    tj_text_string(&text, thread_mark(self, i));
    print_field(self, cell, i, &text);
  }
  return text.data;
}

static const char *value_label(const sharing *self, const tj_cell *cell) {
  tj_text text = tj_text_begin(self->job);
  bool is_value = self->thread_fields > 0 && self->field[0][0] == 't';
  tj_text_char(&text, is_value ? 'V' : 'R');
  print_field(self, cell, self->field_count - 1, &text);
  return text.data;
}

static void label_cell(const sharing *self, tj_cell *cell) {
  if (cell->owner_count == 0)
    return;
  cell->line[0] = thread_label(self, cell);
  cell->line[1] = value_label(self, cell);
}

static uint32_t thread_colour(const sharing *self, const int64_t owner[]) {
  if (self->thread_fields == 2)
    return tj_colour_shaded(owner[0], owner[1], self->lane_count);
  int64_t thread = self->thread_fields > 0 ? owner[self->thread_fields - 1] : 0;
  return tj_colour_category(thread, thread / 8);
}

static const char *thread_legend(const sharing *self) {
  if (self->thread_fields == 2)
    return "a hue for each warp, darker with the lane";
  return tj_string_format(self->job, "a hue for each %s modulo 8, in four shades",
                          self->thread_fields > 0 ? self->field[self->thread_fields - 1] : "element");
}

static void colour_cells(sharing *self, tj_picture *picture) {
  tj_show_colour by = self->request->options->colour;
  if (by == TJ_SHOW_COLOUR_INDEX || by == TJ_SHOW_COLOUR_CYCLE)
    tj_fail(self->job, TJ_WRONG_TYPE, "elements that threads share are coloured by thread or by value, not by index");
  if (by == TJ_SHOW_COLOUR_NONE)
    return;
  picture->colour = by == TJ_SHOW_COLOUR_VALUE
                        ? tj_string_format(self->job, "%s, from the first (light) to the last (dark)",
                                           self->field[self->field_count - 1])
                        : thread_legend(self);
  for (int64_t i = 0; i < self->size; i++) {
    tj_cell *cell = &self->cell[i];
    if (cell->owner_count == 0)
      continue;
    cell->fill = by == TJ_SHOW_COLOUR_VALUE
                     ? tj_colour_gradient(cell->owner[self->field_count - 1], 0, self->value_count - 1)
                     : thread_colour(self, cell->owner);
  }
}

/* --- arrows --- */

/* The number of a thread: of several fields, in row-major order. */
static int64_t thread_of(const sharing *self, const int64_t owner[]) {
  int64_t number = 0;
  for (uint32_t i = 0; i < self->thread_fields; i++)
    number = number * (self->thread_length != NULL ? self->thread_length[i] : 1) + owner[i];
  return number;
}

static int by_value(const void *a, const void *b) {
  int64_t x = ((const tj_path_place *)a)->value, y = ((const tj_path_place *)b)->value;
  return x < y ? -1 : x > y;
}

/* What the thread holds of a panel, in its order. */
static void add_path(const sharing *self, int64_t thread, tj_panel *panel) {
  uint32_t columns = panel->column.count;
  tj_path_place *path = TJ_NEW_ARRAY(self->job, tj_path_place, self->value_count + 1);
  for (uint32_t i = 0; i < panel->row.count * columns; i++) {
    const tj_cell *cell = &panel->cell[i];
    for (uint32_t k = 0; k < cell->owner_count; k++) {
      const int64_t *owner = &cell->owner[(size_t)k * self->field_count];
      if (thread_of(self, owner) == thread)
        path[panel->path_count++] = (tj_path_place){i / columns, i % columns, owner[self->field_count - 1]};
    }
  }
  qsort(path, panel->path_count, sizeof *path, by_value);
  panel->path = path;
}

static void add_paths(const sharing *self, tj_picture *picture, tj_panel panel[]) {
  const tj_show_options *options = self->request->options;
  if (!options->has_arrows)
    return;
  int64_t threads = self->table.size / (self->value_count > 0 ? self->value_count : 1);
  if (options->thread < 0 || options->thread >= threads)
    tj_fail(self->job, TJ_COORDINATE_RANGE, "arrows of thread %" PRId64 " of %" PRId64, options->thread, threads);
  for (uint32_t i = 0; i < picture->panel_count; i++)
    add_path(self, options->thread, &panel[i]);
}

/* --- panels --- */

/* (2,_,_) for the panel that begins at a cell; NULL where there is one panel. */
static const char *panel_caption(const sharing *self, const tj_cell *first) {
  if (self->rank <= 2)
    return NULL;
  tj_text text = tj_text_begin(self->job);
  tj_text_char(&text, '(');
  for (uint32_t i = 0; i + 2 < self->rank; i++)
    tj_text_format(&text, "%" PRId64 ",", first->coordinate[i]);
  tj_text_string(&text, "_,_)");
  return text.data;
}

/* The last two dimensions are rows and columns; the cells of a panel are neighbours already. Room for a last row that
 * is shorter was made when the owners were gathered. */
static tj_panel *make_panels(sharing *self, tj_picture *picture) {
  int64_t columns = self->rank >= 1 ? self->length[self->rank - 1] : 1;
  int64_t rows = self->rank >= 2 ? self->length[self->rank - 2] : 1;
  int64_t count = self->size / (rows * columns);
  tj_panel *panel = TJ_NEW_ARRAY(self->job, tj_panel, count);
  picture->panel = panel;
  picture->panel_count = (uint32_t)count;
  panel->cell = self->cell;
  if (self->rank == 1 && tj_row_is_long(columns)) {
    tj_break_row(self->job, (uint32_t)columns, panel);
    return panel;
  }
  for (int64_t i = 0; i < count; i++) {
    panel[i].cell = &self->cell[i * rows * columns];
    panel[i].caption = panel_caption(self, panel[i].cell);
    panel[i].row = tj_axis_of_numbers(self->job, (uint32_t)rows);
    panel[i].column = tj_axis_of_numbers(self->job, (uint32_t)columns);
  }
  if (self->rank < 2)
    panel->row.label[0] = "";
  return panel;
}

static void draw_sharing(sharing *self, tj_picture *picture) {
  measure_tile(self);
  gather_owners(self);
  for (int64_t i = 0; i < self->size; i++)
    label_cell(self, &self->cell[i]);
  add_paths(self, picture, make_panels(self, picture));
  colour_cells(self, picture);
  picture->domain = self->tile;
  picture->field = self->field;
  picture->field_count = self->field_count;
}

/* --- (thread, value) layouts --- */

/* The colexicographic index of the table's coordinate within one of its two modes. */
static int64_t mode_index(const sharing *self, uint32_t mode) {
  uint32_t first = mode == 0 ? 0 : tj_tuple_leaf_count(tj_tuple_mode(self->table.domain, 0));
  uint32_t end = mode == 0 ? tj_tuple_leaf_count(tj_tuple_mode(self->table.domain, 0)) : self->table.rank;
  int64_t index = 0;
  for (uint32_t i = end; i-- > first;)
    index = index * self->table.extent[i] + self->table.coordinate[i];
  return index;
}

static void thread_and_value(sharing *self, int64_t fields[]) {
  fields[0] = mode_index(self, 0);
  fields[1] = mode_index(self, 1);
}

static int64_t place_of_value(sharing *self) {
  const int64_t *result = self->table.result;
  if (self->table.result_count == 2)
    return place_of(self, result);
  if (result[0] < 0 || result[0] >= self->size)
    tj_fail(self->job, TJ_COORDINATE_RANGE, "thread %" PRId64 " holds index %" PRId64 ", outside the tile %s",
            mode_index(self, 0), result[0], tj_tuple_text(self->job, self->tile));
  int64_t coordinate[] = {result[0] % self->length[0], result[0] / self->length[0]};
  return place_of(self, coordinate);
}

void tj_show_threads(const tj_show_request *request, tj_picture *picture) {
  static const char *const fields[] = {"thread", "value"};
  tj_graph *graph = request->graph;
  const tj_value *value = request->value;
  if (value->kind != TJ_VALUE_LAYOUT && value->kind != TJ_VALUE_COMPOSED)
    tj_fail(graph->job, TJ_WRONG_TYPE, "a tile is shared by a (thread, value) layout, not by %s",
            tj_value_kind_name(value->kind));
  sharing self = {.job = graph->job, .request = request, .table = tj_table_to_draw(request)};
  if (tj_tuple_rank(self.table.domain) != 2 || self.table.result_count > 2)
    tj_fail(graph->job, TJ_WRONG_TYPE,
            "a (thread, value) layout has two modes and integers or pairs as values, not %s",
            tj_tuple_text(graph->job, self.table.domain));
  const int64_t *lengths = request->options->tile;
  const tj_tuple *tile[] = {tj_tuple_constant(graph, lengths[0]), tj_tuple_constant(graph, lengths[1])};
  self.tile = tj_tuple_list(graph, tile, 2);
  self.field = fields;
  self.field_count = 2;
  self.thread_fields = 1;
  self.owner = thread_and_value;
  self.place = place_of_value;
  const tj_tuple *values = tj_tuple_mode(self.table.domain, 1);
  self.value_count = tj_tuple_product(graph, values)->value;
  draw_sharing(&self, picture);
  picture->note =
      tj_string_format(graph->job, "(thread, value) on the tile %s", tj_tuple_text(graph->job, self.tile));
}

/* --- tile distributions --- */

/* The number of a thread's element: row-major over the Ys. */
static int64_t register_of(const tj_distribution *distribution, const int64_t ys[]) {
  int64_t number = 0;
  for (uint32_t i = 0; i < distribution->y_count; i++)
    number = number * distribution->y_length[i] + ys[i];
  return number;
}

static void partition_and_register(sharing *self, int64_t fields[]) {
  const tj_distribution *distribution = self->request->value->distribution;
  memcpy(fields, self->table.coordinate, self->table.rank * sizeof *fields);
  fields[self->table.rank] = register_of(distribution, self->table.coordinate + distribution->p_count);
}

static int64_t place_of_result(sharing *self) {
  return place_of(self, self->table.result);
}

/* "lane"; "warp", "lane"; or "p0", "p1", …; then "y0", "y1", … and "register". */
static const char *const *fields_of(tj_job *job, const tj_distribution *distribution) {
  static const char *const pair[] = {"warp", "lane"};
  uint32_t count = distribution->p_count;
  const char **fields = TJ_NEW_ARRAY(job, const char *, count + distribution->y_count + 1);
  for (uint32_t i = 0; i < count; i++)
    fields[i] = count == 1 ? pair[1] : count == 2 ? pair[i] : tj_string_format(job, "p%u", i);
  for (uint32_t i = 0; i < distribution->y_count; i++)
    fields[count + i] = tj_string_format(job, "y%u", i);
  fields[count + distribution->y_count] = "register";
  return fields;
}

void tj_show_distribution(const tj_show_request *request, tj_picture *picture) {
  tj_graph *graph = request->graph;
  const tj_distribution *distribution = request->value->distribution;
  sharing self = {.job = graph->job, .request = request, .table = tj_table_to_draw(request)};
  const tj_tuple **lengths = TJ_NEW_ARRAY(graph->job, const tj_tuple *, distribution->x_count + 1);
  for (uint32_t i = 0; i < distribution->x_count; i++)
    lengths[i] = tj_tuple_constant(graph, distribution->x_length[i]);
  self.tile = tj_tuple_list(graph, lengths, distribution->x_count);
  self.field = fields_of(graph->job, distribution);
  self.field_count = distribution->p_count + distribution->y_count + 1;
  self.thread_fields = distribution->p_count;
  self.lane_count = distribution->p_count == 2 ? distribution->p_length[1] : 1;
  self.value_count = 1;
  for (uint32_t i = 0; i < distribution->y_count; i++)
    self.value_count *= distribution->y_length[i];
  self.thread_length = distribution->p_length;
  self.owner = partition_and_register;
  self.place = place_of_result;
  draw_sharing(&self, picture);
  picture->note = tj_string_format(graph->job, "%sregister of each element of the tile %s",
                                   distribution->p_count == 0   ? ""
                                   : distribution->p_count == 1 ? "lane and "
                                   : distribution->p_count == 2 ? "warp, lane and "
                                                                : "P and ",
                                   tj_tuple_text(graph->job, self.tile));
}
