/* SPDX-License-Identifier: MIT */
/* Fields from a plan and a tile's place. */
#include "lower/dma/encode.h"

#include "ir/layout/arith.h"
#include "ir/simplify/simplify.h"
#include "lower/dma/gather.h"

enum { DWORD_BITS = 32, GROUP1 = 4 * 32, GROUP2 = 12 * 32, GROUP3 = 16 * 32 };

bool tj_dma_is_constant(const tj_dma_plan *plan) {
  bool is_constant = tj_is_constant(plan->base);
  for (uint32_t d = 0; d < plan->dimension_count; d++)
    is_constant =
        is_constant && tj_is_constant(plan->dimension[d].extent) && tj_is_constant(plan->dimension[d].stride);
  for (uint32_t i = 0; i < plan->repeat_count; i++)
    is_constant = is_constant && tj_is_constant(plan->repeat[i].step);
  return is_constant;
}

/* An instruction being written. */
typedef struct {
  tj_graph *graph;
  const tj_dma_plan *plan;
  tj_dma_instruction *of;
  const tj_node *rows; /* that it gathers */
} writer;

static const tj_node *constant(const writer *w, int64_t value) {
  return tj_int(w->graph, value);
}

/* --- where the box begins --- */

static void place_tile(writer *w, const tj_dma_place *place) {
  tj_graph *graph = w->graph;
  const tj_layout layout = w->plan->coordinates->layout;
  const tj_tuple *inside = tj_crd2idx(graph, tj_tuple_integers(graph, place->tile, tj_tuple_rank(layout.shape)),
                                      layout.shape, layout.stride);
  const tj_tuple *first = tj_tuple_add(graph, w->plan->coordinates->offset, inside);
  for (uint32_t d = 0; d < w->plan->dimension_count; d++)
    w->of->coordinate[d] = tj_tuple_mode(first, d)->value;
  w->of->lds = place->lds;
}

/* Rows that an instruction gathers of a repeat that comes in parts: all of a part, or what the last one has. */
static const tj_node *rows_of_part(const writer *w, const tj_node *part) {
  const tj_dma_plan *plan = w->plan;
  int64_t parts = plan->repeat[plan->parted].count, rows = (plan->parted_rows + parts - 1) / parts;
  const tj_node *before = tj_terse_mul(w->graph, part, constant(w, rows));
  const tj_node *left = tj_terse_sub(w->graph, constant(w, plan->parted_rows), before);
  return tj_terse_mul(w->graph, constant(w, plan->rows / rows), tj_min(w->graph, constant(w, rows), left));
}

static void move_by_repeats(writer *w, const tj_node *number) {
  tj_graph *graph = w->graph;
  w->rows = constant(w, w->plan->rows);
  for (uint32_t i = 0; i < w->plan->repeat_count; i++) {
    const tj_dma_repeat *repeat = &w->plan->repeat[i];
    if (i == w->plan->iterated || repeat->is_gathered)
      continue;
    const tj_node *count = constant(w, repeat->count), *times = tj_terse_mod(graph, number, count);
    if (i == w->plan->parted)
      w->rows = rows_of_part(w, times);
    const tj_node **along = &w->of->coordinate[repeat->dimension];
    number = tj_terse_div(graph, number, count);
    *along = tj_terse_add(graph, *along, tj_terse_mul(graph, times, repeat->step));
    w->of->lds =
        tj_terse_add(graph, w->of->lds, tj_terse_mul(graph, times, constant(w, repeat->lds * w->plan->unit_bytes)));
  }
}

/* --- descriptors --- */

/* Puts a value of at most so many bits where they begin, counted from the first dword's first. */
static void put(writer *w, unsigned first, unsigned bits, const tj_node *value) {
  tj_graph *graph = w->graph;
  for (unsigned done = 0; done < bits;) {
    unsigned shift = (first + done) % DWORD_BITS, room = DWORD_BITS - shift;
    unsigned count = bits - done < room ? bits - done : room;
    const tj_node *part = tj_terse_div(graph, value, constant(w, INT64_C(1) << done));
    part = tj_terse_mod(graph, part, constant(w, INT64_C(1) << count));
    const tj_node **dword = &w->of->dword[(first + done) / DWORD_BITS];
    *dword = tj_terse_add(graph, *dword, tj_terse_mul(graph, part, constant(w, INT64_C(1) << shift)));
    done += count;
  }
}

/* What is left of a dimension, at most the box; of one that the box, or a row, begins inside of. */
static const tj_node *valid_of(const writer *w, uint32_t d) {
  tj_graph *graph = w->graph;
  const tj_dma_dimension *of = &w->plan->dimension[d];
  const tj_node *first = w->of->coordinate[d], *zero = constant(w, 0), *box = constant(w, of->box);
  if (of->is_padded && tj_dma_is_gathered(w->plan, d))
    first = tj_max(graph, first, zero);
  if (!of->may_overrun)
    return box;
  return tj_max(graph, zero, tj_min(graph, box, tj_terse_sub(graph, of->extent, first)));
}

