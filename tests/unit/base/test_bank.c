/* SPDX-License-Identifier: MIT */
/* The bank model of LDS: phases as their sources write them, worked cycles, and a plain count of random accesses. */
#include "base/machine/bank.h"
#include "tests/unit/support/harness.h"

#include <stdio.h>
#include <string.h>

enum { B1 = 1, B2 = 2, B4 = 4, B8 = 8, B12 = 12, B16 = 16, LOAD = 1, STORE = 2, BOTH = LOAD | STORE };

/* Phases as ranges of lanes, "," between them. */
typedef struct {
  const char *processor;
  unsigned least_bytes, most_bytes, directions;
  uint32_t lanes, banks;
  const char *phases;
} row;

#define CONSECUTIVE_8 "0-7,8-15,16-23,24-31,32-39,40-47,48-55,56-63"
#define CDNA_WIDE "0-3+20-23,32-35+52-55,4-7+16-19,36-39+48-51,8-11+28-31,40-43+60-63,12-15+24-27,44-47+56-59"
#define CDNA4_WIDE "0-3+12-15+20-23+24-27,32-35+44-47+52-55+56-59,4-7+8-11+16-19+28-31,36-39+40-43+48-51+60-63"
#define RDNA3_WIDE "0-3+20-23,4-7+16-19,8-11+28-31,12-15+24-27"
#define CDNA_ROWS(processor)                                                                                         \
  {processor, B1, B4, BOTH, 64, 32, "0-31,32-63"}, {processor, B8, B8, BOTH, 64, 32, "0-15,16-31,32-47,48-63"},      \
      {processor, B12, B16, LOAD, 64, 32, CDNA_WIDE}, {                                                              \
    processor, B12, B16, STORE, 64, 32, CONSECUTIVE_8                                                                \
  }
#define RDNA_ROWS(processor)                                                                                         \
  {processor, B1, B4, BOTH, 32, 32, "0-31"}, {processor, B8, B8, BOTH, 32, 32, "0-15,16-31"}, {                      \
    processor, B12, B16, BOTH, 32, 32, "0-7,8-15,16-23,24-31"                                                        \
  }

static const row rows[] = {
    CDNA_ROWS("gfx90a"),
    CDNA_ROWS("gfx942"),
    {"gfx950", B1, B4, BOTH, 64, 64, "0-63"},
    {"gfx950", B8, B8, BOTH, 64, 64, "0-31,32-63"},
    {"gfx950", B12, B16, LOAD, 64, 64, CDNA4_WIDE},
    {"gfx950", B12, B16, STORE, 64, 64, "0-15,16-31,32-47,48-63"},
    RDNA_ROWS("gfx1030"),
    {"gfx1100", B1, B4, BOTH, 32, 32, "0-31"},
    {"gfx1100", B8, B8, BOTH, 32, 32, "0-15,16-31"},
    {"gfx1100", B12, B16, LOAD, 32, 32, RDNA3_WIDE},
    {"gfx1100", B12, B16, STORE, 32, 32, "0-7,8-15,16-23,24-31"},
    RDNA_ROWS("gfx1201"),
    RDNA_ROWS("sm_75"),
    RDNA_ROWS("sm_90a"),
};

static const uint32_t widths[] = {1, 2, 4, 8, 12, 16};

/* The number of the phase that a lane is in; UINT32_MAX: in none. */
static uint32_t phase_in(const char *phases, uint32_t lane) {
  uint32_t phase = 0;
  for (const char *at = phases; *at != '\0';) {
    unsigned first, last;
    int length;
    ck_assert_int_eq(sscanf(at, "%u-%u%n", &first, &last, &length), 2);
    if (first <= lane && lane <= last)
      return phase;
    at += length;
    phase += *at == ',' ? 1 : 0;
    at += *at != '\0' ? 1 : 0;
  }
  return UINT32_MAX;
}

static const row *find_row(const char *processor, uint32_t bytes, bool is_store) {
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const row *r = &rows[i];
    if (strcmp(r->processor, processor) == 0 && r->least_bytes <= bytes && bytes <= r->most_bytes &&
        (r->directions & (is_store ? STORE : LOAD)) != 0)
      return r;
  }
  ck_abort_msg("no row of %s for %u bytes", processor, bytes);
}

