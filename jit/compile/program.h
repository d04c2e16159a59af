/* SPDX-License-Identifier: MIT */
/* Programs behind the public header: a job that holds text, AST, values and index graph. */
#ifndef TJ_JIT_PROGRAM_H
#define TJ_JIT_PROGRAM_H

#include "jit/compile/compiler.h"
#include "jit/compile/pipeline.h"

struct tj_prelude {
  tj_context *context;
  tj_job job;
  tj_earlier *earlier; /* in the job */
};

struct tj_program {
  tj_context *context;
  tj_job job;
  const tj_parameter_value *fixed;
  size_t fixed_count;
  bool is_alone; /* no earlier program defines what it mentions */
  tj_graph *graph;
  tj_evaluated evaluated;
};

/* Compiles up to `output`. `compilation` starts as {0}; the caller disposes it whatever happens. */
tj_status tj_program_compile(tj_program *program, const tj_compile_options *options, tj_emit output, tj_trace *trace,
                             tj_compilation *compilation);

/* As tj_code_compile, up to machine code that waits, where the cache does not know the kernel. (code.c) */
tj_status tj_code_begin(tj_program *program, const tj_compile_options *options, tj_code **code);

/* Runs a body that writes text in the program's job, and makes a blob of it. */
typedef struct {
  tj_program *program;
  tj_text text;
  void (*write)(tj_program *program, tj_text *text, void *data);
  void *data;
} tj_writing;

tj_status tj_program_write(tj_program *program, void (*write)(tj_program *program, tj_text *text, void *data),
                           void *data, tj_blob *blob);

#endif
