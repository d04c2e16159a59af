/* SPDX-License-Identifier: MIT */
/* The simulated HSA runtime: starting and ending it, its agents and their ISAs. */
#include "rt/sim/hsa/hsa_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST_AGENTS = 16, QUEUE_SIZE = 4096, UUID_SIZE = 21 };

typedef struct {
  const tj_processor *processor;
  tj_target_id target;
} agent_row;

static struct {
  pthread_mutex_t lock;
  uint32_t references;
  agent_row agent[MOST_AGENTS];
  size_t count;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- beginning and end --- */

static void add_agent(const char *text) {
  agent_row *agent = &state.agent[state.count];
  if (state.count < MOST_AGENTS && tj_sim_agent_target(text, &agent->processor, &agent->target))
    state.count++;
}

/* The target IDs that TILEJIT_HSASIM_AGENTS lists with commas or spaces, such as gfx942:xnack+; all processors where
 * it is not set. What is not simulated is no agent. */
static void find_agents(void) {
  const char *list = getenv("TILEJIT_HSASIM_AGENTS");
  state.count = 0;
  for (size_t i = 0; list == NULL && i < tj_processor_count; i++)
    add_agent(tj_processors[i].name);
  while (list != NULL && *list != '\0') {
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

hsa_status_t hsa_init(void) {
  pthread_mutex_lock(&state.lock);
  if (state.references == 0)
    find_agents();
  state.references++;
  pthread_mutex_unlock(&state.lock);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_shut_down(void) {
  pthread_mutex_lock(&state.lock);
  bool was_open = state.references > 0;
  state.references -= was_open ? 1 : 0;
  if (state.references == 0)
    tj_sim_forget_handlers();
  pthread_mutex_unlock(&state.lock);
  return was_open ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_NOT_INITIALIZED;
}

bool tj_sim_is_initialized(void) {
  pthread_mutex_lock(&state.lock);
  bool is_open = state.references > 0;
  pthread_mutex_unlock(&state.lock);
  return is_open;
}

uint64_t tj_sim_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

hsa_status_t hsa_system_get_info(hsa_system_info_t attribute, void *value) {
  switch (attribute) {
  case HSA_SYSTEM_INFO_VERSION_MAJOR:
    *(uint16_t *)value = 1;
    return HSA_STATUS_SUCCESS;
  case HSA_SYSTEM_INFO_VERSION_MINOR:
    *(uint16_t *)value = 1;
    return HSA_STATUS_SUCCESS;
  case HSA_SYSTEM_INFO_TIMESTAMP:
    *(uint64_t *)value = tj_sim_now();
    return HSA_STATUS_SUCCESS;
  case HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY:
    *(uint64_t *)value = 1000000000u;
    return HSA_STATUS_SUCCESS;
  default:
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

/* --- messages --- */

static const struct {
  hsa_status_t status;
  const char *text;
} messages[] = {
    {HSA_STATUS_SUCCESS, "success"},
    {HSA_STATUS_ERROR, "the simulated device stopped a kernel"},
    {HSA_STATUS_ERROR_INVALID_ARGUMENT, "an argument is invalid"},
    {HSA_STATUS_ERROR_INVALID_AGENT, "the agent does not exist, or cannot do this"},
    {HSA_STATUS_ERROR_INVALID_CODE_OBJECT, "the code object is damaged, or not for a simulated processor"},
    {HSA_STATUS_ERROR_INVALID_SYMBOL_NAME, "the executable has no symbol of this name"},
    {HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS, "the code object is for another processor, or needs other features"},
    {HSA_STATUS_ERROR_OUT_OF_RESOURCES, "out of memory"},
    {HSA_STATUS_ERROR_NOT_INITIALIZED, "the runtime is not initialized"},
    {HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, "a queue holds a packet of a kind that is not simulated"},
    {HSA_STATUS_ERROR_FROZEN_EXECUTABLE, "the executable is frozen"},
};

hsa_status_t hsa_status_string(hsa_status_t status, const char **status_string) {
  *status_string = "an error of the simulated HSA runtime";
  for (size_t i = 0; i < sizeof messages / sizeof messages[0]; i++) {
    if (messages[i].status == status)
      *status_string = messages[i].text;
  }
  return HSA_STATUS_SUCCESS;
}

/* --- agents --- */

size_t tj_sim_agent_count(void) {
  return state.count + 1;
}

const tj_processor *tj_sim_agent_processor(uint64_t handle) {
  return handle >= 2 && handle <= state.count + 1 ? state.agent[handle - 2].processor : NULL;
}

const tj_target_id *tj_sim_target_of_agent(uint64_t handle) {
  return handle >= 2 && handle <= state.count + 1 ? &state.agent[handle - 2].target : NULL;
}

hsa_status_t hsa_iterate_agents(hsa_status_t (*callback)(hsa_agent_t agent, void *data), void *data) {
  if (!tj_sim_is_initialized())
    return HSA_STATUS_ERROR_NOT_INITIALIZED;
  hsa_status_t status = HSA_STATUS_SUCCESS;
  for (uint64_t handle = 1; status == HSA_STATUS_SUCCESS && handle <= tj_sim_agent_count(); handle++)
    status = callback((hsa_agent_t){handle}, data);
  return status;
}

static hsa_status_t name_agent(const tj_processor *processor, hsa_agent_info_t attribute, char *name) {
  memset(name, 0, 64);
  if (attribute == HSA_AGENT_INFO_VENDOR_NAME)
    snprintf(name, 64, "%s", processor != NULL ? "tilejit" : "CPU");
  else if (attribute == HSA_AGENT_INFO_NAME)
    snprintf(name, 64, "%s", processor != NULL ? processor->name : "CPU");
  else
    snprintf(name, 64, "simulated %s", processor != NULL ? processor->name : "CPU");
  return HSA_STATUS_SUCCESS;
}

/* Agents differ in where they are said to be: each on a bus of its own. */
static uint32_t agent_number(const tj_processor *processor, uint64_t handle, int attribute, bool *is_known) {
  *is_known = true;
  switch (attribute) {
  case HSA_AGENT_INFO_DEVICE:
    return processor != NULL ? HSA_DEVICE_TYPE_GPU : HSA_DEVICE_TYPE_CPU;
  case HSA_AGENT_INFO_FEATURE:
    return processor != NULL ? HSA_AGENT_FEATURE_KERNEL_DISPATCH : 0;
  case HSA_AGENT_INFO_PROFILE:
    return HSA_PROFILE_BASE;
  case HSA_AGENT_INFO_WAVEFRONT_SIZE:
    return processor != NULL ? tj_processor_wave_size(processor) : 0;
  case HSA_AGENT_INFO_WORKGROUP_MAX_SIZE:
    return processor != NULL ? 1024 : 0;
  case HSA_AGENT_INFO_QUEUES_MAX:
    return processor != NULL ? 128 : 0;
  case HSA_AGENT_INFO_QUEUE_MIN_SIZE:
    return processor != NULL ? 1 : 0;
  case HSA_AGENT_INFO_QUEUE_MAX_SIZE:
    return processor != NULL ? QUEUE_SIZE : 0;
  case HSA_AMD_AGENT_INFO_BDFID:
    return (uint32_t)handle << 8;
  case HSA_AMD_AGENT_INFO_DOMAIN:
    return 0;
  case HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT:
    return processor != NULL ? tj_simulated_units(processor) : 1;
  default:
    *is_known = false;
    return 0;
  }
}

hsa_status_t hsa_agent_get_info(hsa_agent_t agent, hsa_agent_info_t attribute, void *value) {
  if (agent.handle == 0 || agent.handle > tj_sim_agent_count())
    return HSA_STATUS_ERROR_INVALID_AGENT;
  const tj_processor *processor = tj_sim_agent_processor(agent.handle);
  int number = (int)attribute;
  if (number == HSA_AGENT_INFO_NAME || number == HSA_AGENT_INFO_VENDOR_NAME ||
      number == HSA_AMD_AGENT_INFO_PRODUCT_NAME)
    return name_agent(processor, attribute, value);
  if (number == HSA_AMD_AGENT_INFO_UUID) {
    snprintf(value, UUID_SIZE, "%s-%016" PRIx64, processor != NULL ? "GPU" : "CPU", agent.handle);
    return HSA_STATUS_SUCCESS;
  }
  if (number == HSA_AGENT_INFO_ISA) {
    ((hsa_isa_t *)value)->handle = processor != NULL ? agent.handle : 0;
    return HSA_STATUS_SUCCESS;
  }
  bool is_known;
  uint32_t result = agent_number(processor, agent.handle, number, &is_known);
  if (is_known)
    *(uint32_t *)value = result;
  return is_known ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

/* --- ISAs: each GPU agent has one, with the agent's handle --- */

hsa_status_t hsa_agent_iterate_isas(hsa_agent_t agent, hsa_status_t (*callback)(hsa_isa_t isa, void *data),
                                    void *data) {
  if (agent.handle == 0 || agent.handle > tj_sim_agent_count())
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
