/* SPDX-License-Identifier: MIT */
/* From statements to functions: what each is made of, down to elements and what was reduced, and names for that. */
#include "lower/plan/statement_function.h"

#include "ir/index/walk.h"
#include "lower/kernel/arithmetic.h"

#include <string.h>

bool tj_is_statement_input(const tj_array *array) {
  return array->op == TJ_ARRAY_BUFFER || array->op == TJ_ARRAY_SCALAR || tj_array_is_reduction(array->op);
}

typedef struct {
  tj_graph *graph;
  const tj_program_values *values;
  const tj_kernel_definition *kernel;
  tj_statement_functions *out;
  tj_function_argument *argument;
} maker;

/* --- what a value is made of --- */

/* By number of array: the value and what it is made of, up to inputs. */
static bool *parts_of(const maker *m, const tj_array *value) {
  const tj_array_program *program = m->out->program;
  bool *is_part = TJ_NEW_ARRAY(m->graph->job, bool, program->count + 1);
  is_part[value->number] = true;
  for (uint32_t i = value->number + 1; i-- > 0;) {
    const tj_array *array = program->array[i];
    for (uint32_t k = 0; is_part[i] && !tj_is_statement_input(array) && k < tj_array_arity(array->op); k++)
      is_part[array->arg[k]->number] = true;
  }
  return is_part;
}

/* --- arguments --- */

static void add_argument(maker *m, const char *name, const tj_node *symbol, const tj_array *element) {
  tj_function *function = &m->out->function;
  uint32_t position = function->argument_count;
  m->argument[position] =
      (tj_function_argument){tj_function_free_name(m->graph->job, function, position, name), symbol};
  m->out->element[position] = element;
  function->argument_count++;
}

static bool is_name_of_argument(const maker *m, const char *name) {
  for (uint32_t i = 0; i < m->kernel->argument_count; i++) {
    if (strcmp(m->kernel->argument[i].name, name) == 0)
      return true;
  }
  return false;
}

static const char *reduction_word(const tj_array *array) {
  return array->op == TJ_ARRAY_SUM ? "sum" : array->op == TJ_ARRAY_LARGEST ? "max" : "min";
}

/* Another one than those of the kernel's arguments, of which results have names, too. */
static const char *reduction_name(const maker *m, const tj_array *array, uint32_t number) {
  const char *name = tj_string_format(m->graph->job, "%s%u", reduction_word(array), number);
  while (is_name_of_argument(m, name))
    name = tj_string_format(m->graph->job, "%s_", name);
  return name;
}

static const char *input_name(const maker *m, const tj_array *array) {
  if (array->op == TJ_ARRAY_SCALAR)
    return array->integer->symbol->name;
  if (array->of < m->kernel->argument_count)
    return array->name;
  const tj_array_gather *gather = &m->out->program->gather[array->of - m->kernel->argument_count];
  return tj_string_format(m->graph->job, "%s_%s", m->kernel->argument[gather->argument].name,
                          m->kernel->argument[gather->indices].name);
}

static bool is_declared_as(const maker *m, const tj_array *array, uint32_t argument) {
  if (array->op == TJ_ARRAY_BUFFER)
    return array->of == argument;
  return array->op == TJ_ARRAY_SCALAR && m->kernel->argument[argument].view == NULL &&
         strcmp(array->integer->symbol->name, m->kernel->argument[argument].name) == 0;
}

/* In the order of declaration. */
static void add_elements(maker *m, const bool is_part[]) {
  const tj_array_program *program = m->out->program;
  uint32_t inputs = m->kernel->argument_count + program->gather_count;
  tj_spend(m->graph->job, (uint64_t)inputs * program->count);
  for (uint32_t k = 0; k < inputs; k++) {
    for (uint32_t i = 0; i < program->count; i++) {
      const tj_array *array = program->array[i];
      bool is_it = k < m->kernel->argument_count ? is_declared_as(m, array, k)
                                                 : array->op == TJ_ARRAY_BUFFER && array->of == k;
      if (is_part[i] && is_it)
        add_argument(m, input_name(m, array), NULL, array);
    }
  }
}

static void add_reductions(maker *m, const bool is_part[]) {
  const tj_array_program *program = m->out->program;
  uint32_t number = 0;
  for (uint32_t i = 0; i < program->count; i++) {
    if (is_part[i] && tj_array_is_reduction(program->array[i]->op))
      add_argument(m, reduction_name(m, program->array[i], number++), NULL, program->array[i]);
  }
}

/* --- integers --- */

