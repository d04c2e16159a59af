/* SPDX-License-Identifier: MIT */
/* Any bytes, as a code object handed to the simulator: refused, or loaded as the simulated runtime loads it, and its
 * first kernels run until they end or are stopped. Whatever the machine code does, it touches the memory of kernels
 * only, and not for ever. */
#include "rt/sim/isa/decode.h"
#include "rt/sim/load/dispatch.h"
#include "rt/sim/machine/memory.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
  PAGE = 4096,
  LARGEST_IMAGE = 1 << 20,
  LARGEST_CODE = 16 * 1024,
  MEMORY = 1 << 16,
  WORKGROUP = 64,
  KERNELS = 4,
  MOST_PROCESSORS = 64
};

/* What kernels may touch: their argument block, then their buffers. */
static _Alignas(PAGE) unsigned char memory[MEMORY];

typedef struct {
  tj_bytes bytes;
  tj_sim_image *image;
} session;

/* A disassembler takes longer to make than a kernel to run. */
static void *disassembler_of(const tj_processor *processor, uint32_t lanes) {
  static void *made[MOST_PROCESSORS][2];
  size_t number = (size_t)(processor - tj_processors);
  void **one = &made[number % MOST_PROCESSORS][lanes / 64];
  if (*one == NULL)
    *one = tj_sim_disassembler_open(processor, lanes);
  return *one;
}

static bool is_writable(const tj_sim_image *image) {
  for (uint32_t i = 0; i < image->object->segment_count; i++)
    if (image->object->segment[i].is_writable)
      return true;
  return false;
}

static size_t code_size(const tj_sim_image *image) {
  size_t size = 0;
  for (uint32_t i = 0; i < image->object->kernel_count; i++)
    size += image->kernel[i].code->code.size;
  return size;
}

/* Two addresses of buffers, then small integers. */
static void fill_arguments(void) {
  uint64_t *word = (uint64_t *)(void *)memory;
  memset(memory, 0, sizeof memory);
  for (size_t i = 0; i < PAGE / sizeof *word; i++)
    word[i] = i < 2 ? (uint64_t)(uintptr_t)(memory + PAGE * (1 + i)) : i;
}

static void run_kernel(const tj_sim_image *image, const tj_sim_kernel *kernel) {
  const tj_sim_launch launch = {.kernel = kernel,
                                .processor = image->object->processor,
                                .grid = {WORKGROUP, 1, 1},
                                .workgroup = {WORKGROUP, 1, 1},
                                .group_bytes = kernel->code->descriptor.group_segment_bytes,
                                .private_bytes = kernel->code->descriptor.private_segment_bytes,
                                .arguments = memory,
                                .agents = tj_sim_all_agents};
  tj_sim_counters counters = {0};
  tj_sim_stop stop;
  fill_arguments();
  tj_sim_dispatch(&launch, &counters, &stop);
}

static void load_and_run(tj_job *job, void *data) {
  session *s = data;
  s->image = tj_sim_image_read(job, s->bytes);
  if (s->image->size > LARGEST_IMAGE || code_size(s->image) > LARGEST_CODE)
    return;
  size_t size = (size_t)s->image->size + 1;
  unsigned char *block = TJ_NEW_ARRAY(job, unsigned char, size);
  tj_sim_image_load(s->image, block);
  for (uint32_t lanes = 32; lanes <= 64; lanes += 32)
    tj_sim_image_decode(job, s->image, disassembler_of(s->image->object->processor, lanes), lanes);
  const tj_sim_range code = tj_sim_range_of(block, size, is_writable(s->image));
  const tj_sim_range arguments = tj_sim_range_of(memory, sizeof memory, true);
  if (!tj_sim_memory_add(&code) || !tj_sim_memory_add(&arguments))
    abort();
  for (uint32_t i = 0; i < s->image->object->kernel_count && i < KERNELS; i++)
    run_kernel(s->image, &s->image->kernel[i]);
  tj_sim_memory_remove(memory, false);
  tj_sim_memory_remove(block, false);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  setenv("TILEJIT_HSASIM_BUDGET", "20000", 1);
  session s = {.bytes = {data, size}};
  tj_job job;
  tj_job_init(&job, NULL);
  tj_job_run(&job, load_and_run, &s);
  tj_job_destroy(&job);
  return 0;
}
