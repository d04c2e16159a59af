/* SPDX-License-Identifier: MIT */
/* One writer for all: languages differ in how they write integers, tuples and calls, and in what they have. */
#include "jit/inspect/foreign_text.h"

#include "ir/index/print.h"
#include "ir/index/walk.h"
#include "ir/simplify/simplify.h"

#include <inttypes.h>
#include <string.h>

/* How a language writes what all of them have. */
typedef struct {
  const char *name;          /* in messages */
  const char *integer;       /* before a constant */
  const char *integer_end;   /* after it */
  const char *tuple, *shape; /* before the items of a tuple; of a shape or a stride */
  const char *stride;
  const char *one; /* after the only item of a tuple, before its end */
} language;

static const language languages[] = {
    [TJ_TEXT_CUTE] = {"CuTe's C++", "Int<", ">{}", "make_tuple(", "make_shape(", "make_stride(", ""},
    [TJ_TEXT_CUTE_DSL] = {"CuTe's DSL", "", "", "(", "(", "(", ","},
    [TJ_TEXT_CK] = {"CK Tile's C++", "number<", ">{}", "make_tuple(", "make_tuple(", "make_tuple(", ""},
};

typedef struct {
  tj_graph *graph;
  tj_text *text;
  const language *is;
  tj_text_form form;
} writer;

static _Noreturn void fail(const writer *w, const char *what, const char *why) {
  tj_note(w->graph->job, "%s", why);
  tj_fail(w->graph->job, TJ_WRONG_TYPE, "%s has no %s", w->is->name, what);
}

/* --- integers and tuples --- */

/* Whether all languages compute it as it is meant: quotients and remainders of negatives, and choices, differ. */
static bool is_plain(tj_graph *graph, const tj_node *node) {
  tj_walk walk = tj_walk_nodes(graph, &node, 1);
  for (uint32_t i = 0; i < walk.count; i++) {
    tj_op op = walk.node[i]->op;
    if (op != TJ_OP_CONSTANT && op != TJ_OP_SYMBOL && op != TJ_OP_ADD && op != TJ_OP_MUL)
      return false;
  }
  return true;
}

static void write_node(const writer *w, const tj_node *node) {
  node = tj_simplified(w->graph, node);
  if (tj_is_constant(node)) {
    tj_text_format(w->text, "%s%" PRId64 "%s", w->is->integer, node->value, w->is->integer_end);
    return;
  }
  if (!is_plain(w->graph, node))
    fail(
        w, tj_string_format(w->graph->job, "text for %s", tj_node_brief(w->graph->job, node)),
        "integers are constants, parameters, and their sums and products; fix the parameters, or name the expression "
        "with param");
  tj_node_print(w->text, node);
}

static void write_basis(const writer *w, const tj_tuple *basis) {
  if (w->form == TJ_TEXT_CK)
    fail(w, "basis elements", "CK Tile's coordinates are those of its adaptors");
  bool is_dsl = w->form == TJ_TEXT_CUTE_DSL;
  if (is_dsl) {
    tj_text_string(w->text, "cute.ScaledBasis(");
    write_node(w, basis->value);
  } else if (!tj_is_int(basis->value, 1)) {
    write_node(w, basis->value);
    tj_text_string(w->text, " * ");
  }
  tj_text_string(w->text, is_dsl ? ", [" : "E<");
  for (uint32_t i = 0; i < basis->count; i++)
    tj_text_format(w->text, "%s%u", i > 0 ? is_dsl ? ", " : "," : "", basis->path[i]);
  tj_text_string(w->text, is_dsl ? "])" : ">{}");
}

static void write_tuple(const writer *w, const tj_tuple *tuple, const char *open) {
  switch (tuple->kind) {
  case TJ_TUPLE_INTEGER:
    write_node(w, tuple->value);
    return;
  case TJ_TUPLE_BASIS:
    write_basis(w, tuple);
    return;
  case TJ_TUPLE_ANY:
    if (w->form == TJ_TEXT_CK)
      fail(w, "underscore", "it has no slices");
    tj_text_string(w->text, w->form == TJ_TEXT_CUTE_DSL ? "None" : "_");
    return;
  case TJ_TUPLE_LIST:
    break;
  }
  tj_text_string(w->text, open);
  for (uint32_t i = 0; i < tuple->count; i++) {
    tj_text_string(w->text, i > 0 ? ", " : "");
    write_tuple(w, tuple->item[i], open);
  }
  tj_text_format(w->text, "%s)", tuple->count == 1 ? w->is->one : "");
}

/* --- layouts --- */

static void write_swizzle(const writer *w, tj_swizzle swizzle) {
  if (w->form == TJ_TEXT_CK)
    fail(w, "swizzles", "it has XOR transforms of two dimensions");
  bool is_dsl = w->form == TJ_TEXT_CUTE_DSL;
  tj_text_format(w->text, is_dsl ? "cute.make_swizzle(%d, %d, %d)" : "Swizzle<%d,%d,%d>{}", swizzle.bits,
                 swizzle.base, swizzle.shift);
}

