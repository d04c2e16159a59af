/* SPDX-License-Identifier: MIT */
/* Floor division and modulo, and products, in the cheapest form that facts allow.
 *
 * A power of two becomes a shift or a mask. For any other divisor >= 1, a dividend that may be negative is first made
 * non-negative, by adding a multiple of a constant divisor (the turns), or by flipping its bits where it is negative:
 * floor(n / d) = ~floor(~n / d). Then the quotient is one of: a multiplication and a shift by constants; the same by
 * magic numbers from the launch; an exact or plain unsigned division. Only a divisor that may be negative takes the
 * signed division and its correction. */
#include "lower/emit/emit.h"

#include "base/number/magic.h"
#include "ir/index/cost.h"

/* A division of n >= 0 by d >= 1, and the way back: quotient = (n / d - turns) ^ flip. */
typedef struct {
  LLVMValueRef dividend;
  LLVMValueRef flip; /* all ones where the dividend was flipped, else 0; NULL: never flipped */
  int64_t turns;
  const tj_node *node; /* DIV or MOD */
  const tj_node *divisor;
  uint64_t high;  /* the largest dividend */
  tj_width width; /* of dividend, divisor and quotient */
} floor_division;

/* An integer of the type that `like` has, as its low bits. */
static LLVMValueRef constant_like(LLVMValueRef like, uint64_t value) {
  unsigned bits = LLVMGetIntTypeWidth(LLVMTypeOf(like));
  return LLVMConstInt(LLVMTypeOf(like), bits == 64 ? value : value & (((uint64_t)1 << bits) - 1), false);
}

static bool divides_exactly(const tj_node *node) {
  return tj_is_constant(node->arg[1]) && tj_facts_divisible(&node->arg[0]->facts, node->arg[1]->value);
}

/* --- making dividends non-negative --- */

/* Adds as many divisors as make the dividend non-negative. False where that would take more bits than the division.
 */
static bool turn_dividend(tj_emitter *emitter, floor_division *division) {
  const tj_facts *facts = &division->node->arg[0]->facts;
  if (!tj_is_constant(division->divisor) || !tj_facts_bounded(facts))
    return false;
  int64_t divisor = division->divisor->value, added, high;
  int64_t turns = (int64_t)((0 - (uint64_t)facts->low - 1) / (uint64_t)divisor) + 1;
  if (__builtin_mul_overflow(turns, divisor, &added) || __builtin_add_overflow(facts->high, added, &high))
    return false;
  tj_width width = tj_width_of_range(facts->low, added > high ? added : high);
  if (width.bits > division->width.bits)
    return false;
  LLVMValueRef dividend = tj_emit_operand(emitter, division->node->arg[0], width);
  division->dividend = LLVMBuildAdd(emitter->builder, dividend, tj_emit_int(emitter, width.bits, added), "");
  tj_emit_no_wrap(division->dividend, width);
  division->turns = turns;
  division->high = (uint64_t)high;
  division->width = (tj_width){width.bits, true, true};
  return true;
}

/* Flips the bits of a negative dividend. */
static void flip_dividend(tj_emitter *emitter, floor_division *division) {
  const tj_facts *facts = &division->node->arg[0]->facts;
  LLVMValueRef dividend = tj_emit_operand(emitter, division->node->arg[0], division->width);
  LLVMValueRef sign = constant_like(dividend, division->width.bits - 1);
  division->flip = LLVMBuildAShr(emitter->builder, dividend, sign, "");
  division->dividend = LLVMBuildXor(emitter->builder, dividend, division->flip, "");
  int64_t flipped = -(facts->low + 1);
  division->high = (uint64_t)(facts->high > flipped ? facts->high : flipped);
  division->width.is_unsigned = true;
}

static floor_division prepare(tj_emitter *emitter, const tj_node *node) {
  floor_division division = {.node = node, .divisor = node->arg[1], .width = tj_width_of_operation(node)};
  if (node->arg[0]->facts.low >= 0) {
    division.dividend = tj_emit_operand(emitter, node->arg[0], division.width);
    division.high = (uint64_t)node->arg[0]->facts.high;
  } else if (!turn_dividend(emitter, &division)) {
    flip_dividend(emitter, &division);
  }
  return division;
}

