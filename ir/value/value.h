/* SPDX-License-Identifier: MIT */
/* Values: everything that an expression of the language can mean, and the definitions that make up a program.
 *
 * The frontend makes them from text; the stages after it know nothing of text but the spans kept here for blame. */
#ifndef TJ_IR_VALUE_H
#define TJ_IR_VALUE_H

#include "ir/layout/f2.h"
#include "ir/map/distribution.h"
#include "ir/value/mapping.h"

typedef enum {
  TJ_VALUE_TUPLE, /* an integer, a basis element, an underscore, a tuple of those */
  TJ_VALUE_LAYOUT,
  TJ_VALUE_SWIZZLE,
  TJ_VALUE_COMPOSED,
  TJ_VALUE_TILER,
  TJ_VALUE_TRANSFORM,
  TJ_VALUE_VIEW,
  TJ_VALUE_ADAPTOR,
  TJ_VALUE_DISTRIBUTION,
  TJ_VALUE_LINEAR,
  TJ_VALUE_MAPPING,
  TJ_VALUE_WALK,
  TJ_VALUE_LIST,
} tj_value_kind;

/* A walk through a view from each of the starts, in row-major order: `trips` places, `step` apart, the start itself
 * the first. */
typedef struct {
  const tj_view *view;
  const tj_node *const *start_lengths; /* of the box of starts, by dimension of the view */
  const tj_node *const *step;
  const tj_node *trips;
} tj_path;

typedef struct tj_value tj_value;
struct tj_value {
  tj_value_kind kind;
  uint32_t depth; /* LIST, TILER: 1 + the deepest item's, at most TJ_MAX_TUPLE_DEPTH; else 0 */
  union {
    const tj_tuple *tuple;
    tj_layout layout;
    tj_swizzle swizzle;
    const tj_composed *composed;
    const tj_transform *transform;
    const tj_view *view;
    const tj_adaptor *adaptor;
    const tj_distribution *distribution;
    const tj_f2 *linear;
    const tj_mapping *mapping;
    const tj_path *walk;
    struct { /* LIST, TILER */
      const tj_value *const *item;
      uint32_t count;
    };
  };
};

/* What a kind is called in messages, with its article: "a layout". */
const char *tj_value_kind_name(tj_value_kind kind);

const tj_value *tj_value_of_tuple(tj_graph *graph, const tj_tuple *tuple);
const tj_value *tj_value_of_node(tj_graph *graph, const tj_node *node);
const tj_value *tj_value_of_layout(tj_graph *graph, tj_layout layout);
const tj_value *tj_value_of_swizzle(tj_graph *graph, tj_swizzle swizzle);
const tj_value *tj_value_of_composed(tj_graph *graph, const tj_composed *composed);
/* swizzle o offset o layout; a swizzle of 0 bits: a coordinate tensor. */
const tj_value *tj_value_of_parts(tj_graph *graph, tj_swizzle swizzle, const tj_tuple *offset, tj_layout layout);
const tj_value *tj_value_of_transform(tj_graph *graph, const tj_transform *transform);
const tj_value *tj_value_of_view(tj_graph *graph, const tj_view *view);
const tj_value *tj_value_of_adaptor(tj_graph *graph, const tj_adaptor *adaptor);
const tj_value *tj_value_of_distribution(tj_graph *graph, const tj_distribution *distribution);
const tj_value *tj_value_of_linear(tj_graph *graph, const tj_f2 *map);
const tj_value *tj_value_of_mapping(tj_graph *graph, const tj_mapping *mapping);
const tj_value *tj_value_of_walk(tj_graph *graph, const tj_path *walk);
const tj_value *tj_value_of_items(tj_graph *graph, tj_value_kind kind, const tj_value *const items[], uint32_t count);

/* Canonical text, which parses back to the same value. */
void tj_value_print(tj_text *text, const tj_value *value);
/* The same with every symbolic leaf simplified. */
const tj_value *tj_value_simplified(tj_graph *graph, const tj_value *value);

/* A value as a linear map over F2; NULL where it is none, and *obstacle says why. Layouts and swizzles show it by
 * their structure, other maps of up to 2^24 coordinates by their values. */
const tj_f2 *tj_f2_of_value(tj_graph *graph, const tj_value *value, const char **obstacle);

/* The layout of a layout or a composed layout; NULL for anything else. */
const tj_layout *tj_value_layout(const tj_value *value);
/* The value of a layout or a composed layout at a coordinate. */
const tj_tuple *tj_value_at(tj_graph *graph, const tj_value *value, const tj_tuple *coordinate);

/* Any value that is a map; TJ2024 for others. */
tj_map tj_map_of_value(tj_graph *graph, const tj_value *value);

/* A parameter of a program: a symbol, or the constant it is bound to. */
typedef struct {
  const char *name;
  const tj_node *node;
} tj_parameter;

typedef struct {
  const char *name;
  const char *dtype;
  const tj_value *view;     /* a layout, a composed layout or a view */
  bool is_read, is_written; /* by the statements of a kernel of arrays */
  tj_span span, dtype_span;
} tj_kernel_argument;

enum { TJ_NO_ARGUMENT = UINT32_MAX };

typedef enum { TJ_BODY_OFFSETS, TJ_BODY_COPY, TJ_BODY_ARRAYS } tj_kernel_body;

/* What becomes of the elements of a destination whose indices are looked up. */
typedef enum { TJ_SCATTER_NONE, TJ_SCATTER_STORES, TJ_SCATTER_ADDS } tj_scatter;

/* A number of a copy's arithmetic: an integer wherever it is one. */
typedef struct {
  bool is_integer;
  int64_t integer;
  double real; /* the nearest to `integer`, where that is what it is */
} tj_number;

/* kernel NAME(arguments) = copy(source, destination, fill=…, mapping=…), or offsets(destination, map, step=…,
 * count=…, starts=…), or statements of arrays. copy(…, through=D) and shuffle(…, from=D1, to=D2) are copies with the
 * mapping that the distributions say.
 */
typedef struct {
  const char *name;
  const tj_kernel_argument *argument;
  uint32_t argument_count;
  tj_kernel_body body;
  uint32_t source, destination; /* indices of arguments */
  const uint32_t *other; /* copy: those of further sources, then of further destinations, which statements have */
  uint32_t other_count, other_sources;
  uint32_t indices;                      /* copy: the argument in which an index of the source is looked up */
  uint32_t indexed_dimension;            /* in this dimension */
  tj_scatter scatter;                    /* of the destination, not of the source */
  const struct tj_array_program *arrays; /* of statements */
  const tj_value *map;                   /* offsets: whose offsets */
  const tj_path *walk;                   /* offsets of a view: at which places; NULL: at all, each once */
  int64_t fill;                          /* copy */
  tj_number scale, bias;                 /* copy: elements become scale * element + bias */
  const tj_mapping *mapping;             /* copy; NULL: chosen */
  bool may_race;                         /* several coordinates may store different sources to one element */
  tj_span span, body_span, load_span, store_span; /* the last two: what says how tiles are loaded and stored */
} tj_kernel_definition;

typedef struct {
  const char *name;
  const tj_value *value;      /* NULL: a function */
  const struct tj_item *item; /* as it is written */
} tj_definition;

/* A program, evaluated. */
typedef struct {
  const tj_parameter *parameter;
  uint32_t parameter_count;
  const tj_definition *definition; /* the lets */
  uint32_t definition_count;
  const tj_kernel_definition *kernel;
  uint32_t kernel_count;
  const tj_value *value; /* of the last, bare expression; NULL where there is none */
  tj_span value_span;
} tj_program_values;

#endif
