/* SPDX-License-Identifier: MIT */
/* From a program's value to functions: their arguments, results and names. */
#include "lower/plan/function.h"

#include "base/text.h"
#include "ir/index/walk.h"
#include "ir/view/structure.h"
#include "lower/kernel/kernel_expressions.h"
#include "lower/kernel/loop.h"
#include "lower/machine/width.h"
#include "lower/plan/walk_view.h"

#include <string.h>

/* --- names --- */

/* What no argument or function may be called: keywords of C and C++, and names that the emitted text relies on. */
static const char *const reserved[] = {
    "alignas",     "alignof",      "and",        "and_eq",
    "asm",         "auto",         "bitand",     "bitor",
    "bool",        "break",        "case",       "catch",
    "char",        "char16_t",     "char32_t",   "char8_t",
    "class",       "co_await",     "co_return",  "co_yield",
    "compl",       "concept",      "const",      "consteval",
    "constexpr",   "constinit",    "const_cast", "continue",
    "decltype",    "default",      "delete",     "do",
    "double",      "dynamic_cast", "else",       "enum",
    "explicit",    "export",       "extern",     "false",
    "float",       "for",          "friend",     "goto",
    "if",          "inline",       "int",        "long",
    "main",        "mutable",      "namespace",  "new",
    "noexcept",    "not",          "not_eq",     "nullptr",
    "operator",    "or",           "or_eq",      "private",
    "protected",   "public",       "register",   "reinterpret_cast",
    "requires",    "restrict",     "return",     "short",
    "signed",      "sizeof",       "static",     "static_assert",
    "static_cast", "struct",       "switch",     "template",
    "this",        "thread_local", "throw",      "true",
    "try",         "typedef",      "typeid",     "typename",
    "typeof",      "union",        "unsigned",   "using",
    "virtual",     "void",         "volatile",   "wchar_t",
    "while",       "xor",          "xor_eq",     "int32_t",
    "int64_t",     "uint32_t",     "NULL",       "int8_t",
    "int16_t",     "uint8_t",      "uint16_t",   "uint64_t",
    "memcpy",      "fma",          "fmaf",       "fabs",
    "fabsf",       "copysign",     "copysignf",  "floor",
    "floorf",      "rint",         "rintf",      "sqrt",
    "sqrtf",       "NAN",          "INFINITY",
};

static bool is_keyword(const char *name) {
  for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++) {
    if (strcmp(reserved[i], name) == 0)
      return true;
  }
  return false;
}

/* How macros begin that the emitted text's headers define, and compilers' headers beyond the standard's. */
static const char *const macros[] = {"M_E",    "M_LN", "M_LOG", "M_PI",  "M_1_PI",   "M_2_PI",   "M_2_SQRTPI",
                                     "M_SQRT", "FP_",  "SNAN",  "MATH_", "HUGE_VAL", "MAXFLOAT", "math_errhandling"};

static bool begins_with(const char *name, const char *with) {
  return strncmp(name, with, strlen(with)) == 0;
}

static bool ends_with(const char *name, const char *with) {
  size_t length = strlen(name), own = strlen(with);
  return length >= own && strcmp(name + length - own, with) == 0;
}

/* INT32_MAX, and what else <stdint.h> has for types. */
static bool is_limit(const char *name) {
  static const char *const types[] = {"INT", "UINT", "PTRDIFF_", "SIZE_", "SIG_ATOMIC_", "WCHAR_", "WINT_"};
  bool is_of_type = false;
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    is_of_type |= begins_with(name, types[i]);
  return is_of_type && (ends_with(name, "_MAX") || ends_with(name, "_MIN") || ends_with(name, "_WIDTH"));
}

static bool is_macro(const char *name) {
  bool is_known = is_limit(name);
  for (size_t i = 0; i < sizeof macros / sizeof *macros; i++)
    is_known |= begins_with(name, macros[i]);
  return is_known;
}

static bool has_reserved_prefix(const char *name) {
  return strncmp(name, "tilejit_", 8) == 0 || strncmp(name, "TILEJIT_", 8) == 0 || strncmp(name, "__", 2) == 0;
}

static bool is_identifier(const char *name) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  static const char others[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
  return *name != '\0' && strchr(letters, *name) != NULL && name[strspn(name, others)] == '\0';
}

void tj_function_check_name(tj_job *job, const char *name) {
  enum { LONGEST = 1024 };
  if (!is_identifier(name) || strlen(name) > LONGEST)
    tj_fail(job, TJ_FUNCTION_NAME, "'%.100s' cannot be the name of a function", name);
  if (is_keyword(name) || is_macro(name) || has_reserved_prefix(name))
    tj_fail(job, TJ_FUNCTION_NAME, "'%s' is reserved, and cannot be the name of a function", name);
}

static bool is_number(const char *text) {
  return *text != '\0' && text[strspn(text, "0123456789")] == '\0';
}

