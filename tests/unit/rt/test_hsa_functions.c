/* SPDX-License-Identifier: MIT */
/* Functions of the simulated HSA runtime that the library itself does not call, as other clients of HSA do: signals
 * and their handlers, copies in flight, who may touch memory, what addresses belong to. */
#include "tests/unit/support/hsa_support.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

/* --- signals --- */

typedef struct {
  hsa_signal_t signal;
  int64_t value;
} change;

static void *change_by_address(void *data) {
  const change *c = data;
  volatile hsa_signal_value_t *value;
  expect(hsa_amd_signal_value_pointer(c->signal, &value), "address");
  __atomic_store_n(value, c->value, __ATOMIC_RELEASE);
  return NULL;
}

START_TEST(signals_are_numbers) {
  open_machine("gfx90a");
  hsa_signal_t signal = new_signal(5);
  hsa_signal_add_relaxed(signal, 10);
  hsa_signal_subtract_relaxed(signal, 3);
  hsa_signal_add_scacq_screl(signal, -4);
  ck_assert_int_eq(hsa_signal_load_relaxed(signal), 8);
  hsa_signal_silent_store_relaxed(signal, -7);
  ck_assert_int_eq(hsa_signal_load_scacquire(signal), -7);
  ck_assert_int_eq(hsa_signal_wait_relaxed(signal, HSA_SIGNAL_CONDITION_EQ, -7, UINT64_MAX, HSA_WAIT_STATE_ACTIVE),
                   -7);
  hsa_signal_destroy(signal);
  hsa_shut_down();
}
END_TEST

/* Nobody tells who waits that the value has changed. */
START_TEST(values_change_by_address) {
  open_machine("gfx90a");
  pthread_t thread;
  change c = {new_signal(1), 0};
  volatile hsa_signal_value_t *value;
  expect(hsa_amd_signal_value_pointer(c.signal, &value), "address");
  ck_assert_int_eq(*value, 1);
  pthread_create(&thread, NULL, change_by_address, &c);
  wait_for_zero(c.signal);
  pthread_join(thread, NULL);
  hsa_signal_destroy(c.signal);
  hsa_shut_down();
}
END_TEST

/* --- handlers --- */

typedef struct {
  atomic_int calls;
  atomic_int_fast64_t value;
  int most;
  hsa_signal_t done;
} observer;

static bool observe(hsa_signal_value_t value, void *data) {
  observer *o = data;
  atomic_store(&o->value, value);
  bool is_last = atomic_fetch_add(&o->calls, 1) + 1 >= o->most;
  if (is_last)
    hsa_signal_subtract_relaxed(o->done, 1);
  return !is_last;
}

static const struct {
  hsa_signal_condition_t condition;
  int64_t compare, first, second; /* the condition holds of the second value only */
  int calls;                      /* how often the handler wants to be called */
} handler_rows[] = {
    {HSA_SIGNAL_CONDITION_EQ, 3, 1, 3, 1},  {HSA_SIGNAL_CONDITION_NE, 1, 1, 7, 1},
    {HSA_SIGNAL_CONDITION_LT, 1, 1, 0, 1},  {HSA_SIGNAL_CONDITION_LT, 1, 2, -5, 3},
    {HSA_SIGNAL_CONDITION_GTE, 4, 3, 4, 1}, {HSA_SIGNAL_CONDITION_GTE, 4, 3, 9, 2},
};

START_TEST(handlers_are_called_when_it_holds) {
  open_machine("gfx90a");
  for (size_t i = 0; i < sizeof handler_rows / sizeof handler_rows[0]; i++) {
    observer o = {.most = handler_rows[i].calls, .done = new_signal(1)};
    hsa_signal_t signal = new_signal(handler_rows[i].first);
    expect(hsa_amd_signal_async_handler(signal, handler_rows[i].condition, handler_rows[i].compare, observe, &o),
           "handler");
    ck_assert_int_eq(wait_until_below(o.done, 1, A_WHILE / 10), 1);
    hsa_signal_store_relaxed(signal, handler_rows[i].second);
    wait_for_zero(o.done);
    ck_assert_int_eq(atomic_load(&o.calls), handler_rows[i].calls);
    ck_assert_int_eq(atomic_load(&o.value), handler_rows[i].second);
    hsa_signal_destroy(signal);
    hsa_signal_destroy(o.done);
  }
  hsa_shut_down();
}
END_TEST

/* The signal may be destroyed once its value is what the handler waits for, and the runtime with handlers that wait.
 */
