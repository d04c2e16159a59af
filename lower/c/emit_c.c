/* SPDX-License-Identifier: MIT */
/* The frame of functions in C: what they all need, comments on ranges, signatures, assumptions. c_expression.c writes
 * what is inside. */
#include "lower/c/emit_c.h"

#include "ir/index/facts.h"
#include "ir/index/print.h"
#include "ir/index/walk.h"
#include "lower/c/c_expression.h"
#include "tilejit/tilejit.h"

#include <inttypes.h>
#include <string.h>

/* --- what functions need --- */

static void write_includes(tj_text *text, const char *includes) {
  tj_text_format(text, "#if !defined(__HIPCC_RTC__) && !defined(__CUDACC_RTC__)\n%s#endif\n\n", includes);
}

static const char definition_macro[] = "#ifndef TILEJIT_FUNCTION\n"
                                       "#if defined(__HIPCC__) || defined(__CUDACC__)\n"
                                       "#define TILEJIT_FUNCTION static inline __host__ __device__\n"
                                       "#else\n"
                                       "#define TILEJIT_FUNCTION static inline\n"
                                       "#endif\n"
                                       "#endif\n\n";

static const char declaration_macro[] = "#ifndef TILEJIT_DECLARATION\n"
                                        "#if defined(__HIPCC__) || defined(__CUDACC__)\n"
                                        "#define TILEJIT_DECLARATION __device__\n"
                                        "#else\n"
                                        "#define TILEJIT_DECLARATION\n"
                                        "#endif\n"
                                        "#endif\n\n";

static const char assumption_macro[] =
    "/* What holds of arguments; define it as assert(fact) to have it checked. */\n"
    "#ifndef TILEJIT_ASSUME\n"
    "#if defined(__clang__)\n"
    "#define TILEJIT_ASSUME(fact) __builtin_assume(fact)\n"
    "#elif defined(__GNUC__)\n"
    "#define TILEJIT_ASSUME(fact) ((fact) ? (void)0 : __builtin_unreachable())\n"
    "#else\n"
    "#define TILEJIT_ASSUME(fact) ((void)0)\n"
    "#endif\n"
    "#endif\n\n";

static const struct {
  const char *meaning, *body;
} routines[] = {
#define ROUTINE(name, text, meaning, body) {meaning, body},
#include "base/number/c_routine.def"
#undef ROUTINE
};

static void write_routine(tj_text *text, tj_c_routine routine, tj_c_type type) {
  const char *name = tj_c_routine_name(text->job, routine, type), *of = tj_c_type_name(type);
  tj_text_format(text, "#ifndef TILEJIT_HAS_%s\n#define TILEJIT_HAS_%s\n", name + 8, name + 8);
  tj_text_format(text, "/* %s */\nTILEJIT_FUNCTION %s %s(%s a, %s b) {\n  return %s;\n}\n#endif\n\n",
                 routines[routine].meaning, of, name, of, of, routines[routine].body);
}

/* --- comments --- */

static void write_range(tj_text *text, const tj_facts *facts) {
  if (facts->low == INT64_MIN && facts->high == INT64_MAX)
    tj_text_string(text, "any integer");
  else if (facts->low == facts->high)
    tj_text_format(text, "%" PRId64, facts->low);
  else
    tj_text_format(text, "%" PRId64 " .. %" PRId64, facts->low, facts->high);
}

void tj_c_write_argument_range(tj_text *text, const tj_function_argument *argument) {
  const tj_symbol *symbol = argument->symbol->symbol;
  tj_text_format(text, " *   %-10s ", argument->name);
  write_range(text, &argument->symbol->facts);
  if (symbol->high != NULL && !tj_is_constant(symbol->high))
    tj_text_format(text, ", at most %s", tj_node_brief(text->job, symbol->high));
  if (symbol->divisor != NULL)
    tj_text_format(text, ", a multiple of %s", tj_node_brief(text->job, symbol->divisor));
  else if (symbol->multiple > 1)
    tj_text_format(text, ", a multiple of %" PRId64, symbol->multiple);
  if (strcmp(symbol->name, argument->name) != 0)
    tj_text_format(text, "; %s in the program", symbol->name);
  tj_text_char(text, '\n');
}

