/* SPDX-License-Identifier: MIT */
/* From accesses to instructions, their phases and units; and the count of their cycles under a layout.
 *
 * The pigeonhole: a layout keeps `vector` elements together and aligned, so a word stays at its place within its
 * vector; of the words that one phase wants, those at one place share the banks of that place. */
#include "lower/lds/lds_instructions.h"

#include <stdlib.h>

enum { WIDEST = 16, MOST_BANKS = 64, MOST_PLACES = WIDEST / TJ_BANK_BYTES };

static uint32_t log2_of(uint32_t power) {
  return (uint32_t)__builtin_ctz(power);
}

/* --- widths --- */

/* The largest power of two that divides the access's length and, in its direction, all its starts. */
static uint32_t aligned_elements(const tj_stage_tile *tile, const tj_stage_access *access) {
  const uint32_t *start = access->direction == TJ_STAGE_ROW ? access->column : access->row;
  uint32_t bits = access->elements | WIDEST / tile->element_bytes;
  for (uint64_t left = access->active; left != 0; left &= left - 1)
    bits |= start[__builtin_ctzll(left)];
  return bits & -bits;
}

uint32_t tj_stage_vector(const tj_stage_layout *layout, const tj_stage_tile *tile, const tj_stage_access *access) {
  if (access->direction != layout->direction)
    return 1;
  uint32_t aligned = aligned_elements(tile, access);
  return aligned < layout->vector ? aligned : layout->vector;
}

uint32_t tj_stage_narrowest(const tj_stage_tile *tile) {
  return tile->element_bytes < TJ_BANK_BYTES ? TJ_BANK_BYTES / tile->element_bytes : 1;
}

uint32_t tj_stage_widest(const tj_stage_tile *tile, tj_stage_direction direction) {
  uint32_t vector = tj_stage_narrowest(tile);
  for (uint32_t i = 0; i < tile->access_count; i++) {
    if (tile->access[i].direction != direction)
      continue;
    uint32_t aligned = aligned_elements(tile, &tile->access[i]);
    vector = aligned > vector ? aligned : vector;
  }
  return vector;
}

/* --- units --- */

/* Units of one phase, found by hashing. */
typedef struct {
  tj_stage_unit *unit;
  uint32_t count;
  uint8_t slot[4 * TJ_BANK_LANES]; /* 1 + the unit's number; 0: free */
} unit_set;

static void insert_unit(unit_set *set, tj_stage_unit unit) {
  uint32_t at = (unit.line * 2654435761u + unit.word * 40503u) >> 13;
  for (at %= sizeof set->slot; set->slot[at] != 0; at = (at + 1) % sizeof set->slot) {
    const tj_stage_unit *other = &set->unit[set->slot[at] - 1];
    if (other->line == unit.line && other->word == unit.word)
      return;
  }
  set->unit[set->count++] = unit;
  set->slot[at] = (uint8_t)set->count;
}

/* Where a lane's part of an instruction begins, `step` neighbours into its access. */
static tj_stage_unit unit_of(const tj_stage_stream *s, const tj_stage_access *access, uint32_t lane, uint32_t step) {
  uint32_t row = access->row[lane], column = access->column[lane];
  *(access->direction == TJ_STAGE_ROW ? &column : &row) += step;
  bool by_row = s->direction == TJ_STAGE_ROW;
  return (tj_stage_unit){by_row ? row : column, (by_row ? column : row) * s->tile->element_bytes / TJ_BANK_BYTES};
}

static void add_units(tj_stage_stream *s, tj_stage_instruction *in, uint32_t step, uint32_t bytes,
                      tj_stage_unit *units) {
  uint64_t lanes[TJ_BANK_MOST_PHASES];
  tj_bank_phases(s->model, in->access->is_store, bytes, in->access->active, lanes);
  in->unit = units;
  for (uint32_t phase = 0; phase < TJ_BANK_MOST_PHASES; phase++) {
    unit_set set = {.unit = units + in->units, .count = 0};
    for (uint64_t left = lanes[phase]; left != 0; left &= left - 1)
      insert_unit(&set, unit_of(s, in->access, (uint32_t)__builtin_ctzll(left), step));
    in->units += set.count;
    in->end[phase] = in->units;
  }
}

/* --- kinds --- */

static void mix(uint64_t *key, uint64_t value) {
  *key = (*key ^ value) * 0x9e3779b97f4a7c15u;
  *key ^= *key >> 29;
}

/* A number for where units are as seen from the first one, and in which phases. */
static uint64_t key_of(const tj_stage_instruction *in) {
  uint64_t key = in->words + (in->access->is_store ? 8u : 0u);
  for (uint32_t phase = 0; phase < TJ_BANK_MOST_PHASES; phase++)
    mix(&key, in->end[phase]);
  for (uint32_t i = 0; i < in->units; i++)
    mix(&key, (uint64_t)(in->unit[i].line - in->unit[0].line) << 32 | (in->unit[i].word - in->unit[0].word));
  return key;
}

