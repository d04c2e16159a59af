/* SPDX-License-Identifier: MIT */
/* tilejit show: a picture of a layout, a swizzle, a view or a distribution. */
#include "command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* A word of an option, and the number it stands for. */
typedef struct {
  const char *word;
  int number;
} choice;

static const choice forms[] = {
    {"text", TJ_SHOW_TEXT}, {"svg", TJ_SHOW_SVG}, {"latex", TJ_SHOW_LATEX}, {"json", TJ_SHOW_JSON}, {NULL, 0}};

static const choice colours[] = {{"index", TJ_SHOW_COLOUR_INDEX},   {"cycle", TJ_SHOW_COLOUR_CYCLE},
                                 {"thread", TJ_SHOW_COLOUR_THREAD}, {"value", TJ_SHOW_COLOUR_VALUE},
                                 {"none", TJ_SHOW_COLOUR_NONE},     {NULL, 0}};

/* False where the option has another value than one of the choices; `number` stays where it was not given. */
static bool choose(const arguments *given, const char *name, const choice choices[], int *number) {
  const char *word = option_value(given, name);
  if (word == NULL)
    return true;
  for (const choice *c = choices; c->word != NULL; c++) {
    if (strcmp(c->word, word) == 0) {
      *number = c->number;
      return true;
    }
  }
  return false;
}

static bool parse_number(const char **text, int64_t *number) {
  char *end;
  errno = 0;
  *number = strtoll(*text, &end, 10);
  bool parsed = errno == 0 && end != *text && *number > 0;
  *text = end;
  return parsed;
}

static const char *skip(const char *text, const char *characters) {
  return text + strspn(text, characters);
}

/* (M,N), M,N or MxN. */
static bool parse_tile(const char *text, int64_t tile[2]) {
  bool has_parenthesis = *(text = skip(text, " ")) == '(';
  text += has_parenthesis;
  if (!parse_number(&text, &tile[0]))
    return false;
  text = skip(text, " ");
  if (*text != ',' && *text != 'x')
    return false;
  text++;
  if (!parse_number(&text, &tile[1]))
    return false;
  text = skip(text, " ");
  if (has_parenthesis && *text++ != ')')
    return false;
  return *skip(text, " ") == '\0';
}

/* Of the terminal that the picture goes to; 0 where it goes elsewhere. */
static size_t terminal_width(const arguments *given) {
  struct winsize size;
  if (option_value(given, "o") != NULL || !isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
    return 0;
  return size.ws_col;
}

/* Returns 0, or the exit status after printing what is wrong. */
static int parse_options(const arguments *given, tj_show_options *options) {
  int form = TJ_SHOW_TEXT, colour = TJ_SHOW_COLOUR_DEFAULT;
  const char *tile = option_value(given, "tile"), *width = option_value(given, "width");
  if (!choose(given, "as", forms, &form))
    return fail_usage("show has no form '%s': text, svg, latex or json", option_value(given, "as"));
  if (!choose(given, "color", colours, &colour))
    return fail_usage("there is no colouring '%s': index, cycle, thread, value or none",
                      option_value(given, "color"));
  *options = (tj_show_options){.form = (tj_show_form)form, .colour = (tj_show_colour)colour};
  if (tile != NULL && !parse_tile(tile, options->tile))
    return fail_usage("--tile %s: the form is (M,N) or MxN", tile);
  int64_t columns = 0;
  if (width != NULL && (!parse_number(&width, &columns) || *width != '\0'))
    return fail_usage("--width %s: not a number of characters", option_value(given, "width"));
  options->width = width != NULL ? (size_t)columns : terminal_width(given);
  return 0;
}

static int show(tj_context *context, const arguments *given, const program_text *text,
                const tj_show_options *options) {
  tj_program *program;
  int status = create_program(context, given, text, &program);
  if (status != 0)
    return status;
  tj_blob picture;
  tj_status done = tj_program_show(program, options, &picture);
  if (done == TJ_OK) {
    status = write_output(option_value(given, "o"), picture.data, picture.size);
    tj_blob_release(context, &picture);
  } else {
    status = fail_library(context, done);
  }
  tj_program_destroy(program);
  return status;
}

static int run(const arguments *given) {
  const char *path = option_value(given, "f");
  if (given->operand_count > 1 || (given->operand_count == 0 && path == NULL))
    return fail_usage("show takes one expression or -f FILE; see tilejit show --help");
  tj_show_options options;
  int status = parse_options(given, &options);
  if (status != 0)
    return status;
  tj_context *context = open_context();
  if (context == NULL)
    return TJ_ERROR_SYSTEM;
  program_text text;
  status = load_program_text(path, given->operand_count == 1 ? given->operand[0] : NULL, &text);
  if (status == 0) {
    status = show(context, given, &text, &options);
    free(text.text);
  }
  tj_context_destroy(context);
  return status;
}

static const option options[] = {
    {"as", "FORM", "text (the default), svg, latex or json"},
    {"tile", "(M,N)", "EXPR is a (thread, value) layout onto this tile: draw who holds what"},
    {"color", "BY", "index, cycle, thread, value or none; see above"},
    {"width", "N", "characters in a line of text (the terminal's width, or 118)"},
    {"f", "FILE", "read a program; its definitions are visible to EXPR"},
    {"set", "P=V", "fix a parameter"},
    {"o", "OUT", "write to a file instead of standard output"},
    {NULL, NULL, NULL}};

const command command_show = {
    "show",
    "Draw a layout, a swizzle, a view or a distribution",
    "[--as text|svg|latex|json] [--tile (M,N)] [--color BY] [--set P=V]… [-f FILE] [-o OUT] [EXPR]",
    "Layouts: mode 0 goes down, mode 1 across, each in colexicographic order; other modes make several grids.\n"
    "Views and transforms: the last two dimensions, the last across; what is not valid is marked. Text also shows a\n"
    "view's pipeline, stage by stage, with the number and [length] of every hidden dimension.\n"
    "Swizzles: which bits are XORed into which, and the grid of one period.\n"
    "Distributions: the tile, with the warp, lane and register of each element; with --tile, the same for a\n"
    "(thread, value) layout, as CuTe's print_latex draws it.\n\n"
    "Colours: index goes from the least value (light) to the greatest (dark); cycle is the index modulo 8, or the\n"
    "bits that a swizzle changes; thread and value are for tiles and distributions. Without --color, maps are\n"
    "coloured by index, swizzles by cycle, tiles and distributions by thread.",
    options,
    run};
