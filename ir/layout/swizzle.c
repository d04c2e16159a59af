/* SPDX-License-Identifier: MIT */
/* Swizzles: construction, application and text, also of swizzles composed with layouts, and of coordinate tensors. */
#include "base/number/power.h"
#include "ir/layout/layout.h"

#include "ir/layout/arith.h"

#include <stdlib.h>

enum { LARGEST_BIT_COUNT = 63 };

tj_swizzle tj_swizzle_make(tj_graph *graph, int64_t bits, int64_t base, int64_t shift) {
  const bool is_long = bits > LARGEST_BIT_COUNT || base > LARGEST_BIT_COUNT || shift > LARGEST_BIT_COUNT ||
                       shift < -LARGEST_BIT_COUNT || bits + base + llabs(shift) > LARGEST_BIT_COUNT;
  if (is_long && bits >= 0 && base >= 0)
    tj_note(graph->job, "B + M + |S| is at most %d", LARGEST_BIT_COUNT);
  if (bits < 0 || base < 0 || is_long || llabs(shift) < bits)
    tj_fail(graph->job, TJ_BAD_SWIZZLE, "Sw<%lld,%lld,%lld> is not a swizzle of 63 bits", (long long)bits,
            (long long)base, (long long)shift);
  return (tj_swizzle){(int32_t)bits, (int32_t)base, (int32_t)shift};
}

/* The bits that a swizzle changes (Z), by those it reads (Y). */
static uint64_t target_mask(tj_swizzle swizzle) {
  int32_t first = swizzle.base - (swizzle.shift < 0 ? swizzle.shift : 0);
  return ((UINT64_C(1) << swizzle.bits) - 1) << first;
}

/* The swizzle that XORs the bits `source` into the bits `target`, in order. False where there is none. */
static bool swizzle_of_masks(uint64_t source, uint64_t target, tj_swizzle *swizzle) {
  *swizzle = (tj_swizzle){0, 0, 0};
  if (source == 0 || target == 0)
    return source == target;
  int32_t from = __builtin_ctzll(source), to = __builtin_ctzll(target);
  *swizzle = (tj_swizzle){__builtin_popcountll(source), from < to ? from : to, from - to};
  return abs(swizzle->shift) >= swizzle->bits && tj_swizzle_source(*swizzle) == source &&
         target_mask(*swizzle) == target;
}

bool tj_swizzle_compose(tj_swizzle a, tj_swizzle b, tj_swizzle *both) {
  bool independent = a.shift == b.shift && (tj_swizzle_source(a) & target_mask(b)) == 0;
  return independent &&
         swizzle_of_masks(tj_swizzle_source(a) ^ tj_swizzle_source(b), target_mask(a) ^ target_mask(b), both);
}

/* The value of a layout at each power of two below its size, and their number. False unless these are different
 * powers of two, so that the layout permutes bits. */
static bool bit_images(tj_graph *graph, tj_layout layout, uint64_t images[], int32_t *count) {
  uint32_t leaves;
  const tj_tuple *const *extents = tj_tuple_leaves(graph, layout.shape, &leaves);
  const tj_tuple *const *strides = tj_tuple_leaves(graph, layout.stride, NULL);
  uint64_t taken = 0;
  *count = 0;
  for (uint32_t i = 0; i < leaves; i++) {
    if (tj_is_int(extents[i]->value, 1))
      continue;
    bool constant = tj_is_constant(extents[i]->value) && strides[i]->kind == TJ_TUPLE_INTEGER &&
                    tj_is_constant(strides[i]->value);
    if (!constant || !tj_is_power_of_two(extents[i]->value->value) || !tj_is_power_of_two(strides[i]->value->value))
      return false;
    uint64_t image = (uint64_t)strides[i]->value->value;
    for (int64_t bit = 1; bit < extents[i]->value->value; bit *= 2, image <<= 1) {
      if (image == 0 || (image & taken) != 0)
        return false;
      taken |= image;
      images[(*count)++] = image;
    }
  }
  return true;
}

bool tj_layout_compose_swizzle(tj_graph *graph, tj_layout layout, tj_swizzle swizzle, tj_swizzle *swizzled) {
  uint64_t images[64], source = 0, target = 0;
  int32_t count, from = swizzle.base + (swizzle.shift > 0 ? swizzle.shift : 0), to = from - swizzle.shift;
  bool moves_over =
      bit_images(graph, layout, images, &count) && from + swizzle.bits <= count && to + swizzle.bits <= count;
  for (int32_t bit = 0; moves_over && bit < swizzle.bits; bit++) {
    source |= images[from + bit];
    target |= images[to + bit];
    moves_over = __builtin_ctzll(images[from + bit]) - __builtin_ctzll(images[to + bit]) ==
                 __builtin_ctzll(images[from]) - __builtin_ctzll(images[to]);
  }
  return moves_over && swizzle_of_masks(source, target, swizzled);
}

/* The exponent of a power of two; TJ2031 otherwise. */
static int32_t exponent_of(tj_graph *graph, int64_t count, const char *operation) {
  if (!tj_is_power_of_two(count))
    tj_fail(graph->job, TJ_NOT_DIVISIBLE, "%s: a swizzle of elements %lld times as wide", operation,
            (long long)count);
  return __builtin_ctzll((uint64_t)count);
}