/* A layout whose modes are no tuples is a descriptor of as many dimensions. */
static void write_layout(const writer *w, tj_layout layout) {
  bool is_flat = tj_tuple_is_list(layout.shape) && layout.shape->depth == 1;
  if (w->form == TJ_TEXT_CK && !is_flat)
    fail(w, "hierarchical layouts", "view(L) is the descriptor of a layout");
  const char *const calls[] = {[TJ_TEXT_CUTE] = "make_layout(",
                               [TJ_TEXT_CUTE_DSL] = "cute.make_layout(",
                               [TJ_TEXT_CK] = "make_naive_tensor_descriptor("};
  tj_text_string(w->text, calls[w->form]);
  write_tuple(w, layout.shape, w->is->shape);
  tj_text_string(w->text, w->form == TJ_TEXT_CUTE_DSL ? ", stride=" : ", ");
  write_tuple(w, layout.stride, w->is->stride);
  tj_text_char(w->text, ')');
}

static void write_composed(const writer *w, const tj_composed *composed) {
  if (composed->swizzle.bits == 0)
    fail(w, "coordinate tensors as one expression", "they are tensors: a layout and the coordinate where it begins");
  tj_text_string(w->text, w->form == TJ_TEXT_CUTE_DSL ? "cute.make_composed_layout(" : "make_composed_layout(");
  write_swizzle(w, composed->swizzle);
  tj_text_string(w->text, ", ");
  write_tuple(w, composed->offset, w->is->tuple);
  tj_text_string(w->text, ", ");
  write_layout(w, composed->layout);
  tj_text_char(w->text, ')');
}

static void write_value(const writer *w, const tj_value *value);

static void write_tiler(const writer *w, const tj_value *tiler) {
  if (w->form == TJ_TEXT_CK)
    fail(w, "tilers", "tiles are windows of distributions");
  tj_text_string(w->text, w->form == TJ_TEXT_CUTE_DSL ? "(" : "make_tile(");
  for (uint32_t i = 0; i < tiler->count; i++) {
    tj_text_string(w->text, i > 0 ? ", " : "");
    write_value(w, tiler->item[i]);
  }
  tj_text_format(w->text, "%s)", tiler->count == 1 ? w->is->one : "");
}

/* --- distributions --- */

static void write_lengths(const writer *w, tj_lengths lengths) {
  tj_text_string(w->text, "sequence<");
  for (uint32_t i = 0; i < lengths.count; i++)
    tj_text_format(w->text, "%s%" PRId64, i > 0 ? "," : "", lengths.length[i]);
  tj_text_char(w->text, '>');
}

static void write_dimensions(const writer *w, const tj_rh dimension[], uint32_t count, bool is_major) {
  tj_text_string(w->text, "sequence<");
  for (uint32_t i = 0; i < count; i++)
    tj_text_format(w->text, "%s%u", i > 0 ? "," : "", is_major ? dimension[i].major : dimension[i].minor);
  tj_text_char(w->text, '>');
}

static void write_partitions(const writer *w, const tj_distribution *d, bool is_major) {
  tj_text_string(w->text, ", tuple<");
  for (uint32_t i = 0; i < d->p_count; i++) {
    tj_text_string(w->text, i > 0 ? ", " : "");
    write_dimensions(w, d->p[i].dimension, d->p[i].count, is_major);
  }
  tj_text_char(w->text, '>');
}

static void write_distribution(const writer *w, const tj_distribution *d) {
  tj_text_string(w->text, "tile_distribution_encoding<");
  write_lengths(w, d->rh[0]);
  tj_text_string(w->text, ", tuple<");
  for (uint32_t i = 0; i < d->x_count; i++) {
    tj_text_string(w->text, i > 0 ? ", " : "");
    write_lengths(w, d->rh[i + 1]);
  }
  tj_text_char(w->text, '>');
  write_partitions(w, d, true);
  write_partitions(w, d, false);
  for (unsigned is_minor = 0; is_minor < 2; is_minor++) {
    tj_text_string(w->text, ", ");
    write_dimensions(w, d->y, d->y_count, is_minor == 0);
  }
  tj_text_string(w->text, ">{}");
}

/* --- transforms and views --- */

/* Transforms whose numbers are one tuple there. */
static bool takes_tuple(tj_transform_kind kind) {
  return kind == TJ_TRANSFORM_MERGE || kind == TJ_TRANSFORM_UNMERGE || kind == TJ_TRANSFORM_REPLICATE ||
         kind == TJ_TRANSFORM_XOR;
}

static void write_transform(const writer *w, const tj_transform *transform) {
  static const char *const names[] = {
#define TRANSFORM(name, text, stage, reach, images, form, doc, example, value, cute, ck) ck,
#include "ir/view/transform.def"
#undef TRANSFORM
  };
  const char *name = names[transform->kind];
  tj_text_add(w->text, name, strcspn(name, " "));
  bool is_one =
      takes_tuple(transform->kind) && (transform->argument_count != 1 || !tj_tuple_is_list(transform->argument[0]));
  tj_text_string(w->text, is_one ? "(make_tuple(" : "(");
  for (uint32_t i = 0; i < transform->argument_count; i++) {
    tj_text_string(w->text, i > 0 ? ", " : "");
    write_tuple(w, transform->argument[i], w->is->tuple);
  }
  tj_text_string(w->text, is_one ? "))" : ")");
}

