/* SPDX-License-Identifier: MIT */
/* The process's watches, and the handler that the runtime calls. */
#include "rt/hsa/hsa_fault.h"

#include <pthread.h>

static struct {
  pthread_mutex_t lock;
  tj_hsa_watch *first;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* `data` is the library's handle: agents of two libraries may have the same. */
static hsa_status_t handle_event(const hsa_amd_event_t *event, void *data) {
  if (event->event_type != HSA_AMD_GPU_MEMORY_FAULT_EVENT)
    return HSA_STATUS_ERROR;
  hsa_status_t status = HSA_STATUS_ERROR;
  pthread_mutex_lock(&all.lock);
  for (tj_hsa_watch *watch = all.first; watch != NULL; watch = watch->next) {
    if (watch->hsa->handle != data || watch->gpu.handle != event->memory_fault.agent.handle)
      continue;
    watch->tell(&event->memory_fault, watch->data);
    status = HSA_STATUS_SUCCESS;
  }
  pthread_mutex_unlock(&all.lock);
  return status;
}

static bool has_watch(const void *library) {
  const tj_hsa_watch *watch = all.first;
  while (watch != NULL && watch->hsa->handle != library)
    watch = watch->next;
  return watch != NULL;
}

/* Runtimes keep handlers until they are shut down, which happens here with the last watch, unless others use them,
 * too; then there are two handlers, and the second has nothing left to say. Where a runtime takes one handler only
 * and has it, faults are its owner's. */
void tj_hsa_watch_open(tj_hsa_watch *watch) {
  pthread_mutex_lock(&all.lock);
  bool is_first = !has_watch(watch->hsa->handle);
  watch->next = all.first;
  all.first = watch;
  pthread_mutex_unlock(&all.lock);
  if (is_first)
    watch->hsa->amd_register_system_event_handler(handle_event, watch->hsa->handle);
}

void tj_hsa_watch_close(tj_hsa_watch *watch) {
  pthread_mutex_lock(&all.lock);
  tj_hsa_watch **at = &all.first;
  while (*at != NULL && *at != watch)
    at = &(*at)->next;
  if (*at == watch)
    *at = watch->next;
  pthread_mutex_unlock(&all.lock);
}

const char *tj_hsa_fault_reason(uint32_t reasons) {
  static const struct {
    uint32_t bit;
    const char *text;
  } rows[] = {
      {HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT, "the page is not present"},
      {HSA_AMD_MEMORY_FAULT_READ_ONLY, "the page is read-only"},
      {HSA_AMD_MEMORY_FAULT_NX, "the page is not executable"},
      {HSA_AMD_MEMORY_FAULT_HOST_ONLY, "the page is the host's alone"},
      {HSA_AMD_MEMORY_FAULT_DRAMECC, "memory has an error that its check bits do not mend"},
      {HSA_AMD_MEMORY_FAULT_SRAMECC, "a register has an error that its check bits do not mend"},
      {(uint32_t)HSA_AMD_MEMORY_FAULT_HANG, "the GPU hung and was reset"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    if ((reasons & rows[i].bit) != 0)
      return rows[i].text;
  }
  return "for an unknown reason";
}
