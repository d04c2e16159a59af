/* Compiling kernels for launching, and disassembling code objects. */
#include "jit/code.h"

#include "jit/code_object.h"
#include "jit/disasm.h"
#include "jit/report.h"

/* --- compiling --- */

static tj_image *image_of(tj_context *context, tj_program *program, const tj_compilation *c) {
  tj_text plan = tj_text_begin(&program->job);
  tj_launch_plan_write(&plan, c->plan);
  return tj_image_create(&context->allocator, (tj_bytes){plan.data, plan.length}, c->machine);
}

typedef struct {
  tj_code *code;
  tj_program *program;
  tj_compilation *compilation;
} finishing;

static void finish(tj_job *job, void *data) {
  finishing *f = data;
  f->code->image = image_of(f->code->context, f->program, f->compilation);
  if (f->code->image == NULL)
    tj_fail_out_of_memory(job);
  f->code->times = f->compilation->times;
}

tj_status tj_code_compile(tj_program *program, const tj_compile_options *options, tj_code **code) {
  tj_code *made = tj_context_allocate(program->context, sizeof *made);
  if (made == NULL)
    return TJ_ERROR_MEMORY;
  made->context = program->context;
  tj_compilation compilation = {0};
  tj_status status = tj_program_compile(program, options, TJ_EMIT_MACHINE, NULL, &compilation);
  if (status == TJ_OK)
    status = tj_context_run(program->context, &program->job, finish, &(finishing){made, program, &compilation});
  tj_compilation_dispose(&compilation);
  if (status == TJ_OK)
    *code = made;
  else
    tj_code_destroy(made);
  return status;
}

void tj_code_destroy(tj_code *code) {
  if (code == NULL)
    return;
  tj_image_release(code->image);
  tj_context_release(code->context, code);
}

const void *tj_code_bytes(const tj_code *code, size_t *size) {
  *size = code->image->machine->bytes.size;
  return code->image->machine->bytes.data;
}

const char *tj_code_kernel(const tj_code *code) {
  return code->image->plan->kernel;
}

const char *tj_code_target(const tj_code *code) {
  return code->image->plan->target;
}

tj_code_times tj_code_times_of(const tj_code *code) {
  return code->times;
}

size_t tj_code_argument_count(const tj_code *code) {
  return code->image->plan->buffer_count;
}

const char *tj_code_argument_name(const tj_code *code, size_t index) {
  const tj_launch_plan *plan = code->image->plan;
  return index < plan->buffer_count ? plan->buffer[index].name : NULL;
}

/* --- disassembling --- */

typedef struct {
  tj_bytes bytes;
  bool stats;
  tj_text text;
} disassembly;

static void write_stats(tj_job *job, const tj_code_object *object, tj_text *text) {
  tj_text_char(text, '{');
  for (uint32_t i = 0; i < object->kernel_count; i++) {
    const char *name = object->kernel[i].name;
    tj_text_format(text, "%s\"%s\":", i > 0 ? "," : "", name);
    tj_report_stats(tj_isa_stats_of(job, object, name), text);
  }
  tj_text_string(text, "}\n");
}

static void disassemble(tj_job *job, void *data) {
  disassembly *d = data;
  d->text = tj_text_begin(job);
  const tj_code_object *object = tj_code_object_parse(job, d->bytes);
  if (d->stats)
    write_stats(job, object, &d->text);
  else
    tj_disassemble(&d->text, object, (tj_disassembly_options){.with_stats = true});
}

tj_status tj_code_disassemble(tj_context *context, const void *bytes, size_t size, int stats, tj_blob *text) {
  tj_job job;
  tj_job_init(&job, &context->allocator);
  disassembly d = {.bytes = {bytes, size}, .stats = stats != 0};
  tj_status status = tj_context_run(context, &job, disassemble, &d);
  if (status == TJ_OK)
    status = tj_context_blob(context, d.text.data, d.text.length, text);
  tj_job_destroy(&job);
  return status;
}
