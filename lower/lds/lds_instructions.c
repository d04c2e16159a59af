/* SPDX-License-Identifier: MIT */
/* From patterns of accesses to phases and their units, and from accesses to where those begin.
 *
 * The pigeonhole: a layout keeps `vector` elements together and aligned, so a word stays at its place within its
 * vector; of the words that one phase wants, those at one place share the banks of that place. */
#include "lower/lds/lds_instructions.h"

#include "base/number/keys.h"
#include "base/number/power.h"

#include <string.h>

enum { WIDEST = 16, MOST_PLACES = WIDEST / TJ_BANK_BYTES };

typedef struct {
  tj_stage_stream *stream;
  tj_keys phases;
} maker;

static const tj_stage_tile *tile_of(const tj_stage_stream *s) {
  return s->patterns->tile;
}

static uint32_t instructions_of(const tj_stage_stream *s, const tj_stage_pattern *pattern) {
  return pattern->access->elements / tj_stage_pattern_vector(pattern, s->direction, s->vector);
}

/* --- units --- */

/* A row and a column as the word that begins there, or has it. */
static tj_stage_unit unit_at(const tj_stage_stream *s, uint32_t row, uint32_t column) {
  bool by_row = s->direction == TJ_STAGE_ROW;
  return (tj_stage_unit){by_row ? row : column, (by_row ? column : row) * tile_of(s)->element_bytes / TJ_BANK_BYTES};
}

/* Where a lane's part of an instruction begins, `step` neighbours into its access. */
static tj_stage_unit unit_of(const tj_stage_stream *s, const tj_stage_access *access, uint32_t lane, uint32_t step) {
  uint32_t row = tj_stage_row(access, lane), column = tj_stage_column(access, lane);
  *(access->direction == TJ_STAGE_ROW ? &column : &row) += step;
  return unit_at(s, row, column);
}

static tj_stage_unit beyond(tj_stage_unit unit, tj_stage_unit from) {
  return (tj_stage_unit){unit.line - from.line, unit.word - from.word};
}

/* Units of lanes as seen from the first one, each once; how many. */
static uint32_t list_units(const tj_stage_stream *s, const tj_stage_access *access, uint32_t step, uint64_t lanes,
                           tj_stage_unit unit[]) {
  enum { SLOTS = 2 * TJ_BANK_LANES };
  uint8_t known[SLOTS] = {0}; /* 1 + the number of a unit, by what its line and word are mixed to */
  uint32_t count = 0;
  tj_stage_unit first = unit_of(s, access, (uint32_t)__builtin_ctzll(lanes), step);
  for (; lanes != 0; lanes &= lanes - 1) {
    tj_stage_unit one = beyond(unit_of(s, access, (uint32_t)__builtin_ctzll(lanes), step), first);
    uint32_t at = (one.line * 37 + one.word) % SLOTS;
    while (known[at] != 0 && (unit[known[at] - 1].line != one.line || unit[known[at] - 1].word != one.word))
      at = (at + 1) % SLOTS;
    if (known[at] != 0)
      continue;
    unit[count++] = one;
    known[at] = (uint8_t)count;
  }
  return count;
}

/* --- the pigeonhole --- */

/* The units of a phase at each place within vectors, and so the cycles that the fullest place needs. */
static uint32_t least_of(const tj_stage_stream *s, const tj_stage_unit unit[], uint32_t count) {
  uint32_t places = s->vector * tile_of(s)->element_bytes / TJ_BANK_BYTES, at_place[MOST_PLACES] = {0}, least = 0;
  uint32_t banks = s->model->banks / places;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t cycles = (++at_place[unit[i].word % places] + banks - 1) / banks;
    least = cycles > least ? cycles : least;
  }
  return least;
}

/* --- phases --- */

/* What the lanes of a phase of an instruction want, whatever vectors the layout keeps together. */
typedef struct tj_stage_wanted {
  tj_stage_unit first;
  const tj_stage_unit *unit; /* as seen from there */
  uint32_t units;
  uint64_t key;
} wanted_units;

static uint64_t key_of_units(uint32_t words, const tj_stage_unit unit[], uint32_t count) {
  uint64_t key = words;
  for (uint32_t i = 0; i < count; i++)
    key = tj_key_mix(key, (uint64_t)unit[i].line << 32 | unit[i].word);
  return key;
}

static uint32_t words_of(uint32_t bytes) {
  return bytes < TJ_BANK_BYTES ? 1 : bytes / TJ_BANK_BYTES;
}

