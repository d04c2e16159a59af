/* SPDX-License-Identifier: MIT */
/* Expressions and numbers as LLVM IR: one struct for all of LLVM's handles, and the vocabulary in which all that is
 * emitted is written, so that LLVM's own builder calls do not spread. What work-items do with expressions and
 * numbers, lower/steps/steps.h says.
 *
 * A kernel's expressions are emitted level by level: first the nodes that depend on parameters alone, in the
 * function's entry, then those of a workgroup, then the others, each where the first step of a work-item needs it. So
 * every value dominates its uses, and facts hold wherever an expression is computed: parameters are checked at
 * launch, and work-items beyond the count never get there. Facts become LLVM facts: nuw, nsw, exact, disjoint,
 * ranges.
 *
 * Numbers are elements, or vectors of them, in types that LLVM has arithmetic for; emit_array.h has their functions.
 *
 * What is allocated lives in the job's arena or in the module; an emitter owns nothing. */
#ifndef TJ_LOWER_EMIT_H
#define TJ_LOWER_EMIT_H

#include "base/text.h"
#include "ir/index/facts.h"
#include "lower/emit/module.h"
#include "lower/kernel/kernel_nodes.h"
#include "lower/machine/width.h"

/* Of what a workgroup has to itself, and of what nobody writes. */
enum { TJ_LOCAL_ADDRESS_SPACE = 3, TJ_CONSTANT_ADDRESS_SPACE = 4 };

struct tj_intrinsic; /* emit.c */
struct tj_steps;     /* lower/steps/steps.h */

typedef struct tj_emitter {
  tj_job *job;
  tj_graph *graph;
  const tj_target *target;
  const tj_kernel *kernel;
  LLVMContextRef context;
  LLVMModuleRef module;
  LLVMBuilderRef builder;
  LLVMTypeRef i1, i8, i16, i32, i64, f16, bf16, f32, f64, b128, pointer, nothing; /* pointer: to a buffer */

  LLVMValueRef function;   /* the one being emitted */
  LLVMValueRef *parameter; /* integers for the parameters, among its arguments, */
  LLVMValueRef *derived;   /* and for the derived words */
  tj_kernel_nodes nodes;
  LLVMValueRef *value;    /* by position in the walk: an i1 for truths, an i32, or an i64; NULL: not emitted, or a
                             constant */
  tj_level level;         /* of what is being emitted */
  bool has_short_nans;    /* the lower halves of NaNs in f32 are 0 */
  LLVMValueRef infinity;  /* an f32 that the optimizer knows nothing of; NULL: none yet */
  bool is_selected_whole; /* by GlobalISel (llvm/passes.h) */
  struct tj_intrinsic *intrinsic; /* those that are declared */
  struct tj_steps *steps;         /* what steps have; NULL: there are none, or the function has not begun */
} tj_emitter;

/* An emitter for a module that has a context and a builder. TJ4006 where an expression may not fit in 64 bits, TJ7003
 * where there are too many operations. (emitter.c) */
void tj_emitter_init(tj_emitter *emitter, tj_graph *graph, tj_module *module, const tj_kernel *kernel,
                     const tj_target *target);

/* --- functions by themselves (emit_bitcode.c) --- */

/* Adds a function of LLVM for each of the function's results. */
void tj_emit_index_functions(tj_graph *graph, tj_module *module, const tj_function *function,
                             const tj_target *target);

/* --- attributes (emit.c) --- */

/* An attribute of the function's argument index - 1. */
void tj_emit_flag_attribute(tj_emitter *emitter, LLVMValueRef function, LLVMAttributeIndex index, const char *name,
                            uint64_t value);
/* It is in low … end-1, modulo 2^bits. */
void tj_emit_range_attribute(tj_emitter *emitter, LLVMValueRef function, LLVMAttributeIndex index, unsigned bits,
                             uint64_t low, uint64_t end);
void tj_emit_function_flag(tj_emitter *emitter, LLVMValueRef function, const char *name);
void tj_emit_text_attribute(tj_emitter *emitter, LLVMValueRef function, const char *name, const char *value);
/* One of an argument, as above. */
void tj_emit_argument_attribute(tj_emitter *emitter, LLVMValueRef function, LLVMAttributeIndex index,
                                const char *name);
/* It is among what the facts say: low … high, as an integer of so many bits. */
void tj_emit_facts_attribute(tj_emitter *emitter, LLVMValueRef function, LLVMAttributeIndex index, unsigned bits,
                             const tj_facts *facts);
