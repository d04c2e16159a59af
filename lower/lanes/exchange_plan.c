/* SPDX-License-Identifier: MIT */
/* From a linear map to steps of registers and lanes.
 *
 * Let lane l store as element s what lane l' has loaded as element s', (l', s') = (Al + Bs, Cl + Ds). A move gives
 * element u of lane l what lane A'l + Bu has: it needs no more than one instruction for a register, but what it takes
 * there may depend on u alone. So elements change places within lanes first, by Y of the lane that has them, and
 * afterwards, by X of the lane that stores them: with s = u + Xl, A' = A + BX and C' = C + DX, any Y with YA' = C'
 * serves, and there is one where A' takes no two lanes for one that would want different elements. X is of the least
 * rank that makes A' so; each of its ranks, and of Y's, costs a choice for every register.
 *
 * Before that, bits of lanes change places with bits of elements, on either side, as long as that makes the whole
 * cheaper. Elements of a word are chosen so that B is 0 on the bits that tell them apart: those bits come first in
 * the numbers of elements, on both sides, and D keeps them. */
#include "lower/lanes/exchange.h"

#include <string.h>

enum { MOST_BITS = 32, CHOICE = 1 };

/* --- vectors of bits --- */

/* Vectors, each with a bit of its own that no other one has, and what each is made of. */
typedef struct {
  uint32_t value[MOST_BITS], made_of[MOST_BITS];
  uint32_t count;
} reduced;

static uint32_t highest(uint32_t value) {
  return UINT32_C(1) << (31 - __builtin_clz(value));
}

/* Adds a vector; false where it is a sum of others, and then *made_of is what adds up to 0. */
static bool add_vector(reduced *list, uint32_t value, uint32_t *made_of) {
  for (uint32_t i = 0; i < list->count; i++) {
    if ((value & highest(list->value[i])) == 0)
      continue;
    value ^= list->value[i];
    *made_of ^= list->made_of[i];
  }
  if (value == 0)
    return false;
  for (uint32_t i = 0; i < list->count; i++) {
    if ((list->value[i] & highest(value)) == 0)
      continue;
    list->value[i] ^= value;
    list->made_of[i] ^= *made_of;
  }
  list->value[list->count] = value;
  list->made_of[list->count++] = *made_of;
  return true;
}

static bool is_independent(const reduced *list, uint32_t value) {
  reduced copy = *list;
  uint32_t made_of = 0;
  return add_vector(&copy, value, &made_of);
}

static uint32_t sum_of(const uint32_t column[], uint32_t bits) {
  uint32_t sum = 0;
  for (; bits != 0; bits &= bits - 1)
    sum ^= column[__builtin_ctz(bits)];
  return sum;
}

/* --- words --- */

static uint32_t lane_mask(const tj_exchange_map *map) {
  return (UINT32_C(1) << map->lane_bits) - 1;
}

/* Sums of bits of stored elements that come from one lane, whichever it is: their elements may be of one word. */
static uint32_t find_word(const tj_exchange_map *map, uint32_t most, uint32_t stored[], uint32_t loaded[]) {
  reduced lanes = {.count = 0}, images = {.count = 0};
  uint32_t found = 0;
  for (uint32_t bit = 0; bit < map->stored_bits && found < most; bit++) {
    uint32_t made_of = UINT32_C(1) << bit, of_image = 0;
    if (add_vector(&lanes, map->column[map->lane_bits + bit] & lane_mask(map), &made_of))
      continue;
    uint32_t image = sum_of(map->column + map->lane_bits, made_of) >> map->lane_bits;
    if (!add_vector(&images, image, &of_image))
      continue;
    stored[found] = made_of;
    loaded[found++] = image;
  }
  return found;
}

uint32_t tj_exchange_word_bits(const tj_exchange_map *map, const tj_exchange_machine *machine) {
  uint32_t stored[MOST_BITS], loaded[MOST_BITS];
  return find_word(map, machine->most_word_bits, stored, loaded);
}

