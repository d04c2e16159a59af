/* SPDX-License-Identifier: MIT */
/* Shapes of tiles: what bounds them, the lines that their runs touch, and those of which both sides have neighbours
 * along the same axis, in registers or through LDS. */
#include "base/number/tile_parts.h"

#include "base/number/cost.h"
#include "base/number/power.h"

enum { LOG_SLOTS = 3, SLOTS = 1 << LOG_SLOTS, NEXT_AXES = 3 /* after the first, by which tiles are priced */ };

/* More than any tile costs that is possible. */
static const int64_t never = INT64_C(1) << 60;

/* --- limits --- */

bool tj_tile_allows(uint32_t number, uint32_t word) {
  static const struct {
    uint32_t least, most;
  } limit[] = {
#define NUMBER(name, least, most, what) {least, most},
#include "base/number/tile.def"
  };
  if (number < TJ_TILE_AXES)
    return word <= TJ_TILE_NONE;
  if (number < TJ_TILE_AXES + TJ_TILE_FOLLOWING)
    return word <= TJ_TILE_FOLLOWING;
  number -= TJ_TILE_AXES + TJ_TILE_FOLLOWING;
  return limit[number].least <= word && word <= limit[number].most;
}

/* Logarithms along two axes that together make `both`: the second may have any, where it is there. */
static void limit_logs(const tj_tile *tile, uint32_t first, uint32_t second, int64_t both, tj_tile_choice *least,
                       tj_tile_choice *most) {
  bool is_alone = tile->axis[second] == TJ_TILE_NONE;
  least->log[first] = is_alone ? both : 0;
  most->log[first] = both;
  most->log[second] = is_alone ? 0 : both;
}

static void limit_slots(const tj_tile *tile, tj_tile_choice *least, tj_tile_choice *most) {
  for (uint32_t i = 0; i < TJ_TILE_AXES; i++)
    most->log[i] = tile->axis[i] != TJ_TILE_NONE ? LOG_SLOTS : 0;
  if (tile->axis[TJ_TILE_NEXT_LOADED] == TJ_TILE_NONE)
    least->log[TJ_TILE_LOADED] = most->log[TJ_TILE_LOADED];
}

/* Groups are of eight, or of four, of which a work-item has two. */
static void limit_groups(const tj_tile *tile, tj_tile_choice *least, tj_tile_choice *most) {
  bool is_alone = tile->axis[TJ_TILE_OTHER] == TJ_TILE_NONE;
  for (uint32_t i = TJ_TILE_NEXT_LOADED; i <= TJ_TILE_NEXT_STORED; i++) {
    least->log[i] = is_alone ? LOG_SLOTS : LOG_SLOTS - 1;
    most->log[i] = LOG_SLOTS;
  }
  most->log[TJ_TILE_OTHER] = is_alone ? 0 : 1;
}

static void limit_rows(const tj_tile *tile, tj_tile_choice *least, tj_tile_choice *most) {
  most->items[tile->rows] = 1;
  least->log[tile->rows] = most->log[tile->rows] = tj_log2(tile->slots);
}

void tj_tile_limits(const tj_tile *tile, tj_tile_choice *least, tj_tile_choice *most) {
  *least = (tj_tile_choice){.is_worth = tile->kind == TJ_TILE_STRAIGHT || tile->kind == TJ_TILE_TURNED};
  *most = (tj_tile_choice){.is_worth = 1};
  for (uint32_t i = 0; i < TJ_TILE_AXES; i++) {
    least->items[i] = 1;
    most->items[i] = tile->axis[i] != TJ_TILE_NONE ? tile->most : 1;
  }
  if (tile->kind == TJ_TILE_STRAIGHT)
    limit_slots(tile, least, most);
  if (tile->kind == TJ_TILE_ROWS || tile->kind == TJ_TILE_MASKED_ROWS)
    limit_rows(tile, least, most);
  if (tile->kind == TJ_TILE_STAGED)
    limit_groups(tile, least, most);
  if (tile->kind == TJ_TILE_TURNED) {
    limit_logs(tile, TJ_TILE_STORED, TJ_TILE_NEXT_STORED, tj_log2(tile->slots), least, most);
    limit_logs(tile, TJ_TILE_LOADED, TJ_TILE_NEXT_LOADED, tj_log2(tile->passes), least, most);
  }
}

