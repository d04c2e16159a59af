/* Kernels: what a compiled kernel does, in index expressions alone.
 *
 * A kernel runs one work-item for each linear coordinate 0 <= index < count, in workgroups of workgroup_size, the
 * last one partial. Each work-item makes one store: to element `offset` of a buffer, where `valid` holds, of a value
 * that is an index expression, or an element loaded from another buffer and converted. plan.c builds kernels from
 * views; emit.c lowers them. */
#ifndef TJ_LOWER_KERNEL_H
#define TJ_LOWER_KERNEL_H

#include "ir/graph.h"
#include "lower/dtype.h"

typedef struct {
  const char *name;
  tj_dtype dtype;
  bool is_read, is_written;
  const tj_node *element_count; /* elements that the view addresses: 1 + the largest offset of its base */
} tj_kernel_buffer;

/* An element of a buffer. `offset` is in elements, and lies inside the buffer wherever `valid` holds. */
typedef struct {
  uint32_t buffer;
  const tj_node *offset;
  const tj_node *valid; /* truth; the constant 1: always */
} tj_access;

typedef struct {
  const char *name;
  const tj_kernel_buffer *buffer;
  uint32_t buffer_count;
  const tj_node *const *parameter; /* symbols that are passed at launch, as 64-bit integers */
  uint32_t parameter_count;
  const tj_node *index; /* the symbol of the linear coordinate */
  const tj_node *count; /* how many there are: an expression of parameters */
  uint32_t workgroup_size;
  tj_access store;
  bool is_copy;         /* the stored value is loaded; otherwise it is `value` */
  tj_access load;       /* where load.valid does not hold, the value is `fill` */
  int64_t fill;         /* in the source's element type; for floats, converted to it */
  const tj_node *value; /* offsets(dst, V): V's offset, or -1 */
} tj_kernel;

/* The kernel's argument block: pointers to the buffers, 8 bytes each, then the parameters, 8 bytes each. */
static inline uint32_t tj_kernel_argument_bytes(const tj_kernel *kernel) {
  return 8 * (kernel->buffer_count + kernel->parameter_count);
}

#endif
