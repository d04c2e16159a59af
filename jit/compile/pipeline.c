/* SPDX-License-Identifier: MIT */
/* From text to machine code: the stages in order, and what each needs, makes and leaves to the next.
 *
 *   parse      text            AST             frontend/text/parser.h
 *   evaluate   AST             values          frontend/sema/sema.h
 *   plan       values          index graph     lower/plan/plan.h         one kernel from here on
 *   simplify   index graph     the same, less  lower/kernel/kernel_expressions.h
 *   map        index graph     the same, tiled lower/mapping/mapping.h   needs a target from here on; mapped.h where
 *                                                                        the kernel says how its tiles travel
 *   derive     index graph     launch words    lower/kernel/kernel.h     what the host computes once for all items
 *   describe   index graph     launch plan     launch/image/launch_plan.h   to launch without the graph
 *   write      kernel          bytes           jit/kernel/kernel_bytes.h all that machine code depends on
 *   recall     bytes           machine code    jit/cache/cache.h         where the cache knows the kernel: the end
 *   wait       bytes           machine code    launch/image/machine.h    of several variants: the end, for now
 *   read       bytes           kernel          jit/kernel/kernel_bytes.h the same, in a graph of its own
 *   lower      index graph     LLVM IR         lower/emit/module.h
 *   optimize   LLVM IR         the same, less  jit/compile/codegen.h
 *   generate   LLVM IR         object          jit/compile/codegen.h     or assembly, PTX too; the module is spent
 *   link       object          code object     jit/compile/link.h        AMDGPU only
 *   assemble   PTX             cubin           jit/tool/nvidia.h         NVIDIA's only, where it is asked for
 *   check      code object     –               object/code_object.h  what was made is what was asked for
 *   load       code            machine code    launch/image/image.h         on the host, into this process
 *
 * The dispatch of what comes out is in launch/api/launch.c. A variant that has waited until a launch takes it, or all
 * of them for somebody who wants one object, go on from there (part.c in this folder):
 *
 *   resume     bytes           index graph     jit/kernel/kernel_bytes.h of that variant; then lower, optimize,
 *                                                                        generate, link, check
 *   join       code            machine code    launch/image/machine.h    a part of what there is
 *
 * A function by itself, to be called from somebody else's code, goes a way of its own until it is LLVM IR:
 *
 *   express    values          index graph     lower/plan/function.h     the value's arithmetic, of coordinates
 *   reduce     index graph     the same, less  ir/value/expressions.h    from here it can be C: lower/c/emit_c.h
 *   embed      index graph     LLVM IR         lower/emit/module.h       then optimize; bitcode, or generate */
#include "jit/compile/pipeline.h"

#include "base/clock.h"
#include "frontend/names/spelling.h"
#include "frontend/sema/sema.h"
#include "frontend/text/parser.h"
#include "jit/compile/launch_plan_make.h"
#include "jit/compile/link.h"
#include "jit/compile/orc.h"
#include "jit/kernel/kernel_bytes.h"
#include "jit/tool/nvidia.h"
#include "lower/access/bounded.h"
#include "lower/access/gates.h"
#include "lower/rows/array_map.h"
#include "lower/kernel/kernel_expressions.h"
#include "lower/kernel/variant.h"
#include "lower/mapping/flat_mapping.h"
#include "lower/mapping/mapped.h"
#include "lower/mapping/mapping.h"
#include "lower/plan/plan.h"
#include "object/code_object.h"

#include <string.h>

tj_evaluated tj_pipeline_evaluate(tj_graph *graph, tj_earlier *earlier, const tj_parameter_value fixed[],
                                  size_t fixed_count) {
  const tj_program_ast *ast = tj_parse(graph->job);
  return (tj_evaluated){ast, tj_evaluate_after(earlier, graph, ast, fixed, fixed_count)};
}

/* --- which kernel --- */