/* --- runs --- */

static int64_t least_bytes(const tj_tile_case *c, uint32_t side) {
  return side == 0 ? c->tile->loaded_bytes : c->tile->stored_bytes;
}

tj_tile_run tj_tile_run_of(const tj_tile_case *c, uint32_t side) {
  return (tj_tile_run){tj_run_of_element(least_bytes(c, side), c->tile->line_bytes), .side = side, .end = 1};
}

/* The run with a mode, of which it has a part. */
static tj_tile_run run_along(const tj_tile_case *c, tj_tile_run run, uint32_t mode, int64_t part) {
  int64_t stride = c->stride[run.side][mode], extent = c->extent[mode], line = c->tile->line_bytes;
  int64_t grain = stride > 0 ? tj_least(tj_power_in(stride), line) * least_bytes(c, run.side) : line;
  const tj_run_step step = {tj_least(grain, line), run.modes == 0 || stride == run.end};
  tj_run_along(&run.run, &step, part, part == extent);
  run.end = stride * extent;
  run.modes |= 1u << mode;
  return run;
}

tj_tile_run tj_tile_run_on(const tj_tile_case *c, tj_tile_run run, uint32_t axis, int64_t length) {
  uint32_t mode = c->tile->axis[axis];
  return mode == TJ_TILE_NONE ? run : run_along(c, run, mode, tj_least(c->extent[mode], length));
}

int64_t tj_tile_lines(const tj_tile_case *c, const tj_tile_run *run, int64_t lanes) {
  tj_tile_run all = *run;
  for (uint32_t m = 0; m < c->tile->modes; m++) {
    if ((all.modes >> m & 1) == 0)
      all = run_along(c, all, m, 1);
  }
  return tj_run_lines(&all.run, c->tile->line_bytes, c->tile->vector_bytes, lanes);
}

/* --- tiles that stay in registers --- */

/* A tile in the making: of each axis, units, vectors along the first one and coordinates along others. */
typedef struct {
  const tj_tile_case *of;
  int64_t all[TJ_TILE_AXES];
  tj_tile_choice choice;
  int64_t lines; /* that its runs touch */
} making;

static int64_t share_of(const making *t, uint32_t axis, int64_t taken, int64_t of) {
  return tj_even_part(t->all[axis], tj_quotient(of, taken));
}

static int64_t share_first(const making *t) {
  enum { LONG_RUN = 64 };
  return tj_even_lines(t->all[0], LONG_RUN, TJ_TILE_LINE_VECTORS);
}

/* What is left of the work-items goes along the further axes, wherever there is room. */
static void share_rest(const making *t, int64_t items[TJ_TILE_AXES], int64_t taken) {
  for (uint32_t i = TJ_TILE_OTHER; i < TJ_TILE_AXES; i++) {
    items[i] = share_of(t, i, taken, TJ_TILE_ITEMS);
    taken *= items[i];
  }
}

/* Vectors first; short runs are continued along the source's next axis, then along the destination's. */
static void share_for_runs(const making *t, int64_t items[TJ_TILE_AXES]) {
  enum { SHORT_RUN = 16 };
  items[1] = share_of(t, TJ_TILE_NEXT_LOADED, items[0], SHORT_RUN);
  items[2] = share_of(t, TJ_TILE_NEXT_STORED, items[0] * items[1], TJ_TILE_ITEMS);
  items[1] = share_of(t, TJ_TILE_NEXT_LOADED, items[0] * items[2], TJ_TILE_ITEMS);
  share_rest(t, items, items[0] * items[2] * items[1]);
}

/* As many times the items of an axis that divide it as those that are taken otherwise leave. */
static int64_t with_rest(const making *t, uint32_t axis, int64_t items, int64_t taken) {
  int64_t left = tj_quotient(TJ_TILE_ITEMS, taken * items);
  return items * tj_even_part(tj_parts(t->all[axis], items), left);
}

