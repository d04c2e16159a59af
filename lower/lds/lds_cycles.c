/* SPDX-License-Identifier: MIT */
/* Classes of phases by form of layouts, and what banks are wanted of them.
 *
 * Layouts without swizzles are sums: of a unit's word and line, and of the groups of lines and runs of words before
 * it. These four are numbers of the class, by unit; a layout has a factor for each. Swizzles are linear over bits: a
 * class has its units' words in the layout without the swizzle. */
#include "lower/lds/lds_cycles.h"

#include "base/number/keys.h"
#include "base/number/power.h"

#include <string.h>

enum { MOST_BANKS = 64, BLOCK = 8, MOST_BLOCKS = TJ_BANK_LANES / BLOCK };

/* Numbers of units whose banks are found together. */
typedef uint16_t block __attribute__((vector_size(BLOCK * sizeof(uint16_t))));

/* By unit, in blocks, of which the last one is filled up with zeros: its word, in units of its size, its line, and
 * the groups and runs before it; or with swizzles the lowest bits of its word, in the same, and those of words above
 * the first. */
typedef struct {
  const tj_stage_place *first;
  const block *unit; /* numbers, one after the other; NULL: the class has not been counted */
  uint32_t stores, loads;
} phase_class;

/* How far a phase reaches, as seen from where it begins: the beginning of a group and of a run, if that matters. Then
 * its addresses differ from the least by up to `span`, in no bit below `low`, and by less than 1 << high. */
typedef struct {
  uint32_t line, word; /* the most that units are behind the first of their group of lines, and of their run */
  uint32_t least, span;
  unsigned low, high;
} reach;

typedef struct {
  phase_class *item; /* those of most phases first: they tell the most of a layout; NULL: none is known yet */
  uint32_t count;
} class_list;

/* What layouts have in common whose classes are the same. */
struct tj_stage_form {
  uint32_t group;     /* lines; 1: lines lie evenly */
  uint32_t run;       /* words; 0: lines are whole */
  uint32_t swizzled;  /* words from line to line of a layout with a swizzle; 0: there is none, */
  uint32_t beyond;    /* and from group to group */
  const reach *reach; /* by phase, unless lines lie evenly and are whole */
  class_list plain;   /* without a swizzle, by phase: of where it steps plainly */
  class_list rest;
  class_list witness; /* each phase where it begins first; those that conflicts were seen of come first */
  tj_stage_form *next;
};

static uint32_t in_words(const tj_stage_stream *s, uint32_t elements) {
  return elements * s->patterns->tile->element_bytes / TJ_BANK_BYTES;
}

/* --- classes --- */

static tj_stage_unit unit_at(const tj_stage_phase *phase, const tj_stage_place *place, uint32_t number) {
  return (tj_stage_unit){place->at.line + phase->unit[number].line, place->at.word + phase->unit[number].word};
}

static uint32_t address_of(const tj_stage_form *form, tj_stage_unit unit) {
  return unit.line / form->group * form->beyond + unit.line % form->group * form->swizzled + unit.word;
}

/* How far a number that may be below 0, as those that wrap around, is behind a multiple. */
static uint32_t behind_multiple(uint32_t number, uint32_t unit) {
  int32_t rest = (int32_t)number % (int32_t)unit;
  return (uint32_t)(rest < 0 ? rest + (int32_t)unit : rest);
}

static void reach_steps(const tj_stage_form *form, const tj_stage_phase *phase, reach *r) {
  for (uint32_t i = 0; i < phase->units; i++) {
    uint32_t line = behind_multiple(phase->unit[i].line, form->group),
             word = form->run > 0 ? behind_multiple(phase->unit[i].word, form->run) : 0;
    r->line = line > r->line ? line : r->line;
    r->word = word > r->word ? word : r->word;
  }
}

static void reach_addresses(const tj_stage_form *form, const tj_stage_phase *phase, reach *r) {
  int32_t first = 0, last = 0;
  uint32_t bits = 0;
  for (uint32_t i = 0; i < phase->units; i++) {
    const uint32_t rest = behind_multiple(phase->unit[i].line, form->group), whole = phase->unit[i].line - rest;
    const int32_t address = (int32_t)whole / (int32_t)form->group * (int32_t)form->beyond +
                            (int32_t)(rest * form->swizzled + phase->unit[i].word);
    first = address < first ? address : first;
    last = address > last ? address : last;
    bits |= (uint32_t)address;
  }
  r->least = (uint32_t)first;
  r->span = (uint32_t)last - (uint32_t)first;
  r->low = bits != 0 ? (unsigned)__builtin_ctz(bits) : 0;
  r->high = r->span != 0 ? 32 - (unsigned)__builtin_clz(r->span) : 0;
}

