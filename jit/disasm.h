/* Disassembly: machine code as a list of classified instructions, and as annotated text.
 *
 * Needs LLVM's AMDGPU target; initialises its target info, MC and disassembler parts itself.
 *
 * Thread safety: everything belongs to the job; calls on different jobs may run at once. */
#ifndef TJ_JIT_DISASM_H
#define TJ_JIT_DISASM_H

#include "base/text.h"
#include "jit/code_object.h"

/* What an instruction occupies. instruction_class.def has the rows that decide it. */
typedef enum {
  TJ_CLASS_VALU,
  TJ_CLASS_SALU,
  TJ_CLASS_VMEM,   /* global, flat, buffer, image, scratch */
  TJ_CLASS_SMEM,   /* scalar memory */
  TJ_CLASS_LDS,    /* local and global data share */
  TJ_CLASS_BRANCH, /* anything that may set the program counter */
  TJ_CLASS_EXPORT,
  TJ_CLASS_WAIT,    /* waits for counters and dependencies */
  TJ_CLASS_OTHER,   /* the rest of program control: barriers, priorities, messages, the end */
  TJ_CLASS_PADDING, /* nops and code end: not counted as instructions */
  TJ_CLASS_UNKNOWN, /* bytes that are no instruction: not counted either */
  TJ_CLASS_COUNT
} tj_instruction_class;

/* valu, salu, … */
const char *tj_instruction_class_name(tj_instruction_class class);

typedef struct {
  uint64_t address;
  tj_bytes encoding;
  const char *text; /* mnemonic, a space, operands */
  tj_instruction_class class;
  uint8_t valu_cost; /* issue slots of a quarter of a wave's work: 4 for quarter-rate multiplies, 1, or 0 off VALU */
  bool has_target;   /* a branch whose target is known */
  uint64_t target;
  const char *annotation; /* "" or what a memory instruction moves, or a wait waits for */
} tj_instruction;

typedef struct {
  const tj_instruction *instruction; /* in the job's arena, in the order of their addresses */
  size_t count;
} tj_listing;

/* The instructions of one kernel's code. Fails with TJ5006 when LLVM does not know the processor. */
tj_listing tj_disassemble_kernel(tj_job *job, const tj_code_object *object, const tj_kernel_code *kernel);

typedef struct {
  const char *kernel;      /* only this one; NULL: all */
  bool with_encoding;      /* the bytes of each instruction, as 32-bit words */
  bool without_annotation; /* neither classes nor what memory instructions and waits do */
  bool with_stats;         /* the counts of stats.h after each kernel */
} tj_disassembly_options;

/* Adds the annotated listing of a code object's kernels. Fails with TJ5006; with TJ4009 when options name a kernel
 * that the code object does not have. */
void tj_disassemble(tj_text *text, const tj_code_object *object, tj_disassembly_options options);

#endif
