/* SPDX-License-Identifier: MIT */
/* What there is to tile of a copy, in numbers: its modes as either side steps through them, its elements, and what a
 * target has room for. */
#ifndef TJ_LOWER_SHAPE_PROBLEM_H
#define TJ_LOWER_SHAPE_PROBLEM_H

#include "base/number/cost.h"
#include "base/number/run.h"
#include "lower/kernel/domain.h"
#include "lower/kernel/kernel.h"
#include "lower/machine/target.h"

enum { TJ_SHAPE_MOST_MODES = 16 };

typedef enum { TJ_SOURCE, TJ_DESTINATION, TJ_SIDES } tj_side_name;

/* A mode of the domain. */
typedef struct {
  int64_t least, extent; /* the fewest and the most coordinates */
  tj_run_step step[TJ_SIDES];
} tj_shape_mode;

typedef struct {
  tj_shape_mode mode[TJ_SHAPE_MOST_MODES];
  uint32_t count;
  uint32_t order[TJ_SIDES][TJ_SHAPE_MOST_MODES]; /* modes, smallest stride first */
  int64_t bytes[TJ_SIDES];                       /* of an element */
  int64_t moved_bytes;                           /* of an element in the wider of the two buffers */
  int64_t carried_bytes;                         /* of an element in registers and in LDS */
  int64_t width[TJ_SIDES];                       /* the most elements of a vector, powers of two */
  int64_t register_bytes;                        /* of a vector that turns around in registers; 0: none does */
  int64_t slot_bytes, slot_limit;                /* that a work-item holds, at most, and in how many slots */
  int64_t tile_bytes;                            /* that a workgroup holds, at most */
  int64_t lds_bytes;                             /* that there are */
  int64_t lds_phase;                             /* work-items that LDS serves at a time with a vector each */
  int64_t line_bytes;                            /* of a cache line */
  int64_t sector_bytes;                          /* of a part of lines that memory moves; 0: lines are moved whole */
  const tj_line_costs *costs;
  int64_t wave_size, workgroup_limit; /* work-items */
  const int64_t *tile;                /* the extents that it has to have; NULL: they are chosen */
  bool may_stage;                     /* there is LDS */
  bool may_pass;                      /* work-items keep what they hold while others go through LDS */
} tj_shape_problem;

/* What there is to tile of a flat copy over a domain of at most TJ_SHAPE_MOST_MODES modes, in terms of what that
 * assumes. */
tj_shape_problem tj_shape_problem_of(tj_graph *graph, const tj_kernel *flat, const tj_domain *domain,
                                     const tj_target *target);

/* Whether a mode has as many coordinates in every launch. */
static inline bool tj_shape_is_fixed(const tj_shape_mode *mode) {
  return mode->least == mode->extent;
}

/* Whether the sides have neighbours along different modes. */
static inline bool tj_shape_turns(const tj_shape_problem *problem) {
  return problem->order[TJ_SOURCE][0] != problem->order[TJ_DESTINATION][0];
}

#endif
