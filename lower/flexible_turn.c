/* Flexible tiles that turn around in LDS.
 *
 * The tile is a box: vectors of the source along its first mode, and coordinates of its next one, are columns x;
 * vectors of the destination, and coordinates of its next mode, are rows y of several each, its slots. A work-item
 * loads a vector of one column for each of its slots, and stores vectors of some columns. How the slots of a row are
 * shared out between the destination's two modes, and how large the box is along each mode, is up to the launch.
 *
 * In LDS, each column has blocks of eight vectors of the destination by as many elements as its own vectors have:
 * element j of a column's vector is a constant distance away from the first. Which of the eight places a vector takes
 * is changed by the column, so that columns use different banks. */
#include "ir/arith.h"
#include "lower/flexible_maker.h"

enum {
  PLACES = 8,      /* vectors of a block */
  LOADS = 8,       /* vectors that a work-item loads */
  WANTED_ROWS = 4, /* where there are many */
};

typedef struct {
  tj_flexible *f;
  tj_graph *graph;
  tj_flexible_mode *a, *b, *c, *d; /* of source and destination: first modes, next modes or NULL */
  int64_t loaded, stored;          /* elements of vectors */
  int64_t word, together;       /* rows that share a word of LDS; words of neighbouring work-items that do a vector */
  int64_t slots, rounding;      /* vectors of the destination in a row; rows that fill blocks */
  int64_t rows, halves, groups; /* elements of a column's vector that a work-item stores; parts of the vector that
                                   work-items share out; columns of a work-item */
  int64_t most_columns, most_rows; /* columns × rows are fewer than `most_columns`; rows than `most_rows` */
  const tj_node *log;              /* of the slots along b */
  const tj_node *x, *y, *columns_a, *rows_b, *rows_d, *spread; /* launch: columns, rows, and those along each mode;
                                                                  columns that store at a time */
  tj_measure along_b, along_d;                                 /* slots along b, and along d */
  tj_measure column_a, row_b;                                  /* columns along a, and rows along b */
  tj_measure last_a, last_b, last_row_b, last_row_d;           /* where the last vector, or row, begins */
  tj_measure pitch;                                            /* elements of a column in LDS */
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
  t->rows = least_of(t->loaded, stores);
  t->groups = stores / t->rows;
  t->halves = t->loaded / t->rows;
  t->most_columns = TJ_FLEXIBLE_ITEMS / t->together;
  t->most_rows = TJ_FLEXIBLE_ITEMS / (t->slots * t->halves);
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

static const tj_node *rounded_rows(const turn *t) {
  const tj_node *rounding = int_of(t, t->rounding);
  return tj_terse_mul(t->graph, tj_flexible_parts(t->graph, t->y, rounding), rounding);
}

/* Columns for as many rows: whole vectors of a, then coordinates of c. */
static void choose_columns(turn *t, const tj_node *vectors) {
  tj_graph *graph = t->graph;
  const tj_node *most =
      tj_terse_mul(graph, tj_terse_div(graph, int_of(t, t->most_rows), rounded_rows(t)), int_of(t, t->groups));
  most = tj_flexible_at_least(graph, most, 1);
  t->columns_a = tj_flexible_balanced(graph, vectors, most);
  t->x = t->columns_a;
  if (t->c == NULL)
    return;
  const tj_node *left = tj_flexible_at_least(graph, tj_div(graph, most, t->columns_a), 1);
  const tj_node *of_c = tj_flexible_balanced(graph, t->c->extent.launch, left);
  t->c->length = of_c;
  t->x = tj_flexible_at_most(graph, tj_mul(graph, t->columns_a, of_c), t->most_columns);
}

static void choose_rows(turn *t, const tj_node *all_b, const tj_node *most_b, const tj_node *most) {
  tj_graph *graph = t->graph;
  t->rows_b =
      tj_flexible_choice(graph, tj_less_equal(graph, all_b, most_b), all_b, tj_flexible_balanced(graph, all_b, most));
  t->rows_d = int_of(t, 1);
  if (t->d != NULL) {
    const tj_node *left = tj_flexible_at_least(graph, tj_div(graph, most, t->rows_b), 1);
    const tj_node *all_d = tj_flexible_parts(graph, t->d->extent.launch, t->along_d.launch);
    t->rows_d = tj_flexible_balanced(graph, all_d, left);
  }
  t->y = tj_flexible_at_most(graph, tj_terse_mul(graph, t->rows_b, t->rows_d), t->most_rows);
}

/* First as many rows as make runs of a few cache lines, then columns for them, then rows again, where there are too
 * few columns to use all work-items. */
static void choose_shape(turn *t) {
  tj_graph *graph = t->graph;
  const tj_node *columns = tj_flexible_parts(graph, t->a->extent.launch, int_of(t, t->loaded));
  const tj_node *vectors = tj_flexible_parts(graph, t->b->extent.launch, int_of(t, t->stored));
  share_slots(t, vectors);
  t->along_b = tj_flexible_measure(t->f, "along", power_of(t, t->log), 1, t->slots, 1);
  t->along_d.launch = power_of(t, tj_sub(graph, int_of(t, log2_of(t->slots)), t->log));
  t->along_d = tj_flexible_measure(t->f, "along", t->along_d.launch, 1, t->slots, 1);
  const tj_node *all_b = tj_flexible_parts(graph, vectors, t->along_b.launch);
  choose_rows(t, all_b, int_of(t, 2 * WANTED_ROWS - 1), int_of(t, WANTED_ROWS));
  choose_columns(t, columns);
  t->spread = tj_flexible_parts(graph, t->x, int_of(t, t->groups));
  const tj_node *most = tj_flexible_at_least(graph, tj_div(graph, int_of(t, t->most_rows), t->spread), 1);
  most = tj_flexible_at_least(
      graph, tj_terse_mul(graph, tj_terse_div(graph, most, int_of(t, t->rounding)), int_of(t, t->rounding)), 1);
  const tj_node *enough = tj_less(graph, t->y, most);
  const tj_node *rows_b = t->rows_b, *rows_d = t->rows_d, *y = t->y;
  choose_rows(t, all_b, most, most);
  t->rows_b = tj_flexible_choice(graph, enough, t->rows_b, rows_b);
  t->rows_d = tj_flexible_choice(graph, enough, t->rows_d, rows_d);
  t->y = tj_flexible_choice(graph, enough, t->y, y);
}

/* The lengths of the tile, and the names of what work-items need of them. */
static void measure_shape(turn *t) {
  tj_flexible *f = t->f;
  tj_graph *graph = t->graph;
  const tj_node *row = tj_terse_mul(graph, t->along_b.launch, int_of(t, t->stored));
  t->a->length = tj_min(graph, t->a->extent.launch, tj_mul(graph, t->columns_a, int_of(t, t->loaded)));
  t->b->length = tj_min(graph, t->b->extent.launch, tj_mul(graph, t->rows_b, row));
  tj_flexible_demand(f, tj_less_equal(graph, int_of(t, t->loaded), t->a->extent.launch));
  tj_flexible_demand(f, tj_less_equal(graph, int_of(t, t->stored), t->b->extent.launch));
  const tj_node *last_a = tj_sub(graph, t->a->length, int_of(t, t->loaded));
  const tj_node *last_b = tj_sub(graph, t->b->length, int_of(t, t->stored));
  const tj_node *last_row_b = tj_sub(graph, t->b->length, row);
  t->last_a = tj_flexible_measure(f, "last", tj_flexible_at_least(graph, last_a, 0), 0, INT32_MAX, 1);
  t->last_b = tj_flexible_measure(f, "last", tj_flexible_at_least(graph, last_b, 0), 0, INT32_MAX, 1);
  t->last_row_b = tj_flexible_measure(f, "last", tj_flexible_at_least(graph, last_row_b, 0), 0, INT32_MAX, 1);
  t->column_a = tj_flexible_measure(f, "columns", t->columns_a, 1, t->most_columns, 1);
  t->row_b = tj_flexible_measure(f, "rows", t->rows_b, 1, t->most_rows, 1);
  if (t->d != NULL) {
    t->d->length = tj_min(graph, t->d->extent.launch, tj_mul(graph, t->rows_d, t->along_d.launch));
    const tj_node *last_row_d = tj_sub(graph, t->d->length, t->along_d.launch);
    t->last_row_d = tj_flexible_measure(f, "last", tj_flexible_at_least(graph, last_row_d, 0), 0, INT32_MAX, 1);
  }
  int64_t block = PLACES * t->loaded * t->stored;
  const tj_node *blocks = tj_flexible_parts(graph, t->y, int_of(t, t->rounding));
  t->pitch =
      tj_flexible_measure(f, "pitch", tj_mul(graph, blocks, int_of(t, block)), block, block * t->most_rows, block);
  f->kernel->lds_elements = (uint32_t)(t->most_columns * t->slots * t->loaded * t->stored);
  f->kernel->slot_count = (uint32_t)(LOADS * t->loaded);
}

/* --- places of work-items --- */

/* A column: where its vector begins along a, and its coordinate of c. */
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
    digits = tj_flexible_split(t->f, x, t->column_a, t->most_columns);
  const tj_node *first = tj_terse_mul(t->graph, digits.remainder, int_of(t, t->loaded));
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
  r.y = tj_terse_add(graph, of_b, tj_flexible_product(t->f, of_d, t->row_b.name, t->most_rows));
  return r;
}

