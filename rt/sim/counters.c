/* Counting: cache lines of vector memory, phases and banks of LDS. */
#include "rt/sim/counters.h"

enum { GRANULES = 16, MOST_PHASES = 8, MOST_WORDS = 5 * TJ_SIM_LANES, LINE_SLOTS = 256 };

void tj_sim_counters_add(tj_sim_counters *to, const tj_sim_counters *from) {
  uint64_t *sum = (uint64_t *)to;
  const uint64_t *term = (const uint64_t *)from;
  for (size_t i = 0; i < sizeof *to / sizeof *sum; i++)
    sum[i] += term[i];
}

/* --- cache lines --- */

/* A set of line numbers: open addressing, large enough for two lines a lane. */
typedef struct {
  uint64_t slot[LINE_SLOTS]; /* a line's number and 1; 0: empty */
  uint32_t count;
} line_set;

static void insert_line(line_set *set, uint64_t line) {
  uint32_t at = (uint32_t)(line * 0x9e3779b97f4a7c15u >> 56);
  while (set->slot[at] != 0 && set->slot[at] != line + 1)
    at = (at + 1) % LINE_SLOTS;
  set->count += set->slot[at] == 0 ? 1 : 0;
  set->slot[at] = line + 1;
}

void tj_sim_count_access(tj_sim_counters *counters, uint32_t line_bytes, const uint64_t address[], uint32_t count,
                         uint32_t size) {
  if (count == 0)
    return;
  line_set set = {.count = 0};
  for (uint32_t i = 0; i < count; i++) {
    insert_line(&set, address[i] / line_bytes);
    insert_line(&set, (address[i] + size - 1) / line_bytes);
  }
  uint64_t bytes = (uint64_t)count * size;
  counters->memory_accesses++;
  counters->memory_bytes += bytes;
  counters->cache_lines += set.count;
  counters->least_cache_lines += (bytes + line_bytes - 1) / line_bytes;
}

/* --- LDS --- */

typedef struct {
  const char *processor;
  uint32_t least_bytes;
  bool for_loads, for_stores;
  uint32_t banks;
  uint8_t phase[GRANULES]; /* of four lanes each */
} phases;

static const phases phase_rows[] = {
#define PHASES(processor, least, loads, stores, banks, ...) {#processor, least, loads, stores, banks, {__VA_ARGS__}},
#include "rt/sim/lds_phase.def"
#undef PHASES
};

static const phases *find_phases(const char *processor, uint32_t bytes, bool is_store) {
  for (size_t i = 0; i < sizeof phase_rows / sizeof phase_rows[0]; i++) {
    const phases *row = &phase_rows[i];
    bool matches = bytes >= row->least_bytes && (is_store ? row->for_stores : row->for_loads);
    if (matches && strcmp(row->processor, processor) == 0)
      return row;
  }
  return NULL;
}

/* The words that the lanes of one phase want, each once. */
typedef struct {
  uint32_t word[MOST_WORDS];
  uint32_t count;
} word_set;

static void insert_word(word_set *set, uint32_t word) {
  for (uint32_t i = 0; i < set->count; i++) {
    if (set->word[i] == word)
      return;
  }
  set->word[set->count++] = word;
}

static uint32_t most_wanted_bank(const word_set *set, uint32_t banks) {
  uint8_t wanted[64] = {0};
  uint32_t most = 0;
  for (uint32_t i = 0; i < set->count; i++) {
    uint32_t bank = set->word[i] % banks;
    wanted[bank]++;
    most = wanted[bank] > most ? wanted[bank] : most;
  }
  return most;
}

void tj_sim_count_lds(tj_sim_counters *counters, const char *processor, const uint32_t address[TJ_SIM_LANES],
                      uint64_t exec, uint32_t bytes, bool is_store) {
  const phases *row = find_phases(processor, bytes, is_store);
  for (uint32_t phase = 0; row != NULL && phase < MOST_PHASES; phase++) {
    word_set set;
    set.count = 0;
    for (uint64_t left = exec; left != 0; left &= left - 1) {
      unsigned lane = (unsigned)__builtin_ctzll(left);
      if (row->phase[lane / 4] != phase)
        continue;
      for (uint32_t word = address[lane] / 4; word <= (address[lane] + bytes - 1) / 4; word++)
        insert_word(&set, word);
    }
    counters->lds_cycles += most_wanted_bank(&set, row->banks);
    counters->least_lds_cycles += set.count > 0 ? 1 : 0;
  }
}
