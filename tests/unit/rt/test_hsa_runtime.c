/* SPDX-License-Identifier: MIT */
/* The HSA runtime where kernels do not reach: barrier packets, handlers of events and counters of the simulator, and
 * what is read of a runtime that says too much. */
#include "tests/unit/support/harness.h"

#include "rt/hsa/hsa_agent.h"

enum { ANY = 1000 };

typedef struct {
  tj_hsa hsa;
  tj_hsa_agents agents;
  tj_rt_error error;
} session;

static void open_runtime(session *s) {
  tj_hsa_library simulator = {TILEJIT_HSASIM, "simulator library", TJ_SIMULATOR_LIBRARY};
  ck_assert_int_eq(tj_hsa_open(&s->hsa, &simulator, &s->error), TJ_OK);
  ck_assert_int_eq(tj_hsa_init(&s->hsa, &s->error), TJ_OK);
  ck_assert_int_eq(tj_hsa_find_agents(&s->hsa, &s->agents, &s->error), TJ_OK);
}

/* --- barrier packets --- */

typedef struct {
  uint16_t type;
  int64_t waited[2]; /* what signals hold at first; ANY: there is none */
  int zeroed;        /* the signal without which the packet does not complete; -1 where it completes at once */
} barrier_row;

static const barrier_row barriers[] = {
    {HSA_PACKET_TYPE_BARRIER_AND, {ANY, ANY}, -1}, {HSA_PACKET_TYPE_BARRIER_OR, {ANY, ANY}, -1},
    {HSA_PACKET_TYPE_BARRIER_AND, {0, 0}, -1},     {HSA_PACKET_TYPE_BARRIER_OR, {1, 0}, -1},
    {HSA_PACKET_TYPE_BARRIER_AND, {1, 0}, 0},      {HSA_PACKET_TYPE_BARRIER_AND, {ANY, 1}, 1},
    {HSA_PACKET_TYPE_BARRIER_OR, {1, 1}, 1},       {HSA_PACKET_TYPE_BARRIER_OR, {ANY, 1}, 1},
};

static hsa_signal_t new_signal(session *s, int64_t value) {
  hsa_signal_t signal;
  ck_assert_int_eq(tj_hsa_signal_create(&s->hsa, &s->error, value, 0, NULL, &signal), TJ_OK);
  return signal;
}

static void fail_queue(hsa_status_t status, hsa_queue_t *queue, void *data) {
  (void)queue, (void)data;
  ck_abort_msg("the queue failed: %d", (int)status);
}

static hsa_signal_value_t wait_for_zero(session *s, hsa_signal_t signal, uint64_t ticks) {
  return s->hsa.signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, ticks, HSA_WAIT_STATE_BLOCKED);
}

static void check_barrier(session *s, hsa_queue_t *queue, const barrier_row *row) {
  enum { A_WHILE = 20000000 };
  uint64_t index = s->hsa.queue_add_write_index_screlease(queue, 1);
  hsa_barrier_or_packet_t *packet = (hsa_barrier_or_packet_t *)queue->base_address + index % queue->size;
  hsa_signal_t done = packet->completion_signal = new_signal(s, 1), waited[2] = {{0}, {0}};
  for (int i = 0; i < 2; i++) {
    if (row->waited[i] != ANY)
      packet->dep_signal[2 * i] = waited[i] = new_signal(s, row->waited[i]);
  }
  __atomic_store_n(&packet->header, (uint16_t)(row->type << HSA_PACKET_HEADER_TYPE), __ATOMIC_RELEASE);
  s->hsa.signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
  if (row->zeroed >= 0) {
    ck_assert_int_eq(wait_for_zero(s, done, A_WHILE), 1);
    s->hsa.signal_store_screlease(waited[row->zeroed], 0);
  }
  while (wait_for_zero(s, done, UINT64_MAX) != 0) {
  }
  for (int i = 0; i < 2; i++) {
    if (waited[i].handle != 0)
      s->hsa.signal_destroy(waited[i]);
  }
  s->hsa.signal_destroy(done);
}

START_TEST(barriers_wait) {
  session s = {0};
  open_runtime(&s);
  for (size_t i = 0; i < sizeof barriers / sizeof barriers[0]; i++) {
    hsa_queue_t *queue;
    tj_status status = tj_hsa_queue_create(&s.hsa, &s.error, s.agents.gpu[0].agent, 64, HSA_QUEUE_TYPE_SINGLE,
                                           fail_queue, NULL, UINT32_MAX, UINT32_MAX, &queue);
    ck_assert_int_eq(status, TJ_OK);
    check_barrier(&s, queue, &barriers[i]);
    s.hsa.queue_destroy(queue);
  }
  s.hsa.shut_down();
}
END_TEST

