/* Reports on programs: values, simplified expressions with their traces, kernels, statistics. */
#include "jit/report.h"

#include "ir/map.h"
#include "ir/print.h"
#include "ir/structure.h"
#include "jit/guard.h"
#include "jit/report_proof.h"
#include "lower/plan.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

const tj_value *tj_report_value(tj_program *program) {
  const tj_value *value = program->evaluated.values->value;
  if (value == NULL)
    tj_fail(&program->job, TJ_NOTHING_TO_EVALUATE, "the program has no expression to evaluate");
  return value;
}

/* --- JSON --- */

typedef struct {
  tj_text *text;
  char *dumped;
} dumping;

static void copy_dumped(tj_job *job, void *data) {
  (void)job;
  dumping *d = data;
  tj_text_string(d->text, d->dumped);
}

static void free_dumped(void *data) {
  free(((dumping *)data)->dumped);
}

/* Appends an object's text and gives the object back. */
static void add_json(tj_text *text, json_t *object) {
  dumping d = {text, object != NULL ? json_dumps(object, JSON_COMPACT) : NULL};
  json_decref(object);
  if (d.dumped == NULL)
    tj_fail_out_of_memory(text->job);
  tj_guard(text->job, copy_dumped, free_dumped, &d);
}

/* --- simplified expressions --- */

/* The expressions of a value: `root` holds the leaves of `output` in order, then the predicate where there is one. */
typedef struct {
  const tj_node *const *input;
  uint32_t input_count;
  const tj_tuple *output;
  const tj_node **root;
  uint32_t leaf_count;
  bool has_predicate;
} expressions;

static uint32_t root_count(const expressions *e) {
  return e->leaf_count + (e->has_predicate ? 1 : 0);
}

static void collect_inputs(tj_program *program, const tj_tuple *coordinates, expressions *e) {
  const tj_program_values *values = program->evaluated.values;
  uint32_t rank = 0;
  const tj_tuple *const *leaves = coordinates != NULL ? tj_tuple_leaves(program->graph, coordinates, &rank) : NULL;
  const tj_node **inputs = TJ_NEW_ARRAY(&program->job, const tj_node *, values->parameter_count + rank);
  for (uint32_t i = 0; i < values->parameter_count; i++) {
    if (!tj_is_constant(values->parameter[i].node))
      inputs[e->input_count++] = values->parameter[i].node;
  }
  for (uint32_t i = 0; i < rank; i++)
    inputs[e->input_count++] = leaves[i]->value;
  e->input = inputs;
}

static void collect_roots(tj_program *program, const tj_node *predicate, expressions *e) {
  const tj_tuple *const *leaves = tj_tuple_leaves(program->graph, e->output, &e->leaf_count);
  e->root = TJ_NEW_ARRAY(&program->job, const tj_node *, e->leaf_count + 1);
  for (uint32_t i = 0; i < e->leaf_count; i++) {
    if (leaves[i]->value == NULL)
      tj_fail(&program->job, TJ_WRONG_TYPE, "an underscore has no index arithmetic");
    e->root[i] = leaves[i]->value;
  }
  e->has_predicate = predicate != NULL && !tj_is_int(predicate, 1);
  if (e->has_predicate)
    e->root[e->leaf_count] = predicate;
}

static expressions expressions_of(tj_program *program) {
  const tj_value *value = tj_report_value(program);
  program->job.here = program->evaluated.values->value_span;
  expressions e = {.output = NULL};
  if (value->kind == TJ_VALUE_TUPLE) {
    e.output = value->tuple;
    collect_inputs(program, NULL, &e);
    collect_roots(program, NULL, &e);
    return e;
  }
  tj_map map = tj_map_of_value(program->graph, value);
  e.output = map.output;
  collect_inputs(program, map.input, &e);
  collect_roots(program, map.valid, &e);
  return e;
}

static const char *text_of(tj_program *program, const expressions *e) {
  const tj_tuple **leaves = TJ_NEW_ARRAY(&program->job, const tj_tuple *, e->leaf_count + 1);
  for (uint32_t i = 0; i < e->leaf_count; i++)
    leaves[i] = tj_tuple_integer(program->graph, e->root[i]);
  return tj_tuple_text(&program->job, tj_tuple_from_leaves(program->graph, e->output, leaves));
}

