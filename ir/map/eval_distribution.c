/* SPDX-License-Identifier: MIT */
/* The oracle of distributions: the tile coordinate of (p…, y…), by definition.
 *
 * The digits of each partition's index and each Y's index are put where the encoding says they belong; each tile
 * index is then row-major over its own digits. Nothing of the adaptor or of index expressions is used. */
#include "ir/map/distribution.h"

/* Digits of one index by the lengths of a partition, last fastest; the first takes what is left. */
static void write_digits(const tj_distribution *d, const tj_partition *p, int64_t index,
                         int64_t (*digit)[TJ_MAX_RH]) {
  for (uint32_t i = p->count; i-- > 0;) {
    tj_rh at = p->dimension[i];
    int64_t length = d->rh[at.major].length[at.minor];
    int64_t rest = index % length;
    if (i == 0)
      rest = index;
    digit[at.major][at.minor] = rest;
    index /= length;
  }
}

void tj_oracle_distribution(tj_graph *graph, const tj_distribution *d, const int64_t coordinate[], int64_t x[]) {
  tj_arena_mark mark = tj_arena_here(&graph->job->arena);
  int64_t(*digit)[TJ_MAX_RH] = tj_arena_alloc(&graph->job->arena, d->x_count + 1, sizeof *digit);
  for (uint32_t p = 0; p < d->p_count; p++)
    write_digits(d, &d->p[p], coordinate[p], digit);
  for (uint32_t y = 0; y < d->y_count; y++)
    digit[d->y[y].major][d->y[y].minor] = coordinate[d->p_count + y];
  for (uint32_t i = 0; i < d->x_count; i++) {
    x[i] = 0;
    for (uint32_t k = 0; k < d->rh[i + 1].count; k++)
      x[i] = x[i] * d->rh[i + 1].length[k] + digit[i + 1][k];
  }
  tj_arena_reset(&graph->job->arena, mark);
}