static void find_reaches(const tj_stage_stream *s, tj_stage_form *form) {
  reach *all = TJ_NEW_ARRAY(s->job, reach, s->phase_count + 1);
  for (uint32_t i = 0; i < s->phase_count; i++) {
    reach_steps(form, &s->phase[i], &all[i]);
    if (form->swizzled > 0)
      reach_addresses(form, &s->phase[i], &all[i]);
  }
  form->reach = all;
}

/* A number for which bits of their addresses units differ in from the first one. */
static uint64_t key_of_bits(const tj_stage_form *form, const tj_stage_phase *phase, const tj_stage_place *place) {
  uint64_t key = phase->words;
  uint32_t first = address_of(form, place->at);
  for (uint32_t i = 0; i < phase->units; i++)
    key += tj_key_mix(tj_key_mix(1, first ^ address_of(form, unit_at(phase, place, i))), 1);
  return key;
}

static uint32_t runs_before(const tj_stage_form *form, uint32_t word) {
  return form->run > 0 ? word / form->run : 0;
}

/* Whether all units are as many groups and runs beyond the first one as they would be if that began both. */
static bool steps_plainly(const tj_stage_form *form, const tj_stage_place *place) {
  const reach *r = &form->reach[place->phase];
  return place->at.line % form->group + r->line < form->group &&
         (form->run == 0 || place->at.word % form->run + r->word < form->run);
}

static uint64_t key_of_phase(const tj_stage_place *place) {
  return tj_key_mix(0, place->phase);
}

/* A number for how many groups and runs units are beyond the first one. */
static uint64_t key_of_steps(const tj_stage_stream *s, const tj_stage_form *form, const tj_stage_place *place) {
  const tj_stage_phase *phase = &s->phase[place->phase];
  uint32_t group = place->at.line / form->group, run = runs_before(form, place->at.word);
  uint64_t key = key_of_phase(place);
  for (uint32_t i = 0; i < phase->units && !steps_plainly(form, place); i++) {
    tj_stage_unit unit = unit_at(phase, place, i);
    key = tj_key_mix(key, (uint64_t)(unit.line / form->group - group) << 32 | (runs_before(form, unit.word) - run));
  }
  return key;
}

/* What these bits depend on, where addresses are sums: those of the least address that sums reach, and where a sum
 * has a carry out of them, how far that goes. */
static uint64_t key_of_sums(const tj_stage_form *form, const tj_stage_place *place) {
  const reach *r = &form->reach[place->phase];
  const uint32_t address = address_of(form, place->at);
  if (r->high >= 31)
    return address;
  const uint32_t least = address + r->least, above = least >> r->high, within = least - (above << r->high);
  const bool carries = (within + r->span) >> r->high != 0;
  return (uint64_t)(within >> r->low) << 32 | (carries ? above ^ (above + 1) : 0);
}

/* A number for what classes surely depend on no more than, of phases that do not step plainly where there is no
 * swizzle. */
static uint64_t key_of_place(const tj_stage_form *form, const tj_stage_place *place) {
  const uint64_t key = key_of_phase(place);
  if (form->swizzled > 0)
    return tj_key_mix(key,
                      steps_plainly(form, place) ? key_of_sums(form, place) : ~(uint64_t)address_of(form, place->at));
  return tj_key_mix(key, (uint64_t)(place->at.line % form->group) << 32 |
                             (form->run > 0 ? place->at.word % form->run : 0));
}

static uint64_t key_of_class(const tj_stage_stream *s, const tj_stage_form *form, const tj_stage_place *place) {
  return form->swizzled > 0 ? key_of_bits(form, &s->phase[place->phase], place) : key_of_steps(s, form, place);
}

static const tj_stage_phase *phase_of(const tj_stage_stream *s, const phase_class *c) {
  return &s->phase[c->first->phase];
}

static uint32_t blocks_of(const tj_stage_phase *phase) {
  return (phase->units + BLOCK - 1) / BLOCK;
}

/* log2 of the words of a unit: 1, 2 or 4. */
static unsigned shift_of(const tj_stage_phase *phase) {
  return phase->words / 2;
}

