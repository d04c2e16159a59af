/* SPDX-License-Identifier: MIT */
/* Packets into a queue, and waiting for them. */
#include "rt/hsa/hsa_queue.h"

#include <inttypes.h>
#include <stdio.h>

enum { LOST = -1, CACHE_LINE = 64, LONGEST_WAIT_NANOSECONDS = 1000000, MOST_PACKETS = 2 /* of a slot */ };

/* --- failures --- */

static void lose_signal(const tj_hsa_queue *queue, hsa_signal_t signal) {
  if (signal.handle != 0 && queue->hsa->signal_load_scacquire(signal) > 0)
    queue->hsa->signal_store_screlease(signal, LOST);
}

/* No packet of this queue will run any more. Called in threads of the runtime. */
static void give_up(tj_hsa_queue *queue, hsa_status_t status) {
  atomic_store(&queue->failure, status == HSA_STATUS_SUCCESS ? (int)HSA_STATUS_ERROR : (int)status);
  atomic_thread_fence(memory_order_seq_cst);
  for (uint32_t i = 0; i < TJ_RT_SLOTS; i++) {
    lose_signal(queue, queue->slot[i].signal);
    lose_signal(queue, (hsa_signal_t){atomic_load(&queue->slot[i].ready)});
  }
}

static void queue_failed(hsa_status_t status, hsa_queue_t *source, void *data) {
  (void)source;
  give_up(data, status);
}

/* What is behind a copy that failed does not run. */
static void copy_failed(hsa_status_t status, void *data) {
  tj_hsa_queue *queue = data;
  if (!queue->is_borrowed && queue->hsa->queue_inactivate != NULL)
    queue->hsa->queue_inactivate(queue->queue);
  give_up(queue, status);
}

void tj_hsa_queue_lose(tj_hsa_queue *queue, const char *why) {
  tj_rt_error error;
  tj_rt_failed(&error, TJ_ERROR_SYSTEM, TJ_LAUNCH, "%s; the device is lost", why);
  if (!tj_rt_flight_lose(&queue->flight, &error))
    return;
  give_up(queue, HSA_STATUS_ERROR);
  tj_rt_flight_lost(&queue->flight);
}

static void device_faulted(const hsa_amd_gpu_memory_fault_info_t *fault, void *data) {
  char why[128];
  snprintf(why, sizeof why, "a kernel left its memory: fault at page 0x%" PRIx64 ": %s", fault->virtual_address,
           tj_hsa_fault_reason(fault->fault_reason_mask));
  tj_hsa_queue_lose(data, why);
}

/* What the runtime says of the failure; the simulator tells more than a status. */
static void describe_failure(tj_hsa_queue *queue, tj_rt_error *error) {
  if (tj_rt_flight_check(&queue->flight, error) != TJ_OK)
    return;
  hsa_status_t status = (hsa_status_t)atomic_load(&queue->failure);
  char message[sizeof error->text] = "";
  if (queue->hsa->message != NULL)
    queue->hsa->message(queue->queue, message, sizeof message);
  const char *text = message;
  if (message[0] == '\0' && queue->hsa->status_string(status, &text) != HSA_STATUS_SUCCESS)
    text = "the queue failed for an unknown reason";
  bool is_memory = status == HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  tj_rt_failed(error, TJ_ERROR_SYSTEM, is_memory ? TJ_DEVICE_MEMORY : TJ_LAUNCH, "%s", text);
}

/* --- the queue itself --- */

static tj_status create_queue(tj_hsa_queue *queue, tj_rt_error *error) {
  tj_status status =
      tj_hsa_queue_create(queue->hsa, error, queue->gpu, MOST_PACKETS * TJ_RT_SLOTS, HSA_QUEUE_TYPE_SINGLE,
                          queue_failed, queue, UINT32_MAX, UINT32_MAX, &queue->queue);
  if (status != TJ_OK) {
    queue->queue = NULL;
    return status;
  }
  return tj_hsa_amd_profiling_set_profiler_enabled(queue->hsa, error, queue->queue, 1);
}

