/* SPDX-License-Identifier: MIT */
/* Functions by themselves, behind the public header. */
#include "base/join.h"
#include "jit/compile/program.h"
#include "lower/c/emit_c.h"

#include <string.h>

typedef struct {
  tj_compilation compilation;
  tj_program *program;
  const char *walk, *kernel;
  tj_function_form form;
  tj_bytes bytes; /* in the program's job */
} embedding;

static tj_bytes bytes_of_form(tj_job *job, tj_compilation *c, tj_function_form form) {
  tj_text text = tj_text_begin(job);
  switch (form) {
  case TJ_FUNCTION_C:
    tj_emit_c(&text, c->graph, c->function);
    return (tj_bytes){text.data, text.length};
  case TJ_FUNCTION_HEADER:
    tj_emit_c_header(&text, c->function);
    return (tj_bytes){text.data, text.length};
  case TJ_FUNCTION_LLVM:
    tj_text_string(&text, tj_module_text(job, &c->module));
    return (tj_bytes){text.data, text.length};
  case TJ_FUNCTION_BITCODE:
    return tj_module_bitcode(job, &c->module);
  case TJ_FUNCTION_ASM:
    return (tj_bytes){c->assembly, strlen(c->assembly)};
  case TJ_FUNCTION_OBJECT:
    return c->object;
  case TJ_FUNCTION_FORM_COUNT:
    break;
  }
  return (tj_bytes){NULL, 0};
}

/* The program with walk(V, …) in the place of its last expression V. Its source stays the job's. */
static void walk_value(tj_job *job, embedding *e) {
  const tj_ast *of = e->program->evaluated.ast->value;
  tj_source program = job->source;
  if (of == NULL)
    tj_fail(job, TJ_NOTHING_TO_EVALUATE, "the program has no expression to walk through");
  const char *parts = tj_string_copy(job, e->walk, strlen(e->walk));
  tj_source walk = tj_source_of("walk", parts, strlen(parts));
  tj_join join = tj_join_begin(job, 2 * (size_t)program.piece_count + 3);
  tj_join_source(&join, &program, 0, of->span.begin);
  tj_join_between(&join, " walk(");
  tj_join_source(&join, &program, of->span.begin, of->span.end);
  if (parts[strspn(parts, " \t\n")] != '\0')
    tj_join_between(&join, ", ");
  tj_join_piece(&join, &walk, 0, walk.length);
  tj_join_between(&join, ")");
  tj_join_end(&join, program.name);
  e->compilation.values =
      tj_pipeline_evaluate(e->program->graph, NULL, e->program->fixed, e->program->fixed_count).values;
}

/* Whether a kernel's statements are meant: a program without a value has nothing else. */
static bool is_of_statements(const embedding *e) {
  const tj_program_values *values = e->compilation.values;
  return e->kernel != NULL || (e->walk == NULL && values->value == NULL && values->kernel_count > 0);
}

static void embed_statements(tj_job *job, embedding *e) {
  const tj_compilation *c = &e->compilation;
  const tj_kernel_definition *kernel = tj_pipeline_kernel(job, c->values, e->kernel);
  job->here = kernel->span;
  if (e->form != TJ_FUNCTION_C)
    tj_fail(job, TJ_NO_ARITHMETIC, "functions of kernel '%s' are C", kernel->name);
  if (e->walk != NULL)
    tj_fail(job, TJ_NO_ARITHMETIC, "a walk is of the program's value, not of kernel '%s'", kernel->name);
  tj_text text = tj_text_begin(job);
  tj_emit_statements_c(&text, c->graph, tj_statement_functions_of(c->graph, c->values, kernel, c->function_name));
  e->bytes = (tj_bytes){text.data, text.length};
}

static void embed(tj_job *job, void *data) {
  embedding *e = data;
  if ((unsigned)e->form >= TJ_FUNCTION_FORM_COUNT)
    tj_fail(job, TJ_EMIT_TARGET, "there is no form of functions number %d", (int)e->form);
  if (is_of_statements(e)) {
    embed_statements(job, e);
    return;
  }
  if (e->walk != NULL)
    walk_value(job, e);
  const char *target = e->compilation.options.target;
  bool needs_target = e->form >= TJ_FUNCTION_LLVM;
  if (needs_target && target == NULL)
    tj_fail(job, TJ_UNKNOWN_TARGET, "this form of functions needs a target");
  if (target != NULL)
    e->compilation.target = tj_target_parse(job, target);
  tj_pipeline_embed(&e->compilation, e->form);
  e->bytes = bytes_of_form(job, &e->compilation, e->form);
}

tj_status tj_program_function(tj_program *program, const tj_function_options *options, tj_function_form form,
                              tj_blob *output) {
  embedding e = {.compilation = {.graph = program->graph,
                                 .values = program->evaluated.values,
                                 .options = {.target = options->target},
                                 .function_name = options->name != NULL ? options->name : "",
                                 .idle_codegens = &tj_compiler_of(program->context)->idle_codegens},
                 .program = program,
                 .walk = options->walk,
                 .kernel = options->kernel,
                 .form = form};
  tj_source source = program->job.source;
  tj_status status = tj_context_run(program->context, &program->job, embed, &e);
  if (status == TJ_OK)
    status = tj_context_blob(program->context, e.bytes.data, e.bytes.size, output);
  program->job.source = source;
  tj_compilation_dispose(&e.compilation);
  return status;
}
