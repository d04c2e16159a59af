/* SPDX-License-Identifier: MIT */
/* Decoding: machine code of any LLVM target as the text of one instruction after another. */
#ifndef TJ_JIT_DECODE_H
#define TJ_JIT_DECODE_H

#include "base/bytes.h"
#include "base/job.h"
#include "base/machine/processor.h"

typedef struct {
  uint64_t address;
  tj_bytes encoding;
  const char *text; /* mnemonic, a space, operands; NULL: the bytes are no instruction */
} tj_decoded;

typedef struct {
  const tj_decoded *instruction; /* in the job's arena, in the order of their addresses, without gaps */
  size_t count;
} tj_decoding;

/* What LLVM's disassembler needs to know. */
typedef struct {
  const char *triple;
  const char *processor;
  const char *features;
  uint32_t unit; /* bytes; instructions are multiples of it, and bytes that are none are passed over by it */
  const tj_processor *amdgpu; /* for AMDGPU: whose encodings that LLVM cannot take are bytes that are none */
} tj_decode_target;

/* Decodes `code`, which begins at `address`. Fails with TJ5006 when LLVM has no disassembler for the target. */
tj_decoding tj_decode(tj_job *job, tj_decode_target target, tj_bytes code, uint64_t address);

#endif