/* A queue that has failed is of no use any more; nor is its device, where another made it. */
static void replace_queue(tj_hsa_queue *queue) {
  tj_rt_error error;
  if (queue->is_borrowed) {
    tj_hsa_queue_lose(queue, "the queue has failed");
    return;
  }
  queue->hsa->queue_destroy(queue->queue);
  queue->queue = NULL;
  queue->flight.is_described = false;
  atomic_store(&queue->failure, 0);
  if (create_queue(queue, &error) != TJ_OK)
    tj_rt_flight_keep(&queue->flight, &error);
}

static tj_status open_clock(tj_hsa_queue *queue, tj_rt_error *error) {
  uint64_t frequency = 0;
  tj_status status = tj_hsa_system_get_info(queue->hsa, error, HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &frequency);
  queue->ticks = frequency == 0 ? 1.0 : (double)frequency / 1e9;
  return status;
}

static tj_status open_signals(tj_hsa_queue *queue, tj_rt_error *error) {
  tj_status status = TJ_OK;
  for (uint32_t i = 0; status == TJ_OK && i < TJ_RT_SLOTS; i++)
    status = tj_hsa_signal_create(queue->hsa, error, 0, 0, NULL, &queue->slot[i].signal);
  return status;
}

tj_status tj_hsa_queue_open(tj_hsa_queue *queue, hsa_queue_t *given, tj_rt_error *error) {
  queue->queue = given;
  queue->is_borrowed = given != NULL;
  tj_rt_flight_open(&queue->flight);
  tj_hsa_copier_open(&queue->copier, queue->hsa, copy_failed, queue);
  tj_status status = open_clock(queue, error);
  if (status == TJ_OK)
    status = open_signals(queue, error);
  if (status == TJ_OK && given == NULL)
    status = create_queue(queue, error);
  queue->watch = (tj_hsa_watch){.hsa = queue->hsa, .gpu = queue->gpu, .tell = device_faulted, .data = queue};
  if (status == TJ_OK)
    tj_hsa_watch_open(&queue->watch);
  else
    tj_hsa_queue_close(queue);
  return status;
}

static void destroy_signal(const tj_hsa_queue *queue, uint64_t handle) {
  if (handle != 0)
    queue->hsa->signal_destroy((hsa_signal_t){handle});
}

void tj_hsa_queue_close(tj_hsa_queue *queue) {
  tj_hsa_watch_close(&queue->watch);
  tj_rt_flight_close(&queue->flight);
  tj_hsa_copier_close(&queue->copier);
  if (queue->queue != NULL && !queue->is_borrowed)
    queue->hsa->queue_destroy(queue->queue);
  for (uint32_t i = 0; i < TJ_RT_SLOTS; i++) {
    tj_hsa_slot *slot = &queue->slot[i];
    destroy_signal(queue, slot->signal.handle);
    destroy_signal(queue, atomic_load(&slot->ready));
    destroy_signal(queue, atomic_load(&slot->made));
    if (slot->arguments != NULL)
      queue->hsa->amd_memory_pool_free(slot->arguments);
  }
}

/* --- waiting --- */

/* How long a launch that has ended took. */
static uint64_t time_of(const tj_hsa_queue *queue, hsa_signal_t signal) {
  hsa_amd_profiling_dispatch_time_t time;
  if (queue->hsa->amd_profiling_get_dispatch_time(queue->gpu, signal, &time) != HSA_STATUS_SUCCESS)
    return 0;
  return time.end > time.start ? (uint64_t)((double)(time.end - time.start) / queue->ticks) : 0;
}

/* Why a launch is lost: the first that is, by its own fault, others by that one's. */
static void describe_loss(tj_hsa_queue *queue, tj_rt_error *error) {
  if (!tj_rt_flight_is_innocent(&queue->flight, error))
    describe_failure(queue, error);
}

static tj_hsa_slot *slot_of(tj_hsa_queue *queue, uint64_t number) {
  return &queue->slot[tj_rt_slot_of(number)];
}

static bool is_copy(const tj_hsa_queue *queue, uint64_t number) {
  return queue->flight.slot[tj_rt_slot_of(number)].is_copy;
}

/* Takes the oldest launch, which has ended with this value of its signal, out of the queue. */
static void retire(tj_hsa_queue *queue, hsa_signal_value_t value) {
  const tj_hsa_slot *slot = slot_of(queue, queue->flight.ended);
  tj_rt_error error;
  uint64_t nanoseconds = 0;
  if (value != 0)
    describe_loss(queue, &error);
  else
    nanoseconds = is_copy(queue, queue->flight.ended) ? slot->nanoseconds : time_of(queue, slot->signal);
  tj_rt_flight_end(&queue->flight, value == 0 ? TJ_OK : TJ_ERROR_SYSTEM, &error, nanoseconds);
}

