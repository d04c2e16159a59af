/* SPDX-License-Identifier: MIT */
/* The simulated HSA runtime: memory pools, what is allocated from them, and who may touch it. All memory is this
 * process's own, at the same address for everyone. */
#include "rt/sim/hsa/hsa_state.h"

#include <stdlib.h>

static const size_t pool_bytes = (size_t)1 << 36;

enum {
  ALIGNMENT = 4096,
  GRANULE = 4096,
  GROUP_POOL = 0,
  KERNARG_POOL = 1,
  FINE_POOL = 2,
  COARSE_POOL = 3,
  POOLS = 4
};

/* A pool's handle is its agent's times POOLS, and its kind. The CPU has the kernarg and the fine-grained pool, each
 * GPU a coarse-grained one, and its LDS, of which nothing can be allocated. */
static hsa_amd_memory_pool_t pool_of(hsa_agent_t agent, uint64_t kind) {
  return (hsa_amd_memory_pool_t){agent.handle * POOLS + kind};
}

static uint64_t owner_of(uint64_t pool) {
  return pool / POOLS;
}

static bool is_pool(hsa_amd_memory_pool_t pool) {
  uint64_t kind = pool.handle % POOLS;
  bool is_gpu = tj_sim_agent_processor(owner_of(pool.handle)) != NULL;
  return tj_sim_is_agent(owner_of(pool.handle)) && is_gpu == (kind == GROUP_POOL || kind == COARSE_POOL);
}

hsa_status_t hsa_amd_agent_iterate_memory_pools(hsa_agent_t agent,
                                                hsa_status_t (*callback)(hsa_amd_memory_pool_t pool, void *data),
                                                void *data) {
  if (!tj_sim_is_agent(agent.handle))
    return HSA_STATUS_ERROR_INVALID_AGENT;
  bool is_gpu = tj_sim_agent_processor(agent.handle) != NULL;
  hsa_status_t status = callback(pool_of(agent, is_gpu ? GROUP_POOL : FINE_POOL), data);
  return status != HSA_STATUS_SUCCESS ? status : callback(pool_of(agent, is_gpu ? COARSE_POOL : KERNARG_POOL), data);
}

static uint32_t pool_flags(uint64_t kind) {
  static const uint32_t flags[POOLS] = {
      [KERNARG_POOL] = HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT | HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED,
      [FINE_POOL] = HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED,
      [COARSE_POOL] = HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED,
  };
  return flags[kind];
}

