/* SPDX-License-Identifier: MIT */
/* Pictures as SVG: one self-contained document, with fonts that every system has, whose cells are as wide as what
 * they say, on dark paper where the reader prefers that. Each cell tells its coordinate and value to whoever points
 * at it. Lengths are in pixels. */
#include "jit/show/show.h"

#include "base/integer.h"

#include <inttypes.h>
#include <string.h>

enum {
  MARGIN = 16,
  GAP = 28,         /* between panels */
  LINE_HEIGHT = 15, /* of a cell's text */
  LEAST_CELL = 30,
  MOST_CELL = 4000,
  TITLE_SIZE = 14,
  TITLE_LINE = 20,
  MOST_TITLE_LINES = 6,
  NOTE_LINE = 17,
  CAPTION_HEIGHT = 22,
  LABEL_HEIGHT = 18,
  DETAIL_HEIGHT = 13,
  USUAL_WIDTH = 1200, /* of a row of panels */
  BIT_HEIGHT = 28,
  BIT_DISTANCE = 64,
  MOST_TOOLTIPS = 16384
};

/* Advances of a monospaced font, a little more than 0.6 em. */
static const double CHARACTER = 7.3, SMALL_CHARACTER = 5.6, TITLE_CHARACTER = 8.5, NOTE_CHARACTER = 6.6,
                    CAPTION_CHARACTER = 7.9;

/* Where things are. One geometry serves all panels: they are of one map. */
typedef struct {
  tj_text *text;
  const tj_picture *picture;
  uint32_t cell_width, cell_height;
  uint32_t left, top; /* of a panel's cells */
  uint32_t panel_width, panel_height;
  uint32_t panels_in_row;
  uint32_t width, height; /* of everything */
  uint32_t title_lines, title_length, head_height, bits_height;
  bool has_tooltips;
} drawing;

static uint32_t length_of(const char *string) {
  return string != NULL ? (uint32_t)strlen(string) : 0;
}

static uint32_t width_of(uint32_t characters, double each) {
  return (uint32_t)(characters * each + 0.5);
}

/* --- text --- */

static void add_escaped(tj_text *text, const char *string, size_t length) {
  for (size_t i = 0; i < length; i++) {
    switch (string[i]) {
    case '<':
      tj_text_string(text, "&lt;");
      break;
    case '>':
      tj_text_string(text, "&gt;");
      break;
    case '&':
      tj_text_string(text, "&amp;");
      break;
    default:
      tj_text_char(text, string[i]);
    }
  }
}

