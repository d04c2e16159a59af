/* SPDX-License-Identifier: MIT */
/* Running a dispatch: threads take workgroups in order until there are none, or one has failed. */
#include "rt/sim/load/dispatch.h"

#include "base/machine/processor.h"
#include "rt/sim/load/start.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_THREADS = 64, GROUPS_PER_THREAD = 4, LARGEST_WORKGROUP = 1024, LARGEST_SCRATCH = 1 << 20 };

/* Instructions that a workgroup may execute, unless TILEJIT_HSASIM_BUDGET says another number. */
static const uint64_t default_budget = 1u << 26;

/* What the threads of a dispatch share. */
typedef struct {
  const tj_sim_launch *launch;
  uint64_t count; /* of workgroups */
  uint32_t counts[3];
  uint64_t budget;
  atomic_uint_fast64_t next;
  atomic_bool is_stopped;
  pthread_mutex_t lock; /* of what follows */
  tj_sim_counters counters;
  tj_sim_stop *stop;
  bool is_out_of_memory;
} dispatch;

/* What one thread runs workgroups with. */
typedef struct {
  dispatch *all;
  tj_sim_group group;
  tj_sim_memory memory;
  tj_sim_counters counters;
  tj_sim_wave *wave;
  uint32_t wave_capacity, wave_count;
  void *block; /* owned: waves, registers, LDS, scratch */
} worker;

/* --- failures --- */

/* The first failure of the dispatch is the one that is told. */
static void report(worker *w, const tj_sim_wave *wave, uint32_t number, const uint32_t at[3]) {
  dispatch *all = w->all;
  const tj_sim_program *program = all->launch->kernel->program;
  const tj_sim_instruction *instruction = &program->instruction[wave->position];
  char lanes[64] = "";
  if (wave->failed_lanes != 0)
    snprintf(lanes, sizeof lanes, wave->lanes == 64 ? ", lanes 0x%016" PRIx64 : ", lanes 0x%08" PRIx64,
             wave->failed_lanes);
  pthread_mutex_lock(&all->lock);
  if (!atomic_exchange(&all->is_stopped, true)) {
    *all->stop = (tj_sim_stop){.is_fault = wave->is_fault, .fault_address = wave->fault_address};
    snprintf(all->stop->message, TJ_SIM_MESSAGE_SIZE,
             "kernel %s, pc 0x%" PRIx64 ", instruction `%s`: %s (workgroup %u,%u,%u, wave %u%s)",
             all->launch->kernel->code->name, instruction->address - program->address, instruction->text,
             wave->failure, at[0], at[1], at[2], number, lanes);
  }
  pthread_mutex_unlock(&all->lock);
}

/* --- workgroups --- */

static void locate(const dispatch *all, uint64_t number, uint32_t at[3], uint32_t size[3]) {
  const tj_sim_launch *launch = all->launch;
  at[0] = (uint32_t)(number % all->counts[0]);
  at[1] = (uint32_t)(number / all->counts[0] % all->counts[1]);
  at[2] = (uint32_t)(number / all->counts[0] / all->counts[1]);
  for (unsigned i = 0; i < 3; i++) {
    uint32_t left = launch->grid[i] - at[i] * launch->workgroup[i];
    size[i] = left < launch->workgroup[i] ? left : launch->workgroup[i];
  }
}

static bool is_cancelled(const dispatch *all) {
  const tj_sim_watch *watch = all->launch->watch;
  return watch != NULL && atomic_load_explicit(&watch->is_cancelled, memory_order_relaxed);
}

/* Runs all waves until each has ended or waits; whether another round is needed. */
static bool run_round(worker *w, const uint32_t at[3]) {
  bool is_waiting = false;
  for (uint32_t i = 0; i < w->wave_count && !is_cancelled(w->all); i++) {
    tj_sim_wave *wave = &w->wave[i];
    if (wave->state == TJ_SIM_ENDED)
      continue;
    tj_sim_wave_run(wave);
    if (wave->state == TJ_SIM_FAILED) {
      report(w, wave, i, at);
      return false;
    }
    is_waiting = is_waiting || wave->state == TJ_SIM_AT_BARRIER;
  }
  return is_waiting;
}

