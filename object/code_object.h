/* SPDX-License-Identifier: MIT */
/* AMDGPU code objects: what a loader, a simulator and a reader need to know of the ELF file that a GPU runs.
 *
 * tj_code_object_parse takes bytes that nobody vouches for, and either describes them completely or fails with
 * TJ5005 and the reason. Whatever it returns has been checked: every slice lies inside the bytes, every kernel has
 * its descriptor in a readable and its code in an executable segment. The description borrows the bytes, which must
 * outlive it, and lives in the job's arena; it never changes, so threads may share it.
 *
 * Facts of the format are those of LLVM's "User Guide for AMDGPU Backend" and of the ELF specification. */
#ifndef TJ_OBJECT_CODE_OBJECT_H
#define TJ_OBJECT_CODE_OBJECT_H

#include "base/bytes.h"
#include "base/job.h"
#include "base/machine/processor.h"
#include "base/machine/target_id.h"
#include "object/kernel_descriptor.h"
#include "object/metadata.h"

/* A loadable segment: `bytes` go to `address`, zeros follow up to memory_size. Addresses count from where the loader
 * puts the image. Segments ascend and do not overlap; how large an image may be is for the loader to say. */
typedef struct {
  uint64_t address;
  uint64_t memory_size;
  uint64_t alignment; /* a power of two */
  tj_bytes bytes;     /* bytes.size <= memory_size */
  bool is_readable, is_writable, is_executable;
} tj_segment;

typedef enum { TJ_SYMBOL_OTHER, TJ_SYMBOL_FUNCTION, TJ_SYMBOL_OBJECT } tj_object_symbol_kind;

/* A named place. Its address and size need not lie in a segment. */
typedef struct {
  const char *name;
  uint64_t address;
  uint64_t size;
  tj_object_symbol_kind kind;
  bool is_global;
} tj_object_symbol;

/* A dynamic relocation, for loaders: R_AMDGPU_… of its address, of a symbol and an addend. */
typedef struct {
  uint64_t address;
  int64_t addend;
  uint32_t type;
  bool is_defined;    /* whether the symbol is, with its value in symbol_address */
  const char *symbol; /* "" when it refers to none */
  uint64_t symbol_address;
} tj_relocation;

/* A kernel: a descriptor, the code that it starts, and its metadata. */
typedef struct {
  const char *name;
  uint64_t descriptor_address;
  uint64_t entry_address; /* a multiple of 256 */
  tj_bytes code;          /* as long as the function symbol says; without one, to the end of the segment */
  tj_kernel_descriptor descriptor;
  const tj_kernel_metadata *metadata; /* NULL: the note does not speak of it */
} tj_kernel_code;

typedef struct {
  tj_bytes bytes;
  const tj_processor *processor;
  uint32_t code_object_version; /* 3 … 6 */
  uint32_t generic_version;     /* of a generic processor's code; 0 otherwise */
  tj_feature xnack, sramecc;
  const char *target_id; /* gfx90a:sramecc+:xnack- */
  bool has_metadata;
  const char *metadata_target; /* what the metadata calls the target; "" when it does not */
  const tj_segment *segment;
  uint32_t segment_count;
  const tj_object_symbol *symbol; /* in the file's order */
  uint32_t symbol_count;
  const tj_relocation *relocation;
  uint32_t relocation_count;
  const tj_kernel_code *kernel; /* in the order of their code */
  uint32_t kernel_count;
} tj_code_object;

/* Describes a code object (a shared object for amdgcn-amd-amdhsa), or fails with TJ5005. */
const tj_code_object *tj_code_object_parse(tj_job *job, tj_bytes bytes);

/* The kernel of that name, or NULL. */
const tj_kernel_code *tj_code_object_kernel(const tj_code_object *object, const char *name);

/* The symbol of that name, or NULL. */
const tj_object_symbol *tj_code_object_symbol(const tj_code_object *object, const char *name);

/* The file's bytes from `address` on, to the end of those of the segment there; empty when there are none. */
tj_bytes tj_code_object_at(const tj_code_object *object, uint64_t address);

/* Fails with `code` where the metadata, if there are any, say something else than the header or a kernel's
 * descriptor. */
void tj_code_object_agree(tj_job *job, const tj_code_object *object, tj_problem_code code);

/* Checks what the compiler has just made: the kernel is there with descriptor and metadata, which agree with each
 * other, its argument block has `kernarg_bytes`, and none of its arguments is hidden. Fails with TJ5003. */
void tj_code_object_check(tj_job *job, const tj_code_object *object, const char *kernel, uint32_t kernarg_bytes);

#endif
