/* SPDX-License-Identifier: MIT */
/* Making flexible kernels: what the launch measures, where tiles begin, digits of work-items, steps.
 *
 * Every quantity of a launch exists twice: as an expression of parameters, which the launch computes, and under a
 * name, a symbol whose facts are what the launch has made sure of. Expressions of a work-item are made of names.
 * Their facts are sharpened to what the kernel's condition implies, and so they are not simplified any more. */
#ifndef TJ_LOWER_FLEXIBLE_MAKER_H
#define TJ_LOWER_FLEXIBLE_MAKER_H

#include "ir/layout/leaves.h"
#include "ir/value/mapping.h"
#include "lower/kernel/domain.h"
#include "lower/kernel/kernel.h"
#include "lower/machine/target.h"

/* Sums of digits and strides that work-items compute: elements of source and destination, of further sources
 * that go with the destination, of further destinations that go with either, and what is bounded where accesses are
 * valid. */
enum {
  TJ_FLEXIBLE_SOURCE = TJ_OPERAND_SOURCE,
  TJ_FLEXIBLE_DESTINATION = TJ_OPERAND_DESTINATION,
  TJ_FLEXIBLE_SIDES = TJ_OPERAND_OTHERS,
  TJ_FLEXIBLE_FURTHER = TJ_FLEXIBLE_SIDES, /* sources, then destinations */
  TJ_FLEXIBLE_BOUNDS = TJ_FLEXIBLE_FURTHER + 4,
  TJ_FLEXIBLE_FORMS = TJ_FLEXIBLE_BOUNDS + 5
};

enum {
  TJ_FLEXIBLE_MOST_BOUND = 1 << 28,  /* of a bounded sum throughout the domain */
  TJ_FLEXIBLE_ITEMS = TJ_TILE_ITEMS, /* of a workgroup, or twice as many */
  TJ_FLEXIBLE_MODES = TJ_TILE_MODES, /* of a domain, at most */
  TJ_FLEXIBLE_SHARES = 2 * TJ_FLEXIBLE_MODES + 4,
  TJ_FLEXIBLE_NONE = TJ_TILE_NONE
};

/* How a tile is moved; of the ways that it can, a launch takes the last: vectors or single elements; then, where
 * sides have neighbours along the same mode, with some bounds left to scalars, a work-item's part of the others told
 * by its offset or not, or with rows that work-items mask, too; vectors that go through LDS whole. */
typedef enum {
  TJ_FLEXIBLE_VECTORS,
  TJ_FLEXIBLE_ELEMENTS,
  TJ_FLEXIBLE_SCALARS,
  TJ_FLEXIBLE_OFFSETS,
  TJ_FLEXIBLE_LANES,
  TJ_FLEXIBLE_STAGED,
  TJ_FLEXIBLE_WAYS
} tj_flexible_way;

/* Bounds that the launch checks, so that offsets fit: of a tile in 32 bits of bytes, of all in 64 bits. */
#define TJ_FLEXIBLE_MOST_EXTENT (INT64_C(1) << 30)
#define TJ_FLEXIBLE_MOST_STRIDE INT64_C(0xffffffff)
#define TJ_FLEXIBLE_MOST_OFFSET (INT64_C(1) << 57)
#define TJ_FLEXIBLE_MOST_WORKGROUPS ((INT64_C(1) << 24) - 1)

typedef struct {
  const tj_node *launch; /* an expression of parameters */
  const tj_node *name;   /* the same to work-items */
} tj_measure;

typedef struct {
  tj_measure extent;                    /* how many there are */
  tj_measure stride[TJ_FLEXIBLE_FORMS]; /* not negative */
  const tj_node *length;                /* of a tile, as the launch has it; NULL: 1 */
  int64_t reach;                        /* elements that a tile's other end may be away */
  int64_t whole; /* elements that every domain has along it, by the kernel's condition; at least 1 */
  bool is_cut;   /* the last tile is not moved back inside: what is beyond is masked */
} tj_flexible_mode;

/* A number that the launch chooses: of the mapping items(mode) or slots(mode); or of a group of its items. */
typedef struct {
  const tj_node *symbol;       /* of the mapping; NULL: it is a group's */
  const tj_tuple *group;       /* of the layout's shape, whose product it is */
  const tj_node *launch, *log; /* as the launch has it, and the logarithm of slots */
  int64_t most;
} tj_flexible_share;

