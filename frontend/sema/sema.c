/* SPDX-License-Identifier: MIT */
/* Evaluating programs: parameters, definitions and kernels, in order, each name visible from its definition on. */
#include "frontend/sema/sema.h"

#include "base/integer.h"
#include "frontend/names/spelling.h"
#include "frontend/sema/call.h"
#include "frontend/sema/sema_cute.h"
#include "ir/index/choices.h"
#include "ir/index/facts.h"
#include "ir/index/print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- scope --- */

static uint32_t hash_name(const char *name) {
  uint32_t hash = 2166136261u;
  for (; *name != '\0'; name++)
    hash = (hash ^ (unsigned char)*name) * 16777619u;
  return hash;
}

static uint32_t *find_slot(const tj_scope *scope, const char *name) {
  uint32_t mask = scope->slot_count - 1;
  for (uint32_t i = hash_name(name) & mask;; i = (i + 1) & mask) {
    uint32_t entry = scope->slot[i];
    if (entry == 0 || strcmp(scope->binding[entry - 1].name, name) == 0)
      return &scope->slot[i];
  }
}

const tj_binding *tj_scope_find(const tj_scope *scope, const char *name) {
  for (; scope != NULL; scope = scope->outer) {
    uint32_t entry = *find_slot(scope, name);
    while (entry != 0 && (scope->sees >> scope->binding[entry - 1].text & 1) == 0)
      entry = scope->binding[entry - 1].hides;
    if (entry != 0)
      return &scope->binding[entry - 1];
  }
  return NULL;
}

void tj_scope_try_names(const tj_scope *scope, tj_misspelling *of) {
  for (; scope != NULL; scope = scope->outer) {
    for (uint32_t i = scope->count; i-- > 0;) {
      if ((scope->sees >> scope->binding[i].text & 1) != 0)
        tj_misspelling_try(of, scope->binding[i].name);
    }
  }
}

tj_scope tj_scope_open(tj_graph *graph, uint32_t capacity) {
  tj_scope scope = {.graph = graph, .job = graph->job, .sees = 1, .capacity = capacity, .slot_count = 16};
  while (scope.slot_count < capacity * 2)
    scope.slot_count *= 2;
  scope.binding = TJ_NEW_ARRAY(graph->job, tj_binding, capacity + 1);
  scope.slot = TJ_NEW_ARRAY(graph->job, uint32_t, scope.slot_count);
  return scope;
}

void tj_scope_define(tj_scope *scope, tj_binding binding) {
  uint32_t *slot = find_slot(scope, binding.name);
  binding.text = scope->text;
  binding.hides = *slot;
  scope->binding[scope->count] = binding;
  *slot = ++scope->count;
}

static void define(tj_scope *scope, const tj_item *item, const tj_value *value) {
  tj_scope_define(scope, (tj_binding){.name = item->name, .value = value, .span = item->name_span});
}

static void check_undefined(tj_scope *scope, const tj_item *item) {
  const tj_binding *earlier = tj_scope_find(scope, item->name);
  if (earlier == NULL || earlier < scope->binding + scope->first_own)
    return;
  tj_fail_at(scope->job, item->name_span, TJ_REDEFINED_NAME, "'%s' is already defined at %s", item->name,
             tj_place_text(scope->job, earlier->span.begin));
}

/* --- parameters --- */

static const tj_node *evaluate_bound(tj_scope *scope, const tj_ast *ast, const char *what) {
  if (ast == NULL)
    return NULL;
  const tj_value *value = tj_evaluate_expression(scope, ast);
  scope->job->here = ast->span;
  return tj_need_node(scope->graph, value, what);
}

static void check_multiple(tj_scope *scope, const tj_item *item, const tj_node *multiple) {
  if (multiple == NULL || multiple->facts.low >= 1)
    return;
  if (!tj_is_constant(multiple))
    tj_note(scope->job, "give it a range that starts at 1, as in param K in 1..64, N in 1..4096 multiple K");
  tj_fail(scope->job, TJ_EMPTY_RANGE, "'%s' cannot be a multiple of %s%s", item->name,
          tj_node_brief(scope->job, multiple), tj_is_constant(multiple) ? "" : ", which may be less than 1");
}

static int compare_values(const void *a, const void *b) {
  const int64_t *left = a, *right = b;
  return (*left > *right) - (*left < *right);
}

