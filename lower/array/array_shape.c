/* SPDX-License-Identifier: MIT */
/* How many rows, lanes and columns workgroups, lanes and trips take: by the target, and by what is known of sizes. */
#include "lower/array/array_shape.h"

#include "base/integer.h"
#include "base/number/power.h"
#include "ir/index/facts.h"
#include "ir/index/print.h"
#include "ir/layout/arith.h"
#include "ir/simplify/simplify.h"
#include "lower/access/price.h"
#include "lower/array/array_lines.h"
#include "lower/array/array_staged.h"

static uint32_t buffers_with_columns(const tj_array_space *space) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < space->argument_count; i++)
    count += tj_array_has_columns(space, i) ? 1 : 0;
  return count;
}

/* Bytes of the largest elements that there are many of in a row. */
static uint32_t largest_bytes(const tj_array_space *space, const tj_kernel *kernel) {
  uint32_t bytes = 1;
  for (uint32_t i = 0; i < space->argument_count; i++) {
    uint32_t own = tj_array_has_columns(space, i) ? tj_element_bytes(kernel, space->arrays->buffer[i]) : 1;
    bytes = own > bytes ? own : bytes;
  }
  return bytes;
}

static bool is_host(const tj_target *target) {
  return target->wave_size == 1;
}

static uint32_t power_of_two_from(int64_t least, uint32_t most) {
  uint32_t power = 1;
  while (power < most && power < least)
    power *= 2;
  return power;
}

/* Whether columns move one by one: each is added to memory, or has an index of its own. */
static bool move_singly(const tj_array_space *space) {
  for (uint32_t i = 0; i < space->argument_count; i++) {
    if (space->lookup[i].adds && tj_array_goes_along(space, i, &space->columns))
      return true;
    if (tj_array_index_changes(space, i))
      return true;
  }
  return false;
}

enum { WORK_ITEMS = 256, MOST_WORK_ITEMS = 1024, MOST_WIDTH = 8 };

/* Lanes that move single elements are side by side, so that each instruction reaches few lines: so are those that
 * move vectors, of which none is taken in parts. */
uint32_t tj_array_widest(const tj_array_space *space, const tj_kernel *kernel, const tj_target *target) {
  if (move_singly(space))
    return 1;
  uint32_t width = tj_target_widest(target, largest_bytes(space, kernel));
  return width < MOST_WIDTH ? width : MOST_WIDTH;
}

/* Whether no vector is partly before a seam, or where it is, elements before are the same as in all of a vector. */
static bool is_whole_at(const tj_array_seam *seam, uint32_t width) {
  bool repeats = seam->is_even && tj_is_constant(seam->size) && width % seam->size->value == 0;
  return repeats || tj_facts_divisible(&seam->size->facts, width);
}

/* The greatest width that leaves no part of a vector over. */
static uint32_t whole_width(const tj_array_space *space, uint32_t width) {
  while (!tj_facts_divisible(&space->columns.size->facts, width))
    width /= 2;
  for (uint32_t i = 0; i < space->seam_count; i++) {
    while (!is_whole_at(&space->seam[i], width))
      width /= 2;
  }
  return width;
}

enum { HOST_WIDTH = 16, MOST_KEPT = 16384 /* columns, of which a thread's second cache has a part */ };

bool tj_array_ends_apart(const tj_array_shape *shape, const tj_node *size, const tj_target *target) {
  return shape->begins > 0 || (target->has_unaligned_vectors && shape->apart == NULL &&
                               shape->lanes >= shape->width && !tj_facts_divisible(&size->facts, shape->width));
}

/* Whole vectors that there are at most. */
static int64_t vectors_of(const tj_node *size, uint32_t width) {
  return size->facts.high > width ? size->facts.high / width : 1;
}

/* How many times a row is reached for, a hundredfold, by vectors of so many columns; and once more for what is left
 * behind the last whole one. Of short ones, those of a wave are reached for together. */
static int64_t reaches(int64_t columns, uint32_t width, const tj_target *target) {
  int64_t vectors = columns / width > 0 ? columns / width : 1, lanes = target->wave_size;
  int64_t rows = lanes / power_of_two_from(vectors, target->wave_size);
  return 100 * ((vectors + lanes - 1) / lanes) / rows + (columns % width != 0 ? 100 : 0);
}

