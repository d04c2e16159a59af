/* SPDX-License-Identifier: MIT */
/* Rows that go through LDS whole.
 *
 * Where rows of an argument adjoin in memory, those of a workgroup are one run, whatever their length: all columns,
 * or those that a view has of them, from one on to before another one. The workgroup's work-items load it into LDS in
 * vectors that are whole lines for a wave; lanes have their columns from there, and leave there what they make of
 * them; and then all store it as it was loaded:
 *
 *     element row * step + column - begin  ->  LDS element place + skew + (row - first row) * step + column - begin
 *
 * `skew` is how far the run begins behind the beginning of a line. */
#ifndef TJ_LOWER_ARRAY_STAGED_H
#define TJ_LOWER_ARRAY_STAGED_H

#include "lower/array/array_shape.h"

/* What goes through LDS of an argument. */
typedef struct tj_array_stage {
  const tj_node *step;           /* elements from row to row; NULL: it does not go through LDS */
  const tj_node *begin, *length; /* its first column of a row, and how many elements it has there */
  bool is_loaded, is_stored;
  uint32_t buffer;
  int64_t place;         /* in LDS */
  const tj_node *skew;   /* elements before the first one, in its line */
  const tj_node *behind; /* the element behind the last one, counted as LDS has them */
} tj_array_stage;

/* The type of elements in LDS of a program's kernels, but for those whose rows go through it. */
tj_dtype tj_array_carried(const tj_array_program *program);

/* Finds what of arguments may go through LDS, and as elements of which type. `cuts`: where masks change; NULL:
 * nowhere, or that is not known. */
void tj_array_find_stages(tj_array_space *space, const tj_kernel *kernel, const tj_array_cuts *cuts);

/* The widest vectors of lanes, at most so wide, that are whole ones in LDS, whichever row they are of. */
uint32_t tj_array_staged_width(const tj_array_space *space, uint32_t width);

/* Elements of which there are whole lines of every argument that may go through LDS; 1: none may. */
int64_t tj_array_staged_line(const tj_array_space *space, const tj_kernel *kernel, const tj_target *target);

/* A shape becomes `staged`, if its rows then touch less enough of cache lines: with as many rows one after the other
 * as that takes. */
void tj_array_stage_rows(const tj_array_space *space, const tj_kernel *kernel, const tj_target *target,
                         tj_array_shape *shape, tj_array_shape staged);

/* Whether rows of a shape that is staged can go through LDS. */
bool tj_array_can_be_staged(const tj_array_space *space, const tj_kernel *kernel, const tj_target *target,
                            const tj_array_shape *shape);

/* Elements that fill a line, whichever argument that goes through LDS they are of: of the smallest ones. */
int64_t tj_array_elements_of_line(const tj_array_space *space, const tj_kernel *kernel, const tj_target *target);
/* Elements of LDS that so many rows of an argument take, with what is before them in their line. */
int64_t tj_array_staged_room(const tj_array_stage *stage, int64_t rows, int64_t line_elements);
/* The argument whose part of LDS an argument has: what it loads itself, or what another one loads that has rows
 * alike, which nobody needs once it is stored; itself, where there is none. */
uint32_t tj_array_stage_owner(const tj_array_space *space, uint32_t argument);

#endif