static void write_nodes(const writer *w, const tj_node *const node[], uint32_t count) {
  tj_text_string(w->text, "make_tuple(");
  for (uint32_t i = 0; i < count; i++) {
    tj_text_string(w->text, i > 0 ? ", " : "");
    write_node(w, node[i]);
  }
  tj_text_char(w->text, ')');
}

static void write_base(const writer *w, const tj_view *view) {
  static const char *const calls[] = {[TJ_BASE_STRIDED] = "make_naive_tensor_descriptor(",
                                      [TJ_BASE_PACKED] = "make_naive_tensor_descriptor_packed(",
                                      [TJ_BASE_ALIGNED] = "make_naive_tensor_descriptor_aligned("};
  const tj_transform *transform = view->stage[0].transform;
  int64_t length = view->guaranteed_length[view->rank], stride = view->guaranteed_stride[view->rank];
  if (!tj_is_int(view->offset, 0))
    fail(w, "descriptors with an offset as one expression", "the offset is added to the pointer");
  tj_text_string(w->text, calls[view->base]);
  write_nodes(w, transform->upper_length, view->rank);
  tj_text_string(w->text, view->base == TJ_BASE_PACKED ? "" : ", ");
  if (view->base == TJ_BASE_STRIDED)
    write_nodes(w, transform->amount, view->rank);
  if (view->base == TJ_BASE_ALIGNED)
    write_node(w, view->alignment);
  if (length != -1 && view->base != TJ_BASE_ALIGNED)
    tj_text_format(w->text, ", number<%" PRId64 ">{}", length);
  if (length != -1 && view->base == TJ_BASE_STRIDED)
    tj_text_format(w->text, ", number<%" PRId64 ">{}", stride);
  tj_text_char(w->text, ')');
}

static void write_numbers(const writer *w, const tj_view_step *step, bool is_upper) {
  const uint32_t *number = is_upper ? step->upper : step->lower;
  tj_text_string(w->text, "sequence<");
  for (uint32_t i = 0; i < (is_upper ? step->upper_count : step->lower_count); i++)
    tj_text_format(w->text, "%s%u", i > 0 ? "," : "", number[i]);
  tj_text_string(w->text, ">{}");
}

/* The last arguments of a stage. */
static void write_steps(const writer *w, const tj_view_step step[], uint32_t count) {
  for (unsigned part = 0; part < 3; part++) {
    tj_text_string(w->text, ", make_tuple(");
    for (uint32_t i = 0; i < count; i++) {
      tj_text_string(w->text, i > 0 ? ", " : "");
      if (part == 0)
        write_transform(w, step[i].transform);
      else
        write_numbers(w, &step[i], part == 2);
    }
    tj_text_char(w->text, ')');
  }
}

/* Stages stand around each other, the last one outermost. */
static void write_view(const writer *w, const tj_view *view) {
  uint32_t stages = 0;
  for (const tj_view *at = view; at->below != NULL; at = at->below)
    stages++;
  const tj_view **stage = TJ_NEW_ARRAY(w->graph->job, const tj_view *, stages + 1);
  uint32_t count = 0;
  for (; view->below != NULL; view = view->below)
    stage[count++] = view;
  for (uint32_t i = 0; i < stages; i++)
    tj_text_string(w->text, "transform_tensor_descriptor(");
  write_base(w, view);
  while (count-- > 0) {
    write_steps(w, stage[count]->step, stage[count]->step_count);
    tj_text_char(w->text, ')');
  }
}

/* --- values --- */

static void write_value(const writer *w, const tj_value *value) {
  bool is_ck = w->form == TJ_TEXT_CK;
  if (value->kind == TJ_VALUE_TUPLE)
    write_tuple(w, value->tuple, w->is->tuple);
  else if (value->kind == TJ_VALUE_LAYOUT)
    write_layout(w, value->layout);
  else if (value->kind == TJ_VALUE_SWIZZLE)
    write_swizzle(w, value->swizzle);
  else if (value->kind == TJ_VALUE_COMPOSED && !is_ck)
    write_composed(w, value->composed);
  else if (value->kind == TJ_VALUE_TILER)
    write_tiler(w, value);
  else if (value->kind == TJ_VALUE_TRANSFORM && is_ck)
    write_transform(w, value->transform);
  else if (value->kind == TJ_VALUE_VIEW && is_ck)
    write_view(w, value->view);
  else if (value->kind == TJ_VALUE_DISTRIBUTION && is_ck)
    write_distribution(w, value->distribution);
  else
    fail(w, tj_string_format(w->graph->job, "text for %s", tj_value_kind_name(value->kind)),
         is_ck ? "it has tuples, flat layouts, transforms, descriptors and distributions"
               : "it has tuples, layouts, swizzled ones and tilers; layout(V) and tv_layout(D) may make one");
}

void tj_foreign_text(tj_graph *graph, const tj_value *value, tj_text_form form, tj_text *text) {
  write_value(&(writer){graph, text, &languages[form], form}, value);
}
