/* SPDX-License-Identifier: MIT */
/* Dispatches: all workgroups of one launch, on all cores. */
#ifndef TJ_RT_SIM_DISPATCH_H
#define TJ_RT_SIM_DISPATCH_H

#include "rt/sim/load/image.h"
#include "rt/sim/machine/wave.h"

#include <stdatomic.h>

/* A dispatch seen from other threads: how many workgroups have begun, of how many; and a wish that it end. */
typedef struct {
  atomic_uint_fast64_t begun, count;
  atomic_bool is_cancelled;
} tj_sim_watch;

/* What an AQL packet says, and where it stands. Sizes are in work-items. */
typedef struct {
  const tj_sim_kernel *kernel;
  const tj_processor *processor;
  uint32_t grid[3], workgroup[3];
  uint32_t group_bytes, private_bytes;
  const void *arguments;
  uint64_t packet, queue; /* addresses that kernels may ask for */
  uint64_t agents;        /* whose memory it may touch: the bit of its own */
  tj_sim_watch *watch;    /* borrowed; NULL: nobody looks */
} tj_sim_launch;

enum { TJ_SIM_MESSAGE_SIZE = 768 };

/* Why a dispatch was stopped: which kernel at which instruction, and what is wrong; and whether that is an access
 * outside of memory, or that there is no memory to simulate it in. */
typedef struct {
  char message[TJ_SIM_MESSAGE_SIZE];
  bool is_fault, is_out_of_memory;
  uint64_t fault_address;
} tj_sim_stop;

/* Runs it to its end. False: it was stopped. */
bool tj_sim_dispatch(const tj_sim_launch *launch, tj_sim_counters *counters, tj_sim_stop *stop);

#endif
