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
#include "lower/flexible/flexible_maker.h"

enum {
  PLACES = 8,       /* vectors of a block */
  LOADS = 8,        /* vectors that a work-item loads */
  LINE_VECTORS = 8, /* of a cache line */
  WAVES = 4,        /* of a workgroup, or twice as many */
};

/* Cache lines of the destination's runs in a tile, in order of preference: of rows as long as a line, and of shorter
 * ones, whose columns are shorter too. */
static const int64_t wanted_lines[][5] = {{4, 8, 2, 3, 6}, {2, 4, 1, 3, 6}};

/* What of a side's items says where an element is in LDS; NULL: there is only one. */
typedef struct {
  const tj_tuple *x, *part;        /* columns, and parts of one */
  const tj_tuple *row_b, *row_d;   /* rows */
  const tj_tuple *slot_b, *slot_d; /* slots of one */
  const tj_tuple *word;            /* words of a vector */
} side_parts;

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
  const tj_node *source_grain, *destination_grain; /* launch: bytes that all runs begin at a multiple of */
  const tj_node *log;                              /* of the slots along b */
  const tj_node *x, *y, *x_a, *x_c, *y_b, *y_d;    /* launch: columns, rows, and those along each mode */
  tj_measure along_b, along_d;                     /* slots along b, and along d */
  tj_measure row_b;                                /* rows along b */
  tj_measure pitch;                                /* elements of a column in LDS */
  tj_measure row_columns;                          /* by so many a row's columns are numbered on, in places */
  side_parts load, store;
} turn;

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
  uint32_t *width = f->width;
  for (uint32_t side = 0; side < TJ_FLEXIBLE_BOUNDS && f->given == NULL; side++)
    width[side] = f->target->vector_bytes / tj_element_bytes(f->kernel, tj_flexible_buffer(f, side));
  int64_t loaded = width[TJ_FLEXIBLE_SOURCE], stored = width[TJ_FLEXIBLE_DESTINATION];
  int64_t carried = tj_dtype_bits(f->kernel->carried) / 8;
  t->loaded = width[TJ_FLEXIBLE_SOURCE] = (uint32_t)least_of(loaded, 2 * stored);
  t->stored = width[TJ_FLEXIBLE_DESTINATION] = (uint32_t)least_of(stored, 2 * loaded);
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
  int64_t bytes = tj_element_bytes(f->kernel, tj_flexible_buffer(f, side));
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
  t->x_c = best.of.c;
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

/* The lengths of the tile, and the names of what LDS needs of them. */
static void measure_shape(turn *t) {
  tj_flexible *f = t->f;
  tj_graph *graph = t->graph;
  const tj_node *row = tj_terse_mul(graph, t->along_b.launch, int_of(t, t->stored));
  t->a->length = tj_min(graph, t->a->extent.launch, tj_mul(graph, t->x_a, int_of(t, t->column)));
  t->b->length = tj_min(graph, t->b->extent.launch, tj_mul(graph, t->y_b, row));
  if (t->d != NULL)
    t->d->length = tj_min(graph, t->d->extent.launch, tj_mul(graph, t->y_d, t->along_d.launch));
  tj_flexible_need(f, f->first_loaded, t->column);
  tj_flexible_need(f, f->first_stored, t->stored);
  t->row_b = tj_flexible_measure(f, "items", t->y_b, 1, t->most_y, 1);
  int64_t block = PLACES * t->column * t->stored;
  const tj_node *blocks = tj_flexible_parts(graph, t->y, int_of(t, t->rounding));
  t->pitch =
      tj_flexible_measure(f, "pitch", tj_mul(graph, blocks, int_of(t, block)), block, block * t->most_y, block);
  t->row_columns = tj_flexible_measure(f, "columns", columns_of_row(t), 0, PLACES - 1, 1);
  f->kernel->lds_elements = (uint32_t)(t->most_x * t->slots * t->column * t->stored);
  f->kernel->slot_count = (uint32_t)(LOADS * t->loaded);
}

/* --- the mapping --- */

/* The numbers that the launch chooses. */
typedef struct {
  const tj_node *items_a, *items_b, *items_c, *items_d, *slots_b, *slots_d;
  const tj_node *step_b; /* of rows */
} shares;

static shares choose_shares(turn *t) {
  tj_flexible *f = t->f;
  tj_graph *graph = t->graph;
  shares s = {.items_a = tj_flexible_items(f, f->first_loaded, t->x_a, t->most_x),
              .items_c = tj_flexible_items(f, f->next_loaded, t->x_c, t->most_x),
              .items_b = tj_flexible_items(f, f->first_stored, t->y_b, t->most_y),
              .items_d = tj_flexible_items(f, f->next_stored, t->y_d, t->most_y),
              .slots_b = int_of(t, t->slots),
              .slots_d = int_of(t, 1)};
  if (t->d != NULL) {
    const tj_node *log_d = tj_sub(graph, int_of(t, log2_of(t->slots)), t->log);
    s.slots_b = tj_flexible_slots(f, f->first_stored, t->along_b.launch, t->log, t->slots);
    s.slots_d = tj_flexible_slots(f, f->next_stored, t->along_d.launch, log_d, t->slots);
  }
  s.step_b = tj_terse_mul(graph, s.slots_b, int_of(t, t->stored));
  return s;
}

