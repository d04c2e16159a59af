/* SPDX-License-Identifier: MIT */
/* The modes of arrays as rows and columns, and where their elements are. */
#ifndef TJ_LOWER_ARRAY_SPACE_H
#define TJ_LOWER_ARRAY_SPACE_H

#include "lower/kernel/array_kernel.h"

/* Modes in order, the fastest first, and their extents' product. */
typedef struct {
  uint32_t mode[TJ_ARRAY_MOST_MODES];
  uint32_t count;
  const tj_node *size;
} tj_array_axis;

/* Where columns go on along a further mode, and not every array steps on as it did. */
typedef struct {
  const tj_node *size;  /* of the columns up to there */
  bool is_even;         /* those arrays that do not have one element up to there */
  bool returns;         /* an array has the same elements again behind it */
  const tj_node *times; /* as many columns there are in all */
} tj_array_seam;

/* An index that says where along a dimension an element is, or goes. */
typedef struct {
  tj_access access;     /* of the index */
  const tj_node *found; /* a symbol that stands for it; NULL: there is none */
  const tj_node *limit; /* the dimension's extent, which it stands for where the index is none of the dimension's */
  uint32_t dimension;
  bool adds;
} tj_array_lookup;

typedef struct {
  tj_graph *graph;
  const tj_array_kernel *arrays;
  uint32_t argument_count; /* with gathers */
  tj_array_axis rows, columns;
  tj_array_seam seam[TJ_ARRAY_MOST_MODES]; /* of the columns, the first one first */
  uint32_t seam_count;
  const tj_node *row, *column;           /* symbols, of which the accesses are made */
  const tj_node **digit;                 /* by mode: of the symbols */
  tj_access *access;                     /* by argument: its element there, simplified */
  tj_array_lookup *lookup;               /* by argument: of what that element's place depends on, too */
  bool *is_array;                        /* by argument: of the program; others are numbers, or indices */
  uint64_t *varies;                      /* by argument: modes, by bit, along which it has more than one element, or
                                            index */
  const tj_array_op *combination;        /* by number: of reductions (array_extreme.h) */
  const struct tj_array_online **online; /* by number: what sums are that rows in loops take so; NULL: none are */
  struct tj_array_stage *stage;          /* by argument: what of it may go through LDS (array_staged.h); NULL: nothing
                                            may */
  tj_dtype held;                         /* the type that its elements have there */
  const tj_node *begin;                  /* the element that a row begins with, of arguments that lie alike
                                            (array_lines.h); NULL: nothing is known of it */
  const tj_node **beyond;                /* by argument: how many elements further its own rows begin; NULL: it lies
                                            otherwise */
  bool is_reduced;                       /* columns are those of reductions */
} tj_array_space;

/* Of what is not reduced, columns that may be fewer than `least` have seams. */
tj_array_space tj_array_space_of(tj_graph *graph, const tj_kernel *kernel, int64_t least);

/* The first seam behind which an array has the same elements again; NULL: there is none. */
const tj_array_seam *tj_array_returning_seam(const tj_array_space *space);

/* Whether an argument has an index for each column. */
bool tj_array_index_changes(const tj_array_space *space, uint32_t argument);

/* The modes, by bit, along which elements of an array may differ. */
uint64_t tj_array_varies(const tj_array_space *space, const tj_array *array);
/* The modes of an axis, by bit. */
uint64_t tj_array_axis_modes(const tj_array_axis *axis);

/* Whether an argument has elements of its own along an axis. */
bool tj_array_goes_along(const tj_array_space *space, uint32_t argument, const tj_array_axis *axis);

/* Whether an argument is an array that has an element for each column. */
bool tj_array_has_columns(const tj_array_space *space, uint32_t argument);

#endif
