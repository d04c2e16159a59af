/* SPDX-License-Identifier: MIT */
/* Exchanges on integers: what each step says of lanes and elements, for one wave at a time. */
#ifndef TJ_TESTS_EXCHANGE_INTERPRETER_H
#define TJ_TESTS_EXCHANGE_INTERPRETER_H

#include "lower/lanes/exchange.h"

#include <stdlib.h>
#include <string.h>

enum { EXCHANGED_LANES = 64, EXCHANGED_ELEMENTS = 256 };

/* By lane, then by number of the element. */
typedef int64_t exchanged_values[EXCHANGED_LANES][EXCHANGED_ELEMENTS];

static inline int64_t exchanged_value(const tj_exchange *exchange, const tj_exchange_step *step,
                                      const exchanged_values *before, uint32_t lane, uint32_t element) {
  uint32_t word = element / exchange->word_elements, differ;
  switch (step->kind) {
  case TJ_EXCHANGE_CHOICE:
    return (*before)[lane][__builtin_parity(lane & step->lanes) ? element ^ step->elements : element];
  case TJ_EXCHANGE_SWAP:
    differ = (lane >> step->lane_bit ^ element >> step->element_bit) & 1;
    return (*before)[lane ^ differ << step->lane_bit][element ^ differ << step->element_bit];
  case TJ_EXCHANGE_MOVE:
    return (*before)[tj_lane_read(&step->map[word], lane)][step->from[word] ^ element % exchange->word_elements];
  }
  return -1;
}

/* slot[lane · slots + slot] of a wave's lanes; what the exchange does not give is `nobodys`. */
static inline void exchange_slots(const tj_exchange *exchange, int64_t slot[], uint32_t slots, int64_t nobodys) {
  size_t size = exchange->lanes * (size_t)slots * sizeof *slot;
  exchanged_values *value = malloc(sizeof *value), *next = malloc(sizeof *next);
  int64_t *given = malloc(size);
  for (size_t i = 0; i < exchange->lanes * (size_t)slots; i++)
    given[i] = nobodys;
  for (uint32_t p = 0; p < exchange->part_count; p++) {
    const tj_exchange_part *part = &exchange->part[p];
    uint32_t elements = part->loads;
    for (uint32_t lane = 0; lane < exchange->lanes; lane++) {
      for (uint32_t e = 0; e < elements; e++)
        (*value)[lane][e] = slot[lane * slots + part->loaded[e]];
    }
    for (uint32_t s = 0; s < part->step_count; s++) {
      const tj_exchange_step *step = &part->step[s];
      elements = step->kind == TJ_EXCHANGE_MOVE ? step->words * exchange->word_elements : elements;
      for (uint32_t lane = 0; lane < exchange->lanes; lane++) {
        for (uint32_t e = 0; e < elements; e++)
          (*next)[lane][e] = exchanged_value(exchange, step, value, lane, e);
      }
      memcpy(value, next, sizeof *value);
    }
    for (uint32_t lane = 0; lane < exchange->lanes; lane++) {
      for (uint32_t e = 0; e < part->stores; e++)
        given[lane * slots + part->stored[e]] = (*value)[lane][e];
    }
  }
  memcpy(slot, given, size);
  free(value);
  free(next);
  free(given);
}

#endif
