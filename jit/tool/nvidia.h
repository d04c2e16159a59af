/* SPDX-License-Identifier: MIT */
/* NVIDIA's toolkit: PTX becomes a cubin, a cubin text. */
#ifndef TJ_JIT_NVIDIA_H
#define TJ_JIT_NVIDIA_H

#include "base/bytes.h"
#include "base/job.h"

/* Whether PTX can become a cubin here. */
bool tj_can_assemble_ptx(tj_job *job);

/* A cubin for a processor such as sm_90, in the job's arena. TJ5009 without ptxas, TJ5010 where that fails, or makes
 * no cubin for that processor. */
tj_bytes tj_assemble_ptx(tj_job *job, const char *processor, tj_bytes ptx);

/* The machine code of a cubin as text, zero-terminated. TJ5009 without nvdisasm, TJ5010 where that fails. */
tj_bytes tj_disassemble_cubin(tj_job *job, tj_bytes cubin);

#endif
