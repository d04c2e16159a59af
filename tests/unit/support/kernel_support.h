/* SPDX-License-Identifier: MIT */
/* What tests of kernels share: building kernels by hand, compiling them, running them on the host. */
#ifndef TJ_TESTS_KERNEL_SUPPORT_H
#define TJ_TESTS_KERNEL_SUPPORT_H

#include "ir/index/eval.h"
#include "jit/compile/codegen.h"
#include "jit/compile/orc.h"
#include "launch/image/host_code.h"
#include "lower/kernel/kernel.h"
#include "tests/unit/support/harness.h"

#include <string.h>

enum { MOST_PARAMETERS = 4 };

/* A kernel of two buffers, destination and source, in the order in which their pointers stand in argument blocks. */
typedef struct {
  tj_kernel kernel;
  tj_kernel_buffer buffer[2];
  const tj_node *parameter[MOST_PARAMETERS];
  tj_kernel_step step[2]; /* what is stored: a value, or a load; and the store */
} hand_kernel;

/* value stored at offset `index` of a destination of `dtype`, for 0 <= index < count. The caller sets what differs.
 */
static inline hand_kernel *make_kernel(tj_graph *graph, const tj_node *count, tj_dtype dtype) {
  hand_kernel *made = TJ_NEW(graph->job, hand_kernel);
  made->buffer[0] = (tj_kernel_buffer){.name = "dst", .dtype = dtype, .is_written = true, .element_count = count};
  made->buffer[1] = (tj_kernel_buffer){.name = "src", .dtype = dtype, .is_read = true, .element_count = count};
  const tj_node *index = tj_coordinate(graph, "n", count);
  tj_access same = {.buffer = 0, .offset = index, .valid = tj_int(graph, 1)};
  made->kernel = (tj_kernel){
      .name = "k",
      .buffer = made->buffer,
      .buffer_count = 1,
      .parameter = made->parameter,
      .index = index,
      .count = count,
      .workgroup_size = 64,
      .step = made->step,
      .step_count = 2,
      .slot_count = 1,
      .carried = dtype,
  };
  made->step[0] = (tj_kernel_step){.kind = TJ_STEP_VALUE, .value = index, .width = 1};
  made->step[1] = (tj_kernel_step){.kind = TJ_STEP_STORE, .access = same, .width = 1};
  return made;
}

/* Makes it a copy from a source of `dtype`, element by element. */
static inline void make_copy(tj_graph *graph, hand_kernel *made, tj_dtype dtype) {
  made->buffer[1].dtype = dtype;
  made->kernel.buffer_count = 2;
  made->kernel.carried = tj_dtype_narrower(dtype, made->buffer[0].dtype);
  tj_access same = {.buffer = 1, .offset = made->kernel.index, .valid = tj_int(graph, 1)};
  made->step[0] = (tj_kernel_step){.kind = TJ_STEP_LOAD, .access = same, .width = 1};
}

static inline const tj_node *add_parameter(tj_graph *graph, hand_kernel *made, const char *name, const tj_node *low,
                                           const tj_node *high) {
  ck_assert_uint_lt(made->kernel.parameter_count, MOST_PARAMETERS);
  const tj_node *symbol = tj_symbol_create(graph, name, TJ_SYMBOL_PARAMETER, low, high, 1);
  made->parameter[made->kernel.parameter_count++] = symbol;
  return symbol;
}

/* Machine code of a kernel; or, with output NULL, only its LLVM text. Runs inside a job's body. */
typedef struct {
  tj_module module; /* given back by dispose_compiled */
  tj_codegen codegen;
  const tj_target *target;
  const char *text; /* LLVM, unoptimised */
  tj_bytes bytes;
} compiled;

static inline void compile_kernel(tj_graph *graph, compiled *result, const tj_kernel *kernel, const char *target,
                                  tj_codegen_output output) {
  tj_module_dispose(&result->module);
  result->target = tj_target_parse(graph->job, target);
  tj_module_lower(graph, &result->module, kernel, result->target);
  result->text = tj_module_text(graph->job, &result->module);
  tj_codegen_open(graph->job, &result->codegen, result->target);
  tj_codegen_optimize(graph->job, &result->codegen, &result->module);
  result->bytes = tj_codegen_emit(graph->job, &result->codegen, &result->module, output);
  tj_module_dispose(&result->module);
}

static inline void dispose_compiled(compiled *result) {
  tj_module_dispose(&result->module);
  tj_codegen_close(&result->codegen);
}

/* Compiles and loads a kernel for the host. */
static inline tj_host_code *load_kernel(tj_graph *graph, compiled *result, const tj_kernel *kernel) {
  compile_kernel(graph, result, kernel, "host", TJ_CODEGEN_OBJECT);
  const char *symbol = tj_target_symbol(graph->job, result->target, kernel->name);
  return tj_host_code_load(graph->job, result->bytes, &tj_orc_linker, &symbol, 1);
}

/* The values of symbols, by index, for the launch and for the oracle. */
typedef struct {
  int64_t value[64];
  uint32_t count;
} symbol_values;

static inline int64_t evaluate(const tj_node *node, const symbol_values *values) {
  int64_t value = 0;
  tj_bindings bindings = {.value = values->value, .count = values->count};
  tj_eval_status status = tj_eval_nodes(&node, 1, &bindings, &value);
  ck_assert_int_eq(status, TJ_EVAL_OK);
  return value;
}

/* Fills an argument block; returns how many work-items there are. */
static inline uint64_t fill_arguments(const tj_kernel *kernel, void *const buffers[], const symbol_values *values,
                                      uint64_t block[]) {
  for (uint32_t i = 0; i < kernel->buffer_count; i++)
    *block++ = (uint64_t)(uintptr_t)buffers[i];
  for (uint32_t i = 0; i < kernel->parameter_count; i++)
    *block++ = (uint64_t)values->value[kernel->parameter[i]->symbol->index];
  for (uint32_t i = 0; i < kernel->derived_count; i++)
    *block++ = tj_derived_word(kernel->derived[i].kind, evaluate(kernel->derived[i].node, values));
  return (uint64_t)evaluate(kernel->count, values);
}

/* Runs every workgroup of a loaded kernel in this thread. */
static inline void run_kernel(const tj_host_code *code, const tj_kernel *kernel, void *const buffers[],
                              const symbol_values *values) {
  uint64_t block[128];
  uint64_t count = fill_arguments(kernel, buffers, values, block);
  tj_host_code_entry(code, 0)(block, 0, (count + kernel->workgroup_size - 1) / kernel->workgroup_size);
}

#endif
