/* SPDX-License-Identifier: MIT */
/* Alignments of accesses, and so of buffers. */
#include "lower/kernel/alignment.h"

#include "ir/index/facts.h"

static bool is_multiple(const tj_access *access, int64_t elements) {
  return (access->base == NULL || tj_facts_divisible(&access->base->facts, elements)) &&
         tj_facts_divisible(&access->offset->facts, elements) && access->displacement % elements == 0;
}

bool tj_step_begins_at_multiple(const tj_kernel *kernel, const tj_kernel_step *step, uint32_t elements) {
  return (kernel->is_aligned && elements <= step->multiple) || is_multiple(&step->access, elements);
}

/* Whether the access is to be aligned as a whole. */
static bool needs_alignment(const tj_kernel *kernel, const tj_kernel_step *step) {
  return step->access.buffer == TJ_LDS || kernel->is_aligned || tj_step_is_streamed(kernel, step);
}

uint32_t tj_step_alignment(const tj_kernel *kernel, const tj_kernel_step *step) {
  uint32_t elements = 1;
  while (needs_alignment(kernel, step) && elements < step->width &&
         tj_step_begins_at_multiple(kernel, step, 2 * elements))
    elements *= 2;
  return tj_element_bytes(kernel, step->access.buffer) * elements;
}

static uint32_t most_alignment(const tj_kernel *kernel, const tj_kernel_step steps[], uint32_t count,
                               uint32_t buffer) {
  uint32_t most = 1;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t alignment =
        tj_step_has_access(&steps[i]) && steps[i].access.buffer == buffer ? tj_step_alignment(kernel, &steps[i]) : 1;
    most = alignment > most ? alignment : most;
  }
  return most;
}

uint32_t tj_buffer_alignment(const tj_kernel *kernel, uint32_t buffer) {
  uint32_t element = tj_element_bytes(kernel, buffer);
  uint32_t masked = most_alignment(kernel, kernel->step, kernel->step_count, buffer);
  uint32_t inner = most_alignment(kernel, kernel->inner_step, kernel->inner_step_count, buffer);
  uint32_t most = masked > inner ? masked : inner;
  if (kernel->map != NULL && kernel->map->buffer == buffer && most < kernel->map->alignment)
    most = kernel->map->alignment;
  return most > element ? most : element;
}
