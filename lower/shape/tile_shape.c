/* SPDX-License-Identifier: MIT */
/* The search: along the first modes of either side, as far as a tile may reach, every cut that covers a mode evenly;
 * of all pairs of these, those of least cost. */
#include "lower/shape/tile_shape.h"

#include "base/integer.h"
#include "base/machine/bank.h"
#include "base/number/keys.h"
#include "base/number/power.h"
#include "lower/access/price.h"

#include <math.h>
#include <string.h>

enum {
  MOST_CUTS = 40,
  MOST_REACHES = 96,
  WORK_ITEMS_STEP = 64, /* waves of every machine */
  LEAST_WORK_ITEMS = 256,
  MOST_WORK_ITEMS = 1024,
  MOST_PASSES = 6,
  MOST_KNOWN = 1024,
  LEAST_RUN = 32,  /* bytes, of what is more than one tile */
  MOST_BLOCK = 64, /* elements of a block of loads */
  VECTOR_BYTES = 16
};

typedef struct {
  int64_t extent[TJ_SHAPE_MOST_MODES];
} reach;

/* --- the parts of a shape --- */

int64_t tj_shape_room(const tj_tile_shape *shape, uint32_t mode) {
  return tj_rounded_up(shape->extent[mode], shape->unit[mode]);
}

static bool is_first(const tj_shape_problem *problem, uint32_t mode, tj_side_name side) {
  return problem->order[side][0] == mode;
}

static void set_unit(const tj_shape_problem *problem, tj_tile_shape *shape, tj_side_name side) {
  uint32_t first = problem->order[side][0];
  int64_t extent = shape->extent[first];
  int64_t unit =
      tj_least(problem->width[side], problem->tile != NULL ? tj_power_in(extent) : tj_power_within(extent));
  shape->unit[first] = unit > shape->unit[first] ? unit : shape->unit[first];
}

static void set_units(const tj_shape_problem *problem, tj_tile_shape *shape) {
  for (uint32_t m = 0; m < problem->count; m++)
    shape->unit[m] = 1;
  set_unit(problem, shape, TJ_SOURCE);
  set_unit(problem, shape, TJ_DESTINATION);
}

/* Elements that work-items take together along a mode. */
static int64_t scale_of(const tj_shape_problem *problem, const tj_tile_shape *shape, uint32_t mode,
                        tj_side_name side) {
  if (is_first(problem, mode, side))
    return shape->unit[mode];
  if (shape->is_direct)
    return side == TJ_DESTINATION && is_first(problem, mode, TJ_SOURCE) ? shape->unit[mode] : 1;
  bool is_deep = side == TJ_SOURCE && shape->is_staged && is_first(problem, mode, TJ_DESTINATION);
  return is_deep ? shape->depth : 1;
}

tj_shape_digits tj_shape_digits_of(const tj_shape_problem *problem, const tj_tile_shape *shape, tj_side_name side) {
  tj_shape_digits digits = {.digits = 0};
  for (uint32_t i = 0; i < problem->count; i++) {
    uint32_t mode = problem->order[side][i];
    int64_t scale = scale_of(problem, shape, mode, side), count = tj_shape_room(shape, mode) / scale;
    if (side == TJ_DESTINATION && shape->passes > 1 && mode == shape->split)
      count /= shape->passes;
    if (tj_shape_room(shape, mode) == 1)
      continue;
    digits.mode[digits.digits] = mode;
    digits.count[digits.digits] = count;
    digits.scale[digits.digits++] = scale;
  }
  return digits;
}

uint64_t tj_shape_columns(const tj_shape_problem *problem, tj_side_name side) {
  const uint32_t *own = problem->order[side], *other = problem->order[side == TJ_SOURCE ? TJ_DESTINATION : TJ_SOURCE];
  uint32_t parting = own[0] == other[0] && problem->count > 1 ? other[1] : other[0];
  uint64_t columns = 0;
  for (uint32_t i = 0; i < problem->count && own[i] != parting; i++)
    columns |= (uint64_t)1 << own[i];
  return columns;
}

