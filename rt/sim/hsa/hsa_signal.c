/* SPDX-License-Identifier: MIT */
/* The simulated HSA runtime: signals. All operations on them are sequentially consistent, whatever order they
 * promise. */
#include "rt/sim/hsa/hsa_state.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

enum { MILLISECOND = 1000000 };

/* --- creation --- */

tj_sim_signal *tj_sim_signal_new(int64_t value) {
  tj_sim_signal *signal = calloc(1, sizeof *signal);
  if (signal == NULL)
    return NULL;
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_mutex_init(&signal->lock, NULL);
  pthread_cond_init(&signal->changed, &attributes);
  pthread_condattr_destroy(&attributes);
  atomic_init(&signal->value, value);
  atomic_init(&signal->references, 1);
  return signal;
}

void tj_sim_signal_retain(tj_sim_signal *signal) {
  atomic_fetch_add(&signal->references, 1);
}

/* Whoever has changed it last may still be about to unlock it. */
void tj_sim_signal_release(tj_sim_signal *signal) {
  if (signal == NULL || atomic_fetch_sub(&signal->references, 1) > 1)
    return;
  pthread_mutex_lock(&signal->lock);
  pthread_mutex_unlock(&signal->lock);
  if (atomic_load(&signal->has_told_address))
    tj_sim_memory_remove(&signal->value, false);
  pthread_cond_destroy(&signal->changed);
  pthread_mutex_destroy(&signal->lock);
  free(signal);
}

/* Signals of several processes (HSA_AMD_SIGNAL_IPC) are not simulated. */
hsa_status_t hsa_amd_signal_create(hsa_signal_value_t initial_value, uint32_t num_consumers,
                                   const hsa_agent_t *consumers, uint64_t attributes, hsa_signal_t *signal) {
  uint64_t bits;
  if (signal == NULL || (num_consumers > 0 && consumers == NULL) || (attributes & HSA_AMD_SIGNAL_IPC) != 0)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (!tj_sim_agent_bits(consumers, num_consumers, &bits))
    return HSA_STATUS_ERROR_INVALID_AGENT;
  tj_sim_signal *made = tj_sim_signal_new(initial_value);
  if (made == NULL)
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  signal->handle = (uint64_t)(uintptr_t)made;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_signal_create(hsa_signal_value_t initial_value, uint32_t num_consumers, const hsa_agent_t *consumers,
                               hsa_signal_t *signal) {
  return hsa_amd_signal_create(initial_value, num_consumers, consumers, 0, signal);
}

hsa_status_t hsa_signal_destroy(hsa_signal_t signal) {
  if (signal.handle == 0)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  tj_sim_signal_release(tj_sim_signal_of(signal));
  return HSA_STATUS_SUCCESS;
}

/* Kernels, too, may write through the address. */
hsa_status_t hsa_amd_signal_value_pointer(hsa_signal_t handle, volatile hsa_signal_value_t **value_ptr) {
  tj_sim_signal *signal = tj_sim_signal_of(handle);
  if (signal == NULL)
    return HSA_STATUS_ERROR_INVALID_SIGNAL;
  if (value_ptr == NULL)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  pthread_mutex_lock(&signal->lock);
  tj_sim_range range = tj_sim_range_of(&signal->value, sizeof signal->value, true);
  bool is_told = atomic_load(&signal->has_told_address) || tj_sim_memory_add(&range);
  atomic_store(&signal->has_told_address, is_told);
  pthread_cond_broadcast(&signal->changed);
  pthread_mutex_unlock(&signal->lock);
  if (!is_told)
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  tj_sim_expect_silent_changes();
  *value_ptr = (volatile hsa_signal_value_t *)&signal->value;
  return HSA_STATUS_SUCCESS;
}

/* --- values --- */

static void wake(tj_sim_signal *signal) {
  pthread_cond_broadcast(&signal->changed);
  pthread_mutex_unlock(&signal->lock);
  tj_sim_wake_sleepers();
}

void tj_sim_signal_add(tj_sim_signal *signal, int64_t amount) {
  pthread_mutex_lock(&signal->lock);
  atomic_fetch_add(&signal->value, amount);
  wake(signal);
}

static void store(tj_sim_signal *signal, int64_t value) {
  pthread_mutex_lock(&signal->lock);
  atomic_store(&signal->value, value);
  wake(signal);
}

void tj_sim_signal_complete(hsa_signal_t handle, uint64_t begin, uint64_t end) {
  tj_sim_signal *signal = tj_sim_signal_of(handle);
  if (signal == NULL)
    return;
  signal->begin = begin;
  signal->end = end;
  tj_sim_signal_add(signal, -1);
}

#define LOADS(order)                                                                                                 \
  hsa_signal_value_t hsa_signal_load_##order(hsa_signal_t signal) {                                                  \
    return atomic_load(&tj_sim_signal_of(signal)->value);                                                            \
  }
