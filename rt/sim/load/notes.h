/* SPDX-License-Identifier: MIT */
/* The notes of a code object, in which the compiler tells the runtime what it also tells the hardware. */
#ifndef TJ_RT_SIM_NOTES_H
#define TJ_RT_SIM_NOTES_H

#include "rt/sim/load/image.h"

/* The description of the metadata note among `notes`, which is a whole note segment; empty when it is not there. */
tj_bytes tj_sim_find_metadata(tj_job *job, tj_bytes notes);

/* Fails with TJ5005 where the metadata (MessagePack) says something else than the ELF header or a kernel's
 * descriptor. */
void tj_sim_check_metadata(tj_job *job, const tj_sim_image *image, tj_bytes metadata);

#endif