/* t0, t1, … and v0, v1, … name what is computed on the way. */
static bool is_temporary(const char *name) {
  return (name[0] == 't' || name[0] == 'v') && is_number(name + 1);
}

/* NAME, NAME_valid, NAME_0 …, NAME_next … */
static bool is_function_name(const tj_function *function, const char *name) {
  static const char *const endings[] = {"", "_valid", "_walk", "_init", "_next", "_offset"};
  size_t length = strlen(function->name);
  if (strncmp(name, function->name, length) != 0)
    return false;
  const char *rest = name + length;
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
    if (strcmp(rest, endings[i]) == 0)
      return true;
  }
  return *rest == '_' && is_number(rest + 1);
}

/* Whether argument number `count` cannot have this name. */
static bool is_taken(const tj_function *function, uint32_t count, const char *name) {
  for (uint32_t i = 0; i < count; i++) {
    if (strcmp(function->argument[i].name, name) == 0)
      return true;
  }
  return is_keyword(name) || is_temporary(name) || is_function_name(function, name) || strcmp(name, "walk") == 0;
}

const char *tj_function_plain_name(tj_job *job, const char *name) {
  tj_text text = tj_text_begin(job);
  for (const char *colons; (colons = strstr(name, "::")) != NULL; name = colons + 2)
    tj_text_format(&text, "%.*s_", (int)(colons - name), name);
  tj_text_format(&text, "%s", name);
  return text.data;
}

const char *tj_function_free_name(tj_job *job, const tj_function *function, uint32_t count, const char *name) {
  const char *plain = tj_function_plain_name(job, name);
  bool is_reserved = has_reserved_prefix(plain) || is_macro(plain);
  const char *chosen = is_reserved ? tj_string_format(job, "p%s", plain) : plain;
  while (is_taken(function, count, chosen))
    chosen = tj_string_format(job, "%s_", chosen);
  return chosen;
}

/* --- arguments and results --- */

static void add_argument(tj_job *job, tj_function *function, tj_function_argument *arguments, const tj_node *symbol) {
  uint32_t position = function->argument_count;
  const char *name = tj_function_free_name(job, function, position, symbol->symbol->name);
  arguments[position] = (tj_function_argument){name, symbol};
  function->argument_count++;
}

static void take_arguments(tj_graph *graph, const tj_program_values *values, tj_function *function) {
  const tj_expressions *e = &function->expressions;
  size_t most = (size_t)e->rank + values->parameter_count;
  tj_function_argument *arguments = TJ_NEW_ARRAY(graph->job, tj_function_argument, most + 1);
  function->argument = arguments;
  tj_spend(graph->job, most * most);
  for (uint32_t i = 0; i < e->rank; i++)
    add_argument(graph->job, function, arguments, e->coordinate[i]);
  function->coordinate_count = e->rank;
  for (uint32_t i = 0; i < values->parameter_count; i++) {
    if (!tj_is_constant(values->parameter[i].node))
      add_argument(graph->job, function, arguments, values->parameter[i].node);
  }
}

static void add_result(tj_graph *graph, tj_function *function, const char *ending, tj_function_state state,
                       uint32_t count) {
  function->result[function->result_count++] =
      (tj_function_result){.name = tj_string_format(graph->job, "%s%s", function->name, ending),
                           .state = state,
                           .node = TJ_NEW_ARRAY(graph->job, const tj_node *, (size_t)count + 1),
                           .count = count,
                           .is_predicate = strcmp(ending, "_valid") == 0};
}

/* --- functions of maps and tuples --- */

/* The results' nodes, as they are by now. */
static void take_nodes(tj_graph *graph, tj_function *function) {
  const tj_expressions *e = &function->expressions;
  for (uint32_t i = 0; i < e->leaf_count; i++)
    function->result[i].node[0] = e->root[i];
  if (e->has_validity)
    function->result[e->leaf_count].node[0] = e->has_predicate ? e->root[e->leaf_count] : tj_int(graph, 1);
}

static void take_results(tj_graph *graph, tj_function *function) {
  const tj_expressions *e = &function->expressions;
  function->result = TJ_NEW_ARRAY(graph->job, tj_function_result, (size_t)e->leaf_count + 1);
  for (uint32_t i = 0; i < e->leaf_count; i++)
    add_result(graph, function, e->leaf_count == 1 ? "" : tj_string_format(graph->job, "_%u", i), TJ_STATE_NONE, 1);
  if (e->has_validity)
    add_result(graph, function, "_valid", TJ_STATE_NONE, 1);
  take_nodes(graph, function);
}

/* --- functions of walks --- */

enum { INIT, NEXT, OFFSET, VALID, WALK_FUNCTIONS };

