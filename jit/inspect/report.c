/* SPDX-License-Identifier: MIT */
/* Reports on programs: values, simplified expressions with their traces, kernels, statistics. */
#include "jit/inspect/report.h"

#include "base/json.h"
#include "frontend/text/parser.h"
#include "ir/index/print.h"
#include "ir/value/expressions.h"
#include "jit/inspect/report_proof.h"
#include "lower/kernel/kernel_expressions.h"
#include "lower/mapping/mapped.h"
#include "lower/plan/plan.h"

#include <inttypes.h>
#include <string.h>

const tj_value *tj_report_value(tj_program *program) {
  const tj_value *value = program->evaluated.values->value;
  if (value == NULL)
    tj_fail(&program->job, TJ_NOTHING_TO_EVALUATE, "the program has no expression to evaluate");
  return value;
}

/* --- simplified expressions --- */

/* The parameters and coordinates that a value's expressions mention, and the expressions. */
typedef struct {
  const tj_node *const *input;
  uint32_t input_count;
  tj_expressions of;
} expressions;

static uint32_t root_count(const expressions *e) {
  return tj_expressions_count(&e->of);
}

static void collect_inputs(tj_program *program, expressions *e) {
  const tj_program_values *values = program->evaluated.values;
  const tj_node **inputs = TJ_NEW_ARRAY(&program->job, const tj_node *, values->parameter_count + e->of.rank);
  for (uint32_t i = 0; i < values->parameter_count; i++) {
    if (!tj_is_constant(values->parameter[i].node))
      inputs[e->input_count++] = values->parameter[i].node;
  }
  for (uint32_t i = 0; i < e->of.rank; i++)
    inputs[e->input_count++] = e->of.coordinate[i];
  e->input = inputs;
}

static expressions expressions_of(tj_program *program) {
  const tj_value *value = tj_report_value(program);
  program->job.here = program->evaluated.values->value_span;
  expressions e = {.of = tj_expressions_of(program->graph, value)};
  collect_inputs(program, &e);
  return e;
}

static const char *text_of(tj_program *program, const expressions *e) {
  const tj_tuple **leaves = TJ_NEW_ARRAY(&program->job, const tj_tuple *, e->of.leaf_count + 1);
  for (uint32_t i = 0; i < e->of.leaf_count; i++)
    leaves[i] = tj_tuple_integer(program->graph, e->of.root[i]);
  return tj_tuple_text(&program->job, tj_tuple_from_leaves(program->graph, e->of.output, leaves));
}

static const char *predicate_of(tj_program *program, const expressions *e) {
  return e->of.has_predicate ? tj_node_text(&program->job, e->of.root[e->of.leaf_count]) : NULL;
}

/* What one side of a simplification looks like. The texts are the job's. */
typedef struct {
  const char *text, *predicate;
  tj_op_counts ops;
} side;

static side side_of(tj_program *program, const expressions *e) {
  return (side){text_of(program, e), predicate_of(program, e),
                tj_count_ops(program->graph, e->of.root, root_count(e))};
}

static void write_side(tj_json *json, const char *key, const side *s) {
  tj_json_key(json, key);
  tj_json_open(json, '{');
  tj_json_member(json, "text", s->text);
  tj_json_key(json, "ops");
  tj_json_open(json, '{');
  tj_json_number(json, "div", s->ops.div);
  tj_json_number(json, "mod", s->ops.mod);
  tj_json_number(json, "mul", s->ops.mul);
  tj_json_number(json, "add", s->ops.add);
  tj_json_number(json, "bit", s->ops.bit);
  tj_json_number(json, "select", s->ops.select);
  tj_json_close(json, '}');
  if (s->predicate != NULL)
    tj_json_member(json, "valid", s->predicate);
  tj_json_close(json, '}');
}

static void write_inputs(tj_json *json, const expressions *e) {
  tj_json_key(json, "inputs");
  tj_json_open(json, '[');
  for (uint32_t i = 0; i < e->input_count; i++)
    tj_json_string(json, e->input[i]->symbol->name);
  tj_json_close(json, ']');
}

