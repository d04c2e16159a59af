/* SPDX-License-Identifier: MIT */
/* Tuples: construction, structure, arithmetic and text. */
#include "ir/layout/tuple.h"

#include "ir/index/print.h"
#include "ir/layout/arith.h"

#include <string.h>

static tj_tuple *new_leaf(tj_graph *graph, tj_tuple_kind kind) {
  tj_spend(graph->job, 1);
  tj_tuple *leaf = TJ_NEW(graph->job, tj_tuple);
  leaf->kind = kind;
  leaf->size = 1;
  leaf->leaf_count = 1;
  return leaf;
}

const tj_tuple *tj_tuple_integer(tj_graph *graph, const tj_node *value) {
  tj_tuple *leaf = new_leaf(graph, TJ_TUPLE_INTEGER);
  leaf->value = value;
  return leaf;
}

const tj_tuple *tj_tuple_constant(tj_graph *graph, int64_t value) {
  return tj_tuple_integer(graph, tj_int(graph, value));
}

const tj_tuple *tj_tuple_basis(tj_graph *graph, const tj_node *coefficient, const uint32_t path[], uint32_t length) {
  if (length == 0)
    return tj_tuple_integer(graph, coefficient);
  if (length > TJ_MAX_TUPLE_DEPTH)
    tj_fail(graph->job, TJ_DEPTH_LIMIT, "a basis element of %u levels", length);
  tj_tuple *leaf = new_leaf(graph, TJ_TUPLE_BASIS);
  leaf->value = coefficient;
  leaf->count = length;
  leaf->path = tj_arena_copy(&graph->job->arena, path, length * sizeof *path);
  return leaf;
}

const tj_tuple *tj_tuple_at(tj_graph *graph, const tj_tuple *tuple, uint32_t mode) {
  if (tuple->kind == TJ_TUPLE_INTEGER)
    return tj_tuple_basis(graph, tuple->value, &mode, 1);
  if (tuple->kind != TJ_TUPLE_BASIS)
    tj_fail(graph->job, TJ_WRONG_TYPE, "a basis element is made from an integer, not from %s",
            tj_tuple_text(graph->job, tuple));
  uint32_t *path = TJ_NEW_ARRAY(graph->job, uint32_t, tuple->count + 1);
  path[0] = mode;
  memcpy(path + 1, tuple->path, tuple->count * sizeof *path);
  return tj_tuple_basis(graph, tuple->value, path, tuple->count + 1);
}

const tj_tuple *tj_tuple_any(tj_graph *graph) {
  return new_leaf(graph, TJ_TUPLE_ANY);
}

/* Adds up what `items` hold into `list`, within the limits. */
static void measure_items(tj_graph *graph, tj_tuple *list, const tj_tuple *const items[], uint32_t count) {
  uint64_t size = 1;
  for (uint32_t i = 0; i < count; i++) {
    size += items[i]->size;
    list->leaf_count += items[i]->leaf_count;
    list->depth = list->depth > items[i]->depth ? list->depth : items[i]->depth;
    if (size > TJ_MAX_TUPLE_SIZE)
      tj_fail(graph->job, TJ_WORK_LIMIT, "a tuple of more than %d elements", TJ_MAX_RANK);
  }
  list->size = (uint32_t)size;
  list->depth++;
}

const tj_tuple *tj_tuple_list(tj_graph *graph, const tj_tuple *const items[], uint32_t count) {
  tj_tuple *list = new_leaf(graph, TJ_TUPLE_LIST);
  tj_spend(graph->job, count);
  list->leaf_count = 0;
  measure_items(graph, list, items, count);
  if (list->depth > TJ_MAX_TUPLE_DEPTH)
    tj_fail(graph->job, TJ_DEPTH_LIMIT, "a tuple nested more than %d levels deep", TJ_MAX_TUPLE_DEPTH);
  list->count = count;
  list->item = count == 0 ? NULL : tj_arena_copy(&graph->job->arena, items, count * sizeof(*items));
  return list;
}

const tj_tuple *tj_tuple_integers(tj_graph *graph, const tj_node *const value[], uint32_t count) {
  const tj_tuple **item = TJ_NEW_ARRAY(graph->job, const tj_tuple *, count);
  for (uint32_t i = 0; i < count; i++)
    item[i] = tj_tuple_integer(graph, value[i]);
  return tj_tuple_list(graph, item, count);
}

