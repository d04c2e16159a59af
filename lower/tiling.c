/* From a tiling to steps: offsets and predicates of every element, vectors where these show neighbours, LDS between
 * two sides that differ. */
#include "lower/tiling.h"

#include "ir/eval.h"
#include "ir/facts.h"
#include "ir/simplify.h"
#include "ir/walk.h"
#include "lower/displace.h"
#include "lower/plan.h"
#include "lower/stage.h"

/* An element of the tile in a slot. */
typedef struct {
  tj_access access;            /* as its view has it, edges not looked at; base: see share_base */
  const tj_node *const *digit; /* in the domain, by mode */
} element;

/* One side of the journey: the elements by slot, and how vectors move them. */
typedef struct {
  const tj_tile_side *tile;
  element *element;
  const tj_node *base; /* the offset at the tile's own first element */
  bool has_edges;      /* elements beyond the domain are masked */
  const uint32_t *order;
  uint32_t width;
} side;

typedef struct {
  tj_graph *graph;
  const tj_tiling *tiling;
  const tj_target *target;
  tj_kernel *kernel;
  const tj_node **base; /* of the tile, by mode */
  side load, store;
  tj_stage_choice stage; /* with `is_staged` */
  side in, out;          /* the elements on their way into LDS, and out of it */
  bool is_inner;         /* steps are for tiles that are all inside the domain */
  tj_kernel_step *step;
  uint32_t step_count;
} tile_maker;

static uint32_t mode_count(const tile_maker *maker) {
  return maker->tiling->domain->count;
}

static bool is_always(const tj_node *truth) {
  return tj_is_int(truth, 1);
}

static const tj_node *both(tj_graph *graph, const tj_node *a, const tj_node *b) {
  if (is_always(a) || is_always(b))
    return is_always(a) ? b : a;
  return tj_and(graph, a, b);
}

/* --- tiles --- */

static const tj_node *tiles_along(tile_maker *maker, uint32_t mode) {
  tj_graph *graph = maker->graph;
  int64_t tile = maker->tiling->extent[mode];
  const tj_node *extent = maker->tiling->domain->mode[mode].extent;
  return tj_simplified(graph, tj_div(graph, tj_add(graph, extent, tj_int(graph, tile - 1)), tj_int(graph, tile)));
}

static const tj_node *extent_of(const tile_maker *maker, uint32_t mode) {
  return maker->tiling->domain->mode[mode].extent;
}

static bool is_divided(const tile_maker *maker, uint32_t mode) {
  return tj_facts_divisible(&extent_of(maker, mode)->facts, maker->tiling->extent[mode]);
}

/* Whether the last tile along a mode is moved back inside the domain. */
static bool is_moved_back(const tile_maker *maker, uint32_t mode) {
  return maker->tiling->may_overlap && !is_divided(maker, mode) &&
         extent_of(maker, mode)->facts.low >= maker->tiling->extent[mode];
}

/* Whether elements of some tiles are beyond the domain along a mode. */
static bool has_edge(const tile_maker *maker, uint32_t mode) {
  return !is_divided(maker, mode) && !is_moved_back(maker, mode);
}

/* What a tile's beginning along a mode is surely a multiple of. */
static int64_t multiple_of_base(const tile_maker *maker, uint32_t mode) {
  int64_t multiple = maker->tiling->extent[mode];
  while (is_moved_back(maker, mode) && !tj_facts_divisible(&extent_of(maker, mode)->facts, multiple))
    multiple = multiple % 2 == 0 ? multiple / 2 : 1;
  return multiple;
}

/* A symbol for where a tile begins along a mode, of which all expressions are made. */
static const tj_node *bind_base(tile_maker *maker, uint32_t mode, const tj_node *tile) {
  tj_graph *graph = maker->graph;
  const tj_node *cut = tj_int(graph, maker->tiling->extent[mode]), *extent = extent_of(maker, mode);
  const tj_node *last = tj_sub(graph, extent, has_edge(maker, mode) ? tj_int(graph, 1) : cut);
  const tj_node *value = tj_mul(graph, tile, cut);
  if (is_moved_back(maker, mode))
    value = tj_min(graph, value, last);
  value = tj_simplified(graph, value);
  if (tj_is_constant(value))
    return value;
  const tj_node *symbol = tj_symbol_create(graph, "b", TJ_SYMBOL_COORDINATE, tj_int(graph, 0),
                                           tj_simplified(graph, last), multiple_of_base(maker, mode));
  maker->kernel->binding[maker->kernel->binding_count++] = (tj_kernel_binding){symbol, value};
  return symbol;
}