hsa_signal_t tj_hsa_queue_signal(const tj_hsa_queue *queue, uint64_t number) {
  return queue->slot[tj_rt_slot_of(number)].signal;
}

/* The signal that the copier has done with a copy. */
static hsa_signal_t made_of(tj_hsa_slot *slot) {
  return (hsa_signal_t){atomic_load(&slot->made)};
}

/* A copy that is given up may still be on its way. */
static hsa_signal_value_t wait_for(const tj_hsa_queue *queue, hsa_signal_t signal) {
  hsa_signal_value_t value;
  do {
    value = queue->hsa->signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
  } while (value > 0);
  return value;
}

/* Waits for the oldest launch in flight. */
static void retire_oldest(tj_hsa_queue *queue) {
  tj_hsa_slot *slot = slot_of(queue, queue->flight.ended);
  hsa_signal_value_t value = wait_for(queue, slot->signal);
  if (is_copy(queue, queue->flight.ended))
    wait_for(queue, made_of(slot));
  retire(queue, value);
}

void tj_hsa_queue_progress(tj_hsa_queue *queue) {
  while (!tj_rt_flight_is_empty(&queue->flight)) {
    uint64_t oldest = queue->flight.ended;
    tj_hsa_slot *slot = slot_of(queue, oldest);
    hsa_signal_value_t value = queue->hsa->signal_load_scacquire(slot->signal);
    if (value > 0 || (is_copy(queue, oldest) && queue->hsa->signal_load_scacquire(made_of(slot)) > 0))
      return;
    retire(queue, value);
  }
}

/* The signal may have been given to a later launch meanwhile, for which nobody here wants to wait long. */
void tj_hsa_queue_await(const tj_hsa_queue *queue, hsa_signal_t signal) {
  uint64_t ticks = (uint64_t)(queue->ticks * LONGEST_WAIT_NANOSECONDS);
  queue->hsa->signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, ticks, HSA_WAIT_STATE_BLOCKED);
}

void tj_hsa_queue_measure(const tj_hsa_queue *queue, uint64_t *done, uint64_t *total) {
  *done = *total = 0;
  if (queue->hsa->progress != NULL && queue->queue != NULL)
    queue->hsa->progress(queue->queue, done, total);
}

void tj_hsa_queue_cancel(tj_hsa_queue *queue) {
  if (queue->queue == NULL || queue->is_borrowed)
    return;
  if (queue->hsa->queue_inactivate != NULL)
    queue->hsa->queue_inactivate(queue->queue);
  queue_failed(HSA_STATUS_ERROR, queue->queue, queue);
}

void tj_hsa_queue_drain(tj_hsa_queue *queue) {
  tj_rt_flight *flight = &queue->flight;
  tj_rt_error error;
  while (!tj_rt_flight_is_empty(flight))
    retire_oldest(queue);
  if (atomic_load(&queue->failure) == 0 || atomic_load(&flight->is_lost))
    return;
  if (!tj_rt_flight_is_innocent(flight, &error)) {
    describe_failure(queue, &error);
    tj_rt_flight_keep(flight, &error);
  }
  replace_queue(queue);
}

/* --- launching --- */

