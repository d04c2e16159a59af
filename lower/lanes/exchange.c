/* SPDX-License-Identifier: MIT */
/* From what work-items hold to parts: who has what, in numbers; which slots are connected; and whether the connection
 * is linear over F2. */
#include "lower/lanes/exchange.h"

#include "base/number/cost.h"
#include "base/number/power.h"
#include "ir/value/mapping_held.h"

#include <inttypes.h>
#include <string.h>

enum { NOWHERE = UINT32_MAX, MOST_SLOT_BITS = 8 };

typedef struct {
  tj_job *job;
  const tj_exchange_problem *problem;
  uint32_t lanes, lane_bits;
  uint32_t loads, stores; /* slots */
  uint32_t *source;       /* by lane and slot of the store side: lane + slot << lane_bits of the load side */
  uint32_t *part;         /* by slot, those of the load side first: the least slot that it is connected with */
} finder;

/* --- who has what --- */

static uint32_t place_of(const tj_held *held, uint32_t item, uint32_t slot) {
  int64_t place[TJ_MAX_DIMENSIONS], index = 0;
  tj_held_at(held, item, slot, place);
  for (uint32_t m = tj_mapping_rank(held->mapping); m-- > 0;)
    index = index * tj_mapping_extent(held->mapping, m) + place[m];
  return (uint32_t)index;
}

static uint32_t tile_elements(const tj_mapping *mapping) {
  int64_t count = 1;
  for (uint32_t m = 0; m < tj_mapping_rank(mapping); m++)
    count *= tj_mapping_extent(mapping, m);
  return (uint32_t)count;
}

/* By element of the tile: the work-item and slot that pass it on, as item · slots + slot. */
static uint32_t *holders(const finder *f, const tj_held *held) {
  uint32_t elements = tile_elements(f->problem->mapping), *holder = TJ_NEW_ARRAY(f->job, uint32_t, elements);
  memset(holder, 0xff, elements * sizeof *holder);
  for (uint32_t item = 0; item < held->work_items; item++) {
    for (uint32_t slot = 0; slot < held->slots; slot++) {
      if (tj_held_has(held, item, slot))
        holder[place_of(held, item, slot)] = item * held->slots + slot;
    }
  }
  return holder;
}

/* Notes where an element comes from; false where that is another wave, or not what it is in the first one. */
static bool note_source(const finder *f, uint32_t item, uint32_t slot, uint32_t holder) {
  uint32_t *source = &f->source[item % f->lanes + slot * f->lanes], from = holder / f->loads;
  if (holder == NOWHERE || from / f->lanes != item / f->lanes)
    return false;
  uint32_t number = from % f->lanes + (holder % f->loads << f->lane_bits);
  if (item < f->lanes)
    *source = number;
  return *source == number;
}

static bool find_sources(tj_graph *graph, finder *f) {
  const tj_mapping *mapping = f->problem->mapping;
  uint32_t items = f->problem->work_items;
  tj_held load = tj_mapping_held(graph, mapping, &mapping->load, items, true);
  tj_held store = tj_mapping_held(graph, mapping, &mapping->store, items, false);
  tj_spend(f->job, (uint64_t)items * (load.slots + store.slots));
  const uint32_t *holder = holders(f, &load);
  f->source = TJ_NEW_ARRAY(f->job, uint32_t, (size_t)f->lanes * store.slots);
  for (uint32_t item = 0; item < items; item++) {
    for (uint32_t slot = 0; slot < store.slots; slot++) {
      if (!note_source(f, item, slot, holder[place_of(&store, item, slot)]))
        return false;
    }
  }
  return true;
}

/* --- connections --- */

static uint32_t find_part(const finder *f, uint32_t slot) {
  while (f->part[slot] != slot)
    slot = f->part[slot];
  return slot;
}

static void connect(const finder *f, uint32_t a, uint32_t b) {
  a = find_part(f, a);
  b = find_part(f, b);
  f->part[a > b ? a : b] = a < b ? a : b;
}

static void find_parts(finder *f) {
  f->part = TJ_NEW_ARRAY(f->job, uint32_t, (size_t)f->loads + f->stores);
  for (uint32_t i = 0; i < f->loads + f->stores; i++)
    f->part[i] = i;
  for (uint32_t i = 0; i < f->stores * f->lanes; i++)
    connect(f, f->source[i] >> f->lane_bits, f->loads + i / f->lanes);
}

