/* SPDX-License-Identifier: MIT */
/* Programs: creation, values, and what a compilation emits. */
#include "jit/compile/program.h"

#include "base/join.h"
#include "frontend/text/parser.h"
#include "jit/inspect/foreign_text.h"
#include "jit/inspect/report.h"
#include "lower/plan/plan.h"

#include <string.h>

/* --- creation --- */

typedef struct {
  tj_program *program;
  const tj_program_piece *piece;
  size_t count;
  const tj_parameter_value *fixed;
  size_t fixed_count;
  tj_prelude *prelude; /* NULL: none */
} creation;

static const tj_parameter_value *copy_parameters(tj_job *job, const tj_parameter_value given[], size_t count) {
  tj_parameter_value *copy = TJ_NEW_ARRAY(job, tj_parameter_value, count + 1);
  for (size_t i = 0; i < count; i++)
    copy[i] = (tj_parameter_value){tj_string_copy(job, given[i].name, strlen(given[i].name)), given[i].value};
  return copy;
}

/* The pieces, copied and joined. The separator ends a last comment. */
static void join_pieces(tj_job *job, const tj_program_piece piece[], size_t count) {
  tj_join join = tj_join_begin(job, count);
  for (size_t i = 0; i < count; i++) {
    const char *given = piece[i].name != NULL ? piece[i].name : "<program>";
    const char *name = tj_string_copy(job, given, strlen(given));
    tj_source from = tj_source_of(name, tj_string_copy(job, piece[i].text, piece[i].length), piece[i].length);
    tj_join_between(&join, i > 0 ? "\n;\n" : "");
    tj_join_piece(&join, &from, 0, piece[i].length);
  }
  tj_join_end(&join, count > 0 ? join.piece[0].from.name : "");
}

static void create(tj_job *job, void *data) {
  creation *c = data;
  join_pieces(job, c->piece, c->count);
  c->program->fixed = copy_parameters(job, c->fixed, c->fixed_count);
  c->program->fixed_count = c->fixed_count;
  c->program->graph = tj_graph_create(job);
  c->program->evaluated = tj_pipeline_evaluate(c->program->graph, c->prelude != NULL ? c->prelude->earlier : NULL,
                                               c->fixed, c->fixed_count);
}

/* Keeps what the program defines for later ones. */
static void remember(tj_job *job, void *data) {
  const creation *c = data;
  join_pieces(job, c->piece, c->count);
  tj_earlier_add(c->prelude->earlier);
}

static tj_status create_program(tj_context *context, creation c, tj_program **program) {
  tj_program *made = tj_context_allocate(context, sizeof *made);
  if (made == NULL)
    return TJ_ERROR_MEMORY;
  made->context = context;
  made->is_alone = c.prelude == NULL;
  tj_context_begin_job(context, &made->job);
  c.program = made;
  tj_status status = tj_context_run(context, &made->job, create, &c);
  if (status == TJ_OK && c.prelude != NULL && made->evaluated.ast->item_count > 0)
    status = tj_context_run(context, &c.prelude->job, remember, &c);
  if (status == TJ_OK)
    *program = made;
  else
    tj_program_destroy(made);
  return status;
}

tj_status tj_program_create_of(tj_context *context, const tj_program_piece pieces[], size_t count,
                               const tj_parameter_value fixed[], size_t fixed_count, tj_program **program) {
  return create_program(context, (creation){NULL, pieces, count, fixed, fixed_count, NULL}, program);
}

tj_status tj_program_create(tj_context *context, const char *name, const char *text, size_t length,
                            const tj_parameter_value fixed[], size_t fixed_count, tj_program **program) {
  return tj_program_create_of(context, &(tj_program_piece){name, text, length}, 1, fixed, fixed_count, program);
}

tj_status tj_program_create_after(tj_prelude *prelude, const char *name, const char *text, size_t length,
                                  const tj_parameter_value fixed[], size_t fixed_count, tj_program **program) {
  const tj_program_piece piece = {name, text, length};
  return create_program(prelude->context, (creation){NULL, &piece, 1, fixed, fixed_count, prelude}, program);
}

