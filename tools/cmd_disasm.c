/* SPDX-License-Identifier: MIT */
/* tilejit disasm: the annotated machine code of a code object. */
#include "command.h"

#include <stdlib.h>

static int run(const arguments *given) {
  if (given->operand_count != 1)
    return fail_usage("disasm takes one FILE; see tilejit disasm --help");
  char *bytes;
  size_t size;
  int status = read_file(given->operand[0], &bytes, &size);
  if (status != 0)
    return status;
  tj_context *context = open_context();
  if (context != NULL) {
    tj_blob text;
    tj_status done = tj_code_disassemble(context, bytes, size, option_given(given, "stats"), &text);
    if (done == TJ_OK) {
      status = write_output(NULL, text.data, text.size);
      tj_blob_release(context, &text);
    } else {
      status = fail_library(context, done);
    }
    tj_context_destroy(context);
  } else {
    status = TJ_ERROR_SYSTEM;
  }
  free(bytes);
  return status;
}

static const option options[] = {{"stats", NULL, "print JSON: instructions by class, registers, sizes, by kernel"},
                                 {NULL, NULL, NULL}};

const command command_disasm = {
    "disasm", "Disassemble and annotate any AMDGPU code object", "FILE.hsaco [--stats]", "", options, run};
