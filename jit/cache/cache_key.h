/* SPDX-License-Identifier: MIT */
/* Keys of the cache: bytes that are equal only for what compiles to the same.
 *
 * There are three kinds. A text key is all that goes into a compilation: program text, fixed parameters, which
 * kernel, target, versions. A kernel key is what is left of it before lowering: the simplified kernel as bytes, so
 * that texts which mean the same share their machine code. A part key says which of its variants, too. Keys are
 * compared whole; digests only find them. */
#ifndef TJ_JIT_CACHE_KEY_H
#define TJ_JIT_CACHE_KEY_H

#include "base/digest.h"
#include "launch/image/machine.h"
#include "lower/machine/target.h"

/* What texts and kernels are compiled by: the versions of tilejit, of LLVM, and of the forms that are stored, and the
 * build of both libraries where the linker has marked it. */
enum { TJ_COMPILER_IDENTITY_SIZE = 288 };
void tj_compiler_identity(char identity[TJ_COMPILER_IDENTITY_SIZE]);

/* A compilation that begins with text. */
typedef struct {
  tj_bytes text;
  const tj_parameter_value *fixed;
  size_t fixed_count;
  const char *kernel; /* NULL: the only one */
  const tj_target *target;
} tj_text_request;

/* Keys, in the job's arena. */
tj_bytes tj_cache_text_key(tj_job *job, const char *identity, const tj_text_request *request);
/* Of a kernel's bytes (jit/kernel/kernel_bytes.h). */
tj_bytes tj_cache_kernel_key(tj_job *job, const char *identity, tj_bytes kernel, const tj_target *target);
/* Of a part of machine code that waits. */
tj_bytes tj_cache_part_key(tj_job *job, const char *identity, const tj_target *target, const tj_machine *machine,
                           uint32_t number);

#endif