static void open_prelude(tj_job *job, void *data) {
  tj_prelude *prelude = data;
  prelude->earlier = tj_earlier_create(job);
}

tj_status tj_prelude_create(tj_context *context, tj_prelude **prelude) {
  tj_prelude *made = tj_context_allocate(context, sizeof *made);
  if (made == NULL)
    return TJ_ERROR_MEMORY;
  made->context = context;
  tj_job_init(&made->job, &context->allocator);
  tj_status status = tj_context_run(context, &made->job, open_prelude, made);
  if (status == TJ_OK)
    *prelude = made;
  else
    tj_prelude_destroy(made);
  return status;
}

void tj_prelude_destroy(tj_prelude *prelude) {
  if (prelude == NULL)
    return;
  tj_job_destroy(&prelude->job);
  tj_context_release(prelude->context, prelude);
}

void tj_program_destroy(tj_program *program) {
  if (program == NULL)
    return;
  tj_context_end_job(program->context, &program->job);
  tj_context_release(program->context, program);
}

size_t tj_program_item_count(const tj_program *program) {
  return program->evaluated.ast->item_count;
}

int tj_program_has_value(const tj_program *program) {
  return program->evaluated.ast->value != NULL;
}

/* --- kernels --- */

size_t tj_program_kernel_count(const tj_program *program) {
  return program->evaluated.values->kernel_count;
}

const char *tj_program_kernel_name(const tj_program *program, size_t index) {
  const tj_program_values *values = program->evaluated.values;
  return index < values->kernel_count ? values->kernel[index].name : NULL;
}

/* --- writing text --- */

static void run_writing(tj_job *job, void *data) {
  tj_writing *writing = data;
  writing->text = tj_text_begin(job);
  writing->write(writing->program, &writing->text, writing->data);
}

tj_status tj_program_write(tj_program *program, void (*write)(tj_program *program, tj_text *text, void *data),
                           void *data, tj_blob *blob) {
  tj_writing writing = {.program = program, .write = write, .data = data};
  tj_status status = tj_context_run(program->context, &program->job, run_writing, &writing);
  if (status != TJ_OK)
    return status;
  return tj_context_blob(program->context, writing.text.data, writing.text.length, blob);
}

static void write_value(tj_program *program, tj_text *text, void *data) {
  (void)data;
  tj_value_print(text, tj_value_simplified(program->graph, tj_report_value(program)));
}

tj_status tj_program_value(tj_program *program, tj_blob *text) {
  return tj_program_write(program, write_value, NULL, text);
}

static void write_foreign(tj_program *program, tj_text *text, void *data) {
  const tj_value *value = tj_report_value(program);
  program->job.here = program->evaluated.values->value_span;
  tj_foreign_text(program->graph, value, *(const tj_text_form *)data, text);
}

tj_status tj_program_foreign_text(tj_program *program, tj_text_form form, tj_blob *text) {
  return tj_program_write(program, write_foreign, &form, text);
}

static void write_table(tj_program *program, tj_text *text, void *data) {
  tj_report_table(program, *(const tj_table_form *)data, text);
}

tj_status tj_program_table(tj_program *program, tj_table_form form, tj_blob *json) {
  return tj_program_write(program, write_table, &form, json);
}

typedef struct {
  tj_simplify_form form;
  bool *proved;
} simplifying;

static void write_simplified(tj_program *program, tj_text *text, void *data) {
  const simplifying *asked = data;
  tj_report_simplify(program, asked->form, asked->proved, text);
}

tj_status tj_program_simplify(tj_program *program, tj_simplify_form form, tj_blob *text) {
  simplifying asked = {form, NULL};
  return tj_program_write(program, write_simplified, &asked, text);
}

tj_status tj_program_simplify_proved(tj_program *program, tj_simplify_form form, int *proved, tj_blob *text) {
  bool holds = false;
  simplifying asked = {form, &holds};
  tj_status status = tj_program_write(program, write_simplified, &asked, text);
  if (status == TJ_OK)
    *proved = holds;
  return status;
}

/* --- compilation --- */

