/* SPDX-License-Identifier: MIT */
/* The image of a map: from structure where it decides, over F2, or by enumeration. */
#include "ir/value/map_image.h"

#include "ir/index/linear.h"
#include "ir/index/walk.h"
#include "ir/simplify/simplify.h"
#include "ir/value/table.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_COORDINATES = 1 << 24, MOST_FOR_EXAMPLES = 1 << 20 };

/* --- the structure of layouts --- */

/* The modes of an integer layout that have more than one coordinate, strides made positive, modes of stride 0 left
 * out but counted. */
typedef struct {
  const tj_node **extent, **stride;
  uint32_t count;
  bool repeats; /* some mode of stride 0 has several coordinates */
} mode_set;

/* False where the layout has basis strides, or where it is not known whether an extent is 1 or a stride is 0. */
static bool collect_modes(tj_graph *graph, tj_layout layout, mode_set *set) {
  uint32_t count;
  const tj_tuple *const *extents = tj_tuple_leaves(graph, layout.shape, &count);
  const tj_tuple *const *strides = tj_tuple_leaves(graph, layout.stride, &count);
  const tj_node *zero = tj_int(graph, 0), *one = tj_int(graph, 1);
  *set = (mode_set){.extent = TJ_NEW_ARRAY(graph->job, const tj_node *, count + 1),
                    .stride = TJ_NEW_ARRAY(graph->job, const tj_node *, count + 1)};
  for (uint32_t i = 0; i < count; i++) {
    if (strides[i]->kind != TJ_TUPLE_INTEGER)
      return false;
    tj_decision single = tj_decide_equal(graph, extents[i]->value, one);
    tj_decision still = tj_decide_equal(graph, strides[i]->value, zero);
    if (single == TJ_YES)
      continue;
    if (still == TJ_UNKNOWN || (still == TJ_YES && single == TJ_UNKNOWN))
      return false;
    if (still == TJ_YES) {
      set->repeats = true;
      continue;
    }
    set->extent[set->count] = extents[i]->value;
    set->stride[set->count++] = tj_absolute(graph, strides[i]->value);
  }
  return true;
}

static void swap_modes(mode_set *set, uint32_t a, uint32_t b) {
  const tj_node *extent = set->extent[a], *stride = set->stride[a];
  set->extent[a] = set->extent[b];
  set->stride[a] = set->stride[b];
  set->extent[b] = extent;
  set->stride[b] = stride;
}

/* Strides are not 0: what divides one is at most as large, also where they may be equal, as M and M*M are. */
static bool is_at_most(tj_graph *graph, const tj_node *a, const tj_node *b) {
  return tj_decide_less_equal(graph, a, b) == TJ_YES || tj_decide_divides(graph, a, b) == TJ_YES;
}

/* Sorts by stride; false where the order of two strides is not known. */
static bool sort_modes(tj_graph *graph, mode_set *set) {
  for (uint32_t i = 1; i < set->count; i++) {
    for (uint32_t k = i; k > 0; k--) {
      if (is_at_most(graph, set->stride[k - 1], set->stride[k]))
        break;
      if (!is_at_most(graph, set->stride[k], set->stride[k - 1]))
        return false;
      swap_modes(set, k - 1, k);
    }
  }
  return true;
}

/* Whether each stride is surely larger than everything that smaller ones reach together: then values are distinct. */
static bool modes_nest(tj_graph *graph, const mode_set *set) {
  const tj_node *reach = tj_int(graph, 0), *one = tj_int(graph, 1);
  for (uint32_t i = 0; i < set->count; i++) {
    if (tj_decide_less(graph, reach, set->stride[i]) != TJ_YES)
      return false;
    const tj_node *steps = tj_terse_sub(graph, set->extent[i], one);
    reach = tj_simplified(graph, tj_terse_add(graph, reach, tj_terse_mul(graph, steps, set->stride[i])));
  }
  return true;
}

