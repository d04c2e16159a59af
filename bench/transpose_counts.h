/* SPDX-License-Identifier: MIT */
/* What a transposition costs on a simulated GPU: one kernel compiled and run, its result checked against the
 * definition, and the simulator's counters. Numbers are deterministic but for the time of the compilation. */
#ifndef TILEJIT_BENCH_TRANSPOSE_COUNTS_H
#define TILEJIT_BENCH_TRANSPOSE_COUNTS_H

#include "tilejit/tilejit.h"
#include "transpositions.h"

enum { COUNTS_TEXT = 512, COUNTS_WIDTHS = 6 };

/* Bytes a lane of an access to global memory that the simulator counts separately. */
extern const unsigned counts_width[COUNTS_WIDTHS];

/* Cache lines that instructions touch, and the least that as many bytes need; and bytes by the width of accesses. */
typedef struct {
  uint64_t lines, least_lines;
  uint64_t bytes[COUNTS_WIDTHS];
} side_counts;

typedef struct {
  side_counts load, store;
  uint64_t needed_lines; /* that both tensors fill, if every line were touched once */
  uint64_t lds_cycles, ideal_lds_cycles;
  uint64_t waves, valu, salu;
  uint64_t direct_loads, register_loads, lds_stores; /* instructions in the kernel's code: from memory into LDS, from
                                                        memory into registers, from these into LDS */
  char indirect[COUNTS_TEXT]; /* what `check` says of elements that do not go straight into LDS, else "" */
  uint64_t divisions;         /* instructions of integer divisions, and calls, in the kernel's code */
  double compile_milliseconds;
  /* Of fixed shapes with conflicts in LDS: what `check` says of the tile there, else "", and whether no layout of the
   * tile has fewer. */
  char conflicts[COUNTS_TEXT];
  bool is_unavoidable;
  uint64_t planned_cycles, planned_ideal; /* the LDS cycles of a workgroup that it says */
} transpose_counts;

typedef struct {
  tj_context *context;
  tj_device *device;
  const char *type;
  const transposition *full; /* dynamic shapes: from whose extents parameters have their ranges; NULL: fixed shapes */
  int headroom;              /* of these ranges */
  bool asks_why;             /* elements do not go straight into LDS */
} transpose_run;

/* Compiles the kernel and runs it on tensors of shape t. False with a message where the kernel does not compile or
 * run, a byte of the result is wrong, or the device counts nothing. */
bool count_transposition(const transpose_run *run, const transposition *t, transpose_counts *counts,
                         char problem[COUNTS_TEXT]);

uint64_t counted_lines(const transpose_counts *counts);
/* Lines touched against the least, of both sides. */
double lines_ratio(const transpose_counts *counts);
/* The fewest bytes a lane of any access; 0 where there is none. */
unsigned narrowest(const side_counts *side);
/* The part of the bytes that moved by 16 bytes a lane. */
double wide_share(const side_counts *side);

#endif
