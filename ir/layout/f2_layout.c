/* SPDX-License-Identifier: MIT */
/* Linear maps over F2 and layouts: what is linear in layouts, swizzles and composed layouts, and the way back. */
#include "base/number/power.h"
#include "ir/layout/algebra.h"
#include "ir/layout/arith.h"
#include "ir/layout/f2.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_VALUE_BITS = 63 };

/* --- swizzles --- */

static uint64_t apply_swizzle(tj_swizzle swizzle, uint64_t value) {
  int32_t from = swizzle.base + (swizzle.shift > 0 ? swizzle.shift : 0);
  uint64_t field = value & ((UINT64_C(1) << swizzle.bits) - 1) << from;
  return value ^ (swizzle.shift >= 0 ? field >> swizzle.shift : field << -swizzle.shift);
}

const tj_f2 *tj_f2_of_swizzle(tj_graph *graph, tj_swizzle swizzle) {
  uint32_t bits = swizzle.bits == 0 ? 0 : (uint32_t)(swizzle.bits + swizzle.base + abs(swizzle.shift));
  uint64_t basis[64];
  if (bits > TJ_MAX_F2_BITS)
    tj_fail(graph->job, TJ_NOT_LINEAR, "a swizzle of %u bits, more than %d", bits, TJ_MAX_F2_BITS);
  for (uint32_t bit = 0; bit < bits; bit++)
    basis[bit] = apply_swizzle(swizzle, UINT64_C(1) << bit);
  const tj_tuple *domain = tj_tuple_constant(graph, INT64_C(1) << bits);
  return tj_f2_make(graph, domain, tj_tuple_constant(graph, 0), basis, true);
}

/* --- layouts --- */

/* The bases of a layout, mode by mode. */
typedef struct {
  tj_graph *graph;
  const tj_tuple *codomain;
  uint64_t *basis; /* TJ_MAX_F2_BITS values */
  uint64_t *taken; /* by component: the bits of all bases so far */
  uint32_t bit_count;
  const char *obstacle;
} reading;

static uint32_t component_of(const tj_tuple *codomain, const tj_tuple *stride) {
  uint32_t component = 0, levels = stride->kind == TJ_TUPLE_BASIS ? stride->count : 0;
  for (uint32_t level = 0; level < levels; level++) {
    for (uint32_t i = 0; i < stride->path[level]; i++)
      component += codomain->item[i]->leaf_count;
    codomain = codomain->item[stride->path[level]];
  }
  return component;
}

/* Whether a mode's extent and stride can be linear at all. */
static bool check_mode(reading *self, const tj_tuple *extent, const tj_tuple *stride) {
  tj_job *job = self->graph->job;
  if (!tj_is_constant(extent->value) || !tj_is_constant(stride->value))
    self->obstacle = tj_string_format(job, "the mode %s:%s depends on parameters", tj_tuple_text(job, extent),
                                      tj_tuple_text(job, stride));
  else if (!tj_is_power_of_two(extent->value->value))
    self->obstacle = tj_string_format(job, "extent %s is no power of two", tj_tuple_text(job, extent));
  else if (stride->value->value < 0 && extent->value->value > 1)
    self->obstacle = tj_string_format(job, "stride %s is negative", tj_tuple_text(job, stride));
  return self->obstacle == NULL;
}

static void read_mode(reading *self, const tj_tuple *extent, const tj_tuple *stride) {
  tj_job *job = self->graph->job;
  if (self->obstacle != NULL || !check_mode(self, extent, stride))
    return;
  uint32_t bits = (uint32_t)__builtin_ctzll((uint64_t)extent->value->value);
  uint32_t component = tj_is_int(stride->value, 0) ? 0 : component_of(self->codomain, stride);
  uint64_t image = (uint64_t)stride->value->value, *taken = &self->taken[component];
  for (uint32_t i = 0; i < bits && self->obstacle == NULL; i++, image <<= 1) {
    if (self->bit_count >= TJ_MAX_F2_BITS)
      self->obstacle = "it has more than 2^62 coordinates";
    else if ((image >> 63) != 0)
      self->obstacle = tj_string_format(job, "values of stride %s exceed 63 bits", tj_tuple_text(job, stride));
    else if ((*taken & image) != 0)
      self->obstacle = tj_string_format(job, "bits of the mode %s:%s carry into each other, or into those of others",
                                        tj_tuple_text(job, extent), tj_tuple_text(job, stride));
    if (self->obstacle != NULL)
      return;
    *taken |= image;
    self->basis[self->bit_count++ * self->codomain->leaf_count + component] = image;
  }
}

