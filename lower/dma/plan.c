/* SPDX-License-Identifier: MIT */
/* The search for a plan: every choice of axes that a box has at once, each with as few dimensions as merging leaves.
 *
 * An axis that the box has takes part in the order of LDS, which the engine writes from dimension 0 on. Neighbours in
 * that order are one dimension where memory goes on at the same pace:
 *
 *   full         the box has all of the inner one, and the outer one continues it: stride = extent * inner stride
 *   contiguous   no tile overruns either, and the outer one continues the box: stride = box * inner stride
 *
 * An axis that the box does not have at once repeats the instruction, or only takes part in where boxes begin. To
 * a tensor map it needs a dimension all the same, unless it continues one that boxes never overrun, or its positions
 * are offsets along such a one. */
#include "base/machine/processor.h"
#include "ir/layout/arith.h"
#include "ir/layout/leaves.h"
#include "ir/simplify/simplify.h"
#include "lower/dma/axes.h"
#include "lower/dma/gather.h"

#include <inttypes.h>
#include <string.h>

enum { DWORD = 4 };

typedef struct {
  tj_graph *graph;
  const tj_dma_engine *engine;
  const tj_dma_axes *axes;
  uint32_t order[TJ_DMA_MOST_AXES]; /* of axes: as LDS has them, or as memory does */
} search;

/* A choice of axes. Of each axis, in which dimension its positions count, and by how much. */
typedef struct {
  const search *of;
  uint32_t chosen; /* bits of axes that the box has */
  tj_dma_plan plan;
  uint32_t place[TJ_DMA_MOST_AXES];
  const tj_node *factor[TJ_DMA_MOST_AXES];
  bool is_full[TJ_DMA_MOST_PLACES]; /* of dimensions: the box has all of it */
  int64_t lds[TJ_DMA_MOST_AXES], part_lds[TJ_DMA_MOST_REPEATS];
  tj_dma_lds_order written; /* of LDS, by the box so far */
} trial;

#define REFUSE(t, ...) tj_dma_refuse((t)->of->graph->job, &(t)->plan.obstacle, __VA_ARGS__)

static bool is_chosen(const trial *t, uint32_t axis) {
  return (t->chosen >> axis & 1) != 0;
}

/* --- dimensions --- */

static uint32_t add_dimension(trial *t, const tj_node *extent, const tj_node *stride, int64_t box, bool may_overrun) {
  uint32_t d = t->plan.dimension_count++;
  t->plan.dimension[d] = (tj_dma_dimension){extent, stride, box, may_overrun, false};
  t->is_full[d] = !may_overrun && tj_is_int(extent, box);
  return d;
}

/* Boxes go by rows: dimension 0 is contiguous, be it of one element. */
static void begin_row(trial *t, const tj_dma_axis *first) {
  const tj_node *one = tj_int(t->of->graph, 1);
  if (first == NULL || !tj_surely_equal(t->of->graph, first->stride, one))
    add_dimension(t, one, one, 1, false);
}

/* Units from one row of the swizzle to the next; 0: none. */
static int64_t swizzle_row(const trial *t) {
  return t->plan.swizzle / t->plan.unit_bytes;
}

static int64_t longest_box(const trial *t, uint32_t dimension) {
  const tj_dma_engine *engine = t->of->engine;
  int64_t row = swizzle_row(t);
  return dimension == 0 && row > 0 && row < engine->most_box ? row : engine->most_box;
}

static bool fits_extent(const trial *t, const tj_node *extent) {
  tj_graph *graph = t->of->graph;
  int64_t most = t->of->engine->most_extent;
  return most == 0 || tj_decide_less_equal(graph, extent, tj_int(graph, most)) == TJ_YES;
}

/* The stride of an axis that is a dimension. One position has any that the engine allows. */
static const tj_node *stride_of(const trial *t, const tj_dma_axis *axis) {
  int64_t least = t->of->engine->stride_unit / t->plan.unit_bytes;
  return tj_is_int(axis->valid, 1) ? tj_int(t->of->graph, least > 1 ? least : 1) : axis->stride;
}

static void place(trial *t, uint32_t axis, uint32_t dimension, const tj_node *factor) {
  t->place[axis] = dimension;
  t->factor[axis] = factor;
}

