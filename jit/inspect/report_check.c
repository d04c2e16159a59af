/* SPDX-License-Identifier: MIT */
/* tj_program_check: checks the program's value or its kernels, and reports the findings. tj_program_suggest
 * does the same of its widest accesses. */
#include "jit/inspect/check.h"

#include "base/number/dtype.h"
#include "base/text.h"
#include "ir/index/print.h"
#include "jit/compile/launch_plan_make.h"
#include "jit/compile/program.h"
#include "jit/inspect/example.h"
#include "jit/inspect/report.h"
#include "jit/inspect/report_findings.h"
#include "jit/inspect/suggest_access.h"

#include <string.h>

#define DEFAULT_DTYPE "f32"
#define DEFAULT_TARGET "host"

enum { MOST_PART_BYTES = 60 };

typedef struct {
  tj_program *program;
  const tj_check_options *options;
  tj_compilation compilation; /* of the kernel at hand; disposed by the caller */
  tj_sections sections;
  uint32_t subject; /* the last one's number */
  bool holds;
  tj_text text;
} checking;

/* --- what is checked --- */

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

/* A map has no launch. */
static void refuse_parameters(const checking *c) {
  tj_job *job = &c->program->job;
  const tj_check_options *options = c->options;
  if (options->parameter_count + options->number_count == 0)
    return;
  tj_note(job, "give parameters of a map their values with tj_program_create");
  tj_fail(job, TJ_UNKNOWN_PARAMETER, "a map is not launched, and takes no '%s'",
          options->parameter_count > 0 ? options->parameter[0].name : options->number[0]);
}

