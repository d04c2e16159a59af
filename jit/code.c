/* Compiling kernels for launching, and disassembling code objects. */
#include "jit/code.h"

#include "jit/code_object.h"
#include "jit/disasm.h"
#include "jit/report.h"

#include <inttypes.h>
#include <time.h>

/* --- compiling --- */

static void load(tj_job *job, void *data) {
  tj_code *code = data;
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  code->symbol = tj_target_symbol(job, code->target, code->kernel->name);
  if (code->target->object == TJ_OBJECT_HOST)
    code->host_code = tj_host_code_load(job, code->bytes, code->symbol);
  clock_gettime(CLOCK_MONOTONIC, &end);
  code->times.load = (uint64_t)((end.tv_sec - begin.tv_sec) * 1000000000 + end.tv_nsec - begin.tv_nsec);
}

static void take(tj_code *code, const tj_compilation *c) {
  code->kernel = c->kernel;
  code->target = c->target;
  code->bytes = c->target->object == TJ_OBJECT_CODE_OBJECT ? c->code_object : c->object;
  code->symbol_count = c->graph->symbol_count;
  code->times = c->times;
}

tj_status tj_code_compile(tj_program *program, const tj_compile_options *options, tj_code **code) {
  tj_code *made = tj_context_allocate(program->context, sizeof *made);
  if (made == NULL)
    return TJ_ERROR_MEMORY;
  made->program = program;
  tj_program_retain(program);
  tj_compilation compilation = {0};
  tj_status status = tj_program_compile(program, options, TJ_EMIT_HSACO, NULL, &compilation);
  tj_module_dispose(&compilation.module);
  if (status == TJ_OK) {
    take(made, &compilation);
    status = tj_context_run(program->context, &program->job, load, made);
  }
  if (status == TJ_OK)
    *code = made;
  else
    tj_code_destroy(made);
  return status;
}

void tj_code_destroy(tj_code *code) {
  if (code == NULL)
    return;
  tj_program *program = code->program;
  tj_host_code_release(code->host_code);
  tj_context_release(program->context, code);
  tj_program_release(program);
}

const void *tj_code_bytes(const tj_code *code, size_t *size) {
  *size = code->bytes.size;
  return code->bytes.data;
}

const char *tj_code_kernel(const tj_code *code) {
  return code->kernel->name;
}

const char *tj_code_target(const tj_code *code) {
  return code->target->name;
}

tj_code_times tj_code_times_of(const tj_code *code) {
  return code->times;
}

size_t tj_code_argument_count(const tj_code *code) {
  return code->kernel->buffer_count;
}

const char *tj_code_argument_name(const tj_code *code, size_t index) {
  return index < code->kernel->buffer_count ? code->kernel->buffer[index].name : NULL;
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