/* --- quotients of non-negative dividends --- */

/* The range of a value that is being computed. */
typedef struct {
  int64_t low, high;
} interval;

static interval interval_of(const tj_node *node) {
  return (interval){node->facts.low, node->facts.high};
}

static bool fits_within(interval range, int64_t low, int64_t high) {
  return range.low >= low && range.high <= high;
}

static bool is_constant_like(LLVMValueRef value, int64_t constant) {
  return LLVMIsAConstantInt(value) != NULL && LLVMConstIntGetSExtValue(value) == constant;
}

enum { SMALL_FACTOR = 1 << 23 /* of signed ones */ };

static bool are_unsigned(interval a, interval b) {
  return fits_within(a, 0, 2 * SMALL_FACTOR - 1) && fits_within(b, 0, 2 * SMALL_FACTOR - 1);
}

/* Whether work-items have an instruction for products of values in these ranges. */
static bool is_small_product(const tj_emitter *emitter, interval a, interval b) {
  bool are_signed =
      fits_within(a, -SMALL_FACTOR, SMALL_FACTOR - 1) && fits_within(b, -SMALL_FACTOR, SMALL_FACTOR - 1);
  return emitter->target->has_cheap_small_product && emitter->level >= TJ_LEVEL_ITEM &&
         (are_signed || are_unsigned(a, b));
}

/* a * b, for values in the given ranges. */
static LLVMValueRef build_product(tj_emitter *emitter, LLVMValueRef a, interval range_a, LLVMValueRef b,
                                  interval range_b, tj_width width) {
  bool is_negation = is_constant_like(a, -1) || is_constant_like(b, -1);
  if (!is_negation && width.bits == 32 && is_small_product(emitter, range_a, range_b))
    return emitter->target->family->emit_small_product(emitter, a, b, !are_unsigned(range_a, range_b));
  LLVMValueRef product = LLVMBuildMul(emitter->builder, a, b, "");
  tj_emit_no_wrap(product, width);
  return product;
}

/* The upper half of the product of two 32-bit or two 64-bit integers. */
static LLVMValueRef build_high_product(tj_emitter *emitter, LLVMValueRef a, LLVMValueRef b) {
  LLVMTypeRef type = LLVMTypeOf(a);
  unsigned bits = LLVMGetIntTypeWidth(type);
  LLVMTypeRef twice = LLVMIntTypeInContext(emitter->context, 2 * bits);
  LLVMValueRef product = LLVMBuildNUWMul(emitter->builder, LLVMBuildZExt(emitter->builder, a, twice, ""),
                                         LLVMBuildZExt(emitter->builder, b, twice, ""), "");
  LLVMValueRef high = LLVMBuildLShr(emitter->builder, product, LLVMConstInt(twice, bits, false), "");
  return LLVMBuildTrunc(emitter->builder, high, type, "");
}

static LLVMValueRef build_shift_right(tj_emitter *emitter, LLVMValueRef value, uint32_t shift) {
  return shift == 0 ? value : LLVMBuildLShr(emitter->builder, value, constant_like(value, shift), "");
}

/* For a quotient of 0 or 1. */
static LLVMValueRef quotient_by_comparison(tj_emitter *emitter, const floor_division *division) {
  LLVMValueRef dividend = division->dividend;
  LLVMValueRef divisor = constant_like(dividend, (uint64_t)division->divisor->value);
  LLVMValueRef is_one = LLVMBuildICmp(emitter->builder, LLVMIntUGE, dividend, divisor, "");
  return LLVMBuildZExt(emitter->builder, is_one, LLVMTypeOf(dividend), "");
}

