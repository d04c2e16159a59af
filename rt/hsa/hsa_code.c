/* SPDX-License-Identifier: MIT */
/* Loading code objects into executables, and finding kernels in them. */
#include "rt/hsa/hsa_code.h"

#include <string.h>

/* Which of a module's handles is which. */
enum { EXECUTABLE, READER };

static tj_status load(void *data, tj_rt_module *module, tj_rt_error *error) {
  const tj_hsa_place *place = data;
  const tj_hsa *hsa = place->hsa;
  hsa_code_object_reader_t reader = {0};
  hsa_executable_t executable = {0};
  tj_status status =
      tj_hsa_code_object_reader_create_from_memory(hsa, error, module->code.data, module->code.size, &reader);
  module->handle[READER] = status == TJ_OK ? reader.handle : 0;
  if (status == TJ_OK)
    status = tj_hsa_executable_create_alt(hsa, error, HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL,
                                          &executable);
  module->handle[EXECUTABLE] = status == TJ_OK ? executable.handle : 0;
  if (status == TJ_OK)
    status = tj_hsa_executable_load_agent_code_object(hsa, error, executable, place->gpu, reader, NULL, NULL);
  if (status == TJ_OK)
    status = tj_hsa_executable_freeze(hsa, error, executable, NULL);
  return status;
}

static void unload(void *data, tj_rt_module *module) {
  const tj_hsa_place *place = data;
  if (module->handle[EXECUTABLE] != 0)
    place->hsa->executable_destroy((hsa_executable_t){module->handle[EXECUTABLE]});
  if (module->handle[READER] != 0)
    place->hsa->code_object_reader_destroy((hsa_code_object_reader_t){module->handle[READER]});
}

const tj_rt_loader tj_hsa_loader = {load, unload};

/* The symbol of a kernel's descriptor. */
static tj_status find_descriptor(const tj_hsa_place *place, const tj_rt_module *module, const char *name,
                                 hsa_executable_symbol_t *symbol, tj_rt_error *error) {
  static const char suffix[] = ".kd";
  size_t length = strlen(name);
  char *symbol_name = place->allocator.allocate(place->allocator.user, length + sizeof suffix);
  if (symbol_name == NULL)
    return tj_rt_failed(error, TJ_ERROR_MEMORY, TJ_OUT_OF_MEMORY, "out of memory");
  memcpy(symbol_name, name, length);
  memcpy(symbol_name + length, suffix, sizeof suffix);
  hsa_executable_t executable = {module->handle[EXECUTABLE]};
  tj_status status =
      tj_hsa_executable_get_symbol_by_name(place->hsa, error, executable, symbol_name, &place->gpu, symbol);
  place->allocator.release(place->allocator.user, symbol_name);
  return status;
}

tj_status tj_hsa_find_kernel(const tj_hsa_place *place, const tj_rt_module *module, const char *name,
                             tj_hsa_kernel *kernel, tj_rt_error *error) {
  const tj_hsa *hsa = place->hsa;
  hsa_executable_symbol_t symbol;
  tj_status status = find_descriptor(place, module, name, &symbol, error);
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