/* --- offsets --- */

/* A coordinate's part of an offset. */
static const tj_node *part_of(turn *t, const tj_node *sum, const tj_node *digit, const tj_flexible_mode *mode,
                              bool of_source) {
  if (mode == NULL)
    return sum;
  const tj_measure *stride = of_source ? &mode->source : &mode->destination;
  return tj_terse_add(t->graph, sum, tj_flexible_product(t->f, digit, stride->name, mode->reach));
}

static const tj_node *offset_of(turn *t, const column *x, const row *y, bool of_source) {
  const tj_node *sum = of_source ? x->a : y->b;
  sum = of_source ? part_of(t, sum, y->b, t->b, true) : part_of(t, sum, x->a, t->a, false);
  sum = part_of(t, sum, x->c, t->c, of_source);
  return part_of(t, sum, y->d, t->d, of_source);
}

/* Which of the eight places of its block the vector of a slot takes: by its number, changed by its column; and by its
 * row along b, so that vectors which follow each other there are in different places. */
static const tj_node *place_of(turn *t, const column *x, const row *y, const tj_node *slot) {
  tj_graph *graph = t->graph;
  const tj_node *within = tj_terse_mod(graph, y->y, int_of(t, t->rounding));
  const tj_node *number = tj_terse_add(graph, tj_terse_mul(graph, within, int_of(t, t->slots)), slot);
  number = tj_xor(graph, number, tj_mod(graph, x->x, int_of(t, PLACES)));
  if (t->d == NULL)
    return number;
  const tj_node *mask =
      tj_flexible_measure(t->f, "mask", tj_sub(graph, t->along_d.launch, int_of(t, 1)), 0, t->slots - 1, 1).name;
  const tj_node *above = tj_terse_div(graph, y->of_b, int_of(t, t->rounding));
  const tj_node *turned = tj_flexible_product(t->f, tj_and(graph, above, mask), t->along_b.name, t->slots);
  return tj_xor(graph, number, turned);
}