/* Swizzles look at no bit of words below the second, and LDS has fewer words than twice what 16 bits number. */
static const block *list_addresses(tj_job *job, const tj_stage_form *form, const tj_stage_phase *phase,
                                   const tj_stage_place *place) {
  block *low = TJ_NEW_ARRAY(job, block, 2 * blocks_of(phase)), *high = low + blocks_of(phase);
  for (uint32_t i = 0; i < phase->units; i++) {
    uint32_t address = address_of(form, unit_at(phase, place, i));
    low[i / BLOCK][i % BLOCK] = (uint16_t)(address >> shift_of(phase));
    high[i / BLOCK][i % BLOCK] = (uint16_t)(address >> 1);
  }
  return low;
}

/* Of all numbers, what is left of them in 16 bits is more than banks need. */
static const block *list_numbers(tj_job *job, const tj_stage_form *form, const tj_stage_phase *phase,
                                 const tj_stage_place *place) {
  const uint32_t blocks = blocks_of(phase);
  block *word = TJ_NEW_ARRAY(job, block, 4 * blocks), *line = word + blocks, *group = line + blocks,
        *run = group + blocks;
  for (uint32_t i = 0; i < phase->units; i++) {
    tj_stage_unit unit = unit_at(phase, place, i);
    word[i / BLOCK][i % BLOCK] = (uint16_t)(unit.word >> shift_of(phase));
    line[i / BLOCK][i % BLOCK] = (uint16_t)unit.line;
    group[i / BLOCK][i % BLOCK] = (uint16_t)(unit.line / form->group);
    run[i / BLOCK][i % BLOCK] = (uint16_t)runs_before(form, unit.word);
  }
  return word;
}

/* The numbers of a class that is counted: of most, no layout ever is. */
static const block *units_of(const tj_stage_stream *s, const tj_stage_form *form, phase_class *c) {
  if (c->unit == NULL)
    c->unit = (form->swizzled > 0 ? list_addresses : list_numbers)(s->job, form, phase_of(s, c), c->first);
  return c->unit;
}

static uint32_t size_of(const phase_class *c) {
  return c->stores + c->loads;
}

/* Classes of most phases first, and of as many in their order; none has more than `most`. */
static phase_class *larger_first(tj_job *job, const phase_class item[], uint32_t count, uint32_t most) {
  phase_class *sorted = tj_arena_raw(&job->arena, count + 1, sizeof *sorted);
  uint32_t *place = TJ_NEW_ARRAY(job, uint32_t, (size_t)most + 1); /* by size, where the next of it goes */
  for (uint32_t i = 0; i < count; i++)
    place[size_of(&item[i])]++;
  for (uint32_t size = most + 1, before = 0; size-- > 0;) {
    const uint32_t classes = place[size];
    place[size] = before;
    before += classes;
  }
  for (uint32_t i = 0; i < count; i++)
    sorted[place[size_of(&item[i])]++] = item[i];
  return sorted;
}

/* Whether addresses are lines' and words', each by a factor. */
static bool is_plain(const tj_stage_form *form) {
  return form->group == 1 && form->run == 0 && form->swizzled == 0;
}

/* Groups that are powers of two have one list: of as many lines as the most of them that are tried. */
static tj_stage_places places_for(tj_stage_stream *s, const tj_stage_form *form) {
  enum { MOST_GROUP = 16, MOST_GROUP_OF_RUNS = 8 };
  const uint32_t most = form->run > 0 ? MOST_GROUP_OF_RUNS : MOST_GROUP;
  if (is_plain(form))
    return (tj_stage_places){s->anywhere, s->phase_count};
  if (form->swizzled > 0)
    return s->places;
  return tj_stage_folded(s, most % form->group == 0 ? most : form->group, form->run > 0 ? form->run : 1);
}

/* Classes as they are found. */
typedef struct {
  tj_keys places, classes;
  uint32_t *of_place; /* by key of a place, the number of the class */
  phase_class *item;  /* by number, in the order of their first phases */
} class_finder;

static phase_class *class_at(const tj_stage_stream *s, const tj_stage_form *form, const tj_stage_place *place,
                             class_finder *f) {
  uint32_t known = f->places.count, at = tj_key_number(&f->places, key_of_place(form, place));
  if (at < known)
    return &f->item[f->of_place[at]];
  known = f->classes.count;
  f->of_place[at] = tj_key_number(&f->classes, key_of_class(s, form, place));
  if (f->of_place[at] == known)
    f->item[known] = (phase_class){.first = place};
  return &f->item[f->of_place[at]];
}