typedef struct {
  tj_compilation *compilation;
  tj_emit output;
  tj_bytes bytes; /* what the output is, when emitting */
  bool emits;
  tj_program *program;
} compiling;

static tj_bytes bytes_of(const tj_text *text) {
  return (tj_bytes){text->data, text->length};
}

/* The output as bytes in the job's arena. */
static tj_bytes show_output(tj_program *program, tj_compilation *c, tj_emit output) {
  tj_text text = tj_text_begin(&program->job);
  tj_json json = tj_json_begin(&text);
  switch (output) {
  case TJ_EMIT_AST:
    tj_ast_print(&text, program->evaluated.ast);
    return bytes_of(&text);
  case TJ_EMIT_VALUES:
    tj_report_values(program, &text);
    return bytes_of(&text);
  case TJ_EMIT_INDEX:
  case TJ_EMIT_SIMPLIFIED:
    tj_report_kernel(program, c->kernel, &text);
    return bytes_of(&text);
  case TJ_EMIT_TILED:
    tj_report_tiled(c->kernel, c->target, &text);
    return bytes_of(&text);
  case TJ_EMIT_LLVM:
    tj_text_string(&text, tj_module_text(&program->job, &c->module));
    return bytes_of(&text);
  case TJ_EMIT_ASM:
    return (tj_bytes){c->assembly, strlen(c->assembly)};
  case TJ_EMIT_OBJECT:
    if (tj_target_has_ptx(c->target))
      tj_fail(&program->job, TJ_EMIT_TARGET, "target %s has no objects: its code is PTX", c->target->name);
    return c->object;
  case TJ_EMIT_PTX:
    if (!tj_target_has_ptx(c->target))
      tj_fail(&program->job, TJ_EMIT_TARGET, "target %s has no PTX", c->target->name);
    return c->object;
  case TJ_EMIT_HSACO:
    if (c->target->object != TJ_OBJECT_CODE_OBJECT)
      tj_fail(&program->job, TJ_EMIT_TARGET, "target %s has no code objects", c->target->name);
    return c->code_object;
  case TJ_EMIT_CUBIN:
    if (!tj_target_has_ptx(c->target))
      tj_fail(&program->job, TJ_EMIT_TARGET, "target %s has no cubins", c->target->name);
    return c->cubin;
  case TJ_EMIT_STATS:
    tj_report_stats(tj_pipeline_stats(c, tj_fastest_variant(c->kernel)), &c->ir, &json);
    tj_text_char(&text, '\n');
    return bytes_of(&text);
  case TJ_EMIT_COUNT:
    break;
  }
  tj_fail(&program->job, TJ_EMIT_TARGET, "there is no output number %d", (int)output);
}

static void compile(tj_job *job, void *data) {
  (void)job;
  compiling *work = data;
  tj_pipeline_compile(work->compilation, work->output);
  if (work->emits)
    work->bytes = show_output(work->program, work->compilation, work->output);
}

static tj_status run_compiling(tj_program *program, const tj_compile_options *options, compiling *work) {
  tj_compilation *c = work->compilation;
  c->graph = program->graph;
  c->values = program->evaluated.values;
  c->options = *options;
  c->idle_codegens = &tj_compiler_of(program->context)->idle_codegens;
  return tj_context_run(program->context, &program->job, compile, work);
}

tj_status tj_program_compile(tj_program *program, const tj_compile_options *options, tj_emit output, tj_trace *trace,
                             tj_compilation *compilation) {
  compilation->trace = trace;
  compiling work = {.compilation = compilation, .output = output, .program = program};
  return run_compiling(program, options, &work);
}

tj_status tj_program_emit(tj_program *program, const tj_compile_options *options, tj_emit stage, tj_blob *output) {
  tj_compilation compilation = {0};
  compiling work = {.compilation = &compilation, .output = stage, .program = program, .emits = true};
  tj_status status = run_compiling(program, options, &work);
  if (status == TJ_OK)
    status = tj_context_blob(program->context, work.bytes.data, work.bytes.size, output);
  tj_compilation_dispose(&compilation);
  return status;
}
