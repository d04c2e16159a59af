/* SPDX-License-Identifier: MIT */
/* tilejit show: a picture of a layout, a swizzle, a view or a distribution. */
#include "tools/call/number.h"
#include "tools/input/input.h"
#include "tools/input/question.h"
#include "tools/report/report.h"

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
#define PICTURE(word, number) {word, number},
#include "tools/call/word.def"
    {NULL, 0}};
static const char *const form_words[] = {
#define PICTURE(word, number) word,
#include "tools/call/word.def"
    NULL};
static const choice colours[] = {
#define COLOUR(word, number) {word, number},
#include "tools/call/word.def"
    {NULL, 0}};
static const char *const colour_words[] = {
#define COLOUR(word, number) word,
#include "tools/call/word.def"
    NULL};

/* Of the option's value, which is one of the choices; `otherwise` where it was not given. */
static int chosen(const arguments *given, const char *name, const choice choices[], int otherwise) {
  const char *word = option_value(given, name);
  for (const choice *c = choices; word != NULL && c->word != NULL; c++) {
    if (strcmp(c->word, word) == 0)
      return c->number;
  }
  return otherwise;
}

static bool to_terminal(const arguments *given) {
  return output_path(given) == NULL && !option_given(given, "json") && isatty(STDOUT_FILENO);
}

/* Of the terminal that the picture goes to; 0 where it goes elsewhere. */
static size_t terminal_width(const arguments *given) {
  struct winsize size;
  return to_terminal(given) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/* Returns 0, or the exit status after printing what is wrong. */
static int parse_options(const arguments *given, tj_show_options *options) {
  const char *width = option_value(given, "width");
  int form = chosen(given, "as", forms, option_given(given, "json") ? TJ_SHOW_JSON : TJ_SHOW_TEXT);
  int colour = chosen(given, "color", colours, TJ_SHOW_COLOUR_DEFAULT);
  *options = (tj_show_options){.form = (tj_show_form)form, .colour = (tj_show_colour)colour};
  int status = parse_tile(given, options->tile);
  if (status != 0)
    return status;
  int64_t columns = 0;
  if (width != NULL && (!parse_number(&width, &columns) || *width != '\0'))
    return fail_usage("--width %s: not a number of characters", option_value(given, "width"));
  const char *arrows = option_value(given, "arrows");
  if (arrows != NULL && (!parse_integer(arrows, &options->thread) || options->thread < 0))
    return fail_usage("--arrows %s: not the number of a thread", arrows);
  options->has_arrows = arrows != NULL;
  options->ansi = to_terminal(given) && has_colour(stdout);
  options->width = width != NULL ? (size_t)columns : terminal_width(given);
  return 0;
}

typedef struct {
  const arguments *given;
  tj_show_options options;
} showing;

/* A picture in JSON is a value as it is. */
static int print(tj_context *context, const showing *wanted, tj_blob *picture) {
  if (wanted->options.form == TJ_SHOW_JSON && output_path(wanted->given) == NULL)
    return write_blob(context, picture);
  const char *as = option_value(wanted->given, "as");
  return write_made(context, wanted->given, json_pack("{s:s}", "as", as != NULL ? as : "json"), picture);
}

static tj_status show(tj_context *context, tj_program *program, void *data, int *exit) {
  const showing *wanted = data;
  tj_blob picture;
  tj_status done = tj_program_show(program, &wanted->options, &picture);
  if (done == TJ_OK)
    *exit = print(context, wanted, &picture);
  return done;
}

/* A layout in LDS, with those who store and load, bank by bank. */
static tj_status show_lds(tj_context *context, tj_lds_question *question, void *data, int *exit) {
  const showing *wanted = data;
  tj_blob picture;
  tj_status done = tj_show_lds(context, question, &wanted->options, &picture);
  if (done == TJ_OK)
    *exit = print(context, wanted, &picture);
  return done;
}

static int run(const arguments *given) {
  showing wanted = {.given = given};
  int status = parse_options(given, &wanted.options);
  if (status != 0)
    return status;
  if (!option_given(given, "lds"))
    return with_program(given, show, &wanted);
  if (!option_given(given, "store") && !option_given(given, "load"))
    return fail_usage("show --lds takes --store, --load or both; see tilejit show --help");
  return with_lds_question(given, &(tj_lds_question){0}, show_lds, &wanted);
}

static const option options[] = {
    {"as", VALUE_WORD, "FORM", "text (the default), svg, latex or json", form_words, false},
    {"tile", VALUE_TILE, "(M,N)", "EXPR is a (thread, value) layout onto this tile: draw who holds what", NULL,
     false},
    {"color", VALUE_WORD, "BY", "index, cycle, thread, value or none; see above", colour_words, false},
    {"arrows", VALUE_NUMBER, "N", "in svg and latex, of a tile: from value to value of thread N", NULL, false},
    {"lds", VALUE_EXPRESSION, "X", "draw the banks of LDS, where X lays the tile out", NULL, false},
    {"store", VALUE_EXPRESSION, "A", "with --lds: who stores what of the tile", NULL, false},
    {"load", VALUE_EXPRESSION, "B", "with --lds: who loads what of the tile", NULL, false},
    {"target", VALUE_TARGET, "T", "with --lds: whose banks; gfx942 by default", NULL, false},
    {"dtype", VALUE_DTYPE, "TYPE", "with --lds: the type of elements; f32 by default", NULL, false},
    {"width", VALUE_NUMBER, "N", "characters in a line of text (the terminal's width, or 118)", NULL, false},
    {"o", VALUE_OUTPUT, "OUT", "write to a file instead of standard output", NULL, false},
    {0}};

static const operand operands[] = {EXPRESSION_OPERAND, {0}};

const command command_show = {
    "show",
    "Draw a layout, a swizzle, a view or a distribution",
    "Layouts: mode 0 goes down, mode 1 across, each in colexicographic order; other modes make several grids.\n"
    "Views and transforms: the last two dimensions, the last across; what is not valid is marked. Text also shows a\n"
    "view's pipeline, stage by stage, with the number and [length] of every hidden dimension.\n"
    "Swizzles: which bits are XORed into which, and the grid of one period.\n"
    "Distributions: the tile, with the warp, lane and register of each element; with --tile, the same for a\n"
    "(thread, value) layout, as CuTe's print_latex draws it.\n"
    "[L, tiler]: a layout whose tiles have colours; [L, (2,_)]: the slice has one.\n"
    "Instructions of the library of atoms: A, B and C of matrix instructions, what copies read and what they "
    "write.\n"
    "With --lds, of a tile in LDS: the instruction of a wave that has the most conflicts, word by word and bank by\n"
    "bank, as check --lds counts them; X, A and B see what EXPR and -f define.\n\n"
    "Colours: index goes from the least value (light) to the greatest (dark); cycle is the index modulo 8, or the\n"
    "bits that a swizzle changes; thread and value are for tiles and distributions. Without --color, maps are\n"
    "coloured by index, swizzles by cycle, tiles and distributions by thread. Text has colours on a terminal, "
    "unless\n"
    "NO_COLOR is set.\n\n"
    "--json prints what --as json draws; of other forms, an object: as, and text; with -o, bytes and output.",
    expression_input,
    options,
    operands,
    run};