/* Where the tile of a workgroup begins. */
static void place_tile(tile_maker *maker) {
  tj_graph *graph = maker->graph;
  uint32_t count = mode_count(maker);
  const tj_node **tiles = TJ_NEW_ARRAY(graph->job, const tj_node *, count + 1);
  const tj_node *all = tj_int(graph, 1);
  for (uint32_t m = 0; m < count; m++) {
    tiles[m] = tiles_along(maker, m);
    all = tj_mul(graph, all, tiles[m]);
  }
  all = tj_simplified(graph, all);
  maker->kernel->count = tj_mul(graph, all, tj_int(graph, maker->tiling->workgroup_size));
  maker->kernel->workgroup = tj_coordinate(graph, "g", all);
  maker->kernel->binding = TJ_NEW_ARRAY(graph->job, tj_kernel_binding, count + 1);
  maker->base = TJ_NEW_ARRAY(graph->job, const tj_node *, count + 1);
  const tj_node *rest = maker->kernel->workgroup;
  for (uint32_t m = count; m-- > 0;) {
    const tj_node *at = m > 0 ? tj_mod(graph, rest, tiles[m]) : rest;
    if (m > 0)
      rest = tj_div(graph, rest, tiles[m]);
    maker->base[m] = bind_base(maker, m, at);
  }
}

/* --- elements --- */

/* Whether an element of the tile is beyond the domain in every tile. */
static bool is_nowhere(const tile_maker *maker, const tj_node *const digit[]) {
  for (uint32_t m = 0; m < mode_count(maker); m++) {
    if (digit[m]->facts.low >= maker->tiling->domain->mode[m].extent->facts.high)
      return true;
  }
  return false;
}

static tj_access assumed_access(tile_maker *maker, tj_access access) {
  const tj_node *parts[] = {access.offset, access.valid};
  tj_substitute(maker->graph, maker->tiling->assumed, parts, 2);
  return (tj_access){.buffer = access.buffer, .offset = parts[0], .valid = parts[1]};
}

static tj_access access_at(tile_maker *maker, const tj_node *const digit[], bool is_load) {
  const tj_tiling *tiling = maker->tiling;
  return assumed_access(maker, is_load
                                   ? tj_domain_source(maker->graph, tiling->domain, tiling->source, digit)
                                   : tj_domain_destination(maker->graph, tiling->domain, tiling->destination, digit));
}

static void make_elements(tile_maker *maker, side *s, const tj_tile_side *tile, bool is_load) {
  tj_graph *graph = maker->graph;
  s->tile = tile;
  s->has_edges = true;
  s->element = TJ_NEW_ARRAY(graph->job, element, tile->slot_count);
  for (uint32_t slot = 0; slot < tile->slot_count; slot++) {
    const tj_node **digit = TJ_NEW_ARRAY(graph->job, const tj_node *, mode_count(maker) + 1);
    for (uint32_t m = 0; m < mode_count(maker); m++)
      digit[m] = tj_add(graph, maker->base[m], tile->digit[slot][m]);
    tj_simplify(graph, digit, mode_count(maker), NULL);
    s->element[slot].digit = digit;
    if (is_nowhere(maker, digit))
      s->element[slot].access = (tj_access){.offset = tj_int(graph, 0), .valid = tj_int(graph, 0)};
    else
      s->element[slot].access = access_at(maker, digit, is_load);
  }
  s->base = access_at(maker, maker->base, is_load).offset;
}

/* Whether an expression depends on where the tile is. */
static bool depends_on_tile(const tile_maker *maker, const tj_node *node) {
  tj_walk walk = tj_walk_nodes(maker->graph, &node, 1);
  for (uint32_t i = 0; i < walk.count; i++) {
    for (uint32_t k = 0; k < maker->kernel->binding_count; k++) {
      if (walk.node[i] == maker->kernel->binding[k].symbol)
        return true;
    }
  }
  return false;
}

