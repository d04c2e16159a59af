/* SPDX-License-Identifier: MIT */
/* Making arrays: shapes that broadcast, types of arithmetic, equal arrays made once. */
#include "ir/array/array.h"

#include "base/text.h"
#include "ir/index/print.h"
#include "ir/layout/arith.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* --- the table --- */

enum { NOTHING = 0, KEEPS_NAN = 1, IS_COSTLY = 2 };

typedef struct {
  const char *text;
  uint32_t arity, traits;
} row;

static const row rows[TJ_ARRAY_OP_COUNT] = {
    [TJ_ARRAY_CAST] = {"cast", 1, KEEPS_NAN},
    [TJ_ARRAY_FMA] = {"fma", 3, KEEPS_NAN},
    [TJ_ARRAY_EXPONENT] = {"floor of log2", 1, KEEPS_NAN},
    [TJ_ARRAY_LOW_EXP] = {"exp", 1, KEEPS_NAN | IS_COSTLY},
    [TJ_ARRAY_LARGER] = {"maximum", 2, NOTHING},
    [TJ_ARRAY_FARTHER] = {"maximum", 2, NOTHING},
    [TJ_ARRAY_SUM] = {"sum", 1, NOTHING},
    [TJ_ARRAY_LARGEST] = {"max", 1, NOTHING},
    [TJ_ARRAY_SMALLEST] = {"min", 1, NOTHING},
#define ARRAY_FUNCTION(name, text, arity, single, twice, traits, doc) [TJ_ARRAY_##name] = {text, arity, traits},
#include "ir/array/array_function.def"
#undef ARRAY_FUNCTION
};

uint32_t tj_array_arity(tj_array_op op) {
  return rows[op].arity;
}

bool tj_array_op_keeps_nan(tj_array_op op) {
  return (rows[op].traits & KEEPS_NAN) != 0;
}

bool tj_array_op_is_costly(tj_array_op op) {
  return (rows[op].traits & IS_COSTLY) != 0;
}

bool tj_array_is_reduction(tj_array_op op) {
  return op == TJ_ARRAY_SUM || op == TJ_ARRAY_LARGEST || op == TJ_ARRAY_SMALLEST;
}

bool tj_array_takes_byte(tj_array_op op) {
  return op == TJ_ARRAY_u4 || op == TJ_ARRAY_i4 || op == TJ_ARRAY_f4e2m1;
}

const char *tj_array_op_name(tj_array_op op) {
  return rows[op].text != NULL ? rows[op].text : "an array";
}

bool tj_array_find_function(const char *name, uint32_t arity, tj_array_op *op) {
  for (uint32_t i = TJ_ARRAY_SMALLEST + 1; i < TJ_ARRAY_OP_COUNT; i++) {
    if (strcmp(rows[i].text, name) == 0 && (arity == 0 || rows[i].arity == arity)) {
      *op = (tj_array_op)i;
      return true;
    }
  }
  return false;
}

/* --- one of each --- */

static bool same_shape(const tj_array *a, const tj_array *b) {
  return a->rank == b->rank && (a->rank == 0 || memcmp(a->extent, b->extent, a->rank * sizeof *a->extent) == 0);
}

static bool is_same(const tj_array *a, const tj_array *b) {
  return a->op == b->op && a->dtype == b->dtype && a->of == b->of && a->modes == b->modes &&
         memcmp(&a->real, &b->real, sizeof a->real) == 0 && a->integer == b->integer &&
         memcmp(a->arg, b->arg, sizeof a->arg) == 0 && same_shape(a, b);
}

static bool is_operator(const tj_array *array) {
  return array->op >= TJ_ARRAY_add && array->op <= TJ_ARRAY_neg;
}

/* Whether an array is a number that is written out, or of the program, or made of such by operators. */
static bool are_numbers(const tj_array *array) {
  bool are_all = array->op == TJ_ARRAY_NUMBER || array->op == TJ_ARRAY_INTEGER || is_operator(array);
  for (uint32_t i = 0; i < rows[array->op].arity && are_all; i++)
    are_all = array->arg[i]->is_number;
  return are_all;
}

