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

/* Sums of digits and strides that work-items compute: elements of source and destination, and what is bounded where
 * accesses are valid. */
enum { TJ_FLEXIBLE_SOURCE, TJ_FLEXIBLE_DESTINATION, TJ_FLEXIBLE_BOUNDS, TJ_FLEXIBLE_FORMS = TJ_FLEXIBLE_BOUNDS + 4 };

enum {
  TJ_FLEXIBLE_MOST_BOUND = 1 << 28, /* of a bounded sum throughout the domain */
  TJ_FLEXIBLE_ITEMS = 256,          /* of a workgroup */
  TJ_FLEXIBLE_MODES = 8,            /* of a domain, at most */
  TJ_FLEXIBLE_OTHERS = 3,           /* of these that a tile may have besides the first two of either side */
  TJ_FLEXIBLE_NONE = UINT32_MAX
};

typedef struct {
  const tj_node *launch; /* an expression of parameters */
  const tj_node *name;   /* the same to work-items */
} tj_measure;

typedef struct {
  tj_measure extent;                    /* how many there are */
  tj_measure stride[TJ_FLEXIBLE_FORMS]; /* not negative */
  const tj_node *length;                /* of a tile, as the launch has it; NULL: 1 */
  int64_t reach;                        /* elements that a tile's other end may be away */
} tj_flexible_mode;

typedef struct {
  const tj_node *base; /* of the tile */
  uint32_t side;       /* the form of the accesses that a bound is of: source or destination */
  const tj_node *before,
      *end; /* of a bound, as the launch has them: what it is more, and less than; NULL: anything */
} tj_flexible_form;

typedef struct {
  tj_graph *graph;
  const tj_target *target;
  const tj_domain *domain;
  tj_kernel *kernel;
  uint32_t source, destination;          /* buffers */
  uint32_t multiple[TJ_FLEXIBLE_BOUNDS]; /* of each side: of so many elements vectors begin at multiples, as the
                                            launch makes sure; 1: anywhere */
  tj_flexible_mode mode[TJ_FLEXIBLE_MODES];
  uint32_t first_loaded, first_stored; /* the modes along which source and destination have neighbours */
  uint32_t next_loaded, next_stored;   /* more for the tile, or TJ_FLEXIBLE_NONE */
  uint32_t other[TJ_FLEXIBLE_OTHERS];  /* in the destination's order, likewise */
  tj_flexible_form form[TJ_FLEXIBLE_FORMS];
  uint32_t form_count;
  const tj_node *condition;
  const tj_node *gate; /* of the next steps: truth */
  bool is_inner;       /* these are for tiles where all bounds hold */
  uint32_t binding_room;
} tj_flexible;

/* --- quantities of the launch --- */

/* Names an expression whose value is in low … high, and a multiple of `multiple`, wherever the condition holds. */
tj_measure tj_flexible_measure(tj_flexible *f, const char *name, const tj_node *launch, int64_t low, int64_t high,
                               int64_t multiple);
void tj_flexible_demand(tj_flexible *f, const tj_node *truth);
void tj_flexible_demand_between(tj_flexible *f, const tj_node *node, int64_t low, int64_t high);
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
void tj_flexible_place_tiles(tj_flexible *f);

/* --- work-items --- */

typedef struct {
  const tj_node *quotient, *remainder;
} tj_flexible_digits;

/* Of a small integer, below 2^10, divided by one of 1 … most: by multiplication. */
tj_flexible_digits tj_flexible_split(tj_flexible *f, const tj_node *number, tj_measure divisor, int64_t most);
/* digit * stride, below `limit`. */
const tj_node *tj_flexible_product(tj_flexible *f, const tj_node *digit, const tj_node *stride, int64_t limit);
/* A digit's part of a form, of work-items. */
const tj_node *tj_flexible_part(tj_flexible *f, const tj_flexible_mode *mode, uint32_t form, const tj_node *digit);
/* The lesser of an expression and a name. */
const tj_node *tj_flexible_least(tj_flexible *f, const tj_node *digit, tj_measure last);

/* Whether a work-item's number is below `count`, at most `most`: those that follow take part only where it is. */
void tj_flexible_gate(tj_flexible *f, const tj_node *number, const tj_node *count, int64_t most);
/* An access of `width` slots from `slot` on. */
void tj_flexible_step(tj_flexible *f, tj_step_kind kind, tj_access access, uint32_t width, uint32_t slot,
                      uint32_t slot_step);

/* What a form comes to, but for its base: by work-item, and for all alike. */
typedef struct {
  const tj_node *of_item, *of_all;
} tj_flexible_place;

/* What is the same for all of a form's part of a slot is less than. */
int64_t tj_flexible_slot_limit(uint32_t form);

/* Whether a form is that of source or destination itself, or bounds its accesses. */
static inline bool tj_flexible_is_of(const tj_flexible *f, uint32_t form, uint32_t side) {
  return form == side || (form >= TJ_FLEXIBLE_BOUNDS && f->form[form].side == side);
}

/* An access to source or destination; place[form] of all forms that are of it. */
void tj_flexible_move(tj_flexible *f, uint32_t side, const tj_flexible_place place[], uint32_t width, uint32_t slot);

/* --- bounds --- */

/* What the predicate of an access at digits of all modes demands, as bounds of sums; `first` is the mode along which
 * its vectors lie. False where it has another form. */
bool tj_flexible_bound(tj_flexible *f, uint32_t side, uint32_t first, const tj_node *valid,
                       const tj_node *const digit[]);

/* Whether all of the workgroup's tile is within all bounds: truth. */
const tj_node *tj_flexible_is_inner(tj_flexible *f);

/* Whether what is moved is within all bounds of the side: truth. */
const tj_node *tj_flexible_within(tj_flexible *f, uint32_t side, const tj_flexible_place place[]);

/* --- the two ways --- */

/* Tiles that turn around in LDS, and ones that stay in registers. First the lengths of modes, and whatever else the
 * launch has to choose; then the steps of what was chosen. */
void *tj_flexible_turn_shape(tj_flexible *f);
void tj_flexible_turn_steps(void *shape);
void *tj_flexible_straight_shape(tj_flexible *f);
void tj_flexible_straight_steps(void *shape);

#endif
