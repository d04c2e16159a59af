/* SPDX-License-Identifier: MIT */
/* The modes that source and destination have in common.
 *
 * Two layouts of compatible shapes have the leaves of the finer one in common; otherwise the top-level modes must
 * agree, and domain_parts.c says what these have in common. Sorting by the strides of the destination lets
 * neighbouring coordinates be neighbouring elements of it; merging what lies as evenly in both operands leaves few
 * modes, which is what linear coordinates are taken apart by.
 */
#include "lower/kernel/domain_parts.h"

#include "ir/index/facts.h"
#include "ir/index/substitute.h"
#include "ir/layout/algebra.h"
#include "ir/layout/arith.h"
#include "ir/simplify/simplify.h"
#include "ir/value/map_image.h"

#include <string.h>

_Noreturn void tj_fail_domains(tj_graph *graph, const tj_operand *source, const tj_operand *destination) {
  tj_fail(graph->job, TJ_DOMAIN_MISMATCH, "the source has shape %s, the destination %s",
          tj_tuple_text(graph->job, source->shape), tj_tuple_text(graph->job, destination->shape));
}

/* A domain under construction: one mode a leaf. */
typedef struct {
  tj_domain domain;
  tj_mode *mode;
  uint32_t *leaf;
  const tj_node **leaf_extent;
} domain_maker;

static domain_maker new_maker(tj_graph *graph, const tj_sides *sides, const tj_tuple *profile) {
  uint32_t most = tj_tuple_leaf_count(profile) + 1;
  return (domain_maker){
      .domain = {.source = sides->source,
                 .destination = sides->destination,
                 .other = sides->other,
                 .other_count = sides->other_count,
                 .size = sides->destination->size,
                 .profile = profile},
      .mode = TJ_NEW_ARRAY(graph->job, tj_mode, most),
      .leaf = TJ_NEW_ARRAY(graph->job, uint32_t, most),
      .leaf_extent = TJ_NEW_ARRAY(graph->job, const tj_node *, most),
  };
}

static tj_domain finished(domain_maker *maker) {
  maker->domain.mode = maker->mode;
  maker->domain.leaf = maker->leaf;
  maker->domain.leaf_extent = maker->leaf_extent;
  return maker->domain;
}

static void add_leaf(domain_maker *maker, const tj_node *extent, const tj_node *source_stride,
                     const tj_node *destination_stride) {
  uint32_t place = maker->domain.leaf_total++;
  maker->leaf[place] = place;
  maker->leaf_extent[place] = extent;
  maker->mode[maker->domain.count++] = (tj_mode){extent, source_stride, destination_stride, place, 1};
}

/* --- layouts of compatible shapes --- */

/* Both strides of a leaf of the finer shape that stands within a mode of the coarser one. */
typedef struct {
  bool source_is_finer;
  const tj_node *coarse_stride; /* of the next leaf of the mode; NULL: the mode is a list still */
} leaf_context;

static void add_fine_leaf(tj_graph *graph, domain_maker *maker, const tj_tuple *extent, const tj_tuple *fine_stride,
                          leaf_context *context) {
  const tj_node *fine = tj_integer_stride(fine_stride), *coarse = context->coarse_stride;
  add_leaf(maker, extent->value, context->source_is_finer ? fine : coarse, context->source_is_finer ? coarse : fine);
  if (coarse != NULL)
    context->coarse_stride = tj_simplified(graph, tj_mul(graph, coarse, extent->value));
}

/* The leaves of `fine`, which lie within one integer mode of the coarser layout. */
static void add_within(tj_graph *graph, domain_maker *maker, tj_layout fine, leaf_context *context) {
  if (!tj_tuple_is_list(fine.shape)) {
    add_fine_leaf(graph, maker, fine.shape, fine.stride, context);
    return;
  }
  for (uint32_t i = 0; i < fine.shape->count; i++)
    add_within(graph, maker, (tj_layout){fine.shape->item[i], fine.stride->item[i]}, context);
}

static void add_layouts(tj_graph *graph, domain_maker *maker, tj_layout fine, tj_layout coarse,
                        bool source_is_finer) {
  if (!tj_tuple_is_list(coarse.shape)) {
    leaf_context context = {source_is_finer, tj_integer_stride(coarse.stride)};
    add_within(graph, maker, fine, &context);
    return;
  }
  for (uint32_t i = 0; i < coarse.shape->count; i++)
    add_layouts(graph, maker, (tj_layout){fine.shape->item[i], fine.stride->item[i]},
                (tj_layout){coarse.shape->item[i], coarse.stride->item[i]}, source_is_finer);
}

