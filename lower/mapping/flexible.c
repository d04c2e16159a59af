/* SPDX-License-Identifier: MIT */
/* Flexible tiles: which copies have them, what the launch measures and demands, where tiles begin. */
#include "lower/mapping/flexible.h"

#include "ir/index/facts.h"
#include "ir/layout/arith.h"
#include "ir/simplify/simplify.h"
#include "lower/kernel/variant.h"
#include "lower/mapping/flexible_maker.h"

enum { MOST_STEPS = 256 };

/* Bounds that the launch checks, so that offsets fit: of a tile in 32 bits of bytes, of all in 64 bits. */
static const int64_t most_extent = 1 << 30, most_stride = UINT32_MAX, most_offset = (int64_t)1 << 57,
                     most_workgroups = (1 << 24) - 1, most_product = (int64_t)1 << 31;

/* --- quantities of the launch --- */

const tj_node *tj_flexible_at_least(tj_graph *graph, const tj_node *node, int64_t low) {
  return node->facts.low >= low ? node : tj_max(graph, node, tj_int(graph, low));
}

const tj_node *tj_flexible_at_most(tj_graph *graph, const tj_node *node, int64_t high) {
  return node->facts.high <= high ? node : tj_min(graph, node, tj_int(graph, high));
}

static void bind(tj_flexible *f, const tj_node *symbol, const tj_node *value, bool is_launched) {
  tj_kernel *kernel = f->kernel;
  if (kernel->binding_count == f->binding_room) {
    f->binding_room = 2 * f->binding_room + 64;
    tj_kernel_binding *larger = TJ_NEW_ARRAY(f->graph->job, tj_kernel_binding, f->binding_room);
    for (uint32_t i = 0; i < kernel->binding_count; i++)
      larger[i] = kernel->binding[i];
    kernel->binding = larger;
  }
  kernel->binding[kernel->binding_count++] = (tj_kernel_binding){symbol, value, is_launched};
}

tj_measure tj_flexible_measure(tj_flexible *f, const char *name, const tj_node *launch, int64_t low, int64_t high,
                               int64_t multiple) {
  tj_graph *graph = f->graph;
  if (tj_is_constant(launch))
    return (tj_measure){launch, launch};
  for (uint32_t i = 0; i < f->kernel->binding_count; i++) {
    const tj_kernel_binding *same = &f->kernel->binding[i];
    const tj_facts *facts = &same->symbol->facts;
    if (same->value == launch && facts->low == low && facts->high == high &&
        same->symbol->symbol->multiple == multiple)
      return (tj_measure){launch, same->symbol};
  }
  const tj_node *symbol =
      tj_symbol_create(graph, name, TJ_SYMBOL_COORDINATE, tj_int(graph, low), tj_int(graph, high), multiple);
  bind(f, symbol, launch, true);
  return (tj_measure){launch, symbol};
}

void tj_flexible_demand(tj_flexible *f, const tj_node *truth) {
  f->condition = tj_terse_both(f->graph, f->condition, truth);
}

static void demand_between(tj_flexible *f, const tj_node *node, int64_t low, int64_t high) {
  tj_graph *graph = f->graph;
  if (node->facts.low < low)
    tj_flexible_demand(f, tj_less_equal(graph, tj_int(graph, low), node));
  if (node->facts.high > high)
    tj_flexible_demand(f, tj_less_equal(graph, node, tj_int(graph, high)));
}

const tj_node *tj_flexible_parts(tj_graph *graph, const tj_node *a, const tj_node *b) {
  const tj_node *more = tj_add(graph, a, tj_terse_sub(graph, b, tj_int(graph, 1)));
  return tj_flexible_at_least(graph, tj_terse_div(graph, more, b), 1);
}

const tj_node *tj_flexible_balanced(tj_graph *graph, const tj_node *total, const tj_node *most) {
  return tj_flexible_parts(graph, total, tj_flexible_parts(graph, total, most));
}

const tj_node *tj_flexible_choice(tj_graph *graph, const tj_node *truth, const tj_node *then,
                                  const tj_node *otherwise) {
  if (tj_is_constant(truth))
    return truth->value != 0 ? then : otherwise;
  return then == otherwise ? then : tj_select(graph, truth, then, otherwise);
}

/* --- work-items --- */

