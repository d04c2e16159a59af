/* SPDX-License-Identifier: MIT */
/* Linear maps over F2: making, composing, applying and printing them, and elimination for rank, kernel, inverses. */
#include "ir/layout/f2.h"

#include "ir/layout/arith.h"

#include <string.h>

/* --- making --- */

static uint32_t bits_of_extent(const tj_tuple *leaf) {
  return (uint32_t)__builtin_ctzll((uint64_t)leaf->value->value);
}

/* The bits of all leaves of a part of a domain. */
static uint32_t bits_of(tj_graph *graph, const tj_tuple *domain) {
  uint32_t count, bits = 0;
  const tj_tuple *const *leaves = tj_tuple_leaves(graph, domain, &count);
  for (uint32_t i = 0; i < count; i++)
    bits += bits_of_extent(leaves[i]);
  return bits;
}

static const uint64_t *basis_of(const tj_f2 *map, uint32_t bit) {
  return map->basis + (size_t)bit * map->component_count;
}

/* How many of the first `bits` bases are not those of the identity that goes on. */
static uint32_t bits_before_identity(const uint64_t basis[], uint32_t bits) {
  for (; bits > 0 && basis[bits - 1] == UINT64_C(1) << (bits - 1); bits--)
    for (uint32_t i = 0; i + 1 < bits; i++)
      if ((basis[i] >> (bits - 1) & 1) != 0)
        return bits;
  return bits;
}

static const tj_tuple *extent_of_bits(tj_graph *graph, uint32_t bits) {
  return tj_tuple_constant(graph, INT64_C(1) << bits);
}

const tj_f2 *tj_f2_make(tj_graph *graph, const tj_tuple *domain, const tj_tuple *codomain, const uint64_t basis[],
                        bool extends) {
  tj_f2 *map = TJ_NEW(graph->job, tj_f2);
  *map = (tj_f2){domain, codomain, bits_of(graph, domain), codomain->leaf_count, NULL, extends};
  if (extends) {
    map->bit_count = bits_before_identity(basis, map->bit_count);
    map->domain = extent_of_bits(graph, map->bit_count);
  }
  size_t words = (size_t)map->bit_count * map->component_count;
  map->basis = tj_arena_copy(&graph->job->arena, basis, words * sizeof *basis);
  tj_spend(graph->job, words);
  return map;
}

const tj_f2 *tj_f2_by_index(tj_graph *graph, const tj_f2 *map) {
  return tj_f2_make(graph, extent_of_bits(graph, map->bit_count), map->codomain, map->basis, map->extends);
}

bool tj_f2_equal(const tj_f2 *a, const tj_f2 *b) {
  size_t words = (size_t)a->bit_count * a->component_count;
  return a->extends == b->extends && tj_tuple_equal(a->domain, b->domain) &&
         tj_tuple_equal(a->codomain, b->codomain) && memcmp(a->basis, b->basis, words * sizeof *a->basis) == 0;
}

uint32_t tj_f2_value_bits(const tj_f2 *map, uint32_t component) {
  uint64_t all = 0;
  for (uint32_t bit = 0; bit < map->bit_count; bit++)
    all |= basis_of(map, bit)[component];
  if (map->extends)
    return map->bit_count;
  return all == 0 ? 0 : 64 - (uint32_t)__builtin_clzll(all);
}

/* --- composition --- */

const tj_f2 *tj_f2_restrict(tj_graph *graph, const tj_f2 *map, uint32_t bits) {
  uint64_t basis[64];
  if (!map->extends || bits < map->bit_count || bits > TJ_MAX_F2_BITS)
    return NULL;
  for (uint32_t bit = 0; bit < bits; bit++)
    basis[bit] = bit < map->bit_count ? map->basis[bit] : UINT64_C(1) << bit;
  return tj_f2_make(graph, extent_of_bits(graph, bits), map->codomain, basis, false);
}

/* The XOR of the bases of the bits of `input`, from input bit `first` on, into `values`. */
static void add_bases(const tj_f2 *map, uint32_t first, uint64_t input, uint64_t values[]) {
  for (; input != 0; input &= input - 1) {
    const uint64_t *basis = basis_of(map, first + (uint32_t)__builtin_ctzll(input));
    for (uint32_t i = 0; i < map->component_count; i++)
      values[i] ^= basis[i];
  }
}

