/* SPDX-License-Identifier: MIT */
/* tilejit disasm: the annotated machine code of a code object. */
#include "tools/input/input.h"
#include "tools/report/report.h"

#include <stdlib.h>

/* The statistics are JSON as they are. */
static int print_code(tj_context *context, const arguments *given, tj_blob *text) {
  return option_given(given, "stats") ? write_blob(context, text) : write_made(context, given, json_object(), text);
}

static int disassemble(const arguments *given, const char *bytes, size_t size) {
  tj_context *context = open_context();
  if (context == NULL)
    return TJ_ERROR_SYSTEM;
  tj_blob text;
  tj_status done = tj_code_disassemble(context, bytes, size, option_given(given, "stats"), &text);
  int status = done == TJ_OK ? print_code(context, given, &text) : fail_library(context, done);
  tj_context_destroy(context);
  return status;
}

static int run(const arguments *given) {
  input from;
  char *bytes;
  size_t size;
  int status = input_of(given, 0, &from);
  if (status == 0)
    status = read_file(from.file, &bytes, &size);
  if (status != 0)
    return status;
  status = disassemble(given, bytes, size);
  free(bytes);
  return status;
}

static const option options[] = {
    {"stats", VALUE_NONE, NULL, "print JSON: instructions by class, registers, sizes, by kernel", NULL, false}, {0}};

static const operand operands[] = {
    {"FILE", VALUE_CODE_OBJECT, "a code object or a cubin; - is standard input", NULL, 0, 1}, {0}};

const command command_disasm = {
    "disasm",
    "Disassemble and annotate any AMDGPU code object, or a cubin",
    "--stats prints for each kernel how many instructions it has of each class, what it occupies, and `cost`: the\n"
    "time that its instructions keep the vector and matrix ALUs, each counted once, in units of a\n"
    "full-rate instruction. A 32-bit multiply counts as 4, a matrix instruction as its passes;\n"
    "docs/statistics.md has the list.\n"
    "\n"
    "Of cubins, NVIDIA's machine code, the text is what nvdisasm makes, a program of the CUDA toolkit:\n"
    "TILEJIT_NVDISASM names it, otherwise it is looked for in PATH. --stats tells what their kernels occupy.\n"
    "\n"
    "--json prints an object whose member text is the disassembly.",
    code_input,
    options,
    operands,
    run};
