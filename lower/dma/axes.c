/* SPDX-License-Identifier: MIT */
/* From a tensor, a tile and a layout in LDS to axes: the leaves of the tensor's modes, cut where the tile and the
 * layout in LDS have digits of their own. */
#include "lower/dma/axes.h"

#include "base/integer.h"
#include "ir/layout/algebra.h"
#include "ir/simplify/simplify.h"
#include "ir/value/map_image.h"
#include "ir/view/bridge.h"

#include <inttypes.h>
#include <stdarg.h>

enum { MOST_LDS_BYTES = 1 << 24, UNIT_BYTES = 8, SWIZZLE_BASE = 4, SWIZZLE_SHIFT = 3 };

static const char no_lds_name[] = "the layout in LDS";

/* The modes of a tensor, and the box of its coordinates that are valid. */
typedef struct {
  tj_layout layout;     /* of the valid coordinates, from the first one on; modes coalesced */
  const tj_node *first; /* the element of that one */
  const tj_node **begin, **length;
} tensor;

/* The digits of a mode of the layout in LDS, in order. */
typedef struct {
  tj_layout layout;
  uint32_t leaf, leaf_count;
  int64_t left, stride; /* of the digit that has been begun */
} digits;

typedef struct {
  const tj_dma_request *request;
  tj_graph *graph;
  tj_dma_axes *axes;
} builder;

void tj_dma_refuse(tj_job *job, const char **obstacle, const char *format, ...) {
  if (*obstacle != NULL)
    return;
  tj_text text = tj_text_begin(job);
  va_list list;
  va_start(list, format);
  tj_text_format_list(&text, format, list);
  va_end(list);
  *obstacle = text.data;
}

#define REFUSE(b, ...) tj_dma_refuse((b)->graph->job, &(b)->axes->obstacle, __VA_ARGS__)

/* --- the tensor --- */

static tj_layout coalesced_modes(tj_graph *graph, tj_layout layout) {
  uint32_t rank = tj_tuple_rank(layout.shape);
  const tj_tuple **leaf = TJ_NEW_ARRAY(graph->job, const tj_tuple *, rank);
  for (uint32_t i = 0; i < rank; i++)
    leaf[i] = tj_tuple_constant(graph, 1);
  return tj_layout_coalesce_by(graph, layout, tj_tuple_list(graph, leaf, rank));
}

static const tj_node *mode_size(tj_graph *graph, tj_layout layout, uint32_t mode) {
  return tj_simplified(graph, tj_tuple_product(graph, tj_tuple_mode(layout.shape, mode)));
}

static tensor tensor_of_layout(tj_graph *graph, tj_layout layout) {
  tensor t = {.layout = coalesced_modes(graph, layout), .first = tj_int(graph, 0)};
  uint32_t rank = tj_tuple_rank(layout.shape);
  t.begin = TJ_NEW_ARRAY(graph->job, const tj_node *, rank);
  t.length = TJ_NEW_ARRAY(graph->job, const tj_node *, rank);
  for (uint32_t i = 0; i < rank; i++) {
    t.begin[i] = tj_int(graph, 0);
    t.length[i] = mode_size(graph, layout, i);
  }
  return t;
}

static tensor tensor_of_view(tj_graph *graph, const tj_view *view) {
  tensor t;
  tj_box box;
  if (!tj_view_as_strides(graph, view, &t.layout, &t.first, &box))
    return tensor_of_layout(graph, tj_layout_of_view(graph, view));
  const tj_tuple *lengths = tj_view_lengths(graph, view);
  t.begin = box.begin;
  t.length = TJ_NEW_ARRAY(graph->job, const tj_node *, view->rank);
  for (uint32_t i = 0; i < view->rank; i++)
    t.length[i] = tj_simplified(graph, tj_tuple_mode(lengths, i)->value);
  return t;
}

static tensor tensor_of(tj_graph *graph, const tj_value *value) {
  if (value->kind == TJ_VALUE_VIEW)
    return tensor_of_view(graph, value->view);
  if (value->kind != TJ_VALUE_LAYOUT)
    tj_fail(graph->job, TJ_WRONG_TYPE, "a tensor in memory is a layout or a view, not %s",
            tj_value_kind_name(value->kind));
  return tensor_of_layout(graph, value->layout);
}

/* --- the tile --- */

