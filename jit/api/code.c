/* SPDX-License-Identifier: MIT */
/* Compiling kernels for launching, and disassembling code objects. */
#include "launch/api/code.h"

#include "base/clock.h"
#include "jit/cache/cache.h"
#include "jit/compile/program.h"
#include "jit/inspect/report.h"
#include "jit/isa/disasm.h"
#include "jit/tool/nvidia.h"
#include "object/code_object.h"

/* --- the cache --- */

/* What a compilation begins with, and its key; empty where it has none. */
typedef struct {
  tj_cache *cache;
  tj_text_request request;
  const char *target;
  bool is_whole; /* the text says all that is compiled: it imports nothing, and mentions no earlier program */
  tj_cache_key key;
} text_lookup;

static bool imports(tj_bytes text) {
  return memmem(text.data, text.size, "import", 6) != NULL;
}

static void make_key(tj_job *job, void *data) {
  text_lookup *l = data;
  l->request.target = tj_target_parse(job, l->target);
  l->key = tj_cache_key_of(tj_cache_text_key(job, l->cache->identity, &l->request));
}

/* The image of a text that the cache knows. Where no key can be made of it, the compilation will say why. */
static tj_image *look_up(tj_job *job, text_lookup *l, tj_code_origin *origin) {
  if (l->cache == NULL || !l->is_whole || tj_job_run(job, make_key, l) != TJ_OK)
    return NULL;
  return tj_cache_find_text(l->cache, &l->key, origin);
}

/* --- compiling --- */

/* A code on its way. */
typedef struct {
  tj_context *context;
  const tj_compile_options *options;
  text_lookup lookup;
  tj_code_origin origin;
  tj_code_times times;
  tj_image *image;
  bool waits; /* where it is not known, all of it waits */
} making;

static making make_of(tj_context *context, tj_bytes text, const tj_parameter_value fixed[], size_t fixed_count,
                      const tj_compile_options *options) {
  making m = {.context = context, .options = options};
  m.lookup = (text_lookup){
      .cache = tj_context_cache(context), .target = options->target, .is_whole = text.size > 0 && !imports(text)};
  m.lookup.request =
      (tj_text_request){.text = text, .fixed = fixed, .fixed_count = fixed_count, .kernel = options->kernel};
  return m;
}

/* Looks the text up; `job` keeps the key. */
static bool recall(tj_job *job, making *m) {
  uint64_t begin = tj_nanoseconds();
  m->image = look_up(job, &m->lookup, &m->origin);
  m->times.cache += tj_nanoseconds() - begin;
  return m->image != NULL;
}

typedef struct {
  making *making;
  const tj_compilation *compilation;
} finishing;

static void finish(tj_job *job, void *data) {
  making *m = ((finishing *)data)->making;
  const tj_compilation *c = ((finishing *)data)->compilation;
  tj_text plan = tj_text_begin(job);
  tj_launch_plan_write(&plan, c->plan);
  const tj_allocator *allocator = c->cache != NULL ? &c->cache->allocator : &job->allocator;
  m->image = tj_image_create(allocator, (tj_bytes){plan.data, plan.length}, c->machine);
  if (m->image == NULL)
    tj_fail_out_of_memory(job);
  uint64_t begin = tj_nanoseconds(), looked = m->times.cache;
  if (c->key.bytes.size > 0)
    tj_cache_keep(c->cache, m->lookup.key.bytes.size > 0 ? &m->lookup.key : NULL, &c->key, c->is_recalled, m->image);
  m->origin = c->is_recalled ? TJ_CODE_FROM_KERNEL : TJ_CODE_COMPILED;
  m->times = c->times;
  m->times.cache += looked + tj_nanoseconds() - begin;
}

static tj_status compile(tj_program *program, making *m) {
  tj_compilation compilation = {.cache = m->lookup.cache, .waits = m->waits};
  tj_status status = tj_program_compile(program, m->options, TJ_EMIT_MACHINE, NULL, &compilation);
  if (status == TJ_OK)
    status = tj_context_run(m->context, &program->job, finish, &(finishing){m, &compilation});
  tj_compilation_dispose(&compilation);
  return status;
}