const tj_tuple *tj_tuple_constants(tj_graph *graph, const int64_t value[], uint32_t count) {
  const tj_tuple **item = TJ_NEW_ARRAY(graph->job, const tj_tuple *, count);
  for (uint32_t i = 0; i < count; i++)
    item[i] = tj_tuple_constant(graph, value[i]);
  return tj_tuple_list(graph, item, count);
}

uint32_t tj_tuple_rank(const tj_tuple *tuple) {
  return tj_tuple_is_list(tuple) ? tuple->count : 1;
}

const tj_tuple *tj_tuple_mode(const tj_tuple *tuple, uint32_t mode) {
  return tj_tuple_is_list(tuple) ? tuple->item[mode] : tuple;
}

/* --- structure --- */

bool tj_tuple_congruent(const tj_tuple *a, const tj_tuple *b) {
  if (tj_tuple_is_list(a) != tj_tuple_is_list(b))
    return false;
  if (!tj_tuple_is_list(a))
    return true;
  if (a->count != b->count || a->leaf_count != b->leaf_count || a->depth != b->depth)
    return false;
  for (uint32_t i = 0; i < a->count; i++)
    if (!tj_tuple_congruent(a->item[i], b->item[i]))
      return false;
  return true;
}

static bool leaf_equal(const tj_tuple *a, const tj_tuple *b) {
  if (a->kind != b->kind || a->value != b->value)
    return false;
  return a->kind != TJ_TUPLE_BASIS ||
         (a->count == b->count && memcmp(a->path, b->path, a->count * sizeof *a->path) == 0);
}

bool tj_tuple_equal(const tj_tuple *a, const tj_tuple *b) {
  if (a == b)
    return true;
  if (!tj_tuple_is_list(a) || !tj_tuple_is_list(b))
    return leaf_equal(a, b);
  if (a->count != b->count)
    return false;
  for (uint32_t i = 0; i < a->count; i++)
    if (!tj_tuple_equal(a->item[i], b->item[i]))
      return false;
  return true;
}

bool tj_tuple_weakly_congruent(const tj_tuple *a, const tj_tuple *b) {
  if (!tj_tuple_is_list(a))
    return true;
  if (!tj_tuple_is_list(b) || a->count != b->count)
    return false;
  for (uint32_t i = 0; i < a->count; i++)
    if (!tj_tuple_weakly_congruent(a->item[i], b->item[i]))
      return false;
  return true;
}

bool tj_tuple_compatible(tj_graph *graph, const tj_tuple *a, const tj_tuple *b) {
  if (!tj_tuple_is_list(a))
    return tj_surely_equal(graph, tj_tuple_product(graph, a), tj_tuple_product(graph, b));
  if (!tj_tuple_is_list(b) || a->count != b->count)
    return false;
  for (uint32_t i = 0; i < a->count; i++)
    if (!tj_tuple_compatible(graph, a->item[i], b->item[i]))
      return false;
  return true;
}

const tj_tuple *tj_tuple_repeat_like(tj_graph *graph, const tj_tuple *profile, const tj_tuple *leaf) {
  if (!tj_tuple_is_list(profile))
    return leaf;
  const tj_tuple **items = TJ_NEW_ARRAY(graph->job, const tj_tuple *, profile->count);
  for (uint32_t i = 0; i < profile->count; i++)
    items[i] = tj_tuple_repeat_like(graph, profile->item[i], leaf);
  return tj_tuple_list(graph, items, profile->count);
}

/* --- leaves --- */

uint32_t tj_tuple_leaf_count(const tj_tuple *tuple) {
  return tuple->leaf_count;
}

static const tj_tuple **collect_leaves(const tj_tuple *tuple, const tj_tuple **next) {
  if (!tj_tuple_is_list(tuple)) {
    *next = tuple;
    return next + 1;
  }
  for (uint32_t i = 0; i < tuple->count; i++)
    next = collect_leaves(tuple->item[i], next);
  return next;
}

const tj_tuple *const *tj_tuple_leaves(tj_graph *graph, const tj_tuple *tuple, uint32_t *count) {
  tj_spend(graph->job, tuple->size);
  const tj_tuple **leaves = TJ_NEW_ARRAY(graph->job, const tj_tuple *, tuple->leaf_count);
  collect_leaves(tuple, leaves);
  if (count != NULL)
    *count = tuple->leaf_count;
  return leaves;
}