/* A text element of the given class at a place; the class says size, colour and anchor. */
static void add_text(drawing *d, const char *class_name, double x, double y, const char *string) {
  tj_text_format(d->text, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", class_name, x, y);
  add_escaped(d->text, string, strlen(string));
  tj_text_string(d->text, "</text>\n");
}

/* --- measuring --- */

static uint32_t longest_line(const tj_panel *panel) {
  uint32_t longest = 1;
  for (size_t i = 0; i < (size_t)panel->row.count * panel->column.count; i++) {
    longest = tj_more(longest, length_of(panel->cell[i].line[0]));
    longest = tj_more(longest, length_of(panel->cell[i].line[1]));
  }
  return longest;
}

static uint32_t longest_of(const char *const strings[], uint32_t count) {
  uint32_t longest = 0;
  for (uint32_t i = 0; strings != NULL && i < count; i++)
    longest = tj_more(longest, length_of(strings[i]));
  return longest;
}

static void measure_cells(drawing *d) {
  uint32_t label = 0, detail = 0;
  for (uint32_t i = 0; i < d->picture->panel_count; i++) {
    const tj_panel *panel = &d->picture->panel[i];
    d->cell_width = tj_more(d->cell_width, width_of(longest_line(panel), CHARACTER) + 10);
    d->cell_width = tj_more(d->cell_width, width_of(longest_of(panel->column.label, panel->column.count), CHARACTER));
    d->cell_width =
        tj_more(d->cell_width, width_of(longest_of(panel->column.detail, panel->column.count), SMALL_CHARACTER) + 4);
    label = tj_more(label, longest_of(panel->row.label, panel->row.count));
    detail = tj_more(detail, longest_of(panel->row.detail, panel->row.count));
  }
  uint32_t lines = d->picture->field != NULL ? 2 : 1;
  d->cell_width = d->cell_width < LEAST_CELL ? LEAST_CELL : d->cell_width > MOST_CELL ? MOST_CELL : d->cell_width;
  d->cell_height = tj_more(LEAST_CELL, lines * LINE_HEIGHT + 6);
  d->left = width_of(label, CHARACTER) + 8 + (detail > 0 ? width_of(detail, SMALL_CHARACTER) + 6 : 0);
}

static uint32_t width_of_panel(const drawing *d, const tj_panel *panel) {
  return d->left + panel->column.count * d->cell_width;
}

static uint32_t height_of_panel(const drawing *d, const tj_panel *panel) {
  return d->top + panel->row.count * d->cell_height;
}

typedef struct {
  uint32_t left, top;
} panel_place;

/* Panels in rows, as many as fit; of a product, A left of C and B above it. */
static panel_place place_of_panel(const drawing *d, uint32_t number) {
  const tj_panel *panel = d->picture->panel;
  if (d->picture->is_product)
    return (panel_place){number == 0 ? 0 : width_of_panel(d, &panel[0]) + GAP,
                         number == 1 ? 0 : height_of_panel(d, &panel[1]) + GAP};
  return (panel_place){number % d->panels_in_row * (d->panel_width + GAP),
                       number / d->panels_in_row * (d->panel_height + GAP)};
}

static uint32_t longest_caption(const tj_picture *picture) {
  uint32_t longest = 0;
  for (uint32_t i = 0; i < picture->panel_count; i++)
    longest = tj_more(longest, width_of(length_of(picture->panel[i].caption), CAPTION_CHARACTER));
  return longest;
}

static void measure_panels(drawing *d) {
  const tj_panel *panel = d->picture->panel;
  if (d->picture->panel_count == 0)
    return;
  d->top = LABEL_HEIGHT;
  if (panel->column.detail != NULL)
    d->top += DETAIL_HEIGHT;
  if (panel->caption != NULL)
    d->top += CAPTION_HEIGHT;
  if (d->picture->is_product) {
    const panel_place last = place_of_panel(d, 2);
    d->width = last.left + width_of_panel(d, &panel[2]);
    d->height = last.top + height_of_panel(d, &panel[2]);
    return;
  }
  d->panel_width = width_of_panel(d, panel);
  for (uint32_t i = 0; i < d->picture->panel_count; i++)
    d->panel_height = tj_more(d->panel_height, height_of_panel(d, &panel[i]));
  uint32_t fit = (USUAL_WIDTH + GAP) / (d->panel_width + GAP);
  d->panels_in_row = fit < 1 ? 1 : fit > d->picture->panel_count ? d->picture->panel_count : fit;
  uint32_t rows = (d->picture->panel_count + d->panels_in_row - 1) / d->panels_in_row;
  d->width = d->panels_in_row * (d->panel_width + GAP) - GAP;
  if (d->panels_in_row == 1)
    d->width = tj_more(d->width, longest_caption(d->picture));
  d->height = rows * (d->panel_height + GAP) - GAP;
}

static uint32_t bit_width(const tj_bits *bits) {
  return bits->run_count > 0 && bits->run[0].high > 9 ? 66 : 56;
}

static void measure_bits(drawing *d) {
  const tj_bits *bits = d->picture->bits;
  if (bits == NULL || bits->run_count == 0)
    return;
  d->bits_height = LABEL_HEIGHT + 2 * BIT_HEIGHT + BIT_DISTANCE + GAP;
  d->width = tj_more(d->width, 40 + bits->run_count * bit_width(bits));
}

/* How much of the text fits in a line: up to a space near its end, if there is one. */
static size_t length_of_line(const char *rest, size_t most) {
  size_t left = strlen(rest), length = most;
  if (left <= most)
    return left;
  while (length > most / 2 && rest[length - 1] != ' ')
    length--;
  return length > most / 2 ? length : most;
}

static uint32_t count_lines(const char *rest, size_t most) {
  uint32_t count = 0;
  for (; *rest != '\0' && count < MOST_TITLE_LINES; count++)
    rest += length_of_line(rest, most);
  return count;
}

static void measure_head(drawing *d) {
  uint32_t title = length_of(d->picture->title);
  d->width = tj_more(d->width, width_of(title < 60 ? title : 60, TITLE_CHARACTER));
  d->width = tj_more(d->width, width_of(length_of(d->picture->note), NOTE_CHARACTER));
  if (d->picture->colour != NULL)
    d->width = tj_more(d->width, width_of(length_of(d->picture->colour) + 8, NOTE_CHARACTER));
  d->title_length = (uint32_t)(d->width / TITLE_CHARACTER);
  d->title_lines = count_lines(d->picture->title, d->title_length);
  d->head_height = d->title_lines * TITLE_LINE + (d->picture->note != NULL ? NOTE_LINE : 0) +
                   (d->picture->colour != NULL ? NOTE_LINE : 0) + 10;
}

static drawing measure(const tj_picture *picture, tj_text *text) {
  drawing d = {.text = text, .picture = picture};
  size_t cells = 0;
  for (uint32_t i = 0; i < picture->panel_count; i++)
    cells += (size_t)picture->panel[i].row.count * picture->panel[i].column.count;
  d.has_tooltips = cells <= MOST_TOOLTIPS;
  measure_cells(&d);
  measure_panels(&d);
  measure_bits(&d);
  measure_head(&d);
  d.width += 2 * MARGIN;
  d.height += 2 * MARGIN + d.head_height + d.bits_height;
  return d;
}

/* --- the head --- */

static void add_style(drawing *d) {
  tj_text_string(
      d->text,
      "<style>\n"
      "text { font-family: 'DejaVu Sans Mono', Menlo, Consolas, 'Liberation Mono', monospace; font-size: 12px; "
      "text-anchor: middle; pointer-events: none }\n"
      ".title { font-size: 14px; font-weight: bold; text-anchor: start }\n"
      ".note { font-family: 'DejaVu Sans', 'Helvetica Neue', Arial, sans-serif; font-size: 11px; fill: #555; "
      "text-anchor: start }\n"
      ".caption { font-size: 13px; font-weight: bold; fill: #333; text-anchor: start }\n"
      ".row { fill: #555; text-anchor: end }\n"
      ".row-detail { font-size: 9px; fill: #777; text-anchor: end }\n"
      ".column { fill: #555 }\n"
      ".column-detail { font-size: 9px; fill: #777 }\n"
      ".white { fill: #fff }\n"
      ".invalid { fill: #888; font-size: 10px }\n"
      ".line { fill: none; stroke: #000; stroke-opacity: .28; stroke-width: 1 }\n"
      ".group { fill: none; stroke: #222; stroke-width: 2 }\n"
      ".hatch-ground { fill: #f4f4f4 } .hatch-line { stroke: #ccc; stroke-width: 2 }\n"
      ".xor { fill: none; stroke: #d55e00; stroke-width: 1.5 }\n"
      ".mark { fill: none; stroke: #b00020; stroke-width: 2.5 }\n"
      ".arrow { fill: none; stroke: #b00020; stroke-width: 1.8 } .start { fill: #b00020 }\n"
      ".paper { fill: #fff }\n"
      "@media (prefers-color-scheme: dark) {\n"
      ".paper { fill: #1c1e21 } .title, .caption { fill: #ececec } .note, .row, .column { fill: #b8b8b8 }\n"
      ".row-detail, .column-detail { fill: #9a9a9a } .invalid { fill: #a4a4a4 }\n"
      ".hatch-ground { fill: #26292d } .hatch-line { stroke: #3b4046 }\n"
      ".line { stroke: #777; stroke-opacity: .5 } .group { stroke: #60646b }\n"
      "}\n"
      "</style>\n"
      "<defs><pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
      "patternTransform=\"rotate(45)\"><rect class=\"hatch-ground\" width=\"6\" height=\"6\"/><line "
      "class=\"hatch-line\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"6\"/></pattern>"
      "<marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerUnits=\"userSpaceOnUse\" "
      "markerWidth=\"9\" markerHeight=\"9\" "
      "orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#b00020\"/></marker></defs>\n");
}

/* What does not fit ends in an ellipsis. */
static double add_title(drawing *d, double y) {
  const char *rest = d->picture->title;
  for (uint32_t line = 0; line < d->title_lines; line++) {
    size_t length = length_of_line(rest, d->title_length);
    bool cut = line + 1 == d->title_lines && rest[length] != '\0';
    tj_text_format(d->text, "<text class=\"title\" x=\"%d\" y=\"%.1f\">", MARGIN, y + TITLE_SIZE);
    add_escaped(d->text, rest, cut ? length - 1 : length);
    tj_text_string(d->text, cut ? "\u2026</text>\n" : "</text>\n");
    rest += length;
    y += TITLE_LINE;
  }
  return y;
}

static void add_head(drawing *d) {
  tj_text_format(d->text,
                 "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"%" PRIu32 "\" height=\"%" PRIu32
                 "\" viewBox=\"0 0 %" PRIu32 " %" PRIu32 "\">\n<title>",
                 d->width, d->height, d->width, d->height);
  add_escaped(d->text, d->picture->title, strlen(d->picture->title));
  tj_text_string(d->text, "</title>\n");
  add_style(d);
  tj_text_format(d->text, "<rect class=\"paper\" width=\"%" PRIu32 "\" height=\"%" PRIu32 "\"/>\n", d->width,
                 d->height);
  double y = add_title(d, MARGIN);
  if (d->picture->note != NULL) {
    add_text(d, "note", MARGIN, y + 11, d->picture->note);
    y += NOTE_LINE;
  }
  if (d->picture->colour != NULL)
    add_text(d, "note", MARGIN, y + 11, tj_string_format(d->text->job, "colour: %s", d->picture->colour));
}

/* --- cells --- */

static void add_tooltip(drawing *d, const tj_cell *cell) {
  const tj_picture *picture = d->picture;
  tj_text_string(d->text, "<title>");
  tj_text_string(d->text, tj_coordinate_text(d->text->job, picture->domain, cell->coordinate));
  if (picture->field == NULL) {
    tj_text_string(d->text, " \u21a6 ");
    tj_text_string(d->text, tj_coordinate_text(d->text->job, picture->output, cell->value));
    if (cell->state == TJ_CELL_INVALID)
      tj_text_string(d->text, ", not valid");
  }
  for (uint32_t i = 0; i < cell->owner_count && i < 16; i++) {
    tj_text_string(d->text, i == 0 ? ": " : "; ");
    for (uint32_t k = 0; k < picture->field_count; k++)
      tj_text_format(d->text, "%s%s %" PRId64, k > 0 ? ", " : "", picture->field[k],
                     cell->owner[i * picture->field_count + k]);
  }
  tj_text_string(d->text, cell->owner_count > 16 ? "; \u2026</title>" : "</title>");
}

static void add_lines(drawing *d, const tj_cell *cell, uint32_t x, uint32_t y) {
  const char *class_name = cell->state == TJ_CELL_INVALID         ? " class=\"invalid\""
                           : tj_colour_on(cell->fill) == 0xffffff ? " class=\"white\""
                                                                  : "";
  uint32_t count = cell->line[1] != NULL ? 2 : cell->line[0] != NULL ? 1 : 0;
  for (uint32_t i = 0; i < count; i++) {
    double middle = y + d->cell_height / 2.0 + (i - (count - 1) / 2.0) * LINE_HEIGHT;
    tj_text_format(d->text, "<text%s x=\"%.1f\" y=\"%.1f\">", class_name, x + d->cell_width / 2.0, middle + 4.2);
    add_escaped(d->text, cell->line[i], strlen(cell->line[i]));
    tj_text_string(d->text, "</text>\n");
  }
}

static void add_cell(drawing *d, const tj_cell *cell, uint32_t x, uint32_t y) {
  if (cell->state == TJ_CELL_ABSENT || cell->state == TJ_CELL_EMPTY)
    return;
  tj_text_string(d->text, "<g>");
  if (d->has_tooltips)
    add_tooltip(d, cell);
  tj_text_format(d->text, "<rect x=\"%" PRIu32 "\" y=\"%" PRIu32 "\" width=\"%" PRIu32 "\" height=\"%" PRIu32 "\" ",
                 x, y, d->cell_width, d->cell_height);
  if (cell->state == TJ_CELL_VALID)
    tj_text_format(d->text, "fill=\"#%06" PRIx32 "\"/>", cell->fill);
  else
    tj_text_string(d->text, "fill=\"url(#hatch)\"/>");
  tj_text_string(d->text, "</g>\n");
}

/* --- marks and arrows --- */

static void add_marks(drawing *d, const tj_panel *panel, uint32_t x, uint32_t y) {
  enum { INSET = 2 };
  for (uint32_t i = 0; i < panel->row.count * panel->column.count; i++) {
    if (panel->cell[i].is_marked)
      tj_text_format(
          d->text,
          "<rect class=\"mark\" x=\"%" PRIu32 "\" y=\"%" PRIu32 "\" width=\"%" PRIu32 "\" height=\"%" PRIu32 "\"/>\n",
          x + i % panel->column.count * d->cell_width + INSET, y + i / panel->column.count * d->cell_height + INSET,
          d->cell_width - 2 * INSET, d->cell_height - 2 * INSET);
  }
}

/* The path from the first value on; from cell to cell where values follow each other. */
static void add_path(drawing *d, const tj_panel *panel, uint32_t x, uint32_t y) {
  const tj_path_place *at = panel->path;
  for (uint32_t i = 0; i < panel->path_count; i++) {
    double right = x + (at[i].column + 0.5) * d->cell_width, down = y + (at[i].row + 0.5) * d->cell_height;
    if (i == 0)
      tj_text_format(d->text, "<circle class=\"start\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>\n", right, down);
    if (i + 1 < panel->path_count && at[i + 1].value == at[i].value + 1)
      tj_text_format(d->text, "<path class=\"arrow\" d=\"M%.1f %.1fL%.1f %.1f\" marker-end=\"url(#head)\"/>\n", right,
                     down, x + (at[i + 1].column + 0.5) * d->cell_width, y + (at[i + 1].row + 0.5) * d->cell_height);
  }
}

/* --- panels --- */

/* Lines between cells: every `step`-th of them, ends included when it is 1. The last row may be shorter. */
static void add_grid_lines(drawing *d, const tj_panel *panel, const char *class_name, uint32_t row_step,
                           uint32_t column_step, double x, double y) {
  uint32_t rows = panel->row.count, columns = panel->column.count, last = tj_last_row_count(panel);
  tj_text_format(d->text, "<path class=\"%s\" d=\"", class_name);
  for (uint32_t row = 0; row_step > 0 && row <= rows; row += row_step)
    tj_text_format(d->text, "M%.1f %.1fh%" PRIu32, x, y + row * d->cell_height,
                   (row == rows ? last : columns) * d->cell_width);
  for (uint32_t column = 0; column_step > 0 && column <= columns; column += column_step)
    tj_text_format(d->text, "M%.1f %.1fv%" PRIu32, x + column * d->cell_width, y,
                   (column > last ? rows - 1 : rows) * d->cell_height);
  tj_text_string(d->text, "\"/>\n");
}

static void add_labels(drawing *d, const tj_panel *panel, double x, double y) {
  for (uint32_t i = 0; i < panel->row.count; i++) {
    double middle = y + (i + 0.5) * d->cell_height;
    bool has_detail = panel->row.detail != NULL;
    if (has_detail)
      add_text(d, "row-detail", x - 6, middle + 3.3, panel->row.detail[i]);
    uint32_t detail = has_detail ? width_of(longest_of(panel->row.detail, panel->row.count), SMALL_CHARACTER) + 6 : 0;
    add_text(d, "row", x - 6 - detail, middle + 4.2, panel->row.label[i]);
  }
  for (uint32_t i = 0; i < panel->column.count; i++) {
    double middle = x + (i + 0.5) * d->cell_width;
    bool has_detail = panel->column.detail != NULL;
    if (has_detail)
      add_text(d, "column-detail", middle, y - 5, panel->column.detail[i]);
    add_text(d, "column", middle, y - 6 - (has_detail ? DETAIL_HEIGHT : 0), panel->column.label[i]);
  }
}

static void add_cells(drawing *d, const tj_panel *panel,
                      void (*add)(drawing *d, const tj_cell *cell, uint32_t x, uint32_t y), uint32_t x, uint32_t y) {
  for (uint32_t i = 0; i < panel->row.count * panel->column.count; i++)
    add(d, &panel->cell[i], x + i % panel->column.count * d->cell_width,
        y + i / panel->column.count * d->cell_height);
}

/* How many cells from this one on, in its row, nobody holds. */
static uint32_t length_of_gap(const tj_panel *panel, uint32_t first) {
  uint32_t length = 0;
  while (first % panel->column.count + length < panel->column.count &&
         panel->cell[first + length].state == TJ_CELL_EMPTY)
    length++;
  return length;
}

/* What nobody holds, as one shape. */
static void add_gaps(drawing *d, const tj_panel *panel, uint32_t x, uint32_t y) {
  bool has_any = false;
  for (uint32_t i = 0, gap; i < panel->row.count * panel->column.count; i += tj_more(gap, 1)) {
    gap = length_of_gap(panel, i);
    if (gap == 0)
      continue;
    tj_text_format(d->text, "%sM%" PRIu32 " %" PRIu32 "h%" PRIu32 "v%" PRIu32 "h-%" PRIu32 "z",
                   has_any ? "" : "<path fill=\"url(#hatch)\" d=\"", x + i % panel->column.count * d->cell_width,
                   y + i / panel->column.count * d->cell_height, gap * d->cell_width, d->cell_height,
                   gap * d->cell_width);
    has_any = true;
  }
  if (has_any)
    tj_text_string(d->text, "\"/>\n");
}

/* Lines and arrows lie between the colours of cells and what is written on them. */
static void add_panel(drawing *d, const tj_panel *panel, uint32_t left, uint32_t top) {
  uint32_t x = left + d->left, y = top + d->top;
  if (panel->caption != NULL)
    add_text(d, "caption", left, top + 13, panel->caption);
  add_labels(d, panel, x, y);
  add_gaps(d, panel, x, y);
  add_cells(d, panel, add_cell, x, y);
  add_grid_lines(d, panel, "line", 1, 1, x, y);
  if (panel->row.group > 0 || panel->column.group > 0)
    add_grid_lines(d, panel, "group", panel->row.group > 0 ? panel->row.group : panel->row.count,
                   panel->column.group > 0 ? panel->column.group : panel->column.count, x, y);
  add_marks(d, panel, x, y);
  add_path(d, panel, x, y);
  add_cells(d, panel, add_lines, x, y);
}

/* --- bits --- */

static const char *name_of_run(tj_job *job, const tj_bit_run *run) {
  return run->high == run->low ? tj_string_format(job, "b%" PRIu32, run->high)
                               : tj_string_format(job, "b%" PRIu32 "\u2013%" PRIu32, run->high, run->low);
}

static const char *result_of_run(tj_job *job, const tj_bit_run *run) {
  const char *name = name_of_run(job, run);
  if (run->partner == 0)
    return name;
  return tj_string_format(job, "%s\u2295b%" PRId64, name, (int64_t)run->low + run->partner);
}

static bool is_source(const tj_bits *bits, const tj_bit_run *run) {
  return run->low >= bits->from && run->low < bits->from + bits->count;
}

static const char *colour_of_run(const tj_bits *bits, const tj_bit_run *run) {
  return run->partner != 0 ? "#fbd3b4" : is_source(bits, run) ? "#cfe6f7" : "#f2f2f2";
}

static double middle_of_run(const tj_bits *bits, uint32_t run) {
  return MARGIN + 40 + (run + 0.5) * bit_width(bits);
}

static void add_bit_box(drawing *d, const tj_bits *bits, uint32_t run, double y, const char *label) {
  double middle = middle_of_run(bits, run);
  tj_text_format(
      d->text, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%" PRIu32 "\" height=\"%d\" fill=\"%s\" stroke=\"#555\"/>\n",
      middle - bit_width(bits) / 2.0, y, bit_width(bits), BIT_HEIGHT, colour_of_run(bits, &bits->run[run]));
  add_text(d, "bit", middle, y + BIT_HEIGHT / 2.0 + 4.2, label);
}

/* The line by which a bit comes down, and the one by which another is XORed into it. */
static void add_bit_lines(drawing *d, const tj_bits *bits, uint32_t run, double y) {
  double middle = middle_of_run(bits, run), end = y + BIT_DISTANCE, join = end - 12;
  const tj_bit_run *r = &bits->run[run];
  tj_text_format(d->text, "<path class=\"line\" d=\"M%.1f %.1fV%.1f\"/>\n", middle, y, end);
  if (r->partner == 0)
    return;
  for (uint32_t i = 0; i < bits->run_count; i++) {
    if (bits->run[i].high != bits->run[i].low || (int64_t)bits->run[i].low != (int64_t)r->low + r->partner)
      continue;
    double from = middle_of_run(bits, i);
    tj_text_format(d->text, "<path class=\"xor\" d=\"M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f\"/>\n", from, y, from,
                   y + 40, middle, y + 10, middle, join - 5);
  }
  tj_text_format(d->text,
                 "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5\" fill=\"#fff\" stroke=\"#d55e00\" stroke-width=\"1.5\"/>"
                 "<path class=\"xor\" d=\"M%.1f %.1fh10M%.1f %.1fv10\"/>\n",
                 middle, join, middle - 5, join, middle, join - 5);
}

static void add_bits(drawing *d, double top) {
  const tj_bits *bits = d->picture->bits;
  tj_job *job = d->text->job;
  double in = top + LABEL_HEIGHT, out = in + BIT_HEIGHT + BIT_DISTANCE;
  add_text(d, "note", MARGIN, in + BIT_HEIGHT / 2.0 + 4, "in");
  add_text(d, "note", MARGIN, out + BIT_HEIGHT / 2.0 + 4, "out");
  for (uint32_t i = 0; i < bits->run_count; i++)
    add_bit_lines(d, bits, i, in + BIT_HEIGHT);
  for (uint32_t i = 0; i < bits->run_count; i++) {
    add_bit_box(d, bits, i, in, name_of_run(job, &bits->run[i]));
    add_bit_box(d, bits, i, out, result_of_run(job, &bits->run[i]));
  }
}

void tj_show_svg(const tj_picture *picture, tj_text *text) {
  drawing d = measure(picture, text);
  add_head(&d);
  if (d.bits_height > 0)
    add_bits(&d, MARGIN + d.head_height);
  uint32_t top = MARGIN + d.head_height + d.bits_height;
  for (uint32_t i = 0; i < picture->panel_count; i++) {
    panel_place place = place_of_panel(&d, i);
    add_panel(&d, &picture->panel[i], MARGIN + place.left, top + place.top);
  }
  tj_text_string(text, "</svg>\n");
}