/* What structure alone says of an integer layout. `distinct`: of its values without the modes of stride 0. */
typedef struct {
  bool is_known;
  bool repeats;                  /* surely, also where the rest is not known */
  const tj_node *distinct_count; /* where is_known */
} structure;

static structure structure_of(tj_graph *graph, tj_layout layout) {
  mode_set set;
  if (!collect_modes(graph, layout, &set))
    return (structure){.is_known = false};
  if (!sort_modes(graph, &set) || !modes_nest(graph, &set))
    return (structure){.is_known = false, .repeats = set.repeats};
  structure known = {.is_known = true, .repeats = set.repeats, .distinct_count = tj_int(graph, 1)};
  for (uint32_t i = 0; i < set.count; i++)
    known.distinct_count = tj_terse_mul(graph, known.distinct_count, set.extent[i]);
  return known;
}

/* --- the space of views --- */

static const tj_node *begin_of_view(tj_graph *graph, const tj_view *view) {
  return tj_simplified(graph, tj_terse_sub(graph, view->offset, tj_view_reach_below(graph, view)));
}

static const tj_node *space_of_view(tj_graph *graph, const tj_view *view) {
  const tj_node *below = tj_view_reach_below(graph, view);
  const tj_node *above = tj_terse_add(graph, view->space_size, below);
  return tj_simplified(graph, tj_terse_add(graph, below, above));
}

/* --- views as strides --- */

/* Which leaf of the input a term is a multiple of, with factors that no coordinate enters; `rank` where it is a
 * multiple of none, UINT32_MAX for anything else. */
static uint32_t coordinate_of_term(tj_graph *graph, const tj_term *term, const tj_tuple *const symbol[],
                                   uint32_t rank, uint32_t *place) {
  uint32_t found = rank;
  for (uint32_t a = 0; a < term->degree; a++) {
    tj_walk walk = tj_walk_nodes(graph, &term->atom[a], 1);
    for (uint32_t n = 0; n < walk.count; n++) {
      for (uint32_t i = 0; i < rank; i++) {
        if (walk.node[n] != symbol[i]->value)
          continue;
        if (walk.node[n] != term->atom[a] || found != rank)
          return UINT32_MAX;
        found = i;
        *place = a;
      }
    }
  }
  return found;
}

/* offset = base + Σ stride[i] * coordinate i. */
static bool strides_of(tj_graph *graph, const tj_map *map, const tj_node *stride[], const tj_node **base) {
  uint32_t rank;
  const tj_tuple *const *symbol = tj_tuple_leaves(graph, map->input, &rank);
  const tj_linear *form = tj_linear_of(graph, tj_simplified(graph, map->output->value));
  *base = tj_int(graph, form->constant);
  for (uint32_t i = 0; i < rank; i++)
    stride[i] = tj_int(graph, 0);
  for (uint32_t t = 0; t < form->count; t++) {
    uint32_t place = 0, i = coordinate_of_term(graph, &form->term[t], symbol, rank, &place);
    if (i == UINT32_MAX)
      return false;
    const tj_node **sum = i == rank ? base : &stride[i];
    tj_term factor = i == rank ? form->term[t] : tj_term_without(&form->term[t], place);
    *sum = tj_terse_add(graph, *sum,
                        factor.degree == 0 ? tj_int(graph, factor.coefficient) : tj_monomial_node(graph, &factor));
  }
  return true;
}

bool tj_map_as_strides(tj_graph *graph, const tj_map *map, const tj_node *stride[], const tj_node **base,
                       tj_box *box) {
  return tj_valid_box(graph, map, box) && strides_of(graph, map, stride, base);
}

