/* SPDX-License-Identifier: MIT */
/* Pictures as LaTeX: a standalone document that draws with TikZ, one grid below the other, in the manner of CuTe's
 * print_latex: x goes down, y goes across, a cell is a centimetre high. Compiles with pdflatex. */
#include "jit/show/show.h"

#include <inttypes.h>
#include <string.h>

/* Centimetres, but for the character of a label, which is of \footnotesize typewriter type. */
static const double CHARACTER = 0.17, LEAST_CELL = 1.0, PANEL_GAP = 1.9, HEAD = 0.9;

typedef struct {
  tj_text *text;
  const tj_picture *picture;
  double cell_width; /* cells are 1 high */
  double top;        /* where the next thing begins */
} drawing;

/* --- text --- */

static void add_escaped(tj_text *text, const char *string) {
  for (const char *c = string; *c != '\0'; c++) {
    switch (*c) {
    case '\\':
      tj_text_string(text, "\\textbackslash{}");
      break;
    case '^':
      tj_text_string(text, "\\^{}");
      break;
    case '~':
      tj_text_string(text, "\\~{}");
      break;
    case '{':
    case '}':
    case '#':
    case '$':
    case '%':
    case '&':
    case '_':
      tj_text_char(text, '\\');
      tj_text_char(text, *c);
      break;
    default:
      tj_text_char(text, *c);
    }
  }
}

static void add_node(drawing *d, const char *options, double x, double y, const char *string) {
  tj_text_format(d->text, "\\node[%s] at (%.3f,%.3f) {\\texttt{", options, x, y);
  add_escaped(d->text, string);
  tj_text_string(d->text, "}};\n");
}

static uint32_t length_of(const char *string) {
  return string != NULL ? (uint32_t)strlen(string) : 0;
}

/* --- measuring --- */

static uint32_t longest_label(const tj_picture *picture) {
  uint32_t longest = 0;
  for (uint32_t i = 0; i < picture->panel_count; i++) {
    const tj_panel *panel = &picture->panel[i];
    for (size_t k = 0; k < (size_t)panel->row.count * panel->column.count; k++) {
      for (uint32_t line = 0; line < TJ_SHOW_LINE_LIMIT; line++) {
        uint32_t length = length_of(panel->cell[k].line[line]);
        longest = length > longest ? length : longest;
      }
    }
  }
  return longest;
}

/* --- cells --- */

static const char *text_colour(const tj_cell *cell) {
  return cell->state == TJ_CELL_INVALID ? "gray" : tj_colour_on(cell->fill) == 0xffffff ? "white" : "black";
}

static void add_cell(drawing *d, const tj_cell *cell, uint32_t row, uint32_t column) {
  double x = d->top + row + 0.5, y = (column + 0.5) * d->cell_width;
  if (cell->state == TJ_CELL_ABSENT)
    return;
  if (cell->state == TJ_CELL_VALID)
    tj_text_format(d->text, "\\cell{%.3f}{%.3f}{%06" PRIX32 "}{%s}{", x, y, cell->fill, text_colour(cell));
  else
    tj_text_format(d->text, "\\hatched{%.3f}{%.3f}{", x, y);
  for (uint32_t i = 0; i < TJ_SHOW_LINE_LIMIT && cell->line[i] != NULL; i++) {
    tj_text_string(d->text, i > 0 ? "\\\\" : "");
    add_escaped(d->text, cell->line[i]);
  }
  tj_text_string(d->text, "}\n");
}

/* --- grids --- */

/* Lines before every `row_step`-th row and `column_step`-th column; the last row may be shorter. */
static void add_lines(drawing *d, const tj_panel *panel, const char *options, uint32_t row_step,
                      uint32_t column_step) {
  uint32_t rows = panel->row.count, columns = panel->column.count, last = tj_last_row_count(panel);
  for (uint32_t row = 0; row <= rows; row += row_step)
    tj_text_format(d->text, "\\draw[%s] (%.3f,0) -- (%.3f,%.3f);\n", options, d->top + row, d->top + row,
                   (row == rows ? last : columns) * d->cell_width);
  for (uint32_t column = 0; column <= columns; column += column_step)
    tj_text_format(d->text, "\\draw[%s] (%.3f,%.3f) -- (%.3f,%.3f);\n", options, d->top, column * d->cell_width,
                   d->top + (column > last ? rows - 1 : rows), column * d->cell_width);
}

