/* SPDX-License-Identifier: MIT */
/* Pictures: what `show` draws of a map, and the forms that it is drawn in.
 *
 * A picture is made once from a value (show_grid.c, show_owner.c, show_atom.c, show_part.c, show_pipeline.c), or from
 * a question about LDS (show_banks.c), coloured by show_colour.c, and written in one of several forms (show_text.c,
 * show_svg.c, show_latex.c, show_json.c), which know nothing of layouts and views. Pictures live in the job.
 *
 * How to add a form: a file show_FORM.c with one function below, a row of its table in show.c, an entry of
 * tj_show_form. */
#ifndef TJ_JIT_SHOW_H
#define TJ_JIT_SHOW_H

#include "ir/value/table.h"
#include "jit/lds/check_lds.h"

enum { TJ_SHOW_CELL_LIMIT = 1 << 16, TJ_SHOW_LINE_LIMIT = 2, TJ_SHOW_BROKEN_ROW = 16 };

typedef enum {
  TJ_CELL_ABSENT, /* the last line of a wrapped axis ends before it */
  TJ_CELL_EMPTY,  /* a place of the tile that no thread holds */
  TJ_CELL_INVALID,
  TJ_CELL_VALID
} tj_cell_state;

/* One place of a grid. It has either the value of a map, or owners: rows of the picture's fields. */
typedef struct {
  tj_cell_state state;
  const int64_t *coordinate; /* leaves, in the structure of picture->domain */
  const int64_t *value;      /* leaves, in the structure of picture->output */
  int64_t *owner;            /* owner_count × field_count */
  uint32_t owner_count;
  uint32_t fill;  /* 0xRRGGBB */
  bool is_marked; /* something is wrong here */
  const char *line[TJ_SHOW_LINE_LIMIT];
} tj_cell;

/* The positions along one side of a grid. */
typedef struct {
  uint32_t count;
  const char **label;  /* 5 */
  const char **detail; /* (1,2): the same as a coordinate of a hierarchical mode; NULL where that says nothing more */
  uint32_t group;      /* a heavier line before every so many; 0: none */
} tj_axis;

/* A cell on the way through what one thread holds, and which of its values that is. */
typedef struct {
  uint32_t row, column;
  int64_t value;
} tj_path_place;

typedef struct {
  const char *caption; /* which part of the map it is: (_,_,1); NULL where it is all */
  tj_axis row, column;
  tj_cell *cell;             /* row by row */
  const tj_path_place *path; /* arrows lead from a place to the next one, where that has the next value */
  uint32_t path_count;
} tj_panel;

/* A run of bits that is drawn as one column: high … low. `partner` is added to a bit to give the one that is XORed
 * into it; 0 where it stays. */
typedef struct {
  uint32_t high, low;
  int32_t partner;
} tj_bit_run;

/* What a swizzle does to an integer's bits, the highest first: bits that are XORed or copied from stand alone. */
typedef struct {
  const tj_bit_run *run;
  uint32_t run_count;
  uint32_t count, from, to; /* bits from … from + count - 1 go into bits to … */
} tj_bits;

/* One transform of a view or an adaptor, and the dimensions that it joins, by hidden number. */
typedef struct {
  const char *transform;
  const uint32_t *upper, *lower;
  uint32_t upper_count, lower_count;
  uint32_t stage; /* number of the transform(…) it belongs to; 0 is the lowest */
} tj_pipeline_step;

/* How coordinates become offsets: top down. */
typedef struct {
  const tj_pipeline_step *step;
  uint32_t step_count;
  const uint32_t *top, *bottom; /* hidden numbers */
  uint32_t top_count, bottom_count;
  const char *const *length; /* by hidden number; NULL where any is accepted */
  uint32_t dimension_count;
  const char *buffer; /* what lies below: the buffer of a view; NULL for an adaptor */
} tj_pipeline;

typedef struct {
  const char *title;  /* canonical text */
  const char *note;   /* what the cells show; NULL where the title says enough */
  const char *colour; /* what colours mean; NULL: cells are white */
  const tj_tuple *domain, *output;
  bool has_validity;
  const char *const *field; /* names of the numbers of an owner; NULL where cells have values */
  uint32_t field_count;
  bool has_marks; /* cells may be marked */
  const tj_panel *panel;
  uint32_t panel_count;
  bool is_product;             /* three panels, A, B and C, that are placed as the operands of a product */
  const tj_bits *bits;         /* of a bare swizzle, else NULL */
  const tj_pipeline *pipeline; /* of a view, an adaptor or a distribution, else NULL */
} tj_picture;