static const tj_node *sharpened(const tj_node *node, int64_t low, int64_t high) {
  tj_sharpen_facts(node, &(tj_facts){.low = low, .high = high, .modulus = 1});
  return node;
}

static bool is_power_of_two(int64_t value) {
  return value > 0 && (value & (value - 1)) == 0;
}

tj_flexible_digits tj_flexible_split(tj_flexible *f, const tj_node *number, tj_measure divisor, int64_t most) {
  enum { SHIFT = 20 };
  tj_graph *graph = f->graph;
  if (tj_is_constant(number) || (tj_is_constant(divisor.launch) && is_power_of_two(divisor.launch->value)))
    return (tj_flexible_digits){tj_terse_div(graph, number, divisor.name), tj_terse_mod(graph, number, divisor.name)};
  const tj_node *magic = tj_flexible_parts(graph, tj_int(graph, 1 << SHIFT), divisor.launch);
  tj_measure multiplier = tj_flexible_measure(f, "magic", magic, 1, 1 << SHIFT, 1);
  const tj_node *product = tj_mul(graph, number, multiplier.name);
  const tj_node *quotient = sharpened(tj_shr(graph, product, tj_int(graph, SHIFT)), 0, number->facts.high);
  const tj_node *whole = sharpened(tj_mul(graph, quotient, divisor.name), 0, number->facts.high);
  int64_t last = number->facts.high < most - 1 ? number->facts.high : most - 1;
  return (tj_flexible_digits){quotient, sharpened(tj_sub(graph, number, whole), 0, last)};
}

const tj_node *tj_flexible_product(tj_flexible *f, const tj_node *digit, const tj_node *stride, int64_t limit) {
  const tj_node *product = tj_terse_mul(f->graph, digit, stride);
  return product->facts.high < limit ? product : sharpened(product, 0, limit - 1);
}

const tj_node *tj_flexible_least(tj_flexible *f, const tj_node *digit, tj_measure last) {
  if (tj_is_int(last.name, 0) || tj_is_int(digit, 0))
    return tj_int(f->graph, 0);
  return digit->facts.high <= last.name->facts.low ? digit : tj_min(f->graph, digit, last.name);
}

void tj_flexible_gate(tj_flexible *f, const tj_node *number, const tj_node *count, int64_t most) {
  tj_measure limit = tj_flexible_measure(f, "active", count, 1, most, 1);
  bool is_full = number->facts.high < limit.name->facts.low;
  f->gate = is_full ? tj_int(f->graph, 1) : tj_less(f->graph, number, limit.name);
}

void tj_flexible_step(tj_flexible *f, tj_step_kind kind, tj_access access, uint32_t width, uint32_t slot,
                      uint32_t slot_step) {
  tj_kernel *kernel = f->kernel;
  access.valid = f->gate;
  kernel->step[kernel->step_count++] = (tj_kernel_step){
      .kind = kind, .access = access, .width = width, .slot = slot, .slot_step = width > 1 ? slot_step : 1};
}

/* --- tiles --- */

static uint32_t bytes_of(const tj_flexible *f, uint32_t buffer) {
  return tj_dtype_bits(f->kernel->buffer[buffer].dtype) / 8;
}

/* Elements that the other end of a tile along a mode may be away on either side: all modes together, and so all of a
 * work-item's offset, stay below 2^32 bytes. */
static int64_t reach_of(const tj_flexible *f, uint32_t mode) {
  uint32_t source = bytes_of(f, f->source), destination = bytes_of(f, f->destination);
  bool turns = f->first_loaded != f->first_stored, is_first = mode == f->first_loaded || mode == f->first_stored;
  int64_t bytes = is_first ? (int64_t)1 << 31 : turns ? 1 << 29 : 1 << 30;
  return bytes / (source > destination ? source : destination);
}

static void demand_reach(tj_flexible *f, const tj_flexible_mode *mode, const tj_measure *stride) {
  tj_graph *graph = f->graph;
  if (tj_is_int(stride->launch, 0) || tj_is_int(stride->launch, 1))
    return;
  const tj_node *last = tj_terse_sub(graph, mode->length, tj_int(graph, 1));
  demand_between(f, tj_terse_mul(graph, last, stride->launch), 0, mode->reach - 1);
}

