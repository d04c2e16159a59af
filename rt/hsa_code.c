/* SPDX-License-Identifier: MIT */
/* Loading code objects into executables, and finding kernels in them. */
#include "rt/hsa_code.h"

#include <stdio.h>

enum { SYMBOL_CAPACITY = 512 };

struct tj_hsa_executable {
  tj_hsa_executable *next;
  uint32_t references;
  tj_bytes code_object; /* borrowed */
  hsa_code_object_reader_t reader;
  hsa_executable_t handle;
};

void tj_hsa_codes_open(tj_hsa_codes *codes, const tj_hsa *hsa, const tj_allocator *allocator) {
  *codes = (tj_hsa_codes){.hsa = hsa, .allocator = *allocator};
  pthread_mutex_init(&codes->lock, NULL);
}

void tj_hsa_codes_close(tj_hsa_codes *codes) {
  pthread_mutex_destroy(&codes->lock);
}

/* --- executables --- */

static tj_status load(const tj_hsa_codes *codes, tj_hsa_executable *made, tj_rt_error *error) {
  const tj_hsa *hsa = codes->hsa;
  tj_status status = tj_hsa_code_object_reader_create_from_memory(hsa, error, made->code_object.data,
                                                                  made->code_object.size, &made->reader);
  if (status == TJ_OK)
    status = tj_hsa_executable_create_alt(hsa, error, HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL,
                                          &made->handle);
  if (status == TJ_OK)
    status = tj_hsa_executable_load_agent_code_object(hsa, error, made->handle, codes->gpu, made->reader, NULL, NULL);
  if (status == TJ_OK)
    status = tj_hsa_executable_freeze(hsa, error, made->handle, NULL);
  return status;
}

static void unload(const tj_hsa_codes *codes, tj_hsa_executable *executable) {
  if (executable->handle.handle != 0)
    codes->hsa->executable_destroy(executable->handle);
  if (executable->reader.handle != 0)
    codes->hsa->code_object_reader_destroy(executable->reader);
  codes->allocator.release(codes->allocator.user, executable);
}

static tj_status create(const tj_hsa_codes *codes, tj_bytes code_object, tj_hsa_executable **executable,
                        tj_rt_error *error) {
  tj_hsa_executable *made = codes->allocator.allocate(codes->allocator.user, sizeof *made);
  if (made == NULL)
    return tj_rt_failed(error, TJ_ERROR_MEMORY, TJ_OUT_OF_MEMORY, "out of memory");
  *made = (tj_hsa_executable){.references = 1, .code_object = code_object};
  tj_status status = load(codes, made, error);
  if (status == TJ_OK)
    *executable = made;
  else
    unload(codes, made);
  return status;
}

static tj_hsa_executable *find(const tj_hsa_codes *codes, tj_bytes code_object) {
  tj_hsa_executable *found = codes->first;
  while (found != NULL &&
         (found->code_object.data != code_object.data || found->code_object.size != code_object.size))
    found = found->next;
  return found;
}

tj_status tj_hsa_executable_retain(tj_hsa_codes *codes, tj_bytes code_object, tj_hsa_executable **executable,
                                   tj_rt_error *error) {
  tj_status status = TJ_OK;
  pthread_mutex_lock(&codes->lock);
  tj_hsa_executable *known = find(codes, code_object);
  if (known != NULL) {
    known->references++;
    *executable = known;
  } else {
    status = create(codes, code_object, executable, error);
    if (status == TJ_OK) {
      (*executable)->next = codes->first;
      codes->first = *executable;
    }
  }
  pthread_mutex_unlock(&codes->lock);
  return status;
}

static void unlink_executable(tj_hsa_codes *codes, const tj_hsa_executable *gone) {
  tj_hsa_executable **at = &codes->first;
  while (*at != gone)
    at = &(*at)->next;
  *at = gone->next;
}

void tj_hsa_executable_release(tj_hsa_codes *codes, tj_hsa_executable *executable) {
  pthread_mutex_lock(&codes->lock);
  if (--executable->references == 0) {
    unlink_executable(codes, executable);
    unload(codes, executable);
  }
  pthread_mutex_unlock(&codes->lock);
}

/* --- kernels --- */

tj_status tj_hsa_executable_kernel(const tj_hsa_codes *codes, const tj_hsa_executable *executable, const char *name,
                                   tj_hsa_kernel *kernel, tj_rt_error *error) {
  const tj_hsa *hsa = codes->hsa;
  char symbol_name[SYMBOL_CAPACITY];
  hsa_executable_symbol_t symbol;
  snprintf(symbol_name, sizeof symbol_name, "%s.kd", name);
  tj_status status =
      tj_hsa_executable_get_symbol_by_name(hsa, error, executable->handle, symbol_name, &codes->gpu, &symbol);
  const struct {
    hsa_executable_symbol_info_t attribute;
    void *to;
  } wanted[] = {
      {HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &kernel->object},
      {HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE, &kernel->kernarg_bytes},
      {HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, &kernel->group_bytes},
      {HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE, &kernel->private_bytes},
  };
  for (size_t i = 0; status == TJ_OK && i < sizeof wanted / sizeof wanted[0]; i++)
    status = tj_hsa_executable_symbol_get_info(hsa, error, symbol, wanted[i].attribute, wanted[i].to);
  return status;
}