/* Names, each once, in the order of their first use. */
typedef struct {
  const char **name;
  size_t count;
} names;

static void add_once(names *all, const char *name) {
  for (size_t i = 0; i < all->count; i++) {
    if (strcmp(all->name[i], name) == 0)
      return;
  }
  all->name[all->count++] = name;
}

static names rules_of(tj_job *job, const tj_simplification *done) {
  names all = {.name = TJ_NEW_ARRAY(job, const char *, done->structure.count + done->rules.count + 1)};
  for (uint32_t i = 0; i < done->structure.count; i++)
    add_once(&all, done->structure.event[i].rule);
  for (size_t i = 0; i < done->rules.count; i++)
    add_once(&all, done->rules.step[i].rule);
  return all;
}

static void write_rules(tj_json *json, const tj_simplification *done) {
  names rules = rules_of(json->text->job, done);
  tj_json_key(json, "rules");
  tj_json_open(json, '[');
  for (size_t i = 0; i < rules.count; i++)
    tj_json_string(json, rules.name[i]);
  tj_json_close(json, ']');
}

static void print_trace(tj_program *program, const tj_simplification *done, tj_text *text) {
  size_t number = 0;
  for (uint32_t i = 0; i < done->structure.count; i++)
    tj_text_format(text, "%3zu. %s\n       of the view's transforms, at %s\n", ++number,
                   done->structure.event[i].rule, done->structure.event[i].where);
  for (size_t i = 0; i < done->rules.count; i++) {
    const tj_step *step = &done->rules.step[i];
    tj_text_format(text, "%3zu. %s\n       %s\n     = %s\n       because %s\n", ++number, step->rule,
                   tj_node_text(&program->job, step->before), tj_node_text(&program->job, step->after),
                   step->because);
  }
}

static void print_result(const side *s, tj_text *text) {
  tj_text_format(text, "%s\n", s->text);
  if (s->predicate != NULL)
    tj_text_format(text, "valid: %s\n", s->predicate);
}

/* A simplification with its results, and where it is asked for, its proof. */
typedef struct {
  side before, after;
  tj_simplification done;
  const tj_proof *proof;
} simplification;

static void write_simplification(tj_text *text, const expressions *e, const simplification *s) {
  tj_json json = tj_json_begin(text);
  tj_json_open(&json, '{');
  write_inputs(&json, e);
  write_side(&json, "before", &s->before);
  write_side(&json, "after", &s->after);
  write_rules(&json, &s->done);
  if (s->proof != NULL) {
    tj_json_key(&json, "proof");
    tj_proof_write(s->proof, &json);
  }
  tj_json_close(&json, '}');
  tj_text_char(text, '\n');
}

static const tj_node *const *copy_of_roots(tj_program *program, const expressions *e) {
  return tj_arena_copy(&program->job.arena, e->of.root, root_count(e) * sizeof *e->of.root);
}

void tj_report_simplify(tj_program *program, tj_simplify_form form, bool *proved, tj_text *text) {
  expressions e = expressions_of(program);
  const tj_node *const *before = copy_of_roots(program, &e);
  simplification s = {.before = side_of(program, &e)};
  tj_proof proof;
  s.done = tj_expressions_simplify(program->graph, &e.of);
  s.after = side_of(program, &e);
  if (proved != NULL) {
    proof = tj_proof_of(program->graph, before, e.of.root, root_count(&e), e.of.has_predicate);
    s.proof = &proof;
    *proved = tj_proof_holds(&proof);
  }
  if (form == TJ_SIMPLIFY_JSON) {
    write_simplification(text, &e, &s);
    return;
  }
  if (form == TJ_SIMPLIFY_TRACE)
    print_trace(program, &s.done, text);
  print_result(&s.after, text);
  if (s.proof != NULL)
    tj_proof_print(s.proof, text);
}

/* --- values and kernels --- */