/* Where the tile begins along a mode of `tiles` tiles, as its number says. */
static const tj_node *first_of_tile(tj_flexible *f, const tj_flexible_mode *mode, const tj_node *number) {
  tj_graph *graph = f->graph;
  if (mode->length == NULL)
    return number;
  tj_measure length = tj_flexible_measure(f, "tile", mode->length, 1, most_extent, 1);
  const tj_node *rest = tj_flexible_at_least(graph, tj_terse_sub(graph, mode->extent.launch, mode->length), 0);
  tj_measure last = tj_flexible_measure(f, "last", rest, 0, most_extent, 1);
  return tj_flexible_least(f, tj_flexible_product(f, number, length.name, most_product), last);
}

static const tj_node *tiles_along(tj_flexible *f, const tj_flexible_mode *mode) {
  return mode->length == NULL ? mode->extent.launch : tj_flexible_parts(f->graph, mode->extent.launch, mode->length);
}

/* The part of a tile's beginning along a mode in the offsets of both sides. */
static void add_to_bases(tj_flexible *f, const tj_flexible_mode *mode, const tj_node *first) {
  const tj_node **base[] = {&f->source_base, &f->destination_base};
  const tj_measure *stride[] = {&mode->source, &mode->destination};
  for (int i = 0; i < 2; i++) {
    const tj_node *part = tj_flexible_product(f, first, stride[i]->name, most_offset);
    *base[i] = tj_terse_add(f->graph, *base[i], part);
  }
}

static const tj_node *named_base(tj_flexible *f, const char *name, const tj_node *base) {
  if (tj_is_constant(base))
    return base;
  const tj_node *symbol =
      tj_symbol_create(f->graph, name, TJ_SYMBOL_COORDINATE, tj_int(f->graph, 0), tj_int(f->graph, most_offset), 1);
  bind(f, symbol, base, false);
  return symbol;
}

/* The modes, those of the tile first: workgroups that follow each other are neighbours. */
static uint32_t order_modes(const tj_flexible *f, uint32_t order[TJ_FLEXIBLE_MODES]) {
  const uint32_t leading[] = {f->first_loaded, f->next_loaded, f->first_stored, f->next_stored, f->next_other};
  uint64_t taken = 0;
  uint32_t count = 0;
  for (size_t i = 0; i < sizeof leading / sizeof leading[0]; i++) {
    if (leading[i] == TJ_FLEXIBLE_NONE || (taken >> leading[i] & 1) != 0)
      continue;
    taken |= (uint64_t)1 << leading[i];
    order[count++] = leading[i];
  }
  for (uint32_t m = 0; m < f->domain->count; m++) {
    if ((taken >> m & 1) == 0)
      order[count++] = m;
  }
  return count;
}

void tj_flexible_place(tj_flexible *f) {
  tj_graph *graph = f->graph;
  uint32_t order[TJ_FLEXIBLE_MODES], count = order_modes(f, order);
  const tj_node *all = tj_int(graph, 1), *rest = f->kernel->workgroup;
  f->source_base = f->source_origin.name;
  f->destination_base = f->destination_origin.name;
  for (uint32_t i = 0; i < count; i++) {
    tj_flexible_mode *mode = &f->mode[order[i]];
    const tj_node *tiles = tiles_along(f, mode);
    all = tj_flexible_at_most(graph, tj_terse_mul(graph, all, tj_flexible_at_most(graph, tiles, most_workgroups + 1)),
                              most_workgroups + 1);
    tj_measure divisor = tj_flexible_measure(f, "tiles", tiles, 1, most_workgroups, 1);
    const tj_node *number = i + 1 < count ? tj_terse_mod(graph, rest, divisor.name) : rest;
    rest = i + 1 < count ? tj_terse_div(graph, rest, divisor.name) : rest;
    add_to_bases(f, mode, first_of_tile(f, mode, number));
    if (mode->length == NULL)
      continue;
    demand_reach(f, mode, &mode->source);
    demand_reach(f, mode, &mode->destination);
  }
  demand_between(f, all, 1, most_workgroups);
  f->kernel->count = tj_mul(graph, all, tj_int(graph, TJ_FLEXIBLE_ITEMS));
  f->source_base = named_base(f, "from", f->source_base);
  f->destination_base = named_base(f, "to", f->destination_base);
}

/* --- domains --- */

static bool depends_on_parameters(const tj_domain *domain) {
  for (uint32_t m = 0; m < domain->count; m++) {
    const tj_mode *mode = &domain->mode[m];
    if (!tj_is_constant(mode->extent) || !tj_is_constant(mode->source_stride) ||
        !tj_is_constant(mode->destination_stride))
      return true;
  }
  return false;
}