static const int64_t *tile_of(tj_graph *graph, const tj_value *value, uint32_t rank) {
  if (value->kind != TJ_VALUE_TUPLE)
    tj_fail(graph->job, TJ_WRONG_TYPE, "a tile is a tuple of extents, not %s", tj_value_kind_name(value->kind));
  if (tj_tuple_rank(value->tuple) != rank)
    tj_fail(graph->job, TJ_COORDINATE_STRUCTURE, "the tile has an extent for each of the tensor's %" PRIu32 " modes",
            rank);
  int64_t *tile = TJ_NEW_ARRAY(graph->job, int64_t, rank);
  for (uint32_t i = 0; i < rank; i++) {
    const tj_tuple *extent = tj_tuple_mode(value->tuple, i);
    if (extent->kind != TJ_TUPLE_INTEGER)
      tj_fail(graph->job, TJ_WRONG_TYPE, "the extents of a tile are integers");
    tile[i] = tj_constant_value(graph, extent->value, "an extent of the tile");
    if (tile[i] < 1)
      tj_fail(graph->job, TJ_BAD_SHAPE, "the tile has the extent %" PRId64, tile[i]);
  }
  return tile;
}

static void check_bytes(tj_graph *graph, const int64_t tile[], uint32_t rank, uint32_t element_bytes) {
  int64_t bytes = element_bytes;
  for (uint32_t i = 0; i < rank; i++) {
    if (__builtin_mul_overflow(bytes, tile[i], &bytes) || bytes > MOST_LDS_BYTES)
      tj_fail(graph->job, TJ_TILE_SIZE, "the tile takes more than %d bytes of LDS", MOST_LDS_BYTES);
  }
}

/* --- the layout in LDS --- */

static uint32_t swizzle_bytes(const builder *b, tj_swizzle swizzle) {
  uint32_t base = (uint32_t)__builtin_ctz(b->request->element_bytes) + (uint32_t)swizzle.base;
  uint32_t bytes = swizzle.bits > 0 && swizzle.bits < 4 ? 16u << swizzle.bits : 0;
  if (swizzle.bits == 0)
    return 0;
  if (b->request->engine->most_swizzle == 0)
    REFUSE(b, "%s writes LDS in order, with pads at most: no swizzle", b->request->engine->processor);
  else if (base != SWIZZLE_BASE || swizzle.shift != SWIZZLE_SHIFT || bytes == 0 ||
           bytes > b->request->engine->most_swizzle)
    REFUSE(b, "swizzles are Sw<1,%d,3>, Sw<2,%d,3> and Sw<3,%d,3> of these elements",
           SWIZZLE_BASE - (int)__builtin_ctz(b->request->element_bytes),
           SWIZZLE_BASE - (int)__builtin_ctz(b->request->element_bytes),
           SWIZZLE_BASE - (int)__builtin_ctz(b->request->element_bytes));
  return bytes;
}

static tj_layout take_lds(builder *b, const tj_value *lds) {
  tj_graph *graph = b->graph;
  if (lds->kind == TJ_VALUE_VIEW)
    return coalesced_modes(graph, tj_layout_of_view(graph, lds->view));
  if (lds->kind == TJ_VALUE_COMPOSED) {
    const tj_tuple *offset = lds->composed->offset;
    if (offset->kind != TJ_TUPLE_INTEGER || !tj_is_int(offset->value, 0))
      tj_fail(graph->job, TJ_WRONG_TYPE, "%s begins at 0", no_lds_name);
    b->axes->swizzle = swizzle_bytes(b, lds->composed->swizzle);
  }
  const tj_layout *layout = tj_value_layout(lds);
  if (layout == NULL)
    tj_fail(graph->job, TJ_WRONG_TYPE, "%s is a layout, swizzled or not, or a view, not %s", no_lds_name,
            tj_value_kind_name(lds->kind));
  return coalesced_modes(graph, *layout);
}

