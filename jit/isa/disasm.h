/* SPDX-License-Identifier: MIT */
/* Disassembly of code objects: machine code as a list of classified instructions, and as annotated text.
 *
 * Thread safety: everything belongs to the job; calls on different jobs may run at once. */
#ifndef TJ_JIT_DISASM_H
#define TJ_JIT_DISASM_H

#include "base/text.h"
#include "jit/isa/instruction.h"
#include "object/code_object.h"

typedef struct {
  uint64_t address;
  tj_bytes encoding;
  const char *text; /* mnemonic, a space, operands; "" when the bytes are no instruction */
  tj_instruction_kind kind;
  bool has_target; /* a branch whose target its encoding tells */
  uint64_t target;
} tj_instruction;

typedef struct {
  const tj_instruction *instruction; /* in the job's arena, in the order of their addresses, without gaps */
  size_t count;
} tj_listing;

/* The instructions of one kernel's code. Fails with TJ5006 where LLVM cannot disassemble for the processor. */
tj_listing tj_disassemble_kernel(tj_job *job, const tj_code_object *object, const tj_kernel_code *kernel);

typedef struct {
  const char *kernel; /* only this one; NULL: all, and the other functions */
  bool with_encoding; /* the bytes of each instruction, as 32-bit words */
  bool with_stats;    /* the figures of stats.h before each kernel's instructions */
  bool without_notes; /* neither classes nor what memory instructions and waits do */
} tj_disassembly_options;

/* Adds the annotated listing of a code object: for each kernel what its descriptor and metadata say, as comments, and
 * its instructions with their offset from its start, labels in place of branch offsets. Fails with TJ5006; with
 * TJ4009 when options name a kernel that the code object does not have. */
void tj_disassemble(tj_text *text, const tj_code_object *object, tj_disassembly_options options);

#endif