/* The values that are listed, ascending, each once. */
static void declare_choices(tj_scope *scope, const tj_ast *list, tj_symbol *declared) {
  if (list->count > TJ_MOST_CASES)
    tj_fail_at(scope->job, list->span, TJ_EMPTY_RANGE, "a parameter has at most %d values, not %" PRIu32,
               TJ_MOST_CASES, list->count);
  int64_t *choice = TJ_NEW_ARRAY(scope->job, int64_t, list->count);
  for (uint32_t i = 0; i < list->count; i++) {
    const tj_value *value = tj_evaluate_expression(scope, list->item[i]);
    scope->job->here = list->item[i]->span;
    choice[i] = tj_need_constant(scope->graph, value, "a value of a parameter");
  }
  qsort(choice, list->count, sizeof *choice, compare_values);
  uint64_t common = 0;
  for (uint32_t i = 0; i < list->count; i++) {
    if (i == 0 || choice[i] != choice[declared->choice_count - 1])
      choice[declared->choice_count++] = choice[i];
    common = tj_gcd(common, tj_magnitude(choice[i]));
  }
  declared->choice = choice;
  declared->low = tj_int(scope->graph, choice[0]);
  declared->high = tj_int(scope->graph, choice[declared->choice_count - 1]);
  declared->multiple = common == 0 || common > INT64_MAX ? 1 : (int64_t)common;
}

/* What is stated of all the values must hold of each. */
static void check_choices(tj_scope *scope, const tj_item *item, const tj_symbol *declared) {
  for (uint32_t i = 0; i < declared->choice_count && declared->divisor != NULL; i++) {
    const tj_node *value = tj_int(scope->graph, declared->choice[i]);
    if (!tj_prove_divides(scope->graph, declared->divisor, value))
      tj_fail_at(scope->job, item->multiple->span, TJ_EMPTY_RANGE,
                 "'%s' cannot be %" PRId64 ", which is no multiple of %s", item->name, declared->choice[i],
                 tj_node_brief(scope->job, declared->divisor));
  }
}

static tj_symbol declared_symbol(tj_scope *scope, const tj_item *item) {
  tj_symbol declared = {.name = item->name, .kind = TJ_SYMBOL_PARAMETER, .multiple = 1};
  if (item->choices != NULL)
    declare_choices(scope, item->choices, &declared);
  if (item->low != NULL) {
    declared.low = evaluate_bound(scope, item->low, "the lower bound of a parameter");
    declared.high = evaluate_bound(scope, item->high, "the upper bound of a parameter");
  }
  declared.divisor = evaluate_bound(scope, item->multiple, "the multiple of a parameter");
  check_multiple(scope, item, declared.divisor);
  check_choices(scope, item, &declared);
  return declared;
}

static const tj_parameter_value *find_fixed(const tj_parameter_value fixed[], size_t count, const char *name) {
  for (size_t i = 0; i < count; i++) {
    if (strcmp(fixed[i].name, name) == 0)
      return &fixed[i];
  }
  return NULL;
}

/* Facts that other parameters decide must be known to hold: those are to be fixed too. */
static void check_fixed(tj_scope *scope, const tj_parameter_value *fixed, const tj_symbol *declared) {
  const tj_node *value = tj_int(scope->graph, fixed->value), *multiple = declared->divisor;
  bool is_listed = declared->choice_count == 0;
  for (uint32_t i = 0; i < declared->choice_count; i++)
    is_listed = is_listed || declared->choice[i] == fixed->value;
  if (!is_listed)
    tj_fail(scope->job, TJ_PARAMETER_RANGE, "'%s' = %" PRId64 " is not %s", fixed->name, fixed->value,
            tj_integers_text(scope->job, declared->choice, declared->choice_count, " or "));
  bool in_range = (declared->low == NULL || tj_prove_less_equal(scope->graph, declared->low, value)) &&
                  (declared->high == NULL || tj_prove_less_equal(scope->graph, value, declared->high));
  if (!in_range)
    tj_fail(scope->job, TJ_PARAMETER_RANGE, "'%s' = %" PRId64 " is not known to lie in its declared range",
            fixed->name, fixed->value);
  if (multiple == NULL || tj_prove_divides(scope->graph, multiple, value))
    return;
  if (!tj_is_constant(multiple))
    tj_note(scope->job, "fix the parameters of the multiple too, or leave '%s' to the launch", fixed->name);
  tj_fail(scope->job, TJ_PARAMETER_RANGE, "'%s' = %" PRId64 " is %s multiple of %s", fixed->name, fixed->value,
          tj_is_constant(multiple) ? "no" : "not known to be a", tj_node_brief(scope->job, multiple));
}

