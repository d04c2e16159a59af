/* SPDX-License-Identifier: MIT */
/* Arithmetic of arrays in LLVM IR, of one element or of a vector of them. */
#ifndef TJ_LOWER_EMIT_ARRAY_H
#define TJ_LOWER_EMIT_ARRAY_H

#include "ir/array/array.h"
#include "lower/emit/emit.h"

/* A function of numbers of f32 or f64, or of vectors; FMA also of i64. (emit_array_function.c) */
LLVMValueRef tj_emit_array_function(tj_emitter *emitter, tj_array_op op, tj_dtype dtype, LLVMValueRef argument[]);

/* Emits the numbers of a copy's arithmetic, at the beginning of a function; and what a statement says, from the
 * elements of its sources as numbers, one of each or vectors, to others. (emit_array.c) */
void tj_emit_arithmetic_numbers(tj_emitter *emitter);
LLVMValueRef tj_emit_arithmetic(tj_emitter *emitter, const tj_array *value, const LLVMValueRef numbers[],
                                tj_dtype to);

/* exp2 of an integer, an infinity or NaN: the same in fewer instructions. */
LLVMValueRef tj_emit_whole_exp2(tj_emitter *emitter, tj_dtype dtype, LLVMValueRef argument);

/* exp of what is not positive: the same in fewer instructions. */
LLVMValueRef tj_emit_low_exp(tj_emitter *emitter, tj_dtype dtype, LLVMValueRef argument);

/* Gives a divisor that has its number, of f32 or f64, what quotients by it take, where the builder is; and such
 * quotients of a vector, each rounded once. The builder ends in a new block. (emit_quotient.c) */
void tj_emit_divisor(tj_emitter *emitter, tj_divisor *divisor);
LLVMValueRef tj_emit_quotients(tj_emitter *emitter, LLVMValueRef dividend, const tj_divisor *divisor);

/* The number in the lower half of a byte, of the type that u4, i4 or f4e2m1 says; and the byte of two numbers, by
 * pack_u4, pack_i4 or pack_f4e2m1, as a number. (emit_halves.c) */
LLVMValueRef tj_emit_number_of_half(tj_emitter *emitter, tj_array_op op, tj_dtype dtype, LLVMValueRef byte);
LLVMValueRef tj_emit_byte_of_halves(tj_emitter *emitter, tj_array_op op, tj_dtype dtype, LLVMValueRef number[2]);

/* What a COMPUTE step gives its slots, as raw bits: an element, or a vector. (emit_array.c) */
LLVMValueRef tj_emit_computed(tj_emitter *emitter, const tj_kernel_step *step);

#endif