/* Where the components of a codomain lie among the input bits of a domain that they are coordinates of. */
typedef struct {
  tj_graph *graph;
  const tj_f2 *inner;
  uint32_t component, bit;
  uint32_t *first_bit; /* by component */
  const char *obstacle;
} placement;

static void place_components(placement *self, const tj_tuple *codomain, const tj_tuple *domain) {
  if (tj_tuple_is_list(codomain)) {
    bool fits = tj_tuple_is_list(domain) && domain->count == codomain->count;
    if (!fits && self->obstacle == NULL)
      self->obstacle =
          tj_string_format(self->graph->job, "values of the structure %s are no coordinates of %s",
                           tj_tuple_text(self->graph->job, codomain), tj_tuple_text(self->graph->job, domain));
    for (uint32_t i = 0; fits && i < codomain->count; i++)
      place_components(self, codomain->item[i], domain->item[i]);
    return;
  }
  uint32_t bits = bits_of(self->graph, domain), values = tj_f2_value_bits(self->inner, self->component);
  if (values > bits && self->obstacle == NULL)
    self->obstacle = tj_string_format(self->graph->job, "values of %u bits are no coordinates of %s, which has %u",
                                      values, tj_tuple_text(self->graph->job, domain), bits);
  self->first_bit[self->component++] = self->bit;
  self->bit += bits;
}

static const tj_f2 *compose_all(tj_graph *graph, const tj_f2 *a, const tj_f2 *b, const uint32_t first_bit[]) {
  size_t words = (size_t)b->bit_count * a->component_count;
  uint64_t *basis = TJ_NEW_ARRAY(graph->job, uint64_t, words + 1);
  for (uint32_t bit = 0; bit < b->bit_count; bit++)
    for (uint32_t i = 0; i < b->component_count; i++)
      add_bases(a, first_bit[i], basis_of(b, bit)[i], basis + (size_t)bit * a->component_count);
  return tj_f2_make(graph, b->domain, a->codomain, basis, a->extends && b->extends);
}

/* Two maps that extend, of one number of bits. */
static const tj_f2 *compose_extending(tj_graph *graph, const tj_f2 *a, const tj_f2 *b) {
  uint32_t bits = a->bit_count > b->bit_count ? a->bit_count : b->bit_count, first_bit = 0;
  tj_f2 left = *tj_f2_restrict(graph, a, bits), right = *tj_f2_restrict(graph, b, bits);
  left.extends = right.extends = true;
  return compose_all(graph, &left, &right, &first_bit);
}

const tj_f2 *tj_f2_compose(tj_graph *graph, const tj_f2 *a, const tj_f2 *b, const char **obstacle) {
  if (a->extends && b->extends)
    return compose_extending(graph, a, b);
  if (b->extends) {
    const tj_f2 *restricted = tj_f2_restrict(graph, b, a->bit_count);
    if (restricted == NULL) {
      *obstacle = "the right-hand map has values beyond the left-hand domain";
      return NULL;
    }
    b = restricted;
  }
  if (a->extends && !tj_tuple_is_list(b->codomain)) {
    uint32_t bits = tj_f2_value_bits(b, 0);
    a = tj_f2_restrict(graph, a, bits > a->bit_count ? bits : a->bit_count);
  }
  if (a == NULL) {
    *obstacle = "its values have more than 62 bits";
    return NULL;
  }
  placement self = {.graph = graph, .inner = b};
  self.first_bit = TJ_NEW_ARRAY(graph->job, uint32_t, b->component_count + 1);
  place_components(&self, b->codomain, a->domain);
  *obstacle = self.obstacle;
  return self.obstacle != NULL ? NULL : compose_all(graph, a, b, self.first_bit);
}

/* --- elimination --- */

/* A reduced echelon form of the bases: rows of values, each with a bit that no other row has; which input bits make
 * up each row; and the inputs that have the value 0. */
