/* SPDX-License-Identifier: MIT */
/* Tiles that launches choose: whatever they are chosen by, what is chosen lies within its limits and fits a
 * workgroup; slots are shared out in the way that moves least, of all; and shapes that are known from counting. */
#include "base/number/tile.h"
#include "tests/unit/support/random_nodes.h"
#include "tests/unit/support/suite.h"

#include <inttypes.h>

enum { CASES = 20000, SLOTS = 8 };

/* --- random tiles --- */

static const int64_t few[] = {INT64_MIN, -1, 0, 1, 2, 3, 4, 7, 8, 28, 32, 64, 100, 256, 1000, 4096, 1 << 20};
static const int64_t many[] = {INT64_C(1) << 30, (INT64_C(1) << 30) + 1, UINT32_MAX, INT64_C(1) << 45, INT64_MAX};

static int64_t any_integer(random_source *random) {
  enum { FEW = sizeof few / sizeof *few, MANY = sizeof many / sizeof *many };
  return random_below(random, 8) > 0 ? few[random_below(random, FEW)] : many[random_below(random, MANY)];
}

static uint32_t any_word(random_source *random, uint32_t number) {
  uint32_t word = random_below(random, 1100);
  while (!tj_tile_allows(number, word))
    word = random_below(random, word + 1 < 70 ? 70 : 1100);
  return word;
}

static tj_tile any_tile(random_source *random) {
  tj_tile tile;
  for (uint32_t i = 0; i < TJ_TILE_WORDS; i++)
    tile.word[i] = any_word(random, i);
  return tile;
}

static tj_tile_domain any_domain(random_source *random) {
  tj_tile_domain domain;
  for (uint32_t i = 0; i < TJ_TILE_INPUTS; i++)
    domain.input[i] = any_integer(random);
  return domain;
}

/* As domains have it. */
static int64_t extent_of(const tj_tile *tile, const tj_tile_domain *domain, uint32_t axis) {
  uint32_t mode = tile->axis[axis];
  return mode < tile->modes && domain->extent[mode] > 1 ? domain->extent[mode] : 1;
}

START_TEST(any_choice_is_within_its_limits) {
  random_source random = {.state = 7};
  for (int i = 0; i < CASES; i++) {
    tj_tile tile = any_tile(&random);
    tj_tile_domain domain = any_domain(&random);
    tj_tile_choice least, most, choice = tj_tile_choose(&tile, &domain);
    tj_tile_limits(&tile, &least, &most);
    for (uint32_t k = 0; k < TJ_TILE_NUMBERS; k++)
      ck_assert_msg(least.number[k] <= choice.number[k] && choice.number[k] <= most.number[k],
                    "case %d: number %u is %" PRId64, i, k, choice.number[k]);
    for (uint32_t k = 0; k < TJ_TILE_AXES; k++)
      ck_assert_msg(choice.items[k] <= extent_of(&tile, &domain, k), "case %d: %" PRId64 " items along axis %u", i,
                    choice.items[k], k);
  }
}
END_TEST

START_TEST(words_have_bounds) {
  ck_assert(tj_tile_allows(0, TJ_TILE_NONE) && !tj_tile_allows(0, TJ_TILE_NONE + 1));
  for (uint32_t i = 0; i < TJ_TILE_WORDS; i++)
    ck_assert_msg(!tj_tile_allows(i, UINT32_MAX), "word %u is anything", i);
}
END_TEST

/* --- tiles as copies have them --- */

/* Of f32, where vectors have 16 bytes. */
static tj_tile plain_tile(tj_tile_kind kind, uint32_t modes) {
  return (tj_tile){.axis = {0, 1, 2, 3, 4, 5},
                   .after = {TJ_TILE_FOLLOWING, TJ_TILE_FOLLOWING, TJ_TILE_FOLLOWING},
                   .kind = kind,
                   .modes = modes,
                   .loaded_bytes = 4,
                   .stored_bytes = 4,
                   .line_bytes = 128,
                   .vector_bytes = 16,
                   .lanes = 64,
                   .loaded = 4,
                   .stored = 4,
                   .most = 256,
                   .slots = SLOTS,
                   .vectors = 1,
                   .parts = 1,
                   .passes = 1,
                   .together = 1};
}