/* NULL where the shapes are not compatible, or one is no layout. */
static const tj_operand *finer_layout(tj_graph *graph, const tj_operand *source, const tj_operand *destination) {
  if (source->view != NULL || destination->view != NULL)
    return NULL;
  if (tj_tuple_compatible(graph, source->shape, destination->shape))
    return destination;
  return tj_tuple_compatible(graph, destination->shape, source->shape) ? source : NULL;
}

static domain_maker make_of_layouts(tj_graph *graph, const tj_sides *sides, const tj_operand *finer) {
  domain_maker maker = new_maker(graph, sides, finer->shape);
  bool source_is_finer = finer == sides->source;
  const tj_operand *coarser = source_is_finer ? sides->destination : sides->source;
  add_layouts(graph, &maker, tj_operand_layout(finer), tj_operand_layout(coarser), source_is_finer);
  return maker;
}

/* --- top-level modes --- */

static domain_maker make_of_dimensions(tj_graph *graph, const tj_sides *sides, bool in_parts) {
  tj_domain_parts parts = tj_domain_parts_of(graph, sides->source, sides->destination, in_parts);
  domain_maker maker = new_maker(graph, sides, parts.profile);
  uint32_t count = tj_tuple_leaf_count(parts.profile);
  maker.domain.side = parts.side;
  for (uint32_t i = 0; i < count; i++)
    add_leaf(&maker, parts.leaf[i].extent, parts.leaf[i].stride[0], parts.leaf[i].stride[1]);
  return maker;
}

/* --- order --- */

/* The last top-level mode first. */
static void reverse_modes(tj_graph *graph, domain_maker *maker) {
  const tj_tuple *profile = maker->domain.profile;
  tj_mode *reversed = TJ_NEW_ARRAY(graph->job, tj_mode, maker->domain.count + 1);
  uint32_t begin = maker->domain.count, count = 0;
  for (uint32_t m = tj_tuple_rank(profile); m-- > 0;) {
    uint32_t leaves = tj_tuple_leaf_count(tj_tuple_mode(profile, m));
    begin -= leaves;
    for (uint32_t i = 0; i < leaves; i++)
      reversed[count++] = maker->mode[begin + i];
  }
  maker->mode = reversed;
}

/* Modes of one coordinate do not step. */
static void drop_single_modes(domain_maker *maker) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < maker->domain.count; i++) {
    if (!tj_is_int(maker->mode[i].extent, 1))
      maker->mode[kept++] = maker->mode[i];
  }
  maker->domain.count = kept;
}

/* Whether mode a surely steps no further than mode b. */
static bool goes_before(tj_graph *graph, const tj_mode *a, const tj_mode *b) {
  return a->destination_stride != NULL && b->destination_stride != NULL &&
         tj_prove_less_equal(graph, a->destination_stride, b->destination_stride);
}

/* Sorts by stride; leaves the order as it was where two strides cannot be compared. */
static void sort_by_stride(tj_graph *graph, domain_maker *maker) {
  uint32_t count = maker->domain.count;
  tj_mode *sorted = TJ_NEW_ARRAY(graph->job, tj_mode, count + 1);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t at = i;
    while (at > 0 && !goes_before(graph, &sorted[at - 1], &maker->mode[i])) {
      if (!goes_before(graph, &maker->mode[i], &sorted[at - 1]))
        return;
      sorted[at] = sorted[at - 1];
      at--;
    }
    sorted[at] = maker->mode[i];
  }
  maker->mode = sorted;
}

/* --- merging --- */

static bool continues(tj_graph *graph, const tj_node *stride, const tj_node *extent, const tj_node *next) {
  return stride != NULL && next != NULL && tj_prove_equal(graph, tj_mul(graph, stride, extent), next);
}

/* How far a step along a leaf moves a further source. */
static const tj_node *other_stride(const tj_operand *other, uint32_t leaf) {
  return tj_integer_stride(tj_tuple_mode(tj_operand_layout(other).stride, leaf));
}

