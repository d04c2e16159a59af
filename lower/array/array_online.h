/* SPDX-License-Identifier: MIT */
/* Sums of what another reduction of the row comes to, in the same reading of the row as that one.
 *
 * Exponentials less the largest, sum(exp(a - max(a))): a lane's partial sums are of exp(a - r), where r is the
 * largest element that it has met; before a trip's elements are added, they are multiplied by exp(r - r'), where r'
 * is the largest with those. At the end r' is that of the row. r is a number that is no infinity as long as no
 * element is the positive one: exp(a - r) of a row that begins with -infinity is 0. Where max(a) is none that can be
 * subtracted from itself, the sum is NaN, as written.
 *
 * Squared differences, sum((a - m) * (a - m)), where m is made of sum(a): a lane's partial sums are of (a - r)^2 and,
 * beside them, of a - r, where r is about the mean of the n elements that it has met. Before a trip's elements are
 * added, r becomes r', about the mean with those: with d = r' - r, sums of a - r become n d less, and those of
 * squares d (n d - 2 (the sum of a - r)) more. At the end r' is m. The identity holds for any r and r'; means of what
 * was met keep what cancels small, however far elements are from 0 and from the first ones. */
#ifndef TJ_LOWER_ARRAY_ONLINE_H
#define TJ_LOWER_ARRAY_ONLINE_H

#include "lower/array/array_space.h"

/* Partial sums of squared differences move on to r'. Numbers, which steps put into slots, and what is made of them.
 */
typedef struct {
  const tj_array *all, *met;             /* the sum of the lane's elements, and how many they are */
  const tj_array *mean;                  /* of them */
  const tj_array *share;                 /* of one partial sum among those of the lane */
  const tj_array *step, *grown;          /* d; r' - r */
  const tj_array *weight, *weighed;      /* n d; d met share */
  const tj_array *squares, *differences; /* partial sums */
  const tj_array *moved_squares, *moved_differences;
  const tj_array *difference; /* a - r' */
} tj_array_deviation;

typedef struct tj_array_online {
  const tj_array *of, *with;           /* a; the reduction: max(a), or sum(a) */
  const tj_array *before, *now;        /* r and r': numbers that steps put into slots */
  const tj_array *centre;              /* what r' is at the end: max(a), or m */
  const tj_array *least;               /* what r begins with */
  const tj_array *term;                /* of each element: exp(a - r'), or (a - r')^2 */
  const tj_array *scale;               /* exp(r - r') */
  const tj_array *rest;                /* max(a) - max(a): 0, or NaN */
  const tj_array_deviation *deviation; /* NULL: the sum is of exponentials */
} tj_array_online;

/* A space whose program has the arrays that such sums are made of besides, and says which they are. */
void tj_array_find_online(tj_array_space *space);

#endif
