/* SPDX-License-Identifier: MIT */
/* A function's body, while it is read and followed: c_statement.c statements, c_expression.c expressions. */
#ifndef TJ_FRONTEND_C_RUN_H
#define TJ_FRONTEND_C_RUN_H

#include "frontend/c/c_file.h"

enum { TJ_C_MOST_VARIABLES = 256, TJ_C_MOST_CALLS = 64, TJ_C_MOST_NESTED = 256 };

typedef struct {
  const char *name;
  tj_c_integer value;
  bool is_auto; /* takes the type of its first value */
} tj_c_variable;

typedef struct {
  tj_c_reader reader;
  const tj_c_file *file;
  const tj_c_function *function; /* NULL: constants of the file */
  tj_c_place *place;
  tj_c_variable *variable; /* the innermost last */
  uint32_t variable_count;
  tj_c_integer *state; /* the fields of what the function takes a pointer to */
  tj_c_integer result;
  tj_c_integer *final_state; /* where the function has returned */
  bool has_returned;         /* somewhere */
  uint32_t call_depth, nesting;
} tj_c_run;

/* The variable of that name; NULL where there is none. */
tj_c_variable *tj_c_find_variable(tj_c_run *run, const tj_c_token *name);
/* The field behind -> or . ; the name of the struct has been read. */
tj_c_integer *tj_c_read_field(tj_c_run *run);
bool tj_c_is_state(const tj_c_run *run, const tj_c_token *name);

/* An expression, without assignments and commas. */
tj_c_integer tj_c_expression_of_run(tj_c_run *run);
/* The operation of a mark such as '+', or of '+=' without its '='; false where it is none. */
bool tj_c_operation_of(uint32_t mark, tj_c_operation *operation);

/* A call from within a run; the name has been read, and names a function of the file. */
tj_c_integer tj_c_call_within(tj_c_run *run, const tj_c_function *function);

/* Deeper by one; TJ7002 beyond a limit. The caller goes back. */
void tj_c_nest(tj_c_run *run);

/* What the run's function gives, where its body is one of base/number/c_routine.def; false where it is none, or its
 * arguments are not known to be what that takes. So a division that rounds down is one, and need not be found in the
 * choices that C takes for it. */
bool tj_c_call_routine(tj_c_run *run, tj_c_integer *value);

/* Runs a body: variables hold the parameters. */
tj_c_integer tj_c_run_body(tj_c_run *run);

#endif