/* For a quotient of 0 or 1: n - d wraps around to more than n where n < d. */
static LLVMValueRef remainder_by_minimum(tj_emitter *emitter, const floor_division *division) {
  LLVMValueRef dividend = division->dividend;
  LLVMValueRef divisor = constant_like(dividend, (uint64_t)division->divisor->value);
  LLVMValueRef difference = LLVMBuildSub(emitter->builder, dividend, divisor, "");
  return tj_emit_binary_intrinsic(emitter, "llvm.umin", dividend, difference);
}

/* By a constant that goes into the dividend once at most. */
static bool is_once_at_most(const floor_division *division) {
  return tj_is_constant(division->divisor) && division->high / 2 < (uint64_t)division->divisor->value;
}

/* By a constant, in 32 bits; NULL where LLVM knows no worse. */
static LLVMValueRef quotient_by_constant(tj_emitter *emitter, const floor_division *division) {
  uint64_t divisor = (uint64_t)division->divisor->value;
  LLVMValueRef dividend = division->dividend;
  tj_magic magic;
  if (is_once_at_most(division))
    return quotient_by_comparison(emitter, division);
  if (division->width.bits != 32)
    return NULL;
  if (tj_magic_narrow(divisor, division->high, &magic)) {
    LLVMValueRef multiplier = constant_like(dividend, magic.multiplier);
    tj_width width = {32, false, true};
    interval dividends = {0, (int64_t)division->high};
    interval multipliers = {(int64_t)magic.multiplier, (int64_t)magic.multiplier};
    LLVMValueRef product = build_product(emitter, dividend, dividends, multiplier, multipliers, width);
    return build_shift_right(emitter, product, magic.shift);
  }
  if (!tj_magic_wide(divisor, division->high, &magic))
    return NULL;
  LLVMValueRef multiplier = constant_like(dividend, magic.multiplier);
  return build_shift_right(emitter, build_high_product(emitter, dividend, multiplier), magic.shift - 32);
}

static LLVMValueRef find_derived(const tj_emitter *emitter, tj_derived_kind kind, const tj_node *node) {
  node = tj_launched_value(emitter->kernel, node);
  for (uint32_t i = 0; i < emitter->kernel->derived_count; i++) {
    if (emitter->kernel->derived[i].kind == kind && emitter->kernel->derived[i].node == node)
      return emitter->derived[i];
  }
  return NULL;
}

/* `count` bits of a derived word from bit `first` on, as an i32. */
static LLVMValueRef field_of(tj_emitter *emitter, LLVMValueRef word, unsigned first, unsigned count) {
  LLVMValueRef shifted = LLVMBuildLShr(emitter->builder, word, constant_like(word, first), "");
  LLVMValueRef narrow = LLVMBuildTrunc(emitter->builder, shifted, emitter->i32, "");
  if (count == 32)
    return narrow;
  return LLVMBuildAnd(emitter->builder, narrow, constant_like(narrow, ((uint64_t)1 << count) - 1), "");
}

/* For dividends of 31 bits: those of neighbours have sums in common. */
static LLVMValueRef quotient_of_successor(tj_emitter *emitter, LLVMValueRef dividend, LLVMValueRef word) {
  LLVMValueRef next = LLVMBuildNUWAdd(emitter->builder, dividend, constant_like(dividend, 1), "");
  LLVMValueRef high = build_high_product(emitter, next, field_of(emitter, word, 0, 32));
  return LLVMBuildLShr(emitter->builder, high, field_of(emitter, word, 32, 32), "");
}

/* For dividends of 63 bits. */
static LLVMValueRef quotient_by_sum(tj_emitter *emitter, LLVMValueRef dividend, LLVMValueRef multiplier,
                                    LLVMValueRef shift) {
  LLVMValueRef high = build_high_product(emitter, dividend, multiplier);
  return LLVMBuildLShr(emitter->builder, LLVMBuildNUWAdd(emitter->builder, high, dividend, ""), shift, "");
}