static const char *predicate_of(tj_program *program, const expressions *e) {
  return e->has_predicate ? tj_node_text(&program->job, e->root[e->leaf_count]) : NULL;
}

/* What one side of a simplification looks like. The texts are the job's. */
typedef struct {
  const char *text, *predicate;
  tj_op_counts ops;
} side;

static side side_of(tj_program *program, const expressions *e) {
  return (side){text_of(program, e), predicate_of(program, e), tj_count_ops(program->graph, e->root, root_count(e))};
}

static json_t *json_of_side(const side *s) {
  json_t *ops =
      json_pack("{s:i,s:i,s:i,s:i,s:i,s:i}", "div", (int)s->ops.div, "mod", (int)s->ops.mod, "mul", (int)s->ops.mul,
                "add", (int)s->ops.add, "bit", (int)s->ops.bit, "select", (int)s->ops.select);
  json_t *object = json_pack("{s:s,s:o}", "text", s->text, "ops", ops);
  if (s->predicate != NULL)
    json_object_set_new(object, "valid", json_string(s->predicate));
  return object;
}

static json_t *json_of_inputs(const expressions *e) {
  json_t *names = json_array();
  for (uint32_t i = 0; i < e->input_count; i++)
    json_array_append_new(names, json_string(e->input[i]->symbol->name));
  return names;
}

/* What simplification did: to the view's transforms, then to index expressions. */
typedef struct {
  tj_structure_trace structure;
  tj_trace rules;
} history;

static void add_rule_once(json_t *rules, const char *rule) {
  for (size_t i = 0; i < json_array_size(rules); i++)
    if (strcmp(json_string_value(json_array_get(rules, i)), rule) == 0)
      return;
  json_array_append_new(rules, json_string(rule));
}

/* The rules that applied, each once, in the order of their first use. */
static json_t *json_of_rules(const history *done) {
  json_t *rules = json_array();
  for (uint32_t i = 0; i < done->structure.count; i++)
    add_rule_once(rules, done->structure.event[i].rule);
  for (size_t i = 0; i < done->rules.count; i++)
    add_rule_once(rules, done->rules.step[i].rule);
  return rules;
}

