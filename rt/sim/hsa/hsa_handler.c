/* SPDX-License-Identifier: MIT */
/* The simulated HSA runtime: functions that are called when a signal's value meets a condition. */
#include "rt/sim/hsa/hsa_service.h"
#include "rt/sim/hsa/hsa_state.h"

#include <stdlib.h>

typedef struct {
  tj_sim_task task;
  tj_sim_signal *signal; /* retained */
  hsa_signal_condition_t condition;
  hsa_signal_value_t compare;
  hsa_amd_signal_handler function;
  void *data;
} handler;

static tj_sim_service caller = TJ_SIM_SERVICE;

static bool is_due(const tj_sim_task *task) {
  const handler *h = (const handler *)task;
  return tj_sim_condition_holds(atomic_load(&h->signal->value), h->condition, h->compare);
}

/* A handler that returns true wants to be called again. */
static bool call(tj_sim_task *task) {
  handler *h = (handler *)task;
  return h->function(atomic_load(&h->signal->value), h->data);
}

static void release(tj_sim_task *task) {
  tj_sim_signal_release(((handler *)task)->signal);
  free(task);
}

hsa_status_t hsa_amd_signal_async_handler(hsa_signal_t signal, hsa_signal_condition_t cond, hsa_signal_value_t value,
                                          hsa_amd_signal_handler function, void *arg) {
  if (!tj_sim_is_initialized())
    return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (signal.handle == 0)
    return HSA_STATUS_ERROR_INVALID_SIGNAL;
  if (function == NULL)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  handler *h = malloc(sizeof *h);
  if (h == NULL)
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  *h = (handler){{NULL, is_due, call, release}, tj_sim_signal_of(signal), cond, value, function, arg};
  tj_sim_signal_retain(h->signal);
  return tj_sim_service_submit(&caller, &h->task) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

void tj_sim_end_handlers(void) {
  tj_sim_service_end(&caller);
}