/* Makes the code of an image, which it takes over. */
static tj_status give(making *m, tj_code **code) {
  tj_code *made = tj_context_allocate(m->context, sizeof *made);
  if (made == NULL) {
    tj_image_release(m->image);
    return TJ_ERROR_MEMORY;
  }
  *made = (tj_code){m->context, m->image, m->origin, m->times};
  *code = made;
  return TJ_OK;
}

static tj_status compile_code(tj_program *program, const tj_compile_options *options, bool waits, tj_code **code) {
  tj_bytes text = {program->job.source.text, program->job.source.length};
  making m = make_of(program->context, text, program->fixed, program->fixed_count, options);
  m.waits = waits;
  m.lookup.is_whole = m.lookup.is_whole && program->is_alone;
  tj_context_forget(program->context);
  tj_status status = recall(&program->job, &m) ? TJ_OK : compile(program, &m);
  return status == TJ_OK ? give(&m, code) : status;
}

tj_status tj_code_compile(tj_program *program, const tj_compile_options *options, tj_code **code) {
  return compile_code(program, options, false, code);
}

tj_status tj_code_begin(tj_program *program, const tj_compile_options *options, tj_code **code) {
  return compile_code(program, options, true, code);
}

tj_status tj_code_compile_text(tj_context *context, const char *name, const char *text, size_t length,
                               const tj_parameter_value fixed[], size_t fixed_count,
                               const tj_compile_options *options, tj_code **code) {
  making m = make_of(context, (tj_bytes){text, length}, fixed, fixed_count, options);
  tj_context_forget(context);
  tj_job job;
  tj_job_init(&job, &context->allocator);
  tj_status status = TJ_OK;
  if (!recall(&job, &m)) {
    tj_program *program;
    status = tj_program_create(context, name, text, length, fixed, fixed_count, &program);
    if (status == TJ_OK) {
      status = compile(program, &m);
      tj_program_destroy(program);
    }
  }
  tj_job_destroy(&job);
  return status == TJ_OK ? give(&m, code) : status;
}

/* --- disassembling --- */

typedef struct {
  tj_bytes bytes;
  bool stats;
  tj_text text;
} disassembly;

static void write_stats_of(tj_json *json, const char *kernel, tj_isa_stats stats) {
  tj_json_key(json, kernel);
  tj_report_stats(stats, NULL, json);
}

static void disassemble_code_object(tj_job *job, disassembly *d) {
  const tj_code_object *object = tj_code_object_parse(job, d->bytes);
  tj_json json = tj_json_begin(&d->text);
  if (!d->stats) {
    tj_disassemble(&d->text, object, (tj_disassembly_options){.with_stats = true});
    return;
  }
  tj_json_open(&json, '{');
  for (uint32_t i = 0; i < object->kernel_count; i++)
    write_stats_of(&json, object->kernel[i].name, tj_isa_stats_of(job, object, object->kernel[i].name));
  tj_json_close(&json, '}');
  tj_text_char(&d->text, '\n');
}

static void disassemble_cubin(tj_job *job, disassembly *d) {
  const tj_cubin *cubin = tj_cubin_parse(job, d->bytes);
  tj_json json = tj_json_begin(&d->text);
  if (!d->stats) {
    tj_bytes text = tj_disassemble_cubin(job, d->bytes);
    tj_text_add(&d->text, text.data, text.size);
    return;
  }
  tj_json_open(&json, '{');
  for (uint32_t i = 0; i < cubin->kernel_count; i++)
    write_stats_of(&json, cubin->kernel[i].name, tj_isa_stats_of_cubin(job, cubin, cubin->kernel[i].name));
  tj_json_close(&json, '}');
  tj_text_char(&d->text, '\n');
}

static void disassemble(tj_job *job, void *data) {
  disassembly *d = data;
  d->text = tj_text_begin(job);
  if (tj_is_cubin(d->bytes))
    disassemble_cubin(job, d);
  else
    disassemble_code_object(job, d);
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
