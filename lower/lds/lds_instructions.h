/* SPDX-License-Identifier: MIT */
/* The instructions that take a tile into LDS and out of it, as the phases in which LDS serves them, ready to be
 * counted under many layouts (lds_cycles.h).
 *
 * What a phase wants of the banks is kept as units, each once: a unit is what an instruction moves for a lane, or the
 * word around it. Of phases that are the same but for where they begin, one is kept. */
#ifndef TJ_LOWER_LDS_INSTRUCTIONS_H
#define TJ_LOWER_LDS_INSTRUCTIONS_H

#include "lower/lds/lds_pattern.h"

typedef struct {
  uint32_t line, word; /* the first word of the unit within its line */
} tj_stage_unit;

typedef struct {
  uint32_t words;            /* of a unit: 1, 2 or 4 */
  const tj_stage_unit *unit; /* as seen from the first, which is (0, 0); sums wrap around */
  uint32_t units;
  uint32_t least; /* cycles, by the pigeonhole */
} tj_stage_phase;

/* A phase of an instruction of a pattern, and where it begins as seen from there. */
typedef struct {
  uint32_t phase;
  tj_stage_unit at;
} tj_stage_part;

typedef struct {
  tj_stage_part *item;
  uint32_t count;
  uint32_t least; /* cycles, by the pigeonhole */
} tj_stage_parts;

/* A phase where it begins. */
typedef struct {
  uint32_t phase;
  tj_stage_unit at;
  uint32_t stores, loads; /* how many instructions have it */
} tj_stage_place;

/* Phases where they begin, as far as that matters. */
typedef struct {
  tj_stage_place *item;
  uint32_t count;
} tj_stage_places;

/* Those that begin equally far behind a multiple of so many lines, and of so many words, are one place: that of the
 * first of them. */
typedef struct tj_stage_fold {
  uint32_t lines, words;
  tj_stage_places places;
  struct tj_stage_fold *next;
} tj_stage_fold;

/* All accesses as instructions, in layouts of one direction that keep `vector` elements together. */
typedef struct {
  tj_job *job;
  const tj_bank_model *model;
  const tj_stage_patterns *patterns;
  tj_stage_direction direction;
  uint32_t vector;
  uint32_t count; /* of instructions */
  tj_stage_phase *phase;
  uint32_t phase_count;
  const tj_stage_parts *parts;      /* by pattern */
  uint32_t store_ideal, load_ideal; /* cycles of all instructions without conflicts */
  uint32_t least;                   /* the same by the pigeonhole */
  tj_stage_place *anywhere;         /* each phase, wherever it begins, once: where it begins first */
  tj_stage_places places;           /* of each instruction each phase, once they have been found */
  tj_stage_fold *fold;              /* those that have been asked for */
} tj_stage_stream;

tj_stage_stream tj_stage_stream_make(tj_job *job, const tj_bank_model *model, const tj_stage_patterns *patterns,
                                     tj_stage_direction direction, uint32_t vector);

/* Finds where its phases begin. */
void tj_stage_find_places(tj_stage_stream *stream);

/* Its places folded by so many lines and words. */
tj_stage_places tj_stage_folded(tj_stage_stream *stream, uint32_t lines, uint32_t words);

#endif
