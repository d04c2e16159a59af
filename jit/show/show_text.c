/* SPDX-License-Identifier: MIT */
/* Pictures as text: grids in the manner of CuTe's print_layout, broken into blocks of columns that fit the width; the
 * bits of swizzles; pipelines stage by stage. ASCII only. */
#include "jit/show/show.h"

#include <inttypes.h>
#include <string.h>

typedef struct {
  tj_text *text;
  const tj_panel *panel;
  uint32_t label_width, detail_width; /* of rows; 0: no details */
  uint32_t cell_width;
  uint32_t first, end; /* the columns of the current block */
  bool paints;
} text_grid;

static uint32_t length_of(const char *string) {
  return string != NULL ? (uint32_t)strlen(string) : 0;
}

static uint32_t longer(uint32_t a, uint32_t b) {
  return a > b ? a : b;
}

/* Right-aligned. */
static void add_aligned(tj_text *text, const char *string, uint32_t width) {
  tj_text_format(text, "%*s", (int)width, string != NULL ? string : "");
}

static void add_repeated(tj_text *text, char c, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    tj_text_char(text, c);
}

/* --- what stands in cells --- */

static const char *mark_of(const tj_cell *cell) {
  return cell->state == TJ_CELL_INVALID ? "x" : cell->state == TJ_CELL_EMPTY ? "-" : "";
}

static uint32_t width_of_cell(const tj_cell *cell) {
  if (cell->state != TJ_CELL_VALID)
    return length_of(mark_of(cell));
  uint32_t first = length_of(cell->line[0]), second = length_of(cell->line[1]);
  return first + second + (first > 0 && second > 0 ? 1 : 0) + (cell->is_marked ? 1 : 0);
}

static void add_cell(tj_text *text, const tj_cell *cell, uint32_t width) {
  if (cell->state != TJ_CELL_VALID) {
    add_aligned(text, mark_of(cell), width);
    return;
  }
  add_repeated(text, ' ', width - width_of_cell(cell));
  tj_text_string(text, cell->is_marked ? "!" : "");
  tj_text_string(text, cell->line[0]);
  if (length_of(cell->line[1]) == 0)
    return;
  if (length_of(cell->line[0]) > 0)
    tj_text_char(text, ' ');
  tj_text_string(text, cell->line[1]);
}

static void add_colour(tj_text *text, unsigned layer, uint32_t rgb) {
  tj_text_format(text, "\033[%u;2;%" PRIu32 ";%" PRIu32 ";%" PRIu32 "m", layer, rgb >> 16 & 255, rgb >> 8 & 255,
                 rgb & 255);
}

/* The cell between blanks, on its colour. */
static void add_painted_cell(tj_text *text, const tj_cell *cell, uint32_t width, bool paints) {
  enum { INK = 38, GROUND = 48 };
  bool is_painted = paints && cell->state == TJ_CELL_VALID;
  if (is_painted) {
    add_colour(text, GROUND, cell->fill);
    add_colour(text, INK, tj_colour_on(cell->fill));
  }
  tj_text_char(text, ' ');
  add_cell(text, cell, width);
  tj_text_string(text, is_painted ? " \033[0m" : " ");
}

/* --- grids --- */

static text_grid measure(tj_text *text, const tj_panel *panel) {
  text_grid g = {.text = text, .panel = panel};
  for (uint32_t i = 0; i < panel->row.count; i++) {
    g.label_width = longer(g.label_width, length_of(panel->row.label[i]));
    if (panel->row.detail != NULL)
      g.detail_width = longer(g.detail_width, length_of(panel->row.detail[i]));
  }
  for (uint32_t i = 0; i < panel->column.count; i++) {
    g.cell_width = longer(g.cell_width, length_of(panel->column.label[i]));
    if (panel->column.detail != NULL)
      g.cell_width = longer(g.cell_width, length_of(panel->column.detail[i]));
  }
  for (size_t i = 0; i < (size_t)panel->row.count * panel->column.count; i++)
    g.cell_width = longer(g.cell_width, width_of_cell(&panel->cell[i]));
  return g;
}

static uint32_t margin_of(const text_grid *g) {
  return g->label_width + (g->detail_width > 0 ? 1 + g->detail_width : 0) + 1;
}

