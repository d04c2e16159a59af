/* SPDX-License-Identifier: MIT */
/* tilejit compile: a kernel as LLVM IR, assembly, object, code object, PTX, cubin or statistics; or the index
 * arithmetic of a value by itself, as functions for somebody else's code. */
#include "tools/input/input.h"
#include "tools/report/report.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_FUNCTION "index_of"

enum { NONE = -1 };

/* What --emit and --stop-after may name, in order of help: name, whether it is binary, whether it needs a target, the
 * tj_emit of a kernel, the tj_function_form of a function. */
#define OUTPUTS(OUTPUT)                                                                                              \
  OUTPUT("llvm", false, true, TJ_EMIT_LLVM, TJ_FUNCTION_LLVM)                                                        \
  OUTPUT("asm", false, true, TJ_EMIT_ASM, TJ_FUNCTION_ASM)                                                           \
  OUTPUT("obj", true, true, TJ_EMIT_OBJECT, TJ_FUNCTION_OBJECT)                                                      \
  OUTPUT("hsaco", true, true, TJ_EMIT_HSACO, NONE)                                                                   \
  OUTPUT("ptx", false, true, TJ_EMIT_PTX, NONE)                                                                      \
  OUTPUT("cubin", true, true, TJ_EMIT_CUBIN, NONE)                                                                   \
  OUTPUT("stats", false, true, TJ_EMIT_STATS, NONE)                                                                  \
  OUTPUT("c", false, false, NONE, TJ_FUNCTION_C)                                                                     \
  OUTPUT("header", false, false, NONE, TJ_FUNCTION_HEADER)                                                           \
  OUTPUT("bc", true, true, NONE, TJ_FUNCTION_BITCODE)                                                                \
  OUTPUT("ast", false, false, TJ_EMIT_AST, NONE)                                                                     \
  OUTPUT("values", false, false, TJ_EMIT_VALUES, NONE)                                                               \
  OUTPUT("index", false, false, TJ_EMIT_INDEX, NONE)                                                                 \
  OUTPUT("simplified", false, false, TJ_EMIT_SIMPLIFIED, NONE)                                                       \
  OUTPUT("tiled", false, true, TJ_EMIT_TILED, NONE)                                                                  \
  OUTPUT("object", true, true, TJ_EMIT_OBJECT, TJ_FUNCTION_OBJECT)

typedef struct {
  const char *name;
  bool is_binary;
  bool needs_target;
  int stage; /* tj_emit; NONE */
  int form;  /* tj_function_form; NONE */
} output;

static const output outputs[] = {
#define OUTPUT(...) {__VA_ARGS__},
    OUTPUTS(OUTPUT)
#undef OUTPUT
};

static const char *const output_words[] = {
#define OUTPUT(name, ...) name,
    OUTPUTS(OUTPUT)
#undef OUTPUT
        NULL};

/* The output of that name, or NULL. */
static const output *find_output(const char *name) {
  for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
    if (strcmp(outputs[i].name, name) == 0)
      return &outputs[i];
  }
  return NULL;
}

/* Whether a function is asked for, not a kernel. */
static bool wants_function(const arguments *given, const output *wanted) {
  return option_given(given, "function") || option_given(given, "walk") || wanted->stage == NONE;
}

typedef struct {
  const arguments *given;
  const output *wanted;
} compilation;

static tj_status emit(tj_program *program, const compilation *c, tj_blob *made) {
  const char *target = option_value(c->given, "target"), *name = option_value(c->given, "function");
  if (wants_function(c->given, c->wanted)) {
    tj_function_options options = {.name = name != NULL ? name : DEFAULT_FUNCTION,
                                   .target = target,
                                   .walk = option_value(c->given, "walk"),
                                   .kernel = option_value(c->given, "kernel")};
    return tj_program_function(program, &options, (tj_function_form)c->wanted->form, made);
  }
  tj_compile_options options = {option_value(c->given, "kernel"), target};
  return tj_program_emit(program, &options, (tj_emit)c->wanted->stage, made);
}

static tj_status compile(tj_context *context, tj_program *program, void *data, int *exit) {
  const compilation *c = data;
  tj_blob made;
  tj_status done = emit(program, c, &made);
  if (done == TJ_OK)
    *exit = write_made(context, c->given, json_pack("{s:s}", "emit", c->wanted->name), &made);
  return done;
}