static const tj_array *made(tj_graph *graph, tj_array_program *program, tj_array made) {
  for (uint32_t i = 0; i < program->count; i++) {
    if (is_same(program->array[i], &made))
      return program->array[i];
  }
  if (program->count == TJ_ARRAY_MOST)
    tj_fail(graph->job, TJ_WORK_LIMIT, "the kernel's body has more than %d arrays", TJ_ARRAY_MOST);
  if (program->array == NULL)
    program->array = TJ_NEW_ARRAY(graph->job, const tj_array *, TJ_ARRAY_MOST);
  tj_spend(graph->job, program->count + 1);
  made.number = program->count;
  made.is_number = are_numbers(&made);
  return program->array[program->count++] = tj_arena_copy(&graph->job->arena, &made, sizeof made);
}

/* --- leaves --- */

const tj_array *tj_array_buffer(tj_graph *graph, tj_array_program *program, uint32_t argument, const char *name,
                                tj_dtype dtype, const tj_node *const extent[], uint32_t rank) {
  tj_array array = {
      .op = TJ_ARRAY_BUFFER, .of = argument, .name = name, .dtype = dtype, .extent = extent, .rank = rank};
  return made(graph, program, array);
}

const tj_array *tj_array_scalar(tj_graph *graph, tj_array_program *program, const tj_node *symbol, tj_dtype dtype) {
  return made(graph, program, (tj_array){.op = TJ_ARRAY_SCALAR, .integer = symbol, .dtype = dtype});
}

const tj_array *tj_array_number(tj_graph *graph, tj_array_program *program, double value) {
  return made(graph, program, (tj_array){.op = TJ_ARRAY_NUMBER, .real = value, .dtype = TJ_DTYPE_f64});
}

const tj_array *tj_array_integer(tj_graph *graph, tj_array_program *program, const tj_node *value) {
  enum { EXACT_BITS = 53 };
  bool is_exact = tj_is_constant(value) && value->value >= -((int64_t)1 << EXACT_BITS) &&
                  value->value <= (int64_t)1 << EXACT_BITS;
  if (is_exact)
    return tj_array_number(graph, program, (double)value->value);
  return made(graph, program, (tj_array){.op = TJ_ARRAY_INTEGER, .integer = value, .dtype = TJ_DTYPE_i64});
}

const tj_array *tj_array_index(tj_graph *graph, tj_array_program *program, uint32_t mode) {
  tj_array array = {.op = TJ_ARRAY_INDEX, .of = mode, .dtype = TJ_DTYPE_i64, .rank = program->rank};
  const tj_node **extent = TJ_NEW_ARRAY(graph->job, const tj_node *, program->rank + 1);
  for (uint32_t i = 0; i < program->rank; i++)
    extent[i] = i == mode ? program->extent[i] : tj_int(graph, 1);
  array.extent = extent;
  program->index_modes |= (uint64_t)1 << mode;
  return made(graph, program, array);
}

/* --- shapes --- */

const char *tj_array_shape_text(tj_graph *graph, const tj_array *array) {
  tj_text text = tj_text_begin(graph->job);
  if (array->rank == 0)
    return "of a number";
  tj_text_char(&text, '(');
  for (uint32_t i = 0; i < array->rank; i++) {
    tj_text_string(&text, i > 0 ? "," : "");
    tj_node_print(&text, array->extent[i]);
  }
  tj_text_char(&text, ')');
  return text.data;
}

_Noreturn static void fail_shapes(tj_graph *graph, const tj_array *a, const tj_array *b) {
  tj_fail(graph->job, TJ_ARRAY_DOMAIN, "the shapes %s and %s do not agree", tj_array_shape_text(graph, a),
          tj_array_shape_text(graph, b));
}

/* The shape of both together, as that of `whole`. */
static void join_shapes(tj_graph *graph, tj_array *whole, const tj_array *other) {
  if (other->rank == 0)
    return;
  if (whole->rank == 0) {
    whole->rank = other->rank;
    whole->extent = other->extent;
    return;
  }
  if (whole->rank != other->rank)
    fail_shapes(graph, whole, other);
  const tj_node **extent = tj_arena_copy(&graph->job->arena, whole->extent, whole->rank * sizeof *extent);
  for (uint32_t i = 0; i < whole->rank; i++) {
    if (tj_is_int(extent[i], 1))
      extent[i] = other->extent[i];
    else if (!tj_is_int(other->extent[i], 1) && !tj_surely_equal(graph, extent[i], other->extent[i]))
      fail_shapes(graph, whole, other);
  }
  whole->extent = extent;
}

