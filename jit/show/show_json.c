/* SPDX-License-Identifier: MIT */
/* Pictures as JSON, in the form that tilejit.h documents at TJ_SHOW_JSON. */
#include "base/json.h"
#include "jit/show/show.h"

#include <inttypes.h>

static void add_strings(tj_json *json, const char *key, const char *const strings[], uint32_t count) {
  tj_json_key(json, key);
  tj_json_open(json, '[');
  for (uint32_t i = 0; i < count; i++)
    tj_json_string(json, strings[i]);
  tj_json_close(json, ']');
}

static void add_numbers(tj_json *json, const char *key, const uint32_t numbers[], uint32_t count) {
  tj_json_key(json, key);
  tj_json_open(json, '[');
  for (uint32_t i = 0; i < count; i++)
    tj_json_integer(json, numbers[i]);
  tj_json_close(json, ']');
}

/* --- panels --- */

static void add_owners(const tj_picture *picture, const tj_cell *cell, tj_json *json) {
  const int64_t *owner = cell->owner;
  tj_json_key(json, "owners");
  tj_json_open(json, '[');
  for (uint32_t i = 0; i < cell->owner_count; i++) {
    tj_json_open(json, '{');
    for (uint32_t k = 0; k < picture->field_count; k++)
      tj_json_number(json, picture->field[k], *owner++);
    tj_json_close(json, '}');
  }
  tj_json_close(json, ']');
}

static void add_value(const tj_picture *picture, const tj_cell *cell, tj_json *json) {
  tj_json_key(json, "value");
  tj_table_print(tj_json_value(json), picture->output, cell->value);
  tj_json_key(json, "valid");
  tj_json_boolean(json, cell->state == TJ_CELL_VALID);
}

static void add_cell(const tj_picture *picture, const tj_cell *cell, uint32_t row, uint32_t column, tj_json *json) {
  tj_json_line(json);
  tj_json_open(json, '{');
  tj_json_number(json, "row", row);
  tj_json_number(json, "column", column);
  tj_json_key(json, "coordinate");
  tj_table_print(tj_json_value(json), picture->domain, cell->coordinate);
  if (picture->field != NULL)
    add_owners(picture, cell, json);
  else
    add_value(picture, cell, json);
  tj_json_key(json, "color");
  tj_text_format(tj_json_value(json), "\"#%06" PRIx32 "\"", cell->fill);
  if (picture->has_marks) {
    tj_json_key(json, "marked");
    tj_json_boolean(json, cell->is_marked);
  }
  tj_json_close(json, '}');
}

static void add_cells(const tj_picture *picture, const tj_panel *panel, tj_json *json) {
  tj_json_key(json, "cells");
  tj_json_open(json, '[');
  for (uint32_t row = 0; row < panel->row.count; row++) {
    for (uint32_t column = 0; column < panel->column.count; column++) {
      const tj_cell *cell = &panel->cell[(size_t)row * panel->column.count + column];
      if (cell->state != TJ_CELL_ABSENT)
        add_cell(picture, cell, row, column, json);
    }
  }
  tj_json_close(json, ']');
}

static void add_axis(tj_json *json, const char *labels, const char *coordinates, const tj_axis *axis) {
  add_strings(json, labels, axis->label, axis->count);
  if (axis->detail != NULL)
    add_strings(json, coordinates, axis->detail, axis->count);
}

static void add_panel(const tj_picture *picture, const tj_panel *panel, tj_json *json) {
  tj_json_open(json, '{');
  tj_json_member(json, "caption", panel->caption);
  tj_json_number(json, "rows", panel->row.count);
  tj_json_number(json, "columns", panel->column.count);
  add_axis(json, "row_labels", "row_coordinates", &panel->row);
  add_axis(json, "column_labels", "column_coordinates", &panel->column);
  add_cells(picture, panel, json);
  tj_json_close(json, '}');
}

/* --- bits and pipelines --- */

static void add_bits(tj_json *json, const tj_bits *bits) {
  tj_json_key(json, "bits");
  tj_json_open(json, '[');
  for (uint32_t i = 0; i < bits->count; i++) {
    tj_json_open(json, '{');
    tj_json_number(json, "from", bits->from + i);
    tj_json_number(json, "to", bits->to + i);
    tj_json_close(json, '}');
  }
  tj_json_close(json, ']');
}

static void add_step(tj_json *json, const tj_pipeline_step *step) {
  tj_json_open(json, '{');
  tj_json_number(json, "stage", step->stage);
  tj_json_member(json, "transform", step->transform);
  add_numbers(json, "upper", step->upper, step->upper_count);
  add_numbers(json, "lower", step->lower, step->lower_count);
  tj_json_close(json, '}');
}

static void add_pipeline(tj_json *json, const tj_pipeline *pipeline) {
  tj_json_key(json, "pipeline");
  tj_json_open(json, '{');
  add_numbers(json, "top", pipeline->top, pipeline->top_count);
  add_numbers(json, "bottom", pipeline->bottom, pipeline->bottom_count);
  add_strings(json, "lengths", pipeline->length, pipeline->dimension_count);
  tj_json_key(json, "steps");
  tj_json_open(json, '[');
  for (uint32_t i = 0; i < pipeline->step_count; i++)
    add_step(json, &pipeline->step[i]);
  tj_json_close(json, ']');
  tj_json_close(json, '}');
}

void tj_show_json(const tj_picture *picture, tj_text *text) {
  tj_json json = tj_json_begin(text);
  tj_json_open(&json, '{');
  tj_json_member(&json, "title", picture->title);
  tj_json_member(&json, "note", picture->note);
  tj_json_member(&json, "color", picture->colour);
  if (picture->bits != NULL)
    add_bits(&json, picture->bits);
  if (picture->pipeline != NULL)
    add_pipeline(&json, picture->pipeline);
  tj_json_key(&json, "panels");
  tj_json_open(&json, '[');
  for (uint32_t i = 0; i < picture->panel_count; i++)
    add_panel(picture, &picture->panel[i], &json);
  tj_json_close(&json, ']');
  tj_json_close(&json, '}');
  tj_text_char(text, '\n');
}