START_TEST(handlers_outlive_their_signals) {
  for (int round = 0; round < 20; round++) {
    open_machine("gfx90a");
    observer o = {.most = 1, .done = new_signal(1)};
    hsa_signal_t signal = new_signal(1), other = new_signal(1);
    expect(hsa_amd_signal_async_handler(other, HSA_SIGNAL_CONDITION_LT, 1, observe, NULL), "never called");
    expect(hsa_amd_signal_async_handler(signal, HSA_SIGNAL_CONDITION_LT, 1, observe, &o), "handler");
    hsa_signal_store_screlease(signal, 0);
    hsa_signal_destroy(signal);
    wait_for_zero(o.done);
    hsa_signal_destroy(other);
    hsa_signal_destroy(o.done);
    expect(hsa_shut_down(), "the end");
  }
}
END_TEST

/* --- copies --- */

enum { SIDE = 16, BLOCK = SIDE * SIDE * SIDE };

static void fill(unsigned char *block, unsigned seed) {
  for (unsigned i = 0; i < BLOCK; i++)
    block[i] = (unsigned char)(i * 31 + i / 251 + seed);
}

/* A chain: the third copy is submitted first, and each waits for the one before it. */
START_TEST(copies_wait_for_signals) {
  enum { LINKS = 3 };
  machine m = open_machine("gfx90a");
  unsigned char *block[LINKS + 1];
  hsa_signal_t begin[2] = {new_signal(1), new_signal(1)}, done[LINKS];
  for (unsigned i = 0; i <= LINKS; i++)
    fill(block[i] = allocate(i == 0 ? m.system : m.local, BLOCK), i);
  for (unsigned i = 0; i < LINKS; i++)
    done[i] = new_signal(1);
  for (unsigned i = LINKS; i-- > 0;)
    expect(hsa_amd_memory_async_copy(block[i + 1], m.gpu[0], block[i], m.cpu, BLOCK, i == 0 ? 2 : 1,
                                     i == 0 ? begin : &done[i - 1], done[i]),
           "copy");
  hsa_signal_store_relaxed(begin[1], 0);
  ck_assert_int_eq(wait_until_below(done[0], 1, A_WHILE / 10), 1);
  ck_assert(memcmp(block[0], block[1], BLOCK) != 0);
  hsa_signal_store_relaxed(begin[0], 0);
  wait_for_zero(done[LINKS - 1]);
  ck_assert(memcmp(block[0], block[LINKS], BLOCK) == 0);
  for (unsigned i = 0; i <= LINKS; i++)
    hsa_amd_memory_pool_free(block[i]);
  for (unsigned i = 0; i < LINKS; i++)
    hsa_signal_destroy(done[i]);
  hsa_signal_destroy(begin[0]);
  hsa_signal_destroy(begin[1]);
  hsa_shut_down();
}
END_TEST

/* Times are noted where it has been asked for. */
START_TEST(copies_have_times) {
  machine m = open_machine("gfx90a");
  void *from = allocate(m.system, BLOCK), *to = allocate(m.local, BLOCK);
  for (int is_noted = 0; is_noted < 2; is_noted++) {
    hsa_amd_profiling_async_copy_time_t time = {0};
    hsa_signal_t done = new_signal(1);
    uint64_t before, after;
    hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &before);
    expect(hsa_amd_profiling_async_copy_enable(is_noted != 0), "times");
    expect(hsa_amd_memory_async_copy(to, m.gpu[0], from, m.cpu, BLOCK, 0, NULL, done), "copy");
    wait_for_zero(done);
    hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &after);
    ck_assert_int_eq(hsa_amd_profiling_get_async_copy_time(done, &time),
                     is_noted ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR);
    if (is_noted)
      ck_assert(before <= time.start && time.start <= time.end && time.end <= after);
    hsa_signal_destroy(done);
  }
  hsa_amd_memory_pool_free(from);
  hsa_amd_memory_pool_free(to);
  hsa_shut_down();
}
END_TEST

static const struct {
  hsa_dim3_t to, from, range;
  size_t to_pitch, to_slice, from_pitch, from_slice;
  bool is_right;
} boxes[] = {
    {{0, 0, 0}, {0, 0, 0}, {5, 3, 2}, 16, 256, 16, 256, true},
    {{3, 1, 2}, {2, 4, 1}, {5, 3, 2}, 16, 256, 16, 256, true},
    {{1, 0, 0}, {7, 2, 3}, {11, 4, 3}, 11, 44, 32, 320, true},
    {{9, 9, 9}, {9, 9, 9}, {0, 3, 2}, 16, 256, 16, 256, true}, /* nothing */
    {{0, 0, 0}, {0, 0, 0}, {17, 2, 1}, 16, 256, 32, 256, false},
    {{0, 0, 0}, {0, 0, 0}, {4, 4, 2}, 16, 48, 16, 256, false},
    {{0, 0, 15}, {0, 0, 0}, {16, 16, 2}, 16, 256, 16, 256, false},
    {{0, 0, 0}, {1, 0, 15}, {16, 16, 1}, 16, 256, 16, 256, false},
    {{0, 0, 2}, {0, 0, 0}, {1, 1, 1}, 16, SIZE_MAX / 2 + 1, 16, 256, false},
};