/* What the launch chooses along an axis of the tile. */
typedef struct {
  uint32_t mode;              /* or TJ_FLEXIBLE_NONE; it is known before the others */
  const tj_node *items, *log; /* launch; the logarithm of slots */
  int64_t most;               /* items */
  int64_t most_log;
  bool has_slots; /* the logarithm is up to the launch */
} tj_flexible_axis;

typedef struct {
  const tj_node *base; /* of the tile */
  uint32_t side;       /* the form of the accesses that a bound, or what is further, goes with: source or destination;
                          TJ_FLEXIBLE_NONE: bits of rows have it */
  const tj_node *before,
      *end;               /* of a bound, as the launch has them: what it is more, and less than; NULL: anything */
  tj_measure pitch, room; /* where offsets tell it: elements of the side for each 1 of the sum, of which a work-item's
                             part is less than `room`; names NULL: they do not */
  const tj_node *edge; /* where offsets tell the end of a bound alone: what they are less than, of the workgroup, from
                          the base of the side on; NULL: they do not */
} tj_flexible_form;

typedef struct {
  tj_graph *graph;
  const tj_target *target;
  const tj_domain *domain;
  tj_kernel *kernel;
  uint32_t items;                   /* of a workgroup */
  const struct tj_value *stored_as; /* the number of a work-item → that of the item that it stores; NULL: the same */
  uint32_t source, destination;     /* buffers */
  uint32_t multiple[TJ_FLEXIBLE_BOUNDS]; /* of each side: of so many elements vectors begin at multiples, as the
                                            launch makes sure; 1: anywhere */
  tj_flexible_mode mode[TJ_FLEXIBLE_MODES];
  uint32_t order[TJ_FLEXIBLE_SIDES][TJ_FLEXIBLE_MODES]; /* modes, smallest stride first */
  bool turns;                                           /* the sides have neighbours along different modes */
  uint32_t width[TJ_FLEXIBLE_SIDES];                    /* elements of a side's vectors */
  const tj_mapping *given;                              /* NULL: modes and widths are chosen */
  const tj_kernel *flat;                                /* the tile of one of its variants may be this one's, too */
  tj_flexible_axis axis[TJ_TILE_AXES];
  tj_flexible_share share[TJ_FLEXIBLE_SHARES];
  uint32_t share_count;
  tj_mapping *mapping; /* of which the steps are made */
  tj_flexible_form form[TJ_FLEXIBLE_FORMS];
  uint32_t form_count;
  struct {
    const tj_node *bits, *end; /* by row, whether it is within the bounds; or the first that is not; NULL: neither */
  } rows[TJ_FLEXIBLE_SIDES];
  uint32_t row; /* of the next accesses */
  const tj_node *condition;
  const tj_node *gate;  /* of the next steps: truth */
  bool cuts_vectors;    /* a bound is along vectors, which the condition keeps whole */
  bool has_small_steps; /* as the condition makes sure, by which products are cheap */
  bool is_inner;        /* these are for tiles where all bounds hold */
  uint32_t binding_room;
} tj_flexible;

/* A mode in a set of them. */
static inline uint64_t tj_flexible_bit(uint32_t mode) {
  return mode != TJ_FLEXIBLE_NONE ? (uint64_t)1 << mode : 0;
}

/* The mode along which a side has neighbours. */
static inline uint32_t tj_flexible_first(const tj_flexible *f, uint32_t side) {
  return f->axis[side == TJ_FLEXIBLE_DESTINATION && f->turns ? TJ_TILE_STORED : TJ_TILE_LOADED].mode;
}

/* The axis of a tile that a mode is, or TJ_TILE_AXES. */
static inline uint32_t tj_flexible_axis_of(const tj_flexible *f, uint32_t mode) {
  uint32_t axis = 0;
  while (axis < TJ_TILE_AXES && f->axis[axis].mode != mode)
    axis++;
  return axis;
}

/* Modes, each once. */
typedef struct {
  uint32_t mode[TJ_FLEXIBLE_MODES], count;
} tj_flexible_modes;

