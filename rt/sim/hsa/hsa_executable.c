/* SPDX-License-Identifier: MIT */
/* The simulated HSA runtime: code objects, executables, symbols. */
#include "rt/sim/hsa/hsa_state.h"

#include "base/job.h"
#include "rt/sim/isa/decode.h"

#include <stdlib.h>

enum { MOST_IMAGES = 8, PAGE = 4096 };

typedef struct executable executable;

/* An executable owns its images, whose kernels waves execute. All of them are in one list, so that packets can be
 * traced back to kernels. */
struct executable {
  executable *next;
  tj_job job; /* images and instructions */
  tj_sim_image *image[MOST_IMAGES];
  uint64_t agent[MOST_IMAGES];
  uint32_t image_count;
  bool is_frozen;
};

typedef struct {
  const void *bytes;
  size_t size;
} code_reader;

static struct {
  pthread_mutex_t lock;
  executable *first;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static executable *executable_of(hsa_executable_t handle) {
  return (executable *)(uintptr_t)handle.handle;
}

/* --- code objects --- */

hsa_status_t hsa_code_object_reader_create_from_memory(const void *code_object, size_t size,
                                                       hsa_code_object_reader_t *code_object_reader) {
  if (code_object == NULL || size == 0)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  code_reader *reader = malloc(sizeof *reader);
  if (reader == NULL)
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  *reader = (code_reader){code_object, size};
  code_object_reader->handle = (uint64_t)(uintptr_t)reader;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_code_object_reader_destroy(hsa_code_object_reader_t code_object_reader) {
  free((code_reader *)(uintptr_t)code_object_reader.handle);
  return HSA_STATUS_SUCCESS;
}

/* --- executables --- */

hsa_status_t hsa_executable_create_alt(hsa_profile_t profile, hsa_default_float_rounding_mode_t rounding,
                                       const char *options, hsa_executable_t *handle) {
  (void)profile;
  (void)rounding;
  (void)options;
  executable *made = calloc(1, sizeof *made);
  if (made == NULL)
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  tj_job_init(&made->job, NULL);
  pthread_mutex_lock(&all.lock);
  made->next = all.first;
  all.first = made;
  pthread_mutex_unlock(&all.lock);
  handle->handle = (uint64_t)(uintptr_t)made;
  return HSA_STATUS_SUCCESS;
}

static void unlink_executable(const executable *gone) {
  pthread_mutex_lock(&all.lock);
  executable **at = &all.first;
  while (*at != NULL && *at != gone)
    at = &(*at)->next;
  if (*at != NULL)
    *at = gone->next;
  pthread_mutex_unlock(&all.lock);
}

hsa_status_t hsa_executable_destroy(hsa_executable_t handle) {
  executable *gone = executable_of(handle);
  if (gone == NULL)
    return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
  unlink_executable(gone);
  for (uint32_t i = 0; i < gone->image_count; i++) {
    tj_sim_memory_remove(gone->image[i]->memory);
    free(gone->image[i]->memory);
  }
  tj_job_destroy(&gone->job);
  free(gone);
  return HSA_STATUS_SUCCESS;
}

/* --- loading --- */

/* A code object on its way into an executable. */
typedef struct {
  tj_bytes bytes;
  tj_sim_image *image;
  const char *obstacle;
  unsigned char *memory;
  void *disassembler;
  uint32_t lanes;
} loading;

static void read_body(tj_job *job, void *data) {
  loading *l = data;
  l->image = tj_sim_image_read(job, l->bytes);
}

static void load_body(tj_job *job, void *data) {
  loading *l = data;
  tj_sim_image_load(job, l->image, l->memory);
}

static void decode_body(tj_job *job, void *data) {
  loading *l = data;
  tj_sim_image_decode(job, l->image, l->disassembler, l->lanes);
}

static bool is_writable(const tj_sim_image *image) {
  for (uint32_t i = 0; i < image->segment_count; i++) {
    if (image->segment[i].is_writable)
      return true;
  }
  return false;
}

static hsa_status_t allocate_image(loading *l) {
  size_t size = (size_t)(l->image->size + PAGE) / PAGE * PAGE;
  l->memory = aligned_alloc(PAGE, size);
  if (l->memory == NULL || !tj_sim_memory_add(l->memory, size, is_writable(l->image))) {
    free(l->memory);
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  }
  return HSA_STATUS_SUCCESS;
}

static bool decode_for(tj_job *job, loading *l, const tj_processor *processor, uint32_t lanes) {
  l->lanes = lanes;
  l->disassembler = tj_sim_disassembler_open(processor, lanes);
  bool decoded = l->disassembler != NULL && tj_job_run(job, decode_body, l) == TJ_OK;
  tj_sim_disassembler_close(l->disassembler);
  return decoded;
}

static bool has_lanes(const tj_sim_image *image, uint32_t lanes) {
  for (uint32_t i = 0; i < image->kernel_count; i++) {
    if (image->kernel[i].descriptor.lanes == lanes)
      return true;
  }
  return false;
}

static hsa_status_t load(executable *into, loading *l, const tj_processor *processor, const tj_target_id *target) {
  tj_target_reason reason;
  tj_status read = tj_job_run(&into->job, read_body, l);
  if (read != TJ_OK)
    return read == TJ_ERROR_MEMORY ? HSA_STATUS_ERROR_OUT_OF_RESOURCES : HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
  if (!tj_target_id_allows(&l->image->target, target, &reason))
    return HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS;
  hsa_status_t status = allocate_image(l);
  if (status != HSA_STATUS_SUCCESS)
    return status;
  bool loaded = tj_job_run(&into->job, load_body, l) == TJ_OK;
  for (uint32_t lanes = 32; loaded && lanes <= 64; lanes += 32)
    loaded = !has_lanes(l->image, lanes) || decode_for(&into->job, l, processor, lanes);
  if (loaded)
    return HSA_STATUS_SUCCESS;
  tj_sim_memory_remove(l->memory);
  free(l->memory);
  return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

hsa_status_t hsa_executable_load_agent_code_object(hsa_executable_t handle, hsa_agent_t agent,
                                                   hsa_code_object_reader_t code_object_reader, const char *options,
                                                   hsa_loaded_code_object_t *loaded_code_object) {
  (void)options;
  executable *into = executable_of(handle);
  const code_reader *reader = (const code_reader *)(uintptr_t)code_object_reader.handle;
  const tj_processor *processor = tj_sim_agent_processor(agent.handle);
  if (into->is_frozen)
    return HSA_STATUS_ERROR_FROZEN_EXECUTABLE;
  if (processor == NULL)
    return HSA_STATUS_ERROR_INVALID_AGENT;
  if (into->image_count == MOST_IMAGES)
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  loading l = {.bytes = {reader->bytes, reader->size}};
  hsa_status_t status = load(into, &l, processor, tj_sim_target_of_agent(agent.handle));
  if (status != HSA_STATUS_SUCCESS)
    return status;
  pthread_mutex_lock(&all.lock);
  into->agent[into->image_count] = agent.handle;
  into->image[into->image_count++] = l.image;
  pthread_mutex_unlock(&all.lock);
  if (loaded_code_object != NULL)
    loaded_code_object->handle = (uint64_t)(uintptr_t)l.image;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_freeze(hsa_executable_t handle, const char *options) {
  (void)options;
  executable_of(handle)->is_frozen = true;
  return HSA_STATUS_SUCCESS;
}

/* --- symbols: kernels, by the address of their descriptor --- */

static uint64_t object_of(const tj_sim_image *image, const tj_sim_kernel *kernel) {
  return (uint64_t)(uintptr_t)image->memory + kernel->descriptor_address;
}

static const tj_sim_kernel *find_in_image(const tj_sim_image *image, uint64_t object) {
  for (uint32_t i = 0; i < image->kernel_count; i++) {
    if (object_of(image, &image->kernel[i]) == object)
      return &image->kernel[i];
  }
  return NULL;
}

const tj_sim_kernel *tj_sim_find_kernel(uint64_t object, const tj_processor **processor) {
  const tj_sim_kernel *found = NULL;
  pthread_mutex_lock(&all.lock);
  for (const executable *e = all.first; e != NULL && found == NULL; e = e->next) {
    for (uint32_t i = 0; i < e->image_count && found == NULL; i++) {
      found = find_in_image(e->image[i], object);
      *processor = e->image[i]->processor;
    }
  }
  pthread_mutex_unlock(&all.lock);
  return found;
}

hsa_status_t hsa_executable_get_symbol_by_name(hsa_executable_t handle, const char *symbol_name,
                                               const hsa_agent_t *agent, hsa_executable_symbol_t *symbol) {
  const executable *from = executable_of(handle);
  for (uint32_t i = 0; i < from->image_count; i++) {
    if (agent != NULL && agent->handle != from->agent[i])
      continue;
    const tj_sim_kernel *kernel = tj_sim_image_kernel(from->image[i], symbol_name);
    if (kernel == NULL)
      continue;
    symbol->handle = object_of(from->image[i], kernel);
    return HSA_STATUS_SUCCESS;
  }
  return HSA_STATUS_ERROR_INVALID_SYMBOL_NAME;
}

hsa_status_t hsa_executable_symbol_get_info(hsa_executable_symbol_t symbol, hsa_executable_symbol_info_t attribute,
                                            void *value) {
  const tj_processor *processor;
  const tj_sim_kernel *kernel = tj_sim_find_kernel(symbol.handle, &processor);
  if (kernel == NULL)
    return HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL;
  switch (attribute) {
  case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT:
    *(uint64_t *)value = symbol.handle;
    return HSA_STATUS_SUCCESS;
  case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE:
    *(uint32_t *)value = kernel->descriptor.kernarg_bytes;
    return HSA_STATUS_SUCCESS;
  case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_ALIGNMENT:
    *(uint32_t *)value = 16;
    return HSA_STATUS_SUCCESS;
  case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE:
    *(uint32_t *)value = kernel->descriptor.group_bytes;
    return HSA_STATUS_SUCCESS;
  case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE:
    *(uint32_t *)value = kernel->descriptor.private_bytes;
    return HSA_STATUS_SUCCESS;
  default:
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}