static tj_parameter evaluate_parameter(tj_scope *scope, const tj_item *item, const tj_parameter_value *fixed) {
  const tj_symbol declared = declared_symbol(scope, item);
  scope->job->here = item->name_span;
  const tj_node *node = tj_symbol_declare(scope->graph, declared);
  if (fixed != NULL) {
    check_fixed(scope, fixed, &declared);
    node = tj_int(scope->graph, fixed->value);
  }
  define(scope, item, tj_value_of_node(scope->graph, node));
  return (tj_parameter){item->name, node};
}

/* --- kernels --- */

static void check_kernel_name(tj_scope *scope, const tj_kernel_definition kernels[], uint32_t count,
                              const tj_item *item) {
  for (uint32_t i = 0; i < count; i++) {
    if (strcmp(kernels[i].name, item->name) == 0)
      tj_fail_at(scope->job, item->name_span, TJ_REDEFINED_NAME, "there are two kernels '%s'", item->name);
  }
}

/* --- programs --- */

/* A program that is being evaluated; fixed values are borrowed. */
typedef struct {
  tj_scope scope;
  tj_earlier *earlier; /* may be NULL */
  const tj_parameter_value *fixed;
  size_t fixed_count;
  tj_program_values *values;
  tj_parameter *parameter;
  tj_definition *definition;
  tj_kernel_definition *kernel;
} evaluation;

static evaluation open_evaluation(tj_graph *graph, uint32_t item_count) {
  tj_job *job = graph->job;
  evaluation e = {.scope = tj_scope_open(graph, item_count),
                  .values = TJ_NEW(job, tj_program_values),
                  .parameter = TJ_NEW_ARRAY(job, tj_parameter, item_count),
                  .definition = TJ_NEW_ARRAY(job, tj_definition, item_count),
                  .kernel = TJ_NEW_ARRAY(job, tj_kernel_definition, item_count)};
  *e.values = (tj_program_values){.parameter = e.parameter, .definition = e.definition, .kernel = e.kernel};
  return e;
}

static void evaluate_item(evaluation *e, const tj_item *item) {
  tj_scope *scope = &e->scope;
  if (item->kind == TJ_ITEM_PARAM) {
    const tj_parameter_value *value = find_fixed(e->fixed, e->fixed_count, item->name);
    e->parameter[e->values->parameter_count++] = evaluate_parameter(scope, item, value);
  } else if (item->kind == TJ_ITEM_FUNCTION) {
    const struct tj_function *function = tj_function_define(scope, item);
    tj_scope_define(scope, (tj_binding){.name = item->name, .span = item->name_span, .function = function});
    e->definition[e->values->definition_count++] = (tj_definition){item->name, NULL, item};
  } else {
    const tj_ast *body = item->is_alias ? tj_cute_type_in_bits(scope, item->body) : item->body;
    const tj_value *value = tj_evaluate_expression(scope, body);
    define(scope, item, value);
    e->definition[e->values->definition_count++] = (tj_definition){item->name, value, item};
  }
}

static void evaluate_earlier(evaluation *e, const tj_earlier_item *const items[], uint32_t count) {
  tj_job *job = e->scope.job;
  tj_source own = job->source;
  for (uint32_t i = 0; i < count; i++) {
    job->source = *items[i]->source;
    e->scope.text = items[i]->text;
    e->scope.sees = e->earlier->text[items[i]->text].sees;
    evaluate_item(e, items[i]->item);
  }
  job->source = own;
  e->scope.text = 0;
  e->scope.sees = e->earlier->text[0].sees;
  e->scope.first_own = e->scope.count;
}

static void evaluate_own(evaluation *e, const tj_item *item) {
  if (item->kind == TJ_ITEM_IMPORT)
    return;
  if (item->kind == TJ_ITEM_KERNEL) {
    check_kernel_name(&e->scope, e->kernel, e->values->kernel_count, item);
    e->kernel[e->values->kernel_count++] = tj_evaluate_kernel(&e->scope, item);
    return;
  }
  check_undefined(&e->scope, item);
  evaluate_item(e, item);
}

static bool evaluates_parameter(const evaluation *e, const char *name) {
  for (uint32_t i = 0; i < e->values->parameter_count; i++) {
    if (strcmp(e->values->parameter[i].name, name) == 0)
      return true;
  }
  return false;
}

static bool has_parameter(const evaluation *e, const char *name) {
  return evaluates_parameter(e, name) || (e->earlier != NULL && tj_earlier_has_parameter(e->earlier, name));
}

