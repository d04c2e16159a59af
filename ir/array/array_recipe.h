/* SPDX-License-Identifier: MIT */
/* What functions of arrays and conversions of short floats are, step by step, in operations of a machine: whoever can
 * emit these operations can emit the functions, LLVM IR as C, and the results are the same to the last bit.
 *
 * Functions that machines round right themselves are their operations. The others are polynomials with multiply-adds.
 * Nothing calls a library. Whatever the argument is, no step has an undefined result: NaNs and infinities are carried
 * along, or chosen at the end. */
#ifndef TJ_IR_ARRAY_RECIPE_H
#define TJ_IR_ARRAY_RECIPE_H

#include "ir/array/array.h"

typedef enum { TJ_KIND_REAL, TJ_KIND_INTEGER, TJ_KIND_TRUTH, TJ_KIND_ANY } tj_array_kind;

typedef enum {
#define OPERATION(name, ...) TJ_OPERATION_##name,
#include "ir/array/array_operation.def"
#undef OPERATION
  TJ_OPERATION_COUNT
} tj_array_operation;

enum { TJ_OPERATION_MOST_OPERANDS = 3 };

uint32_t tj_operation_arity(tj_array_operation operation);

/* A value, as the machine has it. */
typedef struct tj_term *tj_term;

/* Who emits operations, of reals of f32 or f64. What emits begins with one. */
typedef struct tj_array_machine tj_array_machine;
struct tj_array_machine {
  bool is_double;
  bool has_extremes; /* MINIMUM and MAXIMUM are at least as fast as choices */
  bool has_scaling;  /* so is SCALE */
  tj_term (*real)(const tj_array_machine *machine, double value);
  tj_term (*integer)(const tj_array_machine *machine, uint64_t value);
  tj_term (*apply)(const tj_array_machine *machine, tj_array_operation operation, const tj_term operand[]);
};

/* An operation of one operand, or of two; and the one of two values that a truth tells. */
static inline tj_term tj_apply_one(const tj_array_machine *machine, tj_array_operation operation, tj_term x) {
  return machine->apply(machine, operation, &x);
}

static inline tj_term tj_apply_two(const tj_array_machine *machine, tj_array_operation operation, tj_term x,
                                   tj_term y) {
  return machine->apply(machine, operation, (tj_term[]){x, y});
}

static inline tj_term tj_chosen(const tj_array_machine *machine, tj_term truth, tj_term yes, tj_term no) {
  return machine->apply(machine, TJ_OPERATION_CHOOSE, (tj_term[]){truth, yes, no});
}

/* A function of the table, FMA, EXPONENT or LOW_EXP. Of numbers of 4 bits, the first argument is the byte, an
 * integer. (array_recipe.c, half_recipe.c) */
tj_term tj_array_recipe(const tj_array_machine *machine, tj_array_op op, const tj_term argument[]);
tj_term tj_half_recipe(const tj_array_machine *machine, tj_array_op op, const tj_term argument[]);

/* exp2 of an integer, an infinity or NaN: the same in fewer operations. */
tj_term tj_whole_exp2_recipe(const tj_array_machine *machine, tj_term x);

/* The number, of f32, that a code of a float of at most 16 bits stands for, and the code of the nearest number, ties
 * to even. Beyond the largest finite number is that number (the saturating mode of OFP8), but where `has_infinity`.
 * (float_recipe.c) */
tj_term tj_float_recipe(const tj_array_machine *machine, const tj_float_form *form, tj_term code);
tj_term tj_float_code_recipe(const tj_array_machine *machine, const tj_float_form *form, bool has_infinity,
                             tj_term number);

#endif