const tj_f2 *tj_f2_of_layout(tj_graph *graph, tj_layout layout, const char **obstacle) {
  uint32_t count;
  const tj_tuple *const *extents = tj_tuple_leaves(graph, layout.shape, &count);
  const tj_tuple *const *strides = tj_tuple_leaves(graph, layout.stride, NULL);
  reading self = {.graph = graph, .codomain = tj_layout_coprofile(graph, layout)};
  uint32_t components = self.codomain->leaf_count;
  self.basis = TJ_NEW_ARRAY(graph->job, uint64_t, (size_t)TJ_MAX_F2_BITS * components + 1);
  self.taken = TJ_NEW_ARRAY(graph->job, uint64_t, components + 1);
  for (uint32_t i = 0; i < count; i++)
    read_mode(&self, extents[i], strides[i]);
  *obstacle = self.obstacle;
  if (self.obstacle != NULL)
    return NULL;
  return tj_f2_make(graph, layout.shape, self.codomain, self.basis, false);
}

static bool is_zero(tj_graph *graph, const tj_tuple *tuple) {
  uint32_t count;
  const tj_tuple *const *leaves = tj_tuple_leaves(graph, tuple, &count);
  for (uint32_t i = 0; i < count; i++)
    if (!tj_is_int(leaves[i]->value, 0))
      return false;
  return true;
}

/* The same values in a codomain that has all components of the map's, and more. */
static const tj_f2 *widen(tj_graph *graph, const tj_f2 *map, const tj_tuple *offset) {
  const tj_tuple *zeros = tj_tuple_repeat_like(graph, offset, tj_tuple_constant(graph, 0));
  if (tj_tuple_congruent(zeros, map->codomain))
    return map;
  uint64_t *basis = TJ_NEW_ARRAY(graph->job, uint64_t, (size_t)map->bit_count * zeros->leaf_count + 1);
  const tj_tuple **leaves = TJ_NEW_ARRAY(graph->job, const tj_tuple *, map->component_count + 1);
  for (uint32_t bit = 0; bit < map->bit_count; bit++) {
    for (uint32_t i = 0; i < map->component_count; i++)
      leaves[i] = tj_tuple_constant(graph, (int64_t)map->basis[(size_t)bit * map->component_count + i]);
    const tj_tuple *value = tj_tuple_add(graph, zeros, tj_tuple_from_leaves(graph, map->codomain, leaves));
    const tj_tuple *const *parts = tj_tuple_leaves(graph, value, NULL);
    for (uint32_t i = 0; i < zeros->leaf_count; i++)
      basis[(size_t)bit * zeros->leaf_count + i] = (uint64_t)parts[i]->value->value;
  }
  return tj_f2_make(graph, map->domain, zeros, basis, false);
}

const tj_f2 *tj_f2_of_composed(tj_graph *graph, const tj_composed *composed, const char **obstacle) {
  *obstacle = NULL;
  if (!is_zero(graph, composed->offset))
    *obstacle = tj_string_format(graph->job, "its offset is %s, and a linear map takes 0 to 0",
                                 tj_tuple_text(graph->job, composed->offset));
  const tj_f2 *inner = *obstacle == NULL ? tj_f2_of_layout(graph, composed->layout, obstacle) : NULL;
  if (inner == NULL)
    return NULL;
  if (composed->swizzle.bits == 0)
    return widen(graph, inner, composed->offset);
  return tj_f2_compose(graph, tj_f2_of_swizzle(graph, composed->swizzle), inner, obstacle);
}

/* --- the way back --- */

/* The basis elements that make values of each component. */
static void write_paths(tj_graph *graph, const tj_tuple *codomain, uint32_t path[], uint32_t level,
                        const tj_tuple ***next) {
  if (!tj_tuple_is_list(codomain)) {
    *(*next)++ = tj_tuple_basis(graph, tj_int(graph, 1), path, level);
    return;
  }
  for (uint32_t i = 0; i < codomain->count; i++) {
    path[level] = i;
    write_paths(graph, codomain->item[i], path, level + 1, next);
  }
}

/* A layout under construction: the next input bit, and a unit of each component of the codomain. */
typedef struct {
  tj_graph *graph;
  const tj_f2 *map;
  const uint64_t *basis; /* the map's, perhaps with a swizzle undone */
  const tj_tuple **unit;
  uint32_t bit;
} writing;

/* The only component of a basis that is not 0; 0 where there is none. */
static uint32_t component_of_basis(const writing *self, uint32_t bit) {
  uint32_t count = self->map->component_count;
  for (uint32_t i = 0; i < count; i++)
    if (self->basis[(size_t)bit * count + i] != 0)
      return i;
  return 0;
}

static bool continues(const writing *self, uint32_t bit) {
  uint32_t component = component_of_basis(self, bit), count = self->map->component_count;
  return component == component_of_basis(self, bit - 1) &&
         self->basis[(size_t)bit * count + component] == 2 * self->basis[(size_t)(bit - 1) * count + component];
}