static wanted_units wanted_by(const tj_stage_stream *s, const tj_stage_access *access, uint32_t step, uint32_t bytes,
                              uint64_t lanes) {
  tj_stage_unit unit[TJ_BANK_LANES];
  const uint32_t units = list_units(s, access, step, lanes, unit);
  return (wanted_units){unit_of(s, access, (uint32_t)__builtin_ctzll(lanes), step),
                        tj_arena_copy(&s->job->arena, unit, units * sizeof unit[0]), units,
                        key_of_units(words_of(bytes), unit, units)};
}

/* Instructions of an access: of `vector` elements each; how many, and after how many the phases are the same, but
 * begin further on. */
typedef struct {
  uint32_t vector, bytes, count, period;
  uint64_t lanes[TJ_BANK_MOST_PHASES]; /* by phase; 0: there is none */
} instruction_list;

static instruction_list list_instructions(const tj_stage_stream *s, const tj_stage_pattern *pattern) {
  const tj_stage_access *access = pattern->access;
  instruction_list list = {.count = instructions_of(s, pattern)};
  list.vector = access->elements / list.count;
  list.bytes = list.vector * tile_of(s)->element_bytes;
  list.period = access->direction == s->direction && list.bytes < TJ_BANK_BYTES ? TJ_BANK_BYTES / list.bytes : 1;
  list.period = list.period < list.count ? list.period : list.count;
  tj_bank_phases(s->model, access->is_store, list.bytes, access->active, list.lanes);
  return list;
}

/* What phases of the first instructions want, up to the period: by instruction, then by phase. Found once for all
 * streams of a direction. */
static const wanted_units *wanted_of(const tj_stage_stream *s, const tj_stage_pattern *pattern,
                                     const instruction_list *list) {
  wanted_units **known = &pattern->wanted[s->direction][tj_log2(list->vector)];
  if (*known != NULL)
    return *known;
  *known = tj_arena_raw(&s->job->arena, (size_t)list->period * TJ_BANK_MOST_PHASES, sizeof **known);
  for (uint32_t i = 0; i < list->period; i++) {
    for (uint32_t k = 0; k < TJ_BANK_MOST_PHASES; k++) {
      if (list->lanes[k] != 0)
        (*known)[i * TJ_BANK_MOST_PHASES + k] =
            wanted_by(s, pattern->access, i * list->vector, list->bytes, list->lanes[k]);
    }
  }
  return *known;
}

static uint32_t phase_of(maker *m, uint32_t words, const wanted_units *wanted) {
  tj_stage_stream *s = m->stream;
  uint32_t number = tj_key_number(&m->phases, wanted->key);
  if (number == s->phase_count) {
    s->anywhere[number] = (tj_stage_place){.phase = number};
    s->phase[s->phase_count++] =
        (tj_stage_phase){words, wanted->unit, wanted->units, least_of(s, wanted->unit, wanted->units)};
  }
  return number;
}

/* How far so many elements are from where an access begins. */
static tj_stage_unit distance_of(const tj_stage_stream *s, const tj_stage_access *access, uint32_t elements) {
  if (access->direction != s->direction)
    return (tj_stage_unit){.line = elements};
  return (tj_stage_unit){.word = elements * tile_of(s)->element_bytes / TJ_BANK_BYTES};
}

/* Adds the phases of an instruction to a pattern's. */
static void add_parts(maker *m, const tj_stage_pattern *pattern, const instruction_list *list, uint32_t number,
                      tj_stage_parts *parts) {
  const tj_stage_stream *s = m->stream;
  const wanted_units *wanted = wanted_of(s, pattern, list) + (size_t)(number % list->period) * TJ_BANK_MOST_PHASES;
  const tj_stage_unit begin = unit_at(s, pattern->row, pattern->column),
                      far = distance_of(s, pattern->access, (number - number % list->period) * list->vector);
  for (uint32_t i = 0; i < TJ_BANK_MOST_PHASES; i++) {
    if (list->lanes[i] == 0)
      continue;
    const uint32_t phase = phase_of(m, words_of(list->bytes), &wanted[i]);
    const tj_stage_unit first = beyond(wanted[i].first, begin);
    parts->item[parts->count++] = (tj_stage_part){phase, {first.line + far.line, first.word + far.word}};
    parts->least += s->phase[phase].least;
  }
}

static tj_stage_parts parts_of(maker *m, const tj_stage_pattern *pattern) {
  const tj_stage_stream *s = m->stream;
  const instruction_list list = list_instructions(s, pattern);
  tj_stage_parts parts = {
      .item = tj_arena_raw(&s->job->arena, (size_t)list.count * TJ_BANK_MOST_PHASES, sizeof(tj_stage_part))};
  tj_spend(s->job, (uint64_t)list.count * TJ_BANK_LANES);
  for (uint32_t i = 0; i < list.count; i++)
    add_parts(m, pattern, &list, i, &parts);
  return parts;
}

/* --- places --- */