/* Without a swizzle, a phase is of one class wherever it steps plainly. */
static bool is_of_rest(const tj_stage_form *form, const tj_stage_place *place) {
  return form->swizzled > 0 || (!is_plain(form) && !steps_plainly(form, place));
}

static void add_place(phase_class *c, const tj_stage_place *place) {
  c->stores += place->stores;
  c->loads += place->loads;
}

static class_list sorted_classes(tj_job *job, phase_class item[], uint32_t count) {
  uint32_t known = 0, most = 0;
  for (uint32_t i = 0; i < count; i++) {
    most = size_of(&item[i]) > most ? size_of(&item[i]) : most;
    if (size_of(&item[i]) > 0)
      item[known++] = item[i];
  }
  tj_spend(job, known);
  return (class_list){larger_first(job, item, known, most), known};
}

static void find_plain(tj_stage_stream *s, tj_stage_form *form) {
  const tj_stage_places all = places_for(s, form);
  phase_class *item = TJ_NEW_ARRAY(s->job, phase_class, s->phase_count + 1);
  if (!is_plain(form))
    find_reaches(s, form);
  for (uint32_t i = 0; i < all.count && form->swizzled == 0; i++) {
    const tj_stage_place *place = &all.item[i];
    if (is_of_rest(form, place))
      continue;
    item[place->phase].first = place;
    add_place(&item[place->phase], place);
  }
  form->plain = sorted_classes(s->job, item, s->phase_count);
}

static void find_rest(tj_stage_stream *s, tj_stage_form *form) {
  const tj_stage_places all = places_for(s, form);
  class_finder f = {.places = tj_keys_make(s->job),
                    .classes = tj_keys_make(s->job),
                    .of_place = tj_arena_raw(&s->job->arena, all.count + 1, sizeof(uint32_t)),
                    .item = tj_arena_raw(&s->job->arena, all.count + 1, sizeof(phase_class))};
  for (uint32_t i = 0; i < all.count; i++) {
    const tj_stage_place *place = &all.item[i];
    if (is_of_rest(form, place))
      add_place(class_at(s, form, place, &f), place);
  }
  form->rest = sorted_classes(s->job, f.item, f.classes.count);
}

/* Classes of phases that step plainly. */
static const class_list *plain_classes(tj_stage_stream *s, tj_stage_form *form) {
  if (form->plain.item == NULL)
    find_plain(s, form);
  return &form->plain;
}

/* The others, which most layouts are given up before. */
static const class_list *rest_of_classes(tj_stage_stream *s, tj_stage_form *form) {
  if (form->rest.item == NULL)
    find_rest(s, form);
  return &form->rest;
}

tj_stage_form *tj_stage_form_of(tj_stage_counter *counter, const tj_stage_layout *layout) {
  const tj_stage_stream *s = counter->stream;
  tj_stage_form wanted = {.group = layout->group,
                          .run = in_words(s, layout->run),
                          .swizzled = layout->swizzle.bits > 0 ? in_words(s, layout->pitch) : 0,
                          .beyond = layout->swizzle.bits > 0 ? in_words(s, layout->group_pitch) : 0,
                          .next = counter->form},
                *form = counter->form;
  while (form != NULL && (form->group != wanted.group || form->run != wanted.run ||
                          form->swizzled != wanted.swizzled || form->beyond != wanted.beyond))
    form = form->next;
  return form != NULL ? form : (counter->form = tj_arena_copy(&s->job->arena, &wanted, sizeof wanted));
}

/* --- banks --- */

/* A layout in words: a factor for each number of a unit; or the bits of its address that a swizzle looks at, and by
 * how many they move down. */
typedef struct {
  uint32_t pitch, beyond, beyond_run;
  uint32_t mask, shift;
} word_layout;

static word_layout words_of(const tj_stage_stream *s, const tj_stage_layout *layout) {
  uint32_t pitch = in_words(s, layout->pitch), element = s->patterns->tile->element_bytes;
  word_layout words = {.pitch = pitch,
                       .beyond = in_words(s, layout->group_pitch) - layout->group * pitch,
                       .beyond_run = in_words(s, layout->run_pitch - layout->run)};
  if (layout->swizzle.bits > 0) {
    words.shift = (uint32_t)layout->swizzle.shift;
    words.mask = ((1u << layout->swizzle.bits) - 1)
                 << ((uint32_t)layout->swizzle.base + words.shift + tj_log2(element) - tj_log2(TJ_BANK_BYTES));
  }
  return words;
}

