/* SPDX-License-Identifier: MIT */
/* Tile distributions: CK Tile's tile_distribution_encoding. Which element of a tile each thread holds, and in which
 * register.
 *
 * R holds lengths over which data is replicated; H[i] the hierarchical lengths of tile dimension X[i], whose index is
 * row-major over them. A dimension of R or H is named by a pair: major 0 is R, major i + 1 is H[i], and minor is the
 * place in that list. Each P (a partition: wave, lane) is the merge of the dimensions that it lists, last fastest;
 * each Y (what one thread holds) is one dimension. Every dimension belongs to exactly one P or Y. A thread's register
 * number D is row-major over the Y lengths. Lengths are constants. Distributions live in the graph's job and are
 * immutable.
 */
#ifndef TJ_IR_DISTRIBUTION_H
#define TJ_IR_DISTRIBUTION_H

#include "ir/map/map.h"

enum { TJ_MAX_RH = TJ_MAX_DIMENSIONS };

/* The lengths of one list: R, or one of H. */
typedef struct {
  const int64_t *length;
  uint32_t count;
} tj_lengths;

typedef struct {
  uint32_t major, minor;
} tj_rh;

typedef struct {
  const tj_rh *dimension; /* last fastest */
  uint32_t count;
} tj_partition;

typedef struct {
  const tj_lengths *rh; /* [0] is R, [i + 1] is H[i]; x_count + 1 of them */
  uint32_t x_count, p_count, y_count;
  const tj_partition *p;
  const tj_rh *y;
  const int64_t *x_length, *p_length, *y_length;
} tj_distribution;

/* Checked construction from borrowed arrays, of which it keeps copies: TJ3010 for lengths, TJ3011 for dimensions that
 * do not exist, TJ3012 and TJ3013 for ownership. An R of length 1 may have no owner. */
const tj_distribution *tj_distribution_make(tj_graph *graph, const tj_lengths rh[], uint32_t x_count,
                                            const tj_partition p[], uint32_t p_count, const tj_rh y[],
                                            uint32_t y_count);

bool tj_distribution_equal(const tj_distribution *a, const tj_distribution *b);

/* (p…, y…) → (x…): replicate R, unmerge each H, merge each P. */
const tj_adaptor *tj_distribution_adaptor(tj_graph *graph, const tj_distribution *distribution);
/* The register of a thread's element: row-major over the Y lengths. */
tj_layout tj_distribution_registers(tj_graph *graph, const tj_distribution *distribution);
/* The map of the adaptor; its input symbols are p0, p1, …, y0, y1, … */
tj_map tj_map_of_distribution(tj_graph *graph, const tj_distribution *distribution);

/* The oracle: the tile coordinate of (p…, y…), from the definition alone. */
void tj_oracle_distribution(tj_graph *graph, const tj_distribution *distribution, const int64_t coordinate[],
                            int64_t x[]);

/* distribution(rs=[], hs=[[2,2],[2,2]], ps_major=[[1],[2]], ps_minor=[[0],[0]], ys_major=[1,2], ys_minor=[1,1]) */
void tj_distribution_print(tj_text *text, const tj_distribution *distribution);

/* --- derived quantities (CK's detail) --- */

/* The Y that owns a dimension, or -1 where a P does (rhs_major_minor_to_ys_). */
int64_t tj_distribution_owner_y(const tj_distribution *distribution, tj_rh dimension);
/* Whether a P lists an R, and how far one step of that R is in the P: 0 where it does not (does_p_own_r_,
 * ps_over_rs_derivative_). */
int64_t tj_distribution_p_over_r(const tj_distribution *distribution, uint32_t p, uint32_t r);
/* Y numbers in the order of the (major, minor) that they own (get_sorted_y_info): y_count of them. */
void tj_distribution_sorted_ys(const tj_distribution *distribution, uint32_t sorted[]);

/* --- operations (distribution_algebra.c) --- */

/* inner within each element of outer: R and each H of inner stand after outer's; Ps and Ys of outer come first.
 * TJ3014 where they have different numbers of tile dimensions. */
const tj_distribution *tj_distribution_embed(tj_graph *graph, const tj_distribution *outer,
                                             const tj_distribution *inner);
/* Without the tile dimensions `dims`: what Ys own of them is dropped, the rest becomes R. TJ3015. */
const tj_distribution *tj_distribution_reduce(tj_graph *graph, const tj_distribution *distribution,
                                              const int64_t dims[], uint32_t count);
/* The part of the tile from begins to ends, each x_count; an end of -1 is the end of the dimension. `origin` gets
 * for each Y where in it the part begins: x of (p, y + origin) is begins + x of (p, y) in the slice. TJ3016 where the
 * part is not a range of one digit of each tile dimension, or cuts what a P owns. */
const tj_distribution *tj_distribution_slice(tj_graph *graph, const tj_distribution *distribution,
                                             const int64_t begins[], const int64_t ends[], int64_t origin[]);

/* How the rows of a tile are shared out: who takes neighbouring rows. */
typedef enum {
  TJ_RAKED_THREAD, /* the iterations of one thread */
  TJ_RAKED_WARP,   /* the lanes of one wave */
  TJ_RAKED_BLOCK   /* the waves of the workgroup */
} tj_raked;

/* A tile of rows × columns loaded by `threads` threads in waves of `wave`, `vector` neighbouring columns at a time.
 * P is (wave, lane), Y is (iteration, vector). TJ3017 where these do not divide. */
const tj_distribution *tj_distribution_raked(tj_graph *graph, tj_raked pattern, int64_t rows, int64_t columns,
                                             int64_t threads, int64_t vector, int64_t wave);

/* --- bridges (distribution_bridge.c) --- */

/* The distribution as a CuTe (thread, value) layout onto the tile's colexicographic index. The thread index is
 * row-major over the Ps, the value index row-major over the Ys; so modes stand in reverse order. With one P the
 * thread mode holds its digits; otherwise it holds one tuple for each P. What is replicated has stride 0. */
tj_layout tj_distribution_tv_layout(tj_graph *graph, const tj_distribution *distribution);
/* The distribution that such a layout is, of a tile of the given shape: TJ3020 where there is none. Digits of length
 * 1 are kept where they are a P or a Y of their own. */
const tj_distribution *tj_distribution_of_tv(tj_graph *graph, tj_layout tv, const tj_tuple *tile);

#endif
