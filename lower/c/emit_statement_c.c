/* SPDX-License-Identifier: MIT */
/* Statements as functions in C: arrays in order, each an expression of those before, or a variable where several need
 * it; then what the functions call. c_machine.c has the operations. */
#include "lower/c/c_machine.h"
#include "lower/c/emit_c.h"
#include "lower/machine/width.h"
#include "tilejit/tilejit.h"

#include <inttypes.h>
#include <string.h>

typedef struct {
  tj_job *job;
  const tj_statement_functions *functions;
  const tj_statement_result *result;
  struct tj_term *made;     /* by number of array */
  tj_c_expression integers; /* of the result */
  tj_text statements;
  uint32_t named;
} writer;

/* --- arrays --- */

static struct tj_term atom(const char *text) {
  return (struct tj_term){{text, TJ_C_ATOM}, TJ_KIND_REAL, NULL};
}

/* An array as a number of a type; numbers that are written out have any. */
static struct tj_term as_type(const writer *w, const tj_array *array, tj_dtype wanted) {
  bool is_written = array->op == TJ_ARRAY_NUMBER, is_double = wanted != TJ_DTYPE_f32;
  if (!is_written)
    return tj_c_converted(w->job, w->made[array->number], array->dtype, wanted);
  struct tj_term number = {tj_c_number(w->job, array->real, is_double), TJ_KIND_REAL, NULL};
  return is_double ? tj_c_converted(w->job, number, TJ_DTYPE_f64, wanted) : number;
}

static struct tj_term argument_term(const writer *w, const tj_array *array) {
  const tj_function *function = &w->functions->function;
  for (uint32_t i = 0; i < function->argument_count; i++) {
    if (w->functions->element[i] == array)
      return atom(function->argument[i].name);
  }
  tj_fail(w->job, TJ_INTERNAL, "%s is no argument of function %s", tj_array_op_name(array->op), function->name);
}

/* Modulo 2^64. */
static struct tj_term integer_fma(const writer *w, const tj_array *array) {
  const char *text[TJ_ARRAY_MOST_ARGUMENTS];
  for (uint32_t i = 0; i < TJ_ARRAY_MOST_ARGUMENTS; i++) {
    struct tj_term term = as_type(w, array->arg[i], TJ_DTYPE_i64);
    text[i] = tj_c_placed(w->job, term.piece, TJ_C_UNARY);
  }
  const char *sum =
      tj_string_format(w->job, "(int64_t)((uint64_t)%s * (uint64_t)%s + (uint64_t)%s)", text[0], text[1], text[2]);
  return (struct tj_term){{sum, TJ_C_UNARY}, TJ_KIND_REAL, NULL};
}

/* A byte, as an integer of as many bits as the arithmetic's numbers. */
static struct tj_term byte_term(const writer *w, const tj_array *array, bool is_double) {
  struct tj_term byte = as_type(w, array, TJ_DTYPE_u8);
  const char *text = tj_c_placed(w->job, byte.piece, TJ_C_UNARY);
  const char *cast = tj_string_format(w->job, "(%s)%s", is_double ? "uint64_t" : "uint32_t", text);
  return (struct tj_term){{cast, TJ_C_UNARY}, TJ_KIND_INTEGER, NULL};
}

static struct tj_term function_term(const writer *w, const tj_array *array) {
  struct tj_term argument[TJ_ARRAY_MOST_ARGUMENTS];
  bool is_double = array->dtype == TJ_DTYPE_f64;
  if (array->op == TJ_ARRAY_CAST)
    return as_type(w, array->arg[0], array->dtype);
  if (array->op == TJ_ARRAY_FMA && tj_dtype_class_of(array->dtype) != TJ_CLASS_FLOAT)
    return integer_fma(w, array);
  for (uint32_t i = 0; i < tj_array_arity(array->op); i++)
    argument[i] = i == 0 && tj_array_takes_byte(array->op) ? byte_term(w, array->arg[i], is_double)
                                                           : as_type(w, array->arg[i], array->dtype);
  return tj_c_function(w->job, array->op, is_double, argument);
}

static struct tj_term named(writer *w, const tj_array *array, const struct tj_term *term) {
  const char *name = tj_string_format(w->job, "v%" PRIu32, w->named++);
  tj_text_format(&w->statements, "  const %s %s = %s;\n", tj_c_dtype(array->dtype), name,
                 tj_c_term_text(w->job, term, TJ_C_TERNARY));
  return atom(name);
}

/* --- what a function is made of --- */