/* The value's text, cut off where it would fill a screen. */
static void write_value(tj_text *text, const tj_function *function) {
  enum { LONGEST = 400 };
  tj_text value = tj_text_begin(text->job);
  tj_value_print(&value, function->expressions.value);
  bool is_long = value.length > LONGEST;
  tj_text_format(text, " *     %.*s%s\n", is_long ? LONGEST : (int)value.length, value.data, is_long ? " ..." : "");
}

static void write_heading(tj_text *text, const tj_function *function, const char *what) {
  tj_text_format(text, "/* %s by tilejit " TJ_VERSION ": the index arithmetic of\n *\n", what);
  write_value(text, function);
  tj_text_format(text, " *\n * Arguments must lie in these ranges%s\n",
                 function->argument_count > function->coordinate_count
                     ? ": coordinates, then parameters."
                     : (function->argument_count > 0 ? "." : ": there are none."));
  for (uint32_t i = 0; i < function->argument_count; i++)
    tj_c_write_argument_range(text, &function->argument[i]);
  tj_text_string(text, " */\n");
}

/* --- functions --- */

static tj_c_type result_type(const tj_function_result *result) {
  return result->is_predicate ? TJ_C_INT32 : tj_c_type_of(result->node[0]);
}

/* void, or what is returned. */
static const char *result_type_name(const tj_function_result *result) {
  return tj_function_sets_state(result) ? "void" : tj_c_type_name(result_type(result));
}

static void write_signature(tj_text *text, const tj_function *function, const tj_function_result *result) {
  const char *separator = "";
  tj_spend(text->job, function->argument_count);
  tj_text_format(text, "%s %s(", result_type_name(result), result->name);
  if (result->state != TJ_STATE_NONE) {
    tj_text_format(text, "%s%s *walk", tj_function_sets_state(result) ? "" : "const ", function->state_name);
    separator = ", ";
  }
  for (uint32_t i = tj_function_first_argument(function, result); i < function->argument_count; i++, separator = ", ")
    tj_text_format(text, "%s%s %s", separator, tj_c_type_name(tj_c_type_of(function->argument[i].symbol)),
                   function->argument[i].name);
  tj_text_string(text, *separator != '\0' ? ")" : "void)");
}

static void write_result_range(tj_text *text, const tj_function *function, const tj_function_result *result) {
  static const char *const of_state[] = {[TJ_STATE_BEGUN] = "/* Begins a walk at a coordinate. */\n",
                                         [TJ_STATE_ADVANCED] = "/* Goes on by a step. */\n"};
  const char *what = result->is_predicate             ? "/* 1 where the value is valid, else 0 */\n"
                     : tj_function_sets_state(result) ? of_state[result->state]
                                                      : NULL;
  if (what != NULL) {
    tj_text_string(text, what);
    return;
  }
  tj_text_string(text, "/* ");
  write_range(text, &result->node[0]->facts);
  tj_text_format(text, "%s */\n", function->expressions.has_predicate ? "; of use where the value is valid" : "");
}

static bool all_bounded(const tj_walk *walk) {
  for (uint32_t i = 0; i < walk->count; i++) {
    if (!tj_facts_bounded(&walk->node[i]->facts))
      return false;
  }
  return true;
}

/* A bound or a divisor made of parameters, where it is short and of the argument's type; else NULL. */
static const char *symbolic_text(tj_graph *graph, const tj_function *function, const tj_function_argument *argument,
                                 const tj_node *node) {
  enum { MOST_NODES = 8 };
  if (node == NULL || tj_is_constant(node) || tj_c_type_of(node) != tj_c_type_of(argument->symbol))
    return NULL;
  tj_walk walk = tj_walk_nodes(graph, &node, 1);
  if (walk.count > MOST_NODES || !all_bounded(&walk))
    return NULL;
  tj_c_expression made = tj_c_expression_of(graph, function, node);
  return *made.statements == '\0' && !made.calls_routines ? made.result : NULL;
}