bool tj_view_as_strides(tj_graph *graph, const tj_view *view, tj_layout *layout, const tj_node **first, tj_box *box) {
  tj_map map = tj_map_of_view(graph, view);
  const tj_node *stride[TJ_MAX_DIMENSIONS], *one = tj_int(graph, 1);
  if (!tj_map_as_strides(graph, &map, stride, first, box))
    return false;
  const tj_tuple *extents[TJ_MAX_DIMENSIONS], *strides[TJ_MAX_DIMENSIONS];
  for (uint32_t i = 0; i < view->rank; i++) {
    const tj_node *extent = tj_simplified(graph, tj_terse_sub(graph, box->end[i], box->begin[i]));
    if (tj_decide_less_equal(graph, one, extent) != TJ_YES)
      return false;
    extents[i] = tj_tuple_integer(graph, extent);
    strides[i] = tj_tuple_integer(graph, tj_simplified(graph, stride[i]));
    *first = tj_terse_add(graph, *first, tj_terse_mul(graph, stride[i], box->begin[i]));
  }
  *first = tj_simplified(graph, *first);
  *layout = (tj_layout){tj_tuple_list(graph, extents, view->rank), tj_tuple_list(graph, strides, view->rank)};
  return true;
}

/* --- views by their stages --- */

/* Whether a stage's lower indices are surely inside their dimensions wherever its own predicate holds, for upper
 * indices inside theirs. */
static bool stage_stays_inside(tj_graph *graph, const tj_view *view, const tj_stage *stage) {
  const tj_transform *transform = stage->transform;
  if (tj_transform_reach_of(transform->kind) == TJ_REACH_INSIDE)
    return true;
  const tj_node **upper = TJ_NEW_ARRAY(graph->job, const tj_node *, transform->upper_count + 1);
  const tj_node **lower = TJ_NEW_ARRAY(graph->job, const tj_node *, transform->lower_count + 1);
  for (uint32_t i = 0; i < transform->upper_count; i++)
    upper[i] = tj_coordinate(graph, "u", transform->upper_length[i]);
  tj_transform_lower(graph, transform, upper, lower);
  tj_simplify(graph, lower, transform->lower_count, NULL);
  for (uint32_t i = 0; i < transform->lower_count; i++) {
    const tj_node *length = view->hidden_length[stage->lower_id[i]];
    if (!tj_prove_less_equal(graph, tj_int(graph, 0), lower[i]) || !tj_prove_less(graph, lower[i], length))
      return false;
  }
  return true;
}

/* Whether a pad makes the dimension, whose predicate holds inside of it alone. */
static bool is_padded(const tj_view *view, uint32_t id) {
  for (uint32_t i = 0; i < view->stage_count; i++) {
    const tj_stage *stage = &view->stage[i];
    if (stage->transform->kind == TJ_TRANSFORM_PAD && stage->upper_id[0] == id)
      return true;
  }
  return false;
}

/* Whether pads catch whatever indices a stage makes. */
static bool is_caught(const tj_view *view, const tj_stage *stage) {
  for (uint32_t i = 0; i < stage->transform->lower_count; i++) {
    if (!is_padded(view, stage->lower_id[i]))
      return false;
  }
  return stage->transform->lower_count > 0;
}

bool tj_view_stays_inside(tj_graph *graph, const tj_view *view) {
  for (uint32_t i = 0; i < view->stage_count; i++) {
    if (!is_caught(view, &view->stage[i]) && !stage_stays_inside(graph, view, &view->stage[i]))
      return false;
  }
  return true;
}

static bool strides_keep_apart(tj_graph *graph, const tj_transform *embed) {
  structure known = structure_of(graph, (tj_layout){tj_tuple_integers(graph, embed->upper_length, embed->upper_count),
                                                    tj_tuple_integers(graph, embed->amount, embed->upper_count)});
  return known.is_known && !known.repeats;
}

static bool has_one_coordinate(const tj_transform *transform) {
  for (uint32_t i = 0; i < transform->upper_count; i++) {
    if (!tj_is_int(transform->upper_length[i], 1))
      return false;
  }
  return true;
}

/* Whether different upper coordinates surely have different lower ones. */
static bool keeps_apart(tj_graph *graph, const tj_transform *transform) {
  switch (tj_transform_images_of(transform->kind)) {
  case TJ_IMAGES_APART:
    return true;
  case TJ_IMAGES_BY_STRIDES:
    return strides_keep_apart(graph, transform);
  case TJ_IMAGES_TOGETHER:
    break;
  }
  return has_one_coordinate(transform);
}