static void add_labels(drawing *d, const tj_panel *panel) {
  for (uint32_t i = 0; i < panel->row.count; i++) {
    double x = d->top + i + 0.5;
    add_node(d, "label", x, -0.5, panel->row.label[i]);
    if (panel->row.detail != NULL)
      add_node(d, "detail", x + 0.3, -0.5, panel->row.detail[i]);
  }
  for (uint32_t i = 0; i < panel->column.count; i++) {
    double y = (i + 0.5) * d->cell_width;
    add_node(d, "label", d->top - 0.6, y, panel->column.label[i]);
    if (panel->column.detail != NULL)
      add_node(d, "detail", d->top - 0.25, y, panel->column.detail[i]);
  }
}

static void add_marks(drawing *d, const tj_panel *panel) {
  for (uint32_t i = 0; i < panel->row.count * panel->column.count; i++) {
    double x = d->top + i / panel->column.count, y = i % panel->column.count * d->cell_width;
    if (panel->cell[i].is_marked)
      tj_text_format(d->text, "\\draw[mark] (%.3f,%.3f) rectangle (%.3f,%.3f);\n", x + 0.06, y + 0.06, x + 0.94,
                     y + d->cell_width - 0.06);
  }
}

static void add_path(drawing *d, const tj_panel *panel) {
  const tj_path_place *at = panel->path;
  for (uint32_t i = 0; i + 1 < panel->path_count; i++) {
    if (at[i + 1].value == at[i].value + 1)
      tj_text_format(d->text, "\\draw[arrow] (%.3f,%.3f) -- (%.3f,%.3f);\n", d->top + at[i].row + 0.5,
                     (at[i].column + 0.5) * d->cell_width, d->top + at[i + 1].row + 0.5,
                     (at[i + 1].column + 0.5) * d->cell_width);
  }
}

static void add_panel(drawing *d, const tj_panel *panel) {
  if (panel->caption != NULL) {
    add_node(d, "head", d->top, 0, panel->caption);
    d->top += 0.4;
  }
  d->top += 0.9;
  for (uint32_t row = 0; row < panel->row.count; row++)
    for (uint32_t column = 0; column < panel->column.count; column++)
      add_cell(d, &panel->cell[(size_t)row * panel->column.count + column], row, column);
  add_lines(d, panel, "thin", 1, 1);
  if (panel->row.group > 0 || panel->column.group > 0)
    add_lines(d, panel, "ultra thick", panel->row.group > 0 ? panel->row.group : panel->row.count,
              panel->column.group > 0 ? panel->column.group : panel->column.count);
  add_labels(d, panel);
  add_marks(d, panel);
  add_path(d, panel);
  d->top += panel->row.count + PANEL_GAP - 0.9;
}

/* --- bits --- */

static const char *name_of_run(tj_job *job, const tj_bit_run *run) {
  return run->high == run->low ? tj_string_format(job, "b%" PRIu32, run->high)
                               : tj_string_format(job, "b%" PRIu32 "-%" PRIu32, run->high, run->low);
}

static void add_bit_box(drawing *d, const tj_bits *bits, uint32_t run, double x, const char *prefix,
                        const char *label) {
  const tj_bit_run *r = &bits->run[run];
  bool is_source = r->low >= bits->from && r->low < bits->from + bits->count;
  const char *fill = r->partner != 0 ? "FBD3B4" : is_source ? "CFE6F7" : "F2F2F2";
  tj_text_format(d->text, "\\bitbox{%s%" PRIu32 "}{%.3f}{%.3f}{%s}{", prefix, run, x, 0.9 + run * 1.8, fill);
  add_escaped(d->text, label);
  tj_text_string(d->text, "}\n");
}

