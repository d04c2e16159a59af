/* SPDX-License-Identifier: MIT */
/* Exchanges between the lanes of a wave: elements become words of 32 bits, words go from lane to lane as the plan
 * says (lower/lanes/exchange.h), and become elements again. */
#include "base/number/power.h"
#include "lower/lanes/exchange.h"
#include "lower/steps/steps.h"

#include <string.h>

enum { WORD_BYTES = 4, WORD_BITS = 32 };

typedef struct {
  tj_emitter *emitter;
  const tj_exchange *exchange;
  uint32_t bits; /* of an element */
  LLVMValueRef lane;
  LLVMValueRef *word; /* registers of the part at hand, those of an element one after the other */
  uint32_t words;     /* of so many elements, or of so many words of elements */
} exchanger;

/* --- lanes --- */

/* Bits of `lane` that a map takes `distance` up, or down where it is negative. */
static uint32_t bits_by_distance(const tj_lane_map *map, int distance) {
  uint32_t bits = 0;
  for (int bit = 0; bit < TJ_LANE_BITS; bit++) {
    int to = bit + distance;
    bits |= to >= 0 && to < TJ_LANE_BITS && (map->basis[bit] >> to & 1) != 0 ? 1u << bit : 0;
  }
  return bits;
}

static LLVMValueRef shifted(tj_emitter *emitter, LLVMValueRef value, int distance) {
  if (distance == 0)
    return value;
  LLVMValueRef by = tj_emit_int(emitter, WORD_BITS, distance < 0 ? -distance : distance);
  return distance > 0 ? LLVMBuildShl(emitter->builder, value, by, "")
                      : LLVMBuildLShr(emitter->builder, value, by, "");
}

static LLVMValueRef lane_of(tj_emitter *emitter) {
  LLVMValueRef item = tj_emit_operand(emitter, emitter->kernel->item, (tj_width){WORD_BITS, false, false});
  return LLVMBuildAnd(emitter->builder, item, tj_emit_int(emitter, WORD_BITS, emitter->target->wave_size - 1), "");
}

LLVMValueRef tj_emit_lane_read(tj_emitter *emitter, const tj_lane_map *map) {
  LLVMValueRef read = tj_emit_int(emitter, WORD_BITS, map->offset), lane = lane_of(emitter);
  for (int distance = 1 - TJ_LANE_BITS; distance < TJ_LANE_BITS; distance++) {
    uint32_t bits = bits_by_distance(map, distance);
    if (bits == 0)
      continue;
    LLVMValueRef taken = LLVMBuildAnd(emitter->builder, lane, tj_emit_int(emitter, WORD_BITS, bits), "");
    read = LLVMBuildXor(emitter->builder, shifted(emitter, taken, distance), read, "");
  }
  return read;
}

/* Whether the number of bits of `mask` in the lane's number is odd. */
static LLVMValueRef is_odd(const exchanger *x, uint32_t mask) {
  tj_emitter *emitter = x->emitter;
  LLVMTypeRef overload[] = {emitter->i32};
  LLVMValueRef one = tj_emit_int(emitter, WORD_BITS, 1);
  LLVMValueRef bits = LLVMBuildAnd(emitter->builder, x->lane, tj_emit_int(emitter, WORD_BITS, mask), "");
  if (!tj_is_power_of_two(mask))
    bits = LLVMBuildAnd(emitter->builder, tj_emit_intrinsic(emitter, "llvm.ctpop", overload, 1, &bits, 1), one, "");
  return LLVMBuildICmp(emitter->builder, LLVMIntNE, bits, tj_emit_int(emitter, WORD_BITS, 0), "");
}

static LLVMValueRef moved(const exchanger *x, LLVMValueRef word, const tj_lane_map *map) {
  tj_lane_way way;
  tj_lane_find_way(&x->exchange->processor, map, &way);
  for (uint32_t i = 0; i < way.count; i++)
    word = x->emitter->target->family->emit_lanes(x->emitter, word, &way.step[i]);
  return word;
}

/* --- steps --- */

/* The word with its elements in the places element ^ `elements`. */
static LLVMValueRef turned(const exchanger *x, LLVMValueRef word, uint32_t elements) {
  uint32_t bytes = x->bits / 8;
  uint8_t byte[WORD_BYTES];
  if (elements == 0)
    return word;
  for (uint32_t i = 0; i < WORD_BYTES; i++)
    byte[i] = (uint8_t)(((i / bytes ^ elements) * bytes + i % bytes) % WORD_BYTES);
  return x->emitter->target->family->emit_bytes(x->emitter, word, word, byte);
}

static void choose(exchanger *x, const tj_exchange_step *step) {
  uint32_t within = step->elements % x->exchange->word_elements;
  uint32_t distance = step->elements / x->exchange->word_elements * x->exchange->element_words;
  LLVMValueRef is_other = is_odd(x, step->lanes);
  LLVMValueRef *chosen = TJ_NEW_ARRAY(x->emitter->job, LLVMValueRef, x->words);
  for (uint32_t i = 0; i < x->words; i++)
    chosen[i] =
        LLVMBuildSelect(x->emitter->builder, is_other, turned(x, x->word[i ^ distance], within), x->word[i], "");
  x->word = chosen;
}

