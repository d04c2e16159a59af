/* SPDX-License-Identifier: MIT */
/* Linear maps over F2 as functions: made from lists of bases or from other maps, and inverses. */
#include "frontend/sema/call.h"
#include "ir/layout/algebra.h"
#include "ir/layout/arith.h"
#include "ir/value/predicate.h"

/* --- lists of bases --- */

/* What a nested list of bases says: the extents that it stands for, and all bases in order. */
typedef struct {
  tj_call *call;
  const tj_tuple **value;
  uint32_t count;
  bool extends;
} bases;

static _Noreturn void fail_basis(tj_call *call, const char *problem) {
  call->job->here = call->span[0];
  tj_note(call->job, "the form is linear([1, 2, 4]), or linear([[1, 2], [4, 8]]) for several modes");
  tj_fail(call->job, TJ_WRONG_TYPE, "%s", problem);
}

static bool is_list_of_modes(const tj_value *list) {
  for (uint32_t i = 0; i < list->count; i++)
    if (list->item[i]->kind != TJ_VALUE_LIST)
      return false;
  return list->count > 0;
}

static void read_basis(bases *self, const tj_value *item) {
  if (self->count >= TJ_MAX_F2_BITS)
    fail_basis(self->call, "a linear map has at most 62 bases");
  if (item->kind != TJ_VALUE_TUPLE || tj_tuple_has_any(item->tuple))
    fail_basis(self->call, "a basis is an integer or a tuple");
  self->value[self->count++] = item->tuple;
}

/* The extents of a list of bases, or of lists of them. */
static const tj_tuple *read_bases(bases *self, const tj_value *list, bool is_whole) {
  tj_graph *graph = self->call->graph;
  if (is_list_of_modes(list)) {
    const tj_tuple **items = TJ_NEW_ARRAY(graph->job, const tj_tuple *, list->count);
    for (uint32_t i = 0; i < list->count; i++)
      items[i] = read_bases(self, list->item[i], false);
    return tj_tuple_list(graph, items, list->count);
  }
  uint32_t count = list->count;
  bool ends_in_any = count > 0 && list->item[count - 1]->kind == TJ_VALUE_TUPLE &&
                     list->item[count - 1]->tuple->kind == TJ_TUPLE_ANY;
  if (is_whole && ends_in_any) {
    self->extends = true;
    count--;
  }
  for (uint32_t i = 0; i < count; i++)
    read_basis(self, list->item[i]);
  return tj_tuple_constant(graph, INT64_C(1) << count);
}

/* A leaf of 1 for each that is not 0, for finding the structure of a sum. */
static const tj_tuple *units_of(tj_call *call, const tj_tuple *tuple) {
  uint32_t count;
  const tj_tuple *const *leaves = tj_tuple_leaves(call->graph, tuple, &count);
  const tj_tuple **units = TJ_NEW_ARRAY(call->job, const tj_tuple *, count + 1);
  for (uint32_t i = 0; i < count; i++) {
    int64_t value = tj_constant_value(call->graph, leaves[i]->value, "a basis");
    if (value < 0)
      fail_basis(call, "a basis is not negative");
    units[i] = tj_tuple_constant(call->graph, value != 0);
  }
  return tj_tuple_from_leaves(call->graph, tuple, units);
}

/* The common structure of all bases, with zeros as leaves. */
static const tj_tuple *codomain_of(bases *self) {
  tj_graph *graph = self->call->graph;
  const tj_tuple *zero = tj_tuple_constant(graph, 0), *sum = zero;
  for (uint32_t i = 0; i < self->count; i++) {
    self->value[i] = tj_tuple_add(graph, self->value[i], zero);
    sum = tj_tuple_add(graph, sum, units_of(self->call, self->value[i]));
  }
  return tj_tuple_repeat_like(graph, sum, zero);
}

static void check_extension(bases *self, const tj_tuple *codomain, const uint64_t basis[]) {
  if (tj_tuple_is_list(codomain))
    fail_basis(self->call, "_ stands behind integers only");
  for (uint32_t i = 0; i < self->count; i++)
    if (basis[i] >> self->count != 0)
      fail_basis(self->call, "behind bases with _, bits go on as they are: no basis may reach them");
}

static const tj_f2 *linear_of_list(tj_call *call) {
  tj_graph *graph = call->graph;
  bases self = {call, TJ_NEW_ARRAY(call->job, const tj_tuple *, TJ_MAX_F2_BITS), 0, false};
  const tj_tuple *domain = read_bases(&self, call->arg[0], true), *codomain = codomain_of(&self);
  uint64_t *basis = TJ_NEW_ARRAY(call->job, uint64_t, (size_t)self.count * codomain->leaf_count + 1), *next = basis;
  for (uint32_t i = 0; i < self.count; i++) {
    const tj_tuple *const *leaves = tj_tuple_leaves(graph, tj_tuple_add(graph, codomain, self.value[i]), NULL);
    for (uint32_t k = 0; k < codomain->leaf_count; k++)
      *next++ = (uint64_t)leaves[k]->value->value;
  }
  if (self.extends)
    check_extension(&self, codomain, basis);
  return tj_f2_make(graph, domain, codomain, basis, self.extends);
}

const tj_value *tj_builtin_linear(tj_call *call) {
  if (call->arg[0]->kind == TJ_VALUE_LIST)
    return tj_value_of_linear(call->graph, linear_of_list(call));
  return tj_value_of_linear(call->graph, tj_need_linear(call->graph, call->arg[0]));
}

/* --- inverses --- */

static const tj_value *inverse_of_layout(tj_call *call, tj_layout layout) {
  const tj_value *value = tj_value_of_layout(call->graph, layout);
  if (!tj_is_injective(call->graph, value) || !tj_is_surjective(call->graph, value))
    tj_fail(call->job, TJ_NOT_INJECTIVE, "inverse: %s is not bijective", tj_layout_text(call->job, layout));
  return tj_value_of_layout(call->graph, tj_layout_left_inverse(call->graph, layout));
}

static const tj_value *inverse_by_index(tj_call *call, const tj_f2 *map) {
  return tj_value_of_linear_or_layout(call->graph, tj_f2_inverse(call->graph, tj_f2_by_index(call->graph, map)));
}

const tj_value *tj_builtin_inverse(tj_call *call) {
  const tj_value *value = call->arg[0];
  switch (value->kind) {
  case TJ_VALUE_SWIZZLE:
    return value;
  case TJ_VALUE_LINEAR:
    return tj_value_of_linear(call->graph, tj_f2_inverse(call->graph, value->linear));
  case TJ_VALUE_TUPLE:
  case TJ_VALUE_LAYOUT:
    return inverse_of_layout(call, tj_arg_layout(call, 0));
  default:
    return inverse_by_index(call, tj_need_linear(call->graph, value));
  }
}