/* Stages that keep coordinates apart do so together, where each stays inside what those below it take. */
static bool stages_keep_apart(tj_graph *graph, const tj_view *view) {
  for (uint32_t i = 0; i < view->stage_count; i++) {
    if (!keeps_apart(graph, view->stage[i].transform) || (i > 0 && !stage_stays_inside(graph, view, &view->stage[i])))
      return false;
  }
  return true;
}

/* --- by structure --- */

/* The coordinates 0 and 1 of the first mode that does not move the value. */
static void find_repeated(tj_graph *graph, const tj_tuple *domain, const tj_tuple *stride, const tj_box *box,
                          tj_map_image *image) {
  uint32_t count;
  const tj_tuple *const *strides = tj_tuple_leaves(graph, stride, &count);
  const tj_tuple *const *extents = tj_tuple_leaves(graph, domain, &count);
  const tj_node *one = tj_int(graph, 1), **at = TJ_NEW_ARRAY(graph->job, const tj_node *, count + 1);
  for (uint32_t i = 0; i < count; i++)
    at[i] = box != NULL ? box->begin[i] : tj_int(graph, 0);
  for (uint32_t i = 0; i < count; i++) {
    const tj_node *end = box != NULL ? box->end[i] : extents[i]->value;
    if (!tj_is_int(strides[i]->value, 0) || tj_decide_less(graph, tj_terse_add(graph, at[i], one), end) != TJ_YES)
      continue;
    image->collision[0] = tj_box_corner(graph, domain, at);
    at[i] = tj_terse_add(graph, at[i], one);
    image->collision[1] = tj_box_corner(graph, domain, at);
    return;
  }
}

/* What nested modes tell of a layout whose values begin at `first`. Negative strides begin further down. */
static void set_structure(tj_graph *graph, tj_layout layout, const tj_node *first, tj_map_image *image) {
  structure known = structure_of(graph, layout);
  if (known.repeats)
    image->is_injective = TJ_NO;
  if (!known.is_known)
    return;
  const tj_node *reach = tj_terse_add(graph, first, tj_layout_cosize(graph, layout));
  const tj_node *size = tj_layout_size(graph, layout);
  image->is_injective = known.repeats ? TJ_NO : TJ_YES;
  image->reached = tj_simplified(graph, known.distinct_count);
  image->most = tj_simplified(graph, tj_exact_div(graph, size, known.distinct_count));
  if (tj_decide_equal(graph, image->reached, image->space) == TJ_YES &&
      tj_decide_equal(graph, reach, image->space) == TJ_YES)
    image->is_surjective = TJ_YES;
  else if (tj_decide_less(graph, image->reached, image->space) == TJ_YES)
    image->is_surjective = TJ_NO;
}

static bool has_negative_stride(tj_graph *graph, tj_layout layout) {
  uint32_t count;
  const tj_tuple *const *strides = tj_tuple_leaves(graph, layout.stride, &count);
  for (uint32_t i = 0; i < count; i++) {
    if (tj_decide_less_equal(graph, tj_int(graph, 0), strides[i]->value) != TJ_YES)
      return true;
  }
  return false;
}

/* A coordinate whose value is surely negative; NULL: none is known. */
static const tj_tuple *coordinate_below(tj_graph *graph, tj_layout layout) {
  uint32_t count;
  const tj_tuple *const *strides = tj_tuple_leaves(graph, layout.stride, &count);
  const tj_tuple *const *extents = tj_tuple_leaves(graph, layout.shape, &count);
  const tj_tuple **leaf = TJ_NEW_ARRAY(graph->job, const tj_tuple *, count + 1);
  bool is_below = false;
  for (uint32_t i = 0; i < count; i++) {
    bool goes_down = !is_below && tj_decide_less(graph, strides[i]->value, tj_int(graph, 0)) == TJ_YES &&
                     tj_decide_less(graph, tj_int(graph, 1), extents[i]->value) == TJ_YES;
    leaf[i] = tj_tuple_constant(graph, goes_down);
    is_below = is_below || goes_down;
  }
  return is_below ? tj_tuple_from_leaves(graph, layout.shape, leaf) : NULL;
}

