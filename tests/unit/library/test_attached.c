/* SPDX-License-Identifier: MIT */
/* Memory, agents and queues of the application's in launches of the library, and copies in flight. The application is
 * this test, which has an HSA runtime of its own: the simulator, as the library has it. */
#include "tests/unit/support/library_support.h"

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { ROWS = 24, COLUMNS = 40, ELEMENTS = ROWS * COLUMNS, BYTES = ELEMENTS * 4, MOST_AGENTS = 8 };

static const char program_text[] =
    "param M in 1..512 multiple 2, N in 1..M*M, K in 0..9\n"
    "kernel transposed(src: i32 @ (M,N):(N,1), dst: i32 @ (M,N):(1,M)) = copy(src, dst)";

static const char *const devices[] = {"host", "sim:gfx942", "sim:gfx1100"};

enum { DEVICES = sizeof devices / sizeof devices[0] };

/* --- the application's runtime --- */

typedef struct {
  hsa_agent_t cpu, gpu[MOST_AGENTS];
  uint32_t count;
} runtime;

static hsa_status_t add_agent(hsa_agent_t agent, void *data) {
  runtime *r = data;
  hsa_device_type_t type;
  hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
  if (type == HSA_DEVICE_TYPE_CPU)
    r->cpu = agent;
  else if (r->count < MOST_AGENTS)
    r->gpu[r->count++] = agent;
  return HSA_STATUS_SUCCESS;
}

static runtime open_runtime(void) {
  runtime r = {0};
  ck_assert_int_eq(hsa_init(), HSA_STATUS_SUCCESS);
  ck_assert_int_eq(hsa_iterate_agents(add_agent, &r), HSA_STATUS_SUCCESS);
  ck_assert_uint_ge(r.count, 2);
  return r;
}

static hsa_status_t take_pool(hsa_amd_memory_pool_t pool, void *data) {
  *(hsa_amd_memory_pool_t *)data = pool;
  return HSA_STATUS_SUCCESS;
}

static void *allocate(hsa_agent_t agent, size_t size) {
  hsa_amd_memory_pool_t pool;
  void *block;
  hsa_amd_agent_iterate_memory_pools(agent, take_pool, &pool);
  ck_assert_int_eq(hsa_amd_memory_pool_allocate(pool, size, 0, &block), HSA_STATUS_SUCCESS);
  return block;
}

/* A queue, and the device that is told when it fails; NULL: nobody is. */
typedef struct {
  hsa_queue_t *queue;
  tj_device *device;
} own_queue;

static void queue_failed(hsa_status_t status, hsa_queue_t *queue, void *data) {
  (void)status, (void)queue;
  own_queue *own = data;
  tj_device_lose(own->device, "the application's queue failed");
}

static void open_queue(own_queue *own, hsa_agent_t agent, hsa_queue_type32_t type) {
  ck_assert_int_eq(hsa_queue_create(agent, 64, type, queue_failed, own, UINT32_MAX, UINT32_MAX, &own->queue),
                   HSA_STATUS_SUCCESS);
}

/* A packet of the application's own: it waits for one signal, and for all before it in the queue, and counts the
 * other down; 0: there is none. */
static void put_barrier(const own_queue *own, hsa_signal_t awaited, hsa_signal_t completed) {
  uint64_t index = hsa_queue_add_write_index_screlease(own->queue, 1);
  hsa_barrier_and_packet_t *packet = (hsa_barrier_and_packet_t *)own->queue->base_address + index % own->queue->size;
  uint16_t header = HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE | 1 << HSA_PACKET_HEADER_BARRIER;
  memset(packet->dep_signal, 0, sizeof packet->dep_signal);
  packet->dep_signal[0] = awaited;
  packet->completion_signal = completed;
  __atomic_store_n(&packet->header, header, __ATOMIC_RELEASE);
  hsa_signal_store_screlease(own->queue->doorbell_signal, (hsa_signal_value_t)index);
}

static hsa_signal_t new_signal(void) {
  hsa_signal_t signal;
  ck_assert_int_eq(hsa_signal_create(1, 0, NULL, &signal), HSA_STATUS_SUCCESS);
  return signal;
}

/* Waits for everything that is in the queue. */
static void drain(const own_queue *own) {
  hsa_signal_t done = new_signal();
  put_barrier(own, (hsa_signal_t){0}, done);
  while (hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) > 0) {
  }
  hsa_signal_destroy(done);
}

