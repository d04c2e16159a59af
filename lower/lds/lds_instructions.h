/* SPDX-License-Identifier: MIT */
/* The instructions that take a tile into LDS and out of it, ready to be counted under many layouts.
 *
 * What a phase wants of the banks is kept as units, each once: a unit is what an instruction moves for a lane, or the
 * word around it. Instructions that are the same but for where they begin are of one kind: a layout without groups
 * and swizzles takes as many cycles for one as for another. */
#ifndef TJ_LOWER_LDS_INSTRUCTIONS_H
#define TJ_LOWER_LDS_INSTRUCTIONS_H

#include "lower/lds/lds_layout.h"

typedef struct {
  uint32_t line, word; /* the first word of the unit within its line */
} tj_stage_unit;

typedef struct {
  const tj_stage_access *access;
  uint32_t words;            /* of a unit: 1, 2 or 4 */
  const tj_stage_unit *unit; /* by phase */
  uint32_t units;
  uint32_t end[TJ_BANK_MOST_PHASES]; /* where the units of each phase end */
  uint32_t least, ideal;             /* cycles: by the pigeonhole, and without conflicts */
  uint64_t key;                      /* the same for instructions of one kind */
} tj_stage_instruction;

/* All accesses as instructions, in layouts of one direction that keep `vector` elements together. */
typedef struct {
  tj_job *job;
  const tj_bank_model *model;
  const tj_stage_tile *tile;
  tj_stage_direction direction;
  uint32_t vector;
  tj_stage_instruction *instruction;
  uint32_t count;
  const tj_stage_instruction **kind; /* one of each, */
  uint32_t *kind_size;               /* and how many there are */
  uint32_t kind_count;
  uint32_t least, ideal; /* cycles of all */
  uint64_t *counted;     /* units that have been counted under some layout, added up */
} tj_stage_stream;

/* The widest vector that layouts of a direction may have to keep together: the widest aligned access along it. */
uint32_t tj_stage_widest(const tj_stage_tile *tile, tj_stage_direction direction);

/* The narrowest that layouts keep together: whole words. */
uint32_t tj_stage_narrowest(const tj_stage_tile *tile);

/* How many instructions the accesses are in such layouts. */
uint32_t tj_stage_instructions(const tj_stage_tile *tile, tj_stage_direction direction, uint32_t vector);

tj_stage_stream tj_stage_stream_make(tj_job *job, const tj_bank_model *model, const tj_stage_tile *tile,
                                     tj_stage_direction direction, uint32_t vector, uint64_t *counted);

uint32_t tj_stage_instruction_cycles(const tj_stage_stream *stream, const tj_stage_instruction *instruction,
                                     const tj_stage_layout *layout);

/* Cycles of the whole stream; `enough` or more once it is sure that they are not fewer. */
uint32_t tj_stage_cycles_below(const tj_stage_stream *stream, const tj_stage_layout *layout, uint32_t enough);

#endif