LOADS(relaxed)
LOADS(scacquire)

/* Silent stores wake nobody. */
#define STORES(order)                                                                                                \
  void hsa_signal_store_##order(hsa_signal_t signal, hsa_signal_value_t value) {                                     \
    store(tj_sim_signal_of(signal), value);                                                                          \
  }                                                                                                                  \
  void hsa_signal_silent_store_##order(hsa_signal_t signal, hsa_signal_value_t value) {                              \
    atomic_store(&tj_sim_signal_of(signal)->value, value);                                                           \
  }
STORES(relaxed)
STORES(screlease)

#define SUMS(order)                                                                                                  \
  void hsa_signal_add_##order(hsa_signal_t signal, hsa_signal_value_t value) {                                       \
    tj_sim_signal_add(tj_sim_signal_of(signal), value);                                                              \
  }                                                                                                                  \
  void hsa_signal_subtract_##order(hsa_signal_t signal, hsa_signal_value_t value) {                                  \
    tj_sim_signal_add(tj_sim_signal_of(signal), -value);                                                             \
  }
SUMS(relaxed)
SUMS(scacquire)
SUMS(screlease)
SUMS(scacq_screl)

/* --- waiting --- */

bool tj_sim_condition_holds(int64_t value, hsa_signal_condition_t condition, int64_t compare) {
  switch (condition) {
  case HSA_SIGNAL_CONDITION_EQ:
    return value == compare;
  case HSA_SIGNAL_CONDITION_NE:
    return value != compare;
  case HSA_SIGNAL_CONDITION_LT:
    return value < compare;
  default:
    return value >= compare;
  }
}

static struct timespec time_at(uint64_t nanoseconds) {
  return (struct timespec){(time_t)(nanoseconds / 1000000000u), (long)(nanoseconds % 1000000000u)};
}

/* The time `timeout` nanoseconds from now; for very long ones, a time that does not come. */
static uint64_t deadline(uint64_t timeout) {
  static const uint64_t longest = 1000000000u * UINT64_C(1000000000);
  return tj_sim_now() + (timeout > longest ? longest : timeout);
}

/* Until it is woken, or until then; whether that is over. A value whose address is known may change silently. */
static bool is_late(tj_sim_signal *signal, uint64_t end) {
  uint64_t soon = tj_sim_now() + MILLISECOND;
  bool looks_again = atomic_load(&signal->has_told_address) && soon < end;
  struct timespec until = time_at(looks_again ? soon : end);
  return pthread_cond_timedwait(&signal->changed, &signal->lock, &until) == ETIMEDOUT && !looks_again;
}

static int64_t wait(tj_sim_signal *signal, hsa_signal_condition_t condition, int64_t compare, uint64_t timeout) {
  uint64_t end = deadline(timeout);
  pthread_mutex_lock(&signal->lock);
  int64_t value = atomic_load(&signal->value);
  while (!tj_sim_condition_holds(value, condition, compare) && !is_late(signal, end))
    value = atomic_load(&signal->value);
  pthread_mutex_unlock(&signal->lock);
  return value;
}

#define WAITS(order)                                                                                                 \
  hsa_signal_value_t hsa_signal_wait_##order(hsa_signal_t signal, hsa_signal_condition_t condition,                  \
                                             hsa_signal_value_t compare_value, uint64_t timeout_hint,                \
                                             hsa_wait_state_t wait_state_hint) {                                     \
    (void)wait_state_hint;                                                                                           \
    return wait(tj_sim_signal_of(signal), condition, compare_value, timeout_hint);                                   \
  }
WAITS(relaxed)
WAITS(scacquire)

/* --- times --- */

static hsa_status_t tell_times(hsa_signal_t handle, uint64_t *start, uint64_t *end) {
  const tj_sim_signal *signal = tj_sim_signal_of(handle);
  if (signal == NULL)
    return HSA_STATUS_ERROR_INVALID_SIGNAL;
  if (signal->end == 0)
    return HSA_STATUS_ERROR;
  *start = signal->begin;
  *end = signal->end;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_profiling_get_dispatch_time(hsa_agent_t agent, hsa_signal_t signal,
                                                 hsa_amd_profiling_dispatch_time_t *time) {
  if (tj_sim_agent_processor(agent.handle) == NULL)
    return HSA_STATUS_ERROR_INVALID_AGENT;
  return time == NULL ? HSA_STATUS_ERROR_INVALID_ARGUMENT : tell_times(signal, &time->start, &time->end);
}

hsa_status_t hsa_amd_profiling_get_async_copy_time(hsa_signal_t signal, hsa_amd_profiling_async_copy_time_t *time) {
  return time == NULL ? HSA_STATUS_ERROR_INVALID_ARGUMENT : tell_times(signal, &time->start, &time->end);
}