/* Columns of rows, at most, that may have ends apart from vectors: these need no alignment, or begin where it is. */
static int64_t most_with_ends(const tj_array_space *space, const tj_target *target) {
  return target->has_unaligned_vectors ? INT64_MAX : tj_array_most_begun(space, target);
}

static bool may_have_ends(const tj_array_space *space, const tj_target *target) {
  return space->columns.size->facts.high <= most_with_ends(space, target);
}

/* The width of a lane's vectors of rows that have an end of their own. What is left before and behind vectors is
 * taken one by one, if there are lanes enough for it. */
static uint32_t width_of_rows(const tj_array_space *space, const tj_kernel *kernel, const tj_target *target) {
  uint32_t widest = tj_array_widest(space, kernel, target), whole = whole_width(space, widest);
  const tj_node *size = space->columns.size;
  const int64_t least = (int64_t)widest * widest * (target->has_unaligned_vectors ? 1 : 2);
  bool is_apart = may_have_ends(space, target) && space->seam_count == 0 && size->facts.high >= least;
  if (!is_apart ||
      (tj_is_constant(size) && reaches(size->value, whole, target) <= reaches(size->value, widest, target)))
    return whole;
  return widest;
}

/* Rows that a thread takes together, of short ones several. */
static tj_array_shape shape_on_host(const tj_array_space *space) {
  enum { COLUMNS = 16384, MOST_ROWS = 64, MOST_REPEATS = 4 };
  int64_t columns = space->columns.size->facts.high;
  tj_array_shape shape = {.rows = 1, .lanes = 1, .width = HOST_WIDTH, .repeats = 1, .loops = true};
  if (!space->is_reduced && columns > 2 * COLUMNS)
    shape.piece = tj_int(space->graph, COLUMNS);
  while (shape.rows < MOST_ROWS && columns <= COLUMNS / (2 * shape.rows))
    shape.rows *= 2;
  uint32_t repeats = space->is_reduced && !move_singly(space) ? MOST_REPEATS : 1;
  while (shape.repeats < repeats && columns >= 2 * shape.repeats * HOST_WIDTH)
    shape.repeats *= 2;
  uint32_t trip = shape.repeats * HOST_WIDTH;
  if (space->is_reduced && columns <= MOST_KEPT)
    shape.kept = (uint32_t)(columns + trip - 1) / trip * trip;
  return shape;
}

int64_t tj_array_least_columns(const tj_target *target) {
  return target->wave_size > 1 ? (int64_t)WORK_ITEMS * MOST_WIDTH : 0;
}

/* Rows of a workgroup of so many work-items; where there is one row, no more than fill a wave. */
static uint32_t rows_of(const tj_array_space *space, const tj_target *target, uint32_t work_items, uint32_t lanes) {
  uint32_t items = space->rows.count > 0 ? work_items : target->wave_size;
  return lanes < items ? items / lanes : 1;
}

/* Where there are more than two buffers, registers have half as many columns. */
static uint32_t columns_of_buffers(const tj_array_space *space, uint32_t columns) {
  return buffers_with_columns(space) > 2 ? columns / 2 : columns;
}

/* Columns that a work-item keeps in registers. */
static uint32_t most_columns(const tj_array_space *space) {
  return columns_of_buffers(space, TJ_ARRAY_MOST_COLUMNS);
}

/* How many columns of a lane, at most so many, share elements that come again behind a seam: as many as there are, in
 * as few turns as that takes. Lanes that have vectors may have some too many, but where runs are known to be parts of
 * cache lines. */
static uint32_t repeats_of(const tj_array_seam *seam, uint32_t most, bool has_vectors) {
  enum { RUN = 64 };
  const tj_node *times = seam->times;
  bool has_runs = !tj_is_constant(seam->size) || seam->size->value % RUN == 0;
  if (has_vectors && has_runs && tj_is_constant(times)) {
    int64_t turns = (times->value + most - 1) / most;
    return (uint32_t)((times->value + turns - 1) / turns);
  }
  while (!(has_vectors && has_runs) && most > 1 && !tj_facts_divisible(&times->facts, most))
    most--;
  return most;
}

/* As many columns of a lane as registers hold that are so far apart that elements of an array are the same, which are
 * loaded once. Where rows may be short, the lanes of a wave take one. */