/* --- cache lines --- */

/* How many of a side's modes a run may have whole: in registers, the source's come in the order of the destination;
 * where blocks are deep, one instruction takes only some of the coordinates along the destination's first mode. */
static uint32_t run_limit(const tj_shape_problem *problem, const tj_tile_shape *shape, tj_side_name side) {
  const uint32_t *order = problem->order[side];
  uint32_t limit = 0;
  if (side == TJ_DESTINATION || (shape->is_staged && shape->depth == 1))
    return problem->count;
  while (limit < problem->count && (shape->is_staged ? order[limit] != problem->order[TJ_DESTINATION][0]
                                                     : order[limit] == problem->order[TJ_DESTINATION][limit]))
    limit++;
  return limit;
}

/* How far the lanes of each wave reach along a mode after those that the destination has before it: 1 where waves
 * begin at different places of these. */
static int64_t reach_of_lanes(const tj_shape_problem *problem, const tj_tile_shape *shape, uint32_t mode) {
  int64_t lanes = problem->wave_size;
  for (uint32_t i = 0; i < problem->count && problem->order[TJ_DESTINATION][i] != mode; i++) {
    uint32_t before = problem->order[TJ_DESTINATION][i];
    int64_t units = tj_shape_room(shape, before) / scale_of(problem, shape, before, TJ_DESTINATION);
    lanes = lanes % units == 0 ? lanes / units : 1;
  }
  return tj_least(lanes, tj_power_in(shape->extent[mode]));
}

static tj_run run_of(const tj_shape_problem *problem, const tj_tile_shape *shape, tj_side_name side) {
  tj_run run = tj_run_of_element(problem->bytes[side], problem->line_bytes);
  uint32_t limit = run_limit(problem, shape, side);
  for (uint32_t i = 0; i < problem->count; i++) {
    uint32_t number = problem->order[side][i];
    const tj_shape_mode *mode = &problem->mode[number];
    int64_t part = i < limit ? shape->extent[number] : 1;
    if (i == limit && !shape->is_staged)
      part = reach_of_lanes(problem, shape, number);
    tj_run_along(&run, &mode->step[side], part, tj_shape_is_fixed(mode) && part == mode->extent);
  }
  return run;
}

/* Lines, or parts of them, that runs touch for each that their bytes fill. Work-items by themselves, without a wave,
 * find a line again that they touched before. */
static double lines_of(const tj_shape_problem *problem, const tj_run *run, int64_t line) {
  int64_t lanes = problem->wave_size > 1 ? problem->wave_size : 0;
  return (double)tj_run_lines(run, line, VECTOR_BYTES, lanes) / TJ_RUN_PARTS;
}

/* --- cost --- */

/* What a side touches, in lines, for each that its bytes fill. */
static double touching_cost(const tj_shape_problem *problem, tj_tile_shape *shape, tj_side_name side) {
  const tj_run run = run_of(problem, shape, side);
  const int64_t line = problem->line_bytes, sector = problem->sector_bytes > 0 ? problem->sector_bytes : line;
  const int64_t wave = problem->wave_size * VECTOR_BYTES;
  const double sectors = (double)line / (double)sector;
  tj_touched touched = {
      .lines = lines_of(problem, &run, line), .least_sectors = sectors, .runs = (double)line / (double)run.bytes};
  touched.sectors = sector == line ? touched.lines : sectors * lines_of(problem, &run, sector);
  shape->lines[side] = touched.lines;
  return tj_cost_of_touching(problem->costs, &touched, side == TJ_DESTINATION, sectors, (double)wave / (double)line);
}

/* What tiles cover for each element of the domain. */
static double cover_of(const tj_shape_problem *problem, const tj_tile_shape *shape) {
  double cover = 1;
  for (uint32_t m = 0; m < problem->count; m++) {
    if (tj_shape_is_fixed(&problem->mode[m]))
      cover *= (double)tj_rounded_up(problem->mode[m].extent, shape->extent[m]) / (double)problem->mode[m].extent;
  }
  return cover;
}

