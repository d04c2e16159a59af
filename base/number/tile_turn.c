/* SPDX-License-Identifier: MIT */
/* Shapes of tiles that turn around: boxes of about so many rows, with as many columns as a workgroup has room for,
 * priced by the work-items that all of them keep busy and by the cache lines that their runs touch. A run goes on
 * along the next mode of its side where the tile has all of the one before. */
#include "base/number/power.h"
#include "base/number/tile_parts.h"

enum {
  FEW_COLUMNS = 12, /* along a mode: passes leave them together */
  WANTED = 8,
  LANES = 64, /* whose lines are priced together: a wave of 64, or two of 32 */
  A = TJ_TILE_LOADED,
  B = TJ_TILE_STORED,
  C = TJ_TILE_NEXT_LOADED,
  D = TJ_TILE_NEXT_STORED,
  AXES = 4
};

/* Slots of all rows of a tile, in order of preference, 0: no more; of blocks, whose rows are as long as a cache line,
 * and of squares, several rows of which make a line. */
static const int64_t wanted_slots[][WANTED] = {{32, 64, 16, 24, 48}, {16, 32, 8, 24, 48, 64, 12, 4}};

/* A tile in the making. How much there is along each axis: columns of A, coordinates of C, rows of B and D; of A and
 * C in one pass. */
typedef struct {
  const tj_tile_case *of;
  const tj_tile *tile;
  int64_t all[AXES];
  int64_t column;       /* elements of one */
  int64_t slots[AXES];  /* along B and D */
  int64_t passes[AXES]; /* along A and C */
} making;

/* How much of it a tile has. */
typedef struct {
  int64_t part[AXES], cost;
} box;

/* --- powers of two that two modes share --- */

static int64_t moved(int64_t all, int64_t part) {
  enum { MANY = 1 << 20 };
  return tj_covered(tj_least(all, MANY), part);
}

/* How many of `both` are along the first mode, the others along the second, so that least is moved: as many as do not
 * cost more. */
static int64_t along_first(int64_t first, int64_t second, int64_t both) {
  int64_t best = both;
  for (int64_t along = both / 2; along >= 1; along /= 2) {
    if (moved(first, along) * moved(second, both / along) < moved(first, best) * moved(second, both / best))
      best = along;
  }
  return best;
}

static void share_slots(making *t, int64_t vectors) {
  bool is_shared = tj_tile_has(t->of, D);
  t->slots[B] = is_shared ? along_first(vectors, tj_tile_extent(t->of, D), t->tile->slots) : t->tile->slots;
  t->slots[D] = t->tile->slots / t->slots[B];
}

static void share_passes(making *t, int64_t columns) {
  int64_t passes = t->tile->passes, others = tj_tile_extent(t->of, C);
  t->passes[A] = passes;
  if (tj_tile_has(t->of, C))
    t->passes[A] =
        columns < FEW_COLUMNS ? passes / along_first(others, columns, passes) : along_first(columns, others, passes);
  t->passes[C] = passes / t->passes[A];
}

/* --- runs --- */

static int64_t source_lines(const making *t, const box *b) {
  int64_t elements = b->part[A] * t->passes[A] * t->column;
  tj_tile_run run = tj_tile_run_on(t->of, tj_tile_run_of(t->of, 0), A, elements);
  run = tj_tile_run_on(t->of, run, C, b->part[C] * t->passes[C]);
  return tj_tile_lines(t->of, &run, LANES / t->tile->together);
}

/* In one pass; of elements of a column, parts come one after the other. */
static int64_t destination_lines(const making *t, const box *b) {
  int64_t elements = b->part[B] * t->slots[B] * t->tile->stored;
  tj_tile_run run = tj_tile_run_on(t->of, tj_tile_run_of(t->of, 1), B, elements);
  for (uint32_t i = 0; i < TJ_TILE_FOLLOWING && t->tile->after[i] < TJ_TILE_FOLLOWING; i++) {
    uint32_t next = t->tile->after[i];
    run = tj_tile_run_on(t->of, run, next,
                         next == A   ? t->tile->parts
                         : next == C ? b->part[C]
                                     : b->part[D] * t->slots[D]);
  }
  return tj_tile_lines(t->of, &run, LANES);
}

/* Of bytes, a part of what stores into LDS touch in vain, in parts of a line: of the lanes that it serves together,
 * those of one pass are as many side by side as it has columns, and others are of the next passes. Of larger
 * elements, tiles that have fewer of these touch more lines of memory than they are priced at. */