/* Completes `count` vectors of so many bits by single bits. */
static void complete(uint32_t basis[], uint32_t count, uint32_t bits) {
  reduced known = {.count = 0};
  for (uint32_t i = 0, unused = 0; i < count; i++)
    add_vector(&known, basis[i], &unused);
  for (uint32_t bit = 0; bit < bits; bit++) {
    uint32_t unused = 0;
    if (add_vector(&known, UINT32_C(1) << bit, &unused))
      basis[count++] = UINT32_C(1) << bit;
  }
}

/* The coordinates of single bits in a basis. */
static void invert(const uint32_t basis[], uint32_t bits, uint32_t inverse[]) {
  reduced list = {.count = 0};
  for (uint32_t i = 0; i < bits; i++) {
    uint32_t made_of = UINT32_C(1) << i;
    add_vector(&list, basis[i], &made_of);
  }
  for (uint32_t i = 0; i < bits; i++)
    inverse[__builtin_ctz(list.value[i])] = list.made_of[i];
}

/* The map in numbers of elements whose first bits are those of a word, which `stored` and `loaded` are bases of. */
static tj_exchange_map renumbered(const tj_exchange_map *map, const uint32_t stored[], const uint32_t loaded[]) {
  uint32_t inverse[MOST_BITS], lanes = lane_mask(map);
  tj_exchange_map made = *map;
  invert(loaded, map->loaded_bits, inverse);
  made.offset &= lanes;
  for (uint32_t bit = 0; bit < map->lane_bits + map->stored_bits; bit++) {
    uint32_t column =
        bit < map->lane_bits ? map->column[bit] : sum_of(map->column + map->lane_bits, stored[bit - map->lane_bits]);
    made.column[bit] = (column & lanes) | sum_of(inverse, column >> map->lane_bits) << map->lane_bits;
  }
  return made;
}

static const uint32_t *numbers_of(tj_job *job, const uint32_t basis[], uint32_t bits, uint32_t first) {
  uint32_t *number = TJ_NEW_ARRAY(job, uint32_t, (size_t)1 << bits);
  for (uint32_t i = 0; i < 1u << bits; i++)
    number[i] = sum_of(basis, i) ^ first;
  return number;
}

/* --- factors --- */

/* Elements change places by `elements` where the number of bits of `lanes` in the lane's number is odd. */
typedef struct {
  uint32_t lanes, elements;
} term;

typedef struct {
  term before[TJ_LANE_BITS], after[TJ_LANE_BITS]; /* Y and X */
  uint32_t before_count, after_count;
  uint32_t lanes[TJ_LANE_BITS]; /* A' */
  uint32_t moved[TJ_LANE_BITS]; /* Y, by bit of the lane that has the element */
} factors;

/* Lanes for which A is 0: those for which C is 0 too, and others, each with a bit that it has alone. */
typedef struct {
  reduced same, other;
} kernel;

static kernel kernel_of(const tj_exchange_map *map) {
  kernel made = {{.count = 0}, {.count = 0}};
  reduced lanes = {.count = 0}, elements = {.count = 0};
  uint32_t left[TJ_LANE_BITS], count = 0, unused = 0;
  for (uint32_t bit = 0; bit < map->lane_bits; bit++) {
    uint32_t made_of = UINT32_C(1) << bit;
    if (add_vector(&lanes, map->column[bit] & lane_mask(map), &made_of))
      continue;
    if (add_vector(&elements, sum_of(map->column, made_of) >> map->lane_bits, &made_of))
      left[count++] = made_of;
    else
      add_vector(&made.same, made_of, &unused);
  }
  for (uint32_t i = 0; i < count; i++) {
    for (uint32_t k = 0; k < made.same.count; k++)
      left[i] ^= (left[i] & highest(made.same.value[k])) != 0 ? made.same.value[k] : 0;
    add_vector(&made.other, left[i], &unused);
  }
  return made;
}

/* What is odd for one of the other lanes of the kernel alone. */
static uint32_t telling_bits(const kernel *k, uint32_t number) {
  uint32_t own = highest(k->other.value[number]), bits = own;
  for (uint32_t i = 0; i < k->same.count; i++)
    bits |= (k->same.value[i] & own) != 0 ? highest(k->same.value[i]) : 0;
  return bits;
}