/* Whether an axis that the box has is more of the last dimension. */
static bool merge_chosen(trial *t, uint32_t number) {
  tj_graph *graph = t->of->graph;
  const tj_dma_axis *axis = &t->of->axes->axis[number];
  if (t->plan.dimension_count == 0)
    return false;
  uint32_t d = t->plan.dimension_count - 1;
  tj_dma_dimension *last = &t->plan.dimension[d];
  const tj_node *box = tj_int(graph, last->box), *extent;
  bool is_cut = d == 0 && t->of->axes->cuts_rows && axis->may_overrun;
  if (is_cut || last->box > longest_box(t, d) / axis->box)
    return false;
  bool is_full = t->is_full[d];
  bool continues = (is_full && tj_is_int(axis->valid, 1)) ||
                   tj_surely_equal(graph, axis->stride, tj_dma_product(graph, box, last->stride));
  if (!continues || (!is_full && (last->may_overrun || axis->may_overrun)))
    return false;
  if (is_full)
    extent = tj_dma_product(graph, last->extent, axis->valid);
  else
    extent = tj_simplified(
        graph, tj_terse_add(graph, last->extent,
                            tj_terse_mul(graph, box, tj_terse_sub(graph, axis->valid, tj_int(graph, 1)))));
  if (!fits_extent(t, extent))
    return false;
  place(t, number, d, box);
  last->extent = extent;
  last->box *= axis->box;
  last->may_overrun = axis->may_overrun;
  t->is_full[d] = is_full && !axis->may_overrun && tj_is_int(axis->valid, axis->box);
  return true;
}

/* Rows of a box take as much of LDS as those of its swizzle: whether the next axis lies behind such a row. */
static bool ends_row(trial *t, int64_t lds) {
  bool ends = t->plan.dimension_count == 1 && t->written.filled < swizzle_row(t) && lds == swizzle_row(t);
  if (ends)
    t->written.filled = lds;
  return ends;
}

static void check_rows(trial *t) {
  if (t->plan.dimension_count == 1 && t->plan.swizzle != 0 && t->written.filled != swizzle_row(t))
    REFUSE(t, "a box's rows of %" PRId64 " bytes begin at those of the swizzle, %u bytes from one another",
           t->written.filled * t->plan.unit_bytes, t->plan.swizzle);
}

static void place_chosen(trial *t) {
  const tj_dma_axes *axes = t->of->axes;
  bool is_first = true;
  for (uint32_t i = 0; i < axes->axis_count; i++) {
    uint32_t number = t->of->order[i];
    const tj_dma_axis *axis = &axes->axis[number];
    if (!is_chosen(t, number))
      continue;
    bool is_row = ends_row(t, axis->lds);
    t->lds[number] = axes->has_lds ? axis->lds : t->written.filled;
    if (axes->has_lds && !tj_dma_continues_lds(&t->written, axis->lds)) {
      REFUSE(t, "the layout in LDS has %" PRId64 " where a box of rows has %" PRId64, axis->lds, t->written.filled);
      return;
    }
    if (is_first)
      begin_row(t, axis);
    is_first = false;
    if (is_row || !merge_chosen(t, number)) {
      check_rows(t);
      place(t, number, add_dimension(t, axis->valid, stride_of(t, axis), axis->box, axis->may_overrun),
            tj_int(t->of->graph, 1));
    }
    t->written.filled *= axis->box;
  }
  if (is_first)
    begin_row(t, NULL);
}

/* --- axes that boxes have one position of --- */

static bool is_stride_allowed(const trial *t, const tj_node *stride) {
  tj_graph *graph = t->of->graph;
  const tj_dma_engine *engine = t->of->engine;
  const tj_node *bytes =
      engine->kind == TJ_DMA_TENSOR_MAP ? tj_dma_product(graph, stride, tj_int(graph, t->plan.unit_bytes)) : stride;
  return tj_decide_divides(graph, tj_int(graph, engine->stride_unit), bytes) == TJ_YES &&
         tj_decide_less(graph, tj_int(graph, 0), bytes) == TJ_YES &&
         tj_decide_less(graph, bytes, tj_int(graph, engine->stride_end)) == TJ_YES;
}

