/* SPDX-License-Identifier: MIT */
/* Making and printing values: a thin sum of the types that tuple.h, layout.h, transform.h and view.h define. */
#include "ir/value/value.h"

#include "ir/index/print.h"
#include "ir/simplify/simplify.h"

const char *tj_value_kind_name(tj_value_kind kind) {
  static const char *const names[] = {[TJ_VALUE_TUPLE] = "an integer or a tuple",
                                      [TJ_VALUE_LAYOUT] = "a layout",
                                      [TJ_VALUE_SWIZZLE] = "a swizzle",
                                      [TJ_VALUE_COMPOSED] = "a composed layout",
                                      [TJ_VALUE_TILER] = "a tiler",
                                      [TJ_VALUE_TRANSFORM] = "a transform",
                                      [TJ_VALUE_VIEW] = "a view",
                                      [TJ_VALUE_ADAPTOR] = "an adaptor",
                                      [TJ_VALUE_DISTRIBUTION] = "a distribution",
                                      [TJ_VALUE_LINEAR] = "a linear map",
                                      [TJ_VALUE_MAPPING] = "a mapping",
                                      [TJ_VALUE_WALK] = "a walk",
                                      [TJ_VALUE_LIST] = "a list"};
  return names[kind];
}

static tj_value *new_value(tj_graph *graph, tj_value_kind kind) {
  tj_value *value = TJ_NEW(graph->job, tj_value);
  value->kind = kind;
  return value;
}

/* Defines tj_value_of_NAME: a value of a kind, whose member of that name it has. */
#define DEFINE_VALUE_OF(name, kind, type)                                                                            \
  const tj_value *tj_value_of_##name(tj_graph *graph, type name) {                                                   \
    tj_value *value = new_value(graph, kind);                                                                        \
    value->name = name;                                                                                              \
    return value;                                                                                                    \
  }

DEFINE_VALUE_OF(tuple, TJ_VALUE_TUPLE, const tj_tuple *)
DEFINE_VALUE_OF(layout, TJ_VALUE_LAYOUT, tj_layout)
DEFINE_VALUE_OF(swizzle, TJ_VALUE_SWIZZLE, tj_swizzle)
DEFINE_VALUE_OF(composed, TJ_VALUE_COMPOSED, const tj_composed *)
DEFINE_VALUE_OF(transform, TJ_VALUE_TRANSFORM, const tj_transform *)
DEFINE_VALUE_OF(view, TJ_VALUE_VIEW, const tj_view *)
DEFINE_VALUE_OF(adaptor, TJ_VALUE_ADAPTOR, const tj_adaptor *)
DEFINE_VALUE_OF(distribution, TJ_VALUE_DISTRIBUTION, const tj_distribution *)
DEFINE_VALUE_OF(linear, TJ_VALUE_LINEAR, const tj_f2 *)
DEFINE_VALUE_OF(mapping, TJ_VALUE_MAPPING, const tj_mapping *)
DEFINE_VALUE_OF(walk, TJ_VALUE_WALK, const tj_path *)

const tj_value *tj_value_of_node(tj_graph *graph, const tj_node *node) {
  return tj_value_of_tuple(graph, tj_tuple_integer(graph, node));
}

const tj_value *tj_value_of_parts(tj_graph *graph, tj_swizzle swizzle, const tj_tuple *offset, tj_layout layout) {
  tj_composed *composed = TJ_NEW(graph->job, tj_composed);
  *composed = (tj_composed){swizzle, offset, layout};
  return tj_value_of_composed(graph, composed);
}

const tj_value *tj_value_of_items(tj_graph *graph, tj_value_kind kind, const tj_value *const items[],
                                  uint32_t count) {
  tj_value *value = new_value(graph, kind);
  for (uint32_t i = 0; i < count; i++)
    value->depth = items[i]->depth > value->depth ? items[i]->depth : value->depth;
  if (++value->depth > TJ_MAX_TUPLE_DEPTH)
    tj_fail(graph->job, TJ_DEPTH_LIMIT, "lists are nested more than %d deep", TJ_MAX_TUPLE_DEPTH);
  value->item = tj_arena_copy(&graph->job->arena, items, count * sizeof *items);
  value->count = count;
  return value;
}

static void print_items(tj_text *text, const tj_value *value, char open, char close) {
  tj_text_char(text, open);
  for (uint32_t i = 0; i < value->count; i++) {
    if (i > 0)
      tj_text_string(text, ", ");
    tj_value_print(text, value->item[i]);
  }
  tj_text_char(text, close);
}

/* One integer for each dimension of the walk's view. */
static void print_integers(tj_text *text, const char *name, const tj_node *const integer[], uint32_t count) {
  tj_text_format(text, ", %s=(", name);
  for (uint32_t i = 0; i < count; i++) {
    tj_text_string(text, i > 0 ? "," : "");
    tj_node_print(text, integer[i]);
  }
  tj_text_char(text, ')');
}

static void print_walk(tj_text *text, const tj_path *walk) {
  tj_text_string(text, "walk(");
  tj_view_print(text, walk->view);
  print_integers(text, "step", walk->step, walk->view->rank);
  tj_text_string(text, ", count=");
  tj_node_print(text, walk->trips);
  print_integers(text, "starts", walk->start_lengths, walk->view->rank);
  tj_text_char(text, ')');
}

