/* SPDX-License-Identifier: MIT */
/* The simulated HSA runtime: its agents, which of them are visible, what they say of themselves, and their ISAs. */
#include "rt/sim/hsa/hsa_state.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { UUID_SIZE = 21, NAME_SIZE = 64, EXTENSION_BYTES = 128, LARGEST_WORKGROUP = 1024, CACHE_LEVELS = 4 };

typedef struct {
  const tj_processor *processor;
  tj_target_id target;
  uint32_t place; /* among all agents, those that are not visible too */
} agent_row;

/* The GPUs. */
static struct {
  agent_row agent[TJ_SIM_MOST_AGENTS];
  size_t count;
} all;

/* --- which there are --- */

static void add_agent(const char *text) {
  agent_row *agent = &all.agent[all.count];
  if (all.count == TJ_SIM_MOST_AGENTS || !tj_sim_agent_target(text, &agent->processor, &agent->target))
    return;
  agent->place = TJ_SIM_CPU + 1 + (uint32_t)all.count;
  all.count++;
}

static void add_listed(const char *list) {
  while (*list != '\0') {
    char text[TJ_TARGET_ID_SIZE];
    size_t length = strcspn(list, ", ");
    if (length < sizeof text) {
      memcpy(text, list, length);
      text[length] = '\0';
      add_agent(text);
    }
    list += length;
    list += strspn(list, ", ");
  }
}

/* --- which are visible --- */

static void write_uuid(uint32_t place, bool is_gpu, char uuid[UUID_SIZE]) {
  snprintf(uuid, UUID_SIZE, "%s-%016" PRIx32, is_gpu ? "GPU" : "CPU", place);
}

/* The only agent whose UUID begins so; -1 where there is none, or several. */
static long agent_by_uuid(const char *token, size_t length) {
  long found = -1;
  for (size_t i = 0; i < all.count; i++) {
    char uuid[UUID_SIZE];
    write_uuid(all.agent[i].place, true, uuid);
    size_t same = 0;
    while (same < length && toupper((unsigned char)token[same]) == toupper((unsigned char)uuid[same]))
      same++;
    if (same < length)
      continue;
    if (found >= 0)
      return -1;
    found = (long)i;
  }
  return found;
}

/* What a token of ROCR_VISIBLE_DEVICES stands for: a number, or the beginning of a UUID of five characters at least;
 * -1 for nothing. */
static long agent_of_token(const char *token, size_t length) {
  char text[UUID_SIZE];
  if (length == 0 || length >= sizeof text)
    return -1;
  if (toupper((unsigned char)token[0]) == 'G')
    return length < sizeof "GPU-" ? -1 : agent_by_uuid(token, length);
  memcpy(text, token, length);
  text[length] = '\0';
  char *end;
  long index = strtol(text, &end, 0);
  return *end != '\0' || index < 0 || index >= (long)all.count ? -1 : index;
}

/* Keeps the agents that the list names, in its order. What names none, or one for the second time, ends it. */
static void select_visible(const char *list) {
  agent_row visible[TJ_SIM_MOST_AGENTS];
  bool is_taken[TJ_SIM_MOST_AGENTS] = {false};
  size_t count = 0;
  for (;;) {
    list += strspn(list, " ");
    size_t length = strcspn(list, ",");
    size_t trimmed = length;
    while (trimmed > 0 && list[trimmed - 1] == ' ')
      trimmed--;
    long index = agent_of_token(list, trimmed);
    if (index < 0 || is_taken[index])
      break;
    is_taken[index] = true;
    visible[count++] = all.agent[index];
    if (list[length] == '\0')
      break;
    list += length + 1;
  }
  memcpy(all.agent, visible, count * sizeof *visible);
  all.count = count;
}

/* The target IDs that TILEJIT_HSASIM_AGENTS lists with commas or spaces, such as gfx942:xnack+; what is not simulated
 * is no agent. Of those, the ones that ROCR_VISIBLE_DEVICES selects. Where there is no list, every processor is
 * there: a selection is one of the machine's GPUs then, and none of these. */
void tj_sim_find_agents(void) {
  const char *list = getenv("TILEJIT_HSASIM_AGENTS"), *selection = getenv("ROCR_VISIBLE_DEVICES");
  all.count = 0;
  for (size_t i = 0; list == NULL && i < tj_processor_count; i++)
    add_agent(tj_processors[i].name);
  if (list != NULL)
    add_listed(list);
  if (list != NULL && selection != NULL)
    select_visible(selection);
}

/* --- handles --- */

size_t tj_sim_agent_count(void) {
  return all.count + TJ_SIM_CPU;
}

bool tj_sim_is_agent(uint64_t handle) {
  return handle != 0 && handle <= tj_sim_agent_count();
}

static const agent_row *gpu_of(uint64_t handle) {
  return handle > TJ_SIM_CPU && tj_sim_is_agent(handle) ? &all.agent[handle - TJ_SIM_CPU - 1] : NULL;
}

const tj_processor *tj_sim_agent_processor(uint64_t handle) {
  const agent_row *gpu = gpu_of(handle);
  return gpu != NULL ? gpu->processor : NULL;
}

const tj_target_id *tj_sim_target_of_agent(uint64_t handle) {
  const agent_row *gpu = gpu_of(handle);
  return gpu != NULL ? &gpu->target : NULL;
}