static void set_layout(tj_graph *graph, tj_layout layout, tj_map_image *image) {
  if (tj_layout_coshape(graph, layout)->kind != TJ_TUPLE_INTEGER)
    return;
  image->space = tj_simplified(graph, tj_layout_cosize(graph, layout));
  set_structure(graph, layout, tj_int(graph, 0), image);
  if (has_negative_stride(graph, layout)) {
    image->outside = coordinate_below(graph, layout);
    image->is_surjective = image->outside != NULL ? TJ_NO : TJ_UNKNOWN;
    image->reached = image->most = NULL; /* structure knows of sizes, not of what is below 0 */
  }
  if (image->is_injective == TJ_NO)
    find_repeated(graph, layout.shape, layout.stride, NULL, image);
}

static void set_view(tj_graph *graph, const tj_view *view, tj_map_image *image) {
  tj_layout layout;
  const tj_node *first;
  tj_box box;
  image->space = space_of_view(graph, view);
  if (!tj_view_as_strides(graph, view, &layout, &first, &box) || has_negative_stride(graph, layout))
    return;
  const tj_node *from = tj_terse_sub(graph, first, begin_of_view(graph, view));
  set_structure(graph, layout, from, image);
  const tj_tuple *domain = tj_view_lengths(graph, view);
  if (image->is_injective == TJ_NO)
    find_repeated(graph, domain, layout.stride, &box, image);
  const tj_node *to =
      tj_terse_add(graph, from, tj_terse_add(graph, tj_layout_cosize(graph, layout), tj_int(graph, -1)));
  if (tj_decide_less_equal(graph, tj_int(graph, 0), from) != TJ_YES ||
      tj_decide_less(graph, to, image->space) != TJ_YES)
    image->reached = NULL;
  tj_decision below = tj_decide_less(graph, first, tj_int(graph, 0));
  if (image->is_surjective == TJ_YES && below != TJ_NO)
    image->is_surjective = below == TJ_YES ? TJ_NO : TJ_UNKNOWN;
  bool is_below = below == TJ_YES;
  bool is_above = tj_decide_less_equal(graph, image->space, to) == TJ_YES;
  for (uint32_t i = 0; is_above && !is_below && i < box.rank; i++)
    box.begin[i] = tj_simplified(graph, tj_terse_add(graph, box.end[i], tj_int(graph, -1)));
  if (is_below || is_above)
    image->outside = tj_box_corner(graph, domain, box.begin);
}

tj_map_image tj_map_image_by_structure(tj_graph *graph, const tj_value *map) {
  tj_map_image image = {.is_injective = TJ_UNKNOWN, .is_surjective = TJ_UNKNOWN};
  if (map->kind == TJ_VALUE_LAYOUT)
    set_layout(graph, map->layout, &image);
  else if (map->kind == TJ_VALUE_VIEW)
    set_view(graph, map->view, &image);
  else if (map->kind == TJ_VALUE_COMPOSED) {
    structure known = structure_of(graph, map->composed->layout);
    image.is_injective = !known.is_known ? TJ_UNKNOWN : known.repeats ? TJ_NO : TJ_YES;
  }
  if (map->kind == TJ_VALUE_VIEW && image.is_injective == TJ_UNKNOWN && stages_keep_apart(graph, map->view))
    image.is_injective = TJ_YES;
  return image;
}

/* --- linear maps --- */