static const tj_tuple *put_columns(turn *t, tj_flexible_list *list, const shares *s) {
  tj_flexible *f = t->f;
  tj_flexible_list columns = {.count = 0};
  tj_flexible_put(f, &columns, s->items_a, f->first_loaded, int_of(t, t->column));
  tj_flexible_put(f, &columns, s->items_c, f->next_loaded, int_of(t, 1));
  const tj_tuple *made = tj_flexible_put_list(f, list, &columns);
  tj_flexible_group(f, made, t->x, t->most_x);
  return made;
}

/* Neighbouring work-items load the vectors of a word each; then come vectors and columns, then rows. */
static void make_load(turn *t, const shares *s, tj_flexible_list load[2]) {
  tj_flexible *f = t->f;
  tj_flexible_list columns = {.count = 0}, rows = {.count = 0};
  t->load.word = tj_flexible_put(f, &load[0], int_of(t, t->together), f->first_stored, int_of(t, t->word));
  t->load.part = tj_flexible_put(f, &columns, int_of(t, t->vectors), f->first_loaded, int_of(t, t->loaded));
  t->load.x = put_columns(t, &columns, s);
  const tj_tuple *all = tj_flexible_put_list(f, &load[0], &columns);
  if (all != t->load.x)
    tj_flexible_group(f, all, tj_terse_mul(t->graph, t->x, int_of(t, t->vectors)), t->most_x * t->vectors);
  t->load.row_b = tj_flexible_put(f, &rows, s->items_b, f->first_stored, s->step_b);
  t->load.row_d = tj_flexible_put(f, &rows, s->items_d, f->next_stored, s->slots_d);
  tj_flexible_put_list(f, &load[0], &rows);
  tj_flexible_put_vector(f, &load[1], TJ_FLEXIBLE_SOURCE);
  tj_flexible_put(f, &load[1], int_of(t, t->word), f->first_stored, int_of(t, 1));
  tj_flexible_put(f, &load[1], s->slots_b, f->first_stored, int_of(t, t->stored));
  tj_flexible_put(f, &load[1], s->slots_d, f->next_stored, int_of(t, 1));
}

/* They store neighbouring vectors first, then parts of a column, then columns. */
static void make_store(turn *t, const shares *s, tj_flexible_list store[2]) {
  tj_flexible *f = t->f;
  tj_graph *graph = t->graph;
  tj_flexible_list vectors = {.count = 0}, of_b = {.count = 0}, of_d = {.count = 0};
  t->store.slot_b = tj_flexible_put(f, &of_b, s->slots_b, f->first_stored, int_of(t, t->stored));
  t->store.row_b = tj_flexible_put(f, &of_b, s->items_b, f->first_stored, s->step_b);
  t->store.slot_d = tj_flexible_put(f, &of_d, s->slots_d, f->next_stored, int_of(t, 1));
  t->store.row_d = tj_flexible_put(f, &of_d, s->items_d, f->next_stored, s->slots_d);
  tj_flexible_group(f, tj_flexible_put_list(f, &vectors, &of_b), tj_mul(graph, t->y_b, t->along_b.launch),
                    TJ_FLEXIBLE_ITEMS);
  tj_flexible_put_list(f, &vectors, &of_d);
  tj_flexible_group(f, tj_flexible_put_list(f, &store[0], &vectors), tj_mul(graph, t->y, int_of(t, t->slots)),
                    TJ_FLEXIBLE_ITEMS);
  t->store.part = tj_flexible_put(f, &store[0], int_of(t, t->parts), f->first_loaded, int_of(t, t->rows));
  t->store.x = put_columns(t, &store[0], s);
  tj_flexible_put_vector(f, &store[1], TJ_FLEXIBLE_DESTINATION);
  tj_flexible_put(f, &store[1], int_of(t, t->rows), f->first_loaded, int_of(t, 1));
}

static void make_mapping(turn *t) {
  tj_flexible_list load[2] = {{.count = 0}, {.count = 0}}, store[2] = {{.count = 0}, {.count = 0}};
  shares s = choose_shares(t);
  make_load(t, &s, load);
  make_store(t, &s, store);
  tj_flexible_set_mapping(t->f, load, store);
}

/* --- LDS --- */

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

/* Where a work-item is in a tile: its column and the part of it, its row and, of that, the number along b, its slot.
 */
