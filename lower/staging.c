/* From the digits of a tile's slots to rows and columns, to what a wave moves at a time, to a layout in LDS. */
#include "lower/staging.h"

#include "ir/eval.h"
#include "ir/facts.h"
#include "ir/simplify.h"

typedef struct {
  tj_graph *graph;
  const tj_tiling *tiling;
  const tj_target *target;
  uint32_t element_bytes;
  uint32_t widest; /* elements of a vector */
} stager;

static int64_t room_along(const stager *st, uint32_t mode) {
  return st->tiling->room != NULL ? st->tiling->room[mode] : st->tiling->extent[mode];
}

static const tj_node *const *place_of(const tj_side *s, uint32_t slot) {
  return s->tile->place != NULL ? s->tile->place[slot] : s->tile->digit[slot];
}

/* Row or column of an element in the tile: the linear coordinate over some of the modes. */
static const tj_node *line_of(stager *st, const tj_node *const digit[], bool columns) {
  tj_graph *graph = st->graph;
  const tj_node *sum = tj_int(graph, 0);
  int64_t scale = 1;
  for (uint32_t m = 0; m < st->tiling->domain->count; m++) {
    if (((st->tiling->columns >> m) & 1) != columns)
      continue;
    sum = tj_add(graph, sum, tj_mul(graph, digit[m], tj_int(graph, scale)));
    scale *= room_along(st, m);
  }
  return sum;
}

static uint32_t line_count(const stager *st, bool columns) {
  int64_t count = 1;
  for (uint32_t m = 0; m < st->tiling->domain->count; m++) {
    if (((st->tiling->columns >> m) & 1) == columns)
      count *= room_along(st, m);
  }
  return (uint32_t)count;
}

/* How many rows lie side by side in LDS, so that no row is shorter than its banks are wide. */
static uint32_t rows_together(const stager *st) {
  enum { BANK_ROW_BYTES = 128 };
  uint32_t columns = line_count(st, true), rows = line_count(st, false), together = 1;
  while (columns * together * st->element_bytes < BANK_ROW_BYTES && rows % (2 * together) == 0)
    together *= 2;
  return together;
}

/* Rows and columns of a side's elements, by slot. */
typedef struct {
  const tj_node **row, **column;
} tile_lines;

static tile_lines lines_of(stager *st, const tj_side *s) {
  tj_graph *graph = st->graph;
  uint32_t slots = s->tile->slot_count;
  const tj_node *columns = tj_int(graph, line_count(st, true)), *together = tj_int(graph, rows_together(st));
  const tj_node **node = TJ_NEW_ARRAY(graph->job, const tj_node *, 2 * (size_t)slots);
  for (uint32_t slot = 0; slot < slots; slot++) {
    const tj_node *row = line_of(st, place_of(s, slot), false);
    const tj_node *column = line_of(st, place_of(s, slot), true);
    node[slot] = tj_div(graph, row, together);
    node[slots + slot] = tj_add(graph, column, tj_mul(graph, tj_mod(graph, row, together), columns));
  }
  tj_simplify(graph, node, 2 * slots, NULL);
  return (tile_lines){node, node + slots};
}

