/* SPDX-License-Identifier: MIT */
/* The simulated HSA runtime: what its objects are behind the handles of <hsa/hsa.h>.
 *
 * A handle is the address of an object, or for agents, ISAs and pools a small number. Each hsa_*.c exports the
 * functions of one kind of object. Thread safety is that of the HSA specification: everything may be called from any
 * thread, destroying an object must be the last call on it. */
#ifndef TJ_RT_SIM_HSA_STATE_H
#define TJ_RT_SIM_HSA_STATE_H

#pragma GCC visibility push(default)
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#pragma GCC visibility pop

#include "rt/sim/load/dispatch.h"

#include <pthread.h>
#include <stdatomic.h>

/* <hsa/hsa.h> declares them without prototypes. */
hsa_status_t hsa_init(void);
hsa_status_t hsa_shut_down(void);

/* Agent 0 is the CPU, agent i > 0 the i-th simulated GPU. Handles count from 1. */
bool tj_sim_is_initialized(void);
/* The processor of a GPU agent or of its ISA; NULL for others. */
const tj_processor *tj_sim_agent_processor(uint64_t handle);
const tj_target_id *tj_sim_target_of_agent(uint64_t handle);
size_t tj_sim_agent_count(void);

/* Nanoseconds, the unit of HSA's timestamps here. */
uint64_t tj_sim_now(void);

/* A signal. `value` may be read at any time, and changes under the lock. */
typedef struct {
  atomic_int_fast64_t value;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  uint64_t begin, end; /* when the dispatch ran that it completes */
} tj_sim_signal;

static inline tj_sim_signal *tj_sim_signal_of(hsa_signal_t signal) {
  return (tj_sim_signal *)(uintptr_t)signal.handle;
}

tj_sim_signal *tj_sim_signal_new(int64_t value);
void tj_sim_signal_delete(tj_sim_signal *signal);
/* Adds, and wakes who waits. */
void tj_sim_signal_add(tj_sim_signal *signal, int64_t amount);

/* Whether accesses outside of memory are what they are under ROCr: an event for the handlers of the process, which
 * ends where none takes it, and a queue that stops without a word. TILEJIT_HSASIM_FAULTS=event says so; otherwise the
 * queue fails like after any other error, and tells of the instruction. */
bool tj_sim_has_fault_events(void);
void tj_sim_raise_fault(hsa_agent_t agent, uint64_t address);
void tj_sim_forget_handlers(void);

/* The kernel whose descriptor is at that address in memory, and its processor; NULL where there is none. It stays
 * until its executable is destroyed. */
const tj_sim_kernel *tj_sim_find_kernel(uint64_t object, const tj_processor **processor);

#endif