static uint32_t members(const finder *f, uint32_t part, uint32_t first, uint32_t count, uint32_t member[]) {
  uint32_t found = 0;
  for (uint32_t slot = first; slot < first + count; slot++) {
    if (find_part(f, slot) == part)
      member[found++] = slot - first;
  }
  return found;
}

/* --- linear maps --- */

/* The slots of one part, in their order. */
typedef struct {
  uint32_t *loaded, *stored;
  uint32_t loads, stores;
} slot_lists;

static uint32_t source_in(const finder *f, const slot_lists *lists, const uint32_t rank[], uint32_t number) {
  uint32_t slot = lists->stored[number >> f->lane_bits];
  uint32_t source = f->source[number % f->lanes + slot * f->lanes];
  return source % f->lanes + (rank[source >> f->lane_bits] << f->lane_bits);
}

static uint32_t image_of(const tj_exchange_map *map, uint32_t number) {
  uint32_t image = map->offset;
  for (; number != 0; number &= number - 1)
    image ^= map->column[__builtin_ctz(number)];
  return image;
}

/* The part as a map, of elements by their places in the lists; false where it is none. */
static bool find_map(const finder *f, const slot_lists *lists, tj_exchange_map *map) {
  uint32_t count = lists->stores * f->lanes, *rank = TJ_NEW_ARRAY(f->job, uint32_t, f->loads);
  if (!tj_is_power_of_two(lists->loads) || !tj_is_power_of_two(lists->stores) || lists->stores > 1u << MOST_SLOT_BITS)
    return false;
  for (uint32_t i = 0; i < lists->loads; i++)
    rank[lists->loaded[i]] = i;
  *map = (tj_exchange_map){.lane_bits = f->lane_bits,
                           .loaded_bits = (uint32_t)__builtin_ctz(lists->loads),
                           .stored_bits = (uint32_t)__builtin_ctz(lists->stores),
                           .offset = source_in(f, lists, rank, 0)};
  for (uint32_t bit = 0; 1u << bit < count; bit++)
    map->column[bit] = source_in(f, lists, rank, 1u << bit) ^ map->offset;
  for (uint32_t number = 0; number < count; number++) {
    if (source_in(f, lists, rank, number) != image_of(map, number))
      return false;
  }
  return true;
}

/* --- parts --- */

typedef struct {
  slot_lists lists;
  tj_exchange_map map;
} found_part;

static const uint32_t *slots_of(tj_job *job, const uint32_t number[], const uint32_t list[], uint32_t count) {
  uint32_t *slot = TJ_NEW_ARRAY(job, uint32_t, count);
  for (uint32_t i = 0; i < count; i++)
    slot[i] = list[number[i]];
  return slot;
}

static bool plan_part(const finder *f, const found_part *part, const tj_exchange_machine *machine, uint32_t word_bits,
                      tj_exchange *exchange, tj_exchange_part *made) {
  tj_exchange_plan plan;
  const slot_lists *lists = &part->lists;
  if (!tj_exchange_plan_part(f->job, &part->map, machine, word_bits, &plan))
    return false;
  *made = (tj_exchange_part){.loaded = slots_of(f->job, plan.loaded, lists->loaded, lists->loads),
                             .stored = slots_of(f->job, plan.stored, lists->stored, lists->stores),
                             .loads = lists->loads,
                             .stores = lists->stores,
                             .step = plan.step,
                             .step_count = plan.step_count};
  exchange->price += plan.price;
  return true;
}

static slot_lists list_slots(const finder *f, uint32_t part) {
  slot_lists lists = {TJ_NEW_ARRAY(f->job, uint32_t, f->loads), TJ_NEW_ARRAY(f->job, uint32_t, f->stores), 0, 0};
  lists.loads = members(f, part, 0, f->loads, lists.loaded);
  lists.stores = members(f, part, f->loads, f->stores, lists.stored);
  return lists;
}

/* The parts that store anything; NULL where one is not linear. */
static found_part *list_parts(const finder *f, uint32_t *count) {
  found_part *found = TJ_NEW_ARRAY(f->job, found_part, f->loads);
  *count = 0;
  for (uint32_t slot = 0; slot < f->loads; slot++) {
    slot_lists lists = find_part(f, slot) == slot ? list_slots(f, slot) : (slot_lists){.stores = 0};
    if (lists.stores == 0)
      continue;
    found[*count].lists = lists;
    if (!find_map(f, &lists, &found[*count].map))
      return NULL;
    ++*count;
  }
  return found;
}