typedef struct {
  const tj_node *x, *part, *y, *of_b, *slot;
} lds_place;

static lds_place place_of_item(turn *t, const tj_flexible_hold *hold, const side_parts *parts) {
  tj_flexible *f = t->f;
  tj_graph *graph = t->graph;
  lds_place p = {.x = tj_flexible_number(hold, parts->x),
                 .part = tj_flexible_number(hold, parts->part),
                 .of_b = tj_flexible_number(hold, parts->row_b),
                 .slot = tj_flexible_number(hold, parts->slot_b)};
  const tj_node *of_d = tj_flexible_number(hold, parts->row_d), *slot_d = tj_flexible_number(hold, parts->slot_d);
  p.y = tj_terse_add(graph, p.of_b, tj_flexible_product(f, of_d, t->row_b.name, t->most_y));
  p.slot = tj_terse_add(graph, p.slot, tj_flexible_product(f, slot_d, t->along_b.name, t->slots));
  return p;
}

/* Which of the eight places of its block a vector takes: by its slot, changed by the vector of the source whose
 * elements it has, so that work-items that load neighbours store to different places, those of two rows as well; and
 * by its row along b, so that vectors which follow each other there are in different places. */
static const tj_node *place_of(turn *t, const lds_place *p, const tj_node *part) {
  tj_graph *graph = t->graph;
  const tj_node *within = tj_terse_mod(graph, p->y, int_of(t, t->rounding));
  const tj_node *number = tj_terse_add(graph, tj_terse_mul(graph, within, int_of(t, t->slots)), p->slot);
  number = tj_xor(graph, number, change_of(t, p->x, part, p->y));
  if (t->d == NULL)
    return number;
  const tj_node *mask =
      tj_flexible_measure(t->f, "mask", tj_sub(graph, t->along_d.launch, int_of(t, 1)), 0, t->slots - 1, 1).name;
  const tj_node *above = tj_terse_div(graph, p->of_b, int_of(t, t->rounding));
  const tj_node *turned = tj_flexible_product(t->f, tj_and(graph, above, mask), t->along_b.name, t->slots);
  return tj_xor(graph, number, turned);
}

/* Where the element `first_row` of a place's column is, whose part is `part`. */
static const tj_node *lds_offset(turn *t, const lds_place *p, const tj_node *part, const tj_node *first_row) {
  tj_graph *graph = t->graph;
  int64_t block = PLACES * t->column * t->stored;
  const tj_node *of_column = tj_flexible_product(t->f, p->x, t->pitch.name, t->f->kernel->lds_elements);
  const tj_node *of_block = tj_terse_mul(graph, tj_terse_div(graph, p->y, int_of(t, t->rounding)), int_of(t, block));
  const tj_node *of_place = tj_terse_mul(graph, place_of(t, p, part), int_of(t, t->stored));
  const tj_node *offset = tj_terse_add(graph, tj_terse_add(graph, of_column, of_block), of_place);
  return tj_terse_add(graph, offset, tj_terse_mul(graph, first_row, int_of(t, PLACES * t->stored)));
}

/* The same in another place of the block. */
static const tj_node *moved(turn *t, const tj_node *offset, int64_t places) {
  return places == 0 ? offset : tj_xor(t->graph, offset, int_of(t, places * t->stored));
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

/* From the source, and then into LDS. */
static void add_loading(turn *t) {
  tj_graph *graph = t->graph;
  tj_flexible_hold hold = tj_flexible_split_items(t->f, TJ_FLEXIBLE_SOURCE);
  lds_place p = place_of_item(t, &hold, &t->load);
  const tj_node *first_row = tj_terse_mul(graph, p.part, int_of(t, t->loaded));
  const tj_node *word = tj_terse_mul(graph, tj_flexible_number(&hold, t->load.word), int_of(t, t->word));
  tj_flexible_move_all(&hold);
  add_turned(t, tj_terse_add(graph, lds_offset(t, &p, p.part, first_row), word));
}

/* Out of LDS, and then to the destination. */
static void add_storing(turn *t) {
  tj_flexible_hold hold = tj_flexible_split_items(t->f, TJ_FLEXIBLE_DESTINATION);
  lds_place p = place_of_item(t, &hold, &t->store);
  const tj_node *first_row = tj_terse_mul(t->graph, p.part, int_of(t, t->rows));
  const tj_node *from = lds_offset(t, &p, int_of(t, 0), first_row);
  for (int64_t i = 0; i < t->rows; i++) {
    tj_access access = {.buffer = TJ_LDS,
                        .offset = moved(t, from, i / t->loaded * columns_of_places(t)),
                        .displacement = i * PLACES * t->stored};
    tj_flexible_step(t->f, TJ_STEP_LOAD, access, (uint32_t)t->stored, (uint32_t)(i * t->stored), 1);
  }
  tj_flexible_move_all(&hold);
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
  make_mapping(t);
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
