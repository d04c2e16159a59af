/* SPDX-License-Identifier: MIT */
/* The simulated HSA runtime: handlers of system events, and faults of memory as ROCr treats them. */
#include "rt/sim/hsa/hsa_state.h"

#include <stdlib.h>

enum { MOST_HANDLERS = 16, PAGE = 4096 };

typedef struct {
  hsa_amd_system_event_callback_t callback;
  void *data;
} handler;

static struct {
  pthread_mutex_t lock;
  handler item[MOST_HANDLERS];
  uint32_t count;
} handlers = {.lock = PTHREAD_MUTEX_INITIALIZER};

hsa_status_t hsa_amd_register_system_event_handler(hsa_amd_system_event_callback_t callback, void *data) {
  if (!tj_sim_is_initialized())
    return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (callback == NULL)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  pthread_mutex_lock(&handlers.lock);
  bool has_room = handlers.count < MOST_HANDLERS;
  if (has_room)
    handlers.item[handlers.count++] = (handler){callback, data};
  pthread_mutex_unlock(&handlers.lock);
  return has_room ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR;
}

void tj_sim_forget_handlers(void) {
  pthread_mutex_lock(&handlers.lock);
  handlers.count = 0;
  pthread_mutex_unlock(&handlers.lock);
}

bool tj_sim_has_fault_events(void) {
  const char *chosen = getenv("TILEJIT_HSASIM_FAULTS");
  return chosen != NULL && strcmp(chosen, "event") == 0;
}

/* Handlers are called without the lock, which they may want. */
void tj_sim_raise_fault(hsa_agent_t agent, uint64_t address) {
  hsa_amd_event_t event = {.event_type = HSA_AMD_GPU_MEMORY_FAULT_EVENT};
  event.memory_fault.agent = agent;
  event.memory_fault.virtual_address = address / PAGE * PAGE;
  event.memory_fault.fault_reason_mask = HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT;
  handler item[MOST_HANDLERS];
  pthread_mutex_lock(&handlers.lock);
  uint32_t count = handlers.count;
  memcpy(item, handlers.item, sizeof item);
  pthread_mutex_unlock(&handlers.lock);
  bool is_handled = false;
  for (uint32_t i = 0; i < count; i++)
    is_handled = item[i].callback(&event, item[i].data) == HSA_STATUS_SUCCESS || is_handled;
  if (!is_handled)
    abort();
}