static void refuse_stride(trial *t, const tj_node *stride) {
  tj_graph *graph = t->of->graph;
  bool is_map = t->of->engine->kind == TJ_DMA_TENSOR_MAP;
  REFUSE(t, "the stride of %s %s is not known to be a multiple of %u, above 0 and below 2^%d",
         tj_describe(graph, is_map ? tj_dma_product(graph, stride, tj_int(graph, t->plan.unit_bytes)) : stride),
         is_map ? "bytes" : "elements", t->of->engine->stride_unit,
         __builtin_ctzll((uint64_t)t->of->engine->stride_end));
}

/* Whether a box of a tensor map may begin so many units into a row. */
static bool begins_allowed(const trial *t, const tj_node *units) {
  tj_graph *graph = t->of->graph;
  const tj_node *bytes = tj_dma_product(graph, units, tj_int(graph, t->plan.unit_bytes));
  return t->of->engine->kind == TJ_DMA_DESCRIPTOR ||
         tj_decide_divides(graph, tj_int(graph, t->of->engine->stride_unit), bytes) == TJ_YES;
}

/* As offsets along a dimension that no box overruns: its boxes are then either inside, or wholly outside, wherever
 * the axis is beyond the tensor. Where it `continues` the dimension, none of the offsets is between positions of
 * others. */
static bool offset_dimension(trial *t, uint32_t number, uint32_t d, bool continues) {
  tj_graph *graph = t->of->graph;
  const tj_dma_axis *axis = &t->of->axes->axis[number];
  tj_dma_dimension *along = &t->plan.dimension[d];
  if (along->may_overrun || tj_decide_divides(graph, along->stride, axis->stride) != TJ_YES ||
      tj_decide_less_equal(graph, tj_int(graph, 0), axis->stride) != TJ_YES)
    return false;
  const tj_node *factor = tj_simplified(graph, tj_exact_div(graph, axis->stride, along->stride));
  if (d == 0 && !begins_allowed(t, factor))
    return false;
  const tj_node *more = tj_terse_mul(graph, factor, tj_terse_sub(graph, axis->valid, tj_int(graph, 1)));
  const tj_node *extent = tj_simplified(graph, tj_terse_add(graph, along->extent, more));
  if (continues ? !tj_surely_equal(graph, factor, along->extent)
                : axis->may_overrun && tj_decide_less_equal(graph, along->extent, factor) != TJ_YES)
    return false;
  if (!fits_extent(t, extent))
    return false;
  place(t, number, d, factor);
  along->extent = extent;
  along->may_overrun = axis->may_overrun;
  t->is_full[d] = false;
  return true;
}

/* Dimensions of a descriptor keep what is clamped to their axes. */
static bool offset_some_dimension(trial *t, uint32_t number, bool continues) {
  uint32_t first = t->of->engine->kind == TJ_DMA_DESCRIPTOR ? t->plan.rank : 0;
  for (uint32_t d = first; d < t->plan.dimension_count; d++) {
    if (offset_dimension(t, number, d, continues))
      return true;
  }
  return false;
}

static bool has_room(const trial *t) {
  return t->of->engine->kind == TJ_DMA_DESCRIPTOR || t->plan.dimension_count < t->of->engine->dimensions;
}

static void place_single(trial *t, uint32_t number) {
  const tj_dma_axis *axis = &t->of->axes->axis[number];
  bool is_map = t->of->engine->kind == TJ_DMA_TENSOR_MAP;
  if (tj_is_int(axis->stride, 0) && !axis->may_overrun)
    place(t, number, 0, tj_int(t->of->graph, 0));
  else if (offset_some_dimension(t, number, true))
    return;
  else if (!is_map || (has_room(t) && is_stride_allowed(t, stride_of(t, axis))))
    place(t, number, add_dimension(t, axis->valid, stride_of(t, axis), 1, axis->may_overrun),
          tj_int(t->of->graph, 1));
  else if (offset_some_dimension(t, number, false))
    return;
  else if (has_room(t))
    refuse_stride(t, axis->stride);
  else
    REFUSE(t, "the tensor has more dimensions than a tensor map, which has %" PRIu32, t->of->engine->dimensions);
}

static void place_others(trial *t) {
  for (uint32_t i = 0; i < t->of->axes->axis_count && t->plan.obstacle == NULL; i++) {
    if (!is_chosen(t, t->of->order[i]))
      place_single(t, t->of->order[i]);
  }
}

/* --- repeats --- */

