/* SPDX-License-Identifier: MIT */
/* Host code: which way an object is loaded, and the handle of what became of it. */
#include "jit/image/host_code.h"

#include "jit/image/host_pages.h"
#include "jit/image/orc.h"

#include <stdio.h>

/* About what ORC keeps for one object, its code included. */
enum { ORC_BYTES = 64 * 1024 };

struct tj_host_code {
  tj_allocator allocator;
  tj_host_pages pages; /* owned; size 0: it is ORC's */
  tj_orc *orc;         /* owned; NULL: it is in pages */
  uintptr_t entry[];
};

/* Nothing here leaves by a failure, since the handle belongs to no arena. */
static bool place(tj_host_code *code, const tj_host_layout *layout, tj_bytes object, bool is_own,
                  const char *const symbol[], uint32_t count, char *message) {
  if (layout != NULL && tj_host_pages_map(&code->pages, layout, symbol, count, code->entry))
    return true;
  if (is_own)
    code->orc = tj_orc_load(object, symbol, count, code->entry, message);
  else
    snprintf(message, TJ_ORC_MESSAGE_SIZE, "it does not stand by itself");
  return code->orc != NULL;
}

static tj_host_code *load(tj_job *job, tj_bytes object, bool is_own, const char *const symbol[], uint32_t count) {
  const tj_host_layout *layout = tj_host_layout_of(job, object);
  tj_host_code *code = job->allocator.allocate(job->allocator.user, sizeof *code + count * sizeof code->entry[0]);
  if (code == NULL)
    tj_fail_out_of_memory(job);
  *code = (tj_host_code){.allocator = job->allocator};
  char message[TJ_ORC_MESSAGE_SIZE];
  if (!place(code, layout, object, is_own, symbol, count, message)) {
    tj_host_code_unload(code);
    tj_fail(job, TJ_CODEGEN, "loading host code: %s", message);
  }
  return code;
}

tj_host_code *tj_host_code_load(tj_job *job, tj_bytes object, const char *const symbol[], uint32_t count) {
  return load(job, object, true, symbol, count);
}

tj_host_code *tj_host_code_restore(tj_job *job, tj_bytes object, const char *const symbol[], uint32_t count) {
  return load(job, object, false, symbol, count);
}

bool tj_host_code_is_restorable(const tj_host_code *code) {
  return code->orc == NULL;
}

tj_host_entry tj_host_code_entry(const tj_host_code *code, uint32_t index) {
  return (tj_host_entry)code->entry[index];
}

size_t tj_host_code_size(const tj_host_code *code) {
  return sizeof *code + (code->orc != NULL ? ORC_BYTES : code->pages.size);
}

void tj_host_code_unload(tj_host_code *code) {
  if (code == NULL)
    return;
  tj_host_pages_unmap(&code->pages);
  tj_orc_unload(code->orc);
  code->allocator.release(code->allocator.user, code);
}