/* 0, or the exit status after printing what is wrong with the options. */
static int check_options(const arguments *given, const output *wanted) {
  bool to_terminal = option_value(given, "o") == NULL && isatty(STDOUT_FILENO);
  bool to_text = to_terminal || (option_given(given, "json") && output_path(given) == NULL);
  if (wanted->needs_target && option_value(given, "target") == NULL)
    return fail_usage("compile needs --target: host, an AMDGPU such as gfx942, or sm_90");
  if (wants_function(given, wanted) && wanted->form == NONE)
    return fail_usage("functions have no %s: --function goes with c, header, llvm, bc, asm and obj", wanted->name);
  if (option_given(given, "walk") && option_given(given, "kernel"))
    return fail_usage("--walk is of the program's last expression, not of a kernel");
  if (wanted->is_binary && to_text)
    return fail_usage("%s is binary: give a file with -o", wanted->name);
  return 0;
}

static int run(const arguments *given) {
  const char *stop = option_value(given, "stop-after"), *emitted = option_value(given, "emit");
  const char *name = stop != NULL ? stop : emitted;
  if (stop != NULL && emitted != NULL)
    return fail_usage("--emit and --stop-after say what is written: give one of them");
  if (name == NULL)
    return fail_usage("compile needs --emit: llvm, asm, obj, hsaco, ptx, cubin or stats; c, header or bc");
  compilation c = {given, find_output(name)};
  int status = check_options(given, c.wanted);
  return status != 0 ? status : with_program(given, compile, &c);
}

static const option options[] = {
    {"kernel", VALUE_KERNEL, "K", "which kernel, where the program has several", NULL, false},
    {"function", VALUE_NAME, "NAME", "the value's index arithmetic as a function, not a kernel", NULL, false},
    {"walk", VALUE_NAME, "PARTS", "the function walks through a view: step=(…), count=…, starts=(…)", NULL, false},
    {"target", VALUE_TARGET, "T", "host, gfx942, gfx90a:xnack-, sm_90, …", NULL, false},
    {"emit", VALUE_WORD, "WHAT", "llvm, asm, obj; of kernels hsaco, ptx, cubin, stats; of functions c, header, bc",
     output_words, false},
    {"stop-after", VALUE_WORD, "STAGE", "show a stage: ast, values, index, simplified, tiled, llvm, object",
     output_words, false},
    {"o", VALUE_OUTPUT, "OUT", "write to a file instead of standard output", NULL, false},
    {0}};

static const operand operands[] = {PROGRAM_OPERAND, {0}};

const command command_compile = {
    "compile",
    "Compile a kernel, or a function to embed",
    "A program without kernels, whose value is a map, is compiled as offsets(dst, V): the kernel that stores the\n"
    "map's offset for every linear coordinate. Parameters without --set become arguments of the kernel.\n"
    "\n"
    "With --function, the map becomes functions to be called from somebody else's code: NAME(coordinates…,\n"
    "parameters…), the leaves of the coordinate first, then the parameters without --set as they were declared; of\n"
    "several components NAME_0, NAME_1, …; of views, transforms and adaptors also NAME_valid, which is 1 or 0.\n"
    "Integers are int32_t where they are proved to fit, else uint32_t, else int64_t. Arguments must lie in their\n"
    "ranges. As c they are C99, C++ and HIP, for which no target is needed; as llvm and bc a device function to be\n"
    "linked into a kernel, and as obj one for a program on the host; header declares these in C. Without "
    "--function,\n"
    "what c, header and bc emit is called " DEFAULT_FUNCTION ".\n"
    "\n"
    "A kernel of statements (--kernel, or the only one of a program without a value) becomes its arithmetic for one\n"
    "element, as c alone: NAME(elements…, reductions…, coordinates…, parameters…) is what is stored, of several\n"
    "destinations NAME_D; NAME_sum0, NAME_max1, … what a reduction takes of each element. Floats of 16 bits and "
    "less\n"
    "are float, rounded. Results are those of the kernel, to the last bit.\n"
    "\n"
    "A walk through a view V, the value walk(V, step=…) or V with --walk step=…, becomes NAME_init, NAME_next,\n"
    "NAME_offset and NAME_valid around a struct NAME_walk of what is carried from place to place: a loop of one's "
    "own\n"
    "has no divisions. Without count=, walks go on until all have left V.\n"
    "\n"
    "--emit stats prints JSON: instructions by class, registers, sizes; and cost, the time that the instructions "
    "keep\n"
    "the vector and matrix ALUs, each counted once, in units of a full-rate instruction (docs/statistics.md).\n"
    "\n"
    "Cubins, and statistics of NVIDIA's GPUs, take ptxas, a program of the CUDA toolkit: TILEJIT_PTXAS names it,\n"
    "otherwise it is looked for in PATH.\n"
    "\n"
    "--json prints an object: emit, and text; with -o, bytes and output.",
    program_input,
    options,
    operands,
    run};
