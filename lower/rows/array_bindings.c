/* SPDX-License-Identifier: MIT */
/* Bindings of a kernel of rows. */
#include "lower/rows/array_bindings.h"

#include "ir/index/substitute.h"
#include "ir/simplify/simplify.h"

void tj_array_add_binding(tj_array_maker *maker, tj_kernel_binding binding) {
  maker->kernel->binding[maker->kernel->binding_count++] = binding;
}

const tj_node *tj_array_without_bindings(const tj_array_maker *maker, const tj_node *value) {
  tj_graph *graph = maker->graph;
  const tj_kernel *kernel = maker->kernel;
  const tj_node *from[TJ_ARRAY_MOST_BINDINGS], *to[TJ_ARRAY_MOST_BINDINGS];
  for (uint32_t i = 0; i < kernel->binding_count; i++) {
    from[i] = kernel->binding[i].symbol;
    to[i] = kernel->binding[i].value;
  }
  tj_substitute(graph, &(tj_substitution){from, to, kernel->binding_count}, &value, 1);
  return tj_simplified(graph, value);
}

const tj_node *tj_array_bind(tj_array_maker *maker, const char *name, const tj_node *value, tj_array_bounds bounds) {
  tj_graph *graph = maker->graph;
  value = tj_simplified(graph, value);
  if (tj_is_constant(value))
    return value;
  name = tj_string_format(graph->job, "%s%u", name, maker->kernel->binding_count);
  const tj_node *symbol =
      tj_symbol_create(graph, name, TJ_SYMBOL_COORDINATE, bounds.low, bounds.high, bounds.multiple);
  value = tj_array_without_bindings(maker, value);
  tj_array_add_binding(maker, (tj_kernel_binding){.symbol = symbol, .value = value});
  return symbol;
}
