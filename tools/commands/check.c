/* SPDX-License-Identifier: MIT */
/* tilejit check: what holds of a map or of a kernel, and what it costs. */
#include "tools/input/input.h"
#include "tools/input/question.h"
#include "tools/report/report.h"

#include <stdlib.h>
#include <string.h>

static const char *const requirements[] = {"injective", "surjective", "bijective",     "inside",
                                           "race-free", "coalesced",  "conflict-free", NULL};

/* The words of every --require, in an array to be freed; NULL where there is no memory. */
static const char **collect_requirements(const arguments *given, size_t *count) {
  const char **words = malloc((given->option_count + 1) * sizeof *words);
  *count = 0;
  for (size_t i = 0; words != NULL && i < given->option_count; i++) {
    if (strcmp(given->option[i].name, "require") == 0)
      words[(*count)++] = given->option[i].value;
  }
  return words;
}

static tj_status check(tj_context *context, tj_program *program, void *data, int *exit) {
  tj_blob report;
  int holds;
  tj_status done = tj_program_check(program, data, &holds, &report);
  return done == TJ_OK ? report_check(context, &report, holds, exit) : done;
}

/* What --candidates says; 0 where it is not given. */
static int parse_candidates(const arguments *given, size_t *candidates) {
  enum { MOST = 64 };
  const char *text = option_value(given, "candidates");
  int64_t number = 0;
  if (text != NULL && (!parse_integer(text, &number) || number < 1 || number > MOST))
    return fail_usage("--candidates %s: give a number from 1 to %d", text, MOST);
  *candidates = (size_t)number;
  return 0;
}

/* What --arg passes: integers, and other numbers, of which the library takes the names. */
typedef struct {
  parameter_list integers;
  const char **number; /* names malloc'd */
  size_t number_count;
} passed_list;

static int add_passed(const char *word, passed_list *list) {
  passed_value passed;
  int status = parse_passed(word, &passed);
  if (status == 0 && passed.is_integer)
    list->integers.value[list->integers.count++] = (tj_parameter_value){passed.name, passed.integer};
  else if (status == 0)
    list->number[list->number_count++] = passed.name;
  return status;
}

static int collect_passed(const arguments *given, passed_list *list) {
  *list = (passed_list){.integers.value = calloc(given->option_count + 1, sizeof *list->integers.value),
                        .number = calloc(given->option_count + 1, sizeof *list->number)};
  int status = list->integers.value != NULL && list->number != NULL ? 0 : fail_memory();
  for (size_t i = 0; status == 0 && i < given->option_count; i++) {
    if (strcmp(given->option[i].name, "arg") == 0)
      status = add_passed(given->option[i].value, list);
  }
  return status;
}

static void free_passed(passed_list *list) {
  free_parameters(&list->integers);
  for (size_t i = 0; i < list->number_count; i++)
    free((char *)list->number[i]);
  free(list->number);
}

static int run_with(const arguments *given, tj_check_options *options) {
  passed_list passed;
  int status = parse_candidates(given, &options->candidates);
  if (status != 0)
    return status;
  status = collect_passed(given, &passed);
  options->parameter = passed.integers.value;
  options->parameter_count = passed.integers.count;
  options->number = passed.number;
  options->number_count = passed.number_count;
  if (status == 0)
    status = with_program(given, check, options);
  free_passed(&passed);
  return status;
}

/* A layout in LDS, against who stores and loads. */
static tj_status check_lds(tj_context *context, tj_lds_question *question, void *data, int *exit) {
  (void)data;
  tj_blob report;
  int holds;
  tj_status done = tj_check_lds(context, question, &holds, &report);
  return done == TJ_OK ? report_check(context, &report, holds, exit) : done;
}

static int run_lds(const arguments *given, const char *const words[], size_t count) {
  tj_lds_question question = {.require = words, .require_count = count};
  if (option_value(given, "store") == NULL && option_value(given, "load") == NULL)
    return fail_usage("check --lds takes --store, --load or both; see tilejit check --help");
  return with_lds_question(given, &question, check_lds, NULL);
}

static int run(const arguments *given) {
  tj_check_options options = {.kernel = option_value(given, "kernel"),
                              .target = option_value(given, "target"),
                              .dtype = option_value(given, "dtype"),
                              .is_threads = option_given(given, "tv"),
                              .form = option_given(given, "json") ? TJ_CHECK_JSON : TJ_CHECK_TEXT};
  const char **words = collect_requirements(given, &options.require_count);
  if (words == NULL)
    return fail_memory();
  options.require = words;
  int status = option_given(given, "dma")   ? check_dma(given)
               : option_given(given, "lds") ? run_lds(given, words, options.require_count)
                                            : run_with(given, &options);
  free(words);
  return status;
}