static bool others_continue(tj_graph *graph, const domain_maker *maker, uint32_t first_leaf, const tj_node *extent,
                            uint32_t next_leaf) {
  bool all_continue = true;
  for (uint32_t i = 0; i < maker->domain.other_count && all_continue; i++) {
    const tj_operand *other = &maker->domain.other[i];
    all_continue = continues(graph, other_stride(other, first_leaf), extent, other_stride(other, next_leaf));
  }
  return all_continue;
}

static void merge_modes(tj_graph *graph, domain_maker *maker) {
  uint32_t *leaves = TJ_NEW_ARRAY(graph->job, uint32_t, maker->domain.leaf_total + 1);
  uint32_t count = 0, used = 0;
  for (uint32_t i = 0; i < maker->domain.count; i++) {
    const tj_mode *next = &maker->mode[i];
    tj_mode *last = count > 0 ? &maker->mode[count - 1] : NULL;
    bool merges =
        last != NULL && continues(graph, last->source_stride, last->extent, next->source_stride) &&
        continues(graph, last->destination_stride, last->extent, next->destination_stride) &&
        others_continue(graph, maker, leaves[last->first_leaf], last->extent, maker->leaf[next->first_leaf]);
    leaves[used] = maker->leaf[next->first_leaf];
    if (merges) {
      last->extent = tj_simplified(graph, tj_mul(graph, last->extent, next->extent));
      last->leaf_count++;
    } else {
      maker->mode[count] = *next;
      maker->mode[count++].first_leaf = used;
    }
    used++;
  }
  maker->leaf = leaves;
  maker->domain.count = count;
}

/* --- domains as layouts --- */

/* The leaves of the profile as basis elements, by place. */
static const tj_tuple *const *leaf_paths(tj_graph *graph, const tj_tuple *profile) {
  uint32_t count;
  const tj_tuple *list = tj_tuple_is_list(profile) ? profile : tj_tuple_list(graph, &profile, 1);
  return tj_tuple_leaves(graph, tj_layout_identity(graph, list).stride, &count);
}

static bool is_within(const tj_tuple *leaf, const tj_tuple *mode) {
  return leaf->count >= mode->count && memcmp(leaf->path, mode->path, mode->count * sizeof *mode->path) == 0;
}

/* The leaves from `first` on that a layout's leaf steps through, fastest first. */
typedef struct {
  uint32_t first, count;
} leaf_run;

static leaf_run find_leaves(tj_graph *graph, const domain_maker *maker, const tj_tuple *const paths[],
                            const tj_tuple *extent, const tj_tuple *stride) {
  leaf_run run = {0, 0};
  const tj_node *all = tj_int(graph, 1);
  while (run.first < maker->domain.leaf_total && !is_within(paths[run.first], stride))
    run.first++;
  for (uint32_t i = run.first; i < maker->domain.leaf_total && is_within(paths[i], stride); i++, run.count++)
    all = tj_terse_mul(graph, all, maker->leaf_extent[i]);
  if (run.count == 0)
    tj_fail(graph->job, TJ_MAPPING_DOMAIN, "domain: source and destination have no mode %s in common; they have %s",
            tj_tuple_text(graph->job, stride), tj_tuple_text(graph->job, maker->domain.profile));
  if (!tj_surely_equal(graph, extent->value, all))
    tj_fail(graph->job, TJ_MAPPING_DOMAIN, "domain: mode %s has %s coordinates, not %s",
            tj_tuple_text(graph->job, stride), tj_describe(graph, all), tj_describe(graph, extent->value));
  return run;
}

/* Which leaves a layout names, in its order, and how many of them each of its modes has; leaves of one coordinate are
 * left out. */
typedef struct {
  uint32_t *place, *of_mode;
  uint32_t count;
} leaf_order;

static void check_all_named(tj_graph *graph, const domain_maker *maker, const bool taken[]) {
  const tj_tuple *const *paths = leaf_paths(graph, maker->domain.profile);
  for (uint32_t i = 0; i < maker->domain.leaf_total; i++) {
    if (!taken[i] && !tj_is_int(maker->leaf_extent[i], 1))
      tj_fail(graph->job, TJ_MAPPING_DOMAIN, "domain leaves mode %s out", tj_tuple_text(graph->job, paths[i]));
  }
}

