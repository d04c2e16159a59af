/* SPDX-License-Identifier: MIT */
/* tilejit prove: two values are equal, or here is where they are not. */
#include "command.h"

#include <stdlib.h>

static int prove(tj_context *context, const char *declarations, const char *a, const char *b) {
  int equal;
  tj_blob text;
  tj_status proved = tj_prove(context, declarations, a, b, &equal, &text);
  if (proved != TJ_OK)
    return fail_library(context, proved);
  int status = write_output(NULL, text.data, text.size);
  tj_blob_release(context, &text);
  return status != 0 ? status : equal ? 0 : TJ_ERROR_INPUT;
}

static int run(const arguments *given) {
  if (given->operand_count != 2)
    return fail_usage("prove takes two expressions; see tilejit prove --help");
  const char *path = option_value(given, "f");
  char *declarations = NULL;
  size_t size;
  int status = path != NULL ? read_file(path, &declarations, &size) : 0;
  if (status != 0)
    return status;
  tj_context *context = open_context();
  status = context != NULL ? prove(context, declarations, given->operand[0], given->operand[1]) : TJ_ERROR_SYSTEM;
  tj_context_destroy(context);
  free(declarations);
  return status;
}

static const option options[] = {{"f", "FILE", "read declarations, which both expressions see"}, {NULL, NULL, NULL}};

const command command_prove = {
    "prove",
    "Prove two values equal for all parameters and coordinates, or find where they differ",
    "[-f FILE] A B",
    "Each may be a program that ends in an expression; items that both have as the same text count once. Proved by\n"
    "the simplifier's rules, by trying every case where there are at most 2^24, or by Z3, where tilejit was built\n"
    "with it. Exit status: 0 equal; 1 different, with a counterexample, or not decided.",
    options,
    run};
