/* The modes that source and destination have in common, and the order in which the linear coordinate runs over them.
 *
 * Two layouts of compatible shapes have the modes of the coarser one in common; otherwise the top-level modes must
 * agree. Views run row-major. Layouts run by the strides of the destination, the smallest first, so that neighbouring
 * work-items store to neighbouring elements; where strides cannot be compared, colexicographically. */
#include "lower/domain.h"

#include "ir/facts.h"

/* Modes, and which is the fastest, the next, … */
typedef struct {
  const tj_tuple *profile; /* their structure; NULL: a flat list, or one integer */
  const tj_node **extent;
  const tj_node **stride; /* of the destination; NULL where unknown */
  uint32_t *order;
  uint32_t count;
} modes;

_Noreturn void tj_fail_domains(tj_graph *graph, const tj_operand *source, const tj_operand *destination) {
  tj_fail(graph->job, TJ_DOMAIN_MISMATCH, "the source has shape %s, the destination %s",
          tj_tuple_text(graph->job, source->shape), tj_tuple_text(graph->job, destination->shape));
}

/* --- common modes --- */

static modes new_modes(tj_graph *graph, uint32_t most) {
  return (modes){.extent = TJ_NEW_ARRAY(graph->job, const tj_node *, most + 1),
                 .stride = TJ_NEW_ARRAY(graph->job, const tj_node *, most + 1),
                 .order = TJ_NEW_ARRAY(graph->job, uint32_t, most + 1)};
}

static tj_layout layout_of(const tj_operand *operand) {
  return operand->value->kind == TJ_VALUE_LAYOUT ? operand->value->layout : operand->value->composed->layout;
}

/* The stride at which a mode begins to step; NULL for a basis element. */
static const tj_node *first_stride(tj_layout layout) {
  if (!tj_tuple_is_list(layout.shape))
    return layout.stride->kind == TJ_TUPLE_INTEGER ? layout.stride->value : NULL;
  for (uint32_t i = 0; i < layout.shape->count; i++) {
    const tj_tuple *shape = layout.shape->item[i];
    bool is_single = !tj_tuple_is_list(shape) && tj_is_int(shape->value, 1);
    if (!is_single)
      return first_stride((tj_layout){shape, layout.stride->item[i]});
  }
  return NULL;
}

static void add_modes(modes *all, const tj_tuple *coarse, tj_layout destination) {
  if (!tj_tuple_is_list(coarse)) {
    all->extent[all->count] = coarse->value;
    all->stride[all->count++] = first_stride(destination);
    return;
  }
  for (uint32_t i = 0; i < coarse->count; i++)
    add_modes(all, coarse->item[i], (tj_layout){destination.shape->item[i], destination.stride->item[i]});
}

/* The modes of the coarser of two compatible layouts; false where they are none. */
static bool layout_modes(tj_graph *graph, const tj_operand *source, const tj_operand *destination, modes *all) {
  if (source->view != NULL || destination->view != NULL)
    return false;
  if (tj_tuple_compatible(graph, source->shape, destination->shape))
    all->profile = source->shape;
  else if (tj_tuple_compatible(graph, destination->shape, source->shape))
    all->profile = destination->shape;
  else
    return false;
  const tj_tuple *profile = all->profile;
  *all = new_modes(graph, tj_tuple_leaf_count(profile));
  all->profile = profile;
  add_modes(all, profile, layout_of(destination));
  return true;
}

static modes top_modes(tj_graph *graph, const tj_operand *source, const tj_operand *destination) {
  modes all = new_modes(graph, destination->rank);
  if (source->rank != destination->rank)
    tj_fail_domains(graph, source, destination);
  for (uint32_t i = 0; i < destination->rank; i++) {
    if (!tj_prove_equal(graph, source->extent[i], destination->extent[i]))
      tj_fail_domains(graph, source, destination);
    all.extent[i] = destination->extent[i];
    if (destination->view == NULL) {
      tj_layout layout = layout_of(destination);
      all.stride[i] = first_stride((tj_layout){tj_tuple_mode(layout.shape, i), tj_tuple_mode(layout.stride, i)});
    }
  }
  all.count = destination->rank;
  return all;
}

/* --- order --- */

static void set_order(modes *all, bool row_major) {
  for (uint32_t i = 0; i < all->count; i++)
    all->order[i] = row_major ? all->count - 1 - i : i;
}

/* Whether mode a surely steps no further than mode b. Modes of one coordinate do not step. */
static bool goes_before(tj_graph *graph, const modes *all, uint32_t a, uint32_t b) {
  if (tj_is_int(all->extent[a], 1) || tj_is_int(all->extent[b], 1))
    return tj_is_int(all->extent[a], 1);
  return all->stride[a] != NULL && all->stride[b] != NULL &&
         tj_prove_less_equal(graph, all->stride[a], all->stride[b]);
}

/* Sorts by stride; leaves the order as it was where two strides cannot be compared. */
static void sort_by_stride(tj_graph *graph, modes *all) {
  for (uint32_t i = 1; i < all->count; i++) {
    for (uint32_t k = i; k > 0 && !goes_before(graph, all, all->order[k - 1], all->order[k]); k--) {
      if (!goes_before(graph, all, all->order[k], all->order[k - 1])) {
        set_order(all, false);
        return;
      }
      uint32_t mode = all->order[k];
      all->order[k] = all->order[k - 1];
      all->order[k - 1] = mode;
    }
  }
}

static bool is_colexicographic(const modes *all) {
  for (uint32_t i = 0; i < all->count; i++) {
    if (all->order[i] != i)
      return false;
  }
  return true;
}

/* --- coordinates --- */

static const tj_tuple *digits_of(tj_graph *graph, const modes *all, const tj_node *index) {
  const tj_tuple **digits = TJ_NEW_ARRAY(graph->job, const tj_tuple *, all->count + 1);
  for (uint32_t i = 0; i < all->count; i++) {
    uint32_t mode = all->order[i];
    bool is_last = i + 1 == all->count;
    digits[mode] = tj_tuple_integer(graph, is_last ? index : tj_mod(graph, index, all->extent[mode]));
    if (!is_last)
      index = tj_div(graph, index, all->extent[mode]);
  }
  if (all->profile != NULL)
    return tj_tuple_from_leaves(graph, all->profile, digits);
  return all->count == 1 ? digits[0] : tj_tuple_list(graph, digits, all->count);
}

void tj_common_coordinates(tj_graph *graph, const tj_operand *source, const tj_operand *destination,
                           const tj_node *index, const tj_tuple **at_source, const tj_tuple **at_destination) {
  modes all;
  bool are_layouts = layout_modes(graph, source, destination, &all);
  if (!are_layouts)
    all = top_modes(graph, source, destination);
  set_order(&all, destination->view != NULL);
  if (destination->view == NULL)
    sort_by_stride(graph, &all);
  *at_destination =
      are_layouts && is_colexicographic(&all) ? tj_tuple_integer(graph, index) : digits_of(graph, &all, index);
  *at_source = *at_destination;
}
