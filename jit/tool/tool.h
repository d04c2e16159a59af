/* SPDX-License-Identifier: MIT */
/* Programs of others: found, run within bounds, and what they say.
 *
 * There is no shell and no temporary file: what a program reads and writes are files in memory, which have no name
 * that anybody else could open; the program has them as its standard input and output. It runs in a process group of
 * its own, with no signal blocked or ignored, and has to end within a time; its group is killed when it does not, and
 * when whoever asked for the work cancels it.
 *
 * Thread safety: any thread, with a job of its own. A process that ignores SIGCHLD cannot be told how programs end:
 * there they fail. */
#ifndef TJ_JIT_TOOL_H
#define TJ_JIT_TOOL_H

#include "base/bytes.h"
#include "base/job.h"

/* The rows of tool.def. */
typedef enum {
#define TOOL(constant, name, variable, purpose) TJ_TOOL_##constant,
#include "jit/tool/tool.def"
  TJ_TOOL_COUNT
} tj_tool;

/* What stands for the input's and the output's names among the words of a command. */
#define TJ_TOOL_INPUT "/proc/self/fd/0"
#define TJ_TOOL_OUTPUT "/proc/self/fd/1"

/* One run. */
typedef struct {
  tj_tool tool;
  const char *const *words; /* behind its name; the last is NULL */
  tj_bytes input;
  uint32_t seconds; /* that it may take; 0: a minute */
} tj_tool_run;

/* The path of a program: what its variable names, else the first of its name in PATH. NULL: there is none. */
const char *tj_tool_path(tj_job *job, tj_tool tool);

/* What the program writes, with a zero byte behind, in the job's arena. The system's failures: TJ5009 where there is
 * no such program, TJ5010 where it does not start, fails, is killed or takes too long, with the first line of what it
 * says. TJ7007. */
tj_bytes tj_tool_output(tj_job *job, const tj_tool_run *run);

#endif
