/* SPDX-License-Identifier: MIT */
/* Code objects in the memory of an agent: what object/code_object.h has read and checked, put into memory, relocated
 * and decoded. */
#ifndef TJ_RT_SIM_IMAGE_H
#define TJ_RT_SIM_IMAGE_H

#include "object/code_object.h"
#include "rt/sim/machine/instruction.h"
#include "rt/sim/machine/processor.h"

typedef struct {
  const tj_kernel_code *code;
  const tj_sim_program *program; /* once it is loaded */
} tj_sim_kernel;

typedef struct {
  const tj_code_object *object;
  tj_target_id target;
  uint64_t size;         /* of the image */
  tj_sim_kernel *kernel; /* as many as the object has */
  unsigned char *memory; /* owned, once it is loaded */
} tj_sim_image;

/* Reads a code object, of which nothing is trusted. Fails with TJ5005 where it is none, where its metadata say
 * something else than its header and its descriptors, and where it has what is not simulated. What is returned lives
 * in the job's arena and borrows the bytes. */
tj_sim_image *tj_sim_image_read(tj_job *job, tj_bytes bytes);

/* `memory` has image->size bytes and is given to the image. */
void tj_sim_image_load(tj_sim_image *image, unsigned char *memory);

/* Decodes all kernels of that wave size. */
void tj_sim_image_decode(tj_job *job, tj_sim_image *image, void *disassembler, uint32_t lanes);

/* By its name, or that of its descriptor; NULL: there is none. */
const tj_sim_kernel *tj_sim_image_kernel(const tj_sim_image *image, const char *name);

#endif