static int64_t volume_of(const tj_shape_problem *problem, const tj_tile_shape *shape) {
  int64_t volume = 1;
  for (uint32_t m = 0; m < problem->count; m++)
    volume *= tj_shape_room(shape, m);
  return volume;
}

/* What a side's work-items share out, however many there are. */
typedef struct {
  tj_shape_digits digits;
  int64_t elements; /* of a unit of all digits */
} shared_side;

static shared_side side_of(const tj_shape_problem *problem, const tj_tile_shape *shape, tj_side_name side) {
  shared_side shared = {tj_shape_digits_of(problem, shape, side), 1};
  for (uint32_t i = 0; i < shared.digits.digits; i++)
    shared.elements *= shared.digits.scale[i];
  return shared;
}

static void find_grid(const tj_shape_problem *problem, const shared_side *side, int64_t work_items,
                      tj_lane_grid *grid) {
  tj_lane_grid_make(side->digits.count, side->digits.digits, work_items, problem->lds_phase, grid);
}

/* What it costs that work-items store so many elements of a tile each, and that parts of them are of use on either
 * side. */
static double use_cost(const tj_shape_problem *problem, int64_t stored, double use, double other) {
  double idle = 0.5 / use + 0.5 / other - 1;
  return problem->costs->idle_lanes * idle +
         problem->costs->prologue * VECTOR_BYTES / (double)(stored * problem->carried_bytes);
}

/* Whether a work-item's elements stay in registers, and fill too many: a vector of less than a word has one by
 * itself. */
static bool fills_registers(const tj_shape_problem *problem, const tj_tile_shape *shape, int64_t held) {
  enum { WORD = 4, MOST_WORDS = 64 };
  const int64_t unit = shape->unit[problem->order[TJ_SOURCE][0]],
                words = tj_divided_up(unit * problem->carried_bytes, WORD);
  return !shape->is_staged && problem->wave_size > 1 && held / unit * words > MOST_WORDS;
}

/* What it costs to share the tile out among so many work-items, by a grid for what they store; infinite where they
 * cannot hold it, or where it is surely not less than `enough`. */
static double sharing_cost(const tj_shape_problem *problem, const tj_tile_shape *shape, const shared_side side[],
                           const tj_lane_grid *storing, double enough) {
  int64_t stored = storing->slots * side[TJ_DESTINATION].elements, held = stored;
  double use = tj_lane_grid_use(storing, shape->work_items), other = use;
  if (use_cost(problem, stored * shape->passes, use, 1) >= enough)
    return INFINITY;
  if (shape->is_staged) {
    tj_lane_grid loading;
    find_grid(problem, &side[TJ_SOURCE], shape->work_items, &loading);
    int64_t loaded = loading.slots * side[TJ_SOURCE].elements;
    held = loaded > held ? loaded : held;
    other = tj_lane_grid_use(&loading, shape->work_items);
  }
  if (held * problem->carried_bytes > problem->slot_bytes || held > problem->slot_limit ||
      fills_registers(problem, shape, held))
    return INFINITY;
  return use_cost(problem, stored * shape->passes, use, other);
}

/* What it costs in registers that work-items move elements that others move, too: lines are touched again. */
static double overlap_cost(const tj_shape_problem *problem, const tj_tile_shape *shape, const tj_lane_grid *storing) {
  return shape->is_staged ? 0 : problem->costs->beyond * (1 / tj_lane_grid_use(storing, storing->lanes) - 1);
}

/* The least that sharing out costs: work-items hold all that they can, and none is idle. */
static double least_sharing_cost(const tj_shape_problem *problem, const tj_tile_shape *shape) {
  return problem->costs->prologue * VECTOR_BYTES / (double)(problem->slot_bytes * shape->passes);
}

static int64_t greatest_depth(const tj_shape_problem *problem, const tj_tile_shape *shape) {
  uint32_t across = problem->order[TJ_DESTINATION][0], along = problem->order[TJ_SOURCE][0];
  int64_t depth = tj_least(shape->unit[across], VECTOR_BYTES / problem->carried_bytes);
  if (!shape->is_staged || across == along || depth < 1)
    return 1;
  while (depth > 1 && depth * shape->unit[along] > MOST_BLOCK)
    depth /= 2;
  return depth;
}

