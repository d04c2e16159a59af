/* SPDX-License-Identifier: MIT */
/* Code objects: reading the ELF file, and its image in memory.
 *
 * Nothing in the file is trusted: tj_sim_image_read checks every offset, and fails with TJ5005 and the reason. What
 * it returns lives in the job's arena and borrows the file's bytes; tj_sim_image_load puts the image into memory of
 * its own, applies its relocations and decodes its kernels. */
#ifndef TJ_RT_SIM_IMAGE_H
#define TJ_RT_SIM_IMAGE_H

#include "base/bytes.h"
#include "base/job.h"
#include "rt/sim/machine/instruction.h"
#include "rt/sim/machine/processor.h"

/* What a kernel descriptor says, in the words of LLVM's "User Guide for AMDGPU Backend". */
typedef struct {
  uint32_t group_bytes;
  uint32_t private_bytes;
  uint32_t kernarg_bytes;
  uint32_t lanes;
  uint32_t vectors;           /* VGPRs, AGPRs included */
  uint32_t first_accumulator; /* where registers are unified */
  uint32_t user_scalars;      /* SGPRs before those of the workgroup ids; there may be more than are set up */
  uint32_t workitem_ids;      /* 1 … 3 dimensions */
  uint32_t preload_words, preload_offset;
  bool private_buffer, dispatch_pointer, queue_pointer, kernarg_pointer, dispatch_id, flat_scratch, private_size;
  bool workgroup_id[3], workgroup_info, private_offset;
  bool has_odd_float_mode; /* rounds otherwise than to nearest, or flushes denormals */
} tj_sim_descriptor;

typedef struct {
  const char *name;
  uint64_t descriptor_address; /* in the image, as the file counts */
  uint64_t code_address, code_size;
  tj_sim_descriptor descriptor;
  const tj_sim_program *program; /* once it is loaded */
} tj_sim_kernel;

typedef struct {
  uint64_t address, memory_size;
  tj_bytes bytes;
  bool is_writable, is_executable;
} tj_sim_segment;

typedef struct {
  uint64_t address;
  uint64_t value;   /* of the symbol and the addend, as the file counts */
  uint32_t bytes;   /* 4 or 8 */
  bool is_relative; /* the image's address is added */
} tj_sim_relocation;

typedef struct {
  const tj_processor *processor;
  tj_target_id target;
  tj_sim_segment *segment;
  uint32_t segment_count;
  uint64_t size; /* of the image */
  tj_sim_relocation *relocation;
  uint32_t relocation_count;
  tj_sim_kernel *kernel;
  uint32_t kernel_count;
  unsigned char *memory; /* owned, once it is loaded */
} tj_sim_image;

tj_sim_image *tj_sim_image_read(tj_job *job, tj_bytes bytes);

/* `memory` has image->size bytes and is given to the image. */
void tj_sim_image_load(tj_job *job, tj_sim_image *image, unsigned char *memory);

/* Decodes all kernels of that wave size. */
void tj_sim_image_decode(tj_job *job, tj_sim_image *image, void *disassembler, uint32_t lanes);

const tj_sim_kernel *tj_sim_image_kernel(const tj_sim_image *image, const char *name);

#endif
