/* tilejit compile: a kernel as LLVM IR, assembly, object, code object or statistics. */
#include "command.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
  const char *name;
  tj_emit stage;
  bool is_binary;
} stages[] = {{"ast", TJ_EMIT_AST, false},     {"values", TJ_EMIT_VALUES, false},
              {"index", TJ_EMIT_INDEX, false}, {"simplified", TJ_EMIT_SIMPLIFIED, false},
              {"llvm", TJ_EMIT_LLVM, false},   {"asm", TJ_EMIT_ASM, false},
              {"obj", TJ_EMIT_OBJECT, true},   {"object", TJ_EMIT_OBJECT, true},
              {"hsaco", TJ_EMIT_HSACO, true},  {"stats", TJ_EMIT_STATS, false}};

enum { STAGE_COUNT = sizeof stages / sizeof *stages };

/* The index of the stage that --emit or --stop-after names, or STAGE_COUNT. */
static size_t find_stage(const char *name) {
  size_t i = 0;
  while (i < STAGE_COUNT && strcmp(stages[i].name, name) != 0)
    i++;
  return i;
}

static int compile(tj_context *context, const arguments *given, const program_text *text, size_t stage) {
  tj_program *program;
  int status = create_program(context, given, text, &program);
  if (status != 0)
    return status;
  tj_compile_options options = {option_value(given, "kernel"), option_value(given, "target")};
  tj_blob output;
  tj_status done = tj_program_emit(program, &options, stages[stage].stage, &output);
  if (done == TJ_OK) {
    status = write_output(option_value(given, "o"), output.data, output.size);
    tj_blob_release(context, &output);
  } else {
    status = fail_library(context, done);
  }
  tj_program_destroy(program);
  return status;
}

static int run(const arguments *given) {
  const char *expression = option_value(given, "e");
  if ((expression != NULL) == (given->operand_count == 1) || given->operand_count > 1)
    return fail_usage("compile takes one FILE, or -e EXPR; see tilejit compile --help");
  const char *stop = option_value(given, "stop-after");
  const char *name = stop != NULL ? stop : option_value(given, "emit");
  if (name == NULL)
    return fail_usage("compile needs --emit: llvm, asm, obj, hsaco or stats");
  size_t stage = find_stage(name);
  if (stage == STAGE_COUNT)
    return fail_usage("there is nothing called '%s' to emit: llvm, asm, obj, hsaco or stats", name);
  if (option_value(given, "target") == NULL && stages[stage].stage >= TJ_EMIT_LLVM)
    return fail_usage("compile needs --target: host, or an AMDGPU such as gfx942");
  bool to_terminal = option_value(given, "o") == NULL && isatty(STDOUT_FILENO);
  if (stages[stage].is_binary && to_terminal)
    return fail_usage("%s is binary: give a file with -o", name);
  tj_context *context = open_context();
  if (context == NULL)
    return TJ_ERROR_SYSTEM;
  program_text text;
  int status = load_program_text(given->operand_count == 1 ? given->operand[0] : NULL, expression, &text);
  if (status == 0) {
    status = compile(context, given, &text, stage);
    free(text.text);
  }
  tj_context_destroy(context);
  return status;
}

static const option options[] = {
    {"e", "EXPR", "compile this text instead of a file"},
    {"kernel", "K", "which kernel, where the program has several"},
    {"target", "T", "host, gfx942, gfx90a:xnack-, …"},
    {"emit", "WHAT", "llvm, asm, obj, hsaco or stats"},
    {"stop-after", "STAGE", "show a stage: ast, values, index, simplified, llvm, object"},
    {"set", "P=V", "fix a parameter: code is specialised for it"},
    {"o", "OUT", "write to a file instead of standard output"},
    {NULL, NULL, NULL}};

const command command_compile = {
    "compile",
    "Compile a kernel",
    "FILE|-e EXPR [--kernel K] --target T [--set P=V]… --emit llvm|asm|obj|hsaco|stats [-o OUT]",
    "A program without kernels, whose value is a map, is compiled as offsets(dst, V): the kernel that stores the\n"
    "map's offset for every linear coordinate. Parameters without --set become arguments of the kernel.",
    options,
    run};
