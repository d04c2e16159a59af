/* SPDX-License-Identifier: MIT */
/* Arrays in the bodies of kernels: what sema_array.c evaluates for sema_statement.c. */
#ifndef TJ_FRONTEND_SEMA_ARRAY_H
#define TJ_FRONTEND_SEMA_ARRAY_H

#include "frontend/sema/sema.h"
#include "ir/array/array.h"

typedef struct {
  const char *name;
  const tj_array *array;
} tj_named_array;

/* Where names are looked up: a body of statements, or a function that is called there. */
typedef struct tj_array_frame {
  tj_graph *graph;
  tj_job *job;
  tj_array_program *program;
  tj_scope *scope; /* what the program defines */
  tj_named_array *name;
  uint32_t count;
  uint32_t depth;        /* of calls */
  const tj_item *kernel; /* NULL in functions */
  const tj_kernel_definition *definition;
  tj_kernel_argument *argument; /* of the kernel */
  const tj_array **buffer;      /* by argument: what its name stands for; NULL: not mentioned yet */
} tj_array_frame;

/* An argument's number, argument_count where none is called so; the name that a let gives, or NULL. */
uint32_t tj_frame_argument(const tj_array_frame *f, const char *name);
const tj_named_array *tj_frame_name(const tj_array_frame *f, const char *name);

/* The array that an argument has been before anything was stored. */
const tj_array *tj_frame_buffer(tj_array_frame *f, uint32_t number);
/* The indices of an argument, which become read: [indices, dimension], or indices of dimension 0. */
tj_indexed tj_frame_indices(tj_array_frame *f, const char *name, const tj_ast *ast, uint32_t argument);
/* An argument's extents where indices say which elements along a dimension are meant: as many as there are. */
const tj_node **tj_frame_extents(tj_array_frame *f, uint32_t argument, uint32_t indices, uint32_t dimension);

/* TJ4025 to TJ4027, TJ2001 and others, at what is to blame. */
const tj_array *tj_frame_evaluate(tj_array_frame *f, const tj_ast *ast);
/* TJ4027: there is no such mode. */
_Noreturn void tj_frame_fail_index(tj_array_frame *f, tj_span at, int64_t mode);

#endif