static leaf_order read_order(tj_graph *graph, const domain_maker *maker, const tj_layout *layout) {
  uint32_t modes = tj_tuple_rank(layout->shape), most = maker->domain.leaf_total;
  leaf_order order = {TJ_NEW_ARRAY(graph->job, uint32_t, most + 1), TJ_NEW_ARRAY(graph->job, uint32_t, modes + 1), 0};
  bool *taken = TJ_NEW_ARRAY(graph->job, bool, maker->domain.leaf_total + 1);
  const tj_tuple *const *paths = leaf_paths(graph, maker->domain.profile);
  for (uint32_t m = 0; m < modes; m++) {
    uint32_t count;
    const tj_tuple *const *extent = tj_tuple_leaves(graph, tj_tuple_mode(layout->shape, m), &count);
    const tj_tuple *const *stride = tj_tuple_leaves(graph, tj_tuple_mode(layout->stride, m), &count);
    for (uint32_t i = 0; i < count; i++) {
      if (tj_is_int(extent[i]->value, 1))
        continue;
      leaf_run run = find_leaves(graph, maker, paths, extent[i], stride[i]);
      for (uint32_t place = run.first; place < run.first + run.count; place++) {
        if (taken[place])
          tj_fail(graph->job, TJ_MAPPING_DOMAIN, "domain has mode %s twice", tj_tuple_text(graph->job, stride[i]));
        taken[place] = true;
        order.place[order.count++] = place;
        order.of_mode[m]++;
      }
    }
  }
  check_all_named(graph, maker, taken);
  return order;
}

/* One mode for each leaf that is named. */
static void put_in_order(tj_graph *graph, domain_maker *maker, const leaf_order *order) {
  const tj_mode *mode = maker->mode;
  maker->mode = TJ_NEW_ARRAY(graph->job, tj_mode, order->count + 1);
  for (uint32_t i = 0; i < order->count; i++)
    maker->mode[i] = mode[order->place[i]];
  maker->domain.count = order->count;
}

static tj_mode single_mode(tj_graph *graph) {
  return (tj_mode){.extent = tj_int(graph, 1)};
}

/* Takes leaves that are in order together, as the layout's modes say. Strides are those of the first. */
static void group_leaves(tj_graph *graph, domain_maker *maker, const leaf_order *order, uint32_t modes) {
  const tj_mode *leaf = maker->mode;
  uint32_t used = 0;
  maker->mode = TJ_NEW_ARRAY(graph->job, tj_mode, modes + 1);
  maker->leaf = TJ_NEW_ARRAY(graph->job, uint32_t, order->count + 1);
  memcpy(maker->leaf, order->place, order->count * sizeof *maker->leaf);
  for (uint32_t m = 0; m < modes; m++) {
    tj_mode *mode = &maker->mode[m];
    *mode = order->of_mode[m] > 0 ? leaf[used] : single_mode(graph);
    for (uint32_t i = 1; i < order->of_mode[m]; i++)
      mode->extent = tj_simplified(graph, tj_mul(graph, mode->extent, leaf[used + i].extent));
    mode->first_leaf = used;
    mode->leaf_count = order->of_mode[m];
    used += order->of_mode[m];
  }
  maker->domain.count = modes;
}

static tj_layout layout_of_leaves(tj_graph *graph, const tj_domain *domain, const tj_mode *mode) {
  const tj_tuple *const *paths = leaf_paths(graph, domain->profile);
  const tj_tuple **extent = TJ_NEW_ARRAY(graph->job, const tj_tuple *, mode->leaf_count + 1),
                 **stride = TJ_NEW_ARRAY(graph->job, const tj_tuple *, mode->leaf_count + 1);
  for (uint32_t i = 0; i < mode->leaf_count; i++) {
    uint32_t place = domain->leaf[mode->first_leaf + i];
    extent[i] = tj_tuple_integer(graph, domain->leaf_extent[place]);
    stride[i] = paths[place];
  }
  return tj_layout_of_leaves(graph, extent, stride, mode->leaf_count);
}

/* Whether the modes are the operands' own, each by itself. */
static bool is_as_written(const tj_domain *domain) {
  bool is_plain = domain->count == domain->leaf_total && domain->leaf_total == tj_tuple_rank(domain->profile);
  for (uint32_t m = 0; m < domain->count && is_plain; m++)
    is_plain = domain->mode[m].leaf_count == 1 && domain->leaf[domain->mode[m].first_leaf] == m &&
               !tj_tuple_is_list(tj_tuple_mode(domain->profile, m));
  return is_plain;
}

