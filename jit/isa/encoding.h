/* SPDX-License-Identifier: MIT */
/* AMDGPU instruction encodings that LLVM's disassembler must not see.
 *
 * It was made for what its own assembler writes. Some words that no assembler writes make it (LLVM 22, at least)
 * dereference a null pointer or run off the end of a function, and code objects come from anywhere. */
#ifndef TJ_JIT_ENCODING_H
#define TJ_JIT_ENCODING_H

#include "base/bytes.h"
#include "base/machine/processor.h"

/* Bytes that tj_encoding_is_harmless looks at. */
enum { TJ_ENCODING_WINDOW = 8 };

/* Whether LLVM's disassembler can be given the instruction that begins here, of which at least TJ_ENCODING_WINDOW
 * bytes are there. No instruction that a processor executes is refused. */
bool tj_encoding_is_harmless(const tj_processor *processor, tj_bytes instruction);

#endif
