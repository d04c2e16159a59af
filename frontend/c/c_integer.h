/* SPDX-License-Identifier: MIT */
/* Arithmetic of C as index expressions: promotions, conversions, wrapping, division that rounds to 0.
 *
 * Index expressions are mathematical integers. Where facts do not show that a result fits its type, an unsigned one
 * of up to 32 bits wraps, as in C; of the others it becomes a condition that the result fits, since C leaves the rest
 * undefined, or it is beyond the 64 signed bits of an index expression. */
#ifndef TJ_FRONTEND_C_INTEGER_H
#define TJ_FRONTEND_C_INTEGER_H

#include "ir/index/graph.h"

typedef enum {
#define TYPE(name, bits, is_signed, rank, text) TJ_C_KIND_##name,
#include "frontend/c/c_type.def"
#undef TYPE
  TJ_C_KIND_COUNT
} tj_c_kind;

/* int32_t */
const char *tj_c_kind_name(tj_c_kind kind);

typedef struct {
  const tj_node *node; /* NULL: no value yet */
  tj_c_kind kind;
} tj_c_integer;

/* What has to hold for C to say what happens, and what happens otherwise: "int32_t overflows". */
typedef struct {
  const tj_node *holds;
  tj_span span;
  const char *otherwise;
} tj_c_condition;

/* Where arithmetic takes place. Starts from {graph, reached = 1}. */
typedef struct {
  tj_graph *graph;
  const tj_node *reached; /* a truth: whether control comes here */
  tj_c_condition *condition;
  uint32_t condition_count, condition_capacity;
} tj_c_place;

typedef enum {
  TJ_C_ADD,
  TJ_C_SUBTRACT,
  TJ_C_MULTIPLY,
  TJ_C_DIVIDE,
  TJ_C_REMAINDER,
  TJ_C_SHIFT_LEFT,
  TJ_C_SHIFT_RIGHT,
  TJ_C_LESS,
  TJ_C_GREATER,
  TJ_C_LESS_EQUAL,
  TJ_C_GREATER_EQUAL,
  TJ_C_EQUAL,
  TJ_C_UNEQUAL,
  TJ_C_BIT_AND,
  TJ_C_BIT_XOR,
  TJ_C_BIT_OR,
} tj_c_operation;

/* Truths of which one is often constant. */
const tj_node *tj_c_both(tj_graph *graph, const tj_node *a, const tj_node *b);
const tj_node *tj_c_either(tj_graph *graph, const tj_node *a, const tj_node *b);

/* Adds a condition, unless it surely holds. The span is the job's place. */
void tj_c_require(tj_c_place *place, const tj_node *holds, const char *otherwise);

/* A result in its type: wrapped, or on the condition that it fits. */
tj_c_integer tj_c_settled(tj_c_place *place, const tj_node *node, tj_c_kind kind);

tj_c_integer tj_c_convert(tj_c_place *place, tj_c_integer value, tj_c_kind kind);
const tj_node *tj_c_truth(tj_c_place *place, tj_c_integer value);
tj_c_integer tj_c_of_truth(const tj_node *truth);

tj_c_integer tj_c_negate(tj_c_place *place, tj_c_integer value);
tj_c_integer tj_c_complement(tj_c_place *place, tj_c_integer value);
tj_c_integer tj_c_compute(tj_c_place *place, tj_c_operation operation, tj_c_integer a, tj_c_integer b);
/* condition ? a : b */
tj_c_integer tj_c_choose(tj_c_place *place, const tj_node *condition, tj_c_integer a, tj_c_integer b);

#endif