static int64_t idle_lanes(const making *t, const box *b) {
  enum { SERVED = 16 /* lanes, with 8 bytes each */, PART = 4 };
  int64_t lanes = b->part[A], all = lanes * t->passes[A], served = tj_least(lanes + SERVED - 1, all);
  return t->tile->loaded_bytes == 1 ? (served - lanes) * TJ_RUN_PARTS / (all * PART) : 0;
}

/* --- boxes --- */

/* What moving everything by such tiles costs: each tile and each of its waves, by the lines that its runs touch. */
static int64_t cost_of(const making *t, const box *b) {
  enum { MANY = 1 << 10, TILE = 1, WAVE = 3, WAVES = 4 };
  int64_t most = t->tile->most, columns = tj_least(b->part[A] * b->part[C], most);
  int64_t rows = tj_least(b->part[B] * b->part[D], most);
  int64_t cost = tj_parts(columns * rows, tj_quotient(most, WAVES)) * WAVE + TILE;
  for (uint32_t i = 0; i < AXES; i++)
    cost = tj_tile_times(cost, tj_parts(tj_least(t->all[i], MANY), b->part[i]));
  return tj_tile_times(cost, source_lines(t, b) + destination_lines(t, b) + idle_lanes(t, b));
}

/* How wide a box is along A: as it has room for, the same in whole cache lines, or one of these. */
enum { WIDE, LINED, NARROW, WIDTHS };

/* A box of about so many rows. */
static box box_of(const making *t, int64_t rows, uint32_t width) {
  const tj_tile *tile = t->tile;
  int64_t wanted = tj_greatest(tj_least(rows, tile->most), 1);
  int64_t in_line = tj_quotient(TJ_TILE_LINE_VECTORS, tile->vectors * tile->passes);
  box b;
  b.part[B] = tj_even_lines(t->all[B], wanted, tj_quotient(TJ_TILE_LINE_VECTORS, tile->slots));
  b.part[D] = tj_even_part(t->all[D], tj_quotient(wanted, b.part[B]));
  int64_t most = tj_quotient(tile->most, tj_least(b.part[B] * b.part[D], tile->most));
  int64_t line = tj_least(most, in_line);
  const int64_t room[WIDTHS] = {[WIDE] = most, [LINED] = most / line * line, [NARROW] = line};
  b.part[A] = tj_even_lines(t->all[A], room[width], in_line);
  b.part[C] = tj_even_part(t->all[C], tj_quotient(most, b.part[A]));
  b.cost = cost_of(t, &b);
  return b;
}

static box best_box(const making *t) {
  const int64_t *wanted = wanted_slots[t->tile->slots < TJ_TILE_LINE_VECTORS];
  box best = box_of(t, wanted[0] / t->tile->slots, WIDE);
  for (uint32_t i = 1; i < WIDTHS * WANTED && wanted[i / WIDTHS] > 0; i++) {
    box next = box_of(t, wanted[i / WIDTHS] / t->tile->slots, i % WIDTHS);
    if (next.cost < best.cost)
      best = next;
  }
  return best;
}

tj_tile_choice tj_tile_choose_turned(const tj_tile_case *c) {
  making t = {.of = c, .tile = c->tile, .column = (int64_t)c->tile->vectors * c->tile->loaded};
  int64_t columns = tj_parts(tj_tile_extent(c, A), t.column);
  int64_t vectors = tj_parts(tj_tile_extent(c, B), t.tile->stored);
  share_slots(&t, vectors);
  share_passes(&t, columns);
  t.all[A] = tj_parts(columns, t.passes[A]);
  t.all[B] = tj_parts(vectors, t.slots[B]);
  t.all[C] = tj_parts(tj_tile_extent(c, C), t.passes[C]);
  t.all[D] = tj_parts(tj_tile_extent(c, D), t.slots[D]);
  box best = best_box(&t);
  tj_tile_choice choice = {.is_worth = 1};
  for (uint32_t i = 0; i < TJ_TILE_AXES; i++)
    choice.items[i] = i < AXES ? best.part[i] : 1;
  choice.log[A] = tj_log2(t.passes[A]);
  choice.log[C] = tj_log2(t.passes[C]);
  choice.log[B] = tj_log2(t.slots[B]);
  choice.log[D] = tj_log2(t.slots[D]);
  return choice;
}