/* And whether a position is one of a dimension. */
static const tj_node *is_inside(const writer *w, const tj_node *inside, uint32_t d, const tj_node *at) {
  tj_graph *graph = w->graph;
  const tj_dma_dimension *of = &w->plan->dimension[d];
  const tj_node *zero = constant(w, 0);
  if (of->may_overrun && tj_decide_less_equal(graph, zero, at) != TJ_YES)
    inside = tj_terse_both(graph, inside, tj_less_equal(graph, zero, at));
  if (of->may_overrun && tj_decide_less(graph, at, of->extent) != TJ_YES)
    inside = tj_terse_both(graph, inside, tj_less(graph, at, of->extent));
  return inside;
}

/* Whether the box begins at a position of every dimension. */
static const tj_node *begins_inside(const writer *w) {
  const tj_node *inside = constant(w, 1);
  for (uint32_t d = 0; d < w->plan->dimension_count; d++) {
    if (!tj_dma_is_gathered(w->plan, d))
      inside = is_inside(w, inside, d, w->of->coordinate[d]);
  }
  return inside;
}

/* Of a box without elements, which begins outside, the tensor's own. */
static const tj_node *address_of(const writer *w, const tj_dma_place *place, const tj_node *inside) {
  tj_graph *graph = w->graph;
  const tj_node *units = constant(w, 0);
  for (uint32_t d = 0; d < w->plan->dimension_count; d++) {
    const tj_dma_dimension *of = &w->plan->dimension[d];
    if (!of->is_padded || !tj_dma_is_gathered(w->plan, d))
      units = tj_terse_add(graph, units, tj_terse_mul(graph, w->of->coordinate[d], of->stride));
  }
  units = tj_terse_add(graph, tj_select(graph, inside, units, constant(w, 0)), w->plan->base);
  return tj_terse_add(graph, place->address, tj_terse_mul(graph, units, constant(w, w->plan->unit_bytes)));
}

static void put_dimensions(writer *w, const tj_node *inside) {
  static const struct {
    unsigned valid, tile, stride;
  } field[TJ_DMA_DIMENSIONS] = {{GROUP1 + 48, GROUP1 + 112, 0},
                                {GROUP1 + 80, GROUP1 + 128, GROUP1 + 160},
                                {GROUP2, GROUP1 + 144, GROUP1 + 208},
                                {GROUP2 + 32, GROUP2 + 112, GROUP2 + 64},
                                {GROUP3 + 48, GROUP3 + 80, GROUP3}};
  for (uint32_t d = 0; d < w->plan->rank; d++) {
    const tj_node *valid = valid_of(w, d);
    put(w, field[d].valid, 32, d == 0 ? tj_select(w->graph, inside, valid, constant(w, 0)) : valid);
    put(w, field[d].tile, 16, constant(w, w->plan->dimension[d].box));
    if (d > 0)
      put(w, field[d].stride, 48, w->plan->dimension[d].stride);
  }
}

/* Iterations need a second dimension: of one row where the box has none. */
static void put_iterations(writer *w) {
  const tj_dma_repeat *repeat = &w->plan->repeat[w->plan->iterated];
  const tj_node *step = tj_terse_mul(w->graph, repeat->step, w->plan->dimension[repeat->dimension].stride);
  put(w, GROUP1 + 19, 1, constant(w, 1));
  put(w, GROUP2 + 32, 32, constant(w, repeat->lds));
  put(w, GROUP2 + 64, 48, step);
  put(w, GROUP2 + 112, 16, constant(w, repeat->count - 1));
  if (w->plan->rank == 1) {
    put(w, GROUP1 + 80, 32, constant(w, 1));
    put(w, GROUP1 + 128, 16, constant(w, 1));
    put(w, GROUP1 + 160, 48, constant(w, w->plan->dimension[0].box));
  }
}

/* --- gathered rows --- */

/* How often each repeat that is gathered is done before a row: they count up as digits do, the first fastest. */
static void count_repeats(const writer *w, uint32_t row, int64_t times[TJ_DMA_MOST_REPEATS]) {
  for (uint32_t i = 0; i < w->plan->repeat_count; i++) {
    const tj_dma_repeat *repeat = &w->plan->repeat[i];
    times[i] = repeat->is_gathered ? row % repeat->count : 0;
    row = repeat->is_gathered ? (uint32_t)(row / repeat->count) : row;
  }
}

/* How far a row lies along a dimension from the first. */
static const tj_node *along_dimension(const writer *w, uint32_t d, const int64_t times[]) {
  const tj_node *along = constant(w, 0);
  for (uint32_t i = 0; i < w->plan->repeat_count; i++) {
    const tj_dma_repeat *repeat = &w->plan->repeat[i];
    if (repeat->is_gathered && repeat->dimension == d)
      along = tj_terse_add(w->graph, along, tj_terse_mul(w->graph, repeat->step, constant(w, times[i])));
  }
  return along;
}

static const tj_node *row_steps(const writer *w, const tj_node *units) {
  return tj_exact_div(w->graph, units, w->plan->row_step);
}