/* Where runs are made of whole cache lines, one on either side is enough, and a wave has both. */
static void share_for_lines(const making *t, int64_t items[TJ_TILE_AXES]) {
  enum { LINE_RUN = 8 };
  int64_t others = items[0];
  items[1] = share_of(t, TJ_TILE_NEXT_LOADED, items[0], LINE_RUN);
  items[2] = share_of(t, TJ_TILE_NEXT_STORED, items[0], LINE_RUN);
  share_rest(t, items, items[0] * items[1] * items[2]);
  for (uint32_t i = TJ_TILE_OTHER; i < TJ_TILE_AXES; i++)
    others *= items[i];
  items[2] = with_rest(t, TJ_TILE_NEXT_STORED, items[2], others * items[1]);
  items[1] = with_rest(t, TJ_TILE_NEXT_LOADED, items[1], others * items[2]);
}

/* A run is at most as long as a wave. */
static int64_t lines_of_waves(const tj_tile_case *c, tj_tile_run run) {
  run.run.bytes = tj_least(run.run.bytes, (int64_t)c->tile->lanes * c->tile->vector_bytes);
  return tj_tile_lines(c, &run, 0);
}

/* The cache lines that runs of so many units along the first axis, and along the next ones of source and destination,
 * touch on both sides. */
static int64_t lines_of_runs(const making *t, int64_t first, int64_t loaded, int64_t stored) {
  const tj_tile_case *c = t->of;
  int64_t elements = first * c->tile->loaded;
  tj_tile_run from = tj_tile_run_on(c, tj_tile_run_of(c, 0), TJ_TILE_LOADED, elements);
  tj_tile_run to = tj_tile_run_on(c, tj_tile_run_of(c, 1), TJ_TILE_LOADED, elements);
  from = tj_tile_run_on(c, from, TJ_TILE_NEXT_LOADED, loaded);
  to = tj_tile_run_on(c, to, TJ_TILE_NEXT_STORED, stored);
  return lines_of_waves(c, from) + lines_of_waves(c, to);
}

/* Work-items side by side are neighbours of the source first: where they take its next axis, a wave has only so many
 * whole rows of the destination's. */
static int64_t lines_of_items(const making *t, const int64_t items[TJ_TILE_AXES]) {
  int64_t left = tj_quotient(t->of->tile->lanes, items[0] * items[1]);
  return lines_of_runs(t, items[0], items[1], items[1] == 1 ? items[2] : tj_least(left, items[2]));
}

/* What all tiles that have so many units of an axis move along it. */
static int64_t moved_along(const making *t, uint32_t axis, int64_t part) {
  enum { MANY = 1 << 13 };
  return tj_covered(tj_least(t->all[axis], MANY), part);
}

/* What all tiles move, by the lines that this touches; `part`: units of a tile along its next axes. */
static int64_t cost_of(const making *t, const int64_t part[NEXT_AXES], int64_t lines) {
  int64_t cost = lines;
  for (uint32_t i = 0; i < NEXT_AXES; i++)
    cost = tj_tile_times(cost, moved_along(t, 1 + i, part[i]));
  return cost;
}

/* Shares that make lines, where they touch none in vain, or cost clearly less than long runs do. */
static void share_items(making *t) {
  int64_t runs[TJ_TILE_AXES], lines[TJ_TILE_AXES];
  runs[0] = lines[0] = share_first(t);
  share_for_runs(t, runs);
  share_for_lines(t, lines);
  int64_t of_runs = lines_of_items(t, runs), of_lines = lines_of_items(t, lines);
  int64_t cost = cost_of(t, lines + 1, of_lines);
  bool is_better = of_lines <= 2 * TJ_RUN_PARTS ||
                   tj_tile_plus(cost, cost / TJ_GAIN_OF_LINED_SHARES) <= cost_of(t, runs + 1, of_runs);
  t->lines = is_better ? of_lines : of_runs;
  for (uint32_t i = 0; i < TJ_TILE_AXES; i++)
    t->choice.items[i] = is_better ? lines[i] : runs[i];
}

/* Ways to share out slots: what all tiles move along each axis by the logarithm of its slots, and the best way yet.
 */
typedef struct {
  int64_t moved[TJ_TILE_AXES][LOG_SLOTS + 1], log[TJ_TILE_AXES];
  int64_t best_log[TJ_TILE_AXES], best; /* 0: none yet */
} slot_ways;