/* --- making pictures --- */

/* What to draw. The options are as in tilejit.h, checked. */
typedef struct {
  tj_graph *graph;
  const tj_value *value;
  const tj_show_options *options;
} tj_show_request;

/* The grid of a map's values; of a map of rank > 2 a panel for each coordinate of the modes that are no rows and
 * columns. TJ2024, TJ2023, TJ7005. */
void tj_show_grid(const tj_show_request *request, tj_picture *picture);
/* Why the grid cannot be drawn: its domain is not constant, or too large. NULL where it can. */
const char *tj_show_without_grid(const tj_show_request *request);
/* The bits of a swizzle and the grid of the period in which it permutes, chunk by chunk. */
void tj_show_swizzle(const tj_show_request *request, tj_picture *picture);
/* The tile onto which a (thread, value) layout maps: who holds each place. */
void tj_show_threads(const tj_show_request *request, tj_picture *picture);
/* The tile of a distribution: who holds each place, and in which register. */
void tj_show_distribution(const tj_show_request *request, tj_picture *picture);
/* Whether the value is a matrix or copy instruction of the library of atoms: a list of a shape and four layouts, or
 * of four layouts; and its operands, side by side. */
bool tj_show_is_atom(const tj_value *value);
void tj_show_atom(const tj_show_request *request, tj_picture *picture);
/* Whether the value is a list of a layout and a tiler, or of a layout and a coordinate with underscores; and the
 * layout's grid, with its tiles or the slice in colour. */
bool tj_show_is_part(tj_graph *graph, const tj_value *value);
void tj_show_part(const tj_show_request *request, tj_picture *picture);
/* The words of LDS that an instruction wants, bank by bank. */
void tj_show_banks(const tj_lds_check *check, tj_picture *picture);
/* The pipeline of a view, an adaptor or a distribution; NULL for other values. */
const tj_pipeline *tj_show_pipeline(tj_graph *graph, const tj_value *value);

/* --- parts shared by those --- */

/* TJ7005 where there are too many cells. */
void tj_show_check_size(tj_job *job, const tj_tuple *shape, int64_t size);
/* The table of the value, not larger than a picture may be. */
tj_table tj_table_to_draw(const tj_show_request *request);

/* An axis of `count` numbers 0, 1, … */
tj_axis tj_axis_of_numbers(tj_job *job, uint32_t count);
/* A single row of many cells is broken into rows of TJ_SHOW_BROKEN_ROW cells, whose labels are added to those of the
 * columns; the last row may be shorter. */
bool tj_row_is_long(int64_t count);
void tj_break_row(tj_job *job, uint32_t count, tj_panel *panel);
/* How many cells the last row has. */
uint32_t tj_last_row_count(const tj_panel *panel);
/* A number, and a coordinate of the given structure, as text in the job. */
const char *tj_number_text(tj_job *job, int64_t number);
const char *tj_coordinate_text(tj_job *job, const tj_tuple *structure, const int64_t leaves[]);

/* --- colours (show_colour.c) --- */

/* Light to dark as `key` goes from `least` to `greatest`. */
uint32_t tj_colour_gradient(int64_t key, int64_t least, int64_t greatest);
/* One of eight hues, in one of four shades. */
uint32_t tj_colour_category(int64_t hue, int64_t shade);
/* A hue between its lightest shade and its darkest. */
uint32_t tj_colour_shaded(int64_t hue, int64_t shade, int64_t shade_count);
/* Black or white, whichever can be read on `fill`. */
uint32_t tj_colour_on(uint32_t fill);

/* --- forms --- */

/* Fails where the options say what there is not. */
void tj_show_check_options(tj_job *job, const tj_show_options *options);
/* Writes the picture in the form that the options say. */
void tj_show_write(const tj_picture *picture, const tj_show_options *options, tj_text *text);

/* With `paints`, cells have their colours, by ANSI's escapes for 24 bits. */
void tj_show_text(const tj_picture *picture, uint32_t width, bool paints, tj_text *text);
void tj_show_svg(const tj_picture *picture, tj_text *text);
void tj_show_latex(const tj_picture *picture, tj_text *text);
void tj_show_json(const tj_picture *picture, tj_text *text);

#endif