enum { MOST_BYTES = 16 }; /* of an element */

static bool fits_32_bits(const tj_node *offset) {
  return offset->facts.low >= 0 && offset->facts.high <= UINT32_MAX / MOST_BYTES;
}

/* Whether machines add every offset to an address for nothing as it is. */
static bool are_small(const side *s) {
  for (uint32_t slot = 0; slot < s->tile->slot_count; slot++) {
    if (!fits_32_bits(s->element[slot].access.offset))
      return false;
  }
  return true;
}

/* Whether what is left of the offsets without the base is small, and does not depend on the tile. */
static bool is_shareable(tile_maker *maker, const tj_node *const rest[], uint32_t slots) {
  for (uint32_t slot = 0; slot < slots; slot++) {
    if (!fits_32_bits(rest[slot]) || depends_on_tile(maker, rest[slot]))
      return false;
  }
  return true;
}

/* Takes the base, which all elements of a tile share, out of their offsets, where these are large and it comes out.
 */
static void share_base(tile_maker *maker, side *s) {
  tj_graph *graph = maker->graph;
  uint32_t slots = s->tile->slot_count;
  const tj_node **rest = TJ_NEW_ARRAY(graph->job, const tj_node *, slots);
  if (are_small(s))
    return;
  s->base = tj_simplified(graph, s->base);
  for (uint32_t slot = 0; slot < slots; slot++)
    rest[slot] = tj_sub(graph, s->element[slot].access.offset, s->base);
  tj_simplify(graph, rest, slots, NULL);
  if (!is_shareable(maker, rest, slots))
    return;
  for (uint32_t slot = 0; slot < slots; slot++) {
    s->element[slot].access.base = s->base;
    s->element[slot].access.offset = rest[slot];
  }
}

static void simplify_side(tile_maker *maker, side *s) {
  uint32_t slots = s->tile->slot_count;
  const tj_node **root = TJ_NEW_ARRAY(maker->graph->job, const tj_node *, 2 * (size_t)slots);
  for (uint32_t slot = 0; slot < slots; slot++) {
    root[slot] = s->element[slot].access.offset;
    root[slots + slot] = s->element[slot].access.valid;
  }
  tj_simplify(maker->graph, root, 2 * (size_t)slots, NULL);
  for (uint32_t slot = 0; slot < slots; slot++) {
    s->element[slot].access.offset = root[slot];
    s->element[slot].access.valid = root[slots + slot];
  }
  share_base(maker, s);
}

/* --- vectors --- */

/* Whether an offset is `distance` beyond an aligned one: by sums, or, of swizzled ones, by bits. */
static bool is_next(tj_graph *graph, const tj_node *first, const tj_node *node, uint32_t distance, uint32_t width) {
  const tj_node *vector = tj_int(graph, width);
  if (tj_prove_equal(graph, node, tj_add(graph, first, tj_int(graph, distance))))
    return true;
  return tj_is_int(tj_simplified(graph, tj_mod(graph, node, vector)), distance) &&
         tj_simplified(graph, tj_div(graph, node, vector)) == tj_simplified(graph, tj_div(graph, first, vector));
}

/* Whether offsets[0 … width-1] are neighbours from an aligned one on. */
static bool are_neighbours(tj_graph *graph, const tj_node *const offset[], uint32_t width) {
  if (!tj_facts_divisible(&offset[0]->facts, width))
    return false;
  for (uint32_t k = 1; k < width; k++) {
    if (!is_next(graph, offset[0], offset[k], k, width))
      return false;
  }
  return true;
}

/* Whether the digits of `width` slots along a mode are all inside the extent, or none is. */
static bool share_edge(tj_graph *graph, const tj_node *const digit[], const tj_node *extent, uint32_t width) {
  bool is_same = true;
  for (uint32_t k = 1; k < width; k++)
    is_same = is_same && digit[k] == digit[0];
  return is_same || (tj_facts_divisible(&extent->facts, width) && are_neighbours(graph, digit, width));
}

/* Whether slots are evenly far apart, so that one step can name them. */
static bool are_even(const uint32_t order[], uint32_t width) {
  for (uint32_t k = 2; k < width; k++) {
    if (order[k] - order[k - 1] != order[1] - order[0])
      return false;
  }
  return true;
}