/* --- equal parts --- */

static bool are_equal(const tj_exchange_map *a, const tj_exchange_map *b) {
  size_t columns = a->lane_bits + a->stored_bits;
  return a->loaded_bits == b->loaded_bits && a->stored_bits == b->stored_bits && a->offset == b->offset &&
         memcmp(a->column, b->column, columns * sizeof *a->column) == 0;
}

/* Elements of the second part follow those of the first one on both sides: their numbers have a bit more. */
static void join(found_part *first, const found_part *second) {
  slot_lists *to = &first->lists;
  const slot_lists *from = &second->lists;
  tj_exchange_map *map = &first->map;
  memcpy(to->loaded + to->loads, from->loaded, from->loads * sizeof *to->loaded);
  memcpy(to->stored + to->stores, from->stored, from->stores * sizeof *to->stored);
  to->loads += from->loads;
  to->stores += from->stores;
  map->column[map->lane_bits + map->stored_bits++] = UINT32_C(1) << (map->lane_bits + map->loaded_bits++);
}

/* Joins parts that are alike in pairs, which then may be in the same words; returns how many are left. */
static uint32_t join_pairs(found_part found[], uint32_t count) {
  uint32_t left = 0;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t other = i + 1;
    while (other < count && (found[other].lists.stores == 0 || !are_equal(&found[i].map, &found[other].map)))
      other++;
    if (found[i].lists.stores == 0)
      continue;
    found[left] = found[i];
    if (other < count && found[i].map.stored_bits < MOST_SLOT_BITS) {
      join(&found[left], &found[other]);
      found[other].lists.stores = 0;
    }
    left++;
  }
  return left;
}

/* --- plans --- */

static tj_exchange *plan_parts(const finder *f, const found_part found[], uint32_t count,
                               const tj_exchange_machine *machine) {
  tj_exchange *exchange = TJ_NEW(f->job, tj_exchange);
  tj_exchange_part *part = TJ_NEW_ARRAY(f->job, tj_exchange_part, count + 1);
  uint32_t word_bits = machine->most_word_bits;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t bits = tj_exchange_word_bits(&found[i].map, machine);
    word_bits = bits < word_bits ? bits : word_bits;
  }
  *exchange = (tj_exchange){.processor = machine->processor,
                            .lanes = f->lanes,
                            .word_elements = 1u << word_bits,
                            .element_words = machine->element_words,
                            .part = part,
                            .part_count = count};
  for (uint32_t i = 0; i < count; i++) {
    if (!plan_part(f, &found[i], machine, word_bits, exchange, &part[i]))
      return NULL;
  }
  return exchange;
}

/* --- prices --- */

/* Of a wave of 64 lanes; smaller ones share what LDS does in a cycle with as many others. */
static uint32_t price_of_cycles(const tj_exchange *exchange, uint32_t cycles) {
  enum { LANES = 64 };
  return cycles * (LANES / exchange->processor.lanes);
}

static uint32_t least_lds_price(const tj_exchange *exchange, const tj_exchange_problem *problem) {
  const tj_bank_model *banks = exchange->processor.banks;
  uint32_t slots = problem->mapping->load.slots + problem->mapping->store.slots;
  uint32_t bytes = exchange->lanes * slots * problem->element_bytes, row = banks->banks * TJ_BANK_BYTES;
  uint32_t vectors = (slots * problem->element_bytes + TJ_PERMUTED_BYTES - 1) / TJ_PERMUTED_BYTES;
  return price_of_cycles(exchange, (bytes + row - 1) / row) + vectors + TJ_CYCLES_OF_BARRIER;
}

uint32_t tj_exchange_price_of_lds(const tj_exchange *exchange, const tj_exchange_problem *problem,
                                  const tj_stage_choice *choice) {
  uint32_t waves = problem->work_items / exchange->lanes;
  uint32_t cycles = choice->store_cycles + choice->load_cycles + choice->waiting;
  return price_of_cycles(exchange, cycles / waves) + choice->instructions / waves + TJ_CYCLES_OF_BARRIER;
}

/* --- exchanges --- */

static tj_exchange_machine machine_of(const tj_exchange_problem *problem, const tj_shared_memory *processor) {
  enum { WORD_BYTES = 4 };
  uint32_t bytes = problem->element_bytes;
  return (tj_exchange_machine){.processor = *processor,
                               .most_word_bits = bytes < WORD_BYTES ? (uint32_t)__builtin_ctz(WORD_BYTES / bytes) : 0,
                               .element_words = bytes > WORD_BYTES ? bytes / WORD_BYTES : 1};
}