static const tj_layout *layout_of_modes(tj_graph *graph, const tj_domain *domain, const tj_mode mode[],
                                        uint32_t count) {
  tj_layout *of_mode = TJ_NEW_ARRAY(graph->job, tj_layout, count + 1), *layout = TJ_NEW(graph->job, tj_layout);
  for (uint32_t m = 0; m < count; m++)
    of_mode[m] = layout_of_leaves(graph, domain, &mode[m]);
  *layout = tj_layout_concat(graph, of_mode, count);
  return layout;
}

const tj_layout *tj_domain_layout(tj_graph *graph, const tj_domain *domain) {
  if (domain->linear_of != NULL)
    return tj_domain_linear_layout(graph, domain->linear_of);
  return is_as_written(domain) ? NULL : layout_of_modes(graph, domain, domain->mode, domain->count);
}

const tj_layout *tj_domain_linear_layout(tj_graph *graph, const tj_domain *domain) {
  tj_mode all = {.leaf_count = 0};
  for (uint32_t m = 0; m < domain->count; m++)
    all.leaf_count += domain->mode[m].leaf_count;
  return is_as_written(domain) && domain->count == 1 ? NULL : layout_of_modes(graph, domain, &all, 1);
}

/* --- domains --- */

/* A mode for each leaf that source and destination have in common. */
static domain_maker make_of_leaves(tj_graph *graph, const tj_sides *sides, bool in_parts) {
  const tj_operand *finer = finer_layout(graph, sides->source, sides->destination);
  return finer != NULL ? make_of_layouts(graph, sides, finer) : make_of_dimensions(graph, sides, in_parts);
}

tj_domain tj_domain_as_written(tj_graph *graph, const tj_operand *source, const tj_operand *destination) {
  domain_maker maker = make_of_leaves(graph, &(tj_sides){source, destination, NULL, 0}, false);
  return finished(&maker);
}

tj_domain tj_domain_as_given(tj_graph *graph, const tj_sides *sides, const tj_layout *layout) {
  domain_maker maker = make_of_leaves(graph, sides, true);
  leaf_order order = read_order(graph, &maker, layout);
  put_in_order(graph, &maker, &order);
  group_leaves(graph, &maker, &order, tj_tuple_rank(layout->shape));
  return finished(&maker);
}

tj_domain tj_domain_unmerged(tj_graph *graph, const tj_domain *domain) {
  tj_mode *leaf = TJ_NEW_ARRAY(graph->job, tj_mode, domain->leaf_total + 1);
  uint32_t count = 0;
  for (uint32_t m = 0; m < domain->count; m++) {
    for (uint32_t i = 0; i < domain->mode[m].leaf_count; i++)
      leaf[count++] = (tj_mode){.first_leaf = domain->mode[m].first_leaf + i, .leaf_count = 1};
  }
  tj_sides sides = {domain->source, domain->destination, domain->other, domain->other_count};
  return tj_domain_as_given(graph, &sides, layout_of_modes(graph, domain, leaf, count));
}

tj_domain tj_domain_in_order(tj_graph *graph, const tj_sides *sides, const tj_layout *layout) {
  domain_maker maker = make_of_leaves(graph, sides, true);
  leaf_order order = read_order(graph, &maker, layout);
  put_in_order(graph, &maker, &order);
  merge_modes(graph, &maker);
  return finished(&maker);
}

tj_domain tj_domain_of_modes(tj_graph *graph, const tj_sides *sides) {
  domain_maker maker = make_of_leaves(graph, sides, true);
  if (sides->destination->view != NULL)
    reverse_modes(graph, &maker);
  drop_single_modes(&maker);
  sort_by_stride(graph, &maker);
  merge_modes(graph, &maker);
  return finished(&maker);
}

/* Whether a step of one stride is less far than one of another, or, where that is not known, may be. */
static bool is_closer(tj_graph *graph, const tj_node *stride, const tj_node *other) {
  if (stride == NULL || tj_is_int(stride, 0))
    return false;
  if (other == NULL || tj_is_int(other, 0))
    return true;
  if (tj_is_int(stride, 1) || tj_is_int(other, 1))
    return !tj_is_int(other, 1);
  bool is_less = tj_prove_less_equal(graph, stride, other), is_more = tj_prove_less_equal(graph, other, stride);
  if (is_less != is_more)
    return is_less;
  int64_t most = stride->facts.high, other_most = other->facts.high;
  return most != other_most ? most < other_most : stride->weight < other->weight;
}

