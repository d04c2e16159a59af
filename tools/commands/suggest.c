/* SPDX-License-Identifier: MIT */
/* tilejit suggest: the layouts that serve best. */
#include "tools/call/number.h"
#include "tools/input/input.h"
#include "tools/input/question.h"
#include "tools/report/report.h"

static tj_status suggest(tj_context *context, tj_lds_question *question, void *data, int *exit) {
  (void)data;
  tj_blob report;
  tj_status done = tj_suggest_lds_layouts(context, question, &report);
  if (done == TJ_OK)
    *exit = write_blob(context, &report);
  return done;
}

static int parse_bytes(const arguments *given, uint32_t *bytes) {
  const char *text = option_value(given, "bytes"), *end = text;
  int64_t number = 0;
  if (text == NULL)
    return 0;
  if (!parse_number(&end, &number) || *end != '\0' || number > UINT32_MAX)
    return fail_usage("--bytes %s: not a number of bytes", text);
  *bytes = (uint32_t)number;
  return 0;
}

/* The expression of --global, after what FILE and -e define. */
static tj_status suggest_access(tj_context *context, tj_program *program, void *data, int *exit) {
  const arguments *given = data;
  tj_blob report;
  tj_check_form form = option_given(given, "json") ? TJ_CHECK_JSON : TJ_CHECK_TEXT;
  tj_status done = tj_program_suggest(program, option_value(given, "dtype"), form, &report);
  if (done == TJ_OK)
    *exit = write_blob(context, &report);
  return done;
}

static int run(const arguments *given) {
  tj_lds_question question = {0};
  bool has_sides = option_given(given, "store") || option_given(given, "load");
  if (option_given(given, "global") && has_sides)
    return fail_usage("--global is of memory, --store and --load are of LDS: ask for one of them");
  if (option_given(given, "global"))
    return with_program_and(given, option_value(given, "global"), suggest_access, (void *)given);
  if (!has_sides)
    return fail_usage("suggest takes --store, --load or both, or --global; see tilejit suggest --help");
  int status = parse_bytes(given, &question.bytes);
  if (status == 0)
    status = parse_tile(given, question.tile);
  return status == 0 ? with_lds_question(given, &question, suggest, NULL) : status;
}

static const option options[] = {
    {"store", VALUE_EXPRESSION, "A", "who stores what of a tile: a distribution, a (thread, value) layout", NULL,
     false},
    {"load", VALUE_EXPRESSION, "B", "who loads what of it", NULL, false},
    {"tile", VALUE_TILE, "(M,N)", "with --store or --load: the tile's extents, where coordinates do not say them",
     NULL, false},
    {"bytes", VALUE_NUMBER, "N", "with --store or --load: bytes of LDS that a layout may take", NULL, false},
    {"global", VALUE_EXPRESSION, "V", "how wide accesses to V, a layout or a view in memory, may be", NULL, false},
    {"target", VALUE_TARGET, "T", "with --store or --load: whose LDS it is; gfx942 by default", NULL, false},
    {"dtype", VALUE_DTYPE, "TYPE", "the type of the tile's elements; f32 by default", NULL, false},
    {0}};

static const operand operands[] = {PROGRAM_OPERAND, {0}};

const command command_suggest = {
    "suggest",
    "Suggest layouts of a tile in LDS for those who store and load it there; or wider accesses to memory",
    "The layouts that take the fewest cycles, by the search that kernels use: up to four, the best first. Each is "
    "an\n"
    "expression that can be pasted, with its cycles, whether no layout takes fewer, its bytes, for how many "
    "workgroups a\n"
    "compute unit has room, the instructions of either side, and the operations that make a thread's addresses.\n"
    "With --global, how many elements of V surely move at once, and of what parameters have to be multiples where "
    "more\n"
    "of them shall. A, B and V see what FILE and -e define.",
    program_input,
    options,
    operands,
    run};