/* The best number of work-items; and the best of those by which stores take the tile out of LDS by whole phases,
 * should the former have conflicts. The costs are those of sharing out alone: infinite where there is no such number,
 * or it costs `enough`. */
static void share_out(const tj_shape_problem *problem, double enough, tj_tile_shape *shape, tj_tile_shape *whole) {
  const shared_side side[] = {side_of(problem, shape, TJ_SOURCE), side_of(problem, shape, TJ_DESTINATION)};
  tj_tile_shape trial = *shape;
  shape->cost = INFINITY;
  *whole = *shape;
  for (trial.work_items = LEAST_WORK_ITEMS;
       trial.work_items <= MOST_WORK_ITEMS && trial.work_items <= problem->workgroup_limit;
       trial.work_items += WORK_ITEMS_STEP) {
    tj_lane_grid storing;
    find_grid(problem, &side[TJ_DESTINATION], trial.work_items, &storing);
    double worst = shape->cost > whole->cost ? shape->cost : whole->cost;
    trial.cost = sharing_cost(problem, &trial, side, &storing, worst < enough ? worst : enough);
    trial.cost += overlap_cost(problem, &trial, &storing);
    if (trial.cost < shape->cost)
      *shape = trial;
    if (trial.cost < whole->cost && (!shape->is_staged || tj_lane_grid_keeps_phases(&storing)))
      *whole = trial;
  }
}

static double line_cost(const tj_shape_problem *problem, tj_tile_shape *shape) {
  double cost = 0, bytes = (double)(problem->bytes[TJ_SOURCE] + problem->bytes[TJ_DESTINATION]);
  for (tj_side_name side = TJ_SOURCE; side < TJ_SIDES; side++)
    cost += touching_cost(problem, shape, side) * (double)problem->bytes[side] / bytes;
  return cost * (1 + problem->costs->beyond * (cover_of(problem, shape) - 1));
}

/* The part of LDS that a tile of so many elements takes. */
static double lds_part(const tj_shape_problem *problem, const tj_tile_shape *shape, int64_t volume) {
  if (!shape->is_staged)
    return 0;
  return (double)(volume / shape->passes * problem->carried_bytes) / (double)problem->lds_bytes;
}

/* --- candidates --- */

/* What a workgroup holds in registers. */
static int64_t most_elements(const tj_shape_problem *problem) {
  return problem->tile_bytes / problem->carried_bytes;
}

typedef struct {
  reach item[MOST_REACHES];
  uint32_t count;
} reach_list;

static void add_cut(int64_t cuts[], uint32_t *count, int64_t cut) {
  for (uint32_t i = 0; i < *count; i++) {
    if (cuts[i] == cut)
      return;
  }
  if (*count < MOST_CUTS)
    cuts[(*count)++] = cut;
}

/* Cuts that divide a mode into 1, 2, 3 … tiles, of whole vectors or lines; powers of two where its extent is not
 * known. */
static uint32_t list_cuts(const tj_shape_problem *problem, uint32_t mode, int64_t most, int64_t cuts[]) {
  const tj_shape_mode *m = &problem->mode[mode];
  int64_t grain = 1;
  uint32_t count = 0;
  for (tj_side_name side = TJ_SOURCE; side < TJ_SIDES; side++) {
    if (is_first(problem, mode, side) && problem->width[side] > grain)
      grain = problem->width[side];
  }
  if (!tj_shape_is_fixed(m)) {
    for (int64_t cut = tj_power_within(tj_least(m->extent, most)); cut >= 1; cut /= 2)
      add_cut(cuts, &count, cut);
    return count;
  }
  for (int64_t tiles = tj_divided_up(m->extent, most); tiles <= m->extent; tiles += 1 + tiles / 4) {
    int64_t even = tj_divided_up(m->extent, tiles);
    add_cut(cuts, &count, tj_least(tj_rounded_up(even, grain), m->extent));
    add_cut(cuts, &count, tj_least(tj_rounded_up(even, 8 * grain), m->extent));
  }
  return count;
}