/* Makes the slot's argument block large enough. */
static tj_status reserve(tj_hsa_queue *queue, tj_hsa_slot *slot, size_t size, tj_rt_error *error) {
  if (size <= slot->capacity)
    return TJ_OK;
  if (slot->arguments != NULL)
    queue->hsa->amd_memory_pool_free(slot->arguments);
  slot->arguments = NULL;
  slot->capacity = 0;
  size_t rounded = (size + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
  tj_status status = tj_hsa_amd_memory_pool_allocate(queue->hsa, error, queue->kernarg, rounded, 0, &slot->arguments);
  if (status == TJ_OK)
    status = tj_hsa_amd_agents_allow_access(queue->hsa, error, 1, &queue->gpu, NULL, slot->arguments);
  if (status == TJ_OK)
    slot->capacity = rounded;
  return status;
}

static tj_status fill_arguments(tj_hsa_queue *queue, tj_hsa_slot *slot, const tj_hsa_kernel *kernel,
                                uint32_t argument_bytes, const void *arguments, tj_rt_error *error) {
  size_t size = kernel->kernarg_bytes > argument_bytes ? kernel->kernarg_bytes : argument_bytes;
  tj_status status = reserve(queue, slot, size > 0 ? size : 1, error);
  if (status != TJ_OK)
    return status;
  memset(slot->arguments, 0, slot->capacity);
  if (argument_bytes > 0)
    memcpy(slot->arguments, arguments, argument_bytes);
  return TJ_OK;
}

enum {
  ORDERED = 1 << HSA_PACKET_HEADER_BARRIER | HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
            HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE,
  DISPATCH_HEADER = HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE | ORDERED,
  BARRIER_HEADER = HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE | ORDERED,
  DISPATCH_SETUP = 1 << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS
};

/* Everything of the packet but its first word, by which the packet processor knows that it is complete. */
static void fill_dispatch(hsa_kernel_dispatch_packet_t *packet, const tj_hsa_kernel *kernel, const tj_hsa_slot *slot,
                          const tj_rt_dispatch *dispatch) {
  packet->workgroup_size_x = (uint16_t)dispatch->workgroup_size;
  packet->workgroup_size_y = 1;
  packet->workgroup_size_z = 1;
  packet->reserved0 = 0;
  packet->grid_size_x = (uint32_t)(dispatch->workgroup_count * dispatch->workgroup_size);
  packet->grid_size_y = 1;
  packet->grid_size_z = 1;
  packet->private_segment_size = kernel->private_bytes;
  packet->group_segment_size = kernel->group_bytes;
  packet->kernel_object = kernel->object;
  packet->kernarg_address = slot->arguments;
  packet->reserved2 = 0;
  packet->completion_signal = slot->signal;
}

/* The same of a packet that waits for a signal, where its handle is not 0, and then completes another. */
static void fill_barrier(hsa_barrier_and_packet_t *packet, hsa_signal_t awaited, hsa_signal_t completed) {
  packet->reserved1 = 0;
  packet->dep_signal[0] = awaited;
  for (size_t i = 1; i < sizeof packet->dep_signal / sizeof packet->dep_signal[0]; i++)
    packet->dep_signal[i].handle = 0;
  packet->reserved2 = 0;
  packet->completion_signal = completed;
}

/* A free place in the ring, whose number `index` gets; it may be overwritten, where the queue has failed. */
static void *take_place(tj_hsa_queue *queue, uint64_t *index) {
  const tj_hsa *hsa = queue->hsa;
  *index = hsa->queue_add_write_index_screlease(queue->queue, 1);
  while (*index - hsa->queue_load_read_index_scacquire(queue->queue) >= queue->queue->size &&
         atomic_load(&queue->failure) == 0) {
  }
  return (hsa_kernel_dispatch_packet_t *)queue->queue->base_address + *index % queue->queue->size;
}

/* Writes the packet's first word, and rings the doorbell. */
static void hand_over(const tj_hsa_queue *queue, void *packet, uint64_t index, uint32_t first_word) {
  __atomic_store_n((uint32_t *)packet, first_word, __ATOMIC_RELEASE);
  queue->hsa->signal_store_screlease(queue->queue->doorbell_signal, (hsa_signal_value_t)index);
}

/* A failure that was told before the signals were set has not seen them. */
static void look_for_failure(tj_hsa_queue *queue, tj_hsa_slot *slot) {
  atomic_thread_fence(memory_order_seq_cst);
  if (atomic_load(&queue->failure) == 0)
    return;
  lose_signal(queue, slot->signal);
  lose_signal(queue, (hsa_signal_t){atomic_load(&slot->ready)});
}

static void submit_dispatch(tj_hsa_queue *queue, const tj_hsa_kernel *kernel, tj_hsa_slot *slot,
                            const tj_rt_dispatch *dispatch) {
  uint64_t index;
  hsa_kernel_dispatch_packet_t *packet = take_place(queue, &index);
  fill_dispatch(packet, kernel, slot, dispatch);
  queue->hsa->signal_store_screlease(slot->signal, 1);
  hand_over(queue, packet, index, (uint32_t)DISPATCH_HEADER | (uint32_t)DISPATCH_SETUP << 16);
  look_for_failure(queue, slot);
}

static void submit_barrier(tj_hsa_queue *queue, hsa_signal_t awaited, hsa_signal_t completed) {
  uint64_t index;
  hsa_barrier_and_packet_t *packet = take_place(queue, &index);
  fill_barrier(packet, awaited, completed);
  hand_over(queue, packet, index, (uint32_t)BARRIER_HEADER);
}

static tj_status check_size(const tj_rt_dispatch *dispatch, tj_rt_error *error) {
  if (tj_rt_fits_packet(dispatch->workgroup_count, dispatch->workgroup_size))
    return TJ_OK;
  return tj_rt_failed(error, TJ_ERROR_INPUT, TJ_LAUNCH, TJ_RT_NO_PACKET, dispatch->workgroup_count,
                      dispatch->workgroup_size);
}

/* Whether the queue takes more; after a failure, once what was in flight has ended. */
static tj_status make_ready(tj_hsa_queue *queue, tj_rt_error *error) {
  if (atomic_load(&queue->failure) != 0)
    tj_hsa_queue_drain(queue);
  tj_status status = tj_rt_flight_check(&queue->flight, error);
  if (status == TJ_OK && queue->queue == NULL)
    return tj_rt_failed(error, TJ_ERROR_SYSTEM, TJ_LAUNCH, "the device has failed and did not come back");
  if (status == TJ_OK && tj_rt_flight_is_full(&queue->flight))
    retire_oldest(queue);
  return status;
}

tj_status tj_hsa_queue_launch(tj_hsa_queue *queue, const tj_hsa_kernel *kernel, uint32_t argument_bytes,
                              const tj_rt_dispatch *dispatch, tj_rt_error *error) {
  tj_status status = check_size(dispatch, error);
  if (status == TJ_OK)
    status = make_ready(queue, error);
  if (status != TJ_OK)
    return status;
  tj_hsa_slot *slot = slot_of(queue, queue->flight.launched);
  status = fill_arguments(queue, slot, kernel, argument_bytes, dispatch->arguments, error);
  if (status != TJ_OK)
    return status;
  tj_rt_flight_begin(&queue->flight, dispatch->completion, false);
  submit_dispatch(queue, kernel, slot, dispatch);
  return TJ_OK;
}

/* --- copying --- */

/* Signals of copies are made for a slot when it has its first. */
static tj_status open_signal(tj_hsa_queue *queue, _Atomic uint64_t *handle, tj_rt_error *error) {
  hsa_signal_t signal;
  if (atomic_load(handle) != 0)
    return TJ_OK;
  tj_status status = tj_hsa_signal_create(queue->hsa, error, 0, 0, NULL, &signal);
  if (status == TJ_OK)
    atomic_store(handle, signal.handle);
  return status;
}

tj_status tj_hsa_queue_copy(tj_hsa_queue *queue, const tj_rt_copy *copy, tj_rt_error *error) {
  tj_status status = make_ready(queue, error);
  tj_hsa_slot *slot = slot_of(queue, queue->flight.launched);
  if (status == TJ_OK)
    status = open_signal(queue, &slot->ready, error);
  if (status == TJ_OK)
    status = open_signal(queue, &slot->made, error);
  if (status != TJ_OK)
    return status;
  hsa_signal_t ready = {atomic_load(&slot->ready)}, made = made_of(slot);
  slot->nanoseconds = 0;
  tj_hsa_copy asked = {copy->to, copy->from, copy->size, ready, made, &slot->nanoseconds};
  queue->hsa->signal_store_screlease(ready, 1);
  queue->hsa->signal_store_screlease(made, 1);
  status = tj_hsa_copier_begin(&queue->copier, &asked, error);
  if (status != TJ_OK) {
    queue->hsa->signal_store_screlease(ready, 0);
    return status;
  }
  queue->hsa->signal_store_screlease(slot->signal, 1);
  tj_rt_flight_begin(&queue->flight, copy->completion, true);
  submit_barrier(queue, (hsa_signal_t){0}, ready);
  submit_barrier(queue, made, slot->signal);
  look_for_failure(queue, slot);
  return TJ_OK;
}
