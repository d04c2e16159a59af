/* SPDX-License-Identifier: MIT */
/* Each operation of C by those of index expressions, on what facts say of its operands. */
#include "frontend/c/c_integer.h"

#include "base/text.h"
#include "ir/index/facts.h"
#include "ir/simplify/simplify.h"

#include <string.h>

typedef struct {
  const char *name;
  unsigned bits;
  bool is_signed;
  int rank;
} row;

static const row rows[] = {
#define TYPE(name, bits, is_signed, rank, text) {text, bits, is_signed, rank},
#include "frontend/c/c_type.def"
#undef TYPE
};

const char *tj_c_kind_name(tj_c_kind kind) {
  return rows[kind].name;
}

/* The least and the greatest value; of uint64_t, the greatest that an index expression has. */
static int64_t least_of(tj_c_kind kind) {
  return !rows[kind].is_signed ? 0 : rows[kind].bits == 64 ? INT64_MIN : -(INT64_C(1) << (rows[kind].bits - 1));
}

static int64_t greatest_of(tj_c_kind kind) {
  if (rows[kind].bits == 64)
    return INT64_MAX;
  return (INT64_C(1) << (rows[kind].bits - (rows[kind].is_signed ? 1 : 0))) - 1;
}

static bool fits(const tj_node *node, tj_c_kind kind) {
  return node->facts.low >= least_of(kind) && node->facts.high <= greatest_of(kind);
}

static const tj_node *power(tj_graph *graph, unsigned bits) {
  return tj_int(graph, INT64_C(1) << bits);
}

/* --- conditions --- */

const tj_node *tj_c_both(tj_graph *graph, const tj_node *a, const tj_node *b) {
  if (tj_is_int(a, 1) || tj_is_int(b, 0))
    return b;
  return tj_is_int(b, 1) || tj_is_int(a, 0) ? a : tj_and(graph, a, b);
}

const tj_node *tj_c_either(tj_graph *graph, const tj_node *a, const tj_node *b) {
  if (tj_is_int(a, 0) || tj_is_int(b, 1))
    return b;
  return tj_is_int(b, 0) || tj_is_int(a, 1) ? a : tj_or(graph, a, b);
}

static void add_condition(tj_c_place *place, tj_c_condition condition) {
  tj_job *job = place->graph->job;
  if (place->condition_count == place->condition_capacity) {
    uint32_t capacity = 2 * place->condition_capacity + 8;
    tj_c_condition *more = TJ_NEW_ARRAY(job, tj_c_condition, capacity);
    if (place->condition_count > 0)
      memcpy(more, place->condition, place->condition_count * sizeof *more);
    place->condition = more;
    place->condition_capacity = capacity;
  }
  place->condition[place->condition_count++] = condition;
}

void tj_c_require(tj_c_place *place, const tj_node *holds, const char *otherwise) {
  tj_graph *graph = place->graph;
  const tj_node *either = tj_c_either(graph, tj_not(graph, place->reached), holds);
  if (!tj_is_int(either, 1))
    either = tj_simplified(graph, either);
  if (!tj_is_int(either, 1))
    add_condition(place, (tj_c_condition){either, graph->job->here, otherwise});
}

static const char *overflow_of(tj_job *job, tj_c_kind kind) {
  return tj_string_format(job,
                          rows[kind].is_signed ? "%s overflows" : "%s goes beyond the 63 bits that are followed here",
                          rows[kind].name);
}

static void require_fit(tj_c_place *place, const tj_node *node, tj_c_kind kind) {
  tj_graph *graph = place->graph;
  const char *overflow = overflow_of(graph->job, kind);
  if (node->facts.low < least_of(kind))
    tj_c_require(place, tj_less_equal(graph, tj_int(graph, least_of(kind)), node), overflow);
  if (node->facts.high > greatest_of(kind))
    tj_c_require(place, tj_less(graph, node, tj_add(graph, tj_int(graph, greatest_of(kind)), tj_int(graph, 1))),
                 overflow);
}

tj_c_integer tj_c_settled(tj_c_place *place, const tj_node *node, tj_c_kind kind) {
  if (!fits(node, kind))
    node = tj_simplified(place->graph, node);
  if (!fits(node, kind) && !rows[kind].is_signed && rows[kind].bits < 64)
    node = tj_mod(place->graph, node, power(place->graph, rows[kind].bits));
  else if (!fits(node, kind))
    require_fit(place, node, kind);
  return (tj_c_integer){node, kind};
}

/* --- conversions --- */

const tj_node *tj_c_truth(tj_c_place *place, tj_c_integer value) {
  if (tj_is_truth(value.node))
    return value.node;
  return tj_not(place->graph, tj_equal(place->graph, value.node, tj_int(place->graph, 0)));
}

tj_c_integer tj_c_of_truth(const tj_node *truth) {
  return (tj_c_integer){truth, TJ_C_KIND_INT32};
}

/* The value of the low bits, the highest of which counts as the sign. */
static const tj_node *signed_part(tj_graph *graph, const tj_node *node, unsigned bits) {
  const tj_node *half = power(graph, bits - 1);
  return tj_sub(graph, tj_mod(graph, tj_add(graph, node, half), power(graph, bits)), half);
}

