/* SPDX-License-Identifier: MIT */
/* Sums of exponentials less the largest, sum(exp(a - max(a))), in the same reading of a row as max(a).
 *
 * A lane's partial sums are of exp(a - r), where r is the largest element that it has met; before a trip's elements
 * are added, they are multiplied by exp(r - r'), where r' is the largest with those. At the end r' is that of the
 * row. r is a number that is no infinity as long as no element is the positive one: exp(a - r) of a row that begins
 * with -infinity is 0. Where max(a) is none that can be subtracted from itself, the sum is NaN, as written. */
#ifndef TJ_LOWER_ARRAY_ONLINE_H
#define TJ_LOWER_ARRAY_ONLINE_H

#include "lower/array/array_space.h"

typedef struct tj_array_online {
  const tj_array *largest;      /* max(a) */
  const tj_array *before, *now; /* r and r': numbers that steps put into slots */
  const tj_array *least;        /* what r begins with */
  const tj_array *scale;        /* exp(r - r') */
  const tj_array *term;         /* exp(a - r') */
  const tj_array *rest;         /* max(a) - max(a): 0, or NaN */
} tj_array_online;

/* A space whose program has the arrays that such sums are made of besides, and says which they are. */
void tj_array_find_online(tj_array_space *space);

#endif
