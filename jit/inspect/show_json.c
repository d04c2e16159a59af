/* SPDX-License-Identifier: MIT */
/* Pictures as JSON, in the form that tilejit.h documents at TJ_SHOW_JSON. */
#include "jit/inspect/show.h"

#include <inttypes.h>

static void add_string_or_null(tj_text *text, const char *string) {
  if (string != NULL)
    tj_text_json(text, string);
  else
    tj_text_string(text, "null");
}

static void add_strings(tj_text *text, const char *const strings[], uint32_t count) {
  tj_text_char(text, '[');
  for (uint32_t i = 0; i < count; i++) {
    if (i > 0)
      tj_text_char(text, ',');
    add_string_or_null(text, strings[i]);
  }
  tj_text_char(text, ']');
}

static void add_numbers(tj_text *text, const uint32_t numbers[], uint32_t count) {
  tj_text_char(text, '[');
  for (uint32_t i = 0; i < count; i++)
    tj_text_format(text, "%s%" PRIu32, i > 0 ? "," : "", numbers[i]);
  tj_text_char(text, ']');
}

/* --- panels --- */

static void add_owners(const tj_picture *picture, const tj_cell *cell, tj_text *text) {
  const int64_t *owner = cell->owner;
  tj_text_string(text, ",\"owners\":[");
  for (uint32_t i = 0; i < cell->owner_count; i++) {
    tj_text_string(text, i > 0 ? ",{" : "{");
    for (uint32_t k = 0; k < picture->field_count; k++)
      tj_text_format(text, "%s\"%s\":%" PRId64, k > 0 ? "," : "", picture->field[k], *owner++);
    tj_text_char(text, '}');
  }
  tj_text_char(text, ']');
}

static void add_cell(const tj_picture *picture, const tj_cell *cell, uint32_t row, uint32_t column, tj_text *text) {
  tj_text_format(text, "{\"row\":%" PRIu32 ",\"column\":%" PRIu32 ",\"coordinate\":", row, column);
  tj_table_print(text, picture->domain, cell->coordinate);
  if (picture->field != NULL) {
    add_owners(picture, cell, text);
  } else {
    tj_text_string(text, ",\"value\":");
    tj_table_print(text, picture->output, cell->value);
    tj_text_string(text, cell->state == TJ_CELL_VALID ? ",\"valid\":true" : ",\"valid\":false");
  }
  tj_text_format(text, ",\"color\":\"#%06" PRIx32 "\"}", cell->fill);
}

static void add_axis(tj_text *text, const char *name, const tj_axis *axis) {
  tj_text_format(text, ",\"%s_labels\":", name);
  add_strings(text, axis->label, axis->count);
  if (axis->detail == NULL)
    return;
  tj_text_format(text, ",\"%s_coordinates\":", name);
  add_strings(text, axis->detail, axis->count);
}

static void add_panel(const tj_picture *picture, const tj_panel *panel, tj_text *text) {
  bool first = true;
  tj_text_string(text, "{\"caption\":");
  add_string_or_null(text, panel->caption);
  tj_text_format(text, ",\"rows\":%" PRIu32 ",\"columns\":%" PRIu32, panel->row.count, panel->column.count);
  add_axis(text, "row", &panel->row);
  add_axis(text, "column", &panel->column);
  tj_text_string(text, ",\"cells\":[");
  for (uint32_t row = 0; row < panel->row.count; row++) {
    for (uint32_t column = 0; column < panel->column.count; column++) {
      const tj_cell *cell = &panel->cell[(size_t)row * panel->column.count + column];
      if (cell->state == TJ_CELL_ABSENT)
        continue;
      tj_text_string(text, first ? "\n" : ",\n");
      add_cell(picture, cell, row, column, text);
      first = false;
    }
  }
  tj_text_string(text, "]}");
}

/* --- bits and pipelines --- */

static void add_bits(tj_text *text, const tj_bits *bits) {
  tj_text_string(text, ",\"bits\":[");
  for (uint32_t i = 0; i < bits->count; i++)
    tj_text_format(text, "%s{\"from\":%" PRIu32 ",\"to\":%" PRIu32 "}", i > 0 ? "," : "", bits->from + i,
                   bits->to + i);
  tj_text_char(text, ']');
}

static void add_pipeline(tj_text *text, const tj_pipeline *pipeline) {
  uint32_t dimension_count = pipeline->dimension_count;
  tj_text_string(text, ",\"pipeline\":{\"top\":");
  add_numbers(text, pipeline->top, pipeline->top_count);
  tj_text_string(text, ",\"bottom\":");
  add_numbers(text, pipeline->bottom, pipeline->bottom_count);
  tj_text_string(text, ",\"lengths\":");
  add_strings(text, pipeline->length, dimension_count);
  tj_text_string(text, ",\"steps\":[");
  for (uint32_t i = 0; i < pipeline->step_count; i++) {
    const tj_pipeline_step *step = &pipeline->step[i];
    tj_text_format(text, "%s{\"stage\":%" PRIu32 ",\"transform\":", i > 0 ? "," : "", step->stage);
    tj_text_json(text, step->transform);
    tj_text_string(text, ",\"upper\":");
    add_numbers(text, step->upper, step->upper_count);
    tj_text_string(text, ",\"lower\":");
    add_numbers(text, step->lower, step->lower_count);
    tj_text_char(text, '}');
  }
  tj_text_string(text, "]}");
}

void tj_show_json(const tj_picture *picture, tj_text *text) {
  tj_text_string(text, "{\"title\":");
  tj_text_json(text, picture->title);
  tj_text_string(text, ",\"note\":");
  add_string_or_null(text, picture->note);
  tj_text_string(text, ",\"color\":");
  add_string_or_null(text, picture->colour);
  if (picture->bits != NULL)
    add_bits(text, picture->bits);
  if (picture->pipeline != NULL)
    add_pipeline(text, picture->pipeline);
  tj_text_string(text, ",\"panels\":[");
  for (uint32_t i = 0; i < picture->panel_count; i++) {
    if (i > 0)
      tj_text_char(text, ',');
    add_panel(picture, &picture->panel[i], text);
  }
  tj_text_string(text, "]}\n");
}