/* How many columns stand beside each other: all, or a round number that fits. */
static uint32_t columns_of_block(const text_grid *g, uint32_t width) {
  uint32_t margin = margin_of(g) + 1, each = g->cell_width + 3, group = g->panel->column.group;
  uint32_t fit = width > margin + each ? (width - margin) / each : 1;
  if (group > 0 && fit > g->panel->column.count / group)
    fit = width > margin + each ? (width - margin - g->panel->column.count / group) / each : 1;
  if (fit >= g->panel->column.count)
    return g->panel->column.count;
  uint32_t round = group > 0 && group <= fit ? group : 8;
  return fit >= round ? fit - fit % round : longer(fit, 1);
}

/* Whether a heavier line stands before a column, or a row, that is not the first. */
static bool begins_group(const tj_axis *axis, uint32_t first, uint32_t index) {
  return axis->group > 0 && index > first && index % axis->group == 0;
}

/* A map without columns has one heading, which is empty, and no line of headings. */
static void add_headings(const text_grid *g, const char *const headings[]) {
  const tj_axis *axis = &g->panel->column;
  if (headings[g->first][0] == '\0')
    return;
  add_repeated(g->text, ' ', margin_of(g));
  for (uint32_t i = g->first; i < g->end; i++) {
    tj_text_string(g->text, begins_group(axis, g->first, i) ? "   " : "  ");
    add_aligned(g->text, headings[i], g->cell_width);
    if (i + 1 < g->end)
      tj_text_char(g->text, ' ');
  }
  tj_text_char(g->text, '\n');
}

static void add_rule(const text_grid *g, char line) {
  add_repeated(g->text, ' ', margin_of(g));
  for (uint32_t i = g->first; i < g->end; i++) {
    tj_text_string(g->text, begins_group(&g->panel->column, g->first, i) ? "++" : "+");
    add_repeated(g->text, line, g->cell_width + 2);
  }
  tj_text_string(g->text, "+\n");
}

static void add_row(const text_grid *g, uint32_t row) {
  add_aligned(g->text, g->panel->row.label[row], g->label_width);
  if (g->detail_width > 0) {
    tj_text_char(g->text, ' ');
    add_aligned(g->text, g->panel->row.detail[row], g->detail_width);
  }
  tj_text_char(g->text, ' ');
  for (uint32_t i = g->first; i < g->end; i++) {
    tj_text_string(g->text, begins_group(&g->panel->column, g->first, i) ? "||" : "|");
    add_painted_cell(g->text, &g->panel->cell[(size_t)row * g->panel->column.count + i], g->cell_width, g->paints);
  }
  tj_text_string(g->text, "|\n");
}

static void add_block(const text_grid *g) {
  add_headings(g, g->panel->column.label);
  if (g->panel->column.detail != NULL)
    add_headings(g, g->panel->column.detail);
  for (uint32_t row = 0; row < g->panel->row.count; row++) {
    add_rule(g, begins_group(&g->panel->row, 0, row) ? '=' : '-');
    add_row(g, row);
  }
  add_rule(g, '-');
}

static void add_panel(const tj_panel *panel, uint32_t width, bool paints, tj_text *text) {
  text_grid g = measure(text, panel);
  g.paints = paints;
  uint32_t columns = columns_of_block(&g, width);
  if (panel->caption != NULL)
    tj_text_format(text, "\n%s\n", panel->caption);
  for (g.first = 0; g.first < panel->column.count; g.first += columns) {
    uint32_t left = panel->column.count - g.first;
    g.end = g.first + (left < columns ? left : columns);
    if (g.first > 0)
      tj_text_char(text, '\n');
    add_block(&g);
  }
}

/* --- bits --- */

/* "9", or "6-4" for a run of several. */
static const char *name_of_run(tj_job *job, const tj_bit_run *run, const char *prefix) {
  return run->high == run->low ? tj_string_format(job, "%s%" PRIu32, prefix, run->high)
                               : tj_string_format(job, "%s%" PRIu32 "-%" PRIu32, prefix, run->high, run->low);
}

static const char *result_of_run(tj_job *job, const tj_bit_run *run) {
  const char *name = name_of_run(job, run, "b");
  if (run->partner == 0)
    return name;
  return tj_string_format(job, "%s^b%" PRId64, name, (int64_t)run->low + run->partner);
}