static bool share_edges(tile_maker *maker, const side *s, const uint32_t order[], uint32_t width) {
  if (!s->has_edges)
    return true;
  const tj_node **digit = TJ_NEW_ARRAY(maker->graph->job, const tj_node *, width);
  for (uint32_t m = 0; m < mode_count(maker); m++) {
    for (uint32_t k = 0; k < width; k++)
      digit[k] = s->element[order[k]].digit[m];
    if (has_edge(maker, m) && !share_edge(maker->graph, digit, maker->tiling->domain->mode[m].extent, width))
      return false;
  }
  return true;
}

static bool is_base_even(const element *first, uint32_t width) {
  return first->access.base == NULL || tj_facts_divisible(&first->access.base->facts, width);
}

/* Whether the slots order[0 … width-1] are one vector. */
static bool is_vector(tile_maker *maker, const side *s, const uint32_t order[], uint32_t width) {
  const element *first = &s->element[order[0]];
  const tj_node **offset = TJ_NEW_ARRAY(maker->graph->job, const tj_node *, width);
  for (uint32_t k = 0; k < width; k++) {
    const element *other = &s->element[order[k]];
    offset[k] = other->access.offset;
    if (other->access.valid != first->access.valid)
      return false;
    if (s->tile->active != NULL && s->tile->active[order[k]] != s->tile->active[order[0]])
      return false;
  }
  bool is_never = tj_is_int(first->access.valid, 0);
  return are_even(order, width) &&
         (is_never || (is_base_even(first, width) && are_neighbours(maker->graph, offset, width) &&
                       share_edges(maker, s, order, width)));
}

static bool are_vectors(tile_maker *maker, const side *s, const uint32_t order[], uint32_t width) {
  uint32_t slots = s->tile->slot_count;
  if (slots % width != 0)
    return false;
  for (uint32_t i = 0; i < slots; i += width) {
    if (!is_vector(maker, s, order + i, width))
      return false;
  }
  return true;
}

static uint32_t bytes_of(const tile_maker *maker, uint32_t buffer) {
  return tj_dtype_bits(buffer == TJ_LDS ? maker->kernel->carried : maker->kernel->buffer[buffer].dtype) / 8;
}

static uint32_t widest_of(const tile_maker *maker, uint32_t buffer) {
  uint32_t bytes = bytes_of(maker, buffer);
  return bytes < maker->target->vector_bytes ? maker->target->vector_bytes / bytes : 1;
}

/* The widest vectors that the side's slots make in its order. */
static void widen(tile_maker *maker, side *s, uint32_t buffer) {
  s->width = widest_of(maker, buffer);
  while (s->width > 1 && !are_vectors(maker, s, s->order, s->width))
    s->width /= 2;
}

static void choose_vectors(tile_maker *maker, side *s, uint32_t buffer) {
  side best = {.width = 0};
  for (uint32_t i = 0; i < s->tile->order_count; i++) {
    s->order = s->tile->order[i];
    widen(maker, s, buffer);
    if (s->width > best.width)
      best = *s;
  }
  *s = best;
}

/* --- steps --- */

static tj_kernel_step *add_step(tile_maker *maker, tj_step_kind kind) {
  tj_kernel_step *step = &maker->step[maker->step_count++];
  *step = (tj_kernel_step){.kind = kind};
  return step;
}

static void add_vector(tile_maker *maker, tj_step_kind kind, tj_access access, const uint32_t order[],
                       uint32_t width) {
  tj_kernel_step *step = add_step(maker, kind);
  tj_displaced parts = tj_displace(maker->graph, access.offset);
  uint32_t limit = access.buffer == TJ_LDS ? UINT32_MAX : maker->target->displacement_limit;
  if (parts.displacement < limit / bytes_of(maker, access.buffer)) {
    access.offset = parts.rest;
    access.displacement = parts.displacement;
  }
  step->access = access;
  step->width = width;
  step->slot = order[0];
  step->slot_step = width > 1 ? order[1] - order[0] : 1;
}

static const tj_node *active_of(const tile_maker *maker, const side *s, uint32_t slot) {
  return s->tile->active != NULL ? s->tile->active[slot] : tj_int(maker->graph, 1);
}

