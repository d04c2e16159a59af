/* SPDX-License-Identifier: MIT */
/* Operations of arrays in C, one after the other, of which the recipes of ir/array/array_recipe.h make functions; and
 * the functions and conversions that statements call by name. */
#ifndef TJ_LOWER_C_MACHINE_H
#define TJ_LOWER_C_MACHINE_H

#include "ir/array/array_recipe.h"
#include "lower/c/c_piece.h"

/* An expression. */
struct tj_term {
  tj_c_piece piece;
  tj_array_kind kind;
  const char *rounded; /* of a product, which compilers may round together with a sum that it is in: by itself */
};

/* The text in a place that asks for `binding`, and which does not round a product by itself. */
const char *tj_c_term_text(tj_job *job, const struct tj_term *term, int binding);

typedef struct {
  tj_array_machine machine;
  tj_job *job;
  tj_text *statements; /* NULL: expressions become longer; otherwise each becomes a variable */
  uint32_t *count;     /* of operations so far */
} tj_c_machine;

/* Of f32, or of f64. `count` begins with 0. */
tj_c_machine tj_c_machine_of(tj_job *job, bool is_double, tj_text *statements, uint32_t *count);

/* What C calls numbers of a type: short floats are f32, which holds them. */
const char *tj_c_dtype(tj_dtype dtype);

/* A number as an expression of the type; it is negative where its binding is UNARY. */
tj_c_piece tj_c_number(tj_job *job, double value, bool is_double);

/* The result of a function of expressions in arithmetic of f32 or f64: an expression where it takes few operations,
 * or else a call. */
struct tj_term tj_c_function(tj_job *job, tj_array_op op, bool is_double, const struct tj_term argument[]);

/* What is a number of a type as one of another. */
struct tj_term tj_c_converted(tj_job *job, struct tj_term term, tj_dtype from, tj_dtype to);

/* Writes the functions whose names are in a text, and those that they call. */
void tj_c_write_called(tj_text *text, const char *caller);

#endif
