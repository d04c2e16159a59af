/* SPDX-License-Identifier: MIT */
/* The simulated HSA runtime: threads that do what waits for signals. */
#include "rt/sim/hsa/hsa_service.h"

#include "rt/sim/hsa/hsa_state.h"

static void append(tj_sim_service *service, tj_sim_task *task) {
  tj_sim_task **at = &service->first;
  while (*at != NULL)
    at = &(*at)->next;
  task->next = NULL;
  *at = task;
}

/* Takes the first task that is due out of the list; NULL where none is. */
static tj_sim_task *take_due(tj_sim_service *service) {
  tj_sim_task **at = &service->first;
  while (*at != NULL && !(*at)->is_due(*at))
    at = &(*at)->next;
  tj_sim_task *due = *at;
  if (due != NULL)
    *at = due->next;
  return due;
}

typedef struct {
  tj_sim_service *service;
  tj_sim_task *due;
} look;

/* Whether there is a task to run, or there will be none. */
static bool is_needed(void *data) {
  look *l = data;
  pthread_mutex_lock(&l->service->lock);
  l->due = take_due(l->service);
  bool is_over = l->due != NULL || l->service->is_ending;
  pthread_mutex_unlock(&l->service->lock);
  return is_over;
}

static void *run_tasks(void *data) {
  look l = {.service = data};
  for (;;) {
    tj_sim_sleep_until(is_needed, &l);
    if (l.due == NULL)
      return NULL;
    bool is_kept = l.due->run(l.due);
    if (!is_kept) {
      l.due->release(l.due);
      continue;
    }
    pthread_mutex_lock(&l.service->lock);
    append(l.service, l.due);
    pthread_mutex_unlock(&l.service->lock);
  }
}

bool tj_sim_service_submit(tj_sim_service *service, tj_sim_task *task) {
  pthread_mutex_lock(&service->lock);
  if (!service->is_running)
    service->is_running = pthread_create(&service->thread, NULL, run_tasks, service) == 0;
  bool is_taken = service->is_running;
  if (is_taken)
    append(service, task);
  pthread_mutex_unlock(&service->lock);
  if (is_taken)
    tj_sim_wake_sleepers();
  else
    task->release(task);
  return is_taken;
}

void tj_sim_service_end(tj_sim_service *service) {
  pthread_mutex_lock(&service->lock);
  bool was_running = service->is_running;
  service->is_ending = true;
  pthread_mutex_unlock(&service->lock);
  tj_sim_wake_sleepers();
  if (was_running)
    pthread_join(service->thread, NULL);
  pthread_mutex_lock(&service->lock);
  tj_sim_task *task = service->first;
  service->first = NULL;
  service->is_running = service->is_ending = false;
  pthread_mutex_unlock(&service->lock);
  for (tj_sim_task *next; task != NULL; task = next) {
    next = task->next;
    task->release(task);
  }
}