START_TEST(phases_are_those_of_the_sources) {
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const tj_bank_model *model = tj_bank_model_of(rows[i].processor);
    ck_assert_uint_eq(model->banks, rows[i].banks);
    for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
      for (unsigned is_store = 0; is_store < 2; is_store++) {
        const row *r = find_row(rows[i].processor, widths[w], is_store != 0);
        for (uint32_t lane = 0; lane < r->lanes; lane++) {
          uint64_t served[TJ_BANK_MOST_PHASES];
          tj_bank_phases(model, is_store != 0, widths[w], 1ull << lane, served);
          ck_assert_msg(served[phase_in(r->phases, lane)] == 1ull << lane, "%s: %u bytes: lane %u", r->processor,
                        widths[w], lane);
        }
      }
    }
  }
}
END_TEST

START_TEST(processors_have_models) {
  static const struct {
    const char *processor, *model;
    uint32_t wide_lanes; /* of a phase, where each moves 16 bytes */
  } known[] = {{"gfx90a", "cdna", 8},         {"gfx942", "cdna", 8},         {"gfx950", "cdna4", 16},
               {"gfx908", "gcn", 8},          {"gfx1030", "rdna", 8},        {"gfx1151", "rdna3", 8},
               {"gfx9-4-generic", "cdna", 8}, {"gfx12-generic", "rdna4", 8}, {"sm_80", "nvidia", 8},
               {"sm_100f", "nvidia", 8},      {"sm_121", "nvidia", 8}};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    const tj_bank_model *model = tj_bank_model_of(known[i].processor);
    ck_assert_str_eq(model->name, known[i].model);
    ck_assert_uint_eq(tj_bank_phase_lanes(model, false, B16), known[i].wide_lanes);
    ck_assert_uint_eq(tj_bank_phase_lanes(model, true, B16), known[i].wide_lanes);
  }
  static const char *const unknown[] = {"znver4", "sm_9", "sm_90x", "sm_90ab", "sm_1000", ""};
  for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
    ck_assert_ptr_null(tj_bank_model_of(unknown[i]));
}
END_TEST

/* On which processor, by width; stores have not been measured anywhere. */
START_TEST(what_was_measured) {
  static const struct {
    const char *processor, *measured[sizeof widths / sizeof widths[0]];
  } known[] = {
      {"gfx90a", {"", "", "gfx942", "gfx942", "", "gfx942"}},
      {"gfx942", {"", "", "gfx942", "gfx942", "", "gfx942"}},
      {"gfx950", {"", "", "gfx950", "gfx950", "", "gfx950"}},
      {"gfx1030", {"", "", "", "", "", ""}},
      {"gfx1103", {"", "", "gfx1100", "gfx1100", "", "gfx1100"}},
      {"gfx1201", {"", "", "gfx1201", "gfx1201", "", "gfx1201"}},
      {"gfx908", {"", "", "", "", "", ""}},
  };
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    const tj_bank_model *model = tj_bank_model_of(known[i].processor);
    for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
      ck_assert_str_eq(tj_bank_measured_on(model, false, widths[w]), known[i].measured[w]);
      ck_assert_str_eq(tj_bank_measured_on(model, true, widths[w]), "");
    }
  }
}
END_TEST

/* --- worked cycles --- */

static uint32_t every_word(uint32_t lane) {
  return lane * 4;
}

static uint32_t every_second_word(uint32_t lane) {
  return lane * 8;
}

static uint32_t every_fourth_word(uint32_t lane) {
  return lane * 16;
}

static uint32_t rows_of_32_words(uint32_t lane) {
  return lane * 128;
}

static uint32_t rows_of_33_words(uint32_t lane) {
  return lane * 132;
}

static uint32_t rows_of_64_words(uint32_t lane) {
  return lane * 256;
}

static uint32_t one_word(uint32_t lane) {
  (void)lane;
  return 64;
}

static uint32_t every_byte(uint32_t lane) {
  return lane;
}

/* 32 halves of 32 rows, 64 bytes apart. */
static uint32_t halves_of_a_column(uint32_t lane) {
  return lane * 64 + 2;
}

static uint32_t unaligned(uint32_t lane) {
  return lane * 128 + 126;
}

