/* SPDX-License-Identifier: MIT */
/* The simulated HSA runtime: queues. Each has a thread that waits at its doorbell, and executes its packets one after
 * another. A GPU orders no dispatch after the one before it unless its barrier bit says so, and what runs at once is
 * not simulated: a dispatch without the bit that is in the queue before the one ahead of it has ended stops the
 * queue, as a failed dispatch does. */
#include "rt/sim/hsa/hsa_state.h"

#include "rt/sim/hsa/hsasim.h"

#include <stdio.h>
#include <stdlib.h>

enum { PACKET = 64 };

typedef struct {
  hsa_queue_t head; /* what the caller sees: first */
  atomic_uint_fast64_t write_index, read_index;
  uint64_t agent;
  const tj_processor *processor;
  tj_sim_signal *doorbell;
  void (*callback)(hsa_status_t status, hsa_queue_t *source, void *data);
  void *data;
  pthread_t thread;
  atomic_bool is_closing;
  atomic_bool is_profiled; /* the times of its packets are noted */
  _Atomic hsa_amd_queue_priority_t priority;
  tj_sim_watch watch;   /* of the dispatch that runs */
  pthread_mutex_t lock; /* of what follows */
  tj_sim_counters counters;
  char message[TJ_SIM_MESSAGE_SIZE];
} queue;

static const char unknown_packet[] = "the queue holds a packet of a kind that is not simulated";

static queue *queue_of(const hsa_queue_t *head) {
  return (queue *)(uintptr_t)head;
}

/* --- packets --- */

static uint16_t *header_of(const queue *q, uint64_t index) {
  return (uint16_t *)(void *)((char *)q->head.base_address + index % q->head.size * PACKET);
}

static uint8_t packet_type(const queue *q, uint64_t index) {
  return (uint8_t)(__atomic_load_n(header_of(q, index), __ATOMIC_ACQUIRE) & 255);
}

/* The callback may ask what the status means, and is told what has happened. */
static void stop(queue *q, hsa_status_t status, const char *message) {
  pthread_mutex_lock(&q->lock);
  snprintf(q->message, sizeof q->message, "%s", message);
  pthread_mutex_unlock(&q->lock);
  tj_sim_explain_here(status, q->message);
  atomic_store(&q->is_closing, true);
  if (q->callback != NULL)
    q->callback(status, &q->head, q->data);
}

/* A queue whose kernel has left memory runs no more, and signals nothing. */
static void fault(queue *q, const tj_sim_stop *why) {
  atomic_store(&q->is_closing, true);
  tj_sim_raise_fault((hsa_agent_t){q->agent}, why->fault_address);
}

static tj_sim_launch launch_of(queue *q, const hsa_kernel_dispatch_packet_t *packet) {
  return (tj_sim_launch){
      .processor = q->processor,
      .grid = {packet->grid_size_x, packet->grid_size_y, packet->grid_size_z},
      .workgroup = {packet->workgroup_size_x, packet->workgroup_size_y, packet->workgroup_size_z},
      .group_bytes = packet->group_segment_size,
      .private_bytes = packet->private_segment_size,
      .arguments = packet->kernarg_address,
      .packet = (uint64_t)(uintptr_t)packet,
      .queue = (uint64_t)(uintptr_t)&q->head,
      .agents = tj_sim_agent_bit(q->agent),
      .watch = &q->watch,
  };
}

static void complete(const queue *q, hsa_signal_t signal, uint64_t begin) {
  bool is_noted = atomic_load(&q->is_profiled);
  tj_sim_signal_complete(signal, is_noted ? begin : 0, is_noted ? tj_sim_now() : 0);
}

/* Whether the packet is a dispatch that may run beside the one ahead of it. */
static bool is_unordered(const queue *q, uint64_t index) {
  uint16_t header = __atomic_load_n(header_of(q, index), __ATOMIC_ACQUIRE);
  return (header & 255) == HSA_PACKET_TYPE_KERNEL_DISPATCH && (header >> HSA_PACKET_HEADER_BARRIER & 1) == 0;
}