/* --- what every test needs --- */

typedef struct {
  tj_context *context;
  tj_device *device;
  tj_code *code;
} session;

static void expect(const session *s, tj_status status) {
  expect_ok(s->context, status, program_text);
}

static session session_on(tj_context *context, tj_device *device) {
  session s = {.context = context, .device = device};
  s.code = compile_for(context, device, program_text, NULL, 0);
  return s;
}

static session open_session(const char *device) {
  tj_context *context = new_context(NULL);
  return session_on(context, open_device(context, device));
}

static session attach_session(hsa_agent_t agent, hsa_queue_t *queue) {
  tj_context *context = new_context(NULL);
  tj_hsa_attachment attachment = {TILEJIT_HSASIM, agent.handle, queue};
  tj_device *device;
  expect_ok(context, tj_device_attach(context, &attachment, &device), "attaching");
  return session_on(context, device);
}

static void close_session(session *s) {
  tj_code_destroy(s->code);
  tj_device_close(s->device);
  tj_context_destroy(s->context);
}

static void fill(int32_t data[ELEMENTS], int32_t first) {
  for (int i = 0; i < ELEMENTS; i++)
    data[i] = first + i;
}

/* Rows of first, first + 1, …, turned `times` times from ROWS x COLUMNS to COLUMNS x ROWS and so on. */
static bool is_matrix(const int32_t data[ELEMENTS], int32_t first, int times) {
  bool is_right = true;
  for (int i = 0; i < ELEMENTS; i++)
    is_right = is_right && data[i] == first + (times % 2 == 0 ? i : i % ROWS * COLUMNS + i / ROWS);
  return is_right;
}

static tj_buffer *new_buffer(const session *s) {
  tj_buffer *buffer;
  expect(s, tj_buffer_create(s->context, s->device, BYTES, &buffer));
  return buffer;
}

/* A transposition in flight: of ROWS rows, or back. */
static tj_fence *submit(const session *s, bool is_back, tj_buffer *from, tj_buffer *to) {
  tj_launch *launch;
  tj_fence *fence;
  expect(s, tj_launch_create(s->context, s->code, &launch));
  expect(s, tj_launch_set_parameter(launch, "M", is_back ? COLUMNS : ROWS));
  expect(s, tj_launch_set_parameter(launch, "N", is_back ? ROWS : COLUMNS));
  expect(s, tj_launch_bind_buffer(launch, "src", from));
  expect(s, tj_launch_bind_buffer(launch, "dst", to));
  expect(s, tj_launch_submit(launch, s->device, &fence));
  tj_launch_destroy(launch);
  return fence;
}

static void finish(const session *s, tj_fence *fence) {
  expect(s, tj_fence_wait(fence, NULL));
  tj_fence_destroy(fence);
}

/* --- imports --- */

/* What the owner sees when it has its memory back. */
typedef struct {
  const int32_t *data;
  int calls;
  bool was_right;
} owner;

static void give_back(void *user) {
  owner *o = user;
  o->calls++;
  o->was_right = is_matrix(o->data, 5, 1);
}

static void check_imports(const session *s, int32_t *from, int32_t *to) {
  owner source = {.data = from}, destination = {.data = to};
  tj_buffer *a, *b;
  fill(from, 5);
  memset(to, 0, BYTES);
  expect(s, tj_buffer_import(s->context, s->device, from, BYTES, give_back, &source, &a));
  expect(s, tj_buffer_import(s->context, s->device, to, BYTES, give_back, &destination, &b));
  ck_assert_ptr_eq(tj_buffer_address(a), from);
  ck_assert_uint_eq(tj_buffer_size(b), BYTES);
  tj_fence *fence = submit(s, false, a, b);
  tj_buffer_destroy(b);
  ck_assert_int_eq(destination.calls, 1);
  ck_assert(destination.was_right);
  finish(s, fence);
  ck_assert_int_eq(source.calls, 0);
  tj_buffer_destroy(a);
  ck_assert_int_eq(source.calls, 1);
  ck_assert_int_eq(destination.calls, 1);
  expect_code(s->context, tj_buffer_import(s->context, s->device, NULL, 1, give_back, &source, &a), 6016, "none");
  ck_assert_int_eq(source.calls, 1);
  expect(s, tj_buffer_import(s->context, s->device, NULL, 0, NULL, NULL, &a));
  tj_buffer_destroy(a);
}