/* Whether a repeat goes on where the last one ends, in both memories. */
static bool continue_repeat(trial *t, const tj_dma_repeat *next) {
  tj_graph *graph = t->of->graph;
  tj_dma_repeat *last = t->plan.repeat_count == 0 ? NULL : &t->plan.repeat[t->plan.repeat_count - 1];
  if (last == NULL || last->dimension != next->dimension || next->lds != last->lds * last->count ||
      !tj_surely_equal(graph, next->step, tj_dma_product(graph, last->step, tj_int(graph, last->count))))
    return false;
  last->count *= next->count;
  last->may_straddle = last->may_straddle || next->may_straddle;
  return true;
}

static void add_repeat(trial *t, uint32_t axis, int64_t step, int64_t count, int64_t lds) {
  tj_graph *graph = t->of->graph;
  if (count == 1)
    return;
  if (t->plan.repeat_count == TJ_DMA_MOST_REPEATS) {
    REFUSE(t, "the tile has more than %d parts that no box has", TJ_DMA_MOST_REPEATS);
    return;
  }
  const tj_dma_repeat repeat = {t->place[axis],
                                tj_dma_product(graph, tj_int(graph, step), t->factor[axis]),
                                count,
                                lds,
                                t->of->axes->axis[axis].may_straddle,
                                false};
  t->plan.instructions *= count;
  if (!continue_repeat(t, &repeat))
    t->plan.repeat[t->plan.repeat_count++] = repeat;
  if ((lds * t->plan.unit_bytes) % t->of->engine->lds_unit != 0)
    REFUSE(t, "boxes begin %" PRId64 " bytes from one another in LDS, no multiple of %u", lds * t->plan.unit_bytes,
           t->of->engine->lds_unit);
  if (t->plan.swizzle != 0 && (lds * t->plan.unit_bytes) % (8 * t->plan.swizzle) != 0)
    REFUSE(t, "boxes begin %" PRId64 " bytes from one another in LDS, where the swizzle is another",
           lds * t->plan.unit_bytes);
}

static void place_repeats(trial *t) {
  const tj_dma_axes *axes = t->of->axes;
  int64_t next = t->written.filled;
  for (uint32_t i = 0; i < axes->axis_count; i++) {
    uint32_t number = t->of->order[i];
    if (is_chosen(t, number))
      continue;
    t->lds[number] = axes->has_lds ? axes->axis[number].lds : next;
    add_repeat(t, number, 1, axes->axis[number].box, t->lds[number]);
    next *= axes->axis[number].box;
  }
  for (uint32_t i = 0; i < axes->part_count; i++) {
    t->part_lds[i] = axes->has_lds ? axes->part[i].lds : next;
    add_repeat(t, axes->part[i].axis, axes->part[i].step, axes->part[i].count, t->part_lds[i]);
    next *= axes->part[i].count;
  }
}

static bool can_iterate(const trial *t, const tj_dma_repeat *repeat) {
  const tj_dma_dimension *along = &t->plan.dimension[repeat->dimension];
  tj_graph *graph = t->of->graph;
  const tj_node *step = tj_dma_product(graph, repeat->step, along->stride);
  return (!repeat->may_straddle || tj_is_int(repeat->step, 0)) && repeat->count <= t->of->engine->most_iterations &&
         repeat->lds >= 0 && tj_decide_less_equal(graph, tj_int(graph, 0), step) == TJ_YES &&
         tj_decide_less(graph, step, tj_int(graph, t->of->engine->stride_end)) == TJ_YES;
}

/* The descriptor does the longest repeat itself where it may. */
static void iterate(trial *t) {
  tj_dma_plan *plan = &t->plan;
  if (plan->rank > t->of->engine->iterated_dimensions || t->written.interval != 0)
    return;
  for (uint32_t i = 0; i < plan->repeat_count; i++) {
    if (can_iterate(t, &plan->repeat[i]) &&
        (plan->iterated == TJ_DMA_NO_REPEAT || plan->repeat[i].count > plan->repeat[plan->iterated].count))
      plan->iterated = i;
  }
  if (plan->iterated != TJ_DMA_NO_REPEAT)
    plan->instructions /= plan->repeat[plan->iterated].count;
}

/* --- gathers --- */

/* Whether rows that parts of the box's own axes are may have one length in a descriptor. */
static bool are_rows_alike(const trial *t) {
  const tj_dma_axes *axes = t->of->axes;
  for (uint32_t i = 0; i < axes->part_count; i++) {
    const tj_dma_axis *axis = &axes->axis[axes->part[i].axis];
    if (is_chosen(t, axes->part[i].axis) && !tj_dma_rows_are_alike(t->of->graph, axis, axis->box))
      return false;
  }
  return true;
}