static void count_kind(tj_stage_stream *s, const tj_stage_instruction *in) {
  uint32_t kind = 0;
  while (kind < s->kind_count && s->kind[kind]->key != in->key)
    kind++;
  if (kind == s->kind_count) {
    s->kind[s->kind_count++] = in;
    s->kind_size[kind] = 0;
  }
  s->kind_size[kind]++;
}

typedef struct {
  const tj_stage_instruction *one;
  uint32_t size;
} kind;

static int larger_first(const void *a, const void *b) {
  const kind *x = a, *y = b;
  if (x->size != y->size)
    return x->size > y->size ? -1 : 1;
  return x->one < y->one ? -1 : x->one > y->one;
}

/* The largest kinds first: they tell the most of a layout. */
static void sort_kinds(tj_stage_stream *s) {
  kind *kinds = TJ_NEW_ARRAY(s->job, kind, s->kind_count + 1);
  for (uint32_t i = 0; i < s->kind_count; i++)
    kinds[i] = (kind){s->kind[i], s->kind_size[i]};
  qsort(kinds, s->kind_count, sizeof *kinds, larger_first);
  for (uint32_t i = 0; i < s->kind_count; i++) {
    s->kind[i] = kinds[i].one;
    s->kind_size[i] = kinds[i].size;
  }
}

/* --- the pigeonhole --- */

/* The units of a phase at each place within vectors, and so the cycles that the fullest place needs. */
static uint32_t least_of_phase(const tj_stage_stream *s, const tj_stage_instruction *in, uint32_t begin,
                               uint32_t end) {
  uint32_t places = s->vector * s->tile->element_bytes / TJ_BANK_BYTES, at_place[MOST_PLACES] = {0}, least = 0;
  for (uint32_t i = begin; i < end; i++) {
    uint32_t cycles =
        (++at_place[in->unit[i].word % places] + s->model->banks / places - 1) / (s->model->banks / places);
    least = cycles > least ? cycles : least;
  }
  return least;
}

static uint32_t least_of_instruction(const tj_stage_stream *s, const tj_stage_instruction *in) {
  uint32_t least = 0;
  for (uint32_t phase = 0, begin = 0; phase < TJ_BANK_MOST_PHASES; begin = in->end[phase++])
    least += least_of_phase(s, in, begin, in->end[phase]);
  return least;
}

/* --- streams --- */

static void add_instructions(tj_stage_stream *s, const tj_stage_access *access, tj_stage_unit *units) {
  tj_stage_layout layout = {.direction = s->direction, .vector = s->vector};
  uint32_t vector = tj_stage_vector(&layout, s->tile, access), bytes = vector * s->tile->element_bytes;
  for (uint32_t step = 0; step < access->elements; step += vector, units += TJ_BANK_LANES) {
    tj_stage_instruction *in = &s->instruction[s->count++];
    *in = (tj_stage_instruction){.access = access, .words = bytes < TJ_BANK_BYTES ? 1 : bytes / TJ_BANK_BYTES};
    add_units(s, in, step, bytes, units);
    in->key = key_of(in);
    in->least = least_of_instruction(s, in);
    in->ideal = tj_bank_ideal(s->model, access->is_store, bytes, access->active);
    s->least += in->least;
    s->ideal += in->ideal;
    count_kind(s, in);
  }
}

uint32_t tj_stage_instructions(const tj_stage_tile *tile, tj_stage_direction direction, uint32_t vector) {
  tj_stage_layout layout = {.direction = direction, .vector = vector};
  uint32_t count = 0;
  for (uint32_t i = 0; i < tile->access_count; i++)
    count += tile->access[i].elements / tj_stage_vector(&layout, tile, &tile->access[i]);
  return count;
}

/* What all lanes move, one instruction after the other. */
static uint64_t moved_units(const tj_stage_tile *tile, tj_stage_direction direction, uint32_t vector) {
  tj_stage_layout layout = {.direction = direction, .vector = vector};
  uint64_t units = 0;
  for (uint32_t i = 0; i < tile->access_count; i++) {
    const tj_stage_access *access = &tile->access[i];
    units +=
        access->elements / tj_stage_vector(&layout, tile, access) * (uint32_t)__builtin_popcountll(access->active);
  }
  return units;
}

tj_stage_stream tj_stage_stream_make(tj_job *job, const tj_bank_model *model, const tj_stage_tile *tile,
                                     tj_stage_direction direction, uint32_t vector, uint64_t *counted) {
  tj_stage_stream s = {job, model, tile, direction, vector, .counted = counted};
  uint32_t most = tj_stage_instructions(tile, direction, vector);
  tj_spend(job, moved_units(tile, direction, vector));
  tj_stage_unit *units = TJ_NEW_ARRAY(job, tj_stage_unit, (size_t)most * TJ_BANK_LANES);
  s.instruction = TJ_NEW_ARRAY(job, tj_stage_instruction, most);
  s.kind = TJ_NEW_ARRAY(job, const tj_stage_instruction *, most);
  s.kind_size = TJ_NEW_ARRAY(job, uint32_t, most);
  for (uint32_t i = 0; i < tile->access_count; i++)
    add_instructions(&s, &tile->access[i], units + (size_t)s.count * TJ_BANK_LANES);
  sort_kinds(&s);
  return s;
}