/* Extents that follow one another in the source; in the destination the modes after the first are the other way
 * round. */
static tj_tile_domain turned_domain(random_source *random, uint32_t modes) {
  tj_tile_domain domain = {.extent = {0}};
  int64_t loaded = 1, stored = 1;
  for (uint32_t m = 0; m < modes; m++)
    domain.extent[m] = 1 + random_below(random, random_below(random, 2) == 0 ? 9 : 300);
  for (uint32_t m = 0; m < modes; m++) {
    uint32_t other = m == 0 ? 0 : modes - m;
    domain.stride[0][m] = loaded;
    domain.stride[1][other] = stored;
    loaded *= domain.extent[m];
    stored *= domain.extent[other];
  }
  return domain;
}

static int64_t all_along(const tj_tile_domain *domain, uint32_t axis) {
  return axis == 0 ? (domain->extent[0] + 3) / 4 : domain->extent[axis];
}

/* What all tiles move, in whole tiles. */
static int64_t moved(const tj_tile_domain *domain, uint32_t modes, const int64_t items[], const int64_t log[]) {
  int64_t product = 1;
  for (uint32_t i = 0; i < modes; i++) {
    int64_t part = items[i] << log[i];
    product *= (all_along(domain, i) + part - 1) / part * part;
  }
  return product;
}

/* Of all ways to share out as many slots along the axes from `axis` on, what least is moved by. */
static int64_t least_moved(const tj_tile_domain *domain, uint32_t modes, const int64_t items[], int64_t log[],
                           uint32_t axis, int64_t left) {
  if (axis + 1 == modes) {
    log[axis] = left;
    return moved(domain, modes, items, log);
  }
  int64_t least = INT64_MAX;
  for (log[axis] = 0; log[axis] <= left; log[axis]++) {
    int64_t own[TJ_TILE_AXES];
    for (uint32_t i = 0; i <= axis && i < TJ_TILE_AXES; i++)
      own[i] = log[i];
    int64_t more = least_moved(domain, modes, items, own, axis + 1, left - log[axis]);
    least = more < least ? more : least;
  }
  return least;
}

START_TEST(slots_are_shared_out_in_the_best_way) {
  random_source random = {.state = 11};
  for (int i = 0; i < CASES / 10; i++) {
    uint32_t modes = 1 + random_below(&random, 5);
    tj_tile tile = plain_tile(TJ_TILE_STRAIGHT, modes);
    for (uint32_t k = modes; k < TJ_TILE_AXES; k++)
      tile.axis[k] = TJ_TILE_NONE;
    tj_tile_domain domain = turned_domain(&random, modes);
    tj_tile_choice choice = tj_tile_choose(&tile, &domain);
    int64_t log[TJ_TILE_AXES], items = 1, slots = 0;
    for (uint32_t k = 0; k < TJ_TILE_AXES; k++) {
      items *= choice.items[k];
      slots += choice.log[k];
    }
    ck_assert_int_le(items, TJ_TILE_ITEMS);
    ck_assert_int_eq(1 << slots, SLOTS);
    ck_assert_int_eq(moved(&domain, modes, choice.items, choice.log),
                     least_moved(&domain, modes, choice.items, log, 0, 3));
  }
}
END_TEST

START_TEST(what_turns_around_fits_a_workgroup) {
  random_source random = {.state = 13};
  for (int i = 0; i < CASES / 10; i++) {
    tj_tile tile = plain_tile(TJ_TILE_TURNED, 4);
    tile.most = 32;
    tile.axis[4] = tile.axis[5] = TJ_TILE_NONE;
    tj_tile_domain domain = turned_domain(&random, 4);
    tj_tile_choice choice = tj_tile_choose(&tile, &domain);
    ck_assert_int_le(choice.items[0] * choice.items[1] * choice.items[2] * choice.items[3], 32);
    ck_assert_int_eq(choice.log[TJ_TILE_STORED] + choice.log[TJ_TILE_NEXT_STORED], 3);
  }
}
END_TEST

