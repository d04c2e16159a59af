/* SPDX-License-Identifier: MIT */
/* Two values as expressions that must be equal, pair by pair. */
#ifndef TJ_IR_PAIRING_H
#define TJ_IR_PAIRING_H

#include "ir/value/value.h"

/* left[i] to right[i], in the job's arena. */
typedef struct {
  const tj_node **left, **right;
  uint32_t count;
  bool has_validity; /* the last pair says whether they are valid */
  const char *why;   /* what differs where they are no pairs */
} tj_pairing;

/* False where their domains or the structures of their values differ, which `why` tells. TJ2024 and TJ2005 as
 * tj_equivalence_of gives. */
bool tj_pair_values(tj_graph *graph, const tj_value *a, const tj_value *b, tj_pairing *pairs);

#endif