START_TEST(worked_cycles) {
  static const struct {
    const char *processor;
    bool is_store;
    uint32_t bytes;
    uint32_t (*address)(uint32_t lane);
    uint64_t active;
    uint32_t cycles, ideal;
  } worked[] = {
      {"gfx942", false, 4, every_word, UINT64_MAX, 2, 2},
      {"gfx942", false, 4, every_second_word, UINT64_MAX, 4, 2},
      {"gfx942", false, 4, one_word, UINT64_MAX, 2, 2},
      {"gfx942", true, 4, rows_of_32_words, UINT64_MAX, 64, 2},
      {"gfx942", true, 4, rows_of_33_words, UINT64_MAX, 2, 2},
      {"gfx942", false, 4, rows_of_32_words, 1, 1, 1},
      {"gfx942", false, 4, rows_of_32_words, 0x100000001, 2, 2},
      {"gfx942", false, 4, rows_of_32_words, 0, 0, 0},
      {"gfx942", false, 1, every_byte, UINT64_MAX, 2, 2},
      {"gfx942", false, 2, halves_of_a_column, UINT32_MAX, 16, 1},
      {"gfx942", false, 2, unaligned, UINT32_MAX, 32, 1},
      {"gfx942", false, 8, every_second_word, UINT64_MAX, 4, 4},
      {"gfx942", false, 12, every_fourth_word, UINT64_MAX, 8, 8},
      {"gfx942", false, 16, every_fourth_word, UINT64_MAX, 8, 8},
      {"gfx942", false, 16, rows_of_32_words, UINT64_MAX, 64, 8},
      {"gfx950", false, 4, every_word, UINT64_MAX, 1, 1},
      {"gfx950", false, 4, rows_of_64_words, UINT64_MAX, 64, 1},
      {"gfx950", false, 4, rows_of_33_words, UINT64_MAX, 1, 1},
      {"gfx950", true, 16, every_fourth_word, UINT64_MAX, 4, 4},
      {"gfx1100", false, 4, every_word, UINT32_MAX, 1, 1},
      {"gfx1100", false, 8, every_second_word, UINT32_MAX, 2, 2},
      {"gfx1100", false, 16, every_fourth_word, UINT32_MAX, 4, 4},
      {"gfx1100", false, 16, rows_of_32_words, 0x00f0000f, 8, 1},
      {"gfx1100", false, 16, rows_of_32_words, 0x000f000f, 8, 2},
      {"gfx1100", true, 16, rows_of_32_words, 0x000000ff, 8, 1},
      {"gfx1201", false, 4, rows_of_32_words, UINT32_MAX, 32, 1},
  };
  for (size_t i = 0; i < sizeof worked / sizeof worked[0]; i++) {
    const tj_bank_model *model = tj_bank_model_of(worked[i].processor);
    uint32_t address[TJ_BANK_LANES];
    for (uint32_t lane = 0; lane < TJ_BANK_LANES; lane++)
      address[lane] = worked[i].address(lane);
    uint32_t cycles = tj_bank_cycles(model, worked[i].is_store, worked[i].bytes, address, worked[i].active);
    uint32_t ideal = tj_bank_ideal(model, worked[i].is_store, worked[i].bytes, worked[i].active);
    ck_assert_msg(cycles == worked[i].cycles && ideal == worked[i].ideal, "row %zu: %u cycles, ideally %u", i, cycles,
                  ideal);
  }
}
END_TEST

/* Two lanes that wait for each other, in the first phase that has such. */
START_TEST(worked_collisions) {
  static const struct {
    const char *processor;
    uint32_t bytes;
    uint32_t (*address)(uint32_t lane);
    uint64_t active;
    bool collides;
    tj_bank_collision first;
  } worked[] = {
      {"gfx942", 4, every_word, UINT64_MAX, false, {0}},
      {"gfx942", 4, one_word, UINT64_MAX, false, {0}},
      {"gfx942", 4, every_second_word, UINT64_MAX, true, {0, 0, {0, 16}}},
      {"gfx942", 4, every_second_word, 0xffffffff0000ffff, true, {1, 0, {32, 48}}},
      {"gfx942", 4, rows_of_32_words, 0x100000001, false, {0}},
      {"gfx942", 16, rows_of_32_words, 0xf0000f0, true, {2, 0, {4, 5}}},
      {"gfx942", 16, rows_of_32_words, 0x100001, true, {0, 0, {0, 20}}},
      {"gfx942", 2, unaligned, 0x3, true, {0, 31, {0, 1}}},
      {"gfx950", 4, every_second_word, UINT64_MAX, true, {0, 0, {0, 32}}},
      {"sm_90", 16, every_fourth_word, UINT32_MAX, false, {0}},
      {"sm_90", 8, every_fourth_word, 0xffff, true, {0, 0, {0, 8}}},
      {"sm_90", 8, every_fourth_word, 0x10100, false, {0}},
  };
  for (size_t i = 0; i < sizeof worked / sizeof worked[0]; i++) {
    uint32_t address[TJ_BANK_LANES];
    for (uint32_t lane = 0; lane < TJ_BANK_LANES; lane++)
      address[lane] = worked[i].address(lane);
    tj_bank_collision found, is = worked[i].first;
    bool collides = tj_bank_collide(tj_bank_model_of(worked[i].processor), false, worked[i].bytes, address,
                                    worked[i].active, &found);
    ck_assert_msg(collides == worked[i].collides, "row %zu", i);
    ck_assert_msg(!collides || (found.phase == is.phase && found.bank == is.bank && found.lane[0] == is.lane[0] &&
                                found.lane[1] == is.lane[1]),
                  "row %zu: lanes %u and %u in bank %u of phase %u", i, found.lane[0], found.lane[1], found.bank,
                  found.phase);
  }
}
END_TEST