/* Adds a mode that is one and not among them yet. */
static inline void tj_flexible_add_mode(tj_flexible_modes *list, uint32_t mode) {
  uint32_t i = 0;
  while (i < list->count && list->mode[i] != mode)
    i++;
  if (i == list->count && mode != TJ_FLEXIBLE_NONE)
    list->mode[list->count++] = mode;
}

/* Adds those of the tile. */
static inline void tj_flexible_add_axes(const tj_flexible *f, tj_flexible_modes *list) {
  for (uint32_t i = 0; i < TJ_TILE_AXES; i++)
    tj_flexible_add_mode(list, f->axis[i].mode);
}

/* Source and destination, and what is further. */
static inline uint32_t tj_flexible_sides(const tj_flexible *f) {
  return TJ_FLEXIBLE_SIDES + f->domain->other_count;
}

/* Whether there is such a form: not as many further sources and destinations need be as there could. */
static inline bool tj_flexible_has_form(const tj_flexible *f, uint32_t form) {
  return form < TJ_FLEXIBLE_FURTHER + f->domain->other_count || form >= TJ_FLEXIBLE_BOUNDS;
}

static inline uint32_t tj_flexible_buffer(const tj_flexible *f, uint32_t side) {
  if (side >= TJ_FLEXIBLE_FURTHER)
    return f->kernel->arithmetic.buffer[side - TJ_FLEXIBLE_FURTHER + 1];
  return side == TJ_FLEXIBLE_SOURCE ? f->source : f->destination;
}

/* Whether a form is of a further source, not of a further destination. */
static inline bool tj_flexible_is_source(const tj_flexible *f, uint32_t form) {
  return form >= TJ_FLEXIBLE_FURTHER && tj_is_other_source(f->kernel, form - TJ_FLEXIBLE_FURTHER);
}

/* --- quantities of the launch --- */

/* Gives a name its value: of the launch, or of a workgroup. */
void tj_flexible_bind(tj_flexible *f, const tj_node *symbol, const tj_node *value, bool is_launched);
/* Names an expression whose value is in low … high, and a multiple of `multiple`, wherever the condition holds. */
tj_measure tj_flexible_measure(tj_flexible *f, const char *name, const tj_node *launch, int64_t low, int64_t high,
                               int64_t multiple);
void tj_flexible_demand(tj_flexible *f, const tj_node *truth);
void tj_flexible_demand_between(tj_flexible *f, const tj_node *node, int64_t low, int64_t high);
void tj_flexible_demand_multiple(tj_flexible *f, const tj_node *node, uint32_t multiple);
/* The node, but not less, or not more, than a bound. */
const tj_node *tj_flexible_at_least(tj_graph *graph, const tj_node *node, int64_t low);
const tj_node *tj_flexible_at_most(tj_graph *graph, const tj_node *node, int64_t high);
/* a / b rounded up, at least 1, for b >= 1. */
const tj_node *tj_flexible_parts(tj_graph *graph, const tj_node *a, const tj_node *b);
/* 2^log */
const tj_node *tj_flexible_power(tj_graph *graph, const tj_node *log);
const tj_node *tj_flexible_choice(tj_graph *graph, const tj_node *truth, const tj_node *then,
                                  const tj_node *otherwise);

/* --- tiles --- */

/* A workgroup has so many work-items. */
void tj_flexible_set_items(tj_flexible *f, uint32_t items);
/* The tile has the modes along which source and destination have neighbours, and no others yet. */
void tj_flexible_set_first(tj_flexible *f, uint32_t loaded, uint32_t stored);
/* The closest mode of a side that is not among those taken, by bit, which it is from then on. */
uint32_t tj_flexible_take_closest(const tj_flexible *f, uint64_t *taken, uint32_t side);
/* Lanes whose cache lines are priced together: of a wave; where memory moves sectors, of two, which share lines in
 * caches. */
uint32_t tj_flexible_lanes(const tj_target *target);
/* Sets the axes of a tile, of which kind and widths are given, and all that follows; a truth, whether it is worth it.
 */
const tj_node *tj_flexible_choose(tj_flexible *f, tj_tile tile);
/* How far a tile's ends may be away along each mode, with the modes of the tile chosen. */
void tj_flexible_set_reaches(tj_flexible *f);
/* With the lengths of all modes set: where tiles begin, their number, and what the launch demands for it. */
void tj_flexible_place_tiles(tj_flexible *f);

