/* SPDX-License-Identifier: MIT */
/* Flexible tiles that turn around in LDS.
 *
 * The tile is a box: elements of the source along its first mode, some vectors at a time, and coordinates of its next
 * mode, are columns x; vectors of the destination, and coordinates of its next mode, are rows y of several each, its
 * slots. A work-item loads a vector of one column for each of its slots, and stores all elements of one column, or a
 * part of them, for one slot. How the slots of a row are shared out between the destination's two modes, and how
 * large the box is along each mode, is up to the launch.
 *
 * In LDS, each column has blocks of eight vectors of the destination by as many elements as the column has: each is a
 * constant distance away from the one before. Which of the eight places a vector takes is changed by the column, so
 * that columns use different banks. */
#include "base/machine/processor.h"
#include "ir/layout/arith.h"
#include "lower/mapping/flexible_maker.h"

enum {
  PLACES = 8,       /* vectors of a block */
  LOADS = 8,        /* vectors that a work-item loads */
  LINE_VECTORS = 8, /* of a cache line */
  WAVES = 4,        /* of a workgroup, or twice as many */
};

/* Cache lines of the destination's runs in a tile, in order of preference: of rows as long as a line, and of shorter
 * ones, whose columns are shorter too. */
static const int64_t wanted_lines[][5] = {{4, 8, 2, 3, 6}, {2, 4, 1, 3, 6}};

typedef struct {
  tj_flexible *f;
  tj_graph *graph;
  tj_flexible_mode *a, *b, *c, *d; /* of source and destination: first modes, next modes or NULL */
  int64_t loaded, stored;          /* elements of vectors */
  int64_t word, together;  /* rows that share a word of LDS; words of neighbouring work-items that do a vector */
  int64_t slots, rounding; /* vectors of the destination in a row; rows that fill blocks */
  int64_t vectors, column; /* of a column: vectors, elements */
  int64_t rows, parts;     /* elements of a column that a work-item stores; how many such parts a column has */
  int64_t most_x, most_y;  /* columns; rows: their product is not more than either */
  int64_t line;            /* bytes of a cache line */
  const tj_node *source_grain, *destination_grain;   /* launch: bytes that all runs begin at a multiple of */
  const tj_node *log;                                /* of the slots along b */
  const tj_node *x, *y, *x_a, *y_b, *y_d;            /* launch: columns, rows, and those along each mode */
  tj_measure along_b, along_d;                       /* slots along b, and along d */
  tj_measure column_a, row_b;                        /* columns along a, and rows along b */
  tj_measure last_a, last_b, last_row_b, last_row_d; /* where the last column, vector, or row begins */
  tj_measure pitch;                                  /* elements of a column in LDS */
  tj_measure row_columns;                            /* by so many a row's columns are numbered on, in places */
} turn;

static int64_t bytes_of(const tj_flexible *f, uint32_t buffer) {
  return tj_dtype_bits(f->kernel->buffer[buffer].dtype) / 8;
}

static unsigned log2_of(int64_t power) {
  return (unsigned)__builtin_ctzll((unsigned long long)power);
}

static const tj_node *int_of(const turn *t, int64_t value) {
  return tj_int(t->graph, value);
}

/* --- widths --- */