static void add_bit_lines(drawing *d, const tj_bits *bits, uint32_t run) {
  const tj_bit_run *r = &bits->run[run];
  tj_text_format(d->text, "\\draw[gray] (in%" PRIu32 ") -- (out%" PRIu32 ");\n", run, run);
  for (uint32_t i = 0; r->partner != 0 && i < bits->run_count; i++)
    if (bits->run[i].high == bits->run[i].low && (int64_t)bits->run[i].low == (int64_t)r->low + r->partner)
      tj_text_format(d->text, "\\draw[xor] (in%" PRIu32 ".south) to[out=-90,in=90] (out%" PRIu32 ".north);\n", i,
                     run);
}

static void add_bits(drawing *d) {
  const tj_bits *bits = d->picture->bits;
  tj_job *job = d->text->job;
  for (uint32_t i = 0; i < bits->run_count; i++) {
    const tj_bit_run *run = &bits->run[i];
    const char *name = name_of_run(job, run);
    add_bit_box(d, bits, i, d->top + 0.5, "in", name);
    add_bit_box(d, bits, i, d->top + 3, "out",
                run->partner == 0 ? name
                                  : tj_string_format(job, "%s^b%" PRId64, name, (int64_t)run->low + run->partner));
  }
  for (uint32_t i = 0; i < bits->run_count; i++)
    add_bit_lines(d, bits, i);
  d->top += 4.5;
}

/* --- the document --- */

static void add_preamble(drawing *d) {
  tj_text_string(d->text, "% ");
  tj_text_string(d->text, d->picture->title);
  tj_text_format(
      d->text,
      "\n\\documentclass[border=4mm]{standalone}\n"
      "\\usepackage{tikz}\n"
      "\\usetikzlibrary{patterns}\n"
      "\\newcommand{\\cell}[5]{\\definecolor{fill}{HTML}{#3}\\node[cell,fill=fill,text=#4] at (#1,#2) "
      "{#5};}\n"
      "\\newcommand{\\hatched}[3]{\\node[cell,pattern=north east lines,pattern color=lightgray,text=gray] at (#1,#2) "
      "{#3};}\n"
      "\\newcommand{\\bitbox}[5]{\\definecolor{fill}{HTML}{#4}\\node[bit,fill=fill] (#1) at (#2,#3) {"
      "#5};}\n"
      "\\begin{document}\n"
      "\\begin{tikzpicture}[x={(0cm,-1cm)},y={(1cm,0cm)},\n"
      "  cell/.style={minimum width=%.3fcm,minimum height=1cm,inner sep=0pt,outer sep=0pt,align=center,"
      "font=\\footnotesize\\ttfamily},\n"
      "  bit/.style={draw,minimum width=1.8cm,minimum height=0.8cm,inner sep=0pt,outer "
      "sep=0pt,font=\\footnotesize\\ttfamily},\n"
      "  xor/.style={-stealth,thick,orange!80!red}, mark/.style={red!70!black,very thick}, "
      "arrow/.style={-stealth,thick},\n"
      "  label/.style={font=\\large}, detail/.style={font=\\tiny,text=gray}, head/.style={anchor=base west,inner "
      "sep=0pt}]\n",
      d->cell_width);
}

void tj_show_latex(const tj_picture *picture, tj_text *text) {
  drawing d = {.text = text, .picture = picture, .top = HEAD};
  double width = longest_label(picture) * CHARACTER + 0.3;
  d.cell_width = width < LEAST_CELL ? LEAST_CELL : width;
  add_preamble(&d);
  add_node(&d, "head", 0, 0, picture->title);
  if (picture->note != NULL)
    add_node(&d, "head", 0.5, 0, picture->note);
  if (picture->bits != NULL && picture->bits->run_count > 0)
    add_bits(&d);
  for (uint32_t i = 0; i < picture->panel_count; i++)
    add_panel(&d, &picture->panel[i]);
  tj_text_string(text, "\\end{tikzpicture}\n\\end{document}\n");
}
