/* SPDX-License-Identifier: MIT */
/* Threads of the simulated HSA runtime that do what waits for signals: one calls handlers, one copies. A task is done
 * once it is due, the earlier before the later, one after another. */
#ifndef TJ_RT_SIM_HSA_SERVICE_H
#define TJ_RT_SIM_HSA_SERVICE_H

#include <pthread.h>
#include <stdbool.h>

typedef struct tj_sim_task tj_sim_task;

/* The first member of what a service does. */
struct tj_sim_task {
  tj_sim_task *next;
  bool (*is_due)(const tj_sim_task *task); /* looks at signals, and changes none */
  bool (*run)(tj_sim_task *task);          /* whether it waits to be run again */
  void (*release)(tj_sim_task *task);
};

typedef struct {
  pthread_mutex_t lock;
  tj_sim_task *first;
  pthread_t thread; /* begins with the first task */
  bool is_running, is_ending;
} tj_sim_service;

#define TJ_SIM_SERVICE                                                                                               \
  { .lock = PTHREAD_MUTEX_INITIALIZER }

/* Takes the task, and releases it in the end; false, and the task is released, where there is no thread to be had. */
bool tj_sim_service_submit(tj_sim_service *service, tj_sim_task *task);

/* Ends the thread after what is due. What is not never will be. */
void tj_sim_service_end(tj_sim_service *service);

#endif
