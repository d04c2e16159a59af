/* SPDX-License-Identifier: MIT */
/* Facts: intervals, congruences and known bits of integers, and how each operation combines them.
 *
 * Everything here works on the three facts of a value and nothing else: symbolic bounds are prove.c's part. Bounds
 * are computed in 128 bits, where every product of two finite bounds fits, and saturate to "unbounded" when stored.
 * A congruence is computed with modulus 0 for a value that is known exactly. After each operation settle() lets
 * the three facts sharpen each other. */
#include "ir/index/facts.h"

#include "base/integer.h"
#include "base/number/power.h"

typedef __int128 wide;

#define INFINITE ((wide)1 << 126)

static const tj_facts anything = {INT64_MIN, INT64_MAX, 1, 0, 0, 0};

/* --- intervals --- */

typedef struct {
  wide low, high;
} interval;

static wide clamp(wide value) {
  return value > INT64_MAX ? INFINITE : value < INT64_MIN ? -INFINITE : value;
}

static interval interval_of(const tj_facts *facts) {
  return (interval){facts->low == INT64_MIN ? -INFINITE : facts->low,
                    facts->high == INT64_MAX ? INFINITE : facts->high};
}

static int64_t saturated(wide value) {
  return value >= INT64_MAX ? INT64_MAX : value <= INT64_MIN ? INT64_MIN : (int64_t)value;
}

static bool is_infinite(wide value) {
  return value >= INFINITE || value <= -INFINITE;
}

static wide wide_min(wide a, wide b) {
  return a < b ? a : b;
}

static wide wide_max(wide a, wide b) {
  return a > b ? a : b;
}

static wide sum_bound(wide a, wide b) {
  return is_infinite(a) ? a : is_infinite(b) ? b : clamp(a + b);
}

static wide product_bound(wide a, wide b) {
  if (a == 0 || b == 0)
    return 0;
  if (is_infinite(a) || is_infinite(b))
    return (a < 0) == (b < 0) ? INFINITE : -INFINITE;
  return clamp(a * b);
}

static bool is_narrow(wide value) {
  return value == (int64_t)value;
}

static wide floor_quotient(wide a, wide b) {
  if (is_narrow(a) && is_narrow(b) && b > 0)
    return (int64_t)a / (int64_t)b - ((int64_t)a % (int64_t)b < 0);
  wide quotient = a / b;
  return quotient - (a % b != 0 && (a < 0) != (b < 0));
}

/* The limit of floor(a / b) at a corner of the arguments' ranges; b is not 0. */
static wide quotient_bound(wide a, wide b) {
  if (is_infinite(b))
    return a == 0 || (a < 0) == (b < 0) ? 0 : -1;
  if (is_infinite(a))
    return (a < 0) == (b < 0) ? INFINITE : -INFINITE;
  return clamp(floor_quotient(a, b));
}

static interval hull(interval a, interval b) {
  return (interval){wide_min(a.low, b.low), wide_max(a.high, b.high)};
}

/* The range of an operation that is monotone in each argument: the hull of its values at the corners. */
static interval corners(interval a, interval b, wide (*bound)(wide, wide)) {
  wide at[4] = {bound(a.low, b.low), bound(a.low, b.high), bound(a.high, b.low), bound(a.high, b.high)};
  return (interval){wide_min(wide_min(at[0], at[1]), wide_min(at[2], at[3])),
                    wide_max(wide_max(at[0], at[1]), wide_max(at[2], at[3]))};
}

static interval quotient_interval(interval a, interval b) {
  interval negative = {b.low, wide_min(b.high, -1)}, positive = {wide_max(b.low, 1), b.high};
  if (negative.low > negative.high)
    return positive.low > positive.high ? (interval){-INFINITE, INFINITE} : corners(a, positive, quotient_bound);
  interval below = corners(a, negative, quotient_bound);
  return positive.low > positive.high ? below : hull(below, corners(a, positive, quotient_bound));
}