/* The descriptor brings rows together that lie anywhere, one after the other in LDS. */
static void gather(trial *t) {
  for (uint32_t i = 0; i < t->of->axes->axis_count; i++) {
    tj_dma_dimension *of = &t->plan.dimension[t->place[i]];
    of->is_padded = of->is_padded || !tj_is_int(t->of->axes->axis[i].begin, 0);
  }
  if (t->plan.rank == 1 && are_rows_alike(t))
    tj_dma_gather(t->of->graph, &t->plan, &t->written);
}

/* --- limits --- */

static void check_dimension(trial *t, uint32_t number) {
  tj_graph *graph = t->of->graph;
  const tj_dma_dimension *d = &t->plan.dimension[number];
  if (!fits_extent(t, d->extent))
    REFUSE(t, "the extent %s is not known to be at most %" PRId64, tj_describe(graph, d->extent),
           t->of->engine->most_extent);
  if (d->box > longest_box(t, number))
    REFUSE(t, "a box of %" PRId64 " is longer than %" PRId64, d->box, longest_box(t, number));
  if (number > 0 && !is_stride_allowed(t, d->stride))
    refuse_stride(t, d->stride);
}

/* A descriptor begins at an element of the tensor. Boxes that are wholly in a pad have none. */
static void check_padded(trial *t) {
  tj_graph *graph = t->of->graph;
  for (uint32_t i = 0; i < t->of->axes->axis_count; i++) {
    const tj_dma_axis *axis = &t->of->axes->axis[i];
    if (t->of->engine->kind == TJ_DMA_DESCRIPTOR && is_chosen(t, i) &&
        tj_decide_divides(graph, tj_int(graph, axis->box), axis->begin) != TJ_YES)
      REFUSE(t, "boxes of %" PRId64 " begin in the pad of %s before mode %" PRIu32 " and end behind it", axis->box,
             tj_describe(graph, axis->begin), axis->mode);
  }
}

static void check_row(trial *t) {
  const tj_dma_engine *engine = t->of->engine;
  const tj_dma_dimension *row = &t->plan.dimension[0];
  int64_t bytes = row->box * t->plan.unit_bytes;
  if (bytes % engine->row_unit != 0 && row->box == 1)
    REFUSE(t, "no mode of the tile is contiguous in memory, and first in LDS");
  if (bytes % engine->row_unit != 0)
    REFUSE(t, "a box's rows have %" PRId64 " bytes, no multiple of %u", bytes, engine->row_unit);
  if (t->written.interval != 0 && bytes % DWORD != 0)
    REFUSE(t, "between pads, a box's rows have %" PRId64 " bytes, no multiple of %d", bytes, DWORD);
}

/* Boxes begin at multiples of so many positions of an axis; 0: at the first alone. */
static int64_t begin_step(const trial *t, uint32_t number) {
  tj_graph *graph = t->of->graph;
  const tj_dma_axes *axes = t->of->axes;
  const tj_dma_axis *axis = &axes->axis[number];
  bool has_parts = false;
  for (uint32_t i = 0; i < axes->part_count; i++)
    has_parts = has_parts || axes->part[i].axis == number;
  if (!is_chosen(t, number))
    return tj_is_int(axis->length, 1) ? 0 : 1;
  bool is_one = !has_parts && tj_decide_less_equal(graph, axis->length, tj_int(graph, axis->tile)) == TJ_YES;
  return is_one ? 0 : axis->box;
}

static void check_begins(trial *t) {
  tj_graph *graph = t->of->graph;
  for (uint32_t i = 0; i < t->of->axes->axis_count; i++) {
    const tj_dma_axis *axis = &t->of->axes->axis[i];
    if (t->place[i] != 0)
      continue;
    const tj_node *step = tj_dma_product(graph, t->factor[i], tj_int(graph, begin_step(t, i)));
    const tj_node *before = tj_dma_product(graph, t->factor[i], axis->begin);
    if (!begins_allowed(t, step))
      REFUSE(t, "boxes begin at every %s bytes of a row, no multiple of %u",
             tj_describe(graph, tj_dma_product(graph, step, tj_int(graph, t->plan.unit_bytes))),
             t->of->engine->stride_unit);
    if (!begins_allowed(t, before))
      REFUSE(t, "boxes begin %s bytes before a row, no multiple of %u",
             tj_describe(graph, tj_dma_product(graph, before, tj_int(graph, t->plan.unit_bytes))),
             t->of->engine->stride_unit);
  }
}

