/* SPDX-License-Identifier: MIT */
/* Arithmetic of arrays in LLVM IR, of one element or of a vector of them. */
#ifndef TJ_LOWER_EMIT_ARRAY_H
#define TJ_LOWER_EMIT_ARRAY_H

#include "ir/array/array.h"
#include "lower/emit/emit.h"

/* A function of numbers of f32 or f64, or of vectors. (emit_array_function.c) */
LLVMValueRef tj_emit_array_function(tj_emitter *emitter, tj_array_op op, tj_dtype dtype, LLVMValueRef argument[]);

/* What a COMPUTE step gives its slots, as raw bits: an element, or a vector. (emit_array.c) */
LLVMValueRef tj_emit_computed(tj_emitter *emitter, const tj_kernel_step *step);

#endif