static void write_symbolic_assumptions(tj_text *text, tj_graph *graph, const tj_function *function,
                                       const tj_function_argument *argument) {
  const tj_symbol *symbol = argument->symbol->symbol;
  const char *high = symbolic_text(graph, function, argument, symbol->high);
  const char *divisor = symbolic_text(graph, function, argument, symbol->divisor);
  if (high != NULL)
    tj_text_format(text, "  TILEJIT_ASSUME(%s <= %s);\n", argument->name, high);
  if (divisor != NULL)
    tj_text_format(text,
                   strchr(divisor, ' ') == NULL ? "  TILEJIT_ASSUME(%s %% %s == 0);\n"
                                                : "  TILEJIT_ASSUME(%s %% (%s) == 0);\n",
                   argument->name, divisor);
}

/* The ends of the range that are not those of the type, and the multiple. */
void tj_c_write_bounds(tj_text *text, const tj_function_argument *argument) {
  const tj_facts *facts = &argument->symbol->facts;
  const tj_symbol *symbol = argument->symbol->symbol;
  tj_c_type type = tj_c_type_of(argument->symbol);
  int64_t least = type == TJ_C_INT32 ? INT32_MIN : type == TJ_C_UINT32 ? 0 : INT64_MIN;
  int64_t greatest = type == TJ_C_INT32 ? INT32_MAX : type == TJ_C_UINT32 ? UINT32_MAX : INT64_MAX;
  if (facts->low > least)
    tj_text_format(text, "  TILEJIT_ASSUME(%s >= %s);\n", argument->name, tj_c_literal(text->job, facts->low, type));
  if (facts->high < greatest)
    tj_text_format(text, "  TILEJIT_ASSUME(%s <= %s);\n", argument->name, tj_c_literal(text->job, facts->high, type));
  if (symbol->multiple > 1)
    tj_text_format(text, "  TILEJIT_ASSUME(%s %% %s == 0);\n", argument->name,
                   tj_c_literal(text->job, symbol->multiple, type));
}

/* What the compiler may take for granted: bounds, and what other parameters decide. */
static void write_assumptions(tj_text *text, tj_graph *graph, const tj_function *function,
                              const tj_function_argument *argument) {
  tj_c_write_bounds(text, argument);
  write_symbolic_assumptions(text, graph, function, argument);
}

static bool is_among(const tj_node *const nodes[], uint32_t count, const tj_node *node) {
  for (uint32_t i = 0; i < count; i++) {
    if (nodes[i] == node)
      return true;
  }
  return false;
}

/* What is known of the state that the function sees. */
static void write_state(tj_text *text, tj_graph *graph, const tj_function *function, const tj_walk *used) {
  bool is_used = false;
  for (uint32_t i = 0; i < function->state_count; i++) {
    tj_function_argument carried = function->state[i];
    if (!is_among(used->node, used->count, carried.symbol))
      continue;
    carried.name = tj_string_format(text->job, "walk->%s", carried.name);
    write_assumptions(text, graph, function, &carried);
    is_used = true;
  }
  if (!is_used)
    tj_text_string(text, "  (void)walk;\n");
}

static void write_arguments(tj_text *text, tj_graph *graph, const tj_function *function,
                            const tj_function_result *result) {
  tj_walk walk = tj_walk_nodes(graph, result->node, result->count);
  tj_spend(graph->job, (uint64_t)walk.count * ((uint64_t)function->argument_count + function->state_count));
  if (tj_function_reads_state(result))
    write_state(text, graph, function, &walk);
  for (uint32_t i = tj_function_first_argument(function, result); i < function->argument_count; i++) {
    if (is_among(walk.node, walk.count, function->argument[i].symbol))
      write_assumptions(text, graph, function, &function->argument[i]);
    else
      tj_text_format(text, "  (void)%s;\n", function->argument[i].name);
  }
}

/* What a function does, and which routines it calls for that. */
typedef struct {
  tj_c_expression expression;
  const char **result; /* of several */
} body;

static body body_of(tj_graph *graph, const tj_function *function, const tj_function_result *result) {
  body made = {.result = TJ_NEW_ARRAY(graph->job, const char *, (size_t)result->count + 1)};
  made.expression = tj_function_sets_state(result)
                        ? tj_c_expressions_of(graph, function, result->node, result->count, made.result)
                        : tj_c_expression_of(graph, function, result->node[0]);
  return made;
}