static void share_columns(const tj_array_space *space, const tj_target *target, tj_array_shape *shape,
                          bool has_vectors) {
  tj_graph *graph = space->graph;
  const tj_array_seam *seam = tj_array_returning_seam(space);
  uint32_t repeats = seam != NULL ? repeats_of(seam, most_columns(space) / shape->width, has_vectors) : 1;
  if (repeats <= 1)
    return;
  const tj_node *apart = tj_mul(graph, seam->size, tj_ceil_div(graph, seam->times, tj_int(graph, repeats)));
  shape->apart = tj_simplified(graph, apart);
  shape->repeats = repeats;
  shape->overhangs = !tj_facts_divisible(&seam->times->facts, repeats);
  uint32_t most = tj_is_constant(shape->apart) ? WORK_ITEMS : target->wave_size;
  shape->lanes = power_of_two_from((shape->apart->facts.high - 1) / shape->width + 1, most);
  if (!shape->overhangs && tj_is_int(shape->apart, (int64_t)shape->lanes * shape->width))
    shape->apart = NULL;
}

/* Rows whose lanes have single elements, or vectors that are whole in all rows, from LDS. What is reduced, a wave
 * has; of other rows a workgroup may take one, so that its lanes have few columns each. */
static tj_array_shape shape_in_lds(const tj_array_space *space, const tj_target *target) {
  enum { MOST_REPEATS = 4 };
  const tj_node *size = space->columns.size;
  uint32_t widest = tj_target_widest(target, tj_dtype_bits(space->held) / 8);
  tj_array_shape shape = {.width = tj_array_staged_width(space, whole_width(space, widest))};
  int64_t vectors = (size->facts.high - 1) / shape.width + 1;
  shape.lanes = power_of_two_from(vectors, target->wave_size);
  while (!space->is_reduced && shape.lanes < WORK_ITEMS && vectors > (int64_t)shape.lanes * MOST_REPEATS)
    shape.lanes *= 2;
  shape.repeats = (uint32_t)((vectors - 1) / shape.lanes + 1);
  shape.rows = rows_of(space, target, WORK_ITEMS, shape.lanes);
  return shape;
}

void tj_array_narrow(const tj_array_space *space, tj_array_shape *shape, uint32_t width) {
  uint32_t parts = shape->width / width;
  shape->width = width;
  shape->begins = 0;
  for (; parts > 1 && shape->rows > 1; parts /= 2) {
    shape->lanes *= 2;
    shape->rows /= 2;
  }
  shape->repeats *= parts;
  const int64_t most = space->columns.size->facts.high, turns = (most / width - 1) / shape->lanes + 1;
  if (shape->piece == NULL && turns > shape->repeats)
    shape->repeats = (uint32_t)turns;
}

/* Each element by itself: enough work-items for a row, the others for further rows. */
static tj_array_shape shape_of_elements(const tj_array_space *space, const tj_kernel *kernel,
                                        const tj_target *target) {
  enum { MOST_REPEATS = 2 };
  const tj_node *size = space->columns.size;
  tj_array_shape shape = {.width = width_of_rows(space, kernel, target), .repeats = 1};
  shape.lanes = power_of_two_from(vectors_of(size, shape.width), WORK_ITEMS);
  if (space->seam_count == 0 && size->facts.high / WORK_ITEMS / shape.width >= (int64_t)MOST_REPEATS * WORK_ITEMS)
    shape.repeats = MOST_REPEATS;
  share_columns(space, target, &shape, shape.width == tj_array_widest(space, kernel, target));
  const tj_node *taken = shape.apart != NULL ? shape.apart : size;
  int64_t own = (int64_t)shape.lanes * shape.width * (shape.apart != NULL ? 1 : shape.repeats);
  shape.piece = vectors_of(taken, shape.width) * shape.width > own ? tj_int(space->graph, own) : NULL;
  shape.rows = rows_of(space, target, WORK_ITEMS, shape.lanes);
  if (space->stage != NULL && size->facts.high <= (int64_t)WORK_ITEMS * TJ_ARRAY_MOST_COLUMNS)
    tj_array_stage_rows(space, kernel, target, &shape, shape_in_lds(space, target));
  shape.begins = tj_array_begins_at(space, kernel, target, &shape);
  return shape;
}

/* Of these, as many as it has where a wave takes the row; a wave of 64 keeps as many as one of 32. */
static uint32_t columns_in_wave(uint32_t most, const tj_target *target) {
  enum { NARROW_WAVE = 32 };
  return most * NARROW_WAVE / target->wave_size;
}