/* How far tiles may reach along a side's modes: as far as is given; or some of them whole, and the next one cut. */
static void list_reaches(const tj_shape_problem *problem, tj_side_name side, int64_t most, reach_list *list) {
  reach base;
  for (uint32_t m = 0; m < problem->count; m++)
    base.extent[m] = problem->tile != NULL ? problem->tile[m] : 1;
  if (problem->tile != NULL) {
    list->item[list->count++] = base;
    return;
  }
  for (uint32_t i = 0; i < problem->count && most > 0; i++) {
    uint32_t mode = problem->order[side][i];
    int64_t cuts[MOST_CUTS];
    uint32_t count = list_cuts(problem, mode, most, cuts);
    for (uint32_t k = 0; k < count && list->count < MOST_REACHES; k++) {
      if (i == 0 && cuts[k] * problem->bytes[side] < LEAST_RUN && cuts[k] < problem->mode[mode].extent)
        continue;
      list->item[list->count] = base;
      list->item[list->count++].extent[mode] = cuts[k];
    }
    if (!tj_shape_is_fixed(&problem->mode[mode]) || problem->mode[mode].extent > most)
      return;
    base.extent[mode] = problem->mode[mode].extent;
    most /= problem->mode[mode].extent;
  }
}

typedef struct {
  const tj_shape_problem *problem;
  tj_tile_shape *shape; /* by cost */
  uint32_t count, most;
  uint64_t known[MOST_KNOWN]; /* keys of extents that have been tried, each at its place if no other one is there */
} search;

static bool is_same_shape(const tj_shape_problem *problem, const tj_tile_shape *a, const tj_tile_shape *b) {
  bool is_same = a->is_staged == b->is_staged && a->depth == b->depth && a->passes == b->passes &&
                 a->work_items == b->work_items;
  for (uint32_t m = 0; m < problem->count && is_same; m++)
    is_same = a->extent[m] == b->extent[m];
  return is_same;
}

/* What a shape has to cost less than, to be one of the best. */
static double enough(const search *s) {
  return s->count < s->most ? INFINITY : s->shape[s->count - 1].cost;
}

static void insert(search *s, const tj_tile_shape *shape, double cost) {
  if (cost >= enough(s))
    return;
  for (uint32_t i = 0; i < s->count; i++) {
    if (is_same_shape(s->problem, &s->shape[i], shape))
      return;
  }
  s->count += s->count < s->most;
  uint32_t at = s->count - 1;
  for (; at > 0 && s->shape[at - 1].cost > cost; at--)
    s->shape[at] = s->shape[at - 1];
  s->shape[at] = *shape;
  s->shape[at].cost = cost;
}

/* Looks no further at what can no longer be among the best. */
static void try_shape(search *s, const tj_tile_shape *shape, double cost) {
  if (cost + least_sharing_cost(s->problem, shape) >= enough(s))
    return;
  tj_tile_shape best = *shape, whole;
  share_out(s->problem, enough(s) - cost, &best, &whole);
  insert(s, &best, cost + best.cost);
  insert(s, &whole, cost + whole.cost);
}

/* The last of the modes that are more than one in the tile. False where they are no rows. */
static bool find_split(const tj_shape_problem *problem, tj_tile_shape *shape) {
  uint32_t last = problem->count - 1;
  while (last > 0 && shape->extent[last] == 1)
    last--;
  shape->split = last;
  return last > 0 && (tj_shape_columns(problem, TJ_DESTINATION) >> last & 1) == 0;
}

/* Whether the passes have equal parts of the rows, in whole units. */
static bool can_pass(const tj_shape_problem *problem, const tj_tile_shape *shape) {
  return shape->passes == 1 ||
         (problem->may_pass && tj_shape_room(shape, shape->split) % (shape->passes * shape->unit[shape->split]) == 0);
}

