/* SPDX-License-Identifier: MIT */
/* Staging through LDS: which layout of a tile serves its stores and loads without bank conflicts, in the least LDS.
 *
 * A tile of rows × columns elements is written by some instructions of its waves and read by others. The search tries
 * the plain layout, paddings of rows, of groups of rows and within rows, interleaved rows and XOR swizzles, with
 * neighbours of a row or of a column side by side, in wide vectors and in narrower ones, and counts the cycles of
 * every instruction by the bank model. It is deterministic, and bounded by the job's fuel. */
#ifndef TJ_LOWER_LDS_LAYOUT_H
#define TJ_LOWER_LDS_LAYOUT_H

#include "base/dma/engine.h"
#include "base/machine/bank.h"
#include "base/number/cost.h"
#include "ir/layout/layout.h"

typedef enum { TJ_STAGE_ROW, TJ_STAGE_COLUMN } tj_stage_direction;

/* What one wave moves at a time: each lane of `active` moves `elements` neighbours of a row, or of a column, from
 * (at_row + row[lane], at_column + column[lane]) on, where sums wrap around. An access that the layout does not keep
 * together, or that is wider than 16 bytes, or not aligned to its size, takes several instructions. */
typedef struct {
  bool is_store; /* into LDS */
  tj_stage_direction direction;
  uint32_t elements;
  uint64_t active;
  const uint32_t *row, *column; /* of all lanes that are active; borrowed, of many accesses the same */
  uint32_t at_row, at_column;
} tj_stage_access;

typedef struct {
  uint32_t element_bytes;        /* 1, 2, 4, 8, 16 */
  uint32_t rows, columns;        /* 1 to TJ_STAGE_MOST_EXTENT */
  const tj_stage_access *access; /* of all waves */
  uint32_t access_count;
  uint32_t limit;        /* bytes of LDS that a workgroup has at most */
  uint32_t shared;       /* that the workgroups of a compute unit share, at least as many */
  const uint32_t *group; /* by how many rows the address of one is divided cheaply, besides powers of two */
  uint32_t group_count;
  const uint32_t *run; /* the same of columns: what the first modes have side by side */
  uint32_t run_count;
  unsigned directions;         /* 1 << TJ_STAGE_…: those of the layouts that are tried; 0: both */
  unsigned without;            /* forms of layouts that are not tried; 0: all are */
  bool is_packed;              /* only layouts without gaps are tried, of whole units of their swizzles */
  uint32_t narrowest;          /* elements that layouts keep together at least; 0: any */
  const tj_dma_engine *writer; /* only layouts that this engine writes are tried; NULL: any */
  bool is_calm;                /* only layouts without conflicts are of use: all are tried that may have none */
  double dearest;              /* what conflicts cost less of, by `costs`; 0: they may cost anything */
  const tj_line_costs *costs;
} tj_stage_tile;

/* Forms of layouts, besides the plain one. */
enum { TJ_STAGE_PADDINGS = 1, TJ_STAGE_SWIZZLES = 2, TJ_STAGE_GROUPS = 4 };

enum { TJ_STAGE_MOST_EXTENT = 1 << 14 };

/* Lines are rows, or columns, as the direction says. Element `along` of line n lies at element
 * swizzle(n / group · group_pitch + n % group · pitch + along / run · run_pitch + along % run). */
typedef struct {
  tj_stage_direction direction; /* whose neighbours lie side by side */
  uint32_t group;               /* lines that lie `pitch` apart */
  uint32_t pitch, group_pitch;  /* elements; of groups of one line the same */
  uint32_t run, run_pitch;      /* elements of a line that lie side by side; 0: all do */
  tj_swizzle swizzle;           /* 0 bits: none */
  uint32_t vector; /* elements in `direction` that stay together, aligned to their size; a power of two */
  uint32_t bytes;  /* of LDS */
} tj_stage_layout;

typedef struct tj_stage_choice {
  tj_stage_layout layout;
  uint32_t instructions; /* LDS instructions of all accesses */
  uint32_t store_cycles, store_ideal;
  uint32_t load_cycles, load_ideal;
  uint32_t plain_cycles;       /* that the plain layout would take, in the same direction */
  uint32_t least_cycles;       /* fewer are impossible, whatever the layout and the vectors */
  uint32_t waiting;            /* cycles in which a compute unit has no work, as its LDS has room for one workgroup */
  uint32_t tried;              /* layouts */
  uint32_t price, lanes_price; /* of a wave, as lane.def counts: this way, and between lanes. 0: there is no other */
  const char *reason;          /* one line: "Sw<3,3,3>: 64 cycles, free of conflicts; plain would take 512" */
} tj_stage_choice;

/* What goes straight into LDS: so many vectors of work-items, of waves of so many lanes. */
typedef struct {
  const tj_bank_model *model;
  uint32_t wave_size, items, vectors, bytes; /* of a vector */
} tj_stage_direct;

/* The layout of the fewest cycles, with one more for each instruction, and those of waiting where LDS has room for
 * one workgroup alone; of those, the one that lets the most workgroups have LDS at a time; of those, of the simplest
 * addresses; of the least LDS. False where not even the plain layout fits into tile->limit, or all that do are too
 * dear. */
bool tj_stage_search(tj_job *job, const tj_bank_model *model, const tj_stage_tile *tile, tj_stage_choice *choice);

/* Adds the cycles of what goes straight into LDS, which has no conflicts there and takes no instructions of LDS. */
void tj_stage_add_direct(tj_job *job, const tj_stage_direct *direct, tj_stage_choice *choice);

#endif