static const option options[] = {
    {"kernel", VALUE_KERNEL, "K", "without --lds or --dma: check this kernel, and not the program's expression", NULL,
     false},
    {"target", VALUE_TARGET, "T",
     "the machine whose LDS and cache lines count, and that kernels are compiled for: gfx942; host", NULL, false},
    {"dtype", VALUE_DTYPE, "TYPE", "the type of a map's elements; f32 by default", NULL, false},
    {"lds", VALUE_EXPRESSION, "X", "check X, from the coordinate in a tile to the element of LDS", NULL, false},
    {"store", VALUE_EXPRESSION, "A",
     "with --lds: who stores what of the tile: a distribution, a (thread, value) layout", NULL, false},
    {"load", VALUE_EXPRESSION, "B", "with --lds: who loads what of the tile", NULL, false},
    {"dma", VALUE_EXPRESSION, "V",
     "how the tensor DMA of gfx1250, or the TMA of sm_90, moves tiles of V, a layout or a view in memory", NULL,
     false},
    {"tile", VALUE_EXPRESSION, "T", "with --dma: the tile's extents, as in (64,64); --lds is its layout in LDS", NULL,
     false},
    {"at", VALUE_EXPRESSION, "C", "with --dma: where the tile begins whose instructions are told", NULL, false},
    {"program", VALUE_NONE, NULL,
     "with --dma: print what an instruction is given as a program, for compile --function", NULL, false},
    {"function", VALUE_NAME, "NAME",
     "with --dma: print it as functions in C, and a function NAME_map that makes a tensor map", NULL, false},
    {"tv", VALUE_NONE, NULL, "without --lds or --dma: the value is a (thread, value) layout of a tile", NULL, false},
    {"arg", VALUE_PARAMETER, "P=V", "without --lds or --dma: what a launch passes; costs of kernels are told for it",
     NULL, true},
    {"candidates", VALUE_NUMBER, "N",
     "without --lds or --dma: the N mappings of least price that a kernel without parameters could have, each with "
     "its price",
     NULL, false},
    {"require", VALUE_WORD, "WHAT",
     "without --dma: what must hold; injective, surjective, bijective, inside, race-free, coalesced, conflict-free; "
     "repeatable",
     requirements, true},
    {0}};

static const operand operands[] = {PROGRAM_OPERAND, {0}};

const command command_check = {
    "check",
    "Check a map or a kernel: bijectivity, coalescing, vector widths, bank conflicts, occupancy",
    "Of a map: whether it is one to one and onto, with counterexamples; how often it reaches each element; which\n"
    "coordinates are not valid; how many elements can surely be moved at once. With --target, of a layout the "
    "cycles\n"
    "of LDS that holds it, for lanes along each mode; of a distribution, and with --tv of a (thread, value) layout,\n"
    "the cache lines and the cycles of LDS of its waves, where the tile lies without gaps. Of a kernel, each "
    "variant\n"
    "by itself: for every access the bytes of a lane and the cache lines that its waves touch, against the least;\n"
    "registers, occupancy, cycles of LDS; of a copy in tiles, their shape and how they lie in LDS, and why. Without\n"
    "--kernel, the program's expression is checked, or where it has none, every kernel.\n\n"
    "With --lds, of any layout of a tile, against any (thread, value) layouts: each instruction that stores and "
    "loads,\n"
    "its bytes, phases and cycles, and which two lanes meet in which bank. Of targets sm_75 to sm_121, too; gfx942\n"
    "by default. X, A and B see what FILE and -e define.\n\n"
    "With --dma, the fewest instructions that move a tile from memory to LDS, by an engine that knows boxes of "
    "tensors:\n"
    "its dimensions, boxes and strides, and the bits of descriptors or the parameters of tensor maps; or why there "
    "is\n"
    "none.\n\n"
    "With --candidates, mappings that could be written into the kernel's copy, each compiled by itself: what it "
    "costs\n"
    "of memory, LDS, registers and instructions, and the price by which they are compared, in cache lines.\n\n"
    "Parameters with neither --set nor --arg are given values with which a launch takes the variant. Costs are\n"
    "required of every variant but the last, which serves where no other does; of that one where it is alone.\n\n"
    "Exit status: 0 where everything holds that must: no valid coordinate reaches outside of its buffer, and what\n"
    "--require asks for; 1 where something does not, or the input is wrong.",
    program_input,
    options,
    operands,
    run};