static bool has_strides(const tj_domain *domain) {
  for (uint32_t m = 0; m < domain->count; m++) {
    if (domain->mode[m].source_stride == NULL || domain->mode[m].destination_stride == NULL)
      return false;
  }
  return true;
}

static tj_access access_of(tj_flexible *f, bool of_source, const tj_node *const digit[]) {
  return of_source ? tj_domain_source(f->graph, f->domain, f->source, digit)
                   : tj_domain_destination(f->graph, f->domain, f->destination, digit);
}

static const tj_node *stride_of(const tj_flexible *f, uint32_t mode, bool of_source) {
  return tj_mode_stride(&f->domain->mode[mode], of_source);
}

/* Whether the elements at these digits are at the origin and the sum of digits times strides. */
static bool is_sum(tj_flexible *f, bool of_source, const tj_node *origin, const tj_node *const digit[]) {
  tj_graph *graph = f->graph;
  tj_access access = access_of(f, of_source, digit);
  const tj_node *sum = origin;
  for (uint32_t m = 0; m < f->domain->count; m++)
    sum = tj_terse_add(graph, sum, tj_terse_mul(graph, digit[m], stride_of(f, m, of_source)));
  const tj_node *offset = tj_simplified(graph, access.offset);
  sum = tj_simplified(graph, sum);
  return tj_is_int(tj_simplified(graph, access.valid), 1) && (offset == sum || tj_prove_equal(graph, offset, sum));
}

/* Whether the domain's strides are a layout's own: where its modes are leaves of the finer layout, and runs of leaves
 * that were shown to step evenly. */
static bool has_own_strides(const tj_domain *domain, const tj_operand *operand) {
  return domain->side == NULL && operand->value->kind == TJ_VALUE_LAYOUT;
}

/* The same of all elements. */
static bool is_strided(tj_flexible *f, bool of_source, const tj_node **origin) {
  tj_graph *graph = f->graph;
  const tj_node *digit[TJ_FLEXIBLE_MODES], *none[TJ_FLEXIBLE_MODES];
  for (uint32_t m = 0; m < f->domain->count; m++) {
    digit[m] = tj_coordinate(graph, "i", f->domain->mode[m].extent);
    none[m] = tj_int(graph, 0);
  }
  *origin = tj_simplified(graph, access_of(f, of_source, none).offset);
  return has_own_strides(f->domain, of_source ? f->domain->source : f->domain->destination) ||
         is_sum(f, of_source, *origin, digit);
}

/* Whether a side steps less far along mode a than along mode b, as far as is known; of products that cannot be
 * compared, the one of fewer factors counts as less. Strides of 0 come last. */
static bool is_closer(const tj_flexible *f, uint32_t a, uint32_t b, bool of_source) {
  const tj_node *x = stride_of(f, a, of_source), *y = stride_of(f, b, of_source);
  if (tj_is_int(x, 0) || tj_is_int(y, 0))
    return !tj_is_int(x, 0);
  bool is_less = tj_prove_less_equal(f->graph, x, y), is_more = tj_prove_less_equal(f->graph, y, x);
  return is_less == is_more ? x->weight < y->weight : is_less;
}

/* The closest mode of a side that is not among `taken`. */
static uint32_t closest_mode(const tj_flexible *f, uint64_t taken, bool of_source) {
  uint32_t best = TJ_FLEXIBLE_NONE;
  for (uint32_t m = 0; m < f->domain->count; m++) {
    if ((taken >> m & 1) == 0 && (best == TJ_FLEXIBLE_NONE || is_closer(f, m, best, of_source)))
      best = m;
  }
  return best;
}

static bool is_contiguous(const tj_flexible *f, uint32_t mode, bool of_source) {
  return tj_is_int(stride_of(f, mode, of_source), 1);
}

