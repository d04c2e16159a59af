/* SPDX-License-Identifier: MIT */
/* Functions of integers in C, read from text, and what they give as index expressions.
 *
 * A file has functions, structs of integers, and constants. A function takes integers, and before them perhaps a
 * pointer to a struct, which it may read and set; its body has declarations, assignments, if, return, and calls of
 * other functions of the file. Loops, arrays, other pointers and floating point are refused where a function that is
 * asked for has them; so is recursion. Macros are not expanded; what the preprocessor leaves out is read, too.
 *
 * Bodies are read when they are called, with index expressions for arguments: there is no tree of them. */
#ifndef TJ_FRONTEND_C_FILE_H
#define TJ_FRONTEND_C_FILE_H

#include "frontend/c/c_reader.h"

typedef struct {
  const char *name;
  tj_span span;
  bool has_value;
  bool is_auto;             /* the value is of the type that it has */
  tj_c_kind kind;           /* of the value */
  const tj_c_struct *state; /* NULL: takes none */
  const char *state_name;
  const tj_c_field *parameter;
  uint32_t parameter_count;
  uint32_t body; /* behind the opening brace */
} tj_c_function;

typedef struct {
  const char *name;
  tj_c_integer value;
} tj_c_constant;

typedef struct {
  tj_graph *graph;
  tj_source source;
  const tj_c_struct *structs;
  uint32_t struct_count;
  const tj_c_function *function; /* those with a body, in order */
  uint32_t function_count;
  const tj_c_constant *constant;
  uint32_t constant_count;
} tj_c_file;

/* Reads what a text declares. TJ1006 where it is not understood. */
tj_c_file *tj_c_file_read(tj_graph *graph, const tj_source *source);

/* The function of that name; NULL where there is none. */
const tj_c_function *tj_c_file_find(const tj_c_file *file, const char *name);

/* What a function gives for arguments, of which it takes parameter_count, and, where it takes one, the fields of a
 * struct, which it may change; a field without a value has the node NULL. Conditions go to the place. The value of a
 * function without one has the node NULL. */
tj_c_integer tj_c_call(const tj_c_file *file, const tj_c_function *function, tj_c_place *place,
                       const tj_node *const argument[], tj_c_integer state[]);

#endif