static interval remainder_by_constant(interval a, wide divisor) {
  if (!is_infinite(a.low) && !is_infinite(a.high) &&
      floor_quotient(a.low, divisor) == floor_quotient(a.high, divisor)) {
    wide base = floor_quotient(a.low, divisor) * divisor;
    return (interval){a.low - base, a.high - base};
  }
  return (interval){0, divisor - 1};
}

static interval remainder_interval(interval a, interval b) {
  if (b.low >= 1) {
    if (b.low == b.high)
      return remainder_by_constant(a, b.low);
    if (a.low >= 0 && a.high < b.low)
      return a;
    return (interval){0, a.low >= 0 ? wide_min(a.high, sum_bound(b.high, -1)) : sum_bound(b.high, -1)};
  }
  return (interval){wide_min(0, sum_bound(b.low, 1)), wide_max(0, sum_bound(b.high, -1))};
}

/* 2^n - 1 >= value: the most that bits up to the highest one of `value` can make. */
static wide filled(wide value) {
  if (is_infinite(value) || value >= INT64_MAX)
    return INFINITE;
  if (value <= 0)
    return 0;
  return (wide)(UINT64_MAX >> __builtin_clzll((unsigned long long)value));
}

static interval shift_interval(interval b) {
  return (interval){wide_max(0, wide_min(b.low, 62)), wide_max(0, wide_min(b.high, 62))};
}

static interval power_interval(interval b) {
  interval shift = shift_interval(b);
  return (interval){(wide)1 << shift.low, (wide)1 << shift.high};
}

static interval less_interval(interval a, interval b) {
  return (interval){!is_infinite(a.high) && a.high < b.low,
                    is_infinite(a.low) || is_infinite(b.high) || a.low < b.high};
}

static interval interval_of_operation(tj_op op, const tj_facts *const args[]) {
  interval a = interval_of(args[0]), b = interval_of(args[1]);
  switch (op) {
  case TJ_OP_ADD:
    return (interval){sum_bound(a.low, b.low), sum_bound(a.high, b.high)};
  case TJ_OP_MUL:
    return corners(a, b, product_bound);
  case TJ_OP_DIV:
    return quotient_interval(a, b);
  case TJ_OP_MOD:
    return remainder_interval(a, b);
  case TJ_OP_MIN:
    return (interval){wide_min(a.low, b.low), wide_min(a.high, b.high)};
  case TJ_OP_MAX:
    return (interval){wide_max(a.low, b.low), wide_max(a.high, b.high)};
  case TJ_OP_AND:
    return (interval){0, wide_min(a.high, b.high)};
  case TJ_OP_OR:
    return (interval){wide_max(0, wide_max(a.low, b.low)), filled(wide_max(a.high, b.high))};
  case TJ_OP_XOR:
    return (interval){0, filled(wide_max(a.high, b.high))};
  case TJ_OP_SHL:
    return corners(a, power_interval(b), product_bound);
  case TJ_OP_SHR:
    return corners(a, power_interval(b), quotient_bound);
  case TJ_OP_LESS:
    return less_interval(a, b);
  case TJ_OP_EQUAL:
    return (interval){a.low == a.high && b.low == b.high && a.low == b.low && !is_infinite(a.low),
                      a.low <= b.high && b.low <= a.high};
  case TJ_OP_SELECT:
    if (args[0]->low == args[0]->high)
      return interval_of(args[args[0]->low == 0 ? 2 : 1]);
    return hull(b, interval_of(args[2]));
  case TJ_OP_CONSTANT:
  case TJ_OP_SYMBOL:
  case TJ_OP_COUNT:
    break;
  }
  return (interval){-INFINITE, INFINITE};
}

/* --- congruences --- */

/* value ≡ residue (mod modulus); modulus 0: the value is the residue. */
typedef struct {
  int64_t modulus, residue;
} congruence;

static unsigned __int128 wide_gcd(unsigned __int128 a, unsigned __int128 b) {
  while (b > UINT64_MAX) {
    unsigned __int128 rest = a % b;
    a = b;
    b = rest;
  }
  if (b == 0)
    return a;
  return tj_gcd((uint64_t)b, (uint64_t)(a <= UINT64_MAX ? (uint64_t)a % (uint64_t)b : a % b));
}