static void run_group(worker *w, uint64_t number) {
  const tj_sim_launch *launch = w->all->launch;
  uint32_t at[3], size[3];
  locate(w->all, number, at, size);
  uint32_t lanes = launch->kernel->code->descriptor.wave_size;
  w->wave_count = (size[0] * size[1] * size[2] + lanes - 1) / lanes;
  w->group.budget = w->all->budget;
  w->group.barriers = 0;
  memset(w->group.shadow, 0, w->group.lds_bytes * sizeof *w->group.shadow);
  for (uint32_t i = 0; i < w->wave_count; i++)
    tj_sim_start_wave(&w->wave[i], launch, at, size, i);
  w->counters.waves += w->wave_count;
  while (run_round(w, at))
    w->group.barriers++;
}

/* --- threads --- */

static size_t padded(size_t size) {
  return (size + 63) / 64 * 64;
}

/* Puts what is needed to notice undefined registers at `next`, and returns what is after it. */
static unsigned char *open_twin(tj_sim_wave *wave, unsigned char *next) {
  tj_sim_wave *twin = (tj_sim_wave *)(void *)next;
  next += padded(sizeof *twin);
  wave->undefined = (tj_sim_undefined *)(void *)next;
  next += padded(sizeof *wave->undefined);
  *twin = *wave;
  twin->undefined = NULL;
  twin->vector = (uint32_t(*)[TJ_SIM_LANES])(void *)next;
  wave->undefined->twin = twin;
  return next + wave->vector_count * sizeof *wave->vector;
}

/* Memory for the largest workgroup. */
static bool open_worker(worker *w, dispatch *all) {
  const tj_sim_launch *launch = all->launch;
  const tj_kernel_descriptor *d = &launch->kernel->code->descriptor;
  uint32_t items = launch->workgroup[0] * launch->workgroup[1] * launch->workgroup[2];
  *w = (worker){.all = all, .wave_capacity = (items + d->wave_size - 1) / d->wave_size};
  size_t waves = padded(w->wave_capacity * sizeof *w->wave);
  size_t registers = (size_t)d->vgprs * sizeof *w->wave->vector;
  size_t scratch = padded((size_t)launch->private_bytes * d->wave_size), lds = padded(launch->group_bytes);
  size_t shadow = padded(launch->group_bytes * sizeof *w->group.shadow);
  size_t tracking = padded(sizeof(tj_sim_undefined)) + padded(sizeof(tj_sim_wave));
  size_t size = waves + lds + shadow + w->wave_capacity * (2 * registers + scratch + tracking);
  if (!tj_sim_memory_snapshot(&w->memory, launch->agents) || (w->block = calloc(1, size + 1)) == NULL)
    return false;
  unsigned char *next = w->block;
  w->wave = w->block;
  w->group = (tj_sim_group){.processor = launch->processor,
                            .program = launch->kernel->program,
                            .memory = &w->memory,
                            .counters = &w->counters,
                            .lds = next + waves,
                            .lds_bytes = launch->group_bytes,
                            .line_bytes = tj_cache_line_bytes(launch->processor->name),
                            .shadow = (tj_sim_shadow *)(void *)(next + waves + lds),
                            .scratch_bytes = launch->private_bytes};
  next += waves + lds + shadow;
  for (uint32_t i = 0; i < w->wave_capacity; i++) {
    w->wave[i] = (tj_sim_wave){.group = &w->group,
                               .number = (uint16_t)i,
                               .lanes = d->wave_size,
                               .vector_count = d->vgprs,
                               .first_accumulator = d->accum_offset,
                               .vector = (uint32_t(*)[TJ_SIM_LANES])(void *)next,
                               .scratch = next + registers};
    next += registers + scratch;
    next = open_twin(&w->wave[i], next);
  }
  return true;
}

static void close_worker(worker *w) {
  tj_sim_memory_release(&w->memory);
  free(w->block);
}

static void *run_worker(void *data) {
  dispatch *all = data;
  worker w;
  bool is_open = open_worker(&w, all);
  while (is_open && !atomic_load_explicit(&all->is_stopped, memory_order_relaxed) && !is_cancelled(all)) {
    uint64_t number = atomic_fetch_add_explicit(&all->next, 1, memory_order_relaxed);
    if (number >= all->count)
      break;
    if (all->launch->watch != NULL)
      atomic_fetch_add_explicit(&all->launch->watch->begun, 1, memory_order_relaxed);
    run_group(&w, number);
  }
  pthread_mutex_lock(&all->lock);
  tj_sim_counters_add(&all->counters, &w.counters);
  all->is_out_of_memory = all->is_out_of_memory || !is_open;
  pthread_mutex_unlock(&all->lock);
  close_worker(&w);
  return NULL;
}

