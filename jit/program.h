/* Programs behind the public header: a job that holds text, AST, values and index graph. */
#ifndef TJ_JIT_PROGRAM_H
#define TJ_JIT_PROGRAM_H

#include "jit/context.h"
#include "jit/pipeline.h"

#include <stdatomic.h>

struct tj_program {
  tj_context *context;
  atomic_uint references; /* the caller's, and one for each code */
  tj_job job;
  tj_graph *graph;
  tj_evaluated evaluated;
};

void tj_program_retain(tj_program *program);
void tj_program_release(tj_program *program);

/* Compiles up to `output`. `compilation` starts as {0}; the caller disposes its module whatever happens. */
tj_status tj_program_compile(tj_program *program, const tj_compile_options *options, tj_emit output, tj_trace *trace,
                             tj_compilation *compilation);

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