static void check_value(checking *c) {
  refuse_parameters(c);
  tj_check check = check_of(c);
  const tj_value *value = tj_report_value(c->program);
  c->program->job.here = c->program->evaluated.values->value_span;
  tj_text title = tj_text_begin(&c->program->job);
  tj_value_print(&title, tj_value_simplified(c->program->graph, value));
  tj_section *made = tj_sections_add(&c->sections, c->subject, title.data);
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
static const tj_kernel_definition *definition_of(const checking *c, const char *name) {
  const tj_kernel_definition *kernel = c->program->evaluated.values->kernel;
  while (strcmp(kernel->name, name) != 0)
    kernel++;
  return kernel;
}

/* Costs of accesses are known without machine code; what a kernel occupies is not. */
static bool has_stats(const checking *c) {
  tj_job *job = &c->program->job;
  return tj_pipeline_has_stats(job, tj_target_parse(job, c->compilation.options.target));
}

static void compile(checking *c, const char *name) {
  tj_compilation_dispose(&c->compilation);
  c->compilation =
      (tj_compilation){.graph = c->program->graph,
                       .values = c->program->evaluated.values,
                       .idle_codegens = &tj_compiler_of(c->program->context)->idle_codegens,
                       .options = {name, c->options->target != NULL ? c->options->target : DEFAULT_TARGET}};
  tj_pipeline_compile(&c->compilation, has_stats(c) ? TJ_EMIT_STATS : TJ_EMIT_LLVM);
}

/* The kernel's variants as a launch tries them: the fastest first. */
static const tj_kernel *const *list_variants(tj_job *job, const tj_kernel *kernel, const tj_launch_plan *plan) {
  const tj_kernel **variant = TJ_NEW_ARRAY(job, const tj_kernel *, plan->variant_count);
  for (uint32_t number = plan->variant_count; number-- > 0; kernel = kernel->faster)
    variant[number] = kernel;
  return variant;
}

/* The parts of a condition that fit into a few words; the others, on what the launch computes, are three dots. */
static void print_parts(tj_job *job, tj_text *text, const tj_node *node, bool *is_cut) {
  if (node->op == TJ_OP_AND) {
    print_parts(job, text, node->arg[0], is_cut);
    print_parts(job, text, node->arg[1], is_cut);
    return;
  }
  const char *part = tj_node_brief(job, node);
  if (strlen(part) > MOST_PART_BYTES)
    *is_cut = true;
  else
    tj_text_format(text, "%s%s", text->length > 0 ? " & " : "", part);
}

/* What a launch has to meet to take a variant that is not the last: its condition stands with the next one. */
static const char *condition_of(tj_job *job, const tj_kernel *const variant[], uint32_t number, uint32_t count) {
  tj_text text = tj_text_begin(job);
  bool is_cut = false;
  if (variant[number]->follows)
    return tj_string_format(job, "%s has run", variant[number + 1]->name);
  if (number + 1 == count)
    return NULL;
  if (!tj_is_int(variant[number + 1]->condition, 1))
    print_parts(job, &text, variant[number + 1]->condition, &is_cut);
  tj_report_alignment(variant[number], &text);
  if (is_cut)
    tj_text_string(&text, text.length > 0 ? " & …" : "…");
  return text.data;
}

/* Whether all parameters are given that decide which variant a launch takes. */
static bool has_all(const checking *c, const tj_launch_plan *plan) {
  for (uint32_t i = 0; i < plan->passed_count; i++) {
    bool is_given = plan->parameter[i].number_bits > 0;
    for (size_t k = 0; k < c->options->parameter_count; k++)
      is_given |= strcmp(c->options->parameter[k].name, plan->parameter[i].name) == 0;
    if (!is_given)
      return false;
  }
  return true;
}

/* A variant that the parameters given rule out is not checked. The last one serves where no other does: beside others
 * that are taken, nothing is required of what it costs. */
static void check_variants(checking *c, const tj_check *check, const tj_launch_plan *plan) {
  tj_job *job = &c->program->job;
  const tj_kernel *const *variant = list_variants(job, c->compilation.kernel, plan);
  uint32_t count = plan->variant_count;
  bool is_taken = false, decides = has_all(c, plan);
  for (uint32_t i = 0; i < count; i++) {
    const int64_t *parameter =
        tj_example_of(job, plan, tj_launch_first(plan, i), c->options->parameter, c->options->parameter_count);
    if (parameter == NULL && decides)
      continue;
    tj_section *made = &c->sections.item[c->sections.count - 1];
    if (count > 1) {
      made = tj_sections_add(&c->sections, c->subject, tj_string_format(job, "variant %s", plan->variant[i].symbol));
      made->variant = plan->variant[i].symbol;
      made->condition = condition_of(job, variant, i, count);
    }
    made->plan = plan;
    made->parameter = parameter;
    made->is_exempt = i + 1 == count && is_taken;
    is_taken |= parameter != NULL;
    tj_check_variant(check, variant[i], parameter, &made->findings);
    if (has_stats(c))
      tj_check_machine_code(check, variant[i], tj_pipeline_stats(&c->compilation, variant[i]), &made->findings);
  }
}

/* What parameters decide of races, where all of them are given. */
static tj_race_verdict race_of_launch(const checking *c, const tj_launch_plan *plan, const char **text) {
  if (plan->race == NULL || !has_all(c, plan))
    return TJ_RACE_UNDECIDED;
  return tj_race_at(&c->program->job, plan, c->options->parameter, c->options->parameter_count, text);
}

static void check_candidates(checking *c, const tj_check *check, const tj_kernel_definition *definition) {
  tj_job *job = &c->program->job;
  size_t most = c->options->candidates;
  tj_section *made = tj_sections_add(
      &c->sections, c->subject,
      tj_string_format(job, "mappings of kernel %s for %s, by price", definition->name, check->target->name));
  tj_check_candidates(check, &c->compilation, definition,
                      most < TJ_CHECK_MOST_CANDIDATES ? (uint32_t)most : TJ_CHECK_MOST_CANDIDATES, &made->findings);
}

static void check_kernel(checking *c, const char *name) {
  tj_job *job = &c->program->job;
  compile(c, name);
  tj_check check = check_of(c);
  check.target = c->compilation.target;
  const tj_kernel_definition *definition = definition_of(c, name);
  const tj_launch_plan *plan =
      tj_launch_plan_make(c->program->graph, c->program->evaluated.values, c->compilation.kernel, check.target);
  for (size_t i = 0; i < c->options->number_count; i++)
    tj_require_number(job, plan, c->options->number[i]);
  c->subject++;
  tj_section *made =
      tj_sections_add(&c->sections, c->subject, tj_string_format(job, "kernel %s for %s", name, check.target->name));
  const char *race = "";
  const tj_race_verdict launch = race_of_launch(c, plan, &race);
  tj_check_destination(&check, c->compilation.kernel, definition->argument[definition->destination].view, launch,
                       race, &made->findings);
  check_variants(c, &check, plan);
  if (c->options->candidates > 0)
    check_candidates(c, &check, definition);
}

static void check_program(checking *c) {
  const tj_program_values *values = c->program->evaluated.values;
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

static void run_check(tj_job *job, void *data) {
  checking *c = data;
  c->text = tj_text_begin(job);
  c->sections = (tj_sections){.job = job};
  check_program(c);
  c->holds = tj_sections_judge(&c->sections, c->options->require, c->options->require_count);
  tj_sections_report(&c->sections, c->options->form, c->holds, &c->text);
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

/* --- accesses --- */

static void run_suggest(tj_job *job, void *data) {
  checking *c = data;
  tj_check check = check_of(c);
  const tj_value *value = tj_report_value(c->program);
  c->text = tj_text_begin(job);
  c->sections = (tj_sections){.job = job};
  job->here = c->program->evaluated.values->value_span;
  tj_text title = tj_text_begin(job);
  tj_value_print(&title, tj_value_simplified(c->program->graph, value));
  tj_suggest_access_of(c->program, &check, &tj_sections_add(&c->sections, 0, title.data)->findings);
  tj_sections_report(&c->sections, c->options->form, true, &c->text);
}

tj_status tj_program_suggest(tj_program *program, const char *dtype, tj_check_form form, tj_blob *text) {
  checking c = {.program = program, .options = &(tj_check_options){.dtype = dtype, .form = form}};
  tj_status status = tj_context_run(program->context, &program->job, run_suggest, &c);
  return status == TJ_OK ? tj_context_blob(program->context, c.text.data, c.text.length, text) : status;
}
