/* SPDX-License-Identifier: MIT */
/* Functions by themselves, behind the public header. */
#include "jit/compile/program.h"
#include "lower/emit/emit_c.h"

#include <string.h>

typedef struct {
  tj_compilation compilation;
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
  tj_fail(job, TJ_EMIT_TARGET, "there is no form of functions number %d", (int)form);
}

static void embed(tj_job *job, void *data) {
  embedding *e = data;
  const char *target = e->compilation.options.target;
  bool needs_target = e->form >= TJ_FUNCTION_LLVM && e->form < TJ_FUNCTION_FORM_COUNT;
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
                                 .function_name = options->name,
                                 .codegen = &tj_compiler_of(program->context)->codegen},
                 .form = form};
  tj_status status = tj_context_run(program->context, &program->job, embed, &e);
  if (status == TJ_OK)
    status = tj_context_blob(program->context, e.bytes.data, e.bytes.size, output);
  tj_compilation_dispose(&e.compilation);
  return status;
}
