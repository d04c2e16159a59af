/* SPDX-License-Identifier: MIT */
/* The simulated HSA runtime: what it does not have. */
#include "rt/sim/hsa/hsa_state.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

#define REFUSED(name, parameters)                                                                                    \
  hsa_status_t hsa_##name parameters {                                                                               \
    return HSA_STATUS_ERROR;                                                                                         \
  }
#include "rt/sim/hsa/hsa_refused.def"