/* --- cycles --- */

/* A layout in words: line n is at n · pitch, and `beyond` further for each group before. */
typedef struct {
  uint32_t pitch, beyond;
  uint64_t reciprocal;        /* of the group, times 2^32, rounded up */
  uint32_t beyond_run;        /* the same within lines */
  uint64_t run_reciprocal;    /* 0: lines are whole */
  uint32_t mask, base, shift; /* of the swizzle */
} word_layout;

static word_layout in_words(const tj_stage_layout *layout, uint32_t element_bytes) {
  uint32_t pitch = layout->pitch * element_bytes / TJ_BANK_BYTES;
  word_layout words = {.pitch = pitch,
                       .beyond = layout->group_pitch * element_bytes / TJ_BANK_BYTES - layout->group * pitch,
                       .reciprocal = (UINT32_MAX + (uint64_t)layout->group) / layout->group,
                       .mask = (1u << layout->swizzle.bits) - 1};
  if (layout->run > 0) {
    uint64_t run = (uint64_t)layout->run * element_bytes / TJ_BANK_BYTES;
    words.beyond_run = (layout->run_pitch - layout->run) * element_bytes / TJ_BANK_BYTES;
    words.run_reciprocal = (UINT32_MAX + run) / run;
  }
  if (layout->swizzle.bits > 0) {
    words.base = (uint32_t)layout->swizzle.base + log2_of(element_bytes) - log2_of(TJ_BANK_BYTES);
    words.shift = (uint32_t)layout->swizzle.shift;
  }
  return words;
}

/* Lines and groups are so few that the product with the reciprocal is the exact quotient. */
static uint32_t word_at(const word_layout *layout, tj_stage_unit unit) {
  uint32_t groups = (uint32_t)(unit.line * layout->reciprocal >> 32);
  uint32_t runs = (uint32_t)(unit.word * layout->run_reciprocal >> 32);
  uint32_t at = unit.word + unit.line * layout->pitch + groups * layout->beyond + runs * layout->beyond_run;
  return at ^ (at >> (layout->base + layout->shift) & layout->mask) << layout->base;
}

/* Units are aligned to their size, so two meet in all their banks or in none. */
static uint32_t cycles_of_phase(const tj_stage_unit unit[], uint32_t count, uint32_t words, uint32_t banks,
                                const word_layout *layout) {
  uint8_t wanted[MOST_BANKS] = {0}, most = 0;
  uint32_t mask = banks / words - 1, shift = log2_of(words);
  for (uint32_t i = 0; i < count; i++) {
    uint8_t here = ++wanted[word_at(layout, unit[i]) >> shift & mask];
    most = here > most ? here : most;
  }
  return most;
}

static uint32_t cycles_of(const tj_stage_stream *s, const tj_stage_instruction *in, const word_layout *layout) {
  uint32_t cycles = 0;
  for (uint32_t phase = 0, begin = 0; phase < TJ_BANK_MOST_PHASES; begin = in->end[phase++])
    cycles += cycles_of_phase(in->unit + begin, in->end[phase] - begin, in->words, s->model->banks, layout);
  return cycles;
}

uint32_t tj_stage_instruction_cycles(const tj_stage_stream *stream, const tj_stage_instruction *instruction,
                                     const tj_stage_layout *layout) {
  word_layout words = in_words(layout, stream->tile->element_bytes);
  return cycles_of(stream, instruction, &words);
}

static void count_units(const tj_stage_stream *s, const tj_stage_instruction *in) {
  tj_spend(s->job, in->units);
  *s->counted += in->units;
}

/* As if all instructions of a kind took as long. */
static uint32_t cycles_of_kinds(const tj_stage_stream *s, const word_layout *layout, uint32_t enough) {
  uint32_t cycles = s->least;
  for (uint32_t i = 0; i < s->kind_count && cycles < enough; i++) {
    count_units(s, s->kind[i]);
    cycles += (cycles_of(s, s->kind[i], layout) - s->kind[i]->least) * s->kind_size[i];
  }
  return cycles;
}

static uint32_t cycles_of_all(const tj_stage_stream *s, const word_layout *layout, uint32_t enough) {
  uint32_t cycles = s->least;
  for (uint32_t i = 0; i < s->count && cycles < enough; i++) {
    count_units(s, &s->instruction[i]);
    cycles += cycles_of(s, &s->instruction[i], layout) - s->instruction[i].least;
  }
  return cycles;
}

/* Where instructions of a kind may take more or less than the first of them, that one still tells what to expect. */
uint32_t tj_stage_cycles_below(const tj_stage_stream *stream, const tj_stage_layout *layout, uint32_t enough) {
  word_layout words = in_words(layout, stream->tile->element_bytes);
  uint32_t cycles = cycles_of_kinds(stream, &words, enough);
  bool is_uniform = layout->group == 1 && layout->run == 0 && layout->swizzle.bits == 0;
  return is_uniform || cycles >= enough ? cycles : cycles_of_all(stream, &words, enough);
}
