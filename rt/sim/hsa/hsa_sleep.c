/* SPDX-License-Identifier: MIT */
/* The simulated HSA runtime: sleeping until something holds of several signals, for which a signal's own condition is
 * too little. Barriers of queues, handlers and copies wait this way. Whoever changes a signal wakes all sleepers,
 * which costs one load where nobody sleeps. */
#include "rt/sim/hsa/hsa_state.h"

#include <time.h>

enum { MILLISECOND = 1000000, SECOND = 1000000000 };

static struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  atomic_uint sleepers;
  atomic_bool has_silent_changes;
} bed = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void wait_for_change(void) {
  if (!atomic_load(&bed.has_silent_changes)) {
    pthread_cond_wait(&bed.changed, &bed.lock);
    return;
  }
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_nsec += MILLISECOND;
  end.tv_sec += end.tv_nsec / SECOND;
  end.tv_nsec %= SECOND;
  pthread_cond_timedwait(&bed.changed, &bed.lock, &end);
}

void tj_sim_sleep_until(bool (*is_over)(void *data), void *data) {
  pthread_mutex_lock(&bed.lock);
  atomic_fetch_add(&bed.sleepers, 1);
  while (!is_over(data))
    wait_for_change();
  atomic_fetch_sub(&bed.sleepers, 1);
  pthread_mutex_unlock(&bed.lock);
}

void tj_sim_wake_sleepers(void) {
  if (atomic_load(&bed.sleepers) == 0)
    return;
  pthread_mutex_lock(&bed.lock);
  pthread_cond_broadcast(&bed.changed);
  pthread_mutex_unlock(&bed.lock);
}

void tj_sim_expect_silent_changes(void) {
  atomic_store(&bed.has_silent_changes, true);
  tj_sim_wake_sleepers();
}
