/* SPDX-License-Identifier: MIT */
/* How rows are shared out among workgroups, lanes and trips. */
#ifndef TJ_LOWER_ARRAY_SHAPE_H
#define TJ_LOWER_ARRAY_SHAPE_H

#include "lower/array/array_space.h"
#include "lower/machine/target.h"

/* Columns before which masks change, in order. */
typedef struct {
  const tj_node *at[4];
  uint32_t count;
} tj_array_cuts;

typedef struct {
  uint32_t rows;    /* of a workgroup */
  uint32_t lanes;   /* work-items of a row: a power of two, or those of whole waves */
  uint32_t width;   /* neighbouring columns of a lane; a power of two */
  uint32_t repeats; /* how many times so many, */
  /* which are so many columns apart, of which a row has `repeats` times as many; NULL: as many as all lanes have */
  const tj_node *apart;
  bool overhangs;            /* where they are apart, all but the first may be beyond the row */
  uint32_t begins;           /* vectors begin at multiples of so many elements (array_lines.h); 0: with the row */
  const tj_array_cuts *cuts; /* lanes begin again there, so that masks part no vectors; NULL: nowhere */
  bool loops;                /* over the columns of a row, or of a piece of one */
  const tj_node *piece;      /* columns of a workgroup, an expression of parameters; NULL: all */
  uint32_t kept;   /* so many columns of an array that costs much to compute go from loop to loop in LDS; 0: none */
  uint32_t staged; /* so many times a workgroup takes so many rows, while what is of them all is in LDS; 0: none is */
  bool is_split;   /* the pieces of a row are reduced together: kernel by kernel (array_split.h) */
} tj_array_shape;

/* Columns of a row that a work-item keeps in registers, at most. */
enum { TJ_ARRAY_MOST_COLUMNS = 32 };

/* Rows of a workgroup, all that it takes one after the other. */
static inline int64_t tj_array_rows_at_once(const tj_array_shape *shape) {
  return (int64_t)shape->rows * (shape->staged > 0 ? shape->staged : 1);
}

/* The shape for rows and columns as the space's facts have them. */
tj_array_shape tj_array_choose_shape(const tj_array_space *space, const tj_kernel *kernel, const tj_target *target);

/* Lanes have narrower vectors side by side, as many as before: as many more lanes as a workgroup has for the row.
 * What was left behind the last whole vector of a row, they have as well. */
void tj_array_narrow(const tj_array_space *space, tj_array_shape *shape, uint32_t width);

/* Whether what is left of rows of a size behind their last whole vector is taken apart from vectors: these need no
 * alignment, and there are lanes enough for the others, of which each takes one. */
bool tj_array_ends_apart(const tj_array_shape *shape, const tj_node *size, const tj_target *target);

/* How many columns are worth a workgroup, where nothing is reduced; 0: any number. */
int64_t tj_array_least_columns(const tj_target *target);

/* How many columns lanes of a target move together. */
uint32_t tj_array_widest(const tj_array_space *space, const tj_kernel *kernel, const tj_target *target);

/* Rows whose length the launch brings, for which a kernel of its own is worth it. */
typedef struct {
  int64_t columns;  /* at most; INT64_MAX: any number */
  int64_t multiple; /* of which their number is one; with seams, that before the first */
  int64_t times;    /* of which it is one, how often columns come again behind a seam; 1: any number */
} tj_array_tier;

enum { TJ_ARRAY_MOST_TIERS = 24 };

/* Those of any number of columns first, longest ones first. Returns how many. */
uint32_t tj_array_tiers(const tj_array_space *space, const tj_kernel *kernel, const tj_target *target,
                        tj_array_tier tier[]);

/* Rows that are so few and so long that workgroups take pieces of them, and reduce these together. */
typedef struct {
  int64_t rows;    /* at most */
  int64_t columns; /* at least */
  bool is_sure;    /* as facts have it, there are no others */
} tj_array_split;

/* False: there are none for which that is worth it. */
bool tj_array_find_split(const tj_array_space *space, const tj_kernel *kernel, const tj_target *target,
                         tj_array_split *split);
/* The shape of such rows; and how many pieces all of them together have, at most. */
tj_array_shape tj_array_split_shape(const tj_array_space *space, const tj_kernel *kernel, const tj_target *target);
int64_t tj_array_most_pieces(const tj_target *target);

/* The shape in words. `readings`: how often a row's elements are taken from memory. */
const char *tj_array_shape_words(tj_job *job, const tj_array_space *space, const tj_array_shape *shape,
                                 uint32_t readings);

#endif