/* Columns of rows that a wave has from LDS, where it need not keep what it can load again. */
static int64_t most_in_lds(const tj_target *target) {
  return (int64_t)target->wave_size * columns_in_wave(TJ_ARRAY_MOST_COLUMNS, target);
}

/* And where several waves do, for which a vector is enough. */
static uint32_t columns_in_waves(const tj_array_space *space, const tj_target *target) {
  bool is_long = target->long_row > 0 && space->columns.size->facts.high >= target->long_row;
  if (is_long && buffers_with_columns(space) == 3)
    return target->row_columns;
  return columns_of_buffers(space, target->row_columns);
}

static uint32_t most_lanes(const tj_target *target) {
  return target->workgroup_limit < MOST_WORK_ITEMS ? target->workgroup_limit : MOST_WORK_ITEMS;
}

/* --- rows that pass by --- */

static bool is_read_in_rows(const tj_array_space *space, const tj_kernel *kernel, uint32_t argument) {
  return kernel->buffer[space->arrays->buffer[argument]].is_read && tj_array_has_columns(space, argument) &&
         tj_array_goes_along(space, argument, &space->rows);
}

/* Whether what is stored has columns: then the row is taken once more, after its reductions. */
static bool stores_columns(const tj_array_space *space, const tj_kernel *kernel) {
  bool stores = false;
  for (uint32_t i = 0; i < space->argument_count; i++)
    stores = stores || (kernel->buffer[space->arrays->buffer[i]].is_written && tj_array_has_columns(space, i));
  return stores;
}

/* Bytes of a row's columns, each, that are taken from memory more than once. */
static uint32_t bytes_taken_again(const tj_array_space *space, const tj_kernel *kernel) {
  uint32_t bytes = 0;
  if (!stores_columns(space, kernel))
    return 0;
  for (uint32_t i = 0; i < space->argument_count; i++)
    bytes += is_read_in_rows(space, kernel, i) ? tj_element_bytes(kernel, space->arrays->buffer[i]) : 0;
  return bytes;
}

/* The longest rows that so many lanes each find in the cache when they take them again, which they do. */
static int64_t longest_in_cache(const tj_array_space *space, const tj_kernel *kernel, const tj_target *target,
                                uint32_t lanes) {
  return (int64_t)lanes * target->cache_bytes / bytes_taken_again(space, kernel);
}

/* Whether much is computed of each column. */
static bool is_costly(const tj_array_space *space) {
  const tj_array_program *program = space->arrays->program;
  const uint64_t columns = tj_array_axis_modes(&space->columns);
  bool is_any = false;
  for (uint32_t i = 0; i < program->count; i++)
    is_any = is_any || (tj_array_op_is_costly(program->array[i]->op) &&
                        (tj_array_varies(space, program->array[i]) & columns) != 0);
  return is_any;
}

/* Whether rows that pass by are found in the cache when they are taken again, and that is what their time is. */
static bool pass_by_cache(const tj_array_space *space, const tj_kernel *kernel, const tj_target *target) {
  return target->cache_bytes > 0 && bytes_taken_again(space, kernel) > 0 && !is_costly(space);
}

/* The more lanes a row has, the fewer rows pass by at once. */
static uint32_t lanes_of_loop(const tj_array_space *space, const tj_kernel *kernel, const tj_target *target) {
  uint32_t lanes = WORK_ITEMS;
  if (!pass_by_cache(space, kernel, target))
    return lanes;
  while (lanes < most_lanes(target) &&
         space->columns.size->facts.high > longest_in_cache(space, kernel, target, lanes))
    lanes *= 2;
  return lanes;
}

/* The longest rows that stay in registers: where the cache has them as well, those of which several workgroups do. */
static int64_t longest_kept(const tj_array_space *space, const tj_target *target) {
  enum { FEW_COLUMNS = 16 };
  const uint32_t most = most_columns(space);
  return (int64_t)most_lanes(target) * (target->cache_bytes > 0 ? tj_fewer(most, FEW_COLUMNS) : most);
}