static void copy_by_byte(unsigned char *to, const unsigned char *from, size_t row) {
  for (uint32_t z = 0; z < boxes[row].range.z; z++) {
    for (uint32_t y = 0; y < boxes[row].range.y; y++) {
      for (uint32_t x = 0; x < boxes[row].range.x; x++)
        to[boxes[row].to.x + x + (boxes[row].to.y + y) * boxes[row].to_pitch +
           (boxes[row].to.z + z) * boxes[row].to_slice] =
            from[boxes[row].from.x + x + (boxes[row].from.y + y) * boxes[row].from_pitch +
                 (boxes[row].from.z + z) * boxes[row].from_slice];
    }
  }
}

START_TEST(boxes_are_copied) {
  machine m = open_machine("gfx90a");
  unsigned char *from = allocate(m.local, BLOCK), *to = allocate(m.local, BLOCK), *want = malloc(BLOCK);
  for (size_t i = 0; i < sizeof boxes / sizeof boxes[0]; i++) {
    hsa_signal_t done = new_signal(1);
    hsa_pitched_ptr_t target = {to, boxes[i].to_pitch, boxes[i].to_slice};
    hsa_pitched_ptr_t source = {from, boxes[i].from_pitch, boxes[i].from_slice};
    fill(from, 1);
    fill(to, 2);
    fill(want, 2);
    hsa_status_t status = hsa_amd_memory_async_copy_rect(&target, &boxes[i].to, &source, &boxes[i].from,
                                                         &boxes[i].range, m.gpu[0], hsaDeviceToDevice, 0, NULL, done);
    ck_assert_msg((status == HSA_STATUS_SUCCESS) == boxes[i].is_right, "box %zu: %d", i, (int)status);
    if (boxes[i].is_right) {
      copy_by_byte(want, from, i);
      wait_for_zero(done);
    }
    ck_assert_msg(memcmp(to, want, BLOCK) == 0, "box %zu", i);
    hsa_signal_destroy(done);
  }
  free(want);
  hsa_amd_memory_pool_free(from);
  hsa_amd_memory_pool_free(to);
  hsa_shut_down();
}
END_TEST

/* --- memory --- */

