/* SPDX-License-Identifier: MIT */
/* Loading cubins, and PTX, which the driver compiles; finding kernels in what comes out. */
#include "rt/cuda/cuda_code.h"

#include <stdio.h>
#include <string.h>

enum { LOG_BYTES = 400 };

static tj_cuda_module handle_of(const tj_rt_module *module) {
  return (tj_cuda_module)(uintptr_t)module->handle[0];
}

/* The first line of what the driver's compiler says, where it says anything. */
static tj_status add_log(tj_status status, const char *log, tj_rt_error *error) {
  tj_rt_error plain = *error;
  size_t length = strcspn(log, "\n");
  if (status == TJ_OK || length == 0)
    return status;
  return tj_rt_failed(error, status, plain.code, "%.100s: %.*s", plain.text, (int)length, log);
}

/* --- loading --- */

/* What the driver's compiler and linker say. */
typedef struct {
  char log[LOG_BYTES];
  int option[2];
  void *value[2];
} log_options;

static void ask_for_log(log_options *asked) {
  *asked = (log_options){.option = {TJ_CUDA_JIT_ERROR_LOG, TJ_CUDA_JIT_ERROR_LOG_SIZE},
                         .value = {asked->log, (void *)(uintptr_t)(sizeof asked->log - 1)}};
}

/* Code as the driver has it, which reads text up to its zero. */
static tj_status load_image(const tj_cuda_place *place, const void *image, tj_rt_module *module, tj_rt_error *error) {
  tj_cuda_module loaded = NULL;
  log_options asked;
  ask_for_log(&asked);
  tj_status status = tj_cuda_module_load(place->cuda, error, &loaded, image, 2, asked.option, asked.value);
  module->handle[0] = status == TJ_OK ? (uint64_t)(uintptr_t)loaded : 0;
  return add_log(status, asked.log, error);
}

/* --- linking --- */

/* The driver's machine code of PTX is its own until the link is destroyed. It is kept where there is a key. PTX is
 * linked whether it is kept or not: what the driver loads as it stands has fewer registers, and loads of memory wait
 * for one another in them. */
static tj_status link_ptx(const tj_cuda_place *place, char *text, size_t size, tj_rt_module *module,
                          const tj_rt_linked_key *key, tj_rt_error *error) {
  tj_cuda_link link;
  void *image = NULL;
  size_t image_size = 0;
  log_options asked;
  ask_for_log(&asked);
  tj_status status = tj_cuda_link_create(place->cuda, error, 2, asked.option, asked.value, &link);
  if (status != TJ_OK)
    return status;
  status = tj_cuda_link_add_data(place->cuda, error, link, TJ_CUDA_LINK_PTX, text, size, NULL, 0, NULL, NULL);
  if (status == TJ_OK)
    status = tj_cuda_link_complete(place->cuda, error, link, &image, &image_size);
  status = add_log(status, asked.log, error);
  if (status == TJ_OK)
    status = load_image(place, image, module, error);
  if (status == TJ_OK && key != NULL)
    module->vault->keep(module->vault->data, key, (tj_bytes){image, image_size});
  place->cuda->link_destroy(link);
  return status;
}

/* What was kept, where it loads; otherwise it is made anew. */
static tj_status load_linked(const tj_cuda_place *place, char *text, tj_rt_module *module, tj_rt_error *error) {
  const tj_rt_vault *vault = module->vault;
  const tj_rt_linked_key key = {module->code, place->maker};
  tj_bytes kept = {NULL, 0};
  void *block = NULL;
  bool has_cache = vault != NULL && vault->find(vault->data, &key, &kept, &block);
  tj_status status = kept.size > 0 ? load_image(place, kept.data, module, error) : TJ_ERROR_SYSTEM;
  if (kept.size > 0 && status != TJ_OK)
    vault->reject(vault->data, &key);
  if (has_cache)
    vault->release(vault->data, block);
  return status == TJ_OK ? TJ_OK
                         : link_ptx(place, text, module->code.size + 1, module, has_cache ? &key : NULL, error);
}

static bool is_machine_code(tj_bytes code) {
  static const char magic[] = {0x7f, 'E', 'L', 'F'};
  return code.size >= sizeof magic && memcmp(code.data, magic, sizeof magic) == 0;
}

static tj_status load(void *data, tj_rt_module *module, tj_rt_error *error) {
  const tj_cuda_place *place = data;
  char *copy = place->allocator.allocate(place->allocator.user, module->code.size + 1);
  if (copy == NULL)
    return tj_rt_failed(error, TJ_ERROR_MEMORY, TJ_OUT_OF_MEMORY, "out of memory");
  memcpy(copy, module->code.data, module->code.size);
  copy[module->code.size] = '\0';
  tj_status status = is_machine_code(module->code) ? load_image(place, copy, module, error)
                                                   : load_linked(place, copy, module, error);
  place->allocator.release(place->allocator.user, copy);
  return status;
}

static void unload(void *data, tj_rt_module *module) {
  const tj_cuda_place *place = data;
  if (module->handle[0] != 0)
    place->cuda->module_unload(handle_of(module));
}

tj_cuda_place tj_cuda_place_of(const tj_cuda *cuda, const tj_allocator *allocator, int device) {
  tj_cuda_place place = {.cuda = cuda, .allocator = *allocator};
  int major = 0, minor = 0, version = 0;
  (void)cuda->device_get_attribute(&major, TJ_CUDA_CAPABILITY_MAJOR, device);
  (void)cuda->device_get_attribute(&minor, TJ_CUDA_CAPABILITY_MINOR, device);
  (void)cuda->driver_get_version(&version);
  snprintf(place.maker, sizeof place.maker, "sm_%d by %d", 10 * major + minor, version);
  return place;
}

const tj_rt_loader tj_cuda_loader = {load, unload};

/* Shared memory that the code does not lay out itself is given at each launch. */
static tj_status reserve(const tj_cuda *cuda, const tj_rt_code *code, tj_cuda_kernel *kernel, tj_rt_error *error) {
  int laid_out;
  tj_status status =
      tj_cuda_function_get_attribute(cuda, error, &laid_out, TJ_CUDA_FUNCTION_SHARED_BYTES, kernel->function);
  if (status != TJ_OK || (uint32_t)laid_out >= code->lds_bytes)
    return status;
  kernel->dynamic_bytes = code->lds_bytes - (uint32_t)laid_out;
  return tj_cuda_function_set_attribute(cuda, error, kernel->function, TJ_CUDA_FUNCTION_DYNAMIC_SHARED_BYTES,
                                        (int)kernel->dynamic_bytes);
}

tj_status tj_cuda_find_kernel(const tj_cuda *cuda, const tj_rt_module *module, const tj_rt_code *code,
                              tj_cuda_kernel *kernel, tj_rt_error *error) {
  *kernel = (tj_cuda_kernel){.argument_words = code->argument_words, .has_map = code->has_map};
  if (code->argument_words > TJ_CUDA_MOST_WORDS)
    return tj_rt_failed(error, TJ_ERROR_INPUT, TJ_LAUNCH, "kernel %s has more than %d parameters", code->symbol,
                        TJ_CUDA_MOST_WORDS);
  tj_status status = tj_cuda_module_get_function(cuda, error, &kernel->function, handle_of(module), code->symbol);
  return status == TJ_OK ? reserve(cuda, code, kernel, error) : status;
}