/* Where the element of a slot is in its view, and, unless the whole tile is, in the domain. */
static const tj_node *predicate_of(tile_maker *maker, const side *s, uint32_t slot) {
  tj_graph *graph = maker->graph;
  const element *e = &s->element[slot];
  const tj_node *truth = active_of(maker, s, slot);
  for (uint32_t m = 0; m < mode_count(maker) && !maker->is_inner; m++) {
    if (has_edge(maker, m))
      truth = both(graph, truth, tj_less(graph, e->digit[m], maker->tiling->domain->mode[m].extent));
  }
  return both(graph, truth, e->access.valid);
}

static void add_side(tile_maker *maker, const side *s, tj_step_kind kind) {
  for (uint32_t i = 0; i < s->tile->slot_count; i += s->width) {
    tj_access access = s->element[s->order[i]].access;
    access.valid = predicate_of(maker, s, s->order[i]);
    add_vector(maker, kind, access, s->order + i, s->width);
  }
}

/* --- staging --- */

/* Row or column of an element in the tile: the linear coordinate over some of the modes. */
static const tj_node *line_of(tile_maker *maker, const tj_node *const digit[], bool columns) {
  tj_graph *graph = maker->graph;
  const tj_node *sum = tj_int(graph, 0);
  int64_t scale = 1;
  for (uint32_t m = 0; m < mode_count(maker); m++) {
    if (((maker->tiling->columns >> m) & 1) != columns)
      continue;
    sum = tj_add(graph, sum, tj_mul(graph, digit[m], tj_int(graph, scale)));
    scale *= maker->tiling->extent[m];
  }
  return sum;
}

static uint32_t line_count(const tile_maker *maker, bool columns) {
  int64_t count = 1;
  for (uint32_t m = 0; m < mode_count(maker); m++) {
    if (((maker->tiling->columns >> m) & 1) == columns)
      count *= maker->tiling->extent[m];
  }
  return (uint32_t)count;
}

/* How many rows lie side by side in LDS, so that no row is shorter than its banks are wide. */
static uint32_t rows_together(const tile_maker *maker) {
  enum { BANK_ROW_BYTES = 128 };
  uint32_t columns = line_count(maker, true), rows = line_count(maker, false), together = 1;
  while (columns * together * bytes_of(maker, TJ_LDS) < BANK_ROW_BYTES && rows % (2 * together) == 0)
    together *= 2;
  return together;
}

/* Rows and columns of a side's elements, by slot. */
typedef struct {
  const tj_node **row, **column;
} tile_lines;

static tile_lines lines_of(tile_maker *maker, const side *s) {
  tj_graph *graph = maker->graph;
  uint32_t slots = s->tile->slot_count;
  const tj_node *columns = tj_int(graph, line_count(maker, true)), *together = tj_int(graph, rows_together(maker));
  const tj_node **node = TJ_NEW_ARRAY(graph->job, const tj_node *, 2 * (size_t)slots);
  for (uint32_t slot = 0; slot < slots; slot++) {
    const tj_node *row = line_of(maker, s->tile->digit[slot], false);
    const tj_node *column = line_of(maker, s->tile->digit[slot], true);
    node[slot] = tj_div(graph, row, together);
    node[slots + slot] = tj_add(graph, column, tj_mul(graph, tj_mod(graph, row, together), columns));
  }
  tj_simplify(graph, node, 2 * slots, NULL);
  return (tile_lines){node, node + slots};
}

/* Values of an expression for the work-items of the first wave. */
static void of_wave(tile_maker *maker, const tj_node *node, int64_t values[TJ_BANK_LANES]) {
  tj_job *job = maker->graph->job;
  uint32_t symbols = maker->graph->symbol_count;
  int64_t *value = TJ_NEW_ARRAY(job, int64_t, symbols);
  tj_bindings bindings = {.value = value, .count = symbols};
  tj_evaluator *evaluator;
  if (tj_evaluator_create(&node, 1, &evaluator) != TJ_EVAL_OK)
    tj_fail_out_of_memory(job);
  tj_eval_status status = TJ_EVAL_OK;
  for (uint32_t lane = 0; lane < maker->target->wave_size && status == TJ_EVAL_OK; lane++) {
    value[maker->tiling->item->symbol->index] = lane;
    status = tj_evaluator_run(evaluator, &bindings, &values[lane]);
  }
  tj_evaluator_destroy(evaluator);
  if (status != TJ_EVAL_OK)
    tj_fail_eval(job, status);
}

