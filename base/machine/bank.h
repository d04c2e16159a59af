/* SPDX-License-Identifier: MIT */
/* The banks of LDS: how many cycles one access of a wave takes, by the phases in which its lanes are served.
 *
 * The models are rows of bank.def. The simulator counts by them, the search for LDS layouts chooses by them, and
 * `tilejit check` reports them. Pure functions over static tables: any thread may call them. */
#ifndef TJ_BASE_BANK_H
#define TJ_BASE_BANK_H

#include <stdbool.h>
#include <stdint.h>

enum { TJ_BANK_LANES = 64, TJ_BANK_BYTES = 4, TJ_BANK_MOST_PHASES = 8 };

typedef struct {
  const char *name;
  uint32_t banks;
  const char *source; /* where the model comes from */
} tj_bank_model;

/* The rows of models, by number. */
typedef enum {
#define BANK_MODEL(name, banks, source) TJ_BANKS_##name,
#define BANK_PHASES(...)
#include "base/machine/bank.def"
#undef BANK_MODEL
#undef BANK_PHASES
} tj_bank_model_number;

extern const tj_bank_model tj_bank_models[];

/* The model of a processor as LLVM names it: gfx942, sm_90. NULL where it names neither AMD's nor NVIDIA's. */
const tj_bank_model *tj_bank_model_of(const char *processor);

/* The active lanes by the phase that serves them. */
void tj_bank_phases(const tj_bank_model *model, bool is_store, uint32_t bytes, uint64_t active,
                    uint64_t lanes[TJ_BANK_MOST_PHASES]);

/* The processor on which the phases of accesses of just so many bytes a lane have been measured; "" where they are
 * taken from elsewhere, as model->source says. */
const char *tj_bank_measured_on(const tj_bank_model *model, bool is_store, uint32_t bytes);

/* How many lanes a phase serves, where each moves `bytes` bytes. */
uint32_t tj_bank_phase_lanes(const tj_bank_model *model, bool is_store, uint32_t bytes);

/* Cycles of one instruction, in which each lane of `active` (bit i: lane i) wants `bytes` bytes (1 to 16) from
 * address[lane] on. The array has an entry for each active lane at least. */
uint32_t tj_bank_cycles(const tj_bank_model *model, bool is_store, uint32_t bytes, const uint32_t address[],
                        uint64_t active);

/* Two lanes of one phase that want different words of one bank. */
typedef struct {
  uint32_t phase, bank;
  uint32_t lane[2]; /* ascending */
} tj_bank_collision;

/* The first of an instruction as tj_bank_cycles has it: in the first phase that has any, the least second lane. False
 * where there is none. */
bool tj_bank_collide(const tj_bank_model *model, bool is_store, uint32_t bytes, const uint32_t address[],
                     uint64_t active, tj_bank_collision *first);

/* The cycles without conflicts: one for each phase that has an active lane. */
uint32_t tj_bank_ideal(const tj_bank_model *model, bool is_store, uint32_t bytes, uint64_t active);

#endif