static bool is_single(const tj_facts *facts) {
  return facts->low == facts->high && facts->low != INT64_MIN && facts->high != INT64_MAX;
}

static congruence congruence_of(const tj_facts *facts) {
  return is_single(facts) ? (congruence){0, facts->low} : (congruence){facts->modulus, facts->residue};
}

static congruence no_congruence(void) {
  return (congruence){1, 0};
}

/* The largest modulus up to 63 bits that divides `modulus`, found by taking out factors of two. */
static congruence reduced(unsigned __int128 modulus, wide residue) {
  if (modulus == 1)
    return no_congruence();
  while (modulus > INT64_MAX)
    if (modulus % 2 == 0)
      modulus /= 2;
    else
      return no_congruence();
  if (modulus == 0)
    return residue > INT64_MAX || residue < INT64_MIN ? no_congruence() : (congruence){0, (int64_t)residue};
  const int64_t by = (int64_t)modulus, rest = (int64_t)(is_narrow(residue) ? (int64_t)residue % by : residue % by);
  return (congruence){by, rest < 0 ? rest + by : rest};
}

static congruence sum_congruence(congruence a, congruence b) {
  return reduced(tj_gcd((uint64_t)a.modulus, (uint64_t)b.modulus), (wide)a.residue + b.residue);
}

static congruence product_congruence(congruence a, congruence b) {
  unsigned __int128 both = (unsigned __int128)a.modulus * (unsigned __int128)b.modulus;
  unsigned __int128 left = (unsigned __int128)a.modulus * tj_magnitude(b.residue);
  unsigned __int128 right = (unsigned __int128)b.modulus * tj_magnitude(a.residue);
  return reduced(wide_gcd(wide_gcd(both, left), right), (wide)a.residue * b.residue);
}

/* Holds for each of the two. */
static congruence common_congruence(congruence a, congruence b) {
  wide difference = (wide)a.residue - b.residue;
  unsigned __int128 modulus = wide_gcd(tj_gcd((uint64_t)a.modulus, (uint64_t)b.modulus),
                                       (unsigned __int128)(difference < 0 ? -difference : difference));
  return reduced(modulus, a.residue);
}

static congruence quotient_congruence(congruence a, congruence b) {
  if (b.modulus != 0 || b.residue <= 0 || a.modulus == 0 || a.modulus % b.residue != 0)
    return no_congruence();
  return reduced((unsigned __int128)(a.modulus / b.residue), a.residue / b.residue);
}

/* a - b * k for an unknown k: as a, to the greatest common divisor of its modulus and all values of b. */
static congruence remainder_congruence(congruence a, congruence b) {
  uint64_t divisor = tj_gcd((uint64_t)b.modulus, tj_magnitude(b.residue));
  return reduced(tj_gcd((uint64_t)a.modulus, divisor), a.residue);
}

static congruence shift_congruence(congruence a, congruence b) {
  if (b.modulus == 0 && b.residue >= 0 && b.residue <= 62)
    return product_congruence(a, (congruence){0, (int64_t)1 << b.residue});
  return reduced(tj_gcd((uint64_t)a.modulus, tj_magnitude(a.residue)), 0);
}

static congruence congruence_of_operation(tj_op op, const tj_facts *const args[]) {
  congruence a = congruence_of(args[0]), b = congruence_of(args[1]);
  switch (op) {
  case TJ_OP_ADD:
    return sum_congruence(a, b);
  case TJ_OP_MUL:
    return product_congruence(a, b);
  case TJ_OP_DIV:
    return quotient_congruence(a, b);
  case TJ_OP_MOD:
    return remainder_congruence(a, b);
  case TJ_OP_MIN:
  case TJ_OP_MAX:
    return common_congruence(a, b);
  case TJ_OP_SHL:
    return shift_congruence(a, b);
  case TJ_OP_SHR:
    if (b.modulus == 0 && b.residue >= 0 && b.residue <= 62)
      return quotient_congruence(a, (congruence){0, (int64_t)1 << b.residue});
    return no_congruence();
  case TJ_OP_SELECT:
    return common_congruence(b, congruence_of(args[2]));
  default:
    return no_congruence();
  }
}