static uint32_t thread_count(uint64_t workgroups) {
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  uint64_t useful = workgroups / GROUPS_PER_THREAD;
  uint64_t count = cores < 1 ? 1 : cores > MOST_THREADS ? MOST_THREADS : (uint64_t)cores;
  return (uint32_t)(useful < count ? useful : count);
}

static void open_watch(const dispatch *all) {
  tj_sim_watch *watch = all->launch->watch;
  if (watch == NULL)
    return;
  atomic_store(&watch->begun, 0);
  atomic_store(&watch->count, all->count);
}

/* On this thread and as many others as are useful and can be had. */
static void run_all(dispatch *all) {
  pthread_t thread[MOST_THREADS];
  uint32_t wanted = thread_count(all->count), started = 0;
  while (started + 1 < wanted && pthread_create(&thread[started], NULL, run_worker, all) == 0)
    started++;
  run_worker(all);
  for (uint32_t i = 0; i < started; i++)
    pthread_join(thread[i], NULL);
}

/* --- the whole --- */

/* Rounds otherwise than to nearest, or flushes denormals. */
static bool has_odd_float_mode(const tj_kernel_descriptor *d) {
  enum { KEPT = 3 };
  return d->float_round_32 != 0 || d->float_round_16_64 != 0 || d->float_denorm_32 != KEPT ||
         d->float_denorm_16_64 != KEPT;
}

/* What no hardware would accept; NULL: nothing. */
static const char *find_obstacle(const tj_sim_launch *launch) {
  uint64_t items = 1;
  for (unsigned i = 0; i < 3; i++) {
    if (launch->grid[i] == 0 || launch->workgroup[i] == 0)
      return "an extent of the grid or of the workgroup is zero";
    items *= launch->workgroup[i];
    if (items > LARGEST_WORKGROUP)
      return "the workgroup has more than 1024 work-items";
  }
  if (launch->group_bytes < launch->kernel->code->descriptor.group_segment_bytes)
    return "the packet's group segment is smaller than the kernel needs";
  if (launch->group_bytes > launch->processor->lds_bytes)
    return "the group segment is larger than the processor's LDS";
  if (launch->private_bytes < launch->kernel->code->descriptor.private_segment_bytes)
    return "the packet's private segment is smaller than the kernel needs";
  if (launch->private_bytes > LARGEST_SCRATCH)
    return "the private segment is too large";
  if (has_odd_float_mode(&launch->kernel->code->descriptor))
    return "the kernel asks for a floating-point mode that is not simulated";
  return NULL;
}

static uint64_t instruction_budget(void) {
  const char *chosen = getenv("TILEJIT_HSASIM_BUDGET");
  uint64_t budget = chosen != NULL ? strtoull(chosen, NULL, 10) : 0;
  return budget > 0 ? budget : default_budget;
}

bool tj_sim_dispatch(const tj_sim_launch *launch, tj_sim_counters *counters, tj_sim_stop *stop) {
  *stop = (tj_sim_stop){0};
  const char *obstacle = find_obstacle(launch);
  if (obstacle != NULL) {
    snprintf(stop->message, TJ_SIM_MESSAGE_SIZE, "kernel %s: %s", launch->kernel->code->name, obstacle);
    return false;
  }
  dispatch all = {
      .launch = launch, .count = 1, .lock = PTHREAD_MUTEX_INITIALIZER, .stop = stop, .budget = instruction_budget()};
  for (unsigned i = 0; i < 3; i++) {
    all.counts[i] = (uint32_t)(((uint64_t)launch->grid[i] + launch->workgroup[i] - 1) / launch->workgroup[i]);
    all.count *= all.counts[i];
  }
  open_watch(&all);
  run_all(&all);
  pthread_mutex_destroy(&all.lock);
  tj_sim_counters_add(counters, &all.counters);
  stop->is_out_of_memory = all.is_out_of_memory && !all.is_stopped;
  if (stop->is_out_of_memory)
    snprintf(stop->message, TJ_SIM_MESSAGE_SIZE, "kernel %s: out of memory", launch->kernel->code->name);
  else if (is_cancelled(&all) && !all.is_stopped)
    snprintf(stop->message, TJ_SIM_MESSAGE_SIZE, "kernel %s: cancelled", launch->kernel->code->name);
  return !all.is_stopped && !all.is_out_of_memory && !is_cancelled(&all);
}