static const tj_kernel_definition *find_kernel(tj_job *job, const tj_program_values *values, const char *name) {
  for (uint32_t i = 0; i < values->kernel_count; i++) {
    if (strcmp(values->kernel[i].name, name) == 0)
      return &values->kernel[i];
  }
  tj_misspelling of = tj_misspelling_of(name);
  for (uint32_t i = 0; i < values->kernel_count; i++)
    tj_misspelling_try(&of, values->kernel[i].name);
  tj_note_nearest(job, &of);
  tj_fail(job, TJ_UNKNOWN_KERNEL, "the program has no kernel '%s'", name);
}

const tj_kernel_definition *tj_pipeline_kernel(tj_job *job, const tj_program_values *values, const char *name) {
  if (name != NULL)
    return find_kernel(job, values, name);
  if (values->kernel_count == 1)
    return &values->kernel[0];
  if (values->kernel_count > 1)
    tj_fail(job, TJ_UNKNOWN_KERNEL, "the program has %u kernels, and none is chosen", values->kernel_count);
  if (values->value == NULL)
    tj_fail(job, TJ_UNKNOWN_KERNEL, "the program has neither a kernel nor a map");
  return NULL;
}

/* --- stages --- */

/* Each kernel of a program has as much fuel as one alone: its code does not depend on those before. */
static void plan(tj_compilation *c) {
  tj_job_refuel(c->graph->job);
  const tj_kernel_definition *definition =
      c->definition != NULL ? c->definition : tj_pipeline_kernel(c->graph->job, c->values, c->options.kernel);
  c->kernel = definition != NULL ? tj_plan_kernel(c->graph, c->values, definition)
                                 : tj_plan_offsets(c->graph, c->values, c->values->value);
}

static void simplify(tj_compilation *c) {
  tj_kernel_simplify(c->graph, c->kernel, c->trace);
}

/* Statements that are a copy have its tiles; of several sources on GPUs. */
static tj_kernel *map_arrays(tj_graph *graph, tj_kernel *written, const tj_target *target) {
  tj_kernel *copy = written->copy;
  if (copy == NULL || (target->wave_size == 1 && copy->arithmetic.count > 1))
    return tj_map_arrays(graph, written, target);
  tj_kernel_simplify(graph, copy, NULL);
  tj_kernel *tiled = tj_map_copy(graph, copy, target);
  return tiled != copy || copy->faster != NULL ? tiled : tj_map_arrays(graph, written, target);
}

static void map(tj_compilation *c) {
  c->target = tj_target_parse(c->graph->job, c->options.target);
  if (c->kernel->arrays != NULL)
    c->kernel = map_arrays(c->graph, c->kernel, c->target);
  else
    c->kernel = c->kernel->mapped != NULL ? tj_map_as_given(c->graph, c->kernel, c->target)
                                          : tj_map_copy(c->graph, c->kernel, c->target);
  if (c->kernel->index != NULL && c->kernel->mapping == NULL)
    c->kernel->mapping = tj_mapping_of_flat(c->graph, c->kernel);
  tj_bound_accesses(c->graph, c->kernel, c->target);
  tj_gather_gates(c->graph, c->kernel, c->target);
  if (c->target->needs_aligned_vectors)
    tj_offer_aligned(c->graph, c->kernel);
}

static void derive(tj_compilation *c) {
  tj_kernel_derive(c->graph, c->kernel);
  if (c->target->packs_words)
    tj_kernel_pack_words(c->graph, c->kernel);
}

static void describe(tj_compilation *c) {
  c->plan = tj_launch_plan_make(c->graph, c->values, c->kernel, c->target);
}

/* Whose cache keeps the machine code owns its memory, too. */
static const tj_allocator *allocator_of(const tj_compilation *c) {
  return c->cache != NULL ? &c->cache->allocator : &c->job->allocator;
}

static void write(tj_compilation *c) {
  c->bytes = tj_kernel_write(c->graph, c->kernel);
}

static void recall(tj_compilation *c) {
  if (c->cache == NULL)
    return;
  c->key = tj_cache_key_of(tj_cache_kernel_key(c->job, c->cache->identity, c->bytes, c->target));
  c->machine = tj_cache_find_kernel(c->cache, &c->key, c->plan);
  c->is_recalled = c->machine != NULL;
}