static bool is_in(const tj_walk *walk, const tj_node *node) {
  for (uint32_t i = 0; i < walk->count; i++) {
    if (walk->node[i] == node)
      return true;
  }
  return false;
}

/* The expressions of integers among arrays that are marked. */
static tj_walk integers_of(const maker *m, const bool is_part[]) {
  const tj_array_program *program = m->out->program;
  const tj_node **root = TJ_NEW_ARRAY(m->graph->job, const tj_node *, program->count + 1);
  uint32_t count = 0;
  for (uint32_t i = 0; i < program->count; i++) {
    if (is_part[i] && program->array[i]->op == TJ_ARRAY_INTEGER)
      root[count++] = program->array[i]->integer;
  }
  return tj_walk_nodes(m->graph, root, count);
}

static void add_coordinate(maker *m, const tj_array *index) {
  const char *name = tj_string_format(m->graph->job, "i%u", index->of);
  const tj_node *coordinate = tj_coordinate(m->graph, name, m->out->program->extent[index->of]);
  add_argument(m, coordinate->symbol->name, coordinate, index);
}

static void add_coordinates(maker *m, const bool is_part[]) {
  const tj_array_program *program = m->out->program;
  for (uint32_t mode = 0; mode < program->rank; mode++) {
    for (uint32_t i = 0; i < program->count; i++) {
      const tj_array *array = program->array[i];
      if (is_part[i] && array->op == TJ_ARRAY_INDEX && array->of == mode)
        add_coordinate(m, array);
    }
  }
}

static void add_parameters(maker *m, const bool is_part[]) {
  tj_walk walk = integers_of(m, is_part);
  tj_spend(m->graph->job, (uint64_t)walk.count * m->values->parameter_count);
  for (uint32_t i = 0; i < m->values->parameter_count; i++) {
    if (is_in(&walk, m->values->parameter[i].node) && !tj_is_constant(m->values->parameter[i].node))
      add_argument(m, m->values->parameter[i].name, m->values->parameter[i].node, NULL);
  }
}

/* --- results --- */

static const bool *arguments_of(const maker *m, const tj_array *value) {
  const tj_function *function = &m->out->function;
  const bool *is_part = parts_of(m, value);
  tj_walk walk = integers_of(m, is_part);
  bool *takes = TJ_NEW_ARRAY(m->graph->job, bool, function->argument_count + 1);
  for (uint32_t i = 0; i < function->argument_count; i++) {
    const tj_array *element = m->out->element[i];
    takes[i] = element != NULL ? is_part[element->number] : is_in(&walk, function->argument[i].symbol);
  }
  return takes;
}

static bool is_name_of_result(const tj_statement_functions *out, const char *name) {
  uint32_t i = 0;
  while (i < out->result_count && strcmp(out->result[i].name, name) != 0)
    i++;
  return i < out->result_count;
}

static const char *result_name(const maker *m, const char *ending) {
  if (*ending == '\0')
    return m->out->function.name;
  const char *name =
      tj_string_format(m->graph->job, "%s_%s", m->out->function.name, tj_function_plain_name(m->graph->job, ending));
  while (is_name_of_result(m->out, name))
    name = tj_string_format(m->graph->job, "%s_", name);
  return name;
}

static void add_result(maker *m, tj_statement_result result, const char *ending) {
  tj_statement_functions *out = m->out;
  result.name = result_name(m, ending);
  result.takes = arguments_of(m, result.value);
  out->result[out->result_count++] = result;
}

/* What reductions take, in the order in which one may need another. */
static void add_reduced(maker *m) {
  const tj_function *function = &m->out->function;
  for (uint32_t i = 0; i < function->argument_count; i++) {
    const tj_array *array = m->out->element[i];
    if (array != NULL && tj_array_is_reduction(array->op))
      add_result(m, (tj_statement_result){.value = array->arg[0], .dtype = array->dtype, .reduction = array},
                 function->argument[i].name);
  }
}

static void add_stored(maker *m) {
  const tj_array_program *program = m->out->program;
  for (uint32_t i = 0; i < program->store_count; i++) {
    const tj_kernel_argument *argument = &m->kernel->argument[program->store[i].argument];
    tj_statement_result result = {.value = program->store[i].value, .destination = argument->name};
    (void)tj_dtype_find(argument->dtype, &result.dtype);
    add_result(m, result, program->store_count == 1 ? "" : argument->name);
  }
}

/* --- functions --- */

