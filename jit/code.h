/* Compiled kernels behind the public header. */
#ifndef TJ_JIT_CODE_H
#define TJ_JIT_CODE_H

#include "jit/orc.h"
#include "jit/program.h"

struct tj_code {
  tj_program *program; /* retained: kernel, target and bytes live in its job, and no longer change */
  const tj_kernel *kernel;
  const tj_target *target;
  const char *symbol;
  uint32_t symbol_count; /* of the graph: one more than the largest index of a symbol */
  tj_bytes bytes;          /* the code object; on the host, the relocatable object */
  tj_host_code *host_code; /* NULL for GPUs */
  tj_code_times times;
};

#endif
