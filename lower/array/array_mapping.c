/* SPDX-License-Identifier: MIT */
/* Rows and columns as the modes of a mapping's domain, lanes and rows as its items. */
#include "lower/array/array_mapping.h"
#include "lower/array/array_lines.h"
#include "lower/array/array_staged.h"

#include "base/number/power.h"
#include "ir/layout/leaves.h"
#include "ir/value/value.h"
#include "lower/mapping/mapped.h"

#include <inttypes.h>

enum { NO_MODE = UINT32_MAX };

/* --- domains --- */

static uint32_t row_mode(const tj_array_space *space) {
  return space->rows.count > 0 ? 0 : NO_MODE;
}

static uint32_t column_mode(const tj_array_space *space) {
  return space->columns.count == 0 ? NO_MODE : space->rows.count > 0 ? 1 : 0;
}

/* The modes of an axis, one beside the other. */
static tj_layout axis_layout(const tj_array_space *space, const tj_array_axis *axis) {
  tj_graph *graph = space->graph;
  tj_leaves leaves = {.count = 0};
  for (uint32_t i = 0; i < axis->count; i++)
    tj_leaves_put(&leaves, tj_tuple_integer(graph, space->arrays->program->extent[axis->mode[i]]),
                  tj_tuple_basis(graph, tj_int(graph, 1), &axis->mode[i], 1));
  return tj_leaves_mode(graph, &leaves);
}

/* Whether rows and columns are the arrays' modes as they are. */
static bool is_in_order(const tj_array_space *space) {
  uint32_t count = 0;
  bool is = true;
  for (uint32_t i = 0; i < space->rows.count; i++)
    is = is && space->rows.mode[i] == count++;
  for (uint32_t i = 0; i < space->columns.count; i++)
    is = is && space->columns.mode[i] == count++;
  return is && space->rows.count <= 1 && space->columns.count <= 1 && count == space->arrays->program->rank;
}

static const tj_layout *domain_of(const tj_array_space *space) {
  tj_graph *graph = space->graph;
  const tj_tuple *shape[2], *stride[2];
  uint32_t count = 0;
  for (uint32_t i = 0; i < 2; i++) {
    const tj_array_axis *axis = i == 0 ? &space->rows : &space->columns;
    tj_layout mode = axis_layout(space, axis);
    shape[count] = mode.shape;
    stride[count] = mode.stride;
    count += axis->count > 0 ? 1 : 0;
  }
  tj_layout *domain = TJ_NEW(graph->job, tj_layout);
  *domain = (tj_layout){tj_tuple_list(graph, shape, count), tj_tuple_list(graph, stride, count)};
  return domain;
}

/* --- mappings --- */

static int64_t columns_of(const tj_array_shape *shape) {
  return (int64_t)shape->lanes * shape->width * shape->repeats;
}

/* That a tile goes through LDS, row by row. */
static const tj_value *rows_in_lds(tj_graph *graph, const int64_t extent[]) {
  const int64_t stride[] = {extent[1], 1};
  return tj_value_of_layout(graph,
                            (tj_layout){tj_tuple_constants(graph, extent, 2), tj_tuple_constants(graph, stride, 2)});
}

const tj_mapping *tj_array_mapping_of(const tj_array_space *space, const tj_array_shape *shape,
                                      const tj_target *target) {
  tj_graph *graph = space->graph;
  uint32_t row = row_mode(space), column = column_mode(space), rank = 0;
  if (target->wave_size == 1 || shape->is_split || shape->apart != NULL || (row == NO_MODE && shape->rows > 1) ||
      (column == NO_MODE && columns_of(shape) > 1) || (row == NO_MODE && column == NO_MODE))
    return NULL;
  int64_t extent[2];
  if (row != NO_MODE)
    extent[rank++] = tj_array_rows_at_once(shape);
  if (column != NO_MODE)
    extent[rank++] = columns_of(shape);
  tj_mapping_digits item = {.count = 0}, slot = {.count = 0};
  tj_mapping_add_digit(&item, shape->lanes, shape->width, column);
  tj_mapping_add_digit(&item, shape->rows, 1, row);
  tj_mapping_add_digit(&slot, shape->width, 1, column);
  tj_mapping_add_digit(&slot, shape->repeats, (int64_t)shape->lanes * shape->width, column);
  tj_mapping_add_digit(&slot, tj_array_rows_at_once(shape) / shape->rows, shape->rows, row);
  tj_mapping *mapping = tj_mapping_of_tile(graph, is_in_order(space) ? NULL : domain_of(space),
                                           tj_tuple_constants(graph, extent, rank));
  mapping->load = mapping->store = tj_mapping_side_of_digits(graph, &item, &slot, NULL);
  mapping->lds = shape->staged > 0 ? rows_in_lds(graph, extent) : NULL;
  return mapping;
}

/* --- given ones --- */

