/* SPDX-License-Identifier: MIT */
/* Making flexible kernels: what the launch measures, where tiles begin, digits of work-items, steps.
 *
 * Every quantity of a launch exists twice: as an expression of parameters, which the launch computes, and under a
 * name, a symbol whose facts are what the launch has made sure of. Expressions of a work-item are made of names.
 * Their facts are sharpened to what the kernel's condition implies, and so they are not simplified any more. */
#ifndef TJ_LOWER_FLEXIBLE_MAKER_H
#define TJ_LOWER_FLEXIBLE_MAKER_H

#include "lower/kernel/domain.h"
#include "lower/kernel/kernel.h"
#include "lower/machine/target.h"

enum {
  TJ_FLEXIBLE_ITEMS = 256, /* of a workgroup */
  TJ_FLEXIBLE_MODES = 8,   /* of a domain, at most */
  TJ_FLEXIBLE_NONE = UINT32_MAX
};

typedef struct {
  const tj_node *launch; /* an expression of parameters */
  const tj_node *name;   /* the same to work-items */
} tj_measure;

typedef struct {
  tj_measure extent, source, destination; /* how many there are; strides */
  const tj_node *length;                  /* of a tile, as the launch has it; NULL: 1 */
  int64_t reach;                          /* elements that a tile's other end may be away */
} tj_flexible_mode;

typedef struct {
  tj_graph *graph;
  const tj_target *target;
  const tj_domain *domain;
  tj_kernel *kernel;
  uint32_t source, destination; /* buffers */
  tj_flexible_mode mode[TJ_FLEXIBLE_MODES];
  uint32_t first_loaded, first_stored;           /* the modes along which source and destination have neighbours */
  uint32_t next_loaded, next_stored, next_other; /* more for the tile, in this order, or TJ_FLEXIBLE_NONE */
  tj_measure source_origin, destination_origin;  /* of the first element */
  const tj_node *condition;
  const tj_node *source_base, *destination_base; /* of the tile */
  const tj_node *gate;                           /* of the next steps: truth */
  uint32_t binding_room;
} tj_flexible;

/* --- quantities of the launch --- */

/* Names an expression whose value is in low … high, and a multiple of `multiple`, wherever the condition holds. */
tj_measure tj_flexible_measure(tj_flexible *f, const char *name, const tj_node *launch, int64_t low, int64_t high,
                               int64_t multiple);
void tj_flexible_demand(tj_flexible *f, const tj_node *truth);
/* The node, but not less, or not more, than a bound. */
const tj_node *tj_flexible_at_least(tj_graph *graph, const tj_node *node, int64_t low);
const tj_node *tj_flexible_at_most(tj_graph *graph, const tj_node *node, int64_t high);
/* a / b rounded up, at least 1, for b >= 1. */
const tj_node *tj_flexible_parts(tj_graph *graph, const tj_node *a, const tj_node *b);
/* The length of one of as few equal parts of `total` as are at most `most`, rounded up. */
const tj_node *tj_flexible_balanced(tj_graph *graph, const tj_node *total, const tj_node *most);
const tj_node *tj_flexible_choice(tj_graph *graph, const tj_node *truth, const tj_node *then,
                                  const tj_node *otherwise);

/* --- tiles --- */

/* With the lengths of all modes set: where tiles begin, their number, and what the launch demands for it. */
void tj_flexible_place(tj_flexible *f);

/* --- work-items --- */

typedef struct {
  const tj_node *quotient, *remainder;
} tj_flexible_digits;

/* Of a small integer, below 2^10, divided by one of 1 … most: by multiplication. */
tj_flexible_digits tj_flexible_split(tj_flexible *f, const tj_node *number, tj_measure divisor, int64_t most);
/* digit * stride, below `limit`. */
const tj_node *tj_flexible_product(tj_flexible *f, const tj_node *digit, const tj_node *stride, int64_t limit);
/* The lesser of an expression and a name. */
const tj_node *tj_flexible_least(tj_flexible *f, const tj_node *digit, tj_measure last);

/* Whether a work-item's number is below `count`, at most `most`: those that follow take part only where it is. */
void tj_flexible_gate(tj_flexible *f, const tj_node *number, const tj_node *count, int64_t most);
/* An access of `width` slots from `slot` on; base: NULL for LDS. */
void tj_flexible_step(tj_flexible *f, tj_step_kind kind, tj_access access, uint32_t width, uint32_t slot,
                      uint32_t slot_step);

/* --- the two ways --- */

/* Makes the lengths and the steps of a tile that turns around in LDS; of one that stays in registers. */
void tj_flexible_turn(tj_flexible *f);
void tj_flexible_go_straight(tj_flexible *f);

#endif