/* A matrix of so many rows and columns turns around. */
static tj_tile_choice choose_matrix(int64_t rows, int64_t columns) {
  tj_tile tile = plain_tile(TJ_TILE_TURNED, 2);
  tile.axis[TJ_TILE_LOADED] = 1;
  tile.axis[TJ_TILE_STORED] = 0;
  tile.axis[TJ_TILE_NEXT_LOADED] = tile.axis[TJ_TILE_NEXT_STORED] = tile.axis[4] = tile.axis[5] = TJ_TILE_NONE;
  tile.after[0] = TJ_TILE_LOADED;
  tile.vectors = 2;
  tile.most = 32;
  tile.together = 4;
  return tj_tile_choose(&tile, &(tj_tile_domain){.extent = {rows, columns}, .stride = {{columns, 1}, {1, rows}}});
}

START_TEST(shapes_are_as_counted) {
  static const struct {
    int64_t rows, columns, of_rows, of_columns;
  } row[] = {{2000, 2000, 4, 8}, {4, 100000, 1, 32}, {100000, 8, 8, 1}};
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    tj_tile_choice choice = choose_matrix(row[i].rows, row[i].columns);
    ck_assert_int_eq(choice.items[TJ_TILE_STORED], row[i].of_rows);
    ck_assert_int_eq(choice.items[TJ_TILE_LOADED], row[i].of_columns);
    ck_assert_int_eq(choice.log[TJ_TILE_STORED], 3);
  }
}
END_TEST

/* Of halves (A,16,75,96), whose second and last modes change places: LDS is worth it where rows of A are short, and
 * possible where a workgroup has eight of them, or four whose vectors are even in number. */
START_TEST(staging_is_for_short_rows) {
  static const struct {
    int64_t row;
    bool is_worth, is_possible;
  } row[] = {{80, true, true}, {464, false, true}, {264, false, false}, {520, false, false}};
  tj_tile tile = plain_tile(TJ_TILE_STAGED, 4);
  tile.axis[TJ_TILE_NEXT_STORED] = 3;
  tile.axis[TJ_TILE_OTHER] = 2;
  tile.axis[4] = tile.axis[5] = TJ_TILE_NONE;
  tile.loaded_bytes = tile.stored_bytes = 2;
  tile.loaded = tile.stored = 8;
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    int64_t a = row[i].row;
    tj_tile_domain domain = {.extent = {a, 16, 75, 96},
                             .stride = {{1, a, a * 16, a * 16 * 75}, {1, a * 96 * 75, a * 96, a}}};
    tile.is_given = 0;
    ck_assert_int_eq(tj_tile_choose(&tile, &domain).is_worth, row[i].is_worth);
    tile.is_given = 1;
    ck_assert_int_eq(tj_tile_choose(&tile, &domain).is_worth, row[i].is_possible);
  }
}
END_TEST

/* Of halves, 3 × 3 windows, `out` times `rows` of them at each `step` pixels of an image: channels, pixels of a
 * window along the image's rows, windows along these, and along columns, which slots are. */
static tj_tile_choice choose_windows(int64_t channels, int64_t step, int64_t out, int64_t rows, uint32_t is_given) {
  int64_t c = channels, width = out * step;
  tj_tile tile = plain_tile(TJ_TILE_ROWS, 4);
  tile.axis[4] = tile.axis[5] = TJ_TILE_NONE;
  tile.loaded_bytes = tile.stored_bytes = 2;
  tile.loaded = tile.stored = 8;
  tile.slots = 2 * SLOTS;
  tile.rows = 3;
  tile.is_given = is_given;
  return tj_tile_choose(
      &tile, &(tj_tile_domain){.extent = {c, 3, out, rows},
                               .stride = {{1, c, step * c, step * width * c}, {1, c, 9 * c, out * 9 * c}}});
}

/* Windows of an image touch no more lines so, and take fewer instructions; of a column of windows, with little beside
 * rows for work-items, slots had better be spread. */
