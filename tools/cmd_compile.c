/* SPDX-License-Identifier: MIT */
/* tilejit compile: a kernel as LLVM IR, assembly, object, code object or statistics; or the index arithmetic of a
 * value by itself, as functions for somebody else's code. */
#include "command.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_FUNCTION "index_of"

/* What --emit and --stop-after may name. */
typedef struct {
  const char *name;
  bool is_binary;
  bool needs_target;
  int stage; /* tj_emit: of a kernel; NONE */
  int form;  /* tj_function_form: of a function; NONE */
} output;

enum { NONE = -1 };

static const output outputs[] = {{"ast", false, false, TJ_EMIT_AST, NONE},
                                 {"values", false, false, TJ_EMIT_VALUES, NONE},
                                 {"index", false, false, TJ_EMIT_INDEX, NONE},
                                 {"simplified", false, false, TJ_EMIT_SIMPLIFIED, NONE},
                                 {"llvm", false, true, TJ_EMIT_LLVM, TJ_FUNCTION_LLVM},
                                 {"asm", false, true, TJ_EMIT_ASM, TJ_FUNCTION_ASM},
                                 {"obj", true, true, TJ_EMIT_OBJECT, TJ_FUNCTION_OBJECT},
                                 {"object", true, true, TJ_EMIT_OBJECT, TJ_FUNCTION_OBJECT},
                                 {"hsaco", true, true, TJ_EMIT_HSACO, NONE},
                                 {"stats", false, true, TJ_EMIT_STATS, NONE},
                                 {"bc", true, true, NONE, TJ_FUNCTION_BITCODE},
                                 {"c", false, false, NONE, TJ_FUNCTION_C},
                                 {"header", false, false, NONE, TJ_FUNCTION_HEADER}};

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
  return option_given(given, "function") || wanted->stage == NONE;
}

static tj_status emit(tj_program *program, const arguments *given, const output *wanted, tj_blob *made) {
  const char *target = option_value(given, "target"), *name = option_value(given, "function");
  if (wants_function(given, wanted)) {
    tj_function_options options = {name != NULL ? name : DEFAULT_FUNCTION, target};
    return tj_program_function(program, &options, (tj_function_form)wanted->form, made);
  }
  tj_compile_options options = {option_value(given, "kernel"), target};
  return tj_program_emit(program, &options, (tj_emit)wanted->stage, made);
}

static int compile(tj_context *context, const arguments *given, const program_text *text, const output *wanted) {
  tj_program *program;
  int status = create_program(context, given, text, &program);
  if (status != 0)
    return status;
  tj_blob made;
  tj_status done = emit(program, given, wanted, &made);
  if (done == TJ_OK) {
    status = write_output(option_value(given, "o"), made.data, made.size);
    tj_blob_release(context, &made);
  } else {
    status = fail_library(context, done);
  }
  tj_program_destroy(program);
  return status;
}

/* 0, or the exit status after printing what is wrong with the options. */
static int check_options(const arguments *given, const output *wanted) {
  bool to_terminal = option_value(given, "o") == NULL && isatty(STDOUT_FILENO);
  if (wanted->needs_target && option_value(given, "target") == NULL)
    return fail_usage("compile needs --target: host, or an AMDGPU such as gfx942");
  if (wants_function(given, wanted) && wanted->form == NONE)
    return fail_usage("functions have no %s: --function goes with c, header, llvm, bc, asm and obj", wanted->name);
  if (wants_function(given, wanted) && option_given(given, "kernel"))
    return fail_usage("a function is made of the program's last expression, not of a kernel");
  if (wanted->is_binary && to_terminal)
    return fail_usage("%s is binary: give a file with -o", wanted->name);
  return 0;
}

static int run(const arguments *given) {
  const char *expression = option_value(given, "e");
  if (given->operand_count > 1 || (expression == NULL && given->operand_count == 0))
    return fail_usage("compile takes one FILE, -e EXPR, or both; see tilejit compile --help");
  const char *stop = option_value(given, "stop-after");
  const char *name = stop != NULL ? stop : option_value(given, "emit");
  if (name == NULL)
    return fail_usage("compile needs --emit: llvm, asm, obj, hsaco or stats; c, header or bc");
  const output *wanted = find_output(name);
  if (wanted == NULL)
    return fail_usage("there is nothing called '%s' to emit: llvm, asm, obj, hsaco, stats, c, header or bc", name);
  int status = check_options(given, wanted);
  if (status != 0)
    return status;
  tj_context *context = open_context();
  if (context == NULL)
    return TJ_ERROR_SYSTEM;
  program_text text;
  status = load_program_text(given->operand_count == 1 ? given->operand[0] : NULL, expression, &text);
  if (status == 0) {
    status = compile(context, given, &text, wanted);
    free(text.text);
  }
  tj_context_destroy(context);
  return status;
}

static const option options[] = {
    {"e", "EXPR", "compile this text; after a FILE, with what it defines"},
    {"kernel", "K", "which kernel, where the program has several"},
    {"function", "NAME", "the value's index arithmetic as a function, not a kernel"},
    {"target", "T", "host, gfx942, gfx90a:xnack-, …"},
    {"emit", "WHAT", "llvm, asm, obj; of kernels hsaco, stats; of functions c, header, bc"},
    {"stop-after", "STAGE", "show a stage: ast, values, index, simplified, llvm, object"},
    {"set", "P=V", "fix a parameter: code is specialised for it"},
    {"o", "OUT", "write to a file instead of standard output"},
    {NULL, NULL, NULL}};

const command command_compile = {
    "compile",
    "Compile a kernel, or a function to embed",
    "[FILE] [-e EXPR] [--kernel K | --function NAME] --target T [--set P=V]… --emit WHAT [-o OUT]",
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
    "what c, header and bc emit is called " DEFAULT_FUNCTION ".",
    options,
    run};
