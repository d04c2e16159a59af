/* SPDX-License-Identifier: MIT */
/* Elements that change lanes within a wave: from what work-items have loaded to what they store, without LDS.
 *
 * What a lane has in its slots are elements; those of one 32-bit word of a register travel together. An exchange is
 * made of parts, which have nothing to do with each other: each takes some of the slots that were loaded and gives
 * some of those that are stored. The elements of a part have numbers of their own, 0 … 2^bits - 1, and where source
 * and destination are bits of lane and element, the part is a linear map over F2, which is taken apart into steps
 * that registers and lanes can do (exchange_plan.c). */
#ifndef TJ_LOWER_EXCHANGE_H
#define TJ_LOWER_EXCHANGE_H

#include "base/machine/lane.h"
#include "base/text.h"
#include "ir/value/mapping.h"
#include "lower/lds/lds_layout.h"
#include "lower/machine/target.h"

typedef enum {
  TJ_EXCHANGE_CHOICE, /* where the number of bits of `lanes` in a lane's number is odd, element e becomes what
                         element e ^ elements was */
  TJ_EXCHANGE_SWAP,   /* bit `lane_bit` of the lane's number and bit `element_bit` of the element's change places */
  TJ_EXCHANGE_MOVE    /* element e of a word w becomes what element from[w] ^ e of the lane that map[w] reads was */
} tj_exchange_kind;

typedef struct {
  tj_exchange_kind kind;
  uint32_t lanes, elements;
  uint32_t lane_bit, element_bit;
  const uint32_t *from;   /* by word: the number of an element, */
  const tj_lane_map *map; /* and which lanes */
  uint32_t words;         /* that a move gives */
} tj_exchange_step;

typedef struct {
  const uint32_t *loaded, *stored; /* by number of the element: the slot; those of a word follow each other */
  uint32_t loads, stores;          /* how many: powers of two */
  const tj_exchange_step *step;    /* in the order in which they happen */
  uint32_t step_count;
} tj_exchange_part;

typedef struct tj_exchange {
  tj_shared_memory processor;
  uint32_t lanes;         /* of a wave, or of the workgroup where that has fewer */
  uint32_t word_elements; /* that travel together; 1 of elements that are words or several */
  uint32_t element_words; /* 32-bit registers of an element; 1 of smaller ones */
  const tj_exchange_part *part;
  uint32_t part_count;
  uint32_t price;     /* of a wave, as lane.def counts */
  uint32_t lds_price; /* that LDS would cost in its place, at least */
} tj_exchange;

typedef struct {
  const tj_mapping *mapping;
  const tj_target *target;
  uint32_t work_items;    /* of a workgroup */
  uint32_t element_bytes; /* of what is exchanged */
} tj_exchange_problem;

/* The cheapest exchange that was found; NULL where some element leaves its wave, where waves differ in what their
 * lanes exchange, or where that is not linear. Elements are those that the load side passes on. */
tj_exchange *tj_exchange_make(tj_graph *graph, const tj_exchange_problem *problem);

/* What a layout in LDS costs a wave of the exchange: its cycles, its instructions, a barrier. */
uint32_t tj_exchange_price_of_lds(const tj_exchange *exchange, const tj_exchange_problem *problem,
                                  const tj_stage_choice *choice);

/* "6 choices, 4 DPP quad_perm, 4 ds_bpermute": of one work-item. */
void tj_exchange_print(tj_text *text, const tj_exchange *exchange);

enum { TJ_EXCHANGE_CHOICES_OF_SWAP = 3 /* of a pair of registers, where there is no instruction for it */ };

/* --- from exchange_plan.c --- */

/* Where the elements of a part come from, as bits of numbers lane + element << lane_bits: the source of each bit of
 * the destination's number, and of 0. */
typedef struct {
  uint32_t lane_bits, loaded_bits, stored_bits;
  uint32_t column[32];
  uint32_t offset;
} tj_exchange_map;

/* What a wave of the target does: the elements of a word, and registers of an element. */
typedef struct {
  tj_shared_memory processor;
  uint32_t most_word_bits; /* of the number of an element: those of a word, at most */
  uint32_t element_words;
} tj_exchange_machine;

/* A part before its slots are known: by number of the element, the bits of the map that it has. */
typedef struct {
  const uint32_t *loaded, *stored;
  const tj_exchange_step *step;
  uint32_t step_count;
  uint32_t price;
} tj_exchange_plan;

/* How many bits of elements' numbers a word may have so that words travel whole. */
uint32_t tj_exchange_word_bits(const tj_exchange_map *map, const tj_exchange_machine *machine);

/* False where no way was found. */
bool tj_exchange_plan_part(tj_job *job, const tj_exchange_map *map, const tj_exchange_machine *machine,
                           uint32_t word_bits, tj_exchange_plan *plan);

#endif