START_TEST(memory_of_the_process_is_imported) {
  int32_t from[ELEMENTS], to[ELEMENTS];
  session s = open_session("host");
  check_imports(&s, from, to);
  close_session(&s);
}
END_TEST

START_TEST(memory_of_an_agent_is_imported) {
  runtime r = open_runtime();
  for (uint32_t i = 0; i < 2; i++) {
    session s = attach_session(r.gpu[i], NULL);
    int32_t *from = allocate(r.gpu[i], BYTES), *to = allocate(r.gpu[i], BYTES);
    check_imports(&s, from, to);
    close_session(&s);
    hsa_amd_memory_pool_free(from);
    hsa_amd_memory_pool_free(to);
  }
  hsa_shut_down();
}
END_TEST

/* --- queues --- */

START_TEST(launches_are_packets_of_the_applications_queue) {
  runtime r = open_runtime();
  own_queue own = {0};
  open_queue(&own, r.gpu[_i], HSA_QUEUE_TYPE_MULTI);
  session s = attach_session(r.gpu[_i], own.queue);
  tj_device_properties properties = tj_device_properties_of(s.device);
  char name[16];
  snprintf(name, sizeof name, "hsa:%d", _i);
  ck_assert_str_eq(properties.name, name);
  ck_assert_str_eq(properties.target, tj_device_target(s.device));
  ck_assert(properties.parallelism > 0 && properties.memory > 0 && strlen(properties.description) > 0);
  int32_t *from = allocate(r.gpu[_i], BYTES), *to = allocate(r.gpu[_i], BYTES);
  tj_buffer *a, *b;
  fill(from, 9);
  expect(&s, tj_buffer_import(s.context, s.device, from, BYTES, NULL, NULL, &a));
  expect(&s, tj_buffer_import(s.context, s.device, to, BYTES, NULL, NULL, &b));
  tj_fence *fence = submit(&s, false, a, b);
  drain(&own);
  ck_assert(is_matrix(to, 9, 1));
  finish(&s, fence);
  tj_buffer_destroy(a);
  tj_buffer_destroy(b);
  close_session(&s);
  drain(&own);
  hsa_amd_memory_pool_free(from);
  hsa_amd_memory_pool_free(to);
  hsa_queue_destroy(own.queue);
  hsa_shut_down();
}
END_TEST

/* An event of one queue, which launches in another wait for that were submitted earlier: on one agent, and on two. */
START_TEST(queues_wait_for_events) {
  runtime r = open_runtime();
  hsa_agent_t agent[] = {r.gpu[0], r.gpu[_i]};
  own_queue own[2] = {{0}};
  session s[2];
  int32_t *block[3];
  tj_buffer *from[2], *to[2];
  hsa_signal_t event = new_signal();
  for (int i = 0; i < 3; i++) {
    block[i] = allocate(r.gpu[0], BYTES);
    fill(block[i], i == 0 ? 7 : -1000);
    ck_assert_int_eq(hsa_amd_agents_allow_access(2, agent, NULL, block[i]), HSA_STATUS_SUCCESS);
  }
  for (int i = 0; i < 2; i++) {
    open_queue(&own[i], agent[i], HSA_QUEUE_TYPE_MULTI);
    s[i] = attach_session(agent[i], own[i].queue);
    expect(&s[i], tj_buffer_import(s[i].context, s[i].device, block[i], BYTES, NULL, NULL, &from[i]));
    expect(&s[i], tj_buffer_import(s[i].context, s[i].device, block[i + 1], BYTES, NULL, NULL, &to[i]));
  }
  put_barrier(&own[1], event, (hsa_signal_t){0});
  tj_fence *second = submit(&s[1], true, from[1], to[1]);
  tj_fence *first = submit(&s[0], false, from[0], to[0]);
  put_barrier(&own[0], (hsa_signal_t){0}, event);
  finish(&s[1], second);
  ck_assert(is_matrix(block[2], 7, 2));
  finish(&s[0], first);
  for (int i = 0; i < 2; i++) {
    tj_buffer_destroy(from[i]);
    tj_buffer_destroy(to[i]);
    close_session(&s[i]);
    hsa_queue_destroy(own[i].queue);
  }
  for (int i = 0; i < 3; i++)
    hsa_amd_memory_pool_free(block[i]);
  hsa_signal_destroy(event);
  hsa_shut_down();
}
END_TEST