static bool choose_modes(tj_flexible *f) {
  f->first_loaded = closest_mode(f, 0, true);
  f->first_stored = closest_mode(f, 0, false);
  if (!is_contiguous(f, f->first_loaded, true) || !is_contiguous(f, f->first_stored, false))
    return false;
  uint64_t taken = (uint64_t)1 << f->first_loaded | (uint64_t)1 << f->first_stored;
  f->next_loaded = closest_mode(f, taken, true);
  if (f->next_loaded != TJ_FLEXIBLE_NONE)
    taken |= (uint64_t)1 << f->next_loaded;
  f->next_stored = closest_mode(f, taken, false);
  if (f->next_stored != TJ_FLEXIBLE_NONE)
    taken |= (uint64_t)1 << f->next_stored;
  f->next_other = closest_mode(f, taken, false);
  return true;
}

/* --- kernels --- */

static tj_measure measured_stride(tj_flexible *f, const char *name, const tj_node *stride, const tj_node *extent) {
  tj_graph *graph = f->graph;
  demand_between(f, stride, 0, most_stride);
  const tj_node *launch = tj_flexible_at_least(graph, tj_flexible_at_most(graph, stride, most_stride), 0);
  demand_between(f, tj_terse_mul(graph, extent, launch), 0, most_offset);
  return tj_flexible_measure(f, name, launch, 0, most_stride, 1);
}

static void measure_modes(tj_flexible *f) {
  tj_graph *graph = f->graph;
  for (uint32_t m = 0; m < f->domain->count; m++) {
    const tj_mode *mode = &f->domain->mode[m];
    demand_between(f, mode->extent, 1, most_extent);
    const tj_node *extent = tj_flexible_at_least(graph, tj_flexible_at_most(graph, mode->extent, most_extent), 1);
    f->mode[m].extent = tj_flexible_measure(f, "extent", extent, 1, most_extent, 1);
    f->mode[m].source = measured_stride(f, "step", mode->source_stride, extent);
    f->mode[m].destination = measured_stride(f, "step", mode->destination_stride, extent);
    f->mode[m].reach = reach_of(f, m);
  }
}

static tj_measure measured_origin(tj_flexible *f, const tj_node *origin) {
  tj_graph *graph = f->graph;
  demand_between(f, origin, 0, most_offset);
  return tj_flexible_measure(f, "origin",
                             tj_flexible_at_least(graph, tj_flexible_at_most(graph, origin, most_offset), 0), 0,
                             most_offset, 1);
}

static tj_kernel *new_kernel(tj_flexible *f, const tj_kernel *flat) {
  tj_graph *graph = f->graph;
  tj_kernel *kernel = TJ_NEW(graph->job, tj_kernel);
  *kernel = *flat;
  kernel->name = tj_string_format(graph->job, "%s.vectors", flat->name);
  kernel->index = NULL;
  kernel->workgroup = tj_coordinate(graph, "g", tj_int(graph, most_workgroups));
  kernel->item = tj_coordinate(graph, "t", tj_int(graph, TJ_FLEXIBLE_ITEMS));
  kernel->workgroup_size = TJ_FLEXIBLE_ITEMS;
  kernel->step = TJ_NEW_ARRAY(graph->job, tj_kernel_step, MOST_STEPS);
  kernel->step_count = 0;
  return kernel;
}

bool tj_offer_flexible(tj_graph *graph, tj_kernel *flat, const tj_target *target) {
  const tj_domain *domain = flat->domain;
  if (domain == NULL || domain->count == 0 || domain->count > TJ_FLEXIBLE_MODES || target->wave_size < 2 ||
      target->workgroup_limit < TJ_FLEXIBLE_ITEMS || !has_strides(domain) || !depends_on_parameters(domain))
    return false;
  tj_flexible f = {
      .graph = graph, .target = target, .domain = domain, .condition = tj_int(graph, 1), .gate = tj_int(graph, 1)};
  f.source = flat->step[0].access.buffer;
  f.destination = flat->step[1].access.buffer;
  const tj_node *source_origin, *destination_origin;
  if (!choose_modes(&f) || !is_strided(&f, true, &source_origin) || !is_strided(&f, false, &destination_origin))
    return false;
  f.kernel = new_kernel(&f, flat);
  measure_modes(&f);
  f.source_origin = measured_origin(&f, source_origin);
  f.destination_origin = measured_origin(&f, destination_origin);
  if (f.first_loaded == f.first_stored)
    tj_flexible_go_straight(&f);
  else
    tj_flexible_turn(&f);
  if (tj_is_int(f.condition, 0) || !tj_kernel_fits(graph, f.kernel))
    return false;
  flat->faster = f.kernel;
  flat->condition = f.condition;
  return true;
}