tj_c_integer tj_c_convert(tj_c_place *place, tj_c_integer value, tj_c_kind kind) {
  if (kind == TJ_C_KIND_BOOL)
    return (tj_c_integer){tj_c_truth(place, value), kind};
  if (fits(value.node, kind) || !rows[kind].is_signed || rows[kind].bits == 64)
    return tj_c_settled(place, value.node, kind);
  value.node = tj_simplified(place->graph, value.node);
  if (!fits(value.node, kind))
    value.node = signed_part(place->graph, value.node, rows[kind].bits);
  return (tj_c_integer){value.node, kind};
}

static tj_c_kind promoted(tj_c_kind kind) {
  return rows[kind].rank < rows[TJ_C_KIND_INT32].rank ? TJ_C_KIND_INT32 : kind;
}

/* The type in which both are computed with. */
static tj_c_kind common_kind(tj_c_kind a, tj_c_kind b) {
  a = promoted(a);
  b = promoted(b);
  if (rows[a].rank != rows[b].rank)
    return rows[a].rank > rows[b].rank ? a : b;
  return rows[a].is_signed ? b : a;
}

/* --- divisions --- */

static const tj_node *negated(tj_graph *graph, const tj_node *node) {
  return tj_sub(graph, tj_int(graph, 0), node);
}

static void check_divisor(tj_graph *graph, const tj_node *divisor) {
  if (divisor->facts.low > 0 || divisor->facts.high < 0)
    return;
  tj_fail(graph->job, TJ_DIVISION_BY_ZERO,
          tj_is_int(divisor, 0) ? "a division by 0" : "the divisor may be 0, for all that is known");
}

static const tj_node *magnitude(tj_graph *graph, const tj_node *divisor) {
  return divisor->facts.low > 0 ? divisor : negated(graph, divisor);
}

/* a / b, rounded to 0, for b > 0. */
static const tj_node *quotient_of_positive(tj_graph *graph, const tj_node *a, const tj_node *b) {
  if (a->facts.low >= 0 || (tj_is_constant(b) && tj_facts_divisible(&a->facts, b->value)))
    return tj_div(graph, a, b);
  const tj_node *of_negative = negated(graph, tj_div(graph, negated(graph, a), b));
  if (a->facts.high <= 0)
    return of_negative;
  return tj_select(graph, tj_less(graph, a, tj_int(graph, 0)), of_negative, tj_div(graph, a, b));
}

static const tj_node *quotient(tj_graph *graph, const tj_node *a, const tj_node *b) {
  check_divisor(graph, b);
  const tj_node *of_magnitude = quotient_of_positive(graph, a, magnitude(graph, b));
  return b->facts.low > 0 ? of_magnitude : negated(graph, of_magnitude);
}

/* a - b * (a / b), which has the sign of a. */
static const tj_node *remainder_of(tj_graph *graph, const tj_node *a, const tj_node *b) {
  check_divisor(graph, b);
  const tj_node *by = magnitude(graph, b);
  if (a->facts.low >= 0)
    return tj_mod(graph, a, by);
  const tj_node *of_negative = negated(graph, tj_mod(graph, negated(graph, a), by));
  if (a->facts.high <= 0)
    return of_negative;
  return tj_select(graph, tj_less(graph, a, tj_int(graph, 0)), of_negative, tj_mod(graph, a, by));
}

/* --- bits --- */

/* How many bits hold 0 … high; 63 where it may be anything. */
static unsigned bits_for(int64_t high) {
  return high <= 0 ? 1 : 64 - (unsigned)__builtin_clzll((unsigned long long)high);
}

static bool masks(const tj_node *node) {
  return node->facts.low >= 0 && bits_for(node->facts.high) < 63;
}

static const tj_node *bit_operation(tj_graph *graph, tj_c_operation operation, const tj_node *a, const tj_node *b) {
  return operation == TJ_C_BIT_AND  ? tj_and(graph, a, b)
         : operation == TJ_C_BIT_OR ? tj_or(graph, a, b)
                                    : tj_xor(graph, a, b);
}

/* The low bits that the mask may have. */
static const tj_node *masked(tj_graph *graph, const tj_node *node, const tj_node *mask) {
  int64_t all = mask->facts.high;
  const tj_node *low = tj_mod(graph, node, power(graph, bits_for(all)));
  return tj_is_int(mask, all) && (all & (all + 1)) == 0 ? low : tj_and(graph, low, mask);
}

static const tj_node *bits_of(tj_graph *graph, tj_c_operation operation, const tj_node *a, const tj_node *b,
                              tj_c_kind kind) {
  if (a->facts.low >= 0 && b->facts.low >= 0)
    return bit_operation(graph, operation, a, b);
  if (operation == TJ_C_BIT_AND && masks(b))
    return masked(graph, a, b);
  if (operation == TJ_C_BIT_AND && masks(a))
    return masked(graph, b, a);
  if (rows[kind].bits == 64)
    tj_fail(graph->job, TJ_NEGATIVE_BITS, "a bit operation on int64_t that may be negative");
  const tj_node *all = power(graph, rows[kind].bits);
  const tj_node *pattern = bit_operation(graph, operation, tj_mod(graph, a, all), tj_mod(graph, b, all));
  return signed_part(graph, pattern, rows[kind].bits);
}

