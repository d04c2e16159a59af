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
  tj_bytes file[MOST_IMAGES]; /* where the code object was when it was loaded */
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
    tj_sim_memory_remove(gone->image[i]->memory, false);
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
  uint64_t agent;
  tj_sim_image *image;
  unsigned char *memory;
  void *disassembler;
  uint32_t lanes;
} loading;

static void read_body(tj_job *job, void *data) {
  loading *l = data;
  l->image = tj_sim_image_read(job, l->bytes);
}

static void decode_body(tj_job *job, void *data) {
  loading *l = data;
  tj_sim_image_decode(job, l->image, l->disassembler, l->lanes);
}

static bool is_writable(const tj_sim_image *image) {
  for (uint32_t i = 0; i < image->object->segment_count; i++) {
    if (image->object->segment[i].is_writable)
      return true;
  }
  return false;
}

static hsa_status_t allocate_image(loading *l) {
  size_t size = (size_t)(l->image->size + PAGE) / PAGE * PAGE;
  l->memory = aligned_alloc(PAGE, size);
  tj_sim_range range = tj_sim_range_of(l->memory, size, is_writable(l->image));
  range.agents = tj_sim_agent_bit(l->agent);
  if (l->memory == NULL || !tj_sim_memory_add(&range)) {
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
  for (uint32_t i = 0; i < image->object->kernel_count; i++) {
    if (image->kernel[i].code->descriptor.wave_size == lanes)
      return true;
  }
  return false;
}

static hsa_status_t load(executable *into, loading *l) {
  const tj_processor *processor = tj_sim_agent_processor(l->agent);
  tj_target_reason reason;
  tj_status read = tj_job_run(&into->job, read_body, l);
  if (read != TJ_OK)
    return read == TJ_ERROR_MEMORY ? HSA_STATUS_ERROR_OUT_OF_RESOURCES : HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
  if (!tj_target_id_allows(&l->image->target, tj_sim_target_of_agent(l->agent), &reason))
    return HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS;
  hsa_status_t status = allocate_image(l);
  if (status != HSA_STATUS_SUCCESS)
    return status;
  tj_sim_image_load(l->image, l->memory);
  bool loaded = true;
  for (uint32_t lanes = 32; loaded && lanes <= 64; lanes += 32)
    loaded = !has_lanes(l->image, lanes) || decode_for(&into->job, l, processor, lanes);
  if (loaded)
    return HSA_STATUS_SUCCESS;
  tj_sim_memory_remove(l->memory, false);
  free(l->memory);
  return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

hsa_status_t hsa_executable_load_agent_code_object(hsa_executable_t handle, hsa_agent_t agent,
                                                   hsa_code_object_reader_t code_object_reader, const char *options,
                                                   hsa_loaded_code_object_t *loaded_code_object) {
  (void)options;
  executable *into = executable_of(handle);
  const code_reader *reader = (const code_reader *)(uintptr_t)code_object_reader.handle;
  if (into->is_frozen)
    return HSA_STATUS_ERROR_FROZEN_EXECUTABLE;
  if (tj_sim_agent_processor(agent.handle) == NULL)
    return HSA_STATUS_ERROR_INVALID_AGENT;
  if (into->image_count == MOST_IMAGES)
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  loading l = {.bytes = {reader->bytes, reader->size}, .agent = agent.handle};
  hsa_status_t status = load(into, &l);
  if (status != HSA_STATUS_SUCCESS)
    return status;
  pthread_mutex_lock(&all.lock);
  into->agent[into->image_count] = agent.handle;
  into->file[into->image_count] = l.bytes;
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

static const char suffix[] = ".kd";

static uint64_t object_of(const tj_sim_image *image, const tj_sim_kernel *kernel) {
  return (uint64_t)(uintptr_t)image->memory + kernel->code->descriptor_address;
}

static const tj_sim_kernel *find_in_image(const tj_sim_image *image, uint64_t object) {
  for (uint32_t i = 0; i < image->object->kernel_count; i++) {
    if (object_of(image, &image->kernel[i]) == object)
      return &image->kernel[i];
  }
  return NULL;
}

/* A kernel that is loaded, and where. */
typedef struct {
  const tj_sim_kernel *kernel;
  const tj_processor *processor;
  uint64_t agent;
} loaded_kernel;

static loaded_kernel find_kernel(uint64_t object) {
  loaded_kernel found = {NULL, NULL, 0};
  pthread_mutex_lock(&all.lock);
  for (const executable *e = all.first; e != NULL && found.kernel == NULL; e = e->next) {
    for (uint32_t i = 0; i < e->image_count && found.kernel == NULL; i++)
      found = (loaded_kernel){find_in_image(e->image[i], object), e->image[i]->object->processor, e->agent[i]};
  }
  pthread_mutex_unlock(&all.lock);
  return found;
}

const tj_sim_kernel *tj_sim_find_kernel(uint64_t object, const tj_processor **processor) {
  loaded_kernel found = find_kernel(object);
  *processor = found.processor;
  return found.kernel;
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

/* Symbols are kernels: the variables of a code object have none. */
hsa_status_t hsa_executable_symbol_get_info(hsa_executable_symbol_t symbol, hsa_executable_symbol_info_t attribute,
                                            void *value) {
  loaded_kernel found = find_kernel(symbol.handle);
  if (found.kernel == NULL)
    return HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL;
  const tj_kernel_descriptor *descriptor = &found.kernel->code->descriptor;
  switch (attribute) {
  case HSA_EXECUTABLE_SYMBOL_INFO_TYPE:
    *(hsa_symbol_kind_t *)value = HSA_SYMBOL_KIND_KERNEL;
    return HSA_STATUS_SUCCESS;
  case HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH:
    *(uint32_t *)value = (uint32_t)(strlen(found.kernel->code->name) + sizeof suffix - 1);
    return HSA_STATUS_SUCCESS;
  case HSA_EXECUTABLE_SYMBOL_INFO_NAME:
    memcpy(value, found.kernel->code->name, strlen(found.kernel->code->name));
    memcpy((char *)value + strlen(found.kernel->code->name), suffix, sizeof suffix - 1);
    return HSA_STATUS_SUCCESS;
  case HSA_EXECUTABLE_SYMBOL_INFO_AGENT:
    ((hsa_agent_t *)value)->handle = found.agent;
    return HSA_STATUS_SUCCESS;
  case HSA_EXECUTABLE_SYMBOL_INFO_IS_DEFINITION:
    *(bool *)value = true;
    return HSA_STATUS_SUCCESS;
  case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT:
    *(uint64_t *)value = symbol.handle;
    return HSA_STATUS_SUCCESS;
  case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE:
    *(uint32_t *)value = descriptor->kernarg_bytes;
    return HSA_STATUS_SUCCESS;
  case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_ALIGNMENT:
    *(uint32_t *)value = 16;
    return HSA_STATUS_SUCCESS;
  case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE:
    *(uint32_t *)value = descriptor->group_segment_bytes;
    return HSA_STATUS_SUCCESS;
  case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE:
    *(uint32_t *)value = descriptor->private_segment_bytes;
    return HSA_STATUS_SUCCESS;
  default:
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

/* --- HSA_EXTENSION_AMD_LOADER: what is where --- */

static bool has_address(const tj_sim_image *image, const void *address) {
  const unsigned char *at = address;
  return image->memory <= at && at < image->memory + image->size;
}

static hsa_status_t query_executable(const void *device_address, hsa_executable_t *handle) {
  if (device_address == NULL || handle == NULL)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  handle->handle = 0;
  pthread_mutex_lock(&all.lock);
  for (const executable *e = all.first; e != NULL && handle->handle == 0; e = e->next) {
    for (uint32_t i = 0; i < e->image_count; i++) {
      if (has_address(e->image[i], device_address))
        handle->handle = (uint64_t)(uintptr_t)e;
    }
  }
  pthread_mutex_unlock(&all.lock);
  return handle->handle != 0 ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

/* The host sees what is loaded where kernels see it. */
static hsa_status_t query_host_address(const void *device_address, const void **host_address) {
  hsa_executable_t ignored;
  if (host_address == NULL)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  hsa_status_t status = query_executable(device_address, &ignored);
  if (status == HSA_STATUS_SUCCESS)
    *host_address = device_address;
  return status;
}

static hsa_ven_amd_loader_segment_descriptor_t describe_segment(const executable *e, uint32_t i, uint32_t segment) {
  const tj_segment *s = &e->image[i]->object->segment[segment];
  return (hsa_ven_amd_loader_segment_descriptor_t){
      .agent = {e->agent[i]},
      .executable = {(uint64_t)(uintptr_t)e},
      .code_object_storage_type = HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_MEMORY,
      .code_object_storage_base = e->file[i].data,
      .code_object_storage_size = e->file[i].size,
      .code_object_storage_offset = (size_t)((uintptr_t)s->bytes.data - (uintptr_t)e->file[i].data),
      .segment_base = e->image[i]->memory + s->address,
      .segment_size = s->memory_size,
  };
}

/* Without room, it tells how many there are. */
static hsa_status_t query_segment_descriptors(hsa_ven_amd_loader_segment_descriptor_t *descriptors, size_t *count) {
  if (count == NULL || (descriptors == NULL) != (*count == 0))
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  size_t room = *count, found = 0;
  pthread_mutex_lock(&all.lock);
  for (const executable *e = all.first; e != NULL; e = e->next) {
    for (uint32_t i = 0; i < e->image_count; i++) {
      for (uint32_t k = 0; k < e->image[i]->object->segment_count; k++, found++) {
        if (found < room)
          descriptors[found] = describe_segment(e, i, k);
      }
    }
  }
  pthread_mutex_unlock(&all.lock);
  if (descriptors != NULL && found != room)
    return HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS;
  *count = found;
  return HSA_STATUS_SUCCESS;
}

const hsa_ven_amd_loader_1_00_pfn_t tj_sim_loader_functions = {query_host_address, query_segment_descriptors,
                                                               query_executable};