typedef struct {
  const tj_f2 *map;
  uint64_t *row;       /* row_count of component_count words */
  uint64_t *inputs;    /* by row: a set of input bits */
  uint32_t *component; /* by row: where its own bit is */
  uint64_t *own_bit;
  uint32_t row_count;
  uint64_t kernel[64];
  uint32_t kernel_count;
} echelon;

static uint64_t *row_of(const echelon *form, uint32_t row) {
  return form->row + (size_t)row * form->map->component_count;
}

static void add_row(const echelon *form, const uint64_t from[], uint64_t to[]) {
  for (uint32_t i = 0; i < form->map->component_count; i++)
    to[i] ^= from[i];
}

/* Takes every row's own bit out of a value; returns the inputs of the rows that were added. */
static uint64_t reduce(const echelon *form, uint64_t value[]) {
  uint64_t inputs = 0;
  for (uint32_t k = 0; k < form->row_count; k++) {
    if ((value[form->component[k]] & form->own_bit[k]) == 0)
      continue;
    add_row(form, row_of(form, k), value);
    inputs ^= form->inputs[k];
  }
  return inputs;
}

static uint32_t first_nonzero(const tj_f2 *map, const uint64_t value[]) {
  uint32_t i = 0;
  while (i < map->component_count && value[i] == 0)
    i++;
  return i;
}

/* A new row, reduced, takes its own bit out of those before. */
static void push_row(echelon *form, uint64_t inputs, uint32_t component) {
  uint32_t last = form->row_count++;
  const uint64_t *value = row_of(form, last);
  form->inputs[last] = inputs;
  form->component[last] = component;
  form->own_bit[last] = UINT64_C(1) << (63 - __builtin_clzll(value[component]));
  for (uint32_t k = 0; k < last; k++) {
    if ((row_of(form, k)[component] & form->own_bit[last]) == 0)
      continue;
    add_row(form, value, row_of(form, k));
    form->inputs[k] ^= inputs;
  }
}

static echelon *eliminate(tj_graph *graph, const tj_f2 *map) {
  tj_job *job = graph->job;
  uint32_t bits = map->bit_count;
  tj_spend(job, (uint64_t)bits * bits * (map->component_count + 1));
  echelon *form = TJ_NEW(job, echelon);
  form->map = map;
  form->row = TJ_NEW_ARRAY(job, uint64_t, (size_t)bits * map->component_count + 1);
  form->inputs = TJ_NEW_ARRAY(job, uint64_t, bits + 1);
  form->component = TJ_NEW_ARRAY(job, uint32_t, bits + 1);
  form->own_bit = TJ_NEW_ARRAY(job, uint64_t, bits + 1);
  for (uint32_t bit = 0; bit < bits; bit++) {
    uint64_t *value = row_of(form, form->row_count);
    memcpy(value, basis_of(map, bit), map->component_count * sizeof *value);
    uint64_t inputs = reduce(form, value) ^ UINT64_C(1) << bit;
    uint32_t component = first_nonzero(map, value);
    if (component < map->component_count)
      push_row(form, inputs, component);
    else
      form->kernel[form->kernel_count++] = inputs;
  }
  return form;
}

uint32_t tj_f2_rank(tj_graph *graph, const tj_f2 *map) {
  return eliminate(graph, map)->row_count;
}

uint64_t tj_f2_largest(tj_graph *graph, const tj_f2 *map, uint32_t component) {
  uint64_t *basis = TJ_NEW_ARRAY(graph->job, uint64_t, map->bit_count + 1), largest = 0;
  for (uint32_t bit = 0; bit < map->bit_count; bit++)
    basis[bit] = basis_of(map, bit)[component];
  tj_f2 alone = {.bit_count = map->bit_count, .component_count = 1, .basis = basis};
  const echelon *form = eliminate(graph, &alone);
  for (uint32_t k = 0; k < form->row_count; k++)
    largest ^= form->row[k];
  return largest;
}

/* --- kernel and inverses --- */

static const tj_tuple *zeros_like(tj_graph *graph, const tj_tuple *profile) {
  return tj_tuple_repeat_like(graph, profile, tj_tuple_constant(graph, 0));
}