/* Whether the queue goes on. */
static bool execute_dispatch(queue *q, uint64_t index) {
  const hsa_kernel_dispatch_packet_t *packet = (const void *)header_of(q, index);
  tj_sim_launch launch = launch_of(q, packet);
  const tj_processor *processor;
  launch.kernel = tj_sim_find_kernel(packet->kernel_object, &processor);
  if (launch.kernel == NULL || processor != q->processor) {
    stop(q, HSA_STATUS_ERROR_INVALID_CODE_OBJECT, "the packet's kernel object is no kernel of this agent");
    return false;
  }
  tj_sim_counters counters = {0};
  tj_sim_stop why;
  uint64_t begin = tj_sim_now();
  bool is_done = tj_sim_dispatch(&launch, &counters, &why);
  pthread_mutex_lock(&q->lock);
  tj_sim_counters_add(&q->counters, &counters);
  pthread_mutex_unlock(&q->lock);
  bool is_overtaken = is_done && is_unordered(q, index + 1);
  if (is_overtaken)
    stop(q, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT,
         "the dispatch behind has no barrier bit and may run at the same time, which is not simulated");
  else if (is_done)
    complete(q, packet->completion_signal, begin);
  else if (why.is_fault && tj_sim_has_fault_events())
    fault(q, &why);
  else
    stop(q, why.is_out_of_memory ? HSA_STATUS_ERROR_OUT_OF_RESOURCES : HSA_STATUS_ERROR, why.message);
  return is_done && !is_overtaken;
}

/* The turn lasts until the dispatch has been completed: those behind it begin after it has ended by its own times. */
static bool execute_in_turn(queue *q, uint64_t index) {
  hsa_amd_queue_priority_t priority = atomic_load(&q->priority);
  if (!tj_sim_turn_begin(q->agent, priority, &q->is_closing))
    return false;
  bool goes_on = execute_dispatch(q, index);
  tj_sim_turn_end(q->agent, priority);
  return goes_on;
}

/* --- packets that wait --- */

typedef struct {
  queue *q;
  const void *packet;
  bool (*is_met)(const void *packet);
  bool is_given_up;
} barrier;

static void count_signals(const hsa_signal_t signal[5], uint32_t *waited, uint32_t *zero) {
  *waited = *zero = 0;
  for (unsigned i = 0; i < 5; i++) {
    *waited += signal[i].handle != 0 ? 1 : 0;
    *zero += signal[i].handle != 0 && hsa_signal_load_scacquire(signal[i]) == 0 ? 1 : 0;
  }
}

static bool all_are_zero(const void *packet) {
  uint32_t waited, zero;
  count_signals(((const hsa_barrier_and_packet_t *)packet)->dep_signal, &waited, &zero);
  return zero == waited;
}

static bool one_is_zero(const void *packet) {
  uint32_t waited, zero;
  count_signals(((const hsa_barrier_or_packet_t *)packet)->dep_signal, &waited, &zero);
  return zero > 0 || waited == 0;
}

static bool value_holds(const void *packet) {
  const hsa_amd_barrier_value_packet_t *p = packet;
  return p->signal.handle == 0 || tj_sim_condition_holds(hsa_signal_load_scacquire(p->signal) & p->mask,
                                                         (hsa_signal_condition_t)p->cond, p->value);
}

static bool is_past(void *data) {
  barrier *b = data;
  bool is_met = b->is_met(b->packet);
  b->is_given_up = !is_met && atomic_load(&b->q->is_closing);
  return is_met || b->is_given_up;
}

/* Whether the condition was met, and not the queue closed before. All packets have their signal in one place. */
static bool execute_barrier(queue *q, const void *packet, bool (*is_met)(const void *packet)) {
  barrier b = {q, packet, is_met, false};
  uint64_t begin = tj_sim_now();
  tj_sim_sleep_until(is_past, &b);
  if (!b.is_given_up)
    complete(q, ((const hsa_barrier_and_packet_t *)packet)->completion_signal, begin);
  return !b.is_given_up;
}

/* The packets of AMD's own: one waits for a value, the others are commands of hardware. */
static bool execute_vendor(queue *q, const hsa_amd_barrier_value_packet_t *packet) {
  if (packet->header.AmdFormat == HSA_AMD_PACKET_TYPE_BARRIER_VALUE)
    return execute_barrier(q, packet, value_holds);
  stop(q, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, unknown_packet);
  return false;
}