/* --- against a plain count --- */

/* Whether a lane of `lanes` wants the word. */
static bool is_wanted(uint32_t bytes, const uint32_t address[], uint64_t lanes, uint32_t word) {
  for (uint32_t lane = 0; lane < TJ_BANK_LANES; lane++) {
    bool touches = address[lane] / 4 <= word && word <= (address[lane] + bytes - 1) / 4;
    if ((lanes >> lane & 1) != 0 && touches)
      return true;
  }
  return false;
}

static uint64_t lanes_of_phase(const row *r, uint32_t phase) {
  uint64_t lanes = 0;
  for (uint32_t lane = 0; lane < r->lanes; lane++)
    lanes |= phase_in(r->phases, lane) == phase ? 1ull << lane : 0;
  return lanes;
}

static uint32_t plain_cycles(const row *r, uint32_t bytes, const uint32_t address[], uint64_t active,
                             uint32_t words) {
  uint32_t cycles = 0;
  for (uint32_t phase = 0; phase < TJ_BANK_MOST_PHASES; phase++) {
    uint64_t lanes = lanes_of_phase(r, phase) & active;
    uint32_t most = 0;
    for (uint32_t bank = 0; bank < r->banks; bank++) {
      uint32_t wanted = 0;
      for (uint32_t word = bank; word < words; word += r->banks)
        wanted += is_wanted(bytes, address, lanes, word) ? 1 : 0;
      most = wanted > most ? wanted : most;
    }
    cycles += most;
  }
  return cycles;
}

static uint64_t next_random(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state >> 32;
}

START_TEST(random_accesses) {
  enum { ROUNDS = 400, WORDS = 300 };
  uint64_t state = 1;
  for (unsigned round = 0; round < ROUNDS; round++) {
    const row *some = &rows[next_random(&state) % (sizeof rows / sizeof rows[0])];
    uint32_t bytes = widths[next_random(&state) % (sizeof widths / sizeof widths[0])];
    bool is_store = (next_random(&state) & 1) != 0;
    const row *r = find_row(some->processor, bytes, is_store);
    uint64_t active = (next_random(&state) << 32 | next_random(&state)) & (r->lanes == 64 ? UINT64_MAX : UINT32_MAX);
    uint32_t address[TJ_BANK_LANES], step = 1u << next_random(&state) % 5;
    for (uint32_t lane = 0; lane < TJ_BANK_LANES; lane++)
      address[lane] = (uint32_t)(next_random(&state) % ((WORDS - 4) * 4 / step)) * step;
    uint32_t cycles = tj_bank_cycles(tj_bank_model_of(r->processor), is_store, bytes, address, active);
    uint32_t expected = plain_cycles(r, bytes, address, active, WORDS);
    ck_assert_msg(cycles == expected, "%s: %u bytes: %u cycles, not %u (round %u)", r->processor, bytes, cycles,
                  expected, round);
    tj_bank_collision first;
    bool collides = tj_bank_collide(tj_bank_model_of(r->processor), is_store, bytes, address, active, &first);
    ck_assert(collides == (cycles > tj_bank_ideal(tj_bank_model_of(r->processor), is_store, bytes, active)));
  }
}
END_TEST

int main(void) {
  const TTest *const tests[] = {phases_are_those_of_the_sources,
                                processors_have_models,
                                what_was_measured,
                                worked_cycles,
                                worked_collisions,
                                random_accesses};
  return run_suite(suite_of("bank", tests, sizeof tests / sizeof tests[0]));
}