/* For any dividend of 32 bits. */
static LLVMValueRef quotient_in_two_shifts(tj_emitter *emitter, LLVMValueRef dividend, LLVMValueRef word) {
  LLVMValueRef high = build_high_product(emitter, dividend, field_of(emitter, word, 0, 32));
  LLVMValueRef rest = LLVMBuildNUWSub(emitter->builder, dividend, high, "");
  LLVMValueRef half = LLVMBuildLShr(emitter->builder, rest, field_of(emitter, word, 32, 8), "");
  LLVMValueRef sum = LLVMBuildNUWAdd(emitter->builder, half, high, "");
  return LLVMBuildLShr(emitter->builder, sum, field_of(emitter, word, 40, 8), "");
}

/* By magic numbers that the launch computes; NULL where it does not. */
static LLVMValueRef quotient_by_magic(tj_emitter *emitter, const floor_division *division) {
  unsigned bits = tj_magic_bits(division->node);
  LLVMValueRef dividend = division->dividend;
  if (bits == 64) {
    LLVMValueRef multiplier = find_derived(emitter, TJ_DERIVED_MAGIC64, division->divisor);
    LLVMValueRef shift = find_derived(emitter, TJ_DERIVED_SHIFT64, division->divisor);
    return multiplier != NULL && shift != NULL ? quotient_by_sum(emitter, dividend, multiplier, shift) : NULL;
  }
  LLVMValueRef word = find_derived(emitter, bits == 31 ? TJ_DERIVED_MAGIC31 : TJ_DERIVED_MAGIC32, division->divisor);
  if (word == NULL)
    return NULL;
  if (bits == 32)
    return quotient_in_two_shifts(emitter, dividend, word);
  return quotient_of_successor(emitter, dividend, word);
}

/* In a form that beats LLVM's own; NULL where there is none. */
static LLVMValueRef quotient_by_product(tj_emitter *emitter, const floor_division *division) {
  return tj_is_constant(division->divisor) ? quotient_by_constant(emitter, division)
                                           : quotient_by_magic(emitter, division);
}

static LLVMValueRef quotient_of(tj_emitter *emitter, const floor_division *division) {
  LLVMValueRef divisor = tj_emit_operand(emitter, division->divisor, division->width);
  if (division->flip == NULL && divides_exactly(division->node))
    return LLVMBuildExactUDiv(emitter->builder, division->dividend, divisor, "");
  LLVMValueRef quotient = quotient_by_product(emitter, division);
  return quotient != NULL ? quotient : LLVMBuildUDiv(emitter->builder, division->dividend, divisor, "");
}

static LLVMValueRef original_quotient(tj_emitter *emitter, const floor_division *division, LLVMValueRef quotient) {
  if (division->turns != 0) {
    LLVMValueRef turns = constant_like(quotient, (uint64_t)division->turns);
    quotient = LLVMBuildNSWSub(emitter->builder, quotient, turns, "");
  }
  if (division->flip != NULL)
    quotient = LLVMBuildXor(emitter->builder, quotient, division->flip, "");
  return quotient;
}

/* --- remainders --- */

/* dividend + quotient * -divisor: for small numbers, one instruction. */
static LLVMValueRef build_rest(tj_emitter *emitter, LLVMValueRef dividend, LLVMValueRef quotient, interval quotients,
                               const tj_node *divisor, tj_width width) {
  interval divisors = interval_of(divisor), negatives = {-divisors.high, -divisors.low};
  LLVMValueRef negated = LLVMBuildNeg(emitter->builder, tj_emit_operand(emitter, divisor, width), "");
  LLVMValueRef whole = build_product(emitter, quotient, quotients, negated, negatives, width);
  LLVMValueRef rest = LLVMBuildAdd(emitter->builder, dividend, whole, "");
  tj_emit_no_wrap(rest, width);
  return rest;
}

/* Where the dividend is not negative, nothing wraps; where it is, the product may, and the rest is right all the
 * same. */
static tj_width rest_width(tj_width width, bool is_nonnegative) {
  return (tj_width){width.bits, width.is_signed && is_nonnegative, false};
}

static LLVMValueRef rest_of(tj_emitter *emitter, const floor_division *division, LLVMValueRef quotient) {
  interval quotients = {0, (int64_t)(division->high / (uint64_t)division->divisor->facts.low)};
  return build_rest(emitter, division->dividend, quotient, quotients, division->divisor,
                    rest_width(division->width, true));
}