static const tj_node *lds_offset(turn *t, const column *x, const row *y, const tj_node *slot) {
  tj_graph *graph = t->graph;
  int64_t block = PLACES * t->loaded * t->stored;
  const tj_node *of_column = tj_flexible_product(t->f, x->x, t->pitch.name, t->f->kernel->lds_elements);
  const tj_node *of_block = tj_terse_mul(graph, tj_terse_div(graph, y->y, int_of(t, t->rounding)), int_of(t, block));
  const tj_node *of_place = tj_terse_mul(graph, place_of(t, x, y, slot), int_of(t, t->stored));
  return tj_terse_add(graph, tj_terse_add(graph, of_column, of_block), of_place);
}

/* --- loading --- */

/* Where a slot of a row is, from the row's beginning: the same for all work-items. */
static const tj_node *offset_of_slot(turn *t, int64_t slot) {
  tj_graph *graph = t->graph;
  const tj_node *number = int_of(t, slot), *along = t->along_b.launch;
  const tj_node *of_b = tj_mul(graph, tj_terse_mod(graph, number, along), int_of(t, t->stored));
  const tj_node *last_b = t->last_b.launch;
  const tj_node *sum = tj_terse_mul(graph, tj_min(graph, of_b, last_b), t->b->source.launch);
  if (t->d != NULL) {
    const tj_node *last_d = tj_sub(graph, t->d->length, int_of(t, 1));
    const tj_node *of_d = tj_min(graph, tj_terse_div(graph, number, along), tj_flexible_at_least(graph, last_d, 0));
    sum = tj_terse_add(graph, sum, tj_terse_mul(graph, of_d, t->d->source.launch));
  }
  return tj_flexible_measure(t->f, "slot", sum, 0, (int64_t)1 << 40, 1).name;
}