/* Stores write all of a row's last unit, where boxes have it. */
static void check_stored_rows(trial *t) {
  tj_graph *graph = t->of->graph;
  const tj_dma_dimension *row = &t->plan.dimension[0];
  const tj_node *bytes = tj_dma_product(graph, row->extent, tj_int(graph, t->plan.unit_bytes));
  uint32_t unit = t->of->engine->store_unit;
  if (row->may_overrun && tj_decide_divides(graph, tj_int(graph, unit), bytes) != TJ_YES)
    tj_dma_refuse(
        graph->job, &t->plan.store_obstacle,
        "they write %u bytes of a row at once, and boxes overrun rows of %s bytes, not known to be a multiple", unit,
        tj_describe(graph, bytes));
}

static void check_stores(trial *t) {
  tj_graph *graph = t->of->graph;
  const char **obstacle = &t->plan.store_obstacle;
  if (t->written.interval != 0)
    tj_dma_refuse(graph->job, obstacle, "they ignore pads in LDS");
  for (uint32_t i = 0; i < t->of->axes->axis_count; i++)
    if (t->of->engine->kind == TJ_DMA_TENSOR_MAP && !tj_is_int(t->of->axes->axis[i].begin, 0))
      tj_dma_refuse(graph->job, obstacle,
                    "none begins before the tensor, and boxes begin in the pad of mode %" PRIu32,
                    t->of->axes->axis[i].mode);
  check_stored_rows(t);
}

static void check_base(trial *t) {
  tj_graph *graph = t->of->graph;
  const tj_node *bytes = tj_dma_product(graph, t->plan.base, tj_int(graph, t->plan.unit_bytes));
  if (tj_decide_divides(graph, tj_int(graph, t->of->engine->stride_unit), bytes) != TJ_YES)
    REFUSE(t, "the tensor begins %s bytes behind its buffer's first, no multiple of %u", tj_describe(graph, bytes),
           t->of->engine->stride_unit);
}

static void check_limits(trial *t) {
  if (t->plan.rank > t->of->engine->dimensions)
    REFUSE(t, "boxes would have %" PRIu32 " dimensions, more than %" PRIu32, t->plan.rank, t->of->engine->dimensions);
  check_padded(t);
  check_row(t);
  check_begins(t);
  check_base(t);
  for (uint32_t i = 0; i < t->plan.rank; i++)
    check_dimension(t, i);
}

/* --- the search --- */

static void try_choice(trial *t, const search *s, uint32_t chosen, bool gathers) {
  *t = (trial){.of = s, .chosen = chosen, .written = {s->engine, s->axes->unit_bytes, 1, 0, 0}};
  t->plan = (tj_dma_plan){.engine = s->engine,
                          .unit_bytes = s->axes->unit_bytes,
                          .units = s->axes->units,
                          .base = s->axes->base,
                          .swizzle = s->axes->swizzle,
                          .instructions = 1};
  place_chosen(t);
  t->plan.rank = t->plan.dimension_count;
  if (t->plan.obstacle == NULL)
    place_others(t);
  if (s->engine->kind == TJ_DMA_TENSOR_MAP)
    t->plan.rank = t->plan.dimension_count;
  if (t->plan.obstacle == NULL)
    place_repeats(t);
  if (t->plan.obstacle != NULL)
    return;
  t->plan.iterated = t->plan.parted = TJ_DMA_NO_REPEAT;
  if (gathers)
    gather(t);
  check_limits(t);
  check_stores(t);
  if (!gathers)
    iterate(t);
  t->plan.pad_interval = (uint32_t)(t->written.interval * t->plan.unit_bytes / DWORD);
  t->plan.pad = (uint32_t)(t->written.pad * t->plan.unit_bytes / DWORD);
}

static bool is_single(const tj_dma_plan *plan) {
  return plan->obstacle == NULL && plan->instructions == 1;
}