/* What the lanes have to give goes into one register, and what they get is in one, too. */
static void swap_by_choices(const exchanger *x, LLVMValueRef pair[2], LLVMValueRef is_set, uint32_t lane_bit) {
  LLVMBuilderRef builder = x->emitter->builder;
  tj_lane_map across = tj_lane_xor(1u << lane_bit);
  LLVMValueRef given = LLVMBuildSelect(builder, is_set, pair[0], pair[1], "");
  LLVMValueRef got = moved(x, given, &across);
  pair[0] = LLVMBuildSelect(builder, is_set, got, pair[0], "");
  pair[1] = LLVMBuildSelect(builder, is_set, pair[1], got, "");
}

static void swap(exchanger *x, const tj_exchange_step *step) {
  const tj_target *target = x->emitter->target;
  uint32_t distance = (1u << step->element_bit) / x->exchange->word_elements * x->exchange->element_words;
  bool has_instruction = tj_lane_swap_price(&x->exchange->processor, step->lane_bit) > 0;
  LLVMValueRef is_set = has_instruction ? NULL : is_odd(x, 1u << step->lane_bit);
  for (uint32_t i = 0; i < x->words; i++) {
    LLVMValueRef pair[] = {x->word[i], (i & distance) == 0 ? x->word[i | distance] : NULL};
    if (pair[1] == NULL)
      continue;
    if (has_instruction)
      target->family->emit_swap(x->emitter, pair, step->lane_bit);
    else
      swap_by_choices(x, pair, is_set, step->lane_bit);
    x->word[i] = pair[0];
    x->word[i | distance] = pair[1];
  }
}

static void move(exchanger *x, const tj_exchange_step *step) {
  uint32_t parts = x->exchange->element_words, elements = x->exchange->word_elements;
  LLVMValueRef *word = TJ_NEW_ARRAY(x->emitter->job, LLVMValueRef, (size_t)step->words * parts);
  for (uint32_t i = 0; i < step->words * parts; i++) {
    uint32_t from = step->from[i / parts];
    LLVMValueRef given = turned(x, x->word[from / elements * parts + i % parts], from % elements);
    word[i] = moved(x, given, &step->map[i / parts]);
  }
  x->word = word;
  x->words = step->words * parts;
}

static void take_step(exchanger *x, const tj_exchange_step *step) {
  switch (step->kind) {
  case TJ_EXCHANGE_CHOICE:
    choose(x, step);
    break;
  case TJ_EXCHANGE_SWAP:
    swap(x, step);
    break;
  case TJ_EXCHANGE_MOVE:
    move(x, step);
    break;
  }
}

/* --- words --- */

static LLVMValueRef word_at(tj_emitter *emitter, LLVMValueRef value, uint32_t words, uint32_t number) {
  LLVMValueRef all = LLVMBuildBitCast(emitter->builder, value, LLVMVectorType(emitter->i32, words), "");
  return LLVMBuildExtractElement(emitter->builder, all, tj_emit_int(emitter, WORD_BITS, number), "");
}

/* The elements of a word one by one, the first lowest. */
static LLVMValueRef joined(const exchanger *x, const uint32_t slot[]) {
  tj_emitter *emitter = x->emitter;
  uint32_t count = x->exchange->word_elements;
  LLVMValueRef word = NULL;
  for (uint32_t i = 0; i < count; i++) {
    LLVMValueRef element = LLVMBuildZExt(emitter->builder, tj_emit_slots(emitter, slot[i], 1), emitter->i32, "");
    element = shifted(emitter, element, (int)(i * x->bits));
    word = word == NULL ? element : LLVMBuildOr(emitter->builder, word, element, "");
  }
  return word;
}

/* A byte of a word of a vector. */
typedef struct {
  LLVMValueRef vector;
  uint32_t words, word;
  uint8_t byte;
} place;

/* Where byte `byte` of a slot is; false where its vector has no whole words. */
static bool find_place(const exchanger *x, uint32_t slot, uint32_t byte, place *found) {
  const tj_slot_value *value = &x->emitter->steps->slot[slot];
  uint32_t bits = value->width * x->bits, at = value->lane * x->bits / 8 + byte;
  *found = (place){value->value, bits / WORD_BITS, at / WORD_BYTES, (uint8_t)(at % WORD_BYTES)};
  return bits % WORD_BITS == 0 && x->emitter->target->family->emit_bytes != NULL;
}

static bool is_same_word(const place *a, const place *b) {
  return a->vector == b->vector && a->word == b->word;
}

/* Whether bytes before this one are of its word. */
static bool is_known(const place byte[], uint32_t number) {
  for (uint32_t i = 0; i < number; i++) {
    if (is_same_word(&byte[i], &byte[number]))
      return true;
  }
  return false;
}

