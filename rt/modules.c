/* SPDX-License-Identifier: MIT */
/* Modules: found by the place of their code, counted. */
#include "rt/modules.h"

void tj_rt_modules_open(tj_rt_modules *modules, const tj_rt_loader *loader, void *data,
                        const tj_allocator *allocator) {
  *modules = (tj_rt_modules){.loader = loader, .data = data, .allocator = *allocator};
  pthread_mutex_init(&modules->lock, NULL);
}

void tj_rt_modules_close(tj_rt_modules *modules) {
  pthread_mutex_destroy(&modules->lock);
}

static void unload(const tj_rt_modules *modules, tj_rt_module *module) {
  modules->loader->unload(modules->data, module);
  modules->allocator.release(modules->allocator.user, module);
}

static tj_status create(const tj_rt_modules *modules, const tj_rt_code *code, tj_rt_module **module,
                        tj_rt_error *error) {
  tj_rt_module *made = modules->allocator.allocate(modules->allocator.user, sizeof *made);
  if (made == NULL)
    return tj_rt_failed(error, TJ_ERROR_MEMORY, TJ_OUT_OF_MEMORY, "out of memory");
  *made = (tj_rt_module){.references = 1, .code = code->code_object, .vault = code->vault};
  tj_status status = modules->loader->load(modules->data, made, error);
  made->vault = NULL;
  if (status == TJ_OK)
    *module = made;
  else
    unload(modules, made);
  return status;
}

static tj_rt_module *find(const tj_rt_modules *modules, tj_bytes code) {
  tj_rt_module *found = modules->first;
  while (found != NULL && (found->code.data != code.data || found->code.size != code.size))
    found = found->next;
  return found;
}

tj_status tj_rt_module_retain(tj_rt_modules *modules, const tj_rt_code *code, tj_rt_module **module,
                              tj_rt_error *error) {
  tj_status status = TJ_OK;
  pthread_mutex_lock(&modules->lock);
  tj_rt_module *known = find(modules, code->code_object);
  if (known != NULL) {
    known->references++;
    *module = known;
  } else {
    status = create(modules, code, module, error);
    if (status == TJ_OK) {
      (*module)->next = modules->first;
      modules->first = *module;
    }
  }
  pthread_mutex_unlock(&modules->lock);
  return status;
}

static void take_out(tj_rt_modules *modules, const tj_rt_module *gone) {
  tj_rt_module **at = &modules->first;
  while (*at != gone)
    at = &(*at)->next;
  *at = gone->next;
}

void tj_rt_module_release(tj_rt_modules *modules, tj_rt_module *module) {
  pthread_mutex_lock(&modules->lock);
  if (--module->references == 0) {
    take_out(modules, module);
    unload(modules, module);
  }
  pthread_mutex_unlock(&modules->lock);
}
