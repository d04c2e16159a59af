/* SPDX-License-Identifier: MIT */
/* Cycles of a stream of instructions under a layout.
 *
 * What a layout makes of a phase depends on little of where the phase begins: of plain and padded lines on nothing,
 * of groups on the line within its group, of swizzles on the bits that differ from unit to unit. Phases that have
 * that in common are a class, of which one is counted. Classes depend on the form of layouts alone, and are found
 * once. */
#ifndef TJ_LOWER_LDS_CYCLES_H
#define TJ_LOWER_LDS_CYCLES_H

#include "lower/lds/lds_instructions.h"

typedef struct tj_stage_form tj_stage_form;

typedef struct {
  tj_stage_stream *stream;
  tj_stage_form *form; /* those that have been asked for */
  uint64_t *counted;   /* units that have been counted under some layout, added up */
} tj_stage_counter;

/* The form of a layout. */
tj_stage_form *tj_stage_form_of(tj_stage_counter *counter, const tj_stage_layout *layout);

/* Cycles of the whole stream under a layout of a form; `enough` or more once it is sure that they are not fewer. */
uint32_t tj_stage_cycles_below(tj_stage_counter *counter, tj_stage_form *form, const tj_stage_layout *layout,
                               uint32_t enough);

/* Whether the stream takes its least cycles under a layout of a form: without conflicts, unless vectors need some. */
bool tj_stage_is_calm(tj_stage_counter *counter, tj_stage_form *form, const tj_stage_layout *layout);

/* Of a layout without a swizzle, the next one of its form, and those that follow by the same step, a bit for each of
 * the first 64, the layout's the lowest: 0 where the stream surely takes more than its least cycles. */
uint64_t tj_stage_calm_steps(tj_stage_counter *counter, tj_stage_form *form, const tj_stage_layout *layout,
                             const tj_stage_layout *next);

/* Cycles of its stores, and of its loads. */
void tj_stage_cycles_by_side(tj_stage_counter *counter, tj_stage_form *form, const tj_stage_layout *layout,
                             uint32_t *store, uint32_t *load);

#endif
