/* SPDX-License-Identifier: MIT */
/* From lines and what is along them to modes. */
#include "lower/lds/lds_value.h"

#include "base/number/power.h"

/* Lines of a layout by the modes that they are made of: those of rows, or those of columns. */
typedef struct {
  uint32_t unit;     /* lines that lie `near` apart; 0: all do */
  int64_t near, far; /* how far neighbours in a unit are from each other, and units */
  int64_t inner;     /* the product of the modes before */
} line_scale;

/* The next mode of a scale: one leaf, or two where units end within it. */
static tj_layout scale_mode(tj_graph *graph, line_scale *scale, int64_t extent) {
  int64_t inner = scale->inner, unit = scale->unit;
  scale->inner *= extent;
  if (unit == 0 || inner * extent <= unit)
    return (tj_layout){tj_tuple_constant(graph, extent), tj_tuple_constant(graph, inner * scale->near)};
  if (inner >= unit)
    return (tj_layout){tj_tuple_constant(graph, extent), tj_tuple_constant(graph, inner / unit * scale->far)};
  int64_t within = unit / inner, units = tj_divided_up(extent, within);
  const tj_tuple *shape[] = {tj_tuple_constant(graph, within), tj_tuple_constant(graph, units)};
  const tj_tuple *stride[] = {tj_tuple_constant(graph, inner * scale->near), tj_tuple_constant(graph, scale->far)};
  return (tj_layout){tj_tuple_list(graph, shape, 2), tj_tuple_list(graph, stride, 2)};
}

const tj_value *tj_stage_value(tj_graph *graph, const tj_stage_layout *chosen, const int64_t extent[],
                               const bool is_column[], const uint32_t order[], uint32_t rank) {
  bool by_row = chosen->direction == TJ_STAGE_ROW;
  line_scale lines = {chosen->group, chosen->pitch, chosen->group_pitch, 1},
             along = {chosen->run, 1, chosen->run_pitch, 1};
  tj_layout *mode = TJ_NEW_ARRAY(graph->job, tj_layout, rank);
  for (uint32_t i = 0; i < rank; i++) {
    uint32_t m = order != NULL ? order[i] : i;
    mode[m] = scale_mode(graph, is_column[m] == by_row ? &along : &lines, extent[m]);
  }
  tj_layout layout = tj_layout_concat(graph, mode, rank);
  if (chosen->swizzle.bits == 0)
    return tj_value_of_layout(graph, layout);
  return tj_value_of_parts(graph, chosen->swizzle, tj_tuple_constant(graph, 0), layout);
}
