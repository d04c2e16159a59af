/* SPDX-License-Identifier: MIT */
/* Functions of numbers in LLVM IR, of one element of an array or of a vector of them. */
#ifndef TJ_LOWER_EMIT_ARRAY_H
#define TJ_LOWER_EMIT_ARRAY_H

#include "ir/array/array_recipe.h"
#include "lower/emit/emit.h"

/* Operations in LLVM IR, of one element or of vectors of them. */
typedef struct {
  tj_array_machine machine;
  tj_emitter *emitter;
  LLVMTypeRef element, integer; /* of reals, and of integers of as many bits */
  LLVMValueRef like;            /* whose shape all have */
} tj_emit_machine;

/* That of arithmetic in f32 or f64. (emit_array_function.c) */
tj_emit_machine tj_emit_machine_of(tj_emitter *emitter, tj_dtype dtype, LLVMValueRef like);

/* A function of numbers of f32 or f64, or of vectors; FMA also of i64. (emit_array_function.c) */
LLVMValueRef tj_emit_array_function(tj_emitter *emitter, tj_array_op op, tj_dtype dtype, LLVMValueRef argument[]);
/* A recipe of one argument. */
LLVMValueRef tj_emit_recipe(tj_emitter *emitter, tj_term (*recipe)(const tj_array_machine *machine, tj_term x),
                            tj_dtype dtype, LLVMValueRef x);

/* How many f32 a kernel's instructions take; 0: vectors are for LLVM to take apart. (emit_parts.c) */
uint32_t tj_emit_float_lanes(const tj_emitter *emitter);
/* Whether vectors of so many lanes are taken in parts. */
bool tj_emit_has_parts(const tj_emitter *emitter, uint32_t width, uint32_t lanes);

/* Lanes `lane` … of a vector, `lanes` of them, as an element or a vector: what the vector was made of, where they
 * were one; a vector of `width` lanes with such a part, NULL being one without any; and what is made of each part,
 * where the target takes vectors in parts. (emit_parts.c) */
LLVMValueRef tj_emit_part(tj_emitter *emitter, LLVMValueRef vector, uint32_t lane, uint32_t lanes);
LLVMValueRef tj_emit_with_part(tj_emitter *emitter, LLVMValueRef vector, uint32_t width, LLVMValueRef part,
                               uint32_t lane);
LLVMValueRef tj_emit_in_parts(tj_emitter *emitter, LLVMValueRef vector, uint32_t lanes,
                              LLVMValueRef (*emit)(tj_emitter *, LLVMValueRef));

/* An operation on numbers of f32 or f64, or on vectors in parts that the target's instructions take. */
LLVMValueRef tj_emit_operation(tj_emitter *emitter, tj_array_operation operation, tj_dtype dtype,
                               LLVMValueRef const operand[]);

/* A number that many are divided by, and what that takes. */
typedef struct {
  tj_dtype dtype;
  bool has_bounds; /* `low` and `high` alone: quotients become short floats at once */
  LLVMValueRef number, reciprocal, below, rest, is_usual, low, high;
} tj_divisor;

/* Gives a divisor that has its number, of f32 or f64, what quotients by it take, where the builder is; and such
 * quotients of a vector, each rounded once. The builder ends in a new block. (emit_quotient.c) */
void tj_emit_divisor(tj_emitter *emitter, tj_divisor *divisor);
LLVMValueRef tj_emit_quotients(tj_emitter *emitter, LLVMValueRef dividend, const tj_divisor *divisor);

/* How quotients of f32 are made that become floats of a type at once. */
typedef enum {
  TJ_QUOTIENTS_WHOLE,   /* as all others */
  TJ_QUOTIENTS_BETWEEN, /* by a divisor that has bounds */
  TJ_QUOTIENTS_NUMBERS  /* by one that has none; those that the type has no number for but 0 need not be right */
} tj_quotients;

tj_quotients tj_emit_quotients_of(const tj_emitter *emitter, tj_dtype to);
/* Their bits, unless they are made as all others. The builder ends in a new block. */
LLVMValueRef tj_emit_short_quotients(tj_emitter *emitter, LLVMValueRef dividend, const tj_divisor *divisor,
                                     tj_dtype to);

#endif