/* The walk as a loop of no kernel in particular. */
static tj_kernel *loop_of(tj_graph *graph, const tj_path *path, const tj_node *const start[]) {
  const tj_view *view = tj_view_structured(graph, path->view, NULL);
  tj_kernel *kernel = TJ_NEW(graph->job, tj_kernel);
  tj_kernel_step *steps = TJ_NEW_ARRAY(graph->job, tj_kernel_step, 2);
  *kernel = (tj_kernel){.loop = tj_loop_make(graph, path->trips), .step = steps, .step_count = 2};
  tj_view_walk walk = {view, start, path->start_lengths, path->step};
  tj_walked place = tj_walk_view(graph, kernel->loop, &walk);
  steps[0] = tj_step_of_value(place.offset);
  steps[1] = tj_step_of_value(place.valid);
  tj_loop_prune(graph, kernel);
  return kernel;
}

static void take_state(tj_graph *graph, tj_function *function) {
  const tj_loop *loop = function->walk->loop;
  tj_function_argument *state = TJ_NEW_ARRAY(graph->job, tj_function_argument, (size_t)loop->carried_count + 1);
  for (uint32_t i = 0; i < loop->carried_count; i++)
    state[i] = (tj_function_argument){loop->carried[i].symbol->symbol->name, loop->carried[i].symbol};
  function->state = state;
  function->state_count = loop->carried_count;
}

static void take_walk(tj_graph *graph, tj_function *function) {
  const tj_loop *loop = function->walk->loop;
  take_state(graph, function);
  function->result = TJ_NEW_ARRAY(graph->job, tj_function_result, WALK_FUNCTIONS);
  function->result_count = 0;
  add_result(graph, function, "_init", TJ_STATE_BEGUN, loop->carried_count);
  add_result(graph, function, "_next", TJ_STATE_ADVANCED, loop->carried_count);
  add_result(graph, function, "_offset", TJ_STATE_READ, 1);
  add_result(graph, function, "_valid", TJ_STATE_READ, 1);
  for (uint32_t i = 0; i < loop->carried_count; i++) {
    function->result[INIT].node[i] = loop->carried[i].initial;
    function->result[NEXT].node[i] = loop->carried[i].next;
  }
  function->result[OFFSET].node[0] = function->walk->step[0].value;
  function->result[VALID].node[0] = function->walk->step[1].value;
}

static void make_walk(tj_graph *graph, const tj_program_values *values, tj_function *function) {
  const tj_path *path = values->value->walk;
  function->expressions = tj_expressions_of(graph, tj_value_of_view(graph, path->view));
  const tj_node **start = TJ_NEW_ARRAY(graph->job, const tj_node *, (size_t)path->view->rank + 1);
  for (uint32_t i = 0; i < path->view->rank; i++)
    start[i] = tj_coordinate(graph, function->expressions.coordinate[i]->symbol->name, path->start_lengths[i]);
  function->expressions.coordinate = start;
  function->expressions.value = values->value;
  function->state_name = tj_string_format(graph->job, "%s_walk", function->name);
  function->walk = loop_of(graph, path, start);
  take_arguments(graph, values, function);
  take_walk(graph, function);
}

/* --- functions --- */

tj_function *tj_function_of(tj_graph *graph, const tj_program_values *values, const char *name) {
  tj_function_check_name(graph->job, name);
  if (values->value == NULL)
    tj_fail(graph->job, TJ_NOTHING_TO_EVALUATE, "the program has no expression to make a function of");
  graph->job->here = values->value_span;
  tj_function *function = TJ_NEW_ARRAY(graph->job, tj_function, 1);
  function->name = name;
  if (values->value->kind == TJ_VALUE_WALK) {
    make_walk(graph, values, function);
    return function;
  }
  function->expressions = tj_expressions_of(graph, values->value);
  take_arguments(graph, values, function);
  take_results(graph, function);
  return function;
}

/* --- simplification --- */

static void check_size(tj_graph *graph, const tj_function_result *result) {
  enum { MOST_OPERATIONS = 1024 };
  tj_walk walk = tj_walk_nodes(graph, result->node, result->count);
  uint32_t operations = 0;
  for (uint32_t i = 0; i < walk.count; i++)
    operations += tj_op_arity(walk.node[i]->op) > 0;
  if (operations > MOST_OPERATIONS)
    tj_fail(graph->job, TJ_WORK_LIMIT, "function %s takes %u operations, more than %d", result->name, operations,
            MOST_OPERATIONS);
}

void tj_function_simplify(tj_graph *graph, tj_function *function) {
  if (function->walk != NULL) {
    tj_kernel_simplify(graph, function->walk, NULL);
    tj_loop_carry_invariants(graph, function->walk, function->expressions.coordinate, function->coordinate_count);
    take_walk(graph, function);
  } else {
    tj_expressions_simplify(graph, &function->expressions);
    take_nodes(graph, function);
  }
  for (uint32_t i = 0; i < function->result_count; i++) {
    check_size(graph, &function->result[i]);
    tj_check_widths(graph, function->result[i].node, function->result[i].count);
  }
}