tj_swizzle tj_swizzle_upcast(tj_graph *graph, tj_swizzle swizzle, int64_t count) {
  int32_t base = swizzle.base - exponent_of(graph, count, "upcast");
  if (base >= 0)
    return (tj_swizzle){swizzle.bits, base, swizzle.shift};
  return (tj_swizzle){swizzle.bits + base > 0 ? swizzle.bits + base : 0, 0, swizzle.shift};
}

tj_swizzle tj_swizzle_downcast(tj_graph *graph, tj_swizzle swizzle, int64_t count) {
  int64_t base = (int64_t)swizzle.base + exponent_of(graph, count, "downcast");
  return tj_swizzle_make(graph, swizzle.bits, base, swizzle.shift);
}

/* value ^ (the masked bits of value, moved by |shift| places). */
const tj_node *tj_swizzle_apply(tj_graph *graph, tj_swizzle swizzle, const tj_node *value) {
  if (!tj_facts_nonnegative(&value->facts))
    tj_fail(graph->job, TJ_NEGATIVE_BITS, "a swizzle of %s, which may be negative", tj_describe(graph, value));
  if (swizzle.bits == 0)
    return value;
  const tj_node *field = tj_and(graph, value, tj_int(graph, (int64_t)tj_swizzle_source(swizzle)));
  const tj_node *moved = swizzle.shift >= 0 ? tj_shr(graph, field, tj_int(graph, swizzle.shift))
                                            : tj_shl(graph, field, tj_int(graph, -swizzle.shift));
  return tj_xor(graph, value, moved);
}

/* --- composed layouts and coordinate tensors --- */

/* 1 in the place of whatever may differ from 0. */
static const tj_tuple *unit_like(tj_graph *graph, const tj_tuple *leaf) {
  if (tj_is_int(leaf->value, 0) && leaf->kind == TJ_TUPLE_INTEGER)
    return leaf;
  return leaf->kind == TJ_TUPLE_BASIS ? tj_tuple_basis(graph, tj_int(graph, 1), leaf->path, leaf->count)
                                      : tj_tuple_constant(graph, 1);
}

/* Zeros in the structure of base + layout. */
static const tj_tuple *zeros_of_sum(tj_graph *graph, const tj_tuple *base, tj_layout layout) {
  uint32_t count;
  const tj_tuple *const *strides = tj_tuple_leaves(graph, layout.stride, &count);
  const tj_tuple *zero = tj_tuple_constant(graph, 0);
  const tj_tuple *sum = tj_tuple_is_list(base) ? tj_tuple_repeat_like(graph, base, zero) : unit_like(graph, base);
  for (uint32_t i = 0; i < count; i++)
    sum = tj_tuple_add(graph, sum, unit_like(graph, strides[i]));
  return tj_tuple_repeat_like(graph, sum, zero);
}

/* Basis elements as the tuples they stand for, at any depth. */
static const tj_tuple *expand_all(tj_graph *graph, const tj_tuple *tuple) {
  if (!tj_tuple_is_list(tuple))
    return tj_tuple_expand_basis(graph, tuple);
  const tj_tuple **items = TJ_NEW_ARRAY(graph->job, const tj_tuple *, tuple->count);
  for (uint32_t i = 0; i < tuple->count; i++)
    items[i] = expand_all(graph, tuple->item[i]);
  return tj_tuple_list(graph, items, tuple->count);
}

tj_composed tj_coord_tensor(tj_graph *graph, const tj_tuple *base, tj_layout layout) {
  if (tj_tuple_has_any(base))
    tj_fail(graph->job, TJ_WRONG_TYPE, "a base coordinate has no _, as %s has", tj_tuple_text(graph->job, base));
  const tj_tuple *expanded = expand_all(graph, base), *zeros = zeros_of_sum(graph, expanded, layout);
  return (tj_composed){.offset = tj_tuple_add(graph, expanded, zeros), .layout = layout};
}

const tj_tuple *tj_composed_apply(tj_graph *graph, const tj_composed *composed, const tj_tuple *coordinate) {
  const tj_tuple *inner = tj_tuple_add(graph, composed->offset, tj_layout_apply(graph, composed->layout, coordinate));
  if (composed->swizzle.bits == 0)
    return inner;
  if (inner->kind != TJ_TUPLE_INTEGER)
    tj_fail(graph->job, TJ_WRONG_TYPE, "a swizzle takes integers, not %s", tj_tuple_text(graph->job, inner));
  return tj_tuple_integer(graph, tj_swizzle_apply(graph, composed->swizzle, inner->value));
}

/* --- text --- */

void tj_swizzle_print(tj_text *text, tj_swizzle swizzle) {
  tj_text_format(text, "Sw<%d,%d,%d>", swizzle.bits, swizzle.base, swizzle.shift);
}

void tj_composed_print(tj_text *text, const tj_composed *composed) {
  bool is_swizzled = composed->swizzle.bits != 0;
  if (is_swizzled)
    tj_swizzle_print(text, composed->swizzle);
  tj_text_string(text, is_swizzled ? " o " : "coord_tensor(");
  tj_tuple_print(text, composed->offset);
  tj_text_string(text, is_swizzled ? " o " : ",");
  tj_layout_print(text, composed->layout);
  if (!is_swizzled)
    tj_text_char(text, ')');
}