static void print_trace(tj_program *program, const history *done, tj_text *text) {
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

static uint64_t weight_of(const expressions *e) {
  uint64_t weight = 0;
  for (uint32_t i = 0; i < root_count(e); i++)
    weight += e->root[i]->weight;
  return weight;
}

static void simplify_expressions(tj_program *program, expressions *e, history *done) {
  tj_simplify(program->graph, e->root, root_count(e), &done->rules);
}

/* The same expressions of the view with its transforms simplified. */
static expressions restructured(tj_program *program, const expressions *e, const tj_view *view, history *done) {
  tj_graph *graph = program->graph;
  expressions r = *e;
  const tj_node *const *coordinate = e->input + (e->input_count - view->rank);
  const tj_view *structured = tj_view_structured(graph, view, &done->structure);
  r.root = TJ_NEW_ARRAY(&program->job, const tj_node *, e->leaf_count + 1);
  r.root[0] = tj_view_offset(graph, structured, coordinate);
  r.root[e->leaf_count] = tj_view_valid(graph, structured, coordinate, false);
  return r;
}

/* A view's transforms are simplified first, and then the index expressions, unless these alone come out cheaper. */
static history simplify(tj_program *program, expressions *e) {
  const tj_value *value = tj_report_value(program);
  history direct = {0}, structural = {0};
  if (value->kind != TJ_VALUE_VIEW) {
    simplify_expressions(program, e, &direct);
    return direct;
  }
  expressions other = restructured(program, e, value->view, &structural);
  simplify_expressions(program, &other, &structural);
  simplify_expressions(program, e, &direct);
  if (weight_of(&other) > weight_of(e))
    return direct;
  *e = other;
  return structural;
}

/* A simplification with its results, and where it is asked for, its proof. */
typedef struct {
  side before, after;
  history done;
  const tj_proof *proof;
} simplification;

static json_t *json_of_simplification(const expressions *e, const simplification *s) {
  json_t *object = json_pack("{s:o,s:o,s:o,s:o}", "inputs", json_of_inputs(e), "before", json_of_side(&s->before),
                             "after", json_of_side(&s->after), "rules", json_of_rules(&s->done));
  if (s->proof != NULL)
    json_object_set_new(object, "proof", tj_proof_json(s->proof));
  return object;
}

static const tj_node *const *copy_of_roots(tj_program *program, const expressions *e) {
  return tj_arena_copy(&program->job.arena, e->root, root_count(e) * sizeof *e->root);
}

void tj_report_simplify(tj_program *program, tj_simplify_form form, bool *proved, tj_text *text) {
  expressions e = expressions_of(program);
  const tj_node *const *before = copy_of_roots(program, &e);
  simplification s = {.before = side_of(program, &e)};
  tj_proof proof;
  s.done = simplify(program, &e);
  s.after = side_of(program, &e);
  if (proved != NULL) {
    proof = tj_proof_of(program->graph, before, e.root, root_count(&e), e.has_predicate);
    s.proof = &proof;
    *proved = tj_proof_holds(&proof);
  }
  if (form == TJ_SIMPLIFY_JSON) {
    add_json(text, json_of_simplification(&e, &s));
    tj_text_char(text, '\n');
    return;
  }
  if (form == TJ_SIMPLIFY_TRACE)
    print_trace(program, &s.done, text);
  print_result(&s.after, text);
  if (s.proof != NULL)
    tj_proof_print(s.proof, text);
}

/* --- values and kernels --- */

static void print_parameter(tj_text *text, const tj_parameter *parameter) {
  tj_text_format(text, "param %s", parameter->name);
  if (tj_is_constant(parameter->node)) {
    tj_text_format(text, " = %" PRId64 "\n", parameter->node->value);
    return;
  }
  const tj_symbol *symbol = parameter->node->symbol;
  if (symbol->low != NULL && symbol->high != NULL)
    tj_text_format(text, " in %s..%s", tj_node_text(text->job, symbol->low), tj_node_text(text->job, symbol->high));
  if (symbol->multiple > 1)
    tj_text_format(text, " multiple %" PRId64, symbol->multiple);
  tj_text_char(text, '\n');
}

static void print_kernel_values(tj_text *text, const tj_kernel_definition *kernel) {
  tj_text_format(text, "kernel %s\n", kernel->name);
  for (uint32_t i = 0; i < kernel->argument_count; i++) {
    tj_text_format(text, "  %s: %s @ ", kernel->argument[i].name, kernel->argument[i].dtype);
    tj_value_print(text, kernel->argument[i].view);
    tj_text_char(text, '\n');
  }
}

void tj_report_values(tj_program *program, tj_text *text) {
  const tj_program_values *values = program->evaluated.values;
  for (uint32_t i = 0; i < values->parameter_count; i++)
    print_parameter(text, &values->parameter[i]);
  for (uint32_t i = 0; i < values->definition_count; i++) {
    tj_text_format(text, "let %s = ", values->definition[i].name);
    tj_value_print(text, values->definition[i].value);
    tj_text_char(text, '\n');
  }
  for (uint32_t i = 0; i < values->kernel_count; i++)
    print_kernel_values(text, &values->kernel[i]);
  if (values->value != NULL) {
    tj_value_print(text, values->value);
    tj_text_char(text, '\n');
  }
}

void tj_report_kernel(tj_program *program, const tj_kernel *kernel, tj_text *text) {
  tj_named_node named[TJ_KERNEL_EXPRESSIONS];
  uint32_t count = tj_kernel_expressions(kernel, named);
  tj_text_format(text, "kernel %s: one work-item for each 0 <= n < count\n", kernel->name);
  for (uint32_t i = 0; i < count; i++)
    tj_text_format(text, "  %-12s = %s\n", named[i].name, tj_node_text(&program->job, named[i].node));
}

void tj_report_stats(tj_isa_stats stats, tj_text *text) {
  json_t *object = json_object();
#define FIGURE(name, meaning) json_object_set_new(object, #name, json_integer((json_int_t)stats.name));
  TJ_ISA_STATS(FIGURE)
#undef FIGURE
  add_json(text, object);
}
