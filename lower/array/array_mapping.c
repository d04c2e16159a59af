/* SPDX-License-Identifier: MIT */
/* Rows and columns as the modes of a mapping's domain, lanes and rows as its items. */
#include "lower/array/array_mapping.h"

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

const tj_mapping *tj_array_mapping_of(const tj_array_space *space, const tj_array_shape *shape,
                                      const tj_target *target) {
  tj_graph *graph = space->graph;
  uint32_t row = row_mode(space), column = column_mode(space), rank = 0;
  if (target->wave_size == 1 || shape->is_split || (row == NO_MODE && shape->rows > 1) ||
      (column == NO_MODE && columns_of(shape) > 1) || (row == NO_MODE && column == NO_MODE))
    return NULL;
  const tj_tuple *extent[2];
  if (row != NO_MODE)
    extent[rank++] = tj_tuple_constant(graph, shape->rows);
  if (column != NO_MODE)
    extent[rank++] = tj_tuple_constant(graph, columns_of(shape));
  tj_mapping_digits item = {.count = 0}, slot = {.count = 0};
  tj_mapping_add_digit(&item, shape->lanes, shape->width, column);
  tj_mapping_add_digit(&item, shape->rows, 1, row);
  tj_mapping_add_digit(&slot, shape->width, 1, column);
  tj_mapping_add_digit(&slot, shape->repeats, (int64_t)shape->lanes * shape->width, column);
  tj_mapping *mapping = TJ_NEW(graph->job, tj_mapping);
  *mapping = (tj_mapping){.domain = is_in_order(space) ? NULL : domain_of(space), .tile = tj_tuple_list(graph, extent, rank), .passes = 1};
  mapping->load = mapping->store = tj_mapping_side_of_digits(graph, &item, &slot, NULL);
  return mapping;
}

/* --- given ones --- */

static bool is_power_of_two(uint32_t number) {
  return (number & (number - 1)) == 0;
}

/* What a side would be, if it were one of rows. */
static tj_array_shape shape_of_side(const tj_array_space *space, const tj_mapping_side *side) {
  tj_array_shape shape = {.rows = 1, .lanes = 1, .width = 1, .repeats = 1};
  for (uint32_t i = 0; i < side->digit_count; i++) {
    const tj_mapping_digit *d = &side->digit[i];
    bool is_item = i < side->item_digits, is_row = d->mode == row_mode(space);
    uint32_t *part = is_item ? (is_row ? &shape.rows : &shape.lanes) : d->step == 1 ? &shape.width : &shape.repeats;
    *part *= (uint32_t)d->extent;
  }
  return shape;
}

/* The next digit of more than one value, from *at to before `end`; NULL: there is none. */
static const tj_mapping_digit *next_digit(const tj_mapping_side *side, uint32_t *at, uint32_t end) {
  while (*at < end && side->digit[*at].extent == 1)
    ++*at;
  return *at < end ? &side->digit[(*at)++] : NULL;
}

static bool are_same_digits(const tj_mapping_side *a, const tj_mapping_side *b, bool of_items) {
  uint32_t at = of_items ? 0 : a->item_digits, other_at = of_items ? 0 : b->item_digits;
  const tj_mapping_digit *one, *other;
  do {
    one = next_digit(a, &at, of_items ? a->item_digits : a->digit_count);
    other = next_digit(b, &other_at, of_items ? b->item_digits : b->digit_count);
    if ((one == NULL) != (other == NULL) ||
        (one != NULL && (one->extent != other->extent || one->step != other->step || one->mode != other->mode)))
      return false;
  } while (one != NULL);
  return true;
}

static bool are_same_sides(const tj_mapping_side *a, const tj_mapping_side *b) {
  return a->as == NULL && b->as == NULL && are_same_digits(a, b, true) && are_same_digits(a, b, false);
}

/* Whether a mapping says no more than this one, which is of rows. */
static bool is_of_rows(const tj_array_space *space, const tj_mapping *given, const tj_mapping *rows) {
  bool is_plain = !given->is_launched && given->lds == NULL && given->passes == 1 && given->overlap == NULL &&
                  given->order == NULL && !given->streams && !given->is_direct && !given->by_dma;
  bool has_domain =
      given->domain == NULL ? rows->domain == NULL : tj_layout_equal(*given->domain, *domain_of(space));
  return is_plain && has_domain && tj_tuple_equal(given->tile, rows->tile) &&
         are_same_sides(&given->load, &rows->load) && are_same_sides(&given->store, &rows->store);
}

_Noreturn static void fail_rows(const tj_array_space *space, const tj_kernel *kernel, const tj_mapping *rows) {
  tj_job *job = space->graph->job;
  tj_text text = tj_text_begin(job);
  if (rows != NULL) {
    tj_mapping_print(&text, rows);
    tj_note(job, "one of rows is %s", text.data);
  }
  tj_fail_at(job, kernel->mapped->load_span, TJ_MAPPING,
             "rows are shared out by mappings on GPUs, whose items are 2^n lanes of a row, then rows, and whose slots "
             "are 2^n neighbouring columns, then such further on");
}

tj_array_shape tj_array_shape_as_mapped(const tj_array_space *space, const tj_kernel *kernel,
                                        const tj_target *target) {
  tj_graph *graph = space->graph;
  const tj_mapping *given = kernel->mapped->mapping;
  const tj_node *columns = space->columns.size;
  tj_array_shape shape = shape_of_side(space, &given->load);
  const tj_mapping *rows = tj_array_mapping_of(space, &shape, target);
  bool halves = is_power_of_two(shape.lanes) && is_power_of_two(shape.width);
  if (rows == NULL || !halves || !is_of_rows(space, given, rows))
    fail_rows(space, kernel, halves ? rows : NULL);
  if ((uint64_t)shape.lanes * shape.rows > target->workgroup_limit)
    tj_fail_at(graph->job, kernel->mapped->load_span, TJ_TILE_SIZE,
               "the rows are shared out among %" PRIu64 " work-items; a workgroup of %s has at most %" PRIu32,
               (uint64_t)shape.lanes * shape.rows, target->name, target->workgroup_limit);
  bool is_shorter = columns->facts.high > columns_of(&shape);
  shape.loops = space->is_reduced && is_shorter;
  shape.piece = !space->is_reduced && is_shorter ? tj_int(graph, columns_of(&shape)) : NULL;
  return shape;
}
