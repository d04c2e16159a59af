/* Swizzles: construction, application and text, also of swizzles composed with layouts. */
#include "ir/layout.h"

#include "ir/arith.h"

#include <stdlib.h>

enum { LARGEST_BIT_COUNT = 63 };

tj_swizzle tj_swizzle_make(tj_graph *graph, int64_t bits, int64_t base, int64_t shift) {
  bool in_range = bits >= 0 && base >= 0 && bits <= LARGEST_BIT_COUNT && base <= LARGEST_BIT_COUNT &&
                  shift >= -LARGEST_BIT_COUNT && shift <= LARGEST_BIT_COUNT;
  if (!in_range || llabs(shift) < bits || bits + base + llabs(shift) > LARGEST_BIT_COUNT)
    tj_fail(graph->job, TJ_BAD_SWIZZLE, "Sw<%lld,%lld,%lld> is not a swizzle of 63 bits", (long long)bits,
            (long long)base, (long long)shift);
  return (tj_swizzle){(int32_t)bits, (int32_t)base, (int32_t)shift};
}

/* value ^ (the masked bits of value, moved by |shift| places). */
const tj_node *tj_swizzle_apply(tj_graph *graph, tj_swizzle swizzle, const tj_node *value) {
  if (!tj_facts_nonnegative(&value->facts))
    tj_fail(graph->job, TJ_NEGATIVE_BITS, "a swizzle of %s, which may be negative", tj_describe(graph, value));
  if (swizzle.bits == 0)
    return value;
  int32_t source = swizzle.base + (swizzle.shift > 0 ? swizzle.shift : 0);
  int64_t mask = ((INT64_C(1) << swizzle.bits) - 1) << source;
  const tj_node *field = tj_and(graph, value, tj_int(graph, mask));
  const tj_node *moved = swizzle.shift >= 0 ? tj_shr(graph, field, tj_int(graph, swizzle.shift))
                                            : tj_shl(graph, field, tj_int(graph, -swizzle.shift));
  return tj_xor(graph, value, moved);
}

const tj_tuple *tj_composed_apply(tj_graph *graph, const tj_composed *composed, const tj_tuple *coordinate) {
  const tj_tuple *inner = tj_tuple_add(graph, composed->offset, tj_layout_apply(graph, composed->layout, coordinate));
  if (inner->kind != TJ_TUPLE_INTEGER)
    tj_fail(graph->job, TJ_WRONG_TYPE, "a swizzle takes integers, not %s", tj_tuple_text(graph->job, inner));
  return tj_tuple_integer(graph, tj_swizzle_apply(graph, composed->swizzle, inner->value));
}

void tj_swizzle_print(tj_text *text, tj_swizzle swizzle) {
  tj_text_format(text, "Sw<%d,%d,%d>", swizzle.bits, swizzle.base, swizzle.shift);
}

void tj_composed_print(tj_text *text, const tj_composed *composed) {
  tj_swizzle_print(text, composed->swizzle);
  tj_text_string(text, " o ");
  tj_tuple_print(text, composed->offset);
  tj_text_string(text, " o ");
  tj_layout_print(text, composed->layout);
}