/* By a quotient that the kernel needs anyway. */
static LLVMValueRef rest_by_node(tj_emitter *emitter, const tj_node *node, const tj_node *quotient) {
  const tj_node *all[] = {node->arg[0], node->arg[1], quotient};
  tj_width width = tj_width_of(all, 3);
  LLVMValueRef dividend = tj_emit_operand(emitter, node->arg[0], width);
  return build_rest(emitter, dividend, tj_emit_operand(emitter, quotient, width), interval_of(quotient), node->arg[1],
                    rest_width(width, node->arg[0]->facts.low >= 0));
}

/* The remainder of a flipped dividend is that of the original. */
static LLVMValueRef rest_of_flipped(tj_emitter *emitter, const floor_division *division) {
  LLVMValueRef quotient = original_quotient(emitter, division, quotient_of(emitter, division));
  LLVMValueRef dividend = tj_emit_operand(emitter, division->node->arg[0], division->width);
  interval unknown = {INT64_MIN, INT64_MAX};
  return build_rest(emitter, dividend, quotient, unknown, division->divisor, rest_width(division->width, false));
}

static LLVMValueRef remainder_of(tj_emitter *emitter, const floor_division *division) {
  if (division->flip != NULL)
    return rest_of_flipped(emitter, division);
  if (is_once_at_most(division))
    return remainder_by_minimum(emitter, division);
  LLVMValueRef quotient = quotient_by_product(emitter, division);
  if (quotient != NULL)
    return rest_of(emitter, division, quotient);
  LLVMValueRef divisor = tj_emit_operand(emitter, division->divisor, division->width);
  return LLVMBuildURem(emitter->builder, division->dividend, divisor, "");
}

/* --- divisors that may be negative --- */

/* Whether the remainder that C gives differs from the floor's: it is not 0, and has not the divisor's sign. */
static LLVMValueRef needs_correction(tj_emitter *emitter, LLVMValueRef rest, LLVMValueRef divisor) {
  LLVMValueRef zero = constant_like(rest, 0);
  LLVMValueRef has_rest = LLVMBuildICmp(emitter->builder, LLVMIntNE, rest, zero, "");
  LLVMValueRef signs = LLVMBuildXor(emitter->builder, rest, divisor, "");
  LLVMValueRef differ = LLVMBuildICmp(emitter->builder, LLVMIntSLT, signs, zero, "");
  return LLVMBuildAnd(emitter->builder, has_rest, differ, "");
}

/* Nothing but the least integer divided by -1 overflows, and facts exclude it: its quotient would not fit. */
static LLVMValueRef signed_quotient(tj_emitter *emitter, const tj_node *node) {
  tj_width width = tj_width_of_operation(node);
  LLVMValueRef dividend = tj_emit_operand(emitter, node->arg[0], width);
  LLVMValueRef divisor = tj_emit_operand(emitter, node->arg[1], width);
  LLVMValueRef quotient = LLVMBuildSDiv(emitter->builder, dividend, divisor, "");
  LLVMValueRef rest = LLVMBuildSRem(emitter->builder, dividend, divisor, "");
  LLVMValueRef correction =
      LLVMBuildSExt(emitter->builder, needs_correction(emitter, rest, divisor), LLVMTypeOf(quotient), "");
  return LLVMBuildAdd(emitter->builder, quotient, correction, "");
}

/* The remainder by -1 is that by 1, which cannot overflow. */
static LLVMValueRef signed_remainder(tj_emitter *emitter, const tj_node *node) {
  tj_width width = tj_width_of_operation(node);
  LLVMValueRef dividend = tj_emit_operand(emitter, node->arg[0], width);
  LLVMValueRef divisor = tj_emit_operand(emitter, node->arg[1], width);
  LLVMValueRef is_minus_one =
      LLVMBuildICmp(emitter->builder, LLVMIntEQ, divisor, constant_like(divisor, UINT64_MAX), "");
  LLVMValueRef safe = LLVMBuildSelect(emitter->builder, is_minus_one, constant_like(divisor, 1), divisor, "");
  LLVMValueRef rest = LLVMBuildSRem(emitter->builder, dividend, safe, "");
  LLVMValueRef corrected = LLVMBuildAdd(emitter->builder, rest, safe, "");
  return LLVMBuildSelect(emitter->builder, needs_correction(emitter, rest, safe), corrected, rest, "");
}