bool tj_sim_agent_bits(const hsa_agent_t *agents, size_t count, uint64_t *bits) {
  *bits = 0;
  for (size_t i = 0; i < count; i++) {
    if (!tj_sim_is_agent(agents[i].handle))
      return false;
    *bits |= tj_sim_agent_bit(agents[i].handle);
  }
  return true;
}

hsa_status_t hsa_iterate_agents(hsa_status_t (*callback)(hsa_agent_t agent, void *data), void *data) {
  if (!tj_sim_is_initialized())
    return HSA_STATUS_ERROR_NOT_INITIALIZED;
  hsa_status_t status = HSA_STATUS_SUCCESS;
  for (uint64_t handle = 1; status == HSA_STATUS_SUCCESS && handle <= tj_sim_agent_count(); handle++)
    status = callback((hsa_agent_t){handle}, data);
  return status;
}

/* --- what they say of themselves --- */

static void write_name(const char *before, const tj_processor *p, char *name) {
  memset(name, 0, NAME_SIZE);
  snprintf(name, NAME_SIZE, "%s%s", before, p != NULL ? p->name : "CPU");
}

/* What is no single number; false: it is, or is not known. */
static bool tell_more(int attribute, const tj_processor *p, uint64_t handle, uint32_t place, void *value) {
  switch (attribute) {
  case HSA_AGENT_INFO_NAME:
    write_name("", p, value);
    return true;
  case HSA_AMD_AGENT_INFO_PRODUCT_NAME:
    write_name("simulated ", p, value);
    return true;
  case HSA_AGENT_INFO_VENDOR_NAME:
    memset(value, 0, NAME_SIZE);
    snprintf(value, NAME_SIZE, "%s", p != NULL ? "tilejit" : "CPU");
    return true;
  case HSA_AMD_AGENT_INFO_UUID:
    write_uuid(place, p != NULL, value);
    return true;
  case HSA_AGENT_INFO_ISA:
    ((hsa_isa_t *)value)->handle = p != NULL ? handle : 0;
    return true;
  case HSA_AGENT_INFO_WORKGROUP_MAX_DIM:
    for (unsigned i = 0; i < 3; i++)
      ((uint16_t *)value)[i] = p != NULL ? LARGEST_WORKGROUP : 0;
    return true;
  case HSA_AGENT_INFO_GRID_MAX_DIM:
    *(hsa_dim3_t *)value = p != NULL ? (hsa_dim3_t){UINT32_MAX, UINT32_MAX, UINT32_MAX} : (hsa_dim3_t){0, 0, 0};
    return true;
  case HSA_AGENT_INFO_CACHE_SIZE:
    memset(value, 0, CACHE_LEVELS * sizeof(uint32_t));
    return true;
  case HSA_AGENT_INFO_EXTENSIONS:
    memset(value, 0, EXTENSION_BYTES);
    return true;
  case HSA_AMD_AGENT_INFO_HDP_FLUSH:
    *(hsa_amd_hdp_flush_t *)value = (hsa_amd_hdp_flush_t){NULL, NULL};
    return true;
  default:
    return false;
  }
}

hsa_status_t hsa_agent_get_info(hsa_agent_t agent, hsa_agent_info_t attribute, void *value) {
  if (!tj_sim_is_agent(agent.handle))
    return HSA_STATUS_ERROR_INVALID_AGENT;
  const agent_row *gpu = gpu_of(agent.handle);
  const tj_processor *p = gpu != NULL ? gpu->processor : NULL;
  uint32_t place = gpu != NULL ? gpu->place : TJ_SIM_CPU;
  if (tell_more((int)attribute, p, agent.handle, place, value))
    return HSA_STATUS_SUCCESS;
  switch ((int)attribute) {
#define INFO(name, type, of_gpu, of_cpu)                                                                             \
  case name:                                                                                                         \
    *(type *)value = p != NULL ? (type)(of_gpu) : (type)(of_cpu);                                                    \
    return HSA_STATUS_SUCCESS;
#include "rt/sim/hsa/hsa_agent.def"
  default:
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

/* --- ISAs: each GPU agent has one, with the agent's handle --- */

hsa_status_t hsa_agent_iterate_isas(hsa_agent_t agent, hsa_status_t (*callback)(hsa_isa_t isa, void *data),
                                    void *data) {
  if (!tj_sim_is_agent(agent.handle))
    return HSA_STATUS_ERROR_INVALID_AGENT;
  if (tj_sim_agent_processor(agent.handle) == NULL)
    return HSA_STATUS_SUCCESS;
  return callback((hsa_isa_t){agent.handle}, data);
}

hsa_status_t hsa_isa_get_info_alt(hsa_isa_t isa, hsa_isa_info_t attribute, void *value) {
  const tj_target_id *id = tj_sim_target_of_agent(isa.handle);
  if (id == NULL)
    return HSA_STATUS_ERROR_INVALID_ISA;
  char name[96], target[TJ_TARGET_ID_SIZE];
  tj_target_id_write(id, target);
  int length = snprintf(name, sizeof name, "amdgcn-amd-amdhsa--%s", target);
  if (attribute == HSA_ISA_INFO_NAME_LENGTH)
    *(uint32_t *)value = (uint32_t)length + 1;
  else if (attribute == HSA_ISA_INFO_NAME)
    memcpy(value, name, (size_t)length + 1);
  else
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return HSA_STATUS_SUCCESS;
}
