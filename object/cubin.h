/* SPDX-License-Identifier: MIT */
/* Cubins, the ELF files that NVIDIA's GPUs run: which kernels one has, and what each occupies.
 *
 * tj_cubin_parse takes bytes that nobody vouches for, and either describes them or fails with TJ5011 and the reason.
 * The description borrows the bytes and lives in the job's arena. Of the code itself nothing is known here.
 *
 * The format has no public description beyond what NVIDIA's own tools print of it (cuobjdump -elf): sections that
 * belong to a kernel name that of its code in sh_info, .nv.info has attributes of four bytes and a value, some of
 * them for a symbol of the symbol table. */
#ifndef TJ_OBJECT_CUBIN_H
#define TJ_OBJECT_CUBIN_H

#include "base/bytes.h"
#include "base/job.h"

typedef struct {
  const char *name;
  tj_bytes code;
  uint32_t registers;    /* of a work-item */
  uint32_t local_bytes;  /* of a work-item: what does not fit into registers lies there */
  uint32_t shared_bytes; /* of a workgroup, as far as the code lays it out itself */
} tj_cubin_kernel;

typedef struct {
  uint32_t capability; /* 90 of sm_90 */
  const tj_cubin_kernel *kernel;
  uint32_t kernel_count;
} tj_cubin;

/* Whether the bytes are an ELF file for NVIDIA's GPUs. */
bool tj_is_cubin(tj_bytes bytes);

const tj_cubin *tj_cubin_parse(tj_job *job, tj_bytes bytes);

/* The kernel of that name, or NULL. */
const tj_cubin_kernel *tj_cubin_find(const tj_cubin *cubin, const char *name);

#endif