/* --- operations --- */

static LLVMValueRef quotient_by_power(tj_emitter *emitter, const tj_node *node, unsigned log) {
  tj_width width = tj_width_of_operation(node);
  LLVMValueRef dividend = tj_emit_operand(emitter, node->arg[0], width);
  if (log == 0)
    return dividend;
  LLVMValueRef amount = constant_like(dividend, log);
  LLVMValueRef quotient = width.is_unsigned ? LLVMBuildLShr(emitter->builder, dividend, amount, "")
                                            : LLVMBuildAShr(emitter->builder, dividend, amount, "");
  if (divides_exactly(node) && LLVMIsAInstruction(quotient) != NULL)
    LLVMSetExact(quotient, true);
  return quotient;
}

LLVMValueRef tj_emit_quotient(tj_emitter *emitter, const tj_node *node) {
  int log = tj_exponent_of(node->arg[1]);
  if (log >= 0)
    return quotient_by_power(emitter, node, (unsigned)log);
  if (node->arg[1]->facts.low < 1)
    return signed_quotient(emitter, node);
  floor_division division = prepare(emitter, node);
  return original_quotient(emitter, &division, quotient_of(emitter, &division));
}

LLVMValueRef tj_emit_remainder(tj_emitter *emitter, const tj_node *node) {
  if (tj_exponent_of(node->arg[1]) >= 0) {
    LLVMValueRef dividend = tj_emit_operand(emitter, node->arg[0], tj_width_of_operation(node));
    return LLVMBuildAnd(emitter->builder, dividend, constant_like(dividend, (uint64_t)node->arg[1]->value - 1), "");
  }
  if (node->arg[1]->facts.low < 1)
    return signed_remainder(emitter, node);
  const tj_node *quotient = tj_kernel_nodes_quotient(&emitter->nodes, node);
  if (quotient != NULL)
    return rest_by_node(emitter, node, quotient);
  floor_division division = prepare(emitter, node);
  return remainder_of(emitter, &division);
}

static LLVMValueRef product_by_power(tj_emitter *emitter, const tj_node *node, tj_width width, unsigned log) {
  LLVMValueRef factor = tj_emit_operand(emitter, node, width);
  LLVMValueRef product = LLVMBuildShl(emitter->builder, factor, constant_like(factor, log), "");
  tj_emit_no_wrap(product, width);
  return product;
}

/* Factors that a whole workgroup has, and the range of what they come to. */
enum { MOST_SHARED = 4 };
typedef struct {
  const tj_node *factor[MOST_SHARED];
  uint32_t count;
  interval range;
} shared_factors;

static bool is_shared(const tj_emitter *emitter, const tj_node *node) {
  return !tj_is_constant(node) && tj_kernel_nodes_level(&emitter->nodes, node) < TJ_LEVEL_ITEM;
}

/* Whether there is room for the factor, which is not negative where there are others. */
static bool may_share(const shared_factors *shared, const tj_node *factor) {
  const interval range = interval_of(factor);
  int64_t high;
  return shared->count == 0 || (shared->count < MOST_SHARED && shared->range.low >= 0 && range.low >= 0 &&
                                !__builtin_mul_overflow(shared->range.high, range.high, &high) && high <= INT32_MAX);
}

/* Adds it to the product. */
static void share(shared_factors *shared, const tj_node *factor) {
  const interval range = interval_of(factor);
  bool is_first = shared->count == 0;
  shared->range = is_first ? range : (interval){shared->range.low * range.low, shared->range.high * range.high};
  shared->factor[shared->count++] = factor;
}

