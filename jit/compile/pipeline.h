/* SPDX-License-Identifier: MIT */
/* The pipeline: every stage between text and machine code, in order. */
#ifndef TJ_JIT_PIPELINE_H
#define TJ_JIT_PIPELINE_H

#include "base/bytes.h"
#include "frontend/sema/earlier.h"
#include "ir/simplify/simplify.h"
#include "ir/value/value.h"
#include "jit/cache/cache.h"
#include "jit/compile/codegen.h"
#include "jit/isa/stats.h"
#include "launch/image/image.h"
#include "lower/emit/module.h"
#include "lower/kernel/kernel.h"
#include "lower/machine/target.h"
#include "lower/plan/function.h"

/* Text, parsed and evaluated: what job->source says. Lives in the graph's job. */
typedef struct {
  const tj_program_ast *ast;
  const tj_program_values *values;
} tj_evaluated;

/* A parameter fixed at compile time is a constant in the values. `earlier` may be NULL. */
tj_evaluated tj_pipeline_evaluate(tj_graph *graph, tj_earlier *earlier, const tj_parameter_value fixed[],
                                  size_t fixed_count);

/* One kernel, or one function by itself, on its way to machine code: what each stage has made. The caller sets the
 * first part, and gives back the second with tj_compilation_dispose, however the job ended. The rest lives in the
 * job, which is the graph's. */
typedef struct {
  tj_graph *graph;
  const tj_program_values *values;
  tj_compile_options options;
  const tj_kernel_definition *definition; /* in the place of the kernel that the options name; NULL: that one */
  const char *function_name;              /* of a function by itself; NULL: a kernel */
  tj_idle_codegens *idle_codegens;        /* borrowed */
  tj_trace *trace;                        /* NULL: none */
  tj_cache *cache;                        /* borrowed; NULL: none */
  bool waits;                             /* machine code of one variant waits, too */

  tj_module module;      /* LLVM's handles */
  tj_codegen codegen;    /* taken for it */
  tj_machine *machine;   /* retained; what TJ_EMIT_MACHINE makes: of several variants, each waits for a launch */
  tj_machine_part *part; /* owned; what tj_pipeline_complete makes, with the allocator of `waiting` */

  tj_job *job;
  const tj_machine *waiting; /* borrowed; of tj_pipeline_complete, and so is the number of the part, */
  uint32_t number;           /* which is TJ_ALL_VARIANTS elsewhere */
  tj_kernel *kernel;
  tj_function *function;
  const tj_target *target;
  const char *assembly;
  tj_ir_stats ir;          /* of the fastest variant, for TJ_EMIT_STATS */
  tj_bytes object;         /* relocatable; or PTX, a zero byte behind it */
  tj_bytes code_object;    /* linked; empty for the others */
  tj_bytes cubin;          /* made of PTX; empty for the others */
  const char *symbol;      /* of a kernel in it, */
  uint32_t argument_bytes; /* which takes so many */
  const tj_launch_plan *plan;
  tj_bytes bytes; /* of the kernel, */
  tj_graph *lowered_graph;
  tj_kernel *lowered; /* and what is lowered of them */
  tj_cache_key key;   /* of the simplified kernel; empty without a cache */
  bool is_recalled;   /* the machine code comes from the cache */
  tj_code_times times;
} tj_compilation;

/* What no caller of the library asks for by itself: machine code, loaded, and the plan of its launches. */
#define TJ_EMIT_MACHINE TJ_EMIT_COUNT

/* Gives the second part back. */
void tj_compilation_dispose(tj_compilation *compilation);

/* The kernel of that name; without a name the only one, or NULL where there is none but a map. TJ4009 where several are
 * there, or nothing is. */
const tj_kernel_definition *tj_pipeline_kernel(tj_job *job, const tj_program_values *values, const char *name);

/* Runs the stages up to the one that makes `output`. */
void tj_pipeline_compile(tj_compilation *compilation, tj_emit output);

/* Makes a part of machine code that waits. The caller has also set what stands from `job` to `number`, the target and
 * the plan; there is no graph. */
void tj_pipeline_complete(tj_compilation *compilation);

/* Runs the stages of a function by itself. */
void tj_pipeline_embed(tj_compilation *compilation, tj_function_form output);

/* Whether there are statistics of a target's code: those of PTX need a program that makes machine code of it. */
bool tj_pipeline_has_stats(tj_job *job, const tj_target *target);

/* Figures of the machine code that TJ_EMIT_STATS made, of the kernel or one of its faster ones. */
tj_isa_stats tj_pipeline_stats(const tj_compilation *compilation, const tj_kernel *variant);

#endif
