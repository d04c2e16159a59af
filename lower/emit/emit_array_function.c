/* SPDX-License-Identifier: MIT */
/* Operations of arrays as instructions, of which the recipes of ir/array/array_recipe.h make functions. */
#include "lower/emit/emit_array.h"

typedef const tj_emit_machine machine;

static LLVMValueRef value_of(tj_term term) {
  return (LLVMValueRef)(void *)term;
}

static tj_term term_of(LLVMValueRef value) {
  return (tj_term)(void *)value;
}

/* --- constants --- */

/* In the shape that all have, which may be of more lanes than a processor's vectors. */
static tj_term splat(machine *m, LLVMValueRef one) {
  LLVMTypeRef type = LLVMTypeOf(m->like);
  if (LLVMGetTypeKind(type) != LLVMVectorTypeKind)
    return term_of(one);
  unsigned size = LLVMGetVectorSize(type);
  tj_arena_mark mark = tj_arena_here(&m->emitter->job->arena);
  LLVMValueRef *all = TJ_NEW_ARRAY(m->emitter->job, LLVMValueRef, size);
  for (unsigned i = 0; i < size; i++)
    all[i] = one;
  LLVMValueRef vector = LLVMConstVector(all, size);
  tj_arena_reset(&m->emitter->job->arena, mark);
  return term_of(vector);
}

static tj_term real(const tj_array_machine *base, double value) {
  machine *m = (machine *)base;
  return splat(m, LLVMConstReal(m->element, value));
}

static tj_term integer(const tj_array_machine *base, uint64_t value) {
  machine *m = (machine *)base;
  return splat(m, LLVMConstInt(m->integer, value, true));
}

/* --- operations --- */

static LLVMValueRef call(machine *m, const char *name, const tj_term operand[], unsigned count) {
  LLVMValueRef argument[TJ_OPERATION_MOST_OPERANDS];
  for (unsigned i = 0; i < count; i++)
    argument[i] = value_of(operand[i]);
  return tj_emit_typed_intrinsic(m->emitter, name, argument, count);
}

static LLVMValueRef scaled(machine *m, LLVMValueRef number, LLVMValueRef exponent) {
  LLVMTypeRef word = tj_emit_like(m->like, m->emitter->i32), overload[] = {LLVMTypeOf(number), word};
  LLVMValueRef argument[] = {number, LLVMBuildTrunc(m->emitter->builder, exponent, word, "")};
  return tj_emit_intrinsic(m->emitter, "llvm.ldexp", overload, 2, argument, 2);
}

static LLVMRealPredicate predicate_of(tj_array_operation operation) {
  switch (operation) {
  case TJ_OPERATION_LT:
    return LLVMRealOLT;
  case TJ_OPERATION_LE:
    return LLVMRealOLE;
  case TJ_OPERATION_GT:
    return LLVMRealOGT;
  case TJ_OPERATION_GE:
    return LLVMRealOGE;
  case TJ_OPERATION_EQ:
    return LLVMRealOEQ;
  case TJ_OPERATION_NE:
    return LLVMRealUNE;
  case TJ_OPERATION_NOT_GE:
    return LLVMRealULT;
  default:
    return LLVMRealORD;
  }
}

/* Of a constant, the sum with the other sign, of which machines that take two numbers at once take two. */
static LLVMValueRef difference(machine *m, LLVMValueRef x, LLVMValueRef y) {
  LLVMBuilderRef b = m->emitter->builder;
  return LLVMIsConstant(y) ? LLVMBuildFAdd(b, x, LLVMBuildFNeg(b, y, ""), "") : LLVMBuildFSub(b, x, y, "");
}

static LLVMValueRef emit_on_reals(machine *m, tj_array_operation operation, const tj_term operand[]) {
  LLVMBuilderRef b = m->emitter->builder;
  LLVMValueRef x = value_of(operand[0]);
  switch (operation) {
  case TJ_OPERATION_ADD:
    return LLVMBuildFAdd(b, x, value_of(operand[1]), "");
  case TJ_OPERATION_SUB:
    return difference(m, x, value_of(operand[1]));
  case TJ_OPERATION_MUL:
    return LLVMBuildFMul(b, x, value_of(operand[1]), "");
  case TJ_OPERATION_DIV:
    return LLVMBuildFDiv(b, x, value_of(operand[1]), "");
  case TJ_OPERATION_NEG:
    return LLVMBuildFNeg(b, x, "");
  case TJ_OPERATION_FMA:
    return call(m, "llvm.fma", operand, 3);
  case TJ_OPERATION_ABS:
    return call(m, "llvm.fabs", operand, 1);
  case TJ_OPERATION_COPYSIGN:
    return call(m, "llvm.copysign", operand, 2);
  case TJ_OPERATION_MINIMUM:
    return call(m, "llvm.minimum", operand, 2);
  case TJ_OPERATION_MAXIMUM:
    return call(m, "llvm.maximum", operand, 2);
  case TJ_OPERATION_FLOOR:
    return call(m, "llvm.floor", operand, 1);
  case TJ_OPERATION_ROUND:
    return call(m, "llvm.roundeven", operand, 1);
  case TJ_OPERATION_SQRT:
    return call(m, "llvm.sqrt", operand, 1);
  case TJ_OPERATION_SCALE:
    return scaled(m, x, value_of(operand[1]));
  case TJ_OPERATION_BITS:
    return LLVMBuildBitCast(b, x, tj_emit_like(m->like, m->integer), "");
  case TJ_OPERATION_CHOOSE:
    return LLVMBuildSelect(b, x, value_of(operand[1]), value_of(operand[2]), "");
  default:
    return LLVMBuildFCmp(b, predicate_of(operation), x, value_of(operand[1]), "");
  }
}