/* How a side could move its elements to or from LDS: its widest runs along a row or a column, in any of its orders.
 */
typedef struct {
  const uint32_t *order;
  uint32_t width;
  tj_stage_direction direction;
} stage_way;

static bool runs_along(tile_maker *maker, const tj_node *const along[], const tj_node *const across[],
                       const uint32_t order[], uint32_t slots, uint32_t width) {
  for (uint32_t i = 0; i < slots; i++) {
    uint32_t first = order[i - i % width];
    const tj_node *expected = tj_add(maker->graph, along[first], tj_int(maker->graph, i % width));
    if (across[order[i]] != across[first] || !tj_facts_divisible(&along[first]->facts, width) ||
        !tj_prove_equal(maker->graph, along[order[i]], expected))
      return false;
  }
  return true;
}

static stage_way find_way(tile_maker *maker, const side *s, const tile_lines *lines) {
  for (uint32_t width = widest_of(maker, TJ_LDS); width > 1; width /= 2) {
    for (uint32_t i = 0; i < s->tile->order_count && s->tile->slot_count % width == 0; i++) {
      const uint32_t *order = s->tile->order[i];
      if (runs_along(maker, lines->column, lines->row, order, s->tile->slot_count, width))
        return (stage_way){order, width, TJ_STAGE_ROW};
    }
  }
  return (stage_way){s->order, 1, TJ_STAGE_ROW};
}

/* What the first wave moves as its vector from place `at` of the order on. */
static tj_stage_access stage_access(tile_maker *maker, const side *s, const tile_lines *lines, const stage_way *way,
                                    uint32_t at, bool is_store) {
  tj_job *job = maker->graph->job;
  uint32_t slot = way->order[at], lanes = maker->target->wave_size;
  uint32_t *row = TJ_NEW_ARRAY(job, uint32_t, TJ_BANK_LANES), *column = TJ_NEW_ARRAY(job, uint32_t, TJ_BANK_LANES);
  tj_stage_access access = {
      .is_store = is_store, .direction = way->direction, .elements = way->width, .row = row, .column = column};
  int64_t active[TJ_BANK_LANES], rows[TJ_BANK_LANES], columns[TJ_BANK_LANES];
  of_wave(maker, active_of(maker, s, slot), active);
  of_wave(maker, lines->row[slot], rows);
  of_wave(maker, lines->column[slot], columns);
  for (uint32_t lane = 0; lane < lanes && lane < maker->tiling->workgroup_size; lane++) {
    access.active |= (uint64_t)(active[lane] != 0) << lane;
    row[lane] = active[lane] != 0 ? (uint32_t)rows[lane] : 0;
    column[lane] = active[lane] != 0 ? (uint32_t)columns[lane] : 0;
  }
  return access;
}

/* The others of a wave's vectors lie like the first two. */
static void add_stage_accesses(tile_maker *maker, const side *s, const tile_lines *lines, tj_stage_access access[],
                               uint32_t *count, bool is_store) {
  enum { MOST_ACCESSES = 2 };
  stage_way way = find_way(maker, s, lines);
  for (uint32_t i = 0; i < MOST_ACCESSES && i * way.width < s->tile->slot_count; i++)
    access[(*count)++] = stage_access(maker, s, lines, &way, i * way.width, is_store);
}

/* On machines without banks, rows one after the other. */
static bool plain_stage(const tj_stage_tile *tile, tj_stage_choice *choice) {
  uint64_t bytes = (uint64_t)tile->rows * tile->columns * tile->element_bytes;
  *choice = (tj_stage_choice){
      .layout = {.direction = TJ_STAGE_ROW, .pitch = tile->columns, .vector = 1, .bytes = (uint32_t)bytes}};
  return bytes <= tile->limit;
}