static const tj_tuple *rebuild(tj_graph *graph, const tj_tuple *profile, const tj_tuple *const **next) {
  if (!tj_tuple_is_list(profile))
    return *(*next)++;
  const tj_tuple **items = TJ_NEW_ARRAY(graph->job, const tj_tuple *, profile->count);
  for (uint32_t i = 0; i < profile->count; i++)
    items[i] = rebuild(graph, profile->item[i], next);
  return tj_tuple_list(graph, items, profile->count);
}

const tj_tuple *tj_tuple_from_leaves(tj_graph *graph, const tj_tuple *profile, const tj_tuple *const leaves[]) {
  return rebuild(graph, profile, &leaves);
}

const tj_tuple *tj_tuple_flatten(tj_graph *graph, const tj_tuple *tuple) {
  if (!tj_tuple_is_list(tuple))
    return tuple;
  uint32_t count;
  const tj_tuple *const *leaves = tj_tuple_leaves(graph, tuple, &count);
  return tj_tuple_list(graph, leaves, count);
}

/* --- arithmetic --- */

const tj_node *tj_tuple_product(tj_graph *graph, const tj_tuple *tuple) {
  if (tuple->kind == TJ_TUPLE_INTEGER)
    return tuple->value;
  if (!tj_tuple_is_list(tuple))
    tj_fail(graph->job, TJ_WRONG_TYPE, "%s is not an integer", tj_tuple_text(graph->job, tuple));
  tj_spend(graph->job, tuple->count);
  const tj_node *product = tj_int(graph, 1);
  for (uint32_t i = 0; i < tuple->count; i++)
    product = tj_terse_mul(graph, product, tj_tuple_product(graph, tuple->item[i]));
  return product;
}

/* (0, …, 0, item) with item at `mode`. */
static const tj_tuple *pad_with_zeros(tj_graph *graph, const tj_tuple *item, uint32_t mode) {
  if (mode >= TJ_MAX_RANK)
    tj_fail(graph->job, TJ_WORK_LIMIT, "a basis element of mode %u", mode);
  const tj_tuple **items = TJ_NEW_ARRAY(graph->job, const tj_tuple *, mode + 1);
  const tj_tuple *zero = tj_tuple_constant(graph, 0);
  for (uint32_t i = 0; i < mode; i++)
    items[i] = zero;
  items[mode] = item;
  return tj_tuple_list(graph, items, mode + 1);
}

const tj_tuple *tj_tuple_expand_basis(tj_graph *graph, const tj_tuple *tuple) {
  if (tuple->kind != TJ_TUPLE_BASIS)
    return tuple;
  const tj_tuple *expanded = tj_tuple_integer(graph, tuple->value);
  for (uint32_t level = tuple->count; level-- > 0;)
    expanded = pad_with_zeros(graph, expanded, tuple->path[level]);
  return expanded;
}

static bool is_zero(const tj_tuple *tuple) {
  return tuple->kind == TJ_TUPLE_INTEGER && tj_is_int(tuple->value, 0);
}

static _Noreturn void fail_sum(tj_graph *graph, const tj_tuple *a, const tj_tuple *b) {
  tj_fail(graph->job, TJ_BASIS_MISMATCH, "%s and %s do not add", tj_tuple_text(graph->job, a),
          tj_tuple_text(graph->job, b));
}

static const tj_tuple *add_lists(tj_graph *graph, const tj_tuple *a, const tj_tuple *b) {
  uint32_t count = a->count > b->count ? a->count : b->count;
  const tj_tuple **items = TJ_NEW_ARRAY(graph->job, const tj_tuple *, count);
  for (uint32_t i = 0; i < count; i++) {
    if (i >= a->count || i >= b->count)
      items[i] = tj_tuple_expand_basis(graph, i >= a->count ? b->item[i] : a->item[i]);
    else
      items[i] = tj_tuple_add(graph, a->item[i], b->item[i]);
  }
  return tj_tuple_list(graph, items, count);
}

