/* SPDX-License-Identifier: MIT */
/* Names for what is the same for a workgroup. */
#ifndef TJ_LOWER_ARRAY_BINDINGS_H
#define TJ_LOWER_ARRAY_BINDINGS_H

#include "lower/rows/array_steps.h"

enum { TJ_ARRAY_MOST_BINDINGS = 24 };

void tj_array_add_binding(tj_array_maker *maker, tj_kernel_binding binding);

/* A value without names of others, of which values of names are not made. */
const tj_node *tj_array_without_bindings(const tj_array_maker *maker, const tj_node *value);

/* What is known of a value: it is in low … high, and a multiple. */
typedef struct {
  const tj_node *low, *high;
  int64_t multiple;
} tj_array_bounds;

/* A name that begins so for a value, which itself it is where it is constant. */
const tj_node *tj_array_bind(tj_array_maker *maker, const char *name, const tj_node *value, tj_array_bounds bounds);

#endif