static bool choose_stage(tile_maker *maker, const tile_lines *loaded, const tile_lines *stored,
                         tj_stage_choice *choice) {
  uint32_t slots = maker->tiling->load.slot_count + maker->tiling->store.slot_count, count = 0;
  tj_stage_access *access = TJ_NEW_ARRAY(maker->graph->job, tj_stage_access, slots);
  add_stage_accesses(maker, &maker->load, loaded, access, &count, true);
  add_stage_accesses(maker, &maker->store, stored, access, &count, false);
  tj_stage_tile tile = {.element_bytes = bytes_of(maker, TJ_LDS),
                        .rows = line_count(maker, false) / rows_together(maker),
                        .columns = line_count(maker, true) * rows_together(maker),
                        .access = access,
                        .access_count = count,
                        .limit = maker->target->lds_bytes};
  const tj_bank_model *model = tj_bank_model_of(maker->target->processor);
  return model != NULL ? tj_stage_search(maker->graph->job, model, &tile, choice) : plain_stage(&tile, choice);
}

/* Whether the lines of two slots are neighbours in the direction in which the layout keeps vectors together. */
static bool are_together(tile_maker *maker, const tj_stage_layout *layout, const tile_lines *lines, uint32_t first,
                         uint32_t other, uint32_t distance) {
  bool by_row = layout->direction == TJ_STAGE_ROW;
  const tj_node **along = by_row ? lines->column : lines->row, **across = by_row ? lines->row : lines->column;
  tj_graph *graph = maker->graph;
  return across[first] == across[other] && tj_facts_divisible(&along[first]->facts, layout->vector) &&
         tj_prove_equal(graph, along[other], tj_add(graph, along[first], tj_int(graph, distance)));
}

/* The elements of a side where they are in LDS, in an order that the side's slots may be put in. */
static void place_staged(tile_maker *maker, side *s, const tile_lines *lines, const tj_stage_layout *layout) {
  uint32_t slots = s->tile->slot_count;
  const tj_node **offset = TJ_NEW_ARRAY(maker->graph->job, const tj_node *, slots);
  for (uint32_t i = 0; i < slots; i++) {
    uint32_t distance = i % layout->vector, slot = s->order[i], first = s->order[i - distance];
    bool follows = distance > 0 && are_together(maker, layout, lines, first, slot, distance);
    offset[slot] = follows ? tj_add(maker->graph, offset[first], tj_int(maker->graph, distance))
                           : tj_stage_offset(maker->graph, layout, lines->row[slot], lines->column[slot]);
    offset[slot] = tj_simplified(maker->graph, offset[slot]);
  }
  for (uint32_t slot = 0; slot < slots; slot++)
    s->element[slot].access =
        (tj_access){.buffer = TJ_LDS, .offset = offset[slot], .valid = active_of(maker, s, slot)};
}

/* A side's slots in LDS: the first order in which most stay together. */
static side staged(tile_maker *maker, const side *s, const tile_lines *lines, const tj_stage_layout *layout) {
  side best = {.width = 0};
  for (uint32_t i = 0; i < s->tile->order_count; i++) {
    side next = {.tile = s->tile, .order = s->tile->order[i], .width = 1};
    next.element = TJ_NEW_ARRAY(maker->graph->job, element, s->tile->slot_count);
    place_staged(maker, &next, lines, layout);
    widen(maker, &next, TJ_LDS);
    if (next.width > best.width)
      best = next;
  }
  return best;
}

static void add_staged(tile_maker *maker, const side *s, tj_step_kind kind) {
  for (uint32_t i = 0; i < s->tile->slot_count; i += s->width)
    add_vector(maker, kind, s->element[s->order[i]].access, s->order + i, s->width);
}

/* Finds the way through LDS; false where the tile does not fit there. */
static bool plan_stage(tile_maker *maker) {
  tile_lines loaded = lines_of(maker, &maker->load), stored = lines_of(maker, &maker->store);
  if (!choose_stage(maker, &loaded, &stored, &maker->stage))
    return false;
  maker->in = staged(maker, &maker->load, &loaded, &maker->stage.layout);
  maker->out = staged(maker, &maker->store, &stored, &maker->stage.layout);
  maker->kernel->lds_elements = maker->stage.layout.bytes / bytes_of(maker, TJ_LDS);
  return true;
}

/* --- kernels --- */