/* Values of an expression for the work-items of the first wave. */
static void of_wave(stager *st, const tj_node *node, int64_t values[TJ_BANK_LANES]) {
  tj_job *job = st->graph->job;
  uint32_t symbols = st->graph->symbol_count;
  int64_t *value = TJ_NEW_ARRAY(job, int64_t, symbols);
  tj_bindings bindings = {.value = value, .count = symbols};
  tj_evaluator *evaluator;
  if (tj_evaluator_create(&node, 1, &evaluator) != TJ_EVAL_OK)
    tj_fail_out_of_memory(job);
  tj_eval_status status = TJ_EVAL_OK;
  for (uint32_t lane = 0; lane < st->target->wave_size && status == TJ_EVAL_OK; lane++) {
    value[st->tiling->item->symbol->index] = lane;
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

static bool runs_along(stager *st, const tj_node *const along[], const tj_node *const across[],
                       const uint32_t order[], uint32_t slots, uint32_t width) {
  for (uint32_t i = 0; i < slots; i++) {
    uint32_t first = order[i - i % width];
    const tj_node *expected = tj_add(st->graph, along[first], tj_int(st->graph, i % width));
    if (across[order[i]] != across[first] || !tj_facts_divisible(&along[first]->facts, width) ||
        !tj_prove_equal(st->graph, along[order[i]], expected))
      return false;
  }
  return true;
}

static stage_way find_way(stager *st, const tj_side *s, const tile_lines *lines) {
  for (uint32_t width = st->widest; width > 1; width /= 2) {
    for (uint32_t i = 0; i < s->tile->order_count && s->tile->slot_count % width == 0; i++) {
      const uint32_t *order = s->tile->order[i];
      if (runs_along(st, lines->column, lines->row, order, s->tile->slot_count, width))
        return (stage_way){order, width, TJ_STAGE_ROW};
    }
  }
  return (stage_way){s->order, 1, TJ_STAGE_ROW};
}

/* What the first wave moves as its vector from place `at` of the order on. */
static tj_stage_access stage_access(stager *st, const tj_side *s, const tile_lines *lines, const stage_way *way,
                                    uint32_t at, bool is_store) {
  tj_job *job = st->graph->job;
  uint32_t slot = way->order[at], lanes = st->target->wave_size;
  uint32_t *row = TJ_NEW_ARRAY(job, uint32_t, TJ_BANK_LANES), *column = TJ_NEW_ARRAY(job, uint32_t, TJ_BANK_LANES);
  tj_stage_access access = {
      .is_store = is_store, .direction = way->direction, .elements = way->width, .row = row, .column = column};
  int64_t active[TJ_BANK_LANES], rows[TJ_BANK_LANES], columns[TJ_BANK_LANES];
  of_wave(st, tj_side_active(st->graph, s, slot), active);
  of_wave(st, lines->row[slot], rows);
  of_wave(st, lines->column[slot], columns);
  for (uint32_t lane = 0; lane < lanes && lane < st->tiling->workgroup_size; lane++) {
    access.active |= (uint64_t)(active[lane] != 0) << lane;
    row[lane] = active[lane] != 0 ? (uint32_t)rows[lane] : 0;
    column[lane] = active[lane] != 0 ? (uint32_t)columns[lane] : 0;
  }
  return access;
}

/* The others of a wave's vectors lie like the first two. */
static void add_stage_accesses(stager *st, const tj_side *s, const tile_lines *lines, tj_stage_access access[],
                               uint32_t *count, bool is_store) {
  enum { MOST_ACCESSES = 2 };
  stage_way way = find_way(st, s, lines);
  for (uint32_t i = 0; i < MOST_ACCESSES && i * way.width < s->tile->slot_count; i++)
    access[(*count)++] = stage_access(st, s, lines, &way, i * way.width, is_store);
}

/* On machines without banks, rows one after the other. */
static bool plain_stage(const tj_stage_tile *tile, tj_stage_choice *choice) {
  uint64_t bytes = (uint64_t)tile->rows * tile->columns * tile->element_bytes;
  *choice = (tj_stage_choice){
      .layout = {.direction = TJ_STAGE_ROW, .pitch = tile->columns, .vector = 1, .bytes = (uint32_t)bytes}};
  return bytes <= tile->limit;
}

static bool choose_stage(stager *st, const tj_side *load, const tj_side *store, const tile_lines *loaded,
                         const tile_lines *stored, tj_stage_choice *choice) {
  uint32_t slots = st->tiling->load.slot_count + st->tiling->store.slot_count, count = 0;
  tj_stage_access *access = TJ_NEW_ARRAY(st->graph->job, tj_stage_access, slots);
  add_stage_accesses(st, load, loaded, access, &count, true);
  add_stage_accesses(st, store, stored, access, &count, false);
  tj_stage_tile tile = {.element_bytes = st->element_bytes,
                        .rows = line_count(st, false) / rows_together(st),
                        .columns = line_count(st, true) * rows_together(st),
                        .access = access,
                        .access_count = count,
                        .limit = st->target->lds_bytes};
  const tj_bank_model *model = tj_bank_model_of(st->target->processor);
  return model != NULL ? tj_stage_search(st->graph->job, model, &tile, choice) : plain_stage(&tile, choice);
}

/* Whether the lines of two slots are neighbours in the direction in which the layout keeps vectors together. */
static bool are_together(stager *st, const tj_stage_layout *layout, const tile_lines *lines, uint32_t first,
                         uint32_t other, uint32_t distance) {
  bool by_row = layout->direction == TJ_STAGE_ROW;
  const tj_node **along = by_row ? lines->column : lines->row, **across = by_row ? lines->row : lines->column;
  tj_graph *graph = st->graph;
  return across[first] == across[other] && tj_facts_divisible(&along[first]->facts, layout->vector) &&
         tj_prove_equal(graph, along[other], tj_add(graph, along[first], tj_int(graph, distance)));
}

/* The elements of a side where they are in LDS, in an order that the side's slots may be put in. */
static void place_staged(stager *st, tj_side *s, const tile_lines *lines, const tj_stage_layout *layout) {
  uint32_t slots = s->tile->slot_count;
  const tj_node **offset = TJ_NEW_ARRAY(st->graph->job, const tj_node *, slots);
  for (uint32_t i = 0; i < slots; i++) {
    uint32_t distance = i % layout->vector, slot = s->order[i], first = s->order[i - distance];
    bool follows = distance > 0 && are_together(st, layout, lines, first, slot, distance);
    offset[slot] = follows ? tj_add(st->graph, offset[first], tj_int(st->graph, distance))
                           : tj_stage_offset(st->graph, layout, lines->row[slot], lines->column[slot]);
    offset[slot] = tj_simplified(st->graph, offset[slot]);
  }
  for (uint32_t slot = 0; slot < slots; slot++)
    s->element[slot].access =
        (tj_access){.buffer = TJ_LDS, .offset = offset[slot], .valid = tj_side_active(st->graph, s, slot)};
}

/* A side's slots in LDS: the first order in which most stay together. */
static tj_side staged(stager *st, const tj_side *s, const tile_lines *lines, const tj_stage_layout *layout) {
  tj_side best = {.width = 0};
  for (uint32_t i = 0; i < s->tile->order_count; i++) {
    tj_side next = {.tile = s->tile, .order = s->tile->order[i], .width = 1};
    next.element = TJ_NEW_ARRAY(st->graph->job, tj_tile_element, s->tile->slot_count);
    place_staged(st, &next, lines, layout);
    tj_side_widen(st->graph, st->tiling->domain, &next, st->widest, TJ_ALIGNED);
    if (next.width > best.width)
      best = next;
  }
  return best;
}

bool tj_plan_staging(tj_graph *graph, const tj_tiling *tiling, const tj_target *target, uint32_t element_bytes,
                     const tj_side *load, const tj_side *store, tj_staging *staging) {
  uint32_t widest = element_bytes < target->vector_bytes ? target->vector_bytes / element_bytes : 1;
  stager st = {graph, tiling, target, element_bytes, widest};
  tile_lines loaded = lines_of(&st, load), stored = lines_of(&st, store);
  if (!choose_stage(&st, load, store, &loaded, &stored, &staging->choice))
    return false;
  staging->in = staged(&st, load, &loaded, &staging->choice.layout);
  staging->out = staged(&st, store, &stored, &staging->choice.layout);
  return true;
}