static void check_lds(builder *b, tj_layout lds) {
  tj_graph *graph = b->graph;
  if (tj_tuple_rank(lds.shape) != b->axes->rank)
    tj_fail(graph->job, TJ_COORDINATE_STRUCTURE, "%s has a mode for each of the tensor's %" PRIu32 " modes",
            no_lds_name, b->axes->rank);
  uint32_t count;
  const tj_tuple *const *stride = tj_tuple_leaves(graph, lds.stride, &count);
  for (uint32_t i = 0; i < count; i++) {
    if (stride[i]->kind != TJ_TUPLE_INTEGER)
      tj_fail(graph->job, TJ_WRONG_TYPE, "%s has integers as values", no_lds_name);
    if (tj_constant_value(graph, stride[i]->value, no_lds_name) < 0)
      tj_fail(graph->job, TJ_COORDINATE_RANGE, "%s reaches before the beginning of LDS", no_lds_name);
  }
  int64_t most = MOST_LDS_BYTES / b->request->element_bytes;
  if (tj_constant_value(graph, tj_simplified(graph, tj_layout_cosize(graph, lds)), no_lds_name) > most)
    tj_fail(graph->job, TJ_TILE_SIZE, "%s takes more than %d bytes", no_lds_name, MOST_LDS_BYTES);
  for (uint32_t i = 0; i < b->axes->rank; i++) {
    if (tj_constant_value(graph, mode_size(graph, lds, i), no_lds_name) != b->axes->tile[i])
      tj_fail(graph->job, TJ_COORDINATE_STRUCTURE, "mode %" PRIu32 " of %s is not as long as the tile, %" PRId64, i,
              no_lds_name, b->axes->tile[i]);
  }
  if (tj_map_image_decide(graph, tj_value_of_layout(graph, lds), TJ_IMAGE_INJECTIVE).is_injective != TJ_YES)
    REFUSE(b, "%s has several coordinates at one place", no_lds_name);
}

static digits digits_of(const tj_layout *lds, uint32_t mode) {
  if (lds == NULL)
    return (digits){.leaf_count = 0};
  digits d = {{tj_tuple_mode(lds->shape, mode), tj_tuple_mode(lds->stride, mode)}, 0, 0, 1, 0};
  d.leaf_count = tj_tuple_leaf_count(d.layout.shape);
  return d;
}

/* Up to `most` positions of the next digit, as many as divide both; their stride. 0 where they do not divide. */
static int64_t take_digit(const builder *b, digits *d, int64_t most, int64_t *stride) {
  if (d->leaf_count == 0) {
    *stride = 0;
    return most;
  }
  uint32_t count;
  const tj_tuple *const *extent = tj_tuple_leaves(b->graph, d->layout.shape, &count);
  const tj_tuple *const *step = tj_tuple_leaves(b->graph, d->layout.stride, &count);
  while (d->left == 1 && d->leaf < d->leaf_count) {
    d->left = extent[d->leaf]->value->value;
    d->stride = tj_constant_value(b->graph, step[d->leaf++]->value, no_lds_name);
  }
  int64_t taken = d->left < most ? d->left : most;
  *stride = d->stride;
  if (taken == 0 || d->left % taken != 0 || most % taken != 0)
    return 0;
  d->left /= taken;
  d->stride *= taken;
  return taken;
}

/* --- axes --- */

static int64_t greatest_divisor(int64_t of, int64_t most) {
  int64_t divisor = of < most ? of : most;
  while (of % divisor != 0)
    divisor--;
  return divisor;
}

/* The longest row that the swizzle, or the engine, lets a box have; or such that no box overruns the row. */
static int64_t longest_box(const builder *b, const tj_dma_axis *axis) {
  int64_t most = b->request->engine->most_box;
  int64_t row = b->axes->swizzle / b->request->element_bytes;
  if (axis->lds == 1 && row > 0 && row < most)
    most = row;
  bool is_row = b->axes->cuts_rows && b->request->engine->kind == TJ_DMA_TENSOR_MAP && axis->may_overrun &&
                tj_is_int(axis->stride, 1) && tj_is_constant(axis->valid);
  int64_t inside = is_row ? (int64_t)tj_gcd((uint64_t)axis->valid->value, (uint64_t)axis->tile) : most;
  return inside < most ? inside : most;
}

bool tj_dma_rows_are_alike(tj_graph *graph, const tj_dma_axis *axis, int64_t row) {
  const tj_node *of = tj_int(graph, row);
  if (!axis->may_straddle)
    return true;
  if (!tj_is_constant(axis->begin) || !tj_is_constant(axis->valid))
    return tj_decide_divides(graph, of, axis->begin) == TJ_YES &&
           (row == axis->tile || tj_decide_divides(graph, of, axis->valid) == TJ_YES);
  int64_t begin = axis->begin->value, end = begin + axis->valid->value, last = end - end % row;
  return begin % row == 0 && (last == end || last % axis->tile == 0 || last <= begin);
}

/* How many of `taken` positions a box has: the most, or, of descriptors that are to gather, as rows that are alike.
 */
static int64_t box_of(const builder *b, const tj_dma_axis *axis, int64_t taken) {
  bool is_row = b->axes->cuts_rows && b->request->engine->kind == TJ_DMA_DESCRIPTOR && tj_is_int(axis->stride, 1);
  int64_t box = greatest_divisor(taken, longest_box(b, axis));
  while (is_row && !tj_dma_rows_are_alike(b->graph, axis, box))
    box = greatest_divisor(taken, box - 1);
  return box;
}