/* Whether no integer is in both. */
static bool congruences_conflict(const tj_facts *a, const tj_facts *b) {
  congruence left = congruence_of(a), right = congruence_of(b);
  uint64_t modulus = tj_gcd((uint64_t)left.modulus, (uint64_t)right.modulus);
  wide difference = (wide)left.residue - right.residue;
  return modulus == 0 ? difference != 0 : difference % (wide)modulus != 0;
}

/* --- known bits --- */

typedef struct {
  uint64_t zeros, ones;
} bits;

static bits bits_of(const tj_facts *facts) {
  return (bits){facts->zeros, facts->ones};
}

static bits shifted_left(bits a, unsigned amount) {
  return (bits){a.zeros << amount | (((uint64_t)1 << amount) - 1), a.ones << amount};
}

static bits shifted_right(bits a, unsigned amount) {
  return (bits){a.zeros >> amount, a.ones >> amount};
}

static bits either(bits a, bits b) {
  return (bits){a.zeros & b.zeros, a.ones | b.ones};
}

/* The exponent of a single value that is a power of two; -1 for anything else. */
static int exponent_of(const tj_facts *facts) {
  if (!is_single(facts) || !tj_is_power_of_two(facts->low))
    return -1;
  return __builtin_ctzll((unsigned long long)facts->low);
}

static bits bits_by_power(tj_op op, bits a, int exponent) {
  if (exponent < 0)
    return (bits){0, 0};
  if (op == TJ_OP_MUL || op == TJ_OP_SHL)
    return shifted_left(a, (unsigned)exponent);
  if (op == TJ_OP_MOD) {
    uint64_t mask = ((uint64_t)1 << exponent) - 1;
    return (bits){a.zeros | ~mask, a.ones & mask};
  }
  return shifted_right(a, (unsigned)exponent);
}

/* Of integers that are not negative. */
static bits bits_of_operation(tj_op op, const tj_facts *const args[]) {
  bits a = bits_of(args[0]), b = bits_of(args[1]);
  switch (op) {
  case TJ_OP_AND:
    return (bits){a.zeros | b.zeros, a.ones & b.ones};
  case TJ_OP_OR:
    return either(a, b);
  case TJ_OP_XOR:
    return (bits){(a.zeros & b.zeros) | (a.ones & b.ones), (a.zeros & b.ones) | (a.ones & b.zeros)};
  case TJ_OP_ADD:
    return (~a.zeros & ~b.zeros) == 0 ? either(a, b) : (bits){0, 0};
  case TJ_OP_SHL:
  case TJ_OP_SHR:
    return bits_by_power(op, a, is_single(args[1]) && args[1]->low <= 62 ? (int)args[1]->low : -1);
  case TJ_OP_MUL:
  case TJ_OP_DIV:
  case TJ_OP_MOD:
    return bits_by_power(op, a, exponent_of(args[1]));
  case TJ_OP_SELECT: {
    bits c = bits_of(args[2]);
    return (bits){b.zeros & c.zeros, b.ones & c.ones};
  }
  case TJ_OP_MIN:
  case TJ_OP_MAX:
    return (bits){a.zeros & b.zeros, a.ones & b.ones};
  default:
    return (bits){0, 0};
  }
}

/* --- the three together --- */

static int64_t nonnegative_remainder(int64_t value, int64_t modulus) {
  int64_t rest = value % modulus;
  return rest < 0 ? rest + modulus : rest;
}

/* Moves finite bounds to the nearest integers of the congruence. */
static void tighten_bounds(tj_facts *facts) {
  if (facts->modulus == 1)
    return;
  if (facts->low != INT64_MIN) {
    wide gap =
        nonnegative_remainder(facts->residue - nonnegative_remainder(facts->low, facts->modulus), facts->modulus);
    facts->low = saturated(facts->low + gap);
  }
  if (facts->high != INT64_MAX) {
    wide gap =
        nonnegative_remainder(nonnegative_remainder(facts->high, facts->modulus) - facts->residue, facts->modulus);
    facts->high = saturated(facts->high - gap);
  }
}