void tj_parameter_print(tj_text *text, const tj_parameter *parameter) {
  tj_text_format(text, "param %s", parameter->name);
  if (tj_is_constant(parameter->node)) {
    tj_text_format(text, " = %" PRId64 "\n", parameter->node->value);
    return;
  }
  const tj_symbol *symbol = parameter->node->symbol;
  if (symbol->choice_count > 0)
    tj_text_format(text, " in {%s}", tj_integers_text(text->job, symbol->choice, symbol->choice_count, ", "));
  else if (symbol->low != NULL && symbol->high != NULL)
    tj_text_format(text, " in %s..%s", tj_node_text(text->job, symbol->low), tj_node_text(text->job, symbol->high));
  if (symbol->divisor != NULL)
    tj_text_format(text, " multiple %s", tj_node_text(text->job, symbol->divisor));
  else if (symbol->multiple > 1 && symbol->choice_count == 0)
    tj_text_format(text, " multiple %" PRId64, symbol->multiple);
  tj_text_char(text, '\n');
}

static void print_kernel_values(tj_text *text, const tj_kernel_definition *kernel) {
  tj_text_format(text, "kernel %s\n", kernel->name);
  for (uint32_t i = 0; i < kernel->argument_count; i++) {
    const tj_kernel_argument *argument = &kernel->argument[i];
    tj_text_format(text, "  %s: %s", argument->name, argument->dtype);
    if (argument->view != NULL) {
      tj_text_string(text, " @ ");
      tj_value_print(text, argument->view);
    }
    tj_text_char(text, '\n');
  }
}

static void print_definition(tj_text *text, const tj_definition *definition) {
  if (definition->value == NULL) {
    tj_ast_print_item(text, definition->item);
    return;
  }
  tj_text_format(text, "let %s = ", definition->name);
  tj_value_print(text, definition->value);
  tj_text_char(text, '\n');
}

void tj_report_values(tj_program *program, tj_text *text) {
  const tj_program_values *values = program->evaluated.values;
  for (uint32_t i = 0; i < values->parameter_count; i++)
    tj_parameter_print(text, &values->parameter[i]);
  for (uint32_t i = 0; i < values->definition_count; i++)
    print_definition(text, &values->definition[i]);
  for (uint32_t i = 0; i < values->kernel_count; i++)
    print_kernel_values(text, &values->kernel[i]);
  if (values->value != NULL) {
    tj_value_print(text, values->value);
    tj_text_char(text, '\n');
  }
}

void tj_report_kernel(tj_program *program, const tj_kernel *kernel, tj_text *text) {
  uint32_t count;
  const tj_named_node *named = tj_kernel_expressions(&program->job, kernel, &count);
  const char *index = kernel->index != NULL ? kernel->index->symbol->name : "n";
  tj_text_format(text, "kernel %s: one work-item for each 0 <= %s < count\n", kernel->name, index);
  for (uint32_t i = 0; i < count; i++)
    tj_text_format(text, "  %-12s = %s\n", named[i].name, tj_node_text(&program->job, named[i].node));
  if (kernel->mapped != NULL) {
    tj_text_format(text, "  %-12s = ", "mapping");
    tj_mapping_print(text, kernel->mapped->mapping);
    tj_text_char(text, '\n');
  }
}

/* Whether a figure comes from instructions. */
static bool is_counted(const char *figure) {
#define FIGURE(name, meaning) strcmp(figure, #name) == 0 ||
  return TJ_ISA_COUNTS(FIGURE) strcmp(figure, "cost") == 0;
#undef FIGURE
}

static void write_figure(tj_json *json, const char *name, uint64_t value, bool is_unknown) {
  if (is_unknown)
    tj_json_member(json, name, NULL);
  else
    tj_json_number(json, name, (int64_t)value);
}

void tj_report_stats(tj_isa_stats stats, const tj_ir_stats *ir, tj_json *json) {
  tj_json_open(json, '{');
#define FIGURE(name, meaning) write_figure(json, #name, stats.name, is_counted(#name) && stats.has_no_counts);
  TJ_ISA_STATS(FIGURE)
#undef FIGURE
#define FIGURE(name, meaning)                                                                                        \
  if (ir != NULL)                                                                                                    \
    write_figure(json, #name, ir->name, false);
  TJ_IR_STATS(FIGURE)
#undef FIGURE
  tj_json_close(json, '}');
}