static bool is_leaf(const tj_array *array) {
  return tj_is_statement_input(array) || tj_array_arity(array->op) == 0;
}

/* How often each array is used, the value once. */
static uint32_t *uses_of(const writer *w) {
  const tj_array_program *program = w->functions->program;
  uint32_t *uses = TJ_NEW_ARRAY(w->job, uint32_t, program->count + 1);
  uses[w->result->value->number] = 1;
  for (uint32_t i = w->result->value->number + 1; i-- > 0;) {
    const tj_array *array = program->array[i];
    for (uint32_t k = 0; uses[i] > 0 && !is_leaf(array) && k < tj_array_arity(array->op); k++)
      uses[array->arg[k]->number]++;
  }
  return uses;
}

static const char *symbol_text(const writer *w, const tj_node *symbol) {
  const tj_function *function = &w->functions->function;
  uint32_t i = 0;
  while (i < function->argument_count && function->argument[i].symbol != symbol)
    i++;
  return i < function->argument_count ? function->argument[i].name : NULL;
}

static bool is_computed(const tj_array *array) {
  return array->op == TJ_ARRAY_INTEGER && array->integer->op != TJ_OP_SYMBOL;
}

/* All integers of the program at once, so that they share what they have in common. */
static void write_integers(writer *w, tj_graph *graph, const uint32_t uses[]) {
  const tj_array_program *program = w->functions->program;
  const tj_node **root = TJ_NEW_ARRAY(w->job, const tj_node *, program->count + 1);
  const char **text = TJ_NEW_ARRAY(w->job, const char *, program->count + 1);
  uint32_t count = 0;
  for (uint32_t i = 0; i < program->count; i++) {
    if (uses[i] > 0 && is_computed(program->array[i]))
      root[count++] = program->array[i]->integer;
  }
  tj_check_widths(graph, root, count);
  w->integers = tj_c_expressions_of(graph, &w->functions->function, root, count, text);
  count = 0;
  for (uint32_t i = 0; i < program->count; i++) {
    if (uses[i] > 0 && program->array[i]->op == TJ_ARRAY_INTEGER)
      w->made[i] = atom(is_computed(program->array[i]) ? text[count++] : symbol_text(w, program->array[i]->integer));
  }
}

static void write_arrays(writer *w, const uint32_t uses[]) {
  enum { LONGEST = 80 };
  const tj_array *value = w->result->value;
  for (uint32_t i = 0; i <= value->number; i++) {
    const tj_array *array = w->functions->program->array[i];
    if (uses[i] == 0 || array->op == TJ_ARRAY_NUMBER || array->op == TJ_ARRAY_INTEGER)
      continue;
    w->made[i] = is_leaf(array) ? argument_term(w, array) : function_term(w, array);
    bool is_long = array != value && strlen(w->made[i].piece.text) > LONGEST;
    if (!is_leaf(array) && (uses[i] > 1 || is_long))
      w->made[i] = named(w, array, &w->made[i]);
  }
}

static writer written(tj_graph *graph, const tj_statement_functions *functions, const tj_statement_result *result) {
  writer w = {.job = graph->job,
              .functions = functions,
              .result = result,
              .made = TJ_NEW_ARRAY(graph->job, struct tj_term, functions->program->count + 1),
              .statements = tj_text_begin(graph->job)};
  const uint32_t *uses = uses_of(&w);
  write_integers(&w, graph, uses);
  write_arrays(&w, uses);
  return w;
}

/* --- functions --- */

static void write_expression(tj_text *text, const tj_array *array) {
  enum { LONGEST = 400 };
  tj_text value = tj_text_begin(text->job);
  tj_array_print(&value, array);
  bool is_long = value.length > LONGEST;
  tj_text_format(text, "%.*s%s", is_long ? LONGEST : (int)value.length, value.data, is_long ? " ..." : "");
}

static void write_meaning(tj_text *text, const tj_statement_result *result) {
  tj_text_format(text, "/* Of an element, what is %s%s: ", result->reduction != NULL ? "reduced by " : "stored in ",
                 result->reduction != NULL ? tj_array_op_name(result->reduction->op) : result->destination);
  write_expression(text, result->value);
  tj_text_format(text, ", as %s. */\n", tj_dtype_name(result->dtype));
}

static const char *argument_type(const tj_statement_functions *functions, uint32_t argument) {
  const tj_node *symbol = functions->function.argument[argument].symbol;
  return symbol != NULL ? tj_c_type_name(tj_c_type_of(symbol)) : tj_c_dtype(functions->element[argument]->dtype);
}

