/* SPDX-License-Identifier: MIT */
/* tj_program_check: checks the program's value or its kernels, and writes the findings as text or JSON. */
#include "jit/inspect/check.h"

#include "base/json.h"
#include "jit/compile/program.h"
#include "jit/inspect/report.h"
#include "lower/machine/dtype.h"

#include <string.h>

#define DEFAULT_DTYPE "f32"
#define DEFAULT_TARGET "host"

/* One check: of the value, or of one kernel. */
typedef struct {
  const char *title;
  tj_findings findings;
} section;

typedef struct {
  tj_program *program;
  const tj_check_options *options;
  tj_compilation compilation; /* of the kernel at hand; disposed by the caller */
  section *section;
  uint32_t section_count;
  bool holds;
  tj_text text;
} checking;

/* --- what is checked --- */

static section *add_section(checking *c, const char *title) {
  section *made = &c->section[c->section_count++];
  *made = (section){title, {.job = &c->program->job}};
  return made;
}

static tj_check check_of(const checking *c) {
  tj_job *job = &c->program->job;
  const tj_check_options *options = c->options;
  tj_check check = {.graph = c->program->graph, .dtype = options->dtype != NULL ? options->dtype : DEFAULT_DTYPE};
  tj_dtype dtype;
  if (!tj_dtype_find(check.dtype, &dtype))
    tj_fail(job, TJ_UNKNOWN_DTYPE, "there is no element type '%s'", check.dtype);
  check.element_bytes = tj_dtype_bits(dtype) / 8;
  check.target = options->target != NULL ? tj_target_parse(job, options->target) : NULL;
  check.is_threads = options->is_threads;
  return check;
}

static void check_value(checking *c) {
  tj_check check = check_of(c);
  const tj_value *value = tj_report_value(c->program);
  c->program->job.here = c->program->evaluated.values->value_span;
  tj_text title = tj_text_begin(&c->program->job);
  tj_value_print(&title, tj_value_simplified(c->program->graph, value));
  section *made = add_section(c, title.data);
  bool is_threads = value->kind == TJ_VALUE_DISTRIBUTION || check.is_threads;
  if (check.is_threads && value->kind != TJ_VALUE_DISTRIBUTION && tj_value_layout(value) == NULL)
    tj_fail(&c->program->job, TJ_WRONG_TYPE, "%s is no (thread, value) layout", tj_value_kind_name(value->kind));
  if (value->kind == TJ_VALUE_SWIZZLE) {
    tj_find(&made->findings, "bijective", TJ_FINDING_YES, "a swizzle exchanges integers one to one");
    return;
  }
  tj_check_map(&check, value, &made->findings);
  if (is_threads)
    tj_check_threads(&check, value, &made->findings);
}

/* Of a kernel that the program has. */
static const tj_value *destination_of(const checking *c, const char *name) {
  const tj_kernel_definition *kernel = c->program->evaluated.values->kernel;
  while (strcmp(kernel->name, name) != 0)
    kernel++;
  return kernel->argument[kernel->destination].view;
}

static void check_kernel(checking *c, const char *name) {
  tj_job *job = &c->program->job;
  tj_compilation_dispose(&c->compilation);
  c->compilation =
      (tj_compilation){.graph = c->program->graph,
                       .values = c->program->evaluated.values,
                       .codegen = &c->program->context->codegen,
                       .options = {name, c->options->target != NULL ? c->options->target : DEFAULT_TARGET}};
  tj_pipeline_compile(&c->compilation, TJ_EMIT_STATS);
  tj_isa_stats stats = tj_pipeline_stats(&c->compilation);
  tj_check check = check_of(c);
  check.target = c->compilation.target;
  section *made = add_section(c, tj_string_format(job, "kernel %s for %s", name, check.target->name));
  tj_check_kernel(&check, c->compilation.kernel, destination_of(c, name), &stats, &made->findings);
}

static void check_program(checking *c) {
  const tj_program_values *values = c->program->evaluated.values;
  c->section = TJ_NEW_ARRAY(&c->program->job, section, values->kernel_count + 1);
  if (c->options->kernel != NULL) {
    check_kernel(c, c->options->kernel);
    return;
  }
  if (values->value != NULL || values->kernel_count == 0) {
    check_value(c);
    return;
  }
  for (uint32_t i = 0; i < values->kernel_count; i++)
    check_kernel(c, values->kernel[i].name);
}

/* --- what must hold --- */

