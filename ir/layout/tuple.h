/* SPDX-License-Identifier: MIT */
/* Integer tuples: hierarchical shapes, strides and coordinates.
 *
 * A tuple is an integer (an index expression, constant or symbolic), a basis element such as 2@1@0, an underscore,
 * or a list of tuples. Tuples are immutable and live in the graph's job. (x) is a list of rank 1, which is not x.
 * Nesting is at most TJ_MAX_TUPLE_DEPTH and the tree at most TJ_MAX_TUPLE_SIZE, so that functions may recurse over
 * tuples and walk them whole. */
#ifndef TJ_IR_TUPLE_H
#define TJ_IR_TUPLE_H

#include "base/text.h"
#include "ir/index/graph.h"

enum { TJ_MAX_TUPLE_DEPTH = 256, TJ_MAX_RANK = 65536, TJ_MAX_TUPLE_SIZE = 2 * TJ_MAX_RANK };

typedef enum { TJ_TUPLE_INTEGER, TJ_TUPLE_BASIS, TJ_TUPLE_ANY, TJ_TUPLE_LIST } tj_tuple_kind;

typedef struct tj_tuple tj_tuple;
struct tj_tuple {
  tj_tuple_kind kind;
  uint32_t depth;       /* 0 unless a list: 1 + the deepest item's */
  uint32_t size;        /* tuples in the tree, itself included */
  uint32_t leaf_count;  /* of those, the ones that are not lists */
  uint32_t count;       /* LIST: number of items; BASIS: length of path */
  const tj_node *value; /* INTEGER: itself; BASIS: the coefficient */
  union {
    const tj_tuple *const *item; /* LIST */
    const uint32_t *path;        /* BASIS: outermost mode first: 2@1@0 is mode 1 of mode 0, path {0, 1} */
  };
};

const tj_tuple *tj_tuple_integer(tj_graph *graph, const tj_node *value);
const tj_tuple *tj_tuple_constant(tj_graph *graph, int64_t value);
/* Flat lists. */
const tj_tuple *tj_tuple_integers(tj_graph *graph, const tj_node *const value[], uint32_t count);
const tj_tuple *tj_tuple_constants(tj_graph *graph, const int64_t value[], uint32_t count);
const tj_tuple *tj_tuple_basis(tj_graph *graph, const tj_node *coefficient, const uint32_t path[], uint32_t length);
/* tuple @ mode: an integer becomes a basis element, a basis element is seen from one level further out:
 * tj_tuple_at(2@1, 0) = 2@1@0. TJ2005 for lists and underscores. */
const tj_tuple *tj_tuple_at(tj_graph *graph, const tj_tuple *tuple, uint32_t mode);
const tj_tuple *tj_tuple_any(tj_graph *graph);
/* Copies the array of items. Fails with TJ7002 when nested too deeply, TJ7003 when there are too many. */
const tj_tuple *tj_tuple_list(tj_graph *graph, const tj_tuple *const items[], uint32_t count);

static inline bool tj_tuple_is_list(const tj_tuple *tuple) {
  return tuple->kind == TJ_TUPLE_LIST;
}

/* CuTe's rank: items of a list, 1 for anything else. tj_tuple_mode(t, 0) of a non-list is t itself. */
uint32_t tj_tuple_rank(const tj_tuple *tuple);
const tj_tuple *tj_tuple_mode(const tj_tuple *tuple, uint32_t mode);

/* The product of all integers; TJ2005 where there is anything else. */
const tj_node *tj_tuple_product(tj_graph *graph, const tj_tuple *tuple);

/* A tuple of the same structure whose leaves are all `leaf`. */
const tj_tuple *tj_tuple_repeat_like(tj_graph *graph, const tj_tuple *profile, const tj_tuple *leaf);

/* Equal structure; and also equal leaves (same nodes, same paths). */
bool tj_tuple_congruent(const tj_tuple *a, const tj_tuple *b);
bool tj_tuple_equal(const tj_tuple *a, const tj_tuple *b);

/* CuTe's weakly_congruent(a, b): b's structure refines a's. */
bool tj_tuple_weakly_congruent(const tj_tuple *a, const tj_tuple *b);

/* CuTe's compatible(a, b): every coordinate of a is one of b; sizes equal, a's structure coarser. Sizes that facts
 * do not show to be equal count as different. */
bool tj_tuple_compatible(tj_graph *graph, const tj_tuple *a, const tj_tuple *b);

/* Leaves (everything that is not a list) in order, left to right. */
uint32_t tj_tuple_leaf_count(const tj_tuple *tuple);
const tj_tuple *const *tj_tuple_leaves(tj_graph *graph, const tj_tuple *tuple, uint32_t *count);
/* The structure of `profile` with the given leaves in its places; uses tj_tuple_leaf_count(profile) of them. */
const tj_tuple *tj_tuple_from_leaves(tj_graph *graph, const tj_tuple *profile, const tj_tuple *const leaves[]);
const tj_tuple *tj_tuple_flatten(tj_graph *graph, const tj_tuple *tuple); /* a flat list; of a non-list, itself */

/* Sums of integers and basis elements (CuTe's arithmetic tuples): basis elements become tuples, the shorter operand
 * is extended with zeros. 1@0 + 2@1 = (1,2). Fails with TJ2021 where an integer that is not 0 meets a tuple. */
const tj_tuple *tj_tuple_add(tj_graph *graph, const tj_tuple *a, const tj_tuple *b);
const tj_tuple *tj_tuple_scale(tj_graph *graph, const tj_node *factor, const tj_tuple *tuple);
/* A basis element as the tuple it stands for: 2@1 = (0,2). Others are themselves. */
const tj_tuple *tj_tuple_expand_basis(tj_graph *graph, const tj_tuple *tuple);

/* Canonical text: ((2,4),8), 2@1@0, _. */
void tj_tuple_print(tj_text *text, const tj_tuple *tuple);
/* The tuple of these integers. */
void tj_tuple_print_nodes(tj_text *text, const tj_node *const nodes[], uint32_t count);
const char *tj_tuple_text(tj_job *job, const tj_tuple *tuple);

#endif
