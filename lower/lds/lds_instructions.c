/* SPDX-License-Identifier: MIT */
/* From patterns of accesses to phases and their units, and from accesses to where those begin.
 *
 * The pigeonhole: a layout keeps `vector` elements together and aligned, so a word stays at its place within its
 * vector; of the words that one phase wants, those at one place share the banks of that place. */
#include "lower/lds/lds_instructions.h"

#include "lower/lds/lds_keys.h"

#include <string.h>

enum { WIDEST = 16, MOST_PLACES = WIDEST / TJ_BANK_BYTES, NO_PHASE = UINT32_MAX };

/* A phase of an instruction of a pattern, and where it begins as seen from there; NO_PHASE: no lane is in it. */
typedef struct {
  uint32_t phase;
  tj_stage_unit at;
} part;

typedef struct {
  tj_stage_stream *stream;
  tj_stage_keys phases;
  struct place_list *places;
  const part **part; /* by pattern, then by instruction, then by phase; NULL: not yet */
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

static bool is_known(const tj_stage_unit unit[], uint32_t count, tj_stage_unit one) {
  for (uint32_t i = 0; i < count; i++) {
    if (unit[i].line == one.line && unit[i].word == one.word)
      return true;
  }
  return false;
}

/* Units of lanes as seen from the first one, each once; how many. */
static uint32_t list_units(const tj_stage_stream *s, const tj_stage_access *access, uint32_t step, uint64_t lanes,
                           tj_stage_unit unit[]) {
  uint32_t count = 0;
  tj_stage_unit first = unit_of(s, access, (uint32_t)__builtin_ctzll(lanes), step);
  for (; lanes != 0; lanes &= lanes - 1) {
    tj_stage_unit one = beyond(unit_of(s, access, (uint32_t)__builtin_ctzll(lanes), step), first);
    if (!is_known(unit, count, one))
      unit[count++] = one;
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

static uint64_t key_of_phase(uint32_t words, const tj_stage_unit unit[], uint32_t count) {
  uint64_t key = words;
  for (uint32_t i = 0; i < count; i++)
    key = tj_stage_mix(key, (uint64_t)unit[i].line << 32 | unit[i].word);
  return key;
}

static uint32_t phase_of(maker *m, uint32_t words, const tj_stage_unit unit[], uint32_t count) {
  tj_stage_stream *s = m->stream;
  uint32_t number = tj_stage_key_number(&m->phases, key_of_phase(words, unit, count));
  if (number == s->phase_count)
    s->phase[s->phase_count++] = (tj_stage_phase){words, tj_arena_copy(&s->job->arena, unit, count * sizeof unit[0]),
                                                  count, least_of(s, unit, count)};
  return number;
}

static void add_parts(maker *m, const tj_stage_pattern *pattern, uint32_t step, uint32_t bytes, part parts[]) {
  const tj_stage_stream *s = m->stream;
  uint64_t lanes[TJ_BANK_MOST_PHASES];
  tj_stage_unit unit[TJ_BANK_LANES], begin = unit_at(s, pattern->row, pattern->column);
  tj_bank_phases(s->model, pattern->access->is_store, bytes, pattern->access->active, lanes);
  for (uint32_t i = 0; i < TJ_BANK_MOST_PHASES; i++) {
    parts[i] = (part){.phase = NO_PHASE};
    if (lanes[i] == 0)
      continue;
    uint32_t count = list_units(s, pattern->access, step, lanes[i], unit);
    parts[i].phase = phase_of(m, bytes < TJ_BANK_BYTES ? 1 : bytes / TJ_BANK_BYTES, unit, count);
    parts[i].at = beyond(unit_of(s, pattern->access, (uint32_t)__builtin_ctzll(lanes[i]), step), begin);
  }
}

static const part *parts_of(maker *m, uint32_t number) {
  const tj_stage_stream *s = m->stream;
  const tj_stage_pattern *pattern = &s->patterns->pattern[number];
  uint32_t instructions = instructions_of(s, pattern), vector = pattern->access->elements / instructions;
  if (m->part[number] != NULL)
    return m->part[number];
  part *parts = TJ_NEW_ARRAY(s->job, part, instructions * TJ_BANK_MOST_PHASES);
  tj_spend(s->job, (uint64_t)instructions * TJ_BANK_LANES);
  for (uint32_t i = 0; i < instructions; i++)
    add_parts(m, pattern, i * vector, vector * tile_of(s)->element_bytes, parts + i * TJ_BANK_MOST_PHASES);
  m->part[number] = parts;
  return parts;
}

/* --- places --- */

/* Places under construction: each once. */
typedef struct place_list {
  tj_stage_keys keys;
  tj_stage_place *place;
  uint32_t room;
} place_list;

static place_list new_places(tj_job *job) {
  return (place_list){tj_stage_keys_make(job), NULL, 0};
}

static void make_room(place_list *list) {
  tj_stage_place *old = list->place;
  list->room = list->room == 0 ? 32 : 4 * list->room;
  list->place = TJ_NEW_ARRAY(list->keys.job, tj_stage_place, list->room);
  if (old != NULL)
    memcpy(list->place, old, list->keys.count * sizeof *old);
}

static void add_place(place_list *list, tj_stage_place place) {
  if (list->keys.count == list->room)
    make_room(list);
  uint64_t key = tj_stage_mix(place.phase, (uint64_t)place.at.line << 32 | place.at.word);
  uint32_t known = list->keys.count, number = tj_stage_key_number(&list->keys, key);
  if (number == known) {
    list->place[number] = place;
    return;
  }
  list->place[number].stores += place.stores;
  list->place[number].loads += place.loads;
}

static void find_lines(tj_stage_stream *s) {
  place_list lines = new_places(s->job);
  for (uint32_t i = 0; i < s->place_count; i++) {
    tj_stage_place place = s->place[i];
    place.at.word = 0;
    add_place(&lines, place);
  }
  s->line = lines.place;
  s->line_count = lines.keys.count;
}

static void add_part(maker *m, const part *p, tj_stage_unit begin, bool is_store) {
  tj_stage_stream *s = m->stream;
  add_place(m->places, (tj_stage_place){.phase = p->phase,
                                        .at = {begin.line + p->at.line, begin.word + p->at.word},
                                        .stores = is_store,
                                        .loads = !is_store});
  ++*(is_store ? &s->store_ideal : &s->load_ideal);
  s->least += s->phase[p->phase].least;
}

static void add_access(maker *m, const tj_stage_instance *instance) {
  tj_stage_stream *s = m->stream;
  const tj_stage_pattern *pattern = &s->patterns->pattern[instance->pattern];
  const part *parts = parts_of(m, instance->pattern);
  tj_stage_unit begin = unit_at(s, instance->row, instance->column);
  uint32_t instructions = instructions_of(s, pattern);
  s->count += instructions;
  for (uint32_t i = 0; i < instructions * TJ_BANK_MOST_PHASES; i++) {
    if (parts[i].phase != NO_PHASE)
      add_part(m, &parts[i], begin, pattern->access->is_store);
  }
}

/* How many phases there are at most. */
static uint32_t most_phases(const tj_stage_stream *s) {
  uint32_t instructions = 0;
  for (uint32_t i = 0; i < s->patterns->count; i++)
    instructions += instructions_of(s, &s->patterns->pattern[i]);
  return instructions * TJ_BANK_MOST_PHASES;
}

tj_stage_stream tj_stage_stream_make(tj_job *job, const tj_bank_model *model, const tj_stage_patterns *patterns,
                                     tj_stage_direction direction, uint32_t vector) {
  tj_stage_stream s = {.job = job, .model = model, .patterns = patterns, .direction = direction, .vector = vector};
  place_list places = new_places(job);
  s.phase = TJ_NEW_ARRAY(job, tj_stage_phase, most_phases(&s) + 1);
  maker m = {.stream = &s,
             .phases = tj_stage_keys_make(job),
             .places = &places,
             .part = TJ_NEW_ARRAY(job, const part *, patterns->count + 1)};
  tj_spend(job, tj_stage_instructions(patterns, direction, vector));
  for (uint32_t i = 0; i < patterns->tile->access_count; i++)
    add_access(&m, &patterns->instance[i]);
  s.place = places.place;
  s.place_count = places.keys.count;
  find_lines(&s);
  return s;
}