/* --- mappings --- */

enum { TJ_FLEXIBLE_LEAVES = 16 }; /* of a side */

/* The numbers of the mapping that the launch chooses along an axis; 1: there is none. */
const tj_node *tj_flexible_items(tj_flexible *f, uint32_t axis);
const tj_node *tj_flexible_slots(tj_flexible *f, uint32_t axis);
/* Such a number, or a product of some, as the launch has it. */
const tj_node *tj_flexible_launched(tj_flexible *f, const tj_node *node);
/* What a group of items comes to, if it is not the product of its numbers as these are. */
void tj_flexible_group(tj_flexible *f, const tj_tuple *group, const tj_node *launch, int64_t most);
/* Another mode: a leaf along an axis, or those of a list. What is in the shape, NULL where that is nothing: extents
 * of 1. */
const tj_tuple *tj_flexible_put(tj_flexible *f, tj_leaves *list, const tj_node *extent, uint32_t axis,
                                const tj_node *step);
/* The elements of a vector, which slots begin with. */
void tj_flexible_put_vector(tj_flexible *f, tj_leaves *list, uint32_t side);
const tj_tuple *tj_flexible_put_list(tj_flexible *f, tj_leaves *list, const tj_leaves *group);
/* The mapping of these sides, each as (item, slot). TJ4020 where another one is given. */
void tj_flexible_set_mapping(tj_flexible *f, const tj_leaves load[2], const tj_leaves store[2]);
/* The modes and widths of the given mapping. */
void tj_flexible_read_given(tj_flexible *f);

/* --- work-items --- */

typedef struct {
  const tj_node *quotient, *remainder;
  tj_measure divisor; /* where the remainder takes a product to find; launch NULL: it does not */
} tj_flexible_digits;

/* A leaf of a side's layout. */
typedef struct {
  const tj_node *extent, *step; /* of the mapping */
  uint32_t mode;
  const tj_node *last;   /* where its last value begins at the latest, as the launch has it; NULL: all of it is inside
                            the tile */
  const tj_node *number; /* of items: the work-item's */
  const tj_node *whole;  /* of which this is the remainder */
  tj_flexible_digits split;
} tj_flexible_digit;

/* A side as work-items hold it. */
typedef struct {
  tj_flexible *f;
  uint32_t side, width;
  const tj_node *item; /* the work-item's number */
  tj_flexible_digit digit[TJ_FLEXIBLE_LEAVES];
  uint32_t count, item_count;
  const tj_node *of_item[TJ_FLEXIBLE_FORMS]; /* a work-item's part of the forms that go with the side */
  struct {
    const tj_tuple *shape;
    const tj_node *number;
  } part[2 * TJ_FLEXIBLE_LEAVES]; /* of the item: its leaves and groups */
  uint32_t part_count;
} tj_flexible_hold;

/* Splits work-items into the side's digits; those beyond the last item take no part in the steps that follow. */
tj_flexible_hold tj_flexible_split_items(tj_flexible *f, uint32_t side);
/* The work-item's number of a leaf or a group of its items, which NULL is: 0. */
const tj_node *tj_flexible_number(const tj_flexible_hold *hold, const tj_tuple *part);
/* Loads or stores of `count` vectors from the first on, which are in slots from `slot` on. */
void tj_flexible_move_some(const tj_flexible_hold *hold, uint32_t first, uint32_t count, uint32_t slot);

/* Of a small integer, below 2^10, divided by one of 1 … most: by multiplication. */
tj_flexible_digits tj_flexible_split(tj_flexible *f, const tj_node *number, tj_measure divisor, int64_t most);
/* digit * stride, below `limit`. */
const tj_node *tj_flexible_product(tj_flexible *f, const tj_node *digit, const tj_node *stride, int64_t limit);
/* A digit's part of a form, of work-items. */
const tj_node *tj_flexible_part(tj_flexible *f, const tj_flexible_mode *mode, uint32_t form, const tj_node *digit);
/* Elements that all domains have along a mode, as the launch demands: whole digits of a tile. */
void tj_flexible_need(tj_flexible *f, uint32_t mode, int64_t elements);
/* The lesser of an expression and a name. */
const tj_node *tj_flexible_least(tj_flexible *f, const tj_node *digit, tj_measure last);