/* A map that is linear over F2 by its structure; else NULL. */
const tj_f2 *tj_f2_inside(tj_graph *graph, const tj_value *map) {
  const char *obstacle;
  bool has_structure = map->kind == TJ_VALUE_LAYOUT || map->kind == TJ_VALUE_COMPOSED ||
                       map->kind == TJ_VALUE_LINEAR || map->kind == TJ_VALUE_SWIZZLE;
  return has_structure ? tj_f2_of_value(graph, map, &obstacle) : NULL;
}

/* Whether the values, of which there are 2^rank, fill the box of the largest of each component. */
static bool linear_is_surjective(tj_graph *graph, const tj_f2 *map) {
  uint64_t space = 1;
  if (map->extends)
    return tj_f2_rank(graph, map) == map->bit_count;
  for (uint32_t i = 0; i < map->component_count; i++)
    if (__builtin_mul_overflow(space, tj_f2_largest(graph, map, i) + 1, &space))
      return false;
  return space == UINT64_C(1) << tj_f2_rank(graph, map);
}

static void set_linear(tj_graph *graph, const tj_value *map, tj_map_image *image) {
  const tj_f2 *linear = tj_f2_inside(graph, map);
  if (linear == NULL)
    return;
  uint32_t rank = tj_f2_rank(graph, linear);
  if (image->is_injective == TJ_UNKNOWN)
    image->is_injective = rank == linear->bit_count ? TJ_YES : TJ_NO;
  if (image->is_surjective == TJ_UNKNOWN)
    image->is_surjective = linear_is_surjective(graph, linear) ? TJ_YES : TJ_NO;
}

/* --- enumeration --- */

/* The values of a map's valid coordinates, each followed by the coordinate's number, sorted. */
typedef struct {
  tj_graph *graph;
  const tj_value *map;
  tj_table table;
  uint32_t width; /* integers of a value */
  uint32_t pitch; /* and one more */
  int64_t *value;
  size_t count;
  int64_t begin;   /* of the space */
  int64_t *length; /* of each component of the space */
  bool is_negative;
} listing;

static int compare_values(const void *a, const void *b, void *pitch) {
  const int64_t *x = a, *y = b;
  for (uint32_t i = 0; i < *(const uint32_t *)pitch; i++) {
    if (x[i] != y[i])
      return x[i] < y[i] ? -1 : 1;
  }
  return 0;
}

/* The length of a component of the map's own space; -1 where it ends with the largest value. */
static int64_t length_of(tj_graph *graph, const tj_value *map, uint32_t component) {
  const tj_node *length = NULL;
  switch (map->kind) {
  case TJ_VALUE_VIEW:
    length = space_of_view(graph, map->view);
    break;
  case TJ_VALUE_TRANSFORM:
    length = map->transform->lower_length[component];
    break;
  case TJ_VALUE_ADAPTOR:
    length = map->adaptor->bottom_length[component];
    break;
  case TJ_VALUE_DISTRIBUTION:
    return map->distribution->x_length[component];
  default:
    break;
  }
  return length != NULL ? tj_constant_value(graph, length, "the length of a map's space") : -1;
}

static void note_value(listing *all, const int64_t value[]) {
  int64_t *to = all->value + all->count++ * all->pitch;
  memcpy(to, value, all->width * sizeof *to);
  for (uint32_t i = 0; i < all->width; i++)
    all->is_negative |= value[i] < 0;
}

static void measure_space(listing *all) {
  for (uint32_t i = 0; i < all->width; i++) {
    all->length[i] = length_of(all->graph, all->map, i);
    for (size_t n = 0, open = all->length[i] < 0; open && n < all->count; n++) {
      int64_t value = all->value[n * all->pitch + i];
      all->length[i] = value >= all->length[i] ? value + 1 : all->length[i];
    }
    all->length[i] = all->length[i] < 0 ? 0 : all->length[i];
  }
}