/* All ways that have `left` along the first axes, up to this one, where the others cost so much. */
static void try_ways(const making *t, slot_ways *w, uint32_t axis, int64_t left, int64_t others) {
  int64_t least = axis == 0 ? left : 0, most = tj_tile_has(t->of, axis) ? left : 0;
  for (w->log[axis] = least; w->log[axis] <= most; w->log[axis]++) {
    int64_t cost = tj_tile_times(others, w->moved[axis][w->log[axis]]);
    if (axis > 0) {
      try_ways(t, w, axis - 1, left - w->log[axis], cost);
    } else if (w->best == 0 || cost < w->best) {
      w->best = cost;
      for (uint32_t i = 0; i < TJ_TILE_AXES; i++)
        w->best_log[i] = w->log[i];
    }
  }
}

/* The cheapest way to share out the slots, and of those the one with most along the first axes. */
static void share_slots(making *t) {
  slot_ways w = {.best = 0};
  for (uint32_t i = 0; i < TJ_TILE_AXES; i++) {
    for (uint32_t log = 0; log <= LOG_SLOTS; log++)
      w.moved[i][log] = tj_tile_has(t->of, i) ? moved_along(t, i, t->choice.items[i] << log) : 1;
  }
  try_ways(t, &w, TJ_TILE_AXES - 1, LOG_SLOTS, 1);
  for (uint32_t i = 0; i < TJ_TILE_AXES; i++)
    t->choice.log[i] = w.best_log[i];
}

static making begun(const tj_tile_case *c) {
  making t = {.of = c, .choice = {.is_worth = 1}};
  for (uint32_t i = 0; i < TJ_TILE_AXES; i++)
    t.all[i] = tj_parts(tj_tile_extent(c, i), i == 0 ? c->tile->loaded : 1);
  return t;
}

static making in_registers(const tj_tile_case *c) {
  making t = begun(c);
  share_items(&t);
  share_slots(&t);
  return t;
}

/* --- tiles whose slots are rows --- */

static int64_t tiles_of(const making *t) {
  int64_t tiles = 1;
  for (uint32_t i = 0; i < TJ_TILE_AXES; i++)
    tiles = tj_tile_times(tiles, tj_parts(t->all[i], t->choice.items[i] << t->choice.log[i]));
  return tiles;
}

/* Work-items go along one axis after the other, as far as there are some. */
static making shared_in_rows(const tj_tile_case *c, uint32_t without) {
  making t = begun(c);
  int64_t taken = t.choice.items[0] = share_first(&t);
  without |= 1u << c->tile->rows;
  for (uint32_t i = 1; i < TJ_TILE_AXES; i++)
    taken *= t.choice.items[i] = (without >> i & 1) != 0 ? 1 : share_of(&t, i, taken, TJ_TILE_ITEMS);
  t.choice.log[c->tile->rows] = tj_log2(c->tile->slots);
  return t;
}

/* How far apart, in bytes, neighbours along an axis are. */
static int64_t step_of(const making *t, uint32_t side, uint32_t axis) {
  int64_t unit = axis == 0 ? t->of->tile->loaded : 1;
  return t->of->stride[side][t->of->tile->axis[axis]] * least_bytes(t->of, side) * unit;
}

/* Runs begin at multiples of so many bytes: of what tiles have along the first axis, if that is not all, and of a
 * step along others. */
static int64_t grain_of(const making *t, uint32_t side) {
  int64_t grain = t->of->tile->line_bytes;
  for (uint32_t i = 0; i < TJ_TILE_AXES; i++) {
    int64_t part = i == 0 ? t->choice.items[0] : 1, step = step_of(t, side, i) * part;
    if (t->all[i] > part && step > 0)
      grain = tj_least(grain, tj_power_in(step));
  }
  return grain;
}

/* The axis that is not among these, by bit, with the smallest steps. */
static uint32_t closest_of(const making *t, uint32_t side, uint32_t taken) {
  uint32_t closest = TJ_TILE_AXES;
  for (uint32_t i = 0; i < TJ_TILE_AXES; i++) {
    bool is_left = (taken >> i & 1) == 0;
    if (is_left && (closest == TJ_TILE_AXES || step_of(t, side, i) < step_of(t, side, closest)))
      closest = i;
  }
  return closest;
}

