/* SPDX-License-Identifier: MIT */
/* ISA statistics: how many instructions of which class a kernel has, and what it occupies.
 *
 * Static counts: every instruction once, without the padding behind the end of code. */
#ifndef TJ_JIT_STATS_H
#define TJ_JIT_STATS_H

#include "jit/isa/disasm.h"
#include "object/code_object.h"
#include "object/cubin.h"

/* TJ_ISA_STATS(X) calls X(name, meaning) for every figure, in the order in which they are printed. */
#define TJ_ISA_STATS(X)                                                                                              \
  TJ_ISA_COUNTS(X)                                                                                                   \
  X(vgprs, "vector registers that the kernel uses")                                                                  \
  X(sgprs, "scalar registers that the kernel uses")                                                                  \
  X(lds_bytes, "LDS of a workgroup")                                                                                 \
  X(scratch_bytes, "memory of a work-item for what does not fit into registers")                                     \
  X(code_bytes, "bytes of machine code")                                                                             \
  X(wave_size, "work-items of a wave")                                                                               \
  X(cost, "valu, each instruction by the time that it keeps its ALU: 1 at full rate, 4 of 32-bit multiplies, the "   \
          "passes of matrix instructions")

/* The figures among them that count instructions. */
#define TJ_ISA_COUNTS(X)                                                                                             \
  X(instructions, "instructions of every class, each counted once, without what pads the end of code")               \
  X(valu, "vector ALU instructions")                                                                                 \
  X(salu, "scalar ALU instructions, without branches, waits and program control")                                    \
  X(vmem, "vector memory instructions: global, flat, buffer, image, scratch")                                        \
  X(smem, "scalar memory instructions")                                                                              \
  X(lds, "data share instructions")                                                                                  \
  X(branch, "branches, calls and other writes of the program counter")

typedef struct {
#define FIGURE(name, meaning) uint64_t name;
  TJ_ISA_STATS(FIGURE)
#undef FIGURE
  bool has_no_counts; /* of instructions, and no cost: only what the code occupies is known */
} tj_isa_stats;

/* Of one kernel of a code object; of all together when `kernel` is NULL (counts and bytes add up, registers, LDS and
 * wave size are the largest). Fails with TJ4009 when there is no such kernel, with TJ5006 as disassembly does. */
tj_isa_stats tj_isa_stats_of(tj_job *job, const tj_code_object *object, const char *kernel);

/* Of one kernel whose instructions are at hand. */
tj_isa_stats tj_isa_stats_of_listing(const tj_kernel_code *kernel, tj_listing listing);

/* Of one kernel of a cubin, or of all together: registers and bytes, without counts. TJ4009. */
tj_isa_stats tj_isa_stats_of_cubin(tj_job *job, const tj_cubin *cubin, const char *kernel);

/* Of a relocatable object for the host (x86-64 or AArch64 ELF): instructions and code_bytes of function `symbol`, and
 * of function `work`, which it calls, where that is not NULL and the object has it; of all functions when `symbol` is
 * NULL. Every other figure is 0. Fails with TJ5006 when it cannot be read, with TJ4009 when there is no `symbol`. */
tj_isa_stats tj_isa_stats_of_host(tj_job *job, tj_bytes object, const char *symbol, const char *work);

#endif
