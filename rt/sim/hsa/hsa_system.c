/* SPDX-License-Identifier: MIT */
/* The simulated HSA runtime: starting and ending it, what it says of itself, and its extensions. */
#include "rt/sim/hsa/hsa_state.h"

#include <time.h>

enum { EXTENSION_BYTES = 128 };

/* One thread begins or ends at a time; services that are ended meanwhile may still ask whether there is a reference.
 */
static struct {
  pthread_mutex_t turn, lock;
  uint32_t references;
} state = {.turn = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER};

/* Counts references up or down; how many there were. */
static uint32_t refer(bool is_more) {
  pthread_mutex_lock(&state.lock);
  const uint32_t before = state.references;
  state.references = is_more ? before + 1 : before - (before > 0);
  pthread_mutex_unlock(&state.lock);
  return before;
}

/* --- beginning and end --- */

hsa_status_t hsa_init(void) {
  pthread_mutex_lock(&state.turn);
  if (refer(true) == 0)
    tj_sim_find_agents();
  pthread_mutex_unlock(&state.turn);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_shut_down(void) {
  pthread_mutex_lock(&state.turn);
  const uint32_t before = refer(false);
  if (before == 1) {
    tj_sim_end_copies();
    tj_sim_end_handlers();
    tj_sim_forget_handlers();
  }
  pthread_mutex_unlock(&state.turn);
  return before > 0 ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_NOT_INITIALIZED;
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

static bool has_extension(uint16_t extension, uint16_t major, uint16_t minor) {
  return extension == HSA_EXTENSION_AMD_LOADER && major == 1 && minor == 0;
}

hsa_status_t hsa_system_get_info(hsa_system_info_t attribute, void *value) {
  switch ((int)attribute) {
  case HSA_SYSTEM_INFO_VERSION_MAJOR:
  case HSA_SYSTEM_INFO_VERSION_MINOR:
    *(uint16_t *)value = 1;
    return HSA_STATUS_SUCCESS;
  case HSA_SYSTEM_INFO_TIMESTAMP:
    *(uint64_t *)value = tj_sim_now();
    return HSA_STATUS_SUCCESS;
  case HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY:
    *(uint64_t *)value = 1000000000u;
    return HSA_STATUS_SUCCESS;
  case HSA_SYSTEM_INFO_SIGNAL_MAX_WAIT:
    *(uint64_t *)value = UINT64_MAX;
    return HSA_STATUS_SUCCESS;
  case HSA_SYSTEM_INFO_ENDIANNESS:
    *(hsa_endianness_t *)value = HSA_ENDIANNESS_LITTLE;
    return HSA_STATUS_SUCCESS;
  case HSA_SYSTEM_INFO_MACHINE_MODEL:
    *(hsa_machine_model_t *)value = HSA_MACHINE_MODEL_LARGE;
    return HSA_STATUS_SUCCESS;
  case HSA_SYSTEM_INFO_EXTENSIONS:
    memset(value, 0, EXTENSION_BYTES);
    ((uint8_t *)value)[HSA_EXTENSION_AMD_LOADER / 8] = 1 << HSA_EXTENSION_AMD_LOADER % 8;
    return HSA_STATUS_SUCCESS;
  case HSA_AMD_SYSTEM_INFO_SVM_SUPPORTED:
  case HSA_AMD_SYSTEM_INFO_SVM_ACCESSIBLE_BY_DEFAULT:
    *(bool *)value = false;
    return HSA_STATUS_SUCCESS;
  default:
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

/* --- extensions --- */

hsa_status_t hsa_system_extension_supported(uint16_t extension, uint16_t version_major, uint16_t version_minor,
                                            bool *result) {
  if (result == NULL)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *result = has_extension(extension, version_major, version_minor);
  return HSA_STATUS_SUCCESS;
}

/* Agents have none. */
hsa_status_t hsa_agent_extension_supported(uint16_t extension, hsa_agent_t agent, uint16_t version_major,
                                           uint16_t version_minor, bool *result) {
  (void)extension, (void)version_major, (void)version_minor;
  if (!tj_sim_is_agent(agent.handle))
    return HSA_STATUS_ERROR_INVALID_AGENT;
  if (result == NULL)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *result = false;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_system_get_major_extension_table(uint16_t extension, uint16_t version_major, size_t table_length,
                                                  void *table) {
  size_t known = sizeof tj_sim_loader_functions;
  if (table == NULL || table_length == 0 || !has_extension(extension, version_major, 0))
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  memcpy(table, &tj_sim_loader_functions, table_length < known ? table_length : known);
  return HSA_STATUS_SUCCESS;
}

/* --- messages --- */

static const struct {
  hsa_status_t status;
  const char *text;
} messages[] = {
    {HSA_STATUS_SUCCESS, "success"},
    {HSA_STATUS_ERROR, "the simulated device stopped a kernel, or does not do what is asked of it"},
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

/* What the status of this thread's queue means more exactly. */
static _Thread_local struct {
  hsa_status_t status;
  const char *text;
} explanation;

void tj_sim_explain_here(hsa_status_t status, const char *text) {
  explanation.status = status;
  explanation.text = text;
}

hsa_status_t hsa_status_string(hsa_status_t status, const char **status_string) {
  if (status_string == NULL)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *status_string = "an error of the simulated HSA runtime";
  for (size_t i = 0; i < sizeof messages / sizeof messages[0]; i++) {
    if (messages[i].status == status)
      *status_string = messages[i].text;
  }
  if (explanation.text != NULL && explanation.status == status)
    *status_string = explanation.text;
  return HSA_STATUS_SUCCESS;
}