START_TEST(rows_are_for_fewer_lines_or_instructions) {
  static const struct {
    int64_t channels, out, rows;
    bool is_worth;
  } row[] = {{64, 28, 28, true}, {8, 28, 28, true}, {8, 1, 1296, false}};
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    tj_tile_choice choice = choose_windows(row[i].channels, 1, row[i].out, row[i].rows, 0);
    ck_assert_int_eq(choice.is_worth, row[i].is_worth);
    ck_assert_int_eq(choice.items[3], 1);
    ck_assert_int_eq(choice.log[3], 4);
    ck_assert_int_eq(choose_windows(row[i].channels, 1, row[i].out, row[i].rows, 1).is_worth, true);
  }
}
END_TEST

/* Work-items load all of a window's row, not two pixels of three. */
START_TEST(rows_of_windows_are_whole) {
  tj_tile_choice choice = choose_windows(64, 2, 14, 14, 0);
  ck_assert_int_eq(choice.items[1], 3);
  ck_assert_int_eq(choice.items[2], 7);
  ck_assert_int_eq(choice.is_worth, true);
}
END_TEST

/* The same windows with their pixels along columns before those along rows of windows, which work-items mask rows
 * for. */
static tj_tile_choice choose_masked_rows(int64_t channels, uint32_t is_given) {
  int64_t c = channels;
  tj_tile tile = plain_tile(TJ_TILE_MASKED_ROWS, 5);
  tile.axis[5] = TJ_TILE_NONE;
  tile.loaded_bytes = tile.stored_bytes = 2;
  tile.loaded = tile.stored = 8;
  tile.slots = 2 * SLOTS;
  tile.rows = 4;
  tile.without = 1 << 2;
  tile.is_given = is_given;
  return tj_tile_choose(&tile,
                        &(tj_tile_domain){.extent = {c, 3, 3, 28, 28},
                                          .stride = {{1, c, 28 * c, c, 28 * c}, {1, c, 3 * c, 9 * c, 28 * 9 * c}}});
}

/* Windows of 8 and 16 channels are stored in longer runs so; those of 24 and 64 fill lines for fewer instructions. */
START_TEST(masked_rows_are_for_runs_that_go_on) {
  static const struct {
    int64_t channels;
    bool is_worth;
  } row[] = {{8, true}, {16, true}, {24, false}, {64, false}};
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    tj_tile_choice choice = choose_masked_rows(row[i].channels, 0);
    ck_assert_int_eq(choice.is_worth, row[i].is_worth);
    ck_assert_int_eq(choice.items[2], 3);
    ck_assert_int_eq(choice.items[4], 1);
    ck_assert_int_eq(choice.log[4], 4);
    ck_assert_int_eq(choose_masked_rows(row[i].channels, 1).is_worth, true);
  }
}
END_TEST

/* Blocks of 16 rows of vectors, whose columns the destination has one behind the other: 64 lanes have eight columns
 * of eight rows, whole lines on both sides; 32 lanes, only through LDS. */
START_TEST(small_waves_make_lines_through_lds) {
  const tj_tile_domain domain = {.extent = {16, 64, 16, 32}, .stride = {{1, 16, 1024, 16384}, {1, 256, 16, 16384}}};
  tj_tile tile = plain_tile(TJ_TILE_STAGED, 4);
  tile.axis[4] = tile.axis[5] = TJ_TILE_NONE;
  tile.loaded_bytes = tile.stored_bytes = 1;
  tile.loaded = tile.stored = 16;
  ck_assert_int_eq(tj_tile_choose(&tile, &domain).is_worth, false);
  tile.lanes = 32;
  ck_assert_int_eq(tj_tile_choose(&tile, &domain).is_worth, true);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {small_waves_make_lines_through_lds,
                                any_choice_is_within_its_limits,
                                words_have_bounds,
                                slots_are_shared_out_in_the_best_way,
                                masked_rows_are_for_runs_that_go_on,
                                what_turns_around_fits_a_workgroup,
                                shapes_are_as_counted,
                                staging_is_for_short_rows,
                                rows_are_for_fewer_lines_or_instructions,
                                rows_of_windows_are_whole};
  return run_suite(suite_of("tile", tests, sizeof tests / sizeof *tests));
}