/* The banks that units begin at, counted in units of their size: all that is added up is a multiple of it. */
static void find_banks(const block unit[], size_t blocks, const word_layout *layout, unsigned shift, uint16_t mask,
                       block bank[]) {
  const block *word = unit, *line = word + blocks, *group = line + blocks, *run = group + blocks;
  const uint16_t pitch = (uint16_t)(layout->pitch >> shift), beyond = (uint16_t)(layout->beyond >> shift),
                 beyond_run = (uint16_t)(layout->beyond_run >> shift);
  for (size_t i = 0; i < blocks; i++)
    bank[i] = (word[i] + line[i] * pitch + group[i] * beyond + run[i] * beyond_run) & mask;
}

static void find_swizzled_banks(const block unit[], size_t blocks, const word_layout *layout, unsigned shift,
                                uint16_t mask, block bank[]) {
  const block *low = unit, *high = low + blocks;
  const uint16_t moved = (uint16_t)(layout->mask >> 1), by = (uint16_t)(layout->shift - 1 + shift);
  for (size_t i = 0; i < blocks; i++)
    bank[i] = (low[i] ^ (high[i] & moved) >> by) & mask;
}

/* Units are aligned to their size, so two meet in all their banks or in none. What fills up the last block is in the
 * first bank. */
static uint32_t cycles_of(const tj_stage_stream *s, const tj_stage_form *form, phase_class *c,
                          const word_layout *layout) {
  const block *unit = units_of(s, form, c);
  const tj_stage_phase *phase = phase_of(s, c);
  const uint32_t blocks = blocks_of(phase);
  const unsigned shift = shift_of(phase);
  block bank[MOST_BLOCKS];
  const uint16_t mask = (uint16_t)((s->model->banks >> shift) - 1);
  uint8_t wanted[MOST_BANKS] = {(uint8_t)(phase->units - blocks * BLOCK)}, most = 0;
  if (form->swizzled > 0)
    find_swizzled_banks(unit, blocks, layout, shift, mask, bank);
  else
    find_banks(unit, blocks, layout, shift, mask, bank);
  for (uint32_t i = 0; i < blocks; i++) {
    for (uint32_t k = 0; k < BLOCK; k++)
      wanted[bank[i][k]]++;
  }
  for (uint32_t i = 0; i < MOST_BANKS; i++)
    most = wanted[i] > most ? wanted[i] : most;
  return most;
}

/* Adds what classes take beyond the least of their phases, up to `enough`; and the units that were counted. */
static uint32_t add_cycles(const tj_stage_stream *s, const tj_stage_form *form, const class_list *list,
                           const word_layout *words, uint32_t cycles, uint32_t enough, uint32_t *units) {
  for (uint32_t i = 0; i < list->count && cycles < enough; i++) {
    phase_class *c = &list->item[i];
    *units += phase_of(s, c)->units;
    cycles += (cycles_of(s, form, c, words) - phase_of(s, c)->least) * size_of(c);
  }
  return cycles;
}

uint32_t tj_stage_cycles_below(tj_stage_counter *counter, tj_stage_form *form, const tj_stage_layout *layout,
                               uint32_t enough) {
  tj_stage_stream *s = counter->stream;
  const word_layout words = words_of(s, layout);
  uint32_t units = 0, cycles = add_cycles(s, form, plain_classes(s, form), &words, s->least, enough, &units);
  if (cycles < enough)
    cycles = add_cycles(s, form, rest_of_classes(s, form), &words, cycles, enough, &units);
  tj_spend(s->job, units);
  *counter->counted += units;
  return cycles;
}

/* --- calm --- */

static class_list *witnesses_of(const tj_stage_stream *s, tj_stage_form *form) {
  class_list *witness = &form->witness;
  if (witness->item != NULL)
    return witness;
  *witness = (class_list){TJ_NEW_ARRAY(s->job, phase_class, s->phase_count + 1), s->phase_count};
  for (uint32_t i = 0; i < s->phase_count; i++)
    witness->item[i].first = &s->anywhere[i];
  return witness;
}

static void put_first(class_list *list, uint32_t number) {
  const phase_class found = list->item[number];
  memmove(&list->item[1], &list->item[0], number * sizeof found);
  list->item[0] = found;
}