/* --- handlers and counters --- */

static hsa_status_t ignore_event(const hsa_amd_event_t *event, void *data) {
  (void)event, (void)data;
  return HSA_STATUS_ERROR;
}

START_TEST(handlers_are_so_many) {
  enum { MOST = 16 };
  for (int round = 0; round < 2; round++) {
    session s = {0};
    int taken = 0;
    open_runtime(&s);
    while (taken <= MOST && s.hsa.amd_register_system_event_handler(ignore_event, NULL) == HSA_STATUS_SUCCESS)
      taken++;
    ck_assert_int_eq(taken, MOST);
    s.hsa.shut_down();
  }
}
END_TEST

/* No more are written than there are, nor than there is room for. */
START_TEST(counters_have_room) {
  enum { ROOM = 100 };
  static const size_t capacity[] = {0, 1, 2, ROOM};
  tj_rt_device *device;
  tj_rt_error error = {0};
  ck_assert_msg(tj_rt_open("sim:gfx942", NULL, &device, &error) == TJ_OK, "%s", error.text);
  size_t count = tj_rt_counters(device, NULL, 0);
  ck_assert(2 < count && count < ROOM);
  for (size_t i = 0; i < sizeof capacity / sizeof capacity[0]; i++) {
    tj_rt_counter counters[ROOM] = {{NULL, 0}};
    size_t written = capacity[i] < count ? capacity[i] : count;
    ck_assert_uint_eq(tj_rt_counters(device, counters, capacity[i]), count);
    for (size_t k = 0; k < ROOM; k++)
      ck_assert_msg((counters[k].name != NULL) == (k < written), "counter %zu of %zu", k, written);
  }
  tj_rt_close(device);
}
END_TEST

/* --- names of instruction sets --- */

/* How long the name is said to be. */
static uint32_t said_length;

static hsa_status_t one_agent(hsa_status_t (*callback)(hsa_agent_t, void *), void *data) {
  return callback((hsa_agent_t){1}, data);
}

static hsa_status_t one_isa(hsa_agent_t agent, hsa_status_t (*callback)(hsa_isa_t, void *), void *data) {
  return callback((hsa_isa_t){agent.handle}, data);
}

static hsa_status_t gpu_info(hsa_agent_t agent, hsa_agent_info_t attribute, void *value) {
  (void)agent;
  if (attribute == HSA_AGENT_INFO_DEVICE)
    *(hsa_device_type_t *)value = HSA_DEVICE_TYPE_GPU;
  else
    *(hsa_agent_feature_t *)value = HSA_AGENT_FEATURE_KERNEL_DISPATCH;
  return HSA_STATUS_SUCCESS;
}

static hsa_status_t isa_info(hsa_isa_t isa, hsa_isa_info_t attribute, void *value) {
  static const char name[] = "amdgcn-amd-amdhsa--gfx942";
  (void)isa;
  if (attribute == HSA_ISA_INFO_NAME_LENGTH)
    *(uint32_t *)value = said_length;
  else
    memcpy(value, name, sizeof name);
  return HSA_STATUS_SUCCESS;
}

/* A name is asked for only where it fits with its end. */
START_TEST(long_names_are_left) {
  static const struct {
    uint32_t length;
    const char *target;
  } rows[] = {{25, "gfx942"}, {255, "gfx942"}, {256, ""}, {257, ""}, {UINT32_MAX, ""}};
  const tj_hsa hsa = {.iterate_agents = one_agent,
                      .agent_get_info = gpu_info,
                      .agent_iterate_isas = one_isa,
                      .isa_get_info_alt = isa_info};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tj_hsa_agents agents;
    tj_rt_error error;
    said_length = rows[i].length;
    ck_assert_int_eq(tj_hsa_find_agents(&hsa, &agents, &error), TJ_OK);
    ck_assert_uint_eq(agents.count, 1);
    ck_assert_str_eq(agents.gpu[0].target, rows[i].target);
  }
}
END_TEST

int main(void) {
  const TTest *const tests[] = {barriers_wait, handlers_are_so_many, counters_have_room, long_names_are_left};
  return run_suite(suite_of("hsa_runtime", tests, sizeof tests / sizeof tests[0]));
}