static bool is_better(const tj_dma_plan *a, const tj_dma_plan *b) {
  if (a->obstacle != NULL || b->obstacle != NULL)
    return a->obstacle == NULL && b->obstacle != NULL;
  bool iterates = a->iterated != TJ_DMA_NO_REPEAT, others = b->iterated != TJ_DMA_NO_REPEAT;
  if (a->instructions != b->instructions)
    return a->instructions < b->instructions;
  if ((a->rows != 0) != (b->rows != 0))
    return b->rows != 0;
  return iterates != others ? others : a->rank < b->rank;
}

/* Whether an axis stands before another: in LDS, or in memory where it is free. */
static bool is_before(const search *s, uint32_t a, uint32_t b) {
  const tj_dma_axis *x = &s->axes->axis[a], *y = &s->axes->axis[b];
  if (s->axes->has_lds && x->box > 1 && y->box > 1)
    return x->lds < y->lds;
  if ((x->box > 1) != (y->box > 1))
    return x->box > 1;
  if (tj_is_int(x->stride, 0) || tj_is_int(y->stride, 0))
    return !tj_is_int(x->stride, 0) && tj_is_int(y->stride, 0);
  if (tj_is_int(x->stride, 1) || tj_is_int(y->stride, 1))
    return tj_is_int(x->stride, 1) && !tj_is_int(y->stride, 1);
  return tj_decide_less_equal(s->graph, x->stride, y->stride) == TJ_YES &&
         tj_decide_less_equal(s->graph, y->stride, x->stride) != TJ_YES;
}

static void put_in_order(search *s) {
  for (uint32_t i = 0; i < s->axes->axis_count; i++) {
    uint32_t at = i;
    for (; at > 0 && is_before(s, i, s->order[at - 1]); at--)
      s->order[at] = s->order[at - 1];
    s->order[at] = i;
  }
}

/* Of the axes of which a box may have several positions. What repeats elements of memory is no dimension. */
static uint32_t choosable(const search *s) {
  uint32_t bits = 0;
  for (uint32_t i = 0; i < s->axes->axis_count; i++) {
    const tj_dma_axis *axis = &s->axes->axis[i];
    if (axis->box > 1 && (tj_is_int(axis->valid, 1) || !tj_is_int(axis->stride, 0)))
      bits |= UINT32_C(1) << i;
  }
  return bits;
}

/* Boxes have whole elements. */
static uint32_t indispensable(const search *s) {
  uint32_t last = s->axes->axis_count - 1;
  return s->axes->units > 1 && s->axes->axis[last].mode == TJ_DMA_NO_MODE ? UINT32_C(1) << last : 0;
}

/* --- the plan's layouts --- */

static tj_layout coordinate_mode(const trial *t, uint32_t mode) {
  tj_graph *graph = t->of->graph;
  tj_leaves l = {.count = 0};
  for (uint32_t i = 0; i < t->of->axes->axis_count; i++) {
    if (t->of->axes->axis[i].mode == mode)
      tj_leaves_put(&l, tj_tuple_integer(graph, t->of->axes->axis[i].length),
                    tj_tuple_basis(graph, t->factor[i], &t->place[i], 1));
  }
  return tj_leaves_mode(graph, &l);
}

static tj_layout lds_mode(const trial *t, uint32_t mode) {
  tj_graph *graph = t->of->graph;
  const tj_dma_axes *axes = t->of->axes;
  tj_leaves l = {.count = 0};
  for (uint32_t i = 0; i < axes->axis_count; i++) {
    if (axes->axis[i].mode != mode)
      continue;
    tj_leaves_put(&l, tj_tuple_constant(graph, axes->axis[i].box), tj_tuple_constant(graph, t->lds[i] / axes->units));
    for (uint32_t p = 0; p < axes->part_count; p++) {
      if (axes->part[p].axis == i)
        tj_leaves_put(&l, tj_tuple_constant(graph, axes->part[p].count),
                      tj_tuple_constant(graph, t->part_lds[p] / axes->units));
    }
  }
  return tj_layout_coalesce(graph, tj_leaves_mode(graph, &l));
}

static tj_layout by_mode(const trial *t, tj_layout (*mode_of)(const trial *, uint32_t)) {
  tj_layout *mode = TJ_NEW_ARRAY(t->of->graph->job, tj_layout, t->of->axes->rank);
  for (uint32_t i = 0; i < t->of->axes->rank; i++)
    mode[i] = mode_of(t, i);
  return tj_layout_concat(t->of->graph, mode, t->of->axes->rank);
}

