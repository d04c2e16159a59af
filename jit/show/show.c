/* SPDX-License-Identifier: MIT */
/* Makes the picture that the options ask for, and writes it in its form: tj_program_show. */
#include "jit/show/show.h"

#include "jit/inspect/report.h"

enum { DEFAULT_WIDTH = 118, LEAST_WIDTH = 20, MOST_WIDTH = 10000 };

void tj_show_check_options(tj_job *job, const tj_show_options *options) {
  if ((unsigned)options->form >= TJ_SHOW_FORM_COUNT)
    tj_fail(job, TJ_WRONG_TYPE, "there is no form of pictures number %d", (int)options->form);
  if ((unsigned)options->colour >= TJ_SHOW_COLOUR_COUNT)
    tj_fail(job, TJ_WRONG_TYPE, "there is no colouring number %d", (int)options->colour);
  bool has_tile = options->tile[0] != 0 || options->tile[1] != 0;
  if (has_tile && (options->tile[0] < 1 || options->tile[1] < 1))
    tj_fail(job, TJ_BAD_SHAPE, "a tile of %lld rows and %lld columns", (long long)options->tile[0],
            (long long)options->tile[1]);
}

static const char *title_of(tj_graph *graph, const tj_value *value) {
  tj_text text = tj_text_begin(graph->job);
  tj_value_print(&text, tj_value_simplified(graph, value));
  return text.data;
}

/* A view as text is shown without its grid where that cannot be drawn. */
static bool leaves_grid_out(const tj_show_request *request, tj_picture *picture) {
  if (picture->pipeline == NULL || request->options->form != TJ_SHOW_TEXT)
    return false;
  picture->note = tj_show_without_grid(request);
  return picture->note != NULL;
}

static void draw(const tj_show_request *request, tj_picture *picture) {
  if (request->options->tile[0] != 0)
    tj_show_threads(request, picture);
  else if (leaves_grid_out(request, picture))
    return;
  else if (tj_show_is_atom(request->value))
    tj_show_atom(request, picture);
  else if (tj_show_is_part(request->graph, request->value))
    tj_show_part(request, picture);
  else if (request->value->kind == TJ_VALUE_SWIZZLE)
    tj_show_swizzle(request, picture);
  else if (request->value->kind == TJ_VALUE_DISTRIBUTION)
    tj_show_distribution(request, picture);
  else
    tj_show_grid(request, picture);
}

void tj_show_write(const tj_picture *picture, const tj_show_options *options, tj_text *text) {
  size_t width = options->width == 0 ? DEFAULT_WIDTH : options->width;
  width = width < LEAST_WIDTH ? LEAST_WIDTH : width > MOST_WIDTH ? MOST_WIDTH : width;
  switch (options->form) {
  case TJ_SHOW_SVG:
    tj_show_svg(picture, text);
    return;
  case TJ_SHOW_LATEX:
    tj_show_latex(picture, text);
    return;
  case TJ_SHOW_JSON:
    tj_show_json(picture, text);
    return;
  default:
    tj_show_text(picture, (uint32_t)width, options->ansi != 0, text);
    return;
  }
}

static void write_picture(tj_program *program, tj_text *text, void *data) {
  const tj_show_options *options = data;
  tj_show_request request = {program->graph, tj_report_value(program), options};
  program->job.here = program->evaluated.values->value_span;
  tj_show_check_options(&program->job, options);
  tj_picture picture = {.title = title_of(program->graph, request.value),
                        .pipeline = tj_show_pipeline(program->graph, request.value)};
  draw(&request, &picture);
  if (options->has_arrows && (picture.panel_count == 0 || picture.field == NULL))
    tj_fail(&program->job, TJ_WRONG_TYPE, "arrows lead through what a thread holds of a tile; nobody holds %s",
            tj_value_kind_name(request.value->kind));
  tj_show_write(&picture, options, text);
}

tj_status tj_program_show(tj_program *program, const tj_show_options *options, tj_blob *picture) {
  tj_show_options chosen = options != NULL ? *options : (tj_show_options){.form = TJ_SHOW_TEXT};
  return tj_program_write(program, write_picture, &chosen, picture);
}