static void learn_bits_from_bounds(tj_facts *facts) {
  if (facts->high == INT64_MAX)
    return;
  uint64_t differing = (uint64_t)facts->low ^ (uint64_t)facts->high;
  uint64_t common = differing == 0 ? UINT64_MAX : ~(UINT64_MAX >> __builtin_clzll(differing));
  facts->zeros |= common & ~(uint64_t)facts->high;
  facts->ones |= common & (uint64_t)facts->high;
}

static void learn_bits_from_congruence(tj_facts *facts) {
  uint64_t lowest = (uint64_t)facts->modulus & (0 - (uint64_t)facts->modulus);
  facts->zeros |= (lowest - 1) & ~(uint64_t)facts->residue;
  facts->ones |= (lowest - 1) & (uint64_t)facts->residue;
}

static void learn_bounds_from_bits(tj_facts *facts) {
  int64_t least = (int64_t)(facts->ones & INT64_MAX);
  if (least > facts->low)
    facts->low = least;
  int64_t most = (int64_t)(~facts->zeros & INT64_MAX);
  if (facts->high != INT64_MAX && most < facts->high)
    facts->high = most;
}

/* The lowest bits that are known make a congruence; it replaces one that is no sharper. */
static void learn_congruence_from_bits(tj_facts *facts) {
  uint64_t unknown = ~(facts->zeros | facts->ones);
  unsigned known = unknown == 0 ? 62 : (unsigned)__builtin_ctzll(unknown);
  int64_t modulus = (int64_t)1 << (known > 62 ? 62 : known);
  if (facts->modulus == 1 || modulus % facts->modulus == 0) {
    facts->modulus = modulus;
    facts->residue = (int64_t)(facts->ones & (uint64_t)(modulus - 1));
  }
}

static void settle_single(tj_facts *facts) {
  facts->modulus = facts->low == 0 ? INT64_MAX : (int64_t)tj_magnitude(facts->low);
  facts->residue = 0;
  facts->zeros = facts->low >= 0 ? ~(uint64_t)facts->low : 0;
  facts->ones = facts->low >= 0 ? (uint64_t)facts->low : 0;
}

/* Facts that contradict each other speak of a value that never exists: then only the interval is kept, sane. */
static bool give_up_on_contradiction(tj_facts *facts, const tj_facts *before) {
  if (facts->low <= facts->high && (facts->zeros & facts->ones) == 0)
    return false;
  *facts = *before;
  facts->modulus = 1;
  facts->residue = 0;
  facts->zeros = facts->ones = 0;
  if (facts->low > facts->high)
    *facts = anything;
  return true;
}

static tj_facts settle(tj_facts facts) {
  tj_facts before = facts;
  tighten_bounds(&facts);
  if (facts.low >= 0) {
    learn_bits_from_bounds(&facts);
    learn_bits_from_congruence(&facts);
    learn_bounds_from_bits(&facts);
    learn_congruence_from_bits(&facts);
    tighten_bounds(&facts);
  } else {
    facts.zeros = facts.ones = 0;
  }
  if (!give_up_on_contradiction(&facts, &before) && is_single(&facts))
    settle_single(&facts);
  return facts;
}

tj_facts tj_facts_of_constant(int64_t value) {
  tj_facts facts = {value, value, 1, 0, 0, 0};
  if (is_single(&facts))
    settle_single(&facts);
  return facts;
}

/* What all the values have in common. */
static tj_facts facts_of_choices(const tj_symbol *symbol) {
  const int64_t first = symbol->choice[0], last = symbol->choice[symbol->choice_count - 1];
  tj_facts facts = {first, last, 0, 0, ~(uint64_t)first, (uint64_t)first};
  uint64_t common = 0;
  for (uint32_t i = 1; i < symbol->choice_count; i++) {
    common = tj_gcd(common, (uint64_t)symbol->choice[i] - (uint64_t)first);
    facts.zeros &= ~(uint64_t)symbol->choice[i];
    facts.ones &= (uint64_t)symbol->choice[i];
  }
  facts.modulus = common == 0 || common > INT64_MAX ? 1 : (int64_t)common;
  facts.residue = first % facts.modulus + (first % facts.modulus < 0 ? facts.modulus : 0);
  return settle(facts);
}

