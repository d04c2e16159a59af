/* SPDX-License-Identifier: MIT */
/* Host code: which way an object is loaded, and the handle of what became of it. */
#include "launch/image/host_code.h"

#include "launch/image/host_pages.h"

#include <stdio.h>

struct tj_host_code {
  tj_allocator allocator;
  tj_host_pages pages;          /* owned; size 0: it is the linker's */
  const tj_host_linker *linker; /* static; */
  void *linked;                 /* what it has loaded; NULL: it is in pages */
  uintptr_t entry[];
};

/* Nothing here leaves by a failure, since the handle belongs to no arena. */
static bool place(tj_host_code *code, const tj_host_layout *layout, tj_bytes object, const char *const symbol[],
                  uint32_t count, char *message) {
  if (layout != NULL && tj_host_pages_map(&code->pages, layout, symbol, count, code->entry))
    return true;
  if (code->linker != NULL)
    code->linked = code->linker->load(object, symbol, count, code->entry, message);
  else
    snprintf(message, TJ_LINKER_MESSAGE_SIZE, "it does not stand by itself");
  return code->linked != NULL;
}

tj_host_code *tj_host_code_load(tj_job *job, tj_bytes object, const tj_host_linker *linker,
                                const char *const symbol[], uint32_t count) {
  const tj_host_layout *layout = tj_host_layout_of(job, object);
  tj_host_code *code = job->allocator.allocate(job->allocator.user, sizeof *code + count * sizeof code->entry[0]);
  if (code == NULL)
    tj_fail_out_of_memory(job);
  *code = (tj_host_code){.allocator = job->allocator, .linker = linker};
  char message[TJ_LINKER_MESSAGE_SIZE];
  if (!place(code, layout, object, symbol, count, message)) {
    tj_host_code_unload(code);
    tj_fail(job, TJ_CODEGEN, "loading host code: %s", message);
  }
  return code;
}

bool tj_host_code_stands_by_itself(const tj_host_code *code) {
  return code->linked == NULL;
}

tj_host_entry tj_host_code_entry(const tj_host_code *code, uint32_t index) {
  return (tj_host_entry)code->entry[index];
}

size_t tj_host_code_size(const tj_host_code *code) {
  return sizeof *code + (code->linked != NULL ? code->linker->bytes : code->pages.size);
}

void tj_host_code_unload(tj_host_code *code) {
  if (code == NULL)
    return;
  tj_host_pages_unmap(&code->pages);
  if (code->linked != NULL)
    code->linker->unload(code->linked);
  code->allocator.release(code->allocator.user, code);
}