static uint32_t most_slots(const tj_tiling *tiling) {
  uint32_t loads = tiling->load.slot_count, stores = tiling->store.slot_count;
  return loads > stores ? loads : stores;
}

static const tj_node *const *assumed_parameters(tj_graph *graph, const tj_kernel *flat,
                                                const tj_substitution *assumed) {
  const tj_node **parameters = TJ_NEW_ARRAY(graph->job, const tj_node *, flat->parameter_count + 1);
  for (uint32_t i = 0; i < flat->parameter_count; i++)
    parameters[i] = flat->parameter[i];
  tj_substitute(graph, assumed, parameters, flat->parameter_count);
  return parameters;
}

static tj_kernel *new_kernel(tj_graph *graph, const tj_kernel *flat, const tj_tiling *tiling) {
  tj_kernel *kernel = TJ_NEW(graph->job, tj_kernel);
  *kernel = *flat;
  kernel->index = NULL;
  kernel->faster = NULL;
  kernel->condition = NULL;
  kernel->parameter = assumed_parameters(graph, flat, tiling->assumed);
  kernel->item = tiling->item;
  kernel->workgroup_size = tiling->workgroup_size;
  kernel->slot_count = most_slots(tiling);
  return kernel;
}

static void add_steps(tile_maker *maker) {
  maker->step = TJ_NEW_ARRAY(maker->graph->job, tj_kernel_step, 4 * (size_t)most_slots(maker->tiling) + 1);
  maker->step_count = 0;
  add_side(maker, &maker->load, TJ_STEP_LOAD);
  if (maker->tiling->is_staged) {
    add_staged(maker, &maker->in, TJ_STEP_STORE);
    add_step(maker, TJ_STEP_BARRIER);
    add_staged(maker, &maker->out, TJ_STEP_LOAD);
  }
  add_side(maker, &maker->store, TJ_STEP_STORE);
}

/* Whether a tile is all inside the domain; NULL: every tile is, without looking. */
static const tj_node *inner_truth(tile_maker *maker) {
  tj_graph *graph = maker->graph;
  const tj_node *truth = NULL;
  for (uint32_t m = 0; m < mode_count(maker); m++) {
    if (!has_edge(maker, m))
      continue;
    const tj_node *end = tj_add(graph, maker->base[m], tj_int(graph, maker->tiling->extent[m]));
    const tj_node *fits = tj_less_equal(graph, end, maker->tiling->domain->mode[m].extent);
    truth = truth == NULL ? fits : tj_and(graph, truth, fits);
  }
  return truth != NULL ? tj_simplified(graph, truth) : NULL;
}

/* Tiles inside the domain do without masks, unless all tiles are at its edge. Element by element, that does not pay
 * for the code. */
static void add_inner_steps(tile_maker *maker) {
  tj_kernel *kernel = maker->kernel;
  if (maker->load.width == 1 && maker->store.width == 1)
    return;
  kernel->inner = inner_truth(maker);
  if (kernel->inner == NULL || tj_is_constant(kernel->inner)) {
    kernel->inner = NULL;
    return;
  }
  maker->is_inner = true;
  add_steps(maker);
  kernel->inner_step = maker->step;
  kernel->inner_step_count = maker->step_count;
  maker->is_inner = false;
}

tj_kernel *tj_tile_kernel(tj_graph *graph, const tj_kernel *flat, const tj_tiling *tiling, const tj_target *target) {
  tile_maker maker = {.graph = graph, .tiling = tiling, .target = target, .kernel = new_kernel(graph, flat, tiling)};
  place_tile(&maker);
  make_elements(&maker, &maker.load, &tiling->load, true);
  make_elements(&maker, &maker.store, &tiling->store, false);
  simplify_side(&maker, &maker.load);
  simplify_side(&maker, &maker.store);
  choose_vectors(&maker, &maker.load, tiling->source);
  choose_vectors(&maker, &maker.store, tiling->destination);
  if (tiling->is_staged && !plan_stage(&maker))
    return NULL;
  add_inner_steps(&maker);
  add_steps(&maker);
  maker.kernel->step = maker.step;
  maker.kernel->step_count = maker.step_count;
  tj_kernel_simplify(graph, maker.kernel, NULL);
  return maker.kernel;
}