/* Of a product, the factor that is the work-item's own, beside what its workgroup has. */
static const tj_node *own_factor(const tj_emitter *emitter, const tj_node *node, shared_factors *shared) {
  *shared = (shared_factors){.count = 0};
  while (node->op == TJ_OP_MUL) {
    const unsigned i = is_shared(emitter, node->arg[0]) ? 0 : 1;
    if (!is_shared(emitter, node->arg[i]) || !may_share(shared, node->arg[i]))
      return node;
    share(shared, node->arg[i]);
    node = node->arg[1 - i];
  }
  return node;
}

static LLVMValueRef product_of_shared(tj_emitter *emitter, const shared_factors *shared, tj_width width) {
  LLVMValueRef product = tj_emit_operand(emitter, shared->factor[0], width);
  for (uint32_t i = 1; i < shared->count; i++)
    product = LLVMBuildMul(emitter->builder, product, tj_emit_operand(emitter, shared->factor[i], width), "");
  return product;
}

/* Of several factors that the workgroup has, first what they come to, once for all work-items; NULL: it is no such
 * product. */
static LLVMValueRef product_by_shared(tj_emitter *emitter, const tj_node *node, tj_width width) {
  shared_factors shared;
  if (emitter->level < TJ_LEVEL_ITEM || width.bits != 32)
    return NULL;
  const tj_node *own = own_factor(emitter, node, &shared);
  if (shared.count < 2)
    return NULL;
  return build_product(emitter, tj_emit_operand(emitter, own, width), interval_of(own),
                       product_of_shared(emitter, &shared, (tj_width){32, true, false}), shared.range, width);
}

LLVMValueRef tj_emit_product(tj_emitter *emitter, const tj_node *node) {
  tj_width width = tj_width_of_operation(node);
  for (unsigned i = 0; i < 2; i++) {
    int log = tj_exponent_of(node->arg[i]);
    if (log >= 0)
      return product_by_power(emitter, node->arg[1 - i], width, (unsigned)log);
  }
  LLVMValueRef by_shared = product_by_shared(emitter, node, width);
  if (by_shared != NULL)
    return by_shared;
  LLVMValueRef a = tj_emit_operand(emitter, node->arg[0], width);
  LLVMValueRef b = tj_emit_operand(emitter, node->arg[1], width);
  return build_product(emitter, a, interval_of(node->arg[0]), b, interval_of(node->arg[1]), width);
}

/* A product of what a work-item has and what the workgroup has: these, and their values times 2^log. */
typedef struct {
  const tj_node *own;
  shared_factors shared;
  interval factors;
} shifted_product;

static bool find_shifted_product(const tj_emitter *emitter, const tj_node *node, unsigned log,
                                 shifted_product *product) {
  const tj_node *own = product->own = own_factor(emitter, node, &product->shared);
  if (product->shared.count == 0)
    return false;
  bool is_of_item = !tj_is_constant(own) && tj_kernel_nodes_level(&emitter->nodes, own) >= TJ_LEVEL_ITEM;
  const interval range = product->shared.range;
  if (!is_of_item || !fits_within(range, -SMALL_FACTOR, 2 * SMALL_FACTOR))
    return false;
  product->factors = (interval){range.low * (1 << log), range.high * (1 << log)};
  return is_small_product(emitter, interval_of(own), product->factors);
}

bool tj_emits_shifted_product(const tj_emitter *emitter, const tj_node *node, unsigned log) {
  shifted_product product;
  return find_shifted_product(emitter, node, log, &product);
}

LLVMValueRef tj_emit_shifted_product(tj_emitter *emitter, const tj_node *node, unsigned log) {
  const tj_width width = {32, true, false};
  shifted_product p;
  if (!find_shifted_product(emitter, node, log, &p))
    return NULL;
  LLVMValueRef factor = product_of_shared(emitter, &p.shared, width);
  factor = LLVMBuildShl(emitter->builder, factor, constant_like(factor, log), "");
  return build_product(emitter, tj_emit_operand(emitter, p.own, width), interval_of(p.own), factor, p.factors, width);
}