static void add_loads(turn *t, const column *x, const row *y) {
  tj_flexible *f = t->f;
  tj_graph *graph = t->graph;
  const tj_node *offset = offset_of(t, x, y, true);
  for (int64_t slot = 0; slot < t->slots; slot++) {
    const tj_node *base = tj_terse_add(graph, f->source_base, offset_of_slot(t, slot));
    for (int64_t i = 0; i < t->word; i++) {
      const tj_node *further = tj_terse_mul(graph, int_of(t, i), t->b->source.name);
      tj_access access = {.buffer = f->source, .base = tj_terse_add(graph, base, further), .offset = offset};
      tj_flexible_step(f, TJ_STEP_LOAD, access, (uint32_t)t->loaded, (uint32_t)((slot * t->word + i) * t->loaded), 1);
    }
  }
}

/* Into LDS: the elements of a word are of different vectors. */
static void add_turned(turn *t, const tj_node *first) {
  for (int64_t slot = 0; slot < t->slots; slot++) {
    const tj_node *offset = slot == 0 ? first : tj_xor(t->graph, first, int_of(t, slot * t->stored));
    for (int64_t j = 0; j < t->loaded; j++) {
      tj_access access = {.buffer = TJ_LDS, .offset = offset, .displacement = j * PLACES * t->stored};
      tj_flexible_step(t->f, TJ_STEP_STORE, access, (uint32_t)t->word, (uint32_t)(slot * t->word * t->loaded + j),
                       (uint32_t)t->loaded);
    }
  }
}

/* Neighbouring work-items load the vectors of a word each; then come columns, then rows. */
static void add_loading(turn *t) {
  tj_flexible *f = t->f;
  tj_graph *graph = t->graph;
  const tj_node *item = f->kernel->item;
  const tj_node *word = tj_terse_mul(graph, tj_terse_mod(graph, item, int_of(t, t->together)), int_of(t, t->word));
  const tj_node *all = tj_mul(graph, t->x, t->y);
  tj_measure columns = tj_flexible_measure(f, "columns", t->x, 1, t->most_columns, 1);
  const tj_node *number = tj_terse_div(graph, item, int_of(t, t->together));
  tj_flexible_gate(f, number, all, t->most_columns);
  tj_flexible_digits place = tj_flexible_split(f, number, columns, t->most_columns);
  tj_flexible_digits rows = {int_of(t, 0), place.quotient};
  if (t->d != NULL)
    rows = tj_flexible_split(f, place.quotient, t->row_b, t->most_rows);
  column x = column_of(t, place.remainder);
  row y = row_of(t, rows.remainder, rows.quotient);
  const tj_node *first = tj_terse_add(graph, lds_offset(t, &x, &y, int_of(t, 0)), word);
  y.b = tj_terse_add(graph, y.b, word);
  add_loads(t, &x, &y);
  add_turned(t, first);
}