static int64_t least_of(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* A work-item loads as many vectors of every type; vectors of either side are not much longer than the other's. */
static void choose_widths(turn *t) {
  tj_flexible *f = t->f;
  int64_t loaded = f->target->vector_bytes / bytes_of(f, f->source);
  int64_t stored = f->target->vector_bytes / bytes_of(f, f->destination);
  int64_t carried = tj_dtype_bits(f->kernel->carried) / 8;
  t->loaded = least_of(loaded, 2 * stored);
  t->stored = least_of(stored, 2 * loaded);
  t->word = carried < 4 ? least_of(t->stored, 4 / carried) : 1;
  t->together = t->stored / t->word;
  t->slots = LOADS / t->word;
  t->rounding = PLACES / t->slots;
  int64_t stores = LOADS * t->loaded / t->stored;
  t->vectors = stores > t->loaded ? stores / t->loaded : 1;
  t->column = t->vectors * t->loaded;
  t->rows = least_of(t->column, stores);
  t->parts = t->column / t->rows;
  t->most_x = t->most_y = TJ_FLEXIBLE_ITEMS / (t->slots * t->parts);
}

/* --- the shape of the box --- */

static const tj_node *extent_or_one(const turn *t, const tj_flexible_mode *mode) {
  return mode != NULL ? mode->extent.launch : int_of(t, 1);
}

/* What is moved when `along` slots of a row are along b, and the others along d, in slots. */
static const tj_node *cost_of_slots(turn *t, const tj_node *vectors, int64_t along) {
  enum { MANY = 1 << 20 };
  tj_graph *graph = t->graph;
  const tj_node *of_b = int_of(t, along), *of_d = int_of(t, t->slots / along);
  const tj_node *parts_b = tj_flexible_parts(graph, tj_flexible_at_most(graph, vectors, MANY), of_b);
  const tj_node *parts_d = tj_flexible_parts(graph, tj_flexible_at_most(graph, extent_or_one(t, t->d), MANY), of_d);
  return tj_mul(graph, tj_terse_mul(graph, parts_b, of_b), tj_terse_mul(graph, parts_d, of_d));
}

static void share_slots(turn *t, const tj_node *vectors) {
  tj_graph *graph = t->graph;
  t->log = int_of(t, log2_of(t->slots));
  if (t->d == NULL)
    return;
  const tj_node *best = cost_of_slots(t, vectors, t->slots);
  for (int64_t along = t->slots / 2; along >= 1; along /= 2) {
    const tj_node *cost = cost_of_slots(t, vectors, along);
    t->log = tj_flexible_choice(graph, tj_less(graph, cost, best), int_of(t, log2_of(along)), t->log);
    best = tj_min(graph, best, cost);
  }
}

static const tj_node *power_of(const turn *t, const tj_node *log) {
  return tj_flexible_at_least(t->graph, tj_shl(t->graph, int_of(t, 1), log), 1);
}

/* How much there is along each mode: columns of a, coordinates of c, rows of b and d. */
typedef struct {
  const tj_node *a, *b, *c, *d;
} amounts;

/* How much of it a tile has. */
typedef struct {
  amounts of;
  const tj_node *x, *y, *cost;
} box;

static const tj_node *quotient_of(const turn *t, const tj_node *a, const tj_node *b) {
  return tj_flexible_at_least(t->graph, tj_terse_div(t->graph, a, b), 1);
}

/* Columns or rows that make a cache line. */
static int64_t columns_of_line(const turn *t) {
  return t->vectors < LINE_VECTORS ? LINE_VECTORS / t->vectors : 1;
}

/* Costs more, if a part of all is not made of whole cache lines. */
static const tj_node *with_cut_lines(const turn *t, const tj_node *cost, const tj_node *all, const tj_node *part,
                                     int64_t line) {
  enum { SHARE = 4 };
  tj_graph *graph = t->graph;
  const tj_node *is_cut = tj_not(graph, tj_equal(graph, tj_terse_mod(graph, part, int_of(t, line)), int_of(t, 0)));
  is_cut = tj_and(graph, is_cut, tj_less(graph, part, all));
  return tj_flexible_choice(graph, is_cut, tj_add(graph, cost, tj_div(graph, cost, int_of(t, SHARE))), cost);
}

/* The bytes that all runs of a side begin at a multiple of, as far as the strides of the modes tell along which it
 * has no neighbours. */
static const tj_node *grain_of(const turn *t, uint32_t side, const tj_flexible_mode *first) {
  tj_graph *graph = t->graph;
  const tj_flexible *f = t->f;
  int64_t bytes = bytes_of(f, side == TJ_FLEXIBLE_SOURCE ? f->source : f->destination);
  const tj_node *grain = int_of(t, bytes);
  for (int64_t wanted = 2 * bytes; wanted <= t->line; wanted *= 2) {
    const tj_node *truth = int_of(t, 1);
    for (uint32_t m = 0; m < f->domain->count; m++) {
      const tj_node *rest = tj_terse_mod(graph, f->mode[m].stride[side].launch, int_of(t, wanted / bytes));
      if (&f->mode[m] != first)
        truth = tj_terse_both(graph, truth, tj_equal(graph, rest, int_of(t, 0)));
    }
    grain = tj_flexible_choice(graph, truth, int_of(t, wanted), grain);
  }
  return grain;
}

/* The cache lines that runs of so many vectors touch, of `most` at a time, in parts of those that they fill. A run
 * that begins anywhere touches another line or none, by where it ends; so all but the grain of a line counts half. */
static const tj_node *lines_of(const turn *t, const tj_node *vectors, int64_t most, const tj_node *grain) {
  enum { PARTS = 32 };
  tj_graph *graph = t->graph;
  const tj_node *run = tj_flexible_at_most(graph, vectors, most);
  const tj_node *bytes = tj_terse_mul(graph, run, int_of(t, t->f->target->vector_bytes));
  const tj_node *cut = tj_terse_div(graph, tj_sub(graph, int_of(t, t->line), grain), int_of(t, 2));
  return tj_div(graph, tj_terse_mul(graph, tj_terse_add(graph, bytes, cut), int_of(t, PARTS)), bytes);
}

static const tj_node *with_lines(const turn *t, const tj_node *cost, const box *part) {
  enum { LANES = 64 };
  tj_graph *graph = t->graph;
  const tj_node *loaded = tj_terse_mul(graph, part->of.a, int_of(t, t->vectors));
  const tj_node *stored = tj_terse_mul(graph, part->of.b, t->along_b.launch);
  cost = tj_mul(graph, cost, lines_of(t, loaded, LANES / t->together, t->source_grain));
  return tj_mul(graph, cost, lines_of(t, stored, LANES, t->destination_grain));
}

/* What moving everything by such tiles costs: each tile, each of its waves, and the lines that its runs touch. */
static const tj_node *cost_of(const turn *t, const amounts *all, const box *part) {
  enum { MANY = 1 << 10, TILE = 1, WAVE = 3 };
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
  cost = with_lines(t, cost, part);
  cost = with_cut_lines(t, cost, all->b, part->of.b, t->rounding);
  return with_cut_lines(t, cost, all->a, part->of.a, columns_of_line(t));
}

/* How many columns, or rows, a tile has: all, or one of as few equal parts as possible, of whole cache lines. */
static const tj_node *whole_lines(const turn *t, const tj_node *all, const tj_node *most, int64_t line) {
  tj_graph *graph = t->graph;
  const tj_node *part = tj_flexible_balanced(graph, all, most);
  const tj_node *lines = tj_terse_mul(graph, tj_flexible_parts(graph, part, int_of(t, line)), int_of(t, line));
  const tj_node *is_part = tj_and(graph, tj_less(graph, part, all), tj_less_equal(graph, lines, most));
  return tj_flexible_choice(graph, is_part, lines, part);
}

/* A box of rows for about so many cache lines; a narrow one has no more columns along a than a cache line has. */
static box box_of(const turn *t, const amounts *all, int64_t lines, bool is_narrow) {
  tj_graph *graph = t->graph;
  const tj_node *wanted = int_of(t, least_of(lines * t->rounding, t->most_y)), *rounding = int_of(t, t->rounding);
  box part;
  part.of.b = whole_lines(t, all->b, wanted, t->rounding);
  part.of.d = tj_flexible_balanced(graph, all->d, quotient_of(t, wanted, part.of.b));
  part.y = tj_flexible_at_most(graph, tj_terse_mul(graph, part.of.b, part.of.d), t->most_y);
  const tj_node *rounded = tj_terse_mul(graph, tj_flexible_parts(graph, part.y, rounding), rounding);
  const tj_node *most = quotient_of(t, int_of(t, t->most_x), rounded);
  int64_t line = columns_of_line(t);
  part.of.a = whole_lines(t, all->a, is_narrow ? tj_flexible_at_most(graph, most, line) : most, line);
  part.of.c = tj_flexible_balanced(graph, all->c, quotient_of(t, most, part.of.a));
  part.x = tj_flexible_at_most(graph, tj_terse_mul(graph, part.of.a, part.of.c), t->most_x);
  part.cost = cost_of(t, all, &part);
  return part;
}

/* The later of two boxes where it is clearly cheaper. */
static box better_box(const turn *t, box first, box second) {
  enum { PARTS = 16 };
  tj_graph *graph = t->graph;
  const tj_node *margin = tj_div(graph, second.cost, int_of(t, PARTS));
  const tj_node *is_better = tj_less(graph, tj_add(graph, second.cost, margin), first.cost);
  const tj_node **const to[] = {&first.of.a, &first.of.b, &first.of.c, &first.of.d, &first.x, &first.y, &first.cost};
  const tj_node *from[] = {second.of.a, second.of.b, second.of.c, second.of.d, second.x, second.y, second.cost};
  for (size_t i = 0; i < sizeof to / sizeof to[0]; i++)
    *to[i] = tj_flexible_choice(graph, is_better, from[i], *to[i]);
  return first;
}

static void choose_box(turn *t, const amounts *all) {
  const int64_t *wanted = wanted_lines[t->rounding > 1];
  box best = box_of(t, all, wanted[0], false);
  for (size_t i = 1; i < 2 * sizeof wanted_lines[0] / sizeof wanted_lines[0][0]; i++)
    best = better_box(t, best, box_of(t, all, wanted[i / 2], i % 2 == 1));
  t->x_a = best.of.a;
  t->y_b = best.of.b;
  t->y_d = best.of.d;
  t->x = best.x;
  t->y = best.y;
  if (t->c != NULL)
    t->c->length = best.of.c;
}

static void choose_shape(turn *t) {
  tj_graph *graph = t->graph;
  const tj_node *vectors = tj_flexible_parts(graph, t->b->extent.launch, int_of(t, t->stored));
  share_slots(t, vectors);
  t->along_b = tj_flexible_measure(t->f, "along", power_of(t, t->log), 1, t->slots, 1);
  t->along_d.launch = power_of(t, tj_sub(graph, int_of(t, log2_of(t->slots)), t->log));
  t->along_d = tj_flexible_measure(t->f, "along", t->along_d.launch, 1, t->slots, 1);
  amounts all = {.a = tj_flexible_parts(graph, t->a->extent.launch, int_of(t, t->column)),
                 .b = tj_flexible_parts(graph, vectors, t->along_b.launch),
                 .c = extent_or_one(t, t->c),
                 .d = tj_flexible_parts(graph, extent_or_one(t, t->d), t->along_d.launch)};
  choose_box(t, &all);
}

/* Columns in a row of places, where the vectors of a column are as far apart as can be. */
static int64_t columns_of_places(const turn *t) {
  return PLACES / t->vectors;
}

/* Whether a block has two rows, and a column one vector. */
static bool has_pairs(const turn *t) {
  return t->rounding == 2 && t->vectors == 1;
}

/* Columns are numbered on from those of the row before, unless places tell rows or slots along d apart by them. */
static const tj_node *columns_of_row(const turn *t) {
  tj_graph *graph = t->graph;
  const tj_node *columns = int_of(t, columns_of_places(t));
  if (t->rounding > 1 && !has_pairs(t))
    return int_of(t, 0);
  return tj_flexible_choice(
      graph, tj_less_equal(graph, int_of(t, least_of(t->slots, columns_of_places(t))), t->along_b.launch),
      tj_terse_mod(graph, t->x, columns), int_of(t, 0));
}

/* The lengths of the tile, and the names of what work-items need of them. */
static void measure_shape(turn *t) {
  tj_flexible *f = t->f;
  tj_graph *graph = t->graph;
  const tj_node *row = tj_terse_mul(graph, t->along_b.launch, int_of(t, t->stored));
  t->a->length = tj_min(graph, t->a->extent.launch, tj_mul(graph, t->x_a, int_of(t, t->column)));
  t->b->length = tj_min(graph, t->b->extent.launch, tj_mul(graph, t->y_b, row));
  tj_flexible_demand(f, tj_less_equal(graph, int_of(t, t->column), t->a->extent.launch));
  tj_flexible_demand(f, tj_less_equal(graph, int_of(t, t->stored), t->b->extent.launch));
  const tj_node *last_a = tj_sub(graph, t->a->length, int_of(t, t->column));
  const tj_node *last_b = tj_sub(graph, t->b->length, int_of(t, t->stored));
  const tj_node *last_row_b = tj_sub(graph, t->b->length, row);
  t->last_a = tj_flexible_measure(f, "last", tj_flexible_at_least(graph, last_a, 0), 0, INT32_MAX, 1);
  t->last_b = tj_flexible_measure(f, "last", tj_flexible_at_least(graph, last_b, 0), 0, INT32_MAX, 1);
  t->last_row_b = tj_flexible_measure(f, "last", tj_flexible_at_least(graph, last_row_b, 0), 0, INT32_MAX, 1);
  t->column_a = tj_flexible_measure(f, "columns", t->x_a, 1, t->most_x, 1);
  t->row_b = tj_flexible_measure(f, "rows", t->y_b, 1, t->most_y, 1);
  if (t->d != NULL) {
    t->d->length = tj_min(graph, t->d->extent.launch, tj_mul(graph, t->y_d, t->along_d.launch));
    const tj_node *last_row_d = tj_sub(graph, t->d->length, t->along_d.launch);
    t->last_row_d = tj_flexible_measure(f, "last", tj_flexible_at_least(graph, last_row_d, 0), 0, INT32_MAX, 1);
  }
  int64_t block = PLACES * t->column * t->stored;
  const tj_node *blocks = tj_flexible_parts(graph, t->y, int_of(t, t->rounding));
  t->pitch =
      tj_flexible_measure(f, "pitch", tj_mul(graph, blocks, int_of(t, block)), block, block * t->most_y, block);
  t->row_columns = tj_flexible_measure(f, "columns", columns_of_row(t), 0, PLACES - 1, 1);
  f->kernel->lds_elements = (uint32_t)(t->most_x * t->slots * t->column * t->stored);
  f->kernel->slot_count = (uint32_t)(LOADS * t->loaded);
}

/* --- places of work-items --- */

/* A column: where it begins along a, and its coordinate of c. */
typedef struct {
  const tj_node *x, *a, *c;
} column;

/* A row, or a slot of one: where it begins along b and d; its number, of which that along b. */
typedef struct {
  const tj_node *b, *d, *y, *of_b;
} row;

static column column_of(turn *t, const tj_node *x) {
  tj_flexible_digits digits = {int_of(t, 0), x};
  if (t->c != NULL)
    digits = tj_flexible_split(t->f, x, t->column_a, t->most_x);
  const tj_node *first = tj_terse_mul(t->graph, digits.remainder, int_of(t, t->column));
  return (column){x, tj_flexible_least(t->f, first, t->last_a), digits.quotient};
}

static row row_of(turn *t, const tj_node *of_b, const tj_node *of_d) {
  tj_graph *graph = t->graph;
  row r = {.of_b = of_b};
  const tj_node *length = tj_terse_mul(graph, t->along_b.name, int_of(t, t->stored));
  r.b = tj_flexible_least(t->f, tj_terse_mul(graph, of_b, length), t->last_row_b);
  r.d = int_of(t, 0);
  r.y = of_b;
  if (t->d == NULL)
    return r;
  r.d = tj_flexible_least(t->f, tj_terse_mul(graph, of_d, t->along_d.name), t->last_row_d);
  r.y = tj_terse_add(graph, of_b, tj_flexible_product(t->f, of_d, t->row_b.name, t->most_y));
  return r;
}

/* --- offsets --- */

static const tj_node *with_part(turn *t, const tj_node *sum, const tj_node *digit, const tj_flexible_mode *mode,
                                uint32_t form) {
  return mode == NULL ? sum : tj_terse_add(t->graph, sum, tj_flexible_part(t->f, mode, form, digit));
}

/* A work-item's part of a form of a side. */
static const tj_node *offset_of(turn *t, const column *x, const row *y, uint32_t form, uint32_t side) {
  const tj_node *sum = int_of(t, 0);
  if (side == TJ_FLEXIBLE_SOURCE)
    sum = with_part(t, with_part(t, sum, x->a, t->a, form), y->b, t->b, form);
  else
    sum = with_part(t, with_part(t, sum, y->b, t->b, form), x->a, t->a, form);
  return with_part(t, with_part(t, sum, x->c, t->c, form), y->d, t->d, form);
}

/* By what the place of a vector changes where a block has pairs of rows, which one bit tells apart. An odd number of
 * rows has the column's lowest bit change that one, so that it changes from row to row throughout the tile. */
static const tj_node *change_of_pairs(turn *t, const tj_node *x, const tj_node *running) {
  tj_graph *graph = t->graph;
  const tj_node *is_odd = tj_terse_mod(graph, t->y, int_of(t, 2)), *slots = int_of(t, t->slots);
  const tj_node *is_even = tj_sub(graph, int_of(t, 1), is_odd);
  tj_measure low = tj_flexible_measure(t->f, "low", is_odd, 0, 1, 1);
  tj_measure high = tj_flexible_measure(t->f, "high", tj_mul(graph, is_even, int_of(t, 2)), 0, 2, 1);
  const tj_node *of_slots = tj_terse_mod(graph, tj_shr(graph, running, low.name), slots);
  const tj_node *of_rows = tj_terse_mod(graph, tj_shr(graph, x, high.name), int_of(t, 2));
  return tj_terse_add(graph, of_slots, tj_terse_mul(graph, of_rows, slots));
}

/* By what it changes with the column, its part, and the row, from which columns are numbered on. */
static const tj_node *change_of(turn *t, const tj_node *x, const tj_node *part, const tj_node *y) {
  tj_graph *graph = t->graph;
  const tj_node *columns = int_of(t, columns_of_places(t));
  const tj_node *running = tj_terse_add(graph, x, tj_terse_mul(graph, y, t->row_columns.name));
  if (has_pairs(t))
    return change_of_pairs(t, x, running);
  return tj_terse_add(graph, tj_terse_mod(graph, running, columns), tj_terse_mul(graph, part, columns));
}

/* Which of the eight places of its block a vector takes: by its slot, changed by the vector of the source whose
 * elements it has, so that work-items that load neighbours store to different places, those of two rows as well; and
 * by its row along b, so that vectors which follow each other there are in different places. */
static const tj_node *place_of(turn *t, const row *y, const tj_node *slot, const tj_node *x, const tj_node *part) {
  tj_graph *graph = t->graph;
  const tj_node *within = tj_terse_mod(graph, y->y, int_of(t, t->rounding));
  const tj_node *number = tj_terse_add(graph, tj_terse_mul(graph, within, int_of(t, t->slots)), slot);
  number = tj_xor(graph, number, change_of(t, x, part, y->y));
  if (t->d == NULL)
    return number;
  const tj_node *mask =
      tj_flexible_measure(t->f, "mask", tj_sub(graph, t->along_d.launch, int_of(t, 1)), 0, t->slots - 1, 1).name;
  const tj_node *above = tj_terse_div(graph, y->of_b, int_of(t, t->rounding));
  const tj_node *turned = tj_flexible_product(t->f, tj_and(graph, above, mask), t->along_b.name, t->slots);
  return tj_xor(graph, number, turned);
}

static const tj_node *lds_offset(turn *t, const column *x, const row *y, const tj_node *slot, const tj_node *part) {
  tj_graph *graph = t->graph;
  int64_t block = PLACES * t->column * t->stored;
  const tj_node *of_column = tj_flexible_product(t->f, x->x, t->pitch.name, t->f->kernel->lds_elements);
  const tj_node *of_block = tj_terse_mul(graph, tj_terse_div(graph, y->y, int_of(t, t->rounding)), int_of(t, block));
  const tj_node *of_place = tj_terse_mul(graph, place_of(t, y, slot, x->x, part), int_of(t, t->stored));
  return tj_terse_add(graph, tj_terse_add(graph, of_column, of_block), of_place);
}

/* The same in another place of the block. */
static const tj_node *moved(turn *t, const tj_node *offset, int64_t places) {
  return places == 0 ? offset : tj_xor(t->graph, offset, int_of(t, places * t->stored));
}

/* --- loading --- */

/* Where a slot of a row is, from the row's beginning: the same for all work-items. */
static const tj_node *offset_of_slot(turn *t, int64_t slot, uint32_t form) {
  tj_graph *graph = t->graph;
  const tj_node *number = int_of(t, slot), *along = t->along_b.launch;
  const tj_node *of_b = tj_mul(graph, tj_terse_mod(graph, number, along), int_of(t, t->stored));
  const tj_node *last_b = t->last_b.launch;
  const tj_node *sum = tj_terse_mul(graph, tj_min(graph, of_b, last_b), t->b->stride[form].launch);
  if (t->d != NULL) {
    const tj_node *last_d = tj_sub(graph, t->d->length, int_of(t, 1));
    const tj_node *of_d = tj_min(graph, tj_terse_div(graph, number, along), tj_flexible_at_least(graph, last_d, 0));
    sum = tj_terse_add(graph, sum, tj_terse_mul(graph, of_d, t->d->stride[form].launch));
  }
  return tj_flexible_measure(t->f, "slot", sum, 0, tj_flexible_slot_limit(form), 1).name;
}

static void add_loads(turn *t, const column *x, const row *y) {
  tj_flexible *f = t->f;
  tj_graph *graph = t->graph;
  tj_flexible_place place[TJ_FLEXIBLE_FORMS];
  for (int64_t n = 0; n < t->slots * t->word; n++) {
    for (uint32_t form = 0; form < f->form_count; form++) {
      if (!tj_flexible_is_of(f, form, TJ_FLEXIBLE_SOURCE))
        continue;
      const tj_node *further = tj_terse_mul(graph, int_of(t, n % t->word), t->b->stride[form].name);
      place[form].of_item = offset_of(t, x, y, form, TJ_FLEXIBLE_SOURCE);
      place[form].of_all = tj_terse_add(graph, offset_of_slot(t, n / t->word, form), further);
    }
    tj_flexible_move(f, TJ_FLEXIBLE_SOURCE, place, (uint32_t)t->loaded, (uint32_t)(n * t->loaded));
  }
}

/* Into LDS: the elements of a word are of different vectors. */
static void add_turned(turn *t, const tj_node *first) {
  for (int64_t slot = 0; slot < t->slots; slot++) {
    const tj_node *offset = moved(t, first, slot);
    for (int64_t j = 0; j < t->loaded; j++) {
      tj_access access = {.buffer = TJ_LDS, .offset = offset, .displacement = j * PLACES * t->stored};
      tj_flexible_step(t->f, TJ_STEP_STORE, access, (uint32_t)t->word, (uint32_t)(slot * t->word * t->loaded + j),
                       (uint32_t)t->loaded);
    }
  }
}

/* Neighbouring work-items load the vectors of a word each; then come vectors and columns, then rows. */
static void add_loading(turn *t) {
  tj_flexible *f = t->f;
  tj_graph *graph = t->graph;
  const tj_node *item = f->kernel->item;
  const tj_node *word = tj_terse_mul(graph, tj_terse_mod(graph, item, int_of(t, t->together)), int_of(t, t->word));
  const tj_node *vectors = tj_terse_mul(graph, t->x, int_of(t, t->vectors));
  const tj_node *number = tj_terse_div(graph, item, int_of(t, t->together));
  int64_t most = t->most_x * t->vectors;
  tj_flexible_gate(f, number, tj_mul(graph, vectors, t->y), most);
  tj_flexible_digits place =
      tj_flexible_split(f, number, tj_flexible_measure(f, "vectors", vectors, 1, most, 1), most);
  tj_flexible_digits rows = {int_of(t, 0), place.quotient};
  if (t->d != NULL)
    rows = tj_flexible_split(f, place.quotient, t->row_b, t->most_y);
  const tj_node *vector = place.remainder;
  const tj_node *part = tj_terse_mod(graph, vector, int_of(t, t->vectors));
  const tj_node *first_row = tj_terse_mul(graph, part, int_of(t, t->loaded));
  column x = column_of(t, tj_terse_div(graph, vector, int_of(t, t->vectors)));
  row y = row_of(t, rows.remainder, rows.quotient);
  const tj_node *into = tj_terse_add(graph, lds_offset(t, &x, &y, int_of(t, 0), part),
                                     tj_terse_mul(graph, first_row, int_of(t, PLACES * t->stored)));
  x.a = tj_terse_add(graph, x.a, first_row);
  y.b = tj_terse_add(graph, y.b, word);
  add_loads(t, &x, &y);
  add_turned(t, tj_terse_add(graph, into, word));
}

/* --- storing --- */

/* A work-item's vectors of the destination: which slot of which row; and which column, and part of it. */
typedef struct {
  row y;
  const tj_node *slot, *x, *part;
} stored_place;

/* A number of slots in memory's order: the slot, and the row that it is of. */
static tj_flexible_digits slot_of(turn *t, const tj_node *number, tj_measure along, const tj_node *log) {
  tj_graph *graph = t->graph;
  if (tj_is_constant(along.launch))
    return (tj_flexible_digits){tj_terse_div(graph, number, along.name), tj_terse_mod(graph, number, along.name)};
  tj_measure shift = tj_flexible_measure(t->f, "log", log, 0, log2_of(t->slots), 1);
  tj_measure mask = tj_flexible_measure(t->f, "mask", tj_sub(graph, along.launch, int_of(t, 1)), 0, t->slots - 1, 1);
  return (tj_flexible_digits){tj_shr(graph, number, shift.name), tj_and(graph, number, mask.name)};
}

static stored_place place_of_vector(turn *t, const tj_node *vector) {
  tj_flexible *f = t->f;
  tj_graph *graph = t->graph;
  stored_place p = {.slot = int_of(t, 0)};
  tj_flexible_digits modes = {int_of(t, 0), vector}, of_d = {int_of(t, 0), int_of(t, 0)};
  if (t->d != NULL) {
    const tj_node *vectors = tj_mul(graph, t->y_b, t->along_b.launch);
    tj_measure of_b = tj_flexible_measure(f, "vectors", vectors, 1, TJ_FLEXIBLE_ITEMS, 1);
    modes = tj_flexible_split(f, vector, of_b, TJ_FLEXIBLE_ITEMS);
    const tj_node *log = tj_sub(graph, int_of(t, log2_of(t->slots)), t->log);
    of_d = slot_of(t, modes.quotient, t->along_d, log);
  }
  tj_flexible_digits of_b = slot_of(t, modes.remainder, t->along_b, t->log);
  p.y = row_of(t, of_b.quotient, of_d.quotient);
  p.slot = tj_terse_add(graph, of_b.remainder, tj_flexible_product(f, of_d.remainder, t->along_b.name, t->slots));
  const tj_node *within = tj_terse_mul(graph, of_b.remainder, int_of(t, t->stored));
  p.y.b = tj_terse_add(graph, p.y.b, tj_flexible_least(f, within, t->last_b));
  if (t->d != NULL) {
    const tj_node *last = tj_flexible_at_least(graph, tj_sub(graph, t->d->length, int_of(t, 1)), 0);
    tj_measure last_d = tj_flexible_measure(f, "last", last, 0, INT32_MAX, 1);
    p.y.d = tj_terse_add(graph, p.y.d, tj_flexible_least(f, of_d.remainder, last_d));
  }
  return p;
}

/* Work-items store neighbouring vectors first, then parts of a column, then columns. */
static stored_place place_of_item(turn *t) {
  tj_flexible *f = t->f;
  tj_graph *graph = t->graph;
  const tj_node *vectors = tj_mul(graph, t->y, int_of(t, t->slots));
  tj_measure count = tj_flexible_measure(f, "vectors", vectors, 1, TJ_FLEXIBLE_ITEMS, 1);
  const tj_node *all = tj_mul(graph, tj_terse_mul(graph, vectors, int_of(t, t->parts)), t->x);
  tj_flexible_gate(f, f->kernel->item, all, TJ_FLEXIBLE_ITEMS);
  tj_flexible_digits digits = tj_flexible_split(f, f->kernel->item, count, TJ_FLEXIBLE_ITEMS);
  stored_place p = place_of_vector(t, digits.remainder);
  p.part = tj_terse_mod(graph, digits.quotient, int_of(t, t->parts));
  p.x = tj_terse_div(graph, digits.quotient, int_of(t, t->parts));
  return p;
}

/* Where an element of a column is, from its first one: the same for all work-items. */
static const tj_node *offset_of_row(turn *t, int64_t number, uint32_t form) {
  const tj_node *offset = tj_terse_mul(t->graph, int_of(t, number), t->a->stride[form].launch);
  return tj_flexible_measure(t->f, "row", offset, 0, tj_flexible_slot_limit(form), 1).name;
}

static void add_stores(turn *t, const column *x, const row *y) {
  tj_flexible *f = t->f;
  tj_flexible_place place[TJ_FLEXIBLE_FORMS];
  for (int64_t i = 0; i < t->rows; i++) {
    for (uint32_t form = 0; form < f->form_count; form++) {
      if (tj_flexible_is_of(f, form, TJ_FLEXIBLE_DESTINATION))
        place[form] =
            (tj_flexible_place){offset_of(t, x, y, form, TJ_FLEXIBLE_DESTINATION), offset_of_row(t, i, form)};
    }
    tj_flexible_move(f, TJ_FLEXIBLE_DESTINATION, place, (uint32_t)t->stored, (uint32_t)(i * t->stored));
  }
}

/* Out of LDS, and then to the destination. */
static void add_storing(turn *t) {
  tj_flexible *f = t->f;
  tj_graph *graph = t->graph;
  stored_place p = place_of_item(t);
  column x = column_of(t, p.x);
  const tj_node *first_row = tj_terse_mul(graph, p.part, int_of(t, t->rows));
  const tj_node *from = tj_terse_add(graph, lds_offset(t, &x, &p.y, p.slot, int_of(t, 0)),
                                     tj_terse_mul(graph, first_row, int_of(t, PLACES * t->stored)));
  x.a = tj_terse_add(graph, x.a, first_row);
  for (int64_t i = 0; i < t->rows; i++) {
    tj_access access = {.buffer = TJ_LDS,
                        .offset = moved(t, from, i / t->loaded * columns_of_places(t)),
                        .displacement = i * PLACES * t->stored};
    tj_flexible_step(f, TJ_STEP_LOAD, access, (uint32_t)t->stored, (uint32_t)(i * t->stored), 1);
  }
  add_stores(t, &x, &p.y);
}

/* --- kernels --- */

static tj_flexible_mode *mode_or_none(tj_flexible *f, uint32_t mode) {
  return mode != TJ_FLEXIBLE_NONE ? &f->mode[mode] : NULL;
}

void *tj_flexible_turn_shape(tj_flexible *f) {
  turn *t = TJ_NEW(f->graph->job, turn);
  *t = (turn){.f = f,
              .graph = f->graph,
              .a = &f->mode[f->first_loaded],
              .b = &f->mode[f->first_stored],
              .c = mode_or_none(f, f->next_loaded),
              .d = mode_or_none(f, f->next_stored)};
  t->line = tj_cache_line_bytes(f->target->processor);
  t->source_grain = grain_of(t, TJ_FLEXIBLE_SOURCE, t->a);
  t->destination_grain = grain_of(t, TJ_FLEXIBLE_DESTINATION, t->b);
  choose_widths(t);
  choose_shape(t);
  measure_shape(t);
  tj_flexible_place_tiles(f);
  return t;
}

void tj_flexible_turn_steps(void *shape) {
  turn *t = shape;
  tj_kernel *kernel = t->f->kernel;
  add_loading(t);
  kernel->step[kernel->step_count++] = (tj_kernel_step){.kind = TJ_STEP_BARRIER};
  add_storing(t);
}