/* The word of four bytes of others, put together word by word. */
static LLVMValueRef composed(const exchanger *x, const place byte[WORD_BYTES]) {
  static const uint8_t in_order[WORD_BYTES] = {0, 1, 2, 3};
  tj_emitter *emitter = x->emitter;
  uint8_t chosen[WORD_BYTES] = {byte[0].byte, byte[0].byte, byte[0].byte, byte[0].byte};
  LLVMValueRef word = word_at(emitter, byte[0].vector, byte[0].words, byte[0].word);
  for (uint32_t i = 1; i < WORD_BYTES; i++)
    chosen[i] = is_same_word(&byte[0], &byte[i]) ? byte[i].byte : chosen[i];
  for (uint32_t i = 1; i < WORD_BYTES; i++) {
    if (is_known(byte, i))
      continue;
    for (uint32_t k = 0; k < WORD_BYTES; k++)
      chosen[k] = is_same_word(&byte[i], &byte[k]) ? (uint8_t)(WORD_BYTES + byte[k].byte) : chosen[k];
    LLVMValueRef other = word_at(emitter, byte[i].vector, byte[i].words, byte[i].word);
    word = emitter->target->family->emit_bytes(emitter, word, other, chosen);
    memcpy(chosen, in_order, sizeof chosen);
  }
  if (memcmp(chosen, in_order, sizeof chosen) == 0)
    return word;
  return emitter->target->family->emit_bytes(emitter, word, word, chosen);
}

static LLVMValueRef word_of(const exchanger *x, const uint32_t slot[]) {
  uint32_t bytes = x->bits / 8;
  place byte[WORD_BYTES];
  for (uint32_t i = 0; i < WORD_BYTES; i++) {
    if (!find_place(x, slot[i / bytes % x->exchange->word_elements], i % bytes, &byte[i]))
      return joined(x, slot);
  }
  return composed(x, byte);
}

static void take_slots(exchanger *x, const tj_exchange_part *part) {
  uint32_t parts = x->exchange->element_words, elements = x->exchange->word_elements;
  x->words = part->loads / elements * parts;
  x->word = TJ_NEW_ARRAY(x->emitter->job, LLVMValueRef, x->words);
  for (uint32_t i = 0; i < x->words; i++) {
    const uint32_t *slot = part->loaded + i / parts * elements;
    x->word[i] = x->bits < WORD_BITS ? word_of(x, slot)
                                     : word_at(x->emitter, tj_emit_slots(x->emitter, *slot, 1), parts, i % parts);
  }
}

/* --- elements --- */

static LLVMValueRef element_of(const exchanger *x, LLVMValueRef const word[]) {
  tj_emitter *emitter = x->emitter;
  uint32_t words = x->exchange->element_words;
  LLVMValueRef all = LLVMGetPoison(LLVMVectorType(emitter->i32, words));
  for (uint32_t i = 0; i < words; i++)
    all = LLVMBuildInsertElement(emitter->builder, all, word[i], tj_emit_int(emitter, WORD_BITS, i), "");
  return LLVMBuildBitCast(emitter->builder, all, tj_emit_dtype(emitter, tj_dtype_raw(emitter->kernel->carried)), "");
}

/* Elements of a word are those of a vector, which may have more. */
static void give_word(const exchanger *x, LLVMValueRef word, const uint32_t slot[], tj_slot_value given[]) {
  tj_emitter *emitter = x->emitter;
  LLVMTypeRef element = tj_emit_dtype(emitter, tj_dtype_raw(emitter->kernel->carried));
  uint32_t width = WORD_BITS / x->bits;
  LLVMValueRef vector = LLVMBuildBitCast(emitter->builder, word, LLVMVectorType(element, width), "");
  for (uint32_t i = 0; i < x->exchange->word_elements; i++)
    given[slot[i]] = (tj_slot_value){vector, width, i};
}

static void give_slots(const exchanger *x, const tj_exchange_part *part, tj_slot_value given[]) {
  uint32_t parts = x->exchange->element_words, elements = x->exchange->word_elements;
  for (uint32_t i = 0; i < x->words; i += parts) {
    const uint32_t *slot = part->stored + i / parts * elements;
    if (x->bits < WORD_BITS)
      give_word(x, x->word[i], slot, given);
    else
      given[*slot] = (tj_slot_value){element_of(x, x->word + i), 1, 0};
  }
}

void tj_emit_exchange(tj_emitter *emitter, const tj_kernel_step *step) {
  const tj_exchange *exchange = step->exchange;
  size_t slots = emitter->kernel->slot_count * sizeof *emitter->steps->slot;
  tj_slot_value *given = tj_arena_copy(&emitter->job->arena, emitter->steps->slot, slots);
  exchanger x = {emitter, exchange, tj_dtype_bits(emitter->kernel->carried), lane_of(emitter), NULL, 0};
  for (uint32_t i = 0; i < exchange->part_count; i++) {
    const tj_exchange_part *part = &exchange->part[i];
    take_slots(&x, part);
    for (uint32_t k = 0; k < part->step_count; k++)
      take_step(&x, &part->step[k]);
    give_slots(&x, part, given);
  }
  memcpy(emitter->steps->slot, given, slots);
}