/* A leaf of the domain: one mode, or several where the strides of its bits do not double. */
static tj_layout write_leaf(writing *self, uint32_t bits) {
  tj_graph *graph = self->graph;
  tj_layout modes[TJ_MAX_F2_BITS];
  uint32_t count = 0, end = self->bit + bits;
  while (self->bit < end) {
    uint32_t first = self->bit++, component = component_of_basis(self, first);
    while (self->bit < end && continues(self, self->bit))
      self->bit++;
    uint64_t stride = self->basis[(size_t)first * self->map->component_count + component];
    modes[count].shape = tj_tuple_constant(graph, INT64_C(1) << (self->bit - first));
    modes[count++].stride = stride == 0
                                ? tj_tuple_constant(graph, 0)
                                : tj_tuple_scale(graph, tj_int(graph, (int64_t)stride), self->unit[component]);
  }
  if (count == 0)
    return (tj_layout){tj_tuple_constant(graph, 1), tj_tuple_constant(graph, 0)};
  return count == 1 ? modes[0] : tj_layout_concat(graph, modes, count);
}

static tj_layout write_modes(writing *self, const tj_tuple *domain) {
  if (!tj_tuple_is_list(domain))
    return write_leaf(self, (uint32_t)__builtin_ctzll((uint64_t)domain->value->value));
  tj_layout *modes = TJ_NEW_ARRAY(self->graph->job, tj_layout, domain->count);
  for (uint32_t i = 0; i < domain->count; i++)
    modes[i] = write_modes(self, domain->item[i]);
  return tj_layout_concat(self->graph, modes, domain->count);
}

/* Why the sum of bases is not their XOR, or NULL where it is. */
static const char *sum_obstacle(tj_graph *graph, const tj_f2 *map, const uint64_t basis[]) {
  uint32_t count = map->component_count;
  uint64_t *taken = TJ_NEW_ARRAY(graph->job, uint64_t, count + 1);
  for (uint32_t bit = 0; bit < map->bit_count; bit++) {
    uint32_t components = 0;
    for (uint32_t i = 0; i < count; i++) {
      uint64_t value = basis[(size_t)bit * count + i];
      components += value != 0;
      if ((taken[i] & value) != 0)
        return tj_string_format(graph->job, "the basis %llu of input bit %u shares bits with others",
                                (unsigned long long)value, bit);
      taken[i] |= value;
    }
    if (components > 1)
      return tj_string_format(graph->job, "input bit %u moves the value in %u components", bit, components);
  }
  return NULL;
}

/* Whether the bases with a swizzle undone, which go to `plain`, have no bits in common. */
static bool is_plain_without(const tj_f2 *map, tj_swizzle swizzle, uint64_t plain[]) {
  uint64_t taken = 0;
  for (uint32_t bit = 0; bit < map->bit_count; taken |= plain[bit++]) {
    plain[bit] = apply_swizzle(swizzle, map->basis[bit]);
    if ((plain[bit] & taken) != 0)
      return false;
  }
  return true;
}

/* The swizzle of fewest bits that, undone, leaves a sum of bases in `plain`. */
static bool find_swizzle(tj_graph *graph, const tj_f2 *map, tj_swizzle *swizzle, uint64_t plain[]) {
  int32_t bits = (int32_t)tj_f2_value_bits(map, 0);
  tj_spend(graph->job, (uint64_t)(bits * bits) * (uint64_t)bits * 64);
  for (int32_t width = 1; width <= bits / 2; width++)
    for (int32_t base = 0; base + 2 * width <= bits; base++)
      for (int32_t shift = width; base + width + shift <= bits; shift++)
        for (int32_t sign = 1; sign >= -1; sign -= 2) {
          *swizzle = (tj_swizzle){width, base, sign * shift};
          if (is_plain_without(map, *swizzle, plain))
            return true;
        }
  return false;
}

const tj_composed *tj_layout_of_f2(tj_graph *graph, const tj_f2 *map, const char **obstacle) {
  tj_composed *composed = TJ_NEW(graph->job, tj_composed);
  uint64_t plain[TJ_MAX_F2_BITS];
  writing self = {graph, map, map->basis, TJ_NEW_ARRAY(graph->job, const tj_tuple *, map->component_count + 1), 0};
  uint32_t path[TJ_MAX_TUPLE_DEPTH];
  const tj_tuple **next = self.unit;
  *obstacle = map->extends ? "its domain is all integers" : sum_obstacle(graph, map, map->basis);
  if (*obstacle != NULL && !map->extends && map->component_count == 1 && !tj_tuple_is_list(map->codomain) &&
      find_swizzle(graph, map, &composed->swizzle, plain)) {
    self.basis = plain;
    *obstacle = NULL;
  }
  if (*obstacle != NULL)
    return NULL;
  write_paths(graph, map->codomain, path, 0, &next);
  composed->offset = map->codomain;
  composed->layout = write_modes(&self, map->domain);
  return composed;
}
