/* SPDX-License-Identifier: MIT */
/* Index expressions: a hash-consed graph of integer operations.
 *
 * A node is immutable and unique in its graph: equal expressions are the same pointer. Every node carries facts
 * (an interval, a congruence, known bits) that hold wherever its symbols' facts hold. Operations are the rows of
 * op.def, on mathematical integers. Nodes live in the job's arena, as long as the job.
 *
 * Constructors here fold constants and nothing else, so that an expression stays as it was written until
 * simplify.h is asked. They fail (tj_fail) where an operation is undefined: a divisor that may be 0 (TJ2009), a
 * constant beyond 64 bits (TJ2010), a shift out of 0 … 62 (TJ2017), a bit operation on what may be negative
 * (TJ2018); each after a look at the facts.
 *
 * How to add an operation: see op.def. */
#ifndef TJ_IR_GRAPH_H
#define TJ_IR_GRAPH_H

#include "base/number/op.h"

#include <stdbool.h>

/* What is known of an integer. low and high are inclusive; INT64_MIN and INT64_MAX there mean unbounded.
 * value ≡ residue (mod modulus), modulus >= 1, 0 <= residue < modulus.
 * Bits are known only of integers that cannot be negative: `zeros` are surely 0, `ones` surely 1. */
typedef struct {
  int64_t low, high;
  int64_t modulus, residue;
  uint64_t zeros, ones;
} tj_facts;

typedef struct tj_node tj_node;

typedef enum {
  TJ_SYMBOL_PARAMETER,  /* a program's param: bound at compile time or at launch */
  TJ_SYMBOL_COORDINATE, /* a coordinate of a map's domain, or a kernel's linear coordinate */
} tj_symbol_kind;

/* A named integer. Bounds and the divisor may mention earlier symbols: 0 <= i <= M - 1. */
typedef struct {
  const char *name;
  tj_symbol_kind kind;
  const tj_node *low, *high; /* inclusive; NULL: unbounded */
  int64_t multiple;          /* the value is a multiple of it; >= 1 */
  const tj_node *divisor;    /* the value is a multiple of it too; >= 1, no constant; NULL: no more is known */
  const int64_t *choice;     /* the value is one of these, ascending, within the other facts */
  uint32_t choice_count;     /* 0: it may be any that the other facts allow */
  uint32_t index;            /* dense among the graph's symbols, in order of creation */
} tj_symbol;

enum { TJ_MOST_SYMBOL_PARTS = 3 };

/* Bounds and the divisor, as far as there are any. Returns how many. */
unsigned tj_symbol_parts(const tj_symbol *symbol, const tj_node *part[TJ_MOST_SYMBOL_PARTS]);

/* The least common multiple of the symbol's multiple and of a value of its divisor, if it has one. False where the
 * value is no divisor, or the result does not fit. */
bool tj_symbol_step(const tj_symbol *symbol, int64_t divisor, int64_t *step);

/* Each node carries its value at a few fixed points, which refute at once most of what does not hold. */
enum { TJ_SAMPLE_COUNT = 3 };
#define TJ_NO_SAMPLE INT64_MIN /* the value is not known, or does not fit */

/* What walks and the simplifier remember of a node: see walk.h, linear.h, simplify.c. */
typedef struct {
  uint32_t visit;                 /* the last walk that came here */
  uint32_t place;                 /* where it was found by the last walk that is kept */
  uint32_t epoch;                 /* the traced simplification that `simple` is from, or a later one */
  const tj_node *draft;           /* the node on simplified atoms */
  const tj_node *simple;          /* what the node simplifies to */
  const tj_node *settled;         /* what is left of it by itself, at no more cost */
  const struct tj_linear *linear; /* the node as a sum */
} tj_memo;

/* What is read together stands together: searches need the first four fields, most rules those up to `facts`. */
struct tj_node {
  tj_op op;
  uint32_t id; /* dense; arguments have smaller ids than their users */
  union {
    int64_t value;           /* TJ_OP_CONSTANT */
    const tj_symbol *symbol; /* TJ_OP_SYMBOL */
    const tj_node *arg[3];   /* else: as many as the operation's arity */
  };
  uint32_t depth;   /* 0 for constants and symbols; at most TJ_MAX_NODE_DEPTH */
  uint32_t weight;  /* the cost of the expression as a tree, saturating: see cost.h */
  uint32_t symbols; /* which symbols it or their bounds mention: bit index % 32 of each */
  uint32_t rank;    /* the order of factors: by id, parameters after all others */
  tj_memo memo;     /* by tj_memo_of alone */
  tj_facts facts;
  int64_t sample[TJ_SAMPLE_COUNT]; /* values at points of the symbols' domain: see sample.c */
};

/* Constructing deeper expressions fails with TJ7002. Walks over nodes must not recurse in proportion to depth. */
enum { TJ_MAX_NODE_DEPTH = 100000 };

/* Added to the ranks of parameters; ids are less. */
#define TJ_RANK_OF_PARAMETERS (UINT32_C(1) << 31)

/* A place of the hash table; empty where node is NULL. The hash is here too, so that a search reads few nodes. */
typedef struct {
  const tj_node *node;
  uint32_t hash;
} tj_bucket;

typedef struct tj_graph tj_graph;
struct tj_graph {
  tj_job *job;
  tj_bucket *bucket;     /* open addressing */
  uint32_t bucket_count; /* a power of two */
  uint32_t node_count;   /* ids are 0 … node_count - 1 */
  uint32_t symbol_count;
  bool has_relations;     /* the facts of some parameter mention others */
  bool has_choices;       /* some symbol is one of a few values */
  uint64_t work;          /* spent on nodes and on terms so far, in units of some 20 ns: see simplify.c */
  uint32_t visit;         /* number of the last walk */
  uint32_t epoch;         /* number of the last traced simplification */
  const tj_node **shares; /* symbols of ir/value/mapping.h; NULL: none yet */
  const tj_node **found;  /* by the last walk: see walk.c */
  uint32_t found_capacity;
  const struct tj_rule_index *rules; /* of the simplifier, see rules.h; NULL: not listed yet */
  const struct tj_names *parameters; /* what parameters are called, the last one first; NULL: there are none */
};