tj_facts tj_facts_of_symbol(const tj_symbol *symbol) {
  tj_facts facts = anything;
  if (symbol->choice_count > 0)
    return facts_of_choices(symbol);
  if (symbol->low != NULL)
    facts.low = symbol->low->facts.low;
  if (symbol->high != NULL)
    facts.high = symbol->high->facts.high;
  facts.modulus = symbol->multiple;
  if (symbol->divisor == NULL)
    return settle(facts);
  (void)tj_symbol_step(symbol, tj_facts_content(&symbol->divisor->facts), &facts.modulus);
  if (facts.low >= 1 && facts.low < symbol->divisor->facts.low)
    facts.low = symbol->divisor->facts.low;
  return settle(facts);
}

int64_t tj_facts_content(const tj_facts *facts) {
  return (int64_t)tj_gcd((uint64_t)facts->modulus, (uint64_t)facts->residue);
}

tj_facts tj_facts_of_operation(tj_op op, const tj_facts *const args[]) {
  interval range = interval_of_operation(op, args);
  congruence class = congruence_of_operation(op, args);
  tj_facts facts = {saturated(range.low), saturated(range.high), 1, 0, 0, 0};
  if (op == TJ_OP_EQUAL && congruences_conflict(args[0], args[1]))
    facts.low = facts.high = 0;
  if (class.modulus == 0)
    return tj_facts_of_constant(class.residue);
  facts.modulus = class.modulus;
  facts.residue = class.residue;
  bool is_bitwise =
      op != TJ_OP_SELECT ? args[0]->low >= 0 && args[1]->low >= 0 : args[1]->low >= 0 && args[2]->low >= 0;
  if (is_bitwise) {
    bits known = bits_of_operation(op, args);
    facts.zeros = known.zeros;
    facts.ones = known.ones;
  }
  return settle(facts);
}

tj_facts tj_facts_meet(const tj_facts *a, const tj_facts *b) {
  tj_facts both = a->modulus >= b->modulus ? *a : *b;
  both.low = a->low > b->low ? a->low : b->low;
  both.high = a->high < b->high ? a->high : b->high;
  both.zeros = a->zeros | b->zeros;
  both.ones = a->ones | b->ones;
  if (both.low > both.high || (both.zeros & both.ones) != 0)
    return *a;
  return settle(both);
}

bool tj_facts_define(tj_op op, const tj_facts *const args[]) {
  switch (op) {
  case TJ_OP_DIV:
  case TJ_OP_MOD:
    return tj_facts_nonzero(args[1]);
  case TJ_OP_AND:
  case TJ_OP_OR:
  case TJ_OP_XOR:
    return args[0]->low >= 0 && args[1]->low >= 0;
  case TJ_OP_SHL:
  case TJ_OP_SHR:
    return args[1]->low >= 0 && args[1]->high <= 62;
  case TJ_OP_SELECT:
    return args[0]->low >= 0 && args[0]->high <= 1;
  default:
    return true;
  }
}

bool tj_facts_nonnegative(const tj_facts *facts) {
  return facts->low >= 0;
}

bool tj_facts_bounded(const tj_facts *facts) {
  return facts->low != INT64_MIN && facts->high != INT64_MAX;
}

bool tj_facts_divisible(const tj_facts *facts, int64_t divisor) {
  if (divisor == 0)
    return is_single(facts) && facts->low == 0;
  if (divisor == INT64_MIN)
    return is_single(facts) && facts->low == 0;
  if (is_single(facts))
    return facts->low % divisor == 0;
  return facts->modulus % divisor == 0 && facts->residue % divisor == 0;
}

bool tj_facts_nonzero(const tj_facts *facts) {
  return facts->low > 0 || facts->high < 0 || facts->residue != 0 || facts->ones != 0;
}