START_TEST(attachments_are_checked) {
  runtime r = open_runtime();
  tj_context *context = new_context(NULL);
  tj_device *device;
  tj_hsa_attachment attachment = {TILEJIT_HSASIM, r.cpu.handle, NULL};
  expect_code(context, tj_device_attach(context, &attachment, &device), 6001, "unknown device of agent 0x");
  attachment = (tj_hsa_attachment){"libno-such-runtime.so", r.gpu[0].handle, NULL};
  expect_code(context, tj_device_attach(context, &attachment, &device), 6011, "libno-such-runtime.so");
  tj_context_destroy(context);
  hsa_shut_down();
}
END_TEST

/* The simulator stops kernels that execute more instructions than they may. */
START_TEST(applications_tell_that_their_queue_has_failed) {
  runtime r = open_runtime();
  own_queue own = {0};
  open_queue(&own, r.gpu[0], HSA_QUEUE_TYPE_MULTI);
  session s = attach_session(r.gpu[0], own.queue);
  own.device = s.device;
  int32_t data[ELEMENTS] = {0};
  tj_buffer *a = new_buffer(&s), *b = new_buffer(&s);
  expect(&s, tj_buffer_write(a, 0, data, BYTES));
  setenv("TILEJIT_HSASIM_BUDGET", "2", 1);
  tj_fence *bad = submit(&s, false, a, b), *copy = NULL;
  tj_status behind = tj_buffer_submit_read(b, 0, data, BYTES, &copy);
  expect_code(s.context, tj_fence_wait(bad, NULL), 6008, "the application's queue failed; the device is lost");
  unsetenv("TILEJIT_HSASIM_BUDGET");
  if (behind == TJ_OK)
    expect_code(s.context, tj_fence_wait(copy, NULL), 6008, "a launch before it failed");
  tj_fence_destroy(bad);
  tj_fence_destroy(copy);
  for (int again = 0; again < 2; again++) {
    expect_code(s.context, tj_buffer_read(b, 0, data, BYTES), 6008, "the device is lost");
    expect_code(s.context, tj_buffer_submit_read(b, 0, data, BYTES, &copy), 6008, "the device is lost");
  }
  tj_buffer_destroy(a);
  tj_buffer_destroy(b);
  close_session(&s);
  hsa_queue_destroy(own.queue);
  hsa_shut_down();
}
END_TEST

/* --- copies --- */

/* Writes, turns, copies, turns back and reads so often that slots are used again, and waits for nothing before. */
static bool run_chain(const session *s, int32_t first) {
  enum { ROUNDS = 30, STEPS = 5 };
  int32_t data[ELEMENTS], result[ELEMENTS] = {0};
  tj_fence *fence[ROUNDS * STEPS];
  tj_buffer *a = new_buffer(s), *b = new_buffer(s), *c = new_buffer(s);
  fill(data, first);
  for (int i = 0; i < ROUNDS; i++) {
    tj_fence **next = &fence[i * STEPS];
    if (i == 0)
      expect(s, tj_buffer_submit_write(a, 0, data, BYTES, next));
    else
      expect(s, tj_buffer_submit_copy(a, 0, c, 0, BYTES, next));
    next[1] = submit(s, false, a, b);
    expect(s, tj_buffer_submit_copy(a, 0, b, 0, BYTES / 2, &next[2]));
    expect(s, tj_buffer_submit_copy(a, BYTES / 2, b, BYTES / 2, BYTES / 2, &next[3]));
    next[4] = submit(s, true, a, c);
  }
  tj_fence *last;
  expect(s, tj_buffer_submit_read(c, 0, result, BYTES, &last));
  finish(s, last);
  for (int i = 0; i < ROUNDS * STEPS; i++)
    finish(s, fence[i]);
  tj_buffer_destroy(a);
  tj_buffer_destroy(b);
  tj_buffer_destroy(c);
  return is_matrix(result, first, 0);
}

START_TEST(copies_are_ordered_with_launches) {
  session s = open_session(devices[_i]);
  ck_assert(run_chain(&s, 100));
  close_session(&s);
}
END_TEST

