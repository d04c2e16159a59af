/* SPDX-License-Identifier: MIT */
/* The abstract syntax of a program: what was written, and where; nothing about what it means.
 *
 * Nodes live in the job's arena and are immutable once parsed. Left-associative chains (a + b + c …) make the AST
 * as deep as they are long: walks go down `item[0]` of binary nodes in a loop. All other nesting (brackets, minus
 * signs, applications, repeated ones like f(a)(b) too) is at most TJ_MAX_NESTING deep, as `height` says; between two
 * such levels a walk descends into right operands at most once for each precedence. docs/language.md specifies the
 * grammar. */
#ifndef TJ_FRONTEND_AST_H
#define TJ_FRONTEND_AST_H

#include "base/job.h"

#include <stdbool.h>

enum { TJ_MAX_NESTING = 256 };

typedef enum {
  TJ_AST_INTEGER,    /* 42, 0x2a, _42: `integer` */
  TJ_AST_DECIMAL,    /* 0.5, 2.5e-3: `name`, as written */
  TJ_AST_NAME,       /* M: `name` */
  TJ_AST_UNDERSCORE, /* _ */
  TJ_AST_TUPLE,      /* (), (4), (a, b), (a + 1,): items; one item stands bare, or before a comma */
  TJ_AST_GROUP,      /* (a + b): parentheses that group, one item, which is not bare */
  TJ_AST_LIST,       /* [a, b]: items */
  TJ_AST_TILER,      /* <a, b>: items */
  TJ_AST_SWIZZLE,    /* Sw<B, M, S>: three items */
  TJ_AST_NEGATE,     /* -a: one item */
  TJ_AST_BINARY,     /* a op b: two items and `op` */
  TJ_AST_TEMPLATE,   /* Shape<_4, _8>, also with {} or () behind it: `name`, items */
  TJ_AST_APPLY,      /* f(a, b, name=c): item[0] is what is applied, the rest its arguments */
  TJ_AST_NAMED,      /* name=a, only among arguments: `name`, one item */
} tj_ast_kind;

/* Binary operators, loosest first: row order is precedence, equal numbers bind alike, all associate to the left.
 * OPERATOR(name, text, precedence) */
#define TJ_OPERATORS(OPERATOR)                                                                                       \
  OPERATOR(COMPOSE, "o", 1)                                                                                          \
  OPERATOR(LAYOUT, ":", 2)                                                                                           \
  OPERATOR(OR, "|", 3)                                                                                               \
  OPERATOR(XOR, "^", 4)                                                                                              \
  OPERATOR(AND, "&", 5)                                                                                              \
  OPERATOR(SHL, "<<", 6)                                                                                             \
  OPERATOR(SHR, ">>", 6)                                                                                             \
  OPERATOR(ADD, "+", 7)                                                                                              \
  OPERATOR(SUB, "-", 7)                                                                                              \
  OPERATOR(MUL, "*", 8)                                                                                              \
  OPERATOR(DIV, "/", 8)                                                                                              \
  OPERATOR(MOD, "%", 8)                                                                                              \
  OPERATOR(BASIS, "@", 10) /* unary minus is 9 */

typedef enum {
#define OPERATOR(name, text, precedence) TJ_OPERATOR_##name,
  TJ_OPERATORS(OPERATOR)
#undef OPERATOR
} tj_operator;

typedef struct tj_ast tj_ast;
struct tj_ast {
  tj_ast_kind kind;
  tj_operator op;
  tj_span span;
  int64_t integer;
  const char *name;
  const tj_ast *const *item;
  uint32_t count;
  uint32_t height; /* levels of nesting below; operators and argument names are no level of their own */
};

typedef enum { TJ_ITEM_PARAM, TJ_ITEM_LET, TJ_ITEM_FUNCTION, TJ_ITEM_KERNEL, TJ_ITEM_IMPORT } tj_item_kind;

/* name: dtype @ view, or name: dtype */
typedef struct {
  const char *name;
  const char *dtype;
  const tj_ast *view; /* NULL: a number that the launch brings */
  tj_span span, dtype_span;
} tj_ast_argument;

/* name, or name=value, of a function. */
typedef struct {
  const char *name;
  const tj_ast *value; /* where a call gives none; NULL: every call gives one */
  tj_span span;
} tj_ast_parameter;

/* let name = value, or name = value, or name = value, scatter=indices, in the body of a kernel of arrays. */
typedef struct {
  bool is_let;
  const char *name;
  const tj_ast *value;
  const tj_ast *option; /* TJ_AST_NAMED; NULL: there is none */
  tj_span span, name_span;
} tj_ast_statement;

/* One definition. `param A in 1..4, B` gives two items. */
typedef struct tj_item {
  tj_item_kind kind;
  const char *name; /* import: what stands between the quotes */
  tj_span span, name_span;
  const tj_ast *low, *high, *multiple; /* param; each may be NULL; low and high both or neither */
  const tj_ast *choices;               /* param: a list, of the values that it may have; NULL: a range, or any */
  const tj_ast *body;                  /* let, function, kernel; NULL: a kernel of statements */
  const tj_ast_parameter *parameter;   /* function */
  uint32_t parameter_count;
  const tj_ast_argument *argument; /* kernel */
  uint32_t argument_count;
  const tj_ast_statement *statement; /* kernel */
  uint32_t statement_count;
  const tj_ast *mapping; /* kernel of statements; NULL: chosen */
  bool is_alias;         /* let: using name = body, of C++, which has no value where nothing mentions it */
} tj_item;

typedef struct {
  const tj_item *item;
  uint32_t item_count;
  uint32_t dynamic_count; /* of the items, the first ones: parameters that were written ? */
  const tj_ast *value;    /* the last, bare expression; NULL when there is none */
} tj_program_ast;

/* Whether parentheses around the expression make a tuple of one: it is a number with its sign, a basis element of
 * one, a name, _ or a tuple. Around anything else they group. */
bool tj_ast_is_bare(const tj_ast *ast);

/* Calls `visit` with every name of an expression; names of named arguments are none. */
void tj_ast_each_name(tj_job *job, const tj_ast *ast, void (*visit)(const tj_ast *name, void *data), void *data);

/* The same of all expressions of an item. */
void tj_item_each_name(tj_job *job, const tj_item *item, void (*visit)(const tj_ast *name, void *data), void *data);

/* Whether a function has a parameter of that name. */
bool tj_item_has_parameter(const tj_item *item, const char *name);

const char *tj_operator_text(tj_operator op);
int tj_operator_precedence(tj_operator op);

#endif
