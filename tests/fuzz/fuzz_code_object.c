/* SPDX-License-Identifier: MIT */
/* Any bytes: they describe a code object whose parts lie inside them, and whose listing can be made, or are refused.
 */
#include "jit/isa/disasm.h"
#include "jit/isa/stats.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Disassembling takes most of the time: enough of it to see every kind of damage. */
enum { MOST_CODE = 16 * 1024 };

static void require_inside(tj_bytes part, tj_bytes whole) {
  const char *begin = part.data, *base = whole.data;
  if (part.size != 0 && (begin < base || begin + part.size > base + whole.size))
    abort();
}

static size_t code_size(const tj_code_object *object) {
  size_t size = 0;
  for (uint32_t i = 0; i < object->kernel_count; i++)
    size += object->kernel[i].code.size;
  return size;
}

static void read_code_object(tj_job *job, void *data) {
  tj_bytes bytes = *(const tj_bytes *)data;
  const tj_code_object *object = tj_code_object_parse(job, bytes);
  for (uint32_t i = 0; i < object->segment_count; i++)
    require_inside(object->segment[i].bytes, bytes);
  for (uint32_t i = 0; i < object->kernel_count; i++)
    require_inside(object->kernel[i].code, bytes);
  if (code_size(object) > MOST_CODE)
    return;
  tj_text text = tj_text_begin(job);
  tj_disassemble(&text, object, (tj_disassembly_options){.with_stats = true, .with_encoding = true});
  tj_isa_stats_of(job, object, NULL);
}

static void read_host_object(tj_job *job, void *data) {
  tj_isa_stats_of_host(job, *(const tj_bytes *)data, NULL, NULL);
}

static void run(void (*body)(tj_job *, void *), tj_bytes bytes) {
  tj_job job;
  tj_job_init(&job, NULL);
  tj_job_run(&job, body, &bytes);
  tj_job_destroy(&job);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  run(read_code_object, (tj_bytes){data, size});
  run(read_host_object, (tj_bytes){data, size});
  return 0;
}