static _Noreturn void fail_unknown_parameter(const evaluation *e, const char *name) {
  tj_misspelling of = tj_misspelling_of(name);
  for (uint32_t i = 0; i < e->values->parameter_count; i++)
    tj_misspelling_try(&of, e->values->parameter[i].name);
  tj_note_nearest(e->scope.job, &of);
  tj_fail_at(e->scope.job, TJ_NOWHERE, TJ_UNKNOWN_PARAMETER, "the program has no parameter '%s'", name);
}

static void check_fixed_names(const evaluation *e) {
  for (size_t i = 0; i < e->fixed_count; i++) {
    if (!has_parameter(e, e->fixed[i].name))
      fail_unknown_parameter(e, e->fixed[i].name);
  }
}

/* --- what is evaluated --- */

typedef struct {
  const char *name;
  bool is_found;
} mention;

static void compare_name(const tj_ast *name, void *data) {
  mention *wanted = data;
  wanted->is_found = wanted->is_found || strcmp(name->name, wanted->name) == 0;
}

/* By item: all but aliases that neither the value mentions nor what is evaluated after them. */
static const bool *find_needed(tj_job *job, const tj_program_ast *program) {
  bool *is_needed = TJ_NEW_ARRAY(job, bool, program->item_count + 1);
  for (uint32_t i = program->item_count; i-- > 0;) {
    mention wanted = {program->item[i].name, !program->item[i].is_alias};
    if (!wanted.is_found)
      tj_ast_each_name(job, program->value, compare_name, &wanted);
    for (uint32_t after = i + 1; after < program->item_count && !wanted.is_found; after++) {
      if (is_needed[after])
        tj_item_each_name(job, &program->item[after], compare_name, &wanted);
    }
    is_needed[i] = wanted.is_found;
  }
  return is_needed;
}

/* A launch is given parameters and the kernel's numbers by name alike. */
static void check_numbers(const evaluation *e, const tj_kernel_definition *kernel) {
  for (uint32_t i = 0; i < kernel->argument_count; i++) {
    const tj_kernel_argument *argument = &kernel->argument[i];
    if (argument->view == NULL && evaluates_parameter(e, argument->name))
      tj_fail_at(e->scope.job, argument->span, TJ_REDEFINED_NAME, "'%s' is a parameter of the program",
                 argument->name);
  }
}

static bool has_imports(const tj_program_ast *program) {
  for (uint32_t i = 0; i < program->item_count; i++) {
    if (program->item[i].kind == TJ_ITEM_IMPORT)
      return true;
  }
  return false;
}

/* The same with what the program imports. */
static tj_earlier *with_imports(tj_earlier *earlier, tj_job *job, const tj_program_ast *program) {
  if (!has_imports(program))
    return earlier;
  tj_earlier *whole = earlier != NULL ? earlier : tj_earlier_create(job);
  tj_earlier_import(whole, job, program);
  return whole;
}

const tj_program_values *tj_evaluate_after(tj_earlier *earlier, tj_graph *graph, const tj_program_ast *program,
                                           const tj_parameter_value fixed[], size_t fixed_count) {
  uint32_t count = 0;
  earlier = with_imports(earlier, graph->job, program);
  const tj_earlier_item *const *needed =
      earlier != NULL ? tj_earlier_needed(earlier, graph->job, program, &count) : NULL;
  evaluation e = open_evaluation(graph, program->item_count + count);
  e.earlier = earlier;
  e.fixed = fixed;
  e.fixed_count = fixed_count;
  if (earlier != NULL)
    evaluate_earlier(&e, needed, count);
  const bool *is_needed = find_needed(graph->job, program);
  for (uint32_t i = 0; i < program->item_count; i++) {
    if (is_needed[i])
      evaluate_own(&e, &program->item[i]);
  }
  check_fixed_names(&e);
  for (uint32_t i = 0; i < e.values->kernel_count; i++)
    check_numbers(&e, &e.kernel[i]);
  if (program->value != NULL) {
    e.values->value = tj_evaluate_expression(&e.scope, program->value);
    e.values->value_span = program->value->span;
  }
  graph->job->here = TJ_NOWHERE;
  return e.values;
}

const tj_program_values *tj_evaluate(tj_graph *graph, const tj_program_ast *program, const tj_parameter_value fixed[],
                                     size_t fixed_count) {
  return tj_evaluate_after(NULL, graph, program, fixed, fixed_count);
}
