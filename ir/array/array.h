/* SPDX-License-Identifier: MIT */
/* Arrays: what the elements of a kernel's destinations are, as expressions of those of its buffers.
 *
 * In come arguments, numbers and functions of them; out goes a program of arrays, each hash-consed and made after
 * what it is made of. An array has a shape, one extent a mode, or none: then it is a number, and goes with every
 * shape. So does an extent of 1. Arithmetic is that of f32, or of f64 where an operand is f64; numbers that are
 * written out have the type of what they meet. Reductions keep the modes that they are over, with extent 1.
 *
 * tests/run_arrays.py computes the same from definitions alone; lower/rows/array_map.c makes kernels. */
#ifndef TJ_IR_ARRAY_H
#define TJ_IR_ARRAY_H

#include "base/number/dtype.h"
#include "base/text.h"
#include "ir/index/graph.h"

#include <stdbool.h>

typedef enum {
  TJ_ARRAY_BUFFER,   /* argument number `of` of the kernel, which has a name; or one of those that are gathered */
  TJ_ARRAY_SCALAR,   /* `integer` is the symbol whose value has the bits of an element of the array's type */
  TJ_ARRAY_NUMBER,   /* `real` */
  TJ_ARRAY_INTEGER,  /* `integer` */
  TJ_ARRAY_INDEX,    /* the coordinate along mode number `of` */
  TJ_ARRAY_CAST,     /* the argument, converted to the array's type */
  TJ_ARRAY_FMA,      /* arg[0] * arg[1] + arg[2], rounded once; of integers, modulo 2^64 */
  TJ_ARRAY_EXPONENT, /* floor(log2(arg[0])), exact */
  TJ_ARRAY_LOW_EXP,  /* exp(arg[0]), which is not positive */
  TJ_ARRAY_LARGER,   /* of two, where it does not matter whether NaN is left out */
  TJ_ARRAY_FARTHER,  /* of two that are -infinity or have no sign, the larger; NaN where one is */
  TJ_ARRAY_SUM,      /* reductions of the argument over `modes`, a bit for each; arg[1] is what they begin with */
  TJ_ARRAY_LARGEST,
  TJ_ARRAY_SMALLEST,
#define ARRAY_FUNCTION(name, ...) TJ_ARRAY_##name,
#include "ir/array/array_function.def"
#undef ARRAY_FUNCTION
  TJ_ARRAY_OP_COUNT
} tj_array_op;

enum { TJ_ARRAY_MOST_MODES = 32, TJ_ARRAY_MOST_ARGUMENTS = 3, TJ_ARRAY_MOST = 1024 };

typedef struct tj_array tj_array;
struct tj_array {
  tj_array_op op;
  tj_dtype dtype;
  uint32_t number; /* in its program; those of its arguments are smaller */
  uint32_t of;
  const char *name;
  uint32_t rank; /* 0: a number */
  const tj_node *const *extent;
  uint64_t modes;
  bool is_number; /* written out, an integer of the program, or a sum, product or quotient of such: of any type */
  double real;
  const tj_node *integer;
  const tj_array *arg[TJ_ARRAY_MOST_ARGUMENTS];
};

/* DESTINATION = value, or, where it is indexed, DESTINATION = value, scatter=[indices, dimension], and the elements
 * of argument `indices` say where along the dimension each one goes. */
typedef struct {
  uint32_t argument;
  const tj_array *value;
  tj_span span;
  bool is_indexed;
  bool adds; /* scatter_add: the value is added to what is there */
  uint32_t indices, dimension;
} tj_array_store;

/* gather(argument, [indices, dimension]): the argument, whose elements along the dimension are those that the
 * elements of argument `indices` name; 0 where they name none. Gather number k is an argument behind those of the
 * kernel. */
typedef struct {
  uint32_t argument, indices, dimension;
  const tj_array *array;
  tj_span span;
} tj_array_gather;

typedef struct tj_array_program {
  const tj_array **array;
  uint32_t count;
  tj_array_gather *gather;
  uint32_t gather_count;
  tj_array_store *store;
  uint32_t store_count;
  uint32_t rank; /* the shape of all of them together */
  const tj_node **extent;
  uint64_t reduced;     /* modes, by bit, that reductions are over */
  uint64_t index_modes; /* modes, by bit, whose coordinates are used */
} tj_array_program;

