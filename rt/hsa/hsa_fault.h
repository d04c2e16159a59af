/* SPDX-License-Identifier: MIT */
/* Faults of memory on GPUs: whoever watches an agent is told, and the process goes on.
 *
 * The runtime calls one handler for the whole process, and ends the process where nobody takes the event. So there is
 * one list of watches for the process, the only state of the library that no handle owns; it is empty while no GPU is
 * open. Faults of agents that nobody watches are left to other handlers.
 *
 * Thread safety: opening and closing lock, as does the runtime's thread while it tells of a fault; once a watch is
 * closed, nobody is told any more. */
#ifndef TJ_RT_HSA_FAULT_H
#define TJ_RT_HSA_FAULT_H

#include "rt/hsa/hsa_library.h"

typedef struct tj_hsa_watch tj_hsa_watch;

/* Borrowed while it is open. `tell` is called in a thread of the runtime. */
struct tj_hsa_watch {
  const tj_hsa *hsa;
  hsa_agent_t gpu;
  void (*tell)(const hsa_amd_gpu_memory_fault_info_t *fault, void *data);
  void *data;
  tj_hsa_watch *next;
};

void tj_hsa_watch_open(tj_hsa_watch *watch);
/* A watch that is not open: nothing happens. */
void tj_hsa_watch_close(tj_hsa_watch *watch);

/* What was wrong with the access: "the page is not present". Static. */
const char *tj_hsa_fault_reason(uint32_t reasons);

#endif
