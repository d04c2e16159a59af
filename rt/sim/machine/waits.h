/* SPDX-License-Identifier: MIT */
/* Loads in flight: which registers they will write, and the waits that a kernel must execute before it uses them.
 *
 * The simulator completes every load at once, but a kernel that uses the result without waiting would be wrong on
 * hardware, so it is stopped. Loads of one counter end in the order in which they were issued, except scalar and flat
 * ones; a wait for n leaves the last n of its counter in flight. */
#ifndef TJ_RT_SIM_WAITS_H
#define TJ_RT_SIM_WAITS_H

#include "rt/sim/machine/instruction.h"

/* vmcnt or loadcnt; lgkmcnt or dscnt; kmcnt; tensorcnt; asynccnt. */
enum { TJ_SIM_WAIT_VECTOR, TJ_SIM_WAIT_LDS, TJ_SIM_WAIT_SCALAR, TJ_SIM_WAIT_TENSOR, TJ_SIM_WAIT_ASYNC, TJ_SIM_WAITS };

enum { TJ_SIM_IN_FLIGHT = 128, TJ_SIM_NO_LIMIT = 255, TJ_SIM_ALL_VECTORS = 1024 };

typedef struct {
  uint16_t first, count; /* registers that it writes; none: it only counts */
  bool is_scalar;
  bool is_unordered; /* may end before those issued earlier */
  uint32_t number;   /* of what writes LDS, somewhere in so many bytes from `place` on (shadow.h); 0: nothing */
  uint32_t place, bytes;
} tj_sim_load;

typedef struct {
  tj_sim_load load[TJ_SIM_IN_FLIGHT];
  uint32_t oldest, count;
} tj_sim_load_queue;

typedef struct {
  tj_sim_load_queue queue[TJ_SIM_WAITS];
  uint32_t in_flight;
  uint8_t vector[TJ_SIM_ALL_VECTORS]; /* how many loads in flight write the register */
  uint8_t scalar[TJ_SIM_SCALARS];
} tj_sim_loads;

/* Reads how long a wait waits into instruction->wait. */
void tj_sim_read_wait(const char *text, tj_sim_instruction *instruction);

/* Whether the instruction may run; the wave has failed otherwise. */
bool tj_sim_check_loads(tj_sim_wave *wave, const tj_sim_instruction *instruction);

/* Notes the loads that an instruction has issued. */
void tj_sim_issue_loads(tj_sim_wave *wave, const tj_sim_instruction *instruction);

/* Notes a load from memory that the instruction has issued, the group's latest, which writes LDS between two places;
 * one that writes nothing there only counts. */
void tj_sim_issue_lds_load(tj_sim_wave *wave, unsigned counter, uint64_t begin, uint64_t end);

#endif