/* Finds X, and A' and C' in the place of A and C; false where there is none. */
static bool find_after(tj_exchange_map *map, uint32_t word_bits, factors *f) {
  kernel k = kernel_of(map);
  reduced reached = {.count = 0};
  uint32_t unused = 0, lanes = lane_mask(map);
  for (uint32_t bit = 0; bit < map->lane_bits; bit++)
    add_vector(&reached, map->column[bit] & lanes, &unused);
  for (uint32_t i = 0; i < k.other.count; i++) {
    uint32_t bit = word_bits, telling = telling_bits(&k, i);
    while (bit < map->stored_bits && !is_independent(&reached, map->column[map->lane_bits + bit] & lanes))
      bit++;
    if (bit == map->stored_bits)
      return false;
    uint32_t column = map->column[map->lane_bits + bit];
    add_vector(&reached, column & lanes, &unused);
    f->after[f->after_count++] = (term){telling, UINT32_C(1) << bit};
    for (; telling != 0; telling &= telling - 1)
      map->column[__builtin_ctz(telling)] ^= column;
  }
  return true;
}

/* Y as terms: a sum of as few as its rank. */
static void list_terms(factors *f, uint32_t lane_bits) {
  reduced known = {.count = 0};
  for (uint32_t bit = 0; bit < lane_bits; bit++) {
    uint32_t made_of = UINT32_C(1) << f->before_count;
    if (f->moved[bit] == 0)
      continue;
    if (add_vector(&known, f->moved[bit], &made_of)) {
      f->before[f->before_count++] = (term){UINT32_C(1) << bit, f->moved[bit]};
      continue;
    }
    for (uint32_t i = 0; i < f->before_count; i++)
      f->before[i].lanes |= (made_of >> i & 1) << bit;
  }
}

/* Finds Y, with YA' = C'; false where there is none. */
static bool find_before(const tj_exchange_map *map, factors *f) {
  reduced pairs = {.count = 0};
  uint32_t lanes = lane_mask(map);
  for (uint32_t bit = 0; bit < map->lane_bits; bit++) {
    uint32_t elements = map->column[bit] >> map->lane_bits;
    f->lanes[bit] = map->column[bit] & lanes;
    if (!add_vector(&pairs, f->lanes[bit], &elements) && elements != 0)
      return false;
  }
  for (uint32_t i = 0; i < pairs.count; i++)
    f->moved[__builtin_ctz(highest(pairs.value[i]))] = pairs.made_of[i];
  list_terms(f, map->lane_bits);
  return true;
}

static bool find_factors(const tj_exchange_map *map, uint32_t word_bits, factors *f) {
  tj_exchange_map changed = *map;
  memset(f, 0, sizeof *f);
  return find_after(&changed, word_bits, f) && find_before(&changed, f);
}

/* --- moves --- */

/* The lanes that a word comes from, and the number of its first element there. */
static tj_lane_map map_of_word(const tj_exchange_map *map, const factors *f, uint32_t word, uint32_t word_bits,
                               uint32_t *from) {
  uint32_t lanes = lane_mask(map), source = map->offset ^ sum_of(map->column + map->lane_bits, word << word_bits);
  tj_lane_map made = tj_lane_xor(source & lanes);
  for (uint32_t bit = 0; bit < map->lane_bits; bit++)
    made.basis[bit] = (uint8_t)f->lanes[bit];
  *from = source >> map->lane_bits ^ sum_of(f->moved, source & lanes);
  return made;
}

/* --- prices --- */

typedef struct {
  const tj_exchange_machine *machine;
  uint32_t word_bits;
} pricing;

static uint32_t registers(const pricing *p, uint32_t bits) {
  return p->machine->element_words << (bits - p->word_bits);
}

