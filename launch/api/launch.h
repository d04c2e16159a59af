/* SPDX-License-Identifier: MIT */
/* Launches behind the public header: parameters and arrays of one run of a kernel. All that is known of the kernel is
 * its launch plan.
 *
 *     launch_values.c   parameters, from values and shapes, checked and evaluated
 *     launch_bind.c     arguments: what they need, and the memory that is bound to them
 *     launch_race.c     parameters by which a kernel would race
 *     launch_prepare.c  the variant, the grid, the argument block: what a dispatch consists of
 *     launch.c          runs and submissions on devices of the library
 *
 * Functions that take a launch alone fail by its job. */
#ifndef TJ_LAUNCH_LAUNCH_H
#define TJ_LAUNCH_LAUNCH_H

#include "launch/api/buffer.h"
#include "launch/api/code.h"

enum { TJ_LAUNCH_COUNTERS = 64 };

/* The shape of an argument's array, as it was told. */
typedef struct {
  const int64_t *length; /* NULL: not told */
  size_t rank;
  bool has_run; /* it is that of an earlier run */
} tj_told_shape;

typedef enum {
  TJ_BOUND_NOTHING,
  TJ_BOUND_ARRAY,  /* host memory: `data` */
  TJ_BOUND_BUFFER, /* memory of `buffer`, at `address` on its device */
  TJ_BOUND_POINTER /* somebody else's memory, at `address` on the device */
} tj_bound_kind;

/* What is bound to an argument: `bytes` from there on. All but host memory of an array is borrowed. */
typedef struct {
  tj_bound_kind kind;
  void *data;
  tj_buffer *buffer;
  uint64_t address;
  size_t bytes;
} tj_bound_memory;

struct tj_launch {
  tj_context *context;
  const tj_code *code;
  tj_job job;                               /* messages, shapes, argument blocks */
  int64_t *value;                           /* of the plan's parameters, by number */
  bool *bound;                              /* those that have one, given or taken from shapes */
  bool *given;                              /* those whose value is given */
  bool is_resolved;                         /* all parameters have values that agree with their facts */
  bool is_race_free;                        /* as far as the plan tells, with these values */
  tj_launch_value *result;                  /* of the plan's expressions, once that is so */
  tj_told_shape *shape;                     /* one for each of the plan's buffers, */
  tj_bound_memory *memory;                  /* and so is this */
  uint64_t *address;                        /* of each buffer on the device, for the dispatch at hand, */
  tj_rt_buffer *copy;                       /* copies of host memory there, */
  uint64_t *block;                          /* its argument block, */
  tj_tensor_map map;                        /* and the tensor map that belongs in there, if one does */
  tj_kernarg *word;                         /* of the recipe; NULL: none has been asked for */
  tj_recipe recipe[TJ_LAUNCH_MOST_KERNELS]; /* what tj_launch_prepare last described */
  tj_argument argument;                     /* what tj_launch_argument last described */
  tj_code_times times;                      /* of what was last made of its machine code */
  uint64_t nanoseconds;
  tj_rt_counter counter[TJ_LAUNCH_COUNTERS];
  size_t counter_count;
};

static inline const tj_launch_plan *tj_plan_of(const tj_launch *launch) {
  return launch->code->image->plan;
}

/* What a public function was called with, for its body. */
typedef struct {
  tj_launch *launch;
  const char *name;
  int64_t value;
  double number; /* of what is no integer */
  const int64_t *length;
  size_t index, rank;
  tj_bound_memory memory;
} tj_launch_request;

tj_status tj_launch_perform(tj_launch *launch, void (*body)(tj_job *job, void *data), tj_launch_request request);

/* The number of the buffer of that name. TJ4001. (launch_bind.c) */
uint32_t tj_launch_find_buffer(tj_launch *launch, const char *name);

/* Gives every parameter a value, checks it against what the code was compiled for, and evaluates the plan. TJ6007,
 * TJ2025. (launch_values.c) */
void tj_launch_resolve(tj_launch *launch);

/* The value of an expression of a launch that is resolved, or of what is bound so far. */
int64_t tj_launch_evaluate(tj_launch *launch, tj_expression expression);

/* Refuses parameters by which two coordinates store different sources to one element: TJ4010. (launch_race.c) */
void tj_launch_check_races(tj_launch *launch);

/* Checks an argument's memory once more: parameters may have changed since it was bound. TJ4001 where there is none,
 * TJ6002. (launch_bind.c) */
void tj_launch_check_memory(tj_launch *launch, uint32_t number);

/* Refuses memory that the kernel would reach through two arguments, and write: TJ4001. Kernels rely on what they
 * write being reached through one argument only. */
void tj_launch_check_sharing(tj_launch *launch);

typedef struct {
  uint32_t variant; /* its number */
  uint64_t workgroups;
} tj_prepared_kernel;

/* What a launch consists of, besides the argument block: kernels one behind the other. */
typedef struct {
  tj_prepared_kernel kernel[TJ_LAUNCH_MOST_KERNELS];
  uint32_t count;
} tj_prepared_launch;

/* The machine code of a variant, made where it waits, in a time that is added to the launch's. TJ5003, TJ7007.
 * (launch_prepare.c) */
const tj_machine_part *tj_launch_require(tj_launch *launch, uint32_t variant);

/* Chooses the first variant that parameters and addresses allow, and fills the argument block: TJ6016 where an
 * address is not aligned for any. `address` has one for each buffer, `scratch` is that of scratch memory; 0: not
 * known yet, and aligned. (launch_prepare.c) */
tj_prepared_launch tj_launch_ready(tj_launch *launch, const uint64_t address[], uint64_t scratch);

#endif