tj_exchange *tj_exchange_make(tj_graph *graph, const tj_exchange_problem *problem) {
  const tj_mapping *mapping = problem->mapping;
  uint32_t wave = problem->target->wave_size, items = problem->work_items, count;
  finder f = {.job = graph->job,
              .problem = problem,
              .lanes = items < wave ? items : wave,
              .loads = mapping->load.slots,
              .stores = mapping->store.slots};
  tj_shared_memory processor;
  bool have_items = mapping->load.items == items && mapping->store.items == items;
  if (wave < 2 || !have_items || !tj_shared_memory_of(problem->target->processor, &processor) ||
      !tj_is_power_of_two(f.lanes) || items % f.lanes != 0 || f.stores > 1u << MOST_SLOT_BITS ||
      f.loads > 1u << MOST_SLOT_BITS)
    return NULL;
  f.lane_bits = (uint32_t)__builtin_ctz(f.lanes);
  if (!find_sources(graph, &f))
    return NULL;
  find_parts(&f);
  found_part *found = list_parts(&f, &count);
  tj_exchange_machine machine = machine_of(problem, &processor);
  for (uint32_t i = 0; found != NULL && i < machine.most_word_bits; i++)
    count = join_pairs(found, count);
  tj_exchange *exchange = found != NULL ? plan_parts(&f, found, count, &machine) : NULL;
  if (exchange != NULL)
    exchange->lds_price = least_lds_price(exchange, problem);
  return exchange;
}

/* --- text --- */

/* Instructions of a work-item, by what they do. */
typedef struct {
  uint32_t choices, moves[TJ_LANE_MOVE_COUNT], swaps[TJ_LANE_BITS];
} instruction_counts;

static void count_way(const tj_exchange *exchange, const tj_lane_map *map, uint32_t times,
                      instruction_counts *counts) {
  tj_lane_way way;
  if (!tj_lane_find_way(&exchange->processor, map, &way))
    return;
  for (uint32_t i = 0; i < way.count; i++)
    counts->moves[way.step[i].move] += times;
}

static void count_swap(const tj_exchange *exchange, uint32_t bit, uint32_t pairs, instruction_counts *counts) {
  tj_lane_map across = tj_lane_xor(1u << bit);
  if (tj_lane_swap_price(&exchange->processor, bit) > 0) {
    counts->swaps[bit] += pairs;
    return;
  }
  counts->choices += TJ_EXCHANGE_CHOICES_OF_SWAP * pairs;
  count_way(exchange, &across, pairs, counts);
}

static void count_part(const tj_exchange *exchange, const tj_exchange_part *part, instruction_counts *counts) {
  uint32_t registers = part->loads / exchange->word_elements * exchange->element_words;
  for (uint32_t i = 0; i < part->step_count; i++) {
    const tj_exchange_step *step = &part->step[i];
    if (step->kind == TJ_EXCHANGE_CHOICE)
      counts->choices += registers;
    if (step->kind == TJ_EXCHANGE_SWAP)
      count_swap(exchange, step->lane_bit, registers / 2, counts);
    for (uint32_t word = 0; word < step->words; word++)
      count_way(exchange, &step->map[word], exchange->element_words, counts);
    registers = step->kind == TJ_EXCHANGE_MOVE ? step->words * exchange->element_words : registers;
  }
}

static void print_count(tj_text *text, uint32_t count, const char *name) {
  if (count > 0)
    tj_text_format(text, "%s%" PRIu32 " %s", text->length > 0 ? ", " : "", count, name);
}

void tj_exchange_print(tj_text *text, const tj_exchange *exchange) {
  instruction_counts counts = {.choices = 0};
  tj_text words = tj_text_begin(text->job);
  for (uint32_t i = 0; i < exchange->part_count; i++)
    count_part(exchange, &exchange->part[i], &counts);
  print_count(&words, counts.choices, counts.choices == 1 ? "choice" : "choices");
  for (uint32_t bit = 0; bit < TJ_LANE_BITS; bit++)
    print_count(&words, counts.swaps[bit], tj_lane_swap_name(bit));
  for (uint32_t move = 0; move < TJ_LANE_MOVE_COUNT; move++)
    print_count(&words, counts.moves[move], tj_lane_move_name((tj_lane_move)move));
  tj_text_string(text, words.length > 0 ? words.data : "registers alone");
}