/* The bytes of all cache lines that an instruction of so many lanes touches, on average: of runs that overlap or
 * follow each other, each once. */
static int64_t touched_by_lanes(const making *t, uint32_t side, int64_t lanes) {
  enum { ONE = 64 /* parts of a coordinate that lanes have along an axis */ };
  int64_t part[TJ_TILE_AXES], left = lanes * ONE, runs = ONE, line = t->of->tile->line_bytes;
  int64_t span = t->of->tile->loaded * least_bytes(t->of, side);
  for (uint32_t i = 0; i < TJ_TILE_AXES; i++) {
    part[i] = tj_least(t->choice.items[i] * ONE, left);
    left = tj_greatest(left / t->choice.items[i], ONE);
  }
  for (uint32_t taken = 0, axis; (axis = closest_of(t, side, taken)) < TJ_TILE_AXES; taken |= 1u << axis) {
    int64_t step = step_of(t, side, axis);
    if (step <= span)
      span += (part[axis] - ONE) * step / ONE;
    else
      runs = runs * part[axis] / ONE;
  }
  return runs * (span + line - grain_of(t, side)) / ONE;
}

/* The cache lines that all tiles touch, by waves that have equal parts of the items, and instructions of these: of
 * rows, no more move than there are. */
static int64_t price_of(const making *t, bool has_rows, int64_t instructions) {
  int64_t items = 1, moves = has_rows ? 1 : SLOTS;
  for (uint32_t i = 0; i < TJ_TILE_AXES; i++) {
    bool are_rows = has_rows && i == t->of->tile->rows;
    items *= t->choice.items[i];
    moves = tj_tile_times(moves, are_rows ? t->all[i] : tj_parts(t->all[i], t->choice.items[i] << t->choice.log[i]));
  }
  int64_t waves = tj_parts(items, t->of->tile->lanes), lanes = tj_parts(items, waves);
  int64_t touched = touched_by_lanes(t, 0, lanes) + touched_by_lanes(t, 1, lanes);
  int64_t bytes = tj_tile_times(tj_tile_times(moves, waves), touched);
  return tj_tile_plus(bytes / t->of->tile->line_bytes,
                      tj_tile_times(tj_tile_times(tiles_of(t), waves), instructions));
}

/* Slots that are rows are for touching fewer lines than where they are spread, or for fewer instructions. What is
 * given only has to be possible. */
static tj_tile_choice in_rows(const tj_tile_case *c) {
  making spread = in_registers(c), t = shared_in_rows(c, 0);
  bool is_better =
      price_of(&t, true, TJ_INSTRUCTIONS_OF_ROWS_TILE) < price_of(&spread, false, TJ_INSTRUCTIONS_OF_STRAIGHT_TILE);
  t.choice.is_worth = is_better || c->tile->is_given;
  return t.choice;
}

/* Work-items that go along all axes, and mask rows for it, are for touching fewer lines than those that go along
 * some, for fewer instructions than where slots are spread, too. What is given only has to be possible. */
static tj_tile_choice in_lanes(const tj_tile_case *c) {
  making spread = in_registers(c), rows = shared_in_rows(c, c->tile->without), t = shared_in_rows(c, 0);
  int64_t price = price_of(&t, true, TJ_INSTRUCTIONS_OF_LANES_TILE);
  price = tj_tile_plus(price, price / TJ_GAIN_OF_MASKED_ROWS);
  bool is_better = price < price_of(&spread, false, TJ_INSTRUCTIONS_OF_STRAIGHT_TILE) &&
                   price < price_of(&rows, true, TJ_INSTRUCTIONS_OF_ROWS_TILE);
  t.choice.is_worth = is_better || c->tile->is_given;
  return t.choice;
}

/* --- tiles that go through LDS whole --- */

/* Groups along the next axes of either side, and slots of a group. */
typedef struct {
  int64_t loaded, stored, log;
  int64_t lines, cost; /* that its runs touch; all tiles */
} way;