START_TEST(copies_go_from_device_to_device) {
  session on[DEVICES];
  tj_buffer *buffer[DEVICES];
  int32_t data[ELEMENTS], result[ELEMENTS];
  tj_fence *fence;
  for (int i = 0; i < DEVICES; i++) {
    on[i] = open_session(devices[i]);
    buffer[i] = new_buffer(&on[i]);
  }
  fill(data, 77);
  expect(&on[1], tj_buffer_write(buffer[1], 0, data, BYTES));
  expect(&on[2], tj_buffer_copy(buffer[2], 0, buffer[1], 0, BYTES));
  expect(&on[0], tj_buffer_copy(buffer[0], 0, buffer[2], 0, BYTES));
  expect(&on[1], tj_buffer_copy(buffer[1], 8, buffer[0], 4, 400));
  expect(&on[1], tj_buffer_copy(buffer[1], 0, buffer[1], 2000, 4));
  expect(&on[0], tj_buffer_read(buffer[0], 0, result, BYTES));
  ck_assert(is_matrix(result, 77, 0));
  expect(&on[1], tj_buffer_read(buffer[1], 0, result, BYTES));
  ck_assert(result[0] == 577 && result[1] == 78 && result[2] == 78 && result[101] == 177 && result[102] == 179);
  expect_code(on[1].context, tj_buffer_submit_copy(buffer[1], 0, buffer[2], 0, 4, &fence), 4001, "of two devices");
  expect_code(on[1].context, tj_buffer_copy(buffer[1], 0, buffer[2], BYTES - 3, 4), 6002, "of a buffer of 3840");
  expect_code(on[1].context, tj_buffer_copy(buffer[1], 0, buffer[1], 96, 97), 6016, "overlaps");
  expect_code(on[1].context, tj_buffer_submit_read(buffer[1], 1, result, BYTES, &fence), 6002, "from offset 1 on");
  for (int i = 0; i < DEVICES; i++) {
    tj_buffer_destroy(buffer[i]);
    close_session(&on[i]);
  }
}
END_TEST

/* Copies behind a kernel that fails are not made, and later ones are. */
START_TEST(copies_behind_failures_are_given_up) {
  session s = open_session("sim:gfx942");
  int32_t data[ELEMENTS], result[ELEMENTS];
  tj_buffer *a = new_buffer(&s), *b = new_buffer(&s);
  fill(data, 3);
  memset(result, 0, BYTES);
  expect(&s, tj_buffer_write(a, 0, data, BYTES));
  setenv("TILEJIT_HSASIM_BUDGET", "2", 1);
  tj_fence *bad = submit(&s, false, a, b), *copy = NULL;
  tj_status behind = tj_buffer_submit_read(a, 0, result, BYTES, &copy);
  expect_code(s.context, tj_fence_wait(bad, NULL), 6008, "infinite loop");
  unsetenv("TILEJIT_HSASIM_BUDGET");
  ck_assert_int_eq(behind, TJ_OK);
  if (tj_fence_wait(copy, NULL) != TJ_OK)
    ck_assert_int_eq(result[0], 0);
  tj_fence_destroy(bad);
  tj_fence_destroy(copy);
  finish(&s, submit(&s, false, a, b));
  expect(&s, tj_buffer_submit_read(b, 0, result, BYTES, &copy));
  finish(&s, copy);
  ck_assert(is_matrix(result, 3, 1));
  tj_buffer_destroy(a);
  tj_buffer_destroy(b);
  close_session(&s);
}
END_TEST

/* --- what code takes --- */

