/* SPDX-License-Identifier: MIT */
/* Steps of a work-item that has a lane of a row: what it loads, computes and stores of some columns. */
#ifndef TJ_LOWER_ARRAY_STEPS_H
#define TJ_LOWER_ARRAY_STEPS_H

#include "lower/array/array_online.h"
#include "lower/array/array_shape.h"

/* Of a lane's columns, `every` neighbours each, a power of two, have one element; and after `period`, a multiple of
 * them, the first ones' elements come again. */
typedef struct {
  uint32_t every, period;
} tj_array_repeat;

typedef struct {
  tj_graph *graph;
  const tj_target *target; /* NULL: none; nothing moves together */
  const tj_array_space *space;
  tj_array_shape shape;
  tj_kernel *kernel;
  const tj_node *item, *lane, *row, *row_is_there;
  const tj_node *base_row, *base_column; /* of the workgroup */
  const tj_node *own_row;                /* the row, less the workgroup's first one */
  const tj_node *head, *gap;     /* columns before the row's first vector, and in whole ones behind these; NULL, both:
                                    vectors begin with the row */
  struct tj_array_stage *stage;  /* by argument: what of it goes through LDS (array_staged.h); NULL: nothing does */
  uint32_t staged_elements;      /* of LDS, which that takes */
  const tj_node **found;         /* by argument: the symbol of the index that says where the row is; NULL: none */
  const tj_node *pieces, *piece; /* of a row that is split: how many, and which one the workgroup has; else NULL */
  uint32_t reduced;              /* of rows that are split: the level that the kernel reduces; 0: it stores */
  bool is_partial;               /* what is reduced now is that of the piece alone */
  tj_kernel_step *step;
  uint32_t step_count, step_capacity;
  tj_dtype *slot_dtype;
  uint32_t slot_count, slot_capacity;
  uint32_t *level; /* by number of array: how many reductions are inside of each other there; those that go with
                      another one are of its level */
  bool *is_known;  /* by number of array: its elements are in slots, */
  bool *changes;   /* one for each column, */
  uint32_t *slot;  /* from here on; */
  tj_array_repeat *repeat; /* and which columns have the same */
  bool *is_known_aside;    /* the same of the region that is not the current one (tj_array_turn) */
  uint32_t *slot_aside;
  tj_array_repeat *repeat_aside;
  uint32_t partials; /* results of a reduction that a lane has before they come together */
  bool takes_lowest; /* columns that are not there are -inf, where a buffer's largest is looked for */
  bool *is_kept;     /* by number of array: its elements, one for each column, are in LDS, */
  int64_t *place;    /* from here on; -1: nowhere */
} tj_array_maker;

/* Columns start + (repeat * lanes + lane) * width + 0 … width-1, for each repeat. */
typedef struct {
  const tj_node *start;
  const tj_node *end; /* columns from here on are left out; NULL: there are none */
  bool goes_on;       /* partial results have begun with another region of the row */
  bool has_vectors;   /* which have all of their columns there, or none */
  bool has_ends;      /* columns behind the row's first `head` are `gap` further */
  const tj_node
      *line; /* columns from the row's first vector on, in vectors that begin so; NULL: they begin with the row */
  const tj_node *part; /* a symbol that stands for a column, and knows the cuts around it; NULL: there are none */
} tj_array_region;

static inline uint32_t tj_array_columns(const tj_array_maker *maker) {
  return maker->shape.width * maker->shape.repeats;
}

/* The columns from which lanes take their first ones, of a row. */
static inline const tj_node *tj_array_taken(const tj_array_maker *maker) {
  return maker->shape.apart != NULL ? maker->shape.apart : maker->space->columns.size;
}

/* Begins the steps of a kernel: nothing is in slots yet. Slots are numbered on. */
void tj_array_begin(tj_array_maker *maker);

tj_kernel_step *tj_array_step(tj_array_maker *maker, tj_step_kind kind);
/* The first of so many new slots. */
uint32_t tj_array_slots(tj_array_maker *maker, tj_dtype dtype, uint32_t count);
/* An array's elements are in these slots from here on. */
void tj_array_know(tj_array_maker *maker, const tj_array *array, uint32_t slot, bool changes);
/* Those that change with the column are not any more. */
void tj_array_forget(tj_array_maker *maker);
/* From here on, those that change with the column are known of another region of the row, or again of the first. */
void tj_array_turn(tj_array_maker *maker);

/* What a reduction is that goes with another one through a loop; NULL: it is none. */
const tj_array_online *tj_array_online_of(const tj_array_maker *maker, const tj_array *array);

bool tj_array_changes(const tj_array_maker *maker, const tj_array *array);

/* Puts everything into slots that `array` is made of and that does not change with the column. */
void tj_array_prepare(tj_array_maker *maker, const tj_array *array);
/* Loads what else it is made of, in a region's columns. */
void tj_array_load(tj_array_maker *maker, const tj_array_region *region, const tj_array *array);

/* Slots `slot` … become `array` in column `first` … of the lane's, `width` of them; or, with `combine`, that and what
 * they were. Returns the step. */
tj_kernel_step *tj_array_compute(tj_array_maker *maker, const tj_array *array, uint32_t first, uint32_t width,
                                 uint32_t slot, int combine);
/* How many neighbouring columns are computed by one step, where they need no truths of their own: on hosts vectors of
 * them, elsewhere no more than a work-item has registers for besides. */
uint32_t tj_array_computed_width(const tj_array_maker *maker);
/* Slots become what they were and what others are, by an operation. */
void tj_array_combine(tj_array_maker *maker, uint32_t slot, uint32_t with, uint32_t width, int combine);
/* Slot `slot` becomes all of `count` from there on together: of each half the other, of an odd number the smaller. */
void tj_array_combine_halves(tj_array_maker *maker, uint32_t slot, uint32_t count, int combine);
/* A slot becomes that where a truth holds. */
void tj_array_combine_where(tj_array_maker *maker, const tj_node *valid, uint32_t slot, uint32_t with, int combine);
/* A slot becomes what it was and what it is in the lane `distance` away (tj_computation). */
void tj_array_combine_lanes(tj_array_maker *maker, uint32_t slot, uint32_t distance, int combine);

/* Whether an array is worth keeping for a later loop, rather than to be computed again there. */
bool tj_array_is_costly(const tj_array_maker *maker, const tj_array *array);
/* By number of array: what `array` needs to be computed, itself included; nothing that known or kept ones are of. */
bool *tj_array_needed_by(const tj_array_maker *maker, const tj_array *array);
/* Puts an array's elements in a region's columns into LDS, where its place is. It is known. */
void tj_array_keep(tj_array_maker *maker, const tj_array_region *region, const tj_array *array);

/* Looks up where the lane's row is or goes, wherever that is the same for its columns. */
void tj_array_look_up_rows(tj_array_maker *maker);
/* Computes and stores what goes into a destination in a region's columns. */
void tj_array_store_columns(tj_array_maker *maker, const tj_array_region *region, const tj_array_store *store);

#endif
