/* SPDX-License-Identifier: MIT */
/* The thread that copies. */
#include "rt/hsa/hsa_copier.h"

#include "base/clock.h"

static hsa_signal_value_t wait_for(const tj_hsa *hsa, hsa_signal_t signal) {
  hsa_signal_value_t value;
  do {
    value = hsa->signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
  } while (value > 0);
  return value;
}

static void make(tj_hsa_copier *copier, const tj_hsa_copy *copy) {
  const tj_hsa *hsa = copier->hsa;
  if (wait_for(hsa, copy->ready) == 0) {
    uint64_t begin = tj_nanoseconds();
    hsa_status_t status = hsa->memory_copy(copy->to, copy->from, copy->size);
    *copy->nanoseconds = tj_nanoseconds() - begin;
    if (status != HSA_STATUS_SUCCESS)
      copier->failed(status, copier->data);
  }
  hsa->signal_store_screlease(copy->made, 0);
}

/* The next copy; false where the copier closes. */
static bool take(tj_hsa_copier *copier, tj_hsa_copy *copy) {
  pthread_mutex_lock(&copier->lock);
  while (copier->taken == copier->asked && !copier->is_closing)
    pthread_cond_wait(&copier->changed, &copier->lock);
  bool has_any = copier->taken < copier->asked;
  if (has_any)
    *copy = copier->copy[copier->taken++ % TJ_HSA_MOST_COPIES];
  pthread_mutex_unlock(&copier->lock);
  return has_any;
}

static void *run(void *data) {
  tj_hsa_copy copy;
  while (take(data, &copy))
    make(data, &copy);
  return NULL;
}

void tj_hsa_copier_open(tj_hsa_copier *copier, const tj_hsa *hsa, void (*failed)(hsa_status_t status, void *data),
                        void *data) {
  *copier = (tj_hsa_copier){.hsa = hsa, .failed = failed, .data = data};
  pthread_mutex_init(&copier->lock, NULL);
  pthread_cond_init(&copier->changed, NULL);
}

void tj_hsa_copier_close(tj_hsa_copier *copier) {
  pthread_mutex_lock(&copier->lock);
  copier->is_closing = true;
  pthread_cond_signal(&copier->changed);
  pthread_mutex_unlock(&copier->lock);
  if (copier->is_running)
    pthread_join(copier->thread, NULL);
  pthread_cond_destroy(&copier->changed);
  pthread_mutex_destroy(&copier->lock);
}

tj_status tj_hsa_copier_begin(tj_hsa_copier *copier, const tj_hsa_copy *copy, tj_rt_error *error) {
  pthread_mutex_lock(&copier->lock);
  if (!copier->is_running)
    copier->is_running = pthread_create(&copier->thread, NULL, run, copier) == 0;
  if (copier->is_running) {
    copier->copy[copier->asked++ % TJ_HSA_MOST_COPIES] = *copy;
    pthread_cond_signal(&copier->changed);
  }
  pthread_mutex_unlock(&copier->lock);
  if (!copier->is_running)
    return tj_rt_failed(error, TJ_ERROR_MEMORY, TJ_OUT_OF_MEMORY, "out of memory");
  return TJ_OK;
}