START_TEST(code_tells_its_parameters_and_arguments) {
  session s = open_session("host");
  tj_parameter_value fixed = {"K", 3};
  tj_code *code = compile_for(s.context, s.device, program_text, &fixed, 1);
  ck_assert_uint_eq(tj_code_parameter_count(code), 3);
  ck_assert_ptr_null(tj_code_parameter(code, 3).name);
  for (size_t i = 0; i < 3; i++) {
    tj_parameter_info p = tj_code_parameter(code, i);
    ck_assert_int_eq(p.is_fixed, strcmp(p.name, "K") == 0);
    ck_assert_int_eq(p.is_needed, strcmp(p.name, "K") != 0);
    if (strcmp(p.name, "M") == 0)
      ck_assert(p.has_low && p.has_high && p.low <= 2 && p.low >= 1 && p.high == 512 && p.multiple == 2);
    if (strcmp(p.name, "N") == 0)
      ck_assert(p.has_low && !p.has_high && p.low == 1 && p.high == INT64_MAX && p.multiple == 1);
  }
  tj_argument source = tj_code_argument(code, 0), destination = tj_code_argument(code, 1);
  ck_assert_str_eq(source.name, "src");
  ck_assert_str_eq(source.dtype, "i32");
  ck_assert(source.is_read && !source.is_written && source.is_row_major && source.rank == 2);
  ck_assert(destination.is_written && destination.element_bytes == 4 && destination.element_count == -1);
  ck_assert_ptr_null(tj_code_argument(code, 2).name);
  tj_code_destroy(code);
  close_session(&s);
}
END_TEST

/* --- threads --- */

/* A thread with a queue of its own, on an agent that others use, too. */
typedef struct {
  pthread_t thread;
  hsa_agent_t agent;
  bool has_queue, is_right;
  int32_t first;
} worker;

static void *work(void *data) {
  worker *w = data;
  own_queue own = {0};
  if (w->has_queue)
    open_queue(&own, w->agent, HSA_QUEUE_TYPE_SINGLE);
  session s = attach_session(w->agent, own.queue);
  w->is_right = run_chain(&s, w->first);
  close_session(&s);
  if (w->has_queue)
    hsa_queue_destroy(own.queue);
  return NULL;
}

START_TEST(threads_have_queues_of_their_own) {
  runtime r = open_runtime();
  worker workers[] = {{.agent = r.gpu[0], .has_queue = true, .first = 1000},
                      {.agent = r.gpu[0], .has_queue = true, .first = 2000},
                      {.agent = r.gpu[1], .has_queue = true, .first = 3000},
                      {.agent = r.gpu[1], .first = 4000}};
  size_t count = sizeof workers / sizeof workers[0];
  for (size_t i = 0; i < count; i++)
    ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
  for (size_t i = 0; i < count; i++)
    pthread_join(workers[i].thread, NULL);
  for (size_t i = 0; i < count; i++)
    ck_assert_msg(workers[i].is_right, "thread %zu has wrong results", i);
  hsa_shut_down();
}
END_TEST

/* Launches and copies of two threads on one device; each has what it asked for in its order. */
static void *work_on_shared(void *data) {
  tj_device *device = ((session *)data)->device;
  session s = session_on(new_context(NULL), device);
  bool is_right = run_chain(&s, 500);
  tj_code_destroy(s.code);
  tj_context_destroy(s.context);
  return is_right ? data : NULL;
}

START_TEST(threads_share_a_device) {
  session s = open_session(devices[_i]);
  pthread_t thread[2];
  for (int i = 0; i < 2; i++)
    ck_assert_int_eq(pthread_create(&thread[i], NULL, work_on_shared, &s), 0);
  for (int i = 0; i < 2; i++) {
    void *result;
    pthread_join(thread[i], &result);
    ck_assert_ptr_nonnull(result);
  }
  close_session(&s);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("attached");
  TCase *tcase = tcase_create("attached");
  tcase_set_timeout(tcase, SUITE_SECONDS);
  tcase_add_test(tcase, memory_of_the_process_is_imported);
  tcase_add_test(tcase, memory_of_an_agent_is_imported);
  tcase_add_loop_test(tcase, launches_are_packets_of_the_applications_queue, 0, 2);
  tcase_add_loop_test(tcase, queues_wait_for_events, 0, 2);
  tcase_add_test(tcase, attachments_are_checked);
  tcase_add_test(tcase, applications_tell_that_their_queue_has_failed);
  tcase_add_loop_test(tcase, copies_are_ordered_with_launches, 0, DEVICES);
  tcase_add_test(tcase, copies_go_from_device_to_device);
  tcase_add_test(tcase, copies_behind_failures_are_given_up);
  tcase_add_test(tcase, code_tells_its_parameters_and_arguments);
  tcase_add_test(tcase, threads_have_queues_of_their_own);
  tcase_add_loop_test(tcase, threads_share_a_device, 0, DEVICES);
  suite_add_tcase(suite, tcase);
  return run_suite(suite);
}
