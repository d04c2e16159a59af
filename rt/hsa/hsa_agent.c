/* SPDX-License-Identifier: MIT */
/* Finding agents and their memory pools: the callbacks of HSA's iterations, gathered into structs. */
#include "rt/hsa/hsa_agent.h"

#include "base/machine/target_id.h"

#include <stdio.h>

/* What callbacks work on. */
typedef struct {
  const tj_hsa *hsa;
  tj_hsa_agents *agents;
  tj_hsa_pools *pools;
  char *target;
  bool is_local; /* pools of the GPU are looked for */
  bool has_local, has_kernarg;
} search;

/* --- agents --- */

/* The target ID of an agent is that of its first ISA. */
static hsa_status_t read_isa(hsa_isa_t isa, void *data) {
  search *s = data;
  char name[256] = "";
  uint32_t length = 0;
  hsa_status_t status = s->hsa->isa_get_info_alt(isa, HSA_ISA_INFO_NAME_LENGTH, &length);
  if (status != HSA_STATUS_SUCCESS || length >= sizeof name)
    return status;
  status = s->hsa->isa_get_info_alt(isa, HSA_ISA_INFO_NAME, name);
  const char *target = tj_target_id_in_isa(name);
  bool is_first = s->target[0] == '\0';
  if (status == HSA_STATUS_SUCCESS && target != NULL && is_first)
    snprintf(s->target, sizeof((tj_hsa_gpu *)0)->target, "%s", target);
  return status;
}

static bool can_dispatch(const tj_hsa *hsa, hsa_agent_t agent) {
  hsa_agent_feature_t feature = (hsa_agent_feature_t)0;
  return hsa->agent_get_info(agent, HSA_AGENT_INFO_FEATURE, &feature) == HSA_STATUS_SUCCESS &&
         (feature & HSA_AGENT_FEATURE_KERNEL_DISPATCH) != 0;
}

static hsa_status_t add_agent(hsa_agent_t agent, void *data) {
  search *s = data;
  hsa_device_type_t type;
  hsa_status_t status = s->hsa->agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
  if (status != HSA_STATUS_SUCCESS)
    return status;
  if (type == HSA_DEVICE_TYPE_CPU && s->agents->cpu.handle == 0)
    s->agents->cpu = agent;
  if (type != HSA_DEVICE_TYPE_GPU || !can_dispatch(s->hsa, agent) || s->agents->count == TJ_HSA_MOST_AGENTS)
    return HSA_STATUS_SUCCESS;
  tj_hsa_gpu *gpu = &s->agents->gpu[s->agents->count++];
  *gpu = (tj_hsa_gpu){.agent = agent};
  s->target = gpu->target;
  return s->hsa->agent_iterate_isas(agent, read_isa, s);
}

tj_status tj_hsa_find_agents(const tj_hsa *hsa, tj_hsa_agents *agents, tj_rt_error *error) {
  *agents = (tj_hsa_agents){0};
  search s = {.hsa = hsa, .agents = agents};
  return tj_hsa_iterate_agents(hsa, error, add_agent, &s);
}

static uint32_t read_number(const tj_hsa *hsa, hsa_agent_t agent, int attribute) {
  uint32_t number = 0;
  hsa->agent_get_info(agent, (hsa_agent_info_t)attribute, &number);
  return number;
}

/* Bus, device and function are 8, 5 and 3 bits of one number. */
static void locate(const tj_hsa *hsa, hsa_agent_t agent, tj_rt_info *info) {
  uint32_t place;
  if (hsa->agent_get_info(agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_BDFID, &place) != HSA_STATUS_SUCCESS)
    return;
  uint32_t domain = read_number(hsa, agent, HSA_AMD_AGENT_INFO_DOMAIN);
  snprintf(info->bus, sizeof info->bus, "%04x:%02x:%02x.%x", domain & 0xffff, place >> 8 & 0xff, place >> 3 & 0x1f,
           place & 7);
}

/* GPU-XX stands for none. */
static void identify(const tj_hsa *hsa, hsa_agent_t agent, tj_rt_info *info) {
  char uuid[64] = "";
  hsa_status_t status = hsa->agent_get_info(agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_UUID, uuid);
  if (status == HSA_STATUS_SUCCESS && strcmp(uuid, "GPU-XX") != 0)
    snprintf(info->uuid, sizeof info->uuid, "%.31s", uuid);
}

void tj_hsa_describe(const tj_hsa *hsa, const tj_hsa_agents *agents, uint32_t number, tj_rt_info *info) {
  const tj_hsa_gpu *gpu = &agents->gpu[number];
  char product[64] = "";
  hsa->agent_get_info(gpu->agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_PRODUCT_NAME, product);
  snprintf(info->target, sizeof info->target, "%s", gpu->target);
  snprintf(info->description, sizeof info->description, "%.63s", product);
  info->parallelism = read_number(hsa, gpu->agent, HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT);
  locate(hsa, gpu->agent, info);
  identify(hsa, gpu->agent, info);
  tj_hsa_pools pools;
  tj_rt_error ignored;
  if (tj_hsa_find_pools(hsa, agents->cpu, gpu->agent, &pools, &ignored) == TJ_OK)
    info->memory = pools.local_bytes;
}

/* --- pools --- */

static bool is_allocatable(const tj_hsa *hsa, hsa_amd_memory_pool_t pool) {
  hsa_amd_segment_t segment;
  bool is_allowed = false;
  return hsa->amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment) == HSA_STATUS_SUCCESS &&
         segment == HSA_AMD_SEGMENT_GLOBAL &&
         hsa->amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED, &is_allowed) ==
             HSA_STATUS_SUCCESS &&
         is_allowed;
}

static hsa_status_t add_pool(hsa_amd_memory_pool_t pool, void *data) {
  search *s = data;
  uint32_t flags = 0;
  if (!is_allocatable(s->hsa, pool))
    return HSA_STATUS_SUCCESS;
  hsa_status_t status = s->hsa->amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
  if (status != HSA_STATUS_SUCCESS)
    return status;
  if (s->is_local && !s->has_local && (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED) != 0) {
    s->pools->local = pool;
    s->has_local = true;
    s->hsa->amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SIZE, &s->pools->local_bytes);
  }
  if (!s->is_local && !s->has_kernarg && (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT) != 0) {
    s->pools->kernarg = pool;
    s->has_kernarg = true;
  }
  return HSA_STATUS_SUCCESS;
}

tj_status tj_hsa_find_pools(const tj_hsa *hsa, hsa_agent_t cpu, hsa_agent_t gpu, tj_hsa_pools *pools,
                            tj_rt_error *error) {
  *pools = (tj_hsa_pools){0};
  search s = {.hsa = hsa, .pools = pools, .is_local = true};
  tj_status status = tj_hsa_amd_agent_iterate_memory_pools(hsa, error, gpu, add_pool, &s);
  s.is_local = false;
  if (status == TJ_OK)
    status = tj_hsa_amd_agent_iterate_memory_pools(hsa, error, cpu, add_pool, &s);
  if (status == TJ_OK && (!s.has_local || !s.has_kernarg))
    return tj_rt_failed(error, TJ_ERROR_SYSTEM, TJ_HSA_CALL, "the agent has no memory pool for %s",
                        s.has_local ? "arguments" : "buffers");
  return status;
}