tj_graph *tj_graph_create(tj_job *job);

const tj_node *tj_int(tj_graph *graph, int64_t value);

/* A new symbol, different from all others whatever its name. `name` is borrowed for the graph's life; a coordinate
 * gets _ behind it where a parameter has it. Fails with TJ2019 where no integer satisfies the facts. */
const tj_node *tj_symbol_create(tj_graph *graph, const char *name, tj_symbol_kind kind, const tj_node *low,
                                const tj_node *high, int64_t multiple);

/* Likewise, with all that is declared but the index. A divisor may be a constant here; TJ2019 also where it may be
 * less than 1. */
const tj_node *tj_symbol_declare(tj_graph *graph, tj_symbol declared);

/* A symbol of which nothing is known but facts. */
const tj_node *tj_symbol_of_facts(tj_graph *graph, const char *name, const tj_facts *facts);

/* Whether an expression, or bounds of what is in it, may mention a symbol. */
static inline bool tj_may_mention(const tj_node *node, const tj_node *symbol) {
  return (node->symbols & UINT32_C(1) << symbol->symbol->index % 32) != 0;
}

/* A coordinate 0 <= name < extent. */
const tj_node *tj_coordinate(tj_graph *graph, const char *name, const tj_node *extent);

const tj_node *tj_add(tj_graph *graph, const tj_node *a, const tj_node *b);
const tj_node *tj_sub(tj_graph *graph, const tj_node *a, const tj_node *b); /* a + -1 * b */
const tj_node *tj_mul(tj_graph *graph, const tj_node *a, const tj_node *b);
const tj_node *tj_div(tj_graph *graph, const tj_node *a, const tj_node *b); /* floor */
const tj_node *tj_mod(tj_graph *graph, const tj_node *a, const tj_node *b); /* floor */
const tj_node *tj_min(tj_graph *graph, const tj_node *a, const tj_node *b);
const tj_node *tj_max(tj_graph *graph, const tj_node *a, const tj_node *b);
const tj_node *tj_and(tj_graph *graph, const tj_node *a, const tj_node *b);
const tj_node *tj_or(tj_graph *graph, const tj_node *a, const tj_node *b);
const tj_node *tj_xor(tj_graph *graph, const tj_node *a, const tj_node *b);
const tj_node *tj_shl(tj_graph *graph, const tj_node *a, const tj_node *b);
const tj_node *tj_shr(tj_graph *graph, const tj_node *a, const tj_node *b);
const tj_node *tj_less(tj_graph *graph, const tj_node *a, const tj_node *b);       /* a < b */
const tj_node *tj_less_equal(tj_graph *graph, const tj_node *a, const tj_node *b); /* a < b + 1 */
const tj_node *tj_equal(tj_graph *graph, const tj_node *a, const tj_node *b);
const tj_node *tj_not(tj_graph *graph, const tj_node *truth); /* truth == 0 */
const tj_node *tj_select(tj_graph *graph, const tj_node *condition, const tj_node *then, const tj_node *otherwise);

/* The node of `op` on `args` exactly as given: no folding, no checks. For the simplifier, the reader and tests; the
 * constructors above are for everybody else. */
const tj_node *tj_node_make(tj_graph *graph, tj_op op, const tj_node *const args[]);

/* The same node with these facts, which it had in another graph: none are looked for. */
const tj_node *tj_node_restore(tj_graph *graph, tj_op op, const tj_node *const args[], const tj_facts *facts);

static inline bool tj_is_constant(const tj_node *node) {
  return node->op == TJ_OP_CONSTANT;
}

static inline bool tj_is_int(const tj_node *node, int64_t value) {
  return node->op == TJ_OP_CONSTANT && node->value == value;
}

/* The value of a constant; fails with TJ2020 for anything else, calling it `what`. */
int64_t tj_constant_value(tj_graph *graph, const tj_node *node, const char *what);

/* Fails as the constructors do where `op` is undefined, or not known to be defined, on these arguments. */
void tj_check_operation(tj_graph *graph, tj_op op, const tj_node *const args[]);

/* Adds what is known of a node's value by other ways than its operation, such as the facts of an equal expression:
 * they hold wherever the symbols' facts hold. Users made before keep what they know. */
void tj_sharpen_facts(const tj_node *node, const tj_facts *known);

/* Whether `op` is known to be defined on the arguments. */
bool tj_is_defined(tj_op op, const tj_node *const args[]);

/* A node's memo, which changes though the node does not. */
static inline tj_memo *tj_memo_of(const tj_node *node) {
  return &((tj_node *)(uintptr_t)node)->memo;
}

/* What the node simplifies to, if that is known since an epoch; otherwise NULL. */
static inline const tj_node *tj_simple_since(const tj_node *node, uint32_t epoch) {
  return node->memo.epoch >= epoch ? node->memo.simple : NULL;
}

const char *tj_op_text(tj_op op);
const char *tj_op_name(tj_op op); /* as its row in op.def: ADD */

/* How many operations of each kind a set of expressions needs, shared ones counted once. A negation (-1 * b) counts
 * as one with the sum that subtracts b, and as an addition elsewhere. */
typedef struct {
  uint32_t div, mod, mul, add, bit, select;
} tj_op_counts;

tj_op_counts tj_count_ops(tj_graph *graph, const tj_node *const roots[], size_t count);

#endif