/* Choices that reach into words turn these, too. */
static void add_choices(const pricing *p, const term terms[], uint32_t count, uint32_t bits, uint32_t *price) {
  for (uint32_t i = 0; i < count; i++) {
    bool turns = (terms[i].elements & ((UINT32_C(1) << p->word_bits) - 1)) != 0;
    *price += CHOICE + registers(p, bits) * (turns ? 2 * CHOICE : CHOICE);
  }
}

static bool is_repeated(const tj_lane_map map[], uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (tj_lane_maps_equal(&map[i], &map[count]))
      return true;
  }
  return false;
}

/* Addresses of lanes cost an instruction for each map. */
static bool add_moves(const pricing *p, const tj_exchange_map *map, const factors *f, uint32_t *price) {
  tj_lane_map maps[256];
  for (uint32_t word = 0; word < 1u << (map->stored_bits - p->word_bits); word++) {
    uint32_t from;
    tj_lane_way way;
    maps[word] = map_of_word(map, f, word, p->word_bits, &from);
    if (!tj_lane_find_way(&p->machine->processor, &maps[word], &way))
      return false;
    bool has_address = way.count > 0 && way.step[0].move == TJ_LANE_PERMUTATION && !is_repeated(maps, word);
    *price += p->machine->element_words * way.price + has_address;
    *price += (from & ((UINT32_C(1) << p->word_bits) - 1)) != 0 ? 1 : 0;
  }
  return true;
}

static bool price_factors(const pricing *p, const tj_exchange_map *map, uint32_t *price) {
  factors f;
  *price = 0;
  if (!find_factors(map, p->word_bits, &f))
    return false;
  add_choices(p, f.before, f.before_count, map->loaded_bits, price);
  add_choices(p, f.after, f.after_count, map->stored_bits, price);
  return add_moves(p, map, &f, price);
}

static uint32_t price_swap(const pricing *p, uint32_t lane_bit, uint32_t bits) {
  uint32_t price = tj_lane_swap_price(&p->machine->processor, lane_bit), pairs = registers(p, bits) / 2;
  tj_lane_map across = tj_lane_xor(1u << lane_bit);
  tj_lane_way way;
  if (price == 0)
    price = tj_lane_find_way(&p->machine->processor, &across, &way) ? TJ_EXCHANGE_CHOICES_OF_SWAP * CHOICE + way.price
                                                                    : UINT16_MAX;
  return pairs * price;
}

/* --- swaps --- */

typedef struct {
  bool is_after;
  uint32_t lane_bit, element_bit;
} swap;

enum { MOST_SWAPS = 2 * TJ_LANE_BITS };

/* A map that is left once bits have changed places, and what that and it cost. */
typedef struct {
  tj_exchange_map map;
  swap swap[MOST_SWAPS];
  uint32_t swaps;
  uint32_t of_swaps, rest; /* prices */
} candidate;

static uint32_t with_bits_swapped(uint32_t value, uint32_t a, uint32_t b) {
  uint32_t differs = (value >> a ^ value >> b) & 1;
  return value ^ (differs << a | differs << b);
}

static void swap_bits(tj_exchange_map *map, swap s) {
  uint32_t element = map->lane_bits + s.element_bit;
  if (s.is_after) {
    uint32_t column = map->column[s.lane_bit];
    map->column[s.lane_bit] = map->column[element];
    map->column[element] = column;
    return;
  }
  for (uint32_t bit = 0; bit < map->lane_bits + map->stored_bits; bit++)
    map->column[bit] = with_bits_swapped(map->column[bit], s.lane_bit, element);
  map->offset = with_bits_swapped(map->offset, s.lane_bit, element);
}

static uint32_t bits_of(const tj_exchange_map *map, bool is_after) {
  return is_after ? map->stored_bits : map->loaded_bits;
}

static void try_swap(const pricing *p, const candidate *from, swap s, candidate *best) {
  candidate next = *from;
  swap_bits(&next.map, s);
  next.of_swaps += price_swap(p, s.lane_bit, bits_of(&from->map, s.is_after));
  next.swap[next.swaps++] = s;
  if (price_factors(p, &next.map, &next.rest) && next.rest + next.of_swaps < best->rest + best->of_swaps)
    *best = next;
}

