/* SPDX-License-Identifier: MIT */
/* The GPU agents of an HSA runtime, and what a device needs to know of one. */
#ifndef TJ_RT_HSA_AGENT_H
#define TJ_RT_HSA_AGENT_H

#include "rt/hsa/hsa_library.h"

enum { TJ_HSA_MOST_AGENTS = 64 };

typedef struct {
  hsa_agent_t agent;
  char target[64]; /* the target ID: gfx90a:sramecc+:xnack- */
} tj_hsa_gpu;

typedef struct {
  hsa_agent_t cpu;
  tj_hsa_gpu gpu[TJ_HSA_MOST_AGENTS];
  uint32_t count;
} tj_hsa_agents;

/* Memory pools: the GPU's own, and host memory for argument blocks. */
typedef struct {
  hsa_amd_memory_pool_t local, kernarg;
  size_t local_bytes;
} tj_hsa_pools;

/* The agents that can run kernels, in the runtime's order. */
tj_status tj_hsa_find_agents(const tj_hsa *hsa, tj_hsa_agents *agents, tj_rt_error *error);

tj_status tj_hsa_find_pools(const tj_hsa *hsa, hsa_agent_t cpu, hsa_agent_t gpu, tj_hsa_pools *pools,
                            tj_rt_error *error);

/* Fills everything but the name. */
void tj_hsa_describe(const tj_hsa *hsa, const tj_hsa_agents *agents, uint32_t number, tj_rt_info *info);

#endif
