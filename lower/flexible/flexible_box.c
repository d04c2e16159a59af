/* SPDX-License-Identifier: MIT */
/* The lengths of tiles that turn around, in expressions of the launch: boxes of about so many rows, with as many
 * columns as a workgroup has room for, priced by the work-items that all of them keep busy and by the cache lines
 * that their runs touch. A run goes on along the next mode of its side where the tile has all of the one before. */
#include "ir/layout/arith.h"
#include "lower/access/cost.h"
#include "lower/flexible/flexible_turn.h"

enum {
  LINE_VECTORS = 8, /* of a cache line */
  LANES = 64,       /* of a wave */
  FEW_COLUMNS = 12, /* along a mode: passes leave them together */
  WANTED = 8
};

/* How much there is along each mode: columns of a, coordinates of c, rows of b and d; of a and c in one pass. */
typedef struct {
  const tj_node *a, *b, *c, *d;
} amounts;

/* How much of it a tile has. */
typedef struct {
  amounts of;
  const tj_node *x, *y, *cost;
} box;

static const tj_node *int_of(const tj_turn *t, int64_t value) {
  return tj_turn_int(t, value);
}

static const tj_node *extent_or_one(const tj_turn *t, const tj_flexible_mode *mode) {
  return mode != NULL ? mode->extent.launch : int_of(t, 1);
}

/* --- powers of two that two modes share --- */

/* What is moved when `along` of `both` are along the first of two modes, and the others along the second. */
static const tj_node *cost_of_shares(const tj_turn *t, const tj_node *first, const tj_node *second, int64_t along,
                                     int64_t both) {
  enum { MANY = 1 << 20 };
  tj_graph *graph = t->graph;
  const tj_node *of_first = int_of(t, along), *of_second = int_of(t, both / along);
  const tj_node *parts = tj_flexible_parts(graph, tj_flexible_at_most(graph, first, MANY), of_first);
  const tj_node *others = tj_flexible_parts(graph, tj_flexible_at_most(graph, second, MANY), of_second);
  return tj_mul(graph, tj_terse_mul(graph, parts, of_first), tj_terse_mul(graph, others, of_second));
}

/* The logarithm of those along the first mode: as many as do not cost more. */
static const tj_node *log_of_shares(const tj_turn *t, const tj_node *first, const tj_node *second, int64_t both) {
  tj_graph *graph = t->graph;
  const tj_node *log = int_of(t, tj_turn_log2(both)), *best = cost_of_shares(t, first, second, both, both);
  for (int64_t along = both / 2; along >= 1; along /= 2) {
    const tj_node *cost = cost_of_shares(t, first, second, along, both);
    log = tj_flexible_choice(graph, tj_less(graph, cost, best), int_of(t, tj_turn_log2(along)), log);
    best = tj_min(graph, best, cost);
  }
  return log;
}

static void share_slots(tj_turn *t, const tj_node *vectors) {
  t->log =
      t->d != NULL ? log_of_shares(t, vectors, extent_or_one(t, t->d), t->slots) : int_of(t, tj_turn_log2(t->slots));
  t->along_b = tj_flexible_measure(t->f, "along", tj_flexible_power(t->graph, t->log), 1, t->slots, 1);
  const tj_node *log_d = tj_sub(t->graph, int_of(t, tj_turn_log2(t->slots)), t->log);
  t->along_d = tj_flexible_measure(t->f, "along", tj_flexible_power(t->graph, log_d), 1, t->slots, 1);
}

static void share_passes(tj_turn *t, const tj_node *columns) {
  tj_graph *graph = t->graph;
  int64_t log = tj_turn_log2(t->passes);
  t->pass_log = int_of(t, log);
  if (t->c != NULL && t->passes > 1) {
    const tj_node *few = tj_less(graph, columns, int_of(t, FEW_COLUMNS));
    const tj_node *along_c = tj_sub(graph, int_of(t, log), log_of_shares(t, t->c->extent.launch, columns, t->passes));
    t->pass_log = tj_flexible_choice(graph, few, along_c, log_of_shares(t, columns, t->c->extent.launch, t->passes));
  }
  t->pass_a = tj_flexible_power(t->graph, t->pass_log);
  t->pass_c = tj_flexible_power(t->graph, tj_sub(graph, int_of(t, log), t->pass_log));
}

