/* SPDX-License-Identifier: MIT */
/* Kernel descriptors. */
#ifndef TJ_RT_SIM_DESCRIPTOR_H
#define TJ_RT_SIM_DESCRIPTOR_H

#include "rt/sim/load/image.h"

enum { TJ_SIM_DESCRIPTOR_SIZE = 64 };

/* Reads TJ_SIM_DESCRIPTOR_SIZE bytes. */
tj_sim_descriptor tj_sim_descriptor_read(tj_bytes bytes, const tj_processor *processor);

#endif