START_TEST(pools_say_who_reaches_them) {
  machine m = open_machine("gfx90a gfx942");
  const struct {
    hsa_agent_t agent;
    hsa_amd_memory_pool_t pool;
    hsa_amd_memory_pool_access_t access;
    uint32_t hops;
  } rows[] = {
      {m.cpu, m.system, HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT, 0},
      {m.cpu, m.local, HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT, 1},
      {m.cpu, m.group, HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED, 1},
      {m.gpu[0], m.system, HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT, 1},
      {m.gpu[0], m.local, HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT, 0},
      {m.gpu[0], m.group, HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT, 0},
      {m.gpu[1], m.local, HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT, 1},
      {m.gpu[1], m.group, HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED, 1},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    hsa_amd_memory_pool_access_t access;
    uint32_t hops;
    expect(hsa_amd_agent_memory_pool_get_info(rows[i].agent, rows[i].pool, HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS,
                                              &access),
           "access");
    expect(hsa_amd_agent_memory_pool_get_info(rows[i].agent, rows[i].pool,
                                              HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS, &hops),
           "hops");
    ck_assert_msg(access == rows[i].access && hops == rows[i].hops, "row %zu", i);
  }
  void *block;
  ck_assert_int_eq(hsa_amd_memory_pool_allocate(m.group, 64, 0, &block), HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
  hsa_shut_down();
}
END_TEST

static void check_pointer(const void *at, const void *base, size_t size, hsa_amd_pointer_type_t type,
                          hsa_agent_t owner, uint32_t agent_count) {
  hsa_amd_pointer_info_t info = {.size = sizeof info};
  uint32_t count = 99;
  hsa_agent_t *agents = NULL;
  expect(hsa_amd_pointer_info(at, &info, malloc, &count, &agents), "pointer");
  ck_assert_int_eq(info.type, type);
  ck_assert_uint_eq(count, agent_count);
  if (type != HSA_EXT_POINTER_TYPE_UNKNOWN) {
    ck_assert_ptr_eq(info.agentBaseAddress, base);
    ck_assert_uint_eq(info.sizeInBytes, size);
    ck_assert_uint_eq(info.agentOwner.handle, owner.handle);
  }
  free(agents);
}

START_TEST(addresses_belong_to_blocks) {
  machine m = open_machine("gfx90a gfx942");
  char own[256];
  void *locked, *again;
  char *local = allocate(m.local, 1000);
  check_pointer(local, local, 1000, HSA_EXT_POINTER_TYPE_HSA, m.gpu[0], 1);
  check_pointer(local + 999, local, 1000, HSA_EXT_POINTER_TYPE_HSA, m.gpu[0], 1);
  check_pointer(local + 1000, NULL, 0, HSA_EXT_POINTER_TYPE_UNKNOWN, m.cpu, 0);
  expect(hsa_amd_agents_allow_access(1, &m.gpu[1], NULL, local), "access");
  check_pointer(local, local, 1000, HSA_EXT_POINTER_TYPE_HSA, m.gpu[0], 2);
  ck_assert_int_ne(hsa_amd_agents_allow_access(1, &m.gpu[1], NULL, local + 1), HSA_STATUS_SUCCESS);
  expect(hsa_amd_memory_lock_to_pool(own, sizeof own, &m.gpu[0], 1, m.system, 0, &locked), "lock");
  ck_assert_ptr_eq(locked, own);
  check_pointer(own + 100, own, sizeof own, HSA_EXT_POINTER_TYPE_LOCKED, m.cpu, 1);
  expect(hsa_amd_memory_lock(own, 64, NULL, 0, &again), "lock");
  check_pointer(own, own, 64, HSA_EXT_POINTER_TYPE_LOCKED, m.cpu, 3);
  check_pointer(own + 64, own, sizeof own, HSA_EXT_POINTER_TYPE_LOCKED, m.cpu, 1);
  expect(hsa_amd_memory_unlock(own), "unlock");
  expect(hsa_amd_memory_unlock(own), "unlock");
  check_pointer(own, NULL, 0, HSA_EXT_POINTER_TYPE_UNKNOWN, m.cpu, 0);
  ck_assert_int_ne(hsa_amd_memory_unlock(own), HSA_STATUS_SUCCESS);
  ck_assert_int_ne(hsa_amd_memory_pool_free(own), HSA_STATUS_SUCCESS);
  expect(hsa_amd_memory_pool_free(local), "free");
  hsa_shut_down();
}
END_TEST

/* The application's own memory is no target of a copy before it is locked. */
START_TEST(copies_know_their_memory) {
  machine m = open_machine("gfx90a");
  unsigned char *own = malloc(BLOCK), *local = allocate(m.local, BLOCK);
  void *locked;
  hsa_signal_t done = new_signal(1);
  fill(own, 5);
  ck_assert_int_ne(hsa_amd_memory_async_copy(local, m.gpu[0], own, m.cpu, BLOCK, 0, NULL, done), HSA_STATUS_SUCCESS);
  expect(hsa_amd_memory_lock(own, BLOCK, NULL, 0, &locked), "lock");
  ck_assert_int_ne(hsa_amd_memory_async_copy(local, m.gpu[0], own, m.cpu, BLOCK + 1, 0, NULL, done),
                   HSA_STATUS_SUCCESS);
  ck_assert_int_eq(hsa_signal_load_relaxed(done), 1);
  expect(hsa_amd_memory_async_copy(local, m.gpu[0], locked, m.cpu, BLOCK, 0, NULL, done), "copy");
  wait_for_zero(done);
  ck_assert(memcmp(own, local, BLOCK) == 0);
  hsa_amd_memory_unlock(own);
  free(own);
  hsa_amd_memory_pool_free(local);
  hsa_signal_destroy(done);
  hsa_shut_down();
}
END_TEST

int main(void) {
  const TTest *const tests[] = {signals_are_numbers,
                                values_change_by_address,
                                handlers_are_called_when_it_holds,
                                handlers_outlive_their_signals,
                                copies_wait_for_signals,
                                copies_have_times,
                                boxes_are_copied,
                                pools_say_who_reaches_them,
                                addresses_belong_to_blocks,
                                copies_know_their_memory};
  return run_suite(suite_of("hsa_functions", tests, sizeof tests / sizeof tests[0]));
}
