/* SPDX-License-Identifier: MIT */
/* Runs: neighbours in memory that a tile has again and again, and the cache lines that they touch.
 *
 * A run grows from mode to mode, those of small strides first: it goes on along a mode that begins where the one
 * before ends, of which the tile has all. By the other modes it is told where runs begin. */
#ifndef TJ_BASE_RUN_H
#define TJ_BASE_RUN_H

#include <stdbool.h>
#include <stdint.h>

enum { TJ_RUN_PARTS = 1 << 7 /* what touches one cache line for each that it fills: less makes no difference */ };

/* How a side steps along a mode. */
typedef struct {
  int64_t grain;  /* bytes that its stride is a multiple of: a power of two, or that many elements */
  bool continues; /* the mode goes on where the one before it in the side's order ends; or it is the first */
} tj_run_step;

typedef struct {
  int64_t bytes;
  int64_t grain; /* bytes that all begin at a multiple of */
  bool goes_on;  /* the tile has all of each mode yet */
} tj_run;

/* An element by itself, of so many bytes, as far as cache lines of so many tell. */
tj_run tj_run_of_element(int64_t bytes, int64_t line);

/* Adds the next mode, of which a tile has so many coordinates: all that there are, or a part. */
void tj_run_along(tj_run *run, const tj_run_step *step, int64_t part, bool is_whole);

/* The lines that such runs touch on average, in parts of those that they fill: one run after the other, by
 * instructions of so many lanes with a vector of so many bytes each, at whose ends runs are cut. No lanes: nowhere.
 */
int64_t tj_run_lines(const tj_run *run, int64_t line, int64_t vector, int64_t lanes);

#endif