const tj_tuple *tj_tuple_add(tj_graph *graph, const tj_tuple *a, const tj_tuple *b) {
  if (a->kind == TJ_TUPLE_ANY || b->kind == TJ_TUPLE_ANY)
    fail_sum(graph, a, b);
  if (a->kind == TJ_TUPLE_INTEGER && b->kind == TJ_TUPLE_INTEGER)
    return tj_tuple_integer(graph, tj_terse_add(graph, a->value, b->value));
  if (is_zero(a))
    return tj_tuple_expand_basis(graph, b);
  if (is_zero(b))
    return tj_tuple_expand_basis(graph, a);
  const tj_tuple *left = tj_tuple_expand_basis(graph, a), *right = tj_tuple_expand_basis(graph, b);
  if (!tj_tuple_is_list(left) || !tj_tuple_is_list(right))
    fail_sum(graph, a, b);
  return add_lists(graph, left, right);
}

static const tj_tuple *scale_list(tj_graph *graph, const tj_node *factor, const tj_tuple *list) {
  const tj_tuple **items = TJ_NEW_ARRAY(graph->job, const tj_tuple *, list->count);
  for (uint32_t i = 0; i < list->count; i++)
    items[i] = tj_tuple_scale(graph, factor, list->item[i]);
  return tj_tuple_list(graph, items, list->count);
}

const tj_tuple *tj_tuple_scale(tj_graph *graph, const tj_node *factor, const tj_tuple *tuple) {
  switch (tuple->kind) {
  case TJ_TUPLE_INTEGER:
    return tj_tuple_integer(graph, tj_terse_mul(graph, factor, tuple->value));
  case TJ_TUPLE_BASIS:
    return tj_tuple_basis(graph, tj_terse_mul(graph, factor, tuple->value), tuple->path, tuple->count);
  case TJ_TUPLE_LIST:
    return scale_list(graph, factor, tuple);
  default:
    tj_fail(graph->job, TJ_WRONG_TYPE, "_ is not an integer");
  }
}

/* --- text --- */

static void print_basis(tj_text *text, const tj_tuple *basis) {
  bool atom = tj_is_constant(basis->value) || basis->value->op == TJ_OP_SYMBOL;
  if (!atom)
    tj_text_char(text, '(');
  tj_node_print(text, basis->value);
  if (!atom)
    tj_text_char(text, ')');
  for (uint32_t level = basis->count; level-- > 0;)
    tj_text_format(text, "@%u", basis->path[level]);
}

/* Parentheses around one entry with an operator would only group: (M + 1,) is the tuple. */
static bool is_bare(const tj_tuple *entry) {
  if (entry->kind == TJ_TUPLE_LIST || entry->kind == TJ_TUPLE_ANY || tj_is_constant(entry->value))
    return true;
  return entry->kind == TJ_TUPLE_INTEGER && entry->value->op == TJ_OP_SYMBOL;
}

static void print_list(tj_text *text, const tj_tuple *list) {
  tj_text_char(text, '(');
  for (uint32_t i = 0; i < list->count; i++) {
    if (i != 0)
      tj_text_char(text, ',');
    tj_tuple_print(text, list->item[i]);
  }
  tj_text_string(text, list->count == 1 && !is_bare(list->item[0]) ? ",)" : ")");
}

void tj_tuple_print_nodes(tj_text *text, const tj_node *const nodes[], uint32_t count) {
  tj_tuple *entries = TJ_NEW_ARRAY(text->job, tj_tuple, count);
  const tj_tuple **items = TJ_NEW_ARRAY(text->job, const tj_tuple *, count);
  for (uint32_t i = 0; i < count; i++) {
    entries[i] = (tj_tuple){.kind = TJ_TUPLE_INTEGER, .value = nodes[i]};
    items[i] = &entries[i];
  }
  print_list(text, &(tj_tuple){.kind = TJ_TUPLE_LIST, .item = items, .count = count});
}

void tj_tuple_print(tj_text *text, const tj_tuple *tuple) {
  switch (tuple->kind) {
  case TJ_TUPLE_INTEGER:
    tj_node_print(text, tuple->value);
    break;
  case TJ_TUPLE_BASIS:
    print_basis(text, tuple);
    break;
  case TJ_TUPLE_ANY:
    tj_text_char(text, '_');
    break;
  case TJ_TUPLE_LIST:
    print_list(text, tuple);
    break;
  }
}

const char *tj_tuple_text(tj_job *job, const tj_tuple *tuple) {
  tj_text text = tj_text_begin(job);
  tj_tuple_print(&text, tuple);
  return text.data;
}
