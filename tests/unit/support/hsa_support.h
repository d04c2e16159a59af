/* SPDX-License-Identifier: MIT */
/* What tests of the simulated HSA runtime share that are clients of its functions: the agents and pools that there
 * are, memory, signals. */
#ifndef TJ_TESTS_HSA_SUPPORT_H
#define TJ_TESTS_HSA_SUPPORT_H

#include "tests/unit/support/suite.h"

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdint.h>
#include <stdlib.h>

enum { A_WHILE = 20000000, MOST_GPUS = 16 };

typedef struct {
  hsa_agent_t cpu, gpu[MOST_GPUS];
  uint32_t count;
  hsa_amd_memory_pool_t system, kernarg, local, group; /* the last two of gpu[0] */
} machine;

static inline void expect(hsa_status_t status, const char *what) {
  ck_assert_msg(status == HSA_STATUS_SUCCESS, "%s: %d", what, (int)status);
}

static inline hsa_status_t add_agent(hsa_agent_t agent, void *data) {
  machine *m = data;
  hsa_device_type_t type;
  expect(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type), "type");
  if (type == HSA_DEVICE_TYPE_CPU)
    m->cpu = agent;
  else
    m->gpu[m->count++] = agent;
  return HSA_STATUS_SUCCESS;
}

static inline hsa_status_t add_pool(hsa_amd_memory_pool_t pool, void *data) {
  machine *m = data;
  hsa_amd_segment_t segment;
  uint32_t flags;
  expect(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment), "segment");
  expect(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags), "flags");
  if (segment == HSA_AMD_SEGMENT_GROUP)
    m->group = pool;
  else if ((flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED) != 0)
    m->local = pool;
  else if ((flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT) != 0)
    m->kernarg = pool;
  else
    m->system = pool;
  return HSA_STATUS_SUCCESS;
}

static inline machine open_machine(const char *agents) {
  machine m = {.count = 0};
  setenv("TILEJIT_HSASIM_AGENTS", agents, 1);
  expect(hsa_init(), "init");
  expect(hsa_iterate_agents(add_agent, &m), "agents");
  expect(hsa_amd_agent_iterate_memory_pools(m.cpu, add_pool, &m), "pools of the CPU");
  if (m.count > 0)
    expect(hsa_amd_agent_iterate_memory_pools(m.gpu[0], add_pool, &m), "pools of the GPU");
  return m;
}

static inline void *allocate(hsa_amd_memory_pool_t pool, size_t size) {
  void *block;
  expect(hsa_amd_memory_pool_allocate(pool, size, 0, &block), "memory");
  return block;
}

static inline hsa_signal_t new_signal(int64_t value) {
  hsa_signal_t signal;
  expect(hsa_signal_create(value, 0, NULL, &signal), "a signal");
  return signal;
}

static inline int64_t wait_until_below(hsa_signal_t signal, int64_t value, uint64_t timeout) {
  return hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, value, timeout, HSA_WAIT_STATE_BLOCKED);
}

static inline void wait_for_zero(hsa_signal_t signal) {
  while (wait_until_below(signal, 1, UINT64_MAX) > 0) {
  }
}

#endif