static listing list_values(tj_graph *graph, const tj_value *map, int64_t limit) {
  listing all = {.graph = graph, .map = map, .table = tj_table_open(graph, map, limit)};
  if (map->kind == TJ_VALUE_VIEW)
    all.begin = tj_constant_value(graph, begin_of_view(graph, map->view), "a view's offset");
  all.width = all.table.result_count;
  all.pitch = all.width + 1;
  all.value = TJ_NEW_ARRAY(graph->job, int64_t, (size_t)all.table.size * all.pitch + 1);
  all.length = TJ_NEW_ARRAY(graph->job, int64_t, all.width + 1);
  for (int64_t n = 0; n < all.table.size; n++, tj_table_advance(&all.table)) {
    if (!tj_table_evaluate(&all.table))
      continue;
    all.value[all.count * all.pitch + all.width] = n;
    note_value(&all, all.table.result);
  }
  measure_space(&all);
  qsort_r(all.value, all.count, all.pitch * sizeof *all.value, compare_values, &all.pitch);
  return all;
}

/* The coordinate of a number in the map's own order. */
static const tj_tuple *coordinate_at(const listing *all, int64_t number) {
  const tj_table *table = &all->table;
  const tj_tuple **leaves = TJ_NEW_ARRAY(all->graph->job, const tj_tuple *, table->rank + 1);
  for (uint32_t i = 0; i < table->rank; i++) {
    uint32_t mode = table->row_major ? table->rank - 1 - i : i;
    leaves[mode] = tj_tuple_constant(all->graph, number % table->extent[mode]);
    number /= table->extent[mode];
  }
  return tj_tuple_from_leaves(all->graph, table->domain, leaves);
}

/* Whether value - begin is less than the space is long, without overflow. */
static bool ends_inside(const listing *all, int64_t value, uint32_t component) {
  int64_t place;
  return !__builtin_sub_overflow(value, all->begin, &place) && place < all->length[component];
}

static bool is_inside(const listing *all, const int64_t value[]) {
  for (uint32_t i = 0; i < all->width; i++) {
    if (value[i] < all->begin || !ends_inside(all, value[i], i))
      return false;
  }
  return true;
}

/* A buffer also has what lies before the space of a view. */
static bool is_in_buffer(const listing *all, const int64_t value[]) {
  for (uint32_t i = 0; i < all->width; i++) {
    if (value[i] < 0 || !ends_inside(all, value[i], i))
      return false;
  }
  return true;
}

static bool same_value(const listing *all, size_t a, size_t b) {
  const int64_t *x = all->value + a * all->pitch, *y = all->value + b * all->pitch;
  return memcmp(x, y, all->width * sizeof *x) == 0;
}

static int64_t number_at(const listing *all, size_t n) {
  return all->value[n * all->pitch + all->width];
}

/* Runs of equal values: how many there are inside of the space, the longest of these, and the first coordinate that
 * has the value of an earlier one. */
static void count_runs(const listing *all, tj_map_image *image) {
  int64_t reached = 0, most = 0, run = 0;
  size_t again = SIZE_MAX;
  for (size_t n = 0; n < all->count; n++) {
    const bool repeats = n > 0 && same_value(all, n, n - 1), counts = is_inside(all, all->value + n * all->pitch);
    run = repeats ? run + 1 : 1;
    most = counts && run > most ? run : most;
    reached += !repeats && counts ? 1 : 0;
    if (run == 2 && (again == SIZE_MAX || number_at(all, n) < number_at(all, again)))
      again = n;
  }
  image->reached = tj_int(all->graph, reached);
  image->most = tj_int(all->graph, most);
  image->is_injective = again == SIZE_MAX ? TJ_YES : TJ_NO;
  for (unsigned i = 0; i < 2 && again != SIZE_MAX; i++)
    image->collision[i] = coordinate_at(all, number_at(all, again - 1 + i));
}

static void find_outside(const listing *all, tj_map_image *image) {
  int64_t first = INT64_MAX;
  for (size_t n = 0; n < all->count; n++) {
    if (!is_in_buffer(all, all->value + n * all->pitch) && number_at(all, n) < first)
      first = number_at(all, n);
  }
  image->outside = first < INT64_MAX ? coordinate_at(all, first) : NULL;
}