/* A row that passes by so many lanes in a loop. */
static tj_array_shape shape_of_loop(const tj_array_space *space, const tj_kernel *kernel, const tj_target *target,
                                    uint32_t lanes) {
  enum { LOOP_COLUMNS = 16 };
  const uint32_t columns = is_costly(space) ? target->row_columns : LOOP_COLUMNS;
  tj_array_shape shape = {.rows = 1, .lanes = lanes, .width = tj_array_widest(space, kernel, target), .loops = true};
  if (!may_have_ends(space, target) && !tj_is_int(space->rows.size, 1))
    shape.width = whole_width(space, shape.width);
  if (shape.width == 1 && !tj_is_constant(space->columns.size))
    shape.lanes = WORK_ITEMS; /* single elements, of rows that may be short */
  shape.repeats = columns_of_buffers(space, columns) / shape.width;
  shape.begins = tj_array_begins_at(space, kernel, target, &shape);
  return shape;
}

/* Whole waves whose lanes have as many vectors each as are usual, or more where there are no more lanes. */
static uint32_t lanes_of_waves(int64_t vectors, uint32_t usual, uint32_t most, const tj_target *target) {
  int64_t of_wave = (int64_t)target->wave_size * (usual > 0 ? usual : 1), waves = (vectors - 1) / of_wave + 1;
  return waves * target->wave_size < most ? (uint32_t)waves * target->wave_size : most;
}

/* Lanes side by side that reach for memory without waste: for whole lines where rows are made of these, or where
 * sectors are what moves, for two of them. Of rows whose ends are apart, as many as these take. 0: all that there are
 * vectors for. */
static uint32_t fewest_lanes(const tj_array_space *space, const tj_kernel *kernel, const tj_target *target,
                             uint32_t width) {
  const tj_price_machine machine = tj_price_machine_of(target);
  const tj_facts *size = &space->columns.size->facts;
  uint32_t bytes = width * largest_bytes(space, kernel);
  if (machine.sector_bytes == 0)
    return tj_facts_divisible(size, machine.line_bytes) ? machine.line_bytes / bytes : 0;
  return tj_facts_divisible(size, width) ? 2 * machine.sector_bytes / bytes : 2 * width;
}

/* Lanes of a wave that take a row: each has as many vectors as are usual, so that as many are on their way at once.
 */
static uint32_t lanes_in_wave(const tj_array_space *space, const tj_kernel *kernel, const tj_target *target,
                              uint32_t width) {
  const int64_t vectors = vectors_of(space->columns.size, width);
  const uint32_t usual = columns_in_wave(most_columns(space), target) / width;
  const uint32_t fewest = fewest_lanes(space, kernel, target, width);
  const bool are_few = fewest > 0 && usual > 1 && width > 1;
  int64_t lanes = are_few ? tj_divided_up(vectors, usual) : vectors;
  lanes = lanes > fewest ? lanes : fewest < vectors ? fewest : vectors;
  return power_of_two_from(lanes, target->wave_size);
}

/* A row in the registers of a wave, or of as many as it takes; where it does not fit there, a loop. */
static tj_array_shape shape_of_rows(const tj_array_space *space, const tj_kernel *kernel, const tj_target *target) {
  const tj_node *size = space->columns.size;
  uint32_t most = most_columns(space), limit = most_lanes(target);
  if (size->facts.high > longest_kept(space, target))
    return shape_of_loop(space, kernel, target, lanes_of_loop(space, kernel, target));
  tj_array_shape shape = {.rows = 1, .width = width_of_rows(space, kernel, target)};
  int64_t vectors = vectors_of(size, shape.width);
  shape.lanes = lanes_in_wave(space, kernel, target, shape.width);
  if (size->facts.high > (int64_t)target->wave_size * columns_in_wave(most, target))
    shape.lanes = lanes_of_waves(vectors, columns_in_waves(space, target) / shape.width, limit, target);
  shape.repeats = (uint32_t)((vectors - 1) / shape.lanes + 1);
  bool are_short = shape.lanes < target->wave_size && shape.repeats == 1;
  uint32_t work_items = are_short          ? WORK_ITEMS
                        : is_costly(space) ? target->group_of_costly_rows
                                           : target->group_of_rows;
  shape.rows = rows_of(space, target, work_items, shape.lanes);
  if (space->stage != NULL && size->facts.high <= most_in_lds(target))
    tj_array_stage_rows(space, kernel, target, &shape, shape_in_lds(space, target));
  shape.begins = tj_array_begins_at(space, kernel, target, &shape);
  return shape;
}

enum { MEDIUM = 1024, SHORT = 128, SHORTEST = 16 /* columns of rows of which a wave has several */ };

/* Those of whole vectors; shorter ones, which may go through LDS, those of whole lines apart; and of the first, those
 * of which lanes share as much as registers hold. */