static void write_body(tj_text *text, const tj_function *function, const tj_function_result *result,
                       const body *made) {
  tj_text_string(text, made->expression.statements);
  if (!tj_function_sets_state(result)) {
    tj_text_format(text, "  return %s;\n", made->expression.result);
    return;
  }
  for (uint32_t i = 0; i < result->count; i++) {
    tj_c_type type = tj_c_type_of(function->state[i].symbol);
    bool is_same = tj_is_constant(result->node[i]) || tj_c_type_of(result->node[i]) == type;
    tj_text_format(text, is_same ? "  walk->%s = %s%s;\n" : "  walk->%s = (%s)%s;\n", function->state[i].name,
                   is_same ? "" : tj_c_type_name(type), made->result[i]);
  }
  if (result->count == 0)
    tj_text_string(text, "  walk->nothing = 0;\n");
}

static void write_function(tj_text *text, tj_graph *graph, const tj_function *function,
                           const tj_function_result *result, const body *made) {
  write_result_range(text, function, result);
  tj_text_string(text, "TILEJIT_FUNCTION ");
  write_signature(text, function, result);
  tj_text_string(text, " {\n");
  write_arguments(text, graph, function, result);
  write_body(text, function, result, made);
  tj_text_string(text, "}\n");
}

/* The struct of what a walk carries. C has no struct of nothing. */
static void write_state_type(tj_text *text, const tj_function *function) {
  if (function->state_name == NULL)
    return;
  tj_text_string(text, "typedef struct {\n");
  for (uint32_t i = 0; i < function->state_count; i++) {
    const tj_node *symbol = function->state[i].symbol;
    tj_text_format(text, "  %s %s; /* ", tj_c_type_name(tj_c_type_of(symbol)), function->state[i].name);
    write_range(text, &symbol->facts);
    tj_text_string(text, " */\n");
  }
  if (function->state_count == 0)
    tj_text_string(text, "  int32_t nothing;\n");
  tj_text_format(text, "} %s;\n\n", function->state_name);
}

void tj_c_write_routines(tj_text *text, const tj_c_expression *const expression[], uint32_t count) {
  for (int routine = 0; routine < TJ_C_ROUTINE_COUNT; routine++) {
    for (int type = 0; type < TJ_C_TYPE_COUNT; type++) {
      bool is_used = false;
      for (uint32_t i = 0; i < count; i++)
        is_used = is_used || expression[i]->is_used[routine][type];
      if (is_used)
        write_routine(text, (tj_c_routine)routine, (tj_c_type)type);
    }
  }
}

void tj_c_write_frame(tj_text *text, const char *includes) {
  write_includes(text, includes);
  tj_text_string(text, definition_macro);
  tj_text_string(text, assumption_macro);
}

void tj_emit_c(tj_text *text, tj_graph *graph, const tj_function *function) {
  body *bodies = TJ_NEW_ARRAY(graph->job, body, function->result_count);
  const tj_c_expression **expression = TJ_NEW_ARRAY(graph->job, const tj_c_expression *, function->result_count);
  for (uint32_t i = 0; i < function->result_count; i++) {
    bodies[i] = body_of(graph, function, &function->result[i]);
    expression[i] = &bodies[i].expression;
  }
  write_heading(text, function, "Written");
  tj_c_write_frame(text, "#include <stdint.h>\n");
  tj_c_write_routines(text, expression, function->result_count);
  write_state_type(text, function);
  for (uint32_t i = 0; i < function->result_count; i++) {
    tj_text_string(text, i > 0 ? "\n" : "");
    write_function(text, graph, function, &function->result[i], &bodies[i]);
  }
}

void tj_emit_c_header(tj_text *text, const tj_function *function) {
  write_heading(text, function, "Compiled");
  write_includes(text, "#include <stdint.h>\n");
  tj_text_string(text, declaration_macro);
  write_state_type(text, function);
  tj_text_string(text, "#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
  for (uint32_t i = 0; i < function->result_count; i++) {
    write_result_range(text, function, &function->result[i]);
    tj_text_string(text, "TILEJIT_DECLARATION ");
    write_signature(text, function, &function->result[i]);
    tj_text_string(text, ";\n");
  }
  tj_text_string(text, "#ifdef __cplusplus\n}\n#endif\n");
}
