/* SPDX-License-Identifier: MIT */
/* The simulated HSA runtime: memory pools and copies. All memory is this process's own. */
#include "rt/sim/hsa/hsa_state.h"

#include <stdlib.h>

static const size_t pool_bytes = (size_t)1 << 36;

enum { ALIGNMENT = 4096, GRANULE = 4096, KERNARG_POOL = 1, FINE_POOL = 2, COARSE_POOL = 3, POOLS = 4 };

/* A pool's handle is its agent's times POOLS, and its kind. The CPU has the kernarg and the fine-grained pool, each
 * GPU a coarse-grained one. */
static hsa_amd_memory_pool_t pool_of(hsa_agent_t agent, uint64_t kind) {
  return (hsa_amd_memory_pool_t){agent.handle * POOLS + kind};
}

hsa_status_t hsa_amd_agent_iterate_memory_pools(hsa_agent_t agent,
                                                hsa_status_t (*callback)(hsa_amd_memory_pool_t pool, void *data),
                                                void *data) {
  if (agent.handle == 0 || agent.handle > tj_sim_agent_count())
    return HSA_STATUS_ERROR_INVALID_AGENT;
  if (tj_sim_agent_processor(agent.handle) != NULL)
    return callback(pool_of(agent, COARSE_POOL), data);
  hsa_status_t status = callback(pool_of(agent, FINE_POOL), data);
  return status != HSA_STATUS_SUCCESS ? status : callback(pool_of(agent, KERNARG_POOL), data);
}

static uint32_t pool_flags(uint64_t kind) {
  if (kind == KERNARG_POOL)
    return HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT | HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED;
  return kind == FINE_POOL ? HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED
                           : HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED;
}

hsa_status_t hsa_amd_memory_pool_get_info(hsa_amd_memory_pool_t pool, hsa_amd_memory_pool_info_t attribute,
                                          void *value) {
  switch (attribute) {
  case HSA_AMD_MEMORY_POOL_INFO_SEGMENT:
    *(hsa_amd_segment_t *)value = HSA_AMD_SEGMENT_GLOBAL;
    return HSA_STATUS_SUCCESS;
  case HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS:
    *(uint32_t *)value = pool_flags(pool.handle % POOLS);
    return HSA_STATUS_SUCCESS;
  case HSA_AMD_MEMORY_POOL_INFO_SIZE:
  case HSA_AMD_MEMORY_POOL_INFO_ALLOC_MAX_SIZE:
    *(size_t *)value = pool_bytes;
    return HSA_STATUS_SUCCESS;
  case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED:
    *(bool *)value = true;
    return HSA_STATUS_SUCCESS;
  case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE:
  case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALIGNMENT:
    *(size_t *)value = GRANULE;
    return HSA_STATUS_SUCCESS;
  default:
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

/* The range that kernels may touch is exactly as long as asked for, and never ends where another begins, so that they
 * are held to it. */
hsa_status_t hsa_amd_memory_pool_allocate(hsa_amd_memory_pool_t pool, size_t size, uint32_t flags, void **ptr) {
  (void)pool;
  (void)flags;
  size_t rounded;
  if (size == 0 || ptr == NULL)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (size > pool_bytes)
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  rounded = (size + ALIGNMENT) / ALIGNMENT * ALIGNMENT;
  void *block = aligned_alloc(ALIGNMENT, rounded);
  if (block == NULL || !tj_sim_memory_add(block, size, true)) {
    free(block);
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  }
  *ptr = block;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_memory_pool_free(void *ptr) {
  if (ptr == NULL)
    return HSA_STATUS_SUCCESS;
  if (tj_sim_memory_remove(ptr) == 0)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  free(ptr);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_agents_allow_access(uint32_t num_agents, const hsa_agent_t *agents, const uint32_t *flags,
                                         const void *ptr) {
  (void)num_agents;
  (void)agents;
  (void)flags;
  (void)ptr;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_memory_copy(void *dst, const void *src, size_t size) {
  if (size > 0 && (dst == NULL || src == NULL))
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (size > 0)
    memmove(dst, src, size);
  return HSA_STATUS_SUCCESS;
}