void tj_stage_find_places(tj_stage_stream *s) {
  const tj_stage_patterns *patterns = s->patterns;
  tj_stage_place *place = tj_arena_raw(&s->job->arena, s->store_ideal + s->load_ideal + 1, sizeof *place);
  s->places.item = place;
  for (uint32_t i = 0; i < tile_of(s)->access_count; i++) {
    const tj_stage_instance *instance = &patterns->instance[i];
    const tj_stage_parts *parts = &s->parts[instance->pattern];
    bool is_store = patterns->pattern[instance->pattern].access->is_store;
    tj_stage_unit begin = unit_at(s, instance->row, instance->column);
    for (uint32_t k = 0; k < parts->count; k++)
      *place++ = (tj_stage_place){.phase = parts->item[k].phase,
                                  .at = {begin.line + parts->item[k].at.line, begin.word + parts->item[k].at.word},
                                  .stores = is_store,
                                  .loads = !is_store};
  }
  s->places.count = (uint32_t)(place - s->places.item);
}

static tj_stage_places fold(const tj_stage_stream *s, uint32_t lines, uint32_t words) {
  const size_t most = (size_t)s->phase_count * lines * words;
  uint32_t *number = TJ_NEW_ARRAY(s->job, uint32_t, most); /* by phase, line and word, 1 more; 0: there is none yet */
  tj_stage_places folded = {
      tj_arena_raw(&s->job->arena, (most < s->places.count ? most : s->places.count) + 1, sizeof *folded.item), 0};
  for (uint32_t i = 0; i < s->places.count; i++) {
    const tj_stage_place *place = &s->places.item[i];
    uint32_t *known =
        &number[((size_t)place->phase * lines + place->at.line % lines) * words + place->at.word % words];
    if (*known == 0) {
      folded.item[folded.count++] = (tj_stage_place){.phase = place->phase, .at = place->at};
      *known = folded.count;
    }
    folded.item[*known - 1].stores += place->stores;
    folded.item[*known - 1].loads += place->loads;
  }
  return folded;
}

tj_stage_places tj_stage_folded(tj_stage_stream *s, uint32_t lines, uint32_t words) {
  const tj_stage_fold *known = s->fold;
  while (known != NULL && (known->lines != lines || known->words != words))
    known = known->next;
  if (known != NULL)
    return known->places;
  tj_stage_fold *made = TJ_NEW(s->job, tj_stage_fold);
  *made = (tj_stage_fold){lines, words, fold(s, lines, words), s->fold};
  s->fold = made;
  return made->places;
}

/* --- streams --- */

/* How many phases there are at most. */
static uint32_t most_phases(const tj_stage_stream *s) {
  uint32_t instructions = 0;
  for (uint32_t i = 0; i < s->patterns->count; i++)
    instructions += instructions_of(s, &s->patterns->pattern[i]);
  return instructions * TJ_BANK_MOST_PHASES;
}

/* Adds the phases of all instances of a pattern. */
static void count_phases(tj_stage_stream *s, const tj_stage_pattern *pattern, const tj_stage_parts *parts) {
  const tj_stage_unit begin = unit_at(s, pattern->row, pattern->column);
  for (uint32_t i = 0; i < parts->count; i++) {
    const tj_stage_part *part = &parts->item[i];
    tj_stage_place *place = &s->anywhere[part->phase];
    if (place->stores + place->loads == 0)
      place->at = (tj_stage_unit){begin.line + part->at.line, begin.word + part->at.word};
    *(pattern->access->is_store ? &place->stores : &place->loads) += pattern->instances;
  }
}

tj_stage_stream tj_stage_stream_make(tj_job *job, const tj_bank_model *model, const tj_stage_patterns *patterns,
                                     tj_stage_direction direction, uint32_t vector) {
  tj_stage_stream s = {.job = job, .model = model, .patterns = patterns, .direction = direction, .vector = vector};
  tj_stage_parts *parts = tj_arena_raw(&job->arena, patterns->count + 1, sizeof *parts);
  s.phase = tj_arena_raw(&job->arena, most_phases(&s) + 1, sizeof s.phase[0]);
  s.anywhere = TJ_RAW_ARRAY(job, tj_stage_place, most_phases(&s) + 1);
  maker m = {.stream = &s, .phases = tj_keys_make(job)};
  for (uint32_t i = 0; i < patterns->count; i++) {
    const tj_stage_pattern *pattern = &patterns->pattern[i];
    parts[i] = parts_of(&m, pattern);
    count_phases(&s, pattern, &parts[i]);
    s.count += pattern->instances * instructions_of(&s, pattern);
    s.least += pattern->instances * parts[i].least;
    *(pattern->access->is_store ? &s.store_ideal : &s.load_ideal) += pattern->instances * parts[i].count;
  }
  s.parts = parts;
  tj_spend(job, s.count);
  return s;
}