/* How many arguments; 0 for what has none. */
uint32_t tj_array_arity(tj_array_op op);
bool tj_array_is_reduction(tj_array_op op);
/* Whether a function's first argument is a byte with numbers in its halves. */
bool tj_array_takes_byte(tj_array_op op);
/* Traits of the table: of floats, NaN wherever an argument is; and worth keeping. */
bool tj_array_op_keeps_nan(tj_array_op op);
bool tj_array_op_is_costly(tj_array_op op);
/* Its name in the language. */
const char *tj_array_op_name(tj_array_op op);
/* The function that a name with so many arguments stands for; false where there is none. With `arity` 0, of any
 * arity. */
bool tj_array_find_function(const char *name, uint32_t arity, tj_array_op *op);

/* --- making --- */

const tj_array *tj_array_buffer(tj_graph *graph, tj_array_program *program, uint32_t argument, const char *name,
                                tj_dtype dtype, const tj_node *const extent[], uint32_t rank);
const tj_array *tj_array_scalar(tj_graph *graph, tj_array_program *program, const tj_node *symbol, tj_dtype dtype);
const tj_array *tj_array_number(tj_graph *graph, tj_array_program *program, double value);
const tj_array *tj_array_integer(tj_graph *graph, tj_array_program *program, const tj_node *value);
/* Its extent is the program's; while that is not known, it is a number. */
const tj_array *tj_array_index(tj_graph *graph, tj_array_program *program, uint32_t mode);
const tj_array *tj_array_cast(tj_graph *graph, tj_array_program *program, const tj_array *array, tj_dtype dtype);
/* An integer of the program that is to become a shorter one, as a number, which saturates as those do that are
 * written out; any other array as it is. */
const tj_array *tj_array_saturating(tj_graph *graph, tj_array_program *program, const tj_array *array,
                                    tj_dtype dtype);
/* What a destination of a type and a shape holds when the array has been stored there, repeated along extents of 1.
 */
const tj_array *tj_array_stored(tj_graph *graph, tj_array_program *program, const tj_array *array, tj_dtype dtype,
                                const tj_node *const extent[], uint32_t rank);
/* scale * array + bias in arithmetic of a type: f32, f64 or i64. */
const tj_array *tj_array_scaled(tj_graph *graph, tj_array_program *program, const tj_array *array,
                                const tj_array *scale, const tj_array *bias, tj_dtype dtype);
/* A function or an operator. TJ4025 at the job's place where shapes do not agree. */
const tj_array *tj_array_apply(tj_graph *graph, tj_array_program *program, tj_array_op op,
                               const tj_array *const argument[]);
/* Over no modes, the argument as the arithmetic has it. */
const tj_array *tj_array_reduce(tj_graph *graph, tj_array_program *program, tj_array_op op, const tj_array *argument,
                                uint64_t modes);

/* By number: what an array of the program is made of, itself included. */
const bool *tj_array_parts(tj_graph *graph, const tj_array_program *program, const tj_array *array);
/* The same of all that its statements store. */
const bool *tj_array_stored_parts(tj_graph *graph, const tj_array_program *program);

/* The shape as "(M,N)"; "a number" where there is none. */
const char *tj_array_shape_text(tj_graph *graph, const tj_array *array);

/* Whether a value of one shape goes into a destination of another as it is, or repeated along extents of 1. */
bool tj_array_fits(tj_graph *graph, const tj_array *value, const tj_node *const extent[], uint32_t rank);

/* The statement that stores to an argument through indices; NULL: none does. */
const tj_array_store *tj_array_indexed_store(const tj_array_program *program, uint32_t argument);

/* The array as text, such as "exp(x - max(x, 1))". */
void tj_array_print(tj_text *text, const tj_array *array);

/* Whether an array is a - max(a), which is not positive. */
static inline bool tj_array_is_below_largest(const tj_array *array) {
  return array->op == TJ_ARRAY_sub && array->arg[1]->op == TJ_ARRAY_LARGEST && array->arg[1]->arg[0] == array->arg[0];
}

#endif
