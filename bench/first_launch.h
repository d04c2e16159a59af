/* SPDX-License-Identifier: MIT */
/* What the first launch of a code still has to have compiled. */
#ifndef TJ_BENCH_FIRST_LAUNCH_H
#define TJ_BENCH_FIRST_LAUNCH_H

#include "tilejit/tilejit.h"

/* Has the variant compiled that a launch takes whose parameters all have the value `extent`. */
tj_status first_launch(tj_context *context, const tj_code *code, int64_t extent, tj_code_times *times);

#endif