static void add_axis(builder *b, tj_dma_axis axis) {
  if (tj_is_int(axis.length, 1) && axis.tile == 1 && !axis.is_padded)
    return;
  if (b->axes->axis_count == TJ_DMA_MOST_AXES) {
    REFUSE(b, "the tensor and the tile have more than %d digits", TJ_DMA_MOST_AXES);
    return;
  }
  b->axes->axis[b->axes->axis_count++] = axis;
}

static void add_part(builder *b, tj_dma_part part) {
  if (b->axes->part_count == TJ_DMA_MOST_REPEATS)
    REFUSE(b, "the tile has more than %d parts that no box has", TJ_DMA_MOST_REPEATS);
  else
    b->axes->part[b->axes->part_count++] = part;
}

/* An axis without its first `inner` positions, as an axis of steps over as many. */
static tj_dma_axis outer_axis(tj_graph *graph, const tj_dma_axis *axis, int64_t inner) {
  tj_dma_axis outer = *axis;
  const tj_node *step = tj_int(graph, inner);
  const tj_node *rounded = tj_terse_add(graph, axis->length, tj_int(graph, inner - 1));
  outer.length = tj_simplified(graph, tj_terse_div(graph, rounded, step));
  outer.valid = tj_simplified(graph, tj_exact_div(graph, axis->valid, step));
  outer.stride = tj_simplified(graph, tj_terse_mul(graph, axis->stride, step));
  outer.tile = axis->tile / inner;
  return outer;
}

static tj_dma_axis inner_axis(tj_graph *graph, const tj_dma_axis *axis, int64_t inner) {
  tj_dma_axis first = *axis;
  first.length = first.valid = tj_int(graph, inner);
  first.tile = inner;
  first.may_overrun = first.may_straddle = first.is_padded = false;
  return first;
}

/* What is left of an axis that does not come apart: parts of its own. */
static void add_parts(builder *b, digits *d, int64_t left, int64_t step, int64_t lds) {
  for (int64_t taken; left > 1; left /= taken, step *= taken) {
    taken = d->leaf_count == 0 ? left : take_digit(b, d, left, &lds);
    if (taken == 0) {
      REFUSE(b, "%s has digits that cut those of the tensor", no_lds_name);
      return;
    }
    add_part(b, (tj_dma_part){b->axes->axis_count - 1, step, taken, lds});
  }
}

/* Cuts an axis where digits of LDS end, and where boxes do. */
static void cut_axis(builder *b, tj_dma_axis axis, digits *d) {
  for (;;) {
    int64_t taken = take_digit(b, d, axis.tile, &axis.lds);
    if (taken == 0) {
      REFUSE(b, "%s has digits that cut those of the tensor", no_lds_name);
      return;
    }
    int64_t box = box_of(b, &axis, taken);
    bool comes_apart = box > 1 && tj_is_int(axis.begin, 0) &&
                       tj_decide_divides(b->graph, tj_int(b->graph, box), axis.valid) == TJ_YES;
    if (box < taken) {
      d->left *= taken / box;
      d->stride = d->leaf_count == 0 ? 0 : axis.lds * box;
    }
    if (box == axis.tile || !comes_apart) {
      axis.box = box;
      add_axis(b, axis);
      add_parts(b, d, axis.tile / box, box, 0);
      return;
    }
    tj_dma_axis inner = inner_axis(b->graph, &axis, box);
    inner.box = box;
    add_axis(b, inner);
    axis = outer_axis(b->graph, &axis, box);
  }
}

/* How many positions of a leaf a tile has that has `left` of those from there on; 0: tiles would not begin at its
 * multiples. */
static int64_t tile_in_leaf(tj_graph *graph, const tj_node *extent, int64_t left, bool is_last) {
  if (is_last || left == 1)
    return left;
  if (tj_is_constant(extent) && left % extent->value == 0)
    return extent->value;
  return tj_decide_divides(graph, tj_int(graph, left), extent) == TJ_YES ? left : 0;
}

/* Parts of tiles are wholly behind the tensor where the tile is not a divisor of its length, but they are. */
static void find_edges(const builder *b, tj_dma_axis *axis) {
  tj_graph *graph = b->graph;
  int64_t parts = b->request->parts > 1 && b->request->parted == axis->mode ? b->request->parts : 1;
  const tj_node *tile = tj_int(graph, axis->tile), *whole = tj_int(graph, axis->tile * parts);
  axis->may_overrun = axis->is_padded || tj_decide_divides(graph, whole, axis->length) != TJ_YES;
  axis->may_straddle =
      tj_decide_divides(graph, tile, axis->begin) != TJ_YES || tj_decide_divides(graph, tile, axis->valid) != TJ_YES;
}