static void wait(tj_compilation *c) {
  if (c->waits || c->kernel->faster != NULL)
    c->machine = tj_machine_wait(c->job, allocator_of(c), c->bytes, c->plan);
}

static void read(tj_compilation *c) {
  c->lowered_graph = tj_graph_create(c->job);
  c->lowered = tj_kernel_read(c->lowered_graph, c->target, c->bytes, c->number);
}

static void lower(tj_compilation *c) {
  tj_module_lower(c->lowered_graph, &c->module, c->lowered, c->target);
  c->symbol = tj_target_symbol(c->job, c->target, c->lowered->name);
  c->argument_bytes = tj_kernel_argument_bytes(c->lowered);
}

static bool has_maps(const tj_compilation *c) {
  const tj_kernel *each = c->lowered;
  while (each != NULL && each->map == NULL)
    each = each->faster;
  return each != NULL;
}

/* With the features that its kernels take. */
static const tj_target *target_of_code(const tj_compilation *c) {
  if (c->target->map_features == NULL || !has_maps(c))
    return c->target;
  tj_target *target = TJ_NEW(c->job, tj_target);
  *target = *c->target;
  target->features = target->map_features;
  return target;
}

static void optimize(tj_compilation *c) {
  tj_codegen_take(c->job, &c->codegen, c->idle_codegens, target_of_code(c));
  tj_codegen_optimize(c->job, &c->codegen, &c->module);
  tj_module_hide(c->job, &c->module, c->target);
}

static void count(tj_compilation *c) {
  c->ir = tj_module_stats(c->job, &c->module, tj_fastest_variant(c->kernel), c->target);
}

static void assemble(tj_compilation *c) {
  c->assembly = tj_codegen_emit(c->job, &c->codegen, &c->module, TJ_CODEGEN_ASSEMBLY).data;
}

static void generate(tj_compilation *c) {
  bool is_text = tj_target_has_ptx(c->target);
  c->object = tj_codegen_emit(c->job, &c->codegen, &c->module, is_text ? TJ_CODEGEN_ASSEMBLY : TJ_CODEGEN_OBJECT);
}

static void link_object(tj_compilation *c) {
  if (c->target->object == TJ_OBJECT_CODE_OBJECT)
    c->code_object = tj_link(c->job, c->object);
}

static void assemble_ptx(tj_compilation *c) {
  if (tj_target_has_ptx(c->target))
    c->cubin = tj_assemble_ptx(c->job, c->target->processor, c->object);
}

static void assemble_machine(tj_compilation *c) {
  if (c->target->object == TJ_OBJECT_CUBIN)
    assemble_ptx(c);
}

static void check(tj_compilation *c) {
  if (c->target->object == TJ_OBJECT_CODE_OBJECT)
    tj_code_object_check(c->job, tj_code_object_parse(c->job, c->code_object), c->symbol, c->argument_bytes);
}

static tj_bytes code_of(const tj_compilation *c) {
  switch (c->target->object) {
  case TJ_OBJECT_CODE_OBJECT:
    return c->code_object;
  case TJ_OBJECT_CUBIN:
    return c->cubin;
  case TJ_OBJECT_PTX:
  case TJ_OBJECT_HOST:
    break;
  }
  return c->object;
}

static void load(tj_compilation *c) {
  c->machine = tj_machine_load(c->job, allocator_of(c), code_of(c), c->plan, &tj_orc_linker);
}

/* --- stages of parts that have waited --- */

/* The plan and the bytes may come from a file. */
static void agree(tj_compilation *c) {
  bool is_whole = c->number == TJ_ALL_VARIANTS;
  const tj_launch_variant *variant = &c->plan->variant[is_whole ? c->plan->variant_count - 1 : c->number];
  if (strcmp(c->symbol, variant->symbol) != 0 || c->argument_bytes != tj_launch_argument_bytes(c->plan, variant))
    tj_fail(c->job, TJ_CODEGEN, "the launch plan of kernel '%s' is another one's", c->plan->kernel);
}

