/* SPDX-License-Identifier: MIT */
/* Suggestions: the layouts of a tile in LDS that take the fewest cycles for those who store and load it there, by the
 * search that kernels use. */
#ifndef TJ_JIT_SUGGEST_LDS_H
#define TJ_JIT_SUGGEST_LDS_H

#include "jit/lds/check_lds.h"

enum { TJ_MOST_SUGGESTIONS = 4 };

/* One side of a tile with a layout. */
typedef struct {
  const char *instruction; /* of most steps; NULL: nobody stores, or loads */
  uint32_t kinds;          /* of instructions */
  tj_lds_cost cost;
  int64_t operations; /* that make a thread's addresses; -1: not known, as lanes have those of others */
} tj_suggested_side;

typedef struct {
  const tj_value *layout;
  int64_t cost; /* what the search weighs: cycles, instructions, and waiting where one workgroup has LDS alone */
  tj_suggested_side store, load;
  bool is_least; /* no layout takes fewer cycles */
  uint32_t bytes, workgroups;
} tj_suggestion;

/* What was found, the best first. */
typedef struct {
  int64_t rows, columns;
  uint32_t count, tried;
  tj_suggestion of[TJ_MOST_SUGGESTIONS];
} tj_suggestions;

/* For a check without lds. `limit` is of bytes, 0: as many as a workgroup may have; `tile` the extents of the tile,
 * or zeros, where coordinates of a distribution or a layout say them. TJ2013 where they do not, or where the tile has
 * more than two modes, TJ4016 where no layout fits. */
tj_suggestions tj_suggest_lds(const tj_lds_check *check, uint32_t limit, const int64_t tile[2]);

#endif