static void add_bits(const tj_bits *bits, tj_text *text) {
  static const char *const heads[] = {"bit", " in", "out"};
  tj_job *job = text->job;
  for (uint32_t line = 0; line < 3 && bits->run_count > 0; line++) {
    tj_text_string(text, heads[line]);
    for (uint32_t i = 0; i < bits->run_count; i++) {
      const tj_bit_run *run = &bits->run[i];
      const char *cells[] = {name_of_run(job, run, ""), name_of_run(job, run, "b"), result_of_run(job, run)};
      tj_text_string(text, "  ");
      add_aligned(text, cells[line], length_of(cells[2]));
    }
    tj_text_char(text, '\n');
  }
}

/* --- pipelines --- */

static const char *dimension_text(tj_job *job, const tj_pipeline *pipeline, uint32_t number) {
  const char *length = pipeline->length[number];
  return length != NULL ? tj_string_format(job, "#%" PRIu32 "[%s]", number, length)
                        : tj_string_format(job, "#%" PRIu32, number);
}

static const char *dimensions_text(tj_job *job, const tj_pipeline *pipeline, const uint32_t numbers[],
                                   uint32_t count) {
  if (count == 0)
    return "nothing";
  tj_text text = tj_text_begin(job);
  for (uint32_t i = 0; i < count; i++)
    tj_text_format(&text, "%s%s", i > 0 ? " " : "", dimension_text(job, pipeline, numbers[i]));
  return text.data;
}

/* Columns of a pipeline's steps: upper dimensions, transform, lower dimensions. */
typedef struct {
  const char *upper, *lower;
} step_texts;

static void add_steps(const tj_pipeline *pipeline, tj_text *text) {
  tj_job *job = text->job;
  step_texts *steps = TJ_NEW_ARRAY(job, step_texts, pipeline->step_count + 1);
  uint32_t upper_width = 0, transform_width = 0;
  for (uint32_t i = 0; i < pipeline->step_count; i++) {
    const tj_pipeline_step *step = &pipeline->step[i];
    steps[i].upper = dimensions_text(job, pipeline, step->upper, step->upper_count);
    steps[i].lower = dimensions_text(job, pipeline, step->lower, step->lower_count);
    upper_width = longer(upper_width, length_of(steps[i].upper));
    transform_width = longer(transform_width, length_of(step->transform));
  }
  for (uint32_t i = 0; i < pipeline->step_count; i++) {
    const tj_pipeline_step *step = &pipeline->step[i];
    bool is_first = i == 0 || step->stage != pipeline->step[i - 1].stage;
    add_aligned(text, is_first ? tj_string_format(job, "stage %" PRIu32, step->stage) : "", 10);
    tj_text_format(text, "  %-*s  %-*s  -> %s\n", (int)upper_width, steps[i].upper, (int)transform_width,
                   step->transform, steps[i].lower);
  }
}

static void add_pipeline(const tj_pipeline *pipeline, tj_text *text) {
  tj_job *job = text->job;
  tj_text_format(text, "coordinate  %s\n", dimensions_text(job, pipeline, pipeline->top, pipeline->top_count));
  add_steps(pipeline, text);
  if (pipeline->buffer != NULL)
    tj_text_format(text, "    offset  #0 in %s\n", pipeline->buffer);
  else
    tj_text_format(text, "     value  %s\n",
                   dimensions_text(job, pipeline, pipeline->bottom, pipeline->bottom_count));
}

void tj_show_text(const tj_picture *picture, uint32_t width, bool paints, tj_text *text) {
  tj_text_format(text, "%s\n", picture->title);
  if (picture->note != NULL)
    tj_text_format(text, "%s\n", picture->note);
  if (picture->pipeline != NULL) {
    tj_text_char(text, '\n');
    add_pipeline(picture->pipeline, text);
  }
  if (picture->bits != NULL && picture->bits->run_count > 0) {
    tj_text_char(text, '\n');
    add_bits(picture->bits, text);
  }
  if ((picture->pipeline != NULL || picture->bits != NULL) && picture->panel_count > 0 &&
      picture->panel[0].caption == NULL)
    tj_text_char(text, '\n');
  for (uint32_t i = 0; i < picture->panel_count; i++)
    add_panel(&picture->panel[i], width, paints && picture->colour != NULL, text);
}