static void join(tj_compilation *c) {
  c->part = tj_machine_part_load(c->job, &c->waiting->allocator, code_of(c), c->plan, c->number, &tj_orc_linker);
}

/* --- stages of functions --- */

static void express(tj_compilation *c) {
  c->function = tj_function_of(c->graph, c->values, c->function_name);
}

static void reduce(tj_compilation *c) {
  tj_function_simplify(c->graph, c->function);
}

static void embed(tj_compilation *c) {
  tj_module_lower_function(c->graph, &c->module, c->function, c->target);
}

/* --- ways --- */

/* Which outputs need a stage: a bit for each. */
#define UP_FROM(output) (~0u << (output))
#define ONLY(output) (1u << (output))

typedef struct {
  void (*run)(tj_compilation *c);
  unsigned needed_by;
  size_t time; /* where in tj_code_times its duration is kept */
} stage;

static const stage stages[] = {
    {plan, UP_FROM(TJ_EMIT_INDEX), offsetof(tj_code_times, plan)},
    {simplify, UP_FROM(TJ_EMIT_SIMPLIFIED), offsetof(tj_code_times, simplify)},
    {map, UP_FROM(TJ_EMIT_TILED), offsetof(tj_code_times, plan)},
    {derive, UP_FROM(TJ_EMIT_LLVM), offsetof(tj_code_times, lower)},
    {describe, ONLY(TJ_EMIT_MACHINE), offsetof(tj_code_times, plan)},
    {write, UP_FROM(TJ_EMIT_LLVM), offsetof(tj_code_times, lower)},
    {recall, ONLY(TJ_EMIT_MACHINE), offsetof(tj_code_times, cache)},
    {wait, ONLY(TJ_EMIT_MACHINE), offsetof(tj_code_times, lower)},
    {read, UP_FROM(TJ_EMIT_LLVM), offsetof(tj_code_times, lower)},
    {lower, UP_FROM(TJ_EMIT_LLVM), offsetof(tj_code_times, lower)},
    {optimize, UP_FROM(TJ_EMIT_LLVM), offsetof(tj_code_times, passes)},
    {count, ONLY(TJ_EMIT_STATS), offsetof(tj_code_times, passes)},
    {assemble, ONLY(TJ_EMIT_ASM), offsetof(tj_code_times, codegen)},
    {generate, UP_FROM(TJ_EMIT_OBJECT), offsetof(tj_code_times, codegen)},
    {link_object, UP_FROM(TJ_EMIT_HSACO), offsetof(tj_code_times, link)},
    {assemble_ptx, ONLY(TJ_EMIT_CUBIN) | ONLY(TJ_EMIT_STATS), offsetof(tj_code_times, link)},
    {assemble_machine, ONLY(TJ_EMIT_MACHINE), offsetof(tj_code_times, link)},
    {check, UP_FROM(TJ_EMIT_HSACO), offsetof(tj_code_times, check)},
    {load, ONLY(TJ_EMIT_MACHINE), offsetof(tj_code_times, load)},
};

static const stage stages_of_parts[] = {
    {read, ONLY(TJ_EMIT_MACHINE), offsetof(tj_code_times, lower)},
    {lower, ONLY(TJ_EMIT_MACHINE), offsetof(tj_code_times, lower)},
    {agree, ONLY(TJ_EMIT_MACHINE), offsetof(tj_code_times, check)},
    {optimize, ONLY(TJ_EMIT_MACHINE), offsetof(tj_code_times, passes)},
    {generate, ONLY(TJ_EMIT_MACHINE), offsetof(tj_code_times, codegen)},
    {link_object, ONLY(TJ_EMIT_MACHINE), offsetof(tj_code_times, link)},
    {assemble_machine, ONLY(TJ_EMIT_MACHINE), offsetof(tj_code_times, link)},
    {check, ONLY(TJ_EMIT_MACHINE), offsetof(tj_code_times, check)},
    {join, ONLY(TJ_EMIT_MACHINE), offsetof(tj_code_times, load)},
};

