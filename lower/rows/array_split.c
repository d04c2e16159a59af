/* SPDX-License-Identifier: MIT */
/* Results of pieces in memory of the launch's: for each row, for each reduction, one for each piece. */
#include "lower/rows/array_split.h"

#include "ir/layout/arith.h"
#include "ir/simplify/simplify.h"
#include "lower/rows/array_elements.h"

static uint32_t count_reductions(const tj_array_program *program, uint32_t before) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < before; i++)
    count += tj_array_is_reduction(program->array[i]->op) ? 1 : 0;
  return count;
}

tj_kernel *tj_array_with_scratch(tj_graph *graph, const tj_kernel *kernel, const tj_target *target) {
  const tj_array_program *program = kernel->arrays->program;
  tj_kernel *made = tj_arena_copy(&graph->job->arena, kernel, sizeof *kernel);
  tj_kernel_buffer *buffer = TJ_NEW_ARRAY(graph->job, tj_kernel_buffer, kernel->buffer_count + 1);
  for (uint32_t i = 0; i < kernel->buffer_count; i++)
    buffer[i] = kernel->buffer[i];
  int64_t elements = tj_array_most_pieces(target) * count_reductions(program, program->count);
  buffer[made->buffer_count++] = (tj_kernel_buffer){.name = "scratch",
                                                    .dtype = kernel->carried,
                                                    .is_read = true,
                                                    .is_written = true,
                                                    .is_scratch = true,
                                                    .element_count = tj_int(graph, elements)};
  made->buffer = buffer;
  return made;
}

/* Where the results of a reduction lie, from that of the row's first piece on. */
static const tj_node *place_of(const tj_array_maker *maker, const tj_array *reduction) {
  tj_graph *graph = maker->graph;
  const tj_array_program *program = maker->space->arrays->program;
  const tj_node *row = tj_terse_mul(graph, maker->row, tj_int(graph, count_reductions(program, program->count)));
  const tj_node *number = tj_int(graph, count_reductions(program, reduction->number));
  return tj_terse_mul(graph, tj_terse_add(graph, row, number), maker->pieces);
}

static void add_move(tj_array_maker *maker, tj_step_kind kind, const tj_node *offset, const tj_node *valid,
                     uint32_t slot) {
  tj_kernel_step *step = tj_array_step(maker, kind);
  step->access = (tj_access){.buffer = maker->kernel->buffer_count - 1,
                             .offset = tj_simplified(maker->graph, offset),
                             .valid = tj_simplified(maker->graph, valid)};
  step->slot = slot;
}

void tj_array_store_pieces(tj_array_maker *maker, uint32_t level) {
  tj_graph *graph = maker->graph;
  const tj_array_program *program = maker->space->arrays->program;
  const tj_node *is_first = tj_equal(graph, maker->item, tj_int(graph, 0));
  for (uint32_t i = 0; i < program->count; i++) {
    const tj_array *reduction = program->array[i];
    if (tj_array_is_reduction(reduction->op) && maker->level[i] == level)
      add_move(maker, TJ_STEP_STORE, tj_terse_add(graph, place_of(maker, reduction), maker->piece), is_first,
               maker->slot[i]);
  }
}

tj_array_pieces tj_array_pieces_of(const tj_array_maker *maker) {
  tj_graph *graph = maker->graph;
  const tj_array_shape *shape = &maker->shape;
  int64_t turn = (int64_t)shape->lanes * shape->width, turns = (maker->pieces->facts.high - 1) / turn + 1;
  const tj_array_region region = {.start = tj_int(graph, 0), .end = maker->pieces};
  tj_array_pieces pieces = {.count = shape->width * (uint32_t)turns};
  pieces.column = TJ_NEW_ARRAY(graph->job, const tj_node *, pieces.count);
  pieces.is_there = TJ_NEW_ARRAY(graph->job, const tj_node *, pieces.count);
  for (uint32_t k = 0; k < pieces.count; k++) {
    pieces.column[k] = tj_array_column_of(maker, &region, k);
    pieces.is_there[k] = tj_array_column_is_there(maker, &region, k);
  }
  return pieces;
}

uint32_t tj_array_load_pieces(tj_array_maker *maker, const tj_array *reduction, const tj_array_pieces *pieces) {
  const tj_node *place = place_of(maker, reduction);
  uint32_t slot = tj_array_slots(maker, reduction->dtype, pieces->count);
  for (uint32_t k = 0; k < pieces->count; k++)
    add_move(maker, TJ_STEP_LOAD, tj_terse_add(maker->graph, place, pieces->column[k]), pieces->is_there[k],
             slot + k);
  return slot;
}