static tj_c_integer shift(tj_c_place *place, tj_c_operation operation, tj_c_integer a, tj_c_integer b) {
  tj_graph *graph = place->graph;
  tj_c_kind kind = promoted(a.kind);
  const tj_node *by = b.node, *bits = tj_int(graph, rows[kind].bits);
  if (by->facts.low < 0 || by->facts.high >= rows[kind].bits)
    tj_c_require(place, tj_and(graph, tj_less_equal(graph, tj_int(graph, 0), by), tj_less(graph, by, bits)),
                 "a shift by less than 0, or by more bits than there are");
  if (operation == TJ_C_SHIFT_RIGHT)
    return (tj_c_integer){tj_shr(graph, a.node, by), kind};
  const tj_node *shifted =
      a.node->facts.low >= 0 ? tj_shl(graph, a.node, by) : tj_mul(graph, a.node, tj_shl(graph, tj_int(graph, 1), by));
  return tj_c_settled(place, shifted, kind);
}

/* --- operations --- */

tj_c_integer tj_c_negate(tj_c_place *place, tj_c_integer value) {
  return tj_c_settled(place, negated(place->graph, value.node), promoted(value.kind));
}

tj_c_integer tj_c_complement(tj_c_place *place, tj_c_integer value) {
  return tj_c_settled(place, tj_sub(place->graph, tj_int(place->graph, -1), value.node), promoted(value.kind));
}

/* Of uint32_t, whose product may be beyond 63 bits: the low bits of the product by halves. */
static const tj_node *product(tj_graph *graph, const tj_node *a, const tj_node *b, tj_c_kind kind) {
  int64_t greatest;
  if (kind != TJ_C_KIND_UINT32 || !__builtin_mul_overflow(a->facts.high, b->facts.high, &greatest))
    return tj_mul(graph, a, b);
  const tj_node *half = power(graph, 16);
  const tj_node *high = tj_mod(graph, tj_mul(graph, a, tj_div(graph, b, half)), half);
  return tj_add(graph, tj_mul(graph, a, tj_mod(graph, b, half)), tj_mul(graph, high, half));
}

static const tj_node *comparison(tj_graph *graph, tj_c_operation operation, const tj_node *a, const tj_node *b) {
  switch (operation) {
  case TJ_C_LESS:
    return tj_less(graph, a, b);
  case TJ_C_GREATER:
    return tj_less(graph, b, a);
  case TJ_C_LESS_EQUAL:
    return tj_not(graph, tj_less(graph, b, a));
  case TJ_C_GREATER_EQUAL:
    return tj_not(graph, tj_less(graph, a, b));
  case TJ_C_EQUAL:
    return tj_equal(graph, a, b);
  default:
    return tj_not(graph, tj_equal(graph, a, b));
  }
}

static const tj_node *arithmetic(tj_graph *graph, tj_c_operation operation, const tj_node *a, const tj_node *b,
                                 tj_c_kind kind) {
  switch (operation) {
  case TJ_C_ADD:
    return tj_add(graph, a, b);
  case TJ_C_SUBTRACT:
    return tj_sub(graph, a, b);
  case TJ_C_MULTIPLY:
    return product(graph, a, b, kind);
  case TJ_C_DIVIDE:
    return quotient(graph, a, b);
  case TJ_C_REMAINDER:
    return remainder_of(graph, a, b);
  default:
    return bits_of(graph, operation, a, b, kind);
  }
}

tj_c_integer tj_c_compute(tj_c_place *place, tj_c_operation operation, tj_c_integer a, tj_c_integer b) {
  if (operation == TJ_C_SHIFT_LEFT || operation == TJ_C_SHIFT_RIGHT)
    return shift(place, operation, a, b);
  tj_c_kind kind = common_kind(a.kind, b.kind);
  const tj_node *left = tj_c_convert(place, a, kind).node, *right = tj_c_convert(place, b, kind).node;
  if (operation >= TJ_C_LESS && operation <= TJ_C_UNEQUAL)
    return tj_c_of_truth(comparison(place->graph, operation, left, right));
  return tj_c_settled(place, arithmetic(place->graph, operation, left, right, kind), kind);
}

tj_c_integer tj_c_choose(tj_c_place *place, const tj_node *condition, tj_c_integer a, tj_c_integer b) {
  tj_c_kind kind = a.kind == b.kind ? a.kind : common_kind(a.kind, b.kind);
  const tj_node *then = tj_c_convert(place, a, kind).node, *otherwise = tj_c_convert(place, b, kind).node;
  if (tj_is_constant(condition))
    return (tj_c_integer){condition->value != 0 ? then : otherwise, kind};
  return (tj_c_integer){then == otherwise ? then : tj_select(place->graph, condition, then, otherwise), kind};
}
