/* SPDX-License-Identifier: MIT */
/* A kernel of a subcommand's input, compiled and ready to be launched. */
#ifndef TILEJIT_TOOLS_KERNEL_H
#define TILEJIT_TOOLS_KERNEL_H

#include "tools/input/input.h"

typedef struct {
  tj_context *context; /* borrowed */
  tj_code *code;
  tj_launch *launch;
} kernel;

/* Compiles what --kernel and --set say for a target, and passes the launch the parameters of --arg. Returns 0, or the
 * exit status after printing why not; in either case close_kernel gives back what there is. */
int open_kernel(const arguments *given, const program_text *text, const char *target, tj_context *context,
                kernel *opened);
void close_kernel(kernel *opened);

#endif