/* A set of input bits as the leaves of a coordinate. */
static void split_inputs(tj_graph *graph, const tj_f2 *map, uint64_t inputs, uint64_t leaf[]) {
  uint32_t count;
  const tj_tuple *const *extents = tj_tuple_leaves(graph, map->domain, &count);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t bits = bits_of_extent(extents[i]);
    leaf[i] = inputs & ((UINT64_C(1) << bits) - 1);
    inputs >>= bits;
  }
}

const tj_f2 *tj_f2_kernel(tj_graph *graph, const tj_f2 *map) {
  const echelon *form = eliminate(graph, map);
  uint32_t leaves = map->domain->leaf_count;
  uint64_t *basis = TJ_NEW_ARRAY(graph->job, uint64_t, (size_t)form->kernel_count * leaves + 1);
  for (uint32_t i = 0; i < form->kernel_count; i++)
    split_inputs(graph, map, form->kernel[i], basis + (size_t)i * leaves);
  return tj_f2_make(graph, extent_of_bits(graph, form->kernel_count), zeros_like(graph, map->domain), basis, false);
}

/* A map back, under construction: of `bits[i]` bits of each component of the codomain. */
typedef struct {
  tj_graph *graph;
  const echelon *form;
  uint32_t *bits;
} way_back;

static const tj_f2 *map_back(const way_back *self) {
  tj_graph *graph = self->graph;
  const tj_f2 *map = self->form->map;
  uint32_t leaves = map->domain->leaf_count, total = 0;
  const tj_tuple **extents = TJ_NEW_ARRAY(graph->job, const tj_tuple *, map->component_count + 1);
  for (uint32_t i = 0; i < map->component_count; i++) {
    extents[i] = extent_of_bits(graph, self->bits[i]);
    total += self->bits[i];
  }
  uint64_t *basis = TJ_NEW_ARRAY(graph->job, uint64_t, (size_t)total * leaves + 1), *next = basis;
  uint64_t *value = TJ_NEW_ARRAY(graph->job, uint64_t, map->component_count + 1);
  for (uint32_t i = 0; i < map->component_count; i++)
    for (uint32_t bit = 0; bit < self->bits[i]; bit++, next += leaves) {
      memset(value, 0, map->component_count * sizeof *value);
      value[i] = UINT64_C(1) << bit;
      split_inputs(graph, map, reduce(self->form, value), next);
    }
  return tj_f2_make(graph, tj_tuple_from_leaves(graph, map->codomain, extents), zeros_like(graph, map->domain), basis,
                    map->extends);
}

static bool is_reached(const way_back *self, uint32_t component, uint32_t bit) {
  uint32_t count = self->form->map->component_count;
  uint64_t *value = TJ_NEW_ARRAY(self->graph->job, uint64_t, count + 1);
  value[component] = UINT64_C(1) << bit;
  reduce(self->form, value);
  return first_nonzero(self->form->map, value) == count;
}

static way_back start_way_back(tj_graph *graph, const tj_f2 *map) {
  return (way_back){graph, eliminate(graph, map), TJ_NEW_ARRAY(graph->job, uint32_t, map->component_count + 1)};
}

static void take_all_bits(way_back *self) {
  const tj_f2 *map = self->form->map;
  uint32_t total = 0;
  for (uint32_t i = 0; i < map->component_count; i++)
    total += self->bits[i] = tj_f2_value_bits(map, i);
  if (total > TJ_MAX_F2_BITS)
    tj_fail(self->graph->job, TJ_NOT_INJECTIVE, "inverse: values of %u bits, more than %d", total, TJ_MAX_F2_BITS);
}

const tj_f2 *tj_f2_right_inverse(tj_graph *graph, const tj_f2 *map) {
  way_back self = start_way_back(graph, map);
  for (uint32_t i = 0; i < map->component_count; i++) {
    uint32_t most = tj_f2_value_bits(map, i);
    while (self.bits[i] < most && is_reached(&self, i, self.bits[i]))
      self.bits[i]++;
    if (map->extends && self.bits[i] < most)
      tj_fail(graph->job, TJ_NOT_INJECTIVE, "right_inverse: bit %u is no value of the map", self.bits[i]);
  }
  return map_back(&self);
}