/* NULL: it is one of reals. */
static LLVMValueRef emit_on_integers(machine *m, tj_array_operation operation, const tj_term operand[]) {
  LLVMBuilderRef b = m->emitter->builder;
  LLVMValueRef x = value_of(operand[0]);
  LLVMTypeRef reals = tj_emit_like(m->like, m->element);
  switch (operation) {
  case TJ_OPERATION_OF_BITS:
    return LLVMBuildBitCast(b, x, reals, "");
  case TJ_OPERATION_OF_SIGNED:
    return LLVMBuildSIToFP(b, x, reals, "");
  case TJ_OPERATION_OF_UNSIGNED:
    return LLVMBuildUIToFP(b, x, reals, "");
  case TJ_OPERATION_INTEGER_ADD:
    return LLVMBuildAdd(b, x, value_of(operand[1]), "");
  case TJ_OPERATION_INTEGER_SUB:
    return LLVMBuildSub(b, x, value_of(operand[1]), "");
  case TJ_OPERATION_SHIFT_LEFT:
    return LLVMBuildShl(b, x, value_of(operand[1]), "");
  case TJ_OPERATION_SHIFT_RIGHT:
    return LLVMBuildLShr(b, x, value_of(operand[1]), "");
  case TJ_OPERATION_SIGNED_SHIFT:
    return LLVMBuildAShr(b, x, value_of(operand[1]), "");
  case TJ_OPERATION_AND:
    return LLVMBuildAnd(b, x, value_of(operand[1]), "");
  case TJ_OPERATION_OR:
    return LLVMBuildOr(b, x, value_of(operand[1]), "");
  case TJ_OPERATION_INTEGER_MIN:
    return tj_emit_binary_intrinsic(m->emitter, "llvm.umin", x, value_of(operand[1]));
  case TJ_OPERATION_INTEGER_LT:
    return LLVMBuildICmp(b, LLVMIntULT, x, value_of(operand[1]), "");
  case TJ_OPERATION_INTEGER_GT:
    return LLVMBuildICmp(b, LLVMIntUGT, x, value_of(operand[1]), "");
  case TJ_OPERATION_INTEGER_EQ:
    return LLVMBuildICmp(b, LLVMIntEQ, x, value_of(operand[1]), "");
  case TJ_OPERATION_INTEGER_NEGATIVE:
    return LLVMBuildICmp(b, LLVMIntSLT, x, LLVMConstNull(LLVMTypeOf(x)), "");
  default:
    return NULL;
  }
}

static tj_term apply_at_once(machine *m, tj_array_operation operation, const tj_term operand[]) {
  LLVMValueRef made = emit_on_integers(m, operation, operand);
  return term_of(made != NULL ? made : emit_on_reals(m, operation, operand));
}

/* How many lanes an instruction takes, of a target that says so. */
static uint32_t lanes_of(machine *m, tj_array_operation operation) {
  switch (operation) {
  case TJ_OPERATION_ADD:
  case TJ_OPERATION_SUB:
  case TJ_OPERATION_MUL:
  case TJ_OPERATION_NEG:
  case TJ_OPERATION_FMA:
    return m->machine.is_double ? 1 : tj_emit_float_lanes(m->emitter);
  default:
    return 1;
  }
}

static tj_term apply_in_parts(machine *m, tj_array_operation operation, const tj_term operand[], uint32_t width,
                              uint32_t lanes) {
  LLVMValueRef all = NULL;
  tj_emit_machine of_part = *m;
  of_part.like = LLVMConstNull(lanes > 1 ? LLVMVectorType(m->element, lanes) : m->element);
  for (uint32_t lane = 0; lane < width; lane += lanes) {
    tj_term part[TJ_OPERATION_MOST_OPERANDS];
    for (uint32_t i = 0; i < tj_operation_arity(operation); i++)
      part[i] = term_of(tj_emit_part(m->emitter, value_of(operand[i]), lane, lanes));
    LLVMValueRef made = value_of(apply_at_once(&of_part, operation, part));
    all = tj_emit_with_part(m->emitter, all, width, made, lane);
  }
  return term_of(all);
}