static uint32_t tiers_of_elements(const tj_array_space *space, int64_t width, int64_t line, tj_array_tier tier[]) {
  const tj_array_seam *seam = tj_array_returning_seam(space);
  int64_t times = most_columns(space) / width;
  uint32_t count = 0;
  tier[count++] = (tj_array_tier){INT64_MAX, width, 1};
  for (int64_t columns = MEDIUM; line > width && columns >= SHORTEST; columns /= SHORT / SHORTEST) {
    tier[count++] = (tj_array_tier){columns, 1, 1};
    if (columns == MEDIUM)
      tier[count++] = (tj_array_tier){columns, line, 1};
  }
  if (seam != NULL && times > 1 && !tj_facts_divisible(&seam->times->facts, times))
    tier[count++] = (tj_array_tier){INT64_MAX, width, times};
  return count;
}

/* The next tier below one of rows of several waves: the longest ones that end apart from their vectors are fewer, of
 * eight waves and a fourth of that; of others, those of usual lengths are as many again, three quarters of a power of
 * two, whose waves are as many less. */
static int64_t shorter_tier(int64_t columns, int64_t least, int64_t multiple) {
  enum { USUAL = 3072, MOST_USUAL = 12288 };
  if (multiple == 1)
    return columns / (columns <= 4 * least || columns == 16 * least ? 2 : 4);
  const int64_t fewer = tj_is_power_of_two(columns) ? columns / 4 * 3 : columns / 3 * 2;
  return fewer % 3 != 0 || (fewer >= USUAL && fewer <= MOST_USUAL) ? fewer : columns / 2;
}

/* The same of rows of a wave: where these need not go through LDS, lanes have half as many vectors, and so on. */
static int64_t shorter_tier_of_wave(int64_t columns, bool halves) {
  return columns <= SHORT ? SHORTEST : halves ? columns / 2 : SHORT;
}

/* Rows longer than those that stay in registers, which pass by as many lanes as find them in the cache. */
static uint32_t tiers_of_cache(const tj_array_space *space, const tj_kernel *kernel, const tj_target *target,
                               int64_t multiple, tj_array_tier tier[]) {
  uint32_t count = 0;
  if (!pass_by_cache(space, kernel, target))
    return 0;
  for (uint32_t lanes = most_lanes(target) / 2; lanes >= WORK_ITEMS; lanes /= 2) {
    const int64_t columns = longest_in_cache(space, kernel, target, lanes) / multiple * multiple;
    if (columns > longest_kept(space, target))
      tier[count++] = (tj_array_tier){columns, multiple, 1};
  }
  return count;
}

/* Rows that stay in registers: tiers of powers of two and some between, and two of short ones, if vectors have no
 * part of these. Where those of a wave may go through LDS, those of whole lines need not. And before these, rows that
 * pass by fewer lanes than others. */
static uint32_t tiers_of_rows(const tj_array_space *space, const tj_kernel *kernel, const tj_target *target,
                              int64_t multiple, int64_t line, tj_array_tier tier[]) {
  uint32_t most = most_columns(space);
  const int64_t longest = multiple > 1 ? INT64_MAX : most_with_ends(space, target);
  int64_t least = (int64_t)target->wave_size * columns_in_wave(most, target), in_lds = most_in_lds(target);
  int64_t shortest = space->rows.count == 0 ? least : multiple > 1 ? SHORT : SHORTEST;
  const int64_t kept = longest_kept(space, target);
  uint32_t count = kept <= longest ? tiers_of_cache(space, kernel, target, multiple, tier) : 0;
  for (int64_t columns = kept, next; columns >= shortest; columns = next) {
    next = columns > least      ? shorter_tier(columns, least, multiple)
           : columns > SHORTEST ? shorter_tier_of_wave(columns, multiple > 1 && line <= multiple)
                                : 0;
    if (columns > longest)
      continue;
    tier[count++] = (tj_array_tier){columns, multiple, 1};
    if (columns >= least && columns <= in_lds && multiple > 1 && line > multiple)
      tier[count++] = (tj_array_tier){columns, line, 1};
  }
  return count;
}