static const stage function_stages[] = {
    {express, UP_FROM(TJ_FUNCTION_C), offsetof(tj_code_times, plan)},
    {reduce, UP_FROM(TJ_FUNCTION_C), offsetof(tj_code_times, simplify)},
    {embed, UP_FROM(TJ_FUNCTION_LLVM), offsetof(tj_code_times, lower)},
    {optimize, UP_FROM(TJ_FUNCTION_LLVM), offsetof(tj_code_times, passes)},
    {assemble, ONLY(TJ_FUNCTION_ASM), offsetof(tj_code_times, codegen)},
    {generate, ONLY(TJ_FUNCTION_OBJECT), offsetof(tj_code_times, codegen)},
};

static void run_stages(tj_compilation *compilation, const stage way[], size_t count, unsigned output) {
  uint64_t begin = tj_nanoseconds();
  for (size_t i = 0; i < count && compilation->machine == NULL; i++) {
    if ((way[i].needed_by & output) == 0)
      continue;
    way[i].run(compilation);
    uint64_t end = tj_nanoseconds();
    *(uint64_t *)((char *)&compilation->times + way[i].time) += end - begin;
    begin = end;
  }
}

/* Outputs that say the names of values in LLVM IR. */
#define OUTPUTS_WITH_NAMES (ONLY(TJ_EMIT_LLVM) | ONLY(TJ_EMIT_ASM) | ONLY(TJ_EMIT_PTX))

void tj_pipeline_compile(tj_compilation *compilation, tj_emit output) {
  compilation->job = compilation->graph->job;
  compilation->number = TJ_ALL_VARIANTS;
  compilation->module.is_nameless = (ONLY(output) & OUTPUTS_WITH_NAMES) == 0;
  run_stages(compilation, stages, sizeof stages / sizeof *stages, ONLY(output));
}

void tj_pipeline_complete(tj_compilation *compilation) {
  compilation->bytes = compilation->waiting->kernel;
  compilation->module.is_nameless = true;
  run_stages(compilation, stages_of_parts, sizeof stages_of_parts / sizeof *stages_of_parts, ONLY(TJ_EMIT_MACHINE));
}

void tj_pipeline_embed(tj_compilation *compilation, tj_function_form output) {
  compilation->job = compilation->graph->job;
  run_stages(compilation, function_stages, sizeof function_stages / sizeof *function_stages, ONLY(output));
}

void tj_compilation_dispose(tj_compilation *compilation) {
  tj_module_dispose(&compilation->module);
  tj_codegen_give_back(&compilation->codegen, compilation->idle_codegens);
  tj_machine_release(compilation->machine);
  compilation->machine = NULL;
  if (compilation->part != NULL)
    tj_machine_part_release(&compilation->waiting->allocator, compilation->part);
  compilation->part = NULL;
}

bool tj_pipeline_has_stats(tj_job *job, const tj_target *target) {
  return !tj_target_has_ptx(target) || tj_can_assemble_ptx(job);
}

tj_isa_stats tj_pipeline_stats(const tj_compilation *compilation, const tj_kernel *variant) {
  tj_job *job = compilation->graph->job;
  const char *symbol = tj_target_symbol(job, compilation->target, variant->name);
  switch (compilation->target->object) {
  case TJ_OBJECT_CODE_OBJECT:
    return tj_isa_stats_of(job, tj_code_object_parse(job, compilation->code_object), symbol);
  case TJ_OBJECT_HOST:
    return tj_isa_stats_of_host(job, compilation->object, symbol,
                                tj_string_format(job, TJ_WORK_FORMAT, variant->name));
  case TJ_OBJECT_PTX:
  case TJ_OBJECT_CUBIN:
    break;
  }
  tj_isa_stats stats = tj_isa_stats_of_cubin(job, tj_cubin_parse(job, compilation->cubin), symbol);
  if (stats.lds_bytes < tj_kernel_lds_bytes(variant))
    stats.lds_bytes = tj_kernel_lds_bytes(variant);
  return stats;
}