/* --- runs --- */

static tj_flexible_run source_run(const tj_turn *t, const box *part) {
  tj_graph *graph = t->graph;
  const tj_node *columns = tj_terse_mul(graph, part->of.a, t->pass_a);
  tj_flexible_run run =
      tj_flexible_run_along(t->f, TJ_FLEXIBLE_SOURCE, t->a, tj_terse_mul(graph, columns, int_of(t, t->column)));
  return tj_flexible_run_on(t->f, run, t->c, tj_terse_mul(graph, part->of.c, t->pass_c));
}

/* In one pass; of elements of a column, parts come one after the other. */
static tj_flexible_run destination_run(const tj_turn *t, const box *part) {
  tj_graph *graph = t->graph;
  tj_flexible_run run = tj_flexible_run_along(
      t->f, TJ_FLEXIBLE_DESTINATION, t->b,
      tj_terse_mul(graph, part->of.b, tj_terse_mul(graph, t->along_b.launch, int_of(t, t->stored))));
  for (unsigned i = 0; i < 3 && t->after[i] != NULL; i++) {
    const tj_flexible_mode *next = t->after[i];
    const tj_node *length = next == t->a   ? int_of(t, t->parts)
                            : next == t->c ? part->of.c
                                           : tj_terse_mul(graph, part->of.d, t->along_d.launch);
    run = tj_flexible_run_on(t->f, run, next, length);
  }
  run.next = run.next == t->a ? NULL : run.next;
  return run;
}

static const tj_node *lines_of_box(const tj_turn *t, const box *part) {
  tj_flexible_run from = source_run(t, part), to = destination_run(t, part);
  return tj_terse_add(t->graph, tj_flexible_lines(t->f, &from, LANES / t->together),
                      tj_flexible_lines(t->f, &to, LANES));
}

/* --- boxes --- */

static const tj_node *quotient_of(const tj_turn *t, const tj_node *a, const tj_node *b) {
  return tj_flexible_at_least(t->graph, tj_terse_div(t->graph, a, b), 1);
}

/* Columns, or rows, that make a cache line. */
static int64_t columns_of_line(const tj_turn *t) {
  int64_t columns = t->vectors * t->passes;
  return columns < LINE_VECTORS ? LINE_VECTORS / columns : 1;
}

static int64_t rows_of_line(const tj_turn *t) {
  return t->slots < LINE_VECTORS ? LINE_VECTORS / t->slots : 1;
}

/* What moving everything by such tiles costs: each tile and each of its waves, by the lines that its runs touch. */
static const tj_node *cost_of(const tj_turn *t, const amounts *all, const box *part) {
  enum { MANY = 1 << 10, TILE = 1, WAVE = 3, WAVES = 4 };
  tj_graph *graph = t->graph;
  const tj_node *const pairs[][2] = {
      {all->a, part->of.a}, {all->b, part->of.b}, {all->c, part->of.c}, {all->d, part->of.d}};
  const tj_node *waves =
      tj_flexible_parts(graph, tj_terse_mul(graph, part->x, part->y), int_of(t, t->most_x / WAVES));
  const tj_node *cost = tj_add(graph, tj_mul(graph, waves, int_of(t, WAVE)), int_of(t, TILE));
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    const tj_node *tiles = tj_flexible_parts(graph, tj_flexible_at_most(graph, pairs[i][0], MANY), pairs[i][1]);
    cost = tj_terse_mul(graph, cost, tiles);
  }
  return tj_mul(graph, cost, lines_of_box(t, part));
}