void tj_value_print(tj_text *text, const tj_value *value) {
  switch (value->kind) {
  case TJ_VALUE_TUPLE:
    tj_tuple_print(text, value->tuple);
    return;
  case TJ_VALUE_LAYOUT:
    tj_layout_print(text, value->layout);
    return;
  case TJ_VALUE_SWIZZLE:
    tj_swizzle_print(text, value->swizzle);
    return;
  case TJ_VALUE_COMPOSED:
    tj_composed_print(text, value->composed);
    return;
  case TJ_VALUE_TRANSFORM:
    tj_transform_print(text, value->transform);
    return;
  case TJ_VALUE_VIEW:
    tj_view_print(text, value->view);
    return;
  case TJ_VALUE_ADAPTOR:
    tj_adaptor_print(text, value->adaptor);
    return;
  case TJ_VALUE_DISTRIBUTION:
    tj_distribution_print(text, value->distribution);
    return;
  case TJ_VALUE_LINEAR:
    tj_f2_print(text, value->linear);
    return;
  case TJ_VALUE_MAPPING:
    tj_mapping_print(text, value->mapping);
    return;
  case TJ_VALUE_WALK:
    print_walk(text, value->walk);
    return;
  case TJ_VALUE_TILER:
    print_items(text, value, '<', '>');
    return;
  case TJ_VALUE_LIST:
    print_items(text, value, '[', ']');
    return;
  }
}

static const tj_tuple *simplified_tuple(tj_graph *graph, const tj_tuple *tuple) {
  switch (tuple->kind) {
  case TJ_TUPLE_ANY:
    return tuple;
  case TJ_TUPLE_INTEGER:
    return tj_tuple_integer(graph, tj_simplified(graph, tuple->value));
  case TJ_TUPLE_BASIS:
    return tj_tuple_basis(graph, tj_simplified(graph, tuple->value), tuple->path, tuple->count);
  case TJ_TUPLE_LIST:
    break;
  }
  const tj_tuple **items = TJ_NEW_ARRAY(graph->job, const tj_tuple *, tuple->count);
  for (uint32_t i = 0; i < tuple->count; i++)
    items[i] = simplified_tuple(graph, tuple->item[i]);
  return tj_tuple_list(graph, items, tuple->count);
}

static tj_layout simplified_layout(tj_graph *graph, tj_layout layout) {
  return (tj_layout){simplified_tuple(graph, layout.shape), simplified_tuple(graph, layout.stride)};
}

static const tj_value *simplified_items(tj_graph *graph, const tj_value *value) {
  const tj_value **items = TJ_NEW_ARRAY(graph->job, const tj_value *, value->count);
  for (uint32_t i = 0; i < value->count; i++)
    items[i] = tj_value_simplified(graph, value->item[i]);
  return tj_value_of_items(graph, value->kind, items, value->count);
}

const tj_value *tj_value_simplified(tj_graph *graph, const tj_value *value) {
  switch (value->kind) {
  case TJ_VALUE_TUPLE:
    return tj_value_of_tuple(graph, simplified_tuple(graph, value->tuple));
  case TJ_VALUE_LAYOUT:
    return tj_value_of_layout(graph, simplified_layout(graph, value->layout));
  case TJ_VALUE_COMPOSED: {
    const tj_tuple *offset = simplified_tuple(graph, value->composed->offset);
    return tj_value_of_parts(graph, value->composed->swizzle, offset,
                             simplified_layout(graph, value->composed->layout));
  }
  case TJ_VALUE_TILER:
  case TJ_VALUE_LIST:
    return simplified_items(graph, value);
  case TJ_VALUE_SWIZZLE:
  case TJ_VALUE_TRANSFORM:
  case TJ_VALUE_VIEW:
  case TJ_VALUE_ADAPTOR:
  case TJ_VALUE_DISTRIBUTION:
  case TJ_VALUE_LINEAR:
  case TJ_VALUE_MAPPING:
  case TJ_VALUE_WALK:
    return value;
  }
  return value;
}

const tj_layout *tj_value_layout(const tj_value *value) {
  if (value->kind == TJ_VALUE_LAYOUT)
    return &value->layout;
  return value->kind == TJ_VALUE_COMPOSED ? &value->composed->layout : NULL;
}

const tj_tuple *tj_value_at(tj_graph *graph, const tj_value *value, const tj_tuple *coordinate) {
  return value->kind == TJ_VALUE_LAYOUT ? tj_layout_apply(graph, value->layout, coordinate)
                                        : tj_composed_apply(graph, value->composed, coordinate);
}

tj_map tj_map_of_value(tj_graph *graph, const tj_value *value) {
  switch (value->kind) {
  case TJ_VALUE_LAYOUT:
    return tj_map_of_layout(graph, value->layout);
  case TJ_VALUE_COMPOSED:
    return tj_map_of_composed(graph, value->composed);
  case TJ_VALUE_TRANSFORM:
    return tj_map_of_transform(graph, value->transform);
  case TJ_VALUE_VIEW:
    return tj_map_of_view(graph, value->view);
  case TJ_VALUE_ADAPTOR:
    return tj_map_of_adaptor(graph, value->adaptor);
  case TJ_VALUE_DISTRIBUTION:
    return tj_map_of_distribution(graph, value->distribution);
  case TJ_VALUE_LINEAR:
    return tj_map_of_linear(graph, value->linear);
  default:
    tj_fail(graph->job, TJ_NOT_A_MAP, "%s is not a map with a domain", tj_value_kind_name(value->kind));
  }
}