static bool execute_packet(queue *q, uint64_t index) {
  void *packet = header_of(q, index);
  bool goes_on = true;
  switch (packet_type(q, index)) {
  case HSA_PACKET_TYPE_KERNEL_DISPATCH:
    goes_on = execute_in_turn(q, index);
    break;
  case HSA_PACKET_TYPE_BARRIER_AND:
    goes_on = execute_barrier(q, packet, all_are_zero);
    break;
  case HSA_PACKET_TYPE_BARRIER_OR:
    goes_on = execute_barrier(q, packet, one_is_zero);
    break;
  case HSA_PACKET_TYPE_VENDOR_SPECIFIC:
    goes_on = execute_vendor(q, packet);
    break;
  default:
    stop(q, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, unknown_packet);
    return false;
  }
  __atomic_store_n(header_of(q, index), HSA_PACKET_TYPE_INVALID, __ATOMIC_RELEASE);
  return goes_on;
}

/* --- the thread --- */

/* Whether a packet is there; otherwise waits until the doorbell rings. */
static bool wait_for_packet(queue *q, uint64_t index) {
  tj_sim_signal *doorbell = q->doorbell;
  pthread_mutex_lock(&doorbell->lock);
  while (!atomic_load(&q->is_closing) && packet_type(q, index) == HSA_PACKET_TYPE_INVALID)
    pthread_cond_wait(&doorbell->changed, &doorbell->lock);
  pthread_mutex_unlock(&doorbell->lock);
  return !atomic_load(&q->is_closing);
}

static void *run_queue(void *data) {
  queue *q = data;
  uint64_t index = 0;
  while (wait_for_packet(q, index) && execute_packet(q, index))
    atomic_store(&q->read_index, ++index);
  return NULL;
}

/* --- creation --- */

static void release(queue *q) {
  if (q->head.base_address != NULL)
    tj_sim_memory_remove(q->head.base_address, false);
  free(q->head.base_address);
  tj_sim_signal_release(q->doorbell);
  pthread_mutex_destroy(&q->lock);
  free(q);
}

static bool open_queue(queue *q, uint32_t size) {
  pthread_mutex_init(&q->lock, NULL);
  q->doorbell = tj_sim_signal_new(-1);
  q->head.base_address = aligned_alloc(PACKET, (size_t)size * PACKET);
  if (q->doorbell == NULL || q->head.base_address == NULL)
    return false;
  q->head.size = size;
  q->head.doorbell_signal.handle = (uint64_t)(uintptr_t)q->doorbell;
  memset(q->head.base_address, 0, (size_t)size * PACKET);
  for (uint32_t i = 0; i < size; i++)
    *header_of(q, i) = HSA_PACKET_TYPE_INVALID;
  tj_sim_range packets = tj_sim_range_of(q->head.base_address, (size_t)size * PACKET, false);
  packets.agents = tj_sim_agent_bit(q->agent);
  return tj_sim_memory_add(&packets) && pthread_create(&q->thread, NULL, run_queue, q) == 0;
}

hsa_status_t hsa_queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                              void (*callback)(hsa_status_t status, hsa_queue_t *source, void *data), void *data,
                              uint32_t private_segment_size, uint32_t group_segment_size, hsa_queue_t **handle) {
  (void)private_segment_size;
  (void)group_segment_size;
  const tj_processor *processor = tj_sim_agent_processor(agent.handle);
  if (processor == NULL)
    return HSA_STATUS_ERROR_INVALID_AGENT;
  if (size == 0 || size > TJ_SIM_LARGEST_QUEUE || (size & (size - 1)) != 0)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  queue *q = calloc(1, sizeof *q);
  if (q == NULL)
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  q->head.type = type;
  q->head.features = HSA_QUEUE_FEATURE_KERNEL_DISPATCH;
  q->agent = agent.handle;
  q->processor = processor;
  q->callback = callback;
  q->data = data;
  atomic_init(&q->priority, HSA_AMD_QUEUE_PRIORITY_NORMAL);
  if (!open_queue(q, size)) {
    release(q);
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  }
  *handle = &q->head;
  return HSA_STATUS_SUCCESS;
}