/* What <math.h>, with f or l behind it, too, and <string.h> declare; the emitted text includes both. */
static const char *const library[] = {
    "acos",       "acosh",      "asin",        "asinh",
    "atan",       "atan2",      "atanh",       "canonicalize",
    "cbrt",       "ceil",       "copysign",    "cos",
    "cosh",       "drem",       "erf",         "erfc",
    "exp",        "exp10",      "exp2",        "expm1",
    "fabs",       "fdim",       "finite",      "floor",
    "fma",        "fmax",       "fmin",        "fmod",
    "fpclassify", "frexp",      "gamma",       "hypot",
    "ilogb",      "isfinite",   "isgreater",   "isgreaterequal",
    "isinf",      "isless",     "islessequal", "islessgreater",
    "isnan",      "isnormal",   "isunordered", "j0",
    "j1",         "jn",         "ldexp",       "lgamma",
    "llrint",     "llround",    "log",         "log10",
    "log1p",      "log2",       "logb",        "lrint",
    "lround",     "modf",       "nan",         "nearbyint",
    "nextafter",  "nexttoward", "nextdown",    "nextup",
    "pow",        "remainder",  "remquo",      "rint",
    "round",      "roundeven",  "scalb",       "scalbln",
    "scalbn",     "signbit",    "significand", "sin",
    "sincos",     "sinh",       "sqrt",        "tan",
    "tanh",       "tgamma",     "trunc",       "y0",
    "y1",         "yn",         "basename",    "bcmp",
    "bcopy",      "bzero",      "ffs",         "index",
    "memccpy",    "memchr",     "memcmp",      "memcpy",
    "memmem",     "memmove",    "mempcpy",     "memset",
    "rindex",     "strcat",     "strchr",      "strcmp",
    "strcoll",    "strcpy",     "strcspn",     "strdup",
    "strerror",   "strlen",     "strncat",     "strncmp",
    "strncpy",    "strndup",    "strnlen",     "strpbrk",
    "strrchr",    "strsep",     "strsignal",   "strspn",
    "strstr",     "strtok",     "strxfrm",     "swab",
};

static bool is_of_library(const char *name) {
  for (size_t i = 0; i < sizeof library / sizeof *library; i++) {
    size_t length = strlen(library[i]);
    const char *rest = strncmp(name, library[i], length) == 0 ? name + length : "?";
    if (*rest == '\0' || strcmp(rest, "f") == 0 || strcmp(rest, "l") == 0)
      return true;
  }
  return false;
}

static void check_name(tj_job *job, const char *name) {
  tj_function_check_name(job, name);
  if (is_of_library(name))
    tj_fail(job, TJ_FUNCTION_NAME, "C has a function '%s' already", name);
}

static const tj_array_program *program_of(tj_graph *graph, const tj_kernel_definition *kernel) {
  tj_dtype from = TJ_DTYPE_f32, to = TJ_DTYPE_f32;
  const tj_array_program *program = kernel->arrays;
  graph->job->here = kernel->body_span;
  if (kernel->body == TJ_BODY_COPY && program == NULL &&
      tj_dtype_find(kernel->argument[kernel->source].dtype, &from) &&
      tj_dtype_find(kernel->argument[kernel->destination].dtype, &to))
    program = tj_arithmetic_program(graph, kernel, from, to);
  if (program == NULL)
    tj_fail(graph->job, TJ_NO_ARITHMETIC, "kernel '%s' computes no elements", kernel->name);
  return program;
}

tj_statement_functions *tj_statement_functions_of(tj_graph *graph, const tj_program_values *values,
                                                  const tj_kernel_definition *kernel, const char *name) {
  tj_statement_functions *out = TJ_NEW(graph->job, tj_statement_functions);
  check_name(graph->job, name);
  *out =
      (tj_statement_functions){.kernel = kernel->name, .program = program_of(graph, kernel), .function.name = name};
  size_t most = (size_t)out->program->count + values->parameter_count + 1;
  maker m = {.graph = graph, .values = values, .kernel = kernel, .out = out};
  m.argument = TJ_NEW_ARRAY(graph->job, tj_function_argument, most);
  out->function.argument = m.argument;
  out->element = TJ_NEW_ARRAY(graph->job, const tj_array *, most);
  out->result = TJ_NEW_ARRAY(graph->job, tj_statement_result, most + out->program->store_count);
  const bool *is_part = tj_array_stored_parts(graph, out->program);
  add_elements(&m, is_part);
  add_reductions(&m, is_part);
  add_coordinates(&m, is_part);
  add_parameters(&m, is_part);
  add_reduced(&m);
  add_stored(&m);
  return out;
}