/* How many columns, or rows, a tile has: all, or one of as few equal parts as possible, of whole cache lines. */
static const tj_node *whole_lines(const tj_turn *t, const tj_node *all, const tj_node *most, int64_t line) {
  tj_graph *graph = t->graph;
  const tj_node *part = tj_flexible_balanced(graph, all, most);
  const tj_node *lines = tj_terse_mul(graph, tj_flexible_parts(graph, part, int_of(t, line)), int_of(t, line));
  const tj_node *is_part = tj_and(graph, tj_less(graph, part, all), tj_less_equal(graph, lines, most));
  return tj_flexible_choice(graph, is_part, lines, part);
}

/* A box of about so many rows; a narrow one has no more columns along a than a cache line has. */
static box box_of(const tj_turn *t, const amounts *all, int64_t rows, bool is_narrow) {
  tj_graph *graph = t->graph;
  const tj_node *wanted = int_of(t, tj_turn_least(rows, t->most_y));
  box part;
  part.of.b = whole_lines(t, all->b, wanted, rows_of_line(t));
  part.of.d = tj_flexible_balanced(graph, all->d, quotient_of(t, wanted, part.of.b));
  part.y = tj_flexible_at_most(graph, tj_terse_mul(graph, part.of.b, part.of.d), t->most_y);
  const tj_node *most = quotient_of(t, int_of(t, t->most_x), part.y);
  int64_t line = columns_of_line(t);
  part.of.a = whole_lines(t, all->a, is_narrow ? tj_flexible_at_most(graph, most, line) : most, line);
  part.of.c = tj_flexible_balanced(graph, all->c, quotient_of(t, most, part.of.a));
  part.x = tj_flexible_at_most(graph, tj_terse_mul(graph, part.of.a, part.of.c), t->most_x);
  part.cost = cost_of(t, all, &part);
  return part;
}

/* The later of two boxes where it is clearly cheaper. */
static box better_box(const tj_turn *t, box first, box second) {
  tj_graph *graph = t->graph;
  const tj_node *margin = tj_div(graph, second.cost, int_of(t, TJ_GAIN_OF_LARGER_BOX));
  const tj_node *is_better = tj_less(graph, tj_add(graph, second.cost, margin), first.cost);
  const tj_node **const to[] = {&first.of.a, &first.of.b, &first.of.c, &first.of.d, &first.x, &first.y, &first.cost};
  const tj_node *from[] = {second.of.a, second.of.b, second.of.c, second.of.d, second.x, second.y, second.cost};
  for (size_t i = 0; i < sizeof to / sizeof to[0]; i++)
    *to[i] = tj_flexible_choice(graph, is_better, from[i], *to[i]);
  return first;
}

/* Slots of all rows of a tile, in order of preference, 0: no more; of blocks, whose rows are as long as a cache line,
 * and of squares, several rows of which make a line. */
static const int64_t wanted_slots[][WANTED] = {{32, 64, 16, 24, 48}, {16, 32, 8, 24, 48, 64, 12, 4}};

void tj_turn_choose_box(tj_turn *t) {
  tj_graph *graph = t->graph;
  const tj_node *vectors = tj_flexible_parts(graph, t->b->extent.launch, int_of(t, t->stored));
  const tj_node *columns = tj_flexible_parts(graph, t->a->extent.launch, int_of(t, t->column));
  share_slots(t, vectors);
  share_passes(t, columns);
  amounts all = {.a = tj_flexible_parts(graph, columns, t->pass_a),
                 .b = tj_flexible_parts(graph, vectors, t->along_b.launch),
                 .c = tj_flexible_parts(graph, extent_or_one(t, t->c), t->pass_c),
                 .d = tj_flexible_parts(graph, extent_or_one(t, t->d), t->along_d.launch)};
  const int64_t *wanted = wanted_slots[t->is_ordered];
  box best = box_of(t, &all, wanted[0] / t->slots, false);
  for (size_t i = 1; i < 2 * WANTED; i++) {
    if (wanted[i / 2] > 0)
      best = better_box(t, best, box_of(t, &all, wanted[i / 2] / t->slots, i % 2 == 1));
  }
  t->x_a = best.of.a;
  t->x_c = best.of.c;
  t->y_b = best.of.b;
  t->y_d = best.of.d;
  t->x = best.x;
  t->y = best.y;
}