/* The packet that runs is given up too, which takes a moment. */
hsa_status_t hsa_queue_inactivate(hsa_queue_t *handle) {
  queue *q = queue_of(handle);
  atomic_store(&q->watch.is_cancelled, true);
  atomic_store(&q->is_closing, true);
  tj_sim_signal_add(q->doorbell, 0);
  return HSA_STATUS_SUCCESS;
}

/* The packet that runs is the last; those behind it are given up. */
hsa_status_t hsa_queue_destroy(hsa_queue_t *handle) {
  queue *q = queue_of(handle);
  atomic_store(&q->is_closing, true);
  tj_sim_signal_add(q->doorbell, 0);
  pthread_join(q->thread, NULL);
  release(q);
  return HSA_STATUS_SUCCESS;
}

#define INDEXES(order)                                                                                               \
  uint64_t hsa_queue_load_read_index_##order(const hsa_queue_t *handle) {                                            \
    return atomic_load(&queue_of(handle)->read_index);                                                               \
  }                                                                                                                  \
  uint64_t hsa_queue_load_write_index_##order(const hsa_queue_t *handle) {                                           \
    return atomic_load(&queue_of(handle)->write_index);                                                              \
  }
INDEXES(relaxed)
INDEXES(scacquire)

#define RESERVATIONS(order)                                                                                          \
  uint64_t hsa_queue_add_write_index_##order(const hsa_queue_t *handle, uint64_t value) {                            \
    return atomic_fetch_add(&queue_of(handle)->write_index, value);                                                  \
  }
RESERVATIONS(relaxed)
RESERVATIONS(scacquire)
RESERVATIONS(screlease)
RESERVATIONS(scacq_screl)

/* --- what queues can be told --- */

hsa_status_t hsa_amd_profiling_set_profiler_enabled(hsa_queue_t *handle, int enable) {
  if (handle == NULL)
    return HSA_STATUS_ERROR_INVALID_QUEUE;
  atomic_store(&queue_of(handle)->is_profiled, enable != 0);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_queue_set_priority(hsa_queue_t *handle, hsa_amd_queue_priority_t priority) {
  if (handle == NULL)
    return HSA_STATUS_ERROR_INVALID_QUEUE;
  if (priority < HSA_AMD_QUEUE_PRIORITY_LOW || priority > HSA_AMD_QUEUE_PRIORITY_HIGH)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  atomic_store(&queue_of(handle)->priority, priority);
  return HSA_STATUS_SUCCESS;
}

/* On which compute units a kernel runs makes no difference to it here, so a mask is checked and forgotten. */
hsa_status_t hsa_amd_queue_cu_set_mask(const hsa_queue_t *handle, uint32_t num_cu_mask_count,
                                       const uint32_t *cu_mask) {
  if (handle == NULL)
    return HSA_STATUS_ERROR_INVALID_QUEUE;
  bool is_valid = num_cu_mask_count % 32 == 0 && (num_cu_mask_count == 0 || cu_mask != NULL);
  return is_valid ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

/* --- what the simulator can tell beyond HSA --- */

size_t tj_hsasim_message(const hsa_queue_t *handle, char *text, size_t size) {
  queue *q = queue_of(handle);
  pthread_mutex_lock(&q->lock);
  int length = snprintf(text, size, "%s", q->message);
  pthread_mutex_unlock(&q->lock);
  return (size_t)length;
}

void tj_hsasim_progress(const hsa_queue_t *handle, uint64_t *done, uint64_t *total) {
  queue *q = queue_of(handle);
  *done = atomic_load(&q->watch.begun);
  *total = atomic_load(&q->watch.count);
}

size_t tj_hsasim_counters(const hsa_queue_t *handle, uint64_t counters[], size_t count) {
  queue *q = queue_of(handle);
  uint64_t values[sizeof q->counters / sizeof(uint64_t)];
  size_t known = sizeof values / sizeof values[0];
  pthread_mutex_lock(&q->lock);
  memcpy(values, &q->counters, sizeof values);
  memset(&q->counters, 0, sizeof q->counters);
  pthread_mutex_unlock(&q->lock);
  memcpy(counters, values, (count < known ? count : known) * sizeof *counters);
  return known;
}
