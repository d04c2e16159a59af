/* Kernels: what a compiled kernel does, in index expressions alone.
 *
 * A kernel runs one work-item for each linear coordinate 0 <= index < count, in workgroups of workgroup_size, the
 * last one partial. Each work-item makes one store: to element `offset` of a buffer, where `valid` holds, of a value
 * that is an index expression, or an element loaded from another buffer and converted. plan.c builds kernels from
 * views; derive.c moves work from work-items to the launch; lower_kernel.c lowers them. */
#ifndef TJ_LOWER_KERNEL_H
#define TJ_LOWER_KERNEL_H

#include "ir/graph.h"
#include "lower/dtype.h"

typedef struct {
  const char *name;
  tj_dtype dtype;
  bool is_read, is_written;
  const tj_node *element_count; /* elements that the view addresses: 1 + the largest offset of its base */
  const tj_node *const *extent; /* of the view's top-level modes */
  uint32_t rank;
  bool is_row_major; /* the view is plain row-major: `extent` is the natural shape of an array */
} tj_kernel_buffer;

/* An element of a buffer. `offset` is in elements, and lies inside the buffer wherever `valid` holds. */
typedef struct {
  uint32_t buffer;
  const tj_node *offset;
  const tj_node *valid; /* truth; the constant 1: always */
} tj_access;

/* What the launch computes once, so that no work-item has to: a word of the argument block. */
typedef enum {
  TJ_DERIVED_VALUE,   /* the value of an expression of parameters */
  TJ_DERIVED_MAGIC31, /* for dividing 0 … 2^31-1 by it: the multiplier, and the shift from bit 32 on */
  TJ_DERIVED_MAGIC32, /* for dividing 0 … 2^32-1 by it: the multiplier, and two shifts from bits 32 and 40 on */
  TJ_DERIVED_MAGIC64, /* for dividing 0 … 2^63-1 by it: the multiplier; TJ_DERIVED_SHIFT64 is the other half */
  TJ_DERIVED_SHIFT64
} tj_derived_kind;

typedef struct {
  tj_derived_kind kind;
  const tj_node *node; /* an expression of parameters; at least 1 where it is divided by */
} tj_derived;

typedef struct tj_kernel {
  const char *name;
  const tj_kernel_buffer *buffer;
  uint32_t buffer_count;
  const tj_node *const *parameter; /* symbols that are passed at launch, as 64-bit integers */
  uint32_t parameter_count;
  const tj_derived *derived; /* what tj_kernel_derive found; none before */
  uint32_t derived_count;
  const tj_node *index; /* the symbol of the linear coordinate */
  const tj_node *count; /* how many there are: an expression of parameters */
  uint32_t workgroup_size;
  tj_access store;
  bool is_copy;         /* the stored value is loaded; otherwise it is `value` */
  tj_access load;       /* where load.valid does not hold, the value is `fill` */
  int64_t fill;         /* in the source's element type; for floats, converted to it */
  const tj_node *value; /* offsets(dst, V): V's offset, or -1 */
} tj_kernel;

/* The kernel's argument block: pointers to the buffers, then the parameters, then the derived words; 8 bytes each. */
static inline uint32_t tj_kernel_argument_bytes(const tj_kernel *kernel) {
  return 8 * (kernel->buffer_count + kernel->parameter_count + kernel->derived_count);
}

/* Finds what the launch can compute: divisors for which it can give magic numbers, and costly expressions of
 * parameters alone. Call it after simplification, before lowering; a kernel without it is right, but slower. */
void tj_kernel_derive(tj_graph *graph, tj_kernel *kernel);

/* A derived word, for the value of its node under the launch's parameters. */
uint64_t tj_derived_word(tj_derived_kind kind, int64_t value);

#endif