bool tj_array_fits(tj_graph *graph, const tj_array *value, const tj_node *const extent[], uint32_t rank) {
  if (value->rank == 0)
    return true;
  bool fits = value->rank == rank;
  for (uint32_t i = 0; i < rank && fits; i++)
    fits = tj_is_int(value->extent[i], 1) || tj_surely_equal(graph, value->extent[i], extent[i]);
  return fits;
}

/* --- arithmetic --- */

/* Numbers are computed in f64, whether the launch brings them or they are constants, and are of any type. */
static bool wants_double(const tj_array *array) {
  return array->dtype == TJ_DTYPE_f64 && !array->is_number;
}

/* What two numbers that are written out come to; false where an element has to be computed. */
static bool folded(tj_array_op op, const tj_array *const argument[], double *value) {
  for (uint32_t i = 0; i < rows[op].arity; i++) {
    if (argument[i]->op != TJ_ARRAY_NUMBER)
      return false;
  }
  double a = argument[0]->real, b = rows[op].arity > 1 ? argument[1]->real : 0;
  switch (op) {
  case TJ_ARRAY_add:
    *value = a + b;
    return true;
  case TJ_ARRAY_sub:
    *value = a - b;
    return true;
  case TJ_ARRAY_mul:
    *value = a * b;
    return true;
  case TJ_ARRAY_div:
    *value = a / b;
    return true;
  case TJ_ARRAY_neg:
    *value = -a;
    return true;
  default:
    return false;
  }
}

/* A function of functions that is one by itself, of whose arguments the first are. */
static tj_array_op combined(tj_array_op op, const tj_array *const **argument) {
  if (op != TJ_ARRAY_floor || (*argument)[0]->op != TJ_ARRAY_log2)
    return op;
  *argument = (*argument)[0]->arg;
  return TJ_ARRAY_EXPONENT;
}

const tj_array *tj_array_apply(tj_graph *graph, tj_array_program *program, tj_array_op op,
                               const tj_array *const argument[]) {
  op = combined(op, &argument);
  tj_array array = {.op = op, .dtype = TJ_DTYPE_f32};
  double value;
  if (folded(op, argument, &value))
    return tj_array_number(graph, program, value);
  for (uint32_t i = 0; i < rows[op].arity; i++) {
    array.arg[i] = i == 0 && tj_array_takes_byte(op) ? tj_array_saturating(graph, program, argument[i], TJ_DTYPE_u8)
                                                     : argument[i];
    array.dtype = wants_double(argument[i]) ? TJ_DTYPE_f64 : array.dtype;
    join_shapes(graph, &array, argument[i]);
  }
  array.dtype = are_numbers(&array) ? TJ_DTYPE_f64 : array.dtype;
  return made(graph, program, array);
}

const tj_array *tj_array_cast(tj_graph *graph, tj_array_program *program, const tj_array *array, tj_dtype dtype) {
  if (array->dtype == dtype && !array->is_number)
    return array;
  const tj_array *from = tj_array_saturating(graph, program, array, dtype);
  return made(
      graph, program,
      (tj_array){.op = TJ_ARRAY_CAST, .dtype = dtype, .arg = {from}, .rank = array->rank, .extent = array->extent});
}

const tj_array *tj_array_saturating(tj_graph *graph, tj_array_program *program, const tj_array *array,
                                    tj_dtype dtype) {
  if (array->op != TJ_ARRAY_INTEGER || tj_dtype_class_of(dtype) == TJ_CLASS_FLOAT || dtype == TJ_DTYPE_i64)
    return array;
  return made(graph, program, (tj_array){.op = TJ_ARRAY_CAST, .dtype = TJ_DTYPE_f64, .arg = {array}});
}

const tj_array *tj_array_stored(tj_graph *graph, tj_array_program *program, const tj_array *array, tj_dtype dtype,
                                const tj_node *const extent[], uint32_t rank) {
  tj_array stored = {.op = TJ_ARRAY_CAST, .dtype = dtype, .arg = {array}, .rank = rank, .extent = extent};
  return array->dtype == dtype && same_shape(array, &stored) ? array : made(graph, program, stored);
}

const tj_array *tj_array_scaled(tj_graph *graph, tj_array_program *program, const tj_array *array,
                                const tj_array *scale, const tj_array *bias, tj_dtype dtype) {
  return made(graph, program,
              (tj_array){.op = TJ_ARRAY_FMA,
                         .dtype = dtype,
                         .arg = {array, scale, bias},
                         .rank = array->rank,
                         .extent = array->extent});
}