/* The tile with about `wanted` groups along the source's next axis. */
static way way_of(const making *t, int64_t log, int64_t wanted) {
  int64_t slots = INT64_C(1) << log, first = tj_least(t->all[0], TJ_TILE_ITEMS + 1);
  int64_t room = TJ_TILE_ITEMS / (first * slots), some = tj_greatest(room, 1);
  int64_t loaded = tj_parts(t->all[1], slots), stored = tj_parts(t->all[2], slots);
  way w = {.log = log};
  w.stored = tj_even_part(stored, tj_quotient(some, tj_even_part(loaded, tj_least(some, wanted))));
  w.loaded = tj_even_part(loaded, tj_quotient(some, w.stored));
  const int64_t part[NEXT_AXES] = {slots * w.loaded, slots * w.stored, SLOTS >> log};
  w.lines = lines_of_runs(t, first, part[0], part[1]);
  bool is_possible = room >= 1 && (slots == SLOTS || first % 2 == 0);
  w.cost = is_possible ? cost_of(t, part, w.lines) : never;
  return w;
}

static way best_way(const making *t) {
  enum { MOST_GROUPS = 4 };
  way best = way_of(t, LOG_SLOTS, 1);
  for (int64_t i = 1; i < (tj_tile_has(t->of, TJ_TILE_OTHER) ? 2 : 1) * MOST_GROUPS; i++) {
    way next = way_of(t, LOG_SLOTS - i / MOST_GROUPS, 1 + i % MOST_GROUPS);
    best = next.cost < best.cost ? next : best;
  }
  return best;
}

/* What is given only has to be possible. Otherwise LDS is for saving lines that instructions touch, if tiles do not
 * move much more for it. */
static bool is_worth(const making *t, const way *best) {
  int64_t part[NEXT_AXES];
  for (uint32_t i = 0; i < NEXT_AXES; i++)
    part[i] = t->choice.items[1 + i] << t->choice.log[1 + i];
  bool is_better = best->lines + best->lines / TJ_GAIN_OF_STAGED_LINES < t->lines &&
                   best->cost - best->cost / TJ_LOSS_OF_STAGED_TILES < cost_of(t, part, t->lines);
  return best->cost < never && (is_better || t->of->tile->is_given);
}

static tj_tile_choice through_lds(const making *t) {
  way best = best_way(t);
  return (tj_tile_choice){.items = {t->all[0], best.loaded, best.stored, 1, 1, 1},
                          .log = {0, best.log, best.log, LOG_SLOTS - best.log},
                          .is_worth = is_worth(t, &best)};
}

/* --- choices --- */

static int64_t clamped(int64_t value, int64_t least, int64_t most) {
  return value < least ? least : value > most ? most : value;
}

static tj_tile_case case_of(const tj_tile *tile, const tj_tile_domain *domain) {
  static const int64_t most_extent = INT64_C(1) << 30, most_stride = UINT32_MAX;
  tj_tile_case c = {.tile = tile};
  for (uint32_t m = 0; m <= TJ_TILE_MODES; m++)
    c.extent[m] = m < tile->modes ? clamped(domain->extent[m], 1, most_extent) : 1;
  for (uint32_t m = 0; m < tile->modes; m++) {
    for (uint32_t side = 0; side < TJ_TILE_SIDES; side++)
      c.stride[side][m] = clamped(domain->stride[side][m], 0, most_stride);
  }
  return c;
}

static tj_tile_choice choose(const tj_tile_case *c) {
  if (c->tile->kind == TJ_TILE_TURNED)
    return tj_tile_choose_turned(c);
  if (c->tile->kind == TJ_TILE_ROWS)
    return in_rows(c);
  if (c->tile->kind == TJ_TILE_MASKED_ROWS)
    return in_lanes(c);
  making straight = in_registers(c);
  return c->tile->kind == TJ_TILE_STRAIGHT ? straight.choice : through_lds(&straight);
}

tj_tile_choice tj_tile_choose(const tj_tile *tile, const tj_tile_domain *domain) {
  tj_tile_choice least, most;
  tj_tile_case c = case_of(tile, domain);
  tj_tile_choice choice = choose(&c);
  tj_tile_limits(tile, &least, &most);
  for (uint32_t i = 0; i < TJ_TILE_AXES; i++)
    most.items[i] = tj_least(most.items[i], tj_tile_extent(&c, i));
  for (uint32_t i = 0; i < TJ_TILE_NUMBERS; i++)
    choice.number[i] = clamped(choice.number[i], least.number[i], most.number[i]);
  return choice;
}