/* --- storing --- */

/* A work-item's vector of the destination: which slot of which row; and which column, and part of it. */
typedef struct {
  row y;
  const tj_node *slot, *x, *half;
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
    const tj_node *vectors = tj_mul(graph, t->rows_b, t->along_b.launch);
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
  const tj_node *all = tj_mul(graph, tj_mul(graph, vectors, int_of(t, t->halves)), t->spread);
  tj_flexible_gate(f, f->kernel->item, all, TJ_FLEXIBLE_ITEMS);
  tj_flexible_digits digits = tj_flexible_split(f, f->kernel->item, count, TJ_FLEXIBLE_ITEMS);
  stored_place p = place_of_vector(t, digits.remainder);
  p.half = tj_terse_mod(graph, digits.quotient, int_of(t, t->halves));
  p.x = tj_terse_div(graph, digits.quotient, int_of(t, t->halves));
  return p;
}

/* Out of LDS, and then to the destination: the columns of a work-item, and elements of their vectors. */
static void add_storing(turn *t) {
  tj_flexible *f = t->f;
  tj_graph *graph = t->graph;
  stored_place p = place_of_item(t);
  tj_measure spread = tj_flexible_measure(f, "spread", t->spread, 1, t->most_columns, 1);
  tj_measure last = tj_flexible_measure(f, "last", tj_flexible_at_least(graph, tj_sub(graph, t->x, int_of(t, 1)), 0),
                                        0, t->most_columns - 1, 1);
  const tj_node *first_row = tj_terse_mul(graph, p.half, int_of(t, t->rows));
  const tj_node *offset[LOADS * 2];
  for (int64_t k = 0; k < t->groups; k++) {
    const tj_node *further = tj_terse_mul(graph, int_of(t, k), spread.name);
    column x = column_of(t, tj_flexible_least(f, tj_terse_add(graph, p.x, further), last));
    const tj_node *of_row = tj_terse_mul(graph, first_row, int_of(t, PLACES * t->stored));
    const tj_node *from = tj_terse_add(graph, lds_offset(t, &x, &p.y, p.slot), of_row);
    x.a = tj_terse_add(graph, x.a, first_row);
    offset[k] = offset_of(t, &x, &p.y, false);
    for (int64_t j = 0; j < t->rows; j++) {
      tj_access access = {.buffer = TJ_LDS, .offset = from, .displacement = j * PLACES * t->stored};
      tj_flexible_step(f, TJ_STEP_LOAD, access, (uint32_t)t->stored, (uint32_t)((k * t->rows + j) * t->stored), 1);
    }
  }
  for (int64_t i = 0; i < t->groups * t->rows; i++) {
    const tj_node *further = tj_terse_mul(graph, int_of(t, i % t->rows), t->a->destination.name);
    tj_access access = {.buffer = f->destination,
                        .base = tj_terse_add(graph, f->destination_base, further),
                        .offset = offset[i / t->rows]};
    tj_flexible_step(f, TJ_STEP_STORE, access, (uint32_t)t->stored, (uint32_t)(i * t->stored), 1);
  }
}

/* --- kernels --- */

static tj_flexible_mode *mode_or_none(tj_flexible *f, uint32_t mode) {
  return mode != TJ_FLEXIBLE_NONE ? &f->mode[mode] : NULL;
}

void tj_flexible_turn(tj_flexible *f) {
  turn t = {.f = f,
            .graph = f->graph,
            .a = &f->mode[f->first_loaded],
            .b = &f->mode[f->first_stored],
            .c = mode_or_none(f, f->next_loaded),
            .d = mode_or_none(f, f->next_stored)};
  choose_widths(&t);
  choose_shape(&t);
  measure_shape(&t);
  tj_flexible_place(f);
  add_loading(&t);
  f->kernel->step[f->kernel->step_count++] = (tj_kernel_step){.kind = TJ_STEP_BARRIER};
  add_storing(&t);
}