bool tj_stage_is_calm(tj_stage_counter *counter, tj_stage_form *form, const tj_stage_layout *layout) {
  tj_stage_stream *s = counter->stream;
  const word_layout words = words_of(s, layout);
  class_list *witness = witnesses_of(s, form);
  for (uint32_t i = 0; i < witness->count; i++) {
    if (cycles_of(s, form, &witness->item[i], &words) == phase_of(s, &witness->item[i])->least)
      continue;
    put_first(witness, i);
    tj_spend(s->job, (uint64_t)(i + 1) * TJ_BANK_LANES);
    return false;
  }
  return tj_stage_cycles_below(counter, form, layout, s->least + 1) == s->least;
}

/* Bits at multiples of a power of two, by its exponent. */
static const uint64_t multiples_of[] = {UINT64_MAX,         0x5555555555555555, 0x1111111111111111,
                                        0x0101010101010101, 0x0001000100010001, 0x0000000100000001,
                                        0x0000000000000001};

/* The steps, by bit, after which a distance is a multiple of 1 << banks, of which there are up to 64. */
static uint64_t steps_that_meet(uint32_t distance, uint32_t step, unsigned banks) {
  if (step == 0)
    return distance == 0 ? UINT64_MAX : 0;
  const unsigned low = (unsigned)__builtin_ctz(step), period = banks - low;
  if ((distance & ((1u << low) - 1)) != 0)
    return 0;
  const uint32_t odd = step >> low, inverse = odd * (2 - odd * odd),
                 first = -(distance >> low) * inverse & ((1u << period) - 1);
  return multiples_of[period] << first;
}

/* The steps after which the first unit of a phase meets no other one. */
static uint64_t steps_without_meeting(const tj_stage_stream *s, const tj_stage_form *form, phase_class *c,
                                      const word_layout *layout, const word_layout *next) {
  const block *unit = units_of(s, form, c);
  const tj_stage_phase *phase = phase_of(s, c);
  const unsigned shift = shift_of(phase);
  const unsigned banks = tj_log2(s->model->banks) - shift;
  const uint16_t mask = (uint16_t)((1u << banks) - 1);
  block bank[MOST_BLOCKS], after[MOST_BLOCKS];
  uint64_t meeting = 0;
  find_banks(unit, blocks_of(phase), layout, shift, mask, bank);
  find_banks(unit, blocks_of(phase), next, shift, mask, after);
  for (uint32_t i = 1; i < phase->units && meeting != UINT64_MAX; i++) {
    const uint32_t distance = (uint32_t)bank[i / BLOCK][i % BLOCK] - bank[0][0],
                   then = (uint32_t)after[i / BLOCK][i % BLOCK] - after[0][0];
    meeting |= steps_that_meet(distance & mask, (then - distance) & mask, banks);
  }
  return ~meeting;
}

uint64_t tj_stage_calm_steps(tj_stage_counter *counter, tj_stage_form *form, const tj_stage_layout *layout,
                             const tj_stage_layout *next) {
  enum { WITNESSES = 4 };
  const tj_stage_stream *s = counter->stream;
  const word_layout words = words_of(s, layout), after = words_of(s, next);
  const class_list *witness = witnesses_of(s, form);
  uint64_t calm = UINT64_MAX;
  for (uint32_t i = 0; i < witness->count && i < WITNESSES && calm != 0; i++) {
    calm &= steps_without_meeting(s, form, &witness->item[i], &words, &after);
    tj_spend(s->job, TJ_BANK_LANES);
  }
  return calm;
}

/* --- sides --- */

static void add_by_side(const tj_stage_stream *s, const tj_stage_form *form, const class_list *list,
                        const word_layout *words, uint32_t *store, uint32_t *load) {
  for (uint32_t i = 0; i < list->count; i++) {
    uint32_t cycles = cycles_of(s, form, &list->item[i], words);
    *store += list->item[i].stores * cycles;
    *load += list->item[i].loads * cycles;
  }
}

void tj_stage_cycles_by_side(tj_stage_counter *counter, tj_stage_form *form, const tj_stage_layout *layout,
                             uint32_t *store, uint32_t *load) {
  tj_stage_stream *s = counter->stream;
  const word_layout words = words_of(s, layout);
  *store = *load = 0;
  add_by_side(s, form, plain_classes(s, form), &words, store, load);
  add_by_side(s, form, rest_of_classes(s, form), &words, store, load);
}