static void require_injective(tj_graph *graph, const echelon *form, const char *operation) {
  if (form->kernel_count == 0)
    return;
  const tj_tuple *index = tj_tuple_constant(graph, (int64_t)form->kernel[0]);
  tj_fail(graph->job, TJ_NOT_INJECTIVE, "%s: the map is not injective: coordinates 0 and %s have the same value",
          operation, tj_tuple_text(graph->job, tj_idx2crd(graph, index, form->map->domain, NULL)));
}

const tj_f2 *tj_f2_left_inverse(tj_graph *graph, const tj_f2 *map) {
  way_back self = start_way_back(graph, map);
  require_injective(graph, self.form, "left_inverse");
  take_all_bits(&self);
  return map_back(&self);
}

const tj_f2 *tj_f2_inverse(tj_graph *graph, const tj_f2 *map) {
  way_back self = start_way_back(graph, map);
  require_injective(graph, self.form, "inverse");
  take_all_bits(&self);
  for (uint32_t i = 0; i < map->component_count; i++)
    for (uint32_t bit = 0; bit < self.bits[i]; bit++)
      if (!is_reached(&self, i, bit))
        tj_fail(graph->job, TJ_NOT_INJECTIVE, "inverse: the map is not surjective: nothing has the value %llu%s",
                1ULL << bit, map->component_count == 1 ? "" : tj_string_format(graph->job, " in component %u", i));
  return map_back(&self);
}

/* --- application --- */

/* Bits of one integer, from input bit `first` on: by distance of value bit from input bit, which of them go there. */
typedef struct {
  uint64_t mask[127];
} bit_moves;

enum { NO_MOVE = 63 };

static void collect_moves(const tj_f2 *map, uint32_t component, uint32_t first, uint32_t bits, bit_moves *moves) {
  *moves = (bit_moves){{0}};
  for (uint32_t k = 0; k < bits; k++)
    for (uint64_t value = basis_of(map, first + k)[component]; value != 0; value &= value - 1)
      moves->mask[NO_MOVE + __builtin_ctzll(value) - (int)k] |= UINT64_C(1) << k;
  if (map->extends)
    moves->mask[NO_MOVE] |= (UINT64_C(1) << 63) - (UINT64_C(1) << bits);
}

static const tj_node *move_bits(tj_graph *graph, const tj_node *value, const bit_moves *moves) {
  const tj_node *sum = NULL;
  for (int32_t by = -NO_MOVE; by <= NO_MOVE; by++) {
    uint64_t mask = moves->mask[by + NO_MOVE];
    if (mask == 0)
      continue;
    const tj_node *field = tj_and(graph, value, tj_int(graph, (int64_t)mask));
    if (by < 0)
      field = tj_shr(graph, field, tj_int(graph, -by));
    else if (by > 0)
      field = tj_shl(graph, field, tj_int(graph, by));
    sum = sum == NULL ? field : tj_xor(graph, sum, field);
  }
  return sum == NULL ? tj_int(graph, 0) : sum;
}

/* An application in progress: the next input bit, and the sums so far by component. */
typedef struct {
  tj_graph *graph;
  const tj_f2 *map;
  uint32_t bit;
  const tj_node **value;
} application;

static void check_index(const application *self, const tj_node *index, const tj_tuple *domain, uint32_t bits,
                        const tj_mode_path *path) {
  tj_graph *graph = self->graph;
  bool is_outside = tj_is_constant(index) && (index->value < 0 || (!self->map->extends && index->value >> bits != 0));
  if (is_outside)
    tj_fail_coordinate(graph, index, domain, self->map->domain, path);
  if (!tj_facts_nonnegative(&index->facts))
    tj_fail(graph->job, TJ_NEGATIVE_BITS, "a linear map of %s, which may be negative", tj_describe(graph, index));
}

static void apply_index(application *self, const tj_node *index, const tj_tuple *domain, const tj_mode_path *path) {
  bit_moves moves;
  uint32_t bits = bits_of(self->graph, domain);
  check_index(self, index, domain, bits, path);
  for (uint32_t i = 0; i < self->map->component_count; i++) {
    collect_moves(self->map, i, self->bit, bits, &moves);
    const tj_node *moved = move_bits(self->graph, index, &moves), *sum = self->value[i];
    self->value[i] = sum == NULL || tj_is_int(sum, 0) ? moved : tj_xor(self->graph, sum, moved);
  }
  self->bit += bits;
}