/* Where the tensor's first coordinate lies in the dimensions: before them by as much as it is padded. */
static const tj_tuple *first_coordinate(const trial *t) {
  tj_graph *graph = t->of->graph;
  const tj_tuple *item[TJ_DMA_MOST_PLACES];
  for (uint32_t d = 0; d < t->plan.dimension_count; d++) {
    const tj_node *first = tj_int(graph, 0);
    for (uint32_t i = 0; i < t->of->axes->axis_count; i++) {
      if (t->place[i] == d)
        first = tj_terse_sub(graph, first, tj_terse_mul(graph, t->of->axes->axis[i].begin, t->factor[i]));
    }
    item[d] = tj_tuple_integer(graph, tj_simplified(graph, first));
  }
  return tj_tuple_list(graph, item, t->plan.dimension_count);
}

static void write_layouts(trial *t) {
  tj_graph *graph = t->of->graph;
  tj_composed *coordinates = TJ_NEW(graph->job, tj_composed);
  *coordinates = tj_coord_tensor(graph, first_coordinate(t), by_mode(t, coordinate_mode));
  t->plan.coordinates = coordinates;
  int32_t bits = t->plan.swizzle == 0 ? 0 : __builtin_ctz(t->plan.swizzle) - 4;
  int32_t base = 4 - __builtin_ctz(t->plan.unit_bytes * t->plan.units);
  t->plan.lds = (tj_composed){bits == 0 ? (tj_swizzle){0, 0, 0} : tj_swizzle_make(graph, bits, base, 3),
                              tj_tuple_constant(graph, 0), by_mode(t, lds_mode)};
}

/* The best choice of axes. */
static void choose(const search *s, trial *best, trial *other) {
  uint32_t fixed = indispensable(s), free = choosable(s) & ~fixed;
  try_choice(best, s, fixed | free, false);
  for (uint32_t chosen = free; chosen != 0;) {
    chosen = (chosen - 1) & free;
    try_choice(other, s, fixed | chosen, false);
    if (is_better(&other->plan, &best->plan))
      *best = *other;
  }
  for (uint32_t left = s->engine->most_rows != 0 ? free + 1 : 0; left > 0 && !is_single(&best->plan); left--) {
    if (((left - 1) & ~free) != 0)
      continue;
    try_choice(other, s, fixed | (left - 1), true);
    if (is_better(&other->plan, &best->plan))
      *best = *other;
  }
}

static tj_dma_plan plan_with(const tj_dma_request *request, bool cuts_rows) {
  tj_dma_axes axes = tj_dma_axes_of(request, cuts_rows);
  search s = {.graph = request->graph, .engine = request->engine, .axes = &axes};
  trial *best = TJ_NEW(request->graph->job, trial), *other = TJ_NEW(request->graph->job, trial);
  if (axes.obstacle != NULL)
    return (tj_dma_plan){.obstacle = axes.obstacle};
  put_in_order(&s);
  choose(&s, best, other);
  if (best->plan.obstacle == NULL)
    write_layouts(best);
  return best->plan;
}

static tj_dma_plan best_plan(const tj_dma_request *request) {
  tj_dma_plan plan = plan_with(request, false);
  if (is_single(&plan))
    return plan;
  tj_dma_plan other = plan_with(request, true);
  return is_better(&other, &plan) ? other : plan;
}

int64_t tj_dma_lds_bytes(tj_graph *graph, const tj_dma_plan *plan) {
  const tj_node *elements = tj_simplified(graph, tj_layout_cosize(graph, plan->lds.layout));
  int64_t bytes = elements->value * plan->unit_bytes * plan->units, row = plan->swizzle == 0 ? 1 : plan->swizzle;
  return (bytes + row - 1) / row * row;
}

tj_dma_plan tj_dma_plan_of(const tj_dma_request *request) {
  tj_dma_plan plan = best_plan(request);
  tj_shared_memory memory;
  if (plan.obstacle != NULL || !tj_shared_memory_of(request->engine->processor, &memory))
    return plan;
  int64_t bytes = tj_dma_lds_bytes(request->graph, &plan);
  if (bytes > memory.group_bytes)
    tj_dma_refuse(request->graph->job, &plan.obstacle,
                  "the tile takes %" PRId64 " bytes of LDS, more than the %u of a workgroup", bytes,
                  memory.group_bytes);
  return plan;
}