static void write_signature(tj_text *text, const tj_statement_functions *functions,
                            const tj_statement_result *result) {
  const char *separator = "";
  tj_text_format(text, "TILEJIT_FUNCTION %s %s(", tj_c_dtype(result->dtype), result->name);
  for (uint32_t i = 0; i < functions->function.argument_count; i++) {
    if (!result->takes[i])
      continue;
    tj_text_format(text, "%s%s %s", separator, argument_type(functions, i), functions->function.argument[i].name);
    separator = ", ";
  }
  tj_text_string(text, *separator != '\0' ? ") {\n" : "void) {\n");
}

static void write_function(tj_text *text, const writer *w) {
  const tj_function *function = &w->functions->function;
  write_meaning(text, w->result);
  write_signature(text, w->functions, w->result);
  for (uint32_t i = 0; i < function->argument_count; i++) {
    if (w->result->takes[i] && function->argument[i].symbol != NULL)
      tj_c_write_bounds(text, &function->argument[i]);
  }
  struct tj_term result = as_type(w, w->result->value, w->result->dtype);
  tj_text_format(text, "%s%s  return %s;\n}\n", w->integers.statements, w->statements.data,
                 tj_c_term_text(w->job, &result, TJ_C_TERNARY));
}

/* --- the heading --- */

static void write_argument(tj_text *text, const tj_statement_functions *functions, uint32_t i) {
  const tj_function_argument *argument = &functions->function.argument[i];
  const tj_array *array = functions->element[i];
  if (argument->symbol != NULL) {
    tj_c_write_argument_range(text, argument);
    return;
  }
  tj_text_format(text, " *   %-10s ", argument->name);
  if (array->op == TJ_ARRAY_BUFFER)
    tj_text_format(text, "%s, an element of %s\n", tj_dtype_name(array->dtype), array->name);
  else if (array->op == TJ_ARRAY_SCALAR)
    tj_text_format(text, "%s, a number of the launch\n", tj_dtype_name(array->dtype));
  else
    tj_text_format(text, "%s, the %s of what %s_%s gives for each element\n", tj_dtype_name(array->dtype),
                   tj_array_op_name(array->op), functions->function.name, argument->name);
}

static void write_heading(tj_text *text, const tj_statement_functions *functions) {
  tj_text_format(text, "/* Written by tilejit " TJ_VERSION ": the arithmetic of kernel %s, for one element.\n *\n",
                 functions->kernel);
  for (uint32_t i = 0; i < functions->function.argument_count; i++)
    write_argument(text, functions, i);
  tj_text_string(text,
                 " *\n * Floats of 16 bits and less come and go as float, which holds them; what is returned is "
                 "rounded\n * to one of them. Results are those of the kernel, to the last bit, wherever float "
                 "and double are\n * as IEEE 754 has them: do not compile with -ffast-math. */\n");
}

/* So that what elements are in memory can be read, and written. */
static void name_codes(tj_text *text, const tj_statement_functions *functions) {
  for (uint32_t i = 0; i < functions->function.argument_count; i++) {
    const tj_array *array = functions->element[i];
    if (array != NULL && array->op == TJ_ARRAY_BUFFER && strcmp(tj_c_dtype(array->dtype), "float") == 0 &&
        array->dtype != TJ_DTYPE_f32)
      tj_text_format(text, "tilejit_%s_number(", tj_dtype_name(array->dtype));
  }
}

void tj_emit_statements_c(tj_text *text, tj_graph *graph, const tj_statement_functions *functions) {
  uint32_t count = functions->result_count;
  const tj_c_expression **integers = TJ_NEW_ARRAY(graph->job, const tj_c_expression *, count + 1);
  writer *writers = TJ_NEW_ARRAY(graph->job, writer, count + 1);
  tj_text body = tj_text_begin(graph->job), called = tj_text_begin(graph->job);
  for (uint32_t i = 0; i < count; i++) {
    writers[i] = written(graph, functions, &functions->result[i]);
    integers[i] = &writers[i].integers;
    tj_text_string(&body, i > 0 ? "\n" : "");
    write_function(&body, &writers[i]);
  }
  name_codes(&called, functions);
  tj_text_string(&called, body.data);
  write_heading(text, functions);
  tj_c_write_frame(text, "#include <math.h>\n#include <stdint.h>\n#include <string.h>\n");
  tj_c_write_routines(text, integers, count);
  tj_c_write_called(text, called.data);
  tj_text_string(text, body.data);
}