/* The function's argument index - 1 points to memory that the caller has, of a type, which nobody writes. */
void tj_emit_memory_attribute(tj_emitter *emitter, LLVMValueRef function, LLVMAttributeIndex index,
                              LLVMTypeRef memory);
/* The function's argument index - 1 is a value of a type, which lies in memory and which nobody writes. */
void tj_emit_value_attribute(tj_emitter *emitter, LLVMValueRef function, LLVMAttributeIndex index, LLVMTypeRef value);
/* A node of such parts that says something of an instruction. */
void tj_emit_metadata(tj_emitter *emitter, LLVMValueRef instruction, const char *name, LLVMMetadataRef parts[],
                      unsigned count);
/* What is loaded is among what the facts say; NULL: anything. */
void tj_emit_known_load(tj_emitter *emitter, LLVMValueRef load, const tj_facts *facts);
/* Has a store bypass the caches, which wait for whole lines. */
void tj_emit_streamed(tj_emitter *emitter, LLVMValueRef store);
/* The value of a call is in low … end-1. */
void tj_emit_call_range(tj_emitter *emitter, LLVMValueRef call, unsigned bits, uint64_t low, uint64_t end);
void tj_emit_module_flag(tj_emitter *emitter, const char *name, uint32_t value);
LLVMValueRef tj_emit_intrinsic(tj_emitter *emitter, const char *name, LLVMTypeRef overloads[],
                               unsigned overload_count, LLVMValueRef arguments[], unsigned argument_count);
/* One that is overloaded by the type of its first argument. */
LLVMValueRef tj_emit_typed_intrinsic(tj_emitter *emitter, const char *name, LLVMValueRef arguments[],
                                     unsigned argument_count);

/* --- blocks (emit.c) --- */

/* A new one at the end of the function. */
LLVMBasicBlockRef tj_emit_block(tj_emitter *emitter, const char *name);

/* --- integers (emit.c) --- */

LLVMTypeRef tj_emit_int_type(const tj_emitter *emitter, unsigned bits);
LLVMValueRef tj_emit_int(tj_emitter *emitter, unsigned bits, int64_t value);
/* Sets nuw and nsw on an addition, a multiplication or a shift of integers of that width. */
void tj_emit_no_wrap(LLVMValueRef instruction, tj_width width);
/* An integer of whose bits LLVM's optimizer knows nothing; for instruction selection it is the value itself. */
LLVMValueRef tj_emit_opaque(tj_emitter *emitter, LLVMValueRef value);

/* A value that is not negative as a type at least as wide. */
LLVMValueRef tj_emit_extended(tj_emitter *emitter, LLVMValueRef value, LLVMTypeRef type);
LLVMValueRef tj_emit_binary_intrinsic(tj_emitter *emitter, const char *name, LLVMValueRef a, LLVMValueRef b);

/* --- nodes (emit_node.c) --- */

/* Emits what depends on parameters alone. */
void tj_emit_launch_nodes(tj_emitter *emitter);
/* Emits what depends on them and the workgroup, whose number's type is that of its symbol's facts. */
void tj_emit_workgroup_nodes(tj_emitter *emitter, LLVMValueRef workgroup);
/* From here on, `symbol`, which tells work-items apart, has this value, and what depends on it has none yet. */
void tj_emit_begin_item_nodes(tj_emitter *emitter, const tj_node *symbol, LLVMValueRef value);
/* Emits all that a trip of the work-item's loop shares with the others, but for what is looked up later. */
void tj_emit_item_nodes(tj_emitter *emitter);
/* From here on, a symbol that changes from trip to trip has this value. */
void tj_emit_carried(tj_emitter *emitter, const tj_node *symbol, LLVMValueRef value);
/* From here on, `symbol`, which a step of the work-item looks up, has this value. */
void tj_emit_looked_up(tj_emitter *emitter, const tj_node *symbol, LLVMValueRef value);
/* Emits what is marked, by position, and has no value yet. */
void tj_emit_marked_nodes(tj_emitter *emitter, const bool *mark);
/* The value of a node as an integer of `width`, which its facts must fit. */
LLVMValueRef tj_emit_operand(tj_emitter *emitter, const tj_node *node, tj_width width);
/* The value of a truth as an i1. */
LLVMValueRef tj_emit_truth(tj_emitter *emitter, const tj_node *node);

/* --- ranges (emit_range.c) --- */

/* Whether a conjunction of two truths is one comparison: that a value is above something that is the same for a
 * workgroup, and below something. */