/* A sum begins with -0, which changes no number. */
const tj_array *tj_array_reduce(tj_graph *graph, tj_array_program *program, tj_array_op op, const tj_array *argument,
                                uint64_t modes) {
  tj_dtype dtype = wants_double(argument) ? TJ_DTYPE_f64 : TJ_DTYPE_f32;
  if (modes == 0)
    return tj_array_cast(graph, program, argument, dtype);
  const tj_node **extent = tj_arena_copy(&graph->job->arena, argument->extent, argument->rank * sizeof *extent);
  for (uint32_t i = 0; i < argument->rank; i++)
    extent[i] = (modes >> i & 1) != 0 ? tj_int(graph, 1) : extent[i];
  program->reduced |= modes;
  double neutral = op == TJ_ARRAY_SUM ? -0.0 : (op == TJ_ARRAY_LARGEST ? -INFINITY : INFINITY);
  return made(graph, program,
              (tj_array){.op = op,
                         .dtype = dtype,
                         .modes = modes,
                         .arg = {argument, tj_array_number(graph, program, neutral)},
                         .rank = argument->rank,
                         .extent = extent});
}

/* --- parts --- */

static void spread_to_parts(const tj_array_program *program, bool is_part[]) {
  for (uint32_t i = program->count; i-- > 0;) {
    for (uint32_t k = 0; is_part[i] && k < rows[program->array[i]->op].arity; k++)
      is_part[program->array[i]->arg[k]->number] = true;
  }
}

const bool *tj_array_parts(tj_graph *graph, const tj_array_program *program, const tj_array *array) {
  bool *is_part = TJ_NEW_ARRAY(graph->job, bool, program->count + 1);
  is_part[array->number] = true;
  spread_to_parts(program, is_part);
  return is_part;
}

const bool *tj_array_stored_parts(tj_graph *graph, const tj_array_program *program) {
  bool *is_part = TJ_NEW_ARRAY(graph->job, bool, program->count + 1);
  for (uint32_t i = 0; i < program->store_count; i++)
    is_part[program->store[i].value->number] = true;
  spread_to_parts(program, is_part);
  return is_part;
}

/* --- stores --- */

const tj_array_store *tj_array_indexed_store(const tj_array_program *program, uint32_t argument) {
  for (uint32_t i = 0; i < program->store_count; i++) {
    if (program->store[i].argument == argument && program->store[i].is_indexed)
      return &program->store[i];
  }
  return NULL;
}

/* --- text --- */

static void print_modes(tj_text *text, uint64_t modes) {
  for (uint64_t left = modes; left != 0; left &= left - 1)
    tj_text_format(text, ", %d", __builtin_ctzll(left));
}

static void print_operation(tj_text *text, const tj_array *array) {
  bool is_binary = rows[array->op].arity == 2;
  tj_text_char(text, '(');
  if (is_binary)
    tj_array_print(text, array->arg[0]);
  tj_text_format(text, is_binary ? " %s " : "%s", rows[array->op].text);
  tj_array_print(text, array->arg[is_binary ? 1 : 0]);
  tj_text_char(text, ')');
}

static void print_call(tj_text *text, const tj_array *array) {
  tj_text_format(text, "%s(", array->op == TJ_ARRAY_CAST ? tj_dtype_name(array->dtype) : rows[array->op].text);
  for (uint32_t i = 0; i < rows[array->op].arity; i++) {
    tj_text_string(text, i > 0 ? ", " : "");
    tj_array_print(text, array->arg[i]);
  }
  print_modes(text, array->modes);
  tj_text_char(text, ')');
}

void tj_array_print(tj_text *text, const tj_array *array) {
  tj_spend(text->job, 1);
  switch (array->op) {
  case TJ_ARRAY_BUFFER:
    tj_text_string(text, array->name);
    return;
  case TJ_ARRAY_NUMBER:
    tj_text_format(text, "%.17g", array->real);
    return;
  case TJ_ARRAY_SCALAR:
  case TJ_ARRAY_INTEGER:
    tj_node_print(text, array->integer);
    return;
  case TJ_ARRAY_INDEX:
    tj_text_format(text, "index(%" PRIu32 ")", array->of);
    return;
  default:
    break;
  }
  if (is_operator(array))
    print_operation(text, array);
  else
    print_call(text, array);
}
