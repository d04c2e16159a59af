/* SPDX-License-Identifier: MIT */
/* AMDGPU instructions as text: their classes, and in words what memory instructions move and waits wait for.
 *
 * Works on LLVM's assembly text, a mnemonic, a space and operands; knows no encodings. Pure functions. */
#ifndef TJ_JIT_INSTRUCTION_H
#define TJ_JIT_INSTRUCTION_H

#include "base/text.h"

#include <stdint.h>

/* instruction_class.def says which is what. */
typedef enum {
  TJ_CLASS_VALU,
  TJ_CLASS_SALU,
  TJ_CLASS_VMEM,
  TJ_CLASS_SMEM,
  TJ_CLASS_LDS,
  TJ_CLASS_BRANCH,
  TJ_CLASS_EXPORT,
  TJ_CLASS_WAIT,
  TJ_CLASS_CONTROL,
  TJ_CLASS_PADDING,
  TJ_CLASS_UNKNOWN, /* no row matches, or bytes that are no instruction */
  TJ_CLASS_COUNT
} tj_instruction_class;

/* valu, salu, … */
const char *tj_instruction_class_name(tj_instruction_class class);

typedef struct {
  tj_instruction_class class;
  uint8_t cost;
} tj_instruction_kind;

tj_instruction_kind tj_instruction_classify(const char *text);

/* What a memory instruction moves ("global load, 16 bytes a lane"), or what a wait waits for ("for vector
 * loads, but the last 2"); "" for other instructions. In the job's arena, or static. */
const char *tj_instruction_annotate(tj_job *job, const char *text);

#endif