/* The index of a row: of what it is further than the first, and, along padded dimensions, of where the first is. */
static const tj_node *row_index(const writer *w, const int64_t times[]) {
  tj_graph *graph = w->graph;
  const tj_node *index = constant(w, 0);
  for (uint32_t i = 0; i < w->plan->repeat_count; i++) {
    const tj_node *each = row_steps(w, tj_dma_row_stride(graph, w->plan, &w->plan->repeat[i]));
    if (w->plan->repeat[i].is_gathered)
      index = tj_terse_add(graph, index, tj_terse_mul(graph, each, constant(w, times[i])));
  }
  for (uint32_t d = 0; d < w->plan->dimension_count; d++) {
    const tj_dma_dimension *of = &w->plan->dimension[d];
    if (!of->is_padded || !tj_dma_is_gathered(w->plan, d))
      continue;
    const tj_node *box = tj_exact_div(graph, w->of->coordinate[d], constant(w, of->box));
    index = tj_terse_add(graph, index, tj_terse_mul(graph, box, row_steps(w, tj_dma_box_stride(graph, w->plan, d))));
  }
  return index;
}

static const tj_node *is_row_inside(const writer *w, const int64_t times[]) {
  const tj_node *inside = constant(w, 1);
  for (uint32_t d = 0; d < w->plan->dimension_count; d++) {
    const tj_node *at = tj_terse_add(w->graph, w->of->coordinate[d], along_dimension(w, d, times));
    if (tj_dma_is_gathered(w->plan, d))
      inside = is_inside(w, inside, d, at);
  }
  return inside;
}

static void put_rows(writer *w) {
  const tj_dma_plan *plan = w->plan;
  put(w, 30, 1, constant(w, plan->index_bits == 32));
  put(w, 31, 1, constant(w, 1));
  put(w, GROUP1 + 80, 32, plan->row_end);
  put(w, GROUP1 + 128, 16, w->rows);
  put(w, GROUP1 + 160, 48, plan->row_step);
  for (uint32_t row = 0; row < plan->rows; row++) {
    int64_t times[TJ_DMA_MOST_REPEATS];
    count_repeats(w, row, times);
    const tj_node *index = tj_select(w->graph, is_row_inside(w, times), row_index(w, times), plan->row_end);
    put(w, GROUP2 + row * plan->index_bits, plan->index_bits, index);
  }
}

/* --- all of it --- */

static void put_pads(writer *w) {
  put(w, GROUP1 + 20, 1, constant(w, 1));
  put(w, GROUP1 + 22, 3, constant(w, __builtin_ctz(w->plan->pad_interval) - 1));
  put(w, GROUP1 + 25, 7, constant(w, w->plan->pad - 1));
}

static void put_descriptor(writer *w, const tj_dma_place *place) {
  const tj_node *inside = begins_inside(w);
  put(w, 0, 2, constant(w, 1));
  put(w, 32, 32, w->of->lds);
  put(w, 64, 57, address_of(w, place, inside));
  put(w, 126, 2, constant(w, 2));
  put(w, GROUP1 + 16, 2, constant(w, __builtin_ctz(w->plan->unit_bytes)));
  put_dimensions(w, inside);
  if (w->plan->iterated != TJ_DMA_NO_REPEAT)
    put_iterations(w);
  if (w->plan->rows != 0)
    put_rows(w);
  if (w->plan->pad_interval != 0)
    put_pads(w);
}

uint32_t tj_dma_dwords(const tj_dma_plan *plan) {
  if (plan->engine->kind == TJ_DMA_TENSOR_MAP)
    return 0;
  return plan->rank > 2 || plan->iterated != TJ_DMA_NO_REPEAT || plan->rows != 0 ? 20 : 12;
}

tj_dma_instruction tj_dma_instruction_of(tj_graph *graph, const tj_dma_plan *plan, const tj_dma_place *place) {
  tj_dma_instruction instruction;
  writer w = {.graph = graph, .plan = plan, .of = &instruction};
  for (uint32_t i = 0; i < TJ_TENSOR_DESCRIPTOR_DWORDS; i++)
    instruction.dword[i] = constant(&w, 0);
  place_tile(&w, place);
  move_by_repeats(&w, place->number);
  if (plan->engine->kind == TJ_DMA_DESCRIPTOR)
    put_descriptor(&w, place);
  return instruction;
}

/* --- tensor maps --- */

tj_tensor_map tj_dma_tensor_map(const tj_dma_plan *plan, uint64_t address) {
  tj_tensor_map map = {.element_bytes = plan->unit_bytes, .rank = plan->rank, .swizzle = plan->swizzle};
  map.address = address + (uint64_t)plan->base->value * plan->unit_bytes;
  for (uint32_t d = 0; d < plan->rank; d++) {
    map.extent[d] = (uint64_t)plan->dimension[d].extent->value;
    map.box[d] = (uint32_t)plan->dimension[d].box;
    map.element_stride[d] = 1;
    if (d > 0)
      map.stride[d - 1] = (uint64_t)plan->dimension[d].stride->value * plan->unit_bytes;
  }
  return map;
}
