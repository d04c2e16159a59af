/* SPDX-License-Identifier: MIT */
/* The simulated HSA runtime: whose turn it is on an agent. Dispatches of its queues run side by side, but none begins
 * while one from a queue of a higher priority runs. */
#include "rt/sim/hsa/hsa_state.h"

enum { PRIORITIES = HSA_AMD_QUEUE_PRIORITY_HIGH + 1 };

/* Dispatches that run, of each agent and priority. */
static atomic_uint running[TJ_SIM_MOST_AGENTS + 1][PRIORITIES];

typedef struct {
  const atomic_uint *running;
  hsa_amd_queue_priority_t priority;
  const atomic_bool *is_closing;
} turn;

static bool has_come(void *data) {
  const turn *t = data;
  bool is_behind = false;
  for (int i = (int)t->priority + 1; i < PRIORITIES; i++)
    is_behind = is_behind || atomic_load(&t->running[i]) > 0;
  return !is_behind || atomic_load(t->is_closing);
}

bool tj_sim_turn_begin(uint64_t agent, hsa_amd_queue_priority_t priority, const atomic_bool *is_closing) {
  turn t = {running[agent - 1], priority, is_closing};
  if (!has_come(&t))
    tj_sim_sleep_until(has_come, &t);
  if (atomic_load(is_closing))
    return false;
  atomic_fetch_add(&running[agent - 1][priority], 1);
  return true;
}

void tj_sim_turn_end(uint64_t agent, hsa_amd_queue_priority_t priority) {
  atomic_fetch_sub(&running[agent - 1][priority], 1);
  tj_sim_wake_sleepers();
}