/* A word that is required holds where something was found about it, and all of that holds. */
static void require(checking *c, section *s, const char *word) {
  bool is_known = false;
  for (uint32_t i = 0; i < s->findings.count; i++) {
    tj_finding *finding = &s->findings.item[i];
    if (strcmp(finding->about, word) != 0 || finding->verdict == TJ_FINDING_FACT)
      continue;
    is_known = finding->must_hold = true;
    c->holds &= finding->verdict == TJ_FINDING_YES;
  }
  if (is_known)
    return;
  tj_find(&s->findings, word, TJ_FINDING_UNKNOWN, "nothing is known about that here")->must_hold = true;
  c->holds = false;
}

static void judge(checking *c) {
  c->holds = true;
  for (uint32_t s = 0; s < c->section_count; s++) {
    for (uint32_t i = 0; i < c->section[s].findings.count; i++) {
      const tj_finding *finding = &c->section[s].findings.item[i];
      c->holds &= !(finding->must_hold && finding->verdict == TJ_FINDING_NO);
    }
    for (size_t i = 0; i < c->options->require_count; i++)
      require(c, &c->section[s], c->options->require[i]);
  }
}

/* --- text --- */

static const char *const verdict_texts[] = {
    [TJ_FINDING_FACT] = NULL, [TJ_FINDING_YES] = "yes", [TJ_FINDING_NO] = "no", [TJ_FINDING_UNKNOWN] = "unknown"};

static void print_finding(tj_text *text, const tj_finding *finding) {
  const char *verdict = verdict_texts[finding->verdict];
  tj_text_format(text, "  %s: %s", finding->about, verdict != NULL ? verdict : "");
  tj_text_format(text, "%s%s", verdict != NULL && finding->text[0] != '\0' ? ": " : "", finding->text);
  tj_text_string(text, finding->must_hold && finding->verdict != TJ_FINDING_YES ? "  [must hold]\n" : "\n");
}

static void print_text(checking *c) {
  for (uint32_t s = 0; s < c->section_count; s++) {
    tj_text_format(&c->text, "%s\n", c->section[s].title);
    for (uint32_t i = 0; i < c->section[s].findings.count; i++)
      print_finding(&c->text, &c->section[s].findings.item[i]);
  }
}

/* --- JSON --- */

static void write_numbers(tj_json *json, const tj_finding *finding) {
  tj_json_key(json, "numbers");
  tj_json_open(json, '{');
  for (uint32_t i = 0; i < finding->number_count; i++)
    tj_json_number(json, finding->number[i].name, (int64_t)finding->number[i].value);
  tj_json_close(json, '}');
}

static void write_finding(tj_json *json, const tj_finding *finding) {
  tj_json_open(json, '{');
  tj_json_member(json, "about", finding->about);
  if (finding->verdict != TJ_FINDING_FACT)
    tj_json_member(json, "verdict", verdict_texts[finding->verdict]);
  if (finding->must_hold) {
    tj_json_key(json, "must_hold");
    tj_json_boolean(json, true);
  }
  tj_json_member(json, "text", finding->text);
  if (finding->number_count > 0)
    write_numbers(json, finding);
  tj_json_close(json, '}');
}

static void write_section(tj_json *json, const section *s) {
  tj_json_open(json, '{');
  tj_json_member(json, "of", s->title);
  tj_json_key(json, "findings");
  tj_json_open(json, '[');
  for (uint32_t i = 0; i < s->findings.count; i++)
    write_finding(json, &s->findings.item[i]);
  tj_json_close(json, ']');
  tj_json_close(json, '}');
}

static void write_json(checking *c) {
  tj_json json = tj_json_begin(&c->text);
  tj_json_open(&json, '{');
  tj_json_key(&json, "checks");
  tj_json_open(&json, '[');
  for (uint32_t s = 0; s < c->section_count; s++)
    write_section(&json, &c->section[s]);
  tj_json_close(&json, ']');
  tj_json_key(&json, "holds");
  tj_json_boolean(&json, c->holds);
  tj_json_close(&json, '}');
  tj_text_char(&c->text, '\n');
}

static void run_check(tj_job *job, void *data) {
  checking *c = data;
  c->text = tj_text_begin(job);
  check_program(c);
  judge(c);
  if (c->options->form == TJ_CHECK_JSON)
    write_json(c);
  else
    print_text(c);
}

tj_status tj_program_check(tj_program *program, const tj_check_options *options, int *holds, tj_blob *text) {
  checking c = {.program = program, .options = options};
  tj_status status = tj_context_run(program->context, &program->job, run_check, &c);
  tj_compilation_dispose(&c.compilation);
  if (status != TJ_OK)
    return status;
  *holds = c.holds;
  return tj_context_blob(program->context, c.text.data, c.text.length, text);
}