/* What stores to LDS cost: each pass takes as long as one alone, and less than a word takes as long as a word. */
static double lds_store_cost(const tj_shape_problem *problem, const tj_tile_shape *shape) {
  int64_t bytes = tj_least(shape->depth * problem->carried_bytes, TJ_BANK_BYTES);
  return problem->costs->lds_stores * (double)shape->passes * TJ_BANK_BYTES / (double)bytes;
}

/* What lines cost depends on the depth only as far as blocks are deep at all. */
static void try_depths(search *s, tj_tile_shape *shape, double part) {
  const tj_line_costs *costs = s->problem->costs;
  double lds = costs->lds * part, narrow = 0, lines = 0;
  const int64_t deepest = greatest_depth(s->problem, shape);
  for (shape->depth = deepest; shape->depth > 0; shape->depth /= 2) {
    double way = shape->is_staged ? costs->staging + lds_store_cost(s->problem, shape) : 0;
    if (shape->depth == deepest || shape->depth == 1)
      lines = line_cost(s->problem, shape);
    try_shape(s, shape, lds + way + narrow + lines);
    narrow += costs->narrow_depth;
  }
}

/* In no more passes than LDS demands. */
static void try_passes(search *s, tj_tile_shape *shape) {
  bool has_split = shape->is_staged && find_split(s->problem, shape);
  const int64_t volume = volume_of(s->problem, shape);
  for (shape->passes = 1; shape->passes <= (has_split ? MOST_PASSES : 1); shape->passes++) {
    double part = lds_part(s->problem, shape, volume);
    if (part <= 1 && can_pass(s->problem, shape)) {
      try_depths(s, shape, part);
      return;
    }
  }
}

/* Whether extents have not been tried yet, as far as that is known: many pairs of reaches come to the same. */
static bool is_new(search *s, const reach *tile, bool is_staged) {
  uint64_t key = tj_key_mix(0, is_staged);
  for (uint32_t m = 0; m < s->problem->count; m++)
    key = tj_key_mix(key, (uint64_t)tile->extent[m]);
  uint64_t *known = &s->known[key % MOST_KNOWN];
  const bool is_known = *known == key;
  *known = key;
  return !is_known;
}

static void try_extents(search *s, const reach *a, const reach *b, bool is_staged) {
  const uint32_t count = s->problem->count;
  int64_t most = most_elements(s->problem), volume = 1;
  reach tile;
  for (uint32_t m = 0; m < count && volume <= most; m++) {
    tile.extent[m] = a->extent[m] > b->extent[m] ? a->extent[m] : b->extent[m];
    volume *= tile.extent[m];
  }
  if (volume > most || !is_new(s, &tile, is_staged))
    return;
  tj_tile_shape shape = {.is_staged = is_staged, .passes = 1, .turn = s->problem->lds_phase / 2};
  memcpy(shape.extent, tile.extent, count * sizeof shape.extent[0]);
  set_units(s->problem, &shape);
  try_passes(s, &shape);
}

uint32_t tj_choose_tile_shapes(const tj_shape_problem *problem, tj_tile_shape shape[], uint32_t most) {
  reach_list loaded = {.count = 0}, stored = {.count = 0};
  search s = {.problem = problem, .shape = shape, .most = most};
  list_reaches(problem, TJ_SOURCE, most_elements(problem), &loaded);
  list_reaches(problem, TJ_DESTINATION, most_elements(problem), &stored);
  bool turns = tj_shape_turns(problem);
  for (uint32_t i = 0; i < stored.count && !turns; i++) /* of equals, those along the destination alone */
    try_extents(&s, &stored.item[i], &stored.item[i], false);
  for (uint32_t i = 0; i < stored.count; i++) {
    for (uint32_t k = 0; k < loaded.count; k++) {
      if (!turns)
        try_extents(&s, &loaded.item[k], &stored.item[i], false);
      if (problem->may_stage)
        try_extents(&s, &loaded.item[k], &stored.item[i], true);
    }
  }
  return s.count;
}