hsa_status_t hsa_amd_memory_pool_get_info(hsa_amd_memory_pool_t pool, hsa_amd_memory_pool_info_t attribute,
                                          void *value) {
  if (!is_pool(pool))
    return (hsa_status_t)HSA_STATUS_ERROR_INVALID_MEMORY_POOL;
  uint64_t kind = pool.handle % POOLS;
  switch (attribute) {
  case HSA_AMD_MEMORY_POOL_INFO_SEGMENT:
    *(hsa_amd_segment_t *)value = kind == GROUP_POOL ? HSA_AMD_SEGMENT_GROUP : HSA_AMD_SEGMENT_GLOBAL;
    return HSA_STATUS_SUCCESS;
  case HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS:
    *(uint32_t *)value = pool_flags(kind);
    return HSA_STATUS_SUCCESS;
  case HSA_AMD_MEMORY_POOL_INFO_SIZE:
  case HSA_AMD_MEMORY_POOL_INFO_ALLOC_MAX_SIZE:
    *(size_t *)value = kind == GROUP_POOL ? tj_sim_agent_processor(owner_of(pool.handle))->lds_bytes : pool_bytes;
    return HSA_STATUS_SUCCESS;
  case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED:
    *(bool *)value = kind != GROUP_POOL;
    return HSA_STATUS_SUCCESS;
  case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE:
  case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALIGNMENT:
    *(size_t *)value = kind == GROUP_POOL ? 0 : GRANULE;
    return HSA_STATUS_SUCCESS;
  case HSA_AMD_MEMORY_POOL_INFO_ACCESSIBLE_BY_ALL:
    *(bool *)value = false;
    return HSA_STATUS_SUCCESS;
  default:
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

/* The CPU reaches everything but LDS, a GPU its own pools; what else it may reach is to be allowed. */
static hsa_amd_memory_pool_access_t access_of(hsa_agent_t agent, hsa_amd_memory_pool_t pool) {
  bool is_own = owner_of(pool.handle) == agent.handle;
  if (pool.handle % POOLS == GROUP_POOL)
    return is_own ? HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT : HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED;
  return is_own || tj_sim_agent_processor(agent.handle) == NULL ? HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT
                                                                : HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT;
}

hsa_status_t hsa_amd_agent_memory_pool_get_info(hsa_agent_t agent, hsa_amd_memory_pool_t pool,
                                                hsa_amd_agent_memory_pool_info_t attribute, void *value) {
  if (!tj_sim_is_agent(agent.handle))
    return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!is_pool(pool))
    return (hsa_status_t)HSA_STATUS_ERROR_INVALID_MEMORY_POOL;
  uint32_t hops = owner_of(pool.handle) == agent.handle ? 0 : 1;
  static const hsa_amd_memory_pool_link_info_t link = {.link_type = HSA_AMD_LINK_INFO_TYPE_PCIE,
                                                       .atomic_support_32bit = true,
                                                       .atomic_support_64bit = true,
                                                       .coherent_support = true};
  switch (attribute) {
  case HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS:
    *(hsa_amd_memory_pool_access_t *)value = access_of(agent, pool);
    return HSA_STATUS_SUCCESS;
  case HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS:
    *(uint32_t *)value = hops;
    return HSA_STATUS_SUCCESS;
  case HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO:
    memcpy(value, &link, hops * sizeof link);
    return HSA_STATUS_SUCCESS;
  default:
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

/* --- what is allocated --- */

/* The range that kernels may touch is exactly as long as asked for, and never ends where another begins, so that they
 * are held to it. */
hsa_status_t hsa_amd_memory_pool_allocate(hsa_amd_memory_pool_t pool, size_t size, uint32_t flags, void **ptr) {
  (void)flags;
  if (size == 0 || ptr == NULL)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (!is_pool(pool) || pool.handle % POOLS == GROUP_POOL)
    return (hsa_status_t)HSA_STATUS_ERROR_INVALID_MEMORY_POOL;
  if (size > pool_bytes)
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  size_t rounded = (size + ALIGNMENT) / ALIGNMENT * ALIGNMENT;
  void *block = aligned_alloc(ALIGNMENT, rounded);
  tj_sim_range range = tj_sim_range_of(block, size, true);
  range.agents = tj_sim_agent_bit(owner_of(pool.handle));
  range.pool = pool.handle;
  if (block == NULL || !tj_sim_memory_add(&range)) {
    free(block);
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  }
  *ptr = block;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_memory_pool_free(void *ptr) {
  if (ptr == NULL)
    return HSA_STATUS_SUCCESS;
  if (!tj_sim_memory_remove(ptr, false))
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  free(ptr);
  return HSA_STATUS_SUCCESS;
}

/* Its owner keeps it; others have it no longer when they are not in the list. */
hsa_status_t hsa_amd_agents_allow_access(uint32_t num_agents, const hsa_agent_t *agents, const uint32_t *flags,
                                         const void *ptr) {
  uint64_t bits;
  tj_sim_range range;
  if (num_agents == 0 || agents == NULL || flags != NULL || ptr == NULL)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (!tj_sim_agent_bits(agents, num_agents, &bits))
    return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!tj_sim_memory_find((uint64_t)(uintptr_t)ptr, 1, &range) || range.pool == 0 || range.is_locked)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  bits |= tj_sim_agent_bit(owner_of(range.pool));
  return tj_sim_memory_allow(ptr, bits) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

/* --- the application's own memory --- */

/* For no agents in the list, it is for all of them. */
hsa_status_t hsa_amd_memory_lock_to_pool(void *host_ptr, size_t size, hsa_agent_t *agents, int num_agent,
                                         hsa_amd_memory_pool_t pool, uint32_t flags, void **agent_ptr) {
  if (host_ptr == NULL || size == 0 || agent_ptr == NULL || flags != 0 || (agents == NULL) != (num_agent == 0) ||
      num_agent < 0)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (!is_pool(pool) || tj_sim_agent_processor(owner_of(pool.handle)) != NULL)
    return (hsa_status_t)HSA_STATUS_ERROR_INVALID_MEMORY_POOL;
  tj_sim_range range = tj_sim_range_of(host_ptr, size, true);
  range.is_locked = true;
  range.pool = pool.handle;
  if (num_agent > 0 && !tj_sim_agent_bits(agents, (size_t)num_agent, &range.agents))
    return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!tj_sim_memory_add(&range))
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  *agent_ptr = host_ptr;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_memory_lock(void *host_ptr, size_t size, hsa_agent_t *agents, int num_agent, void **agent_ptr) {
  hsa_amd_memory_pool_t pool = pool_of((hsa_agent_t){TJ_SIM_CPU}, FINE_POOL);
  return hsa_amd_memory_lock_to_pool(host_ptr, size, agents, num_agent, pool, 0, agent_ptr);
}

hsa_status_t hsa_amd_memory_unlock(void *host_ptr) {
  return tj_sim_memory_remove(host_ptr, true) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

/* Registered memory is for agents of the full profile, of which there are none. */
hsa_status_t hsa_memory_register(void *ptr, size_t size) {
  return ptr == NULL && size > 0 ? HSA_STATUS_ERROR_INVALID_ARGUMENT : HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_memory_deregister(void *ptr, size_t size) {
  return hsa_memory_register(ptr, size);
}

/* --- what an address belongs to --- */

static hsa_status_t list_agents(uint64_t bits, void *(*alloc)(size_t), uint32_t *count, hsa_agent_t **agents) {
  *count = 0;
  for (uint64_t handle = 1; handle <= tj_sim_agent_count(); handle++)
    *count += (bits & tj_sim_agent_bit(handle)) != 0 ? 1 : 0;
  *agents = alloc(*count * sizeof **agents);
  if (*agents == NULL)
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  uint32_t next = 0;
  for (uint64_t handle = 1; handle <= tj_sim_agent_count(); handle++) {
    if ((bits & tj_sim_agent_bit(handle)) != 0)
      (*agents)[next++].handle = handle;
  }
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_pointer_info(const void *ptr, hsa_amd_pointer_info_t *info, void *(*alloc)(size_t),
                                  uint32_t *num_agents_accessible, hsa_agent_t **accessible) {
  if (ptr == NULL || info == NULL || info->size == 0 ||
      (alloc != NULL && (num_agents_accessible == NULL || accessible == NULL)))
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  hsa_amd_pointer_info_t told = {.type = HSA_EXT_POINTER_TYPE_UNKNOWN};
  tj_sim_range range = {0};
  if (tj_sim_memory_find((uint64_t)(uintptr_t)ptr, 1, &range) && range.pool != 0) {
    void *base = (void *)(uintptr_t)range.begin;
    told = (hsa_amd_pointer_info_t){.type = range.is_locked ? HSA_EXT_POINTER_TYPE_LOCKED : HSA_EXT_POINTER_TYPE_HSA,
                                    .agentBaseAddress = base,
                                    .hostBaseAddress = base,
                                    .sizeInBytes = (size_t)(range.end - range.begin),
                                    .agentOwner = {owner_of(range.pool)},
                                    .global_flags = pool_flags(range.pool % POOLS)};
  }
  told.size = info->size < sizeof told ? info->size : (uint32_t)sizeof told;
  memcpy(info, &told, told.size);
  if (alloc == NULL)
    return HSA_STATUS_SUCCESS;
  return list_agents(range.pool != 0 ? range.agents : 0, alloc, num_agents_accessible, accessible);
}