void tj_domain_sort(tj_graph *graph, const tj_domain *domain, bool of_source, uint32_t order[]) {
  for (uint32_t i = 0; i < domain->count; i++) {
    const tj_node *stride = tj_mode_stride(&domain->mode[i], of_source);
    uint32_t at = i;
    for (; at > 0 && is_closer(graph, stride, tj_mode_stride(&domain->mode[order[at - 1]], of_source)); at--)
      order[at] = order[at - 1];
    order[at] = i;
  }
}

bool tj_domain_has_neighbours(const tj_domain *domain, uint32_t mode, bool of_source) {
  const tj_node *stride = tj_mode_stride(&domain->mode[mode], of_source);
  return stride != NULL && tj_is_int(stride, 1);
}

/* Whether no element of a view of a buffer's dimensions is outside of the buffer, whose size its strides say: none
 * goes backwards, or it is proved. */
static bool is_inside(tj_graph *graph, const tj_view *view) {
  const tj_transform *strides = view->stage[0].transform;
  bool is_forward = strides->kind == TJ_TRANSFORM_EMBED;
  for (uint32_t i = 0; i < strides->upper_count && is_forward; i++)
    is_forward = strides->amount[i]->facts.low >= 0;
  return is_forward || tj_view_stays_inside(graph, view);
}

bool tj_domain_has_own_strides(tj_graph *graph, const tj_domain *domain, bool of_source) {
  const tj_operand *operand = of_source ? domain->source : domain->destination;
  const tj_domain_side *side = domain->side != NULL ? &domain->side[of_source ? 0 : 1] : NULL;
  if (side == NULL)
    return operand->value->kind == TJ_VALUE_LAYOUT;
  return side->view != NULL && side->view->stage_count == 1 && is_inside(graph, side->view);
}

const tj_domain *tj_domain_of_equals(tj_graph *graph, const tj_domain *of, const tj_node *size) {
  tj_domain *domain = TJ_NEW(graph->job, tj_domain);
  tj_operand *operand = TJ_NEW(graph->job, tj_operand);
  const tj_tuple *shape = tj_tuple_integer(graph, size), *stride = tj_tuple_constant(graph, 1);
  *operand = tj_operand_make(graph, tj_value_of_layout(graph, tj_layout_make(graph, shape, stride)));
  *domain = tj_domain_of_modes(graph, &(tj_sides){operand, operand, NULL, 0});
  domain->linear_of = of;
  return domain;
}

/* Whether an operand's modes are its leaves. */
static bool is_flat(const tj_operand *operand) {
  return tj_tuple_rank(operand->shape) == tj_tuple_leaf_count(operand->shape);
}

tj_domain tj_domain_of_dimensions(tj_graph *graph, const tj_sides *sides) {
  const tj_operand *source = sides->source, *destination = sides->destination;
  const tj_operand *finer = is_flat(source) && is_flat(destination) ? finer_layout(graph, source, destination) : NULL;
  bool is_finer = finer != NULL && tj_tuple_rank(source->shape) == tj_tuple_rank(destination->shape);
  domain_maker maker = is_finer ? make_of_layouts(graph, sides, finer) : make_of_dimensions(graph, sides, false);
  return finished(&maker);
}

/* --- coordinates --- */

/* The coordinates of all leaves, by place in the profile. */
static const tj_node **leaf_digits(tj_graph *graph, const tj_domain *domain, const tj_node *const digit[]) {
  const tj_node **leaf = TJ_NEW_ARRAY(graph->job, const tj_node *, domain->leaf_total + 1);
  for (uint32_t i = 0; i < domain->leaf_total; i++)
    leaf[i] = tj_int(graph, 0);
  for (uint32_t i = 0; i < domain->count; i++) {
    const tj_mode *mode = &domain->mode[i];
    const tj_node *rest = digit[i];
    for (uint32_t k = 0; k < mode->leaf_count; k++) {
      uint32_t place = domain->leaf[mode->first_leaf + k];
      bool is_last = k + 1 == mode->leaf_count;
      leaf[place] = is_last ? rest : tj_mod(graph, rest, domain->leaf_extent[place]);
      if (!is_last)
        rest = tj_div(graph, rest, domain->leaf_extent[place]);
    }
  }
  return leaf;
}