/* What a side would be, if it were one of rows. */
static tj_array_shape shape_of_side(const tj_array_space *space, const tj_mapping_side *side, bool is_staged) {
  tj_array_shape shape = {.rows = 1, .lanes = 1, .width = 1, .repeats = 1, .staged = is_staged ? 1 : 0};
  for (uint32_t i = 0; i < side->digit_count; i++) {
    const tj_mapping_digit *d = &side->digit[i];
    bool is_item = i < side->item_digits, is_row = d->mode == row_mode(space);
    uint32_t *of_slot = is_row ? &shape.staged : d->step == 1 ? &shape.width : &shape.repeats;
    uint32_t *part = is_item ? (is_row ? &shape.rows : &shape.lanes) : of_slot;
    *part *= (uint32_t)d->extent;
  }
  return shape;
}

/* Whether a side has the digits of one of rows, which has none of one value. */
static bool is_side_of_rows(tj_graph *graph, const tj_mapping_side *side, const tj_mapping_side *rows) {
  tj_mapping_digits part[2] = {{.count = 0}, {.count = 0}};
  for (uint32_t i = 0; i < side->digit_count; i++) {
    const tj_mapping_digit *d = &side->digit[i];
    tj_mapping_add_digit(&part[i < side->item_digits ? 0 : 1], d->extent, d->step, d->mode);
  }
  const tj_mapping_side plain = tj_mapping_side_of_digits(graph, &part[0], &part[1], NULL);
  return side->as == NULL && plain.items > 0 && tj_layout_equal(plain.layout, rows->layout);
}

static bool is_same_layout(const tj_value *a, const tj_value *b) {
  const tj_layout *first = tj_value_layout(a), *second = tj_value_layout(b);
  return first != NULL && second != NULL && tj_layout_equal(*first, *second);
}

/* Whether a mapping says no more than this one, which is of rows. */
static bool is_of_rows(const tj_array_space *space, const tj_mapping *given, const tj_mapping *rows) {
  tj_mapping rest = *given;
  rest.lds = NULL;
  bool is_there = given->lds != NULL && rows->lds != NULL;
  bool lies_so = is_there ? is_same_layout(given->lds, rows->lds) : given->lds == rows->lds;
  bool has_domain = given->domain == NULL ? rows->domain == NULL : tj_layout_equal(*given->domain, *domain_of(space));
  return tj_mapping_is_plain(&rest) && lies_so && has_domain && tj_tuple_equal(given->tile, rows->tile) &&
         is_side_of_rows(space->graph, &given->load, &rows->load) &&
         is_side_of_rows(space->graph, &given->store, &rows->store);
}

_Noreturn static void fail_rows(const tj_array_space *space, const tj_kernel *kernel, const tj_mapping *rows) {
  tj_job *job = space->graph->job;
  tj_text text = tj_text_begin(job);
  if (rows != NULL) {
    tj_mapping_print(&text, rows);
    tj_note(job, "one of rows is %s", text.data);
  }
  tj_fail_at(job, kernel->mapped->load_span, TJ_MAPPING,
             "rows are shared out by mappings on GPUs, whose items are the lanes of a row, 2^n or whole waves, then "
             "rows, and whose slots are 2^n neighbouring columns, then such further on; they have domain, tile, load "
             "and store, and lds and overlap where what is printed of rows does");
}

tj_array_shape tj_array_shape_as_mapped(const tj_array_space *space, const tj_kernel *kernel,
                                        const tj_target *target) {
  tj_graph *graph = space->graph;
  const tj_mapping *given = kernel->mapped->mapping;
  const tj_node *columns = space->columns.size;
  if (given->is_open)
    fail_rows(space, kernel, NULL);
  tj_array_shape shape = shape_of_side(space, &given->load, given->lds != NULL);
  const tj_mapping *rows = tj_array_mapping_of(space, &shape, target);
  bool are_lanes = tj_is_power_of_two(shape.lanes) || shape.lanes % target->wave_size == 0;
  bool halves = are_lanes && tj_is_power_of_two(shape.width);
  if (rows == NULL || !halves || !is_of_rows(space, given, rows))
    fail_rows(space, kernel, halves ? rows : NULL);
  if ((uint64_t)shape.lanes * shape.rows > target->workgroup_limit)
    tj_fail_at(graph->job, kernel->mapped->load_span, TJ_TILE_SIZE,
               "the rows are shared out among %" PRIu64 " work-items; a workgroup of %s has at most %" PRIu32,
               (uint64_t)shape.lanes * shape.rows, target->name, target->workgroup_limit);
  if (shape.staged > 0 && !tj_array_can_be_staged(space, kernel, target, &shape))
    tj_fail_at(graph->job, kernel->mapped->load_span, TJ_MAPPING,
               "rows go through LDS where some argument's adjoin and workgroups take them whole, the lanes of a wave "
               "one that is reduced, and there is room for four at least");
  shape.begins = tj_array_begins_at(space, kernel, target, &shape);
  int64_t end = tj_array_ends_apart(&shape, columns, target) ? columns->facts.high % shape.width : 0;
  bool is_shorter = columns->facts.high - end > columns_of(&shape);
  shape.loops = space->is_reduced && is_shorter;
  shape.piece = !space->is_reduced && is_shorter ? tj_int(graph, columns_of(&shape)) : NULL;
  return shape;
}
