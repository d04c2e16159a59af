/* SPDX-License-Identifier: MIT */
/* From a program's value to functions: their arguments, results and names. */
#include "lower/plan/function.h"

#include "ir/index/walk.h"
#include "lower/machine/width.h"

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
    "int64_t",     "uint32_t",     "NULL",
};

static bool is_keyword(const char *name) {
  for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++) {
    if (strcmp(reserved[i], name) == 0)
      return true;
  }
  return false;
}

static bool has_reserved_prefix(const char *name) {
  return strncmp(name, "tilejit_", 8) == 0 || strncmp(name, "TILEJIT_", 8) == 0 || strncmp(name, "__", 2) == 0;
}

static bool is_identifier(const char *name) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  static const char others[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
  return *name != '\0' && strchr(letters, *name) != NULL && name[strspn(name, others)] == '\0';
}

static void check_name(tj_job *job, const char *name) {
  enum { LONGEST = 1024 };
  if (!is_identifier(name) || strlen(name) > LONGEST)
    tj_fail(job, TJ_FUNCTION_NAME, "'%.100s' cannot be the name of a function", name);
  if (is_keyword(name) || has_reserved_prefix(name))
    tj_fail(job, TJ_FUNCTION_NAME, "'%s' is reserved, and cannot be the name of a function", name);
}

static bool is_number(const char *text) {
  return *text != '\0' && text[strspn(text, "0123456789")] == '\0';
}

/* t0, t1, … name what is computed on the way. */
static bool is_temporary(const char *name) {
  return name[0] == 't' && is_number(name + 1);
}

/* NAME, NAME_valid, NAME_0 … */
static bool is_function_name(const tj_function *function, const char *name) {
  size_t length = strlen(function->name);
  if (strncmp(name, function->name, length) != 0)
    return false;
  const char *rest = name + length;
  return *rest == '\0' || strcmp(rest, "_valid") == 0 || (*rest == '_' && is_number(rest + 1));
}

/* Whether argument number `count` cannot have this name. */
static bool is_taken(const tj_function *function, uint32_t count, const char *name) {
  for (uint32_t i = 0; i < count; i++) {
    if (strcmp(function->argument[i].name, name) == 0)
      return true;
  }
  return is_keyword(name) || is_temporary(name) || is_function_name(function, name);
}

/* A name for argument number `count`, as like `name` as can be. */
static const char *free_name(tj_job *job, const tj_function *function, uint32_t count, const char *name) {
  const char *chosen = has_reserved_prefix(name) ? tj_string_format(job, "p%s", name) : name;
  while (is_taken(function, count, chosen))
    chosen = tj_string_format(job, "%s_", chosen);
  return chosen;
}

/* --- arguments and results --- */

static void add_argument(tj_job *job, tj_function *function, tj_function_argument *arguments, const tj_node *symbol) {
  uint32_t position = function->argument_count;
  arguments[position] = (tj_function_argument){free_name(job, function, position, symbol->symbol->name), symbol};
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

/* The results' nodes, as they are by now. */
static void take_nodes(tj_graph *graph, tj_function *function) {
  const tj_expressions *e = &function->expressions;
  for (uint32_t i = 0; i < e->leaf_count; i++)
    function->result[i].node = e->root[i];
  if (e->has_validity)
    function->result[e->leaf_count].node = e->has_predicate ? e->root[e->leaf_count] : tj_int(graph, 1);
}

static void take_results(tj_graph *graph, tj_function *function) {
  const tj_expressions *e = &function->expressions;
  function->result = TJ_NEW_ARRAY(graph->job, tj_function_result, (size_t)e->leaf_count + 1);
  for (uint32_t i = 0; i < e->leaf_count; i++)
    function->result[i].name =
        e->leaf_count == 1 ? function->name : tj_string_format(graph->job, "%s_%u", function->name, i);
  if (e->has_validity)
    function->result[e->leaf_count] =
        (tj_function_result){tj_string_format(graph->job, "%s_valid", function->name), NULL, true};
  function->result_count = e->leaf_count + (e->has_validity ? 1 : 0);
  take_nodes(graph, function);
}

tj_function *tj_function_of(tj_graph *graph, const tj_program_values *values, const char *name) {
  check_name(graph->job, name);
  if (values->value == NULL)
    tj_fail(graph->job, TJ_NOTHING_TO_EVALUATE, "the program has no expression to make a function of");
  graph->job->here = values->value_span;
  tj_function *function = TJ_NEW_ARRAY(graph->job, tj_function, 1);
  function->name = name;
  function->expressions = tj_expressions_of(graph, values->value);
  take_arguments(graph, values, function);
  take_results(graph, function);
  return function;
}

/* --- simplification --- */

static void check_size(tj_graph *graph, const tj_function_result *result) {
  enum { MOST_OPERATIONS = 1024 };
  tj_walk walk = tj_walk_nodes(graph, &result->node, 1);
  uint32_t operations = 0;
  for (uint32_t i = 0; i < walk.count; i++)
    operations += tj_op_arity(walk.node[i]->op) > 0;
  if (operations > MOST_OPERATIONS)
    tj_fail(graph->job, TJ_WORK_LIMIT, "function %s takes %u operations, more than %d", result->name, operations,
            MOST_OPERATIONS);
}

void tj_function_simplify(tj_graph *graph, tj_function *function) {
  tj_expressions_simplify(graph, &function->expressions);
  take_nodes(graph, function);
  for (uint32_t i = 0; i < function->result_count; i++) {
    check_size(graph, &function->result[i]);
    tj_check_widths(graph, &function->result[i].node, 1);
  }
}
