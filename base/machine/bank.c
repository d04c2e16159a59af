/* SPDX-License-Identifier: MIT */
/* The phase model of LDS: looks rows of bank.def up, and counts the words that the lanes of a phase want of one bank.
 */
#include "base/machine/bank.h"

#include "base/machine/processor.h"

#include <string.h>

enum { GRANULES = TJ_BANK_LANES / 4, MOST_BANKS = 64, MOST_WORDS = 5 * TJ_BANK_LANES, NO_WORD = UINT16_MAX };

const tj_bank_model tj_bank_models[] = {
#define BANK_MODEL(name, banks, source) {#name, banks, source},
#define BANK_PHASES(...)
#include "base/machine/bank.def"
#undef BANK_MODEL
#undef BANK_PHASES
};

typedef struct {
  tj_bank_model_number model;
  uint32_t least_bytes;
  bool for_loads, for_stores;
  const char *measured_on;
  uint8_t phase[GRANULES]; /* of four lanes each */
} phases;

static const phases phase_rows[] = {
#define BANK_MODEL(...)
#define BANK_PHASES(model, least, loads, stores, measured, ...)                                                      \
  {TJ_BANKS_##model, least, loads, stores, measured, {__VA_ARGS__}},
#include "base/machine/bank.def"
#undef BANK_MODEL
#undef BANK_PHASES
};

const tj_bank_model *tj_bank_model_of(const char *name) {
  tj_shared_memory memory;
  return tj_shared_memory_of(name, &memory) ? memory.banks : NULL;
}

/* Each model has rows for both directions from 0 bytes on. */
static const phases *find_phases(const tj_bank_model *model, bool is_store, uint32_t bytes) {
  const phases *row = phase_rows;
  while (model != &tj_bank_models[row->model] || bytes < row->least_bytes ||
         !(is_store ? row->for_stores : row->for_loads))
    row++;
  return row;
}

/* The words that the lanes of one phase want, each once, by bank. */
typedef struct {
  uint32_t word[MOST_WORDS];
  uint16_t next[MOST_WORDS]; /* of the same bank, or NO_WORD */
  uint16_t first[MOST_BANKS];
  uint8_t wanted[MOST_BANKS];
  uint16_t count;
  uint32_t most; /* of one bank */
} word_set;

static void insert_word(word_set *set, uint32_t banks, uint32_t word) {
  uint32_t bank = word % banks;
  for (uint16_t i = set->first[bank]; i != NO_WORD; i = set->next[i]) {
    if (set->word[i] == word)
      return;
  }
  set->word[set->count] = word;
  set->next[set->count] = set->first[bank];
  set->first[bank] = set->count++;
  set->wanted[bank]++;
  set->most = set->wanted[bank] > set->most ? set->wanted[bank] : set->most;
}

static uint32_t cycles_of_phase(const tj_bank_model *model, uint32_t bytes, const uint32_t address[],
                                uint64_t lanes) {
  word_set set;
  memset(set.first, 0xff, sizeof set.first);
  memset(set.wanted, 0, sizeof set.wanted);
  set.count = 0;
  set.most = 0;
  for (uint64_t left = lanes; left != 0; left &= left - 1) {
    uint32_t at = address[__builtin_ctzll(left)];
    uint32_t end = (at % TJ_BANK_BYTES + bytes + TJ_BANK_BYTES - 1) / TJ_BANK_BYTES;
    for (uint32_t word = 0; word < end; word++)
      insert_word(&set, model->banks, at / TJ_BANK_BYTES + word);
  }
  return set.most;
}

void tj_bank_phases(const tj_bank_model *model, bool is_store, uint32_t bytes, uint64_t active,
                    uint64_t lanes[TJ_BANK_MOST_PHASES]) {
  const phases *row = find_phases(model, is_store, bytes);
  memset(lanes, 0, TJ_BANK_MOST_PHASES * sizeof lanes[0]);
  for (uint32_t granule = 0; granule < GRANULES; granule++)
    lanes[row->phase[granule]] |= active & 0xfull << (4 * granule);
}

const char *tj_bank_measured_on(const tj_bank_model *model, bool is_store, uint32_t bytes) {
  const phases *row = find_phases(model, is_store, bytes);
  return row->least_bytes == bytes ? row->measured_on : "";
}

uint32_t tj_bank_phase_lanes(const tj_bank_model *model, bool is_store, uint32_t bytes) {
  uint64_t lanes[TJ_BANK_MOST_PHASES];
  tj_bank_phases(model, is_store, bytes, UINT64_MAX, lanes);
  return (uint32_t)__builtin_popcountll(lanes[0]);
}

uint32_t tj_bank_cycles(const tj_bank_model *model, bool is_store, uint32_t bytes, const uint32_t address[],
                        uint64_t active) {
  uint64_t lanes[TJ_BANK_MOST_PHASES];
  uint32_t cycles = 0;
  tj_bank_phases(model, is_store, bytes, active, lanes);
  for (uint32_t phase = 0; phase < TJ_BANK_MOST_PHASES; phase++)
    cycles += lanes[phase] != 0 ? cycles_of_phase(model, bytes, address, lanes[phase]) : 0;
  return cycles;
}

/* The word that a bank is wanted for, and the first lane that wants it. */
typedef struct {
  uint32_t word[MOST_BANKS], lane[MOST_BANKS];
  uint64_t wanted; /* bit by bank */
} first_words;

static bool lane_collides(const tj_bank_model *model, uint32_t bytes, uint32_t at, uint32_t lane, first_words *first,
                          tj_bank_collision *found) {
  uint32_t begin = at / TJ_BANK_BYTES, end = (at % TJ_BANK_BYTES + bytes + TJ_BANK_BYTES - 1) / TJ_BANK_BYTES;
  for (uint32_t word = begin; word < begin + end; word++) {
    uint32_t bank = word % model->banks;
    if ((first->wanted >> bank & 1) == 0) {
      first->wanted |= 1ull << bank;
      first->word[bank] = word;
      first->lane[bank] = lane;
    } else if (first->word[bank] != word) {
      found->bank = bank;
      found->lane[0] = first->lane[bank];
      found->lane[1] = lane;
      return true;
    }
  }
  return false;
}

bool tj_bank_collide(const tj_bank_model *model, bool is_store, uint32_t bytes, const uint32_t address[],
                     uint64_t active, tj_bank_collision *first) {
  uint64_t lanes[TJ_BANK_MOST_PHASES];
  tj_bank_phases(model, is_store, bytes, active, lanes);
  for (uint32_t phase = 0; phase < TJ_BANK_MOST_PHASES; phase++) {
    first_words words = {.wanted = 0};
    first->phase = phase;
    for (uint64_t left = lanes[phase]; left != 0; left &= left - 1) {
      uint32_t lane = (uint32_t)__builtin_ctzll(left);
      if (lane_collides(model, bytes, address[lane], lane, &words, first))
        return true;
    }
  }
  return false;
}

uint32_t tj_bank_ideal(const tj_bank_model *model, bool is_store, uint32_t bytes, uint64_t active) {
  uint64_t lanes[TJ_BANK_MOST_PHASES];
  uint32_t ideal = 0;
  tj_bank_phases(model, is_store, bytes, active, lanes);
  for (uint32_t phase = 0; phase < TJ_BANK_MOST_PHASES; phase++)
    ideal += lanes[phase] != 0 ? 1 : 0;
  return ideal;
}
