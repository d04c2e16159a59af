/* SPDX-License-Identifier: MIT */
/* Accesses that are the same but for where they begin: what work-items do slot after slot, and wave after wave. What
 * a layout makes of one of them is worked out once. */
#ifndef TJ_LOWER_LDS_PATTERN_H
#define TJ_LOWER_LDS_PATTERN_H

#include "lower/lds/lds_layout.h"

/* Rows and columns are multiples of whole words, and along the access of vectors of 16 bytes. */
typedef struct {
  const tj_stage_access *access;      /* the first of them, */
  uint32_t row, column;               /* and where it begins, rounded down */
  uint32_t aligned;                   /* the widest aligned vector that it is made of */
  uint32_t instances;                 /* how many accesses it has */
  struct tj_stage_wanted **wanted[2]; /* by direction and log2 of an instruction's elements, what its phases want, as
                                         far as that has been found */
} tj_stage_pattern;

/* An access: the pattern, and where that begins. */
typedef struct {
  uint32_t pattern, row, column;
} tj_stage_instance;

typedef struct {
  const tj_stage_tile *tile;
  const tj_stage_pattern *pattern;
  uint32_t count;
  const tj_stage_instance *instance; /* by access of the tile */
} tj_stage_patterns;

tj_stage_patterns tj_stage_patterns_of(tj_job *job, const tj_stage_tile *tile);

/* Where a lane begins. */
static inline uint32_t tj_stage_row(const tj_stage_access *access, uint32_t lane) {
  return access->row[lane] + access->at_row;
}

static inline uint32_t tj_stage_column(const tj_stage_access *access, uint32_t lane) {
  return access->column[lane] + access->at_column;
}

/* How many elements of it an instruction moves, in a layout of a direction that keeps `vector` of them together. */
static inline uint32_t tj_stage_pattern_vector(const tj_stage_pattern *pattern, tj_stage_direction direction,
                                               uint32_t vector) {
  if (pattern->access->direction != direction)
    return 1;
  return pattern->aligned < vector ? pattern->aligned : vector;
}

/* The widest vector that layouts of a direction may have to keep together: the widest aligned access along it. */
uint32_t tj_stage_widest(const tj_stage_patterns *patterns, tj_stage_direction direction);

/* The narrowest that layouts keep together: whole words. */
uint32_t tj_stage_narrowest(const tj_stage_tile *tile);

/* How many instructions the accesses are in such layouts. */
uint32_t tj_stage_instructions(const tj_stage_patterns *patterns, tj_stage_direction direction, uint32_t vector);

#endif