static tj_term apply(const tj_array_machine *base, tj_array_operation operation, const tj_term operand[]) {
  machine *m = (machine *)base;
  uint32_t width = tj_emit_width(m->like);
  uint32_t lanes = lanes_of(m, operation);
  if (!tj_emit_has_parts(m->emitter, width, lanes))
    return apply_at_once(m, operation, operand);
  return apply_in_parts(m, operation, operand, width, lanes);
}

tj_emit_machine tj_emit_machine_of(tj_emitter *emitter, tj_dtype dtype, LLVMValueRef like) {
  bool is_double = dtype == TJ_DTYPE_f64;
  return (tj_emit_machine){.machine = {.is_double = is_double,
                                       .has_extremes = emitter->target->has_extremes,
                                       .has_scaling = emitter->target->has_float_scaling,
                                       .real = real,
                                       .integer = integer,
                                       .apply = apply},
                           .emitter = emitter,
                           .element = is_double ? emitter->f64 : emitter->f32,
                           .integer = is_double ? emitter->i64 : emitter->i32,
                           .like = like};
}

/* --- functions of some targets --- */

static LLVMValueRef extreme(tj_emitter *emitter, LLVMValueRef argument[]) {
  return tj_emit_typed_intrinsic(emitter, "llvm.maximum", argument, 2);
}

/* The larger of two that are -infinity or have no sign, NaN where one is: as their bits compare. */
static LLVMValueRef farther(tj_emitter *emitter, tj_dtype dtype, LLVMValueRef argument[]) {
  if (emitter->target->has_extremes || dtype == TJ_DTYPE_f64)
    return extreme(emitter, argument);
  LLVMTypeRef words = tj_emit_like(argument[0], emitter->i32);
  LLVMValueRef one = LLVMBuildBitCast(emitter->builder, argument[0], words, "");
  LLVMValueRef other = LLVMBuildBitCast(emitter->builder, argument[1], words, "");
  LLVMValueRef larger = tj_emit_binary_intrinsic(emitter, "llvm.smax", one, other);
  return LLVMBuildBitCast(emitter->builder, larger, LLVMTypeOf(argument[0]), "");
}

/* The larger of two, where it does not matter whether NaN is left out. */
static LLVMValueRef larger(tj_emitter *emitter, tj_dtype dtype, LLVMValueRef argument[]) {
  LLVMValueRef (*emit_larger)(tj_emitter *, LLVMValueRef, LLVMValueRef) = emitter->target->family->emit_larger;
  if (emit_larger == NULL || emitter->target->has_extremes || dtype == TJ_DTYPE_f64)
    return extreme(emitter, argument);
  uint32_t width = tj_emit_width(argument[0]);
  LLVMValueRef all = LLVMGetPoison(LLVMTypeOf(argument[0]));
  for (uint32_t lane = 0; lane < width; lane++) {
    LLVMValueRef one = tj_emit_part(emitter, argument[0], lane, 1);
    LLVMValueRef other = tj_emit_part(emitter, argument[1], lane, 1);
    all = tj_emit_with_element(emitter, all, emit_larger(emitter, one, other), lane);
  }
  return all;
}

static LLVMValueRef integer_fma(tj_emitter *emitter, LLVMValueRef argument[]) {
  LLVMValueRef product = LLVMBuildMul(emitter->builder, argument[0], argument[1], "");
  return LLVMBuildAdd(emitter->builder, product, argument[2], "");
}

/* --- all --- */

LLVMValueRef tj_emit_operation(tj_emitter *emitter, tj_array_operation operation, tj_dtype dtype,
                               LLVMValueRef const operand[]) {
  tj_emit_machine m = tj_emit_machine_of(emitter, dtype, operand[0]);
  tj_term term[TJ_OPERATION_MOST_OPERANDS];
  for (uint32_t i = 0; i < tj_operation_arity(operation); i++)
    term[i] = term_of(operand[i]);
  return value_of(m.machine.apply(&m.machine, operation, term));
}

LLVMValueRef tj_emit_recipe(tj_emitter *emitter, tj_term (*recipe)(const tj_array_machine *machine, tj_term x),
                            tj_dtype dtype, LLVMValueRef x) {
  tj_emit_machine m = tj_emit_machine_of(emitter, dtype, x);
  return value_of(recipe(&m.machine, term_of(x)));
}

LLVMValueRef tj_emit_array_function(tj_emitter *emitter, tj_array_op op, tj_dtype dtype, LLVMValueRef argument[]) {
  if (op == TJ_ARRAY_LARGER)
    return larger(emitter, dtype, argument);
  if (op == TJ_ARRAY_FARTHER)
    return farther(emitter, dtype, argument);
  if (op == TJ_ARRAY_FMA && tj_dtype_class_of(dtype) != TJ_CLASS_FLOAT)
    return integer_fma(emitter, argument);
  tj_emit_machine m = tj_emit_machine_of(emitter, dtype, argument[0]);
  tj_term operand[TJ_ARRAY_MOST_ARGUMENTS];
  uint32_t arity = tj_array_arity(op);
  for (uint32_t i = 0; i < arity; i++)
    operand[i] = term_of(argument[i]);
  return value_of(tj_array_recipe(&m.machine, op, operand));
}