/* The simple form has to know before anything is made of it. */
void tj_bound_digit(tj_graph *graph, const tj_node *digit, const tj_node *extent) {
  int64_t high = extent->facts.high;
  tj_facts known = {.low = 0, .high = high == INT64_MAX ? high : high - 1, .modulus = 1};
  if (digit->facts.high > known.high)
    tj_sharpen_facts(tj_simplified(graph, digit), &known);
  tj_sharpen_facts(digit, &known);
}

void tj_domain_bound_digits(tj_graph *graph, const tj_domain *domain, const tj_node *const digit[]) {
  const tj_node *const *leaf = leaf_digits(graph, domain, digit);
  for (uint32_t i = 0; i < domain->count; i++) {
    const tj_mode *mode = &domain->mode[i];
    uint32_t place = domain->leaf[mode->first_leaf + mode->leaf_count - 1];
    const tj_node *last[] = {leaf[place], domain->leaf_extent[place]};
    tj_substitute(graph, domain->assumed, last, 2);
    tj_bound_digit(graph, last[0], last[1]);
  }
}

const tj_node *const *tj_domain_digits(tj_graph *graph, const tj_domain *domain, const tj_node *index) {
  const tj_node **digits = TJ_NEW_ARRAY(graph->job, const tj_node *, domain->count + 1);
  for (uint32_t i = 0; i < domain->count; i++) {
    bool is_last = i + 1 == domain->count;
    digits[i] = is_last ? index : tj_mod(graph, index, domain->mode[i].extent);
    if (is_last)
      tj_bound_digit(graph, index, domain->mode[i].extent);
    else
      index = tj_div(graph, index, domain->mode[i].extent);
  }
  tj_domain_bound_digits(graph, domain, digits);
  return digits;
}

/* The linear coordinate of leaves that are one integer mode of an operand; advances *next over them. */
static const tj_node *collapsed(tj_graph *graph, const tj_domain *domain, const tj_tuple *fine,
                                const tj_node *const leaf[], uint32_t *next) {
  uint32_t end = *next + tj_tuple_leaf_count(fine);
  const tj_node *sum = leaf[*next], *scale = domain->leaf_extent[*next];
  for (uint32_t i = *next + 1; i < end; i++) {
    sum = tj_add(graph, sum, tj_mul(graph, leaf[i], scale));
    scale = tj_mul(graph, scale, domain->leaf_extent[i]);
  }
  *next = end;
  return sum;
}

/* The coordinate, in the structure of an operand's shape, of leaves in the structure of the profile. */
static const tj_tuple *coordinate_in(tj_graph *graph, const tj_domain *domain, const tj_tuple *shape,
                                     const tj_tuple *fine, const tj_node *const leaf[], uint32_t *next) {
  if (!tj_tuple_is_list(shape))
    return tj_tuple_integer(graph, collapsed(graph, domain, fine, leaf, next));
  const tj_tuple **items = TJ_NEW_ARRAY(graph->job, const tj_tuple *, shape->count + 1);
  for (uint32_t i = 0; i < shape->count; i++)
    items[i] = coordinate_in(graph, domain, shape->item[i], fine->item[i], leaf, next);
  return tj_tuple_list(graph, items, shape->count);
}

tj_access tj_domain_at_leaves(tj_graph *graph, const tj_domain *domain, const tj_operand *operand, bool is_source,
                              uint32_t buffer, const tj_node *const leaf[]) {
  if (domain->side == NULL) {
    uint32_t next = 0;
    return tj_operand_access(graph, operand, buffer,
                             coordinate_in(graph, domain, operand->shape, domain->profile, leaf, &next));
  }
  const tj_domain_side *side = &domain->side[is_source ? 0 : 1];
  tj_operand in_parts = *operand;
  in_parts.view = side->view;
  return tj_operand_access(graph, &in_parts, buffer,
                           tj_domain_side_coordinate(graph, side, operand, domain->leaf_extent, leaf));
}