/* Whether a work-item's number is below `count`, at most `most`: those that follow take part only where it is. */
void tj_flexible_gate(tj_flexible *f, const tj_node *number, const tj_node *count, int64_t most);
/* An access of `width` slots from `slot` on. */
void tj_flexible_step(tj_flexible *f, tj_step_kind kind, tj_access access, uint32_t width, uint32_t slot,
                      uint32_t slot_step);

/* All work-items of a workgroup meet. */
void tj_flexible_barrier(tj_flexible *f);

/* What a form comes to, but for its base: by work-item, and for all alike. */
typedef struct {
  const tj_node *of_item, *of_all;
} tj_flexible_place;

/* What is the same for all of a form's part of a slot is less than. */
int64_t tj_flexible_slot_limit(const tj_flexible *f, uint32_t form);

/* How far a step along a mode moves a side, or what is further. */
const tj_node *tj_flexible_stride(const tj_flexible *f, uint32_t mode, uint32_t side);

/* --- bounds --- */

/* What the predicate of an access at digits of all modes demands, as bounds of sums that whole vectors are within or
 * beyond, as the launch makes sure. False where it has another form. */
bool tj_flexible_bound(tj_flexible *f, uint32_t side, const tj_node *valid, const tj_node *const digit[]);

/* Whether each step of a bound's sum is as many elements of the side. */
bool tj_flexible_has_pitch(tj_flexible *f, uint32_t form, uint64_t without_items);

/* Has a work-item's offset tell its part of such a bound, where what else it adds is less than that, as the launch
 * makes sure; with the lengths of tiles known. Otherwise nothing happens. */
void tj_flexible_tell_by_offsets(tj_flexible *f, uint32_t form, uint64_t without_items);

/* Has offsets tell where such a bound ends, rows included, if what else they add is less than a step of it where
 * other bounds hold, and only the first rows of a tile may be before it, as the launch makes sure; with the
 * beginnings of tiles known. Otherwise nothing happens. */
void tj_flexible_end_by_offsets(tj_flexible *f, uint32_t form, uint64_t without_items);

/* Has tiles cut along a mode: where they begin there is a form, without a side. */
void tj_flexible_cut(tj_flexible *f, uint32_t mode);

/* Has bounds that no work-item's digits are in tell, as bits of a number of the workgroup, which of `rows` slots
 * along a mode that tiles are cut along are within them; with the beginnings of tiles known. */
void tj_flexible_mask_rows(tj_flexible *f, uint32_t mode, uint64_t without_items, uint32_t rows);

/* Whether all of the workgroup's tile is within all bounds: truth. */
const tj_node *tj_flexible_is_inner(tj_flexible *f);

/* Whether what is moved is within all bounds of the side: truth. */
const tj_node *tj_flexible_within(tj_flexible *f, uint32_t side, const tj_flexible_place place[]);

/* --- the ways --- */

/* Tiles that turn around in LDS, ones that stay in registers, of which some leave bounds to scalars, and ones whose
 * vectors go through LDS whole. First the lengths of modes, and whatever else the launch has to choose; then the
 * steps of what was chosen. */
void *tj_flexible_turn_shape(tj_flexible *f);
void tj_flexible_turn_steps(void *shape);
void *tj_flexible_straight_shape(tj_flexible *f);
void tj_flexible_straight_steps(void *shape);
/* Its steps are those of a tile that stays in registers. */
void *tj_flexible_scalar_shape(tj_flexible *f, tj_flexible_way way);
/* Whether there are bounds that scalars can have, all of some sum, and for which way: where offsets may tell what is
 * left; where a sum has more modes than that of rows. */
bool tj_flexible_may_have_scalars(tj_flexible *f, tj_flexible_way way);
/* The way of the given mapping, of which operands are measured: vectors or one that leaves some bounds to scalars. */
tj_flexible_way tj_flexible_way_of_given(const tj_flexible *f);
void *tj_flexible_staged_shape(tj_flexible *f);
void tj_flexible_staged_steps(void *shape);

#endif