bool tj_emits_range(const tj_emitter *emitter, const tj_node *node);
/* That comparison, as an i1; NULL: it is none. */
LLVMValueRef tj_emit_range(tj_emitter *emitter, const tj_node *node);

/* --- sums (emit_sum.c) --- */

LLVMValueRef tj_emit_sum(tj_emitter *emitter, const tj_node *node);

/* --- divisions (emit_divide.c) --- */

LLVMValueRef tj_emit_quotient(tj_emitter *emitter, const tj_node *node);
LLVMValueRef tj_emit_remainder(tj_emitter *emitter, const tj_node *node);
/* a * b, as cheap as facts and target allow. */
LLVMValueRef tj_emit_product(tj_emitter *emitter, const tj_node *node);
/* Whether the same times 2^log is one cheap instruction, because one factor is a workgroup's, and the other is not;
 * that, or NULL. */
bool tj_emits_shifted_product(const tj_emitter *emitter, const tj_node *node, unsigned log);
LLVMValueRef tj_emit_shifted_product(tj_emitter *emitter, const tj_node *node, unsigned log);

/* --- conversions (convert.c, small_float.c, float8.c) --- */

LLVMTypeRef tj_emit_dtype(tj_emitter *emitter, tj_dtype dtype);
/* The type of such elements as numbers: small floats are f32 (tj_dtype_is_small_float). */
LLVMTypeRef tj_emit_number_type(tj_emitter *emitter, tj_dtype dtype);
/* Elements, one or a vector of them, from raw bits to numbers, and back: small floats are rounded to the nearest,
 * ties to even, and saturate. */
LLVMValueRef tj_emit_numbers(tj_emitter *emitter, LLVMValueRef bits, tj_dtype dtype);
LLVMValueRef tj_emit_number_bits(tj_emitter *emitter, LLVMValueRef numbers, tj_dtype dtype);
/* Whether the target has conversions of its own from a small float, or to one (float8.c), and these. */
bool tj_emit_reads_float8(const tj_emitter *emitter, tj_dtype dtype);
bool tj_emit_writes_float8(const tj_emitter *emitter, tj_dtype dtype);
LLVMValueRef tj_emit_read_float8(tj_emitter *emitter, LLVMValueRef codes, tj_dtype dtype);
LLVMValueRef tj_emit_write_float8(tj_emitter *emitter, LLVMValueRef values, tj_dtype dtype);
/* Conversion of a number: integers to integers keep the low bits; floats to integers round to zero and saturate, NaN
 * to 0; anything to floats rounds to nearest, ties to even, small floats when they become bits. */
LLVMValueRef tj_emit_converted(tj_emitter *emitter, LLVMValueRef number, tj_dtype from, tj_dtype to);
/* f32 of an even number of bf16, as halves of words, of which the optimizer makes no arithmetic in bf16. */
LLVMValueRef tj_emit_floats_of_words(tj_emitter *emitter, LLVMValueRef value);
/* The bits of the integer `value` as an element, rounded, or cut off, where it does not fit. */
LLVMValueRef tj_emit_element(tj_emitter *emitter, int64_t value, tj_dtype dtype);

/* --- numbers of which LLVM knows nothing (hidden.c) --- */

/* A number of which it does not know the value, from an integer of its bits: for some that it knows, LLVM 22 gets
 * products and sums in f32 wrong that become halves, in the signs of zeros, and of bf16 in more. */
LLVMValueRef tj_emit_hidden(tj_emitter *emitter, LLVMValueRef bits, tj_dtype dtype);

/* --- vectors (emit_vector.c) --- */

/* The lanes of a vector; 1 of an element. */
uint32_t tj_emit_width(LLVMValueRef value);
/* The type of elements, or a vector of as many as `value` has; a constant as often. */
LLVMTypeRef tj_emit_like(LLVMValueRef value, LLVMTypeRef element);
LLVMValueRef tj_emit_splat(LLVMValueRef like, LLVMValueRef constant);
/* A vector of so many lanes that all have the number; of one lane, the number. */
LLVMValueRef tj_emit_repeated(tj_emitter *emitter, LLVMValueRef number, uint32_t width);
/* An element of a vector of `width`; and the vector with another in its place. */
LLVMValueRef tj_emit_element_at(tj_emitter *emitter, LLVMValueRef vector, uint32_t width, uint32_t lane);
LLVMValueRef tj_emit_with_element(tj_emitter *emitter, LLVMValueRef vector, LLVMValueRef element, uint32_t lane);

#endif
