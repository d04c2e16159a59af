/* SPDX-License-Identifier: MIT */
/* tilejit check: what holds of a map or of a kernel, and what it costs. */
#include "command.h"

#include <stdlib.h>
#include <string.h>

static const char *const requirements[] = {"injective", "surjective",    "bijective", "inside",
                                           "coalesced", "conflict-free", NULL};

static bool is_requirement(const char *word) {
  for (size_t i = 0; requirements[i] != NULL; i++) {
    if (strcmp(requirements[i], word) == 0)
      return true;
  }
  return false;
}

/* The words of every --require, in an array to be freed. NULL after printing what is wrong. */
static const char **collect_requirements(const arguments *given, size_t *count, int *status) {
  const char **words = malloc((given->option_count + 1) * sizeof *words);
  *count = 0;
  *status = words == NULL ? fail_tool(TJ_ERROR_SYSTEM, 7001, "free memory", "out of memory") : 0;
  for (size_t i = 0; words != NULL && i < given->option_count; i++) {
    if (strcmp(given->option[i].name, "require") != 0)
      continue;
    words[(*count)++] = given->option[i].value;
    if (!is_requirement(given->option[i].value))
      *status = fail_usage("--require %s: injective, surjective, bijective, inside, coalesced or conflict-free",
                           given->option[i].value);
  }
  if (*status == 0)
    return words;
  free(words);
  return NULL;
}

static int check(tj_context *context, const arguments *given, const program_text *text,
                 const tj_check_options *options) {
  tj_program *program;
  int status = create_program(context, given, text, &program), holds = 0;
  if (status != 0)
    return status;
  tj_blob report;
  tj_status done = tj_program_check(program, options, &holds, &report);
  if (done == TJ_OK) {
    status = write_output(NULL, report.data, report.size);
    tj_blob_release(context, &report);
    status = status != 0 ? status : holds ? 0 : TJ_ERROR_INPUT;
  } else {
    status = fail_library(context, done);
  }
  tj_program_destroy(program);
  return status;
}

static int check_text(const arguments *given, const program_text *text) {
  int status;
  tj_check_options options = {.kernel = option_value(given, "kernel"),
                              .target = option_value(given, "target"),
                              .dtype = option_value(given, "dtype"),
                              .is_threads = option_given(given, "tv"),
                              .form = option_given(given, "json") ? TJ_CHECK_JSON : TJ_CHECK_TEXT};
  const char **words = collect_requirements(given, &options.require_count, &status);
  if (words == NULL)
    return status;
  options.require = words;
  tj_context *context = open_context();
  status = context != NULL ? check(context, given, text, &options) : TJ_ERROR_SYSTEM;
  tj_context_destroy(context);
  free(words);
  return status;
}

static int run(const arguments *given) {
  const char *expression = option_value(given, "e");
  if (given->operand_count > 1 || (given->operand_count == 0 && expression == NULL))
    return fail_usage("check takes a FILE or -e EXPR; see tilejit check --help");
  program_text text;
  int status = load_program_text(given->operand_count == 1 ? given->operand[0] : NULL, expression, &text);
  if (status != 0)
    return status;
  status = check_text(given, &text);
  free(text.text);
  return status;
}

static const option options[] = {
    {"e", "EXPR", "check this expression; with FILE, in its scope"},
    {"kernel", "K", "check this kernel, and not the program's expression"},
    {"target", "T", "the machine whose LDS and cache lines count, and that kernels are compiled for: gfx942; host"},
    {"dtype", "TYPE", "the type of a map's elements; f32 by default"},
    {"tv", NULL, "the value is a (thread, value) layout of a tile"},
    {"set", "P=V", "fix a parameter"},
    {"require", "WHAT", "must hold: injective, surjective, bijective, inside, coalesced, conflict-free; repeatable"},
    {"json", NULL, "print JSON"},
    {NULL, NULL, NULL}};

const command command_check = {
    "check",
    "Check a map or a kernel: bijectivity, coalescing, vector widths, bank conflicts, occupancy",
    "[FILE | -e EXPR] [--kernel K] [--target T] [--json]",
    "Of a map: whether it is one to one and onto, with counterexamples; how often it reaches each element; which\n"
    "coordinates are not valid; how many elements can surely be moved at once. With --target, of a layout the "
    "cycles\n"
    "of LDS that holds it, for lanes along each mode; of a distribution, and with --tv of a (thread, value) layout,\n"
    "the cache lines and the cycles of LDS of its waves, where the tile lies without gaps. Of a kernel: for every\n"
    "access the bytes of a lane and the cache lines that its waves touch, against the least; registers, occupancy,\n"
    "cycles of LDS; of a copy in tiles, their shape and how they lie in LDS, and why. Without --kernel, the\n"
    "program's expression is checked, or where it has none, every kernel.\n\n"
    "Exit status: 0 where everything holds that must: no valid coordinate reaches outside of its buffer, and what\n"
    "--require asks for; 1 where something does not, or the input is wrong.",
    options,
    run};