tj_access tj_domain_at(tj_graph *graph, const tj_domain *domain, uint32_t operand, uint32_t buffer,
                       const tj_node *const digit[]) {
  const tj_operand *of = operand == TJ_OPERAND_SOURCE        ? domain->source
                         : operand == TJ_OPERAND_DESTINATION ? domain->destination
                                                             : &domain->other[operand - TJ_OPERAND_OTHERS];
  tj_access access = tj_domain_at_leaves(graph, domain, of, operand != TJ_OPERAND_DESTINATION, buffer,
                                         leaf_digits(graph, domain, digit));
  const tj_node *part[] = {access.offset, access.valid};
  tj_substitute(graph, domain->assumed, part, 2);
  return (tj_access){.buffer = buffer, .offset = part[0], .valid = part[1]};
}

const tj_node *tj_domain_stride(const tj_domain *domain, uint32_t operand, uint32_t mode) {
  if (operand < TJ_OPERAND_OTHERS)
    return tj_mode_stride(&domain->mode[mode], operand == TJ_OPERAND_SOURCE);
  return other_stride(&domain->other[operand - TJ_OPERAND_OTHERS], domain->leaf[domain->mode[mode].first_leaf]);
}

bool tj_domain_is_known(const tj_domain *domain) {
  bool is_known = true;
  for (uint32_t m = 0; m < domain->count; m++)
    is_known = is_known && tj_is_constant(domain->mode[m].extent);
  return is_known;
}

bool tj_domain_other_is_straight(const tj_domain *domain, uint32_t number) {
  for (uint32_t m = 0; m < domain->count; m++) {
    const tj_node *loaded = domain->mode[m].source_stride,
                  *stored = tj_domain_stride(domain, TJ_OPERAND_OTHERS + number, m);
    if (loaded != NULL && tj_is_int(loaded, 1))
      return stored != NULL && tj_is_int(stored, 1);
  }
  return false;
}

const tj_node *tj_domain_origin(tj_graph *graph, const tj_domain *domain, uint32_t operand, uint64_t modes,
                                const tj_node *const coordinate[], const tj_node *any) {
  const tj_node **from = TJ_NEW_ARRAY(graph->job, const tj_node *, 2 * (size_t)domain->count + 1);
  const tj_node **to = from + domain->count, *origin = any, *sum = tj_int(graph, 0);
  uint32_t count = 0;
  for (uint32_t m = 0; m < domain->count; m++) {
    const tj_node *stride = tj_domain_stride(domain, operand, m);
    if ((modes >> m & 1) == 0)
      continue;
    if (stride == NULL)
      return NULL;
    from[count] = coordinate[m];
    to[count++] = tj_int(graph, 0);
    sum = tj_add(graph, sum, tj_mul(graph, coordinate[m], stride));
  }
  tj_substitute(graph, &(tj_substitution){from, to, count}, &origin, 1);
  origin = tj_simplified(graph, origin);
  return tj_prove_equal(graph, any, tj_simplified(graph, tj_add(graph, origin, sum))) ? origin : NULL;
}

bool tj_domain_is_even(tj_graph *graph, const tj_domain *domain, uint32_t operand, uint64_t modes) {
  if (operand >= TJ_OPERAND_OTHERS || tj_domain_has_own_strides(graph, domain, operand == TJ_OPERAND_SOURCE))
    return true;
  const tj_node **digit = TJ_NEW_ARRAY(graph->job, const tj_node *, domain->count + 1);
  for (uint32_t m = 0; m < domain->count; m++)
    digit[m] = tj_coordinate(graph, "i", domain->mode[m].extent);
  tj_access any = tj_domain_at(graph, domain, operand, 0, digit);
  const tj_node *part[] = {any.offset, any.valid};
  tj_simplify(graph, part, 2, NULL);
  return tj_is_int(part[1], 1) && tj_domain_origin(graph, domain, operand, modes, digit, part[0]) != NULL;
}

uint32_t tj_domain_least_bytes(const tj_domain *domain, const tj_kernel *kernel, uint32_t buffer, bool of_source) {
  uint32_t least = tj_element_bytes(kernel, buffer);
  for (uint32_t i = 0; i < domain->other_count; i++) {
    bool goes_with = !tj_is_other_source(kernel, i) && tj_domain_other_is_straight(domain, i) == of_source;
    uint32_t bytes = tj_element_bytes(kernel, kernel->arithmetic.buffer[1 + i]);
    least = goes_with && bytes < least ? bytes : least;
  }
  return least;
}