static void apply_coordinate(application *self, const tj_tuple *coordinate, const tj_tuple *domain,
                             const tj_mode_path *path) {
  if (!tj_tuple_is_list(coordinate)) {
    apply_index(self, tj_tuple_product(self->graph, coordinate), domain, path);
    return;
  }
  if (!tj_tuple_is_list(domain) || domain->count != coordinate->count)
    tj_fail(self->graph->job, TJ_COORDINATE_STRUCTURE, "coordinate %s does not fit shape %s",
            tj_tuple_text(self->graph->job, coordinate), tj_tuple_text(self->graph->job, domain));
  for (uint32_t i = 0; i < coordinate->count; i++)
    apply_coordinate(self, coordinate->item[i], domain->item[i], &(tj_mode_path){path, i});
}

const tj_tuple *tj_f2_apply(tj_graph *graph, const tj_f2 *map, const tj_tuple *coordinate) {
  application self = {graph, map, 0, TJ_NEW_ARRAY(graph->job, const tj_node *, map->component_count + 1)};
  tj_spend(graph->job, (uint64_t)map->bit_count * map->component_count + 1);
  apply_coordinate(&self, coordinate, map->domain, NULL);
  const tj_tuple **leaves = TJ_NEW_ARRAY(graph->job, const tj_tuple *, map->component_count + 1);
  for (uint32_t i = 0; i < map->component_count; i++)
    leaves[i] = tj_tuple_integer(graph, self.value[i] == NULL ? tj_int(graph, 0) : self.value[i]);
  return tj_tuple_from_leaves(graph, map->codomain, leaves);
}

void tj_f2_evaluate(tj_graph *graph, const tj_f2 *map, const int64_t coordinate[], int64_t values[]) {
  tj_arena_mark mark = tj_arena_here(&graph->job->arena);
  uint32_t count, first = 0;
  const tj_tuple *const *extents = tj_tuple_leaves(graph, map->domain, &count);
  uint64_t *sums = TJ_NEW_ARRAY(graph->job, uint64_t, map->component_count + 1);
  for (uint32_t i = 0; i < count; first += bits_of_extent(extents[i++]))
    add_bases(map, first, (uint64_t)coordinate[i], sums);
  for (uint32_t i = 0; i < map->component_count; i++)
    values[i] = (int64_t)sums[i];
  tj_arena_reset(&graph->job->arena, mark);
}

/* --- text --- */

static const uint64_t *print_value(tj_text *text, const tj_tuple *codomain, const uint64_t *value) {
  if (!tj_tuple_is_list(codomain)) {
    tj_text_integer(text, (int64_t)*value);
    return value + 1;
  }
  tj_text_char(text, '(');
  for (uint32_t i = 0; i < codomain->count; i++) {
    if (i > 0)
      tj_text_char(text, ',');
    value = print_value(text, codomain->item[i], value);
  }
  tj_text_char(text, ')');
  return value;
}

/* Prints the bases of a part of the domain, whose first is input bit `bit`; returns the next. */
static uint32_t print_bases(tj_text *text, const tj_f2 *map, const tj_tuple *domain, uint32_t bit) {
  bool is_leaf = !tj_tuple_is_list(domain);
  uint32_t count = is_leaf ? bits_of_extent(domain) : domain->count;
  tj_text_char(text, '[');
  for (uint32_t i = 0; i < count; i++) {
    tj_text_string(text, i > 0 ? ", " : "");
    if (is_leaf)
      print_value(text, map->codomain, basis_of(map, bit++));
    else
      bit = print_bases(text, map, domain->item[i], bit);
  }
  if (map->extends)
    tj_text_string(text, count > 0 ? ", _" : "_");
  tj_text_char(text, ']');
  return bit;
}

void tj_f2_print(tj_text *text, const tj_f2 *map) {
  tj_text_string(text, "linear(");
  print_bases(text, map, map->domain, 0);
  tj_text_char(text, ')');
}