uint32_t tj_array_tiers(const tj_array_space *space, const tj_kernel *kernel, const tj_target *target,
                        tj_array_tier tier[]) {
  int64_t width = tj_array_widest(space, kernel, target);
  int64_t line = tj_array_staged_line(space, kernel, target);
  if (!space->is_reduced)
    return width > 1 && !is_host(target) ? tiers_of_elements(space, width, line, tier) : 0;
  if (is_host(target)) {
    tier[0] = (tj_array_tier){MOST_KEPT, HOST_WIDTH, 1};
    return 1;
  }
  uint32_t count = width > 1 ? tiers_of_rows(space, kernel, target, 1, line, tier) : 0;
  tier[count++] = (tj_array_tier){INT64_MAX, width, 1};
  return count + tiers_of_rows(space, kernel, target, width, line, tier + count);
}

/* --- rows of several workgroups --- */

enum { HOST_PIECE = 16384, LEAST_PIECES = 4 /* of a row, for them to be worth it */ };

int64_t tj_array_most_pieces(const tj_target *target) {
  enum { PIECES = 1024, HOST_PIECES = 64 };
  return is_host(target) ? HOST_PIECES : PIECES;
}

static tj_array_shape shape_of_piece(const tj_array_space *space, const tj_kernel *kernel, const tj_target *target) {
  return is_host(target) ? shape_on_host(space) : shape_of_loop(space, kernel, target, WORK_ITEMS);
}

/* Of these, pieces are multiples. */
static int64_t least_piece(const tj_array_shape *shape, const tj_target *target) {
  return is_host(target) ? HOST_PIECE : (int64_t)shape->lanes * shape->width * shape->repeats;
}

bool tj_array_find_split(const tj_array_space *space, const tj_kernel *kernel, const tj_target *target,
                         tj_array_split *split) {
  enum { LEAST_OF_ROW = 32, LEAST_OF_HOST = 16 };
  tj_array_shape shape = shape_of_piece(space, kernel, target);
  const tj_facts *rows = &space->rows.size->facts, *columns = &space->columns.size->facts;
  split->rows = tj_array_most_pieces(target) / LEAST_PIECES;
  split->columns = least_piece(&shape, target) * (is_host(target) ? LEAST_OF_HOST : LEAST_OF_ROW);
  split->is_sure = rows->high <= split->rows && columns->low >= split->columns;
  return space->is_reduced && rows->low <= split->rows && columns->high >= split->columns;
}

tj_array_shape tj_array_split_shape(const tj_array_space *space, const tj_kernel *kernel, const tj_target *target) {
  tj_graph *graph = space->graph;
  tj_array_shape shape = shape_of_piece(space, kernel, target);
  const tj_node *least = tj_int(graph, least_piece(&shape, target)), *one = tj_int(graph, 1);
  const tj_node *most = tj_int(graph, tj_array_most_pieces(target));
  const tj_node *pieces = tj_max(graph, tj_div(graph, most, space->rows.size), one);
  const tj_node *trips = tj_ceil_div(graph, tj_ceil_div(graph, space->columns.size, least), pieces);
  shape.piece = tj_simplified(graph, tj_mul(graph, trips, least));
  shape.is_split = true;
  return shape;
}

tj_array_shape tj_array_choose_shape(const tj_array_space *space, const tj_kernel *kernel, const tj_target *target) {
  if (is_host(target))
    return shape_on_host(space);
  return space->is_reduced ? shape_of_rows(space, kernel, target) : shape_of_elements(space, kernel, target);
}

const char *tj_array_shape_words(tj_job *job, const tj_array_space *space, const tj_array_shape *shape,
                                 uint32_t readings) {
  const char *piece =
      shape->piece == NULL ? "" : tj_string_format(job, " in pieces of %s", tj_node_brief(job, shape->piece));
  const char *trip = shape->loops ? " a trip" : "";
  const char *times = readings == 1 ? "" : tj_string_format(job, "; read %u times", readings);
  const char *apart =
      shape->apart == NULL ? "" : tj_string_format(job, ", %s apart", tj_node_brief(job, shape->apart));
  const char *begins = shape->begins == 0 ? "" : tj_string_format(job, " from multiples of %u on", shape->begins);
  const char *staged = shape->staged == 0 ? "" : tj_string_format(job, "; %u times, through LDS", shape->staged);
  return tj_string_format(job, "%u %s%s a workgroup; lanes %u, columns of each %u times %u%s%s%s%s%s", shape->rows,
                          space->is_reduced ? "rows" : "runs", piece, shape->lanes, shape->repeats, shape->width,
                          begins, apart, trip, times, staged);
}