static void add_mode(builder *b, const tensor *t, uint32_t mode, digits d) {
  tj_graph *graph = b->graph;
  uint32_t count;
  const tj_tuple *const *extent = tj_tuple_leaves(graph, tj_tuple_mode(t->layout.shape, mode), &count);
  const tj_tuple *const *stride = tj_tuple_leaves(graph, tj_tuple_mode(t->layout.stride, mode), &count);
  int64_t left = b->axes->tile[mode];
  for (uint32_t i = 0; i < count && b->axes->obstacle == NULL; i++) {
    const tj_node *valid = tj_simplified(graph, extent[i]->value);
    tj_dma_axis axis = {.mode = mode, .length = valid, .begin = tj_int(graph, 0), .valid = valid};
    if (stride[i]->kind != TJ_TUPLE_INTEGER)
      tj_fail(graph->job, TJ_WRONG_TYPE, "a tensor in memory has integers as values");
    axis.stride = tj_simplified(graph, stride[i]->value);
    if (count == 1) {
      axis.length = b->request->length != NULL ? b->request->length[mode] : t->length[mode];
      axis.begin = t->begin[mode];
      axis.is_padded = !tj_is_int(axis.begin, 0) || tj_decide_equal(graph, axis.length, valid) != TJ_YES;
    }
    axis.tile = tile_in_leaf(graph, valid, left, i + 1 == count);
    if (axis.tile == 0) {
      REFUSE(b,
             "the tile's extent %" PRId64 " along mode %" PRIu32 " neither divides the digit %s there nor covers it",
             b->axes->tile[mode], mode, tj_describe(graph, valid));
      return;
    }
    left /= axis.tile;
    find_edges(b, &axis);
    cut_axis(b, axis, &d);
  }
}

/* Elements of 16 bytes are two units: an axis of their own, and twice the strides of all others. */
static void split_elements(builder *b) {
  tj_graph *graph = b->graph;
  tj_dma_axes *a = b->axes;
  const tj_node *two = tj_int(graph, 2);
  if (a->units == 1 || a->obstacle != NULL)
    return;
  a->base = tj_terse_mul(graph, a->base, two);
  for (uint32_t i = 0; i < a->axis_count; i++) {
    a->axis[i].stride = tj_simplified(graph, tj_terse_mul(graph, a->axis[i].stride, two));
    a->axis[i].lds *= 2;
  }
  for (uint32_t i = 0; i < a->part_count; i++)
    a->part[i].lds *= 2;
  add_axis(b, (tj_dma_axis){.mode = TJ_DMA_NO_MODE,
                            .length = two,
                            .begin = tj_int(graph, 0),
                            .valid = two,
                            .stride = tj_int(graph, 1),
                            .tile = 2,
                            .box = 2,
                            .lds = 1});
}

tj_dma_axes tj_dma_axes_of(const tj_dma_request *request, bool cuts_rows) {
  tj_graph *graph = request->graph;
  tj_dma_axes axes = {
      .unit_bytes = request->element_bytes, .units = 1, .has_lds = request->lds != NULL, .cuts_rows = cuts_rows};
  builder b = {request, graph, &axes};
  graph->job->here = request->tensor_span;
  tensor t = tensor_of(graph, request->tensor);
  tj_layout lds;
  axes.rank = tj_tuple_rank(t.layout.shape);
  graph->job->here = request->tile_span;
  axes.tile = tile_of(graph, request->tile, axes.rank);
  check_bytes(graph, axes.tile, axes.rank, request->element_bytes);
  axes.base = t.first;
  if (axes.unit_bytes > UNIT_BYTES) {
    axes.units = axes.unit_bytes / UNIT_BYTES;
    axes.unit_bytes = UNIT_BYTES;
  }
  if (axes.has_lds) {
    graph->job->here = request->lds_span;
    lds = take_lds(&b, request->lds);
    check_lds(&b, lds);
  }
  graph->job->here = request->tensor_span;
  for (uint32_t i = 0; i < axes.rank && axes.obstacle == NULL; i++)
    add_mode(&b, &t, i, digits_of(axes.has_lds ? &lds : NULL, i));
  split_elements(&b);
  return axes;
}