/* Swaps one pair of bits after the other, always that which saves the most. */
static candidate find_swaps(tj_job *job, const pricing *p, const tj_exchange_map *map) {
  candidate best = {.map = *map};
  if (!price_factors(p, map, &best.rest))
    best.rest = UINT32_MAX / 2;
  for (bool goes_on = true; goes_on && best.swaps < MOST_SWAPS;) {
    candidate from = best;
    tj_spend(job, UINT64_C(1) << (map->lane_bits + map->stored_bits));
    for (uint32_t i = 0; i < 2 * map->lane_bits; i++) {
      bool is_after = i >= map->lane_bits;
      for (uint32_t bit = p->word_bits; bit < bits_of(map, is_after); bit++)
        try_swap(p, &from, (swap){is_after, i % map->lane_bits, bit}, &best);
    }
    goes_on = best.swaps > from.swaps;
  }
  return best;
}

/* --- steps --- */

typedef struct {
  tj_exchange_step *step;
  uint32_t count;
} step_list;

static void add_swap(step_list *list, swap s) {
  list->step[list->count++] =
      (tj_exchange_step){.kind = TJ_EXCHANGE_SWAP, .lane_bit = s.lane_bit, .element_bit = s.element_bit};
}

static void add_terms(step_list *list, const term terms[], uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    list->step[list->count++] =
        (tj_exchange_step){.kind = TJ_EXCHANGE_CHOICE, .lanes = terms[i].lanes, .elements = terms[i].elements};
}

static void add_move(tj_job *job, step_list *list, const tj_exchange_map *map, const factors *f, uint32_t word_bits) {
  uint32_t words = 1u << (map->stored_bits - word_bits), *from = TJ_NEW_ARRAY(job, uint32_t, words);
  tj_lane_map *maps = TJ_NEW_ARRAY(job, tj_lane_map, words);
  for (uint32_t word = 0; word < words; word++)
    maps[word] = map_of_word(map, f, word, word_bits, &from[word]);
  list->step[list->count++] = (tj_exchange_step){.kind = TJ_EXCHANGE_MOVE, .from = from, .map = maps, .words = words};
}

/* What was found first happens first before the move, and last after it. */
static void list_steps(tj_job *job, const candidate *c, uint32_t word_bits, tj_exchange_plan *plan) {
  step_list list = {TJ_NEW_ARRAY(job, tj_exchange_step, MOST_SWAPS + 2 * TJ_LANE_BITS + 1), 0};
  factors f;
  find_factors(&c->map, word_bits, &f);
  for (uint32_t i = 0; i < c->swaps; i++) {
    if (!c->swap[i].is_after)
      add_swap(&list, c->swap[i]);
  }
  add_terms(&list, f.before, f.before_count);
  add_move(job, &list, &c->map, &f, word_bits);
  add_terms(&list, f.after, f.after_count);
  for (uint32_t i = c->swaps; i-- > 0;) {
    if (c->swap[i].is_after)
      add_swap(&list, c->swap[i]);
  }
  plan->step = list.step;
  plan->step_count = list.count;
}

bool tj_exchange_plan_part(tj_job *job, const tj_exchange_map *map, const tj_exchange_machine *machine,
                           uint32_t word_bits, tj_exchange_plan *plan) {
  uint32_t stored[MOST_BITS], loaded[MOST_BITS];
  find_word(map, word_bits, stored, loaded);
  complete(stored, word_bits, map->stored_bits);
  complete(loaded, word_bits, map->loaded_bits);
  tj_exchange_map numbered = renumbered(map, stored, loaded);
  pricing p = {machine, word_bits};
  candidate best = find_swaps(job, &p, &numbered);
  if (best.rest + best.of_swaps >= UINT16_MAX)
    return false;
  *plan = (tj_exchange_plan){.loaded = numbers_of(job, loaded, map->loaded_bits, map->offset >> map->lane_bits),
                             .stored = numbers_of(job, stored, map->stored_bits, 0),
                             .price = best.rest + best.of_swaps};
  list_steps(job, &best, word_bits, plan);
  return true;
}