/* The next element of the space, the last component fastest; false after the last. */
static bool next_element(const listing *all, int64_t element[]) {
  for (uint32_t i = all->width; i-- > 0;) {
    if (ends_inside(all, ++element[i], i))
      return true;
    element[i] = all->begin;
  }
  return false;
}

/* Values are sorted in the order of elements: the first element that the next value inside is not. */
static void find_gap(const listing *all, tj_map_image *image) {
  tj_graph *graph = all->graph;
  int64_t *element = TJ_NEW_ARRAY(graph->job, int64_t, all->width + 1);
  bool is_empty = false, more = true;
  for (uint32_t i = 0; i < all->width; i++) {
    is_empty |= all->length[i] == 0;
    element[i] = all->begin;
  }
  for (size_t n = 0; n < all->count && more; n++) {
    const int64_t *value = all->value + n * all->pitch;
    if (!is_inside(all, value) || (n > 0 && same_value(all, n, n - 1)))
      continue;
    if (memcmp(value, element, all->width * sizeof *value) != 0)
      break;
    more = next_element(all, element);
  }
  image->is_surjective = all->is_negative || (more && !is_empty) ? TJ_NO : TJ_YES;
  if (is_empty || !more)
    return;
  const tj_tuple **leaves = TJ_NEW_ARRAY(graph->job, const tj_tuple *, all->width + 1);
  for (uint32_t i = 0; i < all->width; i++)
    leaves[i] = tj_tuple_constant(graph, element[i]);
  image->gap = tj_tuple_from_leaves(graph, all->table.output, leaves);
}

static tj_map_image image_by_values(tj_graph *graph, const tj_value *map, int64_t limit) {
  tj_map_image image = {.is_injective = TJ_UNKNOWN};
  listing all = list_values(graph, map, limit);
  image.space = tj_int(graph, 1);
  for (uint32_t i = 0; i < all.width; i++)
    image.space = tj_mul(graph, image.space, tj_int(graph, all.length[i]));
  count_runs(&all, &image);
  find_outside(&all, &image);
  find_gap(&all, &image);
  return image;
}

/* --- the image --- */

static bool is_decided(const tj_map_image *image, tj_map_image_need need) {
  bool injective = image->is_injective != TJ_UNKNOWN, surjective = image->is_surjective != TJ_UNKNOWN;
  switch (need) {
  case TJ_IMAGE_INJECTIVE:
    return injective;
  case TJ_IMAGE_SURJECTIVE:
    return surjective;
  default:
    return injective && surjective && image->reached != NULL;
  }
}

tj_map_image tj_map_image_decide(tj_graph *graph, const tj_value *map, tj_map_image_need need) {
  tj_map_image image = tj_map_image_by_structure(graph, map);
  if (is_decided(&image, need))
    return image;
  set_linear(graph, map, &image);
  return is_decided(&image, need) ? image : image_by_values(graph, map, MOST_COORDINATES);
}

typedef struct {
  tj_graph *graph;
  const tj_value *map;
  tj_map_image image;
} attempt;

static void try_values(tj_job *job, void *data) {
  (void)job;
  attempt *a = data;
  a->image = image_by_values(a->graph, a->map, MOST_FOR_EXAMPLES);
}

/* Whether something that has an example lacks it. */
static bool lacks_example(const tj_map_image *image) {
  return (image->is_injective == TJ_NO && image->collision[0] == NULL) ||
         (image->is_surjective == TJ_NO && image->gap == NULL);
}

tj_map_image tj_map_image_of(tj_graph *graph, const tj_value *map) {
  tj_map_image image = tj_map_image_by_structure(graph, map);
  attempt a = {.graph = graph, .map = map};
  if (is_decided(&image, TJ_IMAGE_ALL) && !lacks_example(&image))
    return image;
  if (tj_job_try(graph->job, try_values, &a))
    return a.image;
  set_linear(graph, map, &image);
  return image;
}
