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
#include <hsa/hsa_ext_image.h>
#include <hsa/hsa_ven_amd_loader.h>
#pragma GCC visibility pop

#include "rt/sim/load/dispatch.h"

#include <pthread.h>
#include <stdatomic.h>

/* <hsa/hsa.h> declares them without prototypes. */
hsa_status_t hsa_init(void);
hsa_status_t hsa_shut_down(void);

enum { TJ_SIM_CPU = 1, TJ_SIM_MOST_AGENTS = 16, TJ_SIM_LARGEST_QUEUE = 4096 };

/* Whether hsa_init has been called more often than hsa_shut_down. */
bool tj_sim_is_initialized(void);

/* Agents: the CPU, then from handle 2 on the simulated GPUs. */
void tj_sim_find_agents(void);
size_t tj_sim_agent_count(void);
bool tj_sim_is_agent(uint64_t handle);
/* The processor of a GPU agent or of its ISA; NULL for others. */
const tj_processor *tj_sim_agent_processor(uint64_t handle);
const tj_target_id *tj_sim_target_of_agent(uint64_t handle);

/* The agent's bit in tj_sim_range. */
static inline uint64_t tj_sim_agent_bit(uint64_t handle) {
  return UINT64_C(1) << (handle - 1);
}

/* The bits of agents from a list; false where one of them is none. */
bool tj_sim_agent_bits(const hsa_agent_t *agents, size_t count, uint64_t *bits);

/* From now on hsa_status_string has this text for the status, on this thread. The text stays as long as the thread.
 */
void tj_sim_explain_here(hsa_status_t status, const char *text);

/* Nanoseconds, the unit of HSA's timestamps here. */
uint64_t tj_sim_now(void);

/* A signal. `value` may be read at any time, and changes under the lock, or by whom its address has been told. */
typedef struct {
  atomic_int_fast64_t value;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  atomic_uint references;
  atomic_bool has_told_address;
  uint64_t begin, end; /* when the dispatch or the copy ran that it completes; 0: nobody has noted it */
} tj_sim_signal;

static inline tj_sim_signal *tj_sim_signal_of(hsa_signal_t signal) {
  return (tj_sim_signal *)(uintptr_t)signal.handle;
}

/* Each with one reference. */
tj_sim_signal *tj_sim_signal_new(int64_t value);
void tj_sim_signal_retain(tj_sim_signal *signal);
void tj_sim_signal_release(tj_sim_signal *signal);
/* Adds, and wakes who waits. */
void tj_sim_signal_add(tj_sim_signal *signal, int64_t amount);
/* Notes when what it completes has run, and counts it down. Nothing where the handle is 0. */
void tj_sim_signal_complete(hsa_signal_t handle, uint64_t begin, uint64_t end);
bool tj_sim_condition_holds(int64_t value, hsa_signal_condition_t condition, int64_t compare);

/* Sleeping until something holds of any number of signals. `is_over` is asked again whenever one has changed, and
 * must not change any. */
void tj_sim_sleep_until(bool (*is_over)(void *data), void *data);
void tj_sim_wake_sleepers(void);
/* From now on values change without anyone telling: sleepers look again every millisecond. */
void tj_sim_expect_silent_changes(void);

/* Handlers of signals and copies in flight have a thread each while the runtime is initialized. */
void tj_sim_end_handlers(void);
void tj_sim_end_copies(void);

/* Whether accesses outside of memory are what they are under ROCr: an event for the handlers of the process, which
 * ends where none takes it, and a queue that stops without a word. TILEJIT_HSASIM_FAULTS=event says so; otherwise the
 * queue fails like after any other error, and tells of the instruction. */
bool tj_sim_has_fault_events(void);
void tj_sim_raise_fault(hsa_agent_t agent, uint64_t address);
void tj_sim_forget_handlers(void);

/* Dispatches of an agent by the priority of their queues: one begins when none of a higher priority runs. False: the
 * queue closes, and it does not. */
bool tj_sim_turn_begin(uint64_t agent, hsa_amd_queue_priority_t priority, const atomic_bool *is_closing);
void tj_sim_turn_end(uint64_t agent, hsa_amd_queue_priority_t priority);

/* The functions of HSA_EXTENSION_AMD_LOADER, version 1.0. */
extern const hsa_ven_amd_loader_1_00_pfn_t tj_sim_loader_functions;

/* The kernel whose descriptor is at that address in memory, and its processor; NULL where there is none. It stays
 * until its executable is destroyed. */
const tj_sim_kernel *tj_sim_find_kernel(uint64_t object, const tj_processor **processor);

#endif
